// The table of accumulation models. A new machine is a new row. It has none for factors of binary64
// and of MXINT8.
#pragma once

#include <array>

#include "reference/spec/gemm_model.hpp"

namespace mx {

namespace source_of_rows {
inline constexpr std::string_view mma_sim = "microsoft/MMA-Sim@c785138:mmasim/simulator";
inline constexpr std::string_view both =
    "microsoft/MMA-Sim@c785138:mmasim/simulator; "
    "north-numerical-computing/MATLAB-tensor-core@b12b5a7:models";
// What the public vectors of tensor cores hold a row to.
inline constexpr std::string_view vectors =
    "vectors of north-numerical-computing/MATLAB-tensor-core@b12b5a7, all 5,000 of each machine; "
    "conformance/vectors/tensor_cores.vectors";
// The exact sum of a step, rounded once: older MMA-Sim had pairs here.
inline constexpr std::string_view cdna1 =
    "microsoft/MMA-Sim@e11f6a7:src/mmasim/mmasim/amd/sim.py, e_fdpa; "
    "north-numerical-computing/MATLAB-tensor-core@b12b5a7:models/MI100MC.m";
inline constexpr std::string_view cdna2 =
    "microsoft/MMA-Sim@0cb7846:src/mmasim/mmasim/arithmetic/ftz_mul_add.py; "
    "north-numerical-computing/MATLAB-tensor-core@b12b5a7:models/MI210MC.m";
inline constexpr std::string_view cdna3 =
    "microsoft/MMA-Sim@0cb7846:src/mmasim/mmasim/arithmetic/fdpa.py, tr_fdpa and gtr_fdpa; "
    "north-numerical-computing/MATLAB-tensor-core@b12b5a7:models/tools/Generic_BFMA_TC.m";
// Of Arm's FP8, with FPMR.LSCALE at 0 and FPMR.OSM at 0.
inline constexpr std::string_view arm =
    "Arm Architecture Reference Manual, FDOT, FMLAL and FMMLA of FP8: a fused sum of products, "
    "added without intermediate rounding; qemu/qemu@0e81c215d:target/arm/tcg/fp8_helper.c, f8dot";
inline constexpr std::string_view amx =
    "Intel SDM volume 2, TDPBF16PS, Operation; bochs-emu/Bochs@783b58fd6:bochs/cpu/avx/amx.cc, of "
    "f16 alone";
inline constexpr std::string_view spike =
    "aswaterman/riscv-misc@579388e82:isa/ldot-bdot/ldot-bdot.adoc, RISC-V Bulk Normalization "
    "Algorithm; "
    "riscv-software-src/riscv-isa-sim@55b4658d:riscv/bulknormdot.h and zvbdot.h";
inline constexpr std::string_view id24 =
    "cuBLASLt 13.1 on an H200, id=24; conformance/vectors/nvidia_h200_residue.answers";
inline constexpr std::string_view id11 =
    "cuBLASLt 13.1 on an H200, id=11; conformance/vectors/nvidia_h200_lanes.answers";
}  // namespace source_of_rows

namespace open_in_rows {
inline constexpr std::string_view half_accumulator =
    "the sign of a negative sum that rounds to zero: +0 here, as on an H200 and in MMA-Sim. Probe: "
    "-2^-13 times 2^-13 and C = -0. The exponent floor: none here, -21 in MATLAB-tensor-core. "
    "Probe: products of 2^-25 and 2^-48, which are above half of 2^-24 only where both are kept. "
    "Bits of fraction: no public vector refutes one more or fewer. Probe: 2^14, -2^14 and 2^e, e "
    "falling until the sum is 0";
inline constexpr std::string_view hopper_half_accumulator =
    "of a B200: the exponent floor. It is -21 here, as on an H200; no recorded answer of a B200 "
    "tells. Probe: "
    "products of 2^-25 and 2^-48, which are above half of 2^-24 only where both are kept";
inline constexpr std::string_view hopper_fp8_half_accumulator =
    "the exponent floor: none here, -21 in MATLAB-tensor-core; no probe here parts them";
// What lies below 2^-149 shows where it adds up to that: 2^-150, 2^-151 and so on, the last twice.
inline constexpr std::string_view blackwell_floor =
    "the exponent floor: none here, -126 in MMA-Sim, -133 in MATLAB-tensor-core and measured of "
    "BF16 on an H200. Probe: products of 2^-150, 2^-151 and so on to 2^-159, that twice: 2^-149, "
    "or 0 where there is a floor; and to 2^-158: 2^-149, or 0 where it is -126";
inline constexpr std::string_view fp6 =
    "FP6: as FP8 here; no source has run it. Probe: those of "
    "e4m3 in e3m2 and e2m3";
inline constexpr std::string_view ampere_floor =
    "the exponent floor: none here, -132 in MATLAB-tensor-core. Probe: products of 1.75 * 2^-150, "
    "1.75 * 2^-153, 1.5 * 2^-156 and 2^-157: 2^-149, or 0 where there is a floor";
inline constexpr std::string_view cdna2 =
    "the sign of a zero accumulator at the border of two instructions: kept here, +0 in MMA-Sim, "
    "which flushes C of each. Probe: C = -0 and products of -0 over a K of two instructions";
inline constexpr std::string_view cdna3 =
    "where the sum of the products is cut: 31 bits below the larger exponent, as MMA-Sim@0cb7846 "
    "and MATLAB-tensor-core have it, or 31 below the leading bit of what both come to, as "
    "MMA-Sim@c87cb7f has it. Probe: C = 1 and products of -2^-8, 2^-25 and 2^-32. The sign of a "
    "sum of zeros: +0 here. Probe: C = -0 and products of -0";
inline constexpr std::string_view arm_zeros =
    "the sign of a sum of zeros: -0 where C and all products are -0, as QEMU has it. Probe: C = -0 "
    "and products of -0. Sums of E5M2 that take more than 64 bits: exact here, as Arm's text has "
    "them; QEMU 11.1.3 keeps 64. Probe of FDOT of four: C = -2 * 57344^2 and products of 57344^2, "
    "57344^2 and 2^-32: 2^-32, or 2^-31";
inline constexpr std::string_view amx_half =
    "a difference from 2^-126 to 2^-125 of two sums of bf16 that have one exponent: kept here, as "
    "SSE's addition keeps it where subnormals are flushed, 0 in Bochs@783b58fd6. Probe: 3 * 2^-126 "
    "at k=0 and -2^-125 at k=1: 2^-126";
inline constexpr std::string_view amx_fp8 =
    "how four products join a sum: two by two here, as Bochs has it; Intel's text was not at hand, "
    "and LLVM's amxfp8intrin.h adds them to one sum. Probe: products of 2^24, 1, -2^24 and 1. "
    "Subnormal factors of E5M2: 0 here, as Bochs has them. Probe: 2^-16 times 1";
inline constexpr std::string_view bulk =
    "how many products are aligned together: the text leaves it to the implementation; here those "
    "of one vector register, as Spike has it. Probe: 2^20, 2^-8 and -2^20, each one element more "
    "apart";
}  // namespace open_in_rows

inline constexpr std::array gemm_models{
    GemmModel{.name = "volta-f16",
              .operands = "f16",
              .products = 4,
              .fraction_bits = 23,
              .standing = Standing::verified_by_others,
              .machines = "v100 sm_70 volta",
              .source = source_of_rows::vectors},
    GemmModel{.name = "turing-f16",
              .operands = "f16",
              .products = 8,
              .fraction_bits = 24,
              .standing = Standing::predicted,
              .machines = "t4 sm_75 turing rtx-20",
              .source = source_of_rows::mma_sim},
    GemmModel{.name = "ampere-half",
              .operands = "f16 bf16",
              .products = 8,
              .fraction_bits = 24,
              .standing = Standing::verified_by_others,
              .machines = "a100 a30 a2 a40 sm_80 sm_86 ampere rtx-30 l4 l40 l40s sm_89 ada rtx-40",
              .source = source_of_rows::vectors,
              .open = open_in_rows::ampere_floor},
    GemmModel{
        .name = "hopper-half",
        .operands = "f16 bf16",
        .products = 16,
        .fraction_bits = 25,
        .exponent_floor = -133,
        .standing = Standing::verified_here,
        .machines = "h100 h200 gh200 sm_90 hopper b200 gb200 sm_100 blackwell",
        .source = "cuBLASLt 13.1 on an H200; H100, H200 and B200 vectors of "
                  "north-numerical-computing/MATLAB-tensor-core@b12b5a7",
        .open = "of a B200: the exponent floor, which MMA-Sim has at -126. Probe: BF16 products of "
                "2^-150, 2^-151 and so on to 2^-158, that twice: 2^-149, or 0 at -126"},
    // The kernels that cuBLASLt takes where rows are no multiple of 16 bytes long (id=24): what K
    // leaves over of whole tiles comes first, as CUTLASS 2's iterators load it. The tile is as deep
    // as the kernel's, which stages= names (13 to 18: 64, 19 to 24: 128); without stages a step is
    // an mma.m16n8k8.
    GemmModel{.name = "hopper-half-residue-64",
              .operands = "f16 bf16",
              .products = 16,
              .fraction_bits = 25,
              .residue_tile = 64,
              .exponent_floor = -133,
              .standing = Standing::verified_here,
              .machines = "h100 h200 gh200 sm_90 hopper",
              .source = source_of_rows::id24},
    GemmModel{.name = "hopper-half-residue-128",
              .operands = "f16 bf16",
              .products = 16,
              .fraction_bits = 25,
              .residue_tile = 128,
              .exponent_floor = -133,
              .standing = Standing::verified_here,
              .machines = "h100 h200 gh200 sm_90 hopper",
              .source = source_of_rows::id24},
    GemmModel{.name = "hopper-half-k8-residue-32",
              .operands = "f16 bf16",
              .products = 8,
              .fraction_bits = 25,
              .residue_tile = 32,
              .exponent_floor = -133,
              .standing = Standing::verified_here,
              .machines = "h100 h200 gh200 sm_90 hopper",
              .source = source_of_rows::id24},
    // The kernel that cuBLASLt takes for few rows of A that are no multiple of 16 bytes long
    // (id=11): plain code. Stretches of 256 products are dealt to 16 sums, 16 to each.
    GemmModel{.name = "hopper-lanes-16",
              .operands = "f16 bf16",
              .products = 1,
              .fraction_bits = all_bits,
              .rounding = Rounding::nearest_even,
              .promotion = 256,
              .lanes = 16,
              .alpha = AlphaPlace::factor_a,
              .standing = Standing::verified_here,
              .machines = "h100 h200 gh200 sm_90 hopper",
              .source = source_of_rows::id11},
    // CUTLASS 3's mainloop of cp.async for wgmma: its first tile is filled with zeros in front, so
    // that what K leaves over of a step comes first, and whole steps after it. FP16 was not asked.
    GemmModel{.name = "hopper-half-residue-16",
              .operands = "bf16",
              .products = 16,
              .fraction_bits = 25,
              .residue_tile = 16,
              .exponent_floor = -133,
              .standing = Standing::verified_here,
              .machines = "h100 h200 gh200 sm_90 hopper",
              .source = "NVIDIA/cutlass@7107b05:include/cutlass/gemm/collective/"
                        "sm90_mma_multistage_gmma_ss_warpspecialized.hpp, on an H200; "
                        "conformance/vectors/cutlass-gemm.answers"},
    // The same with sums in binary16: what HGEMM and COMPUTE_16F ask for.
    GemmModel{.name = "volta-f16-f16",
              .operands = "f16",
              .products = 4,
              .fraction_bits = 23,
              .accumulator = formats::f16,
              .rounding = Rounding::nearest_even,
              .standing = Standing::verified_by_others,
              .machines = "v100 sm_70 volta",
              .source = source_of_rows::vectors,
              .open = open_in_rows::half_accumulator},
    GemmModel{.name = "ampere-f16-f16",
              .operands = "f16",
              .products = 8,
              .fraction_bits = 24,
              .accumulator = formats::f16,
              .rounding = Rounding::nearest_even,
              .standing = Standing::verified_by_others,
              .machines = "a100 a30 a2 a40 sm_80 sm_86 ampere rtx-30 l4 l40 l40s sm_89 ada rtx-40",
              .source = source_of_rows::vectors,
              .open = open_in_rows::half_accumulator},
    GemmModel{.name = "hopper-f16-f16",
              .operands = "f16",
              .products = 16,
              .fraction_bits = 25,
              .accumulator = formats::f16,
              .rounding = Rounding::nearest_even,
              .exponent_floor = -21,
              .standing = Standing::verified_here,
              .machines = "h100 h200 gh200 sm_90 hopper b200 gb200 sm_100 blackwell",
              .source =
                  "CUTLASS's kernels on an H200 (NVIDIA/cutlass@7107b05); H100, H200 and B200 "
                  "vectors of north-numerical-computing/MATLAB-tensor-core@b12b5a7",
              .open = open_in_rows::hopper_half_accumulator},
    // Factors of binary32 whose last 13 bits are not read.
    GemmModel{.name = "ampere-tf32",
              .operands = "tf32",
              .products = 4,
              .fraction_bits = 24,
              .standing = Standing::verified_by_others,
              .machines = "a100 a30 a2 a40 sm_80 sm_86 ampere rtx-30 l4 l40 l40s sm_89 ada rtx-40",
              .source = source_of_rows::vectors,
              .open = open_in_rows::ampere_floor},
    GemmModel{.name = "hopper-tf32",
              .operands = "tf32",
              .products = 8,
              .fraction_bits = 25,
              .exponent_floor = -133,
              .standing = Standing::verified_here,
              .machines = "h100 h200 gh200 sm_90 hopper b200 gb200 sm_100 blackwell",
              .source = source_of_rows::vectors,
              .open = "the exponent floor is that of hopper-half, not probed"},
    // FP8 on Ada and Hopper keeps 13 bits of fraction, in the sum and in the accumulator.
    GemmModel{.name = "ada-fp8",
              .operands = "e4m3 e5m2",
              .products = 16,
              .fraction_bits = 13,
              .accumulator = e8m13,
              .standing = Standing::verified_by_others,
              .machines = "l4 l40 l40s sm_89 ada rtx-40",
              .source = source_of_rows::vectors},
    GemmModel{.name = "ada-fp8-f16",
              .operands = "e4m3 e5m2",
              .products = 16,
              .fraction_bits = 13,
              .accumulator = formats::f16,
              .rounding = Rounding::nearest_even,
              .standing = Standing::verified_by_others,
              .machines = "l4 l40 l40s sm_89 ada rtx-40",
              .source = source_of_rows::vectors,
              .open = open_in_rows::half_accumulator},
    GemmModel{
        .name = "hopper-fp8",
        .operands = "e4m3 e5m2",
        .products = 32,
        .fraction_bits = 13,
        .accumulator = e8m13,
        .standing = Standing::verified_here,
        .machines = "h100 h200 gh200 sm_90 hopper",
        .source = "cuBLASLt 13.1 with FAST_ACCUM on an H200: 2.16e9 outputs with the row below"},
    GemmModel{.name = "hopper-fp8-promoted",
              .operands = "e4m3 e5m2",
              .products = 32,
              .fraction_bits = 13,
              .accumulator = e8m13,
              .promotion = 128,
              .standing = Standing::verified_here,
              .machines = "h100 h200 gh200 sm_90 hopper",
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
              .machines = "h100 h200 gh200 sm_90 hopper",
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
              .machines = "h100 h200 gh200 sm_90 hopper",
              .source = "cuBLASLt 13.1 on an H200"},
    GemmModel{.name = "hopper-fp8-f16",
              .operands = "e4m3 e5m2",
              .products = 32,
              .fraction_bits = 13,
              .accumulator = formats::f16,
              .rounding = Rounding::nearest_even,
              .standing = Standing::verified_here,
              .machines = "h100 h200 gh200 sm_90 hopper",
              .source = "CUTLASS's kernels on an H200 (NVIDIA/cutlass@7107b05); "
                        "microsoft/MMA-Sim@c785138:mmasim/simulator",
              .open = open_in_rows::hopper_fp8_half_accumulator},
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
              .machines = "h100 h200 gh200 sm_90 hopper",
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
              .machines = "h100 h200 gh200 sm_90 hopper",
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
              .machines = "h100 h200 gh200 sm_90 hopper",
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
        .machines = "h100 h200 gh200 sm_90 hopper b200 gb200 sm_100 blackwell",
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
              .machines = "h100 h200 gh200 sm_90 hopper b200 gb200 sm_100 blackwell",
              .source = "H200, H100 and B200 vectors of "
                        "north-numerical-computing/MATLAB-tensor-core@b12b5a7",
              .open = open_in_rows::half_accumulator},
    // Blackwell, for data centers (tcgen05 of sm_100) and for consumers (mma.sync of sm_120), of
    // which the same is said: nothing of either has run here.
    GemmModel{.name = "blackwell-narrow",
              .operands = "e4m3 e5m2 e3m2 e2m3 e2m1",
              .products = 32,
              .fraction_bits = 25,
              .standing = Standing::predicted,
              .machines = "b200 b300 gb200 sm_100 sm_103 blackwell rtx-50 rtx-pro-6000 sm_120",
              .source = source_of_rows::mma_sim,
              .open = open_in_rows::fp6},
    GemmModel{.name = "blackwell-fp8-f16",
              .operands = "e4m3 e5m2",
              .products = 32,
              .fraction_bits = 25,
              .accumulator = formats::f16,
              .rounding = Rounding::nearest_even,
              .standing = Standing::predicted,
              .machines = "b200 b300 gb200 sm_100 sm_103 blackwell rtx-50 rtx-pro-6000 sm_120",
              .source = source_of_rows::mma_sim,
              .open = open_in_rows::half_accumulator},
    GemmModel{.name = "blackwell-mx",
              .operands = "e4m3 e5m2 e3m2 e2m3 e2m1",
              .products = 32,
              .fraction_bits = 25,
              .scaling = BlockScaling::product_exponent,
              .scales = "e8m0",
              .blocks = "32",
              .standing = Standing::predicted,
              .machines = "b200 b300 gb200 sm_100 sm_103 blackwell rtx-50 rtx-pro-6000 sm_120",
              .source = source_of_rows::mma_sim,
              .open = open_in_rows::blackwell_floor},
    GemmModel{
        .name = "blackwell-fp4",
        .operands = "e2m1",
        .products = 4,
        .fraction_bits = 35,
        .exact_group = 16,
        .scaling = BlockScaling::group,
        .scales = "e8m0 ue4m3",
        .blocks = "16 32",
        .standing = Standing::predicted,
        .machines = "b200 b300 gb200 sm_100 sm_103 blackwell rtx-50 rtx-pro-6000 sm_120",
        .source = source_of_rows::mma_sim,
        .open = "a group whose products sum to 0: it has no exponent here and in MMA-Sim@735c9b7, "
                "that of its scales in MMA-Sim@c785138. Probe: one group of 1 and -1 under 2^30, "
                "one of "
                "1 under 1"},
    // AMD's MFMA. Of binary32 factors it is a chain of fused multiply-adds in all three.
    GemmModel{.name = "cdna1-f16",
              .operands = "f16",
              .products = 4,
              .fraction_bits = all_bits,
              .rounding = Rounding::nearest_even,
              .standing = Standing::predicted,
              .machines = "mi100 gfx908 cdna1",
              .source = source_of_rows::cdna1},
    GemmModel{.name = "cdna1-bf16",
              .operands = "bf16",
              .products = 2,
              .fraction_bits = all_bits,
              .rounding = Rounding::nearest_even,
              .standing = Standing::predicted,
              .machines = "mi100 gfx908 cdna1",
              .source = source_of_rows::cdna1},
    GemmModel{.name = "cdna2-half",
              .operands = "f16 bf16",
              .products = 4,
              .fraction_bits = all_bits,
              .rounding = Rounding::nearest_even,
              .sum = StepSum::pairs_flushed,
              .standing = Standing::predicted,
              .machines = "mi210 mi250 mi250x gfx90a cdna2",
              .source = source_of_rows::cdna2,
              .open = open_in_rows::cdna2},
    // The instructions of BF16 without _1k in their names.
    GemmModel{.name = "cdna2-bf16-pairs",
              .operands = "bf16",
              .products = 2,
              .fraction_bits = all_bits,
              .rounding = Rounding::nearest_even,
              .sum = StepSum::pairs_flushed,
              .standing = Standing::predicted,
              .machines = "mi210 mi250 mi250x gfx90a cdna2",
              .source = source_of_rows::cdna2,
              .open = open_in_rows::cdna2},
    GemmModel{.name = "cdna3-half",
              .operands = "f16 bf16",
              .products = 8,
              .fraction_bits = 24,
              .rounding = Rounding::nearest_even,
              .sum = StepSum::products_first,
              .standing = Standing::predicted,
              .machines = "mi300a mi300x mi325x gfx942 cdna3",
              .source = source_of_rows::cdna3,
              .open = open_in_rows::cdna3},
    GemmModel{.name = "cdna3-xf32",
              .operands = "tf32",
              .products = 4,
              .fraction_bits = 24,
              .rounding = Rounding::nearest_even,
              .sum = StepSum::products_first,
              .standing = Standing::predicted,
              .machines = "mi300a mi300x mi325x gfx942 cdna3",
              .source = source_of_rows::cdna3,
              .open = open_in_rows::cdna3},
    GemmModel{.name = "cdna3-fp8",
              .operands = "e4m3fnuz e5m2fnuz",
              .products = 16,
              .fraction_bits = 24,
              .rounding = Rounding::nearest_even,
              .sum = StepSum::even_and_odd,
              .standing = Standing::predicted,
              .machines = "mi300a mi300x mi325x gfx942 cdna3",
              .source = source_of_rows::cdna3,
              .open = open_in_rows::cdna3},
    // What a loop of plain code computes: one fused multiply-add a product, in the order of k. With
    // block scales the factors are scaled first, which is exact. A product that is split along k,
    // so that its parts stay in a cache, adds the sums of the parts.
    GemmModel{.name = "fma-chain",
              .operands = "f32 f16 bf16 e4m3 e5m2 e3m2 e2m3 e2m1",
              .products = 1,
              .fraction_bits = all_bits,
              .rounding = Rounding::nearest_even,
              .standing = Standing::verified_here,
              .machines = "cpu mi100 mi210 mi250 mi300a mi300x arm-fp8 feat_fp8fma",
              .source = "device/cpu, algorithm fma-chain; IEEE 754-2019 section 5.4.1; of AMD's "
                        "MFMA of f32: microsoft/MMA-Sim@e11f6a7:src/mmasim/mmasim/amd/sim.py"},
    GemmModel{.name = "fma-chain-mx",
              .operands = "e4m3 e5m2 e3m2 e2m3 e2m1",
              .products = 1,
              .fraction_bits = all_bits,
              .rounding = Rounding::nearest_even,
              .scaling = BlockScaling::product_exponent,
              .scales = "e8m0 ue4m3",
              .blocks = "16 32",
              .standing = Standing::verified_here,
              .machines = "cpu",
              .source = "device/cpu, algorithm fma-chain"},
    GemmModel{.name = "fma-parts",
              .operands = "f32 f16 bf16 e4m3 e5m2 e3m2 e2m3 e2m1",
              .products = 1,
              .fraction_bits = all_bits,
              .rounding = Rounding::nearest_even,
              .promotion = 256,
              .standing = Standing::verified_here,
              .machines = "cpu",
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
              .machines = "cpu",
              .source = "device/cpu, algorithm fma-parts"},
    // Instructions of processors. VDPBF16PS and VDPPHPS: pairs of 16-bit factors.
    GemmModel{.name = "vdpbf16ps",
              .operands = "bf16",
              .products = 2,
              .fraction_bits = all_bits,
              .rounding = Rounding::nearest_even,
              .sum = StepSum::chain_flushed,
              .standing = Standing::verified_here,
              .machines = "avx512-bf16 avx10.2 zen4 zen5 cooper-lake sapphire-rapids "
                          "granite-rapids diamond-rapids",
              .source = "Intel SDM volume 2, VDPBF16PS, Operation; an AMD EPYC of the Zen 4 kind; "
                        "bochs-emu/Bochs@783b58fd6:bochs/cpu/avx/avx512_bf16.cc"},
    GemmModel{.name = "vdpphps",
              .operands = "f16",
              .products = 2,
              .fraction_bits = all_bits,
              .rounding = Rounding::nearest_even,
              .sum = StepSum::chain_flushed,
              .standing = Standing::simulated,
              .machines = "avx10.2 diamond-rapids",
              .source = "bochs-emu/Bochs@783b58fd6:bochs/cpu/avx/avx10_2_misc.cc, VDPPHPS"},
    // Tiles of AMX. One instruction takes 64 bytes along K of each row.
    GemmModel{.name = "amx-half",
              .operands = "bf16 f16",
              .products = 32,
              .fraction_bits = all_bits,
              .rounding = Rounding::nearest_even,
              .sum = StepSum::lanes_flushed,
              .standing = Standing::simulated,
              .machines = "amx-bf16 amx-fp16 sapphire-rapids granite-rapids diamond-rapids",
              .source = source_of_rows::amx,
              .open = open_in_rows::amx_half},
    GemmModel{.name = "amx-fp8",
              .operands = "e4m3 e5m2",
              .products = 64,
              .fraction_bits = all_bits,
              .rounding = Rounding::nearest_even,
              .exponents = FactorExponents::f16,
              .sum = StepSum::lanes_flushed,
              .standing = Standing::simulated,
              .machines = "amx-fp8 diamond-rapids",
              .source = "bochs-emu/Bochs@783b58fd6:bochs/cpu/avx/amx.cc, TDPBF8PS, TDPHF8PS, "
                        "TDPBHF8PS and TDPHBF8PS",
              .open = open_in_rows::amx_fp8},
    // Arm: FDOT of four and FMMLA of eight to binary32, FMLAL of one, FDOT of two and FMMLA of four
    // to binary16. FMLALL, of one to binary32, is fma-chain.
    GemmModel{.name = "arm-fp8-dot4",
              .operands = "e4m3 e5m2",
              .products = 4,
              .fraction_bits = all_bits,
              .rounding = Rounding::nearest_even,
              .sum = StepSum::fused,
              .standing = Standing::simulated,
              .machines = "arm-fp8 feat_fp8dot4 sme_f8f32",
              .source = source_of_rows::arm,
              .open = open_in_rows::arm_zeros},
    GemmModel{.name = "arm-fp8-mmla8",
              .operands = "e4m3 e5m2",
              .products = 8,
              .fraction_bits = all_bits,
              .rounding = Rounding::nearest_even,
              .sum = StepSum::fused,
              .standing = Standing::predicted,
              .machines = "arm-fp8 feat_f8f32mm",
              .source = source_of_rows::arm,
              .open = open_in_rows::arm_zeros},
    GemmModel{.name = "arm-fp8-mlal-f16",
              .operands = "e4m3 e5m2",
              .products = 1,
              .fraction_bits = all_bits,
              .accumulator = formats::f16,
              .rounding = Rounding::nearest_even,
              .sum = StepSum::fused,
              .standing = Standing::simulated,
              .machines = "arm-fp8 feat_fp8fma",
              .source = source_of_rows::arm,
              .open = open_in_rows::arm_zeros},
    GemmModel{.name = "arm-fp8-dot2-f16",
              .operands = "e4m3 e5m2",
              .products = 2,
              .fraction_bits = all_bits,
              .accumulator = formats::f16,
              .rounding = Rounding::nearest_even,
              .sum = StepSum::fused,
              .standing = Standing::simulated,
              .machines = "arm-fp8 feat_fp8dot2 sme_f8f16",
              .source = source_of_rows::arm,
              .open = open_in_rows::arm_zeros},
    GemmModel{.name = "arm-fp8-mmla4-f16",
              .operands = "e4m3 e5m2",
              .products = 4,
              .fraction_bits = all_bits,
              .accumulator = formats::f16,
              .rounding = Rounding::nearest_even,
              .sum = StepSum::fused,
              .standing = Standing::predicted,
              .machines = "arm-fp8 feat_f8f16mm",
              .source = source_of_rows::arm,
              .open = open_in_rows::arm_zeros},
    // RISC-V's batched dot products, by the length of a vector register in bits: one holds 8 to a
    // byte, and log2 of their number are the guard bits beside 23.
    GemmModel{.name = "rvv-fp8-vlen128",
              .operands = "e4m3 e5m2",
              .products = 16,
              .fraction_bits = 27,
              .rounding = Rounding::to_odd,
              .sum = StepSum::products_alone,
              .cut = Rounding::to_odd,
              .standing = Standing::simulated,
              .machines = "zvfqbdot8f zvfqwbdota8f riscv",
              .source = source_of_rows::spike,
              .open = open_in_rows::bulk},
    GemmModel{.name = "rvv-fp8-vlen256",
              .operands = "e4m3 e5m2",
              .products = 32,
              .fraction_bits = 28,
              .rounding = Rounding::to_odd,
              .sum = StepSum::products_alone,
              .cut = Rounding::to_odd,
              .standing = Standing::simulated,
              .machines = "zvfqbdot8f zvfqwbdota8f riscv",
              .source = source_of_rows::spike,
              .open = open_in_rows::bulk},
    GemmModel{.name = "rvv-bf16-vlen256",
              .operands = "bf16",
              .products = 16,
              .fraction_bits = 27,
              .rounding = Rounding::to_odd,
              .sum = StepSum::products_alone,
              .cut = Rounding::to_odd,
              .standing = Standing::simulated,
              .machines = "zvfwbdot16bf zvfwbdota16bf riscv",
              .source = source_of_rows::spike,
              .open = open_in_rows::bulk},
};

// Returns nullptr when no row has that name.
constexpr const GemmModel* find_gemm_model(std::string_view name) {
    return find_named(gemm_models, name);
}

static_assert(std::ranges::all_of(gemm_models,
                                  [](const GemmModel& model) { return fault_of(model).empty(); }));

}  // namespace mx
