//! Asynchronous copies from global to shared memory by `cp.async`, and views of storage.
//!
//! One instruction copies 4, 8 or 16 bytes that are contiguous on both sides. Elements that are outside the view or
//! masked off are written as zeros: the instruction reads only the requested number of bytes and zero-fills the rest.

use super::{
    Lower, Lowered,
    global::{Tile, pointee},
    llvm::{Cmp, Operands},
};
use crate::{
    analysis::access,
    dialect::{
        dot_plan::DotPlan,
        layouts::{storage_bits, to_layout},
        nv_tileas::{
            AsyncCommitOp, AsyncLoadOp, AsyncTiledLoadOp, AsyncTiledTmaLoadOp, AsyncWaitOp, Bounds, LayoutAttr,
            MemDescSlotOp, MemorySpace,
        },
        pass::{Failed, fail},
        rt::*,
        shared_memory::{shared_layout, stage_bytes},
    },
};
use tile_layout::{Direction, Layout, Shape, SharedAccess};

/// The source of a copy.
struct CopySource<'c> {
    address: Val<'c>,
    /// The number of bytes to read; `None` for all.
    bytes: Option<Val<'c>>,
}

/// Whether warps read fragments of dots from a stage.
fn reads_fragments(stage: MemDescSlotOp<'_>) -> bool {
    let is_filled = || uses(stage.result()).iter().any(|(user, _)| AsyncTiledTmaLoadOp::cast(*user).is_some());
    DotPlan::around(stage.op()).is_some_and(|plan| plan.reads_fragments()) && !is_filled()
}

impl<'c> Lower<'c, '_> {
    pub(super) fn async_tiled_load(&mut self, op: AsyncTiledLoadOp<'c>) -> Result<(), Failed> {
        let indices: Vec<Val<'c>> = op.indices().collect();
        let view = self.view(op.op(), op.view())?;
        if view.ty.sparse_dim().is_some() {
            return Err(fail(op.op(), "asynchronous copies of views with a sparse dimension have no lowering to LLVM"));
        }
        let layout = LayoutAttr::cast(op.layout()).and_then(to_layout);
        let layout = layout.ok_or_else(|| fail(op.op(), "copy has no layout"))?;
        let shape = Shape::new(view.ty.tile()).map_err(|e| fail(op.op(), e.to_string()))?;
        let bounds = self.in_bounds(op.op(), indices.len(), op.bounds());
        let tile = self.tile_of_shape(op.op(), &view, &indices, &layout, &shape, &bounds)?;
        let fast = access::fast_dimension(&view);
        let element = i64::from(storage_bits(view.memref.element_type()) / 8);
        let source = |this: &Self, registers: &[u32]| CopySource {
            address: this.address(&tile, &layout, registers[0]),
            bytes: match op.bounds() {
                Bounds::None => None,
                Bounds::Vector => {
                    this.all_or_nothing(this.inside(&tile, registers[0]), registers.len() as i64 * element)
                }
                Bounds::Split => this.part_inside(&tile, fast, registers, element),
            },
        };
        self.copy_async(op.op(), op.dest(), &layout, (&shape, fast), op.vector() as usize, op.predicate(), source)
    }

    pub(super) fn async_load(&mut self, op: AsyncLoadOp<'c>) -> Result<(), Failed> {
        let pointers = self.fragment(op.op(), op.ptr())?;
        let masks = op.mask().map(|m| self.fragment(op.op(), m)).transpose()?;
        let layout = self.layout(op.op(), op.ptr())?;
        let tensor = self.tensor(op.op(), op.ptr())?;
        let element = i64::from(storage_bits(pointee(op.ptr())) / 8);
        let source = |this: &Self, registers: &[u32]| {
            let first = registers[0] as usize;
            let mask = masks.as_ref().map(|m| if m.len() == 1 { m[0] } else { m[first] });
            CopySource { address: pointers[first], bytes: this.all_or_nothing(mask, registers.len() as i64 * element) }
        };
        let along = op.along().unwrap_or(0) as usize;
        self.copy_async(
            op.op(),
            op.dest(),
            &layout,
            (&tensor.tile_shape(), along),
            op.vector() as usize,
            op.predicate(),
            source,
        )
    }

    /// Groups and waits concern the whole CTA; `convert-tileas-to-nvgpu` lowers them. Their operands only express
    /// order.
    pub(super) fn async_commit(&self, op: OpRef<'c>) -> Result<(), Failed> {
        let token = ty(result(op, 0));
        AsyncCommitOp::build(&self.l.b, token, &[]).map_err(|e| fail(op, e.to_string()))?;
        Ok(())
    }

    pub(super) fn async_wait(&self, op: AsyncWaitOp<'c>) -> Result<(), Failed> {
        let pending = i64_attr(self.l.context(), op.pending());
        AsyncWaitOp::build(&self.l.b, &[], pending).map_err(|e| fail(op.op(), e.to_string()))?;
        Ok(())
    }

    /// Orders this thread's accesses to shared memory before later asynchronous accesses.
    pub(super) fn async_fence(&self) {
        self.l.order("fence.proxy.async.shared::cta;");
    }

    /// Computes the address of a stage.
    pub(super) fn memdesc_slot(&mut self, op: MemDescSlotOp<'c>) -> Result<(), Failed> {
        let desc = self.memdesc(op.op(), op.source())?;
        if desc.space() != MemorySpace::Shared {
            return self.tensor_slot(op, desc);
        }
        let memory = self.shared_address(op.op(), op.source())?;
        let index = self.scalar(op.op(), op.index())?;
        let bytes = stage_bytes(desc) as i64;
        let stage = self.stage_at(memory, bytes, op.index())?;
        let address = match stage.filter(|_| reads_fragments(op)) {
            Some(stage) => self.address_of_stage(op.op(), stage)?,
            None => self.l.byte_offset(memory, self.l.mul(index, self.l.i32c(bytes))),
        };
        self.set(op.result(), Lowered::Shared(address));
        if let Some(stage) = stage {
            self.values.stages.insert(key(op.result()), stage);
        }
        Ok(())
    }

    /// The same storage under another type.
    pub(super) fn memdesc_alias(&mut self, op: OpRef<'c>) -> Result<(), Failed> {
        if self.memdesc(op, operand(op, 0))?.space() != MemorySpace::Shared {
            return self.tensor_alias(op);
        }
        let memory = self.shared_address(op, operand(op, 0))?;
        self.set(result(op, 0), Lowered::Shared(memory));
        if let Some(stage) = self.values.stages.get(&key(operand(op, 0))).copied() {
            self.values.stages.insert(key(result(op, 0)), stage);
        }
        Ok(())
    }

    /// Emits the copies of a tile.
    #[allow(clippy::too_many_arguments)]
    fn copy_async(
        &self,
        op: OpRef<'c>,
        dest: Val<'c>,
        layout: &Layout,
        (shape, fast): (&Shape, usize),
        vector: usize,
        predicate: Option<Val<'c>>,
        source: impl Fn(&Self, &[u32]) -> CopySource<'c>,
    ) -> Result<(), Failed> {
        let memory = self.shared_address(op, dest)?;
        let desc = self.memdesc(op, dest)?;
        let shared = shared_layout(desc).ok_or_else(|| fail(op, "storage has no valid layout"))?;
        let bits = storage_bits(desc.element_type());
        let plan =
            SharedAccess::new(layout, &shared, bits, Direction::Store, false).map_err(|e| fail(op, e.to_string()))?;
        let bytes = vector as u64 * u64::from(storage_bits(desc.element_type()) / 8);
        let runs = plan
            .runs(layout, shape, fast, vector as u32, bytes)
            .ok_or_else(|| fail(op, "the copy's vectors are not contiguous in shared memory"))?;
        if !matches!(bytes, 4 | 8 | 16) {
            return Err(fail(op, format!("a copy must move 4, 8 or 16 bytes at a time, got {bytes}")));
        }
        // If several threads hold the same data, only one of them copies it.
        let guard = self.where_zero(plan.guard);
        let predicate = match predicate {
            Some(p) => self.both(Some(self.scalar(op, p)?), guard),
            None => guard,
        };
        let thread = self.linear(&plan.address.expr());
        for run in runs {
            let to = self.instruction_address(memory, thread, &run);
            self.copy_run(to, &source(self, &run.registers), bytes, predicate);
        }
        Ok(())
    }

    fn copy_run(&self, to: Val<'c>, source: &CopySource<'c>, bytes: u64, predicate: Option<Val<'c>>) {
        // Only 16-byte copies may bypass L1.
        let kind = if bytes == 16 { "cg.shared.global.L2::128B" } else { "ca.shared.global" };
        let mut operands = Operands::default();
        let (to, from) = (operands.input("r", to), operands.input("l", source.address));
        let size = source.bytes.map(|v| format!(", {}", operands.input("r", v))).unwrap_or_default();
        let guard = operands.guard(predicate);
        operands.emit(&self.l, &format!("{guard}cp.async.{kind} [{to}], [{from}], {bytes}{size};"));
    }

    fn all_or_nothing(&self, inside: Option<Val<'c>>, bytes: i64) -> Option<Val<'c>> {
        let l = &self.l;
        inside.map(|inside| l.select(inside, l.i32c(bytes), l.i32c(0)))
    }

    /// Returns the number of bytes of a vector that are inside the view, if the view's end may cut the vector.
    fn part_inside(&self, tile: &Tile<'c>, fast: usize, registers: &[u32], element: i64) -> Option<Val<'c>> {
        let l = &self.l;
        let others = (0..tile.left.len()).filter(|d| *d != fast).fold(None, |all, d| match tile.left[d] {
            Some(left) => {
                let inside = l.icmp(Cmp::Slt, self.coordinate(tile, d, registers[0]), left);
                self.both(all, Some(inside))
            }
            None => all,
        });
        let whole = l.i32c(registers.len() as i64 * element);
        let part = match tile.left[fast] {
            Some(left) => {
                let rest = l.bin("sub", left, self.coordinate(tile, fast, registers[0]));
                let some = l.bin("intr.smax", rest, l.i32c(0));
                l.bin("intr.smin", l.mul(some, l.i32c(element)), whole)
            }
            None => whole,
        };
        match others {
            Some(others) => Some(l.select(others, part, l.i32c(0))),
            None => Some(part),
        }
    }
}
