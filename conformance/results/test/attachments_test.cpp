// What other commands write, told apart by its own keys, and refused with a place where it is not
// as they write it.
#include "conformance/results/attachments.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace mx::results::test {
namespace {

constexpr const char* quantize_row =
    R"([{"data":"normal","format":"mxfp8-e4m3","dialect":"ocp","rounding":"of the dialect",
"elements":64,"saturated":1,"flushed":2,"subnormal":3,"sqnr_db":null,"relative_mean":0.5,
"relative_max":1,"binades":[{"binade":-3,"elements":64,"mean_ulp":0.25,"max_ulp":0.5}],
"scales":[{"byte":127,"blocks":2}]}])";

Attachments read(std::string_view text) {
    Attachments attachments;
    const Status read = attach(text, "file", attachments);
    EXPECT_TRUE(read.ok()) << read.error().message;
    return attachments;
}

std::string complaint_of(std::string_view text) {
    Attachments attachments;
    const Status read = attach(text, "file", attachments);
    return read.ok() ? "none" : read.error().message;
}

TEST(Attachments, Accuracy) {
    const auto rows = read(quantize_row).quantize;
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].source, "oracle");
    EXPECT_EQ(rows[0].flushed, 2u);
    EXPECT_FALSE(rows[0].sqnr_db);
    EXPECT_EQ(rows[0].binades.at(0).binade, -3);
    EXPECT_EQ(rows[0].scales.at(0).byte, 127u);
    EXPECT_EQ(rows[0].scales.at(0).blocks, 2u);
}

TEST(Attachments, ARowWithoutAMeasurementHasAReason) {
    const auto rows = read(
        R"([{"op":"gemm","data":"normal","a":"e4m3","b":"e4m3","source":"cuda","m":1,"n":1,"k":1,
"reason":"no such kernel"},{"op":"quantize","data":"normal","format":"f","dialect":"d",
"source":"cuda","reason":"not supported"}])");
    EXPECT_EQ(rows.gemm.at(0).reason, "no such kernel");
    EXPECT_EQ(rows.quantize.at(0).reason, "not supported");
}

TEST(Attachments, Training) {
    const auto runs = read(
                          R"([{"task":"linear","forward":"f32","gradient":"f32","dialect":"",
"first_gradient_error":0,"weight_error":0,"losses":[2,null,1]}])")
                          .training;
    ASSERT_EQ(runs.at(0).losses.size(), 3u);
    EXPECT_NE(runs[0].losses[1], runs[0].losses[1]);
}

TEST(Attachments, KillTable) {
    const auto kills =
        read(
            R"({"version":1,"level":"quick","passed":true,"summary":"s","problems":[],
"bugs":[{"name":"a",
"description":"d","killed":true,"kill":{"level":"smoke","suite":"x","verdict":"fail","class":
"tie","case":"c"},"rules":{"cosine":"missed"}}],
"real_scales":{"bugs":[{"name":"r","killed":true}]},"gpu":{"bugs":[{"name":"g","killed":false,
"not_run":true}]}})")
            .kills;
    ASSERT_EQ(kills.at(0).blocks.bugs.size(), 1u);
    EXPECT_EQ(kills[0].blocks.bugs[0].rules.at("cosine"), "missed");
    EXPECT_EQ(kills[0].blocks.bugs[0].kill.value().mismatch_class, "tie");
    ASSERT_TRUE(kills[0].real_scales);
    EXPECT_EQ(kills[0].real_scales->bugs.at(0).name, "r");
    ASSERT_TRUE(kills[0].gpu);
    EXPECT_TRUE(kills[0].gpu->bugs.at(0).not_run);
}

// What a command prints is what is read: the same rows, whose text is the same again.
TEST(Attachments, WhatIsWrittenIsRead) {
    QuantizeAccuracy quantized;
    quantized.data = "normal";
    quantized.beside = {"nv", "", "cuda"};
    quantized.sqnr_db = 31.5;
    quantized.relative_max = std::numeric_limits<double>::infinity();
    quantized.binades = {{-3, 64, 0.25, 0.5}};
    quantized.scales = {{127, 2}};
    GemmAccuracy product;
    product.a = "e4m3";
    product.share_max = 0.5;
    product.shares = {{std::nullopt, 3}, {-2, 4}};
    TrainingCurve curve;
    curve.task = "linear";
    curve.differs_at = {3, "loss"};
    curve.losses = {2, std::nan(""), 1};
    KillMatrix kills;
    kills.level = "quick";
    kills.blocks.base = {true, 1, 2, 3, ""};
    kills.blocks.rules = {{"cosine", "somewhere", "normal", 3, 2, 1}};
    kills.blocks.bugs.resize(1);
    kills.blocks.bugs[0].kill = {"smoke", "x", "fail", "tie", "c", "r"};
    kills.blocks.bugs[0].rules = {{"cosine", "missed"}};
    kills.gpu.emplace().reason = "no GPU here";
    for (const std::string& text :
         {json_text(std::vector{quantized}), json_text(std::vector{product}),
          json_text(std::vector{curve}), json_text(kills)}) {
        const Attachments back = read(text);
        std::string again;
        if (!back.quantize.empty()) again = json_text(back.quantize);
        if (!back.gemm.empty()) again = json_text(back.gemm);
        if (!back.training.empty()) again = json_text(back.training);
        if (!back.kills.empty()) again = json_text(back.kills[0]);
        EXPECT_EQ(again, text);
    }
}

TEST(Attachments, AMisspeltKeyIsNamed) {
    const auto with = [](std::string_view key, std::string_view wrong) {
        std::string row = quantize_row;
        return row.replace(row.find(key), key.size(), wrong);
    };
    EXPECT_EQ(complaint_of(with("\"sqnr_db\"", "\"snqr_db\"")),
              "file, row 1: \"snqr_db\" is no key that this program knows");
    EXPECT_EQ(complaint_of(with("\"mean_ulp\"", "\"mean\"")),
              "file, row 1: \"binades[0].mean_ulp\" is missing");
}

TEST(Attachments, WhatIsNoneOfTheseIsRefusedWithItsPlace) {
    EXPECT_NE(complaint_of("").find("file: "), std::string::npos);
    EXPECT_NE(complaint_of("data  format  dialect").find("file: "), std::string::npos);
    EXPECT_NE(complaint_of("{}").find("is neither of mxcheck bench"), std::string::npos);
    EXPECT_NE(complaint_of("[{}]").find("file, row 1: is no row"), std::string::npos);
    EXPECT_NE(complaint_of("[1]").find("file, row 1: is no row"), std::string::npos);
    EXPECT_EQ(complaint_of(R"([{"task":"x"}])").find("json.exception"), std::string::npos);
    EXPECT_NE(complaint_of(R"([{"task":"x"}])").find("file, row 1: "), std::string::npos);
    EXPECT_NE(complaint_of(R"({"bugs":[{"name":1}]})").find("file: "), std::string::npos);
}

// nlohmann would make 3 of 3.5, and anything at all of -1 and 8.9e86.
TEST(Attachments, ACountIsAWholeNumberOf64Bits) {
    const auto with = [](std::string_view key, const std::string& number) {
        std::string row = quantize_row;
        const std::size_t begin = row.find(key) + key.size();
        return row.replace(begin, row.find_first_of(",}", begin) - begin, number);
    };
    for (const char* key : {"\"elements\":", "\"flushed\":", "\"byte\":", "\"blocks\":"})
        for (const char* number : {"-1", "8.9e86", "3.5", "1e400", "18446744073709551616"})
            EXPECT_NE(complaint_of(with(key, number)).find("file"), std::string::npos)
                << key << number;
    for (const char* number : {"8.9e86", "-3.5", "1e400"})
        EXPECT_NE(complaint_of(with("\"binade\":", number)).find("file"), std::string::npos);
    EXPECT_EQ(complaint_of(with("\"flushed\":", "7")), "none");
    EXPECT_EQ(complaint_of(with("\"binade\":", "7")), "none");
}

}  // namespace
}  // namespace mx::results::test
