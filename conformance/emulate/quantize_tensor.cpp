// See quantize_tensor.hpp.
#include "conformance/emulate/quantize_tensor.hpp"

#include "conformance/case/names.hpp"
#include "conformance/emulate/block_counter.hpp"
#include "conformance/emulate/stored_tensors.hpp"
#include "conformance/oracle/oracle_status.hpp"
#include "conformance/run/expected.hpp"
#include "reference/problem/problem.hpp"

namespace mx::emulate {
namespace {

// Counts what happened to one slice.
void count_slice(const Problem& p, const CodeTensor& input, const std::vector<CodeTensor>& outputs,
                 QuantizeCounts& counts) {
    const ElementFormat& type = p.type;
    BlockCounter counter(rules_of(p), *p.format, counts);
    const Blocking blocking = blocking_of(p);
    const std::int64_t blocks = block_grid(blocking).count();
    for (std::int64_t block = 0; block < blocks; ++block) {
        const BlockPlace place = place_of(blocking, block);
        const Code scale{outputs[1].at(static_cast<std::size_t>(block))};
        counter.add_scale(scale);
        for (int lane = 0; lane < place.count; ++lane) {
            const std::size_t at = place.element(lane);
            counter.add_element(scale, fast::unpack(type, Code{input.at(at)}),
                                Code{outputs[0].at(at)});
        }
    }
}

}  // namespace

Expected<QuantizedTensor> quantize_tensor(data::HostTensor tensor, const BlockNames& names,
                                          const std::string& program_version) {
    if (const Status sound = oracle_status(); !sound) return sound.error();
    const Status known = check_name("input type", tensor.type, type_names());
    if (!known) return known.error();
    if (const Status valid = check_names(names); !valid) return valid.error();
    const auto layout = layout_of(tensor.shape, {names.axis, std::stoll(names.block)});
    if (!layout) return layout.error();
    Problem p = problem_of_slice(names, layout.value(), OperationKind::quantize);
    p.type = *find_element_format(tensor.type);
    if (const Status valid = check_combination(p); !valid) return valid.error();
    if (const std::string unknown = unknown_scale(p); !unknown.empty())
        return Error{ErrorKind::bad_input, unknown};

    QuantizedTensor result;
    Codes codes;
    if (layout.value().slices > 1) {  // one slice is moved into place
        codes.elements.reserve(static_cast<std::size_t>(layout.value().elements()));
        codes.scales.reserve(static_cast<std::size_t>(layout.value().blocks()));
    }
    const std::int64_t slices = layout.value().is_empty() ? 0 : layout.value().slices;
    for (std::int64_t index = 0; index < slices; ++index) {
        std::vector<CodeTensor> inputs;
        inputs.push_back(take_slice(tensor.bytes, shape_of(p, Part::values), {index, slices}));
        std::vector<CodeTensor> outputs = expect(p, inputs);
        count_slice(p, inputs[0], outputs, result.counts);
        append(codes.elements, std::move(outputs[0].bytes));
        append(codes.scales, std::move(outputs[1].bytes));
    }
    tensor.bytes = {};
    result.file.tensors = store(std::move(codes), names, layout.value());
    result.file.metadata = metadata_of({names, tensor.type, tensor.shape}, program_version);
    return result;
}

}  // namespace mx::emulate
