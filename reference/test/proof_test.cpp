// The whole set of proofs, each printed with its domain, count and digest; and the proof machinery
// itself, which must notice a planted defect.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "reference/proof/sweep.hpp"

namespace mx::proof {
namespace {

int threads() {
    return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

TEST(Proofs, FastEqualsExactOnEveryDomain) {
    std::uint64_t inputs = 0;
    const auto start = std::chrono::steady_clock::now();
    for (const Proof& proof : all_proofs()) {
        const Report report = proof.run(threads());
        std::printf("%-44s %11llu inputs %llu mismatches  %.16s  %s\n", proof.name.c_str(),
                    static_cast<unsigned long long>(report.count),
                    static_cast<unsigned long long>(report.mismatches), report.digest.c_str(),
                    proof.domain.c_str());
        EXPECT_EQ(report.mismatches, 0u)
            << proof.name << ": " << testing::PrintToString(report.counterexamples);
        EXPECT_GT(report.count, 0u) << proof.name;
        EXPECT_EQ(report.digest.size(), 64u) << proof.name;
        inputs += report.count;
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    std::printf("%llu inputs in %.1f s\n", static_cast<unsigned long long>(inputs),
                elapsed.count());
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
