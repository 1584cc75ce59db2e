//! `--emit=obj`: a relocatable host object that embeds the cubin.
//!
//! ```text
//! .nv_fatbin          fat binary: header, one entry, the cubin        NAME_cubin (the image itself)
//! .nvFatBinSegment    magic, version 1, address of .nv_fatbin, null   NAME_fatbin (registered with the CUDA runtime)
//! .rodata / .rdata    size of the cubin, 8 bytes                      NAME_cubin_size
//! ```
//!
//! The text section has the launch functions of `tileir-emit-host-wrapper`, `KERNEL_launch`, which LLVM compiles for
//! the host. They call `cuLaunchKernel`. In ELF they are weak, so that a program can link objects of one kernel for
//! several targets.
//!
//! `NAME` is the output's name up to its first dot, with every character that is invalid in C identifiers replaced by
//! `_`. A program that links the object passes `NAME_cubin` to `cuLibraryLoadData` or `cuModuleLoadData`. The section
//! names, the wrapper and its magic come from `fatbinary_section.h` in the CUDA toolkit, so `cuobjdump` finds the
//! cubin in the object and in the program.

use std::{collections::BTreeMap, path::Path};

use object::read::{File, Object as _, ObjectSection as _, ObjectSymbol as _};
use object::write::{Object, Relocation, SectionId, StandardSection, Symbol, SymbolId, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationEncoding, RelocationFlags, RelocationKind, SectionFlags,
    SectionKind, SubArchitecture, SymbolFlags, SymbolKind, SymbolScope,
};
use tile_diag::Diagnostic;
use tile_targets::Target;

/// The processor of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostArch {
    X86_64,
    Aarch64,
    /// ARM code that interoperates with x86-64 code. Windows only.
    Arm64Ec,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostOs {
    Linux,
    Windows,
}

/// Magic and version of the wrapper.
const WRAPPER: [u32; 2] = [0x4662_43b1, 1];

/// The fat binary with one cubin.
///
/// Header: magic, version 1, header size 16, size of the rest. Entry: kind 2 (ELF), version 1.1, header size 64, size
/// of the image padded to 8, then the version of the image's format (1.8), the architecture, and flags: 1 for 64-bit,
/// 0x10 Linux, 0x40 Windows.
fn fat_binary(cubin: &[u8], target: &Target, os: HostOs) -> Vec<u8> {
    let image = cubin.len().next_multiple_of(8);
    let mut out = Vec::with_capacity(80 + image);
    out.extend(0xba55_ed50u32.to_le_bytes());
    out.extend([1, 0, 16, 0]);
    out.extend((64 + image as u64).to_le_bytes());
    out.extend([2, 0, 1, 1]);
    out.extend(64u32.to_le_bytes());
    out.extend((image as u64).to_le_bytes());
    out.extend([0; 8]);
    out.extend([8, 0, 1, 0]);
    out.extend(target.sm.to_le_bytes());
    out.extend([0; 8]);
    let flags: u64 = 1 | if os == HostOs::Linux { 0x10 } else { 0x40 };
    out.extend(flags.to_le_bytes());
    out.extend([0; 16]);
    out.extend(cubin);
    out.resize(80 + image, 0);
    out
}

/// Derives a C identifier from the output's name.
pub fn symbol_stem(output: &Path) -> String {
    let name = output.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').find(|part| !part.is_empty()).unwrap_or("kernel");
    let mut stem: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if stem.starts_with(|c: char| c.is_ascii_digit()) || stem == "_" {
        stem.insert(0, '_');
    }
    stem
}

/// LLVM's name of the host, for the launch functions. `None` for arm64ec, whose functions need tables of thunks.
pub fn triple(arch: HostArch, os: HostOs) -> Option<&'static str> {
    match (os, arch) {
        (_, HostArch::Arm64Ec) => None,
        (HostOs::Linux, HostArch::X86_64) => Some("x86_64-unknown-linux-gnu"),
        (HostOs::Linux, HostArch::Aarch64) => Some("aarch64-unknown-linux-gnu"),
        (HostOs::Windows, HostArch::X86_64) => Some("x86_64-pc-windows-msvc"),
        (HostOs::Windows, HostArch::Aarch64) => Some("aarch64-pc-windows-msvc"),
    }
}

/// The warning that an object has no launch functions.
pub fn without_launch_functions() -> Diagnostic {
    Diagnostic::warning("the object for arm64ec has no launch functions; call cuLaunchKernel with the kernel's threads")
}

/// An object that cannot be written, or launch functions that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    #[error(transparent)]
    Write(#[from] object::write::Error),
    #[error("the launch functions: {0}")]
    Read(#[from] object::read::Error),
}

/// Builds the object file. `launch` is the object with the launch functions; it may be empty.
///
/// # Errors
/// `launch` is not an object, or the file cannot be written.
pub fn object(
    cubin: &[u8],
    target: &Target,
    stem: &str,
    (arch, os): (HostArch, HostOs),
    launch: &[u8],
) -> Result<Vec<u8>, ObjectError> {
    let (format, architecture) = match (os, arch) {
        (HostOs::Linux, HostArch::X86_64) => (BinaryFormat::Elf, Architecture::X86_64),
        (HostOs::Linux, _) => (BinaryFormat::Elf, Architecture::Aarch64),
        (HostOs::Windows, HostArch::X86_64) => (BinaryFormat::Coff, Architecture::X86_64),
        (HostOs::Windows, _) => (BinaryFormat::Coff, Architecture::Aarch64),
    };
    let mut file = Object::new(format, architecture, Endianness::Little);
    if arch == HostArch::Arm64Ec {
        file.set_sub_architecture(Some(SubArchitecture::Arm64EC));
    }
    if format == BinaryFormat::Elf {
        // Without this note, linkers assume that the object needs an executable stack.
        file.add_section(Vec::new(), b".note.GNU-stack".to_vec(), SectionKind::Other);
    }
    let data = file.add_section(Vec::new(), b".nv_fatbin".to_vec(), SectionKind::ReadOnlyData);
    if format == BinaryFormat::Elf {
        file.section_mut(data).flags = SectionFlags::Elf { sh_flags: u64::from(object::elf::SHF_ALLOC) };
    }
    let at = file.append_section_data(data, &fat_binary(cubin, target, os), 16);
    let whole = file.section_symbol(data);
    define(&mut file, data, format!("{stem}_cubin"), at + 80, cubin.len() as u64);

    // The dynamic linker relocates the address, so the segment is writable.
    let control = file.add_section(Vec::new(), b".nvFatBinSegment".to_vec(), SectionKind::Data);
    let words: Vec<u8> = WRAPPER.iter().flat_map(|w| w.to_le_bytes()).chain([0; 16]).collect();
    let at = file.append_section_data(control, &words, 8);
    address(&mut file, control, at + 8, whole)?;
    define(&mut file, control, format!("{stem}_fatbin"), at, 24);

    let constants = file.section_id(StandardSection::ReadOnlyData);
    let at = file.append_section_data(constants, &(cubin.len() as u64).to_le_bytes(), 8);
    define(&mut file, constants, format!("{stem}_cubin_size"), at, 8);
    if !launch.is_empty() {
        link(&mut file, launch)?;
    }
    Ok(file.write()?)
}

/// Adds the code of another object, with its symbols and relocations.
fn link(file: &mut Object<'_>, bytes: &[u8]) -> Result<(), ObjectError> {
    let other = File::parse(bytes)?;
    let is_elf = other.format() == BinaryFormat::Elf;
    let text = file.section_id(StandardSection::Text);
    let is_code = |s: &object::read::Section<'_, '_>| s.kind() == SectionKind::Text && s.size() > 0;
    let mut starts = BTreeMap::new();
    for section in other.sections().filter(is_code) {
        starts.insert(section.index().0, file.append_section_data(text, section.data()?, section.align()));
    }
    let mut symbols = BTreeMap::new();
    for symbol in other.symbols() {
        let start = symbol.section_index().and_then(|i| starts.get(&i.0));
        let section = match start {
            Some(_) if symbol.kind() == SymbolKind::Text => SymbolSection::Section(text),
            None if symbol.is_undefined() => SymbolSection::Undefined,
            _ => continue,
        };
        let added = file.add_symbol(Symbol {
            name: symbol.name_bytes()?.to_vec(),
            value: start.map_or(0, |start| start + symbol.address()),
            size: symbol.size(),
            kind: SymbolKind::Text,
            scope: if start.is_some() { SymbolScope::Linkage } else { SymbolScope::Unknown },
            weak: start.is_some() && is_elf,
            section,
            flags: SymbolFlags::None,
        });
        symbols.insert(symbol.index().0, added);
    }
    for section in other.sections().filter(is_code) {
        for (offset, relocation) in section.relocations() {
            let object::read::RelocationTarget::Symbol(symbol) = relocation.target() else { continue };
            let Some(symbol) = symbols.get(&symbol.0) else { continue };
            let offset = starts[&section.index().0] + offset;
            let (addend, flags) = (relocation.addend(), relocation.flags());
            file.add_relocation(text, Relocation { offset, symbol: *symbol, addend, flags })?;
        }
    }
    Ok(())
}

fn define(file: &mut Object<'_>, section: SectionId, name: String, value: u64, size: u64) {
    file.add_symbol(Symbol {
        name: name.into_bytes(),
        value,
        size,
        kind: SymbolKind::Data,
        scope: SymbolScope::Linkage,
        weak: false,
        section: SymbolSection::Section(section),
        flags: SymbolFlags::None,
    });
}

/// Adds a relocation for the 64-bit address of `symbol` at `offset`.
fn address(
    file: &mut Object<'_>,
    section: SectionId,
    offset: u64,
    symbol: SymbolId,
) -> Result<(), object::write::Error> {
    let flags =
        RelocationFlags::Generic { kind: RelocationKind::Absolute, encoding: RelocationEncoding::Generic, size: 64 };
    file.add_relocation(section, Relocation { offset, symbol, addend: 0, flags })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_for_c() {
        for (output, stem) in [
            ("elf.o", "elf"),
            ("dir/my-kernel.v2.o", "my_kernel"),
            ("3d.obj", "_3d"),
            (".hidden.o", "hidden"),
            ("", "kernel"),
            ("\u{e9}.o", "__"),
        ] {
            assert_eq!(symbol_stem(Path::new(output)), stem, "{output}");
        }
    }
}
