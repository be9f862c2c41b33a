// See report_files.hpp.
#include "conformance/cli/report_files.hpp"

#include <filesystem>

#include "conformance/cli/environment.hpp"
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

// Copies the page that explains a block beside the report, where this program has it. The report
// then links to it.
Expected<std::string> explain_page_in(const std::string& folder) {
    namespace fs = std::filesystem;
    constexpr const char* name = "explain.html";
    const fs::path page = fs::path(executable_folder()) / "../share/mxcheck" / name;
    std::error_code ignored;
    if (!fs::exists(page, ignored)) return std::string();
    const auto bytes = text_of_file(page.string());
    if (!bytes) return bytes.error();
    const Status written = write_atomically((fs::path(folder) / name).string(),
                                            {std::as_bytes(std::span(bytes.value()))});
    if (!written) return written.error();
    return std::string(name);
}

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

Expected<std::vector<std::string>> write_report_files(const reports::Material& given,
                                                      const std::string& folder) {
    const auto page = explain_page_in(folder);
    if (!page) return page.error();
    reports::Material material = given;
    material.explain_page = page.value();
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
