// Quantized files as factors of a GEMM: rows as the exact oracle reads them, factors of whole
// tensors worked by hand, every recipe against sums over its file's own tensors, and refusals.
#include "conformance/emulate/gemm_factor.hpp"
#include "conformance/emulate/stored_tensors.hpp"

#include "conformance/emulate/gemm_tensor.hpp"
#include "conformance/emulate/test/tensors.hpp"
#include "reference/exact/arithmetic.hpp"
#include "reference/exact/dot.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::emulate::test {
namespace {

std::uint32_t word_at(const std::vector<std::byte>& bytes, std::size_t index) {
    std::uint32_t bits = 0;
    for (std::size_t byte = 4; byte-- > 0;)
        bits = bits << 8 | std::to_integer<std::uint32_t>(bytes[4 * index + byte]);
    return bits;
}

std::uint32_t f32_of(const exact::Value& value) {
    return exact::round(formats::f32, Rounding::nearest_even, Overflow::overflow, value).bits;
}

QuantizedTensor encoded(const data::HostTensor& tensor, const BlockNames& names) {
    QuantizeOptions options{.program_version = "9.9.9"};
    if (find_quantizer(names.dialect) != nullptr &&
        find_quantizer(names.dialect)->tensor_scale == TensorScale::history)
        options.history = {Code{0x40000000}};
    auto result = quantize_tensor(tensor, names, options);
    EXPECT_TRUE(result.ok()) << result.error().message;
    return std::move(result).value();
}

GemmFactor factor_in(data::TensorFile file) {
    auto factor = gemm_factor("x.safetensors", std::move(file));
    EXPECT_TRUE(factor.ok()) << factor.error().message;
    return std::move(factor).value();
}

std::vector<std::uint32_t> product_of(const GemmFactor& a, const GemmFactor& b,
                                      const GemmRules& rules = {}) {
    const auto problem = tensor_gemm(a, b, {}, rules);
    EXPECT_TRUE(problem.ok()) << problem.error().message;
    std::vector<std::byte> d(problem.value().bytes);
    gemm_outputs(problem.value(), {0, problem.value().outputs()}, d);
    std::vector<std::uint32_t> codes;
    for (std::size_t i = 0; i < d.size() / 4; ++i) codes.push_back(word_at(d, i));
    return codes;
}

TEST(GemmFactor, ComesFromAQuantizedFile) {
    const data::HostTensor tensor = powers_of_two({2, 3, 40});
    for (const char* packing : {"low_first", "inline"}) {
        BlockNames names = names_of("mxfp4-e2m1");
        names.packing = packing;
        const GemmFactor factor = factor_in(quantized(tensor, names).file);
        EXPECT_EQ(factor.rows(), 3);
        EXPECT_EQ(factor.depth(), 40);
        for (std::int64_t i = 0; i < 240; ++i)
            EXPECT_EQ(f32_of(exact::scaled_element(factor.view().row(i / 40), i % 40)),
                      word_at(tensor.bytes, static_cast<std::size_t>(i)))
                << i;
    }
}

// One lane of E2M1, 1 times a scale of 1, in a tensor whose number is 1.
data::TensorFile one_in_nvfp4() {
    data::TensorFile file = encoded(f32_tensor({1, 2}, {1, 0}), names_of("nvfp4", "te-nvfp4")).file;
    file.tensors[0].bytes = {std::byte{0x02}};
    file.tensors[1].bytes = {std::byte{0x38}};
    file.tensors[2].bytes = f32_tensor({1, 1}, {1}).bytes;
    return file;
}

// TransformerEngine keeps the amax, which over 6 * 448 = 2688 is what a scale of 1 stands for.
TEST(GemmFactor, ANumberOfTheTensorIsNotRounded) {
    const GemmFactor te = factor_in(one_in_nvfp4());
    EXPECT_EQ(te.tensor.divisor, 2688u);
    const GemmFactor mx =
        factor_in(quantized(f32_tensor({1, 2}, {1, 0}), names_of("mxfp8-e4m3")).file);
    EXPECT_EQ(product_of(te, mx), std::vector<std::uint32_t>{0x39C30C31});  // 1 / 2688
    EXPECT_EQ(product_of(te, te), std::vector<std::uint32_t>{0x34149B93});  // 1 / 2688^2
    // 4032 / 2688, which a rounded 1 / 2688 would miss.
    GemmRules rules{.alpha = {0x457C0000}};
    EXPECT_EQ(product_of(te, mx, rules), std::vector<std::uint32_t>{0x3FC00000});  // 1.5
    // The lane's own 6 and the others' 3, in two blocks: 36 + 19 * 9.
    std::vector<float> lanes(20, 3.0f);
    lanes[0] = 6.0f;
    const GemmFactor row =
        factor_in(encoded(f32_tensor({1, 20}, lanes), names_of("nvfp4", "te-nvfp4")).file);
    EXPECT_EQ(product_of(row, row), std::vector<std::uint32_t>{0x434F0000});  // 207
}

TEST(GemmFactor, SpecialScalesOfRecipes) {
    const BlockNames names = names_of("fp8-e4m3-1x128", "te-fp8-block");
    const auto with_scale = [&](std::uint32_t scale, std::byte element) {
        data::TensorFile file = encoded(f32_tensor({1, 2}, {1, 0}), names).file;
        file.tensors[0].bytes = {element, std::byte{0}};
        for (std::size_t i = 0; i < 4; ++i)
            file.tensors[1].bytes[i] = static_cast<std::byte>(scale >> (8 * i) & 0xFF);
        return factor_in(std::move(file));
    };
    const GemmFactor plain = with_scale(0x3F800000, std::byte{0x38});
    const auto with = [&](std::uint32_t scale, std::byte element) {
        return product_of(with_scale(scale, element), plain).front();
    };
    EXPECT_EQ(with(0x3F800000, std::byte{0x38}), 0x3F800000u);
    EXPECT_EQ(with(0xBF800000, std::byte{0x38}), 0xBF800000u);  // a scale may be negative
    EXPECT_EQ(with(0x7F800000, std::byte{0x38}), 0x7FFFFFFFu);  // Inf * the other lane, a zero
    EXPECT_EQ(with(0x7FC00000, std::byte{0}), 0x7FFFFFFFu);     // NaN * 0
    EXPECT_EQ(with(0x80000000, std::byte{0x38}), 0u);           // a sum of zeros is +0
    EXPECT_EQ(with(0x7F7FFFFF, std::byte{0x40}), 0x7F800000u);  // twice the largest f32
    EXPECT_EQ(with(0x00000001, std::byte{0x30}), 0u);           // half the least: a tie to even
    EXPECT_EQ(with(0x00000001, std::byte{0x31}), 1u);           // 9/16 of it
}

// The value of every lane, from the codes of the file and the grid of its blocks.
std::vector<exact::Value> values_in(data::TensorFile file, const BlockNames& names) {
    const Quantizer& recipe = *find_quantizer(names.dialect);
    const BlockFormat& format = *find_block_format(names.format);
    const auto facts = read_facts(file, names);
    const auto layout = layout_of(facts.value().shape, block_shape(names));
    const Problem p = problem_of_slice(names, layout.value(), OperationKind::dequantize);
    Codes codes = load(file, names, layout.value()).value();
    exact::Value number = exact::number(1);
    if (recipe.way_back != WayBack::times_scale) {
        CodeTensor kept = make_tensor(shape_of(p, Part::tensor_number));
        kept.bytes = codes.tensor_number;
        number = exact::decode(formats::f32, Code{kept.at(0)});
    }
    if (recipe.way_back == WayBack::times_scale_amax) number.magnitude /= 6 * recipe.scale_max;
    std::vector<exact::Value> values;
    for (std::int64_t index = 0; index < layout.value().slices; ++index) {
        const Slice slice{index, layout.value().slices};
        const CodeTensor elements = take_slice(codes.elements, shape_of(p, Part::elements), slice);
        const CodeTensor scales = take_slice(codes.scales, shape_of(p, Part::scales), slice);
        for (std::size_t at = 0; at < elements.count(); ++at) {
            const auto block = static_cast<std::size_t>(lane_of(blocking_of(p), at).block);
            values.push_back(exact::times(
                exact::times(number, exact::decode(format.scale(), Code{scales.at(block)})),
                exact::decode(format.element(), Code{elements.at(at)})));
        }
    }
    return values;
}

// Values that neither blocks of a row nor rows have in common.
data::HostTensor varied(const Shape& shape, const char* type) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < product(shape); ++i)
        values.push_back(static_cast<float>((i * 37 + i / 7) % 61 - 30) *
                         static_cast<float>(1 + i / 40 % 5));
    data::HostTensor tensor = f32_tensor(shape, values);
    if (std::string(type) == "f32") return tensor;
    tensor.type = type;
    std::vector<std::byte> bytes;
    for (std::size_t i = 0; i < tensor.bytes.size(); i += 4)  // whole numbers fit in bfloat16
        bytes.insert(bytes.end(), {tensor.bytes[i + 2], tensor.bytes[i + 3]});
    tensor.bytes = bytes;
    return tensor;
}

// Every recipe with every format it makes, times itself and times MXFP8.
TEST(GemmFactor, EveryRecipeMultipliesExactly) {
    const Shape shape{2, 18, 144};
    const data::HostTensor other = varied({2, 3, 144}, "f32");
    const QuantizedTensor mx_file = quantized(other, names_of("mxfp8-e5m2"));
    const GemmFactor mx = factor_in(mx_file.file);
    for (const Quantizer& recipe : real_scale_quantizers)
        for (const BlockFormat& format : real_scale_formats) {
            if (!recipe.quantizes(format)) continue;
            const BlockNames names = names_of(std::string(format.name), std::string(recipe.name));
            const data::HostTensor tensor = varied(shape, recipe.reads("f32") ? "f32" : "bf16");
            const data::TensorFile file = encoded(tensor, names).file;
            const std::vector<exact::Value> values = values_in(file, names);
            const GemmFactor factor = factor_in(file);
            const auto row_times = [&](std::int64_t i, const auto& right_at) {
                exact::Value sum = exact::number(0);
                for (std::int64_t k = 0; k < 144; ++k)
                    sum = exact::plus(
                        sum,
                        exact::times(values[static_cast<std::size_t>(i * 144 + k)], right_at(k)));
                return f32_of(exact::is_zero(sum) ? exact::number(0) : sum);
            };
            const auto with_itself = product_of(factor, factor);
            for (const std::int64_t output : {0, 17, 18 * 16 + 5, 18 * 18 + 7, 2 * 18 * 18 - 1}) {
                const std::int64_t row = output / 18, column = row / 18 * 18 + output % 18;
                EXPECT_EQ(with_itself[static_cast<std::size_t>(output)],
                          row_times(row,
                                    [&](std::int64_t k) {
                                        return values[static_cast<std::size_t>(column * 144 + k)];
                                    }))
                    << recipe.name << " " << format.name << " " << output;
            }
            if (recipe.transform != LaneTransform::none) continue;
            const auto with_mx = product_of(factor, mx);
            for (const std::int64_t output : {1, 52, 3 * 20 + 2, 3 * 36 - 1}) {
                const std::int64_t row = output / 3, column = row / 18 * 3 + output % 3;
                EXPECT_EQ(with_mx[static_cast<std::size_t>(output)],
                          row_times(row,
                                    [&](std::int64_t k) {
                                        return exact::scaled_element(mx.view().row(column), k);
                                    }))
                    << recipe.name << " " << format.name << " " << output;
            }
        }
}

TEST(GemmFactor, ModelsTakeTheRecipesTheyAreOf) {
    const auto factor = [](const char* format, const char* dialect) {
        return factor_in(encoded(varied({3, 256}, "f32"), names_of(format, dialect)).file);
    };
    const auto refusal = [](const char* model, const GemmFactor& a, const GemmFactor& b) {
        return error_of(tensor_gemm(a, b, {}, {.model = find_gemm_model(model)}));
    };
    const GemmFactor single = factor("nvfp4", "torchao-nvfp4-single");
    EXPECT_EQ(refusal("blackwell-fp4", single, single), "no error");
    const GemmFactor rows = factor("fp8-e4m3-1x128", "te-fp8-block");
    const GemmFactor squares = factor("fp8-e4m3-128x128", "te-fp8-block");
    EXPECT_EQ(refusal("hopper-fp8-1x128", rows, rows), "no error");
    EXPECT_EQ(refusal("hopper-fp8-128x128", rows, squares), "no error");
    EXPECT_EQ(refusal("hopper-fp8-1x128", rows, squares),
              "model hopper-fp8-1x128 has scales of each row on both sides, and x.safetensors has "
              "one for 1, x.safetensors one for 128; the models that take both factors: "
              "hopper-fp8-128x128; exact takes any");
    EXPECT_EQ(
        refusal("hopper-fp8-128x128", squares, squares),
        "model hopper-fp8-128x128 has scales of many rows on one side and of each row on the "
        "other, and x.safetensors has one for 128, x.safetensors one for 128; the models that "
        "take both factors: none; exact takes any");
    EXPECT_EQ(refusal("blackwell-fp4", factor("nvfp4", "te-nvfp4"), single), "no error");
    EXPECT_NE(refusal("blackwell-mx", factor("nvfp4", "te-nvfp4"), single)
                  .find("is nvfp4 with ue4m3 scales for 16 and a number for the whole tensor"),
              std::string::npos);
    const GemmFactor whole = factor("fp8-e4m3-tensor", "te-fp8-current");
    EXPECT_NE(
        refusal("hopper-fp8-1x128", whole, rows).find("is fp8-e4m3-tensor with one scale for all"),
        std::string::npos);
    EXPECT_NE(product_of(rows, rows, {.model = find_gemm_model("hopper-fp8-1x128")}),
              product_of(rows, rows));
}

TEST(GemmFactor, RefusesWhatIsNone) {
    const data::HostTensor tensor = powers_of_two({4, 40});
    const auto refusal = [](data::TensorFile file) {
        return error_of(gemm_factor("x.safetensors", std::move(file)));
    };
    EXPECT_EQ(refusal({{{"x", "u8", {4, 40}, std::vector<std::byte>(160)}}, {}}),
              "x.safetensors: holds no elements with scales; mxcheck quantize makes them of "
              "values");
    for (const char* axis : {"col", "tile"})
        EXPECT_NE(refusal(quantized(tensor, names_of("mxfp8-e4m3", "ocp", axis)).file)
                      .find("x.safetensors: its blocks are of axis " + std::string(axis)),
                  std::string::npos);
    EXPECT_EQ(refusal(quantized(powers_of_two({40}), names_of("mxfp8-e4m3")).file),
              "x.safetensors: has shape (40,), and a factor needs two dimensions, rows and K");
    data::TensorFile damaged = quantized(tensor, names_of("mxfp8-e4m3")).file;
    damaged.tensors.pop_back();
    EXPECT_EQ(refusal(damaged), "x.safetensors: has no tensor 'scales', which its metadata need");
    damaged = one_in_nvfp4();
    damaged.tensors[1].bytes[0] |= std::byte{0x80};
    EXPECT_EQ(refusal(damaged),
              "x.safetensors: scale 0 is byte 184, and a UE4M3 scale has no sign");
    damaged = one_in_nvfp4();
    damaged.tensors.pop_back();
    EXPECT_EQ(refusal(damaged),
              "x.safetensors: has no tensor 'tensor_scale', which its metadata need");
}

TEST(GemmFactor, RotatedLanesGoWithRotatedLanes) {
    const data::HostTensor tensor = varied({2, 32}, "bf16");
    GemmFactor rotated = factor_in(encoded(tensor, names_of("nvfp4", "te-nvfp4-rht")).file);
    const GemmFactor plain = factor_in(encoded(tensor, names_of("nvfp4", "te-nvfp4")).file);
    rotated.path = "r.safetensors";
    for (const auto& [a, b] : {std::pair{rotated, plain}, std::pair{plain, rotated}})
        EXPECT_EQ(error_of(tensor_gemm(a, b, {}, {})),
                  "r.safetensors holds rotated lanes, and x.safetensors does not: their products "
                  "mean nothing");
    EXPECT_EQ(error_of(tensor_gemm(rotated, rotated, {}, {})), "no error");
}

}  // namespace
}  // namespace mx::emulate::test
