"""DeepGEMM's casts in PyTorch as a device: deep_gemm/utils/math.py of its source tree."""

import torch
from peer import ALL_INPUTS, Peer, module_of, nibbles

math = module_of("deep_gemm/utils/math.py")


def fp8(blocks):
    codes, scales = math.per_token_cast_to_fp8(blocks, True, 32)
    return codes, scales.view(torch.int32) >> 23


def fp4(blocks):
    codes, scales = math.per_token_cast_to_fp4(blocks, True, 32)
    return nibbles(codes.view(torch.uint8)), scales.view(torch.int32) >> 23


def as_bytes(function):
    def quantized(blocks):
        codes, exponents = function(blocks)
        return codes, exponents.to(torch.uint8)

    return quantized


def with_f32_scales(is_power):
    return lambda lines: math.per_token_cast_to_fp8(lines, is_power, 128)


peer = Peer("DeepGEMM's PyTorch code", "DeepSeek", "", tensors=torch)
peer.quantize("mxfp8-e4m3", "deepgemm", as_bytes(fp8), ALL_INPUTS)
peer.quantize("mxfp4-e2m1", "deepgemm-fp4", as_bytes(fp4), ALL_INPUTS)
peer.quantize_partial("fp8-e4m3-1x128", "deepgemm-fp8", with_f32_scales(False))
peer.quantize_partial("fp8-e4m3-1x128", "deepgemm-fp8-pow2", with_f32_scales(True))
if __name__ == "__main__":
    peer.serve()
