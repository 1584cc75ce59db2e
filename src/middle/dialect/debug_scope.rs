//! Debug information in LLVM's form: the scopes that a function's line table refers to, and the location of each
//! operation in these scopes.
//!
//! Front ends describe the origin of an operation in terms of `cuda_tile`: a file location, the enclosing subprogram
//! or lexical block, and the call site that it was inlined at. LLVM requires the same information as its own
//! attributes, fused into the locations:
//!
//! ```text
//! func       di_loc<"/src/a.py":10:1 in @k>        fused<subprogram k>["/src/a.py":10:1]
//!   op       di_loc<"/src/a.py":11:5 in @k>        "/src/a.py":11:5, in the scope of the function
//!   op       callsite(                             callsite(
//!              di_loc<"/lib/h.py":777:3 in @h>       fused<subprogram h>["/lib/h.py":777:3]
//!              at di_loc<"/src/a.py":13:5 in @k>)    at "/src/a.py":13:5)
//! ```
//!
//! An LLVM location uses the file of its scope. A location in another file than its scope's is put into a
//! `di_lexical_block_file`. LLVM's verifier requires that the outermost location of a chain is in the function's
//! subprogram. If a front end violates this, file and line are kept, and the foreign scope is dropped.

use super::{
    cuda_tile::{DICompileUnitAttr, DIFileAttr, DILexicalBlockAttr, DILocAttr, DISubprogramAttr},
    ffi,
    inlined::{Frame, frames},
    location::{FileLine, file_line, leaf},
    pass::{Failed, fail},
    rt::*,
};
use melior::{
    Context,
    ir::{Attribute, AttributeLike, Location, attribute::StringAttribute},
};
use mlir_sys::*;
use rustc_hash::FxHashMap;
use std::path::Path;

/// The amount of debug information to emit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emission {
    /// None: the scopes only serve diagnostics.
    None,
    LineTables,
    /// `.file` and `.loc`, without DWARF sections.
    Directives,
    Full,
}

impl Emission {
    pub const ALL: [Self; 4] = [Self::None, Self::LineTables, Self::Directives, Self::Full];

    /// The name of the kind in LLVM's compile units.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::LineTables => "LineTablesOnly",
            Self::Directives => "DebugDirectivesOnly",
            Self::Full => "Full",
        }
    }

    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|e| e.name() == name)
    }

    fn kind(self) -> MlirLLVMDIEmissionKind {
        match self {
            Self::None => MlirLLVMDIEmissionKind_MlirLLVMDIEmissionKindNone,
            Self::LineTables => MlirLLVMDIEmissionKind_MlirLLVMDIEmissionKindLineTablesOnly,
            Self::Directives => MlirLLVMDIEmissionKind_MlirLLVMDIEmissionKindDebugDirectivesOnly,
            Self::Full => MlirLLVMDIEmissionKind_MlirLLVMDIEmissionKindFull,
        }
    }
}

/// The changes that [`insert`] made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Described {
    /// Functions that received a scope.
    pub scoped: usize,
    /// Operations without a location that received the function's.
    pub placed: usize,
}

/// Returns the emission kind named by an option of a pass on `op`.
pub fn emission(op: OpRef<'_>, name: &str) -> Result<Emission, Failed> {
    Emission::by_name(name).ok_or_else(|| {
        let valid: Vec<&str> = Emission::ALL.map(Emission::name).into();
        fail(op, format!("unknown emission-kind '{name}'; the kinds are {}", valid.join(", ")))
    })
}

/// Adds a scope to each defined function that lacks one, and LLVM-style locations to the operations in it. If no
/// debug information is to be emitted, locations of operations keep their `cuda_tile` form; operations without a
/// location get the function's.
pub fn insert<'c>(
    module: OpRef<'c>,
    context: &'c Context,
    emission: Emission,
    is_function: impl Fn(OpRef<'c>) -> bool,
) -> Described {
    let is_defined = |o: OpRef<'c>| is_function(o) && entry_block(region(o, 0)).is_some();
    let functions = collect_ops(module, |o| is_defined(o).then_some(o));
    let unit_place = file_line(module.location()).or_else(|| functions.iter().find_map(|f| file_line(f.location())));
    let mut scopes = Scopes {
        context,
        emission,
        unit_file: unit_place.map_or(UNKNOWN_FILE.into(), |p| p.file),
        unit: functions.iter().find_map(|f| subprogram_of(f.location())).map(unit_of),
        units: FxHashMap::default(),
        scopes: FxHashMap::default(),
        callees: FxHashMap::default(),
    };
    // All functions before the operations, because one kernel may be inlined into another.
    let scoped = functions.iter().filter(|f| scopes.give(**f)).count();
    let placed = functions.iter().map(|f| scopes.place(*f)).sum();
    Described { scoped, placed }
}

const UNKNOWN_FILE: &str = "<unknown>";

/// Whether the function's location has an LLVM subprogram.
pub fn has_scope(function: OpRef<'_>) -> bool {
    subprogram_of(function.location()).is_some()
}

/// Returns the location of the function that a pass builds from `function`: the same file location in the same scope.
pub fn scoped_leaf<'c>(function: OpRef<'c>) -> Location<'c> {
    if has_scope(function) { function.location() } else { leaf(function.location()) }
}

/// Returns the location of an LLVM dialect operation lowered from an operation at `location`, which drops `cuda_tile`
/// scopes.
pub fn lowered(location: Location<'_>) -> Location<'_> {
    if is_lowered(location) { location } else { leaf(location) }
}

/// Whether the scopes in a location are LLVM's.
fn is_lowered(location: Location<'_>) -> bool {
    let mut location = location.to_raw();
    // SAFETY: the kind is checked before each accessor; locations live as long as their context.
    unsafe {
        while mlirLocationIsACallSite(location) {
            location = mlirLocationCallSiteGetCallee(location);
        }
        mlirLocationIsAFused(location) && {
            let metadata = mlirLocationFusedGetMetadata(location);
            !metadata.ptr.is_null() && ffi::mlirxIsLLVMLocalScope(metadata)
        }
    }
}

/// Returns the LLVM subprogram in the location of a function.
fn subprogram_of(location: Location<'_>) -> Option<Attribute<'_>> {
    let raw = location.to_raw();
    // SAFETY: the kind is checked before the accessor; the location is alive.
    unsafe {
        let metadata = mlirLocationIsAFused(raw).then(|| mlirLocationFusedGetMetadata(raw))?;
        Attribute::from_option_raw(metadata).filter(|a| ffi::mlirxIsLLVMSubprogram(a.to_raw()))
    }
}

fn unit_of(subprogram: Attribute<'_>) -> Attribute<'_> {
    // SAFETY: the attribute is a subprogram, and all subprograms built here have a unit.
    unsafe { Attribute::from_raw(mlirLLVMDISubprogramAttrGetCompileUnit(subprogram.to_raw())) }
}

/// An LLVM scope and the path of its file.
#[derive(Clone)]
struct Scope<'c> {
    attribute: Attribute<'c>,
    file: String,
}

/// The scopes of a module under construction. The maps are never iterated over; their keys are addresses of uniqued
/// attributes.
struct Scopes<'c> {
    context: &'c Context,
    emission: Emission,
    /// The file of functions whose front end names no compile unit.
    unit_file: String,
    /// The unit of these functions, once created.
    unit: Option<Attribute<'c>>,
    units: FxHashMap<usize, Attribute<'c>>,
    /// The LLVM scopes of `cuda_tile` subprograms and lexical blocks.
    scopes: FxHashMap<usize, Scope<'c>>,
    /// Subprograms of callees that only have a file and a name.
    callees: FxHashMap<(String, String), Attribute<'c>>,
}

impl<'c> Scopes<'c> {
    /// Adds a scope to a function unless it has one. Returns whether it did.
    fn give(&mut self, function: OpRef<'c>) -> bool {
        if has_scope(function) {
            return false;
        }
        let symbol = attr(function, "sym_name").map_or("", string_attr);
        let source = source_subprogram(function.location());
        let place = file_line(function.location());
        let name = source.and_then(|s| s.name()).map_or(symbol, string_attr);
        let file = place.as_ref().map_or_else(|| self.unit_file.clone(), |p| p.file.clone());
        let line = source.map_or(0, |s| s.line());
        let line = if line > 0 { line } else { place.as_ref().map_or(1, |p| i64::from(p.line)).max(1) };
        let scope_line = source.map_or(0, |s| s.scope_line());
        let scope_line = if scope_line > 0 { scope_line } else { line };
        let unit = self.unit(source.and_then(|s| s.compile_unit()));
        let scope = self.subprogram(unit, &file, (name, symbol), (line, scope_line), extras_of(source));
        if let Some(source) = source {
            self.scopes.insert(key_of(source.into()), Scope { attribute: scope, file });
        }
        set_location(function, fused(scope, leaf(function.location())));
        true
    }

    /// Sets the locations of a function's operations. Returns the number of operations that had none.
    fn place(&mut self, function: OpRef<'c>) -> usize {
        let head = file_line(function.location());
        let own = subprogram_of(function.location())
            .map(|attribute| Scope { attribute, file: head.as_ref().map_or(String::new(), |p| p.file.clone()) });
        let mut done: FxHashMap<usize, Option<Location<'c>>> = FxHashMap::default();
        let mut placed = 0;
        walk(function, &mut |op| {
            if op_key(op) == op_key(function) {
                return;
            }
            let location = op.location();
            let new = *done.entry(location.to_raw().ptr as usize).or_insert_with(|| {
                if is_lowered(location) {
                    return None;
                }
                match (&own, frames(location)) {
                    (_, chain) if chain.is_empty() => head.as_ref().map(|p| self.at(p)),
                    (Some(own), chain) if self.emission != Emission::None => Some(self.chain(own, &chain)),
                    _ => None,
                }
            });
            if let Some(new) = new {
                placed += usize::from(file_line(location).is_none());
                set_location(op, new);
            }
        });
        placed
    }

    /// Converts a chain to LLVM's form, for a function with the scope `own`.
    fn chain(&mut self, own: &Scope<'c>, chain: &[Frame<'c>]) -> Location<'c> {
        let Some((outer, inner)) = chain.split_last() else { return Location::unknown(self.context) };
        let scope = outer.scope.and_then(|s| {
            let root = self.scope(subprogram_around(s)?)?;
            (root.attribute == own.attribute).then(|| self.scope(s)).flatten()
        });
        let scope = scope.unwrap_or_else(|| own.clone());
        let plain = scope.attribute == own.attribute && scope.file == outer.place.file;
        let mut location = if plain { self.at(&outer.place) } else { self.inside(&scope, &outer.place) };
        for frame in inner.iter().rev() {
            let scope = frame.scope.and_then(|s| self.scope(s)).unwrap_or_else(|| self.callee(frame));
            let callee = self.inside(&scope, &frame.place);
            // SAFETY: both locations are alive.
            location = unsafe { Location::from_raw(mlirLocationCallSiteGet(callee.to_raw(), location.to_raw())) };
        }
        location
    }

    fn at(&self, place: &FileLine) -> Location<'c> {
        Location::new(self.context, &place.file, place.line as usize, place.column as usize)
    }

    /// A location in a scope, possibly of another file.
    fn inside(&self, scope: &Scope<'c>, place: &FileLine) -> Location<'c> {
        let mut attribute = scope.attribute;
        if scope.file != place.file {
            let file = self.file(&place.file);
            // SAFETY: context, scope and file are alive and of the required kinds.
            attribute = unsafe {
                Attribute::from_raw(mlirLLVMDILexicalBlockFileAttrGet(
                    self.context.to_raw(),
                    attribute.to_raw(),
                    file.to_raw(),
                    0,
                ))
            };
        }
        fused(attribute, self.at(place))
    }

    /// Returns the LLVM scope of a `cuda_tile` subprogram or lexical block.
    fn scope(&mut self, source: Attribute<'c>) -> Option<Scope<'c>> {
        if let Some(scope) = self.scopes.get(&key_of(source)) {
            return Some(scope.clone());
        }
        let scope = if let Some(block) = DILexicalBlockAttr::cast(source) {
            let outer = self.scope(block.scope()?)?;
            let file = path_of(block.file()?)?;
            let (line, column) = (block.line() as u32, block.column() as u32);
            let file_attribute = self.file(&file);
            // SAFETY: context, scope and file are alive and of the required kinds.
            let attribute = unsafe {
                Attribute::from_raw(mlirLLVMDILexicalBlockAttrGet(
                    self.context.to_raw(),
                    outer.attribute.to_raw(),
                    file_attribute.to_raw(),
                    line,
                    column,
                ))
            };
            Scope { attribute, file }
        } else {
            let s = DISubprogramAttr::cast(source)?;
            let file = path_of(s.file()?)?;
            let unit = self.unit(s.compile_unit());
            let names = (string_attr(s.name()?), string_attr(s.linkage_name()?));
            let lines = (s.line(), s.scope_line());
            Scope { attribute: self.subprogram(unit, &file, names, lines, extras_of(Some(s))), file }
        };
        self.scopes.insert(key_of(source), scope.clone());
        Some(scope)
    }

    /// Returns the scope of an inlined function that the front end does not describe.
    fn callee(&mut self, frame: &Frame<'c>) -> Scope<'c> {
        let file = frame.place.file.clone();
        let name = frame.name.unwrap_or("inlined").to_string();
        let known = self.callees.get(&(file.clone(), name.clone())).copied();
        let attribute = known.unwrap_or_else(|| {
            let unit = self.unit(None);
            let line = i64::from(frame.place.line);
            let made = self.subprogram(unit, &file, (&name, &name), (line, line), extras_of(None));
            self.callees.insert((file.clone(), name), made);
            made
        });
        Scope { attribute, file }
    }

    /// Returns the unit of a `cuda_tile` unit, or of functions whose front end names none.
    fn unit(&mut self, source: Option<Attribute<'c>>) -> Attribute<'c> {
        let source = source.and_then(DICompileUnitAttr::cast);
        let file = source.and_then(|u| path_of(u.file()?));
        match (source, file) {
            (Some(source), Some(file)) => match self.units.get(&key_of(source.into())) {
                Some(unit) => *unit,
                None => {
                    let unit = self.make_unit(&file, &producer_of(source));
                    self.units.insert(key_of(source.into()), unit);
                    unit
                }
            },
            _ => match self.unit {
                Some(unit) => unit,
                None => {
                    let unit = self.make_unit(&self.unit_file.clone(), PRODUCER);
                    self.unit = Some(unit);
                    unit
                }
            },
        }
    }

    fn make_unit(&self, file: &str, producer: &str) -> Attribute<'c> {
        /// `DW_LANG_C`: no number for Python is known to GPU debuggers.
        const LANGUAGE: u32 = 2;
        let raw = self.context.to_raw();
        let producer = Attribute::from(StringAttribute::new(self.context, producer));
        let file = self.file(file);
        // No name tables: the code generator emits a section of them per unit, and ptxas places these sections at the
        // same address ("overlapping non-identical data"). SAFETY: the context is alive, and the attributes are of
        // the required kinds.
        unsafe {
            Attribute::from_raw(mlirLLVMDICompileUnitAttrGet(
                raw,
                mlirDisctinctAttrCreate(mlirUnitAttrGet(raw)),
                LANGUAGE,
                file.to_raw(),
                producer.to_raw(),
                self.is_optimized(),
                self.emission.kind(),
                MlirLLVMDINameTableKind_MlirLLVMDINameTableKindNone,
            ))
        }
    }

    fn subprogram(
        &self,
        unit: Attribute<'c>,
        file: &str,
        (name, linkage_name): (&str, &str),
        (line, scope_line): (i64, i64),
        extras: ffi::MlirxSubprogramExtras,
    ) -> Attribute<'c> {
        let text = |s: &str| Attribute::from(StringAttribute::new(self.context, s)).to_raw();
        let number = |n: i64| u32::try_from(n).unwrap_or(0);
        // SAFETY: the unit and the file have the kinds that their names say, and the texts are strings.
        unsafe {
            Attribute::from_raw(ffi::mlirxLLVMSubprogramGet(
                unit.to_raw(),
                self.file(file).to_raw(),
                text(name),
                text(linkage_name),
                number(line),
                number(scope_line),
                self.is_optimized(),
                extras,
            ))
        }
    }

    fn is_optimized(&self) -> bool {
        self.emission != Emission::Full
    }

    /// Returns the file attribute of a path, with its name and folder.
    fn file(&self, path: &str) -> Attribute<'c> {
        let path = Path::new(path);
        let text = |p: Option<&std::ffi::OsStr>| {
            Attribute::from(StringAttribute::new(self.context, &p.unwrap_or_default().to_string_lossy())).to_raw()
        };
        let (name, folder) = (text(path.file_name()), text(path.parent().map(Path::as_os_str)));
        // SAFETY: the context is alive, and both attributes are strings.
        unsafe { Attribute::from_raw(mlirLLVMDIFileAttrGet(self.context.to_raw(), name, folder)) }
    }
}

fn fused<'c>(scope: Attribute<'c>, place: Location<'c>) -> Location<'c> {
    let place = place.to_raw();
    // SAFETY: scope and location belong to the same living context.
    unsafe {
        Location::from_raw(mlirLocationFusedGet(mlirAttributeGetContext(scope.to_raw()), 1, &place, scope.to_raw()))
    }
}

/// The producer of units whose front end names none.
const PRODUCER: &str = "tileiras";

/// Returns the producer of a front end's unit. DWARF has no attribute for the flags; as in other compilers, they
/// follow the producer's name.
fn producer_of(unit: DICompileUnitAttr<'_>) -> String {
    let name = unit.producer().map_or("", string_attr);
    let name = if name.is_empty() { PRODUCER } else { name };
    let flags = unit.flags();
    if flags == 0 { name.to_owned() } else { format!("{name} (flags {flags:#x})") }
}

/// Returns the numbers of a front end's subprogram.
fn extras_of(source: Option<DISubprogramAttr<'_>>) -> ffi::MlirxSubprogramExtras {
    /// The bits that LLVM defines, except those of virtual functions.
    const SP_FLAGS: i64 = 0xbfc;
    let number = |of: fn(DISubprogramAttr<'_>) -> i64| source.map_or(0, of);
    ffi::MlirxSubprogramExtras {
        flags: number(|s| s.flags()) as u64,
        purpose: number(|s| s.purpose()) as u64,
        spFlags: (number(|s| s.sp_flags()) & SP_FLAGS) as u32,
    }
}

fn key_of(attribute: Attribute<'_>) -> usize {
    attribute.to_raw().ptr as usize
}

/// Returns the `cuda_tile` subprogram that contains a location.
fn source_subprogram(location: Location<'_>) -> Option<DISubprogramAttr<'_>> {
    // SAFETY: the location is alive.
    let attribute = unsafe { Attribute::from_raw(mlirLocationGetAttribute(location.to_raw())) };
    DISubprogramAttr::cast(DILocAttr::cast(attribute)?.scope()?)
}

/// Returns the subprogram that contains a `cuda_tile` scope.
fn subprogram_around(scope: Attribute<'_>) -> Option<Attribute<'_>> {
    // SAFETY: the scope of a location is a subprogram or a lexical block, as its verifier ensures.
    unsafe { Attribute::from_option_raw(ffi::cudaTileScopeGetSubprogram(scope.to_raw())) }
}

/// Returns the path of a `cuda_tile` file.
fn path_of(file: Attribute<'_>) -> Option<String> {
    let file = DIFileAttr::cast(file)?;
    let (name, folder) = (string_attr(file.name()?), string_attr(file.directory()?));
    Some(Path::new(folder).join(name).to_string_lossy().into_owned())
}
