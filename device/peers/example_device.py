"""A whole device in forty lines, to copy: float32 to E4M3, nearest even, saturating.

    mxcheck run --device-cmd 'python3 example_device.py' --dialect ocp --suite convert --level smoke

Blocks are left out to stay short: axis both wants elements and scales of rows, then of columns.
"""

import bisect
import math
import struct

from mxpipe import serve

LARGEST, NAN = 0x7E, 0x7F


def value(code):
    exponent, mantissa = code >> 3, code & 7
    return math.ldexp(mantissa, -9) if exponent == 0 else math.ldexp(8 + mantissa, exponent - 10)


VALUES = [value(code) for code in range(LARGEST + 1)]
MIDDLES = [(low + high) / 2 for low, high in zip(VALUES, VALUES[1:])]


def encode(x):
    if math.isnan(x):
        return NAN
    code = bisect.bisect_left(MIDDLES, abs(x))  # of two neighbours at equal distance the lower
    if code < LARGEST and abs(x) == MIDDLES[code] and code % 2 == 1:
        code += 1
    return code | (0x80 if math.copysign(1, x) < 0 else 0)


class Example:
    facts = {"name": "example", "version": "1", "vendor": "mxcheck"}

    def supports(self, request):
        asked = (request.operation, request.format, request.rounding, request.overflow)
        if asked != ("convert", "e4m3", "nearest_even", "saturate"):
            return "only convert to e4m3, nearest even and saturating, is shown here"
        if request.inputs[0].type != "f32" or request.subnormals not in ("", "honoured"):
            return "only from f32 with its subnormals"
        return None

    def run(self, request):
        values = struct.iter_unpack("<f", request.inputs[0].data)
        return [bytes(encode(x) for (x,) in values)]


if __name__ == "__main__":
    serve(Example())
