"""Packed codes and laid-out scales, in Python's functions and under run."""

import importlib.util

import numpy
import pytest

import mxcheck as mx

MXFP8 = {"format": "mxfp8-e4m3", "dialect": "nv"}
MXFP4 = {"format": "mxfp4-e2m1", "dialect": "nv"}
NVFP4 = {"format": "nvfp4", "dialect": "te-nvfp4"}


def test_nibbles_and_six_bits_by_hand(x):
    plain = mx.quantize(x, **MXFP4)
    even, odd = plain.codes[:, ::2], plain.codes[:, 1::2]
    assert (mx.quantize(x, packing="low_first", **MXFP4).codes == even | odd << 4).all()
    assert (mx.quantize(x, packing="high_first", **MXFP4).codes == odd | even << 4).all()
    named = {"format": "mxfp6-e3m2", "dialect": "ocp"}
    codes = mx.quantize(x, **named).codes.reshape(64, 24, 4).astype("uint32")
    words = codes[..., 0] | codes[..., 1] << 6 | codes[..., 2] << 12 | codes[..., 3] << 18
    triples = numpy.stack([words >> 8 * byte & 255 for byte in range(3)], -1).reshape(64, 72)
    assert (mx.quantize(x, packing="six", **named).codes == triples).all()


def test_the_128x4_tiles_by_hand(x):
    plain, laid = mx.quantize(x, **MXFP8), mx.quantize(x, scale_layout="128x4", **MXFP8)
    assert (laid.codes == plain.codes).all() and laid.scales.shape == (128, 4)
    row, column = numpy.indices((64, 3))
    places = row % 32 * 16 + row // 32 * 4 + column
    assert (laid.scales.reshape(-1)[places] == plain.scales).all()
    assert laid.scales.sum() == plain.scales.sum(dtype="int64")  # the pads are 0


def test_the_128x4_tiles_of_columns_by_hand(x):
    plain = mx.quantize(x, axis=0, **MXFP8)  # 2 x 96 scales
    laid = mx.quantize(x, axis=0, scale_layout="128x4", **MXFP8)
    assert laid.scales.shape == (4, 128)
    row, column = numpy.indices((2, 96))
    places = column % 32 * 16 + column // 32 * 4 + row
    assert (laid.scales.reshape(-1)[places] == plain.scales).all()


SHAPES = [(64, 96), (33, 70), (130, 161), (0, 32), (1, 1)]
PLACES = [((3, 5, 64), -1), *((shape, axis) for shape in SHAPES for axis in (-1, 0))]


@pytest.mark.parametrize("shape, axis", PLACES, ids=str)
@pytest.mark.parametrize("scale_layout", ["linear", "128x4", "8x4", "32x8", "te-padded"])
@pytest.mark.parametrize("named, packing", [(MXFP8, "bytes"), (MXFP4, "low_first")], ids=str)
def test_there_and_back(shape, axis, scale_layout, named, packing):
    x = numpy.random.default_rng(1).normal(size=shape).astype("float32")
    right = mx.dequantize(mx.quantize(x, axis=axis, **named))
    q = mx.quantize(x, axis=axis, packing=packing, scale_layout=scale_layout, **named)
    assert (mx.dequantize(q) == right).all()
    laid = {"packing": packing, "scale_layout": scale_layout}
    flat = q.codes, q.scales if scale_layout == "linear" else q.scales.reshape(-1)
    again = mx.dequantize(*flat, axis=axis, shape=shape, **named, **laid)
    assert (again == right).all()
    mx.assert_bits(x, q, axis=axis, **named)
    mx.assert_bits(x, *flat, axis=axis, **named, **laid)


def test_inline_and_products(x):
    named = {**MXFP8, "packing": "inline"}
    q = mx.quantize(x, **named)
    plain = mx.quantize(x, **MXFP8)
    assert q.scales is None and q.codes.shape == (64, 99)
    assert (q.codes.reshape(64, 3, 33)[..., 32] == plain.scales).all()
    mx.assert_bits(x, q.codes, **named)
    assert (mx.dequantize(q.codes, **named) == mx.dequantize(plain)).all()
    laid = mx.quantize(x, scale_layout="128x4", **MXFP8)
    assert (mx.gemm(laid, plain) == mx.gemm(plain, plain)).all()
    four = mx.quantize(x, packing="low_first", scale_layout="128x4", **MXFP4)
    assert (mx.gemm(four, four) == mx.gemm(mx.quantize(x, **MXFP4), four)).all()


def test_nvfp4_and_torch(x):
    torch = pytest.importorskip("torch")
    laid = {"packing": "low_first", "scale_layout": "128x4"}
    q = mx.quantize(torch.from_numpy(x), **NVFP4, **laid)
    assert isinstance(q.codes, torch.Tensor) and q.codes.shape == (64, 48)
    assert q.scales.shape == (128, 8)
    typed = q.typed()
    if hasattr(torch, "float4_e2m1fn_x2"):
        assert typed.codes.dtype == torch.float4_e2m1fn_x2
    assert typed.scales.dtype == torch.float8_e4m3fn
    mx.assert_bits(torch.from_numpy(x), typed, **NVFP4)
    assert (mx.dequantize(typed) == mx.dequantize(mx.quantize(torch.from_numpy(x), **NVFP4))).all()


def message(*arguments, **named):
    with pytest.raises(AssertionError) as failure:
        mx.assert_bits(*arguments, **named)
    return str(failure.value)


def test_a_wrong_bit_in_a_layout_is_found_where_it_is(x):
    laid = {"packing": "low_first", "scale_layout": "128x4"}
    q = mx.quantize(x, **MXFP4, **laid)
    q.codes[7, 20] ^= 0x10  # the odd element of the pair
    assert "codes[7, 41]" in message(x, q, **MXFP4)
    q = mx.quantize(x, **MXFP4, **laid)
    q.scales.reshape(-1)[5 * 16 + 2] += 1
    assert "scales[5, 2]" in message(x, q, **MXFP4)


@pytest.mark.once
def test_another_layout_is_the_cause(x):
    x = numpy.resize(x, (128, 128))
    for packing, other in (("low_first", "high_first"), ("high_first", "low_first")):
        q = mx.quantize(x, packing=packing, **MXFP4)
        told = message(x, q.codes, q.scales, packing=other, **MXFP4)
        assert told.startswith(f"The bits are right, but they lie as packing='{packing}'")
    q = mx.quantize(x, **MXFP8)
    told = message(x, q.codes, q.scales, scale_layout="128x4", **MXFP8)
    assert "scale_layout='linear', and not as" in told.splitlines()[0]


@pytest.mark.parametrize("layout, held", [("128x4", True), ("8x4", True), ("te-padded", False)])
@pytest.mark.parametrize("axis", [0, 1])
def test_pads(x, layout, held, axis):
    q = mx.quantize(x[:33, :65], axis=axis, scale_layout=layout, **MXFP8)
    flat = q.scales.reshape(-1)
    plain = mx.quantize(x[:33, :65], axis=axis, **MXFP8)
    assert (plain.scales != 0).all()
    pad = numpy.flatnonzero(flat == 0)[-1] if held else None
    if held:
        flat[pad] = 9
        told = message(x[:33, :65], q, axis=axis, **MXFP8)
        assert "pads" in told and f"byte {pad}" in told
    else:
        flat[-1] ^= 9
        mx.assert_bits(x[:33, :65], q, axis=axis, **MXFP8)


@pytest.mark.parametrize(
    "form, packing, columns, byte, pads",
    [
        ("mxfp8-e4m3", "inline", 70, 66 + 6, 0x7F),
        ("mxfp8-e4m3", "inline", 70, 66 + 31, 0x01),
        ("mxfp4-e2m1", "inline", 69, 34 + 2, 0x70),
        ("mxfp6-e3m2", "inline", 69, 50 + 3, 0x40),
        ("mxfp4-e2m1", "low_first", 69, 34, 0x70),
        ("mxfp4-e2m1", "high_first", 69, 34, 0x07),
        ("mxfp6-e2m3", "six", 69, 51, 0xC0),
    ],
)
def test_pads_of_codes(x, form, packing, columns, byte, pads):
    values = x[:33, :columns]
    q = mx.quantize(values, format=form, dialect="ocp", packing=packing)
    mx.assert_bits(values, q)
    assert not (q.codes[:, byte] & pads).any()
    q.codes[5:, byte] |= pads
    told = message(values, q)
    assert told.startswith("The bits are right, but 28 bytes"), told
    assert f"byte {byte} of row 5" in told


@pytest.mark.once
@pytest.mark.parametrize("packing, form", [("inline", "mxfp8-e4m3"), ("six", "mxfp6-e2m3")])
@pytest.mark.parametrize("columns", [1, 31, 32, 33, 64, 70])
def test_every_other_bit_of_packed_codes_is_one_of_a_code_or_scale(packing, form, columns):
    values = numpy.random.default_rng(1).normal(size=(1, columns)).astype("float32")
    named = {"format": form, "dialect": "nv", "packing": packing}
    right = mx.quantize(values, **named)
    for bit in range(right.codes.size * 8):
        q = mx.quantize(values, **named)
        q.codes[0, bit // 8] ^= 1 << bit % 8
        message(values, q.codes, q.scales, **named)


def right(x, axis, block_size, format, dialect, packing, scale_layout):
    laid = {"packing": packing, "scale_layout": scale_layout}
    named = {"format": format, "dialect": dialect, "block_size": block_size}
    return mx.quantize(x, axis=axis, **named, **laid)


def back(codes, scales=None, *, axis, format, dialect, dtype, packing, scale_layout, shape):
    laid = {"packing": packing, "scale_layout": scale_layout, "shape": shape, "dtype": dtype}
    return mx.dequantize(codes, scales, format=format, dialect=dialect, axis=axis, **laid)


LAID = [
    ("mxfp8-e4m3", "bytes", "128x4"),
    ("mxfp4-e2m1", "low_first", "8x4"),
    ("mxfp4-e2m1", "high_first", "te-padded"),
    ("mxfp6-e3m2", "six", "32x8"),
    ("mxfp8-e4m3", "inline", "linear"),
]


def verdicts_but_bfloat16(run):
    """Without ml_dtypes NumPy has no bfloat16, and is not asked for it."""
    if importlib.util.find_spec("ml_dtypes"):
        return {case["verdict"] for case in run.cases}
    return {case["verdict"] for case in run.cases if "=bf16" not in case["case"]}


@pytest.mark.parametrize("name, packing, scale_layout", LAID)
def test_run(name, packing, scale_layout):
    laid = {"packing": packing, "scale_layout": scale_layout}
    run = mx.run(right, format=name, dialect="nv", level="quick", **laid)
    assert run.passed and run.code == 0, run.text
    assert verdicts_but_bfloat16(run) == {"pass_exact"} and len(run.cases) > 80
    assert all(f"scales={scale_layout} packing={packing}" in case["case"] for case in run.cases)
    run = mx.run(back, operation="dequantize", format=name, dialect="nv", level="quick", **laid)
    assert run.passed and run.code == 0, run.text
    assert verdicts_but_bfloat16(run) == {"pass_exact"}


def test_run_finds_an_unswizzled_scale_and_its_line_repeats_it():
    def linear(x):
        q = mx.quantize(x, **MXFP8)
        scales = numpy.zeros_like(mx.quantize(x, scale_layout="128x4", **MXFP8).scales)
        scales.reshape(-1)[: q.scales.size] = q.scales.reshape(-1)
        return q.codes, scales

    run = mx.run(linear, scale_layout="128x4", level="smoke", **MXFP8)
    assert run.code == 1, run.text
    line = next(line for line in run.text.splitlines() if "mxcheck.replay(linear, " in line)
    assert eval(line.strip(), {"mxcheck": mx, "linear": linear}).code == 1

    run = mx.run(lambda x: mx.quantize(x, **MXFP8), scale_layout="128x4", level="smoke", **MXFP8)
    assert any("in the layout 128x4 has" in case["reason"] for case in run.cases)


F32 = numpy.ones((4, 64), "float32")
GOOD = mx.quantize(F32, **MXFP8)
FOUR = {"packing": "low_first", **MXFP4}


@pytest.mark.parametrize(
    "call, told",
    [
        (lambda: mx.quantize(F32, packing="low_frst", **MXFP4), "did you mean 'low_first'"),
        (lambda: mx.quantize(F32, scale_layout="128x5", **MXFP8), "did you mean '128x4'"),
        (lambda: mx.quantize(F32, packing="low_first", **MXFP8), "codes of 4 bits"),
        (lambda: mx.quantize(F32, packing="six", **MXFP4), "codes of 6 bits"),
        (lambda: mx.quantize(F32, packing="inline", axis=0, **MXFP8), "last axis"),
        (
            lambda: mx.quantize(F32, packing="inline", scale_layout="8x4", **MXFP8),
            "holds the scales",
        ),
        (lambda: mx.quantize(F32.reshape(2, 2, 64), axis=1, **FOUR), "reshape"),
        (lambda: mx.quantize(F32.reshape(4, 8, 8), axis=0, **FOUR), "reshape"),
        (
            lambda: mx.quantize(
                F32, format="nvfp4-16x16", dialect="te-nvfp4", scale_layout="128x4"
            ),
            "along one axis",
        ),
        (
            lambda: mx.assert_bits(F32, *GOOD, scale_layout="128x4", **MXFP8),
            "512 are needed, as in shape (128, 4) with the pads",
        ),
        (lambda: mx.assert_bits(F32, *GOOD, packing="inline", **MXFP8), "leave them away"),
        (lambda: mx.dequantize(GOOD.codes, GOOD.scales, **FOUR), "scales has shape (4, 2)"),
        (lambda: mx.dequantize(GOOD.codes[:, :31], GOOD.scales, shape=(4, 64), **FOUR), "128"),
        (lambda: mx.run(right, scale_layout="128x4"), "name the format"),
        (lambda: mx.run(right, scale_layout="129x4", **MXFP8), "did you mean"),
        (lambda: mx.run(right, scale_layout="128x4", level="slow", **MXFP8), "slow"),
    ],
)
def test_a_sentence(call, told):
    with pytest.raises((ValueError, TypeError, mx.MxcheckError)) as failure:
        call()
    assert told in str(failure.value), str(failure.value)


def test_the_sizes_of_tiles_are_the_librarys():
    names = {entry["name"] for entry in mx.list("layouts") if "pads" in entry}
    from mxcheck import _layouts

    tiles = _layouts._tiles()
    assert {name.removesuffix("-col") for name in names} == set(tiles) - {"linear"}
    assert tiles["128x4"] == (128, 4) and tiles["8x4"] == (8, 4) and tiles["32x8"] == (32, 8)
