// See environment.hpp.
#include "conformance/cli/environment.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include "conformance/cli/text_file.hpp"
#include "conformance/data/suite.hpp"
#include "conformance/emulate/dialect_fields.hpp"
#include "device/cpu/cpu_device.hpp"
#include "mx_version.hpp"
#include "reference/proof/sha256.hpp"
#include "reference/spec/dialects.hpp"
#include "reference/spec/formats.hpp"
#if defined(MX_HAS_NVHOST)
#include "device/nvhost/nvhost_device.hpp"
#endif

namespace mx::cli {
namespace {

// The value after "key" and a separator in a file of lines, "unknown" without one.
std::string value_in_file(const char* path, const std::string& key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(key)) continue;
        std::string value = line.substr(key.size());
        const std::size_t start = value.find_first_not_of(" \t:=\"");
        const std::size_t end = value.find_last_not_of(" \t\"");
        return start == std::string::npos ? "unknown" : value.substr(start, end - start + 1);
    }
    return "unknown";
}

std::string kernel_text() {
    utsname name{};
    if (uname(&name) != 0) return "unknown";
    return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

std::string format_rows() {
    std::string text;
    for (const ElementFormat& f : element_formats)
        text += std::string(f.name) + " " + std::to_string(f.sign_bits) + " " +
                std::to_string(f.exponent_bits) + " " + std::to_string(f.mantissa_bits) + " " +
                std::to_string(f.exponent_bias) + " " +
                std::to_string(static_cast<int>(f.zero_exponent)) + " " +
                std::to_string(static_cast<int>(f.specials)) + "\n";
    for (const BlockFormat& f : block_formats)
        text += std::string(f.name) + " " + std::string(f.element().name) + " " +
                std::string(f.scale().name) + " " + std::to_string(f.block_size) + "\n";
    return text;
}

// Every field that decides bits, from the one list of them, so that a new field is hashed too.
std::string dialect_rows() {
    std::string text;
    for (const Dialect& dialect : dialects) {
        text += dialect.name;
        for (const emulate::DialectField& field : emulate::dialect_fields())
            text += " " + std::string(field.value_of(dialect));
        text += " " + std::to_string(dialect.open) + "\n";
    }
    return text;
}

std::string suite_texts() {
    std::string text;
    for (const Suite& suite : built_in_suites()) text += suite.name + "\n" + suite.text;
    return text;
}

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

std::string program_version() {
    return MX_VERSION;
}
std::string program_commit() {
    return MX_COMMIT;
}
bool is_dirty() {
    return MX_DIRTY;
}

std::string version_text() {
    return "mxcheck " + program_version() + " (commit " + program_commit() +
           (is_dirty() ? ", with local changes)" : ")");
}

std::vector<results::Field> environment_facts() {
    const unsigned cores = std::thread::hardware_concurrency();
    return {
        {"cpu", value_in_file("/proc/cpuinfo", "model name")},
            {"cores", cores == 0 ? "unknown" : std::to_string(cores)},
            {"os", value_in_file("/etc/os-release", "PRETTY_NAME")}, {"kernel", kernel_text()},
#if defined(__clang__)
            {"compiler", "clang " __clang_version__},
#else
            {"compiler", "g++ " __VERSION__},
#endif
            {"build", MX_BUILD_TYPE},
    };
}

std::vector<results::Field> table_hashes() {
    return {{"formats", sha256(format_rows())},
            {"dialects", sha256(dialect_rows())},
            {"suites", sha256(suite_texts())}};
}

std::string file_hash(const std::string& path) {
    const auto bytes = text_of_file(path);
    return bytes ? sha256(bytes.value()) : "unknown";
}

std::string utc_now() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
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

bool is_our_gpu_device(const std::string& name) {
    for (const OptionalDevice& device : optional_devices)
        if (name == device.name) return *device.file != '\0';
    return false;
}

std::string executable_folder() {
    std::error_code error;
    const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? "" : path.parent_path().string();
}

}  // namespace mx::cli
