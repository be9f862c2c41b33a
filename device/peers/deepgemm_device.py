"""DeepGEMM's casts in PyTorch as a device: deep_gemm/utils/math.py of its source tree.

What PyTorch does below them decides: before 2.12 a power of two of a NaN or an infinity is another
("-legacy"), and a GPU multiplies by the reciprocal of 448 (`--on cuda`, "-gpu").
"""

import torch
from peer import ALL_INPUTS, Peer, is_on_gpu, module_of, nibbles, place

math = module_of("deep_gemm/utils/math.py")


def fp8(blocks):
    codes, scales = math.per_token_cast_to_fp8(blocks.to(place()), True, 32)
    return codes, scales.view(torch.int32) >> 23


def fp4(blocks):
    codes, scales = math.per_token_cast_to_fp4(blocks.to(place()), True, 32)
    return nibbles(codes.view(torch.uint8).cpu()), scales.view(torch.int32) >> 23


def as_bytes(function):
    def quantized(blocks):
        codes, exponents = function(blocks)
        return codes, exponents.to(torch.uint8)

    return quantized


def with_f32_scales(is_power):
    return lambda lines: math.per_token_cast_to_fp8(lines.to(place()), is_power, 128)


is_legacy = tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 12)
legacy, gpu = "-legacy" if is_legacy else "", "-gpu" if is_on_gpu() else ""
powers = "deepgemm-fp8-pow2" + (gpu or legacy)
peer = Peer("DeepGEMM's PyTorch code", "DeepSeek", "", tensors=torch)
peer.quantize("mxfp8-e4m3", "deepgemm" + legacy, as_bytes(fp8), ALL_INPUTS)
peer.quantize("mxfp4-e2m1", "deepgemm-fp4", as_bytes(fp4), ALL_INPUTS)
peer.quantize_partial("fp8-e4m3-1x128", "deepgemm-fp8" + gpu, with_f32_scales(False))
peer.quantize_partial("fp8-e4m3-1x128", powers, with_f32_scales(True))
if __name__ == "__main__":
    peer.serve()
