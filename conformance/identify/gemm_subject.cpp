// See gemm_subject.hpp.
#include "conformance/identify/gemm_subject.hpp"

#include <algorithm>
#include <cstring>

#include "conformance/data/gemm_tensors.hpp"
#include "device/host/layout.hpp"

namespace mx::identify {
namespace {

using Probes = std::span<const GemmProbe>;

std::int64_t whole(std::int64_t length, std::int64_t unit) {
    return (length + unit - 1) / unit;
}

// A tensor and its bytes.
struct Filled {
    GemmTensor tensor;
    std::vector<std::byte> bytes;

    explicit Filled(const GemmTensor& of) : tensor(of), bytes(byte_extent(of.spec).value()) {}

    void put(std::size_t at, Code code) {
        const auto width = static_cast<std::size_t>(tensor.type.code_bytes());
        const std::uint32_t word = code.bits << tensor.type.spare_bits();
        std::memcpy(bytes.data() + at * width, &word, width);
    }
    // Two codes in a byte, the even one in the low half.
    void put_half(std::size_t at, Code code) {
        bytes[at / 2] |= static_cast<std::byte>(code.bits << (at % 2 * 4));
    }
};

// Row i of A and what goes with it are those of left[i], row j of B those of right[j].
struct Call {
    Problem problem;
    Probes left, right;
};

bool is_of_a(GemmPart part) {
    return part == GemmPart::a || part == GemmPart::scales_a;
}

void fill_elements(const Call& call, Filled& tensor) {
    const bool is_a = is_of_a(tensor.tensor.part);
    const Probes probes = is_a ? call.left : call.right;
    const bool is_packed = !is_strided(tensor.tensor.spec);
    // Packed rows begin with whole bytes.
    const std::int64_t length = whole(call.problem.gemm.k, is_packed ? 2 : 1) * (is_packed ? 2 : 1);
    for (std::size_t row = 0; row < probes.size(); ++row) {
        const std::vector<Code>& codes = is_a ? probes[row].a : probes[row].b;
        const std::size_t first = row * static_cast<std::size_t>(length);
        for (std::size_t at = 0; at < codes.size(); ++at)
            is_packed ? tensor.put_half(first + at, codes[at]) : tensor.put(first + at, codes[at]);
    }
}

// The place of the scale of one row and one block, in elements.
std::size_t scale_place(const TensorSpec& spec, std::int64_t row, std::int64_t block) {
    if (is_strided(spec))
        return static_cast<std::size_t>(row * spec.row_stride + block * spec.column_stride);
    return static_cast<std::size_t>((row / 128 * whole(spec.columns, 4) + block / 4) * 512 +
                                    row % 32 * 16 + row % 128 / 32 * 4 + block % 4);
}

// Rows that share a scale have the first one's; where a probe has none it is 1.
void fill_scales(const Call& call, Filled& tensor) {
    const bool is_a = is_of_a(tensor.tensor.part);
    const Probes probes = is_a ? call.left : call.right;
    const GemmProblem& gemm = call.problem.gemm;
    const bool is_by_row = row_of((is_a ? gemm.a : gemm.b).scaling).rows == 1;
    const auto scale_at = [&](std::int64_t row, std::int64_t block) {
        const auto at = static_cast<std::size_t>(is_by_row ? row : 0);
        const Code one{code_of_one(tensor.tensor.type)};
        if (at >= probes.size()) return one;
        const std::vector<Code>& scales = is_a ? probes[at].scales_a : probes[at].scales_b;
        const auto column = static_cast<std::size_t>(block);
        return column < scales.size() ? scales[column] : one;
    };
    const TensorSpec& spec = tensor.tensor.spec;
    for (std::int64_t row = 0; row < spec.rows; ++row)
        for (std::int64_t block = 0; block < spec.columns; ++block)
            tensor.put(scale_place(spec, row, block), scale_at(row, block));
}

void fill_addends(const Call& call, Filled& c) {
    const auto columns = static_cast<std::size_t>(call.problem.gemm.n);
    for (std::size_t row = 0; row < call.left.size(); ++row)
        for (std::size_t column = 0; column < call.right.size(); ++column)
            c.put(row * columns + column, call.left[row].c);
}

std::vector<Filled> inputs_of(const Call& call) {
    std::vector<Filled> inputs;
    for (const GemmTensor& tensor : tensors_of(call.problem)) {
        if (is_output(tensor.part)) break;
        Filled& input = inputs.emplace_back(tensor);
        if (tensor.part == GemmPart::c)
            fill_addends(call, input);
        else if (tensor.content == GemmContent::elements)
            fill_elements(call, input);
        else
            fill_scales(call, input);
    }
    return inputs;
}

// Alpha and beta are those of the first probe.
Call call_of(const GemmProblem& setting, const GemmShape& shape, Probes left, Probes right,
             GemmLayout layout) {
    GemmProblem gemm = setting;
    gemm.m = shape.m;
    gemm.n = shape.n;
    gemm.k = shape.k;
    gemm.alpha = left[0].alpha.bits;
    gemm.beta = left[0].beta.bits;
    Call call{problem_of(gemm), left, right};
    if (layout == GemmLayout::linear) return call;
    call.problem.packing = &packing_rows::low_first;
    call.problem.scales = ScaleStorage::tiles_128x4;
    return call;
}

bool shares_scales(FactorScaling scaling) {
    return scaling != FactorScaling::none && row_of(scaling).rows != 1;
}

TensorSpec output_spec(const GemmShape& shape) {
    return dense(formats::f32.name, shape.m, shape.n);
}

// May two probes be rows of one GEMM?
bool go_together(const GemmProblem& setting, const GemmProbe& first, const GemmProbe& second) {
    if (first.alpha != second.alpha || first.beta != second.beta) return false;
    if (shares_scales(setting.a.scaling) && first.scales_a != second.scales_a) return false;
    return !shares_scales(setting.b.scaling) || first.scales_b == second.scales_b;
}

}  // namespace

std::string text_of(const GemmShape& shape) {
    return std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" + std::to_string(shape.k);
}

DeviceAnswer GemmSubject::answer_to(const GemmShape& shape, Probes left, Probes right) {
    const Call call = call_of(setting_, shape, left, right, layout_);
    const std::vector<Filled> inputs = inputs_of(call);
    Question question{.operation = operation_of(call.problem), .outputs = {output_spec(shape)}};
    for (const Filled& input : inputs) question.inputs.push_back({input.tensor.spec, input.bytes});
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
    const auto read = outputs_of(std::move(answer), {.outputs = {output_spec(shape)}});
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
    const Problem asked = call_of(setting_, shape, none, none, layout_).problem;
    Question question{.operation = operation_of(asked), .outputs = {output_spec(shape)}};
    for (const GemmTensor& tensor : tensors_of(asked))
        if (!is_output(tensor.part)) question.inputs.push_back({tensor.spec, {}});
    return client_.algorithms(question);
}

bool takes(const Client& device, const GemmProblem& setting) {
    constexpr GemmShape shape{128, 128, 512};
    GemmProbe zeros;
    zeros.a = zeros.b = std::vector<Code>(static_cast<std::size_t>(shape.k));
    return GemmSubject(device, setting).ask(shape, std::vector<GemmProbe>{zeros}).ok();
}

}  // namespace mx::identify
