"""mx.relate and mx.fuzz: a function's answers held against each other, and a search for wrong ones."""

import json
import tempfile

from ._names import find_format
from ._run import Run, command, device_of, expect_text, names_of, path_of


class Relations(Run):
    """What relate saw: a case for each relation."""

    def _rows(self):
        for case in self.cases:
            arguments = case["case"].split()
            reason = f" ({case['reason']})" if case["reason"] else ""
            yield arguments[arguments.index("--relation") + 1], case["verdict"] + reason


def relate(
    function,
    *,
    format,
    dialect=None,
    operation="quantize",
    block_size=None,
    relations=(),
    samples=4,
    seed=0,
    tensors="numpy",
    out=None,
    isolate=False,
    options=(),
):
    """Holds a function's answers to related inputs against each other, as `mxcheck relate` does:
    lanes that change places take their codes along, an input times 2^k moves the scale alone. No
    oracle is asked.

    function, operation, tensors, out, isolate: as run takes them; "quantize", "dequantize" or "gemm",
        which is asked for MX factors of one format where options say nothing else.
    format, dialect: one name each. A format that no table has is one, too: its codes are bytes, and
        options=["--scales", "u8"] says that its scales are as well, and not E8M0.
    block_size: elements of a block, where it is not the format's own, or 32.
    relations: names of these alone. samples: pairs of tensors for each. seed: of the first.
    options: further arguments of the command line, as ["--claim", "signs_pass_through"].

    Returns Relations: Run, whose cases are the relations. What is wrong in one and the same way
    breaks none: consistent is not right. A broken one prints
    `mxcheck.replay(function, "relate ...")`. Raises TypeError and ValueError for arguments that are
    none of these.
    """
    device, _, _ = device_of(function, operation, None, None, tensors)
    expect_text(format, "format")
    if dialect is not None:
        expect_text(dialect, "dialect")
    folder = tempfile.TemporaryDirectory(prefix="mxcheck-relate-") if out is None else out
    arguments = ["relate", "--op", operation, "--format", format]
    device.block_size = block_size or 32
    if operation == "gemm":
        arguments += ["--elements", find_format(format).element]
    numbers = ("--samples", samples), ("--seed", seed), ("--block", block_size)
    for option, value in (("--dialect", dialect), *numbers):
        arguments += [] if value is None else [option, str(value)]
    if relations:
        arguments += ["--relation", ",".join(names_of(relations, "relations"))]
    arguments += ["--out", str(path_of(folder))]
    code, text = command(device, [*arguments, *names_of(options, "options")], isolate)
    return Relations(code, text, folder, device.first_error)


class Search(Run):
    """What fuzz found. finds: the shrunk cases, each for mxcheck.replay(function, case)."""

    def __init__(self, code, text, folder, first_error):
        super().__init__(code, text, folder, first_error)
        states = sorted(self.folder.glob("worker-*.json"))
        self._workers = [json.loads(state.read_text()) for state in states]

    @property
    def passed(self):
        return self.code == 0

    def _found(self):
        return [find for worker in self._workers for find in worker["finds"]]

    @property
    def finds(self):
        return [find["cases"][-1] for find in self._found() if find["cases"]]

    def _rows(self):
        for find in self._found():
            yield "found", find["kind"]
        for count in ("blocks", "calls", "deviations"):
            yield count, f"{sum(worker[count] for worker in self._workers):,}"


def fuzz(
    function,
    *,
    format,
    dialect=None,
    operation="quantize",
    seconds=60,
    blocks=None,
    seed=0,
    tensors="numpy",
    corpus=None,
    resume=False,
    first=False,
    isolate=False,
    options=(),
):
    """Searches for inputs on which a function is wrong, and shrinks them, as `mxcheck fuzz` does.

    function, operation, tensors, isolate: as run takes them. format, dialect: a name or several.
    seconds: how long; or blocks: how many instead, so that the same seed finds the same.
    corpus: the folder for the state of the search and its finds, in which resume=True goes on.
    first: stop at the first find. options: further arguments of the command line.

    Returns Search: Run, and finds. Raises TypeError and ValueError for arguments that are none of
    these.
    """
    device, formats, dialects = device_of(function, operation, format, dialect, tensors)
    if blocks is not None and (not isinstance(blocks, int) or blocks < 1):
        raise ValueError(f"blocks is {blocks!r}; a number of at least 1 is needed")
    folder = tempfile.TemporaryDirectory(prefix="mxcheck-fuzz-") if corpus is None else corpus
    limit = ["--time", f"{seconds}s"] if blocks is None else ["--blocks", str(blocks)]
    arguments = ["fuzz", "--operation", operation, *limit, "--seed", str(seed)]
    arguments += ["--format", ",".join(formats)]
    if dialects:
        arguments += ["--dialect", ",".join(dialects)]
    arguments += [option for option, on in (("--resume", resume), ("--first", first)) if on]
    arguments += ["--corpus", str(path_of(folder))]
    code, text = command(device, [*arguments, *names_of(options, "options")], isolate)
    return Search(code, text, folder, device.first_error)
