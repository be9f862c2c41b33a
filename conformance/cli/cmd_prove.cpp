// mxcheck prove: the proofs that the fast oracle equals the exact one.
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/progress.hpp"
#include "reference/proof/proof.hpp"

namespace mx::cli {
namespace {

struct ProveOptions {
    std::string glob = "*";
    std::uint64_t jobs = 0;
};

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

void print_heading() {
    std::printf("%-52s %12s %10s %8s  %-16s  %s\n", "proof", "inputs", "mismatches", "seconds",
                "digest", "domain");
}

// True if it held.
bool run_one(const proof::Proof& proof, int threads, std::uint64_t& inputs) {
    const Clock::time_point start = Clock::now();
    const proof::Report report = proof.run(threads);
    inputs += report.count;
    std::printf("%-52s %12llu %10llu %8.2f  %.16s  %s\n", proof.name.c_str(),
                static_cast<unsigned long long>(report.count),
                static_cast<unsigned long long>(report.mismatches), seconds_since(start),
                report.digest.c_str(), proof.domain.c_str());
    for (const std::string& text : report.counterexamples) std::printf("    %s\n", text.c_str());
    std::fflush(stdout);
    return report.mismatches == 0;
}

int prove(const ProveOptions& options) {
    const unsigned cores = std::thread::hardware_concurrency();
    const int threads = static_cast<int>(options.jobs != 0 ? options.jobs : cores == 0 ? 1 : cores);
    const Clock::time_point start = Clock::now();
    std::uint64_t inputs = 0;
    std::size_t ran = 0, failed = 0;
    for (const proof::Proof& proof : proof::all_proofs()) {
        if (!matches_glob(options.glob, proof.name)) continue;
        if (ran++ == 0) print_heading();
        failed += run_one(proof, threads, inputs) ? 0 : 1;
    }
    if (ran == 0) {
        complain("no proof is named '" + options.glob + "'; '*' lists them all");
        return exit_usage;
    }
    std::printf("%zu of %zu proofs hold: fast equals exact on %llu inputs (%s)\n", ran - failed,
                ran, static_cast<unsigned long long>(inputs),
                duration_text(seconds_since(start)).c_str());
    return failed == 0 ? exit_conformant : exit_self_test;
}

}  // namespace

Command prove_command() {
    auto o = std::make_shared<ProveOptions>();
    return {"prove",
            "prove that the fast oracle equals the exact one over whole domains",
            "mxcheck prove 'round e4m3*'",
            {{"PROOF", "only proofs of this name; * and ? are wildcards", &o->glob},
             {"--jobs", "threads (default one per core)", &o->jobs}},
            [o] { return prove(*o); }};
}

}  // namespace mx::cli
