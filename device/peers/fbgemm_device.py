"""FBGEMM's MX4 as a device: py_quantize_mx4, its reference in PyTorch.

A group is 16 bytes of codes, the even element in the low half of its byte, and the scale's byte.
"""

import torch
from peer import Peer, nibbles, package_of

package_of("fbgemm_gpu/fbgemm_gpu/triton", "fbgemm_triton")
from fbgemm_triton import common, quantize_ref

MODES = {"fbgemm-floor": common.RoundingMode.floor, "fbgemm-even": common.RoundingMode.even,
         "fbgemm-ceil": common.RoundingMode.ceil}


def quantizer(mode):
    def quantized(blocks):
        made = quantize_ref.py_quantize_mx4(blocks.contiguous(), rounding_mode=mode)
        made = made.view(torch.uint8).reshape(-1, 17)
        return nibbles(made[:, :16]), made[:, 16]

    return quantized


peer = Peer("FBGEMM's py_quantize_mx4", "Meta", "", tensors=torch)
for dialect, mode in MODES.items():
    peer.quantize("mxfp4-e2m1", dialect, quantizer(mode))
if __name__ == "__main__":
    peer.serve()
