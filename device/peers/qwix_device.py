"""Qwix's quantize with qtype mxfp8 and mxfp4 on JAX's CPU as a device.

The library keeps the scale as a number; its exponent is the byte.
"""

import jax
import jax.numpy as jnp
import numpy as np
from peer import Peer, version_of
from qwix._src.core import qarray

QTYPES = {"mxfp8-e4m3": "mxfp8", "mxfp4-e2m1": "mxfp4"}


def quantizer(qtype):
    how = qarray.HowToQuantize(qtype=qtype, channelwise_axes=[0], tiled_axes={1: 32})

    def quantized(blocks):
        made = qarray.quantize(jnp.asarray(blocks), how)
        scales = np.log2(np.array(made.scale, dtype=np.float64)) + 127
        return np.array(made.qvalue), scales.astype(np.uint8)

    return quantized


jax.config.update("jax_platforms", "cpu")
peer = Peer("Qwix", "Google", version_of("qwix"), jax=jax.__version__)
for block_format, qtype in QTYPES.items():
    peer.quantize(block_format, "nv", quantizer(qtype))
if __name__ == "__main__":
    peer.serve()
