// Exact values as MX blocks: what no type between can show, typed by hand; outputs of GEMMs along
// every axis against the exact oracle; refusals.
#include "conformance/emulate/quantize_values.hpp"

#include "conformance/emulate/gemm_tensor.hpp"
#include "conformance/emulate/test/tensors.hpp"
#include "reference/exact/gemm_output.hpp"

namespace mx::emulate::test {
namespace {

// 2^exponent times a whole number.
fast::Unpacked times_power(std::uint64_t number, int exponent) {
    return {fast::Kind::finite, false, exponent, number};
}

// The bytes of elements and scales.
std::vector<int> blocks_of(const std::vector<fast::Unpacked>& values, const BlockNames& names) {
    const auto result =
        quantize_values({values, {static_cast<std::int64_t>(values.size())}}, names, "9.9.9");
    EXPECT_TRUE(result.ok()) << result.error().message;
    std::vector<int> bytes = bytes_of(result.value().file.tensors[0]);
    for (const int byte : bytes_of(result.value().file.tensors[1])) bytes.push_back(byte);
    return bytes;
}

using Bytes = std::vector<int>;

TEST(QuantizeValues, ATieIsOneOnlyWhereNothingFollows) {
    const BlockNames ocp = names_of("mxfp8-e4m3");
    // Beside 256 the scale is 1 and E4M3 has 16 and 18: 17 goes to the even one, and what is ever
    // so little more or less goes where it is nearer.
    const fast::Unpacked largest = times_power(256, 0);
    EXPECT_EQ(blocks_of({largest, times_power(17, 0)}, ocp), (Bytes{0x78, 0x58, 127}));
    const std::uint64_t seventeen = std::uint64_t{17} << 57;  // 62 bits
    EXPECT_EQ(blocks_of({largest, times_power((seventeen >> 1) + 1, -56)}, ocp),
              (Bytes{0x78, 0x59, 127}));
    EXPECT_EQ(blocks_of({largest, times_power(19, 0)}, ocp), (Bytes{0x78, 0x5A, 127}));
    EXPECT_EQ(blocks_of({largest, times_power((std::uint64_t{19} << 56) - 1, -56)}, ocp),
              (Bytes{0x78, 0x59, 127}));
}

TEST(QuantizeValues, TheAmaxIsNotRounded) {
    // Just below 512: floor(log2) is 8, and 448 is where the element saturates. binary32 says 512.
    const fast::Unpacked below = times_power((std::uint64_t{1} << 61) - 1, 9 - 61);
    EXPECT_EQ(blocks_of({below}, names_of("mxfp8-e4m3")), (Bytes{0x7E, 127}));
    EXPECT_EQ(blocks_of({times_power(512, 0)}, names_of("mxfp8-e4m3")), (Bytes{0x78, 128}));
    // NVIDIA's scale is computed in binary32, where a little more than 448 is 448.
    const fast::Unpacked above = times_power((std::uint64_t{7} << 58) + 1, 6 - 58);
    EXPECT_EQ(blocks_of({above}, names_of("mxfp8-e4m3", "nv")), (Bytes{0x7E, 127}));
    EXPECT_EQ(blocks_of({times_power(449, 0)}, names_of("mxfp8-e4m3", "nv")), (Bytes{0x76, 128}));
}

TEST(QuantizeValues, BeyondBinary32) {
    // 2^130 = 2^8 * 2^122; 2^300 needs more than the largest scale, which NaN stands for.
    EXPECT_EQ(blocks_of({times_power(1, 130)}, names_of("mxfp8-e4m3")), (Bytes{0x78, 249}));
    EXPECT_EQ(blocks_of({times_power(1, 300)}, names_of("mxfp8-e4m3")).back(), 255);
    // To NVIDIA's arithmetic 2^130 is Inf, whose scale is the largest: 2^127, and 2^3 is left.
    EXPECT_EQ(blocks_of({times_power(1, 130)}, names_of("mxfp8-e4m3", "nv")), (Bytes{0x50, 254}));
    // The least scale is 2^-127, of which 2^-140 is 2^-13, below half of E4M3's least 2^-9.
    EXPECT_EQ(blocks_of({times_power(1, -140)}, names_of("mxfp8-e4m3")), (Bytes{0, 0}));
    EXPECT_EQ(blocks_of({times_power(3, -138)}, names_of("mxfp8-e4m3")), (Bytes{1, 0}));
    EXPECT_EQ(blocks_of({fast::Unpacked{}}, names_of("mxfp8-e4m3")), (Bytes{0, 0}));
    const fast::Unpacked nan{fast::Kind::nan, false, 0, 0};
    EXPECT_EQ(blocks_of({times_power(1, 0), nan}, names_of("mxfp8-e4m3")).back(), 255);
}

GemmFactor factor_of(const Shape& shape, int seed) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < product(shape); ++i)
        values.push_back(static_cast<float>((i * 29 + seed) % 71 - 35) *
                         static_cast<float>(1 << i / 40 % 6));
    auto factor = gemm_factor("x.safetensors",
                              quantized(f32_tensor(shape, values), names_of("mxfp8-e4m3")).file);
    EXPECT_TRUE(factor.ok()) << factor.error().message;
    return std::move(factor).value();
}

// Where a lane of a block lies, by axis: blocks of 32 along the last dimension, along the one
// before it, or squares of 32.
std::vector<std::vector<std::size_t>> places_of(const std::string& axis, const Shape& shape) {
    const std::int64_t rows = shape[1], columns = shape[2];
    const std::int64_t high = axis == "row" ? 1 : 32, wide = axis == "col" ? 1 : 32;
    std::vector<std::vector<std::size_t>> blocks;
    for (std::int64_t slice = 0; slice < shape[0]; ++slice)
        for (std::int64_t top = 0; top < rows; top += high)
            for (std::int64_t left = 0; left < columns; left += wide) {
                auto& block = blocks.emplace_back();
                for (std::int64_t r = top; r < std::min(top + high, rows); ++r)
                    for (std::int64_t c = left; c < std::min(left + wide, columns); ++c)
                        block.push_back(static_cast<std::size_t>((slice * rows + r) * columns + c));
            }
    return blocks;
}

TEST(QuantizeValues, OutputsOfAGemmAlongEveryAxis) {
    const GemmFactor a = factor_of({2, 37, 70}, 1), b = factor_of({2, 40, 70}, 2);
    const GemmRules rules{.alpha = {0x3EAAAAAB}};  // a third, so that sums have long tails
    const auto problem = tensor_gemm(a, b, {}, rules);
    ASSERT_TRUE(problem.ok());
    ValueTensor d{std::vector<fast::Unpacked>(2 * 37 * 40), problem.value().shape};
    gemm_values(problem.value(), {0, 1000}, d.values);
    gemm_values(problem.value(), {1000, 2 * 37 * 40}, d.values);
    std::vector<exact::Value> expected;
    for (std::int64_t i = 0; i < 2 * 37 * 40; ++i) {
        const std::int64_t row = i / 40;
        expected.push_back(exact::output_value(
            {{exact::decode(formats::f32, rules.alpha), {}}, {}, {}},
            exact::dot(a.view().row(row), b.view().row(row / 37 * 40 + i % 40), 70), {}));
    }
    for (const char* axis : {"row", "col", "tile"})
        for (const char* dialect : {"ocp", "nv"}) {
            const BlockNames names = names_of("mxfp8-e5m2", dialect, axis);
            const auto result = quantize_values(d, names, "9.9.9");
            ASSERT_TRUE(result.ok()) << result.error().message;
            const std::vector<int> elements = bytes_of(result.value().file.tensors[0]);
            const std::vector<int> scales = bytes_of(result.value().file.tensors[1]);
            const auto blocks = places_of(axis, d.shape);
            ASSERT_EQ(scales.size(), blocks.size());
            EXPECT_EQ(result.value().counts.blocks, blocks.size());
            for (std::size_t block = 0; block < blocks.size(); ++block) {
                std::vector<exact::Value> lanes;
                for (const std::size_t place : blocks[block]) lanes.push_back(expected[place]);
                const exact::Block right = exact::quantize_exact_block(
                    *find_quantizer(dialect), *find_block_format("mxfp8-e5m2"), lanes);
                EXPECT_EQ(scales[block], static_cast<int>(right.scale.bits)) << axis << block;
                for (std::size_t lane = 0; lane < lanes.size(); ++lane)
                    EXPECT_EQ(elements[blocks[block][lane]],
                              static_cast<int>(right.elements[lane].bits))
                        << axis << " block " << block << " lane " << lane;
            }
            const auto facts = read_facts(result.value().file, {});
            ASSERT_TRUE(facts.ok()) << facts.error().message;
            EXPECT_EQ(facts.value().input_type, "exact");
            EXPECT_TRUE(dequantize_tensor(result.value().file, facts.value(), "f32").ok());
        }
}

TEST(QuantizeValues, CountsWhatWasLost) {
    const auto result = quantize_values(
        {{times_power(511, 0), times_power(1, -30), fast::Unpacked{}, times_power(1, 0)}, {4}},
        names_of("mxfp8-e4m3"), "9.9.9");
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result.value().counts.elements, 4u);
    EXPECT_EQ(result.value().counts.saturated, 1u);
    EXPECT_EQ(result.value().counts.flushed, 1u);
    EXPECT_EQ(result.value().counts.nan_scales, 0u);
}

TEST(QuantizeValues, RefusesDialectsThatReadLess) {
    const auto refusal = [](const std::string& format, const std::string& dialect) {
        const Status status = check_exact_names(names_of(format, dialect));
        return status ? std::string("no error") : status.error().message;
    };
    EXPECT_EQ(refusal("mxfp8-e4m3", "ocp"), "no error");
    EXPECT_EQ(refusal("mxfp8-e4m3", "flashinfer"),
              "dialect flashinfer reads no f32, and so says nothing of exact values: give --type, "
              "which D is rounded to first");
    EXPECT_EQ(
        refusal("nvfp4", "te-nvfp4"),
        "a recipe reads tensors of a type: give --type, which D is rounded to before te-nvfp4 "
        "makes nvfp4 of it");
    EXPECT_NE(refusal("mxfp8-e4m3", "occp").find("did you mean 'ocp'?"), std::string::npos);
    EXPECT_NE(refusal("mxfp4-e2m1", "thunderkittens").find("does not quantize"), std::string::npos);
}

}  // namespace
}  // namespace mx::emulate::test
