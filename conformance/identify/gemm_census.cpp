// See gemm_census.hpp.
#include "conformance/identify/gemm_census.hpp"

#include <algorithm>
#include <array>

#include "conformance/identify/gemm_fit.hpp"
#include "conformance/identify/gemm_identify.hpp"
#include "conformance/identify/gemm_probes.hpp"

namespace mx::identify {
namespace {

// The data of one call.
struct Batch {
    GemmProbes left, right;
};

constexpr std::array families{GemmData::uniform,     GemmData::positive, GemmData::cancelling,
                              GemmData::zero_beside, GemmData::dominant, GemmData::special};

std::vector<Batch> batches_of(const GemmProblem& setting, const GemmShape& shape) {
    std::vector<Batch> batches;
    for (const GemmData data : families) {
        const auto rows = [&](std::int64_t count, std::uint64_t seed) {
            return random_probes(setting, shape.k, static_cast<std::size_t>(count), data, seed);
        };
        batches.push_back({rows(shape.m, 71), rows(shape.n, 72)});
        // Only a machine that applies them itself shows in its sums what it does with scales.
        if (!has_block_scales(setting)) continue;
        add_scales(setting, 73, batches.back().left);
        add_scales(setting, 73, batches.back().right);
    }
    return batches;
}

using Outputs = std::vector<Code>;

Expected<Outputs> outputs_of(GemmSubject& subject, const std::vector<Batch>& batches) {
    Outputs all;
    for (const Batch& batch : batches) {
        const auto outputs = subject.ask_all(batch.left, batch.right);
        if (!outputs) return outputs.error();
        all.insert(all.end(), outputs.value().begin(), outputs.value().end());
    }
    return all;
}

using Places = std::vector<std::size_t>;

// Places spread over every batch, and some where the class differs from another: of two classes
// that differ nowhere else no more than one may have the name.
Places places_for(const std::vector<Outputs>& classes, std::size_t index, std::size_t batches) {
    constexpr std::size_t of_each = 24, of_differing = 8;
    const Outputs& own = classes[index];
    const std::size_t size = own.size() / batches;
    Places places;
    for (std::size_t i = 0; i < of_each; ++i)
        for (std::size_t batch = 0; batch < batches; ++batch)
            // Steps by an odd number reach every row and column.
            places.push_back(batch * size + (i * (size / of_each | 1)) % size);
    for (const Outputs& other : classes) {
        std::size_t found = 0;
        for (std::size_t at = 0; at < own.size() && found < of_differing; ++at)
            if (without_payload(own[at]) != without_payload(other[at]))
                places.push_back(at), ++found;
    }
    return places;
}

// The outputs at these places, as answers to probes of their own.
GemmAnswers sample_of(const std::vector<Batch>& batches, const Outputs& outputs,
                      const Places& places) {
    GemmAnswers sample;
    const std::size_t size = outputs.size() / batches.size();
    for (const std::size_t place : places) {
        const Batch& batch = batches[place / size];
        const std::size_t at = place % size;
        const GemmProbe& right = batch.right[at % batch.right.size()];
        GemmProbe probe = batch.left[at / batch.right.size()];
        probe.b = right.b;
        probe.scales_b = right.scales_b;
        sample.push_back({std::move(probe), without_payload(outputs[place])});
    }
    return sample;
}

constexpr std::int64_t parts_max = 32;

// Lengths of a part that K may be split into: whole tiles of 128 bytes, whole fours of them where
// scales are read four at a time, or as even as can be, in whole eights or not.
std::vector<std::int64_t> lengths_of(const GemmProblem& setting, std::int64_t k,
                                     std::int64_t parts) {
    if (parts == 1) return {0};
    const auto whole = [](std::int64_t length, std::int64_t unit) {
        return (length + unit - 1) / unit;
    };
    const std::int64_t tile = 128 / setting.a.element.code_bytes();
    const std::int64_t tiles = whole(whole(k, tile), parts);
    std::vector<std::int64_t> lengths{tiles * tile};
    const std::int64_t even = whole(k, parts);
    for (const std::int64_t other : {whole(tiles, 4) * 4 * tile, even, whole(even, 8) * 8})
        if (std::find(lengths.begin(), lengths.end(), other) == lengths.end())
            lengths.push_back(other);
    return lengths;
}

struct Explanation {
    const GemmModel* row;
    GemmMachine machine;
    std::int64_t parts;
    std::size_t predicted;
};

// How many of the first outputs are predicted before one is not, and then how many in all.
std::size_t count(const GemmMachine& machine, const GemmProblem& setting,
                  const GemmAnswers& answers, bool goes_on) {
    std::size_t predicted = 0;
    for (const GemmAnswer& answer : answers) {
        if (predicted_by_model(machine, setting, answer.probe) == answer.d)
            ++predicted;
        else if (!goes_on)
            return predicted;
    }
    return predicted;
}

std::vector<Explanation> explanations_of(const GemmProblem& setting, std::int64_t k,
                                         const GemmAnswers& sample,
                                         const std::vector<std::int64_t>& parts) {
    std::vector<Explanation> found;
    for (const std::int64_t number : parts)
        for (const GemmModel* row : rows_for(setting))
            for (const std::int64_t length : lengths_of(setting, k, number))
                for (const NoAddend addend : {NoAddend::zero_added, NoAddend::nothing_added}) {
                    GemmMachine machine;
                    machine.model = *row;
                    machine.part = length;
                    machine.no_addend = addend;
                    const std::size_t predicted = count(machine, setting, sample, false);
                    if (predicted == sample.size())
                        found.push_back({row, machine, number, predicted});
                }
    return found;
}

void name_nearest(const GemmProblem& setting, const GemmAnswers& sample, GemmClass& group) {
    GemmMachine nearest;
    bool has_one = false;
    for (const GemmModel* row : rows_for(setting)) {
        GemmMachine machine;
        machine.model = *row;
        const std::size_t predicted = count(machine, setting, sample, true);
        if (has_one && predicted <= group.predicted) continue;
        has_one = true;
        nearest = machine;
        group.predicted = predicted;
        group.nearest = row->name;
    }
    for (const GemmAnswer& answer : sample) {
        if (!has_one || !group.witness.empty()) break;
        const Code d = predicted_by_model(nearest, setting, answer.probe);
        if (d != answer.d)
            group.witness = text_of(setting, answer.probe) + " gave " + bits_text(answer.d) + "; " +
                            group.nearest + " gives " + bits_text(d);
    }
}

// The parts that the names say are tried first, then one part, then every other number.
void name_class(const GemmProblem& setting, const GemmShape& shape, const GemmAnswers& sample,
                GemmClass& group) {
    group.looked_at = sample.size();
    std::vector<std::int64_t> parts = group.parts_named;
    for (std::int64_t number = 1; number <= parts_max; ++number)
        if (std::find(parts.begin(), parts.end(), number) == parts.end()) parts.push_back(number);
    for (const std::int64_t number : parts) {
        for (const Explanation& found : explanations_of(setting, shape.k, sample, {number})) {
            const std::string name(found.row->name);
            if (std::find(group.rows.begin(), group.rows.end(), name) == group.rows.end())
                group.rows.push_back(name);
            group.predicted = found.predicted;
            group.parts = found.parts;
        }
        if (!group.rows.empty()) return;
    }
    name_nearest(setting, sample, group);
}

template <typename Value>
void add_once(std::vector<Value>& values, Value value) {
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

std::vector<Code> nans_in(const Outputs& outputs) {
    std::vector<Code> nans;
    for (const Code d : outputs)
        if (formats::f32.is_nan(d)) add_once(nans, d);
    return nans;
}

}  // namespace

Expected<GemmCensus> take_census(const Client& device, const GemmProblem& setting,
                                 const GemmShape& shape) {
    if (std::max(shape.m, shape.n) * shape.k > census_elements_max)
        return bad_input("--shape " + text_of(shape) + ": a census takes factors of up to " +
                         std::to_string(census_elements_max) + " elements");
    GemmCensus census{setting, shape, {}, {}, 0, 0};
    const auto names = GemmSubject(device, setting).algorithms(shape);
    if (!names) return names.error();
    const std::vector<Batch> batches = batches_of(setting, shape);
    std::vector<Outputs> kept;
    for (const std::string& name : names.value()) {
        GemmProblem named = setting;
        named.algorithm = name;
        GemmSubject subject(device, named);
        auto outputs = outputs_of(subject, batches);
        ++census.algorithms;
        if (!outputs) {
            census.refusals.push_back((name.empty() ? "" : name + ": ") + outputs.error().message);
            continue;
        }
        census.outputs = outputs.value().size();
        const auto same = std::find(kept.begin(), kept.end(), outputs.value());
        const auto index = static_cast<std::size_t>(same - kept.begin());
        if (same == kept.end()) {
            kept.push_back(std::move(outputs).value());
            census.classes.emplace_back();
        }
        census.classes[index].algorithms.push_back(name);
        add_once(census.classes[index].parts_named, parts_named(name));
    }
    for (std::size_t i = 0; i < kept.size(); ++i) {
        const Places places = places_for(kept, i, batches.size());
        name_class(setting, shape, sample_of(batches, kept[i], places), census.classes[i]);
        census.classes[i].nans = nans_in(kept[i]);
    }
    return census;
}

}  // namespace mx::identify
