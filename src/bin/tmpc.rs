use melior::{ir::{Module, operation::OperationLike}, pass::PassManager, utility::parse_pass_pipeline};
use tileiras::dialect::rt::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    tileiras::passes::register_all();
    let c = tileiras::dialect::context();
    let mut m = Module::parse(&c, &std::fs::read_to_string(&a[1]).unwrap()).unwrap();
    let pm = PassManager::new(&c);
    parse_pass_pipeline(pm.as_operation_pass_manager(), &a[3]).unwrap();
    pm.run(&mut m).unwrap();
    let llvm = inkwell::context::Context::create();
    let mut g = None;
    walk(op_ref(m.as_operation().to_raw()), &mut |o| if op_name(o) == "gpu.module" { g = Some(o) });
    let t = tile_targets::Target::by_name(&a[2]).unwrap();
    let code = tileiras::codegen::Code::translate(&llvm, g.unwrap(), tileiras::codegen::Options { target: t, opt_level: 3 }).unwrap();
    code.optimise().unwrap();
    println!("{}", code.to_ptx().unwrap());
}
