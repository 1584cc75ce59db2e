//! The memory of a handle.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;
use std::ffi::{OsString, c_char, c_void};
use std::mem::offset_of;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{TileirasByteView, TileirasConfig};
use tile_driver::remarks::RemarkFilter;
use tile_interface::{Emit, PipelineOption};

/// An opaque program handle.
#[repr(C)]
pub struct TileirasProgram {
    input_data: *const c_void,
    input_size: usize,
    opt_level: i32,
    device_debug: i32,
    lineinfo: i32,
    host_arch: i32,
    host_os: i32,
    sanitize: i32,
    gpu_id: i32,
    reserved: [u32; 5],
    cuda_root: *const c_char,
    /// Before compilation, the length of `cuda_root`; afterwards, the address of the output.
    root_length_or_output: usize,
    output_capacity: usize,
    output_length: usize,
    /// 1 once the handle owns an output.
    owning: u32,
    padding: u32,
}

const _: () = {
    assert!(size_of::<TileirasProgram>() == 104);
    assert!(offset_of!(TileirasProgram, opt_level) == 0x10 && offset_of!(TileirasProgram, gpu_id) == 0x28);
    assert!(offset_of!(TileirasProgram, cuda_root) == 0x40);
    assert!(offset_of!(TileirasProgram, root_length_or_output) == 0x48);
    assert!(offset_of!(TileirasProgram, output_capacity) == 0x50);
    assert!(offset_of!(TileirasProgram, output_length) == 0x58 && offset_of!(TileirasProgram, owning) == 0x60);
};

/// The settings of a handle outside its documented block.
#[derive(Clone)]
pub struct Settings {
    /// A copy, because the embedder may free its own after the handle is created.
    pub output_name: String,
    /// The name of the input in messages and locations.
    pub input_name: String,
    pub emit: Emit,
    pub libnvvm: Option<PathBuf>,
    /// The program that compiles, unless this process does.
    pub core: Option<PathBuf>,
    /// The ptxas to use, instead of a search.
    pub ptxas: Option<PathBuf>,
    pub strict_types: bool,
    /// One of [`tile_interface::NUMERICS`], if set.
    pub numerics: Option<&'static str>,
    /// Names and contents of tile libraries. With one, the program may use preview features.
    pub libraries: Vec<(String, Vec<u8>)>,
    /// Further options of the pipeline, in order.
    pub options: Vec<(String, String)>,
    pub remarks: RemarkFilter,
    /// Whether to ask ptxas for the resources of kernels.
    pub resources: bool,
    pub cache_directory: Option<PathBuf>,
    /// The address of a server that overrides the environment's. Empty for none.
    pub remote_cache: Option<OsString>,
}

impl Settings {
    /// The settings as options of the pipeline.
    pub fn pipeline_options(&self) -> Vec<(String, String)> {
        let strict = self.strict_types.then_some((PipelineOption::StrictTypes, "true"));
        let numerics = self.numerics.map(|mode| (PipelineOption::Numerics, mode));
        let own = [strict, numerics].into_iter().flatten();
        let own = own.map(|(option, value)| (option.name().to_owned(), value.to_owned()));
        own.chain(self.options.iter().cloned()).collect()
    }
}

/// The state of a handle outside its documented block.
struct Extras {
    settings: Settings,
    /// The host object, after it was first requested.
    object: Option<Box<[u8]>>,
    /// The resources of the kernels as JSON, after a compilation that determined them.
    resources: Option<Box<[u8]>>,
    /// The compiled program, once there is a cubin.
    source: Option<Source>,
}

/// A program and the options that it was compiled with.
#[derive(Clone)]
pub struct Source {
    pub input: Vec<u8>,
    pub options: Vec<(String, String)>,
}

/// Bytes that do not move while the handle is live.
fn view(bytes: &[u8]) -> TileirasByteView {
    TileirasByteView { data: bytes.as_ptr(), length: bytes.len() }
}

/// The live handles, by address.
static LIVE: Mutex<BTreeMap<usize, Extras>> = Mutex::new(BTreeMap::new());

fn live() -> MutexGuard<'static, BTreeMap<usize, Extras>> {
    // The map is consistent after every statement, so a panic elsewhere cannot leave it inconsistent.
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A live handle, for the duration of a call.
#[derive(Clone, Copy)]
pub struct Handle(*mut TileirasProgram);

impl Handle {
    /// Allocates a handle. `None` if there is not enough memory.
    pub fn create(config: &TileirasConfig, output_name: String) -> Option<*mut TileirasProgram> {
        // SAFETY: the size of the layout is not zero.
        let program = unsafe { alloc(Layout::new::<TileirasProgram>()) }.cast::<TileirasProgram>();
        if program.is_null() {
            return None;
        }
        let value = TileirasProgram {
            input_data: config.input_buffer_data,
            input_size: config.input_buffer_size,
            opt_level: config.opt_level,
            device_debug: config.device_debug,
            lineinfo: config.lineinfo,
            host_arch: config.host_arch,
            host_os: config.host_os,
            sanitize: config.sanitize,
            gpu_id: config.gpu_id,
            reserved: [0; 5],
            cuda_root: config.cuda_root,
            root_length_or_output: config.cuda_root_len,
            output_capacity: 0,
            output_length: 0,
            owning: 0,
            padding: 0,
        };
        // SAFETY: freshly allocated for this type.
        unsafe { program.write(value) };
        let settings = Settings {
            output_name,
            input_name: String::new(),
            emit: Emit::Cubin,
            libnvvm: None,
            core: None,
            ptxas: None,
            strict_types: false,
            numerics: None,
            libraries: vec![],
            options: vec![],
            remarks: RemarkFilter::None,
            resources: false,
            cache_directory: None,
            remote_cache: None,
        };
        live().insert(program.addr(), Extras { settings, object: None, resources: None, source: None });
        Some(program)
    }

    pub fn find(program: *mut TileirasProgram) -> Option<Handle> {
        live().contains_key(&program.addr()).then_some(Handle(program))
    }

    /// Frees the handle and its output. `false` if the handle is not live.
    pub fn release(program: *mut TileirasProgram) -> bool {
        if live().remove(&program.addr()).is_none() {
            return false;
        }
        let handle = Handle(program);
        handle.drop_output();
        // SAFETY: allocated by `create` with this layout, and removed from the table, so this happens once.
        unsafe { dealloc(program.cast(), Layout::new::<TileirasProgram>()) };
        true
    }

    /// The contents of the handle.
    fn get(&self) -> &TileirasProgram {
        // SAFETY: the handle is live, and the interface allows only one thread at a time to use it.
        unsafe { &*self.0 }
    }
    #[expect(clippy::mut_from_ref, reason = "the memory belongs to C; one thread at a time works on a handle")]
    fn get_mut(&self) -> &mut TileirasProgram {
        // SAFETY: as in `get`; no caller keeps a reference across another call.
        unsafe { &mut *self.0 }
    }

    pub fn as_ptr(&self) -> *mut TileirasProgram {
        self.0
    }
    pub fn gpu_id(&self) -> i32 {
        self.get().gpu_id
    }
    pub fn opt_level(&self) -> i32 {
        self.get().opt_level
    }
    pub fn device_debug(&self) -> bool {
        self.get().device_debug != 0
    }
    pub fn lineinfo(&self) -> bool {
        self.get().lineinfo != 0
    }
    pub fn sanitize(&self) -> bool {
        self.get().sanitize != 0
    }

    pub fn host_arch(&self) -> i32 {
        self.get().host_arch
    }
    pub fn host_os(&self) -> i32 {
        self.get().host_os
    }
    /// A copy of the settings.
    pub fn settings(&self) -> Option<Settings> {
        live().get(&self.0.addr()).map(|extras| extras.settings.clone())
    }
    pub fn change(&self, change: impl FnOnce(&mut Settings)) {
        if let Some(extras) = live().get_mut(&self.0.addr()) {
            change(&mut extras.settings);
        }
    }

    pub fn resources(&self) -> Option<TileirasByteView> {
        live().get(&self.0.addr())?.resources.as_deref().map(view)
    }
    pub fn set_resources(&self, json: String) {
        if let Some(extras) = live().get_mut(&self.0.addr()) {
            extras.resources = Some(json.into_bytes().into_boxed_slice());
        }
    }

    /// The program that the output was compiled from.
    pub fn source(&self) -> Option<Source> {
        live().get(&self.0.addr())?.source.clone()
    }
    pub fn set_source(&self, source: Source) {
        if let Some(extras) = live().get_mut(&self.0.addr()) {
            extras.source = Some(source);
        }
    }

    /// The host object. `make` creates it on the first request.
    pub fn object<E>(&self, make: impl FnOnce() -> Result<Vec<u8>, E>) -> Result<TileirasByteView, E> {
        if let Some(object) = live().get(&self.0.addr()).and_then(|e| e.object.as_deref()) {
            return Ok(view(object));
        }
        let object = make()?.into_boxed_slice();
        let made = view(&object);
        if let Some(extras) = live().get_mut(&self.0.addr()) {
            // Moving the box does not move the bytes.
            extras.object = Some(object);
        }
        Ok(made)
    }

    /// The bytecode.
    ///
    /// # Safety
    /// The embedder has kept the input unchanged.
    pub unsafe fn input(&self) -> &[u8] {
        let p = self.get();
        // SAFETY: checked to be non-null when the handle was created; otherwise guaranteed by the caller.
        unsafe { std::slice::from_raw_parts(p.input_data.cast(), p.input_size) }
    }

    /// The CUDA root, if one was given.
    ///
    /// # Safety
    /// The embedder has kept the string unchanged, and there is no output yet.
    pub unsafe fn cuda_root(&self) -> Option<&[u8]> {
        let p = self.get();
        if p.cuda_root.is_null() || p.root_length_or_output == 0 {
            return None;
        }
        // SAFETY: not null; otherwise guaranteed by the caller.
        Some(unsafe { std::slice::from_raw_parts(p.cuda_root.cast(), p.root_length_or_output) })
    }

    pub fn is_compiled(&self) -> bool {
        self.get().owning == 1
    }

    pub fn output(&self) -> Option<TileirasByteView> {
        let p = self.get();
        self.is_compiled().then(|| TileirasByteView {
            data: std::ptr::with_exposed_provenance(p.root_length_or_output),
            length: p.output_length,
        })
    }

    /// Transfers the output to the handle. The CUDA root is no longer needed, and its length is overwritten.
    pub fn set_output(&self, output: Vec<u8>) {
        let mut output = std::mem::ManuallyDrop::new(output);
        let p = self.get_mut();
        p.root_length_or_output = output.as_mut_ptr().expose_provenance();
        p.output_capacity = output.capacity();
        p.output_length = output.len();
        p.owning = 1;
    }

    fn drop_output(&self) {
        let p = self.get_mut();
        if p.owning == 1 {
            p.owning = 0;
            let data = std::ptr::with_exposed_provenance_mut(p.root_length_or_output);
            // SAFETY: these are the parts of the vector that `set_output` took apart.
            drop(unsafe { Vec::<u8>::from_raw_parts(data, p.output_length, p.output_capacity) });
        }
    }
}
