// The plug-in through its one exported function: what it answers without a GPU, what it refuses
// and why, and with a GPU tensors in either memory.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "device/abi/mx_device.h"

namespace {

// Kept loaded for the whole program: the CUDA runtime inside does not like to go.
const mx_device_api* table_of(std::uint32_t version) {
    static void* library = dlopen(MX_CUDA_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        ADD_FAILURE() << dlerror();
        return nullptr;
    }
    const auto get_api =
        reinterpret_cast<mx_device_get_api_function>(dlsym(library, MX_DEVICE_ENTRY));
    return get_api == nullptr ? nullptr : get_api(version);
}

struct Answer {
    mx_status status;
    std::string sentence;
};

struct Message {
    std::array<char, 400> text{};
    mx_message message{sizeof(mx_message), text.data(), text.size()};
};

mx_operation operation(const char* name, const char* format, const char* dialect) {
    return {sizeof(mx_operation), name,       format,     dialect, "row",
            "nearest_even",       "saturate", "honoured", 32};
}

mx_tensor tensor(const char* type, std::int64_t rows, std::int64_t columns) {
    return {sizeof(mx_tensor), nullptr, type, "host", "strided", rows, columns, columns, 1};
}

struct Tensors {
    std::vector<mx_tensor> inputs, outputs;
};
Tensors quantize_tensors(std::int64_t rows = 3, std::int64_t columns = 64) {
    return {{tensor("f32", rows, columns)},
            {tensor("e4m3", rows, columns), tensor("e8m0", rows, (columns + 31) / 32)}};
}

Answer supports(const mx_operation& asked, const Tensors& tensors) {
    Message message;
    const mx_status status =
        table_of(MX_DEVICE_ABI_VERSION)
            ->supports(nullptr, &asked, tensors.inputs.data(), tensors.inputs.size(),
                       tensors.outputs.data(), tensors.outputs.size(), &message.message);
    return {status, message.text.data()};
}

TEST(CudaPlugin, ServesItsAbiVersionOnly) {
    ASSERT_NE(table_of(MX_DEVICE_ABI_VERSION), nullptr);
    EXPECT_EQ(table_of(MX_DEVICE_ABI_VERSION)->abi_version, MX_DEVICE_ABI_VERSION);
    EXPECT_EQ(table_of(MX_DEVICE_ABI_VERSION + 1), nullptr);
}

TEST(CudaPlugin, SaysWhatItDoes) {
    for (const char* dialect :
         {"ocp", "nv", "torchao-floor", "torchao-ceil", "torchao-even", "torchao-rceil"})
        EXPECT_EQ(supports(operation("quantize", "mxfp8-e4m3", dialect), quantize_tensors()).status,
                  MX_OK);
    for (const char* axis : {"row", "col", "tile"}) {
        mx_operation asked = operation("quantize", "mxfp8-e4m3", "ocp");
        asked.axis = axis;
        Tensors tensors = quantize_tensors(64, 64);
        tensors.outputs[1] = tensor("e8m0", *axis == 'r' ? 64 : 2, *axis == 'c' ? 64 : 2);
        EXPECT_EQ(supports(asked, tensors).status, MX_OK) << axis;
    }
    Tensors swizzled = quantize_tensors();
    swizzled.outputs[1].layout = "128x4";
    swizzled.outputs[1].row_stride = swizzled.outputs[1].column_stride = 0;
    EXPECT_EQ(supports(operation("quantize", "mxfp8-e4m3", "nv"), swizzled).status, MX_OK);
}

struct Refused {
    const char* what;
    mx_operation asked;
    Tensors tensors;
    mx_status status;
    const char* sentence;
};

TEST(CudaPlugin, RefusesWithAReason) {
    const mx_operation nv = operation("quantize", "mxfp8-e4m3", "nv");
    Tensors inside_out = quantize_tensors(), elsewhere = quantize_tensors(),
            wrong_scales = quantize_tensors(), packed = quantize_tensors(),
            backwards = quantize_tensors();
    std::swap(inside_out.outputs[0], inside_out.outputs[1]);
    elsewhere.inputs[0].place = "moon";
    wrong_scales.outputs[1].columns = 3;
    packed.outputs[0].layout = "packed-low";
    backwards.inputs[0].row_stride = -64;
    mx_operation away = operation("convert", "e4m3", "ocp");
    away.rounding = "nearest_away";
    const Tensors one{{tensor("f32", 1, 32)}, {tensor("e4m3", 1, 32)}};
    const Refused all[] = {
        {"a dialect", operation("quantize", "mxfp8-e4m3", "gfloat"), quantize_tensors(),
         MX_NOT_SUPPORTED, "no dialect \"gfloat\""},
        {"a format", operation("quantize", "mxfp9", "nv"), quantize_tensors(), MX_NOT_SUPPORTED,
         "block format \"mxfp9\""},
        {"int8 of torchao", operation("quantize", "mxint8", "torchao-even"), quantize_tensors(),
         MX_NOT_SUPPORTED, "has no format \"mxint8\""},
        {"tensors exchanged", nv, inside_out, MX_INVALID, "where e4m3 belongs"},
        {"a place", nv, elsewhere, MX_NOT_SUPPORTED, "lies in \"moon\""},
        {"scales of another shape", nv, wrong_scales, MX_INVALID, "should be 3 x 2"},
        {"packed codes", nv, packed, MX_NOT_SUPPORTED, "packed-low"},
        {"a negative stride", nv, backwards, MX_INVALID, "runs backwards"},
        {"a rounding", away, one, MX_NOT_SUPPORTED, "nearest_away"},
        {"an operation", operation("gemm", "mxfp8-e4m3", "nv"), one, MX_NOT_SUPPORTED, "gemm"},
    };
    for (const Refused& refused : all) {
        const Answer answer = supports(refused.asked, refused.tensors);
        EXPECT_EQ(answer.status, refused.status) << refused.what;
        EXPECT_NE(answer.sentence.find(refused.sentence), std::string::npos)
            << refused.what << ": " << answer.sentence;
    }
}

TEST(CudaPlugin, OpensOrSaysWhyNot) {
    int count = 0;
    const bool has_gpu = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
    Message message;
    void* device = nullptr;
    const mx_status status = table_of(MX_DEVICE_ABI_VERSION)->open(&device, &message.message);
    if (!has_gpu) {
        EXPECT_EQ(status, MX_NOT_SUPPORTED);
        EXPECT_NE(std::string(message.text.data()).find("no GPU can be used here"),
                  std::string::npos)
            << message.text.data();
        return;
    }
    ASSERT_EQ(status, MX_OK) << message.text.data();
    table_of(MX_DEVICE_ABI_VERSION)->close(device);
}

// A row of ones and a row that grows, in the memory of the host.
std::vector<float> values_of_host() {
    std::vector<float> values(64, 1.0f);
    for (std::size_t i = 32; i < values.size(); ++i) values[i] = static_cast<float>(i);
    return values;
}

struct Quantized {
    std::vector<std::uint8_t> codes = std::vector<std::uint8_t>(64, 0xA5);
    std::vector<std::uint8_t> scales = std::vector<std::uint8_t>(2, 0xA5);
    bool operator==(const Quantized&) const = default;
};

void run(void* device, Tensors tensors, const std::array<void*, 3>& data) {
    const mx_operation asked = operation("quantize", "mxfp8-e4m3", "nv");
    tensors.inputs[0].data = data[0];
    tensors.outputs[0].data = data[1];
    tensors.outputs[1].data = data[2];
    Message message;
    const mx_status status = table_of(MX_DEVICE_ABI_VERSION)
                                 ->run(device, &asked, tensors.inputs.data(), 1,
                                       tensors.outputs.data(), 2, &message.message);
    EXPECT_EQ(status, MX_OK) << message.text.data();
}

TEST(CudaPlugin, TakesTensorsOfTheGpuWithoutACopy) {
    Message message;
    void* device = nullptr;
    if (table_of(MX_DEVICE_ABI_VERSION)->open(&device, &message.message) != MX_OK)
        GTEST_SKIP() << message.text.data();
    std::vector<float> values = values_of_host();
    Quantized from_host, from_gpu;
    const Tensors on_host = quantize_tensors(2, 32);
    run(device, on_host, {values.data(), from_host.codes.data(), from_host.scales.data()});
    EXPECT_EQ(from_host.scales, (std::vector<std::uint8_t>{119, 125}));  // 1/448, 63/448
    EXPECT_EQ(from_host.codes[0], 0x78);                                 // 256

    void* gpu = nullptr;
    ASSERT_EQ(cudaMalloc(&gpu, 1024), cudaSuccess);
    auto* bytes = static_cast<std::uint8_t*>(gpu);
    ASSERT_EQ(cudaMemcpy(gpu, values.data(), 256, cudaMemcpyHostToDevice), cudaSuccess);
    Tensors on_gpu = on_host;
    for (auto* tensors : {&on_gpu.inputs, &on_gpu.outputs})
        for (mx_tensor& each : *tensors) each.place = "cuda";
    run(device, on_gpu, {bytes, bytes + 256, bytes + 512});
    ASSERT_EQ(cudaMemcpy(from_gpu.codes.data(), bytes + 256, 64, cudaMemcpyDeviceToHost),
              cudaSuccess);
    ASSERT_EQ(cudaMemcpy(from_gpu.scales.data(), bytes + 512, 2, cudaMemcpyDeviceToHost),
              cudaSuccess);
    EXPECT_TRUE(from_gpu == from_host);
    cudaFree(gpu);
    table_of(MX_DEVICE_ABI_VERSION)->close(device);
}

}  // namespace
