"""A quantizer is recorded where it runs, and judged where nothing of it is.

    python capture.py [FOLDER]

The quantizer takes the floor of a logarithm for the exponent of a block, which is one too low just
below some powers of two. A program that uses it runs with a capture around it; `mxcheck check`
reads the folder afterwards, names the cause, and prints a line that repeats it. With torch, a layer
is recorded beside it.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy
from numpy_quantizer import exponent_by_log2, quantizer

import mxcheck as mx
from mxcheck._run import program

my_quantizer = quantizer(exponent_by_log2)


def a_program_that_quantizes(quantize):
    """Thousands of blocks, a few of whose amaxima stand just below a power of two."""
    random = numpy.random.default_rng(1)
    for _ in range(20):
        x = random.normal(size=(64, 256)).astype("float32")
        x[random.integers(64, size=4), 32 * random.integers(8, size=4)] = 2**10 - 2**-14
        quantize(x)


def record(folder):
    """Every fifth call of the quantizer, and the one of the layer; 16 MiB at most."""
    with mx.capture(folder, limit=1 << 24, sample=5) as c:
        a_program_that_quantizes(
            c.wrap(my_quantizer, format="mxfp8-e4m3", dialect="ocp", name="my_quantizer")
        )
        try:
            import torch
        except ImportError:
            return c
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU()).to(torch.bfloat16)
        c.watch(model, model_name="model")
        model(torch.randn(16, 64, dtype=torch.bfloat16))
        return c


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else temporary) / "captured"
        print(record(folder).summary)
        line = [program(), "check", str(folder), "--out", str(folder.with_name("out"))]
        print("$ mxcheck", *line[1:])
        ended = subprocess.run(line, capture_output=True, text=True)
        print(ended.stdout + ended.stderr)
        print(f"exit code {ended.returncode}")


if __name__ == "__main__":
    main()
