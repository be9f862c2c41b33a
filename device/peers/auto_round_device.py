"""AutoRound's quant_mx and quant_mx_rceil as a device.

They return the exponent of the scale, and the values; the elements are the values over the scale.
No row is AutoRound's: quant_mx is held to OCP's rule, quant_mx_rceil to that of Model-Optimizer.
"""

import torch
from auto_round.data_type.mxfp import quant_mx, quant_mx_rceil
from peer import FORMATS, Peer, codes_of_values, version_of

MODES = {"ocp": quant_mx, "model-optimizer": quant_mx_rceil}


def quantizer(block_format, function):
    element = FORMATS[block_format]
    data_type = f"mx_fp{block_format[4]}{element}"

    def quantized(blocks):
        values, exponents, _ = function(blocks, group_size=32, data_type=data_type)
        exponents = exponents.reshape(-1, 1)
        elements = values.double() / torch.pow(2.0, exponents.double())
        return codes_of_values(elements.numpy(), element), (exponents + 127).to(torch.uint8)

    return quantized


peer = Peer("AutoRound", "Intel", version_of("auto-round"), tensors=torch)
for block_format in FORMATS:
    for dialect, function in MODES.items():
        peer.quantize(block_format, dialect, quantizer(block_format, function))
if __name__ == "__main__":
    peer.serve()
