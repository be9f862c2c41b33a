// What mxcheck gemm gives against what a run expects of the same case, bit for bit: every row of
// the models and the exact sum, every kind of factor, C, bias, activations, D as numbers and as
// blocks. The exact oracle confirms both.
#include "conformance/emulate/gemm_tensor.hpp"

#include <bit>
#include <cstring>
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
        case GemmPart::row_offsets:
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
bool expect_alike(const FromCase& from, const Case& c, const std::vector<CodeTensor>& inputs,
                  std::string& refusal) {
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
    for (const gemm::ProblemView& asked : {gemm_problem_of(c, inputs), problem.value().view()})
        for (const std::int64_t output : {std::int64_t{0}, asked.outputs() - 1})
            EXPECT_EQ(confirmed_result(asked, asked.output(asked.place(output))).bits,
                      expected[0].at(static_cast<std::size_t>(output)))
                << print(c);
    return true;
}

bool expect_alike(const Case& c, std::string& refusal) {
    const std::vector<CodeTensor> inputs = make_gemm_inputs(c);
    return expect_alike(from_case(c, inputs), c, inputs, refusal);
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
                                        "a=f32 b=f32",
                                        "a=tf32 b=tf32",
                                        "a=e4m3fnuz b=e5m2fnuz"};
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
                if (model == "any" && !is_sum) continue;
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

// A case has no numbers of whole tensors: in it they are part of alpha, as a library has it.
TEST(GemmOracle, NumbersOfTensorsMultiplyAlphaInBinary32) {
    struct Numbers {
        float a, b;
        std::uint32_t divisor_a, divisor_b;
    };
    constexpr Numbers all_numbers[] = {{1.7f, 0.3f, 2688, 2688},
                                       {5.1f, 1.1f, 2688, 1},
                                       {0.7f, -0x1.8p-30f, 1, 1},
                                       {0x1.9p100f, 3e30f, 1536, 2688},
                                       {0.0f, 1.0f, 2688, 1}};
    std::size_t ran = 0;
    for (const char* model : {"blackwell-fp4", "fma-chain-mx", "fma-parts-mx"})
        for (const char* output : outputs)
            for (const Numbers& numbers : all_numbers) {
                auto c = parse_case("gemm shape=3x36x288 a=nvfp4 b=nvfp4 " + std::string(output) +
                                    " model=" + model);
                ASSERT_TRUE(c.ok()) << c.error().message;
                const std::vector<CodeTensor> inputs = make_gemm_inputs(c.value());
                FromCase from = from_case(c.value(), inputs);
                const auto factor_of = [](float number, std::uint32_t divisor) {
                    return TensorFactor{Code{std::bit_cast<std::uint32_t>(number)}, divisor};
                };
                from.a.tensor = factor_of(numbers.a, numbers.divisor_a);
                from.b.tensor = factor_of(numbers.b, numbers.divisor_b);
                float alpha = std::bit_cast<float>(c.value().gemm.alpha) * numbers.a * numbers.b;
                const auto divisor = static_cast<float>(numbers.divisor_a * numbers.divisor_b);
                if (divisor != 1) alpha *= 1 / divisor;
                c.value().gemm.alpha = std::bit_cast<std::uint32_t>(alpha);
                std::string refusal;
                EXPECT_TRUE(expect_alike(from, c.value(), inputs, refusal))
                    << print(c.value()) << refusal;
                if (HasFailure()) return;
                ++ran;
            }
    EXPECT_GE(ran, 180u);
}

// A file as mxcheck quantize writes it, or of plain values; and the factor of a case, if it has
// such a one.
struct Kind {
    const char *format, *dialect;
    bool has_rows = false;
    const char* in_case = "";
};

GemmFactor factor_from_file(const Kind& kind, const Shape& shape, const std::string& path) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < product(shape); ++i) {
        const auto place = static_cast<std::uint32_t>(i) * 2654435761u;
        values.push_back((static_cast<float>(place >> 12) - 0x1p19f) * 0x1p-17f);
    }
    data::TensorFile file;
    file.tensors.push_back(f32_tensor(shape, values));
    const bool is_plain = find_element_format(kind.format) != nullptr;
    if (!is_plain) {
        file = quantized(file.tensors.front(), names_of(kind.format, kind.dialect)).file;
    } else if (kind.format != formats::f32.name) {
        const ElementFormat& type = *find_element_format(kind.format);
        data::HostTensor narrow{"x", kind.format, shape, {}};
        for (const float value : values) {
            const exact::Value number =
                exact::decode(formats::f32, Code{std::bit_cast<std::uint32_t>(value)});
            const Code code =
                exact::round(type, Rounding::nearest_even, Overflow::saturate, number);
            for (int shift = 0; shift < 8 * type.code_bytes(); shift += 8)
                narrow.bytes.push_back(static_cast<std::byte>(code.bits >> shift & 0xFF));
        }
        file.tensors.front() = narrow;
    }
    auto factor = gemm_factor(path, std::move(file));
    EXPECT_TRUE(factor.ok()) << factor.error().message;
    if (!kind.has_rows) return std::move(factor).value();
    data::TensorFile rows;
    const auto count = static_cast<std::size_t>(shape.front());
    rows.tensors.push_back(f32_tensor({shape.front()}, std::vector<float>(count, 0.7f)));
    EXPECT_TRUE(scale_rows(factor.value(), "rows.npy", rows).ok());
    return std::move(factor).value();
}

constexpr const char* fp8_models =
    "ada-fp8 ada-fp8-f16 hopper-fp8 hopper-fp8-promoted hopper-fp8-f16 mma-sync-fp8 "
    "mma-sync-fp8-f16 blackwell-narrow blackwell-fp8-f16 fma-chain fma-parts amx-fp8 arm-fp8-dot4 "
    "arm-fp8-mmla8 arm-fp8-mlal-f16 arm-fp8-dot2-f16 arm-fp8-mmla4-f16 rvv-fp8-vlen128 "
    "rvv-fp8-vlen256";
constexpr const char* mx_models =
    "hopper-mx-wgmma hopper-mx-slices hopper-mx-bf16 blackwell-mx fma-chain-mx fma-parts-mx";
constexpr const char* nvfp4_models = "blackwell-fp4 fma-chain-mx fma-parts-mx";
constexpr const char* half_models =
    "volta-f16 turing-f16 ampere-half hopper-half hopper-half-residue-64 hopper-half-residue-128 "
    "hopper-half-k8-residue-32 hopper-lanes-16 volta-f16-f16 ampere-f16-f16 "
    "hopper-f16-f16 "
    "cdna1-f16 cdna2-half cdna3-half fma-chain fma-parts vdpphps amx-half";

// What a run expects of the same codes, where there is such a case.
void expect_as_a_run(const Case& c, const TensorGemm& problem, const std::vector<std::byte>& d) {
    std::vector<CodeTensor> inputs = make_gemm_inputs(c);
    const std::vector<GemmTensor> tensors = tensors_of(c);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const bool is_of_a =
            tensors[i].part == GemmPart::a || tensors[i].part == GemmPart::scales_a;
        const bool is_codes = tensors[i].part == GemmPart::a || tensors[i].part == GemmPart::b;
        const GemmFactor& factor = is_of_a ? problem.a : problem.b;
        const std::vector<std::byte>& scales =
            factor.row_numbers.empty() ? factor.codes.scales : factor.row_numbers;
        const std::vector<std::byte>& bytes = is_codes ? factor.codes.elements : scales;
        ASSERT_EQ(inputs[i].bytes.size(), bytes.size()) << print(c);
        inputs[i].bytes = bytes;
    }
    EXPECT_EQ(expect_gemm(c, inputs)[0].bytes, d) << print(c);
}

void expect_as_exact(const TensorGemm& problem, const std::vector<std::byte>& d) {
    const gemm::ProblemView asked = problem.view();
    for (std::int64_t i = 0; i < asked.outputs(); i += 17) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, d.data() + 4 * i, 4);
        EXPECT_EQ(bits, confirmed_result(asked, asked.output(asked.place(i))).bits) << i;
    }
}

struct Row {
    Kind a, b;
    const char* models;
};
constexpr Kind f32{"f32", "", false, "f32"}, f16{"f16", "", false, "f16"};
constexpr Kind fnuz{"e4m3fnuz", "", false, "e4m3fnuz"};
constexpr Kind bf16{"bf16", "", false, "bf16"}, e4m3{"e4m3", "", false, "e4m3"};
constexpr Kind tensor{"fp8-e4m3-tensor", "te-fp8-current", false, "e4m3:tensor"};
constexpr Kind rows{"e5m2", "", true, "e5m2:row"};
constexpr Kind line{"fp8-e4m3-1x128", "te-fp8-block", false, "e4m3:1x128"};
constexpr Kind square{"fp8-e4m3-128x128", "te-fp8-block", false, "e4m3:128x128"};
constexpr Kind mxfp8{"mxfp8-e5m2", "ocp", false, "mxfp8-e5m2"};
constexpr Kind mxfp6{"mxfp6-e2m3", "ocp", false, "mxfp6-e2m3"};
constexpr Kind mxfp4{"mxfp4-e2m1", "ocp", false, "mxfp4-e2m1"};
constexpr Kind mxint8{"mxint8", "ocp"}, mx_rows{"mxfp8-e4m3", "ocp", true};
constexpr Kind single{"nvfp4", "torchao-nvfp4-single", false, "nvfp4"};
constexpr Kind nvfp4{"nvfp4", "te-nvfp4"}, torchao{"nvfp4", "torchao-nvfp4"};
constexpr Kind tile{"nvfp4-16x16", "te-nvfp4"}, f16_rows{"f16", "", true};
constexpr Row taken[] = {
    {f32, f32, "fma-chain fma-parts"},
    {f16, f16, half_models},
    {bf16, bf16,
     "ampere-half hopper-half hopper-half-residue-64 hopper-half-residue-128 "
     "hopper-half-k8-residue-32 hopper-lanes-16 hopper-half-residue-16 cdna1-bf16 cdna2-half "
     "cdna2-bf16-pairs "
     "cdna3-half fma-chain fma-parts vdpbf16ps amx-half rvv-bf16-vlen256"},
    {fnuz, fnuz, "cdna3-fp8"},
    {f16_rows, f16, half_models},
    {f32, mxfp8, ""},
    {e4m3, e4m3, fp8_models},
    {tensor, tensor, fp8_models},
    {rows, rows, fp8_models},
    {tensor, rows, ""},
    {line, line, "hopper-fp8-1x128"},
    {square, line, "hopper-fp8-128x128"},
    {square, square, ""},
    {line, tensor, ""},
    {mxfp8, mxfp8, mx_models},
    {mxfp6, mxfp8, "blackwell-mx fma-chain-mx fma-parts-mx"},
    {mxfp4, mxfp4, "blackwell-mx blackwell-fp4 fma-chain-mx fma-parts-mx"},
    {mxfp8, tensor, ""},
    {mxint8, mxint8, ""},
    {mx_rows, mxfp8, ""},
    {single, single, nvfp4_models},
    {nvfp4, single, nvfp4_models},
    {nvfp4, nvfp4, nvfp4_models},
    {torchao, torchao, nvfp4_models},
    {nvfp4, mxfp4, nvfp4_models},
    {tile, nvfp4, nvfp4_models},
    // A factor without a scale beside one of its kind that has one: 1. No case says that.
    {{"e4m3", ""}, tensor, fp8_models},
    {tensor, {"e4m3", ""}, fp8_models},
    {rows, {"e4m3", ""}, fp8_models},
};

// Which rows take which files, typed out: gemm takes these and says of all others why not, and a
// case of a run has the same answer. D is what the exact oracle confirms.
TEST(GemmOracle, EveryModelTakesTheFilesItIsAbout) {
    for (const auto& [a, b, models] : taken) {
        const GemmFactor left = factor_from_file(a, {3, 288}, "a.safetensors");
        const GemmFactor right = factor_from_file(b, {36, 288}, "b.safetensors");
        for (const GemmModel& model : gemm_models) {
            const std::string name(model.name);
            SCOPED_TRACE(std::string(a.format) + " times " + b.format + " under " + name);
            const auto problem =
                tensor_gemm(left, right, {}, {.model = &model, .alpha = {0x3FA00000}});
            EXPECT_EQ(problem.ok(), lists(models, name)) << error_of(problem);
            if (!problem) {
                EXPECT_EQ(problem.error().message.find("model " + name + " "), 0u)
                    << problem.error().message;
            }
            const auto c = parse_case(
                "gemm shape=3x36x288 data=gemm.uniform alpha=1.25 a=" + std::string(a.in_case) +
                " b=" + b.in_case + " model=" + name);
            const bool is_case = c.ok() && check_combination(c.value()).ok();
            const bool has_case = *a.in_case != 0 && *b.in_case != 0;
            if (has_case) {
                EXPECT_EQ(is_case, problem.ok());
            }
            if (!problem) continue;
            std::vector<std::byte> d(problem.value().bytes);
            gemm_outputs(problem.value(), {0, problem.value().outputs()}, d);
            expect_as_exact(problem.value(), d);
            if (is_case) expect_as_a_run(c.value(), problem.value(), d);
        }
    }
}

}  // namespace
}  // namespace mx::emulate::test
