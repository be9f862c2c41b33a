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

// Why this program does not have it.
Field missing(const OptionalDevice& device) {
    const std::string file = device.file;
    return {std::string("device ") + device.name,
            std::string("skipped: this program was built without ") + device.needs +
                (file.empty() ? "" : ", or " + file + " is neither beside it nor in ../lib")};
}

std::vector<Field> checks() {
    std::vector<Field> found{{"program", version_text()}};
    for (const Field& fact : environment_facts()) found.push_back(fact);
    const DeviceRegistry devices = built_in_devices();
    for (const DeviceSource& source : devices.list()) found.push_back(device_check(source));
    for (const OptionalDevice& device : optional_devices)
        if (!devices.resolve(device.name)) found.push_back(missing(device));
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
