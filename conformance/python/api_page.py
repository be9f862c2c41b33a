"""Writes API.md from the docstrings of the package. It reads the sources and imports nothing.

    python conformance/python/api_page.py          # writes the page anew
    python conformance/python/api_page.py --check  # 1, and the first other line, where it is stale

test/test_api_page.py asks for the second, and for docstrings that name what they must.
"""

import ast
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
PAGE = HERE / "API.md"

OPENING = """# The functions of mxcheck

Made from the docstrings by `python conformance/python/api_page.py`; [README.md](README.md) is the way in.

Arrays are those of NumPy, torch, JAX, CuPy, or anything with `__dlpack__`; results are of the first
one's library. Shapes and strides count elements, and sizes of blocks do; codes and scales are bytes
as the format encodes them, one a byte where nothing else is said; times are seconds. Which rules a
dialect has, and the file and line of the library that they are read from, `mxcheck.list("dialects")`
says.
"""

# The order of the page; a module that is not here comes behind them under its own name.
TITLES = {
    "_operations": "The right bits",
    "_assertions": "Yours held to them",
    "_run": "Functions held to the suites",
    "_search": "Functions held against themselves, and searched",
    "_bench": "How fast a function is",
    "_capture": "Calls that are kept, and judged elsewhere",
    "_device": "A decorator",
    "_library": "Errors, and what was built",
    "torch": "Layers of torch",
    "recipes": "Their recipes",
    "strategies": "Blocks for hypothesis",
    "cocotb": "Testbenches in cocotb",
    "pytest_plugin": "pytest",
}

_PARAMETER = re.compile(r"(?P<names>[a-z][a-z_0-9]*(?:(?:,| and) [a-z][a-z_0-9]*)*): (?P<text>.*)")


def tree_of(path):
    return ast.parse(path.read_text())


def exported(package):
    """{module: [names]} of what `import mxcheck` offers, and of modules that it names itself."""
    names = {}
    for node in tree_of(package / "__init__.py").body:
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names.setdefault(node.module, []).extend(alias.name for alias in node.names)
    for path in sorted(package.glob("[a-z]*.py")):
        names[path.stem] = None
    return names


def _own_names(tree):
    """`__all__` of a module, or its public functions and classes."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return ast.literal_eval(node.value)
    kinds = (ast.FunctionDef, ast.ClassDef)
    return [n.name for n in tree.body if isinstance(n, kinds) and not n.name.startswith("_")]


class Entry:
    """A function or class of the page."""

    def __init__(self, node, prefix, source):
        self.node, self.prefix, self.source = node, prefix, source
        self.title = f"{prefix}.{node.name}"
        self.is_class = isinstance(node, ast.ClassDef)
        self.text = ast.get_docstring(node) or ""

    @property
    def parameters(self):
        """Names, of a function."""
        args = self.node.args
        named = [*args.posonlyargs, *args.args, *args.kwonlyargs]
        is_strategy = any("composite" in ast.unparse(d) for d in self.node.decorator_list)
        return [arg.arg for arg in named][1 if is_strategy else 0 :]

    @property
    def signature(self):
        if self.is_class:
            return ""
        inside = ast.unparse(self.node.args).removeprefix("draw, ").replace("'", '"')
        line = f"{self.title}({inside})"
        if len(line) <= 100:
            return line
        return f"{self.title}(\n    " + re.sub(r", (?=[\w*])", ",\n    ", inside) + ",\n)"

    @property
    def members(self):
        """Public methods and properties of a class."""
        functions = [n for n in self.node.body if isinstance(n, ast.FunctionDef)]
        return [n for n in functions if not n.name.startswith("_") and ast.get_docstring(n)]


def sections():
    """[(title, text, [Entry])] of the page."""
    package = HERE / "mxcheck"
    found = {}
    for module, names in exported(package).items():
        path = package / f"{module}.py"
        if path.exists():
            prefix = "mxcheck" if module.startswith("_") else f"mxcheck.{module}"
            found[module] = _section(path, prefix, names)
    plugin = HERE / "mxcheck_entry" / "pytest_plugin.py"
    found["pytest_plugin"] = _section(plugin, "pytest_plugin", ["Case"])
    order = [*TITLES, *sorted(set(found) - set(TITLES))]
    return [(TITLES.get(m, f"mxcheck.{m.lstrip('_')}"), *found[m]) for m in order if m in found]


def _section(path, prefix, names):
    tree = tree_of(path)
    by_name = {getattr(node, "name", None): node for node in tree.body}
    names = _own_names(tree) if names is None else names
    source = path.relative_to(HERE)
    nodes = sorted((by_name[name] for name in names if name in by_name), key=lambda n: n.lineno)
    return ast.get_docstring(tree), [Entry(node, prefix, source) for node in nodes]


def markdown(text):
    """A docstring: its lines "name: what" become a list."""
    lines, in_list = [], False
    for line in text.splitlines():
        match = _PARAMETER.fullmatch(line)
        if match:
            if lines and lines[-1] and not in_list:
                lines.append("")
            names = re.sub(r"[a-z][a-z_0-9]*", _bold, match["names"])
            lines.append(f"- {names}: {match['text']}")
            in_list = True
        elif in_list and line:
            lines.append("  " + line.strip())
        else:
            in_list = False
            lines.append(line)
    return "\n".join(lines)


def _bold(match):
    return match[0] if match[0] == "and" else f"**{match[0]}**"


def _entry(entry):
    yield f"### {entry.title}\n"
    if entry.signature:
        yield f"```python\n{entry.signature}\n```\n"
    yield markdown(entry.text) + "\n"
    if entry.is_class:
        for member in entry.members:
            is_property = any(ast.unparse(d) == "property" for d in member.decorator_list)
            arguments = re.sub(r"^self(, )?", "", ast.unparse(member.args))
            name = member.name if is_property else f"{member.name}({arguments})"
            yield f"`.{name}`\n\n{markdown(ast.get_docstring(member))}\n"
    yield f"Source: [{entry.source}]({entry.source})\n"


def page():
    parts = [OPENING]
    for title, text, entries in sections():
        parts += [f"## {title}\n", markdown(text) + "\n"]
        for entry in entries:
            parts += _entry(entry)
    return "\n".join(parts)


def main():
    made = page()
    if "--check" not in sys.argv:
        PAGE.write_text(made)
        return 0
    there = PAGE.read_text().splitlines() if PAGE.exists() else []
    for number, (old, new) in enumerate(zip([*there, ""], [*made.splitlines(), ""]), 1):
        if old != new:
            print(f"{PAGE.name}:{number} is stale: {old!r}, and the docstrings say {new!r}")
            return 1
    return int(len(there) != len(made.splitlines()))


if __name__ == "__main__":
    sys.exit(main())
