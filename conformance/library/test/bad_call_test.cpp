// Calls that are wrong in one place: a status and a sentence, nothing written, and never a crash.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "conformance/library/mx_oracle.h"
#include "device/abi/block_operation.hpp"
#include "device/abi/test/good_call.hpp"

namespace mx::library {
namespace {

struct Call : GoodCall {
    mx_oracle_options options{sizeof(mx_oracle_options), nullptr, 0};
};

void make_quantize(Call& call) {
    call.operation = block_operation("quantize", "mxfp8-e4m3", "ocp", "row");
    call.inputs = {call.tensor("f32", 2, 40, 0)};
    call.outputs = {call.tensor("e4m3", 2, 40, unwritten), call.tensor("e8m0", 2, 2, unwritten)};
}

void make_nvfp4(Call& call) {
    call.operation = block_operation("quantize", "nvfp4", "te-nvfp4", "row");
    call.operation.block_size = 16;
    call.operation.tensor_scale = "given";
    call.inputs = {call.tensor("f32", 2, 32, 0), call.tensor("f32", 1, 1, 0)};
    call.outputs = {call.tensor("e2m1", 2, 32, unwritten), call.tensor("ue4m3", 2, 2, unwritten),
                    call.tensor("f32", 1, 1, unwritten)};
}

void make_dequantize(Call& call) {
    call.operation = block_operation("dequantize", "mxfp4-e2m1", "ocp", "row");
    call.inputs = {call.tensor("e2m1", 2, 32, 3), call.tensor("e8m0", 2, 1, 127)};
    call.outputs = {call.tensor("f32", 2, 32, unwritten)};
}

void make_gemm(Call& call) {
    call.operation = {};
    call.operation.struct_size = sizeof call.operation;
    call.operation.name = "gemm";
    call.gemm = {sizeof(mx_gemm), 1,       0x3F800000, 0,       "1x32", "1x32",
                 nullptr,         nullptr, nullptr,    nullptr, 0};
    call.operation.gemm = &call.gemm;
    call.inputs = {call.tensor("e4m3", 4, 64, 0x38), call.tensor("e8m0", 4, 2, 127),
                   call.tensor("e4m3", 6, 64, 0x38), call.tensor("e8m0", 6, 2, 127)};
    call.outputs = {call.tensor("f32", 4, 6, unwritten)};
}

void make_inline(Call& call) {
    make_quantize(call);
    call.inputs = {call.tensor("f32", 2, 40, 0)};
    call.outputs = {call.tensor("e4m3", 2, 66, unwritten)};
    call.outputs[0].layout = "inline";
    call.outputs[0].columns = 40;
    call.outputs[0].row_stride = 66;
    call.outputs[0].column_stride = 33;
}

using Make = void (*)(Call&);
using Spoil = std::function<void(Call&)>;

// Neither run nor compare writes, and both say why.
void expect(mx_status status, Make make, const std::string& what, const Spoil& spoil,
            const std::string& part_of_sentence = "") {
    SCOPED_TRACE(what);
    Call call;
    make(call);
    spoil(call);
    mx_message message{sizeof message, call.text.data(), call.text.size()};
    EXPECT_EQ(mx_oracle_run(call.asked, call.inputs.data(), call.inputs.size(), call.outputs.data(),
                            call.outputs.size(), &call.options, &message),
              status)
        << call.text.data();
    const std::string sentence = call.text.data();
    EXPECT_EQ(sentence.empty(), status == MX_OK);
    EXPECT_NE(sentence.find(part_of_sentence), std::string::npos) << sentence;
    if (status == MX_OK) return;
    EXPECT_TRUE(call.is_untouched());
    char* json = nullptr;
    const mx_status compared =
        mx_oracle_compare(call.asked, call.inputs.data(), call.inputs.size(), call.outputs.data(),
                          call.outputs.size(), &call.options, &json, &message);
    EXPECT_TRUE(compared == status || part_of_sentence.find("bound") != std::string::npos);
    mx_oracle_free(json);
}

TEST(BadCalls, TheGoodOnesAreGood) {
    for (const Make make : {make_quantize, make_nvfp4, make_dequantize, make_gemm, make_inline})
        expect(MX_OK, make, "good", [](Call&) {});
}

TEST(BadCalls, StructsThatAreTooShort) {
    expect(MX_INVALID, make_quantize, "operation", [](Call& c) { --c.operation.struct_size; });
    expect(MX_INVALID, make_quantize, "input", [](Call& c) { c.inputs[0].struct_size = 8; });
    expect(MX_INVALID, make_quantize, "output", [](Call& c) { c.outputs[0].struct_size = 0; });
    expect(MX_INVALID, make_quantize, "options", [](Call& c) { c.options.struct_size = 8; });
    expect(MX_INVALID, make_gemm, "gemm", [](Call& c) { c.gemm.struct_size = 8; });
}

// A program that was built before mx_gemm had groups has something else where they would be.
TEST(BadCalls, AnOlderGemmIsGood) {
    expect(MX_OK, make_gemm, "of device ABI 6", [](Call& c) {
        c.gemm.struct_size = offsetof(mx_gemm, groups);
        c.gemm.groups = 99;
    });
}

TEST(BadCalls, PointersThatAreNull) {
    expect(MX_INVALID, make_quantize, "operation", [](Call& c) { c.asked = nullptr; });
    expect(MX_INVALID, make_quantize, "no values", [](Call& c) { c.inputs[0].data = nullptr; });
    expect(MX_INVALID, make_quantize, "no scales", [](Call& c) { c.outputs[1].data = nullptr; });
    expect(MX_INVALID, make_gemm, "no gemm", [](Call& c) { c.operation.gemm = nullptr; });
    expect(MX_NOT_SUPPORTED, make_quantize, "name", [](Call& c) { c.operation.name = nullptr; });
    expect(MX_NOT_SUPPORTED, make_quantize, "axis", [](Call& c) { c.operation.axis = nullptr; });
    expect(MX_NOT_SUPPORTED, make_quantize, "type", [](Call& c) { c.inputs[0].type = nullptr; });
    expect(MX_NOT_SUPPORTED, make_quantize, "place", [](Call& c) { c.inputs[0].place = nullptr; });
    expect(MX_NOT_SUPPORTED, make_quantize, "layout",
           [](Call& c) { c.outputs[0].layout = nullptr; });
    const mx_operation asked = block_operation("quantize", "mxfp8-e4m3", "ocp", "row");
    EXPECT_EQ(mx_oracle_run(&asked, nullptr, 1, nullptr, 2, nullptr, nullptr), MX_INVALID);
    EXPECT_EQ(mx_oracle_run(&asked, nullptr, 0, nullptr, 0, nullptr, nullptr), MX_INVALID);
    EXPECT_EQ(mx_oracle_run(nullptr, nullptr, 0, nullptr, 0, nullptr, nullptr), MX_INVALID);
}

TEST(BadCalls, ShapesThatContradict) {
    expect(
        MX_INVALID, make_quantize, "rows", [](Call& c) { ++c.outputs[0].rows; },
        "the codes: 3 x 40 where 2 x 40 belongs");
    expect(MX_INVALID, make_quantize, "scales", [](Call& c) { --c.outputs[1].columns; });
    expect(MX_INVALID, make_quantize, "below 0", [](Call& c) { c.inputs[0].rows = -1; });
    expect(MX_INVALID, make_quantize, "an output less", [](Call& c) { c.outputs.pop_back(); });
    expect(MX_INVALID, make_quantize, "no output", [](Call& c) { c.outputs.clear(); });
    expect(MX_INVALID, make_dequantize, "no output", [](Call& c) { c.outputs.clear(); });
    expect(MX_INVALID, make_gemm, "no output", [](Call& c) { c.outputs.clear(); });
    expect(MX_INVALID, make_gemm, "no B", [](Call& c) { c.inputs.resize(2); });
    expect(MX_INVALID, make_gemm, "no scales of B", [](Call& c) { c.inputs.resize(3); });
    expect(MX_INVALID, make_gemm, "no C", [](Call& c) { c.gemm.beta = 0x3F800000; });
    expect(MX_INVALID, make_gemm, "K of B", [](Call& c) { c.inputs[2].columns = 32; });
    expect(MX_INVALID, make_gemm, "batches", [](Call& c) { c.gemm.batches = 0; });
    expect(MX_INVALID, make_gemm, "batches", [](Call& c) { c.gemm.batches = 3; });
    expect(MX_INVALID, make_quantize, "larger than memory",
           [](Call& c) { c.inputs[0].rows = c.inputs[0].columns = std::int64_t{1} << 40; });
    expect(MX_INVALID, make_quantize, "an input more",
           [](Call& c) { c.inputs.push_back(c.inputs[0]); });
}

TEST(BadCalls, TypesThatContradict) {
    expect(MX_INVALID, make_quantize, "codes", [](Call& c) { c.outputs[0].type = "e5m2"; });
    expect(MX_INVALID, make_quantize, "scales", [](Call& c) { c.outputs[1].type = "f32"; });
    expect(MX_NOT_SUPPORTED, make_quantize, "values", [](Call& c) { c.inputs[0].type = "f64"; });
    expect(MX_NOT_SUPPORTED, make_quantize, "values", [](Call& c) { c.inputs[0].type = "e4m3"; });
    expect(MX_NOT_SUPPORTED, make_gemm, "A", [](Call& c) { c.inputs[0].type = "f64"; });
    expect(MX_NOT_SUPPORTED, make_gemm, "D", [](Call& c) { c.outputs[0].type = "i32"; });
    expect(MX_INVALID, make_gemm, "D has a scale", [](Call& c) { c.outputs[0].type = "e4m3"; });
}

TEST(BadCalls, NamesThatNobodyKnows) {
    expect(
        MX_NOT_SUPPORTED, make_quantize, "dialect", [](Call& c) { c.operation.dialect = "opc"; },
        "unknown dialect 'opc'; did you mean 'ocp'?");
    expect(MX_NOT_SUPPORTED, make_quantize, "format",
           [](Call& c) { c.operation.format = "mxfp5"; });
    expect(MX_NOT_SUPPORTED, make_quantize, "axis", [](Call& c) { c.operation.axis = "diagonal"; });
    expect(MX_NOT_SUPPORTED, make_quantize, "place", [](Call& c) { c.inputs[0].place = "cuda"; });
    expect(MX_NOT_SUPPORTED, make_quantize, "layout", [](Call& c) { c.outputs[1].layout = "4x4"; });
    expect(MX_NOT_SUPPORTED, make_quantize, "packed codes of 8 bits",
           [](Call& c) { c.outputs[0].layout = "packed-low"; });
    expect(MX_NOT_SUPPORTED, make_quantize, "a dialect of another format",
           [](Call& c) { c.operation.dialect = "te-fp8-block"; });
    expect(MX_NOT_SUPPORTED, make_quantize, "blocks of 48",
           [](Call& c) { c.operation.block_size = 48; });
    expect(MX_INVALID, make_quantize, "no blocks", [](Call& c) { c.operation.block_size = 0; });
    expect(MX_NOT_SUPPORTED, make_gemm, "scaling", [](Call& c) { c.gemm.scaling_a = "2x2"; });
    expect(MX_NOT_SUPPORTED, make_gemm, "scaling", [](Call& c) { c.gemm.scaling_a = ""; });
    expect(MX_NOT_SUPPORTED, make_gemm, "epilogue", [](Call& c) { c.gemm.epilogue = "silu"; });
    expect(MX_NOT_SUPPORTED, make_gemm, "algorithm", [](Call& c) { c.gemm.algorithm = "slow"; });
    expect(MX_NOT_SUPPORTED, make_gemm, "model", [](Call& c) { c.options.model = "hoper-fp8"; });
    expect(MX_NOT_SUPPORTED, make_gemm, "a model of other factors",
           [](Call& c) { c.options.model = "ampere-half"; });
    expect(
        MX_NOT_SUPPORTED, make_gemm, "a model of other blocks",
        [](Call& c) {
            c.options.model = "hopper-fp8-1x128";
            c.gemm.scaling_a = "1x128";
            c.gemm.scaling_b = "128x128";
        },
        "has scales of each row on both sides, and A has one for 1x128, B one for 128x128");
    expect(
        MX_NOT_SUPPORTED, make_gemm, "a bound", [](Call& c) { c.options.model = "bounded"; },
        "is a bound");
}

TEST(BadCalls, NumbersOfTensors) {
    expect(MX_INVALID, make_nvfp4, "none", [](Call& c) { c.operation.tensor_scale = nullptr; });
    expect(MX_NOT_SUPPORTED, make_nvfp4, "unknown",
           [](Call& c) { c.operation.tensor_scale = "guessed"; });
    expect(
        MX_INVALID, make_nvfp4, "negative",
        [](Call& c) {
            c.bytes[1] = {0, 0, 128, 0xBF};
            c.inputs[1].data = c.bytes[1].data();
        },
        "negative");
    expect(MX_INVALID, make_quantize, "of a format without",
           [](Call& c) { c.operation.tensor_scale = "derived"; });
}

TEST(BadCalls, CodesThatAreNone) {
    expect(
        MX_INVALID, make_dequantize, "a code of e2m1", [](Call& c) { c.bytes[0][33] = 0x13; },
        "the codes: byte 19 at row 1, column 1 is no code of type e2m1");
}

TEST(BadCalls, InlineBlocksThatDoNotFit) {
    expect(MX_INVALID, make_inline, "block", [](Call& c) { c.outputs[0].column_stride = 17; });
    expect(MX_INVALID, make_inline, "row", [](Call& c) { c.outputs[0].row_stride = 33; });
    expect(MX_INVALID, make_inline, "no blocks", [](Call& c) { c.operation.block_size = 0; });
    expect(MX_INVALID, make_inline, "blocks of -1", [](Call& c) { c.operation.block_size = -1; });
}

// Copies are made once the call is known to be good.
TEST(BadCalls, MoreThanAnyMemory) {
    constexpr std::int64_t many = std::int64_t{1} << 30;
    Call call;
    make_dequantize(call);
    call.inputs[0].layout = "packed-low";
    call.inputs[0].rows = call.inputs[0].columns = many;
    call.inputs[0].row_stride = call.inputs[0].column_stride = 0;
    const auto run = [&call] {
        return mx_oracle_run(&call.operation, call.inputs.data(), 2, call.outputs.data(), 1,
                             nullptr, nullptr);
    };
    EXPECT_EQ(run(), MX_INVALID);
    call.inputs[1].rows = call.outputs[0].rows = many;
    call.outputs[0].columns = call.outputs[0].row_stride = many;
    call.inputs[1].columns = call.inputs[1].row_stride = many / 32;
#if !defined(__SANITIZE_ADDRESS__)  // which ends a program that asks for 2^60 bytes
    EXPECT_EQ(run(), MX_OUT_OF_MEMORY);
#endif
}

// Any number anywhere, asked without data: an answer, and no undefined behaviour on the way to it.
TEST(BadCalls, WildNumbers) {
    constexpr std::int64_t wild[] = {
        INT64_MIN, -1, 0, 1, 17, 33, 65536, std::int64_t{1} << 31, std::int64_t{1} << 62,
        INT64_MAX};
    constexpr std::int64_t mx_tensor::*members[] = {
        &mx_tensor::rows, &mx_tensor::columns, &mx_tensor::row_stride, &mx_tensor::column_stride};
    for (const Make make : {make_quantize, make_nvfp4, make_dequantize, make_gemm, make_inline}) {
        Call call;
        make(call);
        std::vector<std::int64_t*> numbers{&call.operation.block_size, &call.gemm.batches};
        for (auto* tensors : {&call.inputs, &call.outputs})
            for (mx_tensor& tensor : *tensors)
                for (const auto member : members) numbers.push_back(&(tensor.*member));
        for (std::int64_t* first : numbers)
            for (std::int64_t* second : numbers)
                for (const std::int64_t number : wild) {
                    const std::int64_t kept[] = {*first, *second};
                    *first = *second = number;
                    const mx_status status = mx_oracle_supports(
                        &call.operation, call.inputs.data(), call.inputs.size(),
                        call.outputs.data(), call.outputs.size(), nullptr, nullptr);
                    EXPECT_TRUE(status == MX_OK || status == MX_INVALID ||
                                status == MX_NOT_SUPPORTED);
                    *second = kept[1];
                    *first = kept[0];
                }
    }
}

TEST(BadCalls, EmptyTensorsAreNone) {
    Call call;
    make_quantize(call);
    call.inputs[0].rows = call.outputs[0].rows = call.outputs[1].rows = 0;
    call.inputs[0].data = call.outputs[0].data = call.outputs[1].data = nullptr;
    EXPECT_EQ(mx_oracle_run(&call.operation, call.inputs.data(), 1, call.outputs.data(), 2, nullptr,
                            nullptr),
              MX_OK);
    Call product;
    make_gemm(product);
    for (mx_tensor& tensor : product.inputs) tensor.columns = 0;
    EXPECT_EQ(mx_oracle_run(&product.operation, product.inputs.data(), 4, product.outputs.data(), 1,
                            nullptr, nullptr),
              MX_OK);
    EXPECT_EQ(product.bytes[4], std::vector<std::uint8_t>(96, 0));
}

TEST(BadCalls, OfTheOtherFunctions) {
    std::array<char, 12> text{};
    mx_message message{sizeof message, text.data(), text.size()};
    char* stored = nullptr;
    mx_tensor blocks{};
    blocks.struct_size = sizeof blocks;
    EXPECT_EQ(mx_oracle_list("formats", nullptr, &message), MX_INVALID);
    EXPECT_STREQ(text.data(), "there is no");  // cut to its room
    EXPECT_EQ(mx_oracle_list(nullptr, &stored, nullptr), MX_NOT_SUPPORTED);
    EXPECT_EQ(mx_oracle_list("devices", &stored, nullptr), MX_NOT_SUPPORTED);
    EXPECT_EQ(mx_oracle_explain(nullptr, &stored, nullptr), MX_INVALID);
    mx_oracle_block block{sizeof block, "mxfp8-e4m3", "ocp", "f32", "2.8"};
    EXPECT_EQ(mx_oracle_explain(&block, nullptr, nullptr), MX_INVALID);
    --block.struct_size;
    EXPECT_EQ(mx_oracle_explain(&block, &stored, nullptr), MX_INVALID);
    block = {sizeof block, "mxfp8-e4m3", "ocp", "f32", nullptr};
    EXPECT_EQ(mx_oracle_explain(&block, &stored, nullptr), MX_INVALID);
    for (const char* values : {"", "2.8,,", "two", "bits:0xfffffffff"}) {
        block.values = values;
        EXPECT_EQ(mx_oracle_explain(&block, &stored, nullptr), MX_NOT_SUPPORTED) << values;
    }
    block = {sizeof block, "mxfp8-e4m3", "fbgemm-nearest", "f32", "1"};
    EXPECT_EQ(mx_oracle_explain(&block, &stored, nullptr), MX_NOT_SUPPORTED);
    EXPECT_EQ(mx_oracle_edge_cases(nullptr, "ocp", "f32", nullptr, &blocks, nullptr), MX_INVALID);
    EXPECT_EQ(mx_oracle_edge_cases("mxfp8-e4m3", "ocp", "f32", nullptr, nullptr, nullptr),
              MX_INVALID);
    for (const char* type : {"f64", "e4m3", ""})
        EXPECT_EQ(mx_oracle_edge_cases("mxfp8-e4m3", "ocp", type, nullptr, &blocks, nullptr),
                  MX_NOT_SUPPORTED);
    EXPECT_EQ(mx_oracle_edge_cases("mxfp8-e4m3", "ocp", "f32", "all.bits", &blocks, nullptr),
              MX_NOT_SUPPORTED);
    blocks.struct_size = 0;
    EXPECT_EQ(mx_oracle_edge_cases("mxfp8-e4m3", "ocp", "f32", nullptr, &blocks, nullptr),
              MX_INVALID);
    EXPECT_EQ(stored, nullptr);
    EXPECT_EQ(blocks.data, nullptr);
    mx_oracle_free(nullptr);
}

TEST(BadCalls, GeluWithoutAModelHasNoBits) {
    for (const char* epilogue : {"gelu", "bias-gelu"})
        expect(
            MX_NOT_SUPPORTED, make_gemm, epilogue, [&](Call& c) { c.gemm.epilogue = epilogue; },
            "");
}

TEST(BadCalls, ExactSumsAreNoModelToCompareWith) {
    Call call;
    make_gemm(call);
    call.options.model = "exact";
    std::array<char, 400> text{};
    mx_message message{sizeof message, text.data(), text.size()};
    char* json = nullptr;
    EXPECT_EQ(
        mx_oracle_compare(call.asked, call.inputs.data(), call.inputs.size(), call.outputs.data(),
                          call.outputs.size(), &call.options, &json, &message),
        MX_NOT_SUPPORTED);
    EXPECT_NE(std::string(text.data()).find("every order of summation"), std::string::npos);
}

// A program built with a later header has members that this library lacks: 0 asks for nothing.
TEST(BadCalls, MembersThatThisLibraryLacksMustBeZero) {
    struct Later {
        mx_oracle_block block;
        const char* added;
    } later{{sizeof(Later), "mxfp8-e4m3", "ocp", "f32", "1"}, nullptr};
    char* stored = nullptr;
    EXPECT_EQ(mx_oracle_explain(&later.block, &stored, nullptr), MX_OK);
    mx_oracle_free(stored);
    stored = nullptr;
    later.added = "something";
    EXPECT_EQ(mx_oracle_explain(&later.block, &stored, nullptr), MX_NOT_SUPPORTED);
    EXPECT_EQ(stored, nullptr);
}

}  // namespace
}  // namespace mx::library
