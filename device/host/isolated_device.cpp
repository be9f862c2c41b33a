// The host's side of a device in a child process; see isolated_device.hpp. Judges no bits.
#include "device/host/isolated_device.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "device/host/call_buffers.hpp"
#include "device/host/client.hpp"
#include "device/host/device_child.hpp"
#include "reference/base/text.hpp"

namespace mx {

namespace {

constexpr int open_attempts = 3;

DeviceAnswer refusal(AnswerKind kind, std::string reason) {
    DeviceAnswer answer;
    answer.kind = kind;
    answer.reason = std::move(reason);
    return answer;
}

std::vector<PlacedSpec> placed_specs(const std::vector<PlacedTensor>& tensors) {
    std::vector<PlacedSpec> placed;
    for (const PlacedTensor& tensor : tensors) placed.push_back({tensor.spec, tensor.offset});
    return placed;
}

std::string shown(const DeviceSource& source) {
    return "device \"" + (source.path.empty() ? source.name : source.path) + "\"";
}

// Of a question that reads shapes alone.
Request shapes_alone(Command command, const Question& question) {
    Request request{command, 0, question.operation, {}, {}};
    for (const InputTensor& input : question.inputs) request.inputs.push_back({input.spec, 0});
    for (const TensorSpec& output : question.outputs) request.outputs.push_back({output, 0});
    return request;
}

bool can_be_sent(const Request& request) {
    const auto is_whole = [](const PlacedSpec& tensor) { return byte_extent(tensor.spec).ok(); };
    return std::all_of(request.inputs.begin(), request.inputs.end(), is_whole) &&
           std::all_of(request.outputs.begin(), request.outputs.end(), is_whole) &&
           encode(request).size() <= message_size_max;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines{""};
    for (const char letter : text) {
        if (letter == '\n')
            lines.emplace_back();
        else
            lines.back() += letter;
    }
    return lines;
}

}  // namespace

Expected<IsolatedDevice> IsolatedDevice::start(const DeviceSource& source, const Limits& limits) {
    Expected<SharedMemory> memory = SharedMemory::create();
    if (!memory) return memory.error();
    IsolatedDevice device(source, limits, std::move(memory).value());
    if (const Status opened = device.open(); !opened) return opened.error();
    return device;
}

Status IsolatedDevice::open() {
    Expected<ChildProcess> child = ChildProcess::start(
        memory_.descriptor(),
        [this](ParentChannel parent) { serve_device(source_, parent, memory_); });
    if (!child) return child.error();
    const Reply reply = child.value().receive(limits_.open);
    if (reply.kind != ReplyKind::replied) {
        return Error{ErrorKind::device,
                     shown(source_) + " did not open: " + reply.text + " in open"};
    }
    std::optional<Expected<Facts>> opened = decode_opened(reply.text);
    if (!opened) {
        return Error{ErrorKind::device, shown(source_) +
                                            " did not open: it wrote to the channel "
                                            "between its process and mxcheck"};
    }
    if (!*opened) return opened->error();
    facts_ = std::move(*opened).value();
    child_ = std::move(child).value();
    return success();
}

std::optional<DeviceAnswer> IsolatedDevice::ensure_open() {
    for (int attempt = 1; !child_ && given_up_.empty(); ++attempt) {
        const Status opened = open();
        if (!opened && attempt == open_attempts) {
            given_up_ = "could not be opened again in " + std::to_string(open_attempts) +
                        " attempts: " + opened.error().message;
        }
    }
    if (child_) return std::nullopt;
    return refusal(AnswerKind::device_error, given_up_);
}

DeviceAnswer IsolatedDevice::ask(const Question& question) {
    try {
        const Expected<Placement> placement = place(question);
        if (!placement) return refusal(AnswerKind::host_error, placement.error().message);
        if (std::optional<DeviceAnswer> failure = ensure_open()) return std::move(*failure);
        return ask_open_device(question, placement.value());
    } catch (const std::bad_alloc&) {
        return refusal(AnswerKind::host_error, "out of memory for the tensors of one call");
    }
}

std::optional<DeviceAnswer> IsolatedDevice::refuses(const Question& question) {
    const Request request = shapes_alone(Command::supports, question);
    // `ask` has the sentence about a question that cannot be sent.
    if (!can_be_sent(request)) return std::nullopt;
    if (std::optional<DeviceAnswer> failure = ensure_open()) return failure;
    return call(request, "supports").failure;
}

DeviceAnswer IsolatedDevice::ask_open_device(const Question& question, const Placement& placement) {
    Request request{Command::supports, 0, question.operation, placed_specs(placement.inputs),
                    placed_specs(placement.outputs)};
    if (encode(request).size() > message_size_max) {
        return refusal(AnswerKind::host_error, "the names of the operation are too long to send");
    }
    if (auto failure = call(request, "supports").failure) return std::move(*failure);

    if (const Status grown = memory_.grow(placement.size); !grown) {
        return refusal(AnswerKind::host_error, grown.error().message);
    }
    request.command = Command::run;
    request.memory_size = memory_.bytes().size();
    CallBuffers buffers(question, placement, memory_.bytes());
    DeviceAnswer answer;
    buffers.fill();
    buffers.poison(first_poison);
    if (auto failure = call(request, "run").failure) return std::move(*failure);
    answer.outputs = buffers.first_outputs();
    buffers.inspect(answer.findings);
    buffers.poison(second_poison);
    buffers.load_second_inputs();
    if (auto failure = call(request, "run (the second of two)").failure) return std::move(*failure);
    buffers.flag(answer.outputs);
    buffers.inspect(answer.findings);
    answer.kind = AnswerKind::answered;
    return answer;
}

DeviceAnswer IsolatedDevice::ask_in_place(const Question& question, const CallInPlace& call) {
    const Expected<Placement> placement = place_shapes(question);
    if (!placement) return refusal(AnswerKind::host_error, placement.error().message);
    if (std::optional<DeviceAnswer> refused = refuses(question)) return std::move(*refused);
    const std::size_t size = placement.value().size;
    const std::size_t room = limits_.memory_max == 0 ? available_memory() : limits_.memory_max;
    if (size > room)
        return refusal(AnswerKind::host_error, "not asked: its tensors need " + grouped(size) +
                                                   " bytes, of which " + grouped(room) +
                                                   " may be used");
    if (const Status grown = memory_.grow(size); !grown)
        return refusal(AnswerKind::host_error, grown.error().message);
    const Request request{Command::run, memory_.bytes().size(), question.operation,
                          placed_specs(placement.value().inputs),
                          placed_specs(placement.value().outputs)};
    CallBuffers buffers(question, placement.value(), memory_.bytes());
    DeviceAnswer answer = call_in_place(request, buffers, call);
    memory_.give_back();
    return answer;
}

DeviceAnswer IsolatedDevice::call_in_place(const Request& request, CallBuffers& buffers,
                                           const CallInPlace& call) {
    DeviceAnswer answer;
    buffers.fill_zones();
    call.fill(buffers.inputs());
    for (const std::byte poison : {first_poison, second_poison}) {
        buffers.poison(poison);
        const bool is_first = poison == first_poison;
        if (auto failure =
                this->call(request, is_first ? "run" : "run (the second of two)").failure)
            return std::move(*failure);
        call.look(buffers.inputs(), buffers.outputs(), poison);
        buffers.inspect_zones(answer.findings);
    }
    answer.kind = AnswerKind::answered;
    return answer;
}

IsolatedDevice::Called IsolatedDevice::call(const Request& request, const std::string& phase) {
    child_->send(encode(request));
    const Reply reply = child_->receive(limits_.call);
    if (reply.kind == ReplyKind::replied) {
        if (const std::optional<CallResult> result = decode_result(reply.text)) {
            return {judge(*result, request, phase), result->message};
        }
        child_->finish(std::chrono::milliseconds{0});
        child_.reset();
        return {refusal(AnswerKind::device_error, phase + " wrote to the channel between the "
                                                          "device's process and mxcheck")};
    }
    child_.reset();
    return {refusal(reply.kind == ReplyKind::late ? AnswerKind::timeout : AnswerKind::crash,
                    reply.text + " in " + phase)};
}

std::optional<DeviceAnswer> IsolatedDevice::judge(const CallResult& result, const Request& request,
                                                  const std::string& phase) {
    if (result.status == MX_OK) return std::nullopt;
    // This device is never asked again; a new process may find it revived.
    if (result.status == MX_DEVICE_LOST) child_.reset();
    if (result.status != MX_NOT_SUPPORTED || request.command != Command::run)
        return answer_of(result, phase);
    return refusal(AnswerKind::device_error,
                   phase + " answered MX_NOT_SUPPORTED after supports had answered MX_OK: " +
                       reason_of(result.message));
}

Expected<std::vector<std::string>> IsolatedDevice::algorithms(const Question& question) {
    const Request request = shapes_alone(Command::algorithms, question);
    if (!can_be_sent(request))
        return bad_input("the tensors of the question contradict themselves");
    if (const auto failure = ensure_open()) return refusal_of(*failure);
    const Called called = call(request, "list_algorithms");
    if (called.failure) return refusal_of(*called.failure);
    return lines_of(called.message);
}

void IsolatedDevice::restart() {
    child_.reset();
    given_up_.clear();
}

Status IsolatedDevice::close() {
    if (!child_) return success();
    const std::string end = child_->finish(limits_.call);
    child_.reset();
    if (end.empty()) return success();
    return Error{ErrorKind::device, shown(source_) + " did not close: " + end};
}

}  // namespace mx
