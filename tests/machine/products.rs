//! Kernels of the corpus with dots, down to machine code: how the tensor cores are fed, and with which instructions.
//!
//! * Each kernel assembles for each target without a warning. `tests/machine/sass.rs` checks for spills.
//! * Shared memory accesses around a dot are free of bank conflicts, as computed by the layout algebra.
//! * Scaled dots use the instruction with block scales if the target has one, and no scale is applied afterward.
//! * The loop of a 128x128x64 dot on sm_80 consists of copies, `LDSM` and `HMMA`, and does not move single words.
//!
//! By default on one target of each generation; `TILEIRAS_TEST_FULL=1` takes all eleven.

use kernels::compile;
use melior::ir::Module;
use sass::{Instruction, assemble, assemble_file, bytes, disassemble};
use std::collections::BTreeSet;
use tile_interface::Emit;
use tile_layout::{Direction, Layout, Matrices, SharedAccess, SharedLayout};
use tile_targets::Target;
use tile_test_support::{Failed, Trial, kernels, sass};
use tileiras::dialect::{
    self,
    layouts::{Tensor, storage_bits, to_layout},
    nv_tileas::{
        AsyncLoadOp, AsyncTiledLoadOp, LayoutAttr, LocalLoadOp, LocalStoreOp, MemDescReinterpretOp, MemDescType,
        SharedLayoutAttr,
    },
    rt::*,
    shared_memory::loaded_matrices,
};

/// Kernels, and the matrix instruction on sm_80.
const KERNELS: &[(&str, &str)] = &[
    ("matmul_f16.13.1", "HMMA.16816.F32"),
    ("matmul_bf16.13.1", "HMMA.16816.F32.BF16"),
    ("matmul_f16_acc16.13.1", "HMMA.16816.F16"),
    ("matmul_f16_ragged.13.1", "HMMA.16816.F32"),
    ("matmul_tf32.13.1", "HMMA.1688.F32.TF32"),
    ("matmul_f32.13.1", "FFMA"),
    ("matmul_f64.13.1", "DMMA"),
    ("matmul_i8.13.1", "IMMA.16832.S8.S8"),
    ("matmul_e4m3.13.1", "HMMA.16816.F32"),
    ("matmul_e5m2.13.1", "HMMA.16816.F32"),
    ("matmul_nt_bias_relu.13.1", "HMMA.16816.F32"),
    ("matmul_persistent.13.1", "HMMA.16816.F32"),
    ("matmul_hints.13.1", "HMMA.16816.F32.BF16"),
    ("matmul_splitk.13.1", "HMMA.16816.F32"),
    ("bmm_f16.13.1", "HMMA.16816.F32"),
    ("bmm3_f16.13.1", "HMMA.16816.F32"),
    ("moe_gather_matmul.13.1", "HMMA.16816.F32"),
    ("group_gemm.13.1", "HMMA.16816.F32"),
    ("mma_mx.13.3", "HMMA.16816.F32"),
    ("fmha_f16.13.1", "HMMA.16816.F32"),
    ("fmha_f16_causal.13.1", "HMMA.16816.F32"),
    ("fmha_bf16_d128_causal.13.1", "HMMA.16816.F32.BF16"),
];

/// Programs with scaled dots, and the matrix instruction on sm_120.
const SCALED: &[(&str, &str)] = &[
    ("tests/corpus/mma_mx.13.3.tileirbc", "QMMA.SF.16832.F32.E4M3.E4M3.E8"),
    ("tests/semantics/mmaf_scaled_e4m3_e8m0_32.mlir", "QMMA.SF.16832.F32.E4M3.E4M3.E8"),
    ("tests/semantics/mmaf_scaled_e5m2_e8m0_32.mlir", "QMMA.SF.16832.F32.E5M2.E5M2.E8"),
    ("tests/semantics/mmaf_scaled_e2m1_e8m0_32.mlir", "OMMA.SF.16864.F32.E2M1.E2M1.E8"),
    ("tests/semantics/mmaf_scaled_e2m1_e8m0_16.mlir", "OMMA.SF.16864.F32.E2M1.E2M1.E8.4X"),
    ("tests/semantics/mmaf_scaled_e2m1_e4m3_16.mlir", "OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X"),
];

const ALL: &[&str] =
    &["sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_100", "sm_103", "sm_107", "sm_110", "sm_120", "sm_121"];
const SOME: &[&str] = &["sm_80", "sm_90", "sm_120"];

pub fn trials() -> Vec<Trial> {
    let full = tile_test_support::full();
    let mut trials = vec![];
    for &(name, instruction) in KERNELS {
        for &target in if full { ALL } else { SOME } {
            trials.push(Trial::test(format!("products/assembles/{name}/{target}"), move || {
                assembles(name, target, (target == "sm_80").then_some(instruction))
            }));
        }
        trials.push(Trial::test(format!("products/conflicts/{name}"), move || free_of_conflicts(name)));
    }
    trials.push(Trial::test("products/loop/matmul_f16/sm_80", loop_of_halves));
    for target in ["sm_120", "sm_121"] {
        for (program, instruction) in SCALED {
            let name = program.rsplit_once('/').map_or(*program, |(_, name)| name);
            trials.push(Trial::test(format!("products/scaled/{name}/{target}"), move || {
                scaled(program, instruction, target)
            }));
        }
    }
    trials
}

fn assembles(name: &str, target: &str, instruction: Option<&str>) -> Result<(), Failed> {
    let cubin = assemble(name, target)?;
    if let Some(instruction) = instruction {
        let code = disassemble(&cubin, &format!("{name}-{target}"))?;
        if !code.iter().any(|i| i.opcode.starts_with(instruction)) {
            return Err(format!("no {instruction} in the code").into());
        }
    }
    Ok(())
}

//===-- machine code -------------------------------------------------------===//

/// Returns the shortest loop that contains an instruction with this prefix.
fn innermost<'c>(code: &'c [Instruction], of: &str) -> Option<&'c [Instruction]> {
    let start = |label: &str| code.iter().position(|i| i.label.as_deref() == Some(label));
    let loops = code.iter().enumerate().filter_map(|(end, i)| {
        let from = i.opcode.starts_with("BRA").then(|| start(i.target.as_deref()?)).flatten()?;
        (from <= end).then(|| &code[from..=end])
    });
    loops.filter(|l| l.iter().any(|i| i.opcode.starts_with(of))).min_by_key(|l| l.len())
}

/// 128x128x64 16-bit operands on sm_80: asynchronous copies and `LDSM` load them, and no other instruction accesses
/// shared memory.
fn loop_of_halves() -> Result<(), Failed> {
    let cubin = assemble("matmul_f16.13.1", "sm_80")?;
    let code = disassemble(&cubin, "loop-of-halves")?;
    let body = innermost(&code, "HMMA").ok_or("no loop with HMMA")?;
    let count = |of: &str| body.iter().filter(|i| i.opcode.starts_with(of)).count();
    let (hmma, ldsm, copies) = (count("HMMA.16816.F32"), count("LDSM"), count("LDGSTS.E.BYPASS"));
    let words = body.iter().filter(|i| {
        let by_word = i.opcode.starts_with("LDS") && !i.opcode.starts_with("LDSM") || i.opcode.starts_with("STS");
        by_word || i.opcode.starts_with("LDL") || i.opcode.starts_with("STL") || i.opcode.starts_with("LDG.")
    });
    let words: Vec<&str> = words.map(|i| i.opcode.as_str()).collect();
    if !words.is_empty() {
        return Err(format!("the loop moves data by {words:?}").into());
    }
    // Warps of 64x64: 16 instructions for each 4 + 4 matrices of four times eight rows.
    if hmma == 0 || copies == 0 || hmma != 4 * ldsm {
        return Err(format!("{hmma} HMMA, {ldsm} LDSM, {copies} LDGSTS").into());
    }
    if count("BAR") != 1 {
        return Err(format!("{} barriers in an iteration", count("BAR")).into());
    }
    Ok(())
}

/// Only this instruction multiplies, no ordinary arithmetic applies scales, and nothing spills.
fn scaled(program: &str, instruction: &str, target: &str) -> Result<(), Failed> {
    let cubin = assemble_file(program, target)?;
    let code = disassemble(&cubin, &format!("scaled-{instruction}-{target}"))?;
    let multiplies = |i: &&Instruction| ["MMA", "FMUL", "FFMA"].iter().any(|m| i.opcode.contains(m));
    let found: BTreeSet<&str> = code.iter().filter(multiplies).map(|i| i.opcode.as_str()).collect();
    if found != BTreeSet::from([instruction]) {
        return Err(format!("{found:?} multiply, not {instruction}").into());
    }
    if code.iter().any(|i| i.opcode.starts_with("STL") || i.opcode.starts_with("LDL")) {
        return Err("registers are spilled".into());
    }
    Ok(())
}

//===-- bank conflicts -----------------------------------------------------===//

/// Checks every access of shared memory with layouts that the program states.
fn free_of_conflicts(name: &str) -> Result<(), Failed> {
    let mut problems = vec![];
    for target in SOME {
        let target = Target::by_name(target).ok_or("unknown target")?;
        let text = compile(&bytes(name)?, target, 3, Emit::TileAs)?.text;
        let context = dialect::context();
        let module = Module::parse(&context, &text).ok_or("the printed program does not parse")?;
        let mut accesses = 0;
        walk(op_ref(module.as_operation().to_raw()), &mut |op| {
            let Some((layout, memory, direction, matrices)) = access(op, target) else { return };
            accesses += 1;
            let degree = degree(&layout, memory, direction, matrices);
            // With rows shorter than 128 bytes, a transpose has fewer banks to choose from.
            let most = if is_turned_and_narrow(memory) { 2 } else { 1 };
            if degree.is_none_or(|d| d > most) {
                problems.push(format!("{}: degree {degree:?}: {op}", target.name));
            }
        });
        // TMA copies and warpgroup dots access it in ways that register layouts do not describe.
        let has_agents = text.contains("agent_switch");
        if accesses == 0 && !has_agents && name != "bmm3_f16.13.1" {
            problems.push(format!("{}: no access of shared memory", target.name));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

/// Whether a stage's bytes are transposed and its rows, before or afterward, are shorter than the banks are wide.
fn is_turned_and_narrow(memory: Val<'_>) -> bool {
    let Some(desc) = MemDescType::cast(ty(memory)) else { return false };
    let is_turned = defining_op(memory).is_some_and(|o| MemDescReinterpretOp::cast(o).is_some());
    is_turned && storage_bits(desc.element_type()) == 8 && desc.shape().iter().any(|&e| e > 1 && e < 128)
}

fn access<'c>(op: OpRef<'c>, target: &Target) -> Option<(Layout, Val<'c>, Direction, Matrices)> {
    let of = |v| Tensor::of_value(v).and_then(|t| t.layout());
    if let Some(x) = LocalLoadOp::cast(op) {
        return Some((of(x.result())?, x.source(), Direction::Load, loaded_matrices(target)));
    }
    if let Some(x) = LocalStoreOp::cast(op) {
        return Some((of(x.source())?, x.dest(), Direction::Store, Matrices::None));
    }
    if let Some(x) = AsyncTiledLoadOp::cast(op) {
        return Some((LayoutAttr::cast(x.layout()).and_then(to_layout)?, x.dest(), Direction::Store, Matrices::None));
    }
    let x = AsyncLoadOp::cast(op)?;
    Some((of(x.ptr())?, x.dest(), Direction::Store, Matrices::None))
}

fn degree(layout: &Layout, memory: Val<'_>, direction: Direction, matrices: Matrices) -> Option<u32> {
    let desc = MemDescType::cast(ty(memory))?;
    let bases: Vec<u64> = SharedLayoutAttr::cast(desc.layout()?)?.offsets().iter().map(|&b| b as u64).collect();
    let shared = SharedLayout::new(bases.clone(), bases.len() as u32).ok()?;
    let bits = storage_bits(desc.element_type());
    let plan = SharedAccess::with_matrices(layout, &shared, bits, direction, matrices).ok()?;
    Some(plan.conflict_degree)
}
