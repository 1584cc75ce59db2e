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

/// The canonical tree over `rows`: along the last dimension neighbors, twice; then halves, from the widest.
fn tree(rows: &[String], first: u32) -> String {
    let mut rows = rows.to_vec();
    for _ in 0..first {
        rows = rows.chunks(2).map(|pair| join(&pair[0], &pair[1])).collect();
    }
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
                    Step::Register(bit) => {
                        let low = (0..list.len()).filter(|i| i >> bit & 1 == 0);
                        *list = low.map(|i| join(&list[i], &list[i | 1 << bit])).collect();
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
    let mut first = canonical_first(tile, dim);
    let expected = tree(&(0..1u64 << width).map(|i| i.to_string()).collect::<Vec<_>>(), first);
    let warps = layout.warps().into();
    loop {
        let before = first;
        let (kept, rows) = match layout.canonical_stage(&shape, dim, first, warps).unwrap() {
            Stage::Finish => (0, true),
            Stage::Keep { kept, first: after } => {
                first = after;
                (kept, false)
            }
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
        let canonical = layout.canonical_reduction(&shape, dim, before, kept).unwrap().expect("the stage says so");
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
    assert_eq!(l.canonical_prefix(&row, 0, 2), Ok(Some(3)));
    assert_eq!(l.canonical_stage(&row, 0, 2, 4), Ok(Stage::Keep { kept: 0b1_1111_1100, first: 0 }));
    assert_eq!(l.canonical_reduction(&row, 0, 2, 0), Ok(None));
    let first = l.canonical_reduction(&row, 0, 2, 0b1_1111_1100).unwrap().unwrap();
    assert_eq!(first.steps, [Step::Register(0), Step::Register(0), Step::Register(0)]);
    let Stage::Spread(to) = first.plan.layout.canonical_stage(&first.plan.shape, 0, 0, 4).unwrap() else {
        panic!("the warps hold the next bits");
    };
    // Every warp combines eight elements per thread and then crosses its lanes.
    assert_eq!(to, layout(&[16, 32, 64], &[1, 2, 4, 8, 0], &[0, 0]));
    assert_eq!(check(&l, &row, 0), 1);
    // A fragment of a matrix product keeps pairs of columns in a thread, and pairs of pairs in lanes.
    let fragment = layout(&[1, 8, 16, 512], &[2, 4, 32, 64, 128], &[256]);
    let tile = shape(&[32, 32]);
    let plan = fragment.canonical_reduction(&tile, 1, 2, 0).unwrap().unwrap();
    let expected = [Step::Register(0), Step::Lane(0), Step::Register(1), Step::Register(0), Step::Lane(1)];
    assert_eq!(plan.steps, expected);
    assert_eq!(check(&fragment, &tile, 1), 0);
    // Along other dimensions the highest bit is the first.
    assert_eq!((canonical_first(&tile, 1), canonical_first(&tile, 0)), (2, 0));
    assert_eq!((canonical_bits(4, 2), canonical_bits(4, 0)), (vec![0, 1, 3, 2], vec![3, 2, 1, 0]));
}

#[test]
fn many_warps_divide_the_work() {
    // 16 warps leave ten bits: each warp takes the tree of a part, and all combine the parts.
    let row = shape(&[1 << 14]);
    let l = layout(&[1, 2, 4, 1 << 12, 1 << 13], &[8, 16, 32, 64, 128], &[256, 512, 1024, 2048]);
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
        prop_assert!(l.canonical_prefix(&tile, dim, 0).unwrap().is_some());
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
        let first = canonical_first(&tile, dim);
        prop_assert_eq!(l.canonical_prefix(&tile, dim, first).unwrap(), Some(log2[dim] - in_warps));
        check(&l, &tile, dim);
    }
}
