"""Arm's conversions to FP8 as QEMU executes them: FCVTN of f32 and f16, BFCVTN of bf16."""

import tempfile

import numpy as np
import qemu
from peer import Peer


def cast_to(program, *words):
    def codes(values):
        return np.frombuffer(qemu.output_of(program, words, values.tobytes()), dtype=np.uint8)

    return codes


with tempfile.TemporaryDirectory() as folder:
    made = qemu.compiled("qemu_arm_program", folder)
    peer = Peer("QEMU, Arm FEAT_FP8", "The QEMU Project", qemu.version())
    for element in ("e4m3", "e5m2"):
        for input_type in ("f32", "f16", "bf16"):
            for overflow in ("saturate", "overflow"):
                peer.convert(element, cast_to(made, element, input_type, overflow), "arm-fp8",
                             inputs=(input_type,), overflow=overflow)
    if __name__ == "__main__":
        peer.serve()
