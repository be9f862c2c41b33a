"""The program that came with the package, as the command `mxcheck`."""

import os
import pathlib
import sys


def main():
    package = pathlib.Path(__file__).parent.parent / "mxcheck"
    program = package / "_native" / "bin" / "mxcheck"
    if not program.exists():
        sys.exit(f"mxcheck: the program is not in {program.parent}; install with `pip install .`")
    os.execv(program, [sys.argv[0], *sys.argv[1:]])
