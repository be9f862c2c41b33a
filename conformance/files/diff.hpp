// Two files of quantized tensors held against each other: equal bytes, equal values in another
// encoding, or what explains the difference. Used by mxcheck diff; prints nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/files/compare.hpp"
#include "conformance/files/predict.hpp"
#include "conformance/files/recognise.hpp"

namespace mx::files {

enum class Verdict : std::uint8_t {
    equal_bytes,
    equal_values,  // in another encoding
    explained,     // different, and one cause explains every block
    different,
};
std::string_view name_of(Verdict verdict);

struct Cause {
    std::string text;             // what would be so
    std::uint64_t explained = 0;  // of the blocks that differ
    std::uint64_t parted = 0;     // blocks that would differ under it, and are equal as they are
};

struct TensorDiff {
    std::string name;
    std::string format_a, format_b;  // with the convention
    Shape a, b;
    std::int64_t block = 32;
    Verdict verdict = Verdict::equal_bytes;
    Comparison counts;                // as the tensors are read; none of equal bytes
    std::vector<std::string> notes;   // of encodings: "another scale and elements that make up"
    std::vector<Cause> causes;        // the best first
    std::string witness;              // the first block that differs
    std::vector<std::string> origin;  // with the original: who follows which dialect
};

struct FileDiff {
    std::vector<TensorDiff> tensors;
    std::vector<std::string> only_a, only_b;
    std::uint64_t plain_equal = 0;             // tensors that are not quantized, of equal bytes
    std::vector<std::string> plain_different;  // or not

    bool has_equal_bytes() const;
    bool has_equal_values() const;  // equal bytes count
};

struct DiffRequest {
    std::string a = {}, b = {};
    std::string tensor = {};        // "": all
    std::string other_tensor = {};  // its name in B, where it is another
    std::string original = {};      // "": none
    std::string elements = {};      // an element format, where the files do not say
};

// As error: a file that cannot be read, or a tensor that is not there.
Expected<FileDiff> diff(const DiffRequest& request);

}  // namespace mx::files
