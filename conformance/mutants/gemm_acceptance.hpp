// Models of the rules by which other projects accept a GEMM, to show what each lets pass: pure
// functions, written from those projects' tests and not runs of them. Used by the self-test; knows
// nothing of devices or formats.
#pragma once

#include <span>
#include <string_view>

#include "conformance/mutants/acceptance_rules.hpp"

namespace mx::acceptance {

// All outputs of one product: the exact sums, and what a device made of them.
struct GemmEvidence {
    std::span<const double> expected;
    std::span<const double> actual;
};

// <x, y> / (|x| |y|). NaN where a value is not finite or all are 0.
double cosine(const GemmEvidence& evidence);
// Of signal to noise, in decibels; infinite without noise.
double sqnr(const GemmEvidence& evidence);
// 1 - 2<x, y> / (<x, x> + <y, y>).
double calc_diff(const GemmEvidence& evidence);

struct Tolerance {
    double absolute, relative;
};
// Every |actual - expected| <= absolute + relative * |expected|.
bool is_close(const GemmEvidence& evidence, const Tolerance& tolerance);

struct GemmRule {
    std::string_view name;
    std::string_view source;  // repository:path
    Answer (*judge)(const GemmEvidence& evidence);
};
std::span<const GemmRule> gemm_rules();

}  // namespace mx::acceptance
