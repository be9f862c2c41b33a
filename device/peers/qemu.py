"""QEMU, from an unpacked package with usr/bin/qemu-aarch64, of version 11.1 or later, as
`dpkg -x qemu-user_*.deb FOLDER` makes it: that is the tree which is named.

What it runs are small programs in C beside the adapters, which a compiler for AArch64 makes.
"""

import os
import pathlib
import subprocess

QEMU = pathlib.Path(os.environ.get("MX_PEER_TREE", "/")) / "usr/bin/qemu-aarch64"
COMPILER = os.environ.get("MX_AARCH64_CC", "aarch64-linux-gnu-gcc")


def version():
    words = subprocess.run([QEMU, "--version"], check=True, capture_output=True, text=True)
    return words.stdout.split("version ")[1].split()[0]


def compiled(name, folder):
    """The program of NAME.c, in that folder."""
    made = pathlib.Path(folder) / name
    source = pathlib.Path(__file__).with_name(f"{name}.c")
    subprocess.run([COMPILER, "-O2", "-static", source, "-o", made], check=True)
    return made


def output_of(program, words, data):
    """What the program writes to standard output when these bytes are its input."""
    command = [QEMU, "-cpu", "max", program, *words]
    return subprocess.run(command, input=data, check=True, capture_output=True).stdout
