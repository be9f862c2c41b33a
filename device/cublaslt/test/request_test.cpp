// What is refused before cuBLASLt is asked, and in which words.
#include "device/cublaslt/request.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "device/cublaslt/test/calls.hpp"

namespace mx::cublaslt::test {
namespace {

using Spoil = std::function<void(GemmCall&)>;

struct Refused {
    const char* what;
    Asked asked;
    Spoil spoil;
    mx_status status;
    const char* sentence;
};

Refusal refusal_of(const Call& call, Buffers buffers) {
    return refusal_by([&] { problem_of(call, buffers); });
}

void expect_refused(const Refused& refused, Buffers buffers = Buffers::absent) {
    GemmCall made = call_of(refused.asked);
    if (refused.spoil) refused.spoil(made);
    const Refusal answer = refusal_of(made.call(), buffers);
    EXPECT_EQ(answer.status, refused.status) << refused.what << ": " << answer.reason;
    EXPECT_NE(answer.reason.find(refused.sentence), std::string::npos)
        << refused.what << ": " << answer.reason;
}

TEST(CublasLtRequest, AcceptsWhatItShould) {
    for (const Asked& asked : {
             Asked{},
             Asked{.batches = 3, .epilogue = "bias-gelu", .beta = one},
             Asked{.k = 384, .scaling_a = "1x128", .scaling_b = "128x128"},
             Asked{
                 .type_d = "e4m3", .scaling_a = "1x32", .scaling_b = "1x32", .scaling_out = "1x32"},
             Asked{.type_a = "e2m1", .type_b = "e2m1", .scaling_a = "1x16", .scaling_b = "1x16"},
             Asked{.type_a = "e2m1",
             .type_b = "e2m1",
             .type_c = "bf16",
             .type_d = "e2m1",
             .scaling_a = "1x16",
             .scaling_b = "1x16",
             .scaling_out = "1x16",
             .beta = one},
             Asked{.k = 3,
             .type_a = "bf16",
             .type_b = "bf16",
             .scaling_a = nullptr,
             .scaling_b = nullptr},
             Asked{.m = 0},
             Asked{.padding = 16},
         }) {
        GemmCall made = call_of(asked);
        EXPECT_EQ(refusal_of(made.call(), Buffers::absent).reason, "not refused");
    }
}

TEST(CublasLtRequest, RefusesNames) {
    const Refused all[] = {
        {"an operation",
         {},
         [](GemmCall& call) { call.operation.name = "quantize"; },
         MX_NOT_SUPPORTED,
         "no operation \"quantize\""},
        {"a scaling of A",
         {},
         [](GemmCall& call) { call.gemm.scaling_a = "1x64"; },
         MX_NOT_SUPPORTED,
         "scaling \"1x64\" of A"},
        {"a scaling of D",
         {},
         [](GemmCall& call) { call.gemm.scaling_out = "row"; },
         MX_NOT_SUPPORTED,
         "scaling \"row\" of D; this device knows tensor, 1x32 and 1x16"},
        {"an epilogue",
         {},
         [](GemmCall& call) { call.gemm.epilogue = "swish"; },
         MX_NOT_SUPPORTED,
         "epilogue \"swish\""},
        {"a dialect of D's blocks",
         {.type_d = "e4m3", .scaling_a = "1x32", .scaling_b = "1x32", .scaling_out = "1x32"},
         [](GemmCall& call) { call.operation.dialect = "ocp"; },
         MX_NOT_SUPPORTED,
         "dialect \"ocp\" of D's blocks; cuBLASLt has a rule of its own"},
        {"a dialect of D's NVFP4 blocks",
         {.type_d = "e2m1", .scaling_out = "1x16"},
         [](GemmCall& call) { call.operation.dialect = "cublaslt"; },
         MX_NOT_SUPPORTED,
         "cuBLASLt has a rule of its own, dialect \"cublaslt-nvfp4\""},
        {"rows of half a byte",
         {.n = 33, .type_d = "e2m1", .scaling_out = "1x16"},
         [](GemmCall&) {},
         MX_NOT_SUPPORTED,
         "D has rows of 33 elements of e2m1"},
        {"an accumulation",
         {},
         [](GemmCall& call) { call.gemm.accumulation = "slow"; },
         MX_NOT_SUPPORTED,
         "accumulation \"slow\""},
        {"a type",
         {},
         [](GemmCall& call) { call.inputs[0].type = "e3m2"; },
         MX_NOT_SUPPORTED,
         "A is of type \"e3m2\""},
        {"a type of scales",
         {},
         [](GemmCall& call) { call.inputs[1].type = "e8m0"; },
         MX_INVALID,
         "the scales of A: type \"e8m0\" where f32 belongs"},
        {"a place",
         {},
         [](GemmCall& call) { call.inputs[2].place = "moon"; },
         MX_NOT_SUPPORTED,
         "input 2 lies in \"moon\""},
        {"a layout",
         {},
         [](GemmCall& call) { call.inputs[0].layout = "inline"; },
         MX_NOT_SUPPORTED,
         "input 0 has layout \"inline\""},
        {"FP4 a byte each",
         {.type_a = "e2m1"},
         [](GemmCall& call) { call.inputs[0].layout = "strided"; },
         MX_NOT_SUPPORTED,
         "type e2m1 in layout \"packed-low\", and A has \"strided\""},
    };
    for (const Refused& refused : all) expect_refused(refused);
}

TEST(CublasLtRequest, RefusesShapes) {
    const Refused all[] = {
        {"K of B",
         {},
         [](GemmCall& call) { call.inputs[2].columns = 48; },
         MX_INVALID,
         "A is 16 x 64 and B is 32 x 48: their columns, K, differ"},
        {"rows in no batches",
         {},
         [](GemmCall& call) { call.gemm.batches = 5; },
         MX_INVALID,
         "their rows do not divide into 5 batches"},
        {"no batches", {}, [](GemmCall& call) { call.gemm.batches = 0; }, MX_INVALID, "0 batches"},
        {"a shape of D",
         {},
         [](GemmCall& call) { call.outputs[0].columns = 16; },
         MX_INVALID,
         "D: 16 x 16 where 16 x 32 belongs"},
        {"a shape of C",
         {.beta = one},
         [](GemmCall& call) { call.inputs[4].rows = 8; },
         MX_INVALID,
         "C: 8 x 32 where 16 x 32 belongs"},
        {"a shape of the bias",
         {.epilogue = "bias"},
         [](GemmCall& call) { call.inputs[4].columns = 16; },
         MX_INVALID,
         "the bias: 1 x 16 where 1 x 32 belongs"},
        {"a shape of scales",
         {.scaling_b = "1x32"},
         [](GemmCall& call) { call.inputs[3].columns = 3; },
         MX_INVALID,
         "the scales of B: 32 x 3 where 32 x 2 belongs"},
        {"a tensor too few",
         {},
         [](GemmCall& call) { call.inputs.pop_back(); },
         MX_INVALID,
         "takes 4 inputs and 1 outputs, not 3 and 1"},
        {"a tensor too many",
         {},
         [](GemmCall& call) { call.gemm.scaling_b = nullptr; },
         MX_INVALID,
         "takes 3 inputs and 1 outputs, not 4 and 1"},
        {"nothing to add", {.k = 0}, nullptr, MX_NOT_SUPPORTED, "K is 0"},
    };
    for (const Refused& refused : all) expect_refused(refused);
}

TEST(CublasLtRequest, RefusesMemoryThatCublasLtCannotRead) {
    const Refused all[] = {
        {"a short K",
         {.k = 24},
         nullptr,
         MX_NOT_SUPPORTED,
         "K = 24 elements of e4m3 are no multiple of 16 bytes"},
        {"a row stride",
         {.padding = 8},
         nullptr,
         MX_NOT_SUPPORTED,
         "the row stride of A, 72 elements of e4m3"},
        {"a column stride",
         {},
         [](GemmCall& call) { call.inputs[0].column_stride = 2; },
         MX_NOT_SUPPORTED,
         "the elements of a row of A lie 2 apart"},
        {"rows that overlap",
         {},
         [](GemmCall& call) { call.outputs[0].row_stride = 0; },
         MX_NOT_SUPPORTED,
         "the rows of D overlap: 32 elements every 0"},
        {"a stride backwards",
         {},
         [](GemmCall& call) { call.inputs[0].row_stride = -64; },
         MX_INVALID,
         "runs backwards"},
        {"scales row-major",
         {.k = 384, .scaling_a = "1x128"},
         [](GemmCall& call) {
             call.inputs[1].row_stride = 3;
             call.inputs[1].column_stride = 1;
         },
         MX_NOT_SUPPORTED,
         "16 x 3 scales of scaling \"1x128\" with a row stride of 1 and a column stride of 16,"
         " not 3 and 1"},
        {"scales of blocks",
         {.m = 256, .k = 384, .scaling_a = "128x128"},
         [](GemmCall& call) { call.inputs[1].row_stride = 3; },
         MX_NOT_SUPPORTED,
         "with a row stride of 4 and a column stride of 1, not 3 and 1"},
        {"MX scales in rows",
         {.scaling_a = "1x32"},
         [](GemmCall& call) { call.inputs[1].layout = "strided"; },
         MX_NOT_SUPPORTED,
         "reads scaling \"1x32\" in layout \"128x4\", not \"strided\""},
        {"batches of blocks",
         {.m = 64, .batches = 2, .scaling_a = "1x32"},
         nullptr,
         MX_NOT_SUPPORTED,
         "several batches of 64 rows"},
        {"batches of vectors",
         {.k = 256, .batches = 2, .scaling_a = "1x128"},
         nullptr,
         MX_NOT_SUPPORTED,
         "the scales of a batch do not lie together"},
    };
    for (const Refused& refused : all) expect_refused(refused);
}

TEST(CublasLtRequest, RefusesAddressesOnlyWhereThereAreAny) {
    alignas(16) static std::uint8_t bytes[64];
    const auto on_gpu = [](std::size_t index, std::size_t shift) {
        return [=](GemmCall& call) {
            for (auto* tensors : {&call.inputs, &call.outputs})
                for (mx_tensor& each : *tensors) {
                    each.data = bytes;
                    each.place = "cuda";
                }
            call.inputs[index].data = bytes + shift;
        };
    };
    expect_refused(
        {"A off by 8", {}, on_gpu(0, 8), MX_NOT_SUPPORTED, "A: the address is no multiple of 16"},
        Buffers::present);
    expect_refused(
        {"a scale off by 4", {}, on_gpu(1, 4), MX_NOT_SUPPORTED, "the scales of A: the address"},
        Buffers::present);
    expect_refused({"no data", {}, nullptr, MX_INVALID, "input 0 has no data"}, Buffers::present);
    GemmCall wide =
        call_of({.type_a = "bf16", .type_b = "bf16", .scaling_a = nullptr, .scaling_b = nullptr});
    on_gpu(0, 2)(wide);
    EXPECT_EQ(refusal_of(wide.call(), Buffers::present).reason, "not refused");
}

TEST(CublasLtRequest, RefusesStructsOfAnotherSize) {
    for (const Refused& refused : {
             Refused{"an old operation",
                     {},
                     [](GemmCall& call) { call.operation.struct_size = 64; },
                     MX_INVALID,
                     "mx_operation.struct_size"},
             Refused{"an old gemm",
                     {},
                     [](GemmCall& call) { call.gemm.struct_size = 8; },
                     MX_INVALID,
                     "mx_gemm.struct_size"},
             Refused{"an old tensor",
                     {},
                     [](GemmCall& call) { call.inputs[0].struct_size = 8; },
                     MX_INVALID,
                     "mx_tensor.struct_size of the first input"},
         })
        expect_refused(refused);
    GemmCall made = call_of({});
    Call call = made.call();
    made.operation.gemm = nullptr;
    EXPECT_EQ(refusal_of(call, Buffers::absent).status, MX_INVALID);
    call.operation = nullptr;
    EXPECT_EQ(refusal_of(call, Buffers::absent).status, MX_INVALID);
}

}  // namespace
}  // namespace mx::cublaslt::test
