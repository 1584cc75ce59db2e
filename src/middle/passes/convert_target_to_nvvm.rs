//! `convert-target-to-nvvm` attaches the target in LLVM's terms to each `gpu.module`.
//!
//! Our target table describes a target by one row; LLVM describes it by a processor and features. The names differ
//! where LLVM 21 does not know a target and a related one generates the code.

use crate::{
    dialect::{
        gpu_module::gpu_modules,
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
        target::target,
    },
    pass_descriptor,
};
use melior::{Context, ir::Attribute};

#[derive(Clone, Default)]
pub struct ConvertTarget;

impl RustPass for ConvertTarget {
    pass_descriptor!(convert_target_to_nvvm);
    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        let options = descriptors::convert_target_to_nvvm::Options(cx);
        let target = target(op, options.compute_capability())?;
        let level = options.opt_level();
        if !(0..=3).contains(&level) {
            return Err(fail(op, format!("opt-level must be from 0 to 3, got {level}")));
        }
        let text = format!(
            "[#nvvm.target<O = {level}, chip = \"{}\", features = \"{}\">]",
            target.llvm_cpu,
            target.llvm_features()
        );
        let targets = Attribute::parse(context, &text)
            .ok_or_else(|| fail(op, "the target cannot be expressed as an attribute"))?;
        gpu_modules(op).into_iter().for_each(|module| set_attr(module, "targets", targets));
        Ok(())
    }
}
