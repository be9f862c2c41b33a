// How it is known that a row of gemm_models.hpp adds as its machine does: see verification.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "reference/spec/verification.hpp"

namespace mx {
namespace verification_rows {

inline constexpr std::string_view tensor_cores = "conformance/vectors/tensor_cores.vectors";

}  // namespace verification_rows

// Entries of rows of gemm_models.hpp: those of which answers are kept. A row may stand in two
// entries, for what others recorded and for what this project asked.
inline constexpr std::array model_verifications{
    Verification{
        .rows = "volta-f16 volta-f16-f16",
        .known = Known::hardware,
        .versions = "",
        .library = "wmma, recorded by F. A. Khattak and M. Mikaitis",
        .place = "V100",
        .date = "",
        .compared = "5,000 dot products each",
        .paths = verification_rows::tensor_cores,
        .differed = "nothing",
    },
    Verification{
        .rows = "ampere-half ampere-f16-f16 ampere-tf32",
        .known = Known::hardware,
        .versions = "",
        .library = "mma, recorded by F. A. Khattak and M. Mikaitis",
        .place = "A100, A2, Ada, L40S",
        .date = "",
        .compared = "5,000 dot products of each machine",
        .paths = verification_rows::tensor_cores,
        .differed = "nothing",
    },
    Verification{
        .rows = "ada-fp8 ada-fp8-f16",
        .known = Known::hardware,
        .versions = "",
        .library = "mma, recorded by F. A. Khattak and M. Mikaitis",
        .place = "Ada, L40S",
        .date = "",
        .compared = "5,000 dot products of each machine",
        .paths = verification_rows::tensor_cores,
        .differed = "nothing",
    },
    Verification{
        .rows = "hopper-half hopper-f16-f16 hopper-tf32 hopper-fp8 mma-sync-fp8 mma-sync-fp8-f16",
        .known = Known::hardware,
        .versions = "",
        .library = "mma and wgmma, recorded by F. A. Khattak and M. Mikaitis",
        .place = "H100, H200, B200",
        .date = "",
        .compared = "5,000 dot products of each machine",
        .paths = verification_rows::tensor_cores,
        .differed = "nothing",
    },
    Verification{
        .rows = "hopper-half hopper-fp8 hopper-fp8-promoted hopper-fp8-1x128 hopper-fp8-128x128",
        .known = Known::hardware,
        .versions = "",
        .library = "cuBLASLt 13.1",
        .place = "H200",
        .date = "",
        .compared = "4.74e9 outputs, and recorded cases",
        .paths = "every algorithm of FP8, BF16 and FP16 products",
        .differed = "nothing",
        .answers = "nvidia_h200_gemm",
    },
    Verification{
        .rows = "hopper-half hopper-fp8 hopper-mx-bf16",
        .known = Known::run,
        .versions = "",
        .library = "Triton 3.6.0",
        .place = "H200",
        .date = "2026-11-29",
        .compared = "4,608 outputs",
        .paths = "tl.dot of BF16, FP16 and FP8, tl.dot_scaled of MXFP8",
        .differed = "nothing",
        .answers = "triton-gemm",
    },
    Verification{
        .rows = "hopper-half hopper-half-residue-16 hopper-f16-f16 hopper-tf32 hopper-fp8 "
                "hopper-fp8-promoted hopper-fp8-1x128 hopper-fp8-128x128 hopper-fp8-f16",
        .known = Known::run,
        .versions = "",
        .library = "NVIDIA/cutlass@7107b05, its kernels compiled for 9.0",
        .place = "H200",
        .date = "2026-11-30",
        .compared = "1.88 million outputs",
        .paths = "what its collective builder makes: cooperative, pingpong, cp.async, blockwise",
        .differed = "nothing",
        .answers = "cutlass-gemm",
    },
    Verification{
        .rows = "hopper-half hopper-fp8-128x128",
        .known = Known::run,
        .versions = "",
        .library = "deepseek-ai/DeepGEMM@54e2261, its kernels compiled for 9.0",
        .place = "H200",
        .date = "2026-11-30",
        .compared = "0.96 million outputs",
        .paths = "its 1D2D and 1D1D kernels of FP8 and that of BF16, five tiles",
        .differed = "nothing",
        .answers = "deepgemm-gemm",
    },
    Verification{
        .rows = "hopper-fp8-1x128",
        .known = Known::run,
        .versions = "",
        .library = "torchao 0.18.0, Triton 3.6.0",
        .place = "H200",
        .date = "2026-11-30",
        .compared = "57,312 outputs",
        .paths = "its Triton kernels of 1x128 x 128x1 and, with one row of B, of 1x128 x 128x128",
        .differed = "nothing",
        .answers = "torchao-kernels",
    },
    Verification{
        .rows = "hopper-half-residue-64 hopper-half-residue-128 hopper-half-k8-residue-32",
        .known = Known::hardware,
        .versions = "",
        .library = "cuBLASLt 13.1",
        .place = "H200",
        .date = "2026-11-30",
        .compared = "11,112 outputs of 89 algorithms, and recorded cases",
        .paths = "BF16 and FP16 products whose rows are no multiple of 16 bytes long (id=24)",
        .differed = "nothing",
        .answers = "nvidia_h200_residue",
    },
    Verification{
        .rows = "hopper-lanes-16",
        .known = Known::hardware,
        .versions = "",
        .library = "cuBLASLt 13.1",
        .place = "H200",
        .date = "2026-11-30",
        .compared = "216,796 outputs of 373 cases, of which some are recorded",
        .paths = "the same with 2 to 16 rows of A (id=11)",
        .differed = "nothing",
        .answers = "nvidia_h200_lanes",
    },
    Verification{
        .rows = "hopper-mx-wgmma hopper-mx-bf16 hopper-mx-slices",
        .known = Known::hardware,
        .versions = "",
        .library = "the device hopper of this project",
        .place = "H200",
        .date = "2026-11-30",
        .compared = "8.8e9 outputs, and recorded cases",
        .paths = "MXFP8, in three ways",
        .differed = "nothing",
        .answers = "nvidia_h200_mx",
    },
    Verification{
        .rows = "vdpbf16ps",
        .known = Known::hardware,
        .versions = "",
        .library = "VDPBF16PS",
        .place = "AMD EPYC (Zen 4)",
        .date = "2026-11-30",
        .compared = "90,000 dot products, and recorded cases",
        .paths = "random codes, NaN, Inf and subnormals among them, and sums that underflow",
        .differed = "nothing",
        .answers = "avx512-bf16",
    },
    Verification{
        .rows = "vdpbf16ps vdpphps amx-half amx-fp8",
        .known = Known::run,
        .versions = "",
        .library = "Bochs@783b58fd6, a simulator",
        .place = "CPU",
        .date = "2026-11-30",
        .compared = "6,000 dot products of each instruction, and recorded cases",
        .paths = "VDPBF16PS, VDPPHPS, TDPBF16PS, TDPFP16PS and the four of AMX-FP8",
        .differed = "TDPBF16PS where sums underflow: 87 of 6,000, a fault of Bochs's subtraction",
        .answers = "bochs-gemm",
    },
    Verification{
        .rows = "arm-fp8-dot4 arm-fp8-dot2-f16 arm-fp8-mlal-f16 fma-chain",
        .known = Known::run,
        .versions = "",
        .library = "QEMU 11.1.3, a simulator",
        .place = "CPU",
        .date = "2026-11-30",
        .compared = "20,000 dot products of each instruction, and recorded cases",
        .paths = "FDOT of four and of two, FMLAL and FMLALL of FP8",
        .differed = "nothing; one sum of more than 64 bits, made for it, does",
        .answers = "qemu-gemm",
    },
    Verification{
        .rows = "rvv-fp8-vlen128 rvv-fp8-vlen256 rvv-bf16-vlen256",
        .known = Known::run,
        .versions = "",
        .library = "Spike@55b4658d, a simulator",
        .place = "CPU",
        .date = "2026-11-30",
        .compared = "6,000 dot products of each pair of formats, and recorded cases",
        .paths = "what vfqbdot and vfwbdot call",
        .differed = "nothing",
        .answers = "spike-gemm",
    },
};

static_assert(std::ranges::all_of(model_verifications, is_whole));

// Of a row of gemm_models.hpp: its entries, in order.
inline std::string model_known_by(std::string_view model) {
    std::string text;
    for (const Verification& entry : model_verifications)
        if (lists(entry.rows, model)) text += (text.empty() ? "" : " | ") + text_of(entry);
    return text.empty() ? "no answers of it are kept" : text;
}

}  // namespace mx
