// The proofs see every fault of planted_faults.txt: this program is built with a copy of the
// oracles that has them all, each behind a switch, and with none on it proves what the real one
// proves.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "reference/proof/digests.hpp"
#include "reference/proof/gemm_problem.hpp"
#include "reference/test/planted_faults.hpp"
#include "reference/test/planted_switch.hpp"

namespace mx::proof {
namespace {

std::vector<Proof> proofs_here() {
    std::vector<Proof> proofs;
    for (const auto& list : {round_proofs(), conversion_proofs(), scale_proofs(), block_proofs(),
                             whole_block_proofs(), pack_proofs(), gemm_rounded_proofs()})
        proofs.insert(proofs.end(), list.begin(), list.end());
    return proofs;
}

const std::vector<PlantedFault>& faults() {
    static const PlantedFaults list = read_planted_faults(MX_PLANTED_FAULTS);
    return list.faults;
}

const Proof* find(const std::vector<Proof>& proofs, const std::string& name) {
    const auto at = std::find_if(proofs.begin(), proofs.end(),
                                 [&](const Proof& proof) { return proof.name == name; });
    return at == proofs.end() ? nullptr : &*at;
}

Report run(const Proof& proof) {
    return proof.run(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
}

// What a proof says against this build: that fast differs, or that exact is not what it was.
std::string complaint(const Proof& proof) {
    const Report report = run(proof);
    if (report.mismatches > 0) return report.counterexamples.front();
    const Digest found{report.digest, report.count, proof.name};
    return find_digest(checked_in_digests(), proof.name) == nullptr
               ? ""
               : digest_complaint(checked_in_digests(), found);
}

TEST(PlantedFaults, AreWholeAndNamedOnce) {
    std::set<std::string> names;
    EXPECT_EQ(read_planted_faults(MX_PLANTED_FAULTS).bad_line, 0);
    EXPECT_GE(faults().size(), 46u);
    for (const PlantedFault& fault : faults()) {
        EXPECT_TRUE(names.insert(fault.name).second) << fault.name << " twice";
        EXPECT_NE(find(proofs_here(), fault.proof), nullptr) << fault.proof;
    }
}

TEST(PlantedFaults, WithNoneOnEveryProofHolds) {
    planted_fault = 0;
    std::set<std::string> done;
    const std::vector<Proof> proofs = proofs_here();
    for (const PlantedFault& fault : faults()) {
        const Proof* proof = find(proofs, fault.proof);
        if (proof == nullptr || !done.insert(fault.proof).second) continue;
        EXPECT_EQ(complaint(*proof), "") << fault.proof;
    }
}

TEST(PlantedFaults, AreEachSeenByTheProofThatIsNamed) {
    const std::vector<Proof> proofs = proofs_here();
    for (std::size_t i = 0; i < faults().size(); ++i) {
        const Proof* proof = find(proofs, faults()[i].proof);
        if (proof == nullptr) continue;
        planted_fault = static_cast<int>(i + 1);
        const std::clock_t before = std::clock();
        const std::string seen = complaint(*proof);
        std::printf("%-50s %-44s %6.2f s  %s\n", faults()[i].name.c_str(),
                    faults()[i].proof.c_str(),
                    static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, seen.c_str());
        EXPECT_NE(seen, "") << faults()[i].name << " is not seen by " << faults()[i].proof;
    }
    planted_fault = 0;
}

}  // namespace
}  // namespace mx::proof
