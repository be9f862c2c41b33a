// How it is known that a row of the quantizer table gives the bits that its name promises: a run of
// the library itself, answers of hardware, or no more than a reading of its source. Printed by
// `list`, `explain` and with each failure; model_verification.hpp has it of gemm_models.hpp.
//
// An entry says what was run and seen, and no more. Where no date was kept there is none.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "reference/spec/gemm_model.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx {

enum class Known {
    read,      // from the source or a document: nothing of the library was run
    run,       // the library's own code was run and its bits compared
    hardware,  // a machine's instructions or a vendor's code on it answered
};

constexpr std::string_view name_of(Known known) {
    return known == Known::read ? "read" : known == Known::run ? "run" : "hardware";
}

// What of a row was compared, and of what its answers are kept. The rest of it was read.
enum class Covers {
    all,
    scales,  // not the elements
    finite,  // blocks, or whole tensors where they have a number, without a NaN and an infinity
};

struct Verification {
    std::string_view rows;  // of the quantizer table, separated by blanks: they share the run
    Known known;
    std::string_view versions;  // of the library, that the rows hold for; "" for that of the source
    std::string_view library;   // with version or commit; "" where it was read
    std::string_view place;
    std::string_view date;      // of the run, "" where none was kept
    std::string_view compared;  // how much
    std::string_view paths;     // which code of the library, and which it leaves out
    std::string_view differed;  // what was not equal; "nothing"
    // Files of conformance/vectors with answers of that library, NAME.answers each, which every
    // test run compares again; separated by blanks.
    std::string_view answers = "";
    Covers covers = Covers::all;
};

namespace verification_rows {

inline constexpr std::string_view torchao_paths =
    "to_mx, 5 formats, f32 and bf16, blocks along rows";
inline constexpr std::string_view reference_paths = "its PyTorch reference, finite inputs";

constexpr Verification read(std::string_view rows, std::string_view versions = "",
                            std::string_view paths = "") {
    return {.rows = rows,
            .known = Known::read,
            .versions = versions,
            .library = "",
            .place = "",
            .date = "",
            .compared = "",
            .paths = paths,
            .differed = ""};
}

}  // namespace verification_rows

inline constexpr std::array verifications{
    verification_rows::read("ocp", "", "the standard's own text"),

    // NVIDIA.
    verification_rows::read("nv", "",
                            "its casts are those of cuda-e8m0-rp-satfinite and of the elements, "
                            "which an H100 answered for every input; the kernels were not run"),
    verification_rows::read(
        "te-specialised te-cutedsl cudnn cublaslt flashinfer-cute thunderkittens"),
    verification_rows::read("flashinfer", "", "its approximate reciprocal was measured on sm_90"),
    Verification{
        .rows = "megatron-round-up",
        .known = Known::run,
        .versions = "",
        .library = "NVIDIA/Megatron-LM@d98e8a6, Triton 3.6.0",
        .place = "an H200",
        .date = "2026-11-29",
        .compared = "1.23 MB, and 2.78 MB of triton_kernels in vLLM 0.33.0",
        .paths = "its kernel, f32, bf16 and f16; in Triton's interpreter the scales alone",
        .differed = "partial blocks of NaN alone in triton_kernels, whose padding gives them "
                    "another scale; 13 blocks with a NaN in the interpreter",
        .answers = "megatron megatron-gpu triton-kernels-gpu",
    },
    verification_rows::read("triton-round-down", "from 018a674 on"),
    Verification{
        .rows = "triton-round-down-legacy",
        .known = Known::run,
        .versions = "until 0616e64",
        .library = "triton_kernels in vLLM 0.33.0, Triton 3.6.0",
        .place = "an H200",
        .date = "2026-11-29",
        .compared = "2.78 MB",
        .paths = "downcast_to_mxfp on a GPU, f32, bf16 and f16",
        .differed = "partial blocks of NaN alone, which its padding gives another scale",
        .answers = "triton-kernels-gpu",
    },
    Verification{
        .rows = "model-optimizer",
        .known = Known::run,
        .versions = "",
        .library = "nvidia-modelopt 0.47.0",
        .place = "CPU",
        .date = "",
        .compared = "3.65 MB",
        .paths = "f32 and bf16",
        .differed = "nothing",
        .answers = "modelopt",
    },
    Verification{
        .rows = "model-optimizer-cuda",
        .known = Known::run,
        .versions = "",
        .library = "nvidia-modelopt 0.47.0, torch 2.11.0",
        .place = "an H200",
        .date = "2026-11-29",
        .compared = "0.73 MB",
        .paths = "MXFP8QTensor, f32",
        .differed = "codes of NaN and blocks with Inf, which are open",
        .answers = "modelopt-gpu",
    },

    // Written in PyTorch.
    Verification{
        .rows = "torchao-floor torchao-ceil torchao-even torchao-rceil",
        .known = Known::run,
        .versions = "from August 2026 on",
        .library = "pytorch/ao@36027d82d",
        .place = "CPU",
        .date = "2026-11-21",
        .compared = "73.1 MB, and recorded cases",
        .paths = verification_rows::torchao_paths,
        .differed = "nothing",
        .answers = "torchao",
    },
    Verification{
        .rows = "torchao-rceil-legacy",
        .known = Known::run,
        .versions = "until 0.18.0",
        .library = "torchao 0.18.0",
        .place = "CPU",
        .date = "2026-11-21",
        .compared = "18.3 MB, and recorded cases",
        .paths = verification_rows::torchao_paths,
        .differed = "nothing",
        .answers = "torchao-0.18",
    },
    Verification{
        .rows = "torchao-rceil-legacy-cuda",
        .known = Known::run,
        .versions = "until 0.18.0",
        .library = "torchao 0.18.0, torch 2.11.0",
        .place = "an H200",
        .date = "2026-11-29",
        .compared = "4.13 MB",
        .paths = "to_mx, 5 formats, f32 and bf16",
        .differed = "codes of NaN of FP6 and FP4, which are open",
        .answers = "torchao-gpu",
    },
    Verification{
        .rows = "torchao-floor-legacy",
        .known = Known::run,
        .versions = "until 0.18.0",
        .library = "torchao 0.18.0",
        .place = "CPU",
        .date = "2026-11-21",
        .compared = "18.3 MB, and recorded cases",
        .paths = verification_rows::torchao_paths,
        .differed = "sign and payload of a NaN, which are open",
        .answers = "torchao-0.18",
    },
    Verification{
        .rows = "torchao-ceil-legacy torchao-even-legacy",
        .known = Known::run,
        .versions = "until 0.18.0",
        .library = "torchao 0.18.0 with PyTorch 2.15.0",
        .place = "CPU",
        .date = "2026-11-24",
        .compared = "48 recorded cases",
        .paths = verification_rows::torchao_paths,
        .differed = "codes of NaN, which are open",
        .answers = "torchao-0.18-legacy",
    },
    Verification{
        .rows = "deepgemm",
        .known = Known::run,
        .versions = "with torch 2.12 and later",
        .library = "deepseek-ai/DeepGEMM@54e2261 with torch 2.15.0",
        .place = "CPU",
        .date = "",
        .compared = "3.65 MB",
        .paths = "per_token_cast_to_fp8",
        .differed = "nothing",
        .answers = "deepgemm",
    },
    Verification{
        .rows = "deepgemm-fp4",
        .known = Known::run,
        .versions = "from #364 on",
        .library = "deepseek-ai/DeepGEMM@54e2261 with torch 2.15.0",
        .place = "CPU",
        .date = "",
        .compared = "3.65 MB",
        .paths = "per_token_cast_to_fp4",
        .differed = "nothing",
        .answers = "deepgemm",
    },
    Verification{
        .rows = "deepgemm-legacy",
        .known = Known::run,
        .versions = "with torch before 2.12",
        .library = "deepseek-ai/DeepGEMM@54e2261, torch 2.11.0",
        .place = "CPU and an H200",
        .date = "2026-11-29",
        .compared = "2.45 MB",
        .paths = "f32, bf16 and f16",
        .differed = "on a GPU the sign of a NaN, which the cast drops",
        .answers = "deepgemm-legacy deepgemm-gpu",
    },
    verification_rows::read("deepgemm-fp4-legacy", "before #364"),
    Verification{
        .rows = "compressed-tensors",
        .known = Known::run,
        .versions = "",
        .library = "compressed-tensors 0.20.0",
        .place = "CPU",
        .date = "",
        .compared = "203 thousand scales",
        .paths = "generate_mx_scales",
        .differed = "scales outside of a byte, which are open",
        .answers = "compressed-tensors",
    },

    // AMD.
    Verification{
        .rows = "quark-even",
        .known = Known::run,
        .versions = "",
        .library = "amd-quark 0.13",
        .place = "CPU",
        .date = "",
        .compared = "554 thousand scales, 7.1 million values",
        .paths = "even_round, fake_quantize_mx and its C++ operator",
        .differed = "signs of zero, which are open",
        .answers = "quark",
    },
    Verification{
        .rows = "quark-even-packed",
        .known = Known::run,
        .versions = "",
        .library = "amd-quark 0.13",
        .place = "CPU",
        .date = "",
        .compared = "1.46 MB",
        .paths = "_quant_to_ocp_mxfp4",
        .differed =
            "nothing but what the row was made for, NaN and Inf, of which it holds the witnesses",
        .answers = "quark",
    },
    Verification{
        .rows = "aiter-roundup aiter-rounddown aiter-ceil",
        .known = Known::run,
        .versions = "",
        .library = "ROCm/aiter@e404860",
        .place = "CPU",
        .date = "2026-11-26",
        .compared = "464 thousand scales each, and recorded cases",
        .paths = "scales by mx_quant_utils.h compiled for a CPU; elements of FP4 by "
                 "per_1x32_f4_quant, but not under scale 0",
        .differed = "nothing",
        .answers = "aiter aiter-torch",
        .covers = Covers::scales,
    },
    Verification{
        .rows = "aiter-even",
        .known = Known::run,
        .versions = "",
        .library = "ROCm/aiter@e404860",
        .place = "mx_quant_utils.h compiled for a CPU",
        .date = "",
        .compared = "464 thousand scales",
        .paths = "the scales; elements are an instruction",
        .differed = "nothing but what the row was mended for, of which it holds the witnesses",
        .answers = "aiter",
        .covers = Covers::scales,
    },
    Verification{
        .rows = "aiter-even-torch",
        .known = Known::run,
        .versions = "",
        .library = "ROCm/aiter@e404860 with PyTorch 2.15.0",
        .place = "CPU",
        .date = "2026-11-26",
        .compared = "recorded cases",
        .paths = "f32_to_mx_e8m0_scale, and per_1x32_f4_quant for the elements of FP4",
        .differed = "nothing",
        .answers = "aiter-torch",
    },
    verification_rows::read("vllm-rocm-53110"),

    // Other libraries.
    Verification{
        .rows = "microxcaling",
        .known = Known::run,
        .versions = "",
        .library = "microsoft/microxcaling@7bc4195 with PyTorch 2.15.0",
        .place = "CPU",
        .date = "2026-11-24",
        .compared = "8.5 million values, and 33 recorded cases",
        .paths = "its Python, 6 formats",
        .differed = "signs of zero, which are open",
        .answers = "microxcaling",
    },
    Verification{
        .rows = "microxcaling-cuda",
        .known = Known::run,
        .versions = "",
        .library = "microsoft/microxcaling@7bc4195",
        .place = "its headers compiled for a CPU",
        .date = "2026-11-26",
        .compared = "8.5 million values",
        .paths = "",
        .differed = "elements of a NaN, whose payload a GPU makes another",
        .answers = "microxcaling-cuda",
    },
    Verification{
        .rows = "gfloat",
        .known = Known::run,
        .versions = "",
        .library = "gfloat 0.5.2",
        .place = "CPU",
        .date = "2026-11-21",
        .compared = "recorded cases",
        .paths = "quantize_block",
        .differed = "codes of NaN, which are open",
        .answers = "gfloat",
    },
    Verification{
        .rows = "fbgemm-floor fbgemm-even fbgemm-ceil",
        .known = Known::run,
        .versions = "",
        .library = "pytorch/FBGEMM@71d6f8b, Triton 3.6.0",
        .place = "an H200, and Triton's interpreter on a CPU",
        .date = "2026-11-29",
        .compared = "0.17 MB each on the GPU, 1.26 MB each",
        .paths = "the Triton kernel; answers kept of py_quantize_mx4, which has other bits for NaN "
                 "and off its floor(log2f)",
        .differed = "nothing on the GPU; in the interpreter blocks with a signalling NaN",
        .answers = "fbgemm fbgemm-gpu",
        .covers = Covers::finite,
    },
    verification_rows::read("fbgemm-nearest"),
    Verification{
        .rows = "universal universal-e8m0",
        .known = Known::run,
        .versions = "",
        .library = "stillwater-sc/universal@e6aa357",
        .place = "CPU, g++ 12.2, glibc 2.36",
        .date = "2026-11-24",
        .compared = "19 recorded cases",
        .paths = "not below 2^(emax - 127), where it divides by what no byte holds",
        .differed = "nothing",
        .answers = "universal",
    },
    Verification{
        .rows = "onednn",
        .known = Known::run,
        .versions = "",
        .library = "uxlfoundation/oneDNN@3f27bec",
        .place = "CPU",
        .date = "",
        .compared = "7.3 MB",
        .paths = "its float8.cpp, with ref_matmul's loop written again around it",
        .differed =
            "NaN, which the clamp before the cast makes the most negative value; its code is open",
        .answers = "onednn",
        .covers = Covers::finite,
    },
    Verification{
        .rows = "ggml",
        .known = Known::run,
        .versions = "",
        .library = "gguf 0.19.0",
        .place = "CPU",
        .date = "2026-11-26",
        .compared = "recorded cases",
        .paths = "gguf.quants.quantize, MXFP4; on 2026-11-30 quantize_row_mxfp4_ref of ggml in "
                 "llama_cpp_python 0.3.36, but where the byte wraps",
        .differed = "nothing",
        .answers = "gguf",
    },
    Verification{
        .rows = "mlx-fp4 mlx-fp8",
        .known = Known::run,
        .versions = "",
        .library = "MLX 0.32.4",
        .place = "CPU",
        .date = "2026-11-26",
        .compared = "recorded cases",
        .paths = "mx.quantize on the CPU, modes mxfp4 and mxfp8, f32",
        .differed = "nothing",
        .answers = "mlx",
    },

    // Casts to E8M0.
    Verification{
        .rows = "cuda-e8m0-rp-satfinite cuda-e8m0-rp cuda-e8m0-rz-satfinite cuda-e8m0-rz",
        .known = Known::hardware,
        .versions = "",
        .library = "CUDA 13.0 cuda_fp8.h",
        .place = "H100, driver 580.159.04",
        .date = "2026-11-21",
        .compared = "every code of the input types",
        .paths = "software of the header on sm_90",
        .differed = "nothing",
    },
    Verification{
        .rows = "cutlass-host",
        .known = Known::run,
        .versions = "",
        .library = "NVIDIA/cutlass@7107b05",
        .place = "float8.h compiled for a CPU",
        .date = "",
        .compared = "4.1 million casts",
        .paths = "",
        .differed = "nothing",
        .answers = "cutlass",
    },
    Verification{
        .rows = "pytorch-e8m0",
        .known = Known::run,
        .versions = "",
        .library = "PyTorch 2.15.0",
        .place = "CPU",
        .date = "",
        .compared = "4.1 million casts",
        .paths = "",
        .differed = "nothing",
        .answers = "torch",
    },
    Verification{
        .rows = "onnx-up onnx-nearest",
        .known = Known::run,
        .versions = "",
        .library = "onnx 1.23.2",
        .place = "CPU",
        .date = "",
        .compared = "4.1 million casts each",
        .paths = "numpy_helper and ReferenceEvaluator",
        .differed = "nothing",
        .answers = "onnx",
    },
    Verification{
        .rows = "ml_dtypes",
        .known = Known::run,
        .versions = "",
        .library = "ml_dtypes 0.6.0",
        .place = "CPU",
        .date = "2026-11-21",
        .compared = "4.1 million casts, and recorded cases",
        .paths = "",
        .differed = "nothing",
        .answers = "ml_dtypes",
    },
    Verification{
        .rows = "gfloat-e8m0",
        .known = Known::run,
        .versions = "",
        .library = "gfloat 0.5.2",
        .place = "CPU",
        .date = "",
        .compared = "2.06 million casts",
        .paths = "",
        .differed =
            "values below 2^-127, which are open, and negative ones, whose byte wraps around",
        .answers = "gfloat",
    },

    // NVFP4.
    Verification{
        .rows = "te-nvfp4",
        .known = Known::run,
        .versions = "",
        .library = "NVIDIA/TransformerEngine@d0067d0",
        .place = "CPU",
        .date = "",
        .compared = "2.9 million codes, 179 thousand scales",
        .paths = verification_rows::reference_paths,
        .differed = "-0, which the reference does not have",
        .answers = "transformer-engine",
        .covers = Covers::finite,
    },
    Verification{
        .rows = "te-nvfp4-4over6-mae te-nvfp4-4over6-mse te-nvfp4-4over6-448",
        .known = Known::run,
        .versions = "",
        .library = "NVIDIA/TransformerEngine@d0067d0",
        .place = "CPU",
        .date = "",
        .compared = "3.8 million codes, 231 thousand scales",
        .paths = verification_rows::reference_paths,
        .differed = "-0, which the reference does not have",
        .answers = "transformer-engine",
        .covers = Covers::finite,
    },
    verification_rows::read("te-nvfp4-fast te-nvfp4-sr te-nvfp4-rht"),
    Verification{
        .rows = "torchao-nvfp4 torchao-nvfp4-single",
        .known = Known::run,
        .versions = "",
        .library = "torchao 0.18.0",
        .place = "CPU",
        .date = "",
        .compared = "5.3 MB",
        .paths = "finite inputs",
        .differed = "nothing",
        .answers = "torchao-nvfp4",
        .covers = Covers::finite,
    },
    Verification{
        .rows = "torchao-nvfp4-gpu torchao-nvfp4-single-gpu",
        .known = Known::run,
        .versions = "",
        .library = "torchao 0.18.0, torch 2.11.0",
        .place = "an H200",
        .date = "2026-11-29",
        .compared = "0.35 MB each",
        .paths = "nvfp4_quantize, f32 and bf16",
        .differed = "codes of NaN, which are open, and of torchao-nvfp4-gpu elements of tensors "
                    "with an infinity or of subnormals alone",
        .answers = "torchao-gpu",
        .covers = Covers::finite,
    },
    Verification{
        .rows = "mlx-nvfp4",
        .known = Known::run,
        .versions = "",
        .library = "MLX 0.32.4",
        .place = "CPU",
        .date = "2026-11-29",
        .compared = "0.10 MB",
        .paths = "mx.quantize, mode nvfp4, f32, an even number of blocks",
        .differed = "elements 2^25 times a scale at its limit and more, which become less or 0",
        .answers = "mlx",
        .covers = Covers::finite,
    },
    verification_rows::read("cublaslt-nvfp4"),
    Verification{
        .rows = "alto-nvfp4 alto-nvfp4-block",
        .known = Known::run,
        .versions = "",
        .library = "AMD-AGI/ALTO@74e251d",
        .place = "CPU",
        .date = "2026-11-28",
        .compared = "0.17 MB",
        .paths = "the PyTorch reference of its tests, blocks of 1x16, finite inputs",
        .differed = "nothing",
        .answers = "alto",
        .covers = Covers::finite,
    },
    Verification{
        .rows = "alto-amdfp4 alto-amdfp4-block",
        .known = Known::run,
        .versions = "",
        .library = "AMD-AGI/ALTO@74e251d",
        .place = "Triton's interpreter on a CPU",
        .date = "2026-11-28",
        .compared = "0.39 MB",
        .paths = "its kernel, blocks of 1x16",
        .differed = "elements of NaN, and blocks with a signalling NaN; both are open",
        .answers = "alto",
    },

    // FP8 under binary32 scales.
    Verification{
        .rows = "te-fp8-block te-fp8-block-pow2",
        .known = Known::run,
        .versions = "",
        .library = "NVIDIA/TransformerEngine@d0067d0, compiled for 9.0",
        .place = "an H200, and a CPU",
        .date = "2026-11-29",
        .compared = "13.1 MB each on the GPU, 17.4 MB",
        .paths = "its kernels, NaN and Inf among the values; its PyTorch reference, blocks of "
                 "1x128, finite inputs",
        .differed = "nothing",
        .answers = "transformer-engine transformer-engine-gpu",
        .covers = Covers::finite,
    },
    Verification{
        .rows = "te-fp8-current te-fp8-current-pow2 te-fp8-delayed",
        .known = Known::run,
        .versions = "",
        .library = "NVIDIA/TransformerEngine@d0067d0, compiled for 9.0",
        .place = "an H200",
        .date = "2026-11-29",
        .compared = "2.76 MB each",
        .paths = "its kernels through nvte_quantize",
        .differed = "nothing",
        .answers = "transformer-engine-gpu",
    },
    Verification{
        .rows = "torchao-fp8-block",
        .known = Known::run,
        .versions = "",
        .library = "torchao 0.18.0, Triton 3.6.0",
        .place = "an H200",
        .date = "2026-11-30",
        .compared = "2.4 MB",
        .paths = "its Triton kernels of 1x128 and of tiles of 128x128, finite inputs",
        .differed = "nothing",
        .answers = "torchao-kernels",
        .covers = Covers::finite,
    },
    verification_rows::read("nexus"),
    Verification{
        .rows = "deepgemm-fp8",
        .known = Known::run,
        .versions = "",
        .library = "deepseek-ai/DeepGEMM@54e2261 with torch 2.15.0",
        .place = "CPU",
        .date = "",
        .compared = "4.4 MB",
        .paths = "blocks of 1x128, f32, finite inputs",
        .differed = "nothing",
        .answers = "deepgemm",
        .covers = Covers::finite,
    },
    Verification{
        .rows = "deepgemm-fp8-pow2",
        .known = Known::run,
        .versions = "with torch 2.12 and later",
        .library = "deepseek-ai/DeepGEMM@54e2261 with torch 2.15.0",
        .place = "CPU",
        .date = "",
        .compared = "4.4 MB",
        .paths = "blocks of 1x128, f32",
        .differed = "nothing but what the row was mended for, infinities",
        .answers = "deepgemm",
    },
    Verification{
        .rows = "deepgemm-fp8-pow2-legacy",
        .known = Known::run,
        .versions = "with torch before 2.12",
        .library = "deepseek-ai/DeepGEMM@54e2261, torch 2.11.0",
        .place = "CPU",
        .date = "2026-11-29",
        .compared = "0.42 MB",
        .paths = "blocks of 1x128, f32",
        .differed = "codes of NaN, which are open",
        .answers = "deepgemm-legacy",
        .covers = Covers::finite,
    },
    Verification{
        .rows = "deepgemm-fp8-gpu deepgemm-fp8-pow2-gpu",
        .known = Known::run,
        .versions = "",
        .library = "deepseek-ai/DeepGEMM@54e2261, torch 2.11.0",
        .place = "an H200",
        .date = "2026-11-29",
        .compared = "0.42 MB each",
        .paths = "blocks of 1x128, f32",
        .differed = "nothing",
        .answers = "deepgemm-gpu",
        .covers = Covers::finite,
    },

    // Instructions of processors.
    Verification{
        .rows = "avx10-fp8",
        .known = Known::run,
        .versions = "",
        .library = "bochs-emu/Bochs@783b58fd6",
        .place = "CPU",
        .date = "2026-11-30",
        .compared = "every code of f16, of the biased forms with every byte: 67.4 million answers",
        .paths = "its conversion functions, saturating and not; no processor was asked",
        .differed = "nothing",
        .answers = "bochs",
    },
    Verification{
        .rows = "arm-fp8",
        .known = Known::run,
        .versions = "",
        .library = "QEMU 11.1.3 (Debian 1:11.1.3+ds-1)",
        .place = "CPU",
        .date = "2026-11-30",
        .compared = "every code of f16 and bf16, borders of f32",
        .paths = "FCVTN, FCVTN2 and BFCVTN by qemu-aarch64, saturating and not; no processor was "
                 "asked, and no scale in FPMR",
        .differed = "nothing",
        .answers = "qemu-arm",
    },
    Verification{
        .rows = "riscv-fp8",
        .known = Known::run,
        .versions = "",
        .library = "riscv-software-src/riscv-isa-sim@55b4658db",
        .place = "CPU",
        .date = "2026-11-30",
        .compared = "every code of f32 and bf16 in five roundings",
        .paths = "the SoftFloat functions of vfncvt.f.f.q and vfncvtbf16.f.f.w, saturating and not",
        .differed = "nothing",
        .answers = "spike",
    },
};

// nullptr where no entry names the row, which a test forbids.
constexpr const Verification* find_verification(std::string_view row) {
    for (const Verification& entry : verifications)
        if (lists(entry.rows, row)) return &entry;
    return nullptr;
}

// A run says what was run, where, and how much was compared. That each row has one entry is a test:
// it would cost Clang more steps than it takes in one expression.
constexpr bool is_whole(const Verification& entry) {
    const bool is_run = entry.known != Known::read;
    return is_run == !entry.library.empty() && is_run == !entry.place.empty() &&
           is_run == !entry.compared.empty() && is_run == !entry.differed.empty();
}
static_assert(std::ranges::all_of(verifications, is_whole));

// "run: torchao 0.18.0, valid until 0.18.0, CPU, 2026-11-21; compared: 18.3 MB; ..."
inline std::string text_of(const Verification& v) {
    std::string text(name_of(v.known));
    const auto add = [&text](std::string_view before, std::string_view part) {
        if (!part.empty()) text += std::string(before) + std::string(part);
    };
    if (v.known == Known::read) {
        add(", valid ", v.versions);
        add("; ", v.paths);
        return text;
    }
    add(": ", v.library);
    add(", valid ", v.versions);
    add(", ", v.place);
    add(", ", v.date);
    add("; compared: ", v.compared);
    add("; ", v.paths);
    add("; differed: ", v.differed);
    add("; answers kept: ", v.answers);
    return text;
}

// What is printed of a row. A row without an entry says so, and fails a test.
inline std::string known_by(std::string_view row) {
    const Verification* entry = find_verification(row);
    return entry == nullptr ? "not said" : text_of(*entry);
}

}  // namespace mx
