// Holds the designed families against the exact oracle: edge.tie has both sides of every border
// between element codes, edge.scale of every border between scales, and every special value stands
// in every lane. Shares no arithmetic with the families, which ask the fast oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "conformance/data/test/case_of.hpp"
#include "reference/exact/preimage.hpp"

namespace mx {
namespace {

using Codes = std::set<std::uint32_t>;

// Lanes of all blocks that have one amax, and so one scale.
struct ScaleGroup {
    std::uint32_t amax = 0;
    Codes codes;
};

std::map<std::uint32_t, ScaleGroup> groups_of(const Case& c) {
    std::map<std::uint32_t, ScaleGroup> groups;
    const auto source = open_data(c);
    std::map<std::uint32_t, std::uint32_t> scales;  // by amax: the oracle is slow
    for (std::uint64_t i = 0; i < source->size(); ++i) {
        const BlockData data = source->block(i);
        const std::uint32_t amax = largest_of(data, c.type);
        const auto [known, is_new] = scales.try_emplace(amax, 0);
        if (is_new) known->second = exact_scale(c, amax);
        ScaleGroup& group = groups[known->second];
        // Blocks of zeros, or of so little that it is divided down to 0, may be given the scale of
        // ordinary blocks, which come later; they have no borders.
        if (group.amax < amax &&
            (group.amax == 0 || exact_scale(c, group.amax + 1) != known->second))
            group.codes.clear();
        EXPECT_TRUE(group.codes.empty() || group.amax == amax) << "two amaxes for one scale";
        group.amax = amax;
        group.codes.insert(data.lanes.begin(), data.lanes.end());
    }
    return groups;
}

// The input code of a value, or of the next one toward zero.
exact::Rounded toward_zero(const exact::Rational& magnitude, const ElementFormat& input) {
    exact::Value value;
    value.magnitude = magnitude;
    return exact::round_with_reasons(input, Rounding::toward_zero, Overflow::saturate, value);
}

// The scales at both ends of every binade of the input and where the element's largest value lies
// in it: a ratio to that value which must not be subnormal reaches one scale there alone. No rule
// skips one in between.
Codes reachable_scales(const Case& c) {
    const ElementFormat& input = c.type;
    const ElementFormat& element = c.format->element();
    const exact::Rational largest = exact::magnitude_of(element, element.code_max_finite());
    const std::uint32_t of_largest =
        toward_zero(largest, input).code_below & input.code_mantissa_mask();
    Codes scales{exact_scale(c, 0)};
    for (int bit = 0; bit < input.mantissa_bits; ++bit)
        for (const std::uint32_t amax : {1u << bit, (2u << bit) - 1})
            scales.insert(exact_scale(c, amax));
    for (std::uint32_t first = 1u << input.mantissa_bits; first < input.code_infinity();
         first += 1u << input.mantissa_bits)
        for (const std::uint32_t mantissa : {0u, of_largest, input.code_mantissa_mask()})
            scales.insert(exact_scale(c, first + mantissa));
    return scales;
}

// The input codes on both sides of `border`, and the tie itself where the input has it.
Codes beside(const exact::Rational& border, const ElementFormat& input) {
    const exact::Rounded below = toward_zero(border, input);
    const std::uint32_t code = below.code_below;
    if (below.position != exact::Position::exact) return {code, code + 1};
    return code == 0 ? Codes{0, 1} : Codes{code - 1, code, code + 1};
}

exact::Rational border_above(const ElementFormat& element, std::uint32_t code) {
    return (exact::magnitude_of(element, code) + exact::magnitude_of(element, code + 1)) / 2;
}

// What elements are multiplied by under `scale`, as the dialect takes its byte; 0 where whatever
// it divides becomes zero.
exact::Rational factor_of(const Case& c, std::uint32_t scale) {
    exact::Value one;
    one.magnitude = 1;
    Quantizer rules = rules_of(c);
    rules.quotient = Quotient::exact;  // a rounded one would lose the factor
    const exact::Rational inverse = exact::scaled(rules, *c.format, Code{scale}, one).magnitude;
    return inverse == 0 ? inverse : 1 / inverse;
}

// Every border of the element format under `scale` up to the group's amax. Returns how many ties
// the input type can hold.
int expect_borders(const Case& c, std::uint32_t scale, const ScaleGroup& group) {
    const ElementFormat& input = c.type;
    const ElementFormat& element = c.format->element();
    const exact::Rational factor = factor_of(c, scale);
    if (factor == 0) return 0;  // no borders: every element is zero
    const exact::Rational amax = exact::magnitude_of(input, group.amax);
    int ties = 0;
    for (std::uint32_t code = 0; code < element.code_max_finite(); ++code) {
        const exact::Rational border = border_above(element, code) * factor;
        if (border >= amax) break;
        const Codes wanted = beside(border, input);
        ties += wanted.size() == 3 ? 1 : 0;
        for (const std::uint32_t one : wanted)
            for (const std::uint32_t sign : {0u, input.code_sign_mask()})
                EXPECT_TRUE(group.codes.contains(one | sign))
                    << print(c) << "\n scale " << scale << " above code " << code << " lacks "
                    << (one | sign);
    }
    return ties;
}

// Few scales leave the largest codes without a value, and some the codes beyond that of their
// amax; most of a format's ties are there.
int most_ties(const Case& c, std::uint32_t scale, const ScaleGroup& group) {
    const Quantizer rules = rules_of(c);
    const BlockFormat& format = *c.format;
    const exact::Value amax = exact::read_input(rules.subnormals, c.type, Code{group.amax});
    const Code of_amax = exact::quantize_element(rules, format, Code{scale}, amax);
    return static_cast<int>(std::min(format.element().code_max_finite() * 3 / 4, of_amax.bits));
}

TEST(EdgeTie, HasABlockForEveryScale) {
    for (const Case& c : every_quantizer("edge.tie")) {
        Codes found;
        for (const auto& [scale, group] : groups_of(c)) {
            found.insert(scale);
            // The largest amax of its scale leaves room for every border.
            if (group.amax != c.type.code_max_finite()) {
                EXPECT_NE(exact_scale(c, group.amax + 1), scale) << print(c);
            }
        }
        EXPECT_EQ(found, reachable_scales(c)) << print(c);
    }
}

TEST(EdgeTie, HasBothSidesOfEveryBorderAtTheEndsAndInTheMiddle) {
    for (const Case& c : every_quantizer("edge.tie")) {
        auto groups = groups_of(c);
        groups.erase(formats::e8m0.code_nan());  // a NaN scale has no borders
        ASSERT_FALSE(groups.empty());
        const std::uint32_t smallest = groups.begin()->first, largest = groups.rbegin()->first;
        expect_borders(c, smallest, groups.at(smallest));
        for (const std::uint32_t scale : {largest, 127u}) {
            if (!groups.contains(scale)) continue;
            const ScaleGroup& group = groups.at(scale);
            EXPECT_GE(expect_borders(c, scale, group), most_ties(c, scale, group)) << print(c);
        }
    }
}

TEST(EdgeTie, HasBothSidesOfEveryBorderUnderEveryScale) {
    const Case c =
        case_of("quantize format=mxfp8-e4m3 dialect=ocp input=f32 shape=1x32 data=edge.tie");
    for (const auto& [scale, group] : groups_of(c)) expect_borders(c, scale, group);
}

Codes codes_of(const Case& c) {
    Codes codes;
    const auto source = open_data(c);
    for (std::uint64_t i = 0; i < source->size(); ++i) {
        const BlockData data = source->block(i);
        codes.insert(data.lanes.begin(), data.lanes.end());
    }
    return codes;
}

// Without a scale the border of overflow counts too, where overflow shows.
TEST(EdgeTie, OfConvertHasEveryBorderAndThatOfOverflow) {
    for (const BlockFormat& format : mx_block_formats)
        for (const std::string_view type : input_types)
            for (const std::string overflow : {"saturate", "overflow"}) {
                const ElementFormat& element = format.element();
                const Case c = case_of("convert format=" + std::string(element.name) +
                                       " input=" + std::string(type) + " overflow=" + overflow +
                                       " shape=1x32 data=edge.tie");
                const Codes codes = codes_of(c);
                const bool shows = overflow == "overflow" && element.has_nan();
                const std::uint32_t last = element.code_max_finite() - (shows ? 0 : 1);
                for (std::uint32_t code = 0; code <= last; ++code)
                    for (const std::uint32_t one : beside(border_above(element, code), c.type))
                        EXPECT_TRUE(codes.contains(one)) << print(c) << " above code " << code;
            }
}

// -2 is a value of int8, 2 is not: between -127/64 and -2 lies a border with no other on its side.
TEST(EdgeTie, OfInt8HasTheBorderBelowZeroThatHasNoOtherAbove) {
    const Case c = case_of("convert format=int8 shape=1x32 data=edge.tie");
    const Codes codes = codes_of(c);
    for (const std::uint32_t one : beside(border_above(formats::int8, 127), formats::f32))
        EXPECT_TRUE(codes.contains(one | formats::f32.code_sign_mask())) << one;
    const Case symmetric = case_of("convert format=int8-symmetric shape=1x32 data=edge.tie");
    EXPECT_FALSE(codes_of(symmetric).contains(0xBFFF0000u));
}

// Powers of two and what lies beside them, of both signs.
TEST(EdgeTie, OfACastToAScaleHasEveryChangeOfByte) {
    for (const std::string dialect : {"ocp", "nv"}) {
        const Case c =
            case_of("convert format=e8m0 dialect=" + dialect + " shape=1x32 data=edge.tie");
        const Codes codes = codes_of(c);
        // Above 2^127 a cast that saturates changes no more.
        for (std::uint32_t field = 1; field < 254; ++field)
            for (const std::uint32_t one : {(field << 23) - 1, field << 23, (field << 23) + 1})
                for (const std::uint32_t sign : {0u, 1u << 31})
                    EXPECT_TRUE(codes.contains(one | sign)) << print(c) << " " << one;
    }
}

// The largest lanes of all blocks, or for encode_scale all lanes: the amaxes that are asked.
Codes amaxes_of(const Case& c) {
    Codes amaxes;
    const auto source = open_data(c);
    for (std::uint64_t i = 0; i < source->size(); ++i) {
        const BlockData data = source->block(i);
        if (c.operation == OperationKind::encode_scale)
            amaxes.insert(data.lanes.begin(), data.lanes.end());
        else
            amaxes.insert(largest_of(data, c.type));
    }
    return amaxes;
}

TEST(EdgeScale, HasBothSidesOfEveryChangeOfScale) {
    for (Case c : every_quantizer("edge.scale")) {
        // The exponents of f32 with fewer mantissas; and the oracle is slow.
        if (c.type == formats::bf16 || (c.type == formats::f32 && c.format->name != "mxfp8-e4m3"))
            continue;
        const auto runs = exact::runs_of(0, c.type.code_infinity(),
                                         [&c](std::uint32_t amax) { return exact_scale(c, amax); });
        EXPECT_GT(runs.size(), 30u);
        for (const OperationKind operation :
             {OperationKind::quantize, OperationKind::encode_scale}) {
            c.operation = operation;
            const Codes amaxes = amaxes_of(c);
            for (std::size_t i = 0; i + 1 < runs.size(); ++i) {
                EXPECT_TRUE(amaxes.contains(runs[i].last)) << print(c) << " " << runs[i].last;
                EXPECT_TRUE(amaxes.contains(runs[i].last + 1)) << print(c) << " " << runs[i].last;
            }
        }
    }
}

TEST(EdgeAmax, HasPowersOfTwoAndElementMaximaAndTheirNeighbours) {
    for (const Case& c : every_quantizer("edge.amax")) {
        const ElementFormat& input = c.type;
        const Codes amaxes = amaxes_of(c);
        const exact::Rational top =
            exact::magnitude_of(c.format->element(), c.format->element().code_max_finite());
        for (int k = input.exponent_min() + 1; k <= input.exponent_max(); ++k)
            for (const exact::Rational& significand :
                 {exact::Rational(1),
                  exact::Rational(top / exact::power_of_two(exact::floor_log2(top)))})
                for (const std::uint32_t code : beside(significand * exact::power_of_two(k), input))
                    EXPECT_TRUE(amaxes.contains(code)) << print(c) << " 2^" << k;
    }
}

TEST(EdgeAmax, PutsTheAmaxInEveryLaneWithBothSigns) {
    for (const Case& c : every_quantizer("edge.amax")) {
        const ElementFormat& input = c.type;
        const auto source = open_data(c);
        std::set<std::pair<std::size_t, bool>> places;
        for (std::uint64_t i = 0; i < source->size(); ++i) {
            const BlockData data = source->block(i);
            const std::uint32_t amax = largest_of(data, input);
            std::size_t holders = 0, place = 0;
            for (std::size_t lane = 0; lane < data.lanes.size(); ++lane)
                if ((data.lanes[lane] & input.code_magnitude_mask()) == amax) {
                    ++holders;
                    place = lane;
                }
            if (holders == 1) places.insert({place, input.is_negative(Code{data.lanes[place]})});
        }
        EXPECT_EQ(places.size(), 64u) << print(c);
    }
}

TEST(EdgeSpecial, PutsEveryKindOfValueAloneInEveryLane) {
    for (const Case& c : every_quantizer("edge.special")) {
        const ElementFormat& input = c.type;
        std::vector<Codes> seen(block_size);
        const auto source = open_data(c);
        for (std::uint64_t i = 0; i < source->size(); ++i) {
            const auto lanes = source->block(i).lanes;
            for (std::size_t lane = 0; lane < block_size; ++lane)
                if (std::count(lanes.begin(), lanes.end(), lanes[lane]) == 1)
                    seen[lane].insert(lanes[lane]);
        }
        for (const Codes& codes : seen) {
            for (const std::uint32_t sign : {0u, input.code_sign_mask()}) {
                int payloads = 0, subnormals = 0;
                for (const std::uint32_t code : codes) {
                    if ((code & input.code_sign_mask()) != sign) continue;
                    payloads += input.is_nan(Code{code}) ? 1 : 0;
                    const std::uint32_t magnitude = code & input.code_magnitude_mask();
                    subnormals += magnitude != 0 && magnitude < (1u << input.mantissa_bits);
                }
                EXPECT_GE(payloads, 4) << print(c);
                EXPECT_GE(subnormals, 2) << print(c);
                for (const std::uint32_t code :
                     {input.code_infinity(), 0u, 1u, input.code_max_finite()})
                    EXPECT_TRUE(codes.contains(code | sign)) << print(c) << " " << (code | sign);
            }
        }
    }
}

// Large blocks: not every lane, but the first, the last and some between; and every scale.
TEST(EdgeFamilies, OfLargeBlocksVisitTheirEnds) {
    for (const std::string shape :
         {"axis=row block=16", "axis=col block=64", "axis=tile block=16", "axis=tile block=32"}) {
        const std::string head = "quantize format=mxfp4-e2m1 " + shape + " shape=1x1 input=f16 ";
        const Case special = case_of(head + "data=edge.special");
        const auto source = open_data(special);
        const auto lanes = static_cast<std::size_t>(lanes_of(special));
        std::set<std::size_t> places;
        for (std::uint64_t i = 0; i < source->size(); ++i) {
            const BlockData data = source->block(i);
            ASSERT_EQ(data.lanes.size(), lanes);
            for (std::size_t lane = 0; lane < lanes; ++lane)
                if (formats::f16.is_nan(Code{data.lanes[lane]})) places.insert(lane);
        }
        EXPECT_TRUE(places.contains(0) && places.contains(lanes - 1)) << shape;
        EXPECT_GE(places.size(), std::min<std::size_t>(lanes, 16)) << shape;
        Codes found;
        const Case tie = case_of(head + "data=edge.tie");
        for (const auto& [scale, group] : groups_of(tie)) found.insert(scale);
        EXPECT_EQ(found, reachable_scales(tie)) << shape;
        EXPECT_EQ(amaxes_of(case_of(head + "data=edge.scale")),
                  amaxes_of(case_of("quantize format=mxfp4-e2m1 input=f16 shape=1x1 "
                                    "data=edge.scale")));
    }
}

}  // namespace
}  // namespace mx
