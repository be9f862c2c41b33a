// What a child does to itself between fork and its work, so that whatever it then runs cannot
// disturb its parent; and what keeps a descriptor off the numbers of the standard streams. Used by
// ChildProcess and SharedMemory, and in part by the program and its workers.
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

// Gives each closed standard stream /dev/null. Without that the next file that is opened gets its
// number, and everything that is printed goes into that file.
void hold_standard_streams();

// The same file under a number beyond the standard streams, closed on exec; -1 and errno where that
// cannot be. A number that is beyond them stays as it is, another one is closed.
int beyond_standard_streams(int descriptor);

}  // namespace mx
