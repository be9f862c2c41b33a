// The table of operations: what each takes and gives, and how stochastic rounding gets its bits.
// Used wherever a case becomes tensors. Knows names and shapes, no bits.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/case/case.hpp"

namespace mx {

enum class OperationKind { convert, encode_scale, quantize, dequantize, gemm };

// What a tensor of an operation holds.
enum class Part {
    values,        // numbers of the case's type
    elements,      // codes of the element format
    scales,        // one E8M0 byte for each block
    value_scales,  // one E8M0 byte for each value
    random_bits,   // u32 words, where the rounding is stochastic
};

struct OperationRow {
    OperationKind kind;
    std::string_view name;
    std::string_view type_key;  // how a case spells the type of its values
    std::vector<Part> inputs;   // of a GEMM its tensors are a list of its own, gemm_tensors.hpp
    std::vector<Part> outputs;
};
std::span<const OperationRow> operations();

// Only for a case whose operation is known.
const OperationRow& operation_of(const Case& c);

// Does the case choose how an element is rounded? Elsewhere the dialect decides.
bool has_element_rules(const Case& c);

// The quantizations that a case asks for in one call: of axis both that of row and that of col,
// whose outputs follow each other; otherwise the case itself.
std::vector<Case> sides_of(const Case& c);

// The tensors of a case, in the order of the device ABI. Only for validated cases.
std::vector<Part> inputs_of(const Case& c);
std::vector<Part> outputs_of(const Case& c);

struct PartShape {
    std::string type;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
};
// Of scales only for a case that has one grid of them: not for axis both.
PartShape shape_of(const Case& c, Part part);

// The spellings of stochastic rounding: how many of a word's bits decide one value, and how many
// values of a row share a word.
//
// stochastic-x4 is PTX cvt.rs to .e4m3x4, .e5m2x4, .e2m3x4 or .e3m2x4. Its operands a, b, e, f go
// to the bytes of the result from the highest down, so a value's place among the four in memory is
// f, e, b, a. The low half of the word serves f and e, the high half b and a.
struct StochasticForm {
    std::string_view name;
    int bits;
    int values_per_word;
};
inline constexpr std::array stochastic_forms{
    StochasticForm{"stochastic8", 8, 1},
    StochasticForm{"stochastic16", 16, 1},
    StochasticForm{"stochastic32", 32, 1},
    StochasticForm{"stochastic-x4", 16, 4},
};

// nullptr when the case's rounding takes no random bits.
const StochasticForm* stochastic_form_of(const Case& c);

}  // namespace mx
