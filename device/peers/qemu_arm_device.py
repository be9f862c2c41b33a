"""Arm's conversions to FP8 as QEMU executes them: FCVTN of f32 and f16, BFCVTN of bf16.

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
SOURCE = pathlib.Path(__file__).with_name("qemu_arm_program.c")


def version():
    words = subprocess.run([QEMU, "--version"], check=True, capture_output=True, text=True)
    return words.stdout.split("version ")[1].split()[0]


def cast_to(program, element, input_type, overflow):
    command = [QEMU, "-cpu", "max", program, element, input_type, overflow]

    def codes(values):
        made = subprocess.run(command, input=values.tobytes(), check=True, capture_output=True)
        return np.frombuffer(made.stdout, dtype=np.uint8)

    return codes


with tempfile.TemporaryDirectory() as folder:
    made = pathlib.Path(folder) / "program"
    subprocess.run([COMPILER, "-O2", "-static", SOURCE, "-o", made], check=True)
    peer = Peer("QEMU, Arm FEAT_FP8", "The QEMU Project", version())
    for element in ("e4m3", "e5m2"):
        for input_type in ("f32", "f16", "bf16"):
            for overflow in ("saturate", "overflow"):
                peer.convert(element, cast_to(made, element, input_type, overflow), "arm-fp8",
                             inputs=(input_type,), overflow=overflow)
    if __name__ == "__main__":
        peer.serve()
