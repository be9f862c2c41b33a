// Tests of waivers: what a file may say, which cases it covers, and what it never covers.
#include "conformance/waivers/waivers.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "conformance/case/field_names.hpp"

namespace mx {
namespace {

using results::CaseResult;
using results::Verdict;

const std::string good = R"([[waiver]]
device = "dev.so"
case = "quantize format=mxfp8-*"
mismatch = "tie"
reason = "known"
link = "https://example.org/1"
owner = "Ada"
expires = 2027-01-31
)";

std::string with(const std::string& line, const std::string& instead) {
    std::string text = good;
    const std::size_t place = text.find(line);
    EXPECT_NE(place, std::string::npos) << line;
    return text.replace(place, line.size(), instead);
}

std::string error_of(const std::string& text) {
    const auto waivers = parse_waivers(text, "w.toml");
    return waivers ? "" : waivers.error().message;
}

std::vector<Waiver> settled(const std::string& text, const std::string& today = "2026-11-22",
                            const std::string& device = "build/dev.so") {
    auto waivers = parse_waivers(text, "w.toml");
    EXPECT_TRUE(waivers) << error_of(text);
    settle(waivers.value(),
           {device, today, {"quantize format=mxfp8-e4m3 dialect=ocp", "convert format=e4m3"}});
    return waivers.value();
}

CaseResult failing(const std::vector<std::string>& classes) {
    CaseResult result;
    result.case_text = "quantize format=mxfp8-e4m3 dialect=ocp";
    result.verdict = Verdict::fail;
    for (const std::string& name : classes) {
        results::Mismatch mismatch;
        mismatch.mismatch_class = name;
        result.mismatches.push_back(mismatch);
    }
    return result;
}

TEST(Waivers, AreReadWithTheLineTheyBeginOn) {
    const auto waivers = parse_waivers("# two\n\n" + good + "\n" + good, "w.toml");
    ASSERT_TRUE(waivers) << error_of(good);
    ASSERT_EQ(waivers.value().size(), 2u);
    EXPECT_EQ(waivers.value()[0].line, 3u);
    EXPECT_EQ(waivers.value()[1].line, 12u);
    const results::Waiver& record = waivers.value()[0].record;
    EXPECT_EQ(record.device, "dev.so");
    EXPECT_EQ(record.case_pattern, "quantize format=mxfp8-*");
    EXPECT_EQ(record.mismatch_class, "tie");
    EXPECT_EQ(record.reason, "known");
    EXPECT_EQ(record.link, "https://example.org/1");
    EXPECT_EQ(record.owner, "Ada");
    EXPECT_EQ(record.expires, "2027-01-31");
}

TEST(Waivers, EveryKeyMustBeThere) {
    for (const char* key : {"device", "case", "mismatch", "reason", "link", "owner", "expires"}) {
        std::string text = good;
        const std::size_t line = text.find("\n" + std::string(key) + " =");
        text.erase(line + 1, text.find('\n', line + 1) - line);
        EXPECT_EQ(error_of(text), "w.toml:1: the waiver has no '" + std::string(key) + "'");
    }
}

TEST(Waivers, WhatNobodyCanMeanIsRefusedWithItsLine) {
    struct Refusal {
        std::string text, sentence;
    };
    const std::vector<Refusal> refusals{
        {with("owner", "onwer"), "w.toml:7: unknown key 'onwer'; did you mean 'owner'?"},
        {with("\"Ada\"", "\" \""), "w.toml:7: 'owner' is empty"},
        {with("\"Ada\"", "7"), "w.toml:7: 'owner' must be a text in quotes"},
        {with("2027-01-31", "\"2027-01-31\""), "w.toml:8: 'expires' must be a day"},
        {with("2027-01-31", "2027-01-31T00:00:00Z"), "w.toml:8: 'expires' must be a day"},
        {with("2027-01-31", "2027-02-30"), "w.toml:8: "},
        {with("2027-01-31", "soon"), "w.toml:8: "},
        {with("quantize format=mxfp8-*", "*"), "w.toml:1: the case pattern fits every case"},
        {with("quantize format=mxfp8-*", "* format=* seed=**"), "fits every case"},
        {with("quantize format=mxfp8-*", "quantise"),
         "w.toml:1: unknown operation 'quantise'; did you mean 'quantize'?"},
        {with("format=mxfp8-*", "fromat=x"), "unknown field 'fromat'; did you mean 'format'?"},
        {with("format=mxfp8-*", "format"), "w.toml:1: "},
        {with("\"dev.so\"", "\"*\""), "w.toml:1: 'device' fits every device"},
        {with("\"tie\"", "\"ties\""),
         "w.toml:1: unknown mismatch class 'ties'; did you mean 'tie'?"},
        {good + "axis = \"both\"\n", "w.toml:1: unknown axis 'both'; known are: row col tile"},
        {good + "axis = \"\"\n", "w.toml:9: 'axis' is empty"},
        {with("\"tie\"", "\"*\""), "w.toml:1: unknown mismatch class '*'"},
        {with("https://example.org/1", "ticket 1"), "w.toml:1: 'link' is 'ticket 1'"},
        {with("[[waiver]]", "[[waivers]]"), "w.toml:1: unknown key 'waivers'"},
        {with("[[waiver]]", "[waiver]"), "w.toml:1: a waiver stands under [[waiver]]"},
        {"waiver = [1]\n", "w.toml:1: a waiver stands under [[waiver]]"},
        {good + "owner = \"Bob\"\n", "w.toml:9: "},
        {"", "w.toml: holds no waiver"},
        {"\xff\xfe", "w.toml:1: "},
    };
    for (const Refusal& refusal : refusals)
        EXPECT_NE(error_of(refusal.text).find(refusal.sentence), std::string::npos)
            << refusal.sentence << "\n"
            << error_of(refusal.text) << "\n"
            << refusal.text;
}

TEST(Waivers, CharactersBeyondAsciiStandInTextsAndCommentsOnly) {
    const auto reason = [](const std::string& value) { return with("\"known\"", value); };
    for (const std::string& text :
         {std::string("[\xEF\xBB\xA0[w"), "[[\u00e9waiver]]\n" + good.substr(11),
          reason("\"\"\"a\\ \n \u00e9\"\"\""), reason("\"\\\u00e9\""), reason("'' \u00e9"),
          reason("\"\"\"a\"\"\"\"\"\u00e9")})
        EXPECT_NE(error_of(text).find("beyond ASCII outside quotes and comments"),
                  std::string::npos)
            << text;
    EXPECT_NE(error_of(good + "\n\u00e9").find("w.toml:10:"), std::string::npos);
    for (const std::string& text :
         {"\xEF\xBB\xBF" + good, good + "# \u00e9", with("Ada", "\u00c5sa \\\"\u00e9\\\\"),
          reason("'\u00e9\\'"), reason("'''\n'\u00e9\n'''"),
          reason("\"\"\"\"\u00e9\\\n  known\u00e9\"\"\"\"\"")})
        EXPECT_EQ(error_of(text), "") << text;
}

TEST(Waivers, HaveAStateWhenTheRunBegins) {
    EXPECT_EQ(settled(good)[0].record.state, "in force");
    EXPECT_EQ(settled(good, "2027-01-31")[0].record.state, "in force");
    EXPECT_EQ(settled(good, "2027-02-01")[0].record.state, "expired");
    EXPECT_EQ(settled(good, "2026-11-22", "dev.so")[0].record.state, "in force");
    EXPECT_EQ(settled(good, "2026-11-22", "other.so")[0].record.state, "other device");
    EXPECT_EQ(settled(with("mxfp8-*", "mxfp4"))[0].record.state, "unmatched");
}

// A failure of axis both is of its rows or of its columns, and says so.
CaseResult failing_along(const std::string& case_axis, const std::string& axis) {
    CaseResult result = failing({"tie"});
    result.case_text += " axis=" + case_axis;
    result.mismatches.front().axis = axis;
    return result;
}

TEST(Waivers, AnAxisNarrowsThemToItsBlocks) {
    struct Row {
        std::string waiver, case_axis, mismatch;
        Verdict verdict;
    };
    for (const Row& row :
         {Row{"col", "both", "col", Verdict::waived}, Row{"col", "both", "row", Verdict::fail},
          Row{"row", "both", "row", Verdict::waived}, Row{"tile", "both", "row", Verdict::fail},
          Row{"row", "both", "", Verdict::fail}, Row{"col", "col", "", Verdict::waived},
          Row{"col", "row", "", Verdict::fail}, Row{"tile", "tile", "", Verdict::waived}}) {
        auto waivers = parse_waivers(good + "axis = \"" + row.waiver + "\"\n", "w.toml").value();
        CaseResult result = failing_along(row.case_axis, row.mismatch);
        settle(waivers, {"dev.so", "2026-11-22", {result.case_text}});
        excuse(waivers, result);
        EXPECT_EQ(result.verdict, row.verdict)
            << row.waiver << " " << row.case_axis << " " << row.mismatch;
        const bool possible =
            row.case_axis == row.waiver || (row.case_axis == "both" && row.waiver != "tile");
        EXPECT_EQ(waivers.front().record.state, possible ? "in force" : "unmatched");
    }
}

TEST(Waivers, WithAnAxisFitNoCaseThatHasNone) {
    EXPECT_EQ(
        settled(with("quantize format=mxfp8-*", "convert") + "axis = \"row\"\n")[0].record.state,
        "unmatched");
}

// Every field of the grammar may stand in a pattern; one that is added to it does without a change
// here.
TEST(Waivers, APatternTakesEveryFieldOfACase) {
    for (const std::string& field : field_names())
        EXPECT_EQ(error_of(with("quantize format=mxfp8-*", "* " + field + "=x")), "") << field;
}

TEST(Waivers, PatternsFitWordByWord) {
    const auto fit = [](const std::string& pattern, const std::string& text) {
        auto waivers = parse_waivers(with("quantize format=mxfp8-*", pattern), "w.toml");
        return fits(waivers.value().front(), text);
    };
    const std::string text = "quantize format=mxfp8-e4m3 dialect=ocp input=f32 data=edge.tie";
    EXPECT_TRUE(fit("quantize", text));
    EXPECT_TRUE(fit("* dialect=ocp", text));
    EXPECT_TRUE(fit("quant* data=edge.* format=*e4m?", text));
    EXPECT_FALSE(fit("convert", text));
    EXPECT_FALSE(fit("quantize dialect=nv", text));
    EXPECT_FALSE(fit("quantize dialect=oc", text));
    EXPECT_FALSE(fit("quantize layout=*", text));  // a field that the case does not have
    EXPECT_TRUE(fit("sweep map=*e4m3*", "sweep map=\"device elements e4m3 ocp\""));
}

TEST(Waivers, CoverACaseOnlyIfEveryClassIsCovered) {
    const auto waivers = settled(good);
    CaseResult result = failing({"tie", "tie"});
    excuse(waivers, result);
    EXPECT_EQ(result.verdict, Verdict::waived);
    EXPECT_EQ(result.waivers, std::vector<std::uint64_t>{1});
    EXPECT_EQ(result.reason, "until 2027-01-31, Ada: known (https://example.org/1)");
    for (const char* more : {"scale", "unclassified"}) {
        CaseResult worse = failing({"tie", more});
        const CaseResult before = worse;
        excuse(waivers, worse);
        EXPECT_EQ(worse, before) << more;
    }
    const auto both = settled(good + with("\"tie\"", "\"scale\""));
    CaseResult covered = failing({"scale", "tie"});
    excuse(both, covered);
    EXPECT_EQ(covered.verdict, Verdict::waived);
    EXPECT_EQ(covered.waivers, (std::vector<std::uint64_t>{1, 2}));
}

TEST(Waivers, WhatTheSourceLeavesOpenNeedsNone) {
    CaseResult result = failing({"tie", "special"});
    result.mismatches[1].open_decision = "NaN";
    excuse(settled(good), result);
    EXPECT_EQ(result.verdict, Verdict::waived);
    CaseResult open = failing({"special"});
    open.mismatches[0].open_decision = "NaN";
    excuse(settled(good), open);
    EXPECT_EQ(open.verdict, Verdict::fail);  // no waiver was used, so none excuses it
}

TEST(Waivers, ThatAreNotInForceCoverNothing) {
    for (const auto& waivers : {settled(good, "2027-02-01"), settled(good, "2026-11-22", "x.so"),
                                settled(with("mxfp8-*", "mxfp4"))}) {
        CaseResult result = failing({"tie"});
        excuse(waivers, result);
        EXPECT_EQ(result.verdict, Verdict::fail);
    }
}

TEST(Waivers, CoverNoCrashAndNoFaultOfOurs) {
    for (int i = 0; i < results::verdict_count; ++i) {
        const auto verdict = static_cast<Verdict>(i);
        CaseResult result = failing({"tie"});
        result.verdict = verdict;
        excuse(settled(good), result);
        const bool excused = verdict == Verdict::fail || verdict == Verdict::flaky;
        EXPECT_EQ(result.verdict, excused ? Verdict::waived : verdict);
    }
}

TEST(Waivers, NobodyNeededAreNamed) {
    results::Run run;
    for (const Waiver& waiver : settled(good + good + with("mxfp8-*", "mxfp4")))
        run.header.waivers.push_back(waiver.record);
    run.cases.push_back(failing({"tie"}));
    run.cases.back().waivers = {1};
    EXPECT_EQ(unneeded(run), std::vector<std::size_t>{1});
}

TEST(Waivers, TheExampleIsOne) {
    std::ifstream file(MX_EXAMPLE_WAIVERS);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(error_of(text), "");
    EXPECT_FALSE(text.empty());
}

}  // namespace
}  // namespace mx
