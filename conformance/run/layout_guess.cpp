// See layout_guess.hpp. Other layouts are read by walking, so they need no formula.
#include "conformance/run/layout_guess.hpp"

#include <functional>
#include <utility>

#include "conformance/run/difference.hpp"
#include "conformance/run/expected.hpp"
#include "conformance/run/tensor_layout.hpp"
#include "device/host/layout.hpp"
#include "reference/exact/layout.hpp"

namespace mx {
namespace {

// Reads the tensors of a buffer in a way that was not asked for; false if it does not fit.
using Reader = std::function<bool(std::span<const std::byte>, std::span<CodeTensor>)>;

struct Hypothesis {
    results::MismatchClass mismatch_class;
    std::string direction;
    Reader read;
};

bool read_by_walking(const ScaleLayout& layout, std::span<const std::byte> bytes,
                     CodeTensor& tensor) {
    const auto walked = exact::walk(layout, {tensor.rows, tensor.columns});
    if (walked.size() > bytes.size()) return false;
    for (std::size_t byte = 0; byte < walked.size(); ++byte)
        if (walked[byte])
            tensor.set(
                static_cast<std::size_t>(walked[byte]->row * tensor.columns + walked[byte]->column),
                std::to_integer<std::uint32_t>(bytes[byte]));
    return true;
}

ScaleLayout linear_layout() {
    ScaleLayout layout = scale_layouts[0];
    layout.name = "linear";
    layout.loops = layout_rows::nest_row_major({1, 1});
    return layout;
}

std::vector<Hypothesis> scale_hypotheses(const Buffer& buffer) {
    const ScaleLayout& asked = *find_scale_layout(buffer.spec.layout);
    std::vector<Hypothesis> hypotheses;
    const auto add = [&](const ScaleLayout& layout, std::string direction) {
        const auto read = [layout, tensor = buffer.tensor](std::span<const std::byte> bytes,
                                                           std::span<CodeTensor> tensors) {
            return read_by_walking(layout, bytes, tensors[tensor]);
        };
        hypotheses.push_back({"layout", std::move(direction), read});
    };
    ScaleLayout swapped = asked;
    std::swap(swapped.loops[0], swapped.loops[1]);
    add(swapped, "scales of " + buffer.spec.layout + " with the tiles in the other order");
    for (const ScaleLayout& other : scale_layouts)
        if (other.name != asked.name) add(other, "scales as in " + std::string(other.name));
    add(linear_layout(), "scales row by row without pads");
    return hypotheses;
}

// The bytes with the halves of each exchanged, read as asked.
std::vector<Hypothesis> packing_hypotheses(const Buffer& buffer) {
    if (code_bits(buffer.spec.type) != 4) return {};
    const bool is_inline = buffer.spec.layout == "inline";
    const auto read = [buffer, is_inline](std::span<const std::byte> bytes,
                                          std::span<CodeTensor> tensors) {
        std::vector<std::byte> swapped(bytes.begin(), bytes.end());
        const std::size_t block = static_cast<std::size_t>(buffer.spec.column_stride);
        for (std::size_t i = 0; i < swapped.size(); ++i)
            if (!is_inline || i % block != block - 1) swapped[i] = bytes[i] << 4 | bytes[i] >> 4;
        collect(buffer, {swapped, {}}, {tensors, {}});
        return true;
    };
    return {{"packing", "nibbles in the other order", read}};
}

std::vector<Hypothesis> hypotheses_for(const Buffer& buffer) {
    if (is_strided(buffer.spec)) return {};
    return find_scale_layout(buffer.spec.layout) != nullptr ? scale_hypotheses(buffer)
                                                            : packing_hypotheses(buffer);
}

// Differences in the bits of one output, whatever the flags; unwritten elements count.
std::uint64_t differences_in(const Evidence& e, std::size_t output) {
    std::uint64_t count = 0;
    for_each_difference(e, [&](const Difference& d) { count += d.output == output ? 1 : 0; });
    return count;
}

// The evidence with another answer, or with another expectation; its flags are clear, since a byte
// that differed between the runs may have been a pad.
Evidence trial_of(const Evidence& e) {
    Evidence trial;
    trial.c = e.c;
    trial.inputs = e.inputs;
    trial.expected = e.expected;
    trial.actual = e.actual;
    for (const CodeTensor& tensor : e.expected)
        trial.flags.emplace_back(tensor.count(), std::uint8_t{0});
    return trial;
}

LayoutGuess guess_of(const Hypothesis& hypothesis, std::size_t output, std::uint64_t count) {
    return {
        output, hypothesis.mismatch_class, hypothesis.direction,
        "all " + std::to_string(count) + " differences are explained by " + hypothesis.direction};
}

void guess_output(const Evidence& e, std::size_t index, const Buffer& buffer,
                  std::vector<LayoutGuess>& guesses) {
    const std::uint64_t count = differences_in(e, buffer.tensor);
    if (count == 0) return;
    for (const Hypothesis& hypothesis : hypotheses_for(buffer)) {
        Evidence trial = trial_of(e);
        if (!hypothesis.read(e.answer.outputs[index].bytes, trial.actual)) continue;
        if (differences_in(trial, buffer.tensor) != 0) continue;
        guesses.push_back(guess_of(hypothesis, buffer.tensor, count));
        return;
    }
}

void guess_input(const Evidence& e, const Buffer& buffer, std::vector<LayoutGuess>& guesses) {
    const std::uint64_t count = differences_in(e, 0);
    if (count == 0 || is_strided(buffer.spec)) return;
    const std::vector<std::byte> bytes = lay_out(buffer, e.inputs, first_input_pad);
    for (const Hypothesis& hypothesis : hypotheses_for(buffer)) {
        Evidence trial = trial_of(e);
        if (!hypothesis.read(bytes, trial.inputs)) continue;
        trial.expected = expect(trial.c, trial.inputs);
        if (differences_in(trial, 0) != 0) continue;
        guesses.push_back(guess_of(hypothesis, 0, count));
        return;
    }
}

}  // namespace

std::vector<LayoutGuess> guess_layouts(const Evidence& e) {
    std::vector<LayoutGuess> guesses;
    const std::vector<Buffer> outputs = output_buffers(e.c);
    for (std::size_t i = 0; i < outputs.size(); ++i)
        if (!is_strided(outputs[i].spec)) guess_output(e, i, outputs[i], guesses);
    for (const Buffer& buffer : input_buffers(e.c))
        if (guesses.empty()) guess_input(e, buffer, guesses);
    return guesses;
}

}  // namespace mx
