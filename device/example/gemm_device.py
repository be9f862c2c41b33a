"""A GEMM to copy: D = alpha * A * B^T in float32 of MXFP8 E4M3 factors, answered over a pipe.

    mxcheck run --suite gemm --level smoke --device-cmd 'python3 gemm_device.py'

mxpipe.py lies in device/peers. Nothing but the standard library is needed; NumPy is faster.
"""

import array
import math
import pathlib
import struct
import sys

sys.path.append(str(pathlib.Path(__file__).parents[1] / "peers"))
from mxpipe import serve  # noqa: E402


def e4m3(code):
    field, fraction = code >> 3 & 15, code & 7
    size = math.ldexp(fraction + 8 * (field > 0), max(field, 1) - 10)
    return math.copysign(math.nan if code & 127 == 127 else size, -1 if code > 127 else 1)


def rows_of(codes, scales):
    """The rows of a factor as numbers: blocks of 32 along K have an E8M0 scale each."""
    for r in range(codes.rows):
        row = codes.data[r * codes.columns : (r + 1) * codes.columns]
        line = scales.data[r * scales.columns : (r + 1) * scales.columns]
        powers = [math.nan if scale == 255 else math.ldexp(1, scale - 127) for scale in line]
        yield [e4m3(code) * powers[k // 32] for k, code in enumerate(row)]


class Gemm:
    facts = {"name": "Python GEMM", "version": "1", "vendor": "mxcheck"}

    def supports(self, request):
        gemm = dict(request.extra.get("gemm", {}))
        wanted = {"scaling_a": "1x32", "scaling_b": "1x32", "beta_bits": 0}
        for name in ("batches", "alpha_bits"):
            gemm.pop(name, None)
        types = [tensor.type for tensor in request.inputs + request.outputs]
        if gemm != wanted or types != ["e4m3", "e8m0", "e4m3", "e8m0", "f32"]:
            return "only gemm of mxfp8-e4m3 to f32, without C, epilogue, algorithm"
        return None if all(t.layout == "strided" for t in request.inputs) else "only strided"

    def run(self, request):
        a, b = (list(rows_of(*request.inputs[at : at + 2])) for at in (0, 2))
        gemm, n = request.extra["gemm"], request.outputs[0].columns
        (alpha,) = struct.unpack("<f", struct.pack("<I", gemm["alpha_bits"]))
        m, d = len(a) // gemm["batches"], array.array("f")  # rows of a batch of A, and of D
        for i, row in enumerate(a):
            others = b[i // max(m, 1) * n :][:n]
            d.extend(alpha * sum(x * y for x, y in zip(row, other)) for other in others)
        return [d.tobytes()]


if __name__ == "__main__":
    serve(Gemm())
