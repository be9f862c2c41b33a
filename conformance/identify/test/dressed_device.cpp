// See dressed_device.hpp.
#include "conformance/identify/test/dressed_device.hpp"

#include <cstring>

#include "reference/fast/block.hpp"

namespace mx::identify {
namespace {

Answer quantized(const Quantizer& dialect, const Setting& setting, const std::byte* row,
                 std::size_t count) {
    Answer answer;
    const std::size_t width = static_cast<std::size_t>(setting.input.code_bytes());
    for (std::size_t lane = 0; lane < count; ++lane)
        std::memcpy(&answer.lanes[lane], row + lane * width, width);
    answer.scale = fast::quantize_block(dialect, setting.format, setting.input, answer.lanes.data(),
                                        static_cast<int>(count), answer.elements.data());
    return answer;
}

}  // namespace

Client dressed(const Quantizer& dialect, const Setting& setting, Fault fault) {
    return {.ask = [=](const Question& question) {
        DeviceAnswer reply;
        reply.kind = AnswerKind::not_supported;
        reply.reason = "a dressed dialect only quantizes plain tensors";
        if (question.operation.name != "quantize" || question.outputs[1].layout != "strided")
            return reply;
        const TensorSpec& spec = question.inputs[0].spec;
        const std::size_t count = static_cast<std::size_t>(spec.columns);
        reply.kind = AnswerKind::answered;
        reply.outputs.resize(2);
        for (std::size_t row = 0; row < static_cast<std::size_t>(spec.rows); ++row) {
            const std::size_t width = static_cast<std::size_t>(setting.input.code_bytes());
            Answer answer = quantized(dialect, setting,
                                      question.inputs[0].data.data() + row * count * width, count);
            if (fault) fault(answer, count);
            for (std::size_t lane = 0; lane < count; ++lane)
                reply.outputs[0].bytes.push_back(std::byte{answer.elements[lane]});
            reply.outputs[1].bytes.push_back(static_cast<std::byte>(answer.scale.bits));
        }
        return reply;
    }};
}

}  // namespace mx::identify
