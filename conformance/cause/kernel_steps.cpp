// The hypotheses of what vectors, threads and fast arithmetic get wrong: vectors that are loaded or
// stored askew, elements made before the amax is whole, shared memory that is used again, subnormal
// numbers that are flushed. See hypotheses.hpp.
#include <algorithm>
#include <array>

#include "conformance/cause/hypotheses.hpp"
#include "conformance/run/tensor_layout.hpp"
#include "device/host/layout.hpp"
#include "reference/fast/round.hpp"

namespace mx::cause {
namespace {

using fast::Unpacked;
using Hypotheses = std::vector<Alteration>;

std::int64_t block_in_line(const Problem& p, std::int64_t block) {
    const std::int64_t columns = block_grid(p).block_columns;
    return p.axis == BlockAxis::col ? block / columns : block % columns;
}

// Some elements as another answer has them, which differs from the right one in one thing alone;
// the scales stay.
template <typename IsTaken>
void take_elements(const Alteration& other, const Problem& asked, const Tensors& inputs,
                   Tensors& outputs, IsTaken is_taken) {
    const std::array alterations{&other};
    const Tensors right = answer_with({}, asked, inputs);
    const Tensors answer = answer_with(alterations, asked, inputs);
    for_each_side(asked, outputs, [&](const Problem& p, std::span<CodeTensor> side) {
        const auto elements = static_cast<std::size_t>(side.data() - outputs.data());
        const CodeTensor &before = right[elements], &taken = answer[elements];
        const Blocking blocking = blocking_of(p);
        for (std::int64_t block = 0; block < block_grid(blocking).count(); ++block) {
            const BlockPlace place = place_of(blocking, block);
            for (int lane = 0; lane < place.count; ++lane) {
                const std::size_t at = place.element(lane);
                // Beside another cause the others keep what that makes of them.
                if (is_taken(p, block, lane) && taken.at(at) != before.at(at))
                    side[0].set(at, taken.at(at));
            }
        }
    });
}

// The scale of the block `step` further along the line, where there is one.
void take_scales(std::int64_t first, std::int64_t step, const Problem& p,
                 std::vector<fast::BlockScale>& scales) {
    const std::vector<fast::BlockScale> right = scales;
    for (std::size_t i = 0; i < scales.size(); ++i) {
        const auto block = static_cast<std::int64_t>(i);
        const auto from = beside(p, block, step);
        if (block_in_line(p, block) >= first && from)
            scales[i] = right[static_cast<std::size_t>(*from)];
    }
}

// A row that ends within a vector writes its last whole vector again, with the scale at hand.
void add_last_vectors(Hypotheses& hypotheses) {
    for (const std::int64_t vector : {4, 8, 16}) {
        const std::string size = std::to_string(vector);
        add_hypothesis(hypotheses, "last_vector:" + size,
                       "the last " + size + " elements of a row that is no whole number of " +
                           size + " take the scale of its last block")
            .outputs = [vector](const Problem& asked, const Tensors& inputs, Tensors& outputs) {
            if (asked.axis != BlockAxis::row || asked.columns % vector == 0) return;
            Alteration of_next;
            of_next.scales = [](const Problem& p, std::vector<fast::BlockScale>& scales) {
                take_scales(0, 1, p, scales);
            };
            take_elements(of_next, asked, inputs, outputs,
                          [vector](const Problem& p, std::int64_t block, int lane) {
                              const std::int64_t column =
                                  block_in_line(p, block) * lanes_of(p) + lane;
                              return column >= p.columns - vector;
                          });
        };
    }
}

// The thread of a block's first elements is the last to look at them: a barrier is missing.
void add_early_elements(Hypotheses& hypotheses) {
    for (const int first : {1, 2, 4, 8, 16}) {
        const std::string count = std::to_string(first);
        add_hypothesis(hypotheses, "early_elements:" + count,
                       first == 1 ? "elements behind the first of a block are made before its amax "
                                    "has seen it; its scale is stored after"
                                  : "elements behind the first " + count +
                                        " of a block are made before its amax has seen these; its "
                                        "scale is stored after")
            .outputs = [first](const Problem& asked, const Tensors& inputs, Tensors& outputs) {
            Alteration unseen;
            unseen.amax_lanes = [first](const BlockSeen&, std::vector<std::uint32_t>& lanes) {
                const auto count = std::min(lanes.size(), static_cast<std::size_t>(first));
                std::fill_n(lanes.begin(), count, 0u);
            };
            take_elements(
                unseen, asked, inputs, outputs,
                [first](const Problem&, std::int64_t, int lane) { return lane >= first; });
        };
    }
}

std::int64_t blocks_of_line(const Problem& p) {
    std::int64_t most = 0;
    for (const BlockAxis axis : axes_of(p)) {
        const BlockGrid grid = block_grid(along(p, axis));
        most = std::max(most, axis == BlockAxis::col ? grid.block_rows : grid.block_columns);
    }
    return most;
}

// Tiles of a line take one or two places in shared memory by turns.
void add_shared_places(const Problem& p, Hypotheses& hypotheses) {
    const std::int64_t all = blocks_of_line(p);
    for (const std::int64_t tile : {4, 8, 16, 32, 64}) {
        const std::string blocks = std::to_string(tile);
        for (const std::int64_t places : {1, 2}) {
            if (tile * places >= all) continue;
            add_hypothesis(
                hypotheses, "scale_of:tile_before:" + blocks + "x" + std::to_string(places),
                "from block " + std::to_string(tile * places) +
                    " of a line on, a block takes the scale of the block " + blocks + " before it")
                .scales = [=](const Problem& p, std::vector<fast::BlockScale>& scales) {
                take_scales(tile * places, -tile, p, scales);
            };
        }
    }
    constexpr std::int64_t kept_max = 512;  // blocks whose amaxes one begins with
    for (const std::int64_t step : {1, 2, 4, 8, 16, 32, 64, 128}) {
        if (step >= all || all / step > kept_max) continue;
        const std::string blocks = std::to_string(step);
        add_hypothesis(hypotheses, "amax_keeps:" + blocks,
                       step == 1 ? "an amax begins with that of the block before"
                                 : "an amax begins with that of the block " + blocks + " before it")
            .amax_lanes = [step](const BlockSeen& seen, std::vector<std::uint32_t>& lanes) {
            for (auto block = beside(seen.p, seen.block, -step); block;
                 block = beside(seen.p, *block, -step)) {
                const std::vector<std::uint32_t> before = lanes_of_block(seen, *block);
                lanes.insert(lanes.end(), before.begin(), before.end());
            }
        };
    }
}

// Values from an address that is rounded down to a whole vector, pads of the row before included.
void read_from_rounded_address(const Problem& p, std::int64_t vector_bytes, Tensors& inputs) {
    for (const Buffer& buffer : input_buffers(p)) {
        const TensorSpec& spec = buffer.spec;
        CodeTensor& values = inputs[0];
        if (buffer.tensor != 0 || !is_strided(spec) || spec.column_stride != 1) continue;
        const std::int64_t vector = vector_bytes / values.width;
        const CodeTensor right = values;
        for (std::size_t i = 0; i < right.count(); ++i) {
            const std::int64_t row = static_cast<std::int64_t>(i) / right.columns;
            const std::int64_t first = row * spec.row_stride;
            const std::int64_t at =
                first + static_cast<std::int64_t>(i) % right.columns - first % vector;
            values.set(i, value_or_gap(p, right, spec.row_stride, at));
        }
    }
}

void add_rounded_addresses(Hypotheses& hypotheses) {
    for (const std::int64_t bytes : {8, 16, 32}) {
        const std::string size = std::to_string(bytes);
        add_hypothesis(hypotheses, "vector_address:" + size,
                       "values are read from addresses rounded down to " + size + " bytes")
            .inputs = [bytes](const Problem& asked, Tensors& inputs) {
            read_from_rounded_address(asked, bytes, inputs);
        };
    }
}

// What is left of values that are multiplied by 0 where their scale is the largest one.
void clear_under_largest_scale(const Problem& p, const CodeTensor& values,
                               std::span<CodeTensor> side) {
    const std::uint32_t largest = formats::e8m0.code_max_finite();
    const Blocking blocking = blocking_of(p);
    for (std::int64_t block = 0; block < block_grid(blocking).count(); ++block) {
        if (side[1].at(static_cast<std::size_t>(block)) != largest) continue;
        const BlockPlace place = place_of(blocking, block);
        for (int lane = 0; lane < place.count; ++lane) {
            const std::size_t at = place.element(lane);
            Unpacked product = fast::unpack(p.type, Code{values.at(at)});
            if (product.kind == fast::Kind::nan) continue;
            if (product.kind == fast::Kind::infinity) product.kind = fast::Kind::nan;
            product.significand = 0;
            side[0].set(at,
                        fast::round_element(*p.dialect, element_format_of(p), product, {}).bits);
        }
    }
}

void clear_under_largest_scales(const Problem& asked, const Tensors& inputs, Tensors& outputs) {
    if (!asked.dialect->has_e8m0_scales()) return;
    for_each_side(asked, outputs, [&](const Problem& p, std::span<CodeTensor> side) {
        clear_under_largest_scale(p, inputs[0], side);
    });
}

void add_flushed_arithmetic(Hypotheses& hypotheses) {
    add_hypothesis(hypotheses, "reciprocal:254_as_zero",
                   "what is divided by the largest scale, 2^127, becomes zero")
        .outputs = clear_under_largest_scales;
    // Those that are read, a product that becomes an E8M0 scale, the reciprocal of the largest one.
    Alteration& flushed =
        add_hypothesis(hypotheses, "flushed_arithmetic",
                       "the arithmetic of binary32 flushes subnormal numbers to zero");
    flushed.rules = [](Problem&, Quantizer& rules) {
        if (rules.has_e8m0_scales() && rules.scale_ratio == ScaleRatio::times_reciprocal)
            rules.scale_ratio = ScaleRatio::times_reciprocal_flushed;
    };
    flushed.inputs = [](const Problem& p, Tensors& inputs) {
        for (std::size_t at = 0; at < inputs[0].count(); ++at)
            inputs[0].set(at, flushed_as_f32(p.type, Code{inputs[0].at(at)}).bits);
    };
    flushed.outputs = clear_under_largest_scales;
}

}  // namespace

void add_kernel_steps(const Problem& p, Hypotheses& hypotheses) {
    if (p.operation != OperationKind::quantize) return;
    add_last_vectors(hypotheses);
    add_early_elements(hypotheses);
    add_shared_places(p, hypotheses);
    add_rounded_addresses(hypotheses);
    add_flushed_arithmetic(hypotheses);
}

}  // namespace mx::cause
