//! Whole kernels on layouts: tiles are loaded, converted, multiplied with the fragments of an instruction, reduced,
//! broadcast and stored, thread by thread, and the result is compared with plain arithmetic on the tile. These tests
//! show how to combine the parts of the crate, and check that they agree on the numbering of registers.

mod common;

use std::collections::BTreeMap;

use common::*;
use tile_layout::*;

/// The values that every thread holds, register by register.
type Values = BTreeMap<Thread, Vec<i64>>;

/// A tile in a layout, as after a load.
fn load(l: &Layout, tile: &[i64]) -> Values {
    l.all_threads().map(|t| (t, l.elements_of(t).map(|e| tile[e as usize]).collect())).collect()
}

/// A tile collected from the guarded slots of a layout; every element must come from exactly one slot.
fn store(l: &Layout, values: &Values, elements: u64) -> Vec<i64> {
    let free = l.free_variables();
    let mut tile = vec![None; elements as usize];
    for (t, held) in values {
        if u64::from(t.lane) & free.lane != 0 || u64::from(t.warp) & free.warp != 0 {
            continue;
        }
        for (r, (element, &value)) in l.elements_of(*t).zip(held).enumerate() {
            if r as u64 & free.register == 0 {
                assert_eq!(tile[element as usize].replace(value), None, "stored twice");
            }
        }
    }
    tile.into_iter().map(|v| v.expect("every element is stored")).collect()
}

/// Moves values as a conversion specifies. The interpreters of plans move element numbers. A first run with them
/// tells where each value goes, so that only the plan decides.
fn converted(src: &Layout, dst: &Layout, s: &Shape, elem_bits: u32, values: &Values) -> Values {
    let shared = SharedOptions { ldmatrix: Matrices::Halves, stmatrix: true, ..SharedOptions::new(elem_bits) };
    let plan = convert(src, dst, s, &ConvertOptions { shared, ..ConvertOptions::new(elem_bits) }).unwrap();
    check_conversion(src, dst, &plan, elem_bits);
    let tile = store(src, values, s.elements());
    load(dst, &tile)
}

fn pseudo_random(n: u64, seed: i64) -> Vec<i64> {
    (0..n as i64).map(|i| (i * 7919 + seed * 104_729) % 17 - 8).collect()
}

/// One instruction on the registers of its warps: gathers the operands through the fragments, multiplies, and scatters.
fn multiply(
    instruction: MmaShape,
    warp_of: impl Fn(u32) -> u32,
    a: &[Vec<Vec<i64>>],
    b: &[Vec<Vec<i64>>],
) -> Vec<Vec<Vec<i64>>> {
    let (m, n, k) = instruction.extents();
    let [fa, fb, fc] = [Operand::A, Operand::B, Operand::Accumulator].map(|o| instruction.fragment(o).unwrap());
    let gather = |f: &Fragment, held: &[Vec<Vec<i64>>]| {
        let mut matrix = vec![0; f.shape.elements() as usize];
        for t in f.layout.all_threads() {
            for (r, e) in f.layout.elements_of(t).enumerate() {
                matrix[e as usize] = held[warp_of(t.warp) as usize][t.lane as usize][r];
            }
        }
        matrix
    };
    let (a, b) = (gather(&fa, a), gather(&fb, b));
    let product = |row: u32, column: u32| -> i64 {
        (0..k).map(|i| a[(row * k + i) as usize] * b[(i * n + column) as usize]).sum()
    };
    let of = |t: Thread| fc.layout.elements_of(t).map(|e| product(e as u32 / n, e as u32 % n)).collect();
    debug_assert_eq!(m * n, fc.shape.elements() as u32);
    let lanes = |warp| (0..32).map(|lane| of(Thread { lane, warp, block: 0 })).collect();
    (0..instruction.warps).map(lanes).collect()
}

/// The registers of a tiling for copy `(outer, inner)` of the fragment along the last two dimensions.
fn copy_of(registers: &[i64], fragment: u32, inner_copies: u64, outer: u64, inner: u64) -> Vec<i64> {
    let start = (outer * inner_copies + inner) as usize * fragment as usize;
    registers[start..start + fragment as usize].to_vec()
}

fn matmul(instruction: MmaShape, operand_bits: u32, m: i64, n: i64, k: i64, m_warps: u32, n_warps: u32) {
    let tiling = MmaTiling { instruction, batch_warps: 1, m_warps, n_warps };
    let (sa, sb, sc) = (shape(&[m, k]), shape(&[k, n]), shape(&[m, n]));
    let (a, b) = (pseudo_random(sa.elements(), 1), pseudo_random(sb.elements(), 2));
    let [la, lb, lc] =
        [(Operand::A, &sa), (Operand::B, &sb), (Operand::Accumulator, &sc)].map(|(o, s)| tiling.layout(o, s).unwrap());
    let warps = u64::from(tiling.warps());
    let vec = u64::from(128 / operand_bits);
    // Operands are loaded coalesced and then converted.
    let operand = |s: &Shape, l: &Layout, tile: &[i64]| {
        let loaded = Layout::coalesced(s, operand_bits, &[1, 0], vec, warps).unwrap();
        converted(&loaded, l, s, operand_bits, &load(&loaded, tile))
    };
    let (va, vb) = (operand(&sa, &la, &a), operand(&sb, &lb, &b));
    let mut vc: Values = lc.all_threads().map(|t| (t, vec![0; lc.registers() as usize])).collect();
    let (im, inn, ik) = instruction.extents();
    let [fa, fb, fc] =
        [Operand::A, Operand::B, Operand::Accumulator].map(|o| instruction.fragment(o).unwrap().layout.registers());
    let m_copies = m as u64 / u64::from(im * m_warps);
    let n_copies = n as u64 / u64::from(inn * n_warps);
    let k_copies = k as u64 / u64::from(ik);
    for warp in 0..tiling.warps() {
        let lane_values = |v: &Values, fragment, inner_copies, outer, inner| -> Vec<Vec<Vec<i64>>> {
            let lanes =
                (0..32).map(|lane| copy_of(&v[&Thread { lane, warp, block: 0 }], fragment, inner_copies, outer, inner));
            vec![lanes.collect()]
        };
        for mi in 0..m_copies {
            for ni in 0..n_copies {
                for ki in 0..k_copies {
                    let fragment_a = lane_values(&va, fa, k_copies, mi, ki);
                    let fragment_b = lane_values(&vb, fb, n_copies, ki, ni);
                    let product = multiply(instruction, |_| 0, &fragment_a, &fragment_b);
                    for lane in 0..32 {
                        let held = vc.get_mut(&Thread { lane, warp, block: 0 }).expect("a thread of the accumulator");
                        let start = (mi * n_copies + ni) as usize * fc as usize;
                        for (i, p) in product[0][lane as usize].iter().enumerate() {
                            held[start + i] += p;
                        }
                    }
                }
            }
        }
    }
    // The accumulator is stored coalesced.
    let out = Layout::coalesced(&sc, 32, &[1, 0], 4, warps).unwrap();
    let result = store(&out, &converted(&lc, &out, &sc, 32, &vc), sc.elements());
    for row in 0..m {
        for column in 0..n {
            let expected: i64 = (0..k).map(|i| a[(row * k + i) as usize] * b[(i * n + column) as usize]).sum();
            assert_eq!(result[(row * n + column) as usize], expected, "({row}, {column})");
        }
    }
}

#[test]
fn matrix_dots_by_warps() {
    let sync = |m, k, operand_bits| MmaShape::warp(m, k, operand_bits);
    matmul(sync(16, 16, 16), 16, 64, 32, 32, 2, 2);
    matmul(sync(16, 8, 16), 16, 32, 32, 16, 1, 4);
    matmul(sync(16, 32, 8), 8, 64, 32, 64, 4, 1);
    matmul(sync(16, 8, 32), 32, 32, 64, 16, 2, 2);
    matmul(sync(8, 4, 64), 64, 16, 32, 16, 2, 2);
    matmul(sync(16, 16, 64), 64, 32, 16, 32, 1, 2);
}

/// Combines the registers of each thread, then exchanges across the bits that the layout names.
fn reduced(l: &Layout, s: &Shape, dim: usize, values: &Values) -> (Layout, Shape, Values) {
    let Reduction { layout: result, shape: rs, registers, across } =
        l.reduction(s, dim, 0).unwrap().expect("a plain layout");
    let own = |held: &Vec<i64>| registers.iter().map(|list| list.iter().map(|&r| held[r as usize]).sum()).collect();
    let mut sums: Values = values.iter().map(|(&t, held)| (t, own(held))).collect();
    let flips = (0..5).filter(|i| across.lane >> i & 1 == 1).map(|i| (1 << i, 0));
    for (lane, warp) in flips.chain((0..5).filter(|i| across.warp >> i & 1 == 1).map(|i| (0, 1 << i))) {
        let before = sums.clone();
        for (t, held) in &mut sums {
            let other = &before[&Thread { lane: t.lane ^ lane, warp: t.warp ^ warp, ..*t }];
            held.iter_mut().zip(other).for_each(|(a, b)| *a += b);
        }
    }
    (result, rs, sums)
}

#[test]
fn rows_minus_their_sums() {
    // x - sum(x, axis): reduce, expand, broadcast, convert, subtract; for several layouts and both axes.
    let s = shape(&[32, 64]);
    let tile = pseudo_random(s.elements(), 3);
    let instruction = MmaShape::warp(16, 16, 16);
    let layouts = [
        Layout::coalesced(&s, 32, &[1, 0], 4, 4).unwrap(),
        Layout::coalesced(&s, 16, &[0, 1], 8, 2).unwrap(),
        Layout::coalesced(&s, 8, &[1, 0], 16, 8).unwrap(),
        mma_tiled(instruction, Operand::Accumulator, &s, [2, 2]).unwrap(),
        mma_tiled(instruction, Operand::Accumulator, &s, [4, 2]).unwrap(),
        mma_tiled(instruction, Operand::A, &s, [1, 1]).unwrap(),
    ];
    for l in &layouts {
        let x = load(l, &tile);
        for dim in 0..2 {
            let (sums_layout, sums_shape, sums) = reduced(l, &s, dim, &x);
            // The operand of the broadcast is needed in the layout of the row's sum, which it already has: register
            // `r` of the wide tile is the register of its row.
            let (wanted, _, registers) = l.reduce(&s, dim).unwrap();
            assert_eq!(wanted, sums_layout);
            let spread = |held: &Vec<i64>| -> Vec<i64> {
                (0..l.registers()).map(|r| held[registers.apply(r.into()) as usize]).collect()
            };
            let back: Values = sums.iter().map(|(&t, held)| (t, spread(held))).collect();
            // The same through the shape: every thread holds all copies.
            let (expanded, narrow) = sums_layout.expand_dims(&sums_shape, dim).unwrap();
            let (copies, wide) = expanded.broadcast(&narrow, dim, s.extents()[dim] as i64).unwrap();
            assert_eq!(wide, s);
            assert_eq!(copies.reduce(&s, dim).unwrap().0, sums_layout);
            let difference: Values =
                x.iter().map(|(t, held)| (*t, held.iter().zip(&back[t]).map(|(a, b)| a - b).collect())).collect();
            let result = store(l, &difference, s.elements());
            for row in 0..32 {
                for column in 0..64 {
                    let fibre: i64 = match dim {
                        0 => (0..32).map(|r| tile[r * 64 + column]).sum(),
                        _ => (0..64).map(|c| tile[row * 64 + c]).sum(),
                    };
                    assert_eq!(result[row * 64 + column], tile[row * 64 + column] - fibre);
                }
            }
        }
    }
}

#[test]
fn transposes_on_the_way() {
    // permute is free in registers; storing in the new memory order takes one conversion.
    let s = shape(&[16, 8, 32]);
    let tile = pseudo_random(s.elements(), 5);
    let src = Layout::coalesced(&s, 16, &[2, 1, 0], 8, 4).unwrap();
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [2, 0, 1], [0, 2, 1], [1, 2, 0]] {
        let (moved, ts) = src.permute(&s, &order).unwrap();
        let dst = Layout::coalesced(&ts, 16, &[2, 1, 0], 8, 4).unwrap();
        let values = converted(&moved, &dst, &ts, 16, &load(&src, &tile));
        let result = store(&dst, &values, ts.elements());
        for (index, &value) in result.iter().enumerate() {
            let point = ts.unflatten(index as u64);
            let mut source = [0; 3];
            for (i, &d) in order.iter().enumerate() {
                source[d] = point[i];
            }
            assert_eq!(value, tile[s.flatten(&source) as usize]);
        }
    }
}

#[test]
fn shared_tiles_written_by_one_layout_and_read_by_another() {
    // Every fragment reads a tile in the hardware swizzle (as after a bulk copy) without conflicts, and an
    // accumulator staged for a bulk copy is written without conflicts.
    let s = shape(&[64, 64]);
    let shared = SharedLayout::swizzled(&s, &[1, 0], 16, 128).unwrap();
    let instruction = MmaShape::warp(16, 16, 16);
    let warpgroup = MmaShape::warpgroup(64, 16, 16);
    for (l, direction) in [
        (mma_tiled(instruction, Operand::A, &s, [4, 1]).unwrap(), Direction::Load),
        (mma_tiled(instruction, Operand::B, &s, [1, 4]).unwrap(), Direction::Load),
        (mma_tiled(warpgroup, Operand::A, &s, [1, 1]).unwrap(), Direction::Load),
        (mma_tiled(instruction, Operand::Accumulator, &s, [2, 2]).unwrap(), Direction::Store),
        (mma_tiled(warpgroup, Operand::Accumulator, &s, [1, 1]).unwrap(), Direction::Store),
        (Layout::coalesced(&s, 16, &[1, 0], 8, 4).unwrap(), Direction::Load),
        (Layout::coalesced(&s, 16, &[1, 0], 8, 4).unwrap(), Direction::Store),
    ] {
        let access = SharedAccess::new(&l, &shared, 16, direction, true).unwrap();
        assert_eq!(access.conflict_degree, 1, "{direction:?} {l}");
        assert_eq!(access.wavefronts, s.elements() * 2 / 128 / u64::from(l.warps()), "{direction:?} {l}");
        // Immediates cover all bits except the swizzled ones.
        assert!(access.distinct_xors() <= 8);
        assert!(access.address.expr().to_bit_expr().operations() <= 14, "{}", access.address.expr().to_bit_expr());
    }
}
