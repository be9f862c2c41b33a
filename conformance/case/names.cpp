// See names.hpp.
#include "conformance/case/names.hpp"

#include <algorithm>

#include "device/host/text.hpp"
#include "reference/spec/dialects.hpp"
#include "reference/spec/formats.hpp"

namespace mx {
namespace {

template <typename Pairs>
std::vector<std::string> first_of(const Pairs& pairs) {
    std::vector<std::string> names;
    for (const auto& [name, value] : pairs) names.emplace_back(name);
    return names;
}

}  // namespace

Status check_name(std::string_view kind, std::string_view name,
                  const std::vector<std::string>& known) {
    if (std::find(known.begin(), known.end(), name) != known.end()) return success();
    std::string message = "unknown " + std::string(kind) + " '" + std::string(name) + "'";
    const std::string nearest = nearest_name(name, known);
    if (!nearest.empty())
        return Error{ErrorKind::bad_input, message + "; did you mean '" + nearest + "'?"};
    message += "; known are:";
    for (const std::string& candidate : known) message += " " + candidate;
    return Error{ErrorKind::bad_input, message};
}

std::vector<std::string> operation_names() {
    return {"convert", "encode_scale", "quantize", "dequantize"};
}
std::vector<std::string> layout_names() {
    return {"dense", "padded"};
}
std::vector<std::string> dialect_names() {
    return names_of(dialects);
}
std::vector<std::string> type_names() {
    return {input_types.begin(), input_types.end()};
}
std::vector<std::string> rounding_names() {
    return first_of(roundings);
}
std::vector<std::string> overflow_names() {
    return first_of(overflows);
}

std::vector<std::string> format_names(std::string_view operation) {
    std::vector<std::string> names;
    for (const BlockFormat& format : block_formats)
        names.emplace_back(operation == "convert" ? format.element().name : format.name);
    return names;
}

bool matches_glob(std::string_view pattern, std::string_view text) {
    if (pattern.empty()) return text.empty();
    if (pattern[0] == '*') {
        for (std::size_t skip = 0; skip <= text.size(); ++skip)
            if (matches_glob(pattern.substr(1), text.substr(skip))) return true;
        return false;
    }
    if (text.empty() || (pattern[0] != '?' && pattern[0] != text[0])) return false;
    return matches_glob(pattern.substr(1), text.substr(1));
}

}  // namespace mx
