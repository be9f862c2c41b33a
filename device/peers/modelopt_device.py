"""NVIDIA Model-Optimizer's MXFP8QTensor and MXFP4QTensor as a device, on a CPU or `--on cuda`."""

import torch
from modelopt.torch.quantization.qtensor import MXFP4QTensor, MXFP8QTensor
from peer import Peer, is_on_gpu, nibbles, place, version_of


def mxfp8(lines):
    made, scales = MXFP8QTensor.quantize(lines.to(place()))
    return made._quantized_data, scales


def mxfp8_values(codes, scales):
    made = MXFP8QTensor(codes.shape, torch.float32,
                        codes.view(torch.float8_e4m3fn).to(place()))
    return made.dequantize(torch.float32, scale=scales.to(place()))


def mxfp4(blocks):
    made, scales = MXFP4QTensor.quantize(blocks.to(place()), 32)
    return nibbles(made._quantized_data.cpu()), scales


def mxfp4_values(codes, scales):
    packed = codes[:, 0::2] | codes[:, 1::2] << 4
    made = MXFP4QTensor(codes.shape, torch.float32, packed.to(place()))
    return made.dequantize(torch.float32, scale=scales.to(place()), block_sizes={-1: 32})


version = version_of("nvidia-modelopt")
gpu = "-cuda" if is_on_gpu() else ""
name = "Model-Optimizer" if is_on_gpu() else "Model-Optimizer on the CPU"
peer = Peer(name, "NVIDIA", version, tensors=torch)
peer.quantize_partial("mxfp8-e4m3", "model-optimizer" + gpu, mxfp8)
peer.dequantize_partial("mxfp8-e4m3", "ocp", mxfp8_values)
peer.quantize("mxfp4-e2m1", "model-optimizer-fp4", mxfp4)
peer.dequantize("mxfp4-e2m1", "ocp", mxfp4_values)
if __name__ == "__main__":
    peer.serve()
