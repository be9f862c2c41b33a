// See subject.hpp.
#include "conformance/identify/subject.hpp"

#include <cstring>

namespace mx::identify {
namespace {

// Codes of the input type, little endian, in the fewest whole bytes.
void append_code(std::vector<std::byte>& bytes, std::uint32_t code, std::size_t width) {
    const std::size_t at = bytes.size();
    bytes.resize(at + width);
    std::memcpy(bytes.data() + at, &code, width);
}

}  // namespace

Question Subject::question_of(std::int64_t rows, std::int64_t columns) const {
    Question question;
    question.operation = {.name = "quantize",
                          .format = std::string(setting_.format.name),
                          .dialect = setting_.dialect,
                          .axis = "row",
                          .block_size = static_cast<std::int64_t>(lane_count)};
    question.outputs = {dense(setting_.format.element().name, rows, columns),
                        dense(setting_.format.scale().name, rows, 1)};
    return question;
}

Expected<std::vector<Answer>> Subject::quantize(std::span<const Lanes> blocks) {
    if (blocks.empty()) return std::vector<Answer>{};
    const std::size_t width = static_cast<std::size_t>(setting_.input.code_bytes());
    std::vector<std::byte> bytes;
    for (const Lanes& block : blocks)
        for (const std::uint32_t code : block) append_code(bytes, code, width);
    const std::int64_t rows = static_cast<std::int64_t>(blocks.size());
    const std::int64_t columns = static_cast<std::int64_t>(lane_count);
    Question question = question_of(rows, columns);
    question.inputs = {{dense(setting_.input.name, rows, columns), bytes}};
    const auto outputs = outputs_of(client_.ask(question), question);
    if (!outputs) return outputs.error();
    blocks_asked_ += blocks.size();
    std::vector<Answer> answers(blocks.size());
    for (std::size_t row = 0; row < blocks.size(); ++row) {
        answers[row].lanes = blocks[row];
        answers[row].scale = Code{std::to_integer<std::uint32_t>(outputs.value()[1].bytes[row])};
        std::memcpy(answers[row].elements.data(),
                    outputs.value()[0].bytes.data() + row * lane_count, lane_count);
    }
    return answers;
}

Expected<std::vector<Answer>> Subject::quantize_partial(const Lanes& block, std::size_t count) {
    const std::size_t width = static_cast<std::size_t>(setting_.input.code_bytes());
    std::vector<std::byte> bytes;
    for (std::size_t lane = 0; lane < count; ++lane) append_code(bytes, block[lane], width);
    Question question = question_of(1, static_cast<std::int64_t>(count));
    question.inputs = {{dense(setting_.input.name, 1, static_cast<std::int64_t>(count)), bytes}};
    const DeviceAnswer answer = client_.ask(question);
    if (answer.kind == AnswerKind::not_supported) return std::vector<Answer>{};
    if (answer.kind != AnswerKind::answered) return refusal_of(answer);
    ++blocks_asked_;
    Answer partial;
    for (std::size_t lane = 0; lane < count; ++lane) partial.lanes[lane] = block[lane];
    partial.scale = Code{std::to_integer<std::uint32_t>(answer.outputs[1].bytes[0])};
    std::memcpy(partial.elements.data(), answer.outputs[0].bytes.data(), count);
    return std::vector<Answer>{partial};
}

bool Subject::takes_scale_layout(const std::string& layout) {
    const std::size_t width = static_cast<std::size_t>(setting_.input.code_bytes());
    const std::vector<std::byte> zeros(lane_count * width);
    Question question = question_of(1, static_cast<std::int64_t>(lane_count));
    question.inputs = {
        {dense(setting_.input.name, 1, static_cast<std::int64_t>(lane_count)), zeros}};
    question.outputs[1] = {.type = std::string(setting_.format.scale().name),
                           .rows = 1,
                           .columns = 1,
                           .row_stride = 0,
                           .column_stride = 0,
                           .layout = layout};
    return client_.ask(question).kind == AnswerKind::answered;
}

}  // namespace mx::identify
