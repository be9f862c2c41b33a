// The change to cuBLASLt's column-major words: what becomes of each tensor and setting.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>

#include "device/cublaslt/request.hpp"
#include "device/cublaslt/test/calls.hpp"

namespace mx::cublaslt::test {
namespace {

// Every tensor at an address of its own.
struct Placed {
    GemmCall call;
    std::array<std::uint8_t, 16 * 16> bytes{};

    explicit Placed(const Asked& asked) : call(call_of(asked)) {
        std::size_t next = 0;
        for (auto* tensors : {&call.inputs, &call.outputs})
            for (mx_tensor& each : *tensors) each.data = bytes.data() + 16 * next++;
    }
    void* at(std::size_t index) { return bytes.data() + 16 * index; }
    Problem problem() { return problem_of(call.call(), Buffers::present); }
};

struct Wanted {
    void* data;
    cudaDataType_t type;
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t leading;
    std::int64_t batch_stride;
};
void expect_matrix(const Matrix& matrix, const Wanted& wanted) {
    EXPECT_EQ(matrix.data, wanted.data);
    EXPECT_EQ(matrix.type, wanted.type);
    EXPECT_EQ(matrix.rows, wanted.rows);
    EXPECT_EQ(matrix.columns, wanted.columns);
    EXPECT_EQ(matrix.leading, wanted.leading);
    EXPECT_EQ(matrix.batch_stride, wanted.batch_stride);
}

TEST(CublasLtProblem, FactorsChangePlaces) {
    Placed placed({.m = 16, .n = 32, .k = 64, .type_a = "e5m2", .type_d = "bf16", .padding = 16});
    const Problem problem = placed.problem();
    expect_matrix(problem.a, {placed.at(2), CUDA_R_8F_E4M3, 64, 32, 80, 32 * 80});
    expect_matrix(problem.b, {placed.at(0), CUDA_R_8F_E5M2, 64, 16, 80, 16 * 80});
    expect_matrix(problem.d, {placed.at(4), CUDA_R_16BF, 32, 16, 48, 16 * 48});
    expect_matrix(problem.c, {placed.at(4), CUDA_R_16BF, 32, 16, 48, 16 * 48});
    EXPECT_EQ(problem.scale_a.data, placed.at(3));
    EXPECT_EQ(problem.scale_b.data, placed.at(1));
    EXPECT_EQ(problem.epilogue, CUBLASLT_EPILOGUE_DEFAULT);
    EXPECT_EQ(problem.bias, nullptr);
    EXPECT_EQ(problem.fast_accumulation, 0);
    EXPECT_EQ(problem.batches, 1);
}

TEST(CublasLtProblem, ScaleModesChangePlacesToo) {
    const Problem problem =
        Placed({.k = 256, .scaling_a = "1x128", .scaling_b = "128x128"}).problem();
    EXPECT_EQ(problem.scale_a.mode, CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F);
    EXPECT_EQ(problem.scale_b.mode, CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F);
    const Problem mixed = Placed({.scaling_a = nullptr, .scaling_b = "row"}).problem();
    EXPECT_EQ(mixed.scale_a.mode, CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F);
    EXPECT_EQ(mixed.scale_b.data, nullptr);
}

TEST(CublasLtProblem, EverythingElseKeepsItsPlace) {
    Placed placed({.type_c = "f16",
                   .type_d = "e4m3",
                   .type_bias = "f16",
                   .scaling_out = "tensor",
                   .epilogue = "bias-relu",
                   .accumulation = "fast",
                   .algorithm = "id=1",
                   .alpha = two,
                   .beta = one});
    const Problem problem = placed.problem();
    expect_matrix(problem.c, {placed.at(4), CUDA_R_16F, 32, 16, 32, 16 * 32});
    EXPECT_EQ(problem.bias, placed.at(5));
    EXPECT_EQ(problem.bias_type, CUDA_R_16F);
    EXPECT_EQ(problem.scale_d.data, placed.at(6));
    EXPECT_EQ(problem.scale_d.mode, CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F);
    EXPECT_EQ(problem.scale_out.data, nullptr);
    expect_matrix(problem.d, {placed.at(7), CUDA_R_8F_E4M3, 32, 16, 32, 16 * 32});
    EXPECT_EQ(problem.epilogue, CUBLASLT_EPILOGUE_RELU_BIAS);
    EXPECT_EQ(problem.fast_accumulation, 1);
    EXPECT_EQ(problem.algorithm, "id=1");
    EXPECT_EQ(problem.alpha, two);
    EXPECT_EQ(problem.beta, one);
}

TEST(CublasLtProblem, WithoutACTheTypeOfCFitsD) {
    EXPECT_EQ(Placed({.type_d = "f16"}).problem().c.type, CUDA_R_16F);
    const Problem quantized = Placed({.type_d = "e4m3"}).problem();
    EXPECT_EQ(quantized.c.type, CUDA_R_16BF);
    EXPECT_EQ(quantized.c.data, nullptr);
    EXPECT_EQ(Placed({.type_d = "e4m3", .type_bias = "f16", .epilogue = "bias"}).problem().c.type,
              CUDA_R_16F);
    // beta is -0: there is no C.
    EXPECT_EQ(Placed({.beta = 0x80000000u}).problem().c.type, CUDA_R_32F);
}

TEST(CublasLtProblem, BatchesFollowOneAnother) {
    const Problem problem =
        Placed({.m = 4, .n = 8, .k = 32, .batches = 3, .padding = 16}).problem();
    EXPECT_EQ(problem.batches, 3);
    EXPECT_EQ(problem.a.columns, 8);
    EXPECT_EQ(problem.a.batch_stride, 8 * 48);
    EXPECT_EQ(problem.b.columns, 4);
    EXPECT_EQ(problem.b.batch_stride, 4 * 48);
    EXPECT_EQ(problem.d.rows, 8);
    EXPECT_EQ(problem.d.batch_stride, 4 * 24);
}

std::ptrdiff_t offset_in(const Placed& placed, const void* data) {
    return data == nullptr ? -1 : static_cast<const std::uint8_t*>(data) - placed.bytes.data();
}

// The MX path differs from one that runs on Hopper in the rows of the table of modes alone.
TEST(CublasLtProblem, MxDiffersFromVectorsOfScalesInTheModeAlone) {
    Asked asked{.m = 128,
                .n = 256,
                .k = 512,
                .type_b = "e5m2",
                .type_c = "bf16",
                .type_d = "bf16",
                .type_bias = "bf16",
                .scaling_a = "1x128",
                .scaling_b = "1x128",
                .epilogue = "bias-gelu",
                .algorithm = "id=66",
                .alpha = two,
                .beta = one,
                .padding = 16};
    Placed vector(asked);
    asked.scaling_a = asked.scaling_b = "1x32";
    Placed mx(asked);
    const Problem runs = vector.problem(), other = mx.problem();
    EXPECT_EQ(runs.scale_a.mode, CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F);
    for (const auto member : {&Problem::scale_a, &Problem::scale_b}) {
        EXPECT_EQ((other.*member).mode, CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0);
        EXPECT_EQ(offset_in(vector, (runs.*member).data), offset_in(mx, (other.*member).data));
    }
    for (const auto member : {&Problem::a, &Problem::b, &Problem::c, &Problem::d}) {
        const Matrix &left = runs.*member, &right = other.*member;
        EXPECT_EQ(offset_in(vector, left.data), offset_in(mx, right.data));
        expect_matrix(right, {right.data, left.type, left.rows, left.columns, left.leading,
                              left.batch_stride});
    }
    EXPECT_EQ(offset_in(vector, runs.bias), offset_in(mx, other.bias));
    EXPECT_EQ(runs.bias_type, other.bias_type);
    EXPECT_EQ(runs.epilogue, other.epilogue);
    EXPECT_EQ(runs.fast_accumulation, other.fast_accumulation);
    EXPECT_EQ(runs.batches, other.batches);
    EXPECT_EQ(runs.alpha, other.alpha);
    EXPECT_EQ(runs.beta, other.beta);
    EXPECT_EQ(runs.algorithm, other.algorithm);
    EXPECT_EQ(runs.reduction_schemes, other.reduction_schemes);
    EXPECT_EQ(runs.scale_d.data, other.scale_d.data);
    EXPECT_EQ(runs.scale_out.data, other.scale_out.data);
}

TEST(CublasLtProblem, ScalesOfAnMxOutputAreAnOutput) {
    Placed placed({.type_d = "e4m3", .scaling_out = "1x32"});
    const Problem problem = placed.problem();
    EXPECT_EQ(problem.scale_out.data, placed.at(5));
    EXPECT_EQ(problem.scale_out.mode, CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0);
    EXPECT_EQ(problem.scale_out.bytes, 128 * 4);
    EXPECT_EQ(problem.scale_d.data, nullptr);
}

TEST(CublasLtProblem, AnNvfp4OutputHasAGivenScaleAndItsOwn) {
    Placed placed({.k = 64,
                   .type_a = "e2m1",
                   .type_b = "e2m1",
                   .type_d = "e2m1",
                   .scaling_a = "1x16",
                   .scaling_b = "1x16",
                   .scaling_out = "1x16"});
    const Problem problem = placed.problem();
    EXPECT_EQ(problem.scale_d.data, placed.at(4));
    EXPECT_EQ(problem.scale_d.mode, CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F);
    expect_matrix(problem.d, {placed.at(5), CUDA_R_4F_E2M1, 32, 16, 32, 16 * 32});
    EXPECT_EQ(problem.scale_out.data, placed.at(6));
    EXPECT_EQ(problem.scale_out.mode, CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3);
    EXPECT_EQ(problem.scale_out.bytes, 128 * 4);
    EXPECT_EQ(problem.c.type, CUDA_R_16BF);
    EXPECT_EQ(problem.c.data, nullptr);
}

TEST(CublasLtProblem, PackedCodesAreCountedInElements) {
    const Problem problem =
        Placed(
            {.k = 64, .type_a = "e2m1", .type_b = "e2m1", .scaling_a = "1x16", .scaling_b = "1x16"})
            .problem();
    EXPECT_EQ(problem.a.type, CUDA_R_4F_E2M1);
    EXPECT_EQ(problem.a.leading, 64);
    EXPECT_EQ(problem.scale_a.mode, CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3);
}

}  // namespace
}  // namespace mx::cublaslt::test
