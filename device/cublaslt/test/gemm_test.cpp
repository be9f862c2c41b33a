// GEMMs on a GPU against sums that are exact in any order: D must have these very values, whatever
// the mode, the algorithm and the place of the tensors. What the GPU has no code for must be
// refused by cuBLASLt itself.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "device/cublaslt/test/gemm_data.hpp"
#include "device/cublaslt/test/plugin.hpp"

namespace mx::cublaslt::test {
namespace {

struct Named {
    const char* name;
    Asked asked;
};

const Named served[] = {
    {"tensor", {.m = 48, .n = 80, .k = 384}},
    {"no scales", {.scaling_a = nullptr, .scaling_b = nullptr}},
    {"row", {.m = 48, .n = 80, .k = 384, .scaling_a = "row", .scaling_b = "row"}},
    {"1x128", {.m = 144, .n = 272, .k = 384, .scaling_a = "1x128", .scaling_b = "1x128"}},
    {"1x128 by 128x128",
     {.m = 144, .n = 272, .k = 384, .scaling_a = "1x128", .scaling_b = "128x128"}},
    {"128x128 by 1x128",
     {.m = 144, .n = 272, .k = 384, .scaling_a = "128x128", .scaling_b = "1x128"}},
    {"1x32", {.m = 144, .n = 272, .k = 384, .scaling_a = "1x32", .scaling_b = "1x32"}},
    {"1x16",
     {.m = 144,
      .n = 272,
      .k = 384,
      .type_a = "e2m1",
      .type_b = "e2m1",
      .scaling_a = "1x16",
      .scaling_b = "1x16"}},
    {"e4m3 by e5m2", {.type_b = "e5m2"}},
    {"e5m2 by e4m3", {.type_a = "e5m2"}},
    {"bf16 out", {.type_d = "bf16"}},
    {"f16 out", {.type_d = "f16"}},
    {"e4m3 out", {.k = 16, .type_d = "e4m3", .scaling_a = nullptr, .scaling_b = nullptr}},
    {"e4m3 out, scaled",
     {.k = 16,
      .type_d = "e4m3",
      .scaling_a = nullptr,
      .scaling_b = nullptr,
      .scaling_out = "tensor"}},
    {"bf16", {.type_a = "bf16", .type_b = "bf16", .scaling_a = nullptr, .scaling_b = nullptr}},
    {"bf16, short K",
     {.k = 40,
      .type_a = "bf16",
      .type_b = "bf16",
      .type_d = "bf16",
      .scaling_a = nullptr,
      .scaling_b = nullptr}},
    {"f16",
     {.type_a = "f16",
      .type_b = "f16",
      .type_d = "f16",
      .scaling_a = nullptr,
      .scaling_b = nullptr}},
    {"fast", {.accumulation = "fast"}},
    {"alpha 2", {.alpha = two}},
    {"beta 2", {.beta = two}},
    {"beta 1, bf16 out", {.type_c = "bf16", .type_d = "bf16", .beta = one}},
    {"bias", {.epilogue = "bias"}},
    {"bias, beta", {.epilogue = "bias", .beta = one}},
    {"relu", {.epilogue = "relu"}},
    {"bias-relu", {.epilogue = "bias-relu"}},
    {"bias of bf16 factors",
     {.type_a = "bf16",
      .type_b = "bf16",
      .type_bias = "f32",
      .scaling_a = nullptr,
      .scaling_b = nullptr,
      .epilogue = "bias"}},
    {"batches", {.batches = 3}},
    {"batches, beta, bias", {.batches = 3, .epilogue = "bias", .beta = one}},
    {"batches of bf16",
     {.batches = 3,
      .type_a = "bf16",
      .type_b = "bf16",
      .scaling_a = nullptr,
      .scaling_b = nullptr}},
    {"batches, rows apart", {.batches = 3, .beta = one, .padding = 16}},
    {"rows apart", {.beta = one, .padding = 16}},
    {"one row", {.m = 1}},
    {"deep", {.m = 16, .n = 16, .k = 8192}},
};

bool has_mode(const char* scaling, int capability) {
    return scaling == nullptr || find_scaling(scaling)->capabilities.has(capability);
}

void expect_values(const Scene& scene, const std::string& what) {
    const mx_tensor& d = scene.call.outputs[0];
    const Values actual = values_of(d, scene.outputs[0]);
    int shown = 0;
    for (std::int64_t r = 0; r < d.rows; ++r)
        for (std::int64_t c = 0; c < d.columns; ++c)
            if (actual.at(r, c) != scene.expected.at(r, c) && shown++ < 4)
                ADD_FAILURE() << what << ": D(" << r << ", " << c << ") is " << actual.at(r, c)
                              << " and should be " << scene.expected.at(r, c);
    EXPECT_EQ(shown, 0) << what;
    EXPECT_EQ(spoiled(d, scene.outputs[0]), 0) << what << ": bytes between the rows of D";
}

// The data fit their types, so that only the device can be wrong. Needs no GPU.
TEST(CublasLtData, EveryExpectedValueIsOneOfItsType) {
    for (const Named& named : served) {
        const Scene scene(named.asked);
        for (const double value : scene.expected.all)
            EXPECT_NO_THROW(encode(named.asked.type_d, value)) << named.name << ": " << value;
    }
}

class CublasLtOnGpu : public OnGpu {};

TEST_F(CublasLtOnGpu, GivesExactSums) {
    for (const Named& named : served) {
        Scene scene(named.asked);
        scene.place_on_host();
        const Answer asked = supports(named.asked);
        const Answer answer = run(scene.call);
        EXPECT_EQ(answer.status, asked.status) << named.name << ": " << asked.sentence;
        if (has_mode(named.asked.scaling_a, capability())) {
            EXPECT_EQ(answer.status, MX_OK) << named.name << ": " << answer.sentence;
            if (answer.status == MX_OK) expect_values(scene, named.name);
            continue;
        }
        EXPECT_EQ(answer.status, MX_NOT_SUPPORTED) << named.name;
        EXPECT_NE(answer.sentence.find("CUBLAS_STATUS_"), std::string::npos) << answer.sentence;
        EXPECT_NE(answer.sentence.find("needs compute capability"), std::string::npos)
            << answer.sentence;
        std::printf("%s: %s\n", named.name, answer.sentence.c_str());
    }
}

TEST_F(CublasLtOnGpu, EveryAlgorithmGivesExactSums) {
    for (const Asked& asked :
         {Asked{.m = 128, .n = 128, .k = 4096, .beta = one}, Asked{.m = 64, .n = 64, .k = 1024},
          Asked{.k = 2048,
          .type_a = "bf16",
          .type_b = "bf16",
          .scaling_a = nullptr,
          .scaling_b = nullptr}}) {
        const std::vector<std::string> names = algorithms(asked);
        EXPECT_FALSE(names.empty());
        EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
        std::printf("%zu algorithms, the first is %s\n", names.size(),
                    names.empty() ? "" : names[0].c_str());
        for (const std::string& name : names) {
            Asked with = asked;
            with.algorithm = name.c_str();
            Scene scene(with);
            scene.place_on_host();
            const Answer answer = run(scene.call);
            EXPECT_EQ(answer.status, MX_OK) << name << ": " << answer.sentence;
            if (answer.status == MX_OK) expect_values(scene, name);
        }
    }
}

TEST_F(CublasLtOnGpu, RefusesAnAlgorithmThatIsNotOffered) {
    const Answer answer = supports({.algorithm = "id=0"});
    EXPECT_EQ(answer.status, MX_NOT_SUPPORTED);
    EXPECT_NE(answer.sentence.find("none is \"id=0\""), std::string::npos) << answer.sentence;
}

// cuBLASLt's own answers, in its words.
TEST_F(CublasLtOnGpu, PassesOnWhatCublasLtRefuses) {
    for (const Named& named : {
             Named{"E5M2 times E5M2", {.type_a = "e5m2", .type_b = "e5m2"}},
             Named{"128x128 twice",
                   {.m = 128, .n = 128, .k = 256, .scaling_a = "128x128", .scaling_b = "128x128"}},
             Named{"fast 1x128",
                   {.m = 128,
                   .n = 128,
                   .k = 256,
                   .scaling_a = "1x128",
                   .scaling_b = "1x128",
                   .accumulation = "fast"}},
             Named{"C of another type", {.type_c = "f32", .type_d = "bf16", .beta = one}},
             Named{"scaled f32", {.scaling_out = "tensor"}},
         }) {
        const Answer answer = supports(named.asked);
        EXPECT_EQ(answer.status, MX_NOT_SUPPORTED) << named.name;
        EXPECT_NE(answer.sentence.find("CUBLAS_STATUS_"), std::string::npos) << answer.sentence;
        std::printf("%s: %s\n", named.name, answer.sentence.c_str());
    }
}

TEST_F(CublasLtOnGpu, WritesNothingWhereThereIsNothing) {
    Scene scene({.m = 0});
    scene.place_on_host();
    EXPECT_EQ(run(scene.call).status, MX_OK);
}

// Its bits are judged by the sweep and the recorded answers; here only that the epilogue is asked.
TEST_F(CublasLtOnGpu, GeluRuns) {
    for (const char* epilogue : {"gelu", "bias-gelu"}) {
        Scene scene({.epilogue = epilogue});
        scene.place_on_host();
        const Answer answer = run(scene.call);
        ASSERT_EQ(answer.status, MX_OK) << answer.sentence;
        const Values actual = values_of(scene.call.outputs[0], scene.outputs[0]);
        for (std::size_t i = 0; i < actual.all.size(); ++i) {
            const double gelu =
                0.5 * scene.expected.all[i] *
                (1 + std::tanh(0.7978845608 * (scene.expected.all[i] +
                                               0.044715 * std::pow(scene.expected.all[i], 3))));
            EXPECT_NEAR(actual.all[i], gelu, 0.01 + std::abs(gelu) * 0.01) << i;
        }
    }
}

TEST_F(CublasLtOnGpu, TensorsOfTheGpuAreUsedWhereTheyLie) {
    Scene scene({.m = 48, .n = 80, .k = 384, .beta = one, .padding = 16});
    std::vector<void*> memory;
    const auto place = [&](std::vector<mx_tensor>& tensors,
                           const std::vector<std::vector<std::uint8_t>>& bytes) {
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            void* data = nullptr;
            ASSERT_EQ(cudaMalloc(&data, bytes[i].size() + 16), cudaSuccess);
            memory.push_back(data);
            // Off the alignment of cudaMalloc, and still what cuBLASLt wants.
            tensors[i].data = static_cast<std::uint8_t*>(data) + 16;
            tensors[i].place = "cuda";
            ASSERT_EQ(cudaMemcpy(tensors[i].data, bytes[i].data(), bytes[i].size(),
                                 cudaMemcpyHostToDevice),
                      cudaSuccess);
        }
    };
    place(scene.call.inputs, scene.inputs);
    place(scene.call.outputs, scene.outputs);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    const Answer answer = run(scene.call);
    ASSERT_EQ(answer.status, MX_OK) << answer.sentence;
    auto& out = scene.outputs[0];
    ASSERT_EQ(
        cudaMemcpy(out.data(), scene.call.outputs[0].data, out.size(), cudaMemcpyDeviceToHost),
        cudaSuccess);
    expect_values(scene, "on the GPU");
    for (void* each : memory) cudaFree(each);
}

// The error of one call must not come back in the next.
TEST_F(CublasLtOnGpu, WorksOnAfterItRanOutOfMemory) {
    Scene huge({.m = 16, .n = 16, .k = 64});
    huge.place_on_host();
    for (const std::size_t index : {0u, 2u}) huge.call.inputs[index].row_stride = 1LL << 40;
    EXPECT_EQ(run(huge.call).status, MX_OUT_OF_MEMORY);
    Scene scene({});
    scene.place_on_host();
    const Answer answer = run(scene.call);
    EXPECT_EQ(answer.status, MX_OK) << answer.sentence;
    expect_values(scene, "afterwards");
}

}  // namespace
}  // namespace mx::cublaslt::test
