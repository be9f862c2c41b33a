// Blocks whose scale has a mantissa: every bit that is expected of them is confirmed by the exact
// oracle, the number of the tensor is judged, and what a source leaves open is a deviation.
#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>

#include "conformance/run/test/evidence_of.hpp"
#include "reference/spec/hadamard.hpp"

namespace mx {
namespace {

// One NaN is as good as any other, in values and in scales of binary32.
std::uint64_t parted(const Evidence& e) {
    std::uint64_t count = 0;
    for (const CodeTensor& output : e.expected) {
        const auto* type = std::ranges::find(input_types, output.type);
        for (std::size_t i = 0; i < output.count(); ++i) {
            const Code expected{output.at(i)}, actual{output.at(i) ^ 1};
            const bool are_nan = type != input_types.end() &&
                                 find_element_format(*type)->is_nan(expected) &&
                                 find_element_format(*type)->is_nan(actual);
            count += are_nan ? 0 : 1;
        }
    }
    return count;
}

void expect_all_confirmed(const std::string& text) {
    if (!parse_case(text)) return;  // the row does not do that
    const Evidence e = wrong_everywhere(text);
    const Classified result = classified(e, ~std::uint64_t{0});
    EXPECT_EQ(result.disagreement, "") << text;
    EXPECT_EQ(result.elements + result.scales, parted(e)) << text;
}

// Calls `ask` with "quantize format=F dialect=D" for every row of these.
template <typename Ask>
void for_each_row(const std::string& operation, const Ask& ask) {
    for (const Quantizer& row : real_scale_quantizers)
        for (const BlockFormat& format : real_scale_formats)
            if (row.quantizes(format))
                ask(operation + " format=" + std::string(format.name) +
                    " dialect=" + std::string(row.name));
}

TEST(RealScale, QuantizeIsConfirmedWhereverItsBordersLie) {
    for_each_row("quantize", [](const std::string& row) {
        for (const std::string data : {"edge.tie", "edge.scale", "edge.special"})
            expect_all_confirmed(row + " input=bf16 shape=1x64 index=37 data=" + data);
    });
}

TEST(RealScale, QuantizeIsConfirmedUnderEveryNumberOfTheTensor) {
    for_each_row("quantize", [](const std::string& row) {
        for (const std::string number : {"0x00000000", "0x00000001", "0x007fffff", "0x3dcccccd",
                                         "0x45280000", "0x7f7fffff", "0x7f800000", "0x7fc00000"})
            for (const std::string data : {"edge.special", "random.spread"})
                expect_all_confirmed(row + " input=bf16 shape=1x32 index=3 tensor=" + number +
                                     " data=" + data);
    });
}

TEST(RealScale, ColumnsAreConfirmed) {
    for (const std::string dialect : {"te-nvfp4", "te-nvfp4-sr", "torchao-nvfp4"})
        expect_all_confirmed(
            "quantize format=nvfp4 axis=col shape=19x13 data=random.spread dialect=" + dialect);
}

TEST(RealScale, DequantizeIsConfirmed) {
    for_each_row("dequantize", [](const std::string& row) {
        for (const std::string type : {"f32", "bf16", "f16"})
            expect_all_confirmed(row + " output=" + type + " shape=5x67 data=codes.random");
        expect_all_confirmed(row + " tensor=0x40490fdb shape=5x67 data=codes.all");
    });
}

TEST(RealScale, AWrongNumberOfTheTensorIsAScaleAtNoPlace) {
    Evidence e = evidence_of("quantize format=nvfp4 dialect=torchao-nvfp4", f32_codes({6, 1}));
    ASSERT_EQ(e.actual.size(), 3u);
    e.actual[2].set(0, e.actual[2].at(0) + 1);
    const results::Mismatch m = only(e);
    EXPECT_EQ(m.mismatch_class, "scale");
    EXPECT_EQ(m.direction, "the number of the tensor, +1 code");
    EXPECT_EQ(m.expected_scale, "0x3b124925");  // 6 / 2688, rounded
    EXPECT_EQ(m.actual_scale, "0x3b124926");
    EXPECT_EQ(m.input_bits, "");
    EXPECT_EQ(m.open_decision, "");
    EXPECT_EQ(classified(e).scales, 1u);
}

std::uint64_t binding(Evidence e, std::uint32_t scale, const std::vector<std::uint32_t>& elements) {
    e.actual[1].set(0, scale);
    for (std::size_t i = 0; i < elements.size(); ++i) e.actual[0].set(i, elements[i]);
    std::uint64_t count = 0;
    for (const results::Mismatch& m : classified(e).mismatches)
        if (m.open_decision.empty()) count += m.count;
    return count;
}

// "amax / FP8max" is all that this source says of a scale: not its type, not its rounding.
TEST(RealScale, AnElementFollowsTheScaleWhosePrecisionIsOpen) {
    const Evidence e =
        evidence_of("quantize format=fp8-e4m3-1x16 dialect=nexus", f32_codes({448, 1}));
    ASSERT_EQ(e.expected[1].at(0), 0x3F800000u);
    EXPECT_EQ(binding(e, 0x3F800000, {0x7E, 0x38}), 0u);
    EXPECT_EQ(binding(e, 0x40000000, {0x76, 0x30}), 0u);
    EXPECT_EQ(binding(e, 0x40000000, {0x76, 0x31}), 1u);
    EXPECT_EQ(binding(e, 0x3F800000, {0x7E, 0x39}), 1u);
}

// A block of bf16 lanes, rotated, of a tensor whose amax is 2688: S is 1.
Evidence rotated(const std::vector<std::uint32_t>& lanes) {
    CodeTensor input = make_tensor("bf16", 1, 16);
    for (std::size_t i = 0; i < lanes.size(); ++i) input.set(i, lanes[i]);
    return right_answer(
        "quantize format=nvfp4 dialect=te-nvfp4-rht input=bf16 data=random.bits shape=1x16 "
        "tensor=0x45280000",
        {std::move(input)});
}

std::uint64_t binding_lane(Evidence e, std::size_t lane, std::uint32_t element) {
    e.actual[0].set(lane, element);
    return binding(e, e.actual[1].at(0), {});
}

// Lane 0 is (a + b + c) / 4, where a + b is half way between two bfloat16 numbers and c, 2^-40,
// decides: the lower of them is half way between elements 4 and 6. Lane 2 is (a + b - c) / 4.
TEST(RealScale, ARotationIsOpenOnlyToWhatSomeOrderOfItsSumsGives) {
    const std::uint32_t a = 0x3D20, b = 0x3900, c = 0x2B80, four = 0x6, six = 0x7, minus = 0x8;
    const Evidence open = rotated({a, b, c});
    ASSERT_EQ(open.expected[0].at(0), six);
    ASSERT_EQ(open.expected[0].at(1), four);
    ASSERT_EQ(open.expected[0].at(2), four);
    EXPECT_EQ(binding_lane(open, 0, four), 0u);
    EXPECT_EQ(binding_lane(open, 2, six), 0u);
    EXPECT_EQ(binding_lane(open, 1, six), 1u);  // a - b + c is no tie
    for (const std::uint32_t element : {0x5u, minus | six, minus | four, 0u})
        EXPECT_EQ(binding_lane(open, 0, element), 1u) << element;
    EXPECT_EQ(binding(open, open.expected[1].at(0) + 1, {}), 1u);  // no order gives this amax
    EXPECT_EQ(binding_lane(rotated({a, b}), 0, six), 1u);          // every order is exact
}

enum class Adding { upwards, downwards, in_pairs, cut };

float added(float left, float right, Adding adding) {
    const double sum = static_cast<double>(left) + static_cast<double>(right);  // exact here
    const auto rounded = static_cast<float>(sum);
    const bool is_beyond = std::abs(static_cast<double>(rounded)) > std::abs(sum);
    return adding == Adding::cut && is_beyond ? std::nextafter(rounded, 0.0f) : rounded;
}

float sum_of(std::vector<float> terms, Adding adding) {
    if (adding == Adding::downwards) std::ranges::reverse(terms);
    for (std::size_t step = 1; adding == Adding::in_pairs && step < terms.size(); step *= 2)
        for (std::size_t i = 0; i + step < terms.size(); i += 2 * step)
            terms[i] = added(terms[i], terms[i + step], adding);
    if (adding == Adding::in_pairs) return terms[0];
    float sum = 0;
    for (const float term : terms) sum = added(sum, term, adding);
    return sum;
}

// The lanes of a block as a unit rotates them that adds so, in codes of bf16.
std::vector<std::uint32_t> rotated_by(Adding adding, const std::vector<std::uint32_t>& lanes) {
    std::vector<std::uint32_t> codes;
    for (int to = 0; to < hadamard_size; ++to) {
        std::vector<float> terms;
        for (int from = 0; from < hadamard_size; ++from) {
            const float lane = std::bit_cast<float>(lanes[static_cast<std::size_t>(from)] << 16);
            terms.push_back(hadamard_subtracts(from, to) ? -lane : lane);
        }
        const Code sum{std::bit_cast<std::uint32_t>(sum_of(terms, adding) / 4)};
        codes.push_back(fast::round(formats::bf16, Rounding::nearest_even, Overflow::overflow,
                                    fast::unpack(formats::f32, sum))
                            .bits);
    }
    return codes;
}

// Beside the tie of the test before, 14 lanes of some ulps of their sum, or far below.
TEST(RealScale, WhateverOrderAUnitAddsInNoneOfItsBitsIsBinding) {
    std::uint64_t differing = 0;
    std::uint32_t random = 1;
    for (int block = 0; block < 200; ++block)
        for (const Adding adding :
             {Adding::upwards, Adding::downwards, Adding::in_pairs, Adding::cut}) {
            std::vector<std::uint32_t> lanes{0x3D20, 0x3900};
            while (lanes.size() < 16) {
                random = random * 1664525 + 1013904223;
                lanes.push_back(0x2B80 + (random >> 16 & 0x87FF));
            }
            Evidence e = rotated(lanes);
            CodeTensor input = make_tensor("bf16", 1, 16);
            const std::vector<std::uint32_t> codes = rotated_by(adding, lanes);
            for (std::size_t i = 0; i < codes.size(); ++i) input.set(i, codes[i]);
            e.actual = right_answer(
                           "quantize format=nvfp4 dialect=te-nvfp4 input=bf16 shape=1x16 "
                           "data=random.bits tensor=0x45280000",
                           {std::move(input)})
                           .expected;
            for (const results::Mismatch& m : classified(e).mismatches) {
                differing += m.count;
                EXPECT_EQ(m.open_decision, "transform_order");
            }
        }
    EXPECT_GT(differing, 100u);
}

TEST(RealScale, AnInfinityThatIsRotatedKeepsItsSigns) {
    const Evidence e = rotated({0x7F80});
    ASSERT_EQ(e.expected[1].at(0), 0x7Eu);
    EXPECT_EQ(binding(e, 0x00, {}), 0u);  // not the amax: a block of zeros
    EXPECT_EQ(binding(e, 0x55, {}), 1u);
    EXPECT_EQ(binding_lane(e, 0, e.expected[0].at(0) ^ 0x8), 1u);
    EXPECT_EQ(binding_lane(e, 0, 0x0), 1u);
}

// The same tie in a tensor that is one block and derives its number, which lane 0 decides.
TEST(RealScale, ADerivedNumberIsOpenToWhatSomeOrderOfRotatedSumsGives) {
    const auto answered = [](const std::string& dialect, const std::vector<std::uint32_t>& lanes) {
        CodeTensor input = make_tensor("bf16", 1, 16);
        for (std::size_t i = 0; i < lanes.size(); ++i) input.set(i, lanes[i]);
        return right_answer(
            "quantize format=nvfp4 dialect=" + dialect + " input=bf16 data=random.bits shape=1x16",
            {std::move(input)});
    };
    const auto binding = [](const Evidence& e) {
        std::uint64_t count = 0;
        for (const results::Mismatch& m : classified(e).mismatches)
            if (m.open_decision.empty()) count += m.count;
        return count;
    };
    std::vector<std::uint32_t> lanes{0x3D20, 0x3900, 0x2B80};
    lanes.resize(16);
    Evidence e = answered("te-nvfp4-rht", lanes);
    e.actual = answered("te-nvfp4", rotated_by(Adding::upwards, lanes)).expected;
    ASSERT_NE(e.actual[2].at(0), e.expected[2].at(0));
    EXPECT_EQ(binding(e), 0u);
    Evidence other = e;  // a number that no order gives
    other.actual[2].set(0, e.actual[2].at(0) + 0x100000);
    EXPECT_GT(binding(other), 0u);
    other = e;  // an element that does not follow
    other.actual[0].set(0, e.actual[0].at(0) ^ 8);
    EXPECT_EQ(binding(other), 1u);
}

// Zeros but for the largest bfloat16 at these places; 2^-40 in lane 13 opens the order.
Evidence rotated_giants(std::initializer_list<std::size_t> places) {
    std::vector<std::uint32_t> lanes(16);
    for (const std::size_t place : places) lanes[place] = 0x7F7F;
    lanes[13] = 0x2B80;
    return rotated(lanes);
}

TEST(RealScale, ASumThatOverflowsInSomeOrderOpensItsOwnLaneAlone) {
    const std::uint32_t six = 0x7, four = 0x6, minus_six = 0xF, nan_scale = 0x7F;
    // A quarter of each is added: two, of which no order overflows.
    const Evidence two = rotated_giants({0, 1});
    ASSERT_EQ(two.expected[0].at(0), six);
    EXPECT_EQ(binding_lane(two, 0, minus_six), 1u);
    EXPECT_EQ(binding(two, nan_scale, {}), 1u);
    // Lane 0 adds all five, which is Inf; lane 1 adds three and subtracts two.
    const Evidence five = rotated_giants({0, 1, 2, 4, 11});
    ASSERT_EQ(five.expected[0].at(0), six);
    ASSERT_EQ(five.expected[0].at(1), six);
    for (const std::size_t lane : {0u, 1u})
        for (const std::uint32_t element : {four, minus_six})
            EXPECT_EQ(binding_lane(five, lane, element), 1u) << lane;
    EXPECT_EQ(binding(five, nan_scale, {}), 1u);
}

// Lane 0 adds five and subtracts five: Inf - Inf if these are added first. Lane 1 adds six and
// subtracts four, which alone are finite.
TEST(RealScale, SumsOfBothSignsThatOverflowMayBeNan) {
    const std::uint32_t six = 0x7, minus_six = 0xF, nan_scale = 0x7F;
    const Evidence e = rotated_giants({0, 1, 2, 4, 11, 3, 5, 6, 7, 8});
    EXPECT_EQ(binding_lane(e, 0, six), 0u);
    EXPECT_EQ(binding_lane(e, 0, minus_six), 0u);
    ASSERT_EQ(e.expected[0].at(1), six);
    EXPECT_EQ(binding_lane(e, 1, minus_six), 1u);
    EXPECT_EQ(binding(e, nan_scale, std::vector<std::uint32_t>(16, six)), 0u);
    EXPECT_GT(binding(e, nan_scale, std::vector<std::uint32_t>(16, minus_six)), 0u);
}

// The same ten alone: their sums have few digits, and overflow in some orders all the same.
TEST(RealScale, SumsOfFewDigitsThatOverflowMayBeNanToo) {
    const std::uint32_t six = 0x7, nan_scale = 0x7F;
    std::vector<std::uint32_t> lanes(16);
    for (const std::size_t place : {0u, 1u, 2u, 4u, 11u, 3u, 5u, 6u, 7u, 8u}) lanes[place] = 0x7F7F;
    EXPECT_EQ(binding(rotated(lanes), nan_scale, std::vector<std::uint32_t>(16, six)), 0u);
}

TEST(RealScale, ANanThatIsRotatedMayOrMayNotBeTheAmax) {
    const Evidence e = rotated({0x7FC0});
    ASSERT_EQ(e.expected[1].at(0), 0x00u);
    EXPECT_EQ(binding(e, 0x7F, {}), 0u);
    EXPECT_EQ(binding(e, 0x7F, {0x0}), 1u);
    EXPECT_EQ(binding(e, 0x38, {}), 1u);
}

}  // namespace
}  // namespace mx
