// The fields that a case may have, for patterns over cases.
#pragma once

#include <string>
#include <vector>

namespace mx {

// Of any operation, each once, in the order they are printed.
std::vector<std::string> field_names();

}  // namespace mx
