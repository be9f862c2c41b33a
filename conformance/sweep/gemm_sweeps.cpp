// See gemm_sweeps.hpp.
#include "conformance/sweep/gemm_sweeps.hpp"

#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "reference/proof/sweep.hpp"

namespace mx::sweep {
namespace {

std::string place_text(const DrawnGemm& asked, const std::string& algorithm,
                       const GemmDifferences& differing) {
    return text_of(asked) + ", row " + std::to_string(differing.row) + ", column " +
           std::to_string(differing.column) + ", by " +
           (algorithm.empty() ? "its own choice" : algorithm);
}

// Who multiplies, and on what.
struct Multiplier {
    std::optional<Device> device;
    int architecture = 0;
};

Status make_ready(Multiplier& multiplier, const Expected<DeviceSource>& source) {
    if (multiplier.device) return success();
    const auto gpu = find_gpu();
    if (!gpu) return gpu.error();
    if (!source) return source.error();
    auto device = Device::open(source.value());
    if (!device) return device.error();
    multiplier.architecture = gpu.value().architecture;
    multiplier.device = std::move(device).value();
    return success();
}

void refuse(SweepAnswer& answer, const std::string& reason) {
    ++answer.refused;
    answer.refusal = reason;
}

// What was compared, so that a record says it.
struct Tally {
    std::uint64_t gemms = 0, gemms_in_parts = 0;
    std::uint64_t outputs_with_c = 0, outputs_in_parts = 0;
    std::set<std::string> algorithms;

    void add(const GemmProblem& gemm, const std::string& algorithm, std::uint64_t outputs) {
        const bool is_in_parts = parts_of(algorithm) > 1;
        ++gemms;
        algorithms.insert(algorithm);
        if (is_in_parts) ++gemms_in_parts, outputs_in_parts += outputs;
        if (gemm.reads_c()) outputs_with_c += outputs;
    }
    std::string text() const {
        return std::to_string(gemms) + " GEMMs by " + std::to_string(algorithms.size()) +
               " algorithms, " + std::to_string(gemms_in_parts) + " of them with K in parts; " +
               std::to_string(outputs_with_c) + " outputs with C, " +
               std::to_string(outputs_in_parts) + " with K in parts";
    }
};

void add(const DrawnGemm& asked, const std::string& algorithm, const GemmDifferences& differing,
         SweepAnswer& answer) {
    constexpr std::size_t shown_max = 5;
    answer.inputs += differing.outputs;
    answer.differing += differing.differing;
    answer.seconds += differing.seconds;
    if (differing.differing != 0 && answer.first.size() < shown_max)
        answer.first.push_back({place_text(asked, algorithm, differing), "",
                                proof::to_hex(differing.actual),
                                proof::to_hex(differing.expected)});
}

// One GEMM by every algorithm, added to the answer.
Status ask_gemm(Multiplier& multiplier, const DrawnGemm& drawn, SweepAnswer& answer, Tally& tally) {
    const auto offer = offer_of(*multiplier.device, drawn.gemm);
    if (!offer) return offer.error();
    if (!offer.value().refusal.empty()) refuse(answer, offer.value().refusal);
    std::vector<AskedAlgorithm> asked;
    for (const std::string& algorithm : offer.value().algorithms) {
        const auto model = modelled(drawn, algorithm, multiplier.architecture);
        if (!model)
            refuse(answer, model.error().message);
        else
            asked.push_back({algorithm, model.value()});
    }
    if (asked.empty()) return success();
    const auto checked = check_gemm(*multiplier.device, drawn, asked);
    if (!checked)
        return Error{checked.error().kind, text_of(drawn) + ": " + checked.error().message};
    for (std::size_t i = 0; i < asked.size(); ++i) {
        const GemmDifferences& differing = checked.value()[i];
        if (!differing.refusal.empty()) {
            refuse(answer, asked[i].name + ": " + differing.refusal);
            continue;
        }
        tally.add(drawn.gemm, asked[i].name, differing.outputs);
        add(drawn, asked[i].name, differing, answer);
    }
    return success();
}

Expected<SweepAnswer> ask_family(Multiplier& multiplier, const GemmFamily& family,
                                 const Watch& go_on) {
    SweepAnswer answer;
    Tally tally;
    const int all = static_cast<int>(family.gemms.size());
    for (int i = 0; i < all; ++i) {
        answer.complete = go_on({i, all});
        if (!answer.complete) return answer;
        const DrawnGemm& drawn = family.gemms[static_cast<std::size_t>(i)];
        const Status asked = ask_gemm(multiplier, drawn, answer, tally);
        if (!asked) return asked.error();
    }
    answer.note = tally.text();
    return answer;
}

std::vector<GpuSweep> sweeps_of(const std::vector<GemmFamily>& families,
                                const Expected<DeviceSource>& source) {
    const auto multiplier = std::make_shared<Multiplier>();
    std::vector<GpuSweep> sweeps;
    for (const GemmFamily& family : families)
        sweeps.push_back(
            {family.name, family.domain, Subject::plugin, Output::elements, 0,
             [multiplier, source, family](const Watch& go_on) -> Expected<SweepAnswer> {
                 const Status ready = make_ready(*multiplier, source);
                 if (!ready) return ready.error();
                 return ask_family(*multiplier, family, go_on);
             }});
    return sweeps;
}

}  // namespace

std::vector<GpuSweep> gemm_sweeps(const Expected<DeviceSource>& source, GemmEffort effort) {
    return sweeps_of(gemm_families(effort), source);
}

std::vector<GpuSweep> mx_gemm_sweeps(const Expected<DeviceSource>& source, GemmEffort effort) {
    return sweeps_of(mx_gemm_families(effort), source);
}

std::vector<GpuSweep> sweeps_of(const std::string& device, const Expected<DeviceSource>& source,
                                GemmEffort effort) {
    if (device == "cuda") return gpu_sweeps();
    std::vector<GpuSweep> sweeps;
    if (device == "hopper") sweeps = mx_gemm_sweeps(source, effort);
    if (device == "cublaslt") sweeps = gemm_sweeps(source, effort);
    for (GpuSweep& sweep : sweeps) sweep.device = device;
    return sweeps;
}

}  // namespace mx::sweep
