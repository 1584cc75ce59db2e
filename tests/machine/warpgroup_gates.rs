//! Warpgroup dots down to machine code: the instructions of the loop, and ptxas messages. The programs do not have
//! hints.

use kernels::{compile, compile_with_options};
use sass::{disassemble, innermost};
use tile_interface::{DebugInfo, Emit};
use tile_targets::Target;
use tile_test_support::{Failed, Trial, cubin, golden, kernels, sass};

/// A program: extents of its tiles, type of its operands, and whether B and A are stored transposed.
#[derive(Clone, Copy)]
pub struct Gate {
    pub tile: (u32, u32, u32),
    pub element: &'static str,
    pub transposed: bool,
    pub left_transposed: bool,
    /// Columns of an instruction, and the minimum number of ring stages.
    pub columns: u32,
    pub stages: u32,
    /// Consumer warpgroups along the rows and along the columns.
    pub groups: (u32, u32),
    /// Waits for dots per iteration.
    pub waits: usize,
    /// Whether consumers convert stages first.
    pub prepared: bool,
    /// Whether a dedicated warpgroup converts stages.
    pub converter: bool,
    /// The number of CTAs per SM that the program requests.
    pub occupancy: u32,
    /// CTAs that split a tile.
    pub sharing: u32,
    /// Whether the extents are unknown, so that rows may end within 16 bytes; only the strides are known.
    pub any_width: bool,
    /// Whether 8-bit floats are summed in f16.
    pub half_sums: bool,
    /// Whether CTAs loop over tile blocks.
    pub looped: bool,
}

pub const HALVES: Gate = Gate {
    tile: (128, 256, 64),
    element: "bf16",
    transposed: false,
    left_transposed: false,
    columns: 256,
    stages: 4,
    groups: (2, 1),
    waits: 1,
    prepared: false,
    converter: false,
    occupancy: 1,
    sharing: 1,
    any_width: false,
    half_sums: false,
    looped: false,
};

const BYTES: Gate = Gate { tile: (128, 256, 128), element: "i8", transposed: true, ..HALVES };

/// Exact accumulation: a chain from zero for each half of the columns, and an addition for each accumulator.
const FLOATS: Gate = Gate { element: "f8E4M3FN", columns: 128, stages: 3, waits: 2, ..BYTES };

/// Rounded from f32 by the copies.
const WORDS: Gate = Gate { tile: (128, 256, 32), element: "tf32", transposed: true, ..HALVES };

const GATES: &[Gate] = &[
    HALVES,
    Gate { transposed: true, ..HALVES },
    Gate { element: "f16", ..HALVES },
    Gate { tile: (128, 128, 64), element: "f16", columns: 128, ..HALVES },
    Gate { tile: (128, 128, 64), transposed: true, columns: 128, ..HALVES },
    // Two CTAs share the registers, and each has one consumer.
    Gate { tile: (128, 128, 64), transposed: true, columns: 128, stages: 3, groups: (1, 1), occupancy: 2, ..HALVES },
    // The accumulator exceeds the registers of an SM: each CTA has 128 rows and is like any other.
    Gate { tile: (256, 256, 64), element: "f16", sharing: 2, ..HALVES },
    Gate { tile: (512, 256, 64), transposed: true, sharing: 4, ..HALVES },
    // Results are stored by TMA or by threads, after a test: both sides read the accumulators.
    Gate { any_width: true, ..HALVES },
    Gate { tile: (128, 128, 64), transposed: true, columns: 128, any_width: true, ..HALVES },
    // One block of 64 rows: one consumer.
    Gate { tile: (64, 256, 64), element: "f16", groups: (1, 1), ..HALVES },
    BYTES,
    Gate { tile: (128, 128, 128), columns: 128, ..BYTES },
    Gate { transposed: false, prepared: true, ..BYTES },
    Gate { tile: (128, 128, 128), transposed: false, columns: 128, prepared: true, ..BYTES },
    FLOATS,
    Gate { element: "f8E5M2", ..FLOATS },
    // A converter warpgroup transposes operands; the loop is the same.
    Gate { transposed: false, converter: true, ..FLOATS },
    // More consumers hide each other's additions and convert stages faster.
    Gate { tile: (128, 128, 128), stages: 4, groups: (2, 2), columns: 64, waits: 1, ..FLOATS },
    Gate { tile: (64, 256, 128), groups: (1, 2), waits: 1, ..FLOATS },
    Gate { tile: (64, 256, 128), transposed: false, groups: (1, 2), waits: 1, converter: true, ..FLOATS },
    WORDS,
    Gate { transposed: false, prepared: true, ..WORDS },
    Gate { tile: (128, 128, 32), columns: 128, ..WORDS },
    Gate { tile: (64, 256, 32), groups: (1, 1), ..WORDS },
    // In a loop over tile blocks, results have memory of their own.
    Gate { stages: 3, looped: true, ..HALVES },
    Gate { tile: (128, 128, 64), transposed: true, columns: 128, stages: 5, looped: true, ..HALVES },
    Gate { stages: 3, looped: true, ..BYTES },
    Gate { looped: true, ..FLOATS },
    Gate { stages: 3, looped: true, ..WORDS },
];

pub fn trials() -> Vec<Trial> {
    let trials = GATES.iter().map(|gate| Trial::test(gate.name(), move || gate.check()));
    let batches =
        ["bmm_f16", "bmm_of_one"].map(|name| Trial::test(format!("warpgroup_gates/{name}"), move || batched(name)));
    let copies = Trial::test("warpgroup_gates/moe_gather_matmul_wide", || copied("moe_gather_matmul_wide"));
    let shares = Trial::test("warpgroup_gates/gated_unit", || shared("gated_unit"));
    trials.chain(batches).chain([copies, shares]).collect()
}

/// A program of the corpus with batched matmuls. Tiles lose their batch dimension before or in the dot.
fn batched(name: &str) -> Result<(), Failed> {
    let path = format!("{}/tests/corpus/{name}.13.1.tileirbc", env!("CARGO_MANIFEST_DIR"));
    let target = Target::by_name("sm_90").ok_or("unknown target")?;
    let ptx = compile(&std::fs::read(path)?, target, 3, Emit::Ptx)?.text;
    for (what, wanted) in
        [("wgmma.mma_async", true), ("cp.async.bulk.tensor.3d.shared::cluster", true), ("mma.sync", false)]
    {
        if ptx.contains(what) != wanted {
            return Err(format!("{what} is {}", if wanted { "missing" } else { "there" }).into());
        }
    }
    Ok(())
}

/// Returns the code of a program of the corpus, which must not spill.
fn without_spills(name: &str) -> Result<Vec<sass::Instruction>, Failed> {
    let cubin = sass::assemble(&format!("{name}.13.1"), "sm_90")?;
    if let Some(kernel) = cubin.resources.iter().find(|k| k.spill_stores + k.spill_loads > 0) {
        return Err(format!("{} bytes are spilled", kernel.spill_stores).into());
    }
    Ok(disassemble(&cubin, &format!("gate-{name}"))?)
}

/// A program of the corpus with rows selected by a list. The producer's threads copy them, 16 bytes at a time,
/// without passing them through registers. Consumers have one more fence per iteration.
fn copied(name: &str) -> Result<(), Failed> {
    let code = without_spills(name)?;
    let producer = innermost(&code, "LDGSTS.E").ok_or("no loop with copies of threads")?;
    let consumer = innermost(&code, "GMMA").ok_or("no loop with products")?;
    let count = |body: &[sass::Instruction], of: &str| body.iter().filter(|i| i.opcode.starts_with(of)).count();
    // ptxas may unroll; each iteration has one arrival.
    let iterations = count(producer, "ARRIVES").max(1);
    let copies = producer.iter().filter(|i| i.opcode.starts_with("LDGSTS") && i.opcode.contains(".128")).count();
    // 128 rows of 128 bytes, 16 bytes each of 128 threads.
    if copies != 8 * iterations {
        return Err(format!("{copies} copies of 16 bytes in {iterations} iterations").into());
    }
    for (body, never) in [(producer, &["LDG.", "STS", "LDL", "STL", "FENCE"][..]), (consumer, &["LDG", "LDS", "STS"])] {
        if let Some(i) = body.iter().find(|i| never.iter().any(|of| i.opcode.starts_with(of))) {
            return Err(format!("{} in the loop", i.opcode).into());
        }
    }
    let waits = consumer.iter().filter(|i| i.opcode.contains("WARPGROUP.DEPBAR")).count().max(1);
    let fences = count(consumer, "FENCE");
    if fences != waits { Err(format!("{fences} fences in {waits} iterations").into()) } else { Ok(()) }
}

/// A program of the corpus that multiplies its rows by two matrices. TMA loads three tiles per iteration, and the
/// consumers' loop is like the loop of one dot with as many columns.
fn shared(name: &str) -> Result<(), Failed> {
    let code = without_spills(name)?;
    let consumer = innermost(&code, "GMMA").ok_or("no loop with products")?;
    let count = |body: &[sass::Instruction], of: &str| body.iter().filter(|i| i.opcode.contains(of)).count();
    let copies = (count(&code, "UTMALDG"), count(&code, "LDGSTS"));
    if copies != (3, 0) {
        return Err(format!("{copies:?} tensor copies and copies of threads, not 3 and none").into());
    }
    let waits = count(consumer, "WARPGROUP.DEPBAR").max(1);
    // Two blocks of rows, two matrices, four steps along K.
    let (products, instructions) = (count(consumer, "GMMA.") / waits, consumer.len().div_ceil(waits));
    if products != 16 {
        return Err(format!("{products} products an iteration").into());
    }
    Ok(golden::gate(&format!("warpgroup_gates/{name}"), instructions)?)
}

impl Gate {
    /// The name of the test, which is also the row of the table of bounds.
    pub fn name(&self) -> String {
        let (m, n, k) = self.tile;
        let order = match (self.transposed, self.left_transposed) {
            (false, false) => "NN",
            (true, false) => "TN",
            (false, true) => "NT",
            (true, true) => "TT",
        };
        let blocks = if self.occupancy > 1 { "_two_blocks" } else { "" };
        let width = if self.any_width { "_any_width" } else { "" };
        let sums = if self.half_sums { "_f16" } else { "" };
        let looped = if self.looped { "_looped" } else { "" };
        format!("warpgroup_gates/{}{sums}_{m}x{n}x{k}_{order}{blocks}{width}{looped}", self.element)
    }

    /// The types in memory, of the accumulator, and of the stored result.
    fn types(&self) -> [&'static str; 3] {
        match self.element {
            "tf32" => ["f32", "f32", "f32"],
            "i8" => ["i8", "i32", "i32"],
            "f8E4M3FN" | "f8E5M2" => [self.element, if self.half_sums { "f16" } else { "f32" }, "f16"],
            other => [other, "f32", other],
        }
    }

    /// C = A B, tile by tile; extents are multiples of 16.
    pub fn program(&self) -> String {
        let ((m, n, k), t) = (self.tile, self.element);
        let [mem, sum, out] = self.types();
        let (rows, columns, shape, stride, index) =
            if self.transposed { (n, k, "%n, %k", "%k", "%y, %i") } else { (k, n, "%k, %n", "%n", "%i, %y") };
        let (rows_a, columns_a, shape_a, stride_a, index_a, depth) = if self.left_transposed {
            (k, m, "%k, %m", "%m", "%i, %x", "%tiles#0")
        } else {
            (m, k, "%m, %k", "%k", "%x, %i", "%tiles#1")
        };
        let ([row_a, row_b, row_c], known) =
            if self.any_width { (["%sa", "%sb", "%sc"], 1) } else { ([stride_a, stride, "%n"], 16) };
        let view_a = format!(
            "partition_view<tile=({rows_a}x{columns_a}), padding_value = zero, tensor_view<?x?x{mem}, strides=[?,1]>>"
        );
        let b = format!(
            "%bv = make_tensor_view %b, shape = [{shape}], strides = [{row_b}, 1] : tile<i32> -> tensor_view<?x?x{mem}, strides=[?,1]>
      %bt = make_partition_view %bv : partition_view<tile=({rows}x{columns}), padding_value = zero, tensor_view<?x?x{mem}, strides=[?,1]>>"
        );
        let round = |name: &str, rows: u32, columns: u32| {
            if t == mem {
                return (format!("%{name}l"), String::new());
            }
            let text =
                format!("%{name}c = ftof %{name}l : tile<{rows}x{columns}x{mem}> -> tile<{rows}x{columns}x{t}>\n");
            (format!("%{name}c"), text)
        };
        let (left, round_a) = round("a", rows_a, columns_a);
        let (left, turn_a) = if self.left_transposed {
            ("%ak".to_string(), format!("%ak = permute {left} [1, 0] : tile<{k}x{m}x{t}> -> tile<{m}x{k}x{t}>"))
        } else {
            (left, String::new())
        };
        let (right, round_b) = round("b", rows, columns);
        let (right, turn) = if self.transposed {
            ("%bk".to_string(), format!("%bk = permute {right} [1, 0] : tile<{n}x{k}x{t}> -> tile<{k}x{n}x{t}>"))
        } else {
            (right, String::new())
        };
        let (op, signs) = if t == "i8" { ("mmai", " signed signed") } else { ("mmaf", "") };
        let (cast, result) = if sum == out {
            (String::new(), "%sum")
        } else {
            (format!("%r = ftof %sum : tile<{m}x{n}x{sum}> -> tile<{m}x{n}x{out}>"), "%r")
        };
        let zero = if sum == "i32" { "0" } else { "0.0" };
        let hints = match self.occupancy {
            1 => String::new(),
            blocks => format!("optimization_hints=<sm_90 = {{occupancy = {blocks} : i32}}>"),
        };
        format!(
            "cuda_tile.module @kernels {{
    entry @product(%ap: tile<ptr<{mem}>>, %bp: tile<ptr<{mem}>>, %cp: tile<ptr<{out}>>, %ms: tile<i32>, %ns: tile<i32>, %ks: tile<i32>, %ra: tile<i32>, %rb: tile<i32>, %rc: tile<i32>) {hints} {{
      %a = assume div_by<16>, %ap : tile<ptr<{mem}>>
      %b = assume div_by<16>, %bp : tile<ptr<{mem}>>
      %c = assume div_by<16>, %cp : tile<ptr<{out}>>
      %m = assume div_by<{known}>, %ms : tile<i32>
      %n = assume div_by<{known}>, %ns : tile<i32>
      %k = assume div_by<{known}>, %ks : tile<i32>
      %sa = assume div_by<16>, %ra : tile<i32>
      %sb = assume div_by<16>, %rb : tile<i32>
      %sc = assume div_by<16>, %rc : tile<i32>
      %av = make_tensor_view %a, shape = [{shape_a}], strides = [{row_a}, 1] : tile<i32> -> tensor_view<?x?x{mem}, strides=[?,1]>
      %at = make_partition_view %av : {view_a}
      {b}
      %cv = make_tensor_view %c, shape = [%m, %n], strides = [{row_c}, 1] : tile<i32> -> tensor_view<?x?x{out}, strides=[?,1]>
      %ct = make_partition_view %cv : partition_view<tile=({m}x{n}), tensor_view<?x?x{out}, strides=[?,1]>>
      %x, %y, %z = get_tile_block_id : tile<i32>
      %zero = constant <{sum}: {zero}> : tile<{m}x{n}x{sum}>
      %first = constant <i32: 0> : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      %tiles:2 = get_index_space_shape %at : {view_a} -> tile<i32>
      %sum = for %i in (%first to {depth}, step %one) : tile<i32> iter_values(%acc = %zero) -> (tile<{m}x{n}x{sum}>) {{
        %al, %read_a = load_view_tko weak %at[{index_a}] : {view_a}, tile<i32> -> tile<{rows_a}x{columns_a}x{mem}>, token
        {round_a}
        {turn_a}
        %bl, %read_b = load_view_tko weak %bt[{index}] : partition_view<tile=({rows}x{columns}), padding_value = zero, tensor_view<?x?x{mem}, strides=[?,1]>>, tile<i32> -> tile<{rows}x{columns}x{mem}>, token
        {round_b}
        {turn}
        %next = {op} {left}, {right}, %acc{signs} : tile<{m}x{k}x{t}>, tile<{k}x{n}x{t}>, tile<{m}x{n}x{sum}>
        continue %next : tile<{m}x{n}x{sum}>
      }}
      {cast}
      %done = store_view_tko weak {result}, %ct[%x, %y] : tile<{m}x{n}x{out}>, partition_view<tile=({m}x{n}), tensor_view<?x?x{out}, strides=[?,1]>>, tile<i32> -> token
      return
    }}
  }}"
        )
    }

    /// Checks for: a consumer per 64 rows, at most two, and a producer; the widest instructions; a ring of the
    /// required depth; no spills; asynchronous dots, because a ptxas message about them would be an error.
    fn check(&self) -> Result<(), Failed> {
        let target = Target::by_name("sm_90").ok_or("unknown target")?;
        let options: &[(&str, &str)] = if self.looped { &[] } else { &[("dynamic-persistent", "false")] };
        let compile = |emit| compile_with_options(self.program().as_bytes(), target, emit, options);
        let (ptx, plan) = (compile(Emit::Ptx)?.text, compile(Emit::TileAs)?.text);
        if ptx.contains("%nsmid") != self.looped {
            return Err("a loop over tile blocks is there where none should be, or is not".into());
        }
        let stages =
            plan.split_once("stages = ").and_then(|(_, rest)| rest.split([' ', '}', ',']).next()?.parse().ok());
        if stages.is_none_or(|s: u32| s < self.stages) {
            return Err(format!("{stages:?} stages, and {} should fit", self.stages).into());
        }
        let warpgroups = self.groups.0 * self.groups.1 + 1 + u32::from(self.converter);
        if !ptx.contains(&format!(".reqntid {}", 128 * warpgroups)) {
            return Err(format!("the block has not {warpgroups} warpgroups").into());
        }
        let cluster = format!(".reqnctapercluster {}, 1, 1\n.blocksareclusters", self.sharing);
        if ptx.contains(&cluster) != (self.sharing > 1) {
            return Err(format!("no clusters of {} where they belong", self.sharing).into());
        }
        let cubin = cubin::assemble(&ptx, target, 3, DebugInfo::None)?;
        for kernel in &cubin.resources {
            if kernel.spill_stores + kernel.spill_loads > 0 {
                return Err(format!("{} bytes are spilled", kernel.spill_stores).into());
            }
        }
        let (m, n, k) = (self.tile.0 / self.sharing, self.tile.1, self.tile.2);
        let order = if self.transposed { "tn" } else { "nn" };
        let looped = if self.looped { "-looped" } else { "" };
        let name = format!("gate-{}-{m}-{n}-{k}-{order}-{}-{}{looped}", self.element, self.occupancy, self.any_width);
        let code = disassemble(&cubin, &name)?;
        let has = |of: &str| code.iter().any(|i| i.opcode.starts_with(of));
        for needed in ["UTMALDG.2D", "USETMAXREG", "SYNCS"] {
            if !has(needed) {
                return Err(format!("no {needed} in the code").into());
            }
        }
        if self.converter
            != innermost(&code, "LDSM").is_some_and(|turning| !turning.iter().any(|i| i.opcode.contains("GMMA")))
        {
            return Err("a loop that turns tiles is there where none should be, or is not".into());
        }
        let body = innermost(&code, "GMMA").ok_or("no loop with products")?;
        let count = |of: &str| body.iter().filter(|i| i.opcode.contains(of)).count();
        let products = count(&format!("GMMA.64x{}x", self.columns));
        // The assembler may unroll, so counts are per iteration.
        let iterations = (count("WARPGROUP.DEPBAR") / self.waits).max(1);
        let bits = match self.element {
            "tf32" => 32,
            "i8" | "f8E4M3FN" | "f8E5M2" => 8,
            _ => 16,
        };
        let (rows, columns) = self.groups;
        let expected = m / 64 / rows * (n / columns / self.columns) * (k * bits / 256);
        if products != iterations * expected as usize || products != count("GMMA.") {
            let (columns, all) = (self.columns, count("GMMA."));
            return Err(format!("{products} products of {columns} columns, {all} in all, {expected} expected").into());
        }
        golden::gate(&self.name(), body.len().div_ceil(iterations))?;
        let never = ["LDL", "STL", "LDG", "STG"];
        let changes: &[&str] = if self.prepared { &[] } else { &["LDS", "STS", "BAR", "PRMT"] };
        let moved = body.iter().find(|i| never.iter().chain(changes).any(|of| i.opcode.starts_with(of)));
        match moved {
            Some(i) => Err(format!("{} in the loop", i.opcode).into()),
            None => Ok(()),
        }
    }
}
