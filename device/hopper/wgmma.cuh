// The instructions of Hopper's tensor cores and copy engine that the kernel uses, one function
// each. PTX ISA 8.0: wgmma, mbarrier, cp.async.bulk. Used by multiply.cu.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace mx::hopper {

__device__ inline std::uint32_t shared_address(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// Barriers in shared memory. A phase ends when `arrivals` have come, and the bytes announced.
struct Barrier {
    std::uint64_t word;
};
__device__ inline void prepare(Barrier& barrier, std::uint32_t arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)),
                 "r"(arrivals));
}
__device__ inline void arrive(Barrier& barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier))
                 : "memory");
}
__device__ inline void arrive_expecting(Barrier& barrier, std::uint32_t bytes) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
        "r"(bytes)
        : "memory");
}
__device__ inline void wait(Barrier& barrier, std::uint32_t phase) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@done bra over;\n"
        "bra again;\n"
        "over:\n"
        "}\n" ::"r"(shared_address(&barrier)),
        "r"(phase)
        : "memory");
}
__device__ inline void make_barriers_seen() {
    asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::
                     : "memory");
}

// A box of the tensor into shared memory; what lies outside the tensor is zero.
__device__ inline void copy_box(void* to, const CUtensorMap& map, int column, int row,
                                Barrier& barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%3, %4}], [%2];" ::"r"(shared_address(to)),
        "l"(&map), "r"(shared_address(&barrier)), "r"(column), "r"(row)
        : "memory");
}
__device__ inline void copy_bytes(void* to, const void* from, std::uint32_t bytes,
                                  Barrier& barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
        "[%3];" ::"r"(shared_address(to)),
        "l"(from), "r"(bytes), "r"(shared_address(&barrier))
        : "memory");
}

template <int count>
__device__ inline void give_up_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}
template <int count>
__device__ inline void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
}

// A matrix in shared memory as wgmma finds it: rows of 128 bytes along K, swizzled, in groups of
// eight rows that lie 1024 bytes apart.
//
//   63..62 swizzle of 128 bytes | 45..32 bytes between groups / 16 | 13..0 address / 16
__device__ inline std::uint64_t matrix_at(const void* pointer) {
    constexpr std::uint64_t swizzle_128 = 1ull << 62, group = (1024ull >> 4) << 32;
    constexpr std::uint64_t unused = 1ull << 16;
    return swizzle_128 | group | unused | ((shared_address(pointer) & 0x3FFFFull) >> 4);
}
// Binary32 scales of a stage, four words a row, as a matrix of bfloat16 with 16 columns: the second
// eight of them are the first once more. Eight rows follow one another.
//
//   63..62 no swizzle | 45..32 bytes between groups of rows / 16 | 29..16 between columns 0 and 8
__device__ inline std::uint64_t scales_at(const void* pointer) {
    constexpr std::uint64_t group = (128ull >> 4) << 32;
    return group | ((shared_address(pointer) & 0x3FFFFull) >> 4);
}
// The same matrix, so many bytes on; those along a swizzled row must stay within its 128.
__device__ inline std::uint64_t moved(std::uint64_t matrix, int bytes) {
    return matrix + static_cast<std::uint64_t>(bytes >> 4);
}

__device__ inline void begin_products() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void end_products() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Until only so many groups are not done.
template <int left>
__device__ inline void wait_for_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
}
// Keeps the compiler from touching registers that a wgmma still writes.
template <int count>
__device__ inline void pin(float (&registers)[count]) {
#pragma unroll
    for (int i = 0; i < count; ++i) asm volatile("" : "+f"(registers[i])::"memory");
}

enum class Fp8 { e4m3, e5m2 };

#define MX_FOUR(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define MX_SIXTEEN(d, i) MX_FOUR(d, i), MX_FOUR(d, i + 4), MX_FOUR(d, i + 8), MX_FOUR(d, i + 12)
#define MX_THIRTY_TWO(d, i) MX_SIXTEEN(d, i), MX_SIXTEEN(d, i + 16)

// sum = A (64 x 32) * B (columns x 32)^T, begun from zero.
#define MX_PRODUCTS_OF_64(a_type, b_type)                                               \
    asm volatile(                                                                       \
        "{\n.reg .pred keeps;\nsetp.ne.b32 keeps, 0, 0;\n"                              \
        "wgmma.mma_async.sync.aligned.m64n64k32.f32." a_type "." b_type                 \
        " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, " \
        "%17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "  \
        "%32, %33, keeps, 1, 1;\n}\n"                                                   \
        : MX_THIRTY_TWO(sum, 0)                                                         \
        : "l"(a), "l"(b))
template <Fp8 a_type, Fp8 b_type>
__device__ inline void multiply(float (&sum)[32], std::uint64_t a, std::uint64_t b) {
    if constexpr (a_type == Fp8::e4m3 && b_type == Fp8::e4m3)
        MX_PRODUCTS_OF_64("e4m3", "e4m3");
    else if constexpr (a_type == Fp8::e4m3)
        MX_PRODUCTS_OF_64("e4m3", "e5m2");
    else if constexpr (b_type == Fp8::e4m3)
        MX_PRODUCTS_OF_64("e5m2", "e4m3");
    else
        MX_PRODUCTS_OF_64("e5m2", "e5m2");
}
#undef MX_PRODUCTS_OF_64

// product = A (64 x 16) * B (columns x 16)^T of bfloat16, begun from zero. Of A's rows r and r + 8
// a thread has columns 2q and 2q + 1, q being its number within its four, then those of 8 more.
__device__ inline void multiply_scales(float (&product)[32], const std::uint32_t (&a)[4],
                                       std::uint64_t b) {
    asm volatile(
        "{\n.reg .pred keeps;\nsetp.ne.b32 keeps, 0, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16"
        " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, "
        "%17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
        "{%32, %33, %34, %35}, %36, keeps, 1, 1, 0;\n}\n"
        : MX_THIRTY_TWO(product, 0)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
#undef MX_THIRTY_TWO
#undef MX_SIXTEEN
#undef MX_FOUR

}  // namespace mx::hopper
