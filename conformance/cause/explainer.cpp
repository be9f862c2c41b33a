// See explainer.hpp.
#include "conformance/cause/explainer.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "conformance/cause/hypotheses.hpp"
#include "conformance/cause/places.hpp"
#include "conformance/run/difference.hpp"

namespace mx::cause {
namespace {

using results::CaseResult;

// A failing run may spend a bounded time on its cause.
constexpr std::int64_t elements_max = std::int64_t{1} << 14;  // of a case; more: rows of it
constexpr std::int64_t examined_max = std::int64_t{1} << 20;  // of a process
constexpr std::int64_t examined_min = 4096;                   // what a case counts at least
constexpr std::int64_t remembered_max = std::int64_t{1} << 17;
constexpr std::size_t pairs_max = 45;  // of hypotheses, tried together
constexpr std::size_t placed_halves_max = 40;
constexpr std::size_t pairs_placed_max = 4;  // that are tried in parts of the tensor too
constexpr std::size_t halves_max = 60;       // that may make up a pair

// Rows of a tensor of which each has blocks of its own.
CodeTensor rows_of(const CodeTensor& tensor, std::int64_t first, std::int64_t count) {
    CodeTensor part = tensor;
    const auto row = static_cast<std::size_t>(tensor.columns * tensor.width);
    const auto begin = tensor.bytes.begin() + static_cast<std::ptrdiff_t>(row) * first;
    part.rows = count;
    part.bytes.assign(begin, begin + static_cast<std::ptrdiff_t>(row) * count);
    return part;
}

bool has_rows_apart(const Problem& p) {
    const bool derives_number = has_tensor_number(p) && !p.tensor_number;
    return (p.axis == BlockAxis::row || !has_blocks(p)) && !derives_number &&
           p.layout == RowLayout::dense && stochastic_form_of(p) == nullptr;
}

std::int64_t first_differing_row(const Evidence& e) {
    std::int64_t first = e.c.rows;
    for_each_difference(e, [&](const Difference& d) {
        const CodeTensor& tensor = e.expected[d.output];
        if (tensor.rows == e.c.rows)
            first = std::min(first, static_cast<std::int64_t>(d.element) / tensor.columns);
    });
    return first;
}

// Without the device's answer, whose tensors are there a second time.
Evidence tensors_of(const Evidence& e) {
    return {.c = e.c,
            .inputs = e.inputs,
            .expected = e.expected,
            .actual = e.actual,
            .flags = e.flags,
            .wrong_pads = {},
            .written_tail = e.written_tail,
            .answer = {}};
}

// What is looked at of a case: all of a small one, rows of a larger one where they stand alone.
struct LookedAt {
    Evidence part;
    std::int64_t first_row = 0;
};
std::optional<LookedAt> looked_at(const Evidence& e) {
    LookedAt whole{tensors_of(e)};
    Evidence& part = whole.part;
    if (element_count(e.c) <= elements_max) return whole;
    if (!has_rows_apart(e.c) || e.c.columns > elements_max) return std::nullopt;
    const std::int64_t first = first_differing_row(e);
    const std::int64_t count = std::min(elements_max / e.c.columns, e.c.rows - first);
    if (count <= 0) return std::nullopt;
    for (auto* tensors : {&part.inputs, &part.expected, &part.actual})
        for (CodeTensor& tensor : *tensors)
            if (tensor.rows == e.c.rows) tensor = rows_of(tensor, first, count);
    for (std::size_t i = 0; i < part.flags.size(); ++i) {
        if (e.expected[i].rows != e.c.rows) continue;
        const auto begin = e.flags[i].begin() + first * e.expected[i].columns;
        part.flags[i].assign(begin, begin + count * e.expected[i].columns);
    }
    part.c.rows = count;
    whole.first_row = first;
    return whole;
}

// How an answer of a hypothesis stands to the device's.
struct Score {
    std::uint64_t helped = 0;      // differing places that it explains
    std::uint64_t missed = 0;      // ... and that it does not
    std::uint64_t harmed = 0;      // right places that it would have changed
    std::vector<bool> helps = {};  // by the number of the differing place
    PlaceSet harmed_in = {};       // places of those that it would have changed
    bool is_perfect() const { return helped > 0 && missed == 0 && harmed == 0; }
    bool may_be_half() const { return helped > harmed; }
};

class Trial {
public:
    // `claimed` are the flags whose places another finding explains. `rows` are those of the tensor
    // that the evidence is part of.
    Trial(Evidence evidence, std::uint8_t claimed, Places::Rows rows)
        : trial_(std::move(evidence)), places_(trial_.c, rows) {
        for (std::vector<std::uint8_t>& flags : trial_.flags)
            for (std::uint8_t& flag : flags) flag &= claimed;
        right_ = trial_.expected;
        for (const CodeTensor& tensor : right_) differs_.emplace_back(tensor.count(), 0);
        common_.set();
        for_each_difference(trial_, [&](const Difference& d) {
            if (d.flags != 0) return;
            differs_[d.output][d.element] = ++differing_;
            sets_.push_back(set_at(d));
            common_ &= sets_.back();
        });
    }

    std::uint64_t differing() const { return differing_; }

    Score score(std::span<const Placed> alterations) {
        trial_.expected = answer_with(alterations, places_, trial_.c, trial_.inputs);
        Score score;
        if (!is_alike()) return score;
        score.helps.assign(differing_, true);
        for_each_difference(trial_, [&](const Difference& d) {
            if (d.flags != 0) return;
            const std::uint32_t number = differs_[d.output][d.element];
            ++(number != 0 ? score.missed : score.harmed);
            if (number != 0)
                score.helps[number - 1] = false;
            else
                score.harmed_in |= set_at(d);
        });
        score.helped = differing_ - score.missed;
        return score;
    }

    // Places that hold every difference, and nothing that an alteration of that score would have
    // changed.
    PlaceSet places_of_all(const Score& score) const { return common_ & ~score.harmed_in; }

    // The places without harm that hold most of what it explains.
    std::vector<std::size_t> best_places(const Score& score, std::size_t count) const {
        std::array<std::uint64_t, places_max> helped{};
        for (std::size_t i = 0; i < score.helps.size() && i < counted_max; ++i)
            if (score.helps[i])
                for (std::size_t place = sets_[i]._Find_first(); place < places_max;
                     place = sets_[i]._Find_next(place))
                    if (!score.harmed_in[place]) ++helped[place];
        std::vector<std::size_t> best;
        for (std::size_t place = 0; place < places_max; ++place)
            if (helped[place] > 0) best.push_back(place);
        std::ranges::stable_sort(best, std::ranges::greater{},
                                 [&](std::size_t place) { return helped[place]; });
        if (best.size() > count) best.resize(count);
        return best;
    }

    const Case& asked() const { return trial_.c; }
    bool has_places() const { return !places_.is_empty(); }

private:
    static constexpr std::size_t counted_max = 4096;

    PlaceSet set_at(const Difference& d) const {
        return places_.is_empty() ? PlaceSet{} : places_.at(d.output, d.element);
    }

    bool is_alike() const {
        return std::ranges::equal(trial_.expected, right_, {}, &CodeTensor::count,
                                  &CodeTensor::count) &&
               std::ranges::equal(trial_.expected, right_, {}, &CodeTensor::width,
                                  &CodeTensor::width);
    }

    Evidence trial_;  // its expected answer is the hypothesis's
    Places places_;
    Tensors right_;
    std::vector<std::vector<std::uint32_t>>
        differs_;                 // the number of a place, from 1; 0: it is right
    std::vector<PlaceSet> sets_;  // of the differing places
    PlaceSet common_;             // of all of them
    std::uint32_t differing_ = 0;
};

struct Tried {
    Placed placed;
    Score score;
};

struct Pair {
    const Tried* one;
    const Tried* other;
    std::uint64_t helped = 0;  // by either
};

// Those that together help the most, and each more than it harms.
std::vector<Pair> best_pairs(const std::vector<Tried>& tried) {
    std::vector<Pair> pairs;
    for (auto one = tried.begin(); one != tried.end(); ++one)
        for (auto other = one + 1; other != tried.end(); ++other) {
            if (one->placed.alteration == other->placed.alteration) continue;
            Pair pair{&*one, &*other, 0};
            for (std::size_t i = 0; i < one->score.helps.size(); ++i)
                pair.helped += one->score.helps[i] || other->score.helps[i] ? 1 : 0;
            // One that adds nothing to the other is no second cause.
            if (pair.helped > std::max(one->score.helped, other->score.helped))
                pairs.push_back(pair);
        }
    std::ranges::stable_sort(pairs, std::ranges::greater{}, &Pair::helped);
    if (pairs.size() > pairs_max) pairs.resize(pairs_max);
    return pairs;
}

// Part of the differences needs part of a cause: those that help most also where they harm
// nothing.
void add_halves_in_places(Trial& trial, std::vector<Tried>& tried) {
    std::vector<Tried> harmful;
    std::ranges::copy_if(tried, std::back_inserter(harmful), [](const Tried& each) {
        return each.score.helped > 0 && each.score.harmed > 0;
    });
    std::ranges::stable_sort(harmful, std::ranges::greater{},
                             [](const Tried& each) { return each.score.helped; });
    if (harmful.size() > placed_halves_max) harmful.resize(placed_halves_max);
    for (const Tried& each : harmful)
        for (const std::size_t place : trial.best_places(each.score, 2)) {
            const Placed placed[] = {{each.placed.alteration, place}};
            tried.push_back({placed[0], trial.score(placed)});
        }
}

void add_pair(const std::array<Placed, 2>& both, CaseResult& result) {
    const std::string text = both[0].kind() + " + " + both[1].kind();
    if (std::ranges::find(result.explanations, text) == result.explanations.end())
        result.explanations.push_back(text);
}

// Would one of the two be enough in a part of the tensor? Then nothing says that it is everywhere.
// A cast has no such parts.
void add_pairs_in_places(Trial& trial, const std::array<Placed, 2>& both, CaseResult& result) {
    if (!trial.has_places()) return;
    for (std::size_t i = 0; i < both.size(); ++i)
        for (const std::string_view place : parts_of_tensors) {
            if (!both[i].is_everywhere()) continue;
            std::array<Placed, 2> placed = both;
            placed[i].place = read_placed_kind("@" + std::string(place)).place;
            if (trial.score(placed).is_perfect()) add_pair(placed, result);
        }
}

void try_pairs(Trial& trial, std::vector<Tried> tried, CaseResult& result) {
    add_halves_in_places(trial, tried);
    std::erase_if(tried, [](const Tried& each) { return !each.score.may_be_half(); });
    std::ranges::stable_sort(tried, std::ranges::greater{},
                             [](const Tried& each) { return each.score.helped; });
    if (tried.size() > halves_max) tried.resize(halves_max);
    for (const Pair& pair : best_pairs(tried)) {
        const std::array both{pair.one->placed, pair.other->placed};
        if (!trial.score(both).is_perfect()) continue;
        add_pair(both, result);
        if (result.explanations.size() <= pairs_placed_max)
            add_pairs_in_places(trial, both, result);
    }
}

// "ties:up@odd_rows,last_row": in each of these places alone.
std::string in_places(const Alteration& alteration, const PlaceSet& places) {
    std::string text = alteration.kind + "@";
    for (std::size_t place = places._Find_first(); place < places_max;
         place = places._Find_next(place))
        text += (text.back() == '@' ? "" : ",") + place_names()[place].kind;
    return text;
}

void try_all(Trial& trial, const std::vector<Alteration>& hypotheses, CaseResult& result) {
    std::vector<Tried> tried;
    for (const Alteration& hypothesis : hypotheses) {
        const Placed alone[] = {{&hypothesis}};
        tried.push_back({alone[0], trial.score(alone)});
        const Score& score = tried.back().score;
        if (score.helped == 0 || score.missed > 0) continue;
        if (score.is_perfect()) result.explanations.push_back(hypothesis.kind);
        const PlaceSet places = trial.places_of_all(score);
        if (places.any() && !hypothesis.kind.starts_with(dialect_kind))
            result.explanations.push_back(in_places(hypothesis, places));
    }
    if (result.explanations.empty()) try_pairs(trial, std::move(tried), result);
}

// Two runs of a device that remembers differ, because it was asked something else before.
void try_answer_of_before(const Evidence& e, const Tensors& before, CaseResult& result) {
    if (before.empty() || element_count(e.c) > remembered_max) return;
    Trial trial(tensors_of(e), std::uint8_t{flag_unwritten}, {0, e.c.rows});
    const std::vector<Alteration> hypotheses{answer_of_before(before)};
    try_all(trial, hypotheses, result);
    if (!result.explanations.empty()) result.looked_at = trial.differing();
}

bool may_be_explained(const CaseResult& result) {
    if (result.verdict != results::Verdict::fail && result.verdict != results::Verdict::flaky)
        return false;
    return std::ranges::none_of(result.mismatches, [](const results::Mismatch& m) {
        return m.mismatch_class == "packing" || m.mismatch_class == "layout";
    });
}

}  // namespace

void Explainer::operator()(const Evidence& e, CaseResult& result) {
    if (e.answer.kind != AnswerKind::answered || is_gemm(e.c)) return;
    const Tensors before =
        std::exchange(before_, element_count(e.c) <= remembered_max ? e.expected : Tensors{});
    const bool remembers = memory_ == Memory::of_the_run;
    if (!may_be_explained(result) || (remembers && examined_ >= examined_max)) return;
    if (remembers) try_answer_of_before(e, before, result);
    const auto part = looked_at(e);
    if (!part) return;
    examined_ += std::max(examined_min, element_count(part->part.c));
    Trial trial(part->part, std::uint8_t{flag_unwritten | flag_differs},
                {part->first_row, e.c.rows});
    result.looked_at = std::max(result.looked_at.value_or(0), trial.differing());
    if (trial.differing() > 0) try_all(trial, hypotheses_for(trial.asked()), result);
}

}  // namespace mx::cause
