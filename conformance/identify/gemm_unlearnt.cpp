// See gemm_unlearnt.hpp.
#include "conformance/identify/gemm_unlearnt.hpp"

#include <algorithm>
#include <array>

#include "conformance/identify/gemm_identify.hpp"

namespace mx::identify {
namespace {

constexpr GemmShape usual{32, 48, 400};

// Few rows and many, short K and not so long that anybody splits it.
constexpr std::array other_shapes{
    GemmShape{16, 32, 16},   GemmShape{16, 32, 32},   GemmShape{16, 32, 96},
    GemmShape{1, 16, 272},   GemmShape{48, 32, 272},  GemmShape{16, 32, 1040},
    GemmShape{16, 528, 144}, GemmShape{528, 16, 144}, GemmShape{304, 288, 144}};
// Of tiles of 8, 16, 32 and so on to 256 it leaves over 3, 11, 27, 59, 123 and 251.
constexpr GemmShape residue_shape{16, 32, 507};
constexpr std::array other_families{GemmData::uniform, GemmData::positive, GemmData::zero_beside};

UnlearntCall rows_of(const GemmProblem& setting, const GemmShape& shape, GemmData data,
                     std::uint64_t seed) {
    const auto rows = [&](std::int64_t count, std::uint64_t of) {
        return random_probes(setting, shape.k, static_cast<std::size_t>(count), data, of);
    };
    return {shape, rows(shape.m, seed), rows(shape.n, seed + 1), {}};
}

UnlearntCall with_scales(const GemmProblem& setting, std::size_t family, std::uint64_t seed) {
    UnlearntCall call = rows_of(setting, usual, static_cast<GemmData>(family), 2001 + seed);
    add_scales(setting, 3001 + family + seed, call.left);
    add_scales(setting, 3001 + family + seed, call.right);
    return call;
}

// With scales, alpha and C.
UnlearntCall with_everything(const GemmProblem& setting, std::size_t family, std::uint64_t seed) {
    const auto data = static_cast<GemmData>(family);
    UnlearntCall call = with_scales(setting, family, seed);
    for (std::size_t i = 0; i < call.left.size(); ++i) {
        call.left[i].alpha = Code{0x3F8E38E4};
        call.left[i].beta = Code{0xBF2AAAAB};
        call.left[i].c = gemm_number(data, formats::f32, {4001 + seed, 5, i, 0}, 20);
    }
    return call;
}

Status ask(GemmSubject& subject, UnlearntCall call, UnlearntCalls& calls) {
    auto outputs = subject.ask_all(call.left, call.right);
    if (!outputs) return outputs.error();
    call.outputs = std::move(outputs).value();
    for (Code& d : call.outputs) d = without_payload(d);
    calls.push_back(std::move(call));
    return success();
}

// Of the algorithm that the device takes for the shape, if it says so.
bool splits_k(GemmSubject& subject, const GemmShape& shape) {
    const auto names = subject.algorithms(shape);
    const GemmProblem& asked = subject.setting();
    if (asked.names_algorithm()) return parts_named(asked.algorithm) > 1;
    return names && !names.value().empty() && parts_named(names.value().front()) > 1;
}

// "id=24" of "id=24,tile=15,stages=0": the kernel, of names that say more than that.
std::string kernel_of(GemmSubject& subject, const GemmShape& shape) {
    const auto names = subject.algorithms(shape);
    if (!names || names.value().empty()) return "";
    return names.value().front().substr(0, names.value().front().find(','));
}

// A device that takes another kernel where rows are no whole words is another machine there.
bool takes_same_kernel(GemmSubject& subject, const GemmShape& shape) {
    return subject.setting().names_algorithm() ||
           kernel_of(subject, shape) == kernel_of(subject, usual);
}

// A refusal is noted; a device that fails is an error.
Status ask_shape(GemmSubject& subject, const GemmShape& shape, std::uint64_t seed,
                 UnlearntCalls& calls, std::vector<std::string>& refusals) {
    if (splits_k(subject, shape)) {
        refusals.push_back("gemm " + text_of(shape) + ": its algorithm splits K");
        return success();
    }
    for (const GemmData data : other_families) {
        const Status asked =
            ask(subject, rows_of(subject.setting(), shape, data, 5001 + seed), calls);
        if (!asked && asked.error().kind == ErrorKind::device) return asked;
        if (asked) continue;
        refusals.push_back(asked.error().message);
        break;
    }
    return success();
}

Status ask_other_shapes(GemmSubject& subject, const UnlearntRequest& request, std::uint64_t seed,
                        UnlearntCalls& calls, std::vector<std::string>& refusals) {
    for (const GemmShape& shape : other_shapes)
        if (const Status asked = ask_shape(subject, shape, seed, calls, refusals); !asked)
            return asked;
    std::vector<std::string> no_refusals;
    if (!request.asks_residue || !takes_same_kernel(subject, residue_shape)) return success();
    return ask_shape(subject, residue_shape, seed, calls, no_refusals);
}

}  // namespace

std::vector<std::size_t> UnlearntCall::places() const {
    constexpr std::size_t most = 2048, some = 640;
    const std::size_t all = outputs.size();
    const std::size_t count = all <= most ? all : some;
    // Steps by an odd number reach every row and column.
    const std::size_t step = all <= most ? 1 : all / some | 1;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < count; ++i) places.push_back(i * step % all);
    return places;
}

GemmAnswer UnlearntCall::at(std::size_t place) const {
    GemmAnswer answer{left[place / right.size()], outputs[place]};
    const GemmProbe& column = right[place % right.size()];
    answer.probe.b = column.b;
    answer.probe.scales_b = column.scales_b;
    return answer;
}

Expected<UnlearntCalls> ask_unlearnt(GemmSubject& subject, const UnlearntRequest& request,
                                     std::vector<std::string>& refusals) {
    constexpr std::uint64_t apart = 100'000;
    const std::uint64_t seed = request.seed * apart;
    UnlearntCalls calls;
    for (std::size_t family = 0; family < gemm_data_names.size(); ++family) {
        const Status asked = ask(
            subject, rows_of(subject.setting(), usual, static_cast<GemmData>(family), 1001 + seed),
            calls);
        if (!asked) return asked.error();
    }
    for (std::size_t family = 0; request.takes_everything && family < gemm_data_names.size();
         ++family)
        if (!ask(subject, with_everything(subject.setting(), family, seed), calls)) break;
    for (std::size_t family = 0; request.scales_sums && family < gemm_data_names.size(); ++family)
        if (!ask(subject, with_scales(subject.setting(), family, seed + 50'000), calls)) break;
    const Status asked = ask_other_shapes(subject, request, seed, calls, refusals);
    if (!asked) return asked.error();
    return calls;
}

GemmAnswers with_residues(GemmAnswers answers, const UnlearntCalls& calls) {
    constexpr std::size_t of_each_call = 64;
    for (const UnlearntCall& call : calls) {
        if (!has_residue(call.shape.k)) continue;
        std::vector<std::size_t> places = call.places();
        places.resize(std::min(places.size(), of_each_call));
        for (const std::size_t place : places) answers.push_back(call.at(place));
    }
    return answers;
}

Code predicted_by(Engine engine, const GemmMachine& machine, const GemmProblem& setting,
                  const GemmProbe& probe) {
    return engine == Engine::machine ? predicted(machine, setting, probe)
                                     : predicted_by_model(machine, setting, probe);
}

GemmMisses misses_of(const Predict& predict, const GemmProblem& setting,
                     const UnlearntCalls& calls) {
    GemmMisses misses;
    for (const UnlearntCall& call : calls)
        for (const std::size_t place : call.places()) {
            const GemmAnswer answer = call.at(place);
            const Code d = predict(answer.probe);
            ++misses.of;
            if (d == answer.d) continue;
            if (misses.count++ == 0)
                misses.witness = text_of(setting, answer.probe) + ", row " +
                                 std::to_string(place / call.right.size()) + " and column " +
                                 std::to_string(place % call.right.size()) + " of " +
                                 text_of(call.shape) + ": " + bits_text(answer.d) +
                                 "; predicted was " + bits_text(d);
        }
    return misses;
}

GemmMisses misses_of(Engine engine, const GemmMachine& machine, const GemmProblem& setting,
                     const UnlearntCalls& calls) {
    return misses_of(
        [&](const GemmProbe& probe) { return predicted_by(engine, machine, setting, probe); },
        setting, calls);
}

GemmMixture mixture_of(const GemmMachine& nearest, const GemmProblem& setting,
                       const GemmAnswers& probed, const UnlearntCalls& calls) {
    GemmAnswers rest;
    GemmMixture mixture;
    for (const GemmAnswer& answer : probed)
        if (predicted(nearest, setting, answer.probe) != answer.d) rest.push_back(answer);
    for (const UnlearntCall& call : calls) {
        const std::size_t before = rest.size();
        for (const std::size_t place : call.places()) {
            GemmAnswer answer = call.at(place);
            if (predicted_by_model(nearest, setting, answer.probe) != answer.d)
                rest.push_back(std::move(answer));
        }
        const std::string shape = text_of(call.shape);
        const bool is_new = std::ranges::find(mixture.shapes, shape) == mixture.shapes.end();
        if (rest.size() > before && is_new) mixture.shapes.push_back(shape);
    }
    for (const GemmModel* row : rows_for(setting)) {
        GemmMachine machine = nearest;
        machine.model = *row;
        const auto is_predicted = [&](const GemmAnswer& answer) {
            return predicted_by_model(machine, setting, answer.probe) == answer.d;
        };
        if (rest.empty() || !std::ranges::all_of(rest, is_predicted)) continue;
        mixture.row = row->name;
        mixture.answers = rest.size();
        return mixture;
    }
    return {};
}

}  // namespace mx::identify
