//! Valid kernels are not rejected: matmul and attention, forward and backward, in tiles of all extents and types, for
//! all targets. Many of these run short of shared memory and registers, and the compiler has to use less of them.
//!
//! By default a slice of about 12 000 programs; `TILEIRAS_TEST_FULL=1` takes a larger slice, and
//! `TILEIRAS_TEST_FULL=all` all of them, which takes hours. Programs are compiled to PTX only; other tests check
//! results.

use kernels::compile;
use std::fmt::Write;
use tile_interface::Emit;
use tile_targets::Target;
use tile_test_support::{Trial, kernels};

const TARGETS: &[&str] = &["sm_80", "sm_89", "sm_90", "sm_100", "sm_120"];
const EXTENTS: &[u32] = &[16, 32, 64, 128, 256];
/// The maximum number of elements of an accumulator tile: four times what a CTA of 256 threads holds in registers.
const MOST_SUMS: u32 = 1 << 16;
/// Slices take one program in this many. The numbers are prime, so that the slices cover all targets and extents.
const SLICE: usize = 193;
const LARGE_SLICE: usize = 11;

/// The operand and accumulator types of a dot.
const TYPES: &[(&str, &str)] = &[
    ("f16", "f32"),
    ("f16", "f16"),
    ("bf16", "f32"),
    ("f32", "f32"),
    ("tf32", "f32"),
    ("f8E4M3FN", "f32"),
    ("f8E5M2", "f32"),
    ("i8", "i32"),
    ("f64", "f64"),
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Product,
    Forward,
    Backward,
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    kind: Kind,
    element: &'static str,
    sums: &'static str,
    m: u32,
    n: u32,
    d: u32,
}

pub fn trials() -> Vec<Trial> {
    let step = match std::env::var("TILEIRAS_TEST_FULL").as_deref() {
        Ok("1") => LARGE_SLICE,
        Ok("all") => 1,
        _ => SLICE,
    };
    let mut trials = vec![];
    let mut number = 0;
    for shape in shapes() {
        for &target in TARGETS {
            number += 1;
            if number % step == 0 {
                let Shape { kind, element, sums, m, n, d } = shape;
                let name = format!("shapes/{kind:?}_{element}_{sums}_{m}x{n}x{d}_{target}").to_lowercase();
                trials.push(Trial::test(name, move || {
                    let target = Target::by_name(target).ok_or("unknown target")?;
                    let ptx = compile(shape.program().as_bytes(), target, 3, Emit::Ptx)?.text;
                    if ptx.contains(".entry k(") { Ok(()) } else { Err("the entry is missing".into()) }
                }));
            }
        }
    }
    trials
}

fn shapes() -> Vec<Shape> {
    let mut all = vec![];
    for kind in [Kind::Product, Kind::Forward, Kind::Backward] {
        for &(element, sums) in TYPES {
            // Attention computes its softmax in f32.
            if kind != Kind::Product && (sums != "f32" || element == "tf32") {
                continue;
            }
            for &m in EXTENTS {
                for &n in EXTENTS {
                    for &d in EXTENTS {
                        let largest = (m * n).max(m * d).max(n * d);
                        if largest <= MOST_SUMS {
                            all.push(Shape { kind, element, sums, m, n, d });
                        }
                    }
                }
            }
        }
    }
    all
}

/// The text of a kernel under construction, with names for loaded values.
struct Text {
    body: String,
    next: u32,
}

impl Text {
    fn line(&mut self, line: &str) {
        writeln!(self.body, "{line}").expect("a string");
    }

    /// Appends an op that defines a new value.
    fn value(&mut self, op: &str) -> String {
        self.next += 1;
        let name = format!("%v{}", self.next);
        self.line(&format!("{name} = {op}"));
        name
    }

    /// Loads a tile of a dynamic view with rows of elements, at `index`.
    fn load(&mut self, tensor: &str, (rows, columns): (u32, u32), element: &str, index: &str) -> String {
        let view = view(rows, columns, element);
        let of = self.value(&format!("make_partition_view {tensor} : {view}"));
        self.next += 1;
        let name = format!("%v{}", self.next);
        self.line(&format!(
            "{name}, {name}t = load_view_tko weak {of}[{index}] : {view}, tile<i32> -> tile<{rows}x{columns}x{element}>, token"
        ));
        name
    }

    fn store(&mut self, v: &str, tensor: &str, (rows, columns): (u32, u32), element: &str, index: &str) {
        let view = view(rows, columns, element);
        let of = self.value(&format!("make_partition_view {tensor} : {view}"));
        self.value(&format!(
            "store_view_tko weak {v}, {of}[{index}] : tile<{rows}x{columns}x{element}>, {view}, tile<i32> -> token"
        ));
    }

    fn turned(&mut self, v: &str, (rows, columns): (u32, u32), element: &str) -> String {
        self.value(&format!(
            "permute {v} [1, 0] : tile<{rows}x{columns}x{element}> -> tile<{columns}x{rows}x{element}>"
        ))
    }

    fn constant(&mut self, value: &str, (rows, columns): (u32, u32), element: &str) -> String {
        self.value(&format!("constant <{element}: {value}> : tile<{rows}x{columns}x{element}>"))
    }

    fn product(&mut self, shape: &Shape, [a, b, c]: [&str; 3], (m, n, k): (u32, u32, u32)) -> String {
        let Shape { element, sums, .. } = shape;
        let (op, signs) = if *sums == "i32" { ("mmai", " signed signed") } else { ("mmaf", "") };
        self.value(&format!(
            "{op} {a}, {b}, {c}{signs} : tile<{m}x{k}x{element}>, tile<{k}x{n}x{element}>, tile<{m}x{n}x{sums}>"
        ))
    }

    /// Reduces each row to one number.
    fn reduced(&mut self, v: &str, (rows, columns): (u32, u32), identity: &str, op: &str) -> String {
        let r = self.value(&format!(
            "reduce {v} dim=1 identities=[{identity} : f32] : tile<{rows}x{columns}xf32> -> tile<{rows}xf32> \
             (%e0: tile<f32>, %e1: tile<f32>) {{\n %e = {op} %e0, %e1 : tile<f32>\n yield %e : tile<f32>\n}}"
        ));
        self.value(&format!("reshape {r} : tile<{rows}xf32> -> tile<{rows}x1xf32>"))
    }

    fn spread(&mut self, v: &str, (rows, columns): (u32, u32)) -> String {
        self.value(&format!("broadcast {v} : tile<{rows}x1xf32> -> tile<{rows}x{columns}xf32>"))
    }

    fn narrowed(&mut self, v: &str, (rows, columns): (u32, u32), element: &str) -> String {
        if element == "f32" {
            return v.to_string();
        }
        self.value(&format!("ftof {v} : tile<{rows}x{columns}xf32> -> tile<{rows}x{columns}x{element}>"))
    }
}

fn view(rows: u32, columns: u32, element: &str) -> String {
    format!("partition_view<tile=({rows}x{columns}), padding_value = zero, tensor_view<?x?x{element}, strides=[?,1]>>")
}

impl Shape {
    /// Builds a program with four operands and three results, some of which the kernel uses.
    fn program(&self) -> String {
        let mut t = Text { body: String::new(), next: 0 };
        match self.kind {
            Kind::Product => self.matrices(&mut t),
            Kind::Forward => self.forward(&mut t),
            Kind::Backward => self.backward(&mut t),
        }
        // Words are rounded after they are loaded.
        let memory = self.memory();
        let (mut arguments, mut views) = (String::new(), String::new());
        for (i, element) in [memory, memory, memory, memory, self.sums, self.sums, self.sums].into_iter().enumerate() {
            write!(arguments, "%p{i}: tile<ptr<{element}>>, ").expect("a string");
            writeln!(
                views,
                "%q{i} = assume div_by<16>, %p{i} : tile<ptr<{element}>>\n\
                 %t{i} = make_tensor_view %q{i}, shape = [%rows, %columns], strides = [%columns, 1] : tile<i32> -> \
                 tensor_view<?x?x{element}, strides=[?,1]>"
            )
            .expect("a string");
        }
        format!(
            "cuda_tile.module @m {{\nentry @k({arguments}%rows0: tile<i32>, %columns0: tile<i32>, %n: tile<i32>) {{\n\
             %rows = assume div_by<16>, %rows0 : tile<i32>\n%columns = assume div_by<16>, %columns0 : tile<i32>\n{views}\
             %zero = constant <i32: 0> : tile<i32>\n%one = constant <i32: 1> : tile<i32>\n\
             %x, %y, %z = get_tile_block_id : tile<i32>\n{}return\n}}\n}}\n",
            t.body
        )
    }

    fn memory(&self) -> &'static str {
        if self.element == "tf32" { "f32" } else { self.element }
    }

    fn operand(&self, t: &mut Text, tensor: &str, tile: (u32, u32), index: &str) -> String {
        let v = t.load(tensor, tile, self.memory(), index);
        if self.memory() == self.element {
            return v;
        }
        let (rows, columns) = tile;
        t.value(&format!("ftof {v} : tile<{rows}x{columns}xf32> -> tile<{rows}x{columns}x{}>", self.element))
    }

    /// Builds a loop that carries tiles, as `%c0` and so on; the values that `body` returns are carried on.
    fn looped(t: &mut Text, inits: &[(String, String)], body: impl FnOnce(&mut Text) -> Vec<String>) -> Vec<String> {
        t.next += 1;
        let name = format!("%l{}", t.next);
        let types = inits.iter().map(|(_, ty)| ty.as_str()).collect::<Vec<_>>().join(", ");
        let values = inits.iter().enumerate().map(|(i, (v, _))| format!("%c{i} = {v}")).collect::<Vec<_>>().join(", ");
        t.line(&format!(
            "{name}:{} = for %i in (%zero to %n, step %one) : tile<i32> iter_values({values}) -> ({types}) {{",
            inits.len()
        ));
        let next = body(t).join(", ");
        t.line(&format!("continue {next} : {types}\n}}"));
        (0..inits.len()).map(|i| format!("{name}#{i}")).collect()
    }

    fn matrices(&self, t: &mut Text) {
        let Shape { m, n, d, sums, .. } = *self;
        let zero = t.constant(if sums == "i32" { "0" } else { "0.0" }, (m, n), sums);
        let out = Self::looped(t, &[(zero, format!("tile<{m}x{n}x{sums}>"))], |t| {
            let a = self.operand(t, "%t0", (m, d), "%x, %i");
            let b = self.operand(t, "%t1", (d, n), "%i, %y");
            vec![t.product(self, [&a, &b, "%c0"], (m, n, d))]
        });
        t.store(&out[0], "%t4", (m, n), sums, "%x, %y");
    }

    fn forward(&self, t: &mut Text) {
        let Shape { m, n, d, element, .. } = *self;
        let q = self.operand(t, "%t0", (m, d), "%x, %zero");
        let top = t.constant("-1.0e30", (m, 1), "f32");
        let sum = t.constant("0.0", (m, 1), "f32");
        let total = t.constant("0.0", (m, d), "f32");
        let column = format!("tile<{m}x1xf32>");
        let inits = [(top, column.clone()), (sum, column.clone()), (total, format!("tile<{m}x{d}xf32>"))];
        let out = Self::looped(t, &inits, |t| {
            let k = self.operand(t, "%t1", (n, d), "%i, %zero");
            let k = t.turned(&k, (n, d), element);
            let zero = t.constant("0.0", (m, n), "f32");
            let s = t.product(self, [&q, &k, &zero], (m, n, d));
            let most = t.reduced(&s, (m, n), "0xFF800000", "maxf");
            let top = t.value(&format!("maxf %c0, {most} : {column}"));
            let all = t.spread(&top, (m, n));
            let below = t.value(&format!("subf {s}, {all} : tile<{m}x{n}xf32>"));
            let p = t.value(&format!("exp2 {below} : tile<{m}x{n}xf32>"));
            let less = t.value(&format!("subf %c0, {top} : {column}"));
            let shrink = t.value(&format!("exp2 {less} : {column}"));
            let row = t.reduced(&p, (m, n), "0.0", "addf");
            let kept = t.value(&format!("mulf %c1, {shrink} : {column}"));
            let sum = t.value(&format!("addf {kept}, {row} : {column}"));
            let p = t.narrowed(&p, (m, n), element);
            let v = self.operand(t, "%t2", (n, d), "%i, %zero");
            let shrink = t.spread(&shrink, (m, d));
            let kept = t.value(&format!("mulf %c2, {shrink} : tile<{m}x{d}xf32>"));
            let total = t.product(self, [&p, &v, &kept], (m, d, n));
            vec![top, sum, total]
        });
        let sum = t.spread(&out[1], (m, d));
        let o = t.value(&format!("divf {}, {sum} : tile<{m}x{d}xf32>", out[2]));
        t.store(&o, "%t4", (m, d), "f32", "%x, %zero");
    }

    /// Computes the gradients of keys and values of one block, over all blocks of queries.
    fn backward(&self, t: &mut Text) {
        let Shape { m, n, d, element, .. } = *self;
        let k = self.operand(t, "%t1", (n, d), "%x, %zero");
        let v = self.operand(t, "%t2", (n, d), "%x, %zero");
        let zeros = [t.constant("0.0", (n, d), "f32"), t.constant("0.0", (n, d), "f32")];
        let inits = zeros.map(|z| (z, format!("tile<{n}x{d}xf32>")));
        let out = Self::looped(t, &inits, |t| {
            let q = self.operand(t, "%t0", (m, d), "%i, %zero");
            let g = self.operand(t, "%t3", (m, d), "%i, %zero");
            let zero = t.constant("0.0", (m, n), "f32");
            let kt = t.turned(&k, (n, d), element);
            let s = t.product(self, [&q, &kt, &zero], (m, n, d));
            let p = t.value(&format!("exp2 {s} : tile<{m}x{n}xf32>"));
            let narrow = t.narrowed(&p, (m, n), element);
            let pt = t.turned(&narrow, (m, n), element);
            let dv = t.product(self, [&pt, &g, "%c0"], (n, d, m));
            let vt = t.turned(&v, (n, d), element);
            let dp = t.product(self, [&g, &vt, &zero], (m, n, d));
            let ds = t.value(&format!("mulf {p}, {dp} : tile<{m}x{n}xf32>"));
            let ds = t.narrowed(&ds, (m, n), element);
            let dst = t.turned(&ds, (m, n), element);
            let dk = t.product(self, [&dst, &q, "%c1"], (n, d, m));
            vec![dv, dk]
        });
        t.store(&out[0], "%t4", (n, d), "f32", "%x, %zero");
        t.store(&out[1], "%t5", (n, d), "f32", "%x, %zero");
    }
}
