"""The cases on which compilers and libraries compete, and the launches of images on them. Does not depend on PyTorch
or a device."""
from __future__ import annotations

import json
import pathlib

from . import attention, products, rows
from .problem import Entry, Problem

# The class of cases for an image.
KINDS: dict[str, type[Problem]] = {c.kind: c for c in (
    rows.Copy, rows.VectorAdd, rows.Softmax, rows.LayerNorm,
    products.Product, products.Batched, products.Activated, products.SplitK, products.Weights8, products.Weights4,
    products.BlockScaled, products.GatedUnit, products.OfNorm, products.Ragged, products.Gathered, products.Lists,
    products.Convolution,
    attention.Attention, attention.Grouped, attention.Window, attention.Capped, attention.Biased, attention.Latent,
    attention.Packed, attention.Paged, attention.Split)}


def problems() -> list[Problem]:
    return [*rows.problems(), *products.problems(), *attention.problems()]


def small(e: Entry) -> Problem:
    """A case of one to a few tiles for an image."""
    return KINDS[e["kind"]].small(e)


# ---------------------------------------------------------------- images

def entries(pack: pathlib.Path) -> list[Entry]:
    path = pack / "peers" / "index.json"
    return json.loads(path.read_text()) if path.is_file() else []


def is_without(e: Entry) -> bool:
    """Whether it is one of our images that lacks a step."""
    return e["who"].startswith("ours without ")


def fits(e: Entry, p: Problem) -> bool:
    """Whether an image can be launched on a case: kind, type, and promises about the extents."""
    return not e.get("same_as") and p.fits(e)


def blocks(e: Entry) -> list[tuple[int, int, int]]:
    """The blocks to launch with: for the vendor's images as cuTile launches them, and with the true size if that is
    rejected; for ours with the true size."""
    true = tuple(e["block"])
    return [(1, 1, 1), true] if e["who"] == "vendor" else [true]


def config(e: Entry) -> str:
    """The name without the part that all images of a case share."""
    return e["name"]
