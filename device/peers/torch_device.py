"""PyTorch's own casts as a device: float8_e4m3fn, float8_e5m2 and float8_e8m0fnu.

Whether a cast saturates hangs on the type and on the version: the first call finds out, and the
other is answered not_supported. `--on cuda` casts on a GPU.
"""

import torch
from peer import Peer, place

CASTS = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}


def cast_to(dtype):
    return lambda values: values.to(place()).to(dtype)


peer = Peer("PyTorch casts", "PyTorch", torch.__version__, tensors=torch)
for element, dtype in CASTS.items():
    large = cast_to(dtype)(torch.tensor([1e6], dtype=torch.float32)).float()
    overflow = "saturate" if large.isfinite() else "overflow"
    peer.convert(element, cast_to(dtype), overflow=overflow)
peer.convert("e8m0", cast_to(torch.float8_e8m0fnu), "pytorch-e8m0")
if __name__ == "__main__":
    peer.serve()
