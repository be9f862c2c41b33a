// See plan.hpp.
#include "reference/gemm/plan.hpp"

namespace mx::gemm {
namespace {

// A sum of `count` products of factors below 2^digits quanta.
SumSpan span_of_sum(const Span& a, const Span& b, int count) {
    const int low = a.low + b.low;
    return {low,
            low + a.digits + b.digits + fast::bit_width(static_cast<std::uint64_t>(count)) - 1};
}

// Four parts of 8 bits: diagonals 0 to 3 stay below 2^48 quanta, those from 4 on, whose place is
// 2^32, below another 2^38 of that.
void add_spans_of_parts(Plan& plan, const Kernel& kernel, const Factors& factors) {
    const Span a = span_of(factors.a.front()), b = span_of(factors.b.front());
    if (kernel.parts < 4) {
        plan.spans.push_back(span_of_sum(a, b, slab_max));
        return;
    }
    const int low = a.low + b.low;
    plan.spans = {{low, low + 48}, {low + 32, low + 32 + 38}};
    plan.spans_a_step = 2;
}

void add_spans_of_chains(Plan& plan, const Factors& factors) {
    const ScaledRow &a = factors.a.front(), &b = factors.b.front();
    const Chain chain = chain_of(a, b);
    plan.interval = chain.interval;
    if (chain.halved) plan.halves = {Half::below_two, Half::from_two};
    for (const Half half : plan.halves)
        plan.spans.push_back(span_of_sum(span_of_half(a, half), span_of(b), chain.interval));
}

}  // namespace

Plan plan_of(const Kernel& kernel, const Factors& factors) {
    Plan plan;
    plan.slabs = slabs_of(factors);
    if (kernel.parts != 0)
        add_spans_of_parts(plan, kernel, factors);
    else
        add_spans_of_chains(plan, factors);
    const int chains = (plan.slabs.length + plan.interval - 1) / plan.interval;
    plan.steps_at_once = flushes_max / (chains * static_cast<int>(plan.spans_a_step));
    const auto steps = plan.slabs.count * static_cast<std::int64_t>(plan.halves.size());
    plan.levels_more = steps > plan.steps_at_once ? 1 : 0;
    return plan;
}

}  // namespace mx::gemm
