"""The attributes that the vendor's tools attach to a kernel in a cubin, as `cuobjdump -elf` shows them.

A cubin has a section `.nv.info.KERNEL` for each kernel: a list of records of two bytes format and code, then

    format 1    nothing, and two bytes of padding
    format 2    one byte and one of padding
    format 3    two bytes
    format 4    a 16-bit size and as many bytes

Code 0x66 is what cuobjdump calls EIATTR_LANGUAGE; its 32-bit value is 3 in what ptxas makes of PTX ("PTX") and 7 in what
the vendor's tileiras makes ("TILEIR").
"""
from __future__ import annotations

import dataclasses
import struct

LANGUAGE = 0x66
PTX, TILEIR = 3, 7

# Sections of this kind have no bytes in the file.
NOBITS = 8


class BadCubin(ValueError):
    """An image that is no cubin, or lacks what is looked for."""


@dataclasses.dataclass(frozen=True)
class Section:
    name: str
    kind: int
    offset: int
    size: int


@dataclasses.dataclass(frozen=True)
class Attribute:
    format: int
    code: int
    # Where its value lies in the file.
    offset: int
    value: bytes


def sections(image: bytes) -> list[Section]:
    if image[:4] != b"\x7fELF" or len(image) < 64 or image[4] != 2:
        raise BadCubin("not a 64-bit ELF image")
    try:
        table, = struct.unpack_from("<Q", image, 40)
        size, count, names_at = struct.unpack_from("<HHH", image, 58)
        raw = [struct.unpack_from("<IIQQQQ", image, table + i * size) for i in range(count)]
        names = raw[names_at][4]
        found = []
        for name, kind, _, _, offset, length in raw:
            end = image.index(0, names + name)
            if kind != NOBITS and offset + length > len(image):
                raise BadCubin("the image ends before its sections do")
            found.append(Section(image[names + name:end].decode(), kind, offset, length))
        return found
    except (struct.error, ValueError, IndexError, UnicodeDecodeError) as e:
        raise BadCubin(f"damaged section table: {e}") from e


def attributes(image: bytes, kernel: str) -> list[Attribute]:
    """Of a kernel, in order."""
    info = next((s for s in sections(image) if s.name == f".nv.info.{kernel}"), None)
    if info is None:
        raise BadCubin(f"no attributes of a kernel '{kernel}'")
    at, end, found = info.offset, info.offset + info.size, []
    while at + 4 <= end:
        form, code, word = struct.unpack_from("<BBH", image, at)
        start, size = {1: (at + 4, 0), 2: (at + 2, 1), 3: (at + 2, 2), 4: (at + 4, word)}.get(form, (0, -1))
        if size < 0 or start + size > end:
            raise BadCubin(f"attribute {code:#x} has an unknown format {form}")
        found.append(Attribute(form, code, start, image[start:start + size]))
        at = max(start + size, at + 4)
    return found


def language(image: bytes, kernel: str) -> int:
    attribute = next((a for a in attributes(image, kernel) if a.code == LANGUAGE), None)
    if attribute is None:
        raise BadCubin(f"'{kernel}' says nothing of its language")
    return int.from_bytes(attribute.value, "little")


def with_language(image: bytes, kernel: str, value: int) -> bytes:
    """The image with another language of a kernel."""
    attribute = next((a for a in attributes(image, kernel) if a.code == LANGUAGE), None)
    if attribute is None:
        raise BadCubin(f"'{kernel}' says nothing of its language")
    patched = value.to_bytes(len(attribute.value), "little")
    return image[:attribute.offset] + patched + image[attribute.offset + len(patched):]


# What cuobjdump calls EIATTR_REQNTID and EIATTR_CTA_PER_CLUSTER.
REQNTID, CLUSTER = 0x10, 0x3D


def extents(image: bytes, kernel: str, code: int) -> tuple[int, int, int] | None:
    """The extents of a block or of a cluster that a kernel requires."""
    attribute = next((a for a in attributes(image, kernel) if a.code == code), None)
    if attribute is None or len(attribute.value) < 12:
        return None
    x, y, z = struct.unpack_from("<III", attribute.value)
    return (x, y, z)


def code_of(image: bytes) -> bytes:
    """Machine code and constants, whatever the kernel is called: what tells whether a hint changed anything."""
    return b"".join(image[s.offset:s.offset + s.size] for s in sections(image)
                    if s.kind != NOBITS and s.name.startswith((".text.", ".nv.constant")))
