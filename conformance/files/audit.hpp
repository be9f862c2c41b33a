// What a checkpoint holds: each quantized tensor with its format and conventions, what is
// suspicious in it and what is impossible. Used by mxcheck audit; prints nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/files/recognise.hpp"

namespace mx::files {

// Impossible: no quantizer writes this, or no reader can use it. Suspicious: a quantizer can, and
// it mostly means a mistake.
enum class Severity : std::uint8_t { suspicious, impossible };

struct Suspicion {
    Severity severity = Severity::suspicious;
    std::string what;
};

struct Counts {
    std::uint64_t elements = 0, blocks = 0;
    std::uint64_t saturated = 0;     // elements of the largest finite magnitude
    std::uint64_t nan_elements = 0;  // infinities count
    std::uint64_t wrong_codes = 0;   // bytes that are no code
    std::uint64_t dead_blocks = 0;   // of zeros alone, under a scale that is not the smallest
    std::uint64_t zero_blocks = 0;   // of zeros alone
    std::uint64_t nan_scales = 0;
    std::uint64_t negative_scales = 0;
    std::uint64_t zero_scales = 0;    // over elements that are not all zero
    std::uint64_t lowest_scales = 0;  // of the smallest finite code, over elements not all zero
    std::uint64_t highest_scales = 0;
    std::uint64_t pads = 0;  // bytes of scales that belong to no block and are not zero
    double amax = 0;         // of all finite values, without the number of the tensor
    std::uint32_t scale_min = 0, scale_max = 0;  // finite codes by value
};

struct AuditedTensor {
    std::string name;
    std::string format;  // "" of a tensor whose parts do not fit
    std::string convention;
    std::string source;  // where the convention was read
    std::int64_t rows = 0, columns = 0;
    std::vector<std::string> layout;  // in words: order of nibbles, of scales, the global scale
    Counts counts;
    std::vector<Suspicion> suspicions;
};

struct Audit {
    std::vector<AuditedTensor> tensors;
    std::vector<std::pair<std::string, std::uint64_t>> others;  // types, and how many have them

    bool has_impossible() const;
};

Expected<Audit> audit_of(const Recognised& file);

// As error: a file that cannot be read.
Expected<Audit> audit(const std::string& path, const std::string& elements_format = "");

}  // namespace mx::files
