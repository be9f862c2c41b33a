// The table of accumulation models. A new machine is a new row. It has none for AMD's CDNA3: that
// reads FP8 in other codes, which formats.hpp does not know, and sums them in another way; and none
// for factors of TensorFloat-32 and binary64.
#pragma once

#include <array>

#include "reference/spec/gemm_model.hpp"

namespace mx {

namespace source_of_rows {
inline constexpr std::string_view mma_sim = "microsoft/MMA-Sim@c785138:mmasim/simulator";
inline constexpr std::string_view both =
    "microsoft/MMA-Sim@c785138:mmasim/simulator; "
    "north-numerical-computing/MATLAB-tensor-core@b12b5a7:models";
}  // namespace source_of_rows

inline constexpr std::array gemm_models{
    GemmModel{.name = "volta-f16",
              .operands = "f16",
              .products = 4,
              .fraction_bits = 23,
              .standing = Standing::verified_by_others,
              .source = source_of_rows::both},
    GemmModel{.name = "turing-f16",
              .operands = "f16",
              .products = 8,
              .fraction_bits = 24,
              .standing = Standing::verified_by_others,
              .source = source_of_rows::both},
    GemmModel{.name = "ampere-half",
              .operands = "f16 bf16",
              .products = 8,
              .fraction_bits = 24,
              .standing = Standing::verified_by_others,
              .source = "of Ampere and of Ada: microsoft/MMA-Sim@c785138:mmasim/simulator; "
                        "north-numerical-computing/MATLAB-tensor-core@b12b5a7:models"},
    GemmModel{.name = "hopper-half",
              .operands = "f16 bf16",
              .products = 16,
              .fraction_bits = 25,
              .exponent_floor = -133,
              .standing = Standing::verified_here,
              .source = "cuBLASLt 13.1 on an H200; the same is predicted of Blackwell: "
                        "microsoft/MMA-Sim@16a0188:mmasim/simulator/nv.py"},
    // FP8 on Ada and Hopper keeps 13 bits of fraction, in the sum and in the accumulator.
    GemmModel{.name = "ada-fp8",
              .operands = "e4m3 e5m2",
              .products = 16,
              .fraction_bits = 13,
              .accumulator = e8m13,
              .standing = Standing::verified_by_others,
              .source = source_of_rows::both},
    GemmModel{.name = "ada-fp8-f16",
              .operands = "e4m3 e5m2",
              .products = 16,
              .fraction_bits = 13,
              .accumulator = formats::f16,
              .rounding = Rounding::nearest_even,
              .standing = Standing::verified_by_others,
              .source = source_of_rows::both},
    GemmModel{
        .name = "hopper-fp8",
        .operands = "e4m3 e5m2",
        .products = 32,
        .fraction_bits = 13,
        .accumulator = e8m13,
        .standing = Standing::verified_here,
        .source = "cuBLASLt 13.1 with FAST_ACCUM on an H200: 2.16e9 outputs with the row below"},
    GemmModel{.name = "hopper-fp8-promoted",
              .operands = "e4m3 e5m2",
              .products = 32,
              .fraction_bits = 13,
              .accumulator = e8m13,
              .promotion = 128,
              .standing = Standing::verified_here,
              .source = "cuBLASLt 13.1 without FAST_ACCUM on an H200"},
    // cuBLASLt's VEC128_32F on both sides, and with BLK128x128_32F on one of them.
    GemmModel{.name = "hopper-fp8-1x128",
              .operands = "e4m3 e5m2",
              .products = 32,
              .fraction_bits = 13,
              .accumulator = e8m13,
              .promotion = 128,
              .scaling = BlockScaling::promoted_a_first,
              .scales = "f32",
              .blocks = "128",
              .standing = Standing::verified_here,
              .source = "cuBLASLt 13.1 on an H200"},
    GemmModel{.name = "hopper-fp8-128x128",
              .operands = "e4m3 e5m2",
              .products = 32,
              .fraction_bits = 13,
              .accumulator = e8m13,
              .promotion = 128,
              .scaling = BlockScaling::promoted_product,
              .scales = "f32",
              .blocks = "128",
              .standing = Standing::verified_here,
              .source = "cuBLASLt 13.1 on an H200"},
    GemmModel{.name = "hopper-fp8-f16",
              .operands = "e4m3 e5m2",
              .products = 32,
              .fraction_bits = 13,
              .accumulator = formats::f16,
              .rounding = Rounding::nearest_even,
              .standing = Standing::predicted,
              .source = source_of_rows::mma_sim},
    // MX on Hopper, which has no tensor cores for it: three ways of device/hopper.
    GemmModel{.name = "hopper-mx-wgmma",
              .operands = "e4m3 e5m2",
              .products = 32,
              .fraction_bits = 13,
              .accumulator = e8m13,
              .promotion = 32,
              .scaling = BlockScaling::promoted_product,
              .scales = "e8m0",
              .blocks = "32",
              .standing = Standing::verified_here,
              .source = "device/hopper, way wgmma, on an H200"},
    GemmModel{.name = "hopper-mx-slices",
              .operands = "e4m3 e5m2",
              .products = 32,
              .fraction_bits = 13,
              .accumulator = e8m13,
              .promotion = 32,
              .scaling = BlockScaling::promoted_in_turn,
              .scales = "e8m0",
              .blocks = "32",
              .standing = Standing::verified_here,
              .source = "device/hopper, way slices-of-32, on an H200: OUTER_VEC_32F of cuBLASLt"},
    GemmModel{.name = "hopper-mx-bf16",
              .operands = "e4m3 e5m2",
              .products = 16,
              .fraction_bits = 25,
              .scaling = BlockScaling::dequantised,
              .scales = "e8m0",
              .blocks = "32",
              .exponent_floor = -133,
              .standing = Standing::verified_here,
              .source = "device/hopper, way dequantised-bf16, on an H200: the row hopper-half"},
    // FP8 mma.sync on Hopper and on B200 is done with FP16 tensor cores, and C added afterwards.
    GemmModel{
        .name = "mma-sync-fp8",
        .operands = "e4m3 e5m2",
        .products = 16,
        .fraction_bits = 25,
        .promotion = 32,
        .order = ProductOrder::pairs_of_four,
        .exponents = FactorExponents::f16,
        .standing = Standing::verified_by_others,
        .source =
            "nvcc 13.0 makes F2FP, HMMA and FADD of it for sm_90a and sm_100a; B200 vectors of "
            "north-numerical-computing/MATLAB-tensor-core@b12b5a7"},
    GemmModel{.name = "mma-sync-fp8-f16",
              .operands = "e4m3 e5m2",
              .products = 16,
              .fraction_bits = 25,
              .accumulator = formats::f16,
              .rounding = Rounding::nearest_even,
              .promotion = 32,
              .promoted = formats::f16,
              .order = ProductOrder::pairs_of_four,
              .exponents = FactorExponents::f16,
              .standing = Standing::verified_by_others,
              .source = "H200, H100 and B200 vectors of "
                        "north-numerical-computing/MATLAB-tensor-core@b12b5a7"},
    // Blackwell, for data centers (tcgen05 of sm_100) and for consumers (mma.sync of sm_120), of
    // which the same is said: nothing of either has run here.
    GemmModel{.name = "blackwell-narrow",
              .operands = "e4m3 e5m2 e3m2 e2m3 e2m1",
              .products = 32,
              .fraction_bits = 25,
              .standing = Standing::predicted,
              .source = source_of_rows::mma_sim},
    GemmModel{.name = "blackwell-fp8-f16",
              .operands = "e4m3 e5m2",
              .products = 32,
              .fraction_bits = 25,
              .accumulator = formats::f16,
              .rounding = Rounding::nearest_even,
              .standing = Standing::predicted,
              .source = source_of_rows::mma_sim},
    GemmModel{.name = "blackwell-mx",
              .operands = "e4m3 e5m2 e3m2 e2m3 e2m1",
              .products = 32,
              .fraction_bits = 25,
              .scaling = BlockScaling::product_exponent,
              .scales = "e8m0",
              .blocks = "32",
              .standing = Standing::predicted,
              .source = source_of_rows::mma_sim},
    GemmModel{.name = "blackwell-fp4",
              .operands = "e2m1",
              .products = 4,
              .fraction_bits = 35,
              .exact_group = 16,
              .scaling = BlockScaling::group,
              .scales = "e8m0 ue4m3",
              .blocks = "16 32",
              .standing = Standing::predicted,
              .source = source_of_rows::mma_sim},
    // What a loop of plain code computes: one fused multiply-add a product, in the order of k. With
    // block scales the factors are scaled first, which is exact. A product that is split along k,
    // so that its parts stay in a cache, adds the sums of the parts.
    GemmModel{.name = "fma-chain",
              .operands = "f32 f16 bf16 e4m3 e5m2 e3m2 e2m3 e2m1",
              .products = 1,
              .fraction_bits = all_bits,
              .rounding = Rounding::nearest_even,
              .standing = Standing::verified_by_others,
              .source = "IEEE 754-2019 section 5.4.1; AMD's MFMA of f32: "
                        "microsoft/MMA-Sim@16a0188:mmasim/simulator/amd.py"},
    GemmModel{.name = "fma-chain-mx",
              .operands = "e4m3 e5m2 e3m2 e2m3 e2m1",
              .products = 1,
              .fraction_bits = all_bits,
              .rounding = Rounding::nearest_even,
              .scaling = BlockScaling::product_exponent,
              .scales = "e8m0 ue4m3",
              .blocks = "16 32",
              .standing = Standing::verified_here,
              .source = "device/cpu, algorithm fma-chain"},
    GemmModel{.name = "fma-parts",
              .operands = "f32 f16 bf16 e4m3 e5m2 e3m2 e2m3 e2m1",
              .products = 1,
              .fraction_bits = all_bits,
              .rounding = Rounding::nearest_even,
              .promotion = 256,
              .standing = Standing::verified_here,
              .source = "device/cpu, algorithm fma-parts"},
    GemmModel{.name = "fma-parts-mx",
              .operands = "e4m3 e5m2 e3m2 e2m3 e2m1",
              .products = 1,
              .fraction_bits = all_bits,
              .rounding = Rounding::nearest_even,
              .promotion = 256,
              .scaling = BlockScaling::product_exponent,
              .scales = "e8m0 ue4m3",
              .blocks = "16 32",
              .standing = Standing::verified_here,
              .source = "device/cpu, algorithm fma-parts"},
};

// Returns nullptr when no row has that name.
constexpr const GemmModel* find_gemm_model(std::string_view name) {
    return find_named(gemm_models, name);
}

// What the integers of fast/ have room for.
static_assert([] {
    for (const GemmModel& model : gemm_models) {
        const bool fits =
            model.fraction_bits == all_bits ? model.products == 1 : model.fraction_bits <= 40;
        if (!fits) return false;
    }
    return true;
}());

}  // namespace mx
