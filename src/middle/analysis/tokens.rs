//! Where tokens come from and go to: through joins, counted loops and branches.

use crate::dialect::{
    nv_tileaa::{CreateMemTokenOp, JoinMemTokenOp, MemTokenType},
    rt::*,
    upstream::{Arith, Scf},
};
use rustc_hash::FxHashSet;

/// Whether a token of this op stands for what its operands stand for: all of them, or one that is not known.
fn is_join(op: OpRef<'_>) -> bool {
    JoinMemTokenOp::cast(op).is_some() || Arith::of(op) == Some(Arith::Select)
}

/// The ops that a token stands for: all whose tokens reach it. None where it also comes from elsewhere.
pub fn sources<'c>(token: Val<'c>) -> Option<Vec<OpRef<'c>>> {
    let (mut work, mut seen, mut found) = (vec![token], FxHashSet::default(), vec![]);
    while let Some(v) = work.pop() {
        if !seen.insert(key(v)) {
            continue;
        }
        let Some(op) = defining_op(v) else {
            // What a loop carries.
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
    /// By way of the end of the block in which the token is made: in a later iteration, or behind a loop or branch.
    pub carried: bool,
}

/// The ops that take a token. None where it also goes elsewhere.
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

/// Gives those who take the token of an access what the access takes itself: it is over when they come.
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
