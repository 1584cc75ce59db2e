//! Helpers over MLIR's C API for both directions.

use crate::dialect::ffi;
use mlir_sys::*;
use tile_bytecode::{Scalar, schema::EnumSpec};

pub fn str_ref(bytes: &[u8]) -> MlirStringRef {
    MlirStringRef { data: bytes.as_ptr().cast(), length: bytes.len() }
}

/// The bytes of a string that the context owns.
pub fn bytes<'a>(s: MlirStringRef) -> &'a [u8] {
    if s.length == 0 {
        return &[];
    }
    // SAFETY: strings of attributes and identifiers live as long as the context, which outlives a translation.
    unsafe { std::slice::from_raw_parts(s.data.cast(), s.length) }
}

/// A Rust view of an array that an accessor returned.
pub fn ints<'a, T>(accessor: impl FnOnce(*mut *const T) -> isize) -> &'a [T] {
    let mut data = std::ptr::null();
    let n = accessor(&mut data);
    if n == 0 {
        return &[];
    }
    // SAFETY: the accessor set `data` to `n` elements of an attribute or type, which the context owns.
    unsafe { std::slice::from_raw_parts(data, n as usize) }
}

/// An optional integer that an accessor returned.
pub fn optional(accessor: impl FnOnce(*mut i64) -> bool) -> Option<i64> {
    let mut value = 0;
    accessor(&mut value).then_some(value)
}

pub fn identifier(context: MlirContext, name: &str) -> MlirIdentifier {
    // SAFETY: the context is alive and the string is copied.
    unsafe { mlirIdentifierGet(context, str_ref(name.as_bytes())) }
}

/// The builtin type of a scalar.
pub fn scalar_type(context: MlirContext, s: Scalar) -> MlirType {
    // SAFETY: the context is alive.
    unsafe {
        match s {
            Scalar::I1 | Scalar::I4 | Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => {
                mlirIntegerTypeGet(context, s.bits())
            }
            Scalar::F16 => mlirF16TypeGet(context),
            Scalar::BF16 => mlirBF16TypeGet(context),
            Scalar::F32 => mlirF32TypeGet(context),
            Scalar::TF32 => mlirTF32TypeGet(context),
            Scalar::F64 => mlirF64TypeGet(context),
            Scalar::F8E4M3FN => mlirFloat8E4M3FNTypeGet(context),
            Scalar::F8E5M2 => mlirFloat8E5M2TypeGet(context),
            Scalar::F8E8M0FNU => mlirFloat8E8M0FNUTypeGet(context),
            Scalar::F4E2M1FN => mlirFloat4E2M1FNTypeGet(context),
            Scalar::FNV8E5M3FNU => ffi::tileir_cuda_tile_get_FloatNV8E5M3FNUType(mlirLocationUnknownGet(context)),
        }
    }
}

/// The inverse of [`scalar_type`]; `None` for a type that bytecode does not have.
pub fn scalar_of(t: MlirType) -> Option<Scalar> {
    // SAFETY: the type is alive.
    unsafe {
        if mlirTypeIsAInteger(t) {
            return match (mlirIntegerTypeIsSignless(t), mlirIntegerTypeGetWidth(t)) {
                (true, 1) => Some(Scalar::I1),
                (true, 4) => Some(Scalar::I4),
                (true, 8) => Some(Scalar::I8),
                (true, 16) => Some(Scalar::I16),
                (true, 32) => Some(Scalar::I32),
                (true, 64) => Some(Scalar::I64),
                _ => None,
            };
        }
        let tests: [(unsafe extern "C" fn(MlirType) -> bool, Scalar); 9] = [
            (mlirTypeIsAF16, Scalar::F16),
            (mlirTypeIsABF16, Scalar::BF16),
            (mlirTypeIsAF32, Scalar::F32),
            (mlirTypeIsATF32, Scalar::TF32),
            (mlirTypeIsAF64, Scalar::F64),
            (mlirTypeIsAFloat8E4M3FN, Scalar::F8E4M3FN),
            (mlirTypeIsAFloat8E5M2, Scalar::F8E5M2),
            (mlirTypeIsAFloat8E8M0FNU, Scalar::F8E8M0FNU),
            (mlirTypeIsAFloat4E2M1FN, Scalar::F4E2M1FN),
        ];
        let builtin = tests.into_iter().find(|(is, _)| is(t)).map(|(_, s)| s);
        builtin.or_else(|| ffi::tileir_cuda_tile_isa_FloatNV8E5M3FNUType(t).then_some(Scalar::FNV8E5M3FNU))
    }
}

/// The attribute for an enumeration's value: the dialect's own, or a 32-bit integer.
pub fn enum_attr(location: MlirLocation, e: &EnumSpec, value: u32) -> MlirAttribute {
    let v = i64::from(value);
    // SAFETY: the location is alive, and the value belongs to the enumeration.
    unsafe {
        match e.name {
            "Signedness" => ffi::tileir_cuda_tile_get_SignednessAttr(location, v),
            "IntegerOverflow" => ffi::tileir_cuda_tile_get_IntegerOverflowAttr(location, v),
            "RoundingMode" => ffi::tileir_cuda_tile_get_RoundingModeAttr(location, v),
            "ComparisonOrdering" => ffi::tileir_cuda_tile_get_ComparisonOrderingAttr(location, v),
            "ComparisonPredicate" => ffi::tileir_cuda_tile_get_ComparisonPredicateAttr(location, v),
            "SymbolVisibility" => ffi::tileir_cuda_tile_get_SymbolVisibilityAttr(location, v),
            "MultimemReductionKind" => ffi::tileir_cuda_tile_get_MultimemReductionKindAttr(location, v),
            "PaddingValue" => ffi::tileir_cuda_tile_get_PaddingValueAttr(location, v),
            _ => mlirIntegerAttrGet(mlirIntegerTypeGet(mlirLocationGetContext(location), 32), v),
        }
    }
}

/// The inverse of [`enum_attr`].
pub fn enum_value(e: &EnumSpec, a: MlirAttribute) -> Option<u32> {
    // SAFETY: the attribute is alive, and each accessor is called on its own class only.
    let value = unsafe {
        match e.name {
            "Signedness" if ffi::tileir_cuda_tile_isa_SignednessAttr(a) => {
                ffi::tileir_cuda_tile_SignednessAttr_value(a)
            }
            "IntegerOverflow" if ffi::tileir_cuda_tile_isa_IntegerOverflowAttr(a) => {
                ffi::tileir_cuda_tile_IntegerOverflowAttr_value(a)
            }
            "RoundingMode" if ffi::tileir_cuda_tile_isa_RoundingModeAttr(a) => {
                ffi::tileir_cuda_tile_RoundingModeAttr_value(a)
            }
            "ComparisonOrdering" if ffi::tileir_cuda_tile_isa_ComparisonOrderingAttr(a) => {
                ffi::tileir_cuda_tile_ComparisonOrderingAttr_value(a)
            }
            "ComparisonPredicate" if ffi::tileir_cuda_tile_isa_ComparisonPredicateAttr(a) => {
                ffi::tileir_cuda_tile_ComparisonPredicateAttr_value(a)
            }
            "SymbolVisibility" if ffi::tileir_cuda_tile_isa_SymbolVisibilityAttr(a) => {
                ffi::tileir_cuda_tile_SymbolVisibilityAttr_value(a)
            }
            "MultimemReductionKind" if ffi::tileir_cuda_tile_isa_MultimemReductionKindAttr(a) => {
                ffi::tileir_cuda_tile_MultimemReductionKindAttr_value(a)
            }
            _ if e.mnemonic.is_none() && mlirAttributeIsAInteger(a) => mlirIntegerAttrGetValueInt(a),
            _ => return None,
        }
    };
    u32::try_from(value).ok().filter(|v| (*v as usize) < e.keywords.len())
}
