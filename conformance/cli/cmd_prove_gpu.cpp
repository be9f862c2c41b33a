// mxcheck prove --gpu: the fast oracle compiled for a GPU, and the GPU's own conversion
// instructions, over whole domains against the exact oracle.
#include <cstdio>

#include "conformance/case/names.hpp"
#include "conformance/cli/prove_gpu.hpp"
#include "conformance/cli/prove_state.hpp"
#include "conformance/cli/session.hpp"
#include "conformance/sweep/gpu_maps.hpp"
#include "reference/proof/digests.hpp"
#include "reference/proof/sweep.hpp"

namespace mx::cli {
namespace {

struct GpuTally {
    std::size_t held = 0;
    std::size_t wrong_oracle = 0;
    std::size_t wrong_instructions = 0;
    std::size_t absent = 0;  // instructions that this GPU does not have
    std::uint64_t inputs = 0;
    double seconds = 0;
    std::vector<proof::Digest> answers;  // of the GPU, right or wrong
    std::size_t wrong() const { return wrong_oracle + wrong_instructions; }
};

bool is_instruction(const sweep::NamedMap& map) {
    return map.first_architecture != 0;
}

void print_map(const sweep::NamedMap& map, const sweep::GpuRuns& found,
               const sweep::RunDifferences& differences) {
    std::printf("%-52s %12llu %10llu %10.2f  %.16s  %s\n", map.name.c_str(),
                static_cast<unsigned long long>(sweep::inputs_of(found.runs)),
                static_cast<unsigned long long>(differences.count), 1e3 * found.seconds,
                proof::digest_of(found.runs).c_str(), map.domain.c_str());
    for (const auto& place : differences.first)
        std::printf("    input %s: the GPU gives %s, right is %s\n",
                    proof::to_hex(place.input).c_str(), proof::to_hex(place.actual).c_str(),
                    proof::to_hex(place.expected).c_str());
    std::fflush(stdout);
}

Status run_map(const sweep::NamedMap& map, GpuTally& tally) {
    const std::vector<exact::Run> expected = map.exact_runs();
    const auto found = sweep::gpu_runs(map.map, sweep::inputs_of(expected));
    if (!found) return found.error();
    const sweep::RunDifferences differences = sweep::differences(found.value().runs, expected);
    print_map(map, found.value(), differences);
    tally.inputs += sweep::inputs_of(expected);
    tally.seconds += found.value().seconds;
    tally.answers.push_back(
        {proof::digest_of(found.value().runs), sweep::inputs_of(expected), map.name});
    bool holds = differences.count == 0;
    if (const proof::Digest* known = proof::find_digest(proof::checked_in_digests(), map.name);
        known != nullptr && known->digest != proof::digest_of(expected)) {
        complain("the digest of '" + map.name + "' is not the one checked in");
        holds = false;
    }
    ++(holds ? tally.held : is_instruction(map) ? tally.wrong_instructions : tally.wrong_oracle);
    return success();
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
    std::vector<sweep::NamedMap> maps;
    for (sweep::NamedMap& map : sweep::gpu_maps())
        if (matches_glob(options.glob, map.name)) maps.push_back(std::move(map));
    if (maps.empty()) {
        complain("no map is named '" + options.glob + "'; '*' takes them all");
        return exit_usage;
    }
    const auto gpu = sweep::find_gpu();
    if (!gpu) {
        complain(gpu.error().message);
        return exit_nothing_tested;
    }
    std::printf("%-52s %12s %10s %10s  %-16s  %s\n", "map", "inputs", "mismatches", "ms on GPU",
                "digest", "domain");
    catch_interrupts();
    GpuTally tally;
    for (const sweep::NamedMap& map : maps) {
        if (interrupted()) break;
        if (map.first_architecture > gpu.value().architecture) {
            ++tally.absent;
            continue;
        }
        const Status ran = run_map(map, tally);
        if (!ran) return fail_with(ran.error());
    }
    if (!options.digests_out.empty()) {
        const Status written = write_digests(
            options.digests_out, "# what " + gpu.value().name + " answered\n", tally.answers);
        if (!written) return fail_with(written.error());
    }
    return finish(gpu.value(), tally, maps.size());
}

}  // namespace mx::cli
