"""Testbenches in cocotb: border blocks into a design, its answers held to the oracle, and which
borders were reached.

    from mxcheck.cocotb import Ports, Scoreboard, drive, edge_blocks

    @cocotb.test()
    async def quantizer(dut):
        cocotb.start_soon(Clock(dut.clk, 10, "ns").start())
        board = Scoreboard("mxfp8-e4m3", "ocp")
        await drive(dut, board, edge_blocks("mxfp8-e4m3", "ocp"), Ports(codes="codes"))
        board.finish()

Values and codes are bits here, as a design has them: a block is a row of unsigned integers, or one
integer with element 0 in its low bits. The oracle is asked for thousands of blocks at once. Only
`drive` needs cocotb.
"""

from dataclasses import dataclass

import numpy

from ._assertions import assert_bits
from ._names import find_format
from ._operations import dequantize, quantize
from ._operations import edge_cases as _edge_cases

__all__ = ["Coverage", "Ports", "Scoreboard", "drive", "edge_blocks", "random_blocks"]

_BITS = {"float32": 32, "float16": 16, "bfloat16": 16}
_INFINITY = {"float32": 0x7F800000, "float16": 0x7C00, "bfloat16": 0x7F80}
_MANTISSA = {"float32": 23, "float16": 10, "bfloat16": 7}
# Blocks that differ and are asked about one by one, and of which a cause is looked for; of more,
# all count as wrong.
_JUDGED_MAX = 64


def _word(dtype):
    if dtype not in _BITS:
        raise ValueError(f"dtype is {dtype!r}; it is one of {', '.join(_BITS)}")
    return numpy.dtype(f"<u{_BITS[dtype] // 8}")


def _numbers(bits, dtype):
    """Bits as an array that quantize takes."""
    if dtype != "bfloat16":
        return bits.view(dtype)
    import ml_dtypes

    return bits.view(ml_dtypes.bfloat16)


def _decoded(bits, dtype):
    """Magnitude bits as float64, which has them all."""
    if dtype == "bfloat16":
        bits, dtype = bits.astype("<u4") << 16, "float32"
    return bits.astype(_word(dtype)).view(dtype).astype("float64")


def edge_blocks(format, dialect=None, dtype="float32", family=None):
    """The blocks of mxcheck.edge_cases as bits, one a row.

    format, dialect, dtype, family: as edge_cases takes them.

    Returns an array of uint32 or uint16. Raises ValueError as edge_cases does.
    """
    word = _word(dtype)
    return _edge_cases(format, dialect, dtype, family).view(word)


def random_blocks(format, count, dtype="float32", seed=0):
    """Blocks of numbers that differ by up to 14 binades, and at times of any bits at all; the same
    for the same seed.

    format: a name of mxcheck.list("formats"), which says how long a block is.
    count, dtype: how many rows, and of what: float32, float16 or bfloat16.
    seed: any whole number.

    Returns an array of uint32 or uint16, one block a row. Raises ValueError for a format or dtype
    that nobody knows.
    """
    word = _word(dtype)
    mantissa, bits = _MANTISSA[dtype], _BITS[dtype]
    largest = (_INFINITY[dtype] >> mantissa) - 1
    generator = numpy.random.default_rng(seed)
    shape = count, find_format(format).block_size
    any_bits = generator.integers(0, 1 << bits, shape, "u8").astype(word)
    top = generator.integers(0, largest + 1, (count, 1))
    field = numpy.maximum(top - generator.integers(0, 15, shape), 0).astype(word)
    kept = any_bits & word.type(1 << (bits - 1) | ((1 << mantissa) - 1))
    made = kept | field << word.type(mantissa)
    wild = generator.integers(0, 16, (count, 1)) == 0
    return numpy.where(wild, any_bits, made)


class Coverage:
    """Which borders a set of blocks has reached, of those that the blocks of edge_cases reach.

    A bin is a right element code, a right scale byte, a place of the largest value, a kind of
    number, or a border between two element codes: an input on it, or the input next to it on either
    side, under the block's scale. Borders are those between nearest codes; scales with a mantissa
    have none.
    """

    def __init__(self, format, dialect=None, dtype="float32"):
        self._form, self._dtype = find_format(format), dtype
        self._named = {"format": format, "dialect": dialect}
        self._borders = self._middles() if self._form.scale == "e8m0" else None
        self._reached = set()
        edges = edge_blocks(format, dialect, dtype)
        right = quantize(_numbers(edges, dtype), **self._named, **self._number())
        self._goal = self._bins(edges, right.codes, right.scales)

    def _number(self):
        """An amax for the borders of a format that has a number for the tensor."""
        return {"tensor_scale": 2688.0} if self._form.scale == "ue4m3" else {}

    def _middles(self):
        codes = numpy.arange(256, dtype="uint8").reshape(-1, 1)
        width = {"e2m1": 16, "e3m2": 64, "e2m3": 64}.get(self._form.element, 256)
        codes = numpy.repeat(codes[:width], self._form.block_size, 1)
        ones = numpy.full((width, 1), 127, "uint8")
        values = dequantize(codes, ones, **self._named)[:, 0].astype("float64")
        magnitudes = numpy.unique(numpy.abs(values[numpy.isfinite(values)]))
        return (magnitudes[1:] + magnitudes[:-1]) / 2

    def add(self, bits, codes, scales):
        """Blocks as bits, with their right codes and scales."""
        self._reached |= self._bins(bits, codes, scales)

    def _bins(self, bits, codes, scales):
        infinity = _INFINITY[self._dtype]
        word = bits.dtype.type
        magnitude = bits & word((1 << (_BITS[self._dtype] - 1)) - 1)
        kinds = {
            "a NaN": magnitude > infinity,
            "an infinity": magnitude == infinity,
            "a subnormal value": (magnitude > 0) & (magnitude < 1 << _MANTISSA[self._dtype]),
            "+0": bits == 0,
            "-0": (magnitude == 0) & (bits != 0),
            "a block of zeros": (magnitude == 0).all(axis=-1),
        }
        found = {("value", kind) for kind, where in kinds.items() if where.any()}
        found |= {("code", f"0x{code:02x}") for code in numpy.unique(codes).tolist()}
        scales = numpy.asarray(scales).reshape(-1)
        if scales.dtype == numpy.uint8:
            found |= {("scale", f"0x{byte:02x}") for byte in numpy.unique(scales).tolist()}
        largest = magnitude.max(axis=-1, keepdims=True)
        alone = (magnitude == largest).sum(axis=-1) == 1
        places = numpy.unique(magnitude[alone].argmax(axis=-1)).tolist()
        found |= {("largest at", str(place)) for place in places}
        return found if self._borders is None else found | self._bins_at_borders(magnitude, scales)

    def _bins_at_borders(self, magnitude, scales):
        usable = (magnitude > 0) & (magnitude < _INFINITY[self._dtype]) & (scales != 255)[:, None]
        exponents = numpy.broadcast_to(scales[:, None].astype(int) - 127, magnitude.shape)[usable]
        bits, one, borders = magnitude[usable], magnitude.dtype.type(1), self._borders
        here = numpy.ldexp(_decoded(bits, self._dtype), -exponents)
        above = numpy.ldexp(_decoded(bits + one, self._dtype), -exponents)
        below = numpy.ldexp(_decoded(bits - one, self._dtype), -exponents)
        at = numpy.searchsorted(borders, here)
        next_up = numpy.append(borders, numpy.inf)[at]
        next_down = numpy.insert(borders, 0, -numpy.inf)[at]
        on = next_up == here
        found = {("on border", f"{v:g}") for v in numpy.unique(here[on]).tolist()}
        just_below = ~on & (next_up <= above) & (next_up < numpy.inf)
        found |= {("below border", f"{v:g}") for v in numpy.unique(next_up[just_below]).tolist()}
        just_above = ~on & (next_down >= below)
        found |= {("above border", f"{v:g}") for v in numpy.unique(next_down[just_above]).tolist()}
        return found

    @property
    def fraction(self):
        """The share of the goal that was reached."""
        return len(self._goal & self._reached) / len(self._goal)

    def missing(self):
        """The bins that were not reached, as sorted pairs of kind and bin."""
        return sorted(self._goal - self._reached)

    def report(self):
        """A line for each kind of bin, and the first of those that are missing."""
        lines = [f"{self.fraction:.1%} of {len(self._goal):,} bins of {self._form.name} reached"]
        for kind in sorted({kind for kind, _ in self._goal}):
            goal = {name for k, name in self._goal if k == kind}
            missing = sorted(goal - {name for k, name in self._reached if k == kind})
            tail = f"; not {', '.join(missing[:8])}{', ...' if missing[8:] else ''}"
            count = len(goal) - len(missing)
            lines.append(f"  {kind}: {count} of {len(goal)}{tail if missing else ''}")
        return "\n".join(lines)


class Scoreboard:
    """Holds what comes out of a design to what went in, in the same order.

    format, dialect, dtype: as quantize takes them.
    tensor_scale: of a dialect with a number for the whole tensor, as quantize takes it.
    code_stride: bits from one code to the next where codes come as one integer.
    batch: blocks that are judged at a time.
    strict: what the dialect's source leaves open must be the oracle's choice, too.
    """

    def __init__(
        self,
        format,
        dialect=None,
        dtype="float32",
        *,
        tensor_scale=None,
        code_stride=8,
        batch=4096,
        strict=False,
    ):
        self._form, self._dtype, self._word = find_format(format), dtype, _word(dtype)
        if self._form.block != "line":
            raise ValueError(f"{format} has no blocks along rows; judge it with assert_bits")
        if not 1 <= code_stride <= 8:
            raise ValueError(f"code_stride is {code_stride!r}; a code has 1 to 8 bits")
        self._named = {"format": format, "dialect": dialect}
        self._number, self._stride, self._batch = tensor_scale, code_stride, batch
        self._strict = strict
        self._scale_word = numpy.dtype("<u4" if self._form.scale == "f32" else "u1")
        self._went_in, self._came_out = [], []
        self._wrong_blocks, self._failure = [], ""
        self.coverage = Coverage(format, dialect, dtype)
        self.compared = self.wrong = self.deviating = self.unknown = self.unexpected = 0

    @property
    def outstanding(self):
        """Blocks that went in and have not come out."""
        return len(self._went_in) - len(self._came_out)

    @property
    def block_size(self):
        """Elements of a block."""
        return self._form.block_size

    def expect(self, values):
        """A block went in: a row of bits, or one integer with element 0 in the low bits."""
        size = self._form.block_size
        if isinstance(values, int):
            data = values.to_bytes(size * self._word.itemsize, "little")
        else:
            row = numpy.asarray(values)
            if row.shape != (size,) or row.dtype.kind not in "ui":
                raise ValueError(f"a block is {size} unsigned integers, and not {row.shape}")
            data = row.astype(self._word).tobytes()
        self._went_in.append(data)

    def observe(self, codes, scale):
        """A block came out: codes as a row or as one integer, and its scale. None stands for codes
        or a scale with X or Z in them."""
        if self.outstanding <= 0:
            self.unexpected += 1
            return
        known = codes is not None and scale is not None
        self._came_out.append((self._code_bytes(codes), int(scale)) if known else None)
        if len(self._came_out) >= self._batch:
            self.check()

    def _code_bytes(self, codes):
        size = self._form.block_size
        if isinstance(codes, int):
            return codes.to_bytes((size * self._stride + 7) // 8, "little")
        row = numpy.asarray(codes)
        if row.shape != (size,) or row.dtype.kind not in "ui":
            raise ValueError(f"codes are {size} unsigned integers, and not {row.shape}")
        packed = sum(int(code) << (self._stride * i) for i, code in enumerate(row))
        return packed.to_bytes((size * self._stride + 7) // 8, "little")

    def _unpacked(self, data, count):
        raw = numpy.frombuffer(data, "u1").reshape(count, -1)
        if self._stride == 8:
            return raw
        size, stride = self._form.block_size, self._stride
        bits = numpy.unpackbits(raw, axis=1, bitorder="little")[:, : size * stride]
        bits = bits.reshape(count, size, stride)
        return numpy.packbits(bits, axis=2, bitorder="little").reshape(count, size)

    def check(self):
        """Judges the blocks that have come out by now, and returns how many were wrong so far."""
        pairs = list(zip(self._went_in, self._came_out, strict=False))
        del self._went_in[: len(pairs)]
        self._came_out.clear()
        unknown = sum(answer is None for _, answer in pairs)
        self.unknown += unknown
        self.compared += len(pairs) - unknown
        pairs = [(values, answer) for values, answer in pairs if answer is not None]
        if pairs:
            self._judge(pairs)
        return self.wrong + self.unknown + self.unexpected

    def _judge(self, pairs):
        count = len(pairs)
        bits = numpy.frombuffer(b"".join(values for values, _ in pairs), self._word)
        bits = bits.reshape(count, -1)
        codes = self._unpacked(b"".join(answer[0] for _, answer in pairs), count)
        scales = numpy.array([answer[1] for _, answer in pairs], "u8")
        right = self._quantized(bits)
        right_scales = right.scales.reshape(-1).view(self._scale_word)
        self.coverage.add(bits, right.codes, right.scales)
        differs = (codes != right.codes).any(axis=1) | (scales != right_scales)
        for row in numpy.flatnonzero(differs).tolist():
            self._judge_one(bits[row], codes[row], int(scales[row]))

    def _quantized(self, bits):
        number = {} if self._number is None else {"tensor_scale": self._number}
        return quantize(_numbers(bits, self._dtype), **self._named, **number)

    def _judge_one(self, bits, codes, scale):
        """A block that differs: wrong, or a choice that its dialect leaves open."""
        if scale >> (8 * self._scale_word.itemsize):
            self._failure = self._failure or f"scale 0x{scale:x} is none of {self._form.scale}"
        elif self.wrong < _JUDGED_MAX:
            if not self._cause_of([(bits, codes, scale)]):
                self.deviating += 1
                return
            self._wrong_blocks.append((bits, codes, scale))
        self.wrong += 1

    def _cause_of(self, blocks):
        """What assert_bits says of these blocks, or "" where it accepts them."""
        bits = numpy.stack([block[0] for block in blocks])
        codes = numpy.stack([block[1] for block in blocks])
        scales = numpy.array([[block[2]] for block in blocks], self._scale_word)
        right, number = self._quantized(bits), {}
        if self._number is not None:
            number = {"tensor_scale": right.tensor_scale, "given_tensor_scale": self._number}
        scales = scales.view(right.scales.dtype)
        values = _numbers(bits, self._dtype)
        try:
            assert_bits(values, codes, scales, **number, **self._named, strict=self._strict)
        except AssertionError as failure:
            return str(failure)
        return ""

    def summary(self):
        """One line of counts."""
        return (
            f"{self._form.name}: {self.compared:,} blocks compared, {self.wrong:,} wrong, "
            f"{self.deviating:,} where the dialect leaves the bits open, {self.unknown:,} with X or "
            f"Z, {self.unexpected:,} that never went in, {max(self.outstanding, 0):,} that never "
            "came out"
        )

    def finish(self):
        """After the last block: judges the rest.

        Raises AssertionError where something was wrong, X, missing or too much, or nothing was
        compared; it names the cause of the first wrong blocks and shows their places.
        """
        if not self.check() and self.outstanding <= 0 and self.compared > 0:
            return
        lines = [self.summary(), self._failure]
        if self._wrong_blocks:
            lines.append(f"Of the first {len(self._wrong_blocks)} wrong blocks:")
            lines.append(self._cause_of(self._wrong_blocks))
        raise AssertionError("\n".join(line for line in lines if line))


@dataclass
class Ports:
    """Names of a design's ports. Values, codes and scale are packed vectors, element 0 in the low
    bits. A design without back-pressure has no `ready`."""

    clock: str = "clk"
    in_valid: str = "in_valid"
    values: str = "values"
    out_valid: str = "out_valid"
    codes: str = "codes"
    scale: str = "scale"
    in_ready: str | None = None
    out_ready: str | None = None


def _known(handle):
    """The number that a signal holds, or None for X and Z."""
    try:
        return int(handle.value)
    except ValueError:
        return None


async def drive(dut, scoreboard, blocks, ports=None, *, timeout_cycles=1000):
    """Puts blocks through a design, one a cycle where it is ready, and what comes out into the
    scoreboard.

    dut: the design as cocotb gives it, its clock running and its reset done.
    scoreboard: a Scoreboard.
    blocks: rows of bits, as edge_blocks gives them.
    ports: a Ports where the names are others.
    timeout_cycles: how long the last answers are waited for; those that do not come are missing to
        the scoreboard.

    Signals change at the falling edge and are read before the next rising one, at which a transfer
    is done. Raises ValueError for blocks of another length.
    """
    from cocotb.triggers import FallingEdge, ReadOnly

    ports = ports or Ports()
    names = {k: v for k, v in vars(ports).items() if v is not None}
    port = {key: getattr(dut, name) for key, name in names.items()}
    falling, settled = FallingEdge(port["clock"]), ReadOnly()
    if "out_ready" in port:
        port["out_ready"].value = 1
    rows = iter(blocks)
    row, idle = next(rows, None), 0
    while row is not None or (scoreboard.outstanding > 0 and idle < timeout_cycles):
        await falling
        port["in_valid"].value = int(row is not None)
        if row is not None:
            port["values"].value = int.from_bytes(numpy.ascontiguousarray(row).tobytes(), "little")
        await settled
        if row is not None and ("in_ready" not in port or _known(port["in_ready"])):
            scoreboard.expect(row)
            row = next(rows, None)
        valid = _known(port["out_valid"])
        idle = 0 if valid else idle + 1
        if valid:
            scoreboard.observe(_known(port["codes"]), _known(port["scale"]))
        elif valid is None:
            scoreboard.observe(None, None)
    await falling
    port["in_valid"].value = 0
