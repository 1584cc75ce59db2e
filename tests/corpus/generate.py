#!/usr/bin/env python3
"""Writes programs of the corpus as Tile IR bytecode: `python3 generate.py OUT [NAME ...]`.

Needs cuda-tile 1.7.0 and NumPy. Exports the entries of `kernels.SPECS` whose names are given (all of them otherwise) to the
folder OUT, in the lowest version that the front end takes, or those that the entry asks for, and brings `index.json` there up
to date. The files `kernels_*.py` add to `kernels.SPECS`. Debug information in bytecode names sources by names that are the same
everywhere, so that the same bytes come out wherever the checkout and the front end lie.
"""
import hashlib
import io
import json
import linecache
import pathlib
import sys
import types

import cuda.tile._stub as stub
from cuda.tile.compilation import CallingConvention, KernelSignature, export_kernel

FOLDER = pathlib.Path(__file__).parent
SOURCES = ["kernels", *sorted(path.stem for path in FOLDER.glob("kernels_*.py"))]


def remember(name, text):
    """The front end reads the text of a function again by the name of its file."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)


def rename_stub():
    """Methods of tiles are written in the front end itself, and inlined like other functions."""
    name = "cuda/tile/_stub.py"
    remember(name, pathlib.Path(stub.__file__).read_text())
    for owner in (stub, *(c for c in vars(stub).values() if isinstance(c, type))):
        for member in vars(owner).values():
            if isinstance(member, types.FunctionType) and member.__code__.co_filename == stub.__file__:
                member.__code__ = member.__code__.replace(co_filename=name)


def load(name):
    """A module of kernels. Those behind the first add to its `SPECS`."""
    source = f"repo/corpus/{name}.py"
    text = (FOLDER / f"{name}.py").read_text()
    remember(source, text)
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(text, source, "exec"), module.__dict__)
    return module


rename_stub()
kernels = [load(name) for name in SOURCES][0]
VERSIONS = ("13.1", "13.2", "13.3", "13.4")
GPU = "sm_100"


def export(spec, version):
    """The bytes of a module with all entries of a program."""
    entries = [(spec.name, spec.params), *spec.more]
    signatures = [KernelSignature([p.constraint() for p in params], CallingConvention.cutile_python_v1(), symbol)
                  for symbol, params in entries]
    buffer = io.BytesIO()
    export_kernel(spec.kernel, signatures, buffer, gpu_code=GPU, output_format="tileir_bytecode", bytecode_version=version)
    return buffer.getvalue()


def abi(params):
    """Entry parameters as (name, type), in order."""
    out = []
    for i, p in enumerate(p for p in params if not isinstance(p, kernels.C)):
        if isinstance(p, kernels.S):
            out.append([f"p{i}", p.dtype])
        elif isinstance(p, kernels.L):
            out += [[f"p{i}.descriptors", "ptr"], [f"p{i}.length", "i32"]]
        else:
            sizes = [f"{what}{d}" for what in ("shape", "stride") for d in range(p.ndim)]
            out += [[f"p{i}.ptr", "ptr"], *([f"p{i}.{size}", p.index] for size in sizes)]
    return out


def lowest(spec):
    """The lowest version that takes a program, its bytes, and why lower ones are refused."""
    refused = []
    for version in VERSIONS:
        try:
            return version, export(spec, version), refused
        except Exception as error:  # what the front end refuses, it refuses in many ways
            refused.append(f"{version}: {type(error).__name__}: {str(error).strip().splitlines()[0]}")
    sys.exit(f"{spec.name} is refused by every version:\n" + "\n".join(refused))


def files(spec):
    """(version, bytes, whether it is the lowest, why lower ones are refused) for each file of a program."""
    first = None
    if "lowest" in spec.versions:
        first, data, refused = lowest(spec)
        yield first, data, True, refused
    for version in spec.versions:
        if version not in ("lowest", first):
            yield version, export(spec, version), False, []


def main():
    out, names = pathlib.Path(sys.argv[1]), set(sys.argv[2:])
    unknown = names - {spec.name for spec in kernels.SPECS}
    if unknown:
        sys.exit(f"no such program: {', '.join(sorted(unknown))}")
    index = json.loads((out / "index.json").read_text())
    known = {entry["file"]: n for n, entry in enumerate(index["files"])}
    for spec in kernels.SPECS:
        if names and spec.name not in names:
            continue
        for version, data, is_lowest, refused in files(spec):
            file = f"{spec.name}.{version}.tileirbc"
            (out / file).write_bytes(data)
            entries = [{"symbol": symbol, "params": [p.describe() for p in params], "abi": abi(params)}
                       for symbol, params in [(spec.name, spec.params), *spec.more]]
            entry = {"file": file, "kernel": spec.name, "version": version, "size": len(data),
                     "sha256": hashlib.sha256(data).hexdigest(), "does": spec.doc, "lowest_version": is_lowest,
                     "refused_by_lower": refused, "entries": entries}
            if file in known:
                index["files"][known[file]] = entry
            else:
                index["files"].append(entry)
    (out / "index.json").write_text(json.dumps(index, indent=1) + "\n")


if __name__ == "__main__":
    main()
