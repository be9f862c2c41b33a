// The list of built-in devices, and the rule that tells a name from a path. Opens nothing.
#include "device/host/device_registry.hpp"

#include <algorithm>
#include <utility>

#include "device/host/text.hpp"

namespace mx {

namespace {

bool looks_like_a_path(std::string_view text) {
    return text.find('/') != std::string_view::npos || text.ends_with(".so");
}

std::string unknown_device(std::string_view text, const std::vector<std::string>& names) {
    std::string sentence = "there is no device \"" + printable(text) + "\"";
    if (const std::string near = nearest_name(text, names); !near.empty()) {
        sentence += "; did you mean \"" + near + "\"?";
    } else {
        sentence += ";";
    }
    sentence += " Built-in devices:";
    for (const std::string& name : names) sentence += " " + name;
    return sentence + ". A plug-in is given by its path, for example ./mine.so";
}

}  // namespace

void DeviceRegistry::add(DeviceSource built_in) {
    const auto same_name = [&](const DeviceSource& known) { return known.name == built_in.name; };
    const auto known = std::find_if(built_in_.begin(), built_in_.end(), same_name);
    if (known == built_in_.end()) {
        built_in_.push_back(std::move(built_in));
    } else {
        *known = std::move(built_in);
    }
}

Expected<DeviceSource> DeviceRegistry::resolve(std::string_view text) const {
    std::vector<std::string> names;
    for (const DeviceSource& known : built_in_) {
        if (known.name == text) return known;
        names.push_back(known.name);
    }
    if (looks_like_a_path(text)) {
        DeviceSource source;
        source.name = std::string(text.substr(text.rfind('/') + 1));
        source.description = "a plug-in";
        source.path = std::string(text);
        return source;
    }
    return Error{ErrorKind::bad_input, unknown_device(text, names)};
}

}  // namespace mx
