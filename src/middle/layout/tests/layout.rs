//! Distributed layouts: slots and elements, printing, replicas, and the effects of tile operations.

mod common;

use common::*;
use proptest::prelude::*;
use tile_layout::*;

/// Every slot of a layout with its element.
fn slots(layout: &Layout) -> Vec<(Slot, u64)> {
    let all = layout.all_threads();
    all.flat_map(|thread| {
        layout
            .elements_of(thread)
            .enumerate()
            .map(|(r, e)| (Slot { register: r as u32, thread }, e))
            .collect::<Vec<_>>()
    })
    .collect()
}

#[test]
fn the_essay_s_example() {
    let tile = shape(&[4, 4]);
    let layout = layout(&[1], &[2, 4, 8, 0, 0], &[]);
    let drawn = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]];
    for (lane, register, row, column) in [(0, 0, 0, 0), (1, 1, 0, 3), (3, 0, 1, 2), (5, 1, 2, 3), (6, 0, 3, 0)] {
        let slot = Slot { register, thread: Thread { lane, ..Thread::default() } };
        assert_eq!(layout.element(slot), drawn[row][column]);
        assert_eq!(layout.owner(&tile, drawn[row][column]).unwrap(), slot);
        // The upper lanes hold replicas.
        for replica in [8, 16, 24] {
            let thread = Thread { lane: lane + replica, ..Thread::default() };
            assert_eq!(layout.element(Slot { register, thread }), drawn[row][column]);
        }
    }
}

#[test]
fn printing_and_parsing() {
    let layout = layout(&[1, 2], &[4, 8, 16, 32, 64], &[128, 256]);
    let text = "register = [1, 2], lane = [4, 8, 16, 32, 64], warp = [128, 256], block = []";
    assert_eq!(layout.to_string(), text);
    assert_eq!(text.parse::<Layout>().unwrap(), layout);
    assert_eq!("register=[1,2],lane=[4,8,16,32,64],\n warp=[128,256],block=[ ] ".parse::<Layout>().unwrap(), layout);
    let replicated = "register = [], lane = [0, 0, 0, 0, 0], warp = [], block = [0]";
    assert_eq!(replicated.parse::<Layout>().unwrap().to_string(), replicated);
}

#[test]
fn malformed_text_names_the_place() {
    let cases = [
        ("", 0, "`register`, `lane`, `warp`, `block` in this order"),
        ("lane = []", 0, "`register`, `lane`, `warp`, `block` in this order"),
        ("register [1]", 9, "`=`"),
        ("register = 1", 11, "`[`"),
        ("register = [1 2]", 14, "`,` or `]`"),
        ("register = [1,]", 14, "an integer below 2^64"),
        ("register = [-1]", 12, "an integer below 2^64"),
        ("register = [99999999999999999999]", 12, "an integer below 2^64"),
        ("register = [] lane", 14, "`,`"),
        ("register = [], lane = [0, 0, 0, 0, 0], warp = [], block = [] x", 61, "the end"),
        ("register = [é]", 12, "an integer below 2^64"),
    ];
    for (text, at, expected) in cases {
        assert_eq!(text.parse::<Layout>().unwrap_err(), LayoutError::Syntax { at, expected }, "{text}");
    }
    let lanes = "register = [], lane = [1], warp = [], block = []".parse::<Layout>().unwrap_err();
    assert_eq!(lanes.to_string(), "lane bits of a layout: expected 5, found 1");
}

#[test]
fn limits_of_a_layout() {
    let lane = vec![0; 5];
    let many = |n| vec![0; n];
    assert_eq!(Layout::new(vec![], vec![1, 2], vec![], vec![]).unwrap_err().code(), "layout-mismatch");
    assert_eq!(Layout::new(many(32), lane.clone(), vec![], vec![]).unwrap_err().code(), "layout-too-many-bits");
    assert_eq!(Layout::new(vec![], lane.clone(), many(32), vec![]).unwrap_err().code(), "layout-too-many-bits");
    assert_eq!(Layout::new(vec![], lane.clone(), vec![], many(32)).unwrap_err().code(), "layout-too-many-bits");
    assert_eq!(Layout::new(many(31), lane.clone(), many(31), vec![]).unwrap_err().code(), "layout-too-many-bits");
    assert!(Layout::new(many(20), lane, many(10), many(4)).is_ok());
}

#[test]
fn shapes() {
    let s = shape(&[8, 1, 16]);
    assert_eq!((s.rank(), s.bits(), s.elements()), (3, 7, 128));
    assert_eq!(s.fields(), [(4, 3), (4, 0), (0, 4)]);
    assert_eq!(s.field(0).unwrap(), (4, 3));
    assert_eq!(s.field(3).unwrap_err(), LayoutError::NoSuchDimension { dim: 3, rank: 3 });
    assert_eq!(s.flatten(&[5, 0, 9]), 5 * 16 + 9);
    assert_eq!(s.unflatten(89), [5, 0, 9]);
    assert_eq!(s.extents(), [8, 1, 16]);
    assert_eq!(shape(&[]).elements(), 1);
    for (extents, dim, extent) in [(&[4, 0][..], 1, 0), (&[3], 0, 3), (&[2, -4], 1, -4), (&[i64::MIN], 0, i64::MIN)] {
        assert_eq!(Shape::new(extents).unwrap_err(), LayoutError::NotPowerOfTwo { dim, extent });
    }
    assert_eq!(Shape::new(&[1 << 20, 1 << 20]).unwrap_err().code(), "layout-too-many-bits");
    assert!(s.check_order(&[2, 0, 1]).is_ok());
    for bad in [&[0, 1][..], &[0, 1, 1], &[0, 1, 3], &[0, 1, 2, 2]] {
        assert_eq!(s.check_order(bad).unwrap_err().code(), "layout-not-a-permutation");
    }
}

#[test]
fn validation() {
    let tile = shape(&[64]);
    assert_eq!(layout(&[1], &[2, 4, 8, 16, 32], &[]).validate(&tile), Ok(()));
    assert_eq!(
        layout(&[1], &[2, 4, 8, 16, 16], &[]).validate(&tile).unwrap_err(),
        LayoutError::NotSurjective { reached: 5, total: 6 }
    );
    assert_eq!(layout(&[1], &[2, 4, 8, 16, 64], &[]).validate(&tile).unwrap_err().code(), "layout-out-of-range");
}

#[test]
fn free_variables_of_replicas() {
    // Lane 4 is a plain replica; warp 0 repeats lane 0, warp 1 repeats register 0 xor lane 1.
    let l = layout(&[1, 2], &[4, 8, 16, 32, 0], &[4, 1 ^ 8, 64]);
    assert_eq!(l.zero_bits(), InputMasks { lane: 16, ..InputMasks::default() });
    // Warp bit 1 is kept (lanes and warps first), so register bit 0 is free.
    assert_eq!(l.free_variables(), InputMasks { register: 1, lane: 16, warp: 1, block: 0 });
    let none = layout(&[], &[0; 5], &[0, 0]);
    assert_eq!(none.free_variables(), InputMasks { register: 0, lane: 31, warp: 3, block: 0 });
}

#[test]
fn owners_of_replicas() {
    // Register bit 0 repeats a warp bit, and register bit 2 repeats register bits 0 and 1.
    let l = layout(&[1, 2, 3, 4], &[8, 16, 32, 64, 0], &[1]);
    let (owned, old) = l.owned();
    assert_eq!(owned.register(), [2, 4]);
    assert_eq!(old, [0, 2, 8, 10]);
    let (all, same) = layout(&[1, 2], &[4, 8, 16, 32, 64], &[]).owned();
    assert_eq!((all.registers(), same), (4, vec![0, 1, 2, 3]));
}

#[test]
fn squeezing_and_canonical_form() {
    let l = layout(&[2, 0, 1, 3, 8], &[4, 16, 32, 64, 128], &[]);
    let (squeezed, renumber) = l.squeeze_registers();
    assert_eq!(squeezed.register(), [2, 1, 8]);
    assert_eq!(renumber.columns(), [1, 0, 2, 3, 4]);
    assert_eq!(l.canonicalise().register(), [1, 2, 8]);
    assert!(l.same_ownership(&squeezed));
    assert!(l.same_ownership(&l.canonicalise()));
    // A lane vector may differ by a vector in the span of the registers.
    assert!(l.same_ownership(&layout(&[1, 2, 8], &[4 ^ 3, 16, 32, 64, 128], &[])));
    assert!(!l.same_ownership(&layout(&[1, 2, 8], &[4, 32, 16, 64, 128], &[])));
    assert!(!l.same_ownership(&layout(&[1, 2], &[4, 16, 32, 64, 128], &[])));
    // Missing warps are the same as warps with zero vectors.
    assert!(l.same_ownership(&layout(&[1, 2, 8], &[4, 16, 32, 64, 128], &[0])));
    assert!(!l.same_ownership(&layout(&[1, 2, 8], &[4, 16, 32, 64, 128], &[256])));
}

#[test]
fn transposing_a_tile_literally() {
    let tile = shape(&[4, 8]);
    let l = layout(&[1, 2], &[4, 8, 16, 0, 0], &[]);
    let (t, s) = l.permute(&tile, &[1, 0]).unwrap();
    assert_eq!(s, shape(&[8, 4]));
    // Column bits 1, 2, 4 move above the two row bits.
    assert_eq!(t, layout(&[4, 8], &[16, 1, 2, 0, 0], &[]));
    assert_eq!(l.permute(&tile, &[0, 0]).unwrap_err().code(), "layout-not-a-permutation");
}

#[test]
fn reduction_of_an_accumulator() {
    let tile = shape(&[16, 16]);
    let l = layout(&[1, 128, 8], &[2, 4, 16, 32, 64], &[]);
    let (rows, s, registers) = l.reduce(&tile, 1).unwrap();
    assert_eq!(s, shape(&[16]));
    assert_eq!(rows, layout(&[8], &[0, 0, 1, 2, 4], &[]));
    // Registers 0, 1, 4, 5 hold the thread's first row, the others its second.
    let targets: Vec<u64> = (0..8).map(|r| registers.apply(r)).collect();
    assert_eq!(targets, [0, 0, 1, 1, 0, 0, 1, 1]);
    let (columns, _, _) = l.reduce(&tile, 0).unwrap();
    assert_eq!(columns, layout(&[1, 8], &[2, 4, 0, 0, 0], &[]));
    assert_eq!(columns.zero_bits().lane, 0b11100);
}

#[test]
fn broadcasting_literally() {
    let column = shape(&[16, 1]);
    let l = layout(&[8], &[0, 0, 1, 2, 4], &[]);
    let (wide, s) = l.broadcast(&column, 1, 4).unwrap();
    assert_eq!(s, shape(&[16, 4]));
    assert_eq!(wide, layout(&[32, 1, 2], &[0, 0, 4, 8, 16], &[]));
    assert_eq!(l.broadcast(&column, 0, 4).unwrap_err().code(), "layout-mismatch");
    assert_eq!(l.broadcast(&column, 2, 4).unwrap_err().code(), "layout-no-such-dimension");
    assert_eq!(l.broadcast(&column, 1, 3).unwrap_err().code(), "layout-not-power-of-two");
}

#[test]
fn joining_and_concatenating_literally() {
    let tile = shape(&[2, 32]);
    let l = layout(&[32], &[1, 2, 4, 8, 16], &[]);
    let (below, s) = l.cat(&tile, 0).unwrap();
    assert_eq!(s, shape(&[4, 32]));
    assert_eq!(below, layout(&[32, 64], &[1, 2, 4, 8, 16], &[]));
    let (beside, s) = l.cat(&tile, 1).unwrap();
    assert_eq!(s, shape(&[2, 64]));
    assert_eq!(beside, layout(&[64, 32], &[1, 2, 4, 8, 16], &[]));
    let (pairs, s) = l.join(&tile).unwrap();
    assert_eq!(s, shape(&[2, 32, 2]));
    assert_eq!(pairs, layout(&[64, 1], &[2, 4, 8, 16, 32], &[]));
}

#[test]
fn splitting_over_blocks() {
    let (part, whole) = (shape(&[64, 32]), shape(&[128, 64]));
    let l = Layout::coalesced(&part, 32, &[1, 0], 4, 4).unwrap();
    let split = l.over_blocks(&part, &whole, &[0, 1]).unwrap();
    assert_eq!(split.block(), [64 * 64, 32]);
    split.validate(&whole).unwrap();
    assert_eq!(l.over_blocks(&part, &part, &[0, 1]).unwrap(), l);
    assert_eq!(l.over_blocks(&whole, &part, &[0, 1]).unwrap_err().code(), "layout-mismatch");
    assert_eq!(l.over_blocks(&part, &shape(&[2048]), &[0]).unwrap_err().code(), "layout-mismatch");
}

#[test]
fn sub_tiles() {
    let l = layout(&[1, 2, 256], &[4, 8, 16, 32, 64], &[128]);
    let sub = l.truncate(&shape(&[32, 16]), &shape(&[16, 8])).unwrap();
    // 16 columns shrink to 8 (bit 8 vanishes), 32 rows to 16 (bit 256 vanishes).
    assert_eq!(sub, layout(&[1, 2], &[4, 0, 8, 16, 32], &[64]));
    assert!(l.truncate(&shape(&[32, 16]), &shape(&[16, 32])).is_err());
    assert!(l.truncate(&shape(&[32, 16]), &shape(&[512])).is_err());
}

#[test]
fn vectors_in_registers() {
    let tile = shape(&[16, 16]);
    let row = layout(&[1, 2, 4], &[8, 16, 32, 64, 128], &[]);
    assert_eq!(row.vector_width(&tile, &[1, 0], 16).unwrap(), 8);
    assert_eq!(row.vector_width(&tile, &[1, 0], 4).unwrap(), 4);
    assert_eq!(row.vector_width(&tile, &[0, 1], 16).unwrap(), 1);
    assert_eq!(row.vector_width(&tile, &[0, 1], 0).unwrap(), 1);
    let (groups, aligned) = row.vectors(&tile, 1, 4).unwrap();
    assert!(aligned);
    assert_eq!(groups, [[0, 1, 2, 3], [4, 5, 6, 7]]);
    // The accumulator has pairs; 8 is not next to 1.
    let accumulator = layout(&[1, 128, 8], &[2, 4, 16, 32, 64], &[]);
    assert_eq!(accumulator.vector_width(&tile, &[1, 0], 16).unwrap(), 2);
    assert_eq!(accumulator.vectors(&tile, 1, 2).unwrap().0, [[0, 1], [2, 3], [4, 5], [6, 7]]);
    assert_eq!(accumulator.vectors(&tile, 1, 4).unwrap_err().code(), "layout-mismatch");
    // Permuted and mixed registers still form vectors.
    let mixed = layout(&[2, 1 ^ 2, 16], &[4, 8, 32, 64, 128], &[]);
    let (groups, aligned) = mixed.vectors(&tile, 1, 4).unwrap();
    assert!(aligned);
    assert_eq!(groups, [[0, 3, 1, 2], [4, 7, 5, 6]]);
    // A lane that starts in the middle of a vector.
    let odd = layout(&[1, 2], &[4 ^ 1, 8, 16, 32, 64], &[128]);
    assert!(!odd.vectors(&tile, 1, 2).unwrap().1);
    assert_eq!(layout(&[], &[0; 5], &[]).vector_width(&shape(&[]), &[], 8).unwrap(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn text_round_trips(l in any_layout(9, 2, 2)) {
        prop_assert_eq!(l.to_string().parse::<Layout>().unwrap(), l);
    }

    #[test]
    fn maps_agree_with_places(l in any_layout(8, 1, 2)) {
        let tile = shape(&[256]);
        let map = l.to_map(&tile).unwrap();
        for (slot, element) in slots(&l) {
            let registers = l.register().len();
            let packed = u64::from(slot.register) | u64::from(slot.thread.lane) << registers
                | u64::from(slot.thread.warp) << (registers + 5);
            prop_assert_eq!(map.apply(packed), element);
            prop_assert_eq!(l.element(slot), element);
        }
    }

    #[test]
    fn owners_hold_their_elements(l in any_layout(8, 1, 2)) {
        let tile = shape(&[16, 16]);
        for element in 0..tile.elements() {
            prop_assert_eq!(l.element(l.owner(&tile, element).unwrap()), element);
        }
    }

    #[test]
    fn guarded_places_hold_each_element_once(l in any_layout(8, 2, 3)) {
        let free = l.free_variables();
        let mut held = vec![0; 256];
        for (p, element) in slots(&l) {
            let guarded = u64::from(p.register) & free.register == 0
                && u64::from(p.thread.lane) & free.lane == 0
                && u64::from(p.thread.warp) & free.warp == 0;
            held[element as usize] += usize::from(guarded);
        }
        prop_assert!(held.iter().all(|&n| n == 1));
    }

    #[test]
    fn guarded_threads_hold_each_element_once(l in any_layout(8, 2, 3)) {
        let free = l.free_threads();
        let mut seen = std::collections::BTreeSet::new();
        for (slot, element) in slots(&l) {
            let Thread { lane, warp, block } = slot.thread;
            let zero = |bits: u32, mask: u64| u64::from(bits) & mask == 0;
            let in_thread = zero(slot.register, free.register);
            if in_thread && zero(lane, free.lane) && zero(warp, free.warp) && zero(block, free.block) {
                prop_assert!(seen.insert(element), "element {} twice", element);
            }
        }
        prop_assert_eq!(seen.len(), 256);
        // A removed register repeats an element of the same thread.
        let bound = (0..l.register().len()).filter(|i| free.register >> i & 1 == 0);
        let kept = Subspace::span(bound.map(|i| l.register()[i]));
        prop_assert!(kept.contains_all(l.register()));
    }

    #[test]
    fn owners_hold_each_element_once(l in any_layout(8, 2, 3)) {
        let free = l.free_variables();
        let (owned, old) = l.owned();
        prop_assert_eq!(owned.registers() as usize, old.len());
        let mut held = vec![0; 256];
        for (p, element) in slots(&owned) {
            prop_assert_eq!(l.element(Slot { register: old[p.register as usize], ..p }), element);
            let owner = u64::from(p.thread.lane) & free.lane == 0 && u64::from(p.thread.warp) & free.warp == 0;
            held[element as usize] += usize::from(owner);
        }
        prop_assert!(held.iter().all(|&n| n == 1));
    }

    #[test]
    fn permuting_moves_coordinates(l in any_layout(9, 1, 1), order in Just(vec![0usize, 1, 2]).prop_shuffle()) {
        let tile = shape(&[4, 8, 16]);
        let (moved, result) = l.permute(&tile, &order).unwrap();
        for ((_, from), (_, to)) in slots(&l).into_iter().zip(slots(&moved)) {
            let (from, to) = (tile.unflatten(from), result.unflatten(to));
            for (i, &d) in order.iter().enumerate() {
                prop_assert_eq!(to[i], from[d]);
            }
        }
        let back: Vec<usize> = (0..3).map(|d| order.iter().position(|&o| o == d).unwrap()).collect();
        prop_assert_eq!(moved.permute(&result, &back).unwrap(), (l, tile));
    }

    #[test]
    fn reshaping_keeps_the_index(l in any_layout(9, 1, 1)) {
        prop_assert_eq!(l.reshape(&shape(&[4, 8, 16]), &shape(&[512])).unwrap(), l.clone());
        prop_assert!(l.reshape(&shape(&[4, 8, 16]), &shape(&[256])).is_err());
    }

    #[test]
    fn slices_forget_a_coordinate(l in any_layout(9, 1, 1), dim in 0usize..3) {
        let tile = shape(&[4, 8, 16]);
        let (sliced, result) = l.slice(&tile, dim).unwrap();
        for ((_, from), (_, to)) in slots(&l).into_iter().zip(slots(&sliced)) {
            let mut expected = tile.unflatten(from);
            expected.remove(dim);
            prop_assert_eq!(result.unflatten(to), expected);
        }
    }

    #[test]
    fn reductions_map_fibres_to_registers(l in any_layout(9, 1, 1), dim in 0usize..3) {
        let tile = shape(&[4, 8, 16]);
        let (reduced, result, registers) = l.reduce(&tile, dim).unwrap();
        for (slot, element) in slots(&l) {
            let mut expected = tile.unflatten(element);
            expected.remove(dim);
            let register = registers.apply(slot.register.into()) as u32;
            let found = reduced.element(Slot { register, ..slot });
            prop_assert_eq!(result.unflatten(found), expected);
        }
        // No element twice in a thread.
        let mut own: Vec<u64> = reduced.elements_of(Thread::default()).collect();
        own.sort_unstable();
        own.dedup();
        prop_assert_eq!(own.len(), reduced.registers() as usize);
    }

    #[test]
    fn expanding_then_slicing_is_nothing(l in any_layout(9, 1, 1), dim in 0usize..4) {
        let tile = shape(&[4, 8, 16]);
        let (expanded, wide) = l.expand_dims(&tile, dim).unwrap();
        prop_assert_eq!(expanded.slice(&wide, dim).unwrap(), (l.clone(), tile.clone()));
        prop_assert!(l.expand_dims(&tile, 4).is_err());
    }

    #[test]
    fn broadcast_registers_are_copies(l in any_layout(7, 1, 1), dim in 0usize..3) {
        let (expanded, narrow) = l.expand_dims(&shape(&[8, 16]), dim).unwrap();
        let (wide, result) = expanded.broadcast(&narrow, dim, 4).unwrap();
        for (slot, element) in slots(&wide) {
            let mut point = result.unflatten(element);
            prop_assert!(point[dim] < 4);
            point[dim] = 0;
            let source = Slot { register: slot.register % l.registers(), ..slot };
            prop_assert_eq!(narrow.unflatten(expanded.element(source)), point);
        }
        prop_assert!(wide.validate(&result).is_ok());
        prop_assert_eq!(wide.reduce(&result, dim).unwrap().0, l.squeeze_registers().0);
    }

    #[test]
    fn concatenation_puts_the_second_operand_behind(l in any_layout(7, 1, 1), dim in 0usize..2) {
        let tile = shape(&[8, 16]);
        let (wide, result) = l.cat(&tile, dim).unwrap();
        for (slot, element) in slots(&wide) {
            let mut point = result.unflatten(element);
            let second = slot.register / l.registers();
            let extent = tile.extents()[dim];
            prop_assert_eq!(point[dim] / extent, u64::from(second));
            point[dim] %= extent;
            let source = Slot { register: slot.register % l.registers(), ..slot };
            prop_assert_eq!(tile.unflatten(l.element(source)), point);
        }
    }

    #[test]
    fn blocks_take_contiguous_parts(l in any_layout(7, 1, 0)) {
        let (part, whole) = (shape(&[8, 16]), shape(&[32, 32]));
        let split = l.over_blocks(&part, &whole, &[1, 0]).unwrap();
        prop_assert_eq!(split.blocks(), 8);
        for (slot, element) in slots(&split) {
            let point = whole.unflatten(element);
            let block = u64::from(slot.thread.block);
            prop_assert_eq!((point[1] / 16, point[0] / 8), (block % 2, block / 2));
            let local = Slot { register: slot.register, thread: Thread { block: 0, ..slot.thread } };
            prop_assert_eq!(part.unflatten(l.element(local)), [point[0] % 8, point[1] % 16]);
        }
    }

    #[test]
    fn squeezed_registers_keep_their_elements(
        l in any_layout(8, 1, 1),
        extra in proptest::collection::vec(0usize..8, 0..3),
    ) {
        let own = l.register().to_vec();
        let mut register = own.clone();
        for e in extra {
            let sum = own.get(e).copied().unwrap_or(0) ^ own.first().copied().unwrap_or(0);
            register.insert(e.min(register.len()), sum);
        }
        let padded = Layout::new(register, l.lane().to_vec(), l.warp().to_vec(), vec![]).unwrap();
        let (squeezed, renumber) = padded.squeeze_registers();
        prop_assert_eq!(squeezed.registers(), l.squeeze_registers().0.registers());
        for (slot, element) in slots(&padded) {
            let register = renumber.apply(slot.register.into()) as u32;
            prop_assert_eq!(squeezed.element(Slot { register, ..slot }), element);
        }
        prop_assert!(padded.same_ownership(&squeezed));
        prop_assert_eq!(padded.canonicalise(), squeezed.canonicalise());
        prop_assert!(padded.canonicalise().register().is_sorted());
    }

    #[test]
    fn ownership_agrees_with_enumeration(a in any_layout(6, 0, 1), b in any_layout(6, 0, 1)) {
        let sets = |l: &Layout| -> Vec<Vec<u64>> {
            let sorted = |t| {
                let mut e: Vec<u64> = l.elements_of(t).collect();
                e.sort_unstable();
                e
            };
            l.all_threads().map(sorted).collect()
        };
        prop_assert_eq!(a.same_ownership(&b), sets(&a) == sets(&b));
        prop_assert!(a.same_ownership(&a.canonicalise()));
    }

    #[test]
    fn vector_groups_hold_consecutive_elements(l in any_permuted_layout(9, 1, 0), dim in 0usize..2) {
        let tile = shape(&[16, 32]);
        let order = if dim == 1 { [1, 0] } else { [0, 1] };
        let width = l.vector_width(&tile, &order, 8).unwrap();
        let (groups, aligned) = l.vectors(&tile, dim, width).unwrap();
        prop_assert!(aligned);
        prop_assert_eq!(groups.len() as u64 * width, u64::from(l.registers()));
        for thread in l.all_threads() {
            for group in &groups {
                let points: Vec<Vec<u64>> = group
                    .iter()
                    .map(|&register| tile.unflatten(l.element(Slot { register, thread })))
                    .collect();
                prop_assert_eq!(points[0][dim] % width, 0);
                for (i, point) in points.iter().enumerate() {
                    prop_assert_eq!(point[dim], points[0][dim] + i as u64);
                    prop_assert_eq!(point[1 - dim], points[0][1 - dim]);
                }
            }
        }
    }

    #[test]
    fn aligned_vector_groups_of_mixed_bases(l in any_layout(8, 0, 1)) {
        let tile = shape(&[256]);
        let width = l.vector_width(&tile, &[0], 8).unwrap();
        let (groups, aligned) = l.vectors(&tile, 0, width).unwrap();
        let threads: Vec<Thread> = if aligned { l.all_threads().collect() } else { vec![Thread::default()] };
        for thread in threads {
            for group in &groups {
                let elements: Vec<u64> = group.iter().map(|&register| l.element(Slot { register, thread })).collect();
                prop_assert_eq!(elements[0] % width, 0);
                for (i, &e) in elements.iter().enumerate() {
                    prop_assert_eq!(e, elements[0] + i as u64);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every slot of the result finds its element in the operand of its half, in the same thread.
    #[test]
    fn operands_of_a_concatenation_hold_what_the_result_needs(l in any_layout(8, 1, 1), dim in 0usize..2) {
        let s = shape(&[16, 16]);
        let (operand, half) = l.uncat(&s, dim).unwrap();
        operand.validate(&half).unwrap();
        let at = s.fields()[dim].0 + s.fields()[dim].1 - 1;
        let left_out = l.half_register(at);
        for (slot, element) in slots(&l) {
            let coordinates = s.unflatten(element);
            let extent = half.extents()[dim];
            let mut inner = coordinates.clone();
            inner[dim] %= extent;
            let register = match left_out {
                Some(bit) => {
                    let r = u64::from(slot.register);
                    (r & low_mask(bit as u32) | r >> (bit + 1) << bit) as u32
                }
                None => slot.register,
            };
            let found = operand.element(Slot { register, ..slot });
            prop_assert_eq!(half.unflatten(found), inner);
        }
    }

    #[test]
    fn operands_of_a_concatenation_are_those_it_was_made_of(l in any_layout(7, 1, 2), dim in 0usize..2) {
        let s = shape(&[16, 8]);
        for (whole, shape) in [l.cat(&s, dim).unwrap(), l.cat_over_replicas(&s, dim).unwrap()] {
            whole.validate(&shape).unwrap();
            prop_assert_eq!(whole.uncat(&shape, dim).unwrap(), (l.clone(), s.clone()));
        }
    }

    #[test]
    fn merging_undoes_splitting(l in any_layout(7, 1, 2), q in 0u32..4) {
        let split = l.split_elements(q);
        split.validate(&shape(&[128 << q])).unwrap();
        for (slot, element) in slots(&split) {
            let whole = l.element(Slot { register: slot.register >> q, ..slot });
            prop_assert_eq!(element, whole << q | u64::from(slot.register) & low_mask(q));
        }
        prop_assert_eq!(split.merge_elements(q), Some(l));
    }

    /// Part `k` of a tile is in the registers with the last bits `k`.
    #[test]
    fn parts_in_registers(l in any_layout(6, 1, 1)) {
        let (part, whole) = (shape(&[4, 16]), shape(&[16, 32]));
        let over = l.over_registers(&part, &whole).unwrap();
        over.validate(&whole).unwrap();
        for (slot, element) in slots(&over) {
            let k = u64::from(slot.register >> l.register().len());
            let own = l.element(Slot { register: slot.register & (l.registers() - 1), ..slot });
            let inner = part.unflatten(own);
            prop_assert_eq!(whole.unflatten(element), [inner[0] + 4 * (k & 3), inner[1] + 16 * (k >> 2)]);
        }
    }
}

#[test]
fn elements_in_several_threads_do_not_merge() {
    // Registers hold elements 0 and 2, and lanes hold 1: no thread has both nibbles of a byte.
    let l = layout(&[2], &[1, 4, 8, 16, 32], &[]);
    assert_eq!(l.merge_elements(1), None);
    // The vector of a lane reaches into the group.
    let l = layout(&[1], &[2, 5, 8, 16, 32], &[]);
    assert_eq!(l.merge_elements(1), None);
    // Two registers repeat one element of the group.
    let l = layout(&[1, 1], &[2, 4, 8, 16, 32], &[]);
    assert_eq!(l.merge_elements(1), None);
}

#[test]
fn a_concatenation_prefers_idle_lanes() {
    let l = layout(&[1], &[2, 4, 0, 0, 0], &[0]);
    let (whole, _) = l.cat_over_replicas(&shape(&[8]), 0).unwrap();
    assert_eq!(whole, layout(&[1], &[2, 4, 8, 0, 0], &[0]));
    let busy = layout(&[], &[1, 2, 4, 8, 16], &[0]);
    let (whole, _) = busy.cat_over_replicas(&shape(&[32]), 0).unwrap();
    assert_eq!(whole, layout(&[], &[1, 2, 4, 8, 16], &[32]));
    let full = layout(&[], &[1, 2, 4, 8, 16], &[]);
    let (whole, _) = full.cat_over_replicas(&shape(&[32]), 0).unwrap();
    assert_eq!(whole, layout(&[32], &[1, 2, 4, 8, 16], &[]));
    // An extent of one has no halves.
    assert!(full.uncat(&shape(&[32, 1]), 1).is_err());
}

#[test]
fn passes_over_registers_as_warps() {
    let l = layout(&[1, 2, 128, 256], &[4, 8, 16, 32, 64], &[512]);
    let virtual_warps = l.registers_as_warps(2, 2);
    assert_eq!(virtual_warps, layout(&[1, 2], &[4, 8, 16, 32, 64], &[512, 0, 128, 256]));
    // Register 1 of pass 2 is register 1 + (2 << 2).
    let slot = |register, warp| Slot { register, thread: Thread { warp, ..Thread::default() } };
    assert_eq!(virtual_warps.element(slot(1, 2 << 2)), l.element(slot(1 + (2 << 2), 0)));
    assert_eq!(l.registers_as_warps(2, 1).warps_as_registers(1), l);
}
