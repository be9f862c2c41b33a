// DeepGEMM's kernels for Hopper, instantiated and launched as its host code does for the shapes
// that it would give these tiles (csrc/jit_kernels of its tree), which compiles them when it is
// called.
#include <cuda.h>

#include <deep_gemm/impls/sm90_bf16_gemm.cuh>
#include <deep_gemm/impls/sm90_fp8_gemm_1d1d.cuh>
#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>

#include "device/peers/native_gemm.hpp"

using namespace mx::peers;
using deep_gemm::GemmType;
using Bf16 = cutlass::bfloat16_t;
constexpr auto k_major = cute::UMMA::Major::K;
constexpr int multiprocessors = 132, stages = 4, tma_threads = 128;

constexpr std::int64_t up_to(std::int64_t value, std::int64_t unit) {
    return (value + unit - 1) / unit * unit;
}
// In bytes: the widest whose rows fill a tile's.
constexpr int swizzle_of(int row_bytes) {
    return row_bytes % 128 == 0 ? 128 : row_bytes % 64 == 0 ? 64 : row_bytes % 32 == 0 ? 32 : 16;
}

struct Matrix {
    const void* data;
    CUtensorMapDataType type;
    int width;  // bytes of an element
    std::int64_t inner, outer;
    int box_inner, box_outer, swizzle;  // swizzle 0: none
};

CUtensorMap map_of(const Matrix& of) {
    static const auto encode = [] {
        void* found = nullptr;
        cudaDriverEntryPointQueryResult result;
        check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                               cudaEnableDefault, &result),
              "cuTensorMapEncodeTiled");
        return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
    }();
    const cuuint64_t sizes[] = {cuuint64_t(of.inner), cuuint64_t(of.outer)};
    const cuuint64_t strides[] = {cuuint64_t(of.inner * of.width)};
    const int inner = of.swizzle == 0 ? of.box_inner : of.swizzle / of.width;
    const cuuint32_t box[] = {cuuint32_t(inner), cuuint32_t(of.box_outer)}, steps[] = {1, 1};
    const auto swizzle = of.swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                         : of.swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                         : of.swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                            : CU_TENSOR_MAP_SWIZZLE_NONE;
    CUtensorMap map;
    const CUresult made =
        encode(&map, of.type, 2, const_cast<void*>(of.data), sizes, strides, box, steps,
               CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (made != CUDA_SUCCESS)
        throw Refusal{MX_FAILED, "cuTensorMapEncodeTiled: " + std::to_string(made)};
    return map;
}

template <int block_n, class D>
CUtensorMap map_of_d(const Problem& p, int block_m) {
    constexpr bool is_f32 = sizeof(D) == 4;
    return map_of({p.d, is_f32 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                   int(sizeof(D)), p.n, p.m, block_n, block_m,
                   is_f32 ? 0 : swizzle_of(block_n * 2)});
}

// Why it does not: its host code, or a tensor map, would refuse it.
std::string fault_of(const Problem& p, int width, int d_width) {
    if (p.batches != 1 || p.alpha != 1 || p.beta != 0) return "the product alone";
    if (p.k * width % 16 != 0 || p.n * d_width % 16 != 0) return "rows of whole 16 bytes";
    return "";
}

template <class Function, class... Words>
std::string launched(Function kernel, std::int64_t shared, int threads, Words... words) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
          "its shared memory");
    kernel<<<multiprocessors, threads, shared>>>(words...);
    check(cudaGetLastError(), "its launch");
    return "";
}

constexpr int threads_of(int block_m) {
    return block_m <= 64 ? 128 : 256;
}

template <int block_m, int block_n>
std::string fp8(const Problem& p) {
    if (const auto fault = fault_of(p, 1, 2); !fault.empty() || p.d == nullptr) return fault;
    constexpr int math_threads = threads_of(block_m), scales_of_b = 128 % block_n == 0 ? 1 : 2;
    const auto kernel = &deep_gemm::sm90_fp8_gemm_1d2d_impl<
        k_major, 0, 0, 0, 1, block_m, block_n, 128, 128, 128, swizzle_of(block_n * 2), stages,
        tma_threads, math_threads, 1, false, multiprocessors, GemmType::Normal, Bf16,
        deep_gemm::epilogue::transform::EpilogueIdentity>;
    const std::int64_t blocks = up_to(p.k, 128) / 128;
    const std::int64_t shared = up_to(block_m * block_n * 2, 1024) + 256 +
                                up_to(blocks * 4 * scales_of_b, 8) +
                                stages * (128 * (block_m + block_n) + up_to(block_m * 4, 128));
    const auto bytes = CU_TENSOR_MAP_DATA_TYPE_UINT8;
    const auto a = map_of({p.a, bytes, 1, p.k, p.m, 128, block_m, 128});
    const auto b = map_of({p.b, bytes, 1, p.k, p.n, 128, block_n, 128});
    const auto scales = map_of(
        {p.a_scales, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, up_to(p.m, 4), blocks, block_m, 1, 0});
    return launched(kernel, shared, tma_threads + math_threads, const_cast<float*>(p.b_scales),
                    static_cast<int*>(nullptr), unsigned(p.m), unsigned(p.n), unsigned(p.k), a, b,
                    map_of_d<block_n, Bf16>(p, block_m), scales);
}

// A scale of each row of B, too; added to D, which is 0.
template <int block_n>
std::string fp8_of_rows(const Problem& p) {
    if (const auto fault = fault_of(p, 1, 4); !fault.empty() || p.d == nullptr) return fault;
    constexpr int block_m = 128, math_threads = threads_of(block_m);
    const auto kernel =
        &deep_gemm::sm90_fp8_gemm_1d1d_impl<0, 0, 0, 1, block_m, block_n, 128, 128, 128, stages,
                                            tma_threads, math_threads, 1, false, multiprocessors,
                                            GemmType::Normal, float>;
    const std::int64_t blocks = up_to(p.k, 128) / 128;
    const std::int64_t shared =
        block_m * block_n * 4 + 256 +
        stages * (128 * (block_m + block_n) + block_m * 4 + up_to(block_n * 4, 128));
    const auto bytes = CU_TENSOR_MAP_DATA_TYPE_UINT8, f32 = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    const auto a = map_of({p.a, bytes, 1, p.k, p.m, 128, block_m, 128});
    const auto b = map_of({p.b, bytes, 1, p.k, p.n, 128, block_n, 128});
    const auto of_a = map_of({p.a_scales, f32, 4, up_to(p.m, 4), blocks, block_m, 1, 0});
    const auto of_b = map_of({p.b_scales, f32, 4, up_to(p.n, 128), blocks, block_n, 1, 0});
    const auto none = static_cast<__nv_fp8_e4m3*>(nullptr);
    return launched(kernel, shared, tma_threads + math_threads, none, none,
                    static_cast<int*>(nullptr), static_cast<CUtensorMap*>(nullptr), unsigned(p.m),
                    unsigned(p.n), unsigned(p.k), a, b, of_a, of_b,
                    map_of_d<block_n, float>(p, 64));
}

template <int block_m, int block_n, class D>
std::string bf16(const Problem& p) {
    if (const auto fault = fault_of(p, 2, sizeof(D)); !fault.empty() || p.d == nullptr)
        return fault;
    constexpr int math_threads = threads_of(block_m);
    constexpr int swizzle = sizeof(D) == 4 ? 0 : swizzle_of(block_n * 2);
    const auto kernel =
        &deep_gemm::sm90_bf16_gemm_impl<k_major, k_major, 0, 0, 0, 1, block_m, block_n, 64, 128,
                                        128, swizzle, stages, tma_threads, math_threads, 1, false,
                                        multiprocessors, GemmType::Normal, false, D>;
    const std::int64_t shared = up_to(block_m * block_n * std::int64_t(sizeof(D)), 1024) + 256 +
                                stages * 128 * (block_m + block_n);
    const auto type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    const auto a = map_of({p.a, type, 2, p.k, p.m, 64, block_m, 128});
    const auto b = map_of({p.b, type, 2, p.k, p.n, 64, block_n, 128});
    return launched(kernel, shared, tma_threads + math_threads, static_cast<int*>(nullptr),
                    unsigned(p.m), unsigned(p.n), unsigned(p.k), a, b,
                    map_of_d<block_n, D>(p, block_m));
}

constexpr auto fours = ScaleOrder::columns_of_fours;
constexpr Product products[] = {
    {"64x128", "e4m3", "e4m3", "bf16", "1x128", "128x128", "", fp8<64, 128>, fours},
    {"128x128", "e4m3", "e4m3", "bf16", "1x128", "128x128", "", fp8<128, 128>, fours},
    {"128x160", "e4m3", "e4m3", "bf16", "1x128", "128x128", "", fp8<128, 160>, fours},
    {"1d1d", "e4m3", "e4m3", "f32", "1x128", "128x128", "", fp8_of_rows<120>, fours,
     ScaleOrder::columns_repeated},
    {"128x128", "bf16", "bf16", "bf16", "", "", "", bf16<128, 128, Bf16>},
    {"64x128", "bf16", "bf16", "f32", "", "", "", bf16<64, 128, float>},
};
constexpr GemmLibrary library{"DeepGEMM's kernels", "DeepSeek", products};
MX_GEMM_PEER(library)
