//! The cache for programs that call the compiler as a library.
//!
//! A request has the name of the command that means the same, so both share entries. The requests that the command
//! does not cache are compiled each time: those for remarks, earlier stages and instrumentation.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tile_diag::Diagnostic;
use tile_interface::{CompileError, CompileOutput, CompileRequest, Compiler, Instrumentation};

use super::{Entry, KeyHasher, LocalStore, Messages, Slot, files, slot};
use crate::options::{self, SPECS};
use crate::ptxas::{self, Cubin, Job, PtxasError};
use crate::toolchain::{self, Surroundings};
use crate::{Identity, cl, isolated};

/// A compiler, and ptxas, with a directory of earlier results.
pub struct Cached<'a> {
    pub compiler: &'a dyn Compiler,
    pub identity: &'a Identity,
    pub directory: &'a Path,
}

impl Compiler for Cached<'_> {
    /// Failures are not kept, and neither is a warning that the directory cannot be used.
    fn compile(
        &self,
        request: &CompileRequest<'_>,
        report: &mut dyn FnMut(Diagnostic),
    ) -> Result<CompileOutput, CompileError> {
        let Some(slot) = self.slot(request) else { return self.compiler.compile(request, report) };
        if let Some(found) = slot.load().entry
            && let Ok(text) = String::from_utf8(found.output)
        {
            found.messages.read().0.into_iter().for_each(report);
            return Ok(CompileOutput { text, ..CompileOutput::default() });
        }
        let mut messages = Messages::default();
        let output = self.compiler.compile(request, &mut |diagnostic| {
            messages.add_diagnostic(&diagnostic);
            report(diagnostic);
        })?;
        slot.store(&Entry { messages, output: output.text.clone().into_bytes() });
        Ok(output)
    }
}

impl Cached<'_> {
    /// Whether the result of a request is in the directory.
    pub fn has(&self, request: &CompileRequest<'_>) -> bool {
        self.slot(request).is_some_and(|slot| slot.load().entry.is_some())
    }

    /// `None` for a request that is not cached.
    fn slot(&self, request: &CompileRequest<'_>) -> Option<Slot> {
        let has_more = request.keep_stages
            || request.keep_snapshots
            || request.remarks
            || request.preview
            || !request.libraries.is_empty()
            || request.instrumentation != Instrumentation::default();
        if has_more {
            return None;
        }
        let mut arguments = vec![OsString::from("tileiras")];
        arguments.extend(isolated::arguments(request));
        let parsed = cl::parse(SPECS, &arguments, 1);
        if !parsed.errors.is_empty() {
            return None;
        }
        let mut options = options::options(&parsed, PathBuf::from(request.input_name));
        options.cache_dir = Some(self.directory.to_owned());
        let surroundings = Surroundings::of_process();
        slot(&options, request.opt_level, request.input, request.kind, self.identity, &surroundings).ok()?
    }

    /// [`ptxas::assemble`] with the ptxas that is found first. The name of an entry contains the PTX, so an entry
    /// serves every version of the compiler that generates the same PTX.
    ///
    /// # Errors
    /// As [`ptxas::assemble`]. Failures are not kept.
    pub fn assemble(&self, job: &Job<'_>, surroundings: &Surroundings) -> Result<Cubin, PtxasError> {
        let fresh = || ptxas::assemble(job, None, surroundings).1;
        let Some(slot) = self.cubin_slot(job, surroundings) else { return fresh() };
        if let Some(entry) = slot.load().entry
            && let Some(text) = entry.messages.read().1.first()
            && let Ok((messages, resources)) = serde_json::from_str::<(String, _)>(text)
        {
            return Ok(Cubin { image: entry.output, messages: messages.into_bytes(), resources });
        }
        let cubin = fresh()?;
        let said = std::str::from_utf8(&cubin.messages).ok();
        if let Some(text) = said.and_then(|text| serde_json::to_string(&(text, &cubin.resources)).ok()) {
            let mut messages = Messages::default();
            messages.add_output(&text);
            slot.store(&Entry { messages, output: cubin.image.clone() });
        }
        Ok(cubin)
    }

    fn cubin_slot(&self, job: &Job<'_>, surroundings: &Surroundings) -> Option<Slot> {
        let numbers = [job.opt_level, job.extended_shared.into(), job.statistics.into()];
        let debug = format!("{:?} {:?} {:?}", job.debug, job.sanitize, job.extra);
        let key = [b"ptxas", job.ptx.as_bytes(), job.target.name.as_bytes(), &numbers, debug.as_bytes()];
        self.slot_of(&key, &toolchain::search("ptxas", None, surroundings).found)
    }

    /// The output of another program, which `key` and the contents of `files` determine. If it is not in the
    /// directory, `run` makes it.
    ///
    /// # Errors
    /// As `run`. Failures are not kept.
    pub fn output<E>(
        &self,
        key: &[&[u8]],
        files: &[PathBuf],
        run: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Vec<u8>, E> {
        let slot = self.slot_of(key, files);
        if let Some(entry) = slot.as_ref().and_then(|slot| slot.load().entry) {
            return Ok(entry.output);
        }
        let output = run()?;
        if let Some(slot) = slot {
            slot.store(&Entry { messages: Messages::default(), output: output.clone() });
        }
        Ok(output)
    }

    /// `None` if a file cannot be read, or the directory is not trusted.
    fn slot_of(&self, fields: &[&[u8]], files: &[PathBuf]) -> Option<Slot> {
        let local = LocalStore::new(self.directory.to_owned(), false);
        local.check().ok()?;
        let mut key = KeyHasher(Sha256::new());
        key.add(b"the output of another program");
        key.list(fields.iter().map(|field| field.to_vec()));
        key.list(files::Digests::new(Some(local.clone())).of_all(files)?.into_iter());
        Some(Slot { name: key.finish(), stores: vec![Box::new(local)] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{cell::Cell, slice};
    use tile_interface::InputKind;
    use tile_targets::Target;

    const IDENTITY: Identity = Identity { version: "1", revision: "r", sources: "s", llvm: "21" };

    /// Returns the number of calls as text, and warns.
    struct Counting(Cell<u32>);

    impl Compiler for Counting {
        fn compile(
            &self,
            request: &CompileRequest<'_>,
            report: &mut dyn FnMut(Diagnostic),
        ) -> Result<CompileOutput, CompileError> {
            self.0.set(self.0.get() + 1);
            report(Diagnostic::warning("deprecated"));
            match request.input {
                b"bad" => Err(CompileError::Failed),
                _ => Ok(CompileOutput { text: self.0.get().to_string(), ..CompileOutput::default() }),
            }
        }
    }

    fn request(input: &[u8]) -> CompileRequest<'_> {
        CompileRequest::new(input, InputKind::PublicBytecode, Target::by_name("sm_90").unwrap())
    }

    #[test]
    fn equal_requests_are_compiled_once() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("cache");
        let compiler = Counting(Cell::new(0));
        let cached = Cached { compiler: &compiler, identity: &IDENTITY, directory: &directory };
        let run = |cached: &Cached<'_>, request: &CompileRequest<'_>| {
            let mut said = vec![];
            let text = cached.compile(request, &mut |d| said.push(d.message)).map(|output| output.text);
            assert_eq!(said, ["deprecated"]);
            text.map_err(|_| ())
        };
        assert!(!cached.has(&request(b"a")));
        let other_level = CompileRequest { opt_level: 0, ..request(b"a") };
        let with_lines = CompileRequest { debug: tile_interface::DebugInfo::Lines, ..request(b"a") };
        for (request, text) in [(&request(b"a"), "1"), (&request(b"b"), "2"), (&other_level, "3"), (&with_lines, "4")] {
            assert_eq!(run(&cached, request), Ok(text.into()));
            assert_eq!(run(&cached, request), Ok(text.into()));
            assert!(cached.has(request));
        }
        // Another compiler, failures and requests for more than text.
        let identity = Identity { sources: "t", ..IDENTITY };
        assert_eq!(run(&Cached { identity: &identity, ..cached }, &request(b"a")), Ok("5".into()));
        let remarks = CompileRequest { remarks: true, ..request(b"a") };
        assert_eq!([run(&cached, &remarks), run(&cached, &remarks)], [Ok("6".into()), Ok("7".into())]);
        assert_eq!([run(&cached, &request(b"bad")), run(&cached, &request(b"bad"))], [Err(()), Err(())]);
        assert_eq!(compiler.0.get(), 9);
        // The environment may make every request strict.
        let strict = CompileRequest { strict_plans: true, ..request(b"a") };
        assert_eq!(run(&cached, &strict) == Ok("1".into()), tile_interface::has_strict_plans());
    }

    #[test]
    fn outputs_depend_on_files() {
        let root = tempfile::tempdir().unwrap();
        let (directory, tool) = (root.path().join("cache"), root.path().join("tool"));
        let cached = Cached { compiler: &Counting(Cell::new(0)), identity: &IDENTITY, directory: &directory };
        let output =
            |key: &[&[u8]], now: &str| cached.output(key, slice::from_ref(&tool), || Ok::<_, ()>(now.into())).unwrap();
        std::fs::write(&tool, "one").unwrap();
        assert_eq!([output(&[b"a"], "1"), output(&[b"a"], "2"), output(&[b"a", b""], "3")], [b"1", b"1", b"3"]);
        std::fs::write(&tool, "two").unwrap();
        assert_eq!(output(&[b"a"], "4"), b"4");
        std::fs::write(&tool, "one").unwrap();
        assert_eq!(output(&[b"a"], "5"), b"1");
        assert_eq!(cached.output(&[b"b"], slice::from_ref(&tool), || Err(1)), Err(1));
        assert_eq!(cached.output(&[b"a"], &[root.path().join("none")], || Err(2)), Err(2));
    }
}
