// The C model of one block is the oracle: every row of the table whose decisions it has, every
// format and type. Of 16-bit types the whole domain; of binary32 both sides of every border that
// the exact oracle finds, and places between them (all of it, of OCP's E4M3:
// BlockModel.DISABLED_AllOfBinary32).
// Planted faults, at the end, say what these checks would see.
#include "conformance/dpi/mx_block_model.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <set>
#include <string>

#include "reference/exact/block.hpp"
#include "reference/exact/preimage.hpp"
#include "reference/fast/block.hpp"
#include "reference/proof/e8m0_functions.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx {
namespace {

// Both lists have the same order, and the model lacks what stands at the end of some.
static_assert(MX_SUBNORMALS_OUTPUTS_FLUSHED == int(Subnormals::outputs_flushed));
static_assert(MX_NAN_OWN_ELEMENT_UNLESS_ALL == int(NanInBlock::own_lane_unless_all));
static_assert(MX_INFINITY_COUNTS_AS_2TO128 == int(InfinityInBlock::counts_as_2to128));
static_assert(MX_AMAX_ONE_BIT_AWAY == int(AmaxRounding::one_bit_away));
static_assert(MX_AMAX_NEAREST_TOWARD_ZERO == int(AmaxRounding::nearest_toward_zero));
static_assert(MX_ZERO_BLOCK_AS_2TOM126 == int(ZeroBlock::as_2tom126));
static_assert(MX_RATIO_NONE == int(ScaleRatio::none));
static_assert(MX_RATIO_DIVIDED == int(ScaleRatio::divided));
static_assert(MX_SCALE_NEAREST_LOG2 == int(ScaleRounding::nearest_log2));
static_assert(MX_UNDERFLOW_ANY_BIT_COUNTS == int(ScaleUnderflow::any_bit_counts));
static_assert(MX_INVERSE_OVER_SCALE_BITS == int(Inverse::over_scale_bits));
static_assert(MX_TO_ODD == int(Rounding::to_odd));
static_assert(MX_NEAREST_TOWARD_ZERO == int(Rounding::nearest_toward_zero));
static_assert(MX_TO_INFINITY == int(Overflow::to_infinity));
static_assert(MX_NAN_ZERO == int(NanCode::zero));
static_assert(MX_ZERO_SIGN_UNDERFLOW_DROPPED == int(SignOfZero::underflow_dropped));
static_assert(MX_INT8_SYMMETRIC + 1 == int(mx_format_count));
static_assert(mx_block_formats[MX_E2M1].name == "mxfp4-e2m1" && input_types[MX_F16] == "f16");

// What the model lacks: logarithms, elements that are rounded twice, random bits.
bool is_modelled(const Quantizer& row) {
    return row.has_e8m0_scales() && row.is_known() && !takes_log2f(row) &&
           row.quotient == Quotient::exact && row.element_rounding != Rounding::stochastic;
}

mx_block_rules rules_of_row(const Quantizer& row) {
    const ScaleCast& cast = row.scale_cast;
    return {static_cast<mx_subnormals>(row.subnormals),
            static_cast<mx_nan_in_block>(row.nan_in_block),
            static_cast<mx_infinity_in_block>(row.infinity_in_block),
            static_cast<mx_amax_rounding>(row.amax_rounding),
            row.amax_min,
            static_cast<mx_zero_block>(row.zero_block),
            static_cast<mx_scale_ratio>(row.scale_ratio),
            row.ratio_min,
            static_cast<mx_scale_rounding>(cast.rounding),
            static_cast<mx_scale_underflow>(cast.underflow),
            cast.byte_min,
            cast.byte_max,
            cast.overflow,
            cast.infinity,
            cast.nan,
            cast.zero,
            static_cast<mx_inverse>(row.inverse),
            static_cast<mx_rounding>(row.element_rounding),
            static_cast<mx_overflow>(row.element_overflow),
            static_cast<mx_nan_code>(row.nan_code),
            static_cast<mx_sign_of_zero>(row.sign_of_zero)};
}

// The functions of the model, so that planted ones can stand in their place.
struct Model {
    decltype(&mx_block_scale) scale = mx_block_scale;
    decltype(&mx_block_element) element = mx_block_element;
    decltype(&mx_block_quantize) quantize = mx_block_quantize;
    decltype(&mx_block_value) value = mx_block_value;
};

// One row, format and type, in both languages.
struct Asked {
    Quantizer row;
    mx_block_rules rules;
    int format, type;
    BlockFormat block;
    ElementFormat input;

    std::string text() const {
        return std::string(row.name) + " " + std::string(block.name) + " " +
               std::string(input.name);
    }
};

template <typename Visit>
void for_each_row(const Visit& visit) {
    for (std::size_t row = 0; row < e8m0_quantizers.size(); ++row)
        for (int format = 0; format < int(mx_format_count); ++format)
            for (int type = 0; type < int(input_types.size()); ++type) {
                const Quantizer& q = e8m0_quantizers[row];
                const BlockFormat& block = mx_block_formats[std::size_t(format)];
                if (!is_modelled(q) || !q.quantizes(block)) continue;
                const ElementFormat input = *find_element_format(input_types[std::size_t(type)]);
                visit(row, Asked{q, rules_of_row(q), format, type, block, input});
            }
}

// Counts differences and says the first.
class Differences {
public:
    void compare(std::uint32_t model, std::uint32_t oracle, const Asked& asked, std::uint32_t input,
                 int scale = -1) {
        ++compared_;
        if (model == oracle) return;
        if (different_++ == 0)
            first_ = asked.text() + " of " + std::to_string(input) + " under " +
                     std::to_string(scale) + ": " + std::to_string(model) + ", the oracle has " +
                     std::to_string(oracle);
    }
    std::uint64_t compared() const { return compared_; }
    std::uint64_t different() const { return different_; }
    const std::string& first() const { return first_; }

private:
    std::uint64_t compared_ = 0, different_ = 0;
    std::string first_;
};

void expect_none(const Differences& found) {
    EXPECT_EQ(found.different(), 0u) << found.first();
    EXPECT_GT(found.compared(), 0u);
    std::printf("%llu answers compared\n", static_cast<unsigned long long>(found.compared()));
}

std::uint32_t fast_scale(const Asked& a, std::uint32_t amax) {
    return fast::encode_scale(a.row, a.block,
                              fast::read_input(a.row.subnormals, a.input, Code{amax}))
        .bits;
}
std::uint32_t fast_element(const Asked& a, std::uint32_t scale, std::uint32_t value) {
    return fast::quantize_element(a.row, a.block, Code{scale},
                                  fast::read_input(a.row.subnormals, a.input, Code{value}))
        .bits;
}

// As functions whose runs are looked for.
auto exact_scale_of(const Asked& a) {
    return [&a](std::uint32_t amax) {
        const exact::Value value = exact::read_input(a.row.subnormals, a.input, Code{amax});
        return std::uint64_t{exact::encode_scale(a.row, a.block, value).bits};
    };
}
auto exact_element_of(const Asked& a, std::uint32_t scale) {
    return [&a, scale](std::uint32_t bits) {
        const exact::Value value = exact::read_input(a.row.subnormals, a.input, Code{bits});
        return std::uint64_t{exact::quantize_element(a.row, a.block, Code{scale}, value).bits};
    };
}

void compare_scale(const Model& model, const Asked& a, std::uint32_t amax, std::uint32_t right,
                   Differences& found) {
    found.compare(model.scale(a.rules, mx_block_format(a.format), mx_block_type(a.type), amax),
                  right, a, amax);
}
void compare_element(const Model& model, const Asked& a, std::uint32_t scale, std::uint32_t value,
                     std::uint32_t right, Differences& found) {
    const auto byte = static_cast<std::uint8_t>(scale);
    found.compare(
        model.element(a.rules, mx_block_format(a.format), mx_block_type(a.type), byte, value),
        right, a, value, static_cast<int>(scale));
}

// Both ends of each run, and places between them.
template <typename Compare>
void at_borders(const std::vector<exact::Run>& runs, const Compare& compare) {
    for (const exact::Run& run : runs) {
        const auto right = static_cast<std::uint32_t>(run.result);
        const std::uint32_t length = run.last - run.first;
        for (const std::uint32_t of_16 : {0u, 1u, 5u, 8u, 11u, 16u})
            compare(run.first + static_cast<std::uint32_t>(std::uint64_t{length} * of_16 / 16),
                    right);
    }
}

bool is_first(const Asked& a, std::size_t row, Quantizer (*rules)(Quantizer)) {
    return proof::is_first_with(rules, row, a.block);
}

// --- the checks, of a model; they end after a row that differs

void check_scales_of_16_bits(const Model& model, Differences& found) {
    for_each_row([&](std::size_t row, const Asked& a) {
        if (found.different() > 0 || a.type == MX_F32 || !is_first(a, row, proof::scale_rules))
            return;
        for (std::uint32_t amax = 0; amax <= a.input.code_magnitude_mask(); ++amax)
            compare_scale(model, a, amax, fast_scale(a, amax), found);
    });
}

void check_scales_of_f32(const Model& model, Differences& found) {
    for_each_row([&](std::size_t row, const Asked& a) {
        if (found.different() > 0 || a.type != MX_F32 || !is_first(a, row, proof::scale_rules))
            return;
        const auto right = exact_scale_of(a);
        at_borders(exact::runs_of(1, 0x7F7FFFFF, right), [&](std::uint32_t amax, std::uint32_t r) {
            compare_scale(model, a, amax, r, found);
        });
        for (const std::uint32_t amax : {0u, 0x7F800000u, 0x7F800001u, 0x7FC00000u, 0x7FFFFFFFu})
            compare_scale(model, a, amax, static_cast<std::uint32_t>(right(amax)), found);
    });
}

// Scales at both ends, where rows differ, and in the middle; of OCP every one.
void check_elements_of_16_bits(const Model& model, Differences& found) {
    const std::set<std::uint32_t> some{0, 1, 127, 254, 255};
    for_each_row([&](std::size_t row, const Asked& a) {
        if (found.different() > 0 || a.type == MX_F32 || !is_first(a, row, proof::element_rules))
            return;
        const bool every = a.row.name == "ocp" && a.type == MX_BF16 && a.format == MX_E4M3;
        for (std::uint32_t scale = 0; scale < 256; ++scale) {
            if (!every && !some.contains(scale)) continue;
            for (std::uint32_t value = 0; value < 65536; ++value)
                compare_element(model, a, scale, value, fast_element(a, scale, value), found);
        }
    });
}

void check_elements_of_f32(const Model& model, Differences& found) {
    for_each_row([&](std::size_t row, const Asked& a) {
        if (found.different() > 0 || a.type != MX_F32 || !is_first(a, row, proof::element_rules))
            return;
        for (const std::uint32_t scale : {0u, 1u, 127u, 254u}) {
            const auto right = exact_element_of(a, scale);
            const auto compare = [&](std::uint32_t value, std::uint32_t r) {
                compare_element(model, a, scale, value, r, found);
            };
            at_borders(exact::runs_of(0, 0x7F7FFFFF, right), compare);
            at_borders(exact::runs_of(0x80000000, 0xFF7FFFFF, right), compare);
            for (const std::uint32_t value : {0x7F800000u, 0xFF800000u, 0x7F800001u, 0xFFC00000u})
                compare(value, static_cast<std::uint32_t>(right(value)));
        }
    });
}

// A number at each place of a block among smaller ones: the largest, a NaN, an infinity, all NaN.
mx_block_values block_with(std::uint32_t special, int place, std::uint32_t others) {
    mx_block_values values{};
    for (int i = 0; i < MX_BLOCK_SIZE; ++i)
        values.value[i] = i == place ? special : others + static_cast<std::uint32_t>(i % 7);
    return values;
}

void compare_block(const Model& model, const Asked& a, const mx_block_values& values,
                   Differences& found) {
    std::array<std::uint8_t, MX_BLOCK_SIZE> right{};
    const Code scale =
        fast::quantize_block(a.row, a.block, a.input, values.value, MX_BLOCK_SIZE, right.data());
    const mx_block_codes made =
        model.quantize(a.rules, mx_block_format(a.format), mx_block_type(a.type), values);
    found.compare(made.scale, scale.bits, a, values.value[0]);
    for (int i = 0; i < MX_BLOCK_SIZE; ++i)
        found.compare(made.code[i], right[std::size_t(i)], a, values.value[i], int(scale.bits));
}

void check_blocks(const Model& model, Differences& found) {
    for_each_row([&](std::size_t, const Asked& a) {
        const std::uint32_t infinity = a.input.code_infinity(), nan = infinity + 1;
        const std::uint32_t sign = a.input.code_sign_mask();
        const std::uint32_t one = static_cast<std::uint32_t>(a.input.exponent_bias)
                                  << a.input.mantissa_bits;
        for (int place = 0; place < MX_BLOCK_SIZE; ++place)
            for (const std::uint32_t special :
                 {one * 9 / 8, sign | (one * 9 / 8), nan, sign | infinity, infinity - 1, 0u, sign})
                for (const std::uint32_t others : {0u, one, sign | (one * 7 / 8)})
                    compare_block(model, a, block_with(special, place, others), found);
        compare_block(model, a, block_with(nan, 0, sign | (infinity + 2)), found);
    });
}

void check_values(const Model& model, Differences& found) {
    for (int format = 0; format < int(mx_format_count); ++format) {
        const Asked a{{}, {}, format, MX_F32, mx_block_formats[std::size_t(format)], formats::f32};
        const int bits = a.block.element().code_bits();
        for (std::uint32_t scale = 0; scale < 256; ++scale)
            for (std::uint32_t code = 0; code < (1u << bits); ++code)
                found.compare(model.value(mx_block_format(format), static_cast<std::uint8_t>(scale),
                                          static_cast<std::uint8_t>(code)),
                              fast::dequantize(a.block, formats::f32, Code{scale}, Code{code}).bits,
                              a, code, static_cast<int>(scale));
    }
}

// --- the model

TEST(BlockModel, HasMostRowsOfTheTable) {
    int modelled = 0, quantizing = 0;
    for (const Quantizer& row : e8m0_quantizers) {
        if (row.formats == 0 || !row.is_known()) continue;
        ++quantizing;
        modelled += is_modelled(row) ? 1 : 0;
    }
    std::printf("%d of %d rows that quantize\n", modelled, quantizing);
    EXPECT_GE(modelled * 10, quantizing * 8);
}

// In every field, that the test knows all of: a block of rules without padding.
TEST(BlockModel, NamedRulesAreTheRowsOfTheTable) {
    const auto fields = [](const mx_block_rules& r) {
        return std::array<std::uint32_t, 21>{
            r.subnormals,     r.nan_in_block,     r.infinity_in_block, r.amax_rounding,
            r.amax_min,       r.zero_block,       r.scale_ratio,       r.ratio_min,
            r.scale_rounding, r.scale_underflow,  r.byte_min,          r.byte_max,
            r.byte_overflow,  r.byte_infinity,    r.byte_nan,          r.byte_zero,
            r.inverse,        r.element_rounding, r.element_overflow,  r.nan_code,
            r.sign_of_zero};
    };
    EXPECT_EQ(fields(mx_block_rules_ocp()), fields(rules_of_row(*find_quantizer("ocp"))));
    EXPECT_EQ(fields(mx_block_rules_nv()), fields(rules_of_row(*find_quantizer("nv"))));
}

using Check = void (*)(const Model&, Differences&);
void expect_equal(Check check) {
    Differences found;
    check(Model{}, found);
    expect_none(found);
}

TEST(BlockModel, EveryScaleOf16Bits) {
    expect_equal(check_scales_of_16_bits);
}
TEST(BlockModel, ScalesOfBinary32AtBorders) {
    expect_equal(check_scales_of_f32);
}
TEST(BlockModel, EveryElementOf16Bits) {
    expect_equal(check_elements_of_16_bits);
}
TEST(BlockModel, ElementsOfBinary32AtBorders) {
    expect_equal(check_elements_of_f32);
}
TEST(BlockModel, EveryPlaceOfABlock) {
    expect_equal(check_blocks);
}
TEST(BlockModel, EveryCodeUnderEveryScale) {
    expect_equal(check_values);
}

// Every value and every amax of binary32 against the runs of the exact oracle, for one rule and
// format: a minute or two, so by hand, with --gtest_also_run_disabled_tests.
TEST(BlockModel, DISABLED_AllOfBinary32) {
    Differences found;
    for_each_row([&](std::size_t, const Asked& a) {
        if (a.row.name != "ocp" || a.type != MX_F32 || a.format != MX_E4M3) return;
        const auto sweep = [](const std::vector<exact::Run>& runs, const auto& compare) {
            for (const exact::Run& run : runs)
                for (std::uint64_t bits = run.first; bits <= run.last; ++bits)
                    compare(static_cast<std::uint32_t>(bits),
                            static_cast<std::uint32_t>(run.result));
        };
        const auto elements = [&](std::uint32_t bits, std::uint32_t right) {
            compare_element(Model{}, a, 127, bits, right, found);
        };
        sweep(exact::runs_of(0, 0x7FFFFFFF, exact_element_of(a, 127)), elements);
        sweep(exact::runs_of(0x80000000, 0xFFFFFFFF, exact_element_of(a, 127)), elements);
        sweep(exact::runs_of(0, 0x7FFFFFFF, exact_scale_of(a)),
              [&](std::uint32_t amax, std::uint32_t right) {
                  compare_scale(Model{}, a, amax, right, found);
              });
    });
    expect_none(found);
}

// --- planted faults

std::uint8_t sticky_lost(mx_block_rules rules, mx_block_format format, mx_block_type type,
                         std::uint8_t scale, std::uint32_t value) {
    return mx_block_element(rules, format, type, scale, value & ~(type == MX_F32 ? 0xFFu : 1u));
}
std::uint8_t one_tie_away(mx_block_rules rules, mx_block_format format, mx_block_type type,
                          std::uint8_t scale, std::uint32_t value) {
    if (rules.element_rounding == MX_NEAREST_EVEN) rules.element_rounding = MX_NEAREST_AWAY;
    return mx_block_element(rules, format, type, scale, value);
}
std::uint8_t scale_one_up(mx_block_rules rules, mx_block_format format, mx_block_type type,
                          std::uint32_t amax) {
    const bool is_one_place = type == MX_F32 ? amax == 0x3F7FFFFF : amax == 0x3F7F;
    return static_cast<std::uint8_t>(mx_block_scale(rules, format, type, amax) +
                                     (is_one_place ? 1 : 0));
}
mx_block_codes last_is_ignored(mx_block_rules rules, mx_block_format format, mx_block_type type,
                               mx_block_values values) {
    const std::uint32_t last = values.value[MX_BLOCK_SIZE - 1];
    values.value[MX_BLOCK_SIZE - 1] = 0;
    mx_block_codes made = mx_block_quantize(rules, format, type, values);
    made.code[MX_BLOCK_SIZE - 1] = mx_block_element(rules, format, type, made.scale, last);
    return made;
}
std::uint32_t subnormals_lost(mx_block_format format, std::uint8_t scale, std::uint8_t code) {
    return code == 1 ? 0 : mx_block_value(format, scale, code);
}

void expect_seen(Check check, const Model& planted) {
    Differences found;
    check(planted, found);
    EXPECT_GT(found.different(), 0u);
}

TEST(BlockModelChecks, SeePlantedFaults) {
    Model planted;
    planted.element = sticky_lost;
    expect_seen(check_elements_of_f32, planted);
    expect_seen(check_elements_of_16_bits, planted);
    planted.element = one_tie_away;
    expect_seen(check_elements_of_f32, planted);
    planted.scale = scale_one_up;
    expect_seen(check_scales_of_f32, planted);
    expect_seen(check_scales_of_16_bits, planted);
    planted.quantize = last_is_ignored;
    expect_seen(check_blocks, planted);
    planted.value = subnormals_lost;
    expect_seen(check_values, planted);
}

}  // namespace
}  // namespace mx
