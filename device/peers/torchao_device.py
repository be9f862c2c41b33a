"""torchao's MX casts as a device: to_mx and to_dtype of torchao.prototype.mx_formats.

Dialects torchao-floor, -ceil, -even and -rceil choose the mode; the library decides the rest. A
torchao from before pytorch/ao#4725 answers only to names with "-legacy", a newer one only to those
without. `--on cuda` casts on a GPU, where the legacy RCEIL and NVFP4 have dialects of their own.
"""

import torch
import torchao
from peer import FORMATS, Peer, nibbles, place
from torchao.prototype.mx_formats import mx_tensor, nvfp4_tensor
from torchao.prototype.mx_formats.config import ScaleCalculationMode
from torchao.prototype.mx_formats.constants import DTYPE_FP6_E2M3, DTYPE_FP6_E3M2

TYPES = {"mxfp8-e4m3": torch.float8_e4m3fn, "mxfp8-e5m2": torch.float8_e5m2,
         "mxfp6-e3m2": DTYPE_FP6_E3M2, "mxfp6-e2m3": DTYPE_FP6_E2M3,
         "mxfp4-e2m1": torch.float4_e2m1fn_x2}
is_legacy = not hasattr(mx_tensor, "_f32_to_e8m0_rceil")


def quantizer(block_format, mode):
    def quantized(blocks):
        scales, codes = mx_tensor.to_mx(blocks.to(place()), TYPES[block_format], 32,
                                        ScaleCalculationMode(mode))
        codes = codes.view(torch.uint8).cpu()
        if block_format == "mxfp4-e2m1":  # the even element is in the low half of its byte
            codes = nibbles(codes)
        return codes, scales

    return quantized


def scaler(block_format, mode):
    def scales(amax):
        blocks = torch.zeros(amax.numel(), 32, dtype=amax.dtype)
        blocks[:, 0] = amax
        return quantizer(block_format, mode)(blocks)[1]

    return scales


def nvfp4(blocks):
    scales, codes = nvfp4_tensor.nvfp4_quantize(blocks.to(place()))
    return nibbles(codes.cpu()), scales


def nvfp4_of_tensor(lines):
    lines = lines.to(place())
    number = nvfp4_tensor.per_tensor_amax_to_scale(torch.amax(torch.abs(lines))).view(1)
    scales, codes = nvfp4_tensor.nvfp4_quantize(lines, per_tensor_scale=number)
    return nibbles(codes.cpu()), scales, number


def decoder(block_format):
    def values(codes, scales):
        element = TYPES[block_format]
        if block_format == "mxfp4-e2m1":
            codes = codes[:, 0::2] | codes[:, 1::2] << 4
        elif isinstance(element, torch.dtype):
            codes = codes.view(element)
        scales = scales.view(torch.float8_e8m0fnu).to(place())
        return mx_tensor.to_dtype(codes.contiguous().to(place()), scales, element, 32,
                                  torch.float32)

    return values


peer = Peer("torchao", "Meta, PyTorch", torchao.__version__, tensors=torch)
for block_format in FORMATS:
    for mode in ("floor", "ceil", "even", "rceil"):
        dialect = f"torchao-{mode}" + ("-legacy" if is_legacy else "")
        if dialect == "torchao-rceil-legacy" and place() != "cpu":
            dialect += "-cuda"
        inputs = ("f32", "bf16")
        peer.quantize(block_format, dialect, quantizer(block_format, mode), inputs=inputs)
        peer.encode_scale(block_format, dialect, scaler(block_format, mode), inputs=inputs)
    floor = "torchao-floor" + ("-legacy" if is_legacy else "")
    peer.dequantize(block_format, floor, decoder(block_format))
where = "" if place() == "cpu" else "-gpu"
peer.quantize("nvfp4", "torchao-nvfp4-single" + where, nvfp4, ("f32", "bf16"))
peer.quantize_tensor("nvfp4", "torchao-nvfp4" + where, nvfp4_of_tensor, ("f32", "bf16"))
if __name__ == "__main__":
    peer.serve()
