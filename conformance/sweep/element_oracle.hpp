// What the fast oracle says to neighbouring codes of f32 under one scale, by the rules of a row of
// element_kernels.hpp. Used by the kernels of device_elements.cu and, on the host, by their test.
#pragma once

#include <cstdint>

#include "reference/fast/block.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::sweep {

// Neighbouring codes of one thread. Nearly always they have one exponent and one width: under each
// scale they are then rounded by one target.
inline constexpr std::uint32_t group = 16;

// A code and its neighbour under a scale. Their elements are written with the first in the low
// byte.
struct Pair {
    std::uint32_t code;
    std::uint32_t scale;
};

MX_FOLDED constexpr bool is_rounded(const fast::Unpacked& value) {
    return value.kind == fast::Kind::finite && value.significand != 0;
}

// Magnitudes of neighbouring codes grow, so the first and the last stand for those between them.
MX_FOLDED constexpr bool are_alike(const fast::Unpacked& first, const fast::Unpacked& last) {
    return is_rounded(first) && is_rounded(last) && first.exponent == last.exponent &&
           fast::bit_width(first.significand) == fast::bit_width(last.significand);
}

// Rows are template arguments only so that the compiler can fold them.
template <std::size_t Row, std::size_t Format>
struct ElementOracle {
    MX_FOLDED static constexpr fast::Unpacked value(std::uint32_t code) {
        constexpr Quantizer dialect = e8m0_quantizers[Row];
        constexpr ElementFormat f32 = formats::f32;
        return fast::read_input(dialect.subnormals, f32, Code{code});
    }

    MX_FOLDED static constexpr fast::Unpacked scaled(const fast::Unpacked& value,
                                                     std::uint32_t scale) {
        constexpr Quantizer dialect = e8m0_quantizers[Row];
        constexpr BlockFormat format = mx_block_formats[Format];
        return fast::scaled(dialect, format, Code{scale}, value);
    }

    MX_FOLDED static constexpr std::uint32_t element(Pair place) {
        constexpr Quantizer dialect = e8m0_quantizers[Row];
        constexpr BlockFormat format = mx_block_formats[Format];
        return fast::quantize_element(dialect, format, Code{place.scale}, value(place.code)).bits;
    }
    MX_FOLDED static constexpr std::uint32_t elements(Pair pair) {
        return element(pair) | element({pair.code + 1, pair.scale}) << 8;
    }

    // The same in the two steps of fast::round, the first of which alike values share. Nothing
    // follows on them by these rows: see rounds_like_the_device. `first` is scaled.
    MX_FOLDED static constexpr fast::Target target(const fast::Unpacked& first) {
        constexpr Quantizer dialect = e8m0_quantizers[Row];
        constexpr ElementFormat to = mx_block_formats[Format].element();
        return fast::target_of(to, dialect.element_overflow,
                               {dialect.element_rounding, {}, first.negative},
                               {first.exponent, fast::bit_width(first.significand)});
    }
    MX_FOLDED static constexpr std::uint32_t elements(const fast::Target& target,
                                                      std::uint32_t significand) {
        constexpr ElementFormat to = mx_block_formats[Format].element();
        return fast::round_to(to, target, significand).bits |
               fast::round_to(to, target, significand + 1).bits << 8;
    }
};

}  // namespace mx::sweep
