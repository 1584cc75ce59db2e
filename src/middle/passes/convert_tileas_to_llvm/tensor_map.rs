//! Tensor maps.
//!
//! The hardware reads a tensor map from global memory, so a map that is built on the device needs a location that no
//! other CTA changes while copies use it. The module has a table of maps. A slot permanently belongs to the first map
//! that claims it: the content of a map follows from its key and stays valid for any later launch, in any stream. The
//! device library searches the table (`c/maps.c` of `tile_rtlib` describes its slots); this file makes keys and maps.
//!
//! Each CTA pays for the search before its first copy, so an existing map is found in two trips to L2: the kernel
//! looks up consecutively created maps together, and each lane of the warp glances at one slot for one of them. Lanes
//! neither wait nor claim slots during this step, so they cannot block each other.
//!
//! A map that this step does not find is then searched by one thread, slot by slot. The thread may claim a slot. The
//! warp then builds the map in shared memory and copies it, and the thread publishes the slot. Every user executes the
//! tensor map proxy fence afterward.
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

use super::{Llvm, Lower, llvm::Cmp, rings::Filled, tma::LARGEST};
use crate::{
    analysis::{
        access::View,
        tensor_map_ops::{is_copied_over, maps_of_function},
        tensor_maps,
    },
    dialect::{
        layouts::{memory_bits, storage_bits},
        llvm_types::GLOBAL,
        nv_tileas::{MakeTiledTmaDescOp, TmaDescType},
        pass::{Failed, fail},
        rt::*,
    },
};
use melior::dialect::llvm;
use tile_layout::{SINGLE_STRIDE, TensorMapPlan};
use tile_rtlib::{
    MapAnswer, Runtime,
    maps::{ENTRIES, KEY_WORDS, MAP_BYTES, PROBES, SLOT_BYTES, SLOTS, entry_bytes},
};

/// The size of a map, and the alignment of a table.
const MAP: i64 = MAP_BYTES as i64;

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
            .take(32 / PROBES as usize)
            .collect();
        // Check the operands before creating branches.
        let wanted: Vec<Wanted<'c>> = together.into_iter().map(|op| self.wanted(op)).collect::<Result<_, _>>()?;
        let borrowed = (self.borrowed_entry(), maps_of_function(op).len() as i64);
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
        let number = maps_of_function(op).iter().take_while(|x| op_key(x.op()) != op_key(op.op())).count() as i64;
        let filled_before = op.pipelines().zip(op.iterators()).map(|(p, at)| self.filled(op.op(), p, at));
        let filled_before = filled_before.collect::<Result<_, _>>()?;
        Ok(Wanted { op, fields: self.fields(op.op(), &view, map)?, scratch, number, filled_before })
    }

    //===-- making maps -----------------------------------------------------===//

    fn fields(&self, op: OpRef<'c>, view: &View<'c>, map: TensorMapPlan) -> Result<Fields<'c>, Failed> {
        let l = &self.l;
        let bytes = i64::from(storage_bits(view.memref.element_type()) / 8);
        // Maps of packed elements count pairs.
        let packed = memory_bits(view.memref.element_type()) < 8;
        let in_pairs = |v: Val<'c>| if packed { l.bin("lshr", v, l.int(ty(v), 1)) } else { v };
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
        extents[0] = in_pairs(extents[0]);
        if let Some(empty) = empty {
            let zeros = l.cast("ptrtoint", self.table(&[0; 4], 32), l.i64);
            base = l.select(empty, zeros, base);
            extents = extents.into_iter().map(|extent| l.select(empty, l.i32c(1), extent)).collect();
        }
        for (&dim, &extent) in map.dims[1..].iter().zip(&extents[1..]) {
            strides.push(match (view.extent(dim), view.stride(dim)) {
                (Ok(1), _) => l.i64c(SINGLE_STRIDE as i64),
                (_, Ok(stride)) => in_pairs(l.i64c(stride * bytes)),
                // Assumptions about a stride do not hold if no address depends on it.
                (of_view, Err(v)) => {
                    let mut stride = self.scalar(op, v)?;
                    if ty(stride) != l.i32 {
                        stride = l.zext64(stride);
                    }
                    if empty.is_some() || of_view.is_err() {
                        let single = l.int(ty(stride), SINGLE_STRIDE as i64 / bytes * if packed { 2 } else { 1 });
                        stride = l.select(l.icmp(Cmp::Eq, extent, l.i32c(1)), single, stride);
                    }
                    in_pairs(l.mul(l.zext64(stride), l.i64c(bytes)))
                }
            });
        }
        Ok(Fields { map, base, extents, strides })
    }

    /// Returns the addresses of maps, in all lanes of the calling warp.
    fn interned(&self, wanted: &[Wanted<'c>], borrowed: (Val<'c>, i64)) -> Vec<Val<'c>> {
        let l = &self.l;
        let table = self.zeros("__tileir_tensor_maps", (SLOTS * SLOT_BYTES) as i64, MAP);
        let keys: Vec<Vec<Val<'c>>> = wanted.iter().map(|map| self.key_words(&map.fields)).collect();
        let seen = self.seen(table, &keys);
        let place = |(i, (map, key)): (usize, (&Wanted<'c>, &Vec<Val<'c>>))| {
            let number = self.shfl("idx", seen, l.i32c(i64::from(PROBES) * i as i64));
            let is_new = l.icmp(Cmp::Slt, number, l.i32c(0));
            let search = || vec![self.searched(map, (table, key), borrowed)];
            l.either(is_new, &[ty(table)], search, || vec![self.slot(table, number)])[0]
        };
        wanted.iter().zip(&keys).enumerate().map(place).collect()
    }

    /// Returns the address of a slot.
    fn slot(&self, table: Val<'c>, number: Val<'c>) -> Val<'c> {
        let l = &self.l;
        l.byte_offset(table, l.zext64(l.mul(number, l.i32c(SLOT_BYTES as i64))))
    }

    /// Returns the number of the slot that is ready with a key, or -1 if the glance does not find it. Lanes from `i *
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
        let args = || self.with_key(&[self.integer(table), self.threads.lane], &own);
        let glance = || vec![self.runtime_word(Runtime::MapGlance, &args())];
        let slot = l.either(looks, &[l.i32], glance, || vec![l.i32c(-1)])[0];
        let first = l.bin("and", self.threads.lane, l.i32c(32 - i64::from(PROBES)));
        let group = l.bin("shl", l.i32c((1 << PROBES) - 1), first);
        l.asm_value("redux.sync.max.s32 $0, $1, $2;", "=r,r,r", l.i32, &[slot, group])
    }

    /// Returns the arguments of a library function whose last parameters are a key.
    fn with_key(&self, first: &[Val<'c>], key: &[Val<'c>]) -> Vec<Val<'c>> {
        let l = &self.l;
        let missing = (key.len()..KEY_WORDS).map(|_| l.i64c(0));
        [first, &[l.i32c(key.len() as i64)], key].concat().into_iter().chain(missing).collect()
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
        let search = || vec![self.runtime_word(Runtime::MapClaim, &self.with_key(&[self.integer(table)], key))];
        let found = l.either(first, &[l.i32], search, || vec![l.i32c(MapAnswer::Full as i64)]);
        let found = self.shfl("idx", found[0], l.i32c(0));
        let number = l.bin("lshr", found, l.i32c(2));
        let slot = self.slot(table, number);
        let kind = l.bin("and", found, l.i32c(3));
        let is = |answer: MapAnswer| l.icmp(Cmp::Eq, kind, l.i32c(answer as i64));
        let build = || {
            let is_mine = is(MapAnswer::Claimed);
            let borrow = || {
                // Copies that use the previous content read it until they are done.
                map.filled_before.iter().for_each(|done| self.wait_for_filled(done));
                vec![l.const_offset(self.borrow_entry(borrowed, count), MAP * (map.number + 1))]
            };
            let to = l.either(is_mine, &[pointer], || vec![slot], borrow)[0];
            self.build(&map.fields, map.scratch, to);
            let publishes = l.bin("and", is_mine, first);
            let published = || self.with_key(&[self.integer(table), number], key);
            l.when(publishes, || self.runtime(Runtime::MapPublish, &published()));
            vec![to]
        };
        l.either(is(MapAnswer::Found), &[pointer], || vec![slot], build)[0]
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
        put(map.swizzle.atomicity_code().into(), 2);
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
            if map.swizzle.atomicity_code() != 0 {
                set_code("swizzle_atomicity", map.swizzle.atomicity_code());
            }
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

    /// Returns a variable with the address of the entry that this thread's scope has borrowed, or zero.
    fn borrowed_entry(&mut self) -> Val<'c> {
        if let Some(v) = self.function.borrowed {
            return v;
        }
        let at_start = self.at_entry();
        let v = at_start.variable(at_start.i64, 8);
        self.set_borrowed(&at_start, at_start.i64c(0), v);
        self.function.borrowed = Some(v);
        v
    }

    fn get_borrowed(&self, from: Val<'c>) -> Val<'c> {
        let l = &self.l;
        if self.function.borrows_in_memory { l.volatile_load(l.i64, from, 8) } else { l.load(l.i64, from, 8) }
    }

    fn set_borrowed(&self, l: &Llvm<'c>, entry: Val<'c>, to: Val<'c>) {
        if self.function.borrows_in_memory { l.volatile_store(entry, to, 8) } else { l.store(entry, to, 8) }
    }

    /// Returns the entry that the scope has borrowed, borrowing one if necessary.
    fn borrow_entry(&self, borrowed: Val<'c>, count: i64) -> Val<'c> {
        let l = &self.l;
        let bytes = entry_bytes(count as u64) as i64;
        let pool = self.zeros(&format!("__tileir_borrowed_maps_{count}"), ENTRIES as i64 * bytes, MAP);
        let known = self.get_borrowed(borrowed);
        let has_none = l.icmp(Cmp::Eq, known, l.i64c(0));
        let take = || {
            let first = l.icmp(Cmp::Eq, self.threads.lane, l.i32c(0));
            let args = || [self.integer(pool), l.i32c(count), l.sreg("ctaid.x")];
            let search = || vec![self.runtime_word(Runtime::MapsBorrow, &args())];
            let entry = l.either(first, &[l.i32], search, || vec![l.i32c(0)]);
            let entry = self.shfl("idx", entry[0], l.i32c(0));
            let entry = l.byte_offset(pool, l.mul(l.zext64(entry), l.i64c(bytes)));
            let entry = self.integer(entry);
            self.set_borrowed(l, entry, borrowed);
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
        let entry = self.get_borrowed(borrowed);
        let has_one = l.icmp(Cmp::Ne, entry, l.i64c(0));
        let first = l.icmp(Cmp::Eq, self.threads.lane, l.i32c(0));
        l.when(l.bin("and", has_one, first), || {
            self.runtime(Runtime::MapsReturn, &[entry]);
        });
    }
}
