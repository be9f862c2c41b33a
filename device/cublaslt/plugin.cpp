// The device table of the plug-in: the way from a call to cuBLASLt. Must not let an exception out.
#include <memory>
#include <string>
#include <utility>

#include "device/abi/mx_device.h"
#include "device/abi/mx_device_clock.h"
#include "device/cublaslt/limits.hpp"
#include "device/cublaslt/matmul.hpp"
#include "device/cublaslt/plugin_frame.hpp"
#include "device/cublaslt/request.hpp"

namespace mx::cublaslt {
namespace {

struct OpenDevice : GpuDevice {
    int capability = 0;
    GpuMemory memory;
    std::vector<Algorithm> algorithms;
    std::vector<const char*> algorithm_names;
};

void read_facts(OpenDevice& device) {
    device.capability = read_gpu(device);
    device.isa = "sm_" + std::to_string(device.capability);
    device.notes = "workspace " + std::to_string(workspace_mib) + " MiB, every reduction scheme";
    if (device.capability >= 100) device.notes += "; UNVERIFIED on this architecture";
    set_facts(device, "NVIDIA");
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
        make_ready(*opened);
        *device = static_cast<GpuDevice*>(opened.release());
        return MX_OK;
    });
}

void close(void* device) {
    delete static_cast<OpenDevice*>(static_cast<GpuDevice*>(device));
}

Problem checked_problem(const Call& call, Buffers buffers) {
    auto answer = problem_of(call, buffers);
    if (auto* refusal = std::get_if<Refusal>(&answer)) throw std::move(*refusal);
    return std::get<Problem>(std::move(answer));
}

OpenDevice& opened(void* device) {
    auto* const gpu = static_cast<GpuDevice*>(device);
    choose(gpu);
    return static_cast<OpenDevice&>(*gpu);
}

// Asks cuBLASLt, and adds what is known to the status of a no.
template <typename Work>
void ask(const OpenDevice& device, const Problem& problem, Work work) {
    try {
        work(Matmul(device.handle, {device.workspace.data(), workspace_bytes}, problem));
    } catch (const CublasNo& no) {
        throw Refusal{MX_NOT_SUPPORTED, no.doing + ": " + cublasLtGetStatusName(no.status) +
                                            explanation(problem, device.capability)};
    }
}

Algorithm chosen(const Problem& problem, std::vector<Algorithm> offered) {
    if (problem.algorithm.empty()) return offered.front();
    for (const Algorithm& algorithm : offered)
        if (algorithm.name == problem.algorithm) return algorithm;
    throw Refusal{MX_NOT_SUPPORTED, "cuBLASLt offers " + std::to_string(offered.size()) +
                                        " algorithms for this gemm, and none is \"" +
                                        problem.algorithm + "\""};
}

mx_status supports(void* device, const mx_operation* operation, const mx_tensor* inputs,
                   std::size_t input_count, const mx_tensor* outputs, std::size_t output_count,
                   mx_message* message) {
    const Call call{operation, inputs, input_count, outputs, output_count};
    return guarded(message, [&] {
        if (checked_problem(call, Buffers::absent).writes_nothing()) return MX_OK;
        OpenDevice& open_device = opened(device);
        Placement placement(call);
        placement.imagine(open_device.workspace.data());
        const Problem problem = checked_problem(placement.call(), Buffers::present);
        ask(open_device, problem,
            [&](const Matmul& matmul) { chosen(problem, matmul.algorithms()); });
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
        open_device.algorithms.clear();
        open_device.algorithm_names.clear();
        if (!checked_problem(call, Buffers::absent).writes_nothing()) {
            Placement placement(call);
            placement.imagine(open_device.workspace.data());
            const Problem problem = checked_problem(placement.call(), Buffers::present);
            ask(open_device, problem,
                [&](const Matmul& matmul) { open_device.algorithms = matmul.algorithms(); });
        }
        for (const Algorithm& algorithm : open_device.algorithms)
            open_device.algorithm_names.push_back(algorithm.name.c_str());
        *names = open_device.algorithm_names.data();
        *name_count = open_device.algorithm_names.size();
        return MX_OK;
    });
}

// Of the last run of this process, below 0 where there is no time; calls come from one thread at a
// time.
double last_seconds = -1;

void run_on_gpu(OpenDevice& device, const Call& call) {
    Staging staging(call, device.memory, device.stream);
    const WaitAtEnd wait{device.stream};
    staging.copy_in();
    const Problem problem = checked_problem(staging.call(), Buffers::present);
    // The pads of the scales are 0, whether cuBLASLt writes them or not.
    if (problem.scale_out.data != nullptr)
        check(cudaMemsetAsync(problem.scale_out.data, 0,
                              static_cast<std::size_t>(problem.scale_out.bytes), device.stream),
              "clearing the scales of D");
    ask(device, problem, [&](const Matmul& matmul) {
        const Algorithm algorithm = chosen(problem, matmul.algorithms());
        cudaEventRecord(device.begin, device.stream);
        matmul.run(algorithm, device.stream);
        cudaEventRecord(device.end, device.stream);
    });
    staging.copy_out();
    check(cudaStreamSynchronize(device.stream), "running cublasLtMatmul");
    last_seconds = seconds_of(device);
}

mx_status run(void* device, const mx_operation* operation, const mx_tensor* inputs,
              std::size_t input_count, const mx_tensor* outputs, std::size_t output_count,
              mx_message* message) {
    const Call call{operation, inputs, input_count, outputs, output_count};
    last_seconds = -1;
    return guarded(message, [&] {
        if (!checked_problem(call, Buffers::present).writes_nothing())
            run_on_gpu(opened(device), call);
        return MX_OK;
    });
}

constexpr mx_device_api table{sizeof(mx_device_api),
                              MX_DEVICE_ABI_VERSION,
                              open,
                              close,
                              describe,
                              supports,
                              run,
                              list_algorithms,
                              nullptr};

}  // namespace
}  // namespace mx::cublaslt

extern "C" const mx_device_api* mx_device_get_api(std::uint32_t host_abi_version) {
    return host_abi_version == MX_DEVICE_ABI_VERSION ? &mx::cublaslt::table : nullptr;
}

extern "C" double mx_device_last_seconds(void) {
    return mx::cublaslt::last_seconds;
}
