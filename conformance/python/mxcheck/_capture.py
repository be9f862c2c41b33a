"""mx.capture: what functions and layers were given and gave, kept in a folder that `mxcheck check`
judges elsewhere, later, without them.

A call is one file of tensors, whose metadata say what was asked; a manifest says what was kept and
what was not. A file appears whole or not at all.
"""

import copy
import functools
import hashlib
import inspect
import json
import os
import pathlib
import platform
import sys
import threading
import warnings
from dataclasses import dataclass

import numpy

from . import _library
from ._arrays import VALUE_DTYPES, as_array, is_torch, memory_of
from ._assertions import format_of
from ._names import find_dialect, find_format, formats, found
from ._operations import Quantized, answers_of, chosen_dialect, expect_type, quantize_call, unpacked

_DTYPES = {"f32": "F32", "f16": "F16", "bf16": "BF16", "int8": "I8", "e8m0": "F8_E8M0"}
_DTYPES |= {"e4m3": "F8_E4M3", "ue4m3": "F8_E4M3", "ue5m3": "U8", "e5m2": "F8_E5M2"}
_MANIFEST, _PARTIAL = "capture.json", ".partial"
_REASONS_MAX = 32  # different sentences that are counted one by one

_open = []  # captures that are, from the outermost to the innermost
_lock = threading.Lock()


class CaptureWarning(UserWarning):
    """What a capture could not keep, and why. What it records goes on."""


class NoCase(Exception):
    """A call that is none of a quantizer or a product; the text says why."""


def _is_compiling():
    """Is torch.compile reading the function, instead of calling it?"""
    torch = sys.modules.get("torch")
    return torch is not None and torch.compiler.is_compiling()


def copied(array):
    """The caller's values as they are now: what is called may write into them."""
    if is_torch(array):
        import torch

        return array.detach().clone(memory_format=torch.contiguous_format)
    return array.copy() if hasattr(array, "copy") else array


def chosen(extent, most):
    """Which of `extent` rows are kept where `most` are: spread evenly, the first and last among
    them. None: all of them."""
    if most is None or extent <= most:
        return None
    return numpy.unique(numpy.linspace(0, extent - 1, most).round().astype(int))


def rows_of(array, kept):
    """Rows of an array whose axes before the last one are rows; a view of all where `kept` is
    None."""
    matrix = array.reshape(-1, array.shape[-1])
    if kept is None:
        return matrix
    if is_torch(matrix):
        import torch

        return matrix[torch.from_numpy(kept).to(matrix.device)]
    return matrix[kept]


class Record:
    """A call to be written: the words of its case, its tensors, and which of them it gave."""

    def __init__(self, case, **facts):
        self.case, self.facts = case, facts
        self.tensors = {}  # name: (dtype as safetensors has it, shape, array of bits)
        self.outputs = []

    def add(self, name, type, array, shape=None):
        array = numpy.ascontiguousarray(array)
        self.tensors[name] = _DTYPES.get(type, "U8"), tuple(shape or array.shape), array

    def give(self, name, type, array):
        self.add(name, type, array)
        self.outputs.append(name)

    def refuse(self, error):
        """The function raised, or gave what no answer has."""
        is_open = isinstance(error, (NotImplementedError, _library.NotSupported))
        text = f"{type(error).__name__}: {error}"[:500]
        self.facts["refusal"] = {"kind": "not_supported" if is_open else "failed", "text": text}
        return self

    def parts(self, facts):
        """The bytes of the file, in pieces."""
        call = {"case": self.case, "outputs": self.outputs, **facts, **self.facts}
        header, offset = {"__metadata__": {"mxcheck_call": json.dumps(call)}}, 0
        # The widest elements first, so that each lies where its type may.
        tensors = sorted(self.tensors.items(), key=lambda item: -item[1][2].itemsize)
        for name, (dtype, shape, array) in tensors:
            end = offset + array.nbytes
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, end]}
            offset = end
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        yield len(text).to_bytes(8, "little") + text
        for _, (_, _, array) in tensors:
            yield array.reshape(-1).view("uint8").data


class Quantizer:
    """How calls of a quantizer are read."""

    def __init__(self, format, dialect, axis, block_size, layout, x, tensor_scale, gave):
        if format is not None:
            form = find_format(format)
            if dialect is None:
                dialect = chosen_dialect(form, None).name
        if dialect is not None and find_dialect(dialect).is_stochastic:
            raise ValueError(
                f"{dialect} rounds stochastically: its random bits are not recorded, so that its "
                "calls could not be judged"
            )
        self.format, self.dialect, self.axis, self.block_size = format, dialect, axis, block_size
        self.layout, self.x, self.tensor_scale, self.gave = layout, x, tensor_scale, gave

    def given(self, arguments, named, rows):
        """What is to be kept of the arguments, before the function has them."""
        x = _argument(self.x, arguments, named)
        if isinstance(x, (int, float, complex)) or not hasattr(x, "shape"):
            raise NoCase(f"x is a {type(x).__name__}, and no array")
        dtype = str(x.dtype).removeprefix("torch.")
        if dtype not in VALUE_DTYPES.values():
            raise NoCase(f"x has elements of {dtype}; values are float32, float16 or bfloat16")
        number = None
        if self.tensor_scale is not None:
            number = _argument(self.tensor_scale, arguments, named)
            number = number if isinstance(number, (int, float)) else copied(number)
        kept = None
        if self._is_by_rows(x):
            kept = chosen(int(numpy.prod(x.shape[:-1], dtype=numpy.int64)), rows)
        shape = tuple(x.shape)
        return (copied(x) if kept is None else rows_of(x, kept)), number, kept, shape

    def _is_by_rows(self, x):
        """Can rows be taken out of x, its codes and its scales, each by itself?"""
        if self.format is None or self.layout[1] != "linear" or len(x.shape) == 0:
            return False
        is_last = self.axis in (-1, len(x.shape) - 1)
        keeps_number = find_dialect(self.dialect).keeps_number
        return is_last and find_format(self.format).block == "line" and not keeps_number

    def call_of(self, given, codes):
        """(QuantizeCall, record without answers)"""
        x, number, kept, shape = given
        format = format_of(codes) if self.format is None and codes is not None else self.format
        if format is None:
            raise NoCase("it raised, and no format was named")
        named = format, self.dialect, -1 if kept is not None else self.axis
        call = quantize_call(x, *named, number, None, self.block_size, *self.layout)
        grid, type_ = call.grid, call.grid.memory.type
        words = [f"quantize format={call.form.name} dialect={call.rules.name} input={type_}"]
        words.append(f"axis={grid.axis}")
        if call.form.block != "tensor":
            words.append(f"block={call.operation.block_size}")
        if number is not None:
            words.append(f"tensor=0x{call.kept[1].view('uint32')[0, 0]:08x}")
        words.append(f"scales={self.layout[1]} packing={self.layout[0]}")
        words.append(f"shape={grid.rows}x{grid.columns}")
        record = Record(" ".join(words), shape=shape)
        if kept is not None:
            record.facts["rows"] = {"of": int(numpy.prod(shape[:-1])), "kept": kept.tolist()}
        record.add("x", type_, as_array(grid.memory), (grid.rows, grid.columns))
        return call, record

    def raised(self, given, error):
        return self.call_of(given, None)[1].refuse(error)

    def recorded(self, given, result, arguments, named):
        codes, scales, number = self._answer(result, arguments, named)
        call, record = self.call_of(given, codes)
        kept, shape = given[2], given[3]
        try:
            if kept is not None:
                codes = _kept_rows(codes, kept, shape, call.form.element, "codes")
                scales = _kept_rows(scales, kept, shape, call.form.scale, "scales")
            codes, scales, number = answers_of(call, codes, scales, number)
        except (TypeError, ValueError) as error:
            return record.refuse(error)
        is_plain = self.layout[0] == "bytes"
        record.give("codes", call.form.element if is_plain else "bytes", codes)
        if scales is not None:
            record.give("scales", call.form.scale, scales)
        if number is not None:
            record.give("tensor_scale", "f32", number)
        return record

    def _answer(self, result, arguments, named):
        """(codes, scales, number) of what the function returned, or has filled."""
        if callable(self.gave):
            result = self.gave(result)
        elif self.gave is not None:
            result = [_argument(each, arguments, named) for each in self.gave]
        if isinstance(result, Quantized) or hasattr(result, "codes"):
            return result.codes, result.scales, getattr(result, "tensor_scale", None)
        if not isinstance(result, (tuple, list)):
            result = (result,)
        if not 1 <= len(result) <= 3 or any(not hasattr(each, "shape") for each in result[:1]):
            raise NoCase(
                f"it gave {type(result[0]).__name__ if result else 'nothing'}, and not codes and "
                "scales: gave= says where they are"
            )
        return (*result, None, None)[:3]


@dataclass(frozen=True)
class Factor:
    """A factor of a product, by its name in a case: "mxfp8-e4m3", "nvfp4", "e4m3:1x128", "bf16"."""

    name: str
    element: str
    scale: str | None
    rows: int = 1  # that share a scale; 0: all of them
    columns: int = 0  # the same of a row's elements

    @staticmethod
    def named(name):
        form = formats().get(name)
        if form is not None and form.block == "line":
            return Factor(name, form.element, form.scale, 1, form.block_size)
        element, _, scaling = name.partition(":")
        known = {"": (None, 1, 0), "tensor": ("f32", 0, 0), "row": ("f32", 1, 0)}
        known |= {"1x128": ("f32", 1, 128), "128x128": ("f32", 128, 128)}
        if element not in _DTYPES or scaling not in known:
            raise ValueError(f"there is no factor {name!r}; mxfp8-e4m3, nvfp4, e4m3:1x128, bf16 are")
        return Factor(name, element, *known[scaling])

    def scales_shape(self, rows, columns):
        return (
            -(-rows // self.rows) if self.rows else 1,
            -(-columns // self.columns) if self.columns else 1,
        )

    def scales_of(self, kept):
        """Which rows of scales rows of elements have."""
        return numpy.unique(kept // self.rows) if self.rows else numpy.array([0])


class Gemm:
    """How calls of a product of two factors with their scales are read."""

    def __init__(self, a, b, arguments, alpha, model, packing, gave):
        if packing not in ("bytes", "low_first"):
            raise ValueError(f"packing is {packing!r}; of factors it is bytes or low_first")
        row = model.removeprefix("bounded:")
        if row not in ("bounded", "any"):
            found({entry["name"]: entry for entry in _library.listed("models")}, row, "model")
        self.factors = Factor.named(a), Factor.named(b)
        self.places, self.packing, self.gave = arguments, packing, gave
        self.words = f"alpha=0x{numpy.float32(alpha).view('uint32'):08x} model={model}"

    def given(self, arguments, named, rows):
        arrays = [None if at is None else _argument(at, arguments, named) for at in self.places]
        record, kept, extents = Record(""), [], []
        for i, (name, factor) in enumerate(zip("ab", self.factors)):
            codes = self._codes(factor, arrays[2 * i], name)
            # Of scales that several rows share, all rows are kept.
            chosen_rows = chosen(len(codes), rows) if factor.rows <= 1 else None
            self._add(record, name, factor, codes, arrays[2 * i + 1], chosen_rows)
            kept.append(chosen_rows)
            extents.append(codes.shape)
        (m, k), (n, k_of_b) = extents
        if k != k_of_b or 0 in (m, n, k):
            raise NoCase(f"factors of shapes {extents[0]} and {extents[1]}")
        for name, chosen_rows, of in (("rows", kept[0], m), ("columns", kept[1], n)):
            if chosen_rows is not None:
                record.facts[name] = {"of": of, "kept": chosen_rows.tolist()}
        return record, kept, (m, n)

    def _codes(self, factor, array, name):
        if array is None:
            raise NoCase(f"factor {name} is None")
        memory = memory_of(unpacked(array) if factor.element == "e2m1" else array, name)
        if factor.scale is not None:
            expect_type(memory, factor.element, name)
        elif memory.type != factor.element:
            raise NoCase(f"{name} has elements of {memory.dtype}")
        raw = as_array(memory)
        if raw.ndim != 2:
            raise NoCase(f"{name} has shape {raw.shape}, and a matrix is needed")
        if self.packing == "low_first" and memory.type == "uint8" and factor.element == "e2m1":
            raw = numpy.stack((raw & 15, raw >> 4), -1).reshape(len(raw), -1)
        return raw

    def _add(self, record, name, factor, codes, scales, kept):
        record.add(name, factor.element, numpy.array(codes if kept is None else codes[kept]))
        if factor.scale is None:
            return
        raw = as_array(memory_of(scales, f"scales of {name}"))
        shape = factor.scales_shape(*codes.shape)
        expect_type(memory_of(scales, name), factor.scale, f"scales of {name}")
        if raw.size != shape[0] * shape[1] or (raw.ndim > 1 and raw.shape != shape):
            raise NoCase(f"scales of {name} have shape {raw.shape}; {shape} is needed")
        raw = raw.reshape(shape)
        raw = raw if kept is None else raw[factor.scales_of(kept)]
        record.add(f"{name}_scales", factor.scale, numpy.array(raw))

    def _case(self, record, type):
        (m, k), n = record.tensors["a"][1], record.tensors["b"][1][0]
        a, b = (factor.name for factor in self.factors)
        record.case = f"gemm a={a} b={b} output={type} shape={m}x{n}x{k} {self.words}"
        return record

    def raised(self, given, error):
        return self._case(given[0], "f32").refuse(error)

    def recorded(self, given, result, arguments, named):
        record, kept, shape = given
        if callable(self.gave):
            result = self.gave(result)
        elif self.gave is not None:
            result = _argument(self.gave, arguments, named)
        if not hasattr(result, "shape"):
            raise NoCase(f"it gave {type(result).__name__}: gave= says where D is")
        memory = memory_of(result, "it")
        if memory.type not in VALUE_DTYPES:
            raise NoCase(f"it gave {memory.dtype}, and D is float32, float16 or bfloat16")
        self._case(record, memory.type)
        if memory.shape != shape:
            return record.refuse(ValueError(f"it gave shape {memory.shape}; {shape} is right"))
        values = rows_of(as_array(memory), kept[0])
        record.give("d", memory.type, values if kept[1] is None else values[:, kept[1]])
        return record


def _kept_rows(array, kept, shape, type, what):
    memory = memory_of(unpacked(array) if type == "e2m1" else array, what)
    expect_type(memory, type, what)
    raw = as_array(memory)
    if raw.ndim == 0 or raw.shape[:-1] != shape[:-1]:
        raise ValueError(f"{what} have shape {tuple(raw.shape)} beside x of shape {shape}")
    return rows_of(raw, kept)


def _argument(which, arguments, named):
    if isinstance(which, str):
        if which not in named:
            raise NoCase(f"it was called without {which}=")
        return named[which]
    if which >= len(arguments):
        raise NoCase(f"it was called with {len(arguments)} arguments by position")
    return arguments[which]


class _Bound:
    """A recorded method in its object's place. A copy of the object has the method of its class."""

    def __init__(self, recorded, owner, attribute):
        functools.update_wrapper(self, recorded)
        self.recorded, self.owner, self.attribute = recorded, owner, attribute

    def __call__(self, *arguments, **named):
        return self.recorded(*arguments, **named)

    def __deepcopy__(self, memo):
        return getattr(copy.deepcopy(self.owner, memo), self.attribute)

    def __reduce__(self):
        return getattr, (self.owner, self.attribute)


def _in_place(recorded, owner, attribute):
    """What stands in the owner for a function of it."""
    before = getattr(owner, attribute)
    if isinstance(owner, type):
        is_method = inspect.isfunction(vars(owner).get(attribute))
        return recorded if is_method else staticmethod(recorded)
    is_bound = getattr(before, "__self__", None) is owner
    return _Bound(recorded, owner, attribute) if is_bound else recorded


class _Counts:
    """Of one function."""

    def __init__(self):
        self.seen = self.kept = 0
        self.left_out, self.no_case, self.lost = {}, {}, {}

    def count(self, reasons, reason):
        if reason not in reasons and len(reasons) >= _REASONS_MAX:
            reason = "for other reasons"
        reasons[reason] = reasons.get(reason, 0) + 1


class Capture:
    """What mx.capture gives: a context manager that records while it is open."""

    def __init__(self, folder, limit, calls, sample, rows):
        for name, value, least in (("limit", limit, 1), ("sample", sample, 1), ("rows", rows, 1)):
            if value is not None and (not isinstance(value, int) or value < least):
                raise ValueError(f"{name} is {value!r}, and a number of {least} or more is needed")
        self.folder = pathlib.Path(folder)
        self._limit, self._most, self._sample, self._rows = limit, calls, sample, rows
        self._counts, self._files, self._undo = {}, [], []
        self._bytes = self._number = 0
        self._stopped = ""
        self._is_open = self._was_open = False
        self._own_lock = threading.Lock()

    # --- from its beginning to its end

    def __enter__(self):
        if self._was_open:
            raise ValueError(f"the capture in {self.folder} was open once; make another")
        self.folder.mkdir(parents=True, exist_ok=True)
        if any(self.folder.iterdir()):
            raise FileExistsError(f"{self.folder} is not empty, and a capture overwrites nothing")
        self._write_manifest(complete=False)
        self._is_open = self._was_open = True
        self._process = os.getpid()
        with _lock:
            _open.append(self)
        return self

    def __exit__(self, kind, error, trace):
        with _lock:
            _open.remove(self)
        self._is_open = False
        if self._process != os.getpid():
            return False  # a fork of the process whose capture it is
        for undo in reversed(self._undo):
            undo()
        self._undo.clear()
        with self._own_lock:  # behind what other threads are writing
            try:
                self._write_manifest(complete=not self._stopped)
            except OSError as failed:
                self._stop(f"the manifest cannot be written: {failed}")
        return False

    # --- what is recorded

    def wrap(
        self,
        function,
        *,
        format=None,
        dialect=None,
        axis=-1,
        block_size=None,
        packing="bytes",
        scale_layout="linear",
        x=0,
        tensor_scale=None,
        gave=None,
        name=None,
    ):
        """The same function, whose calls are recorded while this capture is open.

        function: a quantizer: it is given values and gives codes and scales, in a pair, a
            Quantized, or what `gave` finds them in; and the number of the tensor behind them.
        format, dialect, axis, block_size, packing, scale_layout: what it does, as mx.quantize has
            them. Without `format` the dtype of the codes is to tell it.
        x: which of its arguments the values are: a place, or a name.
        tensor_scale: which argument is NVFP4's number for the tensor, if it is given one.
        gave: a function from what it returns to (codes, scales) or (codes, scales, number); or the
            places or names of the arguments that it fills.
        name: in the capture; its own otherwise.

        Returns a function. Raises ValueError for names that nobody knows, and for dialects that
        round stochastically.
        """
        layout = packing, scale_layout
        how = Quantizer(format, dialect, axis, block_size, layout, x, tensor_scale, gave)
        return self._wrapped(how, function, name or _name_of(function))

    def wrap_gemm(
        self,
        function,
        *,
        a,
        b=None,
        arguments=(0, 1, 2, 3),
        alpha=1.0,
        model="bounded",
        packing="bytes",
        gave=None,
        name=None,
    ):
        """The same of a function that multiplies: D = alpha * A * B^T, M x N.

        a, b: what the factors are, as a case names them: "mxfp8-e4m3", "nvfp4", "e4m3:1x128",
            "e4m3:tensor", "bf16"; b as a without it. Codes are M x K and N x K, scales count blocks
            along K.
        arguments: the places or names of A, its scales, B and its scales; None for scales that there
            are not.
        alpha: of NVFP4 the product of both tensors' numbers.
        model: what check holds D to: "bounded", "bounded:ROW", "any", or a row of
            mxcheck.list("models").
        packing: "low_first" where bytes hold two codes of 4 bits.
        gave: a function from what it returns to D, or the place or name of the argument that it
            fills.
        name: in the capture; its own otherwise.

        Returns a function. Raises ValueError for names that nobody knows.
        """
        how = Gemm(a, a if b is None else b, arguments, alpha, model, packing, gave)
        return self._wrapped(how, function, name or _name_of(function))

    def patch(self, owner, attribute, **how):
        """Puts wrap(owner.attribute, **how) in its place until this capture ends: a function of a
        module, or `forward` of a torch module. Who has imported the function before under a name
        of their own is not seen.

        owner: a module, a class or an object. Of a method of a class the first argument is `self`,
            and the values are argument 1: x=1.
        attribute: the name of the function in it.

        Raises AttributeError where there is none, and what wrap raises.
        """
        how.setdefault("name", f"{getattr(owner, '__name__', type(owner).__name__)}.{attribute}")
        self._replace(owner, attribute, self.wrap(getattr(owner, attribute), **how))

    def watch(self, model, *, model_name="", bound="bounded"):
        """Records the products of every torch.nn.Linear of a model until this capture ends.

        model: a torch.nn.Module. Of subclasses with a `forward` of their own nothing is recorded:
            what they multiply is not their weight.
        model_name: stands in front of the names of the layers.
        bound: what check holds them to: "bounded", "bounded:ROW" or a row of
            mxcheck.list("models").

        Returns the names of the layers. Raises ValueError where there is none.
        """
        from ._capture_torch import Product, linear_layers

        layers = linear_layers(model, model_name)
        for name, layer in layers.items():
            how = Product(bound, layer)
            self._replace(layer, "forward", self._wrapped(how, layer.forward, name))
        return list(layers)

    def watch_functional(self, *, bound="bounded"):
        """The same of every call of torch.nn.functional.linear, those of layers among them; who has
        imported `linear` by itself before is not seen. bound: as watch has it."""
        import torch

        from ._capture_torch import Product

        owner = torch.nn.functional
        recorded = self._wrapped(Product(bound), owner.linear, "functional.linear")
        self._replace(owner, "linear", recorded)

    def _replace(self, owner, attribute, recorded):
        if not self._is_open:
            raise ValueError("the capture is not open: `with mx.capture(...) as c:` opens it")
        had_own = attribute in vars(owner)
        before = vars(owner).get(attribute)
        placed = _in_place(recorded, owner, attribute)

        def undo():
            # Where another capture has put its own on top, ours stays below it and records no more.
            if vars(owner).get(attribute) is not placed:
                return
            if had_own:
                setattr(owner, attribute, before)
            else:
                delattr(owner, attribute)

        setattr(owner, attribute, placed)
        self._undo.append(undo)

    def _wrapped(self, how, function, name):
        @functools.wraps(function)
        def recorded(*arguments, **named):
            return self._call(how, function, name, arguments, named)

        return recorded

    # --- one call

    def _call(self, how, function, name, arguments, named):
        place = None if _is_compiling() else self._begin(name)
        if place is None:
            return function(*arguments, **named)
        try:
            given = how.given(arguments, named, self._rows)
        except Exception as error:
            self._no_case(name, error)
            return function(*arguments, **named)
        try:
            result = function(*arguments, **named)
        except Exception as error:
            self._keep(name, place, lambda: how.raised(given, error))
            raise
        except BaseException:
            self._count(name, "lost", "interrupted")
            raise
        self._keep(name, place, lambda: how.recorded(given, result, arguments, named))
        return result

    def _of(self, name):
        return self._counts.setdefault(name, _Counts())

    def _count(self, name, kind, reason):
        with self._own_lock:
            counts = self._of(name)
            counts.count(getattr(counts, kind), reason)

    def _no_case(self, name, error):
        text = str(error) if isinstance(error, NoCase) else f"{type(error).__name__}: {error}"
        self._count(name, "no_case", f"without a case: {text}"[:300])

    def _begin(self, name):
        """The number of this call, or None where it is not to be kept."""
        if not self._is_open or self._process != os.getpid():
            return None
        with self._own_lock:
            counts = self._of(name)
            counts.seen += 1
            reason = None
            if self._stopped:
                counts.count(counts.lost, "after it had stopped")
                return None
            if (counts.seen - 1) % self._sample:
                reason = "left out by sample"
            elif self._most is not None and self._number >= self._most:
                reason = "left out by calls"
            elif self._limit is not None and self._bytes >= self._limit:
                reason = "left out by limit"
            if reason is not None:
                counts.count(counts.left_out, reason)
                return None
            self._number += 1
            return self._number

    def _keep(self, name, place, made):
        """Writes a record. Never raises an Exception: a capture is not to end what it looks at."""
        try:
            record = made()
            facts = {"number": place, "function": name, "thread": threading.current_thread().name}
            parts = list(record.parts(facts))
        except Exception as error:
            return self._no_case(name, error)
        size = sum(len(part) for part in parts)
        with self._own_lock:
            if not self._is_open:
                return self._of(name).count(self._of(name).lost, "after the end")
            if self._limit is not None and self._bytes + size > self._limit:
                counts = self._of(name)
                return counts.count(counts.left_out, "left out by limit")
            self._bytes += size
        file = f"{place:06}.safetensors"
        try:
            digest = self._write(file, parts)
        except BaseException as error:
            is_ours = isinstance(error, OSError)
            with self._own_lock:
                counts = self._of(name)
                counts.count(counts.lost, "not written" if is_ours else "interrupted")
                self._bytes -= size
                if is_ours:
                    return self._stop(f"{file} cannot be written: {error}")
            raise
        with self._own_lock:
            self._of(name).kept += 1
            self._files.append({"file": file, "sha256": digest})

    def _stop(self, why):
        if not self._stopped:
            self._stopped = why
            warnings.warn(f"the capture in {self.folder} stopped: {why}", CaptureWarning, 4)

    # --- files

    def _write(self, name, parts):
        """Beside its name, and renamed when it is whole. The digest of it."""
        path, digest = self.folder / name, hashlib.sha256()
        partial = path.with_name(name + _PARTIAL)
        try:
            with open(partial, "xb") as file:
                for part in parts:
                    file.write(part)
                    digest.update(part)
            os.replace(partial, path)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
        return digest.hexdigest()

    def _write_manifest(self, complete):
        made = {"mxcheck": _library.build()["version"], "commit": _library.build()["commit"]}
        made |= {"Python": platform.python_version(), "numpy": numpy.__version__}
        made |= {"system": platform.platform()}
        torch = sys.modules.get("torch")
        if torch is not None:
            made["torch"] = str(torch.__version__)
        asked = {"limit": self._limit, "calls": self._most}
        asked |= {"sample": self._sample, "rows": self._rows}
        manifest = {"mxcheck_capture": 1, "complete": complete, "stopped": self._stopped}
        manifest |= {"made_by": made, "asked": asked, "bytes": self._bytes}
        manifest["functions"] = {name: vars(counts) for name, counts in self._counts.items()}
        manifest["calls"] = sorted(self._files, key=lambda call: call["file"])
        self._write(_MANIFEST, [json.dumps(manifest, indent=1).encode() + b"\n"])

    # --- what is told

    @property
    def summary(self):
        """What was kept and what was not, a line for each function."""
        with self._own_lock:
            lines = [_line(name, counts) for name, counts in self._counts.items()]
            lines.append(f"{len(self._files):,} calls, {self._bytes:,} bytes in {self.folder}")
            return "\n".join(lines + ([f"stopped: {self._stopped}"] if self._stopped else []))


def _line(name, counts):
    line = f"{name}: {counts.kept:,} of {counts.seen:,} calls kept"
    for reasons in (counts.left_out, counts.no_case, counts.lost):
        for reason, count in reasons.items():
            line += f"; {count:,} {reason}"
    return line


def _name_of(function):
    return getattr(function, "__qualname__", type(function).__name__)


def capture(folder, *, limit=1 << 30, calls=None, sample=1, rows=None):
    """Records what functions and layers are given and give, while it is open:

        with mx.capture("captured", limit=1 << 28, sample=10) as c:
            quantizer = c.wrap(my_quantizer, format="mxfp8-e4m3", dialect="nv")
            c.watch(model)
            ...
        print(c.summary)

    In a shell, on any machine, without torch: `mxcheck check captured`. What differs is a case and
    a line that repeats it.

    folder: a new one, or an empty one.
    limit: bytes of the files at most. None: no limit.
    calls: calls at most, of all functions.
    sample: of each function the first call is kept, and every sample-th from there.
    rows: of larger tensors so many rows at most, spread evenly; of a product rows of both factors,
        so that the kept values of D are whole sums. Tensors that have a number of their own, tiles,
        other axes than the last and swizzled scales are kept whole.

    Arrays are those of NumPy, torch, JAX, CuPy or with `__dlpack__`, with any strides, and are
    copied before the function has them. What it raises is recorded as its answer, and raised. Calls
    that are none of a quantizer or a product are counted with the reason. A call is a safetensors
    file that appears whole or not at all, and capture.json says with digests and versions what was
    kept, what was not, and why. A disk that is full ends the recording with a CaptureWarning, never
    the program. Threads may call at once, and captures may be nested; a process that is forked
    records nothing. CUDA tensors are copied to the host. What torch.compile has compiled is not
    seen.

    `@mx.capture.function(format=..., dialect=...)`, with what wrap takes, decorates a function that
    every capture records which is open when it is called.

    Returns a Capture. Raises FileExistsError for a folder with files in it, OSError where it cannot
    be made, ValueError for numbers that are none.
    """
    return Capture(folder, limit, calls, sample, rows)


def _function(function=None, **how):
    """Decorates a function whose calls every open capture records, as wrap of each."""
    if function is None:
        return functools.partial(_function, **how)
    name = how.pop("name", None) or _name_of(function)
    reader = _reader(**how)

    @functools.wraps(function)
    def recorded(*arguments, **named):
        call = function
        with _lock:
            inside = list(_open)
        for each in inside:
            call = each._wrapped(reader, call, name)
        return call(*arguments, **named)

    return recorded


def _reader(
    *,
    format=None,
    dialect=None,
    axis=-1,
    block_size=None,
    packing="bytes",
    scale_layout="linear",
    x=0,
    tensor_scale=None,
    gave=None,
):
    layout = packing, scale_layout
    return Quantizer(format, dialect, axis, block_size, layout, x, tensor_scale, gave)


capture.function = _function
