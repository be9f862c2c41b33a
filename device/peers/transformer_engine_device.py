"""TransformerEngine's PyTorch references as a device: FP8 in blocks of 1x128, and NVFP4.

The file of the NVFP4 reference imports modules that need the compiled library, for GEMMs and tensor
classes; empty ones stand in for them. Its amax is that of the lines it is given.
"""

import torch
from peer import Peer, empty_module, nibbles, package_of
from references.blockwise_quantizer_reference import BlockwiseQuantizerReference

PYTORCH = "transformer_engine.pytorch"
package_of("transformer_engine", "transformer_engine")
package_of("transformer_engine/pytorch", PYTORCH)
package_of("transformer_engine/pytorch/custom_recipes", PYTORCH + ".custom_recipes")
empty_module(PYTORCH + ".quantized_tensor", QuantizedTensorStorage=object, Quantizer=object)
empty_module(PYTORCH + ".tensor")
empty_module(PYTORCH + ".tensor.utils", is_custom=None)
from transformer_engine.pytorch.custom_recipes.reference_nvfp4 import NVFP4QuantizerRef

FOUR_OVER_SIX = {"te-nvfp4-4over6-mae": ("MAE", 256), "te-nvfp4-4over6-mse": ("MSE", 256),
                 "te-nvfp4-4over6-448": ("MAE", 448)}


def fp8(is_power):
    def quantized(lines):
        made = BlockwiseQuantizerReference()._quantize_vector_tiling(
            lines, torch.float8_e4m3fn, 128, return_transpose=False, pow_2_scales=is_power, eps=0.0)
        return made.data, made.scale

    return quantized


def nvfp4(**options):
    def quantized(lines):
        amax = torch.max(torch.abs(lines)).float().view(1)  # as NVFP4QuantizerRef._quantize has it
        codes, scales = NVFP4QuantizerRef._quantize_blockwise_reference(
            lines, amax, 16, 1, pow_2_scales=False, eps=0.0, **options)
        return nibbles(codes), scales, amax

    return quantized


peer = Peer("TransformerEngine's reference", "NVIDIA", "", tensors=torch)
for dialect in ("te-fp8-block", "te-fp8-block-pow2"):
    peer.quantize_partial("fp8-e4m3-1x128", dialect, fp8(dialect.endswith("-pow2")),
                          ("f32", "bf16"))
peer.quantize_tensor("nvfp4", "te-nvfp4", nvfp4(), ("f32", "bf16"))
for dialect, (error, largest) in FOUR_OVER_SIX.items():
    peer.quantize_tensor("nvfp4", dialect,
                         nvfp4(nvfp4_use_4over6=True, nvfp4_4over6_err_mode=error,
                               nvfp4_e4m3_max=largest), ("f32", "bf16"))
if __name__ == "__main__":
    peer.serve()
