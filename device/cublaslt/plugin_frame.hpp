// What a plug-in around cuBLASLt needs beside its products: messages, exceptions as statuses, the
// GPU and its facts, the clock. Used by plugin.cpp here and in device/hopper.
#pragma once

#include <array>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "device/cublaslt/call_checks.hpp"
#include "device/cublaslt/failure.hpp"
#include "device/cublaslt/staging.hpp"

namespace mx::cublaslt {

inline constexpr std::size_t workspace_mib = 64;
inline constexpr std::size_t workspace_bytes = workspace_mib << 20;

void say(mx_message* message, std::string_view sentence);

mx_status status_of(const CudaFailure& failure, mx_message* message);
mx_status status_of(const CublasFailure& failure, mx_message* message);

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

// An open GPU. A plug-in derives from it what it adds, and its handle is a GpuDevice*.
struct GpuDevice {
    int ordinal = 0;  // of the GPU that open found; a later caller's thread may have another
    cudaStream_t stream = nullptr;
    cudaEvent_t begin = nullptr, end = nullptr;  // of the products of a run
    cublasLtHandle_t handle = nullptr;
    GpuMemory workspace;
    std::string name, version, driver, isa, notes;
    std::array<mx_fact, 6> facts{};

    GpuDevice() = default;
    GpuDevice(const GpuDevice&) = delete;
    GpuDevice& operator=(const GpuDevice&) = delete;
    ~GpuDevice();
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

std::size_t describe(void* device, const mx_fact** facts);

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
