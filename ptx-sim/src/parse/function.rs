//! The names visible in a function body: registers, variables, labels and target tables, in nested scopes.
//!
//! A label may be used before it is defined, and inline assembly repeats label names in separate `{ }` blocks. A use
//! therefore creates an entry in its own scope. When the scope closes, entries that it did not define become aliases
//! of the same name in the enclosing scope.

use super::cursor::Cursor;
use super::error::{ParseErrorKind, Result};
use crate::ir::*;
use rustc_hash::FxHashMap;

/// `%r<100>`: registers that share a prefix.
struct Range<'s> {
    prefix: &'s str,
    count: u32,
    first: u32,
}

#[derive(Default)]
struct Scope<'s> {
    registers: FxHashMap<&'s str, RegId>,
    ranges: Vec<Range<'s>>,
    symbols: FxHashMap<&'s str, Symbol>,
    labels: FxHashMap<&'s str, LabelId>,
    tables: FxHashMap<&'s str, u32>,
}

struct LabelState {
    /// Instruction index, once defined.
    at: Option<u32>,
    alias: Option<LabelId>,
    first_use: usize,
}

/// A function under construction.
pub(crate) struct FnState<'s> {
    pub function: Function,
    scopes: Vec<Scope<'s>>,
    label_states: Vec<LabelState>,
}

/// Maximum number of registers that a function may declare; more indicates an error in the text.
const MAX_REGISTERS: u64 = 1 << 22;

impl<'s> FnState<'s> {
    pub fn new(function: Function) -> FnState<'s> {
        FnState { function, scopes: vec![Scope::default()], label_states: Vec::new() }
    }

    pub fn depth(&self) -> usize {
        self.scopes.len()
    }

    pub fn push_scope(&mut self) {
        self.scopes.push(Scope::default());
    }

    /// Closes the innermost scope, and passes its undefined labels to the enclosing one.
    pub fn pop_scope(&mut self) {
        let Some(closed) = self.scopes.pop() else { return };
        let Some(parent) = self.scopes.last_mut() else { return };
        let mut undefined: Vec<(&'s str, LabelId)> =
            closed.labels.into_iter().filter(|(_, id)| self.label_states[id.0 as usize].at.is_none()).collect();
        undefined.sort_by_key(|(_, id)| id.0);
        for (name, id) in undefined {
            match parent.labels.get(name) {
                Some(outer) if *outer != id => self.label_states[id.0 as usize].alias = Some(*outer),
                Some(_) => {}
                None => {
                    parent.labels.insert(name, id);
                }
            }
        }
    }

    pub fn register(&self, name: &str) -> Option<RegId> {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let split = name.len() - digits;
        for scope in self.scopes.iter().rev() {
            if let Some(reg) = scope.registers.get(name) {
                return Some(*reg);
            }
            if digits == 0 || digits > 9 || (digits > 1 && name.as_bytes()[split] == b'0') {
                continue;
            }
            for range in &scope.ranges {
                if range.prefix == &name[..split] {
                    let n: u32 = name[split..].parse().ok()?;
                    if n < range.count {
                        return Some(RegId(range.first + n));
                    }
                }
            }
        }
        None
    }

    pub fn register_type(&self, reg: RegId) -> Type {
        self.function.registers.get(reg.0 as usize).copied().unwrap_or(Type::B32)
    }

    fn scope(&mut self) -> &mut Scope<'s> {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    fn check_room(&self, c: &Cursor<'s>, more: u64) -> Result<()> {
        if self.function.registers.len() as u64 + more > MAX_REGISTERS {
            return Err(c.error(ParseErrorKind::BadValue("too many registers".into())));
        }
        Ok(())
    }

    pub fn declare_register(&mut self, c: &Cursor<'s>, name: &'s str, ty: Type) -> Result<RegId> {
        self.check_room(c, 1)?;
        let id = RegId(self.function.registers.len() as u32);
        if self.scope().registers.insert(name, id).is_some() {
            return Err(c.error(ParseErrorKind::Redefined(name.into())));
        }
        self.function.registers.push(ty);
        Ok(id)
    }

    pub fn declare_range(&mut self, c: &Cursor<'s>, prefix: &'s str, count: u32, ty: Type) -> Result<()> {
        self.check_room(c, u64::from(count))?;
        let first = self.function.registers.len() as u32;
        self.function.registers.extend(std::iter::repeat_n(ty, count as usize));
        self.scope().ranges.push(Range { prefix, count, first });
        Ok(())
    }

    pub fn symbol(&self, name: &str) -> Option<Symbol> {
        self.scopes.iter().rev().find_map(|s| s.symbols.get(name).copied())
    }

    pub fn declare_symbol(&mut self, name: &'s str, symbol: Symbol) {
        self.scope().symbols.insert(name, symbol);
    }

    pub fn table(&self, name: &str) -> Option<u32> {
        self.scopes.iter().rev().find_map(|s| s.tables.get(name).copied())
    }

    pub fn declare_table(&mut self, name: &'s str, kind: TargetTableKind) {
        let id = self.function.tables.len() as u32;
        self.function.tables.push(TargetTable { name: name.into(), kind });
        self.scope().tables.insert(name, id);
    }

    fn new_label(&mut self, name: &'s str, at: usize) -> LabelId {
        let id = LabelId(self.function.labels.len() as u32);
        self.function.labels.push(Label { name: name.into(), at: u32::MAX });
        self.label_states.push(LabelState { at: None, alias: None, first_use: at });
        self.scope().labels.insert(name, id);
        id
    }

    pub fn label_use(&mut self, name: &'s str, at: usize) -> LabelId {
        for scope in self.scopes.iter().rev() {
            // An outer entry counts only if it is already defined, because an inner definition may still follow.
            if let Some(id) = scope.labels.get(name)
                && (self.label_states[id.0 as usize].at.is_some()
                    || std::ptr::eq(scope, &self.scopes[self.scopes.len() - 1]))
            {
                return *id;
            }
        }
        self.new_label(name, at)
    }

    pub fn label_define(&mut self, c: &Cursor<'s>, name: &'s str, at: usize) -> Result<()> {
        let existing = self.scopes.last().and_then(|s| s.labels.get(name).copied());
        let id = match existing {
            Some(id) => id,
            None => self.new_label(name, at),
        };
        let state = &mut self.label_states[id.0 as usize];
        if state.at.is_some() {
            return Err(c.error_at(at, ParseErrorKind::Redefined(name.into())));
        }
        state.at = Some(self.function.body.len() as u32);
        Ok(())
    }

    /// Resolves labels and returns the finished function.
    pub fn finish(mut self, c: &Cursor<'s>) -> Result<Function> {
        for index in 0..self.label_states.len() {
            let mut id = index;
            let mut steps = 0;
            while let Some(next) = self.label_states[id].alias {
                id = next.0 as usize;
                steps += 1;
                if steps > self.label_states.len() {
                    break;
                }
            }
            match self.label_states[id].at {
                Some(at) => self.function.labels[index].at = at,
                None => {
                    let name = self.function.labels[index].name.clone();
                    return Err(c.error_at(self.label_states[index].first_use, ParseErrorKind::Undefined(name)));
                }
            }
        }
        Ok(self.function)
    }
}
