// mxcheck doctor: what is here, what will be skipped, and why.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "conformance/cli/commands.hpp"
#include "conformance/cli/environment.hpp"
#include "conformance/cli/session.hpp"

namespace mx::cli {
namespace {

using results::Field;

Field device_check(const DeviceSource& source) {
    const auto device = open_device({.device = source.name}, 20);
    if (!device) return {"device " + source.name, "does not open: " + device.error().message};
    std::string text = "ready";
    for (const auto& [key, value] : device.value().facts()) text += ", " + key + " " + value;
    return {"device " + source.name, text};
}

std::vector<Field> checks() {
    std::vector<Field> found{{"program", version_text()}};
    for (const Field& fact : environment_facts()) found.push_back(fact);
    bool has_nvhost = false;
    bool has_cuda = false;
    bool has_cublaslt = false;
    const DeviceRegistry devices = built_in_devices();
    for (const DeviceSource& source : devices.list()) {
        found.push_back(device_check(source));
        has_nvhost = has_nvhost || source.name == "nvhost";
        has_cuda = has_cuda || source.name == "cuda";
        has_cublaslt = has_cublaslt || source.name == "cublaslt";
    }
    if (!has_nvhost)
        found.push_back({"device nvhost",
                         "skipped: this program was built without NVIDIA's cuda_fp8.h (set "
                         "CUDA_HOME and configure again)"});
    if (!has_cuda)
        found.push_back({"device cuda",
                         "skipped: this program was built without nvcc of CUDA 12.9 or later, or "
                         "mx_cuda.so is neither beside it nor in ../lib"});
    if (!has_cublaslt)
        found.push_back({"device cublaslt",
                         "skipped: this program was built without cublasLt.h and libcublasLt of "
                         "CUDA 12.9 or later, or mx_cublaslt.so is neither beside it nor in "
                         "../lib"});
    const bool driver = std::filesystem::exists("/dev/nvidiactl") ||
                        std::filesystem::exists("/proc/driver/nvidia/version");
    found.push_back({"gpu", driver ? "an NVIDIA driver is loaded" : "none found"});
    return found;
}

int doctor(bool json) {
    const std::vector<Field> found = checks();
    if (json) {
        nlohmann::ordered_json object;
        for (const Field& field : found) object[field.key] = field.value;
        std::printf("%s\n",
                    object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
        return exit_conformant;
    }
    for (const Field& field : found)
        std::printf("%-16s %s\n", field.key.c_str(), field.value.c_str());
    return exit_conformant;
}

}  // namespace

Command doctor_command() {
    auto json = std::make_shared<bool>(false);
    return {"doctor",
            "what is installed here, what will be skipped and why",
            "mxcheck doctor",
            {{"--json", "as JSON", json.get()}},
            [json] { return doctor(*json); }};
}

}  // namespace mx::cli
