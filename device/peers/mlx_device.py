"""MLX's quantize and dequantize with modes mxfp4 and mxfp8 on the CPU as a device."""

import mlx.core as mx
import numpy as np
from peer import BLOCK, Peer, nibbles, version_of

MODES = {"mxfp4-e2m1": "mxfp4", "mxfp8-e4m3": "mxfp8"}
DIALECTS = {"mxfp4": "mlx-fp4", "mxfp8": "mlx-fp8"}


def quantizer(mode):
    def quantized(blocks):
        packed, scales = mx.quantize(mx.array(blocks), group_size=BLOCK, mode=mode)
        codes = np.array(packed).view(np.uint8)
        return (nibbles(codes) if mode == "mxfp4" else codes), np.array(scales)

    return quantized


def scaler(mode):
    def scales(amax):
        blocks = np.zeros((amax.size, BLOCK), np.float32)
        blocks[:, 0] = amax
        return quantizer(mode)(blocks)[1]

    return scales


def decoder(mode):
    def values(codes, scales):
        packed = codes[:, 0::2] | codes[:, 1::2] << 4 if mode == "mxfp4" else codes
        words = mx.array(np.ascontiguousarray(packed).view(np.uint32))
        made = mx.dequantize(words, mx.array(scales), group_size=BLOCK, mode=mode,
                             dtype=mx.float32)
        return np.array(made)

    return values


mx.set_default_device(mx.cpu)
peer = Peer("MLX on the CPU", "Apple", version_of("mlx"))
for block_format, mode in MODES.items():
    peer.encode_scale(block_format, DIALECTS[mode], scaler(mode))
    peer.quantize(block_format, DIALECTS[mode], quantizer(mode))
    peer.dequantize(block_format, "ocp", decoder(mode))
if __name__ == "__main__":
    peer.serve()
