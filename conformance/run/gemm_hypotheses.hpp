// What may have gone wrong in a GEMM, each hypothesis as the outputs of a device that does it: data
// read from elsewhere or as something else, products left out or counted again, another accumulator
// or epilogue, another last rounding. Made from the problem alone: nothing here knows of a device,
// or compares.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "conformance/run/gemm_wrong.hpp"
#include "reference/problem/problem.hpp"

namespace mx {

using PredictOutput = std::function<Code(const gemm::OutputPlace& place)>;

struct GemmHypothesis {
    std::string what;  // "C is not added"
    // Looks into the problem that it was made of, which must live on.
    PredictOutput predict;
};
using GemmHypotheses = std::vector<GemmHypothesis>;

// Of all outputs alike, the likeliest first.
GemmHypotheses general_hypotheses(const Problem& p, const gemm::ProblemView& problem);

// Of one k, one block, one batch or one length: "k 37 is not counted". There are many, so that they
// come by family, and a family is asked only where none before it fits.
using HypothesisFamily = GemmHypotheses (*)(const gemm::ProblemView& problem);
std::span<const HypothesisFamily> particular_families();

// The parts of general_hypotheses.
void add_elements_read_otherwise(const Problem& p, const gemm::ProblemView& problem,
                                 GemmHypotheses& hypotheses);
void add_scales_read_otherwise(const Problem& p, const gemm::ProblemView& problem,
                               GemmHypotheses& hypotheses);
void add_other_lengths(const gemm::ProblemView& problem, GemmHypotheses& hypotheses);
void add_other_sums(const gemm::ProblemView& problem, GemmHypotheses& hypotheses);
void add_other_addends(const gemm::ProblemView& problem, GemmHypotheses& hypotheses);
void add_other_steps(const gemm::ProblemView& problem, GemmHypotheses& hypotheses);
void add_other_roundings(const gemm::ProblemView& problem, GemmHypotheses& hypotheses);

// The right result of an output that was altered.
using AlterOutput = std::function<void(AlteredOutput& output, const gemm::OutputPlace& place)>;
GemmHypothesis altered_outputs(const gemm::ProblemView& problem, std::string what,
                               AlterOutput alter);

}  // namespace mx
