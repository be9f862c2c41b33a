// A row of the table dressed as a device, in this process: it follows that row under whatever name
// it is asked. It may have a fault on top.
#pragma once

#include <functional>

#include "conformance/data/inputs.hpp"
#include "device/host/client.hpp"

namespace mx::identify {

// Changes the outputs after they were made: elements, scales, the number that is kept.
using RowFault = std::function<void(const Case& c, std::vector<CodeTensor>& outputs)>;

Client dressed_row(const Quantizer& row, RowFault fault = {});

}  // namespace mx::identify
