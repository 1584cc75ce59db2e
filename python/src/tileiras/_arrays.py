"""Arrays of any library as memory that kernels read and write: NumPy arrays, and objects with `__dlpack__`.

An array is seen as the bits of its elements: an array of unsigned integers, or of floats that NumPy has, in the memory of
the caller's array. Types that NumPy lacks (bf16, 8-bit floats) need no package for this.
"""
from __future__ import annotations

import ctypes
import dataclasses
import math
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

from ._errors import ConfigurationError, LaunchError, ToolError

STORED = {"bool": "u1", "int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8", "uint8": "u1", "uint16": "u2",
          "uint32": "u4", "uint64": "u8", "float16": "f2", "float32": "f4", "float64": "f8", "bfloat16": "u2",
          "float8_e4m3fn": "u1", "float8_e5m2": "u1", "float8_e8m0fnu": "u1"}
"""The NumPy type in which the elements of a type are stored in files."""

ELEMENTS = {"bool": "u8", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
            "uint32": "u32", "uint64": "u64", "float16": "f16", "float32": "f32", "float64": "f64", "bfloat16": "bf16",
            "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "float8_e8m0fnu": "e8m0"}
"""The names of types in Tile IR. The keys are names of NumPy, PyTorch and the package `ml_dtypes`."""

DLPACK_TYPES = {(0, 8): "int8", (0, 16): "int16", (0, 32): "int32", (0, 64): "int64", (1, 8): "uint8",
                (1, 16): "uint16", (1, 32): "uint32", (1, 64): "uint64", (2, 16): "float16", (2, 32): "float32",
                (2, 64): "float64", (4, 16): "bfloat16", (6, 8): "bool", (10, 8): "float8_e4m3fn",
                (12, 8): "float8_e5m2", (14, 8): "float8_e8m0fnu"}
"""The types of DLPack, by code and number of bits."""

CPU, PINNED = 1, 3
"""Devices of DLPack whose memory this process can read."""


@dataclasses.dataclass(frozen=True)
class Zeros:
    """An array of zeros that exists in the launch alone. See `zeros`."""

    shape: tuple[int, ...]
    type: str


def zeros(shape: int | Sequence[int], type: str = "float32") -> Zeros:
    """An array of zeros without memory in this process, for predictions and searches with large arrays.

    `type` is a name of NumPy or PyTorch, such as `bfloat16`, or of Tile IR, such as `bf16`. Results in it are dropped.
    """
    found = next((name for name, short in ELEMENTS.items() if type in (name, short)), None)
    if found is None:
        raise ConfigurationError(f"type '{type}' is unknown (known types: {', '.join(ELEMENTS)})")
    return Zeros((shape,) if isinstance(shape, int) else tuple(shape), found)


@dataclasses.dataclass
class Array:
    """An array argument. `bits` has the elements in the caller's memory; `None` for zeros."""

    type: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """In elements."""
    bits: Any
    writable: bool
    keeps: Any
    """Objects that keep the memory alive."""

    @property
    def element(self) -> str:
        return ELEMENTS[self.type]

    @property
    def item_size(self) -> int:
        return int(STORED[self.type][1])

    def reach(self) -> int:
        """The number of elements from the first to the last in memory."""
        return 0 if 0 in self.shape else 1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides))

    def stored_shape(self) -> tuple[int, ...]:
        """The shape of a dense array whose memory holds all elements at the caller's strides."""
        if not self.shape or 0 in self.shape:
            return self.shape
        rest = math.prod(self.shape[1:])
        return (max(self.shape[0], -(-self.reach() // rest)), *self.shape[1:])

    def is_dense(self) -> bool:
        """Whether the strides are those of a file."""
        return self.strides == dense(self.shape)

    def write(self, file: pathlib.Path) -> None:
        """Writes the array as a file of NumPy whose memory is that of the array."""
        numpy = import_numpy()
        kind, shape = STORED[self.type], self.stored_shape()
        if self.bits is None:
            with open(file, "wb") as opened:
                numpy.lib.format.write_array_header_1_0(
                    opened, {"descr": numpy.dtype(f"<{kind}").str, "fortran_order": False, "shape": shape})
                # The file system stores no zeros.
                opened.truncate(opened.tell() + math.prod(shape) * self.item_size)
        elif self.is_dense():
            numpy.save(file, self.bits)
        else:
            memory = numpy.zeros(math.prod(shape), kind)
            self._placed(numpy, memory)[...] = self.bits
            numpy.save(file, memory.reshape(shape))

    def load(self, file: pathlib.Path) -> Any:
        """The elements in a file of results, with the types of `bits`."""
        numpy = import_numpy()
        memory = numpy.load(file).reshape(-1)
        left = memory.reshape(self.shape) if self.is_dense() else self._placed(numpy, memory)
        return left.view(self.bits.dtype) if left.dtype != self.bits.dtype else left

    def differs(self, left: Any) -> bool:
        """Whether any bit of the results is not that of the array."""
        numpy, bits = import_numpy(), f"u{self.item_size}"
        return not numpy.array_equal(numpy.ascontiguousarray(left).view(bits), numpy.ascontiguousarray(self.bits).view(bits))

    def _placed(self, numpy: Any, memory: Any) -> Any:
        """The elements in `memory`, at the strides of the array."""
        strides = [s * self.item_size for s in self.strides]
        return numpy.lib.stride_tricks.as_strided(memory, self.shape, strides)


def dense(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of an array in the order of C."""
    return tuple(math.prod(shape[d + 1:]) for d in range(len(shape)))


def import_numpy() -> Any:
    try:
        import numpy
    except ImportError:
        raise ToolError("arrays need NumPy: pip install numpy") from None
    return numpy


def is_array(value: Any) -> bool:
    """Whether a value is an array: with elements, and not a NumPy number."""
    if isinstance(value, Zeros):
        return True
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        return False
    return hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__")


def array(value: Any, name: str) -> Array:
    """The array `value`; `name` is its name in messages."""
    numpy = import_numpy()
    if isinstance(value, Zeros):
        return Array(value.type, value.shape, dense(value.shape), None, True, None)
    if isinstance(value, numpy.ndarray):
        return _checked(_of_numpy(value, name), name)
    return _checked(_of_dlpack(numpy, value, name), name)


def shares_memory(one: Array, other: Array) -> bool:
    numpy = import_numpy()
    return bool(numpy.may_share_memory(one.bits, other.bits) and numpy.shares_memory(one.bits, other.bits))


def _checked(read: Array, name: str) -> Array:
    if any(s < 0 for s in read.strides):
        raise LaunchError(f"{name} has a negative stride, which kernels cannot address: pass a copy of it")
    return read


def _of_numpy(value: Any, name: str) -> Array:
    kind = STORED.get(value.dtype.name)
    if kind is None or not value.dtype.isnative:
        raise TypeError(f"{name} has elements of type {value.dtype}, which kernels lack")
    bits = value.view(kind) if value.ndim and 0 not in value.strides else _viewed(value, kind)
    strides = _strides(value.shape, [s // value.itemsize for s in value.strides])
    return Array(value.dtype.name, value.shape, strides, bits, value.flags.writeable, value)


def _viewed(value: Any, kind: str) -> Any:
    """The bits of an array without dimensions, or with a stride of zero, which `view` may reject."""
    numpy = import_numpy()
    strides, shape = value.strides, value.shape
    interface = {"data": (value.__array_interface__["data"][0], not value.flags.writeable), "typestr": f"<{kind}",
                 "shape": shape, "strides": strides, "version": 3}
    holder = type("Memory", (), {"__array_interface__": interface, "keeps": value})()
    return numpy.asarray(holder)


def _strides(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """The strides of an array, where those of dimensions with one element are as if the array were dense."""
    found = list(strides)
    for d in reversed(range(len(shape))):
        if shape[d] == 1:
            found[d] = found[d + 1] * shape[d + 1] if d + 1 < len(shape) else 1
    return tuple(found)


class _Tensor(ctypes.Structure):
    """`DLTensor` of DLPack."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class _Versioned(ctypes.Structure):
    """`DLManagedTensorVersioned` of DLPack."""

    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", _Tensor)]


def _of_dlpack(numpy: Any, value: Any, name: str) -> Array:
    kind = type(value).__name__
    if not hasattr(value, "__dlpack__"):
        return _checked(_of_numpy(numpy.asarray(value), name), name)
    if hasattr(value, "__dlpack_device__"):
        device, index = value.__dlpack_device__()
        if int(device) not in (CPU, PINNED):
            raise TypeError(f"{name} is a {kind} on device ({int(device)}, {index}), but kernels run on the CPU: pass a copy there")
    try:
        capsule = value.__dlpack__(max_version=(1, 0))
    except TypeError:
        # Exporters before version 1.0 of DLPack.
        capsule = value.__dlpack__()
    except (BufferError, RuntimeError) as error:
        raise TypeError(f"{name} is a {kind} that cannot be shared: {error}") from None
    tensor, writable = _tensor_of(capsule)
    element = DLPACK_TYPES.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    if element is None:
        raise TypeError(f"{name} has elements of DLPack type ({tensor.code}, {tensor.bits}, {tensor.lanes}), which kernels lack")
    shape = tuple(tensor.shape[d] for d in range(tensor.ndim))
    strides = tuple(tensor.strides[d] for d in range(tensor.ndim)) if tensor.strides else dense(shape)
    size = tensor.bits // 8
    read = Array(element, shape, _strides(shape, strides), None, writable, (value, capsule))
    if 0 in shape:
        read.bits = numpy.zeros(shape, STORED[element])
        return read
    if min(strides, default=0) < 0:
        # Rejected by the caller.
        return read
    memory = (ctypes.c_char * (read.reach() * size)).from_address(tensor.data + tensor.byte_offset)
    flat = numpy.frombuffer(memory, STORED[element])
    read.bits = numpy.lib.stride_tricks.as_strided(flat, shape, [s * size for s in read.strides], writeable=writable)
    return read


def _tensor_of(capsule: Any) -> tuple[_Tensor, bool]:
    """The tensor in a capsule, and whether it may be written to. The capsule still owns it."""
    call = ctypes.pythonapi
    call.PyCapsule_IsValid.argtypes = call.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    call.PyCapsule_GetPointer.restype = ctypes.c_void_p
    if call.PyCapsule_IsValid(capsule, b"dltensor_versioned"):
        managed = _Versioned.from_address(call.PyCapsule_GetPointer(capsule, b"dltensor_versioned"))
        return managed.tensor, not managed.flags & 1
    return _Tensor.from_address(call.PyCapsule_GetPointer(capsule, b"dltensor")), True
