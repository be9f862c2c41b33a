// Every row whose scale has a mantissa, dressed as a device, is called by its name in each of its
// formats; a device that follows no row is called by none.
#include "conformance/identify/rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/identify/test/dressed_row.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::identify {
namespace {

using Names = std::vector<std::string>;

Setting setting_of(const Quantizer& asked, const BlockFormat& format, std::string_view type) {
    return {format, *find_element_format(type), std::string(asked.name)};
}

Identification identified(const Client& client, const Setting& setting) {
    auto found = identify_row(client, setting);
    EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().message);
    return found.ok() ? std::move(found).value() : Identification{};
}

// The first type that a row reads, and of NVFP4 the others too.
Names types_of(const Quantizer& row, const BlockFormat& format) {
    Names types;
    for (const std::string_view type : input_types)
        if (row.reads(type)) types.emplace_back(type);
    if (format.name != "nvfp4") types.resize(1);
    return types;
}

// Asked under the name of the first row that takes the same tensors, not under its own.
void expect_named(const Quantizer& row, const BlockFormat& format, const std::string& type) {
    SCOPED_TRACE(std::string(row.name) + " " + std::string(format.name) + " " + type);
    const Quantizer& other = *rows_beside(setting_of(row, format, type), row).front();
    const bool takes_words = row.element_rounding == Rounding::stochastic;
    const Setting setting = setting_of(takes_words ? row : other, format, type);
    const Identification found = identified(dressed_row(row), setting);
    EXPECT_EQ(found.identical, Names{std::string(row.name)});
    EXPECT_EQ(found.unexplained.blocks, 0u) << found.unexplained.witness;
    EXPECT_GE(found.answers, 50u);
    for (const HeldRow& held : found.rows)
        EXPECT_EQ(held.witness.empty(), held.foretold == found.answers) << held.name;
}

TEST(IdentifyRow, CallsEveryRowByItsNameInEachFormat) {
    std::size_t named = 0;
    for (const Quantizer& row : real_scale_quantizers)
        for (const BlockFormat& format : real_scale_formats)
            if (row.quantizes(format))
                for (const std::string& type : types_of(row, format)) {
                    expect_named(row, format, type);
                    ++named;
                }
    EXPECT_GE(named, 50u);
}

const Quantizer& te() {
    return *find_quantizer("te-nvfp4");
}
Setting te_setting() {
    return setting_of(te(), *find_block_format("nvfp4"), "f32");
}

void expect_nameless(const Identification& found, const std::string& word) {
    EXPECT_EQ(found.identical, Names{});
    EXPECT_EQ(found.nearest, "te-nvfp4");
    EXPECT_GT(found.unexplained.blocks, 0u);
    EXPECT_LT(found.unexplained.blocks, found.answers);
    EXPECT_NE(found.unexplained.witness.find(word), std::string::npos) << found.unexplained.witness;
}

// te-nvfp4 with one decision of another row, and with one of none.
TEST(IdentifyRow, NamesNoneForARowWithOneOtherDecision) {
    Quantizer away = te(), narrow = te();
    away.element_rounding = Rounding::nearest_away;
    narrow.scale_max = 447;
    expect_nameless(identified(dressed_row(away), te_setting()), "element");
    expect_nameless(identified(dressed_row(narrow), te_setting()), "");
}

TEST(IdentifyRow, NamesNoneForAWrongNumberOfTheTensor) {
    const auto fault = [](const Case&, std::vector<CodeTensor>& outputs) {
        outputs[2].set(0, outputs[2].at(0) ^ 1);
    };
    expect_nameless(identified(dressed_row(te(), fault), te_setting()), "kept");
}

TEST(IdentifyRow, NamesNoneForAScaleThatIsOneTooSmall) {
    const auto fault = [](const Case&, std::vector<CodeTensor>& outputs) {
        for (std::size_t i = 0; i < outputs[1].count(); ++i)
            if (outputs[1].at(i) == 0x7E) outputs[1].set(i, 0x7D);
    };
    expect_nameless(identified(dressed_row(te(), fault), te_setting()), "scale 0x7d (416), not");
}

TEST(IdentifyRow, NamesNoneForADeviceOfRandomBits) {
    const auto fault = [](const Case&, std::vector<CodeTensor>& outputs) {
        for (CodeTensor& output : outputs)
            for (std::size_t i = 0; i < output.count(); ++i) output.set(i, output.at(i) ^ 1);
    };
    const Identification found = identified(dressed_row(te(), fault), te_setting());
    EXPECT_EQ(found.identical, Names{});
    EXPECT_EQ(found.nearest_foretold, 0u);
}

TEST(IdentifyRow, SaysWhatTheDeviceSays) {
    const Client none{.ask = [](const Question&) {
        return DeviceAnswer{AnswerKind::not_supported, "no such format", {}, {}};
    }};
    const auto found = identify_row(none, te_setting());
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().message, "no such format");
    EXPECT_EQ(found.error().kind, ErrorKind::bad_input);
}

// A device that takes no number of the tensor finds it itself, and the other way round.
TEST(IdentifyRow, AsksWithTheNumbersThatTheDeviceTakes) {
    for (const char* taken : {"given", "derived"}) {
        const Client whole = dressed_row(te());
        const Client picky{.ask = [&](const Question& question) {
            if (question.operation.tensor_scale == taken) return whole.ask(question);
            return DeviceAnswer{AnswerKind::not_supported, "not so", {}, {}};
        }};
        EXPECT_EQ(identified(picky, te_setting()).identical, Names{"te-nvfp4"}) << taken;
    }
}

}  // namespace
}  // namespace mx::identify
