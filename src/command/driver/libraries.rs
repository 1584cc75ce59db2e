//! Finds the NVIDIA libraries that a command line requests: libNVVM and libdevice.

use std::path::PathBuf;

use tile_diag::{Code, Diagnostic};
use tile_interface::{Backend, Emit};

use crate::options::Options;
use crate::toolchain::{self, Search, Surroundings};

/// Selects the backend that generates PTX, and finds libNVVM if it is selected.
pub fn backend(options: &Options) -> Result<Backend, Diagnostic> {
    if !options.libnvvm || options.emit < Emit::Llvm {
        return Ok(Backend::Llvm);
    }
    let search = toolchain::search_libnvvm(options.libnvvm_path.as_deref(), &Surroundings::of_process());
    let error = Diagnostic::error(Code::LibNvvmNotFound, "libNVVM, NVIDIA's code generator, was not found");
    let fix = "install a CUDA toolkit or the Python package nvidia-nvvm and set CUDA_HOME, or name the file with \
               --libnvvm-path; the default backend does not need it";
    first(search, error, fix).map(Backend::LibNvvm)
}

/// Finds libdevice, the bitcode file of NVIDIA's math functions, if it is requested.
pub fn libdevice(options: &Options) -> Result<Option<PathBuf>, Diagnostic> {
    let Some(libdevice) = options.libdevice.as_ref().filter(|_| options.emit >= Emit::Llvm) else { return Ok(None) };
    let search = toolchain::search_libdevice(libdevice.file(), &Surroundings::of_process());
    let text = "libdevice, NVIDIA's library of math functions, was not found";
    let error = Diagnostic::error(Code::LibdeviceNotFound, text);
    let fix = "install a CUDA toolkit or the Python package nvidia-nvvm and set CUDA_HOME, or name the file with \
               --libdevice=FILE; without --libdevice the compiler uses its own functions";
    first(search, error, fix).map(Some)
}

/// The first file of a search, or `error` with the searched paths and a fix as notes.
fn first(search: Search, error: Diagnostic, fix: &str) -> Result<PathBuf, Diagnostic> {
    search.found.into_iter().next().ok_or_else(|| {
        let looked =
            |d: Diagnostic, (file, why): &(PathBuf, String)| d.note(format!("looked for '{}' ({why})", file.display()));
        search.tried.iter().fold(error, looked).note(fix)
    })
}
