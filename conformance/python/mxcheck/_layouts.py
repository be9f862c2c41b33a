"""Where codes and scales lie in their arrays: packed codes, swizzled and padded scales, or both in
one. Here are names, sizes and pads alone; the library does the packing.
"""

import functools
from dataclasses import dataclass

import numpy

from . import _library
from ._names import found

_BITS = {"e2m1": 4, "e3m2": 6, "e2m3": 6}  # of a code; of others 8
_BITS_OF_PACKING = {"low_first": 4, "high_first": 4, "six": 6}  # "inline" takes any
PLAIN = ("bytes", "linear")  # packing and scale_layout of one code a byte and scales by rows


@functools.cache
def _packings():
    """The library's name of each layout of codes."""
    layouts = _library.listed("layouts")
    return {entry["packing"]: entry["name"] for entry in layouts if "packing" in entry}


@functools.cache
def _tiles():
    """What a grid of scales is filled up to: across blocks and along them. By layout."""
    tiles = {"linear": (1, 1)}
    for entry in _library.listed("layouts"):
        if "pads" in entry and not entry["name"].endswith("-col"):
            tiles[entry["name"]] = int(entry["across_blocks"]), int(entry["along_blocks"])
    return tiles


def layout_names(packing, scale_layout, axis):
    """The library's names of these two; a name that is unknown is a ValueError."""
    codes = found(_packings(), packing, "layout")
    found(_tiles(), scale_layout, "layout")
    if scale_layout == "linear":
        return codes, "strided"
    return codes, scale_layout + ("-col" if axis == "col" else "")


def others(packing, scale_layout):
    """Pairs of a packing and a layout of scales that differ from this one in one of them."""
    yield from ((other, scale_layout) for other in _packings() if other != packing)
    yield from ((packing, other) for other in _tiles() if other != scale_layout)


def padded(layout, rows, columns):
    """The shape of a grid of scales with its pads, by the library's name of the layout."""
    outer, inner = _tiles()[layout.removesuffix("-col")]
    tile = (inner, outer) if layout.endswith("-col") else (outer, inner)
    return tuple(-(-count // side) * side for count, side in zip((rows, columns), tile))


@dataclass(frozen=True)
class Lie:
    """How a matrix of codes or scales lies in a row-major array of `shape`."""

    layout: str
    shape: tuple
    row_stride: int = 0
    column_stride: int = 0

    @property
    def is_plain(self):
        return self.layout == "strided"


def _expect_matrix(grid):
    if grid.moved_from is not None or grid.columns != grid.shape[-1]:
        raise ValueError(
            "packed codes and laid-out scales are those of a matrix: blocks lie along the last "
            "axis, or along the last but one with nothing before it; use x.reshape(...)"
        )


def lie_of_codes(packing, form, grid, size):
    """How codes of `grid` lie; ValueError where `packing` is not for them."""
    if packing == "bytes":
        return Lie("strided", grid.shape, grid.columns, 1)
    name = found(_packings(), packing, "layout")
    bits = _BITS.get(form.element, 8)
    needed = _BITS_OF_PACKING.get(packing, bits)
    if bits != needed:
        raise ValueError(
            f"packing={packing!r} is for codes of {needed} bits; those of {form.name} have {bits}"
        )
    _expect_matrix(grid)
    if packing == "inline":
        if grid.axis != "row":
            raise ValueError("packing='inline' is for blocks along the last axis")
        block = size * bits // 8 + 1
        row = -(-grid.columns // size) * block
        return Lie(name, (*grid.shape[:-1], row), row, block)
    return Lie(name, (*grid.shape[:-1], -(-grid.columns * bits // 8)))


def lie_of_scales(packing, scale_layout, grid, rows, columns):
    """How the scales of `grid` lie; None where they stand among the codes."""
    found(_tiles(), scale_layout, "layout")
    if packing == "inline":
        if scale_layout != "linear":
            raise ValueError("packing='inline' holds the scales; leave scale_layout away")
        return None
    if scale_layout == "linear":
        return Lie("strided", grid.scales_shape(rows, columns), columns, 1)
    if grid.axis not in ("row", "col"):
        raise ValueError(f"scale_layout={scale_layout!r} is for blocks along one axis")
    _expect_matrix(grid)
    name = layout_names(packing, scale_layout, grid.axis)[1]
    return Lie(name, padded(name, rows, columns))


def pads_are_zero(layout):
    entries = {entry["name"]: entry for entry in _library.listed("layouts")}
    return entries[layout].get("pads", "0") == "0"


def pads_of_codes(packing, form, columns, size):
    """The bytes of a row of packed codes with a 1 for each bit that belongs to no code or scale."""
    bits = _BITS.get(form.element, 8)
    if packing == "inline":
        whole, rest = divmod(columns, size)
        is_pad = numpy.zeros((-(-columns // size), size * bits + 8), bool)
        is_pad[whole:, rest * bits : -8] = True
    else:
        is_pad = numpy.zeros(-(-columns * bits // 8) * 8, bool)
        is_pad[columns * bits :] = True
    pads = numpy.packbits(is_pad.reshape(-1), bitorder="little")
    return pads << 4 | pads >> 4 if packing == "high_first" else pads


def unpacked_shape(packing, form, size, shape):
    """The most elements that packed codes of `shape` have room for, in their own shape."""
    row = shape[-1] if shape else 0
    bits = _BITS.get(form.element, 8)
    if packing == "inline":
        return (*shape[:-1], row // (size * bits // 8 + 1) * size)
    return (*shape[:-1], row * 8 // bits)
