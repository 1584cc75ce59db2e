//! The pass pipelines of LLVM's optimizer.
//!
//! They match `default<O2>` and `default<O3>`, in order (a test compares them). They are written out because those
//! names cannot omit a pass: they enable the SLP vectorizer themselves. The SLP vectorizer is omitted where it does
//! not pay, and so are the passes that never apply to a kernel: coroutines, OpenMP, instrumentation and profiles.

use super::packing;
use inkwell::module::Module;
use tile_targets::Target;

/// The text of the pipeline for a level from 0 to 3.
pub(super) fn pipeline(module: &Module<'_>, target: &Target, level: u8) -> String {
    match level {
        // Library functions are always inlined, and the rest of the libraries is removed. libdevice queries its
        // compilation target.
        0 => "nvvm-reflect,always-inline,globaldce".to_string(),
        1 => "default<O1>".to_string(),
        level => pipeline_text(level >= 3, packing::pays(module, target)),
    }
}

/// Combine once. By default, the textual pass would verify that a second run finds nothing.
const COMBINE: &str = "instcombine<no-verify-fixpoint>";
const SIMPLIFY: &str = "simplifycfg<switch-range-to-icmp>";

fn pipeline_text(is_o3: bool, packing: bool) -> String {
    let only = |wanted: bool, pass: &'static str| if wanted { pass } else { "" };
    let hoist = "simplifycfg<switch-range-to-icmp;hoist-common-insts;sink-common-insts>";
    let unswitch =
        if is_o3 { "simple-loop-unswitch<nontrivial;trivial>" } else { "simple-loop-unswitch<no-nontrivial;trivial>" };
    let rotate = "loop-rotate<header-duplication;no-prepare-for-lto>";

    let early = ["lower-expect", "simplifycfg<>", "sroa<modify-cfg>", "early-cse<>", only(is_o3, "callsite-splitting")];
    let function = [
        "sroa<modify-cfg>",
        "early-cse<memssa>",
        "speculative-execution<only-if-divergent-target>",
        "jump-threading",
        "correlated-propagation",
        SIMPLIFY,
        COMBINE,
        "aggressive-instcombine",
        "libcalls-shrinkwrap",
        "tailcallelim",
        SIMPLIFY,
        "reassociate",
        "constraint-elimination",
        &format!(
            "loop-mssa(loop-instsimplify,loop-simplifycfg,licm<no-allowspeculation>,{rotate},licm<allowspeculation>,{unswitch})"
        ),
        SIMPLIFY,
        COMBINE,
        "loop(loop-idiom,indvars,loop-deletion,loop-unroll-full)",
        "sroa<modify-cfg>",
        "vector-combine",
        "mldst-motion<no-split-footer-bb>",
        "gvn<>",
        "sccp",
        "bdce",
        COMBINE,
        "jump-threading",
        "correlated-propagation",
        "adce",
        "memcpyopt",
        "dse",
        "move-auto-init",
        "loop-mssa(licm<allowspeculation>)",
        hoist,
        COMBINE,
    ];
    let late = [
        "float2int",
        "lower-constant-intrinsics",
        &format!("loop({rotate},loop-deletion)"),
        "loop-distribute",
        "loop-vectorize<no-interleave-forced-only;no-vectorize-forced-only>",
        "infer-alignment",
        "loop-load-elim",
        COMBINE,
        "simplifycfg<forward-switch-cond;switch-range-to-icmp;switch-to-lookup;no-keep-loops;hoist-common-insts;sink-common-insts>",
        only(packing, "slp-vectorizer"),
        "vector-combine",
        COMBINE,
        if is_o3 { "loop-unroll<O3>" } else { "loop-unroll<O2>" },
        "transform-warning",
        "sroa<preserve-cfg>",
        "infer-alignment",
        COMBINE,
        "loop-mssa(licm<allowspeculation>)",
        "alignment-from-assumptions",
        "loop-sink",
        "instsimplify",
        "div-rem-pairs",
        "tailcallelim",
        "simplifycfg<switch-range-to-icmp;hoist-loads-stores-with-cond-faulting;speculate-unpredictables>",
    ];
    let functions = |passes: &[&str]| format!("function<eager-inv>({})", list(passes));
    let component = [
        "inline",
        "function-attrs<skip-non-recursive-function-attrs>",
        only(is_o3, "argpromotion"),
        &format!("function<eager-inv;no-rerun>({})", list(&function)),
        "function-attrs",
        "function(require<should-not-run-function-passes>)",
    ];
    list(&[
        "forceattrs",
        "nvvm-reflect",
        "function(nvvm-intr-range)",
        "inferattrs",
        &functions(&early),
        "ipsccp",
        "called-value-propagation",
        "globalopt",
        &functions(&["mem2reg", COMBINE, SIMPLIFY]),
        "always-inline",
        "require<globals-aa>",
        "function(invalidate<aa>)",
        "require<profile-summary>",
        &format!("cgscc(devirt<4>({}))", list(&component)),
        "deadargelim",
        "globalopt",
        "globaldce",
        "elim-avail-extern",
        "rpo-function-attrs",
        "recompute-globalsaa",
        &functions(&late),
        "globaldce",
        "constmerge",
    ])
}

fn list(passes: &[&str]) -> String {
    passes.iter().copied().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::pipeline;
    use inkwell::{
        OptimizationLevel,
        context::Context,
        memory_buffer::MemoryBuffer,
        passes::PassBuilderOptions,
        targets::{CodeModel, RelocMode, Target as LlvmTarget, TargetTriple},
    };
    use tile_targets::Target;

    /// Two sums of adjacent elements in memory, after the passes of the level.
    fn optimized(ty: &str, name: &str, level: u8, attributes: &str) -> String {
        crate::codegen::initialise();
        let triple = TargetTriple::create(crate::codegen::TRIPLE);
        let target = Target::by_name(name).unwrap();
        let machine = LlvmTarget::from_triple(&triple)
            .unwrap()
            .create_target_machine(
                &triple,
                target.llvm_cpu,
                &target.llvm_features(),
                OptimizationLevel::Default,
                RelocMode::Default,
                CodeModel::Default,
            )
            .unwrap();
        let text = format!(
            "target triple = \"{}\"\n\
             define ptx_kernel void @f(ptr addrspace(1) align 16 %p) {attributes} {{\n\
             %q = getelementptr {ty}, ptr addrspace(1) %p, i64 1\n\
             %a = load {ty}, ptr addrspace(1) %p, align 8\n\
             %b = load {ty}, ptr addrspace(1) %q\n\
             %c = fadd {ty} %a, %a\n\
             %d = fadd {ty} %b, %b\n\
             store {ty} %c, ptr addrspace(1) %p, align 8\n\
             store {ty} %d, ptr addrspace(1) %q\n\
             ret void\n}}\n\0",
            crate::codegen::TRIPLE
        );
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        let module = context.create_module_from_ir(buffer).unwrap();
        module.set_data_layout(&machine.get_target_data().get_data_layout());
        module.run_passes(&pipeline(&module, target, level), &machine, PassBuilderOptions::create()).unwrap();
        module.verify().unwrap();
        module.print_to_string().to_string()
    }

    #[test]
    fn short_elements_are_packed() {
        for level in 0..=3 {
            for (ty, packed) in [("half", true), ("float", false)] {
                let found = optimized(ty, "sm_90", level, "").contains(&format!("fadd <2 x {ty}>"));
                assert_eq!(found, packed && level >= 2, "{ty} at {level}");
            }
        }
    }

    /// The attribute that excludes long functions from the vectorizer.
    #[test]
    fn what_is_left_out_is_not_packed() {
        assert!(!optimized("half", "sm_90", 3, "noimplicitfloat").contains("fadd <2 x half>"));
    }

    /// The passes of a pipeline as printed by LLVM's own tool, in normal form with all options.
    fn spelled(passes: &str) -> Vec<String> {
        let output = std::process::Command::new(concat!(env!("MLIR_SYS_210_PREFIX"), "/bin/opt"))
            .arg(format!("-mtriple={}", crate::codegen::TRIPLE))
            .arg(format!("-passes={passes}"))
            .args(["-mcpu=sm_90", "-print-pipeline-passes", "-disable-output", "/dev/null"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().split(',').map(str::to_owned).collect()
    }

    /// Compares with LLVM's named pipelines, without the passes that never apply to a kernel. This guards updates of
    /// LLVM.
    #[test]
    fn passes_are_those_of_llvm() {
        const LEFT_OUT: [&str; 12] = [
            "annotation2metadata",
            "coro-early",
            "openmp-opt",
            "openmp-opt-cgscc",
            "extra-simple-loop-unswitch-passes",
            "coro-elide",
            "coro-cleanup",
            "chr",
            "inject-tli-mappings",
            "cg-profile",
            "rel-lookup-table-converter",
            "function(annotation-remarks)",
        ];
        for (most, name) in [(false, "default<O2>"), (true, "default<O3>")] {
            let mut theirs = spelled(name);
            theirs.retain(|p| !LEFT_OUT.contains(&p.as_str()));
            let theirs = theirs.join(",");
            // At the beginning and the end of a group.
            let theirs = theirs.replace("ee-instrument<>,", "").replace(",coro-split,coro-annotation-elide)", ")");
            let ours = spelled(&super::pipeline_text(most, true));
            assert!(ours.len() > 50, "{ours:?}");
            assert_eq!(theirs, ours.join(","), "{name}");
        }
    }

    /// Only the vectorizer is omitted.
    #[test]
    fn what_does_not_pay_is_left_out() {
        for most in [false, true] {
            let (with, without) = (super::pipeline_text(most, true), super::pipeline_text(most, false));
            assert_eq!(with.replace("slp-vectorizer,", ""), without);
            assert_ne!(with, without);
        }
        assert_ne!(super::pipeline_text(false, true), super::pipeline_text(true, true));
    }
}
