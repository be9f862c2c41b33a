// What this build was made with, as CMake says it.
#include "reference/self_check/oracle_check.hpp"

namespace mx {

const char* const oracle_built_by = MX_BUILT_BY;

}  // namespace mx
