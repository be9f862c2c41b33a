"""Brevitas' MX quantizer of activations as a device: MXFloat8e4m3Act in a QuantIdentity.

It gives values and the scale of each block; the elements are the values over the scale. No row is
Brevitas': it is held to OCP's rule.
"""

import torch
from brevitas.nn import QuantIdentity
from brevitas.quant.mx_quant_ocp import MXFloat8e4m3Act
from peer import FORMATS, NotSupported, Peer, codes_of_values, version_of


def quantizer(block_format):
    layer = QuantIdentity(MXFloat8e4m3Act, group_dim=1, return_quant_tensor=True)
    layer.eval()

    def quantized(blocks):
        with torch.no_grad():
            made = layer(blocks)
            scales = made.scale.reshape(blocks.shape[0], -1)[:, :1].double()
            values = made.value.reshape(blocks.shape).double()
        exponents = torch.log2(scales)
        if not torch.equal(exponents, exponents.round()):
            raise NotSupported("a scale that is no power of two")
        codes = codes_of_values((values / scales).numpy(), FORMATS[block_format])
        return codes, (exponents + 127).clamp(0, 255).to(torch.uint8)

    return quantized


peer = Peer("Brevitas", "AMD", version_of("brevitas"), tensors=torch)
peer.quantize("mxfp8-e4m3", "ocp", quantizer("mxfp8-e4m3"))
if __name__ == "__main__":
    peer.serve()
