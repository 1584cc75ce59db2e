//! Memory: accesses through pointers and views, atomic updates, and the construction of views.

use super::aggregate::Bound;
use super::{Cause, Datum, Elements, Executor, Outcome, Outside, Tensor, coordinates, element_address, malformed, one};
use crate::memory::ElementAddress;
use crate::program::{FloatMode, Op, OpKind, Predicate, Signedness, Update, Value};
use crate::race;
use crate::scalar::{Certainty, Scalar};
use crate::types::{Element, Number, Padding, TensorType, Tiling, Type, ViewType};
use crate::{float, format, int};
use std::rc::Rc;

impl Executor<'_> {
    pub(super) fn access(&mut self, op: &Op) -> Outcome {
        let v = &op.operands;
        let optional = |at: usize, there: bool| there.then(|| v.get(at).copied()).flatten();
        match &op.kind {
            OpKind::LoadPtr { mask, padding, token, .. } => {
                let access = self.begin(op, *token, false)?;
                let padding = optional(1 + usize::from(*mask), *padding);
                self.gather(&access, v[0], optional(1, *mask), padding)
            }
            OpKind::StorePtr { mask, token, .. } => {
                let access = self.begin(op, *token, false)?;
                self.scatter(&access, v[0], v[1], optional(2, *mask))
            }
            OpKind::AtomicCas { mask, token, .. } => {
                let access = self.begin(op, *token, true)?;
                self.swap(&access, [v[0], v[1], v[2]], optional(3, *mask))
            }
            OpKind::AtomicRmw { update, mask, token, .. } => {
                let access = self.begin(op, *token, true)?;
                self.update(&access, *update, [v[0], v[1]], optional(2, *mask))
            }
            OpKind::GetGlobal(name) => match self.globals.get(name.as_str()) {
                Some(address) => one(vec![Scalar::exact(*address)]),
                None => Err(Cause::Malformed(format!("there is no global '{name}'"))),
            },
            OpKind::MakeTensorView => self.tensor_view(op),
            OpKind::MakeView => Ok(vec![Datum::Tensor(self.tensor(v[0])?)]),
            OpKind::LoadView { token, inbounds, .. } => {
                let view = self.view_type(v[0])?.clone();
                let indices = &v[1..v.len() - usize::from(*token)];
                let access = self.begin(op, *token, false)?;
                self.load_tile(&access, &view, v[0], indices, inbounds)
            }
            OpKind::StoreView { token, inbounds, .. } => {
                let view = self.view_type(v[1])?.clone();
                let indices = &v[2..v.len() - usize::from(*token)];
                let access = self.begin(op, *token, false)?;
                self.store_tile(&access, &view, [v[0], v[1]], indices, inbounds)
            }
            OpKind::AtomicRedView { update, token, inbounds, .. } => {
                let view = self.view_type(v[0])?.clone();
                let end = v.len() - usize::from(*token) - 1;
                let access = self.begin(op, *token, true)?;
                self.update_tile(&access, *update, &view, (v[0], inbounds), &v[1..=end])
            }
            OpKind::MultimemLoadReduce { update, token, inbounds, .. } => {
                let view = self.view_type(v[0])?.clone();
                let indices = &v[1..v.len() - usize::from(*token)];
                let access = self.begin(op, *token, false)?;
                self.combine_tile(&access, *update, &view, (v[0], inbounds), indices)
            }
            OpKind::MultimemReduce { token, inbounds, .. } | OpKind::MultimemStore { token, inbounds, .. } => {
                let update = match &op.kind {
                    OpKind::MultimemReduce { update, .. } => Some(*update),
                    _ => None,
                };
                let view = self.view_type(v[0])?.clone();
                let indices = &v[2..v.len() - usize::from(*token)];
                let access = self.begin(op, *token, update.is_some())?;
                self.write_members(&access, update, &view, [v[0], v[1]], (indices, inbounds))
            }
            OpKind::GetTensorShape => {
                let shape = self.tensor(v[0])?.shape.clone();
                self.extents(op, &shape)
            }
            OpKind::GetIndexSpaceShape => {
                let view = self.view_type(v[0])?.clone();
                let tensor = self.tensor(v[0])?;
                let space: Vec<u64> = (0..view.tile.len()).map(|d| index_space(&view, &tensor, d)).collect();
                self.extents(op, &space)
            }
            _ => Err(malformed("the op does not access memory")),
        }
    }

    //===-- order -----------------------------------------------------------//

    /// Begins an access, ordered after the events that its token represents.
    fn begin(&mut self, op: &Op, token: bool, atomic: bool) -> Result<race::TracedAccess, Cause> {
        let after = match op.operands.last().filter(|_| token).map(|t| &self.values[t.index()]) {
            None => race::EventSet::default(),
            Some(Datum::Token(past)) => past.clone(),
            Some(_) => return Err(malformed("expected a computed token")),
        };
        Ok(match &mut self.races {
            Some(races) => races.event(after, atomic),
            None => race::TracedAccess { event: 0, after, atomic },
        })
    }

    /// The token that an access returns.
    fn done(&self, access: &race::TracedAccess) -> Datum {
        Datum::Token(if self.races.is_some() { access.after.with(access.event) } else { race::EventSet::default() })
    }

    fn read(&mut self, access: &race::TracedAccess, at: ElementAddress, n: Number) -> Result<Scalar, Cause> {
        let value = self.memory.read(at, n).map_err(Cause::Fault)?;
        let size = u64::from(n.stored_bits().div_ceil(8));
        match self.races.as_mut().and_then(|r| r.read(access, at.address, size)) {
            None => Ok(value),
            Some(_) => Err(Cause::Undefined("data race: no token orders this read after an earlier access".into())),
        }
    }

    fn write(
        &mut self,
        access: &race::TracedAccess,
        at: ElementAddress,
        n: Number,
        value: Scalar,
    ) -> Result<(), Cause> {
        let size = u64::from(n.stored_bits().div_ceil(8));
        let mut value = value;
        if let Some(races) = &mut self.races {
            // Two 4-bit numbers share an address.
            if !access.atomic && n != Number::E2m1 && races.has_written(access, at.address) {
                // Several elements go to one address, and any of them may be the last.
                let old = self.memory.read(at, n).map_err(Cause::Fault)?;
                value = if old == value { value } else { Scalar::unknown(value.bits) };
            }
            if races.write(access, at.address, size).is_some() {
                return Err(Cause::Undefined("data race: no token orders this write after an earlier access".into()));
            }
        }
        self.memory.write(at, n, value).map_err(Cause::Fault)
    }

    //===-- pointers --------------------------------------------------------//

    /// Whether lane `i` is active.
    fn lane(&mut self, mask: &Option<Elements>, i: usize) -> bool {
        mask.as_ref().is_none_or(|m| self.decide(m[i], "a mask") != 0)
    }

    fn address(&mut self, p: Scalar) -> u64 {
        self.decide(p, "an address")
    }

    fn pointers(&self, v: Value) -> Result<(Elements, Number), Cause> {
        match self.tile_type(v)?.element {
            Element::Pointer(n) => Ok((self.elements(v)?, n)),
            Element::Number(_) => Err(malformed("expected pointers")),
        }
    }

    fn optional(&self, v: Option<Value>) -> Result<Option<Elements>, Cause> {
        v.map(|v| self.elements(v)).transpose()
    }

    fn gather(
        &mut self,
        access: &race::TracedAccess,
        source: Value,
        mask: Option<Value>,
        padding: Option<Value>,
    ) -> Outcome {
        let (pointers, n) = self.pointers(source)?;
        let (mask, padding) = (self.optional(mask)?, self.optional(padding)?);
        let mut out = vec![];
        for (i, p) in pointers.iter().enumerate() {
            out.push(if self.lane(&mask, i) {
                let at = ElementAddress::at(self.address(*p));
                self.read(access, at, n)?
            } else {
                padding.as_ref().map_or(Scalar::unknown(0), |p| p[i])
            });
        }
        Ok(vec![Datum::Tile(Rc::new(out)), self.done(access)])
    }

    fn scatter(
        &mut self,
        access: &race::TracedAccess,
        destination: Value,
        value: Value,
        mask: Option<Value>,
    ) -> Outcome {
        let (pointers, n) = self.pointers(destination)?;
        let (value, mask) = (self.elements(value)?, self.optional(mask)?);
        for (i, p) in pointers.iter().enumerate() {
            if self.lane(&mask, i) {
                let at = ElementAddress::at(self.address(*p));
                self.write(access, at, n, value[i])?;
            }
        }
        Ok(vec![self.done(access)])
    }

    fn swap(&mut self, access: &race::TracedAccess, [pointers, cmp, val]: [Value; 3], mask: Option<Value>) -> Outcome {
        let (pointers, n) = self.pointers(pointers)?;
        let (cmp, val, mask) = (self.elements(cmp)?, self.elements(val)?, self.optional(mask)?);
        let mut out = vec![];
        for (i, p) in pointers.iter().enumerate() {
            if !self.lane(&mask, i) {
                out.push(cmp[i]);
                continue;
            }
            let at = ElementAddress::at(self.address(*p));
            let old = self.memory.read(at, n).map_err(Cause::Fault)?;
            // The comparison is of bits, which may not be known exactly.
            let new = if old.bits == cmp[i].bits { val[i] } else { old };
            let sure = old.certainty == Certainty::Exact && cmp[i].certainty == Certainty::Exact;
            let new = if sure { new } else { Scalar::unknown(new.bits) };
            self.write(access, at, n, new)?;
            out.push(old);
        }
        Ok(vec![Datum::Tile(Rc::new(out)), self.done(access)])
    }

    fn update(
        &mut self,
        access: &race::TracedAccess,
        update: Update,
        [pointers, arg]: [Value; 2],
        mask: Option<Value>,
    ) -> Outcome {
        let (pointers, n) = self.pointers(pointers)?;
        let (arg, mask) = (self.elements(arg)?, self.optional(mask)?);
        let mut out = vec![];
        for (i, p) in pointers.iter().enumerate() {
            if !self.lane(&mask, i) {
                out.push(Scalar::unknown(0));
                continue;
            }
            let at = ElementAddress::at(self.address(*p));
            out.push(self.update_one(access, update, at, n, arg[i])?);
        }
        Ok(vec![Datum::Tile(Rc::new(out)), self.done(access)])
    }

    /// Applies an atomic update to one element. Returns the old value.
    fn update_one(
        &mut self,
        access: &race::TracedAccess,
        update: Update,
        at: ElementAddress,
        n: Number,
        arg: Scalar,
    ) -> Result<Scalar, Cause> {
        let old = self.memory.read(at, n).map_err(Cause::Fault)?;
        let mut new = updated(update, n, old, arg)?;
        if update == Update::AddF {
            new = self.sum_so_far(at, n, old, arg, new);
        }
        self.write(access, at, n, new)?;
        Ok(old)
    }

    /// The value of an element after several atomic sums; `sum` is the latest in the interpreter's order. Other
    /// orders round other partial sums.
    fn sum_so_far(&mut self, at: ElementAddress, n: Number, old: Scalar, arg: Scalar, sum: Scalar) -> Scalar {
        let (mut bound, terms) = match self.sums.remove(&at) {
            // No other write has happened in between.
            Some((last, bound)) if last == old => (bound, vec![arg]),
            _ => (Bound::new(n), vec![old, arg]),
        };
        terms.into_iter().for_each(|t| bound.add(t));
        let sum = if sum.is_unknown() { sum } else { bound.sum(sum) };
        self.sums.insert(at, (sum, bound));
        sum
    }

    //===-- views -----------------------------------------------------------//

    fn view_type(&self, v: Value) -> Result<&ViewType, Cause> {
        match self.entry.ty(v) {
            Type::View(t) => Ok(t),
            _ => Err(malformed("expected a view")),
        }
    }

    fn tensor_view(&mut self, op: &Op) -> Outcome {
        let entry = self.entry;
        let Type::Tensor(TensorType { shape, strides, .. }) = entry.ty(op.results[0]) else {
            return Err(malformed("'make_tensor_view' makes a tensor view"));
        };
        let base = self.scalar(op.operands[0], "a base address")?;
        let mut dynamic = op.operands[1..].iter();
        let mut sizes = |fixed: &[Option<u64>]| -> Result<Vec<u64>, Cause> {
            let mut out = vec![];
            for d in fixed {
                out.push(match d {
                    Some(d) => *d,
                    None => {
                        let v = *dynamic.next().ok_or_else(|| malformed("an extent or stride is missing"))?;
                        // Extents and strides are unsigned 64-bit values.
                        self.scalar(v, "an extent or stride")?
                    }
                });
            }
            Ok(out)
        };
        let (shape, strides) = (sizes(shape)?, sizes(strides)?);
        let tensor = Tensor { base, shape, strides };
        self.check_strides(op, &tensor)?;
        Ok(vec![Datum::Tensor(Rc::new(tensor))])
    }

    fn extents(&self, op: &Op, extents: &[u64]) -> Outcome {
        let mut out = vec![];
        for (v, extent) in op.results.iter().zip(extents) {
            let n = self.number(*v)?;
            if *extent & !n.mask() != 0 {
                return Err(Cause::Undefined(format!("the extent {extent} does not fit {n}")));
            }
            out.push(Datum::Tile(Rc::new(vec![Scalar::exact(*extent)])));
        }
        Ok(out)
    }

    /// For each element of a tile, its index in the tensor, or `None` if it is outside. Along the `inbounds`
    /// dimensions an element outside breaks the promise.
    fn targets(
        &mut self,
        view: &ViewType,
        tensor: &Tensor,
        indices: &[Value],
        inbounds: &[bool],
    ) -> Result<Vec<Option<u64>>, Cause> {
        let rank = view.tile.len();
        if indices.len() != rank {
            return Err(malformed("expected one index for each dimension"));
        }
        // For each dimension, the tensor coordinate of every position along it.
        let mut along = vec![];
        for (d, v) in indices.iter().enumerate() {
            let space = index_space(view, tensor, d);
            let masked = self.limits.outside == Outside::Masked;
            let check = |i: u64| {
                if i < space || masked {
                    return Ok(u128::from(i) * u128::from(view.step(d)));
                }
                Err(Cause::Outside { index: i, dim: d, space })
            };
            let sparse = matches!(view.tiling, Tiling::GatherScatter { sparse_dim } if sparse_dim == d);
            let elements = self.elements(*v)?;
            let mut starts = vec![];
            for e in elements.iter() {
                starts.push(check(self.decide(*e, "an index"))?);
            }
            along.push(match (sparse, &starts[..]) {
                (true, _) if starts.len() == view.tile[d] => starts,
                (false, [start]) => (0..view.tile[d]).map(|i| start + i as u128).collect(),
                _ => return Err(malformed("an index has the wrong shape")),
            });
        }
        let mut out = vec![];
        for i in 0..view.tile.iter().product() {
            let at = coordinates(i, &view.tile);
            let mut element = Some(0u128);
            for d in 0..rank {
                let (coordinate, m) = (along[d][at[d]], view.dim(d));
                let inside = coordinate < tensor.shape[m].into();
                if !inside && inbounds.get(d) == Some(&true) {
                    return Err(Cause::Undefined(format!(
                        "a tile is outside its view, against 'inbounds', along dimension {d}"
                    )));
                }
                element = element
                    .filter(|_| inside)
                    .map(|e| e.saturating_add(coordinate.saturating_mul(tensor.strides[m].into())));
            }
            out.push(match element {
                None => None,
                Some(e) if e <= i64::MAX as u128 => Some(e as u64),
                Some(_) => return Err(Cause::Undefined("the offset of an element is 2^63 elements or more".into())),
            });
        }
        Ok(out)
    }

    fn load_tile(
        &mut self,
        access: &race::TracedAccess,
        view: &ViewType,
        v: Value,
        indices: &[Value],
        inbounds: &[bool],
    ) -> Outcome {
        let tensor = self.tensor(v)?;
        let n = view.tensor.element;
        let mut out = vec![];
        for target in self.targets(view, &tensor, indices, inbounds)? {
            out.push(match target {
                Some(e) => self.read(access, element_address(tensor.base, e, n), n)?,
                None => view.padding.map_or(Scalar::unknown(0), |p| pad(p, n)),
            });
        }
        Ok(vec![Datum::Tile(Rc::new(out)), self.done(access)])
    }

    fn store_tile(
        &mut self,
        access: &race::TracedAccess,
        view: &ViewType,
        [tile, v]: [Value; 2],
        indices: &[Value],
        inbounds: &[bool],
    ) -> Outcome {
        let (tensor, tile) = (self.tensor(v)?, self.elements(tile)?);
        let n = view.tensor.element;
        for (i, target) in self.targets(view, &tensor, indices, inbounds)?.into_iter().enumerate() {
            if let Some(e) = target {
                self.write(access, element_address(tensor.base, e, n), n, tile[i])?;
            }
        }
        Ok(vec![self.done(access)])
    }

    /// `rest` is the indices and the value.
    fn update_tile(
        &mut self,
        access: &race::TracedAccess,
        update: Update,
        view: &ViewType,
        (v, inbounds): (Value, &[bool]),
        rest: &[Value],
    ) -> Outcome {
        let Some((arg, indices)) = rest.split_last() else { return Err(malformed("expected a value")) };
        let arg = *arg;
        let (tensor, arg) = (self.tensor(v)?, self.elements(arg)?);
        let n = view.tensor.element;
        for (i, target) in self.targets(view, &tensor, indices, inbounds)?.into_iter().enumerate() {
            if let Some(e) = target {
                self.update_one(access, update, element_address(tensor.base, e, n), n, arg[i])?;
            }
        }
        Ok(vec![self.done(access)])
    }

    //===-- multicast memory ------------------------------------------------//

    /// The addresses in all members for element `e` of a multicast tensor.
    fn members(&self, tensor: &Tensor, e: u64, n: Number) -> Result<Vec<ElementAddress>, Cause> {
        let at = element_address(tensor.base, e, n).address;
        match self.memory.members(at) {
            Some(members) => Ok(members.into_iter().map(ElementAddress::at).collect()),
            None => Err(Cause::Undefined(format!("{at:#x} is not an address of multicast memory"))),
        }
    }

    fn combine_tile(
        &mut self,
        access: &race::TracedAccess,
        update: Update,
        view: &ViewType,
        (v, inbounds): (Value, &[bool]),
        indices: &[Value],
    ) -> Outcome {
        let tensor = self.tensor(v)?;
        let n = view.tensor.element;
        let mut out = vec![];
        for target in self.targets(view, &tensor, indices, inbounds)? {
            let Some(e) = target else {
                out.push(view.padding.map_or(Scalar::unknown(0), |p| pad(p, n)));
                continue;
            };
            let mut all = vec![];
            for at in self.members(&tensor, e, n)? {
                all.push(self.read(access, at, n)?);
            }
            out.push(combined(update, n, &all)?);
        }
        Ok(vec![Datum::Tile(Rc::new(out)), self.done(access)])
    }

    /// Updates the members, or stores to them if `update` is `None`.
    fn write_members(
        &mut self,
        access: &race::TracedAccess,
        update: Option<Update>,
        view: &ViewType,
        [v, tile]: [Value; 2],
        (indices, inbounds): (&[Value], &[bool]),
    ) -> Outcome {
        let (tensor, tile) = (self.tensor(v)?, self.elements(tile)?);
        let n = view.tensor.element;
        for (i, target) in self.targets(view, &tensor, indices, inbounds)?.into_iter().enumerate() {
            let Some(e) = target else { continue };
            for at in self.members(&tensor, e, n)? {
                match update {
                    Some(update) => _ = self.update_one(access, update, at, n, tile[i])?,
                    None => self.write(access, at, n, tile[i])?,
                }
            }
        }
        Ok(vec![self.done(access)])
    }

    pub(super) fn alloca(&mut self, op: &Op, count: u64, alignment: u64) -> Result<u64, Cause> {
        let Element::Pointer(n) = self.tile_type(op.results[0])?.element else {
            return Err(malformed("'alloca' makes a pointer"));
        };
        // Upper bound on the memory of a device.
        const MOST: u64 = 1 << 32;
        let bits = count.checked_mul(n.stored_bits().into()).filter(|b| b / 8 <= MOST);
        let bits = bits.ok_or_else(|| {
            Cause::Limit(format!("scratch memory for {count} elements exceeds the memory of any device"))
        })?;
        Ok(self.memory.allocate_unknown("scratch memory", bits.div_ceil(8), alignment))
    }
}

/// The number of valid indices along dimension `d` of the tile.
fn index_space(view: &ViewType, tensor: &Tensor, d: usize) -> u64 {
    tensor.shape[view.dim(d)].div_ceil(view.step(d))
}

/// The value that a load returns outside the tensor.
fn pad(padding: Padding, n: Number) -> Scalar {
    let negative = matches!(padding, Padding::NegZero | Padding::NegInf);
    if n.is_integer() || (n == Number::E8m0 && padding == Padding::Zero) {
        return Scalar::exact(0);
    }
    if (n == Number::E8m0 && negative) || (n == Number::E5m3 && padding == Padding::NegInf) {
        return Scalar::unknown(0);
    }
    let real = match padding {
        Padding::Zero | Padding::NegZero => format::Real::Zero { negative },
        Padding::Nan => return Scalar::nan(n),
        Padding::PosInf | Padding::NegInf => format::Real::Infinite { negative },
    };
    let bits = format::encode(real, n, format::Round::NearestEven).bits;
    match format::decode(bits, n) {
        // A format without infinity represents it as NaN, or not at all.
        format::Real::Nan => Scalar::nan(n),
        got if got == real => Scalar::exact(bits),
        _ => Scalar::unknown(0),
    }
}

/// The values in the members of multicast memory, combined in any order.
fn combined(update: Update, n: Number, all: &[Scalar]) -> Result<Scalar, Cause> {
    let Some((first, rest)) = all.split_first() else { return Err(malformed("an object without members")) };
    let result = rest.iter().try_fold(*first, |a, b| match update {
        Update::Max | Update::Min if n.is_float() => Ok(float::extremum(n, update == Update::Max, false, false, a, *b)),
        _ => updated(update, n, a, *b),
    })?;
    // The sum of two numbers is rounded once, in any order.
    if update == Update::AddF && all.len() > 2 && !result.is_unknown() {
        let mut bound = Bound::new(n);
        all.iter().for_each(|x| bound.add(*x));
        return Ok(bound.sum(result));
    }
    Ok(result)
}

/// The value after an atomic update, in the interpreter's order of updates.
fn updated(update: Update, n: Number, old: Scalar, arg: Scalar) -> Result<Scalar, Cause> {
    if update == Update::Xchg {
        return Ok(arg);
    }
    if update == Update::AddF {
        if old.is_unknown() || arg.is_unknown() {
            let sum = float::sum(n, FloatMode::default(), old.assumed(), arg.assumed());
            return Ok(Scalar::unknown(sum.bits));
        }
        let sum = float::sum(n, FloatMode::default(), old, arg);
        if n == Number::F32 && [old.bits, arg.bits, sum.bits].iter().any(|b| float::is_subnormal(*b, n)) {
            // The f32 instruction flushes subnormal numbers.
            return Ok(Scalar::unknown(sum.bits));
        }
        return Ok(sum);
    }
    let (a, b) = (old.bits, arg.bits);
    let certainty = if old.is_unknown() || arg.is_unknown() { Certainty::Unknown } else { Certainty::Exact };
    let larger = |s: Signedness| int::compare(n, s, Predicate::GreaterThan, a, b);
    let bits = match update {
        Update::And => a & b,
        Update::Or => a | b,
        Update::Xor => a ^ b,
        Update::Add => a.wrapping_add(b) & n.mask(),
        Update::Max => {
            if larger(Signedness::Signed) {
                a
            } else {
                b
            }
        }
        Update::Min => {
            if larger(Signedness::Signed) {
                b
            } else {
                a
            }
        }
        Update::UMax => {
            if larger(Signedness::Unsigned) {
                a
            } else {
                b
            }
        }
        Update::UMin => {
            if larger(Signedness::Unsigned) {
                b
            } else {
                a
            }
        }
        Update::AddF | Update::Xchg => b,
    };
    Ok(Scalar { bits, certainty })
}
