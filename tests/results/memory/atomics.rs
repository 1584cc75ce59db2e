//! Atomic updates: a table of modes, types, orders, scopes and masks, compared with a model on the host.
//!
//! A kernel of three blocks updates slots of memory. All slots start with one value. The final values and the old
//! values that the kernel got must result from some order of the updates, which the model searches for.
//! Floating-point sums are sums of small integers, which are exact in every order.

use ptx_sim::Module;
use std::collections::{BTreeMap, HashSet};
use tile_test_support::{device::*, full};

const BLOCKS: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    I32,
    I64,
    F16,
    Bf16,
    F32,
    F64,
}
use Element::*;

impl Element {
    fn name(self) -> &'static str {
        match self {
            I32 => "i32",
            I64 => "i64",
            F16 => "f16",
            Bf16 => "bf16",
            F32 => "f32",
            F64 => "f64",
        }
    }
    fn bits(self) -> u32 {
        match self {
            F16 | Bf16 => 16,
            I32 | F32 => 32,
            I64 | F64 => 64,
        }
    }
    fn is_float(self) -> bool {
        !matches!(self, I32 | I64)
    }
    /// Encodes a small integer.
    fn encode(self, v: i64) -> u64 {
        match self {
            I32 => v as u32 as u64,
            I64 => v as u64,
            F64 => (v as f64).to_bits(),
            F32 => (v as f32).to_bits().into(),
            Bf16 => u64::from((v as f32).to_bits() >> 16),
            F16 => {
                let f = (v as f32).to_bits();
                let sign = u64::from(f >> 31) << 15;
                let (exponent, fraction) = (i64::from(f >> 23 & 255) - 127 + 15, u64::from(f >> 13 & 0x3ff));
                if v == 0 { sign } else { sign | (exponent as u64) << 10 | fraction }
            }
        }
    }
    /// Decodes a small integer.
    fn decode(self, bits: u64) -> i64 {
        match self {
            I32 => i64::from(bits as i32),
            I64 => bits as i64,
            F64 => f64::from_bits(bits) as i64,
            F32 => f32::from_bits(bits as u32) as i64,
            Bf16 => f32::from_bits((bits as u32) << 16) as i64,
            F16 if bits & 0x7fff == 0 => 0,
            F16 => {
                let significand = (bits & 0x3ff | 0x400) as f64;
                let value = significand * 2f64.powi((bits >> 10 & 31) as i32 - 25);
                if bits >> 15 == 1 { -value as i64 } else { value as i64 }
            }
        }
    }
}

/// Which slots the updates of the kernel access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spread {
    /// Each update its own slot.
    Apart,
    /// Eight updates per slot.
    Together,
    /// One scalar update per block, all to one slot.
    Scalar,
}

#[derive(Clone, Debug)]
struct Row {
    /// The mode, or `cas`.
    mode: &'static str,
    element: Element,
    order: &'static str,
    scope: &'static str,
    masked: bool,
    used: bool,
    spread: Spread,
    tile: usize,
}

impl Row {
    fn name(&self) -> String {
        let Row { mode, element, order, scope, tile, spread, .. } = self;
        let masked = if self.masked { "_masked" } else { "" };
        let used = if self.used { "_used" } else { "" };
        format!("{mode}_{}_{order}_{scope}{masked}{used}_{spread:?}_{tile}", element.name()).to_lowercase()
    }
    /// Blocks that share a slot must be in each other's scope.
    fn blocks(&self) -> usize {
        if self.scope == "tl_blk" && self.spread != Spread::Apart { 1 } else { BLOCKS }
    }
    fn count(&self) -> usize {
        if self.spread == Spread::Scalar { self.blocks() } else { self.blocks() * self.tile }
    }
    fn slots(&self) -> usize {
        match self.spread {
            Spread::Apart => self.count(),
            Spread::Together => self.count() / 8,
            Spread::Scalar => 1,
        }
    }

    /// The entry in the public language.
    fn text(&self) -> String {
        let e = self.element.name();
        let pointers =
            "%mem: tile<ptr<E>>, %val: tile<ptr<E>>, %cmp: tile<ptr<E>>, %msk: tile<ptr<i1>>, %out: tile<ptr<E>>";
        let n = self.tile;
        let scalar = self.spread == Spread::Scalar;
        let tile = |t: &str| if scalar { format!("tile<{t}>") } else { format!("tile<{n}x{t}>") };
        let mut s = format!("  entry @{}({pointers}) {{\n", self.name()).replace("<E>", &format!("<{e}>"));
        let mut line = |text: String| s += &format!("    {text}\n");
        line("%x, %y, %z = get_tile_block_id : tile<i32>".into());
        let at = |to: &str, base: &str, t: &str, index: &str, line: &mut dyn FnMut(String)| {
            if scalar {
                line(format!("%{to} = offset %{base}, %{index} : tile<ptr<{t}>>, tile<i32> -> tile<ptr<{t}>>"));
                return;
            }
            line(format!("%{to}_a = assume div_by<16>, %{base} : tile<ptr<{t}>>"));
            line(format!("%{to}_r = reshape %{to}_a : tile<ptr<{t}>> -> tile<1xptr<{t}>>"));
            line(format!("%{to}_b = broadcast %{to}_r : tile<1xptr<{t}>> -> tile<{n}xptr<{t}>>"));
            line(format!("%{to} = offset %{to}_b, %{index} : tile<{n}xptr<{t}>>, tile<{n}xi32> -> tile<{n}xptr<{t}>>"));
        };
        if scalar {
            line("%index = bitcast %x : tile<i32> -> tile<i32>".into());
            line("%slot = constant <i32: 0> : tile<i32>".into());
        } else {
            line(format!("%n = constant <i32: {n}> : tile<i32>"));
            line("%start = muli %x, %n : tile<i32>".into());
            line("%start_r = reshape %start : tile<i32> -> tile<1xi32>".into());
            line(format!("%start_b = broadcast %start_r : tile<1xi32> -> tile<{n}xi32>"));
            line(format!("%lane = iota : tile<{n}xi32>"));
            line(format!("%index = addi %start_b, %lane : tile<{n}xi32>"));
            if self.spread == Spread::Together {
                line(format!("%k = constant <i32: {}> : tile<{n}xi32>", self.slots()));
                line(format!("%slot = remi %index, %k unsigned : tile<{n}xi32>"));
            } else {
                line(format!("%zero = constant <i32: 0> : tile<{n}xi32>"));
                line(format!("%slot = addi %index, %zero : tile<{n}xi32>"));
            }
        }
        at("values", "val", e, "index", &mut line);
        line(format!("%v, %tv = load_ptr_tko weak %values : {} -> {}, token", tile(&format!("ptr<{e}>")), tile(e)));
        let (mut mask, mut mask_type) = (String::new(), String::new());
        if self.masked {
            at("masks", "msk", "i1", "index", &mut line);
            line(format!("%m, %tm = load_ptr_tko weak %masks : {} -> {}, token", tile("ptr<i1>"), tile("i1")));
            (mask, mask_type) = (", %m".into(), format!(", {}", tile("i1")));
        }
        at("slots", "mem", e, "slot", &mut line);
        let (order, scope, mode) = (self.order, self.scope, self.mode);
        let pointer = tile(&format!("ptr<{e}>"));
        if mode == "cas" {
            at("compares", "cmp", e, "index", &mut line);
            line(format!("%c, %tc = load_ptr_tko weak %compares : {pointer} -> {}, token", tile(e)));
            line(format!(
                "%o, %to = atomic_cas_tko {order} {scope} %slots, %c, %v{mask} token=%tv : {pointer}, {}{mask_type} -> {}, token",
                tile(e),
                tile(e)
            ));
        } else {
            line(format!(
                "%o, %to = atomic_rmw_tko {order} {scope} %slots, {mode}, %v{mask} token=%tv : {pointer}, {}{mask_type} -> {}, token",
                tile(e),
                tile(e)
            ));
        }
        if self.used {
            at("outs", "out", e, "index", &mut line);
            line(format!("%ts = store_ptr_tko weak %outs, %o token=%to : {pointer}, {} -> token", tile(e)));
        }
        line("return".into());
        s + "  }\n"
    }

    /// The new value of a slot.
    fn apply(&self, old: u64, value: u64, compare: u64) -> u64 {
        let t = self.element;
        let number = |bits| t.decode(bits);
        let (a, b) = (number(old), number(value));
        let width = t.bits();
        let cut = |v: u64| if width == 64 { v } else { v & ((1 << width) - 1) };
        match self.mode {
            "and" => old & value,
            "or" => old | value,
            "xor" => old ^ value,
            "add" => cut(old.wrapping_add(value)),
            "addf" => t.encode(a + b),
            "max" => t.encode(a.max(b)),
            "min" => t.encode(a.min(b)),
            "umax" => old.max(value),
            "umin" => old.min(value),
            "xchg" => value,
            "cas" if old == compare => value,
            "cas" => old,
            other => panic!("no mode {other}"),
        }
    }

    fn run(&self, module: &Module, schedule: Option<u64>) -> Result<(), String> {
        let t = self.element;
        let (n, slots) = (self.count(), self.slots());
        let mut numbers = Numbers(n as u64 + u64::from(t.bits()) + self.mode.len() as u64);
        // Sums of the nine numbers of a slot fit into the 8 significand bits of a bf16.
        let mut number = || {
            if t.is_float() {
                t.encode(numbers.below(27) as i64 - 13)
            } else {
                t.encode((numbers.draw() ^ numbers.draw() << 32) as i64)
            }
        };
        let memory: Vec<u64> = (0..slots).map(|_| number()).collect();
        let values: Vec<u64> = (0..n).map(|_| number()).collect();
        let slot = |i: usize| if self.spread == Spread::Scalar { 0 } else { i % slots };
        // Half of the comparisons succeed, unless another update has changed the slot.
        let compares: Vec<u64> = (0..n).map(|i| if i % 2 == 0 { memory[slot(i)] } else { values[i] }).collect();
        let mask: Vec<u64> = (0..n).map(|i| u64::from(i % 3 != 1) * (1 + i as u64 % 2)).collect();
        let mut run = Run::default();
        let p = run.memory(&pack(&memory, t.bits()));
        run.memory(&pack(&values, t.bits()));
        run.memory(&pack(&compares, t.bits()));
        run.memory(&pack(&mask, 8));
        let out = run.memory(&vec![0; n * t.bits() as usize / 8]);
        run.launch(module, &self.name(), self.blocks() as u32, schedule).map_err(|e| e.to_string())?;
        let after = unpack(&run.read(p, slots * t.bits() as usize / 8), t.bits());
        let old = unpack(&run.read(out, n * t.bits() as usize / 8), t.bits());
        let mut of_slot: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for i in 0..n {
            let on = !self.masked || mask[i] != 0;
            if on {
                of_slot.entry(slot(i)).or_default().push(i);
            } else if self.used && self.mode == "cas" && old[i] != compares[i] {
                return Err(format!("element {i} is masked off and got {:#x}, not {:#x}", old[i], compares[i]));
            }
        }
        for (s, &end) in after.iter().enumerate() {
            let updates = of_slot.remove(&s).unwrap_or_default();
            let apply = |i: usize, v: u64| self.apply(v, values[i], compares[i]);
            let got = |i: usize| self.used.then_some(old[i]);
            if !in_some_order(memory[s], end, &updates, &apply, &got) {
                let list: Vec<String> =
                    updates.iter().map(|&i| format!("{:#x} (got {:#x})", values[i], old[i])).collect();
                return Err(format!("slot {s}: {:#x} became {end:#x} by {}", memory[s], list.join(", ")));
            }
        }
        Ok(())
    }
}

/// Whether some order of the updates leads from `start` to `end` and gives the updates the old values that they got.
/// Takes at most 64 updates.
fn in_some_order(
    start: u64,
    end: u64,
    updates: &[usize],
    apply: &dyn Fn(usize, u64) -> u64,
    got: &dyn Fn(usize) -> Option<u64>,
) -> bool {
    assert!(updates.len() <= 64);
    // The values that a slot can hold when some of the updates are done. Orders that lead to the same value with the
    // same remaining updates are followed only once; otherwise a slot with eight updates would have 40 320 orders.
    let mut reached = HashSet::new();
    let mut open = vec![(start, 0u64)];
    while let Some((value, done)) = open.pop() {
        if done.count_ones() as usize == updates.len() {
            if value == end {
                return true;
            }
            continue;
        }
        for (k, &i) in updates.iter().enumerate() {
            if done >> k & 1 == 0 && got(i).is_none_or(|v| v == value) {
                let next = (apply(i, value), done | 1 << k);
                if reached.insert(next) {
                    open.push(next);
                }
            }
        }
    }
    false
}

/// Modes with the element types that the language allows for them.
fn kinds() -> Vec<(&'static str, Element)> {
    let integer = ["and", "or", "xor", "add", "max", "min", "umax", "umin"];
    let mut list: Vec<_> = integer.iter().flat_map(|m| [(*m, I32), (*m, I64)]).collect();
    list.extend([F16, Bf16, F32, F64].map(|t| ("addf", t)));
    list.extend([I32, I64, F32, F64].map(|t| ("xchg", t)));
    list.extend([I32, I64, F32, F64].map(|t| ("cas", t)));
    list
}

const ORDERS: [&str; 4] = ["relaxed", "acquire", "release", "acq_rel"];
const SCOPES: [&str; 3] = ["tl_blk", "device", "sys"];

fn rows() -> Vec<Row> {
    let mut rows = vec![];
    for (mode, element) in kinds() {
        let row = Row {
            mode,
            element,
            order: "relaxed",
            scope: "device",
            masked: false,
            used: false,
            spread: Spread::Apart,
            tile: 512,
        };
        rows.push(Row { masked: true, used: true, spread: Spread::Together, tile: 64, ..row.clone() });
        rows.push(Row { order: "acq_rel", used: true, ..row.clone() });
        rows.push(Row { used: true, order: "acq_rel", spread: Spread::Scalar, tile: 1, ..row.clone() });
        rows.push(Row { spread: Spread::Together, tile: 16, ..row.clone() });
        // The widest vectors, with and without an old value.
        if element.is_float() {
            rows.push(Row { tile: 2048, ..row.clone() });
            rows.push(Row { tile: 2048, used: true, masked: true, ..row.clone() });
        }
    }
    let representatives = if full() { kinds() } else { vec![("add", I32), ("addf", Bf16), ("cas", I64)] };
    for (mode, element) in representatives {
        for order in ORDERS {
            for scope in SCOPES {
                for (masked, used) in [(false, false), (true, false), (false, true), (true, true)] {
                    let (spread, tile) = (Spread::Together, 128);
                    rows.push(Row { mode, element, order, scope, masked, used, spread, tile });
                }
            }
        }
    }
    rows
}

/// The maximum number of kernels in a module.
const CHUNK: usize = 40;

fn modules() -> Vec<(String, Vec<Row>)> {
    let rows = rows();
    let module = |rows: &[Row]| {
        let entries: String = rows.iter().map(Row::text).collect();
        (format!("cuda_tile.module @m {{\n{entries}}}\n"), rows.to_vec())
    };
    rows.chunks(CHUNK).map(module).collect()
}

/// Runs one part of the table.
pub fn table(part: usize) -> Result<(), String> {
    let Some((text, rows)) = modules().into_iter().nth(part) else { return Err("no such part".into()) };
    let mut problems = vec![];
    for (target, level) in configurations() {
        let ptx = compile(&text, target, level)?;
        let module = Module::parse(&ptx).map_err(|e| e.to_string())?;
        for row in &rows {
            for schedule in schedules() {
                if let Err(e) = row.run(&module, *schedule) {
                    problems.push(format!("{target} -O{level} {schedule:?} {}: {e}", row.name()));
                }
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

pub fn parts() -> usize {
    modules().len()
}

/// Assembles every kernel of the table for every target.
pub fn assembles(part: usize) -> Result<(), String> {
    let Some((text, _)) = modules().into_iter().nth(part) else { return Err("no such part".into()) };
    assemble_everywhere(&text, 3)
}

/// Sums that overflow or are subnormal. `addf` rounds to nearest even. For f32 only, the memory unit flushes
/// subnormals to zero.
pub fn special_sums() -> Result<(), String> {
    type Case = (u64, u64, u64);
    let f16: &[Case] = &[
        (0x7bff, 0x7bff, 0x7c00),
        (0x0001, 0x0001, 0x0002),
        (0x8001, 0x0000, 0x8001),
        (0x7c00, 0xfc00, 0x7fff),
        (0x7e01, 0x3c00, 0x7fff),
        (0x3c00, 0x1000, 0x3c00),
        (0x3c01, 0x1000, 0x3c02),
        (0x8000, 0x8000, 0x8000),
        (0x8000, 0x0000, 0x0000),
    ];
    let bf16: &[Case] = &[
        (0x7f7f, 0x7f7f, 0x7f80),
        (0x0001, 0x0001, 0x0002),
        (0x8001, 0x0000, 0x8001),
        (0x7f80, 0xff80, 0x7fff),
        (0x7fc1, 0x3f80, 0x7fff),
        (0x3f80, 0x3b80, 0x3f80),
        (0x3f81, 0x3b80, 0x3f82),
        (0x8000, 0x8000, 0x8000),
        (0x8000, 0x0000, 0x0000),
    ];
    let f32: &[Case] = &[
        (0x7f7fffff, 0x7f7fffff, 0x7f800000),
        (0x00000001, 0x00000001, 0x00000000),
        (0x80000001, 0x80000001, 0x80000000),
        (0x00800000, 0x80000001, 0x00800000),
        (0x7f800000, 0xff800000, 0x7fffffff),
        (0x3f800000, 0x33800000, 0x3f800000),
        (0x3f800001, 0x33800000, 0x3f800002),
        (0x80000000, 0x80000000, 0x80000000),
    ];
    let f64: &[Case] = &[
        (0x7fefffffffffffff, 0x7fefffffffffffff, 0x7ff0000000000000),
        (0x0000000000000001, 0x0000000000000001, 0x0000000000000002),
        (0x3ff0000000000000, 0x3ca0000000000000, 0x3ff0000000000000),
        (0x3ff0000000000001, 0x3ca0000000000000, 0x3ff0000000000002),
        (0x8000000000000000, 0x8000000000000000, 0x8000000000000000),
    ];
    let mut problems = vec![];
    for (element, cases) in [(F16, f16), (Bf16, bf16), (F32, f32), (F64, f64)] {
        for tile in [16, 512] {
            let row = Row {
                mode: "addf",
                element,
                order: "relaxed",
                scope: "device",
                masked: false,
                used: true,
                spread: Spread::Apart,
                tile,
            };
            let text = format!("cuda_tile.module @m {{\n{}}}\n", row.text());
            for (target, level) in configurations() {
                let ptx = compile(&text, target, level)?;
                let module = Module::parse(&ptx).map_err(|e| e.to_string())?;
                let n = row.count();
                let pick = |f: fn(&Case) -> u64| -> Vec<u64> { (0..n).map(|i| f(&cases[i % cases.len()])).collect() };
                let (a, b, sum) = (pick(|c| c.0), pick(|c| c.1), pick(|c| c.2));
                let mut run = Run::default();
                let p = run.memory(&pack(&a, element.bits()));
                for _ in 0..3 {
                    run.memory(&pack(&b, element.bits()));
                }
                let out = run.memory(&pack(&b, element.bits()));
                run.launch(&module, &row.name(), row.blocks() as u32, None).map_err(|e| e.to_string())?;
                let bytes = n * element.bits() as usize / 8;
                for (what, p, want) in [("sums", p, &sum), ("old values", out, &a)] {
                    let got = unpack(&run.read(p, bytes), element.bits());
                    if let Some(i) = (0..n).find(|&i| got[i] != want[i]) {
                        problems.push(format!(
                            "{target} -O{level} {} {what}: {:#x} + {:#x} gave {:#x}, not {:#x}",
                            element.name(),
                            a[i],
                            b[i],
                            got[i],
                            want[i]
                        ));
                    }
                }
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}
