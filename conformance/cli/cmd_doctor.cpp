// mxcheck doctor: what is here, what will be skipped, and why.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/environment.hpp"
#include "conformance/cli/session.hpp"
#include "conformance/run/evidence.hpp"

namespace mx::cli {
namespace {

using results::Field;

// Along which axes it quantizes, "" if along none: asked in a shape and a format that each does.
std::string axes_of(IsolatedDevice& device) {
    std::string axes;
    for (const std::string& axis : axis_names()) {
        const bool is_done = std::ranges::any_of(std::array{"ocp", "nv"}, [&](const char* dialect) {
            const auto c =
                parse_case("quantize format=mxfp8-e4m3 shape=64x64 data=bits:0 axis=" + axis +
                           " dialect=" + dialect);
            return c && !device.refuses(question_without_data(c.value()));
        });
        if (is_done) axes += (axes.empty() ? ", axes " : " ") + axis;
    }
    return axes;
}

Field device_check(const DeviceSource& source) {
    auto device = open_device({.device = source.name}, 20);
    if (!device) return {"device " + source.name, "does not open: " + device.error().message};
    std::string text = "ready";
    for (const auto& [key, value] : device.value().facts()) text += ", " + key + " " + value;
    text += axes_of(device.value());
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
    found.push_back({"gelu", gelu_text});
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
