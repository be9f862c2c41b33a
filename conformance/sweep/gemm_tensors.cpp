// See gemm_tensors.hpp and gemm_check.hpp.
#include "conformance/sweep/gemm_tensors.hpp"

#include <algorithm>

#include "reference/spec/gemm_models.hpp"

namespace mx::sweep {
namespace {

std::int64_t whole(std::int64_t length, std::int64_t unit) {
    return (length + unit - 1) / unit;
}

// Scales of blocks of 128 lie as cuBLASLt wants them: those of neighbouring rows side by side; and
// those of square blocks along k, each line filled up to four.
TensorSpec scales_of(const std::string& scaling, std::int64_t rows, std::int64_t k) {
    const std::int64_t blocks = whole(k, 128);
    if (scaling == "tensor") return dense("f32", 1, 1);
    if (scaling == "row") return dense("f32", rows, 1);
    if (scaling == "1x128") return {"f32", rows, blocks, 1, rows, "strided"};
    return {"f32", whole(rows, 128), blocks, whole(blocks, 4) * 4, 1, "strided"};
}

bool has_bias(const GemmSetting& setting) {
    return setting.epilogue.find("bias") != std::string::npos;
}

bool is_narrow(const std::string& type) {
    return code_bits(type) <= 8;
}

// C has the type of D; of FP8 there is none, so it is bfloat16.
std::string addend_type(const GemmSetting& setting) {
    return is_narrow(setting.output) ? "bf16" : setting.output;
}

bool is_fp8(const std::string& type) {
    return type == "e4m3" || type == "e5m2";
}

// As cuBLASLt wants it: D's type; bfloat16 where that is FP8, or binary32 made of FP8.
std::string bias_type(const GemmSetting& setting) {
    const bool is_half = setting.output == "f16" || setting.output == "bf16";
    return is_half || !is_fp8(setting.a) ? setting.output : "bf16";
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

// The number after "splitk=" in the name of an algorithm of cuBLASLt; 1 where there is none.
std::int64_t number_after(const std::string& text, const std::string& key) {
    const std::size_t at = text.find(key);
    if (at == std::string::npos) return 1;
    std::int64_t number = 0;
    for (std::size_t i = at + key.size(); i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
        number = number * 10 + (text[i] - '0');
    return number;
}

}  // namespace

std::int64_t GemmTensor::bytes() const {
    const auto extent = byte_extent(spec);
    // Whole lines, also where the last is filled up.
    const std::int64_t lines =
        spec.rows * spec.row_stride * static_cast<std::int64_t>(element_width(spec.type));
    return extent ? std::max(lines, static_cast<std::int64_t>(extent.value())) : 0;
}

std::uint32_t binades_of(const GemmTensor& tensor) {
    return tensor.part == GemmPart::c || tensor.part == GemmPart::bias ? 20 : 8;
}

std::vector<GemmTensor> tensors_of(const GemmSetting& s) {
    using enum GemmContent;
    std::vector<GemmTensor> tensors;
    const std::int64_t rows_a = s.batches * s.m, rows_b = s.batches * s.n;
    tensors.push_back({GemmPart::a, elements, dense(s.a, rows_a, s.k)});
    if (!s.scaling_a.empty())
        tensors.push_back({GemmPart::scales_a, numbers, scales_of(s.scaling_a, rows_a, s.k)});
    tensors.push_back({GemmPart::b, elements, dense(s.b, rows_b, s.k)});
    if (!s.scaling_b.empty())
        tensors.push_back({GemmPart::scales_b, numbers, scales_of(s.scaling_b, rows_b, s.k)});
    if (s.beta << 1 != 0)
        tensors.push_back({GemmPart::c, numbers, dense(addend_type(s), rows_a, s.n)});
    if (has_bias(s)) tensors.push_back({GemmPart::bias, numbers, dense(bias_type(s), 1, s.n)});
    if (is_narrow(s.output)) tensors.push_back({GemmPart::scale_out, numbers, dense("f32", 1, 1)});
    tensors.push_back({GemmPart::d, elements, dense(s.output, rows_a, s.n)});
    return tensors;
}

TensorSpecs specs_of(const GemmSetting& setting) {
    TensorSpecs specs;
    for (const GemmTensor& tensor : tensors_of(setting))
        (tensor.part == GemmPart::d ? specs.outputs : specs.inputs).push_back(tensor.spec);
    return specs;
}

Operation operation_of(const GemmSetting& setting, const std::string& algorithm) {
    Operation operation{.name = "gemm"};
    operation.gemm = GemmOperation{
        setting.batches,   setting.alpha,        setting.beta,
        setting.scaling_a, setting.scaling_b,    is_narrow(setting.output) ? "tensor" : "",
        setting.epilogue,  setting.accumulation, algorithm};
    return operation;
}

std::int64_t part_length(const GemmSetting& setting, const GemmModelled& modelled) {
    if (modelled.parts <= 1) return 0;
    const std::int64_t tile = 128 / static_cast<std::int64_t>(element_width(setting.a));
    // Scales of square blocks are read four at a time.
    const bool by_fours = setting.scaling_a == "128x128" || setting.scaling_b == "128x128";
    const std::int64_t unit = by_fours ? 4 : 1;
    return whole(whole(whole(setting.k, tile), modelled.parts), unit) * unit * tile;
}

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
    if (setting.epilogue.find("gelu") != std::string::npos) return unknown("its GELU");
    std::string name = row_name(setting);
    // Kernels of this number are no tensor-core kernels.
    if (name == "hopper-half" && number_after(algorithm, "id=") == 16) name = "fma-chain";
    if (name.empty()) return unknown(text_of(setting));
    GemmModelled modelled;
    const GemmModel* row = find_gemm_model(name);
    modelled.model = static_cast<std::size_t>(row - gemm_models.data());
    modelled.parts = number_after(algorithm, "splitk=");
    GemmEpilogue& epilogue = modelled.epilogue;
    epilogue.output = *find_element_format(setting.output);
    epilogue.addend = *find_element_format(addend_type(setting));
    epilogue.bias = *find_element_format(bias_type(setting));
    epilogue.adds_bias = has_bias(setting);
    epilogue.scales_output = epilogue.is_narrow();
    if (setting.scaling_a == "tensor") epilogue.scales = FactorScales::in_alpha;
    if (setting.scaling_a == "row") epilogue.scales = FactorScales::on_accumulator;
    if (modelled.parts > 1) epilogue.kernel = GemmKernel::adds_parts;
    if (setting.epilogue.ends_with("relu")) epilogue.activation = Activation::relu;
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
