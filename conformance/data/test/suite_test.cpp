// Tests of the suites: the built-in ones are well formed and plan in one stable order at every
// level, and a bad line is named by its place.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "conformance/case/names.hpp"
#include "conformance/data/suite.hpp"
#include "conformance/data/test/case_of.hpp"
#include "reference/spec/cast_formats.hpp"

namespace mx {
namespace {

std::vector<PlannedCase> planned(const std::vector<Suite>& suites, const PlanRequest& request) {
    Sources sources;
    auto plan = plan_cases(suites, request, sources);
    EXPECT_TRUE(plan.ok()) << (plan ? "" : plan.error().message);
    return plan ? std::move(plan).value() : std::vector<PlannedCase>{};
}

PlanRequest at_level(std::string_view level, std::uint64_t seed = 0) {
    PlanRequest request;
    request.level = level;
    request.seed = seed;
    return request;
}

// The plan of a level, made once for all tests.
const std::vector<PlannedCase>& plan_at(std::string_view level) {
    static std::map<std::string_view, std::vector<PlannedCase>> plans;
    const auto known = plans.find(level);
    return known != plans.end()
               ? known->second
               : plans.emplace(level, planned(built_in_suites(), at_level(level))).first->second;
}

PlanRequest of_suites(const std::string& glob) {
    PlanRequest request;
    request.suite_glob = glob;
    return request;
}

std::vector<std::string> texts_of(const std::vector<PlannedCase>& plan) {
    std::vector<std::string> texts;
    for (const PlannedCase& one : plan) texts.push_back(one.suite + ": " + print(one.c));
    return texts;
}

TEST(BuiltInSuites, EveryLinePrintsBackToItself) {
    std::set<std::string> names;
    for (const Suite& suite : built_in_suites()) {
        EXPECT_TRUE(names.insert(suite.name).second);
        int lines = 0;
        std::istringstream stream(suite.text);
        for (std::string text; std::getline(stream, text);) {
            if (text.empty() || text.front() == '#') continue;
            ++lines;
            const auto line = parse_suite_line(text);
            ASSERT_TRUE(line.ok()) << text << ": " << line.error().message;
            EXPECT_EQ(print(line.value()), text);
            EXPECT_EQ(parse_suite_line(print(line.value())).value(), line.value());
        }
        EXPECT_GE(lines, 3) << suite.name;
    }
    for (const std::string& operation : operation_names()) EXPECT_TRUE(names.contains(operation));
}

TEST(BuiltInSuites, PlanAtEveryLevelAndEachLevelHoldsTheOneBefore) {
    std::set<std::string> before;
    for (const std::string_view level : levels) {
        if (level == large_level) continue;
        const auto texts = texts_of(plan_at(level));
        const std::set<std::string> now(texts.begin(), texts.end());
        EXPECT_EQ(now.size(), texts.size()) << "a case stands twice in level " << level;
        EXPECT_GT(now.size(), before.size()) << level;
        for (const std::string& text : before) ASSERT_TRUE(now.contains(text)) << text;
        before = now;
    }
}

TEST(BuiltInSuites, LevelLargeStandsBesideTheOthers) {
    std::set<std::string> large;
    for (const std::string& text : texts_of(plan_at(large_level))) large.insert(text);
    EXPECT_GT(large.size(), 1000u) << "thousands of calls";
    for (const std::string& text : texts_of(plan_at("full")))
        EXPECT_FALSE(large.contains(text)) << text;
    EXPECT_TRUE(level_holds("exhaustive", "smoke"));
    EXPECT_FALSE(level_holds("exhaustive", "large"));
    EXPECT_FALSE(level_holds("large", "smoke"));
    EXPECT_TRUE(level_holds("large", "large"));
}

TEST(BuiltInSuites, PlanInOneOrder) {
    const PlanRequest request = at_level("quick", 7);
    const auto first = texts_of(planned(built_in_suites(), request));
    EXPECT_EQ(first, texts_of(planned(built_in_suites(), request)));
}

TEST(BuiltInSuites, EveryQuickCaseParsesBackToItselfAndHasData) {
    Sources sources;
    const auto plan = planned(built_in_suites(), at_level("quick", 3));
    EXPECT_GT(plan.size(), 1000u);
    for (const PlannedCase& one : plan) {
        const auto back = parse_case(print(one.c));
        ASSERT_TRUE(back.ok()) << print(one.c) << ": " << back.error().message;
        ASSERT_EQ(back.value(), one.c) << print(one.c);
        ASSERT_TRUE(sources.open(one.c).ok()) << print(one.c);
        ASSERT_EQ(one.c.seed, 3u);
    }
}

// Operation, format and dialect of every case of a level.
std::set<std::string> asked_at(std::string_view level) {
    std::set<std::string> found;
    for (const PlannedCase& one : plan_at(level))
        found.insert(std::string(name_of(one.c.operation)) + " " + format_name(one.c) + " " +
                     dialect_name(one.c));
    return found;
}

std::vector<std::pair<std::string, OperationKind>> named_operations() {
    std::vector<std::pair<std::string, OperationKind>> named;
    for (const OperationRow& row : operations()) named.emplace_back(row.name, row.kind);
    return named;
}

// Elements of no block are cast to where a case names them: the suites ask for those of MX.
std::vector<std::string> formats_of_any(OperationKind kind) {
    const bool has_blocks = kind == OperationKind::quantize || kind == OperationKind::dequantize;
    std::vector<std::string> names = has_blocks ? block_format_names() : format_names(kind);
    std::erase_if(
        names, [](const std::string& name) { return find_named(cast_formats, name) != nullptr; });
    return names;
}

// The same for every combination that is valid with some type of value.
std::set<std::string> askable() {
    std::set<std::string> names;
    for (const auto& [operation, kind] : named_operations())
        for (const std::string& format : formats_of_any(kind))
            for (const std::string& dialect : quantizer_names())
                for (const std::string& type : type_names()) {
                    const std::string key = operation == "dequantize" ? "output=" : "input=";
                    const auto c =
                        read_case(operation + " format=" + format + " dialect=" + dialect + " " +
                                  key + type + " shape=1x1 data=x");
                    if (c && check_combination(c.value()))
                        names.insert(operation + " " + format + " " + dialect);
                }
    return names;
}

// A suite that forgot a name would go unnoticed: every table row must be asked about.
TEST(BuiltInSuites, QuickAsksEveryFormatInEveryDialectForEveryOperation) {
    const std::set<std::string> found = asked_at("quick");
    for (const std::string& name : askable()) EXPECT_TRUE(found.contains(name)) << name;
}

TEST(BuiltInSuites, SmokeAsksEveryFormatDialectAndAxis) {
    std::set<std::string> formats, dialects_found, axes;
    for (const PlannedCase& one : plan_at("smoke")) {
        formats.insert(std::string(name_of(one.c.operation)) + " " + format_name(one.c));
        dialects_found.insert(dialect_name(one.c));
        if (one.c.operation == OperationKind::quantize) axes.emplace(name_of(one.c.axis));
    }
    for (const std::string& axis : axis_names()) EXPECT_TRUE(axes.contains(axis)) << axis;
    for (const auto& [operation, kind] : named_operations())
        for (const std::string& format : formats_of_any(kind))
            EXPECT_TRUE(formats.contains(operation + " " + format)) << operation << " " << format;
    for (const std::string& dialect : quantizer_names())
        EXPECT_TRUE(dialects_found.contains(dialect)) << dialect;
}

TEST(BuiltInSuites, AskEveryRoundingAxisAndBlockSizeAtQuick) {
    std::set<std::string> found;
    for (const PlannedCase& one : plan_at("quick")) {
        found.emplace(name_of(one.c.axis));
        if (one.c.rules) found.emplace(rounding_name_of(*one.c.rules));
        if (one.c.rules) found.emplace(name_of(one.c.rules->subnormals));
        found.insert(std::to_string(one.c.block));
    }
    for (const auto& names : {rounding_names(), subnormal_names(), axis_names(), block_names()})
        for (const std::string& name : names) EXPECT_TRUE(found.contains(name)) << name;
}

std::vector<Suite> one_line(const std::string& text) {
    return {{"mine", text}};
}

TEST(SuiteLines, MultiplyTheirValuesInTheOrderWritten) {
    const auto texts = texts_of(
        planned(one_line("smoke quantize format=mxfp8-e4m3,mxfp8-e5m2 dialect=nv,ocp shape=1x1,2x2 "
                         "data=edge.tie index=0:10:4"),
                {}));
    ASSERT_EQ(texts.size(), 2u * 2 * 2 * 3);
    EXPECT_EQ(texts[0],
              "mine: quantize format=mxfp8-e4m3 dialect=nv input=f32 axis=row block=32 "
              "layout=dense scales=linear packing=bytes shape=1x1 data=edge.tie index=0 "
              "seed=0");
    EXPECT_NE(texts[1].find("shape=1x1 data=edge.tie index=4"), std::string::npos) << texts[1];
    EXPECT_NE(texts[2].find("index=8"), std::string::npos) << texts[2];
    EXPECT_NE(texts[3].find("shape=2x2"), std::string::npos) << texts[3];
    EXPECT_NE(texts.back().find("format=mxfp8-e5m2 dialect=ocp"), std::string::npos);
}

TEST(SuiteLines, AnAutomaticShapeHoldsEveryBlockOnce) {
    for (const std::string axis : {"row", "col"}) {
        const auto plan = planned(one_line("smoke dequantize format=mxfp8-e4m3 axis=" + axis +
                                           " shape=auto data=codes.all"),
                                  {});
        ASSERT_EQ(plan.size(), 1u);
        EXPECT_EQ(block_grid(plan[0].c).count(), 2048);
        EXPECT_EQ(element_count(plan[0].c), 65536);
        EXPECT_EQ(axis == "row" ? plan[0].c.columns : plan[0].c.rows, 32);
    }
}

TEST(SuiteLines, AnAutomaticShapeOfTilesIsAColumnOfThem) {
    const auto plan = planned(one_line("smoke dequantize format=mxfp8-e4m3 axis=tile block=16 "
                                       "shape=auto data=codes.all"),
                              {});
    ASSERT_EQ(plan.size(), 1u);
    EXPECT_EQ(block_grid(plan[0].c).count(), 256);
    EXPECT_EQ(plan[0].c.columns, 16);
}

TEST(SuiteLines, AnAutomaticShapeOfBothAxesIsWholeTilesOfBlocks) {
    const auto plan = planned(one_line("smoke quantize format=mxfp8-e4m3 axis=both block=16 "
                                       "shape=auto data=edge.special"),
                              {});
    ASSERT_EQ(plan.size(), 1u);
    Sources sources;
    const auto size = static_cast<std::int64_t>(sources.open(plan[0].c).value()->size());
    EXPECT_EQ(plan[0].c.rows, (size + 15) / 16 * 16);
    EXPECT_EQ(plan[0].c.columns, 16);
}

TEST(SuiteLines, AStarStandsForWhatGoesTogether) {
    const std::string tail = " shape=1x1 data=edge.tie";
    const auto formats_of = [&](const std::string& fields) {
        std::set<std::string> formats;
        for (const PlannedCase& one : planned(one_line("smoke " + fields + tail), {}))
            formats.insert(format_name(one.c));
        return formats;
    };
    EXPECT_EQ(formats_of("quantize format=* dialect=ocp").size(), mx_block_formats.size());
    const auto torchao = formats_of("quantize format=* dialect=torchao-floor");
    EXPECT_FALSE(torchao.contains("mxint8"));
    EXPECT_TRUE(torchao.contains("mxfp4-e2m1"));
    EXPECT_EQ(formats_of("convert format=* rounding=stochastic-x4"),
              (std::set<std::string>{"e2m3", "e3m2", "e4m3", "e5m2"}));
    EXPECT_FALSE(formats_of("convert format=* rounding=to_odd").contains("e8m0"));
    EXPECT_TRUE(formats_of("convert format=*").contains("e8m0"));
}

TEST(SuiteLines, WithoutAStarMustGoTogetherAndOneWithItMustMakeACase) {
    for (const std::string dialect :
         {"dialect=torchao-floor input=f32", "dialect=torchao-floor input=*"}) {
        Sources sources;
        const auto plan = plan_cases(
            one_line("smoke quantize format=mxint8 " + dialect + " shape=1x1 data=edge.tie"), {},
            sources);
        ASSERT_FALSE(plan.ok()) << dialect;
        EXPECT_NE(plan.error().message.find("does not quantize mxint8"), std::string::npos)
            << plan.error().message;
    }
}

TEST(SuiteLines, OverlapWithoutMakingACaseTwice) {
    const std::string line = "quantize format=mxfp8-e4m3 dialect=* shape=1x1 data=edge.tie";
    const auto plan = planned(
        one_line("smoke " + line + " index=0\nquick " + line + "\nquick " + line + " index=1"), {});
    const auto once = planned(one_line("smoke " + line), {});
    EXPECT_EQ(plan.size(), 2 * once.size());
}

TEST(SuiteLines, BitsAreOneValue) {
    const auto plan = planned(one_line("smoke quantize format=* dialect=ocp shape=auto "
                                       "data=bits:3f800000,40000000,0"),
                              {});
    ASSERT_EQ(plan.size(), mx_block_formats.size());
    EXPECT_EQ(plan[0].c.data, "bits:3f800000,40000000,0");
    EXPECT_EQ(plan[0].c.rows, 1);
}

TEST(SuiteLines, KeepASeedOfTheirOwn) {
    const auto plan =
        planned(one_line("smoke quantize format=mxfp8-e4m3 shape=1x1 data=random.bits seed=5\n"
                         "smoke quantize format=mxfp8-e4m3 shape=1x1 data=random.bits"),
                at_level("quick", 9));
    ASSERT_EQ(plan.size(), 2u);
    EXPECT_EQ(plan[0].c.seed, 5u);
    EXPECT_EQ(plan[1].c.seed, 9u);
}

TEST(SuiteLines, CommentsLevelsGlobsAndDialectsChoose) {
    const std::string line = "quantize format=mxfp8-e4m3 dialect=ocp,nv shape=1x1 data=edge.";
    const std::vector<Suite> suites{
        {"a", "# nothing\n\nsmoke " + line + "tie\nfull " + line + "amax\n"},
        {"b", "quick " + line + "scale\n"}};
    EXPECT_EQ(planned(suites, at_level("smoke")).size(), 2u);
    EXPECT_EQ(planned(suites, at_level("quick")).size(), 4u);
    EXPECT_EQ(planned(suites, at_level("full")).size(), 6u);
    EXPECT_EQ(planned(suites, of_suites("?")).size(), 4u);
    EXPECT_EQ(planned(suites, of_suites("b")).size(), 2u);
    PlanRequest one = at_level("quick");
    one.dialects = {"nv"};
    EXPECT_EQ(planned(suites, one).size(), 2u);
}

struct BadLine {
    std::string text;
    std::string says;
};

TEST(SuiteLines, AreRefusedByFileAndLine) {
    const std::string head = "smoke quantize format=mxfp8-e4m3 ";
    const BadLine table[] = {
        {"quantize format=*", "starts with a level"},
        {"smoke", "starts with a level"},
        {"smok quantize format=*", "starts with a level"},
        {"smoke quantise format=mxfp8-e4m3 shape=1x1 data=edge.tie", "did you mean 'quantize'?"},
        {head + "shape=1x1 data=edge.tie dialect=ocp,opc", "unknown dialect 'opc'"},
        {head + "shape=1x1 data=edge.tie shape=2x2", "'shape' is given twice"},
        {head + "shape=auto data=random.bits", "'random.bits' never ends"},
        {head + "shape=auto data=edge.tye", "unknown data family 'edge.tye'"},
        {head + "shape=1x1 data=edge.tie index=0:5", "index '0:5' is not NUMBER"},
        {head + "shape=1x1 data=edge.tie index=0:5:0", "index '0:5:0' makes no or too many"},
        {head + "shape=1x1 data=edge.tie index=0:1e9:1", "'1e9' is not a whole number"},
        {head + "shape=1x1 data=edge.tie index=0:10000000000:1", "makes no or too many"},
        {head + "data=edge.tie", "no shape="},
    };
    for (const BadLine& row : table) {
        Sources sources;
        const auto plan = plan_cases(one_line("# first\n\n" + row.text), {}, sources);
        ASSERT_FALSE(plan.ok()) << row.text;
        EXPECT_TRUE(plan.error().message.starts_with("mine.suite:3: ")) << plan.error().message;
        EXPECT_NE(plan.error().message.find(row.says), std::string::npos) << row.text << "\n"
                                                                          << plan.error().message;
    }
}

// A line that stands for no case at all is a mistake, never a quiet pass.
TEST(SuiteLines, ThatMakeNoCaseAreRefused) {
    const std::string head = "smoke quantize format=mxfp8-e4m3 shape=1x1 ";
    for (const std::string text : {"data=edge.tie index=5:5:1", "data=edge.tie index=7:5:1",
                                   "data=edge.tie index=9:5:9223372036854775808", "data=", "data=*",
                                   "data=edge.tie dialect="}) {
        Sources sources;
        EXPECT_FALSE(plan_cases(one_line(head + text), {}, sources).ok()) << text;
    }
}

TEST(SuiteLines, IndicesStopAtTheEndOfTheirType) {
    const auto plan = planned(one_line("smoke quantize format=mxfp8-e4m3 shape=1x1 data=edge.tie "
                                       "index=0:18446744073709551615:9223372036854775808"),
                              {});
    ASSERT_EQ(plan.size(), 2u);
    EXPECT_EQ(plan[1].c.index, std::uint64_t{1} << 63);
}

TEST(SuiteLines, AreCountedAsTheyArePlanned) {
    for (const Suite& suite : built_in_suites()) {
        if (suite.name != "convert" && suite.name != "large" && suite.name != "gemm") continue;
        const auto counts = count_cases(suite);
        ASSERT_TRUE(counts.ok());
        for (std::size_t i = 0; i < levels.size(); ++i)
            EXPECT_EQ(counts.value()[i], planned({suite}, at_level(levels[i])).size())
                << suite.name << " " << levels[i];
    }
}

TEST(Plan, RefusesUnknownLevelsAndSuites) {
    Sources sources;
    const auto level = plan_cases(built_in_suites(), at_level("quik"), sources);
    ASSERT_FALSE(level.ok());
    EXPECT_EQ(level.error().message, "unknown level 'quik'; did you mean 'quick'?");
    const auto suite = plan_cases(built_in_suites(), of_suites("quantise"), sources);
    ASSERT_FALSE(suite.ok());
    EXPECT_EQ(suite.error().message, "unknown suite 'quantise'; did you mean 'quantize'?");
}

}  // namespace
}  // namespace mx
