"""The products of torch.nn.Linear and torch.nn.functional.linear, as mx.capture records them."""

import numpy
import torch

from . import _library
from ._arrays import TYPES, VALUE_DTYPES, as_array, memory_of
from ._capture import NoCase, Record, copied, chosen, rows_of
from ._names import found

_PLAIN = (torch.Tensor, torch.nn.Parameter)


def linear_layers(model, prefix):
    """{name: layer} of those that multiply their weight."""
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"model is a {type(model).__name__}, and a torch.nn.Module is needed")
    layers = {}
    for name, module in model.named_modules():
        if type(module).forward is torch.nn.Linear.forward:
            layers[".".join(part for part in (prefix, name) if part) or "Linear"] = module
    if not layers:
        raise ValueError("the model has no torch.nn.Linear with its own forward")
    return layers


def _cast(tensor, type):
    """As autocast hands it to the product."""
    if type is None or tensor is None or tensor.dtype == torch.float64:
        return tensor
    return tensor.to(type)


def _autocast(tensor):
    kind = tensor.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else None


class Product:
    """How calls of linear(x, weight, bias), or of a layer, are read."""

    def __init__(self, bound, layer=None):
        row = bound.removeprefix("bounded:")
        if row != "bounded":
            found({entry["name"]: entry for entry in _library.listed("models")}, row, "model")
        self.bound, self.layer = bound, layer

    def given(self, arguments, named, rows):
        x, weight, bias = self._factors(*arguments, **named)
        autocast = _autocast(x)
        x, weight, bias = (_cast(each, autocast) for each in (x, weight, bias))
        self._expect(x, weight, bias)
        m = int(numpy.prod(x.shape[:-1], dtype=numpy.int64))
        kept_m, kept_n = chosen(m, rows), chosen(weight.shape[0], rows)
        record = Record("", shape=list(x.shape))
        if autocast is not None:
            record.facts["autocast"] = str(autocast).removeprefix("torch.")
        for name, kept, of in (("rows", kept_m, m), ("columns", kept_n, weight.shape[0])):
            if kept is not None:
                record.facts[name] = {"of": of, "kept": kept.tolist()}
        type = TYPES[str(x.dtype).removeprefix("torch.")]
        for name, tensor, kept in (("a", x, kept_m), ("b", weight, kept_n)):
            record.add(name, type, _bits(copied(rows_of(tensor.detach(), kept)), name))
        if bias is not None:
            part = bias.detach() if kept_n is None else rows_of(bias.detach()[:, None], kept_n)
            record.add("bias", type, _bits(copied(part.reshape(1, -1)), "bias"))
        shapes = [record.tensors["a"][1][0], *record.tensors["b"][1]]
        if min(shapes) < 1:
            raise NoCase("a product without an element")
        record.case = (
            f"gemm a={type} b={type} output={type} shape={'x'.join(map(str, shapes))} "
            f"epilogue={'none' if bias is None else 'bias'} model={self.bound}"
        )
        return record, kept_m, kept_n, (*x.shape[:-1], weight.shape[0])

    def _factors(self, input, weight=None, bias=None):
        if self.layer is not None:
            return input, self.layer.weight, self.layer.bias
        return input, weight, bias

    def _expect(self, x, weight, bias):
        for name, tensor in (("x", x), ("weight", weight), ("bias", bias)):
            if tensor is None and name == "bias":
                continue
            if type(tensor) not in _PLAIN or tensor.is_sparse or tensor.device.type == "meta":
                raise NoCase(f"{name} is a {type(tensor).__name__}, and no plain dense tensor")
            if str(tensor.dtype).removeprefix("torch.") not in VALUE_DTYPES.values():
                raise NoCase(f"{name} is {tensor.dtype}; products of float32, float16 and bfloat16")
            if tensor.dtype != x.dtype:
                raise NoCase(f"{name} is {tensor.dtype}, and x is {x.dtype}")
        if weight.dim() != 2 or x.dim() < 1 or x.shape[-1] != weight.shape[1]:
            raise NoCase(f"x of {tuple(x.shape)} and a weight of {tuple(weight.shape)}")
        if x.dtype == torch.float32 and torch.get_float32_matmul_precision() != "highest":
            raise NoCase("products of float32 are those of another type under this precision")

    def raised(self, given, error):
        return given[0].refuse(error)

    def recorded(self, given, result, arguments, named):
        record, kept_m, kept_n, shape = given
        type = record.tensors["a"][0]
        memory = memory_of(result, "it")
        if {"f32": "F32", "f16": "F16", "bf16": "BF16"}.get(memory.type) != type:
            return record.refuse(TypeError(f"it gave {memory.dtype}"))
        if tuple(memory.shape) != tuple(shape):
            return record.refuse(ValueError(f"it gave shape {memory.shape}; {shape} is right"))
        values = rows_of(as_array(memory), kept_m)
        record.give("d", memory.type, values if kept_n is None else values[:, kept_n])
        return record


def _bits(tensor, what):
    return as_array(memory_of(tensor, what))


