//! Tile libraries: reading the files of `-l`, and making a library.

use super::{Result, Session};
use crate::{cl::Parsed, files, io_text, options::Options};
use std::path::{Path, PathBuf};
use tile_diag::{Code, Diagnostic};

impl Session<'_> {
    /// Reads the libraries of a command line. Each must be a file of the file system.
    pub(super) fn read_libraries(&mut self, options: &Options) -> Result<Vec<(String, Vec<u8>)>> {
        if !options.libraries.is_empty() && !options.preview {
            let d = Diagnostic::error(Code::CompileFailed, "libraries require the 'simt' preview feature");
            return Err(self.fail(d.note("add --preview=simt")));
        }
        let read = |file: &PathBuf| {
            let name = file.display().to_string();
            files::read(file).map(|data| (name.clone(), data)).map_err(|e| {
                let text = format!("failed to open tile library: {}", io_text(&e));
                Diagnostic::error(Code::CompileFailed, text).note(format!("the library is '{name}'"))
            })
        };
        options.libraries.iter().map(read).collect::<std::result::Result<_, _>>().map_err(|d| self.fail(d))
    }

    /// Writes the library of `--preview-create-tile-lib`.
    pub(super) fn create_library(&mut self, parsed: &Parsed) -> Result<()> {
        let error = |text: String| Diagnostic::error(Code::BadConfiguration, text);
        let read = |what: &str, file: &Path| {
            let name = file.display();
            files::read(file).map_err(|e| error(format!("unable to read {what} file '{name}': {}", io_text(&e))))
        };
        let interface = PathBuf::from(parsed.text("preview-interface").unwrap_or_default());
        let interface = read("interface", &interface).map_err(|d| self.fail(d))?;
        let implementations = parsed.list("preview-implementation");
        let implementations: std::result::Result<Vec<Vec<u8>>, Diagnostic> =
            implementations.iter().map(|file| read("implementation", Path::new(file))).collect();
        let implementations = implementations.map_err(|d| self.fail(d))?;
        let library = tile_library::create(&interface, &implementations);
        let library = library.map_err(|e| self.fail(error(e.to_string())))?;
        let output = PathBuf::from(parsed.text("output-file").unwrap_or("elf.o".as_ref()));
        self.write(&output, &library).map_err(|exit| if exit.0 == 1 { exit } else { super::Exit(2) })
    }
}
