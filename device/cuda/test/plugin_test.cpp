// The plug-in through its one exported function: what it answers without a GPU, what it refuses
// and why, and with a GPU tensors in either memory.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "device/abi/block_operation.hpp"
#include "device/abi/mx_device.h"
#include "device/abi/test/plugin_table.hpp"
#include "device/cuda/test/require_gpu.hpp"

namespace {

const mx_device_api* table_of(std::uint32_t version) {
    return mx::plugin_table(MX_CUDA_PLUGIN, version);
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
    mx_operation asked = mx::block_operation(name, format, dialect, "row");
    asked.rounding = "nearest_even";
    asked.overflow = "saturate";
    asked.subnormals = "honoured";
    return asked;
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
    mx_operation both = operation("quantize", "mxfp8-e4m3", "ocp");
    both.axis = "both";
    Tensors tensors = quantize_tensors(64, 64);
    EXPECT_EQ(supports(both, tensors).status, MX_INVALID);
    tensors.outputs.insert(tensors.outputs.end(), {tensor("e4m3", 64, 64), tensor("e8m0", 2, 64)});
    EXPECT_EQ(supports(both, tensors).status, MX_OK);
    tensors.outputs[3].layout = "128x4";
    const Answer of_rows = supports(both, tensors);
    EXPECT_EQ(of_rows.status, MX_INVALID);
    EXPECT_NE(of_rows.sentence.find("not for scales along axis \"col\""), std::string::npos);
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
        {"scales of another shape", nv, wrong_scales, MX_INVALID, "3 x 3 where 3 x 2 belongs"},
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

// A call of NVFP4 with the number of the tensor given.
struct Nvfp4Call {
    mx_operation asked = operation("quantize", "nvfp4", "te-nvfp4");
    Tensors tensors{{tensor("f32", 3, 64), tensor("f32", 1, 1)},
                    {tensor("e2m1", 3, 64), tensor("ue4m3", 3, 4), tensor("f32", 1, 1)}};

    Nvfp4Call() {
        asked.block_size = 16;
        asked.tensor_scale = "given";
    }
    static void lay_out(mx_tensor& tensor, const char* layout) {
        tensor.layout = layout;
        tensor.row_stride = tensor.column_stride = 0;
    }
};

TEST(CudaPlugin, ServesScalesWithAMantissa) {
    Nvfp4Call call;
    EXPECT_EQ(supports(call.asked, call.tensors).sentence, "");
    Nvfp4Call::lay_out(call.tensors.outputs[0], "packed-low");
    for (const char* layout : {"128x4", "8x4", "32x8", "te-padded"}) {
        Nvfp4Call::lay_out(call.tensors.outputs[1], layout);
        EXPECT_EQ(supports(call.asked, call.tensors).status, MX_OK) << layout;
    }
    call.asked.tensor_scale = "derived";
    call.tensors.inputs.pop_back();
    EXPECT_EQ(supports(call.asked, call.tensors).status, MX_OK);
    mx_operation whole = operation("quantize", "fp8-e4m3-tensor", "te-fp8-current");
    whole.axis = "tensor";
    whole.block_size = 0;
    const Tensors tensors{{tensor("bf16", 3, 64)}, {tensor("e4m3", 3, 64), tensor("f32", 1, 1)}};
    EXPECT_EQ(supports(whole, tensors).sentence, "");
}

TEST(CudaPlugin, RefusesScalesWithAMantissaWithAReason) {
    struct Case {
        void (*spoil)(Nvfp4Call&);
        mx_status status;
        const char* sentence;
    };
    const Case cases[] = {
        {[](Nvfp4Call& c) { c.asked.tensor_scale = nullptr; }, MX_INVALID,
         "has a number for the tensor, and tensor_scale is NULL"},
        {[](Nvfp4Call& c) { c.asked.dialect = "cublaslt-nvfp4"; }, MX_INVALID,
         "has no number for the tensor"},
        {[](Nvfp4Call& c) { c.asked.dialect = "ocp"; }, MX_NOT_SUPPORTED,
         "dialect \"ocp\" has no format \"nvfp4\""},
        {[](Nvfp4Call& c) { c.asked.dialect = "TE"; }, MX_NOT_SUPPORTED, "no dialect \"TE\""},
        {[](Nvfp4Call& c) { c.asked.dialect = "te-nvfp4-sr"; }, MX_INVALID, "random bits"},
        {[](Nvfp4Call& c) { c.asked.dialect = "te-nvfp4-rht"; }, MX_NOT_SUPPORTED,
         "of values of type \"f32\""},
        {[](Nvfp4Call& c) { c.asked.block_size = 32; }, MX_NOT_SUPPORTED, "blocks of 32"},
        {[](Nvfp4Call& c) { c.asked.axis = "tile"; }, MX_NOT_SUPPORTED, "axis \"tile\""},
        {[](Nvfp4Call& c) { c.tensors.outputs[1].type = "e8m0"; }, MX_INVALID,
         "where ue4m3 belongs"},
        {[](Nvfp4Call& c) { c.tensors.outputs[0].layout = "packed-low"; }, MX_INVALID,
         "has strides"},
        {[](Nvfp4Call& c) { Nvfp4Call::lay_out(c.tensors.outputs[0], "128x4"); }, MX_NOT_SUPPORTED,
         "element codes in layout"},
        {[](Nvfp4Call& c) { c.tensors.outputs.pop_back(); }, MX_INVALID, "the number that is kept"},
    };
    for (const Case& bad : cases) {
        Nvfp4Call call;
        bad.spoil(call);
        const Answer answer = supports(call.asked, call.tensors);
        EXPECT_EQ(answer.status, bad.status) << bad.sentence << ": " << answer.sentence;
        EXPECT_NE(answer.sentence.find(bad.sentence), std::string::npos)
            << bad.sentence << ": " << answer.sentence;
    }
    mx_operation mx = operation("quantize", "mxfp8-e4m3", "ocp");
    mx.tensor_scale = "given";
    EXPECT_EQ(supports(mx, quantize_tensors()).status, MX_INVALID);
}

TEST(CudaPlugin, OpensOrSaysWhyNot) {
    int count = 0;
    const bool has_gpu = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
    Message message;
    void* device = nullptr;
    const mx_status status = table_of(MX_DEVICE_ABI_VERSION)->open(&device, &message.message);
    if (!has_gpu) {
        EXPECT_FALSE(mx::cuda::test::must_have_gpu()) << message.text.data();
        EXPECT_EQ(status, MX_NOT_SUPPORTED);
        EXPECT_NE(std::string(message.text.data()).find("no GPU can be used here"),
                  std::string::npos)
            << message.text.data();
        return;
    }
    ASSERT_EQ(status, MX_OK) << message.text.data();
    table_of(MX_DEVICE_ABI_VERSION)->close(device);
}

// Quantizing on an open device, which is what needs a GPU.
class CudaPluginOnGpu : public testing::Test {
protected:
    void SetUp() override {
        Message message;
        if (table_of(MX_DEVICE_ABI_VERSION)->open(&device_, &message.message) != MX_OK)
            MX_END_WITHOUT_GPU(message.text.data());
        is_open_ = true;
    }
    void TearDown() override {
        if (is_open_) table_of(MX_DEVICE_ABI_VERSION)->close(device_);
    }

    Answer run(Tensors tensors, const std::array<void*, 3>& data) {
        const mx_operation asked = operation("quantize", "mxfp8-e4m3", "nv");
        tensors.inputs[0].data = data[0];
        tensors.outputs[0].data = data[1];
        tensors.outputs[1].data = data[2];
        Message message;
        const mx_status status = table_of(MX_DEVICE_ABI_VERSION)
                                     ->run(device_, &asked, tensors.inputs.data(), 1,
                                           tensors.outputs.data(), 2, &message.message);
        return {status, message.text.data()};
    }

    // A tensor of 2 x 32 and its results, one after the other; the rest of the bytes is poison.
    using Image = std::vector<std::uint8_t>;
    static constexpr std::size_t codes_at = 256, scales_at = 512;
    static Image image_before() {
        std::vector<float> values(64, 1.0f);
        for (std::size_t i = 32; i < values.size(); ++i) values[i] = static_cast<float>(i);
        Image image(1024, 0xA5);
        std::memcpy(image.data(), values.data(), codes_at);
        return image;
    }
    static std::array<void*, 3> places_in(std::uint8_t* image) {
        return {image, image + codes_at, image + scales_at};
    }

private:
    void* device_ = nullptr;
    bool is_open_ = false;
};

void expect_quantized(const std::vector<std::uint8_t>& image) {
    EXPECT_EQ(image[256], 0x78);  // 256
    EXPECT_EQ(image[512], 119);   // 1/448
    EXPECT_EQ(image[513], 125);   // 63/448
}

// Also the bytes around the outputs: those of the GPU are written in place.
TEST_F(CudaPluginOnGpu, TensorsOfEitherMemoryGetTheSameBytesInTheirPlaces) {
    Image on_host = image_before(), from_gpu(on_host.size());
    Tensors tensors = quantize_tensors(2, 32);
    Answer answer = run(tensors, places_in(on_host.data()));
    ASSERT_EQ(answer.status, MX_OK) << answer.sentence;
    expect_quantized(on_host);

    const Image before = image_before();
    void* gpu = nullptr;
    ASSERT_EQ(cudaMalloc(&gpu, before.size()), cudaSuccess);
    ASSERT_EQ(cudaMemcpy(gpu, before.data(), before.size(), cudaMemcpyHostToDevice), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);  // inputs are complete before the call
    for (auto* each_side : {&tensors.inputs, &tensors.outputs})
        for (mx_tensor& each : *each_side) each.place = "cuda";
    answer = run(tensors, places_in(static_cast<std::uint8_t*>(gpu)));
    EXPECT_EQ(answer.status, MX_OK) << answer.sentence;
    ASSERT_EQ(cudaMemcpy(from_gpu.data(), gpu, from_gpu.size(), cudaMemcpyDeviceToHost),
              cudaSuccess);
    EXPECT_TRUE(from_gpu == on_host);
    cudaFree(gpu);
}

// The error of one call must not come back in the next.
TEST_F(CudaPluginOnGpu, WorksOnAfterItRanOutOfMemory) {
    Image image = image_before();
    const auto places = places_in(image.data());
    // 16 TiB, of which nothing is read: the memory for the copy is asked for first.
    const Answer refused = run(quantize_tensors(1 << 21, 1 << 21), places);
    EXPECT_EQ(refused.status, MX_OUT_OF_MEMORY) << refused.sentence;
    EXPECT_TRUE(image == image_before());
    const Answer answer = run(quantize_tensors(2, 32), places);
    EXPECT_EQ(answer.status, MX_OK) << answer.sentence;
    expect_quantized(image);
}

}  // namespace
