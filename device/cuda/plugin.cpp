// The device of the plug-in: facts, and the way from a call to the kernels.
#include <cuda_runtime_api.h>

#include <array>
#include <span>
#include <string>

#include "device/abi/mx_device_clock.h"
#include "device/cuda/kernels.hpp"
#include "device/cuda/request.hpp"
#include "device/cuda/staging.hpp"
#include "device/kit/plugin.hpp"

namespace mx::cuda {
namespace {

std::string text_of(cudaError_t error) {
    return std::string(cudaGetErrorName(error)) + ", " + cudaGetErrorString(error);
}

// Errors that a context does not survive are answered by every later call, too; all others end
// here, so that no later launch reports them.
void check(cudaError_t error, const std::string& doing) {
    if (error == cudaSuccess) return;
    const bool is_lost = cudaDeviceSynchronize() != cudaSuccess;
    cudaGetLastError();
    const mx_status status = error == cudaErrorMemoryAllocation ? MX_OUT_OF_MEMORY : MX_FAILED;
    throw kit::Refusal{is_lost ? MX_DEVICE_LOST : status, doing + ": " + text_of(error)};
}

std::string dotted(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

struct OpenGpu {
    int ordinal = 0;  // of the GPU that open found; a later caller's thread may have another
    cudaStream_t stream = nullptr;
    cudaEvent_t begin = nullptr, end = nullptr;  // of the kernels of a run
    GpuMemory memory;
    GpuMemory word_memory;  // for the amax of a tensor
    std::string name, version, driver, isa, notes;

    OpenGpu();
    OpenGpu(const OpenGpu&) = delete;
    OpenGpu& operator=(const OpenGpu&) = delete;
    ~OpenGpu() { release(); }

    std::uint32_t* word() const { return reinterpret_cast<std::uint32_t*>(word_memory.data()); }

private:
    cudaError_t read_facts();
    cudaError_t start();
    void release();
};

// What somebody without a GPU, or with another one, must know.
[[noreturn]] void refuse_to_open(cudaError_t error, const OpenGpu& gpu) {
    cudaGetLastError();
    if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ||
        error == cudaErrorStubLibrary)
        kit::not_supported("no GPU can be used here: " + text_of(error));
    // Which of the two a GPU without code of ours answers, depends on the call.
    if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction)
        kit::not_supported(
            "this library has code for sm_90 and for the families of sm_100 and sm_120 alone, and "
            "the "
            "GPU here, " +
            gpu.name + ", is " + gpu.isa);
    throw kit::Refusal{MX_FAILED, "the GPU did not start: " + text_of(error)};
}

OpenGpu::OpenGpu() {
    const cudaError_t error = start();
    if (error == cudaSuccess) return;
    release();
    refuse_to_open(error, *this);
}

void OpenGpu::release() {
    if (begin != nullptr) cudaEventDestroy(begin);
    if (end != nullptr) cudaEventDestroy(end);
    if (stream != nullptr) cudaStreamDestroy(stream);
}

cudaError_t OpenGpu::start() {
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count == 0) error = cudaErrorNoDevice;
    if (error == cudaSuccess) error = read_facts();
    if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (error == cudaSuccess) error = cudaEventCreate(&begin);
    if (error == cudaSuccess) error = cudaEventCreate(&end);
    if (error == cudaSuccess) error = word_memory.reserve(sizeof(std::uint32_t));
    return error;
}

// Everything about the GPU that a record of bits should name.
cudaError_t OpenGpu::read_facts() {
    int runtime = 0, driver_version = 0;
    cudaDeviceProp properties{};
    CodePath path{};
    cudaError_t error = cudaGetDevice(&ordinal);
    if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties, ordinal);
    name = properties.name;
    isa = "sm_" + std::to_string(properties.major * 10 + properties.minor);
    if (error == cudaSuccess) error = cudaRuntimeGetVersion(&runtime);
    if (error == cudaSuccess) error = cudaDriverGetVersion(&driver_version);
    if (error == cudaSuccess) error = find_code_path(path);
    if (error != cudaSuccess) return error;
    version = "CUDA runtime " + dotted(runtime);
    driver = "CUDA " + dotted(driver_version);
    notes = "path: code compiled for sm_" + std::to_string(path.binary_version) +
            "; FP8 elements by cvt in whole aligned blocks of 32 (dequantizing: along rows) and "
            "where convert saturates, by arithmetic elsewhere; E4M3 scales by cvt; ";
    notes += path.has_scale_conversion ? "E8M0 ratios by cvt to ue8m0"
                                       : "E8M0 ratios by integer arithmetic";
    notes += "; FP6, FP4 and INT8 by arithmetic";
    if (properties.major >= 10) notes += "; UNVERIFIED on this architecture";
    return cudaSuccess;
}

struct Launcher {
    cudaStream_t stream;
    std::uint32_t* amax;  // a word for the amax of a tensor

    cudaError_t operator()(const QuantizeJob& job) const { return quantize(job.blocks, stream); }
    cudaError_t operator()(const BothJob& job) const { return quantize_both(job, stream); }
    cudaError_t operator()(const DequantizeJob& job) const {
        return dequantize(job.blocks, stream);
    }
    cudaError_t operator()(const ConvertJob& job) const { return convert(job, stream); }
    cudaError_t operator()(const EncodeScaleJob& job) const { return encode_scales(job, stream); }
    cudaError_t operator()(const QuantizeRealScalesJob& job) const {
        const cudaError_t error = quantize_real_scales(job.blocks, amax, stream);
        if (error != cudaSuccess || !job.columns) return error;
        return quantize_real_scales(*job.columns, amax, stream);
    }
    cudaError_t operator()(const DequantizeRealScalesJob& job) const {
        return dequantize_real_scales(job.blocks, stream);
    }
};

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

class Cuda {
public:
    Cuda()
        : facts_{{{"name", gpu_.name.c_str()},
                  {"vendor", "NVIDIA"},
                  {"version", gpu_.version.c_str()},
                  {"driver", gpu_.driver.c_str()},
                  {"isa", gpu_.isa.c_str()},
                  {"notes", gpu_.notes.c_str()}}} {}

    std::span<const mx_fact> facts() const { return facts_; }

    // Needs no GPU, and no open device.
    static void supports(Cuda*, const kit::Arguments& call) { job_of(call, kit::Buffers::absent); }

    void run(const kit::Arguments& call) {
        last_seconds = -1;
        job_of(call, kit::Buffers::present);
        check(cudaSetDevice(gpu_.ordinal), "choosing the GPU");
        Staging staging(call, gpu_.memory, gpu_.stream);
        const WaitAtEnd wait{gpu_.stream};
        check(staging.copy_in(), "copying to the GPU");
        const Job job = job_of(staging.on_gpu(), kit::Buffers::absent);
        cudaEventRecord(gpu_.begin, gpu_.stream);
        check(std::visit(Launcher{gpu_.stream, gpu_.word()}, job), "starting a kernel");
        cudaEventRecord(gpu_.end, gpu_.stream);
        check(staging.copy_out(), "running a kernel");
        check(cudaStreamSynchronize(gpu_.stream), "running a kernel");
        last_seconds = seconds_between(gpu_.begin, gpu_.end);
    }

private:
    OpenGpu gpu_;
    std::array<mx_fact, 6> facts_;
};

}  // namespace
}  // namespace mx::cuda

MX_KIT_PLUGIN(mx::cuda::Cuda)

extern "C" double mx_device_last_seconds(void) {
    return mx::cuda::last_seconds;
}
