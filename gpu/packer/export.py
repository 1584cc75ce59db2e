"""Writes the competitors' kernels as Tile IR bytecode: `python3 export.py OUT [NAME ...]`, a process of its own.

Needs cuda-tile. Debug information in bytecode names the source file, so the kernels are given names that are the same
everywhere; then the same bytes come out wherever the checkout lies.
"""
import io
import json
import linecache
import pathlib
import sys
import types
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import cuda.tile as ct
from cuda.tile.compilation import (ArrayConstraint, CallingConvention, ConstantConstraint, KernelSignature,
                                   ListConstraint, ScalarConstraint, export_kernel)
from packer import variants
from packer.target import TARGET


def load(name):
    """A module of kernels. The front end reads the text of a function again by the name of its file."""
    text = pathlib.Path(__file__).with_name(f"{name}.py").read_text()
    file = f"gpu/packer/{name}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(text, file, "exec"), module.__dict__)
    return module


# The first is what the others import.
MODULES = tuple(load(name) for name in ("tile_kernels", "tile_products", "tile_attention"))

# The first version with the hint of worker warps.
VERSION = "13.3"

TYPES = {"f32": ct.float32, "f16": ct.float16, "bf16": ct.bfloat16, "e4m3": ct.float8_e4m3fn, "i8": ct.int8,
         "i32": ct.int32}
BYTES = {"f32": 4, "f16": 2, "bf16": 2, "e4m3": 1, "i8": 1, "i32": 4}


def constraint(p):
    """What is promised of a parameter."""
    if not isinstance(p, tuple):
        return ConstantConstraint(p)
    if p[0] == "scalar":
        return ScalarConstraint(TYPES[p[1]])
    what, dtype, rank, divisor = p
    if what == "list":
        return ListConstraint(constraint(("array", dtype, rank, divisor)), alias_groups=[], elements_may_alias=False)
    return ArrayConstraint(TYPES[dtype], rank, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=[],
                           may_alias_internally=False, stride_constant=[None] * (rank - 1) + [1],
                           stride_divisible_by=[16 // BYTES[dtype]] * (rank - 1) + [1], shape_divisible_by=divisor,
                           base_addr_divisible_by=16)


def kernel(e):
    if e.kind == "mm":
        return MODULES[0].matrix_product(e.persistent, e.constants["nt"], e.dtype == "tf32",
                                         ct.int32 if e.dtype == "int8" else ct.float32)
    name = e.kernel or e.kind
    return next(found for module in MODULES if (found := getattr(module, name, None)) is not None)


def main():
    warnings.simplefilter("ignore")
    out, names = pathlib.Path(sys.argv[1]), set(sys.argv[2:])
    out.mkdir(parents=True, exist_ok=True)
    failed = {}
    for e in variants.entries():
        if names and e.name not in names:
            continue
        signature = KernelSignature([constraint(p) for p in e.params], CallingConvention.cutile_python_v1(), e.name)
        buffer = io.BytesIO()
        try:
            export_kernel(kernel(e).replace_hints(**e.hints()), [signature], buffer, gpu_code=TARGET,
                          output_format="tileir_bytecode",
                          bytecode_version=VERSION)
        except Exception as error:  # any failure of the front end is one kernel less, and is told
            failed[e.name] = f"{type(error).__name__}: {str(error).strip()[:300]}"
            continue
        (out / f"{e.name}.tileirbc").write_bytes(buffer.getvalue())
    json.dump(failed, sys.stdout)


if __name__ == "__main__":
    main()
