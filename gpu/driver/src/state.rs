//! The state of the driver: one device, one context, modules, graphs, events.

use ptx_sim::units::{ElementType, Fill, TensorMap, TileParams};
use ptx_sim::{Arg, Config, Device, DevicePtr, LaunchConfig, Module, RunOptions, SimErrorKind};
use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Result codes of the driver API.
pub mod code {
    pub const SUCCESS: i32 = 0;
    pub const INVALID_VALUE: i32 = 1;
    pub const OUT_OF_MEMORY: i32 = 2;
    pub const INVALID_DEVICE: i32 = 101;
    pub const INVALID_IMAGE: i32 = 200;
    pub const INVALID_PTX: i32 = 218;
    pub const INVALID_HANDLE: i32 = 400;
    pub const NOT_FOUND: i32 = 500;
    pub const ILLEGAL_ADDRESS: i32 = 700;
    pub const ASSERT: i32 = 710;
    pub const MISALIGNED_ADDRESS: i32 = 716;
    pub const LAUNCH_FAILED: i32 = 719;
}

pub type Code = Result<(), i32>;

/// A launch with its parameters, which can run any number of times.
#[derive(Clone)]
pub struct Prepared {
    pub module: Arc<Module>,
    pub entry: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub cluster: Option<[u32; 3]>,
    pub dynamic_shared: u32,
    pub parameters: Vec<Arg>,
}

/// An item of work of a stream or a graph.
#[derive(Clone)]
pub enum Work {
    Launch(Prepared),
    Fill { to: u64, value: u8, bytes: usize },
}

/// The object that a handle refers to.
#[derive(Clone)]
pub enum Object {
    Context,
    Stream,
    Module(Arc<Module>),
    Function(Arc<Module>, String),
    Graph(Arc<Vec<Work>>),
    /// Number of launches before the event.
    Event(u64),
}

pub struct State {
    device: Device,
    objects: HashMap<usize, Object>,
    next: usize,
    /// Work submitted to any stream since a capture began; all streams here are one.
    capture: Option<Vec<Work>>,
    launches: u64,
    /// The sticky error of the context.
    lost: Option<i32>,
    /// Allocated bytes by address, counted against the device's reported memory.
    allocated: HashMap<u64, u64>,
}

/// Memory that the device reports.
pub const MEMORY: u64 = 4 << 30;

static STATE: Mutex<Option<State>> = Mutex::new(None);

/// Runs `f` on the state, unless the context has a sticky error.
pub fn with<T>(f: impl FnOnce(&mut State) -> Result<T, i32>) -> Result<T, i32> {
    let mut guard = lock();
    let state = guard.get_or_insert_with(State::new);
    match state.lost {
        Some(code) => Err(code),
        None => f(state),
    }
}

fn lock() -> MutexGuard<'static, Option<State>> {
    // A panic in the simulator would be a separate defect; the state remains usable.
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn new() -> State {
        State {
            device: Device::new(Config { trap_uninitialised: false, ..Config::default() }),
            objects: HashMap::new(),
            next: 0x1000,
            capture: None,
            launches: 0,
            lost: None,
            allocated: HashMap::new(),
        }
    }

    pub fn add(&mut self, object: Object) -> usize {
        self.next += 16;
        self.objects.insert(self.next, object);
        self.next
    }

    pub fn object(&self, handle: usize) -> Result<Object, i32> {
        self.objects.get(&handle).cloned().ok_or(code::INVALID_HANDLE)
    }

    pub fn remove(&mut self, handle: usize) -> Code {
        self.objects.remove(&handle).map(|_| ()).ok_or(code::INVALID_HANDLE)
    }

    pub fn set_event(&mut self, handle: usize) -> Code {
        match self.objects.get_mut(&handle) {
            Some(Object::Event(at)) => {
                *at = self.launches;
                Ok(())
            }
            _ => Err(code::INVALID_HANDLE),
        }
    }

    pub fn allocate(&mut self, bytes: u64) -> Result<u64, i32> {
        if bytes == 0 {
            return Err(code::INVALID_VALUE);
        }
        if self.allocated.values().sum::<u64>() + bytes > MEMORY {
            return Err(code::OUT_OF_MEMORY);
        }
        let at = self.device.alloc(bytes).0;
        self.allocated.insert(at, bytes);
        Ok(at)
    }

    pub fn free(&mut self, at: u64) -> Code {
        self.allocated.remove(&at).ok_or(code::INVALID_VALUE)?;
        if self.device.free(DevicePtr(at)) { Ok(()) } else { Err(code::INVALID_VALUE) }
    }

    pub fn write(&mut self, at: u64, data: &[u8]) -> Code {
        self.device.write(DevicePtr(at), data).map_err(|_| code::INVALID_VALUE)
    }

    pub fn read(&self, at: u64, out: &mut [u8]) -> Code {
        self.device.read_unchecked(DevicePtr(at), out).map_err(|_| code::INVALID_VALUE)
    }

    pub fn load(&mut self, text: &str) -> Result<usize, i32> {
        let module = Module::parse(text).map_err(|_| code::INVALID_PTX)?;
        Ok(self.add(Object::Module(Arc::new(module))))
    }

    pub fn function(&mut self, module: usize, name: &str) -> Result<usize, i32> {
        let Object::Module(module) = self.object(module)? else { return Err(code::INVALID_HANDLE) };
        if !module.functions.iter().any(|f| f.is_entry && f.defined && f.name == name) {
            return Err(code::NOT_FOUND);
        }
        Ok(self.add(Object::Function(module, name.to_string())))
    }

    pub fn begin_capture(&mut self) -> Code {
        match self.capture.replace(vec![]) {
            None => Ok(()),
            Some(_) => Err(code::INVALID_VALUE),
        }
    }

    pub fn end_capture(&mut self) -> Result<usize, i32> {
        let work = self.capture.take().ok_or(code::INVALID_VALUE)?;
        Ok(self.add(Object::Graph(Arc::new(work))))
    }

    /// Executes work, or records it during a capture.
    pub fn submit(&mut self, work: Work) -> Code {
        match &mut self.capture {
            Some(captured) => {
                captured.push(work);
                Ok(())
            }
            None => self.perform(&work),
        }
    }

    pub fn perform(&mut self, work: &Work) -> Code {
        match work {
            Work::Launch(launch) => self.run(launch),
            Work::Fill { to, value, bytes } => self.write(*to, &vec![*value; *bytes]),
        }
    }

    fn run(&mut self, launch: &Prepared) -> Code {
        self.launches += 1;
        let config = LaunchConfig {
            grid: launch.grid,
            block: Some(launch.block),
            cluster: launch.cluster,
            dynamic_shared: launch.dynamic_shared,
            args: &launch.parameters,
        };
        match self.device.launch(&launch.module, &launch.entry, &config, &RunOptions::default()) {
            Ok(report) => {
                // Where a real driver writes the output of kernels; errors of a closed stream are ignored.
                let mut out = std::io::stdout();
                let _ = out.write_all(report.output.as_bytes()).and_then(|()| out.flush());
                Ok(())
            }
            Err(error) => match error.kind {
                SimErrorKind::Launch(_) | SimErrorKind::Load(_) => Err(code::INVALID_VALUE),
                kind => {
                    // A real driver reports it at the next synchronization; the launch itself has succeeded.
                    self.lost = Some(match kind {
                        SimErrorKind::OutOfBounds { .. } => code::ILLEGAL_ADDRESS,
                        SimErrorKind::Misaligned { .. } => code::MISALIGNED_ADDRESS,
                        SimErrorKind::Assert { .. } => code::ASSERT,
                        _ => code::LAUNCH_FAILED,
                    });
                    Ok(())
                }
            },
        }
    }
}

/// Arguments of the driver's tensor-map encoder.
pub struct MapRequest<'a> {
    pub element: u32,
    pub address: u64,
    pub dims: &'a [u64],
    pub strides: &'a [u64],
    pub box_dims: &'a [u32],
    pub element_strides: &'a [u32],
    pub interleave: u32,
    pub swizzle: u32,
    pub fill: u32,
}

pub fn encode(request: &MapRequest<'_>) -> Result<[u8; 128], i32> {
    let map = TensorMap::tiled(&TileParams {
        element: ElementType::from_driver(request.element).ok_or(code::INVALID_VALUE)?,
        address: request.address,
        dims: request.dims,
        strides: request.strides,
        box_dims: request.box_dims,
        element_strides: request.element_strides,
        interleave: request.interleave,
        swizzle: request.swizzle,
        fill: if request.fill == 1 { Fill::Nan } else { Fill::Zero },
    });
    map.map(|m| m.encode()).map_err(|_| code::INVALID_VALUE)
}
