// What a case of operation gemm says beside the fields that every case has, and the words for it.
// Knows names and shapes, no bits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/base/status.hpp"

namespace mx {

struct Case;

// D = alpha * A * B^T + beta * C. The words "none" and "default" are what the device ABI writes as
// NULL.
struct GemmFields {
    std::string a, b;  // "mxfp8-e4m3", "nvfp4", "e4m3:row", "bf16", ...
    std::int64_t m = 0, n = 0, k = 0;
    std::int64_t batches = 1;
    std::uint32_t alpha = 0x3F800000;  // bits of binary32, as beta
    std::uint32_t beta = 0;
    std::string c;  // the type of C; "none" where beta is 0
    std::string epilogue = "none";
    std::string accumulation = "default";
    std::string algorithm = "default";
    // What makes the expected bits right: "any" (the exact sum, where every correct machine must
    // give it), a row of gemm_models, or a bound: "bounded", "bounded:ROW".
    std::string model = "any";

    bool operator==(const GemmFields&) const = default;
};

// A factor's word in two: the type of its elements, and their scaling as the device ABI calls it.
struct GemmFactorWord {
    std::string element;
    std::string scaling;  // "" where it has none
};
std::optional<GemmFactorWord> parse_gemm_factor(std::string_view word);

// D's word, "f32", "mxfp8-e4m3" or "nvfp4", in two likewise: the scaling is that of blocks along
// its rows that have scales of their own.
GemmFactorWord parse_gemm_output(std::string_view word);
bool has_output_blocks(const Case& c);

// The words for those that the grammar knows.
std::vector<std::string> gemm_factor_names();
std::vector<std::string> gemm_output_names();
// Who makes D's blocks: dialects, and recipes of NVFP4.
std::vector<std::string> gemm_dialect_names();
std::vector<std::string> gemm_addend_names();
std::vector<std::string> gemm_epilogue_names();
std::vector<std::string> gemm_accumulation_names();
std::vector<std::string> gemm_model_names();

inline constexpr std::string_view bounded_model = "bounded";
inline constexpr std::string_view bounded_by = "bounded:";

// The row of gemm_models in model=ROW and model=bounded:ROW; "" where none is named.
std::string_view model_row_name(const GemmFields& gemm);

// What the fields leave to the others: C's type, the dialect of D's blocks, and rows and columns of
// D. Only for known names.
void complete_gemm(Case& c);

// Whether every name stands in its table, and whether they go together.
Status check_gemm_names(const Case& c);
Status check_gemm(const Case& c);

}  // namespace mx
