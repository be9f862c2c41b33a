// See dressed_gemm.hpp.
#include "conformance/identify/test/dressed_gemm.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "reference/fast/gemm_epilogue.hpp"
#include "reference/gemm/model_sum.hpp"

namespace mx::identify {
namespace {

using fast::Unpacked;

// The tensors of a question in the order of the device ABI.
struct Asked {
    const InputTensor *a = nullptr, *scales_a = nullptr, *b = nullptr, *scales_b = nullptr,
                      *c = nullptr;

    explicit Asked(const Question& question) {
        std::size_t next = 0;
        const GemmOperation& gemm = *question.operation.gemm;
        const auto take = [&] { return &question.inputs[next++]; };
        a = take();
        if (!gemm.scaling_a.empty()) scales_a = take();
        b = take();
        if (!gemm.scaling_b.empty()) scales_b = take();
        if (gemm.beta << 1 != 0) c = take();
    }
};

// The codes of one row, whatever way they lie.
std::vector<Code> codes_of(const InputTensor& tensor, std::int64_t row) {
    const TensorSpec& spec = tensor.spec;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(tensor.data.data());
    std::vector<Code> codes;
    for (std::int64_t k = 0; k < spec.columns; ++k) {
        if (spec.layout == "packed-low") {
            const std::uint8_t pair = bytes[row * ((spec.columns + 1) / 2) + k / 2];
            codes.push_back(Code{k % 2 == 0 ? pair & 15u : pair >> 4u});
            continue;
        }
        const std::size_t width = element_width(spec.type);
        std::int64_t place = row * spec.row_stride + k * spec.column_stride;
        if (spec.layout == "128x4")
            place = (row / 128 * ((spec.columns + 3) / 4) + k / 4) * 512 + row % 32 * 16 +
                    row % 128 / 32 * 4 + k % 4;
        Code code;
        std::memcpy(&code.bits, bytes + static_cast<std::size_t>(place) * width, width);
        if (const ElementFormat* type = find_element_format(spec.type))
            code.bits >>= type->spare_bits();
        codes.push_back(code);
    }
    return codes;
}

struct Row {
    std::vector<Code> codes, scales;
    ScaledRow view;
};

CodeView view_of(const std::vector<Code>& codes) {
    return {reinterpret_cast<const std::uint8_t*>(codes.data()), 4, 1};
}

Row row_of(const InputTensor& tensor, const InputTensor* scales, const std::string& scaling,
           std::int64_t index) {
    const FactorScalingRow& rule =
        *std::ranges::find(factor_scalings, scaling, &FactorScalingRow::name);
    Row row{codes_of(tensor, index), {}, {}};
    row.view = {*find_element_format(tensor.spec.type), view_of(row.codes)};
    if (scales == nullptr) return row;
    row.scales = codes_of(*scales, rule.rows == 0 ? 0 : index / rule.rows);
    if (rule.block == 0) return row;
    row.view.scale = rule.scale;
    row.view.scales = view_of(row.scales);
    row.view.block = rule.block;
    return row;
}

Code output_of(const Dress& dress, const GemmOperation& gemm, const Row& a, const Row& b, Code c) {
    GemmEpilogue epilogue = dress.epilogue;
    EpilogueOperands operands{.alpha = Code{gemm.alpha}, .beta = Code{gemm.beta}, .c = c};
    if (gemm.scaling_a == "tensor") epilogue.scales = FactorScales::in_alpha;
    if (gemm.scaling_a == "row") epilogue.scales = FactorScales::on_accumulator;
    if (gemm.scaling_a.ends_with("x128")) epilogue.scales = FactorScales::in_accumulator;
    if (epilogue.has_scales()) {
        operands.scale_a = a.scales[0];
        operands.scale_b = b.scales[0];
    }
    Unpacked first;
    if (dress.begins_with_c && gemm.beta << 1 != 0) {
        first =
            fast::product(fast::unpack(formats::f32, operands.beta), fast::unpack(formats::f32, c));
        operands.beta = {};
    }
    const auto depth = static_cast<std::int64_t>(a.codes.size());
    ScaledRow left = a.view;
    std::optional<gemm::TimesAlpha> times_alpha;
    if (dress.alpha == AlphaPlace::factor_a) {
        const Unpacked alpha = fast::unpack(formats::f32, operands.alpha);
        left = times_alpha.emplace(left, depth, alpha).row();
        operands.alpha = one_f32;
    }
    const Code d = fast::finish(epilogue, operands, dress.accumulate(left, b.view, depth, first));
    return formats::f32.is_nan(d) ? Code{dress.nan} : d;
}

DeviceAnswer answer_to(const Dress& dress, const Question& question) {
    DeviceAnswer answer;
    const std::int64_t m = question.outputs[0].rows, n = question.outputs[0].columns;
    const Asked asked(question);
    if (asked.a->spec.columns > dress.k_max) {
        answer.kind = AnswerKind::not_supported;
        answer.reason = "K is too large";
        return answer;
    }
    const GemmOperation& gemm = *question.operation.gemm;
    answer.kind = AnswerKind::answered;
    answer.outputs.resize(1);
    answer.outputs[0].bytes.resize(static_cast<std::size_t>(m * n) * 4);
    std::vector<Row> right;
    for (std::int64_t j = 0; j < n; ++j)
        right.push_back(row_of(*asked.b, asked.scales_b, gemm.scaling_b, j));
    for (std::int64_t i = 0; i < m; ++i) {
        const Row left = row_of(*asked.a, asked.scales_a, gemm.scaling_a, i);
        const std::vector<Code> c =
            asked.c == nullptr ? std::vector<Code>(right.size()) : codes_of(*asked.c, i);
        for (std::int64_t j = m == n ? i : 0; j < (m == n ? i + 1 : n); ++j) {
            const auto at = static_cast<std::size_t>(j);
            const Code d = output_of(dress, gemm, left, right[at], c[at]);
            std::memcpy(answer.outputs[0].bytes.data() + static_cast<std::size_t>(i * n + j) * 4,
                        &d.bits, 4);
        }
    }
    return answer;
}

}  // namespace

Dress dressed_as(const GemmModel& model, std::int64_t part) {
    Dress dress;
    dress.accumulate = [model, part](const ScaledRow& a, const ScaledRow& b, std::int64_t depth,
                                     const Unpacked& c) {
        return part == 0 ? gemm::accumulate(model, a, b, depth, c)
                         : gemm::accumulate_in_parts(model, a, b, depth, part);
    };
    dress.alpha = model.alpha;
    if (part != 0 || model.alpha == AlphaPlace::factor_a)
        dress.epilogue.kernel = GemmKernel::adds_parts;
    return dress;
}

Client device_of(const Dress& dress) {
    return {.ask = [dress](const Question& question) { return answer_to(dress, question); },
            .algorithms = [dress](const Question&) -> Expected<std::vector<std::string>> {
                return dress.algorithms;
            }};
}

}  // namespace mx::identify
