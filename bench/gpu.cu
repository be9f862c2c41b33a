// See gpu.hpp. The management library's few functions are declared here: its header is not in every
// toolkit.
#include "bench/gpu.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

namespace mx::bench::gpu {
namespace {

constexpr std::size_t flush_bytes = std::size_t{256} << 20;
constexpr unsigned sm_clock = 1, memory_clock = 2, gpu_temperature = 0;

Status checked(cudaError_t error, const char* doing) {
    if (error == cudaSuccess) return success();
    cudaGetLastError();
    return Error{ErrorKind::device, std::string(doing) + ": " + cudaGetErrorString(error)};
}

struct Throttle {
    unsigned long long bit;
    const char* name;
};
constexpr Throttle throttles[] = {
    {0x1, "idle"},
    {0x2, "clocks set by an application"},
    {0x4, "power cap"},
    {0x8, "hardware slowdown"},
    {0x10, "sync boost"},
    {0x20, "thermal, software"},
    {0x40, "thermal, hardware"},
    {0x80, "power brake"},
    {0x100, "display clocks"},
};

std::string throttle_text(unsigned long long reasons) {
    std::string text;
    for (const Throttle& throttle : throttles)
        if ((reasons & throttle.bit) != 0)
            text += std::string(text.empty() ? "" : " and ") + throttle.name;
    return text.empty() ? "none" : text;
}

template <typename Function>
Function* find_in(void* library, const char* name) {
    return reinterpret_cast<Function*>(dlsym(library, name));
}

// The management library counts all GPUs of the machine, CUDA those that it may see: they are
// matched by their place on the bus.
void* managed_gpu(void* library) {
    auto* start = find_in<int()>(library, "nvmlInit_v2");
    auto* by_bus = find_in<int(const char*, void**)>(library, "nvmlDeviceGetHandleByPciBusId_v2");
    char bus[32] = "";
    void* device = nullptr;
    if (start == nullptr || by_bus == nullptr || start() != 0 ||
        cudaDeviceGetPCIBusId(bus, sizeof bus, 0) != cudaSuccess || by_bus(bus, &device) != 0)
        return nullptr;
    return device;
}

}  // namespace

Status find() {
    int count = 0;
    const Status asked = checked(cudaGetDeviceCount(&count), "no GPU can be used here");
    if (asked && count == 0) return Error{ErrorKind::device, "there is no GPU here"};
    return asked;
}

void Free::operator()(std::uint8_t* bytes) const {
    cudaFree(bytes);
}

Expected<Memory> allocate(std::size_t bytes) {
    void* data = nullptr;
    const Status done = checked(cudaMalloc(&data, bytes), "allocating memory of the GPU");
    if (!done) return done.error();
    return Memory(static_cast<std::uint8_t*>(data));
}

Status upload(std::uint8_t* to, const void* from, std::size_t bytes) {
    return checked(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copying to the GPU");
}

Status download(void* to, const std::uint8_t* from, std::size_t bytes) {
    return checked(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copying from the GPU");
}

Status flush() {
    static void* data = nullptr;
    if (data == nullptr)
        if (const Status got = checked(cudaMalloc(&data, flush_bytes), "allocating"); !got)
            return got;
    static int value = 0;
    const Status set = checked(cudaMemset(data, ++value & 0xFF, flush_bytes), "emptying caches");
    return set ? checked(cudaDeviceSynchronize(), "emptying caches") : set;
}

Expected<double> seconds_of(const Copy& copy) {
    static cudaEvent_t begin = nullptr, end = nullptr;
    cudaError_t error = cudaSuccess;
    if (begin == nullptr) error = cudaEventCreate(&begin);
    if (end == nullptr && error == cudaSuccess) error = cudaEventCreate(&end);
    if (error == cudaSuccess) error = cudaEventRecord(begin);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(copy.to, copy.from, copy.bytes, cudaMemcpyDeviceToDevice);
    if (error == cudaSuccess) error = cudaEventRecord(end);
    if (error == cudaSuccess) error = cudaEventSynchronize(end);
    float milliseconds = 0;
    if (error == cudaSuccess) error = cudaEventElapsedTime(&milliseconds, begin, end);
    const Status done = checked(error, "timing a copy");
    if (!done) return done.error();
    return 1e-3 * static_cast<double>(milliseconds);
}

std::string state() {
    static void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (library == nullptr) return "unknown: no libnvidia-ml.so.1";
    static void* device = managed_gpu(library);
    if (device == nullptr) return "unknown: the management library did not answer";
    using Unsigned = int(void*, unsigned*);
    auto* clock = find_in<int(void*, unsigned, unsigned*)>(library, "nvmlDeviceGetClockInfo");
    auto* heat = find_in<int(void*, unsigned, unsigned*)>(library, "nvmlDeviceGetTemperature");
    auto* power = find_in<Unsigned>(library, "nvmlDeviceGetPowerUsage");
    auto* throttle = find_in<int(void*, unsigned long long*)>(
        library, "nvmlDeviceGetCurrentClocksThrottleReasons");
    unsigned sm = 0, memory = 0, celsius = 0, milliwatts = 0;
    unsigned long long reasons = 0;
    const auto number = [](bool known, unsigned value) {
        return known ? std::to_string(value) : std::string("unknown");
    };
    const bool has_sm = clock != nullptr && clock(device, sm_clock, &sm) == 0;
    const bool has_memory = clock != nullptr && clock(device, memory_clock, &memory) == 0;
    const bool has_power = power != nullptr && power(device, &milliwatts) == 0;
    const bool has_heat = heat != nullptr && heat(device, gpu_temperature, &celsius) == 0;
    const bool has_reasons = throttle != nullptr && throttle(device, &reasons) == 0;
    return "SM " + number(has_sm, sm) + " MHz, memory " + number(has_memory, memory) + " MHz, " +
           number(has_power, milliwatts / 1000) + " W, " + number(has_heat, celsius) +
           " C, throttle " + (has_reasons ? throttle_text(reasons) : "unknown");
}

}  // namespace mx::bench::gpu
