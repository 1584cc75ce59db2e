//! Whether a module has anything that goes into packed words.
//!
//! LLVM's vectoriser of straight-line code is what makes additions of two halves one instruction. A word of NVPTX's
//! vectors has 32 bits, or 64 where there are instructions for two numbers of 32, so there is nothing for it to do
//! where all elements are at least as long, and it takes a quarter of the optimiser's time for a small kernel to find
//! that out.

use inkwell::{
    module::Module,
    types::{AnyType, AnyTypeEnum, BasicTypeEnum},
};
use tile_targets::{Feature, Target};

/// Bits of a vector of integers.
const WORD: u32 = 32;

/// Whether an instruction results in elements of which a word holds several. Conditions do not count: predicates are
/// not packed.
pub fn pays(module: &Module<'_>, target: &Target) -> bool {
    let float_word = if target.has(Feature::F32x2) { 2 * WORD } else { WORD };
    super::instructions(module).any(|i| is_short(i.get_type(), float_word))
}

fn is_short(ty: AnyTypeEnum<'_>, float_word: u32) -> bool {
    let element = |ty: BasicTypeEnum<'_>| is_short(ty.as_any_type_enum(), float_word);
    match ty {
        AnyTypeEnum::IntType(t) => (2..WORD).contains(&t.get_bit_width()),
        AnyTypeEnum::FloatType(t) => t.get_bit_width() < float_word,
        AnyTypeEnum::VectorType(t) => element(t.get_element_type()),
        AnyTypeEnum::StructType(t) => t.get_field_types_iter().any(element),
        AnyTypeEnum::ArrayType(t) => element(t.get_element_type()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::{context::Context, memory_buffer::MemoryBuffer};

    fn of(body: &str, target: &str) -> bool {
        let text = format!("define void @f(i32 %x, float %f, <2 x half> %v) {{\n{body}\n  ret void\n}}\n\0");
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        let context = Context::create();
        pays(&context.create_module_from_ir(buffer).unwrap(), Target::by_name(target).unwrap())
    }

    #[test]
    fn short_elements_alone() {
        for (body, expected) in [
            ("", false),
            ("  %a = add i32 %x, 1\n  %c = icmp eq i32 %a, 0", false),
            ("  %a = fadd float %f, %f\n  %d = fpext float %a to double", false),
            ("  %a = fptrunc float %f to half", true),
            ("  %a = fptrunc float %f to bfloat", true),
            ("  %a = trunc i32 %x to i8", true),
            ("  %a = fadd <2 x half> %v, %v", true),
            ("  %a = insertvalue { i32, i16 } undef, i32 %x, 0", true),
            ("  %a = insertvalue { i32, [2 x float] } undef, i32 %x, 0", false),
        ] {
            assert_eq!(of(body, "sm_90"), expected, "{body}");
        }
        // Two numbers of 32 bits are added at once there.
        assert!(of("  %a = fadd float %f, %f", "sm_100"));
        assert!(!of("  %a = fpext float %f to double", "sm_100"));
    }
}
