// gemm_ratios.hpp. The loops take turns, one thread, medians of the thread's processor time: 384 by
// 384 outputs with K = 4096, rounded to binary32, packing and rounding included.
#include "bench/gemm_ratios.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "bench/gemm_sgemm.hpp"
#include "bench/thread_time.hpp"
#include "reference/fast/dot.hpp"
#include "reference/gemm/exact_gemm.hpp"

namespace mx::bench {
namespace {

constexpr std::int64_t side = 384, depth = 4096, block = 32;
constexpr std::int64_t naive_rows = 16;  // of A, for the slow loop
constexpr double products = 1.0 * side * side * depth;

std::uint32_t next_word(std::uint64_t& state) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return static_cast<std::uint32_t>(state >> 33);
}

// Codes of every size and sign, and scales that spread over so many binades.
struct Matrix {
    ElementFormat format;
    std::vector<std::uint8_t> codes;
    std::vector<std::uint8_t> scales;

    Matrix(const ElementFormat& of, std::uint32_t spread, std::uint64_t seed) : format(of) {
        for (std::int64_t i = 0; i < side * depth; ++i) {
            Code code{next_word(seed) & 0xFF};
            while (format.is_nan(code) || format.is_infinity(code)) code.bits -= 4;
            codes.push_back(static_cast<std::uint8_t>(code.bits));
        }
        for (std::int64_t i = 0; i < side * depth / block; ++i)
            scales.push_back(
                static_cast<std::uint8_t>(127 - spread / 2 + next_word(seed) % (spread + 1)));
    }
    std::vector<ScaledRow> rows() const {
        std::vector<ScaledRow> rows;
        for (std::int64_t i = 0; i < side; ++i)
            rows.push_back({format,
                            {codes.data() + i * depth},
                            formats::e8m0,
                            {scales.data() + i * (depth / block)},
                            block});
        return rows;
    }
    // Numbers of the same size for sgemm: what they are makes no difference to it.
    std::vector<float> floats() const {
        std::vector<float> numbers;
        for (const std::uint8_t code : codes) {
            const fast::Unpacked value = fast::unpack(format, Code{code});
            const float magnitude = static_cast<float>(value.significand + 1);
            numbers.push_back(value.negative ? -magnitude : magnitude);
        }
        return numbers;
    }
};

// Against sgemm, and against the plain exact loop, whose 64 bits hold a block sum of e4m3, not one
// of e5m2. 0: none.
struct Goal {
    double sgemm = 0;
    double naive = 0;
};

// Of processors with AMX, with AVX-512 and no AMX, and of AVX2.
struct Goals {
    Goal amx, avx512, avx2;
};

struct Problem {
    std::string what;
    ElementFormat format;
    std::uint32_t spread;  // of the scales of one factor
    Goals goals;
};

bool has_amx() {
    return std::ranges::any_of(
        gemm::kernels(), [](const gemm::Kernel& kernel) { return kernel.name.starts_with("amx"); });
}

// A goal counts for the kernel that is used, whichever that is; that of AVX2 also where there is
// AVX-512 without AMX.
Goal goal_of(const Goals& goals, const gemm::Kernel& kernel, const gemm::Kernel& used) {
    const bool is_used = &kernel == &used;
    if (has_amx()) return is_used ? goals.amx : Goal{};
    const bool is_wide = kernel.name.starts_with("avx512") || kernel.name.starts_with("vnni");
    if (is_used && is_wide) return goals.avx512;
    const bool is_avx2 = kernel.name.starts_with("avx2");
    return is_avx2 && (is_used || kernel.name == "avx2 rounded") ? goals.avx2 : Goal{};
}

std::vector<double> interleaved(const std::vector<std::function<void()>>& loops) {
    constexpr int rounds = 9;
    std::vector<std::vector<double>> samples(loops.size());
    for (int round = -1; round < rounds; ++round) {
        for (std::size_t i = 0; i < loops.size(); ++i) {
            const double start = seconds_now();
            loops[i]();
            // The first round only warms up caches and pages.
            if (round >= 0) samples[i].push_back(seconds_now() - start);
        }
    }
    std::vector<double> medians;
    for (const auto& of_loop : samples) medians.push_back(median(of_loop));
    return medians;
}

class Lines {
public:
    void add(const std::string& what, double value, double limit, const std::string& against,
             double goal) {
        const double ratio = value / limit;
        const bool met = ratio >= goal;
        if (!met) ++missed;
        std::printf("%-46s %9.3f  %-32s %9.3f %7.2f %6.2f %s\n", what.c_str(), value,
                    against.c_str(), limit, ratio, goal, met ? "met" : "MISSED");
    }
    int missed = 0;
};

// What an exact way makes of the rows: the faster is also seen to be right.
using Outputs = std::vector<std::uint32_t>;

void multiply(const gemm::Kernel& kernel, const gemm::Factors& factors, Outputs& outputs) {
    gemm::for_each_value(
        kernel, factors, [&](const gemm::Place& place, const fast::Unpacked& value) {
            outputs[place.row * factors.b.size() + place.column] =
                fast::round(formats::f32, Rounding::nearest_even, Overflow::overflow, value).bits;
        });
}

// The plain exact loop: products of whole numbers, 32 of them summed in 64 bits, and the wide sum.
struct Wholes {
    std::vector<std::int64_t> numbers;  // quanta
    const Matrix& matrix;

    explicit Wholes(const Matrix& of) : matrix(of) {
        for (const std::uint8_t code : of.codes) {
            const fast::Unpacked value = fast::unpack(of.format, Code{code});
            const auto quanta = static_cast<std::int64_t>(
                value.significand << (value.exponent - of.format.quantum_exponent_min()));
            numbers.push_back(value.negative ? -quanta : quanta);
        }
    }
};

void multiply_plainly(const Wholes& a, const Wholes& b, Outputs& outputs) {
    const int unit = a.matrix.format.quantum_exponent_min() * 2 - 2 * 127;
    for (std::int64_t i = 0; i < naive_rows * side; ++i) {
        const std::int64_t row = i / side, column = i % side;
        fast::Total total;
        for (std::int64_t k = 0; k < depth; k += block) {
            const std::int64_t* left = a.numbers.data() + row * depth + k;
            const std::int64_t* right = b.numbers.data() + column * depth + k;
            std::int64_t sum = 0;
            for (std::int64_t lane = 0; lane < block; ++lane) sum += left[lane] * right[lane];
            const auto scale = [k](const Wholes& of, std::int64_t at) {
                return of.matrix.scales[static_cast<std::size_t>((at * depth + k) / block)];
            };
            const auto magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
            fast::add(total.sum, {sum < 0, unit + scale(a, row) + scale(b, column), magnitude});
        }
        outputs[static_cast<std::size_t>(i)] =
            fast::round_total(formats::f32, Rounding::nearest_even, Overflow::overflow, total).bits;
    }
}

// The first row as fast::dot has it.
bool is_right(const gemm::Factors& factors, const Outputs& outputs) {
    for (std::size_t i = 0; i < factors.b.size(); ++i) {
        const fast::Total total = fast::dot(factors.a[0], factors.b[i], factors.depth);
        const Code code =
            fast::round_total(formats::f32, Rounding::nearest_even, Overflow::overflow, total);
        if (code.bits != outputs[i]) return false;
    }
    return true;
}

struct Matrices {
    const Matrix& a;
    const Matrix& b;
};

void add_problem(Lines& lines, const Problem& problem, const gemm::Kernel& kernel,
                 const Matrices& matrices, const Goal& goal) {
    const auto& [a, b] = matrices;
    const std::vector<ScaledRow> rows = a.rows(), columns = b.rows();
    const gemm::Factors whole{rows, columns, depth};
    Outputs outputs(side * side), plain_outputs(naive_rows * side);
    const std::vector<float> left = a.floats(), right = b.floats();
    std::vector<float> c(side * side);
    std::vector<std::function<void()>> loops{
        [&] { multiply(kernel, whole, outputs); },
        [&] {
            run_sgemm({left.data(), right.data(), c.data(), side, side, depth});
        }};
    const bool has_naive = goal.naive != 0;
    const Wholes whole_a(a), whole_b(b);
    if (has_naive) loops.push_back([&] { multiply_plainly(whole_a, whole_b, plain_outputs); });
    const std::vector<double> seconds = interleaved(loops);
    const std::string what = problem.what + ", " + std::string(kernel.name);
    const double speed = 1e-9 * products / seconds[0];
    if (has_sgemm())
        lines.add(what, speed, 1e-9 * products / seconds[1], "OpenBLAS sgemm", goal.sgemm);
    else
        std::printf("%-46s %9.3f  not measured against sgemm: no OpenBLAS\n", what.c_str(), speed);
    if (has_naive)
        lines.add(what, speed, 1e-9 * products * naive_rows / side / seconds[2], "plain exact loop",
                  goal.naive);
    const bool agrees =
        !has_naive || std::equal(plain_outputs.begin(), plain_outputs.end(), outputs.begin());
    if (!agrees || !is_right(whole, outputs)) {
        ++lines.missed;
        std::printf("and %s gives other bits than the plain loop\n", what.c_str());
    }
}

}  // namespace

int print_gemm_ratios() {
    const Problem problems[] = {
        {"exact GEMM e4m3, scales spread 32",
         formats::e4m3,
         16,
         {{0.50, 25}, {0.45, 15}, {0.30, 15}}},
        {"exact GEMM e4m3, any scales", formats::e4m3, 254, {{0.35}, {0.35}, {0.30}}},
        {"exact GEMM e5m2, scales spread 32", formats::e5m2, 16, {{0.40}, {0.35}, {0.15}}},
        {"exact GEMM e5m2, any scales", formats::e5m2, 254, {{0.35}, {0.20}, {0.15}}},
    };
    std::printf("%-46s %9s  %-32s %9s %7s %6s\n", "measured, one thread, K = 4096", "Gproduct/s",
                "against", "Gproduct/s", "ratio", "goal");
    std::printf("%s\n", sgemm_name());
    if (!sgemm_knows_processor()) {
        std::printf(
            "This OpenBLAS does not know the processor and took kernels without AVX2, so nothing "
            "is measured against it: set OPENBLAS_CORETYPE, to SKYLAKEX or HASWELL\n");
        return 1;
    }
    Lines lines;
    for (const Problem& problem : problems) {
        const Matrix a(problem.format, problem.spread, 1), b(problem.format, problem.spread, 2);
        const std::vector<ScaledRow> rows = a.rows(), columns = b.rows();
        const gemm::Factors factors{rows, columns, depth};
        const gemm::Kernel* best = gemm::find_kernel(rows.front(), columns.front());
        for (const gemm::Kernel& kernel : gemm::kernels()) {
            if (!gemm::takes(kernel, rows.front(), columns.front())) continue;
            // One that leaves these scales to another is not measured twice.
            if (&gemm::kernel_used(kernel, factors, gemm::Asked::values) != &kernel) continue;
            const gemm::Kernel& used = gemm::kernel_used(*best, factors, gemm::Asked::values);
            add_problem(lines, problem, kernel, {a, b}, goal_of(problem.goals, kernel, used));
        }
    }
    std::printf("%d goal(s) missed\n", lines.missed);
    return lines.missed;
}

}  // namespace mx::bench
