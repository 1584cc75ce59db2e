//! `tileir-emit-host-wrapper` generates the host side of a launch.
//!
//! For each `gpu.module @m` the pass creates a module `@m_host` in the LLVM dialect, with one function for each
//! kernel:
//!
//! ```c
//! CUresult k_launch(CUfunction kernel, unsigned x, unsigned y, unsigned z, CUstream stream, ARGUMENTS);
//! ```
//!
//! The function packs its arguments, which have the kernel's types, and calls `cuLaunchKernel` with a grid of `x * y
//! * z` tiles and the kernel's number of threads per block. Pointers are device addresses, passed as 64-bit integers;
//! numbers in formats that the host lacks are passed as their bits. With `dump-host` the module is also written to a
//! file as LLVM IR. `clang -c` compiles it to an object that programs link with `-lcuda`.

use crate::{
    analysis::warps::warps_of,
    dialect::{
        gpu_module::gpu_modules,
        llvm_types::element_type,
        location, nv_tileaa,
        pass::{Failed, PassContext, RustPass, descriptors, fail},
        rt::*,
        types::{int, integer_width, is_bf16, is_f16, is_integer, is_llvm_pointer},
    },
    pass_descriptor,
};
use melior::{
    Context,
    ir::{Module, Type, attribute::StringAttribute},
};
use mlir_sys::*;
use std::fmt::Write;

#[derive(Clone, Default)]
pub struct EmitHostWrapper;

impl RustPass for EmitHostWrapper {
    pass_descriptor!(tileir_emit_host_wrapper);

    fn run<'c>(&mut self, op: OpRef<'c>, context: &'c Context, cx: &PassContext) -> Result<(), Failed> {
        use descriptors::tileir_emit_host_wrapper::{Options, stat};
        let (triple, dump) = (Options(cx).host_triple(), Options(cx).dump_host());
        let mut dumped = String::new();
        for module in gpu_modules(op) {
            let kernels = collect_ops(module, nv_tileaa::FuncOp::cast);
            if kernels.is_empty() {
                continue;
            }
            let host = host_module(module, &kernels, triple, context)?;
            cx.stat_add(stat::NUM_WRAPPERS, kernels.len() as i64);
            if !dump.is_empty() {
                dumped.push_str(&llvm_ir(host)?);
            }
        }
        if !dump.is_empty() {
            std::fs::write(dump, dumped)
                .map_err(|e| fail(op, format!("the host wrapper cannot be written to '{dump}': {e}")))?;
        }
        Ok(())
    }
}

/// Builds the new module, after the kernels' module.
fn host_module<'c>(
    module: OpRef<'c>,
    kernels: &[nv_tileaa::FuncOp<'c>],
    triple: &str,
    context: &'c Context,
) -> Result<OpRef<'c>, Failed> {
    let quoted = |s: &str| StringAttribute::new(context, s).to_string();
    let name = format!("{}_host", attr(module, "sym_name").map_or("kernels", string_attr));
    let attributes = match triple {
        "" => String::new(),
        triple => format!(" attributes {{llvm.target_triple = {}}}", quoted(triple)),
    };
    let mut text = format!("module @{}{attributes} {{\n{LAUNCH}", quoted(&name));
    for kernel in kernels {
        wrapper(&mut text, *kernel, &quoted(&format!("{}_launch", kernel.sym_name())), context)?;
    }
    text.push_str("}\n");
    let parsed = Module::parse(context, &text).ok_or_else(|| fail(module, "the host wrapper is not a valid module"))?;
    // The text is a complete module, which the parser does not wrap in another one.
    let host = clone_detached(op_ref(parsed.as_operation().to_raw()));
    // Each wrapper has the location of its kernel; the declaration before them has the location of the first kernel.
    let places: Vec<_> = kernels.iter().map(|k| location::leaf(k.op().location())).collect();
    let functions = entry_block(region(host, 0)).into_iter().flat_map(ops_of);
    for (function, place) in functions.zip(places.first().into_iter().chain(&places)) {
        walk(function, &mut |o| set_location(o, *place));
    }
    set_location(host, places.first().copied().unwrap_or_else(|| location::leaf(module.location())));
    let b = Builder::before(context, module);
    b.set_after(module);
    b.insert_op(host);
    Ok(host)
}

const LAUNCH: &str = "llvm.func @cuLaunchKernel(!llvm.ptr, i32, i32, i32, i32, i32, i32, i32, !llvm.ptr, !llvm.ptr, \
                      !llvm.ptr) -> i32\n";

/// Appends one wrapper as text.
fn wrapper<'c>(
    text: &mut String,
    kernel: nv_tileaa::FuncOp<'c>,
    name: &str,
    context: &'c Context,
) -> Result<(), Failed> {
    let threads = warps_of(kernel)? * 32;
    let entry = entry_block(kernel.body()).ok_or_else(|| fail(kernel.op(), "function has no body"))?;
    let mut types = vec![];
    for a in args(entry) {
        let t = host_type(context, ty(a))
            .ok_or_else(|| fail(kernel.op(), format!("argument type {} cannot be passed from the host", ty(a))))?;
        types.push(t);
    }
    let parameters: String = types.iter().enumerate().map(|(i, t)| format!(", %a{i}: {t}")).collect();
    let mut add = |line: String| writeln!(text, "{line}").expect("strings take text");
    add(format!(
        "llvm.func @{name}(%kernel: !llvm.ptr, %x: i32, %y: i32, %z: i32, %stream: !llvm.ptr{parameters}) -> i32 {{"
    ));
    for (value, constant) in [("one", 1), ("threads", threads), ("shared", 0), ("count", types.len().max(1) as u64)] {
        add(format!("  %{value} = llvm.mlir.constant({constant} : i32) : i32"));
    }
    add("  %list = llvm.alloca %count x !llvm.ptr : (i32) -> !llvm.ptr".into());
    for (i, t) in types.iter().enumerate() {
        add(format!("  %p{i} = llvm.alloca %one x {t} : (i32) -> !llvm.ptr"));
        add(format!("  llvm.store %a{i}, %p{i} : {t}, !llvm.ptr"));
        add(format!("  %s{i} = llvm.getelementptr %list[{i}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr"));
        add(format!("  llvm.store %p{i}, %s{i} : !llvm.ptr, !llvm.ptr"));
    }
    add("  %none = llvm.mlir.zero : !llvm.ptr".into());
    add("  %r = llvm.call @cuLaunchKernel(%kernel, %x, %y, %z, %threads, %one, %one, %shared, %stream, %list, %none) : \
         (!llvm.ptr, i32, i32, i32, i32, i32, i32, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32"
        .into());
    add("  llvm.return %r : i32\n}".into());
    Ok(())
}

/// Returns the type of an argument on the host.
fn host_type<'c>(context: &'c Context, t: Type<'c>) -> Option<Type<'c>> {
    let lowered = element_type(context, t)?;
    Some(if is_llvm_pointer(lowered) {
        int(context, 64)
    } else if is_f16(lowered) || is_bf16(lowered) {
        int(context, 16)
    } else if is_integer(lowered) && integer_width(lowered) < 8 {
        int(context, 8)
    } else {
        lowered
    })
}

fn llvm_ir(host: OpRef<'_>) -> Result<String, Failed> {
    let llvm = inkwell::context::Context::create();
    // SAFETY: both contexts are alive; the result belongs to `llvm`.
    unsafe {
        let raw = mlirTranslateModuleToLLVMIR(host.to_raw(), llvm.raw() as *mut _);
        if raw.is_null() {
            return Err(fail(host, "the host wrapper has no translation to LLVM IR"));
        }
        Ok(inkwell::module::Module::new(raw as *mut _).print_to_string().to_string())
    }
}
