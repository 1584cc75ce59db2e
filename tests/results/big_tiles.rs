//! Tiles that do not fit into registers: their results, and the size of their code.

use simulate::{From, How, Input, ptx, run};
use std::time::{Duration, Instant};
use tile_interface::DebugInfo;
use tile_targets::Target;
use tile_test_support::{Trial, cubin, functions, simulate};

/// A kernel `k(%in, %out)` on one tile of `rows x columns` floats: `body` computes `%r` of type `T` from `%x` of type
/// `T`. It runs with `warps` warps; if `None`, the compiler chooses.
fn kernel(rows: usize, columns: usize, warps: Option<u32>, body: &str) -> String {
    let tile = format!("tensor<{rows}x{columns}xf32>");
    let memref = format!("<{rows}x{columns}xf32, strides = [{columns}, 1]>");
    let view = format!("<tile = [{rows}, {columns}], memref{memref}>");
    let warps = warps.map_or(String::new(), |w| format!(" attributes {{numWarps = {w} : i64}}"));
    format!(
        "gpu.module @m {{
nv_tileaa.func @k(%in: !nv_tileaa.ptr<f32>, %out: !nv_tileaa.ptr<f32>, %n: i32){warps} {{
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ia = nv_tileaa.assume #cuda_tile.div_by<16>, %in : !nv_tileaa.ptr<f32>
  %oa = nv_tileaa.assume #cuda_tile.div_by<16>, %out : !nv_tileaa.ptr<f32>
  %im = nv_tileaa.make_memref %ia, shape = [], strides = [] : <f32> -> {memref}
  %om = nv_tileaa.make_memref %oa, shape = [], strides = [] : <f32> -> {memref}
  %iv = nv_tileaa.make_tiled_view %im : {memref} -> {view}
  %ov = nv_tileaa.make_tiled_view %om : {memref} -> {view}
  %t0 = nv_tileaa.create_mem_token
  %x, %t1 = nv_tileaa.tiled_load <weak> %iv[%c0, %c0] token %t0 : {view}[i32, i32] -> {tile}
{}
  %t9 = nv_tileaa.tiled_store <weak> %r, %ov[%c0, %c0] token %t0 : {tile}, {view}[i32, i32]
  nv_tileaa.return
}} }}",
        body.replace("VIEW", &view)
            .replace("T2", &format!("tensor<{columns}x{rows}xf32>"))
            .replace("TROW", &format!("tensor<{rows}x1xf32>"))
            .replace("TSUM", &format!("tensor<{rows}xf32>"))
            .replace("TCOL", &format!("tensor<{columns}xf32>"))
            .replace("TLINE", &format!("tensor<1x{columns}xf32>"))
            .replace("T", &tile)
    )
}

/// A reduction `%name` of `%from` whose body uses `%a` and `%b`.
fn reduce(name: &str, from: &str, dim: usize, identity: &str, op: &str, result: &str) -> String {
    format!(
        "  {name} = nv_tileaa.reduce {from} dim {dim} identities [{identity} : f32] : T -> {result} {{
  ^bb0(%a: f32, %b: f32):
    %c = {op} %a, %b : f32
    nv_tileaa.yield %c : f32
  }}\n"
    )
}

fn data(count: usize) -> Vec<f32> {
    (0..count).map(|i| ((i.wrapping_mul(2654435761) >> 7) % 1024) as f32 / 512.0 - 1.0).collect()
}

fn bytes(list: &[f32]) -> Vec<u8> {
    list.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks(4).map(|c| f32::from_le_bytes(c.try_into().expect("four bytes"))).collect()
}

/// Runs the kernel at two levels and under an adversarial schedule, and compares the result with `expected`.
fn check(name: &str, text: &str, input: &[f32], n: i32, expected: &[f32], tolerance: f32) {
    for (target, level, seed) in
        [("sm_90", 3, None), ("sm_80", 0, None), ("sm_120", 2, Some(7)), ("sm_100", 3, Some(8))]
    {
        let ptx =
            ptx(text, How { from: From::TileAa, target, level }).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
        let inputs = [Input::Buffer(bytes(input)), Input::Buffer(vec![0xff; 4 * expected.len()]), Input::I32(n)];
        let (out, _) = run(&ptx, "k", 1, &inputs, seed).unwrap_or_else(|e| panic!("{name} -O{level}: {e}"));
        let got = floats(&out[1]);
        for (i, (g, e)) in got.iter().zip(expected).enumerate() {
            let close = (g - e).abs() <= tolerance * e.abs().max(1.0) || g.to_bits() == e.to_bits();
            assert!(close, "{name} {target} -O{level}: element {i} is {g}, not {e}\n{text}");
        }
    }
}

const ROWS: usize = 8;
const COLUMNS: usize = 2048;

/// Uses one warp, so that a thread holds 512 elements.
fn one_warp(name: &str, body: &str, n: i32, tolerance: f32, expected: impl Fn(&[f32]) -> Vec<f32>) {
    let input = data(ROWS * COLUMNS);
    check(name, &kernel(ROWS, COLUMNS, Some(1), body), &input, n, &expected(&input), tolerance);
}

fn each(x: &[f32], f: impl Fn(usize, f32) -> f32) -> Vec<f32> {
    x.iter().enumerate().map(|(i, &v)| f(i, v)).collect()
}

fn row_sums(x: &[f32]) -> Vec<f32> {
    x.chunks(COLUMNS).map(|r| r.iter().sum()).collect()
}

fn elementwise_chains() {
    let body = "
  %one = arith.constant dense<1.0> : T
  %y = arith.addf %x, %one : T
  %z = arith.mulf %y, %x : T
  %r = arith.subf %z, %one : T";
    one_warp("chain", body, 0, 1e-6, |x| each(x, |_, v| (v + 1.0) * v - 1.0));
}

fn in_place_updates_keep_their_order() {
    // The tile is stored back to where it was loaded from and loaded again. Tokens order all three accesses.
    let body = "
  %two = arith.constant dense<2.0> : T
  %y = arith.mulf %x, %two : T
  %t2 = nv_tileaa.tiled_store <weak> %y, %iv[%c0, %c0] token %t1 : T, VIEW[i32, i32]
  %z, %t3 = nv_tileaa.tiled_load <weak> %iv[%c0, %c0] token %t2 : VIEW[i32, i32] -> T
  %r = arith.addf %z, %x : T";
    one_warp("in place", body, 0, 1e-6, |x| each(x, |_, v| 3.0 * v));
}

fn softmax_of_rows() {
    let body = reduce("%max", "%x", 1, "0xFF800000", "arith.maxnumf", "TSUM")
        + "  %mv = nv_tileaa.view %max : TSUM -> TROW
  %mb = nv_tileaa.broadcast %mv : TROW -> T
  %y = arith.subf %x, %mb : T
  %z = math.exp %y : T
" + &reduce("%sum", "%z", 1, "0.0", "arith.addf", "TSUM")
        + "  %sv = nv_tileaa.view %sum : TSUM -> TROW
  %sb = nv_tileaa.broadcast %sv : TROW -> T
  %r = arith.divf %z, %sb : T";
    one_warp("softmax", &body, 0, 1e-5, |x| {
        x.chunks(COLUMNS)
            .flat_map(|row| {
                let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let e: Vec<f32> = row.iter().map(|v| (v - max).exp()).collect();
                let sum: f32 = e.iter().sum();
                e.into_iter().map(move |v| v / sum).collect::<Vec<_>>()
            })
            .collect()
    });
}

fn sums_of_columns() {
    let body = reduce("%sum", "%x", 0, "0.0", "arith.addf", "TCOL")
        + "  %sv = nv_tileaa.view %sum : TCOL -> TLINE
  %sb = nv_tileaa.broadcast %sv : TLINE -> T
  %r = arith.addf %x, %sb : T";
    one_warp("columns", &body, 0, 1e-5, |x| {
        let sum = |c: usize| x.iter().skip(c).step_by(COLUMNS).sum::<f32>();
        let sums: Vec<f32> = (0..COLUMNS).map(sum).collect();
        each(x, |i, v| v + sums[i % COLUMNS])
    });
}

fn reductions_of_several_tensors_that_do_not_commute() {
    // The last row with the largest value, found with pairs of value and index.
    let body = "
  %i = nv_tileaa.make_range : tensor<2048xi32>
  %iw = nv_tileaa.view %i : tensor<2048xi32> -> tensor<1x2048xi32>
  %ib = nv_tileaa.broadcast %iw : tensor<1x2048xi32> -> tensor<8x2048xi32>
  %m:2 = nv_tileaa.reduce %x, %ib dim 1 identities [0xFF800000 : f32, -1 : i32] : T, tensor<8x2048xi32> -> TSUM, tensor<8xi32> {
  ^bb0(%a: f32, %b: f32, %ai: i32, %bi: i32):
    %gt = arith.cmpf ogt, %a, %b : f32
    %eq = arith.cmpf oeq, %a, %b : f32
    %later = arith.cmpi sgt, %ai, %bi : i32
    %tie = arith.andi %eq, %later : i1
    %first = arith.ori %gt, %tie : i1
    %v = arith.select %first, %a, %b : f32
    %vi = arith.select %first, %ai, %bi : i32
    nv_tileaa.yield %v, %vi : f32, i32
  }
  %f = arith.sitofp %m#1 : tensor<8xi32> to TSUM
  %fv = nv_tileaa.view %f : TSUM -> TROW
  %fb = nv_tileaa.broadcast %fv : TROW -> T
  %r = arith.addf %x, %fb : T";
    one_warp("argmax", body, 0, 1e-6, |x| {
        let last = |row: &[f32]| {
            let best = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            row.iter().rposition(|&v| v == best).expect("a row has a largest value") as f32
        };
        x.chunks(COLUMNS).flat_map(|row| row.iter().map(|v| v + last(row)).collect::<Vec<_>>()).collect()
    });
}

fn transposed_and_back() {
    let body = "
  %p = nv_tileaa.permute %x [1, 0] : T -> T2
  %v = nv_tileaa.view %p : T2 -> T
  %r = arith.addf %x, %v : T";
    one_warp("transpose", body, 0, 1e-6, |x| each(x, |i, v| v + x[i % ROWS * COLUMNS + i / ROWS]));
}

fn loops_carry_tiles() {
    let body = "
  %zero = arith.constant dense<0.0> : T
  %l:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero, %b = %x) -> (T, T) : i32 {
    %s = arith.addf %a, %b : T
    scf.yield %b, %s : T, T
  }
  %r = arith.subf %l#0, %l#1 : T";
    // Fibonacci: the carried values are swapped.
    one_warp("for", body, 5, 1e-6, |x| {
        each(x, |_, v| {
            let (mut a, mut b) = (0.0, v);
            for _ in 0..5 {
                (a, b) = (b, a + b);
            }
            a - b
        })
    });
    // No iterations.
    one_warp("for 0", body, 0, 1e-6, |x| each(x, |_, v| -v));
}

fn loops_until_a_condition_and_branches() {
    let body = reduce("%sum0", "%x", 1, "0.0", "arith.addf", "TSUM")
        + "  %w:2 = scf.while (%i = %c0, %a = %x) : (i32, T) -> (i32, T) {
    %more = arith.cmpi slt, %i, %n : i32
    %d = arith.addf %a, %a : T
    scf.condition(%more) %i, %d : i32, T
  } do {
  ^bb0(%i: i32, %a: T):
    %j = arith.addi %i, %c1 : i32
    %m = arith.subf %a, %x : T
    scf.yield %j, %m : i32, T
  }
  %odd = arith.andi %n, %c1 : i32
  %is = arith.cmpi eq, %odd, %c1 : i32
  %r = scf.if %is -> (T) {
    %neg = arith.negf %w#1 : T
    scf.yield %neg : T
  } else {
    %sv = nv_tileaa.view %sum0 : TSUM -> TROW
    %sb = nv_tileaa.broadcast %sv : TROW -> T
    scf.yield %sb : T
  }";
    let model = |n: i32, v: f32| {
        let mut a = v;
        for _ in 0..n {
            a = a + a - v;
        }
        a + a
    };
    one_warp("while, then", &body, 3, 1e-6, |x| each(x, |_, v| -model(3, v)));
    one_warp("while, else", &body, 2, 1e-4, |x| {
        let sums = row_sums(x);
        each(x, |i, _| sums[i / COLUMNS])
    });
}

fn slices_and_concatenations() {
    let body = "
  %h0 = nv_tileaa.extract_slice %x[%c0, %n] : T -> tensor<8x1024xf32>
  %m = arith.subi %c1, %n : i32
  %h1 = nv_tileaa.extract_slice %x[%c0, %m] : T -> tensor<8x1024xf32>
  %y = nv_tileaa.cat %h0, %h1, 1 : tensor<8x1024xf32>, tensor<8x1024xf32> -> T
  %row = nv_tileaa.extract_slice %x[%n, %c0] : T -> tensor<1x2048xf32>
  %rb = nv_tileaa.broadcast %row : tensor<1x2048xf32> -> T
  %e = nv_tileaa.extract_slice %x[%n, %n] : T -> tensor<1x1xf32>
  %s = nv_tileaa.unsplat %e : tensor<1x1xf32> -> f32
  %sb = nv_tileaa.splat %s : f32 -> T
  %z = arith.addf %y, %rb : T
  %r = arith.addf %z, %sb : T";
    for n in [0, 1] {
        let k = n as usize;
        one_warp("slices", body, n, 1e-6, |x| {
            each(x, |i, _| {
                let (row, column) = (i / COLUMNS, i % COLUMNS);
                let half = if column < 1024 { k } else { 1 - k };
                x[row * COLUMNS + half * 1024 + column % 1024] + x[k * COLUMNS + column] + x[k * COLUMNS + k]
            })
        });
    }
}

fn pointers_masks_and_narrow_types() {
    // Even elements are accessed through pointers, and the others by index. Bytes and booleans are used in between.
    let body = "
  %i = nv_tileaa.make_range : tensor<16384xi32>
  %i2 = nv_tileaa.view %i : tensor<16384xi32> -> tensor<8x2048xi32>
  %ones = arith.constant dense<1> : tensor<8x2048xi32>
  %low = arith.andi %i2, %ones : tensor<8x2048xi32>
  %nil = arith.constant dense<0> : tensor<8x2048xi32>
  %even = arith.cmpi eq, %low, %nil : tensor<8x2048xi32>
  %pb = nv_tileaa.splat %in : !nv_tileaa.ptr<f32> -> tensor<8x2048x!nv_tileaa.ptr<f32>>
  %pp = nv_tileaa.addptr %pb, %i2 : tensor<8x2048x!nv_tileaa.ptr<f32>>, tensor<8x2048xi32>
  %byte = arith.trunci %i2 : tensor<8x2048xi32> to tensor<8x2048xi8>
  %fill = arith.uitofp %byte : tensor<8x2048xi8> to T
  %y, %ty = nv_tileaa.load <weak> %pp mask %even : tensor<8x2048xi1> other %fill : T token %t0 : tensor<8x2048x!nv_tileaa.ptr<f32>> -> T
  %p = nv_tileaa.permute %even [1, 0] : tensor<8x2048xi1> -> tensor<2048x8xi1>
  %q = nv_tileaa.view %p : tensor<2048x8xi1> -> tensor<8x2048xi1>
  %g = arith.select %q, %y, %x : tensor<8x2048xi1>, T
  %r = arith.addf %g, %y : T";
    one_warp("pointers", body, 0, 1e-6, |x| {
        each(x, |i, v| {
            let y = if i % 2 == 0 { v } else { (i & 255) as f32 };
            let from = i % ROWS * COLUMNS + i / ROWS;
            y + if from.is_multiple_of(2) { y } else { v }
        })
    });
}

fn ragged_edges_and_padding() {
    let text = kernel(ROWS, COLUMNS, Some(1), "  %r = arith.addf %x, %x : T")
        .replace(
            "make_memref %ia, shape = [], strides = [] : <f32> -> <8x2048xf32",
            "make_memref %ia, shape = [%n : i32], strides = [] : <f32> -> <8x?xf32",
        )
        .replace("%im : <8x2048xf32", "%im : <8x?xf32")
        .replacen(
            "%im : <8x?xf32, strides = [2048, 1]> -> <tile = [8, 2048], memref<8x2048xf32",
            "%im : <8x?xf32, strides = [2048, 1]> -> <tile = [8, 2048], padding = neg_inf, memref<8x?xf32",
            1,
        );
    let view = "<tile = [8, 2048], memref<8x2048xf32, strides = [2048, 1]>>";
    let padded = "<tile = [8, 2048], memref<8x?xf32, strides = [2048, 1]>, padding = neg_inf>";
    let text = text
        .replace("<tile = [8, 2048], padding = neg_inf, memref<8x?xf32, strides = [2048, 1]>>", padded)
        .replacen(&format!("%iv[%c0, %c0] token %t0 : {view}"), &format!("%iv[%c0, %c0] token %t0 : {padded}"), 1);
    let input = data(ROWS * COLUMNS);
    let expected = each(&input, |i, v| if i % COLUMNS < 1501 { v + v } else { f32::NEG_INFINITY });
    check("ragged", &text, &input, 1501, &expected, 0.0);
}

/// Compiles and assembles a kernel, checks that ptxas spills nothing, and returns the size of the code in bytes and
/// the compile time.
fn assembled(text: &str) -> (u64, Duration) {
    let started = Instant::now();
    let ptx =
        ptx(text, How { from: From::TileAa, target: "sm_90", level: 3 }).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let took = started.elapsed();
    let target = Target::by_name("sm_90").expect("a target");
    let cubin = cubin::assemble(&ptx, target, 3, DebugInfo::None).unwrap_or_else(|e| panic!("{e}\n{ptx}"));
    for r in &cubin.resources {
        assert_eq!((r.spill_stores, r.spill_loads), (0, 0), "{r:?}");
    }
    (code_bytes(&cubin.image), took)
}

/// The size in bytes of the code section of a cubin, which is a 64-bit ELF file.
fn code_bytes(elf: &[u8]) -> u64 {
    let word = |at: usize, n: usize| elf[at..at + n].iter().rev().fold(0u64, |v, b| v << 8 | u64::from(*b));
    let (table, size, count) = (word(0x28, 8) as usize, word(0x3a, 2) as usize, word(0x3c, 2) as usize);
    // Code sections are executable.
    let executable = |s: usize| word(s + 8, 8) & 4 != 0;
    (0..count).map(|i| table + i * size).filter(|&s| executable(s)).map(|s| word(s + 0x20, 8)).sum()
}

/// The size of a machine instruction in bytes.
const INSTRUCTION: u64 = 16;

fn code_does_not_grow_with_the_tile() {
    let chain = "
  %one = arith.constant dense<1.0> : T
  %y = arith.addf %x, %one : T
  %r = math.exp %y : T";
    let softmax = reduce("%max", "%x", 1, "0xFF800000", "arith.maxnumf", "TSUM")
        + "  %mv = nv_tileaa.view %max : TSUM -> TROW
  %mb = nv_tileaa.broadcast %mv : TROW -> T
  %y = arith.subf %x, %mb : T
  %z = math.exp %y : T
" + &reduce("%sum", "%z", 1, "0.0", "arith.addf", "TSUM")
        + "  %sv = nv_tileaa.view %sum : TSUM -> TROW
  %sb = nv_tileaa.broadcast %sv : TROW -> T
  %r = arith.divf %z, %sb : T";
    let transpose = "
  %p = nv_tileaa.permute %x [1, 0] : T -> T2
  %r = nv_tileaa.view %p : T2 -> T";
    for (name, rows, columns, body) in [
        ("chain 2^20", 1024, 1024, chain),
        ("chain 2^24", 4096, 4096, chain),
        ("softmax 4x65536", 4, 65536, &softmax),
        ("softmax 2^24", 4, 1 << 22, &softmax),
        ("transpose 2^20", 1024, 1024, transpose),
    ] {
        let (bytes, took) = assembled(&kernel(rows, columns, None, body));
        assert!(bytes < 5000 * INSTRUCTION, "{name}: {} instructions", bytes / INSTRUCTION);
        // The limit is meant for an optimized build on an idle machine, but this is a debug build and other tests run
        // at the same time.
        assert!(took < Duration::from_secs(3), "{name}: {took:?}");
        println!("{name}: {} instructions, {took:?}", bytes / INSTRUCTION);
    }
}

fn a_tile_of_a_million_elements() {
    let (rows, columns) = (1024, 1024);
    let body = reduce("%sum", "%x", 1, "0.0", "arith.addf", "TSUM")
        + "  %sv = nv_tileaa.view %sum : TSUM -> TROW
  %sb = nv_tileaa.broadcast %sv : TROW -> T
  %p = nv_tileaa.permute %x [1, 0] : T -> T2
  %v = nv_tileaa.view %p : T2 -> T
  %y = arith.addf %v, %sb : T
  %r = arith.mulf %y, %y : T";
    let text = kernel(rows, columns, None, &body);
    let ptx = ptx(&text, How { from: From::TileAa, target: "sm_90", level: 3 }).unwrap_or_else(|e| panic!("{e}"));
    let input: Vec<f32> = (0..rows * columns).map(|i| (i % 31) as f32 - 15.0).collect();
    let inputs = [Input::Buffer(bytes(&input)), Input::Buffer(vec![0xff; 4 * rows * columns]), Input::I32(0)];
    let (out, _) = run(&ptx, "k", 1, &inputs, None).unwrap_or_else(|e| panic!("{e}"));
    let got = floats(&out[1]);
    let sums: Vec<f32> = input.chunks(columns).map(|row| row.iter().sum()).collect();
    for (i, g) in got.iter().enumerate() {
        let y = input[i % rows * columns + i / rows] + sums[i / columns];
        assert_eq!(*g, y * y, "element {i}");
    }
}

fn scans_along_rows_and_columns() {
    let scan = |dim: usize, reverse: bool| {
        format!(
            "  %r = nv_tileaa.scan %x dim {dim} {} identities [0.0 : f32] : T -> T {{
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nv_tileaa.yield %c : f32
  }}",
            if reverse { "reverse" } else { "" }
        )
    };
    for reverse in [false, true] {
        let along = |x: &[f32], line: &dyn Fn(usize, usize) -> usize, count: usize, length: usize| {
            let mut out = vec![0.0; x.len()];
            for l in 0..count {
                let mut sum = 0.0;
                for i in 0..length {
                    let at = line(l, if reverse { length - 1 - i } else { i });
                    sum += x[at];
                    out[at] = sum;
                }
            }
            out
        };
        one_warp("scan of rows", &scan(1, reverse), 0, 1e-4, |x| along(x, &|r, c| r * COLUMNS + c, ROWS, COLUMNS));
        one_warp("scan of columns", &scan(0, reverse), 0, 1e-5, |x| along(x, &|c, r| r * COLUMNS + c, COLUMNS, ROWS));
    }
}

fn scans_that_do_not_commute_carry_in_order() {
    // Linear recurrences on pairs of a factor and a term.
    let body = "
  %half = arith.constant dense<0.5> : T
  %p:2 = nv_tileaa.scan %half, %x dim 1 identities [1.0 : f32, 0.0 : f32] : T, T -> T, T {
  ^bb0(%a: f32, %b: f32, %u: f32, %v: f32):
    %f = arith.mulf %a, %b : f32
    %s = arith.mulf %u, %b : f32
    %t = arith.addf %s, %v : f32
    nv_tileaa.yield %f, %t : f32, f32
  }
  %r = arith.addf %p#1, %p#0 : T";
    one_warp("recurrence", body, 0, 1e-5, |x| {
        x.chunks(COLUMNS)
            .flat_map(|row| {
                let (mut f, mut t) = (1.0f32, 0.0f32);
                row.iter()
                    .map(|&v| {
                        (f, t) = (f * 0.5, t * 0.5 + v);
                        f + t
                    })
                    .collect::<Vec<_>>()
            })
            .collect()
    });
}

fn products_of_large_tiles() {
    // x x^T is a dot of 128 x 128 tiles in one warp.
    let (n, input) = (128, data(128 * 128));
    let text = |element: &str, make: &str| {
        kernel(
            n,
            n,
            Some(1),
            &format!(
                "
  %h = {make} %x : T to tensor<128x128x{element}>
  %t = nv_tileaa.permute %h [1, 0] : tensor<128x128x{element}> -> tensor<128x128x{element}>
  %z = arith.constant dense<0.0> : T
  %d = nv_tileaa.dot %h, %t, %z : tensor<128x128x{element}>, tensor<128x128x{element}>, T
  %r = nv_tileaa.dot %h, %t, %d : tensor<128x128x{element}>, tensor<128x128x{element}>, T"
            ),
        )
    };
    let expected: Vec<f32> = (0..n * n)
        .map(|i| {
            let (r, c) = (i / n, i % n);
            2.0 * (0..n).map(|k| input[r * n + k] * input[c * n + k]).sum::<f32>()
        })
        .collect();
    check("f16 product", &text("f16", "arith.truncf"), &input, 0, &expected, 2e-2);
}

pub fn trials() -> Vec<Trial> {
    functions![
        elementwise_chains,
        in_place_updates_keep_their_order,
        softmax_of_rows,
        sums_of_columns,
        reductions_of_several_tensors_that_do_not_commute,
        transposed_and_back,
        loops_carry_tiles,
        loops_until_a_condition_and_branches,
        slices_and_concatenations,
        pointers_masks_and_narrow_types,
        ragged_edges_and_padding,
        code_does_not_grow_with_the_tile,
        a_tile_of_a_million_elements,
        scans_along_rows_and_columns,
        scans_that_do_not_commute_carry_in_order,
        products_of_large_tiles
    ]
}
