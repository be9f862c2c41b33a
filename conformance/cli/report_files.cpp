// See report_files.hpp.
#include "conformance/cli/report_files.hpp"

#include <filesystem>

#include "reference/base/files.hpp"
#include "reports/render/renderers.hpp"

namespace mx::cli {
namespace {

std::string path_of(const reports::Renderer& renderer, const std::string& folder) {
    return (std::filesystem::path(folder) / std::string(renderer.file_name)).string();
}

// What other commands write, under the names that join a page without being asked for.
constexpr const char* companions[] = {"bench.jsonl", "accuracy.json", "gemm_accuracy.json",
                                      "training.json", "kill_table.json"};

}  // namespace

Expected<results::Attachments> attachments_of(const std::string& folder,
                                              const std::vector<std::string>& with) {
    std::vector<std::string> files;
    std::error_code ignored;
    for (const char* name : companions)
        if (const auto path = std::filesystem::path(folder) / name;
            std::filesystem::exists(path, ignored))
            files.push_back(path.string());
    files.insert(files.end(), with.begin(), with.end());
    results::Attachments attachments;
    for (const std::string& file : files)
        if (const Status taken = results::attach_file(file, attachments); !taken)
            return taken.error();
    return attachments;
}

Expected<std::vector<std::string>> write_report_files(const reports::Material& material,
                                                      const std::string& folder) {
    std::vector<std::string> paths;
    for (const reports::Renderer& renderer : reports::renderers) {
        const std::string text = renderer.render(material);
        const std::string path = path_of(renderer, folder);
        const Status written = write_atomically(path, {std::as_bytes(std::span(text))});
        if (!written) return written.error();
        paths.push_back(path);
    }
    return paths;
}

std::vector<std::string> report_file_names() {
    std::vector<std::string> names;
    for (const reports::Renderer& renderer : reports::renderers)
        names.emplace_back(renderer.file_name);
    return names;
}

}  // namespace mx::cli
