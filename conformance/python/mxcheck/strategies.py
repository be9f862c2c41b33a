"""Strategies for hypothesis: blocks that sit on borders of a format and dialect."""

import numpy
from hypothesis import strategies

from ._names import find_format
from ._operations import edge_cases


@strategies.composite
def blocks(draw, format, dialect=None, dtype="float32", rows_max=4):
    """A strategy for blocks on borders, some of whose elements are moved by one code of their dtype,
    negated or replaced by those of another such block.

    format, dialect, dtype: as edge_cases takes them.
    rows_max: rows of one block each, at most.

    Draws NumPy arrays of dtype, one block a row. Raises ValueError for formats whose rows know each
    other: tiles, NVFP4 and FP4 under UE5M3.
    """
    form = find_format(format)
    if form.block != "line" or form.scale in ("ue4m3", "ue5m3"):
        raise ValueError(
            f"{format} has tiles or a number for the whole tensor: border blocks do not stay on "
            "borders as rows of one matrix"
        )
    edges = edge_cases(format, dialect, dtype)
    row = strategies.integers(0, len(edges) - 1)
    result = numpy.stack([edges[draw(row)] for _ in range(draw(strategies.integers(1, rows_max)))])
    place = strategies.tuples(
        strategies.integers(0, result.shape[0] - 1), strategies.integers(0, result.shape[1] - 1)
    )
    for _ in range(draw(strategies.integers(0, 4))):
        at, other = draw(place), (draw(row), draw(strategies.integers(0, result.shape[1] - 1)))
        how = draw(strategies.sampled_from(("next", "negated", "taken")))
        if how == "taken":
            result[at] = edges[other]
        elif how == "negated":
            result[at] = -result[at]
        else:
            word = result.view(f"u{result.itemsize}")
            word[at] = word[at] + 1
    return result
