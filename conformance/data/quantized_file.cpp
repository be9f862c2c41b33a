// See quantized_file.hpp.
#include "conformance/data/quantized_file.hpp"

#include <algorithm>

namespace mx::data {
namespace {

// As it is, unless a terminal should not see it so.
std::string harmless(const std::string& name) {
    const bool is_plain = std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~'; });
    return is_plain && name.size() <= 80 ? name : in_quotes(name);
}

}  // namespace

std::string names_text(const BlockNames& names) {
    std::string text;
    for (const auto& [key, member] : name_keys)
        if (!(names.*member).empty())
            text += (text.empty() ? "" : ", ") + std::string(key) + " " + harmless(names.*member);
    return text;
}

std::string metadata_in(const TensorFile& file, std::string_view key) {
    for (const auto& [found, value] : file.metadata)
        if (found == key) return value;
    return "";
}

BlockNames carried_names(const TensorFile& file) {
    BlockNames names;
    for (const auto& [key, member] : name_keys) names.*member = metadata_in(file, key);
    return names;
}

bool is_quantized(const TensorFile& file) {
    return !metadata_in(file, "mxcheck_version").empty() || !metadata_in(file, "dialect").empty();
}

Status check_unquantized(const TensorFile& file) {
    if (!is_quantized(file)) return success();
    const std::string names = names_text(carried_names(file));
    return bad_input("was quantized already" + (names.empty() ? "" : " with " + names) +
                     ", so it holds codes and no values; mxcheck requantize changes how, "
                     "mxcheck dequantize gives values");
}

}  // namespace mx::data
