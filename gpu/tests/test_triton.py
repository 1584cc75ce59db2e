"""Triton's kernels in Triton's interpreter, where it and PyTorch are at hand: right on small cases, without a
device."""
import dataclasses
import importlib.util
import os
import unittest
from unittest import mock

from . import GPU  # noqa: F401
from kit.peers import problems, triton_peers
from packer import variants


def cases():
    """A small case of each family."""
    found = {}
    for e in variants.entries():
        if e.kind in problems.KINDS:
            found.setdefault((e.kind, e.tile[0] < 64, e.constants.get("d")), problems.small(e.fields()))
    return [p for p in found.values() if p.kind not in ("vadd", "softmax", "layernorm", "mm")]


@unittest.skipUnless(importlib.util.find_spec("torch") and importlib.util.find_spec("triton"),
                     "PyTorch and Triton are not at hand")
class Interpreted(unittest.TestCase):
    def test_they_are_right(self):
        from kit.peers.tensors import Tensors
        with mock.patch.dict(os.environ, {"TRITON_INTERPRET": "1"}), mock.patch.object(triton_peers, "multiprocessors",
                                                                                       lambda: 2):
            for p in cases():
                # The interpreter does not multiply bf16.
                p = dataclasses.replace(p, dtype="fp16") if p.dtype == "bf16" else p
                o = min(triton_peers.options(p), key=lambda o: o.tile)
                with self.subTest(f"{p.name} {o.name}"):
                    t = Tensors(p, "cpu")
                    t.poison()
                    triton_peers.run(t, o, t.arguments(t.sets[0]))
                    self.assertLessEqual(t.error(t.out), p.TOLERANCE.get(p.dtype, 1e-4))
