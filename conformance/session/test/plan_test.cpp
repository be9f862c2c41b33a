// Tests of the plan: shards partition it, and a user's tensor is quantized every way.
#include <gtest/gtest.h>

#include <set>

#include "conformance/data/tensor_file.hpp"
#include "conformance/data/test/file_bytes.hpp"
#include "conformance/session/plan.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::session {
namespace {

TEST(Shards, PartitionThePlanAndKeepItsOrder) {
    Sources sources;
    PlanRequest request;
    request.level = "smoke";
    const auto plan = plan_cases(built_in_suites(), request, sources).value();
    for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{100'000}}) {
        std::vector<std::string> joined(plan.size());
        std::size_t total = 0;
        for (std::uint64_t index = 0; index < std::min<std::uint64_t>(count, 200); ++index) {
            const auto mine = of_shard(plan, {index, count});
            total += mine.size();
            for (std::size_t i = 0; i < mine.size(); ++i)
                joined.at(index + i * count) += print(mine[i].c);
        }
        if (count > 200) continue;  // most of those are empty
        EXPECT_EQ(total, plan.size());
        for (std::size_t i = 0; i < plan.size(); ++i) ASSERT_EQ(joined[i], print(plan[i].c));
    }
}

// Cases and the sweeps after them: a shard's place i is the run's place index + i * count in both.
TEST(Shards, DealOutTwoListsAsOne) {
    const std::vector<int> cases{0, 1, 2, 3}, sweeps{4, 5, 6};
    for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}})
        for (std::uint64_t index = 0; index < count; ++index) {
            std::vector<int> mine = of_shard(cases, {index, count});
            for (const int sweep : of_shard(sweeps, {index, count}, cases.size()))
                mine.push_back(sweep);
            for (std::size_t i = 0; i < mine.size(); ++i)
                EXPECT_EQ(mine[i], static_cast<int>(index + i * count));
            EXPECT_EQ(mine.size(), (7 - index + count - 1) / count);
        }
}

TEST(Shards, AreWrittenIndexSlashCount) {
    EXPECT_EQ(parse_shard("2/8").value().index, 2u);
    EXPECT_EQ(parse_shard("2/8").value().count, 8u);
    for (const std::string text : {"8/8", "0/0", "3", "", "/", "-1/2", "1/2/3", "a/2", "0/"}) {
        const auto shard = parse_shard(text);
        ASSERT_FALSE(shard.ok()) << text;
        EXPECT_EQ(shard.error().message,
                  "shard '" + text + "' is not I/N with I below N, such as 0/4");
    }
}

TEST(PlanOfAFile, AsksEveryFormatDialectAndAxisInCasesThatParseBack) {
    const data::test::ScratchDirectory scratch;
    const std::string path = scratch.at("it's a \"b\".npy");
    const data::HostTensor tensor{"x", "f16", {3, 5}, std::vector<std::byte>(30)};
    ASSERT_TRUE(data::write_tensor_file(path, {{tensor}, {}}).ok());
    const auto plan = plan_input(path, {});
    ASSERT_TRUE(plan.ok());
    std::set<std::string> texts;
    Sources sources;
    for (const PlannedCase& one : plan.value()) {
        EXPECT_EQ(parse_case(print(one.c)).value(), one.c);
        EXPECT_TRUE(sources.open(one.c).ok());
        texts.insert(print(one.c));
    }
    // Along two axes and along both at once, into elements with each overflow, and once cast to a
    // scale.
    std::size_t wanted = 0;
    for (const Quantizer& dialect : e8m0_quantizers) {
        if (!dialect.reads("f16")) continue;
        for (const BlockFormat& format : mx_block_formats)
            wanted += dialect.quantizes(format) ? 3 + overflows.size() : 0;
        ++wanted;
    }
    // Of a scale with a mantissa the blocks lie as the format says.
    for (const Quantizer& dialect : real_scale_quantizers)
        for (const BlockFormat& format : real_scale_formats)
            if (dialect.reads("f16") && dialect.quantizes(format))
                wanted += format.block_rows == 1 ? 3 : 1;
    for (const Quantizer& row : conversions)
        for (const BlockFormat& format : mx_block_formats)
            if (row.reads("f16") && contains(row.formats, format)) wanted += overflows.size();
    EXPECT_EQ(texts.size(), wanted);
    EXPECT_FALSE(plan_input(scratch.at("none.npy"), {}).ok());
}

std::string refusal_of_plan(const PlanOptions& options) {
    Sources sources;
    const auto cases = planned(options, sources);
    return cases ? "" : cases.error().message;
}

TEST(PlanOfOptions, HoldsWhatWasAskedForAlone) {
    Sources sources;
    const PlanOptions options{
        .dialects = {"nv"}, .formats = {"mxfp4-e2m1"}, .level = "smoke", .suite = "quant*"};
    const auto cases = planned(options, sources);
    ASSERT_TRUE(cases);
    EXPECT_FALSE(cases.value().empty());
    for (const PlannedCase& each : cases.value()) {
        EXPECT_EQ(each.c.operation, OperationKind::quantize);
        EXPECT_EQ(dialect_name(each.c), "nv");
        EXPECT_EQ(format_name(each.c), "mxfp4-e2m1");
    }
}

TEST(PlanOfOptions, RefusesWhatNobodyCanMean) {
    EXPECT_NE(refusal_of_plan({.dialects = {"nvv"}}).find("'nv'"), std::string::npos);
    EXPECT_NE(refusal_of_plan({.formats = {"mxfp4-e2m2"}}).find("mxfp4-e2m1"), std::string::npos);
    EXPECT_EQ(refusal_of_plan({.suite = "quantize", .input = "x.npy"}),
              "--input runs instead of the suites; leave --suite out");
    EXPECT_EQ(refusal_of_plan({.suite_file = "none.suite"}),
              "suite file none.suite cannot be read");
    EXPECT_EQ(refusal_of_plan({.formats = {"e8m0"}, .level = "smoke", .suite = "quantize"}),
              "no case of suite 'quantize' has level 'smoke' and these dialects and formats");
}

TEST(PlanOfOptions, NamesAList) {
    EXPECT_EQ(list_text({}), "all");
    EXPECT_EQ(list_text({"a", "b"}), "a,b");
}

}  // namespace
}  // namespace mx::session
