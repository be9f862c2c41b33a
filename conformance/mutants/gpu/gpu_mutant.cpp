// The planted bugs of a GPU as one device: memory, streams, facts. The bugs of the kernel are in
// gpu_kernel.cuh, those of its start in gpu_launch.cu, those of the host here.
#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "conformance/mutants/gpu/gpu_launch.hpp"
#include "conformance/mutants/gpu/gpu_mutants.hpp"
#include "conformance/mutants/planted_device.hpp"
#include "device/kit/plugin.hpp"

namespace mx::mutants::gpu {
namespace {

std::string text_of(cudaError_t error) {
    return std::string(cudaGetErrorName(error)) + ", " + cudaGetErrorString(error);
}

// Whether the reason not to open is that there is no GPU for this library here.
bool is_absence(cudaError_t error) {
    return error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ||
           error == cudaErrorStubLibrary || error == cudaErrorNoKernelImageForDevice ||
           error == cudaErrorInvalidDeviceFunction;
}

void check_open(cudaError_t error) {
    if (error == cudaSuccess) return;
    cudaGetLastError();
    if (is_absence(error)) kit::not_supported("no GPU can be used here: " + text_of(error));
    throw kit::Refusal{MX_FAILED, "the GPU did not start: " + text_of(error)};
}

// What a call needs of the GPU.
struct Memory {
    unsigned char* bytes = nullptr;
    std::size_t size = 0;

    Memory() = default;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { cudaFree(bytes); }
};
struct Stream {
    cudaStream_t handle = nullptr;

    Stream() { check_open(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking)); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() { cudaStreamDestroy(handle); }
};

std::string isa_of_gpu() {
    int device = 0, major = 0, minor = 0;
    check_open(cudaGetDevice(&device));
    check_open(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    check_open(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    return "sm_" + std::to_string(major * 10 + minor);
}

struct Extent {
    std::int64_t rows, columns;
};

std::size_t bytes_of(const Plane& plane, Extent extent) {
    const std::int64_t last =
        (extent.rows - 1) * plane.row_stride + (extent.columns - 1) * plane.column_stride;
    return static_cast<std::size_t>((last + 1) * plane.width);
}

// A tensor of the host and its copy on the GPU.
struct Copy {
    unsigned char* host;
    std::size_t bytes;
    unsigned char* gpu;
};

// Each copy is rounded up, which leaves room for loads and stores that go a little astray.
cudaError_t reserve(Memory& memory, std::array<Copy, 3>& copies) {
    constexpr std::size_t alignment = 256;
    std::size_t size = 0;
    for (const Copy& copy : copies) size += (copy.bytes / alignment + 2) * alignment;
    if (size > memory.size) {
        cudaFree(memory.bytes);
        memory.bytes = nullptr;
        memory.size = 0;
        void* bytes = nullptr;
        const cudaError_t error = cudaMalloc(&bytes, size);
        if (error != cudaSuccess) return error;
        memory.bytes = static_cast<unsigned char*>(bytes);
        memory.size = size;
    }
    unsigned char* next = memory.bytes;
    for (Copy& copy : copies) {
        copy.gpu = next;
        next += (copy.bytes / alignment + 2) * alignment;
    }
    return cudaSuccess;
}

class Device {
public:
    explicit Device(kit::Configuration& configuration)
        : bug_(static_cast<Bug>(chosen_bug(table, configuration))),
          kernel_(bug_ == Bug::fast_math ? fast_math_kernel : exact_kernel),
          name_("gpu_mutants:bug=" + std::string(table[static_cast<std::size_t>(bug_)].name)),
          isa_(isa_of_gpu()) {
        cudaFuncAttributes attributes{};
        check_open(kernel_.look(attributes));
        facts_ = {{{"name", name_.c_str()},
                   {"vendor", "mxcheck"},
                   {"isa", isa_.c_str()},
                   {"notes", "a planted bug of a GPU, to test the harness with"}}};
    }

    std::span<const mx_fact> facts() const { return facts_; }
    void supports(const kit::Arguments& call) { read_job(call, kit::Buffers::absent); }
    void run(const kit::Arguments& call) {
        Job job = read_job(call, kit::Buffers::present);
        job.bug = bug_;
        if (job.rows == 0 || job.columns == 0) return;
        const cudaError_t error = answer(job);
        if (error == cudaSuccess) return;
        cudaGetLastError();
        throw kit::Refusal{MX_FAILED, "quantizing: " + text_of(error)};
    }

private:
    // The outputs are copied in too, so that gaps between rows come back as they were.
    cudaError_t answer(Job job) {
        const Extent shape{job.rows, job.columns}, grid{job.rows, job.blocks_of_a_row()};
        std::array<Copy, 3> copies{{{job.values.data, bytes_of(job.values, shape), nullptr},
                                    {job.codes.data, bytes_of(job.codes, shape), nullptr},
                                    {job.scales.data, bytes_of(job.scales, grid), nullptr}}};
        cudaError_t error = reserve(memory_, copies);
        for (const Copy& copy : copies)
            if (error == cudaSuccess)
                error = cudaMemcpyAsync(copy.gpu, copy.host, copy.bytes, cudaMemcpyHostToDevice,
                                        work_.handle);
        job.values.data = copies[0].gpu;
        job.codes.data = copies[1].gpu;
        job.scales.data = copies[2].gpu;
        if (error == cudaSuccess) error = kernel_.launch(job, work_.handle);
        const cudaStream_t out = bug_ == Bug::wrong_stream ? copies_.handle : work_.handle;
        for (const Copy* copy : {&copies[1], &copies[2]})
            if (error == cudaSuccess)
                error = cudaMemcpyAsync(copy->host, copy->gpu, copy->bytes, cudaMemcpyDeviceToHost,
                                        out);
        // Of all streams: a call that ended must not still read or write, whatever else is wrong.
        const cudaError_t end = cudaDeviceSynchronize();
        return error == cudaSuccess ? end : error;
    }

    Bug bug_;
    const Kernel& kernel_;
    std::string name_, isa_;
    std::array<mx_fact, 4> facts_{};
    Memory memory_;
    Stream work_, copies_;
};

}  // namespace
}  // namespace mx::mutants::gpu

MX_KIT_PLUGIN(mx::mutants::gpu::Device)
