//! TMA loads and tensor maps, run on the simulator: one agent loads tiles of a view into a ring, and another agent
//! reads them from there and writes them to global memory. The kernel creates the maps, the next kernel finds them,
//! and blocks borrow maps if the table of maps is full.

use ptx_sim::{Arg, Config, Device, LaunchConfig, Module, RunOptions};
use simulate::{From, How, attribute};
use tile_interface::DebugInfo;
use tile_layout::{HardwareLayout, HardwareSwizzle, Layout, Shape};
use tile_targets::Target;
use tile_test_support::{Trial, cubin, functions, simulate};

/// A tile and its layout in shared memory.
#[derive(Clone, Copy, Debug)]
struct Case {
    element: &'static str,
    bytes: usize,
    tile: [usize; 2],
    /// Whether the layout is row-major without a swizzle.
    plain: bool,
    /// Blocks can have different views: the number of rows that is added for each block.
    rows_per_block: i32,
}

const fn case(element: &'static str, bytes: usize, tile: [usize; 2], plain: bool) -> Case {
    Case { element, bytes, tile, plain, rows_per_block: 0 }
}

const CASES: &[Case] = &[
    // Swizzle spans of 128, 64 and 32 bytes, and no swizzle.
    case("bf16", 2, [32, 64], false),
    case("bf16", 2, [32, 32], false),
    case("f16", 2, [32, 16], false),
    case("f32", 4, [16, 32], false),
    case("i8", 1, [32, 128], false),
    case("bf16", 2, [32, 32], true),
    case("i8", 1, [32, 16], true),
    // Two boxes and four boxes.
    case("bf16", 2, [32, 128], false),
    case("f32", 4, [16, 128], false),
];

impl Case {
    fn text(&self) -> String {
        let Case { element, bytes, tile: [r, c], .. } = *self;
        let shape = Shape::new(&[r as i64, c as i64]).expect("a shape");
        let bits = 8 * bytes as u32;
        let span = HardwareSwizzle::widest((c * bytes) as u64).span() as usize;
        let (shared, columns, span) = if self.plain {
            ((0..shape.bits()).map(|i| 1u64 << i).collect::<Vec<_>>(), c, 16)
        } else {
            let layout = HardwareLayout::panels(&shape, (1, 0), bits).and_then(|l| l.shared_layout());
            (layout.expect("a layout").bases().to_vec(), span / bytes, span)
        };
        let vector = 16 / bytes;
        let layout = Layout::coalesced(&shape, bits, &[1, 0], vector as u64, 1).expect("a layout");
        let (size, rows_per_block) = (r * c * bytes, self.rows_per_block);
        format!(
            r#"#l = {layout}
#s = #nv_tileas.shared_layout<offset = {shared:?}>
#b = #nv_tileas.shared_layout<offset = [1, 2]>
#x = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!ring = !nv_tileas.memdesc<{r}x{c}x{element}, #s, stages = 2, align = 1024>
!stage = !nv_tileas.memdesc<{r}x{c}x{element}, #s, align = 1024>
!bars = !nv_tileas.memdesc<4xi64, #b>
!scratch = !nv_tileas.memdesc<128xi8, #x>
!in = !nv_tileaa.tiled_view<tile = [{r}, {c}], memref<?x?x{element}, strides = [?, 1]>, padding = zero>
!out = !nv_tileaa.tiled_view<tile = [{r}, {c}], memref<?x{c}x{element}, strides = [{c}, 1]>>
!desc = !nv_tileas.tma_desc<{element}, dims = [1, 0], box = [{columns}, {r}], steps = [1, 1], swizzle = {span}, fill = zero>
!tile = tensor<{r}x{c}x{element}, #l>
gpu.module @m {{
  nv_tileaa.func @k(%p: !nv_tileaa.ptr<{element}>, %rows: i32, %cols: i32, %stride: i32, %q: !nv_tileaa.ptr<{element}>, %n: i32, %total: i32) attributes {{numWarps = 2 : i64}} {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %more = arith.constant {rows_per_block} : i32
    %block, %y, %z = nv_tileaa.get_program_id
    %blocks, %ny, %nz = nv_tileaa.get_num_programs
    %added = arith.muli %block, %more : i32
    %extent = arith.addi %rows, %added : i32
    %m = nv_tileaa.make_memref %p, shape = [%extent, %cols : i32, i32], strides = [%stride : i32] : <{element}> -> <?x?x{element}, strides = [?, 1]>
    %v = nv_tileaa.make_tiled_view %m : <?x?x{element}, strides = [?, 1]> -> <tile = [{r}, {c}], memref<?x?x{element}, strides = [?, 1]>, padding = zero>
    %tiles = arith.muli %total, %blocks : i32
    %tile = arith.constant {r} : i32
    %outs = arith.muli %tiles, %tile : i32
    %om = nv_tileaa.make_memref %q, shape = [%outs : i32], strides = [] : <{element}> -> <?x{c}x{element}, strides = [{c}, 1]>
    %o = nv_tileaa.make_tiled_view %om : <?x{c}x{element}, strides = [{c}, 1]> -> <tile = [{r}, {c}], memref<?x{c}x{element}, strides = [{c}, 1]>>
    %ring = nv_tileas.alloc_tensor : !ring
    %bars = nv_tileas.alloc_tensor : !bars
    %scratch = nv_tileas.alloc_tensor : !scratch
    %pipe = nv_tileas.async.pipeline.create_pipeline %bars phases [empty = 1, full = 1] : !bars -> !nv_tileas.pipeline<2>
    nv_tileas.barrier
    nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 1>, <"producer", warps = 1>] {{
      %desc = nv_tileas.make_tiled_tma_desc %v scratch %scratch : !in, !scratch -> !desc
      %first = nv_tileas.async.pipeline.create_iterator %pipe : !nv_tileas.pipeline<2>
      nv_tileas.async.elect {{
        %last = scf.for %t = %c0 to %total step %c1 iter_args(%it = %first) -> (!nv_tileas.pipeline_iterator) : i32 {{
          %token = nv_tileas.async.pipeline.producer_acquire %pipe[%it] bytes {size} : !nv_tileas.pipeline<2>
          %number = nv_tileas.async.pipeline.stage %it
          %stage = nv_tileas.memdesc_slot %ring[%number] : !ring -> !stage
          %i = arith.divui %t, %n : i32
          %j = arith.remui %t, %n : i32
          nv_tileas.async.tiled_tma_load %v[%i, %j] by %desc into %stage arrive %token : !in[i32, i32], !desc -> !stage
          %next = nv_tileas.async.pipeline.inc_iter %it of %pipe : !nv_tileas.pipeline<2>
          scf.yield %next : !nv_tileas.pipeline_iterator
        }}
      }}
    }}, {{
      %first = nv_tileas.async.pipeline.create_iterator %pipe : !nv_tileas.pipeline<2>
      %start = arith.muli %block, %total : i32
      %last = scf.for %t = %c0 to %total step %c1 iter_args(%it = %first) -> (!nv_tileas.pipeline_iterator) : i32 {{
        %token = nv_tileas.async.pipeline.consumer_wait %pipe[%it] : !nv_tileas.pipeline<2>
        %number = nv_tileas.async.pipeline.stage %it
        %stage = nv_tileas.memdesc_slot %ring[%number] : !ring -> !stage
        %x = nv_tileas.local_load %stage vector 1 : !stage -> !tile
        nv_tileas.async.pipeline.consumer_release %pipe[%it] : !nv_tileas.pipeline<2>
        %to = arith.addi %start, %t : i32
        %done = nv_tileas.tiled_store <weak> %x, %o[%to, %c0] vector {vector} bounds <none> : !tile, !out[i32, i32]
        %next = nv_tileas.async.pipeline.inc_iter %it of %pipe : !nv_tileas.pipeline<2>
        scf.yield %next : !nv_tileas.pipeline_iterator
      }}
    }}
    nv_tileaa.return
  }}
}}
"#,
            layout = attribute(&layout),
        )
    }

    fn ptx(&self, target: &'static str) -> String {
        let text = self.text();
        simulate::ptx(&text, How { from: From::Layouts, target, level: 3 })
            .unwrap_or_else(|e| panic!("{self:?}, {target}: {e}\n{text}"))
    }

    /// An element of the input.
    fn element(&self, row: usize, col: usize) -> Vec<u8> {
        (0..self.bytes).map(|i| (row * 37 + col * 11 + i * 101 + 1) as u8).collect()
    }
}

/// A device with a module, which launches the module's kernel.
struct Runner {
    case: Case,
    module: Module,
    device: Device,
}

impl Runner {
    fn new(case: Case, ptx: &str) -> Self {
        let module = Module::parse(ptx).unwrap_or_else(|e| panic!("{e}\n{ptx}"));
        Self { case, module, device: Device::new(Config::default()) }
    }

    /// Copies all tiles of a view with `grid` blocks and checks every element.
    fn check(&mut self, [rows, cols]: [usize; 2], grid: usize, seed: Option<u64>) {
        let bytes = self.case.bytes;
        let stride = (cols * bytes).next_multiple_of(16) / bytes + 16 / bytes;
        self.check_with_stride([rows, cols], stride, grid, seed);
    }

    /// As [`Self::check`], with rows that are `stride` elements apart.
    fn check_with_stride(&mut self, [rows, cols]: [usize; 2], stride: usize, grid: usize, seed: Option<u64>) {
        let Case { bytes, tile: [r, c], rows_per_block, .. } = self.case;
        let last = rows + rows_per_block as usize * (grid - 1);
        // The bytes between rows must not be read as elements.
        let mut input = vec![0xEE; (last.saturating_sub(1) * stride + cols) * bytes + 16];
        for row in 0..last {
            for col in 0..cols {
                let at = (row * stride + col) * bytes;
                input[at..at + bytes].copy_from_slice(&self.case.element(row, col));
            }
        }
        // A view without elements does not need memory.
        let p = if rows * cols == 0 { self.device.alloc(16) } else { self.device.alloc_from(&input) };
        let (m, n) = (rows.div_ceil(r).max(1), cols.div_ceil(c).max(1));
        let total = m * n;
        let size = grid * total * r * c * bytes;
        let q = self.device.alloc(size as u64);
        let int = |x: usize| Arg::I32(x as i32);
        let args = [Arg::Ptr(p), int(rows), int(cols), int(stride), Arg::Ptr(q), int(n), int(total)];
        let launch = LaunchConfig { grid: [grid as u32, 1, 1], args: &args, ..LaunchConfig::default() };
        let options = RunOptions { adversarial: seed, strict: true, ..RunOptions::default() };
        let what = format!("{:?}, {rows}x{cols}, {grid} blocks, seed {seed:?}", self.case);
        self.device.launch(&self.module, "k", &launch, &options).unwrap_or_else(|e| panic!("{what}: {e}"));
        let mut out = vec![0; size];
        self.device.read(q, &mut out).unwrap_or_else(|e| panic!("{what}: {e}"));
        for (at, found) in out.chunks_exact(bytes).enumerate() {
            let (tile, row, col) = (at / (r * c), at / c % r, at % c);
            let (block, tile) = (tile / total, tile % total);
            let (row, col) = (tile / n * r + row, tile % n * c + col);
            let inside = row < rows + block * rows_per_block as usize && col < cols;
            let expected = if inside { self.case.element(row, col) } else { vec![0; bytes] };
            assert_eq!(found, expected, "{what}: block {block}, row {row}, column {col}");
        }
    }
}

const SEEDS: [Option<u64>; 4] = [None, Some(1), Some(2), Some(3)];

/// Out-of-bounds elements at ragged edges are zero for each element type and swizzle.
fn tiles_arrive_in_every_arrangement() {
    for &case in CASES {
        let ptx = case.ptx("sm_90");
        let [r, c] = case.tile;
        for seed in SEEDS {
            let mut runner = Runner::new(case, &ptx);
            for view in [[2 * r + 5, c + 3], [r, c], [1, 1]] {
                runner.check(view, 1, seed);
            }
        }
    }
}

/// A view without elements reads as zeros, and memory at its address is not accessed.
fn empty_views_are_zeros() {
    for case in [CASES[0], CASES[4]] {
        let ptx = case.ptx("sm_90");
        for seed in SEEDS {
            let mut runner = Runner::new(case, &ptx);
            runner.check([0, 20], 1, seed);
            runner.check([20, 0], 1, seed);
            runner.check([0, 0], 2, seed);
        }
    }
}

/// The stride of a view with a single row or without rows is never used, so it may be a stride that is illegal in a
/// map.
fn single_rows_have_any_stride() {
    for case in [CASES[0], CASES[4]] {
        let ptx = case.ptx("sm_90");
        for seed in SEEDS {
            let mut runner = Runner::new(case, &ptx);
            for stride in [0, 1, 3, case.tile[1] + 1] {
                for view in [[1, case.tile[1] + 3], [1, 1], [0, 20]] {
                    runner.check_with_stride(view, stride, 1, seed);
                }
            }
        }
    }
}

/// Blocks request the same map at the same time, and later launches find it.
fn blocks_share_a_map() {
    let case = CASES[1];
    let ptx = case.ptx("sm_90");
    for seed in SEEDS.into_iter().chain((4..12).map(Some)) {
        let mut runner = Runner::new(case, &ptx);
        runner.check([40, 40], 3, seed);
        runner.check([40, 40], 2, seed);
        runner.check([40, 41], 2, seed);
        runner.check([40, 40], 1, seed);
    }
}

/// If there are more maps than slots in the table, blocks borrow entries, and later blocks can use these entries
/// again.
fn a_full_table_is_no_error() {
    let case = Case { rows_per_block: 1, ..case("i8", 1, [8, 16], true) };
    let ptx = case.ptx("sm_90");
    for seed in [None, Some(1)] {
        let mut runner = Runner::new(case, &ptx);
        runner.check([1, 16], 1300, seed);
        runner.check([1, 16], 1300, seed);
    }
}

/// ptxas accepts the code for every target with tensor maps.
fn code_assembles() {
    for name in ["sm_90", "sm_100", "sm_120"] {
        let target = Target::by_name(name).expect("a target");
        for case in [CASES[0], CASES[7]] {
            let ptx = case.ptx(name);
            cubin::assemble(&ptx, target, 3, DebugInfo::None).unwrap_or_else(|e| panic!("{name}: {e}\n{ptx}"));
        }
    }
}

//===-- loads that TMA supports --------------------------------------------===//

/// A view and how one of its tiles is loaded.
struct Load {
    element: &'static str,
    /// Assumptions on the base and on the stride.
    assume: [&'static str; 2],
    /// The type of extents and strides.
    stride: &'static str,
    memref: &'static str,
    padding: &'static str,
    ordering: &'static str,
    align: i64,
}

const LOAD: Load = Load {
    element: "bf16",
    assume: ["#cuda_tile.div_by<16>", "#cuda_tile.div_by<8>"],
    stride: "i32",
    memref: "?x?xbf16, strides = [?, 1]",
    padding: ", padding = zero",
    ordering: "<weak>",
    align: 1024,
};

/// The plan for a load of a 32x64 tile: the type of the map and the number of bytes, or the reason why TMA cannot
/// load it.
fn planned(load: &Load) -> Result<(String, u32), String> {
    use tileiras::{
        analysis::{facts::Facts, tensor_maps},
        dialect::{self, nv_tileaa, nv_tileas, rt::*},
        passes,
    };
    let Load { element, assume: [base, stride_fact], stride, memref, padding, ordering, align } = load;
    let shape = Shape::new(&[32, 64]).expect("a shape");
    let layout = Layout::coalesced(&shape, 16, &[1, 0], 8, 1).expect("a layout");
    let bits = if *element == "f32" { 32 } else { 16 };
    let shared = HardwareLayout::panels(&shape, (1, 0), bits).and_then(|l| l.shared_layout()).expect("a layout");
    let unknown = memref.split("strides").nth(1).map_or(0, |s| s.matches('?').count());
    let dynamic = match unknown {
        0 => String::new(),
        n => format!("{} : {}", vec!["%s"; n].join(", "), vec![*stride; n].join(", ")),
    };
    let extents = memref.split("strides").next().map_or(0, |s| s.matches('?').count());
    let extents = match extents {
        0 => String::new(),
        n => format!("{} : {}", vec!["%n"; n].join(", "), vec![*stride; n].join(", ")),
    };
    let view = format!("!nv_tileaa.tiled_view<tile = [32, 64], memref<{memref}>{padding}>");
    let text = format!(
        "nv_tileaa.func @k(%p0: !nv_tileaa.ptr<{element}>, %n: {stride}, %s0: {stride}, %i: i32) attributes {{numWarps = 1 : i64}} {{
           %p = nv_tileaa.assume {base}, %p0 : !nv_tileaa.ptr<{element}>
           %s = nv_tileaa.assume {stride_fact}, %s0 : {stride}
           %m = nv_tileaa.make_memref %p, shape = [{extents}], strides = [{dynamic}] : <{element}> -> <{memref}>
           %v = nv_tileaa.make_tiled_view %m : <{memref}> -> {view}
           %x, %t = nv_tileas.tiled_load {ordering} %v[%i, %i] vector 1 bounds <vector> : {view}[i32, i32] -> tensor<32x64x{element}, {layout}>
           %d = nv_tileas.alloc_tensor : !nv_tileas.memdesc<32x64x{element}, #nv_tileas.shared_layout<offset = {shared:?}>, align = {align}>
           nv_tileaa.return
         }}",
        layout = attribute(&layout),
        shared = shared.bases(),
    );
    passes::register_all();
    let context = dialect::context();
    let module = melior::ir::Module::parse(&context, &text).unwrap_or_else(|| panic!("does not parse: {text}"));
    let module = op_ref(melior::ir::operation::OperationLike::to_raw(&module.as_operation()));
    let function = collect_ops(module, nv_tileaa::FuncOp::cast)[0];
    let load = collect_ops(module, nv_tileas::TiledLoadOp::cast)[0];
    let dest = collect_ops(module, nv_tileas::AllocTensorOp::cast)[0];
    let dest = nv_tileas::MemDescType::cast(ty(dest.result())).expect("a memdesc");
    let (desc, bytes) = tensor_maps::plan(load, dest, &Facts::of(function.op()))?;
    let map = tensor_maps::map_of(desc).expect("a map");
    let again = tensor_maps::desc_type(load.op().location(), desc.element_type(), &map).expect("a type");
    assert_eq!(melior::ir::Type::from(again), melior::ir::Type::from(desc), "the type is that of its plan");
    Ok((melior::ir::Type::from(desc).to_string(), bytes))
}

fn what_is_proved_is_eligible() {
    let map = |rest: &str| format!("!nv_tileas.tma_desc<bf16, box = [64, 32], {rest}>");
    let zero = Ok((map("swizzle = 128"), 4096));
    assert_eq!(planned(&LOAD), zero);
    let wide = Load { stride: "i64", ..LOAD };
    assert!(planned(&wide).is_err_and(|e| e.contains("stride of dimension 0 is not known to be less than")));
    assert_eq!(planned(&Load { memref: "?x?xbf16, strides = [72, 1]", ..LOAD }), zero);
    assert_eq!(planned(&Load { padding: "", ..LOAD }), zero);
    assert_eq!(planned(&Load { padding: ", padding = nan", ..LOAD }), Ok((map("swizzle = 128, fill = nan"), 4096)));
    let f32 = Load { element: "f32", memref: "?x?xf32, strides = [?, 1]", ..LOAD };
    // The stride of a dimension with one element needs no proof.
    let any = Load { assume: [LOAD.assume[0], "#cuda_tile.div_by<1>"], memref: "1x?xbf16, strides = [?, 1]", ..LOAD };
    assert_eq!(planned(&any), zero);
    assert_eq!(planned(&Load { stride: "i64", ..any }), zero);
    assert_eq!(planned(&Load { memref: "1x?xbf16, strides = [65, 1]", ..LOAD }), zero);
    let (desc, bytes) = planned(&f32).expect("eligible");
    assert!(desc.contains("box = [32, 32]") && bytes == 8192, "{desc}, {bytes}");
}

fn what_is_not_proved_is_said() {
    for (load, reason) in [
        (
            Load { assume: ["#cuda_tile.div_by<8>", LOAD.assume[1]], ..LOAD },
            "base address is not known to be a multiple of 16",
        ),
        (
            Load { assume: [LOAD.assume[0], "#cuda_tile.div_by<4>"], ..LOAD },
            "stride of dimension 0 is not known to be a multiple of 8",
        ),
        (Load { memref: "?x?xbf16, strides = [?, ?]", ..LOAD }, "stride of dimension 1 is not known to be 1"),
        (Load { memref: "?x?xbf16, strides = [65, 1]", ..LOAD }, "stride of 130 bytes, which is not a multiple of 16"),
        (Load { padding: ", padding = neg_inf", ..LOAD }, "a value that tensor maps cannot fill with"),
        (Load { ordering: "<relaxed> scope <device>", ..LOAD }, "the load is ordered"),
        (Load { align: 128, ..LOAD }, "aligned to 128 bytes, but its swizzle needs 1024"),
    ] {
        let error = planned(&load).expect_err("not eligible");
        assert!(error.contains(reason), "{error}, not {reason}");
    }
}

pub fn trials() -> Vec<Trial> {
    functions![
        single_rows_have_any_stride,
        tiles_arrive_in_every_arrangement,
        empty_views_are_zeros,
        blocks_share_a_map,
        a_full_table_is_no_error,
        code_assembles,
        what_is_proved_is_eligible,
        what_is_not_proved_is_said
    ]
}
