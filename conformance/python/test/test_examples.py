"""The worked examples do what they say."""

import pathlib
import sys

import numpy
import pytest

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


def test_the_capture(capsys, monkeypatch):
    import capture as example

    monkeypatch.setattr(sys, "argv", ["capture.py"])
    example.main()
    told = capsys.readouterr().out
    assert "my_quantizer: 4 of 20 calls kept; 16 left out by sample" in told
    assert "mxcheck replay 'quantize" in told and told.strip().endswith("exit code 1"), told


def test_the_training_in_torch(capsys):
    torch = pytest.importorskip("torch", reason="mxcheck.torch is a layer of torch")
    import torch_training as example

    plain = example.train(mx.torch.Unquantized())
    assert (example.distances(plain, plain) == 0).all()
    example.main()
    told = capsys.readouterr().out.splitlines()
    shares = {line[:36].strip(): [*map(float, line[36:].split())] for line in told[1:10]}
    narrow, noise = shares["mxfp4-e2m1"], shares["float32, sums in other orders"]
    for name, own in shares.items():
        assert len(own) == 3 and torch.tensor(own).isfinite().all(), name
        if "float32" not in name:
            assert all(n < share <= most for n, share, most in zip(noise, own, narrow)), name
    assert "times its calls of mx.quantize" in told[-1]


def test_the_five_minutes(capsys):
    page = (pathlib.Path(__file__).parent.parent / "README.md").read_text()
    parts = page.split("```")
    codes = [part.removeprefix("python\n") for part in parts if part.startswith("python\n")]
    names = {}
    with pytest.raises(AssertionError) as failure:
        exec(codes[0], names)
    shown = next(part for part in parts if part.startswith("\nOne kind of difference"))
    for line, told in zip(shown.strip().splitlines(), str(failure.value).splitlines()):
        assert line == told
    exec(codes[1], names)
    told = capsys.readouterr().out
    assert "2 fail" in told and f'"{told.splitlines()[-1]}"' in codes[1]
