//! Accesses to multicast memory: the legal forms, their results in each member, and the checks.

mod common;
use common::entry;
use half::{bf16, f16};
use ptx_sim::{Arg, Config, Device, LaunchConfig, Module, RunOptions, SimError};

/// Runs 32 threads on an object whose members have these contents. `%rd2` is the object's address, `%rd1` the address
/// of the output. Returns the output and the members.
fn run_on(body: &str, members: &[&[u8]], options: &RunOptions) -> Result<(Vec<u8>, Vec<Vec<u8>>), SimError> {
    let text = entry("", 32, body);
    let module = Module::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut device = Device::new(Config::default());
    let out = device.alloc_zeroed(256);
    let places: Vec<_> = members.iter().map(|m| device.alloc_from(m)).collect();
    let object = device.multicast(&places, members[0].len() as u64);
    let args = [Arg::Ptr(out), Arg::Ptr(object)];
    let launch = LaunchConfig { grid: [1; 3], args: &args, ..LaunchConfig::default() };
    device.launch(&module, "k", &launch, options)?;
    let read = |at, n| {
        let mut bytes = vec![0; n];
        device.read(at, &mut bytes).map(|()| bytes)
    };
    let after = places.iter().zip(members).map(|(at, m)| read(*at, m.len())).collect::<Result<_, _>>()?;
    Ok((read(out, 256)?, after))
}

fn run(body: &str, members: &[&[u8]]) -> (Vec<u8>, Vec<Vec<u8>>) {
    run_on(body, members, &RunOptions::default()).unwrap_or_else(|e| panic!("{e}\n{body}"))
}

fn error(body: &str, members: &[&[u8]]) -> String {
    match run_on(body, members, &RunOptions::default()) {
        Ok(_) => panic!("no error from\n{body}"),
        Err(e) => e.to_string(),
    }
}

fn parses(instruction: &str) -> Result<(), String> {
    Module::parse(&entry("", 32, instruction)).map(|_| ()).map_err(|e| e.to_string())
}

/// The register, or vector of registers, for an operand of a type.
fn operand(ty: &str, vector: &str) -> String {
    let register = match ty {
        "f16" | "bf16" | "b16" => "%rs",
        "f32" => "%f",
        "f64" => "%fd",
        "b64" | "u64" | "s64" => "%rd1",
        _ => "%r",
    };
    let n: usize = vector.strip_prefix(".v").map_or(1, |n| n.parse().unwrap());
    let list: Vec<String> = (1..=n).map(|i| format!("{register}{i}")).collect();
    if n == 1 { list[0].clone() } else { format!("{{{}}}", list.join(", ")) }
}

/// ptxas 13.4 accepts the same combinations, except that ptxas also accepts `red.min` and `red.max` of
/// halves, which the manual does not list.
#[test]
fn forms() {
    const TYPES: [&str; 13] =
        ["f16", "bf16", "f16x2", "bf16x2", "f32", "f64", "b32", "u32", "s32", "b64", "u64", "s64", "b16"];
    for ty in TYPES {
        for vector in ["", ".v2", ".v4", ".v8"] {
            let half = ty.contains("f16");
            let size = match ty {
                "f16" | "bf16" | "b16" => 2,
                "f64" | "b64" | "u64" | "s64" => 8,
                _ => 4,
            };
            let bytes = size * operand(ty, vector).split(',').count();
            let fits = [4, 8, 16].contains(&bytes) && (vector.is_empty() || half || ty == "f32") && ty != "b16";
            let v = operand(ty, vector);
            assert_eq!(
                parses(&format!("multimem.st.weak.global{vector}.{ty} [%rd2], {v};")).is_ok(),
                fits,
                "{ty}{vector}"
            );
            for op in ["add", "min", "max", "and", "or", "xor"] {
                let integers = match op {
                    "add" => ["u32", "s32", "u64"].contains(&ty),
                    "min" | "max" => ["u32", "s32", "u64", "s64"].contains(&ty),
                    _ => ["b32", "b64"].contains(&ty),
                };
                let floats =
                    half && op != "and" && op != "or" && op != "xor" || op == "add" && ["f32", "f64"].contains(&ty);
                let load = format!("multimem.ld_reduce.weak.global.{op}{vector}.{ty} {v}, [%rd2];");
                assert_eq!(parses(&load).is_ok(), fits && (integers || floats), "{load}");
                let update = format!("multimem.red.relaxed.sys.global.{op}{vector}.{ty} [%rd2], {v};");
                let floats = floats && op == "add";
                assert_eq!(parses(&update).is_ok(), fits && (integers || floats), "{update}");
                let wide = format!("multimem.ld_reduce.weak.global.{op}.acc::f32{vector}.{ty} {v}, [%rd2];");
                assert_eq!(parses(&wide).is_ok(), fits && half && op == "add", "{wide}");
            }
        }
    }
}

#[test]
fn orders() {
    let table = [
        ("multimem.ld_reduce.add.u32 %r1, [%rd2];", ""),
        ("multimem.ld_reduce.relaxed.cta.add.u32 %r1, [%rd2];", ""),
        ("multimem.ld_reduce.acquire.sys.global.add.u32 %r1, [%rd2];", ""),
        ("multimem.ld_reduce.release.sys.add.u32 %r1, [%rd2];", "'.release'"),
        ("multimem.ld_reduce.relaxed.add.u32 %r1, [%rd2];", "a scope"),
        ("multimem.ld_reduce.weak.sys.add.u32 %r1, [%rd2];", "'.sys'"),
        ("multimem.ld_reduce.weak.shared.add.u32 %r1, [%rd2];", "'.shared'"),
        ("multimem.ld_reduce.weak.global.u32 %r1, [%rd2];", "an operation"),
        ("multimem.st.u32 [%rd2], %r1;", ""),
        ("multimem.st.release.gpu.u32 [%rd2], %r1;", ""),
        ("multimem.st.acquire.gpu.u32 [%rd2], %r1;", "'.acquire'"),
        ("multimem.red.add.u32 [%rd2], %r1;", ""),
        ("multimem.red.release.cluster.add.u32 [%rd2], %r1;", ""),
        ("multimem.red.weak.add.u32 [%rd2], %r1;", "'.weak'"),
        ("multimem.red.acquire.sys.add.u32 [%rd2], %r1;", "'.acquire'"),
        ("multimem.red.relaxed.sys.inc.u32 [%rd2], %r1;", "u32"),
        ("multimem.add.u32 [%rd2], %r1;", "'.st'"),
    ];
    for (instruction, message) in table {
        match parses(instruction) {
            Ok(()) => assert_eq!(message, "", "{instruction}"),
            Err(e) => assert!(!message.is_empty() && e.contains(message), "{instruction}: {e}"),
        }
    }
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

#[test]
fn loads_combine_the_members() {
    let (a, b) = (words(&[7, 0xf0, 5, 1]), words(&[9, 0x3c, u32::MAX, 2]));
    let table = [
        ("multimem.ld_reduce.weak.global.add.u32 %r2, [%rd2];", 16),
        ("multimem.ld_reduce.weak.global.and.b32 %r2, [%rd2+4];", 0x30),
        ("multimem.ld_reduce.weak.global.or.b32 %r2, [%rd2+4];", 0xfc),
        ("multimem.ld_reduce.weak.global.xor.b32 %r2, [%rd2+4];", 0xcc),
        ("multimem.ld_reduce.weak.global.min.u32 %r2, [%rd2+8];", 5),
        ("multimem.ld_reduce.weak.global.min.s32 %r2, [%rd2+8];", u32::MAX),
        ("multimem.ld_reduce.weak.global.max.s32 %r2, [%rd2+8];", 5),
    ];
    for (load, want) in table {
        let (out, after) = run(&format!("{load} st.global.b32 [%rd1], %r2;"), &[&a, &b]);
        assert_eq!(out[..4], want.to_le_bytes(), "{load}");
        assert_eq!(after, [a.clone(), b.clone()], "{load}");
    }
    // With one member there is nothing to combine.
    let (out, _) = run("multimem.ld_reduce.weak.global.add.u32 %r2, [%rd2]; st.global.b32 [%rd1], %r2;", &[&a]);
    assert_eq!(out[..4], 7u32.to_le_bytes());
    let body = "multimem.ld_reduce.weak.global.add.v4.f32 {%f1,%f2,%f3,%f4}, [%rd2]; st.global.v4.f32 [%rd1], {%f1,%f2,%f3,%f4};";
    let floats = |v: [f32; 4]| v.map(f32::to_le_bytes).concat();
    let (out, _) = run(body, &[&floats([1.0, 2.0, 3.0, 4.0]), &floats([0.5, -2.0, 1e9, 0.25])]);
    assert_eq!(out[..16], floats([1.5, 0.0, 1e9, 4.25]));
}

/// With three members, a sum in f32 is rounded once, and a sum in halves twice.
#[test]
fn sums_of_halves() {
    let half = |x: f32| f16::from_f32(x).to_le_bytes();
    let members: Vec<Vec<u8>> = [2048.0, 1.0, 1.0].map(|x| [half(x), half(-x)].concat()).to_vec();
    let members: Vec<&[u8]> = members.iter().map(Vec::as_slice).collect();
    for (acc, want) in [("", 2048.0), (".acc::f32", 2050.0)] {
        let body = format!("multimem.ld_reduce.weak.global.add{acc}.f16x2 %r2, [%rd2]; st.global.b32 [%rd1], %r2;");
        assert_eq!(run(&body, &members).0[..4], [half(want), half(-want)].concat(), "{acc}");
    }
    let half = |x: f32| bf16::from_f32(x).to_le_bytes();
    let members: Vec<Vec<u8>> = [256.0, 1.0, 1.0].map(|x| [half(x), half(-x)].concat()).to_vec();
    let members: Vec<&[u8]> = members.iter().map(Vec::as_slice).collect();
    for (acc, want) in [("", 256.0), (".acc::f32", 258.0)] {
        let body = format!(
            "multimem.ld_reduce.weak.global.add{acc}.v2.bf16 {{%rs1, %rs2}}, [%rd2]; st.global.v2.b16 [%rd1], {{%rs1, %rs2}};"
        );
        assert_eq!(run(&body, &members).0[..4], [half(want), half(-want)].concat(), "{acc}");
    }
    let body = "multimem.ld_reduce.weak.global.max.bf16x2 %r2, [%rd2]; st.global.b32 [%rd1], %r2;";
    assert_eq!(run(body, &members).0[..4], [half(256.0), half(-1.0)].concat());
}

#[test]
fn updates_and_stores_reach_every_member() {
    let (a, b) = (words(&[1; 32]), words(&[2; 32]));
    let at = "mul.wide.u32 %rd4, %r1, 4; add.s64 %rd4, %rd2, %rd4;";
    let (_, after) = run(&format!("{at} multimem.red.relaxed.sys.global.add.u32 [%rd4], %r1;"), &[&a, &b]);
    let added = |x: u32| words(&(0..32).map(|i| x + i).collect::<Vec<_>>());
    assert_eq!(after, [added(1), added(2)]);
    // All threads update one location.
    let (_, after) = run("multimem.red.relaxed.sys.global.add.u32 [%rd2], 1;", &[&words(&[5]), &words(&[6])]);
    assert_eq!(after, [words(&[37]), words(&[38])]);
    let (_, after) = run(&format!("{at} multimem.st.weak.global.u32 [%rd4], %r1;"), &[&a, &b]);
    assert_eq!(after, [added(0), added(0)]);
}

#[test]
fn what_is_checked() {
    let a = words(&[0; 4]);
    let table = [
        ("ld.global.b32 %r2, [%rd2];", "a multicast address, which only multimem instructions can access"),
        ("st.global.b32 [%rd2], %r1;", "a multicast address, which only multimem instructions can access"),
        ("multimem.st.weak.global.u32 [%rd1], 1;", "multimem store"),
        ("multimem.st.weak.global.u32 [%rd1], 1;", "not a multicast address"),
        ("multimem.ld_reduce.weak.global.add.u32 %r2, [%rd2+16];", "not a multicast address"),
        ("multimem.red.relaxed.sys.global.add.u32 [%rd2+2], 1;", "multimem update"),
        ("multimem.ld_reduce.weak.global.add.v4.f32 {%f1,%f2,%f3,%f4}, [%rd2+8];", "multimem load"),
    ];
    for (instruction, message) in table {
        let e = error(instruction, &[&a, &a]);
        assert!(e.contains(message), "{instruction}: {e}");
    }
}

/// Weak stores of two warps to one location race; updates do not.
#[test]
fn races() {
    let text = |instruction: &str| {
        format!("setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 1; @%p1 {instruction} 1; @%p2 {instruction} 2;")
    };
    let options = RunOptions { adversarial: Some(1), ..RunOptions::default() };
    let a = words(&[0; 4]);
    let found = run_on(&text("multimem.st.weak.global.u32 [%rd2],"), &[&a, &a], &options).map(|_| ());
    assert!(found.as_ref().is_err_and(|e| e.to_string().contains("data race")), "{found:?}");
    let (_, after) = run_on(&text("multimem.red.relaxed.sys.global.add.u32 [%rd2],"), &[&a, &a], &options).unwrap();
    assert_eq!(after, [words(&[3, 0, 0, 0]), words(&[3, 0, 0, 0])]);
    // A release and an acquire through the members order the accesses between them.
    let body = "setp.eq.u32 %p1, %r1, 0; @!%p1 bra R;
st.global.b32 [%rd1], 7; multimem.red.release.gpu.global.add.u32 [%rd2], 1; bra D;
R: setp.ne.u32 %p2, %r1, 1; @%p2 bra D;
L: multimem.ld_reduce.ORDER.global.max.u32 %r2, [%rd2]; setp.eq.u32 %p3, %r2, 0; @%p3 bra L;
ld.global.b32 %r3, [%rd1]; st.global.b32 [%rd1+4], %r3; D:";
    let (out, _) = run_on(&body.replace("ORDER", "acquire.gpu"), &[&a, &a], &options).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(out[4..8], 7u32.to_le_bytes());
    let found = run_on(&body.replace("ORDER", "relaxed.gpu"), &[&a, &a], &options).map(|_| ());
    assert!(found.as_ref().is_err_and(|e| e.to_string().contains("data race")), "{found:?}");
}
