// The algebra of blocks: what quantizing must satisfy in every dialect, or in those that a property
// names by their fields, never by their names. Asks no device.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>

#include "conformance/case/case.hpp"
#include "fuzz/generators.hpp"
#include "reference/exact/block.hpp"
#include "reference/fast/block.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::fuzz {
namespace {

constexpr std::size_t lane_count = 32;
using Lanes = std::vector<std::uint32_t>;

// A dialect, a format and a type that go together.
struct Setting {
    Quantizer dialect;
    BlockFormat format;
    ElementFormat input;
};

struct Quantized {
    Code scale;
    std::array<std::uint8_t, lane_count> elements{};
};

Quantized quantized(const Setting& s, const Lanes& lanes) {
    Quantized result;
    result.scale = fast::quantize_block(s.dialect, s.format, s.input, lanes.data(),
                                        static_cast<int>(lanes.size()), result.elements.data());
    return result;
}

std::string shown(const Setting& s, const Lanes& lanes) {
    std::string text = "mxcheck replay 'quantize format=" + std::string(s.format.name) +
                       " dialect=" + std::string(s.dialect.name) +
                       " input=" + std::string(s.input.name) + " shape=1x" +
                       std::to_string(lanes.size()) + " data=bits:";
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        char hex[16];
        std::snprintf(hex, sizeof hex, "%s%x", i == 0 ? "" : ",", lanes[i]);
        text += hex;
    }
    return text + "'";
}

Setting draw_setting() {
    const Quantizer dialect =
        *rc::gen::elementOf(std::vector<Quantizer>(e8m0_quantizers.begin(), e8m0_quantizers.end()));
    const BlockFormat format = *rc::gen::elementOf(
        std::vector<BlockFormat>(mx_block_formats.begin(), mx_block_formats.end()));
    const std::string type =
        *rc::gen::element(std::string("f32"), std::string("bf16"), std::string("f16"));
    RC_PRE(dialect.is_known() && dialect.quantizes(format) && dialect.reads(type));
    return {dialect, format, *find_element_format(type)};
}

// Codes of any kind, or numbers within some binades of each other.
Lanes draw_lanes(const ElementFormat& input) {
    const bool any = *rc::gen::inRange(0, 3) == 0;
    Lanes lanes;
    for (std::size_t i = 0; i < lane_count; ++i)
        lanes.push_back((any ? draw_code(input) : draw_finite(input, 12)).bits);
    return lanes;
}

// Numbers alone, whose block is far from every limit of a scale.
Lanes draw_ordinary(const ElementFormat& input) {
    Lanes lanes;
    for (std::size_t i = 0; i < lane_count; ++i) lanes.push_back(draw_finite(input, 6).bits);
    return lanes;
}

// The fields by which a row's arithmetic is the same in every binade. Elsewhere a logarithm in
// binary32, a tie between even bytes or a fixed least value tells one binade from another.
bool knows_no_binade(const Quantizer& d) {
    return !takes_log2f(d) && d.amax_min == 0 && d.ratio_min == 0 &&
           d.scale_cast.rounding != ScaleRounding::nearest_even;
}

// Every dialect, format and type, every input: both oracles give the same block.
RC_GTEST_PROP(Blocks, TheOraclesAgree, ()) {
    const Setting s = draw_setting();
    const Lanes lanes = draw_lanes(s.input);
    std::vector<exact::Value> values;
    for (const std::uint32_t lane : lanes)
        values.push_back(exact::read_input(s.dialect.subnormals, s.input, Code{lane}));
    const exact::Block right = exact::quantize_block(s.dialect, s.format, values);
    const Quantized found = quantized(s, lanes);
    RC_LOG() << shown(s, lanes);
    RC_ASSERT(found.scale.bits == right.scale.bits);
    for (std::size_t i = 0; i < lane_count; ++i)
        RC_ASSERT(found.elements[i] == right.elements[i].bits);
}

// Every format and type: both oracles dequantize to the same value; of NaN only that it is one.
RC_GTEST_PROP(Blocks, TheOraclesAgreeOnTheWayBack, ()) {
    const Setting s = draw_setting();
    const Code element = draw_code(s.format.element());
    const Code scale{*rc::gen::inRange<std::uint32_t>(0, 256)};
    const Code found = fast::dequantize(s.format, s.input, scale, element);
    const Code right = exact::dequantize(s.format, s.input, scale, element);
    RC_LOG() << s.format.name << " scale " << scale.bits << " element " << element.bits;
    if (s.input.is_nan(right))
        RC_ASSERT(s.input.is_nan(found));
    else
        RC_ASSERT(found.bits == right.bits);
}

// Every dialect, format, type and input: the order of the lanes does not count.
RC_GTEST_PROP(Blocks, LanesMayChangePlaces, ()) {
    const Setting s = draw_setting();
    Lanes lanes = draw_lanes(s.input);
    const Quantized before = quantized(s, lanes);
    const auto by = *rc::gen::inRange<std::size_t>(1, lane_count);
    RC_LOG() << shown(s, lanes) << " turned by " << by << " lanes";
    std::rotate(lanes.begin(), lanes.begin() + static_cast<std::ptrdiff_t>(by), lanes.end());
    const Quantized after = quantized(s, lanes);
    RC_ASSERT(after.scale.bits == before.scale.bits);
    for (std::size_t i = 0; i < lane_count; ++i)
        RC_ASSERT(after.elements[i] == before.elements[(i + by) % lane_count]);
}

// Every dialect and format: a lane that is no larger than the amax and no NaN changes no other.
RC_GTEST_PROP(Blocks, ASmallLaneChangesNoOther, ()) {
    const Setting s = draw_setting();
    Lanes lanes = draw_ordinary(s.input);
    const Quantized before = quantized(s, lanes);
    const auto largest =
        std::ranges::max_element(
            lanes, {}, [&s](std::uint32_t lane) { return lane & s.input.code_magnitude_mask(); }) -
        lanes.begin();
    const auto place = *rc::gen::inRange<std::size_t>(0, lane_count);
    RC_PRE(static_cast<std::size_t>(largest) != place);
    RC_LOG() << shown(s, lanes) << " lane " << place << " becomes 0";
    lanes[place] = 0;
    const Quantized after = quantized(s, lanes);
    RC_ASSERT(after.scale.bits == before.scale.bits);
    for (std::size_t i = 0; i < lane_count; ++i)
        if (i != place) RC_ASSERT(after.elements[i] == before.elements[i]);
}

// Every dialect and format, numbers alone: the scale knows no sign; nor does an element, but for
// the sign of a zero and, in int8, the value -2 that has no fellow.
RC_GTEST_PROP(Blocks, SignsPassThrough, ()) {
    const Setting s = draw_setting();
    Lanes lanes = draw_ordinary(s.input);
    const Quantized before = quantized(s, lanes);
    RC_LOG() << shown(s, lanes);
    for (std::uint32_t& lane : lanes) lane ^= s.input.code_sign_mask();
    const Quantized after = quantized(s, lanes);
    const ElementFormat& element = s.format.element();
    RC_ASSERT(after.scale.bits == before.scale.bits);
    for (std::size_t i = 0; i < lane_count; ++i) {
        const std::uint32_t one = element.magnitude(Code{before.elements[i]});
        const std::uint32_t other = element.magnitude(Code{after.elements[i]});
        const bool has_no_fellow = std::max(one, other) > element.code_max_finite();
        RC_ASSERT(one == other || has_no_fellow);
        if (one != 0)
            RC_ASSERT(element.is_negative(Code{before.elements[i]}) !=
                      element.is_negative(Code{after.elements[i]}));
    }
}

// Dialects that know no binade, blocks far from every limit: 2^k in, k more in the scale, the same
// elements.
RC_GTEST_PROP(Blocks, APowerOfTwoMovesTheScaleAlone, ()) {
    const Setting s = draw_setting();
    RC_PRE(knows_no_binade(s.dialect));
    RC_PRE(s.input.name != formats::f16.name);  // too few binades for 2^k and the ratio
    Lanes lanes = draw_ordinary(s.input);
    const Quantized before = quantized(s, lanes);
    const auto binades = *rc::gen::inRange<std::uint32_t>(1, 30);
    RC_LOG() << shown(s, lanes) << " and 2^" << binades << " times that";
    for (std::uint32_t& lane : lanes) lane += binades << s.input.mantissa_bits;
    const Quantized after = quantized(s, lanes);
    RC_ASSERT(after.scale.bits == before.scale.bits + binades);
    RC_ASSERT(after.elements == before.elements);
}

// Dialects that round the scale down from the amax over 2^emax, or up from its ratio to the largest
// element, blocks far from every limit: the values that come back quantize to themselves. Not
// where an element became the -2 of int8, for that has the exponent of a larger scale.
RC_GTEST_PROP(Blocks, QuantizingTwiceIsQuantizingOnce, ()) {
    const Setting s = draw_setting();
    const Quantizer& d = s.dialect;
    const bool is_floor = d.scale_ratio == ScaleRatio::over_emax &&
                          d.scale_cast.rounding == ScaleRounding::toward_zero &&
                          d.amax_rounding == AmaxRounding::none;
    const bool is_ceil =
        (d.scale_ratio == ScaleRatio::times_reciprocal || d.scale_ratio == ScaleRatio::divided) &&
        d.scale_cast.rounding == ScaleRounding::toward_positive;
    RC_PRE(knows_no_binade(d) && (is_floor || is_ceil));
    RC_PRE(d.subnormals == Subnormals::honoured && s.input.name != formats::f16.name);
    const Lanes lanes = draw_ordinary(s.input);
    const auto back = [&s](const Quantized& q) {
        Lanes values;
        for (const std::uint8_t element : q.elements)
            values.push_back(fast::dequantize(s.format, s.input, q.scale, Code{element}).bits);
        return values;
    };
    const Quantized first = quantized(s, lanes);
    for (const std::uint8_t element : first.elements)
        RC_PRE(s.format.element().magnitude(Code{element}) <= s.format.element().code_max_finite());
    const Lanes once = back(first);
    RC_LOG() << shown(s, lanes);
    const Lanes twice = back(quantized(s, once));
    for (std::size_t i = 0; i < lane_count; ++i)
        RC_ASSERT(once[i] == twice[i] || s.input.is_zero(Code{once[i] | twice[i]}));
}

// Every format, results normal: one more in the scale is one binade more in the value.
RC_GTEST_PROP(Blocks, TheScaleOfAValueIsAPowerOfTwo, ()) {
    const Setting s = draw_setting();
    const Code element = draw_code(s.format.element());
    RC_PRE(!s.format.element().is_nan(element) && !s.format.element().is_zero(element) &&
           !s.format.element().is_infinity(element));
    const Code scale{*rc::gen::inRange<std::uint32_t>(1, 254)};
    const Code low = fast::dequantize(s.format, s.input, scale, element);
    const Code high = fast::dequantize(s.format, s.input, Code{scale.bits + 1}, element);
    RC_PRE(!s.input.is_infinity(high) && !s.input.is_zero(low) && !s.input.is_subnormal(low));
    RC_ASSERT(high.bits == low.bits + s.input.code_mantissa_mask() + 1);
}

}  // namespace
}  // namespace mx::fuzz
