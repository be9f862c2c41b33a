// Rows of A and B written product by product: what the probes of gemm_probes.cpp and
// gemm_number_probes.cpp are made of.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "conformance/identify/gemm_probes.hpp"

namespace mx::identify {

// A number of few bits: mantissa / 4 * 2^exponent, the mantissa from 4 to 7 with a sign.
struct Small {
    int exponent;
    int quarters = 4;
};

inline Code code_of(const ElementFormat& format, Small value) {
    const bool negative = value.quarters < 0;
    const auto quarters = static_cast<std::uint32_t>(negative ? -value.quarters : value.quarters);
    std::uint32_t magnitude = 0;
    const int bits = format.mantissa_bits;
    const std::uint32_t fraction =
        bits >= 2 ? (quarters - 4) << (bits - 2) : (quarters - 4) >> (2 - bits);
    const int least = format.exponent_min();
    if (value.exponent >= least)
        magnitude = static_cast<std::uint32_t>(value.exponent - least + 1) << bits | fraction;
    else if (value.exponent >= least - bits)  // a power of two alone
        magnitude = 1u << (value.exponent - (least - bits));
    return negative ? format.negative(magnitude) : format.positive(magnitude);
}

class Rows {
public:
    Rows(const GemmProblem& setting, std::int64_t depth) : setting_(setting), depth_(depth) {}

    // Begins a new probe.
    Rows& probe(std::string about) {
        probes_.push_back({std::move(about),
                           std::vector<Code>(static_cast<std::size_t>(depth_)),
                           std::vector<Code>(static_cast<std::size_t>(depth_)),
                           {},
                           {}});
        return *this;
    }
    Rows& codes(std::int64_t k, Code a, Code b) {
        if (k < depth_) {
            probes_.back().a[static_cast<std::size_t>(k)] = a;
            probes_.back().b[static_cast<std::size_t>(k)] = b;
        }
        return *this;
    }
    // A product of that value, of factors as alike as can be.
    Rows& product(std::int64_t k, Small value) {
        const int least = setting_.a.element.exponent_min() + setting_.b.element.exponent_min();
        // Below what two normal numbers reach one of them is the smallest normal.
        int a = value.exponent >= 0 ? (value.exponent + 1) / 2 : -((-value.exponent) / 2);
        a = std::clamp(a,
                       std::max(setting_.a.element.exponent_min(),
                                value.exponent - setting_.b.element.exponent_max()),
                       setting_.a.element.exponent_max());
        if (value.exponent < least)
            a = std::max(value.exponent - setting_.b.element.exponent_min(),
                         setting_.a.element.quantum_exponent_min());
        return codes(k, code_of(setting_.a.element, {a, value.quarters}),
                     code_of(setting_.b.element, {value.exponent - a}));
    }
    Rows& addend(Code c) {
        probes_.back().c = c;
        probes_.back().beta = one_f32;
        return *this;
    }

    int largest() const {
        return setting_.a.element.exponent_max() + setting_.b.element.exponent_max();
    }
    int smallest() const {
        return std::max(
            setting_.a.element.quantum_exponent_min() + setting_.b.element.quantum_exponent_min(),
            -40);
    }
    const GemmProblem& setting() const { return setting_; }
    std::int64_t depth() const { return depth_; }
    GemmProbes& all() { return probes_; }

private:
    const GemmProblem& setting_;
    std::int64_t depth_;
    GemmProbes probes_;
};

// A power of two as the product of two scales, as alike as can be.
inline void set_scales(const GemmProblem& setting, GemmProbe& probe, std::size_t block,
                       int exponent) {
    const auto code = [](FactorScaling scaling, int power) {
        const ElementFormat& format = row_of(scaling).scale;
        if (format.has_zero()) return code_of(format, {power});
        return Code{static_cast<std::uint32_t>(power + format.exponent_bias)};
    };
    const int a = exponent / 2;
    probe.scales_a[block] = code(setting.a.scaling, a);
    probe.scales_b[block] = code(setting.b.scaling, exponent - a);
}

// The same for every block of the probe that was begun last.
inline void set_all_scales(Rows& rows, int exponent) {
    GemmProbe& probe = rows.all().back();
    const auto block = row_of(rows.setting().a.scaling).block;
    probe.scales_a.resize(static_cast<std::size_t>((rows.depth() + block - 1) / block));
    probe.scales_b = probe.scales_a;
    for (std::size_t i = 0; i < probe.scales_a.size(); ++i)
        set_scales(rows.setting(), probe, i, exponent);
}

// The large product that hides small ones, and those it hides: binary16 holds both.
inline int large_of(const Rows& rows) {
    return std::min(rows.largest() - 1, 15);
}
inline int hidden_of(const Rows& rows) {
    return std::max(large_of(rows) - 28, rows.setting().a.element.exponent_min() +
                                             rows.setting().b.element.exponent_min());
}

inline void append(GemmProbes& all, GemmProbes more) {
    for (GemmProbe& probe : more) all.push_back(std::move(probe));
}

// Families of finite numbers.
inline constexpr std::array finite_families{
    GemmData::uniform, GemmData::middle,     GemmData::positive, GemmData::zeros,
    GemmData::small,   GemmData::cancelling, GemmData::dominant, GemmData::zero_beside};

// A few rows of each.
inline void add_random(Rows& rows, std::size_t of_each, std::uint64_t seed) {
    for (const GemmData data : finite_families)
        append(rows.all(), random_probes(rows.setting(), rows.depth(), of_each, data, seed));
}

}  // namespace mx::identify
