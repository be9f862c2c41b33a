// See gemm_explain.hpp.
#include "conformance/run/gemm_explain.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "conformance/run/gemm_wrong.hpp"

namespace mx {
namespace {

// Outputs that a hypothesis must predict: first few, then many.
constexpr std::size_t witnesses_first = 6;
constexpr std::size_t witnesses_all = 512;
// Lengths and blocks up to which every k and every pair of blocks is tried.
constexpr std::int64_t depth_tried_max = 1024;
constexpr std::size_t blocks_tried_max = 32;

using Predict = std::function<Code(const gemm::OutputPlace& place)>;
using Alter = std::function<void(AlteredOutput& output)>;

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

    std::string find() {
        using Step = std::string (Search::*)();
        for (const Step step :
             {&Search::known_errors, &Search::lowest_scales, &Search::places_of_rows,
              &Search::places_of_columns, &Search::transposed, &Search::lengths, &Search::single_k,
              &Search::single_blocks, &Search::batches})
            if (std::string text = (this->*step)(); !text.empty()) return text;
        return "";
    }

private:
    const gemm::ProblemView& problem() const { return answer_.problem; }

    bool predicts(const Predict& predict, const std::vector<std::size_t>& witnesses) const {
        return std::ranges::all_of(witnesses, [&](std::size_t element) {
            const Code predicted = predict(problem().place(static_cast<std::int64_t>(element)));
            return is_as_good(problem(), predicted, Code{answer_.actual.at(element)});
        });
    }
    bool explains(const Predict& predict) const {
        return predicts(predict, few_) && predicts(predict, many_);
    }
    bool explains_altered(const Alter& alter) const {
        return explains([&](const gemm::OutputPlace& place) {
            AlteredOutput output(problem().output(place));
            alter(output);
            return expected_result(problem(), output.output());
        });
    }

    std::string known_errors() {
        for (const WrongGemm& wrong : wrong_gemms()) {
            if (!wrong.applies(problem())) continue;
            const bool is_it = explains([&](const gemm::OutputPlace& place) {
                const auto code = wrong.result({problem(), place});
                return code.value_or(expected_result(problem(), problem().output(place)));
            });
            if (is_it) return std::string(wrong.what);
        }
        return "";
    }

    // 2^-127 is subnormal in binary32 and bfloat16, and is lost where these are flushed.
    std::string lowest_scales() {
        const auto flush = [](AlteredOutput::Row& row) {
            if (row.scale_format.name != formats::e8m0.name) return;
            for (std::size_t k = 0; k < row.codes.size(); ++k)
                if (row.scales[k / static_cast<std::size_t>(row.block)] == 0) row.codes[k] = 0;
        };
        const bool is_it = explains_altered([&flush](AlteredOutput& output) {
            flush(output.a);
            flush(output.b);
        });
        return is_it ? "scales of E8M0 code 0, which are 2^-127, are flushed to 0" : "";
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
    std::string transposed() {
        const gemm::ProblemView& s = problem();
        if (s.m != s.n || s.m == 1) return "";
        const bool is_it = explains([&](const gemm::OutputPlace& place) {
            const std::int64_t batch = place.row / s.m * s.m;
            const std::int64_t element =
                (batch + place.column) * answer_.expected.columns + place.row - batch;
            return Code{answer_.expected.at(static_cast<std::size_t>(element))};
        });
        return is_it ? "D is transposed" : "";
    }

    std::string lengths() {
        const std::int64_t depth = problem().depth;
        for (std::int64_t end = (depth - 1) / 16 * 16; end > 0; end -= 16) {
            const bool is_it = explains_altered([&](AlteredOutput& output) {
                std::fill(output.a.codes.begin() + end, output.a.codes.end(), 0u);
            });
            if (is_it) return "nothing from k " + std::to_string(end) + " on is counted";
            if (depth - end > depth_tried_max) break;
        }
        return "";
    }

    std::string single_k() {
        const std::int64_t depth = problem().depth;
        if (depth > depth_tried_max) return "";
        for (std::int64_t k = 0; k < depth; ++k) {
            const auto at = static_cast<std::size_t>(k);
            if (explains_altered([at](AlteredOutput& output) { output.a.codes[at] = 0; }))
                return "k " + std::to_string(k) + " is not counted";
            if (explains_altered([at](AlteredOutput& output) { output.count_again(at); }))
                return "k " + std::to_string(k) + " is counted twice";
            if (k + 1 < depth && explains_altered([at](AlteredOutput& output) {
                    std::swap(output.a.codes[at], output.a.codes[at + 1]);
                }))
                return "k " + std::to_string(k) + " and k " + std::to_string(k + 1) +
                       " of A change places";
        }
        return "";
    }

    std::string blocks_of(AlteredOutput::Row AlteredOutput::*row, const std::string& name) {
        const AlteredOutput first(problem().output({0, 0}));
        const std::size_t count = (first.*row).scales.size();
        if (count < 2 || count > blocks_tried_max) return "";
        for (std::size_t to = 0; to < count; ++to)
            for (std::size_t from = 0; from < count; ++from) {
                if (to == from) continue;
                const auto take = [&](AlteredOutput& output) {
                    (output.*row).scales[to] = (output.*row).scales[from];
                };
                if (explains_altered(take))
                    return "block " + std::to_string(to) + " of " + name +
                           " takes the scale of block " + std::to_string(from);
                const auto change = [&](AlteredOutput& output) {
                    std::swap((output.*row).scales[to], (output.*row).scales[from]);
                };
                if (from > to && explains_altered(change))
                    return "blocks " + std::to_string(to) + " and " + std::to_string(from) +
                           " of " + name + " have changed scales";
            }
        return "";
    }
    std::string single_blocks() {
        const std::string text = blocks_of(&AlteredOutput::a, "A");
        return text.empty() ? blocks_of(&AlteredOutput::b, "B") : text;
    }

    // A later batch with something of the first.
    std::string batches() {
        const gemm::ProblemView& s = problem();
        if (s.batches == 1) return "";
        struct Part {
            const char* name;
            void (*take)(gemm::Output& output, const gemm::Output& first);
        };
        constexpr Part parts[] = {
            {"A", [](gemm::Output& o, const gemm::Output& f) { o.a = f.a; }},
            {"B", [](gemm::Output& o, const gemm::Output& f) { o.b = f.b; }},
            {"the scales of A",
             [](gemm::Output& o, const gemm::Output& f) { o.a.scales = f.a.scales; }},
            {"the scales of B",
             [](gemm::Output& o, const gemm::Output& f) { o.b.scales = f.b.scales; }},
            {"C", [](gemm::Output& o, const gemm::Output& f) { o.operands.c = f.operands.c; }},
        };
        for (const Part& part : parts) {
            const bool is_it = explains([&](const gemm::OutputPlace& place) {
                gemm::Output output = problem().output(place);
                part.take(output, problem().output({place.row % s.m, place.column}));
                return expected_result(problem(), output);
            });
            if (is_it) return std::string("later batches take ") + part.name + " of the first";
        }
        return "";
    }

    const GemmAnswer& answer_;
    std::vector<std::size_t> few_, many_;
};

}  // namespace

std::string explanation_of(const GemmAnswer& answer) {
    if (answer.differing.empty()) return "";
    return Search(answer).find();
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
