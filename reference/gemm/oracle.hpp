// The oracle of a whole GEMM: what each output must be, exact and rounded once, or as the row of a
// model says. Every caller in this project that wants the bits of a GEMM asks here. The sums come
// from the kernels where they take the factors; all of it in the integers of reference/fast, whose
// proofs hold it to reference/exact.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "reference/fast/dot.hpp"
#include "reference/gemm/problem.hpp"

namespace mx::gemm {

// The exact result of one output, of factors without numbers beside their scales, and that rounded
// once to what the epilogue gives.
fast::Total exact_total(const ProblemView& problem, const Output& output);
Code exact_result(const ProblemView& problem, const Output& output);
// As the problem says: that, or what the model gives.
Code expected_result(const ProblemView& problem, const Output& output);

// Outputs of D, counted along its rows. Ranges that do not overlap may be asked at the same time.
struct OutputRange {
    std::int64_t first;
    std::int64_t end;
};

// expected_result of each output of the range, each once, in no promised order.
using TakeResult = std::function<void(std::int64_t output, Code result)>;
void for_each_result(const ProblemView& problem, OutputRange range, const TakeResult& take);

// The same before the last rounding, where sums are exact: at most 62 digits, of which the last
// also stands for all that follow. Under a model there is nothing before it.
using TakeNumber = std::function<void(std::int64_t output, const fast::Unpacked& number)>;
void for_each_number(const ProblemView& problem, OutputRange range, const TakeNumber& take);

// All of for_each_result, in the order of D.
std::vector<Code> expected_results(const ProblemView& problem);

// A piece of work of some ten milliseconds: whole rows where those are summed together.
std::int64_t outputs_at_once(const ProblemView& problem);

}  // namespace mx::gemm
