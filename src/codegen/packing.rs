//! Whether a module has anything that goes into packed words.
//!
//! LLVM's vectoriser of straight-line code is what makes additions of two halves one instruction. A word of NVPTX's vectors has 32
//! bits, so there is nothing for it to do where all elements are at least as long, and it takes an eighth of the optimiser's time for a
//! small kernel to find that out.

use inkwell::{
    module::Module,
    types::{AnyType, AnyTypeEnum, BasicTypeEnum},
};

/// Bits of a vector register, by which LLVM's cost model for NVPTX goes.
const WORD: u32 = 32;

/// Whether an instruction results in elements of which a word holds several. Conditions do not count: predicates are not packed.
pub fn pays(module: &Module<'_>) -> bool {
    super::instructions(module).any(|i| is_short(i.get_type()))
}

fn is_short(ty: AnyTypeEnum<'_>) -> bool {
    match ty {
        AnyTypeEnum::IntType(t) => (2..WORD).contains(&t.get_bit_width()),
        AnyTypeEnum::FloatType(t) => t.get_bit_width() < WORD,
        AnyTypeEnum::VectorType(t) => is_short_element(t.get_element_type()),
        AnyTypeEnum::StructType(t) => t.get_field_types_iter().any(is_short_element),
        AnyTypeEnum::ArrayType(t) => is_short_element(t.get_element_type()),
        _ => false,
    }
}

fn is_short_element(ty: BasicTypeEnum<'_>) -> bool {
    is_short(ty.as_any_type_enum())
}

#[cfg(test)]
mod tests {
    use super::pays;
    use inkwell::{context::Context, memory_buffer::MemoryBuffer};

    fn of(body: &str) -> bool {
        let text = format!("define void @f(i32 %x, float %f, <2 x half> %v) {{\n{body}\n  ret void\n}}\n\0");
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        let context = Context::create();
        pays(&context.create_module_from_ir(buffer).unwrap())
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
            assert_eq!(of(body), expected, "{body}");
        }
    }
}
