"""Arm's dot products of FP8 as QEMU executes them: FDOT of four and of two, FMLALL and FMLAL.

The tree that is named is an unpacked package with usr/bin/qemu-aarch64, of QEMU 11.1 or later, as
`dpkg -x qemu-user_*.deb FOLDER` makes it. A compiler for AArch64 makes the program that it runs.
"""

import os
import pathlib
import subprocess
import tempfile

import numpy as np
from peer import Peer

QEMU = pathlib.Path(os.environ.get("MX_PEER_TREE", "/")) / "usr/bin/qemu-aarch64"
COMPILER = os.environ.get("MX_AARCH64_CC", "aarch64-linux-gnu-gcc")
SOURCE = pathlib.Path(__file__).with_name("qemu_gemm_program.c")
SUMS = {"fdot4": ("f32", np.uint32, np.float32), "fmlall": ("f32", np.uint32, np.float32),
        "fdot2": ("f16", np.uint16, np.float16), "fmlal": ("f16", np.uint16, np.float16)}


def version():
    words = subprocess.run([QEMU, "--version"], check=True, capture_output=True, text=True)
    return words.stdout.split("version ")[1].split()[0]


def product_by(program, instruction, a_type, b_type):
    def multiplied(a, b):
        rows, columns, depth = len(a), len(b), a.shape[1]
        pairs = np.empty((rows, columns, 2, depth), dtype=np.uint8)
        pairs[:, :, 0], pairs[:, :, 1] = a[:, None], b[None, :]
        command = [QEMU, "-cpu", "max", program, instruction, a_type, b_type, str(depth)]
        made = subprocess.run(command, input=pairs.tobytes(), check=True, capture_output=True)
        sums = np.frombuffer(made.stdout, dtype="<u4").reshape(rows, columns)
        return sums.astype(SUMS[instruction][1]).view(SUMS[instruction][2]) + 0  # D is that plus 0

    return multiplied


with tempfile.TemporaryDirectory() as folder:
    made = pathlib.Path(folder) / "program"
    subprocess.run([COMPILER, "-O2", "-static", SOURCE, "-o", made], check=True)
    peer = Peer("QEMU, Arm FP8 dot products", "The QEMU Project", version())
    for instruction, (output, *_) in SUMS.items():
        for a_type in ("e4m3", "e5m2"):
            for b_type in ("e4m3", "e5m2"):
                peer.gemm(a_type, b_type, product_by(made, instruction, a_type, b_type),
                          outputs=(output,), algorithm=instruction)
    if __name__ == "__main__":
        peer.serve()
