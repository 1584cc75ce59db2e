//! Random programs that move elements, compiled with given layouts and run on the simulator. The results are compared
//! with a model on the host.

use simulate::{From, How, Input, Random, attribute, ptx, run};
use tile_layout::Layout;
use tile_test_support::{Trial, functions, simulate};

/// Compiles and runs a kernel `k(%out, numbers...)` and returns the 64-bit results that it stored.
fn results(text: &str, count: usize, numbers: &[i32], level: u8, seed: Option<u64>) -> Vec<i64> {
    let target = ["sm_80", "sm_90", "sm_100", "sm_120"][(seed.unwrap_or(0) % 4) as usize];
    let ptx = ptx(text, How { from: From::Layouts, target, level }).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut inputs = vec![Input::Buffer(vec![0xee; count * 8])];
    inputs.extend(numbers.iter().map(|&n| Input::I32(n)));
    let (out, _) = run(&ptx, "k", 1, &inputs, seed).unwrap_or_else(|e| panic!("{e}\n{text}"));
    out[0].chunks(8).map(|c| i64::from_le_bytes(c.try_into().expect("eight bytes"))).collect()
}

/// A kernel that stores tensor `%v` of i64 elements with shape `shape` and layout `l` in row-major order.
fn kernel(warps: usize, parameters: &str, body: &str, shape: &str, l: &str) -> String {
    let count: usize = shape.split('x').map(|e| e.parse::<usize>().expect("an extent")).product();
    format!(
        "gpu.module @m {{
nv_tileaa.func @k(%out: !nv_tileaa.ptr<i64>{parameters}) attributes {{numWarps = {warps} : i64}} {{
{body}
  %st_r = nv_tileas.make_range : tensor<{count}xi32, {l}>
  %st_i = nv_tileas.view %st_r : tensor<{count}xi32, {l}> -> tensor<{shape}xi32, {l}>
  %st_p = nv_tileas.splat %out : !nv_tileaa.ptr<i64> -> tensor<{shape}x!nv_tileaa.ptr<i64>, {l}>
  %st_q = nv_tileaa.addptr %st_p, %st_i : tensor<{shape}x!nv_tileaa.ptr<i64>, {l}>, tensor<{shape}xi32, {l}>
  %st_t = nv_tileas.store <weak> %st_q, %v vector 1 : tensor<{shape}x!nv_tileaa.ptr<i64>, {l}>, tensor<{shape}xi64, {l}>
  nv_tileaa.return
}} }}"
    )
}

/// An element type with the ops that convert an i32 to it, and it to an i64.
struct Element {
    name: &'static str,
    bits: u32,
    /// `%b = ... %a`, between types `{i}` (of i32) and `{e}`.
    make: &'static str,
    /// `%b = ... %a`, between types `{e}` and `{l}` (of i64).
    unmake: &'static str,
}

const fn int(name: &'static str, bits: u32, make: &'static str, unmake: &'static str) -> Element {
    Element { name, bits, make, unmake }
}

const TRUNCATE: &str = "arith.trunci %a : {i} to {e}";
const EXTEND: &str = "arith.extui %a : {e} to {l}";

const ELEMENTS: &[Element] = &[
    int("i1", 1, TRUNCATE, EXTEND),
    int("i4", 4, TRUNCATE, EXTEND),
    int("i8", 8, TRUNCATE, EXTEND),
    int("i16", 16, TRUNCATE, EXTEND),
    int("i32", 32, "arith.addi %a, %a : {i}", EXTEND),
    int("i64", 64, "arith.extui %a : {i} to {e}", "arith.addi %a, %a : {l}"),
    int("f16", 11, "arith.uitofp %a : {i} to {e}", "arith.fptoui %a : {e} to {l}"),
    int("f32", 24, "arith.uitofp %a : {i} to {e}", "arith.fptoui %a : {e} to {l}"),
    int("f64", 53, "arith.uitofp %a : {i} to {e}", "arith.fptoui %a : {e} to {l}"),
    int("!nv_tileaa.ptr<i8>", 64, "nv_tileaa.int_to_ptr %wide : {l} -> {e}", "nv_tileaa.ptr_to_int %a : {e} -> {l}"),
];

/// Rotates through the types that can number all elements.
fn element(case: usize, count: usize) -> &'static Element {
    let e = &ELEMENTS[case % ELEMENTS.len()];
    // f16 does not represent all integers above 2048.
    if e.name == "f16" && count > 2048 { &ELEMENTS[3] } else { e }
}

impl Element {
    fn line(&self, text: &str, result: &str, a: &str, shape: &str, layout: &str) -> String {
        let t = |element: &str| format!("tensor<{shape}x{element}, {layout}>");
        let text = text.replace("{i}", &t("i32")).replace("{e}", &t(self.name)).replace("{l}", &t("i64"));
        if text.contains("%wide") {
            let wide = format!("{result}_wide");
            let extend = format!("  {wide} = arith.extui {a} : {} to {}\n", t("i32"), t("i64"));
            return format!("{extend}  {result} = {}\n", text.replace("%wide", &wide));
        }
        format!("  {result} = {}\n", text.replace("%a", a))
    }
    /// The value that an index becomes after conversion to the type and back.
    fn image(&self, index: u64) -> i64 {
        match self.name {
            "i32" | "i64" => (index * 2) as i64,
            _ if self.bits < 11 => (index & ((1 << self.bits) - 1)) as i64,
            _ => index as i64,
        }
    }
}

/// `%v`: the elements `make(0), make(1), ...` with shape `shape` and layout `l`.
fn range(e: &Element, result: &str, shape: &str, count: usize, l: &str) -> String {
    let mut text = format!("  {result}_r = nv_tileas.make_range : tensor<{count}xi32, {l}>\n");
    text +=
        &format!("  {result}_s = nv_tileas.view {result}_r : tensor<{count}xi32, {l}> -> tensor<{shape}xi32, {l}>\n");
    text + &e.line(e.make, result, &format!("{result}_s"), shape, l)
}

fn conversions_move_every_element() {
    conversions(Random(1), 60, 0);
}

fn conversions_of_big_tensors_move_every_element() {
    conversions(Random(11), 24, 7);
}

/// The tensors do not fit into the memory for conversions, which move them in parts.
fn conversions_in_parts_move_every_element() {
    let mut random = Random(21);
    for case in 0..14 {
        let registers = 5 + case as u32 % 3;
        conversion(&mut random, case, 3, 5 + 3 + registers);
    }
}

/// Conversions between random layouts of at least `least` register bits.
fn conversions(mut random: Random, cases: usize, least: u32) {
    for case in 0..cases {
        let warp_bits = random.below(if least == 0 { 3 } else { 2 });
        let bits = 5 + warp_bits as u32 + least + random.below(4) as u32;
        conversion(&mut random, case, warp_bits, bits);
    }
}

/// A conversion between random layouts of `2^bits` elements.
fn conversion(random: &mut Random, case: usize, warp_bits: usize, bits: u32) {
    let mixed = case.is_multiple_of(3);
    let from = random.layout(bits, warp_bits, mixed, case % 4);
    let mut to = random.layout(bits, warp_bits, mixed, case % 3);
    if case.is_multiple_of(2) {
        // Only lanes and registers are exchanged, so shuffles are enough.
        to = within_warps(random, &from);
    }
    let e = element(case, 1 << bits);
    let (count, a, b) = (1usize << bits, attribute(&from), attribute(&to));
    let shape = count.to_string();
    let mut body = range(e, "%x", &shape, count, &a);
    body +=
        &format!("  %y = nv_tileas.convert_layout %x : tensor<{count}x{0}, {a}> -> tensor<{count}x{0}, {b}>\n", e.name);
    body += &e.line(e.unmake, "%v", "%y", &shape, &b);
    let text = kernel(1 << warp_bits, "", &body, &shape, &b);
    let expected: Vec<i64> = (0..count as u64).map(|i| e.image(i)).collect();
    let level = [0, 3][case / 2 % 2];
    let seed = (!case.is_multiple_of(3)).then_some(case as u64);
    assert_eq!(results(&text, count, &[], level, seed), expected, "case {case}\n{text}");
}

/// A layout that differs from `l` by an exchange of register and lane bits.
fn within_warps(random: &mut Random, l: &Layout) -> Layout {
    let mut bases: Vec<u64> = l.register().iter().chain(l.lane()).copied().collect();
    for i in (1..bases.len()).rev() {
        let j = random.below(i + 1);
        bases.swap(i, j);
    }
    let (lane, register) = bases.split_at(5);
    Layout::new(register.to_vec(), lane.to_vec(), l.warp().to_vec(), vec![]).expect("five lanes")
}

fn slices_are_the_ones_asked_for() {
    slices(Random(2), 60, 0, 3);
}

fn slices_of_big_tensors_are_the_ones_asked_for() {
    slices(Random(12), 24, 12, 13);
}

/// Slices of tensors with at least `2^least` elements, cut by at most `2^most` in each dimension.
fn slices(mut random: Random, cases: usize, least: usize, most: usize) {
    for case in 0..cases {
        let warp_bits = random.below(if least == 0 { 3 } else { 2 });
        let mut log2: Vec<usize> = (0..2 + case % 2).map(|_| random.below(5)).collect();
        while log2.iter().sum::<usize>() < least {
            let d = random.below(log2.len());
            log2[d] += 1;
        }
        let cut: Vec<usize> = log2.iter().map(|&b| random.below(b.min(most) + 1)).collect();
        let whole: Vec<usize> = log2.iter().map(|b| 1 << b).collect();
        let part: Vec<usize> = log2.iter().zip(&cut).map(|(b, c)| 1 << (b - c)).collect();
        let (bits, part_bits) = (log2.iter().sum::<usize>(), log2.iter().sum::<usize>() - cut.iter().sum::<usize>());
        let from = random.layout(bits as u32, warp_bits, case % 4 == 0, case % 3);
        let shape_of = |extents: &[usize]| {
            tile_layout::Shape::new(&extents.iter().map(|&e| e as i64).collect::<Vec<_>>()).expect("powers of two")
        };
        let to = match case % 3 {
            0 => from.truncate(&shape_of(&whole), &shape_of(&part)).expect("one rank"),
            _ => random.layout(part_bits as u32, warp_bits, case % 4 == 1, case % 2),
        };
        let e = element(case, 1 << bits);
        let (a, b) = (attribute(&from), attribute(&to));
        let text_of = |s: &[usize]| s.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
        let (ws, ps) = (text_of(&whole), text_of(&part));
        let numbers: Vec<i32> = cut.iter().map(|&c| random.below(1 << c) as i32).collect();
        // Some indices are constants, and the others are parameters.
        let constant: Vec<bool> = cut.iter().map(|_| random.below(2) == 0).collect();
        let parameters: String = (0..cut.len()).map(|d| format!(", %p{d}: i32")).collect();
        let mut body = range(e, "%x", &ws, 1 << bits, &a);
        for (d, n) in numbers.iter().enumerate() {
            body += &format!("  %c{d} = arith.constant {n} : i32\n");
        }
        let list: Vec<String> =
            constant.iter().enumerate().map(|(d, &c)| format!("%{}{d}", if c { "c" } else { "p" })).collect();
        body += &format!(
            "  %y = nv_tileas.extract_slice %x[{}] : tensor<{ws}x{e}, {a}> -> tensor<{ps}x{e}, {b}>\n",
            list.join(", "),
            e = e.name
        );
        body += &e.line(e.unmake, "%v", "%y", &ps, &b);
        let text = kernel(1 << warp_bits, &parameters, &body, &ps, &b);
        let expected: Vec<i64> = (0..1usize << part_bits)
            .map(|i| {
                let (mut rest, mut index, mut scale) = (i, 0, 1);
                for d in (0..whole.len()).rev() {
                    index += (rest % part[d] + numbers[d] as usize * part[d]) * scale;
                    rest /= part[d];
                    scale *= whole[d];
                }
                e.image(index as u64)
            })
            .collect();
        let seed = (case % 3 > 0).then_some(case as u64);
        let got = results(&text, 1 << part_bits, &numbers, [3, 0][case / 3 % 2], seed);
        assert_eq!(got, expected, "case {case}, slice {numbers:?}\n{text}");
    }
}

fn concatenations_put_the_second_operand_behind() {
    concatenations(Random(3), 40, 0);
}

fn concatenations_of_big_tensors_put_the_second_operand_behind() {
    concatenations(Random(13), 16, 13);
}

/// Concatenations of tensors with at least `2^least` elements.
fn concatenations(mut random: Random, cases: usize, least: usize) {
    for case in 0..cases {
        let warp_bits = random.below(if least == 0 { 3 } else { 2 });
        let mut log2: Vec<usize> = (0..1 + case % 3).map(|_| 1 + random.below(4)).collect();
        while log2.iter().sum::<usize>() < least {
            let d = random.below(log2.len());
            log2[d] += 1;
        }
        let dim = random.below(log2.len());
        let whole: Vec<i64> = log2.iter().map(|b| 1 << b).collect();
        let mut half = whole.clone();
        half[dim] /= 2;
        let shape = tile_layout::Shape::new(&whole).expect("powers of two");
        let to = random.layout(shape.bits(), warp_bits, case % 4 == 0, case % 3);
        let (operand, _) = to.uncat(&shape, dim).expect("an extent of two or more");
        let e = element(case, 1 << shape.bits());
        let (a, b) = (attribute(&operand), attribute(&to));
        let text_of = |s: &[i64]| s.iter().map(i64::to_string).collect::<Vec<_>>().join("x");
        let (ws, hs) = (text_of(&whole), text_of(&half));
        let count = 1usize << (shape.bits() - 1);
        let mut body = range(e, "%x", &hs, count, &a);
        // The second operand counts down.
        let t = format!("tensor<{hs}xi32, {a}>");
        body += &format!("  %last = arith.constant dense<{}> : {t}\n", count - 1);
        body += &format!("  %back = arith.subi %last, %x_s : {t}\n");
        body += &e.line(e.make, "%y", "%back", &hs, &a);
        body += &format!(
            "  %z = nv_tileas.cat %x, %y, {dim} : tensor<{hs}x{e}, {a}> -> tensor<{ws}x{e}, {b}>\n",
            e = e.name
        );
        body += &e.line(e.unmake, "%v", "%z", &ws, &b);
        let text = kernel(1 << warp_bits, "", &body, &ws, &b);
        let expected: Vec<i64> = (0..count as u64 * 2)
            .map(|i| {
                let mut c = shape.unflatten(i);
                let second = c[dim] >= half[dim] as u64;
                c[dim] %= half[dim] as u64;
                let inner = c.iter().zip(&half).fold(0, |index, (c, &e)| index * e as u64 + c);
                e.image(if second { count as u64 - 1 - inner } else { inner })
            })
            .collect();
        assert_eq!(results(&text, 2 * count, &[], [0, 3][case % 2], None), expected, "case {case}\n{text}");
    }
}

/// A pattern of `bits` bits whose bytes differ from each other.
fn pattern(index: u64, bits: u32) -> u64 {
    let x = index.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x0123_4567_89ab_cdef;
    if bits == 64 { x } else { x & ((1 << bits) - 1) }
}

/// Text for [`pattern`]: `%v` with integers of the given width from the range `%v_s` of i32.
fn pattern_text(result: &str, bits: u32, count: usize, l: &str) -> String {
    let (i, w) = (format!("tensor<{count}xi32, {l}>"), format!("tensor<{count}xi64, {l}>"));
    let constant = |v: u64| v as i64;
    let mut text = format!("  {result}_s = nv_tileas.make_range : {i}\n");
    text += &format!("  {result}_m = arith.constant dense<{}> : {w}\n", constant(0x9e37_79b9_7f4a_7c15));
    text += &format!("  {result}_x = arith.constant dense<{}> : {w}\n", constant(0x0123_4567_89ab_cdef));
    text += &format!("  {result}_w = arith.extui {result}_s : {i} to {w}\n");
    text += &format!("  {result}_p = arith.muli {result}_w, {result}_m : {w}\n");
    let wide = if bits == 64 { result.to_string() } else { format!("{result}_q") };
    text += &format!("  {wide} = arith.xori {result}_p, {result}_x : {w}\n");
    if bits < 64 {
        text += &format!("  {result} = arith.trunci {wide} : {w} to tensor<{count}xi{bits}, {l}>\n");
    }
    text
}

fn packing_is_the_storage_of_a_tensor() {
    packing(Random(4), 1, 2);
}

fn packing_of_big_tensors_is_their_storage() {
    packing(Random(14), 7, 64);
}

/// Packs and unpacks tensors with up to `elements` 64-bit elements per thread, for one of `every` pairs of types.
fn packing(mut random: Random, every: usize, elements: usize) {
    // Widths of integers, and floats of the same width that a bitcast creates from them.
    let types: [(u32, &[&str]); 7] = [
        (1, &["i1"]),
        (4, &["i4", "f4E2M1FN"]),
        (8, &["i8"]),
        (16, &["i16", "f16", "bf16"]),
        (32, &["i32", "f32"]),
        (64, &["i64", "f64"]),
        (8, &["f8E4M3FN", "f8E5M2"]),
    ];
    let mut case = 0;
    for (from_bits, names) in types {
        for name in names {
            for to_bits in [1u32, 4, 16, 32, 64] {
                case += 1;
                if case % every != 0 {
                    continue;
                }
                let warp_bits = random.below(2);
                // At least one 64-bit element per thread.
                let log2 = elements.ilog2() as usize;
                let total_bits = 64usize << (5 + warp_bits + log2 / 2 + random.below(log2 / 2 + 1));
                let coarse_log2 = (total_bits / 64).ilog2();
                // The bytes are split into elements of the source type and joined to elements of the result type, so
                // all 64 bits must be in one thread.
                let coarse = random.layout(coarse_log2, warp_bits, false, case % 2);
                let at = |bits: u32| attribute(&coarse.split_elements((64 / bits).ilog2()));
                let (n, bytes, m) = (total_bits / from_bits as usize, total_bits / 8, total_bits / to_bits as usize);
                let (a, b, c) = (at(from_bits), at(8), at(to_bits));
                let mut body = pattern_text("%x", from_bits, n, &a);
                let mut source = "%x".to_string();
                if !name.starts_with('i') {
                    body += &format!(
                        "  %xf = nv_tileaa.bitcast %x : tensor<{n}xi{from_bits}, {a}> -> tensor<{n}x{name}, {a}>\n"
                    );
                    source = "%xf".into();
                }
                if from_bits == 8 {
                    // Byte-sized types are not packed.
                    body += &if name.starts_with('i') {
                        format!(
                            "  %p = nv_tileas.convert_layout {source} : tensor<{n}xi8, {a}> -> tensor<{n}xi8, {b}>\n"
                        )
                    } else {
                        format!("  %p = nv_tileaa.bitcast {source} : tensor<{n}x{name}, {a}> -> tensor<{n}xi8, {b}>\n")
                    };
                } else {
                    body += &format!(
                        "  %p = nv_tileas.pack {source} : tensor<{n}x{name}, {a}> -> tensor<{bytes}xi8, {b}>\n"
                    );
                }
                body +=
                    &format!("  %u = nv_tileas.unpack %p : tensor<{bytes}xi8, {b}> -> tensor<{m}xi{to_bits}, {c}>\n");
                body += &match to_bits {
                    64 => format!("  %v = arith.addi %u, %u : tensor<{m}xi64, {c}>\n"),
                    _ => format!("  %v = arith.extui %u : tensor<{m}xi{to_bits}, {c}> to tensor<{m}xi64, {c}>\n"),
                };
                let text = kernel(1 << warp_bits, "", &body, &m.to_string(), &c);
                let mut storage = vec![0u8; bytes];
                for i in 0..total_bits {
                    let (element, bit) = (i / from_bits as usize, i % from_bits as usize);
                    storage[i / 8] |= ((pattern(element as u64, from_bits) >> bit & 1) as u8) << (i % 8);
                }
                let expected: Vec<i64> = (0..m)
                    .map(|k| {
                        let bit = |j: usize| k * to_bits as usize + j;
                        let v = (0..to_bits as usize)
                            .fold(0u64, |v, j| v | u64::from(storage[bit(j) / 8] >> (bit(j) % 8) & 1) << j);
                        if to_bits == 64 { v.wrapping_mul(2) as i64 } else { v as i64 }
                    })
                    .collect();
                let got = results(&text, m, &[], [0, 3][case % 2], None);
                assert_eq!(got, expected, "{name} to i{to_bits}\n{text}");
            }
        }
    }
}

pub fn trials() -> Vec<Trial> {
    functions![
        conversions_move_every_element,
        conversions_of_big_tensors_move_every_element,
        conversions_in_parts_move_every_element,
        slices_are_the_ones_asked_for,
        slices_of_big_tensors_are_the_ones_asked_for,
        concatenations_put_the_second_operand_behind,
        concatenations_of_big_tensors_put_the_second_operand_behind,
        packing_is_the_storage_of_a_tensor,
        packing_of_big_tensors_is_their_storage
    ]
}
