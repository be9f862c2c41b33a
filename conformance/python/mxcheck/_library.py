"""libmxcheck through ctypes: the structs of mx_device.h and mx_oracle.h, and errors as exceptions.

Nothing else of the package talks to the library. Names of members are those of the headers.
"""

import ctypes
import json
import os
import pathlib
import threading
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p

ORACLE_VERSION = 1


class MxcheckError(Exception):
    """The oracle could not answer; the text says why."""


class NotSupported(MxcheckError, NotImplementedError):
    """A name that the oracle does not know, or parts that do not go together."""


class InvalidCall(MxcheckError, ValueError):
    """A call that contradicts itself, or values that a type has no room for."""


class BrokenOracle(MxcheckError):
    """The oracle of this build gives wrong answers to typed questions; it never judges."""


class Message(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("text", c_char_p), ("capacity", c_size_t)]


class Gemm(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("batches", c_int64),
        ("alpha", c_uint32),
        ("beta", c_uint32),
        ("scaling_a", c_char_p),
        ("scaling_b", c_char_p),
        ("scaling_out", c_char_p),
        ("epilogue", c_char_p),
        ("accumulation", c_char_p),
        ("algorithm", c_char_p),
        ("groups", c_int64),
    ]


class Operation(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("format", c_char_p),
        ("dialect", c_char_p),
        ("axis", c_char_p),
        ("rounding", c_char_p),
        ("overflow", c_char_p),
        ("subnormals", c_char_p),
        ("block_size", c_int64),
        ("gemm", POINTER(Gemm)),
        ("tensor_scale", c_char_p),
    ]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("data", c_void_p),
        ("type", c_char_p),
        ("place", c_char_p),
        ("layout", c_char_p),
        ("rows", c_int64),
        ("columns", c_int64),
        ("row_stride", c_int64),
        ("column_stride", c_int64),
    ]


class Options(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("model", c_char_p), ("places_max", c_size_t)]


class Block(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("format", c_char_p),
        ("dialect", c_char_p),
        ("type", c_char_p),
        ("values", c_char_p),
    ]


TENSOR_SIZE = ctypes.sizeof(Tensor)
MESSAGE_BYTES = 1024
_errors = {1: NotSupported, 2: InvalidCall, 3: MemoryError, 5: BrokenOracle}


def text(value):
    """A name as the library takes it; None stays NULL."""
    return None if value is None else value.encode()


def native_folder():
    """Where a wheel keeps the library, the program and its plug-ins."""
    return pathlib.Path(__file__).parent / "_native"


def _find_library():
    named = os.environ.get("MXCHECK_LIBRARY")
    if named:
        return named
    for found in sorted(native_folder().glob("lib*/libmxcheck.so*")):
        return str(found)
    raise ImportError(
        f"libmxcheck.so is not in {native_folder()}; install the package with `pip install .`, "
        "or set MXCHECK_LIBRARY to the library's path"
    )


def _load():
    path = _find_library()
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"libmxcheck cannot be loaded: {error}") from error
    tensors = [POINTER(Operation), POINTER(Tensor), c_size_t, POINTER(Tensor), c_size_t]
    message = POINTER(Message)
    signatures = {
        "version": (c_uint32, []),
        "build": (c_char_p, []),
        "check": (c_int, [message]),
        "run": (c_int, [*tensors, POINTER(Options), message]),
        "compare": (c_int, [*tensors, POINTER(Options), POINTER(c_void_p), message]),
        "list": (c_int, [c_char_p, POINTER(c_void_p), message]),
        "explain": (c_int, [POINTER(Block), POINTER(c_void_p), message]),
        "edge_cases": (c_int, [c_char_p] * 4 + [POINTER(Tensor), message]),
        "free": (None, [c_void_p]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, "mx_oracle_" + name)
        function.restype = result
        function.argtypes = arguments
    found = library.mx_oracle_version()
    if found < ORACLE_VERSION:
        raise ImportError(
            f"{library._name} has version {found} of mx_oracle.h; {ORACLE_VERSION} is needed"
        )
    return library


_library = _load()


class _Room(threading.local):
    """Where the library writes its sentence; a room for each thread."""

    def __init__(self):
        self.text = ctypes.create_string_buffer(MESSAGE_BYTES)
        at = ctypes.cast(self.text, c_char_p)
        self.message = Message(ctypes.sizeof(Message), at, MESSAGE_BYTES)
        self.pointer = ctypes.pointer(self.message)


_room = _Room()


class _Calls:
    """Calls a function of the library with room for its sentence, and raises what it says."""

    def __init__(self, name):
        self.function = getattr(_library, "mx_oracle_" + name)

    def __call__(self, *arguments):
        status = self.function(*arguments, _room.pointer)
        if status != 0:
            raise _errors.get(status, MxcheckError)(_room.text.value.decode(errors="replace"))


_run = _Calls("run")
_compare = _Calls("compare")
_list = _Calls("list")
_explain = _Calls("explain")
_edge_cases = _Calls("edge_cases")
_check = _Calls("check")


def _taken(pointer):
    """The text that the library has stored, freed."""
    try:
        return ctypes.string_at(pointer.value).decode()
    finally:
        _library.mx_oracle_free(pointer)


def _options(model, places_max=0):
    return Options(ctypes.sizeof(Options), text(model), places_max)


def tensors(those):
    """A list of Tensor as an array of C."""
    return (Tensor * len(those))(*those)


def run_tensors(operation, inputs, outputs, options=None):
    """The right bits into `outputs`; both are arrays of C."""
    _run(byref(operation), inputs, len(inputs), outputs, len(outputs), options)


def run(operation, inputs, outputs, model=None):
    """The right bits into `outputs`."""
    options = None if model is None else byref(_options(model))
    run_tensors(operation, tensors(inputs), tensors(outputs), options)


def compare(operation, inputs, answers, model=None, places_max=8):
    """What mx_oracle_compare says of `answers`, as a dictionary."""
    json_text = c_void_p()
    _compare(
        byref(operation),
        tensors(inputs),
        len(inputs),
        tensors(answers),
        len(answers),
        byref(_options(model, places_max)),
        byref(json_text),
    )
    return json.loads(_taken(json_text))


def listed(what):
    """The entries of mx_oracle_list as dictionaries."""
    json_text = c_void_p()
    _list(what.encode(), byref(json_text))
    return json.loads(_taken(json_text))


def explain(format, dialect, type, values):
    result = c_void_p()
    block = Block(ctypes.sizeof(Block), text(format), text(dialect), text(type), text(values))
    _explain(byref(block), byref(result))
    return _taken(result)


def edge_cases(format, dialect, type, family, width):
    """(bytes, rows, columns) of the blocks."""
    blocks = Tensor(TENSOR_SIZE)
    _edge_cases(text(format), text(dialect), text(type), text(family), byref(blocks))
    try:
        size = blocks.rows * blocks.columns * width
        return ctypes.string_at(blocks.data, size), blocks.rows, blocks.columns
    finally:
        _library.mx_oracle_free(blocks.data)


def check():
    """Raises BrokenOracle where this build's oracle is wrong."""
    _check()


def build():
    """Version, commit and compiler of the library, as a dictionary. Raises nothing."""
    return json.loads(_library.mx_oracle_build().decode())
