// Tensors too large to be held twice: data that repeat (data=repeat:BLOCKS:FAMILY) are made where
// the device has them, and what it answers is held against the right bits of one period, slice by
// slice. Used by the runner; knows nothing of one device.
#pragma once

#include "conformance/data/suite.hpp"
#include "conformance/results/record.hpp"
#include "device/host/client.hpp"

namespace mx {

// Its data repeat, and it holds at least two periods of them, one below the other. Smaller cases
// of such data, as those of one block, are judged as all others are.
bool is_judged_in_slices(const Case& c);

// What a call of the case takes in memory.
Expected<std::size_t> bytes_of_call(const Case& c);

// Errors are those of the case: its rows are no whole number of periods, or a tensor of it does not
// repeat. `result` is as before the device was asked.
Status judge_in_slices(const Case& c, const Client& client, Sources& sources,
                       results::CaseResult& result);

}  // namespace mx
