"""quantize, dequantize, convert, encode_scale, gemm and explain on arrays.

Each takes the arrays of NumPy, torch, JAX, CuPy or anything with `__dlpack__`, and gives its
results as arrays of the first one's library, on its device. What lies in the memory of the
host is read where it lies. Values are float32, float16 or bfloat16.
"""

import ctypes
import functools
import math
import struct
from dataclasses import dataclass, replace

import numpy

from . import _library
from ._arrays import (
    TYPES,
    VALUE_DTYPES,
    Memory,
    as_array,
    memory_of,
    numpy_dtype,
    result_like,
    row_major,
    typed,
    width_of,
)
from ._grid import axis_number, grid_of
from ._layouts import PLAIN, lie_of_codes, lie_of_scales, unpacked_shape
from ._library import TENSOR_SIZE, Gemm, NotSupported, Operation, Tensor
from ._names import dialects, find_dialect, find_format


@dataclass
class Quantized:
    """What quantizing gives; `codes, scales = mx.quantize(...)` unpacks the first two.

    codes: uint8, of the shape of the input; a code stands in the low bits of its byte.
    scales: one a block, in the shape of the input with the blocks counted on their axis; of tiles
        and tensors a matrix. uint8 (E8M0, or the E4M3 of NVFP4), or float32 (of FP8).
    tensor_scale: float32, the number that is kept for the whole tensor and that dequantize takes,
        of NVFP4; else None. The scale of the tensor, or of TransformerEngine's dialects its amax.
    packing, scale_layout: as quantize took them. Packed codes have a row's bytes on their last
        axis; scales of a layout have a shape with its pads, or are None among "inline" codes.
    shape: of the values, where codes are packed; else None.
    """

    codes: object
    scales: object
    tensor_scale: object
    format: str
    dialect: str
    axis: int
    block_size: int | None = None  # None: the format's own
    packing: str = "bytes"
    scale_layout: str = "linear"
    shape: tuple | None = None

    def __iter__(self):
        return iter((self.codes, self.scales))

    def typed(self):
        """The same with codes and scales in the FP8 and FP4 dtypes of their library, where it has
        them (torch, JAX, ml_dtypes)."""
        form = find_format(self.format)
        element = {"bytes": form.element, "low_first": "e2m1_x2"}.get(self.packing)
        scales = None if self.scales is None else typed(self.scales, form.scale)
        return replace(self, codes=typed(self.codes, element), scales=scales)


@functools.lru_cache(maxsize=1024)
def _operation(name, format=None, dialect=None, axis=None, size=0, tensor_scale=None, **fields):
    names = {"name": name, "format": format, "dialect": dialect, "axis": axis, **fields}
    for given in names.values():
        if given is not None and "\0" in given:
            raise ValueError(f"{given!r} is no name")
    names["tensor_scale"] = tensor_scale
    texts = {field: _library.text(given) for field, given in names.items()}
    return Operation(struct_size=ctypes.sizeof(Operation), block_size=size, **texts)


def _tensor(address, type, rows, columns, row_stride, column_stride=1, layout=b"strided"):
    return Tensor(
        TENSOR_SIZE, address, type, b"host", layout, rows, columns, row_stride, column_stride
    )


def _matrix(array, type, rows, columns):
    """A row-major NumPy array as a matrix."""
    return _tensor(array.__array_interface__["data"][0], type, rows, columns, columns)


def _laid(array, type, rows, columns, lie):
    """An array of lie.shape as the matrix that lies in it."""
    address, strides = array.__array_interface__["data"][0], (lie.row_stride, lie.column_stride)
    return _tensor(address, type.encode(), rows, columns, *strides, lie.layout.encode())


def _elements(grid, type):
    return _tensor(
        grid.memory.address, type, grid.rows, grid.columns, grid.row_stride, grid.column_stride
    )


def values_of(array, what):
    memory = memory_of(array, what)
    if memory.type not in VALUE_DTYPES:
        raise TypeError(
            f"{what} has elements of type {memory.dtype}; values are float32, float16 or bfloat16"
        )
    return memory


def chosen_dialect(format, dialect):
    """`dialect`, or ocp where none is named and the format is OCP's."""
    if dialect is not None:
        return find_dialect(dialect)
    served = [rules for rules in dialects().values() if format.name in rules.formats]
    if not any(rules.name == "ocp" for rules in served):
        names = ", ".join(rules.name for rules in served)
        raise ValueError(f"name the dialect of {format.name}, one of: {names}")
    return find_dialect("ocp")


@dataclass
class QuantizeCall:
    """A call of quantize: what is asked, what it is given, and shapes for the results."""

    form: object
    rules: object
    grid: object
    axis: int
    operation: Operation
    inputs: list
    block_size: int | None
    kept: list  # what the inputs point into
    scale_rows: int
    scale_columns: int
    packing: str = "bytes"
    scale_layout: str = "linear"

    @property
    def has_number(self):
        return self.rules.keeps_number

    def __post_init__(self):
        size, grid = self.operation.block_size, self.grid
        counts = self.scale_rows, self.scale_columns
        self.codes_lie = lie_of_codes(self.packing, self.form, grid, size)
        self.scales_lie = lie_of_scales(self.packing, self.scale_layout, grid, *counts)

    def room(self):
        """Arrays for codes, scales and the number."""
        codes = numpy.empty(self.codes_lie.shape, "uint8")
        scales = None
        if self.scales_lie is not None:
            scales = numpy.empty(self.scales_lie.shape, numpy_dtype(self.form.scale))
        return codes, scales, numpy.empty((1, 1), "float32") if self.has_number else None

    def outputs(self, codes, scales, number):
        """The arrays of room() as tensors."""
        grid = self.grid
        outputs = [_laid(codes, self.form.element, grid.rows, grid.columns, self.codes_lie)]
        if scales is not None:
            counts = self.scale_rows, self.scale_columns
            outputs.append(_laid(scales, self.form.scale, *counts, self.scales_lie))
        if number is not None:
            outputs.append(_matrix(number, b"f32", 1, 1))
        return outputs

    def run(self):
        codes, scales, number = self.room()
        _library.run(self.operation, self.inputs, self.outputs(codes, scales, number))
        return codes, scales, number


def _random_grid(random_bits, axis, block, shape):
    """The caller's random bits, held to the shape of what they round."""
    grid = grid_of(memory_of(random_bits, "random_bits"), axis, block, "random_bits")
    if grid.memory.type != "u32" or tuple(grid.shape) != tuple(shape):
        raise ValueError(
            f"random_bits are uint32, of shape {tuple(shape)}; these are {grid.memory.dtype}, "
            f"{tuple(grid.shape)}"
        )
    return grid


def size_of_blocks(form, block_size):
    """The elements of a block: the format's own, or what was asked."""
    if block_size is None:
        return form.block_size
    if not isinstance(block_size, int) or isinstance(block_size, bool) or block_size < 1:
        raise ValueError(f"block_size is {block_size!r}; the elements of a block are counted")
    return block_size


def quantize_call(
    x,
    format,
    dialect,
    axis,
    tensor_scale=None,
    random_bits=None,
    block_size=None,
    packing="bytes",
    scale_layout="linear",
):
    """A QuantizeCall of the arguments that quantize takes."""
    form = find_format(format)
    rules = chosen_dialect(form, dialect)
    grid = grid_of(values_of(x, "x"), axis, form.block, "x")
    inputs, kept = [_elements(grid, grid.memory.type.encode())], [grid.memory]
    number = _given_number(rules, tensor_scale)
    if number is not None:
        inputs.append(_matrix(number, b"f32", 1, 1))
        kept.append(number)
    _expect_random_bits(rules, random_bits)
    if random_bits is not None:
        random = _random_grid(random_bits, axis, form.block, grid.shape)
        inputs.append(_elements(random, b"u32"))
        kept.append(random.memory)
    size = size_of_blocks(form, block_size)
    mode = ("derived" if number is None else "given") if rules.keeps_number else None
    operation = _operation("quantize", form.name, rules.name, grid.axis, size, mode)
    counts = form.grid_of_scales(grid.axis, size, grid.rows, grid.columns)
    asked = axis, operation, inputs, block_size, kept
    return QuantizeCall(form, rules, grid, *asked, *counts, packing, scale_layout)


def _given_number(rules, tensor_scale):
    """The number for the whole tensor as an array, or None where it is found in the values."""
    if tensor_scale is None:
        return None
    if not rules.keeps_number:
        raise ValueError(f"{rules.name} has no number for a whole tensor; leave tensor_scale away")
    number = one_number(tensor_scale, "tensor_scale")
    if numpy.isnan(number[0, 0]):
        raise ValueError(
            "tensor_scale is NaN, which scales nothing; leave it away, and the number is "
            "found in x as the dialect finds it among NaNs"
        )
    return number


def _expect_random_bits(rules, random_bits):
    if rules.is_stochastic and random_bits is None:
        raise ValueError(
            f"{rules.name} rounds stochastically: give random_bits, a uint32 for each element; "
            "the same bits give the same codes"
        )
    if random_bits is not None and not rules.is_stochastic:
        raise ValueError(f"{rules.name} takes no random bits; leave random_bits away")


class _KnownCall:
    """What a call of quantize has in common with all of the same rules, type, shape and strides."""

    def __init__(self, call, codes, scales):
        self.call = call
        # The texts that the copies point to live as long as these.
        self.originals = call.inputs, call.outputs(codes, scales, None)
        self.inputs, self.outputs = (bytes(_library.tensors(those)) for those in self.originals)
        self.codes_shape, self.scales_shape = codes.shape, scales.shape
        self.scales_type = scales.dtype

    def run(self, x):
        call = self.call
        inputs = _OneTensor.from_buffer_copy(self.inputs)
        inputs[0].data = x.__array_interface__["data"][0]
        codes = numpy.empty(self.codes_shape, numpy.uint8)
        scales = numpy.empty(self.scales_shape, self.scales_type)
        outputs = _TwoTensors.from_buffer_copy(self.outputs)
        outputs[0].data = codes.__array_interface__["data"][0]
        outputs[1].data = scales.__array_interface__["data"][0]
        _library.run_tensors(call.operation, inputs, outputs)
        named = call.form.name, call.rules.name, call.axis, call.block_size
        return Quantized(codes, scales, None, *named)


_OneTensor, _TwoTensors = Tensor * 1, Tensor * 2
_known_calls = {}
_KNOWN_MAX = 4096


def _remember(key, call, x, codes, scales):
    """Keeps a call that reads `x` where it lies and writes its results as they are to stand."""
    simple = not call.has_number and call.grid.moved_from is None and len(call.inputs) == 1
    simple = simple and (call.packing, call.scale_layout) == PLAIN
    if not simple or call.grid.memory.owner is not x:
        return
    if len(_known_calls) >= _KNOWN_MAX:
        _known_calls.clear()
    known = _KnownCall(call, codes, scales)
    call.grid.memory, call.kept = None, []
    _known_calls[key] = known


def quantize(
    x,
    *,
    format,
    dialect=None,
    axis=-1,
    tensor_scale=None,
    random_bits=None,
    block_size=None,
    packing="bytes",
    scale_layout="linear",
):
    """The right codes and scales of `x`.

    x: array of float32, float16 or bfloat16, of any shape.
    format: a name of mxcheck.list("formats"), as "mxfp8-e4m3" or "nvfp4".
    dialect: a name of mxcheck.list("dialects"), as "nv" or "torchao-floor"; the rules of one
        library, with the source they are read from. "ocp" where the format is OCP's.
    axis: the number of the axis that blocks lie along. A last block may be short.
    tensor_scale: NVFP4's number for the whole tensor: its amax (not the scale that is kept), or in
        a dialect with a history the scale itself; a number, or an array of one in float32, float16
        or bfloat16. Without it the amax is found in `x`.
    random_bits: of a dialect that rounds stochastically, a uint32 for each element.
    block_size: elements of a block, where it is not the format's own (MX: 16, 32 or 64).
    packing: of the codes along the last axis: "bytes", one a byte; of 4 bits "low_first" (as
        torch.float4_e2m1fn_x2) or "high_first"; of 6 bits "six"; "inline" with the scales.
    scale_layout: "linear", or "128x4" (cuBLASLt), "8x4", "32x8" or "te-padded", which are filled
        up to whole tiles; mxcheck.list("layouts") has their sources. x is taken as a matrix, the
        axes before the last one as its rows.

    Returns Quantized. Raises TypeError and ValueError for arrays that do not fit, NotSupported for
    what the dialect does not know.
    """
    key = None
    is_plain = (packing, scale_layout) == PLAIN
    if type(x) is numpy.ndarray and tensor_scale is None and random_bits is None and is_plain:
        # repr: True, 1 and 1.0 are one key, and not one answer.
        named = tuple(map(repr, (format, dialect, axis, block_size)))
        key = (*named, x.dtype, x.shape, x.strides)
        known = _known_calls.get(key)
        if known is not None:
            return known.run(x)
    laid = packing, scale_layout
    call = quantize_call(x, format, dialect, axis, tensor_scale, random_bits, block_size, *laid)
    codes, scales, number = call.run()
    restored, like = call.grid.restored, call.grid.memory.like
    if key is not None:
        _remember(key, call, x, codes, scales)
    return Quantized(
        result_like(restored(codes), like),
        None if scales is None else result_like(restored(scales), like),
        None if number is None else number[0, 0],
        call.form.name,
        call.rules.name,
        axis,
        block_size,
        *laid,
        None if packing == "bytes" else tuple(call.grid.shape),
    )


def expect_type(memory, type, what):
    """Codes and scales may be raw bytes; a dtype that says more must say the right thing."""
    named = "e4m3" if type == "ue4m3" else type
    width = width_of(type)
    if width_of(memory.type) != width:
        raise TypeError(f"{what} are {memory.dtype}, and {width} bytes an element are needed")
    if memory.type not in ("uint8", "u32", named):
        raise TypeError(f"{what} are {memory.dtype}; {named} is needed, or raw bytes")


def raw_bytes(array, type, shape, what):
    """An array of codes or scales of `type` as a NumPy array of their bits, held to `shape`."""
    memory = memory_of(array, what)
    expect_type(memory, type, what)
    raw = as_array(memory)
    if tuple(raw.shape) != tuple(shape):
        raise ValueError(f"{what} has shape {tuple(raw.shape)}; {tuple(shape)} is needed")
    return raw


def _raw_in_grid(array, type, grid, shape, what):
    """raw_bytes of the caller's array in the axes of the grid, in which it has `shape`."""
    return grid.moved(raw_bytes(array, type, grid.restored_shape(shape), what))


def _raw_in_layout(array, type, lie, what, are_codes):
    """An array of the caller's in a layout, held to its size; the shape may be another."""
    memory = memory_of(array, what)
    if are_codes and memory.type not in ("uint8", "e2m1_x2"):
        raise TypeError(f"{what} are {memory.dtype}; packed codes are bytes")
    if not are_codes:
        expect_type(memory, type, what)
    raw = numpy.ascontiguousarray(as_array(memory))
    needed = math.prod(lie.shape)
    if raw.size != needed:
        raise ValueError(
            f"{what} in the layout {lie.layout} have {raw.size:,} elements of shape "
            f"{tuple(raw.shape)}; {needed:,} are needed, as in shape {lie.shape}"
            f"{'' if are_codes else ' with the pads'}"
        )
    return raw.reshape(lie.shape)


def answers_of(call, codes, scales, number):
    """The caller's codes and scales in the arrays of call.room()."""
    form = call.form
    if call.scales_lie is None and scales is not None:
        raise ValueError("packing='inline' holds the scales among the codes: leave them away")
    if call.codes_lie.is_plain:
        codes = _raw_in_grid(
            unpacked(codes), form.element, call.grid, call.codes_lie.shape, "codes"
        )
    else:
        codes = _raw_in_layout(codes, form.element, call.codes_lie, "codes", are_codes=True)
    if call.scales_lie is not None and call.scales_lie.is_plain:
        scales = _raw_in_grid(scales, form.scale, call.grid, call.scales_lie.shape, "scales")
    elif call.scales_lie is not None:
        scales = _raw_in_layout(scales, form.scale, call.scales_lie, "scales", are_codes=False)
    if not call.has_number:
        if number is not None:
            raise ValueError(f"{call.rules.name} keeps no number; leave tensor_scale away")
        return codes, scales, None
    if number is None:
        raise TypeError("tensor_scale is missing: give the number that was kept")
    return codes, scales, one_number(number, "tensor_scale")


def one_number(number, what):
    """A number, or an array of one from any library, as a 1 x 1 array of float32."""
    if not isinstance(number, (int, float, numpy.generic)):
        memory = values_of(number, what)
        if memory.size != 1:
            raise ValueError(f"{what} is one number, and not {memory.size}")
        number = _as_float32(memory).reshape(-1)[0]
    try:
        value = float(number)
    except (TypeError, ValueError, OverflowError):
        value = None
    with numpy.errstate(over="ignore"):
        rounded = None if value is None else numpy.float32(value)
    if rounded is None or numpy.isinf(rounded) and not math.isinf(value):
        raise ValueError(f"{what} is {number!r}, which is no number of binary32")
    return numpy.full((1, 1), rounded)


def _as_float32(memory):
    """Values of any type as float32, which has all of them."""
    bits = as_array(memory)
    if memory.type == "bf16":
        return (bits.astype("uint32") << 16).view("float32")
    return bits.view(numpy_dtype(memory.type)).astype("float32")


def unpacked(codes):
    """torch's float4_e2m1fn_x2, two codes a byte and the first in the low nibble, as one a byte."""
    memory = memory_of(codes, "codes")
    if memory.type != "e2m1_x2":
        return codes
    pairs = as_array(memory)
    return numpy.stack((pairs & 15, pairs >> 4), axis=-1).reshape(*pairs.shape[:-1], -1)


def _packed_grid(codes, form, axis, size, packing, shape, what):
    """The grid of codes that are packed, of which only the library knows where they lie."""
    memory = memory_of(codes, what)
    if shape is None:
        shape = unpacked_shape(packing, form, size, memory.shape)
    shape = tuple(shape)
    number = axis_number(axis, len(shape))
    if number != len(shape) - 1 and math.prod(shape[:number]) != 1:
        raise ValueError("packed codes have their blocks along the last axis, or are a matrix")
    logical = Memory(0, shape, row_major(shape), "uint8", None, memory.like)
    return grid_of(logical, axis, form.block, what)


def _blocks(q, form, size, whose=""):
    """(grid, tensors, what they point into) of the codes and scales of a Quantized."""
    codes_are, scales_are = f"codes{whose}", f"scales{whose}"
    if q.packing == "bytes":
        memory = memory_of(unpacked(q.codes), codes_are)
        expect_type(memory, form.element, codes_are)
        grid = grid_of(memory, q.axis, form.block, codes_are)
        tensors, kept = [_elements(grid, form.element.encode())], [grid.memory]
    else:
        grid = _packed_grid(q.codes, form, q.axis, size, q.packing, q.shape, codes_are)
        lie = lie_of_codes(q.packing, form, grid, size)
        raw = _raw_in_layout(q.codes, form.element, lie, codes_are, are_codes=True)
        tensors, kept = [_laid(raw, form.element, grid.rows, grid.columns, lie)], [raw]
    counts = form.grid_of_scales(grid.axis, size, grid.rows, grid.columns)
    lie = lie_of_scales(q.packing, q.scale_layout, grid, *counts)
    if lie is None:
        return grid, tensors, kept
    if lie.is_plain:
        raw = _raw_in_grid(q.scales, form.scale, grid, lie.shape, scales_are)
    else:
        raw = _raw_in_layout(q.scales, form.scale, lie, scales_are, are_codes=False)
    return grid, [*tensors, _laid(raw, form.scale, *counts, lie)], [*kept, raw]


def value_type(dtype):
    name = str(dtype).removeprefix("torch.")
    name = getattr(dtype, "__name__", name) if isinstance(dtype, type) else name
    if TYPES.get(name) not in VALUE_DTYPES:
        raise TypeError(f"dtype {name} is none of float32, float16 and bfloat16")
    return TYPES[name]


def _values_like(array, type, like):
    if type != "bf16":
        return result_like(array, like)
    result = typed(result_like(array.view("int16"), like), "bf16")
    if "bfloat16" not in str(result.dtype):
        raise TypeError(
            "there is no bfloat16 here (NumPy has it with the package ml_dtypes); ask for float32"
        )
    return result


_DEFAULTS = {"axis": -1, "packing": "bytes", "scale_layout": "linear"}


def named_codes(codes, scales, tensor_scale, **named):
    """A Quantized of codes and what is named beside them. A Quantized says all of that itself: what
    contradicts it is a ValueError. None was left away."""
    if not isinstance(codes, Quantized):
        left_away = {name: _DEFAULTS.get(name) for name in named if named[name] is None}
        return Quantized(codes, scales, tensor_scale, **{**named, **left_away})
    if scales is not None:
        raise ValueError(
            "scales are given beside a Quantized, which holds its own; leave them away"
        )
    if tensor_scale is not None:
        named["tensor_scale"] = tensor_scale
    for name, given in named.items():
        if given is not None and not _says(codes, name, given):
            raise ValueError(
                f"{name}={given!r} contradicts the Quantized beside it, whose {name} is "
                f"{getattr(codes, name)!r}; leave it away"
            )
    return codes


def _says(q, name, given):
    """Whether `given` means what q says by that name."""
    own = getattr(q, name)
    if name == "block_size":
        form = find_format(q.format)
        return size_of_blocks(form, given) == size_of_blocks(form, own)
    if name == "tensor_scale":
        if own is None:
            return False
        numbers = one_number(given, name), one_number(own, name)
        return numpy.array_equal(*numbers, equal_nan=True)
    if name in ("axis", "shape"):
        shape = q.shape or tuple(memory_of(unpacked(q.codes), "codes").shape)
        if name == "shape":
            return tuple(given) == tuple(shape)
        return axis_number(given, len(shape)) == axis_number(own, len(shape))
    return given == own


def dequantize(
    codes,
    scales=None,
    *,
    format=None,
    dialect=None,
    axis=None,
    tensor_scale=None,
    block_size=None,
    packing=None,
    scale_layout=None,
    shape=None,
    dtype="float32",
):
    """The values of codes under their scales, rounded once to `dtype`.

    codes: a Quantized, which says all of the rest but dtype; or an array of codes with `scales`,
        `format` and the rest beside it: uint8, or a dtype of 8 bits, of any shape.
    scales: as Quantized has them.
    format, dialect, axis, block_size, packing, scale_layout: as quantize took them, with its
        defaults. Beside a Quantized, one that contradicts it is refused.
    tensor_scale: the number that quantize kept, of dialects that keep one; a number, or an array of
        one in float32, float16 or bfloat16.
    shape: of the values, where packed codes have room for more than there are.
    dtype: float32, float16 or bfloat16.

    Returns values of the shape of the input of quantize. Raises TypeError and ValueError for arrays
    that do not fit, NotSupported for what the dialect does not know.
    """
    is_named = isinstance(codes, Quantized)
    if not is_named and (format is None or (scales is None and packing != "inline")):
        raise ValueError("codes without a name: give scales= and format=, as quantize got them")
    q = named_codes(
        codes,
        scales,
        tensor_scale,
        format=format,
        dialect=dialect,
        axis=axis,
        block_size=block_size,
        packing=packing,
        scale_layout=scale_layout,
        shape=shape,
    )
    form = find_format(q.format)
    rules = chosen_dialect(form, q.dialect)
    size = size_of_blocks(form, q.block_size)
    grid, inputs, _kept = _blocks(q, form, size)
    type = value_type(dtype)
    out = numpy.empty(grid.shape, numpy_dtype(type))
    if rules.keeps_number:
        if q.tensor_scale is None:
            raise ValueError(f"{rules.name} keeps a number for the whole tensor: give tensor_scale")
        number = one_number(q.tensor_scale, "tensor_scale")
        inputs.append(_matrix(number, b"f32", 1, 1))
    mode = "given" if rules.keeps_number else None
    operation = _operation("dequantize", form.name, rules.name, grid.axis, size, mode)
    _library.run(operation, inputs, [_matrix(out, type.encode(), grid.rows, grid.columns)])
    return _values_like(grid.restored(out), type, grid.memory.like)


def convert(
    x, element, *, rounding="nearest_even", overflow="saturate", dialect="ocp", random_bits=None
):
    """Codes of single values in an element format, without a scale.

    x: array of float32, float16 or bfloat16, of any shape.
    element: "e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "int8", "e4m3fnuz", "e5m2fnuz", "ue5m3", or
        "e8m0" for the scale nearest to each value, as the dialect casts.
    rounding: "nearest_even", "nearest_away", "toward_zero", "to_odd", ...: mx_device.h lists them.
    overflow: "saturate", or "overflow" (to Inf, or NaN where there is none). A dialect's cast to
        "e8m0" has a rounding and an overflow of its own, and these are not looked at.
    dialect: whose cast to "e8m0" it is, and whose codes NaNs and zeros get: "avx10-fp8",
        "arm-fp8" and "riscv-fp8" are processors' conversions to FP8.
    random_bits: of a stochastic rounding, a uint32 for each element, of "stochastic-x4" for each
        four of the last axis.

    Returns uint8 codes of the shape of x. Raises TypeError and ValueError for arrays that do not
    fit, NotSupported for an element or a rounding that nobody knows.
    """
    memory = values_of(x, "x")
    grid = grid_of(memory, -1, "line", "x")
    find_dialect(dialect)
    inputs = [_elements(grid, memory.type.encode())]
    if random_bits is not None:
        each = 4 if rounding == "stochastic-x4" else 1
        shape = (*grid.shape[:-1], -(-grid.shape[-1] // each))
        random = _random_grid(random_bits, -1, "line", shape)
        inputs.append(_elements(random, b"u32"))
    codes = numpy.empty(grid.shape, "uint8")
    how = {"rounding": rounding, "overflow": overflow, "subnormals": "honoured"}
    operation = _operation("convert", element, dialect, **({} if element == "e8m0" else how))
    output = _matrix(codes, element.encode(), grid.rows, grid.columns)
    _library.run(operation, inputs, [output])
    return result_like(codes, memory.like)


def encode_scale(amax, *, format, dialect=None):
    """E8M0 bytes of the scales that a dialect derives from block amaxima.

    amax: array of float32, float16 or bfloat16, of any shape; none of them negative.
    format, dialect: names, as quantize takes them.

    Returns uint8 of the shape of amax. Raises TypeError and ValueError for arrays that do not fit,
    NotSupported for a format whose scales are not E8M0.
    """
    form = find_format(format)
    rules = chosen_dialect(form, dialect)
    memory = values_of(amax, "amax")
    grid = grid_of(memory, -1, "line", "amax")
    negative = _as_float32(memory) < 0
    if negative.any():
        raise ValueError(
            f"{negative.sum():,} of {negative.size:,} amaxima are negative; each is the largest of "
            "absolute values"
        )
    scales = numpy.empty(grid.shape, "uint8")
    operation = _operation("encode_scale", form.name, rules.name)
    output = _matrix(scales, b"e8m0", grid.rows, grid.columns)
    _library.run(operation, [_elements(grid, memory.type.encode())], [output])
    return result_like(scales, memory.like)


def _binary32(number, what):
    try:
        return struct.unpack("<I", struct.pack("<f", number))[0]
    except (OverflowError, struct.error) as error:
        raise ValueError(f"{what} is {number!r}, which is no number of binary32") from error


# How mx_gemm names the scales of a factor: of their type, and blocks of a form and size.
_SCALINGS = {
    ("e8m0", "line", 32): "1x32",
    ("ue4m3", "line", 16): "1x16",
    ("ue4m3", "tile", 16): "1x16",
    ("f32", "line", 128): "1x128",
    ("f32", "tile", 128): "128x128",
    ("f32", "tensor", 0): "tensor",
}


def _factor(factor, what):
    """(tensors, scaling, grid, what they point into, like) of A or B; rows run along K."""
    if isinstance(factor, Quantized):
        form = find_format(factor.format)
        if factor.axis not in (-1, len(memory_of(factor.codes, what).shape) - 1):
            raise ValueError(f"{what} is quantized along axis {factor.axis}; K is its last axis")
        size = form.block_size if factor.block_size is None else factor.block_size
        scaling = _SCALINGS.get((form.scale, form.block, size))
        if scaling is None:
            raise NotSupported(f"no product of {factor.format} in blocks of {size} is served here")
        grid, tensors, kept = _blocks(factor, form, size, f" of {what}")
        if form.name == "nvfp4-16x16":  # as rows of blocks that happen to be equal
            if factor.scale_layout != "linear":
                raise NotSupported(f"no product of {factor.format} with swizzled scales is served")
            scales = numpy.ascontiguousarray(numpy.repeat(kept[-1], size, 0)[: grid.rows])
            tensors[1] = _matrix(scales, form.scale.encode(), *scales.shape)
            kept.append(scales)
        return tensors, scaling, grid, kept, factor.codes
    memory = values_of(factor, what)
    grid = grid_of(memory, -1, "line", what)
    return [_elements(grid, memory.type.encode())], None, grid, [grid.memory], factor


def _needs_alpha(factor):
    return isinstance(factor, Quantized) and factor.tensor_scale is not None


def gemm(
    a, b, *, model="exact", alpha=None, c=None, beta=None, bias=None, epilogue=None, dtype="float32"
):
    """D = alpha * A * B^T + beta * C, as a tensor core that follows `model` gives it.

    a, b: M x K and N x K, each what quantize gave along its last axis, or values.
    model: "exact" for exact sums that are rounded once, or a name of mxcheck.list("models").
    alpha, beta: numbers of binary32. Of NVFP4 with a number for the tensor, alpha is to hold both
        tensors' scales, as the library hands them to its kernel. (Where the number that is kept is
        the amax, the scale is amax / (6 * 448) in most dialects.)
    c: M x N values, of the type of D, and then beta is not 0. bias: N values, of D's type or
        bfloat16 as mx_device.h says, and then an epilogue with "bias".
    epilogue: "relu", "bias", "bias-relu"; under a model "gelu" and "bias-gelu", too.
    dtype: of D: float32, float16 or bfloat16.

    Returns D, M x N. Raises TypeError and ValueError for arrays that do not fit, NotSupported for
    formats without a product and for what the model does not know.
    """
    return gemm_call(a, b, alpha, c, beta, bias, epilogue, dtype).run(model)


def grouped_gemm(
    a,
    b,
    offsets,
    *,
    model="exact",
    alpha=None,
    c=None,
    beta=None,
    bias=None,
    epilogue=None,
    dtype="float32",
):
    """One product for each group of rows of A, with a B of its own, as a mixture of experts has it.

    a: M x K, the rows of all groups one after the other; b: E x N x K, a matrix for each of E
        groups; each what quantize gave along its last axis, or values. The scales of quantized ones
        lie row by row, with scale_layout="linear".
    offsets: E + 1 whole numbers, which rise from 0 to at most M: rows offsets[g] .. offsets[g+1] - 1
        are those of group g, which has none where the two are equal. The offs of torch's
        _scaled_grouped_mm are these without the first.
    model, alpha, c, beta, bias, epilogue, dtype: as gemm takes them; the bias is one for all groups.

    Returns D, M x N; rows of A beyond the last offset belong to no group and are 0 in D. Raises
    TypeError and ValueError for arrays that do not fit, NotSupported for formats without a product
    and for what the model does not know.
    """
    groups = _row_offsets(offsets)
    return gemm_call(a, b, alpha, c, beta, bias, epilogue, dtype, groups).run(model)


def _row_offsets(offsets):
    array = offsets.cpu().numpy() if hasattr(offsets, "cpu") else numpy.asarray(offsets)
    if array.dtype.kind not in "iu" or array.ndim != 1 or array.size < 2:
        raise TypeError("offsets are E + 1 whole numbers, of at least one group")
    if array.min() < 0 or array.max() > 2**31 - 1:
        raise ValueError("offsets are no numbers of int32 from 0 on")
    return array.astype("int32")


@dataclass
class GemmCall:
    """A call of gemm without its output."""

    operation: Operation
    inputs: list
    kept: list  # what the inputs point into
    shape: tuple
    type: str  # of D
    like: object

    def output(self, array):
        return _matrix(array, self.type.encode(), *self.shape)

    def run(self, model):
        """D, in which rows that are not written are 0."""
        out = numpy.zeros(self.shape, numpy_dtype(self.type))
        _library.run(self.operation, self.inputs, [self.output(out)], model)
        return _values_like(out, self.type, self.like)


def gemm_call(a, b, alpha, c, beta, bias, epilogue, dtype, offsets=None):
    """A GemmCall of the arguments that gemm takes, or grouped_gemm."""
    if alpha is None and (_needs_alpha(a) or _needs_alpha(b)):
        raise ValueError(
            "a factor has a number for its whole tensor: give alpha, in which your library hands "
            "both tensors' scales to its kernel"
        )
    tensors_a, scaling_a, grid_a, kept_a, like = _factor(a, "a")
    tensors_b, scaling_b, grid_b, kept_b, _ = _factor(b, "b")
    if grid_a.columns != grid_b.columns:
        raise ValueError(f"rows of a have {grid_a.columns} elements and rows of b {grid_b.columns}")
    groups = 0 if offsets is None else len(offsets) - 1
    if groups and grid_b.rows % groups:
        raise ValueError(f"b has {grid_b.rows} rows, which {groups} groups do not share")
    shape = grid_a.rows, grid_b.rows // max(groups, 1)
    addends = [*_addend(c, "c", *shape), *_addend(bias, "bias", 1, shape[1])]
    details = Gemm(
        struct_size=ctypes.sizeof(Gemm),
        batches=1,
        alpha=_binary32(1.0 if alpha is None else alpha, "alpha"),
        beta=_binary32(_beta(beta, c), "beta"),
        scaling_a=_library.text(scaling_a),
        scaling_b=_library.text(scaling_b),
        epilogue=_library.text(_epilogue(epilogue, bias)),
        groups=groups,
    )
    operation = Operation(
        struct_size=ctypes.sizeof(Operation), name=b"gemm", gemm=ctypes.pointer(details)
    )
    inputs = [*tensors_a, *tensors_b, *(_elements(g, g.memory.type.encode()) for g in addends)]
    if groups:
        inputs.append(_matrix(offsets, b"i32", 1, len(offsets)))
    kept = [kept_a, kept_b, addends, offsets]
    return GemmCall(operation, inputs, kept, shape, value_type(dtype), like)


def _addend(values, what, rows, columns):
    """The grid of C or the bias, in a list; nothing where it is not given."""
    if values is None:
        return []
    grid = grid_of(values_of(values, what), -1, "line", what)
    if (grid.rows, grid.columns) != (rows, columns):
        raise ValueError(f"{what} is {grid.rows} x {grid.columns}; {rows} x {columns} is needed")
    return [grid]


def _beta(beta, c):
    if beta is None:
        beta = 0.0 if c is None else 1.0
    if (c is None) != (beta == 0):
        raise ValueError(f"beta is {beta}, and c is {'not ' if c is None else ''}given")
    return beta


def _epilogue(epilogue, bias):
    if bias is not None and epilogue is None:
        return "bias"
    if (bias is not None) != ("bias" in (epilogue or "")):
        raise ValueError(
            f"epilogue is {epilogue!r}, and a bias is {'not ' if bias is None else ''}given"
        )
    return epilogue


def typed_values(values):
    """Values as explain takes them: the bits of float32, so that none is rounded on the way."""
    array = numpy.ascontiguousarray(numpy.asarray(values, "float32")).reshape(-1)
    return ",".join(f"bits:{word:#010x}" for word in array.view("uint32").tolist())


def explain(values, *, format, dialect=None):
    """Every step from the values of one block to their codes, with exact fractions, as text.

    values: numbers, rounded to float32 first, at most a block of them; or the text that
        `mxcheck explain --values` takes.
    format, dialect: names, as quantize takes them.

    Returns text; it cites the rule's source. Raises ValueError for names that nobody knows,
    NotSupported for more values than a block has.
    """
    form = find_format(format)
    rules = chosen_dialect(form, dialect)
    text = values if isinstance(values, str) else typed_values(values)
    return _library.explain(form.name, rules.name, "f32", text)


def edge_cases(format, dialect=None, dtype="float32", family=None):
    """Blocks of values on borders: ties and their neighbours, scales that change, specials.

    format, dialect: names, as quantize takes them.
    dtype: float32, float16 or bfloat16 (which NumPy has with the package ml_dtypes alone).
    family: one of "edge.tie", "edge.scale", "edge.amax", "edge.special" and "edge.mixed"; all of
        them without it.

    Returns a NumPy array of dtype, one block a row. Raises ValueError for a format or dialect that
    nobody knows, NotSupported for a family.
    """
    form = find_format(format)
    rules = chosen_dialect(form, dialect)
    type = value_type(dtype)
    raw, rows, columns = _library.edge_cases(form.name, rules.name, type, family, width_of(type))
    array = numpy.frombuffer(raw, numpy_dtype(type)).reshape(rows, columns).copy()
    return _values_like(array, type, array)


def list(what="dialects"):  # noqa: A001 - mxcheck.list is what the program calls it
    """The entries of `mxcheck list WHAT --json`, as dictionaries; dialects and models with the
    sources that their rules are read from.

    what: "formats", "dialects", "models" or "layouts".

    Raises NotSupported for another name.
    """
    return _library.listed(what)
