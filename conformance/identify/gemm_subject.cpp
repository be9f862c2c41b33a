// See gemm_subject.hpp.
#include "conformance/identify/gemm_subject.hpp"

#include <algorithm>
#include <cstring>

namespace mx::identify {
namespace {

using Probes = std::span<const GemmProbe>;

std::int64_t whole(std::int64_t length, std::int64_t unit) {
    return (length + unit - 1) / unit;
}

// A tensor and its bytes.
struct Filled {
    TensorSpec spec;
    std::vector<std::byte> bytes;

    void put(std::size_t at, Code code) {
        const std::size_t width = element_width(spec.type);
        std::memcpy(bytes.data() + at * width, &code.bits, width);
    }
};

Filled filled(const TensorSpec& spec, std::size_t bytes) {
    return {spec, std::vector<std::byte>(bytes)};
}

enum class Side { a, b };

// One factor of a GEMM, as its tensors are made.
struct Factor {
    const ElementFormat& format;
    const std::string& scaling;
    std::int64_t rows, k;
    Probes probes;
    Side side;
    GemmLayout layout;

    const std::vector<Code>& codes(std::size_t row) const {
        return side == Side::a ? probes[row].a : probes[row].b;
    }
    const std::vector<Code>& scales(std::size_t row) const {
        return side == Side::a ? probes[row].scales_a : probes[row].scales_b;
    }
};

// Two codes in a byte, the even one in the low half.
Filled packed_elements(const Factor& factor) {
    const auto line = static_cast<std::size_t>(whole(factor.k, 2));
    Filled tensor =
        filled({std::string(factor.format.name), factor.rows, factor.k, 0, 0, "packed-low"},
               static_cast<std::size_t>(factor.rows) * line);
    for (std::size_t row = 0; row < factor.probes.size(); ++row)
        for (std::size_t at = 0; at < factor.codes(row).size(); ++at)
            tensor.bytes[row * line + at / 2] |=
                static_cast<std::byte>(factor.codes(row)[at].bits << (at % 2 * 4));
    return tensor;
}

Filled elements_of(const Factor& factor) {
    if (factor.format.code_bits() == 4 && factor.layout == GemmLayout::tiled)
        return packed_elements(factor);
    const TensorSpec spec = dense(factor.format.name, factor.rows, factor.k);
    Filled tensor = filled(spec, byte_extent(spec).value());
    for (std::size_t row = 0; row < factor.probes.size(); ++row)
        for (std::size_t at = 0; at < factor.codes(row).size(); ++at)
            tensor.put(row * static_cast<std::size_t>(factor.k) + at, factor.codes(row)[at]);
    return tensor;
}

// The place of the scale of one row and one block, in elements.
std::size_t scale_place(const TensorSpec& spec, std::int64_t row, std::int64_t block) {
    if (spec.layout != "128x4")
        return static_cast<std::size_t>(row * spec.row_stride + block * spec.column_stride);
    return static_cast<std::size_t>((row / 128 * whole(spec.columns, 4) + block / 4) * 512 +
                                    row % 32 * 16 + row % 128 / 32 * 4 + block % 4);
}

// Where cuBLASLt looks for them.
TensorSpec scale_spec(const Factor& factor, const GemmScaling& rule) {
    if (rule.block == 0) return dense(rule.format.name, rule.by_row ? factor.rows : 1, 1);
    const std::int64_t blocks = whole(factor.k, rule.block);
    const std::string type(rule.format.name);
    if (factor.scaling == "1x128") return {type, factor.rows, blocks, 1, factor.rows};
    if (factor.scaling == "128x128")
        return {type, whole(factor.rows, 128), blocks, whole(blocks, 4) * 4, 1};
    if (factor.layout == GemmLayout::linear) return dense(type, factor.rows, blocks);
    return {type, factor.rows, blocks, 0, 0, "128x4"};
}

// Rows that share a scale have the first one's; where a probe has none it is 1.
Code scale_at(const Factor& factor, const GemmScaling& rule, std::int64_t row, std::int64_t block) {
    const auto at = static_cast<std::size_t>(rule.by_row ? row : 0);
    if (at < factor.probes.size() && static_cast<std::size_t>(block) < factor.scales(at).size())
        return factor.scales(at)[static_cast<std::size_t>(block)];
    return Code{static_cast<std::uint32_t>(rule.format.exponent_bias) << rule.format.mantissa_bits};
}

Filled scales_of(const Factor& factor) {
    const GemmScaling& rule = *find_gemm_scaling(factor.scaling);
    const TensorSpec spec = scale_spec(factor, rule);
    Filled tensor = filled(spec, byte_extent(spec).value());
    for (std::int64_t row = 0; row < spec.rows; ++row)
        for (std::int64_t block = 0; block < spec.columns; ++block)
            tensor.put(scale_place(spec, row, block), scale_at(factor, rule, row, block));
    return tensor;
}

Operation operation_of(const GemmSetting& setting, const GemmProbe& probe) {
    Operation operation{.name = "gemm"};
    operation.gemm = GemmOperation{.alpha = probe.alpha.bits,
                                   .beta = probe.beta.bits,
                                   .scaling_a = setting.scaling_a,
                                   .scaling_b = setting.scaling_b,
                                   .accumulation = setting.accumulation,
                                   .algorithm = setting.algorithm};
    return operation;
}

std::vector<Filled> inputs_of(const GemmSetting& setting, const GemmShape& shape, Probes left,
                              Probes right, GemmLayout layout) {
    std::vector<Filled> inputs;
    for (const Factor& factor :
         {Factor{setting.a, setting.scaling_a, shape.m, shape.k, left, Side::a, layout},
          Factor{setting.b, setting.scaling_b, shape.n, shape.k, right, Side::b, layout}}) {
        inputs.push_back(elements_of(factor));
        if (!factor.scaling.empty()) inputs.push_back(scales_of(factor));
    }
    if (left[0].beta.bits << 1 == 0) return inputs;
    const TensorSpec c = dense("f32", shape.m, shape.n);
    inputs.push_back(filled(c, byte_extent(c).value()));
    for (std::size_t row = 0; row < left.size(); ++row)
        for (std::size_t column = 0; column < right.size(); ++column)
            inputs.back().put(row * static_cast<std::size_t>(shape.n) + column, left[row].c);
    return inputs;
}

bool shares_scales(const std::string& scaling) {
    return scaling == "tensor" || scaling == "128x128";
}

// May two probes be rows of one GEMM?
bool go_together(const GemmSetting& setting, const GemmProbe& first, const GemmProbe& second) {
    if (first.alpha != second.alpha || first.beta != second.beta) return false;
    if (shares_scales(setting.scaling_a) && first.scales_a != second.scales_a) return false;
    return !shares_scales(setting.scaling_b) || first.scales_b == second.scales_b;
}

}  // namespace

std::string text_of(const GemmShape& shape) {
    return std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" + std::to_string(shape.k);
}

DeviceAnswer GemmSubject::answer_to(const GemmShape& shape, Probes left, Probes right) {
    const std::vector<Filled> inputs = inputs_of(setting_, shape, left, right, layout_);
    Question question{.operation = operation_of(setting_, left[0]),
                      .outputs = {dense("f32", shape.m, shape.n)}};
    for (const Filled& input : inputs) question.inputs.push_back({input.spec, input.bytes});
    ++calls_;
    return client_.ask(question);
}

Expected<std::vector<Code>> GemmSubject::run(const GemmShape& shape, Probes left, Probes right) {
    DeviceAnswer answer = answer_to(shape, left, right);
    // The device may know the other layout.
    if (answer.kind == AnswerKind::not_supported && calls_ == 1) {
        layout_ = GemmLayout::linear;
        DeviceAnswer other = answer_to(shape, left, right);
        if (other.kind == AnswerKind::not_supported)
            layout_ = GemmLayout::tiled;
        else
            answer = std::move(other);
    }
    const auto read = outputs_of(std::move(answer), {.outputs = {dense("f32", shape.m, shape.n)}});
    if (!read)
        return Error{read.error().kind, "gemm " + text_of(shape) + ": " + read.error().message};
    std::vector<Code> outputs(static_cast<std::size_t>(shape.m * shape.n));
    static_assert(sizeof(Code) == 4);
    std::memcpy(outputs.data(), read.value()[0].bytes.data(), outputs.size() * sizeof(Code));
    return outputs;
}

Expected<std::vector<Code>> GemmSubject::ask(const GemmShape& shape, Probes probes) {
    std::vector<Code> answers;
    const auto fitting = static_cast<std::size_t>(std::min(shape.m, shape.n));
    while (answers.size() < probes.size()) {
        const Probes rest = probes.subspan(answers.size());
        std::size_t count = 1;
        while (count < rest.size() && count < fitting &&
               go_together(setting_, rest[0], rest[count]))
            ++count;
        const Probes rows = rest.first(count);
        const auto outputs = run(shape, rows, rows);
        if (!outputs) return outputs.error();
        for (std::size_t i = 0; i < count; ++i) {
            const Code d = outputs.value()[i * static_cast<std::size_t>(shape.n) + i];
            answers.push_back(without_payload(d));
            const bool is_new = std::find(nans_.begin(), nans_.end(), d) == nans_.end();
            if (formats::f32.is_nan(d) && is_new) nans_.push_back(d);
        }
        outputs_read_ += count;
    }
    return answers;
}

Expected<std::vector<Code>> GemmSubject::ask_all(Probes left, Probes right) {
    auto outputs = run({static_cast<std::int64_t>(left.size()),
                        static_cast<std::int64_t>(right.size()), left[0].depth()},
                       left, right);
    if (!outputs) return outputs;
    outputs_read_ += outputs.value().size();
    return outputs;
}

Expected<std::vector<std::string>> GemmSubject::algorithms(const GemmShape& shape) {
    const std::vector<GemmProbe> none(1);
    const std::vector<Filled> inputs = inputs_of(setting_, shape, none, none, layout_);
    Question question{.operation = operation_of(setting_, none[0]),
                      .outputs = {dense("f32", shape.m, shape.n)}};
    for (const Filled& input : inputs) question.inputs.push_back({input.spec, {}});
    return client_.algorithms(question);
}

bool takes(const Client& device, const GemmSetting& setting) {
    constexpr GemmShape shape{128, 128, 512};
    GemmProbe zeros;
    zeros.a = zeros.b = std::vector<Code>(static_cast<std::size_t>(shape.k));
    return GemmSubject(device, setting).ask(shape, std::vector<GemmProbe>{zeros}).ok();
}

}  // namespace mx::identify
