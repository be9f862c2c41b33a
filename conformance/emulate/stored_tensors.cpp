// See stored_tensors.hpp.
#include "conformance/emulate/stored_tensors.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "conformance/case/fields.hpp"
#include "conformance/data/tensor_number.hpp"
#include "conformance/run/tensor_layout.hpp"
#include "device/host/layout.hpp"
#include "reference/base/hex.hpp"
#include "reference/fast/pack.hpp"
#include "reference/fast/quantize.hpp"
#include "reference/problem/problem.hpp"

namespace mx::emulate {
namespace {

// Are the bits of each row what the file's own type for such elements says? Its codes lie end to
// end over the whole tensor, so a row must end with a whole byte.
bool has_native_packing(const Packing& packing, const ElementFormat& element,
                        std::int64_t columns) {
    if (packing.code_bits == 0) return element.code_bits() == 8;
    return packing.pairs == PairOrder::even_first && columns % 8 * element.code_bits() % 8 == 0;
}

StoredTensor stored_elements(const Problem& p, const BlockLayout& layout) {
    const ElementFormat& element = element_format_of(p);
    const CodeStream stream{element.code_bits(), p.packing->pairs};
    StoredTensor stored{"elements", "u8", layout.shape};
    if (is_inline(p)) {
        const fast::InlineBlock block{stream, static_cast<int>(p.block)};
        stored.shape.back() = fast::inline_row_bytes(block, layout.columns);
    } else if (has_native_packing(*p.packing, element, layout.columns)) {
        stored.type = data::tensor_type_of(element);
    } else if (p.packing->code_bits != 0) {
        stored.shape.back() = fast::stream_bytes(stream, layout.columns);
    }
    return stored;
}

StoredTensor stored_scales(const Problem& p, const BlockLayout& layout) {
    StoredTensor stored{"scales", std::string(data::tensor_type_of(p.format->scale())),
                        layout.scale_shape};
    const ScaleLayout* order = scale_layout_for(p.scales, p.axis);
    if (order == nullptr) return stored;
    const GridShape padded = fast::padded_shape(*order, {layout.block_rows, layout.block_columns});
    // Rows of all slices make one grid; else each slice has its own.
    if (p.axis == BlockAxis::row)
        stored.shape.clear();
    else
        stored.shape.resize(stored.shape.size() - 2);
    stored.shape.push_back(padded.rows);
    stored.shape.push_back(padded.columns);
    return stored;
}

// Takes the bytes of a stored tensor out of the file.
Expected<std::vector<std::byte>> take_bytes(data::TensorFile& file, const StoredTensor& wanted) {
    for (data::HostTensor& tensor : file.tensors) {
        if (tensor.name != wanted.name) continue;
        if (tensor.type == wanted.type && tensor.shape == wanted.shape)
            return std::move(tensor.bytes);
        return bad_input("its metadata need tensor '" + wanted.name + "' to be " + wanted.type +
                         " of shape " + data::shape_text(wanted.shape) + ", but it is " +
                         tensor.type + " of shape " + data::shape_text(tensor.shape));
    }
    return bad_input("has no tensor '" + wanted.name + "', which its metadata need");
}

Status check_belonging(const data::TensorFile& file, const std::vector<StoredTensor>& wanted) {
    for (const data::HostTensor& tensor : file.tensors)
        if (std::ranges::none_of(wanted, [&](const auto& one) { return one.name == tensor.name; }))
            return bad_input("has a tensor " + data::in_quotes(tensor.name) +
                             ", which its metadata say nothing of");
    return success();
}

// Only a byte of its own can hold more than a code.
Status check_codes(const std::vector<std::byte>& elements, const ElementFormat& format) {
    if (format.code_bits() == 8) return success();
    const auto limit = static_cast<std::byte>(1 << format.code_bits());
    const auto wrong = std::ranges::find_if(elements, [&](std::byte b) { return b >= limit; });
    if (wrong == elements.end()) return success();
    return bad_input("element " + std::to_string(wrong - elements.begin()) + " is byte " +
                     std::to_string(std::to_integer<int>(*wrong)) + ", which is no code of " +
                     std::to_string(format.code_bits()) + " bits");
}

// The number of a tensor is an amax or a scale made of one. A block's scale of binary32 may have a
// sign, though no dialect makes one.
Status check_tensor_number(const std::vector<std::byte>& number) {
    Code code;
    for (std::size_t byte = 0; byte < number.size(); ++byte)
        code.bits |= std::to_integer<std::uint32_t>(number[byte]) << (8 * byte);
    const bool is_below_zero = formats::f32.is_negative(code) && !formats::f32.is_zero(code);
    if (!is_below_zero || formats::f32.is_nan(code)) return success();
    return bad_input(
        "the number in tensor 'tensor_scale' is negative, which no amax is, and no scale");
}

// Of delayed scaling the tensor is one block, and its scale follows from the number beside it.
Status check_scale_of_history(const Codes& codes, const Problem& p) {
    if (p.dialect->scale_ratio != ScaleRatio::tensor) return success();
    const auto code_in = [](const std::vector<std::byte>& bytes) {
        std::uint32_t code = 0;
        std::memcpy(&code, bytes.data(), sizeof code);
        return code;
    };
    const std::uint32_t number = code_in(codes.tensor_number), scale = code_in(codes.scales);
    const fast::BlockQuestion question{*p.dialect, *p.format, p.type, numbers_of(p, number)};
    const Code expected = fast::block_scale(question, {}).stored;
    if (expected.bits == scale || (formats::f32.is_nan(expected) && formats::f32.is_nan({scale})))
        return success();
    return bad_input("its scale is 0x" + hex(scale, 8) +
                     ", but the number in tensor 'tensor_scale', 0x" + hex(number, 8) +
                     ", says that it is 0x" + hex(expected.bits, 8));
}

// The scales of NVFP4 have no sign, though the type in the file has one.
Status check_signs(const std::vector<std::byte>& scales, const Problem& p) {
    if (!(scale_format_of(p) == ue4m3)) return success();
    const auto wrong =
        std::ranges::find_if(scales, [](std::byte b) { return b >= std::byte{0x80}; });
    if (wrong == scales.end()) return success();
    return bad_input("scale " + std::to_string(wrong - scales.begin()) + " is byte " +
                     std::to_string(std::to_integer<int>(*wrong)) +
                     ", and a UE4M3 scale has no sign");
}

// The codes of one slice out of the bytes of its buffer.
void collect_slice(const Problem& p, const Buffer& buffer, std::vector<std::byte> bytes,
                   Codes& codes) {
    const std::array parts{&codes.elements, &codes.scales, &codes.tensor_number};
    if (is_strided(buffer.spec)) {
        append(*parts[buffer.tensor], std::move(bytes));
        return;
    }
    std::vector<CodeTensor> tensors;
    for (const Part part : inputs_of(p)) tensors.push_back(make_tensor(shape_of(p, part)));
    collect(buffer, {bytes, {}}, {tensors, {}});
    for (std::size_t i = 0; i < buffer.tensors; ++i)
        append(*parts[buffer.tensor + i], std::move(tensors[buffer.tensor + i].bytes));
}

}  // namespace

std::vector<StoredTensor> stored_tensors(const BlockNames& names, const BlockLayout& layout) {
    const Problem p = problem_of_slice(names, layout, OperationKind::quantize);
    std::vector<StoredTensor> stored{stored_elements(p, layout)};
    if (!is_inline(p)) stored.push_back(stored_scales(p, layout));
    if (has_tensor_number(p)) stored.push_back({"tensor_scale", "f32", {1, 1}});
    return stored;
}

Expected<Problem> problem_of(const BlockNames& names, OperationKind operation) {
    CaseWords words;
    words.operation = name_of(operation);
    words.format = names.format;
    words.dialect = names.dialect;
    // A format whose blocks are squares, or the tensor, has them along no axis.
    const BlockFormat* format = find_block_format(names.format);
    const bool has_real_scales = format != nullptr && !format->has_e8m0_scales();
    const bool is_square = has_real_scales && format->block_rows != 1;
    words.axis = is_square ? "" : names.axis;
    words.block = has_real_scales ? 0 : std::stoll(names.block);
    words.scales = names.scales;
    words.packing = names.packing;
    auto c = case_of(words);
    if (!c) return c.error();
    return static_cast<Problem>(c.value());
}

BlockShape block_shape(const BlockNames& names) {
    const Problem p = problem_of(names, OperationKind::quantize).value();
    return {p.axis, p.block};
}

Problem problem_of_slice(const BlockNames& names, const BlockLayout& layout,
                         OperationKind operation) {
    Problem p = problem_of(names, operation).value();
    p.rows = layout.rows;
    p.columns = layout.columns;
    return p;
}

CodeTensor take_slice(std::vector<std::byte>& bytes, const PartShape& shape, Slice slice) {
    CodeTensor taken;
    taken.type = shape.type.name;
    taken.width = shape.type.code_bytes();
    taken.rows = shape.rows;
    taken.columns = shape.columns;
    const std::size_t size = taken.count() * static_cast<std::size_t>(taken.width);
    MX_ASSERT_COMPARE(bytes.size(), ==, size * static_cast<std::size_t>(slice.count));
    if (slice.count == 1) {
        taken.bytes = std::move(bytes);
        return taken;
    }
    const auto first = bytes.begin() + slice.index * static_cast<std::ptrdiff_t>(size);
    taken.bytes.assign(first, first + static_cast<std::ptrdiff_t>(size));
    return taken;
}

void append(std::vector<std::byte>& bytes, std::vector<std::byte> more) {
    if (bytes.empty()) {
        bytes = std::move(more);
        return;
    }
    const std::size_t before = bytes.size();
    bytes.resize(before + more.size());
    std::ranges::copy(more, bytes.begin() + static_cast<std::ptrdiff_t>(before));
}

std::vector<data::HostTensor> store(Codes codes, const BlockNames& names,
                                    const BlockLayout& layout) {
    std::vector<data::HostTensor> result;
    for (const StoredTensor& stored : stored_tensors(names, layout))
        result.push_back({stored.name, stored.type, stored.shape, {}});
    const Problem p = problem_of_slice(names, layout, OperationKind::quantize);
    if (has_tensor_number(p)) result.back().bytes = std::move(codes.tensor_number);
    if (layout.blocks() == 0) return result;
    std::vector<Buffer> buffers = output_buffers(p);
    if (has_tensor_number(p)) buffers.pop_back();  // one for all slices
    for (std::int64_t index = 0; index < layout.slices; ++index) {
        std::vector<CodeTensor> tensors;
        const Slice slice{index, layout.slices};
        tensors.push_back(take_slice(codes.elements, shape_of(p, Part::elements), slice));
        tensors.push_back(take_slice(codes.scales, shape_of(p, Part::scales), slice));
        for (const Buffer& buffer : buffers)
            append(result[buffer.tensor].bytes, is_strided(buffer.spec)
                                                    ? std::move(tensors[buffer.tensor].bytes)
                                                    : lay_out(buffer, tensors, std::byte{0}));
    }
    return result;
}

Expected<Codes> load(data::TensorFile& file, const BlockNames& names, const BlockLayout& layout) {
    const std::vector<StoredTensor> wanted = stored_tensors(names, layout);
    if (const Status belong = check_belonging(file, wanted); !belong) return belong.error();
    std::vector<std::vector<std::byte>> stored;
    for (const StoredTensor& tensor : wanted) {
        auto bytes = take_bytes(file, tensor);
        if (!bytes) return bytes.error();
        stored.push_back(std::move(bytes).value());
    }
    Codes codes;
    const Problem p = problem_of_slice(names, layout, OperationKind::dequantize);
    std::vector<Buffer> buffers = input_buffers(p);
    if (has_tensor_number(p)) {
        codes.tensor_number = std::move(stored.back());
        buffers.pop_back();
    }
    if (layout.blocks() == 0) return codes;
    for (std::int64_t index = 0; index < layout.slices; ++index)
        for (const Buffer& buffer : buffers) {
            std::vector<std::byte>& bytes = stored[buffer.tensor];
            const auto size = static_cast<std::int64_t>(bytes.size()) / layout.slices;
            CodeTensor part = take_slice(bytes, {formats::e8m0, 1, size}, {index, layout.slices});
            collect_slice(p, buffer, std::move(part.bytes), codes);
        }
    const Status sound = check_codes(codes.elements, element_format_of(p));
    if (!sound) return sound.error();
    if (const Status fit = check_signs(codes.scales, p); !fit) return fit.error();
    const Status number = check_tensor_number(codes.tensor_number);
    if (!number) return number.error();
    const Status agree = check_scale_of_history(codes, p);
    if (!agree) return agree.error();
    return codes;
}

}  // namespace mx::emulate
