"""What the library knows of formats and dialects, asked once."""

import difflib
import functools
from dataclasses import dataclass

from . import _library


@dataclass(frozen=True)
class Format:
    """A block format."""

    name: str
    element: str  # type of a code
    scale: str  # "e8m0", "ue4m3", "ue5m3" or "f32"
    block: str  # "line", "tile" or "tensor"
    block_size: int  # elements along a side of a block; 0 of a tensor

    def grid_of_scales(self, axis, size, rows, columns):
        """Rows and columns of the scales of a matrix."""
        if axis == "tensor":
            return 1, 1
        block_rows = 1 if axis == "row" else size
        block_columns = 1 if axis == "col" else size
        return -(-rows // block_rows), -(-columns // block_columns)


@dataclass(frozen=True)
class Dialect:
    """How a library quantizes."""

    name: str
    formats: tuple
    keeps_number: bool  # has a number for the whole tensor
    is_stochastic: bool
    has_history: bool  # that number is a scale which earlier tensors gave
    is_rotated: bool  # quantizes a transform of the values
    number_divisor: int  # values are elements, scales and the number over this; 0: without it


@functools.cache
def formats():
    entries = _library.listed("formats")
    return {entry["name"]: _format(entry) for entry in entries if "block" in entry}


def _format(entry):
    block, size = "tensor", 0
    if entry["block"] != "tensor":
        rows, size = (int(side) for side in entry["block"].split("x"))
        block = "line" if rows == 1 else "tile"
    return Format(entry["name"], entry["element"], entry["scale"], block, size)


@functools.cache
def dialects():
    return {entry["name"]: _dialect(entry) for entry in _library.listed("dialects")}


def _dialect(entry):
    decisions = entry.get("decisions", entry)
    served = entry.get("quantizes", entry.get("formats", ""))
    return Dialect(
        entry["name"],
        tuple(name.strip() for name in served.split(",")),
        decisions.get("tensor_scale", "none") != "none",
        "stochastic" in decisions.get("element_rounding", ""),
        decisions.get("tensor_scale") == "history",
        decisions.get("transform", "none") != "none",
        _number_divisor(decisions),
    )


def _number_divisor(decisions):
    way_back = decisions.get("way_back")
    if way_back == "times_scale_amax":
        return 6 * int(decisions["scale_max"])  # the largest E2M1
    return 1 if way_back == "times_scale_tensor" else 0


def found(table, name, kind):
    if name in table:
        return table[name]
    if not isinstance(name, str):
        raise TypeError(f"{kind} is {name!r}; its name is needed")
    raise ValueError(
        f"there is no {kind} {name!r}{hint(name, table)} mxcheck.list({kind + 's'!r}) has them all"
    )


def hint(name, names):
    """The end of a sentence that refuses a name: one that is near, if any."""
    near = difflib.get_close_matches(name, names, 1) if isinstance(name, str) else []
    return f"; did you mean {near[0]!r}?" if near else ";"


def find_format(name):
    return found(formats(), name, "format")


def find_dialect(name):
    return found(dialects(), name, "dialect")
