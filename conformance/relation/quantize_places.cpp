// The relations of quantize that are about places: lanes, rows, blocks, columns, layouts.
#include <algorithm>

#include "conformance/relation/facts.hpp"
#include "conformance/relation/pair.hpp"

namespace mx::relation {
namespace {

Expected<Finding> repeated(Subject& subject, const Sample& sample) {
    Places backwards = same_places(sample.values);
    std::ranges::reverse(backwards);
    const CodeTensor other = moved(sample.values, backwards);
    return check_again(
        Again<CodeTensor>{sample.values, other, text_of(other)},
        [&](const CodeTensor& x) { return subject.quantize(x); },
        [](Finding& finding, const Quantized& first, const Quantized& second) {
            compare(finding, {"scale", first.scales, second.scales});
            compare(finding, {"element", first.elements, second.elements});
        });
}

Expected<Finding> lanes_change_places(Subject& subject, const Sample& sample) {
    Tally tally;
    Random random(sample.seed);
    for (const Form& form : block_forms(subject.setting())) {
        LaneTurn turn = block_of(subject.setting(), form);
        turn.by = 1 + static_cast<std::int64_t>(random.below(31));
        const Places to = lanes_turned(sample.values, turn);
        const Places stay = same_places(subject.scale_grid(sample.values, form));
        if (!tally.add(check_pair(subject,
                                  {sample.values, moved(sample.values, to), to, stay, form, form})))
            break;
    }
    return tally.take();
}

Expected<Finding> rows_change_places(Subject& subject, const Sample& sample) {
    const CodeTensor& x = sample.values;
    const auto by = 1 + static_cast<std::int64_t>(
                            Random(sample.seed).below(static_cast<std::uint64_t>(x.rows)));
    const Places to = rows_turned(x, by);
    return check_pair(subject, {x, moved(x, to), to, rows_turned(subject.scale_grid(x, {}), by)});
}

// Whole blocks of a row, each in a row of its own.
Expected<Finding> blocks_stand_alone(Subject& subject, const Sample& sample) {
    Tally tally;
    for (const Form& form : block_forms(subject.setting())) {
        if (form.axis != "row") continue;
        const std::int64_t k = form.block == 0 ? subject.setting().block : form.block;
        const std::int64_t whole = sample.values.columns / k * k;
        if (whole == 0) continue;
        const CodeTensor x = cut(sample.values, {0, 0, sample.values.rows, whole});
        CodeTensor blocks = x;
        blocks.rows = x.rows * whole / k;
        blocks.columns = k;
        const Places stay = same_places(subject.scale_grid(x, form));
        if (!tally.add(check_pair(subject, {x, blocks, same_places(x), stay, form, form}))) break;
    }
    return tally.take();
}

Expected<Finding> rows_stand_alone(Subject& subject, const Sample& sample) {
    const CodeTensor& x = sample.values;
    const auto all = subject.quantize(x);
    if (!all) return all.error();
    Finding finding;
    for (const std::int64_t row : {std::int64_t{0}, x.rows / 2, x.rows - 1}) {
        const CodeTensor line = cut(x, {row, 0, 1, x.columns});
        const auto alone = subject.quantize(line);
        if (!alone) return alone.error();
        const CodeTensor &codes = all.value().elements, &scales = all.value().scales;
        compare(finding, {"scale", alone.value().scales, scales},
                places_of(scales, {row, 0, 1, scales.columns}));
        compare(finding, {"element", alone.value().elements, codes},
                places_of(codes, {row, 0, 1, codes.columns}));
        if (finding.broken.empty()) continue;
        finding.first = text_of(line);
        finding.second = "the same as row " + std::to_string(row) + " of " + text_of(x);
        break;
    }
    return finding;
}

// A short block against the same block filled up with zeros.
Expected<Finding> zeros_fill_up(Subject& subject, const Sample& sample) {
    const std::int64_t k = subject.setting().block;
    const CodeTensor& x = sample.values;
    const CodeTensor filled = cut(x, {0, 0, x.rows, (x.columns + k - 1) / k * k});
    return check_pair(subject, {x, filled, places_of(filled, {0, 0, x.rows, x.columns}),
                                same_places(subject.scale_grid(x, {}))});
}

Expected<Finding> columns_are_rows(Subject& subject, const Sample& sample) {
    const CodeTensor& x = sample.values;
    const Form col{.axis = "col"};
    return check_pair(subject, {x,
                                transposed(x),
                                transposed_places(x),
                                transposed_places(subject.scale_grid(x, {})),
                                {},
                                col});
}

// Also of whole tiles, which a device that reads its input once may do in another way.
Expected<Finding> both_are_rows_and_columns(Subject& subject, const Sample& sample) {
    const std::int64_t k = subject.setting().block;
    const CodeTensor& x = sample.values;
    const Cut tiles{0, 0, (x.rows + k - 1) / k * k, (x.columns + k - 1) / k * k};
    Finding finding;
    for (const CodeTensor& values : {x, cut(x, tiles)}) {
        const auto both = subject.quantize_both(values);
        if (!both) return both.error();
        for (const bool down : {false, true}) {
            const Form form{.axis = down ? "col" : "row"};
            const auto alone = subject.quantize(values, form);
            if (!alone) return alone.error();
            const Quantized& side = both.value()[down ? 1 : 0];
            compare(finding, {"scale", side.scales, alone.value().scales});
            compare(finding, {"element", side.elements, alone.value().elements});
            if (finding.broken.empty()) continue;
            finding.first = text_of(values) + " axis=both, its half of axis " + form.axis;
            finding.second = "the same with" + text_of(form);
            return finding;
        }
    }
    return finding;
}

Expected<Finding> layouts_agree(Subject& subject, const Sample& sample) {
    Tally tally;
    const CodeTensor& x = sample.values;
    for (const Form& form : layout_forms(subject.setting())) {
        const Form plain{.axis = form.axis, .block = form.block};
        const Places stay = same_places(subject.scale_grid(x, form));
        if (!tally.add(check_pair(subject, {x, x, same_places(x), stay, plain, form}))) break;
    }
    return tally.take();
}

constexpr Relation quantize_places_listed[] = {
    {"repeated", "quantize", "the same input gives the same answer, whatever was asked between",
     Data::any, always, repeated},
    {"lanes_change_places", "quantize",
     "lanes that change places within a block take their elements along, and the scale stays",
     Data::any, weighs_lanes_together, lanes_change_places},
    {"rows_change_places", "quantize", "rows that change places take their answers along",
     Data::any, always, rows_change_places},
    {"blocks_stand_alone", "quantize", "a block in a row of its own is the block among others",
     Data::any, always, blocks_stand_alone},
    {"rows_stand_alone", "quantize", "a row alone is the row among others", Data::any, always,
     rows_stand_alone},
    {"zeros_fill_up", "quantize", "a short block is the block filled up with zeros", Data::numbers,
     always, zeros_fill_up},
    {"columns_are_rows", "quantize", "blocks along columns are those along rows of the transpose",
     Data::any, always, columns_are_rows},
    {"both_are_rows_and_columns", "quantize",
     "blocks along rows and columns at once are those along rows and along columns", Data::any,
     always, both_are_rows_and_columns},
    {"layouts_agree", "quantize",
     "rows apart, packed codes and other orders of scales hold the same", Data::any, always,
     layouts_agree},
};

}  // namespace

std::span<const Relation> quantize_place_relations() {
    return quantize_places_listed;
}

}  // namespace mx::relation
