//! Compiles a handle's bytecode to a cubin.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tile_diag::{Code, Diagnostic, Severity, render};
use tile_driver::{
    cache,
    cl::Parsed,
    hostobj::{self, HostArch, HostOs},
    isolated::Isolated,
    options,
    ptxas::{self, Job},
    toolchain::{self, Surroundings},
};
use tile_interface::{Backend, CompileError, CompileRequest, Compiler, DebugInfo, Emit, InputKind, Instrumentation};
use tile_targets::{TARGETS, Target};

use crate::handle::{Handle, Source};
use crate::observe::{Word, report};

/// The architecture and operating system of the host, if the combination exists.
pub fn host(arch: i32, os: i32) -> Option<(HostArch, HostOs)> {
    let os = match os {
        0 => HostOs::Linux,
        1 => HostOs::Windows,
        _ => return None,
    };
    let arch = match arch {
        0 => HostArch::X86_64,
        1 => HostArch::Aarch64,
        2 if os == HostOs::Windows => HostArch::Arm64Ec,
        _ => return None,
    };
    Some((arch, os))
}

/// Embeds a cubin in a host object, with the launch functions of its kernels. `None` after a diagnostic.
pub fn host_object(handle: &Handle, cubin: &[u8]) -> Option<Vec<u8>> {
    let (arch, os) = host(handle.host_arch(), handle.host_os())?;
    let name = handle.output_name();
    let stem = hostobj::symbol_stem(Path::new(if name.is_empty() { "elf.o" } else { &name }));
    let launch = match hostobj::triple(arch, os) {
        Some(triple) => launch_functions(handle, triple)?,
        None => {
            report(Word::None, handle.as_ptr(), &hostobj::without_launch_functions());
            vec![]
        }
    };
    let object = hostobj::object(cubin, target(handle.gpu_id())?, &stem, (arch, os), &launch);
    object
        .map_err(|e| {
            report(Word::None, handle.as_ptr(), &Diagnostic::error(Code::Internal, format!("internal error: {e}")))
        })
        .ok()
}

/// Compiles the program again, for the host's launch functions. Most callers only need the cubin, which may come from
/// the cache. `None` after diagnostics.
fn launch_functions(handle: &Handle, triple: &'static str) -> Option<Vec<u8>> {
    let Source { input, options } = handle.source()?;
    let kind = crate::kind_of(&input).ok()?;
    let core = handle.core();
    let scratch = scratch();
    let isolated = core.as_deref().map(|program| Isolated { program, scratch: Path::new(&scratch), timeout: None });
    let request = CompileRequest { host: Some(triple), ..request(handle, (&input, kind), &options)? };
    // The messages of the compilation have been reported.
    let mut errors = vec![];
    let result = compiler(isolated.as_ref()).compile(&request, &mut |d| {
        errors.extend(Some(d).filter(|d| d.severity == Severity::Error));
    });
    if let Err(CompileError::Configuration(text) | CompileError::Internal(text)) = &result {
        errors.push(Diagnostic::error(Code::Internal, text.clone()));
    }
    errors.iter().filter(|_| result.is_err()).for_each(|d| report(Word::None, handle.as_ptr(), d));
    result.ok().map(|output| output.host)
}

fn scratch() -> OsString {
    std::env::var_os("TMPDIR").filter(|v| !v.is_empty()).unwrap_or_else(|| "/tmp".into())
}

fn compiler<'a>(isolated: Option<&'a Isolated<'a>>) -> &'a dyn Compiler {
    match isolated {
        Some(isolated) => isolated,
        None => &tileiras::compile::InProcess,
    }
}

fn debug_of(handle: &Handle) -> DebugInfo {
    match (handle.device_debug(), handle.lineinfo()) {
        (true, _) => DebugInfo::Full,
        (false, true) => DebugInfo::Lines,
        (false, false) => DebugInfo::None,
    }
}

/// The request to translate a handle's program to PTX.
fn request<'a>(
    handle: &Handle,
    (input, kind): (&'a [u8], InputKind),
    pipeline_options: &'a [(String, String)],
) -> Option<CompileRequest<'a>> {
    Some(CompileRequest {
        opt_level: u8::try_from(handle.opt_level()).ok()?,
        debug: debug_of(handle),
        pipeline_options,
        backend: handle.libnvvm().map_or(Backend::Llvm, Backend::LibNvvm),
        ..CompileRequest::new(input, kind, target(handle.gpu_id())?)
    })
}

pub fn target(gpu_id: i32) -> Option<&'static Target> {
    TARGETS.iter().find(|t| u32::try_from(gpu_id) == Ok(t.sm))
}

/// Reads and verifies the input. `Err` holds the messages for an input that is not valid Tile IR, the cause first.
pub fn probe(input: &[u8]) -> Result<(), Vec<Diagnostic>> {
    use tile_interface::NotTileIr;
    let error = |text: &str| Diagnostic::new(Severity::Error, text);
    let not_bytecode = error("input does not correspond to Tile IR bytecode");
    match crate::kind_of(input) {
        Ok(InputKind::LlvmIr) => Ok(()),
        Ok(kind) => {
            let mut causes = vec![];
            let result = tileiras::compile::verify(input, kind, &mut |d| causes.push(d));
            result.map_err(|_| [causes, vec![not_bytecode]].concat())
        }
        Err(NotTileIr::Unknown) => Err(vec![not_bytecode]),
        Err(NotTileIr::MlirBytecode) => {
            Err(vec![error("failed to parse IR bytecode (it looks like MLIR bytecode instead)")])
        }
    }
}

/// Compiles to a cubin. `None` after diagnostics.
///
/// # Safety
/// The embedder has kept the input and the CUDA root unchanged.
pub unsafe fn run(handle: &Handle) -> Option<Vec<u8>> {
    let output = handle.output_name();
    // The output's name distinguishes the messages of several compilations.
    let report = |d: &Diagnostic| match (d.severity, output.as_str()) {
        (Severity::Error, name) if !name.is_empty() => {
            report(Word::None, handle.as_ptr(), &d.clone().note(format!("while compiling '{name}'")));
        }
        _ => report(Word::None, handle.as_ptr(), d),
    };
    // These messages are cached with the output.
    let messages = RefCell::new(cache::Messages::default());
    let tell = |d: &Diagnostic| {
        messages.borrow_mut().add_diagnostic(d);
        report(d);
    };
    let relay = |text: &str| text.lines().for_each(|line| report(&Diagnostic::new(Severity::Note, line)));
    // SAFETY: guaranteed by the caller.
    let (input, root) = unsafe { (handle.input(), handle.cuda_root()) };
    let target = target(handle.gpu_id())?;
    let kind = crate::kind_of(input).map_err(|e| tell(&Diagnostic::error(Code::NotTileIr, e.to_string()))).ok()?;
    let opt_level = u8::try_from(handle.opt_level()).ok()?;
    let plain = handle.pipeline_options();
    let extended: Vec<_> = plain.iter().cloned().chain([(ptxas::EXTENDED_SMEM.into(), "true".into())]).collect();
    let scratch = scratch();
    let core = handle.core();
    let mut surroundings = Surroundings::of_process();
    if let Some(root) = root {
        surroundings.cuda_variables.insert(0, ("cuda_root", OsStr::from_bytes(root).to_owned()));
    }
    let warn = |text: String| report(&Diagnostic::warning(text));
    let slot = slot(handle, target, opt_level, (input, kind), &surroundings);
    let slot = slot.map_err(|why| report(&Diagnostic::error(Code::BadConfiguration, why))).ok()?;
    if let Some(slot) = &slot {
        let found = slot.load();
        found.warnings.into_iter().for_each(warn);
        if let Some(entry) = found.entry {
            let (own, relayed) = entry.messages.read();
            own.iter().for_each(report);
            toolchain::search("ptxas", None, &surroundings).warnings.into_iter().for_each(warn);
            relayed.iter().for_each(|text| relay(text));
            let options = if ptxas::extends_shared(target, Emit::Cubin) { &extended } else { &plain };
            handle.set_source(Source { input: input.to_vec(), options: options.clone() });
            return Some(entry.output);
        }
    }
    let isolated = core.as_deref().map(|program| Isolated { program, scratch: Path::new(&scratch), timeout: None });
    let ptx = |pipeline_options: &[(String, String)]| {
        let request = request(handle, (input, kind), pipeline_options)?;
        match compiler(isolated.as_ref()).compile(&request, &mut |d| tell(&d)) {
            Ok(output) => Some(output.text),
            Err(e) => {
                if let CompileError::Configuration(text) | CompileError::Internal(text) = e {
                    tell(&Diagnostic::error(Code::Internal, text));
                }
                None
            }
        }
    };
    let extends = ptxas::extends_shared(target, Emit::Cubin);
    let mut used = if extends { &extended } else { &plain };
    let first = ptx(used)?;
    let debug = debug_of(handle);
    let job = Job {
        ptx: &first,
        target,
        opt_level,
        debug,
        extended_shared: extends,
        sanitize: handle.sanitize().then_some("memcheck"),
        extra: &[],
        timeout: None,
        scratch: Path::new(&scratch),
        statistics: false,
    };
    let (warnings, mut result) = ptxas::assemble(&job, None, &surroundings);
    if result.as_ref().is_err_and(|e| extends && e.lacks_extended_shared()) {
        used = &plain;
        let less = ptx(used)?;
        result = ptxas::assemble(&Job { ptx: &less, extended_shared: false, ..job }, None, &surroundings).1;
    }
    warnings.into_iter().for_each(warn);
    let lossy = |messages: &[u8]| render::escape_control(&String::from_utf8_lossy(messages));
    match result {
        Ok(cubin) => {
            let text = lossy(&cubin.messages);
            relay(&text);
            let mut messages = messages.into_inner();
            messages.add_output(&text);
            handle.set_source(Source { input: input.to_vec(), options: used.clone() });
            let entry = cache::Entry { messages, output: cubin.image };
            slot.map(|slot| slot.store(&entry)).unwrap_or_default().into_iter().for_each(warn);
            Some(entry.output)
        }
        Err(error) => {
            report(&error.diagnostic());
            relay(&lossy(error.messages()));
            None
        }
    }
}

/// The cache slot of the cubin, which is the same as for the command.
///
/// # Errors
/// The settings of the cache are invalid.
fn slot(
    handle: &Handle,
    target: &'static Target,
    opt_level: u8,
    (input, kind): (&[u8], InputKind),
    surroundings: &Surroundings,
) -> Result<Option<cache::Slot>, String> {
    let mut options = options::options(&Parsed::default(), PathBuf::new());
    if let Some(address) = handle.remote_cache() {
        options.remote_cache = Some(address).filter(|address| !address.is_empty());
    }
    options.target = target;
    options.device_debug = handle.device_debug();
    options.lineinfo = handle.lineinfo();
    options.sanitize = handle.sanitize().then_some("memcheck");
    options.instrumentation = Instrumentation::default();
    options.pipeline_options =
        handle.pipeline_options().iter().map(|(name, value)| format!("{name}={value}").into()).collect();
    options.libnvvm = handle.libnvvm().is_some();
    options.libnvvm_path = handle.libnvvm();
    cache::slot(&options, opt_level, input, kind, &tile_version::IDENTITY, surroundings)
}
