"""How competitors are checked, timed and recorded, with stand-ins for PyTorch's part; and our images on small cases."""
import json
import pathlib
import tempfile
import time
import types
import unittest
from unittest import mock

from . import GPU, ROOT  # noqa: F401
from .help import kit, status
from kit import records
from kit.device import DeviceError
from kit.peers import backend, plan, problems, run
from kit.peers.backend import Contender, launches_per_graph
from kit.peers.attention import Split
from kit.peers.products import Product
from kit.work import Context, ContextLost
from packer import parts, steps, tools, variants

PROBLEM = Product("bf16", 1, 1000, 1000, 1000)


class Tensors:
    """Errors are what a contender's output says."""

    def __init__(self, alive=True):
        def synchronize():
            if not alive:
                raise RuntimeError("the context is lost")
        self.torch = types.SimpleNamespace(cuda=types.SimpleNamespace(synchronize=synchronize, empty_cache=lambda: None))

    def error(self, out):
        return out


def contender(who, config="", error=1e-3, us=100.0, **about):
    return Contender(who, config, [lambda: None], lambda: error, lambda: None, {"us": us, **about})


class Competitions(unittest.TestCase):
    def setUp(self):
        self.sent = []
        config = {"deadline": time.monotonic() + 1000, "pack": "."}
        self.context = Context(config, types.SimpleNamespace(measures=True), self.sent.append)
        self.context.item = {"part": "peers", "name": PROBLEM.name}
        for name, stand_in in (("quick", lambda c: c.about["us"]), ("interleaved", lambda cs: [[c.about["us"] * f for f in (1, 1.1, 0.9)] for c in cs])):
            patch = mock.patch.object(run, name, stand_in)
            patch.start()
            self.addCleanup(patch.stop)

    def compete(self, lazies, tensors=None):
        with mock.patch.object(run, "lazily", lambda *_: iter(lazies)), \
                mock.patch.dict("sys.modules", {"kit.peers.tensors": types.SimpleNamespace(Tensors=lambda p: tensors or Tensors())}):
            run.compete(self.context, PROBLEM)
        found = [{"t": 0, "device": "cuda", **m["record"]} for m in self.sent if "record" in m]
        self.assertEqual([p for r in found for p in records.problems(r)], [])
        return found

    @staticmethod
    def lazy(c):
        return c.who, c.config, lambda: c

    def test_the_best_variant_of_each_is_timed_precisely(self):
        found = self.compete([self.lazy(c) for c in (contender("cublas", us=100.0), contender("triton", "a", us=300.0), contender("triton", "b", us=200.0))])
        quick = [(r["impl"], r["config"]) for r in found if r["record"] == "measurement" and not r["precise"]]
        precise = {(r["impl"], r["config"]): r for r in found if r["record"] == "measurement" and r["precise"]}
        self.assertEqual(quick, [("cublas", ""), ("triton", "a"), ("triton", "b")])
        self.assertEqual(list(precise), [("cublas", ""), ("triton", "b")])
        r = precise["triton", "b"]
        # 2e9 operations in 200 us.
        self.assertAlmostEqual(r["median"], 10.0)
        self.assertAlmostEqual(r["us"]["high"], 220)
        self.assertAlmostEqual(r["against_library"]["median"], 0.5)
        self.assertEqual(found[-1]["status"], "pass")

    def test_wrong_and_broken_ones_are_listed_and_left_out(self):
        def refused():
            raise DeviceError("load", "not an image", code=200, code_name="CUDA_ERROR_INVALID_IMAGE")

        def raises():
            raise ValueError("out of resources")
        found = self.compete([self.lazy(contender("cublas")), self.lazy(contender("ours", "nan", error=float("inf"))),
                              self.lazy(contender("ours", "off", error=0.5)), ("tileiras-vendor", "x", refused), ("triton", "y", raises)])
        bad = [(r["name"].split(": ")[1], r["status"], r["what"], r["code_name"]) for r in found if r["record"] == "case" and r["status"] != "pass"]
        self.assertEqual(bad, [("ours nan", "fail", "result", "RELATIVE_ERROR"), ("ours off", "fail", "result", "RELATIVE_ERROR"),
                               ("tileiras-vendor x", "error", "load", "CUDA_ERROR_INVALID_IMAGE"), ("triton y", "error", "library", "ValueError")])
        self.assertEqual([r["impl"] for r in found if r["record"] == "measurement"], ["cublas", "cublas"])

    def test_a_lost_context_ends_the_process_and_the_next_one_leaves_it_out(self):
        def fatal():
            raise DeviceError("run", "gone", code=700, code_name="CUDA_ERROR_ILLEGAL_ADDRESS", fatal=True)
        lazies = [self.lazy(contender("cublas")), ("ours", "bad", fatal), self.lazy(contender("triton"))]
        with self.assertRaises(ContextLost):
            self.compete(lazies)
        self.assertEqual(self.sent[-2]["subject"], "ours bad")
        self.context.skip = frozenset(["ours bad"])
        self.assertEqual(self.compete(lazies)[-1], {"t": 0, "device": "cuda", "record": "case", "part": "peers", "name": PROBLEM.name, "status": "pass", "variants": 2})

    def test_a_library_that_loses_the_context(self):
        def raises():
            raise RuntimeError("CUDA error")
        with self.assertRaises(ContextLost):
            self.compete([("triton", "", raises)], Tensors(alive=False))

    def test_nobody_is_right(self):
        self.assertEqual(self.compete([self.lazy(contender("ours", error=1.0))])[-1]["code_name"], "NOBODY")

    def test_what_the_time_is_not_enough_for_is_listed(self):
        self.context.config["deadline"] = time.monotonic() + 1
        found = self.compete([self.lazy(contender("cublas"))])
        self.assertEqual([(r["status"], r.get("what")) for r in found if r["record"] == "case"], [("skipped", "budget"), ("error", "peers")])

    def test_the_simulated_device_does_not_compete(self):
        self.context.device = types.SimpleNamespace(measures=False)
        with self.assertRaisesRegex(DeviceError, "on a GPU only"):
            run.handle(self.context, {"case": "copy u8 4294967296"})

    def test_all_competitors_of_a_case(self):
        """Libraries first, then images of both compilers with those that follow them, then Triton."""
        problem = Split("bf16", 1, 1, 8, 8, 4096)
        images = [{**e.fields(), "who": who, "same_as": None} for e in variants.entries() for who in ("vendor", "ours")
                  if e.kind in (problem.kind, "attention_combine", "vadd")]
        with tempfile.TemporaryDirectory() as pack:
            pathlib.Path(pack, "peers").mkdir()
            pathlib.Path(pack, "peers", "index.json").write_text(json.dumps(images))
            self.context.config["pack"] = pack
            found = list(run.lazily(self.context, problem, types.SimpleNamespace(problem=problem, torch=None)))
        self.assertEqual([(who, config) for who, config, _ in found if who != "triton"],
                         [("torch-flash", ""), ("cudnn", ""), *[(who, f"attention_split_16x{n}") for who in ("tileiras-vendor", "ours") for n in (64, 128)]])
        last = next(make for who, config, make in found if who == "ours")
        self.assertEqual(last.args[-1]["attention_combine"]["who"], "ours")

    def test_steps_are_competitors_of_their_own(self):
        """Beside the library, and the same kernels with all steps."""
        entries = {e.name: e for e in variants.entries()}
        chosen = [entries[n] for n in ("attention_128_128x128", "attention_128_128x64", "attention_128_causal_128x128")]
        images = [{**e.fields(), "who": who, "same_as": None} for e in chosen for who in ("vendor", "ours", steps.who("turns"), steps.who("rotation"))
                  if not who.startswith("ours without") or e.name in steps.KERNELS]
        with tempfile.TemporaryDirectory() as pack:
            pathlib.Path(pack, "peers").mkdir()
            pathlib.Path(pack, "peers", "index.json").write_text(json.dumps(images))
            self.context.config["pack"] = pack
            items = plan.steps(pathlib.Path(pack), "cuda", "s8192")
            problem = next(p for p in problems.problems() if p.name == items[0].payload["case"])
            found = list(run.without_steps(self.context, problem, types.SimpleNamespace(problem=problem, torch=None)))
        self.assertEqual([i.payload for i in items], [{"case": f"attention bf16 b2 h16 d128 s8192{c}", "steps": True} for c in ("", " causal")])
        ours = [(who, config) for who, config, _ in found if who.startswith("ours")]
        self.assertEqual(ours, [(who, "attention_128_128x128") for who in ("ours", "ours without turns", "ours without rotation")])
        self.assertEqual({who for who, *_ in found} - {who for who, _ in ours}, {"torch-flash", "cudnn"})

    def test_graphs_are_as_long_as_a_launch_allows(self):
        self.assertEqual([launches_per_graph(us) for us in (5, 3000, 5000, 15000, 90000)], [10, 10, 8, 2, 2])
        self.assertEqual(backend.launches_per_graph(5, 4), 4)


class Small(unittest.TestCase):
    def test_our_images_run_small_cases_on_the_simulated_device(self):
        """A program of the corpus in the place of a competitor's: a vector addition by the same convention."""
        with tempfile.TemporaryDirectory() as folder:
            pack, out = pathlib.Path(folder, "pack"), pathlib.Path(folder, "out")
            (pack / "peers").mkdir(parents=True)
            text = pack / "peers" / "vadd.ptx"
            tools.run(tools.built("tileiras"), ROOT / "tests/corpus/vadd_f32.13.1.tileirbc", "--gpu-name=sm_90", "-O3", "--emit=ptx", "-o", text)
            entry = {"name": "vadd_1024", "kind": "vadd", "dtype": "f32", "tile": [1024], "constants": {}, "who": "ours", "same_as": None, "symbol": "vadd_f32", "ctas": 1,
                     "ptx": "peers/vadd.ptx", "cubin": "peers/vadd.cubin", "block": parts.required_block(text.read_text(), "vadd_f32"), "sha256": "0" * 64}
            (pack / "peers" / "index.json").write_text(json.dumps([entry, {**entry, "name": "other", "who": "vendor"}]))
            code, found, said = kit(pack, out, what="peers")
            self.assertEqual((code, status(found, "vadd_1024")["status"]), (0, "pass"), said)
            self.assertFalse([r for r in found if r.get("name") == "other"])
