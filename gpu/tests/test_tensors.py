"""PyTorch's part of the competitions on its CPU device, where PyTorch is at hand: references and what libraries are
asked for."""
import contextlib
import importlib.util
import unittest
from unittest import mock

from . import GPU  # noqa: F401
import numpy as np

from kit.peers import libraries, problems, small
from packer import variants

# What only devices can do: types and layouts of their own, compilation, and functions behind which there is nothing
# else.
NEEDS_DEVICE = {"mm fp8", "mm int8", "mm_blocks", "mm_splitk", "mm_gelu fused", "attention_window", "attention_capped",
                "attention_packed", "attention_paged"}


def cases():
    """A small case of each kind and type."""
    found = {}
    for e in variants.entries():
        if e.kind in problems.KINDS:
            found.setdefault((e.kind, e.dtype, str(e.constants.get("nt")), str(e.constants.get("d"))),
                             problems.small(e.fields()))
    return found.values()


@unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not at hand")
class OnTheCpu(unittest.TestCase):
    def test_references_are_those_of_numpy(self):
        """The same numbers go into both."""
        import torch
        from kit.peers.tensors import Tensors, numbers
        for p in cases():
            with self.subTest(p.name):
                t = Tensors(p, "cpu")
                mine = t.arguments(t.sets[0])
                theirs = {name: stored(torch, p, name, v) for name, v in mine.items()}
                for unit in range(p.units):
                    count = p.rows(unit)
                    got = p.want(numbers(torch, "cpu"), mine, unit, torch.arange(count))
                    want = p.want(small.numbers(), theirs, unit, np.arange(count))
                    np.testing.assert_allclose(got.numpy(), want, rtol=1e-9, atol=1e-9)

    def test_libraries_are_asked_for_the_right_thing(self):
        from kit.peers.tensors import Tensors
        tried = 0
        for p in cases():
            t = Tensors(p, "cpu")
            for who, config, make in libraries.contenders(t):
                if {p.kind, f"{p.kind} {p.dtype}", f"{p.kind} {config}"} & NEEDS_DEVICE:
                    continue
                with self.subTest(f"{p.name}: {who} {config}"), mock.patch.object(libraries, "_backend", anything):
                    c = make()
                    c.poison()
                    c.launchers[0]()
                    self.assertLessEqual(t.error(c.output()), p.tolerance)
                    tried += 1
        self.assertGreater(tried, 15)

    def test_what_is_never_written_is_wrong(self):
        from kit.peers.tensors import Tensors
        for p in cases():
            t = Tensors(p, "cpu")
            t.poison()
            self.assertGreater(t.error(t.out), p.tolerance, p.name)

    def test_entry_parameters(self):
        """By the tile convention: arrays, lists of them, and scalars of both types."""
        import torch
        from kit.peers.images import Packed
        from kit.peers.problem import Number
        x = torch.zeros(3, 4)
        packed = Packed([x, Number("scale", 0.5), Number("window", 7, "i32"), [x, x]])
        self.assertEqual([c.value for c in packed.cells[:7]], [x.data_ptr(), 3, 4, 4, 1, 0.5, 7])
        self.assertEqual([c.value for c in packed.cells[7:]], [packed.kept[0].data_ptr(), 2])
        self.assertEqual(packed.kept[0].tolist(), 2 * [[x.data_ptr(), 3, 4, 4, 1]])


def anything(name):
    """Whatever can do it."""
    return contextlib.nullcontext()


def stored(torch, p, name, value):
    """A tensor as the kit's other part has arrays."""
    from kit.launches import Array
    dtypes = {q.name: q.items[0].dtype if hasattr(q, "items") else q.dtype for q in p.parameters()}
    if isinstance(value, list):
        return [stored(torch, p, name, v) for v in value]
    if not isinstance(value, torch.Tensor):
        return value
    if value.dtype == torch.bfloat16:
        return Array(value.view(torch.uint16).numpy(), "bf16")
    if value.dtype == torch.float8_e4m3fn:
        return Array(value.view(torch.uint8).numpy(), "e4m3")
    return Array(value.numpy(), dtypes[name])
