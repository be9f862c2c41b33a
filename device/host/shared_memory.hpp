// Memory that a device's process and ours both see, with a guard page at either end.
// Used by IsolatedDevice (which sizes it) and its child (which only maps it); knows no tensors.
#pragma once

#include <cstddef>
#include <span>

#include "reference/base/status.hpp"

namespace mx {

// What this process and its children may still take: of the machine, and of the control group that
// they run in.
std::size_t available_memory();

class SharedMemory {
public:
    static Expected<SharedMemory> create();

    SharedMemory(SharedMemory&& other) noexcept;
    SharedMemory& operator=(SharedMemory&& other) noexcept;
    ~SharedMemory();

    // Makes at least `size` bytes available; never shrinks. Content stays, addresses change.
    Status grow(std::size_t size);

    // Of all that was written there nothing is kept, and no memory for it.
    void give_back();

    // Maps `size` bytes that the other side has already made available. False: no address space.
    bool map(std::size_t size);

    std::span<std::byte> bytes() const { return {begin_, size_}; }
    int descriptor() const { return descriptor_; }

private:
    explicit SharedMemory(int descriptor) : descriptor_(descriptor) {}
    void unmap();

    int descriptor_ = -1;
    std::byte* begin_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace mx
