//! Cases for a device that is somewhere else: made ready to run here, and what came back judged here.

use super::{Configuration, Failure, Plan, compare, compiled, interpreted_with_meaning, is_refusal, meaning_of, timed};
use std::time::Duration;
use tile_driver::ptxas;
use tile_driver::toolchain::Surroundings;
use tile_driver::DebugInfo;
use tile_fuzz::archive::{Image, Result as Received};
use tile_fuzz::case::{Case, Meaning, Parameter, threads};
use tile_fuzz::file::File;
use tile_fuzz::generate::generate_with_meaning;
use tile_interp::text;

/// What a device gets of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Cubin,
    /// For simulated devices, and drivers that assemble themselves.
    Ptx,
}

/// A case, the text that is compiled, and what has to come out.
pub struct Subject {
    pub case: Case,
    pub text: String,
    pub meaning: Meaning,
    /// Where the interpreter's run was a guess, or what it found, so that a device is not to run it.
    pub left_out: Option<&'static str>,
}

impl Subject {
    fn new(case: Case, text: String, meaning: Meaning, run: &Meaning) -> Subject {
        let left_out = match run {
            // An address or a branch may be anything then, and the device's memory is not the only thing it could hit.
            Meaning { guess: Some(_), .. } => Some("decided by a guess"),
            // A trap kills the context.
            Meaning { failed_assertions, .. } if !failed_assertions.is_empty() => Some("an assertion fails"),
            _ => None,
        };
        Subject { case, text, meaning, left_out }
    }

    /// The random program of a seed, if it has one; with less data, where it has a meaning then too.
    pub fn of_seed(seed: u64) -> Option<Subject> {
        let (case, meaning) = generate_with_meaning(seed)?;
        let small = repeating(&case).and_then(|small| Some((meaning_of(&small).ok()?, small)));
        let (case, meaning) = match small {
            Some((run, small)) if run.guess.is_none() && run.failed_assertions.is_empty() => (small, run),
            _ => (case, meaning),
        };
        Some(Subject::new(case.clone(), text::print(&case.program), meaning.clone(), &meaning))
    }

    /// A written test, if it has a meaning.
    pub fn of_file(file: &File) -> Result<Option<Subject>, Failure> {
        let found = interpreted_with_meaning(file)?;
        Ok(found.map(|(case, run)| Subject::new(case, file.text.clone(), file.meaning(), &run)))
    }

    /// Compiles for a device in every way that the plan has for `seed`.
    pub fn images(&self, plan: &Plan, seed: u64, form: Form) -> Result<Vec<(Image, Vec<u8>)>, Failure> {
        plan.of(seed).iter().map(|c| self.image(c, form)).collect()
    }

    fn image(&self, c: &Configuration, form: Form) -> Result<(Image, Vec<u8>), Failure> {
        let failure = |message: String| Failure::Compile { configuration: c.to_string(), message };
        let ptx = timed(|t| &mut t.compiler, || compiled(&self.text, c)).map_err(failure)?;
        let threads = threads(&ptx, self.case.entry()).map_err(failure)?;
        let prints = ptx.contains("vprintf");
        let bytes = match form {
            Form::Ptx => ptx.into_bytes(),
            Form::Cubin => timed(|t| &mut t.assembler, || assembled(&ptx, c)).map_err(failure)?,
        };
        Ok((Image { configuration: c.to_string(), threads, prints, bytes: bytes.len() }, bytes))
    }

    /// What is wrong with a device's result; `None` if it is as the language wants.
    pub fn complaint(&self, received: &Received, payload: &[u8]) -> Option<String> {
        match received.outcome(payload, &self.case) {
            Ok(outcome) => self.case.difference(&self.meaning, &outcome),
            Err(error) => Some(error),
        }
    }

    /// What the simulator makes of the program in a configuration: the other witness, where a device's result is wrong.
    pub fn on_simulator(&self, configuration: &str) -> String {
        let Some(c) = Configuration::by_name(configuration) else {
            return format!("'{configuration}' is no configuration to try on the simulator");
        };
        match compare(&self.case, &self.text, &self.meaning, &c, 1) {
            Ok(()) => "the simulator agrees with the interpreter".into(),
            Err(failure) => format!("so does the simulator disagree: {failure}"),
        }
    }
}

/// After so many elements a buffer begins anew: random numbers are most of what travels, and no compression makes them
/// smaller. A prime, so that rows and columns of tiles still differ.
const PERIOD: usize = 509;

/// A case whose large buffers repeat themselves; none if it has no large ones.
fn repeating(case: &Case) -> Option<Case> {
    let mut small = case.clone();
    for p in &mut small.parameters {
        if let Parameter::Buffer { number, bytes } = p {
            let period = PERIOD * (number.stored_bits() as usize / 8).max(1);
            (period..bytes.len()).for_each(|i| bytes[i] = bytes[i - period]);
        }
    }
    (small != *case).then_some(small)
}

/// Whether a failure to compile is a refusal that says so.
pub fn refused(failure: &Failure) -> bool {
    matches!(failure, Failure::Compile { message, .. } if is_refusal(message))
}

fn assembled(ptx: &str, c: &Configuration) -> Result<Vec<u8>, String> {
    let job = ptxas::Job {
        ptx,
        target: c.target,
        opt_level: c.level,
        debug: DebugInfo::None,
        sanitize: None,
        extra: &[],
        timeout: Some(Duration::from_secs(120)),
        scratch: &std::env::temp_dir(),
        statistics: false,
    };
    let (_, result) = ptxas::assemble(&job, None, &Surroundings::of_process());
    result.map(|cubin| cubin.image).map_err(|e| {
        format!("{e}: {}", String::from_utf8_lossy(e.messages()).trim())
    })
}
