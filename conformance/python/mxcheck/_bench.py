"""mx.bench: how fast a function is, beside a copy of as many bytes in the same memory.

Timed in this process: by the clock of the host, or by the events of a GPU.
"""

import functools
import itertools
import math
import statistics
import time
from dataclasses import dataclass

import numpy

from . import _library
from ._arrays import VALUE_DTYPES, as_array, memory_of, numpy_dtype, width_of
from ._assertions import pads_of
from ._layouts import pads_are_zero
from ._names import find_format
from ._operations import chosen_dialect, dequantize, quantize, quantize_call, value_type
from ._run import device_of, expect_gpu, html_of
from ._serving import Refused

_ROUNDS = (7, 200)  # at least and at most
_SAMPLE_SECONDS = 0.005  # of calls in a row, so that a GPU does not wait for the host
_WARM_UP_SECONDS = 0.1


@dataclass(frozen=True)
class Timing:
    """Of calls in a row. seconds: the median of one call. spread: the middle half of the samples,
    as a part of the median. bytes: read and written, each once."""

    what: str
    seconds: float
    spread: float
    bytes: int
    samples: int

    @property
    def gigabytes_per_second(self):
        return self.bytes / self.seconds / 1e9


class Bench:
    """What bench measured. function, copy, library: a Timing each; library, which is
    mxcheck's own call, is None on a GPU. right: whether the function gave the oracle's bits.
    share_of_copy: of the rate of the copy."""

    def __init__(self, title, function, copy, library, right):
        self.title, self.right = title, right
        self.function, self.copy, self.library = function, copy, library

    @property
    def share_of_copy(self):
        return self.function.gigabytes_per_second / self.copy.gigabytes_per_second

    @property
    def _told(self):
        return "its bits are the oracle's" if self.right else "its bits are NOT the oracle's"

    def _rows(self):
        yield "", "median", "spread", "bytes", "GB/s", "of the copy"
        for row in (self.function, self.library, self.copy):
            if row is not None:
                rate = row.gigabytes_per_second
                share = rate / self.copy.gigabytes_per_second
                yield (
                    row.what,
                    f"{row.seconds * 1e6:,.1f} us",
                    f"{row.spread:.1%}",
                    f"{row.bytes:,}",
                    f"{rate:,.2f}",
                    f"{share:.3f}",
                )

    def __repr__(self):
        rows = list(self._rows())
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
            for row in rows
        ]
        return "\n".join([f"{self.title}; {self._told}", *lines])

    def _repr_html_(self):
        return html_of(self._rows(), f"{self.title}; {self._told}")


def _values(shape, type, seed):
    """Bytes of random values of many sizes; none is 0."""
    generator = numpy.random.default_rng(seed)
    values = generator.standard_normal(shape, "float32")
    values *= numpy.exp2(generator.integers(-6, 7, (shape[0], 1))).astype("float32")
    values[values == 0] = 1
    if type == "bf16":
        return (values.view("uint32") >> 16).astype("uint16").tobytes()
    return values.astype(numpy_dtype(type)).tobytes()


def _tensor(type, rows, columns, lie=None):
    """A tensor as a request names it; as it lies, with its pads."""
    count = rows * columns if lie is None else math.prod(lie.shape)
    layout = "strided" if lie is None else lie.layout
    size = count * width_of(type)
    return {"type": type, "layout": layout, "rows": rows, "columns": columns, "bytes": size}


def _tensors_of_blocks(call):
    """Codes, scales and the number that a QuantizeCall gives, as a request names them."""
    tensors = [_tensor(call.form.element, *call.grid.shape, call.codes_lie)]
    if call.scales_lie is not None:
        counts = call.scale_rows, call.scale_columns
        tensors.append(_tensor(call.form.scale, *counts, call.scales_lie))
    return tensors + [_tensor("f32", 1, 1)] * call.has_number


def _raw(array):
    return as_array(memory_of(array, "it")).tobytes()


class _Question:
    """What is asked: the tensors of a request, and the library's own call of the same."""

    def __init__(self, call, operation, type, seed):
        free = call.scales_lie is not None and not pads_are_zero(call.scales_lie.layout)
        self.pads = pads_of(call) if free and operation == "quantize" else None
        self.operation, self.type = operation, type
        self.named = {"format": call.form.name, "dialect": call.rules.name}
        self.request = {
            **self.named,
            "operation": operation,
            "axis": "row",
            "block_size": call.operation.block_size,
        }
        self.named |= {"packing": call.packing, "scale_layout": call.scale_layout}
        if operation == "quantize":
            self._ask_quantize(call, seed)
        else:
            self._ask_dequantize(call)

    def _ask_quantize(self, call, seed):
        shape = call.grid.shape
        inputs, self.data = [_tensor(self.type, *shape)], [_values(shape, self.type, seed)]
        if call.rules.is_stochastic:
            inputs.append(_tensor("u32", *shape))
            self.data.append(numpy.random.default_rng(seed).bytes(inputs[1]["bytes"]))
        self.request |= {"inputs": inputs, "outputs": _tensors_of_blocks(call)}
        if call.has_number:
            self.request["tensor_scale"] = "derived"

    def _ask_dequantize(self, call):
        self.data = [part.tobytes() for part in call.run() if part is not None]
        values = [_tensor(self.type, *call.grid.shape)]
        self.request |= {"inputs": _tensors_of_blocks(call), "outputs": values}
        if call.has_number:
            self.request["tensor_scale"] = "given"

    def library(self, arrays):
        """The library's own answer."""
        if self.operation == "quantize":
            random_bits = arrays[1] if len(arrays) > 1 else None
            return quantize(arrays[0], random_bits=random_bits, **self.named)
        parts = arrays[0], arrays[1] if len(arrays) > 1 else None
        number = arrays[2] if len(arrays) > 2 else None
        dtype = VALUE_DTYPES[self.type]
        return dequantize(*parts, tensor_scale=number, dtype=dtype, **self.named)

    def without_pads(self, parts):
        """Pads of scales may be anything in some layouts."""
        if self.pads is None:
            return parts
        scales = numpy.frombuffer(parts[1], "uint8").copy()
        scales[self.pads] = 0
        return [parts[0], scales.tobytes(), *parts[2:]]

    def right_bytes(self, arrays):
        made = self.library(arrays)
        if self.operation == "dequantize":
            return [_raw(made)]
        parts = [_raw(part) for part in (made.codes, made.scales) if part is not None]
        number = made.tensor_scale
        return parts + ([] if number is None else [numpy.float32(number).tobytes()])


class _Asked:
    """A question in a function's arrays, and the answer that is right."""

    def __init__(self, device, question):
        self.device, self.question = device, question
        try:
            device.expect(question.request)
        except Refused as reason:
            raise _library.NotSupported(str(reason)) from None
        # Of arrays that the function never sees.
        self.right = question.right_bytes(self._arguments()[0])
        self.size = sum(map(len, [*question.data, *self.right]))
        self.arrays, self.named = self._arguments()

    def _arguments(self):
        self.device.questions += 1  # outputs that nobody fills then differ
        return self.device.arguments(self.question.request, self.question.data)

    def call(self):
        return self.device.answer(self.arrays, self.named)

    def call_of_library(self):
        return self.question.library(self.arrays)

    def is_right(self):
        answer = self.device.answer(self.arrays, self._arguments()[1])
        made = self.device.outputs(self.question.request, answer)
        return self.question.without_pads(made) == self.question.without_pads(self.right)


def _event_timer(event, elapsed_seconds):
    def timed(calls, count):
        start, end = event(), event()
        start.record()
        for _ in range(count):
            next(calls)()
        end.record()
        end.synchronize()
        return elapsed_seconds(start, end) / count

    return timed


def _timer(tensors):
    """A function of an endless iterator of calls, and how many to make: the seconds of one."""
    if tensors == "torch-cuda":
        import torch

        return _event_timer(
            lambda: torch.cuda.Event(enable_timing=True),
            lambda start, end: start.elapsed_time(end) / 1e3,
        )
    if tensors == "cupy":
        import cupy

        return _event_timer(
            cupy.cuda.Event, lambda start, end: cupy.cuda.get_elapsed_time(start, end) / 1e3
        )
    finished = _nothing
    if tensors == "jax":
        import jax

        finished = jax.block_until_ready

    def timed(calls, count):
        start = time.perf_counter()
        for _ in range(count):
            finished(next(calls)())
        return (time.perf_counter() - start) / count

    return timed


def _nothing(result):
    return result


def _copies(tensors, size, seed):
    """Calls that copy random bytes, `size` in all read and written; two, in turn."""
    generator = numpy.random.default_rng(seed)
    count = max(size // 2 // 4, 1)
    sources = [generator.integers(1, 1 << 32, count, "uint32") for _ in range(2)]
    if tensors == "jax":
        import jax.numpy

        arrays = [jax.numpy.asarray(source) for source in sources]
        return [functools.partial(jax.numpy.array, array, copy=True) for array in arrays]
    if tensors in ("torch", "torch-cuda"):
        import torch

        place = "cuda" if tensors == "torch-cuda" else "cpu"
        arrays = [torch.from_numpy(source.view("int32")).to(place) for source in sources]
        return [functools.partial(torch.ones_like(array).copy_, array) for array in arrays]
    if tensors == "cupy":
        import cupy

        arrays = [cupy.asarray(source) for source in sources]
        return [functools.partial(cupy.copyto, cupy.ones_like(array), array) for array in arrays]
    return [functools.partial(numpy.copyto, numpy.ones_like(array), array) for array in sources]


def _measure(subjects, timed, seconds):
    """Samples of each list of calls, in turn; so all of them have the same weather."""
    running = [itertools.cycle(calls) for calls in subjects]
    counts = []
    for calls in running:
        until = time.perf_counter() + _WARM_UP_SECONDS
        once = min(timed(calls, 2) for _ in range(2))
        while time.perf_counter() < until:
            once = min(once, timed(calls, 2))
        counts.append(max(2, round(_SAMPLE_SECONDS / max(once, 1e-7))))
    samples = [[] for _ in subjects]
    until = time.perf_counter() + seconds
    least, most = _ROUNDS
    while len(samples[0]) < least or (time.perf_counter() < until and len(samples[0]) < most):
        for taken, calls, count in zip(samples, running, counts):
            taken.append(timed(calls, count))
    return samples


def _timing(what, samples, size):
    quarters = statistics.quantiles(samples, n=4)
    median = statistics.median(samples)
    return Timing(what, median, (quarters[2] - quarters[0]) / median, size, len(samples))


def _is_on_host(tensors):
    if tensors == "jax":
        import jax

        return jax.default_backend() == "cpu"
    return tensors in ("numpy", "torch")


def bench(
    function,
    *,
    format,
    dialect=None,
    operation="quantize",
    shape=(4096, 4096),
    dtype="float32",
    tensors="numpy",
    packing="bytes",
    scale_layout="linear",
    seconds=1.0,
    seed=0,
):
    """How fast a function is, in this process, on random values of many sizes (none is 0).

    function, tensors, packing, scale_layout: as run takes them. operation: "quantize" or
        "dequantize". It is asked for rows in the format's own blocks.
    shape: rows and columns. dtype: of the values: float32, float16 or bfloat16.
    seconds: for the samples, behind a warm-up in which it is compiled. seed: of the values.

    Each sample is a row of calls, on tensors of two different contents in turn, whose answers are
    held to the oracle before and after (but for pads that may be anything), and its time that of the
    host's clock (numpy, torch, and jax with block_until_ready) or of events on the current stream
    (cupy, and torch-cuda, which on ROCm is unverified); work that a function puts on other streams
    is not seen. Samples of the function take turns with those of a copy, by the same library in the
    same memory, of as many bytes as the function reads and writes, and on a CPU with those of
    mxcheck.quantize or dequantize.

    Returns Bench, which prints a table; times are in seconds, rates in 1e9 bytes a second. Raises
    what the function raises, and NotSupported for what it is not asked.
    """
    if operation not in ("quantize", "dequantize"):
        raise ValueError(f"operation {operation!r} is neither quantize nor dequantize")
    laid = packing, scale_layout
    device, _, _ = device_of(function, operation, format, dialect, tensors, laid)
    expect_gpu(tensors)
    type = value_type(dtype)
    asked = [
        _Asked(device, _question(format, dialect, operation, shape, type, laid, seed + other))
        for other in range(2)
    ]
    before = [one.is_right() for one in asked]
    size = asked[0].size
    subjects = {
        device.facts["name"]: [one.call for one in asked],
        f"copy, {tensors}": _copies(tensors, size, seed),
    }
    if _is_on_host(tensors):
        subjects[f"mxcheck.{operation}"] = [one.call_of_library for one in asked]
    samples = _measure(subjects.values(), _timer(tensors), seconds)
    right = all([*before, *(one.is_right() for one in asked)])
    timings = [_timing(*row, size) for row in zip(subjects, samples)]
    rules = asked[0].question.named["dialect"]
    title = f"{operation} {format} {rules} {shape[0]} x {shape[1]} {type}, {tensors}"
    return Bench(title, timings[0], timings[1], timings[2] if len(timings) > 2 else None, right)


def _is_shape(shape):
    if not isinstance(shape, (tuple, list)) or len(shape) != 2:
        return False
    return all(isinstance(side, (int, numpy.integer)) and side >= 1 for side in shape)


def _question(format, dialect, operation, shape, type, laid, seed):
    if not _is_shape(shape):
        raise ValueError(f"shape is {shape!r}; rows and columns are needed")
    x = numpy.frombuffer(_values(shape, "f32", seed), "float32").reshape(shape)
    named = {"packing": laid[0], "scale_layout": laid[1]}
    bits = None
    if chosen_dialect(find_format(format), dialect).is_stochastic:
        bits = numpy.zeros(shape, "uint32")
    call = quantize_call(x, format, dialect, -1, random_bits=bits, **named)
    return _Question(call, operation, type, seed)
