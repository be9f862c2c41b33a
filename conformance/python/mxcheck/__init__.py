"""mxcheck: which bits are right for MX, NVFP4 and FP8 blocks, and whether yours are.

    import mxcheck as mx
    codes, scales = mx.quantize(x, format="mxfp8-e4m3", dialect="nv")
    mx.assert_bits(x, my_codes, my_scales, format="mxfp8-e4m3", dialect="nv")

Arrays may be of NumPy, torch, JAX or CuPy, or anything with `__dlpack__`.
"""

from ._assertions import InsufficientData, assert_bits, assert_gemm, assert_values
from ._bench import Bench, bench
from ._capture import Capture, CaptureWarning, capture
from ._device import device
from ._library import BrokenOracle, InvalidCall, MxcheckError, NotSupported, build, check
from ._operations import (
    Quantized,
    convert,
    dequantize,
    edge_cases,
    encode_scale,
    explain,
    gemm,
    grouped_gemm,
    quantize,
)
from ._operations import list as list  # not in __all__: it would hide Python's own
from ._run import NotConformant, Run, identify, replay, run
from ._search import Search, fuzz, relate

__version__ = build()["version"]


def __getattr__(name):
    """mxcheck.torch, which needs torch, and its recipes, when they are first named."""
    if name not in ("torch", "recipes"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return importlib.import_module("." + name, __name__)


__all__ = [
    "Bench",
    "BrokenOracle",
    "Capture",
    "CaptureWarning",
    "InsufficientData",
    "InvalidCall",
    "MxcheckError",
    "NotConformant",
    "NotSupported",
    "Quantized",
    "Run",
    "Search",
    "assert_bits",
    "assert_gemm",
    "assert_values",
    "bench",
    "build",
    "capture",
    "check",
    "convert",
    "dequantize",
    "device",
    "edge_cases",
    "encode_scale",
    "explain",
    "fuzz",
    "gemm",
    "grouped_gemm",
    "identify",
    "quantize",
    "relate",
    "replay",
    "run",
]
