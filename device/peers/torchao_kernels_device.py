"""torchao's Triton kernels on a GPU as a device: MXFP8, FP8 in lines and in tiles, a product.

torchao makes the MXFP8 kernels for compute capability 10.0 and above alone. The one for the floor
mode has no instruction of it and runs on any GPU, so the question for it is answered yes here.
"""

import torch
import torchao
import torchao.utils
from peer import Peer, place

torchao.utils.is_sm_at_least_100 = lambda: True
from torchao.prototype.blockwise_fp8_training import kernels as blockwise
from torchao.prototype.mx_formats import kernels as mx

for kernel in [*vars(blockwise).values(), mx.to_mxfp8_dim0_kernel]:
    if hasattr(kernel, "configs"):  # else all would be compiled, to choose the fastest
        kernel.configs = kernel.configs[:1]


def mxfp8(lines):
    return mx.triton_to_mxfp8_dim0(lines.to(place()), 32, "floor")


def tiles(matrix):
    codes, scales = blockwise.triton_fp8_blockwise_weight_quant_rhs(matrix.to(place()))
    return codes.contiguous(), scales.contiguous()


def lines(values):
    codes, scales = blockwise.triton_fp8_blockwise_act_quant_lhs(values.to(place()))
    return codes, scales.flatten()


def product(a, a_scales, b, b_scales):
    a, b = (codes.to(place()).view(torch.float8_e4m3fn) for codes in (a, b))
    a_scales = a_scales.to(place()).t().contiguous().t()
    b_scales = b_scales.to(place()).t().contiguous()
    if len(b) == 1:  # one row of B: scales of 1x128 are those of 128x128, for which it has a kernel
        return blockwise.triton_fp8_gemm_1x128_128x128(a, b.t(), a_scales, b_scales)
    return blockwise.triton_fp8_gemm_1x128_128x1(a, b.t(), a_scales, b_scales, 128, torch.float32)


peer = Peer("torchao's Triton kernels", "Meta, PyTorch", torchao.__version__, tensors=torch)
peer.quantize("mxfp8-e4m3", "torchao-floor-legacy", mxfp8, ("bf16",))
peer.quantize_matrix("fp8-e4m3-128x128", "torchao-fp8-block", tiles, ("f32", "bf16"))
peer.quantize("fp8-e4m3-1x128", "torchao-fp8-block", lines, ("f32", "bf16"))
peer.gemm("e4m3:1x128", "e4m3:1x128", product)
if __name__ == "__main__":
    peer.serve()
