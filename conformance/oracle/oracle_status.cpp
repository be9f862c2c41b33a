// See oracle_status.hpp.
#include "conformance/oracle/oracle_status.hpp"

#include "reference/self_check/oracle_check.hpp"

namespace mx {

Status oracle_status() {
    if (oracle_fault().empty()) return success();
    return Error{ErrorKind::oracle, oracle_fault()};
}

}  // namespace mx
