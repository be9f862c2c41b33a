// Reading .npy and .npz, writing .npy: a magic, a header that is a Python dictionary, the bytes of
// one array. Used by tensor_file.cpp, the tests and the fuzzers; knows nothing of safetensors.
#include "conformance/data/npy.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>

#include "conformance/data/tensor_listing.hpp"
#include "conformance/data/zip_file.hpp"

namespace mx::data {
namespace {

constexpr std::uint64_t preamble_size = npy_magic.size() + 2;  // with the two bytes of version
constexpr std::uint64_t header_limit = 1u << 20;               // real ones have some hundred bytes
constexpr std::uint64_t alignment = 64;  // of the first payload byte, as NumPy writes

struct Header {
    std::optional<std::string> spelling;  // of the type: "<f4"
    std::optional<bool> fortran_order;
    std::optional<std::vector<std::int64_t>> shape;
    std::uint64_t payload = 0;  // where it begins
};

// Reads the one dictionary NumPy writes, {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)},
// with keys in any order. Every method returns false after it has set the error.
class HeaderParser {
public:
    HeaderParser(const ByteSource& source, std::string_view text, std::uint64_t offset)
        : source_(source), text_(text), offset_(offset) {}

    Expected<Header> parse() {
        if (!dictionary()) return *error_;
        skip_blanks();
        if (position_ != text_.size()) {
            fail("nothing but blanks after the header's closing brace");
            return *error_;
        }
        return header_;
    }

private:
    bool fail(std::string_view expected) {
        const std::string found = position_ < text_.size() ? in_quotes(text_.substr(position_, 1))
                                                           : std::string("the end of the header");
        return fail_with("the header should have " + std::string(expected) + " at byte " +
                         std::to_string(offset_ + position_) + ", but there is " + found);
    }

    bool fail_with(std::string_view what) {
        error_ = bad_source(source_, what);
        return false;
    }

    void skip_blanks() {
        constexpr std::string_view blanks = " \t\r\n";
        while (position_ < text_.size() && blanks.find(text_[position_]) != blanks.npos)
            ++position_;
    }

    bool take(std::string_view word) {
        skip_blanks();
        if (text_.substr(position_, word.size()) != word) return false;
        position_ += word.size();
        return true;
    }

    bool dictionary() {
        if (!take("{")) return fail("an opening brace");
        while (!take("}")) {
            if (!entry()) return false;
            if (take(",")) continue;
            if (!take("}")) return fail("a comma or the closing brace");
            break;
        }
        if (!header_.spelling) return fail_with("the header lacks 'descr', the type");
        if (!header_.fortran_order) return fail_with("the header lacks 'fortran_order'");
        if (!header_.shape) return fail_with("the header lacks 'shape'");
        return true;
    }

    bool entry() {
        const std::uint64_t where = offset_ + position_;
        std::string key;
        if (!string(key)) return false;
        if (!take(":")) return fail("a colon");
        if (key == "descr" && !header_.spelling) return type();
        if (key == "fortran_order" && !header_.fortran_order) return truth();
        if (key == "shape" && !header_.shape) return shape();
        return fail_with("the header has an unknown or repeated key " + in_quotes(key) +
                         " after byte " + std::to_string(where));
    }

    bool string(std::string& value) {
        skip_blanks();
        const char quote = position_ < text_.size() ? text_[position_] : ' ';
        if (quote != '\'' && quote != '"') return fail("a quoted string");
        const std::size_t end = text_.find(quote, position_ + 1);
        if (end == text_.npos)
            return fail_with("the header's string at byte " + std::to_string(offset_ + position_) +
                             " has no end");
        value = text_.substr(position_ + 1, end - position_ - 1);
        position_ = end + 1;
        return true;
    }

    bool type() {
        skip_blanks();
        if (position_ < text_.size() && (text_[position_] == '[' || text_[position_] == '('))
            return fail_with("holds a structured type, which is no tensor (byte " +
                             std::to_string(offset_ + position_) + ")");
        header_.spelling.emplace();
        return string(*header_.spelling);
    }

    bool truth() {
        if (take("True"))
            header_.fortran_order = true;
        else if (take("False"))
            header_.fortran_order = false;
        else
            return fail("True or False");
        return true;
    }

    // A Python tuple: () or (1,) or (1, 2) or (1, 2,). A lone (1) would be a number in parentheses.
    bool shape() {
        header_.shape.emplace();
        if (!take("(")) return fail("a tuple");
        bool after_comma = false;
        while (!take(")")) {
            if (!header_.shape->empty() && !after_comma) return fail("a comma");
            if (!dimension()) return false;
            after_comma = take(",");
        }
        if (header_.shape->size() == 1 && !after_comma)
            return fail_with("the header's shape is a number, not a tuple, before byte " +
                             std::to_string(offset_ + position_));
        return true;
    }

    bool dimension() {
        constexpr std::int64_t limit = std::numeric_limits<std::int64_t>::max();
        const std::uint64_t where = offset_ + position_;
        if (take("-"))
            return fail_with("the header's shape has a negative dimension at byte " +
                             std::to_string(where));
        skip_blanks();
        const std::size_t first = position_;
        std::int64_t value = 0;
        for (; position_ < text_.size() && is_digit(text_[position_]); ++position_) {
            const int digit = text_[position_] - '0';
            if (value > (limit - digit) / 10)
                return fail_with("the header's shape has a dimension of 2^63 or more at byte " +
                                 std::to_string(where));
            value = value * 10 + digit;
        }
        if (position_ == first) return fail("a dimension");
        if (text_[first] == '0' && position_ - first > 1)
            return fail_with("the header's shape has a dimension with a leading zero at byte " +
                             std::to_string(where));
        if (position_ < text_.size() && text_[position_] == 'L') ++position_;  // Python 2's long
        header_.shape->push_back(value);
        return true;
    }

    static bool is_digit(char character) { return character >= '0' && character <= '9'; }

    const ByteSource& source_;
    std::string_view text_;
    std::uint64_t offset_;  // of the text in the file
    std::size_t position_ = 0;
    std::optional<Error> error_;
    Header header_;
};

Expected<Header> read_header(const ByteSource& source) {
    const auto preamble = read_range(source, {0, preamble_size}, "the magic and version of a .npy");
    if (!preamble) return preamble.error();
    if (!std::equal(npy_magic.begin(), npy_magic.end(), preamble.value().begin(),
                    [](char a, std::byte b) { return static_cast<std::byte>(a) == b; }))
        return bad_source(source, "is no .npy: it does not begin with the bytes 93 'NUMPY'");
    const int major = std::to_integer<int>(preamble.value()[6]);
    const int minor = std::to_integer<int>(preamble.value()[7]);
    if (major < 1 || major > 3 || minor != 0)
        return bad_source(source, "is a .npy of version " + std::to_string(major) + "." +
                                      std::to_string(minor) +
                                      " (bytes 6 and 7); known: 1.0, 2.0, 3.0");
    const std::uint64_t text_begin = preamble_size + (major == 1 ? 2u : 4u);
    const auto field = read_range(source, {preamble_size, text_begin}, "the header's length");
    if (!field) return field.error();
    const std::uint64_t length = little_endian(field.value());
    if (length > header_limit)
        return bad_source(source, "says at byte 8 that its header has " + std::to_string(length) +
                                      " bytes; more than " + std::to_string(header_limit) +
                                      " is no array of numbers");
    const auto text = read_range(source, {text_begin, text_begin + length}, "the header");
    if (!text) return text.error();
    const std::string_view view(reinterpret_cast<const char*>(text.value().data()), length);
    auto header = HeaderParser(source, view, text_begin).parse();
    if (header) header.value().payload = text_begin + length;
    return header;
}

// A type's spelling taken apart: byte order, kind letter, width in bytes.
struct Spelling {
    char order = ' ';
    char kind = ' ';
    std::string_view width;
};

std::optional<Spelling> take_apart(std::string_view text) {
    if (text.size() < 3) return std::nullopt;
    return Spelling{text[0], text[1], text.substr(2)};
}

// What says nothing about meaning: void bytes, unsigned integers, and '<f1', which newer NumPy
// writes for an 8-bit float of ml_dtypes.
bool may_be_overridden(const Spelling& spelling) {
    return spelling.kind == 'V' || spelling.kind == 'u' ||
           (spelling.kind == 'f' && spelling.width == "1");
}

const TensorType* find_by_spelling(const Spelling& spelling) {
    for (const TensorType& type : tensor_types) {
        const auto known = take_apart(type.npy_name);
        if (!known || known->kind != spelling.kind || known->width != spelling.width) continue;
        // A single byte has no order: '|u1', though some write '<u1'.
        if (spelling.order == '<' || spelling.order == '>') return &type;
        if (spelling.order == '|' && type.bits == 8) return &type;
    }
    return nullptr;
}

Expected<const TensorType*> overridden_type(const ByteSource& source, std::string_view text,
                                            const Spelling& spelling, std::string_view override) {
    const TensorType* wanted = find_tensor_type(override);
    if (wanted == nullptr)
        return bad_source(source, "cannot be read as the unknown type " + in_quotes(override) +
                                      "; known types: " + tensor_type_list());
    if (find_by_spelling(spelling) == wanted) return wanted;
    if (!may_be_overridden(spelling) || wanted->bits % 8 != 0 ||
        spelling.width != std::to_string(wanted->bits / 8))
        return bad_source(source, "holds type " + in_quotes(text) + ", which cannot be read as " +
                                      in_quotes(override) +
                                      ": only void and unsigned types of its width can");
    return wanted;
}

Expected<const TensorType*> type_of(const ByteSource& source, std::string_view text,
                                    std::string_view override) {
    const auto spelling = take_apart(text);
    if (spelling && !override.empty()) return overridden_type(source, text, *spelling, override);
    if (spelling)
        if (const TensorType* type = find_by_spelling(*spelling)) return type;
    if (spelling && may_be_overridden(*spelling))
        return bad_source(source, "holds type " + in_quotes(text) +
                                      ", which does not say what its bytes mean (NumPy has no "
                                      "name for bf16 and the 8-bit floats); name the type, or use "
                                      ".safetensors");
    return bad_source(source, "holds type " + in_quotes(text) +
                                  ", which mxcheck does not read; known: <f4 <f2 <f8 |u1 |i1 |b1 "
                                  "<u2 <i2 <u4 <i4 <u8 <i8, and > for big endian");
}

void reverse_each(std::span<std::byte> bytes, std::size_t width) {
    for (std::size_t i = 0; i < bytes.size(); i += width)
        std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                     bytes.begin() + static_cast<std::ptrdiff_t>(i + width));
}

// In Fortran order the first index runs fastest. Walks the result in C order with one counter for
// each dimension, keeping the place in the source up to date.
void fortran_to_c(std::span<const std::byte> from, std::span<std::byte> to,
                  std::span<const std::int64_t> shape, std::size_t width) {
    struct Dimension {
        std::size_t size, stride, index;
    };
    std::vector<Dimension> dimensions;
    std::size_t stride = width;
    for (const std::int64_t size : shape) {
        dimensions.push_back({static_cast<std::size_t>(size), stride, 0});
        stride *= static_cast<std::size_t>(size);
    }
    std::size_t place = 0;
    for (std::size_t done = 0; done < to.size(); done += width) {
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(place), width,
                    to.begin() + static_cast<std::ptrdiff_t>(done));
        for (auto dimension = dimensions.rbegin(); dimension != dimensions.rend(); ++dimension) {
            place += dimension->stride;
            if (++dimension->index < dimension->size) break;
            place -= dimension->stride * dimension->index;
            dimension->index = 0;
        }
    }
}

}  // namespace

namespace {

// The array as its header has it, held against the file.
Expected<ListedTensor> listed_array(const ByteSource& source, const ReadOptions& options,
                                    Header& header) {
    const std::string& spelling = *header.spelling;
    const auto type = type_of(source, spelling, options.type_override);
    if (!type) return type.error();
    ListedTensor tensor;
    tensor.name = std::filesystem::path(source.name()).stem().string();
    tensor.type = type.value()->id;
    tensor.shape = std::move(*header.shape);
    tensor.range = {header.payload, source.size()};
    const auto size = byte_count(*type.value(), tensor.shape);
    if (!size) return bad_source(source, size.error().message);
    if (tensor.size() != size.value())
        return bad_source(source, "shape " + shape_text(tensor.shape) + " of type " + spelling +
                                      " needs " + std::to_string(size.value()) +
                                      " bytes, but from byte " + std::to_string(header.payload) +
                                      " on there are " + std::to_string(tensor.size()));
    return tensor;
}

bool is_in_order(const Header& header, const ListedTensor& tensor) {
    return (*header.spelling)[0] != '>' && !(*header.fortran_order && tensor.shape.size() > 1);
}

Expected<std::vector<std::byte>> bytes_in_order(const ByteSource& source, const Header& header,
                                                const ListedTensor& tensor) {
    auto bytes = read_range(source, tensor.range, "the array");
    if (!bytes) return bytes.error();
    const auto width = static_cast<std::size_t>(find_tensor_type(tensor.type)->bits / 8);
    if ((*header.spelling)[0] == '>') reverse_each(bytes.value(), width);
    if (!*header.fortran_order || tensor.shape.size() < 2) return bytes;
    auto reordered = allocate(source, tensor.size());
    if (!reordered) return reordered.error();
    fortran_to_c(bytes.value(), reordered.value(), tensor.shape, width);
    return reordered;
}

}  // namespace

Expected<TensorListing> list_npy(const SharedSource& source, const ReadOptions& options) {
    auto header = read_header(*source);
    if (!header) return header.error();
    auto tensor = listed_array(*source, options, header.value());
    if (!tensor) return tensor.error();
    tensor.value().source = source;
    if (!is_in_order(header.value(), tensor.value())) {
        auto bytes = bytes_in_order(*source, header.value(), tensor.value());
        if (!bytes) return bytes.error();
        tensor.value().range = {0, bytes.value().size()};
        tensor.value().source =
            std::make_shared<KeptSource>(std::move(bytes).value(), source->name());
    }
    TensorListing listing;
    listing.tensors.push_back(std::move(tensor).value());
    return listing;
}

Expected<TensorListing> list_npz(const SharedSource& source, const ReadOptions& options) {
    auto members = list_zip(source);
    if (!members) return members.error();
    TensorListing listing;
    std::set<std::string> names;
    for (const ZipMember& member : members.value()) {
        if (!member.name.ends_with(".npy"))
            return bad_source(*source, "holds " + in_quotes(member.name) +
                                           ", which is no .npy, and so is no .npz");
        auto one = list_npy(member.bytes, options);
        if (!one) return one.error();
        ListedTensor& tensor = one.value().tensors.front();
        tensor.name = member.name.substr(0, member.name.size() - 4);
        if (!names.insert(tensor.name).second)
            return bad_source(*source, "holds two arrays named " + in_quotes(tensor.name));
        listing.tensors.push_back(std::move(tensor));
    }
    return listing;
}

Expected<TensorFile> parse_npy(const ByteSource& source, const ReadOptions& options) {
    auto header = read_header(source);
    if (!header) return header.error();
    auto listed = listed_array(source, options, header.value());
    if (!listed) return listed.error();
    auto bytes = bytes_in_order(source, header.value(), listed.value());
    if (!bytes) return bytes.error();
    TensorFile file;  // an initializer list would copy the tensor
    file.tensors.push_back({std::move(listed.value().name), std::move(listed.value().type),
                            std::move(listed.value().shape), std::move(bytes).value()});
    return file;
}

Expected<TensorFile> parse_npy(std::span<const std::byte> file, std::string_view name) {
    return parse_npy(MemorySource(file, name));
}

Expected<EncodedFile> encode_npy(const TensorFile& file) {
    if (file.tensors.size() != 1)
        return bad_input("a .npy holds exactly one tensor, but there are " +
                         std::to_string(file.tensors.size()) + "; use .safetensors");
    if (!file.metadata.empty()) return bad_input("a .npy holds no metadata; use .safetensors");
    const HostTensor& tensor = file.tensors.front();
    if (const Status sound = check_tensor(tensor); !sound) return sound.error();
    const std::string_view spelling = find_tensor_type(tensor.type)->npy_name;
    if (spelling.empty())
        return bad_input("tensor " + in_quotes(tensor.name) + ": type " + tensor.type +
                         " has no name in .npy; use .safetensors");
    std::string shape = "(";
    for (std::size_t i = 0; i < tensor.shape.size(); ++i)
        shape += (i == 0 ? "" : ", ") + std::to_string(tensor.shape[i]);
    shape += tensor.shape.size() == 1 ? ",)" : ")";
    std::string text = "{'descr': '" + std::string(spelling) +
                       "', 'fortran_order': False, 'shape': " + shape + ", }";
    const std::uint64_t unpadded = preamble_size + 2 + text.size() + 1;
    text.append((alignment - unpadded % alignment) % alignment, ' ');
    text += '\n';
    std::string header(npy_magic);
    header += '\x01';
    header += '\x00';
    header += static_cast<char>(text.size() & 0xFF);
    header += static_cast<char>(text.size() >> 8);  // max_rank keeps it below 2^16
    return EncodedFile{header + text, {tensor.bytes}};
}

}  // namespace mx::data
