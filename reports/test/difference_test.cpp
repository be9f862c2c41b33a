// What changed since an older run: each case once, the worse first.
#include "reports/model/difference.hpp"

#include <gtest/gtest.h>

#include "reports/test/fixtures.hpp"

namespace mx::reports::test {
namespace {

using results::Verdict;

TEST(Difference, ARunBesideItself) {
    const results::Run run = fixture("every_verdict");
    const Difference difference = difference_of(run, run);
    EXPECT_EQ(difference.same, run.cases.size());
    EXPECT_TRUE(difference.cases.empty());
    EXPECT_TRUE(difference.headers.empty());
}

TEST(Difference, EveryKindOfChange) {
    results::Run before = empty_run(), after = empty_run();
    for (const Verdict verdict :
         {Verdict::pass_exact, Verdict::fail, Verdict::fail, Verdict::pass_exact})
        add_case(before, verdict);
    for (const Verdict verdict : {Verdict::fail, Verdict::pass_exact, Verdict::fail})
        add_case(after, verdict);
    after.cases[2].mismatched_elements = 7;
    add_case(after, Verdict::crash).case_text = "another";
    before.header.device_facts = {{"driver", "580"}};
    const Difference difference = difference_of(before, after);
    EXPECT_EQ(difference.same, 0u);
    ASSERT_EQ(difference.cases.size(), 5u);
    for (const Change change : changes) EXPECT_EQ(difference.of(change), 1u) << name_of(change);
    EXPECT_EQ(difference.cases[0].change, Change::worse);
    EXPECT_EQ(difference.cases[0].after, &after.cases[0]);
    EXPECT_EQ(difference.cases[4].change, Change::removed);
    EXPECT_EQ(difference.cases[4].after, nullptr);
    EXPECT_EQ(difference.headers, std::vector<std::string>{"driver: \"580\", now \"unknown\""});
}

// A device whose support shrinks must not look as good as before.
TEST(Difference, ACaseThatIsNotSupportedAnyMoreIsWorse) {
    const std::vector order{Verdict::fail, Verdict::not_supported, Verdict::pass_exact};
    for (std::size_t was = 0; was < order.size(); ++was)
        for (std::size_t is = 0; is < order.size(); ++is) {
            results::Run before = empty_run(), after = empty_run();
            add_case(before, order[was]);
            add_case(after, order[is]);
            const Difference difference = difference_of(before, after);
            EXPECT_EQ(difference.of(Change::worse), is < was ? 1u : 0u) << was << " " << is;
            EXPECT_EQ(difference.of(Change::better), is > was ? 1u : 0u) << was << " " << is;
        }
    results::Run before = empty_run(), after = empty_run();
    add_case(before, Verdict::pass_bounded);
    add_case(after, Verdict::untested);
    EXPECT_EQ(difference_of(before, after).of(Change::worse), 1u);
}

}  // namespace
}  // namespace mx::reports::test
