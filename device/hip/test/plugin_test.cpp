// The plug-in through its one exported function, on any machine: what it serves, what it refuses
// and why, and that without a GPU it does not open and says so.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "device/abi/block_operation.hpp"
#include "device/abi/mx_device.h"
#include "device/abi/test/plugin_table.hpp"

namespace {

const mx_device_api* table_of(std::uint32_t version) {
    return mx::plugin_table(MX_HIP_PLUGIN, version);
}

struct Answer {
    mx_status status;
    std::string sentence;
};

mx_tensor tensor(const char* type, std::int64_t rows, std::int64_t columns) {
    return {sizeof(mx_tensor), nullptr, type, "host", "strided", rows, columns, columns, 1};
}

// Quantize of 3 rows of 64 elements.
struct Call {
    mx_operation asked = mx::block_operation("quantize", "mxfp8-e4m3", "ocp", "row");
    std::vector<mx_tensor> inputs{tensor("f32", 3, 64)};
    std::vector<mx_tensor> outputs{tensor("e4m3", 3, 64), tensor("e8m0", 3, 2)};

    void be_nvfp4() {
        asked.format = "nvfp4";
        asked.dialect = "te-nvfp4";
        asked.block_size = 16;
        asked.tensor_scale = "derived";
        outputs = {tensor("e2m1", 3, 64), tensor("ue4m3", 3, 4), tensor("f32", 1, 1)};
    }
    void lie_in(const char* place) {
        for (auto* tensors : {&inputs, &outputs})
            for (mx_tensor& each : *tensors) each.place = place;
    }
    Answer answer() const {
        std::array<char, 400> text{};
        mx_message message{sizeof(mx_message), text.data(), text.size()};
        const mx_status status = table_of(MX_DEVICE_ABI_VERSION)
                                     ->supports(nullptr, &asked, inputs.data(), inputs.size(),
                                                outputs.data(), outputs.size(), &message);
        return {status, text.data()};
    }
};

TEST(HipPlugin, ServesItsAbiVersionOnly) {
    ASSERT_NE(table_of(MX_DEVICE_ABI_VERSION), nullptr);
    EXPECT_EQ(table_of(MX_DEVICE_ABI_VERSION + 1), nullptr);
}

TEST(HipPlugin, ServesTensorsOnTheHostAndInItsOwnMemory) {
    for (const char* place : {"host", "hip"}) {
        Call mx, nvfp4;
        mx.lie_in(place);
        EXPECT_EQ(mx.answer().sentence, "") << place;
        nvfp4.be_nvfp4();
        nvfp4.lie_in(place);
        EXPECT_EQ(nvfp4.answer().sentence, "") << place;
    }
}

TEST(HipPlugin, RefusesWithAReason) {
    struct Refused {
        void (*spoil)(Call&);
        mx_status status;
        const char* sentence;
    };
    const Refused all[] = {
        {[](Call& call) { call.lie_in("cuda"); }, MX_NOT_SUPPORTED,
         "lies in \"cuda\", and this device takes \"host\" and \"hip\""},
        {[](Call& call) { call.asked.dialect = "gfloat"; }, MX_NOT_SUPPORTED,
         "no dialect \"gfloat\""},
        {[](Call& call) { call.outputs[1].columns = 3; }, MX_INVALID, "3 x 3 where 3 x 2 belongs"},
        {[](Call& call) {
             call.asked.name = "encode_scale";
             call.outputs = {tensor("e8m0", 3, 64)};
         },
         MX_NOT_SUPPORTED, "no operation \"encode_scale\""},
    };
    for (const Refused& refused : all) {
        Call call;
        refused.spoil(call);
        const Answer answer = call.answer();
        EXPECT_EQ(answer.status, refused.status) << refused.sentence;
        EXPECT_NE(answer.sentence.find(refused.sentence), std::string::npos) << answer.sentence;
    }
}

TEST(HipPlugin, OpensWithAGpuAndSaysThatThereIsNone) {
    std::array<char, 400> text{};
    mx_message message{sizeof(mx_message), text.data(), text.size()};
    void* device = nullptr;
    const mx_device_api* api = table_of(MX_DEVICE_ABI_VERSION);
    const mx_status status = api->open(&device, &message);
    if (status == MX_OK) {
        const mx_fact* facts = nullptr;
        std::string notes;
        for (std::size_t i = api->describe(device, &facts); i > 0; --i)
            if (std::string(facts[i - 1].key) == "notes") notes = facts[i - 1].value;
        EXPECT_NE(notes.find("UNVERIFIED"), std::string::npos);
        return api->close(device);
    }
    EXPECT_EQ(status, MX_NOT_SUPPORTED);
    const std::string sentence = text.data();
    EXPECT_TRUE(sentence.find("no AMD GPU can be used here") != std::string::npos ||
                sentence.find("has code for") != std::string::npos)
        << sentence;
}

}  // namespace
