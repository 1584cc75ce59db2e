//! Reproducers: single files that hold everything needed to reproduce a failure.
//!
//! With `--crash-dir`, an internal error writes `tileiras-crash-N.json`: the identity of the compiler, the arguments,
//! the input and the outcome. `tileiras replay FILE` compiles that input again in the same way.
//!
//! Replaying a file does not require trust in its author. A replay only uses arguments that affect the code and have
//! no other effect ([`Reproducer::replayable_arguments`]); it ignores arguments that name programs, libraries or
//! files. With `--anonymize`, the names of files, functions and variables are removed from the arguments and from
//! bytecode.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::cl::{self, OptionValue, Replay, Spec};
use crate::options::SPECS;
use tile_interface::pipeline::{self, Effect};

/// A failure, with everything needed to reproduce it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reproducer {
    /// The first line of `--version`.
    pub compiler: String,
    /// The arguments without the input, the output and the options about reproducers.
    pub arguments: Vec<String>,
    /// The input's file name. Its extension distinguishes text from bytecode.
    pub input_name: String,
    /// The input in base64.
    pub input: String,
    /// The exit status.
    pub status: u8,
    /// The last error message.
    pub ended: String,
}

impl Reproducer {
    /// Returns the arguments that a replay may use, in unambiguous form, and the arguments that it ignores.
    pub fn replayable_arguments(&self) -> (Vec<String>, Vec<String>) {
        let (mut kept, mut left_out) = (vec![], vec![]);
        let line: Vec<OsString> =
            ["tileiras"].into_iter().chain(self.arguments.iter().map(String::as_str)).map(Into::into).collect();
        let parsed = cl::parse(SPECS, &line, 0);
        for (name, value) in &parsed.occurrences {
            let text = match value {
                OptionValue::Flag(flag) => flag.to_string(),
                OptionValue::Integer(n) => n.to_string(),
                OptionValue::Choice(choice) => (*choice).to_owned(),
                OptionValue::Text(text) => text.to_string_lossy().into_owned(),
            };
            let argument = format!("--{name}={text}");
            let in_pipeline = pipeline::effect(&text) == Some(Effect::Output);
            let is_harmless = replay(name) == Replay::Use || (*name == "pipeline-option" && in_pipeline);
            if is_harmless { kept.push(argument) } else { left_out.push(argument) }
        }
        left_out.extend(parsed.action.map(|name| format!("--{name}")));
        left_out.extend(parsed.positionals.iter().map(|p| p.to_string_lossy().into_owned()));
        left_out.extend((!parsed.errors.is_empty()).then(|| "unknown options".to_owned()));
        (kept, left_out)
    }

    /// The input's file name without directories. Always a valid name.
    pub fn base_name(&self) -> &OsStr {
        let name = Path::new(&self.input_name).file_name().filter(|n| !n.as_encoded_bytes().contains(&0));
        name.unwrap_or("input".as_ref())
    }

    /// Creates a reproducer. `arguments` is the command line without the program's name.
    pub fn new(compiler: &str, arguments: &[OsString], input: &Path, bytes: &[u8], status: u8, ended: String) -> Self {
        Reproducer {
            compiler: compiler.to_owned(),
            arguments: kept(arguments, input),
            input_name: input.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            input: STANDARD.encode(bytes),
            status,
            ended,
        }
    }

    /// The decoded input.
    pub fn bytes(&self) -> Result<Vec<u8>, String> {
        STANDARD.decode(&self.input).map_err(|e| format!("the input is not valid base64: {e}"))
    }

    /// Removes the names of files and, if the input is valid bytecode, the names in it. The text says what remains.
    pub fn anonymise(mut self) -> (Reproducer, &'static str) {
        let extension = Path::new(&self.input_name).extension().map(|e| e.to_string_lossy().into_owned());
        self.input_name = format!("input{}", extension.map_or(String::new(), |e| format!(".{e}")));
        let bytes = STANDARD.decode(&self.input).unwrap_or_default();
        match tile_bytecode::read_with_profile(&bytes, &tile_bytecode::ReadOptions::default()) {
            Ok((module, profile)) => {
                let module = tile_bytecode::anonymise(&module);
                match tile_bytecode::write(&module, profile, module.version) {
                    Ok(bytes) => {
                        self.input = STANDARD.encode(bytes);
                        (self, "file and function names were removed; constants and printed strings remain")
                    }
                    Err(_) => (self, "the input could not be rewritten without names and remains unchanged"),
                }
            }
            Err(_) => (self, "the input remains unchanged, with all of its names"),
        }
    }

    /// Writes the file under the first unused number, and returns its path.
    pub fn write(&self, directory: &Path) -> io::Result<PathBuf> {
        fs::create_dir_all(directory)?;
        let text = serde_json::to_string_pretty(self)? + "\n";
        for number in 1.. {
            let path = directory.join(format!("tileiras-crash-{number}.json"));
            match File::options().write(true).create_new(true).open(&path) {
                Ok(mut file) => return file.write_all(text.as_bytes()).map(|()| path),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
        unreachable!("the numbers do not run out")
    }

    pub fn read(path: &Path) -> Result<Reproducer, String> {
        let text = crate::files::read_text(path).map_err(|e| crate::io_text(&e))?;
        serde_json::from_str(&text).map_err(|e| e.to_string())
    }
}

/// Returns the option with this name or alias.
fn resolved(name: &str) -> Option<&'static Spec> {
    let by_name = |name: &str| SPECS.iter().find(|spec| spec.name == name);
    let spec = by_name(name)?;
    spec.alias_for.map_or(Some(spec), by_name)
}

fn replay(name: &str) -> Replay {
    resolved(name).map_or(Replay::Ignore, |spec| spec.replay)
}

/// The arguments to keep in a reproducer.
fn kept(arguments: &[OsString], input: &Path) -> Vec<String> {
    let mut kept = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == input.as_os_str() || argument == "--" {
            continue;
        }
        let text = argument.to_string_lossy();
        let name = text.trim_start_matches('-');
        let (name, glued) = name.split_once('=').map_or((name, false), |(name, _)| (name, true));
        match resolved(name).filter(|spec| text.starts_with('-') && spec.replay == Replay::Omit) {
            Some(spec) => {
                if spec.value.is_required() && !glued {
                    rest.next();
                }
            }
            None => kept.push(text.into_owned()),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_allowed_options_are_replayed() {
        let file = |line: &str| Reproducer {
            compiler: String::new(),
            arguments: line.split(' ').map(str::to_owned).collect(),
            input_name: "../../a/k.mlir".into(),
            input: String::new(),
            status: 70,
            ended: String::new(),
        };
        let (kept, left_out) =
            file("-O2 --arch sm_90 -g --pipeline-option=num-warps=8 --emit=ptx").replayable_arguments();
        let expected =
            ["--opt-level=2", "--gpu-name=sm_90", "--device-debug=true", "--pipeline-option=num-warps=8", "--emit=ptx"];
        assert_eq!((kept, left_out), (expected.map(str::to_owned).to_vec(), vec![]));
        for line in [
            "--ptxas-path=/bin/sh",
            "--ptxas-option -o",
            "--libnvvm-path=/tmp/evil.so",
            "-o /etc/passwd",
            "--cache-dir=/tmp",
            "--remote-cache=grpc://h:1",
            "--crash-dir=/tmp",
            "--save-temps",
            "--resource-usage /etc/passwd",
            "--remark-format=yaml",
            "--remarks-output-file=/etc/passwd",
            "--pipeline-option=snapshot-file=/etc/passwd",
            "--pipeline-option=dump-host=/etc/passwd",
            "--pipeline-option=emit-line-info=tileas",
            "@/etc/passwd",
            "-- /etc/passwd",
            "--help",
        ] {
            let (kept, left_out) = file(line).replayable_arguments();
            assert!(kept.is_empty() && !left_out.is_empty(), "{line}: {kept:?} {left_out:?}");
        }
        assert_eq!(file("").base_name(), "k.mlir");
    }

    #[test]
    fn arguments_that_name_files_are_dropped() {
        let line =
            "--gpu-name sm_90 -o OUT in.bc -O3 --crash-dir=D --ptxas-path P --output-file=x --anonymize --lineinfo --";
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        assert_eq!(kept(&arguments, Path::new("in.bc")), ["--gpu-name", "sm_90", "-O3", "--lineinfo"]);
    }
}
