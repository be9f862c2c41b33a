"""vLLM's compressed-tensors as a device: generate_mx_scales and round_to_quantized_type_args.

The library keeps a scale as a number on a logarithmic scale, not as a byte; one outside a byte
ends the request. Between the two functions it divides by 2^(scale - 127), which is repeated here.
"""

import torch
from compressed_tensors.quantization import QuantizationArgs
from compressed_tensors.quantization.quant_args import (
    FP4_E2M1_DATA, FP6_E2M3_DATA, FP8_E4M3_DATA, round_to_quantized_type_args)
from compressed_tensors.quantization.utils.mxfp_utils import generate_mx_scales
from peer import FORMATS, NotSupported, Peer, codes_of_values, version_of

TYPES = {"mxfp4-e2m1": (4, FP4_E2M1_DATA), "mxfp6-e2m3": (6, FP6_E2M3_DATA),
         "mxfp8-e4m3": (8, FP8_E4M3_DATA)}


def scale_bytes(amax, bits):
    scales = generate_mx_scales(amax.clone(), bits).float()
    if not torch.all((scales >= 0) & (scales <= 254)):
        raise NotSupported("a scale outside a byte, which the library leaves to a later conversion")
    return scales.to(torch.uint8)


def quantizer(block_format):
    bits, data = TYPES[block_format]
    arguments = QuantizationArgs(num_bits=bits, type="float", strategy="group", group_size=32)

    def quantized(blocks):
        scales = scale_bytes(blocks.abs().amax(dim=1), bits)
        quotients = blocks / 2.0 ** (scales.float()[:, None] - 127)
        limits = (torch.tensor(data.min), torch.tensor(data.max))
        elements = round_to_quantized_type_args(quotients, arguments, *limits)
        return codes_of_values(elements.numpy(), FORMATS[block_format]), scales

    return quantized


def scaler(block_format):
    return lambda amax: scale_bytes(amax, TYPES[block_format][0])


peer = Peer("compressed-tensors", "vLLM", version_of("compressed-tensors"), tensors=torch)
for block_format in TYPES:
    # Of E2M3 the amax keeps three bits of its mantissa, as torchao's EVEN has it.
    dialect = "torchao-even" if block_format == "mxfp6-e2m3" else "compressed-tensors"
    peer.quantize(block_format, dialect, quantizer(block_format))
    peer.encode_scale(block_format, dialect, scaler(block_format), ("f32", "bf16"))
if __name__ == "__main__":
    peer.serve()
