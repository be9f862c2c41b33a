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

constexpr const char* explain_page = "explain.html";

// Where this program has the page that explains a block; "" where it was left out.
std::filesystem::path own_explain_page() {
    const auto page =
        std::filesystem::path(executable_folder()) / "../share/mxcheck" / explain_page;
    std::error_code ignored;
    return std::filesystem::exists(page, ignored) ? page : "";
}

// Copies it to where a report links to it.
Status copy_explain_page(const std::string& folder) {
    const auto bytes = text_of_file(own_explain_page().string());
    if (!bytes) return bytes.error();
    return write_atomically((std::filesystem::path(folder) / explain_page).string(),
                            {std::as_bytes(std::span(bytes.value()))});
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
    reports::Material material = given;
    if (!own_explain_page().empty()) material.explain_page = explain_page;
    bool is_linked = false;
    std::vector<std::string> paths;
    for (const reports::Renderer& renderer : reports::renderers) {
        const std::string text = renderer.render(material);
        is_linked |= text.find(std::string(explain_page) + "#") != std::string::npos;
        const std::string path = path_of(renderer, folder);
        const Status written = write_atomically(path, {std::as_bytes(std::span(text))});
        if (!written) return written.error();
        paths.push_back(path);
    }
    if (is_linked)
        if (const Status copied = copy_explain_page(folder); !copied) return copied.error();
    return paths;
}

std::vector<std::string> report_file_names() {
    std::vector<std::string> names;
    for (const reports::Renderer& renderer : reports::renderers)
        names.emplace_back(renderer.file_name);
    return names;
}

}  // namespace mx::cli
