// What the table leaves open is settled by a device's answers: each open decision of each row, set
// each way that a source has it.
#include "conformance/identify/gemm_open.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "conformance/identify/gemm_fields.hpp"
#include "conformance/identify/gemm_identify.hpp"
#include "conformance/identify/test/dressed_gemm.hpp"
#include "reference/spec/gemm_models.hpp"

namespace mx::identify {
namespace {

TEST(GemmOpen, EveryRowThatLeavesSomethingOpenIsHere) {
    for (const GemmModel& row : gemm_models) {
        const bool is_listed = std::ranges::any_of(
            open_fields(), [&](const GemmOpenField& one) { return lists(one.rows, row.name); });
        EXPECT_EQ(is_listed, !row.open.empty()) << row.name;
    }
    for (const GemmOpenField& one : open_fields()) {
        const bool is_field =
            one.field.empty() || std::ranges::any_of(gemm_fields(), [&](const GemmField& field) {
                return field.name == one.field;
            });
        EXPECT_TRUE(is_field) << one.field;
    }
}

struct Simulated {
    const char* row;
    const char* field;
    const char* value;  // "": no factors of this type can tell
    ElementFormat factors;
    std::function<void(GemmModel&)> change;
    FactorScaling scaling = FactorScaling::none;
};

std::ostream& operator<<(std::ostream& out, const Simulated& simulated) {
    return out << simulated.row << " " << simulated.field << " " << simulated.value;
}

std::function<void(GemmModel&)> floor_at(int floor) {
    return [floor](GemmModel& row) { row.exponent_floor = floor; };
}
std::function<void(GemmModel&)> bits(int more) {
    return [more](GemmModel& row) { row.fraction_bits += more; };
}
void as_it_is(GemmModel&) {}

constexpr FactorScaling mx = FactorScaling::e8m0_1x32, nvfp4 = FactorScaling::ue4m3_1x16;

const Simulated machines[] = {
    {"blackwell-mx", "exponent floor", "none", formats::e4m3, as_it_is, mx},
    {"blackwell-mx", "exponent floor", "-126", formats::e4m3, floor_at(-126), mx},
    {"blackwell-mx", "exponent floor", "-133", formats::e4m3, floor_at(-133), mx},
    {"blackwell-mx", "exponent floor", "-133", formats::e5m2, floor_at(-133), mx},
    {"blackwell-fp4", "zero products", "left out", formats::e2m1, as_it_is, nvfp4},
    {"blackwell-fp4", "zero products", "counted", formats::e2m1,
     [](GemmModel& row) { row.zero_products = ZeroProducts::counted; }, nvfp4},
    {"hopper-half", "exponent floor", "-133", formats::bf16, as_it_is},
    {"hopper-half", "exponent floor", "-126", formats::bf16, floor_at(-126)},
    {"blackwell-fp8-f16", "exponent floor", "", formats::e5m2, as_it_is},
    {"blackwell-fp8-f16", "fraction bits", "+1", formats::e5m2, bits(1)},
    {"blackwell-fp8-f16", "fraction bits", "-1", formats::e5m2, bits(-1)},
    {"hopper-f16-f16", "exponent floor", "-21", formats::f16, as_it_is},
    {"ampere-f16-f16", "exponent floor", "-21", formats::f16, floor_at(-21)},
    {"ampere-f16-f16", "exponent floor", "none", formats::f16, as_it_is},
};

// Is the exact sum of the products below 0?
bool is_below_zero(const ScaledRow& a, const ScaledRow& b, std::int64_t depth) {
    double sum = 0;
    for (std::int64_t k = 0; k < depth; ++k)
        sum += number_of(a.element, a.codes.at(k)) * number_of(b.element, b.codes.at(k));
    return sum < 0;
}

class OpenDecision : public testing::TestWithParam<Simulated> {};

TEST_P(OpenDecision, IsSettledWithAWitness) {
    const Simulated& simulated = GetParam();
    GemmModel row = *find_gemm_model(simulated.row);
    simulated.change(row);
    std::string value = simulated.value;
    if (simulated.field == std::string("fraction bits")) value = std::to_string(row.fraction_bits);
    GemmProblem setting{.a = {simulated.factors}, .b = {simulated.factors}};
    setting.a.scaling = setting.b.scaling = simulated.scaling;
    GemmSubject subject(device_of(dressed_as(row)), setting);
    const auto found = identify_gemm(subject);
    ASSERT_TRUE(found.ok()) << found.error().message;
    const auto& all = found.value().settled;
    EXPECT_EQ(found.value().unexplained(), 0u);
    const auto one = std::ranges::find_if(all, [&](const GemmSettled& settled) {
        return settled.row == simulated.row && settled.field == simulated.field;
    });
    ASSERT_NE(one, all.end());
    EXPECT_EQ(one->of_row == value || value.empty(), !found.value().rows.empty());
    if (value.empty()) {
        EXPECT_FALSE(one->is_settled());
        return;
    }
    EXPECT_EQ(one->values, std::vector<std::string>{value});
    EXPECT_NE(one->witness, "");
}

// No row can say it, so the device does it to the sums of the row: where C is -0, those of nothing
// but negative products.
TEST(GemmOpen, TheSignOfWhatRoundsToZero) {
    const GemmModel& row = *find_gemm_model("ampere-f16-f16");
    Dress dress = dressed_as(row);
    const Accumulate plain = dress.accumulate;
    for (const bool keeps : {true, false}) {
        dress.accumulate = [&](const ScaledRow& a, const ScaledRow& b, std::int64_t depth,
                               const fast::Unpacked& c) {
            fast::Unpacked sum = plain(a, b, depth, c);
            if (keeps && fast::is_zero(sum)) sum.negative = is_below_zero(a, b, depth);
            return sum;
        };
        GemmSubject subject(device_of(dress), {.a = {formats::f16}, .b = {formats::f16}});
        const auto found = identify_gemm(subject);
        ASSERT_TRUE(found.ok()) << found.error().message;
        const auto& all = found.value().settled;
        const auto one = std::ranges::find(all, "what rounds to 0", &GemmSettled::field);
        ASSERT_NE(one, all.end()) << found.value().learnt.witness;
        EXPECT_EQ(one->values, std::vector<std::string>{keeps ? "0 of its sign" : "+0"});
    }
}

INSTANTIATE_TEST_SUITE_P(GemmOpen, OpenDecision, testing::ValuesIn(machines));

}  // namespace
}  // namespace mx::identify
