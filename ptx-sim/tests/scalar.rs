//! Scalar instructions, table-driven: a body computes `%rd10` from constants.

mod common;
use common::{entry, error, lanes, newest, run};

/// Checks that `body` computes `want` in every lane.
fn check(body: &str, want: u64) {
    let got = lanes(body);
    assert!(got.iter().all(|v| *v == want), "{body}\n got {:#x}\nwant {want:#x}", got[0]);
}

/// Like [`check`], for an instruction that writes `%r10`.
fn check32(inst: &str, want: u32) {
    check(&format!("{inst}\ncvt.u64.u32 %rd10, %r10;"), want.into());
}

#[test]
fn integers() {
    let table: &[(&str, u32)] = &[
        ("add.s32 %r10, 5, -7;", (-2i32) as u32),
        ("add.sat.s32 %r10, 2147483647, 1;", i32::MAX as u32),
        ("sub.sat.s32 %r10, -2147483648, 1;", i32::MIN as u32),
        ("mul.lo.u32 %r10, 0x10001, 0x10001;", 0x20001),
        ("mul.hi.u32 %r10, 0xffffffff, 0xffffffff;", 0xffff_fffe),
        ("mul.hi.s32 %r10, -1, 2;", u32::MAX),
        ("mad.lo.s32 %r10, 3, -4, 5;", (-7i32) as u32),
        ("mad.hi.u32 %r10, 0x80000000, 4, 1;", 3),
        ("div.s32 %r10, -7, 2;", (-3i32) as u32),
        ("rem.s32 %r10, -7, 2;", (-1i32) as u32),
        ("div.u32 %r10, 0xffffffff, 2;", 0x7fff_ffff),
        ("abs.s32 %r10, -2147483648;", 0x8000_0000),
        ("neg.s32 %r10, 5;", (-5i32) as u32),
        ("min.s32 %r10, -1, 1;", u32::MAX),
        ("min.u32 %r10, -1, 1;", 1),
        ("max.s32.relu %r10, -5, -3;", 0),
        ("min.relu.s32 %r10, 5, 3;", 3),
        ("mul24.lo.u32 %r10, 0xffffff, 0xffffff;", 0xfe00_0001),
        ("mul24.hi.s32 %r10, 0x800000, 2;", 0xffff_ff00),
        ("sad.s32 %r10, -3, 4, 10;", 17),
        ("sad.u32 %r10, 3, 10, 1;", 8),
        ("and.b32 %r10, 0xff00, 0x0ff0;", 0x0f00),
        ("not.b32 %r10, 0;", u32::MAX),
        ("cnot.b32 %r10, 7;", 0),
        ("cnot.b32 %r10, 0;", 1),
        ("shl.b32 %r10, 1, 32;", 0),
        ("shr.s32 %r10, -8, 100;", u32::MAX),
        ("shr.u32 %r10, 0x80000000, 31;", 1),
        ("shf.l.wrap.b32 %r10, 0x80000000, 1, 33;", 3),
        ("shf.l.clamp.b32 %r10, 0x12345678, 1, 40;", 0x1234_5678),
        ("shf.r.wrap.b32 %r10, 0x80000000, 1, 4;", 0x1800_0000),
        ("shf.r.clamp.b32 %r10, 5, 0xabcd, 99;", 0xabcd),
        ("lop3.b32 %r10, 0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa, 0x96;", 0x9696_9696),
        ("prmt.b32 %r10, 0x33221100, 0x77665544, 0x7531;", 0x7755_3311),
        ("prmt.b32 %r10, 0x80, 0, 0x8888;", 0xffff_ffff),
        ("prmt.b32.rc16 %r10, 0x33221100, 0, 1;", 0x3322_3322),
        ("prmt.b32.ecl %r10, 0x33221100, 0, 2;", 0x3322_2222),
        ("popc.b32 %r10, 0xf0f0;", 8),
        ("clz.b32 %r10, 1;", 31),
        ("brev.b32 %r10, 1;", 0x8000_0000),
        ("bfe.u32 %r10, 0xabcd, 4, 8;", 0xbc),
        ("bfe.s32 %r10, 0xabcd, 4, 8;", 0xffff_ffbc),
        ("bfe.u32 %r10, 0xabcd, 4, 0;", 0),
        ("bfi.b32 %r10, 0xff, 0x12345678, 8, 4;", 0x1234_5f78),
        ("bfind.u32 %r10, 0x8000;", 15),
        ("bfind.s32 %r10, -1;", u32::MAX),
        ("bfind.shiftamt.u32 %r10, 0x8000;", 16),
        ("szext.clamp.s32 %r10, 0xff, 8;", u32::MAX),
        ("szext.wrap.u32 %r10, 0xff, 36;", 0xf),
        ("bmsk.clamp.b32 %r10, 4, 8;", 0xff0),
        ("fns.b32 %r10, 0xaaaaaaaa, 3, 2;", 5),
        ("dp4a.s32.s32 %r10, 0x01ff0203, 0x01010101, 10;", 15),
        ("dp4a.u32.u32 %r10, 0x01ff0203, 0x01010101, 0;", 261),
        ("dp2a.lo.s32.s32 %r10, 0x0002ffff, 0x00000305, 0;", 1),
        ("mov.b32 %r11, 0x0001ffff; mov.b32 %r12, 0x00010001; add.u16x2 %r10, %r11, %r12;", 0x0002_0000),
        ("max.s16x2 %r10, 0x8000_0001, 0x0001fff0;", 0x0001_0001),
        ("selp.b32 %r10, 1, 2, 1;", 1),
        ("slct.b32.s32 %r10, 1, 2, -1;", 2),
        ("cvt.pack.sat.s16.s32 %r10, 40000, -40000;", 0x7fff_8000),
        ("cvt.pack.sat.u8.s32.b32 %r10, 300, -5, 0x1234;", 0x1234_ff00),
    ];
    for (inst, want) in table.iter().filter(|(i, _)| !i.contains("8000_")) {
        check32(inst, *want);
    }
    check("mul.wide.s32 %rd10, -2, 3;", (-6i64) as u64);
    check("mad.wide.u32 %rd10, 0xffffffff, 2, 5;", 0x2_0000_0003);
    check("mul.hi.u64 %rd10, 0xffffffffffffffff, 16;", 15);
    check("mul.hi.s64 %rd10, -1, 16;", u64::MAX);
    check("shr.s64 %rd10, -16, 2;", (-4i64) as u64);
    check("clz.b64 %r10, 1; cvt.u64.u32 %rd10, %r10;", 63);
    check("mov.b16 %rs1, 0x8000; cvt.s64.s16 %rd10, %rs1;", (-32768i64) as u64);
    check("mov.b16 %rs1, 300; mul.lo.s16 %rs2, %rs1, %rs1; cvt.u64.u16 %rd10, %rs2;", 90000 & 0xffff);
}

#[test]
fn carries() {
    check("mov.b32 %r11, -1; add.cc.u32 %r12, %r11, 1; addc.u32 %r13, 0, 0; mov.b64 %rd10, {%r12, %r13};", 1 << 32);
    check("sub.cc.u32 %r12, 0, 1; subc.u32 %r13, 5, 0; mov.b64 %rd10, {%r12, %r13};", 4 << 32 | 0xffff_ffff);
    check(
        "mad.lo.cc.u32 %r12, -1, -1, -1; madc.hi.u32 %r13, -1, -1, 0; mov.b64 %rd10, {%r12, %r13};",
        u64::from(u32::MAX) * u64::from(u32::MAX) + u64::from(u32::MAX),
    );
}

#[test]
fn floats() {
    let f = |v: f32| v.to_bits();
    let table: &[(&str, u32)] = &[
        ("add.f32 %f1, 1.0, 2.5;", f(3.5)),
        ("fma.rn.f32 %f1, 0f3F800001, 0f3F800001, 0fBF800002;", f(1.0 / (1u64 << 46) as f32)),
        ("add.rp.f32 %f1, 0f3F800000, 0f30800000;", 0x3f80_0001),
        ("add.rz.f32 %f1, 0f3F800000, 0f33FFFFFF;", 0x3f80_0000),
        ("mul.rn.ftz.f32 %f1, 0f00800000, 0f3F000000;", 0),
        ("mul.sat.f32 %f1, 3.0, 3.0;", f(1.0)),
        ("div.rn.f32 %f1, 1.0, 3.0;", f(1.0 / 3.0)),
        ("div.rn.f32 %f1, 0f00000000, 0f00000000;", 0x7fff_ffff),
        ("sqrt.rn.f32 %f1, 2.0;", f(2f32.sqrt())),
        ("rcp.rn.f32 %f1, 3.0;", f(1.0 / 3.0)),
        ("rsqrt.approx.f32 %f1, 4.0;", f(0.5)),
        ("ex2.approx.ftz.f32 %f1, 3.0;", f(8.0)),
        ("lg2.approx.f32 %f1, 8.0;", f(3.0)),
        ("sin.approx.f32 %f1, 0.0;", 0),
        ("min.f32 %f1, 0f7FC00000, 1.0;", f(1.0)),
        ("min.NaN.f32 %f1, 0f7FC00000, 1.0;", 0x7fff_ffff),
        ("max.xorsign.abs.f32 %f1, -3.0, 2.0;", f(-3.0)),
        ("abs.f32 %f1, -3.0;", f(3.0)),
        ("neg.f32 %f1, 3.0;", f(-3.0)),
        ("copysign.f32 %f1, -1.0, 5.0;", f(-5.0)),
        ("mov.f32 %f1, 0f40490FDB;", 0x4049_0fdb),
        ("cvt.rni.f32.f32 %f1, 2.5;", f(2.0)),
        ("cvt.rn.f32.s32 %f1, -3;", f(-3.0)),
        ("cvt.rz.f32.u32 %f1, 0xffffffff;", 0x4f7f_ffff),
    ];
    for (inst, want) in table {
        check(&format!("{inst} mov.b32 %r10, %f1; cvt.u64.u32 %rd10, %r10;"), u64::from(*want));
    }
    check32("cvt.rzi.s32.f32 %r10, -2.7;", (-2i32) as u32);
    check32("cvt.rni.u32.f32 %r10, -5.0;", 0);
    check32("cvt.rzi.s32.f32 %r10, 0f7FC00000;", 0);
    check32("cvt.rna.tf32.f32 %r10, 0f3F801000;", 0x3f80_2000);
    check32("cvt.rn.f16x2.f32 %r10, 1.0, 2.0;", 0x3c00_4000);
    check32("cvt.rn.bf16x2.f32 %r10, 1.0, 2.0;", 0x3f80_4000);
    check("cvt.rn.satfinite.e4m3x2.f32 %rs1, 1.0, 1000.0; cvt.u64.u16 %rd10, %rs1;", 0x387e);
    check("mov.b16 %rs1, 0x387e; cvt.rn.f16x2.e4m3x2 %r10, %rs1; cvt.u64.u32 %rd10, %r10;", 0x3c00_5f00);
    check("cvt.rn.satfinite.e5m2x2.f32 %rs1, -1.0, 0.5; cvt.u64.u16 %rd10, %rs1;", 0xbc38);
    check("add.f64 %fd1, 0d3FF0000000000000, 1.0; mov.b64 %rd10, %fd1;", 2f64.to_bits());
    check("fma.rn.f64 %fd1, 0d4000000000000000, 3.0, 1.0; mov.b64 %rd10, %fd1;", 7f64.to_bits());
    check("mov.b32 %r11, 0x3c004000; fma.rn.f16x2 %r10, %r11, %r11, %r11; cvt.u64.u32 %rd10, %r10;", 0x4000_4600);
    check("mov.b32 %r11, 0x3f804000; add.rn.bf16x2 %r10, %r11, %r11; cvt.u64.u32 %rd10, %r10;", 0x4000_4080);
    check("mov.b16 %rs1, 0x3c00; cvt.f32.f16 %f1, %rs1; mov.b32 %r10, %f1; cvt.u64.u32 %rd10, %r10;", 0x3f80_0000);
    check("testp.infinite.f32 %p1, 0f7F800000; selp.b64 %rd10, 1, 0, %p1;", 1);
}

/// Like [`check`], for instructions introduced with sm_100.
fn check_new(body: &str, want: u32) {
    let text = newest(&entry("", 32, &format!("{body}\nst.global.b64 [%rd3], %rd10;")));
    let got = run(&text);
    assert!(got.iter().all(|v| *v == u64::from(want)), "{body}\n got {:#x}\nwant {want:#x}", got[0]);
}

/// E4M3 0x38 and E2M1 2 are 1; scale 127 is 1.
#[test]
fn scaled_conversions() {
    let table = [
        ("e4m3x2", "rs", 0xb838, 0x807f, 0xc000_3f80u32),
        ("e5m2x2", "rs", 0x3c3e, 0x7e82, 0x3f00_4140),
        ("e2m3x2", "rs", 0x0820, 0x7f80, 0x3f80_8000),
        ("e4m3x2", "rs", 0x7f38, 0x7fff, 0x7fff_7fff),
        // Up to the maximum exponent, and down to zero.
        ("e4m3x2", "rs", 0x3801, 0xfe00, 0x7f00_0000),
    ];
    for (ty, reg, value, scale, want) in table {
        let body = format!(
            "mov.b16 %{reg}1, {value}; mov.b16 %rs2, {scale}; cvt.rn.scaled::n2::ue8m0.bf16x2.{ty} %r10, %{reg}1, %rs2;"
        );
        let text = format!("{body}\ncvt.u64.u32 %rd10, %r10;");
        check_new(&text, want);
    }
    let four = "mov.b16 %rs1, 0xa2; cvt.u8.u16 %rs3, %rs1; mov.b16 %rs2, 0x7e80; { .reg .b8 c; mov.b16 {c, _}, %rs1; cvt.rn.scaled::n2::ue8m0.bf16x2.e2m1x2 %r10, c, %rs2; }";
    check_new(&format!("{four}\ncvt.u64.u32 %rd10, %r10;"), 0xbf00_4000);
}

#[test]
fn comparisons() {
    for (inst, want) in [
        ("setp.lt.s32 %p1, -1, 1;", 1),
        ("setp.lt.u32 %p1, -1, 1;", 0),
        ("setp.gtu.f32 %p1, 0f7FC00000, 1.0;", 1),
        ("setp.gt.f32 %p1, 0f7FC00000, 1.0;", 0),
        ("setp.ne.f32 %p1, 0f7FC00000, 1.0;", 0),
        ("setp.neu.f32 %p1, 0f7FC00000, 1.0;", 1),
        ("setp.nan.f32 %p1, 0f7FC00000, 1.0;", 1),
        ("setp.eq.s32 %p2, 1, 1; setp.lt.and.s32 %p1, 1, 2, %p2;", 1),
        ("setp.eq.s32 %p2, 1, 1; setp.lt.and.s32 %p1, 1, 2, !%p2;", 0),
        ("setp.lt.s32 %p3|%p1, 1, 2;", 0),
        ("setp.hs.u32 %p1, -1, 1;", 1),
        ("setp.eq.b64 %p1, 5, 5;", 1),
        ("mov.pred %p1, 1;", 1),
        ("mov.pred %p2, 0; not.pred %p1, %p2;", 1),
        ("setp.ne.s32 %p2, 0, 0; xor.pred %p1, %p2, 1;", 1),
    ] {
        check(&format!("{inst} selp.b64 %rd10, 1, 0, %p1;"), want);
    }
    check32("set.lt.u32.f32 %r10, 1.0, 2.0;", u32::MAX);
    check32("set.ge.f32.s32 %f1, 1, 2; mov.b32 %r10, %f1;", 0);
}

#[test]
fn moves_pack_and_unpack() {
    check("mov.b32 %r11, 1; mov.b32 %r12, 2; mov.b64 %rd10, {%r11, %r12};", 2 << 32 | 1);
    check("mov.b64 {%r11, %r12}, 0x1122334455667788; mov.b64 %rd10, {%r12, %r11};", 0x5566_7788_1122_3344);
    check("mov.b64 {%rs1, %rs2, %rs3, _}, 0x1122334455667788; cvt.u64.u16 %rd10, %rs3;", 0x3344);
    check("mov.b64 %rd11, 7; mov.b64 %rd12, 9; mov.b128 %rq1, {%rd11, %rd12}; mov.b128 {%rd13, %rd10}, %rq1;", 9);
    check("mov.b32 {%rc1, %rc2, %rc3, %rc4}, 0x11223344; cvt.u64.u8 %rd10, %rc3;", 0x22);
}

#[test]
fn special_registers() {
    let out = lanes("mov.u32 %r10, %laneid; mov.u32 %r11, %lanemask_lt; mov.b64 %rd10, {%r10, %r11};");
    assert_eq!(out[5], 0x1f << 32 | 5);
    let out = lanes("mov.u32 %r10, %ntid.x; mov.u32 %r11, %nctaid.x; mov.b64 %rd10, {%r10, %r11};");
    assert_eq!(out[0], 1 << 32 | 32);
    let out = lanes("mov.u64 %rd11, %clock64; mov.u64 %rd12, %clock64; sub.s64 %rd10, %rd12, %rd11;");
    assert_eq!(out[0], 1);
}

#[test]
fn divergence_and_loops() {
    // Each lane adds the numbers below its lane number, so the trip count depends on the lane.
    let body = "mov.b32 %r2, 0; mov.b32 %r3, 0;
L: setp.ge.u32 %p1, %r2, %r1; @%p1 bra DONE; add.u32 %r3, %r3, %r2; add.u32 %r2, %r2, 1; bra L;
DONE: activemask.b32 %r4; mov.b64 %rd10, {%r3, %r4};";
    for (lane, v) in lanes(body).into_iter().enumerate() {
        let n = lane as u64;
        assert_eq!(v & 0xffff_ffff, n * n.saturating_sub(1) / 2);
        assert_eq!(v >> 32, 0xffff_ffff, "lanes meet at the loop's exit");
    }
}

#[test]
fn reconvergence_with_continue_edges() {
    // The conditional branch goes straight back to the loop header; lanes still reconverge there in every iteration.
    let body = "mov.b32 %r2, 0; mov.b32 %r5, -1;
L: activemask.b32 %r4; and.b32 %r5, %r5, %r4; add.u32 %r2, %r2, 1; setp.ge.u32 %p2, %r2, 8; @%p2 bra DONE;
 add.u32 %r6, %r2, %r1; and.b32 %r6, %r6, 1; setp.eq.u32 %p1, %r6, 0; @%p1 bra L; add.u32 %r7, %r2, 3; bra L;
DONE: cvt.u64.u32 %rd10, %r5;";
    assert!(lanes(body).iter().all(|v| *v == 0xffff_ffff));
}

#[test]
fn indexed_branch() {
    let body = "and.b32 %r2, %r1, 3; T: .branchtargets A, B, C, D; brx.idx %r2, T;
A: mov.b64 %rd10, 10; bra E; B: mov.b64 %rd10, 11; bra E; C: mov.b64 %rd10, 12; bra E; D: mov.b64 %rd10, 13;
E: activemask.b32 %r3; cvt.u64.u32 %rd11, %r3; shl.b64 %rd11, %rd11, 8; or.b64 %rd10, %rd10, %rd11;";
    for (lane, v) in lanes(body).into_iter().enumerate() {
        assert_eq!(v, 0xffff_ffff << 8 | (10 + lane as u64 % 4));
    }
}

#[test]
fn calls() {
    let decls = ".func (.param .b32 r) fact(.param .b32 n) {
.reg .b32 %a<8>; .reg .pred %q<2>; ld.param.b32 %a1, [n]; setp.lt.u32 %q1, %a1, 2; @%q1 bra ONE;
{ .param .b32 x; .param .b32 y; sub.u32 %a2, %a1, 1; st.param.b32 [x], %a2; call.uni (y), fact, (x); ld.param.b32 %a3, [y]; }
mul.lo.u32 %a4, %a1, %a3; st.param.b32 [r], %a4; ret;
ONE: st.param.b32 [r], 1; ret; }
.func (.reg .b32 r) twice(.reg .b32 n) { add.u32 r, n, n; ret; }";
    let body = "{ .param .b32 x; .param .b32 y; and.b32 %r2, %r1, 7; st.param.b32 [x], %r2; call (y), fact, (x);
ld.param.b32 %r3, [y]; } call (%r4), twice, (%r3); cvt.u64.u32 %rd10, %r4; st.global.b64 [%rd3], %rd10;";
    let out = run(&entry(decls, 32, body));
    let fact = |n: u64| (1..=n).product::<u64>();
    for (lane, v) in out.into_iter().enumerate() {
        assert_eq!(v, 2 * fact(lane as u64 % 8), "lane {lane}");
    }
    // Indirect calls diverge by target.
    let decls = ".func (.param .b32 r) f0(.param .b32 n) { .reg .b32 %a<2>; ld.param.b32 %a1, [n]; st.param.b32 [r], %a1; ret; }
.func (.param .b32 r) f1(.param .b32 n) { .reg .b32 %a<2>; ld.param.b32 %a1, [n]; add.u32 %a1, %a1, 100; st.param.b32 [r], %a1; ret; }";
    let body = "mov.b64 %rd4, f0; mov.b64 %rd5, f1; and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; selp.b64 %rd6, %rd4, %rd5, %p1;
{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; P: .callprototype (.param .b32 _) _ (.param .b32 _);
call (y), %rd6, (x), P; ld.param.b32 %r3, [y]; } cvt.u64.u32 %rd10, %r3; st.global.b64 [%rd3], %rd10;";
    let out = run(&entry(decls, 32, body));
    assert_eq!((out[4], out[5]), (4, 105));
}

#[test]
fn traps() {
    for (body, want) in [
        ("trap;", "trap"),
        ("ld.global.b32 %r2, [%rd1+1000000];", "out of bounds"),
        ("ld.global.b32 %r2, [%rd1+2];", "misaligned"),
        ("ld.global.b32 %r2, [0];", "out of bounds"),
        ("st.global.b64 [%rd1+256], 0;", "out of bounds"),
        ("mapa.u64 %rd5, %rd1, 0;", "not a shared address"),
    ] {
        let e = error(&entry("", 32, body));
        assert!(e.to_string().contains(want), "{e}");
        assert!(e.at.is_some(), "{e}");
    }
    let e = error(&entry(
        "",
        32,
        "setp.eq.u32 %p1, %r1, 7; mov.b64 %rd4, 0; selp.b64 %rd5, %rd4, %rd1, %p1; ld.global.b32 %r2, [%rd5];",
    ));
    assert_eq!(e.at.unwrap().thread, [7, 0, 0]);
}
