//! Scopes of debug information in LLVM's terms: what the line tables of a function hang on.
//!
//! A scope is a subprogram attribute that is fused into the location of a function. Instructions need only places in files: LLVM
//! puts them into the scope of the function that they are in.

use super::{
    cuda_tile::{DILocAttr, DISubprogramAttr},
    location::{FileLine, file_line, leaf},
    pass::{Failed, fail},
    rt::*,
};
use melior::{
    Context,
    ir::{Attribute, AttributeLike, Location, attribute::StringAttribute},
};
use mlir_sys::*;
use std::path::Path;

/// How much of the debug information is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emission {
    /// Nothing: the scopes serve messages only.
    None,
    LineTables,
    /// `.file` and `.loc`, without sections of DWARF.
    Directives,
    Full,
}

impl Emission {
    pub const ALL: [Self; 4] = [Self::None, Self::LineTables, Self::Directives, Self::Full];

    /// The name in LLVM's compile units.
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
}

/// Whether the function's location has a subprogram of LLVM's.
pub fn has_scope(function: OpRef<'_>) -> bool {
    // SAFETY: the location is alive, and asked for its kind before its metadata.
    unsafe {
        let raw = function.location().to_raw();
        mlirLocationIsAFused(raw)
            && Attribute::from_option_raw(mlirLocationFusedGetMetadata(raw))
                .is_some_and(|a| a.to_string().starts_with("#llvm.di_subprogram<"))
    }
}

/// The location of the function that a pass makes of `function`: the same place in the same scope.
pub fn scoped_leaf<'c>(function: OpRef<'c>) -> Location<'c> {
    if has_scope(function) { function.location() } else { leaf(function.location()) }
}

/// Gives each function a scope of its own, all in one compile unit. None when MLIR takes no such attribute.
pub fn give<'c>(context: &'c Context, functions: &[OpRef<'c>], module: OpRef<'c>, emission: Emission) -> Option<()> {
    if functions.is_empty() {
        return Some(());
    }
    let unit_place = file_line(module.location()).or_else(|| functions.iter().find_map(|f| file_line(f.location())));
    let unit_file = file(context, unit_place.as_ref());
    // One text for all, so that they share the unit: equal numbers of distinct attributes are equal within one text.
    let list: Vec<String> =
        functions.iter().enumerate().map(|(i, f)| subprogram(context, *f, i + 1, &unit_file, emission)).collect();
    let list = Attribute::parse(context, &format!("[{}]", list.join(", ")))?;
    for (i, function) in functions.iter().enumerate() {
        let place = leaf(function.location());
        // SAFETY: the list has an attribute for each function, and the context outlives all of them.
        let location = unsafe {
            let scope = mlirArrayAttrGetElement(list.to_raw(), i as isize);
            let place = place.to_raw();
            Location::from_raw(mlirLocationFusedGet(context.to_raw(), 1, &place, scope))
        };
        set_location(*function, location);
    }
    Some(())
}

/// Ops without a place in a file get that of their function. The number of them.
pub fn place_all<'c>(context: &'c Context, function: OpRef<'c>) -> usize {
    let Some(place) = file_line(function.location()) else { return 0 };
    let mut lost = 0;
    walk(function, &mut |op| {
        if op_key(op) != op_key(function) && file_line(op.location()).is_none() {
            set_location(op, Location::new(context, &place.file, place.line as usize, place.column as usize));
            lost += 1;
        }
    });
    lost
}

/// The emission kind that an option of a pass on `op` names.
pub fn emission(op: OpRef<'_>, name: &str) -> Result<Emission, Failed> {
    Emission::by_name(name).ok_or_else(|| {
        let valid: Vec<&str> = Emission::ALL.map(Emission::name).into();
        fail(op, format!("unknown emission-kind '{name}'; the kinds are {}", valid.join(", ")))
    })
}

/// Scopes for the defined functions that lack one and places for the ops inside; how many of each were given.
pub fn insert<'c>(
    op: OpRef<'c>,
    context: &'c Context,
    emission: Emission,
    is_function: impl Fn(OpRef<'c>) -> bool,
) -> Result<(usize, usize), Failed> {
    let is_defined = |o: OpRef<'c>| is_function(o) && entry_block(region(o, 0)).is_some();
    let mut functions = collect_ops(op, |o| is_defined(o).then_some(o));
    let placed = functions.iter().map(|f| place_all(context, *f)).sum();
    functions.retain(|f| !has_scope(*f));
    give(context, &functions, op, emission)
        .ok_or_else(|| fail(op, "its location cannot be expressed as debug information"))?;
    Ok((functions.len(), placed))
}

/// The subprogram of a function, as text. What the source says of it comes first: its name there, and the line of its head.
fn subprogram(context: &Context, function: OpRef<'_>, number: usize, unit_file: &str, emission: Emission) -> String {
    let symbol = attr(function, "sym_name").map_or("", string_attr);
    let source = source_subprogram(function.location());
    let name = source.and_then(|s| s.name()).map_or(symbol, string_attr);
    let place = file_line(function.location());
    let own_file = place.as_ref().map_or_else(|| unit_file.to_owned(), |p| file(context, Some(p)));
    let line = source.map_or(0, |s| s.line()).max(0);
    let line = if line > 0 { line } else { place.as_ref().map_or(1, |p| i64::from(p.line)).max(1) };
    let optimised = emission != Emission::Full;
    let flags = if optimised { "\"Definition|Optimized\"" } else { "Definition" };
    format!(
        "#llvm.di_subprogram<id = distinct[{number}]<>, compileUnit = #llvm.di_compile_unit<id = distinct[0]<>, \
         sourceLanguage = DW_LANG_C, file = {unit_file}, producer = \"tileiras\", isOptimized = {optimised}, \
         emissionKind = {}>, scope = {own_file}, name = {}, linkageName = {}, file = {own_file}, line = {line}, \
         scopeLine = {line}, subprogramFlags = {flags}, \
         type = #llvm.di_subroutine_type<callingConvention = DW_CC_normal>>",
        emission.name(),
        quoted(context, name),
        quoted(context, symbol),
    )
}

/// What the public language says of the function that a location is in.
fn source_subprogram(location: Location<'_>) -> Option<DISubprogramAttr<'_>> {
    // SAFETY: the location is alive.
    let attribute = unsafe { Attribute::from_raw(mlirLocationGetAttribute(location.to_raw())) };
    DISubprogramAttr::cast(DILocAttr::cast(attribute)?.scope()?)
}

fn file(context: &Context, place: Option<&FileLine>) -> String {
    let path = place.map_or(Path::new("<unknown>"), |p| Path::new(&p.file));
    let text = |p: Option<&std::ffi::OsStr>| p.unwrap_or_default().to_string_lossy().into_owned();
    let (name, folder) = (text(path.file_name()), text(path.parent().map(Path::as_os_str)));
    format!("#llvm.di_file<{} in {}>", quoted(context, &name), quoted(context, &folder))
}

/// A text as MLIR writes it.
fn quoted(context: &Context, text: &str) -> String {
    StringAttribute::new(context, text).to_string()
}
