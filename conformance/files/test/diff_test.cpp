// Tests of diff: each explanation on a pair of files that was made to show it, and on a near miss
// that must not be explained so.
#include "conformance/files/diff.hpp"

#include "conformance/files/test/gguf_file.hpp"
#include "conformance/files/test/quantized_files.hpp"
#include "reference/fast/quantize.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::files {
namespace {

using data::test::ScratchDirectory;
using test::Bytes;
using test::Grid;
using test::Quantized;

class Diff : public testing::Test {
protected:
    // The only tensor of both files.
    TensorDiff of(std::vector<data::HostTensor> a, std::vector<data::HostTensor> b,
                  DiffRequest request = {}) {
        request.a = scratch_.at("a.safetensors");
        request.b = scratch_.at("b.safetensors");
        test::write(request.a, std::move(a));
        test::write(request.b, std::move(b));
        return of(request);
    }
    TensorDiff of(const DiffRequest& request) {
        const auto found = diff(request);
        EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().message);
        if (!found.ok() || found.value().tensors.size() != 1) return {};
        return found.value().tensors.front();
    }

    void expect_cause(const TensorDiff& tensor, const std::string& part) {
        EXPECT_EQ(name_of(tensor.verdict), name_of(Verdict::explained));
        ASSERT_FALSE(tensor.causes.empty()) << "nothing explains it";
        EXPECT_NE(tensor.causes.front().text.find(part), std::string::npos)
            << tensor.causes.front().text;
        EXPECT_EQ(tensor.causes.front().explained, tensor.counts.different_blocks);
        EXPECT_EQ(tensor.causes.front().parted, 0u);
        EXPECT_EQ(tensor.witness.empty(), tensor.counts.different_blocks == 0);
    }
    void expect_no_reading(const TensorDiff& tensor) {
        EXPECT_EQ(name_of(tensor.verdict), name_of(Verdict::different));
        for (const Cause& cause : tensor.causes)
            EXPECT_TRUE(cause.text.starts_with("another r")) << cause.text;
    }

    DiffRequest with_original() {
        const std::string path = scratch_.at("values.npy");
        EXPECT_TRUE(data::write_tensor_file(path, {{values_}, {}}).ok());
        return {.original = path};
    }
    void expect_origin(const TensorDiff& tensor, std::size_t side, const std::string& part) {
        ASSERT_EQ(tensor.origin.size(), 2u);
        EXPECT_NE(tensor.origin[side].find(part), std::string::npos) << tensor.origin[side];
    }

    void expect_named(const TensorDiff& tensor, const std::string& part) {
        ASSERT_FALSE(tensor.causes.empty());
        EXPECT_NE(tensor.causes.front().text.find(part), std::string::npos)
            << tensor.causes.front().text;
    }

    const Grid size_{};
    const data::HostTensor values_ = test::tensor_of(test::some_values(size_), size_);
    const Quantized fp4_ = test::quantized(values_, "mxfp4-e2m1", "ocp");
    const Quantized fp8_ = test::quantized(values_, "mxfp8-e4m3", "ocp");
    const Quantized nv4_ = test::quantized(values_, "nvfp4", "te-nvfp4");
    ScratchDirectory scratch_;
};

// One code of each block, to the one with another low bit.
Bytes with_a_changed_code(Bytes codes, std::size_t block) {
    for (std::size_t i = 0; i < codes.size(); i += block) codes[i] ^= std::byte{1};
    return codes;
}

TEST_F(Diff, EqualBytes) {
    const TensorDiff same = of(test::gpt_oss(fp4_), test::gpt_oss(fp4_));
    EXPECT_EQ(same.verdict, Verdict::equal_bytes);
    Quantized changed = fp4_;
    changed.codes[5] ^= std::byte{2};
    const TensorDiff other = of(test::gpt_oss(fp4_), test::gpt_oss(changed));
    EXPECT_EQ(other.verdict, Verdict::different);
    EXPECT_EQ(other.counts.different_blocks, 1u);
    EXPECT_EQ(other.counts.different_elements, 1u);
}

// 1 and 2 under a scale are 2 and 4 under half of it; a zero has two codes.
TEST_F(Diff, EqualValuesInAnotherEncoding) {
    Quantized a{{2, 32}, Bytes(64, std::byte{0}), Bytes(2, std::byte{127}), {}};
    for (std::size_t i = 0; i < 64; ++i) a.codes[i] = i % 2 == 0 ? std::byte{2} : std::byte{4};
    a.codes[40] = std::byte{0};
    Quantized b = a;
    for (std::size_t i = 0; i < 32; ++i) b.codes[i] = i % 2 == 0 ? std::byte{4} : std::byte{6};
    b.scales[0] = std::byte{126};
    b.codes[40] = std::byte{8};
    const TensorDiff tensor = of(test::gpt_oss(a), test::gpt_oss(b));
    EXPECT_EQ(tensor.verdict, Verdict::equal_values);
    EXPECT_EQ(tensor.counts.recoded, 2u);
    EXPECT_EQ(tensor.counts.zero_signs, 1u);
    EXPECT_EQ(tensor.counts.different_blocks, 0u);
    // A near miss: one element too small by half.
    b.codes[3] = std::byte{5};
    EXPECT_EQ(of(test::gpt_oss(a), test::gpt_oss(b)).counts.different_elements, 1u);
}

TEST_F(Diff, NibbleOrder) {
    std::vector<data::HostTensor> b = test::gpt_oss(fp4_);
    b[0].bytes = test::swapped_nibbles(b[0].bytes);
    expect_cause(of(test::gpt_oss(fp4_), b), "nibbles of each byte the other way round");
    Quantized changed = fp4_;
    changed.codes = with_a_changed_code(changed.codes, 32);
    b[0].bytes = test::swapped_nibbles(test::pairs(changed.codes));
    expect_no_reading(of(test::gpt_oss(fp4_), b));
}

TEST_F(Diff, SwizzledOnceOrTwice) {
    Quantized b = fp8_;
    b.scales = test::swizzled(fp8_.scales, 128, 8);
    expect_cause(of(test::mxfp8(fp8_), test::mxfp8(b)), "B's scales are swizzled (128x4), where");
    expect_cause(of(test::mxfp8(b), test::mxfp8(fp8_)), "A's scales are swizzled (128x4), where");
    b.scales = test::swizzled(b.scales, 128, 8);
    expect_cause(of(test::mxfp8(fp8_), test::mxfp8(b)), "swizzled (128x4) twice");
    // A near miss: the scales in reverse.
    b.scales = fp8_.scales;
    std::reverse(b.scales.begin(), b.scales.end());
    expect_no_reading(of(test::mxfp8(fp8_), test::mxfp8(b)));
}

TEST_F(Diff, TransposedScales) {
    // A square grid, so that its shape does not tell: 8 rows of 8 blocks.
    const Grid square{8, 256};
    const Quantized a =
        test::quantized(test::tensor_of(test::some_values(square), square), "mxfp8-e4m3", "ocp");
    Quantized b = a;
    b.scales = test::transposed(a.scales, 8, 8);
    expect_cause(of(test::mxfp8(a), test::mxfp8(b)), "B's scales are transposed");
    std::rotate(b.scales.begin(), b.scales.begin() + 1, b.scales.end());
    expect_no_reading(of(test::mxfp8(a), test::mxfp8(b)));
}

TEST_F(Diff, TransposedTensor) {
    const auto turned = [&](const Quantized& q) {
        return std::vector<data::HostTensor>{
            {"w.weight", "e4m3", {256, 128}, test::transposed(q.codes, 128, 256)},
            {"w.weight_scale", "u8", {8, 128}, test::transposed(q.scales, 128, 8)}};
    };
    expect_cause(of(test::mxfp8(fp8_), turned(fp8_)), "B is A transposed");
    Quantized changed = fp8_;
    changed.codes = with_a_changed_code(changed.codes, 32);
    expect_no_reading(of(test::mxfp8(fp8_), turned(changed)));
}

TEST_F(Diff, Padded) {
    Quantized b = fp8_;
    b.size = {160, 256};
    b.codes.resize(160 * 256);
    b.scales.resize(160 * 8);
    const TensorDiff padded = of(test::mxfp8(fp8_), test::mxfp8(b));
    expect_cause(padded, "B is padded from 128 x 256 to 160 x 256 with zeros");
    b.codes.back() = std::byte{0x38};
    const TensorDiff wrong = of(test::mxfp8(fp8_), test::mxfp8(b));
    EXPECT_EQ(wrong.verdict, Verdict::different);
    EXPECT_NE(wrong.causes.front().text.find("1 element of the padding"), std::string::npos);
}

TEST_F(Diff, GlobalScales) {
    const float encode = 1024, decode = 1 / encode;
    const auto a = test::modelopt(nv4_, decode);
    const TensorDiff kept = of(a, test::compressed(nv4_, encode));
    EXPECT_EQ(kept.verdict, Verdict::equal_values);
    expect_cause(of(a, test::modelopt(nv4_, encode)), "inverted: to be divided by");
    expect_cause(of(test::compressed(nv4_, encode), test::compressed(nv4_, decode)),
                 "inverted: to be multiplied by");
    auto without = test::modelopt(nv4_, decode);
    without.pop_back();
    expect_cause(of(a, without), "B lacks the global scale");
    // Near misses: another number, which nothing but itself explains; and wrong elements beside it.
    expect_cause(of(a, test::modelopt(nv4_, 0.75f)), "the global scales differ, and nothing else");
    Quantized changed = nv4_;
    changed.codes = with_a_changed_code(changed.codes, 16);
    expect_no_reading(of(a, test::modelopt(changed, encode)));
}

// Both of what modular/modular#6600 had.
TEST_F(Diff, TwoCausesAtOnce) {
    // Of 16 scales a row the second swizzle takes back the first, so 32.
    const Grid wide{128, 512};
    const Quantized a =
        test::quantized(test::tensor_of(test::some_values(wide), wide), "nvfp4", "te-nvfp4");
    Quantized b = a;
    b.scales = test::swizzled(test::swizzled(b.scales, 128, 32), 128, 32);
    const TensorDiff both = of(test::modelopt(a, 0.125f), test::modelopt(b, 8));
    expect_cause(both, "swizzled (128x4) twice");
    expect_cause(both, "inverted");
}

TEST_F(Diff, AGgufFileAgainstGptOss) {
    DiffRequest request{scratch_.at("a.safetensors"), scratch_.at("b.gguf"), "", "", "", ""};
    test::write(request.a, test::gpt_oss(fp4_));
    data::test::put(request.b, test::gguf_of_mxfp4(fp4_, "blk.0.w"));
    EXPECT_EQ(of(request).verdict, Verdict::equal_values);
    // kekzl/imp#567: the nibbles as torchao packs them, in ggml's blocks.
    data::test::put(request.b, test::gguf_of_mxfp4(fp4_, "blk.0.w", test::GgmlPairs::neighbours));
    expect_cause(of(request), "B has the first element of a pair in the low half, where");
}

// The same numbers in groups of four blocks; the number of the tensor is a tensor of its own.
TEST_F(Diff, ANvfp4GgufFileAgainstModelOpt) {
    DiffRequest request{scratch_.at("a.safetensors"), scratch_.at("b.gguf"), "", "", "", ""};
    const Quantized q = test::quantized(values_, "nvfp4", "te-nvfp4");
    test::write(request.a, test::modelopt(q, 0.125f));
    const auto with = [&](std::vector<float> numbers) {
        data::test::put(request.b,
                        test::gguf_of_nvfp4(q, "blk.0.w.weight", "blk.0.w.scale", numbers));
        return of(request);
    };
    EXPECT_EQ(with({0.125f}).verdict, Verdict::equal_values);
    expect_cause(with({8}), "inverted");
}

TEST_F(Diff, AnotherRounding) {
    Quantizer rules = *find_quantizer("ocp");
    rules.element_rounding = Rounding::toward_zero;
    const BlockFormat& format = *find_block_format("mxfp8-e4m3");
    const fast::BlockQuestion question{rules, format, formats::f32, {}};
    Quantized b = fp8_;
    for (std::size_t block = 0; block < b.scales.size(); ++block) {
        std::uint32_t lanes[32];
        std::memcpy(lanes, values_.bytes.data() + block * sizeof lanes, sizeof lanes);
        fast::quantize(question, lanes, 32,
                       reinterpret_cast<std::uint8_t*>(b.codes.data()) + block * 32);
    }
    const TensorDiff tensor = of(test::mxfp8(fp8_), test::mxfp8(b), with_original());
    expect_cause(tensor, "another rounding");
    EXPECT_NE(tensor.causes.front().text.find("each nearer to zero in B"), std::string::npos);
    expect_origin(tensor, 0, "A follows ocp");
    expect_origin(tensor, 1, "with elements rounded toward zero predicts 1,024");
    // A near miss: one element two codes away is no rounding.
    Quantized far = fp8_;
    far.codes[7] = std::byte{static_cast<unsigned char>(std::to_integer<int>(far.codes[7]) + 2)};
    const TensorDiff other = of(test::mxfp8(fp8_), test::mxfp8(far));
    EXPECT_TRUE(other.causes.empty());
}

TEST_F(Diff, AnotherDialectByItsScale) {
    const Quantized nv = test::quantized(values_, "mxfp8-e4m3", "nv");
    const TensorDiff tensor = of(test::mxfp8(fp8_), test::mxfp8(nv), with_original());
    expect_cause(tensor, "another rule for scales");
    EXPECT_NE(tensor.causes.front().text.find("larger in B"), std::string::npos);
    expect_origin(tensor, 0, "A follows ocp");
    expect_origin(tensor, 1, "B follows nv");
    // A near miss: scales one higher and elements as they were are no roundings of one original.
    Quantized doubled = fp8_;
    for (std::byte& scale : doubled.scales)
        scale = std::byte{static_cast<unsigned char>(std::to_integer<int>(scale) + 1)};
    const TensorDiff other = of(test::mxfp8(fp8_), test::mxfp8(doubled));
    EXPECT_EQ(other.verdict, Verdict::different);
}

TEST_F(Diff, AnotherSetForTheAmax) {
    const data::TensorFile file =
        test::quantized_file(values_, {.format = "mxfp8-e4m3", .dialect = "ocp", .axis = "tile"});
    Quantized tiles{size_, {}, {}, {}};
    Bytes grid;
    for (const data::HostTensor& tensor : file.tensors)
        (tensor.name == "scales" ? grid : tiles.codes) = tensor.bytes;
    for (std::size_t row = 0; row < 128; ++row)
        for (std::size_t column = 0; column < 8; ++column)
            tiles.scales.push_back(grid[row / 32 * 8 + column]);
    const TensorDiff tensor = of(test::mxfp8(fp8_), test::mxfp8(tiles), with_original());
    ASSERT_FALSE(tensor.causes.empty());
    expect_named(tensor, "B takes the amax of a tile of 32 x 32");
    expect_named(of(test::mxfp8(tiles), test::mxfp8(fp8_)),
                 "A takes the amax of a tile of 32 x 32");
    expect_origin(tensor, 1, "whose amax is that of a tile of 32 x 32 predicts 1,024");
}

// Scales that are larger, but by another rule.
TEST_F(Diff, NearlyAnotherSetForTheAmax) {
    const Quantized nv = test::quantized(values_, "mxfp8-e4m3", "nv");
    const TensorDiff tensor = of(test::mxfp8(fp8_), test::mxfp8(nv));
    expect_named(tensor, "another rule for scales");
}

TEST_F(Diff, BadInputs) {
    const std::string a = scratch_.at("a.safetensors");
    test::write(a, test::gpt_oss(fp4_));
    const auto refused = [&](DiffRequest request, const std::string& part) {
        request.a = a;
        if (request.b.empty()) request.b = a;
        const auto found = diff(request);
        ASSERT_FALSE(found.ok()) << part;
        EXPECT_NE(found.error().message.find(part), std::string::npos) << found.error().message;
    };
    refused({.b = scratch_.at("none.gguf")}, "cannot open");
    refused({.tensor = "W"}, "unknown quantized tensor 'W'");
    refused({.original = a}, "has no tensor 'w'");
    refused({.elements = "e2m11"}, "did you mean 'e2m1'");
    auto misfit = test::gpt_oss(fp4_);
    misfit[1].shape = {1, 64, 16};
    test::write(scratch_.at("m.safetensors"), misfit);
    refused({.b = scratch_.at("m.safetensors")}, "has the names of gpt-oss, but");
    const std::string values = scratch_.at("v.npy");
    data::HostTensor small = test::tensor_of(test::some_values({4, 32}), {4, 32});
    EXPECT_TRUE(data::write_tensor_file(values, {{small}, {}}).ok());
    refused({.original = values}, "the original has shape (4, 32)");
}

TEST_F(Diff, TensorsWithoutACounterpartAndPlainOnes) {
    auto a = test::gpt_oss(fp4_), b = test::gpt_oss(fp4_);
    a.push_back({"norm", "f32", {2}, Bytes(8)});
    b.push_back({"norm", "f32", {2}, Bytes(8, std::byte{1})});
    for (auto& tensor : test::gpt_oss(fp4_, "x")) a.push_back(tensor);
    const DiffRequest request{scratch_.at("a.safetensors"), scratch_.at("b.safetensors")};
    test::write(request.a, a);
    test::write(request.b, b);
    const auto found = diff(request);
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found.value().only_a, std::vector<std::string>{"x"});
    EXPECT_EQ(found.value().plain_different, std::vector<std::string>{"norm"});
    EXPECT_FALSE(found.value().has_equal_values());
}

}  // namespace
}  // namespace mx::files
