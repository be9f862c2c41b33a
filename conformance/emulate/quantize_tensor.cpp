// See quantize_tensor.hpp.
#include "conformance/emulate/quantize_tensor.hpp"

#include "conformance/case/names.hpp"
#include "conformance/case/rules.hpp"
#include "conformance/emulate/block_layout.hpp"
#include "conformance/run/expected.hpp"
#include "reference/fast/block.hpp"

namespace mx::emulate {
namespace {

// Counts what happened to one slice. Saturation is what the other overflow mode would have shown.
class Counter {
public:
    Counter(const Case& c, QuantizeCounts& counts)
        : c_(c), format_(block_format_of(c)), input_(value_format_of(c)), rules_(rules_of(c)),
          counts_(counts) {}

    void add(const CodeTensor& input, const std::vector<CodeTensor>& outputs) {
        const BlockGrid grid = block_grid(c_);
        for (std::int64_t block = 0; block < grid.count(); ++block) {
            const BlockPlace place = place_of(c_, grid, block);
            const Code scale{outputs[1].at(static_cast<std::size_t>(block))};
            ++counts_.blocks;
            if (format_.scale().is_nan(scale)) ++counts_.nan_scales;
            for (int lane = 0; lane < place.count; ++lane) {
                const std::size_t at = place.first + static_cast<std::size_t>(lane) * place.step;
                add_element(scale, Code{input.at(at)}, Code{outputs[0].at(at)});
            }
        }
    }

private:
    void add_element(Code scale, Code input, Code element) {
        const ElementFormat& format = format_.element();
        ++counts_.elements;
        if (format.is_zero(element) && !input_.is_zero(input)) ++counts_.flushed;
        if ((element.bits & format.code_magnitude_mask()) != format.code_max_finite()) return;
        Dialect unbounded = rules_;
        unbounded.element_overflow = Overflow::overflow;
        const Code free =
            fast::quantize_element(unbounded, format_, scale, fast::unpack(input_, input));
        if (!(free == element)) ++counts_.saturated;
    }

    const Case& c_;
    const BlockFormat& format_;
    const ElementFormat& input_;
    const Dialect rules_;
    QuantizeCounts& counts_;
};

Case case_of(const BlockNames& names, const std::string& type, const BlockLayout& layout) {
    Case c;
    c.operation = "quantize";
    c.format = names.format;
    c.dialect = names.dialect;
    c.type = type;
    c.axis = names.axis;
    c.layout = "dense";
    c.rows = layout.rows;
    c.columns = layout.columns;
    c.data = std::string(file_prefix) + "tensor";
    return c;
}

void append(data::HostTensor& tensor, CodeTensor slice) {
    if (tensor.bytes.empty())
        tensor.bytes = std::move(slice.bytes);
    else
        tensor.bytes.insert(tensor.bytes.end(), slice.bytes.begin(), slice.bytes.end());
}

}  // namespace

Status check_names(const BlockNames& names) {
    return validate(case_of(names, std::string(input_types.front()), {}));
}

Expected<QuantizedTensor> quantize_tensor(data::HostTensor tensor, const BlockNames& names,
                                          const std::string& program_version) {
    const Status known = check_name("input type", tensor.type, type_names());
    if (!known) return known.error();
    const Status valid = check_names(names);
    if (!valid) return valid.error();
    const auto layout = layout_of(tensor.shape, names.axis);
    if (!layout) return layout.error();
    const Case c = case_of(names, tensor.type, layout.value());
    const std::string input_type = tensor.type;
    const std::string element_type(block_format_of(c).element().name);
    QuantizedTensor result;
    data::HostTensor elements{"elements", element_type, tensor.shape, {}};
    data::HostTensor scales{"scales", "e8m0", layout.value().scale_shape, {}};
    Counter counter(c, result.counts);
    const std::int64_t slices = layout.value().is_empty() ? 0 : layout.value().slices;
    for (std::int64_t index = 0; index < slices; ++index) {
        std::vector<CodeTensor> inputs{take_slice(tensor, {c.rows, c.columns, index, slices})};
        std::vector<CodeTensor> outputs = expect(c, inputs);
        counter.add(inputs[0], outputs);
        append(elements, std::move(outputs[0]));
        append(scales, std::move(outputs[1]));
    }
    result.file.tensors = {std::move(elements), std::move(scales)};
    result.file.metadata = {{"format", names.format},   {"dialect", names.dialect},
                            {"axis", names.axis},       {"block_size", std::to_string(block_size)},
                            {"input_type", input_type}, {"mxcheck_version", program_version}};
    return result;
}

}  // namespace mx::emulate
