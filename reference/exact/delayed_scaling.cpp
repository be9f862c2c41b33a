// See delayed_scaling.hpp.
#include "reference/exact/delayed_scaling.hpp"

namespace mx::exact {
namespace {

// The largest of the history that is a number above zero; a NaN is passed over.
Value largest_amax(std::span<const Value> history) {
    Value largest;
    for (const Value& amax : history)
        if (is_less(largest, amax)) largest = amax;
    return largest;
}

// Every amax moves one place toward the oldest, which is dropped; the newest goes to the end of the
// row and leaves a zero.
std::vector<Value> rolled(const std::vector<Value>& history) {
    std::vector<Value> result(history.begin() + 1, history.end());
    result.push_back(history.front());
    result.front() = Value{};
    return result;
}

}  // namespace

ScaleHistory next_history(const DelayedScaling& rules, const ElementFormat& element,
                          const ScaleHistory& history) {
    MX_ASSERT(!history.amax.empty());
    MX_ASSERT_COMPARE(rules.margin, <=, margin_limit);
    MX_ASSERT_COMPARE(rules.margin, >=, -margin_limit);
    const bool stays = is_zero(history.amax.front()) && rules.on_zero == ZeroAmaxHistory::stays;
    ScaleHistory next = history;
    if (!stays) next.amax = rolled(history.amax);
    const Value amax = rules.algorithm == AmaxAlgorithm::max && !stays ? largest_amax(history.amax)
                                                                       : history.amax.front();
    const Value range = product(largest_of(element), number(power_of_two(-rules.margin)));
    if (amax.is_finite() && is_less(Value{}, amax)) next.scale = quotient(range, amax);
    if (next.scale.is_infinity()) next.scale = largest_of(formats::f32);
    return next;
}

}  // namespace mx::exact
