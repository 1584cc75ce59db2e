"""Exports kernels of the corpus as cubins through cuTile Python, which calls the tileiras on PATH.

Usage: cutile.py KERNELS.PY OUT NAME...   One line of JSON for each kernel: name, and size of the cubin or the error.
"""
import importlib.util
import io
import json
import pathlib
import sys
import warnings

import cuda.tile.compilation as compilation


def load(path):
    """Loads the kernels as a module. Older versions of cuTile lack `TupleConstraint`, which the module imports."""
    if not hasattr(compilation, "TupleConstraint"):
        compilation.TupleConstraint = None
    spec = importlib.util.spec_from_file_location("kernels", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["kernels"] = module
    spec.loader.exec_module(module)
    return module


def main():
    warnings.simplefilter("ignore")
    source, out, names = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    specs = {s.name: s for s in load(source).SPECS}
    for name in names:
        s = specs[name]
        signature = compilation.KernelSignature(
            [p.constraint() for p in s.params], compilation.CallingConvention.cutile_python_v1(), s.name)
        buffer = io.BytesIO()
        line = {"name": name}
        try:
            compilation.export_kernel(s.kernel, [signature], buffer, gpu_code="sm_90", output_format="cubin")
            (out / f"{name}.cubin").write_bytes(buffer.getvalue())
            line["bytes"] = len(buffer.getvalue())
        except Exception as error:  # what a user of cuTile would see
            line["error"], line["message"] = type(error).__name__, str(error)
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
