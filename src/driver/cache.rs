//! `--cache-dir`: results by content.
//!
//! The name of an entry is the SHA-256 of everything that can change the output: the compiler's identity, the input's
//! bytes, every option that matters, and the file, size and time of each libNVVM and libdevice and, for cubins, of each
//! ptxas that would be considered. An entry carries its own name, what was said while it was made, and a hash of all
//! that it holds, its name included. It is written under a temporary name and renamed: readers see a whole entry or
//! none, writers need no lock, and a damaged entry is a miss that the next compilation repairs. Entries may be deleted
//! at any time.
//!
//! # Whom a cache trusts
//!
//! An entry becomes the code of a kernel, so whoever can write entries chooses that code; no hash can tell theirs from
//! ours. A directory that belongs to another user (other than root), or that others may write, is therefore refused
//! unless `--shared-cache` says that all who may write there are trusted. Directories are made for the user alone.
//! Without `--shared-cache` the same goes for each folder and entry; with or without it, no link is followed below the
//! directory, what is no regular file is no entry, and nothing is read beyond a bound.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::options::Options;
use crate::toolchain::{self, Surroundings};
use crate::{Identity, child};
use tile_interface::{Emit, InputKind};

const MAGIC: &[u8; 16] = b"tileiras cache2\n";
const HASH: usize = 32;
/// Bytes of the name, the hash, and the length of the messages, behind the magic.
const HEADER: usize = MAGIC.len() + 2 * HASH + 8;
/// Bytes of the largest entry.
const LARGEST: u64 = 1 << 30;

/// Where the result of one compilation is, or would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    directory: PathBuf,
    /// All who may write there are trusted.
    shared: bool,
    key: [u8; HASH],
}

/// An output, and what was said when it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub messages: Vec<u8>,
    pub output: Vec<u8>,
}

/// The slot of a compilation; `None` where no cache was asked for, or where more than the output is wanted from it.
///
/// # Errors
/// Why the directory is not to be trusted.
pub fn slot(
    options: &Options,
    opt_level: u8,
    input: &[u8],
    kind: InputKind,
    identity: &Identity,
    surroundings: &Surroundings,
) -> Result<Option<Slot>, String> {
    let Some(directory) = &options.cache_dir else { return Ok(None) };
    let wants_more = options.save_temps
        || options.explore_data.is_some()
        || options.resource_usage_file.is_some()
        || options.remarks.any()
        || options.pipeline_options.iter().any(|o| TELLING.iter().any(|name| is_set(o, name)))
        || options.instrumentation != Default::default();
    if wants_more {
        return Ok(None);
    }
    let shared = options.shared_cache;
    if let Err(Closed::Refused(why)) = open_directory(directory, shared, true) {
        return Err(format!("the cache directory '{}' {why}", directory.display()));
    }
    let mut key = Key(Sha256::new());
    key.add(identity.version.as_bytes()).add(identity.sources.as_bytes()).add(identity.llvm.as_bytes());
    key.add(input);
    key.add(options.start_from.map_or("", |level| level.emit().name()).as_bytes());
    // Text carries its file's name into locations.
    let name = options.input.as_os_str().as_encoded_bytes();
    key.add(if matches!(kind, InputKind::Text | InputKind::LlvmIr) { name } else { b"" });
    key.add(options.target.name.as_bytes()).add(&[opt_level, options.lineinfo.into(), options.device_debug.into()]);
    key.add(options.emit.name().as_bytes()).add(options.sanitize.unwrap_or("").as_bytes());
    key.list(options.pipeline_options.iter().map(|o| o.as_encoded_bytes().to_vec()));
    key.list(options.insertions.iter().map(|i| i.as_encoded_bytes().to_vec()));
    key.list(options.plugins.iter().filter_map(|file| state_of(file)));
    key.add(&[options.libnvvm.into()]);
    if options.libnvvm {
        let found = toolchain::search_libnvvm(options.libnvvm_path.as_deref(), surroundings).found;
        key.list(found.iter().filter_map(|file| state_of(file)));
    }
    key.add(&[options.libdevice.is_some().into()]);
    if let Some(libdevice) = &options.libdevice {
        let found = toolchain::search_libdevice(libdevice.file(), surroundings).found;
        key.list(found.iter().filter_map(|file| state_of(file)));
    }
    if options.emit == Emit::Obj {
        // The names of the symbols come from the output's name.
        let host = format!("{:?} {:?}", options.host_arch, options.host_os);
        let output = options.output.clone().unwrap_or_else(|| "elf.o".into());
        key.add(host.as_bytes()).add(crate::hostobj::symbol_stem(&output).as_bytes());
    }
    if options.emit >= Emit::Cubin {
        key.list(options.ptxas.extra.iter().map(|o| o.as_encoded_bytes().to_vec()));
        let found = toolchain::search("ptxas", options.ptxas.path.as_deref(), surroundings).found;
        key.list(found.iter().filter_map(|file| state_of(file)));
    }
    Ok(Some(Slot { directory: directory.clone(), shared, key: key.0.finalize().into() }))
}

/// Why a directory cannot be used.
enum Closed {
    Refused(String),
    Io(io::Error),
}

impl From<Closed> for io::Error {
    fn from(closed: Closed) -> io::Error {
        match closed {
            Closed::Refused(why) => io::Error::new(io::ErrorKind::PermissionDenied, format!("it {why}")),
            Closed::Io(e) => e,
        }
    }
}

/// Opens a directory that may be trusted. Only the one that the user names may be a link.
fn open_directory(path: &Path, shared: bool, follow: bool) -> Result<File, Closed> {
    let flags = libc::O_DIRECTORY | if follow { 0 } else { libc::O_NOFOLLOW };
    let directory = File::options().read(true).custom_flags(flags).open(path).map_err(Closed::Io)?;
    let metadata = directory.metadata().map_err(Closed::Io)?;
    match mistrust(&metadata).filter(|_| !shared) {
        Some(why) => Err(Closed::Refused(format!("{why}; --shared-cache trusts all who may write there"))),
        None => Ok(directory),
    }
}

/// Why what is there may be another's.
fn mistrust(metadata: &Metadata) -> Option<&'static str> {
    if ![child::user(), 0].contains(&metadata.uid()) {
        return Some("belongs to another user");
    }
    (metadata.mode() & 0o022 != 0).then_some("can be written by others")
}

/// The name of something in an open directory, which stays that directory whatever becomes of its name.
fn in_directory(directory: &File, path: &Path, name: &str) -> PathBuf {
    let open = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()));
    if open.exists() { open.join(name) } else { path.join(name) }
}

/// Options of the pipeline with which the compiler prints or writes something beside the output.
const TELLING: &[&str] = &["emit-line-info", "snapshot-lines", "dump-host"];

/// Whether `option` is `name` with a value.
fn is_set(option: &std::ffi::OsStr, name: &str) -> bool {
    let value = option.to_str().and_then(|o| o.strip_prefix(name)?.strip_prefix('='));
    value.is_some_and(|v| !v.is_empty() && v != "none")
}

/// What changes when a tool is replaced: its file, size and time.
fn state_of(file: &Path) -> Option<Vec<u8>> {
    let file = fs::canonicalize(file).ok()?;
    let m = fs::metadata(&file).ok()?;
    let numbers = format!(" {} {} {}", m.len(), m.mtime(), m.mtime_nsec());
    Some([file.as_os_str().as_encoded_bytes(), numbers.as_bytes()].concat())
}

/// Feeds fields to the hash with their lengths, so that no two lists of fields look alike.
struct Key(Sha256);

impl Key {
    fn add(&mut self, field: &[u8]) -> &mut Key {
        self.0.update((field.len() as u64).to_le_bytes());
        self.0.update(field);
        self
    }
    fn list(&mut self, fields: impl Iterator<Item = Vec<u8>>) {
        let fields: Vec<Vec<u8>> = fields.collect();
        self.0.update((fields.len() as u64).to_le_bytes());
        for field in fields {
            self.add(&field);
        }
    }
}

impl Slot {
    /// The folder of the entry, and its name there.
    fn place(&self) -> (String, String) {
        let mut folder: String = self.key.iter().map(|b| format!("{b:02x}")).collect();
        let name = folder.split_off(2);
        (folder, name)
    }

    /// The entry, if it is there and sound.
    pub fn load(&self) -> Option<Entry> {
        let (folder, name) = self.place();
        let root = open_directory(&self.directory, self.shared, true).ok()?;
        let path = in_directory(&root, &self.directory, &folder);
        let within = open_directory(&path, self.shared, false).ok()?;
        // Opening a pipe must not wait for its writer.
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let file = File::options().read(true).custom_flags(flags).open(in_directory(&within, &path, &name)).ok()?;
        let metadata = file.metadata().ok()?;
        let is_trusted = self.shared || mistrust(&metadata).is_none();
        if !metadata.is_file() || metadata.len() > LARGEST || !is_trusted {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(LARGEST).read_to_end(&mut bytes).ok()?;
        let (head, rest) = bytes.split_at_checked(HEADER)?;
        let (hash, length) = head[MAGIC.len() + HASH..].split_at_checked(HASH)?;
        let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
        let (messages, output) = rest.split_at_checked(length)?;
        let entry = Entry { messages: messages.to_vec(), output: output.to_vec() };
        let sound = head.starts_with(MAGIC) && head[MAGIC.len()..].starts_with(&self.key) && hash == self.hash(&entry);
        sound.then_some(entry)
    }

    /// Of all that an entry holds.
    fn hash(&self, entry: &Entry) -> [u8; HASH] {
        let mut key = Key(Sha256::new());
        key.add(MAGIC).add(&self.key).add(&entry.messages).add(&entry.output);
        key.0.finalize().into()
    }

    /// Keeps an entry.
    ///
    /// # Errors
    /// What the system says when it refuses, or why the directory is not to be trusted.
    pub fn store(&self, entry: &Entry) -> io::Result<()> {
        let (folder, name) = self.place();
        let (of_directories, of_files) = if self.shared { (0o777, 0o666) } else { (0o700, 0o600) };
        fs::DirBuilder::new().recursive(true).mode(of_directories).create(&self.directory)?;
        let root = open_directory(&self.directory, self.shared, true)?;
        let path = in_directory(&root, &self.directory, &folder);
        match fs::DirBuilder::new().mode(of_directories).create(&path) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
            _ => {}
        }
        let within = open_directory(&path, self.shared, false)?;
        let length = (entry.messages.len() as u64).to_le_bytes();
        let bytes =
            [MAGIC, &self.key[..], &self.hash(entry)[..], &length[..], &entry.messages[..], &entry.output[..]].concat();
        if bytes.len() as u64 > LARGEST {
            return Ok(());
        }
        let target = in_directory(&within, &path, &name);
        for attempt in 0..1000u32 {
            let temporary = in_directory(&within, &path, &format!(".{}-{attempt}.tmp", std::process::id()));
            let mut file = match File::options().write(true).create_new(true).mode(of_files).open(&temporary) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                file => file?,
            };
            let stored = file.write_all(&bytes).and_then(|()| fs::rename(&temporary, &target));
            if stored.is_err() {
                // The error that matters is the first one; a temporary file that cannot be removed stays.
                let _ = fs::remove_file(&temporary);
            }
            return stored;
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}
