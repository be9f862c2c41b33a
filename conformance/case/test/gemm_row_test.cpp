// A model file holds every row of the table and every freedom of a row, a case with such a row
// prints back to itself, and what can be no row is refused with a sentence.
#include "conformance/case/gemm_row.hpp"

#include <gtest/gtest.h>

#include "conformance/case/case.hpp"

namespace mx {
namespace {

// A name of its own: those of the table are taken.
GemmModel renamed(const GemmModel& row) {
    GemmModel other = row;
    other.name = "mine";
    return other;
}

void expect_same(const GemmModel& a, const GemmModel& b) {
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.operands, b.operands);
    EXPECT_EQ(a.products, b.products);
    EXPECT_EQ(a.fraction_bits, b.fraction_bits);
    EXPECT_EQ(a.cut, b.cut);
    EXPECT_EQ(a.accumulator, b.accumulator);
    EXPECT_EQ(a.accumulator.name, b.accumulator.name);
    EXPECT_EQ(a.rounding, b.rounding);
    EXPECT_EQ(a.promotion, b.promotion);
    EXPECT_EQ(a.promoted, b.promoted);
    EXPECT_EQ(a.exact_group, b.exact_group);
    EXPECT_EQ(a.scaling, b.scaling);
    EXPECT_EQ(a.scales, b.scales);
    EXPECT_EQ(a.blocks, b.blocks);
    EXPECT_EQ(a.order, b.order);
    EXPECT_EQ(a.exponents, b.exponents);
    EXPECT_EQ(a.zero_products, b.zero_products);
    EXPECT_EQ(a.sum, b.sum);
    EXPECT_EQ(a.exponent_floor, b.exponent_floor);
    EXPECT_EQ(a.residue_tile, b.residue_tile);
    EXPECT_EQ(a.lanes, b.lanes);
    EXPECT_EQ(a.alpha, b.alpha);
    EXPECT_EQ(a.source, b.source);
    EXPECT_EQ(a.open, b.open);
}

void expect_read_back(const GemmModel& row) {
    const auto own = read_model_text(model_file_text(row));
    ASSERT_TRUE(own.ok()) << row.source << ": " << own.error().message;
    expect_same(own.value()->row, row);
    EXPECT_EQ(model_file_text(own.value()->row), model_file_text(row));
}

TEST(ModelFile, HoldsEveryRowOfTheTable) {
    for (const GemmModel& row : gemm_models) expect_read_back(renamed(row));
}

TEST(ModelFile, HoldsWhatNoRowOfTheTableHas) {
    for (const Rounding rounding : {Rounding::nearest_even, Rounding::toward_positive,
                                    Rounding::toward_negative, Rounding::away_from_zero}) {
        GemmModel row = renamed(*find_gemm_model("hopper-fp8"));
        row.cut = rounding;
        row.rounding = rounding;
        row.zero_products = ZeroProducts::counted;
        row.products = 24;
        row.promotion = 96;
        row.promoted = formats::f16;
        row.accumulator = formats::bf16;
        row.exponent_floor = -20;
        expect_read_back(row);
    }
}

std::string case_with(const std::string& model) {
    return "gemm a=e4m3 b=e4m3 output=f32 shape=16x16x64 data=gemm.uniform model=" + model;
}

TEST(ModelFile, ARowInACasePrintsBackToItself) {
    const auto own = read_model_text(model_file_text(renamed(*find_gemm_model("hopper-fp8"))));
    ASSERT_TRUE(own.ok());
    auto c = parse_case(case_with("any"));
    ASSERT_TRUE(c.ok());
    c.value().gemm.model = {&own.value()->row, false, own.value()};
    const std::string text = print(c.value());
    const auto again = parse_case(text);
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(print(again.value()), text);
    EXPECT_EQ(again.value(), c.value());
    GemmModel row = *again.value().gemm.model.row;
    EXPECT_EQ(row.source, "");
    row.source = own.value()->row.source;
    expect_same(row, own.value()->row);
}

TEST(ModelFile, ARowOfACaseTakesItsFactorsAlone) {
    const auto c = parse_case(case_with(
        R"("{\"name\":\"mine\",\"operands\":[\"bf16\"],\"products\":4,\"fraction_bits\":23}")"));
    ASSERT_FALSE(c.ok());
    EXPECT_EQ(c.error().message, "model mine multiplies bf16, not e4m3");
}

std::string refusal(const std::string& text) {
    const auto own = read_model_text(text);
    EXPECT_FALSE(own.ok()) << text;
    return own.ok() ? "" : own.error().message;
}

// A good row with other words in it.
std::string with(const std::string& words) {
    return R"({"mxcheck_model": 1, "name": "mine", "operands": ["e4m3"], )" + words + "}";
}

struct Wrong {
    std::string text, sentence;
};

TEST(ModelFile, WhatCanBeNoSumOfAProcessorIsRefusedWithASentence) {
    const Wrong all[] = {
        {with(R"("products": 4, "sum": "fused")"),
         "no machine is so: a fused sum rounds to nearest even, and nothing is cut of it"},
        {with(R"("products": 4, "sum": "chain_flushed", "rounding": "nearest_even")"),
         "no machine is so: a chain that flushes subnormals has 2 products a step"},
        {with(R"("products": 6, "sum": "lanes_flushed", "rounding": "nearest_even")"),
         "no machine is so: a step of two sums has a multiple of 4 products"},
        {with(R"("products": 2, "sum": "chain_flushed")"),
         "no machine is so: sums that flush subnormals are rounded to nearest even, to binary32, "
         "and nothing is cut of them"},
        {with(R"("products": 16, "fraction_bits": 27, "sum": "products_alone")"),
         "no machine is so: products that are summed alone are cut and rounded to odd, to "
         "binary32"},
    };
    for (const Wrong& wrong : all) EXPECT_EQ(refusal(wrong.text), wrong.sentence) << wrong.text;
}

TEST(ModelFile, WhatCanBeNoRowIsRefusedWithASentence) {
    const Wrong all[] = {
        {"", "this is no JSON object"},
        {"[1]", "this is no JSON object"},
        {"{}", "\"mxcheck_model\" is missing"},
        {R"({"mxcheck_model": 2})", "model files of version 2 are not known, only of version 1"},
        {R"({"mxcheck_model": 1})", "\"name\" is missing"},
        {with(R"("product": 4)"), "\"products\" is missing"},
        {with(R"("products": 4, "fracton_bits": 3)"),
         "\"fracton_bits\" is no key that this program knows"},
        {with(R"("products": "4")"), "\"products\" must be a whole number"},
        {with(R"("products": 0, "fraction_bits": 13)"),
         "no machine is so: a step has from 1 to 128 products"},
        {with(R"("products": 129, "fraction_bits": 13)"),
         "no machine is so: a step has from 1 to 128 products"},
        {with(R"("products": 4, "fraction_bits": 41)"),
         "no machine is so: from 1 to 40 bits of fraction are kept, or all"},
        {with(R"("products": 4, "fraction_bits": 25, "sum": "even_and_odd")"),
         "no machine is so: products that are summed first keep 24 bits of fraction at the most"},
        {with(R"("products": 3, "sum": "pairs_flushed")"),
         "no machine is so: a tree has 2 or 4 products, and nothing is cut of them"},
        {with(R"("products": 4, "rounding": "nearest_even", "promotion": 128)"),
         "no machine is so: exact steps, trees and products that are summed first have no "
         "promotion, no scales of blocks, no order, no exponent floor and no cut of their own"},
        {with(R"("products": 1, "rounding": "toward_zero")"),
         "no machine is so: a fused multiply-add rounds to nearest even, to binary32"},
        {with(R"("products": 4, "fraction_bits": 13, "promotion": 30)"),
         "no machine is so: a promotion comes after whole steps, and within 2^20 products"},
        {with(R"("products": 8, "fraction_bits": 13, "residue_tile": 12)"),
         "no machine is so: a tile whose residue comes first has whole steps, and 4096 products at "
         "the most"},
        {with(R"("products": 8, "fraction_bits": 13, "residue_tile": 16, "promotion": 32)"),
         "no machine is so: where a residue comes first there is no promotion, no order and no "
         "scale of blocks"},
        {with(R"("products": 1, "residue_tile": 7, "rounding": "nearest_even")"),
         "no machine is so: where a step is one product, it is the same with and without a "
         "residue"},
        {with(R"("products": 4, "fraction_bits": 13, "exact_group": 0)"),
         "no machine is so: a group has from 1 to 32 products"},
        {with(R"("products": 4, "fraction_bits": 13, "exact_group": -2147483648)"),
         "no machine is so: a group has from 1 to 32 products"},
        {with(R"("products": 4, "fraction_bits": 13, "exponent_floor": -301)"),
         "no machine is so: an exponent floor lies from -300 to 100"},
        {with(R"("products": 4, "fraction_bits": 13, "scaling": "product_exponent")"),
         "no machine is so: a row that applies scales of blocks says which formats and blocks "
         "they have, and no other row does"},
        {with(R"("products": 4, "fraction_bits": 13, "exact_group": 16)"),
         "operands 'e4m3' has more bits than groups are summed exactly of, which is 6"},
        {with(R"("products": 4, "fraction_bits": 13, "cut": "stochastic")"),
         "unknown cut 'stochastic'; known are: nearest_even nearest_away toward_zero "
         "toward_positive toward_negative away_from_zero to_odd"},
        {with(R"("products": 4, "fraction_bits": 13, "accumulator": "e8m23")"),
         "accumulator 'e8m23' is none of f32, f16, bf16 and e8m1 to e8m22"},
        {R"({"mxcheck_model": 1, "name": "hopper-fp8", "operands": ["e4m3"], "products": 4})",
         "name 'hopper-fp8' is one of this program's own models"},
        {R"({"mxcheck_model": 1, "name": "a b", "operands": ["e4m3"], "products": 4})",
         "name 'a b' has not from 1 to 64 characters of a to z, 0 to 9, '-', '_' and '.'"},
        {R"({"mxcheck_model": 1, "name": "a", "operands": [], "products": 4})",
         "operands has no element format"},
        {R"({"mxcheck_model": 1, "name": "a", "operands": ["e4m3", "e4m3"], "products": 4})",
         "operands 'e4m3' stands there twice"},
    };
    for (const Wrong& wrong : all) EXPECT_EQ(refusal(wrong.text), wrong.sentence) << wrong.text;
    EXPECT_EQ(read_model_file("/nowhere/model.json").error().message.substr(0, 10), "model file");
}

}  // namespace
}  // namespace mx
