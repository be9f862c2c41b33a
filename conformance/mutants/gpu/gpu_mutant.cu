// One planted bug of a GPU as a device of its own: the table of functions, memory, streams and the
// launch. The bugs of the kernel are in gpu_kernel.cuh, those of the host here.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdio>
#include <new>

#include "conformance/mutants/gpu/gpu_kernel.cuh"

namespace mx::mutants::gpu {
namespace {

struct Session {
    cudaStream_t work = nullptr, copies = nullptr;
    unsigned char* memory = nullptr;
    std::size_t size = 0;
    char isa[16] = "";
    mx_fact facts[4] = {{"name", file_name},
                        {"vendor", "mxcheck"},
                        {"isa", isa},
                        {"notes", "a planted bug of a GPU, to test the harness with"}};

    Session() = default;
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session() {
        if (work != nullptr) cudaStreamDestroy(work);
        if (copies != nullptr) cudaStreamDestroy(copies);
        cudaFree(memory);
    }
};

// Keeps the stream busy for about a millisecond, as other work on the GPU might: results that are
// copied too early are then always too early.
__global__ void be_busy() {
    constexpr long long cycles = 2000000;
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

cudaError_t start(Session& session) {
    int device = 0, major = 0, minor = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    std::snprintf(session.isa, sizeof session.isa, "sm_%d", major * 10 + minor);
    cudaFuncAttributes attributes{};
    if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, quantize_tiles);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&session.work, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&session.copies, cudaStreamNonBlocking);
    return error;
}

// Whether the reason not to open is that there is no GPU for this library here.
bool is_absence(cudaError_t error) {
    return error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ||
           error == cudaErrorStubLibrary || error == cudaErrorNoKernelImageForDevice ||
           error == cudaErrorInvalidDeviceFunction;
}

mx_status complain(const char* doing, cudaError_t error, mx_message* message) {
    char sentence[256];
    std::snprintf(sentence, sizeof sentence, "%s: %s, %s", doing, cudaGetErrorName(error),
                  cudaGetErrorString(error));
    say(message, sentence);
    cudaGetLastError();
    return MX_FAILED;
}

mx_status open(void** device, mx_message* message) {
    *device = nullptr;
    auto* session = new (std::nothrow) Session;
    if (session == nullptr) return MX_OUT_OF_MEMORY;
    const cudaError_t error = start(*session);
    if (error == cudaSuccess) {
        *device = session;
        return MX_OK;
    }
    delete session;
    if (!is_absence(error)) return complain("the GPU did not start", error, message);
    complain("no GPU can be used here", error, message);
    return MX_NOT_SUPPORTED;
}

void close(void* device) {
    delete static_cast<Session*>(device);
}

std::size_t describe(void* device, const mx_fact** facts) {
    auto& session = *static_cast<Session*>(device);
    *facts = session.facts;
    return sizeof session.facts / sizeof session.facts[0];
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
cudaError_t reserve(Session& session, Copy (&copies)[3]) {
    constexpr std::size_t alignment = 256;
    std::size_t size = 0;
    for (const Copy& copy : copies) size += (copy.bytes / alignment + 2) * alignment;
    if (size > session.size) {
        cudaFree(session.memory);
        session.memory = nullptr;
        session.size = 0;
        const cudaError_t error = cudaMalloc(&session.memory, size);
        if (error != cudaSuccess) return error;
        session.size = size;
    }
    unsigned char* next = session.memory;
    for (Copy& copy : copies) {
        copy.gpu = next;
        next += (copy.bytes / alignment + 2) * alignment;
    }
    return cudaSuccess;
}

// A row a thread block, down gridDim.y, where a further row is taken when one is done.
cudaError_t launch(const Job& job, cudaStream_t stream) {
    constexpr std::int64_t grid_largest = 65535;
    const bool is_capped = job.rows > grid_largest && !has<Bug::launch_error_ignored>;
    const dim3 grid(1, static_cast<unsigned>(is_capped ? grid_largest : job.rows));
    be_busy<<<1, 1, 0, stream>>>();
    quantize_tiles<<<grid, tile_threads, 0, stream>>>(job);
    const cudaError_t error = cudaGetLastError();
    return has<Bug::launch_error_ignored> ? cudaSuccess : error;
}

// The outputs are copied in too, so that gaps between rows come back as they were.
cudaError_t answer(Session& session, Job job) {
    const Extent shape{job.rows, job.columns}, grid{job.rows, job.blocks_of_a_row()};
    Copy copies[3] = {{job.values.data, bytes_of(job.values, shape), nullptr},
                      {job.codes.data, bytes_of(job.codes, shape), nullptr},
                      {job.scales.data, bytes_of(job.scales, grid), nullptr}};
    cudaError_t error = reserve(session, copies);
    for (const Copy& copy : copies)
        if (error == cudaSuccess)
            error = cudaMemcpyAsync(copy.gpu, copy.host, copy.bytes, cudaMemcpyHostToDevice,
                                    session.work);
    job.values.data = copies[0].gpu;
    job.codes.data = copies[1].gpu;
    job.scales.data = copies[2].gpu;
    if (error == cudaSuccess) error = launch(job, session.work);
    const cudaStream_t out = has<Bug::wrong_stream> ? session.copies : session.work;
    for (const Copy* copy : {&copies[1], &copies[2]})
        if (error == cudaSuccess)
            error =
                cudaMemcpyAsync(copy->host, copy->gpu, copy->bytes, cudaMemcpyDeviceToHost, out);
    // Of all streams: a call that ended must not still read or write, whatever else is wrong.
    const cudaError_t end = cudaDeviceSynchronize();
    return error == cudaSuccess ? end : error;
}

mx_status supports(void*, const mx_operation* operation, const mx_tensor* inputs,
                   std::size_t input_count, const mx_tensor* outputs, std::size_t output_count,
                   mx_message* message) {
    Job job;
    return read_job({operation, inputs, input_count, outputs, output_count, message}, job);
}

mx_status run(void* device, const mx_operation* operation, const mx_tensor* inputs,
              std::size_t input_count, const mx_tensor* outputs, std::size_t output_count,
              mx_message* message) {
    const Call call{operation, inputs, input_count, outputs, output_count, message};
    Job job;
    mx_status status = read_job(call, job);
    if (status == MX_OK) status = check_data(call);
    if (status != MX_OK || job.rows == 0 || job.columns == 0) return status;
    const cudaError_t error = answer(*static_cast<Session*>(device), job);
    return error == cudaSuccess ? MX_OK : complain("quantizing", error, message);
}

constexpr mx_device_api api{
    sizeof(mx_device_api), MX_DEVICE_ABI_VERSION, open, close, describe, supports, run, nullptr};

}  // namespace
}  // namespace mx::mutants::gpu

const mx_device_api* mx_device_get_api(uint32_t host_abi_version) {
    return host_abi_version == MX_DEVICE_ABI_VERSION ? &mx::mutants::gpu::api : nullptr;
}
