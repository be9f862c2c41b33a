// See gemm_acceptance.hpp. The numbers in here are those projects'.
#include "conformance/mutants/gemm_acceptance.hpp"

#include <array>
#include <cmath>
#include <cstddef>

namespace mx::acceptance {
namespace {

struct Products {
    double both = 0, expected = 0, actual = 0;
};

Products products_of(const GemmEvidence& evidence) {
    Products sums;
    for (std::size_t i = 0; i < evidence.expected.size(); ++i) {
        const double x = evidence.expected[i], y = evidence.actual[i];
        sums.both += x * y;
        sums.expected += x * x;
        sums.actual += y * y;
    }
    return sums;
}

constexpr std::array known_of_gemm{
    GemmRule{"cosine-0.98", "flashinfer-ai/flashinfer:tests/gemm/test_mm_mxfp8.py, made stricter",
             [](const GemmEvidence& e) { return answer_of(cosine(e) > 0.98); }},
    GemmRule{"cosine-0.999", "the same, stricter still",
             [](const GemmEvidence& e) { return answer_of(cosine(e) > 0.999); }},
    GemmRule{"sqnr-22dB", "pytorch/pytorch:test/test_scaled_matmul_cuda.py",
             [](const GemmEvidence& e) { return answer_of(sqnr(e) > 22); }},
    GemmRule{"sqnr-80dB", "pytorch/ao:test/prototype/mx_formats/test_mx_mm.py",
             [](const GemmEvidence& e) { return answer_of(sqnr(e) >= 80); }},
    GemmRule{"allclose-8e-2", "pytorch/pytorch:test/test_scaled_matmul_cuda.py, grouped",
             [](const GemmEvidence& e) {
                 return answer_of(is_close(e, {8e-2, 8e-2}));
             }},
    GemmRule{"allclose-8e-3",
             "NVIDIA/TransformerEngine:tests/pytorch/nvfp4/test_nvfp4_gemm_exact.py",
             [](const GemmEvidence& e) {
                 return answer_of(is_close(e, {8e-3, 8e-3}));
             }},
    GemmRule{"calc_diff-1e-3", "deepseek-ai/DeepGEMM:deep_gemm/testing/numeric.py",
             [](const GemmEvidence& e) { return answer_of(calc_diff(e) < 1e-3); }},
};

}  // namespace

double cosine(const GemmEvidence& evidence) {
    const Products sums = products_of(evidence);
    return sums.both / std::sqrt(sums.expected * sums.actual);
}

double sqnr(const GemmEvidence& evidence) {
    double signal = 0, noise = 0;
    for (std::size_t i = 0; i < evidence.expected.size(); ++i) {
        const double error = evidence.expected[i] - evidence.actual[i];
        signal += evidence.expected[i] * evidence.expected[i];
        noise += error * error;
    }
    return 10 * std::log10(signal / noise);
}

double calc_diff(const GemmEvidence& evidence) {
    const Products sums = products_of(evidence);
    return 1 - 2 * sums.both / (sums.expected + sums.actual);
}

bool is_close(const GemmEvidence& evidence, const Tolerance& tolerance) {
    for (std::size_t i = 0; i < evidence.expected.size(); ++i) {
        const double x = evidence.expected[i], y = evidence.actual[i];
        // A comparison with NaN is false, and so is this.
        const bool is_near =
            std::fabs(y - x) <= tolerance.absolute + tolerance.relative * std::fabs(x);
        if (!is_near && x != y) return false;
    }
    return true;
}

std::span<const GemmRule> gemm_rules() {
    return known_of_gemm;
}

}  // namespace mx::acceptance
