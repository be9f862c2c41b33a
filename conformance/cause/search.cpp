// See search.hpp.
#include "conformance/cause/search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <iterator>
#include <ranges>
#include <utility>

#include "conformance/cause/again.hpp"
#include "conformance/cause/hypotheses.hpp"
#include "conformance/cause/places.hpp"
#include "conformance/run/judge.hpp"

namespace mx::cause {
namespace {

using results::CaseResult;
using results::Verdict;

// Cases whose right answer is asked of the hypotheses that have come so far.
constexpr std::size_t passing_checked_max = 192;
constexpr std::size_t failing_checked_max = 64;
constexpr std::size_t held_together_max = 24;
constexpr std::size_t covers_max = 400;

}  // namespace

std::string listed(const std::vector<std::string>& items) {
    std::string text;
    for (std::size_t i = 0; i < items.size(); ++i)
        text += (i == 0 ? "" : i + 1 == items.size() ? " and " : ", ") + items[i];
    return text;
}

namespace {

// What a cause may be particular to, as a sentence says it.
struct Scope {
    std::string_view opening;
    std::string (*of)(const Case& c);
};
constexpr std::array scopes{
    Scope{"asked for dialect ", [](const Case& c) { return dialect_name(c); }},
    Scope{"in elements of ", [](const Case& c) { return std::string(element_format_of(c).name); }},
    Scope{"in ", [](const Case& c) { return format_name(c); }},
    Scope{"of values of type ", [](const Case& c) { return type_name(c); }},
    Scope{"in ", [](const Case& c) { return std::string(name_of(c.operation)); }},
    Scope{"along axis ", [](const Case& c) { return std::string(name_of(c.axis)); }},
    Scope{"with scales in layout ", [](const Case& c) { return std::string(name_of(c.scales)); }},
    Scope{"in layout ", [](const Case& c) { return std::string(name_of(c.layout)); }},
    Scope{"packed as ", [](const Case& c) { return std::string(c.packing->name); }},
    Scope{"in blocks of ", [](const Case& c) { return std::to_string(c.block); }},
    Scope{"under rounding ",
          [](const Case& c) {
              if (c.rules) return std::string(rounding_name_of(*c.rules));
              if (c.dialect == nullptr) return std::string();
              return std::string(rounding_name_of({.rounding = c.dialect->element_rounding}));
          }},
    Scope{"with subnormals ",
          [](const Case& c) {
              return c.rules ? std::string(name_of(c.rules->subnormals)) : std::string();
          }},
};
std::string number_text(std::uint32_t f32) {
    std::array<char, 32> text{};
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), std::bit_cast<float>(f32));
    return {text.data(), end.ptr};
}
constexpr std::array gemm_scopes{
    Scope{"where A is ", [](const Case& c) { return name_of(c.gemm.a); }},
    Scope{"where B is ", [](const Case& c) { return name_of(c.gemm.b); }},
    Scope{"where D is ", [](const Case& c) { return name_of(c.gemm.output); }},
    Scope{"with scales in layout ", [](const Case& c) { return std::string(name_of(c.scales)); }},
    Scope{"in layout ", [](const Case& c) { return std::string(name_of(c.layout)); }},
    Scope{"packed as ", [](const Case& c) { return std::string(c.packing->name); }},
    Scope{"with epilogue ", [](const Case& c) { return std::string(name_of(c.gemm.epilogue)); }},
    Scope{"", [](const Case& c) { return std::string(c.gemm.reads_c() ? "with C" : "without C"); }},
    Scope{"in ",
          [](const Case& c) {
              return std::string(c.gemm.is_grouped()  ? "groups"
                                 : c.gemm.batches > 1 ? "several batches"
                                                      : "one batch");
          }},
    Scope{"where beta is ", [](const Case& c) { return number_text(c.gemm.beta); }},
    Scope{"where alpha is ", [](const Case& c) { return number_text(c.gemm.alpha); }},
};
// Where no size limits it.
constexpr std::array depths{
    Scope{"where K is ", [](const Case& c) { return std::to_string(c.gemm.k); }},
};

// A size from which on, or up to which, a cause may show.
struct Size {
    std::string_view name;
    std::int64_t (*of)(const Case& c);
};
constexpr std::array sizes{
    Size{"the number of rows", [](const Case& c) { return c.rows; }},
    Size{"the number of columns", [](const Case& c) { return c.columns; }},
};
constexpr std::array gemm_sizes{
    Size{"K", [](const Case& c) { return c.gemm.k; }},
    Size{"M", [](const Case& c) { return c.gemm.m; }},
    Size{"N", [](const Case& c) { return c.gemm.n; }},
    Size{"the number of batches", [](const Case& c) { return c.gemm.batches; }},
};

constexpr std::string_view gemm_operation = "gemm";

bool has_part(const Failing& failing, const std::string& kind) {
    return failing.alone.contains(kind) ||
           std::ranges::any_of(failing.explanations, [&](const auto& parts) {
               return std::ranges::find(parts, kind) != parts.end();
           });
}

bool is_placed(const std::string& kind) {
    return !is_of_gemm(kind) && kind.find('@') != std::string::npos;
}

bool is_of_dialect(const std::string& kind) {
    return kind.starts_with(dialect_kind);
}

Reach reach_of(const std::string& kind) {
    if (is_of_any_number(kind)) return Reach::any_number;
    return is_placed(kind) ? Reach::one_place : Reach::everywhere;
}

// Of any number, though everywhere of the same one: then it is that one, or nothing.
bool is_of_one_number(const std::string& kind, const Covers& alone) {
    return is_of_any_number(kind) && std::ranges::any_of(alone, [&](const auto& cover) {
               return !is_of_any_number(cover[0]) && without_numbers(cover[0]) == kind;
           });
}

// "k n is not counted, for some n" of "gemm:k # is not counted".
std::string text_of_gemm(const std::string& kind) {
    std::string text = kind.substr(gemm_kind.size());
    if (!is_of_any_number(kind)) return text;
    std::ranges::replace(text, '#', 'n');
    return text + ", for some n";
}

// Where each number would do, it is any of them: "k # is not counted".
Candidates of_any_number(Candidates found) {
    const std::string plain = without_numbers(found[0][0].kind);
    const bool is_any =
        found.size() > 1 && is_of_gemm(plain) && std::ranges::all_of(found, [&](const auto& set) {
            return without_numbers(set[0].kind) == plain;
        });
    if (!is_any) return found;
    found.resize(1);
    found[0][0].kind = plain;
    found[0][0].text = text_of_gemm(plain);
    return found;
}

std::string placed_in(const std::string& kind, std::string_view place) {
    return kind + "@" + std::string(place);
}
const std::string& text_of_place(std::string_view place) {
    return place_names()[read_placed_kind(placed_in("", place)).place].text;
}

void set_text(Candidate& candidate, const std::vector<Case>& explained) {
    if (is_of_gemm(candidate.kind)) {
        candidate.text = text_of_gemm(candidate.kind);
        return;
    }
    const PlacedKind read = read_placed_kind(candidate.kind);
    if (read.place != places_max) candidate.where = place_names()[read.place].text;
    candidate.text = answer_of_before({}).text;
    for (const Case& c : explained)
        for (const Alteration& hypothesis : hypotheses_for(c))
            if (hypothesis.kind == read.alteration) {
                candidate.text = hypothesis.text;
                return;
            }
}

using Cases = std::vector<Case>;

// "in quantize" of what is explained, or "except in quantize" of what refutes; "" where that does
// not tell them apart.
std::string limit_by_value(std::span<const Scope> all, const Cases& explained,
                           const Cases& refuting, bool is_exception) {
    const auto values_of = [](const Scope& scope, const Cases& cases) {
        std::set<std::string> values;
        for (const Case& c : cases) values.insert(scope.of(c));
        return values;
    };
    for (const Scope& scope : all) {
        const std::set<std::string> here = values_of(scope, explained),
                                    right = values_of(scope, refuting);
        const std::set<std::string>& values = is_exception ? right : here;
        const bool is_apart =
            std::ranges::none_of(here, [&](const auto& value) { return right.contains(value); });
        if (values.empty() || values.size() > 2 || !is_apart || values.begin()->empty()) continue;
        return (is_exception ? "except " : "") + std::string(scope.opening) +
               listed({values.begin(), values.end()});
    }
    return "";
}

// The least and the largest of the cases.
std::pair<std::int64_t, std::int64_t> range_of(const Size& size, const Cases& cases) {
    std::pair<std::int64_t, std::int64_t> range{size.of(cases[0]), size.of(cases[0])};
    for (const Case& c : cases)
        range = {std::min(range.first, size.of(c)), std::max(range.second, size.of(c))};
    return range;
}

// "where K is 64 or more"
std::string limit_by_size(std::span<const Size> all, const Cases& explained,
                          const Cases& refuting) {
    for (const Size& size : all) {
        const auto [least, most] = range_of(size, explained);
        const auto [least_right, most_right] = range_of(size, refuting);
        const bool is_above = least > most_right;
        if (!is_above && most >= least_right) continue;
        return "where " + std::string(size.name) + " is " +
               std::to_string(is_above ? least : most) + (is_above ? " or more" : " or less");
    }
    return "";
}

// To what all explained cases have in common and no refuting one has. A size is too little to tell
// one of two causes from others.
void confine(Candidate& candidate, const Cases& explained, const Cases& refuting, bool is_alone) {
    if (explained.empty() || refuting.empty()) return;
    // A factor that is a little too large or small moves ties as well.
    const bool has_factors = std::ranges::any_of(explained, [](const Case& c) {
        return c.dialect != nullptr && !c.dialect->has_e8m0_scales();
    });
    if (has_factors && candidate.kind.starts_with("element_rounding:")) return;
    const bool of_gemms = is_of_gemm(candidate.kind);
    const auto by_value = [&](bool is_exception) {
        return limit_by_value(of_gemms ? std::span<const Scope>(gemm_scopes) : scopes, explained,
                              refuting, is_exception);
    };
    std::string limit = by_value(false);
    if (limit.empty() && is_alone)
        limit = limit_by_size(of_gemms ? std::span<const Size>(gemm_sizes) : sizes, explained,
                              refuting);
    if (limit.empty()) limit = by_value(true);
    if (limit.empty() && of_gemms) limit = limit_by_value(depths, explained, refuting, false);
    candidate.is_refuted = limit.empty();
    candidate.scope = std::move(limit);
}

}  // namespace

Candidates Search::explanations() {
    const Covers alone = covers_of_one();
    for (const Reach reach : {Reach::everywhere, Reach::any_number, Reach::one_place}) {
        Covers covers;
        std::ranges::copy_if(alone, std::back_inserter(covers), [&](const auto& cover) {
            return reach_of(cover[0]) == reach && !is_of_one_number(cover[0], alone);
        });
        auto found = unrefuted(covers, Extent::all);
        if (found.empty()) continue;
        const bool is_limited =
            std::ranges::all_of(found, [](const auto& set) { return !set[0].scope.empty(); });
        if (reach == Reach::everywhere && is_limited) add_unlimited_in_places(alone, found);
        for (auto& set : found) find_where_seen(set[0], alone);
        // No case tells what is everywhere, and was seen in a place alone, from others there.
        for (auto& set : unrefuted(in_places_seen(found, alone), Extent::all))
            found.push_back(std::move(set));
        return of_any_number(std::move(found));
    }
    return explanations_by_two();
}

// What needs no limit but a place is as simple as what needs a limit.
void Search::add_unlimited_in_places(const Covers& alone, Candidates& found) {
    Covers placed;
    std::ranges::copy_if(alone, std::back_inserter(placed),
                         [](const auto& cover) { return reach_of(cover[0]) == Reach::one_place; });
    for (auto& set : unrefuted(placed, Extent::all))
        if (set[0].scope.empty()) found.push_back(std::move(set));
}

Candidates Search::explanations_by_two() {
    const Pairs pairs(failing_, passing(), sources_);
    std::vector<Covers> all;
    for (const auto& [one, other] : {std::pair(Reach::everywhere, Reach::everywhere),
                                     std::pair(Reach::everywhere, Reach::one_place),
                                     std::pair(Reach::one_place, Reach::one_place)}) {
        const Covers& covers = all.emplace_back(covers_of_two(one, other));
        Covers held;
        if (covers.size() <= held_together_max)
            std::ranges::copy_if(covers, std::back_inserter(held), [&](const auto& cover) {
                return pairs.explain(cover[0], cover[1]);
            });
        if (!held.empty()) return named(pairs.settled(held), pairs);
    }
    if (const Covers held = pairs_of_some(pairs); !held.empty())
        return named(pairs.settled(held), pairs);
    for (const Covers& covers : all)
        if (const Covers held = pairs.like(covers); !held.empty())
            return named(pairs.settled(held), pairs);
    return limited_pairs(all);
}

// In a dialect, a format or the like alone: only where no pair does without, in a place or not, and
// where more than one case shows it. In one case a place would do as well.
Candidates Search::limited_pairs(const std::vector<Covers>& all) {
    const auto is_unlimited = [](const std::vector<Candidate>& set) {
        return std::ranges::all_of(set, [](const Candidate& each) { return each.scope.empty(); });
    };
    const auto is_seen_once = [this](const std::vector<Candidate>& set) {
        return std::ranges::any_of(set, [this](const Candidate& each) {
            return !each.scope.empty() && cases_with(each.kind).size() < 2;
        });
    };
    Candidates limited;
    for (const Covers& covers : all) {
        if (covers.size() > covers_max) return {};
        Candidates found = unrefuted(covers, Extent::all);
        if (std::ranges::any_of(found, is_unlimited)) {
            std::erase_if(found, [&](const auto& set) { return !is_unlimited(set); });
            return found;
        }
        std::erase_if(found, is_seen_once);
        if (limited.empty()) limited = std::move(found);
    }
    return limited;
}

// Those that explain some case together, and all where the record does not say so: a case names a
// few of the pairs that explain it.
Covers Search::pairs_of_some(const Pairs& pairs) const {
    std::map<std::vector<std::string>, std::size_t> uses;
    for (const Failing& failing : failing_)
        for (const auto& parts : failing.explanations) ++uses[parts];
    Covers covers;
    for (const auto& [parts, count] : uses)
        if (std::ranges::none_of(parts, is_of_dialect)) covers.push_back(parts);
    std::ranges::stable_sort(covers, std::ranges::greater{},
                             [&](const auto& parts) { return uses.at(parts); });
    if (covers.size() > held_together_max) covers.resize(held_together_max);
    std::erase_if(covers, [&](const auto& parts) {
        return !pairs.know_all() || !pairs.explain(parts[0], parts[1]);
    });
    return covers;
}

Candidates Search::named(const Covers& covers, const Pairs& pairs) const {
    Candidates found;
    for (const auto& cover : covers) found.push_back({named(cover[0]), named(cover[1])});
    for (auto& set : found)
        for (const std::size_t side : {0u, 1u}) find_where_seen(set[side], set[1 - side], pairs);
    for (const auto& set : Candidates(found))
        for (const std::size_t side : {0u, 1u})
            if (set[side].seen_places.size() == 1)
                add_others_there(set[side], set[1 - side], pairs, found);
    return found;
}

// As find_where_seen of one that explains everything alone: beside the other.
void Search::find_where_seen(Candidate& candidate, const Candidate& other,
                             const Pairs& pairs) const {
    if (is_placed(candidate.kind)) return;
    Covers placed;
    const auto add = [&](std::string_view place) {
        const std::string kind = placed_in(candidate.kind, place);
        if (pairs.explain(kind, other.kind)) placed.push_back({kind});
    };
    for (const std::string_view place : parts_of_tensors) add(place);
    for (const std::string_view place : ends_of_lines) add(place);
    find_where_seen(candidate, placed);
}

// What else explains everything beside the other, in the one place that this was seen in.
void Search::add_others_there(const Candidate& candidate, const Candidate& other,
                              const Pairs& pairs, Candidates& found) const {
    for (const std::string& kind : pairs.kinds()) {
        const std::string there = placed_in(kind, candidate.seen_places[0]);
        const bool is_found = std::ranges::any_of(found, [&](const auto& set) {
            return set[0].kind == kind || set[1].kind == kind ||
                   (set[0].kind == there && set[1].kind == other.kind);
        });
        if (!is_found && pairs.explain(there, other.kind)) found.push_back({named(there), other});
    }
}

Candidate Search::named(const std::string& kind) const {
    Candidate candidate;
    candidate.kind = kind;
    set_text(candidate, cases_with(""));
    return candidate;
}

Search::OfMost Search::explanations_of_most() {
    std::map<std::string, std::size_t> counts;
    std::map<std::string, std::uint64_t> places;
    std::uint64_t all_places = 0;
    for (const Failing& failing : failing_) {
        all_places += failing.places;
        for (const std::string& kind : failing.alone) {
            ++counts[kind];
            places[kind] += failing.places;
        }
    }
    OfMost most;
    for (const auto& [kind, count] : counts)
        if (reach_of(kind) == Reach::everywhere) most.cases = std::max(most.cases, count);
    if (most.cases < 2 || 2 * most.cases <= failing_.size()) return {};
    // Not of many small cases beside which a few large ones stay open.
    Covers covers, placed;
    for (const auto& [kind, count] : counts) {
        if (count != most.cases || 2 * places.at(kind) <= all_places) continue;
        if (reach_of(kind) == Reach::everywhere) covers.push_back({kind});
        if (reach_of(kind) == Reach::one_place) placed.push_back({kind});
    }
    most.found = unrefuted(covers, Extent::most);
    for (auto& set : most.found) find_where_seen(set[0], placed);
    return most;
}

Candidates Search::unrefuted(const Covers& covers, Extent extent) {
    if (covers.empty() || covers.size() > covers_max) return {};
    check(covers, extent);
    Candidates found;
    for (const auto& cover : covers) {
        std::vector<Candidate> set;
        for (const std::string& kind : cover) set.push_back(candidates_.at(kind));
        const auto is_refuted = [](const Candidate& each) { return each.is_refuted; };
        if (std::ranges::none_of(set, is_refuted)) found.push_back(std::move(set));
    }
    return found;
}

void Search::find_where_seen(Candidate& candidate, const Covers& alone) const {
    if (is_placed(candidate.kind)) return;
    const auto lies_in = [&](std::string_view place) {
        return std::ranges::find(alone, std::vector{placed_in(candidate.kind, place)}) !=
               alone.end();
    };
    const auto set = [&](std::string_view text, auto... places) {
        candidate.seen_in = text;
        candidate.seen_places = {std::string(places)...};
    };
    for (const std::string_view place : parts_of_tensors)
        if (lies_in(place)) return set(text_of_place(place), place);
    const auto [first, last] = ends_of_lines;
    // Then it showed in lines of one block alone, whether there are longer ones or not.
    if (lies_in(first) && lies_in(last)) {
        if (may_have_long_lines()) set("", first, last);
        return;
    }
    if (!have_long_lines()) return;
    for (const std::string_view place : ends_of_lines)
        if (lies_in(place)) return set(text_of_place(place), place);
}

// What else explains everything in the one place that these were seen in; in any place, where one
// difference is all that there is.
Covers Search::in_places_seen(const Candidates& found, const Covers& alone) const {
    std::uint64_t differences = 0;
    for (const Failing& failing : failing_) differences += failing.places;
    Covers covers;
    for (const auto& set : found) {
        if (set[0].seen_places.size() != 1 && differences > 1) return {};
        for (const auto& cover : alone) {
            const PlacedKind read = read_placed_kind(cover[0]);
            const bool is_there =
                is_placed(cover[0]) &&
                (differences == 1 || place_names()[read.place].kind == set[0].seen_places[0]);
            const bool is_found = std::ranges::any_of(
                found, [&](const auto& other) { return other[0].kind == read.alteration; });
            if (is_there && !is_found && std::ranges::find(covers, cover) == covers.end())
                covers.push_back(cover);
        }
    }
    return covers;
}

// Is one of the lines of several blocks?
bool Search::have_long_lines() const {
    return std::ranges::any_of(failing_, [](const Failing& failing) {
        const auto c = parse_case(failing.result->case_text);
        if (!c || !has_blocks(c.value())) return false;
        const BlockGrid grid = block_grid(blocking_of(c.value()));
        return (c.value().axis == BlockAxis::col ? grid.block_rows : grid.block_columns) > 1;
    });
}

// Has one of the formats blocks smaller than a tensor?
bool Search::may_have_long_lines() const {
    return std::ranges::any_of(failing_, [](const Failing& failing) {
        const auto c = parse_case(failing.result->case_text);
        return c && c.value().format != nullptr && !c.value().format->is_whole_tensor();
    });
}

// Those that are of a pair somewhere, or explain something alone.
std::vector<std::string> Search::kinds_by_use() const {
    std::map<std::string, std::size_t> uses;
    std::vector<std::string> kinds;
    const auto use = [&](const std::string& kind) {
        if (uses[kind]++ == 0) kinds.push_back(kind);
    };
    for (const Failing& failing : failing_) {
        for (const std::string& kind : failing.alone) use(kind);
        for (const auto& parts : failing.explanations)
            for (const std::string& kind : parts) use(kind);
    }
    std::ranges::stable_sort(kinds, std::ranges::greater{},
                             [&](const std::string& kind) { return uses.at(kind); });
    return kinds;
}

Covers Search::covers_of_one() const {
    if (failing_.empty()) return {};
    std::set<std::string> common = failing_[0].alone;
    for (const Failing& failing : failing_)
        std::erase_if(common,
                      [&](const std::string& kind) { return !failing.alone.contains(kind); });
    Covers covers;
    for (const std::string& kind : common) covers.push_back({kind});
    return covers;
}

Covers Search::covers_of_two(Reach one, Reach other) const {
    Covers covers;
    std::set<std::pair<std::string, std::string>> seen;
    for (const std::string& kind : kinds_by_use()) {
        if (reach_of(kind) != one || is_of_dialect(kind)) continue;
        std::optional<std::set<std::string>> beside;  // where it is not enough
        for (const Failing& failing : failing_) {
            if (failing.alone.contains(kind)) continue;
            std::set<std::string> here = failing.alone;
            for (const auto& parts : failing.explanations)
                for (const std::size_t side : {0u, 1u})
                    if (parts[side] == kind) here.insert(parts[1 - side]);
            if (beside)
                std::erase_if(*beside, [&](const auto& each) { return !here.contains(each); });
            else
                beside = std::move(here);
        }
        if (!beside) continue;
        for (const std::string& each : *beside)
            if (reach_of(each) == other && !is_of_dialect(each) && !seen.contains({each, kind}) &&
                seen.insert({kind, each}).second)
                covers.push_back({kind, each});
    }
    return covers;
}

bool Search::is_unexplained(const CaseResult& result) const {
    return std::ranges::any_of(failing_, [&](const Failing& failing) {
        return failing.result == &result && failing.alone.empty() && failing.explanations.empty();
    });
}

// Holds every kind of the covers against cases that it explains nothing of: it must not change
// them, unless they are among those that a cause of most leaves open.
void Search::check(const Covers& covers, Extent extent) {
    candidates_.clear();
    for (const auto& cover : covers)
        for (const std::string& kind : cover) candidates_[kind].kind = kind;
    std::map<std::string, std::vector<Case>> refuting;
    for (const CaseResult* result : cases_to_check()) {
        const auto again = made_again(*result, sources_);
        if (!again) continue;
        const bool is_open = extent == Extent::most && is_unexplained(*result);
        for (auto& [kind, candidate] : candidates_) {
            if (explains(kind, *result)) continue;
            const std::optional<bool> is_changed = again->is_changed_by(kind);
            if (is_changed && *is_changed != is_open) refuting[kind].push_back(again->c);
        }
    }
    for (auto& [kind, candidate] : candidates_) {
        const std::vector<Case> explained = cases_with(kind);
        set_text(candidate, explained);
        if (refuting[kind].empty()) continue;
        candidate.is_refuted = true;
        const bool is_alone = covers[0].size() == 1;
        if (extent == Extent::all) confine(candidate, explained, refuting[kind], is_alone);
    }
}

bool Search::explains(const std::string& kind, const CaseResult& result) const {
    return std::ranges::any_of(failing_, [&](const Failing& failing) {
        return failing.result == &result && has_part(failing, kind);
    });
}

std::vector<Case> Search::cases_with(const std::string& kind) const {
    std::vector<Case> found;
    for (const Failing& failing : failing_)
        if (kind.empty() || has_part(failing, kind))
            if (const auto c = parse_case(failing.result->case_text)) found.push_back(c.value());
    return found;
}

std::vector<const CaseResult*> Search::passing() const {
    std::vector<const CaseResult*> passing;
    for (const CaseResult& result : cases_)
        if (result.verdict == Verdict::pass_exact &&
            (result.operation == gemm_operation) == is_of_gemms(failing_[0]))
            passing.push_back(&result);
    return passing;
}

// An even choice of those that pass, and those that fail and have other explanations.
std::vector<const CaseResult*> Search::cases_to_check() const {
    const std::vector<const CaseResult*> all = passing();
    std::vector<const CaseResult*> chosen;
    const std::size_t step =
        std::max<std::size_t>(1, (all.size() + passing_checked_max - 1) / passing_checked_max);
    for (std::size_t i = 0; i < all.size(); i += step) chosen.push_back(all[i]);
    for (std::size_t i = 0; i < failing_.size() && i < failing_checked_max; ++i)
        chosen.push_back(failing_[i].result);
    return chosen;
}

}  // namespace mx::cause
