// mxcheck_cuda_facts: measures every fact on the GPU at hand and prints a table in Markdown.
// Exit code: 0 all hold, 1 one does not, 2 usage, 3 the GPU failed, 77 there is none.
#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>

#include "device/cuda/facts/fact.hpp"

namespace mx::cuda::facts {
namespace {

constexpr int exit_holds = 0;
constexpr int exit_does_not_hold = 1;
constexpr int exit_usage = 2;
constexpr int exit_device = 3;
constexpr int exit_no_gpu = 77;

Facts all_facts() {
    Facts all;
    for (const auto& list : {facts_about_the_instrument, facts_about_reciprocals,
                             facts_about_maxima, facts_about_logarithms, facts_about_conversions,
                             facts_about_default_flags, facts_about_fast_math})
        for (Fact& fact : list()) all.push_back(std::move(fact));
    return all;
}

std::string dotted(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// "580.159.04" from the driver's own file, "unknown" without it.
std::string driver_version() {
    std::ifstream file("/proc/driver/nvidia/version");
    for (std::string word; file >> word;)
        if (word.front() >= '0' && word.front() <= '9' && word.find('.') != std::string::npos)
            return word;
    return "unknown";
}

std::string today() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[16];
    std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
    return text;
}

void print_head(const cudaDeviceProp& gpu) {
    int runtime = 0;
    int driver = 0;
    cudaRuntimeGetVersion(&runtime);
    cudaDriverGetVersion(&driver);
    std::printf("%s (sm_%d%d), driver %s (CUDA %s), CUDA runtime %s, %s\n\n", gpu.name, gpu.major,
                gpu.minor, driver_version().c_str(), dotted(driver).c_str(),
                dotted(runtime).c_str(), today().c_str());
    std::printf(
        "| fact | left is right | inputs | exceptions claimed | found | first: input, left, "
        "right | holds | determines |\n|---|---|---|---|---|---|---|---|\n");
}

std::uint64_t size_of(const Domain& domain) {
    std::uint64_t size = 0;
    for (const Range& range : domain) size += range.count;
    return size;
}

bool holds(const Claim& claim, const Measured& found) {
    const bool is_first = !claim.exceptions.first || found.input == *claim.exceptions.first;
    return found.differences == claim.exceptions.count && is_first;
}

void print_row(const Claim& claim, const Measured& found) {
    char first[40] = "";
    if (found.differences != 0)
        std::snprintf(first, sizeof first, "%08X, %08X, %08X", found.input, found.left,
                      found.right);
    std::printf("| %s | %s | %llu | %llu | %llu | %s | %s | %s |\n", claim.id.c_str(),
                claim.sentence.c_str(), static_cast<unsigned long long>(size_of(claim.domain)),
                static_cast<unsigned long long>(claim.exceptions.count),
                static_cast<unsigned long long>(found.differences), first,
                holds(claim, found) ? "holds" : "DOES NOT HOLD", claim.determines.c_str());
    std::fflush(stdout);
}

// Measures all, whatever comes of the first.
int measure_all() {
    std::size_t failed = 0;
    const Facts facts = all_facts();
    const auto start = std::chrono::steady_clock::now();
    for (const Fact& fact : facts) {
        const Measured found = fact.measure();
        print_row(fact.claim, found);
        if (!holds(fact.claim, found)) ++failed;
    }
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    std::printf("\n%zu facts, %zu do not hold; %.1f s\n", facts.size(), failed, spent.count());
    return failed == 0 ? exit_holds : exit_does_not_hold;
}

int run() {
    cudaDeviceProp gpu{};
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count == 0) error = cudaErrorNoDevice;
    if (error == cudaSuccess) error = cudaGetDeviceProperties(&gpu, 0);
    if (error != cudaSuccess) {
        const char* wish = std::getenv("MX_REQUIRE_GPU");
        const bool is_required = wish != nullptr && *wish != '\0';
        std::fprintf(stderr, "mxcheck_cuda_facts: %s: %s\n",
                     is_required ? "MX_REQUIRE_GPU is set, and a GPU is missing"
                                 : "skipped for want of a GPU",
                     cudaGetErrorString(error));
        return is_required ? exit_device : exit_no_gpu;
    }
    print_head(gpu);
    return measure_all();
}

}  // namespace
}  // namespace mx::cuda::facts

int main(int argc, char**) {
    using namespace mx::cuda::facts;
    if (argc != 1) {
        std::fprintf(stderr, "mxcheck_cuda_facts takes no arguments\n");
        return exit_usage;
    }
    try {
        return run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "mxcheck_cuda_facts: the GPU failed: %s\n", error.what());
        return exit_device;
    }
}
