// What a plug-in around cuBLASLt needs beside its products: failures as refusals, the GPU
// and its facts, the clock. Used by plugin.cpp here and in device/hopper.
#pragma once

#include <array>
#include <span>
#include <string>

#include "device/cublaslt/call_checks.hpp"
#include "device/cublaslt/failure.hpp"
#include "device/cublaslt/staging.hpp"

namespace mx::cublaslt {

inline constexpr std::size_t workspace_mib = 64;
inline constexpr std::size_t workspace_bytes = workspace_mib << 20;

Refusal refusal_of(const CudaFailure& failure);
Refusal refusal_of(const CublasFailure& failure);

// An open GPU. A plug-in derives from it what it adds.
struct GpuDevice {
    int ordinal = 0;  // of the GPU that open found; a later caller's thread may have another
    cudaStream_t stream = nullptr;
    cudaEvent_t begin = nullptr, end = nullptr;  // of the products of a run
    cublasLtHandle_t handle = nullptr;
    GpuMemory workspace;
    std::string name, version, driver, isa, notes;
    std::array<mx_fact, 6> known{};

    GpuDevice() = default;
    GpuDevice(const GpuDevice&) = delete;
    GpuDevice& operator=(const GpuDevice&) = delete;
    ~GpuDevice();

    std::span<const mx_fact> facts() const { return known; }

    // Runs `work` and makes refusals of the failures that it throws.
    template <typename Work>
    static void translated(Work work) {
        try {
            work();
        } catch (const CublasNo& no) {
            not_supported(no.doing + ": " + cublasLtGetStatusName(no.status));
        } catch (const CublasFailure& failure) {
            throw refusal_of(failure);
        } catch (const CudaFailure& failure) {
            throw refusal_of(failure);
        }
    }
};

// These throw Refusal or what failure.hpp has.
void require_gpu();
// Ordinal, name, version and driver; the compute capability, 90 for 9.0.
int read_gpu(GpuDevice& device);
// The facts point to the texts of the device, which must not change any more. The vendor's name
// must outlive it.
void set_facts(GpuDevice& device, const char* vendor);
void make_ready(GpuDevice& device);
// For the calling thread. As a refusal: NULL, which no open device is.
void choose(const GpuDevice* device);

// Waits on every way out, exceptions too: after a call nothing may still read or write the host's
// memory.
struct WaitAtEnd {
    cudaStream_t stream;

    ~WaitAtEnd();
};

// What lies between the device's two events, once both have happened; below 0 where CUDA does not
// say.
double seconds_of(const GpuDevice& device);

}  // namespace mx::cublaslt
