// See clocks.hpp. The library's few functions are declared here: its header is not in every
// toolkit.
#include "device/cuda/bench/clocks.hpp"

#include <dlfcn.h>

namespace mx::cuda {
namespace {

constexpr unsigned sm_clock = 1;
constexpr unsigned memory_clock = 2;

template <typename Function>
Function* find(void* library, const char* name) {
    return reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

std::string clocks_text() {
    static void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (library == nullptr) return "clocks unknown: no libnvidia-ml.so.1";
    auto* start = find<int()>(library, "nvmlInit_v2");
    auto* device_at = find<int(unsigned, void**)>(library, "nvmlDeviceGetHandleByIndex_v2");
    auto* clock_of = find<int(void*, unsigned, unsigned*)>(library, "nvmlDeviceGetClockInfo");
    void* device = nullptr;
    unsigned sm = 0, memory = 0;
    if (start == nullptr || device_at == nullptr || clock_of == nullptr || start() != 0 ||
        device_at(0, &device) != 0 || clock_of(device, sm_clock, &sm) != 0 ||
        clock_of(device, memory_clock, &memory) != 0)
        return "clocks unknown: the management library did not answer";
    return "SM " + std::to_string(sm) + " MHz, memory " + std::to_string(memory) + " MHz";
}

}  // namespace mx::cuda
