// Names that users type, checked against the tables: "unknown dialect 'opc'; did you mean 'ocp'?"
// Used by the case grammar and the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reference/base/status.hpp"
#include "reference/problem/problem.hpp"

namespace mx {

// Success if `name` is among `known`; else a sentence with the nearest of them, or all if none is
// near.
Status check_name(std::string_view kind, std::string_view name,
                  const std::vector<std::string>& known);

// Every name of a table, in table order.
template <typename Table>
std::vector<std::string> names_of(const Table& table) {
    std::vector<std::string> names;
    for (const auto& row : table) names.emplace_back(row.name);
    return names;
}

// The same of a table of pairs.
template <typename Pairs>
std::vector<std::string> first_of(const Pairs& pairs) {
    std::vector<std::string> names;
    for (const auto& [name, value] : pairs) names.emplace_back(name);
    return names;
}

std::vector<std::string> operation_names();
std::vector<std::string> axis_names();
std::vector<std::string> block_names();  // of formats whose scales are powers of two
std::vector<std::string> all_block_names();
std::vector<std::string> layout_names();
std::vector<std::string> scales_names();
std::vector<std::string> packing_names();
// Of the formats of OCP MX, or of the formats that convert writes.
std::vector<std::string> format_names(OperationKind operation);
std::vector<std::string> dialect_names();    // of those with E8M0 scales
std::vector<std::string> converter_names();  // and of those without scales: what convert takes
// Of all block formats and quantizers: what quantize and dequantize take.
std::vector<std::string> block_format_names();
std::vector<std::string> quantizer_names();
std::vector<std::string> quantizer_names(const BlockFormat& format);  // that quantize to it
// The one that stands where the user names none: the first that quantizes values of f32 to the
// format without random bits or earlier tensors. Of the formats of OCP MX it is ocp; "" if none is.
std::string usual_quantizer(const BlockFormat& format);
std::vector<std::string> type_names();
std::vector<std::string> rounding_names();
std::vector<std::string> overflow_names();
std::vector<std::string> subnormal_names();

// "*" stands for anything, "?" for one character.
bool matches_glob(std::string_view pattern, std::string_view text);

}  // namespace mx
