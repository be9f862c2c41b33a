"""gfloat's rounding, encoding and block quantization as a device.

Conversions go through round_ndarray and encode_ndarray in binary64; blocks through
compute_scale_amax and encode_block, one block at a time, as gfloat's own quantize_block does. An
input that gfloat refuses (NaN in a format without one, a scale out of range) ends the whole request
with gfloat's own sentence.
"""

import gfloat
import numpy as np
from gfloat import formats
from peer import ALL_INPUTS, NotSupported, Peer, version_of

ELEMENTS = ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "int8")
BLOCKS = ("mxfp8-e4m3", "mxfp8-e5m2", "mxfp6-e3m2", "mxfp6-e2m3", "mxfp4-e2m1", "mxint8")
ROUNDINGS = {"nearest_even": gfloat.RoundMode.TiesToEven,
             "nearest_away": gfloat.RoundMode.TiesToAway,
             "toward_zero": gfloat.RoundMode.TowardZero,
             "toward_positive": gfloat.RoundMode.TowardPositive,
             "toward_negative": gfloat.RoundMode.TowardNegative}


def converter(info, rounding, saturate):
    def codes(values):
        if not saturate and info.domain == gfloat.Domain.Finite and info.num_nans == 0:
            raise NotSupported("gfloat cannot overflow in a format without NaN and Inf")
        rounded = gfloat.round_ndarray(info, values.astype(np.float64), rounding, saturate)
        return gfloat.encode_ndarray(info, rounded).astype(np.uint8)

    return codes


def blocks_of(columns):
    return [slice(first, first + 32) for first in range(0, columns, 32)]


def quantizer(info):
    def quantized(lines):
        codes, lanes = np.zeros(lines.shape, np.uint8), blocks_of(lines.shape[1])
        scales = np.zeros((lines.shape[0], len(lanes)), np.uint8)
        for row, line in enumerate(lines.astype(np.float64)):
            for place, block in enumerate(lanes):
                scale = gfloat.compute_scale_amax(info.etype.emax, line[block])
                made = list(gfloat.encode_block(info, scale, line[block] / scale))
                scales[row, place], codes[row, block] = made[0], made[1:]
        return codes, scales

    return quantized


def decoder(info, dtype):
    def decoded(codes, scales):
        values = np.zeros(codes.shape, dtype)
        for row, line in enumerate(codes):
            for place, block in enumerate(blocks_of(codes.shape[1])):
                encoded = [int(scales[row, place]), *(int(code) for code in line[block])]
                values[row, block] = list(gfloat.decode_block(info, encoded))
        return values

    return decoded


peer = Peer("gfloat", "Graphcore Research", version_of("gfloat"), numpy=np.__version__)
for name in ELEMENTS:
    for rounding, mode in ROUNDINGS.items():
        for overflow in ("saturate", "overflow"):
            info = getattr(formats, f"format_info_ocp_{name}")
            peer.convert(name, converter(info, mode, overflow == "saturate"), overflow=overflow,
                         rounding=rounding)
e8m0 = converter(formats.format_info_ocp_e8m0, gfloat.RoundMode.TiesToEven, True)
peer.convert("e8m0", e8m0, "gfloat-e8m0")
for name in BLOCKS:
    info = getattr(formats, "format_info_" + name.replace("-", "_"))
    peer.quantize_partial(name, "gfloat", quantizer(info), ALL_INPUTS)
    for output, dtype in (("f32", np.float32), ("f16", np.float16)):
        peer.dequantize_partial(name, "gfloat", decoder(info, dtype), (output,))
if __name__ == "__main__":
    peer.serve()
