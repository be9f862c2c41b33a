"""JAX's casts on the CPU as a device: XLA's conversions to float8, float4 and float8_e8m0fnu."""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
import jax
import jax.numpy as jnp
from peer import Peer, version_of

CASTS = {"e4m3": jnp.float8_e4m3fn, "e5m2": jnp.float8_e5m2, "e2m1": jnp.float4_e2m1fn}


def cast_to(dtype):
    return lambda values: jnp.asarray(values).astype(dtype)


jax.config.update("jax_platforms", "cpu")
peer = Peer("JAX", "Google", jax.__version__, jaxlib=version_of("jaxlib"))
for element, dtype in CASTS.items():
    overflow = "saturate" if element == "e2m1" else "overflow"
    peer.convert(element, cast_to(dtype), overflow=overflow)
peer.convert("e8m0", cast_to(jnp.float8_e8m0fnu), "ml_dtypes")
if __name__ == "__main__":
    peer.serve()
