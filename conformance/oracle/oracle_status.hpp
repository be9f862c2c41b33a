// Whether the oracle of this build may be believed, as a status. Whatever answers with it inside
// somebody's process asks here before its first answer; the program asks a child process first,
// which isolated_check.hpp has.
#pragma once

#include "reference/base/status.hpp"

namespace mx {

// Checks at the first call and remembers. As error, of ErrorKind::oracle: the sentence that says
// what was wrong, and with which compiler and flags.
Status oracle_status();

}  // namespace mx
