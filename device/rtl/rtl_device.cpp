// See rtl_device.hpp.
#include "device/rtl/rtl_device.hpp"

#include <algorithm>

#include "device/rtl/build.hpp"

namespace mx {
namespace {

constexpr std::string_view prefix = "rtl:";

// What the build takes of a configuration: parameters, and whether there is a trace. The rest is
// for the plug-in.
struct Split {
    rtl::Trace trace = rtl::Trace::none;
    std::string rest;
};

Expected<rtl::Trace> trace_of(std::string_view file) {
    if (file.ends_with(".vcd")) return rtl::Trace::vcd;
    if (file.ends_with(".fst")) return rtl::Trace::fst;
    return bad_input("trace=" + std::string(file) + ": a trace is a file .vcd or .fst");
}

Expected<Split> split(std::string_view configuration, rtl::Description& description) {
    Split split;
    while (!configuration.empty()) {
        const std::string_view pair = configuration.substr(0, configuration.find(','));
        configuration.remove_prefix(std::min(pair.size() + 1, configuration.size()));
        const std::size_t equals = std::min(pair.find('='), pair.size());
        const std::string_view key = pair.substr(0, equals);
        const std::string_view value = pair.substr(std::min(equals + 1, pair.size()));
        const auto parameter =
            std::ranges::find(description.parameters, key, [](const auto& p) { return p.first; });
        if (parameter != description.parameters.end()) {
            parameter->second = value;
            continue;
        }
        if (key == "trace") {
            const auto trace = trace_of(value);
            if (!trace) return trace.error();
            split.trace = trace.value();
        }
        split.rest += (split.rest.empty() ? "" : ",") + std::string(pair);
    }
    return split;
}

}  // namespace

bool is_design(std::string_view device) {
    return device.starts_with(prefix);
}

Expected<DeviceSource> design_device(std::string_view device, const std::string& cache) {
    const DeviceText text = split_device_text(device.substr(prefix.size()));
    auto description = rtl::read_description(std::string(text.device));
    if (!description) return description.error();
    const auto configured = split(text.configuration, description.value());
    if (!configured) return configured.error();
    const auto plugin = rtl::built(description.value(), configured.value().trace, cache);
    if (!plugin) return plugin.error();
    return DeviceSource{.name = std::string(device),
                        .description = "a hardware design",
                        .path = plugin.value(),
                        .configuration = configured.value().rest};
}

Expected<std::string> design_tools() {
    return rtl::tools();
}

}  // namespace mx
