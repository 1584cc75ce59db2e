//! Writes output files completely or not at all.
//!
//! A regular file is written under a temporary name in the same directory and renamed at the end, so that readers see
//! either the old file or the new one. If the file system allows it, a new file has no name until it is complete, so
//! that a killed process leaves nothing. Symbolic links are followed first: the target is replaced, not the link.
//! Pipes, devices and `/dev/stdout` are written to directly, and so are existing files in directories that do not
//! allow new ones.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tile_diag::{Code, Diagnostic};

use crate::child;

/// Why an output could not be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    #[error("cannot open output file '{}': {}", .0.display(), crate::io_text(.1))]
    Open(PathBuf, io::Error),
    #[error("IO failure on output stream: {}", crate::io_text(.0))]
    Write(io::Error),
}

/// Checks early, without side effects, for errors that would make [`write`] fail: a missing directory, or a name that
/// is empty or a directory.
pub fn check(path: &Path) -> Result<(), OutputError> {
    let fail = |code| Err(OutputError::Open(path.to_owned(), io::Error::from_raw_os_error(code)));
    if path.as_os_str() == "-" {
        return Ok(());
    }
    if path.as_os_str().is_empty() {
        return fail(libc::ENOENT);
    }
    if path.is_dir() {
        return fail(libc::EISDIR);
    }
    match fs::metadata(directory_of(path)) {
        Ok(m) if m.is_dir() => Ok(()),
        Ok(_) => fail(libc::ENOTDIR),
        Err(e) => Err(OutputError::Open(path.to_owned(), e)),
    }
}

/// Writes an output. `-` is standard output.
pub fn write(path: &Path, bytes: &[u8], stdout: &mut dyn Write) -> Result<(), OutputError> {
    if path.as_os_str() == "-" {
        return stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(OutputError::Write);
    }
    check(path)?;
    // Names below /dev and /proc refer to open files; renaming another file over one would have no effect.
    let special =
        ["/dev", "/proc"].iter().any(|d| path.starts_with(d)) || fs::metadata(path).is_ok_and(|m| !m.is_file());
    if special {
        return write_in_place(path, bytes);
    }
    let target = final_name(path);
    // If this fails, the code below succeeds or reports the reason.
    if !target.exists() && child::create_atomically(&target, directory_of(&target), bytes).is_ok() {
        return Ok(());
    }
    match create_temporary(&target) {
        Ok((temporary, file)) => {
            let renamed = fill(file, bytes, &target)
                .map_err(OutputError::Write)
                .and_then(|()| fs::rename(&temporary, &target).map_err(|e| OutputError::Open(path.to_owned(), e)));
            if renamed.is_err() {
                // Report the first error. A temporary file that cannot be removed is left behind.
                let _ = fs::remove_file(&temporary);
            }
            renamed
        }
        Err(_) if target.exists() => write_in_place(&target, bytes),
        Err(e) => Err(OutputError::Open(path.to_owned(), e)),
    }
}

/// Creates a new directory in `parent` that only this user can access.
///
/// # Errors
/// The system's error.
pub fn private_directory(parent: &Path) -> io::Result<PathBuf> {
    use std::hash::{BuildHasher, RandomState};
    use std::os::unix::fs::DirBuilderExt;
    for _ in 0..1000 {
        // The random number only avoids collisions. Creating the directory fails if the name exists.
        let path = parent.join(format!("tileiras-{:016x}", RandomState::new().hash_one(std::process::id())));
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
            Ok(()) => return Ok(path),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    }
}

/// Resolves links. A dangling link resolves to the file to be created.
fn final_name(path: &Path) -> PathBuf {
    let mut name = path.to_owned();
    for _ in 0..40 {
        match fs::read_link(&name) {
            Ok(next) => name = directory_of(&name).join(next),
            Err(_) => break,
        }
    }
    name
}

fn create_temporary(target: &Path) -> io::Result<(PathBuf, File)> {
    let base = target.file_name().unwrap_or_default().to_string_lossy();
    // File names are limited to 255 bytes.
    let base: String = base.chars().take(40).collect();
    for attempt in 0..1000u32 {
        let name = directory_of(target).join(format!(".{base}.{}-{attempt}.tmp", std::process::id()));
        match File::options().write(true).create_new(true).open(&name) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
            Ok(file) => return Ok((name, file)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn fill(mut file: File, bytes: &[u8], target: &Path) -> io::Result<()> {
    file.write_all(bytes)?;
    // The new file takes over the permissions of the replaced one.
    if let Ok(old) = fs::metadata(target) {
        file.set_permissions(old.permissions())?;
    }
    Ok(())
}

fn write_in_place(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    let opened = File::options().write(true).create(true).truncate(true).open(path);
    let mut file = opened.map_err(|e| OutputError::Open(path.to_owned(), e))?;
    file.write_all(bytes).and_then(|()| file.flush()).map_err(|e| {
        // A truncated regular file is worse than an empty one. On other files this does nothing.
        let _ = file.set_len(0);
        OutputError::Write(e)
    })
}

/// The base name for the files of `--save-temps`: the output's name without its extension.
pub(crate) fn stem_of(output: &Path) -> PathBuf {
    output.with_extension("")
}

/// Rejects an output next to which no files can be written, such as `/dev/null`.
pub fn check_beside(output: &Path) -> Result<(), Diagnostic> {
    if output.to_str() == Some("-") || output.metadata().is_ok_and(|m| m.is_file()) || !output.exists() {
        return Ok(());
    }
    let text = format!("--save-temps writes files next to the output, but '{}' is not a file", output.display());
    Err(Diagnostic::error(Code::BadConfiguration, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn names(directory: &Path) -> Vec<String> {
        let mut all: Vec<String> =
            fs::read_dir(directory).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        all.sort();
        all
    }

    #[test]
    fn files_are_replaced_atomically() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out.cubin");
        let put = |bytes: &[u8]| write(&path, bytes, &mut io::sink()).unwrap();
        put(b"one");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        put(b"two!");
        assert_eq!(fs::read(&path).unwrap(), b"two!");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(names(dir.path()), ["out.cubin"]);
    }

    #[test]
    fn links_are_followed() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("sub")).unwrap();
        symlink("sub/real", dir.path().join("link")).unwrap();
        for text in [b"a".as_slice(), b"bc"] {
            write(&dir.path().join("link"), text, &mut io::sink()).unwrap();
            assert_eq!(fs::read(dir.path().join("sub/real")).unwrap(), text);
        }
        assert!(fs::symlink_metadata(dir.path().join("link")).unwrap().is_symlink());
        assert_eq!(names(&dir.path().join("sub")), ["real"]);
    }

    #[test]
    fn errors_of_opening_and_writing() {
        let dir = tempfile::tempdir().unwrap();
        let text = |p: &Path| write(p, b"x", &mut io::sink()).unwrap_err().to_string();
        assert!(text(dir.path()).ends_with(": Is a directory"));
        assert!(text(&dir.path().join("no/x")).contains("No such file or directory"));
        assert!(matches!(check(Path::new("")), Err(OutputError::Open(..))));
        assert_eq!(text(Path::new("/dev/full")), "IO failure on output stream: No space left on device");
        assert!(write(Path::new("/dev/null"), b"x", &mut io::sink()).is_ok());
        assert!(fs::metadata("/dev/null").is_ok_and(|m| !m.is_file()), "a device is written to, not replaced");
        let mut out = Vec::new();
        write(Path::new("-"), b"y", &mut out).unwrap();
        assert_eq!(out, b"y");
    }
}
