//! A client of the Remote Execution API, version 2, on which Bazel and BuildStream build their caches. Stores blobs
//! by key.
//!
//! The server may be slow, absent, faulty or malicious, and a compilation must not wait for it. [`Server::find`] and
//! [`Server::keep`] therefore return within the time limit of the caller, whatever the server does. A blob is
//! returned only if it matches the digest that the server gives for it. The caller must check that the blob belongs
//! to the key, because only the caller knows the contents.
//!
//! # Actions
//!
//! The API maps digests of actions to results, and digests of blobs to bytes. The action of a key is `tileiras
//! --cache-entry=KEY` without inputs. Its result is one file, `entry`, which is the blob. The protocol requires
//! action and command to be uploaded too; they also show people who inspect a server which entries belong to
//! tileiras.
//!
//! # Threads
//!
//! The first call of a [`Server`] starts a thread that owns the connection. The caller waits for an answer of that
//! thread only until its time limit, so a blocking operation there, such as a name lookup, does not block the caller.
//! After a `fork` the child starts its own thread and connection.

#![deny(unsafe_code)]

mod address;
mod protocol;

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub use address::Address;
use protocol::Connection;

/// The key of a blob: a digest of everything that the blob depends on.
pub type Key = [u8; 32];

/// The maximum size of a blob in bytes.
pub const LARGEST: u64 = 1 << 30;

/// The reason why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// There is no connection, or it broke.
    #[error("cannot be reached: {0}")]
    Unreachable(String),
    /// The time limit has expired.
    #[error("did not answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// The server returned an error, or lacks a feature that is needed.
    #[error("cannot be used: {0}")]
    Unusable(String),
    /// The answer violates the protocol or is inconsistent.
    #[error("cannot be trusted: {0}")]
    Untrusted(String),
}

/// A server. Connects on first use.
#[derive(Debug)]
pub struct Server {
    address: Address,
    worker: Mutex<Option<Worker>>,
}

/// A handle to the thread that owns the connection.
#[derive(Debug, Clone)]
struct Worker {
    /// The process in which the thread runs.
    process: u32,
    jobs: UnboundedSender<Job>,
}

/// A request to a server.
enum Request {
    Find(Key),
    Keep(Key, Vec<u8>),
}

/// `None` is a miss, or the success of [`Request::Keep`].
type Answer = Result<Option<Vec<u8>>, CallError>;

struct Job {
    request: Request,
    deadline: Instant,
    timeout: Duration,
    answer: mpsc::SyncSender<Answer>,
}

impl Server {
    /// Creates a server without connecting to it.
    pub fn new(address: Address) -> Server {
        Server { address, worker: Mutex::new(None) }
    }

    /// Returns the blob of `key`, or `None` if the server does not have it.
    ///
    /// # Errors
    /// The call failed, or took longer than `timeout`.
    pub fn find(&self, key: &Key, timeout: Duration) -> Answer {
        self.ask(Request::Find(*key), timeout)
    }

    /// Stores a blob. Does nothing if the server is read-only or does not accept blobs of this size.
    ///
    /// # Errors
    /// The call failed, or took longer than `timeout`. The blob may still have been stored, or may be stored later.
    pub fn keep(&self, key: &Key, blob: Vec<u8>, timeout: Duration) -> Result<(), CallError> {
        self.ask(Request::Keep(*key, blob), timeout).map(|_| ())
    }

    fn ask(&self, request: Request, timeout: Duration) -> Answer {
        let deadline = Instant::now() + timeout;
        let (answer, inbox) = mpsc::sync_channel(1);
        let lost = || CallError::Unreachable("the thread of the connection has ended".into());
        self.worker()?.jobs.send(Job { request, deadline, timeout, answer }).map_err(|_| lost())?;
        match inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(answer) => answer,
            Err(mpsc::RecvTimeoutError::Timeout) => Err(CallError::TimedOut(timeout)),
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(lost()),
        }
    }

    fn worker(&self) -> Result<Worker, CallError> {
        let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        if let Some(worker) = worker.as_ref().filter(|w| w.process == process && !w.jobs.is_closed()) {
            return Ok(worker.clone());
        }
        let (jobs, inbox) = unbounded_channel();
        let address = self.address.clone();
        std::thread::Builder::new()
            .name("tile-remote".into())
            .spawn(move || serve(&address, inbox))
            .map_err(|e| CallError::Unreachable(format!("no thread for the connection: {e}")))?;
        Ok(worker.insert(Worker { process, jobs }).clone())
    }
}

/// Answers jobs until all senders are dropped.
fn serve(address: &Address, mut jobs: UnboundedReceiver<Job>) {
    // Waiting callers notice that their channel is closed.
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build() else { return };
    runtime.block_on(async {
        let connection = Connection::new(address).map(Arc::new);
        while let Some(Job { request, deadline, timeout, answer }) = jobs.recv().await {
            let connection = connection.clone();
            tokio::spawn(async move {
                let work = async {
                    let connection = connection?;
                    match connection.answer(&request).await {
                        // The server may have closed an idle connection: retry once.
                        Err(CallError::Unreachable(_)) => connection.answer(&request).await,
                        answer => answer,
                    }
                };
                let done = tokio::time::timeout_at(deadline.into(), work).await;
                // After the deadline the receiver is gone.
                let _ = answer.send(done.unwrap_or(Err(CallError::TimedOut(timeout))));
            });
        }
    });
    // A blocked name lookup must not block this thread.
    runtime.shutdown_background();
}
