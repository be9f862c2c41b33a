"""MLX's quantize and dequantize with modes mxfp4, mxfp8 and nvfp4 on the CPU as a device."""

import mlx.core as mx
import numpy as np
from peer import Peer, block_of, nibbles, version_of

MODES = {"mxfp4-e2m1": "mxfp4", "mxfp8-e4m3": "mxfp8", "nvfp4": "nvfp4"}
DIALECTS = {"mxfp4": "mlx-fp4", "mxfp8": "mlx-fp8", "nvfp4": "mlx-nvfp4"}


def even(blocks):
    """MLX refuses an odd number of blocks of NVFP4: a block of zeros more, which is cut off again."""
    return np.concatenate([blocks, np.zeros_like(blocks[:1])]) if len(blocks) % 2 else blocks


def quantizer(block_format):
    mode, block = MODES[block_format], block_of(block_format)

    def quantized(blocks):
        packed, scales = mx.quantize(mx.array(even(blocks)), group_size=block, mode=mode)
        codes = np.array(packed).view(np.uint8)[:len(blocks)]
        return (codes if mode == "mxfp8" else nibbles(codes)), np.array(scales)[:len(blocks)]

    return quantized


def scaler(block_format):
    def scales(amax):
        blocks = np.zeros((amax.size, block_of(block_format)), np.float32)
        blocks[:, 0] = amax
        return quantizer(block_format)(blocks)[1]

    return scales


def decoder(block_format):
    mode, block = MODES[block_format], block_of(block_format)

    def values(codes, scales):
        shape = codes.shape
        codes, scales = even(codes.reshape(-1, block)), even(scales.reshape(-1, 1))
        packed = codes if mode == "mxfp8" else codes[:, 0::2] | codes[:, 1::2] << 4
        words = mx.array(np.ascontiguousarray(packed).view(np.uint32))
        made = mx.dequantize(words, mx.array(scales), group_size=block, mode=mode,
                             dtype=mx.float32)
        return np.array(made).reshape(-1)[:shape[0] * shape[1]].reshape(shape)

    return values


mx.set_default_device(mx.cpu)
peer = Peer("MLX on the CPU", "Apple", version_of("mlx"))
for block_format, mode in MODES.items():
    if mode != "nvfp4":
        peer.encode_scale(block_format, DIALECTS[mode], scaler(block_format))
    peer.quantize(block_format, DIALECTS[mode], quantizer(block_format))
    peer.dequantize(block_format, "ocp" if mode != "nvfp4" else DIALECTS[mode],
                    decoder(block_format))
if __name__ == "__main__":
    peer.serve()
