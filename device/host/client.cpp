// See client.hpp.
#include "device/host/client.hpp"

#include <utility>

#include "device/host/layout.hpp"

namespace mx {

Client client_of(IsolatedDevice& device) {
    return {[&device](const Question& question) { return device.ask(question); },
            [&device](const Question& question) { return device.algorithms(question); }};
}

Error refusal_of(const DeviceAnswer& answer) {
    ErrorKind kind = ErrorKind::device;
    if (answer.kind == AnswerKind::not_supported) kind = ErrorKind::bad_input;
    if (answer.kind == AnswerKind::host_error) kind = ErrorKind::system;
    return {kind, answer.reason.empty() ? "the device gave no reason" : answer.reason};
}

std::string fault_of(const DeviceAnswer& answer, const Question& question) {
    if (!answer.findings.empty()) return "it wrote to an input or a red zone";
    for (std::size_t i = 0; i < answer.outputs.size(); ++i) {
        if (answer.outputs[i].differing != 0) return "two runs gave different bits";
        if (answer.outputs[i].unwritten != 0 && is_strided(question.outputs[i]))
            return "it left elements unwritten";
    }
    return "";
}

Expected<std::vector<OutputTensor>> outputs_of(DeviceAnswer answer, const Question& question) {
    if (answer.kind != AnswerKind::answered) return refusal_of(answer);
    const std::string fault = fault_of(answer, question);
    if (fault.empty()) return std::move(answer.outputs);
    return Error{ErrorKind::device,
                 "the device misbehaved: " + fault + "; `mxcheck run` says where"};
}

}  // namespace mx
