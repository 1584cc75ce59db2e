//! The compiler as the driver calls it: takes bytes and returns the text of a stage.

use crate::{
    codegen::{self, Code},
    dialect::{
        self,
        attributes::SHARED_EXCEEDED,
        cuda_tile::EntryOp,
        debug_scope::Emission,
        fallback::Blame,
        ffi,
        gpu_module::gpu_modules,
        nv_tileaa::FuncOp,
        remark,
        rt::*,
        upstream::{dialect_of, is_gpu_module, is_llvm_func, is_module},
    },
    passes, pipeline,
    pipeline::Stage,
    plugin,
    snapshots::Log,
    translate::{
        self,
        nesting::{self, with_stack},
    },
};
use diagnostics::{convert, place};
use melior::{Context, ir::Module, pass::PassManager, utility::parse_pass_pipeline};
use restart::{Cause, Restarts};
use std::{
    cell::RefCell,
    collections::HashSet,
    fmt::Display,
    mem::ManuallyDrop,
    ops::{Deref, DerefMut},
    path::Path,
    rc::Rc,
    sync::{Mutex, PoisonError},
    time::Instant,
};
use tile_diag::{Diagnostic, Location, Severity};
use tile_interface::{
    Backend, CompileError, CompileOutput, CompileRequest, Compiler, Emit, InputKind, Instrumentation, Level, scope,
};

/// A compiler in this process, with a new context for each compilation.
pub struct InProcess;

impl Compiler for InProcess {
    fn compile(
        &self,
        request: &CompileRequest<'_>,
        report: &mut dyn FnMut(Diagnostic),
    ) -> Result<CompileOutput, CompileError> {
        Session::new().compile(request, report)
    }
}

/// [`InProcess`] for a process that exits after one compilation. Leaves freeing memory to the exit.
pub struct OneShot;

impl Compiler for OneShot {
    fn compile(
        &self,
        request: &CompileRequest<'_>,
        report: &mut dyn FnMut(Diagnostic),
    ) -> Result<CompileOutput, CompileError> {
        // Freeing the memory takes as long as a pass, while ptxas waits.
        let session = ManuallyDrop::new(Session { last: true, ..Session::new() });
        session.compile(request, report)
    }
}

/// Compiles several programs in one context, because creating a context takes longer than compiling a small kernel. A
/// context never frees a type or attribute, so a caller that compiles thousands of programs should renew it now and
/// then.
pub struct Session {
    context: Context,
    /// Whether the process exits after the next compilation.
    last: bool,
    /// Whether defects are errors even if requests allow fallbacks.
    strict: bool,
}

impl Default for Session {
    fn default() -> Self {
        Session::new()
    }
}

impl Session {
    pub fn new() -> Session {
        passes::register_all();
        Session { context: dialect::context(), last: false, strict: tile_interface::has_strict_plans() }
    }
}

impl Session {
    /// The same session, but with fallbacks after defects even if the environment forbids them.
    pub fn with_fallbacks(self) -> Session {
        Session { strict: false, ..self }
    }
}

impl Compiler for Session {
    fn compile(
        &self,
        request: &CompileRequest<'_>,
        report: &mut dyn FnMut(Diagnostic),
    ) -> Result<CompileOutput, CompileError> {
        // A printed boundary may belong to any stage.
        let emit = if request.print_after.is_some() { Emit::Ptx } else { request.emit };
        let request = &CompileRequest { emit, ..request.clone() };
        let options = options(request)?;
        load_plugins(request)?;
        if request.instrumentation.dump_pass_pipeline {
            eprint!("{}", options.dump());
        }
        let context = &self.context;
        let messages = Rc::new(RefCell::new(vec![]));
        let sink = messages.clone();
        let handler = context.attach_diagnostic_handler(move |d| {
            sink.borrow_mut().push(convert(&d));
            true
        });
        let is_strict = request.strict_plans || self.strict;
        let (result, remarks) = codegen::messages::reporting(report, || {
            let mut restarts = Restarts::default();
            loop {
                let (cause, log) = (RefCell::default(), Mutex::default());
                let job = Job {
                    request,
                    options: &options,
                    context,
                    last: self.last,
                    restarts: &restarts,
                    cause: &cause,
                    log: &log,
                };
                let run = || with_stack(|| job.run());
                let (result, mut remarks) = if request.remarks { remark::collect(run) } else { (run(), vec![]) };
                // If shared memory ran out, retry with cheaper choices. Only the last attempt reports the failure.
                let cause = cause.take().filter(|(cause, _)| !is_strict || cause.is_short);
                if let (Err((_, error)), Some((cause, start))) = (&result, cause)
                    && restart::is_of_passes(error)
                {
                    let said = messages.borrow();
                    let first = said.iter().find(|d: &&Diagnostic| d.severity == Severity::Error);
                    let message = first.map_or_else(|| error.to_string(), |d| d.message.clone());
                    drop(said);
                    if restarts.give_up(&cause, &message, start, &options) {
                        messages.borrow_mut().clear();
                        continue;
                    }
                }
                remarks.splice(0..0, restarts.remarks);
                let remarks = tile_interface::gathered(remarks);
                let snapshots = unlocked(log.into_inner()).into_snapshots();
                return (result.map(|output| CompileOutput { snapshots, ..output }), remarks);
            }
        });
        context.detach_diagnostic_handler(handler);
        if request.instrumentation.statistics {
            eprint!("{}", dialect::pass::take_statistics());
        }
        messages.borrow_mut().drain(..).chain(codegen::messages::take()).for_each(&mut *report);
        match result {
            Ok(output) => Ok(CompileOutput { remarks, ..output }),
            Err((messages, error)) => {
                messages.into_iter().for_each(report);
                Err(error)
            }
        }
    }
}

/// The parts of the compiler that `tile-run` uses.
pub const TOOLS: tile_launch::Tools<'static> = tile_launch::Tools {
    compiler: &InProcess,
    reader: &program,
    optional_passes: &optional_passes,
    host_loader: &host_functions::load,
};

/// The optional passes of a compilation, in the order in which `pass-limit` counts them.
///
/// # Errors
/// The request's options are invalid.
pub fn optional_passes(request: &CompileRequest<'_>) -> Result<Vec<String>, CompileError> {
    let steps = options(request)?.steps().into_iter();
    Ok(steps.filter(|step| step.optional).map(|step| step.name().to_owned()).collect())
}

/// Reads Tile IR as a program of the reference interpreter.
pub fn program(
    input: &[u8],
    kind: InputKind,
    report: &mut dyn FnMut(Diagnostic),
) -> Result<tile_interp::program::Program, CompileError> {
    // Host functions compute the calls of tile libraries.
    reading(input, kind, report, |module| {
        translate::program(module)
            .map_err(|e| (vec![Diagnostic::new(Severity::Error, e.to_string())], CompileError::Input))
    })
}

/// Reads Tile IR, which may use preview features, and verifies it.
///
/// # Errors
/// The input cannot be read, or an operation does not verify.
pub fn verify(input: &[u8], kind: InputKind, report: &mut dyn FnMut(Diagnostic)) -> Result<(), CompileError> {
    reading(input, kind, report, |_| Ok(()))
}

/// Reads Tile IR, which may use preview features, in a context of its own.
fn reading<T>(
    input: &[u8],
    kind: InputKind,
    report: &mut dyn FnMut(Diagnostic),
    then: impl FnOnce(&Module<'_>) -> Result<T, Failure>,
) -> Result<T, CompileError> {
    let context = dialect::context();
    let messages = Rc::new(RefCell::new(vec![]));
    let sink = messages.clone();
    let handler = context.attach_diagnostic_handler(move |d| {
        sink.borrow_mut().push(convert(&d));
        true
    });
    let request =
        CompileRequest { preview: true, ..CompileRequest::new(input, kind, tile_targets::Target::default_target()) };
    let result = with_stack(|| read_with(&request, &context).and_then(|module| then(&module)));
    context.detach_diagnostic_handler(handler);
    messages.borrow_mut().drain(..).for_each(&mut *report);
    result.map_err(|(messages, error)| {
        messages.into_iter().for_each(report);
        error
    })
}

/// Loads the plugins of a request, which makes their passes available for insertion.
fn load_plugins(request: &CompileRequest<'_>) -> Result<(), CompileError> {
    let wrong = |file: &Path, e| CompileError::Configuration(format!("the plugin '{}' {e}", file.display()));
    request.plugins.iter().try_for_each(|file| plugin::load(file).map_err(|e| wrong(file, e)))
}

/// The options of the pipeline: defaults, overridden by the command's flags and then by pipeline options. The driver
/// has already appended flags that override pipeline options of the same meaning.
fn options(request: &CompileRequest<'_>) -> Result<pipeline::Options, CompileError> {
    let mut options = pipeline::Options {
        opt_level: request.opt_level,
        target: request.target,
        debug: request.debug,
        strategy: pipeline::Strategy::strongest(request.target),
        v2_opt_level: 2,
        // libNVVM does not support launches that count clusters.
        num_ctas: u32::from(matches!(request.backend, Backend::LibNvvm(_))),
        ..pipeline::Options::default()
    };
    for (name, value) in request.pipeline_options {
        options.set(name, value).map_err(|e| CompileError::Configuration(e.to_string()))?;
    }
    options.check().map_err(|e| CompileError::Configuration(e.to_string()))?;
    if options.numerics == pipeline::Numerics::Portable && request.libdevice.is_some() {
        let reason =
            "numerics=portable excludes libdevice, whose functions have other bits on each GPU: omit --libdevice";
        return Err(CompileError::Configuration(reason.to_owned()));
    }
    options.insertions = request.insertions.to_vec();
    Ok(options)
}

pub(crate) type Failure = (Vec<Diagnostic>, CompileError);

fn failed(message: impl std::fmt::Display) -> Failure {
    (vec![Diagnostic::new(Severity::Error, message.to_string())], CompileError::Failed)
}

const INVALID_AFTER_PASSES: &str = "the module is invalid after the passes";
const PASS_FAILED: &str = "the pass";

/// Whether an error only names the step that failed. Errors with the reason precede it.
pub(crate) fn is_conclusion(d: &Diagnostic) -> bool {
    d.message == INVALID_AFTER_PASSES || d.message.starts_with(&format!("{PASS_FAILED} '"))
}

/// Converts an error of code generation: the configuration is invalid, or the module cannot be compiled.
fn not_generated(e: codegen::CodegenError) -> Failure {
    match e {
        codegen::CodegenError::Lost(_) => (vec![], CompileError::Internal(e.to_string())),
        e if e.is_configuration() => (vec![], CompileError::Configuration(e.to_string())),
        e => failed(e),
    }
}

/// Reads the module of a request, which may use preview features if the request allows them.
fn read_with<'c>(request: &CompileRequest<'_>, context: &'c Context) -> Result<Module<'c>, Failure> {
    if !request.preview || request.kind != InputKind::PublicBytecode {
        return read(context, request.input, request.kind, request.input_name);
    }
    let dialects = translate::dialects(context);
    let options = translate::ReadOptions { preview: true, dialects, ..translate::ReadOptions::default() };
    translate::import_with_options(context, request.input, &options).map_err(|e| {
        let messages = e.lines().into_iter().map(|l| Diagnostic::new(Severity::Error, l)).collect();
        (messages, CompileError::Input)
    })
}

/// Reads a module in bytecode or text. `name` is the file name for locations in text.
pub(crate) fn read<'c>(context: &'c Context, bytes: &[u8], kind: InputKind, name: &str) -> Result<Module<'c>, Failure> {
    let input = |messages| (messages, CompileError::Input);
    match kind {
        InputKind::PublicBytecode | InputKind::SpecBytecode => translate::import(context, bytes)
            .map_err(|e| input(e.lines().into_iter().map(|l| Diagnostic::new(Severity::Error, l)).collect())),
        InputKind::LlvmIr => {
            let text = "the input is LLVM IR, which can only be compiled to PTX";
            Err(input(vec![Diagnostic::new(Severity::Error, text)]))
        }
        InputKind::Text => {
            let wrong = |message: String| input(vec![Diagnostic::new(Severity::Error, message)]);
            let text = std::str::from_utf8(bytes).map_err(|e| wrong(format!("the text is not UTF-8: {e}")))?;
            // MLIR's lexer would take a NUL byte for the end of the text.
            if let Some((line, _)) = text.lines().enumerate().find(|(_, l)| l.contains('\0')) {
                return Err(wrong(format!("the text contains a NUL byte in line {}", line + 1)));
            }
            let name = if name.is_empty() { "-" } else { name };
            nesting::check(text).map_err(|e| {
                let place = Location::new(name, e.line, e.column);
                input(vec![Diagnostic::new(Severity::Error, e.to_string()).at(place)])
            })?;
            // MLIR itself reports errors in the text, with their locations.
            // SAFETY: the context is valid, and MLIR copies the text.
            let module = unsafe {
                let raw = ffi::mlirxModuleParse(context.to_raw(), raw_str(text), raw_str(name));
                Module::from_option_raw(raw).ok_or_else(|| input(vec![]))?
            };
            if let Some(deep) = nesting::deep_region(op_ref(module.as_operation().to_raw())) {
                let mut diagnostic = Diagnostic::new(Severity::Error, nesting::region_message());
                diagnostic.location = place(deep.location());
                return Err(input(vec![diagnostic]));
            }
            Ok(module)
        }
    }
}

/// The names of the entries of a cuda_tile program. All of them must appear in the generated code.
fn entries(module: &Module<'_>) -> Vec<String> {
    collect_ops(op_ref(module.as_operation().to_raw()), |op| EntryOp::cast(op).map(|e| e.sym_name().to_owned()))
}

/// The level of a module, judging by its earliest dialect, with an op of that dialect. A module without our dialects
/// is at the first level, so that all passes run.
fn level(module: &Module<'_>) -> (Level, Option<String>) {
    let mut found: Option<(Level, OpRef<'_>)> = None;
    walk(op_ref(module.as_operation().to_raw()), &mut |op| {
        let here = match dialect_of(op) {
            "cuda_tile" => Level::CudaTile,
            // In `nv_tileas` the number of warps is fixed. In a program of scalars nothing else shows the level.
            "nv_tileas" => Level::TileAs,
            "nv_tileaa" => match FuncOp::cast(op) {
                Some(function) if function.num_warps().is_some() => Level::TileAs,
                Some(_) => Level::TileAa,
                None => return,
            },
            _ => return,
        };
        if found.is_none_or(|(level, _)| here < level) {
            found = Some((here, op));
        }
    });
    found.map_or((Level::CudaTile, None), |(level, op)| (level, Some(op_name(op).to_owned())))
}

struct Job<'a> {
    request: &'a CompileRequest<'a>,
    options: &'a pipeline::Options,
    context: &'a Context,
    /// Whether memory is left to the exit of the process.
    last: bool,
    /// What the compiler has given up because of failures of earlier attempts.
    restarts: &'a Restarts,
    /// The cause of a failure in the passes, and the level of the input.
    cause: &'a RefCell<Option<(Cause, Level)>>,
    /// The programs after each pass, if requested.
    log: &'a Mutex<Log>,
}

/// The contents of a lock, ignoring poisoning.
fn unlocked<T>(guarded: Result<T, PoisonError<T>>) -> T {
    guarded.unwrap_or_else(PoisonError::into_inner)
}

impl Job<'_> {
    fn run(&self) -> Result<CompileOutput, Failure> {
        let started = Instant::now();
        let request = self.request;
        if request.kind == InputKind::LlvmIr {
            return self.generate(started);
        }
        let mut module = self.keep(read_with(request, self.context)?);
        let mut output = CompileOutput::default();
        let entries = entries(&module);
        let read = started.elapsed();
        let span = resume::Span::new(request, self.options, &module)?;
        let start = match self.request.emit {
            Emit::CudaTile => Level::CudaTile,
            _ => self.start(&module, &span)?,
        };
        self.restarts.mark(&module);
        if self.request.keep_snapshots {
            let boundaries = self.options.boundaries().drain(span.steps.clone()).collect();
            unlocked(self.log.lock()).begin(&module, start.emit(), boundaries);
        }
        if self.request.emit == Emit::CudaTile {
            output.text = print(&module);
            return Ok(output);
        }
        let libraries = link::read(request)?;
        let called = link::choose(&module, request, &libraries)?;
        let codes = if request.emit >= Emit::Llvm { link::llvm_code(&libraries, &called)? } else { vec![] };
        let stages = self.stages(start, &span)?;
        if self.request.keep_stages {
            output.stages.push((start.emit(), print(&module)));
        }
        if self.request.emit == start.emit() {
            output.text = print(&module);
            return Ok(output);
        }
        let nvvm = scope::enter(scope::COMPILE_NVVM);
        for (stage, managers) in &stages {
            unlocked(self.log.lock()).enter(stage.level().emit());
            for manager in managers {
                self.passes(&mut module, manager, start)?;
            }
            let emit = match stage {
                Stage::TileAa => Emit::TileAa,
                Stage::TileAs => Emit::TileAs,
                Stage::Llvm => break,
            };
            if self.request.emit == emit {
                output.text = print(&module);
                return Ok(output);
            }
            if self.request.keep_stages {
                output.stages.push((emit, print(&module)));
            }
        }
        if let Some(boundary) = &request.print_after {
            resume::label(&module, boundary);
            output.text = print(&module);
            return Ok(output);
        }
        let lowered = started.elapsed();
        if let (Some(triple), Some(host)) = (self.request.host, host_module(&module)) {
            output.host = codegen::host::object(host, triple).map_err(not_generated)?;
        }
        let llvm = self.keep(inkwell::context::Context::create());
        let gpu_module = self.gpu_module(&module)?;
        let kernels = codegen::names::kernels(gpu_module).map_err(|d| (vec![*d], CompileError::Failed))?;
        let known: HashSet<&String> = kernels.iter().collect();
        if let Some(lost) = entries.iter().find(|e| !known.contains(e)) {
            return Err((vec![], CompileError::Internal(format!("the passes lost the entry '{lost}'"))));
        }
        if self.request.remarks {
            walk(gpu_module, &mut |op| {
                if is_llvm_func(op) {
                    let name = attr(op, "sym_name").map(|name| string_attr(name).to_string());
                    output.locations.extend(name.zip(place(op.location())));
                }
            });
        }
        let backend = &self.request.backend;
        let libdevice = self.request.libdevice.as_deref();
        let code = self.keep(
            Code::translate(&llvm, gpu_module, self.code_options(), backend, (libdevice, &codes))
                .map_err(not_generated)?,
        );
        if self.request.instrumentation.print_llvm {
            eprintln!("; LLVM IR as translated\n{}", code.to_llvm());
        }
        code.optimize(backend).map_err(not_generated)?;
        if self.request.instrumentation.print_llvm {
            eprintln!("; LLVM IR as optimized\n{}", code.to_llvm());
        }
        let optimized = started.elapsed();
        if self.request.emit == Emit::Llvm {
            output.text = code.to_llvm();
            return Ok(output);
        }
        if self.request.keep_stages {
            output.stages.push((Emit::Llvm, code.to_llvm()));
        }
        drop(nvvm);
        let _serialize = scope::enter(scope::SERIALIZE_GPU_MODULE);
        let text = code.to_ptx(backend, self.request.debug, &kernels).map_err(not_generated)?;
        output.text = link::code(text, request, &libraries, &called)?;
        if self.request.instrumentation.timing {
            let ms = |d: std::time::Duration| d.as_secs_f64() * 1e3;
            eprintln!(
                "timing: read {:.1} ms, passes {:.1} ms, LLVM {:.1} ms, NVPTX {:.1} ms, total {:.1} ms",
                ms(read),
                ms(lowered - read),
                ms(optimized - lowered),
                ms(started.elapsed() - optimized),
                ms(started.elapsed())
            );
        }
        Ok(output)
    }

    /// Compiles an input in LLVM IR, which is already linked and optimized: only code generation remains.
    fn generate(&self, started: Instant) -> Result<CompileOutput, Failure> {
        let request = self.request;
        if request.emit < Emit::Llvm {
            return Err((vec![], self.emit_precedes_input(Level::Llvm)));
        }
        resume::reject(request, "the input is LLVM IR, which no passes compile")?;
        self.check_insertions(Level::Llvm)?;
        let llvm = self.keep(inkwell::context::Context::create());
        let name = if request.input_name.is_empty() { "-" } else { request.input_name };
        let wrong = |e: codegen::CodegenError| match not_generated(e) {
            (messages, CompileError::Failed) => (messages, CompileError::Input),
            other => other,
        };
        let code = Code::read(&llvm, request.input, name, self.code_options(), &request.backend).map_err(wrong)?;
        let code = self.keep(code);
        let kernels = code.kernels().map_err(not_generated)?;
        let mut output = CompileOutput::default();
        if request.emit == Emit::Llvm {
            output.text = code.to_llvm();
            return Ok(output);
        }
        if request.keep_stages {
            output.stages.push((Emit::Llvm, code.to_llvm()));
        }
        let read = started.elapsed();
        let _serialize = scope::enter(scope::SERIALIZE_GPU_MODULE);
        output.text = code.to_ptx(&request.backend, request.debug, &kernels).map_err(not_generated)?;
        if request.instrumentation.timing {
            let ms = |d: std::time::Duration| d.as_secs_f64() * 1e3;
            let (all, read) = (started.elapsed(), read);
            eprintln!("timing: read {:.1} ms, NVPTX {:.1} ms, total {:.1} ms", ms(read), ms(all - read), ms(all));
        }
        Ok(output)
    }

    fn code_options(&self) -> codegen::Options {
        codegen::Options {
            target: self.options.target,
            opt_level: self.options.opt_level,
            lines: self.options.emission() != Emission::None,
        }
    }

    /// The level of the input: the given level, if the module is compatible with it, or else the detected one.
    fn start(&self, module: &Module<'_>, span: &resume::Span) -> Result<Level, Failure> {
        let (found, op) = level(module);
        if let Some(resumed) = &span.resumed {
            resumed.check(self.request, found, op.as_deref())?;
            let precedes = self.request.emit < resumed.reached.emit();
            return if precedes { Err((vec![], self.emit_precedes_input(resumed.reached))) } else { Ok(resumed.start) };
        }
        let start = self.request.start_from.unwrap_or(found);
        if let Some(op) = op.filter(|_| start > found) {
            let text = format!("--start-from={} does not match the input, which contains '{op}'", start.emit().name());
            return Err((vec![], CompileError::Configuration(text)));
        }
        if self.request.emit < start.emit() { Err((vec![], self.emit_precedes_input(start))) } else { Ok(start) }
    }

    /// The error for a requested stage that precedes the level of the input.
    fn emit_precedes_input(&self, start: Level) -> CompileError {
        let (emit, start) = (self.request.emit.name(), start.emit().name());
        CompileError::Configuration(format!("--emit={emit} precedes the level of the input, which is {start}"))
    }

    /// Wraps a value that is dropped unless the process exits soon.
    fn keep<T>(&self, value: T) -> Kept<T> {
        Kept { value: ManuallyDrop::new(value), forever: self.last }
    }

    /// The pass managers of each stage, for the pipeline of the optimization level and the finishing pipeline. All of
    /// them are built before the program is changed, from the text that `--dump-pass-pipeline` prints. Stages outside
    /// the range from the level of the input to the requested stage are omitted, as are passes outside the span.
    fn stages(&self, start: Level, span: &resume::Span) -> Result<Vec<(Stage, Vec<PassManager<'_>>)>, Failure> {
        self.check_insertions(start)?;
        let mut stages = vec![];
        for stage in Stage::ALL {
            if self.runs(stage, start) {
                let texts = self.options.pipelines(stage, &span.steps);
                let managers = texts.iter().map(|text| self.manager(text)).collect::<Result<_, _>>()?;
                stages.push((stage, managers));
            }
        }
        Ok(stages)
    }

    /// Whether the passes of a stage run.
    fn runs(&self, stage: Stage, start: Level) -> bool {
        start < stage.level() && stage.level().emit() <= self.request.emit
    }

    /// Rejects the first insertion with invalid passes, or with passes that would not run.
    fn check_insertions(&self, start: Level) -> Result<(), Failure> {
        for insertion in &self.options.insertions {
            let wrong =
                |why: &dyn Display| (vec![], CompileError::Configuration(format!("--insert-pass={insertion}: {why}")));
            let stages = self.options.stages_of(insertion).map_err(|e| wrong(&e))?;
            let manager = PassManager::new(self.context);
            let text = format!("builtin.module({})", insertion.pipeline);
            parse_pass_pipeline(manager.as_operation_pass_manager(), &text).map_err(|e| wrong(&e))?;
            if !stages.into_iter().any(|stage| self.runs(stage, start)) {
                return Err(wrong(
                    &"no pass at that position runs between the level of the input and the emitted stage",
                ));
            }
        }
        Ok(())
    }

    fn manager(&self, text: &str) -> Result<PassManager<'_>, Failure> {
        let manager = PassManager::new(self.context);
        parse_pass_pipeline(manager.as_operation_pass_manager(), text).map_err(failed)?;
        // Verifying after every pass takes a third of the passes' time, so release builds verify only after a stage.
        // Passes of plugins are not trusted that far.
        manager.enable_verifier(cfg!(debug_assertions) || !self.options.insertions.is_empty());
        let instrumentation = &self.request.instrumentation;
        // SAFETY: the manager is valid, and the request outlives it.
        unsafe {
            if instrumentation.timing {
                ffi::mlirxPassManagerEnableTiming(manager.to_raw());
            }
            if instrumentation.print_ir_before_all || instrumentation.print_ir_after_all {
                ffi::mlirxPassManagerEnableIRPrintingFiltered(
                    manager.to_raw(),
                    Some(is_printed),
                    std::ptr::from_ref(instrumentation).cast_mut().cast(),
                    true,
                    false,
                );
            }
        }
        Ok(manager)
    }

    /// Runs one of the managers.
    fn passes(&self, module: &mut Module<'_>, manager: &PassManager<'_>, start: Level) -> Result<(), Failure> {
        let failing = Mutex::new(Failing::default());
        // SAFETY: the manager is valid; the instrumentation is only called while it runs, and `failing` outlives
        // that. Each manager runs once.
        unsafe {
            ffi::mlirxPassManagerAddInstrumentation(
                manager.to_raw(),
                ffi::MlirxInstrumentation {
                    before: None,
                    after: Some(note_failure),
                    user: (&raw const failing).cast_mut().cast(),
                },
            );
        }
        if self.request.keep_snapshots {
            let noting = snapshots::instrumentation(self.log);
            // SAFETY: the manager is valid, and the log outlives its run.
            unsafe { ffi::mlirxPassManagerAddInstrumentation(manager.to_raw(), noting) };
        }
        let result = manager.run(module);
        let Failing { pass, panic, blame } = unlocked(failing.into_inner());
        let fails_later = || !cfg!(debug_assertions) && !module.as_operation().verify();
        let (pass, error) = match (result, panic) {
            (Ok(()), _) if !fails_later() => return Ok(()),
            (Ok(()), _) => ("verifier".to_owned(), failed(INVALID_AFTER_PASSES)),
            (Err(_), _) if pass.is_empty() => return Err((vec![], CompileError::Failed)),
            (Err(_), Some(text)) => {
                let text = format!("the pass '{pass}' panicked: {text}");
                (pass, (vec![], CompileError::Internal(text)))
            }
            // The pass, or the verifier after it, has reported the reason.
            (Err(_), None) => {
                let text = format!("{PASS_FAILED} '{pass}' failed");
                (pass, failed(text))
            }
        };
        let root = op_ref(module.as_operation().to_raw());
        let is_short = gpu_modules(root).into_iter().any(|m| SHARED_EXCEEDED.is_on(m));
        let is_panic = matches!(error.1, CompileError::Internal(_));
        let blame = blame.or_else(|| if is_panic || is_short { None } else { restart::invalid_function(module) });
        self.cause.replace(Some((Cause { pass, blame, is_short }, start)));
        Err(error)
    }

    fn gpu_module<'m>(&self, module: &'m Module<'_>) -> Result<OpRef<'m>, Failure> {
        let modules = gpu_modules(op_ref(module.as_operation().to_raw()));
        match modules[..] {
            [one] => Ok(one),
            [] => Err(failed("the input does not contain a cuda_tile.module")),
            _ => Err(failed(format!(
                "the input contains {} cuda_tile.modules, but only one can be compiled",
                modules.len()
            ))),
        }
    }
}

/// A value that is either dropped or leaked.
struct Kept<T> {
    value: ManuallyDrop<T>,
    forever: bool,
}

impl<T> Deref for Kept<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Kept<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T> Drop for Kept<T> {
    fn drop(&mut self) {
        if !self.forever {
            // SAFETY: dropped only here, and the wrapper is not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        }
    }
}

/// The first pass that failed, the message if it panicked, and the loop or function at fault if the pass reported it.
#[derive(Default)]
struct Failing {
    pass: String,
    panic: Option<String>,
    blame: Option<Blame>,
}

/// Records the first pass that failed.
unsafe extern "C" fn note_failure(
    pass: mlir_sys::MlirStringRef,
    _: mlir_sys::MlirOperation,
    failed: bool,
    user: *mut std::ffi::c_void,
) {
    // SAFETY: `user` is the record passed by `Job::passes`; names are valid as long as their pass.
    let (pass, failing) = unsafe { (raw_to_str(pass), &*user.cast::<Mutex<Failing>>()) };
    let mut failing = failing.lock().unwrap_or_else(PoisonError::into_inner);
    if failed && failing.pass.is_empty() {
        *failing =
            Failing { pass: pass.to_owned(), panic: dialect::pass::take_panic(), blame: dialect::pass::take_blame() };
    }
}

/// Whether to print the module before or after a pass, as the [`Instrumentation`] that `wanted` points to says.
unsafe extern "C" fn is_printed(_: mlir_sys::MlirStringRef, before: bool, wanted: *mut std::ffi::c_void) -> bool {
    // SAFETY: `wanted` is the pointer that `manager` passed with this function; it is valid as long as the request.
    let wanted = unsafe { &*wanted.cast::<Instrumentation>() };
    if before { wanted.print_ir_before_all } else { wanted.print_ir_after_all }
}

/// The module of `tileir-emit-host-wrapper`.
fn host_module<'m>(module: &'m Module<'_>) -> Option<OpRef<'m>> {
    let around = op_ref(module.as_operation().to_raw());
    let ops = entry_block(region(around, 0)).into_iter().flat_map(ops_of);
    ops.into_iter().find(|o| is_module(*o) && !is_gpu_module(*o))
}

fn print(module: &Module<'_>) -> String {
    snapshots::text(op_ref(module.as_operation().to_raw()))
}

mod diagnostics;
mod host_functions;
mod link;
pub mod locations;
mod restart;
mod resume;
pub mod snapshots;
#[cfg(test)]
mod tests;
mod trial;
mod wrapped;
