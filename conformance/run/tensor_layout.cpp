// See tensor_layout.hpp. Places come from the fast oracle's formulas; the tests lay out by walking.
#include "conformance/run/tensor_layout.hpp"

#include <algorithm>

#include "conformance/data/gemm_inputs.hpp"
#include "device/host/layout.hpp"
#include "device/host/question.hpp"
#include "reference/fast/pack.hpp"
#include "reference/problem/problem.hpp"

namespace mx {
namespace {

// Padded rows end this many elements before the next begins; odd, so that nothing stays aligned.
constexpr std::int64_t padding = 3;

TensorSpec strided_spec(const Problem& p, const PartShape& shape) {
    TensorSpec spec = dense(shape.type.name, shape.rows, shape.columns);
    if (p.layout == RowLayout::padded) spec.row_stride += padding;
    return spec;
}

// One byte per scale, or per code that is not packed.
constexpr CodeStream whole_bytes{8, PairOrder::even_first};

CodeStream stream_of(std::string_view layout, std::string_view type) {
    for (const Packing& packing : packings)
        if (packing.layout == layout)
            return {find_element_format(type)->code_bits(), packing.pairs};
    return whole_bytes;
}

TensorSpec spec_of(const Problem& p, Part part) {
    const PartShape shape = shape_of(p, part);
    TensorSpec spec = strided_spec(p, shape);
    const ScaleLayout* scales = part == Part::scales ? scale_layout_for(p.scales, p.axis) : nullptr;
    const std::string type(shape.type.name);
    if (scales != nullptr)
        spec = {type, shape.rows, shape.columns, 0, 0, std::string(scales->name)};
    if (part != Part::elements || p.packing == &packing_rows::bytes) return spec;
    spec = {type, shape.rows, shape.columns, 0, 0, std::string(p.packing->layout)};
    if (!is_inline(p)) return spec;
    const CodeStream stream{shape.type.code_bits(), p.packing->pairs};
    const fast::InlineBlock block{stream, static_cast<int>(p.block)};
    spec.column_stride = fast::inline_block_bytes(block);
    spec.row_stride = fast::inline_row_bytes(block, shape.columns);
    return spec;
}

std::vector<Buffer> buffers_of(const Problem& p, std::span<const Part> parts) {
    std::vector<Buffer> buffers;
    const bool shares = is_inline(p);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (shares && parts[i] == Part::scales) continue;
        const std::size_t tensors = shares && parts[i] == Part::elements ? 2 : 1;
        buffers.push_back({spec_of(p, parts[i]), i, tensors});
    }
    return buffers;
}

std::int64_t whole(std::int64_t rows, std::int64_t unit) {
    return (rows + unit - 1) / unit * unit;
}

// Scales of each group of a grouped GEMM begin a tile of their own: for A pytorch/ao,
// torchao/prototype/moe_training/kernels/mxfp8/quant.py, torch_to_blocked_2d_M_groups; for B
// torch_to_blocked_per_group_3d.
void begin_tiles(GemmPart part, const GemmProblem& gemm, Buffer& buffer) {
    const ScaleLayout* layout = find_scale_layout(buffer.spec.layout);
    if (layout == nullptr) return;
    buffer.groups = gemm.groups;
    if (part == GemmPart::scales_b) std::ranges::fill(buffer.groups, gemm.n);
    buffer.spec.rows = 0;
    for (const std::int64_t rows : buffer.groups)
        buffer.spec.rows += whole(rows, layout->outer_multiple);
}

std::vector<Buffer> gemm_buffers(const Problem& p, TensorRole role) {
    std::vector<Buffer> buffers;
    for (const GemmTensor& tensor : tensors_of(p)) {
        if (is_output(tensor.part) != (role == TensorRole::output)) continue;
        buffers.push_back({tensor.spec, buffers.size()});
        if (p.gemm.is_grouped()) begin_tiles(tensor.part, p.gemm, buffers.back());
    }
    return buffers;
}

// Where one code lies: code `index` of the stream that begins at `byte`.
struct StoredCode {
    std::size_t tensor = 0;  // of those the buffer holds
    std::size_t element = 0;
    std::int64_t byte = 0;
    CodeStream stream = whole_bytes;
    std::int64_t index = 0;
};

template <typename Visit>
void for_each_scale(const Buffer& buffer, const ScaleLayout& layout, const Visit& visit) {
    const GridShape shape{buffer.spec.rows, buffer.spec.columns};
    std::size_t element = 0;
    const auto visit_rows = [&](std::int64_t first, std::int64_t count) {
        for (std::int64_t row = first; row < first + count; ++row)
            for (std::int64_t column = 0; column < shape.columns; ++column)
                visit({0, element++, fast::scale_offset(layout, shape, {row, column}), whole_bytes,
                       0});
    };
    if (buffer.groups.empty()) return visit_rows(0, shape.rows);
    std::int64_t first = 0;
    for (const std::int64_t rows : buffer.groups) {
        visit_rows(first, rows);
        first += whole(rows, layout.outer_multiple);
    }
}

template <typename Visit>
void for_each_packed(const TensorSpec& spec, const Visit& visit) {
    const CodeStream stream = stream_of(spec.layout, spec.type);
    const std::int64_t row_bytes = fast::stream_bytes(stream, spec.columns);
    std::size_t element = 0;
    for (std::int64_t row = 0; row < spec.rows; ++row)
        for (std::int64_t column = 0; column < spec.columns; ++column)
            visit({0, element++, row * row_bytes, stream, column});
}

template <typename Visit>
void for_each_inline(const TensorSpec& spec, const Visit& visit) {
    const CodeStream stream = stream_of(spec.layout, spec.type);
    const std::int64_t packed_bytes = spec.column_stride - 1;
    const std::int64_t block_size = packed_bytes * 8 / stream.code_bits;
    std::size_t element = 0, scale = 0;
    for (std::int64_t row = 0; row < spec.rows; ++row)
        for (std::int64_t column = 0; column < spec.columns; ++column) {
            const std::int64_t block =
                row * spec.row_stride + column / block_size * spec.column_stride;
            visit({0, element++, block, stream, column % block_size});
            if (column % block_size == 0) visit({1, scale++, block + packed_bytes, whole_bytes, 0});
        }
}

template <typename Visit>
void for_each_code(const Buffer& buffer, const Visit& visit) {
    const TensorSpec& spec = buffer.spec;
    if (const ScaleLayout* layout = find_scale_layout(spec.layout))
        for_each_scale(buffer, *layout, visit);
    else if (spec.layout == "inline")
        for_each_inline(spec, visit);
    else
        for_each_packed(spec, visit);
}

// The bytes that a code lies in; a second one only where it crosses into it.
struct ByteSpan {
    std::size_t first = 0;
    std::size_t last = 0;
};
ByteSpan bytes_of(const StoredCode& at) {
    const std::int64_t bit = fast::first_bit(at.stream, at.index);
    return {static_cast<std::size_t>(at.byte + bit / 8),
            static_cast<std::size_t>(at.byte + (bit + at.stream.code_bits - 1) / 8)};
}

std::uint8_t flags_of(const StoredCode& at, std::span<const std::uint8_t> flags) {
    const ByteSpan bytes = bytes_of(at);
    const int both = flags[bytes.first] | flags[bytes.last];
    // Unwritten says more than differing, and an element has at most one of them.
    return static_cast<std::uint8_t>((both & flag_unwritten) != 0 ? flag_unwritten : both);
}

}  // namespace

std::vector<Buffer> input_buffers(const Problem& p) {
    if (is_gemm(p)) return gemm_buffers(p, TensorRole::input);
    return buffers_of(p, inputs_of(p));
}
std::vector<Buffer> output_buffers(const Problem& p) {
    if (is_gemm(p)) return gemm_buffers(p, TensorRole::output);
    std::vector<Buffer> buffers;
    std::size_t tensors = 0;
    for (const BlockAxis axis : axes_of(p)) {
        const Problem side = along(p, axis);
        const std::vector<Part> parts = outputs_of(side);
        for (Buffer& buffer : buffers_of(side, parts)) {
            buffer.tensor += tensors;
            buffers.push_back(std::move(buffer));
        }
        tensors += parts.size();
    }
    return buffers;
}

std::vector<std::byte> lay_out(const Buffer& buffer, std::span<const CodeTensor> tensors,
                               std::byte pad) {
    std::vector<std::byte> bytes(byte_extent(buffer.spec).value(), pad);
    std::uint8_t* const base = reinterpret_cast<std::uint8_t*>(bytes.data());
    for_each_code(buffer, [&](const StoredCode& at) {
        const Code code{tensors[buffer.tensor + at.tensor].at(at.element)};
        fast::write_code(at.stream, base + at.byte, at.index, code);
    });
    return bytes;
}

void collect(const Buffer& buffer, const BufferBytes& from, const BufferTensors& to) {
    const std::uint8_t* const base = reinterpret_cast<const std::uint8_t*>(from.bytes.data());
    for_each_code(buffer, [&](const StoredCode& at) {
        const std::size_t tensor = buffer.tensor + at.tensor;
        to.tensors[tensor].set(at.element,
                               fast::read_code(at.stream, base + at.byte, at.index).bits);
        if (!from.flags.empty()) to.flags[tensor][at.element] = flags_of(at, from.flags);
    });
}

bool pads_are_zero(const TensorSpec& spec) {
    const ScaleLayout* layout = find_scale_layout(spec.layout);
    return layout == nullptr || layout->pads == Pads::zero;
}

}  // namespace mx
