//! Transposes tiles of bytes in place in shared memory.
//!
//! A panel has 128 rows of 128 bytes, or 8x8 squares of 16x16 bytes. The transpose moves square `(y, x)` to `(x, y)`.
//! A warp loads such a pair of squares, or two squares of the diagonal, and writes each to the other's location. No
//! other warp accesses these squares, so warps need not synchronize.
//!
//! `ldmatrix.trans` gives a lane two neighboring columns of two rows:
//!
//! ```text
//! a = bytes (r, c) (r, c+1) (r+1, c) (r+1, c+1)      b = the same of rows r+2 and r+3
//! c:   a0 a2 b0 b2                                   c+1: a1 a3 b1 b3
//! ```
//!
//! A lane thus has four rows of two columns, which `stmatrix` takes as rows of the transposed square.
//!
//! *Bank conflicts.* The 16 bytes at column `c` of row `r` are stored at `c ^ (r & 7)`, so the eight rows of a matrix
//! must differ in their low three bits. Rows `{0, 1, 4, 5, 8, 9, 12, 13}` do not. Half of the lanes therefore load
//! rows `r` into `b` and `r+2` into `a`, which replaces rows 8 to 15 by the other four. Columns are swapped the same
//! way when they are written. The bytes that a lane selects depend on the lane, through the selector of `prmt`.
//!
//! *Work distribution.* For each `d = x ^ y` other than zero there are four pairs `(y, x)`, `(x, y)`, because `y` and
//! `y ^ d` are in the same pair. Two bits of the warp number select the pair: they are the bits of `y`
//! other than the highest bit of `d`. For `d = 0` they are `y` without its lowest bit. The remaining bits of the warp
//! number select the panel and then `d`. The warp iterates over the rest.

use super::{Lower, llvm::Cmp};
use crate::dialect::{
    nv_tileas::{LocalTransposeOp, MemDescType},
    pass::{Failed, fail},
    rt::*,
    shared_memory::shared_layout,
};
use tile_layout::{AccessMode, transposed_panels};

/// The bytes of a panel.
const PANEL: u64 = 128 * 128;
/// The offset of a square from its neighbor one step down and one to the right: 16 rows plus 16 bytes.
const STEP: i64 = 16 * 128 + 16;
/// Log2 of the number of squares in a row of a panel.
const SQUARES_LOG2: u32 = 3;
/// The matrices that a lane loads at once, as halves.
const TRANSPOSED: AccessMode = AccessMode::Matrix { matrices: 4, elements: 2, transposed: true };
/// The number of pairs of squares that a warp holds in registers at a time.
const BATCH: usize = 2;

/// The offsets at which a warp reads and writes its pair of squares, from the start of a panel.
struct Pair<'c> {
    from: Val<'c>,
    to: Val<'c>,
}

impl<'c> Lower<'c, '_> {
    pub(super) fn local_transpose(&mut self, op: LocalTransposeOp<'c>) -> Result<(), Failed> {
        let layout = |v: Val<'c>| MemDescType::cast(ty(v)).and_then(shared_layout);
        let panels = layout(op.source()).zip(layout(op.dest())).and_then(|(from, to)| transposed_panels(&from, &to));
        let panels =
            panels.ok_or_else(|| fail(op.op(), "the tile does not consist of panels that can be transposed"))?;
        let memory = self.shared_address(op.op(), op.source())?;
        let panel_bits = panels.ilog2();
        // The bits of the warp number that select one of four pairs, the panel, and the highest bits of `d`.
        let of_pair = self.threads.warp_bits.min(2);
        let of_panel = (self.threads.warp_bits - of_pair).min(panel_bits);
        let of_d = self.threads.warp_bits - of_pair - of_panel;
        if of_d > SQUARES_LOG2 {
            return Err(fail(
                op.op(),
                format!("{} warps exceed the number of pairs of squares in a tile", self.threads.warps),
            ));
        }
        let l = &self.l;
        let and = |v: Val<'c>, mask: i64| l.bin("and", v, l.i32c(mask));
        let shifted = |v: Val<'c>, by: u32| l.bin("lshr", v, l.i32c(by.into()));
        let xor = |a: Val<'c>, b: Val<'c>| l.bin("xor", a, b);

        // The rows of a square whose addresses a lane supplies: for the matrices read and for the matrices written.
        let odd = and(xor(shifted(self.threads.lane, 3), shifted(self.threads.lane, 2)), 1);
        let read = {
            let high = l.bin("shl", and(self.threads.lane, 6), l.i32c(1));
            l.bin("or", l.bin("or", and(self.threads.lane, 1), l.bin("shl", odd, l.i32c(1))), high)
        };
        let written = l.bin("or", odd, l.bin("shl", and(self.threads.lane, 7), l.i32c(1)));
        let row = |i: Val<'c>| l.bin("or", l.bin("shl", i, l.i32c(7)), l.bin("shl", and(i, 7), l.i32c(4)));
        let (read, written) = (row(read), row(written));
        // Keep half of the addresses in registers and compute the other half from them.
        let delta = self.hide_from_licm(op.op(), xor(read, written));
        // A mask of all ones in lanes that hold the second square of a pair.
        let second = l.bin("sub", l.i32c(0), and(shifted(self.threads.lane, 4), 1));
        let bit = |i: u32| l.bin("sub", l.i32c(0), and(shifted(self.threads.warp, i), 1));
        let of_warp: Vec<Val<'c>> = (0..of_pair).map(bit).collect();

        // `prmt` selectors: which row is in which matrix, and which column goes to which.
        let swapped = l.icmp(Cmp::Ne, and(self.threads.lane, 2), l.i32c(0));
        let even = l.select(swapped, l.i32c(0x2064), l.i32c(0x6420));
        let odd = l.add(even, l.i32c(0x1111));
        let upper = l.icmp(Cmp::Ne, and(self.threads.lane, 16), l.i32c(0));
        let selectors = [l.select(upper, odd, even), l.select(upper, even, odd)];

        let mut base = memory;
        if of_panel > 0 {
            let panel = and(shifted(self.threads.warp, of_pair), (1 << of_panel) - 1);
            base = l.byte_offset(base, l.bin("shl", panel, l.i32c(PANEL.ilog2().into())));
        }
        let pair = |d: i64, number: i64| {
            // The bits that distinguish pairs, and the difference between the first and second square of a pair.
            let (low, high) = if d > 3 {
                (1, 2)
            } else if d > 1 {
                (1, 4)
            } else {
                (2, 4)
            };
            let partner = d.max(1);
            let mut at = xor(read, and(second, partner * STEP));
            for (i, step) in [low, high].into_iter().enumerate() {
                match of_warp.get(i) {
                    Some(bits) => at = xor(at, and(*bits, step * STEP)),
                    None if number >> (i - of_warp.len()) & 1 != 0 => at = xor(at, l.i32c(step * STEP)),
                    None => {}
                }
            }
            let from = xor(at, l.i32c(d << 4));
            Pair { from, to: xor(xor(from, delta), l.i32c(d * STEP)) }
        };
        let mut pairs = vec![];
        for low in 0..1i64 << (SQUARES_LOG2 - of_d) {
            for number in 0..1i64 << (2 - of_pair) {
                let all = (0..1i64 << of_d).map(|high| pair(high << (SQUARES_LOG2 - of_d) | low, number));
                let high = shifted(self.threads.warp, of_pair + of_panel);
                let mut all = all.enumerate();
                let first = all.next().map(|(_, first)| first).expect("one at least");
                pairs.push(all.fold(first, |found, (i, pair)| {
                    let mine = l.icmp(Cmp::Eq, high, l.i32c(i as i64));
                    Pair { from: l.select(mine, pair.from, found.from), to: l.select(mine, pair.to, found.to) }
                }));
            }
        }
        let mut all = vec![];
        for pair in &pairs {
            let (from, to) = (l.byte_offset(base, pair.from), l.byte_offset(base, pair.to));
            all.extend((0..panels >> of_panel).map(|i| (from, to, i * (PANEL << of_panel))));
        }
        for batch in all.chunks(BATCH) {
            let read: Vec<Vec<Val<'c>>> =
                batch.iter().map(|(from, _, panel)| self.load_matrices(*from, *panel, 4, TRANSPOSED)).collect();
            // Wait until all lanes have read, as the memory model requires. It is free: a warp's lanes read together.
            l.order("bar.warp.sync -1;");
            for ((_, to, panel), words) in batch.iter().zip(read) {
                let transposed = words.chunks(2).flat_map(|w| selectors.map(|s| l.prmt(w[0], w[1], s)));
                self.store_matrices(l.const_offset(*to, *panel as i64), &transposed.collect::<Vec<_>>(), false);
            }
        }
        Ok(())
    }
}
