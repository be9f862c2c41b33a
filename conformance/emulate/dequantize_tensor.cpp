// The way back. See quantize_tensor.hpp.
#include "conformance/case/names.hpp"
#include "conformance/emulate/quantize_tensor.hpp"
#include "conformance/emulate/stored_tensors.hpp"
#include "conformance/oracle/oracle_status.hpp"
#include "conformance/run/expected.hpp"
#include "reference/problem/problem.hpp"

namespace mx::emulate {

Expected<data::TensorFile> dequantize_tensor(data::TensorFile file, const QuantizedFacts& facts,
                                             const std::string& type) {
    if (const Status sound = oracle_status(); !sound) return sound.error();
    const Status known = check_name("type", type, type_names());
    if (!known) return known.error();
    const auto layout = layout_of(facts.shape, block_shape(facts.names));
    if (!layout) return layout.error();
    auto codes = load(file, facts.names, layout.value());
    if (!codes) return codes.error();
    Problem p = problem_of_slice(facts.names, layout.value(), OperationKind::dequantize);
    p.type = *find_element_format(type);

    data::HostTensor values{"values", type, facts.shape, {}};
    const std::int64_t slices = layout.value().is_empty() ? 0 : layout.value().slices;
    CodeTensor number = make_tensor(shape_of(p, Part::tensor_number));
    if (has_tensor_number(p)) {
        number.bytes = codes.value().tensor_number;
        p.tensor_number = number.at(0);
    }
    for (std::int64_t index = 0; index < slices; ++index) {
        const Slice slice{index, slices};
        std::vector<CodeTensor> inputs;
        inputs.push_back(take_slice(codes.value().elements, shape_of(p, Part::elements), slice));
        inputs.push_back(take_slice(codes.value().scales, shape_of(p, Part::scales), slice));
        if (has_tensor_number(p)) inputs.push_back(number);
        append(values.bytes, std::move(expect(p, inputs)[0].bytes));
    }
    data::TensorFile result;
    result.tensors.push_back(std::move(values));
    return result;
}

}  // namespace mx::emulate
