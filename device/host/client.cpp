// See client.hpp.
#include "device/host/client.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "device/host/call_buffers.hpp"
#include "device/host/isolated_device.hpp"
#include "device/host/layout.hpp"

namespace mx {
namespace {

struct Flagged {
    std::uint64_t differing = 0, unwritten = 0;
};

std::string fault_of(const Flagged& elements) {
    if (elements.differing != 0) return "two runs gave different bits";
    return elements.unwritten != 0 ? "it left elements unwritten" : "";
}

// Rows of an output that the question asks for: of a grouped GEMM those of its groups, whose end is
// the last of the offsets in its last input.
std::int64_t rows_asked(const Question& question, const TensorSpec& output) {
    if (!question.operation.gemm || question.operation.gemm->groups == 0) return output.rows;
    const std::span<const std::byte> offsets = question.inputs.back().data;
    std::int32_t end = 0;
    if (offsets.size() < sizeof end) return output.rows;
    std::memcpy(&end, offsets.data() + offsets.size() - sizeof end, sizeof end);
    return std::clamp<std::int64_t>(end, 0, output.rows);
}

std::uint64_t unwritten_of(const Question& question, const TensorSpec& spec,
                           const OutputTensor& output) {
    if (!is_strided(spec)) return 0;
    const std::int64_t rows = rows_asked(question, spec);
    if (rows == spec.rows) return output.unwritten;
    const auto asked = static_cast<std::size_t>(rows * spec.columns);
    const auto flags = std::span(output.flags).first(std::min(asked, output.flags.size()));
    return static_cast<std::uint64_t>(std::ranges::count(flags, flag_unwritten));
}

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
                  device->facts(),
                  [device](const Question& question, const CallInPlace& call) {
                      return device->ask_in_place(question, call);
                  }};
}

Expected<std::size_t> bytes_of_call(const Question& question) {
    const auto placement = place_shapes(question);
    if (!placement) return placement.error();
    return placement.value().size;
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
    const auto count = [&](std::uint8_t flag) {
        return static_cast<std::uint64_t>(std::ranges::count(flags, flag));
    };
    return fault_of(Flagged{count(flag_differs), count(flag_unwritten)});
}

std::string fault_of(const DeviceAnswer& answer, const Question& question) {
    if (std::string fault = fault_of(answer.findings); !fault.empty()) return fault;
    for (std::size_t i = 0; i < answer.outputs.size(); ++i) {
        const OutputTensor& output = answer.outputs[i];
        const std::uint64_t unwritten = unwritten_of(question, question.outputs[i], output);
        if (std::string fault = fault_of(Flagged{output.differing, unwritten}); !fault.empty())
            return fault;
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
