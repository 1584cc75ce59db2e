//! Cache entries on a server of the Remote Execution API.
//!
//! A server may delay a compilation by the configured time once for the lookup and once for the store. It can do no
//! other harm: its answer is either an entry of the right name or a miss. After a failed call the server is not used
//! for a while; then a single process tries it again. A failure is reported once per process. In a batch, where each
//! compilation is a process, it is reported once per batch: the processes share a note.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};
use tile_remote::{Address, CallError};

use super::{Entry, Name, Store};
use crate::options::Options;
use crate::shared::RemoteUse;

/// The default limit on the delay of a compilation by a server.
const TIMEOUT: Duration = Duration::from_secs(1);
/// The largest limit that can be requested.
const MOST_MILLISECONDS: u64 = 600_000;
/// The time for which a server is not used after a failure.
const PAUSE: Duration = Duration::from_secs(30);

/// The servers of this process, by address. One connection serves all compilations.
static SERVERS: Mutex<BTreeMap<String, Arc<tile_remote::Server>>> = Mutex::new(BTreeMap::new());

pub(super) struct RemoteStore {
    address: String,
    server: Arc<tile_remote::Server>,
    timeout: Duration,
    note: PauseNote,
    /// Whether the entry is known to be missing.
    missed: bool,
}

impl RemoteStore {
    /// The server that the options name, unless it must not be used.
    ///
    /// # Errors
    /// What is wrong with its address or time limit.
    pub(super) fn of(options: &Options) -> Result<Option<RemoteStore>, String> {
        let Some(text) = &options.remote_cache else { return Ok(None) };
        let text = text.to_string_lossy();
        let address: Address = text.parse().map_err(|why| format!("the remote cache '{text}' {why}"))?;
        let timeout = match &options.remote_cache_timeout {
            None => TIMEOUT,
            Some(value) => match value.to_str().and_then(|v| v.parse().ok()) {
                Some(n @ 1..=MOST_MILLISECONDS) => Duration::from_millis(n),
                _ => {
                    let value = value.to_string_lossy();
                    return Err(format!(
                        "the timeout of the remote cache must be from 1 to {MOST_MILLISECONDS} milliseconds, not '{value}'"
                    ));
                }
            },
        };
        if options.remote == RemoteUse::Off {
            return Ok(None);
        }
        let name = address.to_string();
        let mut servers = SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
        let server = servers.entry(name.clone()).or_insert_with(|| Arc::new(tile_remote::Server::new(address)));
        let note = match std::env::var_os(crate::batch::COMMON) {
            Some(directory) => PauseNote::File(PathBuf::from(directory).join(file_name(&name))),
            None => PauseNote::Here(name.clone()),
        };
        let missed = options.remote == RemoteUse::StoreOnly;
        Ok(Some(RemoteStore { address: name, server: server.clone(), timeout, note, missed }))
    }

    /// Does `work` with the server, unless the server is paused. Only the first failure is an error.
    fn ask<T: Default>(&self, work: impl FnOnce() -> Result<T, CallError>) -> Result<T, String> {
        let before = self.note.read();
        match before {
            Some(until) if until > now() => return Ok(T::default()),
            // The process that retries extends the pause for others.
            Some(until) if until > 0 => _ = self.note.write(later(self.timeout)),
            _ => {}
        }
        match work() {
            Ok(done) => {
                if before.is_some_and(|until| until > 0) {
                    self.note.write(0);
                }
                Ok(done)
            }
            Err(trouble) if self.note.write(later(Duration::ZERO)) => {
                Err(format!("the remote cache '{}' {trouble}; compiling without it", self.address))
            }
            Err(_) => Ok(T::default()),
        }
    }
}

impl Store for RemoteStore {
    fn load(&self, name: &Name) -> Result<Option<Entry>, String> {
        if self.missed {
            return Ok(None);
        }
        self.ask(|| match self.server.find(name, self.timeout)? {
            None => Ok(None),
            Some(bytes) => match Entry::read(name, &bytes) {
                Some(entry) => Ok(Some(entry)),
                None => Err(CallError::Untrusted("it returned a different entry than the requested one".into())),
            },
        })
    }

    fn store(&self, name: &Name, entry: &Entry) -> Result<(), String> {
        self.ask(|| self.server.keep(name, entry.bytes(name), self.timeout))
    }
}

/// The end of a server's pause, in milliseconds since the epoch. Zero after the server has recovered; absent before
/// the first failure.
enum PauseNote {
    /// In this process, by address.
    Here(String),
    /// In a file that the processes of a batch share.
    File(PathBuf),
}

static NOTES: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

impl PauseNote {
    fn read(&self) -> Option<u64> {
        match self {
            PauseNote::Here(address) => NOTES.lock().unwrap_or_else(PoisonError::into_inner).get(address).copied(),
            // An unreadable note is being written, so a call has just failed.
            PauseNote::File(file) => {
                fs::read_to_string(file).ok().map(|text| text.parse().unwrap_or(later(Duration::ZERO)))
            }
        }
    }

    /// Writes the note. Returns whether it is the first one.
    fn write(&self, until: u64) -> bool {
        match self {
            PauseNote::Here(address) => {
                let mut notes = NOTES.lock().unwrap_or_else(PoisonError::into_inner);
                notes.insert(address.clone(), until).is_none()
            }
            PauseNote::File(file) => {
                let text = until.to_string();
                match File::options().write(true).create_new(true).open(file) {
                    Ok(mut file) => {
                        // If this fails, the file stays empty and readers take it for a note in progress.
                        let _ = file.write_all(text.as_bytes());
                        true
                    }
                    Err(e) if e.kind() == ErrorKind::AlreadyExists => {
                        let _ = fs::write(file, text);
                        false
                    }
                    Err(_) => true,
                }
            }
        }
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_millis() as u64)
}

/// The end of a pause that starts after `delay`.
fn later(delay: Duration) -> u64 {
    now() + (PAUSE + delay).as_millis() as u64
}

/// The name of a server's note file.
fn file_name(address: &str) -> String {
    Sha256::digest(address).iter().take(8).fold("server-".to_owned(), |name, byte| format!("{name}{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tile_remote_tests::{Fake, Fault};

    fn server(fake: &Fake, note: PauseNote) -> RemoteStore {
        let address: Address = fake.address().parse().unwrap();
        let server = Arc::new(tile_remote::Server::new(address));
        RemoteStore { address: fake.address(), server, timeout: Duration::from_secs(20), note, missed: false }
    }

    /// A failure is reported once, the server is paused, and then a single caller retries it.
    #[test]
    fn a_server_is_tried_again_after_a_pause() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("note");
        let end = || fs::read_to_string(&file).unwrap().parse::<u64>().unwrap();
        for in_file in [true, false] {
            let fake = Fake::start();
            let note = || if in_file { PauseNote::File(file.clone()) } else { PauseNote::Here(fake.address()) };
            let (one, other) = (server(&fake, note()), server(&fake, note()));
            let name = [3; 32];
            let entry = Entry { messages: Default::default(), output: b"output".to_vec() };
            assert_eq!((one.store(&name, &entry), other.load(&name)), (Ok(()), Ok(Some(entry.clone()))));
            assert_eq!(note().read(), None);

            fake.fail(Fault::Refuses);
            let text = one.load(&name).unwrap_err();
            assert!(text.contains(" cannot be used: PermissionDenied"), "{text}");
            let calls = fake.all_calls();
            // Neither of them calls the server or reports anything.
            assert_eq!((one.load(&name), other.load(&name), one.store(&name, &entry)), (Ok(None), Ok(None), Ok(())));
            assert_eq!(fake.all_calls(), calls);
            // The pause is over: one caller retries without success, and reports nothing more.
            note().write(1);
            assert_eq!(other.load(&name), Ok(None));
            assert!(fake.all_calls() > calls && note().read().unwrap() > now());
            // During the retry, others do not call the server.
            note().write(1);
            let meanwhile = one.ask(|| Ok(note().read().unwrap() > now()));
            assert_eq!((meanwhile, note().read()), (Ok(true), Some(0)));
            fake.fail(Fault::None);
            assert_eq!(other.load(&name), Ok(Some(entry.clone())));
            fake.fail(Fault::WrongBytes);
            assert_eq!((one.load(&name), note().read().unwrap() > now()), (Ok(None), true));
            if in_file {
                assert!(end() > now());
                // An incomplete note counts as a pause.
                fs::write(&file, "").unwrap();
                assert!(note().read().unwrap() > now());
            }
        }
    }

    #[test]
    fn a_note_that_cannot_be_left_is_said_each_time() {
        let nowhere = PauseNote::File("/nonexistent/directory/note".into());
        assert_eq!((nowhere.write(1), nowhere.write(2), nowhere.read()), (true, true, None));
    }
}
