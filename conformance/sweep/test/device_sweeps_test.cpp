// Whose sweeps are whose.
#include <gtest/gtest.h>

#include "conformance/sweep/gemm_sweeps.hpp"

namespace mx::sweep {
namespace {

std::vector<GpuSweep> sweeps(const std::string& device, GemmEffort effort) {
    return sweeps_of(device, bad_input("not here"), effort);
}

TEST(DeviceSweeps, AreThoseOfItsKindUnderItsName) {
    for (const GemmEffort effort : {GemmEffort::quick, GemmEffort::full}) {
        EXPECT_EQ(sweeps("cublaslt", effort).size(), gemm_families(effort).size());
        EXPECT_EQ(sweeps("hopper", effort).size(), mx_gemm_families(effort).size());
        for (const char* device : {"cublaslt", "hopper"})
            for (const GpuSweep& sweep : sweeps(device, effort)) EXPECT_EQ(sweep.device, device);
        EXPECT_EQ(sweeps("cuda", effort).size(), gpu_sweeps().size());
        for (const char* device : {"cpu", "hip", "", "./mydev.so"})
            EXPECT_TRUE(sweeps(device, effort).empty()) << device;
    }
}

}  // namespace
}  // namespace mx::sweep
