"""What the adapters share: functions of a library become a device. No arithmetic of a quantizer.

    peer = Peer("JAX", "Google", version_of("jax"))
    peer.convert("e4m3", lambda values: values.astype(float8), overflow="saturate")
    peer.quantize("mxfp8-e4m3", "nv", quantized)     # blocks of 32 lanes -> codes, scales
    peer.serve()

A function gets arrays of NumPy, or of PyTorch where the peer has `tensors=torch`, and returns
arrays of them, whose bytes are the answer. `quantize` hands over whole blocks, one a line, and
refuses a partial one; `quantize_partial` hands over lines whose last block may be partial, and
`quantize_tensor` whole lines, all of a tensor, whose own number comes last of what is returned.
`quantize_matrix` hands over the matrix as it lies, of formats whose blocks are tiles or tensors,
`quantize_given` the number of the tensor beside it. `gemm` hands over A, its scales, B and its
scales, without those of factors that have none.
"""

import ast
import importlib.metadata
import importlib.util
import os
import sys
import types

import numpy as np
from mxpipe import NotSupported, serve

# exponent bits, mantissa bits, bias
ELEMENTS = {"e4m3": (4, 3, 7), "e5m2": (5, 2, 15), "e3m2": (3, 2, 3), "e2m3": (2, 3, 1),
            "e2m1": (2, 1, 1)}
FORMATS = {"mxfp8-e4m3": "e4m3", "mxfp8-e5m2": "e5m2", "mxfp6-e3m2": "e3m2",
           "mxfp6-e2m3": "e2m3", "mxfp4-e2m1": "e2m1"}
ALL_INPUTS = ("f32", "bf16", "f16")
BLOCK = 32
# of formats whose blocks are not of 32
BLOCKS = {"fp8-e4m3-1x128": 128, "fp8-e5m2-1x128": 128, "nvfp4": 16, "fp4-ue5m3-1x16": 16}
WHOLE = ("tile", "tensor")  # axes of what is quantized as a matrix


def block_of(block_format):
    return BLOCKS.get(block_format, BLOCK)


def module_of(path):
    """A module by its file in the library's source tree, without the package around it."""
    file = os.path.join(os.environ.get("MX_PEER_TREE", "."), path)
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def package_of(folder, name):
    """A folder of the source tree as a package of that name, without running its __init__.py."""
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [os.path.join(os.environ.get("MX_PEER_TREE", "."), folder)]


def function_of(file, name, **names):
    """One function of a file whose imports are not wanted, in a module that has these names."""
    with open(file) as text:
        found = [node for node in ast.parse(text.read()).body if getattr(node, "name", "") == name]
    exec(compile(ast.Module(found, []), str(file), "exec"), names)
    return names[name]


def empty_module(name, **members):
    """Stands in for a module that a file imports for something else than what is asked of it."""
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(members)
    return sys.modules[name]


def version_of(package):
    return importlib.metadata.version(package)


def place():
    """Where tensors are worked on: `--on cuda` on the command line, else the CPU."""
    return sys.argv[sys.argv.index("--on") + 1] if "--on" in sys.argv else "cpu"


def is_on_gpu():
    return place() != "cpu"


def interpret_on_cpu():
    """Before Triton is imported: without a GPU its interpreter runs the kernels."""
    if not is_on_gpu():
        os.environ["TRITON_INTERPRET"] = "1"


def values_of_codes(element):
    """The value of every code without a sign, rising, as if each were a number."""
    exponent_bits, mantissa_bits, bias = ELEMENTS[element]
    field, mantissa = np.divmod(np.arange(1 << (exponent_bits + mantissa_bits)), 1 << mantissa_bits)
    parts = np.where(field == 0, mantissa, mantissa + (1 << mantissa_bits))
    return np.ldexp(parts.astype(np.float64), np.maximum(field, 1) - bias - mantissa_bits)


def codes_of_values(values, element):
    """The codes of elements that a library returned as numbers; NaN is all ones, others refused."""
    values = np.asarray(values, dtype=np.float64)
    if element == "int8":  # in steps of 1/64; a NaN has no code
        return np.where(np.isnan(values), 0, values * 64).astype(np.int8).view(np.uint8)
    table, is_nan = values_of_codes(element), np.isnan(values)
    magnitudes = np.where(is_nan, 0, np.abs(values))
    codes = np.minimum(np.searchsorted(table, magnitudes), len(table) - 1)
    if not np.array_equal(table[codes], magnitudes):
        raise NotSupported("an element that the library returned is no value of its format")
    codes = np.where(is_nan, len(table) - 1, codes)
    return (codes + np.signbit(values) * len(table)).astype(np.uint8)


def nibbles(packed):
    """Two elements of each byte, the even one in its low half."""
    packed = np.asarray(packed)
    return np.stack([packed & 15, packed >> 4], axis=-1).reshape(*packed.shape[:-1], -1)


class Peer:
    def __init__(self, name, vendor, version, tensors=None, **facts):
        self.torch = tensors
        self.functions, self.partial, self.of_tensor = {}, set(), set()
        self.whole, self.given = set(), set()
        self.facts = {"name": name, "vendor": vendor, "version": version, **facts}
        source = os.environ.get("MX_PEER_SOURCE", "")
        self.facts |= {"source": source} if source else {}
        if self.torch is not None:
            self.torch.set_num_threads(1)
            where = self.torch.cuda.get_device_name() if is_on_gpu() else place()
            self.facts |= {"torch": self.torch.__version__, "place": where}

    def convert(self, element, function, dialect="ocp", inputs=ALL_INPUTS, overflow="",
                rounding="nearest_even"):
        for one in inputs:
            self.functions["convert", element, dialect, one, rounding, overflow] = function

    def encode_scale(self, block_format, dialect, function, inputs=("f32",)):
        for one in inputs:
            self.functions["encode_scale", block_format, dialect, one, "", ""] = function

    def quantize(self, block_format, dialect, function, inputs=("f32",)):
        for one in inputs:
            self.functions["quantize", block_format, dialect, one, "", ""] = function

    def quantize_partial(self, block_format, dialect, function, inputs=("f32",)):
        self.quantize(block_format, dialect, function, inputs)
        self.partial.add(function)

    def quantize_tensor(self, block_format, dialect, function, inputs=("f32",)):
        self.quantize(block_format, dialect, function, inputs)
        self.of_tensor.add(function)

    def quantize_matrix(self, block_format, dialect, function, inputs=("f32",)):
        self.quantize(block_format, dialect, function, inputs)
        self.whole.add(function)

    def quantize_given(self, block_format, dialect, function, inputs=("f32",)):
        self.quantize_matrix(block_format, dialect, function, inputs)
        self.given.add(function)

    def dequantize(self, block_format, dialect, function, outputs=("f32",)):
        for one in outputs:
            self.functions["dequantize", block_format, dialect, one, "", ""] = function

    def dequantize_partial(self, block_format, dialect, function, outputs=("f32",)):
        self.dequantize(block_format, dialect, function, outputs)
        self.partial.add(function)

    def gemm(self, a, b, function, outputs=("f32",), algorithm=""):
        """Products whose factors are words of a case line: `bf16`, `e4m3:1x128`, `mxfp8-e4m3`."""
        for one in outputs:
            self.functions["gemm", a, b, one, algorithm] = function

    def serve(self):
        serve(self)

    def supports(self, request):
        for tensor in request.inputs + request.outputs:
            if tensor.layout != "strided":
                return f"layout {tensor.layout} is not one that this adapter makes"
        if asked(request) not in self.functions:
            words = " ".join(word for word in asked(request) if word)
            return f"{self.facts['name']} is not asked here for: {words}"
        is_given = self.functions[asked(request)] in self.given
        if (request.tensor_scale == "given") != is_given:
            return f"the number of the tensor is {'given' if is_given else 'found'}"
        if request.subnormals not in ("", "honoured"):
            return "subnormals are honoured here"
        if request.operation == "gemm":
            return refuse_more(request)
        return self.refuse_blocks(request) if has_blocks(request) else None

    def refuse_blocks(self, request):
        block, is_whole = block_of(request.format), self.functions[asked(request)] in self.whole
        if is_whole and request.axis in WHOLE:
            return None
        if is_whole or request.axis not in ("row", "col") or request.block_size not in (0, block):
            return f"blocks of {block} in a line, not {request.axis} {request.block_size}"
        values = values_of(request)
        lanes = values.rows if request.axis == "col" else values.columns
        if lanes % block != 0 and self.functions[asked(request)] not in self.partial:
            return f"whole blocks of {block} only"
        return None

    def run(self, request):
        function = self.functions[asked(request)]
        arrays = [self.array(tensor, request.axis) for tensor in request.inputs]
        if request.operation == "encode_scale":
            arrays = [arrays[0].reshape(-1)]
        elif request.operation == "quantize" and function not in self.as_they_lie():
            arrays = [arrays[0].reshape(-1, block_of(request.format))]
        with np.errstate(all="ignore"):
            made = function(*arrays)
        made = made if isinstance(made, tuple) else (made,)
        return [self.bytes_of(array, tensor, request.axis)
                for array, tensor in zip(made, request.outputs, strict=True)]

    def as_they_lie(self):
        """The functions whose lines are not cut into blocks."""
        return self.partial | self.of_tensor | self.whole

    def array(self, tensor, axis):
        """A matrix whose blocks lie along its rows."""
        matrix = self.flat(tensor).reshape(tensor.rows, tensor.columns)
        if axis != "col":
            return matrix
        return np.ascontiguousarray(matrix.T) if self.torch is None else matrix.t().contiguous()

    def flat(self, tensor):
        if self.torch is not None:
            known = {"f32": self.torch.float32, "bf16": self.torch.bfloat16,
                     "f16": self.torch.float16}
            codes = self.torch.frombuffer(bytearray(tensor.data), dtype=self.torch.uint8)
            return codes.view(known.get(tensor.type, self.torch.uint8))
        known = {"f32": np.float32, "f16": np.float16}
        if tensor.type == "bf16":
            import ml_dtypes  # only a peer that takes bfloat16 needs it
            known["bf16"] = ml_dtypes.bfloat16
        return np.frombuffer(tensor.data, dtype=known.get(tensor.type, np.uint8))

    def bytes_of(self, array, tensor, axis):
        if self.torch is not None and isinstance(array, self.torch.Tensor):
            array = array.detach().cpu().contiguous().view(self.torch.uint8).numpy()
        array = np.ascontiguousarray(np.asarray(array)).view(np.uint8)
        if axis != "col":
            return array.tobytes()
        return array.reshape(tensor.columns, tensor.rows, -1).transpose(1, 0, 2).tobytes()


def values_of(request):
    return request.outputs[0] if request.operation == "dequantize" else request.inputs[0]


def refuse_more(request):
    """Of a product: D = A * B^T of one batch, nothing added, nothing after it."""
    plain = {"batches": 1, "alpha_bits": 0x3F800000, "beta_bits": 0}
    for key, value in request.extra["gemm"].items():
        if key not in ("scaling_a", "scaling_b", "algorithm") and plain.get(key, "") != value:
            return f"the product alone, without {key} {value}"
    return None


def factors_of(request):
    """The words of a case line for A and B: the type, and the shape that shares a scale."""
    types = [tensor.type for tensor in request.inputs]
    words = []
    for side in ("scaling_a", "scaling_b"):
        scaling, element = request.extra["gemm"].get(side, ""), types.pop(0)
        if scaling:
            types.pop(0)
        is_mx = scaling == "1x32"
        name = next((name for name in FORMATS if FORMATS[name] == element), element)
        words.append(name if is_mx else f"{element}:{scaling}" if scaling else element)
    return tuple(words)


def has_blocks(request):
    return request.operation in ("quantize", "dequantize")


def asked(request):
    """The key of `functions`."""
    if request.operation == "gemm":
        algorithm = request.extra["gemm"].get("algorithm", "")
        return ("gemm", *factors_of(request), request.outputs[0].type, algorithm)
    is_convert = request.operation == "convert"
    return (request.operation, request.format, request.dialect or "ocp", values_of(request).type,
            (request.rounding or "nearest_even") if is_convert else "",
            request.overflow if is_convert and request.format != "e8m0" else "")
