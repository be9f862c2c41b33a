"""Arrays of any number of dimensions as the matrices that the oracle takes.

Blocks lie along one axis. Along the last one, the axes before it are rows. Along the first that is
longer than 1, the axes behind it are columns. Along one in the middle, it is moved to the end, in a
copy: a block holds the same elements either way, and so gets the same bits.
"""

from dataclasses import dataclass

import numpy

from ._arrays import Memory, row_major_copy


@dataclass
class Grid:
    """The elements of an array as a matrix, and how results go back into the array's shape."""

    memory: Memory
    axis: str  # as mx_operation names it
    rows: int
    columns: int
    row_stride: int
    column_stride: int
    block_axis: int  # of `shape`, along which blocks lie; 0 of tiles and tensors, and not read
    shape: tuple  # of results, before `moved_from` is undone
    moved_from: int | None = None

    def restored(self, array):
        """Results of this matrix with the axes as the caller has them."""
        return array if self.moved_from is None else numpy.moveaxis(array, -1, self.moved_from)

    def restored_shape(self, shape):
        """The shape of restored(an array of `shape`)."""
        if self.moved_from is None:
            return shape
        axes = list(shape[:-1])
        axes.insert(self.moved_from, shape[-1])
        return tuple(axes)

    def moved(self, array):
        """An array as restored() gives it, row-major as the matrix has its axes."""
        if self.moved_from is not None:
            array = numpy.moveaxis(array, self.moved_from, -1)
        return numpy.ascontiguousarray(array)

    def scales_shape(self, rows, columns):
        """The shape of scales beside codes of `shape`: the axis of the blocks counts blocks."""
        if self.axis in ("tensor", "tile"):
            return (rows, columns)
        shape = list(self.shape)
        shape[self.block_axis] = columns if self.axis == "row" else rows
        return tuple(shape)


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


def _matrix(memory, rows_end, axis, block_axis=0):
    """The axes before `rows_end` as rows, the others as columns; copied where they do not fit."""
    shape, strides = memory.shape, memory.strides
    row_step = _one_step(shape[:rows_end], strides[:rows_end])
    column_step = _one_step(shape[rows_end:], strides[rows_end:])
    if row_step is None or column_step is None or 0 in (row_step, column_step):
        return _matrix(row_major_copy(memory), rows_end, axis, block_axis)
    rows, columns = _product(shape[:rows_end]), _product(shape[rows_end:])
    return Grid(memory, axis, rows, columns, row_step, column_step, block_axis, shape)


def grid_of(memory, axis, block, what):
    """`block` is "line", "tile" or "tensor"."""
    dimensions = len(memory.shape)
    if dimensions == 0:
        raise ValueError(f"{what} is a single number; an array with at least one axis is needed")
    axis = axis_number(axis, dimensions)  # tiles and tensors have none, but it must exist
    last = dimensions - 1
    if block == "tensor":
        return _matrix(memory, last, "tensor")
    if block == "tile":
        if dimensions < 2 or _product(memory.shape[:-2]) != 1:
            raise ValueError(f"{what} has shape {memory.shape}; blocks are tiles of a matrix")
        return _matrix(memory, last, "tile")
    if axis == last:
        return _matrix(memory, last, "row", last)
    if _product(memory.shape[:axis]) == 1:
        return _matrix(memory, axis + 1, "col", axis)
    grid = _matrix(row_major_copy(memory, axis), last, "row", last)
    grid.moved_from = axis
    return grid
