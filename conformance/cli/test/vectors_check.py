#!/usr/bin/env python3
"""Reads the vectors of `mxcheck gen` in its four forms, with the standard library alone (and NumPy
where it is there): the forms must hold the same codes, of the digests that they say, and the right
answers must be those that a device recorded for the pack of the same plan.

    vectors_check.py FOLDER    # with v.hex/, v.csv, v.json, v.npz, v.pack and v.answers
"""

import ast
import csv
import hashlib
import json
import pathlib
import struct
import sys
import zipfile

WIDTHS = {"f32": 4, "u32": 4, "f16": 2, "bf16": 2}


def expect(holds, sentence):
    if not holds:
        sys.exit(f"FAILED: {sentence}")


def width_of(tensor):
    return WIDTHS.get(tensor["type"], 1) if tensor["layout"] == "rows" else 1


def check_digest(tensor, codes, where):
    data = b"".join(code.to_bytes(width_of(tensor), "little") for code in codes)
    expect(len(codes) == tensor["rows"] * tensor["columns"], f"{where}: not all codes are there")
    expect(hashlib.sha256(data).hexdigest() == tensor["sha256"], f"{where}: another digest")


def read_readmemh(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    listed = [line.split() for line in (folder / "index.txt").read_text().splitlines()]
    codes = {}
    for request in manifest["requests"]:
        for tensor in request["tensors"]:
            lines = (folder / tensor["file"]).read_text().splitlines()
            words = " ".join(line for line in lines if not line.startswith("//")).split()
            codes[request["request"], tensor["name"]] = [int(word, 16) for word in words]
            operation, fields = request["case"].split()[0], request["case"].split()[1:]
            said = dict(field.split("=", 1) for field in fields)
            blocks = [said["axis"], said["block"]] if "quantize" in operation else ["none", "0"]
            row = [request["request"], operation, *blocks, tensor["name"], tensor["type"]]
            row += [str(tensor["rows"]), str(tensor["columns"]), tensor["file"]]
            expect(listed.pop(0) == row, f"index.txt says something else of {row}")
    expect(not listed, "index.txt names more than the manifest")
    return manifest, codes


def read_csv(path):
    requests, codes = [], {}
    lines = path.read_text().splitlines()
    manifest = json.loads(lines[0][2:])
    requests = [json.loads(line[2:]) for line in lines[1:] if line.startswith("# ")]
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        codes.setdefault((row["request"], row["tensor"]), []).append(int(row["code"], 16))
    return {**manifest, "requests": requests}, codes


def read_json(path):
    manifest, codes = json.loads(path.read_text()), {}
    for request in manifest["requests"]:
        for tensor in request["tensors"]:
            rows = tensor.pop("codes")
            codes[request["request"], tensor["name"]] = [code for row in rows for code in row]
    return manifest, codes


def read_npy(data):
    expect(data[:8] == b"\x93NUMPY\x01\x00", "an array that is no .npy of version 1.0")
    (size,) = struct.unpack("<H", data[8:10])
    header, payload = ast.literal_eval(data[10 : 10 + size].decode()), data[10 + size :]
    width = int(header["descr"][2:])
    return [int.from_bytes(payload[i : i + width], "little") for i in range(0, len(payload), width)]


def read_npz(path):
    with zipfile.ZipFile(path) as archive:
        expect(archive.testzip() is None, "an array with a wrong CRC")
        arrays = {name[:-4]: read_npy(archive.read(name)) for name in archive.namelist()}
    manifest = json.loads(bytes(arrays.pop("manifest")))
    return manifest, {tuple(name.split("/")): codes for name, codes in arrays.items()}


def check_numpy(path, codes):
    try:
        import numpy
    except ImportError:
        print("NumPy is not here: the .npz was read without it")
        return
    arrays = numpy.load(path)
    for (request, name), right in codes.items():
        array = arrays[f"{request}/{name}"]
        words = array.view(f"u{array.itemsize}").ravel().tolist()
        expect(words == right and array.ndim == 2, f"NumPy reads {request}/{name} differently")
    print(f"NumPy {numpy.__version__} reads the same {len(codes)} arrays")


def recorded_answers(path):
    """By the id of the request: the bytes of the outputs of a device."""
    answers, last = {}, None
    for line in path.read_text().splitlines():
        if line.startswith("{"):
            last = json.loads(line).get("id")
        elif last and not line.startswith("#"):
            answers.setdefault(last, []).append(bytes.fromhex(line))
    return answers


def main():
    folder = pathlib.Path(sys.argv[1])
    manifest, codes = read_readmemh(folder / "v.hex")
    for request in manifest["requests"]:
        for tensor in request["tensors"]:
            where = f"{request['request']}/{tensor['name']}"
            check_digest(tensor, codes[request["request"], tensor["name"]], where)
            del tensor["file"]
    for read, name in ((read_csv, "v.csv"), (read_json, "v.json"), (read_npz, "v.npz")):
        said, held = read(folder / name)
        expect(said == manifest, f"{name} says something else of its requests than v.hex")
        expect(held == codes, f"{name} holds other codes than v.hex")
    check_numpy(folder / "v.npz", codes)
    recorded, compared = recorded_answers(folder / "v.answers"), 0
    for request in manifest["requests"]:
        right = [t for t in request["tensors"] if t["name"].startswith("expected_")]
        answers = recorded.get(request["id"], [])
        for tensor, answer in zip(right, answers):
            digest = hashlib.sha256(answer).hexdigest()
            where = f"{request['case']}: {tensor['name']}"
            expect(digest == tensor["sha256"], f"a device gave other bits: {where}")
            compared += 1
    expect(compared > 0, "no answer of a device was compared")
    print(f"{len(codes)} tensors alike in four forms; {compared} as the device gave them")


if __name__ == "__main__":
    main()
