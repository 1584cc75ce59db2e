//! What the library tells its embedder: diagnostics, and the beginning and end of scopes.

use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::{PoisonError, RwLock};

use tile_diag::{Diagnostic, Severity, render};

use crate::TileirasProgram;

/// One message. All pointers belong to the library and are valid during the callback alone.
#[repr(C)]
pub struct TileirasDiagnostic {
    /// Size of this structure in bytes: a newer library may append fields.
    pub size: usize,
    /// 259, 260 or 2563 for the messages of the four functions; 0 for messages of the compiler.
    pub word: u32,
    /// 0 error, 1 warning, 2 remark, 3 note.
    pub severity: u32,
    /// The code of the error, such as `T0501`; empty for none.
    pub code: *const c_char,
    /// The message, without location and severity, in UTF-8.
    pub message: *const c_char,
    /// The source file; empty when the place is not known.
    pub file: *const c_char,
    /// From 1; 0 when not known.
    pub line: u32,
    /// From 1; 0 when not known.
    pub column: u32,
    /// The program at hand; null for mistakes in a call.
    pub program: *const TileirasProgram,
}

/// Takes a message. May be called from any thread that calls the library, from several at once, and must not call the
/// library.
pub type TileirasDiagnosticCallback =
    Option<unsafe extern "C" fn(diagnostic: *const TileirasDiagnostic, user_data: *mut c_void)>;

/// Learns that a scope begins (`begin` is 1) or ends (0). Scopes nest properly within a thread. Their names are stable:
/// `CompileNVVM` covers the passes from Tile IR to NVVM and LLVM's optimiser; `SerializeGPUModule` covers the
/// translation to PTX and the tools behind it, and is told twice: once for PTX, once for ptxas. `name` is
/// zero-terminated and belongs to the library.
pub type TileirasScopeCallback =
    Option<unsafe extern "C" fn(name: *const c_char, begin: c_int, user_data: *mut c_void)>;

#[derive(Clone, Copy)]
struct Sink {
    callback: TileirasDiagnosticCallback,
    user_data: usize,
}

static SINK: RwLock<Sink> = RwLock::new(Sink { callback: None, user_data: 0 });

/// Sends all messages of this process to `callback`; null means standard error, where they go at first.
/// `user_data` is handed through and stays the caller's. Returns when no other thread is inside the old callback.
#[unsafe(no_mangle)]
pub extern "C" fn tileirasSetDiagnosticCallback(callback: TileirasDiagnosticCallback, user_data: *mut c_void) {
    *SINK.write().unwrap_or_else(PoisonError::into_inner) = Sink { callback, user_data: user_data.expose_provenance() };
}

/// Tells `callback` of the scopes of all compilations in this process; null means nobody.
/// `user_data` is handed through and stays the caller's.
#[unsafe(no_mangle)]
pub extern "C" fn tileirasSetScopeCallback(callback: TileirasScopeCallback, user_data: *mut c_void) {
    let user_data = user_data.expose_provenance();
    tile_interface::scope::observe(callback.map(|callback| {
        Box::new(move |name: &'static std::ffi::CStr, begin: bool| {
            // SAFETY: the embedder's function with the embedder's argument.
            unsafe { callback(name.as_ptr(), begin.into(), std::ptr::with_exposed_provenance_mut(user_data)) }
        }) as Box<tile_interface::scope::Observer>
    }));
}

/// The opaque number that goes with a public message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Word {
    None = 0,
    Fatal = 259,
    Input = 260,
    Caller = 2563,
}

/// One of the library's own messages.
pub fn say(word: Word, program: *mut TileirasProgram, text: &str) {
    report(word, program, &Diagnostic::new(Severity::Error, text));
}

/// Hands a message, then its notes, to the callback or to standard error.
pub fn report(word: Word, program: *mut TileirasProgram, diagnostic: &Diagnostic) {
    let sink = SINK.read().unwrap_or_else(PoisonError::into_inner);
    let Some(callback) = sink.callback else {
        use std::io::Write;
        // Standard error is the last resort: if it fails there is nobody left to tell.
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
        // SAFETY: the embedder's function; the structure and its strings live until it returns.
        unsafe { callback(&d, user_data) };
    };
    send(diagnostic.severity, &diagnostic.message, diagnostic.location.as_ref());
    for note in &diagnostic.notes {
        send(Severity::Note, &note.message, note.location.as_ref());
    }
}

/// For C, where a zero byte ends a text.
fn text(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}
