//! Which accesses of a warp's lanes are ordered among themselves.
//!
//! The lanes of a warp are threads like others: since Volta nothing but synchronisation orders what one lane writes
//! before what another reads, even where both go through the code together. Steps count the warp's instructions. Lane
//! a *knows* lane b up to a step: what b did until then happened before what a does now. `bar.warp.sync` makes its
//! lanes know each other up to now, and what any of them knew. Example: after `bar.warp.sync 0x3` at step 10, lane 1
//! may read what lane 0 wrote at step 9, and lane 2 may not.
//!
//! Barriers of the CTA or the cluster, waits on mbarriers, fences and acquiring reads count as if all lanes took part:
//! that finds less, but never something that is right. Arrivals and releasing writes are those of their lanes.

use super::lanes::lanes;

#[derive(Clone, Debug, Default)]
pub(crate) struct LaneOrder {
    /// All lanes know all others up to this step.
    all: u32,
    /// `known[a][b]`: how far lane a knows lane b, where that is further.
    known: Option<Box<[[u32; 32]; 32]>>,
}

impl LaneOrder {
    /// Whether what `other` did at `step` happened before what `lane` does now.
    pub fn knows(&self, lane: usize, other: usize, step: u32) -> bool {
        lane == other || step <= self.all || self.known.as_ref().is_some_and(|k| step <= k[lane][other])
    }

    /// The other lanes that `lane` knows further than all know all, and how far.
    pub fn met_since(&self, lane: usize) -> impl Iterator<Item = (usize, u32)> {
        let known = self.known.iter().flat_map(move |k| k[lane].iter().copied().enumerate());
        known.filter(|(_, until)| *until > self.all)
    }

    /// These of the live lanes have met after `step`.
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
        // Knowledge is passed on.
        o.meet(0b110, u32::MAX, 20);
        assert!(o.knows(2, 0, 10) && !o.knows(2, 0, 11) && o.knows(2, 1, 20) && !o.knows(0, 1, 20));
        o.meet(u32::MAX, u32::MAX, 30);
        assert!(o.knows(0, 31, 30) && !o.knows(0, 31, 31));
        // Lanes that have exited are not waited for.
        o.meet(0xff, 0xff, 40);
        assert!(o.knows(0, 7, 40));
    }
}
