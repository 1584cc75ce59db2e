//! Runs text of any level: the rest of the pipeline, code generation, and the simulator.

use melior::{ir::Module, pass::PassManager, utility::parse_pass_pipeline};
use ptx_sim::{Arg, Config, Device, LaunchConfig, Report, RunOptions};
use tile_interface::{Backend, DebugInfo};
use tile_targets::Target;
use tileiras::{codegen, dialect, dialect::rt::*, passes, pipeline};

/// The point at which the text enters the pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum From {
    /// `nv_tileaa`.
    TileAa,
    /// `nv_tileas` with the rings and regions of agents, before `tileas-specialize-agents`.
    Rings,
    /// `nv_tileas` with all layouts chosen, and agents apart.
    Layouts,
    /// `nv_tileas` after `tileas-check-synchronization`.
    Checked,
}

/// Options of a compilation.
#[derive(Clone, Copy, Debug)]
pub struct How {
    pub from: From,
    pub target: &'static str,
    pub level: u8,
}

/// The remaining passes.
fn steps(how: How) -> Vec<String> {
    let mut options = pipeline::Options::default();
    options.set("opt-level", &how.level.to_string()).expect("a level");
    options.set("compute-capability", how.target).expect("a target");
    if how.from == From::Rings {
        options.strategy = pipeline::Strategy::WarpSpecialize;
    }
    let first = match how.from {
        From::TileAa => "convert-tileaa-to-tileas",
        From::Rings => "tileas-specialize-agents",
        From::Layouts => "tileas-materialize-reductions",
        From::Checked => "tileas-check-synchronization",
    };
    options
        .steps()
        .into_iter()
        .map(|s| s.pass)
        .skip_while(|p| !p.starts_with(first))
        .skip(usize::from(how.from == From::Checked))
        .collect()
}

/// The PTX of the only `gpu.module` in `text`.
pub fn ptx(text: &str, how: How) -> Result<String, String> {
    passes::register_all();
    let context = dialect::context();
    let messages = std::rc::Rc::new(std::cell::RefCell::new(String::new()));
    let sink = messages.clone();
    context.attach_diagnostic_handler(move |d| {
        sink.borrow_mut().push_str(&format!("{}: {d}\n", d.location()));
        true
    });
    let said = |what: &str| format!("{what}\n{}", messages.borrow());
    let mut module = Module::parse(&context, text).ok_or_else(|| said("the text does not parse"))?;
    let manager = PassManager::new(&context);
    let passes = format!("builtin.module({})", steps(how).join(","));
    parse_pass_pipeline(manager.as_operation_pass_manager(), &passes).map_err(|e| said(&e.to_string()))?;
    manager.run(&mut module).map_err(|_| said("a pass failed"))?;
    let mut found = None;
    walk(op_ref(melior::ir::operation::OperationLike::to_raw(&module.as_operation())), &mut |o| {
        if op_name(o) == "gpu.module" {
            found = Some(o);
        }
    });
    let target = Target::by_name(how.target).ok_or("no such target")?;
    let llvm = inkwell::context::Context::create();
    let options = codegen::Options { target, opt_level: how.level, lines: false };
    let code = codegen::Code::translate(&llvm, found.ok_or("no gpu.module")?, options, &Backend::Llvm, (None, &[]))
        .map_err(|e| e.to_string())?;
    code.optimize(&Backend::Llvm).map_err(|e| e.to_string())?;
    code.to_ptx(&Backend::Llvm, DebugInfo::None, &[]).map_err(|e| e.to_string())
}

/// An argument of a kernel.
#[derive(Clone, Debug)]
pub enum Input {
    Buffer(Vec<u8>),
    I32(i32),
}

/// Runs `entry` of the PTX on `grid` blocks. Returns the buffers and the simulator's counters.
pub fn run(
    ptx: &str,
    entry: &str,
    grid: u32,
    inputs: &[Input],
    seed: Option<u64>,
) -> Result<(Vec<Vec<u8>>, Report), String> {
    let module = ptx_sim::Module::parse(ptx).map_err(|e| format!("{e}\n{ptx}"))?;
    let mut device = Device::new(Config::default());
    let mut buffers = vec![];
    let args: Vec<Arg> = inputs
        .iter()
        .map(|i| match i {
            Input::Buffer(bytes) => {
                let p = device.alloc_from(bytes);
                buffers.push((p, bytes.len()));
                Arg::Ptr(p)
            }
            Input::I32(v) => Arg::I32(*v),
        })
        .collect();
    let launch = LaunchConfig { grid: [grid, 1, 1], args: &args, ..LaunchConfig::default() };
    let options = RunOptions { adversarial: seed, strict: true, stats: true, ..RunOptions::default() };
    let report = device.launch(&module, entry, &launch, &options).map_err(|e| e.to_string())?;
    let out = buffers
        .into_iter()
        .map(|(p, n)| {
            let mut bytes = vec![0; n];
            device.read(p, &mut bytes).map_err(|e| e.to_string())?;
            Ok(bytes)
        })
        .collect::<Result<_, String>>()?;
    Ok((out, report))
}

/// A deterministic random generator.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// A layout of `2^bits` elements over `2^warp_bits` warps. `mixed` lets basis vectors have several bits. Some
    /// threads and registers may hold replicas.
    pub fn layout(&mut self, bits: u32, warp_bits: usize, mixed: bool, replicas: usize) -> tile_layout::Layout {
        let mut basis: Vec<u64> = (0..bits).map(|i| 1 << i).collect();
        for i in (1..basis.len()).rev() {
            let j = self.below(i + 1);
            basis.swap(i, j);
        }
        if mixed {
            for i in 0..basis.len() {
                let j = self.below(basis.len());
                if i != j && self.below(2) == 0 {
                    basis[i] ^= basis[j];
                }
            }
        }
        let mut slots: Vec<Option<u64>> = vec![None; 5 + warp_bits];
        for _ in 0..replicas {
            let at = self.below(slots.len());
            slots[at] = Some(if self.below(2) == 0 || basis.is_empty() { 0 } else { *self.pick(&basis) });
        }
        for slot in &mut slots {
            if slot.is_none() {
                *slot = Some(basis.pop().unwrap_or(0));
            }
        }
        let slots: Vec<u64> = slots.into_iter().flatten().collect();
        let (lane, warp) = slots.split_at(5);
        tile_layout::Layout::new(basis, lane.to_vec(), warp.to_vec(), vec![]).expect("five lanes")
    }
}

/// A layout as an attribute.
pub fn attribute(l: &tile_layout::Layout) -> String {
    format!("#nv_tileas.layout<register = {:?}, lane = {:?}, warp = {:?}>", l.register(), l.lane(), l.warp())
}
