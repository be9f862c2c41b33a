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
#include "conformance/cause/search.hpp"
#include "conformance/run/judge.hpp"
#include "conformance/run/layout_guess.hpp"
#include "reference/base/text.hpp"

namespace mx::cause {
namespace {

using results::CaseResult;
using results::Mismatch;
using results::Verdict;

// More that nothing tells apart name no cause.
constexpr std::size_t named_max = 4;

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
    std::string seen = {};  // what of a tensor no case tells apart
};

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

    // A layout that explains a case, or several that it does not tell apart.
    void add_layout(const Mismatch& m) {
        std::set<std::string> of_case;
        std::string_view rest = m.direction;
        for (std::size_t end; (end = rest.find(layouts_between)) != rest.npos;) {
            of_case.emplace(rest.substr(0, end));
            rest.remove_prefix(end + layouts_between.size());
        }
        of_case.emplace(rest);
        Layouts& layouts = layouts_[m.mismatch_class];
        if (layouts.cases++ == 0) layouts.names = of_case;
        std::erase_if(layouts.names, [&](const auto& name) { return !of_case.contains(name); });
        layouts.places += m.count;
    }

    // One fault lies in one other layout, which has the pads elsewhere too and leaves its bytes
    // unwritten: no cause of its own. False where no layout explains all cases that one explains.
    bool settle_layouts() {
        for (const auto& [mismatch_class, layouts] : layouts_) {
            if (layouts.names.empty() || layouts.names.size() > named_max) return false;
            std::string kind, text;
            for (const std::string& name : layouts.names) {
                kind += (kind.empty() ? "" : " | ") + mismatch_class + ":" + name;
                text += (text.empty() ? "" : std::string(layouts_between)) + name;
            }
            pieces_.push_back({kind, "the device has " + text, layouts.places, layouts.cases});
        }
        if (!layouts_.empty()) drop("padding");
        return true;
    }

    // What follows from a cause that is named.
    void drop_what_follows_from(const std::vector<std::string>& kinds) {
        const auto names = [&](std::string_view kind) {
            return std::ranges::find(kinds, kind) != kinds.end();
        };
        const bool reads_other_scales = std::ranges::any_of(kinds, [](const std::string& kind) {
            return is_of_gemm(kind) && kind.find("the scales of ") != std::string::npos;
        });
        // Where elements of a row change places in pairs, those that are packed in pairs do so too.
        if (names("exchanged:pairs")) drop("packing:nibbles in the other order");
        // Two runs of a device that answers the question before differ with that question.
        if (names("stale_answer")) drop("flaky");
        // Scales that are looked for elsewhere are found among pads.
        if (reads_other_scales) drop("padding");
    }

    // What is not written and differs elsewhere, where it is written, is read before that.
    bool contradict_each_other() const { return count("flaky") > 0 && count("unwritten") > 0; }

private:
    void drop(std::string_view kind) {
        std::erase_if(pieces_, [kind](const Piece& piece) { return piece.kind == kind; });
    }
    std::ptrdiff_t count(std::string_view opening) const {
        return std::ranges::count_if(
            pieces_, [&](const Piece& piece) { return piece.kind.starts_with(opening); });
    }

    struct Layouts {
        std::set<std::string> names;
        std::uint64_t places = 0, cases = 0;
    };

    std::vector<Piece> pieces_;
    std::map<std::string, Layouts> layouts_;  // by class: packing, or layout
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
        // What is made of a scale that is not there.
        const bool is_under_scale =
            m.mismatch_class == "scale" && m.direction.ends_with("wrong scale");
        if (is_under_scale && shows("unwritten")) continue;
        // Scales that are looked for in another layout are found among pads.
        if (m.mismatch_class == "padding" && is_gemm_explained) {
            failing.places += m.count;
            continue;
        }
        const Finding* finding = finding_named(m.mismatch_class);
        if (m.mismatch_class == "packing" || m.mismatch_class == "layout")
            seen.add_layout(m);
        else if (finding != nullptr && !(remembers && m.mismatch_class == "flaky"))
            seen.add(std::string(finding->name), std::string(finding->text), m.count);
        else
            failing.places += m.count;
    }
    return failing;
}

std::string capitalised(std::string text) {
    if (!text.empty())
        text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
}

bool is_dialect(const Candidate& candidate) {
    return candidate.kind.starts_with(dialect_kind);
}

// Hypotheses that no case tells apart, in words. The values of one decision count as one of them,
// and so do the places of one.
class Alternatives {
public:
    void add(const Candidate& candidate) {
        const std::string between = candidate.scope.empty() || candidate.where.empty() ? "" : ", ";
        const std::string head = candidate.scope + between + candidate.where;
        const std::string tail =
            candidate.seen_in.empty() ? "" : ", seen " + candidate.seen_in + " alone";
        std::vector<Body>& bodies = bodies_[head];
        const auto decision = read_decision(candidate.kind);
        for (Body& body : bodies) {
            if (body.tail != tail) continue;
            if (body.text == candidate.text) return;
            if (!decision || !body.decision || body.decision->field != decision->field) continue;
            body.values.push_back(decision->to);
            return;
        }
        bodies.push_back({candidate.text, tail, decision, {}});
        if (decision) bodies.back().values = {decision->to};
    }

    // "" of none, and of more than can be named.
    std::string text() const {
        if (bodies_.empty()) return "";
        std::vector<std::string> heads, texts, whole;
        bool are_alike = true;
        for (const auto& [head, bodies] : bodies_) {
            std::vector<std::string> here;
            for (const Body& body : bodies) here.push_back(text_of(body));
            for (const std::string& each : here)
                whole.push_back((head.empty() ? "" : head + ", ") + each);
            are_alike = are_alike && (heads.empty() || here == texts);
            heads.push_back(head);
            texts = std::move(here);
        }
        if (are_alike && heads.size() > 1 && !heads[0].empty() && heads.size() <= named_max)
            whole = {joined(heads, " or ") + ", " + joined(texts, ", or ")};
        if (std::max(whole.size(), texts.size()) > named_max) return "";
        const bool is_one = bodies_.size() == 1 && texts.size() == 1 &&
                            bodies_.begin()->second[0].values.size() <= 1;
        return joined(whole, ", or ") + (is_one ? "" : " (no case tells these apart)");
    }

private:
    struct Body {
        std::string text, tail;
        std::optional<Decision> decision;
        std::vector<std::string> values;  // of the decision
    };
    static std::string text_of(const Body& body) {
        if (body.values.size() <= 1) return body.text + body.tail;
        std::vector<std::string> values = body.values;
        const std::string last = values.back();
        values.pop_back();
        return body.decision->field + " is " + joined(values, ", ") + " or " + last + ", not " +
               body.decision->from + body.tail;
    }

    std::map<std::string, std::vector<Body>> bodies_;  // by where they are
};

// Of hypotheses that each explain everything: the other entries of the table, then the rest.
std::optional<Piece> named_of(const Candidates& found, std::vector<std::string>& kinds) {
    Alternatives alternatives;
    std::vector<std::string> dialects, named;
    std::string asked;
    for (const auto& set : found) {
        if (set.size() != 1) continue;
        const Candidate& candidate = set[0];
        if (is_dialect(candidate)) {
            dialects.push_back(candidate.text);
            const std::string change = candidate.kind.substr(dialect_kind.size());
            asked = change.substr(0, change.find("->"));
        } else {
            alternatives.add(candidate);
        }
        named.push_back(is_of_gemm(candidate.kind) ? without_numbers(candidate.kind)
                                                   : candidate.kind);
        for (const std::string& place : candidate.seen_places)
            named.push_back(candidate.kind + "@" + place);
    }
    std::string text = alternatives.text();
    if (dialects.empty() && text.empty()) return std::nullopt;
    if (!dialects.empty())
        text = "these bits follow " + listed(dialects) + ", not " + asked +
               (text.empty() ? "" : ": " + text);
    kinds = {joined(named, " | ")};
    const bool has_short_lines = std::ranges::any_of(found, [](const auto& set) {
        return set[0].seen_in.empty() && !set[0].seen_places.empty();
    });
    return Piece{"", text, 0, 0, has_short_lines ? "in lines of one block" : ""};
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

Explained explained_among(const std::vector<Failing>& failing, const std::vector<Piece>& pieces) {
    std::uint64_t looked_at = 0, places = 0;
    for (const Failing& each : failing) {
        looked_at += each.result->looked_at.value_or(0);
        places += each.places + each.open_places;
    }
    const auto seen = std::ranges::find_if(pieces, [](const Piece& p) { return !p.seen.empty(); });
    const std::string where = seen == pieces.end() ? "" : ", " + seen->seen;
    if (looked_at >= places)
        return {grouped(places) + " of " + grouped(places) + " explained" + where};
    return {"all " + grouped(looked_at) + " of them are explained" + where + "; " +
                grouped(places) + " differ",
            "nothing else is wrong in the places looked at"};
}

// Two causes, of each what nothing tells apart.
using TwoCauses = std::array<std::vector<Candidate>, 2>;

// Where each of the one goes with each of the other, and no others go together. Sets with another
// entry of the table stand behind.
std::optional<TwoCauses> two_of(const Candidates& found) {
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

// Where more remain of one than can be named, the other is. None where that is so of both.
std::vector<Piece> pieces_of(const TwoCauses& two, std::vector<std::string>& kinds) {
    // With so many to choose from, whatever the other leaves over finds one that fits.
    constexpr std::size_t alike_max = 16;
    std::vector<Piece> pieces;
    for (const std::vector<Candidate>& alike : two) {
        Candidates sets;
        for (const Candidate& candidate : alike) sets.push_back({candidate});
        std::vector<std::string> named;
        const auto piece = named_of(sets, named);
        pieces.push_back(piece ? *piece : Piece{});
        pieces.back().kind = alike[0].kind;
        if (piece)
            kinds.push_back(named[0]);
        else if (alike.size() > alike_max)
            return {};
        else
            pieces.back().text = "one of " + grouped(alike.size()) + " that no case tells apart";
    }
    return kinds.empty() ? std::vector<Piece>{} : pieces;
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
    return causes_of_most(search, {examined.size(), concerned.size()});
}

std::vector<std::string> kinds_of(const std::vector<Piece>& pieces) {
    std::vector<std::string> kinds;
    for (const Piece& piece : pieces) kinds.push_back(piece.kind);
    return kinds;
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
    if (!seen.settle_layouts() || seen.contradict_each_other()) return {differences_of(cases), {}};
    if (failing.empty()) return {sentence_of(seen.pieces(), Explained{}), kinds_of(seen.pieces())};
    std::vector<Piece> pieces;
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
    seen.drop_what_follows_from(cause.kinds);
    const std::vector<std::string> kinds = kinds_of(seen.pieces());
    pieces.insert(pieces.begin(), seen.pieces().begin(), seen.pieces().end());
    cause.kinds.insert(cause.kinds.begin(), kinds.begin(), kinds.end());
    cause.sentence = cases_left > 0 ? sentence_of_most(pieces, cases_left)
                                    : sentence_of(pieces, explained_among(failing, pieces));
    return cause;
}

std::string differences_of(std::span<const results::CaseResult> cases) {
    std::vector<const CaseResult*> results;
    for (const CaseResult& result : cases) results.push_back(&result);
    return unexplained_sentence(results, Openness::any);
}

}  // namespace mx::cause
