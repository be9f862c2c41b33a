// The list of built-in devices, and the rules that tell a name from a path and either from a
// configuration. Opens nothing.
#include "device/host/device_registry.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "reference/base/text.hpp"

namespace mx {

namespace {

bool looks_like_a_path(std::string_view text) {
    return text.find('/') != std::string_view::npos || text.ends_with(".so");
}

constexpr std::string_view letters_of_a_key =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

// As split_device_text, of the ':' from `from` on.
DeviceText split_from(std::string_view text, std::size_t from) {
    for (std::size_t colon = text.find(':', from); colon != std::string_view::npos;
         colon = text.find(':', colon + 1)) {
        const std::string_view rest = text.substr(colon + 1);
        const std::size_t end = rest.find_first_not_of(letters_of_a_key);
        if (end != 0 && end != std::string_view::npos && rest[end] == '=')
            return {text.substr(0, colon), rest};
    }
    return {text, ""};
}

bool is_file(std::string_view path) {
    std::error_code ignored;
    return std::filesystem::exists(std::filesystem::path(path), ignored);
}

// The first split that leaves a path that exists, so that a file may be called "mine:x=1.so".
DeviceText split_path(std::string_view text) {
    if (is_file(text)) return {text, ""};
    DeviceText split = split_device_text(text);
    while (!split.configuration.empty() && !is_file(split.device))
        split = split_from(text, split.device.size() + 1);
    return split.configuration.empty() ? split_device_text(text) : split;
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

DeviceText split_device_text(std::string_view text) {
    return split_from(text, 0);
}

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
    const DeviceText named = split_device_text(text);
    for (const DeviceSource& known : built_in_) {
        names.push_back(known.name);
        if (known.name != named.device) continue;
        DeviceSource source = known;
        source.configuration = std::string(named.configuration);
        return source;
    }
    const DeviceText file = split_path(text);
    if (looks_like_a_path(file.device)) {
        DeviceSource source;
        source.name = std::string(text.substr(file.device.rfind('/') + 1));
        source.description = "a plug-in";
        source.path = std::string(file.device);
        source.configuration = std::string(file.configuration);
        return source;
    }
    return bad_input(unknown_device(named.device, names));
}

}  // namespace mx
