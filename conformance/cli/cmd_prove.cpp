// mxcheck prove: the proofs that the fast oracle equals the exact one, and that the exact one gives
// the answers whose digests are checked in.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "conformance/case/names.hpp"
#include "conformance/cli/commands.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/environment.hpp"
#include "conformance/cli/progress.hpp"
#include "conformance/cli/prove_gpu.hpp"
#include "conformance/session/plan.hpp"
#include "reference/proof/held_proofs.hpp"

namespace mx::cli {
namespace {

struct ProveOptions {
    std::string glob = "*";
    std::string shard = "0/1";
    std::string state;
    std::string digests_in;
    std::string digests_out;
    std::uint64_t jobs = 0;
    bool all = false;
    bool gpu = false;
};

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// The commit alone would not tell two builds with local changes apart.
std::string this_program() {
    return "commit " + this_build().commit + ", program " + session::file_hash("/proc/self/exe");
}

struct Tally {
    std::size_t held = 0;
    std::size_t unconfirmed = 0;  // hold, but nobody has said before which answers are right
    std::size_t failed = 0;
    std::uint64_t inputs = 0;
    std::vector<proof::Digest> digests;  // of the proofs that ran to their end, here or before
    std::size_t done() const { return held + unconfirmed + failed; }
};

void print_heading() {
    std::printf("%-52s %12s %10s %8s  %-16s  %s\n", "proof", "inputs", "mismatches", "seconds",
                "digest", "domain");
}

void print_row(const proof::Proof& proof, const proof::Report& report, const std::string& seconds) {
    std::printf("%-52s %12llu %10llu %8s  %.16s  %s\n", proof.name.c_str(),
                static_cast<unsigned long long>(report.count),
                static_cast<unsigned long long>(report.mismatches), seconds.c_str(),
                report.digest.c_str(), proof.domain.c_str());
    for (const std::string& text : report.counterexamples) std::printf("    %s\n", text.c_str());
    std::fflush(stdout);
}

// The proofs of this call, in their order.
Expected<std::vector<proof::Proof>> chosen(const ProveOptions& options) {
    const auto shard = session::parse_shard(options.shard);
    if (!shard) return shard.error();
    std::vector<proof::Proof> named, proofs;
    for (const proof::Proof& proof : proof::all_proofs())
        if ((options.all || proof.effort == proof::Effort::always) &&
            matches_glob(options.glob, proof.name))
            named.push_back(proof);
    if (named.empty())
        return bad_input("no proof is named '" + options.glob +
                         "'; '*' lists them all, with --all the long ones");
    for (std::size_t i = shard.value().index; i < named.size(); i += shard.value().count)
        proofs.push_back(named[i]);
    return proofs;
}

// A digest that is checked in for a proof that no longer exists: somebody forgot one of the two.
std::size_t complain_of_strays() {
    std::size_t strays = 0;
    const std::vector<proof::Proof> proofs = proof::all_proofs();
    for (const proof::Digest& digest : proof::checked_in_digests()) {
        const auto same_name = [&](const proof::Proof& proof) { return proof.name == digest.name; };
        if (std::any_of(proofs.begin(), proofs.end(), same_name)) continue;
        complain("a digest is checked in of '" + digest.name + "', but there is no such proof");
        ++strays;
    }
    return strays;
}

// Adds one proof's report to the tally. True if the proof holds, whatever its digest.
bool judge(const proof::Digest& found, const proof::Report& report,
           const std::vector<proof::Digest>* known, Tally& tally) {
    const std::string complaint = known == nullptr ? "" : digest_complaint(*known, found);
    if (!complaint.empty()) complain(complaint);
    const bool holds = report.mismatches == 0 && report.count > 0;
    const bool is_new = known != nullptr && find_digest(*known, found.name) == nullptr;
    ++(!holds            ? tally.failed
       : complaint == "" ? tally.held
       : is_new          ? tally.unconfirmed
                         : tally.failed);
    tally.inputs += report.count;
    tally.digests.push_back(found);
    return holds;
}

// Runs one proof, or takes it from the state, and judges it. Digests are compared with the known
// ones, if any.
Status run_one(const ProveOptions& options, const proof::Proof& proof,
               const std::vector<proof::Digest>* known, proof::HeldProofs& state, Tally& tally) {
    const unsigned cores = std::thread::hardware_concurrency();
    const int threads = static_cast<int>(options.jobs != 0 ? options.jobs : cores == 0 ? 1 : cores);
    proof::Report report;
    std::string seconds = "before";
    if (const proof::Digest* before = state.find(proof.name)) {
        report.count = before->count;
        report.digest = before->digest;
    } else {
        const Clock::time_point start = Clock::now();
        report = proof.run(threads);
        char text[32];
        std::snprintf(text, sizeof text, "%.2f", seconds_since(start));
        seconds = text;
    }
    print_row(proof, report, seconds);
    const proof::Digest found{report.digest, report.count, proof.name};
    const bool holds = judge(found, report, known, tally);
    return holds && seconds != "before" ? state.add(found) : success();
}

// Those of this call, and those checked in of the proofs that this call did not run.
Status write_new_digests(const std::string& path, const Tally& tally) {
    std::vector<proof::Digest> digests;
    for (const proof::Proof& proof : proof::all_proofs()) {
        for (const auto* list : {&tally.digests, &proof::checked_in_digests()}) {
            const proof::Digest* at = find_digest(*list, proof.name);
            if (at == nullptr) continue;
            digests.push_back(*at);
            break;
        }
    }
    return proof::write_digests(
        path, "# digest  count  proof; written by mxcheck prove --all --write-digests\n", digests);
}

int finish(const ProveOptions& options, const Tally& tally, std::size_t planned, double seconds) {
    const std::string time = duration_text(seconds);
    if (tally.failed != 0) {
        std::printf("%zu of %zu proofs FAIL (%s)\n", tally.failed, tally.done(), time.c_str());
        return exit_self_test;
    }
    if (tally.done() < planned) {
        std::printf("INTERRUPTED after %zu of %zu proofs, which hold; %s (%s)\n", tally.done(),
                    planned,
                    options.state.empty() ? "with --state FILE the next call would go on"
                                          : "the same command goes on",
                    time.c_str());
        return exit_incomplete;
    }
    if (tally.unconfirmed != 0) {
        std::printf(
            "INCOMPLETE: %zu of %zu proofs hold, but no digest of %zu of them is known; %s "
            "(%s)\n",
            planned, planned, tally.unconfirmed, "--write-digests FILE keeps those found here",
            time.c_str());
        return exit_incomplete;
    }
    std::printf("%zu of %zu proofs hold: fast equals exact on %llu inputs, %s (%s)\n", tally.held,
                planned, static_cast<unsigned long long>(tally.inputs),
                !options.digests_out.empty() ? "digests written"
                : options.digests_in.empty() ? "every digest as checked in"
                                             : "every digest as in the file",
                time.c_str());
    return exit_conformant;
}

int prove(const ProveOptions& options) {
    if (!options.digests_in.empty() && !options.digests_out.empty())
        return fail_with(
            {ErrorKind::bad_input, "--digests and --write-digests exclude each other"});
    const Clock::time_point start = Clock::now();
    const auto proofs = chosen(options);
    if (!proofs) return fail_with(proofs.error());
    auto state =
        proof::HeldProofs::open(options.state, options.state.empty() ? "" : this_program());
    if (!state) return fail_with(state.error());
    const auto read = options.digests_in.empty() ? Expected(proof::checked_in_digests())
                                                 : proof::read_digests(options.digests_in);
    if (!read) return fail_with(read.error());
    const auto* known = options.digests_out.empty() ? &read.value() : nullptr;
    Tally tally;
    if (options.digests_in.empty() && options.digests_out.empty())
        tally.failed += complain_of_strays();
    catch_interrupts();
    print_heading();
    Progress progress("proofs", proofs.value().size());
    for (const proof::Proof& proof : proofs.value()) {
        if (interrupted()) break;
        progress.update(tally.done(), proof.name);
        const Status ran = run_one(options, proof, known, state.value(), tally);
        if (!ran) return fail_with(ran.error());
        progress.clear();
    }
    progress.clear();
    const std::size_t planned = proofs.value().size();
    if (!options.digests_out.empty() && tally.held == planned) {
        const Status written = write_new_digests(options.digests_out, tally);
        if (!written) return fail_with(written.error());
    }
    return finish(options, tally, planned, seconds_since(start));
}

// What was asked for with --gpu must not be dropped in silence.
int prove_gpu(const ProveOptions& options) {
    const ProveOptions none;
    if (options.all || options.shard != none.shard || !options.state.empty() ||
        !options.digests_in.empty() || options.jobs != none.jobs)
        return fail_with({ErrorKind::bad_input, "--gpu goes with --write-digests alone"});
    return prove_on_gpu({options.glob, options.digests_out});
}

}  // namespace

Command prove_command() {
    auto o = std::make_shared<ProveOptions>();
    return {"prove",
            "prove that the fast oracle equals the exact one over whole domains",
            "mxcheck prove 'round e4m3*'\n  mxcheck prove --all --state prove.state --shard 0/4",
            {{"PROOF", "only proofs of this name; * and ? are wildcards", &o->glob},
             {"--all", "the long ones too: every rounding of every format from all f32", &o->all},
             {"--shard", "only part I of N of the proofs", &o->shard},
             {"--state", "remember here what held; the next call goes on from there", &o->state},
             {"--digests", "compare with the digests of this file, not with those checked in",
              &o->digests_in},
             {"--write-digests", "write the digests to this file instead of comparing them",
              &o->digests_out},
             {"--gpu", "on the first GPU: the fast oracle there, and its conversion instructions",
              &o->gpu},
             {"--jobs", "threads (default one per core)", &o->jobs}},
            [o] { return o->gpu ? prove_gpu(*o) : prove(*o); }};
}

}  // namespace mx::cli
