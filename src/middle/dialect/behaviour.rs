//! The properties of an op that passes may rely on without knowing the op.
//!
//! Ops of `nv_tileaa` and `nv_tileas` declare them in TableGen (`NvTileAAInterfaces.td`), where an op without a
//! declaration does not build. Upstream ops lack this interface; [`upstream_behaviour`] answers for them, based on
//! enums that the build script generates. All other ops get [`Behaviour::UNKNOWN`], which permits nothing.
//!
//! Each function below answers one question of a pass. A new op needs no change here.

use super::{
    elements, ffi,
    layouts::{Tensor, storage_bits},
    nv_tileaa::{self, BitcastOp},
    nv_tileas,
    rt::*,
    types::is_float,
    upstream::{Arith, Math, Scf, Ub},
};
use std::ffi::c_void;
use tile_layout::register_permutation;

pub use super::nv_tileaa::{Cost, LayoutRelation, Movement, SyncKind, SyncScope};

/// The declared properties of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behaviour {
    pub layout: LayoutRelation,
    pub cost: Cost,
    pub movement: Movement,
    pub sync: SyncKind,
    /// The threads that the op synchronizes.
    pub scope: SyncScope,
}

impl Behaviour {
    const UNKNOWN: Self = Self::new(LayoutRelation::None, Cost::Heavy, Movement::Threads);

    const fn new(layout: LayoutRelation, cost: Cost, movement: Movement) -> Self {
        Self { layout, cost, movement, sync: SyncKind::None, scope: SyncScope::Thread }
    }
    const fn local(layout: LayoutRelation, cost: Cost) -> Self {
        Self::new(layout, cost, Movement::None)
    }
    pub fn of(op: OpRef<'_>) -> Self {
        if let Some(op) = nv_tileas::AnyOp::cast(op) {
            return op.behaviour();
        }
        if let Some(op) = nv_tileaa::AnyOp::cast(op) {
            return op.behaviour();
        }
        upstream_behaviour(op).unwrap_or(Self::UNKNOWN)
    }
}

fn upstream_behaviour(op: OpRef<'_>) -> Option<Behaviour> {
    use LayoutRelation::{Control, Leaf, Same};
    if let Some(op) = Arith::of(op) {
        return Some(match op {
            Arith::Constant => Behaviour::local(Leaf, Cost::Cheap),
            Arith::AddI
            | Arith::SubI
            | Arith::MulI
            | Arith::AndI
            | Arith::OrI
            | Arith::XOrI
            | Arith::CmpI
            | Arith::ExtSI
            | Arith::ExtUI
            | Arith::TruncI
            | Arith::ShLI
            | Arith::Select => Behaviour::local(Same, Cost::Cheap),
            _ => Behaviour::local(Same, Cost::Arithmetic),
        });
    }
    if Math::of(op).is_some() {
        return Some(Behaviour::local(Same, Cost::Arithmetic));
    }
    if let Some(Ub::Poison) = Ub::of(op) {
        return Some(Behaviour::local(Leaf, Cost::Arithmetic));
    }
    match Scf::of(op)? {
        Scf::For | Scf::While | Scf::If | Scf::Yield | Scf::Condition => Some(Behaviour::local(Control, Cost::Heavy)),
        _ => None,
    }
}

/// Returns the relation between the layouts of the op's operands and results.
pub fn layout_relation(op: OpRef<'_>) -> LayoutRelation {
    Behaviour::of(op).layout
}

/// Returns the way in which the op orders the accesses of threads.
pub fn sync_kind(op: OpRef<'_>) -> SyncKind {
    Behaviour::of(op).sync
}

/// Whether the op has no effects and may be speculated.
pub fn is_pure(op: OpRef<'_>) -> bool {
    // SAFETY: `op` is alive.
    unsafe { ffi::mlirxOperationIsPure(op.to_raw()) }
}

/// Whether elements move between threads.
pub fn moves_between_threads(op: OpRef<'_>) -> bool {
    match Behaviour::of(op).movement {
        Movement::None => false,
        Movement::Threads => true,
        Movement::Layouts => {
            let layout = |v| Tensor::of_value(v).and_then(|t| t.layout());
            match (layout(operand(op, 0)), layout(result(op, 0))) {
                (Some(from), Some(to)) => register_permutation(&from, &to).is_none(),
                _ => true,
            }
        }
    }
}

/// Whether each thread computes the results only from its own operands, in few instructions.
pub fn computes_locally(op: OpRef<'_>) -> bool {
    let has_no_effects = || effects(op).is_some_and(|list| list.is_empty());
    region_count(op) == 0 && Behaviour::of(op).cost != Cost::Heavy && has_no_effects() && !moves_between_threads(op)
}

/// Whether the op can also be computed for an iteration that does not exist. A division might be by zero there.
pub fn computes_speculatively(op: OpRef<'_>) -> bool {
    computes_locally(op) && is_pure(op)
}

/// Whether recomputing a tensor is nearly free, so that it beats keeping or moving the tensor.
pub fn is_cheap(op: OpRef<'_>) -> bool {
    result_count(op) == 1
        && region_count(op) == 0
        && Tensor::of_value(result(op, 0)).is_some()
        && Behaviour::of(op).cost == Cost::Cheap
}

/// Whether the op converts each element to a type of the same kind that is at least as wide, or reinterprets its
/// bits.
pub fn widens(op: OpRef<'_>) -> bool {
    if result_count(op) != 1 || operand_count(op) != 1 || layout_relation(op) != LayoutRelation::Same {
        return false;
    }
    let (Some(from), Some(to)) = (Tensor::of_value(operand(op, 0)), Tensor::of_value(result(op, 0))) else {
        return false;
    };
    let is_float = |t: &Tensor<'_>| is_float(t.element);
    let same_kind = is_float(&from) == is_float(&to) || BitcastOp::cast(op).is_some();
    from.element != to.element && same_kind && storage_bits(from.element) <= storage_bits(to.element) && is_pure(op)
}

/// Whether the op is a loop.
pub fn is_loop(op: OpRef<'_>) -> bool {
    matches!(Scf::of(op), Some(Scf::For | Scf::While))
}

/// Returns the value of an integer constant.
pub fn int_constant(v: Val<'_>) -> Option<i64> {
    let op = defining_op(v).filter(|o| is_constant(*o))?;
    attr(op, "value").and_then(elements::integer)
}

/// Whether the op is a constant.
pub fn is_constant(op: OpRef<'_>) -> bool {
    Arith::of(op) == Some(Arith::Constant)
}

/// The pipe of an SM that runs the instructions of an elementwise op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipe {
    Fma,
    Alu,
    /// Approximations of transcendental functions.
    Mufu,
    /// Conversions between floats and integers or other floats.
    Convert,
}

/// Returns the pipe of an elementwise op.
pub fn pipe_of(op: OpRef<'_>) -> Pipe {
    match (Arith::of(op), Math::of(op)) {
        (Some(Arith::AddF | Arith::SubF | Arith::MulF), _) | (_, Some(Math::Fma)) => Pipe::Fma,
        (Some(Arith::DivF), _) | (_, Some(_)) => Pipe::Mufu,
        (Some(Arith::ExtF | Arith::TruncF | Arith::SIToFP | Arith::UIToFP | Arith::FPToSI | Arith::FPToUI), _) => {
            Pipe::Convert
        }
        _ => Pipe::Alu,
    }
}

//===-- memory ------------------------------------------------------------------//

/// Memory that an op accesses, with the proxy of the access: the resources of `NvTileAAInterfaces.td`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    Global,
    GlobalAsyncProxy,
    Shared,
    SharedAsyncProxy,
    Tensor,
    /// Arrays of a single thread.
    Local,
    /// Barrier phases, groups of copies, the console.
    Machine,
    /// Unknown: any of the above.
    Any,
}

impl Memory {
    fn by_name(name: &str) -> Self {
        match name {
            "GlobalMemory" => Memory::Global,
            "GlobalMemoryAsyncProxy" => Memory::GlobalAsyncProxy,
            "SharedMemory" => Memory::Shared,
            "SharedMemoryAsyncProxy" => Memory::SharedAsyncProxy,
            "TensorMemory" => Memory::Tensor,
            "LocalMemory" => Memory::Local,
            "Machine" => Memory::Machine,
            _ => Memory::Any,
        }
    }
    /// Whether this may be the CTA's shared memory.
    pub fn may_be_shared(self) -> bool {
        matches!(self, Memory::Shared | Memory::SharedAsyncProxy | Memory::Any)
    }
}

/// One effect of an op on memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    pub kind: ffi::MlirxEffectKind,
    pub memory: Memory,
    /// The operand that points to the memory; `None` for effects of the op as a whole.
    pub operand: Option<usize>,
}

impl Effect {
    pub fn writes(&self) -> bool {
        self.kind == ffi::MlirxEffectKind_MlirxWrites
    }
    pub fn reads(&self) -> bool {
        self.kind == ffi::MlirxEffectKind_MlirxReads
    }
}

/// Returns the effects of an op, excluding its regions, or `None` if they are unknown.
pub fn effects(op: OpRef<'_>) -> Option<Vec<Effect>> {
    unsafe extern "C" fn each(
        kind: ffi::MlirxEffectKind,
        resource: mlir_sys::MlirStringRef,
        operand: isize,
        list: *mut c_void,
    ) {
        // SAFETY: `list` is the vector below, and resource names are static.
        let (list, name) = unsafe { (&mut *list.cast::<Vec<Effect>>(), raw_to_str(resource)) };
        list.push(Effect { kind, memory: Memory::by_name(name), operand: usize::try_from(operand).ok() });
    }
    let mut list: Vec<Effect> = vec![];
    // SAFETY: `op` is alive, and `each` receives the vector that it expects.
    let known = unsafe { ffi::mlirxOperationEffects(op.to_raw(), Some(each), (&raw mut list).cast()) };
    known.then_some(list)
}

/// Whether the op itself may read or write shared memory. Ops that only order the accesses of others do not.
pub fn touches_shared_memory(op: OpRef<'_>) -> bool {
    let orders = sync_kind(op) != SyncKind::None;
    let touches = |e: &Effect| (e.reads() || e.writes()) && e.memory.may_be_shared();
    effects(op).is_none_or(|list| list.iter().any(|e| touches(e) && (e.operand.is_some() || !orders)))
}

/// Whether the op uses shared memory, now or once its movements between threads have been lowered to accesses.
pub fn uses_shared_memory(op: OpRef<'_>) -> bool {
    touches_shared_memory(op) || moves_between_threads(op)
}
