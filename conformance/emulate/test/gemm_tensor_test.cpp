// GEMMs of small tensors, every output against the exact oracle, which is asked with rows that the
// test lays out itself; shapes and models that do not fit.
#include "conformance/emulate/gemm_tensor.hpp"

#include "conformance/emulate/test/tensors.hpp"
#include "reference/exact/dot.hpp"
#include "reference/exact/dot_model.hpp"
#include "reference/exact/gemm_epilogue.hpp"
#include "reference/proof/gemm_rows.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::emulate::test {
namespace {

constexpr Code one{0x3F800000};

struct FactorKind {
    std::string_view format = "mxfp8-e4m3";
    std::int64_t block = 32;
    bool has_specials = false;  // NaN scales, and whatever specials the elements have
};

// Codes that are a function of their place.
std::uint32_t scrambled(std::uint32_t place) {
    place = (place + 0x9E3779B9u) * 0x85EBCA6Bu;
    place = (place ^ place >> 15) * 0xC2B2AE35u;
    return place ^ place >> 13;
}

GemmFactor factor_of(const FactorKind& kind, const Shape& shape, std::uint32_t seed) {
    const BlockFormat& format = *find_block_format(kind.format);
    const ElementFormat& element = format.element();
    GemmFactor factor;
    factor.path = "f.safetensors";
    factor.format = format.name;
    factor.element = element;
    factor.scale = formats::e8m0;
    factor.block = kind.block;
    factor.shape = shape;
    const std::int64_t rows = product(shape) / shape.back();
    const std::int64_t blocks = (shape.back() + kind.block - 1) / kind.block;
    for (std::int64_t i = 0; i < rows * shape.back(); ++i) {
        Code code{scrambled(seed + static_cast<std::uint32_t>(i)) >> 8 &
                  ((1u << element.code_bits()) - 1)};
        const bool is_special = element.is_nan(code) || element.is_infinity(code);
        if (is_special && !kind.has_specials) code = {0};
        factor.codes.elements.push_back(static_cast<std::byte>(code.bits));
    }
    // Near enough to each other that the small ones count, too far for binary32 to hold all.
    for (std::int64_t i = 0; i < rows * blocks; ++i) {
        const std::uint32_t draw = scrambled(~seed - static_cast<std::uint32_t>(i));
        const bool is_nan = kind.has_specials && draw % 29 == 0;
        factor.codes.scales.push_back(static_cast<std::byte>(is_nan ? 255 : 115 + draw % 24));
    }
    return factor;
}

// Row `index` again, copied by hand.
CodeRow copied_row(const GemmFactor& factor, std::int64_t index) {
    CodeRow row{factor.element, {}, formats::e8m0, {}, factor.block};
    const std::int64_t depth = factor.shape.back();
    const auto byte_at = [](const std::vector<std::byte>& bytes, std::int64_t at) {
        return std::to_integer<std::uint32_t>(bytes.at(static_cast<std::size_t>(at)));
    };
    for (std::int64_t k = 0; k < depth; ++k)
        row.codes.push_back(byte_at(factor.codes.elements, index * depth + k));
    const std::int64_t blocks = depth / factor.block + (depth % factor.block == 0 ? 0 : 1);
    for (std::int64_t i = 0; i < blocks; ++i)
        row.scales.push_back(byte_at(factor.codes.scales, index * blocks + i));
    return row;
}

std::vector<std::uint32_t> outputs_of(const TensorGemm& problem) {
    std::vector<std::byte> d(problem.bytes, std::byte{0xA5});
    // In two ranges, as threads do it.
    const std::int64_t middle = problem.outputs() / 3;
    gemm_outputs(problem, {middle, problem.outputs()}, d);
    gemm_outputs(problem, {0, middle}, d);
    const auto width = static_cast<std::size_t>(problem.rules.type.code_bytes());
    std::vector<std::uint32_t> codes(d.size() / width);
    for (std::size_t i = 0; i < d.size(); ++i)
        codes[i / width] |= std::to_integer<std::uint32_t>(d[i]) << (8 * (i % width));
    return codes;
}

TensorGemm problem_of(GemmFactor a, GemmFactor b, const GemmRules& rules,
                      std::optional<GemmAddend> c = {}) {
    auto problem = tensor_gemm(std::move(a), std::move(b), {std::move(c), {}}, rules);
    EXPECT_TRUE(problem.ok()) << problem.error().message;
    return std::move(problem).value();
}

std::uint32_t rounded(const GemmRules& rules, const exact::Value& value) {
    return exact::round(rules.type, Rounding::nearest_even,
                        rules.overflow.value_or(Overflow::overflow), value)
        .bits;
}

// What the exact oracle says of one output; `c` is that place of C.
std::uint32_t expected_output(const GemmRules& rules, const CodeRow& a, const CodeRow& b,
                              const exact::Value& c) {
    if (rules.model != nullptr) {
        GemmEpilogue epilogue{.output = rules.type};
        epilogue.scales_output = epilogue.is_narrow();
        epilogue.overflow_of_narrow = rules.overflow.value_or(Overflow::saturate);
        epilogue.overflow_of_wide = rules.overflow.value_or(Overflow::overflow);
        return exact::finish(epilogue, {},
                             exact::accumulate(*rules.model, a.row(), b.row(), a.depth(),
                                               exact::decode(formats::f32, Code{0})))
            .bits;
    }
    const exact::Affine affine{exact::decode(formats::f32, rules.alpha),
                               exact::decode(formats::f32, rules.beta)};
    return rounded(rules, exact::combine(affine, exact::dot(a.row(), b.row(), a.depth()), c));
}

// A and B of two dimensions.
void expect_exact(const GemmFactor& a, const GemmFactor& b, const GemmRules& rules) {
    const std::vector<std::uint32_t> d = outputs_of(problem_of(a, b, rules));
    const std::int64_t columns = b.rows();
    ASSERT_EQ(d.size(), static_cast<std::size_t>(a.rows() * columns));
    for (std::size_t i = 0; i < d.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        const CodeRow row = copied_row(a, at / columns), column = copied_row(b, at % columns);
        EXPECT_EQ(d[i], expected_output(rules, row, column, exact::Value{}))
            << a.format << " " << b.format << " output " << i;
    }
}

TEST(GemmTensor, IsExactForEveryPairOfFormats) {
    for (const BlockFormat& a : mx_block_formats)
        for (const BlockFormat& b : mx_block_formats)
            expect_exact(factor_of({a.name}, {3, 70}, 1), factor_of({b.name}, {4, 70}, 2), {});
}

// With the sanitizers this tells whether K - 1 = 0 was asked for its highest bit.
TEST(GemmTensor, IsExactForOneProductEach) {
    for (const std::string_view format : {"mxfp8-e4m3", "mxfp8-e5m2", "mxint8"})
        expect_exact(factor_of({format}, {3, 1}, 11), factor_of({format}, {4, 1}, 12), {});
}

TEST(GemmTensor, IsExactForEveryTypeAndBlock) {
    for (const ElementFormat& type : gemm_types)
        for (const Overflow overflow : {Overflow::overflow, Overflow::saturate}) {
            const GemmRules rules{.type = type, .overflow = overflow};
            expect_exact(factor_of({"mxfp8-e5m2", 16}, {5, 71}, 3),
                         factor_of({"mxfp4-e2m1", 64}, {3, 71}, 4), rules);
        }
}

TEST(GemmTensor, NanAndInfReachTheirOutputsAlone) {
    const GemmFactor a = factor_of({"mxfp8-e5m2", 32, true}, {40, 33}, 5);
    const GemmFactor b = factor_of({"mxfp8-e4m3", 32}, {3, 33}, 6);
    expect_exact(a, b, {});
    const TensorGemm problem = problem_of(a, b, {});
    std::vector<std::byte> d(problem.bytes);
    gemm_outputs(problem, {0, problem.outputs()}, d);
    const SpecialCounts counts = count_specials(formats::f32, d);
    EXPECT_GT(counts.nan, 0u);
    EXPECT_GT(counts.infinity, 0u);
    EXPECT_LT(counts.nan + counts.infinity, 120u);
    std::uint64_t nan = 0, infinity = 0;
    for (const std::uint32_t bits : outputs_of(problem)) {
        nan += (bits & 0x7FFFFFFF) > 0x7F800000 ? 1 : 0;
        infinity += (bits & 0x7FFFFFFF) == 0x7F800000 ? 1 : 0;
    }
    EXPECT_EQ(counts.nan, nan);
    EXPECT_EQ(counts.infinity, infinity);
}

// One NaN among the scales of A poisons its row, though the elements below are zeros.
TEST(GemmTensor, ANanScalePoisonsItsRow) {
    GemmFactor a = factor_of({}, {3, 96}, 7);
    a.codes.elements.assign(a.codes.elements.size(), std::byte{0});
    a.codes.scales[4] = std::byte{255};
    const auto d = outputs_of(problem_of(a, factor_of({}, {2, 96}, 8), {}));
    EXPECT_EQ(d, (std::vector<std::uint32_t>{0, 0, 0x7FFFFFFF, 0x7FFFFFFF, 0, 0}));
}

data::HostTensor addend_of(const Shape& shape) {
    data::HostTensor c{"c", "bf16", shape, {}};
    for (std::int64_t i = 0; i < product(shape); ++i) {
        const std::uint32_t bits = 0x4000 + scrambled(static_cast<std::uint32_t>(i)) % 1024;
        c.bytes.push_back(static_cast<std::byte>(bits & 0xFF));
        c.bytes.push_back(static_cast<std::byte>(bits >> 8));
    }
    return c;
}

TEST(GemmTensor, AddsTheMultipleOfC) {
    const GemmFactor a = factor_of({}, {5, 40}, 9), b = factor_of({"mxfp6-e3m2"}, {7, 40}, 10);
    const data::HostTensor c = addend_of({5, 7});
    GemmRules rules{.alpha = {0x3DCCCCCD}, .beta = {0xC1200000}};  // 0.1 and -10
    const auto d = outputs_of(problem_of(a, b, rules, GemmAddend{"c.npy", c}));
    const auto without = outputs_of(problem_of(a, b, {.alpha = rules.alpha}));
    for (std::int64_t i = 0; i < 35; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const Code code{std::to_integer<std::uint32_t>(c.bytes[2 * at]) |
                        std::to_integer<std::uint32_t>(c.bytes[2 * at + 1]) << 8};
        EXPECT_EQ(d[at], expected_output(rules, copied_row(a, i / 7), copied_row(b, i % 7),
                                         exact::decode(formats::bf16, code)))
            << "output " << i;
        EXPECT_NE(d[at], without[at]);
    }
    // With a beta of zero C may be anything.
    GemmAddend nan{"c.npy", c};
    nan.tensor.bytes.assign(nan.tensor.bytes.size(), std::byte{0xFF});
    rules.beta = {0};
    EXPECT_EQ(outputs_of(problem_of(a, b, rules, nan)), without);
    EXPECT_EQ(error_of(tensor_gemm(a, b, {}, {.beta = one})), "a beta that is not 0 needs C");
}

TEST(GemmTensor, BatchesHaveTheirOwnB) {
    const GemmFactor a = factor_of({}, {2, 3, 4, 33}, 11);
    const GemmFactor b = factor_of({}, {2, 3, 5, 33}, 12), shared = factor_of({}, {5, 33}, 13);
    const TensorGemm problem = problem_of(a, b, {});
    EXPECT_EQ(problem.shape, (Shape{2, 3, 4, 5}));
    EXPECT_EQ(problem.bytes, 480u);
    const auto own = outputs_of(problem), same = outputs_of(problem_of(a, shared, {}));
    for (std::int64_t batch = 0; batch < 6; ++batch)
        for (std::int64_t row = 0; row < 4; ++row)
            for (std::int64_t column = 0; column < 5; ++column) {
                const CodeRow left = copied_row(a, batch * 4 + row);
                const auto at = static_cast<std::size_t>((batch * 4 + row) * 5 + column);
                EXPECT_EQ(own[at], expected_output({}, left, copied_row(b, batch * 5 + column), {}))
                    << batch << " " << row << " " << column;
                EXPECT_EQ(same[at], expected_output({}, left, copied_row(shared, column), {}))
                    << batch << " " << row << " " << column;
            }
}

TEST(GemmTensor, FollowsTheModel) {
    struct Fit {
        std::string_view model;
        FactorKind a, b;
    };
    const Fit fits[] = {{"blackwell-mx", {"mxfp8-e4m3"}, {"mxfp8-e5m2"}},
                        {"blackwell-mx", {"mxfp6-e2m3"}, {"mxfp4-e2m1"}},
                        {"blackwell-mx", {"mxfp8-e5m2", 32, true}, {"mxfp8-e5m2"}},
                        {"blackwell-fp4", {"mxfp4-e2m1"}, {"mxfp4-e2m1", 16}}};
    for (const Fit& fit : fits)
        for (const ElementFormat& type : gemm_types)
            for (const Overflow overflow : {Overflow::overflow, Overflow::saturate}) {
                const GemmRules rules{
                    .model = find_gemm_model(fit.model), .type = type, .overflow = overflow};
                expect_exact(factor_of(fit.a, {6, 200}, 14), factor_of(fit.b, {9, 200}, 15), rules);
            }
    // Else the test above might have compared one thing with itself.
    const GemmFactor a = factor_of({}, {6, 200}, 14), b = factor_of({}, {9, 200}, 15);
    EXPECT_NE(outputs_of(problem_of(a, b, {.model = find_gemm_model("blackwell-mx")})),
              outputs_of(problem_of(a, b, {})));
}

TEST(GemmTensor, RefusesWhatAModelDoesNotTake) {
    GemmFactor a = factor_of({}, {2, 64}, 16), b = factor_of({}, {2, 64}, 17);
    a.path = "a.safetensors", b.path = "b.safetensors";
    const auto refusal = [&](std::string_view model, const GemmFactor& left,
                             const GemmFactor& right) {
        return error_of(tensor_gemm(left, right, {}, {.model = find_gemm_model(model)}));
    };
    const std::string without = refusal("hopper-fp8", a, b);
    EXPECT_EQ(without.find("model hopper-fp8 multiplies e4m3 e5m2 without block scales, and "
                           "a.safetensors is mxfp8-e4m3 with e8m0 scales for 32; the models that "
                           "take both factors: "),
              0u)
        << without;
    EXPECT_NE(without.find(" blackwell-mx"), std::string::npos) << without;
    EXPECT_EQ(without.find("hopper-fp8-1x128"), std::string::npos) << without;
    EXPECT_TRUE(without.ends_with("; exact takes any")) << without;
    GemmFactor four = factor_of({"mxfp4-e2m1"}, {2, 64}, 18);
    const std::string narrow = refusal("blackwell-fp4", four, b);
    EXPECT_EQ(narrow.find("model blackwell-fp4 multiplies e2m1 with e8m0 or ue4m3 scales for 16 or "
                          "32 along K, and b.safetensors is mxfp8-e4m3 with e8m0 scales for 32; "
                          "the models that take both factors: blackwell-mx"),
              0u)
        << narrow;
    EXPECT_EQ(refusal("blackwell-mx", factor_of({"mxint8"}, {2, 64}, 19), b),
              "model blackwell-mx multiplies e4m3 e5m2 e3m2 e2m3 e2m1 with e8m0 scales for 32 "
              "along K, and f.safetensors is mxint8 with e8m0 scales for 32; the models that take "
              "both factors: none; exact takes any");
    // A Blackwell has one scale for 32 products, and no other number of them.
    EXPECT_NE(refusal("blackwell-mx", factor_of({"mxfp8-e4m3", 16}, {2, 64}, 19), b)
                  .find("f.safetensors is mxfp8-e4m3 with e8m0 scales for 16"),
              std::string::npos);
    EXPECT_NE(refusal("hopper-fp8-1x128", a, b).find("with f32 scales for 128 along K"),
              std::string::npos);
    EXPECT_NE(error_of(tensor_gemm(a, b, {}, {.activation = Activation::gelu}))
                  .find("only a model says which bits it gives"),
              std::string::npos);
}

TEST(GemmTensor, RefusesShapesThatDoNotGoTogether) {
    const auto refusal = [](const Shape& left, const Shape& right) {
        GemmFactor a = factor_of({}, left, 20), b = factor_of({}, right, 21);
        a.path = "a.safetensors", b.path = "b.safetensors";
        return error_of(tensor_gemm(std::move(a), std::move(b), {}, {}));
    };
    EXPECT_EQ(refusal({2, 64}, {2, 32}),
              "a.safetensors of shape (2, 64) and b.safetensors of shape (2, 32) do not go "
              "together: the last dimension of both is K, and 64 is not 32");
    const std::string batches = "before the last two dimensions B has those of A, or none";
    EXPECT_NE(refusal({2, 4, 8}, {3, 4, 8}).find(batches), std::string::npos);
    EXPECT_NE(refusal({4, 8}, {3, 4, 8}).find(batches), std::string::npos);
    EXPECT_EQ(refusal({2, 64}, {2, 64}), "no error");
    const GemmFactor a = factor_of({}, {2, 8}, 22), b = factor_of({}, {3, 8}, 23);
    EXPECT_EQ(error_of(tensor_gemm(a, b, {GemmAddend{"c.npy", addend_of({3, 2})}}, {.beta = one})),
              "c.npy of shape (3, 2) cannot be added: D has shape (2, 3)");
    data::HostTensor bytes{"c", "u8", {2, 3}, std::vector<std::byte>(6)};
    EXPECT_EQ(error_of(tensor_gemm(a, b, {{}, GemmAddend{"bias.npy", addend_of({2})}}, {})),
              "bias.npy of shape (2,) is no bias: D has 3 columns");
    EXPECT_NE(error_of(tensor_gemm(a, b, {GemmAddend{"c.npy", bytes}}, {.beta = one}))
                  .find("c.npy: unknown type 'u8'"),
              std::string::npos);
}

TEST(GemmTensor, WritesItsRangeAlone) {
    const TensorGemm problem =
        problem_of(factor_of({}, {3, 32}, 26), factor_of({}, {3, 32}, 27), {.type = formats::bf16});
    std::vector<std::byte> d(problem.bytes, std::byte{0xA5});
    gemm_outputs(problem, {4, 6}, d);
    const auto whole = outputs_of(problem);
    for (std::size_t i = 0; i < 9; ++i) {
        const auto bits = std::to_integer<std::uint32_t>(d[2 * i]) |
                          std::to_integer<std::uint32_t>(d[2 * i + 1]) << 8;
        EXPECT_EQ(bits, i == 4 || i == 5 ? whole[i] : 0xA5A5u) << i;
    }
}

// Of no products the sum is zero, and of no rows there is none.
TEST(GemmTensor, EmptyFactors) {
    GemmFactor a = factor_of({}, {2, 32}, 24), b = factor_of({}, {3, 32}, 25);
    a.shape = {2, 0}, b.shape = {3, 0};
    a.codes = b.codes = {};
    EXPECT_EQ(outputs_of(problem_of(a, b, {})), std::vector<std::uint32_t>(6, 0));
    a.shape = {0, 32}, b.shape = {0, 32};
    EXPECT_TRUE(outputs_of(problem_of(a, b, {})).empty());
}

}  // namespace
}  // namespace mx::emulate::test
