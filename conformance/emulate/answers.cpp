// See answers.hpp.
#include "conformance/emulate/answers.hpp"

#include <array>

#include "conformance/case/rules.hpp"
#include "conformance/emulate/dialect_fields.hpp"
#include "conformance/emulate/number_text.hpp"
#include "conformance/run/site.hpp"
#include "reference/exact/block.hpp"
#include "reference/fast/block.hpp"

namespace mx::emulate {
namespace {

template <typename Function>
Answers one_a_lane(const ExplainTarget& target, const Function& function) {
    Answers answers;
    for (const Code lane : target.lanes)
        answers.push_back({static_cast<int>(answers.size()), function(lane)});
    return answers;
}

Answers exact_block(const ExplainTarget& target, const Dialect& rules) {
    std::vector<exact::Value> values;
    for (const Code lane : target.lanes)
        values.push_back(exact::decode(value_format_of(target.c), lane));
    const exact::Block block =
        exact::quantize_block(rules, block_format_of(target.c), values);
    Answers answers{{lane_of_scale, block.scale}};
    for (const Code element : block.elements)
        answers.push_back({static_cast<int>(answers.size()) - 1, element});
    return answers;
}

Answers fast_block(const ExplainTarget& target, const Dialect& rules) {
    std::array<std::uint32_t, block_size> lanes{};
    std::array<std::uint8_t, block_size> elements{};
    for (std::size_t lane = 0; lane < target.lanes.size(); ++lane)
        lanes[lane] = target.lanes[lane].bits;
    const Code scale =
        fast::quantize_block(rules, block_format_of(target.c), value_format_of(target.c),
                             lanes.data(), static_cast<int>(target.lanes.size()), elements.data());
    Answers answers{{lane_of_scale, scale}};
    for (std::size_t lane = 0; lane < target.lanes.size(); ++lane)
        answers.push_back({static_cast<int>(lane), Code{elements[lane]}});
    return answers;
}

// Two digits, or eight for a code of more than a byte.
std::string hex(Code code) {
    return hex_code(code.bits < 0x100 ? formats::e8m0 : formats::f32, code);
}

std::string place_text(int lane) {
    return lane == lane_of_scale ? "the scale" : "lane " + std::to_string(lane);
}

}  // namespace

Answers exact_answers(const ExplainTarget& target, const Dialect& rules) {
    const Case& c = target.c;
    const BlockFormat& format = block_format_of(c);
    const ElementFormat& value = value_format_of(c);
    if (c.operation == "quantize") return exact_block(target, rules);
    return one_a_lane(target, [&](Code lane) {
        if (c.operation == "dequantize")
            return exact::dequantize(format, value, target.scale, lane);
        const exact::Value input = exact::decode(value, lane);
        if (c.operation == "encode_scale") return exact::encode_scale(rules, format, input);
        return exact::round_element(rules, format.element(), input);
    });
}

Answers fast_answers(const ExplainTarget& target, const Dialect& rules) {
    const Case& c = target.c;
    const BlockFormat& format = block_format_of(c);
    const ElementFormat& value = value_format_of(c);
    if (c.operation == "quantize") return fast_block(target, rules);
    return one_a_lane(target, [&](Code lane) {
        if (c.operation == "dequantize")
            return fast::dequantize(format, value, target.scale, lane);
        const fast::Unpacked input = fast::unpack(value, lane);
        if (c.operation == "encode_scale") return fast::encode_scale(rules, format, input);
        return fast::round_element(rules, format.element(), input);
    });
}

const ElementFormat& answer_format(const ExplainTarget& target, const Answer& answer) {
    return output_format(target.c, answer.lane == lane_of_scale ? 1 : 0);
}

Dialect rules_in(const ExplainTarget& target, const Dialect& dialect) {
    Case c = target.c;
    c.dialect = dialect.name;
    return rules_of(c);
}

std::string disagreement_in(const OraclePair& oracles) {
    if (oracles.exact == oracles.fast) return "";
    MX_ASSERT_COMPARE(oracles.exact.size(), ==, oracles.fast.size());
    std::size_t at = 0;
    while (oracles.exact[at] == oracles.fast[at]) ++at;
    return place_text(oracles.exact[at].lane) + ": the exact oracle says " +
           hex(oracles.exact[at].code) + ", the fast oracle " +
           hex(oracles.fast[at].code);
}

std::vector<std::string_view> parting_fields(const ExplainTarget& target,
                                             const DialectPair& dialects) {
    const auto& [here, there] = dialects;
    const Answers wanted = exact_answers(target, there);
    Dialect mixed = there;
    std::vector<std::string_view> parting;
    // Gives back one field after the other, and keeps those without which the answers change.
    for (const DialectField& field : dialect_fields()) {
        if (field.value_of(here) == field.value_of(there)) continue;
        field.copy(mixed, here);
        if (exact_answers(target, mixed) == wanted) continue;
        field.copy(mixed, there);
        parting.push_back(field.name);
    }
    return parting;
}

}  // namespace mx::emulate
