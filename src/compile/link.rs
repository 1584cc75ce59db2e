//! Tile libraries in a compilation: the choice of an implementation for each call, and the code.

use super::{Failure, place, trial};
use crate::{
    codegen::{LibraryCode, TileLibraryError, library_code},
    dialect::{attributes::LIBRARY_CALL, cuda_tile as ct, hints::int_hint, rt::*},
    translate,
};
use melior::ir::{Attribute, Module};
use std::collections::BTreeMap;
use tile_diag::{Diagnostic, Severity};
use tile_interface::{CompileError, CompileRequest};
use tile_library::{
    Call, Chosen, CodeKind, Context, Library, NoImplementation, Resolution, ptx, redefinition, resolve,
};

/// The number of threads of a CTA without a hint.
const USUAL_WARPS: i64 = 4;

/// Reads the libraries of a request.
pub(super) fn read(request: &CompileRequest<'_>) -> Result<Vec<Library>, Failure> {
    if !request.preview && !request.libraries.is_empty() {
        return Err((vec![], CompileError::Configuration("libraries require preview features".into())));
    }
    let mut libraries = vec![];
    for (name, data) in request.libraries {
        let library = Library::read(name, data).map_err(|e| {
            let d = Diagnostic::new(Severity::Error, format!("failed to open tile library: {e}"));
            (vec![d.note(format!("the library is '{name}'"))], CompileError::Failed)
        })?;
        libraries.push(library);
    }
    match redefinition(&libraries) {
        None => Ok(libraries),
        Some(name) => Err(invalid(Diagnostic::new(Severity::Error, format!("redefinition of symbol named '{name}'")))),
    }
}

/// The failure of a module that does not verify with the interfaces of its libraries.
fn invalid(d: Diagnostic) -> Failure {
    let closing = "verification failed for deserialized cuda_tile::ModuleOp";
    (vec![d, Diagnostic::new(Severity::Error, closing)], CompileError::Failed)
}

/// Chooses an implementation for each call of a program in `cuda_tile`, and attaches it. Returns the library of each
/// called function.
pub(super) fn choose(
    module: &Module<'_>,
    request: &CompileRequest<'_>,
    libraries: &[Library],
) -> Result<BTreeMap<String, String>, Failure> {
    let mut called = BTreeMap::new();
    for entry in collect_ops(op_ref(module.as_operation().to_raw()), ct::EntryOp::cast) {
        let hints = entry.optimization_hints().and_then(|h| ct::OptimizationHintsAttr::cast(h)?.value());
        let valid = |warps: i64| matches!(warps, 1 | 2 | 4 | 8 | 16 | 32);
        let hint = hints.and_then(|h| int_hint(h, request.target.name, "num_worker_warps_per_cta", valid));
        let context = Context { target: request.target.name, threads: 32 * hint.unwrap_or(USUAL_WARPS) };
        for call in collect_ops(entry.op(), ct::PreviewCallOp::cast) {
            let op = call.op();
            let error = |text: String| {
                let d = Diagnostic::new(Severity::Error, text);
                place(op.location()).into_iter().fold(d, |d, at| d.at(at))
            };
            if !request.preview {
                let text = "a call of a library function requires the 'simt' preview feature";
                return Err((vec![error(text.into()).note("add --preview=simt")], CompileError::Failed));
            }
            let described = translate::library_call(op).map_err(|e| invalid(error(e.to_string())))?;
            match resolve(libraries, &described, context) {
                Resolution::Chosen(chosen) => {
                    let library = libraries[chosen.library].name.clone();
                    attach(call, &chosen).map_err(|text| (vec![error(text)], CompileError::Failed))?;
                    called.insert(chosen.symbol, library);
                }
                Resolution::Mismatch(mismatch) => {
                    return Err(invalid(error(format!("'{}' op {mismatch}", ct::PreviewCallOp::NAME))));
                }
                Resolution::None(why) => {
                    return Err((vec![unresolved(&described, why, error)], CompileError::Failed));
                }
            }
        }
    }
    Ok(called)
}

/// The error for a call without an implementation, with the reason of each candidate.
fn unresolved(call: &Call, why: NoImplementation, error: impl Fn(String) -> Diagnostic) -> Diagnostic {
    let callee = &call.callee;
    let Some(library) = why.library else {
        let d = error(format!("no library declares the function '@{callee}'"));
        return d.note("name the library with -l FILE");
    };
    let constants: Vec<String> =
        call.constants.iter().map(|c| c.as_ref().map_or_else(|_| "?".into(), ToString::to_string)).collect();
    let constants = if constants.is_empty() { String::new() } else { format!("<[{}]>", constants.join(", ")) };
    let d = error(format!("the library '{library}' has no implementation of '@{callee}{constants}' for this call"));
    if why.candidates.is_empty() {
        return d.note("its catalogue has no implementation of the function");
    }
    why.candidates.into_iter().fold(d, |d, (symbol, reason)| d.note(format!("'@{symbol}' does not fit: {reason}")))
}

/// Attaches the chosen implementation to a call, in the form of `nv_tileaa.extern_call`.
fn attach(call: ct::PreviewCallOp<'_>, chosen: &Chosen) -> Result<(), String> {
    let list = |items: Vec<String>| items.join(", ");
    let fragments = list(chosen.fragments.iter().map(|f| format!("!cuda_tile<{f}>")).collect());
    let access = list(chosen.access.iter().map(u32::to_string).collect());
    let (size, alignment) = chosen.scratch.unwrap_or((0, 1));
    let text = format!(
        "{{symbol = {:?}, fragments = [{fragments}], access = array<i32: {access}>, scratchSize = {size} : i64, \
         scratchAlignment = {alignment} : i64, synchronization = {} : i32}}",
        chosen.symbol, chosen.synchronization
    );
    let context = crate::dialect::pass::context_of(call.op());
    let attribute = Attribute::parse(context, &text);
    let attribute = attribute.ok_or_else(|| format!("the implementation '@{}' is not valid", chosen.symbol))?;
    LIBRARY_CALL.set(call.op(), attribute);
    Ok(())
}

/// The code of the called functions that LLVM links. The rest is PTX.
pub(super) fn llvm_code<'a>(
    libraries: &'a [Library],
    called: &'a BTreeMap<String, String>,
) -> Result<Vec<LibraryCode<'a>>, Failure> {
    let failed = |text: String| (vec![Diagnostic::new(Severity::Error, text)], CompileError::Failed);
    let mut codes = vec![];
    for library in libraries {
        let of_library = called.iter().filter(|(_, name)| **name == library.name);
        let functions: Vec<&str> = of_library.map(|(symbol, _)| symbol.as_str()).collect();
        if functions.is_empty() {
            continue;
        }
        let code = ptx::Code { library: &library.name, bytes: &library.code };
        let kind = ptx::check_kind(&code).map_err(|e| failed(e.to_string()))?;
        if kind.is_llvm() {
            let code = LibraryCode { library: &library.name, kind, bytes: &library.code, functions };
            try_reading(&code).map_err(|e| failed(e.to_string()))?;
            codes.push(code);
        }
    }
    Ok(codes)
}

/// Reads code in a child process, which LLVM may end.
fn try_reading(code: &LibraryCode<'_>) -> Result<(), TileLibraryError> {
    let read = || {
        // An error occurs again when this process reads the code.
        let _ = library_code::read(&inkwell::context::Context::create(), code);
    };
    trial::attempt(read).map_err(|how| TileLibraryError::Read {
        library: code.library.into(),
        why: format!("it is malformed, and the reader {how}"),
    })
}

/// Links the code of the called functions that is PTX into PTX.
pub(super) fn code(
    text: String,
    request: &CompileRequest<'_>,
    libraries: &[Library],
    called: &BTreeMap<String, String>,
) -> Result<String, Failure> {
    if libraries.is_empty() {
        return Ok(text);
    }
    let is_ptx = |l: &&Library| !CodeKind::of(&l.code).is_llvm();
    let codes: Vec<ptx::Code> =
        libraries.iter().filter(is_ptx).map(|l| ptx::Code { library: &l.name, bytes: &l.code }).collect();
    let mut called = called.clone();
    called.retain(|_, library| codes.iter().any(|c| c.library == library));
    ptx::link(&text, request.target.name, &codes, &called)
        .map_err(|e| (vec![Diagnostic::new(Severity::Error, e.to_string())], CompileError::Failed))
}
