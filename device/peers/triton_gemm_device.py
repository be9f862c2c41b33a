"""Products of Triton on a GPU as a device: a kernel of `tl.dot`, and one of `tl.dot_scaled`."""

import torch
import triton
import triton.language as tl
from peer import Peer, place

BLOCK_M = BLOCK_N = BLOCK_K = 128
VALUES = {"bf16": torch.bfloat16, "f16": torch.float16, "e4m3": torch.float8_e4m3fn,
          "e5m2": torch.float8_e5m2}


@triton.jit
def dot(a, b, d, rows, columns, depth, block_m: tl.constexpr, block_n: tl.constexpr,
        block_k: tl.constexpr):
    m = tl.program_id(0) * block_m + tl.arange(0, block_m)
    n = tl.program_id(1) * block_n + tl.arange(0, block_n)
    sums = tl.zeros((block_m, block_n), dtype=tl.float32)
    for start in range(0, depth, block_k):
        k = start + tl.arange(0, block_k)
        x = tl.load(a + m[:, None] * depth + k[None, :],
                    mask=(m[:, None] < rows) & (k[None, :] < depth), other=0.0)
        y = tl.load(b + n[None, :] * depth + k[:, None],
                    mask=(n[None, :] < columns) & (k[:, None] < depth), other=0.0)
        sums = tl.dot(x, y, sums)
    tl.store(d + m[:, None] * columns + n[None, :], sums,
             mask=(m[:, None] < rows) & (n[None, :] < columns))


@triton.jit
def dot_scaled(a, a_scales, b, b_scales, d, rows, columns, depth, a_type: tl.constexpr,
               b_type: tl.constexpr, block_m: tl.constexpr, block_n: tl.constexpr,
               block_k: tl.constexpr):
    m = tl.program_id(0) * block_m + tl.arange(0, block_m)
    n = tl.program_id(1) * block_n + tl.arange(0, block_n)
    blocks = depth // 32
    sums = tl.zeros((block_m, block_n), dtype=tl.float32)
    for start in range(0, depth, block_k):
        k = start + tl.arange(0, block_k)
        at = start // 32 + tl.arange(0, block_k // 32)
        x = tl.load(a + m[:, None] * depth + k[None, :],
                    mask=(m[:, None] < rows) & (k[None, :] < depth), other=0)
        y = tl.load(b + n[None, :] * depth + k[:, None],
                    mask=(n[None, :] < columns) & (k[:, None] < depth), other=0)
        x_scales = tl.load(a_scales + m[:, None] * blocks + at[None, :],
                           mask=(m[:, None] < rows) & (at[None, :] < blocks), other=0)
        y_scales = tl.load(b_scales + n[:, None] * blocks + at[None, :],
                           mask=(n[:, None] < columns) & (at[None, :] < blocks), other=0)
        sums = tl.dot_scaled(x, x_scales, a_type, y, y_scales, b_type, sums)
    tl.store(d + m[:, None] * columns + n[None, :], sums,
             mask=(m[:, None] < rows) & (n[None, :] < columns))


def launched(kernel, a, b, operands, types=()):
    d = torch.empty(len(a), len(b), dtype=torch.float32, device=place())
    grid = triton.cdiv(len(a), BLOCK_M), triton.cdiv(len(b), BLOCK_N)
    shape = len(a), len(b), a.shape[1]
    kernel[grid](*operands, d, *shape, *types, BLOCK_M, BLOCK_N, BLOCK_K)
    return d


def plain(a_type, b_type):
    def made(a, b):
        a, b = a.to(place()).view(a_type), b.to(place()).view(b_type)
        return launched(dot, a, b, (a, b))

    return made


def under_one_scale(a_type, b_type):
    multiply = plain(a_type, b_type)
    return lambda a, a_scale, b, b_scale: multiply(a, b) * (a_scale * b_scale).to(place())


def scaled(a_type, b_type):
    def made(a, a_scales, b, b_scales):
        a, a_scales, b, b_scales = (one.to(place()) for one in (a, a_scales, b, b_scales))
        return launched(dot_scaled, a, b, (a, a_scales, b, b_scales), (a_type, b_type))

    return made


peer = Peer("Triton", "Triton", triton.__version__, tensors=torch)
for name in ("bf16", "f16"):
    peer.gemm(name, name, plain(VALUES[name], VALUES[name]))
for a in ("e4m3", "e5m2"):
    for b in ("e4m3", "e5m2"):
        peer.gemm(f"{a}:tensor", f"{b}:tensor", under_one_scale(VALUES[a], VALUES[b]))
        peer.gemm(f"mxfp8-{a}", f"mxfp8-{b}", scaled(a, b))
if __name__ == "__main__":
    peer.serve()
