// See matmul.hpp.
#include "device/cublaslt/matmul.hpp"

#include <algorithm>
#include <cstdint>

#include "device/cublaslt/algorithms.hpp"
#include "device/cublaslt/failure.hpp"

namespace mx::cublaslt {

Configuration configuration_of(const cublasLtMatmulAlgo_t& algorithm) {
    Configuration configuration{};
    for (std::size_t i = 0; i < configuration.size(); ++i) {
        const AlgorithmAttribute& attribute = algorithm_attributes[i];
        std::size_t written = 0;
        // What an algorithm does not have stays 0, the default; little-endian, so that two bytes
        // land in the low half.
        cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute.id, &configuration[i],
                                             attribute.bytes, &written);
    }
    return configuration;
}

namespace {

using Preference = std::unique_ptr<std::remove_pointer_t<cublasLtMatmulPreference_t>,
                                   Destroyer<cublasLtMatmulPreferenceDestroy>>;

template <typename Value>
void set(const Description& description, cublasLtMatmulDescAttributes_t attribute, Value value) {
    check(cublasLtMatmulDescSetAttribute(description.get(), attribute, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute");
}
template <typename Value>
void set(const Layout& layout, cublasLtMatrixLayoutAttribute_t attribute, Value value) {
    check(cublasLtMatrixLayoutSetAttribute(layout.get(), attribute, &value, sizeof value),
          "cublasLtMatrixLayoutSetAttribute");
}
template <typename Value>
void set(const Preference& preference, cublasLtMatmulPreferenceAttributes_t attribute,
         Value value) {
    check(cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof value),
          "cublasLtMatmulPreferenceSetAttribute");
}

struct ScaleAttributes {
    cublasLtMatmulDescAttributes_t pointer;
    cublasLtMatmulDescAttributes_t mode;
};
void set(const Description& description, ScaleAttributes attributes, const Scale& scale) {
    if (scale.data == nullptr) return;
    set(description, attributes.pointer, scale.data);
    set(description, attributes.mode, static_cast<std::int32_t>(scale.mode));
}

Description description_of(const Problem& problem) {
    cublasLtMatmulDesc_t made = nullptr;
    check(cublasLtMatmulDescCreate(&made, CUBLAS_COMPUTE_32F, CUDA_R_32F),
          "cublasLtMatmulDescCreate");
    Description description(made);
    set(description, CUBLASLT_MATMUL_DESC_TRANSA, static_cast<std::int32_t>(CUBLAS_OP_T));
    set(description, CUBLASLT_MATMUL_DESC_TRANSB, static_cast<std::int32_t>(CUBLAS_OP_N));
    set(description, {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_A_SCALE_MODE},
        problem.scale_a);
    set(description, {CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_MODE},
        problem.scale_b);
    set(description, {CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, CUBLASLT_MATMUL_DESC_D_SCALE_MODE},
        problem.scale_d);
    set(description,
        {CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER, CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE},
        problem.scale_out);
    set(description, CUBLASLT_MATMUL_DESC_FAST_ACCUM, problem.fast_accumulation);
    set(description, CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<std::uint32_t>(problem.epilogue));
    if (problem.bias != nullptr) {
        set(description, CUBLASLT_MATMUL_DESC_BIAS_POINTER, problem.bias);
        set(description, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE,
            static_cast<std::int32_t>(problem.bias_type));
    }
    return description;
}

Layout layout_of(const Matrix& matrix, std::int32_t batches) {
    cublasLtMatrixLayout_t made = nullptr;
    check(cublasLtMatrixLayoutCreate(&made, matrix.type, static_cast<std::uint64_t>(matrix.rows),
                                     static_cast<std::uint64_t>(matrix.columns), matrix.leading),
          "cublasLtMatrixLayoutCreate");
    Layout layout(made);
    if (batches == 1) return layout;
    set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, batches);
    set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, matrix.batch_stride);
    return layout;
}

std::uint32_t alignment_of(const void* data) {
    constexpr std::uintptr_t most = 256;
    const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(data) | most;
    return static_cast<std::uint32_t>(address & (~address + 1));
}

Preference preference_of(const Problem& problem, std::size_t workspace_bytes) {
    cublasLtMatmulPreference_t made = nullptr;
    check(cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
    Preference preference(made);
    set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_bytes);
    set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, problem.reduction_schemes);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(problem.a.data));
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(problem.b.data));
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(problem.c.data));
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(problem.d.data));
    return preference;
}

}  // namespace

Matmul::Matmul(cublasLtHandle_t handle, Workspace workspace, const Problem& problem)
    : handle_(handle),
      workspace_(workspace),
      problem_(problem),
      description_(description_of(problem)),
      a_(layout_of(problem.a, problem.batches)),
      b_(layout_of(problem.b, problem.batches)),
      c_(layout_of(problem.c, problem.batches)),
      d_(layout_of(problem.d, problem.batches)) {}

std::vector<Algorithm> Matmul::algorithms() const {
    constexpr int most = 64;  // eight is what came at most
    const Preference preference = preference_of(problem_, workspace_.bytes);
    std::vector<cublasLtMatmulHeuristicResult_t> results(most);
    int count = 0;
    check_answer(
        cublasLtMatmulAlgoGetHeuristic(handle_, description_.get(), a_.get(), b_.get(), c_.get(),
                                       d_.get(), preference.get(), most, results.data(), &count),
        "cublasLtMatmulAlgoGetHeuristic");
    std::vector<Algorithm> found;
    for (int i = 0; i < count; ++i) {
        const cublasLtMatmulHeuristicResult_t& result = results[static_cast<std::size_t>(i)];
        if (result.state != CUBLAS_STATUS_SUCCESS) continue;
        std::string name = name_of(configuration_of(result.algo));
        const auto has_it = [&](const Algorithm& known) { return known.name == name; };
        if (std::none_of(found.begin(), found.end(), has_it))
            found.push_back({std::move(name), result.algo});
    }
    if (found.empty())
        check_answer(CUBLAS_STATUS_NOT_SUPPORTED,
                     "cublasLtMatmulAlgoGetHeuristic finds no algorithm");
    return found;
}

void Matmul::run(const Algorithm& algorithm, cudaStream_t stream) const {
    check_answer(cublasLtMatmul(handle_, description_.get(), &problem_.alpha, problem_.a.data,
                                a_.get(), problem_.b.data, b_.get(), &problem_.beta,
                                problem_.c.data, c_.get(), problem_.d.data, d_.get(),
                                &algorithm.value, workspace_.data, workspace_.bytes, stream),
                 "cublasLtMatmul");
}

}  // namespace mx::cublaslt
