"""AMD Quark as a device: fake_quantize_mx in mode even, and the packed MXFP4 that it gives vLLM.

fake_quantize_mx returns values; the scale is that of even_round, which it calls, and the elements
are the values over the scale. The function of the packed path is taken out of its file, which
imports vLLM.
"""

import pathlib

import quark
import torch
from peer import (FORMATS, NotSupported, Peer, codes_of_values, function_of, nibbles,
                  version_of)
from quark.torch.kernel.hw_emulation.hw_emulation_interface import fake_quantize_mx
from quark.torch.quantization.config.type import Dtype
from quark.torch.quantization.utils import even_round

TYPES = {"mxfp8-e4m3": "fp8_e4m3", "mxfp8-e5m2": "fp8_e5m2", "mxfp6-e3m2": "fp6_e3m2",
         "mxfp6-e2m3": "fp6_e2m3", "mxfp4-e2m1": "fp4"}


def scale_bytes(amax, block_format):
    scales = even_round(amax, Dtype(TYPES[block_format]))
    exponents = torch.log2(scales)
    if not torch.equal(torch.exp2(exponents), scales):
        raise NotSupported("a scale that is no power of two")
    return (exponents + 127).to(torch.uint8), scales


def quantizer(block_format):
    def quantized(blocks):
        made, scales = scale_bytes(blocks.abs().amax(dim=1, keepdim=True), block_format)
        values = fake_quantize_mx(blocks.clone(), -1, 32, mx_element_dtype=TYPES[block_format])
        elements = values.double() / scales.double()
        return codes_of_values(elements.numpy(), FORMATS[block_format]), made

    return quantized


LINEAR = pathlib.Path(quark.__file__).parent / "online_quantization/vllm/quant_method/linear.py"
quant_to_ocp_mxfp4 = function_of(LINEAR, "_quant_to_ocp_mxfp4", torch=torch, OCP_MX_BLOCK_SIZE=32)


def packed(blocks):
    codes, scales = quant_to_ocp_mxfp4(blocks)
    return nibbles(codes), scales


peer = Peer("Quark", "AMD", version_of("amd-quark"), tensors=torch)
for block_format in TYPES:
    peer.quantize(block_format, "quark-even", quantizer(block_format))
    peer.encode_scale(block_format, "quark-even",
                      lambda amax, name=block_format: scale_bytes(amax, name)[0])
peer.quantize("mxfp4-e2m1", "quark-even-packed", packed, ("f32", "bf16"))
if __name__ == "__main__":
    peer.serve()
