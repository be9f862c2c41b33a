"""Python functions that multiply, as devices of the program."""

import numpy
import pytest

import mxcheck as mx

FP8 = ["mxfp8-e4m3", "mxfp8-e5m2"]

# Two faults that Triton 3.6's tl.dot_scaled was seen to have on Hopper, as the program says them.
SPECIALS_AS_NUMBERS = ("a number for NaN", "a number for Inf")
LOWEST_SCALE_AS_ZERO = ("scales of E8M0 code 0, which are 2^-127, are flushed to 0",)


def values(codes, scales, form, specials_as_numbers=False, lowest_scale=2.0**-127):
    """A factor in binary64, in which every product of two of its numbers is exact."""
    ones = numpy.full(scales.shape, 127, "uint8")
    wide = mx.dequantize(codes, ones, format=form, dialect="ocp").astype("float64")
    if specials_as_numbers and form == "mxfp8-e5m2":
        magnitude = codes & 127
        numbers = numpy.ldexp(1 + (codes & 3) / 4, 16) * numpy.where(codes & 128, -1, 1)
        wide = numpy.where(magnitude >= 0x7C, numbers, wide)
    scale = numpy.ldexp(1.0, scales.astype(int) - 127)
    scale[scales == 0] = lowest_scale
    scale[scales == 255] = numpy.nan
    return wide * scale.repeat(32, axis=1)[:, : wide.shape[1]]


def product(**fault):
    def gemm(a, a_scales, b, b_scales, a_format, b_format):
        with numpy.errstate(invalid="ignore", over="ignore"):
            wide = values(a, a_scales, a_format, **fault) @ values(b, b_scales, b_format, **fault).T
            return wide.astype("float32")

    return gemm


def families(run):
    """The data in which a case failed."""
    failed = (case["case"] for case in run.cases if case["verdict"] == "fail")
    return {case.split("data=")[1].split()[0] for case in failed}


@pytest.mark.once
def test_a_right_product_passes():
    run = mx.run(product(), operation="gemm", format=FP8, level="quick")
    assert run.passed, f"{run.text}\n{run.first_error}"
    compared = [case for case in run.cases if case["verdict"] != "not_supported"]
    told = " ".join(case["case"] for case in compared)
    assert len(compared) > 80 and "model=bounded" in told
    assert "b=mxfp8-e5m2" in told and "mxfp4" not in told and "output=bf16" not in told


@pytest.mark.parametrize(
    "fault, found, told",
    [
        ({"specials_as_numbers": True}, {"gemm.exact-specials"}, SPECIALS_AS_NUMBERS),
        ({"lowest_scale": 0.0}, {"gemm.lowest-scale"}, LOWEST_SCALE_AS_ZERO),
    ],
)
def test_what_hopper_was_seen_to_do_is_found(fault, found, told):
    run = mx.run(product(**fault), operation="gemm", format=FP8, level="smoke")
    assert run.code == 1 and families(run) == found, run.text
    assert all(words in run.text for words in told)
    line = next(line for line in run.text.splitlines() if "mxcheck.replay(gemm, " in line)
    assert found.pop() in line
    again = eval(line.strip(), {"mxcheck": mx, "gemm": product(**fault)})
    assert again.code == 1, again.text
    assert eval(line.strip(), {"mxcheck": mx, "gemm": product()}).passed


@pytest.mark.once
def test_everything_it_may_name():
    pytest.importorskip("ml_dtypes")  # a bias is bfloat16 beside a D of float32

    def gemm(a, a_scales, b, b_scales, *, alpha, beta, c, bias, epilogue, batches, **named):
        forms = named["a_format"], named["b_format"]
        if named["accumulation"] or named["dtype"] != "float32" or a_scales is None:
            raise NotImplementedError("float32 of MX alone")
        if not set(forms) <= set(FP8) or batches > 1 or epilogue not in (None, "bias", "bias-relu"):
            raise NotImplementedError("a product of FP8, with a bias or without")
        seen.add((alpha, beta, c is None, bias is None))
        wide = values(a, a_scales, forms[0]) @ values(b, b_scales, forms[1]).T * alpha
        wide += 0 if c is None else beta * c.astype("float64")
        wide += 0 if bias is None else bias.astype("float64")
        wide = numpy.maximum(wide, 0) if epilogue == "bias-relu" else wide
        return wide.astype("float32")

    seen = set()
    with numpy.errstate(invalid="ignore", over="ignore"):
        run = mx.run(gemm, operation="gemm", format=FP8, level="quick")
    assert run.passed, f"{run.text}\n{run.first_error}"
    assert len(seen) > 4 and {one[2] for one in seen} == {one[3] for one in seen} == {True, False}


@pytest.mark.once
def test_plain_factors_have_no_scales():
    def gemm(a, a_scales, b, b_scales, a_format):
        if a_format != "f32" or a_scales is not None:
            raise NotImplementedError("float32 alone")
        return (a.astype("float64") @ b.T.astype("float64")).astype("float32")

    run = mx.run(gemm, operation="gemm", level="quick")
    assert run.passed and any("a=f32" in case["case"] for case in run.cases), run.text
    assert {case["verdict"] for case in run.cases} > {"not_supported"}


@pytest.mark.parametrize(
    "spoil, told",
    [
        (lambda d: d.astype("float64"), "float64"),
        (lambda d: d.T[:-1], "shape"),
        (lambda d: (d, d), "1 arrays are asked"),
        (lambda d: None, "None"),
    ],
)
def test_wrong_products_are_sentences(spoil, told):
    def gemm(a, a_scales, b, b_scales):
        return spoil(numpy.zeros((a.shape[0], b.shape[0]), "float32"))

    run = mx.run(gemm, operation="gemm", format=FP8, level="smoke")
    assert run.code != 0 and any(told in case["reason"] for case in run.cases), run.text


def test_a_product_has_no_dialect():
    with pytest.raises(ValueError, match="no dialect"):
        mx.run(product(), operation="gemm", dialect="nv", format=FP8)


def grouped(a, a_scales, b, b_scales, a_format, b_format, offsets):
    wide_a, wide_b = values(a, a_scales, a_format), values(b, b_scales, b_format)
    if offsets is None:
        return (wide_a @ wide_b.T).astype("float32")
    parts = wide_b.reshape(len(offsets) - 1, -1, wide_b.shape[1])
    d = numpy.zeros((len(a), parts.shape[1]), "float32")
    for part, first, end in zip(parts, offsets, offsets[1:]):
        d[first:end] = wide_a[first:end] @ part.T
    return d


def grouped_cases(run):
    return [case for case in run.cases if "groups=" in case["case"]]


def test_grouped_products_are_asked_of_who_names_offsets():
    with numpy.errstate(invalid="ignore", over="ignore"):
        run = mx.run(grouped, operation="gemm", format=FP8, level="smoke")
    assert run.passed, f"{run.text}\n{run.first_error}"
    verdicts = {case["verdict"] for case in grouped_cases(run)}
    assert verdicts == {"pass_exact", "not_supported"}  # of scales in tiles, and of bfloat16
    others = grouped_cases(mx.run(product(), operation="gemm", format=FP8, level="smoke"))
    assert {case["verdict"] for case in others} == {"not_supported"}
    assert any("no parameter offsets" in case["reason"] for case in others)


def test_a_group_with_the_next_ones_b_is_named():
    def shifted(a, a_scales, b, b_scales, a_format, b_format, offsets=None):
        if offsets is not None:
            n = len(b) // (len(offsets) - 1)
            b, b_scales = (numpy.concatenate([x[n:], x[-n:]]) for x in (b, b_scales))
        return grouped(a, a_scales, b, b_scales, a_format, b_format, offsets)

    run = mx.run(shifted, operation="gemm", format=FP8, level="smoke")
    assert run.code == 1 and "a group takes B of the next" in run.text, run.text


@pytest.mark.parametrize("form", ["mxfp8-e4m3", "nvfp4", None])
def test_each_group_is_a_product_of_its_own(form):
    random = numpy.random.default_rng(5)
    x, w = random.normal(size=(11, 96)), random.normal(size=(4, 5, 96))
    x, w = x.astype("float32"), w.astype("float32")

    def factor(array):
        return array if form is None else mx.quantize(array, format=form, dialect=DIALECTS[form])

    alpha = 0.125 if form == "nvfp4" else None
    offsets = numpy.array([0, 3, 3, 9, 10], "int32")
    d = mx.grouped_gemm(factor(x), factor(w), offsets, alpha=alpha)
    assert d.shape == (11, 5) and not d[10].any()
    whole = mx.gemm(factor(x), factor(w.reshape(20, 96)), alpha=alpha)
    for group, (first, end) in enumerate(zip(offsets, offsets[1:])):
        right = whole[first:end, 5 * group : 5 * group + 5]
        assert numpy.array_equal(d[first:end], right), group


DIALECTS = {"mxfp8-e4m3": "ocp", "nvfp4": "torchao-nvfp4"}


@pytest.mark.parametrize(
    "offsets, error, told",
    [
        ([0], TypeError, "at least one group"),
        ([0.0, 2.0], TypeError, "whole numbers"),
        ([0, 3, 2], Exception, "do not rise"),
        ([1, 3, 4], Exception, "the first row offset is 1"),
        ([0, 2, 5], Exception, "at most 4"),
        ([0, -1, 4], ValueError, "from 0 on"),
        ([0, 1, 2, 4], ValueError, "3 groups do not share"),
    ],
)
def test_wrong_offsets_are_sentences(offsets, error, told):
    a, b = numpy.ones((4, 8), "float32"), numpy.ones((2, 5, 8), "float32")
    with pytest.raises(error, match=told):
        mx.grouped_gemm(a, b, offsets)
