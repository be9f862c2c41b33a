// See gemm_check.hpp: what can be said without a GPU.
#include "conformance/sweep/gemm_check.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::sweep {
namespace {

bool is_fp8(const FactorType& factor) {
    return factor.element == formats::e4m3 || factor.element == formats::e5m2;
}

// The name of the row, "" where there is none.
std::string row_name(const GemmProblem& gemm) {
    using enum FactorScaling;
    const FactorType &a = gemm.a, &b = gemm.b;
    const bool is_half =
        a.element == b.element && (a.element == formats::bf16 || a.element == formats::f16);
    if (is_half) return a.scaling == none ? "hopper-half" : "";
    if (!is_fp8(a) || !is_fp8(b)) return "";
    const bool by_row = a.scaling == f32_1x128, by_tile = a.scaling == f32_128x128;
    const bool b_by_row = b.scaling == f32_1x128, b_by_tile = b.scaling == f32_128x128;
    if (by_row && b_by_row) return "hopper-fp8-1x128";
    if ((by_row && b_by_tile) || (by_tile && b_by_row)) return "hopper-fp8-128x128";
    if (row_of(a.scaling).block != 0 || a.scaling != b.scaling) return "";
    return gemm.accumulation == Accumulation::fast ? "hopper-fp8" : "hopper-fp8-promoted";
}

// The row for what device/hopper does with MX factors.
std::string mx_row_name(const GemmProblem& gemm, const std::string& algorithm) {
    if (gemm.b.scaling != FactorScaling::e8m0_1x32 || !is_fp8(gemm.a) || !is_fp8(gemm.b)) return "";
    if (algorithm == "wgmma") return "hopper-mx-wgmma";
    if (algorithm == "slices-of-32") return "hopper-mx-slices";
    return algorithm == "dequantised-bf16" ? "hopper-mx-bf16" : "";
}

// Kernels of this number are no tensor-core kernels.
bool is_fma_kernel(const std::string& algorithm) {
    return algorithm.starts_with("id=16,") || algorithm.find(",id=16,") != std::string::npos;
}

TensorSpecs specs_of(const Problem& p) {
    TensorSpecs specs;
    for (const GemmTensor& tensor : tensors_of(p))
        (tensor.part == GemmPart::d ? specs.outputs : specs.inputs).push_back(tensor.spec);
    return specs;
}

}  // namespace

std::string text_of(const DrawnGemm& asked) {
    const GemmProblem& gemm = asked.gemm;
    const auto scales = [](const FactorType& factor) {
        const bool has_scales = factor.scaling != FactorScaling::none;
        return has_scales ? std::string(name_of(factor.scaling)) : "none";
    };
    std::string text = std::string(gemm.a.element.name) + " x " + std::string(gemm.b.element.name) +
                       " to " + std::string(gemm.output.element.name) + ", scales " +
                       scales(gemm.a) + " x " + scales(gemm.b) + ", ";
    if (gemm.batches != 1) text += std::to_string(gemm.batches) + " of ";
    text += std::to_string(gemm.m) + "x" + std::to_string(gemm.n) + "x" + std::to_string(gemm.k) +
            ", " + std::string(gemm_data_names[static_cast<std::size_t>(asked.draw.data)]);
    if (gemm.alpha != 0x3F800000) text += ", alpha";
    if (gemm.reads_c()) text += ", C";
    if (gemm.epilogue != EpilogueSteps{}) text += ", " + std::string(name_of(gemm.epilogue));
    if (gemm.accumulation == Accumulation::fast) text += ", fast";
    return text;
}

Expected<GemmModelled> modelled(const DrawnGemm& asked, const std::string& algorithm,
                                int architecture) {
    const GemmProblem& gemm = asked.gemm;
    const auto unknown = [](const std::string& what) {
        return bad_input("no model is known of " + what);
    };
    if (architecture != 90)
        return unknown("cuBLASLt on sm_" + std::to_string(architecture) + ": UNVERIFIED");
    const bool is_mx = gemm.a.scaling == FactorScaling::e8m0_1x32;
    // The check on the GPU knows one kind of scales for both factors.
    if (is_mx != (gemm.b.scaling == FactorScaling::e8m0_1x32)) return unknown(text_of(asked));
    std::string name = is_mx ? mx_row_name(gemm, algorithm) : row_name(gemm);
    if (name == "hopper-half" && is_fma_kernel(algorithm)) name = "fma-chain";
    if (name.empty()) return unknown(text_of(asked));
    GemmModelled modelled;
    const GemmModel* row = find_gemm_model(name);
    modelled.model = static_cast<std::size_t>(row - gemm_models.data());
    modelled.parts = parts_of(algorithm);
    modelled.epilogue = epilogue_of(gemm, modelled.parts);
    return modelled;
}

Expected<GemmOffer> offer_of(Device& device, const GemmProblem& gemm) {
    const Problem asked = problem_of(gemm);
    const Operation operation = operation_of(asked);
    const TensorSpecs specs = specs_of(asked);
    const CallResult supported = device.supports(operation, specs);
    if (supported.status == MX_NOT_SUPPORTED) return GemmOffer{{}, supported.message};
    if (supported.status != MX_OK)
        return Error{ErrorKind::device, name_of(supported.status) + ": " + supported.message};
    auto algorithms = device.algorithms(operation, specs);
    if (!algorithms) return algorithms.error();
    return GemmOffer{std::move(algorithms).value(), ""};
}

}  // namespace mx::sweep
