// Rounding, in both oracles: one body, two implementations, numbers typed by hand. The list of all
// values of a format, searched from end to end, is a third opinion on nearest-even.
#include <gtest/gtest.h>

#include "reference/exact/round.hpp"
#include "reference/fast/round.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx {
namespace {

struct Mode {
    Rounding rounding = Rounding::nearest_even;
    Overflow overflow = Overflow::saturate;
};

// Both oracles' code for an f32 code; they must agree here too.
std::uint32_t rounded(const ElementFormat& format, std::uint32_t f32_bits, Mode mode = {}) {
    const std::uint32_t exact = exact::round(format, mode.rounding, mode.overflow,
                                             exact::decode(formats::f32, Code{f32_bits}))
                                    .bits;
    const std::uint32_t fast = fast::round(format, mode.rounding, mode.overflow,
                                           fast::unpack(formats::f32, Code{f32_bits}))
                                   .bits;
    EXPECT_EQ(exact, fast);
    return exact;
}

constexpr Mode overflowing{Rounding::nearest_even, Overflow::overflow};

TEST(Round, E4m3OverflowBorder) {
    EXPECT_EQ(rounded(formats::e4m3, 0x43E00000, overflowing), 0x7Eu);  // 448
    EXPECT_EQ(rounded(formats::e4m3, 0x43E80000, overflowing), 0x7Eu);  // 464: tie to even
    EXPECT_EQ(rounded(formats::e4m3, 0x43E80001, overflowing), 0x7Fu);  // beyond: NaN
    EXPECT_EQ(rounded(formats::e4m3, 0xC3E80001, overflowing), 0xFFu);
    EXPECT_EQ(rounded(formats::e4m3, 0x7F800000, overflowing), 0x7Fu);  // Inf
    EXPECT_EQ(rounded(formats::e4m3, 0xFF800000, overflowing), 0xFFu);
    EXPECT_EQ(rounded(formats::e4m3, 0x43E80001), 0x7Eu);
    EXPECT_EQ(rounded(formats::e4m3, 0x7F800000), 0x7Eu);
    EXPECT_EQ(rounded(formats::e4m3, 0xFF800000), 0xFEu);
}

TEST(Round, E5m2OverflowBorder) {
    EXPECT_EQ(rounded(formats::e5m2, 0x476FFFFF, overflowing), 0x7Bu);  // 61439.996
    EXPECT_EQ(rounded(formats::e5m2, 0x47700000, overflowing), 0x7Cu);  // 61440: tie, to Inf
    EXPECT_EQ(rounded(formats::e5m2, 0x47700000), 0x7Bu);
    EXPECT_EQ(rounded(formats::e5m2, 0x7F800000, overflowing), 0x7Cu);
    EXPECT_EQ(rounded(formats::e5m2, 0x7F800000), 0x7Bu);
}

TEST(Round, NanIsCanonicalWhateverItsSignAndPayload) {
    for (const std::uint32_t nan : {0x7FC00000u, 0xFFC00000u, 0x7F800001u, 0xFFFFFFFFu}) {
        EXPECT_EQ(rounded(formats::e4m3, nan), 0x7Fu);
        EXPECT_EQ(rounded(formats::e5m2, nan, overflowing), 0x7Fu);
    }
}

TEST(Round, UnderflowKeepsTheSign) {
    EXPECT_EQ(rounded(formats::e4m3, 0x3A800000), 0x00u);  // 2^-10: tie to 0
    EXPECT_EQ(rounded(formats::e4m3, 0xBA800000), 0x80u);
    EXPECT_EQ(rounded(formats::e4m3, 0x3A800001), 0x01u);
    EXPECT_EQ(rounded(formats::e4m3, 0x80000000), 0x80u);
    EXPECT_EQ(rounded(formats::e4m3, 0x80000001), 0x80u);
}

// 1.8125 lies half way between 1.75 (0x3E) and 1.875 (0x3F).
TEST(Round, EveryModeAtATie) {
    const std::uint32_t plus = 0x3FE80000, minus = 0xBFE80000;
    EXPECT_EQ(rounded(formats::e4m3, plus, {Rounding::nearest_even}), 0x3Eu);
    EXPECT_EQ(rounded(formats::e4m3, plus, {Rounding::nearest_away}), 0x3Fu);
    EXPECT_EQ(rounded(formats::e4m3, plus, {Rounding::toward_zero}), 0x3Eu);
    EXPECT_EQ(rounded(formats::e4m3, plus, {Rounding::toward_positive}), 0x3Fu);
    EXPECT_EQ(rounded(formats::e4m3, plus, {Rounding::toward_negative}), 0x3Eu);
    EXPECT_EQ(rounded(formats::e4m3, plus, {Rounding::away_from_zero}), 0x3Fu);
    EXPECT_EQ(rounded(formats::e4m3, minus, {Rounding::toward_positive}), 0xBEu);
    EXPECT_EQ(rounded(formats::e4m3, minus, {Rounding::toward_negative}), 0xBFu);
}

TEST(Round, DirectedModesKeepTheLargestValueBelowOverflow) {
    const Mode mode{Rounding::toward_zero, Overflow::overflow};
    EXPECT_EQ(rounded(formats::e5m2, 0x7F7FFFFF, mode), 0x7Bu);
    EXPECT_EQ(rounded(formats::e5m2, 0x7F800000, mode), 0x7Cu);  // Inf itself stays Inf
}

// The E8M0 byte of a float: dialects of conversion as CUDA's header documents them.
struct E8m0Row {
    std::uint32_t f32_bits;
    std::uint32_t up_saturating, up, down;
};
class E8m0Conversion : public testing::TestWithParam<E8m0Row> {};

TEST_P(E8m0Conversion, MatchesTheDocumentedByte) {
    const E8m0Row& row = GetParam();
    const Mode up_saturating{Rounding::toward_positive, Overflow::saturate};
    EXPECT_EQ(rounded(formats::e8m0, row.f32_bits, up_saturating), row.up_saturating);
    EXPECT_EQ(rounded(formats::e8m0, row.f32_bits, {Rounding::toward_positive, Overflow::overflow}),
              row.up);
    EXPECT_EQ(rounded(formats::e8m0, row.f32_bits, {Rounding::toward_zero, Overflow::overflow}),
              row.down);
}

INSTANTIATE_TEST_SUITE_P(
    CudaHeader, E8m0Conversion,
    testing::Values(E8m0Row{0x00000000, 0, 0, 0}, E8m0Row{0x00000001, 0, 0, 0},
                    E8m0Row{0x00400000, 0, 0, 0},  // 2^-127
                    E8m0Row{0x00400001, 1, 1, 0},  // 2^-127 + ulp
                    E8m0Row{0x00600000, 1, 1, 0},  // 1.5 * 2^-127
                    E8m0Row{0x3F800000, 127, 127, 127}, E8m0Row{0x3F800001, 128, 128, 127},
                    E8m0Row{0x3FA00000, 128, 128, 127}, E8m0Row{0x3FB60000, 128, 128, 127},
                    E8m0Row{0x3FC00000, 128, 128, 127}, E8m0Row{0x40400000, 129, 129, 128},
                    E8m0Row{0x7F000000, 254, 254, 254}, E8m0Row{0x7F000001, 254, 255, 254},
                    E8m0Row{0x7F7FFFFF, 254, 255, 254}, E8m0Row{0x7F800000, 254, 255, 255},
                    E8m0Row{0x7FC00000, 255, 255, 255}));

// The nearest value by search through all of them; ties to the even code.
std::uint32_t nearest_by_search(const ElementFormat& format, const exact::Rational& magnitude) {
    std::uint32_t best = 0;
    exact::Rational best_distance = magnitude;
    for (std::uint32_t code = 0; code <= format.code_max_finite(); ++code) {
        const exact::Rational value = exact::magnitude_of(format, code);
        const exact::Rational distance = value < magnitude ? magnitude - value : value - magnitude;
        if (distance < best_distance || (distance == best_distance && code % 2 == 0)) {
            best = code;
            best_distance = distance;
        }
    }
    return best;
}

TEST(Round, NearestEvenAgreesWithASearchThroughAllValues) {
    for (const ElementFormat& format : {formats::e4m3, formats::e5m2})
        for (std::uint32_t bits = 0; bits < 0x7C00; bits += 37) {
            const exact::Value value = exact::decode(formats::f16, Code{bits});
            EXPECT_EQ(exact::round(format, Rounding::nearest_even, Overflow::saturate, value).bits,
                      nearest_by_search(format, value.magnitude))
                << format.name << " of f16 code " << bits;
        }
}

// What device/abi/mx_device.h says of values beyond the largest, with OFP8's codes by hand: E4M3
// ends at 448 = 0x7E, E5M2 at 57344 = 0x7B, E2M1 at 6 = 0x07, and 480 and 65536 would be the next
// values.
struct Beyond {
    ElementFormat format;
    Rounding rounding;
    std::uint32_t input;  // binary32
    std::uint32_t saturating, overflowing;
};

TEST(AbiHeader, SaysWhatBecomesOfValuesBeyondTheLargest) {
    using R = Rounding;
    constexpr std::uint32_t infinity = 0x7F800000, minus = 0x80000000;
    constexpr std::uint32_t f450 = 0x43E10000, f464 = 0x43E80000, f480 = 0x43F00000;
    constexpr std::uint32_t f57345 = 0x47600100, f65536 = 0x47800000, f7 = 0x40E00000;
    const ElementFormat &e4m3 = formats::e4m3, &e5m2 = formats::e5m2, &e2m1 = formats::e2m1;
    for (const Beyond& b : {// It cannot be odd: 0x7E is even and the next code is no number.
                            Beyond{e4m3, R::to_odd, f450, 0x7E, 0x7E},
                            Beyond{e4m3, R::to_odd, f480, 0x7E, 0x7E},
                            Beyond{e4m3, R::to_odd, f450 | minus, 0xFE, 0xFE},
                            Beyond{e5m2, R::to_odd, f57345, 0x7B, 0x7B},
                            Beyond{e2m1, R::to_odd, f7, 7, 7},
                            Beyond{e4m3, R::toward_zero, f480, 0x7E, 0x7E},
                            Beyond{e5m2, R::toward_zero, f65536, 0x7B, 0x7B},
                            Beyond{e4m3, R::toward_positive, f450, 0x7E, 0x7F},
                            Beyond{e4m3, R::toward_positive, f480 | minus, 0xFE, 0xFE},
                            Beyond{e4m3, R::toward_negative, f480, 0x7E, 0x7E},
                            Beyond{e4m3, R::toward_negative, f450 | minus, 0xFE, 0xFF},
                            Beyond{e5m2, R::toward_positive, f57345, 0x7B, 0x7C},
                            Beyond{e5m2, R::toward_negative, f57345 | minus, 0xFB, 0xFC},
                            Beyond{e5m2, R::away_from_zero, f57345 | minus, 0xFB, 0xFC},
                            Beyond{e4m3, R::away_from_zero, f450, 0x7E, 0x7F},
                            Beyond{e4m3, R::nearest_even, f464, 0x7E, 0x7E},
                            Beyond{e4m3, R::nearest_away, f464, 0x7E, 0x7F},
                            Beyond{e4m3, R::nearest_toward_zero, f464, 0x7E, 0x7E},
                            Beyond{e2m1, R::toward_positive, f7, 7, 7},
                            Beyond{e2m1, R::away_from_zero, f7 | minus, 0xF, 0xF}}) {
        EXPECT_EQ(rounded(b.format, b.input, {b.rounding, Overflow::saturate}), b.saturating)
            << b.format.name << " " << std::hex << b.input;
        EXPECT_EQ(rounded(b.format, b.input, {b.rounding, Overflow::overflow}), b.overflowing)
            << b.format.name << " " << std::hex << b.input;
    }
    for (const auto& [name, rounding] : roundings) {
        if (rounding == Rounding::stochastic) continue;
        EXPECT_EQ(rounded(e4m3, infinity | minus, {rounding, Overflow::saturate}), 0xFEu) << name;
        EXPECT_EQ(rounded(e4m3, infinity | minus, {rounding, Overflow::overflow}), 0xFFu) << name;
        EXPECT_EQ(rounded(e5m2, infinity, {rounding, Overflow::saturate}), 0x7Bu) << name;
        EXPECT_EQ(rounded(e5m2, infinity, {rounding, Overflow::overflow}), 0x7Cu) << name;
        EXPECT_EQ(rounded(e2m1, infinity, {rounding, Overflow::overflow}), 7u) << name;
    }
}

TEST(AbiHeader, SaysThatANanOfConvertHasSign0) {
    const Quantizer& ocp = *find_quantizer("ocp");
    EXPECT_TRUE(ocp.leaves_open(Decision::nan_code));
    for (const std::uint32_t nan : {0x7FC00000u, 0xFFC00000u, 0x7F800001u, 0xFFFFFFFFu})
        for (const auto& [format, code] :
             {std::pair{formats::e4m3, 0x7Fu}, std::pair{formats::e5m2, 0x7Fu},
              std::pair{formats::e3m2, 0x1Fu}, std::pair{formats::e2m1, 0x07u}}) {
            const Code exact =
                exact::round_element(ocp, format, exact::decode(formats::f32, Code{nan}));
            EXPECT_EQ(exact.bits, code) << format.name;
            EXPECT_EQ(fast::round_element(ocp, format, fast::unpack(formats::f32, Code{nan})),
                      exact);
        }
}

}  // namespace
}  // namespace mx
