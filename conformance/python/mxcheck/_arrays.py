"""Arrays of other libraries as memory that the oracle can read, and its answers as such arrays.

NumPy arrays and torch tensors are read where they lie; anything else comes through `__dlpack__`
(JAX, CuPy) or as NumPy sees it. What lies on a GPU is copied to the host once, behind what the
caller's current stream of that library holds, and results are on that device when they are given.
"""

import ctypes
import functools
import math
import sys
from dataclasses import dataclass

import numpy

# Of dtypes, as NumPy, ml_dtypes, torch and JAX name them: the oracle's type.
TYPES = {
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "uint8": "uint8",
    "int8": "uint8",
    "uint32": "u32",
    "int32": "i32",
    "float8_e4m3fn": "e4m3",
    "float8_e5m2": "e5m2",
    "float6_e3m2fn": "e3m2",
    "float6_e2m3fn": "e2m3",
    "float4_e2m1fn": "e2m1",
    "float8_e8m0fnu": "e8m0",
    "float4_e2m1fn_x2": "e2m1_x2",  # two codes a byte, the first in the low nibble
}
# And back.
DTYPES = {type: dtype for dtype, type in TYPES.items()} | {
    "ue4m3": "float8_e4m3fn",
    "ue5m3": "uint8",
}
VALUE_DTYPES = {type: DTYPES[type] for type in ("f32", "f16", "bf16")}


_NUMPY_DTYPES = {
    "f32": "float32",
    "f16": "float16",
    "bf16": "uint16",
    "u32": "uint32",
    "i32": "int32",
}


def numpy_dtype(type):
    """The dtype in which NumPy holds elements of a type, or their bits where it has none."""
    return _NUMPY_DTYPES.get(type, "uint8")


def width_of(type):
    """The bytes of an element."""
    return numpy.dtype(numpy_dtype(type)).itemsize


_ADVICE = {
    "float64": "float64 has bits that no block format is defined for; round it yourself first, "
    "for example with x.astype('float32'), so that you know which rounding was yours",
    "complex64": "complex numbers have no block format; convert real and imaginary parts apart",
}


@dataclass
class Memory:
    """Elements in the memory of the host. Strides are counted in elements."""

    address: int
    shape: tuple
    strides: tuple
    dtype: str  # a key of TYPES
    owner: object  # keeps the memory alive
    like: object  # the array it was made from

    @property
    def type(self):
        return TYPES[self.dtype]

    @property
    def size(self):
        return math.prod(self.shape)


def _refuse(what, dtype):
    advice = _ADVICE.get(dtype, f"one of {', '.join(TYPES)} is needed")
    raise TypeError(f"{what} has elements of type {dtype}: {advice}")


@functools.lru_cache(maxsize=64)
def _name_of(dtype):  # NumPy makes a name anew each time
    return dtype.name


def _of_numpy(array, what, like):
    if not array.dtype.isnative:
        raise TypeError(f"{what} has its bytes in the other order: use x.astype('=f4')")
    name = _name_of(array.dtype)
    if name not in TYPES:
        _refuse(what, name)
    width = array.itemsize
    if any(stride < 0 or stride % width for stride in array.strides):
        array = array.copy()
    interface = array.__array_interface__
    strides = tuple(stride // width for stride in array.strides)
    return Memory(interface["data"][0], array.shape, strides, name, array, like)


def _of_torch(tensor, what):
    like = tensor
    tensor = tensor.detach()
    if tensor.is_sparse or tensor.is_quantized:
        raise TypeError(f"{what} is a {tensor.layout} tensor: give a dense one")
    name = str(tensor.dtype).removeprefix("torch.")
    if name not in TYPES:
        _refuse(what, name)
    if tensor.device.type == "meta":
        raise TypeError(f"{what} is a meta tensor and holds no values")
    tensor = tensor.resolve_conj().resolve_neg()
    if tensor.element_size() == 1:
        import torch

        tensor = tensor.view(torch.uint8)  # not every version copies every dtype of 8 bits
    tensor = tensor.cpu()
    return Memory(tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), name, tensor, like)


def is_torch(array):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


class _DLDevice(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class _DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", _DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


# DLPack's (code, bits) of the dtypes above; NumPy refuses the capsules of most of them.
_DLPACK = {
    (2, 32): "float32",
    (2, 16): "float16",
    (4, 16): "bfloat16",
    (1, 8): "uint8",
    (0, 8): "int8",
    (1, 32): "uint32",
    (10, 8): "float8_e4m3fn",
    (12, 8): "float8_e5m2",
    (14, 8): "float8_e8m0fnu",
}
_on_the_host = 1


def _of_dlpack(array, what):
    """Memory of a capsule that names its dtype, or None where it is nothing for the host."""
    if array.__dlpack_device__()[0] != _on_the_host:
        return None
    try:
        capsule = array.__dlpack__()
    except (BufferError, RuntimeError, TypeError, ValueError):
        return None
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _DLTensor.from_address(pointer(capsule, b"dltensor"))
    name = _DLPACK.get((tensor.dtype.code, tensor.dtype.bits))
    if name is None or tensor.dtype.lanes != 1:
        return None
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    if tensor.strides:
        strides = tuple(tensor.strides[i] for i in range(tensor.ndim))
    else:
        strides = row_major(shape)
    if any(stride < 0 for stride in strides):
        return None
    address = (tensor.data or 0) + tensor.byte_offset
    return Memory(address, shape, strides, name, capsule, array)


def row_major(shape):
    strides = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def memory_of(array, what):
    """Memory of any array; `what` names it in errors."""
    if type(array) is numpy.ndarray:
        return _of_numpy(array, what, array)
    if is_torch(array):
        return _of_torch(array, what)
    if isinstance(array, numpy.ma.MaskedArray):
        raise TypeError(f"{what} is a masked array: fill it first, its mask would be lost")
    if array is None:
        raise TypeError(f"{what} is None, and an array is needed")
    if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        memory = _of_dlpack(array, what)
        if memory is not None:
            return memory
    if _library_of(array) == "cupy":
        return _of_numpy(array.get(), what, array)  # waits for CuPy's current stream
    if _library_of(array) not in _JAX and hasattr(array, "__cuda_array_interface__"):
        raise TypeError(
            f"{what} is a {type(array).__module__}.{type(array).__name__} on a GPU: give it as an "
            "array of torch, CuPy or JAX, for example torch.as_tensor(x, device='cuda')"
        )
    as_numpy = numpy.asarray(array)
    if as_numpy.dtype == object:
        raise TypeError(f"{what} is a {type(array).__name__}, which is no array of numbers")
    return _of_numpy(as_numpy, what, array)


_JAX = ("jax", "jaxlib")


def _library_of(array):
    return type(array).__module__.partition(".")[0]


def as_array(memory):
    """A NumPy array of the same memory, of unsigned integers as wide as an element."""
    width = width_of(memory.type)
    dtype = numpy.dtype(f"u{width}")
    if type(memory.owner) is numpy.ndarray and memory.owner.shape == memory.shape:
        view = memory.owner.view(dtype)
        view.flags.writeable = False
        return view
    if memory.size == 0:
        return numpy.empty(memory.shape, dtype)
    last = sum((extent - 1) * stride for extent, stride in zip(memory.shape, memory.strides))
    whole = (ctypes.c_uint8 * ((last + 1) * width)).from_address(memory.address)
    whole.owner = memory.owner  # NumPy keeps `whole`, which keeps what it points into
    flat = numpy.frombuffer(whole, dtype)
    strides = tuple(stride * width for stride in memory.strides)
    return numpy.lib.stride_tricks.as_strided(flat, memory.shape, strides, writeable=False)


def row_major_copy(memory, last_axis=-1):
    """The same elements, side by side in new memory, with one axis moved to the end."""
    copy = numpy.ascontiguousarray(numpy.moveaxis(as_array(memory), last_axis, -1))
    address = copy.__array_interface__["data"][0]
    return Memory(address, copy.shape, row_major(copy.shape), memory.dtype, copy, memory.like)


def result_like(array, like):
    """A NumPy array as an array of the library, and on the device, that `like` is from."""
    if type(like) is numpy.ndarray:
        return array
    if is_torch(like):
        import torch

        return torch.from_numpy(numpy.ascontiguousarray(array)).to(like.device)
    if _library_of(like) in _JAX:
        import jax

        devices = tuple(like.devices())
        return jax.device_put(array, devices[0] if len(devices) == 1 else None)
    if _library_of(like) == "cupy":
        import cupy

        with like.device:
            return cupy.asarray(array)
    return array


def typed(array, type):
    """Raw codes as the dtype that their library has for `type`; as they are, if it has none."""
    name = DTYPES.get(type)
    if name is None:
        return array
    if is_torch(array):
        import torch

        dtype = getattr(torch, name, None)
        return array if dtype is None else array.view(dtype)
    try:
        import ml_dtypes
    except ImportError:
        return array
    dtype = getattr(ml_dtypes, name, None)
    if dtype is None or not isinstance(array, numpy.ndarray) and type in ("e2m1", "e3m2", "e2m3"):
        return array  # a view of JAX takes a byte for more than one of such codes
    try:
        return array.view(dtype)
    except (KeyError, TypeError, ValueError):  # CuPy has some of these dtypes, by its version
        return array
