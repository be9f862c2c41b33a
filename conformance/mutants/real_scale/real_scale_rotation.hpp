// The Hadamard transform of 16 numbers of bfloat16 with signs of its own, as TransformerEngine has
// it: exact sums, in a register of fixed point, rounded once to bfloat16. Bugs of it are planted
// here.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "conformance/mutants/mutant_elements.hpp"
#include "conformance/mutants/real_scale/real_scale_bug.hpp"

namespace mx::mutants::real_scale {

inline constexpr std::size_t rotated_lanes = 16;
using Lanes = std::array<float, rotated_lanes>;

// Counts units of 2^-135, a quarter of the smallest bfloat16. Digits of 32 bits, the lowest first,
// which may hold more until they are carried.
class FixedPoint {
public:
    static constexpr int lowest = -135;

    void add(double term) {
        if (term == 0) return;
        const int exponent = std::max(std::ilogb(term) - 7, lowest);
        const double units = times_power_of_two(term, -exponent);
        const auto shift = static_cast<std::size_t>(exponent - lowest);
        digits_[shift / 32] += static_cast<std::int64_t>(units) * (std::int64_t{1} << shift % 32);
    }

    // The sum to 32 bits and more, the last of which says whether anything was cut off.
    double sum() {
        carry();
        const bool is_negative = digits_.back() < 0;
        if (is_negative) {
            for (std::int64_t& digit : digits_) digit = -digit;
            carry();
        }
        std::size_t top = digits_.size() - 1;
        while (top > 1 && digits_[top] == 0) --top;
        auto head = static_cast<std::uint64_t>(digits_[top]) << 32 |
                    static_cast<std::uint64_t>(digits_[top - 1]);
        for (std::size_t i = 0; i + 1 < top; ++i) head |= digits_[i] != 0 ? 1 : 0;
        if (head >> 53 != 0) head = head >> 11 << 11 | ((head & 0x7FF) != 0 ? 0x800 : 0);
        const double magnitude =
            times_power_of_two(static_cast<double>(head), static_cast<int>(top - 1) * 32 + lowest);
        return is_negative ? -magnitude : magnitude;
    }

private:
    void carry() {
        for (std::size_t i = 0; i + 1 < digits_.size(); ++i) {
            digits_[i + 1] += digits_[i] >> 32;
            digits_[i] &= 0xFFFFFFFF;
        }
    }

    std::array<std::int64_t, 9> digits_{};
};

inline float rotated_lane(const std::array<double, rotated_lanes>& terms, std::size_t to) {
    FixedPoint exact;
    double plain = 0, half = 0;
    for (std::size_t from = 0; from < terms.size(); ++from) {
        const double term = std::popcount(from & to) % 2 == 0 ? terms[from] : -terms[from];
        plain += term;
        if (from == 7) half = plain;
        if (std::isfinite(term)) exact.add(term);
    }
    if (!std::isfinite(plain)) return static_cast<float>(plain);
    if (has(Bug::rotation_rounded_between))
        return static_cast<float>(through_bf16(through_bf16(half) + through_bf16(plain - half)));
    return static_cast<float>(through_bf16(exact.sum()));
}

inline void rotate(Lanes& lanes) {
    constexpr std::uint32_t negative = 0b1101'0111'1110'1000;  // lane 0 is the lowest bit
    const std::uint32_t signs = has(Bug::rotation_sign_of_lane_7) ? negative ^ 0x80 : negative;
    std::array<double, rotated_lanes> terms{};
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        const double lane = static_cast<double>(lanes[i]) / 4;
        terms[i] = (signs >> i & 1) != 0 ? -lane : lane;
    }
    for (std::size_t to = 0; to < lanes.size(); ++to) {
        lanes[to] = rotated_lane(terms, to);
        if (has(Bug::rotation_not_halved_again)) lanes[to] *= 2;
    }
}

}  // namespace mx::mutants::real_scale
