// A GEMM made of the oracle, as a device would do it: from the tensors of the question alone, which
// it walks in its own way. The tests alter its operands or its result, to have something wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "conformance/results/record.hpp"
#include "device/host/question.hpp"
#include "reference/spec/gemm_model.hpp"

namespace mx {

// Codes row by row.
using Matrix = std::vector<std::vector<std::uint32_t>>;

struct PlainGemm {
    GemmOperation asked;
    std::string type_a, type_b, type_c, type_bias, type_d;
    std::string dialect;  // of D's blocks; "" where there are none
    Matrix a, scales_a, b, scales_b, c, bias, scale_out;
    std::int64_t m = 0, n = 0;  // of a batch
    std::vector<std::size_t>
        groups;  // of each row of A the batch or group; of those of none no_group

    static constexpr std::size_t no_group = ~std::size_t{0};
};

struct GemmSubject {
    const GemmModel* model = nullptr;  // nullptr: the exact sum, rounded once
    std::function<void(PlainGemm&)> spoil = {};
    std::function<void(const PlainGemm&, Matrix& d)> spoil_result = {};
    // Of a D in blocks: its numbers before they become blocks, and the scales of these.
    std::function<void(const PlainGemm&, Matrix& numbers)> spoil_numbers = {};
    std::function<void(Matrix& scales)> spoil_scales = {};
    std::int64_t rows_unwritten_from = -1;

    DeviceAnswer answer(const Question& question) const;
};

// One case with this device, through the runner.
results::CaseResult run(const std::string& text, const GemmSubject& subject);
// Case, verdict, reason and mismatches, to be shown when a test fails.
std::string told(const results::CaseResult& result);

}  // namespace mx
