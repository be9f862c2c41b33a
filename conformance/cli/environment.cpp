// See environment.hpp.
#include "conformance/cli/environment.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "device/cpu/cpu_device.hpp"
#include "mx_version.hpp"
#if defined(MX_HAS_NVHOST)
#include "device/nvhost/nvhost_device.hpp"
#endif

namespace mx::cli {
namespace {

// A plug-in of ours, by its file: in a build tree, installed, or carried in one folder with the
// program; "" without.
std::string plug_in(const std::string& file) {
    for (const char* place : {"/../lib/", "/../lib/mxcheck/", "/"}) {
        const std::filesystem::path path = executable_folder() + place + file;
        std::error_code error;
        if (std::filesystem::exists(path, error)) return path.lexically_normal().string();
    }
    return "";
}

}  // namespace

const session::Build& this_build() {
    static const session::Build build{MX_VERSION, MX_COMMIT, MX_DIRTY, MX_BUILD_TYPE};
    return build;
}

std::string program_version() {
    return MX_VERSION;
}

std::string version_text() {
    return "mxcheck " + this_build().version + " (commit " + this_build().commit +
           (this_build().is_dirty ? ", with local changes)" : ")");
}

DeviceRegistry built_in_devices() {
    DeviceRegistry registry;
    registry.add({.name = "cpu",
                  .description =
                      "mxcheck's own quantizer for the CPU, SIMD chosen at run time; axes "
                      "row col tile both",
                  .get_api = [](std::uint32_t) { return mx_cpu_device_api(); }});
    for (const OptionalDevice& device : optional_devices) {
        const std::string axes = *device.axes == '\0' ? "" : std::string("; axes ") + device.axes;
        if (*device.file == '\0') {
#if defined(MX_HAS_NVHOST)
            registry.add({.name = device.name,
                          .description = device.description + axes,
                          .get_api = [](std::uint32_t) { return mx_nvhost_device_api(); }});
#endif
        } else if (const std::string path = plug_in(device.file); !path.empty()) {
            registry.add(
                {.name = device.name, .description = device.description + axes, .path = path});
        }
    }
    return registry;
}

std::string place_of_device(const std::string& name) {
    for (const OptionalDevice& device : optional_devices)
        if (name == device.name) return device.place;
    return "host";
}

std::string executable_folder() {
    std::error_code error;
    const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? "" : path.parent_path().string();
}

std::string cache_folder() {
    const auto set = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    };
    if (const std::string ours = set("MXCHECK_CACHE"); !ours.empty()) return ours;
    if (const std::string all = set("XDG_CACHE_HOME"); !all.empty()) return all + "/mxcheck";
    if (const std::string home = set("HOME"); !home.empty()) return home + "/.cache/mxcheck";
    return "/tmp/mxcheck-" + std::to_string(::getuid());
}

}  // namespace mx::cli
