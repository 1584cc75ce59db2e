//! Every pass runs alone from text: the program is printed and parsed between any two passes of the pipeline, and the
//! result equals that of the pipeline in one go. Passes that no pipeline has run are run on the input.

use melior::{Context, ir::Module, pass::PassManager, utility::parse_pass_pipeline};
use std::{collections::BTreeSet, fs, path::Path};
use tile_test_support::{Trial, functions};
use tileiras::{
    dialect, passes,
    pipeline::{Options, Strategy},
    translate,
};

fn context() -> Context {
    passes::register_all();
    dialect::context()
}

fn text(module: &Module<'_>) -> String {
    module.as_operation().to_string()
}

/// Returns a program as text.
fn kernel(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(format!("{name}.tileirbc"));
    let context = context();
    let module = translate::import(&context, &fs::read(&path).expect("a file of the corpus"))
        .unwrap_or_else(|e| panic!("{name}: {}", e.lines().join("\n")));
    text(&module)
}

fn run(program: &str, pipeline: &str) -> String {
    let context = context();
    context.attach_diagnostic_handler(|d| {
        eprintln!("{}: {d}", d.location());
        true
    });
    let mut module = Module::parse(&context, program).unwrap_or_else(|| panic!("before {pipeline}:\n{program}"));
    let manager = PassManager::new(&context);
    parse_pass_pipeline(manager.as_operation_pass_manager(), pipeline).unwrap_or_else(|e| panic!("{pipeline}: {e}"));
    manager.run(&mut module).unwrap_or_else(|_| panic!("{pipeline} failed on\n{program}"));
    text(&module)
}

fn options(level: u8, strategy: &str) -> Options {
    let mut options = Options::default();
    for (name, value) in
        [("opt-level", level.to_string().as_str()), ("pipeline-strategy", strategy), ("compute-capability", "sm_90")]
    {
        options.set(name, value).expect("a valid option");
    }
    assert_eq!(options.strategy == Strategy::None, strategy == "none");
    options
}

/// Runs the passes one by one, each from text. Returns their names.
fn one_by_one(kernel_name: &str, options: &Options) -> BTreeSet<String> {
    let input = kernel(kernel_name);
    let mut program = input.clone();
    let mut names = BTreeSet::new();
    let steps = options.steps();
    for step in &steps {
        program = run(&program, &format!("builtin.module({})", step.pass));
        names.insert(step.name().to_owned());
    }
    let all: Vec<&str> = steps.iter().map(|s| s.pass.as_str()).collect();
    let at_once = run(&input, &format!("builtin.module({})", all.join(",")));
    assert_eq!(program, at_once, "{kernel_name}: the passes alone make another program than the pipeline");
    names
}

fn each_pass_alone_does_what_it_does_in_the_pipeline() {
    for (name, level, strategy) in [
        ("softmax_f32.13.1", 0, "none"),
        ("softmax_f32.13.1", 3, "none"),
        ("matmul_f16.13.1", 2, "none"),
        ("matmul_f16.13.1", 3, "unspecialize"),
        ("matmul_f16.13.1", 3, "warp-specialize"),
    ] {
        one_by_one(name, &options(level, strategy));
    }
}

fn every_listed_pass_runs_alone() {
    let mut all = options(3, "warp-specialize");
    all.set("emit-line-info", "tileas").expect("a valid option");
    let mut ran = one_by_one("matmul_f16.13.1", &all);
    all.set("compute-capability", "sm_100").expect("a valid option");
    ran.extend(one_by_one("matmul_f16.13.1", &all));
    // Attention without agents.
    let mut without_agents = options(3, "unspecialize");
    without_agents.set("compute-capability", "sm_80").expect("a valid option");
    ran.extend(one_by_one("fmha_bf16_d128_causal.13.1", &without_agents));
    let input = kernel("matmul_f16.13.1");
    // A schedule needs its constraints, which cannot be represented in text.
    let pair = ["tileas-generate-schedule-constraints", "tileas-materialize-schedule"];
    assert!(run(&input, &format!("builtin.module({})", pair.join(","))).contains("cuda_tile.module"));
    ran.extend(pair.map(str::to_owned));
    // The passes that reshape loops for it run between layout assignment and scheduling.
    let scheduled = options(3, "unspecialize");
    let steps = scheduled.steps();
    let first = steps.iter().position(|s| s.name() == "tileas-unspecialized-pipeline").expect("a step");
    let before: Vec<&str> = steps[..first].iter().map(|s| s.pass.as_str()).collect();
    let mut program = run(&input, &format!("builtin.module({})", before.join(",")));
    for name in ["tileas-prepare-for-scheduling", "tileas-recompute-for-scheduling"] {
        program = run(&program, &format!("builtin.module({name}{{compute-capability=sm_90}})"));
        ran.insert(name.to_owned());
    }
    let after: Vec<&str> = steps[first..].iter().map(|s| s.pass.as_str()).collect();
    assert!(run(&program, &format!("builtin.module({})", after.join(","))).contains("llvm.func"));
    for pass in dialect::pass::registered() {
        if ran.contains(&pass.argument) {
            continue;
        }
        // The remaining passes apply to the public language.
        let program = run(&input, &format!("builtin.module(cuda_tile.module({}))", pass.argument));
        assert!(program.contains("cuda_tile.module"), "{}", pass.argument);
        ran.insert(pass.argument);
    }
    let listed: BTreeSet<String> = dialect::pass::registered().into_iter().map(|p| p.argument).collect();
    assert!(listed.len() >= 20, "{listed:?}");
    assert!(listed.is_subset(&ran), "{:?}", listed.difference(&ran));
}

pub fn trials() -> Vec<Trial> {
    functions![each_pass_alone_does_what_it_does_in_the_pipeline, every_listed_pass_runs_alone]
}
