//! NVIDIA's libraries that a command line asks for: libNVVM and libdevice.

use std::path::PathBuf;

use tile_diag::{Code, Diagnostic};
use tile_interface::{Backend, Emit};

use crate::options::Options;
use crate::toolchain::{self, Search, Surroundings};

/// Who makes the PTX; finds libNVVM if it does.
pub fn backend(options: &Options) -> Result<Backend, Diagnostic> {
    if !options.libnvvm || options.emit < Emit::Llvm {
        return Ok(Backend::Llvm);
    }
    let search = toolchain::search_libnvvm(options.libnvvm_path.as_deref(), &Surroundings::of_process());
    let error = Diagnostic::error(Code::LibNvvmNotFound, "libNVVM, NVIDIA's code generator, was not found");
    let fix = "install a CUDA toolkit or the Python package nvidia-nvvm and set CUDA_HOME, or name the file with \
               --libnvvm-path; without --backend=libnvvm no library is needed";
    first(search, error, fix).map(Backend::LibNvvm)
}

/// The file of NVIDIA's mathematical functions, if they are asked for.
pub fn libdevice(options: &Options) -> Result<Option<PathBuf>, Diagnostic> {
    let Some(libdevice) = options.libdevice.as_ref().filter(|_| options.emit >= Emit::Llvm) else { return Ok(None) };
    let search = toolchain::search_libdevice(libdevice.file(), &Surroundings::of_process());
    let text = "libdevice, NVIDIA's mathematical functions, was not found";
    let error = Diagnostic::error(Code::LibdeviceNotFound, text);
    let fix = "install a CUDA toolkit or the Python package nvidia-nvvm and set CUDA_HOME, or name the file with \
               --libdevice=FILE; without --libdevice the compiler's own functions are used";
    first(search, error, fix).map(Some)
}

/// The best file of a search; without one, the error with the places that were looked at and what to do.
fn first(search: Search, error: Diagnostic, fix: &str) -> Result<PathBuf, Diagnostic> {
    search.found.into_iter().next().ok_or_else(|| {
        let looked =
            |d: Diagnostic, (file, why): &(PathBuf, String)| d.note(format!("looked for '{}' ({why})", file.display()));
        search.tried.iter().fold(error, looked).note(fix)
    })
}
