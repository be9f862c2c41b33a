// A command as a device; see subprocess_device.hpp.
#include "device/subprocess/subprocess_device.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/host/layout.hpp"
#include "device/host/strided.hpp"
#include "device/kit/groups.hpp"
#include "device/kit/plugin.hpp"
#include "device/subprocess/command_process.hpp"
#include "device/subprocess/messages.hpp"

namespace mx::pipe {
namespace {

// How long a command that stopped talking may take to be seen ended.
constexpr std::chrono::milliseconds program_ending_time{500};

// After this the command and we disagree about where a message begins, so it must start anew.
[[noreturn]] void out_of_step(const std::string& what) {
    throw kit::Refusal{MX_DEVICE_LOST, "the command answered out of step: " + what};
}
[[noreturn]] void fail(const std::string& what) {
    throw kit::Refusal{MX_FAILED, what};
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
[[noreturn]] void end_like_command(CommandProcess& process) {
    constexpr int shell_signal = 128;
    const int status = process.wait_for_end(program_ending_time);
    if (status < 0) out_of_step("it closed its output");
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
    operation.tensor_scale = or_empty(asked.tensor_scale);
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
                                   .algorithm = or_empty(gemm.algorithm),
                                   .groups = gemm.groups};
    return operation;
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

// Of D, where a product is grouped: all of it travels, and the rows of no group stay as they are.
std::optional<std::int64_t> rows_of_groups(const kit::Arguments& call) {
    if (call.operation->gemm == nullptr || call.operation->gemm->groups == 0) return std::nullopt;
    const kit::Call checked(call, kit::Buffers::present);
    return kit::RowGroups::read(checked, kit::tensor_at(call.inputs, 0).rows).end();
}

class Pipe {
public:
    explicit Pipe(const char* command);

    std::span<const mx_fact> facts() const { return facts_; }
    void supports(const kit::Arguments& call) {
        PipeRequest request = request_of(kit::Call(call, kit::Buffers::absent));
        request.ask = Ask::supports;
        exchange(request);
    }
    void run(const kit::Arguments& call);

private:
    static CommandProcess started(const char* command);
    Hello greeting();
    // Without data.
    PipeRequest request_of(const kit::Call& call);
    // Asks, and reads the line that opens the answer.
    AnswerLine exchange(const PipeRequest& request);
    void read_hex_data(std::span<std::byte> data);
    void read_outputs(const kit::Arguments& call, const PipeRequest& request,
                      const AnswerLine& answer);

    CommandProcess process_;
    Hello hello_;
    std::vector<mx_fact> facts_;
    std::uint64_t last_id_ = 0;
};

CommandProcess Pipe::started(const char* command) {
    constexpr std::string_view socket = "unix:";
    const std::string text = command;
    if (text.empty()) kit::invalid("there is no command to run");
    Expected<CommandProcess> process = text.starts_with(socket)
                                           ? CommandProcess::connect(text.substr(socket.size()))
                                           : CommandProcess::start(text);
    if (!process) fail(process.error().message);
    return std::move(process).value();
}

Hello Pipe::greeting() {
    std::string line;
    const Got got = process_.read_line(line, line_size_max);
    if (got == Got::end)
        fail("the command ended before it said anything: " +
             describe_end(process_.wait_for_end(program_ending_time)));
    if (got == Got::too_much)
        fail("its first line is longer than " + std::to_string(line_size_max) + " bytes");
    Expected<Hello> hello = parse_hello(line);
    if (!hello) fail(hello.error().message);
    return std::move(hello).value();
}

Pipe::Pipe(const char* command) : process_(started(command)), hello_(greeting()) {
    for (const auto& [key, value] : hello_.facts) facts_.push_back({key.c_str(), value.c_str()});
}

PipeRequest Pipe::request_of(const kit::Call& call) {
    PipeRequest request;
    request.id = std::to_string(++last_id_);
    request.form = hello_.form;
    request.operation = operation_of(call.operation());
    const kit::Arguments& tensors = call.arguments();
    for (std::size_t i = 0; i < tensors.input_count; ++i)
        request.inputs.push_back({spec_of(kit::tensor_at(tensors.inputs, i)), {}});
    for (std::size_t i = 0; i < tensors.output_count; ++i)
        request.outputs.push_back(spec_of(kit::tensor_at(tensors.outputs, i)));
    const auto check = [](const TensorSpec& spec) {
        if (const auto extent = byte_extent(spec); !extent) kit::invalid(extent.error().message);
    };
    for (const Cargo& input : request.inputs) check(input.spec);
    for (const TensorSpec& spec : request.outputs) check(spec);
    return request;
}

AnswerLine Pipe::exchange(const PipeRequest& request) {
    if (!process_.write(to_text(request))) end_like_command(process_);
    std::string line;
    const Got got = process_.read_line(line, line_size_max);
    if (got == Got::end) end_like_command(process_);
    if (got == Got::too_much)
        out_of_step("a line of more than " + std::to_string(line_size_max) +
                    " bytes where an answer begins");
    Expected<AnswerLine> parsed = parse_answer(line);
    if (!parsed) out_of_step(parsed.error().message);
    AnswerLine answer = std::move(parsed).value();
    if (answer.id != request.id)
        out_of_step("id \"" + answer.id + "\" where \"" + request.id + "\" was asked");
    if (answer.status != MX_OK) throw kit::Refusal{answer.status, answer.reason};
    return answer;
}

void Pipe::read_hex_data(std::span<std::byte> data) {
    std::string line;
    const Got got = process_.read_line(line, 2 * data.size() + 1);
    if (got == Got::end) end_like_command(process_);
    if (got == Got::too_much)
        out_of_step("a line of more than " + std::to_string(2 * data.size()) +
                    " digits for an output");
    const Status read = read_hex(line, data);
    if (!read) out_of_step(read.error().message);
}

void Pipe::read_outputs(const kit::Arguments& call, const PipeRequest& request,
                        const AnswerLine& answer) {
    for (std::size_t i = 0; answer.form == Form::binary && i < request.outputs.size(); ++i) {
        const std::size_t wanted = travelling_size(request.outputs[i]);
        if (answer.sizes.size() != request.outputs.size() || answer.sizes[i] != wanted)
            out_of_step("\"bytes\" does not say " + std::to_string(wanted) + " for output " +
                        std::to_string(i));
    }
    const std::optional<std::int64_t> rows_written = rows_of_groups(call);
    std::vector<std::byte> data;
    for (std::size_t i = 0; i < request.outputs.size(); ++i) {
        data.resize(travelling_size(request.outputs[i]));
        if (answer.form == Form::hex)
            read_hex_data(data);
        else if (process_.read(data) != Got::all)
            end_like_command(process_);
        TensorSpec written = request.outputs[i];
        if (rows_written) written.rows = *rows_written;
        unload(written, data, kit::tensor_at(call.outputs, i).data);
    }
}

void Pipe::run(const kit::Arguments& call) {
    PipeRequest request = request_of(kit::Call(call, kit::Buffers::present));
    std::vector<std::vector<std::byte>> scratch(call.input_count);
    for (std::size_t i = 0; i < call.input_count; ++i) {
        Cargo& input = request.inputs[i];
        const auto* data = static_cast<const std::byte*>(kit::tensor_at(call.inputs, i).data);
        const std::span<const std::byte> bytes(data, byte_extent(input.spec).value());
        input.bytes = as_it_travels(input.spec, bytes, scratch[i]);
    }
    read_outputs(call, request, exchange(request));
}

}  // namespace
}  // namespace mx::pipe

const mx_device_api* mx_subprocess_device_api(void) {
    return &mx::kit::Plugin<mx::pipe::Pipe>::table;
}

namespace mx {

DeviceSource command_device(const std::string& command) {
    return {.name = command,
            .description = "a command behind a pipe",
            .get_api = [](std::uint32_t) { return mx_subprocess_device_api(); },
            .path = "",
            .configuration = command};
}

}  // namespace mx
