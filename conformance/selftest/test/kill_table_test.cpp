// The kill table says what happened: survivors, totals, and the same numbers in all renderings.
#include "conformance/selftest/kill_table.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "conformance/mutants/gemm_acceptance.hpp"
#include "conformance/selftest/test/subject_under_test.hpp"

namespace mx::selftest {
namespace {

Row killed(const std::string& name, std::vector<Outcome> outcomes) {
    return {mutant(name),
            {7, Kill{"smoke", "quantize", "fail", "tie", "quantize format=mxfp8-e4m3", ""}, {}},
            std::move(outcomes),
            ""};
}

KillTable two_bugs() {
    KillTable table;
    table.level = "quick";
    table.canary = {40, ""};
    table.base = {9, 100, 10, ""};
    table.oracle = {11, 200, 20, ""};
    table.rows.push_back(killed(
        "ties_up", {Outcome::killed, Outcome::missed, Outcome::killed_on_edges, Outcome::missed}));
    table.rows.push_back(killed("other", std::vector<Outcome>(4, Outcome::not_asked)));
    return table;
}

KillTable one_survivor() {
    KillTable table = two_bugs();
    table.rows[1].hunt = {12, {}};
    return table;
}

std::string last_line(const std::string& text) {
    return text.substr(text.rfind('\n', text.size() - 2) + 1);
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(KillTable, PassesWhenAllDied) {
    EXPECT_TRUE(problems_of(two_bugs()).empty());
    EXPECT_EQ(last_line(render_text(two_bugs())),
              "killed 2 of 2 planted bugs; canary failed, clean base passed\n");
}

TEST(KillTable, ASurvivorIsAProblem) {
    const auto problems = problems_of(one_survivor());
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0],
              "other survived 12 cases of level quick; what other does; it shows on: what it "
              "needs");
    EXPECT_EQ(summary_line(one_survivor()),
              "killed 1 of 2 planted bugs; canary failed, clean base passed");
    EXPECT_TRUE(contains(render_text(one_survivor()), "SURVIVED"));
    EXPECT_TRUE(contains(render_markdown(one_survivor()), "| other | SURVIVED |"));
}

TEST(KillTable, EachCheckIsAProblemWhenItFails) {
    for (const auto part : {0, 1, 2}) {
        KillTable table = two_bugs();
        if (part == 0) table.base.complaint = "the base is wrong";
        if (part == 1) table.oracle.complaint = "the oracle is wrong";
        if (part == 2) table.canary.complaint = "the canary sings";
        ASSERT_EQ(problems_of(table).size(), 1u);
        EXPECT_TRUE(contains(summary_line(table), "NOT")) << summary_line(table);
        EXPECT_TRUE(contains(render_text(table), problems_of(table)[0]));
    }
}

TEST(KillTable, ABugThatWasNotTriedIsAProblem) {
    KillTable table = two_bugs();
    table.rows[1].hunt = {};
    table.rows[1].fault = "other: cannot be opened";
    EXPECT_EQ(problems_of(table), std::vector<std::string>{"other: cannot be opened"});
    EXPECT_TRUE(contains(render_text(table), "NOT TRIED"));
    EXPECT_TRUE(contains(render_json(table), "\"fault\": \"other: cannot be opened\""));
}

KillTable two_bugs_and_one_of_a_gpu() {
    KillTable table = two_bugs();
    table.gpu.rows.push_back(killed("gpu_race", {}));
    table.gpu.base = {3, 30, 3, ""};
    return table;
}

TEST(KillTableOfAGpu, AKillStandsBelowTheOthers) {
    const KillTable table = two_bugs_and_one_of_a_gpu();
    EXPECT_TRUE(problems_of(table).empty());
    EXPECT_EQ(summary_line(table),
              "killed 2 of 2 planted bugs; canary failed, clean base passed; of a GPU: killed 1 of "
              "1, clean base passed");
    const std::string text = render_text(table);
    EXPECT_LT(text.find("\nother"), text.find("\ngpu_race"));
    EXPECT_TRUE(contains(text, "the base of those of a GPU: 3 cases, 30 elements"));
    EXPECT_TRUE(contains(text, "this harness: 2 of 2\n")) << "the rules are not asked about it";
    const auto json = nlohmann::json::parse(render_json(table));
    EXPECT_EQ(json["planted"], 2);
    EXPECT_EQ(json["gpu"]["planted"], 1);
    EXPECT_EQ(json["gpu"]["killed"], 1);
    EXPECT_EQ(json["gpu"]["not_run"], 0);
    EXPECT_EQ(json["gpu"]["base"]["cases"], 3);
    EXPECT_EQ(json["gpu"]["bugs"][0]["killed"], true);
}

TEST(KillTableOfAGpu, NotRunIsNeitherKilledNorAProblem) {
    KillTable table = two_bugs_and_one_of_a_gpu();
    table.gpu.not_run = "no GPU here";
    table.gpu.base = {};
    table.gpu.rows.assign(1, {mutant("gpu_race"), {}, {}, ""});
    EXPECT_TRUE(problems_of(table).empty());
    EXPECT_EQ(summary_line(table),
              "killed 2 of 2 planted bugs; canary failed, clean base passed; of a GPU: 1 not run");
    EXPECT_TRUE(
        contains(render_text(table), "the planted bugs of a GPU were not run: no GPU here"));
    EXPECT_TRUE(
        contains(render_markdown(table), "| gpu_race | not run | - | - | - | - | no GPU here |"));
    const auto json = nlohmann::json::parse(render_json(table));
    EXPECT_EQ(json["gpu"]["killed"], 0);
    EXPECT_EQ(json["gpu"]["not_run"], 1);
    EXPECT_EQ(json["gpu"]["reason"], "no GPU here");
    EXPECT_FALSE(json["gpu"].contains("base"));
    EXPECT_EQ(json["gpu"]["bugs"][0]["killed"], false);
    EXPECT_EQ(json["gpu"]["bugs"][0]["not_run"], true);
}

TEST(KillTableOfAGpu, ASurvivorAndABaseThatIsNotCleanAreProblems) {
    KillTable table = two_bugs_and_one_of_a_gpu();
    table.gpu.rows[0].hunt = {5, {}};
    table.gpu.base.complaint = "the base is wrong";
    const auto problems = problems_of(table);
    ASSERT_EQ(problems.size(), 2u);
    EXPECT_EQ(problems[0], "the base is wrong");
    EXPECT_EQ(problems[1].substr(0, 17), "gpu_race survived");
    EXPECT_TRUE(contains(summary_line(table), "killed 0 of 1, clean base did NOT pass"));
}

TEST(KillTableOfAGpu, AloneItSaysNothingOfWhatWasNotAsked) {
    KillTable table = two_bugs_and_one_of_a_gpu();
    table.rows.clear();
    EXPECT_TRUE(problems_of(table).empty());
    EXPECT_EQ(summary_line(table), "planted bugs of a GPU: killed 1 of 1, clean base passed");
    for (const std::string& text :
         {render_text(table), render_markdown(table), render_json(table)}) {
        EXPECT_FALSE(contains(text, "canary")) << text;
        EXPECT_FALSE(contains(text, "this harness")) << text;
        EXPECT_FALSE(contains(text, "oracle as a device")) << text;
        EXPECT_FALSE(contains(text, "oracle_as_device")) << text;
    }
}

KillTable two_bugs_and_one_of_a_gemm() {
    KillTable table = two_bugs();
    std::vector<Outcome> outcomes(acceptance::gemm_rules().size(), Outcome::missed);
    outcomes[3] = Outcome::killed;
    table.gemm.rows.push_back(killed("gemm_late", std::move(outcomes)));
    table.gemm.base = {5, 50, 0, ""};
    table.gemm.canary = {6, ""};
    return table;
}

TEST(KillTableOfAGemm, HasRulesOfItsOwn) {
    const KillTable table = two_bugs_and_one_of_a_gemm();
    EXPECT_TRUE(problems_of(table).empty());
    EXPECT_EQ(summary_line(table),
              "killed 2 of 2 planted bugs; canary failed, clean base passed; of a GEMM: killed 1 "
              "of 1, canary failed, clean base passed");
    const std::string text = render_text(table);
    EXPECT_TRUE(contains(text, "sqnr-80dB (normal, quantized): 1 of 1\n")) << text;
    EXPECT_TRUE(contains(text, "cosine-0.98 (normal, quantized): 0 of 1\n"));
    EXPECT_TRUE(contains(text, "the base of those of a GEMM: 5 cases, 50 elements"));
    EXPECT_TRUE(contains(text, "the canary of those of a GEMM: failed all of its 6 smoke cases"));
    const auto json = nlohmann::json::parse(render_json(table));
    EXPECT_EQ(json["planted"], 2);
    EXPECT_EQ(json["gemm"]["killed"], 1);
    EXPECT_EQ(json["gemm"]["bugs"][0]["rules"]["sqnr-80dB"], "killed");
    EXPECT_EQ(json["gemm"]["rules"][3]["killed"], 1);
    EXPECT_EQ(json["gemm"]["canary"]["failed"], 6);
    EXPECT_FALSE(contains(render_text(two_bugs()), "GEMM"));
}

TEST(KillTableOfAGemm, ASurvivorAndChecksThatFailAreProblems) {
    KillTable table = two_bugs_and_one_of_a_gemm();
    table.gemm.rows[0].hunt = {7, {}};
    table.gemm.base.complaint = "the base is wrong";
    table.gemm.canary.complaint = "the canary sings";
    EXPECT_EQ(problems_of(table).size(), 3u);
    EXPECT_TRUE(contains(summary_line(table),
                         "killed 0 of 1, canary did NOT fail as it must, clean base did NOT pass"));
}

TEST(KillTableOfRealScales, StandsBesideTheOthers) {
    KillTable table = two_bugs();
    table.real_scales.rows.push_back(killed("real_scale_late", {}));
    table.real_scales.base = {5, 50, 7, ""};
    table.real_scales.canary = {6, ""};
    EXPECT_TRUE(problems_of(table).empty());
    EXPECT_EQ(summary_line(table),
              "killed 2 of 2 planted bugs; canary failed, clean base passed; of real scales: "
              "killed 1 of 1, canary failed, clean base passed");
    EXPECT_TRUE(contains(render_text(table), "the base of those of real scales: 5 cases"));
    const auto json = nlohmann::json::parse(render_json(table));
    EXPECT_EQ(json["real_scales"]["killed"], 1);
    EXPECT_FALSE(json["real_scales"].contains("rules"));
    table.real_scales.rows[0].hunt = {7, {}};
    table.real_scales.base.complaint = "the base is wrong";
    table.real_scales.canary.complaint = "the canary sings";
    EXPECT_EQ(problems_of(table).size(), 3u);
}

TEST(KillTable, NoBugsIsAProblem) {
    KillTable table = two_bugs();
    table.rows.clear();
    EXPECT_EQ(problems_of(table), std::vector<std::string>{"there was no planted bug to kill"});
}

TEST(KillTable, TotalsCountOnlyBugsThatARuleWasAskedAbout) {
    const std::string text = render_text(two_bugs());
    EXPECT_TRUE(contains(text, "this harness: 2 of 2\n"));
    EXPECT_TRUE(contains(text,
                         "transformer-engine (uniform in [-2, 1)): 1 of 1 bugs of MXFP8 blocks; "
                         "given our edge blocks as well 1 of 1\n"))
        << text;
    EXPECT_TRUE(contains(text, "torchao-sqnr (normal, bfloat16): 0 of 1 bugs"));
    EXPECT_TRUE(contains(text,
                         "flashinfer-cosine (normal, bfloat16): 0 of 1 bugs of MXFP8 blocks; "
                         "given our edge blocks as well 1 of 1\n"));
}

TEST(KillTable, ColumnsAreAligned) {
    std::istringstream text(render_text(two_bugs()));
    std::string head, first, second;
    std::getline(text, head);
    std::getline(text, first);
    std::getline(text, second);
    EXPECT_EQ(head.find("verdict"), first.find("fail"));
    EXPECT_EQ(head.find("by the case"), second.find("quantize format"));
}

TEST(KillTable, JsonHoldsTheSameFacts) {
    KillTable table = one_survivor();
    table.problems = problems_of(table);
    const auto json = nlohmann::json::parse(render_json(table));
    EXPECT_EQ(json["passed"], false);
    EXPECT_EQ(json["killed"], 1);
    EXPECT_EQ(json["planted"], 2);
    EXPECT_EQ(json["problems"].size(), 1u);
    EXPECT_EQ(json["bugs"][0]["kill"]["class"], "tie");
    EXPECT_EQ(json["bugs"][0]["rules"]["transformer-engine"], "killed");
    EXPECT_EQ(json["bugs"][1]["killed"], false);
    EXPECT_FALSE(json["bugs"][1].contains("kill"));
    EXPECT_EQ(json["rules"][2]["killed_only_on_edges"], 1);
    EXPECT_EQ(json["canary"]["failed"], 40);
    table = two_bugs();
    EXPECT_EQ(nlohmann::json::parse(render_json(table))["passed"], true);
}

}  // namespace
}  // namespace mx::selftest
