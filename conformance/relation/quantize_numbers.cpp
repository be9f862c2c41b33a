// The relations of quantize that are about numbers: signs, order, powers of two, types, scales.
#include <algorithm>
#include <bit>
#include <map>

#include "conformance/relation/facts.hpp"
#include "conformance/relation/pair.hpp"
#include "reference/spec/formats.hpp"

namespace mx::relation {
namespace {

const ElementFormat& numbers_of(const Setting& setting) {
    return *find_element_format(setting.values);
}

std::uint32_t magnitude(const Setting& setting, std::uint32_t code) {
    return code & numbers_of(setting).code_magnitude_mask();
}

Expected<Finding> powers_of_two_move_scales(Subject& subject, const Sample& sample) {
    const ElementFormat& type = numbers_of(subject.setting());
    const std::uint64_t most = type.exponent_bits == 8 ? 24 : 2;
    const std::uint32_t by = 1 + static_cast<std::uint32_t>(Random(sample.seed).below(most));
    CodeTensor larger = sample.values;
    for (std::size_t i = 0; i < larger.count(); ++i)
        larger.set(i, larger.at(i) + (by << type.mantissa_bits));
    return check_pair(subject, {sample.values,
                                larger,
                                same_places(larger),
                                same_places(subject.scale_grid(larger, {})),
                                {},
                                {},
                                by});
}

// Which code the negative of an input of a code gets: of two inputs with one code, the same.
struct Fellows {
    std::map<std::uint32_t, std::uint32_t> of;

    bool takes(std::uint32_t code, std::uint32_t fellow) {
        const bool forth = of.try_emplace(code, fellow).first->second == fellow;
        return of.try_emplace(fellow, code).first->second == code && forth;
    }
};

// Signs of some lanes change: no scale does, no other lane does, and these get their fellows.
Expected<Finding> signs_pass_through(Subject& subject, const Sample& sample) {
    const CodeTensor& x = sample.values;
    Random random(sample.seed);
    CodeTensor turned = x;
    std::vector<char> is_turned(x.count());
    const std::uint32_t sign = numbers_of(subject.setting()).code_sign_mask();
    for (std::size_t i = 0; i < x.count(); ++i) {
        is_turned[i] = !random.once_in(3);
        if (is_turned[i] != 0) turned.set(i, x.at(i) ^ sign);
    }
    const auto first = subject.quantize(x), second = subject.quantize(turned);
    if (!first || !second) return first ? second.error() : first.error();
    Finding finding;
    compare(finding, {"scale", first.value().scales, second.value().scales});
    Fellows fellows;
    for (std::size_t i = 0; i < x.count(); ++i) {
        if (magnitude(subject.setting(), x.at(i)) == 0) continue;
        const std::uint32_t one = first.value().elements.at(i);
        const std::uint32_t other = second.value().elements.at(i);
        const auto at = static_cast<std::int64_t>(i);
        expect(finding, is_turned[i] == 0 ? one == other : fellows.takes(one, other),
               {is_turned[i] == 0 ? "element" : "element of the other sign", at / x.columns,
                at % x.columns, one, other});
    }
    finding.first = text_of(x);
    finding.second = text_of(turned);
    return finding;
}

// Of lanes of one scale in the order of their numbers, those with one code are neighbours.
Expected<Finding> codes_keep_order(Subject& subject, const Sample& sample) {
    const CodeTensor& x = sample.values;
    const auto answer = subject.quantize(x);
    if (!answer) return answer.error();
    const ElementFormat& type = numbers_of(subject.setting());
    struct Lane {
        std::int64_t number;
        std::size_t place;
    };
    std::map<std::uint32_t, std::vector<Lane>> by_scale;
    const CodeTensor& scales = answer.value().scales;
    for (std::size_t i = 0; i < x.count(); ++i) {
        const std::int64_t size = magnitude(subject.setting(), x.at(i));
        const auto column = static_cast<std::int64_t>(i) % x.columns;
        const auto row = static_cast<std::int64_t>(i) / x.columns;
        const std::uint32_t scale = scales.at(
            static_cast<std::size_t>(row * scales.columns + column / subject.setting().block));
        if (size != 0)
            by_scale[scale].push_back({type.is_negative(Code{x.at(i)}) ? -size : size, i});
    }
    Finding finding;
    for (auto& [scale, lanes] : by_scale) {
        std::ranges::stable_sort(lanes, {}, &Lane::number);
        std::map<std::uint32_t, std::size_t> seen;
        std::uint32_t last = 0;
        for (std::size_t i = 0; i < lanes.size(); ++i) {
            const std::uint32_t code = answer.value().elements.at(lanes[i].place);
            const auto at = static_cast<std::int64_t>(lanes[i].place);
            const bool is_new = seen.try_emplace(code, i).second;
            expect(finding, i == 0 || code == last || is_new,
                   {"element", at / x.columns, at % x.columns, code, last});
            last = code;
        }
    }
    finding.first = text_of(x);
    finding.second = "the same; a lane between two lanes of one code has another code";
    return finding;
}

// Lanes that are not the largest of their block become 0, by chance: the others do not move.
Expected<Finding> small_lanes_do_not_count(Subject& subject, const Sample& sample) {
    const CodeTensor& x = sample.values;
    const std::int64_t k = subject.setting().block;
    Random random(sample.seed);
    CodeTensor thinned = x;
    Places kept;
    for (std::int64_t row = 0; row < x.rows; ++row)
        for (std::int64_t begin = 0; begin < x.columns; begin += k) {
            const auto first = static_cast<std::size_t>(row * x.columns + begin);
            const auto count = static_cast<std::size_t>(std::min(k, x.columns - begin));
            std::size_t largest = first;
            for (std::size_t i = first; i < first + count; ++i)
                if (magnitude(subject.setting(), x.at(i)) >
                    magnitude(subject.setting(), x.at(largest)))
                    largest = i;
            for (std::size_t i = first; i < first + count; ++i) {
                if (i == largest || random.once_in(4))
                    kept.push_back(i);
                else
                    thinned.set(i, 0);
            }
        }
    const auto all = subject.quantize(x), few = subject.quantize(thinned);
    if (!all || !few) return all ? few.error() : all.error();
    Finding finding;
    compare(finding, {"scale", all.value().scales, few.value().scales});
    for (const std::size_t i : kept) {
        const std::uint32_t one = all.value().elements.at(i), other = few.value().elements.at(i);
        const auto at = static_cast<std::int64_t>(i);
        expect(finding, one == other, {"element", at / x.columns, at % x.columns, one, other});
    }
    finding.first = text_of(x);
    finding.second = text_of(thinned);
    return finding;
}

// The scale of a block is the one that encode_scale gives its largest magnitude.
Expected<Finding> scales_are_encoded(Subject& subject, const Sample& sample) {
    const CodeTensor& x = sample.values;
    const auto blocks = subject.quantize(x);
    if (!blocks) return blocks.error();
    const CodeTensor& scales = blocks.value().scales;
    CodeTensor amaxes = make_tensor(x.type, scales.rows, scales.columns);
    for (std::size_t i = 0; i < x.count(); ++i) {
        const auto row = static_cast<std::int64_t>(i) / x.columns;
        const auto column = static_cast<std::int64_t>(i) % x.columns / subject.setting().block;
        const auto at = static_cast<std::size_t>(row * scales.columns + column);
        amaxes.set(at, std::max(amaxes.at(at), magnitude(subject.setting(), x.at(i))));
    }
    const auto encoded = subject.encode_scale(amaxes);
    if (!encoded) return encoded.error();
    Finding finding;
    compare(finding, {"scale", scales, encoded.value()});
    finding.first = text_of(x);
    finding.second = "encode_scale of " + text_of(amaxes);
    return finding;
}

// The binary32 code of a binary16 one.
std::uint32_t widened(std::uint32_t half) {
    const std::uint32_t sign = (half & 0x8000) << 16, field = half >> 10 & 31;
    std::uint32_t mantissa = half & 0x3FF;
    if (field == 31) return sign | 0x7F800000 | mantissa << 13;
    if (field != 0) return sign | (field + 112) << 23 | mantissa << 13;
    if (mantissa == 0) return sign;
    const int zeros = std::countl_zero(mantissa) - 21;  // of eleven bits
    mantissa = mantissa << zeros & 0x3FF;
    return sign | static_cast<std::uint32_t>(113 - zeros) << 23 | mantissa << 13;
}

// Numbers of a shorter type, and the same numbers as binary32.
Expected<Finding> types_agree(Subject& subject, const Sample& sample) {
    Tally tally;
    if (subject.setting().values != "f32") return bad_input("this is asked with input f32");
    for (const char* type : {"bf16", "f16"}) {
        if (!reads_as_f32(subject.setting(), type)) continue;
        CodeTensor shorter = make_tensor(type, sample.values.rows, sample.values.columns);
        CodeTensor longer = sample.values;
        for (std::size_t i = 0; i < longer.count(); ++i) {
            // Of binary16 from the low half, whose bits are as random as any.
            const bool is_bf16 = shorter.type == "bf16";
            const std::uint32_t code =
                is_bf16 ? longer.at(i) >> 16 : (longer.at(i) ^ longer.at(i) >> 16) & 0xFFFF;
            shorter.set(i, code);
            longer.set(i, is_bf16 ? code << 16 : widened(code));
        }
        Subject other = subject.with_values(type);
        const auto first = other.quantize(shorter);
        const auto second = first ? subject.quantize(longer) : first;
        Expected<Finding> finding = Finding{};
        if (!second) {
            finding = second.error();
        } else {
            compare(finding.value(), {"scale", first.value().scales, second.value().scales});
            compare(finding.value(), {"element", first.value().elements, second.value().elements});
            finding.value().first = text_of(shorter);
            finding.value().second = text_of(longer);
        }
        if (!tally.add(finding)) break;
    }
    return tally.take();
}

// The values that come back quantize to themselves, zeros of either sign alike: the same value can
// have two codes, under two scales.
Expected<Finding> twice_is_once(Subject& subject, const Sample& sample) {
    Subject back = subject.with_operation("dequantize");
    const auto first = subject.quantize(sample.values);
    const auto once = first ? back.dequantize(first.value()) : Expected<CodeTensor>(first.error());
    if (!once) return once.error();
    const auto second = subject.quantize(once.value());
    const auto twice =
        second ? back.dequantize(second.value()) : Expected<CodeTensor>(second.error());
    if (!twice) return twice.error();
    Finding finding;
    for (std::size_t i = 0; i < once.value().count(); ++i) {
        const std::uint32_t one = once.value().at(i), other = twice.value().at(i);
        const bool are_zeros = magnitude(subject.setting(), one | other) == 0;
        const auto at = static_cast<std::int64_t>(i);
        expect(finding, one == other || are_zeros,
               {"value", at / sample.values.columns, at % sample.values.columns, one, other});
    }
    finding.first = text_of(sample.values);
    finding.second = text_of(once.value());
    return finding;
}

// A block of 2k has the larger scale of its halves, and a half of that scale the same elements.
Expected<Finding> halves_make_the_whole(Subject& subject, const Sample& sample) {
    const CodeTensor& x = sample.values;
    const std::int64_t k = subject.setting().block;
    const auto halves = subject.quantize(x), whole = subject.quantize(x, {.block = 2 * k});
    if (!halves || !whole) return halves ? whole.error() : halves.error();
    const CodeTensor &few = whole.value().scales, &many = halves.value().scales;
    Finding finding;
    for (std::int64_t row = 0; row < few.rows; ++row)
        for (std::int64_t column = 0; column < few.columns; ++column) {
            const auto left = static_cast<std::size_t>(row * many.columns + 2 * column);
            const bool has_right = 2 * column + 1 < many.columns;
            const std::uint32_t larger = std::max(many.at(left), has_right ? many.at(left + 1) : 0);
            const std::uint32_t scale =
                few.at(static_cast<std::size_t>(row * few.columns + column));
            expect(finding, scale == larger, {"scale", row, column, larger, scale});
            for (std::int64_t lane = 2 * k * column;
                 lane < std::min(2 * k * (column + 1), x.columns); ++lane) {
                const auto i = static_cast<std::size_t>(row * x.columns + lane);
                if (many.at(static_cast<std::size_t>(row * many.columns + lane / k)) != scale)
                    continue;
                const std::uint32_t one = halves.value().elements.at(i);
                const std::uint32_t other = whole.value().elements.at(i);
                expect(finding, one == other, {"element", row, lane, one, other});
            }
        }
    finding.first = text_of(x);
    finding.second = "the same in blocks of " + std::to_string(2 * k);
    return finding;
}

constexpr Relation quantize_numbers_listed[] = {
    {"powers_of_two_move_scales", "quantize",
     "an input times 2^k has scales k larger and the same elements", Data::ordinary, knows_binades,
     powers_of_two_move_scales},
    {"signs_pass_through", "quantize",
     "a lane that changes its sign gets the fellow of its code, and nothing else changes",
     Data::numbers, treats_signs_unlike, signs_pass_through},
    {"codes_keep_order", "quantize",
     "under one scale, lanes between two of one code have that code", Data::numbers,
     rounds_up_and_down, codes_keep_order},
    {"small_lanes_do_not_count", "quantize",
     "lanes below the largest of their block can become 0 without a change to the others",
     Data::numbers, weighs_lanes_together, small_lanes_do_not_count},
    {"scales_are_encoded", "quantize", "the scale is what encode_scale says of the largest lane",
     Data::numbers, always, scales_are_encoded},
    {"types_agree", "quantize", "the same numbers in bf16, f16 and f32 give the same answer",
     Data::any, always, types_agree},
    {"twice_is_once", "quantize", "what dequantize gives back quantizes to the same values",
     Data::ordinary, loses_by_quantizing_twice, twice_is_once},
    {"halves_make_the_whole", "quantize", "a block of 2k has the larger scale of its halves",
     Data::numbers, always, halves_make_the_whole},
};

}  // namespace

std::span<const Relation> quantize_number_relations() {
    return quantize_numbers_listed;
}

}  // namespace mx::relation
