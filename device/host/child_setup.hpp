// What a child does to itself between fork and its work, so that whatever it then runs cannot
// disturb its parent. Used by ChildProcess, and in part by the program's own workers.
#pragma once

#include <sys/types.h>

namespace mx {

struct ChildSetup {
    pid_t parent = -1;    // as the parent knows itself
    int channel = -1;     // kept open
    int descriptor = -1;  // kept open
};

// Ends the process when the parent has gone already.
void set_up_child(const ChildSetup& setup);

// Both ends included; nothing where they are the wrong way round.
struct DescriptorRange {
    unsigned first;
    unsigned last;
};
void close_descriptors(DescriptorRange range);

}  // namespace mx
