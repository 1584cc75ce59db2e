//! Discardable attributes: facts that a pass attaches to an op for later passes.
//!
//! Each attribute is a [`Key`] below, with the type of its values, the passes that set it and the passes that read it.
//! Other files access these attributes only through their keys. An attribute of another kind than the key's, which
//! text may contain, counts as absent.

use super::{elements, pass::context_of, rt::*};
use melior::{
    Context,
    ir::{
        Attribute, AttributeLike,
        attribute::{DenseI32ArrayAttribute, StringAttribute},
    },
};
use mlir_sys::*;
use std::{fmt, marker::PhantomData};

/// The kind of a key's values.
pub trait Kind {
    type Value<'c>;
    /// Returns the value of an attribute, or `None` if it has another kind.
    fn read<'c>(a: Attribute<'c>) -> Option<Self::Value<'c>>;
    fn write<'c>(context: &'c Context, value: Self::Value<'c>) -> Attribute<'c>;
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident: $value:ty, $read:expr, $write:expr;)*) => {$(
        $(#[$doc])*
        pub enum $name {}
        impl Kind for $name {
            type Value<'c> = $value;
            fn read<'c>(a: Attribute<'c>) -> Option<$value> {
                let read: fn(Attribute<'c>) -> Option<$value> = $read;
                read(a)
            }
            fn write<'c>(context: &'c Context, value: $value) -> Attribute<'c> {
                let write: fn(&'c Context, $value) -> Attribute<'c> = $write;
                write(context, value)
            }
        }
    )*};
}

kinds! {
    /// The presence of the attribute, whatever its kind, is the fact.
    Unit: (), |_| Some(()), |c, ()| Attribute::unit(c);
    /// An integer, written as i64.
    I64: i64, elements::integer, i64_attr;
    /// An integer, written as i32.
    I32: i64, elements::integer, |c, v| i32_attr(c, v as i32);
    /// A list of integers.
    I64s: Vec<i64>, elements::integers, |c, v| i64s_to_attr(c, &v);
    /// A list of integers of 32 bits.
    I32s: Vec<i32>, elements::integers32, |c, v| DenseI32ArrayAttribute::new(c, &v).into();
    /// A string.
    Text: &'c str, elements::string, |c, v| StringAttribute::new(c, v).into();
    /// An attribute that the user of the key builds and reads.
    Other: Attribute<'c>, Some, |_, v| v;
}

/// A discardable attribute with values of kind `K`. Displays as its name.
pub struct Key<K> {
    name: &'static str,
    kind: PhantomData<fn() -> K>,
}

impl<K> Clone for Key<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Key<K> {}
impl<K> fmt::Display for Key<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<K: Kind> Key<K> {
    const fn new(name: &'static str) -> Self {
        Self { name, kind: PhantomData }
    }
    /// Returns the value on `op`, or `None` if the op lacks the attribute.
    pub fn get<'c>(self, op: OpRef<'c>) -> Option<K::Value<'c>> {
        self.raw(op).and_then(K::read)
    }
    /// Whether `op` has the attribute.
    pub fn is_on(self, op: OpRef<'_>) -> bool {
        self.get(op).is_some()
    }
    pub fn set<'c>(self, op: OpRef<'c>, value: K::Value<'c>) {
        self.set_raw(op, K::write(context_of(op), value));
    }
    /// Adds the attribute to an op under construction.
    pub fn add<'c>(self, state: &mut OperationState<'c>, value: K::Value<'c>) {
        state.attr(self.name, K::write(state.context(), value));
    }
    pub fn remove(self, op: OpRef<'_>) {
        // SAFETY: `op` is alive.
        unsafe { mlirOperationRemoveDiscardableAttributeByName(op.to_raw(), raw_str(self.name)) };
    }
    /// Removes the attribute and returns its value.
    pub fn take<'c>(self, op: OpRef<'c>) -> Option<K::Value<'c>> {
        let value = self.get(op);
        self.remove(op);
        value
    }
    /// Copies the attribute, if `from` has it.
    pub fn copy<'c>(self, from: OpRef<'c>, to: OpRef<'c>) {
        if let Some(a) = self.raw(from) {
            self.set_raw(to, a);
        }
    }

    fn raw<'c>(self, op: OpRef<'c>) -> Option<Attribute<'c>> {
        // SAFETY: `op` is alive.
        unsafe {
            Attribute::from_option_raw(mlirOperationGetDiscardableAttributeByName(op.to_raw(), raw_str(self.name)))
        }
    }
    fn set_raw<'c>(self, op: OpRef<'c>, a: Attribute<'c>) {
        // SAFETY: `op` and `a` are alive.
        unsafe { mlirOperationSetDiscardableAttributeByName(op.to_raw(), raw_str(self.name), a.to_raw()) }
    }
}

impl Key<Unit> {
    /// Sets the attribute.
    pub fn mark(self, op: OpRef<'_>) {
        self.set(op, ());
    }
}

macro_rules! keys {
    ($($(#[$doc:meta])* $name:ident: $kind:ty = $text:literal;)*) => {
        $($(#[$doc])* pub const $name: Key<$kind> = Key::new($text);)*
        /// The names of all keys.
        #[cfg(test)]
        const NAMES: &[&str] = &[$($text),*];
    };
}

keys! {
    /// On a printed module: the last pass that has run. Set and read when a compilation stops and resumes between
    /// passes.
    AFTER: Text = "nv_tileaa.after";

    //===-- kernels ---------------------------------------------------------===//

    /// On an entry, a function or a loop: the [`Fallback`](super::fallback::Fallback) after a failed compilation, by
    /// number. Set when compilation restarts; read by the passes that decide about rings, agents and schedules.
    FALLBACK: I64 = "nv_tileaa.fallback";
    /// On a function: it avoids instructions whose bits PTX does not define. Set by `convert-cudatile-to-tileaa`; read
    /// by `convert-tileas-to-llvm`.
    PORTABLE: Unit = "nv_tileaa.portable";
    /// On a function: the plan of its dots ([`DotPlan`](super::dot_plan::DotPlan)). Set by `tileaa-plan-dots`; read by
    /// the passes that assign layouts to dots and build rings and agents.
    DOT_PLAN: Other = "nv_tileas.dot_plan";
    /// On a kernel: the number of warps per CTA. Set by `convert-tileas-to-llvm`; read by `tileir-gpu-module-prepare`
    /// and `tileir-verify-ops-analysis`.
    NUM_WARPS: I64 = "nv_tileas.num_warps";
    /// On a kernel: the number of CTAs per tile block, which form a cluster; one if absent. Set by
    /// `tileaa-split-over-cluster` and `tileaa-pair-tile-blocks`; read by `convert-tileas-to-llvm` and
    /// `tileir-gpu-module-prepare`.
    NUM_CTAS: I64 = "nv_tileas.num_ctas";
    /// On a loop: its iterations are the steps in which two CTAs run their tile blocks together. Set by
    /// `tileaa-pair-tile-blocks`; read by `tileaa-plan-dots`.
    STEPS_OF_PAIR: Unit = "nv_tileas.steps_of_pair";
    /// On a kernel: its CTAs take over tile blocks that have not started. Set by `tileaa-plan-dots`; read by
    /// `tileas-dynamic-persistent`.
    DYNAMIC_PERSISTENT: Unit = "nv_tileas.dynamic_persistent";
    /// On a kernel: the registers per thread at launch; if absent, ptxas chooses. Set by `tileas-specialize-agents`;
    /// read by `tileas-check-register-budget`, `convert-tileas-to-llvm` and `tileir-gpu-module-prepare`.
    MAX_REGISTERS: I64 = "nv_tileas.max_registers";
    /// On a kernel: the number of CTAs that an SM should be able to hold at once. Set by `convert-tileas-to-llvm` from
    /// a hint, or to one if tensors exceed the registers; read by `tileir-gpu-module-prepare`.
    MIN_BLOCKS: I64 = "nv_tileas.min_blocks";
    /// On a kernel: it contains dots. Set by `convert-tileas-to-llvm`; read by `tileir-gpu-module-prepare` and
    /// `tileir-sink-shared-loads`.
    MULTIPLIES: Unit = "nv_tileas.multiplies";
    /// On a program whose tiles exceed the shared memory of a CTA: the size in bytes. Set by
    /// `tileir-verify-ops-analysis`; read when compilation restarts.
    SHARED_EXCEEDED: I64 = "nv_tileas.shared_exceeded";

    /// On a function that is only declared: a library has its code. Set by `convert-tileas-to-llvm`; read by
    /// `tileir-post-nvvm-finalize`.
    LIBRARY_FUNCTION: Unit = "nv_tileas.library_function";

    //===-- ops -------------------------------------------------------------===//

    /// On an `if`, a `for` or a function: the minimum size of a branch for which a loop is split; 0 for never. Set by
    /// front ends; read by `loop-split`.
    LOOP_SPLIT: I64 = "cuda_tile.loop_split";
    /// On a call of a library function: the chosen implementation, a dictionary of attributes of
    /// `nv_tileaa.extern_call`. Set when libraries are linked; read by `convert-cudatile-to-tileaa`.
    LIBRARY_CALL: Other = "cuda_tile.library_call";
    /// On a reduction or a scan: it combines elements in the canonical order of `docs/numerics.md`. On a reduction, the
    /// number of low bits of the coordinate that come first. Set by `convert-cudatile-to-tileaa`; read by the passes
    /// that lower it.
    CANONICAL: I64 = "nv_tileaa.canonical";
    /// On a dot: for each operand, its contiguous dimension if it is producer-computed, or -1. Set by
    /// `tileaa-plan-dots`; read by `tileaa-outline-producers`.
    PRODUCER_COMPUTED: I64s = "nv_tileas.producer_computed";
    /// On a dot: the indices of operands that TMA loads instead if the view is ready for it. Set and read as
    /// [`PRODUCER_COMPUTED`].
    OR_COPIED: I64s = "nv_tileas.or_copied";
    /// On a dot: the indices of operands that warps of the converter compute from tiles in stages, and store to tensor
    /// memory. Set and read as [`PRODUCER_COMPUTED`].
    CONVERTED: I64s = "nv_tileas.converted";
    /// On a load or store of a tile: along this dimension, the tile may be outside of the view even if tiles divide the
    /// extent. Set by `tileaa-pair-tile-blocks`; read by [`places`](crate::analysis::access::places).
    MAY_BE_OUTSIDE: I64 = "nv_tileas.may_be_outside";
    /// On a load of the left operand of dots in other blocks, or of a tile from which warps of the converter compute a
    /// left operand: TMA loads the tile to a stage, from which warps read their elements. Set by `tileaa-plan-dots`;
    /// read by `tileas-remove-layout-conversions` and `tileas-materialize-async`.
    STAGED: Unit = "nv_tileas.staged";
    /// On a load of a tile that consumers read: the stages of the ring through which TMA loads it. Set by
    /// `tileaa-plan-dots`; read as [`STAGED`].
    OWN_STAGES: I64 = "nv_tileas.own_stages";
    /// On the storage of a resident operand: the loops around its dots may not run, so that consumers do not learn when
    /// its copy ends. Set by `tileas-materialize-async`; read by `tileas-optimize-alloc-tensor` and
    /// `tileas-check-synchronization`.
    MAY_BE_UNREAD: Unit = "nv_tileas.may_be_unread";
    /// On a load in a producer's program: the number of enclosing loops that it may leave. Set by
    /// `tileaa-outline-producers`; read by `tileas-materialize-async` and `tileas-specialize-agents`.
    OUTSIDE: I64 = "nv_tileas.outside";
    /// On a barrier: it only guards the reuse of storage. Set by the passes that use shared memory; read by the passes
    /// that place storage, merge barriers and check synchronization.
    REUSE: Unit = "nv_tileas.reuse";
    /// On a multiplication: its right operand often is one. Set by `tileas-skip-rescale`; read by
    /// `convert-tileas-to-llvm`.
    OFTEN_ONE: Unit = "nv_tileas.often_one";
    /// On a loop: addresses of accesses inside the loop are computed inside it. Set by
    /// `tileas-keep-addresses-in-loops`; read by `convert-tileas-to-llvm`.
    ADDRESSES_IN_LOOP: Unit = "nv_tileas.addresses_in_loop";

    //===-- forms of registers ----------------------------------------------===//
    // Set by `tileas-choose-register-forms`; read by `convert-tileas-to-llvm`.

    /// On a loop or branch: the numbers of the values that it carries as words of 32 bits, without ever taking them
    /// apart: accumulators of 16 bits that a dot may be writing, and left operands of dots.
    WORDS: I64s = "nv_tileas.words";
    /// On a loop or branch: the numbers of the values that it carries packed in words, from which users extract
    /// elements.
    PACKED: I64s = "nv_tileas.packed";
    /// On a loop or a wait for dots: the numbers of the values whose registers are copied by instructions that LLVM
    /// cannot see through.
    PINNED: I64s = "nv_tileas.pinned";
    /// On an access of a tile with a check of each element: no unchecked form for tiles inside the view is emitted.
    CHECKED_ONLY: Unit = "nv_tileas.checked_only";
    /// On a rounding to 16 bits: it rounds two elements to a word at a time.
    IN_PAIRS: Unit = "nv_tileas.in_pairs";
    /// On a cast to an 8-bit float: all elements are tested once for values beyond the format's largest number.
    TESTED_ONCE: Unit = "nv_tileas.tested_once";

    //===-- constraints of schedules ----------------------------------------===//
    // Set by users, otherwise by `tileas-generate-schedule-constraints`; read by `tileas-materialize-schedule`.

    /// On an op of a loop: the number of its group. The ops of a group are in one stage.
    GID: I64 = "tileas.schedule.constraint.gid";
    /// On an op of a loop: the group relative to whose stage the stage of this group is counted.
    LEADER_GID: I64 = "tileas.schedule.constraint.leader_gid";
    /// On an op of a loop: the maximum number of stages between the leader and this group; 0 means no limit.
    MAX_DEPTH: I64 = "tileas.schedule.constraint.max_depth";
    /// On a loop: iterations do not overlap.
    FORCE_SERIAL_EXECUTION: Unit = "tileas.schedule.constraint.force_serial_execution";
    /// On a function: its loops have constraints, for the target with this name.
    MACHINE: Text = "tileas.schedule.constraint.machine";

    //===-- solved schedules ------------------------------------------------===//
    // Set by `tileas-materialize-schedule`; read by the passes that build rings and agents.

    /// On a loop: the initiation interval in clocks.
    INTERVAL: I64 = "tileas.schedule.interval";
    /// On a loop: the number of iterations in flight together.
    STAGES: I64 = "tileas.schedule.stages";
    /// On a loop: it has the form that its schedule says, so later passes do not pipeline it.
    MATERIALIZED: Unit = "tileas.schedule.materialized";
    /// On an op of a loop: its stage.
    STAGE: I64 = "tileas.schedule.stage";
    /// On an op of a loop: its clock within the interval.
    CLOCK: I64 = "tileas.schedule.clock";
    /// On an op of a loop: its agent, if there are several.
    AGENT: Text = "tileas.schedule.agent";
    /// On a dot: the stages of the ring that brings its operands.
    RING_STAGES: I64 = "nv_tileas.stages";
    /// On a load without agents: the number of iterations by which its copy starts early.
    AHEAD: I64 = "nv_tileas.ahead";

    //===-- MLIR's own ------------------------------------------------------===//

    /// On a function: `private` if only its module uses it.
    SYM_VISIBILITY: Text = "sym_visibility";
    /// On a GPU function: it is a kernel. The dialects `nvvm` and `gpu` have one attribute each.
    NVVM_KERNEL: Unit = "nvvm.kernel";
    GPU_KERNEL: Unit = "gpu.kernel";
    /// On a kernel: the threads of a CTA, the CTAs of a cluster, the maximum of registers per thread, and the minimum
    /// of CTAs per SM.
    REQNTID: I32s = "nvvm.reqntid";
    CLUSTER_DIM: I32s = "nvvm.cluster_dim";
    MAXNREG: I32 = "nvvm.maxnreg";
    MINCTASM: I32 = "nvvm.minctasm";
}

/// Removes solved schedules from the ops of a function, once rings and agents are built.
pub fn drop_schedules(function: OpRef<'_>) {
    walk(function, &mut |op| {
        [INTERVAL, STAGES, STAGE, CLOCK].iter().for_each(|key| key.remove(op));
        AGENT.remove(op);
        MATERIALIZED.remove(op);
    });
}

/// Gives a loop the schedule of the loop that it replaces.
pub fn copy_schedule(from: OpRef<'_>, to: OpRef<'_>) {
    for key in [INTERVAL, STAGES] {
        if let Some(value) = key.get(from) {
            key.set(to, value);
        }
    }
    if MATERIALIZED.is_on(from) {
        MATERIALIZED.mark(to);
    }
}

/// Removes the attributes of the tile dialects from an op.
pub fn drop_own(op: OpRef<'_>) {
    // SAFETY: the op is alive; the names are copied before any attribute is removed.
    let names: Vec<String> = unsafe {
        (0..mlirOperationGetNumDiscardableAttributes(op.to_raw()))
            .map(|i| mlirOperationGetDiscardableAttribute(op.to_raw(), i))
            .map(|a| raw_to_str(mlirIdentifierStr(a.name)).to_owned())
            .collect()
    };
    for name in names.iter().filter(|n| n.starts_with("nv_tileas.") || n.starts_with("nv_tileaa.")) {
        // SAFETY: the op is alive.
        unsafe { mlirOperationRemoveDiscardableAttributeByName(op.to_raw(), raw_str(name)) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use melior::ir::Location;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique() {
        assert_eq!(NAMES.iter().collect::<BTreeSet<_>>().len(), NAMES.len());
    }

    #[test]
    fn values_are_read_as_written_and_other_kinds_count_as_absent() {
        let context = super::super::context();
        let module = melior::ir::Module::new(Location::unknown(&context));
        // SAFETY: the module outlives the handle.
        let op = op_ref(module.as_operation().to_raw());
        NUM_WARPS.set(op, 8);
        OR_COPIED.set(op, vec![0, 1]);
        AGENT.set(op, "producer");
        REUSE.mark(op);
        assert_eq!(
            (NUM_WARPS.get(op), OR_COPIED.get(op), AGENT.get(op)),
            (Some(8), Some(vec![0, 1]), Some("producer"))
        );
        assert!(REUSE.is_on(op) && !MULTIPLIES.is_on(op));
        let renamed: Key<Text> = Key::new("nv_tileas.num_warps");
        assert_eq!(renamed.get(op), None);
        assert_eq!((NUM_WARPS.take(op), NUM_WARPS.get(op)), (Some(8), None));
        drop_own(op);
        assert!(!REUSE.is_on(op) && AGENT.is_on(op));
    }
}
