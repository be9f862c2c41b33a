// See cause.hpp.
#include "conformance/cause/cause.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "conformance/case/case.hpp"
#include "conformance/cause/again.hpp"
#include "conformance/cause/hypotheses.hpp"
#include "conformance/cause/places.hpp"
#include "conformance/run/judge.hpp"
#include "reference/base/text.hpp"

namespace mx::cause {
namespace {

using results::CaseResult;
using results::Mismatch;
using results::Verdict;

// Cases whose right answer is asked of the hypotheses that have come so far.
constexpr std::size_t passing_checked_max = 192;
constexpr std::size_t failing_checked_max = 64;
constexpr std::size_t candidates_max = 48;
constexpr std::size_t covers_max = 400;
// More that nothing tells apart name no cause.
constexpr std::size_t named_max = 3;

// What is wrong with bits or memory and needs no hypothesis: it was seen.
struct Finding {
    std::string_view name, text;
};
constexpr std::array findings{
    Finding{"unwritten", "outputs are left unwritten"},
    Finding{"flaky", "two runs of one case differ"},
    Finding{"padding", "pads are read, or not written as 0"},
    Finding{"red_zone", "memory beside a tensor is written"},
    Finding{"input_modified", "an input is changed"},
    Finding{"crash", "the device crashes"},
    Finding{"timeout", "the device does not answer in time"},
    Finding{"device_error", "the device reports an error"},
};

const Finding* finding_named(std::string_view name) {
    const auto found = std::ranges::find(findings, name, &Finding::name);
    return found == findings.end() ? nullptr : &*found;
}

// A piece of the sentence: something that is wrong, and how often.
struct Piece {
    std::string kind, text;
    std::uint64_t places = 0, cases = 0;
};

std::string listed(const std::vector<std::string>& items) {
    std::string text;
    for (std::size_t i = 0; i < items.size(); ++i)
        text += (i == 0 ? "" : i + 1 == items.size() ? " and " : ", ") + items[i];
    return text;
}

// What a failing case comes to.
struct Failing {
    const CaseResult* result = nullptr;
    std::set<std::string> alone;                         // kinds that each explain all of it
    std::vector<std::vector<std::string>> explanations;  // kinds that do together
    std::uint64_t places = 0;                            // that need a hypothesis
    std::uint64_t open_places = 0;                       // that a source leaves open
    bool needs_hypothesis() const { return places > 0; }
};

std::vector<std::string> parts_of(const std::string& explanation) {
    const std::string plus = " + ";
    const std::size_t at = explanation.find(plus);
    if (at == std::string::npos) return {explanation};
    return {explanation.substr(0, at), explanation.substr(at + plus.size())};
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

class Findings {
public:
    void add(const std::string& kind, const std::string& text, std::uint64_t places) {
        for (Piece& piece : pieces_)
            if (piece.kind == kind) {
                piece.places += places;
                ++piece.cases;
                if (piece.text != text) piece.text = without_numbers(text);
                return;
            }
        pieces_.push_back({kind, text, places, 1});
    }
    const std::vector<Piece>& pieces() const { return pieces_; }

    // In another layout the pads lie elsewhere too, which is no cause of its own.
    void drop_pads_of_layouts() {
        if (count("packing:") + count("layout:") > 0)
            std::erase_if(pieces_, [](const Piece& piece) { return piece.kind == "padding"; });
    }

    // One fault lies in one other layout; and what is not written and differs elsewhere, where it
    // is written, is read before that.
    bool contradict_each_other() const {
        return count("packing:") > 1 || count("layout:") > 1 ||
               (count("flaky") > 0 && count("unwritten") > 0);
    }

private:
    std::ptrdiff_t count(std::string_view opening) const {
        return std::ranges::count_if(
            pieces_, [&](const Piece& piece) { return piece.kind.starts_with(opening); });
    }

    std::vector<Piece> pieces_;
};

// Takes what was seen of the case, and leaves what needs a hypothesis.
Failing failing_of(const CaseResult& result, Findings& seen) {
    Failing failing;
    failing.result = &result;
    for (const std::string& explanation : result.explanations)
        add_explanation(explanation, failing);
    const bool remembers =
        std::ranges::find(result.explanations, "stale_answer") != result.explanations.end();
    if (const Finding* finding = finding_named(results::name_of(result.verdict));
        finding != nullptr && result.mismatches.empty())
        seen.add(std::string(finding->name), std::string(finding->text), 0);
    const auto shows = [&](std::string_view name) {
        return std::ranges::find(result.mismatches, name, &Mismatch::mismatch_class) !=
               result.mismatches.end();
    };
    const bool is_gemm_explained =
        !result.explanations.empty() && is_of_gemm(result.explanations[0]);
    for (const Mismatch& m : result.mismatches) {
        if (!m.open_decision.empty()) {
            failing.open_places += m.count;
            continue;
        }
        // Memory that is not written holds something else at each run, and pads are part of it.
        if (m.mismatch_class == "flaky" && (shows("unwritten") || shows("padding"))) continue;
        if (m.mismatch_class == "padding" && shows("unwritten")) continue;
        // Scales that are looked for in another layout are found among pads.
        if (m.mismatch_class == "padding" && is_gemm_explained) {
            failing.places += m.count;
            continue;
        }
        const Finding* finding = finding_named(m.mismatch_class);
        if (m.mismatch_class == "packing" || m.mismatch_class == "layout")
            seen.add(m.mismatch_class + ":" + m.direction, "the device has " + m.direction,
                     m.count);
        else if (finding != nullptr && !(remembers && m.mismatch_class == "flaky"))
            seen.add(std::string(finding->name), std::string(finding->text), m.count);
        else
            failing.places += m.count;
    }
    return failing;
}

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

// A kind that explains, and where it holds.
struct Candidate {
    std::string kind, text;
    std::string scope;    // "" everywhere
    std::string seen_in;  // the place that all it explains lies in, though nothing says why
    bool is_refuted = false;
};

constexpr std::string_view gemm_operation = "gemm";
bool is_of_gemms(const Failing& failing) {
    return failing.result->operation == gemm_operation;
}

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

using Covers = std::vector<std::vector<std::string>>;

// Of cases of one kind: GEMMs have hypotheses of their own.
class Search {
public:
    Search(std::span<const CaseResult> cases, std::vector<Failing> failing, Sources& sources)
        : cases_(cases), failing_(std::move(failing)), sources_(sources) {}

    // The sets of kinds that explain everything and are refuted nowhere: the simplest ones. One
    // cause is simpler than one in a place, and that than two.
    std::vector<std::vector<Candidate>> explanations() {
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

    struct OfMost {
        std::vector<std::vector<Candidate>> found;
        std::size_t cases = 0;  // that each of them explains
    };
    // Those that each explain more than half of the cases, and change all that nothing explains:
    // what is altered there may hang on an order that nobody knows.
    OfMost explanations_of_most() {
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

private:
    enum class Extent { all, most };

    // Of any number, though everywhere of the same one: then it is that one, or nothing.
    static bool is_of_one_number(const std::string& kind, const Covers& alone) {
        return is_of_any_number(kind) && std::ranges::any_of(alone, [&](const auto& cover) {
                   return !is_of_any_number(cover[0]) && without_numbers(cover[0]) == kind;
               });
    }

    std::vector<std::vector<Candidate>> unrefuted(const Covers& covers, Extent extent) {
        if (covers.empty() || covers.size() > covers_max) return {};
        check(covers, extent);
        std::vector<std::vector<Candidate>> found;
        for (const auto& cover : covers) {
            std::vector<Candidate> set;
            for (const std::string& kind : cover) set.push_back(candidates_.at(kind));
            const auto is_refuted = [](const Candidate& each) { return each.is_refuted; };
            if (std::ranges::none_of(set, is_refuted)) found.push_back(std::move(set));
        }
        return found;
    }

    std::string seen_in(const Candidate& candidate, const Covers& alone) const {
        if (is_placed(candidate.kind)) return "";
        const auto lies_in = [&](std::string_view place) {
            return std::ranges::find(alone, std::vector{candidate.kind + "@" +
                                                        std::string(place)}) != alone.end();
        };
        for (const std::string_view place : parts_of_tensors)
            if (lies_in(place)) return std::string(place);
        for (const std::string_view place : ends_of_lines)
            if (lies_in(place) && have_long_lines()) return std::string(place);
        return "";
    }

    // Is one of the lines of several blocks?
    bool have_long_lines() const {
        return std::ranges::any_of(failing_, [](const Failing& failing) {
            const auto c = parse_case(failing.result->case_text);
            if (!c || !has_blocks(c.value())) return false;
            const BlockGrid grid = block_grid(blocking_of(c.value()));
            return (c.value().axis == BlockAxis::col ? grid.block_rows : grid.block_columns) > 1;
        });
    }

    // Those that are of a pair somewhere, or explain something alone.
    std::vector<std::string> kinds_by_use() const {
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

    bool covers_all(const std::vector<std::string>& kinds) const {
        return std::ranges::all_of(
            failing_, [&](const Failing& failing) { return is_covered(failing, kinds); });
    }

    Covers covers_of_one() const {
        if (failing_.empty()) return {};
        std::set<std::string> common = failing_[0].alone;
        for (const Failing& failing : failing_)
            std::erase_if(common,
                          [&](const std::string& kind) { return !failing.alone.contains(kind); });
        Covers covers;
        for (const std::string& kind : common) covers.push_back({kind});
        return covers;
    }

    Covers covers_of_two() const {
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

    bool is_unexplained(const CaseResult& result) const {
        return std::ranges::any_of(failing_, [&](const Failing& failing) {
            return failing.result == &result && failing.alone.empty() &&
                   failing.explanations.empty();
        });
    }

    // Holds every kind of the covers against cases that it explains nothing of: it must not change
    // them, unless they are among those that a cause of most leaves open.
    void check(const std::vector<std::vector<std::string>>& covers, Extent extent) {
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

    static std::string text_for(const std::string& kind, const std::vector<Case>& explained) {
        if (is_of_gemm(kind)) return kind.substr(gemm_kind.size());
        const PlacedKind read = read_placed_kind(kind);
        const std::string where =
            read.place == places_max ? "" : place_names()[read.place].text + ", ";
        for (const Case& c : explained)
            for (const Alteration& hypothesis : hypotheses_for(c))
                if (hypothesis.kind == read.alteration) return where + hypothesis.text;
        return answer_of_before({}).text;
    }

    bool explains(const std::string& kind, const CaseResult& result) const {
        return std::ranges::any_of(failing_, [&](const Failing& failing) {
            return failing.result == &result && has_part(failing, kind);
        });
    }

    std::vector<Case> cases_with(const std::string& kind) const {
        std::vector<Case> found;
        for (const Failing& failing : failing_)
            if (has_part(failing, kind))
                if (const auto c = parse_case(failing.result->case_text))
                    found.push_back(c.value());
        return found;
    }

    // To what all explained cases have in common and no refuting one has.
    static void confine(Candidate& candidate, const std::vector<Case>& explained,
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
            if (values.empty() || values.size() > 2 || !is_apart || values.begin()->empty())
                continue;
            candidate.scope = std::string(scope.opening) + listed({values.begin(), values.end()});
            candidate.is_refuted = false;
            return;
        }
    }

    // An even choice of those that pass, and those that fail and have other explanations.
    std::vector<const CaseResult*> cases_to_check() const {
        std::vector<const CaseResult*> passing, chosen;
        for (const CaseResult& result : cases_)
            if (result.verdict == Verdict::pass_exact &&
                (result.operation == gemm_operation) == is_of_gemms(failing_[0]))
                passing.push_back(&result);
        const std::size_t step = std::max<std::size_t>(
            1, (passing.size() + passing_checked_max - 1) / passing_checked_max);
        for (std::size_t i = 0; i < passing.size(); i += step) chosen.push_back(passing[i]);
        for (std::size_t i = 0; i < failing_.size() && i < failing_checked_max; ++i)
            chosen.push_back(failing_[i].result);
        return chosen;
    }

    std::span<const CaseResult> cases_;
    std::vector<Failing> failing_;
    Sources& sources_;
    std::map<std::string, Candidate> candidates_;
};

std::string capitalised(std::string text) {
    if (!text.empty())
        text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
}

bool is_dialect(const Candidate& candidate) {
    return candidate.kind.starts_with(dialect_kind);
}

std::string text_of(const Candidate& candidate) {
    if (is_dialect(candidate)) {
        const std::string change = candidate.kind.substr(dialect_kind.size());
        return "these bits follow " + candidate.text + ", not " +
               change.substr(0, change.find("->"));
    }
    return (candidate.scope.empty() ? "" : candidate.scope + ", ") + candidate.text +
           (candidate.seen_in.empty()
                ? ""
                : ", seen " + place_names()[read_placed_kind("@" + candidate.seen_in).place].text +
                      " alone");
}

// Of hypotheses that each explain everything: the other entries of the table, then the rest.
std::optional<Piece> named_of(const std::vector<std::vector<Candidate>>& found,
                              std::vector<std::string>& kinds) {
    std::vector<std::string> dialects, texts, named;
    std::string asked;
    for (const auto& set : found) {
        if (set.size() != 1) continue;
        const Candidate& candidate = set[0];
        if (is_dialect(candidate)) {
            dialects.push_back(candidate.text);
            const std::string change = candidate.kind.substr(dialect_kind.size());
            asked = change.substr(0, change.find("->"));
        } else if (std::ranges::find(texts, text_of(candidate)) == texts.end()) {
            texts.push_back(text_of(candidate));
        }
        named.push_back(is_of_gemm(candidate.kind) ? without_numbers(candidate.kind)
                                                   : candidate.kind);
        if (!candidate.seen_in.empty()) named.push_back(candidate.kind + "@" + candidate.seen_in);
    }
    if (dialects.empty() && (texts.empty() || texts.size() > named_max)) return std::nullopt;
    if (texts.size() > named_max) texts.clear();
    std::string text;
    for (const std::string& each : texts) text += (text.empty() ? "" : ", or ") + each;
    if (texts.size() > 1) text += " (no case tells these apart)";
    if (!dialects.empty())
        text = "these bits follow " + listed(dialects) + ", not " + asked +
               (text.empty() ? "" : ": " + text);
    kinds = {named[0]};
    for (std::size_t i = 1; i < named.size(); ++i) kinds[0] += " | " + named[i];
    return Piece{"", text, 0, 0};
}

std::string kind_text(const Mismatch& m) {
    std::string text = m.mismatch_class;
    for (const std::string* part : {&m.direction, &m.note})
        if (!part->empty()) text += ", " + *part;
    return text;
}

enum class Openness { binding, any };

// Of what no hypothesis explains: its kinds, the most frequent first.
std::string unexplained_sentence(const std::vector<const CaseResult*>& cases, Openness wanted) {
    struct Kind {
        std::string text;
        std::uint64_t count = 0;
    };
    std::map<std::string, Kind> kinds;
    for (const CaseResult* result : cases)
        for (const Mismatch& m : result->mismatches) {
            if (wanted == Openness::binding && !m.open_decision.empty()) continue;
            Kind& kind = kinds[m.mismatch_class + "\n" + m.direction];
            if (kind.count == 0) kind.text = kind_text(m);
            kind.count += m.count;
        }
    if (kinds.empty()) return "";
    const auto most =
        std::ranges::max_element(kinds, {}, [](const auto& each) { return each.second.count; });
    if (kinds.size() == 1)
        return "One kind of difference, " + most->second.text + "; nothing else is wrong.";
    return std::to_string(kinds.size()) + " kinds of difference, the most frequent " +
           most->second.text + ".";
}

// How much of what differs was explained, and what that says of the rest.
struct Explained {
    std::string text;
    std::string_view rest = "nothing else is wrong";
};

std::string places_text(const Piece& piece) {
    if (piece.places == 0) return grouped(piece.cases) + (piece.cases == 1 ? " case" : " cases");
    return grouped(piece.places) + (piece.places == 1 ? " place" : " places");
}

std::string cases_left_text(std::size_t left) {
    return grouped(left) + (left == 1 ? " is" : " are") + " not explained";
}

// Every difference has a piece that explains it, but for those of some cases.
std::string sentence_of_most(const std::vector<Piece>& pieces, std::size_t left) {
    if (pieces.size() == 1)
        return capitalised(pieces[0].text) + "; the other " + cases_left_text(left) + ".";
    std::string text = grouped(pieces.size()) + " causes: ";
    for (const Piece& piece : pieces) text += piece.text + "; ";
    return text + "of the failing cases " + cases_left_text(left) + ".";
}

// Every difference has a piece that explains it.
std::string sentence_of(const std::vector<Piece>& pieces, const Explained& explained) {
    const std::string rest = "; " + std::string(explained.rest);
    if (pieces.size() == 1)
        return capitalised(pieces[0].text) + rest + " (" +
               (explained.text.empty() ? places_text(pieces[0]) : explained.text) + ").";
    std::string text = grouped(pieces.size()) + " causes: ";
    for (const Piece& piece : pieces)
        text += (&piece == &pieces[0] ? "" : "; ") + piece.text +
                (piece.places + piece.cases == 0 ? "" : " (" + places_text(piece) + ")");
    return text + rest + (explained.text.empty() ? "" : " (" + explained.text + ")") + ".";
}

Explained explained_among(const std::vector<Failing>& failing) {
    std::uint64_t looked_at = 0, places = 0;
    for (const Failing& each : failing) {
        looked_at += each.result->looked_at.value_or(0);
        places += each.places + each.open_places;
    }
    if (looked_at >= places) return {grouped(places) + " of " + grouped(places) + " explained"};
    return {"all " + grouped(looked_at) + " of them are explained; " + grouped(places) + " differ",
            "nothing else is wrong in the places looked at"};
}

// Two causes, of each what nothing tells apart.
using TwoCauses = std::array<std::vector<Candidate>, 2>;

// Where each of the one goes with each of the other, and no others go together. Sets with another
// entry of the table stand behind.
std::optional<TwoCauses> two_of(const std::vector<std::vector<Candidate>>& found) {
    std::map<std::string, std::map<std::string, Candidate>> beside;  // each kind's counterparts
    for (const auto& set : found)
        if (set.size() == 2 && std::ranges::none_of(set, is_dialect))
            for (const std::size_t one : {0u, 1u})
                beside[set[one].kind].emplace(set[1 - one].kind, set[1 - one]);
    if (beside.empty()) return std::nullopt;
    const auto& others = beside.begin()->second;
    const auto& ones = beside.at(others.begin()->first);
    if (ones.size() + others.size() != beside.size()) return std::nullopt;
    const auto goes_with = [&](const auto& kinds, const auto& all) {
        return std::ranges::all_of(kinds, [&](const auto& each) {
            return std::ranges::equal(
                beside.at(each.first), all, {}, [](const auto& one) { return one.first; },
                [](const auto& one) { return one.first; });
        });
    };
    if (!goes_with(ones, others) || !goes_with(others, ones)) return std::nullopt;
    TwoCauses two;
    for (const auto& [kind, candidate] : ones) two[0].push_back(candidate);
    for (const auto& [kind, candidate] : others) two[1].push_back(candidate);
    return two;
}

// None where more remain of one than can be named.
std::vector<Piece> pieces_of(const TwoCauses& two, std::vector<std::string>& kinds) {
    std::vector<Piece> pieces;
    for (const std::vector<Candidate>& alike : two) {
        std::vector<std::vector<Candidate>> sets;
        for (const Candidate& candidate : alike) sets.push_back({candidate});
        std::vector<std::string> named;
        const auto piece = named_of(sets, named);
        if (!piece) return {};
        pieces.push_back({alike[0].kind, piece->text, 0, 0});
        kinds.push_back(named[0]);
    }
    return pieces;
}

struct NamedCauses {
    std::vector<Piece> pieces;
    std::vector<std::string> kinds;
    std::size_t cases_left = 0;  // that they do not explain
};

// What explains most cases, where nothing explains all. Some of them were not looked at.
struct FailingCases {
    std::size_t looked_at = 0, all = 0;
};
std::optional<NamedCauses> causes_of_most(Search& search, const FailingCases& cases) {
    NamedCauses causes;
    const Search::OfMost most = search.explanations_of_most();
    const auto named = named_of(most.found, causes.kinds);
    if (!named) return std::nullopt;
    causes.pieces = {*named};
    const bool is_all = cases.looked_at == cases.all;
    causes.pieces[0].text =
        "in " + grouped(most.cases) + " of the " + grouped(cases.looked_at) + " failing cases " +
        (is_all ? std::string() : "looked at, of " + grouped(cases.all) + " in all, ") +
        "one cause explains every difference: " + named->text;
    causes.cases_left = cases.all - most.cases;
    return causes;
}

// What explains the failing GEMMs, or the others; none where something is left.
std::optional<NamedCauses> causes_among(std::span<const CaseResult> cases,
                                        const std::vector<Failing>& failing, bool gemms,
                                        Sources& sources) {
    NamedCauses causes;
    // Cases beyond those that were looked at say nothing against what explains the others.
    std::vector<Failing> concerned, examined;
    std::ranges::copy_if(failing, std::back_inserter(concerned),
                         [gemms](const Failing& each) { return is_of_gemms(each) == gemms; });
    if (concerned.empty()) return causes;
    std::ranges::copy_if(concerned, std::back_inserter(examined),
                         [](const Failing& each) { return each.result->looked_at.has_value(); });
    if (examined.empty()) return std::nullopt;
    Search search(cases, examined, sources);
    const auto found = search.explanations();
    if (const auto named = named_of(found, causes.kinds)) {
        causes.pieces = {*named};
        return causes;
    }
    if (const auto two = two_of(found)) {
        causes.pieces = pieces_of(*two, causes.kinds);
        if (!causes.pieces.empty()) return causes;
        causes.kinds.clear();
    }
    if (gemms) return causes_of_most(search, {examined.size(), concerned.size()});
    return std::nullopt;
}

}  // namespace

Cause cause_of(std::span<const CaseResult> cases, Sources& sources) {
    Findings seen;
    std::vector<Failing> failing;
    bool has_failed = false;
    for (const CaseResult& result : cases) {
        if (!blames_device(result.verdict)) continue;
        has_failed = true;
        Failing each = failing_of(result, seen);
        if (each.needs_hypothesis()) failing.push_back(std::move(each));
    }
    if (!has_failed) return {};
    Cause cause;
    seen.drop_pads_of_layouts();
    if (seen.contradict_each_other()) return {differences_of(cases), {}};
    std::vector<Piece> pieces = seen.pieces();
    for (const Piece& piece : pieces) cause.kinds.push_back(piece.kind);
    if (failing.empty()) return {sentence_of(pieces, Explained{}), cause.kinds};
    std::size_t cases_left = 0;
    for (const bool gemms : {false, true}) {
        const auto causes = causes_among(cases, failing, gemms, sources);
        if (causes) {
            cases_left += causes->cases_left;
            pieces.insert(pieces.end(), causes->pieces.begin(), causes->pieces.end());
            cause.kinds.insert(cause.kinds.end(), causes->kinds.begin(), causes->kinds.end());
            continue;
        }
        std::vector<const CaseResult*> results;
        for (const Failing& each : failing) results.push_back(each.result);
        return {unexplained_sentence(results, Openness::binding), {}};
    }
    cause.sentence = cases_left > 0 ? sentence_of_most(pieces, cases_left)
                                    : sentence_of(pieces, explained_among(failing));
    return cause;
}

std::string differences_of(std::span<const results::CaseResult> cases) {
    std::vector<const CaseResult*> results;
    for (const CaseResult& result : cases) results.push_back(&result);
    return unexplained_sentence(results, Openness::any);
}

}  // namespace mx::cause
