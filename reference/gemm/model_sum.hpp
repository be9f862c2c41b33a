// What a modelled machine makes of a dot product, as fast/dot_model.hpp says, for processors: every
// code of a row is looked up once, and the products of a step lie side by side. The same bits with
// a third of the instructions. Proved by reference/proof/prove_dot_model.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/fast/dot_model.hpp"

namespace mx::gemm {

// As fast::accumulate.
fast::Unpacked accumulate(const GemmModel& model, const ScaledRow& a, const ScaledRow& b,
                          std::int64_t depth, const fast::Unpacked& c);

// As fast::accumulate_in_parts.
fast::Unpacked accumulate_in_parts(const GemmModel& model, const ScaledRow& a, const ScaledRow& b,
                                   std::int64_t depth, std::int64_t part);

// As exact::TimesAlpha.
class TimesAlpha {
public:
    TimesAlpha(const ScaledRow& row, std::int64_t depth, const fast::Unpacked& alpha);
    ScaledRow row() const;

private:
    std::vector<std::uint32_t> codes_;
};

// What is summed, and what the sum begins with where K is whole.
struct DotProduct {
    ScaledRow a, b;
    std::int64_t depth;
    fast::Unpacked c = {};
};

// As accumulate, or in parts where `part` is not 0. An alpha that the model multiplies A by is 1
// afterwards.
fast::Unpacked accumulate_with_alpha(const GemmModel& model, const DotProduct& product,
                                     std::int64_t part, Code& alpha);

}  // namespace mx::gemm
