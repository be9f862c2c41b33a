"""Python functions as devices of the program."""

import concurrent.futures
import faulthandler
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import time

import numpy
import pytest

import mxcheck as mx

E4M3 = {"format": "mxfp8-e4m3", "dialect": "nv"}


def right(x, axis, block_size, format, dialect):
    return mx.quantize(x, format=format, dialect=dialect, axis=axis, block_size=block_size)


def verdicts(run):
    return {case["verdict"] for case in run.cases}


def test_a_right_function_passes(tmp_path):
    run = mx.run(right, level="quick", out=tmp_path, **E4M3)
    assert run.passed and run.code == 0 and run.first_error is None, run.text
    assert "No fault found" in run.sentence
    assert verdicts(run) == {"pass_exact", "not_supported"}
    assert sum(case["verdict"] == "pass_exact" for case in run.cases) > 100
    assert run.raise_for_status() is run
    assert "pass_exact" in repr(run) and "<table>" in run._repr_html_()
    assert (tmp_path / "results.jsonl").exists() and run.folder == tmp_path
    assert run.report(tmp_path / "pages").exists()


@pytest.mark.parametrize("name", ["nvfp4", "nvfp4-16x16"])
def test_nvfp4(name):
    def quantizer(x, axis, format, tensor_scale):
        axis = -1 if format == "nvfp4-16x16" else axis
        return mx.quantize(
            x, format=format, dialect="te-nvfp4", axis=axis, tensor_scale=tensor_scale
        )

    run = mx.run(quantizer, format=name, dialect="te-nvfp4", level="smoke")
    assert run.passed, run.text


def test_other_operations():
    def back(codes, scales, axis, format, dialect):
        return mx.dequantize(codes, scales, format=format, dialect=dialect, axis=axis)

    run = mx.run(back, operation="dequantize", level="smoke", **E4M3)
    assert run.passed and "pass_exact" in verdicts(run), run.text


def test_a_wrong_function_fails_with_lines_of_python():
    def wrong(x):
        return mx.quantize(x, format="mxfp8-e4m3", dialect="ocp")

    run = mx.run(wrong, level="smoke", **E4M3)
    assert run.code == 1 and not run.passed
    line = next(line for line in run.text.splitlines() if "mxcheck.replay(wrong, " in line)
    assert "unix:" not in run.text
    again = eval(line.strip(), {"mxcheck": mx, "wrong": wrong})
    assert again.code == 1, again.text
    with pytest.raises(mx.NotConformant, match="Not conformant"):
        run.raise_for_status()
    found = mx.identify(wrong, format="mxfp8-e4m3")
    assert found.code == 0 and "ocp" in found.sentence, found.text


def test_a_function_without_a_signature_is_asked():
    run = mx.run(numpy.negative, level="smoke", **E4M3)
    assert not run.passed and "2 arrays" in run.first_error


def test_what_it_raises_is_a_record():
    def raises(x):
        if x.shape[0] > 1:
            raise ZeroDivisionError("one row at most")
        return right(x, -1, None, **E4M3)

    run = mx.run(raises, level="smoke", **E4M3)
    assert run.code != 0
    assert "ZeroDivisionError: one row at most" in run.first_error
    assert any("one row at most" in case["reason"] for case in run.cases)


def test_not_implemented_is_not_supported():
    def nothing(x):
        raise NotImplementedError("only on Tuesdays")

    run = mx.run(nothing, level="smoke", **E4M3)
    assert run.code == 77 and verdicts(run) == {"not_supported"}
    assert any("only on Tuesdays" in case["reason"] for case in run.cases)


def test_a_function_that_fills_its_outputs():
    def fills(x, codes, scales):
        codes[...], scales[...] = right(x, -1, None, **E4M3)

    assert mx.run(fills, level="smoke", **E4M3).passed

    def leaves_one_out(x, codes, scales):
        made = right(x, -1, None, **E4M3)
        codes.reshape(-1)[:-1] = made.codes.reshape(-1)[:-1]
        scales[...] = made.scales

    assert mx.run(leaves_one_out, level="smoke", **E4M3).code == 1


@pytest.mark.parametrize(
    "spoil, told",
    [
        (lambda q: (q.codes[:, :-1], q.scales), "shape"),
        (lambda q: (q.codes,), "2 arrays"),
        (lambda q: None, "NoneType"),
        (lambda q: (q.codes.astype("float32"), q.scales), "float32"),
        (lambda q: (q.codes.tolist(), q.scales), "type int64"),
        (lambda q: (None, q.scales), "None"),
    ],
)
def test_wrong_results_are_sentences(spoil, told):
    run = mx.run(lambda x: spoil(right(x, -1, None, **E4M3)), level="smoke", **E4M3)
    assert run.code in (1, 3, 4)
    assert any(told in case["reason"] for case in run.cases), run.cases[0]["reason"]


def test_an_input_that_is_written_is_seen():
    def writes(x):
        made = right(x, -1, None, **E4M3)
        x[0, 0] = 1
        return made

    run = mx.run(writes, level="smoke", **E4M3)
    assert any("wrote into its input" in case["reason"] for case in run.cases)


def test_a_view_of_the_input_is_no_right_answer():
    def view(x):
        return x.view("uint8")[:, : x.shape[1]], right(x, -1, None, **E4M3).scales

    assert mx.run(view, level="smoke", **E4M3).code == 1


def test_an_interrupt_leaves_a_record_that_goes_on(tmp_path):
    calls = []

    def interrupted(x):
        calls.append(1)
        if len(calls) == 20:
            os.kill(os.getpid(), signal.SIGINT)
        return right(x, -1, None, **E4M3)

    # A shell starts its background jobs with the signal ignored, and Python then leaves it so.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            mx.run(interrupted, level="quick", out=tmp_path, **E4M3)
    finally:
        signal.signal(signal.SIGINT, before)
    run = mx.run(interrupted, level="quick", out=tmp_path, resume=True, **E4M3)
    assert run.passed, run.text


def test_an_ignored_signal_hides_no_code():
    def wrong(x):
        return mx.quantize(x, format="mxfp8-e4m3")

    asked = {"level": "smoke", **E4M3}
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system then drops exit codes
    try:
        run = mx.run(wrong, **asked)
        assert run.code == 1 and not run.passed
        case = next(
            case["case"]
            for case in run.cases
            if "pass" not in case["verdict"] and case["verdict"] != "not_supported"
        )
        assert mx.replay(wrong, case).code == 1
        assert mx.identify(lambda x: (x, x), format="mxfp8-e4m3").code != 0
        assert mx.run(right, **asked).passed
        assert mx.run(right, isolate=True, **asked).passed
        with concurrent.futures.ThreadPoolExecutor() as pool:
            with pytest.raises(RuntimeError, match="SIGCHLD is ignored"):
                pool.submit(mx.run, right, **asked).result()
        assert signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert not mx.run(right, options=["--help"], **E4M3).passed


def test_a_run_in_another_process_says_the_same():
    run = mx.run(right, level="smoke", **E4M3)
    kept = pickle.dumps(run)
    text, cases = repr(run), run.cases
    del run
    run = pickle.loads(kept)
    assert run.passed and run.cases == cases and repr(run) == text
    with pytest.raises(FileNotFoundError, match="out="):
        run.report("nowhere")


def test_a_run_keeps_its_cases_when_its_folder_is_used_again(tmp_path):
    first = mx.run(right, level="smoke", out=tmp_path, **E4M3)
    mx.run(lambda x: mx.quantize(x, format="mxfp8-e4m3"), level="smoke", out=tmp_path, **E4M3)
    assert first.passed


ABANDONED = """
import pathlib, sys, time
import mxcheck as mx

def hangs(x):
    pathlib.Path(sys.argv[1]).touch()
    time.sleep(60)

mx.run(hangs, isolate=sys.argv[2] == "isolated", format="mxfp8-e4m3", dialect="nv")
"""


def started_by(caller):
    """The processes that this one has started, and they in turn."""
    found, parents = {caller}, {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state != "Z":
            parents[int(folder.name)] = int(parent)
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {caller}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("kind", ["isolated", "here"])
def test_nothing_outlives_a_killed_caller(kind, tmp_path):
    mark = tmp_path / "asked"
    caller = subprocess.Popen([sys.executable, "-c", ABANDONED, str(mark), kind])
    while not mark.exists():
        assert caller.poll() is None
        time.sleep(0.05)
    started = started_by(caller.pid)
    assert len(started) >= 1 + (kind == "isolated")
    caller.kill()
    caller.wait()
    until = time.monotonic() + 20
    while left := {pid for pid in started if is_alive(pid)}:
        assert time.monotonic() < until, left
        time.sleep(0.05)


def is_alive(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


def test_leaving_the_program_is_a_record():
    run = mx.run(lambda x: sys.exit("enough"), level="smoke", **E4M3)
    assert "SystemExit: enough" in run.first_error and not run.passed


def test_a_crash_is_a_record():
    def crashes(x):
        if x.shape[0] > 100:
            faulthandler.disable()  # no traceback of a crash that is meant
            os.kill(os.getpid(), signal.SIGSEGV)
        return right(x, -1, None, **E4M3)

    run = mx.run(crashes, level="smoke", isolate=True, **E4M3)
    assert run.code == 3, run.text
    assert run.cases and verdicts(run) - {"pass_exact", "not_supported"}


def test_torch_tensors():
    torch = pytest.importorskip("torch")

    def on_torch(x):
        assert isinstance(x, torch.Tensor)
        return right(x, -1, None, **E4M3).typed()

    run = mx.run(on_torch, level="smoke", tensors="torch", **E4M3)
    assert run.passed, run.text
    if not torch.cuda.is_available():
        pytest.skip("no GPU for torch-cuda")
    run = mx.run(on_torch, level="smoke", tensors="torch-cuda", **E4M3)
    assert run.passed, run.text


@pytest.mark.parametrize(
    "call, told",
    [
        (lambda: mx.run(None, **E4M3), "no function"),
        (lambda: mx.run(right, format="mxfp9", dialect="nv"), "mxfp9"),
        (lambda: mx.run(right, format="mxfp8-e4m3", dialect="nvv"), "did you mean"),
        (lambda: mx.run(right, tensors="tensorflow", **E4M3), "tensorflow"),
        (lambda: mx.run(right, operation="swizzle", **E4M3), "swizzle"),
        (lambda: mx.run(right, format=[1], dialect="nv"), "name"),
        (lambda: mx.run(right, format=5), "format is 5"),
        (lambda: mx.run(right, tensors=None, **E4M3), "tensors is None"),
        (lambda: mx.run(right, tensors="torch:cuda", **E4M3), "torch:cuda.* is none of"),
        (lambda: mx.run(right, tensors="torch-cuda:1", **E4M3), "CUDA_VISIBLE_DEVICES"),
        (lambda: mx.run(right, tensors="numpy-cuda", **E4M3), "numpy-cuda"),
        (lambda: mx.run(right, level=None, **E4M3), "level is None"),
        (lambda: mx.run(right, out=5, **E4M3), "5; a path"),
        (lambda: mx.replay(right, ""), "case is ''"),
        (lambda: mx.replay(right, "relate"), "case is 'relate'"),
        (lambda: mx.replay(right, "quantize 'a"), "case is"),
        (lambda: mx.replay(right, None), "case is None"),
    ],
)
def test_bad_arguments(call, told):
    with pytest.raises((TypeError, ValueError), match=told):
        call()


def test_a_wrong_level_is_the_programs_sentence():
    run = mx.run(right, level="slow", **E4M3)
    assert run.code == 2 and "slow" in run.text
