"""ALTO's FP4 as a device: its kernel under UE5M3 scales, in Triton's interpreter, and the PyTorch
reference of its tests under E4M3 scales, which the interpreter rounds wrong.

Dialects "alto-nvfp4" and "alto-amdfp4" have a number of the tensor, which ALTO finds; those with
"-block" have none. ALTO keeps scales as binary32 numbers, which become codes here.
"""

import os

os.environ["TRITON_INTERPRET"] = "1"
import numpy as np
import torch
from peer import Peer, module_of, nibbles, package_of

for package in ("", ".kernels", ".kernels.fp4", ".kernels.fp4.nvfp4"):
    package_of("alto" + package.replace(".", "/"), "alto" + package)
from alto.kernels.fp4.fp4_common import ue5m3_ops
from alto.kernels.fp4.nvfp4 import nvfp_quantization

# The interpreter runs a kernel without the function around it, where these constants stand.
vars(ue5m3_ops).update({f"_{name}_PY": value for name, value in ue5m3_ops._UE5M3_CONSTS.items()})

reference = module_of("tests/unittest/nvfp4/utils.py")
SCALES = {"e4m3": (4, 3, 7, 0x7E), "ue5m3": (5, 3, 15, 0xFE)}


def values_of_scales(grid):
    """The value of every code from 0 to the largest."""
    _, mantissa_bits, bias, last = SCALES[grid]
    field, mantissa = np.divmod(np.arange(last + 1), 1 << mantissa_bits)
    parts = np.where(field == 0, mantissa, mantissa + (1 << mantissa_bits))
    return np.ldexp(parts.astype(np.float32), np.maximum(field, 1) - bias - mantissa_bits)


def codes_of_scales(scales, grid):
    table = values_of_scales(grid)
    scales = scales.numpy().reshape(-1)
    codes = np.minimum(np.searchsorted(table, scales), len(table) - 1)
    if not np.array_equal(table[codes], scales):
        raise ValueError("a scale that the library returned is no value of its type")
    return codes.astype(np.uint8)


def quantizer(grid):
    def quantized(blocks):
        codes, scales = converted(blocks, grid, None)
        return nibbles(codes), codes_of_scales(scales, grid)

    return quantized


def quantizer_of_tensor(grid):
    def quantized(lines):
        number = nvfp_quantization.compute_dynamic_outer_scale(lines, grid)
        codes, scales = converted(lines, grid, number)
        return nibbles(codes), codes_of_scales(scales, grid), number

    return quantized


def converted(values, grid, number):
    if grid == "e4m3":
        return reference.convert_to_nvfp4_pytorch(values, outer_scale=number, scale_format=grid)
    return nvfp_quantization.convert_to_nvfp4(
        values, outer_scale=number, update_outer_scale=False, scale_format=grid)


def decoder(grid):
    table = np.append(values_of_scales(grid), np.float32(np.nan))

    def values(codes, scales):
        packed = codes[:, 0::2] | codes[:, 1::2] << 4
        numbers = torch.from_numpy(table[scales.numpy()])
        return nvfp_quantization.convert_from_nvfp4(packed.contiguous(), numbers,
                                                    scale_format=grid)

    return values


peer = Peer("ALTO", "AMD", "74e251d", tensors=torch)
for block_format, dialect, grid in (("nvfp4", "alto-nvfp4", "e4m3"),
                                    ("fp4-ue5m3-1x16", "alto-amdfp4", "ue5m3")):
    peer.quantize(block_format, dialect + "-block", quantizer(grid), ("f32", "bf16"))
    peer.quantize_tensor(block_format, dialect, quantizer_of_tensor(grid), ("f32", "bf16"))
    peer.dequantize(block_format, dialect + "-block", decoder(grid))
if __name__ == "__main__":
    peer.serve()
