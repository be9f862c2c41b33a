#!/usr/bin/env python3
"""Asks other people's libraries, each as a device, whether they do what their dialect says.

    peers.py MXCHECK FOLDER [NAME ...] [--source NAME=TREE] [--python PYTHON] [--record] [--list]

Without a NAME every peer of peers.toml. Packages of PyPI go into a private Python environment in
FOLDER, unless PYTHON has them already; a peer that is made of source is skipped until --source
names its tree. FOLDER/NAME/record.json says what came of each: library, version, commit, date,
bytes compared, and a verdict for each operation, format and dialect. --record keeps that in
reports/wall/records, and the answers to the smoke lines of its suite in conformance/vectors. The
exit code is the worst of the runs; 77 if nothing ran. Standard library only.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import venv

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VECTORS = ROOT / "conformance" / "vectors"
SKIPPED = 77
TIMEOUT_S = 1800  # for the whole installation of one environment
PASSING = ("pass_exact", "pass_bounded", "deviation", "not_supported", "waived")


class Skip(Exception):
    """Why a peer is not asked here."""


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mxcheck", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--source", action="append", default=[], metavar="NAME=TREE",
                        help="the source tree of a peer, or of all that come from it")
    parser.add_argument("--python", help="a Python that has the packages already")
    parser.add_argument("--record", action="store_true", help="keep the answers and the record")
    parser.add_argument("--list", action="store_true", help="the peers and what they need")
    return parser.parse_intermixed_args()


def output_of(command, **more):
    return subprocess.run(command, capture_output=True, text=True, **more)


class Peer:
    def __init__(self, name, entry, chosen):
        self.name, self.entry, self.chosen = name, entry, chosen
        self.folder = chosen.folder.resolve() / name
        self.adapter = HERE / entry.get("adapter", f"{name}_device.py")
        self.suite = HERE / entry.get("suite", f"{name}.suite")
        self.tree = self.find_tree()

    def find_tree(self):
        given = dict(text.split("=", 1) for text in self.chosen.source)
        repository = self.entry.get("tree", "")
        tree = given.get(self.name) or given.get(repository)
        if not repository:
            return None
        if tree is None:
            raise Skip(f"made of the source of {repository}; name its tree: "
                       f"--source {self.name}=FOLDER")
        if not pathlib.Path(tree).is_dir():
            raise Skip(f"{tree} is no folder")
        return pathlib.Path(tree).resolve()

    def source(self):
        """owner/name@commit, without the commit for an unpacked package, "" for one from PyPI."""
        if self.tree is None:
            return ""
        asked = ["git", "-C", str(self.tree), "rev-parse", "--show-toplevel", "--short=9", "HEAD"]
        top, *commit = output_of(asked).stdout.split("\n")
        is_own = top and commit[0] and pathlib.Path(top).resolve() == self.tree
        return self.entry["tree"] + (f"@{commit[0]}" if is_own else "")

    def question(self):
        """The command that compares: a run, or a check of answers recorded elsewhere."""
        if "answers" in self.entry:
            return ["check", self.answers()]
        if "on" in self.entry and not shutil.which("nvidia-smi"):
            raise Skip(f"asked on a GPU ({self.entry['on']}), and nvidia-smi is not here")
        level = ["--level", "quick", "--timeout", "600"]
        if "device" in self.entry:
            return ["run", "--device", self.entry["device"], *level]
        return ["run", *self.device(), "--suite-file", self.suite, *level]

    def answers(self):
        return VECTORS / f"{self.entry['answers']}.answers"

    def device(self):
        """The options that make mxcheck ask this peer."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.adapter.suffix in (".cpp", ".cu"):
            return ["--device", str(self.compiled())]
        return ["--device-cmd", self.command()]

    def command(self):
        python = self.chosen.python or environment_of(self)
        path = [str(self.tree / part) for part in self.entry.get("path", [])] if self.tree else []
        variables = [f"MX_PEER_TREE={self.tree or ''}", f"MX_PEER_SOURCE={self.source()}",
                     f"PYTHONPATH={os.pathsep.join(path)}", "OMP_NUM_THREADS=1",
                     "PYTHONWARNINGS=ignore"]
        place = ["--on", self.entry["on"]] if "on" in self.entry else []
        return shlex.join(["env", *variables, str(python), str(self.adapter), *place,
                           *self.entry.get("arguments", [])])

    def compiled(self):
        made = self.folder / f"{self.name}.so"
        is_cuda = self.adapter.suffix == ".cu"
        variable, usual = ("NVCC", "nvcc") if is_cuda else ("CXX", "c++")
        compiler = shlex.split(os.environ.get(variable, usual))
        for header in self.entry.get("headers", []):
            (self.folder / header).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / header).write_text("")
        includes = [f"-I{ROOT}", f"-I{self.folder}"]
        includes += [f"-I{self.tree / part}" for part in self.entry["include"]]
        # Their code is theirs: its warnings are not ours.
        flags = ["-std=c++20", "-O1", *(["-Xcompiler"] if is_cuda else []), "-fPIC", "-w"]
        flags.append(f'-DMX_PEER_SOURCE="{self.source()}"')
        flags += [*includes, *self.entry.get("flags", [])]
        objects = []
        for source in map(pathlib.Path, self.entry.get("sources", [])):
            objects.append(self.folder / f"{source.stem}.o")
            of_language = ["cc", *flags[1:]] if source.suffix == ".c" else [*compiler, *flags]
            compile_one([*of_language, "-c", self.tree / source, "-o", objects[-1]])
        for library in map(self.tree.joinpath, self.entry.get("libraries", [])):
            objects += [library, f"-Wl,-rpath,{library.parent}"]
        compile_one([*compiler, *flags, "-shared", self.adapter, *objects, "-o", made])
        return made

    def run(self):
        """The exit code, and the record."""
        out = self.folder / "run"
        shutil.rmtree(out, ignore_errors=True)
        done = output_of([self.chosen.mxcheck, *self.question(), "--out", out])
        (self.folder / "console.txt").write_text(done.stdout + done.stderr)
        results = out / "results.jsonl"
        if not results.is_file():
            raise Skip((done.stderr.strip().splitlines() or ["no results"])[-1])
        lines = [json.loads(line) for line in results.open()]
        record = record_of(self, lines)
        write(self.folder / "record.json", record)
        return done.returncode, record

    def keep(self, record):
        """The record, and the answers to the smoke lines, into the tree."""
        write(ROOT / "reports" / "wall" / "records" / f"{self.name}.json", record)
        if {"vectors", "answers", "device"} & set(self.entry):
            return
        pack, answers = self.folder / "pack", self.folder / "answers"
        subprocess.run([self.chosen.mxcheck, "gen", "--suite-file", self.suite, "--level", "smoke",
                        "--out", pack], check=True, stdout=subprocess.DEVNULL)
        device = self.device()
        if device[0] == "--device":
            subprocess.run([self.chosen.mxcheck, "answer", pack, *device, "--out", answers],
                           check=True, stdout=subprocess.DEVNULL)
            text = answers.read_text().split("\n", 1)[1]
            text = "".join(line for line in text.splitlines(True) if not line.startswith("#"))
        else:
            with pack.open("rb") as asked:
                text = subprocess.run(shlex.split(device[1]), stdin=asked, check=True,
                                      stdout=subprocess.PIPE).stdout.decode()
        origin = " ".join(filter(None, [record["library"], record["version"], record["source"]]))
        kept = VECTORS / f"{self.name}.answers"
        suite = f"device/peers/{self.suite.name}"
        kept.write_text(f"# {origin}, {record['place']}, {record['date']}, {suite}\n{text}")


def compile_one(command):
    if not shutil.which(command[0]):
        raise Skip(f"there is no compiler {command[0]} here")
    done = output_of([str(word) for word in command])
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        raise Skip("does not compile: " + (errors or ["no reason given"])[0])


made_environments = {}


def environment_of(peer):
    """The Python of the private environment that has the packages of this peer."""
    folder = peer.chosen.folder.resolve() / ("python-" + peer.entry.get("python", "main"))
    python, done = folder / "bin" / "python", folder / "installed.txt"
    wanted = peer.entry.get("packages", [])
    installed = done.read_text().split("\n") if done.is_file() else []
    if set(wanted) <= set(installed):
        return python
    try:
        if not python.exists():
            venv.create(folder, with_pip=True, clear=True)
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "--retries", "1", "--timeout", "15", *wanted], check=True,
                       capture_output=True, text=True, timeout=TIMEOUT_S)
    except subprocess.CalledProcessError as error:
        words = (error.stderr or error.stdout or "no reason given").strip().splitlines()
        raise Skip(f"PyPI is out of reach or lacks a version: {words[-1][:200]}") from error
    except SystemExit as error:  # Debian's Python without python3-venv ends the program
        raise Skip("this Python lacks ensurepip (python3-venv)") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Skip(f"no private Python environment: {error}") from error
    done.write_text("\n".join([*installed, *wanted]))
    return python


def write(path, record):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1, ensure_ascii=True) + "\n")


def words_of(case):
    operation, *fields = case.split()
    return {"operation": operation, **dict(field.split("=", 1) for field in fields)}


def tree_of(header):
    return header["commit"] + (", with local changes" if header.get("dirty") else "")


def subject_of(words):
    """What a line of the record is about: format and dialect; of a product factors and model."""
    if words["operation"] == "gemm":
        return f"{words['a']} x {words['b']}", words.get("model", "any")
    return words.get("format", ""), words.get("dialect", "")


def bytes_of(case, words):
    """What was compared: codes and E8M0 scales are a byte each."""
    widths = {"f32": 4, "bf16": 2, "f16": 2}
    has_values = words["operation"] in ("dequantize", "gemm")
    element = widths.get(words.get("output"), 1) if has_values else 1
    scale = 4 if words.get("format", "").startswith("fp8-") else 1
    return element * case["elements"] + scale * case["scales"]


def record_of(peer, lines):
    header, cases = lines[0], [line for line in lines if line.get("kind") == "case"]
    facts = {fact["key"]: fact["value"] for fact in header["device_facts"]}
    rows = {}
    for case in cases:
        words = words_of(case["case"])
        key = (words["operation"], *subject_of(words))
        rows.setdefault(key, []).append((case, words))
    source = peer.source()
    named = f" --source {peer.name}=FOLDER" if source else ""
    place = facts.get("place", "a GPU") if "on" in peer.entry else "CPU"
    date = datetime.date.today().isoformat()
    if "answers" in peer.entry:  # the first line says where and when they were given
        with peer.answers().open() as file:
            date = re.search(r"\d{4}-\d\d-\d\d", file.readline()).group()
        place = "recorded there"
    return {
        "peer": peer.name, "library": facts.get("name", ""), "vendor": facts.get("vendor", ""),
        "version": "" if facts.get("version") == source else facts.get("version", ""),
        "source": source, "place": place, "mxcheck": tree_of(header), "date": date,
        "run_again": f"./bootstrap peers {peer.name}{named}",
        "rows": [row for row in (row_of(key, each) for key, each in sorted(rows.items()))
                 if row["verdict"] != "not_supported"],
    }


def row_of(key, cases):
    asked = [(case, words) for case, words in cases if case["verdict"] != "not_supported"]
    verdicts = {case["verdict"] for case, _ in asked}
    failing = sorted(verdicts - set(PASSING))
    verdict = failing[0] if failing else ("deviation" if "deviation" in verdicts else
                                          "pass_exact" if verdicts else "not_supported")
    values = lambda name: sorted({words[name] for _, words in asked if name in words})
    return {
        "operation": key[0], "format": key[1], "dialect": key[2], "verdict": verdict,
        "cases": len(asked), "refused": len(cases) - len(asked),
        "bytes": sum(bytes_of(case, words) for case, words in asked),
        "elements": sum(case["elements"] for case, _ in asked),
        "elements_differ": sum(case["mismatched_elements"] for case, _ in asked),
        "scales": sum(case["scales"] for case, _ in asked),
        "scales_differ": sum(case["mismatched_scales"] for case, _ in asked),
        "inputs": values("input"), "axes": values("axis"), "data": values("data"),
        "deviations": sorted({case["reason"] for case, _ in asked
                              if case["verdict"] == "deviation"}),
    }


def line_of(record):
    rows = record["rows"]
    total = lambda name: sum(row[name] for row in rows)
    counts = {}
    for row in rows:
        counts[row["verdict"]] = counts.get(row["verdict"], 0) + 1
    return (f"{total('bytes'):11,} bytes compared, {total('elements_differ')} elements and "
            f"{total('scales_differ')} scales differ; "
            + ", ".join(f"{count} {name}" for name, count in sorted(counts.items())))


def main():
    chosen = options()
    table = tomllib.loads((HERE / "peers.toml").read_text())
    unknown = [name for name in chosen.names if name not in table]
    if unknown:
        sys.exit(f"peers: there is no peer {unknown[0]}; there are {', '.join(table)}")
    if chosen.list:
        for name, entry in table.items():
            needs = entry.get("tree") or " ".join(entry.get("packages", ["nothing"]))
            print(f"{name:20}{needs}")
        return
    codes = []
    for name in chosen.names or table:
        try:
            peer = Peer(name, table[name], chosen)
            code, record = peer.run()
            print(f"{name:20}exit {code:2} {line_of(record)}", flush=True)
            if chosen.record:
                peer.keep(record)
        except Skip as reason:
            print(f"{name:20}skipped: {reason}", flush=True)
        else:
            codes.append(code)
    ran = [code for code in codes if code != SKIPPED]
    sys.exit(max(ran) if ran else SKIPPED)


if __name__ == "__main__":
    main()
