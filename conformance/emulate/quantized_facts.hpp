// The metadata of a quantized file, written and believed: under which names it was made, from what,
// and by which rules those names stood for. Used by the commands that make or read such files;
// knows no bits.
#pragma once

#include <cstdint>

#include "conformance/data/quantized_file.hpp"

namespace mx::emulate {

using data::BlockNames;

// The input type of what was made of values that no type has held.
inline constexpr std::string_view exact_input = "exact";

struct QuantizedFacts {
    BlockNames names;
    std::string input_type;           // of the values it was made from, or "exact"
    std::vector<std::int64_t> shape;  // of the same
};

// What was not given: dialect ocp, axis row, the format's own block, linear scales, and the packing
// that file types have for such elements.
BlockNames completed(BlockNames names);

// As error: a name that its table does not have, or names that do not go together. For completed
// names.
Status check_names(const BlockNames& names);

// Have the format's scales a mantissa?
bool has_real_scales(const BlockNames& names);

// Are its blocks squares, or the whole tensor? They lie along no axis, whatever the user says.
bool has_own_axis(const std::string& format);

// SHA-256 over every field of the dialect's row that decides bits. The name must be known.
std::string rules_hash(const std::string& dialect);

// All keys of the metadata. mxcheck_version is the program that writes.
std::vector<std::pair<std::string, std::string>> metadata_of(const QuantizedFacts& facts,
                                                             const std::string& program_version);

// The inverse. `given` is what the user believes; "" in it is no belief. As error: metadata that
// are missing or damaged, that this version does not know, that contradict each other or `given`,
// or whose dialect has another definition here.
Expected<QuantizedFacts> read_facts(const data::TensorFile& file, const BlockNames& given);

}  // namespace mx::emulate
