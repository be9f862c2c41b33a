// Every row whose scale has a mantissa, dressed as a device, is called by its name in each of its
// formats; a device that follows no row is called by none.
#include "conformance/identify/rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "conformance/identify/test/dressed_row.hpp"
#include "reference/fast/real_scale.hpp"
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

// The first and the last type that a row reads; in formats other than NVFP4 the first.
Names types_of(const Quantizer& row, const BlockFormat& format) {
    Names types;
    for (const std::string_view type : input_types)
        if (row.reads(type) && type != "f16") types.emplace_back(type);
    if (format.name != "nvfp4") types.resize(1);
    return types;
}

// Every amax of 16 bits; of 32 bits those of the binades around the largest element, and some of
// every other.
std::vector<std::uint32_t> amaxes_of(const ElementFormat& input, double largest) {
    std::vector<std::uint32_t> codes;
    const bool is_wide = input.code_bytes() > 2;
    const auto around = std::bit_cast<std::uint32_t>(static_cast<float>(largest));
    const std::uint32_t binade = 1u << input.mantissa_bits;
    for (std::uint32_t code = 0; code <= input.code_infinity();
         code += is_wide && (code < around - binade || code > around + binade) ? 4093 : 1)
        codes.push_back(code);
    return codes;
}

// Two rows that no block parts differ in how an amax becomes a scale alone, and no amax parts them.
void expect_alike(const Quantizer& row, const std::string& name, const BlockFormat& format,
                  const ElementFormat& input) {
    Quantizer other = *find_quantizer(name), same = other;
    same.scale_ratio = row.scale_ratio;
    same.name = row.name, same.title = row.title, same.source = row.source;
    ASSERT_EQ(same, row) << name;
    const fast::TensorNumbers none{{}, fast::whole(1)};
    for (const std::uint32_t code : amaxes_of(input, 448)) {
        const fast::Unpacked amax = fast::unpack(input, Code{code});
        const auto scale = fast::block_scale({row, format, input, none}, amax);
        ASSERT_EQ(scale.stored, fast::block_scale({other, format, input, none}, amax).stored)
            << name << " " << code;
    }
}

// Asked under the name of the first row that takes the same tensors, not under its own.
void expect_named(const Quantizer& row, const BlockFormat& format, const std::string& type) {
    SCOPED_TRACE(std::string(row.name) + " " + std::string(format.name) + " " + type);
    const Quantizer& other = *rows_beside(setting_of(row, format, type), row).front();
    const bool takes_words = row.element_rounding == Rounding::stochastic;
    const Setting setting = setting_of(takes_words ? row : other, format, type);
    const Identification found = identified(dressed_row(row), setting);
    EXPECT_NE(std::ranges::find(found.identical, row.name), found.identical.end());
    for (const std::string& name : found.identical)
        if (name != row.name) expect_alike(row, name, format, setting.input);
    EXPECT_EQ(found.unexplained.blocks, 0u) << found.unexplained.witness;
    EXPECT_GE(found.answers, 32u);
    for (const HeldRow& held : found.rows)
        EXPECT_EQ(held.witness.empty(), held.predicted == found.answers) << held.name;
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
    EXPECT_GE(named, 45u);
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

TEST(IdentifyRow, NamesNoneForADeviceWithEveryBitWrong) {
    const auto fault = [](const Case&, std::vector<CodeTensor>& outputs) {
        for (CodeTensor& output : outputs)
            for (std::size_t i = 0; i < output.count(); ++i) output.set(i, output.at(i) ^ 1);
    };
    const Identification found = identified(dressed_row(te(), fault), te_setting());
    EXPECT_EQ(found.identical, Names{});
    EXPECT_LT(found.nearest_predicted, found.answers / 100);
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
