//! The order among the accesses of a warp's lanes.
//!
//! The lanes of a warp are independent threads: since Volta, only synchronization orders a write of one lane before a
//! read of another, even when both execute the same instructions together. Steps count the warp's instructions. Lane a
//! *knows* lane b up to a step if everything that b did until that step happened before the current access of a.
//! `bar.warp.sync` makes its lanes know each other up to the current step, and merges what each of them knew. For
//! example, after `bar.warp.sync 0x3` at step 10, lane 1 may read what lane 0 wrote at step 9, but lane 2 may not.
//!
//! Barriers of the CTA or cluster, waits on mbarriers, fences and acquiring reads are treated as if all lanes took
//! part. This can miss races but never reports a false one. Arrivals and releasing writes apply to their own lanes
//! only.

use super::lanes::lanes;

#[derive(Clone, Debug, Default)]
pub(crate) struct LaneOrder {
    /// All lanes know all others up to this step.
    all: u32,
    /// `known[a][b]`: how far lane a knows lane b, if further than `all`.
    known: Option<Box<[[u32; 32]; 32]>>,
}

impl LaneOrder {
    /// Whether the accesses of `other` at `step` happened before the current access of `lane`.
    pub fn knows(&self, lane: usize, other: usize, step: u32) -> bool {
        lane == other || step <= self.all || self.known.as_ref().is_some_and(|k| step <= k[lane][other])
    }

    /// The lanes that `lane` knows beyond `all`, with the step for each.
    pub fn met_since(&self, lane: usize) -> impl Iterator<Item = (usize, u32)> {
        let known = self.known.iter().flat_map(move |k| k[lane].iter().copied().enumerate());
        known.filter(|(_, until)| *until > self.all)
    }

    /// Records that the lanes `together`, of the live lanes, synchronized after `step`.
    pub fn meet(&mut self, together: u32, live: u32, step: u32) {
        if together & live == live {
            self.all = step;
            self.known = None;
            return;
        }
        let all = self.all;
        let known = self.known.get_or_insert_with(|| Box::new([[all; 32]; 32]));
        let mut joint = [all; 32];
        for a in lanes(together) {
            for (j, k) in joint.iter_mut().zip(&known[a]) {
                *j = (*j).max(*k);
            }
        }
        for b in lanes(together) {
            joint[b] = step;
        }
        for a in lanes(together) {
            known[a] = joint;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_know_whom_they_met() {
        let mut o = LaneOrder::default();
        assert!(o.knows(3, 3, 9) && !o.knows(3, 4, 9));
        o.meet(0b11, u32::MAX, 10);
        assert!(o.knows(1, 0, 10) && !o.knows(1, 0, 11) && !o.knows(2, 0, 10) && !o.knows(0, 2, 10));
        // Knowledge is transitive.
        o.meet(0b110, u32::MAX, 20);
        assert!(o.knows(2, 0, 10) && !o.knows(2, 0, 11) && o.knows(2, 1, 20) && !o.knows(0, 1, 20));
        o.meet(u32::MAX, u32::MAX, 30);
        assert!(o.knows(0, 31, 30) && !o.knows(0, 31, 31));
        // Exited lanes are ignored.
        o.meet(0xff, 0xff, 40);
        assert!(o.knows(0, 7, 40));
    }
}
