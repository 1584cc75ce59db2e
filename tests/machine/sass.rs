//! Machine code of the corpus at -O3: required and forbidden instructions, and code size.
//!
//! * No kernel spills registers except the listed ones, up to the listed number of bytes.
//! * Kernels have no stack frame for layout conversions of certain large tiles.
//! * Memory-bound kernels move 16 bytes at once, read each byte once, and have few instructions.
//! * Consecutive sines, cosines and tangents need no more registers than one, and branch once each.
//!
//! `tests/machine/products.rs` checks the code of dots. By default spills are counted on sm_90;
//! `TILEIRAS_TEST_FULL=1` takes a target of each generation and assembles every program for all the others with
//! ptxas.

use sass::{Instruction, assemble, bytes, disassemble};
use std::{env, fmt::Write, fs, path::PathBuf};
use tile_interface::{DebugInfo, Emit};
use tile_targets::Target;
use tile_test_support::{Failed, Trial, cubin, kernels, listed, sass, store};

const GENERATIONS: &[&str] = &["sm_80", "sm_89", "sm_90", "sm_100", "sm_120"];
const OTHERS: &[&str] = &["sm_86", "sm_87", "sm_88", "sm_103", "sm_107", "sm_110", "sm_121"];

pub fn trials() -> Vec<Trial> {
    let full = tile_test_support::full();
    let (targets, others) = if full { (GENERATIONS, OTHERS) } else { (&["sm_90"][..], &[][..]) };
    let mut trials = vec![
        Trial::test("sass/vectors/vadd_f32_div16", || {
            let code = code("vadd_f32_div16.13.1")?;
            narrow(&global_accesses(&code), "an access")
        }),
        Trial::test("sass/store", same_as_stored),
        Trial::test("sass/vectors/vadd_f32", || {
            store::leave_out();
            let code = code("vadd_f32.13.1")?;
            narrow(&interior(&code)?, "an access of the interior path")
        }),
        Trial::test("sass/rows/softmax_bf16_n4096", || row("softmax_bf16_n4096.13.1", 320, [2, 2])),
        // The row, its weights and its biases.
        Trial::test("sass/rows/layernorm_bf16_n4096", || row("layernorm_bf16_n4096.13.1", 320, [6, 2])),
    ];
    let programs = match programs() {
        Ok(programs) => programs,
        Err(e) => return listed("sass", Err(e)),
    };
    for ((function, most), target) in EVALUATED.into_iter().flat_map(|f| ["sm_90", "sm_100"].map(|t| (f, t))) {
        trials.push(Trial::test(format!("sass/evaluations/{function}/{target}"), move || {
            evaluations(function, most, target)
        }));
    }
    for (name, &target) in programs.iter().flat_map(|p| targets.iter().map(move |t| (p.clone(), t))) {
        trials.push(Trial::test(format!("sass/spills/{name}/{target}"), move || spills(&name, target)));
    }
    for (name, target) in WITHOUT_STACK {
        trials.push(Trial::test(format!("sass/stack/{name}/{target}"), move || without_stack(name, target)));
    }
    for (name, &target) in programs.iter().flat_map(|p| others.iter().map(move |t| (p.clone(), t))) {
        trials.push(Trial::test(format!("sass/assembles/{name}/{target}"), move || {
            assemble(&name, target).map(drop).map_err(Failed::from)
        }));
    }
    trials
}

/// Returns every program of the corpus in a readable version.
fn programs() -> Result<Vec<String>, String> {
    let root = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    let folder = root.join("tests/corpus");
    let mut programs = vec![];
    for entry in fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))? {
        let name = entry.map_err(|e| e.to_string())?.file_name();
        let program = name.to_str().and_then(|n| n.strip_suffix(".tileirbc")).filter(|n| !n.ends_with(".13.4"));
        programs.extend(program.map(String::from));
    }
    programs.sort();
    Ok(programs)
}

/// Sums values of a function at `count` multiples of a tile with eight elements per thread. The kernel is named like
/// a function of the library.
fn sum_of(function: &str, count: usize) -> String {
    const TILE: &str = "tile<1024xf32>";
    const VIEW: &str = "partition_view<tile=(1024), tensor_view<1024xf32, strides=[1]>>";
    let mut text = format!(
        "cuda_tile.module @m {{\n  entry @tl_far_{function}_f32(%x: tile<ptr<f32>>) {{\n    \
         %p = assume div_by<16>, %x : tile<ptr<f32>>\n    \
         %v = make_tensor_view %p, shape = [1024], strides = [1] : tensor_view<1024xf32, strides=[1]>\n    \
         %w = make_partition_view %v : {VIEW}\n    %i = constant <i32: 0> : tile<i32>\n    \
         %a, %t = load_view_tko weak %w[%i] : {VIEW}, tile<i32> -> {TILE}, token\n    \
         %s0 = constant <f32: 0.0> : {TILE}\n"
    );
    for q in 0..count {
        let _ = write!(
            text,
            "    %c{q} = constant <f32: {q}.5> : {TILE}\n    %m{q} = mulf %a, %c{q} : {TILE}\n    \
             %f{q} = {function} %m{q} : {TILE}\n    %s{} = addf %s{q}, %f{q} : {TILE}\n",
            q + 1
        );
    }
    text + &format!(
        "    %u = store_view_tko weak %s{count}, %w[%i] token=%t : {TILE}, {VIEW}, tile<i32> -> token\n    return\n  }}\n}}\n"
    )
}

/// The maximum number of instructions per evaluation.
const EVALUATED: [(&str, usize); 3] = [("sin", 40), ("cos", 40), ("tan", 60)];

fn evaluations(function: &str, most: usize, target: &str) -> Result<(), Failed> {
    const COUNTS: [usize; 2] = [10, 40];
    let name = target;
    let target = Target::by_name(name).ok_or("unknown target")?;
    let mut few = 0;
    for count in COUNTS {
        let ptx = kernels::compile(sum_of(function, count).as_bytes(), target, 3, Emit::Ptx)?.text;
        let cubin = cubin::assemble(&ptx, target, 3, DebugInfo::None)?;
        let evaluations = 8 * count;
        let branches = ptx.lines().filter(|l| l.trim().starts_with('@') && l.contains("bra")).count();
        if branches > evaluations {
            return Err(format!("{branches} branches in {evaluations} evaluations").into());
        }
        let kernel = cubin.resources.iter().max_by_key(|r| r.registers).ok_or("no kernel")?;
        let stack = cubin.resources.iter().map(|r| r.stack_frame).max().unwrap_or(0);
        few = if few == 0 { kernel.registers } else { few };
        if stack > 0 || kernel.registers > 64 || kernel.registers > few + 8 {
            return Err(format!("{count} times: {kernel:?}, {few} registers in the shorter kernel").into());
        }
        let code = disassemble(&cubin, &format!("{function}-{name}-{count}"))?;
        if code.len() > most * evaluations + 256 {
            return Err(format!("{} instructions for {evaluations} evaluations", code.len()).into());
        }
    }
    Ok(())
}

/// Kernels that spill, with the maximum number of bytes of loads or of stores.
const SPILLING: [(&str, &str, u64); 5] = [
    // The 48 KB that PTX guarantees do not hold the queries. The command's cubins use all of shared memory.
    ("fmha_bf16_d128_causal.13.1", "sm_80", 16),
    ("fmha_bf16_d128_causal.13.1", "sm_89", 16),
    ("fmha_bf16_d256.13.1", "sm_80", 240),
    ("fmha_bf16_d256.13.1", "sm_89", 252),
    // One number that is stored before the loop and loaded after it.
    ("fmha_bf16_d256.13.1", "sm_100", 4),
];

fn spills(name: &str, target: &str) -> Result<(), Failed> {
    let resources = assemble(name, target)?.resources;
    let bytes = resources.iter().map(|r| r.spill_stores.max(r.spill_loads)).max().unwrap_or(0);
    let listed = SPILLING.iter().find(|(n, t, _)| (*n, *t) == (name, target)).map_or(0, |(_, _, most)| *most);
    match (bytes, listed) {
        (0, 1..) => Err("it no longer spills, so that it need not be listed".into()),
        _ if bytes > listed => Err(format!("spills, at most {listed} bytes are expected: {resources:?}").into()),
        _ => Ok(()),
    }
}

/// Kernels whose layout conversions leave nothing in local memory: of large tiles of addresses, which need none, and of
/// tiles that exceed the shared memory for conversions.
const WITHOUT_STACK: [(&str, &str); 5] = [
    ("moe_gather_matmul_wide.13.1", "sm_80"),
    ("moe_gather_matmul_wide.13.1", "sm_100"),
    ("moe_gather_matmul_wide.13.1", "sm_120"),
    ("attention_latent.13.1", "sm_120"),
    ("fmha_bf16_d256.13.1", "sm_120"),
];

fn without_stack(name: &str, target: &str) -> Result<(), Failed> {
    let resources = assemble(name, target)?.resources;
    match resources.iter().map(|r| r.stack_frame).max().unwrap_or(0) {
        0 => Ok(()),
        bytes => Err(format!("a stack frame of {bytes} bytes: {resources:?}").into()),
    }
}

/// A stored result is the one that is made without the store.
fn same_as_stored() -> Result<(), Failed> {
    const NAME: &str = "softmax_f32.13.1";
    let target = Target::by_name("sm_90").ok_or("unknown target")?;
    let results = || -> Result<_, String> {
        let ptx = kernels::compile(&bytes(NAME)?, target, 3, Emit::Ptx)?.text;
        let cubin = cubin::assemble(&ptx, target, 3, DebugInfo::None)?;
        Ok((ptx, cubin.resources, cubin.image))
    };
    let (made, stored) = (results()?, results()?);
    store::leave_out();
    let afresh = results()?;
    if made != afresh || stored != afresh {
        return Err(format!("{NAME} is stored as\n{}\nand now it is\n{}", stored.0, afresh.0).into());
    }
    Ok(())
}

/// Returns the code for sm_90.
fn code(name: &str) -> Result<Vec<Instruction>, String> {
    disassemble(&assemble(name, "sm_90")?, &format!("{name}-sass"))
}

fn global_accesses(code: &[Instruction]) -> Vec<&Instruction> {
    code.iter().filter(|i| ["LDG", "STG", "LD.", "ST."].iter().any(|o| i.opcode.starts_with(o))).collect()
}

/// Returns accesses of tiles that are entirely inside. Edge accesses are skipped where they are jumped over: the
/// instructions before them, under the guard of the vectors, branch elsewhere.
fn interior(code: &[Instruction]) -> Result<Vec<&Instruction>, String> {
    let (mut inside, mut guard, mut skipped) = (vec![], None, false);
    for i in code {
        let leaves = i.opcode.starts_with("BRA") || i.opcode.starts_with("EXIT");
        if global_accesses(std::slice::from_ref(i)).is_empty() {
            skipped |= leaves && guard.is_some() && i.guard.as_ref() == guard;
        } else if i.opcode.contains(".128") {
            (guard, skipped) = (i.guard.as_ref(), false);
            inside.push(i);
        } else if !skipped {
            inside.push(i);
        }
    }
    if inside.is_empty() { Err("no access of global memory".into()) } else { Ok(inside) }
}

fn narrow(accesses: &[&Instruction], what: &str) -> Result<(), Failed> {
    let wide = |i: &&&Instruction| i.opcode.ends_with(".128") || i.opcode.contains(".128.");
    let loads = accesses.iter().filter(|i| i.opcode.starts_with("LDG")).filter(wide).count();
    let stores = accesses.iter().filter(|i| i.opcode.starts_with("STG")).filter(wide).count();
    if let Some(i) = accesses.iter().find(|i| !wide(i)) {
        return Err(format!("{what} is {}", i.opcode).into());
    }
    // Two inputs and one output, with equal numbers of vectors.
    if stores == 0 || loads != 2 * stores {
        return Err(format!("{loads} loads, {stores} stores").into());
    }
    Ok(())
}

/// Checks a kernel of whole rows: at most `most` instructions, and exactly these numbers of 16-byte loads and stores
/// per thread.
fn row(name: &str, most: usize, [loads, stores]: [usize; 2]) -> Result<(), Failed> {
    let code = code(name)?;
    let accesses = global_accesses(&code);
    let count = |of: &str| accesses.iter().filter(|i| i.opcode.starts_with(of) && i.opcode.contains(".128")).count();
    let found = [count("LDG"), count("STG")];
    if found != [loads, stores] || accesses.len() != loads + stores {
        let all: Vec<&str> = accesses.iter().map(|i| i.opcode.as_str()).collect();
        return Err(format!("{found:?} loads and stores of 16 bytes, not {loads} and {stores}: {all:?}").into());
    }
    // A loop would execute a load more than once. After the end, code branches to itself as padding.
    let backwards = code.iter().enumerate().filter(|(at, i)| {
        let start = i.target.as_ref().and_then(|t| code.iter().position(|j| j.label.as_ref() == Some(t)));
        i.opcode.starts_with("BRA") && start.is_some_and(|s| s < *at)
    });
    if backwards.count() > 0 {
        return Err("there is a loop".into());
    }
    if code.len() > most {
        return Err(format!("{} instructions, more than {most}", code.len()).into());
    }
    Ok(())
}
