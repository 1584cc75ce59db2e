//! From the LLVM dialect to PTX: in-process translation to LLVM IR, LLVM's optimizer and NVPTX backend, then the
//! finalizer.

mod called_often;
mod chains;
mod device_library;
mod fan_out;
pub mod host;
mod inlined_lines;
mod intrinsics;
mod libnvvm;
pub mod library_code;
mod long_blocks;
pub mod messages;
pub mod names;
mod optimizer;
mod packing;
mod parts;
mod sinking;
mod unsupported;
mod workarounds;

use crate::dialect::{ffi, gpu_module::BLOCKS_ARE_CLUSTERS, rt::*};
use inkwell::{
    OptimizationLevel,
    attributes::AttributeLoc,
    context::Context as LlvmContext,
    memory_buffer::MemoryBuffer,
    module::Module,
    passes::PassBuilderOptions,
    targets::{
        CodeModel, FileType, InitializationConfig, RelocMode, Target as LlvmTarget, TargetData, TargetMachine,
        TargetTriple,
    },
    values::{AsValueRef, FunctionValue, InstructionValue},
};
use std::{collections::HashSet, path::Path, sync::Once};
use tile_interface::{Backend, DebugInfo};
use tile_targets::{Directive, EntryDirectives, FinaliseError, Finalised, Target};

pub use device_library::LibraryError;
pub use libnvvm::NvvmError;
pub use library_code::{LibraryCode, TileLibraryError};

/// The target and the options of code generation.
#[derive(Clone, Copy)]
pub struct Options {
    pub target: &'static Target,
    /// 0 to 3.
    pub opt_level: u8,
    /// Whether to emit line information.
    pub lines: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum CodegenError {
    #[error("the LLVM dialect could not be translated to LLVM IR")]
    Translate,
    #[error("{0}")]
    Intrinsic(String),
    #[error("{0}")]
    Unsupported(String),
    #[error("invalid LLVM IR: {0}")]
    Verify(String),
    #[error("{0}")]
    Parse(String),
    #[error("the LLVM IR is for '{0}', but only nvptx64-nvidia-cuda can be compiled")]
    Triple(String),
    #[error("PTX cannot spell the name of the entry {0:?}")]
    Name(String),
    #[error(transparent)]
    Library(#[from] LibraryError),
    #[error(transparent)]
    TileLibrary(#[from] TileLibraryError),
    #[error("LLVM has no code generator for {0}")]
    Target(String),
    #[error("LLVM's optimizer failed: {0}")]
    Optimize(String),
    #[error("code generation failed: {0}")]
    Emit(String),
    #[error("the entry '{0}' is not in the generated code")]
    Lost(String),
    #[error(transparent)]
    Finalise(#[from] FinaliseError),
    #[error(transparent)]
    Nvvm(#[from] NvvmError),
}

impl CodegenError {
    /// Whether the requested configuration is at fault, rather than the module.
    pub fn is_configuration(&self) -> bool {
        matches!(
            self,
            CodegenError::Nvvm(NvvmError::Load(_) | NvvmError::Dialect { .. })
                | CodegenError::Library(LibraryError::Read { .. } | LibraryError::NotLibdevice { .. })
        )
    }
}

/// A module of LLVM IR.
pub struct Code<'l> {
    module: Module<'l>,
    machine: TargetMachine,
    options: Options,
}

const TRIPLE: &str = "nvptx64-nvidia-cuda";

/// Sets up LLVM once per process: the target, 32-bit addresses for the memory spaces that have them, and the options
/// of the SLP vectorizer. It does not look for horizontal reductions: words of two elements have no instructions for
/// them, and the search takes longer than everything else in a program with many comparisons. LLVM's sinking passes
/// are off; [`sinking`] sinks instructions where it pays.
fn initialise() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        LlvmTarget::initialize_nvptx(&InitializationConfig::default());
        let arguments = [
            c"tileiras",
            c"-nvptx-short-ptr",
            c"-slp-vectorize-hor=false",
            c"-instcombine-code-sinking=false",
            c"-disable-machine-sink",
        ]
        .map(|a| a.as_ptr());
        // SAFETY: the strings are static; LLVM reads them during the call.
        unsafe {
            let count = arguments.len() as i32;
            llvm_sys::support::LLVMParseCommandLineOptions(count, arguments.as_ptr(), std::ptr::null());
        }
    });
}

impl<'l> Code<'l> {
    /// Translates a `gpu.module` with functions in the LLVM dialect, for one of the code generators, and links the
    /// functions of tile libraries and the mathematical functions that it calls. The latter come from NVIDIA's library
    /// if there is a `libdevice`.
    pub fn translate(
        llvm: &'l LlvmContext,
        gpu_module: OpRef<'_>,
        options: Options,
        backend: &Backend,
        (libdevice, libraries): (Option<&Path>, &[LibraryCode<'_>]),
    ) -> Result<Self, CodegenError> {
        initialise();
        messages::collect(llvm);
        // SAFETY: both contexts are alive; the result belongs to `llvm`.
        let module = unsafe {
            let raw = mlir_sys::mlirTranslateModuleToLLVMIR(gpu_module.to_raw(), llvm.raw() as *mut _);
            if raw.is_null() {
                return Err(CodegenError::Translate);
            }
            Module::new(raw as *mut _)
        };
        intrinsics::check(&module, options.target)?;
        unsupported::check(&module, options.target)?;
        if !options.lines {
            // The scopes were only needed for messages.
            module.strip_debug_info();
        }
        let machine = machine(options)?;
        prepare(&module, &machine, backend);
        let code = Code { module, machine, options };
        library_code::link(llvm, &code.module, libraries, options.target, libdevice.is_some())?;
        names::respell(&code.module);
        device_library::link(llvm, &code.module, libdevice)?;
        mark_convergent(llvm, &code.module);
        // The translation verifies its result; this checks the two steps above.
        code.verify()?;
        Ok(code)
    }

    /// Verifies the module, in builds with debug assertions.
    fn verify(&self) -> Result<(), CodegenError> {
        let result = if cfg!(debug_assertions) { self.module.verify() } else { Ok(()) };
        result.map_err(|e| CodegenError::Verify(e.to_string()))
    }

    /// Reads the output of [`Code::to_llvm`]: a linked, optimized and possibly edited module.
    pub fn read(
        llvm: &'l LlvmContext,
        text: &[u8],
        name: &str,
        options: Options,
        backend: &Backend,
    ) -> Result<Self, CodegenError> {
        initialise();
        messages::collect(llvm);
        if let Some(at) = text.iter().position(|b| *b == 0) {
            return Err(CodegenError::Parse(format!("the text has a NUL byte at offset {at}")));
        }
        let buffer = MemoryBuffer::create_from_memory_range_copy(&[text, b"\0"].concat(), name);
        let module = llvm.create_module_from_ir(buffer).map_err(|e| CodegenError::Parse(e.to_string()))?;
        module.verify().map_err(|e| CodegenError::Verify(e.to_string()))?;
        let triple = module.get_triple().as_str().to_string_lossy().into_owned();
        if !triple.is_empty() && triple != TRIPLE {
            return Err(CodegenError::Triple(triple));
        }
        // Keep the printed text independent of the file name.
        let source = module.get_source_file_name().to_string_lossy().into_owned();
        module.set_name(&source);
        intrinsics::check(&module, options.target)?;
        unsupported::check(&module, options.target)?;
        // Entries are looked up by name.
        names::kernels_in(&module)?;
        let machine = machine(options)?;
        prepare(&module, &machine, backend);
        names::respell_printed(&module);
        let code = Code { module, machine, options };
        code.sort_uses();
        Ok(code)
    }

    /// The names of the kernels with a body.
    pub fn kernels(&self) -> Result<Vec<String>, CodegenError> {
        names::kernels_in(&self.module)
    }

    /// Runs LLVM's pipeline for the optimization level. libNVVM optimizes on its own.
    pub fn optimize(&self, backend: &Backend) -> Result<(), CodegenError> {
        let level = match backend {
            Backend::Llvm => self.options.opt_level,
            Backend::LibNvvm(_) => 0,
        };
        if level > 0 {
            if parts::is_large(&self.module) {
                // The range of a thread's index follows from the kernel's size, which its parts do not have.
                self.run("function(nvvm-intr-range)")?;
                parts::cut(&self.module);
                self.verify()?;
            }
            fan_out::bound(&self.module);
            chains::bound(&self.module);
        }
        let pipeline = optimizer::pipeline(&self.module, self.options.target, level);
        packing::without_long(&self.module, || self.run(&pipeline))?;
        workarounds::apply(&self.module);
        if level > 0 {
            // Equal values have been merged.
            fan_out::bound(&self.module);
            sinking::into_branches(&self.module);
        }
        if matches!(backend, Backend::Llvm) {
            called_often::expose(&self.module);
        }
        self.sort_uses();
        messages::errors().map_or(Ok(()), |text| Err(CodegenError::Optimize(text)))
    }

    fn run(&self, passes: &str) -> Result<(), CodegenError> {
        let result = self.module.run_passes(passes, &self.machine, PassBuilderOptions::create());
        result.map_err(|e| CodegenError::Optimize(e.to_string()))
    }

    /// LLVM IR as text.
    pub fn to_llvm(&self) -> String {
        self.module.print_to_string().to_string()
    }

    /// LLVM's code generator depends on the order of the uses of a value, which text does not record. Sorting uses in
    /// the order of the text makes compilation from the printed IR give the same PTX.
    fn sort_uses(&self) {
        // SAFETY: the module is alive, and nothing walks over uses meanwhile.
        unsafe { ffi::mlirxLLVMModuleSortUses(self.module.as_mut_ptr().cast()) }
    }

    /// Generates the final PTX for the target.
    ///
    /// Errors: among others, one of the `kernels` is missing from the generated code.
    pub fn to_ptx(&self, backend: &Backend, debug: DebugInfo, kernels: &[String]) -> Result<String, CodegenError> {
        let (text, entries) = match backend {
            Backend::Llvm => {
                let finished = self.generate()?;
                (finished.text, finished.entries)
            }
            Backend::LibNvvm(file) => {
                if !self.clusters().is_empty() {
                    return Err(CodegenError::Unsupported(
                        "libNVVM does not support launches that count clusters; use --backend=llvm".into(),
                    ));
                }
                let text = libnvvm::compile(&self.module, file, self.options, debug)?;
                let scanned = tile_targets::scan::scan(&text).map_err(FinaliseError::from)?;
                (text, scanned.entries.into_iter().filter(|e| e.body.is_some()).map(|e| e.name).collect())
            }
        };
        let entries: HashSet<String> = entries.into_iter().collect();
        match kernels.iter().find(|k| !entries.contains(*k)) {
            Some(lost) => Err(CodegenError::Lost(lost.clone())),
            None => Ok(tile_targets::file_names::legible(text)),
        }
    }

    /// Generates PTX with LLVM's backend.
    fn generate(&self) -> Result<Finalised, CodegenError> {
        long_blocks::split(&self.module);
        let chains = inlined_lines::mark(&self.module);
        let buffer = self
            .machine
            .write_to_memory_buffer(&self.module, FileType::Assembly)
            .map_err(|e| CodegenError::Emit(e.to_string()))?;
        if let Some(text) = messages::errors() {
            return Err(CodegenError::Emit(text));
        }
        let text = std::str::from_utf8(buffer.as_slice()).map_err(|e| CodegenError::Emit(e.to_string()))?;
        let text = chains.write(text.trim_end_matches('\0'));
        let clusters = self.clusters();
        let directives = [Directive::BlocksAreClusters];
        let asked = clusters.iter().map(|entry| EntryDirectives { entry, directives: &directives });
        Ok(tile_targets::finalise(&text, self.options.target, &asked.collect::<Vec<_>>())?)
    }

    /// The kernels with launches that count clusters.
    fn clusters(&self) -> Vec<String> {
        let counts =
            |f: &FunctionValue<'_>| f.get_string_attribute(AttributeLoc::Function, BLOCKS_ARE_CLUSTERS).is_some();
        self.module.get_functions().filter(counts).map(|f| f.get_name().to_string_lossy().into_owned()).collect()
    }
}

/// Creates LLVM's code generator for the target.
fn machine(options: Options) -> Result<TargetMachine, CodegenError> {
    let triple = TargetTriple::create(TRIPLE);
    let level = match options.opt_level {
        0 => OptimizationLevel::None,
        1 => OptimizationLevel::Less,
        // The next level only adds another elimination of redundant loads, and the optimizer leaves none.
        _ => OptimizationLevel::Default,
    };
    let unknown = || CodegenError::Target(options.target.name.to_string());
    LlvmTarget::from_triple(&triple)
        .map_err(|_| unknown())?
        .create_target_machine(
            &triple,
            options.target.llvm_cpu,
            &options.target.llvm_features(),
            level,
            RelocMode::Default,
            CodeModel::Default,
        )
        .ok_or_else(unknown)
}

/// Sets the triple and the data layout of the module.
fn prepare(module: &Module<'_>, machine: &TargetMachine, backend: &Backend) {
    module.set_triple(&TargetTriple::create(TRIPLE));
    let layout = match backend {
        Backend::Llvm => machine.get_target_data().get_data_layout(),
        Backend::LibNvvm(_) => TargetData::create(libnvvm::DATA_LAYOUT).get_data_layout(),
    };
    module.set_data_layout(&layout);
}

/// All instructions of the module.
fn instructions<'m>(module: &Module<'m>) -> impl Iterator<Item = InstructionValue<'m>> {
    module.get_functions().flat_map(|f| f.get_basic_block_iter()).flat_map(|b| b.get_instructions())
}

/// Marks inline PTX and warp-level intrinsics as convergent. MLIR 21's `llvm.inline_asm` lacks `convergent`, and
/// without it LLVM may sink or duplicate instructions that synchronize threads. Only inline PTX that accesses memory
/// does not need it. LLVM's own intrinsics for matrices lack it too.
fn mark_convergent(llvm: &LlvmContext, module: &Module<'_>) {
    use llvm_sys::core::*;
    // SAFETY: the instructions are live and stay where they are; attributes belong to the module's context.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(c"convergent".as_ptr(), 10);
        let convergent = LLVMCreateEnumAttribute(llvm.raw(), kind, 0);
        for i in instructions(module).map(|i| i.as_value_ref()).filter(|i| !LLVMIsACallInst(*i).is_null()) {
            let callee = LLVMGetCalledValue(i);
            let is_inline = !LLVMIsAInlineAsm(callee).is_null();
            if (is_inline && !is_access(callee)) || is_of_warp(callee) {
                LLVMAddCallSiteAttribute(i, llvm_sys::LLVMAttributeFunctionIndex, convergent);
            }
        }
    }
}

/// Whether a callee is an intrinsic that all threads of a warp must call together, although LLVM 21 does not mark it.
///
/// # Safety
/// `callee` must be a live value.
unsafe fn is_of_warp(callee: llvm_sys::prelude::LLVMValueRef) -> bool {
    const OPERATIONS: [&[u8]; 5] = [b"mma.", b"wmma.", b"ldmatrix.", b"stmatrix.", b"match."];
    let mut length = 0;
    // SAFETY: the caller's promise; the name lives as long as the value.
    let name = unsafe {
        let p = llvm_sys::core::LLVMGetValueName2(callee, &mut length);
        std::slice::from_raw_parts(p as *const u8, length)
    };
    name.strip_prefix(b"llvm.nvvm.").is_some_and(|rest| OPERATIONS.iter().any(|o| rest.starts_with(o)))
}

/// Whether inline PTX is a single memory access, predicated or not, or a single fence, in which no other thread takes
/// part.
///
/// # Safety
/// `asm` must be a live inline-assembly value.
unsafe fn is_access(asm: llvm_sys::prelude::LLVMValueRef) -> bool {
    let mut length = 0;
    // SAFETY: the caller's promise; the text lives as long as the value.
    let text = unsafe {
        let p = llvm_sys::core::LLVMGetInlineAsmAsmString(asm, &mut length);
        std::slice::from_raw_parts(p as *const u8, length)
    };
    let text = String::from_utf8_lossy(text);
    let one = text.matches(';').count() == 1;
    let word = text.split_whitespace().find(|w| !w.starts_with('@')).unwrap_or("");
    one && ["ld.", "st.", "atom.", "red.", "fence."].iter().any(|p| word.starts_with(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The module after `mark_convergent`, if `mark` is set, and a pass.
    fn after(text: &str, mark: bool, pass: &str) -> String {
        initialise();
        let buffer = MemoryBuffer::create_from_memory_range_copy(format!("{text}\0").as_bytes(), "test");
        let context = LlvmContext::create();
        let module = context.create_module_from_ir(buffer).unwrap();
        if mark {
            mark_convergent(&context, &module);
        }
        let triple = TargetTriple::create(TRIPLE);
        let (level, reloc, model) = (OptimizationLevel::Default, RelocMode::Default, CodeModel::Default);
        let target = LlvmTarget::from_triple(&triple).unwrap();
        let machine = target.create_target_machine(&triple, "sm_90a", "+ptx83", level, reloc, model).unwrap();
        module.run_passes(pass, &machine, PassBuilderOptions::create()).unwrap();
        module.print_to_string().to_string()
    }

    /// The threads of a warp stay converged at a dot: see docs/llvm-defects.md.
    #[test]
    fn warps_stay_converged_at_dots() {
        let text = include_str!("../../tests/llvm-defects/product.ll");
        let dots = |mark| after(text, mark, "simplifycfg").matches("= call { double, double }").count();
        assert_eq!(dots(false), 2, "LLVM does it right now");
        assert_eq!(dots(true), 1);
    }

    /// Convergent operations are not duplicated into branches that only some threads take; memory accesses may be.
    #[test]
    fn convergent_inline_ptx_is_not_duplicated() {
        for (asm, is_convergent) in [
            ("wgmma.fence.sync.aligned;", true),
            ("wgmma.wait_group.sync.aligned 0;", true),
            ("{ .reg .pred sum; setp.ne.b32 sum, 1, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16; }", true),
            ("setmaxnreg.inc.sync.aligned.u32 240;", true),
            ("bar.warp.sync -1;", true),
            ("", true),
            ("fence.proxy.async.shared::cta;", false),
            ("@$0 st.global.b32 [$1], $2;", false),
        ] {
            // Threads from %a continue at %x, the others at %y, so the block in between may be duplicated.
            let text = format!(
                "define void @f(i1 %c, ptr %p) {{\n  br i1 %c, label %a, label %m\n\
                 a:\n  store volatile i32 0, ptr %p\n  br label %m\n\
                 m:\n  %q = phi i1 [ true, %a ], [ false, %0 ]\n  call void asm sideeffect \"{asm}\", \"~{{memory}}\"()\n  \
                 br i1 %q, label %x, label %y\n\
                 x:\n  store volatile i32 1, ptr %p\n  ret void\n\
                 y:\n  store volatile i32 2, ptr %p\n  ret void\n}}\n"
            );
            let copies = |mark| after(&text, mark, "simplifycfg").matches("asm sideeffect").count();
            assert_eq!(copies(false), 2, "{asm}");
            assert_eq!(copies(true), if is_convergent { 1 } else { 2 }, "{asm}");
        }
    }
}
