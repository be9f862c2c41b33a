// GEMM cases through the runner: the oracle as a device passes, planted errors fail or make the
// case say that its data is at fault.
#include <gtest/gtest.h>

#include <utility>

#include "conformance/run/runner.hpp"
#include "conformance/run/test/gemm_subject.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx {
namespace {

using results::CaseResult;
using results::Verdict;

const std::vector<std::string> exact_data{
    "gemm.exact-signs",    "gemm.exact-mantissas", "gemm.exact-cancelling", "gemm.exact-scales",
    "gemm.exact-specials", "gemm.one-hot",         "gemm.counting"};

// Factors, the same on both sides, and mixed.
const std::vector<std::pair<std::string, std::string>> factors{
    {"mxfp8-e4m3", "mxfp8-e4m3"},
    {"mxfp8-e4m3", "mxfp8-e5m2"},
    {"mxfp8-e5m2", "mxfp8-e5m2"},
    {"mxfp6-e3m2", "mxfp6-e2m3"},
    {"mxfp4-e2m1", "mxfp4-e2m1"},
    {"mxfp4-e2m1", "mxfp8-e4m3"},
    {"mxint8", "mxint8"},
    {"nvfp4", "nvfp4"},
    {"e4m3:tensor", "e5m2:tensor"},
    {"e4m3:row", "e4m3:row"},
    {"e4m3:1x128", "e4m3:1x128"},
    {"e4m3:1x128", "e5m2:128x128"},
    {"bf16", "bf16"},
    {"f16", "f16"},
    {"f32", "f32"},
    {"e4m3", "e5m2"},
};

TEST(GemmRunner, TheExactSumPassesWhereItIsDetermined) {
    for (const auto& [a, b] : factors)
        for (const std::string& data : exact_data) {
            const CaseResult result =
                run("gemm a=" + a + " b=" + b + " shape=40x24x288 data=" + data, {});
            EXPECT_EQ(result.verdict, Verdict::pass_exact) << told(result);
        }
}

// What may come after the sum, and the shapes.
TEST(GemmRunner, TheExactSumPassesWithEverythingElse) {
    const std::vector<std::string> more{
        "output=bf16 shape=24x16x160",
        "output=f16 shape=24x16x160",
        "output=e4m3 shape=24x16x160",
        "output=e5m2 shape=24x16x160 beta=0.5",
        "output=f32 shape=24x40x160 alpha=-0.5 beta=2",
        "output=bf16 shape=24x40x160 beta=1 epilogue=bias-relu",
        "output=f16 shape=24x40x160 alpha=2 epilogue=bias",
        "output=f32 shape=16x24x96 batches=3 beta=-1",
        "output=f32 shape=33x7x70 layout=padded index=5",
        "output=f32 shape=3x2x1024 index=1",
        "output=f32 shape=7x5x33 seed=9",
        "output=e4m3 shape=16x16x64 c=f16 beta=1 epilogue=relu",
    };
    for (const auto& [a, b] : factors)
        for (const std::string& fields : more)
            for (const std::string& data : exact_data) {
                // One output in five is of a row that is NaN, and nobody says what ReLU makes of
                // it.
                const bool is_open =
                    data == "gemm.exact-specials" && (fields.find("relu") != std::string::npos ||
                                                      fields.find("output=e") != std::string::npos);
                if (is_open) continue;
                std::string text = "gemm a=" + a + " b=" + b + " data=" + data + " " + fields;
                if ((a + b).find("128x128") != std::string::npos &&
                    fields.find("batches") != std::string::npos)
                    continue;
                const CaseResult result = run(text, {});
                EXPECT_EQ(result.verdict, Verdict::pass_exact) << told(result);
            }
}

// What a device may do wrong, and a case that shows it.
struct Planted {
    const char* what;
    const char* fields;
    GemmSubject subject;
};

void zero_column(Matrix& codes, std::size_t k) {
    for (auto& row : codes) row[k] = 0;
}
void shift_blocks(Matrix& scales) {
    for (auto& row : scales)
        for (std::size_t block = row.size(); block-- > 1;) row[block] = row[block - 1];
}

const std::vector<Planted>& planted() {
    static const std::vector<Planted> table{
        {"the tail of K is dropped",
         "a=mxfp8-e4m3 b=mxfp8-e4m3 shape=16x16x80",
         {.spoil =
              [](PlainGemm& g) {
                  for (std::size_t k = 64; k < 80; ++k) zero_column(g.a, k);
              }}},
        {"one k is not counted",
         "a=mxfp8-e4m3 b=mxfp8-e5m2 shape=64x16x96",
         {.spoil = [](PlainGemm& g) { zero_column(g.b, 37); }}},
        {"a scale slice is used again",
         "a=mxfp8-e4m3 b=mxfp8-e4m3 shape=16x16x128",
         {.spoil = [](PlainGemm& g) { shift_blocks(g.scales_a); }}},
        {"scales are swapped",
         "a=mxfp8-e4m3 b=mxfp8-e4m3 shape=16x16x128",
         {.spoil = [](PlainGemm& g) { std::swap(g.scales_a, g.scales_b); }}},
        {"C is added twice",
         "a=nvfp4 b=nvfp4 shape=16x16x64 beta=0.5",
         {.spoil = [](PlainGemm& g) { g.asked.beta += 1 << 23; }}},
        {"alpha is ignored",
         "a=bf16 b=bf16 shape=16x16x64 alpha=2",
         {.spoil = [](PlainGemm& g) { g.asked.alpha = 0x3F800000; }}},
        {"the second batch has the scales of the first",
         "a=mxfp4-e2m1 b=mxfp4-e2m1 batches=2 shape=16x16x64",
         {.spoil =
              [](PlainGemm& g) { std::copy_n(g.scales_b.begin(), 16, g.scales_b.begin() + 16); }}},
        {"the result is transposed",
         "a=e4m3:row b=e4m3:row shape=16x16x64",
         {.spoil_result =
              [](const PlainGemm&, Matrix& d) {
                  for (std::size_t i = 0; i < d.size(); ++i)
                      for (std::size_t j = 0; j < i; ++j) std::swap(d[i][j], d[j][i]);
              }}},
        {"the bias is left out",
         "a=f16 b=f16 shape=16x16x64 epilogue=bias",
         {.spoil =
              [](PlainGemm& g) {
                  for (std::uint32_t& code : g.bias[0]) code = 0;
              }}},
        {"an unwritten batch",
         "a=mxfp8-e4m3 b=mxfp8-e4m3 batches=2 shape=16x16x64",
         {.rows_unwritten_from = 16}},
    };
    return table;
}

TEST(GemmRunner, WhatIsWrongFailsOnEveryKindOfExactData) {
    for (const Planted& wrong : planted())
        for (const std::string& data : exact_data) {
            const std::string text = std::string("gemm ") + wrong.fields + " data=" + data;
            const CaseResult right = run(text, {});
            EXPECT_EQ(right.verdict, Verdict::pass_exact) << told(right);
            const CaseResult result = run(text, wrong.subject);
            EXPECT_EQ(result.verdict, Verdict::fail) << wrong.what << " " << told(result);
            EXPECT_GT(result.mismatched_elements, 0u);
        }
}

struct Explained {
    const char* says;
    const char* fields;
    GemmSubject subject;
};

const std::vector<Explained>& wrong_products() {
    static const std::vector<Explained> table{
        {"as if k 37 is not counted",
         "a=mxfp8-e4m3 b=mxfp8-e5m2 shape=64x16x96",
         {.spoil = [](PlainGemm& g) { zero_column(g.b, 37); }}},
        {"as if k 37 is counted twice",
         "a=e4m3:row b=e5m2:row shape=64x16x96",
         {.spoil =
              [](PlainGemm& g) {
                  for (auto& row : g.a) row[37] += (row[37] & 0x7F) == 0 ? 0u : 8u;
              }}},
        {"as if k 37 is counted twice",
         "a=mxfp8-e4m3 b=mxfp8-e5m2 shape=64x16x96",
         {.spoil =
              [](PlainGemm& g) {
                  for (auto& row : g.a) row[37] += (row[37] & 0x7F) == 0 ? 0u : 8u;
              }}},
        {"as if k 6 and k 7 of A change places",
         "a=bf16 b=bf16 shape=64x16x96",
         {.spoil =
              [](PlainGemm& g) {
                  for (auto& row : g.a) std::swap(row[6], row[7]);
              }}},
        {"as if nothing from k 112 on is counted",
         "a=nvfp4 b=nvfp4 shape=64x16x160",
         {.spoil =
              [](PlainGemm& g) {
                  for (std::size_t k = 112; k < 160; ++k) zero_column(g.a, k);
              }}},
        {"as if what is left of K after whole 64 is not counted",
         "a=nvfp4 b=nvfp4 shape=64x16x96",
         {.spoil =
              [](PlainGemm& g) {
                  for (std::size_t k = 64; k < 96; ++k) zero_column(g.a, k);
              }}},
        {"as if what K leaves over of whole 64, which comes first, is not counted",
         "a=bf16 b=bf16 shape=64x16x107 model=hopper-half-residue-64",
         {.spoil =
              [](PlainGemm& g) {
                  for (std::size_t k = 0; k < 43; ++k) zero_column(g.a, k);
              }}},
        {"as if block 2 of A takes the scale of block 3",
         "a=mxfp8-e4m3 b=mxfp8-e4m3 shape=64x16x160",
         {.spoil =
              [](PlainGemm& g) {
                  for (auto& row : g.scales_a) row[2] = row[3];
              }}},
        {"as if blocks 1 and 4 of B have changed scales",
         "a=mxfp8-e4m3 b=mxfp8-e4m3 shape=64x16x160",
         {.spoil =
              [](PlainGemm& g) {
                  for (auto& row : g.scales_b) std::swap(row[1], row[4]);
              }}},
        {"as if blocks of A take the scale of the block before",
         "a=mxfp8-e4m3 b=mxfp8-e4m3 shape=64x16x160",
         {.spoil = [](PlainGemm& g) { shift_blocks(g.scales_a); }}},
    };
    return table;
}

const std::vector<Explained>& wrong_results() {
    static const std::vector<Explained> table{
        {"row 3 of D holds what belongs to row 5",
         "a=mxfp8-e4m3 b=mxfp8-e4m3 shape=16x16x64",
         {.spoil_result = [](const PlainGemm&, Matrix& d) { d[3] = d[5]; }}},
        {"column 2 of D holds what belongs to column 9, column 9 of D holds what belongs to column "
         "2",
         "a=mxfp8-e4m3 b=mxfp8-e4m3 shape=16x16x64",
         {.spoil_result =
              [](const PlainGemm&, Matrix& d) {
                  for (auto& row : d) std::swap(row[2], row[9]);
              }}},
        {"as if D is transposed",
         "a=e4m3:row b=e4m3:row shape=16x16x64",
         {.spoil_result =
              [](const PlainGemm&, Matrix& d) {
                  for (std::size_t i = 0; i < d.size(); ++i)
                      for (std::size_t j = 0; j < i; ++j) std::swap(d[i][j], d[j][i]);
              }}},
        {"batch 1 untouched",
         "a=mxfp8-e4m3 b=mxfp8-e4m3 batches=2 shape=16x16x64",
         {.rows_unwritten_from = 16}},
        {"row 14, 15 untouched",
         "a=mxfp8-e4m3 b=mxfp8-e4m3 shape=16x16x64",
         {.rows_unwritten_from = 14}},
        {"as if later batches take the scales of B of the first",
         "a=mxfp4-e2m1 b=mxfp4-e2m1 batches=2 shape=16x16x64",
         {.spoil =
              [](PlainGemm& g) { std::copy_n(g.scales_b.begin(), 16, g.scales_b.begin() + 16); }}},
        {"as if a later batch is the first one again",
         "a=mxfp4-e2m1 b=mxfp4-e2m1 batches=2 shape=16x16x64",
         {.spoil_result = [](const PlainGemm&,
                             Matrix& d) { std::copy_n(d.begin(), 16, d.begin() + 16); }}},
        {"as if C is added without beta",
         "a=bf16 b=bf16 shape=16x16x64 beta=0.5",
         {.spoil = [](PlainGemm& g) { g.asked.beta = 0x3F800000; }}},
    };
    return table;
}

TEST(GemmRunner, TheNoteSaysWhatWasLostOrSwapped) {
    std::vector<Explained> explained = wrong_products();
    explained.insert(explained.end(), wrong_results().begin(), wrong_results().end());
    for (const Explained& wrong : explained) {
        const std::string text = std::string("gemm ") + wrong.fields + " data=gemm.exact-mantissas";
        const CaseResult result = run(text, wrong.subject);
        ASSERT_FALSE(result.mismatches.empty()) << wrong.says;
        EXPECT_NE(result.mismatches[0].note.find(wrong.says), std::string::npos)
            << wrong.says << ", not " << told(result);
        EXPECT_NE(result.mismatches[0].note.find(wrong.says[0] == 'a' ? "exact sum" : "row"),
                  std::string::npos);
    }
    // Under a named model the same is asked of the model.
    const GemmModel* model = find_gemm_model("hopper-fp8-promoted");
    const CaseResult result =
        run("gemm a=e4m3:tensor b=e4m3:tensor shape=16x16x160 data=gemm.middle "
            "model=hopper-fp8-promoted",
            {.model = model, .spoil = [](PlainGemm& g) { zero_column(g.a, 41); }});
    EXPECT_NE(result.mismatches.at(0).note.find("k 41 is not counted"), std::string::npos)
        << told(result);
}

// Both factors in turn, in every format that has an element of 6.
TEST(GemmRunner, ADeviceThatFlushesTheLowestScaleFailsAndIsToldSo) {
    const auto flush = [](Matrix& codes, const Matrix& scales) {
        for (std::size_t row = 0; row < codes.size(); ++row)
            for (std::size_t k = 0; k < codes[row].size(); ++k)
                if (scales[row][k / 32] == 0) codes[row][k] = 0;
    };
    const GemmSubject flushing{.spoil = [&flush](PlainGemm& g) {
        flush(g.a, g.scales_a);
        flush(g.b, g.scales_b);
    }};
    const GemmSubject short_one{.spoil = [](PlainGemm& g) {
        for (auto& row : g.a) std::fill(row.begin() + 128, row.end(), 0u);
    }};
    const std::string hint = "as if scales of E8M0 code 0, which are 2^-127, are flushed to 0";
    for (const auto& [a, b] : factors) {
        if (!a.starts_with("mx") || a == "mxint8") continue;
        for (const char* more : {"index=0", "index=1 output=bf16"}) {
            const std::string text =
                "gemm a=" + a + " b=" + b + " shape=24x16x160 data=gemm.lowest-scale " + more;
            EXPECT_EQ(run(text, {}).verdict, Verdict::pass_exact) << told(run(text, {}));
            const CaseResult wrong = run(text, flushing);
            ASSERT_EQ(wrong.verdict, Verdict::fail) << told(wrong);
            EXPECT_NE(wrong.mismatches[0].note.find(hint), std::string::npos) << told(wrong);
            const CaseResult other = run(text, short_one);
            ASSERT_EQ(other.verdict, Verdict::fail) << told(other);
            EXPECT_NE(other.mismatches[0].note.find("after whole 64"), std::string::npos)
                << told(other);
        }
    }
}

// Where sums round, no exact result may pass, right or wrong.
TEST(GemmRunner, RandomDataIsNeverExact) {
    for (const char* data : {"gemm.uniform", "gemm.positive", "gemm.dominant", "gemm.small"}) {
        const CaseResult result =
            run(std::string("gemm a=mxfp8-e4m3 b=mxfp8-e4m3 shape=16x16x256 data=") + data, {});
        EXPECT_EQ(result.verdict, Verdict::insufficient_data) << told(result);
        EXPECT_NE(result.reason.find("exact in any order"), std::string::npos);
    }
}

// Every row of the table, dressed as a device, is found to be itself and no other.
TEST(GemmRunner, EveryModelPassesAsItselfAndFailsAsAnother) {
    const auto factors_of = [](const GemmModel& model) -> std::pair<std::string, std::string> {
        const std::string first(model.operands.substr(0, model.operands.find(' ')));
        if (model.scaling == BlockScaling::none) return {first, first};
        const bool is_product = model.scaling == BlockScaling::promoted_product;
        if (model.blocks == "128" && is_product) return {"e4m3:1x128", "e5m2:128x128"};
        if (model.blocks == "128") return {"e4m3:1x128", "e4m3:1x128"};
        if (model.scaling == BlockScaling::group) return {"nvfp4", "nvfp4"};
        return {"mxfp8-e4m3", "mxfp8-e5m2"};
    };
    for (const GemmModel& model : gemm_models) {
        const auto [a, b] = factors_of(model);
        const std::string text =
            "gemm a=" + a + " b=" + b +
            " shape=32x32x512 data=gemm.uniform model=" + std::string(model.name);
        const CaseResult right = run(text, {.model = &model});
        EXPECT_EQ(right.verdict, Verdict::pass_exact) << told(right);
        EXPECT_NE(right.reason.find(model.name), std::string::npos) << told(right);
        EXPECT_EQ(run(text, {}).verdict, Verdict::fail) << "the exact sum as " << model.name;
        GemmModel other = model;
        other.fraction_bits = std::min(model.fraction_bits - 1, model.accumulator.mantissa_bits);
        if (model.fraction_bits == all_bits) {
            other.fraction_bits = std::min(20, model.accumulator.mantissa_bits);
            other.sum = StepSum::aligned;
        }
        const CaseResult wrong = run(text, {.model = &other});
        EXPECT_EQ(wrong.verdict, Verdict::fail) << told(wrong);
    }
}

TEST(GemmRunner, ANamedModelNeedsDataThatTellItFromTheExactSum) {
    const GemmModel& model = *find_gemm_model("hopper-fp8");
    const CaseResult result =
        run("gemm a=e4m3 b=e4m3 shape=16x16x128 data=gemm.exact-signs model=hopper-fp8",
            {.model = &model});
    EXPECT_EQ(result.verdict, Verdict::insufficient_data) << told(result);
}

TEST(GemmRunner, BoundsHoldForEveryModelAndAreOfUse) {
    const auto bounded = [](const std::string& by, const GemmSubject& subject) {
        return run(
            "gemm a=e4m3:tensor b=e5m2:tensor shape=16x16x256 output=bf16 beta=0.77 alpha=-1.23 "
            "data=gemm.middle model=bounded" +
                by,
            subject);
    };
    for (const char* name : {"hopper-fp8", "hopper-fp8-promoted", "ada-fp8", "mma-sync-fp8",
                             "blackwell-narrow", "fma-chain"}) {
        const GemmModel* model = find_gemm_model(name);
        for (const std::string& by : {std::string(), ":" + std::string(name)}) {
            const CaseResult result = bounded(by, {.model = model});
            EXPECT_EQ(result.verdict, Verdict::pass_bounded) << told(result);
        }
    }
    GemmModel coarse = *find_gemm_model("hopper-fp8");
    coarse.fraction_bits = 6;
    EXPECT_EQ(bounded(":hopper-fp8-promoted", {.model = &coarse}).verdict, Verdict::fail);
    GemmSubject no_c;
    no_c.spoil = [](PlainGemm& g) { g.asked.beta = 0x3F800000; };
    EXPECT_EQ(bounded("", no_c).verdict, Verdict::fail);
}

}  // namespace
}  // namespace mx
