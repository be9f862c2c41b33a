// See plain_call.hpp.
#include "conformance/library/plain_call.hpp"

#include <algorithm>
#include <string_view>

#include "reference/exact/layout.hpp"
#include "reference/spec/gemm.hpp"

namespace mx::library {
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

// 0 of a type that the oracle does not know.
int code_bits_of(const mx_tensor& tensor) {
    if (tensor.type == ue4m3.name) return 8;  // its codes have 7, and 0 above them
    const ElementFormat* format = find_element_format(tensor.type);
    return format == nullptr ? 0 : format->code_bits();
}

CodeStream stream_of(const mx_tensor& tensor) {
    return {code_bits_of(tensor), packing_of(tensor)->pairs};
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

// Of 4 bits, which are the usual ones and so are not walked bit by bit: where in its byte a code
// lies. The bits after the last code are 0.
int shift_of(const mx_tensor& tensor, std::int64_t column) {
    const bool is_even = column % 2 == 0;
    return is_even == (packing_of(tensor)->pairs == PairOrder::even_first) ? 0 : 4;
}

// Calls visit(place among the codes, their byte, shift within it).
template <typename Visit>
void for_each_half(const mx_tensor& tensor, const Visit& visit) {
    const int shifts[] = {shift_of(tensor, 0), shift_of(tensor, 1)};
    const std::int64_t row_bytes = tensor.columns / 2 + tensor.columns % 2;
    std::size_t place = 0;
    for (std::int64_t row = 0; row < tensor.rows; ++row) {
        std::uint8_t* bytes = at(tensor, static_cast<std::size_t>(row * row_bytes));
        for (std::int64_t column = 0; column < tensor.columns; ++column)
            visit(place++, bytes[column / 2], shifts[column % 2]);
    }
}

void load_halves(const mx_tensor& tensor, Bytes& codes) {
    for_each_half(tensor, [&codes](std::size_t place, std::uint8_t byte, int shift) {
        codes[place] = static_cast<std::uint8_t>(byte >> shift & 0xF);
    });
}

void store_halves(const mx_tensor& tensor, const Bytes& codes) {
    const std::int64_t row_bytes = tensor.columns / 2 + tensor.columns % 2;
    std::fill_n(at(tensor, 0), tensor.rows * row_bytes, std::uint8_t{0});
    for_each_half(tensor, [&codes](std::size_t place, std::uint8_t& byte, int shift) {
        byte = static_cast<std::uint8_t>(byte | codes[place] << shift);
    });
}

void load_packed(const mx_tensor& tensor, Bytes& codes) {
    if (code_bits_of(tensor) == 4) return load_halves(tensor, codes);
    const std::size_t columns = static_cast<std::size_t>(tensor.columns);
    const std::size_t row_bytes = exact::pack(stream_of(tensor), std::vector<Code>(columns)).size();
    for (std::int64_t row = 0; row < tensor.rows; ++row) {
        const std::uint8_t* first = at(tensor, static_cast<std::size_t>(row) * row_bytes);
        put_codes(exact::unpack(stream_of(tensor), Bytes(first, first + row_bytes), columns), codes,
                  row * tensor.columns);
    }
}

void store_packed(const mx_tensor& tensor, const Bytes& codes) {
    if (code_bits_of(tensor) == 4) return store_halves(tensor, codes);
    std::size_t byte = 0;
    for (std::int64_t row = 0; row < tensor.rows; ++row) {
        const Bytes packed =
            exact::pack(stream_of(tensor), codes_of(codes, row * tensor.columns, tensor.columns));
        std::copy(packed.begin(), packed.end(), at(tensor, byte));
        byte += packed.size();
    }
}

// A row with inline scales, block after block; each has its scale behind its codes.
struct InlineShape {
    std::int64_t block_size, blocks, packed_bytes;
    InlineShape(const mx_tensor& tensor, std::int64_t block)
        : block_size(block),
          blocks(tensor.columns / block + (tensor.columns % block != 0 ? 1 : 0)),
          packed_bytes(tensor.column_stride - 1) {}
};

// Every block must lie where the copy looks for it.
void check_inline(const mx_tensor& tensor, std::int64_t block) {
    constexpr std::int64_t largest = 65536;
    if (block < 1 || block > largest)
        kit::invalid("layout \"inline\" has blocks, and block_size is " + std::to_string(block));
    const std::int64_t bits = block * code_bits_of(tensor);
    if (bits % 8 != 0 || tensor.column_stride != bits / 8 + 1)
        kit::invalid("layout \"inline\": column_stride is " + std::to_string(tensor.column_stride) +
                     ", and a block of " + std::to_string(block) + " codes of " +
                     std::to_string(code_bits_of(tensor)) + " bits does not take that many bytes");
    const std::int64_t row_bytes = InlineShape(tensor, block).blocks * tensor.column_stride;
    if (tensor.rows > 1 && tensor.row_stride < row_bytes)
        kit::invalid("layout \"inline\": row_stride is " + std::to_string(tensor.row_stride) +
                     ", and a row takes " + std::to_string(row_bytes) + " bytes");
}

void load_inline(const mx_tensor& tensor, const InlineShape& shape, Bytes& codes, Bytes& scales) {
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

void store_inline(const mx_tensor& tensor, const InlineShape& shape, const Bytes& codes,
                  const Bytes& scales) {
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
    const int bits = code_bits_of(tensor);
    if (bits == 0) return false;
    if (find_scale_layout(tensor.layout) != nullptr) return bits == 8;
    const Packing* packing = packing_of(tensor);
    return packing != nullptr && bits <= 8 &&
           (packing->code_bits == 0 || packing->code_bits == bits);
}

}  // namespace

bool needs_copies(const kit::Arguments& call) {
    const auto is_another = [](const mx_tensor& tensor) {
        return kit::text_of(tensor.layout) != "strided";
    };
    for (std::size_t i = 0; i < call.input_count; ++i)
        if (is_another(kit::tensor_at(call.inputs, i))) return true;
    for (std::size_t i = 0; i < call.output_count; ++i)
        if (is_another(kit::tensor_at(call.outputs, i))) return true;
    return false;
}

PlainCall::PlainCall(const kit::Arguments& call, Loaded loaded)
    : operation_(call.operation), has_data_(loaded != Loaded::nothing) {
    for (std::size_t i = 0; i < call.input_count; ++i)
        add(kit::tensor_at(call.inputs, i), inputs_, input_copies_);
    for (std::size_t i = 0; i < call.output_count; ++i)
        add(kit::tensor_at(call.outputs, i), outputs_, output_copies_);
    if (loaded != Loaded::nothing)
        for (const Copy& copy : input_copies_) load(copy);
    if (loaded == Loaded::everything)
        for (const Copy& copy : output_copies_) load(copy);
}

kit::Arguments PlainCall::call() const {
    return {operation_, inputs_.data(), inputs_.size(), outputs_.data(), outputs_.size()};
}

Bytes* PlainCall::add_plain(const mx_tensor& like, std::vector<mx_tensor>& plain) {
    bytes_.emplace_back(has_data_ ? static_cast<std::size_t>(like.rows * like.columns) : 0);
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
    // Of an empty tensor, too, one side may be long: what follows adds to it and rounds it up.
    constexpr std::int64_t longest = std::int64_t{1} << 40;
    if (tensor.rows > longest || tensor.columns > longest)
        kit::not_supported("a tensor of " + kit::text_of({tensor.rows, tensor.columns}));
    if (!is_known(tensor)) {
        plain.push_back(tensor);
        plain.back().struct_size = sizeof(mx_tensor);
        return;
    }
    if (is_inline(tensor)) check_inline(tensor, block_size());
    Copy copy{tensor, add_plain(tensor, plain), nullptr};
    if (is_inline(tensor)) {
        mx_tensor scales = tensor;
        scales.type = "e8m0";
        scales.columns = InlineShape(tensor, block_size()).blocks;
        copy.scales = add_plain(scales, plain);
    }
    copies.push_back(copy);
}

void PlainCall::load(const Copy& copy) const {
    const mx_tensor& tensor = copy.original;
    if (tensor.rows == 0 || tensor.columns == 0) return;
    if (is_inline(tensor))
        return load_inline(tensor, InlineShape(tensor, block_size()), *copy.codes, *copy.scales);
    if (packing_of(tensor) != nullptr) return load_packed(tensor, *copy.codes);
    for_each_scale_byte(tensor, [&](std::size_t byte, std::int64_t place) {
        if (place >= 0) (*copy.codes)[static_cast<std::size_t>(place)] = *at(tensor, byte);
    });
}

void PlainCall::store() const {
    for (const Copy& copy : output_copies_) {
        const mx_tensor& tensor = copy.original;
        if (tensor.rows == 0 || tensor.columns == 0) continue;
        if (is_inline(tensor)) {
            store_inline(tensor, InlineShape(tensor, block_size()), *copy.codes, *copy.scales);
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

}  // namespace mx::library
