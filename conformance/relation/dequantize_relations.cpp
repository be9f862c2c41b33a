// The relations of dequantize.
#include <algorithm>
#include <map>
#include <set>

#include "conformance/relation/facts.hpp"
#include "conformance/relation/pair.hpp"
#include "reference/spec/formats.hpp"

namespace mx::relation {
namespace {

Quantized blocks_of(const Sample& sample) {
    return {sample.values, sample.scales};
}

// The sample's codes under a grid of its scales that fits the form.
Quantized blocks_in(const Subject& subject, const Sample& sample, const Form& form) {
    Quantized blocks{sample.values, subject.scale_grid(sample.values, form)};
    for (std::size_t i = 0; i < blocks.scales.count(); ++i)
        blocks.scales.set(i, sample.scales.at(i % sample.scales.count()));
    return blocks;
}

Expected<Finding> repeated(Subject& subject, const Sample& sample) {
    const Quantized blocks = blocks_of(sample);
    Places backwards = same_places(blocks.elements);
    std::ranges::reverse(backwards);
    return check_again(
        Again<Quantized>{
            blocks, {moved(blocks.elements, backwards), blocks.scales}, "its elements backwards"},
        [&](const Quantized& asked) { return subject.dequantize(asked); },
        [](Finding& finding, const CodeTensor& first, const CodeTensor& second) {
            compare(finding, {"value", first, second});
        });
}

Expected<Finding> lanes_change_places(Subject& subject, const Sample& sample) {
    Tally tally;
    Random random(sample.seed);
    for (const Form& form : block_forms(subject.setting())) {
        LaneTurn turn = block_of(subject.setting(), form);
        turn.by = 1 + static_cast<std::int64_t>(random.below(31));
        const Quantized blocks = blocks_in(subject, sample, form);
        const Places to = lanes_turned(blocks.elements, turn);
        const Quantized second{moved(blocks.elements, to), blocks.scales};
        if (!tally.add(check_pair(subject, CodePair{blocks, second, to, form, form}))) break;
    }
    return tally.take();
}

Expected<Finding> rows_change_places(Subject& subject, const Sample& sample) {
    const Quantized blocks = blocks_of(sample);
    const auto by =
        1 + static_cast<std::int64_t>(
                Random(sample.seed).below(static_cast<std::uint64_t>(blocks.elements.rows)));
    const Places to = rows_turned(blocks.elements, by);
    const Quantized second{moved(blocks.elements, to),
                           moved(blocks.scales, rows_turned(blocks.scales, by))};
    return check_pair(subject, CodePair{blocks, second, to});
}

Expected<Finding> columns_are_rows(Subject& subject, const Sample& sample) {
    const Quantized blocks = blocks_of(sample);
    const Quantized second{transposed(blocks.elements), transposed(blocks.scales)};
    return check_pair(
        subject, CodePair{blocks, second, transposed_places(blocks.elements), {}, {.axis = "col"}});
}

Expected<Finding> layouts_agree(Subject& subject, const Sample& sample) {
    Tally tally;
    for (const Form& form : layout_forms(subject.setting())) {
        const Quantized blocks = blocks_in(subject, sample, form);
        const Form plain{.axis = form.axis, .block = form.block};
        if (!tally.add(check_pair(
                subject, CodePair{blocks, blocks, same_places(blocks.elements), plain, form})))
            break;
    }
    return tally.take();
}

// The scale over an element, where blocks lie as the form says.
std::uint32_t scale_over(const Setting& setting, const Quantized& blocks, const Form& form,
                         std::size_t element) {
    const LaneTurn block = block_of(setting, form);
    const auto row = static_cast<std::int64_t>(element) / blocks.elements.columns / block.rows;
    const auto column =
        static_cast<std::int64_t>(element) % blocks.elements.columns / block.columns;
    return blocks.scales.at(static_cast<std::size_t>(row * blocks.scales.columns + column));
}

// One code under one scale is one value, wherever it stands and however blocks are cut.
Expected<Finding> code_and_scale_decide(Subject& subject, const Sample& sample) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> values;
    Tally tally;
    for (const Form& form : block_forms(subject.setting())) {
        const Quantized blocks = blocks_in(subject, sample, form);
        const auto answer = subject.dequantize(blocks, form);
        if (!answer) {
            if (!tally.add(answer.error())) break;
            continue;
        }
        Finding finding;
        for (std::size_t i = 0; i < blocks.elements.count(); ++i) {
            const std::uint32_t value = answer.value().at(i);
            const std::uint32_t before =
                values
                    .try_emplace(
                        {blocks.elements.at(i), scale_over(subject.setting(), blocks, form, i)},
                        value)
                    .first->second;
            const auto at = static_cast<std::int64_t>(i);
            expect(finding, value == before,
                   {"value", at / blocks.elements.columns, at % blocks.elements.columns, value,
                    before});
        }
        finding.first = text_of(blocks) + text_of(form);
        finding.second = "the same code under the same scale elsewhere";
        if (!tally.add(finding)) break;
    }
    return tally.take();
}

// One more in every scale doubles every value that is normal before and after.
Expected<Finding> a_step_of_scale_doubles(Subject& subject, const Sample& sample) {
    const ElementFormat& type = *find_element_format(subject.setting().values);
    Quantized first = blocks_of(sample), second = first;
    for (std::size_t i = 0; i < first.scales.count(); ++i) {
        const std::uint32_t scale = std::min(first.scales.at(i), 253u);
        first.scales.set(i, scale);
        second.scales.set(i, scale + 1);
    }
    const auto before = subject.dequantize(first), after = subject.dequantize(second);
    if (!before || !after) return before ? after.error() : before.error();
    Finding finding;
    for (std::size_t i = 0; i < before.value().count(); ++i) {
        const std::uint32_t one = before.value().at(i), other = after.value().at(i);
        const std::uint32_t field = (one & type.code_infinity()) >> type.mantissa_bits;
        const std::uint32_t last = type.code_infinity() >> type.mantissa_bits;
        if (field == 0 || field >= last - 1) continue;
        const auto at = static_cast<std::int64_t>(i);
        expect(finding, other == one + (1u << type.mantissa_bits),
               {"value", at / first.elements.columns, at % first.elements.columns, one, other});
    }
    finding.first = text_of(first);
    finding.second = text_of(second);
    return finding;
}

// A binary32 that bfloat16 can hold is the bfloat16 of the same codes.
Expected<Finding> types_agree(Subject& subject, const Sample& sample) {
    if (subject.setting().values != "f32") return bad_input("this is asked with output f32");
    const Quantized blocks = blocks_of(sample);
    const auto longer = subject.dequantize(blocks);
    if (!longer) return longer.error();
    const auto shorter = subject.with_values("bf16").dequantize(blocks);
    if (!shorter) return shorter.error();
    Finding finding;
    for (std::size_t i = 0; i < blocks.elements.count(); ++i) {
        const std::uint32_t one = longer.value().at(i), other = shorter.value().at(i);
        const bool is_nan = formats::f32.is_nan(Code{one});
        if ((one & 0xFFFF) != 0 && !is_nan) continue;
        const auto at = static_cast<std::int64_t>(i);
        expect(finding, is_nan ? formats::bf16.is_nan(Code{other}) : one >> 16 == other,
               {"value", at / blocks.elements.columns, at % blocks.elements.columns, one, other});
    }
    finding.first = text_of(blocks) + " to f32";
    finding.second = "the same to bf16";
    return finding;
}

// All codes under one scale: with each number its negative comes back, too. Of a scale near the
// middle, so that no value leaves its type.
Expected<Finding> values_have_mirrors(Subject& subject, const Sample& sample) {
    const ElementFormat& type = *find_element_format(subject.setting().values);
    const int bits = code_bits(subject.setting().elements);
    Quantized all{make_tensor(subject.setting().elements, 1, std::int64_t{1} << bits), {}};
    for (std::size_t i = 0; i < all.elements.count(); ++i)
        all.elements.set(i, static_cast<std::uint32_t>(i));
    all.scales = subject.scale_grid(all.elements, {});
    const std::uint32_t scale = 124 + static_cast<std::uint32_t>(Random(sample.seed).below(4));
    for (std::size_t i = 0; i < all.scales.count(); ++i) all.scales.set(i, scale);
    const auto answer = subject.dequantize(all);
    if (!answer) return answer.error();
    std::set<std::uint32_t> values;
    for (std::size_t i = 0; i < all.elements.count(); ++i) values.insert(answer.value().at(i));
    Finding finding;
    for (std::size_t i = 0; i < all.elements.count(); ++i) {
        const std::uint32_t value = answer.value().at(i);
        const bool is_number = !type.is_nan(Code{value}) && !type.is_zero(Code{value});
        expect(finding, !is_number || values.contains(value ^ type.code_sign_mask()),
               {"value", 0, static_cast<std::int64_t>(i), value, value});
    }
    finding.first = text_of(all);
    finding.second = "the same; no code gives the negative of that value";
    return finding;
}

constexpr Relation dequantize_relations_listed[] = {
    {"repeated", "dequantize", "the same input gives the same answer, whatever was asked between",
     Data::any, always, repeated},
    {"lanes_change_places", "dequantize",
     "codes that change places in a block take their values along", Data::any, always,
     lanes_change_places},
    {"rows_change_places", "dequantize", "rows that change places take their values along",
     Data::any, always, rows_change_places},
    {"columns_are_rows", "dequantize", "blocks along columns are those along rows of the transpose",
     Data::any, always, columns_are_rows},
    {"layouts_agree", "dequantize",
     "rows apart, packed codes and other orders of scales hold the same", Data::any, always,
     layouts_agree},
    {"code_and_scale_decide", "dequantize",
     "one code under one scale is one value, however blocks are cut", Data::any, always,
     code_and_scale_decide},
    {"a_step_of_scale_doubles", "dequantize",
     "a scale one larger doubles what is normal before and after", Data::any, scales_are_no_e8m0,
     a_step_of_scale_doubles},
    {"types_agree", "dequantize", "what bf16 can hold is the same in bf16 and f32", Data::any,
     always, types_agree},
    {"values_have_mirrors", "dequantize", "with each number its negative has a code",
     Data::ordinary, has_no_mirror, values_have_mirrors},
};

}  // namespace

std::span<const Relation> dequantize_relations() {
    return dequantize_relations_listed;
}

}  // namespace mx::relation
