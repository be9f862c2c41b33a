// What the shrinker leaves: the fewest elements, the plainest case, a text that fails again.
#include "fuzz/search/shrink.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "fuzz/search/random.hpp"
#include "fuzz/search/sample.hpp"
#include "fuzz/search/test/planted_judge.hpp"

namespace mx::fuzz {
namespace {

constexpr std::uint32_t one = 0x3F800000, odd = 0x3FABCDEF;

std::vector<CodeTensor> random_inputs(const Case& c) {
    Random random({7, 0, 0});
    CodeTensor values = make_tensor({c.type, c.rows, c.columns});
    for (std::size_t i = 0; i < values.count(); ++i) values.set(i, random.bits() | 1);
    return {values};
}

Find shrunk(PlantedJudge& judge, const Case& c, const std::vector<CodeTensor>& inputs) {
    const Judgement judgement = judge.judge(c, inputs);
    EXPECT_EQ(judgement.outcome, Outcome::wrong);
    return shrink(judge, {c, inputs, judgement, 0});
}

TEST(Shrink, LeavesTheOneElementThatCounts) {
    Case c = row_of(1000);
    c.rows = 40;
    c.layout = RowLayout::padded;
    std::vector<CodeTensor> inputs = random_inputs(c);
    inputs[0].set(23'456, odd);
    PlantedJudge judge(on_code(odd));
    const Find find = shrunk(judge, c, inputs);
    ASSERT_EQ(find.cases.size(), 1u);
    EXPECT_EQ(find.cases[0].data, "bits:3fabcdef");
    EXPECT_EQ(print(find.cases[0]), print(parse_case(print(find.cases[0])).value()));
    EXPECT_EQ(find.cases[0].layout, RowLayout::dense);
    EXPECT_EQ(element_count(find.cases[0]), 1);
    EXPECT_EQ(find.lanes_not_zero, 1);
    EXPECT_EQ(find.kind, "quantize mxfp8-e4m3 tie, +1 code");
    EXPECT_EQ(find.what, "tie, +1 code");
    EXPECT_LE(find.calls, 100u);
}

// Any element but 0 will do: the simplest is 1.
TEST(Shrink, PutsTheSimplestValue) {
    const Case c = row_of(32);
    PlantedJudge judge([](const Case&, const CodeTensor& values) -> std::optional<std::size_t> {
        for (std::size_t i = 0; i < values.count(); ++i)
            if (values.at(i) != 0) return i;
        return std::nullopt;
    });
    const Find find = shrunk(judge, c, random_inputs(c));
    ASSERT_EQ(find.cases.size(), 1u);
    EXPECT_EQ(find.cases[0].data, "bits:3f800000");
}

TEST(Shrink, KeepsTwoElementsWhereTwoAreNeeded) {
    const Case c = row_of(320);
    std::vector<CodeTensor> inputs = random_inputs(c);
    inputs[0].set(70, odd);
    inputs[0].set(90, one);
    PlantedJudge judge([](const Case& at, const CodeTensor& values) {
        const auto first = on_code(odd)(at, values), second = on_code(one)(at, values);
        return first && second ? first : std::nullopt;
    });
    const Find find = shrunk(judge, c, inputs);
    ASSERT_EQ(find.cases.size(), 1u);
    EXPECT_EQ(find.cases[0].data, "bits:3fabcdef,3f800000");
    EXPECT_EQ(find.lanes_not_zero, 2);
}

// A defect of the shape: what is in it does not count, so all of it is zero.
TEST(Shrink, FindsTheSmallestShape) {
    Case c = row_of(64);
    c.rows = 5000;
    PlantedJudge judge([](const Case& at, const CodeTensor&) -> std::optional<std::size_t> {
        return at.rows >= 37 ? std::optional<std::size_t>(0) : std::nullopt;
    });
    const Find find = shrunk(judge, c, random_inputs(c));
    ASSERT_EQ(find.cases.size(), 1u);
    EXPECT_EQ(find.cases[0].rows, 37);
    EXPECT_EQ(find.cases[0].data, "bits:0");
    EXPECT_EQ(find.lanes_not_zero, 0);
}

// A device that answers the call before fails only after another question.
TEST(Shrink, NamesTheQuestionBeforeWhereOneIsNeeded) {
    class Stale : public PlantedJudge {
    public:
        Stale() : PlantedJudge(never()) {}
        Judgement judge(const Case&, const std::vector<CodeTensor>& inputs) override {
            const bool differs = asked_ && asked_->bytes.size() == inputs[0].bytes.size() &&
                                 asked_->bytes != inputs[0].bytes;
            asked_ = inputs[0];
            if (!differs) return {};
            results::Mismatch m;
            m.mismatch_class = "value";
            m.input_bits = "0x0";
            return {Outcome::wrong, "", {m}};
        }
        void restart() override { asked_.reset(); }

    private:
        std::optional<CodeTensor> asked_;
    };
    Stale judge;
    const Case c = row_of(64);
    const std::vector<CodeTensor> inputs = random_inputs(c);
    std::vector<CodeTensor> before = inputs;
    before[0].set(0, 0);
    judge.judge(c, before);
    const Judgement judgement = judge.judge(c, inputs);
    ASSERT_EQ(judgement.outcome, Outcome::wrong);
    const Find find = shrink(judge, {c, inputs, judgement, 0});
    ASSERT_EQ(find.cases.size(), 2u);
    EXPECT_EQ(find.cases[0].columns, find.cases[1].columns);
    EXPECT_LE(find.lanes_not_zero, 1);
}

// A device that fails on the whole alone, so that every half, quarter and eighth of it is tried.
TEST(Shrink, EndsSoonWhereCallsAreLongOrAnEndIsWanted) {
    Case c = row_of(1024);
    std::vector<CodeTensor> inputs{make_tensor({c.type, c.rows, c.columns})};
    for (std::size_t i = 0; i < inputs[0].count(); ++i) inputs[0].set(i, one);
    PlantedJudge judge([&](const Case&, const CodeTensor& values) -> std::optional<std::size_t> {
        if (values.bytes != inputs[0].bytes) return std::nullopt;
        return 0;
    });
    const Judgement judgement = judge.judge(c, inputs);
    EXPECT_GT(shrink(judge, {c, inputs, judgement, 0}).calls, 100u);
    const Find few = shrink(judge, {c, inputs, judgement, 0}, {.elements_max = 20 * 1024});
    EXPECT_LE(few.calls, 45u);
    ASSERT_EQ(few.cases.size(), 1u);
    EXPECT_EQ(element_count(few.cases[0]), 1024);
    int asked = 0;
    const auto is_stopped = [&asked] { return ++asked > 3; };
    EXPECT_LE(shrink(judge, {c, inputs, judgement, 0}, {.is_stopped = is_stopped}).calls, 5u);
}

// What only axis both gets wrong stays so, and less than a tile will do; what one axis shows is
// asked along that.
TEST(Shrink, AxisBothStaysOnlyWhereItMatters) {
    constexpr std::uint32_t code = 0x40490FDB;
    const Case c =
        parse_case("quantize format=mxfp8-e4m3 axis=both shape=70x100 data=bits:0").value();
    const auto inputs = [&c](std::size_t element) {
        CodeTensor values = make_tensor("f32", c.rows, c.columns);
        values.set(element, code);
        return std::vector{values};
    };
    PlantedJudge anywhere(on_code(code));
    const Find plain = shrunk(anywhere, c, inputs(5000));
    ASSERT_EQ(plain.cases.size(), 1u);
    EXPECT_EQ(plain.cases[0].axis, BlockAxis::row);
    PlantedJudge both_alone([](const Case& asked, const CodeTensor& values) {
        return asked.axis == BlockAxis::both ? on_code(code)(asked, values) : std::nullopt;
    });
    const Find find = shrunk(both_alone, c, inputs(5000));
    ASSERT_EQ(find.cases.size(), 1u);
    EXPECT_EQ(find.cases[0].axis, BlockAxis::both);
    EXPECT_EQ(element_count(find.cases[0]), 1);
}

// Nothing is claimed that does not fail again.
TEST(Shrink, WritesNothingDownThatDoesNotFailAgain) {
    int failures = 1;
    PlantedJudge judge([&failures](const Case&, const CodeTensor&) -> std::optional<std::size_t> {
        return failures-- > 0 ? std::optional<std::size_t>(0) : std::nullopt;
    });
    const Case c = row_of(64);
    EXPECT_TRUE(shrunk(judge, c, random_inputs(c)).cases.empty());
}

TEST(Sample, WhatIsWrittenOutMakesTheSameInputs) {
    for (const char* text : {
             "quantize format=mxfp8-e5m2 shape=3x70 data=random.bits seed=5",
             "quantize format=mxfp4-e2m1 axis=col block=16 shape=35x3 data=random.bits",
             "quantize format=mxint8 axis=tile block=16 shape=20x40 data=random.bits",
             "quantize format=mxint8 axis=both block=16 shape=20x40 data=random.bits",
             "quantize format=mxint8 axis=both shape=1x33 data=random.bits",
             "quantize format=mxint8 axis=both shape=65x1 data=random.bits",
             "quantize format=mxint8 axis=both shape=3x70 data=random.bits",
             "convert format=e4m3 rounding=stochastic8 shape=5x9 data=random.bits seed=3",
             "encode_scale format=mxfp8-e4m3 shape=7x9 data=random.bits",
         }) {
        const Case c = parse_case(text).value();
        Sources sources;
        Sample sample{c, make_inputs(c, *sources.open(c).value())};
        const auto written = written_out(sample);
        ASSERT_TRUE(written.has_value()) << text;
        const Case back = parse_case(print(*written)).value();
        const auto inputs = make_inputs(back, *sources.open(back).value());
        ASSERT_EQ(inputs.size(), sample.inputs.size());
        EXPECT_EQ(inputs[0].bytes, sample.inputs[0].bytes) << text;
    }
}

// Of a tile of 32 x 32 with one row or one column most blocks lie in no tensor.
TEST(Sample, BlocksThatAreNotThereAreNotWritten) {
    struct Row {
        std::string shape;
        std::size_t codes;
    };
    for (const Row& row : {Row{"1x1", 1}, Row{"2x1", 33}, Row{"1x32", 32}, Row{"1x33", 65}}) {
        const Case c =
            parse_case("quantize format=mxint8 axis=both data=random.bits shape=" + row.shape)
                .value();
        Sources sources;
        const Sample sample{c, make_inputs(c, *sources.open(c).value())};
        const std::string data = written_out(sample)->data;
        EXPECT_EQ(1 + static_cast<std::size_t>(std::ranges::count(data, ',')), row.codes) << data;
    }
}

TEST(Sample, CropKeepsTheElementsOfItsRectangle) {
    const Case c = parse_case("dequantize format=mxfp8-e4m3 shape=4x96 data=codes.random").value();
    Sources sources;
    const Sample whole{c, make_inputs(c, *sources.open(c).value())};
    const Sample part = cropped(whole, {2, 32, 2, 64});
    EXPECT_EQ(part.c.rows, 2);
    EXPECT_EQ(part.c.columns, 64);
    EXPECT_EQ(part.at(64 + 5), whole.at(3 * 96 + 32 + 5));
    EXPECT_EQ(part.inputs[1].at(3), whole.inputs[1].at(3 * 3 + 2));
}

TEST(Sample, ScalesUnlikeEachOtherCannotBeWritten) {
    const Case c = parse_case("dequantize format=mxfp8-e4m3 shape=1x64 data=codes.random").value();
    Sources sources;
    Sample sample{c, make_inputs(c, *sources.open(c).value())};
    sample.inputs[1].set(0, 1);
    sample.inputs[1].set(1, 2);
    EXPECT_FALSE(written_out(sample).has_value());
    sample.inputs[1].set(1, 1);
    ASSERT_TRUE(written_out(sample).has_value());
    EXPECT_TRUE(written_out(sample)->data.starts_with("bits:1:"));
}

}  // namespace
}  // namespace mx::fuzz
