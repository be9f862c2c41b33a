// What the functions beside `run` say: comparisons, lists, edge cases; layouts and strides; calls
// from many threads and from a child.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "conformance/library/mx_oracle.h"
#include "device/abi/block_operation.hpp"

namespace mx::library {
namespace {

using nlohmann::json;

mx_tensor tensor(const char* type, void* data, std::int64_t rows, std::int64_t columns) {
    return {sizeof(mx_tensor), data, type, "host", "strided", rows, columns, columns, 1};
}

// Text that a function of the library stored.
std::string taken(char* text) {
    std::string copy(text);
    mx_oracle_free(text);
    return copy;
}

// A block of 32: 448, -1 and zeros, under "ocp" 7E B8 00 ... and 127.
struct Block {
    std::array<float, 32> values{448.0f, -1.0f};
    std::array<std::uint8_t, 32> codes{};
    std::uint8_t scale = 0;
    mx_operation asked = block_operation("quantize", "mxfp8-e4m3", "ocp", "row");

    mx_status run() {
        const mx_tensor input = tensor("f32", values.data(), 1, 32);
        const std::array outputs{tensor("e4m3", codes.data(), 1, 32), tensor("e8m0", &scale, 1, 1)};
        return mx_oracle_run(&asked, &input, 1, outputs.data(), 2, nullptr, nullptr);
    }
    json compare(std::size_t places) {
        const mx_tensor input = tensor("f32", values.data(), 1, 32);
        const std::array outputs{tensor("e4m3", codes.data(), 1, 32), tensor("e8m0", &scale, 1, 1)};
        const mx_oracle_options options{sizeof options, nullptr, places};
        char* text = nullptr;
        EXPECT_EQ(mx_oracle_compare(&asked, &input, 1, outputs.data(), 2, &options, &text, nullptr),
                  MX_OK);
        return json::parse(taken(text));
    }
};

TEST(Library, RightBitsCompareEqual) {
    Block block;
    ASSERT_EQ(block.run(), MX_OK);
    const json found = block.compare(8);
    ASSERT_EQ(found["results"].size(), 1u);
    EXPECT_EQ(found["results"][0]["verdict"], "pass_exact");
    EXPECT_EQ(found["results"][0]["elements"], 32);
    EXPECT_EQ(found["results"][0]["scales"], 1);
    EXPECT_EQ(found["places"].size(), 0u);
}

TEST(Library, AWrongBitIsSeenAtItsPlace) {
    Block block;
    ASSERT_EQ(block.run(), MX_OK);
    block.codes[1] ^= 1;
    const json found = block.compare(8);
    const json& result = found["results"][0];
    EXPECT_EQ(result["verdict"], "fail");
    EXPECT_EQ(result["mismatched_elements"], 1);
    EXPECT_EQ(result["mismatches"][0]["mismatch_class"], "rounding");
    ASSERT_EQ(found["places"].size(), 1u);
    const json& place = found["places"][0];
    EXPECT_EQ(place["output"], 0);
    EXPECT_EQ(place["row"], 0);
    EXPECT_EQ(place["column"], 1);
    EXPECT_EQ(place["expected"], "0xb8");
    EXPECT_EQ(place["actual"], "0xb9");
    EXPECT_EQ(place["witness"]["input_value"], "-1");
    EXPECT_EQ(place["witness"]["expected_value"], "-1");
    EXPECT_EQ(place["witness"]["actual_value"], "-1.125");
}

TEST(Library, PlacesEndWhereTheyMay) {
    Block block;
    ASSERT_EQ(block.run(), MX_OK);
    for (std::uint8_t& code : block.codes) code ^= 1;
    EXPECT_EQ(block.compare(3)["places"].size(), 3u);
    EXPECT_EQ(block.compare(0)["places"].size(), 0u);
    EXPECT_EQ(block.compare(0)["results"][0]["mismatched_elements"], 32);
}

TEST(Library, BothAxesAreComparedEachForItself) {
    std::vector<float> values(32 * 32, 1.0f);
    std::vector<std::uint8_t> codes(2 * values.size()), scales(2 * 32);
    mx_operation asked = block_operation("quantize", "mxfp8-e4m3", "ocp", "both");
    const mx_tensor input = tensor("f32", values.data(), 32, 32);
    const std::array outputs{
        tensor("e4m3", codes.data(), 32, 32), tensor("e8m0", scales.data(), 32, 1),
        tensor("e4m3", codes.data() + 1024, 32, 32), tensor("e8m0", scales.data() + 32, 1, 32)};
    ASSERT_EQ(mx_oracle_run(&asked, &input, 1, outputs.data(), 4, nullptr, nullptr), MX_OK);
    codes[1024 + 33] ^= 0x80;
    const mx_oracle_options options{sizeof options, nullptr, 4};
    char* text = nullptr;
    ASSERT_EQ(mx_oracle_compare(&asked, &input, 1, outputs.data(), 4, &options, &text, nullptr),
              MX_OK);
    const json found = json::parse(taken(text));
    EXPECT_EQ(found["results"][0]["verdict"], "pass_exact");
    EXPECT_EQ(found["results"][1]["verdict"], "fail");
    EXPECT_EQ(found["places"][0]["output"], 2);
    EXPECT_EQ(found["places"][0]["row"], 1);
    EXPECT_EQ(found["places"][0]["column"], 1);
}

// 2^24 + 1 - 2^24 is 1, and 0 where every sum is rounded to binary32.
TEST(Library, AGemmIsComparedUnderItsModel) {
    std::array<float, 3> a{16777216.0f, 1.0f, -16777216.0f}, b{1, 1, 1};
    float d = 0;
    mx_gemm gemm{sizeof gemm, 1,       0x3F800000, 0,       nullptr, nullptr,
                 nullptr,     nullptr, nullptr,    nullptr, 0};
    mx_operation asked{};
    asked.struct_size = sizeof asked;
    asked.name = "gemm";
    asked.gemm = &gemm;
    const std::array inputs{tensor("f32", a.data(), 1, 3), tensor("f32", b.data(), 1, 3)};
    const mx_tensor output = tensor("f32", &d, 1, 1);
    const auto verdict = [&](const char* model) {
        const mx_oracle_options options{sizeof options, model, 0};
        char* text = nullptr;
        EXPECT_EQ(mx_oracle_compare(&asked, inputs.data(), 2, &output, 1, &options, &text, nullptr),
                  MX_OK)
            << model;
        return json::parse(taken(text))["results"][0]["verdict"].get<std::string>();
    };
    EXPECT_EQ(verdict("bounded"), "pass_bounded");
    EXPECT_NE(verdict("fma-chain"), "fail");
    d = 1;
    EXPECT_EQ(verdict("fma-chain"), "fail");
}

TEST(Library, KeepsTheGapsOfStrides) {
    std::array<std::uint8_t, 6> codes{0x38, 0x40, 0xAA, 0x38, 0x40, 0xAA};  // 1, 2, gap
    std::array<std::uint8_t, 2> scales{127, 128};
    std::array<float, 6> values{9, 9, 9, 9, 9, 9};
    const mx_operation asked = block_operation("dequantize", "mxfp8-e4m3", "ocp", "row");
    std::array inputs{tensor("e4m3", codes.data(), 2, 2), tensor("e8m0", scales.data(), 2, 1)};
    mx_tensor output = tensor("f32", values.data(), 2, 2);
    inputs[0].row_stride = output.row_stride = 3;
    EXPECT_EQ(mx_oracle_run(&asked, inputs.data(), 2, &output, 1, nullptr, nullptr), MX_OK);
    EXPECT_EQ(values, (std::array<float, 6>{1, 2, 9, 2, 4, 9}));
}

// Row r of the scales lies at byte (r % 32) * 16 + r / 32 * 4 of the tile.
TEST(Library, PutsScalesWhereTheTilesHaveThem) {
    std::vector<float> values(33 * 32, 448.0f);
    for (int i = 0; i < 32; ++i) values[static_cast<std::size_t>(32 * 32 + i)] = 1.75f;
    std::vector<std::uint8_t> codes(values.size()), scales(512, 0xEE);
    const mx_operation asked = block_operation("quantize", "mxfp8-e4m3", "ocp", "row");
    const mx_tensor input = tensor("f32", values.data(), 33, 32);
    std::array outputs{tensor("e4m3", codes.data(), 33, 32), tensor("e8m0", scales.data(), 33, 1)};
    outputs[1].layout = "128x4";
    outputs[1].row_stride = outputs[1].column_stride = 0;
    ASSERT_EQ(mx_oracle_run(&asked, &input, 1, outputs.data(), 2, nullptr, nullptr), MX_OK);
    EXPECT_EQ(scales[0], 127);
    EXPECT_EQ(scales[16], 127);
    EXPECT_EQ(scales[4], 119);
    EXPECT_EQ(scales[1], 0);
}

TEST(Library, ListsWhatThereIs) {
    for (const auto& [what, name] :
         {std::pair("formats", "nvfp4-16x16"), std::pair("dialects", "torchao-floor"),
          std::pair("models", "hopper-fp8"), std::pair("layouts", "128x4-col")}) {
        char* text = nullptr;
        ASSERT_EQ(mx_oracle_list(what, &text, nullptr), MX_OK);
        const json list = json::parse(taken(text));
        const bool has_it = std::any_of(list.begin(), list.end(), [name = name](const json& row) {
            return row["name"] == name;
        });
        EXPECT_TRUE(has_it) << name;
    }
}

// Inf: what edge.special of any format has somewhere.
TEST(Library, EdgeCasesAreBlocksOfTheType) {
    mx_tensor blocks{}, all{};
    blocks.struct_size = all.struct_size = sizeof(mx_tensor);
    for (const char* format : {"mxfp8-e4m3", "nvfp4", "fp8-e4m3-128x128", "fp8-e4m3-tensor"}) {
        const char* dialect = format[0] == 'm' ? "ocp" : format[0] == 'n' ? "te-nvfp4" : nullptr;
        if (dialect == nullptr)
            dialect = std::string(format).ends_with("tensor") ? "te-fp8-current" : "te-fp8-block";
        std::array<char, 300> text{};
        mx_message message{sizeof message, text.data(), text.size()};
        ASSERT_EQ(mx_oracle_edge_cases(format, dialect, "bf16", "edge.special", &blocks, &message),
                  MX_OK)
            << text.data();
        EXPECT_STREQ(blocks.type, "bf16");
        EXPECT_GT(blocks.rows, 0) << format;
        EXPECT_EQ(blocks.columns, format[0] == 'n'                       ? 16
                                  : std::string(format).ends_with("128") ? 128 * 128
                                                                         : 32);
        const auto* codes = static_cast<const std::uint16_t*>(blocks.data);
        const auto count = blocks.rows * blocks.columns;
        EXPECT_TRUE(std::any_of(codes, codes + count, [](std::uint16_t c) { return c == 0x7F80; }));
        mx_oracle_free(blocks.data);
    }
    ASSERT_EQ(mx_oracle_edge_cases("mxfp4-e2m1", "nv", "f32", nullptr, &all, nullptr), MX_OK);
    ASSERT_EQ(mx_oracle_edge_cases("mxfp4-e2m1", "nv", "f32", "edge.tie", &blocks, nullptr), MX_OK);
    EXPECT_GT(all.rows, blocks.rows);
    mx_oracle_free(all.data);
    mx_oracle_free(blocks.data);
}

TEST(Library, ManyThreadsGetTheSameBits) {
    Block right;
    ASSERT_EQ(right.run(), MX_OK);
    std::array<int, 8> wrong{};
    std::vector<std::thread> threads;
    for (int& count : wrong)
        threads.emplace_back([&right, &count] {
            for (int i = 0; i < 200; ++i) {
                Block block;
                char* text = nullptr;
                const bool is_right = block.run() == MX_OK && block.codes == right.codes &&
                                      mx_oracle_list("models", &text, nullptr) == MX_OK;
                mx_oracle_free(text);
                count += is_right ? 0 : 1;
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, (std::array<int, 8>{}));
}

TEST(Library, AChildMayCall) {
    Block before;
    ASSERT_EQ(before.run(), MX_OK);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        Block block;
        _exit(block.run() == MX_OK && block.codes == before.codes ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace mx::library
