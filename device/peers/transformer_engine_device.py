"""TransformerEngine's PyTorch reference of block scaling as a device: blocks of 1x128."""

import torch
from peer import Peer
from references.blockwise_quantizer_reference import BlockwiseQuantizerReference


def quantizer(is_power):
    def quantized(lines):
        made = BlockwiseQuantizerReference()._quantize_vector_tiling(
            lines, torch.float8_e4m3fn, 128, return_transpose=False, pow_2_scales=is_power, eps=0.0)
        return made.data, made.scale

    return quantized


peer = Peer("TransformerEngine's reference", "NVIDIA", "", tensors=torch)
for dialect in ("te-fp8-block", "te-fp8-block-pow2"):
    function = quantizer(dialect.endswith("-pow2"))
    peer.quantize_partial("fp8-e4m3-1x128", dialect, function, ("f32", "bf16"))
if __name__ == "__main__":
    peer.serve()
