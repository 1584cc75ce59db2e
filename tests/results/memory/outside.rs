//! Tiles that lie entirely outside the tensor.
//!
//! The language does not define an index outside the index space, but programs of clients rely on it, for example
//! loops with one tile too many, or helpers that return early, whose loads front ends hoist above the return: loads
//! must give the padding value and stores must do nothing. So no access may leave the tensor because of such an index,
//! however far outside it is.

use ptx_sim::Module;
use tile_test_support::device::*;

/// Extents of the memory and of the tile.
const MEMORY: [usize; 2] = [6, 10];
const TILE: [usize; 2] = [4, 8];

/// Both static extents and dynamic extents with the assumptions that clients make about them.
fn module() -> String {
    let [h, w] = MEMORY;
    let [a, b] = TILE;
    let mut text = "cuda_tile.module @m {\n".to_string();
    for (name, extents) in [("fixed", format!("{h}x{w}")), ("given", "?x?".to_string())] {
        let tensor = format!("tensor_view<{extents}xf32, strides=[{w},1]>");
        let view = format!("partition_view<tile=({a}x{b}), padding_value = nan, {tensor}>");
        let shape = match name {
            "fixed" => format!("[{h}, {w}], strides = [{w}, 1] : {tensor}"),
            _ => format!("[%h, %w], strides = [{w}, 1] : tile<i32> -> {tensor}"),
        };
        let out = format!("tensor_view<{a}x{b}xf32, strides=[{b},1]>");
        let out_view = format!("partition_view<tile=({a}x{b}), {out}>");
        text += &format!(
            "  entry @{name}(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %h0: tile<i32>, %w0: tile<i32>, %i: tile<i32>, %j: tile<i32>) {{
    %h = assume div_by<2>, %h0 : tile<i32>
    %w1 = assume bounded<0, ?>, %w0 : tile<i32>
    %w = assume div_by<2>, %w1 : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %t = make_tensor_view %p, shape = {shape}
    %v = make_partition_view %t : {view}
    %x, %k = load_view_tko weak %v[%i, %j] : {view}, tile<i32> -> tile<{a}x{b}xf32>, token
    %o = make_tensor_view %q, shape = [{a}, {b}], strides = [{b}, 1] : {out}
    %ov = make_partition_view %o : {out_view}
    %k1 = store_view_tko weak %x, %ov[%zero, %zero] token = %k : tile<{a}x{b}xf32>, {out_view}, tile<i32> -> token
    %one = constant <f32: 1.0> : tile<{a}x{b}xf32>
    %k2 = store_view_tko weak %one, %v[%i, %j] token = %k1 : tile<{a}x{b}xf32>, {view}, tile<i32> -> token
    return
  }}
"
        );
    }
    text + "}\n"
}

fn run(module: &Module, entry: &str, at: [i32; 2], schedule: Option<u64>) -> Result<(), String> {
    let ([h, w], [a, b]) = (MEMORY, TILE);
    let bytes = |v: &[f32]| v.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let mut memory: Vec<f32> = (0..h * w).map(|n| n as f32 + 2.0).collect();
    let mut tile = vec![f32::NAN; a * b];
    let mut run = Run::default();
    let p = run.memory(&bytes(&memory));
    let q = run.memory(&bytes(&vec![-1.0; a * b]));
    for n in [h as i32, w as i32, at[0], at[1]] {
        run.scalar(n);
    }
    run.launch(module, entry, 1, schedule).map_err(|e| e.to_string())?;
    for i in 0..a {
        for j in 0..b {
            let place = |at: i32, size: usize, i: usize| usize::try_from(i64::from(at) * size as i64 + i as i64);
            if let (Ok(row), Ok(column)) = (place(at[0], a, i), place(at[1], b, j))
                && row < h
                && column < w
            {
                tile[i * b + j] = std::mem::replace(&mut memory[row * w + column], 1.0);
            }
        }
    }
    for (what, p, want) in [("memory", p, &memory), ("tile", q, &tile)] {
        let got = run.read(p, want.len() * 4);
        let got = got.chunks_exact(4).map(|c| f32::from_le_bytes([c[0], c[1], c[2], c[3]]));
        let same = |(x, y): (f32, &f32)| x == *y || x.is_nan() && y.is_nan();
        if let Some(i) = got.zip(want).position(|pair| !same(pair)) {
            return Err(format!("{what} element {i} is wrong"));
        }
    }
    Ok(())
}

pub fn tiles() -> Result<(), String> {
    let text = module();
    let mut problems = vec![];
    for (target, level) in configurations() {
        let module = Module::parse(&compile(&text, target, level)?).map_err(|e| e.to_string())?;
        for entry in ["fixed", "given"] {
            // 2^29 tiles of 4 rows are 2^31 rows, and 2^30 are 2^32: the start of the tile does not fit 32 bits.
            let far = [[-1, 0], [0, -1], [-1, -1], [i32::MIN, 0], [0, i32::MIN], [1 << 29, 0], [1 << 30, 1 << 29]];
            let near = [[0, 0], [1, 1], [2, 0], [0, 2], [2, 2], [5, 1], [1, 1000]];
            for at in near.into_iter().chain(far) {
                for schedule in schedules() {
                    if let Err(e) = run(&module, entry, at, *schedule) {
                        problems.push(format!("{target} -O{level} {schedule:?} {entry} {at:?}: {e}"));
                    }
                }
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}
