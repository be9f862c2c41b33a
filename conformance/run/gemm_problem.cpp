// See gemm_problem.hpp.
#include "conformance/run/gemm_problem.hpp"

#include "reference/spec/gemm_models.hpp"

namespace mx {
namespace {

CodeView view_of(const CodeTensor& tensor) {
    return {reinterpret_cast<const std::uint8_t*>(tensor.bytes.data()), tensor.width, 1};
}

const ElementFormat& scale_format_of(const std::string& scaling) {
    if (scaling == "1x32") return formats::e8m0;
    return scaling == "1x16" ? ue4m3 : formats::f32;
}

gemm::Scaling scaling_of(const std::string& word) {
    if (word.empty()) return gemm::Scaling::none;
    if (word == "tensor") return gemm::Scaling::tensor;
    return word == "row" ? gemm::Scaling::row : gemm::Scaling::blocks;
}

gemm::Factor factor_of(const std::string& type, const std::string& scaling, const Shape& shape) {
    gemm::Factor factor;
    factor.element = *find_element_format(type);
    factor.depth = shape.columns;
    factor.rows = shape.rows;
    factor.scaling = scaling_of(scaling);
    factor.scale = scale_format_of(scaling);
    factor.block = block_of(scaling);
    factor.block_rows = scaling == "128x128" ? 128 : 1;
    return factor;
}

gemm::OutputBlocks output_blocks_of(const Case& c, const std::string& scaling) {
    gemm::OutputBlocks blocks;
    blocks.size = block_of(scaling);
    blocks.scale = scale_format_of(scaling);
    blocks.name = c.dialect;
    blocks.recipe = find_recipe(c.dialect);
    blocks.recipe_format = find_recipe_format(c.type);
    blocks.dialect = find_dialect(c.dialect);
    blocks.format = find_block_format(c.type);
    blocks.source = blocks.recipe != nullptr ? blocks.recipe->source : blocks.dialect->source;
    return blocks;
}

void look_at(gemm::Problem& problem, GemmPart part, const CodeTensor& tensor) {
    switch (part) {
        case GemmPart::a:
            problem.a.codes = view_of(tensor);
            break;
        case GemmPart::scales_a:
            problem.a.scales = view_of(tensor);
            break;
        case GemmPart::b:
            problem.b.codes = view_of(tensor);
            break;
        case GemmPart::scales_b:
            problem.b.scales = view_of(tensor);
            break;
        case GemmPart::c:
            problem.c = view_of(tensor);
            break;
        case GemmPart::bias:
            problem.bias = view_of(tensor);
            break;
        case GemmPart::scale_out:
            problem.scale_out = view_of(tensor);
            break;
        case GemmPart::d:
        case GemmPart::scales_d:
            break;
    }
}

}  // namespace

gemm::Problem gemm_problem_of(const Case& c, const std::vector<CodeTensor>& inputs) {
    const GemmSetting s = setting_of(c);
    const std::int64_t parts = parts_of(c.gemm.algorithm);
    gemm::Problem problem;
    problem.a = factor_of(s.a, s.scaling_a, {s.m, s.k});
    problem.b = factor_of(s.b, s.scaling_b, {s.n, s.k});
    problem.m = s.m;
    problem.n = s.n;
    problem.depth = s.k;
    problem.batches = s.batches;
    problem.alpha = Code{s.alpha};
    problem.beta = Code{s.beta};
    problem.epilogue = epilogue_of(s, parts);
    problem.model = find_gemm_model(model_row_name(c.gemm));
    problem.is_bounded = c.gemm.model.starts_with(bounded_model);
    if (problem.model != nullptr) problem.part = part_length(s, parts);
    problem.fraction_bits = fraction_bits_kept(s);
    problem.element = *find_element_format(s.output);
    if (has_output_blocks(c)) problem.blocks = output_blocks_of(c, s.scaling_out);
    const std::vector<GemmTensor> tensors = tensors_of(s);
    for (std::size_t i = 0; i < inputs.size(); ++i) look_at(problem, tensors[i].part, inputs[i]);
    return problem;
}

}  // namespace mx
