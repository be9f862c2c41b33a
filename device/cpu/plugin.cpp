// The device table of cpu_device.hpp: messages, facts, and the way from a call to a job.
// Must not compute, and must not let an exception out.
#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <new>

#include "device/cpu/cpu_device.hpp"
#include "device/cpu/request.hpp"

namespace mx::cpu {
namespace {

// What an open device is: the strings its facts point to.
struct OpenDevice {
    std::string isa;
    std::array<mx_fact, 5> facts;
};

void say(mx_message* message, std::string_view sentence) {
    if (message == nullptr || message->struct_size < sizeof(mx_message)) return;
    if (message->text == nullptr || message->capacity == 0) return;
    const std::size_t length = std::min(sentence.size(), message->capacity - 1);
    std::memcpy(message->text, sentence.data(), length);
    message->text[length] = '\0';
}

// Runs `work` and turns what it throws into a status.
template <typename Work>
mx_status guarded(mx_message* message, Work work) noexcept {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        say(message, "out of memory");
        return MX_OUT_OF_MEMORY;
    } catch (const std::exception& error) {
        say(message, error.what());
        return MX_FAILED;
    }
}

mx_status open(void** device, mx_message* message) {
    if (device == nullptr) {
        say(message, "no place to store the device handle");
        return MX_INVALID;
    }
    *device = nullptr;
    return guarded(message, [&] {
        *device = new OpenDevice{};
        return MX_OK;
    });
}

void close(void* device) {
    delete static_cast<OpenDevice*>(device);
}

std::size_t describe(void* device, const mx_fact** facts) {
    if (device == nullptr || facts == nullptr) return 0;
    auto& open_device = *static_cast<OpenDevice*>(device);
    const mx_status status = guarded(nullptr, [&] {
        open_device.isa = cpu_target();
        return MX_OK;
    });
    if (status != MX_OK) return 0;
    open_device.facts = {{{"name", "cpu"},
                          {"vendor", "mxcheck"},
                          {"version", "1"},
                          {"isa", open_device.isa.c_str()},
                          {"notes", "integer arithmetic, dispatch by Highway, one thread"}}};
    *facts = open_device.facts.data();
    return open_device.facts.size();
}

struct Runner {
    void operator()(const ConvertJob& job) const { convert(job); }
    void operator()(const EncodeScaleJob& job) const { encode_scales(job); }
    void operator()(const QuantizeJob& job) const { quantize(job.blocks); }
    void operator()(const DequantizeJob& job) const { dequantize(job.blocks); }
    void operator()(const GemmJob& job) const { gemm(job); }
};

void run_work(Work& work) {
    for (Staged& input : work.inputs) unpack(input);
    std::visit(Runner(), work.job);
    for (const Staged& output : work.outputs) pack(output);
}

mx_status serve(const Call& call, Buffers buffers, mx_message* message) {
    return guarded(message, [&] {
        std::variant<std::vector<Work>, Refusal> answer = works_of(call, buffers);
        if (const auto* refusal = std::get_if<Refusal>(&answer)) {
            say(message, refusal->reason);
            return refusal->status;
        }
        if (buffers == Buffers::present)
            for (Work& work : std::get<std::vector<Work>>(answer)) run_work(work);
        return MX_OK;
    });
}

mx_status supports(void*, const mx_operation* operation, const mx_tensor* inputs,
                   std::size_t input_count, const mx_tensor* outputs, std::size_t output_count,
                   mx_message* message) {
    return serve({operation, inputs, input_count, outputs, output_count}, Buffers::absent, message);
}

mx_status run(void*, const mx_operation* operation, const mx_tensor* inputs,
              std::size_t input_count, const mx_tensor* outputs, std::size_t output_count,
              mx_message* message) {
    return serve({operation, inputs, input_count, outputs, output_count}, Buffers::present,
                 message);
}

// Every gemm can be summed in either way.
mx_status list_algorithms(void*, const mx_operation* operation, const mx_tensor* inputs,
                          std::size_t input_count, const mx_tensor* outputs,
                          std::size_t output_count, const char* const** names,
                          std::size_t* name_count, mx_message* message) {
    static constexpr std::array known{summations[0].name.data(), summations[1].name.data()};
    if (names == nullptr || name_count == nullptr) {
        say(message, "no place to store the names of algorithms");
        return MX_INVALID;
    }
    const mx_status status =
        supports(nullptr, operation, inputs, input_count, outputs, output_count, message);
    if (status != MX_OK) return status;
    *names = known.data();
    *name_count = known.size();
    return MX_OK;
}

constexpr mx_device_api table{
    sizeof(mx_device_api), MX_DEVICE_ABI_VERSION, open, close, describe, supports, run,
    list_algorithms};

}  // namespace
}  // namespace mx::cpu

const mx_device_api* mx_cpu_device_api(void) {
    return &mx::cpu::table;
}
