//! `tileir-post-nvvm-finalize` makes sure that a module can be translated to LLVM IR, and drops leftovers.
//!
//! * Removes data and declarations without uses; earlier optimizations may have removed the last use.
//! * Removes attributes of the tile dialects.
//! * Reports calls of undefined functions here rather than in the assembler. A program may call the device library,
//!   LLVM's intrinsics, and the few functions that the driver supplies.
//! * Reports ops that cannot be translated to LLVM IR.

use crate::{
    dialect::{
        attributes, elements,
        gpu_module::{functions, gpu_modules},
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
        upstream::{dialect_of, is_llvm_func, is_llvm_global},
    },
    pass_descriptor,
};
use melior::{Context, ir::Attribute};
use std::collections::BTreeSet;

/// Functions that the driver links into every kernel.
const SUPPLIED: &[&str] = &["__assertfail", "free", "malloc", "vprintf"];

const TRANSLATED: &[&str] = &["llvm", "nvvm"];

#[derive(Clone, Default)]
pub struct PostNvvmFinalize;

impl RustPass for PostNvvmFinalize {
    pass_descriptor!(tileir_post_nvvm_finalize);

    fn run<'c>(&mut self, op: OpRef<'c>, _: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileir_post_nvvm_finalize::stat;
        for module in gpu_modules(op) {
            let mut used = BTreeSet::new();
            let mut unknown = None;
            walk(module, &mut |o| {
                for name in ["callee", "global_name"] {
                    used.extend(attr(o, name).and_then(symbol));
                }
                if unknown.is_none() && o != module && !TRANSLATED.contains(&dialect_of(o)) {
                    unknown = Some(o);
                }
            });
            if let Some(o) = unknown {
                return Err(fail(o, format!("'{}' has no translation to LLVM IR", op_name(o))));
            }
            cx.stat_add(stat::NUM_REMOVED, remove_unused(module, &used));
        }
        for function in functions(op) {
            let is_linked = attributes::LIBRARY_FUNCTION.is_on(function);
            attributes::drop_own(function);
            let name = attr(function, "sym_name").map_or("", string_attr);
            let defined = entry_block(region(function, 0)).is_some();
            let supplied =
                SUPPLIED.contains(&name) || name.starts_with("llvm.") || name.starts_with(tile_rtlib::PREFIX);
            if !defined && !supplied && !is_linked {
                return Err(fail(function, format!("'{name}' is called but not defined")));
            }
        }
        Ok(())
    }
}

fn symbol(a: melior::ir::Attribute<'_>) -> Option<String> {
    elements::symbol(a).map(str::to_owned)
}

/// Erases internal data and declared functions that are not in `used`. Returns how many.
fn remove_unused(module: OpRef<'_>, used: &BTreeSet<String>) -> i64 {
    let Some(body) = entry_block(region(module, 0)) else { return 0 };
    let unused: Vec<OpRef<'_>> = ops_of(body)
        .filter(|o| {
            let name = attr(*o, "sym_name").map_or("", string_attr);
            let is_declaration = is_llvm_func(*o) && entry_block(region(*o, 0)).is_none();
            let is_private =
                |l: Attribute<'_>| matches!(&*l.to_string(), "#llvm.linkage<internal>" | "#llvm.linkage<private>");
            let droppable = is_declaration || is_llvm_global(*o) && attr(*o, "linkage").is_some_and(is_private);
            droppable && !used.contains(name)
        })
        .collect();
    let n = unused.len() as i64;
    unused.into_iter().for_each(erase);
    n
}
