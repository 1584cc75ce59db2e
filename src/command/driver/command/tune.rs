//! `tileiras tune`: reads the request and prints the results.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use tile_diag::{Code, Diagnostic, Severity};
use tile_machine::Machine;

use super::{Result, Session};
use crate::options::{self, SPECS};
use crate::toolchain::{self, Surroundings};
use crate::tune::call::{Call, ProgramSource, TimeSource};
use crate::tune::search::{Search, Tools};
use crate::tune::space::{Point, Template, mentions, points};
use crate::tune::{picture, table};
use crate::{Core, Identity, cl, files, io_text, output};

/// The subdirectories of a search.
const FOLDERS: [&str; 4] = ["programs", "ptx", "cubin", "judged"];

impl Session<'_> {
    /// Evaluates all variants and prints the table.
    pub(super) fn tune(&mut self, arguments: &[OsString], identity: &Identity, core: &Core<'_>) -> Result<()> {
        let wrong = |why: String| format!("tileiras: tune: {why}");
        let call = Call::parse(arguments).map_err(|why| self.command_line_error(&wrong(why)))?;
        for text in &call.deprecations {
            self.report(&Diagnostic::new(Severity::Note, text.as_str()));
        }
        for file in [&call.table, &call.picture].into_iter().flatten() {
            output::check(file).map_err(|e| self.output_failed(&e))?;
        }
        let (bytes, template) = match &call.source {
            ProgramSource::File(file) => self.program_of(file)?,
            ProgramSource::Command(_) => (vec![], None),
        };
        call.check_names(template.as_ref()).map_err(|why| self.command_line_error(&wrong(why)))?;
        let points = points(&call.parameters, &call.conditions).map_err(|why| self.command_line_error(&wrong(why)))?;
        if points.is_empty() {
            return Err(self.command_line_error("tileiras: tune: no variant satisfies the conditions"));
        }
        let machine = self.machine_of(&call, &points[0])?;
        let tools = self.tools(identity, core, &call, &points[0])?;
        let directory = match &call.directory {
            Some(directory) => directory.clone(),
            None => self.private_scratch()?,
        };
        let made = FOLDERS.iter().try_for_each(|f| std::fs::create_dir_all(directory.join(f)));
        let unusable = |e: io::Error| {
            let text = format!("cannot use the directory '{}': {}", directory.display(), io_text(&e));
            Diagnostic::error(Code::UnopenableOutput, text)
        };
        made.map_err(|e| self.fail(unusable(e)))?;
        let search = Search { call: &call, template, bytes, tools: &tools, directory: &directory, machine };
        let (mut rows, counts) = search.run(&points);
        let best = table::order(&rows).into_iter().find(|at| rows[*at].result.is_ok());
        let remarks = best.map(|at| search.remarks(&rows[at].point)).unwrap_or_default();
        if call.directory.is_none() {
            // Leftovers are in a directory for temporary files.
            let _ = std::fs::remove_dir_all(&directory);
            for row in &mut rows {
                (row.program, row.image) = (None, None);
            }
        }
        // The heading of the column, and the unit printed after a number.
        let (head, unit) =
            if matches!(call.time_source, TimeSource::Predicted(_)) { ("us", "us") } else { ("time", "") };
        let mut shown = format!("{}\n{}", table::text(&rows, head), table::summary(&rows, unit, counts));
        if !remarks.is_empty() {
            shown += "\nthe compiler on the best variant:\n";
            shown.extend(remarks.iter().map(|line| format!("  {line}\n")));
        }
        self.write_stdout(&shown)?;
        if let Some(file) = &call.table {
            let is_json = file.extension().is_some_and(|e| e == "json");
            let text = if is_json { table::json(&rows, head, counts) } else { table::tabs(&rows, head) };
            self.write(file, text.as_bytes())?;
        }
        if let Some(file) = &call.picture {
            let title = match &call.source {
                ProgramSource::File(file) => file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
                ProgramSource::Command(command) => command.clone(),
            };
            self.write(file, picture::svg(&rows, &format!("{title}: {head}"), unit).as_bytes())?;
        }
        if rows.iter().any(|r| r.result.is_ok()) {
            Ok(())
        } else {
            Err(self.fail(Diagnostic::error(Code::CompileFailed, "no variant has a time: all of them failed")))
        }
    }

    /// The bytes of a program, and its template if it is text.
    fn program_of(&mut self, file: &Path) -> Result<(Vec<u8>, Option<Template>)> {
        let name = file.display();
        let bytes = files::read_or_stdin(file).map_err(|e| {
            let text = format!("unable to read input file '{name}': {}", io_text(&e));
            self.fail(Diagnostic::error(Code::UnreadableInput, text))
        })?;
        let template = match std::str::from_utf8(&bytes) {
            Err(_) => None,
            Ok(text) => Some(Template::parse(text).map_err(|why| {
                self.fail(Diagnostic::error(Code::BadConfiguration, format!("the program '{name}': {why}")))
            })?),
        };
        Ok((bytes, template))
    }

    /// The machine to predict times for.
    fn machine_of(&mut self, call: &Call, first: &Point) -> Result<String> {
        let TimeSource::Predicted(named) = &call.time_source else { return Ok(String::new()) };
        let machine = match named {
            Some(name) => Machine::named(name),
            None => Machine::of_target(options_of(call, first).target.name),
        };
        match machine {
            Ok(machine) => Ok(machine.name),
            Err(e) => {
                let d = Diagnostic::error(Code::BadConfiguration, format!("{e}"));
                Err(self
                    .fail(d.note("--machine selects the machine to predict for, --gpu-name the GPU to compile for")))
            }
        }
    }

    fn tools(&mut self, identity: &Identity, core: &Core<'_>, call: &Call, first: &Point) -> Result<Tools> {
        let here = std::env::current_exe().map_err(|e| {
            let text = format!("the path of this program is unknown: {}", io_text(&e));
            self.fail(Diagnostic::error(Code::CoreNotFound, text))
        })?;
        let simulator: (PathBuf, Vec<OsString>) = match core {
            // This program contains the simulator.
            Core::Guarded(_) => (here.clone(), vec!["--called-as=tile-run".into()]),
            Core::Program(_) | Core::InProcess(_) => (here.with_file_name("tile-run"), vec![]),
        };
        if (matches!(call.time_source, TimeSource::Predicted(_)) || call.check.is_some()) && !simulator.0.is_file() {
            let text = format!("the simulator '{}' was not found", simulator.0.display());
            return Err(self.fail(Diagnostic::error(Code::CoreNotFound, text)));
        }
        let surroundings = Surroundings::of_process();
        let explicit = options_of(call, first).ptxas.path;
        let found = toolchain::search("ptxas", explicit.as_deref(), &surroundings);
        for text in &found.warnings {
            self.report(&Diagnostic::warning(text.clone()));
        }
        let has_assembler = !found.found.is_empty();
        match &call.time_source {
            TimeSource::Benchmark(text) if !has_assembler && mentions(text, "cubin") => {
                let text = "the benchmark command uses '$cubin', but ptxas was not found";
                return Err(self.fail(Diagnostic::error(Code::PtxasNotFound, text)));
            }
            TimeSource::Predicted(_) if !has_assembler => {
                let text = "ptxas was not found, so register counts are estimated";
                self.report(&Diagnostic::warning(text));
            }
            _ => {}
        }
        let Identity { version, sources, llvm, .. } = identity;
        let identity = format!("{version} {sources} {llvm}");
        Ok(Tools { compiler: here, simulator, identity, has_assembler, surroundings })
    }
}

/// The compiler options of a variant, as far as they can be parsed.
fn options_of(call: &Call, point: &Point) -> options::Options {
    let filled = call.compile.iter().filter_map(|t| t.fill(point).ok());
    let all: Vec<OsString> =
        ["tileiras".to_owned(), "program".to_owned()].into_iter().chain(filled).map(Into::into).collect();
    options::options(&cl::parse(SPECS, &all, 1), "program".into())
}
