// See plugin_frame.hpp.
#include "device/cublaslt/plugin_frame.hpp"

namespace mx::cublaslt {
namespace {

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

}  // namespace

Refusal refusal_of(const CudaFailure& failure) {
    const mx_status status =
        failure.error == cudaErrorMemoryAllocation ? MX_OUT_OF_MEMORY : MX_FAILED;
    return {is_lost() ? MX_DEVICE_LOST : status, failure.doing + ": " + text_of(failure.error)};
}

Refusal refusal_of(const CublasFailure& failure) {
    const mx_status status =
        failure.status == CUBLAS_STATUS_ALLOC_FAILED ? MX_OUT_OF_MEMORY : MX_FAILED;
    return {is_lost() ? MX_DEVICE_LOST : status,
            failure.doing + ": " + cublasLtGetStatusName(failure.status)};
}

GpuDevice::~GpuDevice() {
    if (handle != nullptr) cublasLtDestroy(handle);
    if (begin != nullptr) cudaEventDestroy(begin);
    if (end != nullptr) cudaEventDestroy(end);
    if (stream != nullptr) cudaStreamDestroy(stream);
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

int read_gpu(GpuDevice& device) {
    int runtime = 0, driver = 0;
    cudaDeviceProp properties{};
    check(cudaGetDevice(&device.ordinal), "finding the GPU");
    check(cudaGetDeviceProperties(&properties, device.ordinal), "asking the GPU");
    check(cudaRuntimeGetVersion(&runtime), "asking the runtime");
    check(cudaDriverGetVersion(&driver), "asking the driver");
    const auto dotted = [](int version) {
        return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
    };
    const std::size_t library = cublasLtGetVersion();
    device.name = properties.name;
    device.version = "cuBLASLt " + std::to_string(library / 10000) + "." +
                     std::to_string(library / 100 % 100) + "." + std::to_string(library % 100) +
                     ", CUDA runtime " + dotted(runtime);
    device.driver = "CUDA " + dotted(driver);
    return properties.major * 10 + properties.minor;
}

// Everything that a record of bits should name.
void set_facts(GpuDevice& device, const char* vendor) {
    device.known = {{{"name", device.name.c_str()},
                     {"vendor", vendor},
                     {"version", device.version.c_str()},
                     {"driver", device.driver.c_str()},
                     {"isa", device.isa.c_str()},
                     {"notes", device.notes.c_str()}}};
}

void make_ready(GpuDevice& device) {
    check(cudaStreamCreateWithFlags(&device.stream, cudaStreamNonBlocking), "making a stream");
    check(cudaEventCreate(&device.begin), "making an event");
    check(cudaEventCreate(&device.end), "making an event");
    device.workspace.reserve(workspace_bytes);
    check(cublasLtCreate(&device.handle), "cublasLtCreate");
}

void choose(const GpuDevice* device) {
    if (device == nullptr) throw Refusal{MX_INVALID, "the device is not open"};
    check(cudaSetDevice(device->ordinal), "choosing the GPU");
}

WaitAtEnd::~WaitAtEnd() {
    if (cudaStreamSynchronize(stream) != cudaSuccess) cudaGetLastError();
}

double seconds_of(const GpuDevice& device) {
    float milliseconds = 0;
    if (cudaEventElapsedTime(&milliseconds, device.begin, device.end) == cudaSuccess)
        return 1e-3 * static_cast<double>(milliseconds);
    cudaGetLastError();
    return -1;
}

}  // namespace mx::cublaslt
