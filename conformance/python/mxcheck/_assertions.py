"""Silent where the bits are right. assert_bits names the cause first; assert_values and assert_gemm
list the first places.
"""

import warnings
from dataclasses import replace

import numpy

from . import _library
from ._arrays import as_array, memory_of
from ._layouts import others, pads_are_zero, pads_of_codes
from ._names import formats
from ._operations import (
    answers_of,
    dequantize,
    gemm,
    gemm_call,
    named_codes,
    quantize,
    quantize_call,
    typed_values,
)

_RIGHT = ("pass_exact", "pass_bounded")
_PLACES = 5
# Larger tensors are not laid out again in every other layout to find out how they lie.
_LARGEST_SEARCHED = 1 << 22


def format_of(codes):
    """The format that the dtype of codes tells: the only one with such elements in small blocks."""
    memory = memory_of(codes, "codes")
    found = [f for f in formats().values() if f.element == memory.type and f.scale != "f32"]
    if len(found) != 1:
        raise ValueError(
            f"codes of {memory.dtype} may be of several formats: name one with format="
        )
    return found[0].name


def _equal(one, other):
    width = f"u{one.dtype.itemsize}"
    return numpy.array_equal(one.reshape(-1).view(width), other.reshape(-1).view(width))


def _all_equal(answers, expected):
    return all(
        (a is None and e is None) or _equal(a, e) for a, e in zip(answers, expected, strict=True)
    )


def assert_bits(
    x,
    codes,
    scales=None,
    tensor_scale=None,
    *,
    format=None,
    dialect=None,
    axis=None,
    given_tensor_scale=None,
    random_bits=None,
    block_size=None,
    packing=None,
    scale_layout=None,
    strict=False,
):
    """Holds codes and scales of `x` to the oracle, bit for bit.

    x, random_bits: as quantize takes them.
    codes and scales: as it gives them, raw or in FP8 and FP4 dtypes, in a layout of any shape that
        has as many bytes, the pads among them; or one Quantized in place of both, which says format,
        dialect, axis and the rest itself. Pads that a kernel reads must be 0.
    format, dialect, axis, block_size, packing, scale_layout: as quantize takes them, with its
        defaults. Format may be left away where the dtype of the codes tells it. Beside a Quantized,
        one that contradicts it is refused.
    tensor_scale: the number that was kept, as dequantize takes it.
    given_tensor_scale: the one that the quantizer was given, if it was.
    strict: what the dialect's source leaves open must be the oracle's choice, too.

    Raises AssertionError: the cause, the first places with exact values, and lines that repeat it.
    """
    __tracebackhide__ = True  # pytest ends its traceback at the caller
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
    )
    if q.scales is None and q.packing != "inline":
        raise TypeError("scales are missing: give codes and scales")
    named = format_of(q.codes) if q.format is None else q.format, q.dialect
    given = q.axis, given_tensor_scale, random_bits, q.block_size
    call = quantize_call(x, *named, *given, q.packing, q.scale_layout)
    answers = answers_of(call, q.codes, q.scales, q.tensor_scale)
    right = call.run()
    if _all_equal(answers, right):
        return
    report = _library.compare(
        call.operation, call.inputs, call.outputs(*answers), places_max=_PLACES
    )
    verdicts = {result["verdict"] for result in report["results"]}
    allowed = set(_RIGHT) if strict else {*_RIGHT, "deviation"}
    if verdicts <= allowed:
        _expect_pads_of_codes(call, answers[0])
        return _expect_pads_of_scales(call, answers[1], right[1])
    raise AssertionError(_failure(call, answers, report))


def _expect_pads_of_codes(call, codes):
    """Bits of packed codes that belong to no code: a kernel reads them, and they are 0."""
    if call.packing == "bytes" or codes.size == 0:
        return
    pads = pads_of_codes(call.packing, call.form, call.grid.columns, call.operation.block_size)
    wrong = numpy.argwhere(codes.reshape(-1, len(pads)) & pads)
    if len(wrong):
        row, byte = wrong[0]
        raise AssertionError(
            f"The bits are right, but {len(wrong):,} bytes of the codes under "
            f"packing={call.packing!r} have pads that are not 0, the first byte {byte} of row {row}."
        )


def pads_of(call):
    """Which bytes of laid-out scales are pads, in their order. Scales of ones are never 0, in a
    grid like this one: what is 0 are pads."""
    columns = call.grid.axis == "col"
    ones = numpy.ones(
        (call.scale_rows << 4 * columns, call.scale_columns << 4 * (not columns)), "f4"
    )
    named = {"format": "mxfp4-e2m1", "dialect": "ocp", "block_size": 16}
    axis = 0 if columns else 1
    scales = quantize(ones, axis=axis, scale_layout=call.scale_layout, **named).scales
    return scales.reshape(-1) == 0


def _expect_pads_of_scales(call, scales, right):
    """Pads that a layout wants to be 0: a kernel reads them."""
    lie = call.scales_lie
    if lie is None or lie.is_plain or not pads_are_zero(lie.layout):
        return
    if not (scales[right == 0] != 0).any():
        return
    pads = pads_of(call)
    wrong = numpy.flatnonzero((scales.reshape(-1) != 0) & pads)
    if len(wrong):
        raise AssertionError(
            f"The bits are right, but {len(wrong):,} of {pads.sum():,} pads of the scales in the "
            f"layout {lie.layout} are not 0, the first at byte {wrong[0]}."
        )


def _lies_otherwise(call, answers):
    """The sentence where these are the right bits in another layout; None where they are not."""
    for packing, scale_layout in others(call.packing, call.scale_layout):
        try:
            other = replace(call, packing=packing, scale_layout=scale_layout)
            if _all_equal(answers, other.run()):
                asked = f"packing={call.packing!r}, scale_layout={call.scale_layout!r}"
                return (
                    f"The bits are right, but they lie as packing={packing!r}, "
                    f"scale_layout={scale_layout!r}, and not as {asked}."
                )
        except (ValueError, _library.MxcheckError):
            continue
    return None


def _failure(call, answers, report):
    kinds = [kind for result in report["results"] for kind in result["mismatches"]]
    lines = [_cause(call, answers, report)]
    lines += [_totals(result, call) for result in report["results"]]
    for kind in kinds[:_PLACES]:
        lines += _kind_lines(kind)
    if report["places"]:
        lines.append("first places: " + ", ".join(map(_place_text, report["places"])))
    return "\n".join([*lines, *_repeat(call, report)])


def _cause(call, answers, report):
    if answers[0].size <= _LARGEST_SEARCHED:
        otherwise = _lies_otherwise(call, answers)
        if otherwise:
            return otherwise
    return report["cause"]


def _kind_text(kind):
    told = [kind["mismatch_class"], kind["direction"], kind["note"]]
    return ", ".join(part for part in told if part)


def _kind_lines(kind):
    yield f"  {_kind_text(kind)}: {kind['count']:,} of {kind['of']:,}"
    scale = f"scale {kind['actual_scale']}"
    if kind["actual_scale"] != kind["expected_scale"]:
        scale += f" ({kind['actual_value']}), expected {kind['expected_scale']}"
        scale += f" ({kind['expected_value']})"
    yield (
        f"    block {kind['block']} element {kind['lane']}: input {kind['input_bits']} "
        f"({kind['input_value']}), amax {kind['amax_value']}, {scale}"
    )
    if kind["actual_element"] != kind["expected_element"]:
        yield (
            f"    code {kind['actual_element']} ({kind['actual_value']}), expected "
            f"{kind['expected_element']} ({kind['expected_value']})"
        )
    yield f"    exact: {kind['exact_value']}"


def _totals(result, call):
    return (
        f"{call.form.name} {call.rules.name}: {result['mismatched_elements']:,} of "
        f"{result['elements']:,} elements and {result['mismatched_scales']:,} of "
        f"{result['scales']:,} scales differ"
    )


def _place_text(place):
    name = ("codes", "scales", "tensor_scale")[min(place["output"], 2)]
    where = f"{name}[{place['row']}, {place['column']}]"
    return f"{where} {place['actual']} for {place['expected']}"


def _block_of(call, report):
    """The values of the first block that differs, as `explain` takes them; None where it would not
    show the same: a number for the whole tensor, blocks that are no rows of 32, other types."""
    place = report["places"][0]
    grid = call.grid
    size = call.operation.block_size
    if grid.axis != "row" or grid.memory.type != "f32" or size > 32:
        return None
    if call.has_number or len(call.inputs) > 1 or call.block_size is not None:
        return None
    row = place["row"]
    block = place["column"] // size if place["output"] == 0 else place["column"]
    matrix = as_array(grid.memory).reshape(grid.rows, grid.columns)
    return typed_values(matrix[row, block * size : (block + 1) * size].view("float32"))


def _repeat(call, report):
    values = _block_of(call, report) if report["places"] else None
    if values is None:
        return
    form, rules = call.form.name, call.rules.name
    yield "the first block again, in Python and in a shell:"
    yield f"  print(mxcheck.explain({values!r}, format={form!r}, dialect={rules!r}))"
    yield f"  mxcheck explain --values {values} --format {form} --dialect {rules}"


def _assert_equal_values(actual, expected, what):
    memory, wanted = memory_of(actual, what), memory_of(expected, "expected")
    if memory.dtype != wanted.dtype:
        raise TypeError(f"{what} has elements of type {memory.dtype}; dtype= asks {wanted.dtype}")
    actual_bits, expected_bits = as_array(memory), as_array(wanted)
    if actual_bits.shape != expected_bits.shape:
        raise AssertionError(
            f"{what} has shape {actual_bits.shape}; {expected_bits.shape} is right"
        )
    both_nan = _is_nan(actual_bits, wanted.type) & _is_nan(expected_bits, wanted.type)
    wrong = numpy.argwhere((actual_bits != expected_bits) & ~both_nan)
    if len(wrong) == 0:
        return
    lines = [f"{len(wrong):,} of {expected_bits.size:,} values differ"]
    digits = 2 * expected_bits.dtype.itemsize
    for place in map(tuple, wrong[:_PLACES].tolist()):
        lines.append(
            f"  {list(place)}: 0x{actual_bits[place]:0{digits}x}, expected "
            f"0x{expected_bits[place]:0{digits}x}"
        )
    raise AssertionError("\n".join(lines))


_INFINITIES = {"f32": 0x7F800000, "f16": 0x7C00, "bf16": 0x7F80}


def _magnitude(bits):
    return bits & bits.dtype.type((1 << (8 * bits.dtype.itemsize - 1)) - 1)


def _is_nan(bits, type):
    return _magnitude(bits) > _INFINITIES[type]


def _is_finite(bits, type):
    return _magnitude(bits) < _INFINITIES[type]


def assert_values(values, codes, scales=None, *, dtype="float32", **named):
    """Holds dequantized values to the oracle; the rest as dequantize takes it. Any NaN stands for
    any other.

    values: an array of `dtype`, of the shape that dequantize gives.

    Raises AssertionError: how many values differ, and the first places.
    """
    __tracebackhide__ = True
    _assert_equal_values(values, dequantize(codes, scales, dtype=dtype, **named), "values")


class InsufficientData(UserWarning):
    """What assert_gemm warns of: each value of a product was judged and is within its bound, but the
    data could not have shown a certain fault, which the warning names."""


def assert_gemm(d, a, b, *, model=None, bound=None, dtype="float32", **named):
    """Holds a product D to the oracle. Without model, each value must be within a bound that is
    derived for it: the most that an accumulator can lose with which tensor cores add such elements,
    in any order and any number of parts.

    d: an array of M x N. Any NaN stands for any other.
    a, b: as gemm takes them, and so the rest: alpha, c, beta, bias and epilogue.
    model: "exact" for the bits of exact sums that are rounded once, or a name of
        mxcheck.list("models") for those of such a tensor core.
    bound: in place of model, for the narrower bound of one tensor core: a name of
        mxcheck.list("models") that multiplies such elements (`operands` there) under such scales
        (the end of `text`): of MXFP8 "blackwell-mx", of FP8 without blocks "hopper-fp8". Not
        "exact", and none that rounds factors times their scales first, as "hopper-mx-bf16".
    dtype: of D.

    A product that is within its bound on data that could not have shown a fault (too few, too
    much alike) warns with InsufficientData, and the warning names the fault.

    Raises AssertionError: how many values are wrong, how far, and the first places with exact sums;
    NotSupported where some values have no bound (their K is too large for dtype, they may overflow)
    and none that has one is wrong: name a model, or use float32.
    """
    __tracebackhide__ = True
    if model is not None:
        if bound is not None:
            raise ValueError("model= asks for bits and bound= for a bound: give one of them")
        right = gemm(a, b, model=model, dtype=dtype, **named)
        return _assert_equal_values(d, right, "d")
    parts = ("alpha", "c", "beta", "bias", "epilogue")
    unknown = sorted(set(named) - set(parts))
    if unknown:
        raise TypeError(f"assert_gemm does not know {', '.join(unknown)}")
    call = gemm_call(a, b, *(named.get(part) for part in parts), dtype)
    bits = _values_of_type(d, call)
    limit = "bounded" if bound is None else f"bounded:{bound}"
    report = _library.compare(call.operation, call.inputs, [call.output(bits)], limit)
    result = report["results"][0]
    unjudged = bits.size - result["elements"]
    if result["verdict"] == "insufficient_data" and unjudged:
        _refuse_unjudged(call, bits, result, unjudged)
    elif result["verdict"] == "insufficient_data":
        warnings.warn(f"insufficient data: {result['reason']}", InsufficientData, stacklevel=2)
    elif result["verdict"] not in _RIGHT:
        raise AssertionError(_out_of_bound(result, limit))


def _refuse_unjudged(call, bits, result, unjudged):
    """Values without a bound: nobody has held them to anything, so that they do not pass."""
    exact = numpy.empty(call.shape, bits.dtype)
    _library.run(call.operation, call.inputs, [call.output(exact)])
    is_wrong = _is_nan(bits, call.type) & _is_finite(exact, call.type)
    if is_wrong.any():
        first = list(map(int, numpy.argwhere(is_wrong)[0]))
        raise AssertionError(
            f"{is_wrong.sum():,} of {bits.size:,} values are NaN, and their exact sums are finite, "
            f"the first at {first}"
        )
    why = result["reason"].partition(" outputs are not so, ")[2] or result["reason"]
    other = "" if call.type == "f32" else ", or use dtype='float32' for D"
    raise _library.NotSupported(
        f"{unjudged:,} of {bits.size:,} outputs cannot be judged, {why}; name a model "
        f"(model=){other}"
    )


def _values_of_type(d, call):
    """The caller's D as a row-major array of bits."""
    memory = memory_of(d, "d")
    if memory.type != call.type:
        raise TypeError(f"d has elements of type {memory.dtype}; dtype= asks {call.type}")
    bits = numpy.ascontiguousarray(as_array(memory))
    if bits.size != call.shape[0] * call.shape[1] or bits.shape[-1:] != call.shape[1:]:
        raise AssertionError(f"d has shape {bits.shape}; {call.shape} is right")
    return bits


def _out_of_bound(result, limit):
    kinds = result["mismatches"]
    if not kinds:
        return f"{result['verdict']}: {result['reason']}"
    counts = f"{result['mismatched_elements']:,} of {result['elements']:,} values are"
    lines = [f"{counts} {kinds[0]['source']} ({limit})"]
    if result.get("bound_share"):
        lines.append(f"  the largest error is {result['bound_share']:.4g} of its bound")
    lines += [f"  {kind['count']:,} {_kind_text(kind)}" for kind in kinds[:_PLACES]]
    return "\n".join(lines)
