// gpu_runs.hpp, device_elements.hpp, tanh_sweep.hpp and gemm_check.hpp where CUDA was not there
// when mxcheck was built.
#include "conformance/sweep/device_elements.hpp"
#include "conformance/sweep/gemm_check.hpp"
#include "conformance/sweep/gpu_runs.hpp"
#include "conformance/sweep/tanh_sweep.hpp"

namespace mx::sweep {
namespace {

Error no_cuda() {
    return {ErrorKind::system,
            "the GPU: this mxcheck was built without CUDA; device/cuda/README.md says how"};
}

}  // namespace

Expected<Gpu> find_gpu() {
    return no_cuda();
}

Expected<GpuRuns> gpu_runs(const GpuMap&, std::uint64_t) {
    return no_cuda();
}

Expected<ElementDifferences> compare_elements(const DeviceElements&, int) {
    return no_cuda();
}

Expected<TanhDifferences> compare_tanh() {
    return no_cuda();
}

Expected<std::vector<GemmDifferences>> check_gemm(Device&, const DrawnGemm&,
                                                  const std::vector<AskedAlgorithm>&) {
    return no_cuda();
}

}  // namespace mx::sweep
