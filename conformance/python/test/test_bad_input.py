"""Bad input is an exception with a sentence, and never a crash.

Elsewhere: strides of any sign, empty and read-only inputs, threads in test_operations.py; what a
function returns too little of, in other shapes, as None or as a view of its input in test_run.py;
tensors of two devices in test_torch_layers.py; a GPU's, and a fork behind CUDA, in test_gpu.py.
"""

import subprocess
import sys
import threading

import numpy
import pytest

import mxcheck as mx

F32 = numpy.zeros((2, 32), "float32")
E4M3 = {"format": "mxfp8-e4m3", "dialect": "nv"}
TE = {"format": "nvfp4", "dialect": "te-nvfp4"}
GOOD = mx.quantize(F32, **E4M3)
NVFP4 = mx.quantize(F32, **TE)
SHORT = mx.Quantized(GOOD.codes, GOOD.scales[:0], None, "mxfp8-e4m3", "nv", -1)


def named_e5m2():
    """Raw codes that say they are E5M2."""
    return GOOD.codes.view(pytest.importorskip("ml_dtypes").float8_e5m2)


def of_te(*blocks):
    """Factors of TransformerEngine's FP8 under binary32 scales of such blocks."""
    return [mx.quantize(F32, format=f"fp8-e4m3-{b}", dialect="te-fp8-block") for b in blocks]


@pytest.mark.parametrize(
    "call, error, told",
    [
        (lambda: mx.quantize(F32.astype("float64"), **E4M3), TypeError, "astype"),
        (lambda: mx.quantize(F32.astype("int32"), **E4M3), TypeError, "int32"),
        (lambda: mx.quantize(F32.astype("uint8"), **E4M3), TypeError, "values are"),
        (lambda: mx.quantize(F32.astype(">f4"), **E4M3), TypeError, "other order"),
        (lambda: mx.quantize(F32.astype("complex64"), **E4M3), TypeError, "complex"),
        (lambda: mx.quantize(None, **E4M3), TypeError, "None"),
        (lambda: mx.quantize("text", **E4M3), TypeError, "x"),
        (lambda: mx.quantize(object(), **E4M3), TypeError, "object"),
        (lambda: mx.quantize([[1.0, [2.0]]], **E4M3), (TypeError, ValueError), ""),
        (lambda: mx.quantize(numpy.float32(1), **E4M3), ValueError, "single number"),
        (lambda: mx.quantize(F32, axis=2, **E4M3), ValueError, "axis 2"),
        (lambda: mx.quantize(F32, axis=1.0, **E4M3), TypeError, "axis"),
        (lambda: mx.quantize(F32, format="mxfp8-e4m", dialect="nv"), ValueError, "did you mean"),
        (lambda: mx.quantize(F32, format="mxfp8-e4m3", dialect="nvv"), ValueError, "did you mean"),
        (lambda: mx.quantize(F32, format=None, dialect="nv"), TypeError, "format"),
        (lambda: mx.quantize(F32, format="nvfp4"), ValueError, "name the dialect"),
        (lambda: mx.quantize(F32, format="nvfp4", dialect="nv"), mx.NotSupported, "nv"),
        (lambda: mx.quantize(F32, tensor_scale=1.0, **E4M3), ValueError, "no number"),
        (lambda: mx.quantize(F32, random_bits=F32, **E4M3), ValueError, "no random bits"),
        (
            lambda: mx.quantize(F32, format="nvfp4", dialect="te-nvfp4-sr"),
            ValueError,
            "random_bits",
        ),
        (lambda: mx.quantize(F32, block_size=7, **E4M3), mx.MxcheckError, "7"),
        (lambda: mx.quantize(F32, block_size=-32, **E4M3), ValueError, "block_size"),
        (lambda: mx.quantize(F32, block_size=0, **E4M3), ValueError, "block_size"),
        (lambda: mx.quantize(F32, tensor_scale=1e300, **TE), ValueError, "no number of binary32"),
        (lambda: mx.quantize(F32, tensor_scale=10**400, **TE), ValueError, "binary32"),
        (lambda: mx.quantize(F32, tensor_scale=numpy.nan, **TE), ValueError, "scales nothing"),
        (lambda: mx.quantize(F32, tensor_scale=1j, **TE), TypeError, "complex"),
        (lambda: mx.quantize(F32, tensor_scale=F32[0, :2], **TE), ValueError, "not 2"),
        (lambda: mx.quantize(F32, tensor_scale=F32[0, :0], **TE), ValueError, "not 0"),
        (
            lambda: mx.quantize(F32, tensor_scale=numpy.ones(2, "float16"), **TE),
            ValueError,
            "not 2",
        ),
        (
            lambda: mx.dequantize(NVFP4.codes, NVFP4.scales, tensor_scale=1e300, **TE),
            ValueError,
            "no number of binary32",
        ),
        (
            lambda: mx.assert_bits(F32, NVFP4.codes, NVFP4.scales, 1e300, **TE),
            ValueError,
            "no number of binary32",
        ),
        (
            lambda: mx.encode_scale(numpy.float32([1, -3]), format="mxfp8-e4m3"),
            ValueError,
            "1 of 2 amaxima are negative",
        ),
        (
            lambda: mx.encode_scale(numpy.float16([-numpy.inf]), format="mxfp8-e4m3"),
            ValueError,
            "negative",
        ),
        (lambda: mx.assert_bits(F32, *GOOD, 123.0, **E4M3), ValueError, "keeps no number"),
        (lambda: mx.gemm(F32, F32, epilogue="gelu"), mx.NotSupported, "model"),
        (lambda: mx.gemm(F32, F32, epilogue="bias"), ValueError, "bias"),
        (lambda: mx.convert(F32, "e4m3\0junk"), ValueError, "no name"),
        (lambda: mx.assert_bits(F32, GOOD.codes, **E4M3), TypeError, "scales"),
        (lambda: mx.assert_bits(F32, GOOD.codes, GOOD.scales), ValueError, "format="),
        (lambda: mx.assert_bits(F32, GOOD.codes[:1], GOOD.scales, **E4M3), ValueError, "shape"),
        (lambda: mx.assert_bits(F32, GOOD.codes, GOOD.scales.T, **E4M3), ValueError, "shape"),
        (lambda: mx.assert_bits(F32, F32, GOOD.scales, **E4M3), TypeError, "bytes"),
        (
            lambda: mx.assert_bits(F32, named_e5m2(), GOOD.scales, **E4M3),
            TypeError,
            "e4m3 is needed",
        ),
        (lambda: mx.dequantize(named_e5m2(), GOOD.scales, **E4M3), TypeError, "e4m3 is needed"),
        (lambda: mx.gemm(SHORT, GOOD), ValueError, "scales of a"),
        (lambda: mx.gemm(F32, F32, alpha=1e40), ValueError, "binary32"),
        (lambda: mx.gemm(F32, F32, c=F32[:, :2], beta=0), ValueError, "beta"),
        (lambda: mx.assert_values(F32, GOOD, dtype="float16"), TypeError, "float32"),
        (lambda: mx.quantize(numpy.ma.array(F32, mask=F32 == 0), **E4M3), TypeError, "mask"),
        (lambda: mx.quantize(F32, axis=True, **E4M3), TypeError, "axis"),
        (lambda: mx.assert_bits(F32, NVFP4.codes, NVFP4.scales, **TE), TypeError, "tensor_scale"),
        (lambda: mx.dequantize(GOOD.codes), ValueError, "format="),
        (lambda: mx.dequantize(GOOD, dtype="float64"), TypeError, "float64"),
        (lambda: mx.dequantize(F32, GOOD.scales, **E4M3), TypeError, "codes"),
        (lambda: mx.gemm(F32, F32[:, :16]), ValueError, "rows of"),
        (lambda: mx.gemm(F32, F32, model="hopper-fp9"), mx.MxcheckError, "hopper-fp9"),
        (
            lambda: mx.gemm(*of_te("1x128", "128x128"), model="hopper-fp8-1x128"),
            mx.NotSupported,
            "has scales of each row on both sides, and A has one for 1x128, B one for 128x128",
        ),
        (lambda: mx.gemm(F32, F32, c=F32), ValueError, "c is"),
        (lambda: mx.convert(F32, "e9m9"), mx.MxcheckError, "e9m9"),
        (lambda: mx.convert(F32, "e4m3", rounding="up"), mx.MxcheckError, "up"),
        (lambda: mx.edge_cases("mxfp8-e4m3", family="edge.none"), mx.MxcheckError, "edge.none"),
        (lambda: mx.explain("2.8,fish", **E4M3), mx.MxcheckError, "fish"),
        (lambda: mx.explain(numpy.zeros(100), **E4M3), mx.MxcheckError, ""),
    ],
)
def test_a_sentence(call, error, told):
    with pytest.raises(error) as failure:
        call()
    assert told in str(failure.value) and len(str(failure.value)) > 10


def test_no_library_is_an_import_error(tmp_path):
    for path in (tmp_path / "none.so", __file__):
        run = subprocess.run(
            [sys.executable, "-c", "import mxcheck"],
            env={"MXCHECK_LIBRARY": str(path), "PYTHONPATH": ":".join(filter(None, sys.path))},
            capture_output=True,
            text=True,
        )
        assert run.returncode == 1 and "ImportError" in run.stderr


def read_only(array):
    array.flags.writeable = False
    return array


def in_a_thread(call):
    made = []
    thread = threading.Thread(target=lambda: made.append(call()))
    thread.start()
    thread.join()
    return made[0]


RESULTS = {
    "read-only": read_only,
    "column after column": numpy.asfortranarray,
    "negative strides": lambda array: array[::-1, ::-1].copy()[::-1, ::-1],
    "with gaps": lambda array: numpy.repeat(array, 2, axis=1)[:, ::2],
    "of another thread": lambda array: in_a_thread(array.copy),
}


@pytest.mark.parametrize("lies", RESULTS.values(), ids=RESULTS)
def test_results_of_a_function_may_lie_anyhow(lies):
    run = mx.run(lambda x: [lies(part) for part in mx.quantize(x, **E4M3)], level="smoke", **E4M3)
    assert run.passed, run.text
    run = mx.run(
        lambda x: [lies(part ^ 1) for part in mx.quantize(x, **E4M3)], level="smoke", **E4M3
    )
    assert run.code == 1


def test_results_without_elements_are_a_sentence():
    run = mx.run(lambda x: (x[:0].view("uint8"), x[:0]), level="smoke", **E4M3)
    assert not run.passed and any("shape (0, " in case["reason"] for case in run.cases)


def test_nothing_is_multiplied_and_dequantized():
    nothing = mx.quantize(F32[:0], **E4M3)
    assert mx.dequantize(nothing).shape == (0, 32) and mx.gemm(nothing, GOOD).shape == (0, 2)
    assert (mx.gemm(F32[:, :0], F32[:, :0]) == 0).all()
    mx.assert_bits(F32[:0], nothing)


def test_a_function_is_run_in_another_thread():
    run = in_a_thread(lambda: mx.run(lambda x: mx.quantize(x, **E4M3), level="smoke", **E4M3))
    assert run.passed


def test_no_fork_where_torch_has_used_a_gpu(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    with pytest.raises(RuntimeError, match="isolate=True forks this process, in which torch"):
        mx.run(mx.quantize, isolate=True, tensors="torch", **E4M3)


def test_no_gpu_is_a_sentence(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for call in (mx.run, mx.bench):
        with pytest.raises(RuntimeError, match="sees no GPU"):
            call(mx.quantize, tensors="torch-cuda", **E4M3)
