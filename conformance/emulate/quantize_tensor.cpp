// See quantize_tensor.hpp.
#include "conformance/emulate/quantize_tensor.hpp"

#include "conformance/case/names.hpp"
#include "conformance/case/rules.hpp"
#include "conformance/emulate/stored_tensors.hpp"
#include "conformance/run/expected.hpp"
#include "reference/fast/block.hpp"

namespace mx::emulate {
namespace {

// Is the magnitude in units, which no range has cut, larger than the other?
bool is_larger(const fast::Units& units, const fast::Unpacked& most) {
    const int top = fast::bit_width(units.count) + units.quantum;
    const int most_top = fast::bit_width(most.significand) + most.exponent;
    if (top != most_top) return top > most_top;
    const int shift = units.quantum - most.exponent;
    return shift > 0 ? units.count << shift > most.significand
                     : units.count > most.significand << -shift;
}

// Counts what happened to one slice.
class Counter {
public:
    Counter(const Case& c, QuantizeCounts& counts)
        : c_(c),
          format_(block_format_of(c)),
          input_(value_format_of(c)),
          rules_(rules_of(c)),
          counts_(counts) {}

    void add(const CodeTensor& input, const std::vector<CodeTensor>& outputs) {
        const BlockGrid grid = block_grid(c_);
        for (std::int64_t block = 0; block < grid.count(); ++block) {
            const BlockPlace place = place_of(c_, grid, block);
            const Code scale{outputs[1].at(static_cast<std::size_t>(block))};
            ++counts_.blocks;
            if (format_.scale().is_nan(scale)) ++counts_.nan_scales;
            for (int lane = 0; lane < place.count; ++lane) {
                const std::size_t at = place.element(lane);
                add_element(scale, Code{input.at(at)}, Code{outputs[0].at(at)});
            }
        }
    }

private:
    void add_element(Code scale, Code input, Code element) {
        const ElementFormat& format = format_.element();
        ++counts_.elements;
        if (format.is_zero(element) && !input_.is_zero(input)) ++counts_.flushed;
        if (format.magnitude(element) < format.code_max_finite()) return;
        const fast::Unpacked value = fast::read_input(rules_.subnormals, input_, input);
        if (is_beyond(fast::scaled(rules_, format_, scale, value))) ++counts_.saturated;
    }

    bool is_beyond(const fast::Unpacked& scaled) const {
        const ElementFormat& format = format_.element();
        if (scaled.kind != fast::Kind::finite) return scaled.kind == fast::Kind::infinity;
        if (scaled.significand == 0) return false;
        const Code most = scaled.negative ? format.negative(format.code_max_finite_negative())
                                          : format.positive(format.code_max_finite());
        return is_larger(fast::round_to_units(format, rules_.element_rounding, scaled),
                         fast::unpack(format, most));
    }

    const Case& c_;
    const BlockFormat& format_;
    const ElementFormat& input_;
    const Dialect rules_;
    QuantizeCounts& counts_;
};

}  // namespace

Expected<QuantizedTensor> quantize_tensor(data::HostTensor tensor, const BlockNames& names,
                                          const std::string& program_version) {
    const Status known = check_name("input type", tensor.type, type_names());
    if (!known) return known.error();
    if (const Status valid = check_names(names); !valid) return valid.error();
    const auto layout = layout_of(tensor.shape, {names.axis, std::stoll(names.block)});
    if (!layout) return layout.error();
    Case c = case_of_slice(names, layout.value(), "quantize");
    c.type = tensor.type;
    if (const Status valid = validate(c); !valid) return valid.error();
    if (const std::string unknown = unknown_scale(c); !unknown.empty())
        return Error{ErrorKind::bad_input, unknown};

    QuantizedTensor result;
    Codes codes;
    if (layout.value().slices > 1) {  // one slice is moved into place
        codes.elements.reserve(static_cast<std::size_t>(layout.value().elements()));
        codes.scales.reserve(static_cast<std::size_t>(layout.value().blocks()));
    }
    Counter counter(c, result.counts);
    const std::int64_t slices = layout.value().is_empty() ? 0 : layout.value().slices;
    for (std::int64_t index = 0; index < slices; ++index) {
        std::vector<CodeTensor> inputs;
        inputs.push_back(take_slice(tensor.bytes, shape_of(c, Part::values), {index, slices}));
        std::vector<CodeTensor> outputs = expect(c, inputs);
        counter.add(inputs[0], outputs);
        append(codes.elements, std::move(outputs[0].bytes));
        append(codes.scales, std::move(outputs[1].bytes));
    }
    tensor.bytes = {};
    result.file.tensors = store(std::move(codes), names, layout.value());
    result.file.metadata = metadata_of({names, tensor.type, tensor.shape}, program_version);
    return result;
}

}  // namespace mx::emulate
