// See gemm_machine.hpp.
#include "conformance/identify/gemm_machine.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "conformance/data/gemm_codes.hpp"
#include "reference/fast/dot.hpp"
#include "reference/gemm/model_sum.hpp"

namespace mx::identify {
namespace {

using fast::Kind;
using fast::Unpacked;

// A product, or a group of them, with its place in the order of summation.
struct Item {
    fast::Summand summand;
    std::int64_t place;
};

// May a product of 0 x 0 be passed over? A scale of NaN makes NaN of it, and a machine that counts
// the exponents of zeros moves them by the scales.
bool passes_over_zeros(const GemmModel& model, const GemmProblem& setting, const GemmProbe& probe) {
    if (model.scaling == BlockScaling::none) return true;
    if (model.zero_products == ZeroProducts::counted) return false;
    const auto is_finite = [](FactorScaling scaling, const std::vector<Code>& scales) {
        const ElementFormat& format = row_of(scaling).scale;
        return std::none_of(scales.begin(), scales.end(), [&format](Code scale) {
            return fast::unpack(format, scale).kind != Kind::finite;
        });
    };
    return is_finite(setting.a.scaling, probe.scales_a) &&
           is_finite(setting.b.scaling, probe.scales_b);
}

Unpacked scale_of(FactorScaling scaling, std::span<const Code> scales, std::int64_t k) {
    const FactorScalingRow& row = row_of(scaling);
    if (scaling == FactorScaling::none || scales.empty()) return {Kind::finite, false, 0, 1};
    return fast::unpack(row.scale,
                        scales[row.block == 0 ? 0 : static_cast<std::size_t>(k / row.block)]);
}

struct Scales {
    Unpacked a, b;
};
Scales scales_at(const GemmProblem& setting, const GemmProbe& probe, std::int64_t k) {
    return {scale_of(setting.a.scaling, probe.scales_a, k),
            scale_of(setting.b.scaling, probe.scales_b, k)};
}

// The inverse of fast::place_in_order.
std::int64_t place_of(ProductOrder order, std::int64_t k) {
    if (order == ProductOrder::along_k) return k;
    return (k & ~std::int64_t{31}) + (k >> 1 & 1) * 16 + (k >> 2 & 7) * 2 + (k & 1);
}

// Factors that become bfloat16 with their scales, before they are multiplied.
fast::Summand dequantised_product(const GemmMachine& machine, const GemmProblem& setting,
                                  const GemmProbe& probe, std::int64_t k) {
    constexpr ElementFormat bf16 = formats::bf16;
    const auto at = static_cast<std::size_t>(k);
    const Scales scales = scales_at(setting, probe, k);
    const auto factor = [&](const ElementFormat& format, Code code, const Unpacked& scale) {
        return fast::rounded_in(
            bf16, fast::exact_product(fast::read_input(machine.factors, format, code), scale));
    };
    const Unpacked x = factor(setting.a.element, probe.a[at], scales.a);
    const Unpacked y = factor(setting.b.element, probe.b[at], scales.b);
    return {fast::exact_product(x, y), fast::exponent_of(bf16, x) + fast::exponent_of(bf16, y)};
}

fast::Summand product_at(const GemmMachine& machine, const GemmProblem& setting,
                         const GemmProbe& probe, std::int64_t k) {
    if (machine.model.scaling == BlockScaling::dequantised)
        return dequantised_product(machine, setting, probe, k);
    const auto at = static_cast<std::size_t>(k);
    const Unpacked x = fast::read_input(machine.factors, setting.a.element, probe.a[at]);
    const Unpacked y = fast::read_input(machine.factors, setting.b.element, probe.b[at]);
    const bool own = machine.model.exponents == FactorExponents::own;
    fast::Summand product{fast::exact_product(x, y),
                          fast::exponent_of(own ? setting.a.element : formats::f16, x) +
                              fast::exponent_of(own ? setting.b.element : formats::f16, y)};
    if (machine.product_exponent == ProductExponent::normalised && product.value.significand != 0)
        product.exponent = product.value.exponent + fast::bit_width(product.value.significand) - 1;
    if (machine.model.scaling != BlockScaling::product_exponent) return product;
    const Scales scales = scales_at(setting, probe, k);
    const Unpacked scale = fast::exact_product(scales.a, scales.b);
    product.value = fast::exact_product(product.value, scale);
    product.exponent += scale.exponent;
    return product;
}

fast::Summand group_at(const GemmModel& model, const GemmProblem& setting, const GemmProbe& probe,
                       std::int64_t first) {
    const std::int64_t end = std::min(first + model.exact_group, probe.depth());
    const int unit =
        setting.a.element.quantum_exponent_min() + setting.b.element.quantum_exponent_min();
    std::int64_t sum = 0;
    for (std::int64_t k = first; k < end; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const Unpacked product = fast::exact_product(fast::unpack(setting.a.element, probe.a[at]),
                                                     fast::unpack(setting.b.element, probe.b[at]));
        sum += fast::cut(product, unit);
    }
    const Scales scales = scales_at(setting, probe, first);
    const Unpacked exact{Kind::finite, sum < 0, unit, static_cast<std::uint64_t>(std::abs(sum))};
    const ElementFormat& format_a = row_of(setting.a.scaling).scale;
    const ElementFormat& format_b = row_of(setting.b.scaling).scale;
    return {fast::exact_product(exact, fast::exact_product(scales.a, scales.b)),
            fast::exponent_of(format_a, scales.a) + fast::exponent_of(format_b, scales.b)};
}

struct Span {
    std::int64_t first, end;
};

// The first place from k on that is not 0 x 0; the end where there is none. A probe is nearly
// empty, so that many places are looked at together.
std::int64_t next_product(const GemmProbe& probe, std::int64_t k, std::int64_t end) {
    constexpr std::int64_t together = 32;
    const auto bits_at = [&probe](std::int64_t place) {
        const auto at = static_cast<std::size_t>(place);
        return probe.a[at].bits | probe.b[at].bits;
    };
    for (; k + together <= end; k += together) {
        std::uint32_t bits = 0;
        for (std::int64_t i = 0; i < together; ++i) bits |= bits_at(k + i);
        if (bits != 0) break;
    }
    while (k < end && bits_at(k) == 0) ++k;
    return k;
}

// What is not 0 x 0 of this part of K, in the order of summation; places count from its beginning.
std::vector<Item> items_of(const GemmMachine& machine, const GemmProblem& setting,
                           const GemmProbe& probe, Span span) {
    std::vector<Item> items;
    const GemmModel& model = machine.model;
    if (model.scaling == BlockScaling::group) {
        for (std::int64_t k = span.first; k < span.end; k += model.exact_group)
            items.push_back(
                {group_at(model, setting, probe, k), (k - span.first) / model.exact_group});
        return items;
    }
    const bool passes = passes_over_zeros(model, setting, probe);
    for (std::int64_t k = span.first; k < span.end; ++k) {
        if (passes) k = next_product(probe, k, span.end);
        if (k == span.end) break;
        items.push_back(
            {product_at(machine, setting, probe, k), place_of(model.order, k - span.first)});
    }
    if (model.order != ProductOrder::along_k)
        std::sort(items.begin(), items.end(),
                  [](const Item& a, const Item& b) { return a.place < b.place; });
    return items;
}

// Products of 0 x 0 that stand nowhere have the exponents of zeros.
void note_zeros(const GemmProblem& setting, const GemmModel& model, fast::Survey& survey) {
    const bool own = model.exponents == FactorExponents::own;
    const ElementFormat& a = own ? setting.a.element : formats::f16;
    const ElementFormat& b = own ? setting.b.element : formats::f16;
    fast::note(survey, {{Kind::finite, false, 0, 0}, a.exponent_min() + b.exponent_min()},
               model.zero_products);
}

Unpacked step(const GemmMachine& machine, const GemmProblem& setting, std::span<const Item> items,
              std::int64_t places, const Unpacked& accumulator) {
    const GemmModel& model = machine.model;
    fast::Survey survey;
    for (const Item& item : items) fast::note(survey, item.summand, model.zero_products);
    if (static_cast<std::int64_t>(items.size()) < places) note_zeros(setting, model, survey);
    fast::note(survey, {accumulator, fast::exponent_of(model.accumulator, accumulator)},
               ZeroProducts::left_out);
    if (survey.nan || (survey.positive_infinity && survey.negative_infinity))
        return {Kind::nan, false, 0, 0};
    if (survey.positive_infinity || survey.negative_infinity)
        return {Kind::infinity, survey.negative_infinity, 0, 0};
    if (!survey.any) return {Kind::finite, false, 0, 0};
    const int unit = std::max(survey.exponent, model.exponent_floor) - model.fraction_bits;
    std::int64_t sum = fast::cut(model.cut, accumulator, unit);
    for (const Item& item : items) sum += fast::cut(model.cut, item.summand.value, unit);
    Unpacked rounded = fast::rounded_sum(model, sum, unit);
    if (machine.rounded_to_zero == RoundedToZero::keeps_sign && fast::is_zero(rounded))
        rounded.negative = sum < 0;
    return rounded;
}

// One product a step and nothing cut. A product of 0 x 0 only takes the sign of a zero.
Unpacked fused_step(std::span<const Item> items, const Unpacked& accumulator) {
    if (!items.empty()) return fast::sum(items[0].summand.value, accumulator);
    return fast::is_zero(accumulator) ? Unpacked{} : accumulator;
}

Unpacked promoted(const GemmModel& model, const Scales& scales, const Unpacked& outer,
                  const Unpacked& inner) {
    if (model.scaling == BlockScaling::promoted_a_first)
        return fast::fused_multiply_add(fast::product(inner, scales.a), scales.b, outer);
    if (model.scaling == BlockScaling::promoted_product)
        return fast::fused_multiply_add(inner, fast::product(scales.a, scales.b), outer);
    if (model.scaling == BlockScaling::promoted_in_turn)
        return fast::sum_in(model.promoted, outer,
                            fast::product(fast::product(inner, scales.b), scales.a));
    return fast::sum_in(model.promoted, outer, inner);
}

// The steps of a span, each named by the place of its first product.
struct Steps {
    std::int64_t length, end, promotion;

    // The step after one of zeros: others of zeros change nothing more, so the next one that
    // matters holds the place `wanted` or is the last one before a promotion.
    std::int64_t after_zeros(std::int64_t at, std::int64_t wanted) const {
        const std::int64_t next = at + length;
        if (promotion == 0) return std::max(next, wanted / length * length);
        if (promotion % length != 0) return next;
        const std::int64_t promoted = std::min((next / promotion + 1) * promotion, end);
        return std::max(next, std::min(wanted, promoted - 1) / length * length);
    }
};

// A span that is summed from its beginning on.
Unpacked accumulated_in_order(const GemmMachine& machine, const GemmProblem& setting,
                              const GemmProbe& probe, Span span, const Unpacked& c) {
    const GemmModel& model = machine.model;
    const std::vector<Item> items = items_of(machine, setting, probe, span);
    const std::int64_t depth = span.end - span.first, group = model.exact_group;
    const std::int64_t end = model.order == ProductOrder::along_k ? depth : (depth + 31) / 32 * 32;
    const Steps steps{model.products * group, end, model.promotion};
    Unpacked outer = c, inner = model.promotion == 0 ? c : Unpacked{};
    std::size_t first = 0;
    for (std::int64_t at = 0, next = 0; at < end; at = next) {
        const std::int64_t step_end = at + steps.length;
        std::size_t last = first;
        while (last < items.size() && items[last].place * group < step_end) ++last;
        const std::span<const Item> taken = std::span(items).subspan(first, last - first);
        first = last;
        const std::int64_t places = std::min(step_end, depth) - at;
        inner = model.fraction_bits == all_bits
                    ? fused_step(taken, inner)
                    : step(machine, setting, taken, (places + group - 1) / group, inner);
        const std::int64_t done = std::min(step_end, end);
        const std::int64_t wanted = last < items.size() ? items[last].place * group : end;
        next = taken.empty() ? steps.after_zeros(at, wanted) : step_end;
        if (model.promotion == 0 || (done % model.promotion != 0 && done != end)) continue;
        const std::int64_t k = span.first + std::min(done, depth) - 1;
        outer = promoted(model, scales_at(setting, probe, k), outer, inner);
        inner = {};
        next = step_end;
    }
    return model.promotion == 0 ? inner : outer;
}

Unpacked accumulated(const GemmMachine& machine, const GemmProblem& setting, const GemmProbe& probe,
                     Span span, const Unpacked& c) {
    const std::int64_t residue = residue_of(machine.model, span.end - span.first);
    const Span first{span.first, span.first + residue}, rest{first.end, span.end};
    return accumulated_in_order(machine, setting, probe, rest,
                                accumulated_in_order(machine, setting, probe, first, c));
}

Unpacked summed(const GemmMachine& machine, const GemmProblem& setting, const GemmProbe& probe,
                const Unpacked& c) {
    if (machine.part == 0) return accumulated(machine, setting, probe, {0, probe.depth()}, c);
    Unpacked total = c;
    for (std::int64_t first = 0; first < probe.depth(); first += machine.part)
        total = fast::sum(total,
                          accumulated(machine, setting, probe,
                                      {first, std::min(first + machine.part, probe.depth())}, {}));
    return total;
}

// Scales of whole tensors and rows go to alpha or to the sum.
struct Factors {
    Unpacked alpha, sum;
};
Factors scaled(ScaleStep step, Factors factors, const Scales& scales) {
    using enum ScaleStep;
    const bool to_alpha = step == alpha_b_a || step == alpha_a_b || step == alpha_product;
    Unpacked& target = to_alpha ? factors.alpha : factors.sum;
    if (step == alpha_product || step == sum_product)
        target = fast::product(target, fast::product(scales.a, scales.b));
    else if (step == alpha_b_a || step == sum_b_a)
        target = fast::product(fast::product(target, scales.b), scales.a);
    else
        target = fast::product(fast::product(target, scales.a), scales.b);
    return factors;
}

Unpacked with_addend(AddendStep step, const Factors& factors, const Unpacked& beta,
                     const Unpacked& c) {
    if (step == AddendStep::fused_alpha)
        return fast::fused_multiply_add(factors.alpha, factors.sum, fast::product(beta, c));
    if (step == AddendStep::rounded_once) {
        fast::Total total;
        fast::add_product(total, factors.alpha, factors.sum);
        fast::add_product(total, beta, c);
        return fast::unpack(formats::f32, fast::round_total(formats::f32, Rounding::nearest_even,
                                                            Overflow::overflow, total));
    }
    const Unpacked product = fast::product(factors.alpha, factors.sum);
    if (step == AddendStep::fused_beta) return fast::fused_multiply_add(beta, c, product);
    return fast::sum(product, fast::product(beta, c));
}

// One factor of a probe as the engine reads it. Scales that the probe has not are 1.
struct FactorRow {
    std::vector<Code> scales;
    ScaledRow row;

    FactorRow(const FactorType& factor, const std::vector<Code>& codes, std::vector<Code> given)
        : scales(std::move(given)), row{factor.element, view(codes)} {
        const FactorScalingRow& rule = row_of(factor.scaling);
        if (rule.block == 0) return;
        scales.resize(codes.size() / static_cast<std::size_t>(rule.block) + 1,
                      Code{code_of_one(rule.scale)});
        row.scale = rule.scale;
        row.scales = view(scales);
        row.block = rule.block;
    }

    static CodeView view(const std::vector<Code>& codes) {
        return {reinterpret_cast<const std::uint8_t*>(codes.data()), sizeof(Code), 1};
    }
};

// The same sum with fewer steps. One of zeros leaves the accumulator as it is, but that -0 becomes
// +0: so one of them is enough after each step that is not, and at the beginning.
GemmProbe without_zero_steps(const GemmModel& model, const GemmProbe& probe) {
    GemmProbe packed = probe;
    packed.a.clear();
    packed.b.clear();
    bool is_wanted = true;
    for (std::int64_t first = 0; first < probe.depth(); first += model.products) {
        const std::int64_t end = std::min<std::int64_t>(first + model.products, probe.depth());
        const bool is_zero = next_product(probe, first, end) == end;
        if (!is_zero || is_wanted) {
            packed.a.insert(packed.a.end(), probe.a.begin() + first, probe.a.begin() + end);
            packed.b.insert(packed.b.end(), probe.b.begin() + first, probe.b.begin() + end);
        }
        is_wanted = !is_zero;
    }
    return packed;
}

}  // namespace

double number_of(const fast::Unpacked& value) {
    if (value.kind == fast::Kind::nan) return std::nan("");
    const double magnitude =
        value.kind == fast::Kind::infinity
            ? HUGE_VAL
            : std::ldexp(static_cast<double>(value.significand), value.exponent);
    return value.negative ? -magnitude : magnitude;
}

double number_of(const ElementFormat& format, Code code) {
    return number_of(fast::unpack(format, code));
}

bool has_block_scales(const GemmProblem& setting) {
    return row_of(setting.a.scaling).block != 0;
}

Code finished(const GemmMachine& machine, const GemmProblem& setting, const GemmProbe& probe,
              const Unpacked& sum) {
    return finished(machine, setting, probe, sum, probe.alpha);
}

Code finished(const GemmMachine& machine, const GemmProblem& setting, const GemmProbe& probe,
              const Unpacked& sum, Code alpha) {
    Factors factors{fast::unpack(formats::f32, alpha), sum};
    const bool has_scales = setting.a.scaling != FactorScaling::none && !has_block_scales(setting);
    if (has_scales) factors = scaled(machine.scale_step, factors, scales_at(setting, probe, 0));
    const bool adds = probe.beta.bits << 1 != 0 && machine.addend == AddendPlace::after_sum;
    const bool is_done =
        machine.no_addend == NoAddend::zero_added_unless_alpha_is_one && alpha == one_f32;
    Unpacked value = factors.sum;
    if (adds)
        value = with_addend(machine.addend_step, factors, fast::unpack(formats::f32, probe.beta),
                            fast::unpack(formats::f32, probe.c));
    else if (machine.no_addend == NoAddend::nothing_added)
        value = fast::product(factors.alpha, factors.sum);
    else if (!is_done)
        value = fast::fused_multiply_add(factors.alpha, factors.sum, {});
    Code code = fast::round(formats::f32, Rounding::nearest_even, Overflow::overflow, value);
    if (machine.results == Subnormals::outputs_flushed && formats::f32.is_subnormal(code))
        code.bits &= 0x80000000;
    return without_payload(code);
}

Unpacked first_summand(const GemmMachine& machine, const GemmProbe& probe) {
    if (machine.addend == AddendPlace::after_sum || probe.beta.bits << 1 == 0) return {};
    return fast::product(fast::unpack(formats::f32, probe.beta),
                         fast::unpack(formats::f32, probe.c));
}

Code without_payload(Code d) {
    return formats::f32.is_nan(d) ? Code{formats::f32.code_nan()} : d;
}

Code predicted(const GemmMachine& machine, const GemmProblem& setting, const GemmProbe& probe) {
    if (!is_divisible(machine.model))
        return predicted_by_model(
            machine, setting,
            machine.part == 0 && machine.model.promotion == 0 && machine.model.lanes == 1
                ? without_zero_steps(machine.model, probe)
                : probe);
    return finished(machine, setting, probe,
                    summed(machine, setting, probe, first_summand(machine, probe)));
}

Code predicted_by_model(const GemmMachine& machine, const GemmProblem& setting,
                        const GemmProbe& probe) {
    const FactorRow left(setting.a, probe.a, probe.scales_a);
    const FactorRow right(setting.b, probe.b, probe.scales_b);
    const ScaledRow &a = left.row, &b = right.row;
    const Unpacked c = first_summand(machine, probe);
    Code alpha = probe.alpha;
    const Unpacked sum =
        gemm::accumulate_with_alpha(machine.model, {a, b, probe.depth(), c}, machine.part, alpha);
    return finished(machine, setting, probe, sum, alpha);
}

}  // namespace mx::identify
