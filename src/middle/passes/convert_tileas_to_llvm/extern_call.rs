//! Calls of library functions.
//!
//! With `P` participants and `I` invocations on `T` threads, thread `t` runs `q = t, t + T, ...` below `I * P`, each of
//! which is participant `q mod P` of invocation `q div P`:
//!
//! ```text
//! for q in t, t + T, ...:
//!   if q < I * P:
//!     local[k][layout(j)] = shared[k][map(q, j)]     for each fragment k in local memory and each element j
//!     call sym(local or shared address of each fragment, [scratch memory])
//!     shared[k][map(q, j)] = local[k][layout(j)]     for fragments that are written, by the first holder
//! ```
//!
//! Fragments in local memory are passed as generic addresses of 64 bits, others as shared addresses of 32 bits.

use super::{Lower, state::function_state};
use crate::dialect::{
    attributes::LIBRARY_FUNCTION,
    fragments::{Fragment, IN, Mode, OUT, size},
    layouts::storage_bits,
    llvm_builder::Cmp,
    nv_tileas::{ExternCallOp, MemDescType},
    pass::{Failed, fail},
    rt::*,
};
use melior::{
    dialect::llvm,
    ir::{Attribute, Region, Type},
};

/// The largest footprint whose copies are written without a loop.
const UNROLLED: i64 = 16;
/// The synchronization of functions that synchronize all threads of the CTA.
const CTA: i64 = 3;
/// The largest alignment of a fragment in local memory that no attribute requests.
const USUAL_ALIGNMENT: i64 = 16;

/// A fragment of a call.
struct Argument<'c> {
    fragment: Fragment,
    /// The tile in shared memory, and the place of its result.
    tile: Val<'c>,
    result: Val<'c>,
    /// Bytes of an element, and the integer type of that size.
    bytes: i64,
    word: Type<'c>,
    /// The fragment in local memory; `None` if it is in shared memory.
    local: Option<Val<'c>>,
    access: i32,
}

impl<'c> Lower<'c, '_> {
    pub(super) fn extern_call(&mut self, x: ExternCallOp<'c>) -> Result<(), Failed> {
        let op = x.op();
        let fragments = Fragment::list(x.fragments()).ok_or_else(|| fail(op, "a fragment is not constant"))?;
        let storage: Vec<Val<'c>> = x.storage().collect();
        let has_scratch = x.scratch_size() > 0;
        let access = x.access();
        let own_results = fragments.iter().zip(&access).filter(|(f, access)| f.needs_result(**access)).count();
        let count = fragments.len() + usize::from(has_scratch);
        if storage.len() != count + own_results || fragments.is_empty() {
            return Err(fail(op, "the call lacks storage; run tileas-materialize-convert-layout first"));
        }
        let (invocations, participants) = (size(&fragments[0].invocation), size(&fragments[0].participant));
        let threads = 32 * self.threads.warps as i64;
        if self.threads.barrier.is_some() {
            return Err(fail(op, "an agent cannot call a library function, which may synchronize the CTA"));
        }
        if participants > threads {
            let text = format!("the function needs {participants} threads, but a CTA has {threads}");
            return Err(fail(op, text + "; set num_worker_warps_per_cta"));
        }
        if x.synchronization() == CTA && (participants != threads || invocations != 1) {
            let text = format!("the function synchronizes {participants} participants in {invocations} invocations");
            return Err(fail(op, format!("{text}, which must be the {threads} threads of the CTA in one")));
        }
        if invocations > 1 && fragments.iter().any(|f| f.shared) {
            return Err(fail(op, "a fragment in shared memory belongs to one invocation"));
        }
        let mut arguments = vec![];
        let mut own_results = storage[count..].iter();
        for ((fragment, tile), access) in fragments.into_iter().zip(&storage).zip(access) {
            let result = if fragment.needs_result(access) { own_results.next().unwrap_or(tile) } else { tile };
            arguments.push(self.argument(op, fragment, (*tile, *result), access)?);
        }
        let scratch = if has_scratch { Some(self.shared_address(op, storage[count - 1])?) } else { None };
        let l = &self.l;
        let total = invocations * participants;
        let rounds = (total + threads - 1) / threads;
        self.repeat(rounds as u64, |round| {
            let q = l.add(self.threads.thread, l.mul(round, l.i32c(threads)));
            let run = || self.run_participant(&arguments, scratch, q, participants, x.symbol());
            match total % threads {
                0 => run(),
                _ => l.when(l.icmp(Cmp::Ult, q, l.i32c(total)), run),
            }
        });
        Ok(())
    }

    fn argument(
        &self,
        op: OpRef<'c>,
        fragment: Fragment,
        (tile, result): (Val<'c>, Val<'c>),
        access: i32,
    ) -> Result<Argument<'c>, Failed> {
        let desc = MemDescType::cast(ty(tile)).ok_or_else(|| fail(op, "storage is not in shared memory"))?;
        let bytes = i64::from(storage_bits(desc.element_type()) / 8);
        let l = &self.l;
        let word = match bytes {
            1 => l.i8,
            2 => l.i16,
            4 => l.i32,
            _ => l.i64,
        };
        let (tile, result) = (self.shared_address(op, tile)?, self.shared_address(op, result)?);
        let local = (!fragment.shared).then(|| {
            let size = size(&fragment.footprint) * bytes;
            let usual = (size as u64).next_power_of_two().min(USUAL_ALIGNMENT as u64) as i64;
            let asked = (fragment.alignment * bytes) as u64;
            let alignment = usual.max(asked.next_power_of_two() as i64);
            self.at_entry().variables(size, l.i8, alignment as u64)
        });
        Ok(Argument { fragment, tile, result, bytes, word, local, access })
    }

    /// Lets one participant of one invocation call the function.
    fn run_participant(
        &self,
        arguments: &[Argument<'c>],
        scratch: Option<Val<'c>>,
        q: Val<'c>,
        participants: i64,
        symbol: &str,
    ) {
        let l = &self.l;
        let (invocation, participant) = self.divided(q, participants);
        let bases: Vec<Val<'c>> = arguments
            .iter()
            .map(|a| {
                l.add(
                    self.mapped(&a.fragment.invocation, invocation),
                    self.mapped(&a.fragment.participant, participant),
                )
            })
            .collect();
        // Functions do not read what they only write.
        for (a, base) in arguments.iter().zip(&bases).filter(|(a, _)| a.access != OUT) {
            self.copy_elements(a, *base, true);
        }
        let shared = |address: Val<'c>| l.cast("ptrtoint", address, l.i32);
        let addresses = arguments.iter().map(|a| a.local.unwrap_or_else(|| shared(a.tile)));
        let addresses: Vec<Val<'c>> = addresses.chain(scratch.map(shared)).collect();
        self.call_library(symbol, &addresses);
        for (a, base) in arguments.iter().zip(&bases).filter(|(a, _)| a.access != IN) {
            match self.first_holder(a, invocation, participant) {
                Some(first) => l.when(first, || self.copy_elements(a, *base, false)),
                None => self.copy_elements(a, *base, false),
            }
        }
    }

    /// Calls a function of a library and declares it. It may synchronize threads.
    fn call_library(&self, symbol: &str, arguments: &[Val<'c>]) {
        let types: Vec<Type<'c>> = arguments.iter().map(|v| ty(*v)).collect();
        let void = llvm::r#type::void(self.l.context());
        self.module.define(symbol, |b| {
            let mut s = function_state(b, symbol, llvm::r#type::function(void, &types, false));
            s.attr("convergent", Attribute::unit(b.context()));
            LIBRARY_FUNCTION.add(&mut s, ());
            s.region(Region::new());
            b.insert(s).expect("no inference asked for");
        });
        self.l.call_void(symbol, arguments);
    }

    /// Copies a fragment in local memory from the tile, or back.
    fn copy_elements(&self, a: &Argument<'c>, base: Val<'c>, to_local: bool) {
        let Some(local) = a.local else { return };
        let l = &self.l;
        let copy = |j: Val<'c>| {
            let number = l.add(base, self.mapped(&a.fragment.footprint, j));
            let tile = if to_local { a.tile } else { a.result };
            let shared = l.byte_offset(tile, l.mul(number, l.i32c(a.bytes)));
            let own = l.byte_offset(local, l.mul(self.mapped(&a.fragment.memory, j), l.i32c(a.bytes)));
            let (from, to) = if to_local { (shared, own) } else { (own, shared) };
            l.store(l.load(a.word, from, a.bytes as u64), to, a.bytes as u64);
        };
        let count = size(&a.fragment.footprint);
        if count <= UNROLLED {
            (0..count).for_each(|j| copy(l.i32c(j)));
        } else {
            self.repeat(count as u64, copy);
        }
    }

    /// Whether this participant is the first holder of its elements; `None` if it is the only one.
    fn first_holder(&self, a: &Argument<'c>, invocation: Val<'c>, participant: Val<'c>) -> Option<Val<'c>> {
        let l = &self.l;
        let mut first = None;
        for (mode, coordinate) in [(&a.fragment.invocation, invocation), (&a.fragment.participant, participant)] {
            let copies: Mode = mode.iter().map(|(extent, stride)| (*extent, i64::from(*stride == 0))).collect();
            if copies.iter().any(|(extent, copies)| *extent > 1 && *copies != 0) {
                let is_first = l.icmp(Cmp::Eq, self.mapped(&copies, coordinate), l.i32c(0));
                first = self.both(first, Some(is_first));
            }
        }
        first
    }

    /// The number that a mode maps a coordinate to.
    fn mapped(&self, mode: &Mode, coordinate: Val<'c>) -> Val<'c> {
        let l = &self.l;
        let mut rest = coordinate;
        let mut sum = l.i32c(0);
        for (i, (extent, stride)) in mode.iter().enumerate() {
            if *extent == 1 {
                continue;
            }
            let (above, digit) = if i + 1 == mode.len() { (rest, rest) } else { self.divided(rest, *extent) };
            rest = above;
            if *stride != 0 {
                sum = l.add(sum, l.mul(digit, l.i32c(*stride)));
            }
        }
        sum
    }

    /// Quotient and remainder by a constant.
    fn divided(&self, v: Val<'c>, by: i64) -> (Val<'c>, Val<'c>) {
        let l = &self.l;
        (l.bin("udiv", v, l.i32c(by)), l.bin("urem", v, l.i32c(by)))
    }
}
