// Which block scales of A and of B go together under a model.
#pragma once

#include <cstdint>
#include <string_view>

#include "reference/spec/formats.hpp"
#include "reference/spec/gemm_model.hpp"

namespace mx {

// Whether so many rows may share a scale of A and of B, each of which the model takes alone. A
// binary32 scale of many rows is another mode of cuBLASLt than one of a single row, and adds up
// otherwise.
constexpr bool takes_rows_of_scales(const GemmModel& model, std::int64_t rows_a,
                                    std::int64_t rows_b) {
    if (!lists(model.scales, formats::f32.name)) return true;
    const int of_many_rows = (rows_a > 1 ? 1 : 0) + (rows_b > 1 ? 1 : 0);
    return of_many_rows == (model.scaling == BlockScaling::promoted_product ? 1 : 0);
}

// The same in words, of a model with binary32 scales.
constexpr std::string_view rows_of_scales(const GemmModel& model) {
    return model.scaling == BlockScaling::promoted_product
               ? "has scales of many rows on one side and of each row on the other"
               : "has scales of each row on both sides";
}

}  // namespace mx
