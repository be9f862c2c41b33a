"""FBGEMM's MX4 as a device: py_quantize_mx4, its reference in PyTorch, or `--on cuda` its kernel.

A group is 16 bytes of codes, the even element in the low half of its byte, and the scale's byte.
"""

import torch
from peer import BLOCK, Peer, is_on_gpu, nibbles, package_of, place

package_of("fbgemm_gpu/fbgemm_gpu/triton", "fbgemm_triton")
from fbgemm_triton import common, quantize_ref

MODES = {"fbgemm-floor": common.RoundingMode.floor, "fbgemm-even": common.RoundingMode.even,
         "fbgemm-ceil": common.RoundingMode.ceil}
if is_on_gpu():
    from fbgemm_triton import quantize

    name, quantize_mx4 = "FBGEMM's MX4 kernel", quantize.triton_quantize_mx4
else:
    name, quantize_mx4 = "FBGEMM's py_quantize_mx4", quantize_ref.py_quantize_mx4


def quantizer(mode):
    def quantized(blocks):
        made = quantize_mx4(blocks.contiguous().to(place()), rounding_mode=mode)
        made = made.view(torch.uint8).cpu().reshape(-1, BLOCK // 2 + 1)
        return nibbles(made[:, :-1]), made[:, -1]

    return quantized


peer = Peer(name, "Meta", "", tensors=torch)
for dialect, mode in MODES.items():
    peer.quantize("mxfp4-e2m1", dialect, quantizer(mode))
if __name__ == "__main__":
    peer.serve()
