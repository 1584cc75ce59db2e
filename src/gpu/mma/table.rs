//! The rows of the table.

use crate::{Columns, Element, Element::*, Emission, Lowering, Major, Row, Scales, Unit};
use tile_targets::Feature;

const HALF: &[Element] = &[F16];
const BHALF: &[Element] = &[Bf16];
const HALVES: &[Element] = &[F16, Bf16];
const SINGLE: &[Element] = &[Tf32];
const DOUBLE: &[Element] = &[F64];
const FP8: &[Element] = &[E4m3, E5m2];
/// All padded to bytes.
const FP8_FP6_FP4: &[Element] = &[E4m3, E5m2, E3m2, E2m3, E2m1];
const FP4: &[Element] = &[E2m1];
const BYTES: &[Element] = &[S8, U8];
const NIBBLES: &[Element] = &[S4, U4];
const BITS: &[Element] = &[B1];

const IN_F32: &[Element] = &[F32];
const IN_F16: &[Element] = &[F16];
const IN_F16_OR_F32: &[Element] = &[F16, F32];
const IN_F64: &[Element] = &[F64];
const IN_S32: &[Element] = &[S32];

const K_MAJOR: &[Major] = &[Major::K];
const ANY_MAJOR: &[Major] = &[Major::K, Major::Mn];

/// The defaults of an `mma.sync` row: 16 rows, on every target, not generated.
const SYNC: Row = Row {
    unit: Unit::Sync,
    kind: "",
    m: 16,
    n: Columns::One(8),
    k: 0,
    operands: &[],
    mixed: false,
    accumulators: IN_F32,
    container: 0,
    scales: None,
    majors: &[],
    feature: None,
    rate: 16,
    lowering: None,
};

const fn sync(k: u32, operands: &'static [Element], accumulators: &'static [Element], container: u32) -> Row {
    let rate = match container {
        64 => 1,
        32 => 8,
        16 => 16,
        8 => 32,
        4 => 64,
        _ => 256,
    };
    Row { k, operands, accumulators, container, rate, ..SYNC }
}

/// Integers; each operand may be signed or unsigned.
const fn integers(m: u32, k: u32, operands: &'static [Element]) -> Row {
    Row { m, mixed: true, ..sync(k, operands, IN_S32, operands[0].bits()) }
}

const fn lowered(emission: Emission, row: Row) -> Row {
    Row { lowering: Some(Lowering { emission, operands: row.operands }), ..row }
}

const fn scaled(kind: &'static str, k: u32, operands: &'static [Element], scales: Scales) -> Row {
    Row {
        unit: Unit::BlockScale,
        kind,
        mixed: operands.len() > 1,
        scales: Some(scales),
        feature: Some(Feature::BlockScaledMma),
        ..sync(k, operands, IN_F32, if k == 64 { 4 } else { 8 })
    }
}

/// A row with many formats of which the compiler generates two. It would have to place the elements of the other
/// formats differently within their bytes.
const fn lowered_for(operands: &'static [Element], row: Row) -> Row {
    Row { lowering: Some(Lowering { emission: Emission::Assembly, operands }), ..row }
}

const fn warpgroup(n: Columns, operands: &'static [Element], accumulators: &'static [Element]) -> Row {
    let container = operands[0].bits();
    Row {
        unit: Unit::Warpgroup,
        m: 64,
        n,
        mixed: container == 8,
        majors: if container == 16 { ANY_MAJOR } else { K_MAJOR },
        feature: Some(Feature::Wgmma),
        ..sync(256 / container, operands, accumulators, container)
    }
}

const fn tensor(
    unit: Unit,
    kind: &'static str,
    m: u32,
    operands: &'static [Element],
    accumulators: &'static [Element],
    container: u32,
) -> Row {
    let pair = matches!(unit, Unit::TensorPair);
    let integer = matches!(operands[0], S8);
    let n = match (pair, integer) {
        (false, false) => Columns::Steps(8),
        (false, true) => Columns::Integer,
        (true, false) => Columns::Steps(16),
        (true, true) => Columns::Steps(32),
    };
    Row {
        unit,
        kind,
        m,
        n,
        mixed: container == 8,
        majors: if container == 4 { K_MAJOR } else { ANY_MAJOR },
        feature: Some(if integer { Feature::Tcgen05Int8 } else { Feature::Tcgen05 }),
        ..sync(256 / container, operands, accumulators, container)
    }
}

const fn tensor_scaled(
    unit: Unit,
    kind: &'static str,
    m: u32,
    operands: &'static [Element],
    container: u32,
    scales: Scales,
) -> Row {
    Row { scales: Some(scales), ..tensor(unit, kind, m, operands, IN_F32, container) }
}

const MX8: Scales = Scales { formats: &[Ue8m0], block: 32 };
const MX4: Scales = Scales { formats: &[Ue8m0], block: 32 };
const NV4: Scales = Scales { formats: &[Ue8m0, Ue4m3], block: 16 };

use Emission::{Assembly, Intrinsic};
use Unit::{Tensor, TensorPair};

/// All dense matrix instructions, by unit, then by width of the operands.
#[rustfmt::skip]
pub static ROWS: &[Row] = &[
    // mma.sync, floating point.
    Row { m: 8, ..lowered(Intrinsic, sync(4, DOUBLE, IN_F64, 64)) },
    Row { feature: Some(Feature::F64Mma16), ..sync(4, DOUBLE, IN_F64, 64) },
    Row { feature: Some(Feature::F64Mma16), ..sync(8, DOUBLE, IN_F64, 64) },
    Row { feature: Some(Feature::F64Mma16), ..sync(16, DOUBLE, IN_F64, 64) },
    lowered(Intrinsic, sync(4, SINGLE, IN_F32, 32)),
    lowered(Intrinsic, sync(8, SINGLE, IN_F32, 32)),
    lowered(Intrinsic, sync(8, HALF, IN_F16_OR_F32, 16)),
    lowered(Intrinsic, sync(16, HALF, IN_F16_OR_F32, 16)),
    lowered(Intrinsic, sync(8, BHALF, IN_F32, 16)),
    lowered(Intrinsic, sync(16, BHALF, IN_F32, 16)),
    Row { mixed: true, feature: Some(Feature::Fp8Mma), ..sync(16, FP8, IN_F16_OR_F32, 8) },
    lowered(Assembly, Row { mixed: true, feature: Some(Feature::Fp8Mma), ..sync(32, FP8, IN_F16_OR_F32, 8) }),
    Row { kind: "f8f6f4", mixed: true, feature: Some(Feature::BlockScaledMma), ..sync(32, FP8_FP6_FP4, IN_F16_OR_F32, 8) },

    // mma.sync, integers.
    integers(8, 16, BYTES),
    lowered(Intrinsic, integers(16, 16, BYTES)),
    lowered(Intrinsic, integers(16, 32, BYTES)),
    integers(8, 32, NIBBLES),
    integers(16, 32, NIBBLES),
    integers(16, 64, NIBBLES),
    integers(8, 128, BITS),
    integers(16, 128, BITS),
    integers(16, 256, BITS),

    // mma.sync with a scale for each block of the operands.
    lowered_for(FP8, scaled("mxf8f6f4", 32, FP8_FP6_FP4, MX8)),
    lowered_for(FP4, scaled("mxf4", 64, FP4, MX4)),
    scaled("mxf4nvf4", 64, FP4, MX4),
    lowered_for(FP4, scaled("mxf4nvf4", 64, FP4, NV4)),

    // wgmma.
    lowered(Assembly, warpgroup(Columns::Steps(8), SINGLE, IN_F32)),
    lowered(Assembly, warpgroup(Columns::Steps(8), HALF, IN_F16_OR_F32)),
    lowered(Assembly, warpgroup(Columns::Steps(8), BHALF, IN_F32)),
    lowered(Assembly, warpgroup(Columns::Steps(8), FP8, IN_F16_OR_F32)),
    lowered(Assembly, warpgroup(Columns::Integer, BYTES, IN_S32)),
    warpgroup(Columns::Integer, BITS, IN_S32),

    // tcgen05 by one CTA.
    lowered(Assembly, tensor(Tensor, "tf32", 64, SINGLE, IN_F32, 32)),
    lowered(Assembly, tensor(Tensor, "tf32", 128, SINGLE, IN_F32, 32)),
    tensor(Tensor, "f16", 64, HALF, IN_F16, 16),
    tensor(Tensor, "f16", 128, HALF, IN_F16, 16),
    lowered(Assembly, tensor(Tensor, "f16", 64, HALVES, IN_F32, 16)),
    lowered(Assembly, tensor(Tensor, "f16", 128, HALVES, IN_F32, 16)),
    lowered_for(FP8, tensor(Tensor, "f8f6f4", 64, FP8_FP6_FP4, IN_F16_OR_F32, 8)),
    lowered_for(FP8, tensor(Tensor, "f8f6f4", 128, FP8_FP6_FP4, IN_F16_OR_F32, 8)),
    lowered(Assembly, tensor(Tensor, "i8", 64, BYTES, IN_S32, 8)),
    lowered(Assembly, tensor(Tensor, "i8", 128, BYTES, IN_S32, 8)),
    lowered_for(FP8, tensor_scaled(Tensor, "mxf8f6f4", 128, FP8_FP6_FP4, 8, MX8)),
    lowered_for(FP4, tensor_scaled(Tensor, "mxf4", 128, FP4, 4, MX4)),
    tensor_scaled(Tensor, "mxf4nvf4", 128, FP4, 4, MX4),
    lowered_for(FP4, tensor_scaled(Tensor, "mxf4nvf4", 128, FP4, 4, NV4)),

    // tcgen05 by two CTAs.
    tensor(TensorPair, "tf32", 128, SINGLE, IN_F32, 32),
    lowered(Assembly, tensor(TensorPair, "tf32", 256, SINGLE, IN_F32, 32)),
    tensor(TensorPair, "f16", 128, HALF, IN_F16, 16),
    tensor(TensorPair, "f16", 256, HALF, IN_F16, 16),
    tensor(TensorPair, "f16", 128, HALVES, IN_F32, 16),
    lowered(Assembly, tensor(TensorPair, "f16", 256, HALVES, IN_F32, 16)),
    tensor(TensorPair, "f8f6f4", 128, FP8_FP6_FP4, IN_F16_OR_F32, 8),
    lowered_for(FP8, tensor(TensorPair, "f8f6f4", 256, FP8_FP6_FP4, IN_F16_OR_F32, 8)),
    tensor(TensorPair, "i8", 128, BYTES, IN_S32, 8),
    lowered(Assembly, tensor(TensorPair, "i8", 256, BYTES, IN_S32, 8)),
    tensor_scaled(TensorPair, "mxf8f6f4", 128, FP8_FP6_FP4, 8, MX8),
    lowered_for(FP8, tensor_scaled(TensorPair, "mxf8f6f4", 256, FP8_FP6_FP4, 8, MX8)),
    tensor_scaled(TensorPair, "mxf4", 128, FP4, 4, MX4),
    lowered_for(FP4, tensor_scaled(TensorPair, "mxf4", 256, FP4, 4, MX4)),
    tensor_scaled(TensorPair, "mxf4nvf4", 128, FP4, 4, MX4),
    tensor_scaled(TensorPair, "mxf4nvf4", 256, FP4, 4, MX4),
    tensor_scaled(TensorPair, "mxf4nvf4", 128, FP4, 4, NV4),
    lowered_for(FP4, tensor_scaled(TensorPair, "mxf4nvf4", 256, FP4, 4, NV4)),
];
