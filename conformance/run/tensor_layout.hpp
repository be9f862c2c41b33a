// The tensors of a problem as the buffers that a device sees, and back: which buffer holds what, in
// which layout, among which pads. Used by evidence and layout_guess; judges nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conformance/data/inputs.hpp"
#include "device/host/operation.hpp"

namespace mx {

// One buffer of a question. It holds the problem's tensor of that index; in layout "inline" also
// the next one, the scales. Where groups of a tensor's rows are to begin new tiles of a layout, the
// buffer has the rows that this takes, and `groups` says how many rows of the tensor each group
// has; rows of the tensor beyond these are not in the buffer.
struct Buffer {
    TensorSpec spec;
    std::size_t tensor = 0;
    std::size_t tensors = 1;
    std::vector<std::int64_t> groups = {};
};
std::vector<Buffer> input_buffers(const Problem& p);
std::vector<Buffer> output_buffers(const Problem& p);

// The tensors as bytes, `pad` in every byte and bit that holds none of their codes. For layouts
// that are not strided.
std::vector<std::byte> lay_out(const Buffer& buffer, std::span<const CodeTensor> tensors,
                               std::byte pad);

// A buffer as a device left it.
struct BufferBytes {
    std::span<const std::byte> bytes;
    std::span<const std::uint8_t> flags;  // one per byte, or none
};
struct BufferTensors {
    std::span<CodeTensor> tensors;               // of the right shapes already
    std::span<std::vector<std::uint8_t>> flags;  // one per element; of the right sizes already
};

// The inverse of lay_out. An element has the flags of the bytes it lies in.
void collect(const Buffer& buffer, const BufferBytes& from, const BufferTensors& to);

// Does the layout say that what holds no code is 0?
bool pads_are_zero(const TensorSpec& spec);

}  // namespace mx
