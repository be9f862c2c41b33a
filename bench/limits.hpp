// The roofs: what the memory of this machine gives to loops that compute nothing. Used by bench/.
// They follow the instruction set that is chosen; measure them with the best one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mx::bench {

// Memory a loop reads and writes; `values` counts binary32 values, a multiple of 64.
struct Traffic {
    const std::uint8_t* in;
    std::uint8_t* out;
    std::size_t values;
};

void read4_write1(const Traffic& traffic);            // what a quantizer moves
void read4_write1_streaming(const Traffic& traffic);  // the same, stores past the caches
void read1_write4_streaming(const Traffic& traffic);  // what a dequantizer moves
void copy_streaming(const Traffic& traffic);          // reads and writes 4, past the caches
void write4(const Traffic& traffic);
void read4(const Traffic& traffic);  // writes 64 bytes in all

}  // namespace mx::bench
