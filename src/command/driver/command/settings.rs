//! Checks of options beyond the command-line grammar.

use super::{Result, Session};
use crate::{
    hostobj::{HostArch, HostOs},
    libraries,
    options::Options,
    output,
};
use std::{path::PathBuf, time::Duration};
use tile_diag::{Code, Diagnostic};
use tile_interface::{Backend, Boundary, Emit, Insertion};

/// Checked settings that [`Options`] holds as written.
pub(super) struct Settings {
    pub(super) opt_level: u8,
    pub(super) pipeline_options: Vec<(String, String)>,
    pub(super) insertions: Vec<Insertion>,
    pub(super) start_after: Option<Boundary>,
    pub(super) print_after: Option<Boundary>,
    pub(super) timeout: Option<Duration>,
    pub(super) backend: Backend,
    pub(super) libdevice: Option<PathBuf>,
    /// Names and contents of tile libraries.
    pub(super) libraries: Vec<(String, Vec<u8>)>,
    pub(super) output: PathBuf,
}

impl Session<'_> {
    /// Checks the options beyond the command-line grammar, in the same order as the C interface.
    pub(super) fn check(&mut self, options: &Options) -> Result<Settings> {
        let opt_level = match options.opt_level {
            level @ 0..=3 => level as u8,
            level => {
                let d = Diagnostic::error(Code::OptimizationLevel, "invalid optimization level");
                return Err(self.fail(d.note(format!("the level is 0, 1, 2 or 3, not {level}"))));
            }
        };
        if options.device_debug && opt_level != 0 {
            let text =
                "optimized debugging is not supported, change optimization level to 0 or disable full debug info";
            return Err(self.fail(Diagnostic::error(Code::OptimizedDebugging, text)));
        }
        if let Some(file) = &options.controls {
            let text = "--apply-controls is not supported on this platform";
            let way = format!("pass the file to ptxas: --ptxas-option=--apply-controls={}", file.display());
            return Err(self.fail(Diagnostic::error(Code::BadConfiguration, text).note(way)));
        }
        if options.sanitize.is_some() && options.emit < Emit::Cubin {
            let text = "--sanitize has no effect here: ptxas inserts the checks, and this stage does not run it";
            self.report(&Diagnostic::warning(text));
        }
        let mut pipeline_options = Vec::new();
        for option in &options.pipeline_options {
            let text = option.to_string_lossy();
            match text.split_once('=').filter(|(key, _)| !key.is_empty()) {
                Some((key, value)) => pipeline_options.push((key.to_owned(), value.to_owned())),
                None => {
                    let text = format!("the pipeline option '{text}' is not of the form key=value");
                    return Err(self.fail(Diagnostic::error(Code::BadConfiguration, text)));
                }
            }
        }
        let insertions = options.insertions.iter().map(|text| text.to_string_lossy().parse()).collect::<Result<_, _>>();
        let insertions = insertions
            .map_err(|why| self.fail(Diagnostic::error(Code::BadConfiguration, format!("--insert-pass: {why}"))))?;
        let [start_after, print_after] = [("start-after", &options.start_after), ("print-after", &options.print_after)]
            .map(|(name, text)| {
                let boundary = text.as_ref().map(|text| text.to_string_lossy().parse()).transpose();
                boundary.map_err(|why| Diagnostic::error(Code::BadConfiguration, format!("--{name}: {why}")))
            });
        let start_after = start_after.map_err(|d| self.fail(d))?;
        let print_after = print_after.map_err(|d| self.fail(d))?;
        // Only the object depends on the host. NVIDIA's first release accepts the architecture alone for a cubin.
        let is_host_used = options.emit == Emit::Obj || options.is_host_os_given;
        if is_host_used && (options.host_arch, options.host_os) == (HostArch::Arm64Ec, HostOs::Linux) {
            let d = Diagnostic::error(Code::BadConfiguration, "unsupported host architecture");
            return Err(self.fail(d.note("arm64ec requires --host-os=windows")));
        }
        let timeout = self.timeout(options)?;
        let backend = libraries::backend(options).map_err(|d| self.fail(d))?;
        let libdevice = libraries::libdevice(options).map_err(|d| self.fail(d))?;
        let libraries = self.read_libraries(options)?;
        let output = options
            .output
            .clone()
            .unwrap_or_else(|| PathBuf::from(if options.emit >= Emit::Cubin { "elf.o" } else { "-" }));
        for file in [Some(output.clone()), options.resource_usage_file.clone()].into_iter().flatten() {
            output::check(&file).map_err(|e| self.output_failed(&e))?;
        }
        if let Some(file) = options.remarks.output_file() {
            output::check(&file).map_err(|e| self.remarks_failed(&e))?;
        }
        Ok(Settings {
            opt_level,
            pipeline_options,
            insertions,
            start_after,
            print_after,
            timeout,
            backend,
            libdevice,
            libraries,
            output,
        })
    }

    /// The ptxas timeout: the option overrides the environment. Zero means no limit.
    fn timeout(&mut self, options: &Options) -> Result<Option<Duration>> {
        if options.ptxas.timeout.is_some() {
            return Ok(options.ptxas.timeout);
        }
        let Some(value) = std::env::var_os("TILEIRAS_PTXAS_TIMEOUT").filter(|v| !v.is_empty()) else { return Ok(None) };
        match value.to_str().and_then(|v| v.parse().ok()) {
            Some(seconds) => Ok(Some(Duration::from_secs(seconds))),
            None => {
                let value = value.to_string_lossy();
                let text = format!("TILEIRAS_PTXAS_TIMEOUT is '{value}', which is not a number of seconds");
                Err(self.fail(Diagnostic::error(Code::BadConfiguration, text)))
            }
        }
    }
}
