// Blocks whose scale has a mantissa, with numbers worked out by hand: what a call takes and
// refuses, layouts, axes, and the steps that a tensor shows. Every row is held against the oracle
// in fuzz/properties.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "device/cpu/rotation.hpp"
#include "device/cpu/test/fixture.hpp"

namespace mx::cpu::test {
namespace {

mx_operation operation_like(const char* format, const char* dialect, const char* tensor_scale) {
    mx_operation operation = operation_of("quantize", format, dialect, "row");
    operation.block_size = 16;
    operation.tensor_scale = tensor_scale;
    return operation;
}

Tensor one(const char* type, std::uint32_t bits) {
    Tensor tensor(type, 1, 1);
    tensor.set_bits(0, 0, bits);
    return tensor;
}

Tensor row_of(std::initializer_list<float> numbers) {
    Tensor tensor("f32", 1, static_cast<std::int64_t>(numbers.size()));
    std::int64_t column = 0;
    for (const float number : numbers) tensor.set_bits(0, column++, bits_of(number));
    return tensor;
}

std::vector<unsigned> codes_of(Tensor& tensor) {
    std::vector<unsigned> codes;
    for (std::int64_t r = 0; r < tensor.rows; ++r)
        for (std::int64_t c = 0; c < tensor.columns; ++c) codes.push_back(tensor.bits(r, c));
    return codes;
}

void expect_answer(const mx_operation& operation, const std::vector<mx_tensor>& inputs,
                   const std::vector<mx_tensor>& outputs) {
    const Outcome outcome = run(operation, inputs, outputs);
    EXPECT_EQ(outcome.status, MX_OK) << outcome.reason;
}

// With an amax of 2688 for the tensor S is 1; with 6 for the block its scale is 1.
TEST(RealScale, Nvfp4ByHand) {
    Tensor values = row_of({6, 0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5, -0.0f, -0.25f, -5.5f,
                            std::nanf(""), 0.26f, 1, 100, -1e-30f});
    values.set_bits(0, 14, bits_of(4));
    Tensor amax = one("f32", bits_of(2688)), kept = one("f32", 0);
    Tensor codes("e2m1", 1, 16), scales("ue4m3", 1, 1), back("f32", 1, 16);
    mx_operation operation = operation_like("nvfp4", "te-nvfp4", "given");
    expect_answer(operation, {values.view(), amax.view()},
                  {codes.view(), scales.view(), kept.view()});
    EXPECT_EQ(codes_of(codes),
              (std::vector<unsigned>{7, 0, 2, 2, 4, 4, 6, 6, 8, 8, 15, 7, 1, 2, 6, 8}));
    EXPECT_EQ(scales.bits(0, 0), 0x38u);
    EXPECT_EQ(float_of(kept.bits(0, 0)), 2688);
    operation.name = "dequantize";
    expect_answer(operation, {codes.view(), scales.view(), kept.view()}, {back.view()});
    EXPECT_EQ(float_of(back.bits(0, 0)), 6);
    EXPECT_EQ(float_of(back.bits(0, 10)), -6);
    EXPECT_EQ(back.bits(0, 8), 0x80000000u);
}

TEST(RealScale, TheDeviceFindsTheAmax) {
    Tensor values("bf16", 2, 21);
    values.fill([] { return 0x3F80u; });
    values.set_bits(1, 20, 0xC528);  // -2688
    values.set_bits(0, 3, 0x7FC0);   // NaN
    for (const char* axis : {"row", "col"}) {
        const bool is_row = axis[0] == 'r';
        Tensor codes("e2m1", 2, 21), kept("f32", 1, 1);
        Tensor scales("ue4m3", is_row ? 2 : 1, is_row ? 2 : 21);
        mx_operation operation = operation_like("nvfp4", "te-nvfp4", "derived");
        operation.axis = axis;
        expect_answer(operation, {values.view()}, {codes.view(), scales.view(), kept.view()});
        EXPECT_EQ(float_of(kept.bits(0, 0)), 2688) << axis;
        EXPECT_EQ(codes.bits(1, 20), 15u) << axis;
    }
}

TEST(RealScale, Fp8OfATensor) {
    Tensor values = row_of({1, -0.5f, 0.25f});
    Tensor codes("e4m3", 1, 3), scales("f32", 1, 1), kept("f32", 1, 1);
    mx_operation operation = operation_like("fp8-e4m3-tensor", "te-fp8-current", nullptr);
    operation.axis = "tensor";
    operation.block_size = 0;
    expect_answer(operation, {values.view()}, {codes.view(), scales.view()});
    EXPECT_EQ(codes_of(codes), (std::vector<unsigned>{0x7E, 0xF6, 0x6E}));
    EXPECT_EQ(float_of(scales.bits(0, 0)), 1.0f / 448);
    // A scale that earlier tensors gave.
    operation.dialect = "te-fp8-delayed";
    operation.tensor_scale = "given";
    Tensor scale = one("f32", bits_of(2));
    expect_answer(operation, {values.view(), scale.view()},
                  {codes.view(), scales.view(), kept.view()});
    EXPECT_EQ(codes_of(codes), (std::vector<unsigned>{0x40, 0xB8, 0x30}));
    EXPECT_EQ(float_of(scales.bits(0, 0)), 0.5f);
    EXPECT_EQ(float_of(kept.bits(0, 0)), 2);
    // An empty tensor has a scale, too.
    Tensor nothing("f32", 0, 3), no_codes("e4m3", 0, 3);
    operation.dialect = "te-fp8-current";
    operation.tensor_scale = nullptr;
    expect_answer(operation, {nothing.view()}, {no_codes.view(), scales.view()});
    EXPECT_EQ(float_of(scales.bits(0, 0)), 1);
}

// 1.125 lies a quarter of the way from 1 to 1.5; the upper bits of a word do not count.
TEST(RealScale, StochasticByTheLowEightBits) {
    Tensor values = row_of({6, 1.125f, 1.125f, 1.125f, 1.125f});
    Tensor amax = one("f32", bits_of(2688)), kept("f32", 1, 1), words("u32", 1, 5);
    const std::uint32_t given[] = {0, 0xFFFFFF00, 191, 192, 255};
    for (std::int64_t i = 0; i < 5; ++i) words.set_bits(0, i, given[i]);
    Tensor codes("e2m1", 1, 5), scales("ue4m3", 1, 1);
    expect_answer(operation_like("nvfp4", "te-nvfp4-sr", "given"),
                  {values.view(), amax.view(), words.view()},
                  {codes.view(), scales.view(), kept.view()});
    EXPECT_EQ(codes_of(codes), (std::vector<unsigned>{7, 2, 2, 3, 3}));
}

struct Rotated {
    std::array<float, 16> lanes{};
    explicit Rotated(std::initializer_list<std::pair<int, float>> numbers) {
        for (const auto& [lane, number] : numbers) lanes[static_cast<std::size_t>(lane)] = number;
        rotate(lanes);
    }
};

// Lanes 0, 1 and 2 keep their sign and 3 changes it.
TEST(RealScale, TheRotationIsExact) {
    const Rotated unit({{3, 4.0f}});
    for (const int to : {0, 3, 4, 7}) EXPECT_EQ(unit.lanes[static_cast<std::size_t>(to)], -1) << to;
    for (const int to : {1, 2, 5, 6}) EXPECT_EQ(unit.lanes[static_cast<std::size_t>(to)], 1) << to;
    // What is left of 2^127 - 2^127 is all there is, though a double would have lost it.
    const Rotated cancelled({{0, 0x1p127f}, {3, 0x1p127f}, {1, 0x1p-120f}, {2, 0x1p-120f}});
    EXPECT_EQ(cancelled.lanes[0], 0x1p-121f);
    // 1 + 2^-8 is half way between two values of bfloat16: the least bit more decides.
    EXPECT_EQ(Rotated({{0, 4}, {1, 0x1p-6f}}).lanes[0], 1);
    EXPECT_EQ(Rotated({{0, 4}, {1, 0x1p-6f}, {2, 0x1p-133f}}).lanes[0], 1 + 0x1p-7f);
    EXPECT_EQ(Rotated({{0, 4}, {1, 0x1p-6f}, {3, 0x1p-133f}}).lanes[0], 1);
    EXPECT_EQ(Rotated({{0, 4}, {1, 0x1.8p-5f}, {3, 0x1p-133f}}).lanes[0], 1 + 0x1p-7f);
    const float infinity = HUGE_VALF;
    EXPECT_EQ(Rotated({{0, 0x1.fep127f},
                       {1, 0x1.fep127f},
                       {2, 0x1.fep127f},
                       {4, 0x1.fep127f},
                       {3, -0x1.fep127f}})
                  .lanes[0],
              infinity);
    EXPECT_EQ(Rotated({{0, infinity}, {1, 1}}).lanes[0], infinity);
    EXPECT_TRUE(std::isnan(Rotated({{0, infinity}, {3, infinity}}).lanes[0]));
}

// Tensors of a call of te-nvfp4 that has the codes and the scales in layouts of their own.
struct LaidOutCall {
    Tensor codes, scales;
    mx_tensor codes_view, scales_view;

    LaidOutCall(const char* code_layout, const char* scale_layout)
        : codes("e2m1", 5, 80), scales("ue4m3", 128, 8) {
        codes_view = codes.view();
        scales_view = scales.view();
        scales_view.rows = 5;
        scales_view.columns = 5;
        for (mx_tensor* view : {&codes_view, &scales_view})
            view->row_stride = view->column_stride = 0;
        codes_view.layout = code_layout;
        scales_view.layout = scale_layout;
    }
};

TEST(RealScale, LayoutsHoldTheSameCodes) {
    Tensor values("f32", 5, 80);
    values.fill([next = random_bits(7)]() mutable { return next() % 0x1000000 + 0x3E000000; });
    Tensor amax = one("f32", bits_of(3)), kept("f32", 1, 1);
    Tensor codes("e2m1", 5, 80), scales("ue4m3", 5, 5), back("f32", 5, 80), again("f32", 5, 80);
    mx_operation operation = operation_like("nvfp4", "te-nvfp4", "given");
    expect_answer(operation, {values.view(), amax.view()},
                  {codes.view(), scales.view(), kept.view()});
    operation.name = "dequantize";
    expect_answer(operation, {codes.view(), scales.view(), kept.view()}, {back.view()});
    for (const char* layout : {"packed-low", "packed-high"}) {
        LaidOutCall laid(layout, "128x4");
        operation.name = "quantize";
        expect_answer(operation, {values.view(), amax.view()},
                      {laid.codes_view, laid.scales_view, kept.view()});
        const bool is_high = layout[7] == 'h';
        const unsigned low = codes.bits(0, is_high ? 1 : 0), high = codes.bits(0, is_high ? 0 : 1);
        EXPECT_EQ(laid.codes.bytes[0], low | high << 4) << layout;
        EXPECT_EQ(laid.scales.bytes[16 + 512], scales.bits(1, 4)) << layout;
        EXPECT_EQ(laid.scales.bytes[16 + 512 + 1], 0) << layout;
        operation.name = "dequantize";
        expect_answer(operation, {laid.codes_view, laid.scales_view, kept.view()}, {again.view()});
        EXPECT_EQ(again.bytes, back.bytes) << layout;
    }
    // Each block and then its scale: 8 bytes and 1.
    Tensor beside("e2m1", 5, 80);
    mx_tensor inline_view = beside.view();
    inline_view.layout = "inline";
    inline_view.column_stride = 9;
    inline_view.row_stride = 45;
    operation.name = "quantize";
    expect_answer(operation, {values.view(), amax.view()}, {inline_view, kept.view()});
    EXPECT_EQ(beside.bytes[8], scales.bits(0, 0));
    operation.name = "dequantize";
    expect_answer(operation, {inline_view, kept.view()}, {again.view()});
    EXPECT_EQ(again.bytes, back.bytes);
}

TEST(RealScale, BothAxesAreRowsAndColumns) {
    Tensor values("f32", 20, 33, 3, 2);
    values.fill([next = random_bits(9)]() mutable { return next() % 0x2000000 + 0x3E000000; });
    std::vector<Tensor> both, apart;
    for (std::vector<Tensor>* tensors : {&both, &apart})
        for (const bool is_row : {true, false}) {
            tensors->emplace_back("e2m1", 20, 33, 1, 4);
            tensors->emplace_back("ue4m3", is_row ? 20 : 2, is_row ? 3 : 33);
            tensors->emplace_back("f32", 1, 1);
        }
    mx_operation operation = operation_like("nvfp4", "torchao-nvfp4", "derived");
    for (const std::size_t side : {0u, 1u}) {
        operation.axis = side == 0 ? "row" : "col";
        expect_answer(
            operation, {values.view()},
            {apart[3 * side].view(), apart[3 * side + 1].view(), apart[3 * side + 2].view()});
    }
    operation.axis = "both";
    std::vector<mx_tensor> outputs;
    for (Tensor& tensor : both) outputs.push_back(tensor.view());
    expect_answer(operation, {values.view()}, outputs);
    for (std::size_t i = 0; i < both.size(); ++i) EXPECT_EQ(both[i].bytes, apart[i].bytes) << i;
}

// A call of te-nvfp4 that is served, and its spoilt forms.
struct GoodCall {
    Tensor values{"f32", 2, 32}, amax{"f32", 1, 1}, codes{"e2m1", 2, 32}, scales{"ue4m3", 2, 2},
        kept{"f32", 1, 1};
    mx_operation operation = operation_like("nvfp4", "te-nvfp4", "given");
    std::vector<mx_tensor> inputs{values.view(), amax.view()};
    std::vector<mx_tensor> outputs{codes.view(), scales.view(), kept.view()};
};

TEST(RealScale, RefusesWithASentence) {
    struct Case {
        void (*spoil)(GoodCall&);
        mx_status status;
        const char* words;
    };
    const Case cases[] = {
        {[](GoodCall& c) { c.operation.tensor_scale = nullptr; }, MX_INVALID,
         "dialect \"te-nvfp4\" has a number for the tensor, and tensor_scale is NULL"},
        {[](GoodCall& c) { c.operation.dialect = "cublaslt-nvfp4"; }, MX_INVALID,
         "dialect \"cublaslt-nvfp4\" has no number for the tensor, and tensor_scale is \"given\""},
        {[](GoodCall& c) { c.operation.tensor_scale = "guessed"; }, MX_NOT_SUPPORTED, "guessed"},
        {[](GoodCall& c) { c.operation.tensor_scale = "derived"; }, MX_INVALID, "1 inputs"},
        {[](GoodCall& c) { c.operation.dialect = "te-nvfp4-sr"; }, MX_INVALID, "random bits"},
        {[](GoodCall& c) { c.operation.dialect = "te-nvfp4-rht"; }, MX_NOT_SUPPORTED,
         "of values of type \"f32\""},
        {[](GoodCall& c) { c.operation.dialect = "ocp"; }, MX_NOT_SUPPORTED,
         "dialect \"ocp\" has no format \"nvfp4\""},
        {[](GoodCall& c) { c.operation.dialect = "te-fp8-block"; }, MX_NOT_SUPPORTED,
         "has no format \"nvfp4\""},
        {[](GoodCall& c) { c.operation.dialect = "TE"; }, MX_NOT_SUPPORTED, "dialect \"TE\""},
        {[](GoodCall& c) { c.operation.format = "mxfp4-e2m1"; }, MX_NOT_SUPPORTED, "te-nvfp4"},
        {[](GoodCall& c) { c.operation.axis = "tile"; }, MX_NOT_SUPPORTED, "axis \"tile\""},
        {[](GoodCall& c) { c.operation.axis = "tensor"; }, MX_INVALID, "16"},
        {[](GoodCall& c) { c.operation.block_size = 32; }, MX_NOT_SUPPORTED, "blocks of 32"},
        {[](GoodCall& c) { c.operation.block_size = 0; }, MX_INVALID, "block_size is 0"},
        {[](GoodCall& c) { c.outputs[1].type = "e8m0"; }, MX_INVALID, "where ue4m3 belongs"},
        {[](GoodCall& c) { c.inputs[1].columns = 2; }, MX_INVALID, "where 1 x 1 belongs"},
        {[](GoodCall& c) { c.outputs.pop_back(); }, MX_INVALID, "the number that is kept"},
    };
    GoodCall good;
    EXPECT_EQ(run(good.operation, good.inputs, good.outputs).status, MX_OK);
    for (const Case& bad : cases) {
        GoodCall call;
        bad.spoil(call);
        const Outcome outcome = run(call.operation, call.inputs, call.outputs);
        EXPECT_EQ(outcome.status, bad.status) << bad.words << ": " << outcome.reason;
        EXPECT_NE(outcome.reason.find(bad.words), std::string::npos) << outcome.reason;
    }
}

TEST(RealScale, RefusesWhatOtherFormatsHaveNot) {
    Tensor values("bf16", 2, 40), codes("e4m3", 2, 40), scales("f32", 2, 1), number("f32", 1, 1);
    mx_operation operation = operation_like("fp8-e4m3-1x128", "te-fp8-block", nullptr);
    operation.block_size = 128;
    mx_tensor tiled = scales.view();
    tiled.layout = "128x4";
    tiled.row_stride = tiled.column_stride = 0;
    Outcome outcome = run(operation, {values.view()}, {codes.view(), tiled});
    EXPECT_EQ(outcome.status, MX_NOT_SUPPORTED) << outcome.reason;
    mx_tensor beside = codes.view();
    beside.layout = "inline";
    outcome = run(operation, {values.view()}, {beside});
    EXPECT_EQ(outcome.status, MX_NOT_SUPPORTED) << outcome.reason;
    EXPECT_NE(outcome.reason.find("type \"f32\" in layout \"inline\""), std::string::npos);
    // Groups of 16 that the last elements do not fill.
    Tensor nibbles("e2m1", 2, 40), bytes("ue4m3", 2, 3), kept("f32", 1, 1);
    outcome = run(operation_like("nvfp4", "te-nvfp4-rht", "derived"), {values.view()},
                  {nibbles.view(), bytes.view(), kept.view()});
    EXPECT_EQ(outcome.status, MX_NOT_SUPPORTED) << outcome.reason;
    EXPECT_NE(outcome.reason.find("40 are no whole groups"), std::string::npos) << outcome.reason;
    // A history is not in the tensor, and powers of two need no number.
    operation = operation_like("fp8-e4m3-tensor", "te-fp8-delayed", "derived");
    operation.axis = "tensor";
    operation.block_size = 0;
    outcome = run(operation, {values.view()}, {codes.view(), number.view(), kept.view()});
    EXPECT_EQ(outcome.status, MX_NOT_SUPPORTED) << outcome.reason;
    EXPECT_NE(outcome.reason.find("earlier tensors"), std::string::npos) << outcome.reason;
    operation = operation_of("quantize", "mxfp8-e4m3", "ocp", "row");
    operation.tensor_scale = "given";
    Tensor powers("e8m0", 2, 2);
    outcome = run(operation, {values.view()}, {codes.view(), powers.view()});
    EXPECT_EQ(outcome.status, MX_INVALID) << outcome.reason;
    EXPECT_NE(outcome.reason.find("no number for the tensor"), std::string::npos) << outcome.reason;
}

}  // namespace
}  // namespace mx::cpu::test
