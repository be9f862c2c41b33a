"""Intel Neural Compressor's MX quantization as a device: its copy of microxcaling's functions."""

import torch
from microxcaling_device import serve_library
from neural_compressor.torch.algorithms.mx_quant import utils
from peer import Peer, version_of


class Library:
    format_params = staticmethod(utils._get_format_params)
    shared_exponents = staticmethod(utils._shared_exponents)
    elements = staticmethod(utils._quantize_elemwise_core)
    quantize = staticmethod(utils._quantize_mx)


if __name__ == "__main__":
    version = version_of("neural-compressor")
    serve_library(Library, Peer("Neural Compressor", "Intel", version, tensors=torch))
