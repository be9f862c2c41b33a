// What can be told of a machine, field by field: the values it may have, and their names.
// Used by gemm_fit.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/identify/gemm_machine.hpp"

namespace mx::identify {

struct GemmField {
    std::string_view name;
    std::string_view probes;  // what those that were made for it are about; "": none were
    // Copies of a machine, each with another value; the present one may be among them. Values in
    // their natural order, so that neighbours are the hardest to tell apart.
    std::vector<GemmMachine> (*values)(const GemmMachine& base, const GemmProblem& setting);
    std::string (*text)(const GemmMachine& machine);
};

std::span<const GemmField> gemm_fields();

// "12 to 40 or all": numbers that follow each other are drawn together.
std::string values_text(const std::vector<std::string>& values);

// The rows of the table that a device could follow under this setting.
std::vector<const GemmModel*> rows_for(const GemmProblem& setting);

// Some row of them sums first what K leaves over of whole tiles, which this field says.
bool may_sum_residue_first(const GemmProblem& setting);
inline constexpr std::string_view residue_field = "residue of K first";

}  // namespace mx::identify
