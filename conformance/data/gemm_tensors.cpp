// See gemm_tensors.hpp.
#include "conformance/data/gemm_tensors.hpp"

#include <algorithm>

#include "device/host/layout.hpp"
#include "reference/spec/layouts.hpp"

namespace mx {
namespace {

std::int64_t whole(std::int64_t length, std::int64_t unit) {
    return (length + unit - 1) / unit;
}

bool is_narrow(const std::string& type) {
    return code_bits(type) <= 8;
}

// FP8 is scaled by one given number, unless it lies in blocks of MX; so is what becomes NVFP4.
bool has_scale_out(const GemmSetting& setting) {
    return is_narrow(setting.output) && setting.scaling_out != "1x32";
}

bool is_fp8(const std::string& type) {
    return type == "e4m3" || type == "e5m2";
}

// One for each small block of a row.
TensorSpec scales_of_blocks(const GemmSetting& setting, const std::string& scaling, Shape of) {
    const std::string type = scaling == "1x16" ? "ue4m3" : "e8m0";
    const std::int64_t columns = whole(of.columns, block_of(scaling));
    if (setting.scale_order == "linear") return dense(type, of.rows, columns);
    return {type, of.rows, columns, 0, 0, setting.scale_order};
}

// Scales of blocks of 128 lie as cuBLASLt wants them: those of neighbouring rows side by side; and
// those of square blocks along k, each line filled up to four.
TensorSpec scales_of(const GemmSetting& setting, const std::string& scaling, std::int64_t rows) {
    const std::int64_t blocks = whole(setting.k, 128);
    if (scaling == "tensor") return dense("f32", 1, 1);
    if (scaling == "row") return dense("f32", rows, 1);
    if (scaling == "1x128") return {"f32", rows, blocks, 1, rows, "strided"};
    if (scaling == "128x128")
        return {"f32", whole(rows, 128), blocks, whole(blocks, 4) * 4, 1, "strided"};
    return scales_of_blocks(setting, scaling, {rows, setting.k});
}

// Padded rows end this many elements before the next begins; odd, so that nothing stays aligned.
constexpr std::int64_t padding = 3;

TensorSpec rows_of(const GemmSetting& setting, const std::string& type, Shape shape) {
    TensorSpec spec = dense(type, shape);
    if (setting.layout == "padded") spec.row_stride += padding;
    return spec;
}

TensorSpec codes_of(const GemmSetting& setting, const std::string& type, Shape shape) {
    const Packing& packing = *find_packing(setting.packing);
    if (code_bits(type) != packing.code_bits) return rows_of(setting, type, shape);
    return {type, shape.rows, shape.columns, 0, 0, std::string(packing.layout)};
}

// As cuBLASLt wants it: D's type; bfloat16 where that is FP8 or FP4, or binary32 made of FP8.
std::string bias_type(const GemmSetting& setting) {
    if (is_narrow(setting.output)) return "bf16";
    return setting.output == "f32" && is_fp8(setting.a) ? "bf16" : setting.output;
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
    tensors.push_back({GemmPart::a, elements, codes_of(s, s.a, {rows_a, s.k})});
    if (!s.scaling_a.empty())
        tensors.push_back({GemmPart::scales_a, numbers, scales_of(s, s.scaling_a, rows_a)});
    tensors.push_back({GemmPart::b, elements, codes_of(s, s.b, {rows_b, s.k})});
    if (!s.scaling_b.empty())
        tensors.push_back({GemmPart::scales_b, numbers, scales_of(s, s.scaling_b, rows_b)});
    if (s.beta << 1 != 0)
        tensors.push_back({GemmPart::c, numbers, rows_of(s, addend_type(s), {rows_a, s.n})});
    if (has_bias(s)) tensors.push_back({GemmPart::bias, numbers, dense(bias_type(s), 1, s.n)});
    if (has_scale_out(s)) tensors.push_back({GemmPart::scale_out, numbers, dense("f32", 1, 1)});
    tensors.push_back({GemmPart::d, elements, codes_of(s, s.output, {rows_a, s.n})});
    if (!s.scaling_out.empty())
        tensors.push_back(
            {GemmPart::scales_d, numbers, scales_of_blocks(s, s.scaling_out, {rows_a, s.n})});
    return tensors;
}

Operation operation_of(const GemmSetting& setting, const std::string& algorithm) {
    Operation operation{.name = "gemm", .dialect = setting.dialect};
    std::string scaling_out = setting.scaling_out;
    if (scaling_out.empty() && has_scale_out(setting)) scaling_out = "tensor";
    operation.gemm = GemmOperation{setting.batches,   setting.alpha,        setting.beta,
                                   setting.scaling_a, setting.scaling_b,    scaling_out,
                                   setting.epilogue,  setting.accumulation, algorithm};
    return operation;
}

std::int64_t block_of(const std::string& scaling) {
    if (scaling == "1x32") return 32;
    if (scaling == "1x16") return 16;
    return scaling == "1x128" || scaling == "128x128" ? 128 : 0;
}

std::string addend_type(const GemmSetting& setting) {
    if (!setting.addend.empty()) return setting.addend;
    return is_narrow(setting.output) ? "bf16" : setting.output;
}

bool has_bias(const GemmSetting& setting) {
    return setting.epilogue.find("bias") != std::string::npos;
}

GemmEpilogue epilogue_of(const GemmSetting& setting, std::int64_t parts) {
    GemmEpilogue epilogue;
    const bool has_blocks = !setting.scaling_out.empty();
    epilogue.output = has_blocks ? formats::f32 : *find_element_format(setting.output);
    epilogue.addend = *find_element_format(addend_type(setting));
    epilogue.bias = *find_element_format(bias_type(setting));
    epilogue.adds_bias = has_bias(setting);
    epilogue.scales_output = has_scale_out(setting);
    if (setting.scaling_a == "tensor") epilogue.scales = FactorScales::in_alpha;
    if (setting.scaling_a == "row") epilogue.scales = FactorScales::on_accumulator;
    if (setting.scaling_a.ends_with("x128")) epilogue.scales = FactorScales::in_accumulator;
    if (parts > 1) epilogue.kernel = GemmKernel::adds_parts;
    if (setting.epilogue.ends_with("relu")) epilogue.activation = Activation::relu;
    if (setting.epilogue.ends_with("gelu")) epilogue.activation = Activation::gelu;
    return epilogue;
}

std::int64_t parts_of(const std::string& algorithm) {
    const std::string key = "splitk=";
    const std::size_t at = algorithm.find(key);
    if (at == std::string::npos) return 1;
    std::int64_t number = 0;
    for (std::size_t i = at + key.size();
         i < algorithm.size() && algorithm[i] >= '0' && algorithm[i] <= '9' && number < 100000; ++i)
        number = number * 10 + (algorithm[i] - '0');
    return number;
}

std::int64_t part_length(const GemmSetting& setting, std::int64_t parts) {
    if (parts <= 1) return 0;
    const std::int64_t tile = 128 / static_cast<std::int64_t>(element_width(setting.a));
    // Scales of square blocks are read four at a time.
    const bool by_fours = setting.scaling_a == "128x128" || setting.scaling_b == "128x128";
    const std::int64_t unit = by_fours ? 4 : 1;
    return whole(whole(whole(setting.k, tile), parts), unit) * unit * tile;
}

}  // namespace mx
