// See limits.hpp.
#include "device/cublaslt/limits.hpp"

#include <array>

namespace mx::cublaslt {
namespace {

bool is_narrow(cudaDataType_t type) {
    return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2 || type == CUDA_R_4F_E2M1;
}
bool is_vector(const Scale& scale) {
    return scale.data != nullptr && (scale.mode == CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F ||
                                     scale.mode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F ||
                                     scale.mode == CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F);
}
bool is_of_128(const Scale& scale) {
    return is_vector(scale) && scale.mode != CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
}
bool has_narrow_factors(const Problem& problem) {
    return is_narrow(problem.a.type) || is_narrow(problem.b.type);
}

cudaDataType_t bias_type_for(const Problem& problem) {
    if (is_narrow(problem.d.type)) return problem.c.type;
    if (problem.d.type == CUDA_R_32F && has_narrow_factors(problem)) return CUDA_R_16BF;
    return problem.d.type;
}

bool has_short_rows(const Problem& problem) {
    const std::int64_t bits = problem.d.type == CUDA_R_4F_E2M1 ? 4
                              : is_narrow(problem.d.type)      ? 8
                              : problem.d.type == CUDA_R_32F   ? 32
                                                               : 16;
    return has_narrow_factors(problem) && problem.d.rows * bits % 128 != 0;
}

// What cuBLASLt 13.1 refused on an H200, and its documentation says.
struct Limit {
    const char* sentence;
    bool (*holds)(const Problem&);
};
constexpr std::array limits{
    Limit{"E5M2 times E5M2 is not among its types",
          [](const Problem& problem) {
              return problem.a.type == CUDA_R_8F_E5M2 && problem.b.type == CUDA_R_8F_E5M2;
          }},
    Limit{"scales are for factors of FP8 and FP4",
          [](const Problem& problem) {
              return !has_narrow_factors(problem) &&
                     (problem.scale_a.data != nullptr || problem.scale_b.data != nullptr);
          }},
    Limit{"fast accumulation is for factors of FP8",
          [](const Problem& problem) {
              return problem.fast_accumulation != 0 && !has_narrow_factors(problem);
          }},
    Limit{"scalings \"1x128\" and \"128x128\" have no fast accumulation",
          [](const Problem& problem) {
              return problem.fast_accumulation != 0 &&
                     (is_of_128(problem.scale_a) || is_of_128(problem.scale_b));
          }},
    Limit{"one factor may have scaling \"128x128\", not both",
          [](const Problem& problem) {
              const auto mode = CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F;
              return problem.scale_a.mode == mode && problem.scale_b.mode == mode;
          }},
    Limit{"vectors and blocks of float32 scales are for one batch",
          [](const Problem& problem) {
              return problem.batches > 1 &&
                     (is_vector(problem.scale_a) || is_vector(problem.scale_b));
          }},
    Limit{"with vectors and blocks of float32 scales D has 16 or 32 bits",
          [](const Problem& problem) {
              return is_narrow(problem.d.type) &&
                     (is_vector(problem.scale_a) || is_vector(problem.scale_b));
          }},
    Limit{"only a D of FP8 or FP4 has a scale",
          [](const Problem& problem) {
              return problem.scale_d.data != nullptr && !is_narrow(problem.d.type);
          }},
    Limit{"D of E5M2 needs a factor of E5M2",
          [](const Problem& problem) {
              return problem.d.type == CUDA_R_8F_E5M2 && problem.a.type != CUDA_R_8F_E5M2 &&
                     problem.b.type != CUDA_R_8F_E5M2;
          }},
    Limit{"D of E2M1 has scaling \"1x16\", and so have both its factors",
          [](const Problem& problem) {
              const auto is_nvfp4 = [](const Matrix& matrix, const Scale& scale) {
                  return matrix.type == CUDA_R_4F_E2M1 && scale.data != nullptr &&
                         scale.mode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3;
              };
              const bool is_all = is_nvfp4(problem.a, problem.scale_a) &&
                                  is_nvfp4(problem.b, problem.scale_b) &&
                                  is_nvfp4(problem.d, problem.scale_out);
              return problem.d.type == CUDA_R_4F_E2M1 && !is_all;
          }},
    Limit{"scaling \"1x16\" is for E2M1",
          [](const Problem& problem) {
              const auto is_wrong = [](const Matrix& matrix, const Scale& scale) {
                  return matrix.type != CUDA_R_4F_E2M1 && scale.data != nullptr &&
                         scale.mode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3;
              };
              return is_wrong(problem.a, problem.scale_a) || is_wrong(problem.b, problem.scale_b);
          }},
    Limit{"with factors of FP8 and FP4 the rows of D should be a multiple of 16 bytes long",
          has_short_rows},
    Limit{"C must have D's type, or be bf16 or f16 where D is FP8 or FP4",
          [](const Problem& problem) {
              return is_narrow(problem.d.type)
                         ? problem.c.type != CUDA_R_16BF && problem.c.type != CUDA_R_16F
                         : problem.c.type != problem.d.type;
          }},
    Limit{"the bias must have D's type, with FP8 factors bf16 where D is f32, and C's where D is"
          " FP8 or FP4",
          [](const Problem& problem) {
              return problem.bias != nullptr && problem.bias_type != bias_type_for(problem);
          }},
};

}  // namespace

std::string explanation(const Problem& problem, int capability) {
    std::string text;
    for (const Need& need : problem.needs)
        if (!need.capabilities.has(capability))
            text += "; " + need.what + " needs compute capability " + text_of(need.capabilities) +
                    ", and this GPU has " + capability_text(capability);
    for (const Limit& limit : limits)
        if (limit.holds(problem)) text += std::string("; ") + limit.sentence;
    return text;
}

}  // namespace mx::cublaslt
