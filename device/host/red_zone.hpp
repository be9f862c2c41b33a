// Known content for memory that nobody may write, and the search for what was written there.
// Used by CallBuffers; knows no tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mx {

// The part [begin, end) of a memory, in bytes from its first one.
struct ByteRange {
    std::size_t begin = 0;
    std::size_t end = 0;
};

// What differs within a range; first is only meaningful when count is not 0.
struct ChangedBytes {
    std::size_t first = 0;
    std::uint64_t count = 0;
};

// Fills a range with content that depends on the place, so that no constant a device writes, and
// no block it copies to the wrong place, looks untouched. memory.data() must be 8-byte aligned.
void fill_zone(std::span<std::byte> memory, ByteRange range);

// Counts the bytes that no longer are as fill_zone left them.
ChangedBytes changed_in_zone(std::span<const std::byte> memory, ByteRange range);

}  // namespace mx
