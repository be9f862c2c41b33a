// See explain_target.hpp.
#include "conformance/emulate/explain_target.hpp"

#include "conformance/case/names.hpp"
#include "conformance/case/rules.hpp"
#include "conformance/emulate/parse_value.hpp"
#include "reference/exact/decode.hpp"
#include "reference/spec/formats.hpp"

namespace mx::emulate {
namespace {

Error bad(std::string message) {
    return {ErrorKind::bad_input, std::move(message)};
}

// An amax is a magnitude: a file may hold negative numbers, which no block can have as its amax.
Status check_amax(const ExplainTarget& target) {
    const ElementFormat& format = *find_element_format(target.c.type);
    for (const Code lane : target.lanes)
        if (format.is_negative(lane) && !format.is_nan(lane))
            return bad("the case asks for the scale of the amax " +
                       exact::to_text(exact::decode(format, lane)) + ", but no amax is negative");
    return success();
}

// A valid case whose right answer is known.
Status check_known(const Case& c) {
    if (const Status valid = validate(c); !valid) return valid;
    const std::string unknown = unknown_scale(c);
    return unknown.empty() ? success() : bad(unknown);
}

Expected<Case> side_of(const Case& c, const std::string& axis) {
    const std::vector<Case> sides = sides_of(c);
    if (axis.empty()) return sides.front();
    for (const Case& side : sides)
        if (side.axis == axis) return side;
    return bad("the case has no blocks of axis " + axis + ", only of " +
               (sides.size() > 1 ? "row and col" : sides.front().axis));
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
        target.random.push_back(random_bits_at(target.c, *form, inputs[1], place.element(lane)));
}

}  // namespace

Expected<ExplainTarget> target_of_case(const Case& whole, std::uint64_t block, Sources& sources,
                                       const std::string& axis) {
    if (is_gemm(whole))
        return bad(
            "a gemm has no block to explain; replay says what came of it, and the exact sum");
    if (const Status valid = check_known(whole); !valid) return valid.error();
    const auto side = side_of(whole, axis);
    if (!side) return side.error();
    const Case& c = side.value();
    const BlockGrid grid = block_grid(c);
    const std::uint64_t count = static_cast<std::uint64_t>(grid.count());
    if (count == 0) return bad("the case has no elements, so there is nothing to explain");
    if (block >= count)
        return bad("block " + std::to_string(block) + " does not exist: the case has " +
                   std::to_string(count) + (count == 1 ? " block" : " blocks") + ", from 0 on");
    const auto source = sources.open(whole);
    if (!source) return source.error();
    const BlockPlace place = place_of(c, grid, static_cast<std::int64_t>(block));
    ExplainTarget target;
    target.c = c;
    target.title = print(whole);
    if (count > 1)
        target.title += ", block " + std::to_string(block) + " of " + std::to_string(count);
    if (c.axis != whole.axis) target.title += " of axis " + c.axis;
    add_lanes(target, {whole, block}, *source.value(), place);
    add_random_bits(target, *source.value(), place);
    if (c.operation == "encode_scale")
        if (const Status fit = check_amax(target); !fit) return fit.error();
    return target;
}

Expected<ExplainTarget> target_of_values(const TypedValues& typed) {
    ExplainTarget target;
    Case& c = target.c;
    c.operation = "quantize";
    c.format = typed.format;
    c.dialect = typed.dialect;
    c.type = typed.input;
    c.axis = "row";
    c.layout = "dense";
    c.rows = 1;
    if (const Status valid = check_known(c); !valid) return valid.error();
    const auto values = parse_values(*find_element_format(c.type), typed.values);
    if (!values) return values.error();
    for (const ParsedValue& value : values.value()) {
        target.lanes.push_back(value.code);
        target.input_notes.push_back(value.note);
    }
    c.columns = static_cast<std::int64_t>(target.lanes.size());
    target.title = "quantize format=" + c.format + " dialect=" + c.dialect + " input=" + c.type +
                   ", " + std::to_string(c.columns) + (c.columns == 1 ? " value" : " values") +
                   " as one block";
    return target;
}

}  // namespace mx::emulate
