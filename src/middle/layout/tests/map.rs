//! The algebra: subspaces and linear maps, tested with laws on random instances and with literal examples.

use proptest::prelude::*;
use tile_layout::*;

fn map(columns: &[u64], out_bits: u32) -> LinearMap {
    LinearMap::new(columns.to_vec(), out_bits).expect("columns fit")
}

/// Random maps, with a bias to small sizes and dependent columns.
fn any_map(max_in: usize, max_out: u32) -> impl Strategy<Value = LinearMap> {
    (0..=max_out).prop_flat_map(move |out| {
        let column = if out == 0 { Just(0).boxed() } else { (0..1u64 << out).boxed() };
        let sparse = if out == 0 { Just(0).boxed() } else { (0..out).prop_map(|i| 1u64 << i).boxed() };
        let column = prop_oneof![3 => column, 2 => sparse, 1 => Just(0)];
        proptest::collection::vec(column, 0..=max_in).prop_map(move |columns| map(&columns, out))
    })
}

fn any_bijection(bits: u32) -> impl Strategy<Value = LinearMap> {
    proptest::collection::vec(0u64..1 << bits, 48).prop_map(move |vectors| {
        let mut span = Subspace::default();
        let mut columns: Vec<u64> = vectors.into_iter().filter(|&v| span.insert(v)).collect();
        columns.extend(span.extend((0..bits).map(|i| 1 << i)));
        map(&columns, bits)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn apply_is_linear(m in any_map(10, 10), x in 0u64..1024, y in 0u64..1024) {
        prop_assert_eq!(m.apply(x ^ y), m.apply(x) ^ m.apply(y));
        prop_assert_eq!(m.apply(0), 0);
        for (i, &c) in m.columns().iter().enumerate() {
            prop_assert_eq!(m.apply(1 << i), c);
        }
    }

    #[test]
    fn composition_is_application_in_turn(
        a in any_map(8, 8),
        x in 0u64..256,
        columns in proptest::collection::vec(any::<u64>(), 0..8),
    ) {
        let mask = low_mask(a.in_bits());
        let b = map(&columns.iter().map(|c| c & mask).collect::<Vec<_>>(), a.in_bits());
        let ab = a.compose(&b).unwrap();
        prop_assert_eq!(ab.apply(x), a.apply(b.apply(x)));
        prop_assert_eq!(ab.in_bits(), b.in_bits());
        prop_assert!(ab.rank() <= a.rank().min(b.rank()));
    }

    #[test]
    fn composition_is_associative(a in any_bijection(6), b in any_bijection(6), c in any_bijection(6)) {
        let left = a.compose(&b).unwrap().compose(&c).unwrap();
        let right = a.compose(&b.compose(&c).unwrap()).unwrap();
        prop_assert_eq!(left, right);
    }

    #[test]
    fn rank_and_kernel_add_up(m in any_map(10, 10)) {
        let kernel = m.kernel();
        prop_assert_eq!(m.rank() as usize + kernel.len(), m.in_bits() as usize);
        prop_assert_eq!(Subspace::span(kernel.iter().copied()).dim(), kernel.len());
        for k in kernel {
            prop_assert_eq!(m.apply(k), 0);
        }
    }

    #[test]
    fn kernel_and_image_agree_with_enumeration(m in any_map(7, 7)) {
        let zeros = (0..1u64 << m.in_bits()).filter(|&x| m.apply(x) == 0).count();
        prop_assert_eq!(zeros, 1 << m.kernel().len());
        let mut images: Vec<u64> = (0..1u64 << m.in_bits()).map(|x| m.apply(x)).collect();
        images.sort_unstable();
        images.dedup();
        prop_assert_eq!(images.len(), 1 << m.rank());
        let mut members: Vec<u64> = m.image().members().collect();
        members.sort_unstable();
        prop_assert_eq!(images, members);
    }

    #[test]
    fn injective_surjective_bijective_by_enumeration(m in any_map(6, 6)) {
        let mut images: Vec<u64> = (0..1u64 << m.in_bits()).map(|x| m.apply(x)).collect();
        images.sort_unstable();
        images.dedup();
        let injective = images.len() == 1 << m.in_bits();
        let surjective = images.len() == 1 << m.out_bits();
        prop_assert_eq!(m.is_injective(), injective);
        prop_assert_eq!(m.is_surjective(), surjective);
        prop_assert_eq!(m.is_bijective(), injective && surjective);
        prop_assert_eq!(m.left_inverse().is_ok(), injective);
        prop_assert_eq!(m.right_inverse().is_ok(), surjective);
        prop_assert_eq!(m.inverse().is_ok(), injective && surjective);
    }

    #[test]
    fn solutions_solve(m in any_map(8, 8), y in 0u64..256) {
        match m.solve(y & low_mask(m.out_bits())) {
            Some(x) => prop_assert_eq!(m.apply(x), y & low_mask(m.out_bits())),
            None => prop_assert!((0..1u64 << m.in_bits()).all(|x| m.apply(x) != y & low_mask(m.out_bits()))),
        }
    }

    #[test]
    fn solutions_use_the_first_independent_columns_only(m in any_map(8, 8), x in 0u64..256) {
        let mut span = Subspace::default();
        let first: u64 = m.columns().iter().enumerate().filter(|&(_, &c)| span.insert(c)).map(|(i, _)| 1u64 << i).sum();
        let solution = m.solve(m.apply(x)).unwrap();
        prop_assert_eq!(solution & !first, 0);
        // On the independent columns the map is injective, so the solution is the only one of its kind.
        let others = (0..1u64 << m.in_bits()).filter(|&z| z & !first == 0 && m.apply(z) == m.apply(x));
        prop_assert_eq!(others.count(), 1);
    }

    #[test]
    fn inverses_invert(m in any_bijection(9)) {
        let inverse = m.inverse().unwrap();
        let identity = LinearMap::identity(9);
        prop_assert_eq!(m.compose(&inverse).unwrap(), identity.clone());
        prop_assert_eq!(inverse.compose(&m).unwrap(), identity);
        prop_assert_eq!(inverse.inverse().unwrap(), m);
    }

    #[test]
    fn one_sided_inverses_invert_on_their_side(m in any_map(8, 8)) {
        if let Ok(right) = m.right_inverse() {
            prop_assert_eq!(m.compose(&right).unwrap(), LinearMap::identity(m.out_bits()));
        }
        if let Ok(left) = m.left_inverse() {
            prop_assert_eq!(left.compose(&m).unwrap(), LinearMap::identity(m.in_bits()));
        }
    }

    #[test]
    fn pseudo_inverses_satisfy_their_equation(m in any_map(8, 8)) {
        let p = m.pseudo_inverse();
        prop_assert_eq!((p.in_bits(), p.out_bits()), (m.out_bits(), m.in_bits()));
        prop_assert_eq!(m.compose(&p).unwrap().compose(&m).unwrap(), m.clone());
        prop_assert_eq!(p.compose(&m).unwrap().compose(&p).unwrap(), p);
    }

    #[test]
    fn transposition_is_an_involution_that_reverses_products(a in any_map(8, 8), b in any_bijection(8)) {
        prop_assert_eq!(a.transpose().transpose(), a.clone());
        prop_assert_eq!(a.transpose().rank(), a.rank());
        if a.in_bits() == 8 {
            let left = a.compose(&b).unwrap().transpose();
            prop_assert_eq!(left, b.transpose().compose(&a.transpose()).unwrap());
        }
    }

    #[test]
    fn products_act_on_their_halves(a in any_map(6, 6), b in any_map(6, 6), x in 0u64..64, y in 0u64..64) {
        let product = a.product(&b).unwrap();
        let (x, y) = (x & low_mask(a.in_bits()), y & low_mask(b.in_bits()));
        prop_assert_eq!(product.apply(x | y << a.in_bits()), a.apply(x) | b.apply(y) << a.out_bits());
        prop_assert_eq!(product.rank(), a.rank() + b.rank());
        prop_assert_eq!(product.is_bijective(), a.is_bijective() && b.is_bijective());
    }

    #[test]
    fn division_undoes_the_product(a in any_map(6, 6), b in any_map(6, 6)) {
        prop_assert_eq!(a.product(&b).unwrap().left_divide(&a), Some(b));
    }

    #[test]
    fn quotients_multiply_back(m in any_map(6, 8), tile in any_map(3, 3)) {
        if let Some(quotient) = m.left_divide(&tile) {
            prop_assert_eq!(tile.product(&quotient).unwrap(), m);
        }
    }

    #[test]
    fn concatenation_and_stacking_are_transposes(a in any_map(5, 6), x in 0u64..32, y in 0u64..32) {
        let b = a.transpose().transpose();
        let both = a.concat(&b).unwrap();
        let (x, y) = (x & low_mask(a.in_bits()), y & low_mask(b.in_bits()));
        prop_assert_eq!(both.apply(x | y << a.in_bits()), a.apply(x) ^ b.apply(y));
        let stacked = a.stack(&b).unwrap();
        prop_assert_eq!(stacked.apply(x), a.apply(x) | b.apply(x) << a.out_bits());
        prop_assert_eq!(a.transpose().concat(&b.transpose()).unwrap().transpose(), stacked);
    }

    #[test]
    fn sums_add_pointwise(a in any_bijection(6), b in any_bijection(6), x in 0u64..64) {
        prop_assert_eq!(a.add(&b).unwrap().apply(x), a.apply(x) ^ b.apply(x));
        prop_assert_eq!(a.add(&a).unwrap(), LinearMap::zero(6, 6));
    }

    #[test]
    fn echelon_form_has_the_same_solutions(m in any_map(8, 8)) {
        let (reduced, pivots) = m.reduced_row_echelon();
        prop_assert_eq!(pivots.len() as u32, m.rank());
        prop_assert!(pivots.is_sorted());
        // Pivot columns are unit vectors in order; rows beyond the rank are zero.
        for (row, &pivot) in pivots.iter().enumerate() {
            prop_assert_eq!(reduced.columns()[pivot as usize], 1 << row);
        }
        for &c in reduced.columns() {
            prop_assert_eq!(c & !low_mask(m.rank()), 0);
        }
        prop_assert_eq!(reduced.kernel(), m.kernel());
        prop_assert_eq!(reduced.reduced_row_echelon().0, reduced);
    }

    #[test]
    fn sublayouts_pick_bits(m in any_bijection(7), x in 0u64..128) {
        let all: Vec<u32> = (0..7).collect();
        prop_assert_eq!(m.sublayout(&all, &all).unwrap(), m.clone());
        let part = m.sublayout(&[2, 5], &[6, 0, 3]).unwrap();
        let input = (x & 1) << 2 | (x >> 1 & 1) << 5;
        let full = m.apply(input);
        prop_assert_eq!(part.apply(x & 3), full >> 6 & 1 | (full & 1) << 1 | (full >> 3 & 1) << 2);
    }

    #[test]
    fn solve_map_solves_every_column(a in any_map(7, 7), b in any_bijection(7)) {
        if a.out_bits() == 7 {
            match a.solve_map(&b) {
                Some(x) => prop_assert_eq!(a.compose(&x).unwrap(), b),
                None => prop_assert!(!a.is_surjective()),
            }
        }
    }

    #[test]
    fn spans_agree_with_enumeration(vectors in proptest::collection::vec(0u64..64, 0..6), v in 0u64..64) {
        let span = Subspace::span(vectors.iter().copied());
        let reached = (0..1u64 << vectors.len()).any(|i| combine(&vectors, i) == v);
        prop_assert_eq!(span.contains(v), reached);
        prop_assert_eq!(span.members().count(), 1 << span.dim());
        prop_assert!(span.members().all(|m| span.contains(m)));
    }

    #[test]
    fn reduced_bases_are_unique(vectors in proptest::collection::vec(0u64..256, 0..8), swap in any::<u64>()) {
        // Another generating set of the same subspace: reversed, with one vector added to all others.
        let mut other: Vec<u64> = vectors.iter().rev().copied().collect();
        if let Some((first, rest)) = other.split_first_mut() {
            for (i, v) in rest.iter_mut().enumerate() {
                *v ^= if swap >> i & 1 == 1 { *first } else { 0 };
            }
        }
        prop_assert_eq!(Subspace::span(vectors), Subspace::span(other));
    }

    #[test]
    fn reduction_names_cosets(vectors in proptest::collection::vec(0u64..256, 0..5), a in 0u64..256, b in 0u64..256) {
        let span = Subspace::span(vectors);
        prop_assert_eq!(span.reduce(a) == span.reduce(b), span.contains(a ^ b));
        prop_assert!(span.contains(a ^ span.reduce(a)));
    }

    #[test]
    fn intersections_agree_with_membership(
        a in proptest::collection::vec(0u64..128, 0..6), b in proptest::collection::vec(0u64..128, 0..6),
    ) {
        let (a, b) = (Subspace::span(a), Subspace::span(b));
        let both = a.intersect(&b);
        for v in 0..128 {
            prop_assert_eq!(both.contains(v), a.contains(v) && b.contains(v));
        }
        // dim(A + B) + dim(A and B) = dim A + dim B.
        let sum = Subspace::span(a.basis().iter().chain(b.basis()).copied());
        prop_assert_eq!(sum.dim() + both.dim(), a.dim() + b.dim());
        prop_assert_eq!(both, b.intersect(&a));
    }

    #[test]
    fn extending_returns_a_complement(
        a in proptest::collection::vec(0u64..128, 0..5), b in proptest::collection::vec(0u64..128, 0..5),
    ) {
        let mut sum = Subspace::span(a.iter().copied());
        let before = sum.clone();
        let added = sum.extend(b.iter().copied());
        prop_assert_eq!(before.dim() + added.len(), sum.dim());
        prop_assert_eq!(Subspace::span(added.iter().copied()).intersect(&before).dim(), 0);
        prop_assert!(added.iter().all(|v| b.contains(v)));
        prop_assert!(sum.contains_all(&b));
    }
}

#[test]
fn a_swizzle_is_its_own_inverse() {
    // Two column bits, two row bits; the offset of (r, c) is (r, c ^ r).
    let swizzle = map(&[1, 2, 4 | 1, 8 | 2], 4);
    assert_eq!(swizzle.inverse().unwrap(), swizzle);
    assert_eq!((0..4).map(|c| swizzle.apply(c | 3 << 2) & 3).collect::<Vec<_>>(), [3, 2, 1, 0]);
}

#[test]
fn solutions_of_a_literal_system() {
    // Columns 0 and 2 are equal, column 3 is the sum of 0 and 1.
    let m = map(&[0b011, 0b101, 0b011, 0b110], 3);
    assert_eq!(m.rank(), 2);
    assert_eq!(m.kernel(), [0b0101, 0b1011]);
    assert_eq!(m.solve(0b110), Some(0b0011));
    assert_eq!(m.solve(0b001), None);
    assert_eq!(m.image().basis(), [0b011, 0b101]);
    let (reduced, pivots) = m.reduced_row_echelon();
    assert_eq!(pivots, [0, 1]);
    assert_eq!(reduced, map(&[1, 2, 1, 3], 3));
}

#[test]
fn right_inverse_names_the_first_holder() {
    // Bits 1 and 2 both hold element bit 0; bit 3 holds nothing.
    let m = map(&[2, 1, 1, 0], 2);
    assert_eq!(m.right_inverse().unwrap(), map(&[0b0010, 0b0001], 4));
    assert_eq!(m.left_inverse().unwrap_err(), LayoutError::NotInvertible { rank: 2, in_bits: 4, out_bits: 2 });
}

#[test]
fn pseudo_inverse_of_a_slice_drops_what_is_outside() {
    // The image is spanned by 1 and 4; bit 1 of the output is never reached and goes to zero.
    let m = map(&[4, 1, 5], 3);
    assert_eq!(m.pseudo_inverse(), map(&[0b010, 0, 0b001], 3));
}

#[test]
fn division_by_an_instruction_tile() {
    let tile = map(&[1, 2], 2);
    let layout = map(&[1, 2, 8, 4], 4);
    assert_eq!(layout.left_divide(&tile), Some(map(&[2, 1], 2)));
    // The third bit reaches into the tile.
    assert_eq!(map(&[1, 2, 9, 4], 4).left_divide(&tile), None);
    // The registers come in another order.
    assert_eq!(map(&[2, 1, 8, 4], 4).left_divide(&tile), None);
    // The tile is larger than the layout.
    assert_eq!(map(&[1], 1).left_divide(&tile), None);
    // Every map is divisible by itself and by the empty map.
    assert_eq!(layout.left_divide(&layout), Some(LinearMap::zero(0, 0)));
    assert_eq!(layout.left_divide(&LinearMap::zero(0, 0)), Some(layout));
}

#[test]
fn full_width_maps_work_at_the_edge() {
    let identity = LinearMap::identity(64);
    assert_eq!(identity.apply(u64::MAX), u64::MAX);
    assert!(identity.is_bijective());
    assert_eq!(identity.inverse().unwrap(), identity);
    assert_eq!(identity.product(&LinearMap::zero(0, 0)).unwrap(), identity);
    assert_eq!(LinearMap::zero(0, 0).product(&identity).unwrap(), identity);
    assert_eq!(identity.left_divide(&identity), Some(LinearMap::zero(0, 0)));
    assert_eq!(LinearMap::identity(1000), identity);
    assert_eq!(identity.transpose(), identity);
}

#[test]
fn empty_maps_are_maps() {
    let empty = LinearMap::zero(0, 0);
    assert!(empty.is_bijective());
    assert_eq!(empty.apply(7), 0);
    assert_eq!(empty.inverse().unwrap(), empty);
    assert!(LinearMap::zero(0, 3).is_injective());
    assert!(!LinearMap::zero(0, 3).is_surjective());
    assert!(LinearMap::zero(3, 0).is_surjective());
    assert_eq!(LinearMap::zero(3, 0).kernel(), [1, 2, 4]);
}

#[test]
fn misuse_is_an_error_with_a_code() {
    let too_many = LinearMap::new(vec![0; 65], 4).unwrap_err();
    assert_eq!(too_many, LayoutError::TooManyBits { what: "the input of a map", bits: 65, limit: 64 });
    assert_eq!(too_many.code(), "layout-too-many-bits");
    assert_eq!(LinearMap::new(vec![], 65).unwrap_err().code(), "layout-too-many-bits");
    let outside = LinearMap::new(vec![1, 16], 4).unwrap_err();
    assert_eq!(outside, LayoutError::OutOfRange { what: "column", value: 16, bits: 4 });
    assert_eq!(outside.to_string(), "column 0x10 does not fit in 4 bits");
    let (a, b) = (LinearMap::identity(3), LinearMap::identity(4));
    assert_eq!(a.compose(&b).unwrap_err().code(), "layout-mismatch");
    assert_eq!(a.concat(&b).unwrap_err().code(), "layout-mismatch");
    assert_eq!(a.stack(&b).unwrap_err().code(), "layout-mismatch");
    assert_eq!(a.add(&b).unwrap_err().code(), "layout-mismatch");
    assert_eq!(a.solve_map(&b), None);
    assert_eq!(a.sublayout(&[3], &[0]).unwrap_err().code(), "layout-out-of-range");
    assert_eq!(a.sublayout(&[0], &[3]).unwrap_err().code(), "layout-out-of-range");
    assert_eq!(LinearMap::zero(2, 2).inverse().unwrap_err().code(), "layout-not-invertible");
    let wide = LinearMap::identity(40);
    assert_eq!(wide.product(&wide).unwrap_err().code(), "layout-too-many-bits");
    assert_eq!(wide.stack(&wide).unwrap_err().code(), "layout-too-many-bits");
}
