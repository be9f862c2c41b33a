// Whether the fields of a case are known and go together. Used by the grammar.
#pragma once

#include "conformance/case/case.hpp"

namespace mx {

// Every name stands in its table.
Status check_case_names(const Case& c);

}  // namespace mx
