#!/usr/bin/env python3
"""Runs cocotb_quantizer.py under Verilator: the design as it is passes, and with each planted defect
it fails with a cause. Run by ctest with the source tree, the library and a folder to work in; 77:
what it needs is not here, and the reason is printed.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree

SKIPPED = 77


def reason_to_skip():
    if shutil.which("verilator") is None:
        return "there is no verilator here"
    try:
        import cocotb
        import numpy  # noqa: F401
    except ImportError as missing:
        return f"{missing} ({sys.executable}; MX_COCOTB_PYTHON names another Python)"
    told = subprocess.run(["verilator", "--version"], capture_output=True, text=True, check=True)
    verilator = tuple(int(part) for part in told.stdout.split()[1].split("."))
    major = int(cocotb.__version__.split(".")[0])
    if major >= 2 and verilator < (5, 36):
        return f"cocotb {cocotb.__version__} refuses Verilator {told.stdout.split()[1]}"
    return ""


def failures_of(results):
    cases = xml.etree.ElementTree.parse(results).getroot().iter("testcase")
    return {case.get("name"): case.find("failure") is not None for case in cases}


def main():
    tree, library, work = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    if reason := reason_to_skip():
        print(f"skipped: {reason}")
        return SKIPPED
    from cocotb.runner import get_runner

    shutil.rmtree(work, ignore_errors=True)
    here = tree / "conformance" / "dpi" / "test"
    os.environ["MXCHECK_LIBRARY"] = str(library)
    sys.path[:0] = [str(tree / "conformance" / "python"), str(here)]  # the simulator gets them
    os.environ["MAKEFLAGS"] = "OPT_FAST=-O1 OPT_SLOW=-O0 OPT_GLOBAL=-O0"
    runner = get_runner("verilator")
    runner.build(
        verilog_sources=[tree / "conformance" / "dpi" / "examples" / "tiny_quantizer.sv"],
        hdl_toplevel="tiny_quantizer",
        build_dir=work,
        build_args=["-Wno-fatal"],
        always=True,
    )
    wrong = 0
    for defect in range(5):
        named = {"DEFECT": str(defect)} | ({"BLOCKS": "600"} if defect else {})
        results = runner.test(
            hdl_toplevel="tiny_quantizer",
            test_module="cocotb_quantizer",
            build_dir=work,
            test_dir=work,
            results_xml=f"defect{defect}.xml",
            extra_env=named,
        )
        failed = failures_of(results)
        as_it_should = len(failed) == 2 and set(failed.values()) == {defect != 0}
        print(f"defect {defect}: {failed}, {'as it should' if as_it_should else 'WRONG'}")
        wrong += not as_it_should
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
