//! Sources and users of tokens, through joins, counted loops and branches.

use crate::dialect::{
    nv_tileaa::{CreateMemTokenOp, JoinMemTokenOp, MemTokenType},
    rt::*,
    upstream::{Arith, Scf},
};
use rustc_hash::FxHashSet;

/// Whether a token of this op represents its operands' accesses: all of them, or an unknown one of them.
fn is_join(op: OpRef<'_>) -> bool {
    JoinMemTokenOp::cast(op).is_some() || Arith::of(op) == Some(Arith::Select)
}

/// Returns the ops whose tokens reach `token`, or `None` if it has other sources.
pub fn sources<'c>(token: Val<'c>) -> Option<Vec<OpRef<'c>>> {
    let (mut work, mut seen, mut found) = (vec![token], FxHashSet::default(), vec![]);
    while let Some(v) = work.pop() {
        if !seen.insert(key(v)) {
            continue;
        }
        let Some(op) = defining_op(v) else {
            // A loop-carried token.
            let block = owner_of(v);
            let around = parent_of_block(block).filter(|o| Scf::of(*o) == Some(Scf::For))?;
            let i = args(block).position(|a| a == v)?.checked_sub(1)?;
            work.push(operand(around, 3 + i));
            work.push(operand(ops_of(block).last()?, i));
            continue;
        };
        match Scf::of(op) {
            Some(Scf::For | Scf::If) => {
                let i = results(op).position(|r| r == v)?;
                if Scf::of(op) == Some(Scf::For) {
                    work.push(operand(op, 3 + i));
                }
                for r in 0..region_count(op) {
                    work.push(operand(ops_of(entry_block(region(op, r))?).last()?, i));
                }
            }
            Some(_) => return None,
            None if is_join(op) => work.extend(operands(op).filter(|v| MemTokenType::cast(ty(*v)).is_some())),
            None => found.push(op),
        }
    }
    Some(found)
}

/// An op that takes a token.
pub struct User<'c> {
    pub op: OpRef<'c>,
    /// Whether the token reaches the user through the end of its block: in a later iteration, or after a loop or
    /// branch.
    pub carried: bool,
}

/// Returns the ops that take a token, or `None` if it has other users.
pub fn users<'c>(token: Val<'c>) -> Option<Vec<User<'c>>> {
    let (mut work, mut seen, mut found) = (vec![(token, false)], FxHashSet::default(), vec![]);
    while let Some((v, carried)) = work.pop() {
        if !seen.insert((key(v), carried)) {
            continue;
        }
        for (user, at) in uses(v) {
            match Scf::of(user) {
                Some(Scf::For) if at >= 3 => {
                    work.push((result(user, at - 3), carried));
                    work.push((arg(entry_block(region(user, 0))?, at - 2), carried));
                }
                Some(Scf::Yield) => {
                    let around = parent_op(user)?;
                    work.push((result(around, at), true));
                    match Scf::of(around)? {
                        Scf::For => work.push((arg(entry_block(region(around, 0))?, at + 1), true)),
                        Scf::If => {}
                        _ => return None,
                    }
                }
                Some(_) => return None,
                None if is_join(user) => work.extend(results(user).map(|r| (r, carried))),
                None => found.push(User { op: user, carried }),
            }
        }
    }
    Some(found)
}

/// Redirects the users of an access's token to the token that the access takes. The access must be complete when they
/// run.
pub fn pass_over<'c>(context: &'c melior::Context, access: OpRef<'c>) -> Result<(), BuildError> {
    let is_token = |v: &Val<'c>| MemTokenType::cast(ty(*v)).is_some();
    let Some(token) = results(access).find(is_token).filter(|t| has_uses(*t)) else { return Ok(()) };
    let before = match operands(access).find(is_token) {
        Some(before) => before,
        None => CreateMemTokenOp::build(&Builder::before(context, access), ty(token))?.result(),
    };
    replace_all_uses(token, before);
    Ok(())
}
