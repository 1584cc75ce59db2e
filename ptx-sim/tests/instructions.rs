//! Compares the table of matrix instructions with the simulator: which instructions exist, and their fragments.
//!
//! The simulator has separate rules, written from the PTX ISA. The tests only enumerate the table: the simulator
//! decides whether a combination exists, and the table's fragments fill registers for it, whose products must then be
//! right.

use ptx_sim::num::Format;
use ptx_sim::tensor::fragment::{Position, wgmma_a, wgmma_d};
use ptx_sim::tensor::{
    Accumulator, BlockScale, Element, InstructionDescriptor, Major, MmaBitOp, MmaSync, ScaleOperand, Tcgen05Kind,
    Tcgen05Mma, Wgmma,
};
use std::collections::BTreeSet;
use tile_layout::{Layout, Operand};
use tile_mma::{Element as E, Instruction, ROWS, Unit};

fn element(e: E) -> Option<Element> {
    Some(match e {
        E::F16 => Element::F16,
        E::Bf16 => Element::Bf16,
        E::Tf32 => Element::Tf32,
        E::F64 => Element::F64,
        E::E4m3 => Element::E4m3,
        E::E5m2 => Element::E5m2,
        E::E3m2 => Element::E3m2,
        E::E2m3 => Element::E2m3,
        E::E2m1 => Element::E2m1,
        E::S8 => Element::S8,
        E::U8 => Element::U8,
        E::S4 => Element::S4,
        E::U4 => Element::U4,
        E::B1 => Element::B1,
        _ => return None,
    })
}

fn accumulator(e: E) -> Option<Accumulator> {
    Some(match e {
        E::F16 => Accumulator::F16,
        E::F32 => Accumulator::F32,
        E::F64 => Accumulator::F64,
        E::S32 => Accumulator::S32 { saturate: false },
        _ => return None,
    })
}

fn scale(e: E) -> Format {
    match e {
        E::Ue8m0 => Format::Ue8m0,
        other => {
            assert_eq!(other, E::Ue4m3);
            Format::Ue4m3
        }
    }
}

/// An instruction in common terms: unit, kind, m, n, k, types of A, B and the accumulator, and the scales per line of
/// K with their format.
type Key = (Unit, String, [u32; 3], E, E, E, Option<(u32, E)>);

fn key(i: &Instruction) -> Key {
    let scales = i.row.scales.zip(i.scale).map(|(s, format)| (i.row.k / s.block, format));
    let kind = match i.row.unit {
        // In the simulator the kind of an `mma.sync` follows from the containers and scales.
        Unit::Sync | Unit::BlockScale if i.row.kind == "f8f6f4" => "f8f6f4".to_string(),
        Unit::Sync | Unit::BlockScale | Unit::Warpgroup => String::new(),
        _ => i.row.kind.to_string(),
    };
    (i.row.unit, kind, [i.row.m, i.n, i.row.k], i.a, i.b, i.accumulator, scales)
}

fn in_table(units: &[Unit]) -> BTreeSet<Key> {
    ROWS.iter().filter(|r| units.contains(&r.unit)).flat_map(|r| r.instructions()).map(|i| key(&i)).collect()
}

const FORMATS: [(u32, E); 5] = [(1, E::Ue8m0), (2, E::Ue8m0), (4, E::Ue8m0), (4, E::Ue4m3), (2, E::Ue4m3)];

/// All combinations of types of A, B and the accumulator, with and without scales.
fn combinations() -> impl Iterator<Item = (E, E, E, Option<(u32, E)>)> {
    let all = || E::ALL.iter().copied();
    all().filter(|a| element(*a).is_some()).flat_map(move |a| {
        all().filter(|b| element(*b).is_some()).flat_map(move |b| {
            all().filter(|d| accumulator(*d).is_some()).flat_map(move |d| {
                let scales = FORMATS.into_iter().map(Some).chain([None]);
                scales.map(move |scale| (a, b, d, scale))
            })
        })
    })
}

#[test]
fn mma_sync_exists_as_the_table_says() {
    let mut found = BTreeSet::new();
    for (a, b, d, scales) in combinations() {
        for m in [4, 8, 16, 32, 64] {
            for n in [4, 8, 16] {
                for k in (2..=9).map(|i| 1 << i) {
                    for byte_container in [false, true] {
                        let sync = MmaSync {
                            byte_container,
                            bit_op: (a == E::B1).then_some(MmaBitOp::And),
                            scale: scales.map(|(vector, format)| BlockScale { vector, format: scale(format) }),
                            ..MmaSync::new(m, n, k, element(a).unwrap(), element(b).unwrap(), accumulator(d).unwrap())
                        };
                        // Four MMAs by groups of eight lanes, which the table omits.
                        let quads = a == E::F16 && m == 8;
                        let narrow = [a, b].iter().all(|e| element(*e).unwrap().is_f8f6f4());
                        if quads || byte_container && !narrow || sync.validate().is_err() {
                            continue;
                        }
                        let unit = if scales.is_some() { Unit::BlockScale } else { Unit::Sync };
                        let mut add = |kind: &str| found.insert((unit, kind.to_string(), [m, n, k], a, b, d, scales));
                        // Floats in bytes at K = 32 have kind f8f6f4; 8-bit floats need no kind.
                        let bytes = scales.is_none() && narrow && k == 32;
                        if bytes {
                            add("f8f6f4");
                        }
                        if !bytes || a.bits() == 8 && b.bits() == 8 {
                            add("");
                        }
                    }
                }
            }
        }
    }
    let expected = in_table(&[Unit::Sync, Unit::BlockScale]);
    let missing: Vec<_> = found.difference(&expected).collect();
    let extra: Vec<_> = expected.difference(&found).collect();
    assert!(missing.is_empty() && extra.is_empty(), "not in the table: {missing:#?}\nonly in the table: {extra:#?}");
}

#[test]
fn wgmma_exists_as_the_table_says() {
    let mut found = BTreeSet::new();
    for (a, b, d, scales) in combinations().filter(|c| c.3.is_none()) {
        for n in 1..=264 {
            for k in (2..=9).map(|i| 1 << i) {
                let wgmma = Wgmma {
                    bit_op: (a == E::B1).then_some(MmaBitOp::And),
                    ..Wgmma::new(n, k, element(a).unwrap(), element(b).unwrap(), accumulator(d).unwrap())
                };
                if wgmma.validate().is_ok() {
                    found.insert((Unit::Warpgroup, String::new(), [64, n, k], a, b, d, scales));
                }
            }
        }
    }
    assert_eq!(found, in_table(&[Unit::Warpgroup]));
}

#[test]
fn majors_of_wgmma() {
    for row in ROWS.iter().filter(|r| r.unit == Unit::Warpgroup) {
        let i = row.instructions().next().unwrap();
        let wgmma = Wgmma {
            bit_op: (i.a == E::B1).then_some(MmaBitOp::And),
            b_major: Major::Mn,
            ..Wgmma::new(i.n, row.k, element(i.a).unwrap(), element(i.b).unwrap(), accumulator(i.accumulator).unwrap())
        };
        assert_eq!(wgmma.validate().is_ok(), row.majors.contains(&tile_mma::Major::Mn), "{}", i.ptx());
    }
}

/// The fields of an instruction descriptor of `tcgen05.mma`, decoded by the simulator.
fn descriptor(
    kind: Tcgen05Kind,
    m: u32,
    n: u32,
    [a, b, d, scale]: [u32; 4],
    majors: u32,
) -> Option<InstructionDescriptor> {
    let rows = if kind.is_block_scaled() { (m >> 7) << 27 } else { (m >> 4) << 24 };
    let sums = if kind.is_block_scaled() { 0 } else { d << 4 };
    InstructionDescriptor::decode(kind, sums | a << 7 | b << 10 | majors << 15 | n >> 3 << 17 | scale << 23 | rows).ok()
}

fn of_simulator(e: Element) -> E {
    E::ALL.iter().copied().find(|x| element(*x) == Some(e)).unwrap()
}

const KINDS: [(&str, Tcgen05Kind); 7] = [
    ("f16", Tcgen05Kind::F16),
    ("tf32", Tcgen05Kind::Tf32),
    ("f8f6f4", Tcgen05Kind::F8f6f4),
    ("i8", Tcgen05Kind::I8),
    ("mxf8f6f4", Tcgen05Kind::Mxf8f6f4),
    ("mxf4", Tcgen05Kind::Mxf4),
    ("mxf4nvf4", Tcgen05Kind::Mxf4nvf4),
];

#[test]
fn tcgen05_exists_as_the_table_says() {
    let mut found = BTreeSet::new();
    for (name, kind) in KINDS {
        for codes in (0..8 * 8 * 4 * 2).map(|c| [c & 7, c >> 3 & 7, c >> 6 & 3, c >> 8]) {
            for (m, n) in [64, 128, 256].into_iter().flat_map(|m| (8..=256).step_by(8).map(move |n| (m, n))) {
                let Some(descriptor) = descriptor(kind, m, n, codes, 0).filter(|d| d.m == m && d.n == n) else {
                    continue;
                };
                for (unit, cta_group) in [(Unit::Tensor, 1), (Unit::TensorPair, 2)] {
                    for scale_vector in [1, 2, 4] {
                        let mma = Tcgen05Mma {
                            kind,
                            descriptor,
                            cta_group,
                            ws: false,
                            d: 0,
                            a: ptx_sim::tensor::tcgen05::ASource::Shared(0),
                            b: 0,
                            accumulate: true,
                            scale_input_d: 0,
                            disabled_lanes: [0; 8],
                            scales: kind.is_block_scaled().then_some((0, 0)),
                            scale_vector,
                        };
                        if mma.validate().is_err() {
                            continue;
                        }
                        let (a, b) = (of_simulator(descriptor.a), of_simulator(descriptor.b));
                        let d = E::ALL.iter().copied().find(|e| accumulator(*e) == Some(descriptor.d)).unwrap();
                        let scales = descriptor
                            .scale
                            .map(|format| (scale_vector, if format == Format::Ue8m0 { E::Ue8m0 } else { E::Ue4m3 }));
                        found.insert((unit, name.to_string(), [m, n, kind.k()], a, b, d, scales));
                    }
                }
            }
        }
    }
    // f16 accumulators require f16 operands, and mixing f16 with bf16 is undocumented; the simulator checks neither.
    found.retain(|(_, kind, _, a, b, d, _)| kind != "f16" || a == b && (*d == E::F32 || *a == E::F16));
    let expected = in_table(&[Unit::Tensor, Unit::TensorPair]);
    let missing: Vec<_> = found.difference(&expected).take(20).collect();
    let extra: Vec<_> = expected.difference(&found).take(20).collect();
    assert!(missing.is_empty() && extra.is_empty(), "not in the table: {missing:#?}\nonly in the table: {extra:#?}");
}

#[test]
fn majors_of_tcgen05() {
    for row in ROWS.iter().filter(|r| matches!(r.unit, Unit::Tensor | Unit::TensorPair)) {
        let (_, kind) = KINDS.into_iter().find(|k| k.0 == row.kind).unwrap();
        let either = (0..8 * 8 * 4 * 2).map(|c| [c & 7, c >> 3 & 7, c >> 6 & 3, c >> 8]);
        let any = either.into_iter().any(|codes| descriptor(kind, row.m, 64, codes, 0b11).is_some());
        assert_eq!(any, row.majors.contains(&tile_mma::Major::Mn), "{} {}", row.unit.name(), row.kind);
    }
}

/// The row and column of register `i` of a thread.
fn at(layout: &Layout, columns: u64, thread: u32, i: u32) -> Position {
    let bases = |bases: &[u64], index: u32| {
        bases.iter().enumerate().filter(|(bit, _)| index >> bit & 1 == 1).fold(0, |v, (_, basis)| v ^ basis)
    };
    let index = bases(layout.register(), i) ^ bases(layout.lane(), thread % 32) ^ bases(layout.warp(), thread / 32);
    Position { row: (index / columns) as usize, col: (index % columns) as usize }
}

#[test]
fn fragments_of_wgmma() {
    let mut compared = 0;
    for row in ROWS.iter().filter(|r| r.unit == Unit::Warpgroup) {
        let a = row.fragment(8, Operand::A).unwrap().layout;
        assert!(row.fragment(8, Operand::B).is_err());
        for thread in 0..128 {
            for i in 0..a.registers() {
                let expected = wgmma_a((32 / row.container) as usize, thread as usize, i as usize);
                assert_eq!(at(&a, row.k.into(), thread, i), expected);
            }
        }
        for n in row.n.iter().filter(|n| n.is_power_of_two()) {
            let sums = row.fragment(n, Operand::Accumulator).unwrap().layout;
            assert_eq!(sums.registers(), n / 2);
            for (thread, i) in (0..128).flat_map(|t| (0..n / 2).map(move |i| (t, i))) {
                assert_eq!(at(&sums, n.into(), thread, i), wgmma_d(thread as usize, i as usize));
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 6 * 6);
}

/// The codes of 0 and 1 in a format, found with the simulator's decoder.
fn codes(e: Element) -> [u64; 2] {
    let one = match e {
        Element::F64 => 1.0f64.to_bits(),
        Element::Tf32 => 1.0f32.to_bits().into(),
        _ => (0..1u64 << e.bits()).find(|&raw| e.value(raw) == 1.0).unwrap(),
    };
    assert_eq!((e.value(0), e.value(one)), (0.0, 1.0));
    [0, one]
}

/// Fills the registers of all lanes according to a layout: `bits` per element, with `code` for the value at a
/// position.
fn fill(layout: &Layout, columns: u32, bits: u32, code: impl Fn(Position) -> u64) -> Vec<u64> {
    let per_register = (32 / bits).max(1);
    let mut out = vec![];
    for lane in 0..32 {
        for register in 0..layout.registers() / per_register {
            let word = (0..per_register).fold(0, |word, j| {
                word | code(at(layout, columns.into(), lane, register * per_register + j)) << (j * bits)
            });
            out.push(word);
        }
    }
    out
}

/// Whether element (row, column) of the left or right matrix is one.
fn pattern(seed: usize, p: Position) -> usize {
    (p.row * 7 + p.col * 13 + p.row * p.col * 3 + seed) % 5 % 2
}

#[test]
fn products_through_the_fragments_of_mma_sync() {
    let mut executed = 0;
    for row in ROWS.iter().filter(|r| matches!(r.unit, Unit::Sync | Unit::BlockScale)) {
        // Only formats that fill their containers; fragments do not specify the position of others within a byte.
        for i in row.instructions().filter(|i| i.a.bits() == row.container && i.b.bits() == row.container) {
            let (m, n, k) = (row.m, i.n, row.k);
            let (a, b, d) = (element(i.a).unwrap(), element(i.b).unwrap(), accumulator(i.accumulator).unwrap());
            let layout = |operand| i.fragment(operand).unwrap().layout;
            let left = fill(&layout(Operand::A), k, row.container, |p| codes(a)[pattern(0, p)]);
            let right = fill(&layout(Operand::B), n, row.container, |p| codes(b)[pattern(1, p)]);
            let sums = layout(Operand::Accumulator);
            let zeros = fill(&sums, n, d.bits(), |_| 0);
            let scales =
                row.scales.zip(i.scale).map(|(s, format)| BlockScale { vector: k / s.block, format: scale(format) });
            let sync = MmaSync {
                bit_op: (i.a == E::B1).then_some(MmaBitOp::And),
                scale: scales,
                ..MmaSync::new(m, n, k, a, b, d)
            };
            // Scale factors of one: exponent 127 of ue8m0, 7 of ue4m3.
            let words = vec![if i.scale == Some(E::Ue8m0) { 0x7f7f_7f7f } else { 0x3838_3838 }; 32];
            let operand = ScaleOperand { words: &words, byte: 0, thread: 0 };
            let result = sync.execute(&left, &right, &zeros, scales.map(|_| (operand, operand))).unwrap();
            let per_register = (32 / d.bits()).max(1);
            let registers = sums.registers() / per_register;
            for (lane, e) in (0..32).flat_map(|lane| (0..sums.registers()).map(move |e| (lane, e))) {
                let p = at(&sums, n.into(), lane, e);
                let products = (0..k as usize)
                    .map(|x| pattern(0, Position { row: p.row, col: x }) * pattern(1, Position { row: x, col: p.col }));
                let expected = products.sum::<usize>() as f64;
                let word = result[(lane * registers + e / per_register) as usize];
                let found = match d {
                    Accumulator::F16 => Element::F16.value(word >> (16 * (e % 2)) & 0xffff),
                    Accumulator::F32 => f32::from_bits(word as u32).into(),
                    Accumulator::F64 => f64::from_bits(word),
                    Accumulator::S32 { .. } => f64::from(word as u32 as i32),
                };
                assert_eq!(found, expected, "{} lane {lane} element {e}", i.ptx());
            }
            executed += 1;
        }
    }
    assert!(executed > 50, "{executed}");
}
