"""API.md is what the docstrings say, and they say what they must."""

import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

# By its path: beside it lies the package's source, which is not to hide the one that is installed.
PAGE = pathlib.Path(__file__).parent.parent / "api_page.py"
spec = importlib.util.spec_from_file_location("api_page", PAGE)
api_page = importlib.util.module_from_spec(spec)
sys.modules["api_page"] = api_page
spec.loader.exec_module(api_page)

ENTRIES = [entry for _, _, entries in api_page.sections() for entry in entries]
FUNCTIONS = {entry.node.name: entry for entry in ENTRIES if not entry.is_class}


def test_the_page_is_not_stale(tmp_path):
    check = [sys.executable, "api_page.py", "--check"]
    done = subprocess.run(check, cwd=api_page.HERE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}run python conformance/python/api_page.py"
    # A docstring that changes makes it stale.
    copy = shutil.copytree(api_page.HERE, tmp_path / "python")
    source = copy / "mxcheck" / "_operations.py"
    source.write_text(source.read_text().replace("The right codes", "The best codes"))
    done = subprocess.run(check, cwd=copy, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "The best codes" in done.stdout


def missing(entry):
    """What a function's docstring does not say."""
    others = re.findall(r"as (\w+) (?:takes|took|gives|has)", entry.text)
    known = {word for name in others if name in FUNCTIONS for word in FUNCTIONS[name].parameters}
    known.update(re.findall(r"\w+", entry.text), re.findall(r"\w+", entry.text.lower()))
    yield from (f"parameter {word}" for word in entry.parameters if word not in known)
    if "Raises" not in entry.text:
        yield "errors: Raises"


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.title)
def test_a_docstring_says_what_it_must(entry):
    assert entry.text, "no docstring"
    assert entry.is_class or not list(missing(entry))


def test_what_is_missing_is_seen():
    source = 'def f(array, size):\n    """An array of 32. Returns codes."""'
    entry = api_page.Entry(api_page.ast.parse(source).body[0], "mxcheck", "f.py")
    assert list(missing(entry)) == ["parameter size", "errors: Raises"]
