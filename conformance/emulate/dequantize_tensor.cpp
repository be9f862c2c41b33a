// The way back. See quantize_tensor.hpp.
#include "conformance/case/fields.hpp"
#include "conformance/case/rules.hpp"
#include "conformance/emulate/block_layout.hpp"
#include "conformance/emulate/quantize_tensor.hpp"
#include "conformance/run/expected.hpp"

namespace mx::emulate {
namespace {

Error bad(std::string message) { return {ErrorKind::bad_input, std::move(message)}; }

std::string metadata_in(const data::TensorFile& file, std::string_view key) {
    for (const auto& [found, value] : file.metadata)
        if (found == key) return value;
    return "";
}

Expected<std::string> name_in(const data::TensorFile& file, const KeyValue& option) {
    const auto& [key, given] = option;
    const std::string carried = metadata_in(file, key);
    if (carried.empty() && given.empty())
        return bad("the file does not say its " + key + "; give --" + key);
    if (!carried.empty() && !given.empty() && carried != given)
        return bad("the file says " + key + " " + data::in_quotes(carried) + ", but --" + key +
                   " is " + data::in_quotes(given));
    return carried.empty() ? given : carried;
}

struct WantedTensor {
    std::string name;
    std::string_view type;
};

Expected<data::HostTensor> take_tensor(data::TensorFile& file, const WantedTensor& wanted) {
    const auto& [name, type] = wanted;
    for (data::HostTensor& tensor : file.tensors) {
        if (tensor.name != name) continue;
        if (tensor.type != type)
            return bad("tensor '" + name + "' is " + tensor.type + ", but the format needs " +
                       std::string(type));
        return std::move(tensor);
    }
    return bad("the file has no tensor '" + name + "'");
}

Case case_of(const BlockNames& names, const std::string& type, const BlockLayout& layout) {
    Case c;
    c.operation = "dequantize";
    c.format = names.format;
    c.dialect = names.dialect;
    c.type = type;
    c.axis = names.axis;
    c.layout = "dense";
    c.rows = layout.rows;
    c.columns = layout.columns;
    return c;
}

}  // namespace

Expected<BlockNames> names_in(const data::TensorFile& file, const BlockNames& given) {
    auto format = name_in(file, {"format", given.format});
    if (!format) return format.error();
    auto dialect = name_in(file, {"dialect", given.dialect});
    if (!dialect) return dialect.error();
    auto axis = name_in(file, {"axis", given.axis});
    if (!axis) return axis.error();
    const std::string size = metadata_in(file, "block_size");
    if (!size.empty() && size != std::to_string(block_size))
        return bad("the file says block_size " + data::in_quotes(size) + ", but blocks are of " +
                   std::to_string(block_size));
    return BlockNames{std::move(format).value(), std::move(dialect).value(),
                      std::move(axis).value()};
}

Expected<data::TensorFile> dequantize_tensor(data::TensorFile file, const BlockNames& names,
                                             const std::string& type) {
    const Status valid = validate(case_of(names, type, {}));
    if (!valid) return valid.error();
    const BlockFormat& format = *find_block_format(names.format);
    auto elements = take_tensor(file, {"elements", format.element().name});
    if (!elements) return elements.error();
    auto scales = take_tensor(file, {"scales", format.scale().name});
    if (!scales) return scales.error();
    const auto layout = layout_of(elements.value().shape, names.axis);
    if (!layout) return layout.error();
    if (scales.value().shape != layout.value().scale_shape)
        return bad("elements of shape " + data::shape_text(elements.value().shape) +
                   " and axis " + names.axis + " have scales of shape " +
                   data::shape_text(layout.value().scale_shape) + ", but the file's have " +
                   data::shape_text(scales.value().shape));
    const Case c = case_of(names, type, layout.value());
    const BlockGrid grid = block_grid(c);
    data::HostTensor values{"values", type, elements.value().shape, {}};
    const std::int64_t slices = layout.value().is_empty() ? 0 : layout.value().slices;
    for (std::int64_t index = 0; index < slices; ++index) {
        const std::vector<CodeTensor> inputs{
            take_slice(elements.value(), {c.rows, c.columns, index, slices}),
            take_slice(scales.value(), {grid.block_rows, grid.block_columns, index, slices})};
        const std::vector<CodeTensor> outputs = expect(c, inputs);
        values.bytes.insert(values.bytes.end(), outputs[0].bytes.begin(), outputs[0].bytes.end());
    }
    data::TensorFile result;
    result.tensors.push_back(std::move(values));
    return result;
}

}  // namespace mx::emulate
