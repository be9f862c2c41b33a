"""gfloat's rounding, encoding and block quantization as a device.

    mxcheck run --device-cmd 'python3 gfloat_device.py' --dialect gfloat --suite quantize

Conversions go through round_ndarray and encode_ndarray in binary64; blocks through
compute_scale_amax and encode_block, one block at a time, as gfloat's own quantize_block does. An
input that gfloat refuses (NaN in a format without one, a scale out of range) ends the whole request
with gfloat's own sentence.
"""

import importlib.metadata
import warnings

import gfloat
import numpy as np
from gfloat import formats
from mxpipe import NotSupported, serve

ELEMENTS = {
    "e4m3": formats.format_info_ocp_e4m3,
    "e5m2": formats.format_info_ocp_e5m2,
    "e3m2": formats.format_info_ocp_e3m2,
    "e2m3": formats.format_info_ocp_e2m3,
    "e2m1": formats.format_info_ocp_e2m1,
    "int8": formats.format_info_ocp_int8,
    "e8m0": formats.format_info_ocp_e8m0,
}
BLOCKS = {
    "mxfp8-e4m3": formats.format_info_mxfp8_e4m3,
    "mxfp8-e5m2": formats.format_info_mxfp8_e5m2,
    "mxfp6-e3m2": formats.format_info_mxfp6_e3m2,
    "mxfp6-e2m3": formats.format_info_mxfp6_e2m3,
    "mxfp4-e2m1": formats.format_info_mxfp4_e2m1,
    "mxint8": formats.format_info_mxint8,
}
ROUNDINGS = {
    "nearest_even": gfloat.RoundMode.TiesToEven,
    "nearest_away": gfloat.RoundMode.TiesToAway,
    "toward_zero": gfloat.RoundMode.TowardZero,
    "toward_positive": gfloat.RoundMode.TowardPositive,
    "toward_negative": gfloat.RoundMode.TowardNegative,
}


def values_of(tensor):
    """The values of an input as binary64, which holds every one of them."""
    if tensor.type == "bf16":
        words = np.frombuffer(tensor.data, dtype=np.uint16).astype(np.uint32) << 16
        flat = words.view(np.float32)
    else:
        flat = np.frombuffer(tensor.data, dtype={"f32": np.float32, "f16": np.float16}[tensor.type])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a signalling NaN becomes a quiet one
        return flat.astype(np.float64).reshape(tensor.rows, tensor.columns)


def codes_of(tensor):
    return np.frombuffer(tensor.data, dtype=np.uint8).reshape(tensor.rows, tensor.columns)


class Gfloat:
    facts = {
        "name": "gfloat",
        "version": importlib.metadata.version("gfloat"),
        "vendor": "Graphcore Research",
        "numpy": np.__version__,
    }

    def supports(self, request):
        for tensor in request.inputs + request.outputs:
            if tensor.layout != "strided":
                return f"gfloat has blocks of values, not layout {tensor.layout}"
        if request.operation == "convert":
            return self.refuse_convert(request)
        if request.operation not in ("quantize", "dequantize"):
            return f"gfloat has no {request.operation} of its own"
        return self.refuse_blocks(request)

    def refuse_convert(self, request):
        if request.format not in ELEMENTS:
            return f"gfloat has no {request.format}"
        if request.subnormals not in ("", "honoured"):
            return "gfloat honours subnormals"
        if request.format != "e8m0" and request.rounding not in ROUNDINGS:
            return f"gfloat has no rounding {request.rounding}"
        return None

    def refuse_blocks(self, request):
        if request.format not in BLOCKS:
            return f"gfloat has no {request.format}"
        if request.axis not in ("row", "col") or request.block_size not in (0, 32):
            return f"gfloat has blocks of 32 in a line, not {request.axis} {request.block_size}"
        if request.operation == "quantize" and request.dialect != "gfloat":
            return f"gfloat quantizes in its own way only, not as {request.dialect}"
        if request.operation == "dequantize" and request.outputs[0].type not in ("f32", "f16"):
            return f"decode_block gives Python floats; no {request.outputs[0].type} is made here"
        return None

    def run(self, request):
        with np.errstate(all="ignore"):
            return getattr(self, request.operation)(request)

    def convert(self, request):
        info = ELEMENTS[request.format]
        saturate = request.overflow != "overflow"  # as encode_block does for the scale, too
        rounding = ROUNDINGS[request.rounding or "nearest_even"]
        values = values_of(request.inputs[0])
        if not saturate and info.domain == gfloat.Domain.Finite and info.num_nans == 0:
            raise NotSupported(f"gfloat cannot overflow in {request.format}: no NaN, no Inf")
        rounded = gfloat.round_ndarray(info, values, rounding, saturate)
        return [gfloat.encode_ndarray(info, rounded).astype(np.uint8).tobytes()]

    def quantize(self, request):
        info = BLOCKS[request.format]
        values = values_of(request.inputs[0])
        lines = values.T if request.axis == "col" else values
        codes = np.zeros(lines.shape, np.uint8)
        scales = np.zeros((lines.shape[0], -(-lines.shape[1] // 32)), np.uint8)
        for row, line in enumerate(lines):
            for block in range(scales.shape[1]):
                lanes = slice(32 * block, 32 * block + 32)
                scale = gfloat.compute_scale_amax(info.etype.emax, line[lanes])
                made = list(gfloat.encode_block(info, scale, line[lanes] / scale))
                scales[row, block], codes[row, lanes] = made[0], made[1:]
        return [self.turned(request, codes), self.turned(request, scales)]

    def dequantize(self, request):
        info = BLOCKS[request.format]
        codes, scales = (codes_of(tensor) for tensor in request.inputs)
        if request.axis == "col":
            codes, scales = codes.T, scales.T
        values = np.zeros(codes.shape, {"f32": np.float32, "f16": np.float16}[request.outputs[0].type])
        for row, line in enumerate(codes):
            for block in range(scales.shape[1]):
                lanes = slice(32 * block, 32 * block + 32)
                encoded = [int(scales[row, block]), *(int(code) for code in line[lanes])]
                values[row, lanes] = list(gfloat.decode_block(info, encoded))
        return [self.turned(request, values)]

    def turned(self, request, array):
        return np.ascontiguousarray(array.T if request.axis == "col" else array).tobytes()


if __name__ == "__main__":
    serve(Gfloat())
