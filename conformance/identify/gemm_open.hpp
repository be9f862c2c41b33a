// What the table of models leaves open (GemmModel::open), as fields that identification measures.
// Used by gemm_identify.cpp.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "reference/spec/gemm_model.hpp"

namespace mx::identify {

struct GemmOpenField {
    std::string_view rows;   // separated by blanks
    std::string_view field;  // of gemm_fields(); "" where no probe here settles it
    std::array<std::string_view, 3> values = {};  // that sources have; none: any number
};
std::span<const GemmOpenField> open_fields();

// Those of a row that are measured.
std::vector<GemmOpenField> open_fields_of(const GemmModel& row);

}  // namespace mx::identify
