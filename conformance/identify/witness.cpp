// See witness.hpp.
#include "conformance/identify/witness.hpp"

#include <optional>

#include "conformance/emulate/number_text.hpp"
#include "conformance/identify/hypotheses.hpp"
#include "reference/fast/block.hpp"

namespace mx::identify {
namespace {

std::uint64_t folded(const std::array<std::uint8_t, lane_count>& elements) {
    std::uint64_t hash = 0xCBF29CE484222325;
    for (const std::uint8_t element : elements) hash = (hash ^ element) * 0x100000001B3;
    return hash;
}

std::uint8_t predicted_element(const Setting& setting, const Quantizer& dialect,
                               const Answer& answer, std::size_t lane) {
    const fast::Unpacked value =
        fast::read_input(dialect.subnormals, setting.input, Code{answer.lanes[lane]});
    return static_cast<std::uint8_t>(
        fast::quantize_element(dialect, setting.format, answer.scale, value).bits);
}

std::string scale_text(Code scale) {
    return emulate::hex_code(formats::e8m0, scale);
}

std::uint32_t amax_code(const Setting& setting, const Lanes& lanes) {
    std::uint32_t amax = 0;
    for (const std::uint32_t code : lanes)
        amax = std::max(amax, code & setting.input.code_magnitude_mask());
    return amax;
}

// The first lane whose element the dialect does not predict.
std::optional<std::size_t> wrong_lane(const Setting& setting, const Quantizer& dialect,
                                      const Answer& answer) {
    for (std::size_t lane = 0; lane < lane_count; ++lane)
        if (predicted_element(setting, dialect, answer, lane) != answer.elements[lane]) return lane;
    return std::nullopt;
}

// Under a NaN scale that is right, the elements may be any.
bool is_open(const Setting& setting, const Quantizer& dialect, const Answer& answer) {
    return setting.format.scale().is_nan(answer.scale) &&
           predicted_scale(setting, dialect, answer.lanes) == answer.scale;
}

// "amax 0x43f00000 (480): scale 0x7f, not 0x80"; "" if the dialect predicts the answer.
std::string against(const Setting& setting, const Quantizer& dialect, const Answer& answer) {
    const Code scale = predicted_scale(setting, dialect, answer.lanes);
    if (!(scale == answer.scale))
        return "amax " + code_with_value(setting.input, Code{amax_code(setting, answer.lanes)}) +
               ": scale " + scale_text(answer.scale) + ", not " + scale_text(scale);
    const auto lane = wrong_lane(setting, dialect, answer);
    if (!lane) return "";
    const ElementFormat& element = setting.format.element();
    const Code expected{predicted_element(setting, dialect, answer, *lane)};
    return "lane " + std::to_string(*lane) + ", " +
           code_with_value(setting.input, Code{answer.lanes[*lane]}) + " under scale " +
           scale_text(answer.scale) + ": element " +
           code_with_value(element, Code{answer.elements[*lane]}) + ", not " +
           code_with_value(element, expected);
}

}  // namespace

std::string code_with_value(const ElementFormat& format, Code code) {
    return emulate::hex_code(format, code) + " (" + exact::to_text(exact::decode(format, code)) +
           ")";
}

Code predicted_scale(const Setting& setting, const Quantizer& dialect, const Lanes& block) {
    const fast::Unpacked amax =
        fast::amax_of(dialect, setting.input, block.data(), static_cast<int>(lane_count));
    return fast::encode_scale(dialect, setting.format, amax);
}

std::uint64_t predicted(const Setting& setting, const Quantizer& dialect, const Answer& answer,
                        Part part) {
    if (part == Part::scale) return predicted_scale(setting, dialect, answer.lanes).bits;
    std::array<std::uint8_t, lane_count> elements{};
    for (std::size_t lane = 0; lane < lane_count; ++lane)
        elements[lane] = predicted_element(setting, dialect, answer, lane);
    return folded(elements);
}

std::uint64_t given(const Answer& answer, Part part) {
    return part == Part::scale ? answer.scale.bits : folded(answer.elements);
}

std::string witness_of(const Setting& setting, std::string_view field,
                       const std::vector<Quantizer>& values, std::span<const Answer> answers) {
    for (const Answer& answer : answers) {
        if (!against(setting, values.front(), answer).empty()) continue;
        for (std::size_t other = 1; other < values.size(); ++other) {
            const std::string text = against(setting, values[other], answer);
            if (!text.empty())
                return text + " as " + field_named(field).value_of(values[other]) +
                       " would have it";
        }
    }
    return "";
}

Unexplained unexplained_by(const Setting& setting, const Quantizer& dialect,
                           std::span<const Answer> answers) {
    Unexplained found;
    found.of = answers.size();
    for (const Answer& answer : answers) {
        const std::string text = against(setting, dialect, answer);
        if (text.empty()) continue;
        if (is_open(setting, dialect, answer))
            ++found.open;
        else if (found.blocks++ == 0)
            found.witness = text;
    }
    return found;
}

std::string common_offset(const Setting& setting, const Quantizer& dialect,
                          std::span<const Answer> answers) {
    std::optional<int> offset;
    for (const Answer& answer : answers) {
        const int expected = static_cast<int>(predicted_scale(setting, dialect, answer.lanes).bits);
        const int actual = static_cast<int>(answer.scale.bits);
        if (expected < 16 || expected > 238) continue;
        if (offset && *offset != actual - expected) return "";
        offset = actual - expected;
    }
    if (!offset || *offset == 0) return "";
    return "every ordinary scale is " + std::to_string(*offset < 0 ? -*offset : *offset) +
           (*offset < 0 ? " below" : " above") + " that of " + std::string(dialect.name);
}

std::string partial_text(const Setting& setting, const Quantizer& dialect,
                         std::span<const Answer> answers, std::size_t count) {
    const std::string lanes = "a block of " + std::to_string(count) + " lanes";
    if (answers.empty()) return lanes + " is not supported";
    const Answer& answer = answers.front();
    const bool scale_follows = predicted_scale(setting, dialect, answer.lanes) == answer.scale;
    bool elements_follow = true;
    for (std::size_t lane = 0; lane < count; ++lane)
        elements_follow = elements_follow && predicted_element(setting, dialect, answer, lane) ==
                                                 answer.elements[lane];
    if (scale_follows && elements_follow) return lanes + " is quantized from the lanes that exist";
    return lanes +
           " is not quantized as its lanes alone would be: " + against(setting, dialect, answer);
}

}  // namespace mx::identify
