//! Dots of warpgroups, run on the simulator: tiles are loaded from global memory through registers to shared memory,
//! in the layouts that `wgmma` reads, and the accumulators are stored. Operands are small whole numbers, so every sum
//! is exact and is compared bit for bit.

use half::{bf16, f16};
use simulate::{From, How, Input, attribute};
use tile_interface::DebugInfo;
use tile_layout::{HardwareLayout, Layout, Shape, warpgroup_accumulator};
use tile_targets::Target;
use tile_test_support::{Trial, cubin, functions, simulate};

/// The types of a dot, as MLIR names them.
#[derive(Clone, Copy, Debug)]
struct Types {
    lhs: &'static str,
    rhs: &'static str,
    acc: &'static str,
    unsigned: [bool; 2],
}

const fn types(element: &'static str, acc: &'static str) -> Types {
    Types { lhs: element, rhs: element, acc, unsigned: [false; 2] }
}

/// The size of an element in bytes.
fn size(element: &str) -> usize {
    match element {
        "f16" | "bf16" => 2,
        "tf32" | "f32" | "i32" => 4,
        _ => 1,
    }
}

/// Encodes a whole number.
fn encode(element: &str, v: i32) -> Vec<u8> {
    match element {
        "f16" => f16::from_f32(v as f32).to_le_bytes().to_vec(),
        "bf16" => bf16::from_f32(v as f32).to_le_bytes().to_vec(),
        "tf32" | "f32" => (v as f32).to_le_bytes().to_vec(),
        "i32" => v.to_le_bytes().to_vec(),
        "i8" => vec![v as u8],
        // For the two 8-bit formats, only powers of two and zero.
        _ => {
            let (bias, mantissa) = if element == "f8E4M3FN" { (7, 3) } else { (15, 2) };
            let magnitude = v.unsigned_abs();
            assert!(magnitude == 0 || magnitude.is_power_of_two(), "{v}");
            let exponent = if magnitude == 0 { 0 } else { (magnitude.ilog2() + bias) << mantissa };
            vec![exponent as u8 | if v < 0 { 0x80 } else { 0 }]
        }
    }
}

/// Element `i` of operand `side`.
fn value(element: &str, unsigned: bool, side: usize, i: usize) -> i32 {
    let n = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 + side as u64 * 0x1234_5678_9abc_def0) >> 40;
    match element {
        "i8" if unsigned => (n % 256) as i32,
        "i8" => (n % 256) as i32 - 128,
        "f8E4M3FN" | "f8E5M2" => [0, 1, -1, 2, -2][n as usize % 5],
        _ => (n % 5) as i32 - 2,
    }
}

/// A dot.
#[derive(Clone, Copy, Debug)]
struct Case {
    types: Types,
    /// M, N and K of the tile.
    shape: [i64; 3],
    /// Warpgroups along rows and columns; `n` is the number of columns of an instruction.
    groups: (u32, u32),
    n: u32,
    /// Whether elements are contiguous along M and N.
    transposed: [bool; 2],
    /// The number of tiles along K. A dot that is not in a loop has 1.
    steps: i64,
    from_zero: bool,
}

impl Case {
    fn new(types: Types, shape: [i64; 3], groups: (u32, u32), n: u32) -> Self {
        Self { types, shape, groups, n, transposed: [false; 2], steps: 1, from_zero: true }
    }

    fn depth(&self) -> usize {
        32 / size(self.types.lhs)
    }

    /// The layout of operand `side` in shared memory.
    fn shared(&self, side: usize) -> HardwareLayout {
        let [m, n, k] = self.shape;
        let (shape, along, across) = if side == 0 { ([m, k], 1, 0) } else { ([k, n], 0, 1) };
        let dims = if self.transposed[side] { (across, along) } else { (along, across) };
        let bits = 8 * size(self.types.lhs) as u32;
        HardwareLayout::panels(&Shape::new(&shape).unwrap(), dims, bits).unwrap()
    }

    fn program(&self) -> String {
        let Types { lhs, rhs, acc, unsigned } = self.types;
        let [m, n, k] = self.shape;
        let warps = 4 * self.groups.0 * self.groups.1;
        let (all, depth) = (k * self.steps, self.depth());
        let sums = warpgroup_accumulator(&Shape::new(&[m, n]).unwrap(), self.groups, self.n).unwrap();
        let (loaded_a, loaded_b) = (blocked(m * k, size(lhs), warps), blocked(k * n, size(rhs), warps));
        let memory = |side: usize, rows: i64, columns: i64, element: &str, stages: i64| {
            let layout = self.shared(side);
            let bases = layout.shared_layout().unwrap().bases().to_vec();
            let stages = if stages > 1 { format!(", stages = {stages}") } else { String::new() };
            format!(
                "!nv_tileas.memdesc<{rows}x{columns}x{element}, #nv_tileas.shared_layout<offset = {bases:?}>{stages}, align = {}>",
                layout.alignment().max(128)
            )
        };
        let (one_a, one_b) = (memory(0, m, k, lhs, 1), memory(1, k, n, rhs, 1));
        let (vector_a, vector_b) = (16 / size(lhs), 16 / size(rhs));
        let zero = match (self.from_zero, acc) {
            (true, "i32") => "dense<0>",
            (true, _) => "dense<0.0>",
            (false, "i32") => "dense<3>",
            (false, _) => "dense<3.0>",
        };
        let flags = [(unsigned[0], "lhs_unsigned "), (unsigned[1], "rhs_unsigned ")];
        let flags: String = flags.iter().filter(|f| f.0).map(|f| f.1).collect();
        let load = |name: &str, view: &str, at: &str, t: &str, vector: usize| {
            format!(
                "    %{name}, %t{name} = nv_tileas.tiled_load <weak> %v{name}[{at}] vector {vector} bounds <none> : {view}[i32, i32] -> {t}\n    \
                 nv_tileas.local_store %{name}, %d{name} vector 1 : {t}, !one_{name}\n"
            )
        };
        let product = |acc: &str| {
            format!(
                "    nv_tileas.async.fence\n    nv_tileas.barrier\n    \
                 %r = nv_tileas.async.dot %da, %db, {acc} by <warpgroup, [64, {}, {depth}]> {flags}: !one_a, !one_b, !acc\n",
                self.n
            )
        };
        let body = match self.steps {
            1 => format!(
                "    %da = nv_tileas.alloc_tensor : !one_a\n    %db = nv_tileas.alloc_tensor : !one_b\n{}{}{}    \
                 %sum = nv_tileas.async.dot_wait %r pending 0 : !acc -> !acc\n",
                load("a", "!view_a", "%c0, %c0", "!tile_a", vector_a),
                load("b", "!view_b", "%c0, %c0", "!tile_b", vector_b),
                product("%zero"),
            ),
            steps => format!(
                "    %ra = nv_tileas.alloc_tensor : !ring_a\n    %rb = nv_tileas.alloc_tensor : !ring_b\n    \
                 %c1 = arith.constant 1 : i32\n    %c3 = arith.constant 3 : i32\n    \
                 %last = arith.constant {steps} : i32\n    \
                 %out, %end = scf.for %i = %c0 to %last step %c1 iter_args(%acc = %zero, %stage = %c0) -> (!acc, i32) : i32 {{\n    \
                 %da = nv_tileas.memdesc_slot %ra[%stage] : !ring_a -> !one_a\n    \
                 %db = nv_tileas.memdesc_slot %rb[%stage] : !ring_b -> !one_b\n{}{}{}    \
                 nv_tileas.async.dot_wait pending 1\n    %up = arith.addi %stage, %c1 : i32\n    \
                 %around = arith.cmpi eq, %up, %c3 : i32\n    %next = arith.select %around, %c0, %up : i32\n    \
                 scf.yield %r, %next : !acc, i32\n    }}\n    \
                 %sum = nv_tileas.async.dot_wait %out pending 0 : !acc -> !acc\n",
                load("a", "!view_a", "%c0, %i", "!tile_a", vector_a),
                load("b", "!view_b", "%i, %c0", "!tile_b", vector_b),
                product("%acc"),
            ),
        };
        format!(
            r#"!memory_a = !nv_tileaa.memref<{m}x{all}x{lhs}, strides = [{all}, 1]>
!memory_b = !nv_tileaa.memref<{all}x{n}x{rhs}, strides = [{n}, 1]>
!memory_c = !nv_tileaa.memref<{m}x{n}x{acc}, strides = [{n}, 1]>
!view_a = !nv_tileaa.tiled_view<tile = [{m}, {k}], memref<{m}x{all}x{lhs}, strides = [{all}, 1]>>
!view_b = !nv_tileaa.tiled_view<tile = [{k}, {n}], memref<{all}x{n}x{rhs}, strides = [{n}, 1]>>
!view_c = !nv_tileaa.tiled_view<tile = [{m}, {n}], memref<{m}x{n}x{acc}, strides = [{n}, 1]>>
!tile_a = tensor<{m}x{k}x{lhs}, {layout_a}>
!tile_b = tensor<{k}x{n}x{rhs}, {layout_b}>
!acc = tensor<{m}x{n}x{acc}, {sums}>
!one_a = {one_a}
!one_b = {one_b}
!ring_a = {ring_a}
!ring_b = {ring_b}
gpu.module @m {{
  nv_tileaa.func @k(%pa: !nv_tileaa.ptr<{lhs}>, %pb: !nv_tileaa.ptr<{rhs}>, %pc: !nv_tileaa.ptr<{acc}>) attributes {{numWarps = {warps} : i64}} {{
    %c0 = arith.constant 0 : i32
    %ma = nv_tileaa.make_memref %pa, shape = [], strides = [] : !nv_tileaa.ptr<{lhs}> -> !memory_a
    %mb = nv_tileaa.make_memref %pb, shape = [], strides = [] : !nv_tileaa.ptr<{rhs}> -> !memory_b
    %mc = nv_tileaa.make_memref %pc, shape = [], strides = [] : !nv_tileaa.ptr<{acc}> -> !memory_c
    %va = nv_tileaa.make_tiled_view %ma : !memory_a -> !view_a
    %vb = nv_tileaa.make_tiled_view %mb : !memory_b -> !view_b
    %vc = nv_tileaa.make_tiled_view %mc : !memory_c -> !view_c
    %zero = arith.constant {zero} : !acc
{body}    %tc = nv_tileas.tiled_store <weak> %sum, %vc[%c0, %c0] vector 2 bounds <none> : !acc, !view_c[i32, i32]
    nv_tileaa.return
  }}
}}
"#,
            layout_a = attribute(&loaded_a),
            layout_b = attribute(&loaded_b),
            sums = attribute(&sums),
            ring_a = memory(0, m, k, lhs, 3),
            ring_b = memory(1, k, n, rhs, 3),
        )
    }

    fn operands(&self) -> [Vec<i32>; 2] {
        let [m, n, k] = self.shape.map(|e| e as usize);
        let depth = k * self.steps as usize;
        let numbers = |element, side: usize, count| {
            (0..count).map(|i| value(element, self.types.unsigned[side], side, i)).collect()
        };
        [numbers(self.types.lhs, 0, m * depth), numbers(self.types.rhs, 1, depth * n)]
    }

    fn expected(&self) -> Vec<u8> {
        let [m, n, k] = self.shape.map(|e| e as usize);
        let depth = k * self.steps as usize;
        let [a, b] = self.operands();
        let start = if self.from_zero { 0 } else { 3 };
        let mut out = vec![];
        for i in 0..m {
            for j in 0..n {
                let sum: i32 = (0..depth).map(|d| a[i * depth + d] * b[d * n + j]).sum();
                out.extend(encode(self.types.acc, start + sum));
            }
        }
        out
    }

    fn ptx(&self) -> String {
        simulate::ptx(&self.program(), How { from: From::Layouts, target: "sm_90", level: 3 })
            .unwrap_or_else(|e| panic!("{self:?}: {e}\n{}", self.program()))
    }

    fn check(&self) {
        let ptx = self.ptx();
        let [a, b] = self.operands();
        let bytes = |element: &str, v: &[i32]| v.iter().flat_map(|v| encode(element, *v)).collect::<Vec<u8>>();
        let expected = self.expected();
        let (a, b) = (bytes(self.types.lhs, &a), bytes(self.types.rhs, &b));
        for seed in [None, Some(1), Some(2)] {
            let inputs =
                [Input::Buffer(a.clone()), Input::Buffer(b.clone()), Input::Buffer(vec![0xee; expected.len()])];
            let (out, _) = simulate::run(&ptx, "k", 1, &inputs, seed)
                .unwrap_or_else(|e| panic!("{self:?}, seed {seed:?}: {e}\n{ptx}"));
            if let Some(at) = out[2].iter().zip(&expected).position(|(a, b)| a != b) {
                panic!("{self:?}, seed {seed:?}: byte {at} of {} differs\n{ptx}", expected.len());
            }
        }
    }
}

/// Assigns elements first to 16 bytes of a thread, then to lanes, warps and registers. If the tile is smaller,
/// elements are replicated.
fn blocked(elements: i64, size: usize, warps: u32) -> Layout {
    let mut bits = (0..elements.ilog2()).map(|i| 1u64 << i);
    let mut take = |n: u32| (0..n).map(|_| bits.next().unwrap_or(0)).collect::<Vec<_>>();
    let (vector, lane, warp) = (take((16 / size).ilog2()), take(5), take(warps.ilog2()));
    let register = vector.into_iter().chain(bits).collect();
    Layout::new(register, lane, warp, vec![]).unwrap()
}

const F16: Types = types("f16", "f32");
const BF16: Types = types("bf16", "f32");

fn columns_of_an_instruction() {
    for (types, n) in [(F16, 8), (BF16, 64), (F16, 128), (BF16, 256)] {
        Case::new(types, [64, n.into(), 64], (1, 1), n).check();
    }
}

fn orders_of_16_bit_operands() {
    for types in [F16, BF16] {
        for transposed in [[true, false], [false, true], [true, true]] {
            Case { transposed, ..Case::new(types, [64, 64, 32], (1, 1), 64) }.check();
        }
    }
    // Several instructions along each dimension.
    for transposed in [[false, false], [true, true]] {
        Case { transposed, ..Case::new(F16, [128, 128, 64], (1, 1), 64) }.check();
    }
}

fn several_warpgroups() {
    for groups in [(2, 1), (1, 2)] {
        for transposed in [[false, false], [true, true]] {
            Case { transposed, ..Case::new(F16, [128, 128, 64], groups, 64) }.check();
        }
    }
    Case::new(BF16, [128, 256, 64], (2, 1), 256).check();
    Case::new(BF16, [256, 64, 32], (2, 2), 16).check();
}

fn other_elements() {
    for t in [types("tf32", "f32"), types("f8E4M3FN", "f32"), types("f8E5M2", "f32"), types("i8", "i32")] {
        Case::new(t, [64, 64, 128], (1, 1), 64).check();
        Case::new(t, [128, 64, 64], (2, 1), 32).check();
    }
    let mixed = Types { rhs: "f8E5M2", ..types("f8E4M3FN", "f32") };
    Case::new(mixed, [64, 32, 64], (1, 1), 32).check();
    for unsigned in [[true, false], [false, true], [true, true]] {
        Case::new(Types { unsigned, ..types("i8", "i32") }, [64, 32, 64], (1, 1), 32).check();
    }
}

fn sums_of_f16() {
    for element in ["f16", "f8E4M3FN"] {
        let case = Case::new(types(element, "f16"), [64, 64, 64], (1, 1), 64);
        case.check();
        Case { steps: 4, ..case }.check();
    }
}

fn sums_that_do_not_start_at_zero() {
    for t in [F16, types("i8", "i32"), types("f16", "f16")] {
        Case { from_zero: false, ..Case::new(t, [64, 32, 64], (1, 1), 32) }.check();
    }
}

/// A dot is in flight while the next tiles are stored.
fn carried_by_a_loop() {
    for (types, groups, shape) in [(F16, (1, 1), [64, 64, 64]), (BF16, (2, 1), [128, 128, 64])] {
        for from_zero in [false, true] {
            Case { steps: 5, from_zero, ..Case::new(types, shape, groups, 64) }.check();
        }
    }
}

/// ptxas reports no serialized instructions and does not spill registers.
fn loops_stay_asynchronous() {
    let target = Target::by_name("sm_90").unwrap();
    for (types, shape, groups, n) in [
        (F16, [64, 256, 64], (1, 1), 256),
        (BF16, [128, 256, 64], (2, 1), 256),
        (BF16, [128, 128, 64], (1, 1), 128),
        (types("i8", "i32"), [128, 128, 128], (2, 1), 128),
        (types("f16", "f16"), [128, 256, 64], (2, 1), 256),
    ] {
        let case = Case { steps: 8, ..Case::new(types, shape, groups, n) };
        let ptx = case.ptx();
        let cubin =
            cubin::assemble(&ptx, target, 3, DebugInfo::None).unwrap_or_else(|e| panic!("{case:?}: {e}\n{ptx}"));
        for r in &cubin.resources {
            assert_eq!((r.spill_stores, r.spill_loads), (0, 0), "{case:?}: {r:?}");
        }
    }
}

pub fn trials() -> Vec<Trial> {
    functions![
        columns_of_an_instruction,
        orders_of_16_bit_operands,
        several_warpgroups,
        other_elements,
        sums_of_f16,
        sums_that_do_not_start_at_zero,
        carried_by_a_loop,
        loops_stay_asynchronous
    ]
}
