// Tests of audit and of what it rests on: a file of every project's kind, made here by its
// documents, is recognised; what is planted in it is found, and a sound file has nothing.
#include "conformance/files/audit.hpp"

#include "conformance/files/test/gguf_file.hpp"
#include "conformance/files/test/quantized_files.hpp"

namespace mx::files {
namespace {

using data::test::ScratchDirectory;
using test::Bytes;
using test::Grid;
using test::Quantized;

class AuditTest : public testing::Test {
protected:
    AuditedTensor of(std::vector<data::HostTensor> tensors, const std::string& elements = "") {
        const std::string path = scratch_.at("f.safetensors");
        test::write(path, std::move(tensors));
        return of_path(path, elements);
    }
    AuditedTensor of_path(const std::string& path, const std::string& elements = "") {
        const auto found = audit(path, elements);
        EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().message);
        if (!found.ok() || found.value().tensors.size() != 1) return {};
        return found.value().tensors.front();
    }
    void expect_sound(const AuditedTensor& tensor, const std::string& format,
                      const std::string& convention, Grid size) {
        EXPECT_EQ(tensor.format, format);
        EXPECT_NE(tensor.convention.find(convention), std::string::npos) << tensor.convention;
        EXPECT_EQ(tensor.rows, size.rows);
        EXPECT_EQ(tensor.columns, size.columns);
        for (const Suspicion& suspicion : tensor.suspicions) ADD_FAILURE() << suspicion.what;
    }
    void expect_found(const AuditedTensor& tensor, Severity severity, const std::string& part) {
        for (const Suspicion& suspicion : tensor.suspicions)
            if (suspicion.what.find(part) != std::string::npos) {
                EXPECT_EQ(suspicion.severity, severity) << suspicion.what;
                return;
            }
        ADD_FAILURE() << "nothing says: " << part;
    }
    Quantized made(const std::string& format, const std::string& dialect = "ocp") {
        return test::quantized(test::tensor_of(test::some_values(size_), size_), format, dialect);
    }

    const Grid size_{};
    ScratchDirectory scratch_;
};

constexpr Severity suspicious = Severity::suspicious, impossible = Severity::impossible;

// --- every kind of file
// ----------------------------------------------------------------------------

TEST_F(AuditTest, RecognisesMxfp4) {
    const Quantized q = made("mxfp4-e2m1");
    expect_sound(of(test::gpt_oss(q)), "mxfp4-e2m1", "gpt-oss", size_);
    auto original = test::gpt_oss(q);
    original[0].name = "block.0.mlp.mlp1_weight.blocks";
    original[1].name = "block.0.mlp.mlp1_weight.scales";
    expect_sound(of(original), "mxfp4-e2m1", "gpt-oss", size_);
    const Bytes packed = test::pairs(q.codes);
    expect_sound(of({{"w.weight_packed", "u8", {128, 128}, packed},
                     {"w.weight_scale", "u8", {128, 8}, q.scales}}),
                 "mxfp4-e2m1", "compressed-tensors", size_);
    expect_sound(
        of({{"w.weight", "u8", {128, 128}, packed}, {"w.weight_scale", "u8", {128, 8}, q.scales}}),
        "mxfp4-e2m1", "Quark", size_);
    expect_sound(of({{"w.weight", "e2m1", {128, 256}, packed},
                     {"w.weight_scale", "e8m0", {128, 8}, q.scales}}),
                 "mxfp4-e2m1", "Quark", size_);
    expect_sound(
        of({{"w.weight", "u32", {128, 32}, packed}, {"w.scales", "u8", {128, 8}, q.scales}}),
        "mxfp4-e2m1", "MLX", size_);
    data::test::put(scratch_.at("m.gguf"), test::gguf_of_mxfp4(q, "blk.0.w"));
    expect_sound(of_path(scratch_.at("m.gguf")), "mxfp4-e2m1", "llama.cpp", size_);
}

TEST_F(AuditTest, RecognisesMxfp8AndMxfp6AndMxint8) {
    const Quantized fp8 = made("mxfp8-e4m3");
    expect_sound(of(test::mxfp8(fp8)), "mxfp8-e4m3", "compressed-tensors", size_);
    expect_sound(
        of({{"w.weight", "u32", {128, 64}, fp8.codes}, {"w.scales", "u8", {128, 8}, fp8.scales}}),
        "mxfp8-e4m3", "MLX", size_);
    auto swizzled = test::mxfp8(fp8);
    swizzled[1].shape = {128 * 8};
    swizzled[1].bytes = test::swizzled(fp8.scales, 128, 8);
    const AuditedTensor tiles = of(swizzled);
    expect_sound(tiles, "mxfp8-e4m3", "", size_);
    EXPECT_EQ(tiles.layout[1], "scales swizzled by 128 x 4");
    const auto values = test::tensor_of(test::some_values(size_), size_);
    const data::TensorFile six =
        test::quantized_file(values, {.format = "mxfp6-e2m3", .packing = "six"});
    std::vector<data::HostTensor> quark{{"w.weight", "u8", {128, 192}, {}},
                                        {"w.weight_scale", "u8", {128, 8}, {}}};
    for (const data::HostTensor& tensor : six.tensors)
        quark[tensor.name == "scales" ? 1 : 0].bytes = tensor.bytes;
    expect_sound(of(quark, "e2m3"), "mxfp6-e2m3", "Quark", size_);
    EXPECT_EQ(of(quark).format, "mxfp6-e3m2");
    const Quantized integers = made("mxint8");
    expect_sound(of({{"w.weight", "i8", {128, 256}, integers.codes},
                     {"w.weight_scale", "u8", {128, 8}, integers.scales}}),
                 "mxint8", "ModelOpt", size_);
    EXPECT_NE(of({{"w.weight", "i8", {128, 256}, integers.codes},
                  {"w.weight_scale", "u8", {128, 8}, integers.scales}})
                  .layout.back()
                  .find("unverified"),
              std::string::npos);
}

TEST_F(AuditTest, RecognisesNvfp4) {
    const Quantized q = made("nvfp4", "te-nvfp4");
    expect_sound(of(test::modelopt(q, 0.001f)), "nvfp4", "ModelOpt", size_);
    expect_sound(of(test::compressed(q, 1000)), "nvfp4", "compressed-tensors", size_);
    expect_sound(of({{"w.weight", "u32", {128, 32}, test::pairs(q.codes)},
                     {"w.scales", "u8", {128, 16}, q.scales}}),
                 "nvfp4", "MLX", size_);
    // llama.cpp: groups of four blocks, and the number under a name of its own.
    const auto gguf = [&](const std::string& number_name, std::vector<float> numbers) {
        data::test::put(scratch_.at("m.gguf"),
                        test::gguf_of_nvfp4(q, "blk.0.ffn_up.weight", number_name, numbers));
        return of_path(scratch_.at("m.gguf"));
    };
    expect_sound(gguf("blk.0.ffn_up.scale", {0.001f}), "nvfp4", "llama.cpp", size_);
    EXPECT_NE(gguf("blk.0.ffn_up.scale", {0.001f}).layout.back().find("to be multiplied by"),
              std::string::npos);
    EXPECT_NE(gguf("blk.0.ffn_up.weight.scale", {0.001f}).layout.back().find("global scale 0.001"),
              std::string::npos);
    expect_found(gguf("blk.0.ffn_up.scale", {1000}), suspicious, "is it inverted?");
    // What is none of it: another tensor's, or one number for each expert.
    expect_sound(gguf("blk.0.ffn_down.scale", {1000}), "nvfp4", "llama.cpp", size_);
    expect_sound(gguf("blk.0.ffn_up.scale", {1000, 1000}), "nvfp4", "llama.cpp", size_);
}

TEST_F(AuditTest, RecognisesFp8UnderF32) {
    const Quantized q = made("mxfp8-e4m3");
    Bytes scales;
    for (int i = 0; i < 2; ++i)
        for (const std::byte b : test::bytes_of(0.01f)) scales.push_back(b);
    expect_sound(of({{"w.weight", "e4m3", {128, 256}, q.codes},
                     {"w.weight_scale_inv", "f32", {1, 2}, scales}}),
                 "fp8-e4m3-128x128", "DeepSeek", size_);
    expect_sound(of({{"w.weight", "e4m3", {128, 256}, q.codes},
                     {"w.weight_scale", "f32", {}, test::bytes_of(0.01f)}}),
                 "fp8-e4m3-tensor", "ModelOpt", size_);
}

TEST_F(AuditTest, RecognisesFilesOfItsOwn) {
    const auto values = test::tensor_of(test::some_values(size_), size_);
    for (const char* packing : {"bytes", "low_first", "high_first", "inline"})
        for (const char* scales : {"linear", "128x4", "8x4"}) {
            if (std::string(packing) == "inline" && std::string(scales) != "linear") continue;
            const std::string path = scratch_.at("own.safetensors");
            const data::TensorFile file = test::quantized_file(
                values, {.format = "mxfp4-e2m1", .scales = scales, .packing = packing});
            ASSERT_TRUE(data::write_tensor_file(path, file).ok());
            expect_sound(of_path(path), "mxfp4-e2m1", "mxcheck", size_);
        }
}

// --- what is planted
// -------------------------------------------------------------------------------

TEST_F(AuditTest, FindsWrongScales) {
    Quantized q = made("mxfp4-e2m1");
    q.scales[3] = std::byte{0xFF};
    expect_found(of(test::gpt_oss(q)), suspicious, "1 of 1,024 blocks have a NaN scale");
    q.scales[3] = std::byte{0};
    expect_found(of(test::gpt_oss(q)), suspicious, "have the smallest scale");
    q.scales[3] = std::byte{0xFE};
    expect_found(of(test::gpt_oss(q)), suspicious, "have the largest scale");
    Quantized nv = made("nvfp4", "te-nvfp4");
    nv.scales[5] |= std::byte{0x80};
    expect_found(of(test::modelopt(nv, 0.001f)), impossible, "have a negative scale");
    nv.scales[5] = std::byte{0};
    expect_found(of(test::modelopt(nv, 0.001f)), suspicious, "have scale 0 over elements");
}

TEST_F(AuditTest, FindsDeadBlocksAndSaturation) {
    Quantized q = made("mxfp4-e2m1");
    std::fill(q.codes.begin(), q.codes.begin() + 32, std::byte{8});
    expect_found(of(test::gpt_oss(q)), suspicious, "1 of 1,024 blocks have zeros alone");
    std::fill(q.codes.begin(), q.codes.end(), std::byte{7});
    expect_found(of(test::gpt_oss(q)), suspicious, "the scales are too small");
    std::fill(q.codes.begin(), q.codes.end(), std::byte{0});
    expect_found(of(test::gpt_oss(q)), suspicious, "every element is zero");
    Quantized fp8 = made("mxfp8-e4m3");
    fp8.codes[9] = std::byte{0x7F};
    expect_found(of(test::mxfp8(fp8)), suspicious, "1 element are NaN or infinite");
}

// At both sides of what chance leaves.
TEST_F(AuditTest, SharesOfTheLargestCodeAndScale) {
    const auto says = [](const AuditedTensor& tensor, const std::string& part) {
        for (const Suspicion& suspicion : tensor.suspicions)
            if (suspicion.what.find(part) != std::string::npos) return true;
        return false;
    };
    Quantized q = made("mxfp4-e2m1");
    const auto saturated = [&](std::size_t of_1000) {
        for (std::size_t i = 0; i < q.codes.size(); ++i)
            q.codes[i] = std::byte{i % 1000 < of_1000 ? std::uint8_t{7} : std::uint8_t{3}};
        return says(of(test::gpt_oss(q)), "the scales are too small");
    };
    EXPECT_FALSE(saturated(375));
    EXPECT_FALSE(saturated(385));
    EXPECT_TRUE(saturated(400));
    Quantized nv = made("nvfp4", "te-nvfp4");
    const auto clamped = [&](std::size_t of_100) {
        for (std::size_t i = 0; i < nv.scales.size(); ++i)
            nv.scales[i] = std::byte{i % 100 < of_100 ? std::uint8_t{0x7E} : std::uint8_t{0x70}};
        return says(of(test::modelopt(nv, 0.001f)), "have the largest scale");
    };
    EXPECT_FALSE(clamped(44));
    EXPECT_FALSE(clamped(49));
    EXPECT_TRUE(clamped(53));
}

TEST_F(AuditTest, FindsWrongShapesAndPads) {
    const Quantized q = made("mxfp4-e2m1");
    auto misfit = test::gpt_oss(q);
    misfit[1].shape = {1, 64, 16};
    expect_found(of(misfit), impossible, "and no format has that");
    // Rows of three elements of four bits, whose ends lie in the middle of bytes.
    expect_found(
        of({{"w.weight", "e2m1", {2, 3}, Bytes(3)}, {"w.weight_scale", "e8m0", {2, 1}, Bytes(2)}}),
        impossible, "fill no whole bytes");
    // 100 rows of 8 scales, padded to 128.
    const Grid small{100, 256};
    const Quantized fp8 =
        test::quantized(test::tensor_of(test::some_values(small), small), "mxfp8-e4m3", "ocp");
    Quantized padded = fp8;
    padded.scales.resize(128 * 8);
    auto tensors = test::mxfp8(fp8);
    tensors[1].shape = {128, 8};
    tensors[1].bytes = test::swizzled(padded.scales, 128, 8);
    expect_sound(of(tensors), "mxfp8-e4m3", "", small);
    padded.scales.back() = std::byte{1};
    tensors[1].bytes = test::swizzled(padded.scales, 128, 8);
    expect_found(of(tensors), suspicious, "1 byte of the padding of the scales are not 0");
}

TEST_F(AuditTest, FindsGlobalScalesThatCannotBe) {
    const Quantized q = made("nvfp4", "te-nvfp4");
    for (const float wrong : {0.0f, -1.0f, std::nanf(""), HUGE_VALF})
        expect_found(of(test::modelopt(q, wrong)), impossible, "its global scale is");
    expect_found(of(test::modelopt(q, 3e38f)), impossible, "which no binary32 tensor has");
    expect_found(of(test::modelopt(q, 1000)), suspicious, "is it inverted?");
    expect_found(of(test::compressed(q, 0.001f)), suspicious, "is it inverted?");
    auto long_number = test::modelopt(q, 1);
    long_number[2] = {"w.weight_scale_2", "f32", {2}, Bytes(8)};
    expect_found(of(long_number), impossible, "should be one f32");
}

TEST_F(AuditTest, CodesThatAreNone) {
    const data::HostTensor codes{"codes", "u8", {2, 32}, Bytes(64, std::byte{0x12})};
    const data::HostTensor scales{"scales", "u8", {2, 1}, Bytes(2, std::byte{127})};
    expect_found(of({codes, scales}, "e2m1"), impossible, "64 bytes of elements are no code");
}

}  // namespace
}  // namespace mx::files
