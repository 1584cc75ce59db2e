//! `--cache-dir`, `--remote-cache`: results by content.
//!
//! The name of an entry is the SHA-256 of everything that can change the output: the compiler's identity, the input's
//! bytes, every option that matters, and the bytes of each plugin, libNVVM and libdevice and, for cubins, of each ptxas
//! that would be considered. Nothing of it is of one machine, so machines can share what they made. An entry carries
//! its own name, what was said while it was made, and a hash of all that it holds, its name included: a damaged entry
//! is a miss that the next compilation repairs. Entries may be deleted at any time.
//!
//! Entries are kept in [`Store`]s: a directory ([`local`]), a server ([`remote`]), or both. They are asked in this
//! order, and what a later one has is put into the earlier ones.
//!
//! # Whom a cache trusts
//!
//! An entry becomes the code of a kernel, so whoever can write entries chooses that code; no hash can tell theirs from
//! ours. A directory that belongs to another user (other than root), or that others may write, is therefore refused
//! unless `--shared-cache` says that all who may write there are trusted. A server is named by its user, who trusts all
//! whom it lets write.

mod files;
mod local;
#[cfg(feature = "remote-cache")]
mod remote;

use sha2::{Digest, Sha256};
use tile_diag::{Diagnostic, render};

use crate::options::Options;
use crate::toolchain::{self, Surroundings};
use crate::{Identity, isolated};
use local::Local;
use tile_interface::{Emit, InputKind};

const MAGIC: &[u8; 16] = b"tileiras cache3\n";
const HASH: usize = 32;
/// Bytes of the name, the hash, and the length of the messages, behind the magic.
const HEADER: usize = MAGIC.len() + 2 * HASH + 8;
/// Bytes of the largest entry.
const LARGEST: u64 = 1 << 30;

/// The name of an entry.
type Name = [u8; HASH];

/// A place where entries are kept.
trait Store {
    /// The entry of this name, if it is there and sound.
    ///
    /// # Errors
    /// What to warn of; it is a miss all the same.
    fn load(&self, name: &Name) -> Result<Option<Entry>, String>;

    /// Keeps an entry.
    ///
    /// # Errors
    /// What to warn of.
    fn store(&self, name: &Name, entry: &Entry) -> Result<(), String>;
}

/// Where the result of one compilation is, or would be.
pub struct Slot {
    name: Name,
    /// Nearest first.
    stores: Vec<Box<dyn Store>>,
}

/// What a look into the caches brought.
#[derive(Debug, Default)]
pub struct Found {
    pub entry: Option<Entry>,
    /// What to say of the caches.
    pub warnings: Vec<String>,
}

/// An output, and what was said when it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub messages: Messages,
    pub output: Vec<u8>,
}

/// What was said, a line of JSON each: an object for what the compiler says, a text for the words of ptxas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Messages(Vec<u8>);

impl Messages {
    /// Adds what the compiler says.
    pub fn say(&mut self, diagnostic: &Diagnostic) {
        self.0.extend(render::json(diagnostic).into_bytes());
    }

    /// Adds another program's words.
    pub fn relay(&mut self, text: &str) {
        if !text.is_empty() {
            self.0.extend(format!("{}\n", serde_json::Value::from(text)).into_bytes());
        }
    }

    /// What the compiler said, then the words of others.
    pub fn read(&self) -> (Vec<Diagnostic>, Vec<String>) {
        let text = String::from_utf8_lossy(&self.0);
        let (own, relayed): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('{'));
        let relayed = relayed.into_iter().map(|line| serde_json::from_str(line).unwrap_or(line.to_owned()));
        (own.into_iter().filter_map(isolated::read).collect(), relayed.collect())
    }
}

/// How the remote cache is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Remote {
    #[default]
    Whole,
    /// It was asked already, and has no such entry.
    Missed,
    /// It was of no use a moment ago.
    LeftAlone,
}

/// The slot of a compilation; `None` where no cache was asked for, or where more than the output is wanted from it.
///
/// # Errors
/// Why the directory is not to be trusted, or what is wrong with the settings of the remote cache.
pub fn slot(
    options: &Options,
    opt_level: u8,
    input: &[u8],
    kind: InputKind,
    identity: &Identity,
    surroundings: &Surroundings,
) -> Result<Option<Slot>, String> {
    let remote = remote_store(options)?;
    let local = options.cache_dir.as_ref().map(|directory| Local::new(directory.clone(), options.shared_cache));
    if remote.is_none() && local.is_none() {
        return Ok(None);
    }
    let wants_more = options.save_temps
        || options.explore_data.is_some()
        || options.resource_usage_file.is_some()
        || options.remarks.any()
        || options.pipeline_options.iter().any(|o| TELLING.iter().any(|name| is_set(o, name)))
        || options.instrumentation != Default::default();
    if wants_more {
        return Ok(None);
    }
    if let Some(local) = &local {
        local.check()?;
    }
    let digests = files::Digests::new(local.clone());
    let local = local.map(|local| Box::new(local) as Box<dyn Store>);
    let stores = local.into_iter().chain(remote).collect();
    Ok(name(options, opt_level, (input, kind), identity, surroundings, &digests).map(|name| Slot { name, stores }))
}

/// The name of an entry; `None` if something that it depends on cannot be read.
fn name(
    options: &Options,
    opt_level: u8,
    (input, kind): (&[u8], InputKind),
    identity: &Identity,
    surroundings: &Surroundings,
    digests: &files::Digests,
) -> Option<Name> {
    let mut key = Key(Sha256::new());
    key.add(identity.version.as_bytes()).add(identity.sources.as_bytes()).add(identity.llvm.as_bytes());
    // For another architecture the same sources are another program.
    key.add(std::env::consts::ARCH.as_bytes());
    key.add(input);
    key.add(options.start_from.map_or("", |level| level.emit().name()).as_bytes());
    // Text carries its file's name into locations.
    let name = options.input.as_os_str().as_encoded_bytes();
    key.add(if matches!(kind, InputKind::Text | InputKind::LlvmIr) { name } else { b"" });
    key.add(options.target.name.as_bytes()).add(&[opt_level, options.lineinfo.into(), options.device_debug.into()]);
    key.add(options.emit.name().as_bytes()).add(options.sanitize.unwrap_or("").as_bytes());
    key.list(options.pipeline_options.iter().map(|o| o.as_encoded_bytes().to_vec()));
    key.list(options.insertions.iter().map(|i| i.as_encoded_bytes().to_vec()));
    key.list(options.plugins.iter().map(|file| digests.of(file)).collect::<Option<Vec<_>>>()?.into_iter());
    key.add(&[options.libnvvm.into()]);
    if options.libnvvm {
        let found = toolchain::search_libnvvm(options.libnvvm_path.as_deref(), surroundings).found;
        key.list(digests.of_all(&found)?.into_iter());
    }
    key.add(&[options.libdevice.is_some().into()]);
    if let Some(libdevice) = &options.libdevice {
        let found = toolchain::search_libdevice(libdevice.file(), surroundings).found;
        key.list(digests.of_all(&found)?.into_iter());
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
        key.list(digests.of_all(&found)?.into_iter());
    }
    Some(key.finish())
}

/// Whether a compilation would look for its output somewhere.
pub fn is_asked_for(options: &Options) -> bool {
    options.cache_dir.is_some() || options.remote_cache.is_some()
}

#[cfg(feature = "remote-cache")]
fn remote_store(options: &Options) -> Result<Option<Box<dyn Store>>, String> {
    let store = remote::Server::of(options)?;
    Ok(store.map(|store| Box::new(store) as Box<dyn Store>))
}

#[cfg(not(feature = "remote-cache"))]
fn remote_store(options: &Options) -> Result<Option<Box<dyn Store>>, String> {
    match &options.remote_cache {
        None => Ok(None),
        Some(address) => Err(format!(
            "the remote cache '{}' cannot be used: this program was built without the feature 'remote-cache'",
            address.to_string_lossy()
        )),
    }
}

/// Options of the pipeline with which the compiler prints or writes something beside the output.
const TELLING: &[&str] = &["emit-line-info", "snapshot-lines", "dump-host"];

/// Whether `option` is `name` with a value.
fn is_set(option: &std::ffi::OsStr, name: &str) -> bool {
    let value = option.to_str().and_then(|o| o.strip_prefix(name)?.strip_prefix('='));
    value.is_some_and(|v| !v.is_empty() && v != "none")
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
    fn finish(self) -> Name {
        self.0.finalize().into()
    }
}

impl Slot {
    /// The entry from the nearest store that has it, which the nearer ones are given.
    pub fn load(&self) -> Found {
        let mut found = Found::default();
        for (at, store) in self.stores.iter().enumerate() {
            match store.load(&self.name) {
                Ok(None) => {}
                Ok(Some(entry)) => {
                    let nearer = self.stores[..at].iter();
                    found.warnings.extend(nearer.filter_map(|store| store.store(&self.name, &entry).err()));
                    found.entry = Some(entry);
                    break;
                }
                Err(warning) => found.warnings.push(warning),
            }
        }
        found
    }

    /// Keeps an entry in all stores. Returns what to warn of.
    pub fn store(&self, entry: &Entry) -> Vec<String> {
        self.stores.iter().filter_map(|store| store.store(&self.name, entry).err()).collect()
    }
}

impl Entry {
    /// As it is kept under `name`.
    fn bytes(&self, name: &Name) -> Vec<u8> {
        let length = (self.messages.0.len() as u64).to_le_bytes();
        [MAGIC, &name[..], &self.hash(name)[..], &length[..], &self.messages.0[..], &self.output[..]].concat()
    }

    /// The entry in `bytes`, if that is what was kept under `name`.
    fn read(name: &Name, bytes: &[u8]) -> Option<Entry> {
        let (head, rest) = bytes.split_at_checked(HEADER)?;
        let (hash, length) = head[MAGIC.len() + HASH..].split_at_checked(HASH)?;
        let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
        let (messages, output) = rest.split_at_checked(length)?;
        let entry = Entry { messages: Messages(messages.to_vec()), output: output.to_vec() };
        let sound = head.starts_with(MAGIC) && head[MAGIC.len()..].starts_with(name) && hash == entry.hash(name);
        sound.then_some(entry)
    }

    /// Of all that an entry holds.
    fn hash(&self, name: &Name) -> [u8; HASH] {
        let mut key = Key(Sha256::new());
        key.add(MAGIC).add(name).add(&self.messages.0).add(&self.output);
        key.finish()
    }
}
