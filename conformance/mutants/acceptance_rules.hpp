// Models of the rules by which other projects accept an MXFP8 quantizer, to show what each lets
// pass. Pure functions, written from those projects' tests and not runs of them. Used by the
// self-test; knows nothing of devices, formats or dialects.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace mx::acceptance {

// What one quantizer made of the inputs. All spans but `scales` have one entry an input.
struct Quantized {
    std::span<const std::uint8_t> scales;  // E8M0, one a block
    std::span<const std::uint8_t> codes;   // element codes: sign in bit 7, magnitude below
    std::span<const double> elements;      // the decoded codes
    std::span<const double> values;        // element * scale; NaN under a NaN scale
};

// The three views a rule may look at. Each rule uses its own part.
struct Evidence {
    std::span<const float> inputs;
    Quantized expected;
    Quantized actual;
};

enum class Answer { accepts, rejects };
constexpr Answer answer_of(bool is_accepted) {
    return is_accepted ? Answer::accepts : Answer::rejects;
}

// Scales equal; an element passes within 1e-2 absolute or relative, or if it is the neighbour code.
// The comparison is written so that a NaN on either side is no mismatch.
Answer transformer_engine(const Evidence& evidence);

// Signal to quantization noise of the dequantized values against the inputs at least 18 dB; an
// undefined ratio passes only when all is zero.
Answer torchao_sqnr(const Evidence& evidence);

// Every value finite, and the cosine between inputs and dequantized values above 0.98. FlashInfer
// looks at a matrix product; this is that product with an identity matrix, which is exact.
Answer flashinfer_cosine(const Evidence& evidence);

// Largest absolute difference between inputs and dequantized values at most 1.
Answer universal_max_error(const Evidence& evidence);

struct Rule {
    std::string_view name;
    std::string_view source;  // repository:path
    std::string_view inputs;  // what that project feeds it
    Answer (*judge)(const Evidence& evidence);
};

// The rules above, in that order.
std::span<const Rule> rules();

}  // namespace mx::acceptance
