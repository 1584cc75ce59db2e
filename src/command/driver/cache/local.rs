//! Cache entries in a directory.
//!
//! An entry is written under a temporary name and renamed, so readers see a complete entry or none, and writers need
//! no lock. Directories are created with access for the user alone. Unless all writers are trusted, each subdirectory
//! and entry must be as trustworthy as the directory itself. In any case links below it are not followed, only
//! regular files are entries, and reads are bounded.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::{Entry, LARGEST, Name, Store};
use crate::{child, io_text};

#[derive(Debug, Clone)]
pub(super) struct LocalStore {
    directory: PathBuf,
    /// Whether everyone with write access is trusted.
    shared: bool,
}

/// Why a directory cannot be used.
enum DirectoryError {
    Refused(String),
    Io(io::Error),
}

impl From<DirectoryError> for io::Error {
    fn from(closed: DirectoryError) -> io::Error {
        match closed {
            DirectoryError::Refused(why) => io::Error::new(io::ErrorKind::PermissionDenied, format!("it {why}")),
            DirectoryError::Io(e) => e,
        }
    }
}

/// Opens a trustworthy directory. Only the directory that the user names may be a symbolic link.
fn open_directory(path: &Path, shared: bool, follow: bool) -> Result<File, DirectoryError> {
    let flags = libc::O_DIRECTORY | if follow { 0 } else { libc::O_NOFOLLOW };
    let directory = File::options().read(true).custom_flags(flags).open(path).map_err(DirectoryError::Io)?;
    let metadata = directory.metadata().map_err(DirectoryError::Io)?;
    match distrust(&metadata).filter(|_| !shared) {
        Some(why) => Err(DirectoryError::Refused(format!("{why}; --shared-cache trusts everyone who can write to it"))),
        None => Ok(directory),
    }
}

/// The reason why another user may control a file.
fn distrust(metadata: &Metadata) -> Option<&'static str> {
    if ![child::user(), 0].contains(&metadata.uid()) {
        return Some("belongs to another user");
    }
    (metadata.mode() & 0o022 != 0).then_some("can be written by others")
}

/// The path of a file in an open directory. It stays valid if the directory is renamed or replaced.
fn in_directory(directory: &File, path: &Path, name: &str) -> PathBuf {
    let open = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()));
    if open.exists() { open.join(name) } else { path.join(name) }
}

/// The subdirectory of an entry, and its file name there.
fn entry_path(name: &Name) -> (String, String) {
    let mut folder: String = name.iter().map(|b| format!("{b:02x}")).collect();
    let file = folder.split_off(2);
    (folder, file)
}

impl LocalStore {
    pub(super) fn new(directory: PathBuf, shared: bool) -> LocalStore {
        LocalStore { directory, shared }
    }

    /// Checks that the directory is trustworthy, if it exists.
    ///
    /// # Errors
    /// Why it is not trusted.
    pub(super) fn check(&self) -> Result<(), String> {
        match open_directory(&self.directory, self.shared, true) {
            Err(DirectoryError::Refused(why)) => {
                Err(format!("the cache directory '{}' {why}", self.directory.display()))
            }
            _ => Ok(()),
        }
    }

    fn read(&self, name: &Name) -> Option<Entry> {
        let (folder, file) = entry_path(name);
        let root = open_directory(&self.directory, self.shared, true).ok()?;
        let path = in_directory(&root, &self.directory, &folder);
        let within = open_directory(&path, self.shared, false).ok()?;
        // Opening a pipe must not block.
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let file = File::options().read(true).custom_flags(flags).open(in_directory(&within, &path, &file)).ok()?;
        let metadata = file.metadata().ok()?;
        let is_trusted = self.shared || distrust(&metadata).is_none();
        if !metadata.is_file() || metadata.len() > LARGEST || !is_trusted {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(LARGEST).read_to_end(&mut bytes).ok()?;
        Entry::read(name, &bytes)
    }

    fn write(&self, name: &Name, entry: &Entry) -> io::Result<()> {
        let (folder, file) = entry_path(name);
        let (of_directories, of_files) = if self.shared { (0o777, 0o666) } else { (0o700, 0o600) };
        fs::DirBuilder::new().recursive(true).mode(of_directories).create(&self.directory)?;
        let root = open_directory(&self.directory, self.shared, true)?;
        let path = in_directory(&root, &self.directory, &folder);
        match fs::DirBuilder::new().mode(of_directories).create(&path) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
            _ => {}
        }
        let within = open_directory(&path, self.shared, false)?;
        let bytes = entry.bytes(name);
        if bytes.len() as u64 > LARGEST {
            return Ok(());
        }
        let target = in_directory(&within, &path, &file);
        for attempt in 0..1000u32 {
            let temporary = in_directory(&within, &path, &format!(".{}-{attempt}.tmp", std::process::id()));
            let mut file = match File::options().write(true).create_new(true).mode(of_files).open(&temporary) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                file => file?,
            };
            let stored = file.write_all(&bytes).and_then(|()| fs::rename(&temporary, &target));
            if stored.is_err() {
                // Report the first error. A temporary file that cannot be removed is left behind.
                let _ = fs::remove_file(&temporary);
            }
            return stored;
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

impl Store for LocalStore {
    fn load(&self, name: &Name) -> Result<Option<Entry>, String> {
        Ok(self.read(name))
    }

    fn store(&self, name: &Name, entry: &Entry) -> Result<(), String> {
        self.write(name, entry).map_err(|e| format!("cannot write to the cache: {}", io_text(&e)))
    }
}
