// See client.hpp.
#include "device/host/client.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "device/host/isolated_device.hpp"
#include "device/host/layout.hpp"

namespace mx {
namespace {

constexpr const char* left_unwritten = "it left elements unwritten";
constexpr const char* gave_different_bits = "two runs gave different bits";

}  // namespace

Expected<Client> open_client(const DeviceSource& source, const Limits& limits) {
    auto started = IsolatedDevice::start(source, limits);
    if (!started) return started.error();
    const auto device = std::make_shared<IsolatedDevice>(std::move(started).value());
    return Client{[device](const Question& question) { return device->ask(question); },
                  [device](const Question& question) { return device->refuses(question); },
                  [device](const Question& question) { return device->algorithms(question); },
                  [device] { device->restart(); },
                  [device] { return device->close(); },
                  device->facts()};
}

std::string reason_of(const std::string& message) {
    return message.empty() ? "no reason given" : message;
}

Error refusal_of(const DeviceAnswer& answer) {
    ErrorKind kind = ErrorKind::device;
    if (answer.kind == AnswerKind::not_supported) kind = ErrorKind::bad_input;
    if (answer.kind == AnswerKind::host_error) kind = ErrorKind::system;
    return {kind, reason_of(answer.reason)};
}

DeviceAnswer answer_of(const CallResult& result, std::string_view phase) {
    DeviceAnswer answer;
    const std::string reason = reason_of(result.message);
    if (result.status == MX_NOT_SUPPORTED) {
        answer.kind = AnswerKind::not_supported;
        answer.reason = reason;
    } else if (result.status == MX_DEVICE_LOST) {
        answer.reason = "device lost in " + std::string(phase) + ": " + reason;
    } else {
        answer.reason = std::string(phase) + " answered " + name_of(result.status) + ": " + reason;
    }
    return answer;
}

std::string fault_of(const Findings& findings) {
    return findings.empty() ? "" : "it wrote to an input or a red zone";
}

std::string fault_of(std::span<const std::uint8_t> flags) {
    if (std::ranges::count(flags, flag_differs) != 0) return gave_different_bits;
    return std::ranges::count(flags, flag_unwritten) != 0 ? left_unwritten : "";
}

std::string fault_of(const DeviceAnswer& answer, const Question& question) {
    if (std::string fault = fault_of(answer.findings); !fault.empty()) return fault;
    for (std::size_t i = 0; i < answer.outputs.size(); ++i) {
        if (answer.outputs[i].differing != 0) return gave_different_bits;
        if (answer.outputs[i].unwritten != 0 && is_strided(question.outputs[i]))
            return left_unwritten;
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
