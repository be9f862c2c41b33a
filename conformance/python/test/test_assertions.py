"""What a failure says, and that right bits say nothing."""

import importlib.metadata

import numpy
import pytest

import mxcheck as mx

E4M3 = {"format": "mxfp8-e4m3", "dialect": "nv"}


def message(*arguments, **named):
    with pytest.raises(AssertionError) as failure:
        mx.assert_bits(*arguments, **named)
    return str(failure.value)


def test_right_bits_pass(x):
    mx.assert_bits(x, mx.quantize(x, **E4M3), **E4M3)


@pytest.mark.parametrize("bit", range(8))
def test_one_wrong_bit_is_found_wherever_it_is(x, bit):
    for place in ((0, 0), (31, 40), (63, 95)):
        q = mx.quantize(x, **E4M3)
        q.codes[place] ^= 1 << bit
        told = message(x, q, **E4M3)
        assert f"codes[{place[0]}, {place[1]}]" in told
        assert "1 of 6,144 elements and 0 of 192 scales" in told


def test_one_wrong_scale_is_found(x):
    q = mx.quantize(x, **E4M3)
    q.scales[5, 2] += 1
    assert "scales[5, 2]" in message(x, q, **E4M3)


def test_another_dialect_is_named(x):
    q = mx.quantize(x, format="mxfp8-e4m3", dialect="torchao-floor")
    told = message(x, q.codes, q.scales, **E4M3)
    assert told.startswith("These bits follow") and "torchao-floor" in told.splitlines()[0]


def test_ties_away_are_the_cause():
    ties = mx.edge_cases("mxfp8-e4m3", "ocp", family="edge.tie")
    right = mx.quantize(ties, format="mxfp8-e4m3", dialect="ocp")
    away = right.codes.copy()
    upper = mx.quantize(ties, format="mxfp8-e4m3", dialect="microxcaling").codes
    scales_agree = right.scales.repeat(32, axis=1) == mx.quantize(
        ties, format="mxfp8-e4m3", dialect="microxcaling"
    ).scales.repeat(32, axis=1)
    away[scales_agree] = upper[scales_agree]
    told = message(ties, away, right.scales, format="mxfp8-e4m3", dialect="ocp")
    assert "tie" in told.splitlines()[0]


def test_the_lines_repeat_it(x, capsys):
    q = mx.quantize(x, **E4M3)
    q.codes[3, 5] ^= 1
    told = message(x, q, **E4M3)
    line = next(line for line in told.splitlines() if line.strip().startswith("print("))
    exec(line.strip(), {"mxcheck": mx})
    assert "expected" in told and "quantize format=mxfp8-e4m3" in capsys.readouterr().out


def test_nan_codes_that_the_dialect_leaves_open_pass():
    x = numpy.full(32, numpy.nan, "float32")
    q = mx.quantize(x, format="mxfp8-e4m3", dialect="ocp")
    q.codes[:] = 0xFF
    mx.assert_bits(x, q, format="mxfp8-e4m3", dialect="ocp")


def test_values_and_products(x):
    q = mx.quantize(x[:8], **E4M3)
    y = mx.dequantize(q)
    mx.assert_values(y, q)
    y[1, 2] = numpy.nextafter(y[1, 2], numpy.float32(numpy.inf))
    with pytest.raises(AssertionError, match=r"1 of 768 values differ"):
        mx.assert_values(y, q)
    d = mx.gemm(q, q)
    mx.assert_gemm(d, q, q, model="exact")
    d[3, 4] *= -1
    with pytest.raises(AssertionError, match=r"\[3, 4\]"):
        mx.assert_gemm(d, q, q, model="exact")


def test_products_within_a_bound(recwarn):
    generator = numpy.random.default_rng(4)
    a, b = (generator.normal(size=(n, 512)).astype("float32") for n in (24, 40))
    in_order = numpy.zeros((24, 40), "float32")
    for k in range(512):  # as a loop of FMAs does, or nearly so
        in_order += a[:, k : k + 1] * b[:, k]
    assert (in_order != mx.gemm(a, b)).any()
    for bound in (None, "fma-chain"):
        mx.assert_gemm(in_order, a, b, bound=bound)
    mx.assert_gemm(in_order * 2 + 1, a, b, alpha=2.0, c=numpy.ones((24, 40), "float32"), beta=1.0)
    assert not recwarn.list
    for spoil in (lambda d: d + 0.5, lambda d: -d, lambda d: d * numpy.nan):
        wrong = in_order.copy()
        wrong[3, 4] = spoil(wrong[3, 4])
        with pytest.raises(AssertionError, match="1 of 960 values are further"):
            mx.assert_gemm(wrong, a, b)
    with pytest.raises(AssertionError, match="9.. of 960 values"):
        mx.assert_gemm(mx.gemm(a[:, :-1].copy(), b[:, :-1].copy()), a, b)  # misses one k
    with pytest.raises(AssertionError, match="shape"):
        mx.assert_gemm(in_order.T, a, b)


def test_data_that_could_not_have_failed_warn(x):
    q = mx.quantize(x[:8], **E4M3)
    with pytest.warns(mx.InsufficientData, match="A takes the scales of B"):
        mx.assert_gemm(mx.gemm(q, q), q, q)


def test_a_bound_of_one_model_is_narrower():
    a, b = numpy.float32([[2.0**24, 1, -(2.0**24)]]), numpy.float32([[1, 1, 1]])
    zero, far = numpy.float32([[0]]), numpy.float32([[3]])
    mx.assert_gemm(zero, a, b)
    with pytest.raises(AssertionError, match="bounded:fma-chain"):
        mx.assert_gemm(numpy.float32([[1000]]), a, b, bound="fma-chain")
    with pytest.raises(AssertionError):
        mx.assert_gemm(zero, a, b, model="exact")
    with pytest.raises(AssertionError):
        mx.assert_gemm(far, a, b, model="fma-chain")
    mx.assert_gemm(zero, a, b, model="fma-chain")
    with pytest.raises(ValueError, match="one of them"):
        mx.assert_gemm(zero, a, b, model="exact", bound="fma-chain")
    with pytest.raises(mx.NotSupported, match="fma-chian"):
        mx.assert_gemm(zero, a, b, bound="fma-chian")
    with pytest.raises(TypeError, match="alfa"):
        mx.assert_gemm(zero, a, b, alfa=1)
    with pytest.raises(TypeError, match="float64"):
        mx.assert_gemm(zero.astype("float64"), a, b)


def normal_factors(columns, **form):
    generator = numpy.random.default_rng(0)
    return [
        mx.quantize(generator.normal(size=(16, columns)).astype("float32"), **(form or E4M3))
        for _ in range(2)
    ]


def test_a_product_without_a_bound_does_not_pass():
    # Before the scales of whole tensors sums leave binary16, in which they may be kept.
    a, b = normal_factors(1024, format="fp8-e4m3-tensor", dialect="te-fp8-current")
    right = mx.gemm(a, b, dtype="float16")
    with pytest.raises(mx.NotSupported, match="256 of 256 outputs cannot be judged.*float32"):
        mx.assert_gemm(right, a, b, dtype="float16")
    mx.assert_gemm(right, a, b, dtype="float16", model="exact")
    nan = numpy.full((16, 16), numpy.nan, "float16")
    with pytest.raises(AssertionError, match=r"256 of 256 values are NaN.*\[0, 0\]"):
        mx.assert_gemm(nan, a, b, dtype="float16")


@pytest.mark.parametrize("rows", [1, 12])
def test_a_product_of_which_some_values_have_no_bound_does_not_pass(rows):
    generator = numpy.random.default_rng(0)
    x, y = (generator.normal(size=(n, 64)).astype("float32") for n in (12, 16))
    x[:rows, :2] = 3e38
    y[:, :2] = 1  # the sums of these rows overflow
    with pytest.raises(mx.NotSupported, match=f"{16 * rows} of 192 outputs cannot be judged"):
        mx.assert_gemm(mx.gemm(x, y), x, y)
    x[:rows, 1] = -3e38  # and now they may
    product = mx.gemm(x, y)
    with pytest.raises(mx.NotSupported, match="cannot be judged"):
        mx.assert_gemm(product, x, y)
    product[0, 7] = numpy.nan
    with pytest.raises(AssertionError, match=r"1 of 192 values are NaN.*\[0, 7\]"):
        mx.assert_gemm(product, x, y)


def test_a_bound_of_a_model_for_mx(recwarn):
    a, b = normal_factors(64)
    mx.assert_gemm(mx.gemm(a, b, model="blackwell-mx"), a, b, bound="blackwell-mx")
    for refused in ("exact", "hopper-fp8"):
        with pytest.raises(mx.NotSupported, match=refused):
            mx.assert_gemm(mx.gemm(a, b), a, b, bound=refused)


def test_a_quantized_names_its_rules(x):
    torch_like = {"format": "mxfp8-e5m2", "dialect": "torchao-floor", "block_size": 64}
    for named in (E4M3, torch_like, {"axis": 0, **E4M3}, {"packing": "inline", **E4M3}):
        q = mx.quantize(x, **named)
        mx.assert_bits(x, q)
        mx.assert_bits(x, q, **named)
        q.codes[3, 5] ^= 1
        message(x, q)


NVFP4 = {"format": "nvfp4", "dialect": "te-nvfp4"}


@pytest.mark.parametrize(
    "word, meant, other",
    [
        ("format", "mxfp4-e2m1", "mxfp8-e5m2"),
        ("dialect", "nv", "ocp"),
        ("axis", 1, 0),
        ("block_size", 32, 64),
        ("packing", "low_first", "bytes"),
        ("scale_layout", "128x4", "linear"),
        ("shape", (64, 96), (1, 1)),
    ],
)
def test_a_word_beside_a_quantized_must_say_the_same(x, word, meant, other):
    q = mx.quantize(x, format="mxfp4-e2m1", dialect="nv", packing="low_first", scale_layout="128x4")
    values = mx.dequantize(q)
    calls = [lambda **named: mx.dequantize(q, **named)]
    calls.append(lambda **named: mx.assert_values(values, q, **named))
    if word != "shape":
        calls.append(lambda **named: mx.assert_bits(x, q, **named))
    for call in calls:
        call(**{word: meant})
        with pytest.raises(ValueError, match=f"{word}=.* contradicts the Quantized"):
            call(**{word: other})


def test_numbers_and_scales_beside_a_quantized(x):
    q, four = mx.quantize(x, **E4M3), mx.quantize(x, **NVFP4)
    for call in (lambda *scales: mx.dequantize(q, *scales), lambda s: mx.assert_bits(x, q, s)):
        with pytest.raises(ValueError, match="scales are given beside a Quantized"):
            call(q.scales)
    mx.dequantize(four, tensor_scale=four.tensor_scale)
    mx.assert_bits(x, four, tensor_scale=four.tensor_scale)
    for wrong in (q, four):
        with pytest.raises(ValueError, match="tensor_scale=99.0 contradicts"):
            mx.dequantize(wrong, tensor_scale=99.0)
        with pytest.raises(ValueError, match="tensor_scale=99.0 contradicts"):
            mx.assert_bits(x, wrong, tensor_scale=99.0)


def plugin():
    """The words that load the plug-in, which an installed package does by itself."""
    known = importlib.metadata.entry_points(group="pytest11")
    return () if "mxcheck" in known.names else ("-p", "mxcheck_entry.pytest_plugin")


@pytest.mark.once
def test_pytest_plugin(pytester):
    pytester.makepyfile(
        """
        import mxcheck as mx, pytest

        @pytest.mark.mxcheck(format="mxfp8-e4m3", dialect=["nv", "ocp"])
        def test_right(mx_case):
            q = mx.quantize(mx_case.values, format=mx_case.format, dialect=mx_case.dialect)
            mx_case.check(q.codes, q.scales)

        @pytest.mark.mxcheck(format="mxfp8-e4m3", dialect="nv", families="edge.tie")
        def test_wrong(mx_case):
            mx_case.check(*mx.quantize(mx_case.values, format="mxfp8-e4m3", dialect="ocp"))
        """
    )
    warned = "error::pluggy.PluggyTeardownRaisedWarning"
    result = pytester.runpytest(*plugin(), "-v", "-W", warned)
    result.assert_outcomes(passed=10, failed=1)
    result.stdout.fnmatch_lines(["*test_right?mxfp8-e4m3-nv-tie? PASSED*"])
    result.stdout.fnmatch_lines(["E*These bits follow*"])


@pytest.mark.once
def test_pytest_plugin_refuses_a_misspelt_word(pytester):
    pytester.makepyfile(
        """
        import pytest
        @pytest.mark.mxcheck(format="mxfp8-e4m3", dialekt="nv")
        def test_it(mx_case): pass
        """
    )
    result = pytester.runpytest(*plugin())
    result.stdout.fnmatch_lines(["*does not know dialekt*"])
    assert result.ret != 0


@pytest.mark.once
def test_pytest_plugin_sees_a_test_that_checks_nothing(pytester):
    pytester.makepyfile(
        """
        import pytest
        @pytest.mark.mxcheck(format="mxfp8-e4m3", dialect="nv")
        def test_it(mx_case):
            assert len(mx_case.values)
        """
    )
    warned = "error::pluggy.PluggyTeardownRaisedWarning"
    result = pytester.runpytest(*plugin(), "-W", warned)
    result.assert_outcomes(failed=5)
    result.stdout.fnmatch_lines(["*without mx_case.check*"])


@pytest.mark.once
def test_pytest_plugin_says_that_pluggy_is_too_old(pytester, monkeypatch):
    """Where hooks have no wrapper=, seen with pytest 7.0 and 7.4 beside pluggy 1.0."""
    monkeypatch.setattr("mxcheck_entry.pytest_plugin.pytest_pyfunc_call", None)
    pytester.makepyfile(
        """
        import pytest
        def test_other(): pass
        @pytest.mark.mxcheck(format="mxfp8-e4m3", dialect="nv")
        def test_it(mx_case): pass
        """
    )
    result = pytester.runpytest(*plugin())
    result.stdout.fnmatch_lines(["*mark.mxcheck needs pluggy 1.2 or newer*"])
    assert result.ret != 0


@pytest.mark.once
def test_pytest_plugin_refuses_a_mark_without_its_argument(pytester):
    pytester.makepyfile(
        """
        import pytest
        @pytest.mark.mxcheck(format="mxfp8-e4m3", dialect="nv")
        def test_it(): pass
        """
    )
    result = pytester.runpytest(*plugin())
    result.stdout.fnmatch_lines(["*does not take mx_case*"])
    assert result.ret != 0


def test_strategies():
    hypothesis = pytest.importorskip("hypothesis")
    from mxcheck.strategies import blocks

    @hypothesis.settings(max_examples=30, deadline=None)
    @hypothesis.given(blocks("mxfp4-e2m1", "ocp"))
    def holds(values):
        mx.assert_bits(values, mx.quantize(values, format="mxfp4-e2m1"), format="mxfp4-e2m1")

    holds()
