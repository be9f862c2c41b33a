// See ways.hpp.
#include "device/hopper/ways.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>

#include "device/hopper/failure.hpp"

namespace mx::hopper {
namespace {

using cublaslt::Algorithm;
using cublaslt::Matmul;
using cublaslt::Matrix;
using cublaslt::Problem;

std::string unreadable_factors(const Product& product) {
    const auto sentence = [](const char* what, const char* trouble) {
        if (*trouble == '\0') return std::string();
        return std::string("the rows of ") + what + " " + trouble +
               ", and neither the copy engine nor cuBLASLt reads them so";
    };
    const std::string of_a = sentence("A", unreadable(product.a));
    return of_a.empty() ? sentence("B", unreadable(product.b)) : of_a;
}

std::string too_large(const Product& product) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() - 1024;
    const bool fits = product.a.rows <= most && product.b.rows <= most && product.depth <= most;
    return fits ? "" : "a dimension has no room in 32 bits";
}

// ---- Own kernel: the products of each block from zero, promoted with its scales.

std::string wgmma_refusal(const Product& product, const Resources*) {
    const std::string unreadable = unreadable_factors(product);
    return unreadable.empty() ? too_large(product) : unreadable;
}

void run_wgmma(const Product& product, const Resources& resources) {
    resources.memory.reserve(static_cast<std::size_t>(block_kernel_bytes(product)));
    block_kernel_for(product).launch(product, resources.memory.data(), resources.stream);
}

// ---- cuBLASLt. Its first factor is our B, and its D our D column by column.

Matrix matrix(void* data, cudaDataType_t type, std::int64_t depth, std::int64_t rows,
              std::int64_t stride) {
    return {data, type, depth, rows, stride, 0};
}

// Outputs whose rows begin elsewhere get kernels of other arithmetic, or none.
std::string unaligned_output(const Product& product) {
    const std::int64_t bytes = product.output == Output::f32 ? 4 : 2;
    for (const Values& values : {product.d, product.c}) {
        const bool is_aligned = reinterpret_cast<std::uintptr_t>(values.data) % 16 == 0;
        if (!is_aligned || values.row_stride * bytes % 16 != 0 || product.b.rows * bytes % 16 != 0)
            return "the rows of D or C do not begin and end at multiples of 16 bytes, as cuBLASLt "
                   "wants them";
    }
    return "";
}

// ---- Codes times scales as bfloat16, multiplied by cuBLASLt.

// The kernels of other numbers are no tensor-core kernels, or others than those that are modelled.
std::optional<Algorithm> plain_algorithm(const Matmul& matmul) {
    for (const Algorithm& algorithm : matmul.algorithms())
        if (algorithm.name.starts_with("id=66,")) return algorithm;
    return std::nullopt;
}

// The factors as bfloat16, with rows filled up by zeros.
struct HalfFactors {
    Values a, b;
};
HalfFactors half_factors(const Product& product, std::uint8_t* memory) {
    const std::int64_t stride = rounded_up(product.depth, 64);
    return {{memory, stride}, {memory + rounded_up(product.a.rows * stride * 2, 256), stride}};
}

Problem half_problem(const Product& product, const HalfFactors& factors) {
    const std::int64_t depth = factors.a.row_stride;
    const cudaDataType_t type = product.output == Output::f32 ? CUDA_R_32F : CUDA_R_16BF;
    Problem problem;
    problem.a = matrix(factors.b.data, CUDA_R_16BF, depth, product.b.rows, depth);
    problem.b = matrix(factors.a.data, CUDA_R_16BF, depth, product.a.rows, depth);
    const auto output = [&](const Values& values) {
        return matrix(values.data, type, product.b.rows, product.a.rows, values.row_stride);
    };
    problem.d = output(product.d);
    problem.c = product.c.data == nullptr ? problem.d : output(product.c);
    problem.alpha = std::bit_cast<std::uint32_t>(product.alpha);
    problem.beta = std::bit_cast<std::uint32_t>(product.beta);
    problem.reduction_schemes = CUBLASLT_REDUCTION_SCHEME_NONE;
    return problem;
}

// Asks with addresses that are as well aligned as those of a run.
std::string without_algorithm(Product product, const Resources& resources) {
    void* anywhere = resources.workspace.data;
    if (product.d.data == nullptr) product.d.data = anywhere;
    if (product.beta != 0 && product.c.data == nullptr) product.c.data = anywhere;
    const auto factors = half_factors(product, static_cast<std::uint8_t*>(anywhere));
    const Problem problem = half_problem(product, factors);
    try {
        const Matmul matmul(resources.handle, resources.workspace, problem);
        if (plain_algorithm(matmul)) return "";
    } catch (const cublaslt::CublasNo&) {
    }
    return "cuBLASLt offers no tensor-core algorithm of number 66 that leaves K whole";
}

std::string dequantised_refusal(const Product& product, const Resources* resources) {
    const std::string large = too_large(product);
    if (!large.empty()) return large;
    const std::string unaligned = unaligned_output(product);
    if (!unaligned.empty() || resources == nullptr) return unaligned;
    return without_algorithm(product, *resources);
}

void run_dequantised(const Product& product, const Resources& resources) {
    const std::int64_t bytes = half_factors(product, nullptr).a.row_stride * 2;
    resources.memory.reserve(
        static_cast<std::size_t>(rounded_up(product.a.rows * bytes, 256) + product.b.rows * bytes));
    const HalfFactors factors = half_factors(product, resources.memory.data());
    dequantise(product.a, product.depth, factors.a, resources.stream);
    dequantise(product.b, product.depth, factors.b, resources.stream);
    const Problem problem = half_problem(product, factors);
    const Matmul matmul(resources.handle, resources.workspace, problem);
    const auto algorithm = plain_algorithm(matmul);
    if (!algorithm)
        throw cublaslt::CublasNo{CUBLAS_STATUS_NOT_SUPPORTED,
                                 "finding a tensor-core algorithm that leaves K whole"};
    matmul.run(*algorithm, resources.stream);
}

// ---- One call of cuBLASLt for each block along K, with scales of rows, added to the last.

std::string slices_refusal(const Product& product, const Resources* resources) {
    if (product.a.element == Element::e5m2 && product.b.element == Element::e5m2)
        return "cuBLASLt does not multiply E5M2 by E5M2";
    if (product.depth % 16 != 0)
        return "K = " + std::to_string(product.depth) +
               " is no multiple of 16, as cuBLASLt wants it";
    if (product.b.rows % 4 != 0)
        return "D has " + std::to_string(product.b.rows) +
               " columns, no multiple of 4, as cuBLASLt wants it";
    return wgmma_refusal(product, resources);
}

cudaDataType_t type_of(Element element) {
    return element == Element::e4m3 ? CUDA_R_8F_E4M3 : CUDA_R_8F_E5M2;
}

// Where slices find their factors' scales, and the sums so far.
struct SliceMemory {
    Values scales_a, scales_b, sums;
};

SliceMemory slice_memory(const Product& product, cublaslt::GpuMemory& memory) {
    const std::int64_t stride_a = rounded_up(product.a.rows, 64);
    const std::int64_t stride_b = rounded_up(product.b.rows, 64);
    const std::int64_t bytes_a = column_bytes(stride_a, product.depth);
    const std::int64_t bytes_b = column_bytes(stride_b, product.depth);
    memory.reserve(static_cast<std::size_t>(bytes_a + bytes_b + product.a.rows * stride_b * 4));
    std::uint8_t* at = memory.data();
    return {{at, stride_a}, {at + bytes_a, stride_b}, {at + bytes_a + bytes_b, stride_b}};
}

Problem slice_of(const Product& product, const SliceMemory& memory, std::int64_t at) {
    const std::int64_t first = at * block;
    const std::int64_t length = std::min<std::int64_t>(block, product.depth - first);
    const auto factor = [&](const Factor& of) {
        return matrix(const_cast<std::uint8_t*>(of.codes) + first, type_of(of.element), length,
                      of.rows, of.row_stride);
    };
    const auto scales = [&](const Values& of) {
        return cublaslt::Scale{static_cast<float*>(of.data) + at * of.row_stride,
                               CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F, of.row_stride * 4};
    };
    Problem problem;
    problem.a = factor(product.b);
    problem.b = factor(product.a);
    problem.scale_a = scales(memory.scales_b);
    problem.scale_b = scales(memory.scales_a);
    problem.d = matrix(memory.sums.data, CUDA_R_32F, product.b.rows, product.a.rows,
                       memory.sums.row_stride);
    problem.c = problem.d;
    problem.alpha = problem.beta = std::bit_cast<std::uint32_t>(1.0f);
    return problem;
}

void run_slices(const Product& product, const Resources& resources) {
    const SliceMemory memory = slice_memory(product, resources.memory);
    gather_columns(product.a, product.depth, memory.scales_a, resources.stream);
    gather_columns(product.b, product.depth, memory.scales_b, resources.stream);
    check(cudaMemsetAsync(memory.sums.data, 0,
                          static_cast<std::size_t>(product.a.rows * memory.sums.row_stride * 4),
                          resources.stream),
          "clearing the sums");
    for (std::int64_t at = 0; at < blocks_in(product.depth); ++at) {
        const Problem problem = slice_of(product, memory, at);
        const Matmul matmul(resources.handle, resources.workspace, problem);
        matmul.run(matmul.algorithms().front(), resources.stream);
    }
    finish(product, memory.sums, resources.stream);
}

constexpr std::array all_ways{
    Way{"wgmma", wgmma_refusal, run_wgmma},
    Way{"dequantised-bf16", dequantised_refusal, run_dequantised},
    Way{"slices-of-32", slices_refusal, run_slices},
};

}  // namespace

Ways ways() {
    return {all_ways.data(), all_ways.size()};
}

const Way* find_way(std::string_view name) {
    for (const Way& way : all_ways)
        if (way.name == name) return &way;
    return nullptr;
}

}  // namespace mx::hopper
