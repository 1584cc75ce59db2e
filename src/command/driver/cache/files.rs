//! Digests of tools and libraries.
//!
//! ptxas is fifty megabytes: reading it for every compilation would take longer than a cache hit. Its digest is
//! therefore remembered together with the file's name, device, inode, size and times. A recently changed file is not
//! remembered, because a second change within the same clock tick would go unnoticed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};

use super::{Entry, KeyHasher, LocalStore, Messages, Name, Store};

/// Seconds after a change during which a file is not remembered. The timestamps of file systems are finer than this.
const FRESH: i64 = 2;

/// Digests of files in this process, by the name of the file's state.
static REMEMBERED: Mutex<BTreeMap<Name, Name>> = Mutex::new(BTreeMap::new());

/// Computes digests. Remembers them next to the cache entries if there is a cache directory.
pub(super) struct Digests {
    directory: Option<LocalStore>,
}

impl Digests {
    /// If there is no cache directory, a compilation of a batch uses the directory of the batch.
    pub(super) fn new(cache: Option<LocalStore>) -> Digests {
        let batch = || std::env::var_os(crate::batch::COMMON).map(|directory| LocalStore::new(directory.into(), false));
        Digests { directory: cache.or_else(batch) }
    }

    /// The digest of a file. `None` if it cannot be read.
    pub(super) fn of(&self, file: &Path) -> Option<Vec<u8>> {
        let file = fs::canonicalize(file).ok()?;
        let state = FileState::of(&file)?;
        if let Some(digest) = self.recall(&state.name) {
            return Some(digest.to_vec());
        }
        let mut hash = Sha256::new();
        io::copy(&mut File::open(&file).ok()?, &mut hash).ok()?;
        let digest: Name = hash.finalize().into();
        if state.is_settled && FileState::of(&file)?.name == state.name {
            self.remember(state.name, digest);
        }
        Some(digest.to_vec())
    }

    /// The distinct digests of alternative files, of which the first usable one is used. Copies of a file behave the
    /// same, so each digest appears once. `None` if a file cannot be read.
    pub(super) fn of_all(&self, files: &[PathBuf]) -> Option<Vec<Vec<u8>>> {
        let mut digests: Vec<Vec<u8>> = vec![];
        for file in files {
            let digest = self.of(file)?;
            if !digests.contains(&digest) {
                digests.push(digest);
            }
        }
        Some(digests)
    }

    fn recall(&self, state: &Name) -> Option<Name> {
        let here = REMEMBERED.lock().unwrap_or_else(PoisonError::into_inner).get(state).copied();
        here.or_else(|| self.directory.as_ref()?.load(state).ok()??.output.try_into().ok())
    }

    fn remember(&self, state: Name, digest: Name) {
        REMEMBERED.lock().unwrap_or_else(PoisonError::into_inner).insert(state, digest);
        if let Some(directory) = &self.directory {
            // A failure is ignored: storing the compilation's own entry follows and reports it.
            let _ = directory.store(&state, &Entry { messages: Messages::default(), output: digest.to_vec() });
        }
    }
}

/// The state of a file, which changes whenever its bytes do.
struct FileState {
    name: Name,
    /// Whether the last change is long enough ago.
    is_settled: bool,
}

impl FileState {
    fn of(file: &Path) -> Option<FileState> {
        let m = fs::metadata(file).ok()?;
        let mut key = KeyHasher(Sha256::new());
        key.add(b"the digest of a file").add(file.as_os_str().as_encoded_bytes());
        for number in [m.dev(), m.ino(), m.len()] {
            key.add(&number.to_le_bytes());
        }
        for number in [m.mtime(), m.mtime_nsec(), m.ctime(), m.ctime_nsec()] {
            key.add(&number.to_le_bytes());
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
        let is_settled = m.mtime().max(m.ctime()).saturating_add(FRESH) < i64::try_from(now).ok()?;
        Some(FileState { name: key.finish(), is_settled })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_bytes() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("tool");
        let digests = Digests { directory: Some(LocalStore::new(root.path().join("cache"), false)) };
        for bytes in [&b"one"[..], b"two", b"", b"one"] {
            fs::write(&file, bytes).unwrap();
            assert_eq!(digests.of(&file), Some(Sha256::digest(bytes).to_vec()));
        }
        // The changes are too recent, so nothing was remembered.
        assert!(!root.path().join("cache").exists());
        assert_eq!(digests.of(&root.path().join("none")), None);
        let link = root.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(digests.of(&link), digests.of(&file));
        let other = root.path().join("other");
        fs::write(&other, b"other").unwrap();
        let all = digests.of_all(&[file.clone(), link, other.clone(), file.clone()]);
        assert_eq!(all, Some(vec![digests.of(&file).unwrap(), digests.of(&other).unwrap()]));
        assert_eq!(digests.of_all(&[file, root.path().join("none")]), None);
    }

    #[test]
    fn what_has_settled_is_read_once() {
        let root = tempfile::tempdir().unwrap();
        // This file was installed a while ago.
        let program = std::path::PathBuf::from("/bin/sh").canonicalize().unwrap();
        let Some(FileState { name, is_settled: true }) = FileState::of(&program) else { panic!("a settled file") };
        let directory = LocalStore::new(root.path().join("cache"), false);
        let digests = Digests { directory: Some(directory.clone()) };
        let digest = digests.of(&program).unwrap();
        assert_eq!(digests.recall(&name).unwrap().to_vec(), digest);
        assert_eq!(directory.load(&name).unwrap().unwrap().output, digest);
    }
}
