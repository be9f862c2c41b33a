// See gemm_hypotheses.hpp: the lists, and what is particular to one k, block, batch or length.
#include "conformance/run/gemm_hypotheses.hpp"

#include <algorithm>
#include <array>

#include "reference/gemm/oracle.hpp"

namespace mx {
namespace {

using Row = AlteredOutput::Row;

// Lengths and blocks up to which every k and every pair of blocks is tried.
constexpr std::int64_t depth_tried_max = 1024;
constexpr std::size_t blocks_tried_max = 32;

GemmHypothesis known_error(const gemm::ProblemView& problem, const WrongGemm& wrong) {
    return {std::string(wrong.what), [&problem, &wrong](const gemm::OutputPlace& place) {
                const auto code = wrong.result({problem, place});
                return code ? *code : expected_result(problem, problem.output(place));
            }};
}

// Each batch is written down its columns, in rows that are as long as the right ones.
void add_transposed(const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    if (problem.m == 1 || problem.n == 1) return;
    hypotheses.push_back(
        {"D is transposed", [&problem](const gemm::OutputPlace& place) {
             const std::int64_t m = problem.m, first = place.row / m * m;
             const std::int64_t at = (place.row - first) * problem.n + place.column;
             return expected_result(problem, problem.output({first + at % m, at / m}));
         }});
}

GemmHypotheses lengths(const gemm::ProblemView& problem) {
    GemmHypotheses hypotheses;
    const std::int64_t depth = problem.depth;
    for (std::int64_t end = (depth - 1) / 16 * 16; end > 0; end -= 16) {
        hypotheses.push_back(
            altered_outputs(problem, "nothing from k " + std::to_string(end) + " on is counted",
                            [end](AlteredOutput& output, const gemm::OutputPlace&) {
                                std::fill(output.a.codes.begin() + end, output.a.codes.end(), 0u);
                            }));
        if (depth - end > depth_tried_max) break;
    }
    return hypotheses;
}

GemmHypotheses single_k(const gemm::ProblemView& problem) {
    GemmHypotheses hypotheses;
    if (problem.depth > depth_tried_max) return hypotheses;
    for (std::int64_t k = 0; k < problem.depth; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const std::string name = "k " + std::to_string(k);
        hypotheses.push_back(altered_outputs(
            problem, name + " is not counted",
            [at](AlteredOutput& output, const gemm::OutputPlace&) { output.a.codes[at] = 0; }));
        hypotheses.push_back(altered_outputs(
            problem, name + " is counted twice",
            [at](AlteredOutput& output, const gemm::OutputPlace&) { output.count_again(at); }));
        if (k + 1 < problem.depth)
            hypotheses.push_back(altered_outputs(
                problem, name + " and k " + std::to_string(k + 1) + " of A change places",
                [at](AlteredOutput& output, const gemm::OutputPlace&) {
                    std::swap(output.a.codes[at], output.a.codes[at + 1]);
                }));
    }
    return hypotheses;
}

void add_blocks_of(const gemm::ProblemView& problem, Row AlteredOutput::*row,
                   const std::string& name, GemmHypotheses& hypotheses) {
    const AlteredOutput first(problem.output({0, 0}));
    const std::size_t count = (first.*row).scales.size();
    if (count < 2 || count > blocks_tried_max) return;
    for (std::size_t to = 0; to < count; ++to)
        for (std::size_t from = 0; from < count; ++from) {
            if (to == from) continue;
            hypotheses.push_back(
                altered_outputs(problem,
                                "block " + std::to_string(to) + " of " + name +
                                    " takes the scale of block " + std::to_string(from),
                                [=](AlteredOutput& output, const gemm::OutputPlace&) {
                                    (output.*row).scales[to] = (output.*row).scales[from];
                                }));
            if (from < to) continue;
            hypotheses.push_back(
                altered_outputs(problem,
                                "blocks " + std::to_string(to) + " and " + std::to_string(from) +
                                    " of " + name + " have changed scales",
                                [=](AlteredOutput& output, const gemm::OutputPlace&) {
                                    std::swap((output.*row).scales[to], (output.*row).scales[from]);
                                }));
        }
}

GemmHypotheses single_blocks(const gemm::ProblemView& problem) {
    GemmHypotheses hypotheses;
    if (problem.outputs() == 0) return hypotheses;
    add_blocks_of(problem, &AlteredOutput::a, "A", hypotheses);
    add_blocks_of(problem, &AlteredOutput::b, "B", hypotheses);
    return hypotheses;
}

// A later batch with something of the first.
void add_batches(const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    if (problem.batches == 1) return;
    struct Part {
        const char* name;
        void (*take)(gemm::Output& output, const gemm::Output& first);
    };
    static constexpr std::array parts{
        Part{"A", [](gemm::Output& o, const gemm::Output& f) { o.a = f.a; }},
        Part{"B", [](gemm::Output& o, const gemm::Output& f) { o.b = f.b; }},
        Part{"the scales of A",
             [](gemm::Output& o, const gemm::Output& f) { o.a.scales = f.a.scales; }},
        Part{"the scales of B",
             [](gemm::Output& o, const gemm::Output& f) { o.b.scales = f.b.scales; }},
        Part{"C", [](gemm::Output& o, const gemm::Output& f) { o.operands.c = f.operands.c; }},
    };
    for (const Part& part : parts)
        hypotheses.push_back(
            {std::string("later batches take ") + part.name + " of the first",
             [&problem, &part](const gemm::OutputPlace& place) {
                 gemm::Output output = problem.output(place);
                 part.take(output, problem.output({place.row % problem.m, place.column}));
                 return expected_result(problem, output);
             }});
    for (const std::int64_t count : {16, 32, 64, 128, 256}) {
        if (problem.batches <= count) continue;
        const std::string on = "batches from " + std::to_string(count) + " on are ";
        hypotheses.push_back({"the elements of " + on + "those of batch 0 on again",
                              [&problem, count](const gemm::OutputPlace& place) {
                                  const gemm::Output first = problem.output(
                                      {place.row % (count * problem.m), place.column});
                                  gemm::Output output = problem.output(place);
                                  output.a.codes = first.a.codes;
                                  output.b.codes = first.b.codes;
                                  return expected_result(problem, output);
                              }});
        hypotheses.push_back(
            {on + "batch 0 on again", [&problem, count](const gemm::OutputPlace& place) {
                 const std::int64_t row = place.row % (count * problem.m);
                 return expected_result(problem, problem.output({row, place.column}));
             }});
    }
}

// Tiles of rows that ask for their group once, where one ends within them.
void add_groups(const gemm::ProblemView& problem, GemmHypotheses& hypotheses) {
    if (!problem.is_grouped()) return;
    for (const std::int64_t tile : {8, 16, 32, 64, 128, 256})
        hypotheses.push_back(
            {"the group of a row is that of the first row of its tile of " + std::to_string(tile),
             [&problem, tile](const gemm::OutputPlace& place) {
                 const std::int64_t group = problem.group_of(place.row / tile * tile);
                 return expected_result(problem, problem.output(place, group));
             }});
}

constexpr std::array<HypothesisFamily, 3> particulars{lengths, single_k, single_blocks};

}  // namespace

GemmHypothesis altered_outputs(const gemm::ProblemView& problem, std::string what,
                               AlterOutput alter) {
    return {std::move(what), [&problem, alter = std::move(alter)](const gemm::OutputPlace& place) {
                AlteredOutput output(problem.output(place));
                alter(output, place);
                return expected_result(problem, output.output());
            }};
}

GemmHypotheses general_hypotheses(const Problem& p, const gemm::ProblemView& problem) {
    GemmHypotheses hypotheses;
    for (const WrongGemm& wrong : wrong_gemms())
        if (wrong.applies(problem)) hypotheses.push_back(known_error(problem, wrong));
    add_transposed(problem, hypotheses);
    add_batches(problem, hypotheses);
    add_groups(problem, hypotheses);
    if (problem.depth > 0) {
        add_other_lengths(problem, hypotheses);
        add_scales_read_otherwise(p, problem, hypotheses);
        add_elements_read_otherwise(p, problem, hypotheses);
    }
    add_other_addends(problem, hypotheses);
    add_other_steps(problem, hypotheses);
    add_other_roundings(problem, hypotheses);
    add_other_sums(problem, hypotheses);
    return hypotheses;
}

std::span<const HypothesisFamily> particular_families() {
    return particulars;
}

}  // namespace mx
