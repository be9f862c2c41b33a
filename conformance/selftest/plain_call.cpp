// See plain_call.hpp.
#include "conformance/selftest/plain_call.hpp"

#include <algorithm>
#include <string_view>

#include "reference/exact/layout.hpp"

namespace mx::selftest {
namespace {

using Bytes = std::vector<std::uint8_t>;

const Packing* packing_of(const mx_tensor& tensor) {
    for (const Packing& packing : packings)
        if (packing.layout == tensor.layout && packing.layout != "strided") return &packing;
    return nullptr;
}

bool is_inline(const mx_tensor& tensor) {
    return tensor.layout == std::string_view("inline");
}

CodeStream stream_of(const mx_tensor& tensor) {
    return {find_element_format(tensor.type)->code_bits(), packing_of(tensor)->pairs};
}

std::uint8_t* at(const mx_tensor& tensor, std::size_t byte) {
    return static_cast<std::uint8_t*>(tensor.data) + byte;
}

std::vector<Code> codes_of(const Bytes& bytes, std::int64_t first, std::int64_t count) {
    std::vector<Code> codes;
    for (std::int64_t i = first; i < first + count; ++i)
        codes.push_back(Code{bytes[static_cast<std::size_t>(i)]});
    return codes;
}

void put_codes(const std::vector<Code>& codes, Bytes& bytes, std::int64_t first) {
    for (std::size_t i = 0; i < codes.size(); ++i)
        bytes[static_cast<std::size_t>(first) + i] = static_cast<std::uint8_t>(codes[i].bits);
}

// Calls visit(byte of the buffer, place among the codes, or -1 for a pad).
template <typename Visit>
void for_each_scale_byte(const mx_tensor& tensor, const Visit& visit) {
    const auto walked =
        exact::walk(*find_scale_layout(tensor.layout), {tensor.rows, tensor.columns});
    for (std::size_t byte = 0; byte < walked.size(); ++byte)
        visit(byte, walked[byte] ? walked[byte]->row * tensor.columns + walked[byte]->column
                                 : std::int64_t{-1});
}

void load_packed(const mx_tensor& tensor, Bytes& codes) {
    const std::size_t columns = static_cast<std::size_t>(tensor.columns);
    const std::size_t row_bytes = exact::pack(stream_of(tensor), std::vector<Code>(columns)).size();
    for (std::int64_t row = 0; row < tensor.rows; ++row) {
        const std::uint8_t* first = at(tensor, static_cast<std::size_t>(row) * row_bytes);
        put_codes(exact::unpack(stream_of(tensor), Bytes(first, first + row_bytes), columns), codes,
                  row * tensor.columns);
    }
}

void store_packed(const mx_tensor& tensor, const Bytes& codes) {
    std::size_t byte = 0;
    for (std::int64_t row = 0; row < tensor.rows; ++row) {
        const Bytes packed =
            exact::pack(stream_of(tensor), codes_of(codes, row * tensor.columns, tensor.columns));
        std::copy(packed.begin(), packed.end(), at(tensor, byte));
        byte += packed.size();
    }
}

// Blocks of a row with inline scales: as many as its bytes hold.
struct InlineShape {
    std::int64_t blocks;
    std::int64_t packed_bytes;
    std::int64_t block_size;
    explicit InlineShape(const mx_tensor& tensor)
        : blocks(tensor.column_stride == 0 ? 0 : tensor.row_stride / tensor.column_stride),
          packed_bytes(tensor.column_stride - 1),
          block_size(packed_bytes * 8 / stream_of(tensor).code_bits) {}
};

void load_inline(const mx_tensor& tensor, Bytes& codes, Bytes& scales) {
    const InlineShape shape(tensor);
    for (std::int64_t row = 0; row < tensor.rows; ++row)
        for (std::int64_t block = 0; block < shape.blocks; ++block) {
            const std::uint8_t* first = at(
                tensor,
                static_cast<std::size_t>(row * tensor.row_stride + block * tensor.column_stride));
            const std::int64_t lane = block * shape.block_size;
            const auto count = std::min(shape.block_size, tensor.columns - lane);
            put_codes(exact::unpack(stream_of(tensor), Bytes(first, first + shape.packed_bytes),
                                    static_cast<std::size_t>(count)),
                      codes, row * tensor.columns + lane);
            scales[static_cast<std::size_t>(row * shape.blocks + block)] =
                first[shape.packed_bytes];
        }
}

void store_inline(const mx_tensor& tensor, const Bytes& codes, const Bytes& scales) {
    const InlineShape shape(tensor);
    for (std::int64_t row = 0; row < tensor.rows; ++row) {
        const Bytes packed =
            exact::pack_inline({stream_of(tensor), static_cast<int>(shape.block_size),
                                codes_of(codes, row * tensor.columns, tensor.columns),
                                codes_of(scales, row * shape.blocks, shape.blocks)});
        std::copy(packed.begin(), packed.end(),
                  at(tensor, static_cast<std::size_t>(row * tensor.row_stride)));
    }
}

// Can this tensor be copied at all? What cannot goes on as it is, and is refused by its layout.
bool is_known(const mx_tensor& tensor) {
    if (tensor.layout == nullptr || tensor.type == nullptr) return false;
    const ElementFormat* format = find_element_format(tensor.type);
    if (format == nullptr || tensor.rows < 0 || tensor.columns < 0) return false;
    if (find_scale_layout(tensor.layout) != nullptr) return format->code_bits() == 8;
    const Packing* packing = packing_of(tensor);
    return packing != nullptr && format->code_bits() <= 8 &&
           (packing->code_bits == 0 || packing->code_bits == format->code_bits());
}

}  // namespace

PlainCall::PlainCall(const kit::Arguments& call) : operation_(call.operation) {
    for (std::size_t i = 0; i < call.input_count; ++i)
        add(kit::tensor_at(call.inputs, i), inputs_, input_copies_);
    for (std::size_t i = 0; i < call.output_count; ++i)
        add(kit::tensor_at(call.outputs, i), outputs_, output_copies_);
    for (const Copy& copy : input_copies_)
        if (copy.original.data != nullptr) load(copy);
}

kit::Arguments PlainCall::call() const {
    return {operation_, inputs_.data(), inputs_.size(), outputs_.data(), outputs_.size()};
}

Bytes* PlainCall::add_plain(const mx_tensor& like, std::vector<mx_tensor>& plain) {
    bytes_.emplace_back(static_cast<std::size_t>(like.rows * like.columns));
    plain.push_back(like);
    plain.back().struct_size = sizeof(mx_tensor);
    plain.back().data = bytes_.back().data();
    plain.back().layout = "strided";
    plain.back().row_stride = like.columns;
    plain.back().column_stride = 1;
    return &bytes_.back();
}

void PlainCall::add(const mx_tensor& tensor, std::vector<mx_tensor>& plain,
                    std::vector<Copy>& copies) {
    if (!is_known(tensor)) {
        plain.push_back(tensor);
        plain.back().struct_size = sizeof(mx_tensor);
        return;
    }
    Copy copy{tensor, add_plain(tensor, plain), nullptr};
    if (is_inline(tensor)) {
        mx_tensor scales = tensor;
        scales.type = "e8m0";
        scales.columns = tensor.columns == 0 ? 0 : InlineShape(tensor).blocks;
        copy.scales = add_plain(scales, plain);
    }
    copies.push_back(copy);
}

void PlainCall::load(const Copy& copy) {
    const mx_tensor& tensor = copy.original;
    if (is_inline(tensor)) return load_inline(tensor, *copy.codes, *copy.scales);
    if (packing_of(tensor) != nullptr) return load_packed(tensor, *copy.codes);
    for_each_scale_byte(tensor, [&](std::size_t byte, std::int64_t place) {
        if (place >= 0) (*copy.codes)[static_cast<std::size_t>(place)] = *at(tensor, byte);
    });
}

void PlainCall::store() const {
    for (const Copy& copy : output_copies_) {
        const mx_tensor& tensor = copy.original;
        if (is_inline(tensor)) {
            store_inline(tensor, *copy.codes, *copy.scales);
        } else if (packing_of(tensor) != nullptr) {
            store_packed(tensor, *copy.codes);
        } else {
            for_each_scale_byte(tensor, [&](std::size_t byte, std::int64_t place) {
                *at(tensor, byte) =
                    place >= 0 ? (*copy.codes)[static_cast<std::size_t>(place)] : std::uint8_t{0};
            });
        }
    }
}

}  // namespace mx::selftest
