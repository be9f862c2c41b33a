// What happened to the lanes of blocks that were quantized. Used by whatever makes quantized
// tensors; makes no bits itself.
#pragma once

#include "conformance/emulate/quantize_tensor.hpp"
#include "reference/fast/decode.hpp"
#include "reference/spec/quantizers.hpp"

namespace mx::emulate {

class BlockCounter {
public:
    BlockCounter(const Quantizer& rules, const BlockFormat& format, QuantizeCounts& counts)
        : rules_(rules), format_(format), counts_(counts) {}

    void add_scale(Code scale);
    // The lane as it was before the dialect read it.
    void add_element(Code scale, const fast::Unpacked& lane, Code element);

private:
    bool is_beyond(const fast::Unpacked& scaled) const;

    const Quantizer rules_;
    const BlockFormat& format_;
    QuantizeCounts& counts_;
};

}  // namespace mx::emulate
