// See gemm_sgemm.hpp.
#include "bench/gemm_sgemm.hpp"

#if defined(MX_BENCH_OPENBLAS)
#include <cblas-openblas.h>

#include <string_view>

namespace mx::bench {

bool has_sgemm() {
    return true;
}

const char* sgemm_name() {
    openblas_set_num_threads(1);
    return openblas_get_config();
}

bool sgemm_knows_processor() {
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2")) return true;
#endif
    return std::string_view(sgemm_name()).find(" Prescott ") == std::string_view::npos;
}

void run_sgemm(const Sgemm& sgemm) {
    const auto narrow = [](std::int64_t number) { return static_cast<blasint>(number); };
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, narrow(sgemm.rows), narrow(sgemm.columns),
                narrow(sgemm.depth), 1, sgemm.a, narrow(sgemm.depth), sgemm.b, narrow(sgemm.depth),
                0, sgemm.c, narrow(sgemm.columns));
}

}  // namespace mx::bench
#else
namespace mx::bench {

bool has_sgemm() {
    return false;
}

const char* sgemm_name() {
    return "no OpenBLAS";
}

bool sgemm_knows_processor() {
    return true;
}

void run_sgemm(const Sgemm&) {}

}  // namespace mx::bench
#endif
