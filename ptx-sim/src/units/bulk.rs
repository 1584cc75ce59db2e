//! The rules of one-dimensional bulk copies (`cp.async.bulk`).

use super::error::TmaError;

/// Checks that the addresses and size of a bulk copy, prefetch or reduction are multiples of 16 bytes.
///
/// # Errors
///
/// [`TmaError::Bulk`] with the operand.
pub const fn check_bulk(destination: u64, source: u64, size: u64) -> Result<(), TmaError> {
    if !destination.is_multiple_of(16) {
        return Err(TmaError::Bulk { what: "destination address", value: destination });
    }
    if !source.is_multiple_of(16) {
        return Err(TmaError::Bulk { what: "source address", value: source });
    }
    if !size.is_multiple_of(16) {
        return Err(TmaError::Bulk { what: "size", value: size });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_in_units_of_sixteen() {
        assert!(check_bulk(0x100, 0x20, 48).is_ok());
        assert_eq!(check_bulk(8, 0, 16), Err(TmaError::Bulk { what: "destination address", value: 8 }));
        assert_eq!(check_bulk(0, 4, 16), Err(TmaError::Bulk { what: "source address", value: 4 }));
        assert_eq!(check_bulk(0, 0, 24), Err(TmaError::Bulk { what: "size", value: 24 }));
    }
}
