// The device table of the plug-in: messages, facts, and the way from a call to the kernels. Must
// not let an exception out.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "device/abi/mx_device.h"
#include "device/abi/mx_device_clock.h"
#include "device/cuda/kernels.hpp"
#include "device/cuda/request.hpp"
#include "device/cuda/staging.hpp"

namespace mx::cuda {
namespace {

struct OpenDevice {
    int ordinal = 0;  // of the GPU that open found; a later caller's thread may have another
    cudaStream_t stream = nullptr;
    cudaEvent_t begin = nullptr, end = nullptr;  // of the kernels of a run
    GpuMemory memory;
    std::string name, version, driver, isa, notes;
    std::array<mx_fact, 6> facts{};

    OpenDevice() = default;
    OpenDevice(const OpenDevice&) = delete;
    OpenDevice& operator=(const OpenDevice&) = delete;
    ~OpenDevice() {
        if (begin != nullptr) cudaEventDestroy(begin);
        if (end != nullptr) cudaEventDestroy(end);
        if (stream != nullptr) cudaStreamDestroy(stream);
    }
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

std::string text_of(cudaError_t error) {
    return std::string(cudaGetErrorName(error)) + ", " + cudaGetErrorString(error);
}

// Errors that a context does not survive are answered by every later call, too; all others end
// here, so that no later launch reports them.
mx_status status_of(cudaError_t error, const std::string& doing, mx_message* message) {
    if (error == cudaSuccess) return MX_OK;
    say(message, doing + ": " + text_of(error));
    const bool is_lost = cudaDeviceSynchronize() != cudaSuccess;
    cudaGetLastError();
    if (is_lost) return MX_DEVICE_LOST;
    return error == cudaErrorMemoryAllocation ? MX_OUT_OF_MEMORY : MX_FAILED;
}

std::string dotted(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// Everything about the GPU that a record of bits should name.
cudaError_t read_facts(OpenDevice& device) {
    int runtime = 0, driver = 0;
    cudaDeviceProp properties{};
    CodePath path{};
    cudaError_t error = cudaGetDevice(&device.ordinal);
    if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties, device.ordinal);
    device.name = properties.name;
    device.isa = "sm_" + std::to_string(properties.major * 10 + properties.minor);
    if (error == cudaSuccess) error = cudaRuntimeGetVersion(&runtime);
    if (error == cudaSuccess) error = cudaDriverGetVersion(&driver);
    if (error == cudaSuccess) error = find_code_path(path);
    if (error != cudaSuccess) return error;
    const bool is_blackwell = properties.major >= 10;
    device.version = "CUDA runtime " + dotted(runtime);
    device.driver = "CUDA " + dotted(driver);
    device.notes = "path: code compiled for sm_" + std::to_string(path.binary_version);
    device.notes +=
        "; FP8 elements by cvt in whole aligned blocks of 32 (dequantizing: along rows) and where"
        " convert saturates, by arithmetic elsewhere; ";
    device.notes += path.has_scale_conversion ? "E8M0 ratios by cvt to ue8m0"
                                              : "E8M0 ratios by integer arithmetic";
    device.notes += "; FP6, FP4 and INT8 by arithmetic";
    if (is_blackwell) device.notes += "; UNVERIFIED on this architecture";
    return cudaSuccess;
}

// What somebody without a GPU, or with another one, must know.
mx_status refuse_to_open(cudaError_t error, const OpenDevice& device, mx_message* message) {
    cudaGetLastError();
    const bool has_none = error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ||
                          error == cudaErrorStubLibrary;
    // Which of the two a GPU without code of ours answers, depends on the call.
    const bool has_another =
        error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction;
    if (has_none)
        say(message, "no GPU can be used here: " + text_of(error));
    else if (has_another)
        say(message,
            "this library has code for sm_90, sm_100, sm_103 and sm_120 alone, and the GPU here, " +
                device.name + ", is " + device.isa);
    else
        say(message, "the GPU did not start: " + text_of(error));
    return has_none || has_another ? MX_NOT_SUPPORTED : MX_FAILED;
}

mx_status open(void** device, mx_message* message) {
    if (device == nullptr) {
        say(message, "no place to store the device handle");
        return MX_INVALID;
    }
    *device = nullptr;
    return guarded(message, [&] {
        int count = 0;
        cudaError_t error = cudaGetDeviceCount(&count);
        if (error == cudaSuccess && count == 0) error = cudaErrorNoDevice;
        auto opened = std::make_unique<OpenDevice>();
        if (error == cudaSuccess) error = read_facts(*opened);
        if (error == cudaSuccess)
            error = cudaStreamCreateWithFlags(&opened->stream, cudaStreamNonBlocking);
        if (error == cudaSuccess) error = cudaEventCreate(&opened->begin);
        if (error == cudaSuccess) error = cudaEventCreate(&opened->end);
        if (error != cudaSuccess) return refuse_to_open(error, *opened, message);
        opened->facts = {{{"name", opened->name.c_str()},
                          {"vendor", "NVIDIA"},
                          {"version", opened->version.c_str()},
                          {"driver", opened->driver.c_str()},
                          {"isa", opened->isa.c_str()},
                          {"notes", opened->notes.c_str()}}};
        *device = opened.release();
        return MX_OK;
    });
}

void close(void* device) {
    delete static_cast<OpenDevice*>(device);
}

std::size_t describe(void* device, const mx_fact** facts) {
    if (device == nullptr || facts == nullptr) return 0;
    const auto& open_device = *static_cast<OpenDevice*>(device);
    *facts = open_device.facts.data();
    return open_device.facts.size();
}

struct Launcher {
    cudaStream_t stream;

    cudaError_t operator()(const QuantizeJob& job) const { return quantize(job.blocks, stream); }
    cudaError_t operator()(const BothJob& job) const { return quantize_both(job, stream); }
    cudaError_t operator()(const DequantizeJob& job) const {
        return dequantize(job.blocks, stream);
    }
    cudaError_t operator()(const ConvertJob& job) const { return convert(job, stream); }
    cudaError_t operator()(const EncodeScaleJob& job) const { return encode_scales(job, stream); }
};

mx_status supports(void*, const mx_operation* operation, const mx_tensor* inputs,
                   std::size_t input_count, const mx_tensor* outputs, std::size_t output_count,
                   mx_message* message) {
    return guarded(message, [&] {
        const auto answer =
            job_of({operation, inputs, input_count, outputs, output_count}, Buffers::absent);
        const auto* refusal = std::get_if<Refusal>(&answer);
        if (refusal == nullptr) return MX_OK;
        say(message, refusal->reason);
        return refusal->status;
    });
}

// Waits on every way out, exceptions too: after a call nothing may still read or write the host's
// memory.
struct WaitAtEnd {
    cudaStream_t stream;

    ~WaitAtEnd() {
        if (cudaStreamSynchronize(stream) != cudaSuccess) cudaGetLastError();
    }
};

// Of the last run of this process, below 0 where there is no time; calls come from one thread at a
// time.
double last_seconds = -1;

double seconds_between(cudaEvent_t begin, cudaEvent_t end) {
    float milliseconds = 0;
    if (cudaEventElapsedTime(&milliseconds, begin, end) == cudaSuccess)
        return 1e-3 * static_cast<double>(milliseconds);
    cudaGetLastError();
    return -1;
}

mx_status run_on_gpu(OpenDevice& device, const Call& call, mx_message* message) {
    cudaError_t error = cudaSetDevice(device.ordinal);
    if (error != cudaSuccess) return status_of(error, "choosing the GPU", message);
    Staging staging(call, device.memory, device.stream);
    const WaitAtEnd wait{device.stream};
    error = staging.copy_in();
    if (error != cudaSuccess) return status_of(error, "copying to the GPU", message);
    const auto answer = job_of(staging.on_gpu(), Buffers::absent);
    if (const auto* refusal = std::get_if<Refusal>(&answer)) {
        say(message, refusal->reason);
        return refusal->status;
    }
    cudaEventRecord(device.begin, device.stream);
    error = std::visit(Launcher{device.stream}, std::get<Job>(answer));
    if (error != cudaSuccess) return status_of(error, "starting a kernel", message);
    cudaEventRecord(device.end, device.stream);
    error = staging.copy_out();
    if (error == cudaSuccess) error = cudaStreamSynchronize(device.stream);
    if (error == cudaSuccess) last_seconds = seconds_between(device.begin, device.end);
    return status_of(error, "running a kernel", message);
}

mx_status run(void* device, const mx_operation* operation, const mx_tensor* inputs,
              std::size_t input_count, const mx_tensor* outputs, std::size_t output_count,
              mx_message* message) {
    const Call call{operation, inputs, input_count, outputs, output_count};
    last_seconds = -1;
    return guarded(message, [&] {
        const auto answer = job_of(call, Buffers::present);
        if (const auto* refusal = std::get_if<Refusal>(&answer)) {
            say(message, refusal->reason);
            return refusal->status;
        }
        return run_on_gpu(*static_cast<OpenDevice*>(device), call, message);
    });
}

constexpr mx_device_api table{sizeof(mx_device_api),
                              MX_DEVICE_ABI_VERSION,
                              open,
                              close,
                              describe,
                              supports,
                              run,
                              nullptr,
                              nullptr};

}  // namespace
}  // namespace mx::cuda

extern "C" const mx_device_api* mx_device_get_api(std::uint32_t host_abi_version) {
    return host_abi_version == MX_DEVICE_ABI_VERSION ? &mx::cuda::table : nullptr;
}

extern "C" double mx_device_last_seconds(void) {
    return mx::cuda::last_seconds;
}
