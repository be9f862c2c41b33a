// What the device answers to calls it cannot serve: a status and a sentence, never a crash.
#include <gtest/gtest.h>

#include <limits>

#include "device/cpu/cpu_device.hpp"
#include "device/cpu/test/fixture.hpp"

namespace mx::cpu::test {
namespace {

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

// A good call, which each test spoils in one place.
struct Call {
    mx_operation operation = operation_of("quantize", "mxfp8-e4m3", "ocp", "row");
    Tensor values{"f32", 2, 40};
    Tensor codes{"e4m3", 2, 40};
    Tensor scales{"e8m0", 2, 2};
    std::vector<mx_tensor> inputs{values.view()};
    std::vector<mx_tensor> outputs{codes.view(), scales.view()};

    Call() {
        values.fill([] { return 0u; });
    }
    Call(const Call&) = delete;  // the views point into the tensors
    Call& operator=(const Call&) = delete;
    Outcome answer() const { return run(operation, inputs, outputs); }
};

void expect_refused(const Call& call, mx_status status, std::string_view word) {
    const Outcome outcome = call.answer();
    EXPECT_EQ(outcome.status, status) << outcome.reason;
    EXPECT_NE(outcome.reason.find(word), std::string::npos) << outcome.reason;
}

TEST(Plugin, ServesTheGoodCall) {
    EXPECT_EQ(Call().answer().status, MX_OK);
}

TEST(Plugin, UnknownNamesAreNotSupported) {
    struct Case {
        const char* mx_operation::*member;
        const char* value;
    };
    for (const Case& bad : {Case{&mx_operation::name, "swizzle"},
                            {&mx_operation::name, nullptr},
                            {&mx_operation::format, "nvfp4"},
                            {&mx_operation::format, nullptr},
                            {&mx_operation::dialect, "OCP"},
                            {&mx_operation::dialect, nullptr},
                            {&mx_operation::axis, "diagonal"},
                            {&mx_operation::axis, nullptr}}) {
        Call call;
        call.operation.*bad.member = bad.value;
        expect_refused(call, MX_NOT_SUPPORTED, bad.value == nullptr ? "NULL" : bad.value);
    }
}

TEST(Plugin, BothAxesHaveFourOutputsAndSayWhichIsWrong) {
    Call call;
    call.operation.axis = "both";
    expect_refused(call, MX_INVALID, "4");
    Tensor column_codes("e4m3", call.values.rows, call.values.columns);
    Tensor column_scales("e8m0", (call.values.rows + 31) / 32, call.values.columns);
    call.outputs.push_back(column_codes.view());
    call.outputs.push_back(column_scales.view());
    EXPECT_EQ(call.answer().status, MX_OK) << call.answer().reason;
    call.outputs[3].columns += 1;
    expect_refused(call, MX_INVALID, "the scales: 1 x 41 where 1 x 40 belongs");
    call.outputs[3].columns -= 1;
    call.outputs[2].layout = "inline";
    EXPECT_EQ(call.answer().status, MX_INVALID);
    call.operation.name = "dequantize";
    expect_refused(call, MX_NOT_SUPPORTED, "no axis \"both\"");
}

struct Spoiled {
    std::function<void(Call&)> spoil;
    std::string_view word;
};

void expect_refused(const Spoiled& spoiled, mx_status status) {
    Call call;
    spoiled.spoil(call);
    expect_refused(call, status, spoiled.word);
}

TEST(Plugin, ForeignTensorsAreNotSupported) {
    const Spoiled cases[] = {
        {[](Call& call) { call.inputs[0].place = "cuda"; }, "cuda"},
        {[](Call& call) { call.inputs[0].place = nullptr; }, "NULL"},
        {[](Call& call) { call.outputs[0].layout = "tiled"; }, "tiled"},
        {[](Call& call) { call.inputs[0].type = "f64"; }, "f64"},
        {[](Call& call) { call.inputs[0].type = nullptr; }, "NULL"},
    };
    for (const Spoiled& spoiled : cases) expect_refused(spoiled, MX_NOT_SUPPORTED);
}

TEST(Plugin, ContradictionsAreInvalid) {
    const Spoiled cases[] = {
        {[](Call& call) { call.outputs[1].columns = 1; }, "the scales: 2 x 1 where 2 x 2"},
        {[](Call& call) { call.outputs[0].rows = 3; }, "the codes: 3 x 40 where 2 x 40"},
        {[](Call& call) { call.outputs[0].type = "e5m2"; }, "e5m2"},
        {[](Call& call) { call.outputs[1].type = "f32"; }, "f32"},
        {[](Call& call) { call.outputs.pop_back(); }, "has no output 1, the scales"},
        {[](Call& call) { call.inputs[0].rows = -1; }, "negative"},
        {[](Call& call) { call.inputs[0].data = nullptr; }, "no data"},
        {[](Call& call) { call.inputs[0].struct_size = 8; }, "struct_size"},
        {[](Call& call) { call.operation.struct_size = 8; }, "struct_size"},
        {[](Call& call) { call.inputs[0].row_stride = huge; }, "address space"},
        {[](Call& call) { call.inputs[0].row_stride = huge / 4; }, "address space"},
        {[](Call& call) { call.outputs[0].column_stride = -huge; }, "address space"},
    };
    for (const Spoiled& spoiled : cases) expect_refused(spoiled, MX_INVALID);
}

TEST(Plugin, ConvertChecksRoundingAndOverflow) {
    Call call;
    call.operation = {};
    call.operation.struct_size = sizeof call.operation;
    call.operation.name = "convert";
    call.operation.format = "e4m3";
    call.operation.rounding = "stochastic";
    call.operation.overflow = "saturate";
    call.outputs.pop_back();
    expect_refused(call, MX_NOT_SUPPORTED, "stochastic");
    call.operation.rounding = "nearest_even";
    call.operation.overflow = "wrap";
    expect_refused(call, MX_NOT_SUPPORTED, "wrap");
    call.operation.overflow = "saturate";
    EXPECT_EQ(call.answer().status, MX_OK);
}

TEST(Plugin, SupportsNeedsNoData) {
    Call call;
    call.inputs[0].data = nullptr;
    for (mx_tensor& output : call.outputs) output.data = nullptr;
    const mx_device_api* api = mx_cpu_device_api();
    EXPECT_EQ(api->supports(cpu_device(), &call.operation, call.inputs.data(), 1,
                            call.outputs.data(), 2, nullptr),
              MX_OK);
    EXPECT_EQ(api->supports(cpu_device(), nullptr, nullptr, 0, nullptr, 0, nullptr), MX_INVALID);
    EXPECT_EQ(api->supports(cpu_device(), &call.operation, nullptr, 1, nullptr, 2, nullptr),
              MX_INVALID);
}

// Members added behind those of today: tensors are farther apart, and still found.
TEST(Plugin, LargerTensorsOfANewerHost) {
    struct Larger {
        mx_tensor tensor;
        std::int64_t added[3];
    };
    Call call;
    Larger outputs[2] = {{call.outputs[0], {-1, -1, -1}}, {call.outputs[1], {-1, -1, -1}}};
    for (Larger& output : outputs) output.tensor.struct_size = sizeof(Larger);
    EXPECT_EQ(mx_cpu_device_api()->run(cpu_device(), &call.operation, call.inputs.data(), 1,
                                       &outputs[0].tensor, 2, nullptr),
              MX_OK);
    EXPECT_EQ(call.scales.bits(1, 1), 0u);
}

TEST(Plugin, MessagesAreCutNotOverrun) {
    Call call;
    call.operation.name = "an operation with a long name";
    char text[9] = "????????";
    mx_message message{sizeof(mx_message), text, 5};
    mx_cpu_device_api()->run(cpu_device(), &call.operation, call.inputs.data(), 1,
                             call.outputs.data(), 2, &message);
    EXPECT_STREQ(text, "no o");
    EXPECT_EQ(text[5], '?');
}

TEST(Plugin, OpensDescribesAndCloses) {
    const mx_device_api* api = mx_cpu_device_api();
    EXPECT_EQ(api->struct_size, sizeof(mx_device_api));
    EXPECT_EQ(api->abi_version, MX_DEVICE_ABI_VERSION);
    void* device = nullptr;
    ASSERT_EQ(api->open(&device, nullptr), MX_OK);
    EXPECT_EQ(api->open(nullptr, nullptr), MX_INVALID);
    for (const std::string_view target : cpu_targets()) {
        ASSERT_TRUE(set_cpu_target(target));
        const mx_fact* facts = nullptr;
        const std::size_t count = api->describe(device, &facts);
        std::string isa;
        for (std::size_t i = 0; i < count; ++i)
            if (std::string_view(facts[i].key) == "isa") isa = facts[i].value;
        EXPECT_EQ(isa, target);
    }
    EXPECT_FALSE(set_cpu_target("AVX1024"));
    EXPECT_TRUE(set_cpu_target("best"));
    api->close(device);
}

}  // namespace
}  // namespace mx::cpu::test
