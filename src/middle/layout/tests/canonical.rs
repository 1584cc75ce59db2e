//! The canonical order of reductions, executed on all threads of a block.
//!
//! The value of an element is its coordinate in brackets, and combining means joining two texts in brackets. Elements
//! that are combined in another order or grouping are always detected, and so are threads that disagree.

mod common;

use common::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use tile_layout::*;

/// The texts in every register of every thread.
type Texts = BTreeMap<Thread, Vec<String>>;

fn join(low: &str, high: &str) -> String {
    format!("({low} {high})")
}

/// The canonical tree over `rows`: halves, from the widest.
fn tree(rows: &[String]) -> String {
    let mut rows = rows.to_vec();
    while rows.len() > 1 {
        let half = rows.len() / 2;
        rows = (0..half).map(|i| join(&rows[i], &rows[i + half])).collect();
    }
    rows.remove(0)
}

/// The texts of a tile in a layout, from the texts of its elements.
fn spread(elements: &[String], layout: &Layout) -> Texts {
    let own = |t| layout.elements_of(t).map(|e| elements[e as usize].clone()).collect();
    layout.all_threads().map(|t| (t, own(t))).collect()
}

/// The texts of the elements of a tile, from all threads; they must agree.
fn gather(texts: &Texts, layout: &Layout, tile: &Shape) -> Vec<String> {
    let mut elements: Vec<Option<String>> = vec![None; tile.elements() as usize];
    for (thread, held) in texts {
        for (register, text) in held.iter().enumerate() {
            let e = layout.element(Slot { register: register as u32, thread: *thread });
            let known = elements[e as usize].get_or_insert_with(|| text.clone());
            assert_eq!(known, text, "{thread:?} register {register} of {layout}");
        }
    }
    elements.into_iter().map(|e| e.expect("layouts cover the tile")).collect()
}

/// Runs a plan within warps. The side of an exchange is known from the lane's number.
fn run(texts: &Texts, canonical: &CanonicalReduction) -> Texts {
    let mut lists: BTreeMap<Thread, Vec<Vec<String>>> = BTreeMap::new();
    for (t, held) in texts {
        let list = |registers: &Vec<u32>| registers.iter().map(|&r| held[r as usize].clone()).collect();
        lists.insert(*t, canonical.plan.registers.iter().map(list).collect());
    }
    for step in &canonical.steps {
        let before = lists.clone();
        for (t, own) in &mut lists {
            for (row, list) in own.iter_mut().enumerate() {
                match step {
                    Step::Halves => {
                        let high = list.split_off(list.len() / 2);
                        list.iter_mut().zip(high).for_each(|(low, high)| *low = join(low, &high));
                    }
                    Step::Lane(bit) => {
                        let partner = &before[&Thread { lane: t.lane ^ 1 << bit, ..*t }][row];
                        let upper = t.lane >> bit & 1 == 1;
                        for (mine, other) in list.iter_mut().zip(partner) {
                            *mine = if upper { join(other, mine) } else { join(mine, other) };
                        }
                    }
                }
            }
        }
    }
    let only = |lists: Vec<Vec<String>>| lists.into_iter().map(|mut l| l.remove(0)).collect();
    lists.into_iter().map(|(t, lists)| (t, only(lists))).collect()
}

/// Reduces a tile with the layout and checks all results. Returns the number of moves through shared memory.
fn check(layout: &Layout, tile: &Shape, dim: usize) -> u32 {
    let name = |e| tile.unflatten(e)[dim].to_string();
    let mut elements: Vec<String> = (0..tile.elements()).map(name).collect();
    let (mut layout, mut shape, mut moves) = (layout.clone(), tile.clone(), 0);
    let width = tile.field(dim).unwrap().1;
    let expected = tree(&(0..1u64 << width).map(|i| i.to_string()).collect::<Vec<_>>());
    let warps = layout.warps().into();
    loop {
        let (kept, rows) = match layout.canonical_stage(&shape, dim, warps).unwrap() {
            Stage::Finish => (0, true),
            Stage::Keep(kept) => (kept, false),
            Stage::Spread(to) => {
                // The threads' other coordinates stay, so that the result has the layout of the reduction.
                let others = |l: &Layout| l.reduce(&shape, dim).unwrap().0.canonicalise();
                assert_eq!(others(&layout), others(&to));
                to.validate(&shape).unwrap();
                (layout, moves) = (to, moves + 1);
                continue;
            }
            Stage::Convert(to) => {
                to.validate(&shape).unwrap();
                (layout, moves) = (to, moves + 1);
                continue;
            }
        };
        let canonical = layout.canonical_reduction(&shape, dim, kept).unwrap().expect("the stage says so");
        let texts = run(&spread(&elements, &layout), &canonical);
        (layout, shape) = (canonical.plan.layout, canonical.plan.shape);
        elements = gather(&texts, &layout, &shape);
        if rows {
            assert!(elements.iter().all(|e| *e == expected), "{elements:?} is not {expected}");
            return moves;
        }
    }
}

#[test]
fn steps_literally() {
    // A row of 1024 in vectors of four: bits 0, 1 and 9 in registers, 2 to 6 in lanes, 7 and 8 in warps.
    let row = shape(&[1024]);
    let l = layout(&[1, 2, 512], &[4, 8, 16, 32, 64], &[128, 256]);
    assert_eq!(l.canonical_bits(&row, 0), Ok(Some(1)));
    assert_eq!(l.canonical_stage(&row, 0, 4), Ok(Stage::Keep(9)));
    assert_eq!(l.canonical_reduction(&row, 0, 0), Ok(None));
    let first = l.canonical_reduction(&row, 0, 9).unwrap().unwrap();
    assert_eq!(first.steps, [Step::Halves]);
    let Stage::Spread(to) = first.plan.layout.canonical_stage(&first.plan.shape, 0, 4).unwrap() else {
        panic!("the warps hold the next bits");
    };
    // Every warp combines 16 elements per thread and then crosses its lanes.
    assert_eq!(to, layout(&[32, 64, 128, 256], &[1, 2, 4, 8, 16], &[0, 0]));
    assert_eq!(check(&l, &row, 0), 1);
    // A fragment of a matrix product keeps pairs of columns in a thread, and pairs of pairs in lanes.
    let fragment = layout(&[1, 8, 16, 512], &[2, 4, 32, 64, 128], &[256]);
    let tile = shape(&[32, 32]);
    let plan = fragment.canonical_reduction(&tile, 1, 0).unwrap().unwrap();
    assert_eq!(plan.steps, [Step::Halves, Step::Halves, Step::Lane(1), Step::Lane(0), Step::Halves]);
    assert_eq!(check(&fragment, &tile, 1), 0);
}

#[test]
fn many_warps_divide_the_work() {
    // 16 warps leave eleven bits: each warp takes the tree of a part, and all combine the parts.
    let row = shape(&[1 << 14]);
    let l = layout(&[1, 2, 1 << 11, 1 << 12, 1 << 13], &[4, 8, 16, 32, 64], &[128, 256, 512, 1024]);
    assert_eq!(check(&l, &row, 0), 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_layout_gives_the_canonical_tree(l in any_layout(8, 2, 2), dim in 0usize..3) {
        check(&l, &shape(&[4, 4, 16]), dim);
    }

    #[test]
    fn plain_layouts_need_no_conversion(l in any_permuted_layout(8, 2, 0), dim in 0usize..3) {
        let tile = shape(&[4, 4, 16]);
        prop_assert!(l.canonical_bits(&tile, dim).unwrap().is_some());
        check(&l, &tile, dim);
    }

    #[test]
    fn long_rows_in_many_warps(warps in 0u32..6, vector in 0u32..4, log2 in 5u32..13) {
        let all: Vec<u64> = (0..log2).map(|i| 1 << i).collect();
        let at = |range: std::ops::Range<u32>| -> Vec<u64> {
            range.map(|i| all.get(i as usize).copied().unwrap_or(0)).collect()
        };
        let (low, high) = (vector + 5, vector + 5 + warps);
        let mut register = at(0..vector.min(log2));
        register.extend(at(high..log2.max(high)));
        let l = Layout::new(register, at(vector..low), at(low..high), vec![]).unwrap();
        prop_assert!(check(&l, &Shape::from_log2(vec![log2]).unwrap(), 0) <= 2);
    }

    #[test]
    fn descending_layouts_start_in_the_thread(
        log2 in proptest::collection::vec(0u32..6, 1..4),
        dim in 0usize..3,
        warps in 0u32..4,
    ) {
        let dim = dim % log2.len();
        let tile = Shape::from_log2(log2.clone()).unwrap();
        let l = Layout::descending(&tile, dim, 1 << warps).unwrap();
        l.validate(&tile).unwrap();
        let along = |b: &&u64| tile.unflatten(**b)[dim] != 0;
        let in_warps = l.warp().iter().filter(along).count() as u32;
        prop_assert_eq!(l.canonical_bits(&tile, dim).unwrap(), Some(log2[dim] - in_warps));
        check(&l, &tile, dim);
    }
}
