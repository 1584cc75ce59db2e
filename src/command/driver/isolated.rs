//! Runs a compiler in a child process, so that no input can end the calling process.
//!
//! LLVM and MLIR abort on conditions that they consider impossible, and a defect may do worse. Programs that must
//! survive such a crash therefore let `tileiras-core` or `tileiras` do the work. Input and output pass through memory
//! that both processes have open, and diagnostics come back as lines of JSON.
//!
//! Tile libraries are passed in the same way, and messages name them as the request does.
//!
//! The only cost is starting a program that links MLIR once per compilation. Remarks, the texts of stages and
//! instrumentation are not transferred, so requests for them are rejected.

use std::ffi::OsString;
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use tile_diag::{Code, Diagnostic, Severity};
use tile_interface::{
    Backend, CompileError, CompileOutput, CompileRequest, Compiler, DebugInfo, Instrumentation, scope,
};

use crate::{child, crash, io_text, messages};

/// Closing messages of the child, which the caller prints itself.
const CLOSING: [&str; 2] = ["failed to compile Tile IR program", "input does not correspond to Tile IR bytecode"];

/// A compiler in a child process.
#[derive(Debug, Clone)]
pub struct Isolated<'a> {
    /// `tileiras-core` or `tileiras`, of this version.
    pub program: &'a Path,
    /// The directory for temporary files on systems without files in memory.
    pub scratch: &'a Path,
    /// `None` or zero: no limit.
    pub timeout: Option<Duration>,
}

impl Compiler for Isolated<'_> {
    fn compile(
        &self,
        request: &CompileRequest<'_>,
        report: &mut dyn FnMut(Diagnostic),
    ) -> Result<CompileOutput, CompileError> {
        if request.keep_stages
            || request.keep_snapshots
            || request.remarks
            || request.instrumentation != Instrumentation::default()
        {
            return Err(CompileError::Configuration("a compiler in a child process can only return text".into()));
        }
        let _scope = scope::enter(scope::COMPILE_NVVM);
        let program = self.program.display();
        let broken = |e: io::Error| CompileError::Configuration(format!("cannot run '{program}': {}", io_text(&e)));
        let mut input = child::memory_file(self.scratch).map_err(broken)?;
        let mut output = child::memory_file(self.scratch).map_err(broken)?;
        input.write_all(request.input).and_then(|()| input.rewind()).map_err(broken)?;
        let mut libraries = vec![];
        for (_, contents) in request.libraries {
            let mut file = child::memory_file(self.scratch).map_err(broken)?;
            file.write_all(contents).and_then(|()| file.rewind()).map_err(broken)?;
            libraries.push(file);
        }
        let mut command = Command::new(self.program);
        for library in &libraries {
            command.arg("-l").arg(child::descriptor_path(library));
        }
        command
            .args(arguments(request))
            .arg("-o")
            .arg(child::descriptor_path(&output))
            .arg("--")
            .arg(child::descriptor_path(&input))
            // The caller does the cache lookup and stores the result.
            .env_remove(crate::shared::REMOTE_CACHE);
        let files = [&input, &output].into_iter().chain(&libraries);
        let descriptors: Vec<_> = files.map(AsRawFd::as_raw_fd).collect();
        let done = child::run(command, &descriptors, self.timeout).map_err(broken)?;
        let (mut failed, mut defect) = (false, None);
        for line in String::from_utf8_lossy(&done.output).lines() {
            // Any other line was printed by a library before it ended the process.
            let diagnostic = messages::parse(line).unwrap_or_else(|| Diagnostic::new(Severity::Note, line));
            let diagnostic = libraries.iter().zip(request.libraries).fold(diagnostic, |d, (file, (name, _))| {
                renamed(d, &format!("'{}'", child::descriptor_path(file)), &format!("'{name}'"))
            });
            failed |= diagnostic.severity == Severity::Error;
            // The caller reports an internal error, as it does for a compiler in its own process.
            if let Some(text) = diagnostic.message.strip_prefix("internal error: ")
                && diagnostic.code == Some(Code::Internal)
            {
                defect = Some(text.to_owned());
                continue;
            }
            if !CLOSING.contains(&diagnostic.message.as_str()) {
                report(diagnostic);
            }
        }
        if done.timed_out {
            let limit = self.timeout.unwrap_or_default().as_secs_f32();
            return Err(CompileError::Internal(format!("the compiler did not finish within {limit} s")));
        }
        match done.status.code() {
            Some(0) => {}
            Some(3) => return Err(CompileError::Input),
            Some(70) if defect.is_some() => return Err(CompileError::Internal(defect.unwrap_or_default())),
            Some(_) if failed => return Err(CompileError::Failed),
            Some(status) => return Err(CompileError::Internal(format!("'{program}' exited with status {status}"))),
            None => {
                let signal = crash::signal_name(done.status.signal().unwrap_or_default());
                return Err(CompileError::Internal(format!("the compiler was stopped by {signal}")));
            }
        }
        let mut text = String::new();
        output.rewind().and_then(|()| output.read_to_string(&mut text)).map_err(broken)?;
        Ok(CompileOutput { text, ..CompileOutput::default() })
    }
}

/// The diagnostic with another name of a file.
fn renamed(mut diagnostic: Diagnostic, from: &str, to: &str) -> Diagnostic {
    let texts = diagnostic.notes.iter_mut().map(|note| &mut note.message);
    for text in texts.chain([&mut diagnostic.message]).filter(|text| text.contains(from)) {
        *text = text.replace(from, to);
    }
    diagnostic
}

/// The request as command-line arguments, without the files.
pub(crate) fn arguments(request: &CompileRequest<'_>) -> Vec<OsString> {
    let mut all: Vec<OsString> = vec![
        format!("--gpu-name={}", request.target.name).into(),
        format!("--opt-level={}", request.opt_level).into(),
        format!("--emit={}", request.emit.name()).into(),
        "--diagnostic-format=json".into(),
    ];
    all.extend(request.start_from.map(|level| format!("--start-from={}", level.emit().name()).into()));
    let boundaries = [("--start-after", &request.start_after), ("--print-after", &request.print_after)];
    all.extend(boundaries.iter().filter_map(|(option, at)| Some(format!("{option}={}", at.as_ref()?).into())));
    match request.debug {
        DebugInfo::None => {}
        DebugInfo::Lines => all.push("--lineinfo".into()),
        DebugInfo::Full => all.push("--device-debug".into()),
    }
    all.extend(request.pipeline_options.iter().map(|(key, value)| format!("--pipeline-option={key}={value}").into()));
    let with = |option: &str, file: &Path| {
        let mut argument = OsString::from(option);
        argument.push(file);
        argument
    };
    all.extend(request.plugins.iter().map(|file| with("--load-pass-plugin=", file)));
    all.extend(request.insertions.iter().map(|i| format!("--insert-pass={i}").into()));
    if let Backend::LibNvvm(file) = &request.backend {
        all.extend(["--backend=libnvvm".into(), with("--libnvvm-path=", file)]);
    }
    all.extend(request.strict_plans.then(|| "--strict-plans".into()));
    all.extend(request.preview.then(|| "--preview=simt".into()));
    all.extend(request.libdevice.as_deref().map(|file| with("--libdevice=", file)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use tile_interface::InputKind;
    use tile_targets::Target;

    fn request() -> CompileRequest<'static> {
        CompileRequest {
            opt_level: 2,
            debug: DebugInfo::Lines,
            libdevice: Some("fns.bc".into()),
            ..CompileRequest::new(b"input", InputKind::PublicBytecode, Target::by_name("sm_90").unwrap())
        }
    }

    /// Compiles the request with a shell script as the program. Returns the result and the diagnostics.
    fn by(script: &str) -> (Result<CompileOutput, CompileError>, Vec<Diagnostic>) {
        compiled(script, &request())
    }

    fn compiled(script: &str, request: &CompileRequest<'_>) -> (Result<CompileOutput, CompileError>, Vec<Diagnostic>) {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("core");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let isolated =
            Isolated { program: &program, scratch: directory.path(), timeout: Some(Duration::from_secs(20)) };
        let mut said = vec![];
        let result = isolated.compile(request, &mut |d| said.push(d));
        (result, said)
    }

    #[test]
    fn input_arguments_and_output() {
        let (result, said) = by("{ echo \"$@\"; cat \"${10}\"; } > \"$8\"");
        let text = result.unwrap().text;
        assert!(said.is_empty(), "{said:?}");
        let expected = "--gpu-name=sm_90 --opt-level=2 --emit=ptx --diagnostic-format=json --lineinfo \
                        --libdevice=fns.bc -o ";
        assert!(text.starts_with(expected) && text.ends_with("\ninput"), "{text}");
    }

    #[test]
    fn libraries_reach_the_child_and_keep_their_names() {
        let libraries = [("sort.tilelib".to_owned(), b"contents".to_vec())];
        let request = CompileRequest { preview: true, libraries: &libraries, ..request() };
        let (result, said) =
            compiled("echo \"cannot sort with '$2'\" >&2; { cat \"$2\"; echo \" $1 $8\"; } > \"${11}\"", &request);
        assert_eq!(result.unwrap().text, "contents -l --preview=simt\n");
        assert_eq!(said, [Diagnostic::new(Severity::Note, "cannot sort with 'sort.tilelib'")]);
    }

    #[test]
    fn messages_survive_a_crash() {
        let (result, said) = by("echo 'LLVM ERROR: impossible' >&2; kill -ABRT $$");
        assert_eq!(result, Err(CompileError::Internal("the compiler was stopped by SIGABRT (signal 6)".into())));
        assert_eq!(said, [Diagnostic::new(Severity::Note, "LLVM ERROR: impossible")]);
    }

    #[test]
    fn internal_errors_of_the_child_are_kept() {
        let last = tile_diag::render::json(&Diagnostic::error(Code::Internal, "internal error: the pass 'p' panicked"));
        let place = tile_diag::render::json(&Diagnostic::new(Severity::Error, "internal error in p: bad"));
        let (result, said) = by(&format!("cat >&2 <<'END'\n{place}{last}END\nexit 70"));
        assert_eq!(result, Err(CompileError::Internal("the pass 'p' panicked".into())));
        assert_eq!(said, [Diagnostic::new(Severity::Error, "internal error in p: bad")]);
    }
}
