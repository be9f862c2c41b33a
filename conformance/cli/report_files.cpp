// See report_files.hpp.
#include "conformance/cli/report_files.hpp"

#include <filesystem>

#include "conformance/data/atomic_file.hpp"
#include "reports/render/renderers.hpp"

namespace mx::cli {
namespace {

std::string path_of(const reports::Renderer& renderer, const std::string& folder) {
    return (std::filesystem::path(folder) / std::string(renderer.file_name)).string();
}

}  // namespace

Expected<std::vector<std::string>> write_report_files(const reports::Material& material,
                                                      const std::string& folder) {
    std::vector<std::string> paths;
    for (const reports::Renderer& renderer : reports::renderers) {
        const std::string text = renderer.render(material);
        const std::string path = path_of(renderer, folder);
        const Status written = data::write_atomically(path, {std::as_bytes(std::span(text))});
        if (!written) return written.error();
        paths.push_back(path);
    }
    return paths;
}

Status remove_report_files(const std::string& folder) {
    for (const reports::Renderer& renderer : reports::renderers) {
        const std::string path = path_of(renderer, folder);
        std::error_code error;
        std::filesystem::remove(path, error);
        if (error)
            return Error{
                ErrorKind::system,
                path + ": cannot remove, and it tells of an earlier run: " + error.message()};
    }
    return success();
}

}  // namespace mx::cli
