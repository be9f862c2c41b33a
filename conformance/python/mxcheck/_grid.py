"""Arrays of any number of dimensions as the matrices that the oracle takes.

Blocks lie along one axis. Along the last one, the axes before it are rows. Along the first that is
longer than 1, the axes behind it are columns. Along one in the middle, it is moved to the end, in a
copy: a block holds the same elements either way, and so gets the same bits.
"""

from dataclasses import dataclass

import numpy

from ._arrays import Memory, as_array, row_major, row_major_copy


@dataclass
class Grid:
    """The elements of an array as a matrix, and how results go back into the array's shape."""

    memory: Memory
    axis: str  # as mx_operation names it
    rows: int
    columns: int
    row_stride: int
    column_stride: int
    shape: tuple  # of results, before `moved_from` is undone
    moved_from: int | None = None

    def restored(self, array):
        """Results of this matrix with the axes as the caller has them."""
        return array if self.moved_from is None else numpy.moveaxis(array, -1, self.moved_from)


def _one_step(shape, strides):
    """The stride of several axes walked as one, row-major; None where they have no common one."""
    if 0 in shape:
        return 1
    step = None
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent == 1:
            continue
        if step is None:
            step, next_stride = stride, stride * extent
        elif stride != next_stride:
            return None
        else:
            next_stride = stride * extent
    return 1 if step is None else step


def _product(shape):
    return int(numpy.prod(shape, dtype=numpy.int64))


def axis_number(axis, dimensions):
    if not isinstance(axis, int) or isinstance(axis, bool):
        raise TypeError(f"axis is {axis!r}, and the number of one axis is needed")
    if not -dimensions <= axis < dimensions:
        raise ValueError(f"axis {axis} does not exist in an array of {dimensions} dimensions")
    return axis % dimensions


def _matrix(memory, rows_end, axis):
    """The axes before `rows_end` as rows, the others as columns; copied where they do not fit."""
    shape, strides = memory.shape, memory.strides
    row_step = _one_step(shape[:rows_end], strides[:rows_end])
    column_step = _one_step(shape[rows_end:], strides[rows_end:])
    if row_step is None or column_step is None or 0 in (row_step, column_step):
        return _matrix(row_major_copy(memory), rows_end, axis)
    rows, columns = _product(shape[:rows_end]), _product(shape[rows_end:])
    return Grid(memory, axis, rows, columns, row_step, column_step, shape)


def _moved_to_the_end(memory, axis):
    moved = numpy.ascontiguousarray(numpy.moveaxis(as_array(memory), axis, -1))
    address = moved.__array_interface__["data"][0]
    copy = Memory(address, moved.shape, row_major(moved.shape), memory.dtype, moved, memory.like)
    grid = _matrix(copy, len(moved.shape) - 1, "row")
    grid.moved_from = axis
    return grid


def grid_of(memory, axis, block, what):
    """`block` is "line", "tile" or "tensor"."""
    dimensions = len(memory.shape)
    if dimensions == 0:
        raise ValueError(f"{what} is a single number; an array with at least one axis is needed")
    axis_number(axis, dimensions)  # tiles and tensors have none, but it must exist
    if block == "tensor":
        return _matrix(memory, dimensions - 1, "tensor")
    if block == "tile":
        if dimensions < 2 or _product(memory.shape[:-2]) != 1:
            raise ValueError(f"{what} has shape {memory.shape}; blocks are tiles of a matrix")
        return _matrix(memory, dimensions - 1, "tile")
    axis = axis_number(axis, dimensions)
    if axis == dimensions - 1:
        return _matrix(memory, axis, "row")
    if _product(memory.shape[:axis]) == 1:
        return _matrix(memory, axis + 1, "col")
    return _moved_to_the_end(memory, axis)


def scales_shape(grid, scale_rows, scale_columns, axis, dimensions):
    """The shape of scales beside codes of grid.shape: the axis of the blocks counts blocks."""
    if grid.axis in ("tensor", "tile"):
        return (scale_rows, scale_columns)
    shape = list(grid.shape)
    if grid.axis == "row":
        shape[-1] = scale_columns
    else:
        shape[axis_number(axis, dimensions)] = scale_rows
    return tuple(shape)
