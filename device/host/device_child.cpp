// The loop of the child process: one request, one call of the table, one answer.
// Used by IsolatedDevice only; sees no expected bits and judges nothing.
#include "device/host/device_child.hpp"

#include <new>
#include <optional>
#include <string>
#include <vector>

#include "device/host/device.hpp"
#include "device/host/protocol.hpp"

namespace mx {

namespace {

std::vector<TensorSpec> specs_of(const std::vector<PlacedSpec>& placed) {
    std::vector<TensorSpec> specs;
    for (const PlacedSpec& tensor : placed) specs.push_back(tensor.spec);
    return specs;
}

std::vector<TensorBuffer> buffers_of(const std::vector<PlacedSpec>& placed,
                                     const SharedMemory& memory) {
    std::vector<TensorBuffer> buffers;
    for (const PlacedSpec& tensor : placed) {
        buffers.push_back({tensor.spec, memory.bytes().data() + tensor.offset});
    }
    return buffers;
}

CallResult algorithms_of(Device& device, const Request& request) {
    const auto names =
        device.algorithms(request.operation, {specs_of(request.inputs), specs_of(request.outputs)});
    if (!names) return {MX_FAILED, names.error().message};
    std::string lines;
    for (std::size_t i = 0; i < names.value().size(); ++i)
        lines += (i == 0 ? "" : "\n") + names.value()[i];
    return {MX_OK, lines};
}

CallResult answer(Device& device, const Request& request, SharedMemory& memory) {
    if (request.command == Command::supports) {
        return device.supports(request.operation,
                               {specs_of(request.inputs), specs_of(request.outputs)});
    }
    if (request.command == Command::algorithms) return algorithms_of(device, request);
    if (!memory.map(request.memory_size)) {
        return {MX_OUT_OF_MEMORY, "the device's process cannot map its tensors"};
    }
    return device.run(request.operation,
                      {buffers_of(request.inputs, memory), buffers_of(request.outputs, memory)});
}

}  // namespace

void serve_device(const DeviceSource& source, ParentChannel parent, SharedMemory& memory) {
    Expected<Device> opened = Device::open(source);
    const Expected<Facts> facts =
        opened ? Expected<Facts>(opened.value().facts()) : Expected<Facts>(opened.error());
    if (!parent.send(encode(facts)) || !opened) return;
    for (;;) {
        const std::optional<Request> request = decode_request(parent.receive());
        if (!request) return;  // the end of the channel reads as "", which is no request
        if (!parent.send(encode(answer(opened.value(), *request, memory)))) return;
    }
}

}  // namespace mx
