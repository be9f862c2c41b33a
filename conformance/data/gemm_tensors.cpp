// See gemm_tensors.hpp.
#include "conformance/data/gemm_tensors.hpp"

#include <algorithm>
#include <iterator>

#include "reference/spec/layouts.hpp"

namespace mx {
namespace {

std::int64_t whole(std::int64_t length, std::int64_t unit) {
    return (length + unit - 1) / unit;
}

bool is_narrow(const ElementFormat& format) {
    return format.code_bits() <= 8;
}

// FP8 is scaled by one given number, unless it lies in blocks of MX; so is what becomes NVFP4.
bool has_scale_out(const FactorType& output) {
    return is_narrow(output.element) && output.scaling != FactorScaling::e8m0_1x32;
}

bool is_fp8(const ElementFormat& format) {
    return format == formats::e4m3 || format == formats::e5m2;
}

// C has the type of D unless the problem says another; of FP8 and FP4 there is none, so it is
// bfloat16.
ElementFormat addend_type(const GemmProblem& gemm) {
    if (gemm.c) return *gemm.c;
    return is_narrow(gemm.output.element) ? formats::bf16 : gemm.output.element;
}

// As cuBLASLt wants it: D's type; bfloat16 where that is FP8 or FP4, or binary32 made of FP8.
ElementFormat bias_type(const GemmProblem& gemm) {
    const ElementFormat& output = gemm.output.element;
    const bool is_wide_of_fp8 = output == formats::f32 && is_fp8(gemm.a.element);
    return is_narrow(output) || is_wide_of_fp8 ? formats::bf16 : output;
}

// One for each small block of a row.
TensorSpec scales_of_blocks(const Problem& p, const FactorScalingRow& row, Shape of) {
    const std::int64_t columns = whole(of.columns, row.block);
    if (p.scales == ScaleStorage::linear) return dense(row.scale.name, of.rows, columns);
    return {std::string(row.scale.name), of.rows, columns, 0, 0, std::string(name_of(p.scales))};
}

// Scales of blocks of 128 lie as cuBLASLt wants them: those of neighbouring rows side by side; and
// those of square blocks along k, each line filled up to four.
TensorSpec scales_of(const Problem& p, FactorScaling scaling, std::int64_t rows) {
    const FactorScalingRow& row = row_of(scaling);
    const std::string type(row.scale.name);
    if (row.block == 0) return dense(type, row.rows == 0 ? 1 : rows, 1);
    if (has_small_blocks(scaling)) return scales_of_blocks(p, row, {rows, p.gemm.k});
    const std::int64_t blocks = whole(p.gemm.k, row.block);
    if (row.rows == 1) return {type, rows, blocks, 1, rows, "strided"};
    return {type, whole(rows, row.rows), blocks, whole(blocks, 4) * 4, 1, "strided"};
}

// Padded rows end this many elements before the next begins; odd, so that nothing stays aligned.
constexpr std::int64_t padding = 3;

TensorSpec rows_of(const Problem& p, const ElementFormat& type, Shape shape) {
    TensorSpec spec = dense(type.name, shape);
    if (p.layout == RowLayout::padded) spec.row_stride += padding;
    return spec;
}

TensorSpec codes_of(const Problem& p, const ElementFormat& type, Shape shape) {
    if (type.code_bits() != p.packing->code_bits) return rows_of(p, type, shape);
    return {std::string(type.name),        shape.rows, shape.columns, 0, 0,
            std::string(p.packing->layout)};
}

// A name of the ABI, where NULL stands for what is usual.
std::string or_null(std::string_view word, std::string_view usual) {
    return word == usual ? "" : std::string(word);
}

}  // namespace

std::int64_t GemmTensor::bytes() const {
    const auto extent = byte_extent(spec);
    // Whole lines, also where the last is filled up.
    const std::int64_t lines = spec.rows * spec.row_stride * type.code_bytes();
    return extent ? std::max(lines, static_cast<std::int64_t>(extent.value())) : 0;
}

std::uint32_t binades_of(GemmPart part) {
    return part == GemmPart::c || part == GemmPart::bias ? 20 : 8;
}

Problem problem_of(const GemmProblem& gemm) {
    Problem p;
    p.operation = OperationKind::gemm;
    p.gemm = gemm;
    p.rows = gemm.rows_written();
    p.columns = gemm.n;
    return p;
}

std::vector<GemmTensor> tensors_of(const Problem& p) {
    using enum GemmContent;
    const GemmProblem& gemm = p.gemm;
    std::vector<GemmTensor> tensors;
    const auto add_factor = [&](const FactorType& factor, std::int64_t rows, GemmPart codes,
                                GemmPart scales) {
        tensors.push_back(
            {codes, elements, factor.element, codes_of(p, factor.element, {rows, gemm.k})});
        if (factor.scaling != FactorScaling::none)
            tensors.push_back({scales, numbers, row_of(factor.scaling).scale,
                               scales_of(p, factor.scaling, rows)});
    };
    const std::int64_t rows_a = gemm.rows_of_a(), rows_b = gemm.rows_of_b();
    add_factor(gemm.a, rows_a, GemmPart::a, GemmPart::scales_a);
    add_factor(gemm.b, rows_b, GemmPart::b, GemmPart::scales_b);
    const ElementFormat c = addend_type(gemm), bias = bias_type(gemm);
    if (gemm.reads_c())
        tensors.push_back({GemmPart::c, numbers, c, rows_of(p, c, {rows_a, gemm.n})});
    if (gemm.epilogue.adds_bias)
        tensors.push_back({GemmPart::bias, numbers, bias, dense(bias.name, 1, gemm.n)});
    if (has_scale_out(gemm.output))
        tensors.push_back(
            {GemmPart::scale_out, numbers, formats::f32, dense(formats::f32.name, 1, 1)});
    if (gemm.is_grouped())
        tensors.push_back({GemmPart::row_offsets, numbers, row_offset,
                           dense(row_offset.name, 1, std::ssize(gemm.groups) + 1)});
    const ElementFormat& d = gemm.output.element;
    tensors.push_back({GemmPart::d, elements, d, codes_of(p, d, {rows_a, gemm.n})});
    if (!has_blocks(gemm.output)) return tensors;
    const FactorScalingRow& blocks = row_of(gemm.output.scaling);
    tensors.push_back(
        {GemmPart::scales_d, numbers, blocks.scale, scales_of_blocks(p, blocks, {rows_a, gemm.n})});
    return tensors;
}

Operation operation_of(const Problem& p) {
    const GemmProblem& gemm = p.gemm;
    Operation operation{.name = "gemm"};
    if (p.dialect != nullptr) operation.dialect = p.dialect->name;
    const bool is_tensor = !has_blocks(gemm.output) && has_scale_out(gemm.output);
    const FactorScaling scaling_out = is_tensor ? FactorScaling::tensor : gemm.output.scaling;
    operation.gemm = GemmOperation{.batches = gemm.batches,
                                   .alpha = gemm.alpha,
                                   .beta = gemm.beta,
                                   .scaling_a = std::string(name_of(gemm.a.scaling)),
                                   .scaling_b = std::string(name_of(gemm.b.scaling)),
                                   .scaling_out = std::string(name_of(scaling_out)),
                                   .epilogue = or_null(name_of(gemm.epilogue), "none"),
                                   .accumulation = or_null(name_of(gemm.accumulation), "default"),
                                   .algorithm = gemm.names_algorithm() ? gemm.algorithm : "",
                                   .groups = std::ssize(gemm.groups)};
    return operation;
}

GemmEpilogue epilogue_of(const GemmProblem& gemm, std::int64_t parts) {
    GemmEpilogue epilogue;
    epilogue.output = has_blocks(gemm.output) ? formats::f32 : gemm.output.element;
    epilogue.addend = addend_type(gemm);
    epilogue.bias = bias_type(gemm);
    epilogue.adds_bias = gemm.epilogue.adds_bias;
    epilogue.scales_output = has_scale_out(gemm.output);
    const FactorScalingRow& scales = row_of(gemm.a.scaling);
    if (scales.scaling == FactorScaling::tensor) epilogue.scales = FactorScales::in_alpha;
    if (scales.scaling == FactorScaling::row) epilogue.scales = FactorScales::on_accumulator;
    if (scales.block == 128) epilogue.scales = FactorScales::in_accumulator;
    epilogue.kernel = kernel_of(gemm.model.row, parts);
    epilogue.activation = gemm.epilogue.activation;
    return epilogue;
}

bool declares_parts(const std::string& algorithm) {
    return algorithm.find("splitk=") != std::string::npos;
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

std::int64_t part_length(const GemmProblem& gemm, std::int64_t parts) {
    const bool has_squares = gemm.a.scaling == FactorScaling::f32_128x128 ||
                             gemm.b.scaling == FactorScaling::f32_128x128;
    const bool is_by_eights = gemm.model.row != nullptr && gemm.model.row->residue_tile != 0;
    return part_length(SplitDepth{gemm.k, gemm.a.element.code_bytes(), has_squares, is_by_eights},
                       parts);
}

}  // namespace mx
