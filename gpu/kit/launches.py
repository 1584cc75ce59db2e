"""A launch (entry, extents, arguments and their expected contents afterwards) and its JSON format, which `tile-run`
reads.

Files of a description are relative to its folder. `docs/ptx-sim.md` describes the fields.
"""
from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Any, Sequence, Union

import numpy as np

from . import dtypes

Extents = tuple[int, int, int]

# The element types of a tensor map, in the order of the driver's numbers.
MAP_ELEMENTS = ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz",
                "b4x16", "b4x16_p64", "b6x16_p32")


@dataclasses.dataclass
class Scalar:
    dtype: str
    value: int | float | str

    def bytes(self) -> bytes:
        return dtypes.scalar(self.dtype, self.value)


@dataclasses.dataclass
class Bytes:
    """A structure by value."""
    data: bytes


@dataclasses.dataclass
class Buffer:
    """Memory that is passed by address. `unwritten`: uninitialized, so the kernel must not read before it writes.
    `constant`: not written by the kernel, so it is not read back."""
    data: np.ndarray
    dtype: str
    unwritten: bool = False
    constant: bool = False


@dataclasses.dataclass
class Array:
    """An array by the tile convention: pointer, extents, strides."""
    data: np.ndarray
    dtype: str
    index: str = "i32"

    def sizes(self) -> list[int]:
        """Extents and strides, in elements."""
        return [*self.data.shape, *(s // self.data.itemsize for s in self.data.strides)]


@dataclasses.dataclass
class ArrayList:
    """A list by the tile convention: a pointer to descriptors, and their number."""
    items: list[Array]


@dataclasses.dataclass
class TensorMap:
    """A tensor map of a separate array. Dimensions start with the innermost; strides are in bytes, from dimension
    1."""
    data: np.ndarray
    element: str
    dims: list[int]
    strides: list[int]
    box: list[int]
    steps: list[int] = dataclasses.field(default_factory=list)
    swizzle: int = 0
    fill: str = "zero"
    constant: bool = False

    @property
    def dtype(self) -> str:
        """The element type of the array."""
        known = {"s32": "i32", "s64": "i64", "f32_ftz": "f32", "tf32": "f32", "tf32_ftz": "f32"}
        name = known.get(self.element, self.element)
        return name if name in dtypes.STORAGE else "u8"


Argument = Union[Scalar, Bytes, Buffer, Array, ArrayList, TensorMap]


@dataclasses.dataclass
class Expect:
    """The expected contents of an argument, one value for each of its arrays. `match` and `loose` are as in the
    description."""
    arg: int
    values: list[np.ndarray]
    match: str = "value"
    rtol: float = 0.0
    atol: float = 0.0
    bad: float = 0.0
    loose: list[int] | None = None


@dataclasses.dataclass
class Launch:
    entry: str | None
    grid: Extents
    args: Sequence[Argument]
    block: Extents | None = None
    cluster: Extents | None = None
    dynamic_shared: int = 0
    launches: int = 1
    expect: list[Expect] = dataclasses.field(default_factory=list)
    stdout: list[str] | None = None
    note: str = ""
    # Whether the arguments are evicted from the device's caches first; not part of a description.
    cold: bool = False
    # Whether the launch may start early, when the preceding one in its stream lets dependent grids start; also not
    # part of a description.
    dependent: bool = False


class BadDescription(ValueError):
    """An invalid launch description."""


def arrays(argument: Argument) -> list[np.ndarray]:
    """The arrays of an argument."""
    if isinstance(argument, (Buffer, Array, TensorMap)):
        return [argument.data]
    if isinstance(argument, ArrayList):
        return [a.data for a in argument.items]
    return []


def only_array(argument: Argument) -> np.ndarray:
    """The array of an argument with a single one."""
    array, = arrays(argument)
    return array


def element_types(argument: Argument) -> list[str]:
    """The element types of an argument's arrays."""
    if isinstance(argument, (Buffer, Array, TensorMap)):
        return [argument.dtype]
    if isinstance(argument, ArrayList):
        return [a.dtype for a in argument.items]
    return []


# ---------------------------------------------------------------- reading

def read(path: pathlib.Path) -> Launch:
    """Reads a description with its arrays."""
    try:
        root = json.loads(path.read_text())
        if not isinstance(root, dict):
            raise ValueError("no object")
        return _parse(root, path.parent)
    except (OSError, KeyError, TypeError, ValueError) as e:
        raise BadDescription(f"{path}: {type(e).__name__}: {e}") from e


def _parse(root: dict[str, Any], folder: pathlib.Path) -> Launch:
    expect = []
    for e in root.get("expect", []):
        files = e["value"] if isinstance(e["value"], list) else [e["value"]]
        values = [np.load(folder / f, allow_pickle=False) for f in files]
        expect.append(Expect(e["arg"], values, e.get("match", "value"), e.get("rtol", 0.0), e.get("atol", 0.0), e.get("bad", 0.0),
                             e.get("loose")))
    return Launch(
        entry=root.get("entry"),
        grid=_extents(root.get("grid", [1])),
        block=_extents(root["block"]) if "block" in root else None,
        cluster=_extents(root["cluster"]) if "cluster" in root else None,
        dynamic_shared=root.get("dynamic_shared", 0),
        launches=root.get("launches", 1),
        args=[_argument(a, folder) for a in root.get("args", [])],
        expect=expect,
        stdout=root.get("stdout"),
        note=root.get("note", ""),
    )


def _extents(values: list[int]) -> Extents:
    x, y, z = [*values, 1, 1][:3]
    return (x, y, z)


def _array(a: dict[str, Any], key: str, folder: pathlib.Path) -> tuple[np.ndarray, str]:
    data = np.load(folder / a[key], allow_pickle=False)
    plain = {np.dtype(t): name for name, t in dtypes.STORAGE.items() if name not in ("bf16", "e4m3", "e5m2", "e8m0")}
    dtype = a.get("dtype") or plain[data.dtype]
    if dtypes.size(dtype) != data.itemsize:
        raise ValueError(f"{a[key]}: elements of {data.itemsize} bytes cannot be of type {dtype}")
    return data, dtype


def _argument(a: dict[str, Any], folder: pathlib.Path) -> Argument:
    if "array" in a:
        return Array(*_array(a, "array", folder), index=a.get("index", "i32"))
    if "buffer" in a:
        return Buffer(*_array(a, "buffer", folder))
    if "unwritten" in a:
        return Buffer(dtypes.poisoned(a["dtype"], tuple(a["unwritten"])), a["dtype"], unwritten=True)
    if "bytes" in a:
        return Bytes(bytes.fromhex(a["bytes"]))
    if "list" in a:
        return ArrayList([Array(*_array(x, "array", folder), index=x.get("index", "i32")) for x in a["list"]])
    if "tensor_map" in a:
        return TensorMap(np.load(folder / a["tensor_map"], allow_pickle=False), a["element"], a["dims"], a["strides"],
                         a["box"], a.get("steps", []), a.get("swizzle", 0), a.get("fill", "zero"))
    if len(a) == 1:
        (dtype, value), = a.items()
        if dtype in dtypes.STORAGE:
            return Scalar(dtype, value)
    raise ValueError(f"no argument: {sorted(a)}")


# ---------------------------------------------------------------- writing

def write(launch: Launch, folder: pathlib.Path) -> pathlib.Path:
    """Writes a description and its arrays into a folder, without expectations."""
    root: dict[str, Any] = {"grid": list(launch.grid)}
    if launch.entry is not None:
        root["entry"] = launch.entry
    for key in ("block", "cluster"):
        value = getattr(launch, key)
        if value is not None:
            root[key] = list(value)
    if launch.dynamic_shared:
        root["dynamic_shared"] = launch.dynamic_shared
    if launch.launches != 1:
        root["launches"] = launch.launches
    root["args"] = [_form(a, f"arg{i}", folder) for i, a in enumerate(launch.args)]
    path = folder / "launch.json"
    path.write_text(json.dumps(root, indent=1) + "\n")
    return path


def file_names(launch: Launch) -> list[list[str]]:
    """The names under which `write` stores each argument's arrays, and under which `tile-run` writes them back."""
    return [[f"arg{i}_{n}.npy" if isinstance(a, ArrayList) else f"arg{i}.npy" for n in range(len(arrays(a)))]
            for i, a in enumerate(launch.args)]


def _save(folder: pathlib.Path, name: str, data: np.ndarray) -> str:
    np.save(folder / f"{name}.npy", data, allow_pickle=False)
    return f"{name}.npy"


def _form(a: Argument, name: str, folder: pathlib.Path) -> dict[str, Any]:
    if isinstance(a, Scalar):
        # Bits are exact for all values, including ones that JSON cannot express.
        return {a.dtype: "0x" + a.bytes()[::-1].hex()}
    if isinstance(a, Bytes):
        return {"bytes": a.data.hex()}
    if isinstance(a, Buffer):
        # Uninitialized memory is saved too, poisoned, so it can be read back where the kernel leaves gaps.
        return {"buffer": _save(folder, name, a.data), "dtype": a.dtype}
    if isinstance(a, Array):
        return {"array": _save(folder, name, a.data), "dtype": a.dtype, "index": a.index}
    if isinstance(a, ArrayList):
        return {"list": [{"array": _save(folder, f"{name}_{n}", x.data), "dtype": x.dtype, "index": x.index}
                         for n, x in enumerate(a.items)]}
    form = {"tensor_map": _save(folder, name, a.data), "element": a.element, "dims": a.dims, "strides": a.strides,
            "box": a.box, "swizzle": a.swizzle, "fill": a.fill}
    return {**form, "steps": a.steps} if a.steps else form
