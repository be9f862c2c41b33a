"""ml_dtypes' casts as a device: NumPy arrays of float8, float6, float4 and float8_e8m0fnu.

ml_dtypes has elements, no blocks: it converts, and decodes for dequantize. Its casts to float8 do
not saturate, those to float6 and float4 do.
"""

import ml_dtypes
import numpy as np
from peer import FORMATS, Peer, version_of

TYPES = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
         "e3m2": ml_dtypes.float6_e3m2fn, "e2m3": ml_dtypes.float6_e2m3fn,
         "e2m1": ml_dtypes.float4_e2m1fn, "e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
         "e5m2fnuz": ml_dtypes.float8_e5m2fnuz}
OUTPUTS = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16}


def decoded(element, output):
    """Element times scale in binary64, where every such product is exact."""

    def values(codes, scales):
        factors = scales.view(ml_dtypes.float8_e8m0fnu).astype(np.float64)
        factors = np.repeat(factors, 32, axis=1)[:, : codes.shape[1]]
        return (codes.view(TYPES[element]).astype(np.float64) * factors).astype(OUTPUTS[output])

    return values


peer = Peer("ml_dtypes", "JAX", version_of("ml_dtypes"), numpy=np.__version__)
for element, dtype in TYPES.items():
    overflow = "saturate" if element in ("e3m2", "e2m3", "e2m1") else "overflow"
    peer.convert(element, lambda values, dtype=dtype: values.astype(dtype), overflow=overflow)
peer.convert("e8m0", lambda values: values.astype(ml_dtypes.float8_e8m0fnu), "ml_dtypes")
for block_format, element in FORMATS.items():
    for output in OUTPUTS:
        peer.dequantize_partial(block_format, "ocp", decoded(element, output), (output,))
if __name__ == "__main__":
    peer.serve()
