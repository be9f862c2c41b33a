// See pair.hpp.
#include "conformance/relation/pair.hpp"

#include "reference/spec/formats.hpp"

namespace mx::relation {
namespace {

// Of two answers whose scales differ by a known step.
void compare_scales(Finding& finding, const Pair& pair, const Answers& scales) {
    for (std::size_t i = 0; i < pair.scales.size(); ++i) {
        const std::uint32_t one = scales.first.at(i), other = scales.second.at(pair.scales[i]);
        const auto place = static_cast<std::int64_t>(i);
        expect(
            finding, one + pair.scale_step == other,
            {scales.what, place / scales.first.columns, place % scales.first.columns, one, other});
    }
}

void name_inputs(Finding& finding, const std::string& first, const std::string& second) {
    if (finding.broken.empty()) return;
    finding.first = first;
    finding.second = second;
}

}  // namespace

std::string text_of(const Form& form) {
    std::string text = " axis=" + form.axis;
    if (form.block != 0) text += " block=" + std::to_string(form.block);
    if (form.row_gap != 0) text += " rows apart";
    if (form.packing != "strided") text += " " + form.packing;
    if (form.scale_order != "strided") text += " scales " + form.scale_order;
    return text;
}

Expected<Finding> check_pair(Subject& subject, const Pair& pair) {
    const auto first = subject.quantize(pair.first, pair.first_form);
    if (!first) return first.error();
    const auto second = subject.quantize(pair.second, pair.second_form);
    if (!second) return second.error();
    Finding finding;
    compare_scales(finding, pair, {"scale", first.value().scales, second.value().scales});
    compare(finding, {"element", first.value().elements, second.value().elements}, pair.elements);
    name_inputs(finding, text_of(pair.first) + text_of(pair.first_form),
                text_of(pair.second) + text_of(pair.second_form));
    return finding;
}

Expected<Finding> check_pair(Subject& subject, const CodePair& pair) {
    const auto first = subject.dequantize(pair.first, pair.first_form);
    if (!first) return first.error();
    const auto second = subject.dequantize(pair.second, pair.second_form);
    if (!second) return second.error();
    Finding finding;
    compare(finding, {"value", first.value(), second.value()}, pair.values);
    name_inputs(finding, text_of(pair.first) + text_of(pair.first_form),
                text_of(pair.second) + text_of(pair.second_form));
    return finding;
}

bool Tally::add(const Expected<Finding>& finding) {
    if (!finding) {
        if (failed_) return false;
        error_ = finding.error();
        failed_ = error_.kind != ErrorKind::bad_input;
        return !failed_;
    }
    any_ = true;
    const std::uint64_t compared = sum_.compared + finding.value().compared;
    if (sum_.broken.empty()) sum_ = finding.value();
    sum_.compared = compared;
    return sum_.broken.empty();
}

Expected<Finding> Tally::take() const {
    if (failed_ || !any_) return error_;
    return sum_;
}

Places lanes_turned(const CodeTensor& tensor, const LaneTurn& turn) {
    Places places(tensor.count());
    for (std::int64_t top = 0; top < tensor.rows; top += turn.rows)
        for (std::int64_t left = 0; left < tensor.columns; left += turn.columns) {
            const std::int64_t height = std::min(turn.rows, tensor.rows - top);
            const std::int64_t width = std::min(turn.columns, tensor.columns - left);
            const auto place = [&](std::int64_t lane) {
                return static_cast<std::size_t>((top + lane / width) * tensor.columns + left +
                                                lane % width);
            };
            const std::int64_t lanes = height * width;
            for (std::int64_t lane = 0; lane < lanes; ++lane)
                places[place(lane)] = place((lane + turn.by) % lanes);
        }
    return places;
}

std::vector<Form> block_forms(const Setting& setting) {
    const std::int64_t k = setting.block;
    return {{.axis = "row"},
            {.axis = "col"},
            {.axis = "tile"},
            {.axis = "row", .block = k / 2},
            {.axis = "row", .block = 2 * k}};
}

LaneTurn block_of(const Setting& setting, const Form& form) {
    const std::int64_t k = form.block == 0 ? setting.block : form.block;
    return {form.axis == "row" ? 1 : k, form.axis == "col" ? 1 : k, 1};
}

std::vector<Form> layout_forms(const Setting& setting) {
    std::vector<Form> forms{{.row_gap = 3}};
    const int bits = code_bits(setting.elements);
    if (bits == 4) forms.push_back({.packing = "packed-low"});
    if (bits == 4) forms.push_back({.packing = "packed-high"});
    if (bits == 6) forms.push_back({.packing = "packed-6"});
    const bool has_pack = find_element_format(setting.elements) != nullptr;
    for (const std::int64_t block : {setting.block, 2 * setting.block})
        if (has_pack) forms.push_back({.block = block, .packing = "inline"});
    if (code_bits(setting.scales) != 8) return forms;
    for (const char* order : {"128x4", "8x4", "32x8", "te-padded"}) {
        forms.push_back({.scale_order = order});
        forms.push_back({.axis = "col", .scale_order = std::string(order) + "-col"});
        forms.push_back({.block = setting.block / 2, .scale_order = order});
    }
    return forms;
}

}  // namespace mx::relation
