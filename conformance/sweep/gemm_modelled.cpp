// See gemm_check.hpp: what can be said without a GPU.
#include "conformance/sweep/gemm_check.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::sweep {
namespace {

bool is_fp8(const std::string& type) {
    return type == "e4m3" || type == "e5m2";
}

// The name of the row, "" where there is none.
std::string row_name(const GemmSetting& setting) {
    const bool is_half = setting.a == setting.b && (setting.a == "bf16" || setting.a == "f16");
    if (is_half) return setting.scaling_a.empty() ? "hopper-half" : "";
    if (!is_fp8(setting.a) || !is_fp8(setting.b)) return "";
    const bool by_row = setting.scaling_a == "1x128", by_tile = setting.scaling_a == "128x128";
    const bool b_by_row = setting.scaling_b == "1x128", b_by_tile = setting.scaling_b == "128x128";
    if (by_row && b_by_row) return "hopper-fp8-1x128";
    if ((by_row && b_by_tile) || (by_tile && b_by_row)) return "hopper-fp8-128x128";
    const bool is_whole =
        setting.scaling_a.empty() || setting.scaling_a == "tensor" || setting.scaling_a == "row";
    if (!is_whole || setting.scaling_a != setting.scaling_b) return "";
    return setting.accumulation == "fast" ? "hopper-fp8" : "hopper-fp8-promoted";
}

// The row for what device/hopper does with MX factors.
std::string mx_row_name(const GemmSetting& setting, const std::string& algorithm) {
    if (setting.scaling_b != "1x32" || !is_fp8(setting.a) || !is_fp8(setting.b)) return "";
    if (algorithm == "wgmma") return "hopper-mx-wgmma";
    if (algorithm == "slices-of-32") return "hopper-mx-slices";
    return algorithm == "dequantised-bf16" ? "hopper-mx-bf16" : "";
}

// Kernels of this number are no tensor-core kernels.
bool is_fma_kernel(const std::string& algorithm) {
    return algorithm.starts_with("id=16,") || algorithm.find(",id=16,") != std::string::npos;
}

TensorSpecs specs_of(const GemmSetting& setting) {
    TensorSpecs specs;
    for (const GemmTensor& tensor : tensors_of(setting))
        (tensor.part == GemmPart::d ? specs.outputs : specs.inputs).push_back(tensor.spec);
    return specs;
}

}  // namespace

std::string text_of(const GemmSetting& s) {
    const auto or_none = [](const std::string& text) { return text.empty() ? "none" : text; };
    std::string text = s.a + " x " + s.b + " to " + s.output + ", scales " + or_none(s.scaling_a) +
                       " x " + or_none(s.scaling_b) + ", ";
    if (s.batches != 1) text += std::to_string(s.batches) + " of ";
    text += std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k) + ", " +
            std::string(gemm_data_names[static_cast<std::size_t>(s.data)]);
    if (s.alpha != 0x3F800000) text += ", alpha";
    if (s.beta << 1 != 0) text += ", C";
    if (!s.epilogue.empty()) text += ", " + s.epilogue;
    if (!s.accumulation.empty()) text += ", " + s.accumulation;
    return text;
}

Expected<GemmModelled> modelled(const GemmSetting& setting, const std::string& algorithm,
                                int architecture) {
    const auto unknown = [](const std::string& what) {
        return Error{ErrorKind::bad_input, "no model is known of " + what};
    };
    if (architecture != 90)
        return unknown("cuBLASLt on sm_" + std::to_string(architecture) + ": UNVERIFIED");
    const bool is_mx = setting.scaling_a == "1x32";
    // The check on the GPU knows one kind of scales for both factors.
    if (is_mx != (setting.scaling_b == "1x32")) return unknown(text_of(setting));
    std::string name = is_mx ? mx_row_name(setting, algorithm) : row_name(setting);
    if (name == "hopper-half" && is_fma_kernel(algorithm)) name = "fma-chain";
    if (name.empty()) return unknown(text_of(setting));
    GemmModelled modelled;
    const GemmModel* row = find_gemm_model(name);
    modelled.model = static_cast<std::size_t>(row - gemm_models.data());
    modelled.parts = parts_of(algorithm);
    modelled.epilogue = epilogue_of(setting, modelled.parts);
    return modelled;
}

Expected<GemmOffer> offer_of(Device& device, const GemmSetting& setting) {
    const Operation operation = operation_of(setting, "");
    const TensorSpecs specs = specs_of(setting);
    const CallResult supported = device.supports(operation, specs);
    if (supported.status == MX_NOT_SUPPORTED) return GemmOffer{{}, supported.message};
    if (supported.status != MX_OK)
        return Error{ErrorKind::device, name_of(supported.status) + ": " + supported.message};
    auto algorithms = device.algorithms(operation, specs);
    if (!algorithms) return algorithms.error();
    return GemmOffer{std::move(algorithms).value(), ""};
}

}  // namespace mx::sweep
