//! Loops whose tiles lie where loaded numbers say, as with pages of keys: copies start ahead of their iterations.

use exact::{Numbers, scalar};
use tile_fuzz::{case::Parameter, file::memory};
use tile_interp::{scalar::Scalar, types::Number};
use tile_test_support::{Trial, exact, functions};

/// The numbers of pages, one for each iteration.
const TABLE: [u64; 7] = [3, 0, 5, 1, 1, 4, 2];
const PAGES: usize = 6;

/// A sum of products of pages: left operands of MxK and right operands of KxN.
#[derive(Clone, Copy)]
struct Paged {
    m: usize,
    n: usize,
    k: usize,
    /// Whether the numbers are read through a view, or else through a pointer.
    by_view: bool,
    /// Whether the iteration uses the number for more than addresses.
    is_used: bool,
    step: u64,
}

const PAGED: Paged = Paged { m: 16, n: 64, k: 64, by_view: true, is_used: false, step: 1 };

impl Paged {
    fn program(&self) -> String {
        let Self { m, n, k, by_view, is_used, step } = *self;
        let count = TABLE.len();
        let [a, b] = [[m, k], [k, n]].map(|[x, y]| {
            format!("partition_view<tile=(1x{x}x{y}), tensor_view<{PAGES}x{x}x{y}xf16, strides=[{},{y},1]>>", x * y)
        });
        let c = format!("partition_view<tile=({m}x{n}), tensor_view<{m}x{n}xf32, strides=[{n},1]>>");
        let table = format!("partition_view<tile=(1), tensor_view<{count}xi32, strides=[1]>>");
        let number = if by_view {
            format!("%p1, %pk = load_view_tko weak %tw[%i] : {table}, tile<i32> -> tile<1xi32>, token\n")
        } else {
            "%at = offset %t, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>\n\
             %p0, %pk = load_ptr_tko weak %at : tile<ptr<i32>> -> tile<i32>, token\n\
             %p1 = reshape %p0 : tile<i32> -> tile<1xi32>\n"
                .to_string()
        };
        let more = if is_used {
            format!(
                "%pf = itof %p signed : tile<i32> -> tile<f32>\n\
                 %ps = reshape %pf : tile<f32> -> tile<1x1xf32>\n\
                 %pt = broadcast %ps : tile<1x1xf32> -> tile<{m}x{n}xf32>\n%next = addf %d, %pt : tile<{m}x{n}xf32>\n"
            )
        } else {
            String::new()
        };
        let next = if is_used { "%next" } else { "%d" };
        let [ta, tb] = [[m, k], [k, n]].map(|[x, y]| {
            let view = format!("tensor_view<{PAGES}x{x}x{y}xf16, strides=[{},{y},1]>", x * y);
            format!("shape = [{PAGES}, {x}, {y}], strides = [{}, {y}, 1] : {view}", x * y)
        });
        format!(
            "cuda_tile.module @paged {{\n\
             entry @paged(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %t: tile<ptr<i32>>, %c: tile<ptr<f32>>, \
             %from: tile<i32>, %to: tile<i32>) {{\n\
             %zero = constant <i32: 0> : tile<i32>\n%step = constant <i32: {step}> : tile<i32>\n\
             %init = constant <f32: 0.0> : tile<{m}x{n}xf32>\n\
             %qa = assume div_by<16>, %a : tile<ptr<f16>>\n%qb = assume div_by<16>, %b : tile<ptr<f16>>\n\
             %av = make_tensor_view %qa, {ta}\n%aw = make_partition_view %av : {a}\n\
             %bv = make_tensor_view %qb, {tb}\n%bw = make_partition_view %bv : {b}\n\
             %tv = make_tensor_view %t, shape = [{count}], strides = [1] : tensor_view<{count}xi32, strides=[1]>\n\
             %tw = make_partition_view %tv : {table}\n\
             %sum = for %i in (%from to %to, step %step) : tile<i32> iter_values(%s = %init) -> (tile<{m}x{n}xf32>) {{\n\
             {number}%p = reshape %p1 : tile<1xi32> -> tile<i32>\n\
             %a3, %ak = load_view_tko weak %aw[%p, %zero, %zero] : {a}, tile<i32> -> tile<1x{m}x{k}xf16>, token\n\
             %b3, %bk = load_view_tko weak %bw[%p, %zero, %zero] : {b}, tile<i32> -> tile<1x{k}x{n}xf16>, token\n\
             %a2 = reshape %a3 : tile<1x{m}x{k}xf16> -> tile<{m}x{k}xf16>\n\
             %b2 = reshape %b3 : tile<1x{k}x{n}xf16> -> tile<{k}x{n}xf16>\n\
             %d = mmaf %a2, %b2, %s : tile<{m}x{k}xf16>, tile<{k}x{n}xf16>, tile<{m}x{n}xf32>\n\
             {more}continue {next} : tile<{m}x{n}xf32>\n}}\n\
             %cv = make_tensor_view %c, shape = [{m}, {n}], strides = [{n}, 1] : tensor_view<{m}x{n}xf32, strides=[{n},1]>\n\
             %cw = make_partition_view %cv : {c}\n\
             %done = store_view_tko weak %sum, %cw[%zero, %zero] : tile<{m}x{n}xf32>, {c}, tile<i32> -> token\n\
             return\n}}\n}}\n"
        )
    }

    fn parameters(&self, [from, to]: [u64; 2]) -> Vec<Parameter> {
        let mut numbers = Numbers::default();
        let table: Vec<Scalar> = TABLE.iter().map(|page| Scalar::exact(*page)).collect();
        vec![
            numbers.buffer(PAGES * self.m * self.k, Number::F16, 3, 1.0),
            numbers.buffer(PAGES * self.k * self.n, Number::F16, 3, 1.0),
            Parameter::Buffer { number: Number::I32, bytes: memory(&table, Number::I32) },
            numbers.buffer(self.m * self.n, Number::F32, 0, 1.0),
            scalar(from),
            scalar(to),
        ]
    }

    /// `wait` is the instruction that waits for the oldest copies.
    fn check(&self, target: &str, bounds: [u64; 2], wait: &str) {
        let run = ([1, 1, 1], self.parameters(bounds));
        exact::check_with(target, &self.program(), run, &[("extended-smem", "true")], &[wait]);
    }
}

/// A loop without iterations reads no number: it starts far outside of the table.
const BOUNDS: [[u64; 2]; 4] = [[0, 7], [2, 5], [6, 7], [1000, 1000]];

fn own_rings() {
    for bounds in BOUNDS {
        for by_view in [true, false] {
            Paged { by_view, ..PAGED }.check("sm_80", bounds, "cp.async.wait_group \t2;");
        }
        Paged { is_used: true, ..PAGED }.check("sm_90", bounds, "cp.async.wait_group \t2;");
        PAGED.check("sm_100", bounds, "cp.async.wait_group \t2;");
    }
    Paged { step: 3, ..PAGED }.check("sm_100", [0, 7], "cp.async.wait_group \t2;");
    Paged { step: 2, by_view: false, ..PAGED }.check("sm_86", [1, 6], "cp.async.wait_group \t2;");
}

/// Two stages of each operand would take 128 KB.
fn one_ring() {
    let paged = Paged { m: 128, n: 128, k: 128, ..PAGED };
    for bounds in BOUNDS {
        for by_view in [true, false] {
            Paged { by_view, ..paged }.check("sm_89", bounds, "cp.async.wait_group \t1;");
        }
    }
    Paged { step: 3, is_used: true, ..paged }.check("sm_89", [0, 7], "cp.async.wait_group \t1;");
}

pub fn trials() -> Vec<Trial> {
    functions![own_rings, one_ring]
}
