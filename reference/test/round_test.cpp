// Rounding, in both oracles: one body, two implementations, numbers typed by hand. The list of all
// values of a format, searched from end to end, is a third opinion on nearest-even.
#include <gtest/gtest.h>

#include "reference/exact/round.hpp"
#include "reference/fast/round.hpp"
#include "reference/spec/formats.hpp"

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

}  // namespace
}  // namespace mx
