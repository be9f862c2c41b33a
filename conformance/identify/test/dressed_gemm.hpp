// A machine dressed as a device that multiplies, in this process: for the tests of identification.
// It reads the tensors on its own and sums with the engine of reference/fast, or as it is told.
#pragma once

#include <cstdint>
#include <functional>

#include "conformance/identify/gemm_subject.hpp"
#include "reference/fast/dot_model.hpp"
#include "reference/spec/gemm_epilogue.hpp"

namespace mx::identify {

using Accumulate = std::function<fast::Unpacked(const ScaledRow& a, const ScaledRow& b,
                                                std::int64_t depth, const fast::Unpacked& c)>;

struct Dress {
    Accumulate accumulate;
    GemmEpilogue epilogue;       // its scales follow from what is asked
    bool begins_with_c = false;  // beta * C is the first summand
    AlphaPlace alpha = AlphaPlace::sum;
    std::uint32_t nan = 0x7FFFFFFF;
    std::int64_t k_max = 1 << 20;  // longer problems are refused
    std::vector<std::string> algorithms{""};
};

// Sums as the model does; `part` elements along k at a time where that is not 0.
Dress dressed_as(const GemmModel& model, std::int64_t part = 0);

// Of square problems the diagonal alone is right: nothing else is read.
Client device_of(const Dress& dress);

}  // namespace mx::identify
