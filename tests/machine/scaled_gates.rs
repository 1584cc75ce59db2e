//! Block-scaled dots into tensor memory down to machine code: the instructions of the loop that issues them, and ptxas
//! messages. The programs do not have hints.

use crate::tensor_gates::assembled;
use sass::{disassemble, innermost};
use scaled_kind::{MXF8, ScaledKind};
use tile_interp::types::Number;
use tile_targets::Target;
use tile_test_support::{Failed, Trial, golden, sass, scaled_kind};

/// A program, the target, and the ring's minimum number of stages.
#[derive(Clone, Copy)]
struct ScaledGate {
    name: &'static str,
    program: ScaledKind,
    target: &'static str,
    stages: u32,
    /// Whether two CTAs may run neighbouring tile blocks together.
    neighbours: bool,
}

const BYTES: ScaledKind = ScaledKind { n: 256, ..MXF8 };
const MXF4: ScaledKind = ScaledKind { element: Number::E2m1, k: 256, ..BYTES };
const NVF4: ScaledKind = ScaledKind { scale: Number::E4m3, block: 16, ..MXF4 };
/// CTAs take over tile blocks, so the whole result is next to the ring.
const MXF8_256: ScaledGate =
    ScaledGate { name: "mxf8_128x256x128", program: BYTES, target: "sm_100", stages: 3, neighbours: false };
const NVF4_256: ScaledGate = ScaledGate { name: "nvf4_128x256x256", program: NVF4, ..MXF8_256 };

const GATES: &[ScaledGate] = &[
    MXF8_256,
    ScaledGate { target: "sm_103", ..MXF8_256 },
    ScaledGate {
        name: "mxf8_128x128x128",
        program: ScaledKind { n: 128, across: [true, true], ..BYTES },
        stages: 4,
        ..MXF8_256
    },
    // Each CTA of a pair has half of the rows, and loads half of the columns.
    ScaledGate { name: "mxf8_256x256x128", program: ScaledKind { m: 256, ..BYTES }, stages: 5, ..MXF8_256 },
    ScaledGate {
        name: "mxf8_256x256x128_blocks",
        program: ScaledKind { m: 256, blocked: true, ..BYTES },
        stages: 5,
        ..MXF8_256
    },
    ScaledGate { name: "nvf4_256x256x256", program: ScaledKind { m: 256, ..NVF4 }, stages: 5, ..MXF8_256 },
    ScaledGate { name: "mxf4_128x256x256", program: MXF4, target: "sm_110", ..MXF8_256 },
    NVF4_256,
    ScaledGate { target: "sm_103", ..NVF4_256 },
    ScaledGate { name: "mxf8_128x256x128_blocks", program: ScaledKind { blocked: true, ..BYTES }, ..MXF8_256 },
    ScaledGate { name: "nvf4_128x256x256_blocks", program: ScaledKind { blocked: true, ..NVF4 }, ..NVF4_256 },
    ScaledGate { name: "nvf4_128x128x256", program: ScaledKind { n: 128, ..NVF4 }, stages: 4, ..NVF4_256 },
    ScaledGate { name: "mxf8_128x256x128_neighbours", neighbours: true, ..MXF8_256 },
    ScaledGate {
        name: "nvf4_128x256x256_blocks_neighbours",
        program: ScaledKind { blocked: true, ..NVF4 },
        neighbours: true,
        ..NVF4_256
    },
];

pub fn trials() -> Vec<Trial> {
    GATES.iter().map(|gate| Trial::test(gate.name(), move || gate.check())).collect()
}

impl ScaledGate {
    /// The name of the test, which is also the row of the table of bounds.
    fn name(&self) -> String {
        format!("scaled_gates/{}_{}", self.name, self.target)
    }

    /// Checks for: a ring of the required depth; one thread that copies the scale factors of a stage and issues its
    /// dots; no accumulator in the registers of its loop; no spills.
    fn check(&self) -> Result<(), Failed> {
        let target = Target::by_name(self.target).ok_or("unknown target")?;
        let program = self.program.program(&self.program.usual());
        let options: &[(&str, &str)] = match (self.neighbours, self.program.m) {
            // Tiles of 256 rows are split.
            (true, _) | (_, 256) => &[],
            _ => &[("num-ctas", "1")],
        };
        let cubin = assembled(&program, target, self.stages, options)?;
        let code = disassemble(&cubin, &self.name().replace('/', "-"))?;
        let count =
            |body: &[sass::Instruction], is: &dyn Fn(&str) -> bool| body.iter().filter(|i| is(&i.opcode)).count();
        let is_product = |opcode: &str| opcode.starts_with("UTC") && opcode.contains("MMA");
        let is_copy = |opcode: &str| opcode.starts_with("UTCCP");
        let body = innermost(&code, "UTCBAR").ok_or("no loop with products")?;
        // The assembler may unroll; each stage has one arrival.
        let iterations = count(body, &|opcode| opcode.starts_with("UTCBAR"));
        let ScaledKind { n, k, block, .. } = self.program;
        let bits = if self.program.element == Number::E2m1 { 4 } else { 8 };
        let expected = [k * bits / 256, (1 + n / 128) * (k / block / 4)].map(|each| each * iterations);
        let found = [count(body, &is_product), count(body, &is_copy)];
        if found != expected || [count(&code, &is_product), count(&code, &is_copy)] != expected {
            return Err(format!("products and copies: {found:?} in the loop, {expected:?} expected").into());
        }
        let never = ["LDL", "STL", "LDG", "STG", "LDS", "STS", "BAR", "LDTM", "STTM", "WARPSYNC"];
        if let Some(i) = body.iter().find(|i| never.iter().any(|of| i.opcode.starts_with(of))) {
            return Err(format!("{} in the loop", i.opcode).into());
        }
        Ok(golden::gate(&self.name(), body.len().div_ceil(iterations))?)
    }
}
