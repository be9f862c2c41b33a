// Which row of the table is this? For block formats whose scale has a mantissa: there each row is a
// library of its own, and not a choice in each of a dozen fields, so the rows themselves are the
// hypotheses. Used by `mxcheck identify`.
#pragma once

#include <vector>

#include "conformance/identify/identify.hpp"
#include "reference/spec/quantizer.hpp"

namespace mx::identify {

// The rows that a device may follow which is asked under `asked`: those that quantize the format,
// read the type and take the same tensors. Random bits are a tensor that a row may leave unread.
std::vector<const Quantizer*> rows_beside(const Setting& setting, const Quantizer& asked);

// setting.dialect is a row that quantizes the format and reads the type. The error is a sentence
// about the device.
Expected<Identification> identify_row(Client client, const Setting& setting);

}  // namespace mx::identify
