#!/usr/bin/env python3
"""cuTile Python on a GPU with this compiler: does a real client run the corpus from its source to the right results?

    PATH=FOLDER-OF-TILEIRAS:$PATH python3 cutile.py --corpus tests/corpus [--only REGEX] [--seeds 0,1] [--out FILE]

Needs a GPU, PyTorch, the package cuda-tile, and no package nvidia-cuda-tileiras, which cuTile would prefer. Every kernel of the corpus
is compiled by cuTile's own just-in-time compiler, which calls the `tileiras` on PATH, and launched by `ct.launch`, on the inputs of
`cases.py`; results are compared as everywhere. A line of JSON for each kernel goes to FILE, the failures and a count to standard
output. Exit status: 0 all is well, 1 something is wrong, 2 usage.
"""
from __future__ import annotations

import argparse
import importlib.util
import json
import pathlib
import re
import sys
import time
import traceback
from types import ModuleType
from typing import Any

try:
    import cuda.tile as ct
    import numpy as np
    import torch
except ModuleNotFoundError as missing:
    print(f"cutile.py: the Python package '{missing.name}' is missing for {sys.executable}; it needs NumPy, PyTorch and cuda-tile", file=sys.stderr)
    sys.exit(2)

TORCH = {"bf16": "bfloat16", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "e8m0": "float8_e8m0fnu"}


def load(path: pathlib.Path) -> ModuleType:
    """A module of the corpus. cuTile reads the sources of its kernels through it."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def to_device(a: Any) -> Any:
    """An array of a case as a tensor of the same strides."""
    data = a.data
    base = data
    while isinstance(base.base, np.ndarray):
        base = base.base
    raw = torch.from_numpy(np.ascontiguousarray(base).view(np.uint8).reshape(-1).copy()).cuda()
    dtype = getattr(torch, TORCH.get(a.dtype) or str(data.dtype))
    offset = (data.ctypes.data - base.ctypes.data) // data.itemsize
    return raw.view(dtype).as_strided(data.shape, [s // data.itemsize for s in data.strides], offset)


def to_host(tensor: Any, like: np.ndarray) -> np.ndarray:
    return tensor.contiguous().view(torch.uint8).cpu().numpy().view(like.dtype).reshape(like.shape)


def arguments(cases: ModuleType, case: Any, params: list[Any]) -> tuple[list[Any], dict[int, Any]]:
    """What `ct.launch` takes, constants among them; and the tensors of each run-time argument."""
    given: list[Any] = []
    tensors: dict[int, Any] = {}
    run_time = iter(enumerate(case.args))
    for p in params:
        if hasattr(p, "value"):
            given.append(p.value)
            continue
        i, a = next(run_time)
        if isinstance(a, cases.Sca):
            given.append(a.value.item() if hasattr(a.value, "item") else a.value)
        else:
            tensors[i] = [to_device(x) for x in a.items] if isinstance(a, cases.Lst) else to_device(a)
            given.append(tensors[i])
    return given, tensors


def run(cases: ModuleType, kernel: Any, params: list[Any], name: str, seed: int) -> list[str]:
    case = cases.make(name, seed)
    given, tensors = arguments(cases, case, params)
    ct.launch(torch.cuda.current_stream(), case.grid, kernel, tuple(given))
    torch.cuda.synchronize()
    found = {}
    for i in case.expect:
        a = case.args[i]
        found[i] = [to_host(t, x.data) for t, x in zip(tensors[i], a.items)] if isinstance(a, cases.Lst) else to_host(tensors[i], a.data)
    return list(cases.compare(case, found))


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs the corpus through cuTile Python.")
    parser.add_argument("--corpus", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--seeds", default="0,1")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("cutile.jsonl"))
    args = parser.parse_args()
    if not (args.corpus / "kernels.py").is_file():
        parser.error(f"{args.corpus} is not the folder of the corpus: it has no kernels.py")
    kernels, cases = load(args.corpus / "kernels.py"), load(args.corpus / "cases.py")
    for more in sorted(args.corpus.glob("kernels_*.py")):
        load(more)
    version = getattr(ct, "__version__", "?")
    counts: dict[str, int] = {}
    with open(args.out, "w", encoding="utf-8") as out:
        for spec in kernels.SPECS:
            for name, params in [(spec.name, spec.params), *spec.more]:
                if not re.search(args.only, name):
                    continue
                line: dict[str, Any] = {"name": name, "cutile": version, "device": torch.cuda.get_device_name()}
                started = time.monotonic()
                try:
                    wrong = [w for seed in args.seeds.split(",") for w in run(cases, spec.kernel, params, name, int(seed))]
                    line["status"] = "wrong" if wrong else "pass"
                    line["detail"] = str(wrong[0])[:300] if wrong else ""
                except Exception as e:  # whatever the client raises is what a user sees
                    line["status"], line["detail"] = "error", f"{type(e).__name__}: {e}"[:600]
                    line["trace"] = traceback.format_exc(limit=-3)[-600:]
                line["seconds"] = round(time.monotonic() - started, 3)
                counts[line["status"]] = counts.get(line["status"], 0) + 1
                out.write(json.dumps(line) + "\n")
                out.flush()
                if line["status"] != "pass":
                    print(f"{line['status']:5}  {name}: {line['detail'][:200]}")
    print(f"cuTile {version} on {torch.cuda.get_device_name()}: " + ", ".join(f"{n} {s}" for s, n in sorted(counts.items())))
    return 0 if set(counts) <= {"pass"} else 1


if __name__ == "__main__":
    sys.exit(main())
