//! The form of an instruction: its modifiers, operation and operand kinds.

use super::error::ParseErrorKind;
use super::operands::K;
use crate::ir::*;
use smallvec::SmallVec;

/// The modifiers of one instruction. Each family consumes the ones it knows; an unconsumed modifier is an error.
pub(crate) struct Mods<'s> {
    /// The opcode up to the first dot.
    pub base: &'s str,
    pub items: SmallVec<[&'s str; 12]>,
    pub used: u64,
}

pub(crate) type Kinds = SmallVec<[K; 8]>;

/// An operation and the kinds of its operands.
pub(crate) struct Form {
    pub op: Op,
    pub required: Kinds,
    pub optional: Kinds,
}

pub(crate) type FormResult = std::result::Result<Form, ParseErrorKind>;

/// A form whose operands are all required.
pub(crate) fn form(op: Op, required: &[K]) -> FormResult {
    form_opt(op, required, &[])
}

pub(crate) fn form_opt(op: Op, required: &[K], optional: &[K]) -> FormResult {
    Ok(Form { op, required: required.into(), optional: optional.into() })
}

impl<'s> Mods<'s> {
    /// The opcode with all modifiers, for messages.
    pub fn full(&self) -> String {
        let mut out = String::from(self.base);
        for item in &self.items {
            out.push('.');
            out.push_str(item);
        }
        out
    }

    fn unused(&self) -> impl Iterator<Item = (usize, &'s str)> + '_ {
        self.items.iter().enumerate().filter(|(i, _)| self.used & (1 << i) == 0).map(|(i, s)| (i, *s))
    }

    /// Whether `.word` is present. Does not consume it.
    pub fn has(&self, word: &str) -> bool {
        self.items.contains(&word)
    }

    /// Consumes `.word` if present.
    pub fn flag(&mut self, word: &str) -> bool {
        let found = self.unused().find(|(_, s)| *s == word).map(|(i, _)| i);
        match found {
            Some(i) => {
                self.used |= 1 << i;
                true
            }
            None => false,
        }
    }

    /// Consumes the first modifier of vocabulary `T`.
    pub fn pick<T: Modifier>(&mut self) -> Option<T> {
        let (i, value) = self.unused().find_map(|(i, s)| T::parse(s).map(|v| (i, v)))?;
        self.used |= 1 << i;
        Some(value)
    }

    /// Consumes the first modifier for which `f` returns a value.
    pub fn pick_with<T>(&mut self, f: impl Fn(&'s str) -> Option<T>) -> Option<T> {
        let (i, value) = self.unused().find_map(|(i, s)| f(s).map(|v| (i, v)))?;
        self.used |= 1 << i;
        Some(value)
    }

    /// Consumes the next modifier.
    pub fn next(&mut self) -> Option<&'s str> {
        let (i, s) = self.unused().next()?;
        self.used |= 1 << i;
        Some(s)
    }

    pub fn missing(&self, what: &str) -> ParseErrorKind {
        ParseErrorKind::MissingModifier { instruction: self.full(), missing: what.into() }
    }

    /// Consumes the next type among the modifiers.
    pub fn ty(&mut self) -> std::result::Result<Type, ParseErrorKind> {
        self.pick::<Type>().ok_or_else(|| self.missing("a type"))
    }

    /// Consumes the next type, which must satisfy `allowed`.
    pub fn ty_of(&mut self, allowed: impl Fn(Type) -> bool) -> std::result::Result<Type, ParseErrorKind> {
        let ty = self.ty()?;
        if allowed(ty) { Ok(ty) } else { Err(self.bad_type(ty)) }
    }

    pub fn bad_type(&self, ty: Type) -> ParseErrorKind {
        ParseErrorKind::BadType { instruction: self.full(), ty }
    }

    pub fn unsupported(&self) -> ParseErrorKind {
        ParseErrorKind::Unsupported(format!("instruction '{}'", self.full()))
    }

    pub fn unknown(&self) -> ParseErrorKind {
        ParseErrorKind::UnknownInstruction(self.full())
    }

    pub fn require(&mut self, word: &str) -> std::result::Result<(), ParseErrorKind> {
        if self.flag(word) { Ok(()) } else { Err(self.missing(&format!("'.{word}'"))) }
    }

    /// Consumes cache operators and eviction priorities, which have no effect. Returns whether a cache-policy operand
    /// follows.
    pub fn cache_hints(&mut self) -> bool {
        while self.pick::<CacheHint>().is_some() {}
        self.flag("L2::cache_hint")
    }

    pub fn finish(&self) -> std::result::Result<(), ParseErrorKind> {
        match self.unused().next() {
            None => Ok(()),
            Some((_, s)) => Err(ParseErrorKind::UnknownModifier { instruction: self.base.into(), modifier: s.into() }),
        }
    }
}
