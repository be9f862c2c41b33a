// See words.hpp.
#include "conformance/relation/words.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <sstream>

#include "conformance/case/fields.hpp"
#include "reference/spec/gemm.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::relation {
namespace {

constexpr std::int64_t block_of_gemm = 32, codes_max = std::int64_t{1} << 22;

// The row of a dialect whose scales have a mantissa; nullptr where the names are not those of one.
const Quantizer* real_scale_row(const Words& words) {
    const Quantizer* row = find_quantizer(words.dialect);
    const BlockFormat* format = find_block_format(words.format);
    const bool is_one =
        row != nullptr && format != nullptr && !row->has_e8m0_scales() && row->quantizes(*format);
    return is_one ? row : nullptr;
}

// The codes of a format that relations know nothing of, as of a format whose scales have a mantissa
// in a dialect that no table has, cross in bytes, unless another type is named.
std::string usual_elements(const Words& words) {
    const BlockFormat* format = find_block_format(words.format);
    const bool is_known =
        format != nullptr && (format->has_e8m0_scales() || real_scale_row(words) != nullptr);
    return is_known ? std::string(format->element().name) : "u8";
}

std::string usual_scales(const Words& words) {
    if (real_scale_row(words) == nullptr) return "e8m0";
    return std::string(scale_in_tensors(*find_block_format(words.format)).name);
}

std::int64_t usual_block(const Words& words) {
    return real_scale_row(words) == nullptr ? 32 : find_block_format(words.format)->block_columns;
}

// "2x3" or "2x3x4": positive numbers, and no two of them span more codes than a sample may have.
std::vector<std::int64_t> extents_of(const std::string& text) {
    std::vector<std::int64_t> extents;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, 'x');) {
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
        const bool is_whole = error == std::errc{} && end == word.data() + word.size();
        if (!is_whole || value < 1 || value > 65536) return {};
        for (const std::int64_t other : extents)
            if (value * other > codes_max) return {};
        extents.push_back(value);
    }
    return extents;
}

// Codes in hexadecimal, row by row; those that are not given are 0.
Expected<CodeTensor> tensor_of(const std::string& option, const std::string& text,
                               CodeTensor tensor) {
    std::istringstream words(text);
    std::size_t at = 0;
    const std::uint64_t limit = std::uint64_t{1} << code_bits(tensor.type);
    for (std::string word; std::getline(words, word, ','); ++at) {
        std::uint32_t code = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), code, 16);
        const bool is_code = error == std::errc{} && end == word.data() + word.size();
        if (!is_code || code >= limit || at >= tensor.count())
            return bad_input(option + ", code " + std::to_string(at) + ": '" + word +
                             "' is no code of " + tensor.type + " among " +
                             std::to_string(tensor.count()));
        tensor.set(at, code);
    }
    return tensor;
}

std::string codes_text(const CodeTensor& tensor) {
    std::string text;
    for (std::size_t i = 0; i < tensor.count(); ++i) {
        char hex[16];
        std::snprintf(hex, sizeof hex, "%s%x", i == 0 ? "" : ",", tensor.at(i));
        text += hex;
    }
    return text;
}

}  // namespace

const std::vector<std::string>& operation_names() {
    static const std::vector<std::string> names{"quantize", "dequantize", "gemm"};
    return names;
}

std::vector<std::string> relation_names() {
    std::vector<std::string> names;
    for (const Relation& relation : relations()) {
        const std::string name(relation.name);
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    return names;
}

std::string Words::elements_or_usual() const {
    return elements.empty() ? usual_elements(*this) : elements;
}

std::string Words::scales_or_usual() const {
    return scales.empty() ? usual_scales(*this) : scales;
}

Status check_row(const Words& words) {
    const Quantizer* row = real_scale_row(words);
    const Quantizer* dialect = find_quantizer(words.dialect);
    const BlockFormat* format = find_block_format(words.format);
    if (format != nullptr && dialect != nullptr && !dialect->quantizes(*format))
        return format->has_e8m0_scales() && dialect->has_e8m0_scales()
                   ? success()
                   : Status(bad_input("dialect '" + words.dialect + "' does not quantize " +
                                      words.format));
    if (row == nullptr) return success();
    if (format->block_rows != 1)
        return bad_input("relate asks for blocks along rows and columns, and '" + words.format +
                         "' has none in dialect '" + words.dialect + "'");
    if (row->element_rounding == Rounding::stochastic)
        return bad_input("relate gives no random bits, which dialect '" + words.dialect +
                         "' takes");
    return success();
}

Setting setting_of(const Words& words, const std::string& operation) {
    Setting setting{
        .operation = operation,
        .format = words.format,
        .dialect = words.dialect,
        .values = words.values,
        .elements = words.elements_or_usual(),
        .scales = operation == "gemm" && words.scales.empty() ? "e8m0" : words.scales_or_usual(),
        .block = operation == "gemm" ? block_of_gemm
                 : words.block == 0  ? usual_block(words)
                                     : static_cast<std::int64_t>(words.block),
        .elements_b = words.elements_b,
        .scaling = words.scaling,
        .accumulation = words.accumulation};
    const Quantizer* row = real_scale_row(words);
    if (operation != "gemm" && row != nullptr && row->tensor_scale != TensorScale::none) {
        // An amax whose scale is about 1, or such a scale.
        constexpr std::uint32_t six_times_448 = 0x45280000, one = 0x3F800000;
        const bool has_history = row->tensor_scale == TensorScale::history;
        setting.number_given = has_history ? one : six_times_448;
        setting.number_kept = row->way_back == WayBack::times_scale_amax ? six_times_448 : one;
    }
    if (setting.elements_b.empty()) setting.elements_b = setting.elements;
    if (setting.scaling.empty()) setting.scaling = "1x32";
    if (setting.scaling == "none") setting.scaling = "";
    return setting;
}

Expected<Sample> sample_of(const Words& words, const Subject& subject, const Relation& relation) {
    Sample sample = make_sample(relation, subject.setting(), words.seed);
    const std::vector<std::int64_t> extents = extents_of(words.shape);
    if (relation.operation == "gemm") {
        if (extents.size() != 3)
            return bad_input("--shape '" + words.shape +
                             "' is no shape such as 24x20x160, of at most 2^22 codes");
        sample.extents = {extents[0], extents[1], extents[2]};
        return sample;
    }
    if (extents.size() != 2)
        return bad_input("--shape '" + words.shape +
                         "' is no shape such as 1x32, of at most 2^22 codes");
    auto values =
        tensor_of("--bits", words.bits, make_tensor(sample.values.type, extents[0], extents[1]));
    if (!values) return values.error();
    sample.values = values.value();
    if (relation.operation == "quantize") return sample;
    auto scales =
        tensor_of("--scale-bits", words.scale_bits, subject.scale_grid(sample.values, {}));
    if (!scales) return scales.error();
    sample.scales = scales.value();
    return sample;
}

Expected<std::vector<Result>> results_of(const Words& words, Subject& subject,
                                         const std::function<bool()>& is_enough) {
    if (words.shape.empty())
        return relate(subject, {.names = words.names,
                                .seed = words.seed,
                                .samples = words.samples,
                                .claims = words.claims,
                                .is_enough = is_enough});
    const Relation* relation = words.names.size() == 1
                                   ? find_relation(subject.setting().operation, words.names[0])
                                   : nullptr;
    if (relation == nullptr)
        return bad_input("--shape goes with one --op and one --relation that this operation has");
    const auto sample = sample_of(words, subject, *relation);
    if (!sample) return sample.error();
    return std::vector<Result>{relate_once(subject, *relation, sample.value(), words.claims)};
}

std::string command_of(const Words& words, const Setting& s, const Result& result) {
    std::string line = " --op " + s.operation;
    if (s.operation == "gemm") {
        line += " --elements " + s.elements + " --b-elements " + s.elements_b + " --scaling " +
                (s.scaling.empty() ? "none" : s.scaling);
        if (!s.accumulation.empty()) line += " --accumulation " + shell_quoted(s.accumulation);
    } else {
        line += " --format " + shell_quoted(s.format) + " --dialect " + shell_quoted(s.dialect);
        if (s.elements != usual_elements(words)) line += " --elements " + s.elements;
    }
    if (s.scales != (s.operation == "gemm" ? "e8m0" : usual_scales(words)))
        line += " --scales " + s.scales;
    if (s.block != (s.operation == "gemm" ? block_of_gemm : usual_block(words)))
        line += " --block " + std::to_string(s.block);
    line += " --input " + s.values + " --relation " + std::string(result.relation->name);
    if (std::ranges::find(words.claims, result.relation->name) != words.claims.end())
        line += " --claim " + std::string(result.relation->name);
    return line;
}

std::string repro_of(const Words& words, const Setting& s, const Result& result) {
    std::string line = command_of(words, s, result);
    line += " --seed " + std::to_string(result.sample.seed) + " --shape ";
    const Extents& e = result.sample.extents;
    if (s.operation == "gemm")
        return line + std::to_string(e.m) + "x" + std::to_string(e.n) + "x" + std::to_string(e.k);
    const CodeTensor& values = result.sample.values;
    line += std::to_string(values.rows) + "x" + std::to_string(values.columns) + " --bits " +
            codes_text(values);
    return s.operation == "quantize" ? line
                                     : line + " --scale-bits " + codes_text(result.sample.scales);
}

}  // namespace mx::relation
