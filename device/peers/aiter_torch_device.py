"""aiter's PyTorch reference of MXFP4 as a device: per_1x32_f4_quant, and the scales of FP8, too.

Modules that need its compiled library, or a GPU, are imported by the same files for something else;
empty ones stand in for them.
"""

import os
import typing

import torch
from peer import Peer, empty_module, function_of, nibbles, package_of

package_of("aiter", "aiter")
package_of("aiter/utility", "aiter.utility")
empty_module("aiter.jit")
empty_module("aiter.jit.core", compile_ops=lambda *_, **__: lambda function: function)
dtypes = empty_module("aiter.utility.dtypes", fp4x2=torch.uint8, fp32=torch.float32,
                      fp8_e8m0=torch.float8_e8m0fnu)
from aiter.utility import fp4_utils
from aiter.utility.mx_types import MX_DEFAULT_ROUND_MODE, MxDtypeInt, MxScaleRoundModeInt

per_1x32_f4_quant = function_of(
    os.path.join(os.environ["MX_PEER_TREE"], "aiter/ops/quant.py"), "per_1x32_f4_quant",
    torch=torch, dtypes=dtypes, fp4_utils=fp4_utils, MxDtypeInt=MxDtypeInt,
    RoundModeLike=typing.Any, MX_DEFAULT_ROUND_MODE=MX_DEFAULT_ROUND_MODE)
MODES = {"aiter-roundup": MxScaleRoundModeInt.RoundUp,
         "aiter-rounddown": MxScaleRoundModeInt.RoundDown,
         "aiter-even-torch": MxScaleRoundModeInt.Even, "aiter-ceil": MxScaleRoundModeInt.Ceil}
TYPES = {"mxfp8-e4m3": MxDtypeInt.FP8_E4M3, "mxfp4-e2m1": MxDtypeInt.FP4_E2M1}


def quantizer(mode):
    def quantized(blocks):
        codes, scales = per_1x32_f4_quant(blocks, round_mode=mode)
        return nibbles(codes), scales

    return quantized


def scaler(element, mode):
    return lambda amax: fp4_utils.f32_to_mx_e8m0_scale(amax.float(), mode=mode, dtype=element)


peer = Peer("aiter's PyTorch reference", "AMD", "", tensors=torch)
for dialect, mode in MODES.items():
    peer.quantize("mxfp4-e2m1", dialect, quantizer(mode), ("f32", "bf16"))
    for block_format, element in TYPES.items():
        peer.encode_scale(block_format, dialect, scaler(element, mode), ("f32", "bf16"))
if __name__ == "__main__":
    peer.serve()
