// What a device may do where the dialect's source is silent, and what stays a failure even there.
#include "conformance/run/test/evidence_of.hpp"

namespace mx {
namespace {

constexpr std::uint32_t one = 0x3F800000, infinite = 0x7F800000, nan = 0x7FC00000;
constexpr std::uint32_t tiny = 0x00000100;  // its scale would lie below 2^-127

struct Answer {
    std::uint32_t scale;
    std::vector<std::uint32_t> elements;
};

std::uint64_t binding_of(Evidence e, const Answer& answer) {
    if (e.actual.size() > 1) e.actual[1].set(0, answer.scale);
    for (std::size_t i = 0; i < answer.elements.size(); ++i) e.actual[0].set(i, answer.elements[i]);
    Clusters clusters(e, 1000);
    for_each_difference(e, [&](const Difference& d) { clusters.add(d); });
    std::uint64_t count = 0;
    for (const results::Mismatch& m : clusters.take())
        if (m.open_decision.empty()) count += m.count;
    return count;
}

// How many differences are binding when the device answers like this under ocp.
std::uint64_t binding(const std::vector<std::uint32_t>& input, const Answer& answer) {
    return binding_of(quantized("ocp", input), answer);
}

TEST(OpenDecision, AZeroBlockMayHaveAnyNumberAsScale) {
    EXPECT_EQ(binding({0, 0}, {127, {0, 0}}), 0u);
    EXPECT_EQ(binding({0, 0}, {0x82, {0, 0}}), 0u);
}

TEST(OpenDecision, AZeroBlockStaysZero) {
    EXPECT_EQ(binding({0, 0}, {0x82, {0x55, 0x56}}), 2u);
    EXPECT_EQ(binding({0, 0}, {0x00, {0x7F, 0x7F}}), 2u);  // 0 / 0
    EXPECT_EQ(binding({0, 0}, {0xFF, {0x7F, 0x7F}}), 3u);
}

TEST(OpenDecision, ATinyBlockFollowsTheScaleThatItWasGiven) {
    EXPECT_EQ(binding({tiny, tiny}, {1, {0x00, 0x00}}), 0u);
    EXPECT_EQ(binding({tiny, tiny}, {0xFE, {0x55, 0x56}}), 2u);
}

TEST(OpenDecision, OrdinaryLanesBesideInfinityFollowTheScale) {
    // 1.0 under scale 0xFE is 2^-127: zero. Under 0x77 it is 256.
    EXPECT_EQ(binding({one, infinite}, {0xFE, {0x00, 0x7E}}), 0u);
    EXPECT_EQ(binding({one, infinite}, {0x77, {0x78, 0x7E}}), 0u);
    EXPECT_EQ(binding({one, infinite}, {0x77, {0x00, 0x00}}), 1u);
}

TEST(OpenDecision, OrdinaryLanesBesideNanFollowTheScale) {
    EXPECT_EQ(binding({one, nan}, {0x77, {0x78, 0x7F}}), 0u);
    EXPECT_EQ(binding({one, nan}, {0x77, {0x33, 0x7F}}), 1u);
    EXPECT_EQ(binding({one, nan}, {0xFF, {0x00, 0x00}}), 0u);  // the whole block is NaN
}

TEST(OpenDecision, AZeroMayLoseItsSignButNotGainOne) {
    EXPECT_EQ(binding({one, 0x80000000}, {0x77, {0x78, 0x00}}), 0u);
    EXPECT_EQ(binding({one, 0x00000000}, {0x77, {0x78, 0x80}}), 1u);
}

// A format without NaN has no code for it: OCP MX says nothing of what then stands there.
TEST(OpenDecision, ANanLaneMayBeAnyCodeWhereTheFormatHasNone) {
    for (const std::string format : {"mxfp4-e2m1", "mxfp6-e3m2", "mxint8"}) {
        const auto in = [&](const std::string& dialect, const std::vector<std::uint32_t>& lanes) {
            return evidence_of("quantize format=" + format + " dialect=" + dialect, lanes);
        };
        // The scale is NaN because a lane is: no element means anything.
        EXPECT_EQ(binding_of(in("ocp", {one, nan}), {0xFF, {3, 3}}), 0u) << format;
        // TransformerEngine's source says which code it is.
        EXPECT_EQ(binding_of(in("nv", {one, nan}), {0xFF, {5, 5}}), 3u) << format;
        if (format == "mxint8") continue;
        // torchao's leaves the code to the processor, but not the scale.
        EXPECT_EQ(binding_of(in("torchao-floor", {one, nan}), {0xFF, {5, 5}}), 0u) << format;
        EXPECT_EQ(binding_of(in("torchao-floor", {one, nan}), {0x7F, {5, 5}}), 1u) << format;
    }
    const std::string convert = "convert format=e2m1 dialect=ocp";
    EXPECT_EQ(binding_of(evidence_of(convert, {one, nan}), {0, {2, 5}}), 0u);
    EXPECT_EQ(binding_of(evidence_of(convert, {one, nan}), {0, {3, 7}}), 1u);
    // Where the format has NaN, a NaN is a NaN.
    EXPECT_EQ(binding_of(evidence_of("convert format=e4m3 dialect=ocp", {nan}), {0, {0xFF}}), 0u);
    EXPECT_EQ(binding_of(evidence_of("convert format=e4m3 dialect=ocp", {nan}), {0, {0x7E}}), 1u);
}

// A cast to E8M0 meets what a block meets in its amax.
TEST(OpenDecision, OfACastIsThatOfTheScale) {
    const std::string cast = "convert format=e8m0 dialect=";
    EXPECT_EQ(binding_of(evidence_of(cast + "ocp", {nan, infinite, 0}), {0, {0xFE, 0xFE, 0x7F}}),
              0u);
    EXPECT_EQ(binding_of(evidence_of(cast + "nv", {nan, infinite, 0}), {0, {0x00, 0x00, 0x7F}}),
              3u);
    EXPECT_EQ(binding_of(evidence_of(cast + "ocp", {one}), {0, {0x80}}), 1u);
}

}  // namespace
}  // namespace mx
