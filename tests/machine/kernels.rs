//! Kernels of the corpus from bytecode to machine code: each compiles, assembles, and gets the expected code.
//!
//! One test per kernel, at -O0 and -O3. By default on three targets, one of each generation; `TILEIRAS_TEST_FULL=1`
//! takes all eleven at both levels. At -O3 the tests check for: no spills, no local memory, no shared memory except
//! for transposes, and 128-bit accesses where alignment and bounds allow them. At every level, equal inputs give
//! equal PTX.

use kernels::{KERNELS, Kernel, Vectors, compile, compile_afresh, compile_with};
use std::collections::BTreeSet;
use tile_interface::{DebugInfo, Emit};
use tile_targets::Target;
use tile_test_support::{Failed, Trial, cubin, kernels, sass};

const TARGETS: &[&str] =
    &["sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_100", "sm_103", "sm_107", "sm_110", "sm_120", "sm_121"];

pub fn trials() -> Vec<Trial> {
    let full = tile_test_support::full();
    let configurations: Vec<(&str, u8)> = if full {
        TARGETS.iter().flat_map(|&t| [(t, 0), (t, 3)]).collect()
    } else {
        vec![("sm_90", 0), ("sm_80", 3), ("sm_90", 3), ("sm_100", 3)]
    };
    KERNELS
        .iter()
        .map(|kernel| {
            let configurations = configurations.clone();
            Trial::test(format!("kernels/{}", kernel.name), move || check(kernel, &configurations))
        })
        .chain(
            KERNELS.iter().map(|kernel| Trial::test(format!("kernels/lines/{}", kernel.name), || check_lines(kernel))),
        )
        .chain(
            KERNELS.iter().map(|kernel| Trial::test(format!("kernels/debug/{}", kernel.name), || check_debug(kernel))),
        )
        .collect()
}

/// `--lineinfo`: the PTX names the Python source and its lines. Line tables map the machine code to the source, and
/// the PTX next to it, without DWARF scopes.
fn check_lines(kernel: &Kernel) -> Result<(), Failed> {
    let target = Target::by_name("sm_90").ok_or("no such target")?;
    let ptx = compile_with(&kernel.bytes()?, target, 3, Emit::Ptx, DebugInfo::Lines)?.text;
    let file = ptx.lines().any(|l| l.trim_start().starts_with(".file") && l.contains("kernels.py"));
    let places = ptx.lines().filter(|l| l.trim_start().starts_with(".loc")).count();
    if !file || places < 2 {
        return Err(format!("source file named: {file}; {places} places").into());
    }
    let mapping = mapping(kernel, &ptx, target, 3, DebugInfo::Lines)?;
    let sections = |name: &str| mapping.sections.contains(name);
    if mapping.lines.len() < 2
        || sections(".debug_info")
        || ![".debug_line", ".nv_debug_line_sass", ".nv_debug_ptx_txt"].into_iter().all(sections)
    {
        return Err(format!("{mapping:?}").into());
    }
    Ok(())
}

/// `-g`: the machine code is mapped to the Python source and has DWARF.
fn check_debug(kernel: &Kernel) -> Result<(), Failed> {
    let target = Target::by_name("sm_90").ok_or("no such target")?;
    let ptx = compile_with(&kernel.bytes()?, target, 0, Emit::Ptx, DebugInfo::Full)?.text;
    let mapping = mapping(kernel, &ptx, target, 0, DebugInfo::Full)?;
    let dwarf = [".debug_info", ".debug_abbrev", ".debug_line"].into_iter().all(|s| mapping.sections.contains(s));
    if !dwarf || mapping.lines.len() < 2 {
        return Err(format!("{mapping:?}").into());
    }
    Ok(())
}

/// The debug information of a cubin: the source lines that nvdisasm maps instructions to, and the sections that
/// cuobjdump lists.
#[derive(Debug)]
struct Mapping {
    lines: BTreeSet<String>,
    sections: BTreeSet<String>,
}

fn mapping(
    kernel: &Kernel,
    ptx: &str,
    target: &'static Target,
    opt_level: u8,
    debug: DebugInfo,
) -> Result<Mapping, Failed> {
    let cubin = cubin::assemble(ptx, target, opt_level, debug)?;
    let name = format!("mapped-{opt_level}-{}", kernel.name);
    let code = sass::listing("nvdisasm", "-g", &cubin.image, &name)?;
    let elf = sass::listing("cuobjdump", "-elf", &cubin.image, &name)?;
    let line = |l: &str| Some(l.trim().strip_prefix("//## File \"")?.split_once("kernels.py\", line ")?.1.to_string());
    let section = |l: &str| Some(l.strip_prefix(".section")?.split_whitespace().next()?.to_string());
    Ok(Mapping { lines: code.lines().filter_map(line).collect(), sections: elf.lines().filter_map(section).collect() })
}

/// Tries every configuration, so that one message lists all problems of a kernel.
fn check(kernel: &Kernel, configurations: &[(&str, u8)]) -> Result<(), Failed> {
    let input = kernel.bytes()?;
    let mut problems = vec![];
    for &(target, level) in configurations {
        if let Err(e) = check_one(kernel, &input, target, level) {
            problems.push(format!("{target} -O{level}: {e}"));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

fn check_one(kernel: &Kernel, input: &[u8], target: &str, level: u8) -> Result<(), String> {
    let target = Target::by_name(target).ok_or("unknown target")?;
    let ptx = compile(input, target, level, Emit::Ptx)?.text;
    // The first PTX may be of the store.
    if ptx != compile_afresh(input, target, level, Emit::Ptx, DebugInfo::None)?.text {
        return Err("two compilations gave different PTX".into());
    }
    let cubin = cubin::assemble(&ptx, target, level, DebugInfo::None)?;
    let entries = ptx.matches(".visible .entry ").count();
    if entries == 0 || cubin.resources.len() != entries {
        return Err(format!("{entries} entries in the PTX, {} kernels in the cubin", cubin.resources.len()));
    }
    if level < 3 {
        return Ok(());
    }
    for r in &cubin.resources {
        if (r.spill_stores, r.spill_loads, r.stack_frame) != (0, 0, 0) {
            return Err(format!("'{}' uses local memory: {r:?}", r.name));
        }
        if r.shared_memory != kernel.shared {
            return Err(format!("'{}' has {} bytes of shared memory, not {}", r.name, r.shared_memory, kernel.shared));
        }
    }
    if ptx.contains(".local") {
        return Err("the PTX uses local memory".into());
    }
    check_vectors(&ptx, kernel.vectors)
}

/// A PTX instruction that accesses global memory.
struct Access<'a> {
    text: &'a str,
    predicated: bool,
}

impl Access<'_> {
    /// `.v4.b32` and `.v2.b64` are the same machine instruction.
    fn bits(&self) -> u32 {
        let opcode = self.text.split_whitespace().next().unwrap_or_default();
        let number = |kinds: &[char]| opcode.split('.').find_map(|part| part.strip_prefix(kinds)?.parse::<u32>().ok());
        number(&['b', 'u', 's', 'f']).unwrap_or(0) * number(&['v']).unwrap_or(1)
    }
}

fn accesses(ptx: &str) -> Vec<Access<'_>> {
    ptx.lines()
        .map(str::trim)
        .filter_map(|line| {
            let (predicated, text) = match line.strip_prefix('@') {
                Some(rest) => (true, rest.split_once(' ')?.1),
                None => (false, line),
            };
            (text.starts_with("ld.global") || text.starts_with("st.global")).then_some(Access { text, predicated })
        })
        .collect()
}

fn check_vectors(ptx: &str, vectors: Vectors) -> Result<(), String> {
    let (all, expected) = match vectors {
        Vectors::Any => return Ok(()),
        Vectors::Interior(n) => (false, n),
        Vectors::All(n) => (true, n),
    };
    let accesses: Vec<Access<'_>> = accesses(ptx).into_iter().filter(|a| all || !a.predicated).collect();
    if let Some(narrow) = accesses.iter().find(|a| a.bits() != 128) {
        return Err(format!("not 128 bits at once: {}", narrow.text));
    }
    if accesses.len() != expected {
        return Err(format!("{} vector accesses, not {expected}", accesses.len()));
    }
    Ok(())
}
