//! Line-by-line differences between the programs before and after a pass.
//!
//! An op that a pass adds changes the numbers of all later values. Lines are therefore compared without value
//! numbers, but shown with them.

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// A run of lines that starts at the lines `before` and `after`. Only one of the lengths is nonzero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    pub before: usize,
    pub after: usize,
    pub removed: usize,
    pub added: usize,
    /// The number of lines that both programs contain.
    pub same: usize,
}

/// Compares two programs.
pub fn changes(before: &str, after: &str) -> Vec<Run> {
    let plain = |text: &str| text.lines().map(without_numbers).collect::<Vec<_>>();
    let runs = capture_diff_slices(Algorithm::Patience, &plain(before), &plain(after));
    runs.into_iter().flat_map(of_operation).collect()
}

fn of_operation(op: DiffOp) -> Vec<Run> {
    let run = |before, after, removed, added, same| Run { before, after, removed, added, same };
    match op {
        DiffOp::Equal { old_index, new_index, len } => vec![run(old_index, new_index, 0, 0, len)],
        DiffOp::Delete { old_index, old_len, new_index } => vec![run(old_index, new_index, old_len, 0, 0)],
        DiffOp::Insert { old_index, new_index, new_len } => vec![run(old_index, new_index, 0, new_len, 0)],
        DiffOp::Replace { old_index, old_len, new_index, new_len } => {
            vec![run(old_index, new_index, old_len, 0, 0), run(old_index + old_len, new_index, 0, new_len, 0)]
        }
    }
}

/// Removes the numbers of SSA values and attribute aliases: `%12` and `%cst_3` become `%` and `%cst`, `#map2` becomes
/// `#map`.
fn without_numbers(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['%', '#']) {
        plain.push_str(&rest[..=at]);
        rest = &rest[at + 1..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        plain.push_str(rest[..end].trim_end_matches(|c: char| c.is_ascii_digit() || c == '_'));
        rest = &rest[end..];
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_may_change_their_numbers() {
        assert_eq!(without_numbers("%12:2 = a.b %cst_3, %4#1 {m = #map2}"), "%:2 = a.b %cst, %# {m = #map}");
        let runs = changes("a %0\nb %1\nc %1\n", "a %0\nnew %1\nb %2\nc %2\n");
        let run = |before, after, removed, added, same| Run { before, after, removed, added, same };
        assert_eq!(runs, [run(0, 0, 0, 0, 1), run(1, 1, 0, 1, 0), run(1, 2, 0, 0, 2)]);
    }

    #[test]
    fn what_is_replaced_is_removed_and_added() {
        let runs = changes("a\nb\nc\n", "a\nx\ny\nc\n");
        let (removed, added) = (runs.iter().map(|r| r.removed).sum::<usize>(), runs.iter().map(|r| r.added).sum());
        assert_eq!((removed, added), (1, 2_usize));
        assert!(changes("a\n", "a\n").iter().all(|r| r.removed + r.added == 0));
    }
}
