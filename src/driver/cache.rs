//! `--cache-dir`: results by content.
//!
//! The name of an entry is the SHA-256 of everything that can change the output: the compiler's identity, the input's
//! bytes, every option that matters, and the file, size and time of each libNVVM and libdevice and, for cubins, of each
//! ptxas that would be considered. An entry carries its own name and the hash of its payload, and is written under a
//! temporary name and renamed: readers see a whole entry or none, writers need no lock, and a damaged entry is a miss
//! that the next compilation repairs. Entries may be deleted at any time.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::options::Options;
use crate::toolchain::{self, Surroundings};
use crate::{Identity, output};
use tile_interface::{Emit, InputKind};

const MAGIC: &[u8; 16] = b"tileiras cache1\n";
const HASH: usize = 32;

/// Where the result of one compilation is, or would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    file: PathBuf,
    key: [u8; HASH],
}

/// The slot of a compilation; `None` where no cache was asked for, or where more than the output is wanted from it.
pub fn slot(
    options: &Options,
    opt_level: u8,
    input: &[u8],
    kind: InputKind,
    identity: &Identity,
    surroundings: &Surroundings,
) -> Option<Slot> {
    let directory = options.cache_dir.as_ref()?;
    let wants_more = options.save_temps
        || options.resource_usage_file.is_some()
        || options.remarks.any()
        || options.pipeline_options.iter().any(|o| TELLING.iter().any(|name| is_set(o, name)))
        || options.instrumentation != Default::default();
    if wants_more {
        return None;
    }
    let mut key = Key(Sha256::new());
    key.add(identity.version.as_bytes()).add(identity.sources.as_bytes()).add(identity.llvm.as_bytes());
    key.add(input);
    // Text carries its file's name into locations.
    let name = options.input.as_os_str().as_encoded_bytes();
    key.add(if kind == InputKind::Text { name } else { b"" });
    key.add(options.target.name.as_bytes()).add(&[opt_level, options.lineinfo.into(), options.device_debug.into()]);
    key.add(options.emit.name().as_bytes()).add(options.sanitize.unwrap_or("").as_bytes());
    key.list(options.pipeline_options.iter().map(|o| o.as_encoded_bytes().to_vec()));
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
    let key: [u8; HASH] = key.0.finalize().into();
    let hex: String = key.iter().map(|b| format!("{b:02x}")).collect();
    Some(Slot { file: directory.join(&hex[..2]).join(&hex[2..]), key })
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
    /// The output, if it is there and sound.
    pub fn load(&self) -> Option<Vec<u8>> {
        let mut bytes = fs::read(&self.file).ok()?;
        let header = MAGIC.len() + 2 * HASH;
        let (head, payload) = bytes.split_at_checked(header)?;
        let sound = head.starts_with(MAGIC)
            && head[MAGIC.len()..MAGIC.len() + HASH] == self.key
            && head[MAGIC.len() + HASH..] == Sha256::digest(payload)[..];
        sound.then(|| bytes.split_off(header))
    }

    /// Keeps an output.
    pub fn store(&self, payload: &[u8]) -> io::Result<()> {
        let directory = self.file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(directory)?;
        let entry = [MAGIC, &self.key[..], &Sha256::digest(payload)[..], payload].concat();
        output::write(&self.file, &entry, &mut io::sink()).map_err(|e| match e {
            output::OutputError::Open(_, e) | output::OutputError::Write(e) => e,
        })
    }
}
