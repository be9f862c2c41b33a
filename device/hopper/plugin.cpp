// The device table of the plug-in: messages, facts, and the way from a call to a product. Must not
// let an exception out.
#include <cublasLt.h>
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
#include "device/hopper/failure.hpp"
#include "device/hopper/request.hpp"
#include "device/hopper/ways.hpp"

namespace mx::hopper {
namespace {

using cublaslt::Call;
using cublaslt::CublasFailure;
using cublaslt::CublasNo;
using cublaslt::CudaFailure;

constexpr std::size_t workspace_bytes = std::size_t{64} << 20;

struct OpenDevice {
    int ordinal = 0;  // of the GPU that open found; a later caller's thread may have another
    cudaStream_t stream = nullptr;
    cudaEvent_t begin = nullptr, end = nullptr;  // of the products of a run
    cublasLtHandle_t handle = nullptr;
    cublaslt::GpuMemory workspace, staged, made;
    std::string name, version, driver, isa;
    std::array<mx_fact, 6> facts{};
    std::vector<const char*> algorithms;

    OpenDevice() = default;
    OpenDevice(const OpenDevice&) = delete;
    OpenDevice& operator=(const OpenDevice&) = delete;
    ~OpenDevice() {
        if (handle != nullptr) cublasLtDestroy(handle);
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

std::string text_of(cudaError_t error) {
    return std::string(cudaGetErrorName(error)) + ", " + cudaGetErrorString(error);
}

// Errors that a context does not survive are answered by every later call, too; all others end
// here, so that no later call reports them.
bool is_lost() {
    const bool is_lost = cudaDeviceSynchronize() != cudaSuccess;
    cudaGetLastError();
    return is_lost;
}

mx_status status_of(const CudaFailure& failure, mx_message* message) {
    say(message, failure.doing + ": " + text_of(failure.error));
    if (is_lost()) return MX_DEVICE_LOST;
    return failure.error == cudaErrorMemoryAllocation ? MX_OUT_OF_MEMORY : MX_FAILED;
}
mx_status status_of(const CublasFailure& failure, mx_message* message) {
    say(message, failure.doing + ": " + cublasLtGetStatusName(failure.status));
    if (is_lost()) return MX_DEVICE_LOST;
    return failure.status == CUBLAS_STATUS_ALLOC_FAILED ? MX_OUT_OF_MEMORY : MX_FAILED;
}

// Runs `work` and turns what it throws into a status.
template <typename Work>
mx_status guarded(mx_message* message, Work work) noexcept {
    try {
        return work();
    } catch (const Refusal& refusal) {
        say(message, refusal.reason);
        return refusal.status;
    } catch (const CublasNo& no) {
        say(message, no.doing + ": " + cublasLtGetStatusName(no.status));
        return MX_NOT_SUPPORTED;
    } catch (const CublasFailure& failure) {
        return status_of(failure, message);
    } catch (const CudaFailure& failure) {
        return status_of(failure, message);
    } catch (const std::bad_alloc&) {
        say(message, "out of memory");
        return MX_OUT_OF_MEMORY;
    } catch (const std::exception& error) {
        say(message, error.what());
        return MX_FAILED;
    }
}

void require_gpu() {
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count == 0) error = cudaErrorNoDevice;
    if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ||
        error == cudaErrorStubLibrary) {
        cudaGetLastError();
        throw Refusal{MX_NOT_SUPPORTED, "no GPU can be used here: " + text_of(error)};
    }
    check(error, "looking for a GPU");
}

// Everything that a record of bits should name.
void read_facts(OpenDevice& device) {
    int runtime = 0, driver = 0;
    cudaDeviceProp properties{};
    check(cudaGetDevice(&device.ordinal), "finding the GPU");
    check(cudaGetDeviceProperties(&properties, device.ordinal), "asking the GPU");
    check(cudaRuntimeGetVersion(&runtime), "asking the runtime");
    check(cudaDriverGetVersion(&driver), "asking the driver");
    const auto dotted = [](int version) {
        return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
    };
    const std::string capability =
        std::to_string(properties.major) + "." + std::to_string(properties.minor);
    if (capability != "9.0")
        throw Refusal{MX_NOT_SUPPORTED,
                      "this device needs a GPU of compute capability 9.0, Hopper, and " +
                          std::string(properties.name) + " has " + capability};
    const std::size_t library = cublasLtGetVersion();
    device.name = properties.name;
    device.isa = "sm_90a";
    device.version = "cuBLASLt " + std::to_string(library / 10000) + "." +
                     std::to_string(library / 100 % 100) + "." + std::to_string(library % 100) +
                     ", CUDA runtime " + dotted(runtime);
    device.driver = "CUDA " + dotted(driver);
    device.facts = {{{"name", device.name.c_str()},
                     {"vendor", "mxcheck"},
                     {"version", device.version.c_str()},
                     {"driver", device.driver.c_str()},
                     {"isa", device.isa.c_str()},
                     {"notes", "MX GEMMs without MX tensor cores"}}};
}

mx_status open(void** device, mx_message* message) {
    if (device == nullptr) {
        say(message, "no place to store the device handle");
        return MX_INVALID;
    }
    *device = nullptr;
    return guarded(message, [&] {
        require_gpu();
        auto opened = std::make_unique<OpenDevice>();
        read_facts(*opened);
        check(cudaStreamCreateWithFlags(&opened->stream, cudaStreamNonBlocking), "making a stream");
        check(cudaEventCreate(&opened->begin), "making an event");
        check(cudaEventCreate(&opened->end), "making an event");
        opened->workspace.reserve(workspace_bytes);
        check(cublasLtCreate(&opened->handle), "cublasLtCreate");
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

OpenDevice& opened(void* device) {
    if (device == nullptr) throw Refusal{MX_INVALID, "the device is not open"};
    auto& open_device = *static_cast<OpenDevice*>(device);
    check(cudaSetDevice(open_device.ordinal), "choosing the GPU");
    return open_device;
}

Request checked_request(const Call& call, Buffers buffers) {
    auto answer = request_of(call, buffers);
    if (auto* refusal = std::get_if<Refusal>(&answer)) throw std::move(*refusal);
    return std::get<Request>(std::move(answer));
}

Resources resources_of(OpenDevice& device) {
    return {device.handle, {device.workspace.data(), workspace_bytes}, device.made, device.stream};
}

// Why this way does not do the request, "" where it does. Without a device only what needs none is
// looked at.
std::string refusal_by(const Way& way, const Request& request, const Resources* resources) {
    for (const Product& product : request.batches) {
        std::string reason = way.refusal(product, resources);
        if (!reason.empty()) return std::string(way.name) + ": " + reason;
    }
    return "";
}

// The way that is asked for, or the first that does it.
const Way& chosen(const Request& request, const Resources* resources) {
    if (!request.algorithm.empty()) {
        const Way* way = find_way(request.algorithm);
        if (way == nullptr)
            throw Refusal{MX_NOT_SUPPORTED,
                          "this device has no algorithm \"" + request.algorithm + "\""};
        const std::string reason = refusal_by(*way, request, resources);
        if (!reason.empty()) throw Refusal{MX_NOT_SUPPORTED, reason};
        return *way;
    }
    std::string reasons;
    for (const Way& way : ways()) {
        const std::string reason = refusal_by(way, request, resources);
        if (reason.empty()) return way;
        reasons += (reasons.empty() ? "" : "; ") + reason;
    }
    throw Refusal{MX_NOT_SUPPORTED, reasons};
}

mx_status supports(void* device, const mx_operation* operation, const mx_tensor* inputs,
                   std::size_t input_count, const mx_tensor* outputs, std::size_t output_count,
                   mx_message* message) {
    const Call call{operation, inputs, input_count, outputs, output_count};
    return guarded(message, [&] {
        const Request request = checked_request(call, Buffers::absent);
        if (request.writes_nothing()) return MX_OK;
        const Resources resources = resources_of(opened(device));
        chosen(request, &resources);
        return MX_OK;
    });
}

mx_status list_algorithms(void* device, const mx_operation* operation, const mx_tensor* inputs,
                          std::size_t input_count, const mx_tensor* outputs,
                          std::size_t output_count, const char* const** names,
                          std::size_t* name_count, mx_message* message) {
    const Call call{operation, inputs, input_count, outputs, output_count};
    return guarded(message, [&] {
        if (names == nullptr || name_count == nullptr)
            throw Refusal{MX_INVALID, "no place to store the names of algorithms"};
        OpenDevice& open_device = opened(device);
        const Request request = checked_request(call, Buffers::absent);
        const Resources resources = resources_of(open_device);
        open_device.algorithms.clear();
        for (const Way& way : ways())
            if (!request.writes_nothing() && refusal_by(way, request, &resources).empty())
                open_device.algorithms.push_back(way.name.data());
        *names = open_device.algorithms.data();
        *name_count = open_device.algorithms.size();
        return MX_OK;
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

void run_on_gpu(OpenDevice& device, const Call& call) {
    cublaslt::Staging staging(call, device.staged, device.stream);
    const WaitAtEnd wait{device.stream};
    staging.copy_in();
    const Request request = checked_request(staging.call(), Buffers::present);
    const Resources resources = resources_of(device);
    const Way& way = chosen(request, &resources);
    cudaEventRecord(device.begin, device.stream);
    for (const Product& product : request.batches) way.run(product, resources);
    cudaEventRecord(device.end, device.stream);
    staging.copy_out();
    check(cudaStreamSynchronize(device.stream), "multiplying");
    last_seconds = seconds_between(device.begin, device.end);
}

mx_status run(void* device, const mx_operation* operation, const mx_tensor* inputs,
              std::size_t input_count, const mx_tensor* outputs, std::size_t output_count,
              mx_message* message) {
    const Call call{operation, inputs, input_count, outputs, output_count};
    last_seconds = -1;
    return guarded(message, [&] {
        if (!checked_request(call, Buffers::present).writes_nothing())
            run_on_gpu(opened(device), call);
        return MX_OK;
    });
}

constexpr mx_device_api table{
    sizeof(mx_device_api), MX_DEVICE_ABI_VERSION, open, close, describe, supports, run,
    list_algorithms};

}  // namespace
}  // namespace mx::hopper

extern "C" const mx_device_api* mx_device_get_api(std::uint32_t host_abi_version) {
    return host_abi_version == MX_DEVICE_ABI_VERSION ? &mx::hopper::table : nullptr;
}

extern "C" double mx_device_last_seconds(void) {
    return mx::hopper::last_seconds;
}
