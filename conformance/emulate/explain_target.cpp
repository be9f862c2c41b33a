// See explain_target.hpp.
#include "conformance/emulate/explain_target.hpp"

#include "conformance/case/names.hpp"
#include "conformance/emulate/parse_value.hpp"
#include "conformance/run/expected.hpp"
#include "reference/exact/decode.hpp"
#include "reference/problem/problem.hpp"
#include "reference/spec/formats.hpp"

namespace mx::emulate {
namespace {

// An amax is a magnitude: a file may hold negative numbers, which no block can have as its amax.
Status check_amax(const ExplainTarget& target) {
    const ElementFormat& format = target.c.type;
    for (const Code lane : target.lanes)
        if (format.is_negative(lane) && !format.is_nan(lane))
            return bad_input("the case asks for the scale of the amax " +
                             exact::to_text(exact::decode(format, lane)) +
                             ", but no amax is negative");
    return success();
}

// A valid case whose right answer is known.
Status check_known(const Case& c) {
    if (const Status valid = check_combination(c); !valid) return valid;
    const std::string unknown = unknown_scale(c);
    return unknown.empty() ? success() : bad_input(unknown);
}

Expected<Case> side_of(const Case& c, const std::string& axis) {
    const std::span<const BlockAxis> axes = axes_of(c);
    if (axis.empty()) return along(c, axes.front());
    for (const BlockAxis side : axes)
        if (name_of(side) == axis) return along(c, side);
    return bad_input("the case has no blocks of axis " + axis + ", only of " +
                     (axes.size() > 1 ? "row and col" : std::string(name_of(axes.front()))));
}

struct WantedBlock {
    const Case& whole;
    std::uint64_t block;
};

// Of axis both a block holds what the tiles of the data have put there.
void add_lanes(ExplainTarget& target, const WantedBlock& wanted, const BlockSource& source,
               const BlockPlace& place) {
    if (target.c.axis != wanted.whole.axis) {
        const CodeTensor input = make_inputs(wanted.whole, source)[0];
        for (int lane = 0; lane < place.count; ++lane)
            target.lanes.push_back(Code{input.at(place.element(lane))});
        return;
    }
    const BlockData data = source.block(wanted.whole.index + wanted.block);
    target.scale = Code{data.scale};
    for (int lane = 0; lane < place.count; ++lane)
        target.lanes.push_back(Code{data.lanes[static_cast<std::size_t>(lane)]});
}

// The bits that decide the rounding of each lane, where they do.
void add_random_bits(ExplainTarget& target, const BlockSource& source, const BlockPlace& place) {
    const StochasticForm* form = stochastic_form_of(target.c);
    if (form == nullptr) return;
    const std::vector<CodeTensor> inputs = make_inputs(target.c, source);
    for (int lane = 0; lane < place.count; ++lane)
        target.random.push_back(
            random_bits_at(target.c, *form, inputs.back(), place.element(lane)));
}

// Does quantize find the number of the tensor in its values?
bool finds_tensor_number(const Problem& p) {
    return p.operation == OperationKind::quantize && has_tensor_number(p) && !p.tensor_number;
}

// Of typed values: they are the whole tensor, and half of all random bits are below theirs.
Status complete_real_scale(ExplainTarget& target) {
    Case& c = target.c;
    const BlockFormat& format = *c.format;
    const auto lanes = static_cast<std::int64_t>(target.lanes.size());
    const std::int64_t lanes_max = std::int64_t{format.block_rows} * format.block_columns;
    if (!format.is_whole_tensor() && lanes > lanes_max)
        return bad_input("a block of " + format_name(c) + " has " + std::to_string(lanes_max) +
                         " elements, not " + std::to_string(lanes));
    CodeTensor values = make_tensor(shape_of(c, Part::values));
    for (std::size_t i = 0; i < target.lanes.size(); ++i) values.set(i, target.lanes[i].bits);
    if (finds_tensor_number(c)) c.tensor_number = derived_amax(c, values);
    if (const StochasticForm* form = stochastic_form_of(c))
        target.random.assign(target.lanes.size(), {1u << (form->bits - 1), form->bits});
    target.title += " and the whole tensor";
    return success();
}

}  // namespace

Expected<ExplainTarget> target_of_case(const Case& whole, std::uint64_t block, Sources& sources,
                                       const std::string& axis) {
    if (is_gemm(whole))
        return bad_input(
            "a gemm has no block to explain; replay says what came of it, and the exact sum");
    if (const Status valid = check_known(whole); !valid) return valid.error();
    const auto side = side_of(whole, axis);
    if (!side) return side.error();
    const Case& c = side.value();
    const std::uint64_t count = static_cast<std::uint64_t>(block_grid(c).count());
    if (count == 0 || element_count(c) == 0)
        return bad_input("the case has no elements, so there is nothing to explain");
    if (block >= count)
        return bad_input("block " + std::to_string(block) + " does not exist: the case has " +
                         std::to_string(count) + (count == 1 ? " block" : " blocks") +
                         ", from 0 on");
    const auto source = sources.open(whole);
    if (!source) return source.error();
    const BlockPlace place = place_of(blocking_of(c), static_cast<std::int64_t>(block));
    ExplainTarget target;
    target.c = c;
    target.title = print(whole);
    if (count > 1)
        target.title += ", block " + std::to_string(block) + " of " + std::to_string(count);
    if (c.axis != whole.axis) target.title += " of axis " + std::string(name_of(c.axis));
    add_lanes(target, {whole, block}, *source.value(), place);
    add_random_bits(target, *source.value(), place);
    if (finds_tensor_number(c))
        target.c.tensor_number = derived_amax(c, make_inputs(whole, *source.value())[0]);
    if (c.operation == OperationKind::encode_scale)
        if (const Status fit = check_amax(target); !fit) return fit.error();
    return target;
}

Expected<ExplainTarget> target_of_values(const TypedValues& typed) {
    CaseWords words;
    words.operation = name_of(OperationKind::quantize);
    words.format = typed.format;
    words.dialect = typed.dialect;
    words.type = typed.input;
    words.rest.rows = 1;
    auto named = case_of(words);
    if (!named) return named.error();
    ExplainTarget target;
    target.c = std::move(named).value();
    Case& c = target.c;
    const auto values = parse_values(c.type, typed.values);
    if (!values) return values.error();
    c.columns = static_cast<std::int64_t>(values.value().size());
    if (const Status valid = check_known(c); !valid) return valid.error();
    for (const ParsedValue& value : values.value()) {
        target.lanes.push_back(value.code);
        target.input_notes.push_back(value.note);
    }
    target.title = "quantize format=" + format_name(c) + " dialect=" + dialect_name(c) +
                   " input=" + type_name(c) + ", " + std::to_string(c.columns) +
                   (c.columns == 1 ? " value" : " values") + " as one block";
    if (c.format->has_e8m0_scales()) return target;
    if (const Status fits = complete_real_scale(target); !fits) return fits.error();
    return target;
}

}  // namespace mx::emulate
