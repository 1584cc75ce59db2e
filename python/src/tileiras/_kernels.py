"""cuTile Python kernels: signatures from arguments, and bytecode, without a GPU and its driver."""
from __future__ import annotations

import io
import sys
import typing
from collections.abc import Sequence
from typing import Any

from ._arrays import ELEMENTS, Array, array, is_array
from ._errors import ConfigurationError, InputError

VERSIONS = ("13.4", "13.3", "13.2", "13.1")
"""Versions of the bytecode, newest first. An older cuTile lacks the first ones."""

SHORT = {short: name for name, short in ELEMENTS.items() if name != "bool"}


class Scalar:
    """A scalar argument of a type that Python lacks: `Scalar("f16", 0.5)`."""

    def __init__(self, type: str, value: float | int) -> None:
        self.type, self.value = type, value

    def __repr__(self) -> str:
        return f"Scalar({self.type!r}, {self.value!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scalar) and (self.type, self.value) == (other.type, other.value)

    def __hash__(self) -> int:
        return hash((self.type, self.value))


def is_kernel(source: Any) -> bool:
    """Whether a program is a cuTile kernel. Such a kernel exists only if cuTile has been imported."""
    tile = sys.modules.get("cuda.tile")
    return tile is not None and isinstance(source, tile.kernel)


def name_of(kernel: Any) -> str:
    return kernel._annotated_function.pyfunc.__name__


def launched(kernel: Any, args: Sequence[Any]) -> list[tuple[str, Any, Any]]:
    """The arguments that a launch passes, without constants and with the parts of tuples: name, value, and the annotation
    of cuTile on the type of a number, if any."""
    found: list[tuple[str, Any, Any]] = []

    def walk(name: str, value: Any, annotation: Any) -> None:
        if isinstance(value, tuple):
            for i, (part, its) in enumerate(zip(value, _parts(annotation, len(value)))):
                walk(f"{name}[{i}]", part, its)
        elif _metadata(annotation, "ConstantAnnotation") is None:
            found.append((name, value, _metadata(annotation, "ScalarAnnotation")))

    for i, (value, annotation) in enumerate(zip(args, _annotations(kernel, args))):
        walk(f"args[{i}]", value, annotation)
    return found


def bytecode(kernel: Any, target: str, args: Sequence[Any] | None, signature: Any) -> bytes:
    """The bytecode of a kernel for a signature, or for arguments of a launch."""
    from cuda.tile.compilation import export_kernel
    if signature is None:
        if args is None:
            raise TypeError("a cuTile kernel needs arguments of a launch (args=[...]) or a signature")
        signature = signature_of(kernel, args)
    signatures = list(signature) if isinstance(signature, (list, tuple)) else [signature]
    version = _version()
    buffer = io.BytesIO()
    try:
        export_kernel(kernel, signatures, buffer, gpu_code=target, output_format="tileir_bytecode", **version)
    except Exception as error:
        # The front end's own errors have the line of the kernel.
        if type(error).__module__.startswith("cuda.tile"):
            raise InputError(f"{type(error).__name__}: {error}") from error
        raise
    return buffer.getvalue()


def signature_of(kernel: Any, args: Sequence[Any]) -> Any:
    """The signature of a launch with these arguments, with the assumptions that cuTile makes at a launch.

    A stride of 1 is a constant. Other strides are divisible by 16 bytes and extents by 16 if they are. Addresses are
    divisible by 16 bytes.
    """
    from cuda.tile.compilation import CallingConvention, KernelSignature
    annotations = _annotations(kernel, args)
    parameters = [_constraint(f"args[{i}]", value, its) for i, (value, its) in enumerate(zip(args, annotations))]
    static = any(getattr(_metadata(its, "ArrayAnnotation"), "static_shape_dims", ()) for its in annotations)
    # The first convention lacks tuples and constant extents. The parameters of the second are the same.
    second = static or any(isinstance(value, tuple) for value in args)
    if second and not hasattr(CallingConvention, "cutile_python_v2"):
        raise ConfigurationError("this version of cuTile lacks tuples and constant extents: pip install -U cuda-tile")
    convention = CallingConvention.cutile_python_v2() if second else CallingConvention.cutile_python_v1()
    return KernelSignature(parameters, convention, name_of(kernel))


def _version() -> dict[str, str]:
    """The newest bytecode of this cuTile, so that it need not ask a compiler."""
    from cuda.tile import _compile
    for version in VERSIONS:
        try:
            _compile.parse_bytecode_version(version)
        except ValueError:
            continue
        except AttributeError:
            break
        return {"bytecode_version": version}
    return {}


def _annotations(kernel: Any, args: Sequence[Any]) -> list[Any]:
    """The annotation of each parameter."""
    import inspect
    function = kernel._annotated_function.pyfunc
    parameters = inspect.signature(function).parameters
    if len(parameters) != len(args):
        raise ConfigurationError(f"kernel '{function.__name__}' has {len(parameters)} parameters "
                                 f"({', '.join(parameters)}), but {len(args)} arguments are given")
    hints = typing.get_type_hints(function, include_extras=True)
    return [hints.get(name, its.annotation) for name, its in parameters.items()]


def _metadata(annotation: Any, kind: str) -> Any:
    """The part of an annotation of cuTile with this name, such as `ConstantAnnotation`."""
    return next((m for m in getattr(annotation, "__metadata__", ()) if type(m).__name__ == kind), None)


def _parts(annotation: Any, count: int) -> list[Any]:
    """The annotations of the parts of a tuple. They are constant if the tuple is."""
    inner = typing.get_args(annotation)[0] if hasattr(annotation, "__metadata__") else annotation
    parts = list(typing.get_args(inner)) if typing.get_origin(inner) is tuple else []
    if len(parts) == 2 and parts[1] is ...:
        parts = [parts[0]] * count
    parts += [None] * (count - len(parts))
    if _metadata(annotation, "ConstantAnnotation") is None:
        return parts
    return [annotation if _metadata(its, "ConstantAnnotation") is None else its for its in parts]


def _constraint(name: str, value: Any, annotation: Any) -> Any:
    import cuda.tile as ct
    from cuda.tile import compilation as of
    if isinstance(value, tuple):
        each = _parts(annotation, len(value))
        return of.TupleConstraint([_constraint(f"{name}[{i}]", v, its) for i, (v, its) in enumerate(zip(value, each))])
    if _metadata(annotation, "ConstantAnnotation") is not None:
        return of.ConstantConstraint(value)
    if isinstance(value, list):
        inner = _metadata(annotation, "ListAnnotation")
        arrays = [array(part, f"{name}[{i}]") for i, part in enumerate(value)]
        if not arrays:
            raise ConfigurationError(f"{name} is an empty list: its elements have no type")
        every = [_array_constraint(a, getattr(inner, "element", None)) for a in arrays]
        return of.ListConstraint(_common(name, every), alias_groups=(), elements_may_alias=True)
    if is_array(value):
        return _array_constraint(array(value, name), _metadata(annotation, "ArrayAnnotation"))
    if isinstance(value, Scalar):
        if value.type not in SHORT:
            raise ConfigurationError(f"{name}: type '{value.type}' is unknown (known types: {', '.join(SHORT)})")
        return of.ScalarConstraint(getattr(ct, SHORT[value.type]))
    return of.ScalarConstraint(getattr(ct, scalar_type(name, value, _metadata(annotation, "ScalarAnnotation"))))


def scalar_type(name: str, value: Any, annotation: Any = None) -> str:
    """The type of a number: 32 bits unless an annotation of cuTile says otherwise."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return "bool_"
    if hasattr(value, "__index__"):
        kind = annotation.dtype.name if annotation is not None else "int32"
        bits = 64 if kind == "int64" else 32
        if not -2**(bits - 1) <= int(value) < 2**(bits - 1):
            raise ConfigurationError(f"{name} is {int(value)}, which exceeds 32 bits: annotate the parameter with "
                                     "ct.ScalarInt64")
        return kind
    if hasattr(value, "__float__"):
        return "float32"
    raise TypeError(f"{name} is a {type(value).__name__}; arguments must be arrays, numbers or Scalar")


def _array_constraint(read: Array, annotation: Any) -> Any:
    import cuda.tile as ct
    from cuda.tile import compilation as of
    dtype = getattr(ct, "bool_" if read.type == "bool" else read.type, None)
    if dtype is None:
        raise ConfigurationError(f"this version of cuTile lacks the type {read.type}")
    rank, vector = len(read.shape), max(1, 16 // read.item_size)
    static = {d % rank for d in getattr(annotation, "static_stride_dims", ())}
    constant = [s if (d in static if static else s == 1) else None for d, s in enumerate(read.strides)]
    fixed = {d % rank for d in getattr(annotation, "static_shape_dims", ())}
    more = {"shape_constant": [n if d in fixed else None for d, n in enumerate(read.shape)]} if fixed else {}
    return of.ArrayConstraint(
        dtype, rank, index_dtype=getattr(annotation, "index_dtype", ct.int32), stride_lower_bound_incl=0,
        alias_groups=(), may_alias_internally=any(s == 0 and n > 1 for n, s in zip(read.shape, read.strides)),
        stride_constant=constant,
        stride_divisible_by=[1 if c is not None or s % vector else vector for c, s in zip(constant, read.strides)],
        shape_divisible_by=[1 if d in fixed or n % 16 else 16 for d, n in enumerate(read.shape)],
        base_addr_divisible_by=16, **more)


def _common(name: str, every: list[Any]) -> Any:
    """The constraint of the elements of a list: the assumptions that hold for all of them."""
    import dataclasses
    first = every[0]
    if any((c.dtype, c.ndim) != (first.dtype, first.ndim) for c in every):
        raise ConfigurationError(f"{name}: the arrays of a list have one type and one number of dimensions")
    fields = {f.name: getattr(first, f.name) for f in dataclasses.fields(first)}
    for each in every[1:]:
        for key in ("stride_constant", "stride_divisible_by", "shape_divisible_by"):
            neutral = None if key == "stride_constant" else 1
            fields[key] = [a if a == b else neutral for a, b in zip(fields[key], getattr(each, key))]
        fields["may_alias_internally"] |= each.may_alias_internally
    dtype, rank = fields.pop("dtype"), fields.pop("ndim")
    fields.pop("shape_constant", None)
    return type(first)(dtype, rank, **fields)
