"""Triton's casts to FP8 as a device, a kernel of one `.to`: in its interpreter, or `--on cuda`."""

from peer import Peer, interpret_on_cpu, is_on_gpu, place

interpret_on_cpu()
import torch
import triton
import triton.language as tl

CASTS = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}


@triton.jit
def cast(values, codes, count, block: tl.constexpr):
    places = tl.program_id(0) * block + tl.arange(0, block)
    mask = places < count
    read = tl.load(values + places, mask=mask)
    tl.store(codes + places, read.to(codes.dtype.element_ty), mask=mask)


def cast_to(dtype):
    def made(values):
        values = values.to(place())
        codes = torch.empty(values.shape, dtype=dtype, device=values.device)
        cast[(triton.cdiv(values.numel(), 1024),)](values, codes, values.numel(), block=1024)
        return codes

    return made


name = "Triton" if is_on_gpu() else "Triton's interpreter"
peer = Peer(name, "Triton", triton.__version__, tensors=torch)
for element, dtype in CASTS.items():
    peer.convert(element, cast_to(dtype), inputs=("f32", "bf16", "f16"), overflow="saturate")
if __name__ == "__main__":
    peer.serve()
