// See gemm_case.hpp.
#include "conformance/case/gemm_case.hpp"

#include <algorithm>
#include <array>

#include "conformance/case/case.hpp"
#include "conformance/case/case_words.hpp"
#include "conformance/case/gemm_row.hpp"
#include "conformance/case/names.hpp"
#include "reference/spec/gemm_output.hpp"
#include "reference/spec/gemm_scales.hpp"

namespace mx {
namespace {

// The scalings by binary32 that FP8 elements may have.
constexpr std::array f32_scalings{FactorScaling::tensor, FactorScaling::row,
                                  FactorScaling::f32_1x128, FactorScaling::f32_128x128};
constexpr std::array<std::string_view, 4> fp8_elements{"e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"};
constexpr FactorType nvfp4{formats::e2m1, FactorScaling::ue4m3_1x16};
const std::string nvfp4_name = "nvfp4";

// The outputs in blocks, and who makes them where the case does not say.
struct BlockOutput {
    std::string_view name, dialect;
};
constexpr std::array block_outputs{
    BlockOutput{"mxfp8-e4m3", "ocp"}, BlockOutput{"mxfp8-e5m2", "ocp"},
    BlockOutput{"mxfp4-e2m1", "ocp"}, BlockOutput{"nvfp4", "cublaslt-nvfp4"}};

// Of D in blocks.
bool are_blocks_made(const Problem& p) {
    return p.dialect != nullptr &&
           makes_output_blocks(*p.dialect, *small_block_format(p.gemm.output));
}

bool is_narrow(const FactorType& output) {
    return output.element.code_bits() <= 8;
}

std::string output_name(const Problem& p) {
    return name_of(p.gemm.output);
}

Status check_c(const Problem& p) {
    const std::optional<ElementFormat>& c = p.gemm.c;
    const std::string name(c ? c->name : "none");
    const FactorType& output = p.gemm.output;
    if (p.gemm.reads_c() != c.has_value())
        return bad_input(p.gemm.reads_c()
                             ? "beta is not 0, so C is read and cannot be c=none"
                             : "beta is 0, so C is not read and there is no c=" + name);
    const bool is_type_of_d = !has_blocks(output) && c && *c == output.element;
    if (!c || is_type_of_d || (is_narrow(output) && *c != formats::f32)) return success();
    return bad_input("c=" + name + " does not go with output=" + output_name(p) +
                     ": C has the type of D, and beside an output of FP8 or FP4 it is bf16 or f16");
}

Status check_scales_of_factors(const Problem& p) {
    if (p.scales == ScaleStorage::linear) return success();
    const std::string name(name_of(p.scales));
    if (!has_small_blocks(p.gemm.a.scaling) && !has_small_blocks(p.gemm.b.scaling) &&
        !has_output_blocks(p))
        return bad_input(
            "neither a factor nor D has scales of small blocks, so there is no scales=" + name);
    if (scale_layout_for(p.scales, BlockAxis::row) == nullptr)
        return bad_input("no source puts scales of blocks along K in the order scales=" + name);
    return success();
}

Status check_packing_of_factors(const Problem& p) {
    if (p.packing == &packing_rows::bytes) return success();
    if (is_inline(p)) return bad_input("packing=inline is no layout of a factor of a gemm");
    const int bits = p.packing->code_bits;
    if (p.gemm.output.element.code_bits() == bits) return success();
    for (const FactorType& factor : {p.gemm.a, p.gemm.b})
        if (factor.element.code_bits() != bits)
            return bad_input("packing=" + std::string(p.packing->name) + " is for codes of " +
                             std::to_string(bits) + " bits, and " +
                             std::string(factor.element.name) + " has " +
                             std::to_string(factor.element.code_bits()));
    return success();
}

Status check_batches(const Problem& p) {
    const auto shares_tiles = [&p](const FactorType& factor, std::int64_t rows) {
        const bool has_several = p.gemm.batches > 1 || p.gemm.is_grouped();
        return factor.scaling == FactorScaling::f32_128x128 && has_several && rows % 128 != 0;
    };
    if (shares_tiles(p.gemm.a, p.gemm.m) || shares_tiles(p.gemm.b, p.gemm.n))
        return bad_input(
            "scales of 128x128 blocks and several batches or groups need rows in multiples of 128");
    return success();
}

Status check_groups(const Problem& p) {
    const GemmProblem& gemm = p.gemm;
    if (!gemm.is_grouped()) return success();
    if (gemm.batches != 1)
        return bad_input("groups= makes one product of many, so there is no batches=" +
                         std::to_string(gemm.batches) + " beside it");
    if (gemm.rows_written() > gemm.m)
        return bad_input("the groups have " + std::to_string(gemm.rows_written()) +
                         " rows, and A has " + std::to_string(gemm.m));
    if (gemm.a.scaling == FactorScaling::f32_128x128)
        return bad_input(
            "groups end anywhere, so the A of a grouped gemm has no scales of 128x128");
    if (has_output_blocks(p))
        return bad_input("no source says where the scales of output=" + output_name(p) +
                         " lie in a grouped gemm");
    return success();
}

// D's blocks are made by a dialect, of exact sums or of what a model's epilogue gives.
Status check_output_blocks(const Problem& p) {
    const std::string dialect = dialect_name(p);
    if (!has_output_blocks(p)) {
        if (dialect.empty()) return success();
        return bad_input("output=" + output_name(p) +
                         " has no blocks, so it has no dialect=" + dialect);
    }
    if (!are_blocks_made(p))
        return bad_input("dialect '" + dialect + "' does not make " + output_name(p) +
                         " of binary32");
    if (p.gemm.model.is_bounded)
        return bad_input("model=" + name_of(p.gemm.model) +
                         " has no bound for blocks with scales of their own");
    return success();
}

// Scales of binary32 of whole rows or tensors are no matter of the accumulator.
bool takes_scaling(const GemmModel& model, FactorScaling scaling) {
    const FactorScalingRow& row = row_of(scaling);
    if (row.block == 0) return model.scaling == BlockScaling::none;
    return takes_block_scales(model, row.scale.name, std::to_string(row.block));
}

Status check_model_takes(const Problem& p, const GemmModel& model) {
    const FactorType &a = p.gemm.a, &b = p.gemm.b;
    const std::string name = "model " + std::string(model.name);
    for (const FactorType& factor : {a, b}) {
        if (!lists(model.operands, factor.element.name))
            return bad_input(name + " multiplies " + std::string(model.operands) + ", not " +
                             std::string(factor.element.name));
        if (!takes_scaling(model, factor.scaling))
            return bad_input(name + " says nothing of factors scaled by " +
                             (factor.scaling == FactorScaling::none
                                  ? "nothing"
                                  : std::string(name_of(factor.scaling))));
    }
    const bool is_in_blocks = model.scaling != BlockScaling::none;
    if (!is_in_blocks && a.scaling != b.scaling)
        return bad_input("the models say nothing of one factor scaled by " +
                         std::string(name_of(a.scaling)) + " and one by " +
                         std::string(name_of(b.scaling)));
    if (is_in_blocks &&
        !takes_rows_of_scales(model, row_of(a.scaling).rows, row_of(b.scaling).rows))
        return bad_input(name + " " + std::string(rows_of_scales(model)) + ", and A has one for " +
                         std::string(name_of(a.scaling)) + ", B one for " +
                         std::string(name_of(b.scaling)));
    return success();
}

Status check_model(const Problem& p) {
    const GemmProblem& gemm = p.gemm;
    if (gemm.model.is_bounded && gemm.epilogue.activation == Activation::gelu)
        return bad_input("epilogue=" + std::string(name_of(gemm.epilogue)) +
                         " is not judged with model=" + name_of(gemm.model) +
                         ": GELU has no bound; name a row, or leave out the model or the GELU");
    return gemm.model.row == nullptr ? success() : check_model_takes(p, *gemm.model.row);
}

std::optional<FactorType> output_named(std::string_view word) {
    if (std::ranges::find(block_outputs, word, &BlockOutput::name) != block_outputs.end())
        return parse_gemm_factor(word);
    const std::vector<std::string> names = gemm_output_names();
    if (std::ranges::find(names, word) == names.end()) return std::nullopt;
    return FactorType{*find_element_format(word), FactorScaling::none};
}

std::optional<ModelChoice> model_named(std::string_view word) {
    constexpr std::string_view bounded = "bounded", bounded_by = "bounded:";
    if (word == "any") return ModelChoice{};
    if (word == bounded) return ModelChoice{nullptr, true};
    const bool is_bounded = word.starts_with(bounded_by);
    if (is_bounded) word.remove_prefix(bounded_by.size());
    const GemmModel* row = find_gemm_model(word);
    return row == nullptr ? std::nullopt : std::optional(ModelChoice{row, is_bounded});
}

// A row that stands in the case itself, or the name of one of the table.
void take_model(WordReader& reader, const std::string& word, GemmProblem& gemm) {
    if (!word.starts_with('{')) {
        const std::optional<ModelChoice> found = model_named(word);
        if (reader.take("model", word, found ? &*found : nullptr, gemm_model_names) != nullptr)
            gemm.model = *found;
        return;
    }
    const auto own = read_model_word(word);
    if (!own) return reader.note(own.error());
    gemm.model = {&own.value()->row, false, own.value()};
}

// What the case leaves to the others.
std::string_view maker_of(const CaseWords& words) {
    if (!words.dialect.empty()) return words.dialect;
    const auto* row = std::ranges::find(block_outputs, words.type, &BlockOutput::name);
    return row == block_outputs.end() ? "" : row->dialect;
}

void take_maker(WordReader& reader, std::string_view name, Case& c) {
    if (name.empty()) return;
    const std::vector<std::string> known = gemm_dialect_names();
    reader.note(check_name("dialect", name, known));
    if (reader.status()) c.dialect = find_quantizer(name);
}

void take_c(WordReader& reader, const std::string& word, GemmProblem& gemm) {
    if (word.empty()) {
        if (gemm.reads_c()) gemm.c = is_narrow(gemm.output) ? formats::bf16 : gemm.output.element;
        return;
    }
    reader.note(check_name("c", word, gemm_addend_names()));
    if (word != "none" && reader.status()) gemm.c = *find_element_format(word);
}

template <typename Value>
void take_optional(WordReader& reader, std::string_view kind, std::string_view word,
                   const std::optional<Value>& found, Value& value,
                   std::vector<std::string> (*names)()) {
    if (const Value* known = reader.take(kind, word, found ? &*found : nullptr, names))
        value = *known;
}

}  // namespace

std::optional<FactorType> parse_gemm_factor(std::string_view word) {
    count_lookup();
    if (word == nvfp4_name) return nvfp4;
    if (const BlockFormat* format = find_named(mx_block_formats, word))
        return FactorType{format->element(), FactorScaling::e8m0_1x32};
    const std::size_t colon = word.find(':');
    const std::string_view element = word.substr(0, colon);
    const bool is_fp8 = std::ranges::find(fp8_elements, element) != fp8_elements.end();
    const bool is_plain = is_fp8 || element == formats::tf32.name ||
                          std::ranges::find(input_types, element) != input_types.end();
    if (colon == std::string_view::npos && is_plain)
        return FactorType{*find_element_format(element), FactorScaling::none};
    if (colon == std::string_view::npos || !is_fp8) return std::nullopt;
    const auto* scaling = std::ranges::find(f32_scalings, word.substr(colon + 1),
                                            [](FactorScaling each) { return name_of(each); });
    if (scaling == f32_scalings.end()) return std::nullopt;
    return FactorType{*find_element_format(element), *scaling};
}

std::vector<std::string> gemm_factor_names() {
    std::vector<std::string> names = names_of(mx_block_formats);
    names.push_back(nvfp4_name);
    for (const std::string_view element : fp8_elements) {
        names.emplace_back(element);
        for (const FactorScaling scaling : f32_scalings)
            names.push_back(std::string(element) + ":" + std::string(name_of(scaling)));
    }
    for (const std::string_view type : input_types) names.emplace_back(type);
    names.emplace_back(formats::tf32.name);
    return names;
}
std::vector<std::string> gemm_output_names() {
    std::vector<std::string> names{"f32", "bf16", "f16", "e4m3", "e5m2"};
    for (const BlockOutput& output : block_outputs) names.emplace_back(output.name);
    return names;
}
std::vector<std::string> gemm_dialect_names() {
    std::vector<std::string> names = dialect_names();
    for (const Quantizer& recipe : real_scale_quantizers)
        if (makes_output_blocks(recipe, *find_block_format(nvfp4_name)))
            names.emplace_back(recipe.name);
    return names;
}
std::vector<std::string> gemm_addend_names() {
    return {"none", "f32", "bf16", "f16"};
}
std::vector<std::string> gemm_epilogue_names() {
    return first_of(epilogues);
}
std::vector<std::string> gemm_accumulation_names() {
    return first_of(accumulations);
}
std::vector<std::string> gemm_model_names() {
    std::vector<std::string> names{"any", "bounded"};
    for (const GemmModel& model : gemm_models) names.emplace_back(model.name);
    for (const GemmModel& model : gemm_models)
        names.push_back("bounded:" + std::string(model.name));
    return names;
}

Expected<Case> gemm_case_of(const CaseWords& words) {
    Case c = words.rest;
    c.operation = OperationKind::gemm;
    GemmProblem& gemm = c.gemm;
    WordReader reader;
    take_optional(reader, "factor", words.a, parse_gemm_factor(words.a), gemm.a, gemm_factor_names);
    take_optional(reader, "factor", words.b, parse_gemm_factor(words.b), gemm.b, gemm_factor_names);
    take_optional(reader, "output", words.type, output_named(words.type), gemm.output,
                  gemm_output_names);
    take_maker(reader, maker_of(words), c);
    take_c(reader, words.c, gemm);
    reader.take_value("epilogue", words.epilogue, epilogues, gemm.epilogue, gemm_epilogue_names);
    reader.take_value("accumulation", words.accumulation, accumulations, gemm.accumulation,
                      gemm_accumulation_names);
    take_model(reader, words.model, gemm);
    take_storage(reader, words, c);
    if (!reader.status()) return reader.status().error();
    c.rows = gemm.rows_written();
    c.columns = gemm.n;
    return c;
}

Status check_gemm(const Problem& p) {
    for (const auto check : {check_c, check_output_blocks, check_scales_of_factors,
                             check_packing_of_factors, check_groups, check_batches, check_model})
        if (const Status status = check(p); !status) return status;
    return success();
}

}  // namespace mx
