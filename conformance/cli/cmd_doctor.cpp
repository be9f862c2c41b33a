// mxcheck doctor: what is here, what will be skipped, and why.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/environment.hpp"
#include "conformance/emulate/gemm_fields.hpp"
#include "conformance/oracle/isolated_check.hpp"
#include "conformance/run/evidence.hpp"
#include "device/rtl/rtl_device.hpp"

namespace mx::cli {
namespace {

using results::Field;

// Along which axes it quantizes, "" if along none: asked in a shape and a format that each does.
std::string axes_of(const Client& client) {
    std::string axes;
    for (const std::string& axis : axis_names()) {
        const bool is_done = std::ranges::any_of(std::array{"ocp", "nv"}, [&](const char* dialect) {
            const auto c =
                parse_case("quantize format=mxfp8-e4m3 shape=64x64 data=bits:0 axis=" + axis +
                           " dialect=" + dialect);
            return c && !client.refuses(question_without_data(c.value()));
        });
        if (is_done) axes += (axes.empty() ? ", axes " : " ") + axis;
    }
    return axes;
}

Field device_check(const DeviceSource& source) {
    const auto client = open_device({.device = source.name}, 20);
    if (!client) return {"device " + source.name, "does not open: " + client.error().message};
    std::string text = "ready";
    for (const auto& [key, value] : client.value().facts) text += ", " + key + " " + value;
    text += axes_of(client.value());
    return {"device " + source.name, text};
}

// Why this program does not have it.
Field missing(const OptionalDevice& device) {
    const std::string file = device.file;
    return {std::string("device ") + device.name,
            std::string("skipped: this program was built without ") + device.needs +
                (file.empty() ? "" : ", or " + file + " is neither beside it nor in ../lib")};
}

// A design is a device only where it can be simulated.
Field designs() {
    const auto tools = design_tools();
    return {"device rtl:",
            tools ? "builds designs with " + tools.value() + "; they are kept in " +
                        cache_folder() + "/rtl"
                  : "skipped, and with it the tests of hardware designs (ctest -L rtl): " +
                        tools.error().message};
}

std::string oracle_text(const std::string& fault) {
    if (!fault.empty()) return fault;
    return "right in " + std::to_string(oracle_answer_count()) +
           " answers typed by hand, fast and exact; built by " + oracle_built_by;
}

std::vector<Field> checks(const std::string& oracle_fault) {
    std::vector<Field> found{{"program", version_text()}, {"oracle", oracle_text(oracle_fault)}};
    for (const Field& fact : session::environment_facts(this_build())) found.push_back(fact);
    const DeviceRegistry devices = built_in_devices();
    for (const DeviceSource& source : devices.list()) found.push_back(device_check(source));
    for (const OptionalDevice& device : optional_devices)
        if (!devices.resolve(device.name)) found.push_back(missing(device));
    found.push_back(designs());
    const bool driver = std::filesystem::exists("/dev/nvidiactl") ||
                        std::filesystem::exists("/proc/driver/nvidia/version");
    found.push_back({"gelu", emulate::gelu_text});
    found.push_back({"gpu", driver ? "an NVIDIA driver is loaded" : "none found"});
    return found;
}

int doctor(bool json) {
    const std::string& oracle_fault = isolated_oracle_fault();
    const int code = oracle_fault.empty() ? exit_conformant : exit_self_test;
    const std::vector<Field> found = checks(oracle_fault);
    if (json) {
        nlohmann::ordered_json object;
        for (const Field& field : found) object[field.key] = field.value;
        std::printf("%s\n",
                    object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
        return code;
    }
    for (const Field& field : found)
        std::printf("%-16s %s\n", field.key.c_str(), field.value.c_str());
    return code;
}

}  // namespace

Command doctor_command() {
    auto json = std::make_shared<bool>(false);
    return {"doctor",
            "what is installed here, what will be skipped and why",
            "mxcheck doctor",
            {{"--json", "as JSON", json.get()}},
            [json] { return doctor(*json); },
            false};
}

}  // namespace mx::cli
