//! Entries on a server of the Remote Execution API.
//!
//! A server may delay a compilation by the patience of its user, once for the look and once for what is kept, and can
//! do it no other harm: what it gives is an entry of the right name, or a miss. One that was of no use is left alone
//! for a while, and then tried again by one who pays for it. That it was of no use is said once: by a process, or, in a
//! batch, where each compilation is a process, by the batch, whose processes leave each other a note.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};
use tile_remote::{Address, Trouble};

use super::{Entry, Name, Remote, Store};
use crate::options::Options;

/// How long a server may delay a compilation, where nothing else is asked for.
const PATIENCE: Duration = Duration::from_secs(1);
/// The most that can be asked for.
const MOST_MILLISECONDS: u64 = 600_000;
/// How long a server is left alone that was of no use.
const PAUSE: Duration = Duration::from_secs(30);

/// The servers that this process knows, by address: a connection serves all compilations.
static SERVERS: Mutex<BTreeMap<String, Arc<tile_remote::Server>>> = Mutex::new(BTreeMap::new());

pub(super) struct Server {
    address: String,
    server: Arc<tile_remote::Server>,
    patience: Duration,
    note: Note,
    /// It was asked already.
    missed: bool,
}

impl Server {
    /// The server that the options name, unless it is to be left alone.
    ///
    /// # Errors
    /// What is wrong with its address, or with the time that it is granted.
    pub(super) fn of(options: &Options) -> Result<Option<Server>, String> {
        let Some(text) = &options.remote_cache else { return Ok(None) };
        let text = text.to_string_lossy();
        let address: Address = text.parse().map_err(|why| format!("the remote cache '{text}' {why}"))?;
        let patience = match &options.remote_cache_timeout {
            None => PATIENCE,
            Some(value) => match value.to_str().and_then(|v| v.parse().ok()) {
                Some(n @ 1..=MOST_MILLISECONDS) => Duration::from_millis(n),
                _ => {
                    let value = value.to_string_lossy();
                    return Err(format!(
                        "the time for the remote cache is a number of milliseconds from 1 to {MOST_MILLISECONDS}, not '{value}'"
                    ));
                }
            },
        };
        if options.remote == Remote::LeftAlone {
            return Ok(None);
        }
        let name = address.to_string();
        let mut servers = SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
        let server = servers.entry(name.clone()).or_insert_with(|| Arc::new(tile_remote::Server::new(address)));
        let note = match std::env::var_os(crate::batch::COMMON) {
            Some(directory) => Note::File(PathBuf::from(directory).join(file_name(&name))),
            None => Note::Here(name.clone()),
        };
        let missed = options.remote == Remote::Missed;
        Ok(Some(Server { address: name, server: server.clone(), patience, note, missed }))
    }

    /// Does `work` with the server, unless it is left alone. Of its troubles the first is an error.
    fn ask<T: Default>(&self, work: impl FnOnce() -> Result<T, Trouble>) -> Result<T, String> {
        let before = self.note.read();
        match before {
            Some(until) if until > now() => return Ok(T::default()),
            // Who tries again keeps others from it.
            Some(until) if until > 0 => _ = self.note.write(later(self.patience)),
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
                Err(format!("the remote cache '{}' {trouble}; compilation goes on without it", self.address))
            }
            Err(_) => Ok(T::default()),
        }
    }
}

impl Store for Server {
    fn load(&self, name: &Name) -> Result<Option<Entry>, String> {
        if self.missed {
            return Ok(None);
        }
        self.ask(|| match self.server.find(name, self.patience)? {
            None => Ok(None),
            Some(bytes) => match Entry::read(name, &bytes) {
                Some(entry) => Ok(Some(entry)),
                None => Err(Trouble::Lies("it gave another entry than it was asked for".into())),
            },
        })
    }

    fn store(&self, name: &Name, entry: &Entry) -> Result<(), String> {
        self.ask(|| self.server.keep(name, entry.bytes(name), self.patience))
    }
}

/// Until when a server is left alone, in milliseconds of the epoch; zero once it was of use again. There is none before
/// the first trouble.
enum Note {
    /// In this process, by address.
    Here(String),
    /// In a file that the processes of a batch have in common.
    File(PathBuf),
}

static NOTES: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

impl Note {
    fn read(&self) -> Option<u64> {
        match self {
            Note::Here(address) => NOTES.lock().unwrap_or_else(PoisonError::into_inner).get(address).copied(),
            // One that is just being written says that there is trouble.
            Note::File(file) => fs::read_to_string(file).ok().map(|text| text.parse().unwrap_or(later(Duration::ZERO))),
        }
    }

    /// Whether this is the first note.
    fn write(&self, until: u64) -> bool {
        match self {
            Note::Here(address) => {
                let mut notes = NOTES.lock().unwrap_or_else(PoisonError::into_inner);
                notes.insert(address.clone(), until).is_none()
            }
            Note::File(file) => {
                let text = until.to_string();
                match File::options().write(true).create_new(true).open(file) {
                    Ok(mut file) => {
                        // A note that cannot be written is one that is being written.
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

/// The end of a pause that begins after `delay`.
fn later(delay: Duration) -> u64 {
    now() + (PAUSE + delay).as_millis() as u64
}

/// The file of a note about a server.
fn file_name(address: &str) -> String {
    Sha256::digest(address).iter().take(8).fold("server-".to_owned(), |name, byte| format!("{name}{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tile_remote_tests::{Fake, Fault};

    fn server(fake: &Fake, note: Note) -> Server {
        let address: Address = fake.address().parse().unwrap();
        let server = Arc::new(tile_remote::Server::new(address));
        Server { address: fake.address(), server, patience: Duration::from_secs(20), note, missed: false }
    }

    /// Trouble is said once, the server left alone for a pause, and then tried by one alone.
    #[test]
    fn a_server_is_tried_again_after_a_pause() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("note");
        let end = || fs::read_to_string(&file).unwrap().parse::<u64>().unwrap();
        for in_file in [true, false] {
            let fake = Fake::start();
            let note = || if in_file { Note::File(file.clone()) } else { Note::Here(fake.address()) };
            let (one, other) = (server(&fake, note()), server(&fake, note()));
            let name = [3; 32];
            let entry = Entry { messages: Default::default(), output: b"output".to_vec() };
            assert_eq!((one.store(&name, &entry), other.load(&name)), (Ok(()), Ok(Some(entry.clone()))));
            assert_eq!(note().read(), None);

            fake.fail(Fault::Refuses);
            let text = one.load(&name).unwrap_err();
            assert!(text.contains(" refuses: PermissionDenied"), "{text}");
            let calls = fake.all_calls();
            // Neither of them asks again, or says anything.
            assert_eq!((one.load(&name), other.load(&name), one.store(&name, &entry)), (Ok(None), Ok(None), Ok(())));
            assert_eq!(fake.all_calls(), calls);
            // The pause is over: one tries in vain, and says nothing more.
            note().write(1);
            assert_eq!(other.load(&name), Ok(None));
            assert!(fake.all_calls() > calls && note().read().unwrap() > now());
            // While one tries, others do not.
            note().write(1);
            let meanwhile = one.ask(|| Ok(note().read().unwrap() > now()));
            assert_eq!((meanwhile, note().read()), (Ok(true), Some(0)));
            fake.fail(Fault::None);
            assert_eq!(other.load(&name), Ok(Some(entry.clone())));
            fake.fail(Fault::WrongBytes);
            assert_eq!((one.load(&name), note().read().unwrap() > now()), (Ok(None), true));
            if in_file {
                assert!(end() > now());
                // A note that is being written keeps others away.
                fs::write(&file, "").unwrap();
                assert!(note().read().unwrap() > now());
            }
        }
    }

    #[test]
    fn a_note_that_cannot_be_left_is_said_each_time() {
        let nowhere = Note::File("/nonexistent/directory/note".into());
        assert_eq!((nowhere.write(1), nowhere.write(2), nowhere.read()), (true, true, None));
    }
}
