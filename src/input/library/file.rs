//! Files of tile libraries: relocatable ELF objects without symbols, with a section for each part.
//!
//! ```text
//! .nvtlifc            the interface
//! .nvtl.0, .nvtl.1    the catalogue and the code, in any order: the content tells which is which
//! ```

use tile_bytecode::{LibraryFunction, Module, ReadOptions, is_bytecode, read};

/// A library with a catalogue and code.
#[derive(Clone, Debug)]
pub struct Library {
    /// The file's name, for messages.
    pub name: String,
    pub interface: Module,
    pub catalogue: Module,
    pub code: Vec<u8>,
}

/// The reasons for which a file is not a library.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LibraryError {
    #[error("The file was not recognized as a valid object file")]
    NotAnObject,
    #[error("the object has no section '{INTERFACE}', which holds the interface")]
    NoInterface,
    #[error("the library is an implementation provider, whose interface is not public; only catalogues are supported")]
    Provider,
    #[error("the library needs one catalogue and one file of code, but has {catalogues} and {codes}")]
    Parts { catalogues: usize, codes: usize },
    #[error("the {part} is not readable: {reason}")]
    Bytecode { part: &'static str, reason: String },
    #[error("the interface contains '{0}', which is not a declaration")]
    NotADeclaration(String),
    #[error("the catalogue contains '{0}', which is not an implementation")]
    NotAnImplementation(String),
}

const INTERFACE: &str = ".nvtlifc";
const PART: &str = ".nvtl.";
/// Names in the order of the tools that exist, so that their files and ours are equal.
const NAMES: &[u8] = b"\0.nvtlifc\0.shstrtab\0.strtab\0.nvtl.1\0.nvtl.0\0";
const HEADER: usize = 64;
const ENTRY: usize = 64;

impl Library {
    /// Reads a library.
    ///
    /// # Errors
    ///
    /// The file is not a library with a catalogue.
    pub fn read(name: &str, data: &[u8]) -> Result<Library, LibraryError> {
        let sections = sections(data).ok_or(LibraryError::NotAnObject)?;
        let interface = sections.iter().find(|(name, _)| *name == INTERFACE.as_bytes());
        let interface = interface.ok_or(LibraryError::NoInterface)?.1;
        let parts: Vec<&[u8]> =
            sections.iter().filter(|(name, _)| name.starts_with(PART.as_bytes())).map(|(_, part)| *part).collect();
        if parts.is_empty() {
            return Err(LibraryError::Provider);
        }
        let (catalogues, codes): (Vec<&[u8]>, Vec<&[u8]>) = parts.into_iter().partition(|part| is_bytecode(part));
        let ([catalogue], [code]) = (&catalogues[..], &codes[..]) else {
            return Err(LibraryError::Parts { catalogues: catalogues.len(), codes: codes.len() });
        };
        let library = Library {
            name: name.to_owned(),
            interface: module("interface", interface)?,
            catalogue: module("catalogue", catalogue)?,
            code: code.to_vec(),
        };
        library.check()?;
        Ok(library)
    }

    fn check(&self) -> Result<(), LibraryError> {
        if let Some(other) = foreign(&self.interface, |f| matches!(f, LibraryFunction::Extern(_))) {
            return Err(LibraryError::NotADeclaration(other));
        }
        match foreign(&self.catalogue, |f| matches!(f, LibraryFunction::Implementation(_))) {
            Some(other) => Err(LibraryError::NotAnImplementation(other)),
            None => Ok(()),
        }
    }
}

/// The name of the first function that is of another kind.
pub(crate) fn foreign(module: &Module, is_kind: impl Fn(&LibraryFunction) -> bool) -> Option<String> {
    let mut functions = module.functions.iter().enumerate();
    let other = functions.find(|(i, _)| !module.library_function(*i).is_some_and(&is_kind));
    other.map(|(_, f)| module.text(f.name))
}

/// Reads a module with previews.
pub(crate) fn module(part: &'static str, data: &[u8]) -> Result<Module, LibraryError> {
    let options = ReadOptions { preview: true, ..ReadOptions::default() };
    read(data, &options).map_err(|e| LibraryError::Bytecode { part, reason: e.to_string() })
}

fn number(data: &[u8], at: usize, bytes: usize) -> Option<usize> {
    let raw = data.get(at..at.checked_add(bytes)?)?;
    usize::try_from(raw.iter().rev().fold(0u64, |v, b| v << 8 | u64::from(*b))).ok()
}

/// Names and contents of the sections of a 64-bit little-endian ELF object; `None` if it is malformed.
fn sections(data: &[u8]) -> Option<Vec<(&[u8], &[u8])>> {
    if !data.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let table = number(data, 40, 8)?;
    let (size, count, names) = (number(data, 58, 2)?, number(data, 60, 2)?, number(data, 62, 2)?);
    if size != ENTRY || names >= count.max(1) {
        return None;
    }
    let entry = |i: usize| {
        let at = table.checked_add(i.checked_mul(ENTRY)?)?;
        data.get(at..at.checked_add(ENTRY)?).map(|_| at)
    };
    let content = |i: usize| -> Option<&[u8]> {
        let at = entry(i)?;
        let (kind, start, length) = (number(data, at + 4, 4)?, number(data, at + 24, 8)?, number(data, at + 32, 8)?);
        // Sections without a content in the file.
        if matches!(kind, 0 | 8) {
            return Some(&[]);
        }
        data.get(start..start.checked_add(length)?)
    };
    let names = content(names)?;
    let mut sections = vec![];
    for i in 0..count {
        let name = names.get(number(data, entry(i)?, 4)?..)?;
        let name = &name[..name.iter().position(|b| *b == 0)?];
        sections.push((name, content(i)?));
    }
    Some(sections)
}

/// Writes the file of a library from the bytes of its interface and of the two other parts.
pub fn write(interface: &[u8], parts: [&[u8]; 2]) -> Vec<u8> {
    let contents: [&[u8]; 5] = [b"\0", NAMES, interface, parts[0], parts[1]];
    let names = [".strtab", ".shstrtab", INTERFACE, ".nvtl.0", ".nvtl.1"];
    let mut out = b"\x7fELF\x02\x01\x01".to_vec();
    out.resize(16, 0);
    // A relocatable file for x86-64, of the current version.
    out.extend([1, 0, 62, 0, 1, 0, 0, 0]);
    out.resize(HEADER, 0);
    let mut table = vec![0; ENTRY];
    for (name, content) in names.iter().zip(contents) {
        let at = NAMES.windows(name.len() + 1).position(|w| w[..name.len()] == *name.as_bytes() && w[name.len()] == 0);
        // String tables have type 3, other sections type 1.
        let kind = if name.ends_with("strtab") { 3u32 } else { 1 };
        table.extend((at.unwrap_or_default() as u32).to_le_bytes());
        table.extend(kind.to_le_bytes());
        table.extend([0; 16]);
        table.extend((out.len() as u64).to_le_bytes());
        table.extend((content.len() as u64).to_le_bytes());
        table.extend([0; 8]);
        table.extend(1u64.to_le_bytes());
        table.extend([0; 8]);
        out.extend(content);
    }
    out.resize(out.len().next_multiple_of(8), 0);
    let at = (out.len() as u64).to_le_bytes();
    out[40..48].copy_from_slice(&at);
    out[52..54].copy_from_slice(&(HEADER as u16).to_le_bytes());
    out[58..60].copy_from_slice(&(ENTRY as u16).to_le_bytes());
    out[60..62].copy_from_slice(&(contents.len() as u16 + 1).to_le_bytes());
    out[62..64].copy_from_slice(&2u16.to_le_bytes());
    out.extend(table);
    out
}
