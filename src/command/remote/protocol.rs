//! The calls of the protocol. Each is cancelled when the caller stops waiting.

use std::fmt::Write;

use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
use bazel_remote_apis::google::bytestream::{ReadRequest, WriteRequest, byte_stream_client::ByteStreamClient};
use prost::Message;
use sha2::{Digest, Sha256};
use tokio::sync::OnceCell;
use tonic::codegen::tokio_stream;
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Status};

use api::action_cache_client::ActionCacheClient;
use api::capabilities_client::CapabilitiesClient;
use api::content_addressable_storage_client::ContentAddressableStorageClient;

use crate::{Address, Answer, CallError, Key, LARGEST, Request};

/// The name of the output file of every action.
const FILE: &str = "entry";
/// The maximum number of bytes in a message, unless the server's limit is lower. gRPC rejects messages of 4 MiB.
const BATCH: u64 = 2 << 20;
/// The number of bytes in a chunk of a stream.
const PIECE: usize = 256 << 10;

/// A connection that is established on first use, and again after it breaks.
pub struct Connection {
    channel: Channel,
    instance: String,
    limits: OnceCell<Limits>,
}

/// The limits that a server announces.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// Total bytes of blobs in one message.
    batch: u64,
    /// Bytes in a blob.
    blob: u64,
    writable: bool,
}

impl Connection {
    pub fn new(address: &Address) -> Result<Connection, CallError> {
        let wrong = |e: tonic::transport::Error| CallError::Unreachable(innermost(&e));
        let mut endpoint = Endpoint::from_shared(address.uri()).map_err(wrong)?.tcp_nodelay(true);
        if address.is_secure() {
            endpoint = endpoint.tls_config(ClientTlsConfig::new().with_native_roots()).map_err(wrong)?;
        }
        let channel = endpoint.connect_lazy();
        Ok(Connection { channel, instance: address.instance().to_owned(), limits: OnceCell::new() })
    }

    pub async fn answer(&self, request: &Request) -> Answer {
        match request {
            Request::Find(key) => self.find(key).await,
            Request::Keep(key, blob) => self.keep(key, blob).await.map(|()| None),
        }
    }

    fn storage(&self) -> ContentAddressableStorageClient<Channel> {
        ContentAddressableStorageClient::new(self.channel.clone())
    }

    /// The prefix of blob names in streams.
    fn prefix(&self) -> String {
        if self.instance.is_empty() { String::new() } else { format!("{}/", self.instance) }
    }

    /// The server's limits, requested once.
    async fn limits(&self) -> Result<Limits, CallError> {
        self.limits.get_or_try_init(|| self.ask_for_limits()).await.copied()
    }

    async fn ask_for_limits(&self) -> Result<Limits, CallError> {
        let request = api::GetCapabilitiesRequest { instance_name: self.instance.clone() };
        let capabilities = match CapabilitiesClient::new(self.channel.clone()).get_capabilities(request).await {
            Ok(answer) => answer.into_inner().cache_capabilities,
            // The oldest servers lack this call.
            Err(status) if status.code() == Code::Unimplemented => Some(api::CacheCapabilities::default()),
            Err(status) => return Err(call_error(&status)),
        };
        let cache = capabilities.ok_or_else(|| CallError::Unusable("the server has no cache".into()))?;
        if !cache.digest_functions.is_empty() && !cache.digest_functions.contains(&SHA256) {
            return Err(CallError::Unusable("the server does not support SHA-256 digests".into()));
        }
        let bound = |announced: i64, most: u64| match u64::try_from(announced) {
            Ok(n @ 1..) => n.min(most),
            _ => most,
        };
        Ok(Limits {
            batch: bound(cache.max_batch_total_size_bytes, BATCH),
            blob: bound(cache.max_cas_blob_size_bytes, LARGEST),
            writable: cache.action_cache_update_capabilities.is_none_or(|update| update.update_enabled),
        })
    }

    async fn find(&self, key: &Key) -> Answer {
        let request = api::GetActionResultRequest {
            instance_name: self.instance.clone(),
            action_digest: Some(Action::of(key).digest),
            inline_output_files: vec![FILE.into()],
            digest_function: SHA256,
            ..Default::default()
        };
        let mut actions = ActionCacheClient::new(self.channel.clone());
        let (limits, result) = tokio::join!(self.limits(), actions.get_action_result(request));
        let result = match result {
            Ok(result) => result.into_inner(),
            Err(status) if status.code() == Code::NotFound => return limits.map(|_| None),
            Err(status) => return Err(call_error(&status)),
        };
        let untrusted = |text: &str| CallError::Untrusted(text.to_owned());
        let file = result.output_files.into_iter().find(|f| f.path == FILE);
        let file = file.ok_or_else(|| untrusted("its result does not contain the entry"))?;
        let digest = file.digest.ok_or_else(|| untrusted("its entry lacks a digest"))?;
        let size = u64::try_from(digest.size_bytes).ok().filter(|size| *size <= LARGEST);
        let size =
            size.ok_or_else(|| CallError::Untrusted(format!("its entry has a size of {} bytes", digest.size_bytes)))?;
        if digest.hash.len() != 64 || digest.hash.bytes().any(|b| !matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(untrusted("the digest of its entry is malformed"));
        }
        let blob = if !file.contents.is_empty() {
            Some(file.contents)
        } else if size <= limits?.batch {
            self.read_batch(&digest).await?
        } else {
            self.read_stream(&digest, size).await?
        };
        let Some(blob) = blob else { return Ok(None) };
        if blob.len() as u64 != size {
            return Err(CallError::Untrusted(format!("it sent {} bytes instead of {size}", blob.len())));
        }
        if hash(&blob) != digest.hash {
            return Err(untrusted("its entry does not match the digest"));
        }
        Ok(Some(blob))
    }

    async fn read_batch(&self, digest: &api::Digest) -> Answer {
        let request = api::BatchReadBlobsRequest {
            instance_name: self.instance.clone(),
            digests: vec![digest.clone()],
            digest_function: SHA256,
            ..Default::default()
        };
        let answer = self.storage().batch_read_blobs(request).await.map_err(|s| call_error(&s))?.into_inner();
        let blob = answer.responses.into_iter().find(|r| r.digest.as_ref() == Some(digest));
        let blob =
            blob.ok_or_else(|| CallError::Untrusted("it returned other blobs than the requested ones".into()))?;
        match Code::from(blob.status.as_ref().map_or(0, |s| s.code)) {
            Code::Ok => Ok(Some(blob.data)),
            Code::NotFound => Ok(None),
            code => Err(unusable(code, &blob.status.unwrap_or_default().message)),
        }
    }

    async fn read_stream(&self, digest: &api::Digest, size: u64) -> Answer {
        let resource_name = format!("{}blobs/{}/{}", self.prefix(), digest.hash, digest.size_bytes);
        let request = ReadRequest { resource_name, read_offset: 0, read_limit: 0 };
        let mut client = ByteStreamClient::new(self.channel.clone());
        let mut pieces = match client.read(request).await {
            Ok(answer) => answer.into_inner(),
            Err(status) if status.code() == Code::NotFound => return Ok(None),
            Err(status) => return Err(call_error(&status)),
        };
        let mut blob = Vec::new();
        loop {
            match pieces.message().await {
                Ok(Some(piece)) => blob.extend(piece.data),
                Ok(None) => return Ok(Some(blob)),
                Err(status) if status.code() == Code::NotFound => return Ok(None),
                Err(status) => return Err(call_error(&status)),
            }
            if blob.len() as u64 > size {
                return Err(CallError::Untrusted(format!("it sent more than the announced {size} bytes")));
            }
        }
    }

    async fn keep(&self, key: &Key, blob: &[u8]) -> Result<(), CallError> {
        let limits = self.limits().await?;
        let size = blob.len() as u64;
        if !limits.writable || size > limits.blob {
            return Ok(());
        }
        let action = Action::of(key);
        let entry = digest_of(blob);
        let blobs: Vec<(api::Digest, &[u8])> = vec![
            (entry.clone(), blob),
            (action.command_digest.clone(), &action.command),
            (action.digest.clone(), &action.bytes),
            // The input directory, which is empty.
            (digest_of(&[]), &[]),
        ];
        let request = api::FindMissingBlobsRequest {
            instance_name: self.instance.clone(),
            blob_digests: blobs.iter().map(|(digest, _)| digest.clone()).collect(),
            digest_function: SHA256,
        };
        let missing = self.storage().find_missing_blobs(request).await.map_err(|s| call_error(&s))?.into_inner();
        let missing = missing.missing_blob_digests;
        let (small, large): (Vec<_>, Vec<_>) = blobs
            .into_iter()
            .filter(|(digest, _)| missing.contains(digest))
            .partition(|(_, bytes)| bytes.len() as u64 <= limits.batch / 2);
        for (digest, bytes) in large {
            self.write_stream(&digest, bytes).await?;
        }
        if !small.is_empty() {
            self.write_batch(small).await?;
        }
        let file = api::OutputFile { path: FILE.into(), digest: Some(entry), ..Default::default() };
        let request = api::UpdateActionResultRequest {
            instance_name: self.instance.clone(),
            action_digest: Some(action.digest),
            action_result: Some(api::ActionResult { output_files: vec![file], ..Default::default() }),
            digest_function: SHA256,
            ..Default::default()
        };
        let mut actions = ActionCacheClient::new(self.channel.clone());
        actions.update_action_result(request).await.map(|_| ()).map_err(|s| call_error(&s))
    }

    async fn write_batch(&self, blobs: Vec<(api::Digest, &[u8])>) -> Result<(), CallError> {
        let requests = blobs.into_iter().map(|(digest, bytes)| api::batch_update_blobs_request::Request {
            digest: Some(digest),
            data: bytes.to_vec(),
            ..Default::default()
        });
        let request = api::BatchUpdateBlobsRequest {
            instance_name: self.instance.clone(),
            requests: requests.collect(),
            digest_function: SHA256,
        };
        let answer = self.storage().batch_update_blobs(request).await.map_err(|s| call_error(&s))?.into_inner();
        match answer.responses.into_iter().filter_map(|r| r.status).find(|s| s.code != 0) {
            Some(status) => Err(unusable(status.code.into(), &status.message)),
            None => Ok(()),
        }
    }

    async fn write_stream(&self, digest: &api::Digest, bytes: &[u8]) -> Result<(), CallError> {
        let upload = uuid::Uuid::new_v4();
        let name = format!("{}uploads/{upload}/blobs/{}/{}", self.prefix(), digest.hash, digest.size_bytes);
        let count = bytes.len().div_ceil(PIECE);
        let pieces: Vec<WriteRequest> = bytes
            .chunks(PIECE)
            .enumerate()
            .map(|(n, piece)| WriteRequest {
                // Only the first chunk needs the name.
                resource_name: if n == 0 { name.clone() } else { String::new() },
                write_offset: (n * PIECE) as i64,
                finish_write: n + 1 == count,
                data: piece.to_vec(),
            })
            .collect();
        let mut client = ByteStreamClient::new(self.channel.clone());
        let written = client.write(tokio_stream::iter(pieces)).await.map_err(|s| call_error(&s))?.into_inner();
        match written.committed_size {
            // -1: the blob already existed, in compressed form.
            -1 => Ok(()),
            n if n == digest.size_bytes => Ok(()),
            n => Err(CallError::Untrusted(format!("it accepted {n} of {} bytes", digest.size_bytes))),
        }
    }
}

const SHA256: i32 = api::digest_function::Value::Sha256 as i32;

/// The action of a key, with its command.
struct Action {
    command: Vec<u8>,
    command_digest: api::Digest,
    bytes: Vec<u8>,
    digest: api::Digest,
}

impl Action {
    fn of(key: &Key) -> Action {
        #[expect(deprecated, reason = "servers before version 2.1 of the protocol know the older name of outputs")]
        let command = api::Command {
            arguments: vec!["tileiras".into(), format!("--cache-entry={}", hex(key))],
            output_files: vec![FILE.into()],
            output_paths: vec![FILE.into()],
            ..Default::default()
        };
        let command = command.encode_to_vec();
        let command_digest = digest_of(&command);
        let action = api::Action {
            command_digest: Some(command_digest.clone()),
            input_root_digest: Some(digest_of(&[])),
            ..Default::default()
        };
        let bytes = action.encode_to_vec();
        Action { command, command_digest, digest: digest_of(&bytes), bytes }
    }
}

fn digest_of(bytes: &[u8]) -> api::Digest {
    api::Digest { hash: hash(bytes), size_bytes: bytes.len() as i64 }
}

fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Interprets the status of a failed call.
fn call_error(status: &Status) -> CallError {
    match status.code() {
        // The client itself also uses these codes when a connection breaks.
        Code::Unavailable | Code::Unknown | Code::Internal | Code::Cancelled => {
            CallError::Unreachable(if std::error::Error::source(status).is_some() {
                innermost(status)
            } else {
                shortened(status.message())
            })
        }
        code => unusable(code, status.message()),
    }
}

fn unusable(code: Code, message: &str) -> CallError {
    let what = format!("{code:?}");
    CallError::Unusable(if message.is_empty() { what } else { format!("{what}: {}", shortened(message)) })
}

/// The root cause of an error.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    let text = cause.to_string();
    // Remove the number that Rust appends to the system's message.
    shortened(text.rfind(" (os error ").map_or(text.as_str(), |at| &text[..at]))
}

/// The first line of a server's message, with bounded length and without control characters.
fn shortened(text: &str) -> String {
    const MOST: usize = 200;
    let line = text.lines().next().unwrap_or_default();
    let start = line.chars().take(MOST).map(|c| if c.is_control() { '?' } else { c });
    start.chain(line.chars().nth(MOST).into_iter().flat_map(|_| "...".chars())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The action of a key must never change: a change would invalidate all caches. The expected digest was computed
    /// by another program from the definition of the protocol.
    #[test]
    fn the_action_of_a_key_stays() {
        let action = Action::of(&[0xab; 32]);
        assert_eq!(action.digest.size_bytes, 138);
        assert_eq!(action.digest.hash, "beda894d3403a4c1adb4a7174ad9d9088a7ea320c1f5de98d53f2406e9f12491");
        assert_ne!(Action::of(&[0xac; 32]).digest, action.digest);
    }

    #[test]
    fn words_of_servers_are_cut() {
        let CallError::Unusable(text) = unusable(Code::InvalidArgument, &"é".repeat(1000)) else {
            panic!("an error of the server")
        };
        assert_eq!(text, format!("InvalidArgument: {}...", "é".repeat(200)));
        assert_eq!(unusable(Code::NotFound, ""), CallError::Unusable("NotFound".into()));
        assert_eq!(call_error(&Status::unavailable("gone\nfor ever")), CallError::Unreachable("gone".into()));
    }
}
