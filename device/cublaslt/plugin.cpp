// The device of the plug-in: the way from a call to cuBLASLt.
#include <string>
#include <utility>
#include <vector>

#include "device/abi/mx_device_clock.h"
#include "device/cublaslt/limits.hpp"
#include "device/cublaslt/matmul.hpp"
#include "device/cublaslt/plugin_frame.hpp"
#include "device/cublaslt/request.hpp"
#include "device/kit/plugin.hpp"

namespace mx::cublaslt {
namespace {

// Of the last run of this process, below 0 where there is no time; calls come from one thread at a
// time.
double last_seconds = -1;

class CublasLt : public GpuDevice {
public:
    CublasLt();

    // What cuBLASLt need not be asked is answered before the device is open.
    static void supports(CublasLt* device, const Call& call);
    void run(const Call& call);
    std::span<const char* const> algorithms(const Call& call);

    int capability = 0;

private:
    void run_on_gpu(const Call& call);
    // Of a problem that writes something, with every tensor at some address of the GPU.
    template <typename Work>
    void ask_in_advance(const Call& call, Work work) const;

    GpuMemory memory_;
    std::vector<Algorithm> algorithms_;
    std::vector<const char*> algorithm_names_;
};

// Asks cuBLASLt, and adds what is known to the status of a no.
template <typename Work>
void ask(const CublasLt& device, const Problem& problem, Work work) {
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

CublasLt::CublasLt() {
    require_gpu();
    capability = read_gpu(*this);
    isa = "sm_" + std::to_string(capability);
    notes = "workspace " + std::to_string(workspace_mib) + " MiB, every reduction scheme";
    if (capability >= 100) notes += "; UNVERIFIED on this architecture";
    set_facts(*this, "NVIDIA");
    make_ready(*this);
}

template <typename Work>
void CublasLt::ask_in_advance(const Call& call, Work work) const {
    Placement placement(call);
    placement.imagine(workspace.data());
    const Problem problem = problem_of(placement.call(), Buffers::present);
    ask(*this, problem, [&](const Matmul& matmul) { work(problem, matmul.algorithms()); });
}

void CublasLt::supports(CublasLt* device, const Call& call) {
    if (problem_of(call, Buffers::absent).writes_nothing()) return;
    choose(device);
    device->ask_in_advance(call, [](const Problem& problem, std::vector<Algorithm> offered) {
        chosen(problem, std::move(offered));
    });
}

std::span<const char* const> CublasLt::algorithms(const Call& call) {
    choose(this);
    algorithms_.clear();
    algorithm_names_.clear();
    if (!problem_of(call, Buffers::absent).writes_nothing())
        ask_in_advance(call, [&](const Problem&, std::vector<Algorithm> offered) {
            algorithms_ = std::move(offered);
        });
    for (const Algorithm& algorithm : algorithms_)
        algorithm_names_.push_back(algorithm.name.c_str());
    return algorithm_names_;
}

void CublasLt::run_on_gpu(const Call& call) {
    Staging staging(call, memory_, stream);
    const WaitAtEnd wait{stream};
    staging.copy_in();
    const Problem problem = problem_of(staging.call(), Buffers::present);
    // The pads of the scales are 0, whether cuBLASLt writes them or not.
    if (problem.scale_out.data != nullptr)
        check(cudaMemsetAsync(problem.scale_out.data, 0,
                              static_cast<std::size_t>(problem.scale_out.bytes), stream),
              "clearing the scales of D");
    ask(*this, problem, [&](const Matmul& matmul) {
        const Algorithm algorithm = chosen(problem, matmul.algorithms());
        cudaEventRecord(begin, stream);
        matmul.run(algorithm, stream);
        cudaEventRecord(end, stream);
    });
    staging.copy_out();
    check(cudaStreamSynchronize(stream), "running cublasLtMatmul");
    last_seconds = seconds_of(*this);
}

void CublasLt::run(const Call& call) {
    last_seconds = -1;
    if (problem_of(call, Buffers::present).writes_nothing()) return;
    choose(this);
    run_on_gpu(call);
}

}  // namespace
}  // namespace mx::cublaslt

MX_KIT_PLUGIN(mx::cublaslt::CublasLt)

extern "C" double mx_device_last_seconds(void) {
    return mx::cublaslt::last_seconds;
}
