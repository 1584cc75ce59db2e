//! Compiles a handle's program to its output.

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
    options, ptxas,
    remarks::{self, RemarkFilter, RemarkOptions},
    resources,
    toolchain::{self, Surroundings},
};
use tile_interface::{
    Backend, CompileError, CompileOutput, CompileRequest, Compiler, DebugInfo, Emit, InputKind, Instrumentation, Remark,
};
use tile_targets::{TARGETS, Target};

use crate::handle::{Handle, Settings, Source};
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
    let name = handle.settings()?.output_name;
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
    let (Source { input, options }, settings) = (handle.source()?, handle.settings()?);
    let kind = crate::kind_of(&settings.input_name, &input).ok()?;
    let scratch = scratch();
    let isolated = isolated(&settings, Path::new(&scratch));
    let request = CompileRequest {
        host: Some(triple),
        emit: Emit::Ptx,
        remarks: false,
        ..request(handle, &settings, (&input, kind), &options)?
    };
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

/// The program that compiles, unless this process does.
fn isolated<'a>(settings: &'a Settings, scratch: &'a Path) -> Option<Isolated<'a>> {
    settings.core.as_deref().map(|program| Isolated { program, scratch, timeout: None })
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

/// The request to translate a handle's program to the text of its level, or to PTX for the levels after it.
fn request<'a>(
    handle: &Handle,
    settings: &'a Settings,
    (input, kind): (&'a [u8], InputKind),
    pipeline_options: &'a [(String, String)],
) -> Option<CompileRequest<'a>> {
    Some(CompileRequest {
        input_name: &settings.input_name,
        opt_level: u8::try_from(handle.opt_level()).ok()?,
        emit: settings.emit.min(Emit::Ptx),
        debug: debug_of(handle),
        pipeline_options,
        preview: !settings.libraries.is_empty(),
        libraries: &settings.libraries,
        backend: settings.libnvvm.clone().map_or(Backend::Llvm, Backend::LibNvvm),
        remarks: settings.remarks != RemarkFilter::None,
        ..CompileRequest::new(input, kind, target(handle.gpu_id())?)
    })
}

pub fn target(gpu_id: i32) -> Option<&'static Target> {
    TARGETS.iter().find(|t| u32::try_from(gpu_id) == Ok(t.sm))
}

/// Reads and verifies bytecode, which may use preview features. `Err` holds the messages for an input that is not valid
/// Tile IR, the cause first.
pub fn probe(input: &[u8]) -> Result<(), Vec<Diagnostic>> {
    use tile_interface::NotTileIr;
    let error = |text: &str| Diagnostic::new(Severity::Error, text);
    let not_bytecode = error("input does not correspond to Tile IR bytecode");
    match crate::kind_of("", input) {
        Ok(InputKind::Text | InputKind::LlvmIr) => Ok(()),
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

/// The outputs of a compilation.
pub struct Compiled {
    pub output: Vec<u8>,
    /// The resources of the kernels as JSON, if requested.
    pub resources: Option<String>,
}

/// What a compilation works with.
struct Job<'a> {
    handle: &'a Handle,
    settings: Settings,
    input: &'a [u8],
    kind: InputKind,
    target: &'static Target,
    opt_level: u8,
    surroundings: Surroundings,
    scratch: OsString,
    /// These messages are cached with the output.
    messages: RefCell<cache::Messages>,
}

/// Compiles to the output that the handle asks for. `None` after diagnostics.
///
/// # Safety
/// The embedder has kept the input and the CUDA root unchanged.
pub unsafe fn run(handle: &Handle) -> Option<Compiled> {
    let settings = handle.settings()?;
    // SAFETY: guaranteed by the caller.
    let (input, root) = unsafe { (handle.input(), handle.cuda_root()) };
    let mut surroundings = Surroundings::of_process();
    if let Some(root) = root {
        surroundings.cuda_variables.insert(0, ("cuda_root", OsStr::from_bytes(root).to_owned()));
    }
    let mut job = Job {
        handle,
        settings,
        input,
        kind: InputKind::Text,
        target: target(handle.gpu_id())?,
        opt_level: u8::try_from(handle.opt_level()).ok()?,
        surroundings,
        scratch: scratch(),
        messages: RefCell::default(),
    };
    let kind = crate::kind_of(&job.settings.input_name, input);
    job.kind = kind.map_err(|e| job.tell(&Diagnostic::error(Code::NotTileIr, e.to_string()))).ok()?;
    job.run()
}

impl Job<'_> {
    fn run(self) -> Option<Compiled> {
        let slot = self.slot().map_err(|why| self.report(&Diagnostic::error(Code::BadConfiguration, why))).ok()?;
        let warn = |text: String| self.report(&Diagnostic::warning(text));
        if let Some(slot) = &slot {
            let found = slot.load();
            found.warnings.into_iter().for_each(warn);
            if let Some(entry) = found.entry {
                let (own, relayed) = entry.messages.read();
                own.iter().for_each(|d| self.report(d));
                if self.settings.emit >= Emit::Cubin {
                    let search = toolchain::search("ptxas", self.settings.ptxas.as_deref(), &self.surroundings);
                    search.warnings.into_iter().for_each(warn);
                    let (options, _) = self.cubin_options();
                    self.keep(options);
                }
                relayed.iter().for_each(|text| self.relay(text));
                return Some(Compiled { output: entry.output, resources: None });
            }
        }
        let compiled = if self.settings.emit >= Emit::Cubin { self.cubin()? } else { self.text()? };
        if let Some(slot) = slot {
            let entry = cache::Entry { messages: self.messages.take(), output: compiled.output };
            slot.store(&entry).into_iter().for_each(warn);
            return Some(Compiled { output: entry.output, ..compiled });
        }
        Some(compiled)
    }

    fn text(&self) -> Option<Compiled> {
        let output = self.ptx(&self.settings.pipeline_options())?;
        self.remark(&output.remarks);
        Some(Compiled { output: output.text.into_bytes(), resources: None })
    }

    /// The options for a cubin, and whether they extend shared memory although the embedder has not asked for it.
    fn cubin_options(&self) -> (Vec<(String, String)>, bool) {
        let mut options = self.settings.pipeline_options();
        let extends = ptxas::extends_shared(self.target, Emit::Cubin)
            && !options.iter().any(|(name, _)| name == ptxas::EXTENDED_SMEM);
        if extends {
            options.push((ptxas::EXTENDED_SMEM.into(), "true".into()));
        }
        (options, extends)
    }

    /// Keeps the program for the launch functions of a host object.
    fn keep(&self, options: Vec<(String, String)>) {
        self.handle.set_source(Source { input: self.input.to_vec(), options });
    }

    fn cubin(&self) -> Option<Compiled> {
        let plain = self.settings.pipeline_options();
        let (mut options, extends) = self.cubin_options();
        let mut compiled = self.ptx(&options)?;
        let wants_statistics = self.settings.resources || self.settings.remarks != RemarkFilter::None;
        let assemble = |ptx: &str, extended_shared: bool| {
            let job = ptxas::Job {
                ptx,
                target: self.target,
                opt_level: self.opt_level,
                debug: debug_of(self.handle),
                extended_shared,
                sanitize: self.handle.sanitize().then_some("memcheck"),
                extra: &[],
                timeout: None,
                scratch: Path::new(&self.scratch),
                statistics: wants_statistics,
            };
            ptxas::assemble(&job, self.settings.ptxas.as_deref(), &self.surroundings)
        };
        let asked = plain.iter().rev().find(|(name, _)| name == ptxas::EXTENDED_SMEM);
        let asked = asked.is_some_and(|(_, value)| value == "true" || value == "1");
        let (warnings, mut result) = assemble(&compiled.text, extends || asked);
        if result.as_ref().is_err_and(|e| extends && e.lacks_extended_shared()) {
            options = plain;
            compiled = self.ptx(&options)?;
            result = assemble(&compiled.text, false).1;
        }
        warnings.into_iter().for_each(|text| self.report(&Diagnostic::warning(text)));
        let lossy = |messages: &[u8]| render::escape_control(&String::from_utf8_lossy(messages));
        match result {
            Ok(cubin) => {
                let text = lossy(&cubin.messages);
                self.relay(&text);
                self.messages.borrow_mut().add_output(&text);
                compiled.remarks.extend(remarks::of_spills(&cubin.resources, &compiled.locations));
                self.remark(&compiled.remarks);
                self.keep(options);
                let resources = self.settings.resources.then(|| resources::json(&cubin.resources));
                Some(Compiled { output: cubin.image, resources })
            }
            Err(error) => {
                self.report(&error.diagnostic());
                self.relay(&lossy(error.messages()));
                None
            }
        }
    }

    /// The text of the level that the handle asks for, or PTX for the levels after it.
    fn ptx(&self, pipeline_options: &[(String, String)]) -> Option<CompileOutput> {
        let isolated = isolated(&self.settings, Path::new(&self.scratch));
        let request = request(self.handle, &self.settings, (self.input, self.kind), pipeline_options)?;
        let error = match compiler(isolated.as_ref()).compile(&request, &mut |d| self.tell(&d)) {
            Ok(output) => return Some(output),
            Err(error) => error,
        };
        match error {
            CompileError::Configuration(text) => self.tell(&Diagnostic::error(Code::BadConfiguration, text)),
            CompileError::Internal(text) => {
                self.tell(&Diagnostic::error(Code::Internal, format!("internal error: {text}")));
            }
            CompileError::Input => self.tell(&Diagnostic::error(Code::BadModule, error.to_string())),
            // The diagnostics have said why.
            CompileError::Failed => {}
        }
        None
    }

    /// Reports the remarks that the handle asks for.
    fn remark(&self, all: &[Remark]) {
        let options = RemarkOptions { all: self.settings.remarks, ..RemarkOptions::default() };
        remarks::diagnostics(&options.select(all)).iter().for_each(|d| self.report(d));
    }

    /// Reports a message of the compiler, which a cache keeps.
    fn tell(&self, d: &Diagnostic) {
        self.messages.borrow_mut().add_diagnostic(d);
        self.report(d);
    }

    fn report(&self, d: &Diagnostic) {
        let mut d = d.clone();
        if self.settings.core.is_some() {
            // The child reads the input through a descriptor.
            let places = d.location.iter_mut().chain(d.notes.iter_mut().filter_map(|n| n.location.as_mut()));
            for place in places.filter(|place| place.file.starts_with("/proc/")) {
                place.file.clone_from(&self.settings.input_name);
            }
        }
        // The output's name distinguishes the messages of several compilations.
        let name = &self.settings.output_name;
        if d.severity == Severity::Error && !name.is_empty() {
            d = d.note(format!("while compiling '{name}'"));
        }
        report(Word::None, self.handle.as_ptr(), &d);
    }

    fn relay(&self, text: &str) {
        text.lines().for_each(|line| self.report(&Diagnostic::new(Severity::Note, line)));
    }

    /// The cache slot of the output, which is the same as for the command.
    ///
    /// # Errors
    /// The settings of the cache are invalid.
    fn slot(&self) -> Result<Option<cache::Slot>, String> {
        let links = !self.settings.libraries.is_empty();
        if links || self.settings.resources || self.settings.remarks != RemarkFilter::None {
            // Entries have only the output, and the key has the names of files.
            return Ok(None);
        }
        let mut options = options::options(&Parsed::default(), PathBuf::from(&self.settings.input_name));
        options.cache_dir.clone_from(&self.settings.cache_directory);
        if let Some(address) = &self.settings.remote_cache {
            options.remote_cache = Some(address.clone()).filter(|address| !address.is_empty());
        }
        options.target = self.target;
        options.emit = self.settings.emit;
        options.device_debug = self.handle.device_debug();
        options.lineinfo = self.handle.lineinfo();
        options.sanitize = self.handle.sanitize().then_some("memcheck");
        options.instrumentation = Instrumentation::default();
        options.ptxas.path.clone_from(&self.settings.ptxas);
        let set = self.settings.pipeline_options();
        options.pipeline_options = set.iter().map(|(name, value)| format!("{name}={value}").into()).collect();
        options.libnvvm = self.settings.libnvvm.is_some();
        options.libnvvm_path.clone_from(&self.settings.libnvvm);
        cache::slot(&options, self.opt_level, self.input, self.kind, &tile_version::IDENTITY, &self.surroundings)
    }
}
