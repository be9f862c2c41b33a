// The C table around one command; see subprocess_device.hpp.
#include "device/subprocess/subprocess_device.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "device/host/layout.hpp"
#include "device/host/strided.hpp"
#include "device/subprocess/command_process.hpp"
#include "device/subprocess/messages.hpp"

namespace mx::pipe {
namespace {

// How long a command that stopped talking may take to be seen ended.
constexpr std::chrono::milliseconds ending_time{500};

struct PipeDevice {
    CommandProcess process;
    Hello hello;
    std::vector<mx_fact> facts = {};
    std::uint64_t last_id = 0;
};

// The arguments of supports and run.
struct Call {
    const mx_operation* operation;
    const mx_tensor* inputs;
    std::size_t input_count;
    const mx_tensor* outputs;
    std::size_t output_count;
    mx_message* message;
};

mx_status say(mx_message* message, mx_status status, const std::string& text) {
    if (message != nullptr) std::snprintf(message->text, message->capacity, "%s", text.c_str());
    return status;
}

// After this the command and we disagree about where a message begins, so it must start anew.
mx_status out_of_step(const Call& call, const std::string& what) {
    return say(call.message, MX_DEVICE_LOST, "the command answered out of step: " + what);
}

std::string describe_end(int status) {
    if (status < 0) return "closed its output and stayed";
    if (WIFSIGNALED(status)) return "killed by signal " + std::to_string(WTERMSIG(status));
    const int code = WEXITSTATUS(status);
    return "exited with code " + std::to_string(code) +
           (code == 127 ? ", which from a shell means that there is no such command" : "");
}

// A crash of the command is a crash of the device, so this process ends as the command did. A
// shell says 128 + N where a signal N killed what it ran.
mx_status end_like_command(PipeDevice& device, const Call& call) {
    constexpr int shell_signal = 128;
    const int status = device.process.wait_for_end(ending_time);
    if (status < 0) return out_of_step(call, "it closed its standard output");
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : shell_signal + WTERMSIG(status);
    if (code > shell_signal && code < shell_signal + NSIG) {
        const rlimit no_core{0, 0};
        ::setrlimit(RLIMIT_CORE, &no_core);
        ::signal(code - shell_signal, SIG_DFL);
        ::raise(code - shell_signal);
    }
    ::_exit(code);
}

std::string or_empty(const char* text) {
    return text == nullptr ? "" : text;
}

TensorSpec spec_of(const mx_tensor& tensor) {
    TensorSpec spec;
    spec.type = or_empty(tensor.type);
    spec.rows = tensor.rows;
    spec.columns = tensor.columns;
    spec.row_stride = tensor.row_stride;
    spec.column_stride = tensor.column_stride;
    spec.layout = or_empty(tensor.layout);
    return spec;
}

Operation operation_of(const mx_operation& asked) {
    Operation operation;
    operation.name = or_empty(asked.name);
    operation.format = or_empty(asked.format);
    operation.dialect = or_empty(asked.dialect);
    operation.axis = or_empty(asked.axis);
    operation.rounding = or_empty(asked.rounding);
    operation.overflow = or_empty(asked.overflow);
    operation.subnormals = or_empty(asked.subnormals);
    operation.block_size = asked.block_size;
    if (asked.gemm == nullptr) return operation;
    const mx_gemm& gemm = *asked.gemm;
    operation.gemm = GemmOperation{.batches = gemm.batches,
                                   .alpha = gemm.alpha,
                                   .beta = gemm.beta,
                                   .scaling_a = or_empty(gemm.scaling_a),
                                   .scaling_b = or_empty(gemm.scaling_b),
                                   .scaling_out = or_empty(gemm.scaling_out),
                                   .epilogue = or_empty(gemm.epilogue),
                                   .accumulation = or_empty(gemm.accumulation),
                                   .algorithm = or_empty(gemm.algorithm)};
    return operation;
}

// The request without data, or a sentence about a tensor that has no size.
Expected<PipeRequest> request_of(PipeDevice& device, const Call& call) {
    PipeRequest request;
    request.id = std::to_string(++device.last_id);
    request.form = device.hello.form;
    request.operation = operation_of(*call.operation);
    for (std::size_t i = 0; i < call.input_count; ++i)
        request.inputs.push_back({spec_of(call.inputs[i]), {}});
    for (std::size_t i = 0; i < call.output_count; ++i)
        request.outputs.push_back(spec_of(call.outputs[i]));
    for (const Cargo& input : request.inputs)
        if (const auto extent = byte_extent(input.spec); !extent) return extent.error();
    for (const TensorSpec& spec : request.outputs)
        if (const auto extent = byte_extent(spec); !extent) return extent.error();
    return request;
}

// Asks, and reads the line that opens the answer. MX_OK: `answer` is filled.
mx_status exchange(PipeDevice& device, const Call& call, const PipeRequest& request,
                   AnswerLine& answer) {
    if (!device.process.write(to_text(request))) return end_like_command(device, call);
    std::string line;
    const Got got = device.process.read_line(line, line_size_max);
    if (got == Got::end) return end_like_command(device, call);
    if (got == Got::too_much)
        return out_of_step(call, "a line of more than " + std::to_string(line_size_max) +
                                     " bytes where an answer begins");
    Expected<AnswerLine> parsed = parse_answer(line);
    if (!parsed) return out_of_step(call, parsed.error().message);
    answer = std::move(parsed).value();
    if (answer.id != request.id)
        return out_of_step(call, "id \"" + answer.id + "\" where \"" + request.id + "\" was asked");
    return say(call.message, answer.status, answer.reason);
}

mx_status read_hex_data(PipeDevice& device, const Call& call, std::span<std::byte> data) {
    std::string line;
    const Got got = device.process.read_line(line, 2 * data.size() + 1);
    if (got == Got::end) return end_like_command(device, call);
    if (got == Got::too_much)
        return out_of_step(call, "a line of more than " + std::to_string(2 * data.size()) +
                                     " digits for an output");
    const Status read = read_hex(line, data);
    return read ? MX_OK : out_of_step(call, read.error().message);
}

// Puts the elements where they belong, and nothing beside them.
void unload(const TensorSpec& spec, std::span<const std::byte> data, void* to) {
    auto* bytes = static_cast<std::byte*>(to);
    if (data.empty()) return;
    if (!is_strided(spec)) {
        std::memcpy(bytes, data.data(), data.size());
        return;
    }
    for_each_run(spec, [&](ElementRun run) {
        copy_run(bytes + run.strided, data.data() + run.dense, run.size);
    });
}

mx_status read_outputs(PipeDevice& device, const Call& call, const PipeRequest& request,
                       const AnswerLine& answer) {
    for (std::size_t i = 0; answer.form == Form::binary && i < request.outputs.size(); ++i) {
        const std::size_t wanted = travelling_size(request.outputs[i]);
        if (answer.sizes.size() != request.outputs.size() || answer.sizes[i] != wanted)
            return out_of_step(call, "\"bytes\" does not say " + std::to_string(wanted) +
                                         " for output " + std::to_string(i));
    }
    std::vector<std::byte> data;
    for (std::size_t i = 0; i < request.outputs.size(); ++i) {
        data.resize(travelling_size(request.outputs[i]));
        if (answer.form == Form::hex) {
            if (const mx_status read = read_hex_data(device, call, data); read != MX_OK) {
                return read;
            }
        } else if (device.process.read(data) != Got::all) {
            return end_like_command(device, call);
        }
        unload(request.outputs[i], data, call.outputs[i].data);
    }
    return MX_OK;
}

mx_status supports_call(PipeDevice& device, const Call& call) {
    Expected<PipeRequest> request = request_of(device, call);
    if (!request) return say(call.message, MX_INVALID, request.error().message);
    request.value().ask = Ask::supports;
    AnswerLine answer;
    return exchange(device, call, request.value(), answer);
}

mx_status run_call(PipeDevice& device, const Call& call) {
    Expected<PipeRequest> request = request_of(device, call);
    if (!request) return say(call.message, MX_INVALID, request.error().message);
    std::vector<std::vector<std::byte>> scratch(call.input_count);
    for (std::size_t i = 0; i < call.input_count; ++i) {
        Cargo& input = request.value().inputs[i];
        const auto* data = static_cast<const std::byte*>(call.inputs[i].data);
        const std::span<const std::byte> bytes(data, byte_extent(input.spec).value());
        input.bytes = as_it_travels(input.spec, bytes, scratch[i]);
    }
    AnswerLine answer;
    const mx_status status = exchange(device, call, request.value(), answer);
    return status == MX_OK ? read_outputs(device, call, request.value(), answer) : status;
}

mx_status open_device(void** handle, const char* command, mx_message* message) try {
    Expected<CommandProcess> process = CommandProcess::start(command);
    if (!process) return say(message, MX_FAILED, process.error().message);
    std::string line;
    const Got got = process.value().read_line(line, line_size_max);
    if (got == Got::end)
        return say(message, MX_FAILED,
                   "the command ended before it said anything: " +
                       describe_end(process.value().wait_for_end(ending_time)));
    if (got == Got::too_much)
        return say(message, MX_FAILED,
                   "its first line is longer than " + std::to_string(line_size_max) + " bytes");
    Expected<Hello> hello = parse_hello(line);
    if (!hello) return say(message, MX_FAILED, hello.error().message);
    auto device = std::make_unique<PipeDevice>(
        PipeDevice{std::move(process).value(), std::move(hello).value()});
    for (const auto& [key, value] : device->hello.facts)
        device->facts.push_back({key.c_str(), value.c_str()});
    *handle = device.release();
    return MX_OK;
} catch (const std::bad_alloc&) {
    return MX_OUT_OF_MEMORY;
}

mx_status open_nothing(void**, mx_message* message) {
    return say(message, MX_INVALID, "there is no command to run");
}

void close_device(void* device) {
    delete static_cast<PipeDevice*>(device);
}

std::size_t describe(void* device, const mx_fact** facts) {
    const auto& known = static_cast<PipeDevice*>(device)->facts;
    *facts = known.data();
    return known.size();
}

mx_status supports(void* device, const mx_operation* operation, const mx_tensor* inputs,
                   std::size_t input_count, const mx_tensor* outputs, std::size_t output_count,
                   mx_message* message) try {
    return supports_call(*static_cast<PipeDevice*>(device),
                         {operation, inputs, input_count, outputs, output_count, message});
} catch (const std::bad_alloc&) {
    return MX_OUT_OF_MEMORY;
}

mx_status run(void* device, const mx_operation* operation, const mx_tensor* inputs,
              std::size_t input_count, const mx_tensor* outputs, std::size_t output_count,
              mx_message* message) try {
    return run_call(*static_cast<PipeDevice*>(device),
                    {operation, inputs, input_count, outputs, output_count, message});
} catch (const std::bad_alloc&) {
    return MX_OUT_OF_MEMORY;
}

constexpr mx_device_api api{sizeof(mx_device_api),
                            MX_DEVICE_ABI_VERSION,
                            open_nothing,
                            close_device,
                            describe,
                            supports,
                            run,
                            nullptr,
                            open_device};

}  // namespace
}  // namespace mx::pipe

const mx_device_api* mx_subprocess_device_api(void) {
    return &mx::pipe::api;
}
