"""Code that nobody here wrote, each skipped where its library is not installed."""

import numpy
import pytest

import mxcheck as mx


def test_casts_of_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    types = {"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "e2m1": "float4_e2m1fn"}
    types |= {"e3m2": "float6_e3m2fn", "e2m3": "float6_e2m3fn"}
    types |= {"e4m3fnuz": "float8_e4m3fnuz", "e5m2fnuz": "float8_e5m2fnuz"}
    generator = numpy.random.default_rng(3)
    bits = generator.integers(0, 1 << 32, 1 << 18, dtype="uint32")
    x = bits.view("float32")
    for element, name in types.items():
        with numpy.errstate(invalid="ignore"):
            cast = x.astype(getattr(ml_dtypes, name)).view("uint8")
        # ml_dtypes overflows to Inf or NaN, and saturates where a type has neither; a NaN has a
        # code of its own choice.
        overflow = "saturate" if element in ("e3m2", "e2m3", "e2m1") else "overflow"
        numbers = ~numpy.isnan(x)
        expected = mx.convert(x[numbers], element, overflow=overflow)
        if element == "e4m3":
            same = (cast[numbers] == expected) | (
                ((cast[numbers] & 127) == 127) & ((expected & 127) == 127)
            )
            assert same.all()
        else:
            assert (cast[numbers] == expected).all(), element


def test_casts_of_jax():
    jax = pytest.importorskip("jax")
    x = mx.edge_cases("mxfp8-e5m2", "ocp").reshape(-1)
    x = x[numpy.isfinite(x)]
    cast = numpy.asarray(jax.numpy.asarray(x).astype("float8_e5m2")).view("uint8")
    assert (cast == mx.convert(x, "e5m2", overflow="overflow")).all()


@pytest.mark.parametrize("mode", ["floor", "ceil", "even", "rceil"])
@pytest.mark.parametrize("form", ["mxfp8-e4m3", "mxfp8-e5m2", "mxfp4-e2m1"])
def test_to_mx_of_torchao(mode, form):
    torch = pytest.importorskip("torch")
    mx_tensor = pytest.importorskip("torchao.prototype.mx_formats.mx_tensor")
    config = pytest.importorskip("torchao.prototype.mx_formats.config")
    types = {
        "mxfp8-e4m3": torch.float8_e4m3fn,
        "mxfp8-e5m2": torch.float8_e5m2,
        "mxfp4-e2m1": torch.float4_e2m1fn_x2,
    }
    chosen = getattr(config.ScaleCalculationMode, mode.upper())
    dialect = f"torchao-{mode}"
    if not hasattr(mx_tensor, "_f32_to_e8m0_rceil"):  # before pytorch/ao#4725
        legacy = f"torchao-{mode}-legacy"
        dialect = legacy if legacy in {row["name"] for row in mx.list("dialects")} else dialect

    def to_mx(x, block_size):
        if x.dtype == torch.float16:
            raise NotImplementedError("to_mx takes float32 and bfloat16")
        if x.shape[1] % block_size or x.numel() == 0:
            raise NotImplementedError("to_mx takes whole blocks")
        scales, codes = mx_tensor.to_mx(x, types[form], block_size, chosen)
        codes = codes.view(torch.uint8)
        if form == "mxfp4-e2m1":
            codes = codes.view(torch.float4_e2m1fn_x2)
        return codes, scales

    run = mx.run(to_mx, format=form, dialect=dialect, level="smoke", tensors="torch")
    assert run.passed, f"{run.text}\n{run.first_error}"
    assert any(case["verdict"] == "pass_exact" for case in run.cases)


def _compiled_quantizer(torch, exponent_of):
    """What torch.compile makes of MXFP8 blocks as torchao floors them, as a function for mx.run."""

    def quantize_blocks(x):
        amax = x.abs().amax(dim=1, keepdim=True)
        is_poisoned = ~torch.isfinite(amax)
        amax = torch.where(is_poisoned | (amax == 0), 2.0**-127, amax)
        exponent = torch.clamp(exponent_of(amax) - 8, -127, 127)
        inverse = ((127 - exponent) << 23).view(
            torch.float32
        )  # ldexp asks pow, which may be inexact
        scaled = torch.clamp(x * inverse, -448, 448)
        codes = scaled.to(torch.float8_e4m3fn).view(torch.uint8)
        scales = (exponent + 127).to(torch.uint8)
        return torch.where(is_poisoned, 0x7F, codes), torch.where(is_poisoned, 0xFF, scales)

    compiled = torch.compile(quantize_blocks, dynamic=True, fullgraph=True)

    def quantize(x):
        if x.dtype != torch.float32 or x.shape[1] % 32:
            raise NotImplementedError("whole blocks of float32 alone")
        codes, scales = compiled(x.reshape(-1, 32))
        return codes.reshape(x.shape), scales.reshape(x.shape[0], -1)

    return quantize


@pytest.mark.parametrize("tensors", ["torch", "torch-cuda"])
def test_a_quantizer_under_torch_compile(tensors):
    torch = pytest.importorskip("torch")
    if tensors == "torch-cuda" and not torch.cuda.is_available():
        pytest.skip("no GPU")
    wrong = _compiled_quantizer(torch, lambda amax: torch.floor(torch.log2(amax)).int())
    device = "cuda" if tensors == "torch-cuda" else "cpu"
    try:
        wrong(torch.ones(4, 32, device=device))
    except Exception as error:  # of inductor, which needs a compiler
        pytest.skip(f"torch.compile: {error}".splitlines()[0])
    named = {"format": "mxfp8-e4m3", "dialect": "torchao-floor", "tensors": tensors}
    run = mx.run(wrong, level="quick", **named)
    assert run.code == 1 and run.first_error is None, run.text
    assert any(case["mismatched_scales"] for case in run.cases), run.text
    right = _compiled_quantizer(torch, lambda amax: (amax.view(torch.int32) >> 23) - 127)
    run = mx.run(right, level="quick", **named)
    assert run.passed, f"{run.text}\n{run.first_error}"
    by_frexp = _compiled_quantizer(torch, lambda amax: torch.frexp(amax)[1] - 1)
    run = mx.run(by_frexp, level="quick", **named)
    if device == "cuda" and torch.__version__.startswith("2.11."):
        # Compiled for CUDA, torch.frexp was seen to give subnormals the largest exponent there is.
        assert run.code == 1 and "scale 0xfe expected 0x00" in run.text, run.text
    else:
        assert device == "cuda" or run.passed, f"{run.text}\n{run.first_error}"
