"""microxcaling's quantization in Python as a device: mx/mx_ops.py with round = nearest.

The library returns values. What its _quantize_mx does between the two functions that compute, the
limits of the exponent and the division, is repeated here line for line, so that the shared exponent
can be read; each block is then asked of _quantize_mx itself, and a product of scale and element
that is not its value ends the request. Neural Compressor has a copy of these functions.
"""

import torch
from peer import BLOCK, FORMATS, NotSupported, Peer, codes_of_values

# Its int8 ends at 127/64 on both sides.
ALL_FORMATS = FORMATS | {"mxint8-symmetric": "int8"}


def quantizer(library, block_format):
    element = ALL_FORMATS[block_format]
    name = "int8" if element == "int8" else f"fp{block_format[4]}_{element}"
    exponent_bits, mantissa_bits, emax, largest, _ = library.format_params(name)

    def quantized(blocks):
        exponents = library.shared_exponents(blocks, method="max", axes=[1], ebits=0) - emax
        exponents[exponents > 127] = float("NaN")
        exponents[exponents < -127] = -127
        elements = library.elements(blocks / 2**exponents, mantissa_bits, exponent_bits, largest,
                                    round="nearest", allow_denorm=True, saturate_normals=True)
        whole = library.quantize(blocks.clone(), 8, name, axes=[1], block_size=BLOCK)
        same = (elements * 2**exponents).view(torch.int32) == whole.view(torch.int32)
        if not torch.all(same | torch.isnan(whole)):
            raise NotSupported("scale times element is not what _quantize_mx returns")
        scales = torch.where(torch.isnan(exponents), 255, exponents + 127).to(torch.uint8)
        return codes_of_values(elements.numpy(), element), scales

    return quantized


def serve_library(library, peer, block_formats=FORMATS):
    for block_format in block_formats:
        peer.quantize(block_format, "microxcaling", quantizer(library, block_format))
    peer.serve()


if __name__ == "__main__":
    from mx import elemwise_ops, formats, mx_ops

    class Library:
        format_params = staticmethod(formats._get_format_params)
        shared_exponents = staticmethod(mx_ops._shared_exponents)
        elements = staticmethod(elemwise_ops._quantize_elemwise_core)
        quantize = staticmethod(mx_ops._quantize_mx)

    serve_library(Library, Peer("microxcaling", "Microsoft", "1.1", tensors=torch), ALL_FORMATS)
