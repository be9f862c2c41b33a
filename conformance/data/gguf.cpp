// Reading GGUF: a magic, metadata, a table of tensors, their bytes. docs/gguf.md of ggml-org/ggml
// says how, gguf-py/gguf/constants.py of ggml-org/llama.cpp which type is how many bytes. Used by
// tensor_listing.cpp, the tests and the fuzzers.
#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "conformance/data/tensor_listing.hpp"

namespace mx::data {
namespace {

constexpr std::string_view gguf_magic = "GGUF";
constexpr std::uint64_t text_max = 65535;      // ggml's own limit of a key; names are shorter
constexpr std::uint64_t kept_text_max = 1024;  // of metadata; chat templates are longer
constexpr std::uint64_t gguf_rank_max = 4;     // GGML_MAX_DIMS
constexpr std::uint64_t alignment_default = 32;

// A type of ggml: so many elements in so many bytes. `type` is the id in tensor_types where it is
// one of them.
struct GgmlType {
    std::uint32_t number;
    std::string_view name;
    int elements;
    int bytes;
    std::string_view type = "";
};

constexpr std::array ggml_types{
    GgmlType{0, "F32", 1, 4, "f32"},    GgmlType{1, "F16", 1, 2, "f16"},
    GgmlType{2, "Q4_0", 32, 18},        GgmlType{3, "Q4_1", 32, 20},
    GgmlType{6, "Q5_0", 32, 22},        GgmlType{7, "Q5_1", 32, 24},
    GgmlType{8, "Q8_0", 32, 34},        GgmlType{9, "Q8_1", 32, 36},
    GgmlType{10, "Q2_K", 256, 84},      GgmlType{11, "Q3_K", 256, 110},
    GgmlType{12, "Q4_K", 256, 144},     GgmlType{13, "Q5_K", 256, 176},
    GgmlType{14, "Q6_K", 256, 210},     GgmlType{15, "Q8_K", 256, 292},
    GgmlType{16, "IQ2_XXS", 256, 66},   GgmlType{17, "IQ2_XS", 256, 74},
    GgmlType{18, "IQ3_XXS", 256, 98},   GgmlType{19, "IQ1_S", 256, 50},
    GgmlType{20, "IQ4_NL", 32, 18},     GgmlType{21, "IQ3_S", 256, 110},
    GgmlType{22, "IQ2_S", 256, 82},     GgmlType{23, "IQ4_XS", 256, 136},
    GgmlType{24, "I8", 1, 1, "i8"},     GgmlType{25, "I16", 1, 2, "i16"},
    GgmlType{26, "I32", 1, 4, "i32"},   GgmlType{27, "I64", 1, 8, "i64"},
    GgmlType{28, "F64", 1, 8, "f64"},   GgmlType{29, "IQ1_M", 256, 56},
    GgmlType{30, "BF16", 1, 2, "bf16"}, GgmlType{34, "TQ1_0", 256, 54},
    GgmlType{35, "TQ2_0", 256, 66},     GgmlType{39, "MXFP4", 32, 17},
    GgmlType{40, "NVFP4", 64, 36},
};

// Walks a file forwards through a window, so that the many short fields cost few reads.
class GgufReader {
public:
    explicit GgufReader(const ByteSource& source) : source_(source) {}

    std::uint64_t position() const { return position_; }

    Expected<std::uint64_t> number(std::size_t width) {
        std::array<std::byte, 8> bytes{};
        const auto into = std::span(bytes).first(width);
        if (source_.size() - position_ < width) return cut();
        if (position_ < window_at_ || position_ + width > window_at_ + window_size_)
            if (const Status filled = fill(); !filled) return filled.error();
        std::copy_n(window_.begin() + static_cast<std::ptrdiff_t>(position_ - window_at_), width,
                    into.begin());
        position_ += width;
        return little_endian(into);
    }

    Status skip(std::uint64_t length) {
        if (source_.size() - position_ < length) return cut();
        position_ += length;
        return success();
    }

    Expected<std::string> text(std::uint64_t limit) {
        const auto length = number(8);
        if (!length) return length.error();
        if (length.value() > limit)
            return bad_source(source_, "has a name of " + std::to_string(length.value()) +
                                           " bytes at byte " + std::to_string(position_ - 8) +
                                           "; the limit is " + std::to_string(limit));
        auto bytes = read_range(source_, {position_, position_ + length.value()}, "a name");
        if (!bytes) return bytes.error();
        position_ += length.value();
        std::string result;
        for (const std::byte b : bytes.value())
            result += static_cast<char>(std::to_integer<unsigned char>(b));
        return result;
    }

    Error cut() const {
        return bad_source(source_, "ends at byte " + std::to_string(source_.size()) +
                                       ", in the middle of its header");
    }
    Error bad(const std::string& what) const { return bad_source(source_, what); }

private:
    Status fill() {
        window_at_ = position_;
        window_size_ = std::min<std::uint64_t>(window_.size(), source_.size() - position_);
        return source_.read(position_, std::span(window_).first(window_size_));
    }

    const ByteSource& source_;
    std::uint64_t position_ = 0;
    std::array<std::byte, 1u << 16> window_ = {};
    std::uint64_t window_at_ = 0, window_size_ = 0;
};

// Of a value of metadata, by its type's number; 0 for a text and an array.
constexpr std::array<std::size_t, 13> value_widths{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
constexpr std::uint64_t value_u32 = 4, value_text = 8, value_array = 9;

Status skip_text(GgufReader& reader) {
    const auto length = reader.number(8);
    return length ? reader.skip(length.value()) : Status(length.error());
}

Status skip_array(GgufReader& reader, const std::string& key) {
    const auto type = reader.number(4);
    if (!type) return type.error();
    const auto count = reader.number(8);
    if (!count) return count.error();
    if (type.value() >= value_widths.size() || type.value() == value_array)
        return reader.bad("metadata key " + in_quotes(key) + " is an array of type " +
                          std::to_string(type.value()) + ", which mxcheck does not read");
    if (type.value() != value_text) {
        const std::uint64_t width = value_widths[type.value()];
        if (count.value() > std::numeric_limits<std::uint64_t>::max() / width) return reader.cut();
        return reader.skip(count.value() * width);
    }
    for (std::uint64_t i = 0; i < count.value(); ++i)
        if (const Status skipped = skip_text(reader); !skipped) return skipped;
    return success();
}

struct GgufHeader {
    std::uint64_t tensors = 0;
    std::uint64_t alignment = alignment_default;
    TensorListing listing;
};

Status read_value(GgufReader& reader, const std::string& key, GgufHeader& header) {
    const auto type = reader.number(4);
    if (!type) return type.error();
    if (type.value() == value_array) return skip_array(reader, key);
    if (type.value() >= value_widths.size())
        return reader.bad("metadata key " + in_quotes(key) + " has the unknown type " +
                          std::to_string(type.value()));
    if (type.value() == value_text) {
        const auto length = reader.number(8);
        if (!length) return length.error();
        if (length.value() > kept_text_max) return reader.skip(length.value());
        std::string value;
        for (std::uint64_t i = 0; i < length.value(); ++i) {
            const auto letter = reader.number(1);
            if (!letter) return letter.error();
            value += static_cast<char>(letter.value());
        }
        header.listing.metadata.emplace_back(key, std::move(value));
        return success();
    }
    const auto number = reader.number(value_widths[type.value()]);
    if (!number) return number.error();
    if (key != "general.alignment") return success();
    header.alignment = number.value();
    const bool is_power = header.alignment != 0 && (header.alignment & (header.alignment - 1)) == 0;
    if (type.value() == value_u32 && is_power) return success();
    return reader.bad("its general.alignment is " + std::to_string(number.value()) +
                      ", which is no power of two in 32 bits");
}

Status read_preamble(GgufReader& reader, const ByteSource& source, GgufHeader& header) {
    std::array<std::byte, 4> magic{};
    if (source.size() < magic.size()) return reader.bad("is no GGUF file: it has no magic");
    if (const Status s = source.read(0, magic); !s) return s;
    if (!std::equal(magic.begin(), magic.end(), gguf_magic.begin(),
                    [](std::byte a, char b) { return a == static_cast<std::byte>(b); }))
        return reader.bad("is no GGUF file: it does not begin with 'GGUF'");
    if (const Status s = reader.skip(magic.size()); !s) return s;
    const auto version = reader.number(4);
    if (!version) return version.error();
    if ((version.value() & 0xFFFF) == 0) return reader.bad("is a GGUF file in big endian");
    if (version.value() != 2 && version.value() != 3)
        return reader.bad("is GGUF of version " + std::to_string(version.value()) +
                          "; known: 2, 3");
    const auto tensors = reader.number(8);
    if (!tensors) return tensors.error();
    const auto values = reader.number(8);
    if (!values) return values.error();
    header.tensors = tensors.value();
    for (std::uint64_t i = 0; i < values.value(); ++i) {
        const auto key = reader.text(text_max);
        if (!key) return key.error();
        if (const Status s = read_value(reader, key.value(), header); !s) return s;
    }
    return success();
}

// Elements come in blocks along the fastest dimension, which ggml names first and we last.
Status take_type(const GgufReader& reader, std::uint64_t number, ListedTensor& tensor) {
    const auto row = std::find_if(ggml_types.begin(), ggml_types.end(),
                                  [&](const GgmlType& type) { return type.number == number; });
    const std::string who = "tensor " + in_quotes(tensor.name);
    if (row == ggml_types.end())
        return reader.bad(who + " has type " + std::to_string(number) +
                          " of ggml, whose size mxcheck does not know");
    if (!row->type.empty()) {
        tensor.type = row->type;
        return success();
    }
    if (tensor.shape.empty() || tensor.shape.back() % row->elements != 0)
        return reader.bad(who + " of shape " + shape_text(tensor.shape) + " is " +
                          std::string(row->name) + ", whose rows hold a multiple of " +
                          std::to_string(row->elements) + " elements");
    tensor.type = "u8";
    tensor.block_type = row->name;
    tensor.element_shape = tensor.shape;
    const std::int64_t blocks = tensor.shape.back() / row->elements;
    if (blocks > std::numeric_limits<std::int64_t>::max() / row->bytes)
        return reader.bad(who + " is larger than any memory");
    tensor.shape.back() = blocks * row->bytes;
    return success();
}

Expected<ListedTensor> read_tensor_entry(GgufReader& reader) {
    ListedTensor tensor;
    auto name = reader.text(text_max);
    if (!name) return name.error();
    tensor.name = std::move(name).value();
    const auto rank = reader.number(4);
    if (!rank) return rank.error();
    if (rank.value() > gguf_rank_max)
        return reader.bad("tensor " + in_quotes(tensor.name) + " has " +
                          std::to_string(rank.value()) + " dimensions; ggml has 4 at most");
    for (std::uint64_t i = 0; i < rank.value(); ++i) {
        const auto length = reader.number(8);
        if (!length) return length.error();
        if (length.value() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            return reader.bad("tensor " + in_quotes(tensor.name) +
                              " has a dimension of 2^63 or more");
        tensor.shape.insert(tensor.shape.begin(), static_cast<std::int64_t>(length.value()));
    }
    const auto type = reader.number(4);
    if (!type) return type.error();
    if (const Status known = take_type(reader, type.value(), tensor); !known) return known.error();
    const auto offset = reader.number(8);
    if (!offset) return offset.error();
    tensor.range.begin = offset.value();
    return tensor;
}

// The offsets count from the first aligned byte behind the table.
Status place_tensors(const ByteSource& source, std::uint64_t table_end, GgufHeader& header) {
    const std::uint64_t alignment = header.alignment;
    const std::uint64_t data = (table_end + alignment - 1) / alignment * alignment;
    for (ListedTensor& tensor : header.listing.tensors) {
        const auto size = byte_count(*find_tensor_type(tensor.type), tensor.shape);
        const std::string who = "tensor " + in_quotes(tensor.name);
        if (!size) return bad_source(source, who + " has " + size.error().message);
        const std::uint64_t offset = tensor.range.begin;
        if (offset % alignment != 0)
            return bad_source(source, who + " begins at offset " + std::to_string(offset) +
                                          ", no multiple of the alignment " +
                                          std::to_string(alignment));
        if (data > source.size() || offset > source.size() - data ||
            size.value() > source.size() - data - offset)
            return bad_source(source, who + " has " + std::to_string(size.value()) +
                                          " bytes at offset " + std::to_string(offset) +
                                          ", which are not in the file");
        tensor.range = {data + offset, data + offset + size.value()};
    }
    return success();
}

Status check_apart(const ByteSource& source, const std::vector<ListedTensor>& tensors) {
    std::vector<const ListedTensor*> order;
    std::set<std::string_view> names;
    for (const ListedTensor& tensor : tensors) {
        if (!names.insert(tensor.name).second)
            return bad_source(source, "holds two tensors named " + in_quotes(tensor.name));
        if (tensor.size() != 0) order.push_back(&tensor);
    }
    std::sort(order.begin(), order.end(),
              [](auto a, auto b) { return a->range.begin < b->range.begin; });
    for (std::size_t i = 1; i < order.size(); ++i)
        if (order[i]->range.begin < order[i - 1]->range.end)
            return bad_source(source, "tensors " + in_quotes(order[i - 1]->name) + " and " +
                                          in_quotes(order[i]->name) + " overlap");
    return success();
}

}  // namespace

Expected<TensorListing> list_gguf(const SharedSource& source) {
    const auto reader = std::make_unique<GgufReader>(*source);
    GgufHeader header;
    if (const Status s = read_preamble(*reader, *source, header); !s) return s.error();
    for (std::uint64_t i = 0; i < header.tensors; ++i) {
        auto tensor = read_tensor_entry(*reader);
        if (!tensor) return tensor.error();
        header.listing.tensors.push_back(std::move(tensor).value());
    }
    if (const Status s = place_tensors(*source, reader->position(), header); !s) return s.error();
    if (const Status s = check_apart(*source, header.listing.tensors); !s) return s.error();
    for (ListedTensor& tensor : header.listing.tensors) tensor.source = source;
    return std::move(header.listing);
}

}  // namespace mx::data
