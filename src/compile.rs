//! The compiler behind the driver: bytes in, the text of a stage out.

use crate::{
    codegen::{self, Code},
    dialect::{
        self,
        cuda_tile::EntryOp,
        debug_scope::Emission,
        fallback::Blame,
        ffi,
        gpu_module::{SHARED_EXCEEDED, gpu_modules},
        location,
        nv_tileaa::FuncOp,
        remark,
        rt::*,
        upstream::{dialect_of, is_llvm_func},
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
use melior::{Context, diagnostic::DiagnosticSeverity, ir::Module, pass::PassManager, utility::parse_pass_pipeline};
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
    CompileError, CompileOutput, CompileRequest, Compiler, Emit, InputKind, Instrumentation, Level, scope,
};

/// Compiles in this process, one context a compilation.
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

/// [`InProcess`] for a process that ends after one compilation: what is not needed any more is left to that end.
pub struct OneShot;

impl Compiler for OneShot {
    fn compile(
        &self,
        request: &CompileRequest<'_>,
        report: &mut dyn FnMut(Diagnostic),
    ) -> Result<CompileOutput, CompileError> {
        // Giving the memory back takes as long as a pass, and ptxas waits meanwhile.
        let session = ManuallyDrop::new(Session { last: true, ..Session::new() });
        session.compile(request, report)
    }
}

/// Compiles several programs in one context, which takes longer to set up than a small kernel to compile. A context
/// keeps every type and attribute that it ever saw: whoever compiles thousands of programs takes a new one now and
/// then.
pub struct Session {
    context: Context,
    /// The process ends after the next compilation.
    last: bool,
    /// Defects are errors, whatever requests say.
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
        Session { context: dialect::context(), last: false, strict: restart::is_strict_environment() }
    }
}

impl Session {
    /// The same session, which gets round defects whatever the environment says.
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
                // That there is no way at all is said of the last try.
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

/// What `tile-run` needs of the compiler.
pub const TOOLS: tile_launch::Tools<'static> =
    tile_launch::Tools { compiler: &InProcess, reader: &program, optional_passes: &optional_passes };

/// The optional passes of a compilation, in the order in which `pass-limit` counts them.
///
/// # Errors
/// The request's options are wrong.
pub fn optional_passes(request: &CompileRequest<'_>) -> Result<Vec<String>, CompileError> {
    let steps = options(request)?.steps().into_iter();
    Ok(steps.filter(|step| step.optional).map(|step| step.name().to_owned()).collect())
}

/// Tile IR as a program of the reference interpreter.
pub fn program(
    input: &[u8],
    kind: InputKind,
    report: &mut dyn FnMut(Diagnostic),
) -> Result<tile_interp::program::Program, CompileError> {
    let context = dialect::context();
    let messages = Rc::new(RefCell::new(vec![]));
    let sink = messages.clone();
    let handler = context.attach_diagnostic_handler(move |d| {
        sink.borrow_mut().push(convert(&d));
        true
    });
    let result = with_stack(|| {
        read(&context, input, kind, "").and_then(|module| {
            translate::program(&module)
                .map_err(|e| (vec![Diagnostic::new(Severity::Error, e.to_string())], CompileError::Input))
        })
    });
    context.detach_diagnostic_handler(handler);
    for message in messages.borrow_mut().drain(..) {
        report(message);
    }
    result.map_err(|(messages, error)| {
        messages.into_iter().for_each(report);
        error
    })
}

/// Loads the plugins of a request, and the passes that it inserts from then on are known.
fn load_plugins(request: &CompileRequest<'_>) -> Result<(), CompileError> {
    let wrong = |file: &Path, e| CompileError::Configuration(format!("the plugin '{}' {e}", file.display()));
    request.plugins.iter().try_for_each(|file| plugin::load(file).map_err(|e| wrong(file, e)))
}

/// Options of the pipeline: defaults, then its text, then the command's flags. The driver has already put flags behind
/// the options of the text that say the same.
fn options(request: &CompileRequest<'_>) -> Result<pipeline::Options, CompileError> {
    let mut options = pipeline::Options {
        opt_level: request.opt_level,
        target: request.target,
        debug: request.debug,
        strategy: pipeline::Strategy::strongest(request.target),
        ..pipeline::Options::default()
    };
    for (name, value) in request.pipeline_options {
        options.set(name, value).map_err(|e| CompileError::Configuration(e.to_string()))?;
    }
    options.insertions = request.insertions.to_vec();
    Ok(options)
}

pub(crate) type Failure = (Vec<Diagnostic>, CompileError);

fn failed(message: impl std::fmt::Display) -> Failure {
    (vec![Diagnostic::new(Severity::Error, message.to_string())], CompileError::Failed)
}

/// Why there is no code: what was asked for cannot be, or the module at hand cannot.
fn not_generated(e: codegen::CodegenError) -> Failure {
    match e {
        codegen::CodegenError::Lost(_) => (vec![], CompileError::Internal(e.to_string())),
        e if e.is_configuration() => (vec![], CompileError::Configuration(e.to_string())),
        e => failed(e),
    }
}

/// The module in bytecode or text; `name` is that of the file, for places in text.
pub(crate) fn read<'c>(context: &'c Context, bytes: &[u8], kind: InputKind, name: &str) -> Result<Module<'c>, Failure> {
    let input = |messages| (messages, CompileError::Input);
    match kind {
        InputKind::PublicBytecode | InputKind::SpecBytecode => translate::import(context, bytes)
            .map_err(|e| input(e.lines().into_iter().map(|l| Diagnostic::new(Severity::Error, l)).collect())),
        InputKind::LlvmIr => {
            let text = "the input is LLVM IR, which only PTX can be made of";
            Err(input(vec![Diagnostic::new(Severity::Error, text)]))
        }
        InputKind::Text => {
            let wrong = |message: String| input(vec![Diagnostic::new(Severity::Error, message)]);
            let text = std::str::from_utf8(bytes).map_err(|e| wrong(format!("the text is not UTF-8: {e}")))?;
            // To MLIR's lexer the byte is the end of the text.
            if let Some((line, _)) = text.lines().enumerate().find(|(_, l)| l.contains('\0')) {
                return Err(wrong(format!("the text has a NUL byte in line {}", line + 1)));
            }
            let name = if name.is_empty() { "-" } else { name };
            nesting::check(text).map_err(|e| {
                let place = Location::new(name, e.line, e.column);
                input(vec![Diagnostic::new(Severity::Error, e.to_string()).at(place)])
            })?;
            // MLIR itself reports what is wrong, at the place in the text.
            // SAFETY: the context is alive, and MLIR copies the text.
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

/// The names of the entries of a program in the public language: each of them must be in what is made of it.
fn entries(module: &Module<'_>) -> Vec<String> {
    collect_ops(op_ref(module.as_operation().to_raw()), |op| EntryOp::cast(op).map(|e| e.sym_name().to_owned()))
}

/// The level whose text the module is, by the earliest dialect in it; with an op that shows it. Without any of our
/// dialects that is the first: all passes run.
fn level(module: &Module<'_>) -> (Level, Option<String>) {
    let mut found: Option<(Level, OpRef<'_>)> = None;
    walk(op_ref(module.as_operation().to_raw()), &mut |op| {
        let here = match dialect_of(op) {
            "cuda_tile" => Level::CudaTile,
            // What is decided in `nv_tileas` begins with the number of warps; a program of scalars has nothing else.
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
    /// Nothing is freed that the end of the process frees.
    last: bool,
    /// What failures before this try have made the compiler give up.
    restarts: &'a Restarts,
    /// Why passes failed, and the level of the input.
    cause: &'a RefCell<Option<(Cause, Level)>>,
    /// What the passes did, where that is wanted.
    log: &'a Mutex<Log>,
}

/// What a lock guards, whoever panicked with it.
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
        let mut module = self.keep(read(self.context, request.input, request.kind, request.input_name)?);
        let mut output = CompileOutput::default();
        let entries = entries(&module);
        let read = started.elapsed();
        let start = match self.request.emit {
            Emit::CudaTile => Level::CudaTile,
            _ => self.start(&module)?,
        };
        self.restarts.mark(&module);
        if self.request.keep_snapshots {
            unlocked(self.log.lock()).begin(&module, start.emit());
        }
        if self.request.emit == Emit::CudaTile {
            output.text = print(&module);
            return Ok(output);
        }
        let stages = self.stages(start)?;
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
        let lowered = started.elapsed();
        let llvm = self.keep(inkwell::context::Context::create());
        let gpu_module = self.gpu_module(&module)?;
        let kernels = codegen::names::kernels(gpu_module).map_err(|d| (vec![*d], CompileError::Failed))?;
        let known: HashSet<&String> = kernels.iter().collect();
        if let Some(lost) = entries.iter().find(|e| !known.contains(e)) {
            return Err((vec![], CompileError::Internal(format!("the entry '{lost}' is lost in the passes"))));
        }
        if self.request.remarks {
            walk(gpu_module, &mut |op| {
                if is_llvm_func(op) {
                    let name = attr(op, "sym_name").map(|name| string_attr(name).to_string());
                    output.places.extend(name.zip(place(op.location())));
                }
            });
        }
        let backend = &self.request.backend;
        let libdevice = self.request.libdevice.as_deref();
        let code = self
            .keep(Code::translate(&llvm, gpu_module, self.code_options(), backend, libdevice).map_err(not_generated)?);
        if self.request.instrumentation.print_llvm {
            eprintln!("; LLVM IR as translated\n{}", code.to_llvm());
        }
        code.optimise(backend).map_err(not_generated)?;
        if self.request.instrumentation.print_llvm {
            eprintln!("; LLVM IR as optimised\n{}", code.to_llvm());
        }
        let optimised = started.elapsed();
        if self.request.emit == Emit::Llvm {
            output.text = code.to_llvm();
            return Ok(output);
        }
        if self.request.keep_stages {
            output.stages.push((Emit::Llvm, code.to_llvm()));
        }
        drop(nvvm);
        let _serialize = scope::enter(scope::SERIALIZE_GPU_MODULE);
        output.text = code.to_ptx(backend, self.request.debug, &kernels).map_err(not_generated)?;
        if self.request.instrumentation.timing {
            let ms = |d: std::time::Duration| d.as_secs_f64() * 1e3;
            eprintln!(
                "timing: read {:.1} ms, passes {:.1} ms, LLVM {:.1} ms, NVPTX {:.1} ms, in all {:.1} ms",
                ms(read),
                ms(lowered - read),
                ms(optimised - lowered),
                ms(started.elapsed() - optimised),
                ms(started.elapsed())
            );
        }
        Ok(output)
    }

    /// The rest for an input in LLVM IR, which is linked and optimised: code generation alone.
    fn generate(&self, started: Instant) -> Result<CompileOutput, Failure> {
        let request = self.request;
        if request.emit < Emit::Llvm {
            return Err((vec![], self.is_behind(Level::Llvm)));
        }
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
            eprintln!("timing: read {:.1} ms, NVPTX {:.1} ms, in all {:.1} ms", ms(read), ms(all - read), ms(all));
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

    /// The level of the input: the one that was given, if the module can be of it, or the one that is found.
    fn start(&self, module: &Module<'_>) -> Result<Level, Failure> {
        let (found, op) = level(module);
        let start = self.request.start_from.unwrap_or(found);
        if let Some(op) = op.filter(|_| start > found) {
            let text = format!("--start-from={} does not fit the input, which has '{op}'", start.emit().name());
            return Err((vec![], CompileError::Configuration(text)));
        }
        if self.request.emit < start.emit() { Err((vec![], self.is_behind(start))) } else { Ok(start) }
    }

    /// What was asked for stands before the input.
    fn is_behind(&self, start: Level) -> CompileError {
        let (emit, start) = (self.request.emit.name(), start.emit().name());
        CompileError::Configuration(format!("--emit={emit} is of an earlier level than the input, which is of {start}"))
    }

    /// The value, which is dropped unless the process ends soon.
    fn keep<T>(&self, value: T) -> Kept<T> {
        Kept { value: ManuallyDrop::new(value), forever: self.last }
    }

    /// The pass managers of the tier's pipeline and of the one that finishes, by stage: all of them are built before
    /// the program is touched, from the text that `--dump-pass-pipeline` prints. A stage that is not asked for,
    /// or that the input is behind, has none.
    fn stages(&self, start: Level) -> Result<Vec<(Stage, Vec<PassManager<'_>>)>, Failure> {
        self.check_insertions(start)?;
        let mut stages = vec![];
        for stage in Stage::ALL {
            if self.runs(stage, start) {
                let texts = self.options.pipelines(stage);
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

    /// An error for the first insertion whose passes are none, or would not run.
    fn check_insertions(&self, start: Level) -> Result<(), Failure> {
        for insertion in &self.options.insertions {
            let wrong =
                |why: &dyn Display| (vec![], CompileError::Configuration(format!("--insert-pass={insertion}: {why}")));
            let stages = self.options.stages_of(insertion).map_err(|e| wrong(&e))?;
            let manager = PassManager::new(self.context);
            let text = format!("builtin.module({})", insertion.pipeline);
            parse_pass_pipeline(manager.as_operation_pass_manager(), &text).map_err(|e| wrong(&e))?;
            if !stages.into_iter().any(|stage| self.runs(stage, start)) {
                return Err(wrong(&"no pass of that place runs between the level of the input and what is emitted"));
            }
        }
        Ok(())
    }

    fn manager(&self, text: &str) -> Result<PassManager<'_>, Failure> {
        let manager = PassManager::new(self.context);
        parse_pass_pipeline(manager.as_operation_pass_manager(), text).map_err(failed)?;
        // Between all passes, verifying takes a third of their time: releases verify what a stage leaves.
        // The passes of others are not trusted so far.
        manager.enable_verifier(cfg!(debug_assertions) || !self.options.insertions.is_empty());
        let instrumentation = &self.request.instrumentation;
        // SAFETY: the manager is alive, and the request outlives it.
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
        // SAFETY: the manager is alive; the instrumentation is called while it runs, and the record outlives that. Each
        // manager runs once.
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
            // SAFETY: the manager is alive, and the log outlives its run.
            unsafe { ffi::mlirxPassManagerAddInstrumentation(manager.to_raw(), noting) };
        }
        let result = manager.run(module);
        let Failing { pass, panic, blame } = unlocked(failing.into_inner());
        let fails_later = || !cfg!(debug_assertions) && !module.as_operation().verify();
        let (pass, error) = match (result, panic) {
            (Ok(()), _) if !fails_later() => return Ok(()),
            (Ok(()), _) => ("verifier".to_owned(), failed("what the passes left is not valid")),
            (Err(_), _) if pass.is_empty() => return Err((vec![], CompileError::Failed)),
            (Err(_), Some(text)) => {
                let text = format!("the pass '{pass}' panicked: {text}");
                (pass, (vec![], CompileError::Internal(text)))
            }
            // The pass, or the verifier after it, has said why.
            (Err(_), None) => {
                let text = format!("the pass '{pass}' failed");
                (pass, failed(text))
            }
        };
        let root = op_ref(module.as_operation().to_raw());
        let is_short = gpu_modules(root).into_iter().any(|m| discardable_attr(m, SHARED_EXCEEDED).is_some());
        let is_panic = matches!(error.1, CompileError::Internal(_));
        let blame = blame.or_else(|| if is_panic || is_short { None } else { restart::invalid_function(module) });
        self.cause.replace(Some((Cause { pass, blame, is_short }, start)));
        Err(error)
    }

    fn gpu_module<'m>(&self, module: &'m Module<'_>) -> Result<OpRef<'m>, Failure> {
        let modules = gpu_modules(op_ref(module.as_operation().to_raw()));
        match modules[..] {
            [one] => Ok(one),
            [] => Err(failed("the input holds no cuda_tile.module")),
            _ => Err(failed(format!("the input holds {} cuda_tile.modules; one can be compiled", modules.len()))),
        }
    }
}

/// A value that is dropped, or left as it is.
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
            // SAFETY: dropped here only, and the wrapper is not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        }
    }
}

/// The first pass that failed, the message of the panic if that is why, and where, if the pass said so.
#[derive(Default)]
struct Failing {
    pass: String,
    panic: Option<String>,
    blame: Option<Blame>,
}

/// Keeps the first pass that failed.
unsafe extern "C" fn note_failure(
    pass: mlir_sys::MlirStringRef,
    _: mlir_sys::MlirOperation,
    failed: bool,
    user: *mut std::ffi::c_void,
) {
    // SAFETY: `user` is the record that `Job::passes` hands over; names live as long as their pass.
    let (pass, failing) = unsafe { (raw_to_str(pass), &*user.cast::<Mutex<Failing>>()) };
    let mut failing = failing.lock().unwrap_or_else(PoisonError::into_inner);
    if failed && failing.pass.is_empty() {
        *failing =
            Failing { pass: pass.to_owned(), panic: dialect::pass::take_panic(), blame: dialect::pass::take_blame() };
    }
}

/// Whether the module is printed on this side of a pass, as the [`Instrumentation`] behind `wanted` says.
unsafe extern "C" fn is_printed(_: mlir_sys::MlirStringRef, before: bool, wanted: *mut std::ffi::c_void) -> bool {
    // SAFETY: it is what `manager` has given with this function, and lives as long as the request.
    let wanted = unsafe { &*wanted.cast::<Instrumentation>() };
    if before { wanted.print_ir_before_all } else { wanted.print_ir_after_all }
}

fn print(module: &Module<'_>) -> String {
    let mut text = shown(&module.as_operation());
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn convert(d: &melior::diagnostic::Diagnostic<'_>) -> Diagnostic {
    let severity = match d.severity() {
        DiagnosticSeverity::Error => Severity::Error,
        DiagnosticSeverity::Warning => Severity::Warning,
        _ => Severity::Remark,
    };
    let mut out = Diagnostic::new(severity, shown(d));
    out.location = place(d.location());
    for i in 0..d.note_count() {
        let Ok(note) = d.note(i) else { continue };
        out = match place(note.location()) {
            Some(at) => out.note_at(shown(&note), at),
            None => out.note(shown(&note)),
        };
    }
    out
}

fn place(l: melior::ir::Location<'_>) -> Option<Location> {
    location::file_line(l).map(|p| Location::new(p.file, p.line, p.column))
}

pub mod locations;
mod restart;
pub mod snapshots;
#[cfg(test)]
mod tests;
