//! The parser: forms that compilers emit, errors with their positions, and hostile input.

mod common;
use common::{HEADER, entry};
use ptx_sim::Module;

/// All instruction forms that compilers are known to emit.
const FORMS: &str = include_str!("ptx/forms.ptx");

fn forms() -> &'static str {
    let (_, body) = FORMS.split_once("// forms\n").unwrap();
    body.trim_end().strip_suffix('}').unwrap()
}

#[test]
fn accepted_forms() {
    Module::parse(FORMS).unwrap_or_else(|e| panic!("{e}"));
    for line in forms().split(';').map(str::trim).filter(|l| !l.is_empty()) {
        let text = entry("", 32, &format!("{line};"));
        if let Err(e) = Module::parse(&text) {
            panic!("{e}: {line}");
        }
    }
}

#[test]
fn errors_have_positions_and_reasons() {
    let table = [
        ("frob.b32 %r2, %r3;", "unknown instruction 'frob.b32'"),
        ("add.s32.wrong %r2, %r3, %r4;", "modifier '.wrong' is not valid for 'add'"),
        ("ld.global.frob.b32 %r2, [%rd4];", "modifier '.frob'"),
        ("add.s32 %r2, %r3;", "'add' takes 3 operands, found 2"),
        ("add.s64 %r2, %r3, %r4;", "operand 1 of 'add': expected a destination register of 64 bits"),
        ("add.s32 %r2, %r300, 1;", "undefined name '%r300'"),
        ("bra NOWHERE;", "undefined name 'NOWHERE'"),
        ("A: A: ret;", "'A' is defined twice"),
        ("ld.global.v4.b32 {%r2, %r3}, [%rd4];", "4 destination registers"),
        ("mov.b32 %r2, 0f3F80;", "malformed number '0f3F80'"),
        ("@%r2 bra X; X:", "expected a predicate"),
        ("setp.lt.b32 %p1, %r2, %r3;", "type .b32 is not valid"),
        ("cvt.f16.f32 %rs1, %f1;", "rounding mode"),
        ("cvt.s32.f32 %r2, %f1;", "integer rounding mode"),
        ("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f1}, {%r2}, {%r3}, {%f1}, %r4, 0;", "not supported"),
        ("wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%f1}, %rd4, %rd5, %p1, 1, 1, 0, 0;", "not supported"),
        ("st.const.b32 [%rd4], %r2;", "constant memory"),
        ("atom.global.and.f32 %f1, [%rd4], %f2;", "type .f32 is not valid"),
        (".frob 3;", "unknown directive 'frob'"),
    ];
    for (line, want) in table {
        let text = entry("", 32, line);
        let e = Module::parse(&text).err().unwrap_or_else(|| panic!("accepted: {line}"));
        assert!(e.to_string().contains(want), "{line}: {e}");
    }
    let e = Module::parse(&format!("{HEADER}.visible .entry k() {{\n  add.s32 %r1, 1, 2;\n}}")).unwrap_err();
    assert_eq!((e.line, e.column), (5, 11));
    for text in
        ["", "hello", ".version", ".version 8.0 .entry", ".version 8.0\n.global .b32 x[-1];", ".version 8.0 .entry k("]
    {
        assert!(Module::parse(text).is_err(), "{text}");
    }
}

/// PTX that the simulator does not support is rejected as such, with its position.
#[test]
fn what_is_not_simulated_is_refused() {
    let lines = [
        "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f5,%f6}];",
        "txq.width.b32 %r1, [%rd1];",
        "suld.b.1d.b32.trap %r1, [%rd1, {%r2}];",
        "sust.b.1d.b32.trap [%rd1, {%r2}], %r1;",
        "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%rd1], 16;",
        "vabsdiff.u32.u32.u32 %r1, %r2, %r3;",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r1}, {%f1}, %r5, 0x0;",
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1,%f2,%f3,%f4}, %rd1, %rd2, %r1, 0, %p1, 1, 1, 0, 0;",
        "tcgen05.mma.sp.cta_group::1.kind::f16 [%r1], %rd1, %rd2, [%r2], %r3, %p1;",
        "tcgen05.mma.cta_group::1.kind::f16.ashift [%r1], [%r2], %rd2, %r3, %p1;",
        "tcgen05.ld.red.sync.aligned.32x32b.x2.min.f32 {%r1,%r2}, %r3, [%r4];",
        "cvt.rn.satfinite.s2f6x2.f32 %rs1, %f1, %f2;",
        "cvt.rs.satfinite.e4m3x4.f32 %r1, {%f1,%f2,%f3,%f4}, %r2;",
        "cp.async.bulk.tensor.4d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes [%r2], [%rd4, {%r3, %r4, %r5, %r6}], [%r7], {%rs1, %rs2};",
        "red.async.release.gpu.global.add.u32 [%rd1], %r1;",
    ];
    for line in lines {
        let e = Module::parse(&entry("", 32, &format!("mov.b32 %r1, 1; {line}"))).err();
        let e = e.unwrap_or_else(|| panic!("accepted: {line}"));
        let name = line.split_whitespace().next().unwrap();
        assert_eq!(e.to_string(), format!("9:17: not supported by the simulator: instruction '{name}'"));
    }
}

#[test]
fn directives_and_declarations() {
    let text = "// comment\n.version 8.8 /* block\ncomment */\n.target sm_100a, debug\n.address_size 64\n.file 1 \"a.cu\"
.extern .shared .align 128 .b8 dyn[];\n.weak .global .align 4 .u32 w[2][2] = {{1, 2}, {3}};\n.visible .const .align 16 .v4 .f32 c = {1.0, 2.0, 0f00000000, 0};
.extern .func (.param .b32 r) g (.param .align 8 .b8 s[24], .param .b64 .ptr .global .align 16 p) .noreturn;
.visible .entry k(.param .align 64 .b8 m[128], .param .u64 .ptr .align 1 q)\n.reqntid 128, 2\n.minnctapersm 2\n.maxnreg 168\n.reqnctapercluster 2, 1, 1\n.explicitcluster\n.pragma \"nounroll\";
{ .reg .pred %p<3>; .reg .b32 a, b<2>; .loc 1 3 0\n .local .align 16 .b8 l[32]; { .reg .b32 a; mov.b32 a, 1; } mov.b32 b1, 2; mov.b32 a, b1;\n ret; }
.section .debug_info { .b8 1, 2 \n .b32 .debug_abbrev }\n";
    let m = Module::parse(text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((m.version, m.target.as_str(), m.sm()), ((8, 8), "sm_100a", 100));
    let k = m.function("k").unwrap();
    assert_eq!(k.directives.reqntid, Some([128, 2, 1]));
    assert_eq!(k.directives.reqnctapercluster, Some([2, 1, 1]));
    assert_eq!((k.params[0].size, k.params[0].align, k.params[1].pointer), (128, 64, true));
    assert_eq!(m.variables.iter().map(|v| v.size).collect::<Vec<_>>(), [None, Some(16), Some(16)]);
    assert_eq!(m.entries().collect::<Vec<_>>(), ["k"]);
}
