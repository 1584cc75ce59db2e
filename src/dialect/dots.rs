//! Matrix products: between the attributes of MLIR and the algebra of `tile_layout`.

use super::{
    layouts::storage_bits,
    nv_tileas::{DotOp, DotScaledOp, MmaAttr, MmaKind},
    rt::*,
};
use melior::{
    Context,
    ir::{Attribute, Location, Type, TypeLike},
};
use mlir_sys::{mlirTypeIsAFloat8E4M3FN, mlirTypeIsAFloat8E5M2};
use tile_layout::{MmaInstruction, Multiplier};
use tile_targets::{Feature, Target};

/// What multiplies, as the attribute `#nv_tileas.mma` says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    pub kind: MmaKind,
    /// M, N and K; all one for scalar arithmetic.
    pub shape: [u32; 3],
}

impl Instruction {
    pub const FMA: Self = Self { kind: MmaKind::Fma, shape: [1; 3] };

    pub fn sync(m: u32, n: u32, k: u32) -> Self {
        Self { kind: MmaKind::Sync, shape: [m, n, k] }
    }

    /// `mma.sync` of 16x8 that scales blocks of its operands itself.
    pub fn block_scale(k: u32) -> Self {
        Self { kind: MmaKind::BlockScale, shape: [16, 8, k] }
    }

    /// The instruction that multiplies blocks of `element` with their scales. All combinations of the language have one where
    /// the target has any.
    pub fn block_scaled(element: Type<'_>, target: &Target) -> Option<Self> {
        let depth = if is_f8(element) { 32 } else { 64 };
        target.has(Feature::BlockScaledMma).then(|| Self::block_scale(depth))
    }

    /// None for another attribute, or extents that do not fit.
    pub fn of(a: Attribute<'_>) -> Option<Self> {
        let a = MmaAttr::cast(a)?;
        let shape = match a.shape() {
            [] => [1; 3],
            &[m, n, k] => [m.try_into().ok()?, n.try_into().ok()?, k.try_into().ok()?],
            _ => return None,
        };
        Some(Self { kind: a.kind(), shape })
    }

    pub fn to_attr<'c>(self, context: &'c Context) -> Attribute<'c> {
        let shape: Vec<i64> = match self.kind {
            MmaKind::Fma => vec![],
            _ => self.shape.iter().map(|&e| e.into()).collect(),
        };
        MmaAttr::get(Location::unknown(context), self.kind, &shape).expect("instructions verify").into()
    }

    /// As the algebra has it, for operands of `element`.
    pub fn multiplier(self, element: Type<'_>) -> Multiplier {
        match self.kind {
            MmaKind::Fma => Multiplier::Scalar,
            MmaKind::Sync | MmaKind::BlockScale => {
                let [m, n, k] = self.shape;
                // Four bits are all that `k = 64` multiplies.
                let operand_bits = if self.kind == MmaKind::BlockScale && k == 64 { 4 } else { storage_bits(element) };
                Multiplier::Sync(MmaInstruction::Sync { m, n, k, operand_bits })
            }
        }
    }
}

/// Whether elements are of one of the formats of eight bits.
pub fn is_f8(element: Type<'_>) -> bool {
    // SAFETY: the type is alive.
    unsafe { mlirTypeIsAFloat8E4M3FN(element.to_raw()) || mlirTypeIsAFloat8E5M2(element.to_raw()) }
}

/// A product of either kind.
#[derive(Clone, Copy)]
pub enum AnyDot<'c> {
    Plain(DotOp<'c>),
    Scaled(DotScaledOp<'c>),
}

impl<'c> AnyDot<'c> {
    pub fn cast(op: OpRef<'c>) -> Option<Self> {
        DotOp::cast(op).map(Self::Plain).or_else(|| DotScaledOp::cast(op).map(Self::Scaled))
    }
    pub fn op(self) -> OpRef<'c> {
        match self {
            Self::Plain(o) => o.op(),
            Self::Scaled(o) => o.op(),
        }
    }
    pub fn lhs(self) -> Val<'c> {
        operand(self.op(), LHS)
    }
    pub fn rhs(self) -> Val<'c> {
        operand(self.op(), RHS)
    }
    pub fn acc(self) -> Val<'c> {
        operand(self.op(), ACC)
    }
    pub fn result(self) -> Val<'c> {
        result(self.op(), 0)
    }
    pub fn instruction(self) -> Option<Instruction> {
        attr(self.op(), "instruction").and_then(Instruction::of)
    }
}

/// Numbers of the operands that both kinds have; scales stand behind them.
pub const LHS: usize = 0;
pub const RHS: usize = 1;
pub const ACC: usize = 2;
