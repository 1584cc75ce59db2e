//! Settings that the caches, the options and the compiler in a child process share.

/// The environment variable that names a remote cache.
pub const REMOTE_CACHE: &str = "TILEIRAS_REMOTE_CACHE";

/// How to use the remote cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RemoteUse {
    #[default]
    Full,
    /// Do not look up: the entry is known to be missing.
    StoreOnly,
    /// Do not use: a call failed a moment ago.
    Off,
}
