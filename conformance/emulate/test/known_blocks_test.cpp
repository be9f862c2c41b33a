// Blocks with known bits, through the explanation, both oracles and whole-tensor quantizing.
#include "conformance/emulate/test/known_blocks.hpp"

#include <gtest/gtest.h>

#include "conformance/emulate/answers.hpp"
#include "conformance/emulate/explain.hpp"
#include "conformance/emulate/number_text.hpp"
#include "conformance/emulate/parse_value.hpp"
#include "conformance/emulate/quantize_tensor.hpp"
#include "reference/spec/formats.hpp"
#include "reference/spec/quantizers.hpp"
#include "reference/spec/words.hpp"

namespace mx::emulate {
namespace {

template <typename Check>
void for_each_block(const Check& check) {
    for (const KnownBlock& known : known_blocks())
        for (const std::string_view word : words_in(known.dialects)) {
            const std::string dialect(word);
            SCOPED_TRACE(dialect + " " + known.values);
            check(known, dialect);
        }
}

ExplainTarget target_of(const KnownBlock& known, const std::string& dialect) {
    auto target = target_of_values({known.values, "mxfp8-e4m3", dialect, "f32"});
    EXPECT_TRUE(target.ok());
    return std::move(target).value();
}

void expect_known(const Answers& answers, const KnownBlock& known) {
    EXPECT_EQ(answers[0].lane, lane_of_scale);
    EXPECT_EQ(answers[0].code.bits, known.scale);
    for (std::size_t lane = 0; lane < known.elements.size(); ++lane)
        EXPECT_EQ(answers[lane + 1].code.bits, known.elements[lane]) << "lane " << lane;
}

TEST(KnownBlocks, BothOraclesGiveThem) {
    for_each_block([](const KnownBlock& known, const std::string& dialect) {
        const ExplainTarget target = target_of(known, dialect);
        expect_known(exact_answers(target, *find_quantizer(dialect)), known);
        expect_known(fast_answers(target, *find_quantizer(dialect)), known);
    });
}

TEST(KnownBlocks, ExplanationsPrintThem) {
    for_each_block([](const KnownBlock& known, const std::string& dialect) {
        const Explanation explanation = explain(target_of(known, dialect));
        EXPECT_EQ(explanation.fault, "");
        const std::string byte = "byte: " + hex_code(formats::e8m0, Code{known.scale});
        EXPECT_NE(explanation.text.find(byte), std::string::npos) << explanation.text;
        for (const std::uint32_t element : known.elements)
            EXPECT_NE(explanation.text.find("  " + hex_code(formats::e4m3, Code{element}) + "  "),
                      std::string::npos)
                << explanation.text;
    });
}

TEST(KnownBlocks, QuantizedTensorsHoldThem) {
    for_each_block([](const KnownBlock& known, const std::string& dialect) {
        data::HostTensor tensor{"x", "f32", {}, {}};
        const auto values = parse_values(formats::f32, known.values);
        ASSERT_TRUE(values.ok());
        for (const ParsedValue& value : values.value())
            for (int shift = 0; shift < 32; shift += 8)
                tensor.bytes.push_back(std::byte((value.code.bits >> shift) & 0xff));
        tensor.shape = {static_cast<std::int64_t>(values.value().size())};
        const BlockNames names = completed({.format = "mxfp8-e4m3", .dialect = dialect});
        const auto result = quantize_tensor(tensor, names, {.program_version = "0"});
        ASSERT_TRUE(result.ok()) << result.error().message;
        const auto& tensors = result.value().file.tensors;
        ASSERT_EQ(tensors[1].bytes.size(), 1u);
        EXPECT_EQ(std::to_integer<std::uint32_t>(tensors[1].bytes[0]), known.scale);
        ASSERT_EQ(tensors[0].bytes.size(), values.value().size());
        for (std::size_t lane = 0; lane < known.elements.size(); ++lane)
            EXPECT_EQ(std::to_integer<std::uint32_t>(tensors[0].bytes[lane]), known.elements[lane]);
    });
}

}  // namespace
}  // namespace mx::emulate
