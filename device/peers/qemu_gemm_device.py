"""Arm's dot products of FP8 as QEMU executes them: FDOT of four and of two, FMLALL and FMLAL."""

import tempfile

import numpy as np
import qemu
from peer import Peer

SUMS = {"fdot4": ("f32", np.uint32, np.float32), "fmlall": ("f32", np.uint32, np.float32),
        "fdot2": ("f16", np.uint16, np.float16), "fmlal": ("f16", np.uint16, np.float16)}


def product_by(program, instruction, a_type, b_type):
    def multiplied(a, b):
        rows, columns, depth = len(a), len(b), a.shape[1]
        pairs = np.empty((rows, columns, 2, depth), dtype=np.uint8)
        pairs[:, :, 0], pairs[:, :, 1] = a[:, None], b[None, :]
        made = qemu.output_of(program, (instruction, a_type, b_type, str(depth)), pairs.tobytes())
        sums = np.frombuffer(made, dtype="<u4").reshape(rows, columns)
        return sums.astype(SUMS[instruction][1]).view(SUMS[instruction][2]) + 0  # D is that plus 0

    return multiplied


with tempfile.TemporaryDirectory() as folder:
    made = qemu.compiled("qemu_gemm_program", folder)
    peer = Peer("QEMU, Arm FP8 dot products", "The QEMU Project", qemu.version())
    for instruction, (output, *_) in SUMS.items():
        for a_type in ("e4m3", "e5m2"):
            for b_type in ("e4m3", "e5m2"):
                peer.gemm(a_type, b_type, product_by(made, instruction, a_type, b_type),
                          outputs=(output,), algorithm=instruction)
    if __name__ == "__main__":
        peer.serve()
