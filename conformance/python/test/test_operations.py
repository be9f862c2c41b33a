"""The oracle on arrays: typed answers, axes, strides, libraries."""

import threading

import numpy
import pytest

import mxcheck as mx

E4M3 = {"format": "mxfp8-e4m3", "dialect": "nv"}


def raw(array):
    return numpy.asarray(array)


def test_typed_block():
    # amax 448 under a scale of 1: the values are codes of E4M3, 17 lies half way and goes to even.
    x = numpy.float32([448, 17, -0.0, 2**-9, 2**-10, 2**-10 * 1.5, 1.0625, 1.1875])
    q = mx.quantize(x, format="mxfp8-e4m3", dialect="ocp")
    assert q.scales.tolist() == [0x7F]
    assert q.codes.tolist() == [0x7E, 0x58, 0x80, 0x01, 0x00, 0x01, 0x38, 0x3A]
    y = mx.dequantize(q)
    assert y.tolist() == [448, 16, 0, 2**-9, 0, 2**-9, 1, 1.25]


def served():
    """(format, dialect, its entry) of every quantizer."""
    for entry in mx.list("dialects"):
        names = entry.get("quantizes", entry.get("formats", ""))
        for name in names.split(", "):
            if not name.startswith("nothing"):
                yield name, entry["name"], entry


@pytest.mark.parametrize("form, dialect, entry", [*served()], ids=lambda part: str(part)[:40])
def test_every_quantizer(x, form, dialect, entry):
    named = {"format": form, "dialect": dialect}
    decisions = entry.get("decisions", entry)
    if "stochastic" in decisions.get("element_rounding", ""):
        words = numpy.arange(x.size, dtype="uint32") * numpy.uint32(2654435761)
        named["random_bits"] = words.reshape(x.shape)
    if decisions.get("tensor_scale") == "history":
        named["tensor_scale"] = 0.25
    values = x
    try:
        q = mx.quantize(values, **named)
    except mx.NotSupported as refused:
        if "waits for a rule" in str(refused):
            pytest.skip(str(refused))
        assert "does not read input=f32" in str(refused)
        values = x.astype(pytest.importorskip("ml_dtypes").bfloat16)
        q = mx.quantize(values, **named)
    assert q.codes.shape == x.shape
    given = named.pop("tensor_scale", None)
    mx.assert_bits(values, q, given_tensor_scale=given, strict=True, **named)


@pytest.mark.parametrize("axis", [0, 1, 2, 3, -1, -2])
def test_blocks_along_any_axis_are_those_of_rows(x, axis):
    values = x.reshape(2, 32, 3, 32)
    q = mx.quantize(values, axis=axis, **E4M3)
    moved = numpy.ascontiguousarray(numpy.moveaxis(values, axis, -1))
    rows = mx.quantize(moved, **E4M3)
    assert (numpy.moveaxis(q.codes, axis, -1) == rows.codes).all()
    assert (numpy.moveaxis(q.scales, axis, -1) == rows.scales).all()
    assert (mx.dequantize(q) == numpy.moveaxis(mx.dequantize(rows), -1, axis)).all()


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[:, ::2],
        lambda x: x[::-1],
        lambda x: x[:, ::-1],
        lambda x: x.T,
        lambda x: numpy.broadcast_to(x[0], (5, 96)),
        lambda x: x[3:3],
        lambda x: x[:, :0],
        lambda x: x[:, :33],
        lambda x: x.reshape(4, 16, 96)[:, 3],
        lambda x: numpy.asfortranarray(x),
    ],
)
def test_views_are_quantized_like_their_copies(x, view):
    q = mx.quantize(view(x), **E4M3)
    copy = mx.quantize(view(x).copy(), **E4M3)
    assert (q.codes == copy.codes).all() and (q.scales == copy.scales).all()
    assert q.codes.shape == view(x).shape
    mx.assert_bits(view(x), q, **E4M3)


def test_the_input_is_not_written(x):
    before = x.copy()
    x.flags.writeable = False
    mx.quantize(x, **E4M3)
    assert (x == before).all()


def test_calls_that_are_remembered_follow_their_array(x):
    for rows in (x[:2], x[2:4], x[:2] * 3, x[:1]):
        q = mx.quantize(rows.copy(), **E4M3)
        assert (q.codes == mx.quantize(rows.astype("float32"), **E4M3).codes).all()
        assert (q.codes == mx.quantize(rows[:, :].T, axis=0, **E4M3).codes.T).all()


def test_threads(x):
    expected = mx.quantize(x, **E4M3)
    wrong = []

    def work():
        for _ in range(50):
            q = mx.quantize(x, **E4M3)
            if not ((q.codes == expected.codes).all() and (q.scales == expected.scales).all()):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_nvfp4_keeps_its_number(x):
    q = mx.quantize(x, format="nvfp4", dialect="te-nvfp4")
    assert q.tensor_scale == abs(x).max()
    assert q.scales.shape == (64, 6)
    given = mx.quantize(x, format="nvfp4", dialect="te-nvfp4", tensor_scale=abs(x).max())
    assert (given.codes == q.codes).all() and (given.scales == q.scales).all()
    assert mx.dequantize(q).shape == x.shape


def test_the_number_of_a_tensor_in_16_bits(x):
    named = {"format": "nvfp4", "dialect": "te-nvfp4"}
    right = mx.quantize(x, tensor_scale=3.5, **named)
    numbers = [numpy.array(3.5, kind) for kind in ("float16", "float32")]
    numbers += [numpy.float16(3.5), numpy.full((1, 1), 3.5, "float16")]
    try:
        import torch

        numbers += [torch.tensor([3.5], dtype=kind) for kind in (torch.float16, torch.bfloat16)]
        numbers.append(torch.tensor(3.5, dtype=torch.bfloat16))
    except ImportError:
        pass
    for number in numbers:
        q = mx.quantize(x, tensor_scale=number, **named)
        assert q.tensor_scale == 3.5
        assert (q.codes == right.codes).all() and (q.scales == right.scales).all()
        mx.assert_bits(x, *right, number, given_tensor_scale=number, **named)
        back = mx.dequantize(*right, tensor_scale=number, **named)
        assert (back == mx.dequantize(right)).all()


def test_a_block_size_is_counted_at_every_call(x):
    values = x[:7]
    mx.quantize(values, block_size=32, **E4M3)
    mx.quantize(values, block_size=32, **E4M3)
    for wrong in (32.0, True, "32"):
        with pytest.raises(ValueError, match="block_size"):
            mx.quantize(values, block_size=wrong, **E4M3)


def test_fp8_under_binary32_scales(x):
    q = mx.quantize(x, format="fp8-e4m3-1x32", dialect="nexus")
    assert q.scales.dtype == "float32" and q.scales.shape == (64, 3)
    q = mx.quantize(x, format="fp8-e4m3-tensor", dialect="te-fp8-current")
    assert q.scales.shape == (1, 1)


def test_casts():
    x = numpy.float32([448, 449, 500, numpy.inf, numpy.nan, -0.0])
    assert mx.convert(x, "e4m3").tolist() == [0x7E, 0x7E, 0x7E, 0x7E, 0x7F, 0x80]
    assert mx.convert(x, "e4m3", overflow="overflow").tolist()[2:4] == [0x7F, 0x7F]
    assert mx.convert(numpy.float32([1, 3]), "e8m0", dialect="pytorch-e8m0").tolist()[0] == 127
    assert mx.encode_scale(numpy.float32([448]), format="mxfp8-e4m3", dialect="nv").tolist() == [
        127
    ]


def test_gemm(x):
    small = x[:4, :64]
    a = mx.quantize(small, **E4M3)
    exact = mx.gemm(a, a)
    values = mx.dequantize(a).astype("float64")
    assert (exact == (values @ values.T).astype("float32")).all()
    plain = numpy.float32([[1, 2], [3, 4]])
    assert mx.gemm(plain, plain, c=numpy.ones((2, 2), "float32")).tolist() == [[6, 12], [12, 26]]
    assert mx.gemm(plain, plain, bias=numpy.float32([1, 2])).tolist() == [[6, 13], [12, 27]]
    assert mx.gemm(plain, plain, alpha=0.5).tolist() == [[2.5, 5.5], [5.5, 12.5]]


def test_stochastic_casts():
    x = numpy.linspace(0.9, 1.1, 64, dtype="float32").reshape(4, 16)
    words = numpy.arange(64, dtype="uint32").reshape(4, 16) * 0x01010101
    one = mx.convert(x, "e4m3", rounding="stochastic8", random_bits=words)
    four = mx.convert(x, "e4m3", rounding="stochastic-x4", random_bits=words[:, :4].copy())
    assert one.shape == four.shape == x.shape


def test_blocks_of_another_size_remember_it(x):
    for size in (16, 64):
        q = mx.quantize(x, block_size=size, **E4M3)
        assert q.scales.shape == (64, -(-96 // size))
        mx.assert_bits(x, q, block_size=size, **E4M3)
        assert mx.dequantize(q).shape == x.shape
        with pytest.raises(mx.NotSupported):
            mx.gemm(q, q)


def test_explain_shows_the_fraction():
    text = mx.explain([2.8, -1.2], **E4M3)
    assert "NVIDIA" in text and "0x" in text


def test_edge_cases_are_on_borders():
    blocks = mx.edge_cases("mxfp8-e4m3", "nv")
    assert blocks.dtype == "float32" and blocks.shape[1] == 32 and len(blocks) > 1000
    ties = mx.edge_cases("mxfp8-e4m3", "nv", family="edge.tie")
    assert 0 < len(ties) < len(blocks)
    q, z = mx.quantize(ties, **E4M3), mx.quantize(ties, format="mxfp8-e4m3", dialect="microxcaling")
    assert (q.codes != z.codes).any()  # ties to even against ties away


def test_lists():
    for what in ("formats", "dialects", "models", "layouts"):
        assert len(mx.list(what)) > 5, what
    with pytest.raises(mx.MxcheckError):
        mx.list("colours")


def test_torch(x):
    torch = pytest.importorskip("torch")
    t = torch.from_numpy(x)
    q = mx.quantize(t, **E4M3)
    assert isinstance(q.codes, torch.Tensor)
    assert (raw(q.codes) == mx.quantize(x, **E4M3).codes).all()
    typed = q.typed()
    assert typed.codes.dtype == torch.float8_e4m3fn
    mx.assert_bits(t, typed.codes, typed.scales, dialect="nv")
    half = mx.dequantize(mx.quantize(t.bfloat16(), **E4M3), dtype=torch.bfloat16)
    assert half.dtype == torch.bfloat16
    packed = mx.quantize(t, format="mxfp4-e2m1", dialect="ocp")
    if hasattr(torch, "float4_e2m1fn_x2"):
        pairs = (packed.codes[:, ::2] | packed.codes[:, 1::2] << 4).view(torch.float4_e2m1fn_x2)
        mx.assert_bits(t, pairs, packed.scales, format="mxfp4-e2m1")
    with pytest.raises(TypeError, match="sparse"):
        mx.quantize(t.to_sparse(), **E4M3)
    with pytest.raises(TypeError, match="meta"):
        mx.quantize(torch.empty(2, 32, device="meta"), **E4M3)
    assert mx.quantize(t.requires_grad_(), **E4M3).codes.shape == (64, 96)


def test_ml_dtypes(x):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    values = x.astype(ml_dtypes.bfloat16)
    q = mx.quantize(values, **E4M3)
    wide = mx.quantize(values.astype("float32"), **E4M3)
    assert (q.codes == wide.codes).all() and (q.scales == wide.scales).all()
    typed = q.typed()
    assert typed.codes.dtype == ml_dtypes.float8_e4m3fn
    mx.assert_bits(values, typed.codes, typed.scales, dialect="nv")
    cast = x.astype(ml_dtypes.float8_e5m2)  # nearest even, overflows to Inf
    assert (cast.view("u1") == mx.convert(x, "e5m2", overflow="overflow")).all()


def test_jax(x):
    jax = pytest.importorskip("jax")
    values = jax.numpy.asarray(x)
    q = mx.quantize(values, **E4M3)
    assert isinstance(q.codes, jax.Array)
    assert (raw(q.codes) == mx.quantize(x, **E4M3).codes).all()
    half = mx.quantize(values.astype("bfloat16"), **E4M3)
    mx.assert_bits(values.astype("bfloat16"), half, **E4M3)


@pytest.mark.parametrize("form", ["fp8-e4m3-1x128", "fp8-e4m3-128x128", "fp8-e4m3-tensor"])
def test_gemm_of_scales_in_float32(x, form):
    dialect = "te-fp8-current-pow2" if "tensor" in form else "te-fp8-block-pow2"
    rows = numpy.concatenate([x, x[::-1] * 3], axis=1)  # 64 x 192: a block and a part of one
    a, b = (mx.quantize(part, format=form, dialect=dialect) for part in (rows, rows[:40]))
    wide = mx.dequantize(a).astype("float64") @ mx.dequantize(b).astype("float64").T
    assert (mx.gemm(a, b) == wide.astype("float32")).all()  # float64 has room for these sums


def test_gemm_of_square_blocks_of_nvfp4(x):
    a, b = (
        mx.quantize(part, format="nvfp4-16x16", dialect="te-nvfp4")
        for part in (x[:, :40], x[9:, :40])
    )
    for part in (a, b):
        part.tensor_scale = 6 * 448.0  # the amax whose scale is 1
    wide = mx.dequantize(a).astype("float64") @ mx.dequantize(b).astype("float64").T
    assert (mx.gemm(a, b, alpha=1) == wide.astype("float32")).all()
