"""MXFP4 of gguf-py, the Python of llama.cpp, as a device.

A block is its scale's byte and 16 bytes: element j in the low half of byte j, element j + 16 in the
high one.
"""

import numpy as np
from gguf import GGMLQuantizationType
from gguf.quants import dequantize, quantize
from peer import BLOCK, Peer, version_of


def quantized(blocks):
    made = quantize(blocks, GGMLQuantizationType.MXFP4)
    packed = made[:, 1:]
    return np.concatenate([packed & 15, packed >> 4], axis=1), made[:, 0]


def scales(amax):
    blocks = np.zeros((amax.size, BLOCK), np.float32)
    blocks[:, 0] = amax
    return quantized(blocks)[1]


def decoded(codes, scales):
    halves = codes.reshape(-1, 2, 16)
    packed = halves[:, 0] | halves[:, 1] << 4
    blocks = np.concatenate([scales.reshape(-1, 1), packed], axis=1).astype(np.uint8)
    return dequantize(blocks, GGMLQuantizationType.MXFP4).astype(np.float32).reshape(codes.shape)


peer = Peer("gguf-py", "ggml-org", version_of("gguf"), numpy=np.__version__)
peer.encode_scale("mxfp4-e2m1", "ggml", scales)
peer.quantize("mxfp4-e2m1", "ggml", quantized)
peer.dequantize("mxfp4-e2m1", "ocp", decoded)
if __name__ == "__main__":
    peer.serve()
