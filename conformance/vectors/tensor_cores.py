#!/usr/bin/env python3
"""Makes tensor_cores.vectors: of the dot products that Khattak and Mikaitis recorded on NVIDIA's
tensor cores, some 200 of each element format that few wrong models would get right.

    git clone https://github.com/north-numerical-computing/MATLAB-tensor-core
    git -C MATLAB-tensor-core checkout b12b5a7
    python3 tensor_cores.py MATLAB-tensor-core > tensor_cores.vectors

A wrong model is the right one with another number of products or of bits, another way to drop them,
another order. Every recorded answer is held to the right one on the way. The score of a dot product
is how many wrong ones it refutes over all machines.
"""
import math
import struct
import sys
import typing
from pathlib import Path

KEPT = 200
COMMIT = "b12b5a7"

# element format: exponent bits, mantissa bits; the folder
FORMATS = {"f16": (5, 10, "fp16"), "bf16": (8, 7, "bf16"), "tf32": (8, 10, "tf32"),
           "e4m3": (4, 3, "E4M3"), "e5m2": (5, 2, "E5M2")}

# machine, D, the row of reference/spec/gemm_models.hpp, products of a step, bits of fraction kept,
# mantissa bits of the accumulator (negative: rounded to nearest even), elements along k recorded
HALF = [("V100", "volta", 4, 23, 4)]
HALF += [(m, "ampere", 8, 24, 8) for m in ("A100", "A2", "Ada", "L40S")]
HALF += [(m, "hopper", 16, 25, 16) for m in ("H100", "H200", "B200")]
FP8 = [("Ada", "f32", "ada-fp8", 16, 13, 13), ("Ada", "f16", "ada-fp8-f16", 16, 13, -10),
       ("L40S", "f32", "ada-fp8", 16, 13, 13),
       ("H100", "f32", "hopper-fp8", 32, 13, 13), ("H200", "f32", "hopper-fp8", 32, 13, 13)]
FP8 += [(m, "f16", "mma-sync-fp8-f16", 16, 25, -10) for m in ("H100", "H200", "B200")]
FP8 += [("B200", "f32", "mma-sync-fp8", 16, 25, 23)]


def columns_of(name):
    if name == "f16":
        for machine, family, products, bits, depth in HALF:
            row = family + ("-f16" if family == "volta" else "-half")
            yield machine, "f32", row, products, bits, 23, depth
            yield machine, "f16", family + "-f16-f16", products, bits, -10, depth
    elif name == "bf16":
        for machine, family, products, bits, depth in HALF[1:]:
            yield machine, "f32", family + "-half", products, bits, 23, depth
    elif name == "tf32":
        for machine, family, products, bits, _ in HALF[1:]:
            yield machine, "f32", family + "-tf32", products // 2, bits, 23, 4
    else:
        for machine, d, row, products, bits, mantissa in FP8:
            yield machine, d, row, products, bits, mantissa, 32


def hex_rows(path):
    return [[struct.unpack(">f", bytes.fromhex(word))[0] for word in line.split()]
            for line in path.read_text().splitlines() if line.strip()]


def bit_words(path):
    return [int(line.strip()[:32], 2) for line in path.read_text().splitlines() if line.strip()]


def value_of(bits):
    return struct.unpack(">f", struct.pack(">I", bits))[0]


def code_of(value, exponent_bits, mantissa_bits):
    """The code of a value that the format has."""
    sign = 1 if math.copysign(1, value) < 0 else 0
    least = 2 - (1 << exponent_bits - 1)
    exponent = max(math.frexp(value)[1] - 1, least) if value else least
    units = int(abs(value) * 2.0 ** (mantissa_bits - exponent))
    assert units * 2.0 ** (exponent - mantissa_bits) == abs(value), value
    code = (exponent - least << mantissa_bits) + units
    return sign << exponent_bits + mantissa_bits | code


def f16_bits(value):
    return int.from_bytes(struct.pack(">e", value), "big")


# As integers: what a machine reads from the fields of a number, and its digits.
def fields_of(value, least):
    if value == 0:
        return 0, 0, None
    mantissa, exponent = math.frexp(value)
    return int(mantissa * 2 ** 24), exponent - 24, max(exponent - 1, least)


def shifted(units, places, cut):
    if places <= 0:
        return units << -places
    if cut == "floor":
        return units >> places
    kept = abs(units) >> places
    if cut == "nearest":
        kept += abs(units) >> places - 1 & 1
    return -kept if units < 0 else kept


def rounded(total, unit, mantissa):
    if total == 0:
        return 0.0
    nearest, least, digits = mantissa < 0, -14 if mantissa < 0 else -126, abs(mantissa)
    exponent = max(abs(total).bit_length() - 1 + unit, least)
    drop = exponent - digits - unit
    if drop <= 0:
        return math.ldexp(total, unit)
    kept, rest = abs(total) >> drop, abs(total) & (1 << drop) - 1
    if nearest and (rest * 2 > 1 << drop or rest * 2 == 1 << drop and kept & 1):
        kept += 1
    return math.copysign(math.ldexp(kept, unit + drop), total)


def step(factors, c, bits, mantissa, cut):
    terms = [(x[0] * y[0], x[1] + y[1], x[2] + y[2]) for x, y in factors if x[0] and y[0]]
    if c != 0:
        terms.append(fields_of(c, -14 if mantissa < 0 else -126))
    if not terms:
        return 0.0
    unit = max(term[2] for term in terms) - bits
    return rounded(sum(shifted(t[0], unit - t[1], cut) for t in terms), unit, mantissa)


def in_order(model, factors):
    if not model.pairs:
        return factors
    return [f for k, f in enumerate(factors) if k % 4 < 2] + [
        f for k, f in enumerate(factors) if k % 4 > 1]


def f32(value):
    return struct.unpack(">f", struct.pack(">f", value))[0]


def f16(value):
    return struct.unpack(">e", struct.pack(">e", value))[0]


class Model(typing.NamedTuple):
    products: int
    bits: int
    mantissa: int
    cut: str = "zero"
    pairs: bool = False  # of every four k, two are summed first
    last: bool = False  # C is added afterwards, rounded to nearest even


def dot(model, factors, c):
    total = 0.0 if model.last else c
    factors = in_order(model, factors)
    for first in range(0, len(factors), model.products):
        total = step(factors[first:first + model.products], total, model.bits, model.mantissa,
                     model.cut)
    if not model.last:
        return total
    total += c  # a sum in binary64 of numbers this near is exact
    return f32(total) if model.mantissa > 0 else f16(total)


def wrong_models(right):
    for bits in (right.bits - 1, right.bits + 1, right.bits + 12):
        yield right._replace(bits=bits)
    yield right._replace(products=max(right.products // 2, 1))
    for cut in ("floor", "nearest"):
        yield right._replace(cut=cut)
    yield right._replace(mantissa=right.mantissa + 1)
    yield right._replace(mantissa=right.mantissa - 1)
    if right.pairs:
        yield right._replace(pairs=False)
        yield right._replace(last=False)


class Column:
    def __init__(self, root, name, spec):
        self.machine, self.d, self.row, products, bits, mantissa, self.depth = spec
        exponent_bits, _, folder = FORMATS[name]
        base = root / "model_validation" / self.machine / folder
        self.a = hex_rows(base / f"a_{self.machine}_{folder}.txt")
        self.b = hex_rows(base / f"b_{self.machine}_{folder}.txt")
        self.c = [value_of(w) for w in bit_words(base / f"c_{self.machine}_fp32.txt")]
        if self.d == "f16":  # rounded to nearest even before it was handed over
            self.c = [f16(c) for c in self.c]
        if self.row == "hopper-fp8":  # wgmma was asked without C
            self.c = [0.0] * len(self.c)
        self.results = bit_words(base / f"d_{self.machine}_fp{self.d[1:]}.txt")
        is_half = self.row.startswith("mma-sync")  # FP8 that becomes binary16 first
        self.least = -14 if is_half else 2 - (1 << exponent_bits - 1)
        self.right = Model(products, bits, mantissa, pairs=is_half, last=is_half)

    def refuted(self, index):
        """Which wrong models a dot product refutes."""
        factors = [(fields_of(x, self.least), fields_of(y, self.least))
                   for x, y in zip(self.a[index], self.b[index])]
        actual = value_of(self.results[index])
        assert dot(self.right, factors, self.c[index]) == actual, (self.machine, self.row, index)
        return [dot(wrong, factors, self.c[index]) != actual for wrong in wrong_models(self.right)]

    def text(self, index):
        c, d = self.c[index], self.results[index]
        if self.d == "f16":
            return f"{f16_bits(c):04x}:{f16_bits(value_of(d)):04x}"
        return f"{struct.unpack('>I', struct.pack('>f', c))[0]:08x}:{d:08x}"


def choose(columns, count):
    """Two that refute each wrong model of each column where there are, and the best of the rest."""
    refuted = [[column.refuted(index) for column in columns] for index in range(count)]
    score = [sum(map(sum, each)) for each in refuted]
    by_score = sorted(range(count), key=lambda index: (-score[index], index))
    chosen = set()
    for at, column in enumerate(columns):
        for wrong in range(len(refuted[0][at])):
            able = [index for index in by_score if refuted[index][at][wrong]]
            chosen.update(able[:max(0, 2 - len(chosen.intersection(able)))])
    for index in by_score:
        if len(chosen) < KEPT:
            chosen.add(index)
    for at, column in enumerate(columns):
        kills = [sum(refuted[i][at][w] for i in chosen) for w in range(len(refuted[0][at]))]
        print(column.machine, column.d, column.row, "refutes", *kills, file=sys.stderr)
    return sorted(chosen)


def print_format(root, name):
    exponent_bits, mantissa_bits, _ = FORMATS[name]
    columns = [Column(root, name, spec) for spec in columns_of(name)]
    longest = max(columns, key=lambda column: column.depth)
    for column in columns:  # the shorter rows are the beginnings of the longer ones
        for short, long in zip(column.a + column.b, longest.a + longest.b):
            assert short[:column.depth] == long[:column.depth]
    chosen = choose(columns, len(longest.a))
    print(f"format {name}")
    for column in columns:
        print(f"column {column.machine} {column.d} {column.row} {column.depth}")
    digits = (1 + exponent_bits + mantissa_bits + 3) // 4
    for index in chosen:
        sides = ["".join(f"{code_of(v, exponent_bits, mantissa_bits):0{digits}x}" for v in side)
                 for side in (longest.a[index], longest.b[index])]
        print(index, *sides, *(column.text(index) for column in columns))


def main():
    root = Path(sys.argv[1])
    print(f"""\
# Dot products that NVIDIA's tensor cores answered, recorded by Faizan A. Khattak and Mantas
# Mikaitis: north-numerical-computing/MATLAB-tensor-core@{COMMIT}:model_validation, a subset made by
# tensor_cores.py. Copyright (c) 2025, Faizan A. Khattak and Mantas Mikaitis, all rights reserved;
# BSD 2-Clause License, whole in tensor_cores.LICENCE.
#
# format ELEMENTS, then its columns: machine, type of C and D, row of gemm_models.hpp, elements
# along K. Then a line per dot product: its place in the source, the codes of A, those of B, and per
# column C:D, all in hexadecimal.""")
    for name in FORMATS:
        print_format(root, name)


main()
