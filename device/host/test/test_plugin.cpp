// A device that converts f32 to its exponent byte, and goes wrong in the one way that
// TEST_PLUGIN_FLAW names. Loaded by the tests of device/host; includes only the device ABI.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include "device/abi/mx_device.h"

namespace {

constexpr std::string_view flaw = TEST_PLUGIN_FLAW;

struct State {
    int runs = 0;
    std::string process = std::to_string(::getpid());
    std::string configuration = {};
    mx_fact facts[3] = {{"name", "test plug-in"}, {"process", nullptr}, {"notes", nullptr}};
};

void segfault() {
    volatile std::uintptr_t nowhere = 64;
    *reinterpret_cast<volatile int*>(nowhere) = 1;
}

// By the name a test sees that the call has come this far.
void hang() {
    ::prctl(PR_SET_NAME, "hanging");
    for (;;) ::pause();
}

mx_status say(mx_message* message, mx_status status, const char* text) {
    std::snprintf(message->text, message->capacity, "%s", text);
    return status;
}

// The variable names a file that gets one byte per attempt to open.
void break_if_told() {
    const char* path = std::getenv("TEST_PLUGIN_BREAKS_OPEN");
    if (path == nullptr) return;
    std::FILE* attempts = std::fopen(path, "a");
    std::fputc('x', attempts);
    std::fclose(attempts);
    segfault();
}

mx_status open_device(void** device, mx_message* message) {
    if (flaw == "segfault_in_open") segfault();
    if (flaw == "segfault_on_request") break_if_told();
    if (flaw == "hang_in_open") hang();
    if (flaw == "throw_in_open") throw std::runtime_error("no such unit");
    if (flaw == "failed_open") return say(message, MX_FAILED, "the unit is asleep");
    if (flaw == "prints_to_stdout") std::puts("hello from the plug-in");
    *device = new State;
    return MX_OK;
}

mx_status open_configured(void** device, const char* configuration, mx_message* message) {
    if (std::string_view(configuration).substr(0, 4) != "unit")
        return say(message, MX_INVALID, "there is no color, only unit and mode");
    auto* state = new State;
    state->configuration = configuration;
    state->facts[2].value = state->configuration.c_str();
    *device = state;
    return MX_OK;
}

void close_device(void* device) {
    if (flaw == "segfault_in_close") segfault();
    if (flaw == "hang_in_close") hang();
    delete static_cast<State*>(device);
}

std::size_t describe(void* device, const mx_fact** facts) {
    State& state = *static_cast<State*>(device);
    state.facts[1].value = state.process.c_str();
    *facts = flaw == "null_facts" ? nullptr : state.facts;
    return 3;
}

mx_status supports(void*, const mx_operation* operation, const mx_tensor* inputs,
                   std::size_t input_count, const mx_tensor* outputs, std::size_t output_count,
                   mx_message* message) {
    if (flaw == "segfault_in_supports") segfault();
    if (flaw == "message_without_end") {
        std::memset(message->text, 'x', message->capacity);
        return MX_NOT_SUPPORTED;
    }
    if (flaw == "message_overrun") std::memset(message->text, 'x', message->capacity + 1);
    if (flaw == "message_with_control_characters") {
        return say(message, MX_NOT_SUPPORTED, "two\nlines \033[31m and \xFF caf\xC3\xA9\n");
    }
    if (std::string_view(operation->name) == "silence") return MX_NOT_SUPPORTED;
    if (std::string_view(operation->name) != "convert" || operation->axis != nullptr) {
        return say(message, MX_NOT_SUPPORTED, "only convert");
    }
    const bool fits = input_count == 1 && output_count == 1 && inputs[0].data == nullptr &&
                      outputs[0].data == nullptr && std::strcmp(inputs[0].type, "f32") == 0 &&
                      std::strcmp(outputs[0].type, "e8m0") == 0;
    return fits ? MX_OK : say(message, MX_NOT_SUPPORTED, "only f32 to e8m0");
}

// Flaws that end the call, or the process, before any work.
mx_status fault_before_work(State& state, const mx_operation& operation, mx_message* message) {
    if (flaw == "segfault_in_run") segfault();
    if (flaw == "segfault_in_second_run" && state.runs == 2) segfault();
    if (flaw == "segfault_on_request" && operation.dialect != nullptr) segfault();
    if (flaw == "hang_in_run") hang();
    if (flaw == "exit_in_run") std::exit(3);
    if (flaw == "abort_in_run") std::abort();
    if (flaw == "throw_in_run") throw std::runtime_error("lost my way");
    if (flaw == "lost_in_run") return say(message, MX_DEVICE_LOST, "fell off the bus");
    if (flaw == "late_not_supported") return say(message, MX_NOT_SUPPORTED, "changed my mind");
    if (flaw == "odd_status") return static_cast<mx_status>(7);
    if (flaw == "failed_in_run") return say(message, MX_FAILED, "out of luck");
    if (flaw == "failed_in_second_run" && state.runs == 2) return MX_FAILED;
    if (flaw == "child_left_in_run") {
        if (::fork() == 0) hang();
        ::_exit(5);
    }
    if (flaw == "scribble_on_channel") {
        for (int descriptor = 3; descriptor < 64; ++descriptor) {
            if (::write(descriptor, "nonsense", 8) < 0) continue;
        }
        hang();
    }
    return MX_OK;
}

std::uint8_t* output_at(const mx_tensor& output, std::int64_t row, std::int64_t column) {
    return static_cast<std::uint8_t*>(output.data) + row * output.row_stride +
           column * output.column_stride;
}

void convert(const State& state, const mx_tensor& input, const mx_tensor& output) {
    for (std::int64_t row = 0; row < output.rows; ++row) {
        for (std::int64_t column = 0; column < output.columns; ++column) {
            const bool last = row == output.rows - 1 && column == output.columns - 1;
            if (flaw == "last_unwritten" && last) continue;
            if (flaw == "half_unwritten" && column % 2 == 1) continue;
            std::uint32_t bits = 0;
            const std::int64_t place = row * input.row_stride + column * input.column_stride;
            std::memcpy(&bits, static_cast<const char*>(input.data) + 4 * place, 4);
            auto code = static_cast<std::uint8_t>((bits >> 23) & 0xFF);
            if (flaw == "flaky" && row == 0 && column == 1) {
                code = static_cast<std::uint8_t>(state.runs);
            }
            if (flaw == "reads_output" && row == 0 && column == 0) {
                code = static_cast<std::uint8_t>(code ^ *output_at(output, 0, 0));
            }
            *output_at(output, row, column) = code;
        }
    }
}

// Flaws that write where nobody asked for it.
void fault_after_work(const State& state, const mx_tensor& input, const mx_tensor& output) {
    std::uint8_t* out = static_cast<std::uint8_t*>(output.data);
    std::uint8_t* in = static_cast<std::uint8_t*>(input.data);
    const std::int64_t end = output.rows == 0 || output.columns == 0
                                 ? 0
                                 : output_at(output, output.rows - 1, output.columns - 1) - out + 1;
    if (flaw == "write_past_end") std::memset(out + end, 0, 3);
    if (flaw == "write_in_second_run" && state.runs == 2) out[end] = 0;
    if (flaw == "write_before_begin") std::memset(out - 2, 0x7F, 2);
    if (flaw == "write_far_past_end") {
        for (std::int64_t far = 0; far < (1 << 28); far += 512) {
            static_cast<volatile std::uint8_t*>(out)[end + far] = 0;
        }
    }
    if (flaw == "write_in_gap") out[output.columns] = 0;
    if (flaw == "write_beside_input") in[-1] = 0;
    if (flaw == "modify_input") in[4 * 2] = static_cast<std::uint8_t>(in[4 * 2] ^ 1);
    if (flaw == "modify_input_gap") in[4 * input.columns] = 0x11;
}

mx_status run(void* device, const mx_operation* operation, const mx_tensor* inputs, std::size_t,
              const mx_tensor* outputs, std::size_t, mx_message* message) {
    State& state = *static_cast<State*>(device);
    ++state.runs;
    const mx_status status = fault_before_work(state, *operation, message);
    if (status != MX_OK) return status;
    convert(state, inputs[0], outputs[0]);
    fault_after_work(state, inputs[0], outputs[0]);
    return MX_OK;
}

mx_device_api make_table() {
    mx_device_api table = {sizeof(mx_device_api),
                           MX_DEVICE_ABI_VERSION,
                           open_device,
                           close_device,
                           describe,
                           supports,
                           run,
                           nullptr,
                           nullptr};
    if (flaw == "other_abi_table") table.abi_version = MX_DEVICE_ABI_VERSION + 1;
    if (flaw == "abi_version_1") table.abi_version = 1;
    if (flaw == "abi_version_3") table.abi_version = 3;
    if (flaw == "abi_version_6") table.abi_version = 6;
    if (flaw == "short_table") table.struct_size -= sizeof(void*);
    if (flaw == "configured") table.open_configured = open_configured;
    if (flaw == "missing_run") table.run = nullptr;
    return table;
}

}  // namespace

extern "C" const mx_device_api* mx_device_get_api(std::uint32_t host_abi_version) {
    static const mx_device_api table = make_table();
    if (flaw == "null_table") return nullptr;
    if (flaw == "other_abi_only" && host_abi_version != MX_DEVICE_ABI_VERSION + 1) return nullptr;
    if (flaw == "abi_version_1" && host_abi_version != 1) return nullptr;
    if (flaw == "abi_version_3" && host_abi_version != 3) return nullptr;
    if (flaw == "abi_version_6" && host_abi_version != 6) return nullptr;
    return &table;
}
