//! Blobs by key on a server of the Remote Execution API, version 2: what Bazel and BuildStream keep their caches on.
//!
//! The server may be slow, absent, broken or hostile, and the caller has something better to do than to wait for it.
//! So [`Server::find`] and [`Server::keep`] return within the time that the caller grants, whatever the server does,
//! and a blob is given out only if it has the digest by which the server names it. That it is the blob which belongs to
//! the key is for the caller to check: nobody else knows what is in it.
//!
//! # How a key becomes an action
//!
//! The API maps digests of actions to results, and digests of blobs to bytes. The action of a key is
//! `tileiras --cache-entry=KEY` without inputs, its result one file, `entry`, which is the blob. Action and command are
//! uploaded too, as the protocol demands, and tell people who look through a server whose entries these are.
//!
//! # Threads
//!
//! A [`Server`] has a thread from its first call on, which owns the connection. The caller waits for its answer, and
//! only that long, so nothing that blocks there, such as a resolver of names, blocks the caller. After a `fork` the
//! child makes a thread and a connection of its own.

#![deny(unsafe_code)]

mod address;
mod protocol;

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub use address::Address;
use protocol::Connection;

/// What a blob is kept under: a digest of everything that it depends on.
pub type Key = [u8; 32];

/// Bytes of the largest blob.
pub const LARGEST: u64 = 1 << 30;

/// Why a server was of no use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// No connection, or one that broke.
    #[error("cannot be reached: {0}")]
    Unreachable(String),
    /// The time that was granted is over.
    #[error("did not answer within {} ms", .0.as_millis())]
    Slow(Duration),
    /// It speaks the protocol, and says no.
    #[error("refuses: {0}")]
    Refuses(String),
    /// What it says cannot be true.
    #[error("cannot be trusted: {0}")]
    Lies(String),
}

/// A server, reached when it is first needed.
#[derive(Debug)]
pub struct Server {
    address: Address,
    worker: Mutex<Option<Worker>>,
}

/// The way to the thread that owns the connection.
#[derive(Debug, Clone)]
struct Worker {
    /// The process that has the thread.
    process: u32,
    jobs: UnboundedSender<Job>,
}

/// What a server is asked for.
enum Request {
    Find(Key),
    Keep(Key, Vec<u8>),
}

/// `None` is a miss; for [`Request::Keep`] it is all there is to say.
type Answer = Result<Option<Vec<u8>>, Trouble>;

struct Job {
    request: Request,
    deadline: Instant,
    patience: Duration,
    answer: mpsc::SyncSender<Answer>,
}

impl Server {
    /// Does nothing yet.
    pub fn new(address: Address) -> Server {
        Server { address, worker: Mutex::new(None) }
    }

    /// The blob that is kept under `key`; `None` if there is none, or no longer.
    ///
    /// # Errors
    /// Why the server was of no use, after `patience` at the latest.
    pub fn find(&self, key: &Key, patience: Duration) -> Answer {
        self.ask(Request::Find(*key), patience)
    }

    /// Keeps a blob. Where the server lets nobody write, or no blobs of this size, nothing is done.
    ///
    /// # Errors
    /// Why the server was of no use, after `patience` at the latest. The blob may be there all the same, or later.
    pub fn keep(&self, key: &Key, blob: Vec<u8>, patience: Duration) -> Result<(), Trouble> {
        self.ask(Request::Keep(*key, blob), patience).map(|_| ())
    }

    fn ask(&self, request: Request, patience: Duration) -> Answer {
        let deadline = Instant::now() + patience;
        let (answer, inbox) = mpsc::sync_channel(1);
        let lost = || Trouble::Unreachable("the thread of the connection has ended".into());
        self.worker()?.jobs.send(Job { request, deadline, patience, answer }).map_err(|_| lost())?;
        match inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(answer) => answer,
            Err(mpsc::RecvTimeoutError::Timeout) => Err(Trouble::Slow(patience)),
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(lost()),
        }
    }

    fn worker(&self) -> Result<Worker, Trouble> {
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
            .map_err(|e| Trouble::Unreachable(format!("no thread for the connection: {e}")))?;
        Ok(worker.insert(Worker { process, jobs }).clone())
    }
}

/// Answers jobs until nobody can send any.
fn serve(address: &Address, mut jobs: UnboundedReceiver<Job>) {
    // Who waits is told by the end of the channel.
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build() else { return };
    runtime.block_on(async {
        let connection = Connection::new(address).map(Arc::new);
        while let Some(Job { request, deadline, patience, answer }) = jobs.recv().await {
            let connection = connection.clone();
            tokio::spawn(async move {
                let work = async {
                    let connection = connection?;
                    match connection.answer(&request).await {
                        // A connection that was left idle may be gone, and its server still there.
                        Err(Trouble::Unreachable(_)) => connection.answer(&request).await,
                        answer => answer,
                    }
                };
                let done = tokio::time::timeout_at(deadline.into(), work).await;
                // Nobody listens after the deadline.
                let _ = answer.send(done.unwrap_or(Err(Trouble::Slow(patience))));
            });
        }
    });
    // A resolver of names that hangs must not hold this thread.
    runtime.shutdown_background();
}
