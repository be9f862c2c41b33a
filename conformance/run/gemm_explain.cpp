// See gemm_explain.hpp.
#include "conformance/run/gemm_explain.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>

namespace mx {
namespace {

// Outputs that a hypothesis must predict: first few, then many.
constexpr std::size_t witnesses_first = 6;
constexpr std::size_t witnesses_all = 512;

// Some of the outputs, from the first to the last.
std::vector<std::size_t> spread(const std::vector<std::size_t>& elements, std::size_t count) {
    if (elements.size() <= count) return elements;
    std::vector<std::size_t> some;
    for (std::size_t i = 0; i < count; ++i) some.push_back(elements[i * elements.size() / count]);
    return some;
}

class Search {
public:
    explicit Search(const GemmAnswer& answer) : answer_(answer) {
        std::set<std::size_t> differing(answer.differing.begin(), answer.differing.end());
        std::vector<std::size_t> agreeing;
        for (std::size_t i = 0; i < answer.expected.count(); ++i)
            if (!differing.contains(i)) agreeing.push_back(i);
        for (const std::size_t count : {witnesses_first, witnesses_all}) {
            std::vector<std::size_t> both = spread(answer.differing, count);
            for (const std::size_t i : spread(agreeing, count)) both.push_back(i);
            (count == witnesses_first ? few_ : many_) = std::move(both);
        }
    }

    std::vector<std::string> find() {
        std::vector<std::string> found = those_of(general_hypotheses(answer_.p, problem()));
        forget_which_k(found);
        for (const auto places : {&Search::places_of_rows, &Search::places_of_columns})
            if (found.empty())
                if (std::string text = (this->*places)(); !text.empty()) found.push_back(text);
        for (const HypothesisFamily family : particular_families())
            if (found.empty()) found = those_of(family(problem()));
        return found;
    }

private:
    const gemm::ProblemView& problem() const { return answer_.problem; }

    // Where the first k would do as well as the last, the data are alike at every k, and nothing is
    // known of which it is.
    static void forget_which_k(std::vector<std::string>& found) {
        constexpr std::string_view first = "the first k is not counted",
                                   last = "the last k is not counted";
        const auto has = [&found](std::string_view what) {
            return std::ranges::find(found, what) != found.end();
        };
        if (has(first) && has(last))
            std::erase_if(found, [&](const auto& what) { return what == first || what == last; });
    }

    bool predicts(const PredictOutput& predict, const std::vector<std::size_t>& witnesses) const {
        return std::ranges::all_of(witnesses, [&](std::size_t element) {
            const Code predicted = predict(problem().place(static_cast<std::int64_t>(element)));
            return is_as_good(problem(), predicted, Code{answer_.actual.at(element)});
        });
    }

    std::vector<std::string> those_of(const GemmHypotheses& hypotheses) const {
        std::vector<std::string> found;
        for (const GemmHypothesis& hypothesis : hypotheses)
            if (predicts(hypothesis.predict, few_) && predicts(hypothesis.predict, many_))
                found.push_back(hypothesis.what);
        return found;
    }

    // Rows or columns of D whose codes are those that belong to another.
    struct Line {
        std::int64_t count = 0, length = 0;
        std::function<std::size_t(std::int64_t line, std::int64_t at)> element;
    };
    std::string places_of(const Line& lines, const std::string& kind) const {
        std::string text;
        int found = 0;
        for (std::int64_t line = 0; line < lines.count; ++line) {
            const auto is_that_of = [&](std::int64_t other) {
                for (std::int64_t at = 0; at < lines.length; ++at)
                    if (!is_as_good(problem(), Code{answer_.expected.at(lines.element(other, at))},
                                    Code{answer_.actual.at(lines.element(line, at))}))
                        return false;
                return true;
            };
            if (is_that_of(line)) continue;
            std::int64_t other = 0;
            while (other < lines.count && !is_that_of(other)) ++other;
            if (other == lines.count || ++found > 4) return "";
            text += (text.empty() ? "" : ", ") + kind + " " + std::to_string(line) +
                    " of D holds what belongs to " + kind + " " + std::to_string(other);
        }
        return text;
    }
    std::string places_of_rows() {
        const std::int64_t columns = answer_.expected.columns;
        return places_of({answer_.expected.rows, columns,
                          [columns](std::int64_t line, std::int64_t at) {
                              return static_cast<std::size_t>(line * columns + at);
                          }},
                         "row");
    }
    std::string places_of_columns() {
        const std::int64_t columns = answer_.expected.columns;
        return places_of({columns, answer_.expected.rows,
                          [columns](std::int64_t line, std::int64_t at) {
                              return static_cast<std::size_t>(at * columns + line);
                          }},
                         "column");
    }
    const GemmAnswer& answer_;
    std::vector<std::size_t> few_, many_;
};

}  // namespace

std::vector<std::string> explanations_of(const GemmAnswer& answer) {
    if (answer.differing.empty()) return {};
    return Search(answer).find();
}

GemmChanges::GemmChanges(const Problem& p, const gemm::ProblemView& problem,
                         const CodeTensor& expected)
    : problem_(problem), expected_(expected), general_(general_hypotheses(p, problem)) {}

std::optional<bool> GemmChanges::by(const std::string& what) const {
    const auto changes = [this](const GemmHypothesis& hypothesis) {
        const std::size_t step = expected_.count() / witnesses_all + 1;
        for (std::size_t i = 0; i < expected_.count(); i += step)
            if (!is_as_good(problem_, Code{expected_.at(i)},
                            hypothesis.predict(problem_.place(static_cast<std::int64_t>(i)))))
                return true;
        return false;
    };
    const auto in = [&](const GemmHypotheses& hypotheses) -> std::optional<bool> {
        const auto found = std::ranges::find(hypotheses, what, &GemmHypothesis::what);
        if (found == hypotheses.end()) return std::nullopt;
        return changes(*found);
    };
    std::optional<bool> changed = in(general_);
    for (const HypothesisFamily family : particular_families())
        if (!changed) changed = in(family(problem_));
    return changed;
}

std::string unwritten_text(const gemm::ProblemView& problem,
                           const std::vector<std::size_t>& unwritten) {
    const gemm::ProblemView& s = problem;
    const auto whole = [&](std::int64_t length, const std::string& kind) -> std::string {
        if (static_cast<std::int64_t>(unwritten.size()) % length != 0) return "";
        std::string text;
        for (std::size_t i = 0; i < unwritten.size(); i += static_cast<std::size_t>(length)) {
            const auto first = static_cast<std::int64_t>(unwritten[i]);
            const auto last =
                static_cast<std::int64_t>(unwritten[i + static_cast<std::size_t>(length) - 1]);
            if (first % length != 0 || last != first + length - 1) return "";
            text += (text.empty() ? kind + " " : ", ") + std::to_string(first / length);
        }
        return text + " untouched";
    };
    if (unwritten.empty()) return "";
    const std::string batches = s.batches > 1 ? whole(s.m * s.n, "batch") : "";
    return batches.empty() ? whole(s.n, "row") : batches;
}

}  // namespace mx
