// What a file of elements and scales says of itself, in its metadata: by which format, dialect and
// layout its bytes are to be read. Used by whoever makes such a file, and by whoever takes values
// and must not take codes for them; knows no table, so a name here may be one that nobody knows.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "conformance/data/host_tensor.hpp"
#include "reference/base/status.hpp"

namespace mx::data {

// The names that together say how a tensor was quantized, spelt as in a case and on the command
// line. "" is not given.
struct BlockNames {
    std::string format = {};
    std::string dialect = {};
    std::string axis = {};
    std::string block = {};
    std::string scales = {};
    std::string packing = {};
    bool operator==(const BlockNames&) const = default;
};

struct NameKey {
    std::string_view key;  // in the metadata; with -- in front, the option
    std::string BlockNames::*member;
};
inline constexpr std::array name_keys{
    NameKey{"format", &BlockNames::format}, NameKey{"dialect", &BlockNames::dialect},
    NameKey{"axis", &BlockNames::axis},     NameKey{"block", &BlockNames::block},
    NameKey{"scales", &BlockNames::scales}, NameKey{"packing", &BlockNames::packing},
};

// "format mxfp8-e4m3, dialect nv, block 32": those that are given, for sentences. Names of a
// hostile file come out harmless.
std::string names_text(const BlockNames& names);

// "" for a key that the file lacks.
std::string metadata_in(const TensorFile& file, std::string_view key);

// As the file has them, known or not.
BlockNames carried_names(const TensorFile& file);

// Did mxcheck quantize it? One of the keys is enough, so that damage does not turn codes to values.
bool is_quantized(const TensorFile& file);

// As error: the file holds codes where values are wanted.
Status check_unquantized(const TensorFile& file);

}  // namespace mx::data
