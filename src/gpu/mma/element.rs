//! The number formats of matrix instructions.

macro_rules! elements {
    ($($(#[doc = $doc:literal])? $variant:ident = $name:literal, $bits:literal;)+) => {
        /// A format of operands, accumulators or scales, under its name in PTX.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Element { $($(#[doc = $doc])? $variant,)+ }

        impl Element {
            pub const ALL: &[Element] = &[$(Element::$variant,)+];

            /// The suffix in PTX.
            pub const fn name(self) -> &'static str {
                match self { $(Element::$variant => $name,)+ }
            }

            /// The bits of the format. A row that pads elements says so.
            pub const fn bits(self) -> u32 {
                match self { $(Element::$variant => $bits,)+ }
            }
        }
    };
}

elements! {
    F16 = "f16", 16;
    Bf16 = "bf16", 16;
    /// Stored in a 32-bit word with the low 13 bits ignored.
    Tf32 = "tf32", 32;
    F32 = "f32", 32;
    F64 = "f64", 64;
    E4m3 = "e4m3", 8;
    E5m2 = "e5m2", 8;
    E3m2 = "e3m2", 6;
    E2m3 = "e2m3", 6;
    E2m1 = "e2m1", 4;
    S8 = "s8", 8;
    U8 = "u8", 8;
    S4 = "s4", 4;
    U4 = "u4", 4;
    B1 = "b1", 1;
    S32 = "s32", 32;
    Ue8m0 = "ue8m0", 8;
    Ue4m3 = "ue4m3", 8;
}
