// See dressed_row.hpp.
#include "conformance/identify/test/dressed_row.hpp"

#include <cstring>

#include "conformance/run/expected.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::identify {
namespace {

CodeTensor tensor_of(const InputTensor& input) {
    CodeTensor tensor = make_tensor(input.spec.type, input.spec.rows, input.spec.columns);
    std::memcpy(tensor.bytes.data(), input.data.data(), tensor.bytes.size());
    return tensor;
}

DeviceAnswer answer_of(const std::vector<CodeTensor>& outputs) {
    DeviceAnswer answer;
    answer.kind = AnswerKind::answered;
    for (const CodeTensor& output : outputs) {
        answer.outputs.emplace_back();
        answer.outputs.back().bytes = output.bytes;
        answer.outputs.back().flags.resize(output.count());
    }
    return answer;
}

}  // namespace

Client dressed_row(const Quantizer& row, RowFault fault) {
    return {.ask = [&row, fault](const Question& question) {
        for (const TensorSpec& output : question.outputs)
            if (output.layout != "strided")
                return DeviceAnswer{AnswerKind::not_supported, "plain tensors alone", {}, {}};
        const Operation& asked = question.operation;
        std::vector<CodeTensor> inputs;
        for (const InputTensor& input : question.inputs) inputs.push_back(tensor_of(input));
        Case c;
        c.operation = OperationKind::quantize;
        c.format = find_block_format(asked.format);
        c.dialect = &row;
        c.type = *find_element_format(inputs[0].type);
        c.axis = find_named(block_axes, asked.axis)->second;
        c.block = asked.block_size;
        c.rows = inputs[0].rows;
        c.columns = inputs[0].columns;
        if (asked.tensor_scale == "given") c.tensor_number = inputs[1].at(0);
        std::vector<CodeTensor> outputs = expect(c, inputs);
        if (fault) fault(c, outputs);
        return answer_of(outputs);
    }};
}

}  // namespace mx::identify
