// Rows without scales, and formats that begin at zero: both oracles must give every code of
// conversion_examples.hpp.
#include <gtest/gtest.h>

#include <set>

#include "reference/exact/round.hpp"
#include "reference/fast/round.hpp"
#include "reference/spec/cast_formats.hpp"
#include "reference/spec/quantizers.hpp"
#include "reference/spec/words.hpp"
#include "reference/test/conversion_examples.hpp"

namespace mx {
namespace {

struct Question {
    std::string_view dialect, format, input;
    std::uint32_t value;
};

void expect_code(const Question& q, Overflow overflow, std::uint32_t expected) {
    SCOPED_TRACE(testing::Message()
                 << q.dialect << " " << q.format << " " << q.input << " " << std::hex << q.value);
    Quantizer rules = *find_quantizer(q.dialect);
    rules.element_overflow = overflow;
    const ElementFormat& input = *find_element_format(q.input);
    const BlockFormat& format = *find_converted_format(q.format);
    EXPECT_TRUE(makes_elements(rules, format));
    EXPECT_TRUE(rules.reads(q.input));
    const Code value{q.value};
    EXPECT_EQ(exact::round_element(rules, format.element(), exact::decode(input, value)).bits,
              expected);
    EXPECT_EQ(fast::round_element(rules, format.element(), fast::unpack(input, value)).bits,
              expected);
}

TEST(Conversion, EveryExampleCodeForCode) {
    for (const ConversionExample& example : conversion_examples)
        for (const std::string_view dialect : words_in(example.dialects))
            for (const std::string_view format : words_in(example.format))
                for (const std::string_view input : words_in(example.input)) {
                    const Question q{dialect, format, input, example.value};
                    expect_code(q, Overflow::saturate, example.saturated);
                    expect_code(q, Overflow::overflow, example.overflowed);
                }
}

TEST(Conversion, EveryRowHasExamplesOfEachOfItsFormats) {
    std::set<std::pair<std::string_view, std::string_view>> seen;
    for (const ConversionExample& example : conversion_examples)
        for (const std::string_view dialect : words_in(example.dialects))
            for (const std::string_view format : words_in(example.format))
                seen.emplace(dialect, format);
    for (const Quantizer& row : conversions)
        for (const BlockFormat& format : mx_block_formats)
            if (contains(row.formats, format)) {
                EXPECT_TRUE(seen.contains({row.name, format.element().name}))
                    << row.name << " " << format.element().name;
            }
}

// They quantize no blocks and cast to no scale, whatever their fields hold.
TEST(Conversion, RowsWithoutScalesQuantizeNothing) {
    for (const Quantizer& row : conversions) {
        EXPECT_FALSE(row.has_scales() || row.has_e8m0_scales()) << row.name;
        for (const BlockFormat& format : block_formats)
            EXPECT_FALSE(row.quantizes(format)) << row.name << " " << format.name;
        EXPECT_EQ(find_converter(row.name), &row);
    }
    EXPECT_EQ(find_converter("ocp"), &e8m0_quantizers[0]);
    EXPECT_EQ(find_converter("te-nvfp4"), nullptr);
}

}  // namespace
}  // namespace mx
