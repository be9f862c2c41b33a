// Rules of acceptance in use elsewhere; see the header. The numbers in here are theirs.
#include "conformance/mutants/acceptance_rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace mx::acceptance {
namespace {

// Codes counted from zero, negative ones downwards, so that neighbours differ by one.
int position(std::uint8_t code) {
    const int magnitude = code & 0x7F;
    return (code & 0x80) != 0 ? -magnitude : magnitude;
}

struct Element {
    double value;
    std::uint8_t code;
};

bool are_neighbours(const Element& left, const Element& right) {
    return std::isfinite(left.value) && std::isfinite(right.value) &&
           std::abs(position(left.code) - position(right.code)) <= 1;
}

bool element_passes(const Element& actual, const Element& expected) {
    constexpr double absolute = 1e-2, relative = 1e-2;
    const double difference = actual.value - expected.value;
    // Comparisons with NaN are false, so these two say "too far" of numbers only.
    const bool is_far = std::fabs(difference) > absolute;
    const bool is_relatively_far = std::fabs(difference / expected.value) > relative;
    return !(is_far && is_relatively_far) || are_neighbours(actual, expected);
}

bool all_zero(const Evidence& evidence) {
    const auto zero = [](double value) { return value == 0; };
    return std::all_of(evidence.inputs.begin(), evidence.inputs.end(), zero) &&
           std::all_of(evidence.actual.values.begin(), evidence.actual.values.end(), zero);
}

constexpr std::array known{
    Rule{"transformer-engine",
         "NVIDIA/TransformerEngine:tests/cpp/test_common.cu, "
         "tests/cpp/operator/test_cast_mxfp8.cu",
         "uniform in [-2, 1)", transformer_engine},
    Rule{"torchao-sqnr", "pytorch/ao:test/prototype/mx_formats/test_mx_tensor.py",
         "normal, bfloat16", torchao_sqnr},
    Rule{"flashinfer-cosine", "flashinfer-ai/flashinfer:tests/gemm/test_mm_mxfp8.py",
         "normal, bfloat16", flashinfer_cosine},
    Rule{"universal-max-error",
         "stillwater-sc/universal:static/block/mxfloat/conversion/quantize_fp8.cpp",
         "one linear ramp", universal_max_error},
};

}  // namespace

Answer transformer_engine(const Evidence& evidence) {
    const Quantized& expected = evidence.expected;
    const Quantized& actual = evidence.actual;
    if (!std::ranges::equal(actual.scales, expected.scales)) return Answer::rejects;
    for (std::size_t i = 0; i < evidence.inputs.size(); ++i)
        if (!element_passes({actual.elements[i], actual.codes[i]},
                            {expected.elements[i], expected.codes[i]}))
            return Answer::rejects;
    return Answer::accepts;
}

Answer torchao_sqnr(const Evidence& evidence) {
    constexpr double threshold = 18.0;
    double signal = 0, noise = 0;
    for (std::size_t i = 0; i < evidence.inputs.size(); ++i) {
        const double input = static_cast<double>(evidence.inputs[i]);
        const double error = input - evidence.actual.values[i];
        signal += input * input;
        noise += error * error;
    }
    const double decibels = 10 * std::log10(signal / noise);
    if (std::isnan(decibels)) return answer_of(all_zero(evidence));
    return answer_of(decibels >= threshold);
}

Answer flashinfer_cosine(const Evidence& evidence) {
    constexpr double threshold = 0.98;
    double product = 0, input_square = 0, value_square = 0;
    for (std::size_t i = 0; i < evidence.inputs.size(); ++i) {
        const double input = static_cast<double>(evidence.inputs[i]);
        const double value = evidence.actual.values[i];
        product += input * value;
        input_square += input * input;
        value_square += value * value;
    }
    // Without a direction, or with a value that is not finite, this is NaN and above nothing.
    return answer_of(product / std::sqrt(input_square * value_square) > threshold);
}

Answer universal_max_error(const Evidence& evidence) {
    double largest = 0;
    for (std::size_t i = 0; i < evidence.inputs.size(); ++i) {
        const double error = static_cast<double>(evidence.inputs[i]) - evidence.actual.values[i];
        if (std::fabs(error) > largest) largest = std::fabs(error);
    }
    return answer_of(largest <= 1.0);
}

std::span<const Rule> rules() {
    return known;
}

}  // namespace mx::acceptance
