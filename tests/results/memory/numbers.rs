//! 16-bit arithmetic on all operands, and integer conversions around every tie, compared bit by bit.
//!
//! Every number of a format is combined with some partners, which are the edge cases of the format. The results are
//! compared with a model that decodes, compares and rounds exactly.

use ptx_sim::Module;
use tile_test_support::device::*;

/// Elements of a tile. Each block processes one tile.
const TILE: usize = 1024;

/// A float format. Overflow gives infinity if the format has infinities, and NaN otherwise.
#[derive(Clone, Copy)]
struct Format {
    name: &'static str,
    exponent: u32,
    fraction: u32,
    infinities: bool,
    /// The number of bits below the fraction, which are zero in memory.
    unused: u32,
}

const F16: Format = Format { name: "f16", exponent: 5, fraction: 10, infinities: true, unused: 0 };
const BF16: Format = Format { name: "bf16", exponent: 8, fraction: 7, infinities: true, unused: 0 };
const F32: Format = Format { name: "f32", exponent: 8, fraction: 23, infinities: true, unused: 0 };
const F64: Format = Format { name: "f64", exponent: 11, fraction: 52, infinities: true, unused: 0 };
const TF32: Format = Format { name: "tf32", exponent: 8, fraction: 10, infinities: true, unused: 13 };
const F8E4M3: Format = Format { name: "f8E4M3FN", exponent: 4, fraction: 3, infinities: false, unused: 0 };
const F8E5M2: Format = Format { name: "f8E5M2", exponent: 5, fraction: 2, infinities: true, unused: 0 };

impl Format {
    fn bits(self) -> u32 {
        1 + self.exponent + self.fraction + self.unused
    }
    fn sign(self) -> u64 {
        1 << (self.exponent + self.fraction)
    }
    /// Exponent and fraction bits of infinity, or of NaN if there is no infinity.
    fn top(self) -> u64 {
        let ones = (1 << self.exponent) - 1;
        if self.infinities { ones << self.fraction } else { self.sign() - 1 }
    }
    fn is_nan(self, bits: u64) -> bool {
        let magnitude = bits & (self.sign() - 1);
        if self.infinities { magnitude > self.top() } else { magnitude == self.top() }
    }
    /// The NaN that the machine returns.
    fn canonical(self) -> u64 {
        if self.name == "f64" { 0xfff8 << 48 } else { self.sign() - 1 }
    }
    /// A key that orders all numbers and distinguishes the two zeros.
    fn key(self, bits: u64) -> i64 {
        let magnitude = (bits & (self.sign() - 1)) as i64;
        if bits & self.sign() != 0 { -magnitude - 1 } else { magnitude }
    }
    fn edges(self) -> Vec<u64> {
        let infinity = self.top();
        let one = ((1 << (self.exponent - 1)) - 1) << self.fraction;
        // Zero, the smallest numbers, one, the largest, infinity, a signaling and a quiet NaN.
        let magnitudes =
            [0, 1, 1 << self.fraction, one, infinity - 1, infinity, infinity + 1, infinity | 1 << (self.fraction - 1)];
        magnitudes.iter().flat_map(|m| [*m, m | self.sign()]).collect()
    }

    /// Rounds an integer to nearest even.
    fn round(self, n: i128) -> u64 {
        let sign = if n < 0 { self.sign() } else { 0 };
        let magnitude = n.unsigned_abs();
        if magnitude == 0 {
            return 0;
        }
        let top = 127 - magnitude.leading_zeros();
        let bias = (1i64 << (self.exponent - 1)) - 1;
        // Includes the leading one. A carry from rounding goes into the exponent.
        let mantissa = if top <= self.fraction {
            (magnitude << (self.fraction - top)) as u64
        } else {
            let cut = top - self.fraction;
            let (kept, rest, half) = (magnitude >> cut, magnitude & ((1 << cut) - 1), 1u128 << (cut - 1));
            (kept + u128::from(rest > half || rest == half && kept & 1 == 1)) as u64
        };
        let number = ((i64::from(top) + bias - 1) as u64) << self.fraction;
        let number = number.saturating_add(mantissa);
        let largest = if self.infinities { self.top() } else { self.top() - 1 };
        (sign | if number > largest { self.top() } else { number }) << self.unused
    }
}

/// Runs `entry` over `operands` and compares each resulting element with `want`.
fn check(
    module: &Module,
    entry: &str,
    schedule: Option<u64>,
    operands: &[(&[u64], u32)],
    results: u32,
    want: impl Fn(usize) -> u64,
) -> Result<(), String> {
    let mut run = Run::default();
    let count = operands[0].0.len();
    for (values, bits) in operands {
        assert_eq!(values.len(), count);
        run.memory(&pack(values, *bits));
    }
    let bytes = count * results as usize / 8;
    let out = run.memory(&vec![0; bytes]);
    run.launch(module, entry, (count / TILE) as u32, schedule).map_err(|e| format!("{entry}: {e}"))?;
    let got = unpack(&run.read(out, bytes), results);
    match (0..count).find(|&i| got[i] != want(i)) {
        None => Ok(()),
        Some(i) => {
            let given: Vec<String> = operands.iter().map(|(v, _)| format!("{:#x}", v[i])).collect();
            Err(format!("{entry} of {} is {:#x}, not {:#x}", given.join(", "), got[i], want(i)))
        }
    }
}

/// An entry that loads tiles `%a0`, `%a1`, … of its block, computes `%r` and stores it.
fn entry(name: &str, operands: &[&str], result: &str, body: &str) -> String {
    let all: Vec<&str> = operands.iter().copied().chain([result]).collect();
    let parameters: Vec<String> = all.iter().enumerate().map(|(n, t)| format!("%p{n}: tile<ptr<{t}>>")).collect();
    let mut s =
        format!("  entry @{name}({}) {{\n    %x, %y, %z = get_tile_block_id : tile<i32>\n", parameters.join(", "));
    for (n, t) in all.iter().enumerate() {
        let memory = format!("tensor_view<?x{t}, strides=[1]>");
        let view = format!("partition_view<tile=({TILE}), {memory}>");
        s += &format!(
            "    %size{n}, %sy{n}, %sz{n} = get_num_tile_blocks : tile<i32>
    %tile{n} = constant <i32: {TILE}> : tile<i32>
    %count{n} = muli %size{n}, %tile{n} : tile<i32>
    %m{n} = make_tensor_view %p{n}, shape = [%count{n}], strides = [1] : tile<i32> -> {memory}
    %v{n} = make_partition_view %m{n} : {view}\n"
        );
        if n < operands.len() {
            s += &format!(
                "    %a{n}, %t{n} = load_view_tko weak %v{n}[%x] : {view}, tile<i32> -> tile<{TILE}x{t}>, token\n"
            );
        } else {
            s += &format!("    {body}\n");
            s += &format!(
                "    %t{n} = store_view_tko weak %r, %v{n}[%x] : tile<{TILE}x{t}>, {view}, tile<i32> -> token\n"
            );
        }
    }
    s + "    return\n  }\n"
}

/// Compiles `entries` for the targets of this run and calls `test` with each module.
fn each(entries: &str, mut test: impl FnMut(&Module) -> Result<(), String>) -> Result<(), String> {
    let text = format!("cuda_tile.module @m {{\n{entries}}}\n");
    let mut problems = vec![];
    for (target, level) in configurations() {
        let module = Module::parse(&compile(&text, target, level)?).map_err(|e| e.to_string())?;
        if let Err(e) = test(&module) {
            problems.push(format!("{target} -O{level} {e}"));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

/// Maxima and minima of all 16-bit numbers with the edge cases of their format, and of the edge cases of the wider
/// formats.
pub fn extremes() -> Result<(), String> {
    const FORMATS: [Format; 4] = [F16, BF16, F32, F64];
    let entries: String = FORMATS
        .iter()
        .flat_map(|f| ["maxf", "minf"].map(|op| (f.name, op)))
        .flat_map(|(t, op)| ["", " propagate_nan"].map(|nan| (t, op, nan)))
        .map(|(t, op, nan)| {
            let body = format!("%r = {op} %a0, %a1{nan} : tile<{TILE}x{t}>");
            entry(&format!("{op}_{t}{}", nan.replace(' ', "_")), &[t, t], t, &body)
        })
        .collect();
    each(&entries, |module| {
        for f in FORMATS {
            let (mut left, mut right) = (vec![], vec![]);
            let edges = f.edges();
            let all: Vec<u64> = if f.bits() == 16 { (0..1 << 16).collect() } else { edges.clone() };
            for (n, e) in edges.iter().enumerate() {
                for a in &all {
                    // Alternate the order of the operands.
                    let (a, b) = if n % 2 == 0 { (*a, *e) } else { (*e, *a) };
                    left.push(a);
                    right.push(b);
                }
            }
            let count = left.len().next_multiple_of(TILE);
            left.resize(count, 0);
            right.resize(count, 0);
            for (op, max) in [("maxf", true), ("minf", false)] {
                for (suffix, propagate) in [("", false), ("_propagate_nan", true)] {
                    let want = |i: usize| {
                        let (a, b) = (left[i], right[i]);
                        match (f.is_nan(a), f.is_nan(b)) {
                            (true, true) => f.canonical(),
                            (true, false) | (false, true) if propagate => f.canonical(),
                            (true, false) => b,
                            (false, true) => a,
                            _ if (f.key(a) > f.key(b)) == max => a,
                            _ => b,
                        }
                    };
                    let operands = [(&left[..], f.bits()), (&right[..], f.bits())];
                    check(module, &format!("{op}_{}{suffix}", f.name), None, &operands, f.bits(), want)?;
                }
            }
        }
        Ok(())
    })
}

/// Integers to floats: all 8-bit and 16-bit integers, and the neighborhood of every tie for the wider ones.
pub fn conversions() -> Result<(), String> {
    const FORMATS: [Format; 7] = [F16, BF16, F32, F64, TF32, F8E4M3, F8E5M2];
    const INTEGERS: [(&str, u32); 4] = [("i8", 8), ("i16", 16), ("i32", 32), ("i64", 64)];
    let signs = |i| ["signed", "unsigned"].map(|s| (i, s));
    let combinations = || INTEGERS.into_iter().flat_map(signs).flat_map(|(i, s)| FORMATS.map(|f| (i, s, f)));
    let entries: String = combinations()
        .map(|((i, _), sign, f)| {
            let body = format!("%r = itof %a0 {sign} : tile<{TILE}x{i}> -> tile<{TILE}x{}>", f.name);
            entry(&format!("{i}_{sign}_{}", f.name), &[i], f.name, &body)
        })
        .collect();
    each(&entries, |module| {
        for ((name, bits), sign, f) in combinations() {
            let mut values: Vec<u64> = match bits {
                8 | 16 => (0..1 << bits).collect(),
                _ => ties(bits, f.fraction),
            };
            values.resize(values.len().next_multiple_of(TILE), 0);
            let want = |i: usize| {
                let v = values[i];
                let negative = sign == "signed" && v >> (bits - 1) != 0;
                f.round(if negative { i128::from(v) - (1 << bits) } else { v.into() })
            };
            check(module, &format!("{name}_{sign}_{}", f.name), None, &[(&values, bits)], f.bits(), want)?;
        }
        Ok(())
    })
}

/// Numbers of `bits` bits, of both signs and of every magnitude. The first bits are a significand of `fraction` bits
/// plus a few more bits, and the last bits say on which side of a tie the number is.
fn ties(bits: u32, fraction: u32) -> Vec<u64> {
    let mut numbers = Numbers(bits.into());
    let all = u64::MAX >> (64 - bits);
    let mut values = vec![0, all, all >> 1, (all >> 1) + 1];
    for top in 0..bits {
        for odd in 0..4 {
            let leading = 1u64 << top;
            let random = numbers.draw() << 32 ^ numbers.draw();
            let Some(cut) = top.checked_sub(fraction).filter(|cut| *cut > 0) else {
                values.push(leading | random & (leading - 1));
                continue;
            };
            let last = 1u64 << cut;
            // The kept bits are random, all ones, or end in 0 or 1.
            let kept = match odd {
                0 => leading | (leading - 1) & !(last - 1),
                1 => leading | random & (leading - 1) & !(last - 1) & !last,
                _ => leading | random & (leading - 1) & !(last - 1) | last,
            };
            let half = last >> 1;
            for rest in [half.wrapping_sub(1) & (last - 1), half, (half + 1) & (last - 1), 1 & (last - 1), last - 1] {
                values.extend([kept | rest, (kept | rest).wrapping_neg() & all]);
            }
        }
    }
    values
}
