// See gemm_case.hpp.
#include "conformance/case/gemm_case.hpp"

#include <algorithm>
#include <array>

#include "conformance/case/case.hpp"
#include "conformance/case/names.hpp"
#include "device/host/operation.hpp"
#include "reference/spec/formats.hpp"
#include "reference/spec/gemm_models.hpp"
#include "reference/spec/gemm_output.hpp"
#include "reference/spec/layouts.hpp"

namespace mx {
namespace {

Error bad(std::string message) {
    return {ErrorKind::bad_input, std::move(message)};
}

// The scalings by binary32 that FP8 elements may have.
constexpr std::array<std::string_view, 4> f32_scalings{"tensor", "row", "1x128", "128x128"};
constexpr std::array<std::string_view, 2> fp8_elements{"e4m3", "e5m2"};
constexpr std::string_view nvfp4 = "nvfp4";

// The outputs in blocks, and who makes them where the case does not say.
struct BlockOutput {
    std::string_view name, dialect;
};
constexpr std::array block_outputs{
    BlockOutput{"mxfp8-e4m3", "ocp"}, BlockOutput{"mxfp8-e5m2", "ocp"},
    BlockOutput{"mxfp4-e2m1", "ocp"}, BlockOutput{nvfp4, "cublaslt-nvfp4"}};

const BlockOutput* find_block_output(std::string_view word) {
    const auto* row = std::ranges::find(block_outputs, word, &BlockOutput::name);
    return row == block_outputs.end() ? nullptr : row;
}

bool makes_blocks(const std::string& dialect, const std::string& output) {
    const Quantizer* row = find_quantizer(dialect);
    return row != nullptr && makes_output_blocks(*row, *find_block_format(output));
}

bool is_narrow(std::string_view output) {
    return code_bits(parse_gemm_output(output).element) <= 8;
}

bool has_block_scales(const GemmFactorWord& factor) {
    return factor.scaling == "1x32" || factor.scaling == "1x16";
}

GemmFactorWord factor_of(const std::string& word) {
    return parse_gemm_factor(word).value_or(GemmFactorWord{});
}

Status check_c(const Case& c) {
    const bool reads_c = c.gemm.beta << 1 != 0;
    if (reads_c == (c.gemm.c != "none")) {
        const bool fits =
            c.gemm.c == "none" || c.gemm.c == c.type || (is_narrow(c.type) && c.gemm.c != "f32");
        if (fits) return success();
        return bad("c=" + c.gemm.c + " does not go with output=" + c.type +
                   ": C has the type of D, and beside an output of FP8 or FP4 it is bf16 or f16");
    }
    return bad(reads_c ? "beta is not 0, so C is read and cannot be c=none"
                       : "beta is 0, so C is not read and there is no c=" + c.gemm.c);
}

Status check_storage_of_factors(const Case& c) {
    const GemmFactorWord a = factor_of(c.gemm.a), b = factor_of(c.gemm.b);
    if (c.scales != "linear") {
        if (!has_block_scales(a) && !has_block_scales(b) && !has_output_blocks(c))
            return bad("neither a factor nor D has scales of small blocks, so there is no scales=" +
                       c.scales);
        if (find_scale_layout_of_case(c.scales, "row") == nullptr)
            return bad("no source puts scales of blocks along K in the order scales=" + c.scales);
    }
    if (c.packing == "bytes") return success();
    const Packing& packing = *find_packing(c.packing);
    if (c.packing == "inline") return bad("packing=inline is no layout of a factor of a gemm");
    const auto is_packed = [&](const GemmFactorWord& word) {
        return code_bits(word.element) == packing.code_bits;
    };
    if (is_packed(parse_gemm_output(c.type))) return success();
    for (const GemmFactorWord& factor : {a, b})
        if (!is_packed(factor))
            return bad("packing=" + c.packing + " is for codes of " +
                       std::to_string(packing.code_bits) + " bits, and " + factor.element +
                       " has " + std::to_string(code_bits(factor.element)));
    return success();
}

Status check_batches(const Case& c) {
    const auto shares_tiles = [&c](const std::string& word, std::int64_t rows) {
        return factor_of(word).scaling == "128x128" && c.gemm.batches > 1 && rows % 128 != 0;
    };
    if (shares_tiles(c.gemm.a, c.gemm.m) || shares_tiles(c.gemm.b, c.gemm.n))
        return bad("scales of 128x128 blocks and several batches need rows in multiples of 128");
    return success();
}

// D's blocks are made by a dialect, of exact sums or of what a model's epilogue gives.
Status check_output_blocks(const Case& c) {
    if (!has_output_blocks(c)) {
        if (c.dialect.empty()) return success();
        return bad("output=" + c.type + " has no blocks, so it has no dialect=" + c.dialect);
    }
    if (!makes_blocks(c.dialect, c.type))
        return bad("dialect '" + c.dialect + "' does not make " + c.type + " of binary32");
    if (c.gemm.model.starts_with(bounded_model))
        return bad("model=" + c.gemm.model + " has no bound for blocks with scales of their own");
    return success();
}

// The scales of blocks along k: their format, and the elements that share one, as the models list
// them.
struct BlockScales {
    std::string_view scaling, format, block;
};
constexpr std::array block_scales{
    BlockScales{"1x32", "e8m0", "32"}, BlockScales{"1x16", "ue4m3", "16"},
    BlockScales{"1x128", "f32", "128"}, BlockScales{"128x128", "f32", "128"}};

// Scales of binary32 of whole rows or tensors are no matter of the accumulator.
bool takes_scaling(const GemmModel& model, const std::string& scaling) {
    for (const BlockScales& row : block_scales)
        if (row.scaling == scaling)
            return model.scaling != BlockScaling::none && lists(model.scales, row.format) &&
                   lists(model.blocks, row.block);
    return model.scaling == BlockScaling::none;
}

Status check_model_takes(const Case& c, const GemmModel& model) {
    const GemmFactorWord a = factor_of(c.gemm.a), b = factor_of(c.gemm.b);
    const std::string name = "model " + std::string(model.name);
    for (const GemmFactorWord& factor : {a, b}) {
        if (!lists(model.operands, factor.element))
            return bad(name + " multiplies " + std::string(model.operands) + ", not " +
                       factor.element);
        if (!takes_scaling(model, factor.scaling))
            return bad(name + " says nothing of factors scaled by " +
                       (factor.scaling.empty() ? "nothing" : factor.scaling));
    }
    const bool is_in_blocks = model.scaling != BlockScaling::none;
    if (!is_in_blocks && a.scaling != b.scaling)
        return bad("the models say nothing of one factor scaled by " + a.scaling + " and one by " +
                   b.scaling);
    return success();
}

Status check_model(const Case& c) {
    if (c.gemm.model.starts_with(bounded_model) &&
        c.gemm.epilogue.find("gelu") != std::string::npos)
        return bad("epilogue=" + c.gemm.epilogue + " is not judged with model=" + c.gemm.model +
                   ": GELU has no bound; name a row, or leave out the model or the GELU");
    const std::string_view row = model_row_name(c.gemm);
    if (row.empty()) return success();
    return check_model_takes(c, *find_gemm_model(row));
}

}  // namespace

std::optional<GemmFactorWord> parse_gemm_factor(std::string_view word) {
    if (word == nvfp4) return GemmFactorWord{"e2m1", "1x16"};
    if (const BlockFormat* format = find_block_format(word); format && format->has_e8m0_scales())
        return GemmFactorWord{std::string(format->element().name), "1x32"};
    const std::size_t colon = word.find(':');
    const std::string element(word.substr(0, colon));
    const bool is_fp8 = std::ranges::find(fp8_elements, element) != fp8_elements.end();
    if (colon == std::string_view::npos) {
        const bool is_plain =
            is_fp8 || std::ranges::find(input_types, element) != input_types.end();
        return is_plain ? std::optional(GemmFactorWord{element, ""}) : std::nullopt;
    }
    const std::string scaling(word.substr(colon + 1));
    const bool is_known = std::ranges::find(f32_scalings, scaling) != f32_scalings.end();
    return is_fp8 && is_known ? std::optional(GemmFactorWord{element, scaling}) : std::nullopt;
}

std::vector<std::string> gemm_factor_names() {
    std::vector<std::string> names = names_of(mx_block_formats);
    names.emplace_back(nvfp4);
    for (const std::string_view element : fp8_elements) {
        names.emplace_back(element);
        for (const std::string_view scaling : f32_scalings)
            names.push_back(std::string(element) + ":" + std::string(scaling));
    }
    for (const std::string_view type : input_types) names.emplace_back(type);
    return names;
}
GemmFactorWord parse_gemm_output(std::string_view word) {
    if (find_block_output(word) == nullptr) return {std::string(word), ""};
    return parse_gemm_factor(word).value_or(GemmFactorWord{});
}
bool has_output_blocks(const Case& c) {
    return is_gemm(c) && find_block_output(c.type) != nullptr;
}
std::vector<std::string> gemm_output_names() {
    std::vector<std::string> names{"f32", "bf16", "f16", "e4m3", "e5m2"};
    for (const BlockOutput& output : block_outputs) names.emplace_back(output.name);
    return names;
}
std::vector<std::string> gemm_dialect_names() {
    std::vector<std::string> names = dialect_names();
    for (const Quantizer& recipe : real_scale_quantizers)
        if (makes_blocks(std::string(recipe.name), std::string(nvfp4)))
            names.emplace_back(recipe.name);
    return names;
}
std::vector<std::string> gemm_addend_names() {
    return {"none", "f32", "bf16", "f16"};
}
std::vector<std::string> gemm_epilogue_names() {
    return {"none", "bias", "relu", "bias-relu", "gelu", "bias-gelu"};
}
std::vector<std::string> gemm_accumulation_names() {
    return {"default", "fast"};
}
std::vector<std::string> gemm_model_names() {
    std::vector<std::string> names{"any", std::string(bounded_model)};
    for (const GemmModel& model : gemm_models) names.emplace_back(model.name);
    for (const GemmModel& model : gemm_models)
        names.push_back(std::string(bounded_by) + std::string(model.name));
    return names;
}

std::string_view model_row_name(const GemmFields& gemm) {
    if (gemm.model == "any" || gemm.model == bounded_model) return "";
    const std::string_view name = gemm.model;
    return name.starts_with(bounded_by) ? name.substr(bounded_by.size()) : name;
}

void complete_gemm(Case& c) {
    if (c.gemm.c.empty()) {
        const bool reads_c = c.gemm.beta << 1 != 0;
        c.gemm.c = !reads_c ? "none" : is_narrow(c.type) ? "bf16" : c.type;
    }
    if (has_output_blocks(c) && c.dialect.empty()) c.dialect = find_block_output(c.type)->dialect;
    c.format = c.gemm.a;
    c.rows = c.gemm.batches * c.gemm.m;
    c.columns = c.gemm.n;
}

Status check_gemm_names(const Case& c) {
    const auto names = {
        check_name("factor", c.gemm.a, gemm_factor_names()),
        check_name("factor", c.gemm.b, gemm_factor_names()),
        check_name("output", c.type, gemm_output_names()),
        c.dialect.empty() ? success() : check_name("dialect", c.dialect, gemm_dialect_names()),
        check_name("c", c.gemm.c, gemm_addend_names()),
        check_name("epilogue", c.gemm.epilogue, gemm_epilogue_names()),
        check_name("accumulation", c.gemm.accumulation, gemm_accumulation_names()),
        check_name("model", c.gemm.model, gemm_model_names()),
        check_name("layout", c.layout, layout_names()),
        check_name("scales", c.scales, scales_names()),
        check_name("packing", c.packing, packing_names()),
    };
    for (const Status& status : names)
        if (!status) return status;
    return success();
}

Status check_gemm(const Case& c) {
    for (const auto check :
         {check_c, check_output_blocks, check_storage_of_factors, check_batches, check_model})
        if (const Status status = check(c); !status) return status;
    return success();
}

}  // namespace mx
