// See answers.hpp.
#include "conformance/emulate/answers.hpp"

#include "conformance/emulate/dialect_fields.hpp"
#include "conformance/emulate/number_text.hpp"
#include "conformance/run/site.hpp"
#include "reference/exact/block.hpp"
#include "reference/fast/block.hpp"
#include "reference/problem/problem.hpp"
#include "reference/spec/cast_formats.hpp"

namespace mx::emulate {
namespace {

template <typename Function>
Answers one_a_lane(const ExplainTarget& target, const Function& function) {
    Answers answers;
    for (std::size_t lane = 0; lane < target.lanes.size(); ++lane)
        answers.push_back({static_cast<int>(lane), function(target.lanes[lane], lane)});
    return answers;
}

Answers exact_block(const ExplainTarget& target, const Quantizer& rules) {
    const exact::Block block =
        exact::quantize_block(rules, *target.c.format, lane_values(target, rules));
    Answers answers{{lane_of_scale, block.scale}};
    for (const Code element : block.elements)
        answers.push_back({static_cast<int>(answers.size()) - 1, element});
    return answers;
}

Answers fast_block(const ExplainTarget& target, const Quantizer& rules) {
    std::vector<std::uint32_t> lanes;
    for (const Code lane : target.lanes) lanes.push_back(lane.bits);
    std::vector<std::uint8_t> elements(lanes.size());
    const Code scale = fast::quantize_block(rules, *target.c.format, target.c.type, lanes.data(),
                                            static_cast<int>(lanes.size()), elements.data());
    Answers answers{{lane_of_scale, scale}};
    for (std::size_t lane = 0; lane < lanes.size(); ++lane)
        answers.push_back({static_cast<int>(lane), Code{elements[lane]}});
    return answers;
}

// Two digits, or eight for a code of more than a byte.
std::string hex_bits(Code code) {
    return hex_code(code.bits < 0x100 ? formats::e8m0 : formats::f32, code);
}

std::string place_text(int lane) {
    return lane == lane_of_scale ? "the scale" : "lane " + std::to_string(lane);
}

}  // namespace

RandomBits random_of(const ExplainTarget& target, std::size_t lane) {
    return target.random.empty() ? RandomBits{} : target.random[lane];
}

std::vector<exact::Value> lane_values(const ExplainTarget& target, const Quantizer& rules) {
    std::vector<exact::Value> values;
    for (const Code lane : target.lanes)
        values.push_back(exact::read_input(rules.subnormals, input_format(target.c), lane));
    return values;
}

Answers exact_answers(const ExplainTarget& target, const Quantizer& rules) {
    const Case& c = target.c;
    if (c.operation == OperationKind::quantize) return exact_block(target, rules);
    const std::vector<exact::Value> values = lane_values(target, rules);
    return one_a_lane(target, [&](Code code, std::size_t lane) {
        if (casts_to_scale(c)) return exact::cast_to_scale(rules.scale_cast, values[lane]);
        const BlockFormat& format = *c.format;
        if (c.operation == OperationKind::dequantize)
            return exact::dequantize(format, c.type, target.scale, code);
        if (c.operation == OperationKind::encode_scale)
            return exact::encode_scale(rules, format, values[lane]);
        return exact::round_element(rules, format.element(), values[lane], random_of(target, lane));
    });
}

Answers fast_answers(const ExplainTarget& target, const Quantizer& rules) {
    const Case& c = target.c;
    if (c.operation == OperationKind::quantize) return fast_block(target, rules);
    return one_a_lane(target, [&](Code code, std::size_t lane) {
        const fast::Unpacked input = fast::read_input(rules.subnormals, input_format(c), code);
        if (casts_to_scale(c)) return fast::cast_to_scale(rules.scale_cast, input);
        const BlockFormat& format = *c.format;
        if (c.operation == OperationKind::dequantize)
            return fast::dequantize(format, c.type, target.scale, code);
        if (c.operation == OperationKind::encode_scale)
            return fast::encode_scale(rules, format, input);
        return fast::round_element(rules, format.element(), input, random_of(target, lane));
    });
}

const ElementFormat& answer_format(const ExplainTarget& target, const Answer& answer) {
    return output_format(target.c, answer.lane == lane_of_scale ? 1 : 0);
}

Quantizer rules_in(const ExplainTarget& target, const Quantizer& dialect) {
    Problem p = target.c;
    p.dialect = &dialect;
    return rules_of(p);
}

std::string disagreement_in(const OraclePair& oracles) {
    if (oracles.exact == oracles.fast) return "";
    MX_ASSERT_COMPARE(oracles.exact.size(), ==, oracles.fast.size());
    std::size_t at = 0;
    while (oracles.exact[at] == oracles.fast[at]) ++at;
    return place_text(oracles.exact[at].lane) + ": the exact oracle says " +
           hex_bits(oracles.exact[at].code) + ", the fast oracle " +
           hex_bits(oracles.fast[at].code);
}

namespace {

// Sets of more fields than this are too many to try.
constexpr std::size_t parting_fields_max = 4;

// All sets of so many of the fields with which `here` gives the answers that are wanted.
struct Search {
    const ExplainTarget& target;
    Answers wanted;
    std::vector<DialectField> differing;
    const Quantizer& there;
    std::vector<FieldNames> found = {};

    void try_sets(const Quantizer& mixed, const FieldNames& taken, std::size_t next,
                  std::size_t left) {
        if (left == 0 && fast_answers(target, mixed) == wanted) found.push_back(taken);
        for (std::size_t at = next; left > 0 && at + left <= differing.size(); ++at) {
            Quantizer more = mixed;
            differing[at].copy(more, there);
            FieldNames names = taken;
            names.push_back(differing[at].name);
            try_sets(more, names, at + 1, left - 1);
        }
    }
};

}  // namespace

std::vector<FieldNames> parting_fields(const ExplainTarget& target, const DialectPair& dialects) {
    const auto& [here, there] = dialects;
    Search search{target, fast_answers(target, there), {}, there};
    FieldNames all;
    for (const DialectField& field : dialect_fields())
        if (field.value_of(here) != field.value_of(there)) {
            search.differing.push_back(field);
            all.push_back(field.name);
        }
    if (fast_answers(target, here) == search.wanted) return {};
    for (std::size_t size = 1; size <= parting_fields_max; ++size) {
        search.try_sets(here, {}, 0, size);
        if (!search.found.empty()) return search.found;
    }
    return {all};
}

bool makes_them(const Case& c, const Quantizer& dialect) {
    return has_element_rules(c) ? makes_elements(dialect, *c.format) : dialect.quantizes(*c.format);
}

bool applies(const ExplainTarget& target, const Quantizer& dialect) {
    if (casts_to_scale(target.c)) return dialect.has_e8m0_scales();
    if (!makes_them(target.c, dialect)) return false;
    const bool reads_it =
        target.c.operation == OperationKind::dequantize || dialect.reads(target.c.type.name);
    return dialect.is_known() && reads_it;
}

}  // namespace mx::emulate
