// Every dialect of the table, dressed as a device, is called by its name; single decisions and
// faults that no table holds are found and told.
#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/identify/identify.hpp"
#include "conformance/identify/probes.hpp"
#include "conformance/identify/test/dressed_device.hpp"
#include "conformance/identify/witness.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::identify {
namespace {

constexpr std::uint64_t a_few_hundred = 400;

Identification identified(const Quantizer& dialect, const Setting& setting, Fault fault = {}) {
    Subject subject(dressed(dialect, setting, std::move(fault)), setting);
    auto found = identify(subject);
    EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().message);
    EXPECT_LE(subject.blocks_asked(), a_few_hundred) << dialect.name;
    return found.ok() ? std::move(found).value() : Identification{};
}

Setting setting_for(const Quantizer& dialect, const BlockFormat& format) {
    for (const std::string_view type : input_types)
        if (dialect.reads(type)) return {format, *find_element_format(type), "any"};
    return {format, formats::f32, "any"};
}

Setting e4m3_setting() {
    return {*find_block_format("mxfp8-e4m3"), formats::f32, "any"};
}

const Finding& finding(const Identification& found, std::string_view field) {
    const auto at = std::find_if(found.findings.begin(), found.findings.end(),
                                 [field](const Finding& f) { return f.field == field; });
    EXPECT_NE(at, found.findings.end()) << field;
    return *at;
}

bool names(const Identification& found, std::string_view name) {
    return std::find(found.identical.begin(), found.identical.end(), name) != found.identical.end();
}

// Two rows that identification cannot tell apart must agree on blocks it never asked, too.
void expect_alike(const Setting& setting, std::string_view a, std::string_view b) {
    const Quantizer& first = *find_quantizer(a);
    const Quantizer& second = *find_quantizer(b);
    const std::vector<Quantizer> both{first, second};
    std::vector<Lanes> blocks = ordinary_amaxes(setting, both);
    for (const Pool& pool : {tiny_amaxes(setting, both), huge_amaxes(setting, both),
                             element_blocks(setting, first), unseen_blocks(setting)})
        blocks.insert(blocks.end(), pool.begin(), pool.end());
    for (const Lanes& block : blocks) {
        const Code scale = predicted_scale(setting, first, block);
        ASSERT_EQ(scale, predicted_scale(setting, second, block)) << a << " and " << b;
        const Answer answer{block, scale, {}};
        ASSERT_EQ(predicted(setting, first, answer, Part::elements),
                  predicted(setting, second, answer, Part::elements))
            << a << " and " << b;
    }
}

TEST(Identify, CallsEveryDialectByItsName) {
    std::size_t named = 0;
    for (std::size_t row = 0; row < e8m0_quantizers.size(); ++row) {
        const Quantizer& dialect = e8m0_quantizers[row];
        if (!dialect.is_known()) continue;
        // Every dialect in the first of its formats, and in another that changes from row to row.
        std::vector<BlockFormat> formats;
        for (const BlockFormat& format : mx_block_formats)
            if (dialect.quantizes(format)) formats.push_back(format);
        if (formats.empty()) continue;
        std::vector<BlockFormat> chosen{formats.front()};
        if (formats.size() > 1) chosen.push_back(formats[1 + row % (formats.size() - 1)]);
        for (const BlockFormat& format : chosen) {
            const Setting setting = setting_for(dialect, format);
            const Identification found = identified(dialect, setting);
            EXPECT_TRUE(names(found, dialect.name))
                << dialect.name << " " << format.name << ": nearest " << found.nearest << ", "
                << found.unexplained.blocks << " unexplained, " << found.unexplained.witness;
            EXPECT_EQ(found.unexplained.blocks, 0u)
                << dialect.name << " " << format.name << ": " << found.unexplained.witness;
            for (const std::string& other : found.identical)
                if (other != dialect.name) expect_alike(setting, dialect.name, other);
            ++named;
        }
    }
    EXPECT_GE(named, 20u);
}

// Every answer is wrong: there is nothing to find, and that is said after a few hundred blocks too.
TEST(Identify, EndsOnADeviceThatFollowsNoRule) {
    const auto wrong = [](Answer& answer, std::size_t) {
        answer.scale.bits ^= 0x40;
        for (std::uint8_t& element : answer.elements) element ^= 0x40;
    };
    const Identification found = identified(*find_quantizer("ocp"), e4m3_setting(), wrong);
    EXPECT_TRUE(found.identical.empty());
    EXPECT_GT(found.unexplained.blocks, 100u);
}

TEST(Identify, FindsOneDecisionThatDiffers) {
    const auto check = [](auto change, std::string_view field, const std::string& value) {
        Quantizer dialect = *find_quantizer("ocp");
        change(dialect);
        const Identification found = identified(dialect, e4m3_setting());
        EXPECT_EQ(finding(found, field).values, std::vector<std::string>{value}) << field;
        EXPECT_NE(finding(found, field).witness, "") << field;
        EXPECT_EQ(found.unexplained.blocks, 0u) << field << ": " << found.unexplained.witness;
    };
    check([](Quantizer& d) { d.element_rounding = Rounding::to_odd; }, "element_rounding",
          "to_odd");
    check([](Quantizer& d) { d.element_rounding = Rounding::toward_positive; }, "element_rounding",
          "toward_positive");
    check([](Quantizer& d) { d.element_overflow = Overflow::overflow; }, "element_overflow",
          "overflow");
    check([](Quantizer& d) { d.subnormals = Subnormals::outputs_flushed; }, "subnormals",
          "outputs_flushed");
    check([](Quantizer& d) { d.subnormals = Subnormals::inputs_flushed; }, "subnormals",
          "inputs_flushed");
    check([](Quantizer& d) { d.infinity_in_block = InfinityInBlock::own_lane_only; },
          "infinity_in_block", "own_lane_only");
    check([](Quantizer& d) { d.scale_cast.zero = 0x7F; }, "scale_zero", "0x7f");
    check([](Quantizer& d) { d.scale_cast.infinity = 0xFE; }, "scale_infinity", "0xfe");
    check([](Quantizer& d) { d.inverse = Inverse::over_scale_bits; }, "inverse", "over_scale_bits");
    check([](Quantizer& d) { d.sign_of_zero = SignOfZero::dropped; }, "sign_of_zero", "dropped");
}

TEST(Identify, SaysWhatNoVectorExplains) {
    const Quantizer& nv = *find_quantizer("nv");
    const Identification shifted = identified(nv, e4m3_setting(), [](Answer& answer, std::size_t) {
        if (answer.scale.bits < 0xFE) ++answer.scale.bits;
    });
    EXPECT_GT(shifted.unexplained.blocks, 0u);
    EXPECT_NE(shifted.unexplained.hypothesis.find("1 above"), std::string::npos);
    EXPECT_TRUE(shifted.identical.empty());

    const Identification deaf = identified(nv, e4m3_setting(), [&](Answer& a, std::size_t count) {
        Lanes lanes = a.lanes;
        lanes[31] = 0;
        if (count == lane_count) a.scale = predicted_scale(e4m3_setting(), nv, lanes);
    });
    EXPECT_GT(deaf.unexplained.blocks, 0u);
    EXPECT_NE(deaf.unexplained.witness, "");
    EXPECT_EQ(deaf.nearest, "nv");
}

// Under a NaN scale no element means anything, and a device that writes a number there, one that no
// entry has for a NaN, is no stranger.
TEST(Identify, ElementsUnderANanScaleAreOpen) {
    const auto numbered = [](Answer& answer, std::size_t) {
        if (formats::e8m0.is_nan(answer.scale)) answer.elements.fill(0x2A);
    };
    const Identification found = identified(*find_quantizer("ocp"), e4m3_setting(), numbered);
    EXPECT_TRUE(names(found, "ocp"));
    EXPECT_EQ(found.unexplained.blocks, 0u) << found.unexplained.witness;
    EXPECT_GT(found.unexplained.open, 0u);

    // Elements that differ elsewhere still bind.
    const Identification wrong =
        identified(*find_quantizer("ocp"), e4m3_setting(), [&](Answer& answer, std::size_t count) {
            numbered(answer, count);
            if (answer.scale.bits % 8 == 0) answer.elements[0] = 0x11;
        });
    EXPECT_FALSE(names(wrong, "ocp"));
    EXPECT_GT(wrong.unexplained.blocks, 0u);
    EXPECT_GT(wrong.unexplained.open, 0u);
}

TEST(Identify, SaysWhenTheDeviceRefuses) {
    const Setting setting = e4m3_setting();
    const Client none{.ask = [](const Question&) {
        return DeviceAnswer{AnswerKind::not_supported, "no such format", {}, {}};
    }};
    Subject subject(none, setting);
    const auto found = identify(subject);
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().message, "no such format");
    EXPECT_EQ(found.error().kind, ErrorKind::bad_input);
    EXPECT_EQ(subject.blocks_asked(), 0u);
}

TEST(Identify, ReportsThePartialBlock) {
    const Quantizer& nv = *find_quantizer("nv");
    EXPECT_NE(identified(nv, e4m3_setting()).partial_block.find("from the lanes that exist"),
              std::string::npos);
    const Identification wrong =
        identified(nv, e4m3_setting(), [](Answer& answer, std::size_t count) {
            if (count != lane_count) answer.scale = Code{0x7F};
        });
    EXPECT_NE(wrong.partial_block.find("not quantized as its lanes alone"), std::string::npos);
}

}  // namespace
}  // namespace mx::identify
