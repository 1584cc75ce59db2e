//! Tensor maps, and TMA copies of tiles.
//!
//! The hardware reads a tensor map from global memory, so a map that is built on the device needs a location that no
//! other CTA changes while copies use it. The module has a table of maps. A slot permanently belongs to the first map
//! that claims it: the content of a map follows from its key and stays valid for any later launch, in any stream.
//!
//! ```text
//! slot, 256 bytes:    0 map      128 state: empty, busy, ready      144 key: base, static fields, extents, strides
//! ```
//!
//! A map can be in any of [`PROBES`] slots starting at its hash. Each CTA pays for the search before its first copy,
//! so an existing map is found in two trips to L2: the kernel looks up consecutively created maps together, and each
//! lane of the warp checks one slot for one of them, first its state and then its whole key. Lanes neither wait nor
//! claim slots during this step, so they cannot block each other.
//!
//! A map that this step does not find is then searched by one thread, slot by slot. A *busy* slot is being filled by
//! a running CTA, and the thread waits for it. An *empty* slot is claimed by an atomic exchange. The thread that
//! claims a slot builds the map in shared memory, copies it, writes the key, and sets the state to *ready* with
//! release semantics. Threads that read *ready* do so with acquire semantics, and every user executes the tensor map
//! proxy fence afterward.
//!
//! If all slots belong to other maps, the warp borrows an entry of a pool. An entry has room for all maps of the
//! function. The warp returns it at the end of the kernel, when the copies of the whole CTA are done. One entry
//! suffices for all maps of an agent, so no warp waits for a second entry while it holds the first. A map that is
//! created in a loop overwrites its predecessor in the entry once the copies by the predecessor have filled their
//! stages.
//!
//! A view with an extent of zero does not have readable elements. Its map describes one element of zeros.
//!
//! A dimension with one element uses a fixed stride instead of the view's. No address depends on the view's stride,
//! which may be illegal in a map.

use super::{Lower, llvm::Cmp, rings::Filled};
use crate::{
    analysis::{access::View, tensor_maps},
    dialect::{
        layouts::storage_bits,
        llvm_types::GLOBAL,
        nv_tileaa::FuncOp,
        nv_tileas::{
            AllocTensorOp, AsyncTiledTmaLoadOp, AsyncTiledTmaStoreOp, AsyncTmaStoreWaitOp, MakeTiledTmaDescOp,
            MemDescType, TmaDescType, TmaReadyOp,
        },
        pass::{Failed, fail},
        rt::*,
        shared_memory::memdesc_bytes,
    },
};
use melior::dialect::llvm;
use tile_layout::{MAP_STRIDE_LIMIT, MAP_UNIT, SINGLE_STRIDE, TensorCopyPlan, TensorMapPlan};

/// The number of slots of the table, and the size of a slot in bytes.
const SLOTS: i64 = 1024;
const SLOT: i64 = 256;
/// The offset of the state in a slot or pool entry.
const STATE: i64 = MAP;
/// The offset of the key in a slot: a multiple of 16, since words are read in pairs. A short key is followed by
/// zeros.
const KEY: i64 = 144;
/// The number of slots that may hold a key: a power of two, and the number of lanes that search for one map.
const PROBES: i64 = 8;
/// The number of pool entries: more than the number of copying agents that run at once on any target. A CTA with two
/// such agents has 256 threads and too many accumulators for four CTAs to share an SM, so no agent waits for an entry
/// that the other agent of its CTA holds.
const ENTRIES: i64 = 2048;
/// The size of a map in bytes.
const MAP: i64 = 128;
/// The states of a slot. A pool entry is empty or busy.
const BUSY: i64 = 1;
const READY: i64 = 2;
/// The results of a search: the key's slot, a slot to fill, or no slot. The slot number is in the bits above.
const FOUND: i64 = 0;
const TAKEN: i64 = 1;
const FULL: i64 = 2;
/// The largest coordinate, and the largest extent of a map's dimension.
const LARGEST: i64 = i32::MAX as i64;

/// The run-time values that a map is built from.
struct Fields<'c> {
    map: TensorMapPlan,
    /// The address of the first element.
    base: Val<'c>,
    /// The extents in map order, in 32 bits.
    extents: Vec<Val<'c>>,
    /// The strides in bytes of the map's dimensions 1 and up.
    strides: Vec<Val<'c>>,
}

/// The shared memory in which a map is built.
#[derive(Clone, Copy)]
struct Scratch<'c> {
    address: Val<'c>,
    /// Whether TMA loads write to it at other times.
    reused: bool,
}

/// A requested map.
struct Wanted<'c> {
    op: MakeTiledTmaDescOp<'c>,
    fields: Fields<'c>,
    scratch: Scratch<'c>,
    /// The map's number among the maps of its function.
    number: i64,
    /// The pipelines whose stages are filled by copies that use the previous map.
    filled_before: Vec<Filled<'c>>,
}

/// A copy of a tile between a view and shared memory.
struct Copy<'c> {
    view: View<'c>,
    plan: TensorCopyPlan,
    /// The address of the map.
    map: Val<'c>,
    memory: Val<'c>,
    /// The coordinates of the tile in map order, in 64 bits.
    starts: Vec<Val<'c>>,
}

impl Copy<'_> {
    /// Returns the coordinates as operands of the instruction, numbered from `first`.
    fn coordinates(&self, first: usize) -> String {
        let list: Vec<String> = (0..self.starts.len()).map(|d| format!("${}", d + first)).collect();
        list.join(", ")
    }
}

/// Returns the function around an op.
fn function_of(op: MakeTiledTmaDescOp<'_>) -> OpRef<'_> {
    let mut function = op.op();
    while let Some(outer) = parent_op(function).filter(|_| FuncOp::cast(function).is_none()) {
        function = outer;
    }
    function
}

/// Whether TMA loads write to the memory of a map's scratch at other times.
fn is_copied_over(op: MakeTiledTmaDescOp<'_>) -> bool {
    let place = |storage: AllocTensorOp<'_>| {
        let desc = MemDescType::cast(ty(storage.result()))?;
        let start = storage.offset()?;
        Some(start..start + memdesc_bytes(desc) as i64)
    };
    let own = defining_op(op.scratch()).and_then(AllocTensorOp::cast);
    let Some((own, at)) = own.and_then(|own| Some((own, place(own)?))) else { return true };
    let others = collect_ops(function_of(op), AllocTensorOp::cast);
    others
        .into_iter()
        .filter(|other| op_key(other.op()) != op_key(own.op()) && is_copied_to(other.result()))
        .any(|other| place(other).is_none_or(|other| other.start < at.end && at.start < other.end))
}

/// Whether a TMA load writes to the storage or a part of it.
fn is_copied_to(storage: Val<'_>) -> bool {
    uses(storage).into_iter().any(|(user, at)| match AsyncTiledTmaLoadOp::cast(user) {
        Some(copy) => key(copy.dest()) == key(operand(user, at)),
        None => results(user).any(|r| MemDescType::cast(ty(r)).is_some() && is_copied_to(r)),
    })
}

impl<'c> Lower<'c, '_> {
    /// Creates the map of an op together with the maps of the ops directly after it.
    pub(super) fn make_tiled_tma_desc(&mut self, op: MakeTiledTmaDescOp<'c>) -> Result<(), Failed> {
        if self.values.lowered.contains_key(&key(op.desc())) {
            return Ok(());
        }
        let block = block_around(op.op()).ok_or_else(|| fail(op.op(), "the op is not in a block"))?;
        let together: Vec<_> = ops_of(block)
            .skip_while(|o| *o != op.op())
            .map_while(MakeTiledTmaDescOp::cast)
            .take((32 / PROBES) as usize)
            .collect();
        // Check the operands before creating branches.
        let wanted: Vec<Wanted<'c>> = together.into_iter().map(|op| self.wanted(op)).collect::<Result<_, _>>()?;
        let borrowed = (self.borrowed_entry(), collect_ops(function_of(op), MakeTiledTmaDescOp::cast).len() as i64);
        let pointer = llvm::r#type::pointer(self.l.context(), GLOBAL);
        let l = &self.l;
        let first = l.icmp(Cmp::Eq, self.threads.warp, l.i32c(0));
        let make = || {
            let addresses = self.interned(&wanted, borrowed);
            let text = format!("fence.proxy.tensormap::generic.acquire.gpu [$0], {MAP};");
            for &address in &addresses {
                l.asm(&text, "l,~{memory}", &[self.generic(address)]);
            }
            addresses
        };
        let nowhere = || wanted.iter().map(|_| l.poison(pointer)).collect();
        let addresses = l.either(first, &vec![pointer; wanted.len()], make, nowhere);
        for (map, address) in wanted.iter().zip(addresses) {
            let address = self.generic(address);
            self.set_scalar(map.op.desc(), address);
        }
        Ok(())
    }

    fn wanted(&self, op: MakeTiledTmaDescOp<'c>) -> Result<Wanted<'c>, Failed> {
        let view = self.view(op.op(), op.view())?;
        let desc = TmaDescType::cast(ty(op.desc())).ok_or_else(|| fail(op.op(), "not a tensor map"))?;
        let map =
            tensor_maps::map_of(desc).ok_or_else(|| fail(op.op(), "a tensor map cannot have elements of this type"))?;
        let scratch = Scratch { address: self.shared_address(op.op(), op.scratch())?, reused: is_copied_over(op) };
        let all = collect_ops(function_of(op), MakeTiledTmaDescOp::cast);
        let number = all.iter().take_while(|x| op_key(x.op()) != op_key(op.op())).count() as i64;
        let filled_before = op.pipelines().zip(op.iterators()).map(|(p, at)| self.filled(op.op(), p, at));
        let filled_before = filled_before.collect::<Result<_, _>>()?;
        Ok(Wanted { op, fields: self.fields(op.op(), &view, map)?, scratch, number, filled_before })
    }

    pub(super) fn tma_ready(&mut self, op: TmaReadyOp<'c>) -> Result<(), Failed> {
        let view = self.view(op.op(), op.view())?;
        let map = TmaDescType::cast(held_type(op.desc())).and_then(tensor_maps::map_of);
        let map = map.ok_or_else(|| fail(op.op(), "not a tensor map"))?;
        let bytes = (storage_bits(view.memref.element_type()) / 8).ilog2();
        let l = &self.l;
        let base = l.cast("ptrtoint", self.scalar(op.op(), view.make.base())?, l.i64);
        // The bits that must be zero.
        let mut wrong = l.bin("and", base, l.i64c(MAP_UNIT as i64 - 1));
        for &dim in &map.dims[1..] {
            let stride = match view.stride(dim) {
                Ok(stride) => l.i64c(stride),
                Err(v) => l.zext64(self.scalar(op.op(), v)?),
            };
            let within = (MAP_STRIDE_LIMIT - MAP_UNIT) as i64 >> bytes;
            let outside = l.bin("and", stride, l.i64c(!within));
            let outside = match view.extent(dim) {
                Ok(1) => l.i64c(0),
                Ok(_) => outside,
                Err(v) => {
                    let single = l.icmp(Cmp::Eq, l.zext64(self.scalar(op.op(), v)?), l.i64c(1));
                    l.select(single, l.i64c(0), outside)
                }
            };
            wrong = l.bin("or", wrong, outside);
        }
        self.set_scalar(op.ready(), l.icmp(Cmp::Eq, wrong, l.i64c(0)));
        Ok(())
    }

    pub(super) fn async_tiled_tma_load(&mut self, op: AsyncTiledTmaLoadOp<'c>) -> Result<(), Failed> {
        let indices: Vec<Val<'c>> = op.indices().collect();
        let copy = self.tile_copy(op.op(), (op.view(), &indices), op.desc(), op.dest())?;
        let barrier = self.shared_address(op.op(), op.token())?;
        let text = format!(
            "cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes \
             [$0], [$1, {{{}}}], [$2];",
            copy.starts.len(),
            copy.coordinates(3)
        );
        self.start_boxes(&copy, &text, Some(barrier));
        Ok(())
    }

    pub(super) fn async_tiled_tma_store(&mut self, op: AsyncTiledTmaStoreOp<'c>) -> Result<(), Failed> {
        let indices: Vec<Val<'c>> = op.indices().collect();
        let copy = self.tile_copy(op.op(), (op.view(), &indices), op.desc(), op.source())?;
        let l = &self.l;
        // The map of a view without elements has one element, which must not be written.
        let mut writes = l.icmp(Cmp::Eq, self.threads.thread, l.i32c(0));
        for (&dim, &start) in copy.plan.map.dims.iter().zip(&copy.starts) {
            if let Err(extent) = copy.view.extent(dim) {
                let is_inside = l.icmp(Cmp::Slt, start, l.zext64(self.scalar(op.op(), extent)?));
                writes = l.bin("and", writes, is_inside);
            }
        }
        let text = format!(
            "cp.async.bulk.tensor.{}d.global.shared::cta.tile.bulk_group [$1, {{{}}}], [$0];",
            copy.starts.len(),
            copy.coordinates(2)
        );
        l.when(writes, || {
            self.start_boxes(&copy, &text, None);
            l.order("cp.async.bulk.commit_group;");
        });
        Ok(())
    }

    /// Threads that have not started copies do not wait.
    pub(super) fn async_tma_store_wait(&mut self, op: AsyncTmaStoreWaitOp<'c>) {
        let until = if op.read() { ".read" } else { "" };
        self.l.order(&format!("cp.async.bulk.wait_group{until} 0;"));
    }

    fn tile_copy(
        &self,
        op: OpRef<'c>,
        (view, indices): (Val<'c>, &[Val<'c>]),
        desc: Val<'c>,
        storage: Val<'c>,
    ) -> Result<Copy<'c>, Failed> {
        let view = self.view(op, view)?;
        let of = TmaDescType::cast(ty(desc)).ok_or_else(|| fail(op, "not a tensor map"))?;
        let memory = MemDescType::cast(ty(storage)).ok_or_else(|| fail(op, "not a memdesc"))?;
        let plan = tensor_maps::boxes(view.ty, of, memory).map_err(|reason| fail(op, reason))?;
        let map = self.scalar(op, desc)?;
        let memory = self.shared_address(op, storage)?;
        let starts = (plan.map.dims.iter())
            .map(|&dim| self.first_coordinate(op, &view, indices, dim))
            .collect::<Result<_, _>>()?;
        Ok(Copy { view, plan, map, memory, starts })
    }

    /// Emits one instruction for each box. The operands are the shared-memory address, the map, the barrier if there
    /// is one, and the coordinates.
    fn start_boxes(&self, copy: &Copy<'c>, text: &str, barrier: Option<Val<'c>>) {
        let l = &self.l;
        let registers = ",r".repeat(copy.starts.len() + usize::from(barrier.is_some()));
        let constraints = format!("r,l{registers},~{{memory}}");
        for part in &copy.plan.boxes {
            let mut args = vec![l.const_offset(copy.memory, part.offset as i64), copy.map];
            args.extend(barrier);
            args.extend(copy.starts.iter().zip(&part.coordinates).map(|(&start, &offset)| {
                let at = if offset == 0 { start } else { l.add(start, l.i64c(offset as i64)) };
                l.cast("trunc", l.bin("intr.umin", at, l.i64c(LARGEST)), l.i32)
            }));
            l.asm(text, &constraints, &args);
        }
    }

    /// Returns the first coordinate of a tile along a dimension of its view, in 64 bits. A coordinate past the end of
    /// every view stays past the end.
    fn first_coordinate(
        &self,
        op: OpRef<'c>,
        view: &View<'c>,
        indices: &[Val<'c>],
        dim: usize,
    ) -> Result<Val<'c>, Failed> {
        let l = &self.l;
        let at = view.ty.dim_map().iter().position(|&d| d as usize == dim);
        let at = at.ok_or_else(|| fail(op, "the view has no such dimension"))?;
        let index = self.scalar(op, indices[at])?;
        let wide = l.zext64(index);
        let wide = if ty(index) == l.i64 { l.bin("intr.umin", wide, l.i64c(LARGEST)) } else { wide };
        let step = view.ty.steps()[at].min(LARGEST);
        Ok(if step == 1 { wide } else { l.mul(wide, l.i64c(step)) })
    }

    //===-- making maps -----------------------------------------------------===//

    fn fields(&self, op: OpRef<'c>, view: &View<'c>, map: TensorMapPlan) -> Result<Fields<'c>, Failed> {
        let l = &self.l;
        let bytes = i64::from(storage_bits(view.memref.element_type()) / 8);
        let mut base = l.cast("ptrtoint", self.scalar(op, view.make.base())?, l.i64);
        let (mut extents, mut strides, mut empty) = (vec![], vec![], None);
        for &dim in &map.dims {
            extents.push(match view.extent(dim) {
                Ok(extent) if extent < 1 => return Err(fail(op, "the view has no elements")),
                Ok(extent) => l.i32c(extent.min(LARGEST)),
                Err(v) => {
                    let extent = l.zext64(self.scalar(op, v)?);
                    let none = l.icmp(Cmp::Slt, extent, l.i64c(1));
                    empty = Some(empty.map_or(none, |others| l.bin("or", others, none)));
                    l.cast("trunc", l.bin("intr.smin", extent, l.i64c(LARGEST)), l.i32)
                }
            });
        }
        if let Some(empty) = empty {
            let zeros = l.cast("ptrtoint", self.table(&[0; 4], 32), l.i64);
            base = l.select(empty, zeros, base);
            extents = extents.into_iter().map(|extent| l.select(empty, l.i32c(1), extent)).collect();
        }
        for (&dim, &extent) in map.dims[1..].iter().zip(&extents[1..]) {
            strides.push(match (view.extent(dim), view.stride(dim)) {
                (Ok(1), _) => l.i64c(SINGLE_STRIDE as i64),
                (_, Ok(stride)) => l.i64c(stride * bytes),
                // Assumptions about a stride do not hold if no address depends on it.
                (of_view, Err(v)) => {
                    let mut stride = self.scalar(op, v)?;
                    if ty(stride) != l.i32 {
                        stride = l.zext64(stride);
                    }
                    if empty.is_some() || of_view.is_err() {
                        let single = l.int(ty(stride), SINGLE_STRIDE as i64 / bytes);
                        stride = l.select(l.icmp(Cmp::Eq, extent, l.i32c(1)), single, stride);
                    }
                    l.mul(l.zext64(stride), l.i64c(bytes))
                }
            });
        }
        Ok(Fields { map, base, extents, strides })
    }

    /// Returns the addresses of maps, in all lanes of the calling warp.
    fn interned(&self, wanted: &[Wanted<'c>], borrowed: (Val<'c>, i64)) -> Vec<Val<'c>> {
        let l = &self.l;
        let table = self.zeros("__tileir_tensor_maps", SLOTS * SLOT, MAP);
        let keys: Vec<Vec<Val<'c>>> = wanted.iter().map(|map| self.key_words(&map.fields)).collect();
        let seen = self.seen(table, &keys);
        let slot = |number| l.byte_offset(table, l.zext64(l.mul(number, l.i32c(SLOT))));
        let place = |(i, (map, key)): (usize, (&Wanted<'c>, &Vec<Val<'c>>))| {
            let number = self.shfl("idx", seen, l.i32c(PROBES * i as i64));
            let is_new = l.icmp(Cmp::Slt, number, l.i32c(0));
            let search = || vec![self.searched(map, (table, key), borrowed)];
            l.either(is_new, &[ty(table)], search, || vec![slot(number)])[0]
        };
        wanted.iter().zip(&keys).enumerate().map(place).collect()
    }

    /// Returns the number of the slot that is ready with a key, or -1 if the search does not find it. Lanes from `i *
    /// PROBES` on have the result for key `i`.
    fn seen(&self, table: Val<'c>, keys: &[Vec<Val<'c>>]) -> Val<'c> {
        let l = &self.l;
        let length = keys.iter().map(Vec::len).max().unwrap_or(0);
        let word = |i: usize, at: usize| keys[i].get(at).copied().unwrap_or_else(|| l.i64c(0));
        let number = l.bin("lshr", self.threads.lane, l.i32c(PROBES.ilog2().into()));
        let mut own: Vec<Val<'c>> = (0..length).map(|at| word(0, at)).collect();
        for i in 1..keys.len() {
            let here = l.icmp(Cmp::Eq, number, l.i32c(i as i64));
            own.iter_mut().enumerate().for_each(|(at, v)| *v = l.select(here, word(i, at), *v));
        }
        let looks = l.icmp(Cmp::Ult, number, l.i32c(keys.len() as i64));
        let slot = l.either(looks, &[l.i32], || vec![self.glance(table, &own)], || vec![l.i32c(-1)])[0];
        let first = l.bin("and", self.threads.lane, l.i32c(32 - PROBES));
        let group = l.bin("shl", l.i32c((1 << PROBES) - 1), first);
        l.asm_value("redux.sync.max.s32 $0, $1, $2;", "=r,r,r", l.i32, &[slot, group])
    }

    /// Checks one slot per lane: returns its number if it is ready with a key, and -1 otherwise. All words of the
    /// slot's key are loaded at once.
    fn glance(&self, table: Val<'c>, key: &[Val<'c>]) -> Val<'c> {
        let l = &self.l;
        let (mut loads, mut compares) = (String::new(), String::new());
        for i in (0..key.len()).step_by(2) {
            let at = KEY + 8 * i as i64;
            loads += &if i + 1 < key.len() {
                format!("@p ld.global.v2.b64 {{k{i}, k{}}}, [a+{at}]; ", i + 1)
            } else {
                format!("@p ld.global.b64 k{i}, [a+{at}]; ")
            };
        }
        for i in 0..key.len() {
            compares += &format!("@p setp.eq.b64 p, k{i}, ${}; ", i + 3);
        }
        let text = format!(
            "{{ .reg .pred p; .reg .b32 s; .reg .b64 a, k<{words}>; \
             and.b32 $0, $2, {last}; \
             mul.wide.u32 a, $0, {SLOT}; \
             add.s64 a, a, $1; \
             ld.acquire.gpu.global.b32 s, [a+{STATE}]; \
             setp.eq.s32 p, s, {READY}; \
             {loads}{compares}\
             @!p mov.b32 $0, -1; }}",
            words = key.len(),
            last = SLOTS - 1,
        );
        let probe = l.bin("and", self.threads.lane, l.i32c(PROBES - 1));
        self.asm_of_key(&text, table, (l.add(self.hash(key), probe), key))
    }

    /// Returns the address of a map that the first search did not find.
    fn searched(
        &self,
        map: &Wanted<'c>,
        (table, key): (Val<'c>, &[Val<'c>]),
        (borrowed, count): (Val<'c>, i64),
    ) -> Val<'c> {
        let l = &self.l;
        let pointer = ty(table);
        let first = l.icmp(Cmp::Eq, self.threads.lane, l.i32c(0));
        let found = l.either(first, &[l.i32], || vec![self.look_up(table, key)], || vec![l.i32c(FULL)]);
        let found = self.shfl("idx", found[0], l.i32c(0));
        let slot = l.byte_offset(table, l.zext64(l.mul(l.bin("lshr", found, l.i32c(2)), l.i32c(SLOT))));
        let kind = l.bin("and", found, l.i32c(3));
        let is_there = l.icmp(Cmp::Eq, kind, l.i32c(FOUND));
        let build = || {
            let is_mine = l.icmp(Cmp::Eq, kind, l.i32c(TAKEN));
            let borrow = || {
                // Copies that use the previous content read it until they are done.
                map.filled_before.iter().for_each(|done| self.wait_for_filled(done));
                vec![l.const_offset(self.borrow_entry(borrowed, count), MAP * (map.number + 1))]
            };
            let to = l.either(is_mine, &[pointer], || vec![slot], borrow)[0];
            self.build(&map.fields, map.scratch, to);
            let publishes = l.bin("and", is_mine, first);
            l.when(publishes, || {
                for (i, &word) in key.iter().enumerate() {
                    l.store(word, l.const_offset(slot, KEY + 8 * i as i64), 8);
                }
                let text = format!("st.release.gpu.global.b32 [$0+{STATE}], {READY};");
                l.asm(&text, "l,~{memory}", &[slot]);
            });
            vec![to]
        };
        l.either(is_there, &[pointer], || vec![slot], build)[0]
    }

    /// Returns the fields of a map as words. The static fields determine the number of words.
    fn key_words(&self, fields: &Fields<'c>) -> Vec<Val<'c>> {
        let l = &self.l;
        let map = &fields.map;
        let (mut word, mut at) = (0u64, 0);
        let mut put = |value: u64, bits: u32| {
            word |= value << at;
            at += bits;
        };
        put(map.dims.len() as u64, 3);
        put(map.element.code().into(), 4);
        put(map.swizzle.tensor_map_code().into(), 2);
        put(map.nan.into(), 1);
        map.box_dims.iter().for_each(|&extent| put(u64::from(extent) - 1, 8));
        let steps = map.element_strides.iter().rev().fold(0, |word, &step| word << 3 | u64::from(step - 1));
        put((steps != 0).into(), 1);
        let mut words = vec![fields.base, l.i64c(word as i64)];
        if steps != 0 {
            words.push(l.i64c(steps as i64));
        }
        words.extend(fields.extents.chunks(2).map(|pair| {
            let low = l.zext64(pair[0]);
            pair.get(1).map_or(low, |&high| l.bin("or", low, l.bin("shl", l.zext64(high), l.i64c(32))))
        }));
        words.extend(&fields.strides);
        words
    }

    /// Finds the slot of a key or claims one for it, with one thread. Data written by other threads is read only from
    /// slots that are ready, so acquire semantics are only needed there.
    fn look_up(&self, table: Val<'c>, key: &[Val<'c>]) -> Val<'c> {
        let compare: String = (0..key.len())
            .map(|i| {
                let at = KEY + 8 * i as i64;
                format!("ld.global.b64 k, [a+{at}]; setp.ne.b64 p, k, ${}; @p bra other; ", i + 3)
            })
            .collect();
        let text = format!(
            "{{ .reg .pred p; .reg .b32 s, i, n; .reg .b64 a, k; \
             mov.b32 i, $2; \
             mov.b32 n, 0; \
             probe: and.b32 i, i, {last}; \
             mul.wide.u32 a, i, {SLOT}; \
             add.s64 a, a, $1; \
             look: ld.acquire.gpu.global.b32 s, [a+{STATE}]; \
             setp.eq.s32 p, s, {READY}; \
             @p bra known; \
             setp.ne.s32 p, s, 0; \
             @p bra look; \
             atom.relaxed.gpu.global.cas.b32 s, [a+{STATE}], 0, {BUSY}; \
             setp.ne.s32 p, s, 0; \
             @p bra look; \
             shl.b32 $0, i, 2; \
             or.b32 $0, $0, {TAKEN}; \
             bra done; \
             known: {compare}\
             shl.b32 $0, i, 2; \
             bra done; \
             other: add.s32 i, i, 1; \
             add.s32 n, n, 1; \
             setp.lt.s32 p, n, {PROBES}; \
             @p bra probe; \
             mov.b32 $0, {FULL}; \
             done: }}",
            last = SLOTS - 1,
        );
        self.asm_of_key(&text, table, (self.hash(key), key))
    }

    /// Emits code that computes `$0` from the table's address `$1`, a slot number `$2`, and the words of a key.
    fn asm_of_key(&self, text: &str, table: Val<'c>, (slot, key): (Val<'c>, &[Val<'c>])) -> Val<'c> {
        let l = &self.l;
        let constraints = format!("=&r,l,r{},~{{memory}}", ",l".repeat(key.len()));
        let args: Vec<Val<'c>> = [table, slot].into_iter().chain(key.iter().copied()).collect();
        l.asm_value(text, &constraints, l.i32, &args)
    }

    /// Returns the slot at which the search for a key begins: the highest bits of a sum of independent products.
    /// Zeros at the end of a key do not change it.
    fn hash(&self, key: &[Val<'c>]) -> Val<'c> {
        let l = &self.l;
        let odd = |i: usize| 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(2 * i as u64 + 1) as i64;
        let products = key.iter().enumerate().map(|(i, &word)| l.mul(word, l.i64c(odd(i))));
        let sum = products.reduce(|a, b| l.add(a, b)).unwrap_or_else(|| l.i64c(0));
        l.cast("trunc", l.bin("lshr", sum, l.i64c(64 - i64::from(SLOTS.ilog2()))), l.i32)
    }

    /// Builds a map in `scratch` and copies it to `to`, with all lanes of a warp.
    fn build(&self, fields: &Fields<'c>, scratch: Scratch<'c>, to: Val<'c>) {
        let l = &self.l;
        let Scratch { address: scratch, reused } = scratch;
        let map = &fields.map;
        let together = || l.order("bar.warp.sync -1;");
        let word = l.byte_offset(scratch, l.mul(self.threads.lane, l.i32c(4)));
        l.store(l.i32c(0), word, 4);
        together();
        let first = l.icmp(Cmp::Eq, self.threads.lane, l.i32c(0));
        l.when(first, || {
            let set = |field: &str, bits: u32, ordinal: Option<usize>, value: Val<'c>| {
                let ordinal = ordinal.map_or(String::new(), |i| format!("{i}, "));
                let text = format!("tensormap.replace.tile.{field}.shared::cta.b1024.b{bits} [$0], {ordinal}$1;");
                let constraints = if bits == 64 { "r,l,~{memory}" } else { "r,r,~{memory}" };
                l.asm(&text, constraints, &[scratch, value]);
            };
            // The codes must be immediate operands.
            let set_code = |field: &str, code: u32| {
                let text = format!("tensormap.replace.tile.{field}.shared::cta.b1024.b32 [$0], {code};");
                l.asm(&text, "r,~{memory}", &[scratch]);
            };
            set("global_address", 64, None, fields.base);
            set("rank", 32, None, l.i32c(map.dims.len() as i64 - 1));
            for i in 0..map.dims.len() {
                set("box_dim", 32, Some(i), l.i32c(map.box_dims[i].into()));
                set("global_dim", 32, Some(i), fields.extents[i]);
                set("element_stride", 32, Some(i), l.i32c(map.element_strides[i].into()));
            }
            for (i, &stride) in fields.strides.iter().enumerate() {
                set("global_stride", 64, Some(i), stride);
            }
            set_code("elemtype", map.element.code());
            set_code("interleave_layout", 0);
            set_code("swizzle_mode", map.swizzle.tensor_map_code());
            set_code("fill_mode", map.nan.into());
        });
        together();
        let text = format!(
            "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [$0], [$1], {MAP};"
        );
        l.asm(&text, "l,r,~{memory}", &[to, scratch]);
        if reused {
            // Later users of the memory may be TMA loads.
            l.order("fence.proxy.async.shared::cta;");
        }
        together();
    }

    //===-- borrowing -------------------------------------------------------===//

    fn entry_bytes(count: i64) -> i64 {
        MAP * (count + 1)
    }

    /// Returns a variable with the address of the entry that this thread's scope has borrowed, or zero.
    fn borrowed_entry(&mut self) -> Val<'c> {
        if let Some(v) = self.function.borrowed {
            return v;
        }
        let at_start = self.at_entry();
        let v = at_start.variable(at_start.i64, 8);
        at_start.store(at_start.i64c(0), v, 8);
        self.function.borrowed = Some(v);
        v
    }

    /// Returns the entry that the scope has borrowed, borrowing one if necessary.
    fn borrow_entry(&self, borrowed: Val<'c>, count: i64) -> Val<'c> {
        let l = &self.l;
        let pool = self.zeros(&format!("__tileir_borrowed_maps_{count}"), ENTRIES * Self::entry_bytes(count), MAP);
        let known = l.load(l.i64, borrowed, 8);
        let has_none = l.icmp(Cmp::Eq, known, l.i64c(0));
        let take = || {
            let first = l.icmp(Cmp::Eq, self.threads.lane, l.i32c(0));
            let search = || {
                let text = format!(
                    "{{ .reg .pred p; .reg .b32 s; .reg .b64 a; \
                     mov.b32 $0, $2; \
                     next: and.b32 $0, $0, {last}; \
                     mul.wide.u32 a, $0, {bytes}; \
                     add.s64 a, a, $1; \
                     atom.acquire.gpu.global.cas.b32 s, [a], 0, {BUSY}; \
                     setp.eq.s32 p, s, 0; \
                     @p bra done; \
                     add.s32 $0, $0, 1; \
                     bra next; \
                     done: }}",
                    last = ENTRIES - 1,
                    bytes = Self::entry_bytes(count),
                );
                // Spread the starting points of CTAs.
                let start = l.mul(l.sreg("ctaid.x"), l.i32c(0x9e37_79b1));
                let start = l.bin("lshr", start, l.i32c(16));
                vec![l.asm_value(&text, "=&r,l,r,~{memory}", l.i32, &[pool, start])]
            };
            let entry = l.either(first, &[l.i32], search, || vec![l.i32c(0)]);
            let entry = self.shfl("idx", entry[0], l.i32c(0));
            let entry = l.byte_offset(pool, l.mul(l.zext64(entry), l.i64c(Self::entry_bytes(count))));
            let entry = l.cast("ptrtoint", entry, l.i64);
            l.store(entry, borrowed, 8);
            vec![entry]
        };
        let entry = l.either(has_none, &[l.i64], take, || vec![known]);
        l.cast("inttoptr", entry[0], ty(pool))
    }

    /// Returns the borrowed entries at the end of a kernel, when the copies of the whole CTA are done.
    pub(super) fn give_back_maps(&self) {
        let Some(borrowed) = self.function.borrowed else { return };
        self.barrier();
        let l = &self.l;
        let entry = l.load(l.i64, borrowed, 8);
        let has_one = l.icmp(Cmp::Ne, entry, l.i64c(0));
        let first = l.icmp(Cmp::Eq, self.threads.lane, l.i32c(0));
        l.when(l.bin("and", has_one, first), || {
            l.asm("st.release.gpu.global.b32 [$0], 0;", "l,~{memory}", &[entry]);
        });
    }
}
