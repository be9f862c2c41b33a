#!/usr/bin/env python3
"""Runs the judges: other people's libraries, each as a device against the dialect that names it.

    judges.py MXCHECK FOLDER [NAME ...]

Makes a private Python environment in FOLDER/python with what requirements.txt says, runs
`mxcheck run --device-cmd` once per judge, and prints a row for each. A judge whose library is not
there is skipped with the reason. The exit code is the worst of the runs; 77 if nothing ran.
Standard library only. PyTorch and torchao are not installed here: MX_TORCH_PYTHON names a Python
that has them.
"""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
TIMEOUT_S = 900  # for the whole installation

# name, adapter, what must import for it, and whether MX_TORCH_PYTHON has it
JUDGES = [
    ("ml_dtypes", "ml_dtypes_device.py", "ml_dtypes", False),
    ("gfloat", "gfloat_device.py", "gfloat", False),
    ("torch", "torch_device.py", "torch", True),
    ("torchao", "torchao_device.py", "torchao", True),
    ("microxcaling", "microxcaling_device.py", "mx", True),
]


def make_environment(folder):
    """The Python of the private environment, and "" or why it lacks the libraries."""
    python = folder / "bin" / "python"
    wanted = (HERE / "requirements.txt").read_text()
    done = folder / "installed.txt"
    if done.is_file() and done.read_text() == wanted:
        return python, ""
    try:
        venv.create(folder, with_pip=True, clear=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run(
            [*install, "--retries", "1", "--timeout", "15", "-r", HERE / "requirements.txt"],
            check=True, capture_output=True, text=True, timeout=TIMEOUT_S)
    except subprocess.CalledProcessError as error:
        words = (error.stderr or error.stdout or "no reason given").strip().splitlines()
        return python, f"PyPI is out of reach or lacks a version: {words[-1][:200]}"
    except SystemExit:  # Debian's Python without the package python3-venv ends the program
        return python, "no private Python environment: this Python lacks ensurepip (python3-venv)"
    except (OSError, subprocess.TimeoutExpired) as error:
        return python, f"no private Python environment: {error}"
    done.write_text(wanted)
    return python, ""


def lacks(python, module):
    probe = subprocess.run([python, "-c", f"import {module}"], capture_output=True, text=True)
    lines = probe.stderr.strip().splitlines()
    return lines[-1] if probe.returncode else ""


def run_judge(mxcheck, python, judge, out):
    """The exit code and the row's text."""
    name, adapter = judge[:2]
    command = shlex.join([str(python), str(HERE / adapter)])
    suite = HERE / f"{name}.suite"
    run = [mxcheck, "run", "--device-cmd", command, "--suite-file", suite, "--level", "smoke"]
    done = subprocess.run([*run, "--timeout", "600", "--out", out], capture_output=True, text=True)
    out.mkdir(parents=True, exist_ok=True)
    (out / "console.txt").write_text(done.stdout + done.stderr)
    results = out / "results.jsonl"
    if not results.is_file():
        return done.returncode, (done.stderr.strip().splitlines() or ["no results"])[-1]
    return done.returncode, row_of([json.loads(line) for line in results.open()])


def row_of(lines):
    cases = [line for line in lines if line.get("kind") == "case"]
    verdicts = {}
    for case in cases:
        verdicts[case["verdict"]] = verdicts.get(case["verdict"], 0) + 1
    compared = sum(case["elements"] + case["scales"] for case in cases)
    wrong = sum(case["mismatched_elements"] + case["mismatched_scales"] for case in cases)
    reasons = sorted({case["reason"] for case in cases if case["verdict"] == "deviation"})
    text = f"{len(cases):5} cases {compared:10} compared {wrong:8} differ  "
    return text + ", ".join(f"{count} {name}" for name, count in sorted(verdicts.items())) + \
        "".join(f"\n{'':12}deviation: {reason}" for reason in reasons)


def main():
    mxcheck, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    names = sys.argv[3:] or [judge[0] for judge in JUDGES]
    python, trouble = make_environment(folder / "python")
    codes = []
    for judge in JUDGES:
        if judge[0] not in names:
            continue
        chosen = os.environ.get("MX_TORCH_PYTHON", python) if judge[3] else python
        reason = trouble if trouble and not judge[3] else lacks(chosen, judge[2])
        if reason:
            print(f"{judge[0]:12}skipped: {reason}")
            continue
        code, row = run_judge(mxcheck, chosen, judge, folder / judge[0])
        print(f"{judge[0]:12}exit {code:2} {row}", flush=True)
        codes.append(code)
    ran = [code for code in codes if code != SKIPPED]
    sys.exit(max(ran) if ran else SKIPPED)


if __name__ == "__main__":
    main()
