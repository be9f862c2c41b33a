// The hypotheses that no table gives: elements that an amax does not see, a neighbour's scale, one
// rounding too many, rows and columns exchanged. See hypotheses.hpp.
#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "conformance/cause/hypotheses.hpp"
#include "conformance/run/tensor_layout.hpp"
#include "device/host/layout.hpp"
#include "reference/fast/f32_arithmetic.hpp"
#include "reference/fast/round.hpp"

namespace mx::cause {
namespace {

using fast::Unpacked;
using Hypotheses = std::vector<Alteration>;

// Elements that an amax does not look at count as 0.
using IsUnseen = std::function<bool(const BlockSeen& seen, std::size_t lane)>;
void add_unseen(Hypotheses& hypotheses, std::string kind, std::string text, IsUnseen is_unseen) {
    add_hypothesis(hypotheses, "amax_without:" + std::move(kind),
                   "the amax leaves out " + std::move(text))
        .amax_lanes = [is_unseen = std::move(is_unseen)](const BlockSeen& seen,
                                                         std::vector<std::uint32_t>& lanes) {
        for (std::size_t lane = 0; lane < lanes.size(); ++lane)
            if (is_unseen(seen, lane)) lanes[lane] = 0;
    };
}

// Of blocks in a line those that there are, of tiles and whole tensors the first.
std::size_t single_elements_of(const Problem& p) {
    constexpr std::int64_t of_lines_max = 128, of_others_max = 32;
    const auto whole = static_cast<std::int64_t>(lanes_of(p));
    const bool is_line =
        p.axis == BlockAxis::row || p.axis == BlockAxis::col || p.axis == BlockAxis::both;
    if (!is_line) return static_cast<std::size_t>(std::min(whole, of_others_max));
    const std::int64_t across = p.axis == BlockAxis::col ? 0 : p.columns;
    const std::int64_t down = p.axis == BlockAxis::row ? 0 : p.rows;
    return static_cast<std::size_t>(std::min({whole, std::max(across, down), of_lines_max}));
}

void add_unseen_elements(const Problem& p, Hypotheses& hypotheses) {
    const auto whole = static_cast<std::size_t>(lanes_of(p));
    for (std::size_t left_out = 0; left_out < single_elements_of(p); ++left_out)
        add_unseen(hypotheses, "element_" + std::to_string(left_out),
                   "element " + std::to_string(left_out) + " of a block",
                   [left_out](const BlockSeen&, std::size_t lane) { return lane == left_out; });
    for (const std::size_t vector : {4u, 8u, 16u})
        add_unseen(
            hypotheses, "rest_of_" + std::to_string(vector),
            "what follows the last whole " + std::to_string(vector) + " elements of a short block",
            [vector](const BlockSeen& seen, std::size_t lane) {
                const auto count = static_cast<std::size_t>(seen.place.count);
                return lane >= count / vector * vector;
            });
    add_unseen(hypotheses, "second_half", "the second half of a block",
               [whole](const BlockSeen&, std::size_t lane) { return lane >= whole / 2; });
    add_unseen(hypotheses, "first_half", "the first half of a block",
               [whole](const BlockSeen&, std::size_t lane) { return lane < whole / 2; });
    add_unseen(hypotheses, "odd_elements", "odd elements",
               [](const BlockSeen&, std::size_t lane) { return lane % 2 == 1; });
    add_unseen(hypotheses, "even_elements", "even elements",
               [](const BlockSeen&, std::size_t lane) { return lane % 2 == 0; });
    // By its code: another cause may have put an element there that is of no place in the block.
    add_hypothesis(hypotheses, "amax_without:negative_elements",
                   "the amax leaves out negative elements")
        .amax_lanes = [](const BlockSeen& seen, std::vector<std::uint32_t>& lanes) {
        for (std::uint32_t& lane : lanes)
            if (seen.p.type.is_negative(Code{lane}) && !seen.p.type.is_nan(Code{lane})) lane = 0;
    };
    if (p.axis != BlockAxis::tile) return;
    add_unseen(hypotheses, "later_rows", "all rows of a tile but the first",
               [](const BlockSeen& seen, std::size_t lane) { return lane >= seen.place.width; });
    add_unseen(hypotheses, "last_column", "the last column of a tile",
               [](const BlockSeen& seen, std::size_t lane) {
                   const auto width = static_cast<std::int64_t>(seen.place.width);
                   const bool is_whole = width == seen.p.block;
                   return is_whole && lane % seen.place.width == seen.place.width - 1;
               });
}

// Values that the amax of the whole tensor does not look at count as 0.
void add_unseen_by_tensor(const Problem& p, Hypotheses& hypotheses) {
    if (!has_tensor_number(p) || p.tensor_number) return;
    using IsUnseenValue =
        std::function<bool(const Problem& p, const CodeTensor& values, std::size_t at)>;
    const auto add_values = [&](std::string kind, std::string text, IsUnseenValue is_unseen) {
        add_hypothesis(hypotheses, "tensor_amax_without:" + std::move(kind),
                       "the amax of the tensor leaves out " + std::move(text))
            .tensor_values = [is_unseen = std::move(is_unseen)](const Problem& asked,
                                                                CodeTensor& values) {
            for (std::size_t at = 0; at < values.count(); ++at)
                if (is_unseen(asked, values, at)) values.set(at, 0);
        };
    };
    add_values("last_row", "its last row",
               [](const Problem& asked, const CodeTensor&, std::size_t at) {
                   return static_cast<std::int64_t>(at) / asked.columns == asked.rows - 1;
               });
    add_values("last_columns", "columns behind the last whole 16",
               [](const Problem& asked, const CodeTensor&, std::size_t at) {
                   return static_cast<std::int64_t>(at) % asked.columns >= asked.columns / 16 * 16;
               });
    add_values("negative", "negative values",
               [](const Problem& asked, const CodeTensor& values, std::size_t at) {
                   const Code code{values.at(at)};
                   return asked.type.is_negative(code) && !asked.type.is_nan(code);
               });
    add_values("subnormal", "subnormal values",
               [](const Problem& asked, const CodeTensor& values, std::size_t at) {
                   return asked.type.is_subnormal(Code{values.at(at)});
               });
}

void add_foreign_elements(Hypotheses& hypotheses) {
    add_hypothesis(hypotheses, "amax_of_pairs", "two neighbouring blocks have one amax")
        .amax_lanes = [](const BlockSeen& seen, std::vector<std::uint32_t>& lanes) {
        const BlockGrid grid = block_grid(seen.p);
        const std::int64_t at = seen.p.axis == BlockAxis::col ? seen.block / grid.block_columns
                                                              : seen.block % grid.block_columns;
        const auto other = beside(seen.p, seen.block, at % 2 == 0 ? 1 : -1);
        if (!other) return;
        for (const std::uint32_t lane : lanes_of_block(seen, *other)) lanes.push_back(lane);
    };
    add_hypothesis(hypotheses, "amax_reads_on",
                   "the amax of a short block looks at what the block before left behind it")
        .amax_lanes = [](const BlockSeen& seen, std::vector<std::uint32_t>& lanes) {
        const auto other = beside(seen.p, seen.block, -1);
        if (!other) return;
        const std::vector<std::uint32_t> before = lanes_of_block(seen, *other);
        for (std::size_t lane = lanes.size(); lane < before.size(); ++lane)
            lanes.push_back(before[lane]);
    };
    add_hypothesis(hypotheses, "amax_reads_next_row",
                   "the amax of a short block looks at the first values of the next row too")
        .amax_lanes = [](const BlockSeen& seen, std::vector<std::uint32_t>& lanes) {
        const std::int64_t columns = seen.p.columns;
        const std::int64_t block_columns = block_grid(seen.p).block_columns;
        const std::int64_t next = seen.block / block_columns + 1;
        if (seen.p.axis != BlockAxis::row || next >= seen.p.rows) return;
        const auto missing =
            std::min(static_cast<std::int64_t>(lanes_of(seen.p)) - seen.place.count, columns);
        for (std::int64_t column = 0; column < missing; ++column)
            lanes.push_back(seen.input.at(static_cast<std::size_t>(next * columns + column)));
    };
    add_hypothesis(hypotheses, "amax_of_row",
                   "the amax of a block of a column is looked for along its row")
        .amax_lanes = [](const BlockSeen& seen, std::vector<std::uint32_t>& lanes) {
        const std::int64_t columns = seen.p.columns, block = lanes_of(seen.p);
        if (seen.p.axis != BlockAxis::col) return;
        const auto first = static_cast<std::int64_t>(seen.place.element(0));
        const std::int64_t from = first % columns / block * block;
        lanes.clear();
        for (std::int64_t column = from; column < std::min(from + block, columns); ++column)
            lanes.push_back(
                seen.input.at(static_cast<std::size_t>(first / columns * columns + column)));
    };
}

// An exponent that is off before it is held to its range. A ratio that became 0 has the least one.
void add_scale_exponent(const Problem& p, int step, Hypotheses& hypotheses) {
    Alteration& alteration = add_hypothesis(
        hypotheses, "scale_exponent:" + std::string(step > 0 ? "+" : "") + std::to_string(step),
        "the scale is " + std::to_string(1 << std::abs(step)) + " times too " +
            (step > 0 ? "large" : "small"));
    if (p.dialect == nullptr || !p.dialect->has_e8m0_scales()) {
        alteration.amax = [step](const Problem&, Unpacked amax) {
            amax.exponent += step;
            return amax;
        };
        return;
    }
    alteration.scale_byte = [step](const Quantizer& rules, const BlockFormat& format,
                                   const Unpacked& amax) {
        const Code right = fast::encode_scale(rules, format, amax);
        if (amax.kind != fast::Kind::finite || fast::is_zero(amax)) return right;
        Unpacked ratio = fast::scale_argument(rules, format.element(), amax);
        if (fast::is_zero(ratio)) ratio = {fast::Kind::finite, false, -127, 1};
        ratio.exponent += step;
        const Code byte = fast::cast_to_scale(rules.scale_cast, ratio);
        return Code{std::min<std::uint32_t>(byte.bits, rules.scale_cast.byte_max)};
    };
}

// The exponent of the leading digit. Of a finite value that is not 0.
int leading_exponent(const Unpacked& value) {
    return value.exponent + static_cast<int>(std::bit_width(value.significand)) - 1;
}

void add_amax_changes(const Problem& p, Hypotheses& hypotheses) {
    const bool has_e8m0 = p.dialect != nullptr && p.dialect->has_e8m0_scales();
    for (const ElementFormat* format : {&formats::bf16, &formats::f16})
        add_hypothesis(hypotheses, "amax_through:" + std::string(format->name),
                       "the amax is rounded to " + std::string(format->name) + " first")
            .amax = [format](const Problem&, const Unpacked& amax) {
            return fast::rounded_in(*format, amax);
        };
    for (const int step : {1, -1, 2, -2}) add_scale_exponent(p, step, hypotheses);
    if (has_e8m0) {
        for (const std::uint32_t byte : {1u, 127u, 255u})
            add_hypothesis(hypotheses, "zero_amax_byte:" + std::to_string(byte),
                           "a block of zeros has scale " + std::to_string(byte))
                .scale_byte = [byte](const Quantizer& rules, const BlockFormat& format,
                                     const Unpacked& amax) {
                return fast::is_zero(amax) ? Code{byte} : fast::encode_scale(rules, format, amax);
            };
        add_hypothesis(hypotheses, "exact_scale_up",
                       "a scale that needs no rounding is rounded up too")
            .scale_byte = [](const Quantizer& rules, const BlockFormat& format,
                             const Unpacked& amax) {
            Unpacked ratio = fast::scale_argument(rules, format.element(), amax);
            const bool is_exact =
                ratio.kind == fast::Kind::finite && std::has_single_bit(ratio.significand);
            if (!is_exact) return fast::encode_scale(rules, format, amax);
            ++ratio.exponent;
            const Code byte = fast::cast_to_scale(rules.scale_cast, ratio);
            return Code{std::min<std::uint32_t>(byte.bits, rules.scale_cast.byte_max)};
        };
        for (const int step : {1, -1})
            add_hypothesis(hypotheses,
                           std::string("largest_element:") + (step > 0 ? "half" : "twice"),
                           std::string("the largest element is taken as ") +
                               (step > 0 ? "half" : "twice") + " of what it is")
                .scale_byte = [step](const Quantizer& rules, BlockFormat format,
                                     const Unpacked& amax) {
                format.element_format.exponent_bias += step;
                return fast::encode_scale(rules, format, amax);
            };
        add_hypothesis(hypotheses, "tiny_amax_byte:1",
                       "an amax that is not zero has at least scale 1")
            .scale_byte = [](const Quantizer& rules, const BlockFormat& format,
                             const Unpacked& amax) {
            const Code right = fast::encode_scale(rules, format, amax);
            return right.bits == 0 && !fast::is_zero(amax) ? Code{1} : right;
        };
    }
    add_hypothesis(hypotheses, "log2_toward_zero",
                   "the logarithm of an amax below 1 is cut toward zero, not rounded down")
        .amax = [](const Problem&, Unpacked amax) {
        const bool is_number = amax.kind == fast::Kind::finite && !fast::is_zero(amax);
        if (is_number && leading_exponent(amax) < 0 && !std::has_single_bit(amax.significand))
            ++amax.exponent;
        return amax;
    };
    add_hypothesis(hypotheses, "amax_tiny_as_nan", "what is below 2^-127 counts as NaN").amax =
        [](const Problem&, Unpacked amax) {
            const bool is_number = amax.kind == fast::Kind::finite && !fast::is_zero(amax);
            if (is_number && leading_exponent(amax) < -127) amax.kind = fast::Kind::nan;
            return amax;
        };
    add_hypothesis(hypotheses, "amax_infinity_as_largest",
                   "an infinite amax counts as the largest number of binary32")
        .amax = [](const Problem&, const Unpacked& amax) {
        return amax.kind == fast::Kind::infinity
                   ? fast::unpack(formats::f32, Code{formats::f32.code_max_finite()})
                   : amax;
    };
}

void add_formats(const Problem& p, Hypotheses& hypotheses) {
    if (p.format == nullptr) return;
    for (const BlockFormat& format : block_formats) {
        const bool is_like = format.scale_format == p.format->scale_format &&
                             format.block_rows == p.format->block_rows &&
                             format.block_columns == p.format->block_columns;
        if (&format == p.format || !is_like) continue;
        const std::string other(format.element().name);
        const std::string change = std::string(p.format->element().name) + "->" + other;
        add_hypothesis(hypotheses, "scale_format:" + change,
                       "scales are those for elements of " + other)
            .scale_format = &format;
        add_hypothesis(hypotheses, "element_format:" + change, "elements are written as " + other)
            .element_format = &format;
    }
}

// The scales of blocks taken from elsewhere in their grid.
void add_scale_places(Hypotheses& hypotheses) {
    const auto add_place = [&](std::string kind, std::string text, auto place) {
        add_hypothesis(hypotheses, "scale_of:" + std::move(kind), std::move(text)).scales =
            [place](const Problem& p, std::vector<fast::BlockScale>& scales) {
                const std::vector<fast::BlockScale> right = scales;
                for (std::size_t block = 0; block < scales.size(); ++block)
                    if (const auto from = place(p, static_cast<std::int64_t>(block)))
                        scales[block] = right[static_cast<std::size_t>(*from)];
            };
    };
    add_place("block_before", "a block takes the scale of the block before",
              [](const Problem& p, std::int64_t block) { return beside(p, block, -1); });
    add_place("block_after", "a block takes the scale of the block after",
              [](const Problem& p, std::int64_t block) { return beside(p, block, 1); });
    add_place("row_before", "a block takes the scale of the block above",
              [](const Problem& p, std::int64_t block) -> std::optional<std::int64_t> {
                  const std::int64_t from = block - block_grid(p).block_columns;
                  return from < 0 ? std::nullopt : std::optional(from);
              });
    add_place("first_of_line", "all blocks of a line take the scale of its first",
              [](const Problem& p, std::int64_t block) -> std::optional<std::int64_t> {
                  const std::int64_t columns = block_grid(p).block_columns;
                  return p.axis == BlockAxis::col ? block % columns : block / columns * columns;
              });
    add_place("transposed", "the scales lie with rows and columns exchanged",
              [](const Problem& p, std::int64_t block) -> std::optional<std::int64_t> {
                  const BlockGrid grid = block_grid(p);
                  return block % grid.block_columns * grid.block_rows + block / grid.block_columns;
              });
    add_hypothesis(hypotheses, "scale_of:block_before_or_0",
                   "a block takes the scale of the block before, and the first one 0")
        .scales = [](const Problem& p, std::vector<fast::BlockScale>& scales) {
        if (p.dialect == nullptr || !p.dialect->has_e8m0_scales()) return;
        const std::vector<fast::BlockScale> right = scales;
        for (std::size_t block = 0; block < scales.size(); ++block) {
            const auto from = beside(p, static_cast<std::int64_t>(block), -1);
            scales[block] = from ? right[static_cast<std::size_t>(*from)] : fast::BlockScale{};
        }
    };
}

// Of the same. Integers have no subnormal ones.
bool is_subnormal_in(const ElementFormat& format, const Unpacked& value) {
    return format.exponent_bits > 0 && leading_exponent(value) < format.exponent_min();
}

// The exponent of the last digit that an element of about that value keeps.
int last_kept_exponent(const ElementFormat& format, const Unpacked& value) {
    return std::max(leading_exponent(value) - format.mantissa_bits, format.quantum_exponent_min());
}

// Without the digits below one.
Unpacked cut_below(int exponent, Unpacked value) {
    const int dropped = exponent - value.exponent;
    if (dropped <= 0) return value;
    value.significand = dropped >= 64 ? 0 : value.significand >> dropped;
    value.exponent = exponent;
    return value;
}

// To nearest even, is it the next power of two, which has no digit to spare?
bool carries(const ElementFormat& format, const Unpacked& value) {
    const int dropped = last_kept_exponent(format, value) - value.exponent;
    if (dropped <= 0 || dropped > 63) return false;  // beyond: it has fewer digits than that
    const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
    const std::uint64_t all_ones = (std::uint64_t{2} << format.mantissa_bits) - 1;
    return value.significand >> dropped == all_ones && (value.significand & half) != 0;
}

// What hardware that aligns, rounds and packs a significand can leave out.
void add_rounder_steps(Hypotheses& hypotheses) {
    const auto add_step = [&](std::string kind, std::string text, auto step) {
        add_hypothesis(hypotheses, std::move(kind), std::move(text)).value =
            [step](const ElementFormat& format, const Unpacked& value) {
                const bool is_number = value.kind == fast::Kind::finite && !fast::is_zero(value);
                return is_number ? step(format, value) : value;
            };
    };
    const auto first_dropped = [](const ElementFormat& format, const Unpacked& value) {
        return cut_below(last_kept_exponent(format, value) - 1, value);
    };
    add_step("sticky_lost",
             "an element is rounded by the first digit that is dropped, without those behind it",
             first_dropped);
    add_step("sticky_lost:subnormal",
             "a subnormal element is rounded by the first digit that is dropped, without those "
             "behind it (sticky bits)",
             [=](const ElementFormat& format, const Unpacked& value) {
                 return is_subnormal_in(format, value) ? first_dropped(format, value) : value;
             });
    for (const int step : {1, -1})
        add_step("subnormal_shift:" + std::string(step > 0 ? "+1" : "-1"),
                 std::string("a subnormal element is shifted by one bit too ") +
                     (step > 0 ? "few" : "many"),
                 [step](const ElementFormat& format, Unpacked value) {
                     if (is_subnormal_in(format, value)) value.exponent += step;
                     return value;
                 });
    add_hypothesis(hypotheses, "cut_beyond_largest",
                   "a number beyond the largest overflows where it is rounded toward zero")
        .element_rules = [](Quantizer& rules, const ElementFormat& format, const Unpacked& value) {
        if (rules.element_rounding != Rounding::toward_zero) return;
        Unpacked beyond = fast::unpack(format, Code{format.code_max_finite()});
        ++beyond.significand;
        if (value.kind == fast::Kind::finite && !fast::is_larger_magnitude(beyond, value))
            rules.element_rounding = Rounding::nearest_even;
    };
    add_hypothesis(hypotheses, "flushed_before_rounding",
                   "what is subnormal is flushed before it is rounded, not after")
        .element_rules = [](Quantizer& rules, const ElementFormat& format, const Unpacked& value) {
        const bool is_number = value.kind == fast::Kind::finite && !fast::is_zero(value);
        if (rules.subnormals == Subnormals::outputs_flushed && is_number &&
            is_subnormal_in(format, value))
            rules.element_rounding = Rounding::toward_zero;
    };
    add_hypothesis(hypotheses, "nan_as_overflow", "a NaN becomes what a number too large becomes")
        .value = [](const ElementFormat&, Unpacked value) {
        if (value.kind == fast::Kind::nan) value.kind = fast::Kind::infinity;
        return value;
    };
    add_step("carry_lost", "a carry of the rounding does not reach the exponent",
             [](const ElementFormat& format, const Unpacked& value) {
                 if (is_subnormal_in(format, value) || !carries(format, value)) return value;
                 return Unpacked{value.kind, value.negative, leading_exponent(value), 1};
             });
}

// Of what is dropped, a stochastic rounding looks at as many digits as there are random bits.
void add_random_digits(const Problem& p, Hypotheses& hypotheses) {
    const StochasticForm* form = stochastic_form_of(p);
    if (form == nullptr) return;
    const int digits = form->bits;
    const auto is_number = [](const Unpacked& value) {
        return value.kind == fast::Kind::finite && !fast::is_zero(value);
    };
    const std::string half = std::to_string(digits / 2);
    add_hypothesis(
        hypotheses, "random_digits:" + half + "_of_" + std::to_string(digits),
        "of the digits that are dropped, " + half + " decide, not " + std::to_string(digits))
        .value = [=](const ElementFormat& format, const Unpacked& value) {
        return is_number(value) ? cut_below(last_kept_exponent(format, value) - digits / 2, value)
                                : value;
    };
    add_hypothesis(hypotheses, "random_digits:one_more",
                   "a random rounding goes up one step too early")
        .value = [=](const ElementFormat& format, const Unpacked& value) {
        if (!is_number(value)) return value;
        const int last = last_kept_exponent(format, value) - digits;
        Unpacked more = cut_below(last, value);
        if (more.exponent - last > 20) return value;  // whole steps, far from any carry
        more.significand <<= more.exponent - last;
        more.exponent = last;
        ++more.significand;
        return more;
    };
    add_hypothesis(hypotheses, "random_digits:rounded",
                   "the digits that random bits are added to are rounded, not cut")
        .value = [=](const ElementFormat& format, const Unpacked& value) {
        if (!is_number(value)) return value;
        const int last = last_kept_exponent(format, value) - digits;
        const int dropped = last - value.exponent;
        if (dropped <= 0 || dropped > 63) return value;
        Unpacked rounded = cut_below(last, value);
        const std::uint64_t rest = value.significand - (rounded.significand << dropped);
        const std::uint64_t tie = std::uint64_t{1} << (dropped - 1);
        if (rest > tie || (rest == tie && rounded.significand % 2 == 1)) ++rounded.significand;
        return rounded;
    };
}

// The number that is left of an integer in two's complement, where it is to be rounded to nearest:
// from half a step below the lowest to half a step below the one above the largest.
Unpacked wrapped(const ElementFormat& format, const Unpacked& value) {
    constexpr int digits = 8, spare = 32;
    const int unit = format.quantum_exponent_min();
    const int shift = value.exponent - unit + spare;  // to steps of 2^-32 units
    if (shift >= digits + spare) return {fast::Kind::finite, value.negative, 0, 0};
    const Unpacked whole = cut_below(unit - spare, value);
    const bool is_exact =
        shift >= 0 || (shift > -64 && whole.significand << -shift == value.significand);
    if (!is_exact) return value;  // below every step that matters, and within the range
    constexpr std::int64_t one = std::int64_t{1} << spare, all = one << digits;
    const std::uint64_t steps = shift >= 0 ? whole.significand << shift : whole.significand;
    std::int64_t rest = static_cast<std::int64_t>(steps % static_cast<std::uint64_t>(all));
    if (value.negative) rest = -rest;
    if (2 * rest >= all - one) rest -= all;
    if (2 * rest < -all - one) rest += all;
    return {fast::Kind::finite, rest == 0 ? value.negative : rest < 0, unit - spare,
            static_cast<std::uint64_t>(rest < 0 ? -rest : rest)};
}

// Whatever the range of its elements, all codes are written. Of Inf all ones are left, as of a
// conversion to a wider integer that saturates.
void add_wrapped_integers(const Problem& p, Hypotheses& hypotheses) {
    Alteration& alteration =
        add_hypothesis(hypotheses, "integer_wraps", "an integer that is too large wraps");
    alteration.value = [](const ElementFormat& format, const Unpacked& value) {
        if (format.exponent_bits > 0 || fast::is_zero(value)) return value;
        if (value.kind == fast::Kind::infinity)
            return Unpacked{fast::Kind::finite, !value.negative, format.quantum_exponent_min(), 1};
        return value.kind == fast::Kind::finite ? wrapped(format, value) : value;
    };
    if (element_format_of(p).negatives != Negatives::twos_complement_symmetric) return;
    for (const BlockFormat& format : block_formats)
        if (format.element() == formats::int8) alteration.element_format = &format;
}

void add_element_steps(const Problem& p, Hypotheses& hypotheses) {
    for (const ElementFormat* format : {&formats::bf16, &formats::f16})
        add_hypothesis(
            hypotheses, "value_through:" + std::string(format->name),
            "a scaled value is rounded to " + std::string(format->name) + " before it is rounded")
            .value = [format](const ElementFormat&, const Unpacked& value) {
            return fast::rounded_in(*format, value);
        };
    for (const int step : {1, -1})
        add_hypothesis(
            hypotheses, "value_exponent:" + std::string(step > 0 ? "+1" : "-1"),
            std::string("elements are those of ") + (step > 0 ? "twice" : "half") + " the value")
            .value = [step](const ElementFormat&, Unpacked value) {
            value.exponent += step;
            return value;
        };
    add_rounder_steps(hypotheses);
    add_random_digits(p, hypotheses);
    add_wrapped_integers(p, hypotheses);
    add_hypothesis(hypotheses, "cut_before_range", "elements are rounded toward zero")
        .element_rules = [](Quantizer& rules, const ElementFormat& format, const Unpacked& value) {
        if (rules.element_rounding != Rounding::nearest_even) return;
        Unpacked beyond = fast::unpack(format, Code{format.code_max_finite()});
        ++beyond.significand;
        const bool is_in_range =
            value.kind == fast::Kind::finite && fast::is_larger_magnitude(beyond, value);
        if (is_in_range) rules.element_rounding = Rounding::toward_zero;
    };
    const auto add_ties = [&](std::string kind, std::string text, bool away_if_negative) {
        add_hypothesis(hypotheses, "ties:" + std::move(kind), std::move(text)).element_rules =
            [away_if_negative](Quantizer& rules, const ElementFormat&, const Unpacked& value) {
                if (rules.element_rounding != Rounding::nearest_even) return;
                rules.element_rounding = value.negative == away_if_negative
                                             ? Rounding::nearest_away
                                             : Rounding::nearest_toward_zero;
            };
    };
    add_ties("up", "every tie is rounded up", false);
    add_ties("down", "every tie is rounded down", true);
    add_hypothesis(hypotheses, "directed:magnitude", "a directed rounding does not hear the sign")
        .element_rules = [](Quantizer& rules, const ElementFormat&, const Unpacked& value) {
        if (!value.negative) return;
        if (rules.element_rounding == Rounding::toward_positive)
            rules.element_rounding = Rounding::toward_negative;
        else if (rules.element_rounding == Rounding::toward_negative)
            rules.element_rounding = Rounding::toward_positive;
    };
    add_hypothesis(hypotheses, "directed:exchanged",
                   "rounding up and rounding down have changed places")
        .element_rules = [](Quantizer& rules, const ElementFormat&, const Unpacked&) {
        if (rules.element_rounding == Rounding::toward_positive)
            rules.element_rounding = Rounding::toward_negative;
        else if (rules.element_rounding == Rounding::toward_negative)
            rules.element_rounding = Rounding::toward_positive;
    };
}

// Stored scales that lie one block off; the elements are right.
void add_stored_scales(Hypotheses& hypotheses) {
    for (const int step : {-1, 1})
        add_hypothesis(
            hypotheses, std::string("stored_scale_of:block_") + (step < 0 ? "before" : "after"),
            std::string("the scale of the block ") + (step < 0 ? "before" : "after") + " is stored")
            .outputs = [step](const Problem& asked, const Tensors&, Tensors& outputs) {
            for_each_side(asked, outputs, [step](const Problem& p, std::span<CodeTensor> side) {
                CodeTensor& scales = side[1];
                const CodeTensor right = scales;
                for (std::size_t i = 0; i < right.count(); ++i)
                    if (const auto from = beside(p, static_cast<std::int64_t>(i), step))
                        scales.set(i, right.at(static_cast<std::size_t>(*from)));
            });
        };
}

}  // namespace

std::optional<std::int64_t> beside(const Problem& p, std::int64_t block, std::int64_t step) {
    const BlockGrid grid = block_grid(p);
    const std::int64_t row = block / grid.block_columns, column = block % grid.block_columns;
    const bool goes_down = p.axis == BlockAxis::col;
    const std::int64_t at = (goes_down ? row : column) + step;
    if (at < 0 || at >= (goes_down ? grid.block_rows : grid.block_columns)) return std::nullopt;
    return goes_down ? at * grid.block_columns + column : row * grid.block_columns + at;
}

std::vector<std::uint32_t> lanes_of_block(const BlockSeen& seen, std::int64_t block) {
    const BlockPlace place = place_of(blocking_of(seen.p), block);
    std::vector<std::uint32_t> lanes;
    for (int lane = 0; lane < place.count; ++lane)
        lanes.push_back(seen.input.at(place.element(lane)));
    return lanes;
}

void add_block_transformations(const Problem& p, Hypotheses& hypotheses) {
    const bool has_amax = p.operation == OperationKind::quantize ||
                          p.operation == OperationKind::encode_scale || casts_to_scale(p);
    if (p.operation == OperationKind::quantize) {
        add_unseen_elements(p, hypotheses);
        add_unseen_by_tensor(p, hypotheses);
        add_foreign_elements(hypotheses);
        add_scale_places(hypotheses);
        add_stored_scales(hypotheses);
    }
    if (has_amax) add_amax_changes(p, hypotheses);
    add_formats(p, hypotheses);
    if (p.operation != OperationKind::encode_scale) add_element_steps(p, hypotheses);
}

}  // namespace mx::cause
