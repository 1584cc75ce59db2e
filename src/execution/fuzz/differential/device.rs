//! Cases for a device on another machine: compiles them here, and compares the results that the device returns.

use super::{
    Configuration, Failure, TestMatrix, compare, compiled, interpreted_with_meaning, is_refusal, meaning_of, timed,
};
use std::time::Duration;
use tile_driver::ptxas;
use tile_driver::toolchain::Surroundings;
use tile_fuzz::archive::{DeviceResult, Image};
use tile_fuzz::case::{Case, Meaning, Parameter, threads};
use tile_fuzz::file::File;
use tile_fuzz::generate::generate_with_meaning;
use tile_interface::DebugInfo;
use tile_interp::text;

/// The form of an image for a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Cubin,
    /// For simulated devices, and for drivers that assemble PTX themselves.
    Ptx,
}

/// A case, the text that is compiled, and the expected results.
pub struct Subject {
    pub case: Case,
    pub text: String,
    pub meaning: Meaning,
    /// The reason for which a device must not run the program, if there is one.
    pub left_out: Option<&'static str>,
}

impl Subject {
    fn new(case: Case, text: String, meaning: Meaning, run: &Meaning) -> Subject {
        let left_out = match run {
            // An arbitrary address or branch could damage more than the device's memory.
            Meaning { guess: Some(_), .. } => Some("decided by a guess"),
            // A trap destroys the context.
            Meaning { failed_assertions, .. } if !failed_assertions.is_empty() => Some("an assertion fails"),
            _ => None,
        };
        Subject { case, text, meaning, left_out }
    }

    /// The random program of a seed, if it has one. Its large buffers are made periodic if the program is still valid
    /// with them.
    pub fn of_seed(seed: u64) -> Option<Subject> {
        let (case, meaning) = generate_with_meaning(seed)?;
        let small = repeating(&case).and_then(|small| Some((meaning_of(&small).ok()?, small)));
        let (case, meaning) = match small {
            Some((run, small)) if run.guess.is_none() && run.failed_assertions.is_empty() => (small, run),
            _ => (case, meaning),
        };
        Some(Subject::new(case.clone(), text::print(&case.program), meaning.clone(), &meaning))
    }

    /// A written test, unless it expects an error.
    pub fn of_file(file: &File) -> Result<Option<Subject>, Failure> {
        let found = interpreted_with_meaning(file)?;
        Ok(found.map(|(case, run)| Subject::new(case, file.text.clone(), file.meaning(), &run)))
    }

    /// Compiles for a device in every configuration of the matrix for `seed`.
    pub fn images(&self, matrix: &TestMatrix, seed: u64, form: Form) -> Result<Vec<(Image, Vec<u8>)>, Failure> {
        matrix.of(seed).iter().map(|c| self.image(c, form)).collect()
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

    /// Describes the error in a device's result; `None` if the language permits the result.
    pub fn complaint(&self, received: &DeviceResult, payload: &[u8]) -> Option<String> {
        match received.outcome(payload, &self.case) {
            Ok(outcome) => self.case.difference(&self.meaning, &outcome),
            Err(error) => Some(error),
        }
    }

    /// Runs the program on the simulator, as a second opinion on a wrong result of a device.
    pub fn on_simulator(&self, configuration: &str) -> String {
        let Some(c) = Configuration::by_name(configuration) else {
            return format!("'{configuration}' is not a configuration of the simulator");
        };
        match compare(&self.case, &self.text, &self.meaning, &c, 1) {
            Ok(()) => "the simulator agrees with the interpreter".into(),
            Err(failure) => format!("the simulator disagrees with the interpreter too: {failure}"),
        }
    }
}

/// Number of elements after which a large buffer repeats. Random numbers are most of the transferred data and do not
/// compress. The period is prime, so rows and columns of tiles still differ.
const PERIOD: usize = 509;

/// The case with periodic large buffers; `None` if it has no large buffer.
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

/// Whether the failure says that the compiler does not support the program.
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
        let matrix = TestMatrix::new(&["sm_90".into(), "sm_80".into()], &[0, 3]).unwrap();
        let images = subject.images(&matrix, 1, Form::Ptx).unwrap();
        let names: Vec<&str> = images.iter().map(|(i, _)| i.configuration.as_str()).collect();
        assert_eq!(names, ["sm_90 -O0", "sm_90 -O3", "sm_80 -O0", "sm_80 -O3"]);
        assert!(images.iter().all(|(i, bytes)| i.threads == [128, 1, 1] && !i.prints && i.bytes == bytes.len()));
        let result = |buffers| DeviceResult { buffers, ..DeviceResult::default() };
        assert_eq!(subject.complaint(&result(vec![Some(8)]), &[7, 0, 0, 0, 0, 0, 0, 0]), None);
        let wrong = subject.complaint(&result(vec![Some(8)]), &[7, 0, 0, 0, 9, 0, 0, 0]).unwrap();
        assert_eq!(wrong, "parameter 1: 1 of 2 elements are wrong, first 1: i32 0x00000009, expected i32 0x00000000");
        assert!(subject.complaint(&result(vec![None]), &[]).unwrap().contains("first 0: i32 0x00000000"));
        let lost = DeviceResult { error: Some("run: lost".into()), ..DeviceResult::default() };
        assert_eq!(subject.complaint(&lost, &[]).unwrap(), "run: lost");
        assert_eq!(subject.on_simulator("sm_90 -O3"), "the simulator agrees with the interpreter");
        assert!(subject.on_simulator("sm_90").contains("is not a configuration"));
    }

    /// Branches and addresses must not depend on unknown values, and nothing may trap, because many programs share
    /// one context on the device.
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

    /// Large buffers become periodic if the program is still valid with them. The result depends only on the seed.
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
