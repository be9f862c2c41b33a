// What a GEMM asks beside what every problem asks: its factors, its output, what comes after the
// sum, and what makes the bits right. Text names these once, at the edge.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/spec/gemm_epilogue.hpp"
#include "reference/spec/gemm_models.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx {

// What the elements of a factor, or of D in blocks, are multiplied by.
enum class FactorScaling : std::uint8_t {
    none,
    tensor,
    row,
    f32_1x128,
    f32_128x128,
    e8m0_1x32,
    ue4m3_1x16,
};

struct FactorScalingRow {
    FactorScaling scaling;
    std::string_view name;  // as the device ABI calls it
    ElementFormat scale;
    std::int64_t block;  // elements of a row that share a scale; 0 where whole rows or none do
    std::int64_t rows;   // that share one; 0 where all or none do
};
inline constexpr std::array factor_scalings{
    FactorScalingRow{FactorScaling::none, "", formats::f32, 0, 0},
    FactorScalingRow{FactorScaling::tensor, "tensor", formats::f32, 0, 0},
    FactorScalingRow{FactorScaling::row, "row", formats::f32, 0, 1},
    FactorScalingRow{FactorScaling::f32_1x128, "1x128", formats::f32, 128, 1},
    FactorScalingRow{FactorScaling::f32_128x128, "128x128", formats::f32, 128, 128},
    FactorScalingRow{FactorScaling::e8m0_1x32, "1x32", formats::e8m0, 32, 1},
    FactorScalingRow{FactorScaling::ue4m3_1x16, "1x16", ue4m3, 16, 1},
};
static_assert([] {
    for (std::size_t i = 0; i < factor_scalings.size(); ++i)
        if (factor_scalings[i].scaling != static_cast<FactorScaling>(i)) return false;
    return true;
}());

constexpr const FactorScalingRow& row_of(FactorScaling scaling) {
    return factor_scalings[static_cast<std::size_t>(scaling)];
}
constexpr std::string_view name_of(FactorScaling scaling) {
    return row_of(scaling).name;
}
// Blocks with scales of their own, as MX and NVFP4 have them.
constexpr bool has_small_blocks(FactorScaling scaling) {
    return scaling == FactorScaling::e8m0_1x32 || scaling == FactorScaling::ue4m3_1x16;
}

// A factor, or D: "mxfp8-e4m3", "nvfp4", "e4m3:row", "bf16".
struct FactorType {
    ElementFormat element = formats::f32;
    FactorScaling scaling = FactorScaling::none;

    friend bool operator==(const FactorType&, const FactorType&) = default;
};

// As a case line says it.
std::string name_of(const FactorType& factor);
// The format of small blocks with scales of their own; nullptr of others.
const BlockFormat* small_block_format(const FactorType& factor);

// What is done to the sum beside alpha and C.
struct EpilogueSteps {
    bool adds_bias = false;
    Activation activation = Activation::none;

    bool operator==(const EpilogueSteps&) const = default;
};
inline constexpr std::array<std::pair<std::string_view, EpilogueSteps>, 6> epilogues{{
    {"none", {false, Activation::none}},
    {"bias", {true, Activation::none}},
    {"relu", {false, Activation::relu}},
    {"bias-relu", {true, Activation::relu}},
    {"gelu", {false, Activation::gelu}},
    {"bias-gelu", {true, Activation::gelu}},
}};

enum class Accumulation : std::uint8_t { by_default, fast };
inline constexpr std::array<std::pair<std::string_view, Accumulation>, 2> accumulations{{
    {"default", Accumulation::by_default},
    {"fast", Accumulation::fast},
}};

constexpr std::string_view name_of(const EpilogueSteps& epilogue) {
    return name_in(epilogues, epilogue);
}
constexpr std::string_view name_of(Accumulation accumulation) {
    return name_in(accumulations, accumulation);
}

// A row that is in no table, from a file of the user's, and all that it points to.
struct OwnModel {
    std::string name, operands, scales, blocks, accumulator, source, open;
    std::string word;  // as a case line has it
    GemmModel row = {};

    OwnModel() = default;
    OwnModel(const OwnModel&) = delete;
    OwnModel& operator=(const OwnModel&) = delete;
};

// What makes the expected bits right: the exact sum, where every correct machine must give it; the
// bits of a row of gemm_models, or of one of the user's; or a bound, of the weakest accumulator or
// of a row's.
struct ModelChoice {
    const GemmModel* row = nullptr;
    bool is_bounded = false;
    std::shared_ptr<const OwnModel> own = {};  // whose row it is, if it is in no table

    bool operator==(const ModelChoice& other) const {
        if (is_bounded != other.is_bounded) return false;
        return own && other.own ? own->word == other.own->word : row == other.row;
    }
};

// "any", "hopper-fp8", "bounded", "bounded:hopper-fp8"; the word of a row of the user's
std::string name_of(const ModelChoice& model);

// D = alpha * A * B^T + beta * C. Of a grouped one, as a mixture of experts has it, each group has
// some neighbouring rows of A and D, and an N x K matrix of its own in the rows of B.
struct GemmProblem {
    FactorType a = {}, b = {};
    FactorType output = {};
    std::int64_t m = 0, n = 0, k = 0;
    std::int64_t batches = 1;
    // Rows of A in each group, of which some may have none; what is left of its m rows belongs to
    // no group, nor do those rows of D. None: the product is not grouped.
    std::vector<std::int64_t> groups = {};
    std::uint32_t alpha = 0x3F800000;  // bits of binary32, as beta
    std::uint32_t beta = 0;
    std::optional<ElementFormat> c = {};  // the type of C; none where beta is 0
    EpilogueSteps epilogue = {};
    Accumulation accumulation = Accumulation::by_default;
    std::string algorithm = "default";  // the device's own word
    ModelChoice model = {};

    bool reads_c() const { return beta << 1 != 0; }
    bool is_grouped() const { return !groups.empty(); }
    // Of the tensors; those of A are C's and D's.
    std::int64_t rows_of_a() const { return batches * m; }
    std::int64_t rows_of_b() const {
        return (is_grouped() ? static_cast<std::int64_t>(groups.size()) : batches) * n;
    }
    // Of D; those beyond stay as they are.
    std::int64_t rows_written() const { return is_grouped() ? offsets().back() : rows_of_a(); }
    // Where each group begins in the rows of A, and where the last one ends.
    std::vector<std::int64_t> offsets() const;
    // Or is it left to the device?
    bool names_algorithm() const { return algorithm != "default"; }

    bool operator==(const GemmProblem&) const = default;
};

// What decides where K is split.
struct SplitDepth {
    std::int64_t depth = 0;
    int code_bytes = 1;         // of an element of A
    bool has_squares = false;   // scales of 128x128, of either factor
    bool is_by_eights = false;  // of a row that sums the residue of K first
};

// Of K, in each of `parts` along it: whole tiles of 128 bytes, and where scales are those of
// squares, which are read four at a time, whole fours of them; or as even as whole eights can be.
// 0 where K is not split.
constexpr std::int64_t part_length(const SplitDepth& split, std::int64_t parts) {
    if (parts <= 1) return 0;
    const auto whole = [](std::int64_t value, std::int64_t unit) {
        return (value + unit - 1) / unit;
    };
    if (split.is_by_eights) return whole(whole(split.depth, parts), 8) * 8;
    const std::int64_t tile = 128 / split.code_bytes;
    const std::int64_t unit = split.has_squares ? 4 : 1;
    return whole(whole(whole(split.depth, tile), parts), unit) * unit * tile;
}

// D in blocks along its rows that have scales of their own.
constexpr bool has_blocks(const FactorType& output) {
    return output.scaling != FactorScaling::none;
}

}  // namespace mx
