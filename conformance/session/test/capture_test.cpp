// Tests of captured calls: folders as the Python package writes them, made here with the oracle's
// own answers, right and spoilt.
#include "conformance/session/capture.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <fstream>

#include "conformance/data/captured_call.hpp"
#include "conformance/data/gemm_tensors.hpp"
#include "conformance/data/inputs.hpp"
#include "conformance/data/tensor_file.hpp"
#include "conformance/run/evidence.hpp"
#include "conformance/run/expected.hpp"
#include "conformance/run/runner.hpp"
#include "conformance/run/tensor_layout.hpp"
#include "conformance/session/provenance.hpp"
#include "device/host/layout.hpp"

namespace mx::session {
namespace {

namespace fs = std::filesystem;
using results::Verdict;

struct Spoil {
    std::size_t output = 0, byte = 0;
    int bits = 0;  // that are flipped
};

class Captured : public testing::Test {
protected:
    Captured() : folder_(fs::temp_directory_path() / ("captured_" + std::to_string(::getpid()))) {
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    ~Captured() override { fs::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }

    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path(name), std::ios::binary) << text;
    }

    static data::HostTensor raw(std::string name, std::vector<std::byte> bytes) {
        const auto size = static_cast<std::int64_t>(bytes.size());
        return {std::move(name), "u8", {size}, std::move(bytes)};
    }

    // The call of a case whose data are those of a family.
    void add(const std::string& file, const std::string& words, const std::string& family,
             std::optional<Spoil> spoil = {}, const std::string& more = "") {
        const Case c = parse_case(words + " data=" + family).value();
        Sources sources;
        const std::vector<CodeTensor> inputs = make_inputs(c, *sources.open(c).value());
        const std::vector<CodeTensor> expected = expect(c, inputs);
        data::TensorFile made;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const bool multiplies = is_gemm(c);
            const std::string name(multiplies ? name_of(tensors_of(c)[i].part)
                                              : data::captured_values);
            const bool is_value = find_element_format(inputs[i].type)->code_bits() > 8;
            made.tensors.push_back({name,
                                    is_value ? inputs[i].type : "u8",
                                    {inputs[i].rows, inputs[i].columns},
                                    inputs[i].bytes});
        }
        std::string names;
        for (const Buffer& buffer : output_buffers(c)) {
            std::vector<std::byte> bytes = is_strided(buffer.spec)
                                               ? expected[buffer.tensor].bytes
                                               : lay_out(buffer, expected, std::byte{0});
            if (spoil && spoil->output == buffer.tensor)
                bytes[spoil->byte] ^= static_cast<std::byte>(spoil->bits);
            const std::string name = "out" + std::to_string(buffer.tensor);
            names += (names.empty() ? "\"" : ",\"") + name + "\"";
            made.tensors.push_back(raw(name, std::move(bytes)));
        }
        made.metadata = {{std::string(data::captured_key),
                          R"({"case":")" + words + R"(","outputs":[)" + names + "]" + more + "}"}};
        ASSERT_TRUE(data::write_tensor_file(path(file), made));
        files_.push_back(file);
    }

    void finish(const std::string& more = "") const {
        std::string calls;
        for (const std::string& file : files_)
            calls += (calls.empty() ? "" : ",") + (R"({"file":")" + file + R"(","sha256":")") +
                     file_hash(path(file)) + "\"}";
        write("capture.json", R"({"mxcheck_capture":1,"complete":true,"calls":[)" + calls +
                                  R"(],"functions":{"f":{"seen":9,"kept":2,)" +
                                  R"("left_out":{"by sample":7}}})" + more + "}");
    }

    // Each case through the line.
    std::vector<results::CaseResult> judged(const CaptureOptions& options = {}) const {
        const auto capture = Capture::read(folder_.string(), options);
        EXPECT_TRUE(capture) << capture.error().message;
        Sources sources;
        Runner runner(capture.value().client(), sources, {});
        std::vector<results::CaseResult> all;
        for (const Case& c : capture.value().cases())
            all.push_back(runner.run({"captured", c}).value());
        return all;
    }

    std::string refusal() const {
        const auto capture = Capture::read(folder_.string());
        return capture ? "" : capture.error().message;
    }

    fs::path folder_;
    std::vector<std::string> files_;
};

const std::string quantize = "quantize format=mxfp8-e4m3 dialect=nv shape=8x96";

TEST_F(Captured, RightCallsPass) {
    add("1.safetensors", quantize, "random.spread");
    add("2.safetensors", quantize + " axis=col input=bf16", "random.spread");
    add("3.safetensors",
        "quantize format=nvfp4 dialect=te-nvfp4 packing=low_first scales=128x4 "
        "shape=16x64",
        "random.spread");
    add("4.safetensors", "gemm a=bf16 b=bf16 output=bf16 shape=8x16x64 epilogue=bias model=bounded",
        "gemm.middle");
    finish();
    const auto all = judged();
    ASSERT_EQ(all.size(), 4u);
    for (const results::CaseResult& result : all) {
        const bool is_bounded = result.operation == "gemm";
        EXPECT_EQ(result.verdict, is_bounded ? Verdict::pass_bounded : Verdict::pass_exact)
            << result.case_text << ": " << result.reason;
    }
    const auto capture = Capture::read(folder_.string());
    EXPECT_TRUE(capture.value().gaps().empty());
    ASSERT_EQ(capture.value().left_out().size(), 1u);
    EXPECT_EQ(capture.value().left_out()[0], "f: 2 of 9 calls kept; 7 by sample");
}

// One code of block 5: the repro line has that block alone, and the capture answers it.
TEST_F(Captured, AWrongCodeIsACaseAndALineOfItsBlock) {
    add("1.safetensors", quantize, "random.spread", Spoil{0, 5 * 32 + 7, 1});
    add("2.safetensors", quantize + " axis=col", "random.spread", Spoil{1, 11, 1});
    add("3.safetensors",
        "quantize format=nvfp4 dialect=te-nvfp4 packing=low_first scales=128x4 shape=16x64",
        "random.spread", Spoil{0, 32 + 3, 0x10});
    finish();
    const auto all = judged();
    ASSERT_EQ(all.size(), 3u);
    const std::vector<std::string> blocks{"shape=1x32", "shape=8x1", "shape=1x16"};
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i].verdict, Verdict::fail) << all[i].case_text;
        ASSERT_FALSE(all[i].mismatches.empty());
        EXPECT_NE(all[i].mismatches[0].repro.find(blocks[i]), std::string::npos)
            << all[i].mismatches[0].repro;
    }
    EXPECT_NE(all[0].mismatches[0].repro.find("index=5"), std::string::npos);
}

TEST_F(Captured, AWrongProductFails) {
    add("1.safetensors", "gemm a=bf16 b=bf16 output=f32 shape=8x16x64 model=bounded", "gemm.middle",
        Spoil{0, 4 * 37 + 3, 0x80});
    finish();
    EXPECT_EQ(judged()[0].verdict, Verdict::fail);
    EXPECT_EQ(judged({.model = "exact"}).size(), 0u);  // no such model: a gap, and no case
}

TEST_F(Captured, AnotherDialectIsHeldAgainstTheSameBits) {
    add("1.safetensors", quantize, "random.spread");
    finish();
    EXPECT_EQ(judged({.dialect = "ocp"})[0].verdict, Verdict::fail);
    EXPECT_EQ(judged({.dialect = "nv"})[0].verdict, Verdict::pass_exact);
}

TEST_F(Captured, WhatWasRaisedIsTheVerdict) {
    add("1.safetensors", quantize, "random.spread", {},
        R"(,"refusal":{"kind":"failed","text":"ValueError: no"})");
    add("2.safetensors", quantize, "random.spread", {},
        R"(,"refusal":{"kind":"not_supported","text":"not here"})");
    finish();
    const auto all = judged();
    EXPECT_EQ(all[0].verdict, Verdict::device_error);
    EXPECT_EQ(all[0].reason, "ValueError: no");
    EXPECT_EQ(all[1].verdict, Verdict::not_supported);
}

TEST_F(Captured, ACaptureThatDidNotEndIsJudgedAndSaysSo) {
    add("1.safetensors", quantize, "random.spread");
    write("capture.json", R"({"mxcheck_capture":1,"complete":false,"stopped":"disk full"})");
    write("2.safetensors.partial", "half");
    const auto capture = Capture::read(folder_.string());
    ASSERT_TRUE(capture);
    EXPECT_EQ(capture.value().cases().size(), 1u);
    ASSERT_EQ(capture.value().gaps().size(), 1u);
    EXPECT_EQ(capture.value().gaps()[0], "the capture stopped: disk full");
}

TEST_F(Captured, WhatHasNoCaseIsAGap) {
    add("1.safetensors", quantize, "random.spread");
    finish(R"(,"functions":{"g":{"seen":3,"kept":1,"no_case":{"x is int64":2}}})");
    const auto capture = Capture::read(folder_.string());
    ASSERT_EQ(capture.value().gaps().size(), 1u);
    EXPECT_EQ(capture.value().gaps()[0], "g: 2 x is int64");
}

TEST_F(Captured, FilesThatAreNotWhatWasCapturedAreRefused) {
    EXPECT_NE(refusal().find("holds no capture"), std::string::npos);
    write("capture.json", "{");
    EXPECT_NE(refusal().find("is no manifest"), std::string::npos);
    write("capture.json", R"({"mxcheck_capture":1,"complete":true,"calls":[{"file":"../x"}]})");
    EXPECT_NE(refusal().find("names a file"), std::string::npos);
    add("1.safetensors", quantize, "random.spread");
    finish();
    EXPECT_EQ(refusal(), "");
    std::fstream file(path("1.safetensors"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('\x55');
    file.close();
    EXPECT_NE(refusal().find("its digest is another"), std::string::npos);
    fs::remove(path("1.safetensors"));
    EXPECT_NE(refusal().find("is missing"), std::string::npos);
}

// No shape that its tensors do not have, and no file but its own.
TEST_F(Captured, HostileWordsAreAnswered) {
    const std::string tail = R"(","outputs":["out0","out1"]})";
    const auto with = [&](const std::string& words) {
        data::TensorFile made;
        made.tensors = {raw("out0", std::vector<std::byte>(32)),
                        raw("out1", {std::byte{0}}),
                        {"x", "f32", {1, 32}, std::vector<std::byte>(128)}};
        made.metadata = {{std::string(data::captured_key), R"({"case":")" + words + tail}};
        EXPECT_TRUE(data::write_tensor_file(path("1.safetensors"), made));
        files_ = {"1.safetensors"};
        finish();
        const auto capture = Capture::read(folder_.string());
        EXPECT_TRUE(capture);
        return capture;
    };
    const auto other = with("quantize format=mxfp8-e4m3 shape=1x32 data=file:/etc/passwd");
    EXPECT_EQ(other.value().cases().size(), 0u);
    EXPECT_EQ(other.value().gaps().size(), 1u);
    const auto wide = with("quantize format=mxfp8-e4m3 shape=4096x4096");
    ASSERT_EQ(wide.value().cases().size(), 1u);
    Sources sources;
    EXPECT_FALSE(sources.open(wide.value().cases()[0]));
    const auto mute = with("quantize format=mxfp8-e4m3 shape=1x32 packing=bytes");
    EXPECT_EQ(mute.value().cases().size(), 1u);
}

}  // namespace
}  // namespace mx::session
