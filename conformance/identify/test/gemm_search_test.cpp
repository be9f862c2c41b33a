// Every row of the table of models, dressed as a device and looked for without the table, is found
// again, and so is what plain code sums in any order: found means the same bits on data that
// nothing was learnt from. With MX_SEARCH_ALL set all rows are looked for, else some of each kind.
#include "conformance/identify/gemm_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "conformance/case/gemm_row.hpp"
#include "conformance/identify/gemm_tree.hpp"
#include "conformance/identify/test/dressed_gemm.hpp"
#include "reference/gemm/model_sum.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::identify {
namespace {

std::string first_word(std::string_view text) {
    return std::string(text.substr(0, std::min(text.find(' '), text.size())));
}

// The first operands of the row, and E4M3 if it takes that; under the first of its scales.
GemmProblem setting_for(const GemmModel& row) {
    const bool takes_e4m3 = lists(row.operands, "e4m3");
    const ElementFormat& format =
        takes_e4m3 ? formats::e4m3 : *find_element_format(first_word(row.operands));
    GemmProblem setting{.a = {format}, .b = {format}};
    const std::string block = first_word(row.blocks);
    if (row.scaling == BlockScaling::none && format.code_bits() == 8)
        setting.a.scaling = setting.b.scaling = FactorScaling::tensor;
    if (block == "16") setting.a.scaling = setting.b.scaling = FactorScaling::ue4m3_1x16;
    if (block == "32") setting.a.scaling = setting.b.scaling = FactorScaling::e8m0_1x32;
    if (block == "128") setting.a.scaling = setting.b.scaling = FactorScaling::f32_1x128;
    if (block == "128" && row.scaling == BlockScaling::promoted_product)
        setting.b.scaling = FactorScaling::f32_128x128;
    return setting;
}

GemmSearch searched(const Client& device, const GemmProblem& setting) {
    GemmSubject subject(device, setting);
    auto found = search_gemm(subject, [](const std::string&, std::uint64_t) {});
    EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().message);
    return found.ok() ? std::move(found).value() : GemmSearch{};
}

// Sums of data of a seed that no search has, by the row that was found and by the one that is
// hidden.
void expect_same_bits(const GemmModel& hidden, const GemmModel& found, const GemmProblem& setting) {
    GemmMachine ours, theirs;
    ours.model = hidden;
    theirs.model = found;
    for (std::size_t family = 0; family < gemm_data_names.size(); ++family)
        for (const std::int64_t depth : {32, 272, 1040, 507}) {
            GemmProbes probes =
                random_probes(setting, depth, 24, static_cast<GemmData>(family), 777'000 + family);
            if (has_block_scales(setting)) add_scales(setting, 778'000 + family, probes);
            for (const GemmProbe& probe : probes)
                ASSERT_EQ(predicted_by_model(ours, setting, probe),
                          predicted_by_model(theirs, setting, probe))
                    << hidden.name << " " << probe.about << " K=" << depth;
        }
}

class HiddenRow : public testing::TestWithParam<std::size_t> {};

TEST_P(HiddenRow, IsFoundFromItsAnswersAlone) {
    const GemmModel& row = gemm_models[GetParam()];
    const GemmProblem setting = setting_for(row);
    const GemmSearch found = searched(device_of(dressed_as(row)), setting);
    std::printf("%s: %s; %s; rounds %d calls %d\n", std::string(row.name).c_str(),
                accumulator_text(found).c_str(), epilogue_text(found).c_str(),
                static_cast<int>(found.rounds), static_cast<int>(found.calls));
    EXPECT_TRUE(found.is_sum_explained())
        << found.probed.witness << found.adversarial.witness << found.fresh.witness;
    EXPECT_TRUE(found.is_epilogue_explained())
        << found.probed_epilogue.witness << found.fresh_epilogue.witness;
    ASSERT_EQ(found.no_row_because(), "");
    const std::string text = model_file_of(found, "found", "a search");
    const auto own = read_model_text(text);
    ASSERT_TRUE(own.ok()) << own.error().message;
    std::printf("%s", text.c_str());
    expect_same_bits(row, own.value()->row, setting);
}

// One of each kind of arithmetic, or all.
std::vector<std::size_t> rows_looked_for() {
    constexpr std::array<std::string_view, 9> some{
        "hopper-fp8-promoted", "mma-sync-fp8-f16",          "cdna2-half", "cdna3-fp8",
        "fma-chain",           "hopper-half-k8-residue-32", "amx-fp8",    "arm-fp8-dot2-f16",
        "hopper-lanes-16"};
    const bool wants_all = std::getenv("MX_SEARCH_ALL") != nullptr;
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < gemm_models.size(); ++i)
        if (wants_all || std::ranges::find(some, gemm_models[i].name) != some.end())
            rows.push_back(i);
    return rows;
}

INSTANTIATE_TEST_SUITE_P(GemmModels, HiddenRow, testing::ValuesIn(rows_looked_for()),
                         [](const auto& info) {
                             std::string name(gemm_models[info.param].name);
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

GemmProblem plain_setting(const ElementFormat& format) {
    const bool is_fp8 = format.code_bits() == 8;
    const FactorType factor{format, is_fp8 ? FactorScaling::tensor : FactorScaling::none};
    return {.a = factor, .b = factor};
}

// A row with numbers that no row of the table has.
GemmModel unheard_of() {
    GemmModel row = *find_gemm_model("hopper-fp8-promoted");
    row.products = 12;
    row.fraction_bits = 15;
    row.cut = Rounding::toward_negative;
    row.accumulator = e8m13;
    row.accumulator.name = "e8m17";
    row.accumulator.mantissa_bits = 17;
    row.rounding = Rounding::nearest_away;
    row.promotion = 96;
    row.zero_products = ZeroProducts::counted;
    return row;
}

TEST(GemmSearch, FindsNumbersThatNoRowHas) {
    const GemmModel row = unheard_of();
    const GemmProblem setting = plain_setting(formats::e4m3);
    const GemmSearch found = searched(device_of(dressed_as(row)), setting);
    EXPECT_TRUE(found.is_sum_explained())
        << found.probed.witness << found.fresh.witness << model_file_of(found, "found", "");
    EXPECT_TRUE(found.table_rows.empty());
    ASSERT_EQ(found.no_row_because(), "");
    const auto own = read_model_text(model_file_of(found, "found", "a search"));
    ASSERT_TRUE(own.ok()) << own.error().message;
    EXPECT_EQ(own.value()->row.products, 12);
    EXPECT_EQ(own.value()->row.fraction_bits, 15);
    EXPECT_EQ(own.value()->row.cut, Rounding::toward_negative);
    EXPECT_EQ(own.value()->row.promotion, 96);
    expect_same_bits(row, own.value()->row, setting);
}

// Numbers as they come, of any row that can be.
GemmModel any_row(std::uint64_t seed) {
    static constexpr std::array<std::string_view, 6> accumulators{"e8m9",  "e8m12", "e8m15",
                                                                  "e8m18", "e8m21", "f32"};
    auto any = [seed, draw = 0u](std::uint64_t count) mutable {
        return static_cast<int>((bits_of({seed, 1, ++draw, 0}) >> 20) % count);
    };
    constexpr std::array cuts{Rounding::toward_zero,     Rounding::toward_negative,
                              Rounding::toward_positive, Rounding::away_from_zero,
                              Rounding::nearest_even,    Rounding::nearest_away};
    GemmModel row;
    row.products = 1 + any(48);
    row.fraction_bits = 10 + any(18);
    row.cut = cuts[static_cast<std::size_t>(any(6))];
    row.rounding = cuts[static_cast<std::size_t>(any(6))];
    const std::string_view accumulator = accumulators[static_cast<std::size_t>(any(6))];
    if (accumulator != "f32") {
        row.accumulator = e8m13;
        row.accumulator.name = accumulator;
        row.accumulator.mantissa_bits = std::stoi(std::string(accumulator.substr(3)));
    }
    // Lengths of promotion are seen in steps of 8.
    const int step = row.products * 8;
    if (any(2) == 0 && step <= 256)
        row.promotion = step * (1 + any(static_cast<std::uint64_t>(256 / step)));
    if (any(3) == 0) row.zero_products = ZeroProducts::counted;
    if (any(3) == 0) row.exponents = FactorExponents::f16;
    return row;
}

TEST(GemmSearch, FindsNumbersAsTheyCome) {
    if (std::getenv("MX_SEARCH_ALL") == nullptr) GTEST_SKIP() << "MX_SEARCH_ALL is not set";
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        const GemmModel row = any_row(seed);
        ASSERT_EQ(fault_of(row), "");
        const GemmProblem setting = plain_setting(formats::e4m3);
        const GemmSearch found = searched(device_of(dressed_as(row)), setting);
        GemmModel named = row;
        named.name = "hidden";
        named.operands = "e4m3";
        EXPECT_TRUE(found.is_sum_explained())
            << model_file_text(named) << accumulator_text(found) << found.probed.witness
            << found.adversarial.witness << found.fresh.witness;
        if (!found.no_row_because().empty()) continue;
        const auto own = read_model_text(model_file_of(found, "found", "a search"));
        ASSERT_TRUE(own.ok()) << own.error().message;
        expect_same_bits(row, own.value()->row, setting);
    }
}

// Products in binary32, on their own: not by the code that is tested.
std::vector<float> products_of(const ScaledRow& a, const ScaledRow& b, std::int64_t depth) {
    const auto number = [](const ElementFormat& format, Code code) {
        const fast::Unpacked value = fast::unpack(format, code);
        if (value.kind == fast::Kind::nan) return std::nan("");
        const double size = value.kind == fast::Kind::infinity
                                ? HUGE_VAL
                                : std::ldexp(double(value.significand), value.exponent);
        return value.negative ? -size : size;
    };
    std::vector<float> products;
    for (std::int64_t k = 0; k < depth; ++k)
        products.push_back(static_cast<float>(number(a.element, a.codes.at(k)) *
                                              number(b.element, b.codes.at(k))));
    return products;
}

Client device_that_sums(const std::function<float(std::vector<float>)>& sum) {
    Dress dress;
    dress.accumulate = [sum](const ScaledRow& a, const ScaledRow& b, std::int64_t depth,
                             const fast::Unpacked&) {
        const float total = sum(products_of(a, b, depth));
        return fast::unpack(formats::f32, Code{std::bit_cast<std::uint32_t>(total)});
    };
    return device_of(dress);
}

float sum_of_halves(std::vector<float> products) {
    if (products.size() == 1) return products[0];
    const auto middle = products.begin() + static_cast<std::ptrdiff_t>(products.size() / 2);
    const float left = sum_of_halves({products.begin(), middle});
    return left + sum_of_halves({middle, products.end()});
}

TEST(GemmSearch, NamesAPairwiseSum) {
    const GemmSearch found =
        searched(device_that_sums(sum_of_halves), plain_setting(formats::e4m3));
    EXPECT_TRUE(found.is_sum_explained()) << found.probed.witness << found.fresh.witness;
    EXPECT_TRUE(found.is_epilogue_explained()) << found.probed_epilogue.witness;
    ASSERT_TRUE(found.plain && found.plain->rule);
    EXPECT_EQ(found.plain->rule->text(), "halves");
    EXPECT_GT(found.fresh.of, 10'000u);
    EXPECT_NE(found.no_row_because(), "");
}

float kahan(std::vector<float> products) {
    volatile float sum = 0, lost = 0;
    for (const float product : products) {
        const float next = product - lost;
        const volatile float total = sum + next;
        const volatile float gained = total - sum;
        lost = gained - next;
        sum = total;
    }
    return sum;
}

TEST(GemmSearch, NamesAKahanSum) {
    const GemmSearch found = searched(device_that_sums(kahan), plain_setting(formats::bf16));
    EXPECT_TRUE(found.is_sum_explained()) << found.probed.witness << found.fresh.witness;
    ASSERT_TRUE(found.plain);
    EXPECT_EQ(found.plain->loop, PlainLoop::kahan);
}

// Any two of those that are left, by a generator that hangs on K alone.
float sum_at_random(std::vector<float> sums) {
    std::uint64_t state = sums.size() * 0x9E3779B97F4A7C15u + 1;
    const auto any = [&state](std::size_t count) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::size_t>((state >> 33) % count);
    };
    while (sums.size() > 1) {
        const std::size_t one = any(sums.size());
        const float first = sums[one];
        sums.erase(sums.begin() + static_cast<std::ptrdiff_t>(one));
        sums[any(sums.size())] += first;
    }
    return sums[0];
}

// The tree alone: whatever adds so has the same bits.
TEST(GemmTree, IsMeasuredByPairs) {
    constexpr GemmShape shape{128, 128, 64};
    const GemmProblem setting = plain_setting(formats::bf16);
    GemmSubject subject(device_that_sums(sum_at_random), setting);
    auto measured = measure_tree(subject, shape, [](std::uint64_t) {});
    ASSERT_TRUE(measured.ok() && measured.value().tree) << measured.value().why_not;
    const PlainSum sum{.tree = *measured.value().tree};
    EXPECT_EQ(sum.tree.joins.size(), 63u);
    const GemmProbes probes = random_probes(setting, shape.k, 128, GemmData::cancelling, 1);
    const auto bits = subject.ask(shape, probes);
    ASSERT_TRUE(bits.ok());
    for (std::size_t i = 0; i < probes.size(); ++i)
        ASSERT_EQ(predicted(sum, {}, setting, probes[i]), bits.value()[i]) << i;
}

TEST(GemmTree, StepsOfSeveralProductsAreNone) {
    const GemmProblem setting = plain_setting(formats::bf16);
    GemmSubject subject(device_of(dressed_as(*find_gemm_model("hopper-half"))), setting);
    const auto measured = measure_tree(subject, {128, 128, 64}, [](std::uint64_t) {});
    ASSERT_TRUE(measured.ok());
    EXPECT_FALSE(measured.value().tree);
    EXPECT_NE(measured.value().why_not, "");
}

TEST(GemmSearch, MeasuresARandomTree) {
    if (std::getenv("MX_SEARCH_ALL") == nullptr) GTEST_SKIP() << "MX_SEARCH_ALL is not set";
    const GemmSearch found =
        searched(device_that_sums(sum_at_random), plain_setting(formats::bf16));
    EXPECT_TRUE(found.is_sum_explained())
        << found.why_no_tree << found.probed.witness << found.fresh.witness;
    ASSERT_TRUE(found.plain);
    EXPECT_FALSE(found.plain->rule);
    EXPECT_EQ(found.plain->tree.joins.size(), 511u);
    EXPECT_EQ(found.fresh.of, 640u);
}

// Eight sums side by side by fused multiply-adds, as a compiler makes them of a loop.
TEST(GemmSearch, NamesLanesOfFusedMultiplyAdds) {
    Dress dress;
    dress.accumulate = [](const ScaledRow& a, const ScaledRow& b, std::int64_t depth,
                          const fast::Unpacked&) {
        std::array<float, 8> lanes{};
        const auto value = [](const ScaledRow& row, std::int64_t k) {
            return std::bit_cast<float>(row.codes.at(k).bits);
        };
        for (std::int64_t k = 0; k < depth; ++k) {
            float& lane = lanes[static_cast<std::size_t>(k % 8)];
            lane = std::fma(value(a, k), value(b, k), lane);
        }
        const float total = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
                            ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
        return fast::unpack(formats::f32, Code{std::bit_cast<std::uint32_t>(total)});
    };
    const GemmSearch found = searched(device_of(dress), plain_setting(formats::f32));
    EXPECT_TRUE(found.is_sum_explained()) << found.probed.witness << found.fresh.witness;
    ASSERT_TRUE(found.plain && found.plain->rule);
    EXPECT_EQ(found.plain->rule->text(), "lanes, added in pairs, of 8");
    EXPECT_TRUE(found.plain->is_fused);
}

// What no field explains is no find: a row with one output of many wrong.
TEST(GemmSearch, AFaultIsNotExplainedAway) {
    Dress dress = dressed_as(*find_gemm_model("hopper-fp8"));
    const Accumulate sum = dress.accumulate;
    dress.accumulate = [sum](const ScaledRow& a, const ScaledRow& b, std::int64_t depth,
                             const fast::Unpacked& c) {
        fast::Unpacked value = sum(a, b, depth, c);
        if ((value.significand >> 2 & 0x3F) == 0x2A) value.significand += 1;
        return value;
    };
    const GemmSearch found = searched(device_of(dress), plain_setting(formats::e4m3));
    EXPECT_FALSE(found.is_sum_explained());
    EXPECT_NE(found.no_row_because(), "");
    EXPECT_NE(found.probed.witness + found.adversarial.witness + found.fresh.witness, "");
}

}  // namespace
}  // namespace mx::identify
