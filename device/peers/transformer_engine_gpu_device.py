"""TransformerEngine's C library on a GPU as a device: FP8 in blocks, current and delayed scaling.

The library is libtransformer_engine.so, compiled for this GPU, wherever it lies below the tree, as
its build leaves it or its package has it. MXFP8 and NVFP4 need compute capability 10.0.
"""

import ctypes
import os
import pathlib
import sys

import torch
from peer import Peer, place

DELAYED, BLOCK_1D, BLOCK_2D = 0, 2, 3  # NVTEScalingMode
PARTS = {"data": 0, "scale": 2, "amax": 3, "scale_inverse": 4}  # NVTETensorParam
FORCE_POWERS_OF_TWO = 0  # NVTEQuantizationConfigAttribute
TYPES = {torch.float32: 4, torch.float16: 5, torch.bfloat16: 6, torch.float8_e4m3fn: 7,
         torch.float8_e5m2: 8}
FP8 = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
INPUTS = ("f32", "bf16", "f16")

tree = pathlib.Path(os.environ.get("MX_PEER_TREE", "."))
found = next(tree.rglob("libtransformer_engine.so"), None)
if found is None:
    sys.exit(f"no libtransformer_engine.so lies below {tree}: build TransformerEngine there first")
library = ctypes.CDLL(str(found))
library.nvte_create_tensor.restype = ctypes.c_void_p
library.nvte_create_quantization_config.restype = ctypes.c_void_p


class Shape(ctypes.Structure):
    _fields_ = [("data", ctypes.c_size_t * 15), ("ndim", ctypes.c_size_t)]


class BasicTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int), ("shape", Shape)]


class Tensor:
    """Arrays under the library's name for them, until it goes."""

    def __init__(self, mode, **parts):
        self._as_parameter_ = ctypes.c_void_p(library.nvte_create_tensor(mode))
        for name, values in parts.items():
            shape = Shape((ctypes.c_size_t * 15)(*values.shape), values.dim())
            part = BasicTensor(values.data_ptr(), TYPES[values.dtype], shape)
            library.nvte_set_tensor_param_v2(self, PARTS[name], ctypes.byref(part),
                                             ctypes.c_size_t(ctypes.sizeof(part)))

    def __del__(self):
        library.nvte_destroy_tensor(self)


def config_of(is_power):
    made = ctypes.c_void_p(library.nvte_create_quantization_config())
    value = ctypes.c_uint8(is_power)
    library.nvte_set_quantization_config_attribute(made, FORCE_POWERS_OF_TWO, ctypes.byref(value),
                                                   ctypes.c_size_t(1))
    return made


CONFIGS = {is_power: config_of(is_power) for is_power in (False, True)}


def number(value=0.0):
    return torch.full((1,), value, dtype=torch.float32, device=place())


def padded(count):
    """The library stores lines of scales whose length is a multiple of 4."""
    return -(-count // 4) * 4


def in_blocks(mode, dtype, is_power):
    def quantized(values):
        values = values.to(place())
        rows, columns = values.shape
        across, down = -(-columns // 128), -(-rows // 128)
        shape = (across, padded(rows)) if mode == BLOCK_1D else (down, padded(across))
        codes = torch.zeros(values.shape, dtype=dtype, device=place())
        scales = torch.zeros(shape, dtype=torch.float32, device=place())
        library.nvte_quantize_v2(Tensor(DELAYED, data=values),
                                 Tensor(mode, data=codes, scale_inverse=scales),
                                 CONFIGS[is_power], None)
        torch.cuda.synchronize()
        return codes, scales[:, :rows].t() if mode == BLOCK_1D else scales[:, :across]

    return quantized


def whole(dtype, find_scale):
    """The tensor under one scale, which `find_scale` writes into the output tensor."""

    def quantized(values, *given):
        values = values.to(place())
        codes = torch.zeros(values.shape, dtype=dtype, device=place())
        amax, scale, inverse = number(), number(1.0), number()
        made = Tensor(DELAYED, data=codes, amax=amax, scale=scale, scale_inverse=inverse)
        source = Tensor(DELAYED, data=values)
        find_scale(source, made, scale, *given)
        library.nvte_quantize(source, made, None)
        torch.cuda.synchronize()
        return (codes, inverse, *given)

    return quantized


def current(is_power):
    def find_scale(values, made, _):
        library.nvte_compute_amax(values, made, None)
        library.nvte_compute_scale_from_amax(made, CONFIGS[is_power], None)

    return find_scale


def delayed(values, made, scale, given):
    scale.copy_(given.view(1))


peer = Peer("TransformerEngine's kernels", "NVIDIA", "", tensors=torch)
for element, dtype in FP8.items():
    for suffix, is_power in (("", False), ("-pow2", True)):
        peer.quantize_partial(f"fp8-{element}-1x128", "te-fp8-block" + suffix,
                              in_blocks(BLOCK_1D, dtype, is_power), INPUTS)
        peer.quantize_matrix(f"fp8-{element}-128x128", "te-fp8-block" + suffix,
                             in_blocks(BLOCK_2D, dtype, is_power), INPUTS)
        peer.quantize_matrix(f"fp8-{element}-tensor", "te-fp8-current" + suffix,
                             whole(dtype, current(is_power)), INPUTS)
    peer.quantize_given(f"fp8-{element}-tensor", "te-fp8-delayed", whole(dtype, delayed), INPUTS)
if __name__ == "__main__":
    peer.serve()
