"""The device for GPUs, on a stand-in for the driver (gpu/driver) that runs kernels on the simulator.

SIM_CUDA names the library; the test of that crate sets it. Images are PTX here, which drivers take as well.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

from . import GPU  # noqa: F401
import numpy as np

from .help import HANG, SAXPY, case, index, kit, piece, results, status

LIBRARY = os.environ.get("SIM_CUDA")

# Writes one float behind the end of its array: into the red zone.
BEYOND = SAXPY.replace("st.global.f32 [%d2], %f1;", "st.global.f32 [%d2+4], %f1;")
# Writes far away.
ILLEGAL = SAXPY.replace("st.global.f32 [%d2], %f1;", "st.global.f32 [%d1], %f1;")


@unittest.skipUnless(LIBRARY, "SIM_CUDA is not set")
class Cuda(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        driver = pathlib.Path(cls.folder.name, "driver")
        driver.mkdir()
        (driver / "libcuda.so.1").symlink_to(LIBRARY)
        cls.env = {"LD_LIBRARY_PATH": f"{driver}:{os.environ.get('LD_LIBRARY_PATH', '')}"}

    def run_cases(self, *cases, **options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        pack, out = pathlib.Path(folder.name, "pack"), pathlib.Path(folder.name, "out")
        index(pack, [make(pack) for make in cases])
        return kit(pack, out, *options.get("arguments", ()), what="correctness", device="cuda", env=self.env)

    def one(self, name, ptx, **options):
        return lambda pack: case(pack, name, ptx, **options)

    def test_failures_are_told_apart_and_the_rest_goes_on(self):
        code, found, said = self.run_cases(
            self.one("a", SAXPY), self.one("b_broken", SAXPY.replace("mul.f32", "frob.f32")), self.one("c_symbol", SAXPY, entry="nope"),
            self.one("d_wrong", SAXPY, want=3.0), self.one("e_illegal", ILLEGAL), self.one("f", SAXPY), self.one("g_beyond", BEYOND),
            self.one("h_lost", SAXPY, image="none.cubin"), self.one("i", SAXPY))
        self.assertEqual(code, 1, said)
        for name in ("a", "f", "i"):
            self.assertEqual(status(found, name)["status"], "pass", said)
        table = {"b_broken": ("error", "load", "CUDA_ERROR_INVALID_PTX", 218), "c_symbol": ("error", "symbol", "CUDA_ERROR_NOT_FOUND", 500),
                 "d_wrong": ("fail", "result", None, None), "e_illegal": ("error", "run", "CUDA_ERROR_ILLEGAL_ADDRESS", 700),
                 "g_beyond": ("error", "result", "RED_ZONE", None), "h_lost": ("error", "image", "", None)}
        for name, want in table.items():
            r = status(found, name)
            self.assertEqual((r["status"], r["what"], r.get("code_name"), r.get("code")), want, r)
        self.assertIn("the first at offset 128 of 128", status(found, "g_beyond")["detail"])

    def test_a_kernel_that_hangs(self):
        code, found, said = self.run_cases(self.one("a_hang", HANG), self.one("b", SAXPY), arguments=("--limit", "4"))
        self.assertEqual((code, status(found, "a_hang")["status"], status(found, "b")["status"]), (1, "timeout", "pass"), said)

    def test_a_device_that_is_no_gpu_does_not_measure(self):
        _, found, _ = self.run_cases(self.one("a", SAXPY))
        facts = next(r for r in found if r["record"] == "telemetry")["facts"]
        self.assertEqual((facts["measures"], facts["sms"], facts["major"], facts["driver_api"]), (False, 4, 9, 13000))

    def test_images_that_the_driver_refuses_are_assembled_anew(self):
        """The stand-in refuses real cubins. An assembler that only copies makes images that it takes."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        pack, out, tools = (pathlib.Path(folder.name, n) for n in ("pack", "out", "tools"))
        entry = case(pack, "a", SAXPY.replace(".version 8.7", ".version 9.4"))
        entry["cubin"] = "ptx/a/kernel.cubin"
        (pack / entry["cubin"]).write_bytes(b"\x7fELF and so on\0")
        index(pack, [entry])
        tools.mkdir()
        (tools / "ptxas").write_text('#!/bin/sh\ngrep -q "^.version 9.0" "$2" && cp "$2" "$4"\n')
        (tools / "ptxas").chmod(0o755)
        code, found, said = kit(pack, out, what="correctness", device="cuda", env={**self.env, "PATH": f"{tools}:{os.environ['PATH']}"})
        self.assertEqual((status(found, "carried")["status"], status(found, "carried")["code_name"]), ("error", "CUDA_ERROR_INVALID_IMAGE"), said)
        self.assertEqual((status(found, "reassembled")["status"], status(found, "reassembled")["problems"]), ("pass", 0))
        self.assertEqual(status(found, "a")["status"], "pass", said)
        self.assertEqual((pack / entry["cubin"]).read_bytes(), b"\x7fELF and so on\0", "the pack itself stays as it is")

    def test_programs_go_on_behind_those_that_break(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        pack, out = pathlib.Path(folder.name, "pack"), pathlib.Path(folder.name, "out")
        idle = SAXPY.replace("st.global.f32 [%d2], %f1;", "")
        piece(pack, "0", [("good", SAXPY), ("broken", SAXPY.replace("mul.f32", "frob.f32")), ("illegal", ILLEGAL), ("idle", idle), ("beyond", BEYOND)])
        piece(pack, "1", [("hang", HANG), ("last", SAXPY)])
        code, found, said = kit(pack, out, "--limit", "4", what="programs", device="cuda", env=self.env)
        self.assertEqual(code, 1, said)
        last = {head["name"]: (head, data) for head, data in results(out / "programs.results")}
        self.assertEqual({name for name, (head, _) in last.items() if head.get("error")}, {"broken", "illegal", "beyond", "hang"})
        two = np.full(32, 2, np.float32).tobytes()
        for name in ("good", "last"):
            self.assertEqual((last[name][0]["buffers"], last[name][1]), ([128], two))
        self.assertEqual((last["idle"][0]["buffers"], last["idle"][1]), ([None], b""))
        self.assertIn("the first at offset 128 of 128", last["beyond"][0]["error"])
        self.assertIn("CUDA_ERROR_INVALID_PTX", last["broken"][0]["error"])
        blamed = [(r["name"], r["status"], r.get("where")) for r in found if r["record"] == "case" and r["part"] == "programs"]
        self.assertIn(("1", "timeout", "hang sm_90 -O3"), blamed)
        self.assertTrue(any(r.get("code_name") == "CUDA_ERROR_ILLEGAL_ADDRESS" for r in found), said)

    def test_launches_that_run_together(self):
        """In streams and as a graph, each in a process of its own; a kernel that keeps something in its module's memory is found out."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        pack, out = pathlib.Path(folder.name, "pack"), pathlib.Path(folder.name, "out")
        (pack / "cases").mkdir(parents=True)
        (pack / "cases" / "cases.py").write_text(TWICE_CASES)
        programs = []
        for name, ptx in (("clean", TWICE), ("racy", RACY)):
            (pack / "cases" / f"{name}.ptx").write_text(ptx)
            programs.append({"program": name, "case": "twice", "entry": "twice", "level": 3, "cubin": f"cases/{name}.ptx", "ptx": f"cases/{name}.ptx",
                             "block": [32, 1, 1]})
        (pack / "cases" / "index.json").write_text(json.dumps(programs))
        code, found, said = kit(pack, out, what="concurrent", device="cuda", env=self.env)
        self.assertEqual(code, 1, said)
        for how in ("streams", "graph"):
            clean, racy = status(found, f"clean {how}"), status(found, f"racy {how}")
            self.assertEqual((clean["status"], clean["launches"], clean["graph"]), ("pass", 16, how == "graph"), said)
            # The first launch of each process is right: the image is loaded anew.
            self.assertEqual((racy["status"], racy["launches_wrong"], racy["where"]), ("fail", 15, "launch 1, argument 1[0]"), said)

    def test_launches_of_a_chain(self):
        """Ordinary and dependent, as a stream and as a graph: attributes of launches arrive, arrays between are shared."""
        found = self.child("""
            from kit.launches import *
            import numpy as np
            for dependent in (False, True):
                for graph in (False, True):
                    data = np.ones(32, np.float32)
                    chain = [Launch("scale", (1, 1, 1), [Buffer(data, "f32"), Scalar("f32", float(n))], (32, 1, 1), dependent=dependent and n > 2) for n in (2, 3, 4)]
                    print([float(o.arrays[0][0][31]) for o in device.run_chain(Image(cubin=path), chain, graph)], end=" ")
        """, SAXPY)
        self.assertEqual(found, " ".join(4 * ["[24.0, 24.0, 24.0]"]))

    def test_arguments_arrive(self):
        found = self.child("""
            from kit.launches import *
            import numpy as np
            out = Buffer(np.zeros(8, np.uint64), "u64")
            args = [Scalar("i8", -2), Bytes(bytes(range(24))), Array(np.zeros((3, 5), np.uint16), "bf16"), out,
                    ArrayList([Array(np.full(4, 7, np.int32), "i32")])]
            outcome = device.run(Image(cubin=path), Launch("k", (1, 1, 1), args, (1, 1, 1)))
            print(outcome.arrays[3][0].tolist())
        """, ARGUMENTS)
        self.assertEqual(found, str([0xFE, 0x0F0E0D0C0B0A0908, 3, 5, 5, 1, 7, 4]))

    def test_tensor_maps_of_one_dimension(self):
        found = self.child("""
            from kit.launches import *
            import numpy as np
            a = np.arange(64, dtype=np.float32)
            outcome = device.run(Image(cubin=path), Launch("k", (1, 1, 1), [TensorMap(a, "f32", [64], [], [32])], (1, 1, 1)))
            print(bool((outcome.arrays[0][0] == a).all()))
        """, MAP)
        self.assertEqual(found, "True")

    def test_contenders_share_memory_and_take_turns(self):
        found = self.child("""
            from kit.launches import *
            import numpy as np
            shared = np.ones(32, np.float32)
            two = [Launch("scale", (1, 1, 1), [Buffer(shared, "f32"), Scalar("f32", 2.0)], (32, 1, 1)) for _ in range(2)]
            timed = device.time([(Image(cubin=path), two[:1]), (Image(cubin=path), two[1:])], Schedule(per_graph=3, replays=2, warm=1))
            print([len(t.microseconds) for t in timed], timed[0].microseconds[0], float(timed[0].arrays[0][0][0][0]), float(timed[1].arrays[0][0][0][0]))
        """, SAXPY)
        # Two warm-up launches, and three replays of three launches each for both: 2^20. A launch counts as a millisecond.
        self.assertEqual(found, "[2, 2] 1000.0 1048576.0 1048576.0")

    def test_what_kernels_print_is_captured(self):
        found = self.child("""
            from kit.launches import *
            outcome = device.run(Image(cubin=path), Launch("k", (1, 1, 1), [], (1, 1, 1)))
            print([outcome.printed])
        """, PRINT)
        self.assertEqual(found, "['seven 7\\n']")

    def child(self, code, ptx):
        """The output of a program that has a device and the path of an image."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "k.cubin")
            path.write_text(ptx)
            head = (f"import sys, pathlib; sys.path[:0] = {sys.path!r}\nfrom kit.cuda_device import CudaDevice\nfrom kit.device import Image, Schedule\n"
                    f"device, path = CudaDevice(), pathlib.Path({str(path)!r})\n")
            done = subprocess.run([sys.executable, "-c", head + textwrap.dedent(code)], capture_output=True, text=True, env={**os.environ, **self.env})
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout.strip()


ARGUMENTS = """
.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .s8 a, .param .align 8 .b8 b[24], .param .u64 c, .param .u32 c0, .param .u32 c1, .param .u32 c2, .param .u32 c3,
                  .param .u64 out, .param .u64 list, .param .u32 length)
{
	.reg .b32 %r<4>;
	.reg .b64 %d<6>;
	ld.param.u64 %d0, [out];
	ld.param.u8 %r0, [a];
	cvt.u64.u32 %d1, %r0;
	st.global.u64 [%d0], %d1;
	ld.param.u64 %d1, [b+8];
	st.global.u64 [%d0+8], %d1;
	ld.param.u32 %r0, [c0];
	cvt.u64.u32 %d1, %r0;
	st.global.u64 [%d0+16], %d1;
	ld.param.u32 %r0, [c1];
	cvt.u64.u32 %d1, %r0;
	st.global.u64 [%d0+24], %d1;
	ld.param.u32 %r0, [c2];
	cvt.u64.u32 %d1, %r0;
	st.global.u64 [%d0+32], %d1;
	ld.param.u32 %r0, [length];
	cvt.u64.u32 %d1, %r0;
	st.global.u64 [%d0+40], %d1;
	ld.param.u64 %d2, [list];
	ld.global.u64 %d3, [%d2];
	ld.global.u32 %r1, [%d3];
	cvt.u64.u32 %d1, %r1;
	st.global.u64 [%d0+48], %d1;
	ld.global.u64 %d1, [%d2+8];
	st.global.u64 [%d0+56], %d1;
	ret;
}
"""

# Doubles 32 floats. The comment is what the kit looks for.
TWICE = """
// cp.async.bulk.tensor
.version 8.7
.target sm_90a
.address_size 64
.global .align 4 .b32 flag;
.visible .entry twice(.param .u64 in, .param .u32 n0, .param .u32 s0, .param .u64 out, .param .u32 n1, .param .u32 s1)
{
	.reg .b32 %r<3>;
	.reg .f32 %f<2>;
	.reg .b64 %d<4>;
	ld.param.u64 %d0, [in];
	ld.param.u64 %d1, [out];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %d2, %r0, 4;
	add.u64 %d0, %d0, %d2;
	add.u64 %d1, %d1, %d2;
	ld.global.f32 %f0, [%d0];
	add.f32 %f0, %f0, %f0;
	st.global.f32 [%d1], %f0;
	ret;
}
"""

# The first launch leaves something behind that spoils the others.
RACY = TWICE.replace("\tst.global.f32 [%d1]", """\tatom.global.add.u32 %r1, [flag], 1;
	shr.u32 %r1, %r1, 5;
	cvt.rn.f32.u32 %f1, %r1;
	add.f32 %f0, %f0, %f1;
	st.global.f32 [%d1]""")

TWICE_CASES = """
import dataclasses
import numpy as np

@dataclasses.dataclass
class Arr:
    data: np.ndarray
    dtype: str = "f32"
    index: str = "i32"

class Sca: pass
class Lst: pass

@dataclasses.dataclass
class Expect:
    value: np.ndarray
    rtol: float = 0.0
    atol: float = 0.0
    bad: float = 0.0
    loose: list | None = None

@dataclasses.dataclass
class Case:
    args: list
    expect: dict
    grid: tuple = (1, 1, 1)
    stdout: tuple = ()

def make(name, seed):
    data = np.arange(32, dtype=np.float32) + seed
    return Case([Arr(data), Arr(np.zeros(32, np.float32))], {1: Expect(2 * data)})
"""

# Takes a tensor map and does nothing.
MAP = ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .align 64 .b8 map[128])\n{\n\tret;\n}\n"

PRINT = """
.version 8.7
.target sm_90a
.address_size 64
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 text[10] = {115, 101, 118, 101, 110, 32, 37, 100, 10, 0};
.visible .entry k()
{
	.local .align 8 .b8 stack[8];
	.reg .b32 %r<2>;
	.reg .b64 %d<4>;
	mov.u64 %d0, stack;
	cvta.local.u64 %d0, %d0;
	mov.u32 %r0, 7;
	st.u32 [%d0], %r0;
	mov.u64 %d1, text;
	cvta.global.u64 %d1, %d1;
	{
	.param .b64 p0;
	st.param.b64 [p0], %d1;
	.param .b64 p1;
	st.param.b64 [p1], %d0;
	.param .b32 q;
	call.uni (q), vprintf, (p0, p1);
	}
	ret;
}
"""
