//! Maps the elements of a register fragment to positions in its matrix.
//!
//! One rule covers all of `mma.sync` and the register operands of `wgmma`. A warp is 8 groups of 4 threads. Let `e` be
//! the number of elements in one register, `g = lane / 4` and `t = lane % 4`. A register of A holds `e` consecutive
//! columns of one row, and the four threads of a group together hold `4e`:
//!
//! ```text
//! A, register r, element j:  row = g + 8 * (r & 1)      (M = 16)
//!                            col = 4e * (r >> 1) + e * t + j
//! B, register r, element j:  row = 4e * r + e * t + j,   col = g
//! C, element i:              row = g + 8 * (i >> 1),     col = 2t + (i & 1)
//! ```
//!
//! With M = 8 there is no second row, so registers advance along K only. For example, in `m16n8k16` with f16
//! (`e = 2`), `a5` is element 1 of register 2, hence row `g`, column `8 + 2t + 1`.
//!
//! The m8n8k4 f16 form is older and computes four products at once; its rules are in [`quad`].

/// A position in a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    pub row: usize,
    pub col: usize,
}

/// Element `i` of the A fragment of `lane`, for a tile of `m` (8 or 16) rows.
pub const fn a(m: usize, per_register: usize, lane: usize, i: usize) -> Position {
    let (g, t, r, j) = (lane / 4, lane % 4, i / per_register, i % per_register);
    if m == 16 {
        Position { row: g + 8 * (r & 1), col: 4 * per_register * (r >> 1) + per_register * t + j }
    } else {
        Position { row: g, col: 4 * per_register * r + per_register * t + j }
    }
}

/// Element `i` of the B fragment of `lane`; the row runs along K.
pub const fn b(per_register: usize, lane: usize, i: usize) -> Position {
    let (g, t, r, j) = (lane / 4, lane % 4, i / per_register, i % per_register);
    Position { row: 4 * per_register * r + per_register * t + j, col: g }
}

/// Element `i` of the C or D fragment of `lane`, for 8 columns.
pub const fn c(lane: usize, i: usize) -> Position {
    Position { row: lane / 4 + 8 * (i >> 1), col: 2 * (lane % 4) + (i & 1) }
}

/// Element `i` of the `wgmma` accumulator of `thread` (0..128).
pub const fn wgmma_d(thread: usize, i: usize) -> Position {
    let inner = c(thread % 32, i & 3);
    Position { row: 16 * (thread / 32) + inner.row, col: 8 * (i >> 2) + inner.col }
}

/// Element `i` of the `wgmma` A operand of `thread` (0..128).
pub const fn wgmma_a(per_register: usize, thread: usize, i: usize) -> Position {
    let inner = a(16, per_register, thread % 32, i);
    Position { row: 16 * (thread / 32) + inner.row, col: inner.col }
}

/// `mma.m8n8k4` with f16 multiplicands: four independent products.
pub mod quad {
    use super::Position;

    /// Which of the four products a lane belongs to.
    pub const fn product(lane: usize) -> usize {
        lane % 16 / 4
    }

    const fn high(lane: usize) -> usize {
        if lane < 16 { 0 } else { 4 }
    }

    /// Element `i` (0..4) of A, row-major or column-major.
    pub const fn a(column_major: bool, lane: usize, i: usize) -> Position {
        if column_major {
            Position { row: i + high(lane), col: lane % 4 }
        } else {
            Position { row: lane % 4 + high(lane), col: i }
        }
    }

    /// Element `i` (0..4) of B.
    pub const fn b(column_major: bool, lane: usize, i: usize) -> Position {
        if column_major {
            Position { row: i, col: lane % 4 + high(lane) }
        } else {
            Position { row: lane % 4, col: i + high(lane) }
        }
    }

    /// Element `i` (0..8) of a f16 accumulator.
    pub const fn c_f16(lane: usize, i: usize) -> Position {
        Position { row: lane % 4 + high(lane), col: i }
    }

    /// Element `i` (0..8) of a f32 accumulator.
    pub const fn c_f32(lane: usize, i: usize) -> Position {
        Position { row: (lane & 1) + (i & 2) + high(lane), col: (i & 4) + (lane & 2) + (i & 1) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn at(row: usize, col: usize) -> Position {
        Position { row, col }
    }

    /// Entries taken from the figures and formulas of the PTX ISA.
    #[test]
    fn literal_entries() {
        // m16n8k16 f16, A: a0 of T0, a1 of T5, a2 of T0, a4 of T3, a7 of T31.
        assert_eq!(a(16, 2, 0, 0), at(0, 0));
        assert_eq!(a(16, 2, 5, 1), at(1, 3));
        assert_eq!(a(16, 2, 0, 2), at(8, 0));
        assert_eq!(a(16, 2, 3, 4), at(0, 14));
        assert_eq!(a(16, 2, 31, 7), at(15, 15));
        // m16n8k16 f16, B: b2 of T1 and b3 of T31.
        assert_eq!(b(2, 1, 2), at(10, 0));
        assert_eq!(b(2, 31, 3), at(15, 7));
        // m16n8k8 tf32: a2 of T0 is column 4, a3 is row 8, column 4.
        assert_eq!(a(16, 1, 0, 2), at(0, 4));
        assert_eq!(a(16, 1, 0, 3), at(8, 4));
        assert_eq!(b(1, 6, 1), at(6, 1));
        // m16n8k32 s8: a4..a7 are 8 rows down, a8 is 16 columns right.
        assert_eq!(a(16, 4, 2, 5), at(8, 9));
        assert_eq!(a(16, 4, 2, 8), at(0, 24));
        assert_eq!(b(4, 9, 6), at(22, 2));
        // m16n8k64 s4: a16 starts column 32.
        assert_eq!(a(16, 8, 0, 16), at(0, 32));
        assert_eq!(a(16, 8, 4, 8), at(9, 0));
        assert_eq!(b(8, 3, 8), at(56, 0));
        // m8n8k4 f64 and m16n8k16 f64: a5 is row g + 8, column 5 * 2 - 2 + t.
        assert_eq!(a(8, 1, 7, 0), at(1, 3));
        assert_eq!(a(16, 1, 7, 5), at(9, 11));
        assert_eq!(b(1, 7, 3), at(15, 1));
        // m16n8k256 b1: a64 starts column 128.
        assert_eq!(a(16, 32, 0, 64), at(0, 128));
        assert_eq!(a(16, 32, 1, 33), at(8, 33));
        // Accumulators.
        assert_eq!(c(0, 1), at(0, 1));
        assert_eq!(c(5, 2), at(9, 2));
        assert_eq!(c(31, 3), at(15, 7));
        // wgmma: thread 37 is lane 5 of warp 1; d4 begins the second block of 8.
        assert_eq!(wgmma_d(37, 0), at(17, 2));
        assert_eq!(wgmma_d(37, 6), at(25, 10));
        assert_eq!(wgmma_a(2, 127, 7), at(63, 15));
        // m8n8k4 f16.
        assert_eq!(quad::a(false, 17, 3), at(5, 3));
        assert_eq!(quad::a(true, 17, 3), at(7, 1));
        assert_eq!(quad::b(false, 18, 1), at(2, 5));
        assert_eq!(quad::c_f32(19, 7), at(7, 7));
        assert_eq!(quad::c_f32(1, 6), at(3, 4));
    }

    fn covers(rows: usize, cols: usize, positions: impl Iterator<Item = Position>) {
        let all: Vec<Position> = positions.collect();
        let distinct: BTreeSet<Position> = all.iter().copied().collect();
        assert_eq!(all.len(), rows * cols);
        assert_eq!(distinct.len(), rows * cols);
        assert!(distinct.iter().all(|p| p.row < rows && p.col < cols));
    }

    #[test]
    fn fragments_cover_their_tiles_once() {
        for (m, k, e) in [
            (8, 4, 1),
            (16, 4, 1),
            (16, 8, 1),
            (16, 16, 1),
            (16, 8, 2),
            (16, 16, 2),
            (8, 16, 4),
            (16, 16, 4),
            (16, 32, 4),
            (8, 32, 8),
            (16, 32, 8),
            (16, 64, 8),
            (8, 128, 32),
            (16, 128, 32),
            (16, 256, 32),
        ] {
            let per_lane = m * k / 32;
            covers(m, k, (0..32).flat_map(|l| (0..per_lane).map(move |i| a(m, e, l, i))));
            covers(k, 8, (0..32).flat_map(|l| (0..k * 8 / 32).map(move |i| b(e, l, i))));
            covers(m, 8, (0..32).flat_map(|l| (0..m * 8 / 32).map(move |i| c(l, i))));
        }
        for n in (8..=256).step_by(8) {
            covers(64, n, (0..128).flat_map(|t| (0..n / 2).map(move |i| wgmma_d(t, i))));
        }
        for e in [1, 2, 4, 32] {
            covers(64, 8 * e, (0..128).flat_map(|t| (0..4 * e).map(move |i| wgmma_a(e, t, i))));
        }
        for product in 0..4 {
            let lanes = move || (0..32).filter(move |&l| quad::product(l) == product);
            for column_major in [false, true] {
                covers(8, 4, lanes().flat_map(|l| (0..4).map(move |i| quad::a(column_major, l, i))));
                covers(4, 8, lanes().flat_map(|l| (0..4).map(move |i| quad::b(column_major, l, i))));
            }
            covers(8, 8, lanes().flat_map(|l| (0..8).map(move |i| quad::c_f16(l, i))));
            covers(8, 8, lanes().flat_map(|l| (0..8).map(move |i| quad::c_f32(l, i))));
        }
    }
}
