//! Reductions and scans, compiled and run on the simulated device. The results are compared with a model on the host.
//!
//! The model is a loop over the elements of a row. For reductions, whose order the language does not define, the
//! combination does not depend on the order. For scans, whose order is defined, it does.

use simulate::{From, How, Input, Random, attribute, ptx, run};
use tile_test_support::{Trial, full, functions, simulate};

/// How the numbers of a type are written. All numbers in these tests are small integers, which every format
/// represents.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Int,
    /// The number of exponent and mantissa bits.
    Float(u32, u32),
}

#[derive(Clone, Copy, Debug)]
struct Element {
    name: &'static str,
    /// Bits in memory, and significant bits of a number.
    stored: u32,
    bits: u32,
    kind: Kind,
}

const fn int(name: &'static str, stored: u32, bits: u32) -> Element {
    Element { name, stored, bits, kind: Kind::Int }
}
const fn float(name: &'static str, stored: u32, exponent: u32, mantissa: u32) -> Element {
    Element { name, stored, bits: stored, kind: Kind::Float(exponent, mantissa) }
}

const I1: Element = int("i1", 8, 1);
const I32: Element = int("i32", 32, 32);
const F32: Element = float("f32", 32, 8, 23);
const ELEMENTS: &[Element] = &[
    I1,
    int("i8", 8, 8),
    int("i16", 16, 16),
    I32,
    int("i64", 64, 64),
    float("f16", 16, 5, 10),
    float("bf16", 16, 8, 7),
    F32,
    float("f64", 64, 11, 52),
    float("tf32", 32, 8, 23),
    float("f8E4M3FN", 8, 4, 3),
    float("f8E5M2", 8, 5, 2),
];

impl Element {
    /// Whether the language has arithmetic for the format.
    fn has_arithmetic(&self) -> bool {
        !matches!(self.name, "tf32" | "f8E4M3FN" | "f8E5M2")
    }
    fn is_float(&self) -> bool {
        self.kind != Kind::Int
    }
    fn encode(&self, v: i64) -> u64 {
        let mask = if self.stored == 64 { u64::MAX } else { (1 << self.stored) - 1 };
        let Kind::Float(exponent, mantissa) = self.kind else { return self.wrap(v) as u64 & mask };
        if v == 0 {
            return 0;
        }
        let size = v.unsigned_abs();
        let top = size.ilog2();
        assert!(size.trailing_zeros() + mantissa >= top, "{v} is no {}", self.name);
        let fraction = (size << (63 - top) << 1) >> (64 - mantissa);
        let biased = u64::from(top) + (1 << (exponent - 1)) - 1;
        u64::from(v < 0) << (exponent + mantissa) | biased << mantissa | fraction
    }
    /// The number wrapped to the range of the type.
    fn wrap(&self, v: i64) -> i64 {
        match (self.kind, self.bits) {
            (Kind::Int, 1) => v & 1,
            (Kind::Int, bits) if bits < 64 => v << (64 - bits) >> (64 - bits),
            _ => v,
        }
    }
    /// The literal of a constant.
    fn literal(&self, v: i64) -> String {
        match self.kind {
            Kind::Int if self.bits == 1 => (v & 1 == 1).to_string(),
            Kind::Int => format!("{v} : {}", self.name),
            Kind::Float(..) => format!("{v}.0 : {}", self.name),
        }
    }
}

/// Computes new accumulators from elements and accumulators.
type Host = fn(&[Element], &[i64], &[i64]) -> Vec<i64>;

/// A combination of some operands: text with `%a0, %b0, %a1, ...` that defines `%c0, %c1, ...`, and the same function
/// on the host.
struct Body {
    name: &'static str,
    text: fn(&[Element]) -> String,
    host: Host,
    identity: i64,
    /// Operands are in the range from `-range` to `range`.
    range: i64,
}

/// An op with one operand.
fn simple(e: &Element, integer: &str, real: &str) -> String {
    let op = if e.is_float() { real } else { integer };
    format!("%c0 = {op} %a0, %b0 : {}\n", e.name)
}

const ADD: Body = Body {
    name: "add",
    text: |e| simple(&e[0], "arith.addi", "arith.addf"),
    host: |e, a, b| vec![e[0].wrap(a[0] + b[0])],
    identity: 0,
    range: 1,
};
const XOR: Body = Body {
    name: "xor",
    text: |e| simple(&e[0], "arith.xori", ""),
    host: |_, a, b| vec![a[0] ^ b[0]],
    identity: 0,
    range: 100,
};
const AND: Body = Body {
    name: "and",
    text: |e| simple(&e[0], "arith.andi", ""),
    host: |_, a, b| vec![a[0] & b[0]],
    identity: -1,
    range: 100,
};
/// The larger number. Includes formats that must be widened for comparisons.
const MAX: Body = Body {
    name: "max",
    text: |e| {
        if e[0].has_arithmetic() {
            simple(&e[0], "arith.maxsi", "nv_tileaa.fp <max>")
        } else {
            format!(
                "%x = nv_tileaa.fp_cast %a0 : {0} -> f32\n%y = nv_tileaa.fp_cast %b0 : {0} -> f32\n\
             %k = arith.cmpf ogt, %x, %y : f32\n%c0 = arith.select %k, %a0, %b0 : {0}\n",
                e[0].name
            )
        }
    },
    // True is minus one.
    host: |e, a, b| vec![if e[0].bits == 1 { a[0] & b[0] } else { a[0].max(b[0]) }],
    identity: -8,
    range: 8,
};
const UMIN: Body = Body {
    name: "umin",
    text: |e| simple(&e[0], "arith.minui", ""),
    host: |_, a, b| vec![if (a[0] as u64) < b[0] as u64 { a[0] } else { b[0] }],
    identity: -1,
    range: 100,
};
/// The larger number and, if numbers are equal, the smaller index, which is the second operand.
const ARGMAX: Body = Body {
    name: "argmax",
    text: |e| {
        let (predicate, op) = if e[0].is_float() { (["ogt", "oeq"], "cmpf") } else { (["sgt", "eq"], "cmpi") };
        format!(
            "%g = arith.{op} {}, %a0, %b0 : {t}\n%e = arith.{op} {}, %a0, %b0 : {t}\n\
             %l = arith.cmpi slt, %a1, %b1 : i32\n%w = arith.andi %e, %l : i1\n%k = arith.ori %g, %w : i1\n\
             %c0 = arith.select %k, %a0, %b0 : {t}\n%c1 = arith.select %k, %a1, %b1 : i32\n",
            predicate[0],
            predicate[1],
            t = e[0].name
        )
    },
    host: |_, a, b| if a[0] > b[0] || a[0] == b[0] && a[1] < b[1] { a.to_vec() } else { b.to_vec() },
    identity: 0,
    range: 3,
};
/// The composition of functions `x -> a x + b`, which depends on the order.
const AFFINE: Body = Body {
    name: "affine",
    text: |_| {
        "%c0 = arith.muli %a0, %b0 : i32\n%m = arith.muli %a1, %b0 : i32\n%c1 = arith.addi %m, %b1 : i32\n".into()
    },
    host: |e, a, b| vec![e[0].wrap(a[0].wrapping_mul(b[0])), e[0].wrap(e[0].wrap(a[1].wrapping_mul(b[0])) + b[1])],
    identity: 0,
    range: 1000,
};
/// Sum, exclusive or, and count: each operand has its own combination.
const THREE: Body = Body {
    name: "three",
    text: |_| {
        "%c0 = arith.addf %a0, %b0 : f32\n%c1 = arith.xori %a1, %b1 : i64\n%c2 = arith.addi %a2, %b2 : i8\n".into()
    },
    host: |e, a, b| vec![a[0] + b[0], a[1] ^ b[1], e[2].wrap(a[2] + b[2])],
    identity: 0,
    range: 5,
};

/// The operation along a dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Reduce,
    Scan { reverse: bool },
}

struct Case<'a> {
    shape: &'a [usize],
    dim: usize,
    op: Op,
    body: &'a Body,
    elements: Vec<Element>,
    warps: usize,
}

fn dims(shape: &[usize]) -> String {
    shape.iter().map(|e| format!("{e}x")).collect()
}

impl Case<'_> {
    fn region(&self) -> String {
        let arguments: Vec<String> = (0..self.elements.len())
            .flat_map(|i| [format!("%a{i}: {}", self.elements[i].name), format!("%b{i}: {}", self.elements[i].name)])
            .collect();
        let list = |f: &dyn Fn(usize) -> String| (0..self.elements.len()).map(f).collect::<Vec<_>>().join(", ");
        format!(
            "{{\n^bb0({}):\n{}nv_tileaa.yield {} : {}\n}}",
            arguments.join(", "),
            (self.body.text)(&self.elements),
            list(&|i| format!("%c{i}")),
            list(&|i| self.elements[i].name.to_string())
        )
    }

    fn result_shape(&self) -> Vec<usize> {
        let mut shape = self.shape.to_vec();
        if self.op == Op::Reduce {
            shape.remove(self.dim);
        }
        shape
    }

    /// A kernel that loads the operands from its first arguments and stores the results to the others.
    fn text(&self) -> String {
        let n = self.elements.len();
        let (shape, result) = (dims(self.shape), dims(&self.result_shape()));
        let parameters: Vec<String> = ["in", "out"]
            .iter()
            .flat_map(|way| (0..n).map(move |i| (way, i)))
            .map(|(way, i)| format!("%{way}{i}: !nv_tileaa.ptr<{}>", self.elements[i].name))
            .collect();
        let mut text = format!(
            "gpu.module @m {{\nnv_tileaa.func @k({}) attributes {{numWarps = {} : i64}} {{\n",
            parameters.join(", "),
            self.warps
        );
        let addresses = |text: &mut String, way: &str, i: usize, shape: &[usize]| {
            let (e, d) = (self.elements[i].name, dims(shape));
            let count: usize = shape.iter().product();
            let name = format!("%{way}{i}");
            *text += &format!(
                "{name}_base = nv_tileaa.assume #cuda_tile.div_by<16>, {name} : !nv_tileaa.ptr<{e}>\n\
                 {name}_range = nv_tileaa.make_range : tensor<{count}xi32>\n\
                 {name}_index = nv_tileaa.view {name}_range : tensor<{count}xi32> -> tensor<{d}i32>\n\
                 {name}_splat = nv_tileaa.splat {name}_base : !nv_tileaa.ptr<{e}> -> tensor<{d}!nv_tileaa.ptr<{e}>>\n\
                 {name}_ptr = nv_tileaa.addptr {name}_splat, {name}_index : tensor<{d}!nv_tileaa.ptr<{e}>>, tensor<{d}i32>\n"
            );
        };
        for (i, e) in self.elements.iter().enumerate() {
            addresses(&mut text, "in", i, self.shape);
            let e = e.name;
            text += &format!(
                "%x{i}, %tx{i} = nv_tileaa.load <weak> %in{i}_ptr : tensor<{shape}!nv_tileaa.ptr<{e}>> -> tensor<{shape}{e}>\n"
            );
        }
        let list = |f: &dyn Fn(&Element) -> String| self.elements.iter().map(f).collect::<Vec<_>>().join(", ");
        let scalar = self.result_shape().is_empty();
        let (op, way) = match self.op {
            Op::Reduce => ("reduce", ""),
            Op::Scan { reverse: false } => ("scan", ""),
            Op::Scan { reverse: true } => ("scan", "reverse "),
        };
        text += &format!(
            "%r:{n} = nv_tileaa.{op} {} dim {} {way}identities [{}] : {} -> {} {}\n",
            (0..n).map(|i| format!("%x{i}")).collect::<Vec<_>>().join(", "),
            self.dim,
            list(&|e| e.literal(self.body.identity)),
            list(&|e| format!("tensor<{shape}{}>", e.name)),
            list(&|e| if scalar { e.name.into() } else { format!("tensor<{result}{}>", e.name) }),
            self.region()
        );
        for (i, e) in self.elements.iter().enumerate() {
            let e = e.name;
            if scalar {
                text += &format!("%t{i} = nv_tileaa.store <weak> %out{i}, %r#{i} : !nv_tileaa.ptr<{e}>, {e}\n");
                continue;
            }
            addresses(&mut text, "out", i, &self.result_shape());
            text += &format!(
                "%t{i} = nv_tileaa.store <weak> %out{i}_ptr, %r#{i} : tensor<{result}!nv_tileaa.ptr<{e}>>, tensor<{result}{e}>\n"
            );
        }
        text + "nv_tileaa.return\n} }\n"
    }

    /// The expected results for `inputs`, which has a list of numbers for each operand.
    fn expected(&self, inputs: &[Vec<i64>]) -> Vec<Vec<i64>> {
        let extent = self.shape[self.dim];
        let inner: usize = self.shape[self.dim + 1..].iter().product();
        let outer: usize = self.shape[..self.dim].iter().product();
        let count: usize = self.result_shape().iter().product();
        let mut out = vec![vec![0; count]; inputs.len()];
        for (o, i) in (0..outer).flat_map(|o| (0..inner).map(move |i| (o, i))) {
            let element = |k: usize| (o * extent + k) * inner + i;
            let values = |k: usize| -> Vec<i64> { inputs.iter().map(|x| x[element(k)]).collect() };
            let mut order: Vec<usize> = (0..extent).collect();
            if self.op == (Op::Scan { reverse: true }) {
                order.reverse();
            }
            let mut sum = values(order[0]);
            for (n, &k) in order.iter().enumerate() {
                if n > 0 {
                    sum = (self.body.host)(&self.elements, &sum, &values(k));
                }
                let at = if self.op == Op::Reduce { o * inner + i } else { element(k) };
                out.iter_mut().zip(&sum).for_each(|(list, v)| list[at] = *v);
            }
        }
        out
    }

    fn check(&self, random: &mut Random, how: How, seed: Option<u64>) {
        let count: usize = self.shape.iter().product();
        let number = |random: &mut Random, i: usize| {
            let range = self.body.range;
            let v = random.below(2 * range as usize + 1) as i64 - range;
            // The second operand of an argmax is the index.
            if self.body.name == "argmax" && i == 1 { 0 } else { v }
        };
        let inputs: Vec<Vec<i64>> = (0..self.elements.len())
            .map(|i| {
                (0..count)
                    .map(|k| self.elements[i].wrap(number(random, i) + if self.is_place(i) { k as i64 } else { 0 }))
                    .collect()
            })
            .collect();
        let text = self.text();
        let name = format!("{} of {:?} along {}, {:?}, {:?}", self.body.name, self.shape, self.dim, self.op, how);
        let ptx = ptx(&text, how).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
        let bytes = |e: &Element, list: &[i64]| -> Vec<u8> {
            list.iter().flat_map(|v| e.encode(*v).to_le_bytes()[..e.stored as usize / 8].to_vec()).collect()
        };
        let expected = self.expected(&inputs);
        let encode = |lists: &[Vec<i64>]| -> Vec<Vec<u8>> {
            self.elements.iter().zip(lists).map(|(e, list)| bytes(e, list)).collect()
        };
        let (sources, wanted) = (encode(&inputs), encode(&expected));
        let mut buffers: Vec<Input> = sources.into_iter().map(Input::Buffer).collect();
        buffers.extend(wanted.iter().map(|w| Input::Buffer(vec![0xee; w.len()])));
        let (out, _) = run(&ptx, "k", 1, &buffers, seed).unwrap_or_else(|e| panic!("{name}: {e}\n{text}\n{ptx}"));
        for (i, (got, want)) in out[self.elements.len()..].iter().zip(&wanted).enumerate() {
            if got != want {
                let size = self.elements[i].stored as usize / 8;
                let at = got.iter().zip(want).position(|(a, b)| a != b).expect("they differ") / size;
                panic!("{name}, {}: result {i} differs first at element {at}\n{text}", self.elements[i].name);
            }
        }
    }

    fn is_place(&self, operand: usize) -> bool {
        self.body.name == "argmax" && operand == 1
    }
}

/// Shapes and dimensions: ranks 1 to 3, few and many elements, and an extent of 1.
const SHAPES: &[(&[usize], usize)] = &[
    (&[1], 0),
    (&[2], 0),
    (&[64], 0),
    (&[4096], 0),
    (&[8, 1], 1),
    (&[1, 8], 0),
    (&[1, 2048], 1),
    (&[4, 256], 1),
    (&[256, 4], 0),
    (&[32, 32], 0),
    (&[32, 32], 1),
    (&[128, 8], 1),
    (&[4, 8, 16], 0),
    (&[4, 8, 16], 1),
    (&[16, 4, 32], 2),
    (&[2, 512, 2], 1),
];

/// Checks every `stride`th combination with every shape, and rotates through targets, levels and numbers of warps.
fn check_all(op: Op, cases: &[(&Body, Vec<Element>)], stride: usize) {
    let mut random = Random(3);
    let mut turn = 0;
    for (s, (shape, dim)) in SHAPES.iter().enumerate() {
        for (c, (body, elements)) in cases.iter().enumerate() {
            if !full() && (s + c) % stride != 0 {
                continue;
            }
            turn += 1;
            // Larger sums would not be exact.
            let small = elements.iter().any(|e| matches!(e.name, "bf16" | "f16")) && body.name == "add";
            if small && shape[*dim] > 256 {
                continue;
            }
            let case = Case { shape, dim: *dim, op, body, elements: elements.clone(), warps: [4, 1, 8, 2][turn % 4] };
            let target = ["sm_80", "sm_90", "sm_100", "sm_120"][turn / 2 % 4];
            let how = How { from: From::TileAa, target, level: [0, 3, 2][turn % 3] };
            case.check(&mut random, how, (turn % 2 == 0).then_some(turn as u64));
        }
    }
}

/// Each combination with one operand, for each type that supports it.
fn single() -> Vec<(&'static Body, Vec<Element>)> {
    let mut cases: Vec<(&'static Body, Vec<Element>)> = vec![];
    for e in ELEMENTS {
        cases.push((&MAX, vec![*e]));
        if e.has_arithmetic() {
            cases.push((&ADD, vec![*e]));
        }
        if !e.is_float() {
            cases.extend([(&XOR, vec![*e]), (&AND, vec![*e]), (&UMIN, vec![*e])]);
        }
    }
    cases
}

fn reductions_of_every_type() {
    check_all(Op::Reduce, &single(), 5);
}

fn scans_of_every_type() {
    check_all(Op::Scan { reverse: false }, &single(), 7);
    check_all(Op::Scan { reverse: true }, &single(), 9);
}

fn several_operands() {
    let cases = [
        (&ARGMAX, vec![F32, I32]),
        (&ARGMAX, vec![int("i16", 16, 16), I32]),
        (&THREE, vec![F32, int("i64", 64, 64), int("i8", 8, 8)]),
    ];
    check_all(Op::Reduce, &cases, 2);
    check_all(Op::Scan { reverse: false }, &cases, 3);
}

fn scans_keep_the_order() {
    let cases = [(&AFFINE, vec![I32, I32])];
    check_all(Op::Scan { reverse: false }, &cases, 1);
    check_all(Op::Scan { reverse: true }, &cases, 1);
}

/// If the combination returns one of its operands, the result can be any element, but all threads must have the same
/// one because control flow and addresses can depend on it.
fn all_threads_agree_on_a_result_that_depends_on_the_order() {
    for (shape, warps) in [(32, 1), (64, 2), (4096, 4), (4096, 8), (16, 4)] {
        let text = format!(
            "gpu.module @m {{
nv_tileaa.func @k(%out: !nv_tileaa.ptr<i32>) attributes {{numWarps = {warps} : i64}} {{
  %r = nv_tileaa.make_range : tensor<{shape}xi32>
  %s = nv_tileaa.reduce %r dim 0 identities [0 : i32] : tensor<{shape}xi32> -> i32 {{
  ^bb0(%a: i32, %b: i32):
    %c = arith.muli %a, %a : i32
    %k = arith.cmpi slt, %c, %c : i32
    %d = arith.select %k, %b, %a : i32
    nv_tileaa.yield %d : i32
  }}
  %i = nv_tileaa.make_range : tensor<1024xi32>
  %v = nv_tileaa.splat %s : i32 -> tensor<1024xi32>
  %o = nv_tileaa.splat %out : !nv_tileaa.ptr<i32> -> tensor<1024x!nv_tileaa.ptr<i32>>
  %p = nv_tileaa.addptr %o, %i : tensor<1024x!nv_tileaa.ptr<i32>>, tensor<1024xi32>
  %t = nv_tileaa.store <weak> %p, %v : tensor<1024x!nv_tileaa.ptr<i32>>, tensor<1024xi32>
  nv_tileaa.return
}} }}"
        );
        for level in [0, 3] {
            let ptx = ptx(&text, How { from: From::TileAa, target: "sm_90", level }).unwrap_or_else(|e| panic!("{e}"));
            let (out, _) = run(&ptx, "k", 1, &[Input::Buffer(vec![0xee; 4096])], Some(1)).unwrap();
            let values: Vec<&[u8]> = out[0].chunks(4).collect();
            assert!(values.iter().all(|v| *v == values[0]), "{shape} elements, {warps} warps, -O{level}");
            let value = i32::from_le_bytes(values[0].try_into().unwrap());
            assert!((0..shape).contains(&value), "{value} is no element");
        }
    }
}

/// `%x`: the values `32 * element + 1` in a tensor with shape `shape` and layout `l`.
fn numbers(shape: &str, count: usize, l: &str) -> String {
    format!(
        "%range = nv_tileas.make_range : tensor<{count}xi32, {l}>
         %index = nv_tileas.view %range : tensor<{count}xi32, {l}> -> tensor<{shape}xi32, {l}>
         %c32 = arith.constant dense<32> : tensor<{shape}xi32, {l}>
         %c1 = arith.constant dense<1> : tensor<{shape}xi32, {l}>
         %m = arith.muli %index, %c32 : tensor<{shape}xi32, {l}>
         %x = arith.addi %m, %c1 : tensor<{shape}xi32, {l}>\n"
    )
}

/// Stores `%v` with shape `shape` in row-major order.
fn stored(shape: &str, l: &str) -> String {
    format!(
        "%base = nv_tileas.splat %out : !nv_tileaa.ptr<i32> -> tensor<{shape}x!nv_tileaa.ptr<i32>, {l}>
         %p = nv_tileaa.addptr %base, %index : tensor<{shape}x!nv_tileaa.ptr<i32>, {l}>, tensor<{shape}xi32, {l}>
         %t = nv_tileas.store <weak> %p, %v vector 1 : tensor<{shape}x!nv_tileaa.ptr<i32>, {l}>, tensor<{shape}xi32, {l}>\n"
    )
}

fn run_layouts(text: &str, count: usize, case: usize) -> Vec<i32> {
    let target = ["sm_80", "sm_90", "sm_100", "sm_120"][case % 4];
    let how = How { from: From::Layouts, target, level: [0, 3][case % 2] };
    let ptx = ptx(text, how).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let seed = (!case.is_multiple_of(3)).then_some(case as u64);
    let (out, _) = run(&ptx, "k", 1, &[Input::Buffer(vec![0xee; 4 * count])], seed)
        .unwrap_or_else(|e| panic!("{e}\n{text}\n{ptx}"));
    out[0].chunks(4).map(|c| i32::from_le_bytes(c.try_into().expect("four bytes"))).collect()
}

/// Operands with layouts that no pass would choose: bits in any order, replicas, and vectors of several bits. The
/// sums are broadcast to all threads of their rows, so that every thread's sums are checked, not only the owners'.
fn reductions_of_any_layout() {
    let mut random = Random(7);
    for case in 0..if full() { 200 } else { 40 } {
        let warp_bits = random.below(4);
        let log2: Vec<u32> = (0..1 + random.below(3)).map(|_| random.below(5) as u32).collect();
        let bits: u32 = log2.iter().sum();
        let dim = random.below(log2.len());
        let layout = random.layout(bits, warp_bits, case % 4 == 0, case % 3);
        let shape = tile_layout::Shape::from_log2(log2.clone()).unwrap();
        if layout.validate(&shape).is_err() {
            continue;
        }
        let (reduced, result, _) = layout.reduce(&shape, dim).unwrap();
        let extents: Vec<usize> = log2.iter().map(|b| 1 << b).collect();
        let text_of = |s: &[usize]| s.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
        let mut kept = extents.clone();
        kept[dim] = 1;
        let (s, k, count) = (text_of(&extents), text_of(&kept), 1usize << bits);
        let (l, r) = (attribute(&layout), attribute(&reduced));
        let rest = text_of(&result.extents().iter().map(|e| *e as usize).collect::<Vec<_>>());
        let (to, back) = match result.rank() {
            0 => ("i32".to_string(), format!("%v = nv_tileas.splat %sum : i32 -> tensor<{s}xi32, {l}>\n")),
            _ => (
                format!("tensor<{rest}xi32, {r}>"),
                format!(
                    "%one = nv_tileas.view %sum : tensor<{rest}xi32, {r}> -> tensor<{k}xi32, {r}>
                     %v = nv_tileas.broadcast %one : tensor<{k}xi32, {r}> -> tensor<{s}xi32, {l}>\n"
                ),
            ),
        };
        let text = format!(
            "gpu.module @m {{\nnv_tileaa.func @k(%out: !nv_tileaa.ptr<i32>) attributes {{numWarps = {} : i64}} {{
             {}%sum = nv_tileas.reduce %x dim {dim} identities [0 : i32] : tensor<{s}xi32, {l}> -> {to} {{
             ^bb0(%a: i32, %b: i32):
               %c = arith.addi %a, %b : i32
               nv_tileas.yield %c : i32
             }}
             {back}{}nv_tileaa.return\n}} }}",
            1 << warp_bits,
            numbers(&s, count, &l),
            stored(&s, &l)
        );
        let mut sums = vec![0; 1 << result.bits()];
        let row = |e: usize| {
            let mut point = shape.unflatten(e as u64);
            point.remove(dim);
            result.flatten(&point) as usize
        };
        for e in 0..count {
            sums[row(e)] += 32 * e as i32 + 1;
        }
        let expected: Vec<i32> = (0..count).map(|e| sums[row(e)]).collect();
        assert_eq!(run_layouts(&text, count, case), expected, "{text}");
    }
}

/// The composition of functions `y -> x y + x`, for any layout and in both directions.
fn scans_of_any_layout() {
    let mut random = Random(11);
    for case in 0..if full() { 200 } else { 40 } {
        let warp_bits = random.below(3);
        let log2: Vec<u32> = (0..1 + random.below(3)).map(|_| random.below(5) as u32).collect();
        let bits: u32 = log2.iter().sum();
        let dim = random.below(log2.len());
        let layout = random.layout(bits, warp_bits, case % 5 == 0, case % 3);
        let shape = tile_layout::Shape::from_log2(log2.clone()).unwrap();
        if layout.validate(&shape).is_err() {
            continue;
        }
        let reverse = case % 2 == 1;
        let extents: Vec<String> = log2.iter().map(|b| (1 << b).to_string()).collect();
        let (s, count, l) = (extents.join("x"), 1usize << bits, attribute(&layout));
        let t = format!("tensor<{s}xi32, {l}>");
        let text = format!(
            "gpu.module @m {{\nnv_tileaa.func @k(%out: !nv_tileaa.ptr<i32>) attributes {{numWarps = {} : i64}} {{
             {}%w, %v = nv_tileas.scan %x, %x dim {dim} {}identities [1 : i32, 0 : i32] : {t}, {t} -> {t}, {t} {{
             ^bb0(%a0: i32, %b0: i32, %a1: i32, %b1: i32):
               %c = arith.muli %a0, %b0 : i32
               %d = arith.muli %a1, %b0 : i32
               %e = arith.addi %d, %b1 : i32
               nv_tileas.yield %c, %e : i32, i32
             }}
             {}nv_tileaa.return\n}} }}",
            1 << warp_bits,
            numbers(&s, count, &l),
            if reverse { "reverse " } else { "" },
            stored(&s, &l)
        );
        let x = |e: u64| 32 * e as i32 + 1;
        let expected: Vec<i32> = (0..count as u64)
            .map(|e| {
                let mut point = shape.unflatten(e);
                let end = point[dim];
                let extent = shape.extents()[dim];
                let run: Vec<u64> = if reverse { (end..extent).rev().collect() } else { (0..=end).collect() };
                run.into_iter().enumerate().fold(0, |sum: i32, (n, i)| {
                    point[dim] = i;
                    let v = x(shape.flatten(&point));
                    if n == 0 { v } else { sum.wrapping_mul(v).wrapping_add(v) }
                })
            })
            .collect();
        assert_eq!(run_layouts(&text, count, case), expected, "{text}");
    }
}

/// Counts how often each number occurs, for element types of any width, with and without a mask, and for small and
/// large ranges of numbers.
fn histograms() {
    for (elements, numbers, element, level) in [(256, 8, "i32", 3), (512, 64, "i8", 0), (2048, 256, "i16", 3)] {
        let text = format!(
            "gpu.module @m {{
nv_tileaa.func @k(%in: !nv_tileaa.ptr<i32>, %out: !nv_tileaa.ptr<i32>, %masked: !nv_tileaa.ptr<i32>) {{
  %r = nv_tileaa.make_range : tensor<{elements}xi32>
  %p0 = nv_tileaa.splat %in : !nv_tileaa.ptr<i32> -> tensor<{elements}x!nv_tileaa.ptr<i32>>
  %p = nv_tileaa.addptr %p0, %r : tensor<{elements}x!nv_tileaa.ptr<i32>>, tensor<{elements}xi32>
  %x, %t = nv_tileaa.load <weak> %p : tensor<{elements}x!nv_tileaa.ptr<i32>> -> tensor<{elements}xi32>
  %y = NARROW
  %half = arith.constant dense<{}> : tensor<{elements}xi32>
  %m = arith.cmpi ult, %r, %half : tensor<{elements}xi32>
  %h = nv_tileaa.histogram %y : tensor<{elements}x{element}> -> tensor<{numbers}xi32>
  %g = nv_tileaa.histogram %y mask %m : tensor<{elements}xi1> : tensor<{elements}x{element}> -> tensor<{numbers}xi32>
  %s = nv_tileaa.make_range : tensor<{numbers}xi32>
  %q0 = nv_tileaa.splat %out : !nv_tileaa.ptr<i32> -> tensor<{numbers}x!nv_tileaa.ptr<i32>>
  %q = nv_tileaa.addptr %q0, %s : tensor<{numbers}x!nv_tileaa.ptr<i32>>, tensor<{numbers}xi32>
  %u = nv_tileaa.store <weak> %q, %h : tensor<{numbers}x!nv_tileaa.ptr<i32>>, tensor<{numbers}xi32>
  %w0 = nv_tileaa.splat %masked : !nv_tileaa.ptr<i32> -> tensor<{numbers}x!nv_tileaa.ptr<i32>>
  %w = nv_tileaa.addptr %w0, %s : tensor<{numbers}x!nv_tileaa.ptr<i32>>, tensor<{numbers}xi32>
  %v = nv_tileaa.store <weak> %w, %g : tensor<{numbers}x!nv_tileaa.ptr<i32>>, tensor<{numbers}xi32>
  nv_tileaa.return
}} }}",
            elements / 2
        );
        let narrow = match element {
            "i32" => format!("arith.addi %x, %x : tensor<{elements}xi32>"),
            _ => format!("arith.trunci %x : tensor<{elements}xi32> to tensor<{elements}x{element}>"),
        };
        let text = text.replace("NARROW", &narrow);
        // Some numbers are out of the counted range, and some are negative.
        let input: Vec<i32> = (0..elements).map(|i: i32| (i.wrapping_mul(37) ^ (i >> 3)) % 150 - 20).collect();
        let number = |x: i32| match element {
            "i32" => i64::from(x.wrapping_add(x) as u32),
            "i16" => i64::from(x as u16),
            _ => i64::from(x as u8),
        };
        let count = |of: &[i32]| -> Vec<i32> {
            (0..numbers).map(|b| of.iter().filter(|x| number(**x) == b).count() as i32).collect()
        };
        let bytes = |list: &[i32]| list.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        let blank = || Input::Buffer(vec![0xff; 4 * numbers as usize]);
        for target in ["sm_80", "sm_90"] {
            let ptx = ptx(&text, How { from: From::TileAa, target, level }).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let (out, _) = run(&ptx, "k", 1, &[Input::Buffer(bytes(&input)), blank(), blank()], Some(3))
                .unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(out[1], bytes(&count(&input)), "{element}");
            assert_eq!(out[2], bytes(&count(&input[..elements as usize / 2])), "{element}, masked");
        }
    }
}

pub fn trials() -> Vec<Trial> {
    functions![
        reductions_of_every_type,
        scans_of_every_type,
        several_operands,
        scans_keep_the_order,
        all_threads_agree_on_a_result_that_depends_on_the_order,
        reductions_of_any_layout,
        scans_of_any_layout,
        histograms
    ]
}
