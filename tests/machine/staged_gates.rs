//! Dots of `mma.sync` that read stages of a ring, down to machine code: the instructions of the consumers' loop, and
//! ptxas messages. Also dots of tf32 whose warps copy.

use crate::warpgroup_gates::{Gate, HALVES};
use kernels::compile;
use sass::{disassemble, innermost};
use scaled_kind::{MXF8, ScaledKind};
use tile_interface::{DebugInfo, Emit};
use tile_interp::types::Number;
use tile_targets::Target;
use tile_test_support::{Failed, Trial, cubin, exact, golden, kernels, sass, scaled_kind};

/// A program and the form that its plan should have.
#[derive(Clone, Copy)]
struct StagedGate {
    program: Gate,
    target: &'static str,
    /// The number of consumer warps that the program requests, if any.
    hint: Option<u32>,
    /// Threads of a CTA, and whether `setmaxnreg` divides its registers.
    threads: u32,
    divided: bool,
}

const SQUARE: StagedGate = StagedGate {
    program: Gate { tile: (128, 128, 64), transposed: true, stages: 3, ..HALVES },
    target: "sm_120",
    hint: None,
    threads: 288,
    divided: false,
};

/// The accumulators need more registers than twelve warps can have.
const WIDE: StagedGate = StagedGate {
    program: Gate { tile: (128, 256, 64), stages: 2, ..SQUARE.program },
    threads: 384,
    divided: true,
    ..SQUARE
};

const BYTES: Gate = Gate { tile: (128, 128, 128), element: "i8", ..SQUARE.program };

const GATES: &[StagedGate] = &[
    SQUARE,
    StagedGate { program: Gate { transposed: false, ..SQUARE.program }, ..SQUARE },
    StagedGate { program: Gate { element: "f16", ..SQUARE.program }, target: "sm_121", ..SQUARE },
    StagedGate { hint: Some(4), threads: 160, ..SQUARE },
    WIDE,
    // Results are stored by TMA or by threads, after a test, or by threads only if shared memory has no room for both.
    StagedGate { program: Gate { any_width: true, ..SQUARE.program }, ..SQUARE },
    StagedGate { program: Gate { any_width: true, ..WIDE.program }, ..WIDE },
    StagedGate { program: Gate { transposed: false, ..WIDE.program }, target: "sm_121", ..WIDE },
    StagedGate { program: BYTES, ..SQUARE },
    StagedGate { program: Gate { element: "f8E4M3FN", ..BYTES }, ..SQUARE },
    StagedGate { program: Gate { transposed: false, ..BYTES }, ..SQUARE },
    StagedGate { program: Gate { element: "f8E4M3FN", transposed: false, ..BYTES }, ..SQUARE },
    StagedGate { program: Gate { tile: (128, 256, 128), stages: 2, ..BYTES }, ..WIDE },
    StagedGate { program: Gate { element: "f8E4M3FN", half_sums: true, ..BYTES }, ..SQUARE },
    StagedGate {
        program: Gate { element: "f8E4M3FN", half_sums: true, transposed: false, ..BYTES },
        target: "sm_121",
        ..SQUARE
    },
    // Words in both orders of both operands.
    StagedGate { program: WORDS, ..SQUARE },
    StagedGate { program: Gate { transposed: false, ..WORDS }, ..SQUARE },
    StagedGate { program: Gate { left_transposed: true, ..WORDS }, ..SQUARE },
    StagedGate { program: Gate { left_transposed: true, transposed: false, ..WORDS }, target: "sm_121", ..SQUARE },
];

const WORDS: Gate = Gate { tile: (128, 128, 32), element: "tf32", ..SQUARE.program };

/// tf32 on targets whose warps copy, by target and program.
const COPIED: [(&str, Gate); 3] = [
    ("sm_80", Gate { transposed: false, ..WORDS }),
    ("sm_89", WORDS),
    ("sm_89", Gate { tile: (128, 256, 32), transposed: false, ..WORDS }),
];

/// Checks that warps round each number of a stage once, and for no spills, access of local memory and permutation.
fn copied((target, gate): (&'static str, Gate)) -> Result<(), Failed> {
    let name = StagedGate { program: gate, target, ..SQUARE }.name();
    let target = Target::by_name(target).ok_or("unknown target")?;
    let options = [("extended-smem", "true")];
    let ptx = exact::compiled_for(target.name, &gate.program(), 3, Emit::Ptx, &options);
    let cubin = cubin::assemble_with(&ptx, target, 3, DebugInfo::None, true)?;
    if let Some(kernel) = cubin.resources.iter().find(|kernel| kernel.spill_stores + kernel.spill_loads > 0) {
        return Err(format!("{} bytes are spilled", kernel.spill_stores).into());
    }
    let code = disassemble(&cubin, &name.replace('/', "-"))?;
    let body = innermost(&code, "HMMA.").ok_or("no loop with products")?;
    let count = |of: &str| body.iter().filter(|i| i.opcode.starts_with(of)).count();
    let iterations = count("LDGDEPBAR").max(1);
    // Each of 256 threads has a part of the tiles, and compares each number with itself.
    let (m, n, k) = gate.tile;
    let (found, expected) = (count("FSETP.NAN") / iterations, (m + n) as usize * k as usize / 256);
    if found != expected {
        return Err(format!("{found} numbers are rounded by a thread, {expected} expected").into());
    }
    if let Some(i) = body.iter().find(|i| ["LDL", "STL", "PRMT"].iter().any(|of| i.opcode.starts_with(of))) {
        return Err(format!("{} in the loop", i.opcode).into());
    }
    Ok(golden::gate(&name, body.len().div_ceil(iterations))?)
}

pub fn trials() -> Vec<Trial> {
    let plain = GATES.iter().map(|gate| Trial::test(gate.name(), move || gate.check()));
    let scaled = SCALED.map(|(name, kind)| Trial::test(format!("staged_gates/{name}"), move || scaled(name, kind)));
    let of_copies = |case: (&'static str, Gate)| StagedGate { program: case.1, target: case.0, ..SQUARE }.name();
    let copied = COPIED.map(|case| Trial::test(of_copies(case), move || copied(case)));
    plain.chain(scaled).chain(copied).collect()
}

/// Block-scaled dots of 8-bit and of packed 4-bit elements.
const SCALED: [(&str, ScaledKind); 2] = [
    ("mxf8_128x128x128_sm_120", ScaledKind { n: 128, ..MXF8 }),
    (
        "nvf4_128x128x256_sm_120",
        ScaledKind { element: Number::E2m1, scale: Number::E4m3, block: 16, n: 128, k: 256, ..MXF8 },
    ),
];

/// Checks for: a ring of three stages, no spills, and in the loop all dots of a stage, no access of shared memory other
/// than `ldmatrix`, no barrier of several warps, and three loads, of the scale factors of the next iteration.
fn scaled(name: &str, kind: ScaledKind) -> Result<(), Failed> {
    let target = Target::by_name("sm_120").ok_or("unknown target")?;
    let text = kind.program(&kind.usual());
    let plan = compile(text.as_bytes(), target, 3, Emit::TileAs)?.text;
    if !plan.contains("stages = 3,") {
        return Err("no ring of 3 stages".into());
    }
    let ptx = compile(text.as_bytes(), target, 3, Emit::Ptx)?.text;
    let cubin = cubin::assemble(&ptx, target, 3, DebugInfo::None)?;
    if let Some(kernel) = cubin.resources.iter().find(|kernel| kernel.spill_stores + kernel.spill_loads > 0) {
        return Err(format!("{} bytes are spilled", kernel.spill_stores).into());
    }
    let code = disassemble(&cubin, name)?;
    let is_scaled = |i: &sass::Instruction| i.opcode.contains("MMA.SF");
    let body = innermost(&code, "MMA.SF").ok_or("no loop with products")?;
    let count = |of: &str| body.iter().filter(|i| i.opcode.starts_with(of)).count();
    let iterations = count("SYNCS.ARRIVE").max(1);
    let products = body.iter().filter(|i| is_scaled(i)).count() / iterations;
    let (found, expected) = ([products, count("LDG") / iterations], [64, 3]);
    if found != expected {
        return Err(format!("products and loads: {found:?} in an iteration, {expected:?} expected").into());
    }
    let never = ["LDL", "STL", "STG", "LDS.", "STS", "BAR", "PRMT", "CALL"];
    if let Some(i) = body.iter().find(|i| never.iter().any(|of| i.opcode.starts_with(of))) {
        return Err(format!("{} in the loop", i.opcode).into());
    }
    Ok(golden::gate(&format!("staged_gates/{name}"), body.len().div_ceil(iterations))?)
}

impl StagedGate {
    /// The name of the test, which is also the row of the table of bounds.
    fn name(&self) -> String {
        let program = self.program.name();
        let hint = self.hint.map_or(String::new(), |warps| format!("_w{warps}"));
        format!("staged_gates/{}{hint}_{}", program.trim_start_matches("warpgroup_gates/"), self.target)
    }

    fn text(&self) -> String {
        let text = self.program.program();
        let Some(warps) = self.hint else { return text };
        let hint = format!("num_worker_warps_per_cta = {warps} : i32");
        text.replace("%rc: tile<i32>) ", &format!("%rc: tile<i32>) optimization_hints=<{} = {{{hint}}}>", self.target))
    }

    /// Checks for: a ring of the required depth; the number of threads; no spills and no message of ptxas; in the loop,
    /// all dots of a stage, loads of shared memory as the only accesses, no conversion, no barrier of several warps,
    /// and few instructions for each product.
    fn check(&self) -> Result<(), Failed> {
        let target = Target::by_name(self.target).ok_or("unknown target")?;
        let text = self.text();
        let plan = compile(text.as_bytes(), target, 3, Emit::TileAs)?.text;
        let stages = self.program.stages;
        if !plan.contains(&format!("stages = {stages},")) {
            return Err(format!("no ring of {stages} stages").into());
        }
        let ptx = compile(text.as_bytes(), target, 3, Emit::Ptx)?.text;
        if !ptx.contains(&format!(".reqntid {}, 1, 1", self.threads)) || !ptx.contains(".maxnreg") {
            return Err(format!("the CTA does not have {} threads and a limit on registers", self.threads).into());
        }
        if ptx.contains("setmaxnreg") != self.divided {
            return Err("setmaxnreg is where it should not be, or is not".into());
        }
        let cubin = cubin::assemble(&ptx, target, 3, DebugInfo::None)?;
        for kernel in &cubin.resources {
            if kernel.spill_stores + kernel.spill_loads > 0 {
                return Err(format!("{} bytes are spilled", kernel.spill_stores).into());
            }
        }
        let code = disassemble(&cubin, &self.name().replace('/', "-"))?;
        let products = |body: &[sass::Instruction]| body.iter().filter(|i| is_product(&i.opcode)).count();
        let body = innermost(&code, "MMA.").filter(|body| products(body) > 0).ok_or("no loop with products")?;
        // The assembler may unroll; each stage has one arrival.
        let count = |of: &str| body.iter().filter(|i| i.opcode.starts_with(of)).count();
        let iterations = count("SYNCS.ARRIVE").max(1);
        let (m, n, k) = self.program.tile;
        let bits = match self.program.element {
            "tf32" => 32,
            "bf16" | "f16" => 16,
            _ => 8,
        };
        // An instruction has 16 rows, 8 columns and 32 bytes of K; one of tf32 may have half.
        let warps = self.hint.unwrap_or(8);
        let steps = (m / 16) * (n / 8) * (k * bits / 256) / warps;
        let found = products(body) / iterations;
        if found != steps as usize && (bits != 32 || found != 2 * steps as usize) {
            return Err(format!("{found} products in an iteration, {steps} expected").into());
        }
        // Instructions for each product. Four warps have larger parts of the tile.
        // Fragments of bytes that `ldmatrix` transposes are in other registers than `mma` takes, and are moved there.
        let moved = bits == 8 && !self.program.transposed;
        // Words that are contiguous along M or N are read one by one.
        let loads = bits == 32 && (!self.program.transposed || self.program.left_transposed);
        let most = if moved {
            3.5
        } else if loads {
            2.85
        } else if warps == 4 {
            1.45
        } else {
            1.70
        };
        let each = body.len() as f64 / products(body) as f64;
        if each > most {
            return Err(format!("{each:.2} instructions for each product, at most {most} are expected").into());
        }
        let never = ["LDL", "STL", "LDG", "STG", "LDS.", "STS", "BAR", "PRMT", "CALL", "F2F"];
        let is_wrong =
            |i: &&sass::Instruction| i.opcode == "LDS" && !loads || never.iter().any(|of| i.opcode.starts_with(of));
        if let Some(i) = body.iter().find(is_wrong) {
            return Err(format!("{} in the loop", i.opcode).into());
        }
        if !code.iter().any(|i| i.opcode.starts_with("UTMALDG")) {
            return Err("no TMA load".into());
        }
        Ok(golden::gate(&self.name(), body.len().div_ceil(iterations))?)
    }
}

/// Whether an instruction is `mma.sync` of any type.
fn is_product(opcode: &str) -> bool {
    ["HMMA.", "IMMA.", "QMMA."].iter().any(|of| opcode.starts_with(of))
}
