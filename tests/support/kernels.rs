//! The kernels that compile from bytecode to a cubin, and properties of their code.

use crate::store::Stored;
use std::fs;
use tile_interface::{CompileOutput, CompileRequest, Compiler, DebugInfo, Emit, InputKind};
use tile_targets::Target;
use tileiras::compile::InProcess;

/// One file of `tests/corpus/`.
pub struct Kernel {
    pub name: &'static str,
    /// Bytes of shared memory at -O3. Zero means that no layout conversion crosses threads.
    pub shared: u64,
    pub vectors: Vectors,
}

/// The accesses to global memory that must be 128 bits wide at -O3.
#[derive(Clone, Copy, PartialEq)]
pub enum Vectors {
    /// No requirement.
    Any,
    /// This many in the path for tiles that are entirely inside, whose accesses have no predicate.
    Interior(usize),
    /// All accesses, of which there are this many.
    All(usize),
}

const fn kernel(name: &'static str) -> Kernel {
    Kernel { name, shared: 0, vectors: Vectors::Any }
}

pub const KERNELS: &[Kernel] = &[
    // Three tiles of 1024 floats with eight floats per thread: two vectors each.
    Kernel { vectors: Vectors::Interior(6), ..kernel("vadd_f32") },
    kernel("vadd_f16"),
    kernel("vadd_bf16"),
    kernel("vadd_f64"),
    kernel("vadd_i32"),
    kernel("vadd_i8"),
    Kernel { vectors: Vectors::All(6), ..kernel("vadd_f32_div16") },
    kernel("vadd_multi"),
    kernel("saxpy_f32"),
    kernel("saxpy_grid_stride"),
    kernel("copy_pad_zero"),
    kernel("copy_pad_neginf"),
    kernel("copy_pad_nan"),
    kernel("casts"),
    kernel("gelu_silu_bf16"),
    kernel("swiglu_f16"),
    kernel("mandelbrot"),
    kernel("collatz"),
    kernel("dropout_hash"),
    kernel("int64_index"),
    // One tile goes through shared memory once.
    Kernel { shared: 4096, ..kernel("permute3d_f32") },
    Kernel { shared: 8192, ..kernel("transpose_f32") },
    Kernel { shared: 4096, ..kernel("transpose_order_f32") },
    Kernel { shared: 8192, ..kernel("transpose_f16_div16") },
    kernel("stencil5"),
];

impl Kernel {
    pub fn bytes(&self) -> Result<Vec<u8>, String> {
        // The root of the build, unless an archive of the tests runs elsewhere.
        let root = crate::root();
        let path = root.join("tests/corpus").join(format!("{}.13.1.tileirbc", self.name));
        fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))
    }
}

/// The text of a stage, which is taken from the store for bytecode. The error contains the messages. A warning is an
/// error.
pub fn compile(input: &[u8], target: &'static Target, opt_level: u8, emit: Emit) -> Result<CompileOutput, String> {
    compile_with(input, target, opt_level, emit, DebugInfo::None)
}

/// As [`compile`], with debug information.
pub fn compile_with(
    input: &[u8],
    target: &'static Target,
    opt_level: u8,
    emit: Emit,
    debug: DebugInfo,
) -> Result<CompileOutput, String> {
    compile_by(&Stored, input, target, (opt_level, emit, debug), &[])
}

/// As [`compile`] at -O3, with options of the pipeline.
pub fn compile_with_options(
    input: &[u8],
    target: &'static Target,
    emit: Emit,
    options: &[(&str, &str)],
) -> Result<CompileOutput, String> {
    compile_by(&Stored, input, target, (3, emit, DebugInfo::None), options)
}

/// As [`compile_with`], without the store.
pub fn compile_afresh(
    input: &[u8],
    target: &'static Target,
    opt_level: u8,
    emit: Emit,
    debug: DebugInfo,
) -> Result<CompileOutput, String> {
    compile_by(&InProcess, input, target, (opt_level, emit, debug), &[])
}

fn compile_by(
    compiler: &dyn Compiler,
    input: &[u8],
    target: &'static Target,
    (opt_level, emit, debug): (u8, Emit, DebugInfo),
    options: &[(&str, &str)],
) -> Result<CompileOutput, String> {
    let options: Vec<(String, String)> = options.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let request = CompileRequest {
        input_name: "kernel.tileirbc",
        opt_level,
        emit,
        debug,
        pipeline_options: &options,
        ..CompileRequest::new(
            input,
            if input.starts_with(b"\x7fTileIR") { InputKind::PublicBytecode } else { InputKind::Text },
            target,
        )
    };
    let mut messages = String::new();
    let result = compiler.compile(&request, &mut |d| messages.push_str(&format!("\n{d:?}")));
    match result {
        Ok(output) if messages.is_empty() => Ok(output),
        Ok(_) => Err(format!("compiled, with messages:{messages}")),
        Err(e) => Err(format!("{e}{messages}")),
    }
}
