// See gemm_subject.hpp.
#include "conformance/run/test/gemm_subject.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "conformance/run/runner.hpp"
#include "device/host/layout.hpp"
#include "reference/exact/layout.hpp"
#include "reference/fast/block.hpp"
#include "reference/fast/dot.hpp"
#include "reference/fast/dot_model.hpp"
#include "reference/fast/gemm_epilogue.hpp"
#include "reference/fast/gemm_output.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx {
namespace {

constexpr ElementFormat f32 = formats::f32;
constexpr std::uint32_t one_of_f32 = 0x3F800000;

const ElementFormat& format_of(const std::string& type) {
    if (type == row_offset.name) return row_offset;
    return type == ue4m3.name ? ue4m3 : *find_element_format(type);
}

Matrix matrix_of(const TensorSpec& spec, std::span<const std::byte> bytes) {
    Matrix matrix(static_cast<std::size_t>(spec.rows),
                  std::vector<std::uint32_t>(static_cast<std::size_t>(spec.columns)));
    const auto byte = [&](std::int64_t at) {
        return std::to_integer<std::uint32_t>(bytes[static_cast<std::size_t>(at)]);
    };
    if (const ScaleLayout* layout = find_scale_layout(spec.layout)) {
        const auto walked = exact::walk(*layout, {spec.rows, spec.columns});
        for (std::size_t at = 0; at < walked.size(); ++at)
            if (walked[at])
                matrix[static_cast<std::size_t>(walked[at]->row)]
                      [static_cast<std::size_t>(walked[at]->column)] =
                          byte(static_cast<std::int64_t>(at));
        return matrix;
    }
    const std::size_t width = element_width(spec.type);
    std::int64_t row_number = 0;
    for (auto& row : matrix) {
        std::int64_t column = 0;
        for (std::uint32_t& code : row) {
            if (spec.layout == "packed-low") {
                const std::uint32_t both = byte(row_number * ((spec.columns + 1) / 2) + column / 2);
                code = column % 2 == 0 ? both & 15 : both >> 4;
            } else {
                const auto at = static_cast<std::size_t>(row_number * spec.row_stride +
                                                         column * spec.column_stride);
                std::memcpy(&code, bytes.data() + at * width, width);
                code >>= format_of(spec.type).spare_bits();
            }
            ++column;
        }
        ++row_number;
    }
    return matrix;
}

// The batch or group of each row of A.
std::vector<std::size_t> groups_of(const PlainGemm& gemm, const Matrix& offsets) {
    std::vector<std::size_t> groups;
    for (std::size_t row = 0; row < gemm.a.size(); ++row) {
        if (offsets.empty()) {
            groups.push_back(row / static_cast<std::size_t>(gemm.m));
            continue;
        }
        std::size_t group = 0;
        while (group + 1 < offsets[0].size() && offsets[0][group + 1] <= row) ++group;
        groups.push_back(group + 1 < offsets[0].size() ? group : PlainGemm::no_group);
    }
    return groups;
}

// A row of scales for each of a factor, from tiles of 128 or 8 rows that begin anew with each
// group. Rows of no group have none.
Matrix without_pads(const Matrix& scales, const std::vector<std::size_t>& groups,
                    const std::string& layout) {
    const std::size_t unit = layout == "8x4" ? 8 : 128;
    Matrix rows(groups.size());
    std::size_t next = 0;
    for (std::size_t row = 0; row < groups.size() && groups[row] != PlainGemm::no_group; ++row) {
        if (row > 0 && groups[row] != groups[row - 1]) next = (next + unit - 1) / unit * unit;
        rows[row] = scales[next++];
    }
    return rows;
}

PlainGemm read(const Question& question) {
    PlainGemm gemm;
    gemm.asked = *question.operation.gemm;
    std::size_t next = 0;
    const auto take = [&](std::string* type) {
        const InputTensor& input = question.inputs[next++];
        if (type != nullptr) *type = input.spec.type;
        return matrix_of(input.spec, input.data);
    };
    gemm.a = take(&gemm.type_a);
    if (!gemm.asked.scaling_a.empty()) gemm.scales_a = take(nullptr);
    gemm.b = take(&gemm.type_b);
    if (!gemm.asked.scaling_b.empty()) gemm.scales_b = take(nullptr);
    if (gemm.asked.beta << 1 != 0) gemm.c = take(&gemm.type_c);
    if (gemm.asked.epilogue.find("bias") != std::string::npos) gemm.bias = take(&gemm.type_bias);
    if (gemm.asked.scaling_out == "tensor" || gemm.asked.scaling_out == "1x16")
        gemm.scale_out = take(nullptr);
    Matrix offsets;
    if (gemm.asked.groups != 0) offsets = take(nullptr);
    gemm.type_d = question.outputs[0].type;
    gemm.dialect = question.operation.dialect;
    gemm.m = static_cast<std::int64_t>(gemm.a.size()) / gemm.asked.batches;
    gemm.n = static_cast<std::int64_t>(gemm.b.size()) / gemm.asked.batches;
    if (gemm.asked.groups != 0) gemm.n /= gemm.asked.groups;
    gemm.groups = groups_of(gemm, offsets);
    const std::string& layout = question.inputs[1].spec.layout;
    if (gemm.asked.groups == 0 || find_scale_layout(layout) == nullptr) return gemm;
    std::vector<std::size_t> of_b;
    for (std::size_t row = 0; row < gemm.b.size(); ++row)
        of_b.push_back(row / static_cast<std::size_t>(gemm.n));
    gemm.scales_a = without_pads(gemm.scales_a, gemm.groups, layout);
    gemm.scales_b = without_pads(gemm.scales_b, of_b, layout);
    return gemm;
}

CodeView view_of(const std::vector<std::uint32_t>& codes) {
    return {reinterpret_cast<const std::uint8_t*>(codes.data()), 4, 1};
}

struct Scaled {
    ScaledRow row;
    Code whole{one_of_f32};
};

Scaled scaled_row(const std::string& type, const Matrix& codes, const std::string& scaling,
                  const Matrix& scales, std::size_t index) {
    Scaled made{{format_of(type), view_of(codes[index]), f32, {}, 0}};
    if (scaling.empty()) return made;
    const std::size_t line = scaling == "tensor" ? 0 : scaling == "128x128" ? index / 128 : index;
    made.row.scales = view_of(scales[line]);
    made.row.block = scaling == "1x32"           ? 32
                     : scaling == "1x16"         ? 16
                     : scaling.ends_with("x128") ? 128
                                                 : static_cast<std::int64_t>(codes[index].size());
    if (scaling == "1x32") made.row.scale = formats::e8m0;
    if (scaling == "1x16") made.row.scale = ue4m3;
    if (scaling == "tensor" || scaling == "row") made.whole = Code{scales[line][0]};
    return made;
}

GemmEpilogue epilogue_of(const PlainGemm& gemm) {
    GemmEpilogue epilogue;
    epilogue.output = gemm.dialect.empty() ? format_of(gemm.type_d) : f32;
    if (!gemm.type_c.empty()) epilogue.addend = format_of(gemm.type_c);
    if (!gemm.type_bias.empty()) epilogue.bias = format_of(gemm.type_bias);
    epilogue.adds_bias = !gemm.bias.empty();
    epilogue.scales_output = !gemm.scale_out.empty();
    if (gemm.asked.scaling_a == "tensor") epilogue.scales = FactorScales::in_alpha;
    if (gemm.asked.scaling_a == "row") epilogue.scales = FactorScales::on_accumulator;
    if (gemm.asked.scaling_a.ends_with("x128")) epilogue.scales = FactorScales::in_accumulator;
    if (gemm.asked.epilogue.ends_with("relu")) epilogue.activation = Activation::relu;
    if (gemm.asked.epilogue.ends_with("gelu")) epilogue.activation = Activation::gelu;
    return epilogue;
}

std::uint32_t exact_output(const PlainGemm& gemm, const Scaled& a, const Scaled& b,
                           const GemmEpilogue& epilogue, const EpilogueOperands& operands) {
    const auto depth = static_cast<std::int64_t>(gemm.a[0].size());
    fast::Total total;
    fast::add_multiple(total, fast::unpack(f32, operands.alpha), fast::dot(a.row, b.row, depth));
    if (!gemm.c.empty())
        fast::add_product(total, fast::unpack(f32, operands.beta),
                          fast::unpack(epilogue.addend, operands.c));
    if (epilogue.adds_bias)
        fast::add_product(total, fast::unpack(epilogue.bias, operands.bias),
                          fast::unpack(f32, Code{one_of_f32}));
    const bool is_negative = fast::kind_of(total) == fast::Kind::infinity
                                 ? total.negative_infinity
                                 : fast::is_negative(total.sum);
    if (epilogue.activation == Activation::relu && is_negative) total = {};
    fast::Total scaled = total;
    if (epilogue.scales_output) {
        scaled = {};
        fast::add_multiple(scaled, fast::unpack(f32, operands.scale_out), total);
    }
    return fast::round_total(epilogue.output, Rounding::nearest_even,
                             epilogue.is_narrow() ? Overflow::saturate : Overflow::overflow, scaled)
        .bits;
}

std::uint32_t output_at(const PlainGemm& gemm, const GemmModel* model, std::size_t row,
                        std::size_t column) {
    const std::size_t b_row = gemm.groups[row] * static_cast<std::size_t>(gemm.n) + column;
    Scaled a = scaled_row(gemm.type_a, gemm.a, gemm.asked.scaling_a, gemm.scales_a, row);
    Scaled b = scaled_row(gemm.type_b, gemm.b, gemm.asked.scaling_b, gemm.scales_b, b_row);
    const GemmEpilogue epilogue = epilogue_of(gemm);
    EpilogueOperands operands{.alpha = Code{gemm.asked.alpha}, .beta = Code{gemm.asked.beta}};
    operands.scale_a = a.whole;
    operands.scale_b = b.whole;
    if (!gemm.c.empty()) operands.c = Code{gemm.c[row][column]};
    if (!gemm.bias.empty()) operands.bias = Code{gemm.bias[0][column]};
    if (!gemm.scale_out.empty()) operands.scale_out = Code{gemm.scale_out[0][0]};
    if (model == nullptr) return exact_output(gemm, a, b, epilogue, operands);
    if (model->scaling == BlockScaling::none) a.row.block = b.row.block = 0;
    const auto depth = static_cast<std::int64_t>(gemm.a[0].size());
    return fast::finish(epilogue, operands, fast::accumulate(*model, a.row, b.row, depth, {})).bits;
}

// Two codes a byte, the first of them in its low half.
OutputTensor packed(const Matrix& codes) {
    OutputTensor output;
    for (const auto& row : codes)
        for (std::size_t column = 0; column < row.size(); column += 2) {
            const std::uint32_t high = column + 1 < row.size() ? row[column + 1] : 0;
            output.bytes.push_back(static_cast<std::byte>(row[column] | high << 4));
        }
    output.flags.resize(output.bytes.size());
    return output;
}

OutputTensor written(const Matrix& codes, const TensorSpec& spec) {
    OutputTensor output;
    if (spec.layout == "packed-low") return packed(codes);
    const std::size_t width = element_width(spec.type);
    if (const ScaleLayout* layout = find_scale_layout(spec.layout)) {
        for (const auto& place : exact::walk(*layout, {spec.rows, spec.columns}))
            output.bytes.push_back(
                static_cast<std::byte>(place ? codes[static_cast<std::size_t>(place->row)]
                                                    [static_cast<std::size_t>(place->column)]
                                             : 0));
    } else {
        for (const auto& row : codes)
            for (const std::uint32_t code : row) {
                for (std::size_t byte = 0; byte < width; ++byte)
                    output.bytes.push_back(static_cast<std::byte>(code >> 8 * byte));
            }
    }
    output.flags = std::vector<std::uint8_t>(output.bytes.size() / width);
    return output;
}

Code quantized_block(const PlainGemm& gemm, const std::uint32_t* numbers, std::size_t count,
                     std::uint8_t* elements) {
    const int lanes = static_cast<int>(count);
    if (gemm.asked.scaling_out == "1x16") {
        std::vector<fast::Unpacked> values;
        for (std::size_t i = 0; i < count; ++i)
            values.push_back(fast::unpack(f32, Code{numbers[i]}));
        return fast::quantize_exact_block(*find_quantizer(gemm.dialect),
                                          *find_block_format("nvfp4"), values.data(), lanes,
                                          elements);
    }
    const std::string format = gemm.type_d == "e2m1" ? "mxfp4-e2m1" : "mxfp8-" + gemm.type_d;
    return fast::quantize_block(*find_quantizer(gemm.dialect), *find_block_format(format), f32,
                                numbers, lanes, elements);
}

// Numbers of binary32 become the codes of blocks; what comes back are their scales.
Matrix quantized(const PlainGemm& gemm, Matrix& numbers) {
    const std::size_t size = gemm.asked.scaling_out == "1x16" ? 16 : 32;
    Matrix scales;
    for (auto& row : numbers) {
        scales.emplace_back();
        for (std::size_t first = 0; first < row.size(); first += size) {
            const std::size_t count = std::min(size, row.size() - first);
            std::vector<std::uint8_t> elements(count);
            scales.back().push_back(
                quantized_block(gemm, &row[first], count, elements.data()).bits);
            std::copy(elements.begin(), elements.end(), &row[first]);
        }
    }
    return scales;
}

}  // namespace

DeviceAnswer GemmSubject::answer(const Question& question) const {
    PlainGemm gemm = read(question);
    if (spoil) spoil(gemm);
    Matrix d(gemm.a.size(), std::vector<std::uint32_t>(static_cast<std::size_t>(gemm.n)));
    for (std::size_t row = 0; row < d.size(); ++row)
        for (std::size_t column = 0; column < d[row].size(); ++column)
            if (gemm.groups[row] != PlainGemm::no_group)
                d[row][column] = output_at(gemm, model, row, column);
    Matrix scales;
    if (!gemm.dialect.empty()) {
        if (spoil_numbers) spoil_numbers(gemm, d);
        scales = quantized(gemm, d);
        if (spoil_scales) spoil_scales(scales);
    }
    if (spoil_result) spoil_result(gemm, d);
    OutputTensor output = written(d, question.outputs[0]);
    for (std::size_t row = 0; row < d.size(); ++row) {
        const bool is_left_out =
            rows_unwritten_from >= 0 && static_cast<std::int64_t>(row) >= rows_unwritten_from;
        if (!is_left_out && gemm.groups[row] != PlainGemm::no_group) continue;
        for (std::size_t column = 0; column < d[row].size(); ++column) {
            output.flags[row * d[row].size() + column] = flag_unwritten;
            ++output.unwritten;
        }
    }
    DeviceAnswer answer;
    answer.kind = AnswerKind::answered;
    answer.outputs.push_back(std::move(output));
    if (!gemm.dialect.empty()) answer.outputs.push_back(written(scales, question.outputs[1]));
    return answer;
}

results::CaseResult run(const std::string& text, const GemmSubject& subject) {
    const auto c = parse_case(text);
    EXPECT_TRUE(c.ok()) << text << ": " << (c ? "" : c.error().message);
    if (!c) return {};
    Sources sources;
    Runner runner(
        Client{.ask = [&subject](const Question& question) { return subject.answer(question); }},
        sources, {});
    const auto result = runner.run({"test", c.value()});
    EXPECT_TRUE(result.ok()) << (result ? "" : result.error().message);
    return result ? result.value() : results::CaseResult{};
}

std::string told(const results::CaseResult& result) {
    std::string text =
        result.case_text + ": " + std::string(name_of(result.verdict)) + ", " + result.reason;
    for (const results::Mismatch& m : result.mismatches)
        text += "; " + m.mismatch_class + " " + m.direction + " " + m.note;
    return text;
}

}  // namespace mx
