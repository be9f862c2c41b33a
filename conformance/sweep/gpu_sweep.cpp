// See gpu_sweep.hpp.
#include "conformance/sweep/gpu_sweep.hpp"

#include "conformance/sweep/device_elements.hpp"
#include "conformance/sweep/gpu_maps.hpp"
#include "reference/exact/tanh_approx.hpp"
#include "reference/proof/digests.hpp"
#include "reference/proof/sweep.hpp"

namespace mx::sweep {
namespace {

// Maps of the oracle's own code are those that have a proof: it has a digest.
SweepAnswer answer_of(const NamedMap& map, Subject subject, const GpuRuns& found,
                      const std::vector<exact::Run>& right) {
    const RunDifferences differing = differences(found.runs, right);
    SweepAnswer answer;
    answer.inputs = inputs_of(right);
    answer.differing = differing.count;
    for (const auto& place : differing.first)
        answer.first.push_back({proof::to_hex(place.input), "", proof::to_hex(place.actual),
                                proof::to_hex(place.expected)});
    answer.digest = proof::digest_of(found.runs);
    answer.seconds = found.seconds;
    const proof::Digest* known = proof::find_digest(proof::checked_in_digests(), map.name);
    const bool is_known =
        known == nullptr ? subject != Subject::oracle : known->digest == proof::digest_of(right);
    if (!is_known)
        answer.wrong_digest = "the digest of '" + map.name + "' is not the one checked in";
    return answer;
}

GpuSweep sweep_of(NamedMap map) {
    const bool of_device = std::holds_alternative<InstructionMap>(map.map) ||
                           std::holds_alternative<DeviceScaleMap>(map.map);
    const bool of_elements = std::holds_alternative<InstructionMap>(map.map) ||
                             std::holds_alternative<RoundMap>(map.map);
    const Subject subject = of_device ? Subject::device : Subject::oracle;
    return {map.name,
            map.domain,
            subject,
            of_elements ? Output::elements : Output::scales,
            map.first_architecture,
            [map, subject](const Watch&) -> Expected<SweepAnswer> {
                const std::vector<exact::Run> right = map.exact_runs();
                const auto found = gpu_runs(map.map, inputs_of(right));
                if (!found) return found.error();
                return answer_of(map, subject, found.value(), right);
            }};
}

// 2^40 pairs take seconds: the one who watches can end them between two parts.
Expected<SweepAnswer> ask_elements(const DeviceElements& elements, const Watch& go_on) {
    SweepAnswer answer;
    for (int part = 0; part < element_parts; ++part) {
        answer.complete = go_on({part, element_parts});
        if (!answer.complete) return answer;
        const auto found = compare_elements(elements, part);
        if (!found) return found.error();
        const ElementDifferences& differing = found.value();
        answer.inputs += pairs_per_part;
        answer.differing += differing.count;
        answer.seconds += differing.seconds;
        if (differing.count != 0 && answer.first.empty())
            answer.first.push_back({proof::to_hex(differing.input), proof::to_hex(differing.scale),
                                    proof::to_hex(differing.actual),
                                    proof::to_hex(differing.expected)});
    }
    return answer;
}

constexpr int first_with_tanh = 75;

GpuSweep tanh_sweep() {
    return {"tanh.approx.f32 instruction",
            proof::all_codes_of(formats::f32),
            Subject::device,
            Output::elements,
            first_with_tanh,
            [](const Watch&) -> Expected<SweepAnswer> {
                const auto found = compare_tanh();
                if (!found) return found.error();
                return answer_of(found.value());
            }};
}

}  // namespace

SweepAnswer answer_of(const TanhDifferences& differing) {
    SweepAnswer answer;
    answer.inputs = std::uint64_t{1} << 32;
    answer.differing = differing.count;
    answer.seconds = differing.seconds;
    if (differing.count == 0) return answer;
    const std::uint32_t expected = exact::tanh_approx(Code{differing.input}).bits;
    const std::string input = proof::to_hex(differing.input);
    if (differing.actual == expected)
        answer.wrong_digest =
            "the fast oracle compiled for the GPU is wrong about tanh.approx.f32 of " + input +
            ": the exact oracle gives what the instruction gives";
    else
        answer.first.push_back(
            {input, "", proof::to_hex(differing.actual), proof::to_hex(expected)});
    return answer;
}

std::vector<GpuSweep> gpu_sweeps() {
    std::vector<GpuSweep> sweeps;
    for (NamedMap& map : gpu_maps()) sweeps.push_back(sweep_of(std::move(map)));
    sweeps.push_back(tanh_sweep());
    for (const DeviceElements& elements : device_elements())
        sweeps.push_back({elements.name, "all 2^32 codes of f32 under all 2^8 scales",
                          Subject::device, Output::elements, 0, [elements](const Watch& go_on) {
                              return ask_elements(elements, go_on);
                          }});
    return sweeps;
}

}  // namespace mx::sweep
