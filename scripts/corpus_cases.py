#!/usr/bin/env python3
"""Writes the corpus cases as launches for tile-run.

    scripts/corpus_cases.py OUT [--seed N] [CASE ...]

OUT/CASE/ gets launch.json, the inputs arg*.npy and the expected results want*.npy (float64; int64 and uint64 for
integers).
Needs NumPy, from the interpreter or from .tools/python, where scripts/setup.sh installs it.
"""
import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.append(str(ROOT / ".tools" / "python"))
sys.path.insert(0, str(ROOT / "tests" / "corpus"))
try:
    import numpy as np
except ImportError:
    sys.exit("NumPy is missing: run scripts/setup.sh, or python3 -m pip install --target .tools/python numpy")
import cases


def array(folder, name, a):
    np.save(folder / f"{name}.npy", a.data, allow_pickle=False)
    return {"array": f"{name}.npy", "dtype": a.dtype, "index": a.index}


def scalar(a):
    integer = np.issubdtype(cases.STORAGE[a.dtype], np.integer)
    return {a.dtype: str(int(a.value)) if integer else repr(float(a.value))}


def want(folder, name, a, value):
    """Stores the expected results in the type that cases.compare uses."""
    kind = a.value.dtype.kind
    dtype = {"i": np.int64, "u": np.uint64}.get(kind, np.float64)
    np.save(folder / f"{name}.npy", np.ascontiguousarray(value, dtype))
    return f"{name}.npy"


def write(folder, name, seed):
    case = cases.make(name, seed)
    folder.mkdir(parents=True)
    launch = {"entry": name, "grid": list(case.grid), "args": [], "expect": []}
    for i, a in enumerate(case.args):
        if isinstance(a, cases.Sca):
            launch["args"].append(scalar(a))
        elif isinstance(a, cases.Arr):
            launch["args"].append(array(folder, f"arg{i}", a))
        else:
            launch["args"].append({"list": [array(folder, f"arg{i}_{n}", x) for n, x in enumerate(a.items)]})
    for i, e in case.expect.items():
        a = case.args[i]
        if isinstance(a, cases.Lst):
            files = [want(folder, f"want{i}_{n}", x, v) for n, (x, v) in enumerate(zip(a.items, e.value))]
        else:
            files = want(folder, f"want{i}", a, e.value)
        launch["expect"].append({"arg": i, "value": files, "rtol": e.rtol, "atol": e.atol, "bad": e.bad})
        if e.loose is not None:
            launch["expect"][-1]["loose"] = e.loose
    if case.stdout:
        launch["stdout"] = case.stdout
    (folder / "launch.json").write_text(json.dumps(launch, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("case", nargs="*")
    args = parser.parse_args()
    for name in args.case or cases.CASES:
        if name not in cases.CASES:
            sys.exit(f"there is no case '{name}'")
        write(args.out / name, name, args.seed)


if __name__ == "__main__":
    main()
