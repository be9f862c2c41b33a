// Ctrl-C as a flag, which long work looks at between two steps.
#pragma once

#include <string_view>

namespace mx::session {

// From here on, the first Ctrl-C (or SIGTERM) writes `answer`, which must outlive the program, to
// stderr and sets the flag; a second one ends the program.
void catch_interrupts(std::string_view answer);
bool interrupted();

}  // namespace mx::session
