// The registers of a processor with AMX as all kernels here use them: eight tiles of 16 rows of 64
// bytes. Included by the files that are compiled for AMX alone.
#pragma once

namespace mx::gemm {

struct alignas(64) TileConfig {
    unsigned char palette = 1;
    unsigned char start = 0;
    unsigned char reserved[14] = {};
    unsigned short row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    unsigned char rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

}  // namespace mx::gemm
