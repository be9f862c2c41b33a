"""ml_dtypes' casts as a device: NumPy arrays of float8, float6, float4 and float8_e8m0fnu.

    mxcheck run --device-cmd 'python3 ml_dtypes_device.py' --dialect ocp --suite convert

ml_dtypes has elements, no blocks: it converts, and decodes for dequantize. Its casts to float8 do
not saturate, those to float6 and float4 do.
"""

import importlib.metadata

import ml_dtypes
import numpy as np
from mxpipe import serve

VALUES = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16}
ELEMENTS = {
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
    "e8m0": ml_dtypes.float8_e8m0fnu,
}
OVERFLOWS = ("e4m3", "e5m2", "e8m0")  # these have a NaN or an Inf to overflow to


def array_of(tensor, dtype):
    return np.frombuffer(tensor.data, dtype=dtype).reshape(tensor.rows, tensor.columns)


class MlDtypes:
    facts = {
        "name": "ml_dtypes",
        "version": importlib.metadata.version("ml_dtypes"),
        "vendor": "JAX",
        "numpy": np.__version__,
    }

    def supports(self, request):
        for tensor in request.inputs + request.outputs:
            if tensor.layout != "strided":
                return f"ml_dtypes has arrays, not layout {tensor.layout}"
        if request.operation == "convert":
            return self.refuse_convert(request)
        if request.operation == "dequantize":
            return self.refuse_dequantize(request)
        return f"ml_dtypes has no blocks, so no {request.operation}"

    def refuse_convert(self, request):
        if request.format not in ELEMENTS:
            return f"ml_dtypes has no {request.format}"
        if request.inputs[0].type not in VALUES:
            return f"no cast from {request.inputs[0].type} is asked here"
        if request.rounding not in ("", "nearest_even"):
            return "ml_dtypes rounds to nearest even only"
        if request.subnormals not in ("", "honoured"):
            return "ml_dtypes honours subnormals"
        overflow = "overflow" if request.format in OVERFLOWS else "saturate"
        if request.overflow not in ("", overflow):
            return f"casts of ml_dtypes to {request.format} have overflow={overflow} only"
        return None

    def refuse_dequantize(self, request):
        if request.inputs[0].type not in ELEMENTS or request.inputs[1].type != "e8m0":
            return f"ml_dtypes has no {request.format}"
        if request.axis not in ("row", "col"):
            return f"this adapter lays no scales over axis {request.axis}"
        return None if request.outputs[0].type in VALUES else f"no {request.outputs[0].type} here"

    def run(self, request):
        return getattr(self, request.operation)(request)

    def convert(self, request):
        values = array_of(request.inputs[0], VALUES[request.inputs[0].type])
        with np.errstate(all="ignore"):
            return [values.astype(ELEMENTS[request.format]).tobytes()]

    def dequantize(self, request):
        """Element times scale in binary64, where every such product is exact."""
        codes, scales = request.inputs
        elements = array_of(codes, ELEMENTS[codes.type]).astype(np.float64)
        factors = array_of(scales, ELEMENTS["e8m0"]).astype(np.float64)
        along = 0 if request.axis == "col" else 1
        factors = np.repeat(factors, request.block_size or 32, axis=along)
        factors = factors[: codes.rows, : codes.columns]
        with np.errstate(all="ignore"):
            return [(elements * factors).astype(VALUES[request.outputs[0].type]).tobytes()]


if __name__ == "__main__":
    serve(MlDtypes())
