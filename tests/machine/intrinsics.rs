//! Intrinsics in textual input never crash the process.
//!
//! The test calls every NVPTX intrinsic that the table of `tile_targets::intrinsic` allows for a target and generates
//! code for it. LLVM aborts if it cannot; its message then names the intrinsic. Overloaded intrinsics are only called
//! if they work on a single kind of number.

use inkwell::targets::{InitializationConfig, Target as LlvmTarget};
use llvm_sys::{LLVMTypeKind, core::*, prelude::*, target_machine::*};
use std::ffi::{CStr, CString};
use tile_interface::{CompileError, CompileRequest, Compiler, InputKind};
use tile_targets::{Feature, TARGETS, Target, intrinsic::missing_for};
use tile_test_support::{Trial, functions};
use tileiras::compile::InProcess;

/// Returns the names of all NVPTX intrinsics by ID; the IDs are consecutive.
fn names() -> Vec<(u32, String)> {
    // SAFETY: IDs are valid from the known one on, until the names belong to another target, which follows.
    unsafe {
        let known = "llvm.nvvm.barrier.cluster.arrive";
        let name = |id: u32| {
            let mut length = 0;
            let text = LLVMIntrinsicGetName(id, &mut length);
            String::from_utf8_lossy(std::slice::from_raw_parts(text.cast(), length)).into_owned()
        };
        let known = LLVMLookupIntrinsicID(known.as_ptr().cast(), known.len());
        assert_ne!(known, 0);
        let is_ours = |id: &u32| name(*id).starts_with("llvm.nvvm.");
        let first = (0..known).rev().take_while(is_ours).last().unwrap_or(known);
        (first..).take_while(is_ours).map(|id| (id, name(id))).collect()
    }
}

/// Returns an immediate operand that the intrinsic accepts.
fn immediate(name: &str) -> u64 {
    match name.strip_prefix("llvm.nvvm.").unwrap_or(name) {
        n if n.starts_with("discard") || n.starts_with("applypriority") || n.starts_with("fence.proxy") => 128,
        n if n.starts_with("setmaxnreg") => 24,
        _ => 0,
    }
}

/// Builds a function that calls the intrinsic with the function's parameters and stores the result.
///
/// # Safety
/// `module` must be alive and of `context`.
unsafe fn call(context: LLVMContextRef, module: LLVMModuleRef, id: u32, name: &str) {
    // SAFETY: by the caller; all types and values are of the module's context.
    unsafe {
        let intrinsic = LLVMGetIntrinsicDeclaration(module, id, std::ptr::null_mut(), 0);
        let ty = LLVMGlobalGetValueType(intrinsic);
        let mut types = vec![std::ptr::null_mut(); LLVMCountParamTypes(ty) as usize];
        LLVMGetParamTypes(ty, types.as_mut_ptr());
        let immarg = LLVMGetEnumAttributeKindForName(c"immarg".as_ptr(), 6);
        let is_immediate = |i: usize| !LLVMGetEnumAttributeAtIndex(intrinsic, i as u32 + 1, immarg).is_null();
        let mut own: Vec<LLVMTypeRef> = (0..types.len()).filter(|i| !is_immediate(*i)).map(|i| types[i]).collect();
        own.push(LLVMPointerTypeInContext(context, 1));
        let void = LLVMVoidTypeInContext(context);
        let symbol = CString::new(format!("f_{}", name.replace('.', "_"))).expect("no name has a NUL");
        let f = LLVMAddFunction(module, symbol.as_ptr(), LLVMFunctionType(void, own.as_mut_ptr(), own.len() as u32, 0));
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, f, c"".as_ptr()));
        let mut given = 0;
        let mut arguments: Vec<LLVMValueRef> = (0..types.len())
            .map(|i| {
                if is_immediate(i) {
                    LLVMConstInt(types[i], immediate(name), 0)
                } else {
                    given += 1;
                    LLVMGetParam(f, given - 1)
                }
            })
            .collect();
        let result =
            LLVMBuildCall2(builder, ty, intrinsic, arguments.as_mut_ptr(), arguments.len() as u32, c"".as_ptr());
        if LLVMGetTypeKind(LLVMTypeOf(result)) != LLVMTypeKind::LLVMVoidTypeKind {
            LLVMSetVolatile(LLVMBuildStore(builder, result, LLVMGetParam(f, given)), 1);
        }
        LLVMBuildRetVoid(builder);
        LLVMDisposeBuilder(builder);
    }
}

fn what_the_table_lets_through_is_selected() {
    LlvmTarget::initialize_nvptx(&InitializationConfig::default());
    let names = names();
    assert!(names.len() > 1500, "{}", names.len());
    for target in TARGETS {
        // SAFETY: all objects are created here, in one context, and live until the process ends.
        let (count, text) = unsafe {
            let context = LLVMContextCreate();
            let module = LLVMModuleCreateWithNameInContext(c"intrinsics".as_ptr(), context);
            // Of these, one takes metadata and one is removed by an LLVM pass.
            let special = ["llvm.nvvm.texsurf.handle", "llvm.nvvm.reflect"];
            let chosen = names.iter().filter(|(id, name)| {
                LLVMIntrinsicIsOverloaded(*id) == 0
                    && !special.contains(&name.as_str())
                    && missing_for(name, target).is_none()
            });
            let mut count = 0;
            for (id, name) in chosen {
                call(context, module, *id, name);
                count += 1;
            }
            (count, generate(module, target))
        };
        assert!(count > 1000, "{}: {count}", target.name);
        assert!(text.contains(".func"), "{}", target.name);
    }
}

/// # Safety
/// `module` must be alive.
unsafe fn generate(module: LLVMModuleRef, target: &Target) -> String {
    let (triple, features) = (c"nvptx64-nvidia-cuda", CString::new(target.llvm_features()).expect("no NUL"));
    let cpu = CString::new(target.llvm_cpu).expect("no NUL");
    // SAFETY: the strings live during the calls; the results of the calls are checked.
    unsafe {
        let (mut llvm, mut error, mut buffer) = (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
        assert_eq!(LLVMGetTargetFromTriple(triple.as_ptr(), &mut llvm, &mut error), 0);
        let machine = LLVMCreateTargetMachine(
            llvm,
            triple.as_ptr(),
            cpu.as_ptr(),
            features.as_ptr(),
            LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
            LLVMRelocMode::LLVMRelocDefault,
            LLVMCodeModel::LLVMCodeModelDefault,
        );
        let failed = LLVMTargetMachineEmitToMemoryBuffer(
            machine,
            module,
            LLVMCodeGenFileType::LLVMAssemblyFile,
            &mut error,
            &mut buffer,
        );
        assert_eq!(failed, 0, "{:?}", (!error.is_null()).then(|| CStr::from_ptr(error)));
        let bytes = std::slice::from_raw_parts(LLVMGetBufferStart(buffer).cast(), LLVMGetBufferSize(buffer));
        String::from_utf8_lossy(bytes).into_owned()
    }
}

/// Compiles a kernel with one call. Returns the error and its messages on failure.
fn compile(target: &str, call: &str) -> Result<(), (CompileError, String)> {
    let text = format!(
        "gpu.module @m {{ llvm.func @k(%f: f32, %d: f64, %i: i32, %p: !llvm.ptr) attributes {{nvvm.kernel, nv_tileas.num_warps = 1 : i64}} {{\n{call}\n\
         llvm.return }} }}"
    );
    let request = CompileRequest {
        input_name: "k.mlir",
        ..CompileRequest::new(text.as_bytes(), InputKind::Text, Target::by_name(target).expect("a known target"))
    };
    let mut messages = String::new();
    let result = InProcess.compile(&request, &mut |d| messages.push_str(&format!("{}\n", d.message)));
    result.map(|_| ()).map_err(|e| (e, messages))
}

const TO_UE8M0: &str = r#"%r = llvm.call_intrinsic "llvm.nvvm.ff.to.ue8m0x2.rz"(%f, %f) : (f32, f32) -> i16
                          llvm.store volatile %r, %p : i16, !llvm.ptr"#;
const TO_E4M3: &str = r#"%r = llvm.call_intrinsic "llvm.nvvm.ff.to.e4m3x2.rn"(%f, %f) : (f32, f32) -> i16
                         llvm.store volatile %r, %p : i16, !llvm.ptr"#;

/// The gates of `cvt_packfloat` apply before code generation.
fn cvt_packfloat_gates() {
    for target in ["sm_80", "sm_86", "sm_89", "sm_90"] {
        let (error, messages) = compile(target, TO_UE8M0).expect_err(target);
        assert!(matches!(error, CompileError::Failed), "{target}: {error}");
        assert!(
            messages.contains("cvt_packfloat intrinsic with ue8m0x2 needs at least SM100a and PTX >= 86"),
            "{target}: {messages}"
        );
        assert!(messages.contains("'llvm.nvvm.ff.to.ue8m0x2.rz'"), "{target}: {messages}");
    }
    compile("sm_100", TO_UE8M0).expect("sm_100 has it");
    let (_, messages) = compile("sm_80", TO_E4M3).expect_err("sm_80 lacks it");
    assert!(messages.contains("cvt_packfloat intrinsic needs atleast SM90 and PTX >= 78"), "{messages}");
    compile("sm_89", TO_E4M3).expect("sm_89 has it");
    compile("sm_90", TO_E4M3).expect("sm_90 has it");
}

/// Compiles a kernel in LLVM IR whose body is `call`, and returns the messages of a failure.
fn compile_llvm(target: &str, declarations: &str, call: &str) -> Result<(), String> {
    let text = format!(
        "target triple = \"nvptx64-nvidia-cuda\"\n{declarations}\n\
         define ptx_kernel void @k(ptr addrspace(1) %p, float %f, i32 %i, i128 %v) {{\n{call}\nret void\n}}\n"
    );
    let target = Target::by_name(target).expect("a known target");
    let mut messages = String::new();
    let request = CompileRequest::new(text.as_bytes(), InputKind::LlvmIr, target);
    let result = InProcess.compile(&request, &mut |d| messages.push_str(&format!("{}\n", d.message)));
    result.map(|_| ()).map_err(|_| messages)
}

/// The fourth gate depends on the family: newer targets of other families lack the conversions too.
fn the_gate_of_the_family() {
    let declaration = "declare <2 x half> @llvm.nvvm.ff.to.f16x2.rs(float, float, i32)";
    let call = "%r = call <2 x half> @llvm.nvvm.ff.to.f16x2.rs(float %f, float %f, i32 %i)\n\
                store volatile <2 x half> %r, ptr addrspace(1) %p";
    let gate = "cvt_packfloat intrinsic with stochastic rounding needs a target of the family of SM100f and PTX >= 87";
    for target in ["sm_80", "sm_90", "sm_110", "sm_120", "sm_121"] {
        let messages = compile_llvm(target, declaration, call).expect_err(target);
        assert!(messages.contains(gate), "{target}: {messages}");
    }
    // Targets of the family pass the gate, but LLVM 21 does not know the intrinsic.
    for target in ["sm_100", "sm_103"] {
        let messages = compile_llvm(target, declaration, call).expect_err(target);
        assert!(messages.contains("unknown intrinsic 'llvm.nvvm.ff.to.f16x2.rs'"), "{target}: {messages}");
    }
}

/// An atomic operation of 128 bits is an error, which names the lack of tensor memory where that is the reason.
fn atomics_of_128_bits_are_guarded() {
    let exchange = "%r = atomicrmw xchg ptr addrspace(1) %p, i128 %v monotonic, align 16";
    let compare = "%r = cmpxchg ptr addrspace(1) %p, i128 %v, i128 %v monotonic monotonic, align 16";
    for target in TARGETS {
        for call in [exchange, compare] {
            let messages = compile_llvm(target.name, "", call).expect_err(target.name);
            let lacking = format!("needs a target with tensor memory, which {} lacks", target.name);
            let expected = if target.has(Feature::Tcgen05) { "LLVM 21 has no instruction for" } else { &lacking };
            assert!(messages.contains(expected), "{}: {messages}", target.name);
        }
        compile_llvm(target.name, "", &exchange.replace("i128 %v", "i32 %i")).expect("32 bits have an instruction");
    }
}

/// An intrinsic that NVPTX cannot select on any target is an error that names it.
fn an_intrinsic_without_code_is_an_error() {
    let cases = [
        ("llvm.x86.rdtsc", r#"%r = llvm.call_intrinsic "llvm.x86.rdtsc"() : () -> i64"#),
        (
            "llvm.nvvm.shfl.idx.i32",
            r#"%r = llvm.call_intrinsic "llvm.nvvm.shfl.idx.i32"(%i, %i, %i) : (i32, i32, i32) -> i32"#,
        ),
        (
            "llvm.sin.f64",
            r#"%r = llvm.intr.sin(%d) : (f64) -> f64
                            llvm.store volatile %r, %p : f64, !llvm.ptr"#,
        ),
        (
            "llvm.nvvm.discard.L2",
            r#"%c = llvm.mlir.constant(64 : i64) : i64
                                    llvm.call_intrinsic "llvm.nvvm.discard.L2"(%p, %c) : (!llvm.ptr, i64) -> ()"#,
        ),
    ];
    for (name, call) in cases {
        let (error, messages) = compile("sm_90", call).expect_err(name);
        assert!(matches!(error, CompileError::Failed), "{name}: {error}");
        assert!(messages.contains(name), "{name}: {messages}");
    }
    // LLVM would print the lower half of the offset.
    let call = r#"%t = llvm.mlir.zero : !llvm.ptr<6>
                  %c = llvm.mlir.constant(4294967298 : i64) : i64
                  %h = llvm.mlir.constant(false) : i1
                  %r = llvm.call_intrinsic "llvm.nvvm.tcgen05.ld.16x32bx2.x1"(%t, %c, %h) : (!llvm.ptr<6>, i64, i1) -> i32
                  llvm.store volatile %r, %p : i32, !llvm.ptr"#;
    let (_, messages) = compile("sm_100", call).expect_err("the offset is too wide");
    assert!(messages.contains("requires an offset of 32 bits"), "{messages}");
    compile("sm_100", &call.replace("4294967298", "2")).expect("the offset fits");
    compile("sm_90", "%r = llvm.intr.fma(%f, %f, %f) : (f32, f32, f32) -> f32").expect("fma has code");
}

pub fn trials() -> Vec<Trial> {
    functions![
        what_the_table_lets_through_is_selected,
        cvt_packfloat_gates,
        the_gate_of_the_family,
        atomics_of_128_bits_are_guarded,
        an_intrinsic_without_code_is_an_error
    ]
}
