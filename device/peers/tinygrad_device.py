"""tinygrad's float_to_fp8, the conversion of its Python device, as a device."""

import numpy as np
from peer import Peer, version_of
from tinygrad.dtype import dtypes, float_to_fp8

TYPES = {"e4m3": dtypes.fp8e4m3, "e5m2": dtypes.fp8e5m2}


def cast_to(dtype):
    def codes(values):
        made = [float_to_fp8(float(value), dtype) for value in values.reshape(-1)]
        return np.array(made, dtype=np.uint8).reshape(values.shape)

    return codes


peer = Peer("tinygrad's float_to_fp8", "tiny corp", version_of("tinygrad"))
for element, dtype in TYPES.items():
    peer.convert(element, cast_to(dtype), inputs=("f32", "f16"), overflow="saturate")
if __name__ == "__main__":
    peer.serve()
