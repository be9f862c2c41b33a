"""The device side of mxpipe (../subprocess/protocol.md): requests on stdin, answers on stdout.

A device is an object with

    facts                   a dict of texts: name, version, ...
    supports(request)       None, or the sentence that says why not
    run(request)            the bytes of every output, in order

and `serve(device)` does the rest. Standard library only; knows nothing of numbers.
"""

import json
import os
import sys
from dataclasses import dataclass, field


@dataclass
class Tensor:
    """A two-dimensional view; `data` is None for outputs and in supports."""

    type: str
    rows: int
    columns: int
    bytes: int
    layout: str = "strided"
    data: bytes | None = None


@dataclass
class Request:
    """One question. What the operation does not use is "" or 0."""

    operation: str
    inputs: list[Tensor]
    outputs: list[Tensor]
    format: str = ""
    dialect: str = ""
    axis: str = ""
    block_size: int = 0
    rounding: str = ""
    overflow: str = ""
    subnormals: str = ""
    tensor_scale: str = ""
    extra: dict = field(default_factory=dict)  # keys this version does not know


class NotSupported(Exception):
    """Raised by a device that finds out late; the text is the reason."""


def serve(device, source=None, sink=None):
    """Answers every request of `source` until it ends."""
    source = source or sys.stdin.buffer
    sink = sink or own_output()
    write_line(sink, {"mxpipe": 1, "form": "binary", "facts": device.facts})
    while line := source.readline():
        header = json.loads(line)
        request = read_request(header, source)
        status, reason, outputs = answer(device, header["ask"], request)
        write_answer(sink, header, {"status": status, "reason": reason}, outputs)


def own_output():
    """Where the answers go. What a library prints from here on goes where errors go."""
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return channel


def answer(device, ask, request):
    """status, reason and outputs."""
    try:
        reason = device.supports(request)
        if reason:
            return "not_supported", reason, []
        if ask == "supports":
            return "ok", "", []
        outputs = [bytes(output) for output in device.run(request)]
        for made, wanted in zip(outputs, request.outputs, strict=True):
            if len(made) != wanted.bytes:
                return "failed", f"made {len(made)} bytes of {wanted.type}, not {wanted.bytes}", []
        return "ok", "", outputs
    except NotSupported as reason:
        return "not_supported", str(reason), []
    except Exception as error:  # the host wants a sentence, not the end of the program
        return "failed", f"{type(error).__name__}: {error}", []


def read_request(header, source):
    known = Request.__dataclass_fields__
    fields = {key: value for key, value in header.items() if key in known}
    fields["extra"] = {key: value for key, value in header.items() if key not in known}
    fields["inputs"] = [tensor_of(entry) for entry in header["inputs"]]
    fields["outputs"] = [tensor_of(entry) for entry in header["outputs"]]
    if header["ask"] == "run":
        for tensor in fields["inputs"]:
            tensor.data = read_data(source, header.get("form", "hex"), tensor.bytes)
    return Request(**fields)


def tensor_of(entry):
    known = Tensor.__dataclass_fields__
    return Tensor(**{key: value for key, value in entry.items() if key in known})


def read_data(source, form, size):
    data = source.read(size) if form == "binary" else bytes.fromhex(source.readline().decode())
    if len(data) != size:
        sys.exit(f"mxpipe: {len(data)} bytes of data where {size} were announced")
    return data


def write_answer(sink, header, result, outputs):
    form = header.get("form", "hex")
    message = {"id": header["id"], "status": result["status"], "form": form}
    if result["reason"]:
        message["reason"] = result["reason"]
    if result["status"] == "ok" and header["ask"] == "run" and form == "binary":
        message["bytes"] = [len(output) for output in outputs]
    lines = [b"".join(outputs)] if form == "binary" else [o.hex().encode() + b"\n" for o in outputs]
    write_line(sink, message, lines)


def write_line(sink, message, data=()):
    sink.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
    for piece in data:
        sink.write(piece)
    sink.flush()
