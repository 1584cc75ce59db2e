//! Agents: groups of warps that run different programs, recognized by the instructions they execute.
//!
//! PTX does not record which warps belong together. In a warp-specialized kernel some warps start copies and never
//! multiply, and others multiply the copied data: a producer and its consumers. The unit is the warpgroup of four
//! warps, because `wgmma` executes per warpgroup and the idle warps of a producer pad its group.

use super::replay::WarpCost;
use super::waits::{InstStats, Reason};
use std::ops::Range;

/// Warps of a warpgroup.
const GROUP: usize = 4;

/// A group of warps that run their own program.
#[derive(Clone, Debug)]
pub struct Agent {
    pub name: String,
    pub warps: Range<u32>,
    /// The warp shown for the agent in timelines.
    pub lead: u32,
    /// Clocks of all its warps together.
    pub cost: InstStats,
}

impl Agent {
    /// The clocks that its warps waited, by reason, as shares of the total; largest first.
    pub fn waits(&self) -> Vec<(Reason, f64)> {
        let all = self.cost.waited().max(1.0);
        let mut found: Vec<(Reason, f64)> =
            Reason::ALL.into_iter().map(|r| (r, self.cost.waits[r as usize] / all)).filter(|(_, x)| *x > 0.0).collect();
        found.sort_by(|x, y| y.1.total_cmp(&x.1).then(x.0.cmp(&y.0)));
        found
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Producer,
    Consumer,
    Other,
}

/// The agents of a CTA; empty if all warps run the same program.
pub(super) fn agents(warps: &[WarpCost]) -> Vec<Agent> {
    let kind = |group: &[WarpCost]| {
        let (copies, products) = (group.iter().any(|w| w.copies > 0), group.iter().any(|w| w.products > 0));
        match (copies, products) {
            (true, false) => Kind::Producer,
            (_, true) => Kind::Consumer,
            (false, false) => Kind::Other,
        }
    };
    let kinds: Vec<Kind> = warps.chunks(GROUP).map(kind).collect();
    if !kinds.contains(&Kind::Producer) || !kinds.contains(&Kind::Consumer) {
        return Vec::new();
    }
    let mut seen = [0; 3];
    let groups = warps.chunks(GROUP).zip(&kinds).enumerate();
    groups
        .map(|(i, (group, kind))| {
            seen[*kind as usize] += 1;
            let name = match kind {
                Kind::Producer => "producer",
                Kind::Consumer => "consumer",
                Kind::Other => "other warps",
            };
            let several = kinds.iter().filter(|k| *k == kind).count() > 1;
            let mut cost = InstStats::default();
            group.iter().for_each(|w| cost.add(&w.cost));
            let first = (i * GROUP) as u32;
            let lead = group.iter().position(|w| w.copies + w.products > 0).unwrap_or(0) as u32;
            Agent {
                name: if several { format!("{name} {}", seen[*kind as usize]) } else { name.to_owned() },
                warps: first..first + group.len() as u32,
                lead: first + lead,
                cost,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warps(work: &[(u64, u64)]) -> Vec<WarpCost> {
        work.iter()
            .map(|(copies, products)| WarpCost { copies: *copies, products: *products, ..WarpCost::default() })
            .collect()
    }

    #[test]
    fn agents_are_told_by_their_work() {
        let (idle, loads, multiplies) = ((0, 0), (8, 0), (0, 8));
        let mut work = vec![multiplies; 8];
        work.extend([idle, loads, idle, idle]);
        let found: Vec<_> = agents(&warps(&work)).into_iter().map(|a| (a.name, a.warps, a.lead)).collect();
        let expected = [("consumer 1", 0..4, 0), ("consumer 2", 4..8, 4), ("producer", 8..12, 9)];
        assert_eq!(found, expected.map(|(name, range, lead)| (name.to_owned(), range, lead)));
        // All warps run the same program, or every warp does everything: no agents.
        assert!(agents(&warps(&[multiplies; 8])).is_empty());
        assert!(agents(&warps(&[(8, 8); 4])).is_empty());
        assert!(agents(&warps(&[loads; 4])).is_empty());
    }
}
