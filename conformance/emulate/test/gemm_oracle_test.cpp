// What mxcheck gemm gives against what a run expects of the same case, bit for bit: every row of
// the models and the exact sum, every kind of factor, C, bias, activations, D as numbers and as
// blocks. The exact oracle confirms both.
#include "conformance/emulate/gemm_tensor.hpp"

#include <map>

#include "conformance/case/names.hpp"
#include "conformance/emulate/quantize_values.hpp"
#include "conformance/emulate/test/tensors.hpp"
#include "conformance/run/gemm_confirm.hpp"
#include "conformance/run/gemm_judge.hpp"
#include "conformance/run/gemm_problem.hpp"
#include "reference/exact/arithmetic.hpp"
#include "reference/exact/dot_model.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::emulate::test {
namespace {

// The tensors of a case as files hold them.
struct FromCase {
    GemmFactor a, b;
    GemmAddends addends;
    GemmRules rules;
};

GemmFactor factor_of(const gemm::Factor& from, const Shape& shape) {
    GemmFactor factor;
    factor.path = factor.format = from.element.name;
    factor.element = from.element;
    factor.scaling = from.scaling == gemm::Scaling::row ? gemm::Scaling::none : from.scaling;
    factor.scale = from.scale;
    factor.block = from.block;
    factor.block_rows = from.block_rows;
    factor.shape = shape;
    return factor;
}

void take(FromCase& made, GemmPart part, const CodeTensor& tensor, const Case& c) {
    const auto addend = [&](Shape shape) {
        return GemmAddend{"x.npy", {"x", tensor.type, std::move(shape), tensor.bytes}};
    };
    const bool is_row_a = c.gemm.a.scaling == FactorScaling::row;
    const bool is_row_b = c.gemm.b.scaling == FactorScaling::row;
    const std::int64_t n = c.gemm.n;
    switch (part) {
        case GemmPart::a:
            made.a.codes.elements = tensor.bytes;
            break;
        case GemmPart::b:
            made.b.codes.elements = tensor.bytes;
            break;
        case GemmPart::scales_a:
            (is_row_a ? made.a.row_numbers : made.a.codes.scales) = tensor.bytes;
            break;
        case GemmPart::scales_b:
            (is_row_b ? made.b.row_numbers : made.b.codes.scales) = tensor.bytes;
            break;
        case GemmPart::c:
            made.addends.c = addend({c.gemm.batches, c.gemm.m, n});
            break;
        case GemmPart::bias:
            made.addends.bias = addend({n});
            break;
        case GemmPart::scale_out:
            made.rules.scale_out = Code{tensor.at(0)};
            break;
        case GemmPart::d:
        case GemmPart::scales_d:
            break;
    }
}

FromCase from_case(const Case& c, const std::vector<CodeTensor>& inputs) {
    const gemm::ProblemView problem = gemm_problem_of(c, inputs);
    FromCase made;
    made.a = factor_of(problem.a, {c.gemm.batches, c.gemm.m, c.gemm.k});
    made.b = factor_of(problem.b, {c.gemm.batches, c.gemm.n, c.gemm.k});
    made.rules.model = problem.model;
    made.rules.type = problem.epilogue.output;
    made.rules.alpha = problem.alpha;
    made.rules.beta = problem.beta;
    made.rules.activation = problem.epilogue.activation;
    made.rules.parts = parts_of(c.gemm.algorithm);
    // A run's FP8 saturates, exact or not.
    if (problem.model == nullptr && problem.epilogue.is_narrow())
        made.rules.overflow = Overflow::saturate;
    const std::vector<GemmTensor> tensors = tensors_of(c);
    for (std::size_t i = 0; i < inputs.size(); ++i) take(made, tensors[i].part, inputs[i], c);
    return made;
}

// D in blocks, read back from what would be written.
void expect_blocks(const TensorGemm& problem, const Case& c,
                   const std::vector<CodeTensor>& expected) {
    BlockNames names;
    names.format = type_name(c);
    names.dialect = c.dialect->name;
    names = completed(names);
    const auto made = [&]() -> Expected<QuantizedTensor> {
        if (problem.rules.model == nullptr && c.dialect->has_e8m0_scales()) {
            ValueTensor d{{}, problem.shape};
            d.values.resize(static_cast<std::size_t>(problem.outputs()));
            gemm_values(problem, {0, problem.outputs()}, d.values);
            return quantize_values(d, names, "9.9.9");
        }
        data::HostTensor d{"values", "f32", problem.shape, {}};
        d.bytes.resize(problem.bytes);
        gemm_outputs(problem, {0, problem.outputs()}, d.bytes);
        return quantize_tensor(std::move(d), names, {.program_version = "9.9.9"});
    }();
    ASSERT_TRUE(made.ok()) << made.error().message;
    const auto codes = gemm_factor("d.safetensors", made.value().file);
    ASSERT_TRUE(codes.ok()) << codes.error().message;
    EXPECT_EQ(codes.value().codes.elements, expected[0].bytes) << print(c);
    EXPECT_EQ(codes.value().codes.scales, expected[1].bytes) << print(c);
}

// False where gemm refuses; what it says is then in `refusal`.
bool expect_alike(const Case& c, std::string& refusal) {
    const std::vector<CodeTensor> inputs = make_gemm_inputs(c);
    const FromCase from = from_case(c, inputs);
    const auto problem = tensor_gemm(from.a, from.b, from.addends, from.rules);
    if (!problem) {
        refusal = problem.error().message;
        return false;
    }
    const std::vector<CodeTensor> expected = expect_gemm(c, inputs);
    if (has_output_blocks(c)) {
        expect_blocks(problem.value(), c, expected);
        return true;
    }
    std::vector<std::byte> d(problem.value().bytes);
    gemm_outputs(problem.value(), {0, problem.value().outputs()}, d);
    EXPECT_EQ(d, expected[0].bytes) << print(c);
    const gemm::ProblemView asked = gemm_problem_of(c, inputs);
    for (const std::int64_t output : {std::int64_t{0}, asked.outputs() - 1})
        EXPECT_EQ(confirmed_result(asked, asked.output(asked.place(output))).bits,
                  expected[0].at(static_cast<std::size_t>(output)))
            << print(c);
    return true;
}

constexpr const char* factor_pairs[] = {"a=e4m3:tensor b=e5m2:tensor",
                                        "a=e5m2:row b=e4m3:row",
                                        "a=e4m3 b=e5m2",
                                        "a=e4m3:1x128 b=e4m3:1x128",
                                        "a=e4m3:1x128 b=e5m2:128x128",
                                        "a=mxfp8-e4m3 b=mxfp8-e5m2",
                                        "a=mxfp6-e3m2 b=mxfp4-e2m1",
                                        "a=mxfp4-e2m1 b=mxfp4-e2m1",
                                        "a=nvfp4 b=nvfp4",
                                        "a=bf16 b=bf16",
                                        "a=f16 b=f16",
                                        "a=f32 b=f32"};
constexpr const char* outputs[] = {
    "output=f32 data=gemm.uniform",
    "output=f32 data=gemm.special alpha=-1.5",
    "output=bf16 data=gemm.cancelling alpha=0.75 beta=-1.25 epilogue=bias",
    "output=f16 data=gemm.zeros beta=1 epilogue=bias-relu",
    "output=e4m3 data=gemm.middle beta=0.5 epilogue=bias",
    "output=e5m2 data=gemm.small epilogue=relu",
    "output=f32 data=gemm.zero-rows epilogue=gelu",
    "output=bf16 data=gemm.middle alpha=-0.5 epilogue=bias-gelu",
    "output=mxfp8-e4m3 data=gemm.middle",
    "output=mxfp4-e2m1 data=gemm.middle beta=2 epilogue=bias",
    "output=nvfp4 data=gemm.middle",
    "output=nvfp4 data=gemm.middle alpha=-2 epilogue=bias-relu"};

// Another mode of cuBLASLt: a run takes the case, gemm says which row fits.
bool is_other_mode(const Case& c) {
    const bool has_squares = c.gemm.b.scaling == FactorScaling::f32_128x128;
    return name_of(c.gemm.model) == (has_squares ? "hopper-fp8-1x128" : "hopper-fp8-128x128");
}

TEST(GemmOracle, GivesWhatARunExpectsOfEveryModel) {
    std::map<std::string, std::size_t> ran;
    std::vector<std::string> models{"any"};
    for (const GemmModel& model : gemm_models) models.emplace_back(model.name);
    for (const std::string& model : models)
        for (const char* factors : factor_pairs)
            for (const char* output : outputs) {
                // Rows of several batches would share the scales of 128.
                const bool has_squares = std::string_view(factors).ends_with(":128x128");
                const std::string batches = has_squares ? " batches=1" : " batches=2";
                const auto c = parse_case("gemm shape=3x36x288 " + std::string(factors) + batches +
                                          " " + output + " model=" + model);
                if (!c || !check_combination(c.value()) || !check_gemm_data(c.value())) continue;
                const bool is_sum = c.value().gemm.epilogue.activation != Activation::gelu;
                if (is_other_mode(c.value()) || (model == "any" && !is_sum)) continue;
                std::string refusal;
                EXPECT_TRUE(expect_alike(c.value(), refusal)) << print(c.value()) << refusal;
                if (HasFailure()) return;
                ++ran[model];
            }
    for (const std::string& model : models) EXPECT_GE(ran[model], 10u) << model;
}

// Split-K: the same parts, whatever the factors, and other bits than of the whole.
TEST(GemmOracle, GivesWhatARunExpectsOfPartsAlongK) {
    struct Split {
        const char *factors, *model;
    };
    constexpr Split splits[] = {{"a=e4m3:tensor b=e5m2:tensor", "hopper-fp8-promoted"},
                                {"a=e4m3:1x128 b=e4m3:128x128", "hopper-fp8-128x128"},
                                {"a=bf16 b=bf16", "hopper-half"},
                                {"a=mxfp4-e2m1 b=mxfp4-e2m1", "blackwell-mx"}};
    std::size_t differing = 0;
    for (const auto& [factors, model] : splits)
        for (const char* output : {"output=f32", "output=bf16 beta=-1.25 epilogue=bias"})
            for (const char* parts : {"1", "3", "5"}) {
                const auto c = parse_case("gemm shape=3x36x1504 data=gemm.uniform alpha=0.75 " +
                                          std::string(factors) + " " + output + " model=" + model +
                                          " algorithm=id=66,splitk=" + parts);
                ASSERT_TRUE(c.ok()) << c.error().message;
                std::string refusal;
                EXPECT_TRUE(expect_alike(c.value(), refusal)) << print(c.value()) << refusal;
                Case whole = c.value();
                whole.gemm.algorithm = "default";
                const std::vector<CodeTensor> inputs = make_gemm_inputs(whole);
                if (expect_gemm(whole, inputs)[0].bytes != expect_gemm(c.value(), inputs)[0].bytes)
                    ++differing;
            }
    EXPECT_GT(differing, 4u);
}

// The row's accumulator is IEEE 754's, so that what is too small for binary32 leaves a -0; the
// epilogue adds +0, as the plain code does that the row describes (device/cpu). D is +0.
TEST(GemmOracle, ALoneProductBelowBinary32LeavesNoSignInD) {
    const Case c = parse_case(
                       "gemm a=mxfp8-e4m3 b=mxfp8-e4m3 shape=1x1x1 data=gemm.zeros "
                       "model=fma-chain-mx")
                       .value();
    std::vector<CodeTensor> inputs = make_gemm_inputs(c);
    inputs[0].set(0, 0xB8);
    inputs[2].set(0, 0x38);
    for (const std::size_t scales : {1u, 3u}) inputs[scales].set(0, 0);  // 2^-127
    const gemm::ProblemView problem = gemm_problem_of(c, inputs);
    const gemm::Output output = problem.output({0, 0});
    const exact::Value accumulator =
        exact::accumulate(*problem.model, output.a, output.b, 1, exact::number(0));
    EXPECT_EQ(exact::round(formats::f32, Rounding::nearest_even, Overflow::overflow, accumulator),
              Code{0x80000000});
    EXPECT_EQ(confirmed_result(problem, output), Code{0});
    EXPECT_EQ(expect_gemm(c, inputs)[0].at(0), 0u);
    std::string refusal;
    const FromCase from = from_case(c, inputs);
    const auto asked = tensor_gemm(from.a, from.b, from.addends, from.rules);
    ASSERT_TRUE(asked.ok()) << asked.error().message;
    std::vector<std::byte> d(4, std::byte{0xA5});
    gemm_outputs(asked.value(), {0, 1}, d);
    EXPECT_EQ(d, std::vector<std::byte>(4));
}

}  // namespace
}  // namespace mx::emulate::test
