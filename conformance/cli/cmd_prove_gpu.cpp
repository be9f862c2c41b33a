// mxcheck prove --gpu: the fast oracle compiled for a GPU, the GPU's own conversion instructions
// and the arithmetic of device/cuda, over whole domains.
#include <cstdio>

#include "conformance/case/names.hpp"
#include "conformance/cli/device_choice.hpp"
#include "conformance/cli/progress.hpp"
#include "conformance/cli/prove_gpu.hpp"
#include "conformance/sweep/gpu_sweep.hpp"
#include "reference/proof/held_proofs.hpp"

namespace mx::cli {
namespace {

struct GpuTally {
    std::size_t held = 0;
    std::size_t wrong_oracle = 0;
    std::size_t wrong_device = 0;
    std::size_t absent = 0;  // instructions that this GPU does not have
    std::uint64_t inputs = 0;
    double seconds = 0;
    std::vector<proof::Digest> answers;  // of the GPU, right or wrong
    std::size_t wrong() const { return wrong_oracle + wrong_device; }
};

void print_sweep(const sweep::GpuSweep& sweep, const sweep::SweepAnswer& answer) {
    std::printf("%-52s %13llu %10llu %10.2f  %-16.16s  %s\n", sweep.name.c_str(),
                static_cast<unsigned long long>(answer.inputs),
                static_cast<unsigned long long>(answer.differing), 1e3 * answer.seconds,
                answer.digest.empty() ? "-" : answer.digest.c_str(), sweep.domain.c_str());
    for (const sweep::SweepPlace& place : answer.first)
        std::printf("    input %s%s%s: the GPU gives %s, right is %s\n", place.input.c_str(),
                    place.scale.empty() ? "" : " under scale ", place.scale.c_str(),
                    place.actual.c_str(), place.expected.c_str());
    std::fflush(stdout);
}

void count(const sweep::GpuSweep& sweep, const sweep::SweepAnswer& answer, GpuTally& tally) {
    tally.inputs += answer.inputs;
    tally.seconds += answer.seconds;
    if (!answer.digest.empty()) tally.answers.push_back({answer.digest, answer.inputs, sweep.name});
    const bool is_oracles_fault =
        sweep.subject == sweep::Subject::oracle || !answer.wrong_digest.empty();
    if (!answer.wrong_digest.empty()) complain(answer.wrong_digest);
    if (answer.wrong_digest.empty() && answer.differing == 0)
        ++tally.held;
    else
        ++(is_oracles_fault ? tally.wrong_oracle : tally.wrong_device);
}

int finish(const sweep::Gpu& gpu, const GpuTally& tally, std::size_t planned) {
    if (tally.absent != 0)
        std::printf("%zu not run: %s does not have these instructions; they are unverified\n",
                    tally.absent, gpu.name.c_str());
    if (tally.wrong() != 0) {
        std::printf("%zu of %zu maps DIFFER on %s\n", tally.wrong(), tally.held + tally.wrong(),
                    gpu.name.c_str());
        return tally.wrong_oracle != 0 ? exit_self_test : exit_mismatch;
    }
    if (tally.held == 0 && tally.absent == planned) return exit_nothing_tested;
    if (tally.held + tally.absent < planned) {
        std::printf("INTERRUPTED after %zu of %zu maps, which hold\n", tally.held, planned);
        return exit_incomplete;
    }
    std::printf("%zu maps hold on %s: %llu inputs, %.3f s on the GPU\n", tally.held,
                gpu.name.c_str(), static_cast<unsigned long long>(tally.inputs), tally.seconds);
    return exit_conformant;
}

}  // namespace

int prove_on_gpu(const GpuProofOptions& options) {
    std::vector<sweep::GpuSweep> sweeps = sweep::gpu_sweeps();
    std::erase_if(sweeps, [&](const auto& one) { return !matches_glob(options.glob, one.name); });
    if (sweeps.empty()) {
        complain("no map is named '" + options.glob + "'; '*' takes them all");
        return exit_usage;
    }
    const auto gpu = sweep::find_gpu();
    if (!gpu) {
        complain(gpu.error().message);
        return exit_nothing_tested;
    }
    std::printf("%-52s %13s %10s %10s  %-16s  %s\n", "map", "inputs", "mismatches", "ms on GPU",
                "digest", "domain");
    catch_interrupts();
    GpuTally tally;
    Progress progress("maps", sweeps.size());
    std::size_t done = 0;
    for (const sweep::GpuSweep& sweep : sweeps) {
        if (interrupted()) break;
        ++done;
        if (sweep.first_architecture > gpu.value().architecture) {
            ++tally.absent;
            continue;
        }
        const auto answer = sweep.ask([&](sweep::Parts) {
            progress.update(done - 1, sweep.name);
            return !interrupted();
        });
        if (!answer) return fail_with(answer.error());
        if (!answer.value().complete) break;
        progress.clear();
        print_sweep(sweep, answer.value());
        count(sweep, answer.value(), tally);
    }
    if (!options.digests_out.empty()) {
        const Status written = proof::write_digests(
            options.digests_out, "# what " + gpu.value().name + " answered\n", tally.answers);
        if (!written) return fail_with(written.error());
    }
    return finish(gpu.value(), tally, sweeps.size());
}

}  // namespace mx::cli
