"""Kernels in Triton: under its interpreter on a CPU, in a process of their own, because triton asks
its environment once; and on a GPU in this one."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

import mxcheck as mx

HERE = pathlib.Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
FORMATS = ["mxfp8-e4m3", "mxfp8-e5m2", "mxfp4-e2m1"]
FP8 = FORMATS[:2]

for module in ("torch", "triton"):
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed", allow_module_level=True)


def interpreted(line):
    """What a line of Python prints where triton interprets; of this file and of the examples."""
    paths = [str(HERE), str(EXAMPLES), *filter(None, sys.path)]
    done = subprocess.run(
        [sys.executable, "-c", line],
        env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": ":".join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def gpu(monkeypatch):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    if os.environ.get("TRITON_INTERPRET"):
        pytest.skip("TRITON_INTERPRET is set: triton would interpret")
    monkeypatch.syspath_prepend(HERE)
    monkeypatch.syspath_prepend(EXAMPLES)
    return torch.cuda.get_device_capability()


def check_quantizer(form, tensors, level):
    import triton_kernel as example

    named = {"format": form, "dialect": "torchao-floor", "tensors": tensors}
    run = mx.run(example.quantizer(form), level=level, **named)
    assert run.passed, f"{run.text}\n{run.first_error}"
    run = mx.run(example.quantizer(form, amax_of_bits=False), level=level, **named)
    assert run.code == 1 or form == "mxfp4-e2m1", run.text
    failed = {case["case"] for case in run.cases if case["mismatched_scales"]}
    assert failed and all("data=edge.special" in case for case in failed), run.text


@pytest.mark.parametrize("form", FORMATS)
def test_a_quantizer_under_the_interpreter(form):
    interpreted(f"import test_triton as t; t.check_quantizer({form!r}, 'torch', 'quick')")


@pytest.mark.parametrize("form", FORMATS)
def test_a_quantizer_on_a_gpu(form, gpu):
    check_quantizer(form, "torch-cuda", "quick")


def test_the_example_under_the_interpreter():
    told = interpreted("import triton_kernel; triton_kernel.main()")
    first, second = told.split("the maximum of bits:")
    assert "a number for NaN: 1 of 8" in first and second.strip() == "every bit is right"


def test_the_example_on_a_gpu(gpu, capsys):
    import triton_kernel

    triton_kernel.main()
    first, second = capsys.readouterr().out.split("the maximum of bits:")
    assert "a number for NaN: 1 of 8" in first and second.strip() == "every bit is right"


def dot_scaled(tensors, level, formats=FP8):
    import triton_gemm

    run = mx.run(triton_gemm.gemm, operation="gemm", format=formats, level=level, tensors=tensors)
    assert run.first_error is None, run.first_error
    assert any(case["verdict"] == "pass_exact" for case in run.cases), run.text
    return run


def families(run):
    """The data in which a case failed."""
    failed = (case["case"] for case in run.cases if case["verdict"] == "fail")
    return {case.split("data=")[1].split()[0] for case in failed}


def check_dot_scaled_interpreted():
    import triton

    assert dot_scaled("torch", "smoke").passed
    assert dot_scaled("torch", "quick", FP8[:1]).passed
    found = families(dot_scaled("torch", "quick"))
    # Triton 3.9.0 reads the subnormal codes 1, 2 and 3 of E5M2 as 0, 0 and 2.
    known = {"gemm.element-codes", "gemm.small", "gemm.zero-beside"}
    assert found <= known and (found or triton.__version__ != "3.9.0"), found


def test_dot_scaled_under_the_interpreter():
    from triton.runtime import interpreter

    if not hasattr(interpreter.InterpreterBuilder, "create_dot_scaled"):
        pytest.skip("this triton's interpreter has no tl.dot_scaled")
    interpreted("import test_triton as t; t.check_dot_scaled_interpreted()")


def test_dot_scaled_on_a_gpu(gpu):
    """What was seen of Triton 3.6 on Hopper is found again, in the program's words."""
    import triton

    run = dot_scaled("torch-cuda", "smoke")
    print(run.text)
    if gpu != (9, 0) or not triton.__version__.startswith("3.6."):
        pytest.skip(f"what tl.dot_scaled is to give on {gpu} by {triton.__version__} is unknown")
    assert {"gemm.exact-specials", "gemm.lowest-scale"} <= families(run), run.text
    for words in ("a number for NaN", "a number for Inf"):
        assert words in run.text
    assert "scales of E8M0 code 0, which are 2^-127, are flushed to 0" in run.text
