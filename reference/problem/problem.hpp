// The typed question: an operation, the rows of the tables that it hangs on, and the shapes of its
// tensors. Text becomes one of these once, at an edge (a case line, the command line, a file, the
// device ABI), and nothing that takes one looks up a name.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/problem/blocking.hpp"
#include "reference/problem/gemm_problem.hpp"
#include "reference/spec/formats.hpp"
#include "reference/spec/layouts.hpp"
#include "reference/spec/quantizers.hpp"
#include "reference/spec/rounding.hpp"

namespace mx {

enum class OperationKind : std::uint8_t { convert, encode_scale, quantize, dequantize, gemm };

// The words of a case line for enumerators of the tables.
inline constexpr std::array<std::pair<std::string_view, BlockAxis>, 5> block_axes{{
    {"row", BlockAxis::row},
    {"col", BlockAxis::col},
    {"tile", BlockAxis::tile},
    {"both", BlockAxis::both},
    {"tensor", BlockAxis::tensor},
}};
inline constexpr std::array<std::pair<std::string_view, ScaleStorage>, 5> scale_storages{{
    {"linear", ScaleStorage::linear},
    {"128x4", ScaleStorage::tiles_128x4},
    {"8x4", ScaleStorage::tiles_8x4},
    {"32x8", ScaleStorage::tiles_32x8},
    {"te-padded", ScaleStorage::te_padded},
}};

enum class RowLayout : std::uint8_t {
    dense,
    padded,  // rows further apart than they are long
};
inline constexpr std::array<std::pair<std::string_view, RowLayout>, 2> row_layouts{{
    {"dense", RowLayout::dense},
    {"padded", RowLayout::padded},
}};

// How convert makes elements. Elsewhere the dialect decides.
struct ElementRules {
    Rounding rounding = Rounding::nearest_even;
    const StochasticForm* form = nullptr;  // where the rounding takes random bits
    Overflow overflow = Overflow::saturate;
    Subnormals subnormals = Subnormals::honoured;

    bool operator==(const ElementRules&) const = default;
};

struct Problem {
    OperationKind operation = OperationKind::quantize;
    // Of convert to elements the one made of those elements; nullptr where convert casts to a
    // scale, and of a GEMM.
    const BlockFormat* format = nullptr;
    const Quantizer* dialect = nullptr;  // nullptr for a GEMM whose D has no blocks
    ElementFormat type = formats::f32;   // of the values: the input of all operations but
                                         // dequantize, there the output; a GEMM has its own
    BlockAxis axis = BlockAxis::row;     // row where there are no blocks
    std::int64_t block = block_size;     // k; 32 where there are no blocks, 0 of axis tensor
    // The binary32 number of the whole tensor, where the dialect has one: given to quantize (the
    // amax, or under a history the scale) or to dequantize (what quantize kept). None: quantize
    // finds the amax in its values.
    std::optional<std::uint32_t> tensor_number;
    std::optional<ElementRules> rules;  // convert to elements only
    RowLayout layout = RowLayout::dense;
    ScaleStorage scales = ScaleStorage::linear;
    const Packing* packing = &packing_rows::bytes;  // of the elements of blocks
    std::int64_t rows = 0;  // of a GEMM those of D that are written, of all batches or groups
    std::int64_t columns = 0;
    GemmProblem gemm = {};  // as it is where the operation is none

    bool operator==(const Problem&) const = default;
};

bool is_gemm(const Problem& p);
bool has_blocks(const Problem& p);  // quantize and dequantize
// Does the problem choose how an element is rounded?
bool has_element_rules(const Problem& p);
// Does it cast values to scales, without blocks and by the dialect's cast alone?
bool casts_to_scale(const Problem& p);
// Does the dialect have a number for the whole tensor?
bool has_tensor_number(const Problem& p);
// Of D; not of any other tensor.
bool has_output_blocks(const Problem& p);
bool is_inline(const Problem& p);

std::int64_t element_count(const Problem& p);
Blocking blocking_of(const Problem& p);
std::int64_t lanes_of(const Problem& p);
BlockGrid block_grid(const Problem& p);

// What elements are written in; e8m0 where convert casts to a scale.
const ElementFormat& element_format_of(const Problem& p);

// The type of a scale, as the device ABI has it: NVFP4's without a sign.
const ElementFormat& scale_format_of(const Problem& p);

// nullptr where the rounding takes no random bits.
const StochasticForm* stochastic_form_of(const Problem& p);

// The dialect's row; for convert with the element rules that the problem names.
Quantizer rules_of(const Problem& p);

// Why nobody can say yet which scale is right; "" where the dialect's scale is known.
std::string unknown_scale(const Problem& p);

// The axes that a problem asks for in one call: of axis both row and col, whose outputs follow each
// other; otherwise its own.
std::span<const BlockAxis> axes_of(const Problem& p);
// The problem, or a case of it, along one of them.
template <typename Asked>
Asked along(Asked asked, BlockAxis axis) {
    asked.axis = axis;
    return asked;
}

// What a tensor of an operation holds.
enum class Part : std::uint8_t {
    values,         // numbers of the problem's type
    elements,       // codes of the element format
    scales,         // one for each block, of the format's scale type
    value_scales,   // one E8M0 byte for each value
    tensor_number,  // one number of binary32, where the dialect has one for the whole tensor
    random_bits,    // u32 words, where the rounding is stochastic
};

// What each operation takes and gives.
struct OperationRow {
    OperationKind kind;
    std::string_view name;
    std::string_view type_key;   // how a case spells the type of its values
    std::array<Part, 3> inputs;  // of a GEMM the tensors are a list of its own, gemm_tensors.hpp
    std::size_t input_count;
    std::array<Part, 3> outputs;
    std::size_t output_count;
};
std::span<const OperationRow> operations();
const OperationRow& row_of(OperationKind operation);

// The tensors of a problem, in the order of the device ABI.
std::vector<Part> inputs_of(const Problem& p);
std::vector<Part> outputs_of(const Problem& p);

// Words of random bits: not numbers of any format.
inline constexpr ElementFormat random_word{
    "u32", 0, 0, 32, 0, ZeroExponent::subnormal, Specials::none, "device/abi/mx_device.h"};

// Where groups of rows begin: no numbers of any format either.
inline constexpr ElementFormat row_offset{
    "i32", 0, 0, 32, 0, ZeroExponent::subnormal, Specials::none, "device/abi/mx_device.h"};

struct PartShape {
    ElementFormat type;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
};
// Of scales only for a problem that has one grid of them: not for axis both.
PartShape shape_of(const Problem& p, Part part);

// The bits that decide the rounding of the value in column `column`, of the word that serves it.
RandomBits random_bits_of(const StochasticForm& form, std::uint32_t word, std::int64_t column);

// As a case line says it.
constexpr std::string_view name_of(BlockAxis axis) {
    return name_in(block_axes, axis);
}
constexpr std::string_view name_of(RowLayout layout) {
    return name_in(row_layouts, layout);
}
constexpr std::string_view name_of(ScaleStorage scales) {
    return name_in(scale_storages, scales);
}
constexpr std::string_view name_of(Subnormals subnormals) {
    return name_in(subnormal_rules, subnormals);
}
std::string_view name_of(OperationKind operation);
std::string_view rounding_name_of(const ElementRules& rules);

}  // namespace mx
