// See classify.hpp.
#include "conformance/run/classify.hpp"

#include <algorithm>

#include "conformance/run/clusters.hpp"
#include "reference/base/hex.hpp"
#include "reference/fast/block.hpp"
#include "reference/problem/problem.hpp"
#include "reference/spec/cast_formats.hpp"
#include "reference/spec/verification.hpp"

namespace mx {
namespace {

std::string hex_code(const ElementFormat& format, Code code) {
    return "0x" + hex(code.bits, 2 * format.code_bytes());
}

std::int64_t magnitude_distance(const ElementFormat& format, const Difference& d) {
    return std::int64_t{format.magnitude(Code{d.actual})} -
           std::int64_t{format.magnitude(Code{d.expected})};
}

// The rounding step that made the expected code. Only for finite arguments.
exact::Rounded rounding_of(const Case& c, const Site& site, const Difference& d) {
    const Quantizer rules = rules_of(c);
    const exact::Value argument = exact_argument(c, site, d);
    const bool is_value = c.operation == OperationKind::dequantize;
    const Rounding rounding = is_value ? Rounding::nearest_even : rules.element_rounding;
    return exact::round_with_reasons(output_format(c, d.output), rounding, rules.element_overflow,
                                     argument, site.random);
}

// The class of an element whose block has the right scale.
results::MismatchClass element_class(const Case& c, const Site& site, const Difference& d) {
    const ElementFormat& output = output_format(c, d.output);
    const Code expected{d.expected}, actual{d.actual};
    const ElementFormat& input = input_format(c);
    if (output.is_zero(expected) && output.is_zero(actual)) return "sign_of_zero";
    if (output.is_nan(expected) || input.is_infinity(site.input) ||
        exact_argument(c, site, d).is_nan())
        return "special";
    const exact::Rounded rounded = rounding_of(c, site, d);
    if (rounded.overflowed) return "saturation";
    if (output.is_nan(actual) || output.is_infinity(actual)) return "saturation";
    if (rounded.position == exact::Position::half) return "tie";
    const bool is_tiny =
        output.exponent_bits > 0 && (output.is_zero(expected) || output.is_subnormal(expected));
    if (is_tiny || input.is_subnormal(site.input)) return "subnormal";
    const std::int64_t distance = magnitude_distance(output, d);
    if (distance == 1 || distance == -1) return "rounding";
    return "value";
}

std::string direction_of(const Case& c, const Difference& d) {
    const ElementFormat& output = output_format(c, d.output);
    const Code expected{d.expected}, actual{d.actual};
    if (output.is_nan(actual)) return output.is_nan(expected) ? "another NaN" : "NaN";
    if (output.is_infinity(actual)) return "Inf";
    if (output.is_nan(expected)) return "a number for NaN";
    if (output.is_negative(expected) != output.is_negative(actual)) return "other sign";
    const std::int64_t distance = magnitude_distance(output, d);
    if (distance == 1) return "+1 code";
    if (distance == -1) return "-1 code";
    return distance > 0 ? "several codes up" : "several codes down";
}

struct Kind {
    results::MismatchClass mismatch_class;
    std::string stage, direction;
};

Kind kind_of(const Evidence& evidence, const Site& site, const Difference& d) {
    const Case& c = evidence.c;
    if ((d.flags & flag_unwritten) != 0) return {"unwritten", "buffer", "never written"};
    if ((d.flags & flag_differs) != 0 && evidence.reads_pads)
        return {"padding", "buffer", "changes with the pads of an input"};
    if ((d.flags & flag_differs) != 0) return {"flaky", "buffer", "differs between two runs"};
    if (site.is_tensor_number)
        return {"scale", "scale", "the number of the tensor, " + direction_of(c, d)};
    if (site.is_scale) return {"scale", "scale", direction_of(c, d)};
    if (site.has_scale && !(site.expected_scale == site.actual_scale))
        return {"scale", "scale", "element under a wrong scale"};
    return {element_class(c, site, d), "element", direction_of(c, d)};
}

// In decimal where that is exact, else as a short fraction.
std::string neighbour_text(const exact::Rational& value) {
    const std::string decimal = exact::to_decimal(value);
    return decimal.ends_with("...") ? exact::to_short_fraction(value) : decimal;
}

// "; rounded to_odd", with what decided it where that was random; "" of the usual rounding.
std::string mode_text(const Case& c, const Site& site) {
    if (c.operation == OperationKind::dequantize) return "";
    if (const StochasticForm* form = stochastic_form_of(c); form != nullptr)
        return "; rounded " + std::string(form->name) + " by 0x" +
               hex(site.random.bits, (site.random.count + 3) / 4) + " of the random word 0x" +
               hex(site.random_word, 8);
    const Rounding rounding = rules_of(c).element_rounding;
    return rounding == Rounding::nearest_even
               ? ""
               : "; rounded " + std::string(name_in(roundings, rounding));
}

std::string position_text(const Case& c, const Site& site, const Difference& d) {
    const exact::Value argument = exact_argument(c, site, d);
    if (!argument.is_finite()) return exact::to_text(argument);
    const std::string fraction = (argument.negative && argument.magnitude != 0 ? "-" : "") +
                                 exact::to_short_fraction(argument.magnitude);
    if (site.is_scale || site.is_tensor_number) return fraction;
    const exact::Rounded rounded = rounding_of(c, site, d);
    const std::string between = " between " + neighbour_text(rounded.value_below) + " and " +
                                neighbour_text(rounded.value_above);
    const std::string mode = mode_text(c, site);
    switch (rounded.position) {
        case exact::Position::exact:
            return fraction + ", exactly";
        case exact::Position::half:
            return fraction + ", half way" + between + mode;
        case exact::Position::below_half:
            return fraction + ", below half way" + between + mode;
        case exact::Position::above_half:
            return (rounded.overflowed ? fraction + ", beyond the largest value"
                                       : fraction + ", above half way" + between) +
                   mode;
    }
    return fraction;
}

int output_scale_bytes(const Case& c) {
    return has_blocks(c) ? scale_format_of(c).code_bytes() : formats::e8m0.code_bytes();
}

void describe_witness(const Case& c, const Site& site, const Difference& d, results::Mismatch& m) {
    const ElementFormat& input = input_format(c);
    const ElementFormat& output = output_format(c, d.output);
    const int scale_digits = 2 * output_scale_bytes(c);
    const bool is_scale = site.is_scale || site.is_tensor_number;
    if (!site.is_tensor_number) {
        m.block = static_cast<std::uint64_t>(site.block);
        m.lane = static_cast<std::uint32_t>(site.lane);
        m.input_bits = hex_code(input, site.input);
        m.input_value = exact::to_text(exact::decode(input, site.input));
    }
    if (c.operation == OperationKind::quantize && !site.is_tensor_number)
        m.amax_value = exact::to_text(exact_amax(c, site));
    if (site.has_scale) {
        m.expected_scale = "0x" + hex(site.expected_scale.bits, scale_digits);
        m.actual_scale = "0x" + hex(site.actual_scale.bits, scale_digits);
    }
    if (is_scale && !site.has_scale) {
        m.expected_scale = hex_code(output, Code{d.expected});
        m.actual_scale = hex_code(output, Code{d.actual});
    }
    if (!is_scale) {
        m.expected_element = hex_code(output, Code{d.expected});
        m.actual_element = hex_code(output, Code{d.actual});
    }
    m.expected_value = exact::to_text(exact::decode(output, Code{d.expected}));
    m.actual_value = exact::to_text(exact::decode(output, Code{d.actual}));
    m.exact_value = position_text(c, site, d);
    m.source = c.format != nullptr && has_no_blocks(*c.format)
                   ? std::string(c.format->source)
                   : std::string(c.dialect->source) + "; known by: " + known_by(c.dialect->name);
}

// The heat map has 32 columns: a lane each, or an equal share of a larger block's lanes.
std::size_t bucket_of(const Case& c, int lane) {
    const std::int64_t lanes = std::max(lanes_of(c), block_size);
    return static_cast<std::size_t>(lane * block_size / lanes);
}

}  // namespace

void Clusters::confirm(const Site& site, const Difference& d) {
    if (!disagreement_.empty()) return;
    const Code exact = exact_answer(evidence_.c, site, d);
    if (exact.bits == d.expected) return;
    disagreement_ = "block " + std::to_string(site.block) + " lane " + std::to_string(site.lane) +
                    ": fast says 0x" + hex(d.expected, 8) + ", exact says 0x" + hex(exact.bits, 8);
}

const LayoutGuess* Clusters::guess_for(const Difference& d) const {
    for (const LayoutGuess& guess : guesses_)
        if (guess.output == d.output) return &guess;
    return nullptr;
}

Clusters::Cluster& Clusters::cluster_of(const Site& site, const Difference& d) {
    const Case& c = evidence_.c;
    const bool confirmed = elements_ + scales_ <= confirmed_max_;
    if (confirmed) confirm(site, d);
    Kind kind = kind_of(evidence_, site, d);
    const LayoutGuess* guess = guess_for(d);
    if (guess != nullptr) kind = {guess->mismatch_class, "buffer", guess->direction};
    // Whether the expected bits are binding decides the verdict, so it is asked of every
    // difference.
    const bool may_be_open = d.flags == 0 && guess == nullptr;
    const std::string open = may_be_open ? open_decision(c, site, d) : "";
    Cluster& cluster =
        clusters_[std::string(kind.mismatch_class.name) + "\n" + kind.direction + "\n" + open];
    results::Mismatch& m = cluster.mismatch;
    if (m.count == 0) {
        if (!confirmed) confirm(site, d);
        m.mismatch_class = kind.mismatch_class.name;
        m.stage = kind.stage;
        m.direction = kind.direction;
        m.open_decision = open;
        m.note = guess == nullptr ? "" : guess->note;
        m.lanes.assign(static_cast<std::size_t>(block_size), 0);
        describe_witness(c, site, d, m);
    }
    const std::uint32_t output = std::uint32_t{1} << d.output;
    if ((cluster.outputs & output) == 0) m.of += evidence_.expected[d.output].count();
    cluster.outputs |= output;
    return cluster;
}

void Clusters::add(const Difference& d) {
    const Case& c = evidence_.c;
    if (!tensor_) tensor_ = exact_tensor_numbers(evidence_);
    last_site_ = site_of(evidence_, d, *tensor_, &last_site_);
    const Site& site = last_site_;
    ++(site.is_scale || site.is_tensor_number ? scales_ : elements_);
    Cluster& cluster = cluster_of(site, d);
    ++cluster.mismatch.count;
    ++cluster.mismatch.lanes[bucket_of(c, site.lane)];
    if (c.operation != OperationKind::dequantize && !site.is_tensor_number)
        heat_.add(leading_bfloat16(input_format(c), site.input), bucket_of(c, site.lane));
    const std::int64_t distance = magnitude_distance(output_format(c, d.output), d);
    if (distance > 0) ++cluster.away;
    if (distance < 0) ++cluster.toward;
}

std::vector<results::Mismatch> Clusters::take() {
    std::vector<results::Mismatch> mismatches;
    for (auto& [key, cluster] : clusters_) {
        results::Mismatch& m = cluster.mismatch;
        if (m.stage == "element" && cluster.away + cluster.toward == m.count)
            m.note = cluster.toward == 0 ? "all away from zero"
                     : cluster.away == 0 ? "all toward zero"
                                         : "some away from zero, some toward it";
        mismatches.push_back(std::move(m));
    }
    return largest_first(std::move(mismatches));
}

}  // namespace mx
