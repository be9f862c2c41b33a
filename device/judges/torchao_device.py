"""torchao's MX casts as a device: to_mx and to_dtype of torchao.prototype.mx_formats.

    mxcheck run --device-cmd 'python3 torchao_device.py' --dialect torchao-floor --suite quantize

Dialects torchao-floor, -ceil, -even and -rceil choose the mode; the library decides the rest. A
torchao from before pytorch/ao#4725 answers only to names with "-legacy", a newer one only to those
without. Without PyTorch and torchao every request is answered not_supported.
"""

import re

import torch_bits
from mxpipe import serve
from torch_bits import bytes_of, tensor_of, torch

missing = torch_bits.missing
if torch is not None:
    try:
        import torchao
        from torchao.prototype.mx_formats import mx_tensor
        from torchao.prototype.mx_formats.config import ScaleCalculationMode
        from torchao.prototype.mx_formats.constants import DTYPE_FP6_E2M3, DTYPE_FP6_E3M2
        from torchao.prototype.mx_formats.mx_tensor import to_dtype, to_mx
    except ImportError as error:
        missing = f"torchao does not import here: {error}"


def element_type(block_format):
    return {
        "mxfp8-e4m3": torch.float8_e4m3fn,
        "mxfp8-e5m2": torch.float8_e5m2,
        "mxfp6-e3m2": DTYPE_FP6_E3M2,
        "mxfp6-e2m3": DTYPE_FP6_E2M3,
        "mxfp4-e2m1": torch.float4_e2m1fn_x2,
    }.get(block_format)


def values_of(request):
    return request.outputs[0] if request.operation == "dequantize" else request.inputs[0]


def lanes_along(request):
    values = values_of(request)
    return values.rows if request.axis == "col" else values.columns


class TorchAo:
    def __init__(self, chosen):
        self.place = chosen.on
        self.facts = {"name": "torchao", "vendor": "Meta, PyTorch"}
        if not missing:
            self.facts["version"] = torchao.__version__
        if chosen.source:
            self.facts["source"] = chosen.source
        self.facts |= torch_bits.place_facts(self.place)

    def supports(self, request):
        if missing:
            return missing
        torch_bits.refuse_layouts(request)
        if request.operation not in ("quantize", "dequantize", "encode_scale"):
            return f"torchao has no {request.operation} of its own; see torch_device.py"
        if element_type(request.format) is None:
            return f"to_mx has no {request.format}"
        if values_of(request).type not in ("f32", "bf16"):
            return f"to_mx takes float32 and bfloat16, not {values_of(request).type}"
        if not re.match(r"torchao-(floor|ceil|even|rceil)\b", request.dialect):
            return f"{request.dialect} is no scaling mode of torchao"
        if ("-legacy" in request.dialect) != self.is_legacy():
            return f"this torchao is from {'before' if self.is_legacy() else 'after'} ao#4725"
        if "rceil-legacy" in request.dialect:
            if request.dialect.endswith("-cuda") != self.place.startswith("cuda"):
                return f"{request.dialect} is not how it divides on {self.place}"
        return None if request.operation == "encode_scale" else self.refuse_blocks(request)

    def is_legacy(self):
        return not hasattr(mx_tensor, "_f32_to_e8m0_rceil")

    def refuse_blocks(self, request):
        if request.axis not in ("row", "col"):
            return f"to_mx makes blocks along one dimension, not {request.axis}"
        if lanes_along(request) % self.block(request) != 0:
            return f"to_mx wants whole blocks of {self.block(request)}"
        return None

    def run(self, request):
        return getattr(self, request.operation)(request)

    def block(self, request):
        return request.block_size or 32

    def input(self, request, index):
        tensor = request.inputs[index]
        dtype = torch_bits.value_types().get(tensor.type, torch.uint8)
        bits = tensor_of(tensor, dtype, self.place)
        return bits.t().contiguous() if request.axis == "col" else bits

    def turned(self, request, tensor):
        return bytes_of(tensor.t() if request.axis == "col" else tensor)

    def quantized(self, request, values):
        mode = re.match(r"torchao-([a-z]+)", request.dialect).group(1)
        scale, data = to_mx(
            values, element_type(request.format), self.block(request), ScaleCalculationMode(mode)
        )
        codes = data.view(torch.uint8)
        if request.format == "mxfp4-e2m1":  # the even element is in the low half of its byte
            codes = torch.stack([codes & 15, codes >> 4], dim=-1)
        lines = values.shape[0]
        return codes.reshape(values.shape), scale.view(torch.uint8).reshape(lines, -1)

    def quantize(self, request):
        codes, scales = self.quantized(request, self.input(request, 0))
        return [self.turned(request, codes), self.turned(request, scales)]

    def encode_scale(self, request):
        amax = self.input(request, 0)
        blocks = torch.zeros(amax.numel(), self.block(request), dtype=amax.dtype, device=self.place)
        blocks[:, 0] = amax.reshape(-1)
        return [bytes_of(self.quantized(request, blocks)[1])]

    def dequantize(self, request):
        codes, scales = self.input(request, 0), self.input(request, 1)
        target = torch_bits.value_types()[values_of(request).type]
        element = element_type(request.format)
        if request.format == "mxfp4-e2m1":
            codes = codes[:, 0::2] | codes[:, 1::2] << 4
        elif isinstance(element, torch.dtype):
            codes = codes.view(element)
        scales = scales.view(torch.float8_e8m0fnu)
        values = to_dtype(codes.contiguous(), scales, element, self.block(request), target)
        return [self.turned(request, values)]


if __name__ == "__main__":
    serve(TorchAo(torch_bits.options(__doc__)))
