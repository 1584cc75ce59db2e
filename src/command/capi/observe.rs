//! Callbacks to the embedder: diagnostics, and the begin and end of scopes.

use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::{PoisonError, RwLock};

use tile_diag::{Diagnostic, Severity, render};

use crate::TileirasProgram;

/// A message. All pointers are owned by the library and valid only during the callback.
#[repr(C)]
pub struct TileirasDiagnostic {
    /// The size of this structure in bytes. Newer libraries may append fields.
    pub size: usize,
    /// 259, 260 or 2563 for messages of the four functions; 0 for messages of the compiler.
    pub word: u32,
    /// 0 error, 1 warning, 2 remark, 3 note.
    pub severity: u32,
    /// The error code, such as `T0501`; empty for none.
    pub code: *const c_char,
    /// The message, without location and severity, in UTF-8.
    pub message: *const c_char,
    /// The source file; empty if the location is unknown.
    pub file: *const c_char,
    /// From 1; 0 if unknown.
    pub line: u32,
    /// From 1; 0 if unknown.
    pub column: u32,
    /// The program; null for errors in a call.
    pub program: *const TileirasProgram,
}

/// Receives a message. May be called concurrently from all threads that call the library, and must not call the
/// library.
pub type TileirasDiagnosticCallback =
    Option<unsafe extern "C" fn(diagnostic: *const TileirasDiagnostic, user_data: *mut c_void)>;

/// Called when a scope begins (`begin` is 1) or ends (0). Scopes nest properly within a thread. Their names are
/// stable: `CompileNVVM` covers the passes from Tile IR to NVVM and LLVM's optimizer. `SerializeGPUModule` covers the
/// translation to PTX and the tools after it, and occurs twice: once for PTX and once for ptxas. `name` is
/// zero-terminated and owned by the library.
pub type TileirasScopeCallback =
    Option<unsafe extern "C" fn(name: *const c_char, begin: c_int, user_data: *mut c_void)>;

#[derive(Clone, Copy)]
struct Sink {
    callback: TileirasDiagnosticCallback,
    user_data: usize,
}

static SINK: RwLock<Sink> = RwLock::new(Sink { callback: None, user_data: 0 });

/// Sends all messages of this process to `callback`, or to standard error, the default, if it is null. `user_data` is
/// passed to the callback and remains owned by the caller. Returns when no other thread is executing the previous
/// callback.
#[unsafe(no_mangle)]
pub extern "C" fn tileirasSetDiagnosticCallback(callback: TileirasDiagnosticCallback, user_data: *mut c_void) {
    *SINK.write().unwrap_or_else(PoisonError::into_inner) = Sink { callback, user_data: user_data.expose_provenance() };
}

/// Reports the scopes of all compilations in this process to `callback`; null disables the reports. `user_data` is
/// passed to the callback and remains owned by the caller.
#[unsafe(no_mangle)]
pub extern "C" fn tileirasSetScopeCallback(callback: TileirasScopeCallback, user_data: *mut c_void) {
    let user_data = user_data.expose_provenance();
    tile_interface::scope::observe(callback.map(|callback| {
        Box::new(move |name: &'static std::ffi::CStr, begin: bool| {
            // SAFETY: calls the embedder's function with the embedder's argument.
            unsafe { callback(name.as_ptr(), begin.into(), std::ptr::with_exposed_provenance_mut(user_data)) }
        }) as Box<tile_interface::scope::Observer>
    }));
}

/// The opaque number of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Word {
    None = 0,
    Fatal = 259,
    Input = 260,
    Caller = 2563,
}

/// Reports a message of the library itself.
pub fn say(word: Word, program: *mut TileirasProgram, text: &str) {
    report(word, program, &Diagnostic::new(Severity::Error, text));
}

/// Words about the command in messages of the compiler, and the words that suit callers of the library.
const WORDS: &[(&str, &str)] = &[
    (
        "or name the file with --ptxas-path; --emit=ptx needs no ptxas",
        "or name its root in cuda_root or the file with tileirasProgramSetPtxas; PTX needs no ptxas: tileirasProgramSetEmit",
    ),
    ("--ptxas-path", "tileirasProgramSetPtxas"),
    ("--libnvvm-path", "tileirasProgramSetLibNvvm"),
    ("--backend=libnvvm", "tileirasProgramSetLibNvvm"),
    ("--cache-dir", "tileirasProgramSetCacheDirectory"),
    ("--pipeline-option=", "tileirasProgramSetPipelineOption "),
    ("--strict-types", "tileirasProgramSetStrictTypes"),
    ("add --preview=simt", "call tileirasProgramAddLibrary"),
    ("with -l FILE", "to tileirasProgramAddLibrary"),
    ("--remarks", "tileirasProgramSetRemarks"),
    ("--emit=ptx", "TILEIRAS_EMIT_PTX"),
    ("--gpu-name", "gpu_id"),
    ("(next to the compiler)", "(next to this program)"),
];

/// A message in words that suit callers of the library.
fn adapted(message: &str) -> String {
    WORDS.iter().fold(message.to_owned(), |text, (of, by)| text.replace(of, by))
}

/// Passes a message and its notes to the callback, or to standard error.
pub fn report(word: Word, program: *mut TileirasProgram, diagnostic: &Diagnostic) {
    let mut diagnostic = diagnostic.clone();
    diagnostic.message = adapted(&diagnostic.message);
    diagnostic.notes.iter_mut().for_each(|note| note.message = adapted(&note.message));
    let diagnostic = &diagnostic;
    let sink = SINK.read().unwrap_or_else(PoisonError::into_inner);
    let Some(callback) = sink.callback else {
        use std::io::Write;
        // A failing standard error is ignored: there is nowhere left to report it.
        let _ = std::io::stderr().write_all(render::plain(diagnostic).as_bytes());
        return;
    };
    let user_data = std::ptr::with_exposed_provenance_mut(sink.user_data);
    let send = |severity: Severity, message: &str, location: Option<&tile_diag::Location>| {
        let code = text(diagnostic.code.map_or("", |c| c.text()));
        let (message, file) = (text(message), text(location.map_or("", |l| &l.file)));
        let d = TileirasDiagnostic {
            size: size_of::<TileirasDiagnostic>(),
            word: word as u32,
            severity: severity as u32,
            code: code.as_ptr(),
            message: message.as_ptr(),
            file: file.as_ptr(),
            line: location.map_or(0, |l| l.line),
            column: location.map_or(0, |l| l.column),
            program,
        };
        // SAFETY: the embedder's function; the structure and its strings outlive the call.
        unsafe { callback(&d, user_data) };
    };
    send(diagnostic.severity, &diagnostic.message, diagnostic.location.as_ref());
    for note in &diagnostic.notes {
        send(Severity::Note, &note.message, note.location.as_ref());
    }
}

/// A C string. Zero bytes are replaced.
fn text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}
