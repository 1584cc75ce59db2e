//! An in-memory server of the Remote Execution API, version 2, with faults on demand.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bazel_remote_apis::build::bazel::{remote::execution::v2 as api, semver::SemVer};
use bazel_remote_apis::google::bytestream::{self, byte_stream_server as streams};
use bazel_remote_apis::google::rpc;
use sha2::{Digest, Sha256};
use tokio::runtime::Runtime;
use tonic::codegen::tokio_stream::{self, Stream};
use tonic::transport::server::{Server, TcpIncoming};
use tonic::transport::{Identity, ServerTlsConfig};
use tonic::{Request, Response, Status, Streaming};

use api::action_cache_server::{ActionCache, ActionCacheServer};
use api::capabilities_server::{Capabilities, CapabilitiesServer};
use api::content_addressable_storage_server::{ContentAddressableStorage, ContentAddressableStorageServer};

/// The fault of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    /// Each answer takes this long.
    Slow(Duration),
    /// One bit of every blob is flipped.
    WrongBytes,
    /// Every blob lacks its last byte.
    Truncated,
    /// Every blob has an extra byte.
    TooLong,
    /// Results contain the digest of other bytes, which are returned.
    OtherEntry,
    /// Results contain malformed digests.
    WrongDigest,
    /// Results announce this size.
    Size(i64),
    /// Results lack the entry.
    NoEntry,
    /// Results exist, but their blobs do not.
    LostBlobs,
    /// Answers are about blobs that were not requested.
    OtherBlobs,
    /// Streams break in the middle, with the connection and the server.
    Dies,
    /// Streams never send anything and never end.
    Endless,
    /// Every call is rejected, with a message that contains terminal control sequences.
    Refuses,
    /// The server announces that it is read-only.
    ReadOnly,
    /// The server does not support SHA-256 digests.
    OtherDigests,
    /// The server does not implement the capabilities call.
    Old,
}

#[derive(Debug)]
struct State {
    fault: Fault,
    blobs: BTreeMap<String, Vec<u8>>,
    results: BTreeMap<String, api::ActionResult>,
    /// The number of calls by name.
    calls: BTreeMap<&'static str, usize>,
    /// The instances used by clients.
    instances: BTreeSet<String>,
    /// The limit on bytes of blobs in one message. Zero: no limit.
    batch: i64,
    inlines: bool,
}

impl Default for State {
    fn default() -> State {
        State {
            fault: Fault::None,
            blobs: BTreeMap::new(),
            results: BTreeMap::new(),
            calls: BTreeMap::new(),
            instances: BTreeSet::new(),
            batch: 4 << 20,
            inlines: false,
        }
    }
}

type Shared = Arc<Mutex<State>>;

const ANY_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A running server. Dropping it closes all connections.
pub struct Fake {
    address: SocketAddr,
    state: Shared,
    runtime: Option<Runtime>,
    certificate: Option<String>,
}

impl Fake {
    /// Starts an empty server without faults on a free local port.
    pub fn start() -> Fake {
        Fake::serve(ANY_PORT, Arc::default(), None).expect("a free port")
    }

    /// Like [`Fake::start`], with a certificate for `localhost`.
    pub fn start_secure() -> Fake {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        let identity = (made.cert.pem(), made.signing_key.serialize_pem());
        Fake::serve(ANY_PORT, Arc::default(), Some(identity)).expect("a free port")
    }

    fn serve(address: SocketAddr, state: Shared, identity: Option<(String, String)>) -> std::io::Result<Fake> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let incoming = {
            let _within = runtime.enter();
            TcpIncoming::bind(address)?.with_nodelay(Some(true))
        };
        let address = incoming.local_addr()?;
        let service = Service { state: state.clone() };
        let mut server = Server::builder();
        let certificate = identity.as_ref().map(|(certificate, _)| certificate.clone());
        if let Some((certificate, key)) = identity {
            let config = ServerTlsConfig::new().identity(Identity::from_pem(certificate, key));
            server = server.tls_config(config).map_err(std::io::Error::other)?;
        }
        let router = server
            .add_service(CapabilitiesServer::new(service.clone()))
            .add_service(ActionCacheServer::new(service.clone()))
            .add_service(ContentAddressableStorageServer::new(service.clone()))
            .add_service(streams::ByteStreamServer::new(service));
        runtime.spawn(router.serve_with_incoming(incoming));
        Ok(Fake { address, state, runtime: Some(runtime), certificate })
    }

    /// `grpc://host:port`.
    pub fn address(&self) -> String {
        match self.certificate {
            Some(_) => format!("grpcs://localhost:{}", self.address.port()),
            None => format!("grpc://{}", self.address),
        }
    }

    /// The certificate in PEM form.
    pub fn certificate(&self) -> Option<&str> {
        self.certificate.as_deref()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub fn fail(&self, fault: Fault) {
        self.state().fault = fault;
    }

    /// Inlines blobs in small results if the client requests it.
    pub fn inline(&self) {
        self.state().inlines = true;
    }

    /// Sets the announced limit on bytes of blobs in one message.
    pub fn limit_batches(&self, bytes: i64) {
        self.state().batch = bytes;
    }

    /// The number of stored results.
    pub fn results(&self) -> usize {
        self.state().results.len()
    }

    /// The number of calls with this protocol name.
    pub fn calls(&self, name: &str) -> usize {
        self.state().calls.get(name).copied().unwrap_or_default()
    }

    /// The total number of calls.
    pub fn all_calls(&self) -> usize {
        self.state().calls.values().sum()
    }

    /// The instances used by clients.
    pub fn instances(&self) -> Vec<String> {
        self.state().instances.iter().cloned().collect()
    }

    /// Changes the entry of all results.
    pub fn replace_entries(&self, bytes: &[u8]) {
        let digest = digest_of(bytes);
        let mut state = self.state();
        state.blobs.insert(digest.hash.clone(), bytes.to_vec());
        let files = state.results.values_mut().flat_map(|r| &mut r.output_files);
        files.for_each(|file| file.digest = Some(digest.clone()));
    }

    /// Closes all connections and rejects new ones.
    pub fn kill(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(5));
        }
    }

    /// Serves on the old port again, with the stored data.
    pub fn revive(&mut self) {
        self.kill();
        // A connection that is being closed may hold the port for a moment.
        for _ in 0..100 {
            if let Ok(mut fake) = Fake::serve(self.address, self.state.clone(), None) {
                self.runtime = fake.runtime.take();
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("the port {} stays taken", self.address.port());
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.kill();
    }
}

fn lock(state: &Shared) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn digest_of(bytes: &[u8]) -> api::Digest {
    let hash = Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect();
    api::Digest { hash, size_bytes: bytes.len() as i64 }
}

#[derive(Debug, Clone)]
struct Service {
    state: Shared,
}

type Answer<T> = Result<Response<T>, Status>;
type Pieces<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

impl Service {
    /// Counts a call, and applies the faults that are common to all calls.
    async fn enter(&self, call: &'static str, instance: &str) -> Result<Fault, Status> {
        let fault = {
            let mut state = lock(&self.state);
            *state.calls.entry(call).or_default() += 1;
            state.instances.insert(instance.to_owned());
            state.fault
        };
        match fault {
            Fault::Slow(delay) => tokio::time::sleep(delay).await,
            Fault::Refuses => return Err(Status::permission_denied("not you\u{1b}[31m\nnor anybody ".repeat(50))),
            _ => {}
        }
        Ok(fault)
    }

    fn blob(&self, hash: &str, fault: Fault) -> Option<Vec<u8>> {
        let mut blob = lock(&self.state).blobs.get(hash).cloned()?;
        match fault {
            Fault::LostBlobs => return None,
            Fault::WrongBytes => {
                if let Some(byte) = blob.last_mut() {
                    *byte ^= 1;
                }
            }
            Fault::Truncated => {
                blob.pop();
            }
            Fault::TooLong => blob.push(0),
            _ => {}
        }
        Some(blob)
    }
}

#[tonic::async_trait]
impl Capabilities for Service {
    async fn get_capabilities(&self, request: Request<api::GetCapabilitiesRequest>) -> Answer<api::ServerCapabilities> {
        let fault = self.enter("GetCapabilities", &request.get_ref().instance_name).await?;
        if fault == Fault::Old {
            return Err(Status::unimplemented(""));
        }
        let function = match fault {
            Fault::OtherDigests => api::digest_function::Value::Blake3,
            _ => api::digest_function::Value::Sha256,
        };
        let cache = api::CacheCapabilities {
            digest_functions: vec![function.into()],
            action_cache_update_capabilities: Some(api::ActionCacheUpdateCapabilities {
                update_enabled: fault != Fault::ReadOnly,
            }),
            max_batch_total_size_bytes: lock(&self.state).batch,
            ..Default::default()
        };
        Ok(Response::new(api::ServerCapabilities {
            cache_capabilities: Some(cache),
            low_api_version: Some(SemVer { major: 2, ..Default::default() }),
            high_api_version: Some(SemVer { major: 2, minor: 3, ..Default::default() }),
            ..Default::default()
        }))
    }
}

#[tonic::async_trait]
impl ActionCache for Service {
    async fn get_action_result(&self, request: Request<api::GetActionResultRequest>) -> Answer<api::ActionResult> {
        let request = request.into_inner();
        let fault = self.enter("GetActionResult", &request.instance_name).await?;
        let hash = request.action_digest.unwrap_or_default().hash;
        let (result, inlines) = {
            let state = lock(&self.state);
            (state.results.get(&hash).cloned(), state.inlines)
        };
        let mut result = result.ok_or_else(|| Status::not_found("no such action"))?;
        if fault == Fault::NoEntry {
            result.output_files.clear();
        }
        for file in &mut result.output_files {
            let Some(digest) = &mut file.digest else { continue };
            if inlines && request.inline_output_files.contains(&file.path) {
                file.contents = self.blob(&digest.hash, fault).unwrap_or_default();
            }
            match fault {
                Fault::WrongDigest => digest.hash = digest.hash.to_uppercase(),
                Fault::Size(bytes) => digest.size_bytes = bytes,
                Fault::OtherEntry => {
                    *digest = digest_of(b"something else");
                    lock(&self.state).blobs.insert(digest.hash.clone(), b"something else".to_vec());
                }
                _ => {}
            }
        }
        Ok(Response::new(result))
    }

    async fn update_action_result(
        &self,
        request: Request<api::UpdateActionResultRequest>,
    ) -> Answer<api::ActionResult> {
        let request = request.into_inner();
        self.enter("UpdateActionResult", &request.instance_name).await?;
        let hash = request.action_digest.unwrap_or_default().hash;
        let result = request.action_result.unwrap_or_default();
        let mut state = lock(&self.state);
        // The protocol requires that the action, its command and the files have been uploaded before.
        let files = result.output_files.iter().filter_map(|f| f.digest.as_ref()).map(|d| &d.hash);
        if let Some(missing) = files.chain([&hash]).find(|hash| !state.blobs.contains_key(*hash)) {
            return Err(Status::failed_precondition(format!("the blob {missing} was not uploaded")));
        }
        state.results.insert(hash, result.clone());
        Ok(Response::new(result))
    }
}

#[tonic::async_trait]
impl ContentAddressableStorage for Service {
    async fn find_missing_blobs(
        &self,
        request: Request<api::FindMissingBlobsRequest>,
    ) -> Answer<api::FindMissingBlobsResponse> {
        let request = request.into_inner();
        self.enter("FindMissingBlobs", &request.instance_name).await?;
        let state = lock(&self.state);
        let missing = request.blob_digests.into_iter().filter(|d| !state.blobs.contains_key(&d.hash));
        Ok(Response::new(api::FindMissingBlobsResponse { missing_blob_digests: missing.collect() }))
    }

    async fn batch_update_blobs(
        &self,
        request: Request<api::BatchUpdateBlobsRequest>,
    ) -> Answer<api::BatchUpdateBlobsResponse> {
        let request = request.into_inner();
        self.enter("BatchUpdateBlobs", &request.instance_name).await?;
        let mut state = lock(&self.state);
        let total: usize = request.requests.iter().map(|r| r.data.len()).sum();
        if state.batch > 0 && total as i64 > state.batch {
            return Err(Status::invalid_argument("too much for one message"));
        }
        let responses = request.requests.into_iter().map(|r| {
            let right = r.digest.as_ref() == Some(&digest_of(&r.data));
            if right {
                state.blobs.insert(r.digest.clone().unwrap_or_default().hash, r.data);
            }
            let code = if right { 0 } else { tonic::Code::InvalidArgument as i32 };
            let status = Some(rpc::Status { code, ..Default::default() });
            api::batch_update_blobs_response::Response { digest: r.digest, status }
        });
        let responses = responses.collect();
        Ok(Response::new(api::BatchUpdateBlobsResponse { responses }))
    }

    async fn batch_read_blobs(
        &self,
        request: Request<api::BatchReadBlobsRequest>,
    ) -> Answer<api::BatchReadBlobsResponse> {
        let request = request.into_inner();
        let fault = self.enter("BatchReadBlobs", &request.instance_name).await?;
        let total: i64 = request.digests.iter().map(|d| d.size_bytes).sum();
        let batch = lock(&self.state).batch;
        if batch > 0 && total > batch {
            return Err(Status::invalid_argument("too much for one message"));
        }
        let responses = request.digests.into_iter().map(|mut digest| {
            let blob = self.blob(&digest.hash, fault);
            let code = if blob.is_some() { 0 } else { tonic::Code::NotFound as i32 };
            if fault == Fault::OtherBlobs {
                digest.hash = digest_of(b"").hash;
            }
            api::batch_read_blobs_response::Response {
                digest: Some(digest),
                data: blob.unwrap_or_default(),
                status: Some(rpc::Status { code, ..Default::default() }),
                ..Default::default()
            }
        });
        let responses = responses.collect();
        Ok(Response::new(api::BatchReadBlobsResponse { responses }))
    }

    type GetTreeStream = Pieces<api::GetTreeResponse>;

    async fn get_tree(&self, _: Request<api::GetTreeRequest>) -> Answer<Self::GetTreeStream> {
        Err(Status::unimplemented(""))
    }

    async fn split_blob(&self, _: Request<api::SplitBlobRequest>) -> Answer<api::SplitBlobResponse> {
        Err(Status::unimplemented(""))
    }

    async fn splice_blob(&self, _: Request<api::SpliceBlobRequest>) -> Answer<api::SpliceBlobResponse> {
        Err(Status::unimplemented(""))
    }

    type GetChunkMappingStream = Pieces<api::GetChunkMappingResponse>;

    async fn get_chunk_mapping(&self, _: Request<api::GetChunkMappingRequest>) -> Answer<Self::GetChunkMappingStream> {
        Err(Status::unimplemented(""))
    }

    async fn register_chunk_mapping(
        &self,
        _: Request<Streaming<api::RegisterChunkMappingRequest>>,
    ) -> Answer<api::RegisterChunkMappingResponse> {
        Err(Status::unimplemented(""))
    }
}

/// The instance and the hash in the name of a blob.
fn named(resource: &str) -> Option<(&str, &str)> {
    let (before, after) = resource.rsplit_once("blobs/")?;
    let instance = before.split_once("uploads/").map_or(before, |(instance, _)| instance);
    Some((instance.trim_end_matches('/'), after.split_once('/')?.0))
}

#[tonic::async_trait]
impl streams::ByteStream for Service {
    type ReadStream = Pieces<bytestream::ReadResponse>;

    async fn read(&self, request: Request<bytestream::ReadRequest>) -> Answer<Self::ReadStream> {
        let request = request.into_inner();
        let (instance, hash) = named(&request.resource_name).ok_or_else(|| Status::invalid_argument("no name"))?;
        let fault = self.enter("Read", instance).await?;
        let blob = self.blob(hash, fault).ok_or_else(|| Status::not_found("no such blob"))?;
        let pieces: Vec<_> = blob.chunks(100_000).map(|p| bytestream::ReadResponse { data: p.to_vec() }).collect();
        match fault {
            Fault::Dies => {
                let half = pieces.len() / 2;
                let broken = Err(Status::unavailable("the server goes down"));
                Ok(Response::new(Box::pin(tokio_stream::iter(
                    pieces.into_iter().take(half).map(Ok).chain([broken]).collect::<Vec<_>>(),
                ))))
            }
            Fault::Endless => Ok(Response::new(Box::pin(tokio_stream::pending()))),
            _ => Ok(Response::new(Box::pin(tokio_stream::iter(pieces.into_iter().map(Ok))))),
        }
    }

    async fn write(&self, request: Request<Streaming<bytestream::WriteRequest>>) -> Answer<bytestream::WriteResponse> {
        let mut pieces = request.into_inner();
        let (mut name, mut bytes) = (String::new(), Vec::new());
        while let Some(piece) = pieces.message().await? {
            if name.is_empty() {
                name = piece.resource_name;
                self.enter("Write", named(&name).unwrap_or_default().0).await?;
            }
            if piece.write_offset != bytes.len() as i64 {
                return Err(Status::invalid_argument("a gap"));
            }
            bytes.extend(piece.data);
            if piece.finish_write {
                break;
            }
        }
        let digest = digest_of(&bytes);
        if named(&name).map(|(_, hash)| hash) != Some(&digest.hash) {
            return Err(Status::invalid_argument("another digest"));
        }
        lock(&self.state).blobs.insert(digest.hash, bytes);
        Ok(Response::new(bytestream::WriteResponse { committed_size: digest.size_bytes }))
    }

    async fn query_write_status(
        &self,
        _: Request<bytestream::QueryWriteStatusRequest>,
    ) -> Answer<bytestream::QueryWriteStatusResponse> {
        Err(Status::unimplemented(""))
    }
}
