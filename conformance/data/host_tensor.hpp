// A tensor in host memory as files carry it, and the table of types it may have. Used by the
// readers and writers of tensor files and by whoever takes a user's tensors; knows no syntax.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/base/status.hpp"
#include "reference/spec/formats.hpp"

namespace mx::data {

// Dense, in C order, little endian. Types of less than a byte keep the packing of their file.
struct HostTensor {
    std::string name;
    std::string type;                 // an id of tensor_types
    std::vector<std::int64_t> shape;  // empty: a single value
    std::vector<std::byte> bytes;
    bool operator==(const HostTensor&) const = default;
};

struct TensorFile {
    std::vector<HostTensor> tensors;
    std::vector<std::pair<std::string, std::string>> metadata;
    bool operator==(const TensorFile&) const = default;
};

struct ReadOptions {
    // NumPy has no name for bfloat16 and the 8-bit floats: ml_dtypes saves them as '<V2', '<V1' or
    // '<f1', others as '<u2' or '|u1'. Such a .npy is read as this type when its width agrees. With
    // "" the void ones are refused and the integers are integers.
    std::string type_override;
};

// A file in pieces, so that no tensor is copied. The payload views the TensorFile it was made from.
struct EncodedFile {
    std::string header;
    std::vector<std::span<const std::byte>> payload;
};

// How each container spells a type; "" where it has no word for it.
struct TensorType {
    std::string_view id;
    int bits;
    std::string_view safetensors_name;
    std::string_view npy_name;
};

// NumPy has no word for the 8-bit floats, so .npy carries their bytes as '|u1'. On reading, the
// first row with a spelling wins: u8 therefore stands above them.
inline constexpr std::array tensor_types{
    TensorType{"f32", 32, "F32", "<f4"},
    TensorType{"f16", 16, "F16", "<f2"},
    TensorType{"bf16", 16, "BF16", ""},
    TensorType{"f64", 64, "F64", "<f8"},
    TensorType{"u8", 8, "U8", "|u1"},
    TensorType{"e4m3", 8, "F8_E4M3", "|u1"},
    TensorType{"e5m2", 8, "F8_E5M2", "|u1"},
    TensorType{"e8m0", 8, "F8_E8M0", "|u1"},
    TensorType{"i8", 8, "I8", "|i1"},
    TensorType{"u16", 16, "U16", "<u2"},
    TensorType{"i16", 16, "I16", "<i2"},
    TensorType{"u32", 32, "U32", "<u4"},
    TensorType{"i32", 32, "I32", "<i4"},
    TensorType{"u64", 64, "U64", "<u8"},
    TensorType{"i64", 64, "I64", "<i8"},
    TensorType{"bool", 8, "BOOL", "|b1"},
    TensorType{"c64", 64, "C64", ""},
    TensorType{"e2m1", 4, "F4", ""},
    TensorType{"e2m3", 6, "F6_E2M3", ""},
    TensorType{"e3m2", 6, "F6_E3M2", ""},
    TensorType{"e4m3fnuz", 8, "F8_E4M3FNUZ", ""},
    TensorType{"e5m2fnuz", 8, "F8_E5M2FNUZ", ""},
};

// NumPy's own limit; more dimensions than that are a broken file.
inline constexpr std::size_t max_rank = 64;

// Returns nullptr when no row has that id.
constexpr const TensorType* find_tensor_type(std::string_view id) {
    for (const TensorType& type : tensor_types)
        if (type.id == id) return &type;
    return nullptr;
}

// How a file carries the codes of an element format. The integer formats are int8 to a file, and
// UE5M3, for which no file has a word, is bytes: which of them it is, the metadata say. TF32 is
// binary32.
constexpr std::string_view tensor_type_of(const ElementFormat& format) {
    if (format == formats::tf32) return formats::f32.name;
    if (format == formats::ue5m3) return "u8";
    return format.negatives == Negatives::sign_bit ? format.name : std::string_view("i8");
}

// What a code takes where codes of less than a byte are packed.
constexpr int bits_in_memory(const ElementFormat& format) {
    return format.code_bits() < 8 ? format.code_bits() : 8 * format.code_bytes();
}

constexpr bool every_element_format_has_a_tensor_type() {
    for (const ElementFormat& format : element_formats) {
        bool found = false;
        for (const TensorType& type : tensor_types)
            found =
                found || (type.id == tensor_type_of(format) && bits_in_memory(format) == type.bits);
        if (!found) return false;
    }
    return true;
}
static_assert(every_element_format_has_a_tensor_type());

// The size of such a tensor. An error when a dimension is negative, when there are too many, when
// their product (zeros left out, as strides are made of it) leaves 63 bits, or when the elements do
// not fill whole bytes. The sentence names the shape but no file.
Expected<std::uint64_t> byte_count(const TensorType& type, std::span<const std::int64_t> shape);

// As error: what makes a tensor unfit to be written, with its name. Nothing when it is sound.
Status check_tensor(const HostTensor& tensor);

// "(2, 3)", as messages print it; a long shape is cut.
std::string shape_text(std::span<const std::int64_t> shape);

// Text from a file, in quotes, with all but printable ASCII escaped and a long one cut, so that a
// hostile file cannot write to the user's terminal.
std::string in_quotes(std::string_view text);

// "f32, f16, ...", for messages about an unknown type.
std::string tensor_type_list();

}  // namespace mx::data
