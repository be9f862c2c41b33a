"""A Python function as a device: questions of the program come over a Unix socket in the protocol
of device/subprocess/protocol.md, and are answered in this process, in the thread that serves."""

import functools
import importlib.util
import inspect
import json
import selectors
import socket
import traceback

import numpy

from . import _library
from ._arrays import VALUE_DTYPES, as_array, memory_of, numpy_dtype
from ._layouts import PLAIN, layout_names, padded
from ._names import formats
from ._operations import expect_type, unpacked

_FILLED = ("codes", "scales")
OPERATIONS = ("quantize", "dequantize", "convert", "gemm")


class Refused(Exception):
    """The function is not asked that; the text says why."""


def _array_of(tensor, data, library):
    """A tensor of a request as an array of a library, by its name in _LIBRARIES."""
    array = numpy.frombuffer(bytearray(data), numpy_dtype(tensor["type"]))
    array = array.reshape(_shape_of(tensor))
    if library in ("torch", "torch-cuda"):
        import torch

        if tensor["type"] == "bf16":
            made = torch.from_numpy(array.view("int16")).view(torch.bfloat16)
        else:
            made = torch.from_numpy(array)
        return made.to("cuda") if library == "torch-cuda" else made
    if tensor["type"] == "bf16":
        import ml_dtypes

        array = array.view(ml_dtypes.bfloat16)
    if library == "jax":
        import jax.numpy

        return jax.numpy.asarray(array)
    if library == "cupy":
        import cupy

        return cupy.asarray(array)
    return array


_LIBRARIES = ("numpy", "torch", "torch-cuda", "jax", "cupy")


def expect_library(tensors):
    """A GPU's number is no part of the name: what a function starts goes to the current one."""
    if not isinstance(tensors, str):
        raise TypeError(f"tensors is {tensors!r}; one of {', '.join(_LIBRARIES)} is needed")
    if tensors not in _LIBRARIES:
        raise ValueError(
            f"tensors {tensors!r} is none of {', '.join(_LIBRARIES)}; which GPU it is, "
            "CUDA_VISIBLE_DEVICES says"
        )


def _shape_of(tensor):
    """The shape of the array in which a tensor lies."""
    rows, columns, layout = tensor["rows"], tensor["columns"], tensor["layout"]
    if layout == "strided":
        return rows, columns
    if layout.startswith("packed") or layout == "inline":
        return rows, tensor["bytes"] // max(rows, 1)
    return padded(layout, rows, columns)


@functools.cache
def has_ml_dtypes():
    return importlib.util.find_spec("ml_dtypes") is not None


_ONE = {"f32": b"\0\0\x80\x3f", "f16": b"\0\x3c", "bf16": b"\x80\x3f", "e8m0": b"\x7f"}
_ONE["i32"] = b"\0\0\0\0"  # of row offsets: no group has any


def _ones(tensor):
    one = _ONE.get(tensor["type"], b"\x08")
    return one * (tensor["bytes"] // len(one))


def _parameters_of(function):
    try:
        return inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of C, and silent about its parameters
        return ()


class FunctionDevice:
    """Answers requests with a function. `operation` is what the function does; it is asked for rows
    in the layouts `laid` (packing, scale_layout), and for what else its parameters are named
    after."""

    def __init__(self, function, operation, formats, dialects, tensors, laid=PLAIN):
        self.function = function
        self.operation = operation
        self.formats, self.dialects = formats, dialects
        self.tensors = tensors
        self.laid = laid
        self.block_size = None  # of a format that no table has
        self.first_error = None
        self.questions = 0
        self.refusals = {}  # of each set of shapes
        self.stop = None  # what ends the program at its next case
        self.was_stopped = False
        parameters = _parameters_of(function)
        self.takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
        self.names = {p.name for p in parameters}
        self.fills = set(_FILLED) <= self.names and operation == "quantize"
        name = getattr(function, "__name__", type(function).__name__)
        self.facts = {"name": name[:40] if name.isidentifier() else "function"}
        self.facts["notes"] = f"a Python function on {tensors} tensors, in its own process"

    def interrupted(self):
        """The first Ctrl-C ends the program behind the case at hand; a second one all at once."""
        if self.was_stopped or self.stop is None:
            raise KeyboardInterrupt
        self.was_stopped = True
        self.stop()

    def takes(self, parameter):
        return self.takes_any or parameter in self.names

    def those_it_takes(self, values):
        return {name: value for name, value in values.items() if self.takes(name)}

    def expect(self, request):
        """Raises Refused where the function is not to be asked."""
        if request["operation"] != self.operation:
            raise Refused(f"the function is one for {self.operation}")
        if self.formats and request.get("format") not in self.formats:
            raise Refused(f"the function is one for {', '.join(self.formats)}")
        if self.dialects and request.get("dialect") not in self.dialects:
            raise Refused(f"the function is one for {', '.join(self.dialects)}")
        axis = request.get("axis", "")
        if axis == "col" and not self.takes("axis"):
            raise Refused("the function has no parameter axis")
        form = formats().get(request.get("format"))
        if axis == "both" or (axis == "tile" and (form is None or form.block != "tile")):
            raise Refused(f"a function is asked for blocks along one axis, not for {axis}")
        layouts = {tensor["layout"] for tensor in request["inputs"] + request["outputs"]}
        if layouts - {"strided"} != {*layout_names(*self.laid, axis)} - {"strided"}:
            wanted = ", ".join(dict.fromkeys(layout_names(*self.laid, axis)))
            raise Refused(f"a function is asked for tensors in the layout {wanted}")
        types = {tensor["type"] for tensor in request["inputs"]}
        asked = types | {tensor["type"] for tensor in request["outputs"]}
        if "bf16" in asked and self.tensors == "numpy" and not has_ml_dtypes():
            raise Refused("NumPy has no bfloat16 without the package ml_dtypes")
        if request.get("tensor_scale") == "given" and not self.takes("tensor_scale"):
            raise Refused("the function has no parameter tensor_scale")
        if "u32" in types and not self.takes("random_bits"):
            raise Refused("the function has no parameter random_bits")
        if not self.takes("dtype") and self.operation == "dequantize":
            if request["outputs"][0]["type"] != "f32":
                raise Refused("the function has no parameter dtype")
        own_size = self.block_size if form is None else form.block_size
        if request.get("block_size", 0) not in (0, own_size) and not self.takes("block_size"):
            raise Refused("the function has no parameter block_size")

    def supports(self, request):
        """Asks the function once about ones of each set of shapes: NotImplementedError is to be
        known before there are data. What else it raises is for `run` to say."""
        key = json.dumps({**request, "id": "", "ask": ""})
        if key not in self.refusals:
            self.refusals[key] = None
            try:
                self.call(request, [_ones(tensor) for tensor in request["inputs"]])
            except (NotImplementedError, _library.NotSupported) as reason:
                self.refusals[key] = str(reason) or "NotImplementedError"
            except Exception:
                pass
        if self.refusals[key] is not None:
            raise Refused(self.refusals[key])

    def run(self, request, data):
        """The bytes of the outputs."""
        return self.outputs(request, self.call(request, data))

    def call(self, request, data):
        """What the function returns, or has filled."""
        self.questions += 1
        arrays, named = self.arguments(request, data)
        result = self.answer(arrays, named)
        for array, piece, tensor in zip(arrays, data, request["inputs"], strict=True):
            if as_array(memory_of(array, "x")).tobytes() != bytes(piece):
                raise ValueError(f"it wrote into its input of type {tensor['type']}")
        return result

    def arguments(self, request, data):
        """The arrays of a request, and what the function gets by name."""
        arrays = [
            _array_of(tensor, piece, self.tensors)
            for tensor, piece in zip(request["inputs"], data, strict=True)
        ]
        return arrays, self._named(request, arrays)

    def answer(self, arrays, named):
        """What the function makes of its arguments."""
        result = self.function(*arrays[: 2 if self.operation == "dequantize" else 1], **named)
        if self.fills and result is None:
            return named["codes"], named["scales"]
        return result

    def _named(self, request, arrays):
        axis = {"row": 1, "col": 0}.get(request.get("axis", ""), -1)
        values = {
            "format": request.get("format"),
            "dialect": request.get("dialect"),
            "axis": axis,
            "block_size": request.get("block_size", 0),
            "tensor_scale": None,
            "random_bits": None,
            "dtype": VALUE_DTYPES.get(request["outputs"][0]["type"]),
            "shape": self._shape_of_values(request),
            "packing": self.laid[0],
            "scale_layout": self.laid[1],
        }
        rest = arrays[2 if self.operation == "dequantize" else 1 :]
        if request.get("tensor_scale") == "given" and rest:
            values["tensor_scale"] = float(rest.pop(0).reshape(-1)[0])
        if rest:
            values["random_bits"] = rest.pop(0)
        named = self.those_it_takes(values)
        if self.fills:
            # A code that nobody writes differs between two calls.
            fill = 0xA5 if self.questions % 2 else 0x5A
            for name, tensor in zip(_FILLED, request["outputs"]):
                poison = bytes([fill]) * tensor["bytes"]
                named[name] = _array_of(tensor, poison, self.tensors)
        return named

    def _shape_of_values(self, request):
        values = request["outputs" if self.operation == "dequantize" else "inputs"][0]
        return values["rows"], values["columns"]

    def outputs(self, request, result):
        """The bytes of what the function returned."""
        wanted = request["outputs"]
        if hasattr(result, "codes") and hasattr(result, "scales"):
            result = (result.codes, result.scales, result.tensor_scale)[: len(wanted)]
        if len(wanted) == 1 and not isinstance(result, (tuple, list)):
            result = (result,)
        if not isinstance(result, (tuple, list)) or len(result) != len(wanted):
            made = len(result) if isinstance(result, (tuple, list)) else type(result).__name__
            raise TypeError(f"it returned {made}, and {len(wanted)} arrays are asked for")
        return [_bytes_of(array, tensor) for array, tensor in zip(result, wanted)]


def _bytes_of(array, tensor):
    type, shape = tensor["type"], (tensor["rows"], tensor["columns"])
    if isinstance(array, float):
        array = numpy.float32(array)
    what = f"its {type} output"
    if tensor["layout"] != "strided":
        return _bytes_in_layout(array, tensor, what)
    memory = memory_of(unpacked(array) if type == "e2m1" else array, what)
    if type in VALUE_DTYPES:
        if memory.type != type:
            raise TypeError(f"{what} has elements of type {memory.dtype}")
    else:
        expect_type(memory, type, what)
    raw = as_array(memory)
    if raw.shape != shape and not (raw.size == 1 and shape == (1, 1)):
        raise ValueError(f"{what} has shape {tuple(raw.shape)}; {shape} is asked for")
    return raw.tobytes()


def _bytes_in_layout(array, tensor, what):
    memory = memory_of(array, what)
    if memory.type not in ("uint8", "e2m1_x2"):
        expect_type(memory, tensor["type"], what)
    raw = numpy.ascontiguousarray(as_array(memory))
    if raw.nbytes != tensor["bytes"]:
        raise ValueError(
            f"{what} in the layout {tensor['layout']} has {raw.nbytes:,} bytes of shape "
            f"{tuple(raw.shape)}; {tensor['bytes']:,} are asked for, as in {_shape_of(tensor)}"
        )
    return raw.tobytes()


class _Connection:
    def __init__(self, peer):
        self.peer = peer
        self.file = peer.makefile("rwb", buffering=1 << 16)

    def say(self, message, data=()):
        self.file.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        for piece in data:
            self.file.write(piece)
        self.file.flush()

    def close(self):
        try:
            self.file.close()
        except OSError:
            pass
        self.peer.close()


def _answer(device, request, data, told):
    """(status, reason, outputs)"""
    try:
        device.expect(request)
        if request["ask"] == "supports":
            device.supports(request)
            return "ok", "", []
        return "ok", "", device.run(request, data)
    except (Refused, NotImplementedError, _library.NotSupported) as reason:
        return "not_supported", str(reason) or "NotImplementedError", []
    except MemoryError as error:
        return "out_of_memory", f"MemoryError: {error}", []
    except (Exception, SystemExit) as error:
        if device.first_error is None:
            device.first_error = traceback.format_exc()
            if told is not None:
                told.write_text(device.first_error)
        return "failed", f"{type(error).__name__}: {error}"[:2000], []


def _serve_one(device, connection, told):
    """One request of a connection; False at its end."""
    line = connection.file.readline()
    if not line:
        return False
    request = json.loads(line)
    data = []
    if request["ask"] == "run":
        data = [connection.file.read(tensor["bytes"]) for tensor in request["inputs"]]
    try:
        status, reason, outputs = _answer(device, request, data, told)
    except KeyboardInterrupt:
        device.interrupted()
        status, reason, outputs = _answer(device, request, data, told)
    answer = {"id": request["id"], "status": status, "form": "binary"}
    if reason:
        answer["reason"] = reason
    if status == "ok" and request["ask"] == "run":
        answer["bytes"] = [len(output) for output in outputs]
    connection.say(answer, outputs)
    return True


def serve(device, listener, ended, told=None):
    """Answers whoever connects until ended(), which is asked now and then, says so. `told` is a
    file for the traceback of the function's first exception."""
    connections = {}
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(listener, selectors.EVENT_READ)
            while True:
                try:
                    ready = selector.select(0.05)
                except KeyboardInterrupt:
                    device.interrupted()
                    continue
                if not ready and ended():
                    break
                for key, _ in ready:
                    if key.fileobj is listener:
                        _accept(device, listener, selector, connections)
                    elif not _stays(device, connections[key.fileobj], told):
                        selector.unregister(key.fileobj)
                        connections.pop(key.fileobj).close()
    finally:  # of an interrupt, too: the program must not wait for an answer
        for connection in connections.values():
            connection.close()


def _accept(device, listener, selector, connections):
    peer, _ = listener.accept()
    connection = _Connection(peer)
    connection.say({"mxpipe": 1, "form": "binary", "facts": device.facts})
    connections[peer] = connection
    selector.register(peer, selectors.EVENT_READ)


def _stays(device, connection, told):
    try:
        return _serve_one(device, connection, told)
    except (OSError, ValueError):  # the program went away in the middle of a line
        return False


def listening(path):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen(16)
    return listener
