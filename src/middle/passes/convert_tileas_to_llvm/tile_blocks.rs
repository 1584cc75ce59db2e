//! The tile blocks that a CTA runs, if the first CTAs of a grid run all of them.

use super::{Lower, llvm::Cmp};
use crate::dialect::{
    nv_tileaa::{NumProgramsOfCtaOp, ProgramOfCtaOp},
    pass::Failed,
    rt::*,
};

/// The most tile blocks of a plane of a grid, and of a grid, whose CTAs run several.
const MOST_OF_PLANE: i64 = 1 << 24;
const MOST_OF_GRID: i64 = 1 << 30;

/// The share of a CTA in the tile blocks of the grid.
struct Share<'c> {
    /// Whether CTAs run several tile blocks.
    many: Val<'c>,
    /// The coordinates of the CTA, and the extents of the grid.
    own: [Val<'c>; 3],
    counts: [Val<'c>; 3],
    /// The number of the CTA.
    first: Val<'c>,
    /// The number of all tile blocks, and of the CTAs that run them.
    all: Val<'c>,
    ctas: Val<'c>,
}

impl<'c> Lower<'c, '_> {
    /// The share of this CTA in the tile blocks of the grid. `many` is an operand of `op`.
    fn share(&mut self, op: OpRef<'c>, many: Val<'c>) -> Result<Share<'c>, Failed> {
        let many = self.scalar(op, many)?;
        let l = &self.l;
        let [own, counts] = [self.grid("ctaid", "clusterid"), self.grid("nctaid", "nclusterid")];
        let (own, counts) = (own.map(|name| l.sreg(&name)), counts.map(|name| l.sreg(&name)));
        // Each factor is below 2^24, so the first product is exact. The second one is if the first is small.
        let plane = l.mul(l.zext64(counts[0]), l.zext64(counts[1]));
        let grid = l.mul(plane, l.zext64(counts[2]));
        let fits = [(plane, MOST_OF_PLANE), (grid, MOST_OF_GRID)];
        let fits = fits.map(|(count, most)| l.icmp(Cmp::Ule, count, l.i64c(most)));
        let many = l.bin("and", many, l.bin("and", fits[0], fits[1]));
        let row = l.add(own[1], l.mul(counts[1], own[2]));
        let first = l.add(own[0], l.mul(counts[0], row));
        let all = l.cast("trunc", grid, l.i32);
        let sms = l.sreg("nsmid");
        let ctas = l.select(l.icmp(Cmp::Ult, all, sms), all, sms);
        Ok(Share { many, own, counts, first, all, ctas })
    }

    pub fn num_programs_of_cta(&mut self, x: NumProgramsOfCtaOp<'c>) -> Result<(), Failed> {
        let Share { many, first, all, ctas, .. } = self.share(x.op(), x.many())?;
        let l = &self.l;
        let (zero, one) = (l.i32c(0), l.i32c(1));
        let rest = l.bin("sub", l.add(all, l.bin("sub", ctas, one)), first);
        let share = l.select(l.icmp(Cmp::Ult, first, ctas), l.bin("udiv", rest, ctas), zero);
        let count = l.select(many, share, one);
        self.set_scalar(x.result(), count);
        Ok(())
    }

    pub fn program_of_cta(&mut self, x: ProgramOfCtaOp<'c>) -> Result<(), Failed> {
        let index = self.scalar(x.op(), x.index())?;
        let Share { many, own, counts, first, ctas, .. } = self.share(x.op(), x.many())?;
        let l = &self.l;
        let number = l.add(first, l.mul(index, ctas));
        let row = l.bin("udiv", number, counts[0]);
        let plane = l.bin("udiv", row, counts[1]);
        let column = l.bin("sub", number, l.mul(row, counts[0]));
        let shared = [column, l.bin("sub", row, l.mul(plane, counts[1])), plane];
        let all = std::array::from_fn::<_, 3, _>(|d| l.select(many, shared[d], own[d]));
        for (r, v) in results(x.op()).zip(all) {
            self.set_scalar(r, v);
        }
        Ok(())
    }
}
