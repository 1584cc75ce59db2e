//! Dots, reductions and scans.

use super::{Translator, at_places, ct, types};
use crate::analysis::combiners::is_order_free;
use crate::dialect::{
    attributes::CANONICAL,
    dots::is_zero,
    elements,
    layouts::Tensor,
    nv_tileaa as aa,
    pass::{Failed, fail},
    rt::*,
    types::{is_e4m3, is_e5m2},
};
use melior::ir::{Attribute, AttributeLike, Region, Type, attribute::ArrayAttribute};
use tile_layout::{Shape, canonical_first};
use tile_plan::PROMOTION;

/// Whether a tile has elements of 8-bit floats.
fn is_small_float(v: Val<'_>) -> bool {
    Tensor::of_value(v).is_some_and(|t| is_e4m3(t.element) || is_e5m2(t.element))
}

impl<'c> Translator<'c> {
    pub(super) fn dot(&mut self, o: ct::MmaFOp<'c>) -> Result<(), Failed> {
        self.product(o.lhs(), o.rhs(), o.acc(), o.result(), (false, false), o.fast_acc())
    }
    pub(super) fn integer_dot(&mut self, o: ct::MmaIOp<'c>) -> Result<(), Failed> {
        let unsigned = |s: ct::Signedness| s == ct::Signedness::Unsigned;
        let flags = (unsigned(o.signedness_lhs()), unsigned(o.signedness_rhs()));
        self.product(o.lhs(), o.rhs(), o.acc(), o.result(), flags, false)
    }
    fn product(
        &mut self,
        lhs: Val<'c>,
        rhs: Val<'c>,
        acc: Val<'c>,
        old: Val<'c>,
        (lhs_unsigned, rhs_unsigned): (bool, bool),
        fast_acc: bool,
    ) -> Result<(), Failed> {
        let t = self.result_type(old)?;
        let (lhs, rhs, acc) = (self.get(lhs), self.get(rhs), self.get(acc));
        if self.canonical && !fast_acc && is_small_float(lhs) && is_small_float(rhs) {
            let sum = self.promoted(t, (lhs, rhs), acc)?;
            self.set(old, sum);
            return Ok(());
        }
        let built = aa::DotOp::build(&self.b, t, lhs, rhs, acc, lhs_unsigned, rhs_unsigned, fast_acc);
        let new = self.built(built)?;
        self.set(old, new.result());
        Ok(())
    }

    /// A pinned product of 8-bit floats. Matrix units keep few bits of their sums, and only some of the instructions
    /// promote partial sums by themselves. So partial sums over [`PROMOTION`] elements of K start at zero and are added
    /// to the accumulator here, whatever the instructions.
    fn promoted(&mut self, t: Type<'c>, (lhs, rhs): (Val<'c>, Val<'c>), acc: Val<'c>) -> Result<Val<'c>, Failed> {
        let not_a_tile = || fail(self.current, "operand is not a tile");
        let [left, right] = [lhs, rhs].map(Tensor::of_value);
        let (left, right) = (left.ok_or_else(not_a_tile)?, right.ok_or_else(not_a_tile)?);
        let rank = left.shape.len();
        let depth = left.shape[rank - 1];
        let slices = depth.div_euclid(PROMOTION.into()).max(1);
        let zero = self.b.float_constant(t, 0.0);
        let mut sum = acc;
        for slice in 0..slices {
            let part = |v: Val<'c>, of: &Tensor<'c>, k: usize| {
                if slices == 1 {
                    return v;
                }
                let mut slices = of.clone();
                slices.shape[k] = PROMOTION.into();
                let index = |dim: usize| self.b.i32_constant(if dim == k { slice } else { 0 });
                let operands: Vec<Val<'c>> = std::iter::once(v).chain((0..rank).map(index)).collect();
                self.b.value(aa::ExtractSliceOp::NAME, slices.ty(), &operands, &[])
            };
            let (a, b) = (part(lhs, &left, rank - 1), part(rhs, &right, rank - 2));
            let partial = self.built(aa::DotOp::build(&self.b, t, a, b, zero, false, false, false))?.result();
            // The first partial sum needs no addition to zero.
            let is_first = slice == 0 && is_zero(acc);
            sum = if is_first { partial } else { self.b.value("arith.addf", t, &[sum, partial], &[]) };
        }
        Ok(sum)
    }

    pub(super) fn scaled_dot(&mut self, o: ct::MmaFScaledOp<'c>) -> Result<(), Failed> {
        let t = self.result_type(o.result())?;
        let [lhs, rhs, acc] = [o.lhs(), o.rhs(), o.acc()].map(|v| self.get(v));
        let [lhs_scale, rhs_scale] = [o.lhs_scale(), o.rhs_scale()].map(|v| self.get_number(v));
        let new = self.built(aa::DotScaledOp::build(&self.b, t, lhs, rhs, acc, lhs_scale, rhs_scale))?;
        self.set(o.result(), new.result());
        Ok(())
    }

    pub(super) fn reduce(&mut self, o: ct::ReduceOp<'c>) -> Result<(), Failed> {
        let old: Vec<_> = o.results().collect();
        let (operands, types, identities, body) =
            self.aggregate(o.op(), o.operands(), &old, o.identities(), o.body())?;
        let dim = self.i64_attr(o.dim());
        let new = self.built(aa::ReduceOp::build(&self.b, &types, &operands, dim, identities, body))?;
        if self.canonical && !is_order_free(new.op()) {
            let shape = Tensor::of_value(operands[0]).and_then(|t| Shape::new(&t.shape).ok());
            let shape = shape.ok_or_else(|| fail(o.op(), "operand is not a tile"))?;
            CANONICAL.set(new.op(), canonical_first(&shape, new.dim() as usize).into());
        }
        for (old, new) in old.into_iter().zip(new.results()) {
            self.set(old, new);
        }
        Ok(())
    }

    pub(super) fn scan(&mut self, o: ct::ScanOp<'c>) -> Result<(), Failed> {
        let old: Vec<_> = o.results().collect();
        let (operands, types, identities, body) =
            self.aggregate(o.op(), o.operands(), &old, o.identities(), o.body())?;
        let dim = self.i64_attr(o.dim());
        let new = self.built(aa::ScanOp::build(&self.b, &types, &operands, dim, o.reverse(), identities, body))?;
        if self.canonical && !is_order_free(new.op()) {
            CANONICAL.set(new.op(), 0);
        }
        for (old, new) in old.into_iter().zip(new.results()) {
            self.set(old, new);
        }
        Ok(())
    }

    /// Translates the parts that reductions and scans share: operands, result types, identities, and the body.
    #[allow(clippy::type_complexity)]
    fn aggregate(
        &mut self,
        op: OpRef<'c>,
        operands: impl Iterator<Item = Val<'c>>,
        results: &[Val<'c>],
        identities: Attribute<'c>,
        body: Rgn<'c>,
    ) -> Result<(Vec<Val<'c>>, Vec<Type<'c>>, Attribute<'c>, Region<'c>), Failed> {
        let operands = self.get_all(operands);
        let types = results.iter().map(|r| self.result_type(*r)).collect::<Result<Vec<_>, _>>()?;
        let elements: Vec<_> = operands.iter().map(|o| types::element_of(*o)).collect();
        let identities = self.identities(identities, &elements);
        let Some(source) = entry_block(body) else { return Err(fail(op, "body without a block")) };
        let scalars: Vec<_> = elements.iter().flat_map(|e| [*e, *e]).collect();
        let region = self.in_region(&at_places(&scalars, args(source)), |this, block| {
            for (old, new) in args(source).zip(args(block)) {
                this.set(old, new);
            }
            for inner in ops_of(source) {
                match ct::YieldOp::cast(inner) {
                    None => this.op(inner)?,
                    Some(end) => {
                        this.at(inner);
                        let values = this.get_all(end.operands());
                        this.built(aa::YieldOp::build(&this.b, &values))?;
                    }
                }
            }
            Ok(())
        })?;
        self.at(op);
        Ok((operands, types, identities, region))
    }

    /// Converts identities to the exact element types: the public language accepts f16 for bf16 and vice versa.
    fn identities(&self, list: Attribute<'c>, elements: &[Type<'c>]) -> Attribute<'c> {
        let mut new = vec![];
        for (i, element) in elements.iter().enumerate() {
            // SAFETY: the op's verifier requires an array with an attribute for each operand.
            let a = unsafe { Attribute::from_raw(mlir_sys::mlirArrayAttrGetElement(list.to_raw(), i as isize)) };
            let exact = elements::float(a).filter(|_| types::is_float(*element));
            new.push(exact.map_or(a, |value| elements::float_of(*element, value)));
        }
        ArrayAttribute::new(self.context, &new).into()
    }
}
