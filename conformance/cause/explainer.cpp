// See explainer.hpp.
#include "conformance/cause/explainer.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "conformance/cause/hypotheses.hpp"
#include "conformance/cause/places.hpp"
#include "conformance/run/difference.hpp"

namespace mx::cause {
namespace {

using results::CaseResult;

// A failing run may spend a bounded time on its cause.
constexpr std::int64_t elements_max = std::int64_t{1} << 14;  // of a case; more: rows of it
constexpr std::int64_t whole_max = std::int64_t{1} << 17;     // of one whose rows hang together
constexpr std::int64_t examined_max = std::int64_t{1} << 20;  // of a process
constexpr std::int64_t examined_min = 4096;                   // what a case counts at least
constexpr std::int64_t remembered_max = std::int64_t{1} << 17;
constexpr std::size_t pairs_max = 45;  // of hypotheses, tried together
constexpr std::size_t placed_halves_max = 40;
constexpr std::size_t pairs_placed_max = 4;  // that are tried in parts of the tensor too
constexpr std::size_t halves_max = 60;       // that may make up a pair
constexpr std::size_t alike_max = 8;         // that stand for each other in pairs
constexpr std::size_t alike_beside_max = 2;
constexpr std::size_t beside_max = 2;  // beside which every other hypothesis is tried

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

// Of what has few columns the part begins at a multiple of 32 rows: with dense rows it is then
// aligned as the tensor is, so that hypotheses of aligned vectors hold for it.
std::int64_t first_looked_at(const Evidence& e) {
    constexpr std::int64_t rows_of_vectors = 32;
    const std::int64_t first = first_differing_row(e);
    const bool has_room = elements_max / e.c.columns >= 2 * rows_of_vectors;
    return has_room ? first / rows_of_vectors * rows_of_vectors : first;
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
    if (element_count(e.c) <= (has_rows_apart(e.c) ? elements_max : whole_max)) return whole;
    if (!has_rows_apart(e.c) || e.c.columns > elements_max) return std::nullopt;
    const std::int64_t first = first_looked_at(e);
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
    PlaceSet missed_in = {};       // places of those that it does not explain
    PlaceSet harmed_in = {};       // ... and of those that it would have changed
    std::vector<std::uint32_t> harmed_by_place = {};
    std::size_t answer = 0;  // a hash of it
    bool is_perfect() const { return helped > 0 && missed == 0 && harmed == 0; }
    bool may_be_half() const { return helped > harmed; }
};

std::size_t hash_of(const Tensors& tensors) {
    std::size_t hash = 0;
    for (const CodeTensor& tensor : tensors) {
        const std::string_view bytes(reinterpret_cast<const char*>(tensor.bytes.data()),
                                     tensor.bytes.size());
        hash = hash * 31 + std::hash<std::string_view>()(bytes);
    }
    return hash;
}

template <typename Visit>
void for_each_place(const PlaceSet& set, Visit visit) {
    for (std::size_t place = set._Find_first(); place < places_max; place = set._Find_next(place))
        visit(place);
}

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
        score.answer = hash_of(trial_.expected);
        score.helps.assign(differing_, true);
        score.harmed_by_place.assign(places_max, 0);
        for_each_difference(trial_, [&](const Difference& d) {
            if (d.flags != 0) return;
            const PlaceSet set = set_at(d);
            const std::uint32_t number = differs_[d.output][d.element];
            ++(number != 0 ? score.missed : score.harmed);
            (number != 0 ? score.missed_in : score.harmed_in) |= set;
            if (number != 0)
                score.helps[number - 1] = false;
            else if (score.harmed <= counted_max)
                for_each_place(set, [&](std::size_t place) { ++score.harmed_by_place[place]; });
        });
        score.helped = differing_ - score.missed;
        return score;
    }

    // Places that hold every difference, and nothing that an alteration of that score would have
    // changed.
    PlaceSet places_of_all(const Score& score) const { return common_ & ~score.harmed_in; }

    // Places that hold every difference which `without` leaves open, and none that `score` leaves
    // open or harms.
    PlaceSet places_of_rest(const Score& without, const Score& score) const {
        PlaceSet places = ~score.harmed_in & ~score.missed_in;
        for (std::size_t i = 0; i < without.helps.size(); ++i)
            if (!without.helps[i]) places &= sets_[i];
        return places;
    }

    enum class Harm { none, less };
    // The places without harm, or with less harm than help, that hold most of what it explains.
    std::vector<std::size_t> best_places(const Score& score, std::size_t count, Harm harm) const {
        std::array<std::int64_t, places_max> gained{};
        for (std::size_t i = 0; i < score.helps.size() && i < counted_max; ++i)
            if (score.helps[i])
                for_each_place(sets_[i], [&](std::size_t place) { ++gained[place]; });
        for (std::size_t place = 0; place < places_max; ++place) {
            gained[place] -= score.harmed_by_place[place];
            if (harm == Harm::none && score.harmed_in[place]) gained[place] = 0;
        }
        std::vector<std::size_t> best;
        for (std::size_t place = 0; place < places_max; ++place)
            if (gained[place] > 0) best.push_back(place);
        std::ranges::stable_sort(best, std::ranges::greater{},
                                 [&](std::size_t place) { return gained[place]; });
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
    std::uint64_t harmed() const { return one->score.harmed + other->score.harmed; }
};

// Those that together help the most and harm the least.
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
    std::ranges::stable_sort(pairs, [](const Pair& one, const Pair& other) {
        return one.helped != other.helped ? one.helped > other.helped
                                          : one.harmed() < other.harmed();
    });
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
    using enum Trial::Harm;
    for (const Tried& each : harmful) {
        std::vector<std::size_t> places = trial.best_places(each.score, 2, none);
        // Beside another cause the right one may do harm.
        for (const std::size_t place : trial.best_places(each.score, 1, less))
            if (std::ranges::find(places, place) == places.end()) places.push_back(place);
        for (const std::size_t place : places) {
            const Placed placed[] = {{each.placed.alteration, place}};
            tried.push_back({placed[0], trial.score(placed)});
        }
    }
}

using Both = std::array<Placed, 2>;

void add_pair(const Both& both, CaseResult& result) {
    const std::string text = both[0].kind() + " + " + both[1].kind();
    if (std::ranges::find(result.explanations, text) == result.explanations.end())
        result.explanations.push_back(text);
}

// Would one of the two be enough in a part of the tensor? Then nothing says that it is everywhere.
// A cast has no such parts.
void add_pairs_in_places(Trial& trial, const Both& both, CaseResult& result) {
    if (!trial.has_places()) return;
    for (std::size_t i = 0; i < both.size(); ++i)
        for (const std::string_view place : parts_of_tensors) {
            if (!both[i].is_everywhere()) continue;
            Both placed = both;
            placed[i].place = read_placed_kind("@" + std::string(place)).place;
            if (trial.score(placed).is_perfect()) add_pair(placed, result);
        }
}

// Those with the same answer stand for each other.
class Alike {
public:
    // Leaves one of each.
    explicit Alike(std::vector<Tried>& tried) {
        std::vector<Tried> firsts;
        for (Tried& each : tried) {
            std::vector<Placed>& alike = by_answer_[each.score.answer];
            alike.push_back(each.placed);
            if (alike.size() == 1) firsts.push_back(std::move(each));
        }
        tried = std::move(firsts);
    }
    // At most so many.
    std::vector<Placed> of(const Tried& tried, std::size_t count = alike_max) const {
        std::vector<Placed> alike = by_answer_.at(tried.score.answer);
        if (alike.size() > count) alike.resize(count);
        return alike;
    }

private:
    std::map<std::size_t, std::vector<Placed>> by_answer_;
};

// Every two that stand for these.
void add_pairs_like(Trial& trial, const std::array<std::vector<Placed>, 2>& alike,
                    CaseResult& result) {
    for (const Placed& one : alike[0])
        for (const Placed& other : alike[1]) {
            const Both both{one, other};
            if (one.alteration != other.alteration && trial.score(both).is_perfect())
                add_pair(both, result);
        }
}

// What hides part of another, or shows where it is there alone, is no half of its own: whatever
// makes up the rest beside one that explains at least a quarter.
void try_beside(Trial& trial, const Tried& one, const std::vector<Alteration>& hypotheses,
                CaseResult& result) {
    for (const Alteration& hypothesis : hypotheses) {
        if (&hypothesis == one.placed.alteration || hypothesis.kind.starts_with(dialect_kind))
            continue;
        Both both{one.placed, {&hypothesis}};
        const Score score = trial.score(both);
        if (score.is_perfect()) {
            add_pair(both, result);
            continue;
        }
        const PlaceSet places = trial.places_of_rest(one.score, score);
        if (!trial.has_places() || places.none()) continue;
        both[1].place = places._Find_first();
        if (trial.score(both).is_perfect()) add_pair(both, result);
    }
}

void try_beside_best(Trial& trial, std::vector<Tried> tried, const Alike& alike,
                     const std::vector<Alteration>& hypotheses, CaseResult& result) {
    std::erase_if(tried, [&](const Tried& each) {
        return !each.score.may_be_half() || 4 * each.score.helped < trial.differing();
    });
    std::ranges::stable_sort(tried, std::ranges::greater{}, [](const Tried& each) {
        return each.score.helped - each.score.harmed;
    });
    // Of two that are alike, one may leave room for another decision of the same field.
    for (std::size_t i = 0; i < tried.size() && i < beside_max; ++i)
        for (const Placed& placed : alike.of(tried[i], alike_beside_max))
            try_beside(trial, {placed, tried[i].score}, hypotheses, result);
}

void try_pairs(Trial& trial, std::vector<Tried> tried, const std::vector<Alteration>& hypotheses,
               CaseResult& result) {
    add_halves_in_places(trial, tried);
    std::erase_if(tried, [](const Tried& each) { return !each.score.may_be_half(); });
    std::ranges::stable_sort(tried, std::ranges::greater{},
                             [](const Tried& each) { return each.score.helped; });
    const Alike alike(tried);
    if (tried.size() > halves_max) tried.resize(halves_max);
    for (const Pair& pair : best_pairs(tried)) {
        const Both both{pair.one->placed, pair.other->placed};
        if (!trial.score(both).is_perfect()) continue;
        add_pair(both, result);
        if (result.explanations.size() > pairs_placed_max) continue;
        add_pairs_in_places(trial, both, result);
        add_pairs_like(trial, {alike.of(*pair.one), alike.of(*pair.other)}, result);
    }
    if (result.explanations.empty())
        try_beside_best(trial, std::move(tried), alike, hypotheses, result);
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
        Score score = trial.score(alone);
        const bool is_dialect = hypothesis.kind.starts_with(dialect_kind);
        if (score.is_perfect()) result.explanations.push_back(hypothesis.kind);
        if (is_dialect) continue;
        const bool explains_all = score.helped > 0 && score.missed == 0;
        const PlaceSet places = explains_all ? trial.places_of_all(score) : PlaceSet{};
        if (places.any()) result.explanations.push_back(in_places(hypothesis, places));
        tried.push_back({alone[0], std::move(score)});
    }
    if (result.explanations.empty()) try_pairs(trial, std::move(tried), hypotheses, result);
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
