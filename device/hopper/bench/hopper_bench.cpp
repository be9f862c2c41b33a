// The ways of this device against cuBLASLt's own GEMMs, in one run on one GPU:
//     mxcheck_hopper_bench [ROUNDS]
// Rates are 2 M N K over the median time; the times of a way have everything that it does, scales
// and dequantising included. Every form of the kernel must give the same bits as the first.
//
// All of them draw more power than the GPU may, so that it lowers its clock, and what runs in turn
// with others finds the clock that their mean power leaves. Hence each is measured twice as if it
// were alone: after a rest, every round in another order; and again and again without one.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "device/hopper/bench/clocks.hpp"
#include "device/hopper/failure.hpp"
#include "device/hopper/ways.hpp"

namespace mx::hopper {
namespace {

using cublaslt::GpuMemory;
using cublaslt::Matmul;
using cublaslt::Matrix;
using cublaslt::Problem;

struct Gpu {
    cublasLtHandle_t handle = nullptr;
    cudaStream_t stream = nullptr;
    GpuMemory workspace, made;
    Clocks clocks;

    Gpu() {
        check(cudaStreamCreate(&stream), "making a stream");
        check(cublasLtCreate(&handle), "cublasLtCreate");
        workspace.reserve(std::size_t{64} << 20);
    }
    cublaslt::Workspace room() const { return {workspace.data(), std::size_t{64} << 20}; }
    Resources resources() { return {handle, room(), made, stream}; }
};

// A list that begins elsewhere in each row, so that it need not be as long as the matrix.
template <class Value>
void fill(GpuMemory& memory, const std::vector<Value>& list, std::int64_t rows,
          std::int64_t columns) {
    std::vector<Value> all(static_cast<std::size_t>(rows * columns));
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t done = 0; done < columns;) {
            const auto from = static_cast<std::int64_t>(
                (static_cast<std::uint64_t>(r) * 7919 + static_cast<std::uint64_t>(done)) %
                list.size());
            const std::int64_t count =
                std::min(columns - done, static_cast<std::int64_t>(list.size()) - from);
            std::copy_n(list.begin() + from, count, all.begin() + r * columns + done);
            done += count;
        }
    memory.reserve(all.size() * sizeof(Value));
    check(cudaMemcpy(memory.data(), all.data(), all.size() * sizeof(Value), cudaMemcpyHostToDevice),
          "copying to the GPU");
}

// Normal values as MX blocks of a typical tensor have them: codes up to about 448.
struct Lists {
    std::vector<std::uint8_t> e4m3, scales;
    std::vector<__nv_bfloat16> bf16;
    std::vector<float> f32_scales;
};
Lists make_lists() {
    Lists lists;
    std::mt19937_64 random(5);
    std::normal_distribution<float> normal(0, 120);
    std::uniform_int_distribution<int> exponent(122, 132);
    for (int i = 0; i < 1000003; ++i) {
        const float value = normal(random);
        lists.e4m3.push_back(__nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3));
        lists.bf16.push_back(__float2bfloat16(value));
        const int power = exponent(random);
        lists.scales.push_back(static_cast<std::uint8_t>(power));
        lists.f32_scales.push_back(std::ldexp(1.0f, power - 127));
    }
    return lists;
}

struct Tensors {
    GpuMemory a, b, scales_a, scales_b, a_bf16, b_bf16, f32_a, f32_b, one, d, other;
};

struct Sample {
    double milliseconds, megahertz;
};

struct Contender {
    std::string name;
    std::function<void()> launch;
    std::vector<Sample> samples = {};
    std::string trouble = {};
};

Sample measured(Gpu& gpu, const std::function<void()>& launch) {
    cudaEvent_t first = nullptr, last = nullptr;
    check(cudaEventCreate(&first), "making an event");
    check(cudaEventCreate(&last), "making an event");
    gpu.clocks.begin(gpu.stream);
    check(cudaEventRecord(first, gpu.stream), "recording an event");
    launch();
    check(cudaEventRecord(last, gpu.stream), "recording an event");
    gpu.clocks.end(gpu.stream);
    check(cudaStreamSynchronize(gpu.stream), "running");
    float time = 0;
    check(cudaEventElapsedTime(&time, first, last), "reading an event");
    cudaEventDestroy(first);
    cudaEventDestroy(last);
    return {static_cast<double>(time), gpu.clocks.megahertz()};
}

double middle(const std::vector<Sample>& samples, double (*value)(const Sample&)) {
    std::vector<double> values;
    for (const Sample& sample : samples) values.push_back(value(sample));
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}
double time_of(const Sample& sample) {
    return sample.milliseconds;
}
double clock_of(const Sample& sample) {
    return sample.megahertz;
}
double cycles_of(const Sample& sample) {
    return sample.milliseconds * sample.megahertz;
}

class Bench {
public:
    Bench(Gpu& gpu, const Lists& lists, std::int64_t size);
    void run(int rounds);

private:
    void add_library();
    void add_ours();
    void add_problem(const std::string& name, Problem problem);
    Problem square(cudaDataType_t factors, cudaDataType_t output, void* a, void* b) const;
    Product product() const;
    void compare_forms();
    void measure(Contender& contender);
    void run_rested(int rounds);
    void run_alone();
    void print() const;

    Gpu& gpu_;
    std::int64_t size_;
    Tensors t_;
    std::vector<std::unique_ptr<Problem>> problems_;
    std::vector<std::unique_ptr<Matmul>> matmuls_;
    std::vector<Contender> contenders_;
};

Bench::Bench(Gpu& gpu, const Lists& lists, std::int64_t size) : gpu_(gpu), size_(size) {
    fill(t_.a, lists.e4m3, size, size);
    fill(t_.b, std::vector(lists.e4m3.rbegin(), lists.e4m3.rend()), size, size);
    fill(t_.scales_a, lists.scales, size, size / block);
    fill(t_.scales_b, std::vector(lists.scales.rbegin(), lists.scales.rend()), size, size / block);
    fill(t_.a_bf16, lists.bf16, size, size);
    fill(t_.b_bf16, std::vector(lists.bf16.rbegin(), lists.bf16.rend()), size, size);
    fill(t_.f32_a, lists.f32_scales, size, size / 128);
    fill(t_.f32_b, lists.f32_scales, size, size / 128);
    fill(t_.one, std::vector<float>{1, 1, 1, 1}, 1, 4);
    t_.d.reserve(static_cast<std::size_t>(size * size * 4));
    t_.other.reserve(static_cast<std::size_t>(size * size * 4));
    add_library();
    add_ours();
}

Problem Bench::square(cudaDataType_t factors, cudaDataType_t output, void* a, void* b) const {
    Problem problem;
    problem.a = {b, factors, size_, size_, size_, 0};
    problem.b = {a, factors, size_, size_, size_, 0};
    problem.d = {t_.d.data(), output, size_, size_, size_, 0};
    problem.c = problem.d;
    problem.alpha = std::bit_cast<std::uint32_t>(1.0f);
    return problem;
}

void Bench::add_problem(const std::string& name, Problem problem) {
    problems_.push_back(std::make_unique<Problem>(problem));
    matmuls_.push_back(std::make_unique<Matmul>(gpu_.handle, gpu_.room(), *problems_.back()));
    const Matmul& matmul = *matmuls_.back();
    const auto algorithm = matmul.algorithms().front();
    contenders_.push_back(
        {name, [&gpu = gpu_, &matmul, algorithm] { matmul.run(algorithm, gpu.stream); }});
}

void Bench::add_library() {
    const auto scaled = [&](Problem problem, cublasLtMatmulMatrixScale_t mode, void* a, void* b) {
        problem.scale_a = {b, mode, 16};
        problem.scale_b = {a, mode, 16};
        return problem;
    };
    constexpr auto whole = CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
    const Problem f32 = square(CUDA_R_8F_E4M3, CUDA_R_32F, t_.a.data(), t_.b.data());
    const Problem bf16 = square(CUDA_R_8F_E4M3, CUDA_R_16BF, t_.a.data(), t_.b.data());
    add_problem("cuBLASLt e4m3 SCALAR_32F to f32",
                scaled(f32, whole, t_.one.data(), t_.one.data()));
    add_problem("cuBLASLt e4m3 SCALAR_32F to bf16",
                scaled(bf16, whole, t_.one.data(), t_.one.data()));
    add_problem(
        "cuBLASLt e4m3 VEC128_32F to f32",
        scaled(f32, CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F, t_.f32_a.data(), t_.f32_b.data()));
    add_problem("cuBLASLt bf16 to f32",
                square(CUDA_R_16BF, CUDA_R_32F, t_.a_bf16.data(), t_.b_bf16.data()));
}

Product Bench::product() const {
    Product product;
    product.a = {
        t_.a.data(), Element::e4m3, size_, size_, {t_.scales_a.data(), false, size_ / block, 1, 0}};
    product.b = {
        t_.b.data(), Element::e4m3, size_, size_, {t_.scales_b.data(), false, size_ / block, 1, 0}};
    product.depth = size_;
    product.d = {t_.d.data(), size_};
    return product;
}

void Bench::add_ours() {
    const Product product = this->product();
    Product halved = product;
    halved.output = Output::bf16;
    gpu_.made.reserve(static_cast<std::size_t>(size_ * size_ * 8));
    const BlockKernels forms = block_kernels();
    for (std::size_t i = 0; i < forms.count; ++i) {
        const BlockKernel& form = forms.first[i];
        contenders_.push_back(
            {"wgmma " + std::string(form.name) + " to f32",
             [&gpu = gpu_, form, product] { form.launch(product, gpu.made.data(), gpu.stream); }});
    }
    for (const Way& way : ways()) {
        contenders_.push_back(
            {"way " + std::string(way.name) + " to f32",
             [&gpu = gpu_, &way, product] { way.run(product, gpu.resources()); }});
        contenders_.push_back({"way " + std::string(way.name) + " to bf16",
                               [&gpu = gpu_, &way, halved] { way.run(halved, gpu.resources()); }});
    }
}

void Bench::compare_forms() {
    const std::size_t count = static_cast<std::size_t>(size_ * size_);
    std::vector<std::uint32_t> first(count), other(count);
    Product into_other = product();
    into_other.d.data = t_.other.data();
    const BlockKernels forms = block_kernels();
    for (std::size_t i = 0; i < forms.count; ++i) {
        check(cudaMemset(t_.other.data(), 0xFF, count * 4), "poisoning");
        forms.first[i].launch(into_other, gpu_.made.data(), gpu_.stream);
        check(cudaStreamSynchronize(gpu_.stream), "multiplying");
        auto& values = i == 0 ? first : other;
        check(cudaMemcpy(values.data(), t_.other.data(), count * 4, cudaMemcpyDeviceToHost),
              "copying");
        std::size_t differing = 0;
        for (std::size_t j = 0; i != 0 && j < count; ++j) differing += first[j] != other[j];
        const std::size_t unwritten =
            static_cast<std::size_t>(std::count(values.begin(), values.end(), 0xFFFFFFFFu));
        std::printf("  form %zu: %zu of %zu outputs differ from form 0, %zu were not written\n", i,
                    differing, count, unwritten);
    }
}

void Bench::measure(Contender& contender) {
    if (!contender.trouble.empty()) return;
    try {
        contender.samples.push_back(measured(gpu_, contender.launch));
    } catch (const cublaslt::CublasNo& no) {
        contender.trouble = no.doing + ": " + cublasLtGetStatusName(no.status);
    }
}

void Bench::run_rested(int rounds) {
    std::mt19937_64 random(7);
    std::vector<std::size_t> order(contenders_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (Contender& contender : contenders_) {
        measure(contender);  // the first time loads its kernels
        contender.samples.clear();
    }
    for (int round = 0; round < rounds; ++round) {
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t index : order) {
            std::this_thread::sleep_for(std::chrono::milliseconds(25));
            measure(contenders_[index]);
        }
    }
}

// Those of the first third of the time are not counted.
void Bench::run_alone() {
    constexpr std::chrono::milliseconds time(750);
    for (Contender& contender : contenders_) {
        const auto begin = std::chrono::steady_clock::now();
        contender.samples.clear();
        std::size_t early = 0;
        for (auto spent = begin - begin; spent < time && contender.trouble.empty();
             spent = std::chrono::steady_clock::now() - begin) {
            measure(contender);
            if (spent < time / 3) early = contender.samples.size();
        }
        contender.samples.erase(contender.samples.begin(),
                                contender.samples.begin() + static_cast<std::ptrdiff_t>(early));
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

// The first contender is the measure of the others, in time and in cycles.
void Bench::print() const {
    const Contender& first = contenders_.front();
    for (const Contender& contender : contenders_) {
        if (!contender.trouble.empty()) {
            std::printf("  %-40s %s\n", contender.name.c_str(), contender.trouble.c_str());
            continue;
        }
        const auto [best, worst] = std::minmax_element(
            contender.samples.begin(), contender.samples.end(),
            [](const Sample& a, const Sample& b) { return a.milliseconds < b.milliseconds; });
        const double time = middle(contender.samples, time_of), size = static_cast<double>(size_);
        std::printf("  %-40s %7.3f ms (%7.3f to %7.3f)  %6.1f TFLOP/s  %5.3f | %4.0f MHz, %5.3f\n",
                    contender.name.c_str(), time, best->milliseconds, worst->milliseconds,
                    2 * size * size * size / time / 1e9, middle(first.samples, time_of) / time,
                    middle(contender.samples, clock_of),
                    middle(first.samples, cycles_of) / middle(contender.samples, cycles_of));
    }
}

void Bench::run(int rounds) {
    std::printf("%lld^3: median, least and most time, rate, ratio | clock, ratio in cycles\n",
                static_cast<long long>(size_));
    run_rested(rounds);
    std::printf(" after a rest\n");
    print();
    run_alone();
    std::printf(" without a rest\n");
    print();
    compare_forms();
    std::fflush(stdout);
}

}  // namespace
}  // namespace mx::hopper

int main(int count, char** words) {
    const int rounds = count > 1 ? std::atoi(words[1]) : 20;
    try {
        mx::hopper::Gpu gpu;
        const mx::hopper::Lists lists = mx::hopper::make_lists();
        for (const std::int64_t size : {4096, 8192})
            mx::hopper::Bench(gpu, lists, size).run(rounds);
        return 0;
    } catch (const mx::cublaslt::CudaFailure& failure) {
        std::fprintf(stderr, "%s: %s\n", failure.doing.c_str(), cudaGetErrorString(failure.error));
    } catch (const mx::cublaslt::CublasFailure& failure) {
        std::fprintf(stderr, "%s: %s\n", failure.doing.c_str(),
                     cublasLtGetStatusName(failure.status));
    } catch (const mx::cublaslt::CublasNo& no) {
        std::fprintf(stderr, "%s: %s\n", no.doing.c_str(), cublasLtGetStatusName(no.status));
    }
    return 3;
}
