"""triton_kernels' downcast_to_mxfp on a GPU as a device: the copy that vLLM's package carries.

ROUND_UP is the rule of Megatron's kernel, which was made from this one.
"""

import torch
from peer import Peer, package_of, place, version_of

package_of("vllm/third_party/triton_kernels", "triton_kernels")
package_of("vllm/third_party/triton_kernels/numerics_details", "triton_kernels.numerics_details")
from triton_kernels.numerics_details import mxfp

TYPES = {"mxfp8-e4m3": torch.float8_e4m3fn, "mxfp8-e5m2": torch.float8_e5m2}
MODES = {"megatron-round-up": mxfp.DequantScaleRoundingMode.ROUND_UP,
         "triton-round-down-legacy": mxfp.DequantScaleRoundingMode.ROUND_DOWN}


def quantizer(dtype, mode):
    return lambda lines: mxfp.downcast_to_mxfp(lines.to(place()), dtype, 1, mode)


peer = Peer("triton_kernels in vLLM", "Triton", version_of("vllm"), tensors=torch)
for block_format, dtype in TYPES.items():
    for dialect, mode in MODES.items():
        peer.quantize_partial(block_format, dialect, quantizer(dtype, mode), ("f32", "bf16", "f16"))
if __name__ == "__main__":
    peer.serve()
