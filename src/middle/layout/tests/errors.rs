//! Every kind of error has a unique, stable code and a message that names the offending quantity.

use std::collections::BTreeSet;

use tile_layout::LayoutError;

#[test]
fn codes_and_messages() {
    let table: Vec<(LayoutError, &str, &str)> = vec![
        (
            LayoutError::NotPowerOfTwo { dim: 1, extent: 48 },
            "layout-not-power-of-two",
            "dimension 1 has extent 48, which is not a positive power of two",
        ),
        (
            LayoutError::TooManyBits { what: "registers", bits: 40, limit: 31 },
            "layout-too-many-bits",
            "registers: 40 bits exceed the limit of 31",
        ),
        (
            LayoutError::Mismatch { what: "input bits", expected: 4, found: 5 },
            "layout-mismatch",
            "input bits: expected 4, found 5",
        ),
        (
            LayoutError::OutOfRange { what: "column", value: 16, bits: 4 },
            "layout-out-of-range",
            "column 0x10 does not fit in 4 bits",
        ),
        (
            LayoutError::NoSuchDimension { dim: 3, rank: 2 },
            "layout-no-such-dimension",
            "dimension 3 does not exist in a tile of rank 2",
        ),
        (
            LayoutError::NotAPermutation { order: vec![0, 0], rank: 2 },
            "layout-not-a-permutation",
            "[0, 0] is not a permutation of the 2 dimensions of the tile",
        ),
        (
            LayoutError::NotSurjective { reached: 5, total: 6 },
            "layout-not-surjective",
            "the layout reaches 2^5 of the 2^6 elements of the tile",
        ),
        (
            LayoutError::NotInvertible { rank: 2, in_bits: 3, out_bits: 4 },
            "layout-not-invertible",
            "the map from 3 to 4 bits has rank 2 and cannot be inverted",
        ),
        (
            LayoutError::CrossBlock,
            "layout-cross-block",
            "the conversion moves elements between the blocks of a cluster",
        ),
        (
            LayoutError::ScratchTooSmall { needed: 4, available: 3 },
            "layout-scratch-too-small",
            "the conversion needs at least 4 bytes of shared memory, but only 3 are available",
        ),
        (
            LayoutError::UnsupportedElement { bits: 24, expected: "a power of two up to 128 bits" },
            "layout-unsupported-element",
            "elements of 24 bits are not supported here: expected a power of two up to 128 bits",
        ),
        (
            LayoutError::TileTooSmall { what: "the matrix instruction", dim: 0, extent: 8, needed: 16 },
            "layout-tile-too-small",
            "dimension 0 of the tile has extent 8, but the matrix instruction needs at least 16",
        ),
        (
            LayoutError::NotInFragments { columns: 128, groups: 2 },
            "layout-not-in-fragments",
            "the layout does not consist of fragments of 64 rows by 128 columns for 2 warpgroups",
        ),
        (LayoutError::Syntax { at: 9, expected: "`=`" }, "layout-syntax", "malformed layout at byte 9: expected `=`"),
    ];
    for (error, code, message) in &table {
        assert_eq!(error.code(), *code);
        assert_eq!(error.to_string(), *message);
    }
    let codes: BTreeSet<&str> = table.iter().map(|(error, _, _)| error.code()).collect();
    assert_eq!(codes.len(), table.len());
}
