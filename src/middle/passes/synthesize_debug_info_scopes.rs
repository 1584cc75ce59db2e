//! `synthesize-debug-info-scopes` creates a debug scope for each function without one.
//!
//! Line tables require a subprogram, but some producers write only file locations. The pass creates a subprogram for
//! each function from the function's location:
//!
//! ```text
//! entry @k { ... loc("a/b.py":7:1) } loc("a/b.py":5:0)
//!   file        "b.py" in "a"
//!   subprogram  name and linkage name "k", line and scope line 5, in the unit of the module's file
//!   locations   di_loc<"a/b.py":7:1 in that subprogram>
//! ```
//!
//! A file location is found through names, opaque locations (their fallback), call sites (the caller, which is in the
//! function) and fusions (the first part that is a file location). If an op does not have one, it takes the
//! function's; if the function does not have one either, line 1 of the file.
//!
//! On a module of the LLVM dialect the pass does the same with LLVM's attributes, because passes after
//! `tileir-insert-debug-scope` may have created functions, and ops without a location.

use crate::{
    dialect::{
        cuda_tile::{self, DICompileUnitAttr, DIFileAttr, DILocAttr, DISubprogramAttr},
        debug_scope, ffi,
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
        upstream::is_llvm_func,
    },
    pass_descriptor,
};
use melior::{
    Context,
    ir::{Attribute, AttributeLike, Location, attribute::StringAttribute},
};
use mlir_sys::*;
use std::path::Path;

#[derive(Clone, Default)]
pub struct SynthesizeDebugInfoScopes;

impl RustPass for SynthesizeDebugInfoScopes {
    pass_descriptor!(synthesize_debug_info_scopes);

    fn run<'c>(&mut self, module: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        if cuda_tile::ModuleOp::cast(module).is_none() {
            let options = descriptors::synthesize_debug_info_scopes::Options(cx);
            let emission = debug_scope::emission(module, options.emission_kind())?;
            debug_scope::insert(module, context, emission, is_llvm_func);
            return Ok(());
        }
        let refused = |op| fail(op, "its location cannot be expressed as debug information");
        let module_place = place(module.location());
        let file = file_attr(context, module_place.as_ref()).ok_or_else(|| refused(module))?;
        let producer = StringAttribute::new(context, "").into();
        let unit = DICompileUnitAttr::get(module.location(), file, producer, 0).ok_or_else(|| refused(module))?;
        let Some(body) = entry_block(region(module, 0)) else { return Ok(()) };
        for function in ops_of(body).filter(|op| is_function(*op)) {
            scope(context, function, file, module_place.as_ref(), unit.into()).ok_or_else(|| refused(function))?;
        }
        Ok(())
    }
}

fn is_function(op: OpRef<'_>) -> bool {
    cuda_tile::AnyOp::is_function(op)
}

/// Attaches a subprogram to `function`, unless it has one.
fn scope<'c>(
    context: &'c Context,
    function: OpRef<'c>,
    unit_file: Attribute<'c>,
    module_place: Option<&SourceLocation>,
    unit: Attribute<'c>,
) -> Option<()> {
    let location = function.location();
    // SAFETY: the location is alive.
    if !unsafe { ffi::cudaTileLocationFindDebugLoc(location.to_raw()) }.ptr.is_null() {
        return Some(());
    }
    let own = place(location);
    let file = if own.is_some() { file_attr(context, own.as_ref())? } else { unit_file };
    let line = own.as_ref().map_or(1, |p| p.line);
    let name = attr(function, "sym_name")?;
    let subprogram = DISubprogramAttr::get(location, file, line.into(), name, name, unit, line.into(), 0, 0, 0)?;
    let default = own.unwrap_or_else(|| {
        let file = module_place.map_or(UNKNOWN.to_owned(), |p| p.file.clone());
        SourceLocation { file, line: 1, column: 1 }
    });
    let mut failed = false;
    walk(function, &mut |op| {
        let place = place(op.location());
        let source = place.as_ref().unwrap_or(&default).location(context);
        // SAFETY: the location is alive.
        let source = unsafe { Attribute::from_raw(mlirLocationGetAttribute(source.to_raw())) };
        match DILocAttr::get(op.location(), source, subprogram.into()) {
            // SAFETY: the attribute is a location.
            Some(a) => set_location(op, unsafe {
                Location::from_raw(ffi::cudaTileDebugLocAsLocation(Attribute::from(a).to_raw()))
            }),
            None => failed = true,
        }
    });
    (!failed).then_some(())
}

const UNKNOWN: &str = "<unknown>";

/// A location in a file.
struct SourceLocation {
    file: String,
    line: u32,
    column: u32,
}

impl SourceLocation {
    fn location<'c>(&self, context: &'c Context) -> Location<'c> {
        Location::new(context, &self.file, self.line as usize, self.column as usize)
    }
}

/// Returns the name and directory of a file.
fn file_attr<'c>(context: &'c Context, place: Option<&SourceLocation>) -> Option<Attribute<'c>> {
    let (name, folder) = match place {
        Some(place) => {
            let path = Path::new(&place.file);
            let text = |p: Option<&std::ffi::OsStr>| p.unwrap_or_default().to_string_lossy().into_owned();
            (text(path.file_name()), text(path.parent().map(Path::as_os_str)))
        }
        None => (UNKNOWN.to_owned(), String::new()),
    };
    let string = |s: &str| Attribute::from(StringAttribute::new(context, s));
    DIFileAttr::get(Location::unknown(context), string(&name), string(&folder)).map(Attribute::from)
}

fn place(mut location: Location<'_>) -> Option<SourceLocation> {
    // Each step goes one level deeper, and locations are finite trees.
    loop {
        let raw = location.to_raw();
        // SAFETY: the kind is asked before each accessor; locations live as long as their context.
        location = unsafe {
            if let Some(place) = direct_place(raw) {
                return Some(place);
            }
            let fallback = ffi::mlirxLocationOpaqueFallback(raw);
            if mlirLocationIsAName(raw) {
                Location::from_raw(mlirLocationNameGetChildLoc(raw))
            } else if mlirLocationIsACallSite(raw) {
                Location::from_raw(mlirLocationCallSiteGetCaller(raw))
            } else if mlirLocationIsAFused(raw) {
                let n = mlirLocationFusedGetNumLocations(raw) as usize;
                let mut parts = vec![MlirLocation { ptr: std::ptr::null() }; n];
                mlirLocationFusedGetLocations(raw, parts.as_mut_ptr());
                return parts.into_iter().find_map(|p| direct_place(p));
            } else if !fallback.ptr.is_null() {
                Location::from_raw(fallback)
            } else {
                return None;
            }
        };
    }
}

/// Returns the start of a file location.
///
/// # Safety
/// The location's context is alive.
unsafe fn direct_place(raw: MlirLocation) -> Option<SourceLocation> {
    // SAFETY: the accessors are called on a file location only.
    unsafe {
        mlirLocationIsAFileLineColRange(raw).then(|| SourceLocation {
            file: raw_to_str(mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(raw))).to_owned(),
            line: mlirLocationFileLineColRangeGetStartLine(raw).max(0) as u32,
            column: mlirLocationFileLineColRangeGetStartColumn(raw).max(0) as u32,
        })
    }
}
