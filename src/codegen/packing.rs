//! Decides whether the SLP vectorizer runs, and on which functions.
//!
//! LLVM's SLP vectorizer combines two additions of halves into one instruction. NVPTX vectors have words of 32 bits,
//! or 64 on targets with instructions for pairs of f32. If all elements are at least as wide as a word, the
//! vectorizer cannot find anything, and for a small kernel the search takes a quarter of the optimizer's time.
//!
//! Even where it pays, it skips very long functions. At the end of each function it compares all vectors that it has
//! built with each other, which dominates the run time if there are tens of thousands. LLVM does not limit this, but
//! excludes functions with the `noimplicitfloat` attribute.

use inkwell::{
    attributes::{Attribute, AttributeLoc},
    module::Module,
    types::{AnyType, AnyTypeEnum, BasicTypeEnum},
};
use tile_targets::{Feature, Target};

/// The bits of a vector of integers.
const WORD: u32 = 32;

/// The most instructions of a function that is vectorized. The longest kernel of the corpus has an eighth of this.
const LONGEST: usize = 1 << 16;

const APART: &str = "noimplicitfloat";

/// Runs the optimizer with long functions excluded from the vectorizer.
pub fn without_long<'m, R>(module: &Module<'m>, optimize: impl FnOnce() -> R) -> R {
    let kind = Attribute::get_named_enum_kind_id(APART);
    for function in module.get_functions() {
        let count = function.get_basic_block_iter().flat_map(|b| b.get_instructions()).take(LONGEST + 1).count();
        if count > LONGEST {
            let apart = module.get_context().create_enum_attribute(kind, 0);
            function.add_attribute(AttributeLoc::Function, apart);
        }
    }
    let result = optimize();
    for function in module.get_functions() {
        function.remove_enum_attribute(AttributeLoc::Function, kind);
    }
    result
}

/// Whether some instruction produces elements that are narrower than a word. Conditions do not count: predicates are
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
    fn long_functions_are_left_out() {
        let kind = Attribute::get_named_enum_kind_id(APART);
        let found = |count: usize| {
            let body: String = (1..count).map(|i| format!("  %a{i} = add i32 %x, {i}\n")).collect();
            let text = format!("define void @f(i32 %x) {{\n{body}  ret void\n}}\n\0");
            let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
            let context = Context::create();
            let module = context.create_module_from_ir(buffer).unwrap();
            let is_left_out = || {
                let function = module.get_function("f").unwrap();
                function.get_enum_attribute(AttributeLoc::Function, kind).is_some()
            };
            (without_long(&module, is_left_out), is_left_out())
        };
        assert_eq!(found(LONGEST), (false, false));
        assert_eq!(found(LONGEST + 1), (true, false));
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
        // sm_100 adds pairs of f32.
        assert!(of("  %a = fadd float %f, %f", "sm_100"));
        assert!(!of("  %a = fpext float %f to double", "sm_100"));
    }
}
