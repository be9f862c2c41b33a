"""PyTorch's own casts as a device: float8_e4m3fn, float8_e5m2 and float8_e8m0fnu.

    mxcheck run --device-cmd 'python3 torch_device.py' --dialect ocp --suite convert

A cast of PyTorch 2.11 and older does not saturate; newer ones do. The first call finds out which,
and the other is answered not_supported.
"""

import torch_bits
from mxpipe import serve
from torch_bits import bytes_of, tensor_of, torch


def cast_type(element):
    return {
        "e4m3": torch.float8_e4m3fn,
        "e5m2": torch.float8_e5m2,
        "e8m0": torch.float8_e8m0fnu,
    }.get(element)


class Torch:
    def __init__(self, chosen):
        self.place = chosen.on
        self.facts = {"name": "PyTorch casts", "vendor": "PyTorch"}
        self.facts |= torch_bits.place_facts(self.place)
        self.overflow = "" if torch is None else self.find_overflow()

    def find_overflow(self):
        large = torch.tensor([[1e4]], dtype=torch.float32, device=self.place)
        return "saturate" if large.to(torch.float8_e4m3fn).item() == 448 else "overflow"

    def supports(self, request):
        if torch is None:
            return torch_bits.missing
        torch_bits.refuse_layouts(request)
        if request.operation != "convert":
            return f"a cast does no {request.operation}"
        if cast_type(request.format) is None:
            return f"PyTorch has no cast to {request.format}"
        if request.inputs[0].type not in torch_bits.value_types():
            return f"no cast from {request.inputs[0].type} is asked here"
        if request.rounding not in ("", "nearest_even"):
            return "PyTorch casts round to nearest even only"
        if request.subnormals not in ("", "honoured"):
            return "PyTorch honours subnormals"
        if request.format != "e8m0" and request.overflow != self.overflow:
            return f"PyTorch {torch.__version__} casts with overflow={self.overflow} only"
        return None

    def run(self, request):
        dtype = torch_bits.value_types()[request.inputs[0].type]
        values = tensor_of(request.inputs[0], dtype, self.place)
        return [bytes_of(values.to(cast_type(request.format)))]


if __name__ == "__main__":
    serve(Torch(torch_bits.options(__doc__)))
