"""Captured calls: what is kept, what is not, and what the program makes of it."""

import hashlib
import json
import os
import pathlib
import resource
import subprocess
import threading
import warnings

import numpy
import pytest

import mxcheck as mx
from mxcheck._run import program

NV = {"format": "mxfp8-e4m3", "dialect": "nv"}


def right(x):
    return mx.quantize(x, **NV)


def wrong(x):
    codes, scales = mx.quantize(x, **NV)
    codes[3, 5] ^= 1
    return codes, scales


def check(folder, *arguments):
    """What `mxcheck check` says of a folder: exit code and text."""
    line = [program(), "check", folder, "--out", f"{folder}.out", *arguments]
    ended = subprocess.run(line, capture_output=True, text=True, timeout=300)
    return ended.returncode, ended.stdout + ended.stderr


def manifest(folder):
    return json.loads((folder / "capture.json").read_text())


def words_of(path):
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    return json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["mxcheck_call"])


def tensor_of(path, name):
    """The bytes of a tensor, in its shape."""
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    told = json.loads(data[8:begin])[name]
    first, end = told["data_offsets"]
    return numpy.frombuffer(data[begin + first : begin + end], "uint8").reshape(*told["shape"], -1)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "captured"


def test_right_calls_are_kept_and_pass(folder, x):
    with mx.capture(folder) as c:
        quantizer = c.wrap(right, **NV)
        for values in (x, x.astype("float16"), x[::2, 32:], x.T):
            expected = right(values)
            codes, scales = quantizer(values)
            assert (codes == expected.codes).all() and (scales == expected.scales).all()
    assert "right: 4 of 4 calls kept" in c.summary
    told = manifest(folder)
    assert told["complete"] and told["mxcheck_capture"] == 1 and told["stopped"] == ""
    assert told["made_by"]["numpy"] == numpy.__version__ and told["made_by"]["commit"]
    for call in told["calls"]:
        assert hashlib.sha256((folder / call["file"]).read_bytes()).hexdigest() == call["sha256"]
    code, text = check(folder)
    assert code == 0 and "captured right: 4 of 4 calls kept" in text, text


def test_what_differs_is_a_case_and_a_line(folder, x):
    with mx.capture(folder) as c:
        c.wrap(wrong, **NV)(x)
    code, text = check(folder)
    assert code == 1 and "shape=1x32" in text and f"--answers '{folder}'" in text, text
    line = next(line for line in text.splitlines() if "mxcheck replay" in line).strip()
    bin = os.path.dirname(os.path.abspath(program()))
    where = {**os.environ, "PATH": bin + os.pathsep + os.environ["PATH"]}
    again = subprocess.run(line, shell=True, env=where, capture_output=True, text=True)
    assert again.returncode == 1 and "-1 code" in again.stdout or "+1 code" in again.stdout


def test_a_capture_is_judged_by_another_dialect(folder, x):
    with mx.capture(folder) as c:
        c.wrap(right, **NV)(x)
    assert check(folder, "--dialect", "ocp")[0] == 1
    assert check(folder, "--dialect", "nv")[0] == 0


@pytest.mark.parametrize(
    "named",
    [
        {"format": "nvfp4", "dialect": "te-nvfp4"},
        {"format": "nvfp4", "dialect": "te-nvfp4", "packing": "low_first", "scale_layout": "128x4"},
        {"format": "mxfp4-e2m1", "packing": "low_first"},
        {"format": "mxfp6-e3m2", "axis": 0},
        {"format": "mxint8", "packing": "inline"},
        {"format": "fp8-e4m3-128x128", "dialect": "te-fp8-block"},
        {"format": "fp8-e4m3-tensor", "dialect": "te-fp8-current"},
        {"format": "mxfp8-e5m2", "block_size": 16},
    ],
)
def test_formats_and_layouts(folder, x, named):
    with mx.capture(folder) as c:
        c.wrap(lambda x: mx.quantize(x, **named), name="q", **named)(x)
    assert "1 of 1 calls kept" in c.summary, c.summary
    code, text = check(folder)
    assert code == 0, text


def test_the_dtype_of_codes_tells_the_format(folder, x):
    pytest.importorskip("ml_dtypes", reason="NumPy has FP8 dtypes by it alone")
    with mx.capture(folder) as c:
        c.wrap(lambda x: mx.quantize(x, **NV).typed(), name="q", dialect="nv")(x)
    code, text = check(folder)
    assert code == 0, text


def test_bounds_and_samples_are_counted(folder, x):
    with mx.capture(folder, sample=3, calls=4) as c:
        one, two = c.wrap(right, name="one", **NV), c.wrap(right, name="two", **NV)
        for _ in range(8):
            one(x)
            two(x)
    functions = manifest(folder)["functions"]
    assert functions["one"]["seen"] == functions["two"]["seen"] == 8
    kept = [functions[name]["kept"] for name in ("one", "two")]
    assert sum(kept) == 4 and functions["one"]["left_out"]["left out by sample"] == 5
    assert functions["two"]["left_out"]["left out by calls"] == 3 - kept[1]
    assert check(folder)[0] == 0


def test_the_limit_holds_for_bytes(folder, x):
    limit = 3 * x.nbytes
    with mx.capture(folder, limit=limit) as c:
        quantizer = c.wrap(right, **NV)
        for _ in range(9):
            quantizer(x)
    size = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    assert 0 < size <= limit and "left out by limit" in c.summary
    assert len(list(folder.glob("*.safetensors"))) == len(manifest(folder)["calls"]) == 2


def test_rows_of_large_tensors(folder, x):
    with mx.capture(folder, rows=7) as c:
        c.wrap(right, **NV)(x.reshape(4, 16, 96))
        c.wrap(wrong, name="wrong", **NV)(x)
    words = words_of(folder / "000001.safetensors")
    assert words["rows"]["of"] == 64 and len(words["rows"]["kept"]) == 7
    assert words["rows"]["kept"][0] == 0 and words["rows"]["kept"][-1] == 63
    assert "shape=7x96" in words["case"] and words["shape"] == [4, 16, 96]
    code, text = check(folder)
    assert code == 0, text  # row 3, which is wrong, is none of those kept


def test_what_is_raised_is_recorded_and_raised(folder, x):
    def raises(x):
        raise ZeroDivisionError("a kernel of its own")

    def refuses(x):
        raise NotImplementedError("not for this shape")

    with mx.capture(folder) as c:
        with pytest.raises(ZeroDivisionError):
            c.wrap(raises, **NV)(x)
        with pytest.raises(NotImplementedError):
            c.wrap(refuses, **NV)(x)
    code, text = check(folder)
    assert code == 3 and "ZeroDivisionError: a kernel of its own" in text, text
    cases = pathlib.Path(f"{folder}.out/results.jsonl").read_text()
    assert '"verdict":"device_error"' in cases and '"verdict":"not_supported"' in cases


def test_arrays_that_do_not_fit_are_answers(folder, x):
    short = lambda x: (right(x).codes, right(x).scales[:, :2])  # noqa: E731
    with mx.capture(folder) as c:
        c.wrap(short, name="short", **NV)(x)
    code, text = check(folder)
    assert code == 3 and "scales has shape (64, 2)" in text.replace("have", "has"), text


def test_calls_without_a_case_are_counted(folder, x):
    with mx.capture(folder) as c:
        quantizer = c.wrap(lambda x: right(numpy.float32(x)), name="q", **NV)
        quantizer(numpy.arange(64).reshape(2, 32))
        quantizer(x)
        c.wrap(lambda x: None, name="nothing", **NV)(x)
    code, text = check(folder)
    assert code == 4, text
    assert "x has elements of int64" in text and "gave= says where they are" in text


def test_what_a_kernel_fills_and_what_it_changes(folder, x):
    def kernel(x, codes, scales):
        codes[:], scales[:] = right(x)
        x[:] = 0

    with mx.capture(folder) as c:
        recorded = c.wrap(kernel, gave=(1, "scales"), **NV)
        recorded(x, numpy.empty(x.shape, "uint8"), scales=numpy.empty((64, 3), "uint8"))
    code, text = check(folder)
    assert code == 0 and not x.any(), text


def test_a_number_that_is_given(folder, x):
    named = {"format": "nvfp4", "dialect": "te-nvfp4"}
    quantizer = lambda x, amax: mx.quantize(x, tensor_scale=amax, **named)  # noqa: E731
    with mx.capture(folder) as c:
        c.wrap(quantizer, name="q", tensor_scale=1, **named)(x, 3e4)
    words = words_of(folder / "000001.safetensors")["case"]
    assert f"tensor=0x{numpy.float32(3e4).view('uint32'):08x}" in words
    assert check(folder)[0] == 0


def test_threads(folder, x):
    with mx.capture(folder) as c:
        quantizer = c.wrap(right, **NV)
        threads = [
            threading.Thread(target=lambda: [quantizer(x) for _ in range(5)]) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert manifest(folder)["functions"]["right"] == {
        "seen": 40,
        "kept": 40,
        "left_out": {},
        "no_case": {},
        "lost": {},
    }
    assert check(folder)[0] == 0


def test_captures_are_nested(tmp_path, x):
    @mx.capture.function(**NV)
    def decorated(x):
        return right(x)

    decorated(x)
    with mx.capture(tmp_path / "outer") as outer:
        decorated(x)
        with mx.capture(tmp_path / "inner") as inner:
            outer.wrap(inner.wrap(decorated, name="wrapped", **NV), name="wrapped", **NV)(x)
        decorated(x)
    kept = [manifest(tmp_path / name)["functions"] for name in ("outer", "inner")]
    name = decorated.__qualname__
    assert [each["wrapped"]["kept"] for each in kept] == [1, 1]
    assert [each[name]["kept"] for each in kept] == [3, 1]
    assert check(tmp_path / "outer")[0] == check(tmp_path / "inner")[0] == 0
    assert inner.folder.name == "inner"


def test_patches_are_undone_in_any_order(tmp_path, x):
    class Library:
        to_mx = staticmethod(right)

    before = vars(Library)["to_mx"]
    outer, inner = mx.capture(tmp_path / "a"), mx.capture(tmp_path / "b")
    outer.__enter__()
    outer.patch(Library, "to_mx", **NV)
    inner.__enter__()
    inner.patch(Library, "to_mx", **NV)
    Library.to_mx(x)
    outer.__exit__(None, None, None)  # before the one on top of it
    Library.to_mx(x)
    inner.__exit__(None, None, None)
    Library.to_mx(x)
    kept = [manifest(tmp_path / name)["functions"]["Library.to_mx"]["kept"] for name in "ab"]
    assert kept == [1, 2]
    with mx.capture(tmp_path / "c") as c:
        Library.to_mx = before
        c.patch(Library, "to_mx", **NV)
    assert vars(Library)["to_mx"] is before


def test_a_full_disk_ends_the_recording_alone(folder, x):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with pytest.warns(mx.CaptureWarning, match="cannot be written"), mx.capture(folder) as c:
        quantizer = c.wrap(right, **NV)
        quantizer(x)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, hard))
        try:
            assert (quantizer(x).codes == right(x).codes).all()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        quantizer(x)
    told = manifest(folder)
    assert not told["complete"] and "000002.safetensors" in told["stopped"]
    assert told["functions"]["right"]["kept"] == 1
    assert told["functions"]["right"]["lost"] == {"not written": 1, "after it had stopped": 1}
    assert sorted(path.name for path in folder.iterdir()) == ["000001.safetensors", "capture.json"]
    code, text = check(folder)
    assert code == 4 and "the capture stopped" in text, text


def test_an_interrupt_and_a_process_that_is_killed(folder, x):
    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        with mx.capture(folder) as c:
            c.wrap(right, **NV)(x)
            c.wrap(interrupted, name="interrupted", **NV)(x)
    assert manifest(folder)["functions"]["interrupted"]["lost"] == {"interrupted": 1}
    code, text = check(folder)
    assert code == 4 and "not judged: interrupted: 1 interrupted" in text, text

    killed = folder.with_name("killed")
    pid = os.fork()
    if pid == 0:
        with mx.capture(killed) as c:
            c.wrap(right, **NV)(x)
            (killed / "000002.safetensors.partial").write_bytes(b"half")
            os._exit(9)
    os.waitpid(pid, 0)
    code, text = check(killed)
    assert code == 4 and "INCOMPLETE: not judged: the capture did not end" in text, text


def test_a_file_that_was_changed_is_refused(folder, x):
    with mx.capture(folder) as c:
        c.wrap(right, **NV)(x)
    path = folder / "000001.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    code, text = check(folder)
    assert code == 2 and "its digest is another" in text, text


def test_what_is_refused_at_once(folder, x):
    with pytest.raises(ValueError, match="did you mean"):
        with mx.capture(folder) as c:
            c.wrap(right, format="mxfp8-e4m4")
    with pytest.raises(FileExistsError, match="overwrites nothing"):
        mx.capture(folder).__enter__()
    with pytest.raises(ValueError, match="sample is 0"):
        mx.capture(folder, sample=0)
    with pytest.raises(ValueError, match="random bits are not recorded"):
        stochastic = next(
            d for d in mx.list("dialects") if "stochastic" in json.dumps(d.get("decisions", d))
        )
        c.wrap(right, dialect=stochastic["name"])
    with pytest.raises(ValueError, match="is not open"):
        c.patch(pathlib, "Path", **NV)


def test_the_values_of_a_call_go_to_other_commands(folder, x):
    with mx.capture(folder) as c:
        c.wrap(right, **NV)(x)
    path = folder / "000001.safetensors"
    for line in (
        ["identify", "--file", path, "--original", path],
        ["run", "--input", path, "--dialect", "nv", "--out", folder.with_name("run")],
    ):
        ended = subprocess.run([program(), *line], capture_output=True, text=True)
        assert ended.returncode == 0, ended.stdout + ended.stderr


# --- products ------------------------------------------------------------------------------------


def factors_of(x):
    return x * numpy.exp2(numpy.arange(96) // 16 - 3).astype("float32")  # scales differ in a row


def factors(x, **named):
    x = factors_of(x)
    return mx.quantize(x, **named), mx.quantize(x[:40] * 3, **named)


@pytest.mark.parametrize(
    "named, factor",
    [
        ({"format": "mxfp8-e4m3", "dialect": "nv"}, "mxfp8-e4m3"),
        ({"format": "mxfp4-e2m1", "dialect": "ocp"}, "mxfp4-e2m1"),
        ({"format": "fp8-e4m3-1x128", "dialect": "te-fp8-block"}, "e4m3:1x128"),
        ({"format": "fp8-e4m3-128x128", "dialect": "te-fp8-block"}, "e4m3:128x128"),
        ({"format": "fp8-e4m3-tensor", "dialect": "te-fp8-current"}, "e4m3:tensor"),
    ],
)
def test_products_of_factors_with_scales(folder, x, named, factor):
    a, b = factors(x, **named)

    def kernel(a_codes, a_scales, b_codes, b_scales):
        return mx.gemm(
            mx.Quantized(a_codes, a_scales, None, a.format, a.dialect, -1),
            mx.Quantized(b_codes, b_scales, None, b.format, b.dialect, -1),
        )

    def wrong(*four):
        d = kernel(*four)
        d[0, 0] *= 2
        return d

    with mx.capture(folder, rows=None if "128" in factor else 16) as c:
        c.wrap_gemm(kernel, a=factor)(a.codes, a.scales, b.codes, b.scales)
    code, text = check(folder)
    assert code == 0, text
    with mx.capture(folder.with_name("wrong")) as c:
        c.wrap_gemm(wrong, a=factor)(a.codes, a.scales, b.codes, b.scales)
    code, text = check(folder.with_name("wrong"))
    assert code == 1 and f"mxcheck replay 'gemm a={factor}" in text, text


def test_products_of_values_packed_factors_and_filled_outputs(folder, x):
    named = {"format": "mxfp4-e2m1", "dialect": "ocp", "packing": "low_first"}
    a, b = factors(x, **named)

    def kernel(out, a_codes, a_scales, b_codes, b_scales):
        out[:] = mx.gemm(a, b)

    with mx.capture(folder) as c:
        out = numpy.empty((64, 40), "float32")
        recorded = c.wrap_gemm(
            kernel, a="mxfp4-e2m1", arguments=(1, 2, 3, 4), packing="low_first", gave=0
        )
        recorded(out, a.codes, a.scales, b.codes, b.scales)
        half = x.astype("float16") / 256
        c.wrap_gemm(mx.gemm, a="f16", arguments=(0, None, 1, None), name="f16")(half, half[:8])
        with pytest.raises(ValueError):
            c.wrap_gemm(mx.gemm, a="f16", arguments=(0, None, 1, None), name="short")(
                half, half[:8, :32]
            )
    assert manifest(folder)["functions"]["short"]["no_case"]
    # In both factors at once a product does not tell the order of nibbles.
    plain = mx.quantize(factors_of(x), format="mxfp4-e2m1", dialect="ocp").codes
    assert (tensor_of(folder / "000001.safetensors", "a")[..., 0] == plain).all()
    code, text = check(folder)
    assert code == 4 and "factors of shapes (64, 96) and (8, 32)" in text, text
    with pytest.raises(ValueError, match="there is no factor"):
        c.wrap_gemm(mx.gemm, a="e4m3:7x7")
    with pytest.raises(ValueError, match="there is no model"):
        c.wrap_gemm(mx.gemm, a="bf16", model="bounded:blackwel")


# --- torch ---------------------------------------------------------------------------------------


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="layers are those of torch")


def layers(torch, dtype):
    torch.manual_seed(0)
    first, second = torch.nn.Linear(64, 48), torch.nn.Linear(48, 32, bias=False)
    return torch.nn.Sequential(first, torch.nn.ReLU(), second).to(dtype)


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float16"])
def test_linear_layers(folder, torch, name):
    dtype = getattr(torch, name)
    model, given = layers(torch, dtype), torch.randn(3, 8, 64, dtype=dtype)
    expected = model(given)
    with mx.capture(folder) as c:
        assert c.watch(model, model_name="net") == ["net.0", "net.2"]
        assert torch.equal(model(given), expected)
    assert torch.equal(model(given), expected) and "forward" not in vars(model[0])
    assert "gemm a=" in words_of(folder / "000001.safetensors")["case"]
    code, text = check(folder)
    assert code == 0, text


def test_a_layer_that_multiplies_wrongly(folder, torch):
    model = layers(torch, torch.bfloat16)
    plain = torch.nn.functional.linear

    def wrong(x, weight, bias=None):
        d = plain(x, weight, bias)
        d[2, 3] += 1
        return d

    torch.nn.functional.linear = wrong
    try:
        with mx.capture(folder) as c:
            c.watch(model)
            model(torch.randn(8, 64, dtype=torch.bfloat16))
    finally:
        torch.nn.functional.linear = plain
    code, text = check(folder)
    assert code == 1 and "mxcheck replay 'gemm a=bf16 b=bf16" in text, text


def test_functional_linear_in_part(folder, torch):
    x, weight = torch.randn(100, 64), torch.randn(72, 64)
    with mx.capture(folder, rows=16) as c:
        c.watch_functional()
        torch.nn.functional.linear(x[:, ::1], weight, torch.randn(72))
        torch.nn.functional.linear(x.t().contiguous().t(), weight.double().float())
        with pytest.raises(RuntimeError):
            torch.nn.functional.linear(x, weight[:, :32])
        torch.nn.functional.linear(x.double(), weight.double())
    words = words_of(folder / "000001.safetensors")
    assert "shape=16x16x64" in words["case"]
    assert words["rows"]["of"] == 100 and words["columns"]["of"] == 72
    told = manifest(folder)["functions"]["functional.linear"]
    assert told["kept"] == 2 and told["seen"] == 4 and sum(told["no_case"].values()) == 2
    code, text = check(folder)
    assert code == 4 and "float64" in text, text


def test_autocast(folder, torch):
    model = layers(torch, torch.float32)
    with mx.capture(folder) as c:
        c.watch(model)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            model(torch.randn(8, 64))
    words = words_of(folder / "000001.safetensors")
    assert words["autocast"] == "bfloat16" and "a=bf16" in words["case"]
    code, text = check(folder)
    assert code == 0, text


def test_layers_of_others_are_left_alone(folder, torch):
    class Own(torch.nn.Linear):
        def forward(self, x):
            return super().forward(x) * 2

    with mx.capture(folder) as c:
        with pytest.raises(ValueError, match="no torch.nn.Linear"):
            c.watch(torch.nn.Sequential(Own(8, 8)))
        with pytest.raises(ValueError, match="there is no model"):
            c.watch(torch.nn.Linear(8, 8), bound="bounded:blackwel")


def test_tensors_of_torch(folder, torch):
    values = torch.randn(64, 96).to(torch.bfloat16)
    with mx.capture(folder) as c:
        quantizer = c.wrap(lambda x: mx.quantize(x, **NV).typed(), name="q", **NV)
        quantizer(values)
        quantizer(values.t()[::3])  # no rows of memory
        quantizer(torch.empty(0, 32))
        fp8 = torch.randn(8, 32).to(torch.float8_e4m3fn)
        c.wrap(lambda x: mx.quantize(x.float(), **NV), name="fp8", **NV)(fp8)
        c.wrap(
            lambda x: mx.quantize(x, format="mxfp4-e2m1", packing="low_first").typed(),
            format="mxfp4-e2m1",
            packing="low_first",
            name="fp4",
        )(values)
    code, text = check(folder)
    assert code == 4 and "float8_e4m3fn" in text, text
    assert manifest(folder)["functions"]["q"]["kept"] == 3
    assert "differ" not in text or "0 of" in text


def test_what_torch_compiles_is_no_call(folder, torch):
    with mx.capture(folder) as c, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = layers(torch, torch.float32)
        c.watch(model)
        compiled = torch.compile(model, backend="eager")
        assert torch.isfinite(compiled(torch.randn(4, 64))).all()
    assert all(each["kept"] == 0 for each in manifest(folder)["functions"].values())


def test_deepcopies_and_state(folder, torch):
    import copy

    model = layers(torch, torch.float32)
    with mx.capture(folder) as c:
        c.watch(model)
        twin = copy.deepcopy(model)
        twin.load_state_dict(model.state_dict())
        with torch.no_grad():
            twin[0].weight.zero_()
            twin[0].bias.zero_()
        assert not twin[0](torch.randn(4, 64)).any()
    assert model[0].weight.any() and manifest(folder)["functions"] == {}
