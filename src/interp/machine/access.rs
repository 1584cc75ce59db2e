//! Memory: accesses through pointers and views, atomic updates, views.

use super::{Cause, Datum, Elements, Outcome, Run, Tensor, coordinates, malformed, one, place};
use crate::memory::Place;
use crate::program::{FloatMode, Kind, Op, Predicate, Signedness, Update, Value};
use crate::scalar::{Scalar, State};
use crate::types::{Cut, Element, Number, Padding, TensorType, Type, ViewType};
use crate::{float, format, int};
use std::rc::Rc;

impl Run<'_> {
    pub(super) fn access(&mut self, op: &Op) -> Outcome {
        let v = &op.operands;
        let optional = |at: usize, there: bool| there.then(|| v.get(at).copied()).flatten();
        match &op.kind {
            Kind::LoadPtr { mask, padding, .. } => {
                let padding = optional(1 + usize::from(*mask), *padding);
                self.gather(v[0], optional(1, *mask), padding)
            }
            Kind::StorePtr { mask, .. } => self.scatter(v[0], v[1], optional(2, *mask)),
            Kind::AtomicCas { mask, .. } => self.swap(v[0], v[1], v[2], optional(3, *mask)),
            Kind::AtomicRmw { update, mask, .. } => self.update(*update, v[0], v[1], optional(2, *mask)),
            Kind::GetGlobal(name) => match self.globals.get(name.as_str()) {
                Some(address) => one(vec![Scalar::exact(*address)]),
                None => Err(Cause::Malformed(format!("there is no global '{name}'"))),
            },
            Kind::MakeTensorView => self.tensor_view(op),
            Kind::MakeView => Ok(vec![Datum::Tensor(self.tensor(v[0])?)]),
            Kind::LoadView { token, .. } => {
                let view = self.view_type(v[0])?.clone();
                let indices = &v[1..v.len() - usize::from(*token)];
                self.load_tile(&view, v[0], indices)
            }
            Kind::StoreView { token, .. } => {
                let view = self.view_type(v[1])?.clone();
                let indices = &v[2..v.len() - usize::from(*token)];
                self.store_tile(&view, v[0], v[1], indices)
            }
            Kind::AtomicRedView { update, token, .. } => {
                let view = self.view_type(v[0])?.clone();
                let end = v.len() - usize::from(*token) - 1;
                self.update_tile(*update, &view, v[0], &v[1..end], v[end])
            }
            Kind::GetTensorShape => {
                let shape = self.tensor(v[0])?.shape.clone();
                self.extents(op, &shape)
            }
            Kind::GetIndexSpaceShape => {
                let view = self.view_type(v[0])?.clone();
                let tensor = self.tensor(v[0])?;
                let space: Vec<u64> = (0..view.tile.len()).map(|d| index_space(&view, &tensor, d)).collect();
                self.extents(op, &space)
            }
            _ => Err(malformed("the op does not access memory")),
        }
    }

    //===-- pointers --------------------------------------------------------//

    /// Whether lane `i` takes part.
    fn lane(&mut self, mask: &Option<Elements>, i: usize) -> bool {
        mask.as_ref().is_none_or(|m| self.decide(m[i], "a mask") != 0)
    }

    fn address(&mut self, p: Scalar) -> u64 {
        self.decide(p, "an address")
    }

    fn pointers(&self, v: Value) -> Result<(Elements, Number), Cause> {
        match self.tile_type(v)?.element {
            Element::Pointer(n) => Ok((self.elements(v)?, n)),
            Element::Number(_) => Err(malformed("pointers were expected")),
        }
    }

    fn optional(&self, v: Option<Value>) -> Result<Option<Elements>, Cause> {
        v.map(|v| self.elements(v)).transpose()
    }

    fn gather(&mut self, source: Value, mask: Option<Value>, padding: Option<Value>) -> Outcome {
        let (pointers, n) = self.pointers(source)?;
        let (mask, padding) = (self.optional(mask)?, self.optional(padding)?);
        let mut out = vec![];
        for (i, p) in pointers.iter().enumerate() {
            out.push(if self.lane(&mask, i) {
                let at = Place::at(self.address(*p));
                self.memory.read(at, n).map_err(Cause::Fault)?
            } else {
                padding.as_ref().map_or(Scalar::unknown(0), |p| p[i])
            });
        }
        Ok(vec![Datum::Tile(Rc::new(out)), Datum::Token])
    }

    fn scatter(&mut self, destination: Value, value: Value, mask: Option<Value>) -> Outcome {
        let (pointers, n) = self.pointers(destination)?;
        let (value, mask) = (self.elements(value)?, self.optional(mask)?);
        for (i, p) in pointers.iter().enumerate() {
            if self.lane(&mask, i) {
                let at = Place::at(self.address(*p));
                self.memory.write(at, n, value[i]).map_err(Cause::Fault)?;
            }
        }
        Ok(vec![Datum::Token])
    }

    fn swap(&mut self, pointers: Value, cmp: Value, val: Value, mask: Option<Value>) -> Outcome {
        let (pointers, n) = self.pointers(pointers)?;
        let (cmp, val, mask) = (self.elements(cmp)?, self.elements(val)?, self.optional(mask)?);
        let mut out = vec![];
        for (i, p) in pointers.iter().enumerate() {
            if !self.lane(&mask, i) {
                out.push(cmp[i]);
                continue;
            }
            let at = Place::at(self.address(*p));
            let old = self.memory.read(at, n).map_err(Cause::Fault)?;
            // The comparison is of bits, which may not be known.
            let new = if old.bits == cmp[i].bits { val[i] } else { old };
            let sure = old.state == State::Exact && cmp[i].state == State::Exact;
            let new = if sure { new } else { Scalar::unknown(new.bits) };
            self.memory.write(at, n, new).map_err(Cause::Fault)?;
            out.push(old);
        }
        Ok(vec![Datum::Tile(Rc::new(out)), Datum::Token])
    }

    fn update(&mut self, update: Update, pointers: Value, arg: Value, mask: Option<Value>) -> Outcome {
        let (pointers, n) = self.pointers(pointers)?;
        let (arg, mask) = (self.elements(arg)?, self.optional(mask)?);
        let mut out = vec![];
        for (i, p) in pointers.iter().enumerate() {
            if !self.lane(&mask, i) {
                out.push(Scalar::unknown(0));
                continue;
            }
            let at = Place::at(self.address(*p));
            out.push(self.update_one(update, at, n, arg[i])?);
        }
        Ok(vec![Datum::Tile(Rc::new(out)), Datum::Token])
    }

    /// Gives the old value.
    fn update_one(&mut self, update: Update, at: Place, n: Number, arg: Scalar) -> Result<Scalar, Cause> {
        let old = self.memory.read(at, n).map_err(Cause::Fault)?;
        let new = updated(update, n, old, arg)?;
        self.memory.write(at, n, new).map_err(Cause::Fault)?;
        Ok(old)
    }

    //===-- views -----------------------------------------------------------//

    fn view_type(&self, v: Value) -> Result<&ViewType, Cause> {
        match self.entry.ty(v) {
            Type::View(t) => Ok(t),
            _ => Err(malformed("a view was expected")),
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
                        // Unsigned, as all bits are kept.
                        self.scalar(v, "an extent or stride")?
                    }
                });
            }
            Ok(out)
        };
        let (shape, strides) = (sizes(shape)?, sizes(strides)?);
        Ok(vec![Datum::Tensor(Rc::new(Tensor { base, shape, strides }))])
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

    /// For each element of a tile its number in the tensor, or `None` outside of it.
    fn targets(&mut self, view: &ViewType, tensor: &Tensor, indices: &[Value]) -> Result<Vec<Option<u64>>, Cause> {
        let rank = view.tile.len();
        if indices.len() != rank {
            return Err(malformed("one index for each dimension was expected"));
        }
        // For each dimension the coordinate of every position along it.
        let mut along = vec![];
        for (d, v) in indices.iter().enumerate() {
            let space = index_space(view, tensor, d);
            let check = |i: u64| {
                if i < space {
                    return Ok(u128::from(i) * u128::from(view.step(d)));
                }
                Err(Cause::Undefined(format!("index {i} along dimension {d}, whose index space has {space}")))
            };
            let sparse = matches!(view.cut, Cut::GatherScatter { sparse_dim } if sparse_dim == d);
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
                element = element
                    .filter(|_| inside)
                    .map(|e| e.saturating_add(coordinate.saturating_mul(tensor.strides[m].into())));
            }
            out.push(match element {
                None => None,
                Some(e) if e <= i64::MAX as u128 => Some(e as u64),
                Some(_) => return Err(Cause::Undefined("an element's offset is 2^63 or more".into())),
            });
        }
        Ok(out)
    }

    fn load_tile(&mut self, view: &ViewType, v: Value, indices: &[Value]) -> Outcome {
        let tensor = self.tensor(v)?;
        let n = view.tensor.element;
        let mut out = vec![];
        for target in self.targets(view, &tensor, indices)? {
            out.push(match target {
                Some(e) => self.memory.read(place(tensor.base, e, n), n).map_err(Cause::Fault)?,
                None => view.padding.map_or(Scalar::unknown(0), |p| pad(p, n)),
            });
        }
        Ok(vec![Datum::Tile(Rc::new(out)), Datum::Token])
    }

    fn store_tile(&mut self, view: &ViewType, tile: Value, v: Value, indices: &[Value]) -> Outcome {
        let (tensor, tile) = (self.tensor(v)?, self.elements(tile)?);
        let n = view.tensor.element;
        for (i, target) in self.targets(view, &tensor, indices)?.into_iter().enumerate() {
            if let Some(e) = target {
                self.memory.write(place(tensor.base, e, n), n, tile[i]).map_err(Cause::Fault)?;
            }
        }
        Ok(vec![Datum::Token])
    }

    fn update_tile(&mut self, update: Update, view: &ViewType, v: Value, indices: &[Value], arg: Value) -> Outcome {
        let (tensor, arg) = (self.tensor(v)?, self.elements(arg)?);
        let n = view.tensor.element;
        for (i, target) in self.targets(view, &tensor, indices)?.into_iter().enumerate() {
            if let Some(e) = target {
                self.update_one(update, place(tensor.base, e, n), n, arg[i])?;
            }
        }
        Ok(vec![Datum::Token])
    }

    pub(super) fn alloca(&mut self, op: &Op, count: u64, alignment: u64) -> Result<u64, Cause> {
        let Element::Pointer(n) = self.tile_type(op.results[0])?.element else {
            return Err(malformed("'alloca' makes a pointer"));
        };
        // A device has less memory than this.
        const MOST: u64 = 1 << 32;
        let bits = count.checked_mul(n.stored_bits().into()).filter(|b| b / 8 <= MOST);
        let bits = bits.ok_or_else(|| Cause::Limit(format!("scratch memory for {count} elements is impossible")))?;
        Ok(self.memory.allocate_unknown("scratch memory", bits.div_ceil(8), alignment))
    }
}

/// How many indices there are along dimension `d` of the tile.
fn index_space(view: &ViewType, tensor: &Tensor, d: usize) -> u64 {
    tensor.shape[view.dim(d)].div_ceil(view.step(d))
}

/// What a load gives outside of the tensor.
fn pad(padding: Padding, n: Number) -> Scalar {
    let negative = matches!(padding, Padding::NegZero | Padding::NegInf);
    if n.is_integer() || (n == Number::E8m0 && padding == Padding::Zero) {
        return Scalar::exact(0);
    }
    if n == Number::E8m0 && negative {
        return Scalar::unknown(0);
    }
    let real = match padding {
        Padding::Zero | Padding::NegZero => format::Real::Zero { negative },
        Padding::Nan => return Scalar::nan(n),
        Padding::PosInf | Padding::NegInf => format::Real::Infinite { negative },
    };
    let bits = format::encode(real, n, format::Round::NearestEven).bits;
    match format::decode(bits, n) {
        // A format without infinity has NaN in its place, or nothing.
        format::Real::Nan => Scalar::nan(n),
        got if got == real => Scalar::exact(bits),
        _ => Scalar::unknown(0),
    }
}

/// What an atomic update leaves. The order of updates is open, so that a rounded sum is known approximately only.
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
        let exact = || {
            let (x, y) = (format::decode(old.bits, n), format::decode(arg.bits, n));
            !format::encode(format::add(x, y, format::Round::NearestEven), n, format::Round::NearestEven).inexact
        };
        return Ok(match sum.state {
            State::Exact if !exact() => Scalar { state: State::Near(1.0), ..sum },
            _ => sum,
        });
    }
    let (a, b) = (old.bits, arg.bits);
    let state = if old.is_unknown() || arg.is_unknown() { State::Unknown } else { State::Exact };
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
    Ok(Scalar { bits, state })
}
