// Blocks on which the dialects part, as published or found in their sources: one line each, typed
// by hand. Used by dialect_test.cpp, and by the test that mutates rows.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace mx {

using Codes = std::vector<std::uint32_t>;

struct BlockExample {
    std::string_view format;
    std::string_view dialects;  // separated by blanks
    Codes input;                // binary32 codes
    Codes expected;             // the scale, then as many elements as are known
};

inline constexpr std::string_view e4m3 = "mxfp8-e4m3", e5m2 = "mxfp8-e5m2", e2m1 = "mxfp4-e2m1";
inline constexpr std::uint32_t one = 0x3F800000, infinity = 0x7F800000, nan = 0x7FC00000;
inline constexpr std::uint32_t minus_zero = 0x80000000, largest = 0x7F7FFFFF;

// The dialects that round the amax or its ratio up, in one way or another.
inline constexpr std::string_view all_up =
    "nv te-specialised te-cutedsl cudnn cublaslt flashinfer flashinfer-cute megatron-round-up "
    "thunderkittens deepgemm model-optimizer model-optimizer-cuda torchao-rceil "
    "torchao-rceil-legacy torchao-rceil-legacy-cuda aiter-roundup";
inline constexpr std::string_view all_floor =
    "ocp torchao-floor torchao-floor-legacy aiter-rounddown microxcaling microxcaling-cuda gfloat "
    "universal onednn";
inline constexpr std::string_view all_even = "torchao-even quark-even aiter-even";
inline constexpr std::string_view all_ceil = "torchao-ceil aiter-ceil";

inline std::vector<BlockExample> examples_of_scales() {
    return {
        // 480 lies above the largest element.
        {e4m3, all_floor, {0x43F00000}, {127, 0x7E}},
        {e4m3, all_even, {0x43F00000}, {127, 0x7E}},
        {e4m3, "triton-round-down-legacy", {0x43F00000}, {127, 0x7E}},
        {e4m3, all_up, {0x43F00000}, {128, 0x77}},
        {e4m3, all_ceil, {0x43F00000}, {128, 0x77}},
        {e4m3, "compressed-tensors", {0x43F00000}, {128, 0x77}},
        // 448 is the largest element; rounded to one mantissa bit it is 512.
        {e4m3, all_floor, {0x43E00000}, {127, 0x7E}},
        {e4m3, all_even, {0x43E00000}, {127, 0x7E}},
        {e4m3, all_up, {0x43E00000}, {127, 0x7E}},
        {e4m3, all_ceil, {0x43E00000}, {128, 0x76}},
        {e4m3, "compressed-tensors", {0x43E00000}, {128, 0x76}},
        // 496 is where rounding to three mantissa bits carries.
        {e4m3, all_floor, {0x43F80000}, {127, 0x7E}},
        {e4m3, all_even, {0x43F80000}, {128, 0x78}},
        {e4m3, all_up, {0x43F80000}, {128, 0x78}},
        {e4m3, all_ceil, {0x43F80000}, {128, 0x78}},
        // 1: the exponent field of the ratio, rounded down, is one less than OCP's.
        {e4m3, all_floor, {one}, {119, 0x78}},
        {e4m3, all_up, {one}, {119, 0x78}},
        {e4m3, "triton-round-down-legacy", {one}, {118, 0x7E}},
        {e4m3, "triton-round-down", {one}, {119, 0x78}},  // the kernel at 018a674, read
        {e4m3, "vllm-rocm-53110", {one}, {127, 0x38}},
        // 2.8
        {e4m3, all_floor, {0x40333333}, {120}},
        {e4m3, all_up, {0x40333333}, {120}},
        {e4m3, "triton-round-down-legacy", {0x40333333}, {119}},
        {e4m3, all_ceil, {0x40333333}, {121, 0x73}},
        // FP4 at 7, where the two ways of rounding to one mantissa bit part, and at 6.
        {e2m1, "ocp torchao-floor fbgemm-floor fbgemm-even gfloat", {0x40E00000}, {127, 7}},
        {e2m1, "torchao-rceil torchao-ceil torchao-even quark-even nv", {0x40E00000}, {128, 6}},
        {e2m1, "fbgemm-ceil aiter-even aiter-roundup", {0x40E00000}, {128, 6}},
        {e2m1, "ocp torchao-floor torchao-even torchao-rceil fbgemm-floor nv", {0x40C00000}, {127}},
        {e2m1, "torchao-ceil aiter-ceil fbgemm-ceil", {0x40C00000}, {128}},
        // 3.5000002 and 511.99997 would change if they were rounded to bfloat16 first.
        {e4m3, "torchao-rceil nv", {0x40600001}, {121, 0x76}},
        {e4m3, "torchao-floor ocp", {0x43FFFFFF}, {127, 0x7E}},
        // 114688.008 / 448 is one ulp above 256, and its log2 rounds to 8.
        {e4m3, "nv torchao-rceil aiter-roundup deepgemm", {0x47E00001}, {136}},
        {e4m3, "torchao-rceil-legacy model-optimizer", {0x47E00001}, {135}},
        // log2 of 255.99998 rounds to 8, that of 7.9999995 to 3.
        {e4m3, "torchao-floor ocp gfloat microxcaling-cuda", {0x437FFFFF}, {126}},
        {e4m3, "microxcaling universal", {0x437FFFFF}, {127}},
        {e4m3, "ocp", {0x40FFFFFF}, {121}},
        {e4m3, "microxcaling universal", {0x40FFFFFF}, {122}},
        // The largest binary32 rounds to infinity where it is rounded first.
        {e4m3, "ocp torchao-floor", {largest}, {246, 0x7E}},
        {e4m3, "torchao-even", {largest}, {255, 0x7F}},
        {e4m3, "quark-even", {largest}, {254}},
        {e4m3, "nv torchao-rceil", {largest}, {247, 0x78}},
        {e4m3, "microxcaling", {largest}, {247}},
        {e2m1, "fbgemm-floor fbgemm-even", {largest}, {252, 7}},
        // Where 2^128 is a number: aiter's header at e404860 and torchao 0.18.0, run.
        {e2m1, "aiter-even", {0x7F600000}, {0xFD}},
        {e4m3, "aiter-even torchao-even-legacy", {0x7F780000}, {0xF7}},
        {e4m3, "aiter-even-torch", {0x7F780000}, {0xFF}},
        {e4m3, "aiter-even", {infinity}, {0xF7}},
        {e4m3, "torchao-ceil-legacy", {0x43E00000}, {128, 0x76}},
        // Universal at e6aa357, run: log2f of these is 128, and the exponent ends at 127.
        {e4m3, "universal", {0x7F7FFFFD}, {0xF6}},
        {e4m3, "universal", {largest}, {0xF6}},
    };
}

inline std::vector<BlockExample> examples_of_special_blocks() {
    return {
        // 2^-120: scales at the lower end and what elements are divided by there.
        {e4m3, "nv te-specialised torchao-floor torchao-ceil", {0x03800000}, {0, 0x70}},
        {e4m3, "torchao-even torchao-rceil ocp gfloat", {0x03800000}, {0, 0x70}},
        {e4m3, "torchao-floor-legacy", {0x03800000}, {0, 0x68}},
        {e4m3, "torchao-rceil-legacy flashinfer", {0x03800000}, {0, 0x00}},
        {e4m3, "megatron-round-up aiter-roundup aiter-ceil te-cutedsl", {0x03800000}, {1, 0x68}},
        {e4m3, "thunderkittens", {0x03800000}, {88, 0x00}},
        {e4m3, "deepgemm", {0x03800000}, {105, 0x00}},
        // 2^-126 less its last bit, over 2^8 in binary32: aiter rounds it up to a normal.
        {e4m3, "aiter-rounddown", {0x047FFFFF}, {1}},
        {e4m3, "ocp torchao-floor", {0x047FFFFF}, {0}},
        // All zero.
        {e4m3, all_even, {0, 0}, {0, 0, 0}},
        {e4m3, "ocp nv torchao-floor torchao-rceil microxcaling gfloat", {0, 0}, {0, 0, 0}},
        {"mxint8-symmetric", "microxcaling", {0, 0}, {1, 0, 0}},
        {"mxint8-symmetric", "microxcaling-cuda", {0, 0}, {0, 0, 0}},
        {e4m3, "deepgemm", {0, 0}, {105, 0, 0}},
        {e2m1, "deepgemm-fp4", {0, 0}, {112, 0, 0}},
        {e4m3, "thunderkittens", {0, 0}, {88, 0, 0}},
        {e4m3, "universal", {0, 0}, {119, 0, 0}},
        {e2m1, "universal", {0, 0}, {125, 0, 0}},
        // A NaN.
        {e4m3, "torchao-floor torchao-ceil torchao-even", {one, nan}, {0xFF, 0x7F, 0x7F}},
        {e4m3, "torchao-rceil microxcaling quark-even gfloat", {one, nan}, {0xFF, 0x7F, 0x7F}},
        {e4m3, "torchao-floor-legacy", {one, minus_zero | one, nan}, {0xFF, 0x00, 0x80, 0x7F}},
        {e4m3, "torchao-floor-legacy", {infinity, nan}, {0xFF, 0x7F, 0x7F}},
        {e4m3, "nv te-specialised megatron-round-up", {one, nan}, {119, 0x78, 0x7F}},
        {e4m3, "triton-round-down-legacy", {one, nan}, {118, 0x7E, 0x7F}},
        {e4m3, "thunderkittens", {one, nan}, {119, 0x78, 0x7F}},
        {e4m3, "flashinfer", {one, nan}, {119, 0x78, 0x7E}},
        {e4m3, "model-optimizer te-cutedsl", {one, nan}, {0, 0x7E, 0x7F}},
        {e4m3, "deepgemm deepgemm-legacy", {one, nan}, {254, 0x00, 0x7F}},
        {e2m1, "deepgemm-fp4", {one, nan, minus_zero | nan}, {254, 0, 0, 0}},
        {e2m1, "deepgemm-fp4-legacy", {one, nan}, {254, 0, 7}},
        // oneDNN's loop at 3f27bec and amd-quark 0.13, run.
        {e4m3, "onednn", {nan, 0}, {0x00}},
        {e2m1, "quark-even-packed", {nan, 0}, {0x7F}},
        {e2m1, "quark-even", {nan, 0}, {0xFF}},
        {e4m3, "nv", {nan, nan}, {0, 0x7F, 0x7F}},
        {e4m3, "megatron-round-up", {nan, nan}, {0, 0x7F, 0x7F}},
        {e4m3, "triton-round-down-legacy", {nan, nan}, {0xFF, 0x7F, 0x7F}},
        // A NaN in a format without one.
        {e2m1, "nv", {one, nan}, {125, 6, 7}},
        {e2m1, "torchao-floor", {one, nan}, {0xFF, 3, 3}},
        {"mxfp6-e2m3", "torchao-floor", {nan}, {0xFF, 0x0C}},
        {"mxfp6-e3m2", "torchao-floor", {nan}, {0xFF, 0x0E}},
        {e2m1, "fbgemm-floor", {one, nan}, {125, 6, 7}},
        {e2m1, "fbgemm-floor", {nan}, {252, 7}},
        // An infinity.
        {e4m3, "nv torchao-rceil-legacy gfloat", {one, infinity}, {0xFE, 0x00, 0x7E}},
        {e4m3, "nv", {one, infinity | minus_zero}, {0xFE, 0x00, 0xFE}},
        {e4m3, "torchao-floor torchao-even torchao-rceil", {one, infinity}, {0xFF, 0x7F, 0x7F}},
        {e4m3, "torchao-floor-legacy", {one, infinity}, {247, 0x00, 0x7E}},
        {e2m1, "torchao-floor-legacy", {one, infinity}, {253, 0, 7}},
        {e4m3, "megatron-round-up triton-round-down-legacy", {one, infinity}, {0xFF, 0x00, 0x7F}},
        {e4m3, "flashinfer", {one, infinity}, {0xFE, 0x00, 0x7E}},
        {e4m3, "nv", {0x7F400000, infinity}, {0xFE, 0x3C, 0x7E}},
        {e4m3, "flashinfer", {0x7F400000, infinity}, {0xFE, 0x00, 0x7E}},
        {e4m3, "deepgemm", {one, infinity | minus_zero}, {0xFE, 0x00, 0xFE}},
        {e4m3, "deepgemm-legacy", {one, infinity | minus_zero}, {0xFE, 0x00, 0xFF}},
        {e2m1, "fbgemm-floor", {one, infinity}, {252, 0, 7}},
        // Minus zero, and a negative value that underflows.
        {e4m3, "nv torchao-rceil", {one, minus_zero, 0x80800000}, {119, 0x78, 0x80, 0x80}},
        {e4m3, "te-specialised", {one, minus_zero, 0x80800000}, {119, 0x78, 0x00, 0x80}},
        {e4m3, "microxcaling-cuda", {one, minus_zero, 0x80800000}, {119, 0x78, 0x00, 0x00}},
        {e2m1, "deepgemm-fp4", {one, minus_zero, 0x80800000}, {125, 6, 0, 0}},
    };
}

inline std::vector<BlockExample> examples_of_elements() {
    // 6, 5, 3.5, 2.5, 1.75, 0.75, 0.25: every tie of FP4.
    const Codes ties{0x40C00000, 0x40A00000, 0x40600000, 0x40200000,
                     0x3FE00000, 0x3F400000, 0x3E800000};
    return {
        {e2m1, "ocp torchao-floor nv quark-even gfloat", ties, {127, 7, 6, 6, 4, 4, 2, 0}},
        {e2m1, "microxcaling fbgemm-floor fbgemm-even", ties, {127, 7, 7, 6, 5, 4, 2, 1}},
        {e2m1, "deepgemm-fp4", ties, {127, 7, 6, 5, 4, 3, 1, 0}},
        // 256 and 17, a tie of E4M3.
        {e4m3, "ocp nv torchao-floor gfloat", {0x43800000, 0x41880000}, {127, 0x78, 0x58}},
        {e4m3, "microxcaling microxcaling-cuda", {0x43800000, 0x41880000}, {127, 0x78, 0x59}},
        // Libraries run, with the smallest witnesses. oneDNN 3f27bec: binary32 to binary16 to FP8.
        {e4m3, "onednn", {one, 0x3F880001}, {0x77, 0x78, 0x78}},
        {e4m3, "ocp", {one, 0x3F880001}, {0x77, 0x78, 0x79}},
        {e4m3, "onednn", {0x05000000, 0x80640001}, {0x02, 0x78, 0xAC}},
        {e4m3, "ocp", {0x05000000, 0x80640001}, {0x02, 0x78, 0xAD}},
        {e5m2, "onednn", {0x05000000, 0x82500001}, {0x00, 0x64, 0xCE}},
        {e5m2, "ocp", {0x05000000, 0x82500001}, {0x00, 0x64, 0xCF}},
        // Universal e6aa357: E5M2 overflows.
        {e5m2, "universal", {0x40F00000}, {0x72, 0x7C}},
        {e5m2, "ocp", {0x40F00000}, {0x72, 0x7B}},
        // torchao 36027d82d and 0.18.0, run with each bfloat16 code as an amax: E5M2 saturates.
        {e5m2, "torchao-floor torchao-floor-legacy", {0x40F00000}, {0x72, 0x7B}},
        {e5m2, "universal", {0x7BF00000}, {0xE8, 0x7C}},
        // microxcaling 7bc4195: floor(|x| + 0.5) in binary32; its CUDA code rounds once.
        {e2m1, "microxcaling", {0x40C00000, 0x3E7FFFFF}, {127, 7, 1}},
        {e2m1, "microxcaling-cuda", {0x40C00000, 0x3E7FFFFF}, {127, 7, 0}},
        {e2m1, "microxcaling", {0x05000000, 0x02FFFFFF}, {0x08, 6, 1}},
        {"mxfp6-e3m2", "microxcaling", {0x05EFFFFF, 0x00FFFFFF}, {0x07, 0x1F, 1}},
        {"mxfp6-e3m2", "microxcaling-cuda", {0x05EFFFFF, 0x00FFFFFF}, {0x07, 0x1F, 0}},
        // 2.8 and -1.2
        {e4m3, "ocp nv", {0x40333333, 0xBF99999A}, {120, 0x7B, 0xF2}},
    };
}

inline std::vector<BlockExample> examples_of_gguf_mlx_and_aiter() {
    return {
        // gguf 0.19.0 and MLX 0.32.4, run: a block of zeros.
        {e2m1, "ggml", {0}, {0x00, 0}},
        {e2m1, "mlx-fp4", {0}, {0x7F, 0}},
        {e4m3, "mlx-fp8", {0}, {0x7F, 0}},
        // The same: ties toward zero, and no -0.
        {e2m1,
         "ggml mlx-fp4",
         {0x40C00000, 0x3E800000, 0xBE800000, 0xBE000000, 0x40A00000, 0x40200000},
         {0x7F, 7, 0, 0, 0, 6, 4}},
        {e2m1, "ggml mlx-fp4", {minus_zero, one}, {0x7D, 0, 6}},
        {e2m1, "ggml", {0x40C00001}, {0x7F, 7}},
        {e2m1, "mlx-fp4", {0x40C00001}, {0x80, 5}},
        {e2m1, "ggml", {0x40FFFFFF}, {0x80, 6}},
        {e2m1, "ggml", {largest}, {0xFD}},
        {e4m3, "mlx-fp8", {0x43E00001}, {0x80, 0x76}},
        {e4m3, "mlx-fp8", {minus_zero, one}, {0x77, 0x80, 0x78}},
        // aiter's PyTorch reference, run: byte 0 is 2^-127.
        {e2m1, "aiter-even-torch", {0x015FFFFF}, {0x00, 0x07}},
        {e2m1, "aiter-even-torch", {0x00400000}, {0x00, 0x02}},
    };
}

inline std::vector<BlockExample> all_examples() {
    std::vector<BlockExample> all;
    for (const auto& some : {examples_of_scales(), examples_of_special_blocks(),
                             examples_of_elements(), examples_of_gguf_mlx_and_aiter()})
        all.insert(all.end(), some.begin(), some.end());
    return all;
}

}  // namespace mx
