// The tables of this device, and the sentences made from them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "device/cublaslt/algorithms.hpp"
#include "device/cublaslt/limits.hpp"
#include "device/cublaslt/request.hpp"
#include "device/cublaslt/test/calls.hpp"
#include "device/cublaslt/test/swizzle.hpp"

namespace mx::cublaslt::test {
namespace {

struct Row {
    const char* name;
    cublasLtMatmulMatrixScale_t mode;
    const char* type;
    Extents grid;  // of 300 x 520 elements
    bool on_hopper;
    bool on_blackwell;
};

TEST(CublasLtScaling, TableOfModes) {
    const Row rows[] = {
        {"tensor", CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F, "f32", {1, 1}, true, true},
        {"row", CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F, "f32", {300, 1}, true, false},
        {"1x128", CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F, "f32", {300, 5}, true, false},
        {"128x128", CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F, "f32", {3, 5}, true, false},
        {"1x32", CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0, "e8m0", {300, 17}, false, true},
        {"1x16", CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3, "ue4m3", {300, 33}, false, true},
    };
    for (const Row& row : rows) {
        const Scaling* scaling = find_scaling(row.name);
        ASSERT_NE(scaling, nullptr) << row.name;
        EXPECT_EQ(scaling->mode, row.mode) << row.name;
        EXPECT_EQ(scaling->type, row.type) << row.name;
        const Extents grid = grid_of(*scaling, {300, 520});
        EXPECT_EQ(grid.rows, row.grid.rows) << row.name;
        EXPECT_EQ(grid.columns, row.grid.columns) << row.name;
        EXPECT_EQ(scaling->capabilities.has(90), row.on_hopper) << row.name;
        EXPECT_EQ(scaling->capabilities.has(100), row.on_blackwell) << row.name;
    }
    EXPECT_EQ(find_scaling("1x64"), nullptr);
}

TEST(CublasLtAlgorithms, NamesSayEverythingThatConfigures) {
    const Configuration configuration{66, 20, 36, 1, 0, 0, 7, 0, 2};
    EXPECT_EQ(name_of(configuration),
              "id=66,tile=20,stages=36,splitk=1,reduction=0,swizzle=0,custom=7,inner=0,cluster=2");
    for (std::size_t i = 0; i < configuration.size(); ++i) {
        Configuration other = configuration;
        ++other[i];
        EXPECT_NE(name_of(other), name_of(configuration)) << algorithm_attributes[i].name;
    }
}

std::string explained(const Asked& asked, int capability) {
    GemmCall made = call_of(asked);
    alignas(16) static std::uint8_t bytes[16];
    for (auto* tensors : {&made.inputs, &made.outputs})
        for (mx_tensor& each : *tensors) each.data = bytes;
    return explanation(problem_of(made.call(), Buffers::present), capability);
}

TEST(CublasLtLimits, NameTheCapabilityThatIsMissing) {
    EXPECT_EQ(explained({}, 90), "");
    EXPECT_EQ(explained({.scaling_a = "1x32", .scaling_b = nullptr}, 90),
              "; scaling \"1x32\" needs compute capability 10.0 or later, and this GPU has 9.0");
    EXPECT_EQ(explained({.scaling_a = nullptr, .scaling_b = "row"}, 120),
              "; scaling \"row\" needs compute capability 9.0 alone, and this GPU has 12.0");
    EXPECT_EQ(explained({.scaling_a = nullptr, .scaling_b = nullptr}, 80),
              "; e4m3 needs compute capability 8.9 or later, and this GPU has 8.0");
}

TEST(CublasLtLimits, NameWhatIsKnownNotToBeThere) {
    struct Known {
        Asked asked;
        const char* sentence;
    };
    const Known all[] = {
        {{.type_a = "e5m2", .type_b = "e5m2"}, "E5M2 times E5M2"},
        {{.type_a = "bf16", .type_b = "bf16"}, "scales are for factors of FP8"},
        {{.type_a = "bf16",
          .type_b = "bf16",
          .scaling_a = nullptr,
          .scaling_b = nullptr,
          .accumulation = "fast"},
         "fast accumulation is for factors of FP8"},
        {{.scaling_a = "1x128", .scaling_b = "1x128", .accumulation = "fast"},
         "have no fast accumulation"},
        {{.scaling_a = "128x128", .scaling_b = "128x128"}, "not both"},
        {{.batches = 2, .scaling_a = "row", .scaling_b = "row"}, "are for one batch"},
        {{.type_d = "e4m3", .scaling_a = "row", .scaling_b = "row"}, "D has 16 or 32 bits"},
        {{.scaling_out = "tensor"}, "only a D of FP8 or FP4 has a scale"},
        {{.type_d = "e5m2"}, "D of E5M2 needs a factor of E5M2"},
        {{.n = 6}, "the rows of D should be"},
        {{.n = 12, .type_d = "bf16"}, "the rows of D should be"},
        {{.type_c = "f32", .type_d = "bf16", .beta = one}, "C must have D's type"},
        {{.type_c = "f32", .type_d = "e4m3", .beta = one}, "C must have D's type"},
        {{.type_bias = "f32", .epilogue = "bias"}, "the bias must have"},
        {{.type_d = "f16", .type_bias = "bf16", .epilogue = "bias"}, "the bias must have"},
    };
    for (const Known& known : all) {
        const std::string text = explained(known.asked, 90);
        EXPECT_NE(text.find(known.sentence), std::string::npos) << known.sentence << ": " << text;
        EXPECT_EQ(std::count(text.begin(), text.end(), ';'), 1) << text;
    }
    EXPECT_EQ(explained({.n = 12}, 90), "");
    EXPECT_EQ(explained({.type_d = "e4m3", .type_bias = "bf16", .epilogue = "bias"}, 90), "");
    EXPECT_EQ(explained({.type_a = "e5m2", .type_d = "e5m2", .scaling_out = "tensor"}, 90), "");
}

TEST(CublasLtLimits, NameWhatAnOutputOfFp4Needs) {
    const Asked nvfp4{.type_a = "e2m1",
                      .type_b = "e2m1",
                      .type_d = "e2m1",
                      .scaling_a = "1x16",
                      .scaling_b = "1x16",
                      .scaling_out = "1x16"};
    EXPECT_EQ(explained(nvfp4, 100), "");
    EXPECT_EQ(explained(nvfp4, 90),
              "; e2m1 needs compute capability 10.0 or later, and this GPU has 9.0; scaling "
              "\"1x16\" needs compute capability 10.0 or later, and this GPU has 9.0");
    Asked other = nvfp4;
    other.n = 16;
    EXPECT_EQ(explained(other, 100),
              "; with factors of FP8 and FP4 the rows of D should be a multiple of 16 bytes long");
    other = nvfp4;
    other.scaling_out = "1x32";
    const std::string whole = "; D of E2M1 has scaling \"1x16\", and so have both its factors";
    EXPECT_EQ(explained(other, 100), whole);
    other = nvfp4;
    other.type_a = other.type_b = "e4m3";
    other.scaling_a = other.scaling_b = "1x32";
    EXPECT_EQ(explained(other, 100), whole);
}

// Every scale has a byte of its own, and the first tiles are those that cuBLAS draws.
TEST(CublasLtSwizzle, IsOneToOneOverWholeTiles) {
    constexpr std::int64_t outer = 256, blocks = 8;
    std::vector<int> used(outer * blocks, 0);
    for (std::int64_t x = 0; x < outer; ++x)
        for (std::int64_t y = 0; y < blocks; ++y)
            ++used.at(static_cast<std::size_t>(swizzled({x, y}, blocks)));
    EXPECT_EQ(std::count(used.begin(), used.end(), 1), outer * blocks);
    EXPECT_EQ(swizzled({0, 3}, blocks), 3);
    EXPECT_EQ(swizzled({32, 0}, blocks), 4);
    EXPECT_EQ(swizzled({1, 0}, blocks), 16);
    EXPECT_EQ(swizzled({0, 4}, blocks), 512);
    EXPECT_EQ(swizzled({128, 0}, blocks), 1024);
    EXPECT_EQ(swizzled({128, 0}, 5), 1024);
}

}  // namespace
}  // namespace mx::cublaslt::test
