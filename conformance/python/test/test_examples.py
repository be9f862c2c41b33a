"""The worked examples do what they say."""

import pathlib
import sys

import numpy

import mxcheck as mx

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "examples"))


def test_the_quantizer_in_numpy(capsys):
    import numpy_quantizer as example

    log2 = example.quantizer(example.exponent_by_log2)
    run = mx.run(log2, format="mxfp8-e4m3", dialect="ocp", level="smoke")
    assert run.code == 1 and "scale" in run.text, run.text
    right = example.quantizer(example.exponent_by_frexp)
    run = mx.run(right, format="mxfp8-e4m3", dialect="ocp", level="smoke")
    assert run.passed, f"{run.text}\n{run.first_error}"
    example.main()
    told = capsys.readouterr().out
    assert "scale" in told and told.strip().endswith("every bit is right")


def test_the_gemm(capsys):
    import gemm as example

    example.main()
    told = capsys.readouterr().out
    assert "every bit is right" in told and "values are further" in told.splitlines()[-1]
    assert "each is within" in told
    assert numpy.isfinite(mx.gemm(*example.factors())).all()
