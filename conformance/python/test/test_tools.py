"""relate, fuzz, bench and the decorator on Python functions."""

import copy
import pickle

import numpy
import pytest

import mxcheck as mx

E4M3 = {"format": "mxfp8-e4m3", "dialect": "nv"}


def right(x, axis, block_size, format, dialect):
    return mx.quantize(x, format=format, dialect=dialect, axis=axis, block_size=block_size)


def test_relate(tmp_path):
    run = mx.relate(right, samples=2, out=tmp_path, **E4M3)
    assert run.passed and run.code == 0, run.text
    held = {case["verdict"] for case in run.cases}
    assert held == {"pass_exact", "not_supported"} and len(run.cases) > 10
    assert "lanes_change_places: pass_exact" in repr(run) and "<table>" in run._repr_html_()
    assert (tmp_path / "results.jsonl").exists()
    run = mx.relate(right, relations=["repeated", "rows_change_places"], samples=1, **E4M3)
    assert run.passed and len(run.cases) == 2


def test_relate_finds_places_that_count_and_its_line_repeats_it():
    def first_is_special(x):
        q = mx.quantize(x, **E4M3)
        q.codes[:1, :1] ^= 1
        return q

    run = mx.relate(first_is_special, **E4M3)
    assert run.code == 1 and not run.passed and "BROKEN" in run.text
    line = next(line for line in run.text.splitlines() if "mxcheck.replay(first" in line)
    assert eval(line.strip(), {"mxcheck": mx, "first_is_special": first_is_special}).code == 1
    with pytest.raises(mx.NotConformant):
        run.raise_for_status()


def test_relate_of_a_format_that_no_table_has():
    def halves(x):
        """8 elements under the largest exponent, in 4 bits of fraction."""
        rows, columns = x.shape
        count = -(-columns // 8)
        padded = numpy.zeros((rows, count * 8), "float32")
        padded[:, :columns] = numpy.nan_to_num(x.astype("float32"), posinf=0, neginf=0)
        blocks = padded.reshape(rows, count, 8)
        exponents = numpy.frexp(abs(blocks).max(-1))[1]
        codes = numpy.rint(numpy.ldexp(blocks, 4 - exponents[..., None])).astype("int8")
        scales = (exponents % 256).astype("uint8")
        return codes.reshape(rows, -1)[:, :columns].view("uint8"), scales

    words = ["--elements", "u8", "--scales", "u8"]
    run = mx.relate(halves, format="myint5", dialect="mine", block_size=8, options=words)
    assert run.code == 0 and run.passed, f"{run.text}{run.first_error}"
    assert "nothing is claimed" in run.text


@pytest.mark.parametrize("left_out", [0, 1])
def test_relate_of_a_product(left_out):
    def product(a, a_scales, b, b_scales):
        a, b = (
            mx.dequantize(codes, scales, format="mxfp8-e4m3").astype("float64")
            for codes, scales in ((a, a_scales), (b, b_scales))
        )
        with numpy.errstate(invalid="ignore", over="ignore"):
            a[:, a.shape[1] - left_out :] = 0  # a kernel that leaves out the last k
            return (a @ b.T).astype("float32")

    run = mx.relate(product, operation="gemm", format="mxfp8-e4m3", samples=1)
    assert run.code == left_out and run.passed != left_out, run.text
    assert any(case["verdict"] == "pass_exact" for case in run.cases)


def test_a_function_is_asked_for_the_dtype_that_it_can_know():
    def back(codes, scales):
        return mx.dequantize(codes, scales, **E4M3)

    run = mx.run(back, operation="dequantize", level="quick", **E4M3)
    assert run.passed and "pass_exact" in repr(run), run.text
    assert any("no parameter dtype" in case["reason"] for case in run.cases)


def test_fuzz():
    search = mx.fuzz(right, blocks=5000, **E4M3)
    assert search.passed and search.code == 0 and search.finds == [], search.text
    assert "blocks: 5," in repr(search) and "<table>" in search._repr_html_()


def test_a_crash_is_a_record_and_not_the_end():
    import faulthandler
    import os
    import signal

    def crashes(x):
        faulthandler.disable()  # no traceback of a crash that is meant
        os.kill(os.getpid(), signal.SIGSEGV)

    run = mx.relate(crashes, relations="repeated", isolate=True, **E4M3)
    assert run.code == 3 and not run.passed, run.text
    search = mx.fuzz(crashes, blocks=10, isolate=True, **E4M3)
    assert search.code == 3 and not search.passed, search.text


def test_fuzz_finds_shrinks_and_goes_on(tmp_path):
    def one_code_is_wrong(x):
        q = mx.quantize(x, **E4M3)
        q.codes[q.codes == 0x13] = 0x12
        return q

    search = mx.fuzz(one_code_is_wrong, blocks=50000, first=True, corpus=tmp_path, **E4M3)
    assert search.code == 1 and not search.passed, search.text
    assert len(search.finds) == 1 and "shape=1x" in search.finds[0]
    assert mx.replay(one_code_is_wrong, search.finds[0]).code == 1
    assert mx.replay(right, search.finds[0]).code == 0
    assert list((tmp_path / "finds").iterdir())
    again = mx.fuzz(one_code_is_wrong, blocks=60000, corpus=tmp_path, resume=True, **E4M3)
    assert again.code == 1 and "remembered" in again.text, again.text


@pytest.mark.parametrize("tensors", ["numpy", "torch", "jax"])
def test_bench(tensors):
    if tensors != "numpy":
        pytest.importorskip(tensors)
    made = mx.bench(right, shape=(64, 256), tensors=tensors, seconds=0.1, **E4M3)
    assert made.right and "its bits are the oracle's" in repr(made)
    size = 64 * 256 * 5 + 64 * 8
    for row in (made.function, made.copy, made.library):
        assert row.seconds > 0 and row.spread >= 0 and row.bytes == size and row.samples >= 7
        assert row.gigabytes_per_second == pytest.approx(size / row.seconds / 1e9)
    assert 0 < made.share_of_copy
    lines = repr(made).splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["right", "mxcheck.quantize", "copy,"]
    assert "<table>" in made._repr_html_()


def test_bench_of_other_questions():
    def back(codes, scales):
        return mx.dequantize(codes, scales, **E4M3)

    made = mx.bench(back, operation="dequantize", shape=(8, 64), seconds=0.01, **E4M3)
    assert made.right and made.library.what == "mxcheck.dequantize"
    laid = {"packing": "low_first", "scale_layout": "128x4"}
    named = {"format": "nvfp4", "dialect": "te-nvfp4", **laid}
    made = mx.bench(lambda x: mx.quantize(x, **named), shape=(8, 64), seconds=0.01, **named)
    assert made.right and made.function.bytes == 8 * 64 * 4 + 8 * 32 + 128 * 4 + 4

    def fills(x, codes, scales):
        codes[...], scales[...] = mx.quantize(x, **E4M3)

    assert mx.bench(fills, shape=(8, 64), seconds=0.01, **E4M3).right


def test_bench_sees_wrong_bits_and_random_data():
    seen = []

    def wrong(x):
        seen.append(x)
        return mx.quantize(x, format="mxfp8-e4m3", dialect="ocp")

    made = mx.bench(wrong, shape=(64, 64), seconds=0.01, **E4M3)
    assert not made.right and "NOT the oracle's" in repr(made)
    assert all((x != 0).all() and len(numpy.unique(x)) > 4000 for x in seen[:3])
    assert len({id(x) for x in seen}) == 2


def test_bench_waits_for_a_slow_function():
    import time

    def slow(x):
        time.sleep(0.02)
        return mx.quantize(x, **E4M3)

    made = mx.bench(slow, shape=(8, 64), seconds=0.05, **E4M3)
    assert 0.02 <= made.function.seconds < 1
    assert made.library.seconds < 0.02


def test_bench_holds_every_answer():
    calls, kept = [], []

    def once(x):
        calls.append(1)
        return mx.quantize(x, **E4M3) if len(calls) < 2 else None

    def memoises(x):
        kept.append(kept[0] if kept else mx.quantize(x, **E4M3))
        return kept[0]

    def gets_tired(x):
        calls.append(1)
        return mx.quantize(x if len(calls) < 20 else -x, **E4M3)

    def fills_at_first(x, codes, scales):
        calls.append(1)
        if len(calls) < 20:
            codes[...], scales[...] = mx.quantize(x, **E4M3)

    asked = {"shape": (8, 64), "seconds": 0.01, **E4M3}
    with pytest.raises(TypeError, match="NoneType"):
        mx.bench(once, **asked)
    for wrong in (memoises, gets_tired, fills_at_first):
        calls.clear()
        assert not mx.bench(wrong, **asked).right, wrong.__name__


@pytest.mark.parametrize(
    "layout, is_right", [("te-padded", True), ("32x8", True), ("128x4", False)]
)
def test_bench_lets_pads_be_what_they_may_be(layout, is_right):
    def fills_pads(x):
        made = mx.quantize(x, scale_layout=layout, **E4M3)
        made.scales[made.scales == 0] = 0xA5
        return made

    asked = {"shape": (100, 96), "seconds": 0.01, "scale_layout": layout, **E4M3}
    assert mx.bench(fills_pads, **asked).right == is_right
    wrong = {**E4M3, "dialect": "ocp"}
    assert not mx.bench(lambda x: mx.quantize(x, scale_layout=layout, **wrong), **asked).right


@mx.device(**E4M3)
def at_home(x):
    return mx.quantize(x, **E4M3)


class Kernels:
    def __init__(self, dialect):
        self.dialect = dialect

    @mx.device(**E4M3)
    def quantize(self, x):
        return mx.quantize(x, format="mxfp8-e4m3", dialect=self.dialect)


def test_a_decorated_function_is_pickled_by_its_name():
    assert pickle.loads(pickle.dumps(at_home)) is at_home and copy.deepcopy(at_home) is at_home
    method = pickle.loads(pickle.dumps(Kernels("nv").quantize))
    assert method.run(level="smoke").passed


def test_a_decorated_method():
    x = numpy.ones((1, 32), "float32")
    assert Kernels("nv").quantize(x).dialect == "nv"
    assert Kernels("nv").quantize.run(level="smoke").passed
    assert Kernels("ocp").quantize.run(level="smoke").code == 1
    assert Kernels.quantize(Kernels("ocp"), x).dialect == "ocp"


def test_settings_of_decorators_are_merged_and_none_is_dropped():
    both = mx.device(dialect="nv", tensors="numpy")(
        mx.device(format="mxfp8-e4m3", dialect="ocp")(right)
    )
    assert both.settings == {**E4M3, "tensors": "numpy"} and both.run(level="smoke").passed
    with pytest.raises(TypeError, match="block_size=16, and run takes no block_size"):
        mx.device(block_size=16, **E4M3)(right).run(level="smoke")
    with pytest.raises(TypeError, match="packing='low_first', and identify"):
        mx.device(packing="low_first", format="nvfp4")(right).identify()
    assert mx.device(operation="quantize", **E4M3)(right).identify().code == 0
    with pytest.raises(TypeError, match="5 is no function"):
        mx.device(**E4M3)(5)


def test_the_decorator(tmp_path):
    @mx.device(tensors="numpy", **E4M3)
    def quantizer(x):
        """Mine."""
        return mx.quantize(x, **E4M3)

    assert quantizer.__name__ == "quantizer" and quantizer.__doc__ == "Mine."
    assert quantizer(numpy.ones((1, 32), "float32")).codes.shape == (1, 32)
    assert quantizer.run(level="smoke").raise_for_status().cases
    assert mx.run(quantizer, level="smoke", **E4M3).passed
    assert quantizer.relate(relations="repeated", samples=1).passed
    assert quantizer.fuzz(blocks=500).passed
    assert quantizer.bench(shape=(4, 32), seconds=0.01).right
    assert "nv" in quantizer.identify().sentence
    assert quantizer.run(level="smoke", dialect="ocp").code == 1
    case = quantizer.run(level="smoke").cases[0]["case"]
    assert quantizer.replay(case).code == 0
    with pytest.raises(TypeError, match="dialekt"):
        mx.device(format="mxfp8-e4m3", dialekt="nv")


@pytest.mark.parametrize(
    "call, error, told",
    [
        (lambda: mx.relate(None, **E4M3), TypeError, "no function"),
        (lambda: mx.relate(right, operation="swizzle", **E4M3), ValueError, "swizzle"),
        (lambda: mx.fuzz(right, format="mxfp8-e4m", dialect="nv"), ValueError, "did you mean"),
        (lambda: mx.bench(right, operation="convert", **E4M3), ValueError, "convert"),
        (lambda: mx.bench(right, shape=(0, 32), **E4M3), ValueError, "shape"),
        (lambda: mx.bench(right, shape=7, **E4M3), ValueError, "shape"),
        (lambda: mx.bench(right, shape=(4.5, 32), **E4M3), ValueError, "shape"),
        (lambda: mx.bench(right, tensors="torch:cuda", **E4M3), ValueError, "torch:cuda"),
        (lambda: mx.fuzz(right, blocks=0, **E4M3), ValueError, "blocks is 0"),
        (lambda: mx.fuzz(right, blocks="many", **E4M3), ValueError, "many"),
        (lambda: mx.relate(right, format=["mxfp8-e4m3"]), TypeError, "one name"),
        (lambda: mx.relate(right, format="mxfp8-e4m3", dialect=["nv"]), TypeError, "dialect"),
        (lambda: mx.relate(right, options=[5], **E4M3), TypeError, "options"),
        (lambda: mx.bench(right, dtype="float64", **E4M3), TypeError, "float64"),
        (lambda: mx.bench(lambda x: (x, x), shape=(4, 32), **E4M3), TypeError, "float32"),
        (lambda: mx.bench(lambda x: x, shape=(4, 32), **E4M3), TypeError, "2 arrays"),
    ],
)
def test_bad_arguments(call, error, told):
    with pytest.raises(error, match=told):
        call()


def test_wrong_words_are_the_programs_sentences():
    assert mx.relate(right, relations="nothing", **E4M3).code == 2
    assert mx.fuzz(right, seconds="long", **E4M3).code == 2


def test_a_gpu_that_is_not_there_is_a_sentence():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is one")
    for call in (mx.run, mx.bench):
        with pytest.raises(RuntimeError, match="sees no GPU"):
            call(right, tensors="torch-cuda", **E4M3)


def test_jax_is_not_forked():
    pytest.importorskip("jax")
    with pytest.raises(RuntimeError, match="isolate=True forks"):
        mx.run(right, tensors="jax", isolate=True, level="smoke", **E4M3)
