//! The public interface: a device with memory, and launches.

use super::decode::{decode, layout_shared};
use super::executor::Executor;
use super::state::coverage::Coverage;
use super::state::error::{SimError, SimErrorKind};
use super::state::machine::{Machine, Shape};
use super::state::memory::{CONST_BASE, FUNCTION_BASE, Fault, GlobalMemory, PARAM_BASE, SHARED_BASE};
use super::state::options::{Config, RunOptions};
use super::state::program::{LoadError, MAX_VARIABLES, Program};
use super::state::record::Recording;
use super::state::stats::Stats;
use crate::ir::{InitValue, Module, Space, Symbol};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// An address in the device's global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DevicePtr(pub u64);

impl DevicePtr {
    /// The address `bytes` further.
    pub fn offset(self, bytes: u64) -> DevicePtr {
        DevicePtr(self.0.wrapping_add(bytes))
    }
}

/// A kernel argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    Ptr(DevicePtr),
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    F32(f32),
    F64(f64),
    /// A structure passed by value, such as a tensor map. Its length must match the parameter.
    Bytes(Vec<u8>),
}

impl Arg {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Arg::Ptr(p) => p.0.to_le_bytes().to_vec(),
            Arg::I8(v) => v.to_le_bytes().to_vec(),
            Arg::I16(v) => v.to_le_bytes().to_vec(),
            Arg::I32(v) => v.to_le_bytes().to_vec(),
            Arg::I64(v) => v.to_le_bytes().to_vec(),
            Arg::U8(v) => v.to_le_bytes().to_vec(),
            Arg::U16(v) => v.to_le_bytes().to_vec(),
            Arg::U32(v) => v.to_le_bytes().to_vec(),
            Arg::U64(v) => v.to_le_bytes().to_vec(),
            Arg::F32(v) => v.to_le_bytes().to_vec(),
            Arg::F64(v) => v.to_le_bytes().to_vec(),
            Arg::Bytes(b) => b.clone(),
        }
    }
}

/// The dimensions and arguments of a launch.
#[derive(Clone, Debug, Default)]
pub struct LaunchConfig<'a> {
    /// CTAs in each dimension (clusters, if the entry has `.blocksareclusters`).
    pub grid: [u32; 3],
    /// Threads in each dimension; `None` takes them from `.reqntid`, or from `.maxntid` if only that is given. A
    /// single thread also selects `.reqntid`, as in NVIDIA's driver. Any other value must match `.reqntid`.
    pub block: Option<[u32; 3]>,
    /// CTAs of a cluster; `None` takes them from `.reqnctapercluster`.
    pub cluster: Option<[u32; 3]>,
    /// Dynamic shared memory in bytes.
    pub dynamic_shared: u32,
    pub args: &'a [Arg],
}

/// The results of a launch.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub stats: Stats,
    /// The text that the kernel printed.
    pub output: String,
    /// Executed instructions, if [`RunOptions::trace`] is set.
    pub trace: Vec<String>,
    /// How each instruction was executed, if [`RunOptions::coverage`] is set.
    pub coverage: Option<Coverage>,
    /// The record for the timing model, if [`RunOptions::record`] is set.
    pub recording: Option<Recording>,
}

impl Report {
    /// The lines that the kernel printed.
    pub fn output_lines(&self) -> impl Iterator<Item = &str> {
        self.output.lines()
    }
}

/// The maximum grid, in CTAs.
const MAX_GRID: [u32; 3] = [0x7fff_ffff, 0xffff, 0xffff];

/// A module loaded on a device: the addresses of its variables, by number and by name.
struct Loaded {
    addresses: Vec<u64>,
    variables: FxHashMap<String, (u64, u64)>,
}

/// A simulated device.
pub struct Device {
    config: Config,
    memory: GlobalMemory,
    loaded: FxHashMap<u64, Arc<Loaded>>,
    /// The code of a module for an entry, whose shared memory determines addresses in it.
    programs: FxHashMap<(u64, usize), Arc<Program>>,
    next_const: u64,
    launches: u64,
    printed: String,
}

impl Device {
    /// Creates a device without allocations.
    pub fn new(config: Config) -> Device {
        let (memory, loaded, programs) = (GlobalMemory::new(), FxHashMap::default(), FxHashMap::default());
        Device { config, memory, loaded, programs, next_const: 256, launches: 0, printed: String::new() }
    }

    /// Allocates global memory, aligned to 256 bytes. The bytes count as uninitialized until they are written.
    pub fn alloc(&mut self, bytes: u64) -> DevicePtr {
        DevicePtr(self.memory.allocate(bytes, 256))
    }

    /// Allocates zeroed global memory, which counts as written. Pages that are never accessed cost no host memory.
    pub fn alloc_zeroed(&mut self, bytes: u64) -> DevicePtr {
        let ptr = self.alloc(bytes);
        self.memory.mark_written(ptr.0, bytes as usize);
        ptr
    }

    /// Allocates global memory and copies `data` to it.
    pub fn alloc_from(&mut self, data: &[u8]) -> DevicePtr {
        let ptr = self.alloc(data.len() as u64);
        // The allocation is as long as the data.
        let _ = self.memory.host_write(ptr.0, data);
        ptr
    }

    /// Creates a multicast address for `bytes` bytes of each member. Only `multimem` instructions can access it.
    pub fn multicast(&mut self, members: &[DevicePtr], bytes: u64) -> DevicePtr {
        DevicePtr(self.memory.multicast(members.iter().map(|m| m.0).collect(), bytes))
    }

    /// Frees an allocation; returns false if `ptr` is not the start of one.
    pub fn free(&mut self, ptr: DevicePtr) -> bool {
        self.memory.remove(ptr.0)
    }

    /// Writes host data to the device.
    pub fn write(&mut self, ptr: DevicePtr, data: &[u8]) -> Result<(), SimError> {
        self.memory.host_write(ptr.0, data).map_err(|f| host_fault(f, ptr.0, data.len(), "host write"))
    }

    /// Reads device memory. Reading bytes that were never written is an error.
    pub fn read(&self, ptr: DevicePtr, out: &mut [u8]) -> Result<(), SimError> {
        if out.is_empty() {
            return Ok(());
        }
        let len = out.len();
        self.memory.read(ptr.0, out, true).map_err(|f| host_fault(f, ptr.0, len, "host read"))
    }

    /// Reads device memory whether or not it was written; unwritten bytes have unspecified values.
    pub fn read_unchecked(&self, ptr: DevicePtr, out: &mut [u8]) -> Result<(), SimError> {
        let len = out.len();
        if len == 0 {
            return Ok(());
        }
        self.memory.read(ptr.0, out, false).map_err(|f| host_fault(f, ptr.0, len, "host read"))
    }

    /// Address and size in bytes of a global or constant variable of a module.
    pub fn symbol(&mut self, module: &Module, name: &str) -> Result<Option<(DevicePtr, u64)>, SimError> {
        let loaded = self.load(module)?;
        Ok(loaded.variables.get(name).map(|(a, n)| (DevicePtr(*a), *n)))
    }

    /// Loads a module once: lays out and initializes its variables.
    fn load(&mut self, module: &Module) -> Result<Arc<Loaded>, SimError> {
        if let Some(loaded) = self.loaded.get(&module.id) {
            return Ok(loaded.clone());
        }
        let in_memory = module.variables.iter().filter(|v| v.space != Space::Shared);
        let total = in_memory.fold(0u64, |n, v| n.saturating_add(v.size.unwrap_or(0)).saturating_add(v.align));
        if total > MAX_VARIABLES {
            return Err(LoadError::VariablesTooLarge.into());
        }
        let mut addresses = Vec::with_capacity(module.variables.len());
        for v in &module.variables {
            let size = v.size.unwrap_or(0);
            addresses.push(match v.space {
                Space::Const => {
                    let at = self.next_const.div_ceil(v.align.max(1)) * v.align.max(1);
                    self.next_const = at + size + 256;
                    self.memory.insert(CONST_BASE + at, size, true);
                    CONST_BASE + at
                }
                Space::Global => self.memory.allocate(size, v.align),
                _ => 0,
            });
        }
        // An initializer that contains the address of a shared variable makes all entries agree on it.
        let addresses = layout_shared(module, addresses, usize::MAX)?.addresses;
        let mut variables = FxHashMap::default();
        for (v, address) in module.variables.iter().zip(&addresses) {
            let size = v.size.unwrap_or(0);
            if v.space == Space::Shared {
                continue;
            }
            variables.insert(v.name.clone(), (*address, size));
            // Bytes without an initializer are zero, as all fresh memory is.
            self.memory.mark_written(*address, size as usize);
            for piece in &v.init {
                let value = match &piece.value {
                    InitValue::Bits(bits) => *bits,
                    InitValue::Address { symbol, addend, generic, mask } => {
                        let raw = match symbol {
                            Symbol::Module(i) => {
                                let target = &module.variables[*i as usize];
                                let base = addresses[*i as usize];
                                match (target.space, generic) {
                                    (Space::Shared, true) => SHARED_BASE + base,
                                    (Space::Const, false) => base - CONST_BASE,
                                    _ => base,
                                }
                            }
                            Symbol::Function(i) => FUNCTION_BASE + 16 * u64::from(*i),
                            _ => 0,
                        };
                        let raw = raw.wrapping_add(*addend as u64);
                        match mask {
                            Some(m) if *m != 0 => (raw & m) >> m.trailing_zeros(),
                            _ => raw,
                        }
                    }
                };
                let n = (piece.bytes as usize).min(8);
                let at = address + piece.offset;
                self.memory.host_write(at, &value.to_le_bytes()[..n]).map_err(|f| host_fault(f, at, n, "load"))?;
            }
        }
        let loaded = Arc::new(Loaded { addresses, variables });
        self.loaded.insert(module.id, loaded.clone());
        Ok(loaded)
    }

    /// Decodes a module once for an entry.
    fn program(&mut self, module: &Module, entry: usize) -> Result<Arc<Program>, SimError> {
        let loaded = self.load(module)?;
        let key = (module.id, entry);
        if let Some(program) = self.programs.get(&key) {
            return Ok(program.clone());
        }
        let layout = layout_shared(module, loaded.addresses.clone(), entry)?;
        let program = Arc::new(decode(module, &layout)?);
        self.programs.insert(key, program.clone());
        Ok(program)
    }

    /// Runs an entry of a module to completion.
    ///
    /// If the launch fails, memory keeps the effects of the instructions executed until then.
    pub fn launch(
        &mut self,
        module: &Module,
        entry: &str,
        config: &LaunchConfig<'_>,
        options: &RunOptions,
    ) -> Result<Report, SimError> {
        let bad = |what: String| SimError::new(SimErrorKind::Launch(what));
        let index = module.functions.iter().position(|f| f.name == entry && f.is_entry && f.defined);
        let index = index.ok_or_else(|| bad(format!("no entry '{entry}' in the module")))?;
        let program = self.program(module, index)?;
        let func = &program.funcs[index];
        let d = &func.directives;
        let block = match (config.block, d.reqntid, d.maxntid) {
            (Some(b), Some(r), _) if b != r && b != [1, 1, 1] => {
                return Err(bad(format!("block {b:?} differs from .reqntid {r:?}")));
            }
            (Some(b), None, Some(m)) if volume(b) > volume(m) => {
                return Err(bad(format!("block {b:?} exceeds .maxntid {m:?}")));
            }
            (_, Some(r), _) => r,
            (Some(b), None, _) => b,
            (None, None, Some(m)) => m,
            (None, None, None) => return Err(bad("no block size given, and the entry has no .reqntid".into())),
        };
        let threads = volume(block);
        if threads == 0 || threads > 1024 {
            return Err(bad(format!("a block of {threads} threads (must be 1 to 1024)")));
        }
        let cluster = match (config.cluster, d.reqnctapercluster) {
            (Some(c), Some(r)) if c != r => {
                return Err(bad(format!("cluster {c:?} differs from .reqnctapercluster {r:?}")));
            }
            (Some(c), _) => c,
            (None, Some(r)) => r,
            (None, None) => [1, 1, 1],
        };
        let size = volume(cluster);
        if size == 0 || size > 16 {
            return Err(bad(format!("a cluster of {size} CTAs (must be 1 to 16)")));
        }
        let mut grid = config.grid;
        if d.blocksareclusters {
            grid = std::array::from_fn(|i| grid[i].saturating_mul(cluster[i]));
        }
        if grid.contains(&0) {
            return Err(bad(format!("grid {grid:?} has an empty dimension")));
        }
        if (0..3).any(|i| grid[i] > MAX_GRID[i]) {
            return Err(bad(format!("grid {grid:?} exceeds {MAX_GRID:?}")));
        }
        if (0..3).any(|i| !grid[i].is_multiple_of(cluster[i])) {
            return Err(bad(format!("grid {grid:?} is not a multiple of the cluster {cluster:?}")));
        }
        let shared = program.shared_bytes.saturating_add(config.dynamic_shared);
        if shared > self.config.max_shared {
            return Err(bad(format!("{shared} bytes of shared memory, but only {} available", self.config.max_shared)));
        }
        if config.args.len() != func.entry_params.len() {
            let (found, expected) = (config.args.len(), func.entry_params.len());
            return Err(bad(format!("{found} arguments for an entry with {expected} parameters")));
        }
        let mut params = vec![0u8; func.param_bytes as usize];
        for (i, (arg, (offset, size))) in config.args.iter().zip(&func.entry_params).enumerate() {
            let bytes = arg.bytes();
            if bytes.len() != *size as usize {
                return Err(bad(format!("argument {i} has {} bytes, but its parameter has {size}", bytes.len())));
            }
            params[*offset as usize..][..bytes.len()].copy_from_slice(&bytes);
        }
        let shape = Shape {
            grid,
            block,
            cluster,
            explicit_cluster: config.cluster.is_some() || d.reqnctapercluster.is_some() || d.explicitcluster,
            dynamic_shared: config.dynamic_shared,
            entry: index as u32,
        };
        if !params.is_empty() {
            self.memory.insert(PARAM_BASE, params.len() as u64, true);
            self.memory
                .host_write(PARAM_BASE, &params)
                .map_err(|f| host_fault(f, PARAM_BASE, params.len(), "parameters"))?;
        }
        self.launches += 1;
        self.printed.clear();
        let mut machine = Machine::new(&program, &mut self.memory, shape, &self.config, options, self.launches);
        let result = machine.run();
        let mut report = Report {
            stats: std::mem::take(&mut machine.stats),
            output: std::mem::take(&mut machine.output),
            trace: std::mem::take(&mut machine.trace),
            coverage: machine.coverage.take(),
            recording: None,
        };
        if let Some(recorder) = machine.recorder.take() {
            report.recording = Some(Recording {
                blocks: recorder.blocks,
                footprint: recorder.footprint,
                shared_bytes: u64::from(machine.prog.shared_bytes) + u64::from(config.dynamic_shared),
                threads: machine.shape.threads(),
                blocks_per_cluster: machine.shape.cluster_size() as u32,
                grid_blocks: volume(machine.shape.grid),
                cluster_grid: machine.shape.cluster_grid(),
                entry: machine.shape.entry,
                program: program.clone(),
            });
        }
        if !params.is_empty() {
            self.memory.remove(PARAM_BASE);
        }
        if let Err(error) = result {
            self.printed = report.output;
            return Err(error);
        }
        Ok(report)
    }

    /// The text that the last launch printed before it failed; empty if it succeeded.
    pub fn printed_before_failure(&self) -> &str {
        &self.printed
    }
}

/// The number of points in a box, saturating.
fn volume(extents: [u32; 3]) -> u64 {
    extents.iter().fold(1u64, |n, e| n.saturating_mul(u64::from(*e)))
}

fn host_fault(fault: Fault, address: u64, bytes: usize, access: &'static str) -> SimError {
    let bytes = bytes.min(u32::MAX as usize) as u32;
    SimError::new(match fault {
        Fault::OutOfBounds => {
            SimErrorKind::OutOfBounds { access, space: "global", address, bytes, hint: String::new() }
        }
        Fault::Uninitialised(byte) => SimErrorKind::Uninitialised {
            space: "global",
            address,
            bytes,
            address_of_byte: address + byte,
            name: String::new(),
            why: "was never written".into(),
        },
        Fault::ReadOnly => SimErrorKind::ReadOnly { address },
    })
}
