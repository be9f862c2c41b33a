// The device made of NVIDIA's headers, held to bytes typed by hand: the vendor's documented answers
// and TransformerEngine's recipe. Also that it refuses in words what the headers do not determine.
#include "device/nvhost/nvhost_device.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "device/abi/block_operation.hpp"

namespace {

using Codes = std::vector<std::uint32_t>;

// A dense tensor of codes of one, two or four bytes.
struct Matrix {
    const char* type;
    std::int64_t rows, columns;
    std::vector<unsigned char> bytes;

    Matrix(const char* of_type, std::int64_t row_count, std::int64_t column_count)
        : type(of_type), rows(row_count), columns(column_count) {
        bytes.assign(static_cast<std::size_t>(rows * columns) * width(), 0xA5);
    }
    std::size_t width() const {
        const std::string name = type;
        return name == "f32" ? 4 : name == "bf16" || name == "f16" ? 2 : 1;
    }
    mx_tensor view() {
        return {sizeof(mx_tensor), bytes.data(), type, "host", "strided", rows,
                columns,           columns,      1};
    }
    Codes codes() const {
        Codes result(bytes.size() / width());
        for (std::size_t i = 0; i < result.size(); ++i)
            std::memcpy(&result[i], &bytes[i * width()], width());
        return result;
    }
};

Matrix filled(Matrix matrix, const Codes& codes) {
    for (std::size_t i = 0; i < codes.size(); ++i)
        std::memcpy(&matrix.bytes[i * matrix.width()], &codes[i], matrix.width());
    return matrix;
}
Matrix row_of(const char* type, const Codes& codes) {
    return filled(Matrix(type, 1, static_cast<std::int64_t>(codes.size())), codes);
}

std::uint32_t bits(float value) {
    std::uint32_t result;
    std::memcpy(&result, &value, sizeof(result));
    return result;
}
Codes bits_of(const std::vector<float>& values) {
    Codes result;
    for (float value : values) result.push_back(bits(value));
    return result;
}

struct Outcome {
    mx_status status;
    std::string sentence;
};

Outcome run(const mx_operation& operation, std::vector<Matrix*> inputs,
            std::vector<Matrix*> outputs) {
    std::vector<mx_tensor> in, out;
    for (Matrix* matrix : inputs) in.push_back(matrix->view());
    for (Matrix* matrix : outputs) out.push_back(matrix->view());
    std::array<char, 300> text{};
    mx_message message{sizeof(mx_message), text.data(), text.size()};
    const mx_status status = mx_nvhost_device_api()->run(nullptr, &operation, in.data(), in.size(),
                                                         out.data(), out.size(), &message);
    return {status, text.data()};
}

mx_operation operation(const char* name, const char* format, const char* dialect) {
    mx_operation asked = mx::block_operation(name, format, dialect, "row");
    asked.rounding = "nearest_even";
    asked.overflow = "saturate";
    return asked;
}

Codes converted(const char* element, const char* overflow, Matrix input) {
    mx_operation asked = operation("convert", element, nullptr);
    asked.overflow = overflow;
    Matrix output(element, input.rows, input.columns);
    const Outcome outcome = run(asked, {&input}, {&output});
    EXPECT_EQ(outcome.status, MX_OK) << outcome.sentence;
    return output.codes();
}

Codes encoded(const char* format, const char* dialect, Matrix input) {
    Matrix output("e8m0", input.rows, input.columns);
    const Outcome outcome = run(operation("encode_scale", format, dialect), {&input}, {&output});
    EXPECT_EQ(outcome.status, MX_OK) << outcome.sentence;
    return output.codes();
}

struct Block {
    Codes scale, codes;
    bool operator==(const Block&) const = default;
};
Block quantized(const char* format, Matrix input) {
    Matrix codes(format + std::strlen("mxfp8-"), input.rows, input.columns);  // all as long
    Matrix scales("e8m0", input.rows, (input.columns + 31) / 32);
    const Outcome outcome = run(operation("quantize", format, "nv"), {&input}, {&codes, &scales});
    EXPECT_EQ(outcome.status, MX_OK) << outcome.sentence;
    return {scales.codes(), codes.codes()};
}

constexpr std::uint32_t f32_infinity = 0x7F800000, f32_nan = 0x7FC00000, f32_max = 0x7F7FFFFF;
constexpr std::uint32_t f32_signalling_nan = 0x7F800001, f32_negative_nan = 0xFFC00000;

TEST(Nvhost, ConvertsFloatsAsTheHeaderDocuments) {
    const Matrix edges = row_of("f32", {bits(448), bits(464), bits(464.0001f), f32_infinity,
                                        0xFF800000, f32_nan, f32_negative_nan, bits(-0x1p-10f),
                                        bits(0x1.8p-10f), bits(17), bits(19), bits(-0.0f)});
    EXPECT_EQ(converted("e4m3", "saturate", edges),
              (Codes{0x7E, 0x7E, 0x7E, 0x7E, 0xFE, 0x7F, 0x7F, 0x80, 0x01, 0x58, 0x5A, 0x80}));
    EXPECT_EQ(converted("e4m3", "overflow", edges),
              (Codes{0x7E, 0x7E, 0x7F, 0x7F, 0xFF, 0x7F, 0x7F, 0x80, 0x01, 0x58, 0x5A, 0x80}));
    const Matrix large = row_of("f32", {bits(57344), bits(61439.996f), bits(61440), f32_infinity});
    EXPECT_EQ(converted("e5m2", "saturate", large), (Codes{0x7B, 0x7B, 0x7B, 0x7B}));
    EXPECT_EQ(converted("e5m2", "overflow", large), (Codes{0x7B, 0x7B, 0x7C, 0x7C}));
}

TEST(Nvhost, ConvertsHalfAndBfloat16ByTheirOwnEntryPoints) {
    // 1.0, -448, smallest subnormal, NaN, 65504
    EXPECT_EQ(converted("e4m3", "saturate", row_of("f16", {0x3C00, 0xDF00, 1, 0x7E00, 0x7BFF})),
              (Codes{0x38, 0xFE, 0x00, 0x7F, 0x7E}));
    // 1.0, -448, smallest subnormal, NaN, the largest
    EXPECT_EQ(converted("e5m2", "overflow", row_of("bf16", {0x3F80, 0xC3E0, 1, 0x7FC0, 0x7F7F})),
              (Codes{0x3C, 0xDF, 0x00, 0x7F, 0x7C}));
}

TEST(Nvhost, EncodesTheRatioRoundedUp) {
    const Matrix amax = row_of("f32", {0, bits(448), bits(480), bits(1), bits(2.8f), f32_max,
                                       f32_infinity, f32_nan, bits(0x1p-140f), 0x40600001});
    EXPECT_EQ(encoded("mxfp8-e4m3", "nv", amax),
              (Codes{0, 127, 128, 119, 120, 247, 254, 255, 0, 121}));
    EXPECT_EQ(encoded("mxfp8-e4m3", "torchao-rceil", amax),
              (Codes{0, 127, 128, 119, 120, 247, 255, 255, 0, 121}));
    EXPECT_EQ(encoded("mxfp8-e5m2", "nv", row_of("bf16", {0x4760, 0x4761})),  // 57344, 57600
              (Codes{127, 128}));
}

TEST(Nvhost, QuantizesAsTransformerEngineDoes) {
    const auto f32 = [](const Codes& codes) {
        return quantized("mxfp8-e4m3", row_of("f32", codes));
    };
    EXPECT_EQ(f32(bits_of({480})), (Block{{128}, {0x77}}));
    EXPECT_EQ(f32(bits_of({448})), (Block{{127}, {0x7E}}));
    EXPECT_EQ(f32(bits_of({2.8f, -1.2f})), (Block{{120}, {0x7B, 0xF2}}));
    EXPECT_EQ(f32(bits_of({0x1p-120f})), (Block{{0}, {0x70}}));
    EXPECT_EQ(f32(bits_of({1, -0.0f})), (Block{{119}, {0x78, 0x80}}));
    EXPECT_EQ(f32({bits(1), f32_negative_nan}), (Block{{119}, {0x78, 0x7F}}));
    EXPECT_EQ(f32({bits(300), f32_signalling_nan, bits(1)}), (Block{{127}, {0x79, 0x7F, 0x38}}));
    EXPECT_EQ(f32({f32_nan, f32_signalling_nan}), (Block{{0}, {0x7F, 0x7F}}));
    EXPECT_EQ(f32({bits(1), f32_infinity, f32_max}), (Block{{254}, {0x00, 0x7E, 0x40}}));
    EXPECT_EQ(quantized("mxfp8-e5m2", row_of("f16", {0x3C00, 0x7E00})),  // 1.0, NaN
              (Block{{112}, {0x78, 0x7F}}));
}

TEST(Nvhost, WalksRowsAndColumnsWithPartialBlocks) {
    Codes values(33 * 2, bits(1));
    values[2 * 31 + 1] = bits(448);  // lane 31 of column 1
    values[2 * 32] = bits(2);        // alone in the last block of column 0
    Matrix input = filled(Matrix("f32", 33, 2), values);
    Matrix codes("e4m3", 33, 2), scales("e8m0", 2, 2);
    mx_operation by_column = operation("quantize", "mxfp8-e4m3", "nv");
    by_column.axis = "col";
    ASSERT_EQ(run(by_column, {&input}, {&codes, &scales}).status, MX_OK);
    EXPECT_EQ(scales.codes(), (Codes{119, 127, 120, 119}));
    EXPECT_EQ(codes.codes()[0], 0x78u);
    EXPECT_EQ(codes.codes()[1], 0x38u);
    EXPECT_EQ(codes.codes()[2 * 31 + 1], 0x7Eu);
    EXPECT_EQ(codes.codes()[2 * 32], 0x78u);
}

TEST(Nvhost, DequantizesByTheVendorsOwnValues) {
    Matrix codes = filled(Matrix("e5m2", 4, 2), {0x3C, 0x80, 0x3C, 0x01, 0x3C, 0x7C, 0x3C, 0x00});
    Matrix scales = filled(Matrix("e8m0", 4, 1), {127, 0, 254, 255});
    Matrix values("f32", 4, 2);
    ASSERT_EQ(run(operation("dequantize", "mxfp8-e5m2", "nv"), {&codes, &scales}, {&values}).status,
              MX_OK);
    const Codes got = values.codes();
    EXPECT_EQ((Codes{got.begin(), got.begin() + 6}),
              (Codes{bits(1), bits(-0.0f), bits(0x1p-127f), bits(0x1p-143f), bits(0x1p127f),
                     f32_infinity}));
    EXPECT_GT(got[6] & 0x7FFFFFFF, f32_infinity);  // any NaN
    EXPECT_GT(got[7] & 0x7FFFFFFF, f32_infinity);
}

// OCP MX v1.0 tables of values; NaN is the largest, ties go to even, everything saturates.
TEST(Nvhost, ConvertsToFp6AndFp4) {
    const Matrix edges =
        row_of("f32", {bits(5), bits(7), bits(-0.25f), bits(0.75f), f32_nan, f32_negative_nan,
                       f32_infinity, bits(-1e30f), bits(-0.0f), bits(2.5f)});
    EXPECT_EQ(converted("e2m1", "saturate", edges), (Codes{6, 7, 8, 2, 7, 7, 7, 15, 8, 4}));
    EXPECT_EQ(converted("e2m1", "overflow", edges), (Codes{6, 7, 8, 2, 7, 7, 7, 15, 8, 4}));
    EXPECT_EQ(converted("e2m3", "saturate", edges),
              (Codes{0x1A, 0x1E, 0x22, 0x06, 0x1F, 0x1F, 0x1F, 0x3F, 0x20, 0x12}));
    EXPECT_EQ(converted("e3m2", "saturate", edges),
              (Codes{0x15, 0x17, 0x24, 0x0A, 0x1F, 0x1F, 0x1F, 0x3F, 0x20, 0x11}));
    mx_operation toward_zero = operation("convert", "e2m1", nullptr);
    toward_zero.rounding = "toward_zero";
    Matrix input = row_of("bf16", {0x40BF, 0xC0BF, 0x3EFF});  // 5.97, -5.97, 0.498
    Matrix codes("e2m1", 1, 3);
    ASSERT_EQ(run(toward_zero, {&input}, {&codes}).status, MX_OK);
    EXPECT_EQ(codes.codes(), (Codes{6, 14, 0}));
    toward_zero.format = "e4m3";
    Matrix fp8("e4m3", 1, 3);
    EXPECT_EQ(run(toward_zero, {&input}, {&fp8}).status, MX_NOT_SUPPORTED);
}

TEST(Nvhost, QuantizesAndDequantizesFp6AndFp4InBlocksOfAnySize) {
    EXPECT_EQ(quantized("mxfp4-e2m1", row_of("f32", bits_of({6, 7, -0.4f}))),
              (Block{{128}, {5, 6, 8}}));
    EXPECT_EQ(quantized("mxfp6-e3m2", row_of("f32", bits_of({28, 3, -0.0f}))),
              (Block{{127}, {0x1F, 0x12, 0x20}}));
    Matrix input = row_of("f32", bits_of({6, 1, 12, 1, 24}));
    Matrix codes("e2m1", 1, 5), scales("e8m0", 1, 3), values("f32", 1, 5);
    mx_operation pairs = operation("quantize", "mxfp4-e2m1", "nv");
    pairs.block_size = 2;
    ASSERT_EQ(run(pairs, {&input}, {&codes, &scales}).status, MX_OK);
    EXPECT_EQ(scales.codes(), (Codes{127, 128, 129}));
    EXPECT_EQ(codes.codes(), (Codes{7, 2, 7, 1, 7}));
    pairs.name = "dequantize";
    ASSERT_EQ(run(pairs, {&codes, &scales}, {&values}).status, MX_OK);
    EXPECT_EQ(values.codes(), bits_of({6, 1, 12, 1, 24}));
}

TEST(Nvhost, CastsToE8m0InEveryModeOfTheHeader) {
    Matrix input = row_of("f32", {0x400000, 0x400001, bits(1.25f), bits(-2), f32_max, f32_infinity,
                                  f32_nan, bits(0x1p127f)});
    const auto cast = [&](const char* dialect) {
        Matrix output("e8m0", 1, 8);
        EXPECT_EQ(run(operation("convert", "e8m0", dialect), {&input}, {&output}).status, MX_OK);
        return output.codes();
    };
    EXPECT_EQ(cast("cuda-e8m0-rp-satfinite"), (Codes{0, 1, 128, 128, 254, 254, 255, 254}));
    EXPECT_EQ(cast("cuda-e8m0-rp"), (Codes{0, 1, 128, 128, 255, 255, 255, 254}));
    EXPECT_EQ(cast("cuda-e8m0-rz-satfinite"), (Codes{0, 0, 127, 128, 254, 254, 255, 254}));
    EXPECT_EQ(cast("cuda-e8m0-rz"), (Codes{0, 0, 127, 128, 254, 255, 255, 254}));
    EXPECT_EQ(cast("nv"), cast("cuda-e8m0-rp-satfinite"));
}

TEST(Nvhost, SaysWhyItRefuses) {
    Matrix input = row_of("f32", {0}), codes("e4m3", 1, 1), scales("e8m0", 1, 1);
    const auto quantize = [&](const char* format, const char* dialect) {
        return run(operation("quantize", format, dialect), {&input}, {&codes, &scales});
    };
    for (const char* dialect : {"ocp", "torchao-floor", "torchao-rceil", "no-such"}) {
        const Outcome refused = quantize("mxfp8-e4m3", dialect);
        EXPECT_EQ(refused.status, MX_NOT_SUPPORTED);
        EXPECT_NE(refused.sentence.find(dialect), std::string::npos) << refused.sentence;
    }
    EXPECT_EQ(quantize("mxint8", "nv").status, MX_NOT_SUPPORTED);
    EXPECT_EQ(quantize(nullptr, "nv").status, MX_NOT_SUPPORTED);
    EXPECT_EQ(quantize("mxfp8-e5m2", "nv").status, MX_INVALID);  // the codes are e4m3
    Matrix wrong("e8m0", 1, 2);
    const Outcome shape =
        run(operation("quantize", "mxfp8-e4m3", "nv"), {&input}, {&codes, &wrong});
    EXPECT_EQ(shape.status, MX_INVALID);
    EXPECT_NE(shape.sentence.find("1 x 2 where 1 x 1"), std::string::npos) << shape.sentence;
    Matrix spare = codes;  // a third output, so that reading two stays in bounds
    const Outcome count =
        run(operation("quantize", "mxfp8-e4m3", "nv"), {&input}, {&codes, &scales, &spare});
    EXPECT_EQ(count.status, MX_INVALID);
    EXPECT_NE(count.sentence.find("2 outputs"), std::string::npos) << count.sentence;
    EXPECT_EQ(codes.codes(), (Codes{0xA5}));
}

TEST(Nvhost, TellsWhichHeadersItIs) {
    const mx_fact* facts = nullptr;
    const std::size_t count = mx_nvhost_device_api()->describe(nullptr, &facts);
    std::string version;
    for (std::size_t i = 0; i < count; ++i)
        if (std::string(facts[i].key) == "version") version = facts[i].value;
    EXPECT_TRUE(version.starts_with("CUDART_VERSION 1")) << version;
}

}  // namespace
