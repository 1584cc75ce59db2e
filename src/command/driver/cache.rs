//! `--cache-dir`, `--remote-cache`: caches of compilation results, keyed by content.
//!
//! The name of an entry is the SHA-256 of everything that can change the output: the compiler's identity, the input's
//! bytes, every relevant option, and the bytes of each plugin, libNVVM and libdevice and, for cubins, of each ptxas
//! that would be considered. No part of it is specific to a machine, so machines can share entries. An entry contains
//! its own name, the diagnostics of its compilation, and a hash of its contents including the name. A damaged entry
//! is a miss that the next compilation repairs. Entries may be deleted at any time.
//!
//! Entries are kept in [`Store`]s: a directory ([`local`]), a server ([`remote`]), or both, which are searched in
//! this order. A hit in a later store is copied to the earlier ones.
//!
//! # Trust
//!
//! An entry becomes the code of a kernel, so anyone who can write entries chooses that code, and no hash can detect
//! it. A directory that belongs to another user (except root), or that others can write to, is therefore rejected
//! unless `--shared-cache` declares everyone with write access trusted. Naming a server means trusting everyone with
//! write access to it.

mod files;
mod library;
mod local;
#[cfg(feature = "remote-cache")]
mod remote;

use sha2::{Digest, Sha256};
use tile_diag::{Diagnostic, render};

use crate::options::Options;
use crate::toolchain::{self, Surroundings};
use crate::{Identity, messages};
pub use library::Cached;
use local::LocalStore;
use tile_interface::{
    Emit, InputKind,
    pipeline::{self, Effect},
};

const MAGIC: &[u8; 16] = b"tileiras cache3\n";
const HASH: usize = 32;
/// The size of the name, the hash, and the length of the messages, which follow the magic, plus the magic itself.
const HEADER: usize = MAGIC.len() + 2 * HASH + 8;
/// The maximum size of an entry in bytes.
const LARGEST: u64 = 1 << 30;

/// The name of an entry.
type Name = [u8; HASH];

/// A store of cache entries.
trait Store {
    /// Returns the entry of this name, if present and intact.
    ///
    /// # Errors
    /// The warning to report. The lookup counts as a miss.
    fn load(&self, name: &Name) -> Result<Option<Entry>, String>;

    /// Stores an entry.
    ///
    /// # Errors
    /// The warning to report.
    fn store(&self, name: &Name, entry: &Entry) -> Result<(), String>;
}

/// The cache slot of one compilation's result.
pub struct Slot {
    name: Name,
    /// Nearest first.
    stores: Vec<Box<dyn Store>>,
}

/// The result of a lookup.
#[derive(Debug, Default)]
pub struct Found {
    pub entry: Option<Entry>,
    /// The warnings to report.
    pub warnings: Vec<String>,
}

/// An output and the diagnostics of its compilation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub messages: Messages,
    pub output: Vec<u8>,
}

/// Diagnostics as lines of JSON: an object for a message of the compiler, a string for a message of ptxas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Messages(Vec<u8>);

impl Messages {
    /// Adds a diagnostic of the compiler.
    pub fn add_diagnostic(&mut self, diagnostic: &Diagnostic) {
        self.0.extend(render::json(diagnostic).into_bytes());
    }

    /// Adds output of another program.
    pub fn add_output(&mut self, text: &str) {
        if !text.is_empty() {
            self.0.extend(format!("{}\n", serde_json::Value::from(text)).into_bytes());
        }
    }

    /// The diagnostics of the compiler, and the output of other programs.
    pub fn read(&self) -> (Vec<Diagnostic>, Vec<String>) {
        let text = String::from_utf8_lossy(&self.0);
        let (own, relayed): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('{'));
        let relayed = relayed.into_iter().map(|line| serde_json::from_str(line).unwrap_or(line.to_owned()));
        (own.into_iter().filter_map(messages::parse).collect(), relayed.collect())
    }
}

/// The slot of a compilation. `None` if no cache is requested, or if the compilation has outputs that are not cached.
///
/// # Errors
/// Why the directory is not trusted, or the error in the settings of the remote cache.
pub fn slot(
    options: &Options,
    opt_level: u8,
    input: &[u8],
    kind: InputKind,
    identity: &Identity,
    surroundings: &Surroundings,
) -> Result<Option<Slot>, String> {
    let remote = remote_store(options)?;
    let local = options.cache_dir.as_ref().map(|directory| LocalStore::new(directory.clone(), options.shared_cache));
    if remote.is_none() && local.is_none() {
        return Ok(None);
    }
    let wants_more = options.save_temps
        || options.explore_data.is_some()
        || options.resource_usage_file.is_some()
        || options.remarks.any()
        || options.pipeline_options.iter().any(|o| has_side_effect(o))
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

/// The name of an entry. `None` if a file that it depends on cannot be read.
fn name(
    options: &Options,
    opt_level: u8,
    (input, kind): (&[u8], InputKind),
    identity: &Identity,
    surroundings: &Surroundings,
    digests: &files::Digests,
) -> Option<Name> {
    let mut key = KeyHasher(Sha256::new());
    key.add(identity.version.as_bytes()).add(identity.sources.as_bytes()).add(identity.llvm.as_bytes());
    // The same sources built for another architecture are a different compiler.
    key.add(std::env::consts::ARCH.as_bytes());
    key.add(input);
    key.add(options.start_from.map_or("", |level| level.emit().name()).as_bytes());
    for boundary in [&options.start_after, &options.print_after] {
        key.add(boundary.as_ref().map_or(b"", |b| b.as_encoded_bytes()));
    }
    // The file name of a textual input appears in its locations.
    let name = options.input.as_os_str().as_encoded_bytes();
    key.add(if matches!(kind, InputKind::Text | InputKind::LlvmIr) { name } else { b"" });
    key.add(options.target.name.as_bytes()).add(&[opt_level, options.lineinfo.into(), options.device_debug.into()]);
    key.add(options.emit.name().as_bytes()).add(options.sanitize.unwrap_or("").as_bytes());
    key.list(options.pipeline_options.iter().map(|o| o.as_encoded_bytes().to_vec()));
    key.list(options.insertions.iter().map(|i| i.as_encoded_bytes().to_vec()));
    key.list(options.plugins.iter().map(|file| digests.of(file)).collect::<Option<Vec<_>>>()?.into_iter());
    // A strict compilation must not get the result of a weaker plan.
    key.add(&[u8::from(options.strict_plans || tile_interface::has_strict_plans())]);
    key.add(&[options.preview.into()]);
    key.list(options.libraries.iter().map(|file| digests.of(file)).collect::<Option<Vec<_>>>()?.into_iter());
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
        // Symbol names are derived from the output's name.
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

/// Whether the options request a cache.
pub fn is_requested(options: &Options) -> bool {
    options.cache_dir.is_some() || options.remote_cache.is_some()
}

#[cfg(feature = "remote-cache")]
fn remote_store(options: &Options) -> Result<Option<Box<dyn Store>>, String> {
    let store = remote::RemoteStore::of(options)?;
    Ok(store.map(|store| Box::new(store) as Box<dyn Store>))
}

#[cfg(not(feature = "remote-cache"))]
fn remote_store(options: &Options) -> Result<Option<Box<dyn Store>>, String> {
    match &options.remote_cache {
        None => Ok(None),
        Some(address) => Err(format!(
            "the remote cache '{}' cannot be used: this program was built without the 'remote-cache' feature",
            address.to_string_lossy()
        )),
    }
}

/// Whether a pipeline option makes the compiler print or write something in addition to the output.
fn has_side_effect(option: &std::ffi::OsStr) -> bool {
    let text = option.to_str().unwrap_or_default();
    let is_set = text.split_once('=').is_some_and(|(_, value)| !value.is_empty() && value != "none");
    is_set && pipeline::effect(text) == Some(Effect::Side)
}

/// Hashes fields together with their lengths, so that different lists of fields have different encodings.
struct KeyHasher(Sha256);

impl KeyHasher {
    fn add(&mut self, field: &[u8]) -> &mut KeyHasher {
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
    /// Returns the entry from the first store that has it, and copies it to the stores before that one.
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

    /// Stores an entry in all stores. Returns the warnings.
    pub fn store(&self, entry: &Entry) -> Vec<String> {
        self.stores.iter().filter_map(|store| store.store(&self.name, entry).err()).collect()
    }
}

impl Entry {
    /// The encoding of the entry under `name`.
    fn bytes(&self, name: &Name) -> Vec<u8> {
        let length = (self.messages.0.len() as u64).to_le_bytes();
        [MAGIC, &name[..], &self.hash(name)[..], &length[..], &self.messages.0[..], &self.output[..]].concat()
    }

    /// Decodes an entry. `None` unless `bytes` is an intact entry of this name.
    fn read(name: &Name, bytes: &[u8]) -> Option<Entry> {
        let (head, rest) = bytes.split_at_checked(HEADER)?;
        let (hash, length) = head[MAGIC.len() + HASH..].split_at_checked(HASH)?;
        let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
        let (messages, output) = rest.split_at_checked(length)?;
        let entry = Entry { messages: Messages(messages.to_vec()), output: output.to_vec() };
        let sound = head.starts_with(MAGIC) && head[MAGIC.len()..].starts_with(name) && hash == entry.hash(name);
        sound.then_some(entry)
    }

    /// The hash of the contents and the name.
    fn hash(&self, name: &Name) -> [u8; HASH] {
        let mut key = KeyHasher(Sha256::new());
        key.add(MAGIC).add(name).add(&self.messages.0).add(&self.output);
        key.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_with_other_outputs_are_not_cached() {
        let side = |setting: &str| has_side_effect(setting.as_ref());
        let others = ["emit-line-info=tileas", "snapshot-lines=tileaa", "dump-host=h.ll", "schedule-trace-file=t.json"];
        assert!(others.into_iter().all(side));
        assert!(!["emit-line-info=none", "dump-host=", "num-warps=8", "unknown=1", "approx"].into_iter().any(side));
    }
}
