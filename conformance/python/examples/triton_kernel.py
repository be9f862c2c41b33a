"""A quantizer of MXFP8 and MXFP4 in Triton, with a bug that is easy to write, found and mended.

    python triton_kernel.py                       # on a GPU
    TRITON_INTERPRET=1 python triton_kernel.py    # Triton's interpreter, on a CPU

It is to give the bits of torchao's to_mx with floored scales. There the amax of a block is
torch.amax, and a NaN in the block makes the whole block NaN. In Triton `tl.max(tl.abs(x))` leaves
NaN out, as maxima on GPUs do, and the block gets the scale of its other values. Random values hold
no NaN; the suites do. Mended, the kernel takes the maximum of the bits: as integers, NaN is above
Inf, and Inf above every number.
"""

import torch
import triton
import triton.language as tl

import mxcheck as mx

# Of an element: its largest exponent, its smallest normal one, bits of its mantissa, its largest
# code, the place of its sign, and its code in a block of NaN.
ELEMENTS = {
    "mxfp8-e4m3": (8, -6, 3, 0x7E, 7, 0x7F),
    "mxfp8-e5m2": (15, -14, 2, 0x7B, 7, 0x7F),
    "mxfp4-e2m1": (2, 0, 1, 0x7, 3, 0x3),
}


@triton.jit
def quantize_blocks(
    values,
    codes,
    scales,
    blocks,
    EXPONENT_MAX: tl.constexpr,
    EXPONENT_MIN: tl.constexpr,
    MANTISSA_BITS: tl.constexpr,
    LARGEST: tl.constexpr,
    SIGN: tl.constexpr,
    POISONED: tl.constexpr,
    AMAX_OF_BITS: tl.constexpr,
    TILE: tl.constexpr,
):
    """Blocks of 32 values that lie one behind the other; TILE of them in each program."""
    block = tl.program_id(0) * TILE + tl.arange(0, TILE)
    place = block[:, None] * 32 + tl.arange(0, 32)[None, :]
    is_there = block < blocks
    x = tl.load(values + place, mask=is_there[:, None], other=0.0).to(tl.float32)
    bits = x.to(tl.int32, bitcast=True)
    if AMAX_OF_BITS:
        amax = tl.max(bits & 0x7FFFFFFF, axis=1)
    else:
        amax = tl.max(tl.abs(x), axis=1).to(tl.int32, bitcast=True)
    exponent = amax >> 23  # with its bias of 127, which is the scale's, too
    is_poisoned = exponent == 255
    scale = tl.where(is_poisoned, 255, tl.maximum(exponent - EXPONENT_MAX, 0))

    # Divided by the scale; then in units of the last place, which a floor and a tie make whole.
    inverse = (tl.where(is_poisoned, 127, 254 - scale) << 23).to(tl.float32, bitcast=True)
    magnitude = tl.where(is_poisoned[:, None], 0.0, tl.abs(x)) * inverse[:, None]
    binade = tl.maximum((magnitude.to(tl.int32, bitcast=True) >> 23) - 127, EXPONENT_MIN)
    units = magnitude * ((127 + MANTISSA_BITS - binade) << 23).to(tl.float32, bitcast=True)
    whole = units.to(tl.int32)
    rest = units - whole.to(tl.float32)
    is_up = (rest > 0.5) | ((rest == 0.5) & ((whole & 1) == 1))
    code = whole + is_up.to(tl.int32) + ((binade - EXPONENT_MIN) << MANTISSA_BITS)
    code = tl.minimum(code, LARGEST) | (((bits >> 31) & 1) << SIGN)
    code = tl.where(is_poisoned[:, None], POISONED, code)
    tl.store(codes + place, code.to(tl.uint8), mask=is_there[:, None])
    tl.store(scales + block, scale.to(tl.uint8), mask=is_there)


def quantizer(form, amax_of_bits=True):
    def quantize(x):
        if x.shape[1] % 32:
            raise NotImplementedError("whole blocks alone")
        rows, columns = x.shape
        codes = torch.empty(x.shape, dtype=torch.uint8, device=x.device)
        scales = torch.empty((rows, columns // 32), dtype=torch.uint8, device=x.device)
        blocks, tile = scales.numel(), 64
        if blocks:
            quantize_blocks[(triton.cdiv(blocks, tile),)](
                x.contiguous(), codes, scales, blocks, *ELEMENTS[form], amax_of_bits, tile
            )
        return codes, scales

    return quantize


def main():
    place = "cuda" if torch.cuda.is_available() else "cpu"
    x = torch.linspace(-3, 3, 4 * 64, device=place).reshape(4, 64)
    x[1, 7] = float("nan")
    for name, amax_of_bits in (("the maximum of values", False), ("the maximum of bits", True)):
        print(f"{name}:")
        try:
            codes, scales = quantizer("mxfp8-e4m3", amax_of_bits)(x)
            mx.assert_bits(x, codes, scales, format="mxfp8-e4m3", dialect="torchao-floor")
            print("  every bit is right")
        except AssertionError as failure:
            print("\n".join("  " + line[:160] for line in str(failure).splitlines()[:9]))


if __name__ == "__main__":
    main()
