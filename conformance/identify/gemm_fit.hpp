// From answers to the machine that explains them: of each field the value that predicts most
// answers is taken, one field after the other, until nothing gets better.
// Used by gemm_identify.cpp; asks no device.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "conformance/identify/gemm_fields.hpp"
#include "conformance/identify/gemm_machine.hpp"

namespace mx::identify {

struct GemmAnswer {
    GemmProbe probe;
    Code d;
};
using GemmAnswers = std::vector<GemmAnswer>;

std::size_t count_predicted(const GemmMachine& machine, const GemmProblem& setting,
                            std::span<const GemmAnswer> answers);

// Begins with the machine and changes the fields of these names; all if none is named.
GemmMachine fitted(const GemmMachine& start, const GemmProblem& setting,
                   std::span<const GemmAnswer> answers,
                   std::span<const std::string_view> names = {});

// The names of the fields of a sum alone, without a split of K, and of those that come after it.
std::vector<std::string_view> sum_fields();
std::span<const std::string_view> epilogue_fields();

// Machines that differ from this one in one field of the sum and predict all answers as well.
std::vector<GemmMachine> alternatives_to(const GemmMachine& machine, const GemmProblem& setting,
                                         std::span<const GemmAnswer> answers);

// One field of a machine that explains the answers.
struct GemmFinding {
    std::string field;
    std::vector<std::string> values;  // that explain them as well; one if it is determined
    std::string witness;              // a probe on which the neighbouring values fail
};
std::vector<GemmFinding> findings_of(const GemmMachine& machine, const GemmProblem& setting,
                                     std::span<const GemmAnswer> answers);

// "k 0: 256 x 128, k 1: -256 x 128, k 2: 2^-3 x 1": the products that are not zero, in short.
std::string text_of(const GemmProblem& setting, const GemmProbe& probe);
// "0x3f000000 (0.5)"
std::string bits_text(Code d);

}  // namespace mx::identify
