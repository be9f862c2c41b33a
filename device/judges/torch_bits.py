"""Bytes to PyTorch tensors and back, for the adapters that need PyTorch. No arithmetic."""

import argparse

from mxpipe import NotSupported

try:
    import torch

    missing = ""
except ImportError as error:
    torch = None
    missing = f"PyTorch does not import here: {error}"


def value_types():
    return {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


def tensor_of(tensor, dtype, place):
    """The two-dimensional tensor of `dtype` with the bits of an input."""
    shape = (tensor.rows, tensor.columns)
    if tensor.bytes == 0:
        return torch.empty(shape, dtype=dtype, device=place)
    flat = torch.frombuffer(bytearray(tensor.data), dtype=torch.uint8)
    return flat.view(dtype).reshape(shape).to(place)


def bytes_of(tensor):
    flat = tensor.contiguous().cpu()
    return flat.reshape(-1).view(torch.uint8).numpy().tobytes()


def options(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--on", default="cpu", help="cpu or cuda: where the casts run")
    parser.add_argument("--source", default="", help="what the library was built from, for reports")
    return parser.parse_args()


def place_facts(place):
    if torch is None:
        return {"notes": missing}
    hardware = torch.cuda.get_device_name() if place.startswith("cuda") else "CPU"
    return {"torch": torch.__version__, "place": place, "hardware": hardware}


def refuse_layouts(request):
    for tensor in request.inputs + request.outputs:
        if tensor.layout != "strided":
            raise NotSupported(f"layout {tensor.layout} is not one that this adapter makes")
