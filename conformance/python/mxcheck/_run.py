"""mx.run and its kin: the program's commands on a Python function."""

import contextlib
import ctypes
import html
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable

from ._layouts import PLAIN, layout_names
from ._library import native_folder
from ._names import find_dialect, find_format
from ._serving import OPERATIONS, FunctionDevice, expect_library, listening, serve
from ._serving_gemm import GemmDevice

_CONFORMANT = 0
_COMPARED = {"pass_exact", "pass_bounded", "deviation", "waived"}


def program():
    """The path of the program mxcheck: the package's own, or what MXCHECK_PROGRAM names."""
    named = os.environ.get("MXCHECK_PROGRAM")
    own = native_folder() / "bin" / "mxcheck"
    found = named or (str(own) if own.exists() else shutil.which("mxcheck"))
    if not found:
        raise FileNotFoundError(
            f"the program mxcheck is not in {own.parent}; install the package with "
            "`pip install .`, or set MXCHECK_PROGRAM to its path"
        )
    return found


class NotConformant(AssertionError):
    """What raise_for_status raises: the end of what the program said."""


def path_of(folder):
    """Of a folder that the caller named, or of a temporary one."""
    is_temporary = isinstance(folder, tempfile.TemporaryDirectory)
    if not is_temporary and not isinstance(folder, (str, os.PathLike)):
        raise TypeError(f"the folder is {folder!r}; a path is needed")
    return pathlib.Path(folder.name if is_temporary else folder).absolute()


def _cases_in(folder):
    record = folder / "results.jsonl"
    if not record.exists():
        return []
    entries = map(json.loads, record.read_text().splitlines())
    return [entry for entry in entries if entry.get("kind") == "case"]


class Run:
    """What a command said of a function.

    code: its exit code: 0 no fault, 1 a mismatch, 2 bad input, 3 the function's process was lost,
        4 incomplete, 5 the oracle is broken, 77 nothing was tested.
    text: what it printed. sentence: the last line of that.
    cases: the records of the cases, as dictionaries; of run and relate alone.
    first_error: the traceback of the first exception of the function, or None.
    """

    def __init__(self, code, text, folder, first_error):
        self.code, self.text, self.first_error = code, text, first_error
        self._kept = folder  # a temporary folder lives as long as this
        self.folder = None if folder is None else path_of(folder)
        lines = [line for line in text.splitlines() if line.strip()]
        self.sentence = lines[-1] if lines else ""
        # Read now: a folder may be deleted, or hold another run later.
        self.cases = [] if self.folder is None else _cases_in(self.folder)

    def __getstate__(self):
        # A temporary folder stays with the process, which deletes it.
        is_temporary = isinstance(self._kept, tempfile.TemporaryDirectory)
        return {**self.__dict__, "_kept": None if is_temporary else self._kept}

    @property
    def passed(self):
        """No fault was found: by the exit code and, of run, by the record, in which something was
        compared."""
        if self.code != _CONFORMANT or self.folder is None:
            return self.code == _CONFORMANT
        verdicts = {case["verdict"] for case in self.cases}
        return bool(verdicts & _COMPARED) and verdicts <= _COMPARED | {"not_supported"}

    def report(self, folder):
        """Copies record and pages of a run into `folder`; the path of report.html there."""
        if self.folder is None:
            raise ValueError("only mxcheck.run writes a record")
        if not self.folder.exists():
            raise FileNotFoundError(
                f"{self.folder}, the folder of the run, is gone; name one, out="
            )
        shutil.copytree(self.folder, folder, dirs_exist_ok=True)
        return pathlib.Path(folder) / "report.html"

    def raise_for_status(self):
        """Raises NotConformant unless no fault was found."""
        __tracebackhide__ = True
        if not self.passed:
            error = f"\n{self.first_error}" if self.first_error else ""
            raise NotConformant(f"{self.text}{error}")
        return self

    def _rows(self):
        """What was asked, and what was said of it."""
        counts = {}
        for case in self.cases:
            row = counts.setdefault((case["operation"], case["format"], case["dialect"]), {})
            row[case["verdict"]] = row.get(case["verdict"], 0) + 1
        for key, row in counts.items():
            yield " ".join(key), ", ".join(f"{n:,} {verdict}" for verdict, n in row.items())

    def __repr__(self):
        return "\n".join([*(": ".join(row) for row in self._rows()), self.sentence])

    def _repr_html_(self):
        return html_of(self._rows(), self.sentence)


def html_of(rows, sentence):
    """A table with a sentence below it, for notebooks."""
    cells = (("".join(f"<td>{html.escape(cell)}</td>" for cell in row)) for row in rows)
    table = "".join(f"<tr>{row}</tr>" for row in cells)
    return f"<table>{table}</table><p>{html.escape(sentence)}</p>"


def expect_text(value, what):
    if not isinstance(value, str):
        raise TypeError(f"{what} is {value!r}; one name is needed")


def names_of(value, what):
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, Iterable):
        names = list(value)
        if all(isinstance(name, str) for name in names):
            return names
    raise TypeError(f"{what} is {value!r}; a name, or several, are needed")


def _suites(operation, formats):
    """The suites that ask this of these formats, as one pattern of the program."""
    if operation in ("convert", "gemm"):
        return operation + "*"
    kinds = {
        "nvfp4" if name.startswith("nvfp4") else "fp8" if name.startswith("fp8") else operation
        for name in formats
    }
    return kinds.pop() if len(kinds) == 1 else "*"


def _serve_here(device, listener, child):
    def ended():
        return child.poll() is not None

    device.stop = lambda: child.send_signal(signal.SIGINT)
    serve(device, listener, ended)
    if device.was_stopped:
        raise KeyboardInterrupt


_PR_SET_PDEATHSIG = 1


def _fork_server(device, listener, told):
    """It ends with this process, in the middle of the function, too; then the program, whose socket
    that closes, ends by itself."""
    parent = os.getpid()
    control = ctypes.CDLL(None).prctl if sys.platform == "linux" else None
    server = os.fork()
    if server != 0:
        return server
    try:
        if control is not None:
            control(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # which had died before
            os._exit(0)
        serve(device, listener, lambda: os.getppid() != parent, told)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _serve_apart(device, listener, child, place):
    """In a forked process, and in a new one whenever that one has died."""
    told = pathlib.Path(place, "error")
    while child.poll() is None:
        server = _fork_server(device, listener, told)
        gone = False
        try:
            while child.poll() is None and not gone:
                gone = os.waitpid(server, os.WNOHANG) != (0, 0)
                time.sleep(0.01)
        finally:
            if not gone:
                os.kill(server, signal.SIGKILL)
                os.waitpid(server, 0)
    if told.exists():
        device.first_error = told.read_text()


def _expect_forkable(tensors):
    """A forked process cannot use a GPU, or threads of JAX, that its parent has begun with."""
    begun = None
    torch, jax, cupy = (sys.modules.get(name) for name in ("torch", "jax", "cupy"))
    if torch is not None and torch.cuda.is_initialized():
        begun = "torch has used CUDA"
    elif cupy is not None and (tensors == "cupy" or cupy.cuda.driver.ctxGetCurrent() != 0):
        begun = "CuPy has used CUDA"
    elif jax is not None and tensors == "jax":
        begun = "JAX is imported"
    if begun:
        raise RuntimeError(
            f"isolate=True forks this process, in which {begun}, and a forked one cannot use it: "
            "call it in a new process before that, or leave isolate away"
        )


def expect_gpu(tensors):
    """One sentence, where each case would say it."""
    if tensors == "torch-cuda":
        import torch

        if not torch.cuda.is_available():
            raise RuntimeError(f"tensors='torch-cuda', and torch {torch.__version__} sees no GPU")


@contextlib.contextmanager
def _waited_for():
    """Where SIGCHLD is ignored the system drops the exit codes of processes."""
    if signal.getsignal(signal.SIGCHLD) is not signal.SIG_IGN:
        yield
        return
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError(
            "SIGCHLD is ignored, so that the program's exit code cannot be had: set it to "
            "signal.SIG_DFL, or call this in the main thread, which does so meanwhile"
        )
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)


@_waited_for()
def command(device, arguments, isolate=False, suite=None):
    """Runs the program beside this process and answers it; (exit code, what it printed). `suite` is
    the text of the file that the arguments call SUITE."""
    if isolate:
        _expect_forkable(device.tensors)
    else:
        expect_gpu(device.tensors)
    # A socket's path has 107 bytes at most, and temporary folders can be deep.
    short = "/tmp" if len(tempfile.gettempdir()) > 40 and os.access("/tmp", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="mxcheck", dir=short) as place:
        # The record calls the device by this name, so it is the same in the next run.
        name = f"unix:{device.facts['name']}"
        listener = listening(os.path.join(place, device.facts["name"]))
        if suite is not None:
            pathlib.Path(place, SUITE).write_text(suite)
        line = [os.path.abspath(program()), *arguments, "--device-cmd", name]
        # A session of its own: Ctrl-C in a terminal reaches it once, through this process.
        child = subprocess.Popen(
            line,
            cwd=place,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        printed = []
        reader = threading.Thread(target=lambda: printed.extend(child.stdout), daemon=True)
        reader.start()
        try:
            if isolate:
                _serve_apart(device, listener, child, place)
            else:
                _serve_here(device, listener, child)
        finally:
            listener.close()
            if child.poll() is None:
                child.kill()
            child.wait()
            reader.join()
            child.stdout.close()
    return child.returncode, _in_python("".join(printed), device, name)


def _in_python(text, device, name):
    """Lines that repeat a case, as Python; the socket they name is gone."""
    function = device.facts["name"]
    again = rf'mxcheck.replay({function}, %s, tensors="{device.tensors}")'
    place = rf"--device-cmd '?{re.escape(name)}'?"
    text = re.sub(rf"mxcheck replay ('[^']*') {place}", again % r"\1", text)
    text = re.sub(rf"mxcheck (relate) {place} (.*)", again % r'"\1 \2"', text)
    return text.replace(name, function)


def device_of(function, operation, format, dialect, tensors, laid=PLAIN):
    """(FunctionDevice, formats, dialects)"""
    if not callable(function):
        raise TypeError(f"{function!r} is no function")
    if operation not in OPERATIONS:
        raise ValueError(f"operation {operation!r} is none of {', '.join(OPERATIONS)}")
    expect_library(tensors)
    formats, dialects = names_of(format, "format"), names_of(dialect, "dialect")
    if operation != "convert":
        for name in formats:
            find_format(name)
    for name in dialects:
        find_dialect(name)
    if operation == "gemm" and dialects:
        raise ValueError("a product follows no dialect; leave dialect away")
    layout_names(*laid, "row")
    kind = GemmDevice if operation == "gemm" else FunctionDevice
    return kind(function, operation, formats, dialects, tensors, laid), formats, dialects


SUITE = "relaid.suite"


def _fields_of(case):
    """Fields and values of the parts of a case's line."""
    return dict(part.split("=", 1) for part in case if "=" in part)


@_waited_for()
def _relaid(operation, suites, level, formats, dialects, laid):
    """The cases of these suites in other layouts, as a suite."""
    packing, scale_layout = laid
    line = [program(), "list", "cases", "--suite", suites, "--level", level]
    listed = subprocess.run(line, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        raise ValueError(listed.stderr.strip())
    plain = " scales=linear packing=bytes "
    axes = ("row",) if packing == "inline" else ("row", "col")
    cases = []
    for case in (entry.split(None, 1)[1] for entry in listed.stdout.splitlines()):
        fields = _fields_of(case.split())
        fits = case.startswith(f"{operation} ") and plain in case and fields["axis"] in axes
        fits = fits and fields["format"] in formats
        if fits and (not dialects or fields["dialect"] in dialects):
            laid_out = f" scales={scale_layout} packing={packing} "
            cases.append(f"{level} {case.replace(plain, laid_out)}\n")
    return "".join(cases)


def run(
    function,
    *,
    format=None,
    dialect=None,
    level="quick",
    operation="quantize",
    tensors="numpy",
    packing="bytes",
    scale_layout="linear",
    out=None,
    resume=False,
    isolate=False,
    options=(),
):
    """Holds a function to the oracle in every case of the suites, as `mxcheck run` does a device.

    function(x) returns codes and scales of a matrix, raw or in FP8 dtypes (or a Quantized), as
        quantize does; function(x, codes, scales) fills them. What else it wants it names as a
        parameter: format, dialect, axis (the number), block_size, tensor_scale, random_bits,
        packing, scale_layout, shape (of the values); without them it is asked for rows in the
        format's own blocks alone. NotImplementedError is "not supported"; any other exception is a
        record. It runs in this process and thread.
    format, dialect: a name or several; all without them.
    level: "smoke", "quick" or "full": seconds, minutes, longer; "large" beside these.
    operation: "quantize", "dequantize" (function(codes, scales) returns values: float32, or of the
        `dtype` that it names as a parameter and is told), "convert", or "gemm": function(a,
        a_scales, b, b_scales) returns D = A * B^T. a and b are M x K and N x K: codes, a byte each,
        with their scales as Quantized has them, or values and None. `format` then names the formats
        of both factors, and dialect stays away. It may name the parameters a_format, b_format
        ("mxfp8-e4m3", "e4m3:tensor", "bf16"), dtype (of D, by name), alpha, beta and c, bias,
        epilogue, batches (problems below each other), accumulation, and offsets, the int32 row
        offsets of a grouped product, as grouped_gemm takes them (else None; then b is E * N x K, and
        rows of D beyond the last one may hold anything); without them it is asked for one plain
        product in float32.
    tensors: what the function gets: "numpy", "torch", "jax", "torch-cuda" or "cupy".
    packing, scale_layout: as mxcheck.quantize takes them: what the function makes, or takes. It is
        then put through the same cases in this layout, its pads among them, of blocks along axes;
        codes are a row's bytes, scales of any shape that has as many bytes. A format is named.
    out: the folder for the record and the report; without it one that goes with the Run. With
        resume=True a run that was interrupted there goes on.
    isolate: the function runs in a forked process, so that its crash is a record and not the end of
        this one. After this process has used CUDA that is a RuntimeError: a forked one cannot.
    options: further arguments of the command line, as ["--max-not-supported", "0"]; paths in them
        are absolute ones.

    Returns Run. Two calls of a function that fills its outputs get them filled with different
    bytes, so that an element it leaves out is seen; an input that it writes is an error. Raises
    TypeError and ValueError for arguments that are none of these; what the function raises is in
    the Run.
    """
    laid = packing, scale_layout
    device, formats, dialects = device_of(function, operation, format, dialect, tensors, laid)
    expect_text(level, "level")
    folder = tempfile.TemporaryDirectory(prefix="mxcheck-run-") if out is None else out
    suites, suite = _suites(operation, formats), None
    arguments = ["run", "--suite", suites, "--level", level]
    if laid != PLAIN:
        if not formats or operation not in ("quantize", "dequantize"):
            raise ValueError("a layout is one of quantize or dequantize: name the format")
        suite = _relaid(operation, suites, level, formats, dialects, laid)
        arguments = ["run", "--suite-file", SUITE, "--level", level]
    arguments += ["--out", str(path_of(folder)), "--jobs", "1"]
    if formats and operation != "convert":
        arguments += ["--format", ",".join(formats)]
    if dialects:
        arguments += ["--dialect", ",".join(dialects)]
    if resume:
        arguments.append("--resume")
    code, text = command(device, [*arguments, *names_of(options, "options")], isolate, suite)
    return Run(code, text, folder, device.first_error)


def replay(function, case, *, tensors="numpy"):
    """One case again.

    function, tensors: as run takes them.
    case: the text in the line that a failure of run, fuzz or relate printed.

    Returns Run. Raises TypeError and ValueError for arguments that are none of these.
    """
    expect_text(case, "case")
    try:
        parts = shlex.split(case)
        is_relation = parts[0] == "relate"
        operation = parts[parts.index("--op") + 1] if is_relation else parts[0]
    except (ValueError, IndexError):
        raise ValueError(
            f"case is {case!r}; the text in the line that a failure printed is needed"
        ) from None
    fields = _fields_of(parts)
    arguments = parts if is_relation else ["replay", case]
    laid = fields.get("packing", "bytes"), fields.get("scales", "linear")
    device, _, _ = device_of(function, operation, None, None, tensors, laid)
    code, text = command(device, arguments)
    return Run(code, text, None, device.first_error)


def identify(function, *, format, tensors="numpy", options=()):
    """Which dialect does a function follow? As `mxcheck identify`.

    function, tensors: as run takes them.
    format: a name or several.
    options: further arguments of the command line, of `mxcheck identify --help`.

    Returns Run, whose sentence names the dialect. Raises TypeError and ValueError for arguments
    that are none of these.
    """
    device, _, _ = device_of(function, "quantize", format, None, tensors)
    named = names_of(format, "format"), names_of(options, "options")
    arguments = ["identify", "--format", ",".join(named[0]), *named[1]]
    code, text = command(device, arguments)
    return Run(code, text, None, device.first_error)
