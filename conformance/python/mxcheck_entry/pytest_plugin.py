"""The pytest plug-in: `@pytest.mark.mxcheck(format=..., dialect=...)` and the argument `mx_case`.

    @pytest.mark.mxcheck(format="mxfp8-e4m3", dialect="nv")
    def test_my_kernel(mx_case):
        mx_case.check(*my_kernel(mx_case.values))

runs once for each family of border blocks, with a readable id ("mxfp8-e4m3-nv-tie"). In a package
of its own, so that pytest loads the library only where a test asks for it.
"""

from dataclasses import dataclass

import pluggy
import pytest

FAMILIES = ("edge.tie", "edge.scale", "edge.amax", "edge.special", "edge.mixed")


@dataclass(frozen=True)
class Case:
    """Blocks on borders, one a row, and what they are to be quantized to."""

    format: str
    dialect: str | None
    dtype: str
    family: str

    @property
    def values(self):
        """A NumPy array of `dtype`, one block a row."""
        from mxcheck import edge_cases

        return edge_cases(self.format, self.dialect, self.dtype, self.family)

    def check(self, codes, scales, tensor_scale=None, **named):
        """assert_bits of what was made of `values`."""
        __tracebackhide__ = True
        _checked.add(self)
        from mxcheck import assert_bits

        assert_bits(
            self.values,
            codes,
            scales,
            tensor_scale,
            format=self.format,
            dialect=self.dialect,
            **named,
        )


# The cases that some test has checked since it began.
_checked = set()


def _expect_a_check(pyfuncitem):
    """A test that passes without having checked its case has tested nothing."""
    case = pyfuncitem.funcargs.get("mx_case")
    _checked.discard(case)
    result = yield
    if isinstance(case, Case) and case not in _checked:
        pytest.fail("the test ended without mx_case.check(...)", pytrace=False)
    return result


# Every pytest beside the package loads this file, so an older pluggy is no error until a test asks.
try:
    pytest_pyfunc_call = pytest.hookimpl(wrapper=True)(_expect_a_check)
except TypeError:
    pytest_pyfunc_call = None


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "mxcheck(format, dialect=None, dtype='float32', families=...): run the test with mx_case, "
        "once for each family of border blocks",
    )


def _names(value):
    return [value] if isinstance(value, str) or value is None else list(value)


def pytest_generate_tests(metafunc):
    if "mx_case" not in metafunc.fixturenames:
        if metafunc.definition.get_closest_marker("mxcheck") is not None:
            raise pytest.UsageError(
                f"{metafunc.definition.nodeid} has mark.mxcheck and does not take mx_case"
            )
        return
    if pytest_pyfunc_call is None:
        raise pytest.UsageError(
            f"{metafunc.definition.nodeid}: mark.mxcheck needs pluggy 1.2 or newer, and here is "
            f"{pluggy.__version__}: pip install 'pluggy>=1.2'"
        )
    cases = []
    for marker in metafunc.definition.iter_markers("mxcheck"):
        asked = dict(marker.kwargs)
        if marker.args or "format" not in asked:
            raise pytest.UsageError(
                f"{metafunc.definition.nodeid}: write mark.mxcheck(format=..., dialect=...)"
            )
        formats, dialects = _names(asked.pop("format")), _names(asked.pop("dialect", None))
        dtypes = _names(asked.pop("dtype", "float32"))
        families = _names(asked.pop("families", FAMILIES))
        if asked:
            raise pytest.UsageError(
                f"{metafunc.definition.nodeid}: mark.mxcheck does not know {', '.join(asked)}"
            )
        for format in formats:
            _expect_blocks(format, metafunc)
        cases += [
            Case(format, dialect, dtype, family)
            for format in formats
            for dialect in dialects
            for dtype in dtypes
            for family in families
        ]
    if not cases:
        raise pytest.UsageError(
            f"{metafunc.definition.nodeid} takes mx_case, and no mark.mxcheck names a case"
        )
    metafunc.parametrize("mx_case", cases, ids=_id_of)


def _expect_blocks(format, metafunc):
    """Border blocks stay on borders as rows of a matrix only where rows do not know each other."""
    from mxcheck import list as listed

    known = {entry["name"]: entry for entry in listed("formats")}
    entry = known.get(format, {"block": "1x32", "scale": "e8m0"})
    if not entry["block"].startswith("1x") or entry["scale"] in ("ue4m3", "ue5m3"):
        raise pytest.UsageError(
            f"{metafunc.definition.nodeid}: {format} has tiles or a number for the whole tensor; "
            "border blocks do not stay on borders as rows of one matrix; use mxcheck.run"
        )


def _id_of(case):
    parts = [case.format, case.dialect, None if case.dtype == "float32" else case.dtype]
    return "-".join([*filter(None, parts), case.family.removeprefix("edge.")])
