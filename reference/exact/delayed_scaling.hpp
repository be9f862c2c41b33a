// Delayed scaling on exact values: the scale for the next tensor from a history of amax.
#pragma once

#include <span>
#include <vector>

#include "reference/exact/f32_arithmetic.hpp"
#include "reference/spec/delayed_scaling.hpp"

namespace mx::exact {

struct ScaleHistory {
    std::vector<Value> amax;  // [0] is the newest, the rest stand from the oldest on
    Value scale;
};

// One step: the scale from the history, and the history with room for the next amax at [0].
ScaleHistory next_history(const DelayedScaling& rules, const ElementFormat& element,
                          const ScaleHistory& history);

}  // namespace mx::exact
