// Products of a library in CUDA C++ as a device: a table of functions on memory of a GPU. Used by
// the plug-ins beside it, which call the library and compute nothing.
//
//     nvcc -std=c++20 -gencode=arch=compute_90a,code=sm_90a -shared -Xcompiler -fPIC
//         -I. -I LIBRARY/include NAME_plugin.cu -o NAME.so
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "device/peers/plugin.hpp"

namespace mx::peers {

inline void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess)
        throw Refusal{MX_FAILED, std::string(what) + ": " + cudaGetErrorString(status)};
}

// Bytes in memory of the GPU.
class Buffer {
public:
    explicit Buffer(std::size_t size = 0) {
        if (size != 0) check(cudaMalloc(&data_, size), "cudaMalloc");
    }
    explicit Buffer(const std::vector<unsigned char>& bytes) : Buffer(bytes.size()) {
        if (data_ != nullptr)
            check(cudaMemcpy(data_, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "to it");
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { cudaFree(data_); }

    template <typename T = void>
    T* as() const {
        return static_cast<T*>(data_);
    }

private:
    void* data_ = nullptr;
};

// What a function multiplies: each batch has m, n and k, matrices without gaps, K along their rows.
struct Problem {
    int m, n, k, batches;
    float alpha = 1, beta = 0;
    const void *a = nullptr, *b = nullptr, *c = nullptr;  // c nullptr where beta is 0
    const float *a_scales = nullptr, *b_scales = nullptr;
    void* d = nullptr;  // nullptr: only to be asked whether it would
};

// How the scales of a factor lie for a function.
enum class ScaleOrder {
    rows,
    columns_of_fours,  // padded to a multiple of four
    columns_repeated,  // each 128 times, where a scale of 128 rows meets a kernel that has one a
                       // row
};

struct Product {
    const char* algorithm;
    std::string_view a, b, d;                 // types
    std::string_view scaling_a, scaling_b;    // "" where there is none
    std::string_view accumulation;            // "" or "fast"
    std::string (*multiply)(const Problem&);  // "" or, in the library's words, why it does not
    ScaleOrder scales_a = ScaleOrder::rows, scales_b = ScaleOrder::rows;
};

struct GemmLibrary {
    const char *name, *vendor;
    std::span<const Product> products;
};

// The elements as their bytes, one row after the other, or column after column.
inline std::vector<unsigned char> packed(const Strided& from, ScaleOrder order) {
    const bool is_row = order == ScaleOrder::rows;
    const std::int64_t times = order == ScaleOrder::columns_repeated ? 128 : 1;
    const std::int64_t lead = is_row ? from.columns : (from.rows * times + 3) / 4 * 4;
    const std::int64_t lines = is_row ? from.rows : from.columns;
    std::vector<unsigned char> bytes(static_cast<std::size_t>(lead * lines * from.width));
    for_each_cell({from.rows * times, from.columns}, [&](Cell cell) {
        const auto at = is_row ? cell.row * lead + cell.column : cell.column * lead + cell.row;
        const Cell source{cell.row / times, cell.column};
        std::memcpy(bytes.data() + at * from.width, from.at(source), std::size_t(from.width));
    });
    return bytes;
}

struct Factor {
    std::string_view type;
    Strided codes, scales;
};

// What a call asks for, read.
struct Asked {
    Factor a, b;
    Strided c, d;
    std::string_view d_type;
    Problem problem;  // without tensors

    static Factor factor(Call& call, const std::string& name, const char* scaling) {
        const Tensor codes = call.input(name);
        Factor read{codes.type(), codes.strided(width_of(codes.type())), {}};
        if (scaling == nullptr) return read;
        const Tensor scales = call.input("the scales of " + name);
        read.scales = scales.chosen("f32", scales.shape());
        return read;
    }

    explicit Asked(Call& call) {
        const mx_gemm& gemm = gemm_of(call);
        if (gemm.scaling_out != nullptr || gemm.epilogue != nullptr)
            not_supported("D = alpha * A * B^T + beta * C alone is asked here");
        a = factor(call, "A", gemm.scaling_a);
        b = factor(call, "B", gemm.scaling_b);
        if (gemm.batches < 1) invalid("a gemm has at least one batch");
        const int batches = int(gemm.batches), m = int(a.codes.rows / gemm.batches);
        problem = {m, int(b.codes.rows / gemm.batches), int(a.codes.columns), batches};
        problem.alpha = std::bit_cast<float>(gemm.alpha);
        problem.beta = std::bit_cast<float>(gemm.beta);
        if (b.codes.columns != a.codes.columns) invalid("A and B differ in K");
        const Shape shape{a.codes.rows, problem.n};
        if (problem.beta != 0) {
            const Tensor given = call.input("C");
            c = given.implied(given.type(), shape);
        }
        const Tensor made = call.output("D");
        d_type = made.type();
        d = made.implied(d_type, shape);
        call.expect_no_more();
    }
};

template <const GemmLibrary& library>
class GemmDevice {
public:
    GemmDevice() {
        cudaDeviceProp gpu;
        if (const cudaError_t status = cudaGetDeviceProperties(&gpu, 0); status != cudaSuccess)
            not_supported(std::string("no GPU of NVIDIA: ") + cudaGetErrorString(status));
        place_ = gpu.name;
    }

    std::span<const mx_fact> facts() {
        facts_ = {{{"name", library.name},
                   {"vendor", library.vendor},
                   {"version", MX_PEER_SOURCE},
                   {"place", place_.c_str()}}};
        return facts_;
    }
    std::span<const char* const> algorithms(const Arguments& arguments) {
        Call call(arguments, Buffers::absent);
        names_.clear();
        for (const Product* product : products_for(call)) names_.push_back(product->algorithm);
        return names_;
    }
    void supports(const Arguments& arguments) {
        Call call(arguments, Buffers::absent);
        const Product& product = chosen(call);
        expect_none(product.multiply(Asked(call).problem));
    }
    void run(const Arguments& arguments) {
        Call asked(arguments, Buffers::present), call = asked;
        const Product& product = chosen(asked);
        const Asked read(call);
        const Buffer a(packed(read.a.codes, ScaleOrder::rows));
        const Buffer b(packed(read.b.codes, ScaleOrder::rows));
        const Buffer c(packed(read.c, ScaleOrder::rows));
        const Buffer a_scales(packed(read.a.scales, product.scales_a));
        const Buffer b_scales(packed(read.b.scales, product.scales_b));
        std::vector<unsigned char> made(std::size_t(read.d.rows * read.d.columns * read.d.width));
        const Buffer d(made);
        Problem problem = read.problem;
        problem.a = a.as(), problem.b = b.as(), problem.c = c.as(), problem.d = d.as();
        problem.a_scales = a_scales.as<float>(), problem.b_scales = b_scales.as<float>();
        expect_none(product.multiply(problem));
        check(cudaDeviceSynchronize(), "the product");
        check(cudaMemcpy(made.data(), d.as(), made.size(), cudaMemcpyDeviceToHost), "from it");
        for_each_cell(read.d.shape(), [&](Cell cell) {
            const auto at = (cell.row * read.d.columns + cell.column) * read.d.width;
            std::memcpy(read.d.at(cell), made.data() + at, std::size_t(read.d.width));
        });
    }

private:
    static void expect_none(const std::string& fault) {
        if (!fault.empty()) not_supported(std::string(library.name) + " answers: " + fault);
    }
    static std::vector<const Product*> products_for(Call call) {
        const Asked read(call);
        const mx_gemm& gemm = gemm_of(call);
        std::vector<const Product*> found;
        for (const Product& row : library.products)
            if (row.a == read.a.type && row.b == read.b.type && row.d == read.d_type &&
                row.scaling_a == text_of(gemm.scaling_a) &&
                row.scaling_b == text_of(gemm.scaling_b) &&
                row.accumulation == text_of(gemm.accumulation))
                found.push_back(&row);
        return found;
    }
    static const Product& chosen(const Call& call) {
        const auto named = text_of(call.gemm().algorithm);
        for (const Product* row : products_for(call))
            if (named.empty() || named == row->algorithm) return *row;
        not_supported(std::string(library.name) + " is not asked here for such a product");
    }

    std::string place_;
    std::array<mx_fact, 4> facts_;
    std::vector<const char*> names_;
};

}  // namespace mx::peers

// The one exported function, for the library of that name.
#define MX_GEMM_PEER(library) MX_KIT_PLUGIN(mx::peers::GemmDevice<library>)
