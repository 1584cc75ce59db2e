//! Tests of compilations in which a pass fails.

use super::*;
use crate::dialect::pass::{self, Failed, PassContext, RustPass};
use std::ffi::CStr;

/// Defines a pass that fails as given.
macro_rules! ending {
    ($type:ident, $argument:literal, $end:expr) => {
        #[derive(Clone, Default)]
        struct $type;

        impl RustPass for $type {
            const NAME: &'static CStr = $argument;
            const ARGUMENT: &'static CStr = $argument;
            const DESCRIPTION: &'static CStr = c"Ends badly";
            const ANCHOR: &'static CStr = c"";
            const OPTIONS: &'static [ffi::MlirxOptionDesc] = &[];
            const STATISTICS: &'static [ffi::MlirxStatisticDesc] = &[];
            const DIALECTS: &'static [&'static str] = &[];

            fn run<'c>(&mut self, op: OpRef<'c>, _: &'c Context, _: &PassContext) -> Result<(), Failed> {
                let end: fn(OpRef<'_>) -> Failed = $end;
                Err(end(op))
            }
        }
    };
}

ending!(Panics, c"test-panics", |op| panic!("no way to go on from {}", op_name(op)));
ending!(Fails, c"test-fails", |op| pass::fail(op, "no way to do this"));

const KERNEL: &str = "cuda_tile.module @m {\n  entry @k() {\n    return\n  }\n}\n";

/// Compiles the kernel with inserted passes. Returns the result and the diagnostics.
fn compiled(session: &Session, insertions: &[&str]) -> (Result<CompileOutput, CompileError>, Vec<String>) {
    let insertions: Vec<_> = insertions.iter().map(|text| text.parse().unwrap()).collect();
    let target = tile_targets::Target::by_name("sm_90").unwrap();
    let request =
        CompileRequest { insertions: &insertions, ..CompileRequest::new(KERNEL.as_bytes(), InputKind::Text, target) };
    let mut said = vec![];
    let result = session.compile(&request, &mut |d| said.push(d.message));
    (result, said)
}

/// A panic in a pass at any nesting level is an internal error; a pass that rejects the program is not.
#[test]
fn a_panic_in_a_pass_is_an_internal_error() {
    let session = Session::new();
    pass::register::<Panics>();
    pass::register::<Fails>();
    let panicked = |op: &str| {
        let (text, said) = (format!("no way to go on from {op}"), "internal error in test-panics");
        let error = CompileError::Internal(format!("the pass 'test-panics' panicked: {text}"));
        (Err(error), vec![format!("{said}: {text}")])
    };
    let failed =
        (Err(CompileError::Failed), vec!["no way to do this".to_owned(), "the pass 'test-fails' failed".to_owned()]);
    assert_eq!(compiled(&session, &["end:tileaa:test-panics"]), panicked("builtin.module"));
    assert_eq!(compiled(&session, &["end:llvm:gpu.module(test-panics)"]), panicked("gpu.module"));
    // The earlier panic is forgotten, and the first failing pass counts.
    assert_eq!(compiled(&session, &["end:tileaa:test-fails"]), failed);
    assert_eq!(compiled(&session, &["end:tileaa:test-fails", "end:tileas:test-panics"]), failed);
    assert!(compiled(&session, &[]).0.is_ok());
}

/// Two kernels, each with a dot in a loop.
fn products() -> String {
    let view = "partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>";
    let sums = "tile<64x64xf32>";
    let kernel = |name: &str| {
        format!(
            "  entry @{name}(%p: tile<ptr<f16>>, %q: tile<ptr<f32>>, %n: tile<i32>) {{
    %a = assume div_by<16>, %p : tile<ptr<f16>>
    %t = make_tensor_view %a, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
    %v = make_partition_view %t : {view}
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %none = constant <f32: 0.0> : {sums}
    %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %none) -> ({sums}) {{
      %x, %r = load_view_tko weak %v[%zero, %k] : {view}, tile<i32> -> tile<64x64xf16>, token
      %y, %s = load_view_tko weak %v[%k, %zero] : {view}, tile<i32> -> tile<64x64xf16>, token
      %d = mmaf %x, %y, %acc : tile<64x64xf16>, tile<64x64xf16>, {sums}
      continue %d : {sums}
    }}
    %c = assume div_by<16>, %q : tile<ptr<f32>>
    %u = make_tensor_view %c, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
    %w = make_partition_view %u : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
    %e = store_view_tko weak %sum, %w[%zero, %zero] : {sums}, partition_view<tile=(64x64), \
tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
    return
  }}
"
        )
    };
    format!("cuda_tile.module @m {{\n{}{}}}\n", kernel("first"), kernel("second"))
}

/// Compiles for a target. Returns the PTX and the fallback remarks.
fn fallen_back(target: &str, strict: bool) -> Result<(String, Vec<(String, String)>), CompileError> {
    fallen_back_with(&[], target, strict)
}

/// The same with pipeline options.
fn fallen_back_with(
    options: &[(String, String)],
    target: &str,
    strict: bool,
) -> Result<(String, Vec<(String, String)>), CompileError> {
    let text = products();
    let target = tile_targets::Target::by_name(target).unwrap();
    let request = CompileRequest::new(text.as_bytes(), InputKind::Text, target);
    let request = CompileRequest { remarks: true, strict_plans: strict, pipeline_options: options, ..request };
    let session = Session::new().with_fallbacks();
    let mut said = vec![];
    let output = session.compile(&request, &mut |d| said.push(d.message))?;
    assert_eq!(said, Vec::<String>::new());
    let is_fallback = |r: &tile_interface::Remark| r.name == "Fallback";
    let remarks = output.remarks.into_iter().filter(is_fallback).map(|r| (r.function, r.message)).collect();
    Ok((output.text, remarks))
}

fn kernels_with(ptx: &str, instruction: &str) -> Vec<bool> {
    ptx.split(".entry ").skip(1).map(|kernel| kernel.contains(instruction)).collect()
}

/// The kernel at fault gets a fallback; after a second failure the module is weakened step by step. A rejection names
/// the kernel, a panic does not.
#[test]
fn a_failure_weakens_a_kernel_and_then_the_module() {
    use pass::faults::{Fault, plant};
    let check = "tileas-check-synchronization";
    let (planned, none) = fallen_back("sm_90", false).unwrap();
    assert_eq!(kernels_with(&planned, "wgmma.mma_async"), [true, true]);
    assert_eq!(none, []);
    let steps = [
        ("first is compiled again with rings of at most two stages", [true, true], [false, false]),
        ("the module is compiled again without agents", [false, false], [true, true]),
        (
            "the module is compiled again without agents and with rings of at most two stages",
            [false, false],
            [true, true],
        ),
        ("the module is compiled again with synchronous loads", [false, false], [false, false]),
    ];
    for (times, (_, wgmma, copies)) in steps.iter().enumerate() {
        plant(check, Fault::Failure, times + 1);
        let (ptx, remarks) = fallen_back("sm_90", false).unwrap();
        let expected: Vec<String> = steps[..=times].iter().map(|(text, ..)| format!("{text}: planted")).collect();
        assert_eq!(remarks.iter().map(|(_, message)| message.clone()).collect::<Vec<_>>(), expected);
        assert!(remarks.iter().all(|(function, _)| function == "first"));
        assert_eq!(kernels_with(&ptx, "wgmma.mma_async"), wgmma, "{times}");
        assert_eq!(kernels_with(&ptx, "cp.async"), copies.map(|c| c || wgmma[0]), "{times}");
    }
    plant(check, Fault::Failure, usize::MAX);
    assert_eq!(fallen_back("sm_90", false), Err(CompileError::Failed));
    plant(check, Fault::Failure, 1);
    assert_eq!(fallen_back("sm_90", true), Err(CompileError::Failed));
    plant("tileaa-plan-dots", Fault::Panic, 1);
    let (_, remarks) = fallen_back("sm_90", false).unwrap();
    let text = "the module is compiled again with rings of at most two stages: \
                internal error in tileaa-plan-dots: planted";
    assert_eq!(remarks, [(String::new(), text.to_owned())]);
    // Without agents, that step is skipped.
    plant(check, Fault::Failure, 2);
    let (_, remarks) = fallen_back("sm_80", false).unwrap();
    let last = "the module is compiled again with synchronous loads: planted";
    assert_eq!(remarks.last().map(|(_, message)| message.as_str()), Some(last));
    plant(check, Fault::Failure, 0);
}

/// The program compiles if any one pass fails once, except for passes that only depend on the input.
#[test]
fn every_pass_may_fail() {
    use pass::faults::{Fault, plant};
    let target = tile_targets::Target::by_name("sm_90").unwrap();
    let options = pipeline::Options {
        strategy: pipeline::Strategy::WarpSpecialize,
        opt_level: 3,
        target,
        ..pipeline::Options::default()
    };
    passes::register_all();
    let mut ours = 0;
    for step in options.steps() {
        let Some(known) = pass::registered().into_iter().find(|p| p.argument == step.name()) else { continue };
        let name: &'static str = Box::leak(known.argument.into_boxed_str());
        for fault in [Fault::Failure, Fault::Panic] {
            plant(name, fault, 1);
            let result = fallen_back("sm_90", false);
            let is_final = restart::WITHOUT_PLAN.contains(&name);
            assert_eq!(result.is_err(), is_final, "{name} {fault:?}: {result:?}");
        }
        ours += 1;
    }
    plant("", Fault::Failure, 0);
    assert!(ours > 25, "{ours}");
}

/// A panic in an analysis counts as a panic of the pass that requested it.
#[test]
fn a_panic_in_an_analysis_is_one_of_its_pass() {
    use pass::faults::{Fault, plant};
    let options = [("v2-opt-level".to_owned(), "1".to_owned())];
    let schedule = std::any::type_name::<crate::analysis::schedule::ScheduleAnalysis>();
    plant(schedule, Fault::Panic, 1);
    let (_, remarks) = fallen_back_with(&options, "sm_90", false).unwrap();
    let text = "the module is compiled again with rings of at most two stages: \
                internal error in tileas-generate-schedule-constraints: planted";
    assert_eq!(remarks, [(String::new(), text.to_owned())]);
    plant(schedule, Fault::Panic, usize::MAX);
    let result = fallen_back_with(&options, "sm_90", true);
    let text = "the pass 'tileas-generate-schedule-constraints' panicked: planted";
    assert_eq!(result, Err(CompileError::Internal(text.to_owned())));
    plant(schedule, Fault::Panic, 0);
}
