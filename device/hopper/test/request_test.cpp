// What this device is asked and refuses, and what its kernels are told, without a GPU.
#include "device/hopper/request.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "device/cublaslt/test/calls.hpp"

namespace mx::hopper {
namespace {

using cublaslt::Call;
using cublaslt::test::Asked;
using cublaslt::test::call_of;
using cublaslt::test::GemmCall;
using cublaslt::test::refusal_by;

Asked mx_gemm_of(Asked asked = {}) {
    asked.scaling_a = asked.scaling_b = "1x32";
    return asked;
}

struct Refused {
    const char* sentence;
    Asked asked;
    mx_status status;
    std::function<void(GemmCall&)> spoil = {};
};

TEST(HopperRequest, SaysWhatIsWrong) {
    const Refused all[] = {
        {"scaling \"1x32\" of both, not \"tensor\" and \"tensor\"", {}, MX_NOT_SUPPORTED},
        {"epilogue \"bias\"", mx_gemm_of({.epilogue = "bias"}), MX_NOT_SUPPORTED},
        {"A is of type \"bf16\"", mx_gemm_of({.type_a = "bf16"}), MX_NOT_SUPPORTED},
        {"D is of type \"f16\"; this device gives f32 and bf16", mx_gemm_of({.type_d = "f16"}),
         MX_NOT_SUPPORTED},
        {"C is of type \"bf16\" and D of \"f32\"",
         mx_gemm_of({.type_c = "bf16", .beta = cublaslt::test::one}), MX_NOT_SUPPORTED},
        {"accumulation \"fast\"", mx_gemm_of({.accumulation = "fast"}), MX_NOT_SUPPORTED},
        {"K is 0", mx_gemm_of({.k = 0}), MX_NOT_SUPPORTED},
        {"takes 4 inputs and 1 output, not 3 and 1", mx_gemm_of(), MX_INVALID,
         [](GemmCall& call) { call.inputs.pop_back(); }},
        {"the scales of A: 16 x 3 where 16 x 2 belongs", mx_gemm_of(), MX_INVALID,
         [](GemmCall& call) { call.inputs[1].columns = 3; }},
        {"the scales of B: type \"f32\" where e8m0 belongs", mx_gemm_of(), MX_INVALID,
         [](GemmCall& call) { call.inputs[3].type = "f32"; }},
        {"their columns, K, differ", mx_gemm_of(), MX_INVALID,
         [](GemmCall& call) { call.inputs[2].columns = 32; }},
        {"the rows of A overlap", mx_gemm_of(), MX_NOT_SUPPORTED,
         [](GemmCall& call) { call.inputs[0].row_stride = 48; }},
        {"input 0 has no data", mx_gemm_of(), MX_INVALID, [](GemmCall&) {}},
        {"several batches of 16 rows", mx_gemm_of({.batches = 2}), MX_NOT_SUPPORTED},
    };
    for (const Refused& refused : all) {
        GemmCall made = call_of(refused.asked);
        if (refused.spoil) refused.spoil(made);
        const bool wants_data = std::string(refused.sentence) == "input 0 has no data";
        const Refusal refusal = refusal_by(
            [&] { request_of(made.call(), wants_data ? Buffers::present : Buffers::absent); });
        EXPECT_NE(refusal.reason.find(refused.sentence), std::string::npos)
            << refused.sentence << ": " << refusal.reason;
        EXPECT_EQ(refusal.status, refused.status) << refused.sentence;
    }
}

TEST(HopperRequest, TellsWhereEverythingLies) {
    GemmCall made = call_of(mx_gemm_of({.m = 256, .n = 128, .k = 96, .padding = 16}));
    static std::uint8_t memory[1 << 20];
    for (mx_tensor& tensor : made.inputs) tensor.data = memory;
    made.outputs[0].data = memory;
    const Request request = request_of(made.call(), Buffers::present);
    const Product& product = request.batches.front();
    EXPECT_EQ(product.a.rows, 256);
    EXPECT_EQ(product.b.rows, 128);
    EXPECT_EQ(product.depth, 96);
    EXPECT_EQ(product.a.row_stride, 112);
    EXPECT_EQ(product.d.row_stride, 144);
    EXPECT_TRUE(product.a.scales.is_tiled);
    EXPECT_EQ(product.a.scales.tiles_along, 1) << "three blocks are one tile of four";
    EXPECT_EQ(product.c.data, nullptr);
}

TEST(HopperRequest, BatchesFollowEachOther) {
    GemmCall made = call_of(
        mx_gemm_of({.m = 128, .n = 256, .k = 160, .batches = 3, .beta = cublaslt::test::one}));
    static std::uint8_t memory[1 << 20];
    for (mx_tensor& tensor : made.inputs) tensor.data = memory;
    made.outputs[0].data = memory;
    const Request request = request_of(made.call(), Buffers::present);
    const auto& batches = request.batches;
    ASSERT_EQ(batches.size(), 3u);
    EXPECT_EQ(batches[2].a.codes - memory, 2 * 128 * 160);
    EXPECT_EQ(batches[2].b.codes - memory, 2 * 256 * 160);
    // Five blocks of a row take two tiles of 512 bytes for 128 rows.
    EXPECT_EQ(batches[2].a.scales.data - memory, 2 * 1024);
    EXPECT_EQ(batches[2].b.scales.data - memory, 2 * 2 * 1024);
    EXPECT_EQ(static_cast<std::uint8_t*>(batches[2].d.data) - memory, 2 * 128 * 256 * 4);
    EXPECT_EQ(static_cast<std::uint8_t*>(batches[2].c.data) - memory, 2 * 128 * 256 * 4);
}

}  // namespace
}  // namespace mx::hopper
