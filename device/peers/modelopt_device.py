"""NVIDIA Model-Optimizer's MXFP8QTensor and MXFP4QTensor on the CPU as a device."""

import torch
from modelopt.torch.quantization.qtensor import MXFP4QTensor, MXFP8QTensor
from peer import Peer, nibbles, version_of


def mxfp8(lines):
    made, scales = MXFP8QTensor.quantize(lines)
    return made._quantized_data, scales


def mxfp8_values(codes, scales):
    made = MXFP8QTensor(codes.shape, torch.float32, codes.view(torch.float8_e4m3fn))
    return made.dequantize(torch.float32, scale=scales)


def mxfp4(blocks):
    made, scales = MXFP4QTensor.quantize(blocks, 32)
    return nibbles(made._quantized_data), scales


def mxfp4_values(codes, scales):
    packed = codes[:, 0::2] | codes[:, 1::2] << 4
    made = MXFP4QTensor(codes.shape, torch.float32, packed)
    return made.dequantize(torch.float32, scale=scales, block_sizes={-1: 32})


version = version_of("nvidia-modelopt")
peer = Peer("Model-Optimizer on the CPU", "NVIDIA", version, tensors=torch)
peer.quantize_partial("mxfp8-e4m3", "model-optimizer", mxfp8)
peer.dequantize_partial("mxfp8-e4m3", "ocp", mxfp8_values)
peer.quantize("mxfp4-e2m1", "model-optimizer-fp4", mxfp4)
peer.dequantize("mxfp4-e2m1", "ocp", mxfp4_values)
if __name__ == "__main__":
    peer.serve()
