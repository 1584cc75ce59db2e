//! Advice of remarks: what the user can change, in the spelling of Tile IR and of cuTile Python.

macro_rules! advice {
    ($($(#[$doc:meta])* $name:ident: $language:literal $(, $cutile:literal)?;)*) => {
        /// A change that the user can make.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Advice { $($(#[$doc])* $name,)* }

        impl Advice {
            pub const ALL: &[Advice] = &[$(Advice::$name),*];

            /// The advice in terms of Tile IR.
            pub const fn text(self) -> &'static str {
                match self { $(Advice::$name => $language,)* }
            }

            /// The advice in terms of cuTile Python, if it has its own spelling there.
            const fn cutile(self) -> Option<&'static str> {
                match self { $(Advice::$name => advice!(@ $($cutile)?),)* }
            }
        }
    };
    (@) => { None };
    (@ $cutile:literal) => { Some($cutile) };
}

advice! {
    AlignBase: "promise its alignment with assume div_by<16>",
        "pass arrays at multiples of 16 bytes (export_kernel: base_addr_divisible_by=16)";
    AlignPointer: "promise the alignment of the base pointer with assume div_by<16>",
        "pass arrays at multiples of 16 bytes (export_kernel: base_addr_divisible_by=16)";
    AlignUpdate: "promise the alignment of base and strides with assume div_by",
        "pass arrays whose address and strides are multiples of 16 bytes (export_kernel: base_addr_divisible_by, \
         stride_divisible_by)";
    AlignCopy: "promise alignment and strides with assume div_by",
        "pass arrays whose address and strides are multiples of 16 bytes (export_kernel: base_addr_divisible_by, \
         stride_divisible_by)";
    DivideStride: "promise its divisibility with assume div_by",
        "pass arrays whose rows start at multiples of 16 bytes (export_kernel: stride_divisible_by)";
    DivideExtent: "promise the divisibility of the extent with assume div_by, or pad the tensor",
        "pass arrays whose extents are multiples of 16 (export_kernel: shape_divisible_by=16), or pad them";
    DivideMask: "compare offsets with a bound that assume div_by makes a multiple of the vector",
        "compare offsets with a bound from ct.assume_divisible_by, or load tiles with ct.load";
    ContiguousDimension: "give one dimension the constant stride 1",
        "pass arrays with a contiguous dimension (export_kernel: stride_constant with a 1)";
    GatherRows: "gather along a dimension other than the contiguous one";
    WiderTiles: "use tiles or steps of at least 16 bytes along the contiguous dimension";
    OffsetsFromIota: "compute offsets from iota, or load through a view",
        "compute indices from ct.arange, or load tiles with ct.load instead of ct.gather";
    NarrowOffsets: "give the view constant extents and strides if they are known, or set index-bitwidth to 32",
        "pass arrays with 32-bit indices (export_kernel: index_dtype=ct.int32)";
    SumInF32: "accumulate in f32 if memory allows";
    ContiguousOperand: "keep the inner dimension contiguous in memory";
    RoundOperands: "round the operands to tf32 or bf16 if that is accurate enough",
        "convert the operands by .astype(ct.tfloat32) or .astype(ct.bfloat16) if that is accurate enough";
    ConvertOutside: "convert once, outside of loops";
    PadWithZeros: "pad with zeros", "load with padding_mode=ct.PaddingMode.ZERO";
    LoadForEachUse: "load the tile for each use";
    WeakOrder: "make it weak", "load with memory_order=ct.MemoryOrder.WEAK";
    TokenFromOutside: "take its token from outside the loop",
        "do not store to the same array in the loop, or pass arrays that do not alias (export_kernel: alias_groups)";
    InductionAddress: "compute it from the induction variable";
    SmallerTiles: "take smaller tiles";
    SmallerTilesOrSlices: "take smaller tiles, or loop over slices of the tile";
    SoonerUse: "use smaller tiles, or use values sooner after they are computed";
}

impl Advice {
    /// The advice in the spelling of the front end that wrote `file`.
    pub fn in_terms_of(self, file: Option<&str>) -> &'static str {
        let is_python = file.is_some_and(|file| file.ends_with(".py"));
        self.cutile().filter(|_| is_python).unwrap_or(self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn advice_has_the_spelling_of_the_front_end() {
        let of = |file| Advice::AlignBase.in_terms_of(file);
        assert!(of(Some("k.py")).contains("base_addr_divisible_by=16"));
        assert_eq!((of(Some("k.mlir")), of(None)), (Advice::AlignBase.text(), Advice::AlignBase.text()));
        // Advice about tiles is the same in both.
        assert_eq!(Advice::SmallerTiles.in_terms_of(Some("k.py")), "take smaller tiles");
        let texts: BTreeSet<&str> = Advice::ALL.iter().map(|a| a.text()).collect();
        assert_eq!(texts.len(), Advice::ALL.len());
    }
}
