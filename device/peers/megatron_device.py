"""Megatron-LM's MXFP8 kernel in Triton as a device: in its interpreter, or `--on cuda`.

The interpreter's cast to FP8 does not round as a GPU's does, so it is asked for scales alone. One
block of 32 a row; the kernel stores the byte of row r at offset 512 (r / 128) + 16 (r % 32) +
4 (r / 32 % 4).
"""

from peer import BLOCK, Peer, interpret_on_cpu, is_on_gpu, module_of, place

interpret_on_cpu()
import torch

kernel = module_of("megatron/core/inference/quantization/mxfp8_quantize.py")


def quantized(blocks):
    blocks = blocks.to(place())
    tiles = -(-len(blocks) // 128)
    codes = torch.empty(blocks.shape, dtype=torch.float8_e4m3fn, device=blocks.device)
    stored = torch.zeros(512 * tiles, dtype=torch.uint8, device=blocks.device)
    kernel._mxfp8_quant_swizzle_kernel[(len(blocks),)](
        codes, stored, blocks, BLOCK, 1, REAL_GROUPS=1, BLOCK_K=BLOCK, BLOCK_GROUPS=1)
    row = torch.arange(len(blocks))
    return codes, stored.cpu()[512 * (row // 128) + 16 * (row % 32) + 4 * (row // 32 % 4)]


def scales(amax):
    blocks = torch.zeros(amax.numel(), BLOCK, dtype=amax.dtype)
    blocks[:, 0] = amax
    return quantized(blocks)[1]


where = "" if is_on_gpu() else " in Triton's interpreter"
peer = Peer(f"Megatron's kernel{where}", "NVIDIA", "", tensors=torch)
peer.encode_scale("mxfp8-e4m3", "megatron-round-up", scales, ("f32", "bf16"))
if is_on_gpu():
    peer.quantize("mxfp8-e4m3", "megatron-round-up", quantized, ("f32", "bf16", "f16"))
if __name__ == "__main__":
    peer.serve()
