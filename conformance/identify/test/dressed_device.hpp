// A decision vector dressed as a device, in this process: for the tests of identification. It may
// have a fault on top.
#pragma once

#include <functional>

#include "conformance/identify/subject.hpp"
#include "reference/spec/quantizer.hpp"

namespace mx::identify {

// Changes the answer to one block after it was given.
using Fault = std::function<void(Answer& answer, std::size_t count)>;

Client dressed(const Quantizer& dialect, const Setting& setting, Fault fault = {});

}  // namespace mx::identify
