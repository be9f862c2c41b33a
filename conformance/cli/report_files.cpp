// See report_files.hpp.
#include "conformance/cli/report_files.hpp"

#include <filesystem>

#include "conformance/data/atomic_file.hpp"
#include "reports/render/renderers.hpp"

namespace mx::cli {

Expected<std::vector<std::string>> write_report_files(const reports::Material& material,
                                                      const std::string& folder) {
    std::vector<std::string> paths;
    for (const reports::Renderer& renderer : reports::renderers) {
        const std::string text = renderer.render(material);
        const std::string path =
            (std::filesystem::path(folder) / std::string(renderer.file_name)).string();
        const Status written = data::write_atomically(path, {std::as_bytes(std::span(text))});
        if (!written) return written.error();
        paths.push_back(path);
    }
    return paths;
}

}  // namespace mx::cli
