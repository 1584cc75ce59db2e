//! Call sites of inlined functions in the line information of PTX.
//!
//! PTX records call sites of inlined functions as attributes of `.loc`:
//!
//! ```text
//! .loc 1 13 5                                                        a.py:13:5
//! .loc 2 777 3, function_name $L__inlined_name0, inlined_at 1 13 5   helper.py:777:3, in the function called there
//! ```
//!
//! LLVM 21 knows the call site of each instruction but prints only `.loc 2 777 3`. It does print the file of the
//! scope. Before code generation, [`mark`] therefore moves each inlined location into an artificial file. The name of
//! that file is the number of a *chain*: the actual file, the function, and the call site, which is a location in
//! another chain or in the kernel itself. Afterwards [`Chains::write`] replaces that name with the file and the
//! attributes of the chain:
//!
//! ```text
//! .loc 3 777 3                             .loc 1 13 5
//!                                    =>    .loc 2 777 3, function_name $L__inlined_name0, inlined_at 1 13 5
//! .file 3 "tileiras.inlined.0"             .file 2 "/lib/helper.py"
//! ```
//!
//! The scope itself does not change: DWARF sections describe the same functions and blocks as before.
//!
//! ptxas expects the call site in an earlier `.loc`, and takes the call site of the nearest one as the next level of
//! the chain. The `.loc` of each chain is therefore preceded by its call sites, outermost first, unless they are the
//! latest `.loc` of those locations.

use inkwell::{module::Module, values::AsValueRef};
use llvm_sys::{core::*, debuginfo::*, prelude::*};
use rustc_hash::FxHashMap;
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::c_uint,
    fmt::Write,
};

/// A location in a file. The file is spelled as in PTX, with escapes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct SourceLocation {
    file: String,
    line: u32,
    column: u32,
}

/// The common data of all locations of one inlined call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Chain {
    /// The file of the callee.
    file: String,
    function: String,
    call_site: SourceLocation,
    /// The chain of the call site, unless it is in the kernel itself.
    outer: Option<usize>,
}

/// The chains of a module, by number.
#[derive(Debug, Default)]
pub struct Chains {
    list: Vec<Chain>,
    numbers: FxHashMap<Chain, usize>,
}

const MARK: &str = "tileiras.inlined.";

/// Moves the inlined locations of a module into artificial files that name their chains.
pub fn mark(module: &Module<'_>) -> Chains {
    let mut chains = Chains::default();
    let mut moved: FxHashMap<usize, LLVMMetadataRef> = FxHashMap::default();
    // SAFETY: instructions and metadata belong to the module, which is alive; the builder is finalised before it is
    // disposed of.
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let builder = LLVMCreateDIBuilder(module.as_mut_ptr());
        for instruction in super::instructions(module).map(|i| i.as_value_ref()) {
            let location = LLVMInstructionGetDebugLoc(instruction);
            if location.is_null() || LLVMDILocationGetInlinedAt(location).is_null() {
                continue;
            }
            let new = *moved.entry(location as usize).or_insert_with(|| {
                let Some(number) = chains.number(context, location) else { return location };
                let file = format!("{MARK}{number}");
                let file = LLVMDIBuilderCreateFile(builder, file.as_ptr().cast(), file.len(), c"".as_ptr(), 0);
                let scope = LLVMDIBuilderCreateLexicalBlockFile(builder, LLVMDILocationGetScope(location), file, 0);
                let (line, column) = (LLVMDILocationGetLine(location), LLVMDILocationGetColumn(location));
                LLVMDIBuilderCreateDebugLocation(context, line, column, scope, LLVMDILocationGetInlinedAt(location))
            });
            LLVMInstructionSetDebugLoc(instruction, new);
        }
        LLVMDIBuilderFinalize(builder);
        LLVMDisposeDIBuilder(builder);
    }
    chains
}

impl Chains {
    /// The number of the chain of an inlined location; `None` for a location in the kernel itself.
    ///
    /// # Safety
    /// `location` must be a live `DILocation` of `context`.
    unsafe fn number(&mut self, context: LLVMContextRef, location: LLVMMetadataRef) -> Option<usize> {
        // From the outermost call inwards, because a chain includes the number of its outer chain.
        let mut calls = vec![location];
        // SAFETY: the caller's promise; the metadata that a location refers to lives as long as the location.
        unsafe {
            while let Some(&last) = calls.last() {
                match LLVMDILocationGetInlinedAt(last) {
                    at if at.is_null() => break,
                    at => calls.push(at),
                }
            }
            let mut outer = None;
            for pair in calls.windows(2).rev() {
                let (callee, site) = (pair[0], pair[1]);
                let chain = Chain {
                    file: file_of(LLVMDILocationGetScope(callee)),
                    function: function_of(context, LLVMDILocationGetScope(callee)),
                    call_site: SourceLocation {
                        file: file_of(LLVMDILocationGetScope(site)),
                        line: LLVMDILocationGetLine(site),
                        column: LLVMDILocationGetColumn(site),
                    },
                    outer,
                };
                let next = self.list.len();
                let number = *self.numbers.entry(chain.clone()).or_insert(next);
                if number == next {
                    self.list.push(chain);
                }
                outer = Some(number);
            }
            outer
        }
    }

    /// Returns the PTX that LLVM printed for the module with the marks replaced by files and call sites.
    pub fn write(&self, ptx: &str) -> String {
        if self.list.is_empty() {
            return ptx.to_string();
        }
        let mut files = Files::read(ptx);
        let mut names: Vec<&str> = vec![];
        let mut text = String::with_capacity(ptx.len() * 2);
        // The chain in the latest `.loc` of each location of this function.
        let mut said: FxHashMap<(u32, u32, u32), Option<usize>> = FxHashMap::default();
        for line in ptx.lines() {
            if mark_of_file(line).is_some() {
                continue;
            }
            if let Some((number, row, column)) = loc(line) {
                let chain = files.marks.get(&number).copied().filter(|c| *c < self.list.len());
                let number = chain.map_or(number, |c| files.number(&self.list[c].file));
                self.say(
                    (number, row, column),
                    chain,
                    &mut Said { files: &mut files, names: &mut names, said: &mut said, text: &mut text },
                );
                continue;
            }
            if line.starts_with('{') {
                said.clear();
            }
            text.push_str(line);
            text.push('\n');
        }
        for (number, chain) in files.gaps() {
            let name = self.list.get(chain).map_or("", |c| &c.file);
            writeln!(text, "\t.file\t{number} \"{name}\"").expect("strings take text");
        }
        for (number, file) in &files.new {
            writeln!(text, "\t.file\t{number} \"{file}\"").expect("strings take text");
        }
        text.push_str("\t.section\t.debug_str\n\t{\n");
        for (i, name) in names.iter().enumerate() {
            let bytes: Vec<String> = name.bytes().chain([0]).map(|b| b.to_string()).collect();
            writeln!(text, "$L__inlined_name{i}:\n\t.b8 {}", bytes.join(", ")).expect("strings take text");
        }
        text.push_str("\t}\n");
        text
    }

    /// Writes the `.loc` of a location, preceded by the `.loc`s of its call sites that are not current.
    fn say<'a>(&'a self, place: (u32, u32, u32), chain: Option<usize>, out: &mut Said<'a, '_>) {
        let mut pending = vec![(place, chain)];
        while let Some((_, Some(inner))) = pending.last() {
            let Chain { call_site: p, outer, .. } = &self.list[*inner];
            let site = (out.files.number(&p.file), p.line, p.column);
            if out.said.get(&site) == Some(outer) {
                break;
            }
            pending.push((site, *outer));
        }
        for (place, chain) in pending.into_iter().rev() {
            let (number, row, column) = place;
            write!(out.text, "\t.loc\t{number} {row} {column}").expect("strings take text");
            if let Some(chain) = chain {
                let Chain { function, call_site: p, .. } = &self.list[chain];
                let name = out.names.iter().position(|n| n == function).unwrap_or_else(|| {
                    out.names.push(function);
                    out.names.len() - 1
                });
                let (file, line, column) = (out.files.number(&p.file), p.line, p.column);
                write!(out.text, ", function_name $L__inlined_name{name}, inlined_at {file} {line} {column}")
                    .expect("strings take text");
            }
            out.text.push('\n');
            out.said.insert(place, chain);
        }
    }
}

/// The text while it is written.
struct Said<'a, 'o> {
    files: &'o mut Files,
    names: &'o mut Vec<&'a str>,
    said: &'o mut FxHashMap<(u32, u32, u32), Option<usize>>,
    text: &'o mut String,
}

/// The `.file` directives of a module.
#[derive(Default)]
struct Files {
    /// Chains by the number of the file that names them.
    marks: FxHashMap<u32, usize>,
    numbers: FxHashMap<String, u32>,
    /// Files of inlined functions only, in the order of their first use.
    new: Vec<(u32, String)>,
}

impl Files {
    fn read(ptx: &str) -> Files {
        let mut files = Files::default();
        for (number, name) in ptx.lines().filter_map(file) {
            match mark(name) {
                Some(chain) => files.marks.insert(number, chain).map(|_| ()),
                None => files.numbers.insert(name.to_string(), number).map(|_| ()),
            };
        }
        return files;

        fn mark(name: &str) -> Option<usize> {
            name.strip_prefix(MARK)?.parse().ok()
        }
    }

    /// The numbers of marks that no file reuses, below the highest number of a file. DWARF sections refer to the
    /// other files by number.
    fn gaps(&self) -> Vec<(u32, usize)> {
        let used: BTreeSet<u32> = self.numbers.values().copied().collect();
        let marks: BTreeMap<u32, usize> = self.marks.iter().map(|(n, c)| (*n, *c)).collect();
        let highest = used.last().copied().unwrap_or(0);
        marks.into_iter().filter(|(n, _)| *n < highest && !used.contains(n)).collect()
    }

    /// Numbers a new file with the lowest free number, because line tables with gaps between files cannot be read.
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = (1..).find(|n| !self.numbers.values().any(|used| used == n)).unwrap_or(u32::MAX);
        self.numbers.insert(name.to_string(), number);
        self.new.push((number, name.to_string()));
        number
    }
}

/// The number and name of a `.file` directive.
fn file(line: &str) -> Option<(u32, &str)> {
    let (number, name) = line.trim_start().strip_prefix(".file")?.trim_start().split_once(' ')?;
    Some((number.parse().ok()?, name.trim().strip_prefix('"')?.strip_suffix('"')?))
}

fn mark_of_file(line: &str) -> Option<&str> {
    file(line).and_then(|(_, name)| name.strip_prefix(MARK))
}

/// The file, line and column of a `.loc` directive.
fn loc(line: &str) -> Option<(u32, u32, u32)> {
    let mut numbers = line.trim_start().strip_prefix(".loc")?.split_whitespace().map(|n| n.parse().ok());
    Some((numbers.next()??, numbers.next()??, numbers.next()??))
}

/// The path of a scope's file, as LLVM writes it between quotes.
///
/// # Safety
/// `scope` must be a live scope.
unsafe fn file_of(scope: LLVMMetadataRef) -> String {
    // SAFETY: the caller's promise; the texts live as long as the file.
    let (name, folder) = unsafe {
        let file = LLVMDIScopeGetFile(scope);
        if file.is_null() {
            return String::new();
        }
        let (mut n, mut f): (c_uint, c_uint) = (0, 0);
        let name = LLVMDIFileGetFilename(file, &mut n);
        let folder = LLVMDIFileGetDirectory(file, &mut f);
        (bytes(name, n), bytes(folder, f))
    };
    let mut path = folder.to_vec();
    if name.starts_with(b"/") {
        path.clear();
    } else if !path.is_empty() && !path.ends_with(b"/") {
        path.push(b'/');
    }
    path.extend(name);
    escaped(&path)
}

/// The name of the subprogram that contains a scope.
///
/// # Safety
/// `scope` must be a live local scope of `context`.
unsafe fn function_of(context: LLVMContextRef, mut scope: LLVMMetadataRef) -> String {
    /// Operands of the nodes, in the order of LLVM 21.
    const SCOPE: usize = 1;
    const NAME: usize = 2;
    // SAFETY: the caller's promise; operands are read in the number that there are.
    unsafe {
        loop {
            let node = LLVMMetadataAsValue(context, scope);
            let mut operands: Vec<LLVMValueRef> = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
            LLVMGetMDNodeOperands(node, operands.as_mut_ptr());
            let operand = |i: usize| operands.get(i).copied().filter(|o| !o.is_null());
            if matches!(LLVMGetMetadataKind(scope), LLVMMetadataKind::LLVMDISubprogramMetadataKind) {
                let mut length = 0;
                let name = operand(NAME).map(|n| bytes(LLVMGetMDString(n, &mut length), length));
                return String::from_utf8_lossy(name.unwrap_or_default()).into_owned();
            }
            match operand(SCOPE) {
                Some(outer) => scope = LLVMValueAsMetadata(outer),
                None => return String::new(),
            }
        }
    }
}

/// # Safety
/// `text` must be null or point at `length` bytes that live for `'a`.
unsafe fn bytes<'a>(text: *const std::ffi::c_char, length: c_uint) -> &'a [u8] {
    if text.is_null() || length == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(text.cast(), length as usize) }
}

/// Escapes a text as LLVM does between quotes.
fn escaped(text: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(*byte)]),
            0x20..=0x7e => out.push(char::from(*byte)),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            other => write!(out, "\\{other:03o}").expect("strings take text"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: &str, line: u32) -> SourceLocation {
        SourceLocation { file: file.into(), line, column: 5 }
    }

    fn chains(list: Vec<Chain>) -> Chains {
        Chains { list, numbers: FxHashMap::default() }
    }

    const PTX: &str = "\
.visible .entry k()
{
\t.loc\t1 10 1
\t.loc\t2 777 3
\tadd.s32 \t%r1, %r2, %r3;
\t.loc\t3 999 1
\tadd.s32 \t%r1, %r2, %r3;
\t.loc\t2 778 3
\tret;
}
\t.file\t1 \"/src/a.py\"
\t.file\t2 \"tileiras.inlined.0\"
\t.file\t3 \"tileiras.inlined.1\"
";

    #[test]
    fn call_sites_are_written_before_what_was_inlined_there() {
        let helper = Chain {
            file: "/lib/helper.py".into(),
            function: "help".into(),
            call_site: place("/src/a.py", 13),
            outer: None,
        };
        let inner = Chain {
            file: "/lib/inner.py".into(),
            function: "in".into(),
            call_site: place("/lib/helper.py", 700),
            outer: Some(0),
        };
        let expected = "\
.visible .entry k()
{
\t.loc\t1 10 1
\t.loc\t1 13 5
\t.loc\t2 777 3, function_name $L__inlined_name0, inlined_at 1 13 5
\tadd.s32 \t%r1, %r2, %r3;
\t.loc\t2 700 5, function_name $L__inlined_name0, inlined_at 1 13 5
\t.loc\t3 999 1, function_name $L__inlined_name1, inlined_at 2 700 5
\tadd.s32 \t%r1, %r2, %r3;
\t.loc\t2 778 3, function_name $L__inlined_name0, inlined_at 1 13 5
\tret;
}
\t.file\t1 \"/src/a.py\"
\t.file\t2 \"/lib/helper.py\"
\t.file\t3 \"/lib/inner.py\"
\t.section\t.debug_str
\t{
$L__inlined_name0:
\t.b8 104, 101, 108, 112, 0
$L__inlined_name1:
\t.b8 105, 110, 0
\t}
";
        assert_eq!(chains(vec![helper, inner]).write(PTX), expected);
    }

    /// One line of a helper, inlined twice. The call site within the helper is repeated for the second.
    #[test]
    fn a_call_site_that_is_inlined_twice_is_said_for_each() {
        let helper =
            |line| Chain { file: "h".into(), function: "help".into(), call_site: place("k", line), outer: None };
        let inner =
            |outer| Chain { file: "i".into(), function: "in".into(), call_site: place("h", 7), outer: Some(outer) };
        let ptx = "{\n.loc 1 1 1\n.loc 2 1 1\n.loc 1 1 1\n}\n.file 1 \"tileiras.inlined.2\"\n.file 2 \"tileiras.inlined.3\"\n";
        let text = chains(vec![helper(1), helper(2), inner(0), inner(1)]).write(ptx);
        let locs: Vec<&str> = text.lines().filter(|l| l.contains(".loc")).map(str::trim).collect();
        let sites: Vec<&str> = locs.iter().filter_map(|l| l.split("inlined_at ").nth(1)).collect();
        assert_eq!(sites, ["3 1 5", "2 7 5", "3 2 5", "2 7 5", "3 1 5", "2 7 5"], "{text}");
    }

    /// A file after the marks keeps its number, and the marks in between become the names of their files.
    #[test]
    fn no_number_of_a_file_is_left_out() {
        let helper = Chain { file: "k".into(), function: "help".into(), call_site: place("k", 1), outer: None };
        let ptx = "{\n.loc 1 1 1\n.loc 2 1 1\n}\n.file 1 \"k\"\n.file 2 \"tileiras.inlined.0\"\n.file 3 \"z\"\n";
        let text = chains(vec![helper]).write(ptx);
        let mut files: Vec<(u32, &str)> = text.lines().filter_map(file).collect();
        files.sort_unstable();
        assert_eq!(files, [(1, "k"), (2, "k"), (3, "z")], "{text}");
    }

    #[test]
    fn without_chains_nothing_changes() {
        let ptx = PTX.replace("tileiras.inlined.", "x");
        assert_eq!(Chains::default().write(&ptx), ptx);
    }

    #[test]
    fn paths_are_escaped_as_llvm_does() {
        assert_eq!(escaped("a \"b\"\\\n\u{e9}".as_bytes()), "a \\\"b\\\"\\\\\\n\\303\\251");
    }
}
