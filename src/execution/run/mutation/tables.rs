//! Tables of tensor maps as concurrent launches may have left them, and checks that a launch does not modify foreign
//! entries.
//!
//! `c/maps.c` of `tile_rtlib` defines the layout. A slot of the table has a map, a state and a key. A block
//! that finds no slot borrows an entry of a pool and returns it at the end. A launch that takes foreign entries fails
//! only if the other launch runs at the same time. So the memory is compared after the launch. Foreign slots and
//! entries must be unchanged. The head of every other entry says whether the entry is borrowed; it must be as it was
//! before.

use crate::launch::Launch;
use ptx_sim::Module;
use ptx_sim::ir::{InitPiece, InitValue, Op};
use std::collections::BTreeMap;
use std::ops::Range;

/// A table of tensor maps that already contains maps of other views.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub others: Others,
    /// Number of pool entries that remain to be borrowed.
    pub left: u64,
}

/// The slots that other launches occupy.
#[derive(Clone, Debug)]
pub(super) enum Others {
    All,
    /// All but one of each group of this many.
    AllBut(u64),
    /// The slots with these numbers, with keys that nearly equal those of this launch's maps.
    Alike(BTreeMap<u64, Vec<u64>>),
}

/// The table and its slots: a map, the state of the slot, and its key. A search probes eight consecutive slots.
const TABLE: &str = "__tileir_tensor_maps";
const MAP: u64 = 128;
const KEY: u64 = 144;
const SLOT: u64 = 256;
const PROBES: u64 = 8;
const BUSY: u64 = 1;
const READY: u64 = 2;
/// A pool; its name ends with the number of maps in an entry. Its state, padded to the size of a map, precedes the
/// maps.
const POOL: &str = "__tileir_borrowed_maps_";

/// Size of a pool's entry in bytes; `None` if the variable is not a pool.
fn entry_bytes(variable: &str) -> Option<u64> {
    Some(MAP * (variable.strip_prefix(POOL)?.parse::<u64>().ok()? + 1))
}

/// The number of pool entries with which every launch completes. One suffices, because blocks wait for it, unless
/// several agents of a block each borrow an entry: then blocks with one entry could wait for each other. A real pool
/// has more entries than there are concurrent blocks.
pub(super) fn entries_left(module: &Module, launch: &Launch) -> u64 {
    let stores = module.functions.iter().flat_map(|f| &f.body).any(|i| matches!(i.op, Op::BulkCommit));
    if stores { 2 * launch.grid.iter().map(|&n| u64::from(n)).product::<u64>() } else { 1 }
}

/// Takes a table that a launch has filled. Returns keys that differ from the table's in one word, one for each word,
/// by slot, starting at the slot of the original map. `None` if the table has no maps, or if they are too close
/// together for that.
pub(super) fn alike(variables: &BTreeMap<String, Vec<u8>>) -> Option<BTreeMap<u64, Vec<u64>>> {
    let table = variables.get(TABLE)?;
    let word = |at: u64| table.get(at as usize..)?.first_chunk().map(|b| u64::from_le_bytes(*b));
    let state = |slot: u64| word(slot * SLOT + MAP).map(|state| state & 0xffff_ffff);
    let slots = table.len() as u64 / SLOT;
    let mut keys = BTreeMap::new();
    for slot in (0..slots).filter(|&slot| state(slot) == Some(READY)) {
        let key: Vec<u64> = (KEY..SLOT).step_by(8).filter_map(|at| word(slot * SLOT + at)).collect();
        // The words after the key are zero.
        let length = key.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1).min(PROBES as usize - 1);
        for changed in 0..length {
            let mut other = key.clone();
            other[changed] ^= 1 << 32;
            if keys.insert((slot + changed as u64) % slots, other).is_some() {
                return None;
            }
        }
    }
    (!keys.is_empty()).then_some(keys)
}

/// A number in a variable: its offset, its size in bytes, and its value.
type Word = (u64, u32, u64);

impl Others {
    /// The numbers of the occupied slots in a table with `slots` slots.
    fn taken(&self, slots: u64) -> Vec<u64> {
        match self {
            Others::All => (0..slots).collect(),
            Others::AllBut(n) => (0..slots).filter(|slot| !slot.is_multiple_of(*n)).collect(),
            Others::Alike(keys) => keys.keys().copied().collect(),
        }
    }

    fn key(&self, slot: u64) -> &[u64] {
        match self {
            Others::Alike(keys) => keys.get(&slot).map_or(&[], Vec::as_slice),
            Others::All | Others::AllBut(_) => &[],
        }
    }
}

impl Table {
    /// The module with this table, if it has one. A search finds a free slot if every eighth slot is free.
    pub fn of(&self, module: &Module) -> Option<Module> {
        module.variables.iter().find(|v| v.name == TABLE)?;
        let mut variables = module.variables.clone();
        for variable in &mut variables {
            if let Some(words) = self.contents(&variable.name, variable.size?) {
                let piece = |(offset, bytes, value)| InitPiece { offset, bytes, value: InitValue::Bits(value) };
                variable.init = words.into_iter().map(piece).collect();
            }
        }
        Some(module.with(variables, module.functions.clone()))
    }

    /// The nonzero contents of a variable of `size` bytes before the launch, if it is the table or a pool.
    fn contents(&self, variable: &str, size: u64) -> Option<Vec<Word>> {
        if let Some(entry) = entry_bytes(variable) {
            return Some((self.left * entry..size).step_by(entry as usize).map(|at| (at, 4, BUSY)).collect());
        }
        let slot = |slot: u64| {
            let keys = self.others.key(slot).iter().zip((slot * SLOT + KEY..).step_by(8));
            std::iter::once((slot * SLOT + MAP, 4, READY)).chain(keys.map(|(&value, at)| (at, 8, value)))
        };
        (variable == TABLE).then(|| self.others.taken(size / SLOT).into_iter().flat_map(slot).collect())
    }

    /// The ranges of a variable of `size` bytes that must be unchanged after the launch.
    fn kept(&self, variable: &str, size: u64) -> Vec<Range<u64>> {
        if let Some(entry) = entry_bytes(variable) {
            let bytes = |n: u64| if n < self.left { MAP } else { entry };
            return (0..size / entry).map(|n| n * entry..n * entry + bytes(n)).collect();
        }
        if variable != TABLE {
            return vec![];
        }
        self.others.taken(size / SLOT).into_iter().map(|slot| slot * SLOT..(slot + 1) * SLOT).collect()
    }

    /// Describes a part that a launch has changed although it must not; `None` if there is none.
    pub fn changed(&self, variables: &BTreeMap<String, Vec<u8>>) -> Option<String> {
        for (name, after) in variables {
            let Some(words) = self.contents(name, after.len() as u64) else { continue };
            let mut before = vec![0; after.len()];
            for (at, bytes, value) in words {
                let bytes = &value.to_le_bytes()[..bytes as usize];
                before[at as usize..][..bytes.len()].copy_from_slice(bytes);
            }
            for part in self.kept(name, after.len() as u64) {
                let part = part.start as usize..part.end as usize;
                if before[part.clone()] != after[part.clone()] {
                    return Some(format!("bytes {} to {} of {name} have changed", part.start, part.end - 1));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOTS: u64 = 16;
    const POOL_OF_TWO: &str = "__tileir_borrowed_maps_2";

    /// The variables with this table, of a module with one pool of four entries.
    fn before(table: &Table) -> BTreeMap<String, Vec<u8>> {
        let sizes = [(TABLE, SLOTS * SLOT), (POOL_OF_TWO, 4 * 3 * MAP), ("another", 8)];
        let bytes = |(name, size): (&str, u64)| {
            let mut bytes = vec![0; size as usize];
            for (at, count, value) in table.contents(name, size).unwrap_or_default() {
                bytes[at as usize..][..count as usize].copy_from_slice(&value.to_le_bytes()[..count as usize]);
            }
            (name.to_string(), bytes)
        };
        sizes.into_iter().map(bytes).collect()
    }

    #[test]
    fn what_others_hold_must_stay() {
        let full = Table { others: Others::All, left: 2 };
        let some = Table { others: Others::AllBut(4), left: 0 };
        let alike = Table { others: Others::Alike(BTreeMap::from([(3, vec![7, 8])])), left: 0 };
        for (table, variable, at, is_kept) in [
            // Maps of borrowed entries may have changed, but the entries must have been returned.
            (&full, POOL_OF_TWO, MAP, false),
            (&full, POOL_OF_TWO, 0, true),
            (&full, POOL_OF_TWO, 16, true),
            (&full, POOL_OF_TWO, 3 * MAP + 4, true),
            // Entries of other launches, with their maps.
            (&full, POOL_OF_TWO, 2 * 3 * MAP, true),
            (&full, POOL_OF_TWO, 2 * 3 * MAP + MAP, true),
            (&some, POOL_OF_TWO, MAP, true),
            (&full, TABLE, 0, true),
            (&full, TABLE, SLOTS * SLOT - 1, true),
            // Slots that a launch may take.
            (&some, TABLE, 4 * SLOT + MAP, false),
            (&some, TABLE, 5 * SLOT + MAP, true),
            (&alike, TABLE, 2 * SLOT + KEY, false),
            (&alike, TABLE, 3 * SLOT + KEY + 8, true),
            (&full, "another", 0, false),
        ] {
            let mut variables = before(table);
            assert_eq!(table.changed(&variables), None);
            variables.get_mut(variable).unwrap()[at as usize] ^= 0x40;
            assert_eq!(table.changed(&variables).is_some(), is_kept, "{variable} at {at}, {table:?}");
        }
    }
}
