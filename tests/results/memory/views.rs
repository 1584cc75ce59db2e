//! View accesses: rows selected by a sparse dimension, and atomic updates of tiles.
//!
//! The model on the host moves raw bits, so the same code handles every element type. An i1 is a byte that is true if
//! it is not zero.

use ptx_sim::Module;
use tile_test_support::device::*;

const NONE: &[&str] = &[];
const ALL: &[&str] = &["neg_zero", "nan", "pos_inf", "neg_inf"];
/// Element types with their size in memory in bits and their special values.
const ELEMENTS: &[(&str, u32, &[&str])] = &[
    ("i1", 8, NONE),
    ("i8", 8, NONE),
    ("i16", 16, NONE),
    ("i32", 32, NONE),
    ("i64", 64, NONE),
    ("f16", 16, ALL),
    ("bf16", 16, ALL),
    ("f32", 32, ALL),
    ("f64", 64, ALL),
    ("tf32", 32, NONE),
    ("f8E4M3FN", 8, &["neg_zero", "nan"]),
    ("f8E5M2", 8, ALL),
    ("f8E8M0FNU", 8, &["nan"]),
    ("f4E2M1FN", 4, &["neg_zero"]),
];

/// The bits of a padding value.
fn padding_bits(element: &str, padding: &str) -> u64 {
    let (sign, nan, infinity) = match element {
        "f16" => (0x8000, 0x7e00, 0x7c00),
        "bf16" => (0x8000, 0x7fc0, 0x7f80),
        "f32" => (0x8000_0000, 0x7fc0_0000, 0x7f80_0000),
        "f64" => (1 << 63, 0x7ff8 << 48, 0x7ff0 << 48),
        "f8E4M3FN" => (0x80, 0x7f, 0),
        "f8E8M0FNU" => (0, 0xff, 0),
        "f4E2M1FN" => (0x8, 0, 0),
        _ => (0x80, 0x7e, 0x7c),
    };
    match padding {
        "neg_zero" => sign,
        "nan" => nan,
        "pos_inf" => infinity,
        "neg_inf" => infinity | sign,
        _ => 0,
    }
}

/// A kernel that reads or writes one tile through a sparse dimension.
struct Sparse {
    element: &'static str,
    bits: u32,
    index: &'static str,
    dim: usize,
    padding: Option<&'static str>,
    gather: bool,
    /// Extents of the memory and of the tile.
    extents: [usize; 2],
    tile: [usize; 2],
    /// The start of the tile along the dense dimension.
    start: usize,
}

impl Sparse {
    fn name(&self) -> String {
        let Sparse { element, index, dim, padding, gather, start, .. } = self;
        let what = if *gather { "gather" } else { "scatter" };
        format!("{what}_{element}_{index}_{dim}_{}_{start}", padding.unwrap_or("none")).to_lowercase()
    }
    fn rows(&self) -> usize {
        self.tile[self.dim]
    }

    fn text(&self) -> String {
        let (e, [h, w], [a, b]) = (self.element, self.extents, self.tile);
        let (index, rows, dim) = (self.index, self.rows(), self.dim);
        let padding = self.padding.map(|p| format!("padding_value = {p}, ")).unwrap_or_default();
        let memory = format!("tensor_view<?x{w}x{e}, strides=[{w},1]>");
        let view = format!("gather_scatter_view<tile=({a}x{b}), {padding}{memory}, sparse_dim={dim}>");
        let flat = format!("partition_view<tile=({a}x{b}), tensor_view<{a}x{b}x{e}, strides=[{b},1]>>");
        let list = format!("partition_view<tile=({rows}), tensor_view<{rows}x{index}, strides=[1]>>");
        let (indices, types) = match dim {
            0 => ("%rows, %start", format!("tile<{rows}x{index}>, tile<i32>")),
            _ => ("%start, %rows", format!("tile<i32>, tile<{rows}x{index}>")),
        };
        let tile = format!("tile<{a}x{b}x{e}>");
        let pointers = format!(
            "%mem: tile<ptr<{e}>>, %idx: tile<ptr<{index}>>, %tile: tile<ptr<{e}>>, %h: tile<i32>, %start: tile<i32>"
        );
        let mut s = format!("  entry @{}({pointers}) {{\n", self.name());
        let mut line = |text: String| s += &format!("    {text}\n");
        line("%zero = constant <i32: 0> : tile<i32>".into());
        line(format!("%mv = make_tensor_view %mem, shape = [%h, {w}], strides = [{w}, 1] : tile<i32> -> {memory}"));
        line(format!("%sv = make_gather_scatter_view %mv : {view}"));
        line(format!(
            "%tv = make_tensor_view %tile, shape = [{a}, {b}], strides = [{b}, 1] : tensor_view<{a}x{b}x{e}, strides=[{b},1]>"
        ));
        line(format!("%fv = make_partition_view %tv : {flat}"));
        line(format!(
            "%iv = make_tensor_view %idx, shape = [{rows}], strides = [1] : tensor_view<{rows}x{index}, strides=[1]>"
        ));
        line(format!("%lv = make_partition_view %iv : {list}"));
        line(format!("%rows, %t0 = load_view_tko weak %lv[%zero] : {list}, tile<i32> -> tile<{rows}x{index}>, token"));
        if self.gather {
            line(format!("%x, %t1 = load_view_tko weak %sv[{indices}] token = %t0 : {view}, {types} -> {tile}, token"));
            line(format!(
                "%t2 = store_view_tko weak %x, %fv[%zero, %zero] token = %t1 : {tile}, {flat}, tile<i32> -> token"
            ));
        } else {
            line(format!(
                "%x, %t1 = load_view_tko weak %fv[%zero, %zero] token = %t0 : {flat}, tile<i32> -> {tile}, token"
            ));
            line(format!(
                "%t2 = store_view_tko weak %x, %sv[{indices}] token = %t1 : {tile}, {view}, {types} -> token"
            ));
        }
        line("return".into());
        let _ = h;
        s + "  }\n"
    }

    fn run(&self, module: &Module, schedule: Option<u64>) -> Result<(), String> {
        let ([h, w], [a, b], bits) = (self.extents, self.tile, self.bits);
        let mut numbers = Numbers(self.start as u64 * 7 + u64::from(bits));
        let mut element = || match self.element {
            "i1" => numbers.below(2),
            // The low bits of a tf32 are zero.
            "tf32" => numbers.draw() << 13 & 0xffff_e000,
            _ if bits == 64 => numbers.draw() ^ numbers.draw() << 40,
            _ => numbers.draw() & ((1 << bits) - 1),
        };
        let mut memory: Vec<u64> = (0..h * w).map(|_| element()).collect();
        let mut tile: Vec<u64> = (0..a * b).map(|_| element()).collect();
        // Distinct rows in random order, some of them out of bounds.
        let index_bits: u32 = self.index[1..].parse().expect("i and a number");
        let limit = self.extents[self.dim];
        let numbers = self.rows().max(limit + 4);
        let rows: Vec<u64> = (0..self.rows()).map(|i| ((i * 5 + 3) % numbers) as u64).collect();
        let outside = rows.iter().filter(|r| **r >= limit as u64).count();
        assert!(outside > 0 && outside < rows.len(), "rows inside and outside");
        let mut run = Run::default();
        let p = run.memory(&pack(&memory, bits));
        run.memory(&pack(&rows, index_bits));
        let q = run.memory(&pack(&tile, bits));
        run.scalar(h as i32);
        run.scalar(self.start as i32);
        run.launch(module, &self.name(), 1, schedule).map_err(|e| e.to_string())?;
        for i in 0..a {
            for j in 0..b {
                let (row, column) = match self.dim {
                    0 => (rows[i] as usize, self.start + j),
                    _ => (self.start + i, rows[j] as usize),
                };
                let inside = row < h && column < w;
                match (self.gather, inside) {
                    (true, true) => tile[i * b + j] = memory[row * w + column],
                    (true, false) => tile[i * b + j] = padding_bits(self.element, self.padding.unwrap_or("zero")),
                    (false, true) => memory[row * w + column] = tile[i * b + j],
                    (false, false) => {}
                }
            }
        }
        for (what, p, want) in [("memory", p, &memory), ("tile", q, &tile)] {
            let got = unpack(&run.read(p, want.len() * bits as usize / 8), bits);
            let known = |i: &usize| {
                if what == "memory" || self.padding.is_some() || !self.gather {
                    return true;
                }
                // Without padding, elements out of bounds are undefined.
                let (i, j) = (i / b, i % b);
                let (row, column) = match self.dim {
                    0 => (rows[i] as usize, self.start + j),
                    _ => (self.start + i, rows[j] as usize),
                };
                row < h && column < w
            };
            if let Some(i) = (0..want.len()).filter(known).find(|&i| got[i] != want[i]) {
                return Err(format!("{what} element {i} is {:#x}, not {:#x}", got[i], want[i]));
            }
        }
        Ok(())
    }
}

fn sparse_kernels() -> Vec<Sparse> {
    let mut list = vec![];
    for (n, &(element, bits, special)) in ELEMENTS.iter().enumerate() {
        let index = ["i32", "i64", "i16", "i8"][n % 4];
        let base = |dim| Sparse {
            element,
            bits,
            index,
            dim,
            padding: None,
            gather: true,
            extents: [20, 48],
            tile: [16, 32],
            start: 0,
        };
        list.push(base(0));
        for padding in special.iter().chain(&["zero"]) {
            list.push(Sparse { padding: Some(padding), ..base(0) });
        }
        // Ragged at the other end, where vectors cross the bound.
        list.push(Sparse { padding: Some("zero"), start: 21, ..base(0) });
        list.push(Sparse { padding: Some("zero"), tile: [32, 32], start: 11, ..base(1) });
        list.push(Sparse { gather: false, ..base(0) });
        list.push(Sparse { gather: false, start: 16, ..base(0) });
        list.push(Sparse { gather: false, tile: [16, 64], start: 9, ..base(1) });
    }
    list
}

fn sparse_module() -> String {
    let entries: String = sparse_kernels().iter().map(Sparse::text).collect();
    format!("cuda_tile.module @m {{\n{entries}}}\n")
}

pub fn sparse() -> Result<(), String> {
    let text = sparse_module();
    let mut problems = vec![];
    for (target, level) in configurations() {
        let module = Module::parse(&compile(&text, target, level)?).map_err(|e| e.to_string())?;
        for kernel in sparse_kernels() {
            for schedule in schedules() {
                if let Err(e) = kernel.run(&module, *schedule) {
                    problems.push(format!("{target} -O{level} {schedule:?} {}: {e}", kernel.name()));
                }
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

pub fn sparse_assembles() -> Result<(), String> {
    assemble_everywhere(&sparse_module(), 3)
}

//===-- atomic updates of tiles ---------------------------------------------------===//

/// A kernel of several blocks that adds tiles of ones, or computes maxima, through a view.
struct Update {
    name: &'static str,
    mode: &'static str,
    element: &'static str,
    bits: u32,
    /// The view of a memory of 37 x 41 elements, whose rows are 48 elements apart.
    view: &'static str,
    make: &'static str,
    tile: [usize; 2],
    steps: [usize; 2],
    transposed: bool,
    scope: &'static str,
}

const ROWS: usize = 37;
const COLUMNS: usize = 41;
const STRIDE: usize = 48;

const UPDATES: &[Update] = &[
    Update {
        name: "partition_f32",
        mode: "addf",
        element: "f32",
        bits: 32,
        view: "partition_view<tile=(16x16), MEMORY>",
        make: "make_partition_view",
        tile: [16, 16],
        steps: [16, 16],
        transposed: false,
        scope: "device",
    },
    Update {
        name: "partition_f16",
        mode: "addf",
        element: "f16",
        bits: 16,
        view: "partition_view<tile=(8x32), MEMORY>",
        make: "make_partition_view",
        tile: [8, 32],
        steps: [8, 32],
        transposed: false,
        scope: "device",
    },
    Update {
        name: "overlapping_bf16",
        mode: "addf",
        element: "bf16",
        bits: 16,
        view: "strided_view<tile=(16x16), traversal_strides=[10,7], MEMORY>",
        make: "make_strided_view",
        tile: [16, 16],
        steps: [10, 7],
        transposed: false,
        scope: "device",
    },
    Update {
        name: "transposed_f64",
        mode: "addf",
        element: "f64",
        bits: 64,
        view: "partition_view<tile=(4x8), MEMORY, dim_map=[1, 0]>",
        make: "make_partition_view",
        tile: [4, 8],
        steps: [4, 8],
        transposed: true,
        scope: "tl_blk",
    },
    Update {
        name: "gaps_i32",
        mode: "add",
        element: "i32",
        bits: 32,
        view: "strided_view<tile=(4x4), traversal_strides=[5,9], MEMORY>",
        make: "make_strided_view",
        tile: [4, 4],
        steps: [5, 9],
        transposed: false,
        scope: "device",
    },
    Update {
        name: "maximum_i64",
        mode: "max",
        element: "i64",
        bits: 64,
        view: "partition_view<tile=(16x32), MEMORY>",
        make: "make_partition_view",
        tile: [16, 32],
        steps: [16, 32],
        transposed: false,
        scope: "device",
    },
];

impl Update {
    fn text(&self) -> String {
        let Update { name, mode, element, make, tile: [a, b], scope, .. } = self;
        let memory = format!("tensor_view<?x?x{element}, strides=[?,1]>");
        let view = self.view.replace("MEMORY", &memory);
        let one = if self.mode == "addf" { "1.0" } else { "1" };
        format!(
            "  entry @{name}(%p: tile<ptr<{element}>>, %h: tile<i32>, %w: tile<i32>, %s: tile<i32>) {{
    %a = assume div_by<16>, %p : tile<ptr<{element}>>
    %sa = assume div_by<16>, %s : tile<i32>
    %x, %y, %z = get_tile_block_id : tile<i32>
    %m = make_tensor_view %a, shape = [%h, %w], strides = [%sa, 1] : tile<i32> -> {memory}
    %v = {make} %m : {view}
    %sizes:2 = get_index_space_shape %v : {view} -> tile<i32>
    %i = divi %x, %sizes#1 unsigned : tile<i32>
    %j = remi %x, %sizes#1 unsigned : tile<i32>
    %c = constant <{element}: {one}> : tile<{a}x{b}x{element}>
    %t = atomic_red_view_tko relaxed {scope} %v[%i, %j], {mode}, %c : tile<{a}x{b}x{element}>, {view}, tile<i32> -> token
    return
  }}
"
        )
    }

    fn one(&self) -> u64 {
        match self.element {
            "f16" => 0x3c00,
            "bf16" => 0x3f80,
            "f32" => 0x3f80_0000,
            "f64" => 1f64.to_bits(),
            _ => 1,
        }
    }
    /// The bits of a small number.
    fn encode(&self, n: u64) -> u64 {
        match self.element {
            "f16" => [0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600][n as usize],
            "bf16" => u64::from((n as f32).to_bits() >> 16),
            "f32" => (n as f32).to_bits().into(),
            "f64" => (n as f64).to_bits(),
            _ => n,
        }
    }

    fn run(&self, module: &Module, schedule: Option<u64>) -> Result<(), String> {
        let ([a, b], [da, db]) = (self.tile, self.steps);
        // If the view is transposed, dimension 0 of the tile is along the columns.
        let (along, across) = if self.transposed { (COLUMNS, ROWS) } else { (ROWS, COLUMNS) };
        let (tiles, tiles_across) = (along.div_ceil(da), across.div_ceil(db));
        let mut want = vec![0u64; ROWS * STRIDE];
        for i in 0..tiles {
            for j in 0..tiles_across {
                for (r, c) in (0..a).flat_map(|r| (0..b).map(move |c| (r, c))) {
                    let (r, c) = (i * da + r, j * db + c);
                    if r < along && c < across {
                        let at = if self.transposed { c * STRIDE + r } else { r * STRIDE + c };
                        want[at] = if self.mode == "max" { 1 } else { want[at] + 1 };
                    }
                }
            }
        }
        let mut run = Run::default();
        let p = run.memory(&vec![0; ROWS * STRIDE * self.bits as usize / 8]);
        for n in [ROWS, COLUMNS, STRIDE] {
            run.scalar(n as i32);
        }
        run.launch(module, self.name, (tiles * tiles_across) as u32, schedule).map_err(|e| e.to_string())?;
        let got = unpack(&run.read(p, ROWS * STRIDE * self.bits as usize / 8), self.bits);
        assert_eq!(self.encode(1), self.one());
        for (i, (&got, &want)) in got.iter().zip(&want).enumerate() {
            if got != self.encode(want) {
                return Err(format!("element {}, {} is {got:#x}, not {want}", i / STRIDE, i % STRIDE));
            }
        }
        Ok(())
    }
}

pub fn updates() -> Result<(), String> {
    let entries: String = UPDATES.iter().map(Update::text).collect();
    let text = format!("cuda_tile.module @m {{\n{entries}}}\n");
    let mut problems = vec![];
    for (target, level) in configurations() {
        let module = Module::parse(&compile(&text, target, level)?).map_err(|e| e.to_string())?;
        for update in UPDATES {
            for schedule in schedules() {
                // At block scope, blocks do not see each other's updates, but the simulator does not distinguish
                // scopes.
                if let Err(e) = update.run(&module, *schedule) {
                    problems.push(format!("{target} -O{level} {schedule:?} {}: {e}", update.name));
                }
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems.join("\n"));
    }
    assemble_everywhere(&text, 3)
}
