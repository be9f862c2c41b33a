"""microxcaling's quantization in Python as a device: mx/mx_ops.py with round = nearest.

    PYTHONPATH=microxcaling mxcheck run --device-cmd 'python3 microxcaling_device.py' \
        --dialect microxcaling --suite quantize

The library returns values. What its _quantize_mx does between the two functions that compute, the
limits of the exponent and the division, is repeated here line for line, so that the shared exponent
can be read; each block is then asked of _quantize_mx itself, and a product of scale and element that
is not its value ends the request. Without PyTorch and the library every request is answered
not_supported.
"""

import torch_bits
from mxpipe import NotSupported, serve
from torch_bits import bytes_of, tensor_of, torch

missing = torch_bits.missing
if torch is not None:
    try:
        from mx.elemwise_ops import _quantize_elemwise_core
        from mx.formats import _get_format_params
        from mx.mx_ops import _quantize_mx, _shared_exponents
    except ImportError as error:
        missing = f"microxcaling does not import here: {error}"

# The library's name, exponent bits, mantissa bits, bias.
FORMATS = {
    "mxfp8-e4m3": ("fp8_e4m3", 4, 3, 7),
    "mxfp8-e5m2": ("fp8_e5m2", 5, 2, 15),
    "mxfp6-e3m2": ("fp6_e3m2", 3, 2, 3),
    "mxfp6-e2m3": ("fp6_e2m3", 2, 3, 1),
    "mxfp4-e2m1": ("fp4_e2m1", 2, 1, 1),
}
BLOCK = 32


def values_of_codes(exponent_bits, mantissa_bits, bias):
    """The value of every code without a sign, in rising order, as if each were a number."""
    codes = torch.arange(1 << (exponent_bits + mantissa_bits), dtype=torch.float64)
    steps = 1 << mantissa_bits
    field, mantissa = torch.div(codes, steps, rounding_mode="floor"), codes % steps
    normal = (1 + mantissa / steps) * 2 ** (field - bias)
    return torch.where(field == 0, mantissa / steps * 2.0 ** (1 - bias), normal)


def codes_of(elements, exponent_bits, mantissa_bits, bias):
    table = values_of_codes(exponent_bits, mantissa_bits, bias)
    is_nan = torch.isnan(elements)
    magnitudes = torch.where(is_nan, 0, elements.abs()).to(torch.float64)
    codes = torch.searchsorted(table, magnitudes.contiguous())
    if not torch.equal(table[codes], magnitudes):
        raise NotSupported("an element that the library returned is no value of its format")
    codes += torch.signbit(elements).to(codes.dtype) << (exponent_bits + mantissa_bits)
    all_ones = (1 << (exponent_bits + mantissa_bits)) - 1
    return torch.where(is_nan, all_ones, codes).to(torch.uint8)


class Microxcaling:
    def __init__(self, chosen):
        self.facts = {"name": "microxcaling", "vendor": "Microsoft"}
        if chosen.source:
            self.facts["source"] = chosen.source
        self.facts |= torch_bits.place_facts("cpu")

    def supports(self, request):
        if missing:
            return missing
        torch_bits.refuse_layouts(request)
        if request.operation != "quantize":
            return f"microxcaling has no {request.operation} of its own"
        if request.format not in FORMATS:
            return f"this adapter encodes no {request.format}"
        if request.dialect != "microxcaling":
            return f"microxcaling quantizes in its own way only, not as {request.dialect}"
        if request.inputs[0].type != "f32":
            return f"the dialect is of binary32, not of {request.inputs[0].type}"
        if request.axis not in ("row", "col") or request.block_size not in (0, BLOCK):
            return f"blocks of {BLOCK} in a line, not {request.axis} {request.block_size}"
        lanes = request.inputs[0].rows if request.axis == "col" else request.inputs[0].columns
        return f"whole blocks of {BLOCK} only" if lanes % BLOCK != 0 else None

    def run(self, request):
        name, *grid = FORMATS[request.format]
        values = tensor_of(request.inputs[0], torch.float32, "cpu")
        lines = values.t().contiguous() if request.axis == "col" else values
        exponent_bits, mantissa_bits, emax, largest, _ = _get_format_params(name)
        blocks = lines.reshape(-1, BLOCK)
        exponents = _shared_exponents(blocks, method="max", axes=[1], ebits=0) - emax
        exponents[exponents > 127] = float("NaN")
        exponents[exponents < -127] = -127
        elements = _quantize_elemwise_core(
            blocks / 2**exponents,
            mantissa_bits,
            exponent_bits,
            largest,
            round="nearest",
            allow_denorm=True,
            saturate_normals=True,
        )
        whole = _quantize_mx(blocks.clone(), 8, name, axes=[1], block_size=BLOCK)
        same = (elements * 2**exponents).view(torch.int32) == whole.view(torch.int32)
        if not torch.all(same | torch.isnan(whole)):
            raise NotSupported("scale times element is not what _quantize_mx returns")
        scales = torch.where(torch.isnan(exponents), 255, exponents + 127).to(torch.uint8)
        codes = codes_of(elements, *grid).reshape(lines.shape)
        scales = scales.reshape(lines.shape[0], -1)
        return [bytes_of(t.t() if request.axis == "col" else t) for t in (codes, scales)]


if __name__ == "__main__":
    serve(Microxcaling(torch_bits.options(__doc__)))
