//! Products by warpgroups down to machine code: what the loop consists of, and what ptxas says of it. The programs have
//! no hints.

#[path = "support/cubin.rs"]
mod cubin;
#[path = "support/kernels.rs"]
mod kernels;
#[path = "support/sass.rs"]
mod sass;

use kernels::compile;
use libtest_mimic::{Arguments, Failed, Trial};
use sass::{Instruction, disassemble};
use std::process::ExitCode;
use tile_interface::{DebugInfo, Emit};
use tile_targets::Target;

/// One program: extents of its tiles, type of its operands, and whether B is stored transposed.
#[derive(Clone, Copy)]
struct Gate {
    tile: (u32, u32, u32),
    element: &'static str,
    transposed: bool,
    /// Columns of an instruction, and stages of the ring at least.
    columns: u32,
    stages: u32,
    /// Instructions of an iteration at most.
    instructions: usize,
    /// Bytes that may be spilled.
    spilled: u32,
}

const HALVES: Gate = Gate {
    tile: (128, 256, 64),
    element: "bf16",
    transposed: false,
    columns: 256,
    stages: 4,
    instructions: 71,
    spilled: 0,
};

const GATES: &[Gate] = &[
    HALVES,
    Gate { transposed: true, ..HALVES },
    Gate { element: "f16", ..HALVES },
    Gate { tile: (128, 128, 64), element: "f16", columns: 128, ..HALVES },
    Gate { tile: (128, 128, 64), transposed: true, columns: 128, ..HALVES },
    // One block of 64 rows: one consumer.
    Gate { tile: (64, 256, 64), element: "f16", ..HALVES },
    Gate { tile: (128, 256, 128), element: "i8", transposed: true, ..HALVES },
    Gate { tile: (128, 128, 128), element: "i8", transposed: true, columns: 128, ..HALVES },
];

fn main() -> ExitCode {
    let trials = GATES.iter().map(|gate| {
        let (m, n, k) = gate.tile;
        let order = if gate.transposed { "TN" } else { "NN" };
        Trial::test(format!("{}_{m}x{n}x{k}_{order}", gate.element), move || gate.check())
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

impl Gate {
    /// C = A B, tile by tile; extents are multiples of 16.
    fn program(&self) -> String {
        let ((m, n, k), t) = (self.tile, self.element);
        let b = if self.transposed {
            format!(
                "%bv = make_tensor_view %b, shape = [%n, %k], strides = [%k, 1] : tile<i32> -> tensor_view<?x?x{t}, strides=[?,1]>
      %bt = make_partition_view %bv : partition_view<tile=({n}x{k}), padding_value = zero, tensor_view<?x?x{t}, strides=[?,1]>>"
            )
        } else {
            format!(
                "%bv = make_tensor_view %b, shape = [%k, %n], strides = [%n, 1] : tile<i32> -> tensor_view<?x?x{t}, strides=[?,1]>
      %bt = make_partition_view %bv : partition_view<tile=({k}x{n}), padding_value = zero, tensor_view<?x?x{t}, strides=[?,1]>>"
            )
        };
        let load_b = if self.transposed {
            format!(
                "%bn, %read_b = load_view_tko weak %bt[%y, %i] : partition_view<tile=({n}x{k}), padding_value = zero, tensor_view<?x?x{t}, strides=[?,1]>>, tile<i32> -> tile<{n}x{k}x{t}>, token
        %bk = permute %bn [1, 0] : tile<{n}x{k}x{t}> -> tile<{k}x{n}x{t}>"
            )
        } else {
            format!(
                "%bk, %read_b = load_view_tko weak %bt[%i, %y] : partition_view<tile=({k}x{n}), padding_value = zero, tensor_view<?x?x{t}, strides=[?,1]>>, tile<i32> -> tile<{k}x{n}x{t}>, token"
            )
        };
        format!(
            "cuda_tile.module @kernels {{
    entry @product(%ap: tile<ptr<{t}>>, %bp: tile<ptr<{t}>>, %cp: tile<ptr<{t}>>, %ms: tile<i32>, %ns: tile<i32>, %ks: tile<i32>) {{
      %a = assume div_by<16>, %ap : tile<ptr<{t}>>
      %b = assume div_by<16>, %bp : tile<ptr<{t}>>
      %c = assume div_by<16>, %cp : tile<ptr<{t}>>
      %m = assume div_by<16>, %ms : tile<i32>
      %n = assume div_by<16>, %ns : tile<i32>
      %k = assume div_by<16>, %ks : tile<i32>
      %av = make_tensor_view %a, shape = [%m, %k], strides = [%k, 1] : tile<i32> -> tensor_view<?x?x{t}, strides=[?,1]>
      %at = make_partition_view %av : partition_view<tile=({m}x{k}), padding_value = zero, tensor_view<?x?x{t}, strides=[?,1]>>
      {b}
      %cv = make_tensor_view %c, shape = [%m, %n], strides = [%n, 1] : tile<i32> -> tensor_view<?x?x{t}, strides=[?,1]>
      %ct = make_partition_view %cv : partition_view<tile=({m}x{n}), tensor_view<?x?x{t}, strides=[?,1]>>
      %x, %y, %z = get_tile_block_id : tile<i32>
      %zero = constant <f32: 0.0> : tile<{m}x{n}xf32>
      %first = constant <i32: 0> : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      %tiles:2 = get_index_space_shape %at : partition_view<tile=({m}x{k}), padding_value = zero, tensor_view<?x?x{t}, strides=[?,1]>> -> tile<i32>
      %sum = for %i in (%first to %tiles#1, step %one) : tile<i32> iter_values(%acc = %zero) -> (tile<{m}x{n}xf32>) {{
        %ak, %read_a = load_view_tko weak %at[%x, %i] : partition_view<tile=({m}x{k}), padding_value = zero, tensor_view<?x?x{t}, strides=[?,1]>>, tile<i32> -> tile<{m}x{k}x{t}>, token
        {load_b}
        %next = mmaf %ak, %bk, %acc : tile<{m}x{k}x{t}>, tile<{k}x{n}x{t}>, tile<{m}x{n}xf32>
        continue %next : tile<{m}x{n}xf32>
      }}
      %r = ftof %sum : tile<{m}x{n}xf32> -> tile<{m}x{n}x{t}>
      %done = store_view_tko weak %r, %ct[%x, %y] : tile<{m}x{n}x{t}>, partition_view<tile=({m}x{n}), tensor_view<?x?x{t}, strides=[?,1]>>, tile<i32> -> token
      return
    }}
  }}"
        )
    }

    /// A consumer for each 64 rows, two at most, and a producer; the widest instructions; a ring as deep as it should
    /// be; nothing spills; ptxas keeps the products asynchronous, since a word of it about them would be an error.
    fn check(&self) -> Result<(), Failed> {
        let target = Target::by_name("sm_90").ok_or("unknown target")?;
        let ptx = compile(self.program().as_bytes(), target, 3, Emit::Ptx)?.text;
        let plan = compile(self.program().as_bytes(), target, 3, Emit::TileAs)?.text;
        let stages =
            plan.split_once("stages = ").and_then(|(_, rest)| rest.split([' ', '}', ',']).next()?.parse().ok());
        if stages.is_none_or(|s: u32| s < self.stages) {
            return Err(format!("{stages:?} stages, and {} should fit", self.stages).into());
        }
        let warpgroups = self.tile.0.div_ceil(64).min(2) + 1;
        if !ptx.contains(&format!(".reqntid {}", 128 * warpgroups)) {
            return Err(format!("the block has not {warpgroups} warpgroups").into());
        }
        let cubin = cubin::assemble(&ptx, target, 3, DebugInfo::None)?;
        for kernel in &cubin.resources {
            if kernel.spill_stores + kernel.spill_loads > 0 {
                return Err(format!("{} bytes are spilled", kernel.spill_stores).into());
            }
        }
        let (m, n, k) = self.tile;
        let name = format!("gate-{}-{m}-{n}-{k}-{}", self.element, self.transposed);
        let code = disassemble(&cubin, &name)?;
        let has = |of: &str| code.iter().any(|i| i.opcode.starts_with(of));
        for needed in ["UTMALDG.2D", "USETMAXREG", "SYNCS"] {
            if !has(needed) {
                return Err(format!("no {needed} in the code").into());
            }
        }
        let body = innermost(&code, "HGMMA").ok_or("no loop with HGMMA")?;
        let count = |of: &str| body.iter().filter(|i| i.opcode.starts_with(of)).count();
        let products = count(&format!("HGMMA.64x{}x16.F32", self.columns));
        // The assembler may unroll: what counts is an iteration's.
        let iterations = count("WARPGROUP.DEPBAR").max(1);
        if products != iterations * (k / 16) as usize || products != count("HGMMA") {
            return Err(format!("{products} products of {} columns, {} in all", self.columns, count("HGMMA")).into());
        }
        if body.len() > MOST_INSTRUCTIONS * iterations {
            return Err(format!("{} instructions in {iterations} iterations", body.len()).into());
        }
        let moved = body
            .iter()
            .find(|i| ["LDS", "STS", "LDL", "STL", "LDG", "STG", "BAR"].iter().any(|of| i.opcode.starts_with(of)));
        match moved {
            Some(i) => Err(format!("{} in the loop", i.opcode).into()),
            None => Ok(()),
        }
    }
}

/// The shortest loop that contains an instruction whose name starts so.
fn innermost<'c>(code: &'c [Instruction], of: &str) -> Option<&'c [Instruction]> {
    let start = |label: &str| code.iter().position(|i| i.label.as_deref() == Some(label));
    let loops = code.iter().enumerate().filter_map(|(end, i)| {
        let from = i.opcode.starts_with("BRA").then(|| start(i.target.as_deref()?)).flatten()?;
        (from <= end).then(|| &code[from..=end])
    });
    loops.filter(|l| l.iter().any(|i| i.opcode.starts_with(of))).min_by_key(|l| l.len())
}
