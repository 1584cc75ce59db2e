//! Creation and reshaping of tiles.
//!
//! Two shortcuts save later passes a pattern match: a broadcast or reshaped splat, or splat constant, is created
//! directly in its final shape. Producers express a splat as a `reshape` to `1x1` followed by a `broadcast`.

use super::{Translator, ct, types};
use crate::dialect::{arith::IntPredicate, behaviour, elements, nv_tileaa as aa, pass::Failed, rt::*};
use melior::ir::{Attribute, Type};

/// Converts a dense attribute of a tile type to the value of a constant of type `t`.
pub(super) fn constant_value<'c>(dense: Attribute<'c>, t: Type<'c>) -> Attribute<'c> {
    elements::reshaped(dense, t)
}

/// The element that a splat repeats.
enum Splat<'c> {
    Scalar(Val<'c>),
    Constant(Attribute<'c>),
}
fn splat_source<'c>(v: Val<'c>) -> Option<Splat<'c>> {
    let op = defining_op(v)?;
    if let Some(splat) = aa::SplatOp::cast(op) {
        return Some(Splat::Scalar(splat.source()));
    }
    let value = attr(op, "value").filter(|_| behaviour::is_constant(op))?;
    elements::splat(value).map(Splat::Constant)
}

impl<'c> Translator<'c> {
    pub(super) fn constant(&mut self, o: ct::ConstantOp<'c>) -> Result<(), Failed> {
        let t = self.result_type(o.result())?;
        let new = self.b.constant(t, constant_value(o.value(), t));
        self.set(o.result(), new);
        Ok(())
    }

    /// Rebuilds a splat in shape `t`; returns `None` if `v` is not a splat.
    fn splat_as(&mut self, v: Val<'c>, t: Type<'c>) -> Result<Option<Val<'c>>, Failed> {
        Ok(match splat_source(v) {
            None => None,
            Some(Splat::Scalar(s)) => Some(self.built(aa::SplatOp::build(&self.b, t, s))?.result()),
            Some(Splat::Constant(a)) => Some(self.b.constant(t, elements::dense(t, a))),
        })
    }

    pub(super) fn broadcast(&mut self, o: ct::BroadcastOp<'c>) -> Result<(), Failed> {
        let (source, t) = (self.get(o.source()), self.result_type(o.result())?);
        let new = if ty(source) == t {
            source
        } else if let Some(splat) = self.splat_as(source, t)? {
            splat
        } else if types::shape(ty(source)).iter().all(|d| *d == 1) {
            let scalar = self.built(aa::UnsplatOp::build(&self.b, types::element(t), source))?.result();
            self.built(aa::SplatOp::build(&self.b, t, scalar))?.result()
        } else {
            self.built(aa::BroadcastOp::build(&self.b, t, source))?.result()
        };
        self.set(o.result(), new);
        Ok(())
    }

    pub(super) fn reshape(&mut self, o: ct::ReshapeOp<'c>) -> Result<(), Failed> {
        let (source, t) = (self.get(o.source()), self.result_type(o.result())?);
        let new = match (types::is_tensor(ty(source)), types::is_tensor(t)) {
            _ if ty(source) == t => source,
            (false, _) => self.built(aa::SplatOp::build(&self.b, t, source))?.result(),
            (true, false) => match splat_source(source) {
                Some(Splat::Scalar(scalar)) => scalar,
                Some(Splat::Constant(value)) => self.b.constant(t, value),
                None => self.built(aa::UnsplatOp::build(&self.b, t, source))?.result(),
            },
            (true, true) => match self.splat_as(source, t)? {
                Some(splat) => splat,
                None => self.built(aa::ViewOp::build(&self.b, t, source))?.result(),
            },
        };
        self.set(o.result(), new);
        Ok(())
    }

    pub(super) fn permute(&mut self, o: ct::PermuteOp<'c>) -> Result<(), Failed> {
        let order = attr(o.op(), "permutation").expect("verified");
        self.plain(aa::PermuteOp::NAME, &[o.source()], &[("order", order)], o.result())
    }

    pub(super) fn cat(&mut self, o: ct::CatOp<'c>) -> Result<(), Failed> {
        let dim = self.i64_attr(o.dim());
        self.plain(aa::CatOp::NAME, &[o.lhs(), o.rhs()], &[("dim", dim)], o.result())
    }

    /// Broadcasts the slice to the size of the whole tensor and selects it where the indices match.
    pub(super) fn insert(&mut self, o: ct::InsertOp<'c>) -> Result<(), Failed> {
        let (mut slice, whole) = (self.get(o.source()), self.get(o.destination()));
        let (from, t) = (types::shape(ty(slice)), ty(whole));
        let to = types::shape(t);
        if from == to {
            // There is only one slice, and its index must be zero.
            self.set(o.result(), slice);
            return Ok(());
        }
        let element = types::element(t);
        let mut shape = from.clone();
        let mut chosen: Option<Val<'c>> = None;
        for (d, index) in self.get_all(o.indices()).into_iter().enumerate() {
            let slices = to[d] / from[d];
            if slices == 1 {
                continue;
            }
            // For example, 4x8 becomes 4x1x8, then 4x2x8, then 4x16.
            let mut split = shape.clone();
            split.insert(d, 1);
            slice = self.built(aa::ViewOp::build(&self.b, types::tensor(&split, element), slice))?.result();
            split[d] = slices;
            slice = self.built(aa::BroadcastOp::build(&self.b, types::tensor(&split, element), slice))?.result();
            shape[d] = to[d];
            slice = self.built(aa::ViewOp::build(&self.b, types::tensor(&shape, element), slice))?.result();

            let line = types::tensor(&[to[d]], types::int(self.context, 32));
            let number = self.b.value(aa::MakeRangeOp::NAME, line, &[], &[]);
            let shift = self.b.int_constant(line, i64::from(from[d].trailing_zeros()));
            let number = self.b.shrui(number, shift);
            let wanted = self.built(aa::SplatOp::build(&self.b, line, index))?.result();
            let i1 = types::int(self.context, 1);
            let mut here = self.b.cmpi(IntPredicate::Eq, number, wanted);
            let mut beside = vec![1; to.len()];
            beside[d] = to[d];
            if to.len() > 1 {
                here = self.built(aa::ViewOp::build(&self.b, types::tensor(&beside, i1), here))?.result();
            }
            if beside != to {
                here = self.built(aa::BroadcastOp::build(&self.b, types::tensor(&to, i1), here))?.result();
            }
            chosen = Some(match chosen {
                None => here,
                Some(others) => self.b.andi(others, here),
            });
        }
        let new = match chosen {
            Some(chosen) => self.b.select(chosen, slice, whole),
            None => slice,
        };
        self.set(o.result(), new);
        Ok(())
    }

    pub(super) fn extract(&mut self, o: ct::ExtractOp<'c>) -> Result<(), Failed> {
        if o.indices().len() == 0 {
            // A tile of rank zero has one slice, itself.
            let source = self.get(o.source());
            self.set(o.result(), source);
            return Ok(());
        }
        let operands: Vec<_> = std::iter::once(o.source()).chain(o.indices()).collect();
        self.plain(aa::ExtractSliceOp::NAME, &operands, &[], o.result())
    }
}
