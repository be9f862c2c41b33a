"""A product of MXFP8 by Triton's tl.dot_scaled, as a function for mx.run(operation="gemm")."""

import torch
import triton
import triton.language as tl

NAMES = {"mxfp8-e4m3": "e4m3", "mxfp8-e5m2": "e5m2"}


@triton.jit
def multiply(
    a,
    a_scales,
    b,
    b_scales,
    d,
    m,
    n,
    k,
    A_FORMAT: tl.constexpr,
    B_FORMAT: tl.constexpr,
    TILE: tl.constexpr,
    STEP: tl.constexpr,
):
    row = tl.program_id(0) * TILE + tl.arange(0, TILE)
    column = tl.program_id(1) * TILE + tl.arange(0, TILE)
    blocks = tl.cdiv(k, 32)
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for start in range(0, k, STEP):
        place = start + tl.arange(0, STEP)
        block = start // 32 + tl.arange(0, STEP // 32)
        is_a = (row[:, None] < m) & (place[None, :] < k)
        is_b = (column[None, :] < n) & (place[:, None] < k)
        is_a_scale = (row[:, None] < m) & (block[None, :] < blocks)
        is_b_scale = (column[:, None] < n) & (block[None, :] < blocks)
        left = tl.load(a + row[:, None] * k + place[None, :], mask=is_a, other=0)
        right = tl.load(b + column[None, :] * k + place[:, None], mask=is_b, other=0)
        of_left = tl.load(
            a_scales + row[:, None] * blocks + block[None, :], mask=is_a_scale, other=127
        )
        of_right = tl.load(
            b_scales + column[:, None] * blocks + block[None, :], mask=is_b_scale, other=127
        )
        total = tl.dot_scaled(left, of_left, A_FORMAT, right, of_right, B_FORMAT, total)
    is_there = (row[:, None] < m) & (column[None, :] < n)
    tl.store(d + row[:, None] * n + column[None, :], total, mask=is_there)


def gemm(a, a_scales, b, b_scales, a_format, b_format):
    (m, k), n = a.shape, b.shape[0]
    d = torch.empty((m, n), dtype=torch.float32, device=a.device)
    tile = 64
    grid = (triton.cdiv(m, tile), triton.cdiv(n, tile))
    multiply[grid](
        a, a_scales, b, b_scales, d, m, n, k, NAMES[a_format], NAMES[b_format], tile, 128
    )
    return d
