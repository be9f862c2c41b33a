"""A Python function as a device for products: D = alpha * A * B^T + beta * C, as mx_device.h has it."""

import struct

from ._arrays import VALUE_DTYPES
from ._names import formats
from ._serving import FunctionDevice, Refused, has_ml_dtypes

_SCALES = {"1x32": "e8m0", "1x16": "ue4m3"}


def _format_of(type, scaling):
    """A factor's format as the cases name it: "mxfp8-e4m3", "nvfp4", "e4m3:tensor", "bf16"."""
    if scaling is None:
        return type
    for form in formats().values():
        if (form.element, form.scale, form.block) == (type, _SCALES.get(scaling), "line"):
            return form.name
    return f"{type}:{scaling}"


def _number(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


class _Product:
    """What a request asks."""

    def __init__(self, request):
        details = request["gemm"]
        inputs = iter(request["inputs"])
        self.scalings = details.get("scaling_a"), details.get("scaling_b")
        self.formats = []
        for scaling in self.scalings:
            self.formats.append(_format_of(next(inputs)["type"], scaling))
            if scaling is not None:
                next(inputs)
        beta, epilogue = _number(details["beta_bits"]), details.get("epilogue")
        self.has_c, self.has_bias = beta != 0, "bias" in (epilogue or "")
        self.is_grouped = details.get("groups", 0) != 0
        # What the function is given where it names it, and otherwise only ever asked as it is here.
        self.parameters = {
            "alpha": (_number(details["alpha_bits"]), 1.0),
            "beta": (beta, 0.0),
            "batches": (details["batches"], 1),
            "epilogue": (epilogue, None),
            "accumulation": (details.get("accumulation"), None),
            "dtype": (VALUE_DTYPES.get(request["outputs"][0]["type"]), "float32"),
        }
        self.has_values = (
            details.get("scaling_out") is None and None not in self.parameters["dtype"]
        )


class GemmDevice(FunctionDevice):
    """function(a, a_scales, b, b_scales) returns D; a factor without scales has None for them."""

    def expect(self, request):
        if request["operation"] != "gemm":
            raise Refused("the function is one for gemm")
        tensors = request["inputs"] + request["outputs"]
        if any(tensor["layout"] != "strided" for tensor in tensors):
            raise Refused("a function is asked for tensors in the layout strided")
        is_bf16 = any(tensor["type"] == "bf16" for tensor in tensors)
        if is_bf16 and self.tensors == "numpy" and not has_ml_dtypes():
            raise Refused("NumPy has no bfloat16 without the package ml_dtypes")
        product = _Product(request)
        for name in product.formats:
            if self.formats and name not in self.formats:
                raise Refused(f"the function is one for {', '.join(self.formats)}, not for {name}")
        if not product.has_values:
            raise Refused("a function is asked for a D of float32, float16 or bfloat16 alone")
        for name, (value, usual) in product.parameters.items():
            if value != usual and not self.takes(name):
                raise Refused(f"the function has no parameter {name}, and {name} is {value}")
        # A function that takes whatever it is given may know nothing of groups.
        if product.is_grouped and "offsets" not in self.names:
            raise Refused("the function has no parameter offsets")
        for name, is_given in (("c", product.has_c), ("bias", product.has_bias)):
            if is_given and not self.takes(name):
                raise Refused(f"the function has no parameter {name}")

    def call(self, request, data):
        self.product = _Product(request)
        return super().call(request, data)

    def _named(self, request, arrays):
        product = self.product
        rest = arrays[2 + sum(scaling is not None for scaling in product.scalings) :]
        values = {name: value for name, (value, _) in product.parameters.items()}
        values["a_format"], values["b_format"] = product.formats
        values["c"] = rest.pop(0) if product.has_c else None
        values["bias"] = rest.pop(0) if product.has_bias else None
        values["offsets"] = rest.pop(0).reshape(-1) if product.is_grouped else None
        return self.those_it_takes(values)

    def answer(self, arrays, named):
        rest, factors = iter(arrays), []
        for scaling in self.product.scalings:
            factors += [next(rest), None if scaling is None else next(rest)]
        return self.function(*factors, **named)
