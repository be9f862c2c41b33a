// sgemm of OpenBLAS on one thread, where the build found it. Used by gemm_ratios.
#pragma once

#include <cstdint>

namespace mx::bench {

// C = A * B^T, of whole rows of `depth` numbers.
struct Sgemm {
    const float* a;
    const float* b;
    float* c;
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t depth;
};

bool has_sgemm();
const char* sgemm_name();  // the library's word for itself and its kernels
// No where it has taken the kernels that it keeps for processors it does not know, and this one has
// AVX2: they are several times slower than its others.
bool sgemm_knows_processor();
void run_sgemm(const Sgemm& sgemm);

}  // namespace mx::bench
