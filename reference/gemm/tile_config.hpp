// The registers of a processor with AMX as all kernels here use them: eight tiles of 16 rows of 64
// bytes. Included by the files that are compiled for AMX alone.
#pragma once

#ifdef __x86_64__

#include <immintrin.h>

namespace mx::gemm {

struct alignas(64) TileConfig {
    unsigned char palette = 1;
    unsigned char start = 0;
    unsigned char reserved[14] = {};
    unsigned short row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    unsigned char rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

inline constexpr TileConfig tile_config;

// The compiler is told what the intrinsics of g++ 12 keep from it: that they read memory, and all
// of the configuration. What was stored before this is there for every load of a tile.
[[gnu::always_inline]] inline void configure_tiles() {
    __asm__ volatile("" : : "r"(&tile_config) : "memory");
    _tile_loadconfig(&tile_config);
}

}  // namespace mx::gemm

#endif
