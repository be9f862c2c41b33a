// What both oracles make of each output of a GEMM case: the exact sum rounded once, or the bits of
// a model's row. Used by expected and by the judge of GEMMs; compares nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/data/gemm_inputs.hpp"
#include "reference/exact/dot.hpp"
#include "reference/fast/dot.hpp"
#include "reference/spec/gemm_model.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx {

// What the blocks of D are, and who makes them.
struct OutputBlocks {
    const Quantizer* quantizer = nullptr;
    const BlockFormat* format = nullptr;
    std::int64_t size = 0;  // elements along a row that share a scale
    ElementFormat scale;
    std::string name, source;  // of the quantizer
};

// How the expected bits of a case come about.
struct GemmRules {
    GemmSetting setting;
    GemmEpilogue epilogue;
    const GemmModel* model = nullptr;  // nullptr: the exact sum
    bool is_bounded = false;           // a bound is wanted, and not these bits
    std::int64_t part = 0;             // of K, where it is split; models only
    int fraction_bits = 0;             // that every accumulator keeps, as fraction_bits_kept says
    // Where D lies in blocks. The results below are then those that blocks are made of, and
    // gemm_blocks.hpp says what becomes of them.
    std::optional<OutputBlocks> blocks;
    ElementFormat element;  // of D
};
GemmRules gemm_rules_of(const Case& c);

// What one output is made of: views into the inputs. Rows come with all their scales; those of
// whole rows and tensors stand in `operands` as well, where models want them.
struct GemmOutput {
    ScaledRow a, b;
    std::int64_t depth = 0;
    EpilogueOperands operands;
};

struct OutputPlace {
    std::int64_t row = 0;  // of D, with all batches
    std::int64_t column = 0;
};

OutputPlace place_of(const CodeTensor& d, std::size_t element);

class GemmOperands {
public:
    // Keeps references to both.
    GemmOperands(const GemmRules& rules, const std::vector<CodeTensor>& inputs);

    GemmOutput output(const OutputPlace& place) const;
    EpilogueOperands epilogue_operands(const OutputPlace& place) const;

    // The rows of a batch, as each output has one of both.
    struct Rows {
        std::vector<ScaledRow> a, b;
    };
    Rows rows_of_batch(std::int64_t batch) const;

private:
    struct Factor {
        ElementFormat element, scale;
        const CodeTensor* codes = nullptr;
        const CodeTensor* scales = nullptr;
        std::string scaling;
        ScaledRow row(std::int64_t index) const;
        Code whole_scale(std::int64_t index) const;
    };
    std::int64_t b_row_of(const OutputPlace& place) const;

    const GemmRules& rules_;
    Factor a_, b_;
    const CodeTensor* c_ = nullptr;
    const CodeTensor* bias_ = nullptr;
    const CodeTensor* scale_out_ = nullptr;
};

// By the fast oracle: the exact result, and that rounded once to D's type.
fast::Total exact_total(const GemmRules& rules, const GemmOutput& output);
Code exact_result(const GemmRules& rules, const GemmOutput& output);
// The exact results of all of D at once, each once, in no promised order.
using TakeExact = std::function<void(const OutputPlace& place, const fast::Total& result)>;
void for_each_exact(const GemmRules& rules, const GemmOperands& operands, const TakeExact& take);
// The same rounded to the type that the epilogue gives, in the order of D.
std::vector<Code> exact_results(const GemmRules& rules, const GemmOperands& operands);
// By the fast oracle, as the rules say: that, or what the model gives.
Code expected_result(const GemmRules& rules, const GemmOutput& output);

// By the exact oracle: the result before it is rounded to D's type, and the code that
// expected_result must give.
exact::Value exact_value(const GemmRules& rules, const GemmOutput& output);
Code confirmed_result(const GemmRules& rules, const GemmOutput& output);

}  // namespace mx
