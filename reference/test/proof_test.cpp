// The whole set of proofs, each printed with its domain, count and digest; and the proof machinery
// itself, which must notice a planted defect.
#include <gtest/gtest.h>

#include <cstdio>
#include <ctime>
#include <set>

#include "reference/proof/digests.hpp"
#include "reference/proof/e8m0_functions.hpp"
#include "reference/proof/interval_table.hpp"
#include "reference/proof/stretch.hpp"
#include "reference/proof/sweep.hpp"

namespace mx::proof {
namespace {

// One proof against its checked-in digest. Each is a test of its own, so that CTest runs a share of
// them on each core.
class Holds : public testing::Test {
public:
    explicit Holds(const Proof& proof) : proof_(proof) {}
    void TestBody() override {
        const std::clock_t before = std::clock();
        const Report report = proof_.run(1);
        std::printf("%-44s %7.2f s %11llu inputs %llu mismatches  %.16s  %s\n", proof_.name.c_str(),
                    static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC,
                    static_cast<unsigned long long>(report.count),
                    static_cast<unsigned long long>(report.mismatches), report.digest.c_str(),
                    proof_.domain.c_str());
        EXPECT_EQ(report.mismatches, 0u) << testing::PrintToString(report.counterexamples);
        EXPECT_GT(report.count, 0u);
        EXPECT_EQ(
            digest_complaint(checked_in_digests(), {report.digest, report.count, proof_.name}), "");
    }

private:
    Proof proof_;
};

// Those of the whole set are checked in as they are run.
TEST(Proofs, HaveNamesOfTheirOwnAndADigestEach) {
    std::set<std::string> names, digests;
    for (const Proof& proof : all_proofs())
        EXPECT_TRUE(names.insert(proof.name).second) << proof.name << " twice";
    for (const Digest& digest : checked_in_digests())
        EXPECT_TRUE(digests.insert(digest.name).second) << digest.name << " twice";
    for (const std::string& name : digests) EXPECT_TRUE(names.contains(name)) << name;
    for (const Proof& proof : all_proofs()) {
        if (proof.effort == Effort::always) {
            EXPECT_TRUE(digests.contains(proof.name)) << proof.name;
        }
    }
}

TEST(Proofs, DigestDoesNotDependOnTheNumberOfThreads) {
    for (const Proof& proof : all_proofs()) {
        if (proof.name != "round e2m1 nearest_even bf16" &&
            proof.name != "scale mxfp4-e2m1 ocp f16")
            continue;
        EXPECT_EQ(proof.run(1).digest, proof.run(3).digest) << proof.name;
    }
}

TEST(Digests, ComplainOfWhatIsUnknownOrDifferent) {
    const std::string digest(64, 'a'), other(64, 'b');
    const std::vector<Digest> known{{digest, 10, "one"}};
    EXPECT_EQ(digest_complaint(known, {digest, 10, "one"}), "");
    EXPECT_EQ(digest_complaint(known, {digest, 10, "two"}), "no digest of 'two' is known");
    EXPECT_TRUE(digest_complaint(known, {digest, 11, "one"}).ends_with("is of 10"));
    EXPECT_TRUE(digest_complaint(known, {other, 10, "one"}).ends_with(digest));
}

TEST(Digests, AreReadBackAsTheyWerePrinted) {
    const std::vector<Digest> digests{{std::string(64, '1'), 0, "a b"},
                                      {std::string(64, 'f'), ~std::uint64_t{0}, "c"}};
    const DigestList list =
        parse_digests("# head\n" + print(digests[0]) + "\n" + print(digests[1]));
    EXPECT_EQ(list.bad_line, 0u);
    EXPECT_EQ(list.digests, digests);
}

TEST(Digests, NameTheFirstBadLine) {
    const std::string good = print({std::string(64, '1'), 7, "a"});
    const std::string number(64, '1');
    for (const std::string& bad :
         {good.substr(0, good.size() - 1), std::string("x\n"), number + "  7\n",
          number + "  seven  a\n", number + "  7  \n", number + " 7  a\n",
          std::string(64, 'G') + "  7  a\n", number + "  99999999999999999999  a\n",
          std::string(66, '1') + "\n"}) {
        const DigestList list = parse_digests(good + bad);
        EXPECT_EQ(list.bad_line, 2u) << bad;
        EXPECT_EQ(list.digests.size(), 1u) << bad;
    }
}

// A stretch of significands that e4m3 rounds to 0x38, which is 1, or not.
Stretch around_one(std::uint64_t first, std::uint32_t count) {
    const fast::RoundingRule rule{Rounding::nearest_even, {}, false};
    const auto target = [&](Overflow overflow) {
        return fast::target_of(formats::e4m3, overflow, rule, {-23, 24});
    };
    return {formats::e4m3, target(Overflow::saturate), target(Overflow::overflow), first, count};
}

TEST(Stretch, NoticesOneWrongCodeAtEitherEnd) {
    // 1 + 1/16 is half way to the next code and goes to the even one.
    const std::uint64_t one = 1u << 23, last = one + (1u << 19);
    const auto count = static_cast<std::uint32_t>(last - one + 1);
    EXPECT_TRUE(all_round_to(around_one(one, count), {0x38, 0x38}));
    EXPECT_FALSE(all_round_to(around_one(one, count + 1), {0x38, 0x38}));
    EXPECT_FALSE(all_round_to(around_one(one, count), {0x39, 0x38}));
    EXPECT_FALSE(all_round_to(around_one(one, count), {0x38, 0x39}));
    for (const std::uint64_t at : {one, last})
        EXPECT_FALSE(all_round_to(around_one(at, 1), {0x39, 0x39}));
}

TEST(IntervalTable, CoversEveryCodeOnceAndCountsWhatDiffers) {
    const auto table = interval_table({*find_quantizer("ocp"), formats::f16, formats::e5m2});
    std::uint64_t next = 0;
    std::vector<std::uint8_t> codes;
    for (const exact::Run& run : table) {
        EXPECT_EQ(run.first, next);
        next = std::uint64_t{run.last} + 1;
        codes.insert(codes.end(), run.last - run.first + 1, static_cast<std::uint8_t>(run.result));
    }
    EXPECT_EQ(next, 1u << 16);
    EXPECT_EQ(count_differences(table, {0, codes}), 0u);
    for (const std::size_t at : {std::size_t{0}, std::size_t{0x3C01}, codes.size() - 1}) {
        codes[at] ^= 0x80;
        EXPECT_EQ(count_differences(table, {0, codes}), 1u) << at;
        codes[at] ^= 0x80;
    }
    // Any part of the output may be compared on its own.
    const std::span<const std::uint8_t> all(codes);
    EXPECT_EQ(count_differences(table, {0x1234, all.subspan(0x1234, 0x8001)}), 0u);
    EXPECT_GT(count_differences(table, {0x1235, all.subspan(0x1234, 0x8001)}), 0u);
}

TEST(DialectFunctions, EveryDialectThatQuantizesAFormatIsProvedForIt) {
    for (const BlockFormat& format : mx_block_formats)
        for (std::size_t row = 0; row < e8m0_quantizers.size(); ++row) {
            if (!e8m0_quantizers[row].quantizes(format)) continue;
            const auto stands_for = [&](const auto& rules) {
                for (std::size_t first = 0; first <= row; ++first)
                    if (is_first_with(rules, first, format) &&
                        rules(e8m0_quantizers[first]) == rules(e8m0_quantizers[row]))
                        return true;
                return false;
            };
            EXPECT_TRUE(stands_for(scale_rules)) << e8m0_quantizers[row].name;
            EXPECT_TRUE(stands_for(element_rules)) << e8m0_quantizers[row].name;
            EXPECT_TRUE(stands_for(without_description)) << e8m0_quantizers[row].name;
        }
}

TEST(DialectFunctions, RowsThatDifferInWhatIsReadAreNotTheSame) {
    const Quantizer& common_rules = e8m0_quantizers[0];
    Quantizer row = common_rules;
    row.scale_cast.byte_min = 1;
    EXPECT_NE(scale_rules(row), scale_rules(common_rules));
    EXPECT_EQ(element_rules(row), element_rules(common_rules));
    row = common_rules;
    row.sign_of_zero = SignOfZero::dropped;
    EXPECT_EQ(scale_rules(row), scale_rules(common_rules));
    EXPECT_NE(element_rules(row), element_rules(common_rules));
}

std::uint64_t step_at_100(std::uint32_t input) {
    return input < 100 ? 7 : 9;
}

TEST(Sweep, NoticesOneWrongInputInAMillion) {
    const auto runs = exact::runs_of(0, 1'000'000, step_at_100);
    ASSERT_EQ(runs.size(), 2u);
    const auto planted = [](std::uint32_t input) {
        return input == 765'432 ? std::uint64_t{8} : step_at_100(input);
    };
    EXPECT_EQ(sweep(runs, 2, step_at_100).mismatches, 0u);
    const Report report = sweep(runs, 2, planted);
    EXPECT_EQ(report.count, 1'000'001u);
    EXPECT_EQ(report.mismatches, 1u);
    ASSERT_EQ(report.counterexamples.size(), 1u);
    EXPECT_EQ(report.counterexamples[0], "0xbadf8: fast 0x8, exact 0x9");
}

TEST(Sweep, NoticesABorderOffByOneOnEitherSide) {
    const auto runs = exact::runs_of(0, 1000, step_at_100);
    for (const std::uint32_t border : {99u, 101u}) {
        const auto planted = [border](std::uint32_t input) {
            return input < border ? std::uint64_t{7} : std::uint64_t{9};
        };
        EXPECT_EQ(sweep(runs, 1, planted).mismatches, 1u);
    }
}

TEST(CompareEverywhere, CountsEveryMismatchAndKeepsTheFirst) {
    const auto exact = [](std::uint32_t input) { return input; };
    const auto fast = [](std::uint32_t input) { return input % 1000 == 5 ? 0u : input; };
    const Report report = compare_everywhere(10'000, 2, exact, fast);
    EXPECT_EQ(report.count, 10'000u);
    EXPECT_EQ(report.mismatches, 10u);
    EXPECT_EQ(report.counterexamples.size(), counterexamples_kept);
}

TEST(Digest, DependsOnEveryRunAndOnNothingElse) {
    const auto runs = exact::runs_of(0, 1000, step_at_100);
    auto changed = runs;
    changed[1].first += 1;
    EXPECT_EQ(digest_of(runs), digest_of(exact::runs_of(0, 1000, step_at_100)));
    EXPECT_NE(digest_of(runs), digest_of(changed));
}

TEST(Sha256, KnownAnswersOfFips180) {
    EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256(std::string(1'000'000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

}  // namespace
}  // namespace mx::proof

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    for (const mx::proof::Proof& proof : mx::proof::all_proofs())
        if (proof.effort == mx::proof::Effort::always)
            testing::RegisterTest(
                "FastEqualsExact", proof.name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                [proof]() -> testing::Test* { return new mx::proof::Holds(proof); });
    return RUN_ALL_TESTS();
}
