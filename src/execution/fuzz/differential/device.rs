//! Cases for a device that is somewhere else: made ready to run here, and what came back judged here.

use super::{Configuration, Failure, Plan, compare, compiled, interpreted_with_meaning, is_refusal, meaning_of, timed};
use std::time::Duration;
use tile_driver::ptxas;
use tile_driver::toolchain::Surroundings;
use tile_fuzz::archive::{Image, Received};
use tile_fuzz::case::{Case, Meaning, Parameter, threads};
use tile_fuzz::file::File;
use tile_fuzz::generate::generate_with_meaning;
use tile_interface::DebugInfo;
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
        extended_shared: false,
        sanitize: None,
        extra: &[],
        timeout: Some(Duration::from_secs(120)),
        scratch: &std::env::temp_dir(),
        statistics: false,
    };
    let (_, result) = ptxas::assemble(&job, None, &Surroundings::of_process());
    result.map(|cubin| cubin.image).map_err(|e| format!("{e}: {}", String::from_utf8_lossy(e.messages()).trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tile_fuzz::case::numbers;
    use tile_interp::types::Number;

    fn subject(text: &str) -> Subject {
        Subject::of_file(&File::parse(text).unwrap()).unwrap().unwrap()
    }

    const STORE: &str = "\
// grid: 1 1 1
// scalar: i32 7
// buffer: i32 0*2 -> 7 0
cuda_tile.module @m {
  entry @k(%x: tile<i32>, %p: tile<ptr<i32>>) {
    %k = store_ptr_tko weak %p, %x : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
";

    #[test]
    fn images_and_their_results() {
        let subject = subject(STORE);
        assert_eq!(subject.left_out, None);
        let plan = Plan::matrix(&["sm_90".into(), "sm_80".into()], &[0, 3]).unwrap();
        let images = subject.images(&plan, 1, Form::Ptx).unwrap();
        let names: Vec<&str> = images.iter().map(|(i, _)| i.configuration.as_str()).collect();
        assert_eq!(names, ["sm_90 -O0", "sm_90 -O3", "sm_80 -O0", "sm_80 -O3"]);
        assert!(images.iter().all(|(i, bytes)| i.threads == [128, 1, 1] && !i.prints && i.bytes == bytes.len()));
        let result = |buffers| Received { buffers, ..Received::default() };
        assert_eq!(subject.complaint(&result(vec![Some(8)]), &[7, 0, 0, 0, 0, 0, 0, 0]), None);
        let wrong = subject.complaint(&result(vec![Some(8)]), &[7, 0, 0, 0, 9, 0, 0, 0]).unwrap();
        assert_eq!(wrong, "parameter 1: 1 of 2 elements are wrong, first 1: i32 0x00000009, expected i32 0x00000000");
        assert!(subject.complaint(&result(vec![None]), &[]).unwrap().contains("first 0: i32 0x00000000"));
        let lost = Received { error: Some("run: lost".into()), ..Received::default() };
        assert_eq!(subject.complaint(&lost, &[]).unwrap(), "run: lost");
        assert_eq!(subject.on_simulator("sm_90 -O3"), "the simulator agrees with the interpreter");
        assert!(subject.on_simulator("sm_90").contains("is no configuration"));
    }

    /// What decides a branch or a place must be known, and nothing may trap: a device has one context for many
    /// programs.
    #[test]
    fn what_a_device_is_not_to_run() {
        let guess =
            STORE.replace("scalar: i32 7", "scalar: f32 inf").replace("%x: tile<i32>", "%x: tile<f32>").replace(
                "    %k = store_ptr_tko weak %p, %x",
                "    %i = ftoi %x signed : tile<f32> -> tile<i32>\n    \
             %q = offset %p, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>\n    \
             %v = constant <i32: 7> : tile<i32>\n    %k = store_ptr_tko weak %q, %v",
            );
        assert_eq!(subject(&guess).left_out, Some("decided by a guess"));
        let fails = STORE.replace(
            "    %k = ",
            "    %no = constant <i1: false> : tile<i1>\n    assert %no, \"no\" : tile<i1>\n    %k = ",
        );
        assert_eq!(subject(&fails).left_out, Some("an assertion fails"));
    }

    /// Large buffers repeat themselves where the program still means something; the same for everyone who asks.
    #[test]
    fn random_programs_travel_with_less_data() {
        let mut smaller = 0;
        for seed in 0..12 {
            let Some(subject) = Subject::of_seed(seed) else { continue };
            let (plain, _) = generate_with_meaning(seed).unwrap();
            assert_eq!(subject.case.program, plain.program);
            for (now, before) in subject.case.parameters.iter().zip(&plain.parameters) {
                let (Parameter::Buffer { number, bytes }, Parameter::Buffer { bytes: before, .. }) = (now, before)
                else {
                    continue;
                };
                assert_eq!(bytes.len(), before.len());
                if bytes != before {
                    smaller += 1;
                    let all = numbers(bytes, *number);
                    let period = if *number == Number::E2m1 { 2 * PERIOD } else { PERIOD };
                    assert!((period..all.len()).all(|i| all[i] == all[i - period]), "seed {seed}");
                }
            }
        }
        assert!(smaller > 3, "{smaller}");
    }
}
