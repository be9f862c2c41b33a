"""Arrays in the memory of a GPU: torch, CuPy, JAX and Triton. Each test skips with a reason where
there is no GPU for its library, and prints what it measured (pytest -s)."""

import os
import subprocess
import sys
import time

import numpy
import pytest

import mxcheck as mx
from mxcheck._run import program

# JAX else takes most of a GPU's memory at its first call.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
E4M3 = {"format": "mxfp8-e4m3", "dialect": "nv"}
NVFP4 = {"format": "nvfp4", "dialect": "te-nvfp4"}
LAID = {"packing": "low_first", "scale_layout": "128x4"}


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip(f"torch {torch.__version__} sees no GPU")
    return torch


@pytest.fixture
def cupy():
    cupy = pytest.importorskip("cupy")
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        pytest.skip(f"CuPy {cupy.__version__} sees no GPU: {error}")
    if count == 0:
        pytest.skip(f"CuPy {cupy.__version__} sees no GPU")
    return cupy


@pytest.fixture
def jax():
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip(f"JAX {jax.__version__} computes on {jax.default_backend()}, and not on a GPU")
    return jax


def quantizer_of(torch, compiled=lambda function: function):
    """Of mxfp8-e4m3 under nv's rules, in torch alone: the scale is amax / 448, rounded up."""

    def made(x):
        rows, columns = x.shape
        values = torch.nn.functional.pad(x.float(), (0, -columns % 32))
        blocks = values.reshape(rows, -1, 32)
        amax = torch.nan_to_num(blocks.abs(), 0.0, float("inf")).amax(-1)
        ratio = amax * torch.tensor(1 / 448, dtype=torch.float32, device=x.device)
        bits = ratio.view(torch.int32)
        exponent = (bits >> 23) & 255
        mantissa = bits & 0x7FFFFF
        up = (mantissa != 0) & (exponent < 254) & ((exponent != 0) | (mantissa > 0x400000))
        scales = (exponent + up.int()).clamp(0, 254)
        scales = torch.where(torch.isinf(amax), torch.full_like(scales, 254), scales)
        # 2^(127 - scale), two factors of which are normal numbers.
        half = (127 - scales) // 2
        rest = 127 - scales - half
        power = [((part + 127) << 23).view(torch.float32) for part in (half, rest)]
        scaled = blocks * power[0][..., None] * power[1][..., None]
        codes = scaled.clamp(-448, 448).to(torch.float8_e4m3fn).view(torch.uint8)
        codes = torch.where(scaled.isnan(), torch.full_like(codes, 0x7F), codes)
        return codes.reshape(rows, -1)[:, :columns].contiguous(), scales.to(torch.uint8)

    made = compiled(made)

    def quantize(x):
        if x.numel() == 0:
            raise NotImplementedError("tensors with elements alone")
        codes, scales = made(x)
        return codes.view(torch.float8_e4m3fn), scales.view(torch.float8_e8m0fnu)

    return quantize


def on_gpu(torch, x):
    return torch.from_numpy(x).cuda()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_torch_there_and_back(torch, x, dtype):
    values = torch.from_numpy(x).to(getattr(torch, dtype))
    right, made = mx.quantize(values, **E4M3), mx.quantize(values.cuda(), **E4M3)
    for part in (made.codes, made.scales, made.typed().codes, made.typed().scales):
        assert part.device == values.cuda().device
    assert torch.equal(made.codes.cpu(), right.codes)
    assert torch.equal(made.scales.cpu(), right.scales)
    typed = made.typed()
    assert typed.codes.dtype == torch.float8_e4m3fn
    assert typed.scales.dtype == torch.float8_e8m0fnu
    mx.assert_bits(values.cuda(), typed.codes, typed.scales, dialect="nv")
    for asked in (torch.float32, torch.bfloat16, torch.float16):
        back = mx.dequantize(typed, dtype=asked)
        assert back.is_cuda and back.dtype == asked
        mx.assert_values(back, typed, dtype=asked)
        assert torch.equal(back.cpu(), mx.dequantize(right, dtype=asked))


def test_torch_axes_and_strides(torch, x):
    values = torch.from_numpy(x.reshape(4, 16, 96))
    for axis in range(3):
        right, made = mx.quantize(values, axis=axis, **E4M3), None
        for given in (values.cuda(), values.cuda().transpose(0, 1).contiguous().transpose(0, 1)):
            made = mx.quantize(given, axis=axis, **E4M3)
            assert torch.equal(made.codes.cpu(), right.codes), axis
            assert torch.equal(made.scales.cpu(), right.scales), axis
        # Typed codes that are no row-major memory.
        turned = made.typed().codes.transpose(0, 2).contiguous().transpose(0, 2)
        mx.assert_bits(values.cuda(), turned, made.scales, axis=axis, dialect="nv")


def test_torch_layouts_and_nvfp4(torch, x):
    values = on_gpu(torch, x)
    right, made = mx.quantize(x, **NVFP4, **LAID), mx.quantize(values, **NVFP4, **LAID)
    assert made.codes.is_cuda and made.scales.is_cuda
    assert (made.codes.cpu().numpy() == right.codes).all()
    assert (made.scales.cpu().numpy() == right.scales).all()
    typed = made.typed()
    assert typed.scales.dtype == torch.float8_e4m3fn
    if hasattr(torch, "float4_e2m1fn_x2"):
        assert typed.codes.dtype == torch.float4_e2m1fn_x2
    number = torch.tensor([made.tensor_scale], device="cuda")
    named = {**NVFP4, **LAID}
    mx.assert_bits(values, typed.codes, typed.scales, number, **named)
    back = mx.dequantize(typed.codes, typed.scales, tensor_scale=number, **named)
    assert back.is_cuda and torch.equal(back.cpu(), torch.from_numpy(mx.dequantize(right)))


def test_torch_a_wrong_bit_is_found(torch, x):
    values = on_gpu(torch, x)
    q = mx.quantize(values, **E4M3)
    q.codes[3, 5] ^= 1
    with pytest.raises(AssertionError, match=r"codes\[3, 5\]"):
        mx.assert_bits(values, q.typed(), **E4M3)


def test_torch_products(torch, x):
    generator = torch.Generator().manual_seed(1)
    a, b = (torch.randn(n, 256, generator=generator).cuda() for n in (48, 40))
    a, b = (mx.quantize(part, **E4M3).typed() for part in (a, b))
    d = mx.gemm(a, b)
    assert d.is_cuda
    mx.assert_gemm(d, a, b, model="exact")
    product = mx.dequantize(a) @ mx.dequantize(b).T  # exact products; TF32 is off
    assert not torch.backends.cuda.matmul.allow_tf32
    mx.assert_gemm(product, a, b)
    product[3, 4] = -1000
    with pytest.raises(AssertionError, match="1 of 1,920"):
        mx.assert_gemm(product, a, b)


def test_torch_scaled_mm_with_swizzled_scales(torch):
    capability = torch.cuda.get_device_capability()
    if capability < (10, 0):
        pytest.skip(f"torch._scaled_mm takes MX scales from sm_100 on, this is sm_{capability}")
    generator = torch.Generator().manual_seed(1)
    a, b = (torch.randn(128, 256, generator=generator).cuda() for _ in range(2))
    a, b = (mx.quantize(part, scale_layout="128x4", **E4M3).typed() for part in (a, b))
    scales = (part.scales.reshape(-1) for part in (a, b))
    d = torch._scaled_mm(a.codes, b.codes.T, *scales, out_dtype=torch.float32)
    mx.assert_gemm(d, a, b)


@pytest.mark.parametrize("level", ["smoke", "quick"])
def test_run_of_a_torch_quantizer(torch, level):
    quantize = quantizer_of(torch)

    def on_cuda(x):
        assert x.is_cuda
        return quantize(x)

    start = time.perf_counter()
    run = mx.run(on_cuda, level=level, tensors="torch-cuda", **E4M3)
    seconds = time.perf_counter() - start
    print(f"\ntorch {torch.__version__} on {torch.cuda.get_device_name()}, level {level}: ", end="")
    print(f"{seconds:.2f} s, {len(run.cases)} cases, {seconds / len(run.cases) * 1e3:.2f} ms each")
    print(repr(run))
    assert run.first_error is None, run.first_error
    assert run.passed, run.text


def test_run_finds_a_wrong_bit(torch):
    quantize = quantizer_of(torch)

    def wrong(x):
        codes, scales = quantize(x)
        codes.view(torch.uint8)[-1, -1] ^= 1
        return codes, scales

    run = mx.run(wrong, level="smoke", tensors="torch-cuda", **E4M3)
    assert run.code == 1 and 'tensors="torch-cuda"' in run.text
    found = mx.identify(quantize, format="mxfp8-e4m3", tensors="torch-cuda")
    assert "nv" in found.sentence, found.text


def test_run_sees_an_input_that_is_written_on_the_gpu(torch):
    quantize = quantizer_of(torch)

    def writes(x):
        made = quantize(x)
        x.zero_()
        return made

    run = mx.run(writes, level="smoke", tensors="torch-cuda", **E4M3)
    assert any("wrote into its input" in case["reason"] for case in run.cases)


def test_run_of_a_function_that_fills_tensors_on_the_gpu(torch):
    quantize = quantizer_of(torch)

    def fills(x, codes, scales):
        assert codes.is_cuda and scales.is_cuda
        made = quantize(x)
        codes.copy_(made[0].view(torch.uint8))
        scales.copy_(made[1].view(torch.uint8))

    assert mx.run(fills, level="smoke", tensors="torch-cuda", **E4M3).passed


def test_a_compiled_quantizer(torch):
    pytest.importorskip("triton")
    compiled = quantizer_of(torch, lambda function: torch.compile(function, dynamic=True))
    start = time.perf_counter()
    run = mx.run(compiled, level="smoke", tensors="torch-cuda", **E4M3)
    print(f"\ntorch.compile, level smoke: {time.perf_counter() - start:.1f} s\n{run!r}")
    assert run.first_error is None, run.first_error
    assert run.passed, run.text


def test_relate_and_fuzz_on_the_gpu(torch):
    quantize = quantizer_of(torch)
    run = mx.relate(quantize, tensors="torch-cuda", samples=1, **E4M3)
    assert run.code == 0, run.text
    search = mx.fuzz(quantize, tensors="torch-cuda", seconds=3, **E4M3)
    print(f"\n{search!r}")
    assert search.code in (0, 1), search.text


def test_capture_on_the_gpu(torch, x, tmp_path):
    values = on_gpu(torch, x)
    torch.manual_seed(0)
    layer = torch.nn.Linear(64, 48).to("cuda", torch.bfloat16)
    given = torch.randn(24, 64, device="cuda", dtype=torch.bfloat16)

    def right(x):
        return mx.quantize(x, **E4M3).typed()

    def wrong(x):
        q = mx.quantize(x, **E4M3)
        q.codes[3, 5] ^= 1
        return q.typed()

    def asked(name, what, code):
        folder = tmp_path / name
        torch.cuda.synchronize()
        side = torch.cuda.Stream()
        with mx.capture(folder) as c, torch.cuda.stream(side):
            what(c)
        line = [program(), "check", folder, "--out", tmp_path / (name + ".out")]
        ended = subprocess.run(line, capture_output=True, text=True)
        assert ended.returncode == code, ended.stdout + ended.stderr

    def of_layer(c):
        assert c.watch(layer, model_name="net")
        layer(given)

    asked("right", lambda c: c.wrap(right, **E4M3)(values), 0)
    asked("wrong", lambda c: c.wrap(wrong, **E4M3)(values), 1)
    asked("layer", of_layer, 0)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_bench_with_events(torch, dtype):
    quantize = quantizer_of(torch)
    named = {"tensors": "torch-cuda", "dtype": dtype, **E4M3}
    made = mx.bench(quantize, **named)
    print(f"\n{torch.cuda.get_device_name()}, eager\n{made!r}")
    assert made.right and made.library is None
    assert made.copy.gigabytes_per_second > 100  # no memory of a host: a GPU's
    assert made.share_of_copy < 1.2
    pytest.importorskip("triton")
    fast = mx.bench(quantizer_of(torch, torch.compile), **named)
    print(f"torch.compile\n{fast!r}")
    assert fast.right and fast.function.seconds < made.function.seconds


def test_bench_times_the_gpu_and_not_the_launch(torch):
    def sleeps(x):
        torch.cuda._sleep(20_000_000)  # some 10 ms
        return mx.quantize(torch.ones(4, 32), **E4M3).codes.cuda(), torch.zeros(4, 1).byte().cuda()

    made = mx.bench(sleeps, shape=(4, 32), seconds=0.1, tensors="torch-cuda", **E4M3)
    print(f"\n{made!r}")
    assert not made.right and made.function.seconds > 0.002


def test_a_stream_that_is_not_the_default(torch, x):
    values = on_gpu(torch, x)
    torch.cuda.synchronize()
    right = mx.quantize(x, **E4M3)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        late = torch.zeros_like(values)
        torch.cuda._sleep(100_000_000)  # late is written behind this
        late.copy_(values)
        made = mx.quantize(late, **E4M3)
        twice = made.codes + 0  # behind the copy to the device, on this stream
    stream.synchronize()
    assert (made.codes.cpu().numpy() == right.codes).all()
    assert torch.equal(twice.cpu(), made.codes.cpu())
    with torch.cuda.stream(stream):
        run = mx.run(quantizer_of(torch), level="smoke", tensors="torch-cuda", **E4M3)
        timed = mx.bench(quantizer_of(torch), shape=(64, 64), tensors="torch-cuda", **E4M3)
    assert run.passed and timed.right, run.text


def test_a_second_gpu(torch, x):
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one GPU")
    made = mx.quantize(torch.from_numpy(x).to("cuda:1"), **E4M3)
    assert made.codes.device == made.scales.device == torch.device("cuda:1")


def test_no_fork_after_cuda(torch, x):
    on_gpu(torch, x)
    with pytest.raises(RuntimeError, match="isolate=True forks this process, in which torch"):
        mx.run(quantizer_of(torch), level="smoke", isolate=True, tensors="torch-cuda", **E4M3)


def test_a_fork_before_cuda(torch):
    text = f"""
import sys
sys.path[:0] = {sys.path!r}
import torch, mxcheck as mx
from test_gpu import quantizer_of
assert not torch.cuda.is_initialized()
run = mx.run(quantizer_of(torch), level="smoke", isolate=True, tensors="torch-cuda",
             format="mxfp8-e4m3", dialect="nv")
assert run.passed, run.text
assert not torch.cuda.is_initialized()
"""
    folder = __file__.rpartition("/")[0]
    named = {"capture_output": True, "text": True, "cwd": folder}
    done = subprocess.run([sys.executable, "-B", "-c", text], **named)
    assert done.returncode == 0, done.stderr


def test_a_fault_on_the_gpu_is_a_record(torch):
    """In a process of its own: CUDA does not come back from it."""
    text = f"""
import sys
sys.path[:0] = {sys.path!r}
import torch, mxcheck as mx
def faulty(x):
    index = torch.full((4,), 1 << 30, device=x.device)
    return x.reshape(-1)[index], x
run = mx.run(faulty, level="smoke", tensors="torch-cuda", format="mxfp8-e4m3", dialect="nv")
assert run.code in (1, 3, 4) and not run.passed, run.text
assert run.first_error
print(run.first_error.splitlines()[-1])
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_triton_kernel(torch):
    triton = pytest.importorskip("triton")
    source = pytest.importorskip("triton.language")
    kernel = _cast_kernel(triton, source)

    def cast(x):
        if x.dtype != torch.float32 or x.numel() == 0:
            raise NotImplementedError("float32 alone")
        right = mx.quantize(x, **E4M3)
        powers = torch.exp2(127.0 - right.scales.float().clamp(1, 254))
        scaled = x * powers.repeat_interleave(32, 1)[:, : x.shape[1]]
        codes = torch.empty(x.shape, dtype=torch.float8_e4m3fn, device=x.device)
        kernel[(triton.cdiv(x.numel(), 256),)](scaled.contiguous(), codes, x.numel(), BLOCK=256)
        return codes, right.scales

    # The cast is Triton's and the scales are the oracle's: what is asked is that it runs here.
    run = mx.run(cast, level="smoke", tensors="torch-cuda", **E4M3)
    print(f"\nTriton {triton.__version__}\n{run!r}")
    assert run.first_error is None, run.first_error
    assert run.code in (0, 1), run.text


def _cast_kernel(triton, tl):
    """Triton reads the source of a kernel, so it is a function of a module of its own."""
    import importlib.util
    import pathlib
    import tempfile

    text = """
import triton
import triton.language as tl


@triton.jit
def kernel(values, codes, count, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < count
    x = tl.load(values + places, mask=inside)
    x = tl.minimum(tl.maximum(x, -448.0), 448.0)
    tl.store(codes + places, x.to(tl.float8e4nv), mask=inside)
"""
    path = pathlib.Path(tempfile.mkdtemp(), "cast_kernel.py")
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("cast_kernel", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def test_cupy(cupy, x):
    values, right = cupy.asarray(x), mx.quantize(x, **E4M3)
    made = mx.quantize(values, **E4M3)
    assert isinstance(made.codes, cupy.ndarray) and isinstance(made.scales, cupy.ndarray)
    assert made.codes.device == values.device
    assert (made.codes.get() == right.codes).all() and (made.scales.get() == right.scales).all()
    mx.assert_bits(values, made, **E4M3)
    mx.assert_bits(values, made.typed(), **E4M3)
    mx.assert_bits(values.T, mx.quantize(values.T, axis=0, **E4M3), axis=0, **E4M3)
    back = mx.dequantize(made)
    assert isinstance(back, cupy.ndarray) and (back.get() == mx.dequantize(right)).all()
    d = mx.gemm(made, made)
    assert isinstance(d, cupy.ndarray)
    mx.assert_gemm(d, made, made, model="exact")
    laid = mx.quantize(values, **NVFP4, **LAID)
    mx.assert_bits(values, laid, **NVFP4)
    made.codes[0, 0] ^= 1
    with pytest.raises(AssertionError, match=r"codes\[0, 0\]"):
        mx.assert_bits(values, made, **E4M3)
    print(f"\nCuPy {cupy.__version__}: typed codes are {made.typed().codes.dtype}")


def test_cupy_stream_run_and_bench(cupy, x):
    def quantize(values):
        assert isinstance(values, cupy.ndarray)
        return mx.quantize(values, **E4M3)

    with cupy.cuda.Stream(non_blocking=True):
        values = cupy.asarray(x) * 1
        made = mx.quantize(values, **E4M3)
        assert (made.codes.get() == mx.quantize(x, **E4M3).codes).all()
    run = mx.run(quantize, level="smoke", tensors="cupy", **E4M3)
    assert run.first_error is None and run.passed, f"{run.text}{run.first_error}"
    timed = mx.bench(quantize, shape=(1024, 1024), tensors="cupy", seconds=0.2, **E4M3)
    print(f"\n{timed!r}")
    assert timed.right
    with pytest.raises(RuntimeError, match="isolate=True forks this process, in which"):
        mx.run(quantize, level="smoke", isolate=True, tensors="cupy", **E4M3)


def test_jax(jax, x):
    values, right = jax.device_put(x), mx.quantize(x, **E4M3)
    made = mx.quantize(values, **E4M3)
    assert isinstance(made.codes, jax.Array) and made.codes.devices() == values.devices()
    assert (numpy.asarray(made.codes) == right.codes).all()
    assert (numpy.asarray(made.scales) == right.scales).all()
    typed = made.typed()
    assert (
        typed.codes.dtype == jax.numpy.float8_e4m3fn and typed.codes.devices() == values.devices()
    )
    mx.assert_bits(values, typed.codes, typed.scales, dialect="nv")
    half = values.astype("bfloat16")
    mx.assert_bits(half, mx.quantize(half, **E4M3), **E4M3)
    back = mx.dequantize(made, dtype="bfloat16")
    assert back.dtype == jax.numpy.bfloat16 and back.devices() == values.devices()
    d = mx.gemm(made, made)
    assert d.devices() == values.devices()
    mx.assert_gemm(d, made, made, model="exact")
    # An array of another device than the default one stays there.
    try:
        cpu = jax.device_put(x, jax.devices("cpu")[0])
    except RuntimeError:
        return  # JAX_PLATFORMS leaves the CPU away
    assert mx.quantize(cpu, **E4M3).codes.devices() == cpu.devices()


def test_jax_run_and_bench(jax):
    @jax.jit
    def amax(x):
        return abs(x).max()

    def quantize(values):
        if values.size == 0:
            raise NotImplementedError("a maximum of nothing")
        amax(values).block_until_ready()
        return mx.quantize(values, **E4M3)

    run = mx.run(quantize, level="smoke", tensors="jax", **E4M3)
    print(f"\nJAX {jax.__version__}\n{run!r}")
    assert run.passed, f"{run.text}{run.first_error}"
    timed = mx.bench(quantize, shape=(1024, 1024), tensors="jax", seconds=0.2, **E4M3)
    print(repr(timed))
    assert timed.right and timed.library is None
