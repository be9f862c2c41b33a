// What may have gone wrong in a problem that does not come out right: each decision of its entry in
// the quantizer table taken otherwise, every other entry, and transformations of data that any
// kernel can get wrong. Made from the problem alone: nothing here knows of a device or its answer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/cause/alteration.hpp"

namespace mx::cause {

// The likeliest first. Not for a GEMM, which has a table of its own in run/gemm_wrong.hpp.
std::vector<Alteration> hypotheses_for(const Problem& p);

// "dialect:nv->ocp" opens with this: the bits of another table entry.
inline constexpr std::string_view dialect_kind = "dialect:";

// Of "scale_rounding:toward_zero->toward_positive": a decision of the table taken otherwise.
struct Decision {
    std::string field, from, to;
};
std::optional<Decision> read_decision(const std::string& kind);

// The device gives the answer to the question before. Of another shape it says nothing.
Alteration answer_of_before(const Tensors& before);

// One more, of which no step is altered yet.
inline Alteration& add_hypothesis(std::vector<Alteration>& hypotheses, std::string kind,
                                  std::string text) {
    Alteration& alteration = hypotheses.emplace_back();
    alteration.kind = std::move(kind);
    alteration.text = std::move(text);
    return alteration;
}

// Each axis with the outputs that are made along it.
template <typename Visit>
void for_each_side(const Problem& p, Tensors& outputs, Visit visit) {
    const std::span<const BlockAxis> axes = axes_of(p);
    const std::size_t parts = outputs.size() / axes.size();
    for (std::size_t side = 0; side < axes.size(); ++side)
        visit(along(p, axes[side]), std::span(outputs).subspan(side * parts, parts));
}

// The block `step` further along its axis; nothing beyond the edge.
std::optional<std::int64_t> beside(const Problem& p, std::int64_t block, std::int64_t step);
// The elements of another block of the tensor in which `seen` is.
std::vector<std::uint32_t> lanes_of_block(const BlockSeen& seen, std::int64_t block);
// A zero of its sign, where the value is below 2^-126, the least normal one of binary32.
Code flushed_as_f32(const ElementFormat& type, Code code);
// What a kernel reads at a place of a tensor whose rows are so many elements apart: a value, or
// what lies in the gap between two rows.
std::uint32_t value_or_gap(const Problem& p, const CodeTensor& values, std::int64_t row_stride,
                           std::int64_t place);

// The parts of hypotheses_for.
void add_decisions(const Problem& p, std::vector<Alteration>& hypotheses);
void add_block_transformations(const Problem& p, std::vector<Alteration>& hypotheses);
void add_tensor_transformations(const Problem& p, std::vector<Alteration>& hypotheses);
void add_kernel_steps(const Problem& p, std::vector<Alteration>& hypotheses);
void add_output_places(const Problem& p, std::vector<Alteration>& hypotheses);
void add_real_scale_steps(const Problem& p, std::vector<Alteration>& hypotheses);
void add_random_bits(const Problem& p, std::vector<Alteration>& hypotheses);
void add_values_read_otherwise(const Problem& p, std::vector<Alteration>& hypotheses);
void add_dialects(const Problem& p, std::vector<Alteration>& hypotheses);

}  // namespace mx::cause
