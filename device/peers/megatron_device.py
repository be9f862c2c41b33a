"""Megatron-LM's MXFP8 kernel in Triton's interpreter on the CPU as a device: scales alone.

The interpreter's cast to FP8 does not round as a GPU's does, so the elements are not asked. One
block of 32 a row; the kernel stores the byte of row r at offset 512 (r / 128) + 16 (r % 32) +
4 (r / 32 % 4).
"""

import os

os.environ["TRITON_INTERPRET"] = "1"

import torch
from peer import BLOCK, Peer, module_of

kernel = module_of("megatron/core/inference/quantization/mxfp8_quantize.py")


def scales(amax):
    blocks = torch.zeros(amax.numel(), BLOCK, dtype=amax.dtype)
    blocks[:, 0] = amax
    tiles = -(-len(blocks) // 128)
    codes = torch.empty(blocks.shape, dtype=torch.float8_e4m3fn)
    stored = torch.zeros(512 * tiles, dtype=torch.uint8)
    kernel._mxfp8_quant_swizzle_kernel[(len(blocks),)](
        codes, stored, blocks, BLOCK, 1, REAL_GROUPS=1, BLOCK_K=BLOCK, BLOCK_GROUPS=1)
    row = torch.arange(len(blocks))
    return stored[512 * (row // 128) + 16 * (row % 32) + 4 * (row // 32 % 4)]


peer = Peer("Megatron's kernel in Triton's interpreter", "NVIDIA", "", tensors=torch)
peer.encode_scale("mxfp8-e4m3", "megatron-round-up", scales, ("f32", "bf16"))
if __name__ == "__main__":
    peer.serve()
