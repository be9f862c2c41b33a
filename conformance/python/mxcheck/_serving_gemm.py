"""A Python function as a device for products: D = alpha * A * B^T + beta * C, as mx_device.h has it."""

import struct

from ._names import formats
from ._serving import FunctionDevice, Refused

_DTYPES = {"f32": "float32", "f16": "float16", "bf16": "bfloat16"}
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
        self.alpha, self.beta = _number(details["alpha_bits"]), _number(details["beta_bits"])
        self.epilogue = details.get("epilogue")
        # What the function is given where it names it, and otherwise only ever asked as it is here.
        self.words = {
            "alpha": (self.alpha, 1.0),
            "beta": (self.beta, 0.0),
            "batches": (details["batches"], 1),
            "epilogue": (self.epilogue, None),
            "accumulation": (details.get("accumulation"), None),
            "dtype": (_DTYPES.get(request["outputs"][0]["type"]), "float32"),
        }
        self.has_values = details.get("scaling_out") is None and None not in self.words["dtype"]


class GemmDevice(FunctionDevice):
    """function(a, a_scales, b, b_scales) returns D; a factor without scales has None for them."""

    def expect(self, request):
        self.expect_operation(request)
        product = _Product(request)
        for name in product.formats:
            if self.formats and name not in self.formats:
                raise Refused(f"the function is one for {', '.join(self.formats)}, not for {name}")
        if not product.has_values:
            raise Refused("a function is asked for a D of float32, float16 or bfloat16 alone")
        for word, (value, usual) in product.words.items():
            if value != usual and not self.takes(word):
                raise Refused(f"the function has no parameter {word}, and {word} is {value}")
        for word, is_given in (
            ("c", product.beta != 0),
            ("bias", "bias" in (product.epilogue or "")),
        ):
            if is_given and not self.takes(word):
                raise Refused(f"the function has no parameter {word}")
        self.expect_arrays(request)

    def arguments(self, request, arrays):
        product, rest = _Product(request), iter(arrays)
        plain = []
        for scaling in product.scalings:
            plain += [next(rest), None if scaling is None else next(rest)]
        values = {word: value for word, (value, _) in product.words.items()}
        values["a_format"], values["b_format"] = product.formats
        values["c"] = next(rest) if product.beta != 0 else None
        values["bias"] = next(rest) if "bias" in (product.epilogue or "") else None
        return plain, {word: value for word, value in values.items() if self.takes(word)}
