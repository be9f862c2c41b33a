// See search.hpp.
#include "conformance/cause/search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <iterator>
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
constexpr std::size_t candidates_max = 48;
constexpr std::size_t covers_max = 400;

std::vector<std::string> parts_of(const std::string& explanation) {
    const std::string plus = " + ";
    const std::size_t at = explanation.find(plus);
    if (at == std::string::npos) return {explanation};
    return {explanation.substr(0, at), explanation.substr(at + plus.size())};
}

}  // namespace

std::string listed(const std::vector<std::string>& items) {
    std::string text;
    for (std::size_t i = 0; i < items.size(); ++i)
        text += (i == 0 ? "" : i + 1 == items.size() ? " and " : ", ") + items[i];
    return text;
}

// The same whichever row, block or k it is.
std::string without_numbers(const std::string& text) {
    std::string plain;
    for (const char letter : text) {
        const bool is_digit = std::isdigit(static_cast<unsigned char>(letter)) != 0;
        if (!is_digit) plain += letter;
        if (is_digit && (plain.empty() || plain.back() != '#')) plain += '#';
    }
    return plain;
}

// One kind, or in several places: "ties:up@odd_rows,last_row" is two.
void add_explanation(const std::string& explanation, Failing& failing) {
    if (is_of_gemm(explanation)) {
        failing.alone.insert(explanation);
        failing.alone.insert(without_numbers(explanation));
        return;
    }
    const std::vector<std::string> parts = parts_of(explanation);
    if (parts.size() > 1) {
        failing.explanations.push_back(parts);
        return;
    }
    const std::size_t at = explanation.find('@');
    if (at == std::string::npos) {
        failing.alone.insert(explanation);
        return;
    }
    for (std::size_t from = at + 1; from <= explanation.size();) {
        const std::size_t end = std::min(explanation.find(',', from), explanation.size());
        failing.alone.insert(explanation.substr(0, at + 1) + explanation.substr(from, end - from));
        from = end + 1;
    }
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
    Scope{"where K is ", [](const Case& c) { return std::to_string(c.gemm.k); }},
    Scope{"where beta is ", [](const Case& c) { return number_text(c.gemm.beta); }},
    Scope{"where alpha is ", [](const Case& c) { return number_text(c.gemm.alpha); }},
};

constexpr std::string_view gemm_operation = "gemm";

bool has_part(const Failing& failing, const std::string& kind) {
    return failing.alone.contains(kind) ||
           std::ranges::any_of(failing.explanations, [&](const auto& parts) {
               return std::ranges::find(parts, kind) != parts.end();
           });
}

bool is_covered(const Failing& failing, const std::vector<std::string>& kinds) {
    return std::ranges::any_of(
               kinds, [&](const std::string& kind) { return failing.alone.contains(kind); }) ||
           std::ranges::any_of(failing.explanations, [&](const auto& parts) {
               return std::ranges::all_of(parts, [&](const std::string& part) {
                   return std::ranges::find(kinds, part) != kinds.end();
               });
           });
}

bool is_placed(const std::string& kind) {
    return !is_of_gemm(kind) && kind.find('@') != std::string::npos;
}

enum class Reach { everywhere, any_number, one_place };
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

std::string text_for(const std::string& kind, const std::vector<Case>& explained) {
    if (is_of_gemm(kind)) return kind.substr(gemm_kind.size());
    const PlacedKind read = read_placed_kind(kind);
    const std::string where = read.place == places_max ? "" : place_names()[read.place].text + ", ";
    for (const Case& c : explained)
        for (const Alteration& hypothesis : hypotheses_for(c))
            if (hypothesis.kind == read.alteration) return where + hypothesis.text;
    return answer_of_before({}).text;
}

// To what all explained cases have in common and no refuting one has.
void confine(Candidate& candidate, const std::vector<Case>& explained,
             const std::vector<Case>& refuting) {
    // A factor that is a little too large or small moves ties as well.
    const bool has_factors = std::ranges::any_of(explained, [](const Case& c) {
        return c.dialect != nullptr && !c.dialect->has_e8m0_scales();
    });
    if (has_factors && candidate.kind.starts_with("element_rounding:")) return;
    const bool of_gemms = is_of_gemm(candidate.kind);
    const std::span<const Scope> all =
        of_gemms ? std::span<const Scope>(gemm_scopes) : std::span<const Scope>(scopes);
    for (const Scope& scope : all) {
        std::set<std::string> values;
        for (const Case& c : explained) values.insert(scope.of(c));
        const bool is_apart = std::ranges::none_of(
            refuting, [&](const Case& c) { return values.contains(scope.of(c)); });
        if (values.empty() || values.size() > 2 || !is_apart || values.begin()->empty()) continue;
        candidate.scope = std::string(scope.opening) + listed({values.begin(), values.end()});
        candidate.is_refuted = false;
        return;
    }
}

}  // namespace

bool is_of_gemms(const Failing& failing) {
    return failing.result->operation == gemm_operation;
}

Candidates Search::explanations() {
    const Covers alone = covers_of_one();
    for (const Reach reach : {Reach::everywhere, Reach::any_number, Reach::one_place}) {
        Covers covers;
        std::ranges::copy_if(alone, std::back_inserter(covers), [&](const auto& cover) {
            return reach_of(cover[0]) == reach && !is_of_one_number(cover[0], alone);
        });
        auto found = unrefuted(covers, Extent::all);
        if (found.empty()) continue;
        for (auto& set : found) set[0].seen_in = seen_in(set[0], alone);
        return found;
    }
    return unrefuted(covers_of_two(), Extent::all);
}

Search::OfMost Search::explanations_of_most() {
    std::map<std::string, std::size_t> counts;
    for (const Failing& failing : failing_)
        for (const std::string& kind : failing.alone)
            if (reach_of(kind) == Reach::everywhere) ++counts[kind];
    OfMost most;
    for (const auto& [kind, count] : counts) most.cases = std::max(most.cases, count);
    if (most.cases < 2 || 2 * most.cases <= failing_.size()) return {};
    Covers covers;
    for (const auto& [kind, count] : counts)
        if (count == most.cases) covers.push_back({kind});
    most.found = unrefuted(covers, Extent::most);
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

std::string Search::seen_in(const Candidate& candidate, const Covers& alone) const {
    if (is_placed(candidate.kind)) return "";
    const auto lies_in = [&](std::string_view place) {
        return std::ranges::find(alone, std::vector{candidate.kind + "@" + std::string(place)}) !=
               alone.end();
    };
    for (const std::string_view place : parts_of_tensors)
        if (lies_in(place)) return std::string(place);
    for (const std::string_view place : ends_of_lines)
        if (lies_in(place) && have_long_lines()) return std::string(place);
    return "";
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

bool Search::covers_all(const std::vector<std::string>& kinds) const {
    return std::ranges::all_of(failing_,
                               [&](const Failing& failing) { return is_covered(failing, kinds); });
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

Covers Search::covers_of_two() const {
    std::vector<std::string> kinds = kinds_by_use();
    std::erase_if(kinds, is_of_any_number);
    if (kinds.size() > candidates_max) kinds.resize(candidates_max);
    Covers covers;
    for (std::size_t one = 0; one < kinds.size(); ++one)
        for (std::size_t other = one + 1; other < kinds.size(); ++other)
            if (covers_all({kinds[one], kinds[other]}))
                covers.push_back({kinds[one], kinds[other]});
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
        candidate.text = text_for(kind, explained);
        if (refuting[kind].empty()) continue;
        candidate.is_refuted = true;
        if (extent == Extent::all) confine(candidate, explained, refuting[kind]);
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
        if (has_part(failing, kind))
            if (const auto c = parse_case(failing.result->case_text)) found.push_back(c.value());
    return found;
}

// An even choice of those that pass, and those that fail and have other explanations.
std::vector<const CaseResult*> Search::cases_to_check() const {
    std::vector<const CaseResult*> passing, chosen;
    for (const CaseResult& result : cases_)
        if (result.verdict == Verdict::pass_exact &&
            (result.operation == gemm_operation) == is_of_gemms(failing_[0]))
            passing.push_back(&result);
    const std::size_t step =
        std::max<std::size_t>(1, (passing.size() + passing_checked_max - 1) / passing_checked_max);
    for (std::size_t i = 0; i < passing.size(); i += step) chosen.push_back(passing[i]);
    for (std::size_t i = 0; i < failing_.size() && i < failing_checked_max; ++i)
        chosen.push_back(failing_[i].result);
    return chosen;
}

}  // namespace mx::cause
