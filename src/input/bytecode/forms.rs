//! Converts debug records between the containers.
//!
//! The containers express the same debug information with different records ([`crate::debug`]). The writer and the
//! translation to MLIR take the records of one container, so a module that was read from the other is converted
//! first. Records keep their numbers, because operations refer to them. A record without a direct counterpart is
//! expressed with new records at the end of the table.
//!
//! ```text
//! specification                              public
//! location F:7, inlined at L                 call site: location F:7 (new) at L
//! call site of S in C at 13:5                call site: location of S's first line (new) at C's file:13:5 (new)
//! subprogram in a scope                      subprogram in the scope's file; the line of its scope is its own
//! ```
//!
//! The public records keep the producer and the flags in memory, for the translation to MLIR; a public file cannot hold
//! them. The conversion to the specification container loses a scope line that differs from the line itself.

use crate::container::Profile;
use crate::module::*;
use std::borrow::Cow;

/// Returns the module with the debug records of the container.
pub fn for_container(module: &Module, profile: Profile) -> Cow<'_, Module> {
    let is_foreign = |a: &DebugAttr| {
        let spec = matches!(
            a,
            DebugAttr::SpecCompileUnit { .. }
                | DebugAttr::SpecLoc { .. }
                | DebugAttr::SpecSubprogram(_)
                | DebugAttr::SpecCallSite { .. }
        );
        let public = matches!(
            a,
            DebugAttr::CompileUnit { .. }
                | DebugAttr::Loc { .. }
                | DebugAttr::Subprogram(_)
                | DebugAttr::CallSite { .. }
        );
        if profile == Profile::Public { spec } else { public }
    };
    if !module.debug.iter().any(is_foreign) {
        return Cow::Borrowed(module);
    }
    let mut converter = Converter { old: module, debug: module.debug.clone(), strings: module.strings.clone() };
    for i in 0..module.debug.len() {
        let new = match profile {
            Profile::Public => converter.public(&module.debug[i]),
            Profile::Specification => converter.specification(&module.debug[i]),
        };
        converter.debug[i] = new;
    }
    let Converter { debug, strings, .. } = converter;
    Cow::Owned(Module { debug, strings, ..module.clone() })
}

struct Converter<'m> {
    old: &'m Module,
    debug: Vec<DebugAttr>,
    strings: Blobs,
}

impl Converter<'_> {
    fn public(&mut self, attr: &DebugAttr) -> DebugAttr {
        match attr {
            DebugAttr::SpecCompileUnit { file, producer, flags } => {
                DebugAttr::CompileUnit { file: *file, producer: Some(*producer), flags: *flags }
            }
            DebugAttr::SpecLoc { scope, file, line, column, inlined_at } => {
                let file = self.path(*file);
                let loc = DebugAttr::Loc { scope: *scope, file, line: *line, column: *column };
                match inlined_at {
                    None => loc,
                    Some(_) => DebugAttr::CallSite { callee: Some(self.push(loc)), caller: *inlined_at },
                }
            }
            DebugAttr::SpecSubprogram(s) => DebugAttr::Subprogram(Box::new(Subprogram {
                file: self.file_of(s.scope).or_else(|| self.file_of(s.unit)),
                line: s.line,
                name: s.name,
                linkage: s.linkage,
                unit: s.unit,
                scope_line: s.line,
                flags: s.flags,
                purpose: s.purpose,
                sp_flags: s.sp_flags,
            })),
            DebugAttr::SpecCallSite { callee, caller, line, column } => {
                let callee_line = callee.and_then(|c| self.line_of(c));
                DebugAttr::CallSite {
                    callee: self.call_site_end(*callee, callee_line.unwrap_or(0), 0),
                    caller: self.call_site_end(*caller, *line, *column),
                }
            }
            other => other.clone(),
        }
    }

    fn specification(&mut self, attr: &DebugAttr) -> DebugAttr {
        match attr {
            DebugAttr::CompileUnit { file, producer, flags } => {
                let producer = producer.or(self.old.producer).unwrap_or_else(|| self.string(b""));
                DebugAttr::SpecCompileUnit { file: *file, producer, flags: *flags }
            }
            DebugAttr::Loc { scope, file, line, column } => {
                let file = Some(self.file_named(*file));
                DebugAttr::SpecLoc { scope: *scope, file, line: *line, column: *column, inlined_at: None }
            }
            DebugAttr::Subprogram(s) => DebugAttr::SpecSubprogram(Box::new(SpecSubprogram {
                unit: s.unit,
                name: s.name,
                linkage: s.linkage,
                scope: s.file,
                line: s.line,
                flags: s.flags,
                purpose: s.purpose,
                sp_flags: s.sp_flags,
            })),
            DebugAttr::CallSite { callee, caller } => {
                let (line, column) = match caller.map(|c| &self.old.debug[c.index()]) {
                    Some(DebugAttr::Loc { line, column, .. }) => (*line, *column),
                    _ => (0, 0),
                };
                DebugAttr::SpecCallSite { callee: *callee, caller: *caller, line, column }
            }
            other => other.clone(),
        }
    }

    fn push(&mut self, attr: DebugAttr) -> DebugId {
        self.debug.push(attr);
        DebugId(self.debug.len() as u32 - 1)
    }

    fn string(&mut self, text: &[u8]) -> StringId {
        let known = self.strings.iter().position(|s| s == text);
        StringId(known.map_or_else(|| self.strings.push(text), |i| i as u32))
    }

    /// An end of a call site: a location, or the location of a line in a subprogram.
    fn call_site_end(&mut self, end: Option<DebugId>, line: u64, column: u64) -> Option<DebugId> {
        let DebugAttr::SpecSubprogram(s) = &self.old.debug[end?.index()] else { return end };
        let file = self.file_of(s.scope).or_else(|| self.file_of(s.unit));
        let file = self.path(file);
        Some(self.push(DebugAttr::Loc { scope: end, file, line, column }))
    }

    fn line_of(&self, id: DebugId) -> Option<u64> {
        match &self.old.debug[id.index()] {
            DebugAttr::SpecSubprogram(s) => Some(s.line),
            _ => None,
        }
    }

    /// The file that contains a scope. The reader has checked that references do not form a cycle.
    fn file_of(&self, scope: Option<DebugId>) -> Option<DebugId> {
        let mut scope = scope?;
        loop {
            scope = match &self.old.debug[scope.index()] {
                DebugAttr::File { .. } => return Some(scope),
                DebugAttr::LexicalBlock { file, .. } | DebugAttr::SpecCompileUnit { file, .. } => return *file,
                DebugAttr::SpecSubprogram(s) => s.scope?,
                _ => return None,
            };
        }
    }

    /// The path of a file as one string.
    fn path(&mut self, file: Option<DebugId>) -> StringId {
        let path = file.map(|f| &self.old.debug[f.index()]).and_then(|f| self.joined(f)).unwrap_or_default();
        self.string(&path)
    }

    fn joined(&self, file: &DebugAttr) -> Option<Vec<u8>> {
        let DebugAttr::File { name, directory } = file else { return None };
        let (name, directory) = (self.old.string(*name), self.old.string(*directory));
        if directory.is_empty() || name.starts_with(b"/") {
            return Some(name.to_vec());
        }
        let separator: &[u8] = if directory.ends_with(b"/") { b"" } else { b"/" };
        Some([directory, separator, name].concat())
    }

    /// A file record with the given path; appends one if necessary.
    fn file_named(&mut self, path: StringId) -> DebugId {
        let wanted = self.old.string(path);
        let fits = |f: &DebugAttr| match f {
            DebugAttr::File { name, .. } if name.index() >= self.old.strings.len() => false,
            // Added files have no directory, and the string is their name.
            DebugAttr::File { name, directory } if directory.index() >= self.old.strings.len() => *name == path,
            f => self.joined(f).is_some_and(|p| p == wanted),
        };
        match self.debug.iter().position(fits) {
            Some(i) => DebugId(i as u32),
            None => {
                let directory = self.string(b"");
                self.push(DebugAttr::File { name: path, directory })
            }
        }
    }
}
