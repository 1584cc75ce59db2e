//! Dots into tensor memory down to machine code: the instructions of the loop that issues them, and ptxas messages. The
//! programs do not have hints.

use crate::warpgroup_gates::{Gate, HALVES};
use exact::compiled_for;
use sass::{disassemble, innermost};
use tile_driver::ptxas::Cubin;
use tile_interface::{DebugInfo, Emit};
use tile_targets::Target;
use tile_test_support::{Failed, Trial, cubin, exact, golden, sass};

/// A program, the target, and the ring's minimum number of stages.
#[derive(Clone, Copy)]
struct TensorGate {
    program: Gate,
    target: &'static str,
    stages: u32,
    ctas: Ctas,
}

/// The CTAs that run the dots.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ctas {
    One,
    /// Two, which split the tile by rows.
    Split,
    /// Two, for neighbouring tile blocks.
    Neighbours,
}

// CTAs take over tile blocks, so two slices of the result are next to the ring.
const ONE: TensorGate = TensorGate { program: HALVES, target: "sm_100", stages: 4, ctas: Ctas::One };
const TWO: TensorGate =
    TensorGate { program: Gate { tile: (256, 256, 64), ..HALVES }, target: "sm_100", stages: 6, ctas: Ctas::Split };
const NEIGHBOURS: TensorGate = TensorGate { stages: 6, ctas: Ctas::Neighbours, ..ONE };
const BYTES: Gate = Gate { tile: (128, 256, 128), element: "f8E4M3FN", ..HALVES };
const WORDS: Gate = Gate { tile: (128, 256, 32), element: "tf32", ..HALVES };

const PAIRED_BYTES: Gate = Gate { tile: (256, 256, 128), ..BYTES };

const GATES: &[TensorGate] = &[
    ONE,
    TensorGate { program: Gate { transposed: true, ..HALVES }, ..ONE },
    TensorGate { program: Gate { transposed: true, ..HALVES }, target: "sm_103", ..ONE },
    TensorGate { program: Gate { element: "f16", ..HALVES }, ..ONE },
    TensorGate { program: Gate { element: "f16", transposed: true, ..HALVES }, target: "sm_110", ..ONE },
    TensorGate { program: Gate { tile: (128, 128, 64), transposed: true, ..HALVES }, stages: 6, ..ONE },
    TensorGate { program: Gate { tile: (64, 256, 64), ..HALVES }, ..ONE },
    TensorGate { program: Gate { any_width: true, ..HALVES }, ..ONE },
    TensorGate { program: BYTES, ..ONE },
    TensorGate { program: Gate { transposed: true, ..BYTES }, ..ONE },
    TensorGate { program: Gate { element: "f8E5M2", transposed: true, ..BYTES }, target: "sm_103", ..ONE },
    TensorGate { program: Gate { element: "i8", ..BYTES }, ..ONE },
    TensorGate { program: Gate { element: "i8", transposed: true, ..BYTES }, target: "sm_110", ..ONE },
    TensorGate { program: Gate { left_transposed: true, ..HALVES }, ..ONE },
    TensorGate { program: Gate { left_transposed: true, transposed: true, ..HALVES }, ..ONE },
    TensorGate { program: Gate { left_transposed: true, ..BYTES }, ..ONE },
    TensorGate { program: Gate { left_transposed: true, transposed: true, ..BYTES }, ..ONE },
    TensorGate { program: Gate { element: "i8", left_transposed: true, ..BYTES }, ..ONE },
    TensorGate { program: Gate { left_transposed: true, ..WORDS }, ..ONE },
    TensorGate { program: Gate { left_transposed: true, transposed: true, ..WORDS }, ..ONE },
    TensorGate { program: WORDS, ..ONE },
    TensorGate { program: Gate { transposed: true, ..WORDS }, ..ONE },
    TWO,
    TensorGate { program: Gate { transposed: true, ..TWO.program }, ..TWO },
    TensorGate { program: Gate { element: "f16", ..TWO.program }, target: "sm_103", ..TWO },
    TensorGate { program: PAIRED_BYTES, ..TWO },
    TensorGate { program: Gate { transposed: true, ..PAIRED_BYTES }, target: "sm_110", ..TWO },
    TensorGate { program: Gate { element: "i8", ..PAIRED_BYTES }, ..TWO },
    TensorGate { program: Gate { tile: (256, 256, 32), ..WORDS }, target: "sm_103", ..TWO },
    TensorGate { program: Gate { left_transposed: true, ..TWO.program }, ..TWO },
    NEIGHBOURS,
    TensorGate { program: Gate { left_transposed: true, ..HALVES }, ..NEIGHBOURS },
    TensorGate { program: Gate { transposed: true, ..HALVES }, ..NEIGHBOURS },
    TensorGate { program: Gate { tile: (128, 128, 64), transposed: true, ..HALVES }, ..NEIGHBOURS },
    TensorGate { program: BYTES, target: "sm_103", ..NEIGHBOURS },
    TensorGate { program: Gate { element: "i8", transposed: true, ..BYTES }, target: "sm_110", ..NEIGHBOURS },
    TensorGate { program: WORDS, ..NEIGHBOURS },
];

pub fn trials() -> Vec<Trial> {
    GATES.iter().map(|gate| Trial::test(gate.name(), move || gate.check())).collect()
}

/// Assembles a program, compiled with options of the pipeline.
///
/// Errors: a ring of fewer than `stages` stages, or spilled registers.
pub fn assembled(
    program: &str,
    target: &'static Target,
    stages: u32,
    options: &[(&str, &str)],
) -> Result<Cubin, Failed> {
    let plan = compiled_for(target.name, program, 3, Emit::TileAs, options);
    let found =
        plan.split_once("stages = ").and_then(|(_, rest)| rest.split([' ', '}', ',', '>']).next()?.parse().ok());
    if found.is_none_or(|s: u32| s < stages) {
        return Err(format!("{found:?} stages, and {stages} should fit").into());
    }
    let ptx = compiled_for(target.name, program, 3, Emit::Ptx, options);
    let cubin = cubin::assemble(&ptx, target, 3, DebugInfo::None)?;
    for kernel in &cubin.resources {
        if kernel.spill_stores + kernel.spill_loads > 0 {
            return Err(format!("{} bytes are spilled", kernel.spill_stores).into());
        }
    }
    Ok(cubin)
}

impl TensorGate {
    /// The name of the test, which is also the row of the table of bounds.
    fn name(&self) -> String {
        let program = self.program.name();
        let neighbours = if self.ctas == Ctas::Neighbours { "_neighbours" } else { "" };
        format!("tensor_gates/{}_{}{neighbours}", program.trim_start_matches("warpgroup_gates/"), self.target)
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        if self.ctas == Ctas::One { &[("num-ctas", "1")] } else { &[] }
    }

    /// Checks for: a ring of the required depth; one thread that issues all dots of a stage; no accumulator in the
    /// registers of its loop; no spills.
    fn check(&self) -> Result<(), Failed> {
        let target = Target::by_name(self.target).ok_or("unknown target")?;
        let program = self.program.program();
        let cubin = assembled(&program, target, self.stages, self.options())?;
        let code = disassemble(&cubin, &self.name().replace('/', "-"))?;
        let products = |body: &[sass::Instruction]| body.iter().filter(|i| is_product(&i.opcode)).count();
        if let Some(other) = code.iter().find(|i| i.opcode.starts_with("HMMA") || i.opcode.starts_with("IMMA")) {
            return Err(format!("{} in the code", other.opcode).into());
        }
        let pairs = code.iter().any(|i| is_product(&i.opcode) && i.opcode.contains(".2CTA"));
        if pairs != (self.ctas != Ctas::One) {
            return Err(format!("pairs of CTAs run the dots: {pairs}").into());
        }
        let body = innermost(&code, "UTCBAR").filter(|body| products(body) > 0).ok_or("no loop with products")?;
        // The assembler may unroll; each stage has one arrival.
        let count = |of: &str| body.iter().filter(|i| i.opcode.starts_with(of)).count();
        let iterations = count("UTCBAR");
        let (m, _, k) = self.program.tile;
        let bits = match self.program.element {
            "tf32" => 32,
            "bf16" | "f16" => 16,
            _ => 8,
        };
        let rows = if self.ctas == Ctas::Split { m / 2 } else { m };
        let expected = iterations * (rows.div_ceil(128) * k * bits / 256) as usize;
        if products(body) != expected || products(&code) != expected {
            let (here, all) = (products(body), products(&code));
            return Err(format!("{here} products in the loop, {all} in all, {expected} expected").into());
        }
        let never = ["LDL", "STL", "LDG", "STG", "LDS", "STS", "BAR", "LDTM", "STTM", "WARPSYNC"];
        if let Some(i) = body.iter().find(|i| never.iter().any(|of| i.opcode.starts_with(of))) {
            return Err(format!("{} in the loop", i.opcode).into());
        }
        Ok(golden::gate(&self.name(), body.len().div_ceil(iterations))?)
    }
}

/// Whether an instruction is `tcgen05.mma` of any kind, such as UTCHMMA and UTCQMMA.
fn is_product(opcode: &str) -> bool {
    opcode.starts_with("UTC") && opcode.contains("MMA")
}
