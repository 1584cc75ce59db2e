//! `tileiras diff`: two versions of a program, or two configurations of one, compared pass by pass.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use tile_diag::{Code, Diagnostic};
use tile_explore::Exploration;

use super::{Exit, Result, Session, explore};
use crate::{Identity, output};

/// The arguments of `diff`.
#[derive(Debug, PartialEq)]
pub(super) struct Call {
    inputs: [PathBuf; 2],
    /// The options of each side.
    options: [Vec<OsString>; 2],
    /// The pass or level to show.
    at: Option<String>,
    output: Option<PathBuf>,
}

/// Options that only one side gets, and options of the comparison. Each has a value.
const LEFT: &str = "--left";
const RIGHT: &str = "--right";
const AT: &str = "--at";
const OUTPUT: &str = "-o";

impl Call {
    /// Reads `A [B] OPTION...`.
    pub(super) fn new(arguments: &[OsString]) -> Result<Self, String> {
        let is_option = |a: &OsString| a.as_encoded_bytes().starts_with(b"-");
        let count = arguments.iter().take(2).take_while(|a| !is_option(a)).count();
        let (inputs, rest) = arguments.split_at(count);
        let (Some(first), Some(last)) = (inputs.first(), inputs.last()) else {
            return Err("the inputs come first: tileiras diff A [B] OPTION...".to_owned());
        };
        let mut call = Self { inputs: [first.into(), last.into()], options: [vec![], vec![]], at: None, output: None };
        let mut rest = rest.iter();
        while let Some(argument) = rest.next() {
            let text = argument.to_string_lossy();
            let (name, glued) = match text.split_once('=') {
                Some((name, value)) => (name, Some(OsString::from(value))),
                None => (&*text, None),
            };
            if ![LEFT, RIGHT, AT, OUTPUT].contains(&name) {
                call.options.iter_mut().for_each(|side| side.push(argument.clone()));
                continue;
            }
            let value = glued.or_else(|| rest.next().cloned()).ok_or_else(|| format!("{name} needs a value"))?;
            match name {
                LEFT => call.options[0].push(value),
                RIGHT => call.options[1].push(value),
                AT => call.at = Some(value.to_string_lossy().into_owned()),
                _ => call.output = Some(value.into()),
            }
        }
        Ok(call)
    }

    /// Whether the call names two programs or two configurations.
    pub(super) fn has_two_sides(&self) -> bool {
        self.inputs[0] != self.inputs[1] || self.options[0] != self.options[1]
    }

    /// Whether the call asks for a file or a place of the comparison.
    pub(super) fn shows_more(&self) -> bool {
        self.at.is_some() || self.output.is_some()
    }

    /// Names for the sides: the files, or `left` and `right` if they have the same name.
    fn names(&self) -> [String; 2] {
        let [a, b] = self
            .inputs
            .each_ref()
            .map(|file| file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned());
        if a == b { ["left".to_owned(), "right".to_owned()] } else { [a, b] }
    }
}

impl Session<'_> {
    /// Compiles both sides, and shows where they differ.
    pub(super) fn diff(&mut self, arguments: &[OsString], identity: &Identity) -> Result<()> {
        let call = Call::new(arguments).map_err(|e| self.command_line_error(&format!("tileiras: diff: {e}")))?;
        if let Some(file) = &call.output {
            output::check(file).map_err(|e| self.output_failed(&e))?;
        }
        let scratch = self.private_scratch()?;
        let sides = self.both(&call, &scratch, identity);
        // Leftovers are in a directory for temporary files.
        let _ = std::fs::remove_dir_all(&scratch);
        let [a, b] = sides?;
        let names = call.names();
        let names = names.each_ref().map(String::as_str);
        match &call.output {
            Some(file) if file.extension() == Some(OsStr::new("html")) => {
                self.write(file, tile_explore::page_of_two(names, [&a, &b]).as_bytes())
            }
            file => {
                let text = tile_explore::compare(names, [&a, &b], call.at.as_deref()).map_err(|why| {
                    let text = format!("tileiras: diff: --at: {why}");
                    self.command_line_error(&text)
                })?;
                match file {
                    Some(file) => self.write(file, text.as_bytes()),
                    None => self.write_stdout(&text),
                }
            }
        }
    }

    fn both(&mut self, call: &Call, scratch: &Path, identity: &Identity) -> Result<[Exploration; 2]> {
        Ok([self.side(call, 0, scratch, identity)?, self.side(call, 1, scratch, identity)?])
    }

    /// Compiles the left side, 0, or the right side, 1.
    pub(super) fn side(
        &mut self,
        call: &Call,
        number: usize,
        scratch: &Path,
        identity: &Identity,
    ) -> Result<Exploration> {
        let folder = scratch.join(if number == 0 { "left" } else { "right" });
        std::fs::create_dir(&folder).map_err(|e| {
            let text = format!("Failed to create temporary file: {}", crate::io_text(&e));
            self.fail(Diagnostic::error(Code::TemporaryFile, text))
        })?;
        let mut arguments = vec![call.inputs[number].clone().into_os_string()];
        arguments.extend(call.options[number].iter().cloned());
        // PTX is the last level that two configurations can share.
        arguments.push("--emit=ptx".into());
        let call = explore::Call::new(&arguments)
            .map_err(|errors| errors.iter().map(|e| self.command_line_error(e)).last().unwrap_or(Exit(1)))?;
        self.build_exploration(&call, &folder, identity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(text: &str) -> Result<Call, String> {
        Call::new(&text.split_whitespace().map(Into::into).collect::<Vec<OsString>>())
    }

    #[test]
    fn options_of_each_side() {
        let two = call("a/k.mlir b/n.mlir -O2 --at=tileas").unwrap();
        assert_eq!((two.inputs.clone(), two.at.as_deref()), (["a/k.mlir".into(), "b/n.mlir".into()], Some("tileas")));
        assert_eq!(
            (two.options[0].join(OsStr::new(" ")), two.names()),
            ("-O2".into(), ["k.mlir".into(), "n.mlir".into()])
        );
        let one = call("k.mlir --left -O3 --right=--gpu-name=sm_80 -o d.html").unwrap();
        let joined = one.options.each_ref().map(|side| side.join(OsStr::new(" ")));
        assert_eq!(joined, [OsString::from("-O3"), "--gpu-name=sm_80".into()]);
        assert_eq!((one.names(), one.output), (["left".into(), "right".into()], Some("d.html".into())));
        assert_eq!(call("k.mlir --at").unwrap_err(), "--at needs a value");
        assert!(call("--at=x k.mlir").is_err());
    }
}
