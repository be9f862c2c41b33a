// mxcheck prove --gpu: the fast oracle compiled for a GPU, the GPU's own conversion instructions
// and the arithmetic of device/cuda, over whole domains.
#include <cstdio>

#include "conformance/case/names.hpp"
#include "conformance/cli/progress.hpp"
#include "conformance/cli/prove_gpu.hpp"
#include "conformance/cli/prove_state.hpp"
#include "conformance/cli/session.hpp"
#include "conformance/sweep/device_elements.hpp"
#include "conformance/sweep/gpu_maps.hpp"
#include "reference/proof/digests.hpp"
#include "reference/proof/sweep.hpp"

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

// Or is it the oracle's own code?
bool is_of_device(const sweep::NamedMap& map) {
    return std::holds_alternative<sweep::InstructionMap>(map.map) ||
           std::holds_alternative<sweep::DeviceScaleMap>(map.map);
}

template <typename Named>
std::vector<Named> named_so(const std::vector<Named>& all, const std::string& glob) {
    std::vector<Named> chosen;
    for (const Named& one : all)
        if (matches_glob(glob, one.name)) chosen.push_back(one);
    return chosen;
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
    const proof::Digest* known = proof::find_digest(proof::checked_in_digests(), map.name);
    const bool is_known =
        known == nullptr ? is_of_device(map) : known->digest == proof::digest_of(expected);
    if (!is_known) complain("the digest of '" + map.name + "' is not the one checked in");
    const bool holds = is_known && differences.count == 0;
    ++(holds ? tally.held : is_of_device(map) ? tally.wrong_device : tally.wrong_oracle);
    return success();
}

// 2^40 pairs take seconds: there is progress, and Ctrl-C ends them between two parts. False then.
Expected<bool> run_elements(const sweep::DeviceElements& elements, GpuTally& tally) {
    sweep::ElementDifferences total;
    Progress progress("parts", sweep::element_parts);
    for (int part = 0; part < sweep::element_parts; ++part) {
        if (interrupted()) return false;
        progress.update(static_cast<std::uint64_t>(part), elements.name);
        const auto found = sweep::compare_elements(elements, part);
        if (!found) return found.error();
        const std::uint64_t count = total.count + found.value().count;
        const double seconds = total.seconds + found.value().seconds;
        if (total.count == 0) total = found.value();  // for the place it names
        total.count = count;
        total.seconds = seconds;
    }
    progress.clear();
    const std::uint64_t pairs = sweep::pairs_per_part * sweep::element_parts;
    std::printf("%-52s %12llu %10llu %10.2f  %-16s  %s\n", elements.name.c_str(),
                static_cast<unsigned long long>(pairs),
                static_cast<unsigned long long>(total.count), 1e3 * total.seconds, "-",
                "all 2^32 codes of f32 under all 2^8 scales");
    if (total.count != 0)
        std::printf("    input %s under scale %s: the device gives %s, right is %s\n",
                    proof::to_hex(total.input).c_str(), proof::to_hex(total.scale).c_str(),
                    proof::to_hex(total.actual).c_str(), proof::to_hex(total.expected).c_str());
    std::fflush(stdout);
    tally.inputs += pairs;
    tally.seconds += total.seconds;
    ++(total.count == 0 ? tally.held : tally.wrong_device);
    return true;
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
    const auto maps = named_so(sweep::gpu_maps(), options.glob);
    const auto elements = named_so(sweep::device_elements(), options.glob);
    if (maps.empty() && elements.empty()) {
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
    for (const sweep::DeviceElements& sweep : elements) {
        const auto ran = run_elements(sweep, tally);
        if (!ran) return fail_with(ran.error());
        if (!ran.value()) break;
    }
    if (!options.digests_out.empty()) {
        const Status written = write_digests(
            options.digests_out, "# what " + gpu.value().name + " answered\n", tally.answers);
        if (!written) return fail_with(written.error());
    }
    return finish(gpu.value(), tally, maps.size() + elements.size());
}

}  // namespace mx::cli
