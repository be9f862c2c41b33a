// Every row of the table of models, dressed as a device, is called by its name and told from the
// others; arithmetic that no row has is measured.
#include "conformance/identify/gemm_identify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "conformance/identify/gemm_census.hpp"
#include "conformance/identify/gemm_fields.hpp"
#include "conformance/identify/gemm_probes.hpp"
#include "conformance/identify/test/dressed_gemm.hpp"
#include "reference/spec/gemm_models.hpp"
#include "reference/spec/words.hpp"

namespace mx::identify {
namespace {

// The scales of a block of the row's.
FactorScaling scaling_for(const GemmModel& row, std::string_view block) {
    if (block == "16") return FactorScaling::ue4m3_1x16;
    if (block == "32") return FactorScaling::e8m0_1x32;
    const bool is_tiled = row.scaling == BlockScaling::promoted_product;
    return is_tiled ? FactorScaling::f32_128x128 : FactorScaling::f32_1x128;
}

// Every setting of factors alike under which the row could be asked. The first has binary exponents
// to spare: E4M3 if the row takes it.
std::vector<GemmProblem> settings_of(const GemmModel& row) {
    std::vector<GemmProblem> settings;
    for (const std::string_view name : words_in(row.operands)) {
        const ElementFormat& format = *find_element_format(name);
        GemmProblem setting{.a = {format}, .b = {format}};
        if (row.scaling == BlockScaling::none) {
            if (format.code_bits() == 8)
                setting.a.scaling = setting.b.scaling = FactorScaling::tensor;
            settings.push_back(setting);
            continue;
        }
        for (const std::string_view block : words_in(row.blocks)) {
            setting.b.scaling = scaling_for(row, block);
            setting.a.scaling = block == "128" ? FactorScaling::f32_1x128 : setting.b.scaling;
            settings.push_back(setting);
        }
    }
    std::stable_sort(
        settings.begin(), settings.end(), [](const GemmProblem& left, const GemmProblem& right) {
            return (left.a.element == formats::e4m3) > (right.a.element == formats::e4m3);
        });
    return settings;
}

GemmProblem setting_for(const GemmModel& row) {
    return settings_of(row).front();
}

GemmIdentification identified(const Dress& dress, const GemmProblem& setting) {
    GemmSubject subject(device_of(dress), setting);
    auto found = identify_gemm(subject);
    EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().message);
    return found.ok() ? std::move(found).value() : GemmIdentification{};
}

bool names(const std::vector<std::string>& rows, std::string_view name) {
    return std::find(rows.begin(), rows.end(), name) != rows.end();
}

const GemmFinding& finding(const GemmIdentification& found, std::string_view field) {
    const auto at = std::find_if(found.findings.begin(), found.findings.end(),
                                 [field](const GemmFinding& f) { return f.field == field; });
    EXPECT_NE(at, found.findings.end()) << field;
    return *at;
}

void expect_value(const GemmIdentification& found, std::string_view field,
                  const std::string& value) {
    EXPECT_EQ(finding(found, field).values, std::vector<std::string>{value}) << field;
    EXPECT_NE(finding(found, field).witness, "") << field;
}

// By a probe of few products that was made for the field, not by random data alone.
void expect_measured(const GemmIdentification& found, std::string_view field,
                     const std::string& value) {
    expect_value(found, field, value);
    EXPECT_TRUE(finding(found, field).witness.find("random") == std::string::npos) << field;
}

const GemmModel& row_of(std::string_view name) {
    return *find_gemm_model(name);
}

// The numbers of two rows, their names and sources aside.
bool are_same_arithmetic(const GemmModel& a, const GemmModel& b) {
    return a.products == b.products && a.fraction_bits == b.fraction_bits &&
           a.accumulator.name == b.accumulator.name && a.rounding == b.rounding &&
           a.promotion == b.promotion && a.promoted.name == b.promoted.name &&
           a.exact_group == b.exact_group && a.scaling == b.scaling && a.order == b.order &&
           a.exponents == b.exponents && a.zero_products == b.zero_products &&
           a.exponent_floor == b.exponent_floor && a.residue_tile == b.residue_tile &&
           a.lanes == b.lanes && a.alpha == b.alpha;
}

// The settings that it takes to meet every other row which shares one with this row: where two rows
// meet, they must be told apart. E2M1 without block scales spans too few binades to show anything.
std::vector<GemmProblem> meetings_of(const GemmModel& row, std::set<std::string_view>& met) {
    std::vector<GemmProblem> settings;
    for (const GemmProblem& setting : settings_of(row)) {
        if (setting.a == FactorType{formats::e2m1, FactorScaling::none}) continue;
        bool is_new = settings.empty();
        for (const GemmModel* other : rows_for(setting))
            if (!are_same_arithmetic(row, *other))
                is_new = met.insert(other->name).second || is_new;
        if (is_new) settings.push_back(setting);
    }
    return settings;
}

class EveryRow : public testing::TestWithParam<std::size_t> {};

TEST_P(EveryRow, IsCalledByItsNameAndByNoOther) {
    const GemmModel& row = gemm_models[GetParam()];
    std::set<std::string_view> met;
    for (const GemmProblem& setting : meetings_of(row, met)) {
        const GemmIdentification found = identified(dressed_as(row), setting);
        EXPECT_EQ(found.unexplained(), 0u)
            << found.learnt.witness << found.unlearnt.witness << found.split.misses.witness;
        EXPECT_TRUE(names(found.rows, row.name)) << name_of(setting.a);
        for (const std::string& name : found.rows)
            EXPECT_TRUE(are_same_arithmetic(row, row_of(name)))
                << name << " " << name_of(setting.a);
        EXPECT_EQ(found.split.part, 0);
        for (const GemmFinding& one : found.findings)
            EXPECT_EQ(std::set(one.values.begin(), one.values.end()).size(), one.values.size())
                << one.field << " names a value twice: " << values_text(one.values);
    }
}

// An epilogue that nobody knows: the last bit of D is turned over where alpha or C had a say.
Client with_odd_epilogue(const GemmModel& row) {
    const Client plain = device_of(dressed_as(row));
    Client odd = plain;
    odd.ask = [plain](const Question& question) {
        DeviceAnswer answer = plain.ask(question);
        const GemmOperation& gemm = *question.operation.gemm;
        const bool is_plain = gemm.alpha == one_f32.bits && gemm.beta << 1 == 0;
        if (answer.kind != AnswerKind::answered || is_plain) return answer;
        for (std::size_t at = 0; at < answer.outputs[0].bytes.size(); at += 4)
            answer.outputs[0].bytes[at] ^= std::byte{1};
        return answer;
    };
    return odd;
}

TEST(GemmIdentify, TheAccumulatorIsNamedWhereTheEpilogueIsNotKnown) {
    GemmSubject subject(with_odd_epilogue(row_of("hopper-half")),
                        setting_for(row_of("hopper-half")));
    const auto found = identify_gemm(subject);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_TRUE(found.value().rows.empty());
    EXPECT_EQ(found.value().sum_rows, std::vector<std::string>{"hopper-half"});
    EXPECT_GT(found.value().unexplained(), 100u);
    EXPECT_GT(found.value().sums, 1000u);
}

// A device that takes whole eights of K alone is what it is all the same.
TEST(GemmIdentify, AResidueThatIsRefusedHidesNothing) {
    const GemmModel& row = row_of("hopper-half");
    const Client plain = device_of(dressed_as(row));
    Client device = plain;
    device.ask = [plain](const Question& question) {
        if (question.inputs[0].spec.columns % 8 == 0) return plain.ask(question);
        return DeviceAnswer{.kind = AnswerKind::not_supported, .reason = "K is no whole eights"};
    };
    GemmSubject subject(device, setting_for(row));
    const auto found = identify_gemm(subject);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(found.value().rows, std::vector<std::string>{"hopper-half"});
    EXPECT_EQ(found.value().refusals, std::vector<std::string>());
    EXPECT_GT(finding(found.value(), residue_field).values.size(), 1u);
}

TEST(GemmIdentify, ATileThatNoRowHasIsFound) {
    GemmModel model = row_of("hopper-half");
    model.residue_tile = 32;
    const GemmIdentification found = identified(dressed_as(model), setting_for(model));
    EXPECT_TRUE(found.rows.empty());
    EXPECT_EQ(found.unexplained(), 0u) << found.unlearnt.witness;
    expect_value(found, residue_field, "of tiles of 32");
}

// How many of the pairs of rows the test above tells apart: all that any setting can.
TEST(GemmModels, EveryPairThatMeetsIsTold) {
    std::size_t pairs = 0, told = 0, alike = 0, apart = 0;
    for (const GemmModel& one : gemm_models) {
        std::set<std::string_view> met;
        (void)meetings_of(one, met);
        for (const GemmModel& other : gemm_models) {
            if (one.name >= other.name) continue;
            ++pairs;
            told += met.contains(other.name);
            alike += are_same_arithmetic(one, other);
            bool share = false;
            for (const GemmProblem& setting : settings_of(one))
                for (const GemmModel* row : rows_for(setting)) share |= row == &other;
            apart += !share && !are_same_arithmetic(one, other);
        }
    }
    RecordProperty("pairs", static_cast<int>(pairs));
    RecordProperty("told", static_cast<int>(told));
    // The others share no operands, or no kind of scales: what is asked tells them apart.
    EXPECT_EQ(told + alike + apart, pairs) << told << " " << alike << " " << apart;
    std::printf("%zu pairs: %zu told by bits, %zu share no setting, %zu are one arithmetic\n",
                pairs, told, apart, alike);
}

INSTANTIATE_TEST_SUITE_P(GemmModels, EveryRow, testing::Range(std::size_t{0}, gemm_models.size()),
                         [](const auto& info) {
                             std::string name(gemm_models[info.param].name);
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

GemmProblem fp8() {
    return setting_for(row_of("hopper-fp8"));
}

TEST(GemmIdentify, MeasuresNumbersThatNoRowHas) {
    GemmModel model = row_of("hopper-fp8-promoted");
    model.products = 24;
    model.fraction_bits = 12;
    model.promotion = 96;
    const GemmIdentification found = identified(dressed_as(model), fp8());
    EXPECT_TRUE(found.rows.empty());
    EXPECT_EQ(found.unexplained(), 0u) << found.learnt.witness << found.unlearnt.witness;
    expect_measured(found, "products of a step", "24");
    expect_measured(found, "fraction bits", "12");
    expect_measured(found, "promotion", "96");
    EXPECT_NE(found.nearest, "");
    EXPECT_FALSE(found.parts.empty());
}

TEST(GemmIdentify, MeasuresWidthRoundingAndZeros) {
    GemmModel model = row_of("hopper-fp8");
    model.accumulator = formats::bf16;
    model.rounding = Rounding::nearest_away;
    model.zero_products = ZeroProducts::counted;
    const GemmIdentification found = identified(dressed_as(model), fp8());
    EXPECT_EQ(found.unexplained(), 0u) << found.learnt.witness << found.unlearnt.witness;
    expect_measured(found, "accumulator", "e8m7");
    expect_measured(found, "its rounding", "nearest_away");
    expect_measured(found, "zero products", "counted");
}

// One step of 32 products in integers, each cut toward negative infinity: not this room's engine.
fast::Unpacked floored(const ScaledRow& a, const ScaledRow& b, std::int64_t depth,
                       const fast::Unpacked& c) {
    constexpr int unit_below = 13;
    fast::Unpacked sum = c;
    for (std::int64_t first = 0; first < depth; first += 32) {
        std::vector<fast::Summand> terms;
        for (std::int64_t k = first; k < std::min(first + 32, depth); ++k)
            terms.push_back(fast::product_of(row_of("hopper-fp8"), a, b, k));
        terms.push_back({sum, fast::exponent_of(e8m13, sum)});
        fast::Survey survey;
        for (const fast::Summand& term : terms) fast::note(survey, term, ZeroProducts::left_out);
        if (survey.nan || (survey.positive_infinity && survey.negative_infinity))
            return {fast::Kind::nan, false, 0, 0};
        if (survey.positive_infinity || survey.negative_infinity)
            return {fast::Kind::infinity, survey.negative_infinity, 0, 0};
        if (!survey.any) continue;
        const int unit = survey.exponent - unit_below;
        __int128 total = 0;
        for (const fast::Summand& term : terms) {
            const int up = term.value.exponent - unit + 60;
            __int128 fine = up < 0 ? 0 : __int128{1} << std::min(up, 100);
            if (term.value.significand == 0) continue;
            fine *= static_cast<__int128>(term.value.significand);
            if (up < 0) fine = 1;
            total += (term.value.negative ? -fine : fine) >> 60;
        }
        sum = fast::rounded_sum(row_of("hopper-fp8"), static_cast<std::int64_t>(total), unit);
    }
    return sum;
}

TEST(GemmIdentify, MeasuresACutThatIsNoTruncation) {
    Dress dress = dressed_as(row_of("hopper-fp8"));
    dress.accumulate = floored;
    const GemmIdentification found = identified(dress, fp8());
    EXPECT_TRUE(found.rows.empty());
    EXPECT_EQ(found.nearest, "hopper-fp8");
    expect_measured(found, "cut", "toward_negative");
    EXPECT_EQ(found.unexplained(), 0u) << found.learnt.witness << found.unlearnt.witness;
}

TEST(GemmIdentify, SeesWhereCEnters) {
    for (const char* name : {"hopper-fp8", "mma-sync-fp8", "hopper-fp8-promoted"}) {
        Dress dress = dressed_as(row_of(name));
        dress.begins_with_c = true;
        const GemmIdentification found = identified(dress, fp8());
        expect_value(found, "C", "the sum begins with it");
        EXPECT_TRUE(names(found.rows, name));
        EXPECT_EQ(found.unexplained(), 0u) << found.learnt.witness << found.unlearnt.witness;
    }
    Dress parts = dressed_as(row_of("hopper-fp8"));
    parts.epilogue.kernel = GemmKernel::adds_parts;
    expect_value(identified(parts, fp8()), "alpha, beta and C", "fma(beta, C, alpha*sum)");
}

// BLAS's plain loops multiply A by alpha first, with C as the first summand or fused at the end.
TEST(GemmIdentify, SeesThatAlphaMultipliesA) {
    const GemmProblem half{.a = {formats::bf16}, .b = {formats::bf16}};
    const std::pair<const char*, bool> machines[] = {{"fma-chain", true}, {"fma-parts", false}};
    for (const auto& [name, begins_with_c] : machines) {
        GemmModel model = row_of(name);
        model.alpha = AlphaPlace::factor_a;
        Dress dress = dressed_as(model);
        dress.begins_with_c = begins_with_c;
        const GemmIdentification found = identified(dress, half);
        expect_value(found, "alpha multiplies", "each element of A, rounded");
        expect_value(found, "C", begins_with_c ? "the sum begins with it" : "added after the sum");
        EXPECT_EQ(found.unexplained(), 0u) << found.learnt.witness << found.unlearnt.witness;
    }
}

TEST(GemmIdentify, SeesASplitOfKInTheBits) {
    Dress dress = dressed_as(row_of("hopper-fp8-promoted"), 2816);
    dress.algorithms = {"id=66,splitk=3,reduction=2"};
    const GemmIdentification found = identified(dress, fp8());
    EXPECT_EQ(found.split.part, 2816);
    EXPECT_EQ(found.split.parts, 3);
    EXPECT_EQ(parts_named(found.split.algorithm), 3);
    EXPECT_NE(found.split.witness, "");
    EXPECT_TRUE(names(found.rows, "hopper-fp8-promoted"));
    EXPECT_EQ(found.unexplained(), 0u) << found.split.misses.witness;
}

TEST(GemmIdentify, TellsTheBitsOfNaN) {
    Dress dress = dressed_as(row_of("fma-chain"));
    dress.nan = 0x7FC00000;
    const GemmIdentification found = identified(dress, fp8());
    EXPECT_TRUE(names(found.rows, "fma-chain"));
    const std::pair<std::string, std::string> bits{"bits of NaN", "0x7fc00000"};
    EXPECT_NE(std::find(found.specials.begin(), found.specials.end(), bits), found.specials.end());
}

TEST(GemmIdentify, AFaultIsUnexplained) {
    Dress dress = dressed_as(row_of("hopper-fp8"));
    const Accumulate sum = dress.accumulate;
    // Whatever ends in a byte of 0x2A is one step too large.
    dress.accumulate = [sum](const ScaledRow& a, const ScaledRow& b, std::int64_t depth,
                             const fast::Unpacked& c) {
        fast::Unpacked value = sum(a, b, depth, c);
        if ((value.significand >> 2 & 0x7F) == 0x2A) value.significand += 1;
        return value;
    };
    const GemmIdentification found = identified(dress, fp8());
    EXPECT_GT(found.unexplained(), 0u);
    EXPECT_NE(found.unlearnt.witness + found.learnt.witness, "");
}

TEST(GemmIdentify, ARefusalIsASentence) {
    Dress dress = dressed_as(row_of("hopper-fp8"));
    dress.k_max = 256;
    GemmSubject none(device_of(dress), fp8());
    EXPECT_EQ(identify_gemm(none).error().message, "gemm 128x128x512: K is too large");
    dress.k_max = 1024;
    const GemmIdentification found = identified(dress, fp8());
    EXPECT_EQ(found.split.refusal, "gemm 16x16x8192: K is too large");
    EXPECT_TRUE(names(found.rows, "hopper-fp8"));
}

// The room's own engine against that of reference/fast, where both can do it.
void expect_sums_as_the_model(const GemmModel& row, const GemmProblem& setting) {
    GemmMachine machine;
    machine.model = row;
    for (std::size_t family = 0; family < 2 * gemm_data_names.size(); ++family) {
        machine.model.zero_products =
            family % 2 == 0 ? ZeroProducts::left_out : ZeroProducts::counted;
        GemmProbes probes =
            random_probes(setting, 272, 12, static_cast<GemmData>(family / 2), 7 + family);
        add_scales(setting, family, probes);
        for (const GemmProbe& probe : probes)
            ASSERT_EQ(predicted(machine, setting, probe),
                      predicted_by_model(machine, setting, probe))
                << row.name << " " << setting.a.element.name << " " << probe.about;
    }
}

TEST(GemmMachine, SumsAsTheModelsDo) {
    for (const GemmModel& row : gemm_models)
        for (const GemmProblem& setting : settings_of(row)) expect_sums_as_the_model(row, setting);
}

TEST(GemmCensus, ClassesHaveTheNamesOfTheirRows) {
    Client device = device_of(dressed_as(row_of("hopper-fp8-promoted")));
    const std::vector<std::pair<std::string, Dress>> ways{
        {"plain", dressed_as(row_of("hopper-fp8-promoted"))},
        {"tile=2", dressed_as(row_of("hopper-fp8-promoted"))},
        {"splitk=2", dressed_as(row_of("hopper-fp8-promoted"), 256)},
        {"quiet split", dressed_as(row_of("hopper-fp8-promoted"), 256)},
        {"chain", dressed_as(row_of("hopper-fp8"))},
        {"odd", dressed_as([] {
             GemmModel model = row_of("hopper-fp8");
             model.fraction_bits = 12;
             return model;
         }())}};
    device.algorithms = [&](const Question&) -> Expected<std::vector<std::string>> {
        std::vector<std::string> all;
        for (const auto& [name, dress] : ways) all.push_back(name);
        return all;
    };
    device.ask = [&](const Question& question) {
        for (const auto& [name, dress] : ways)
            if (name == question.operation.gemm->algorithm) return device_of(dress).ask(question);
        return DeviceAnswer{};
    };
    const auto census = take_census(device, fp8(), {16, 24, 512});
    ASSERT_TRUE(census.ok());
    ASSERT_EQ(census.value().classes.size(), 4u);
    const std::vector<GemmClass>& classes = census.value().classes;
    EXPECT_EQ(classes[0].algorithms, (std::vector<std::string>{"plain", "tile=2"}));
    EXPECT_TRUE(names(classes[0].rows, "hopper-fp8-promoted"));
    EXPECT_EQ(classes[0].parts, 1);
    EXPECT_EQ(classes[1].algorithms, (std::vector<std::string>{"splitk=2", "quiet split"}));
    EXPECT_EQ(classes[1].parts, 2);
    EXPECT_EQ(classes[1].parts_named, (std::vector<std::int64_t>{2, 1}));
    EXPECT_TRUE(names(classes[2].rows, "hopper-fp8"));
    EXPECT_TRUE(classes[3].rows.empty());
    EXPECT_EQ(classes[3].nearest, "hopper-fp8");
    EXPECT_NE(classes[3].witness, "");
}

}  // namespace
}  // namespace mx::identify
