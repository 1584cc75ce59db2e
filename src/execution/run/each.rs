//! `tile-run --check-each`: finds the pass that makes results wrong.
//!
//! The program is compiled with none of the optional passes, with the first of them, with the first two and so on
//! (`pass-limit` of the pipeline), and each image is run. If a mandatory pass is at fault, the results are wrong from
//! the start.

use crate::cl::{Nearness, Options};
use crate::command::{Failure, Tools, read, warn};
use crate::element::{Element, Number};
use crate::execute::{check, execute};
use crate::launch::{Argument, Expect, Launch, Match, Source, Tolerance};
use crate::npy::Array;
use crate::reference::{self, ReferenceResults};
use ptx_sim::{Module, RunOptions};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use tile_diag::Diagnostic;
use tile_interface::{CompileRequest, InputKind};

/// Compiles with more and more passes, runs each image, and prints after which passes the results are as expected.
pub fn check_each(
    kernel: &Path,
    options: &Options,
    launch: &Launch,
    tools: Tools<'_>,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<(), Failure> {
    let (input, kind) = read(kernel)?;
    let trial = Trial { path: kernel.display().to_string(), input, kind, options, tools };
    let described;
    let launch = if launch.expect.is_empty() && launch.stdout.is_none() {
        let expect = expectations((&trial.path, &trial.input, trial.kind), options, launch, tools, stderr)?;
        described = Launch { expect, ..launch.clone() };
        &described
    } else {
        launch
    };
    let passes = trial.optional_passes()?;
    let mut last = String::new();
    let mut behavior = Behavior::Right;
    let mut right_before = false;
    let mut first_wrong = None;
    for limit in 0..=passes.len() {
        let mut remark = String::new();
        // All passes together are compiled without a limit, because some choices depend on shared memory.
        match trial.compile((limit < passes.len()).then_some(limit)) {
            Err(why) => {
                remark = format!("does not compile without later passes: {why}");
                behavior = Behavior::NotCompiled(why);
                // The behavior of earlier code does not apply to this.
                last.clear();
            }
            Ok(ptx) if ptx == last => remark = "same code".to_owned(),
            Ok(ptx) => {
                behavior = trial.behavior(&ptx, launch)?;
                last = ptx;
            }
        }
        let word = match &behavior {
            Behavior::Right => "right",
            Behavior::Wrong(_) => "wrong",
            Behavior::NotCompiled(_) => "-",
        };
        let pass = limit.checked_sub(1).map(|i| passes[i].as_str());
        if let (Behavior::Wrong(why), None) = (&behavior, &first_wrong) {
            first_wrong = Some((pass.filter(|_| right_before), why.clone()));
            remark.clone_from(why);
        }
        right_before |= matches!(behavior, Behavior::Right);
        let line = format!("{word:<6} {:<40} {remark}", pass.unwrap_or("without optional passes"));
        writeln!(stdout, "{}", line.trim_end()).and_then(|()| stdout.flush()).map_err(unprintable)?;
    }
    match (first_wrong, behavior) {
        (Some((Some(pass), why)), last) => {
            let mut lines = vec![format!("results are wrong after '{pass}' and right before it"), why];
            if matches!(last, Behavior::Right) {
                lines
                    .push("they are right again in the end: a later pass is needed by what this one leaves".to_owned());
            }
            Err(Failure::Wrong(lines))
        }
        (Some((None, why)), _) => Err(Failure::Wrong(vec![
            "results are wrong without optional passes too: one that always runs, the generation of code or the \
             program is at fault"
                .to_owned(),
            why,
        ])),
        (None, Behavior::NotCompiled(message)) => Err(Failure::Compile { path: trial.path, message }),
        (None, _) => Ok(()),
    }
}

/// The behavior of an image.
pub(crate) enum Behavior {
    Right,
    Wrong(String),
    NotCompiled(String),
}

/// A kernel that is compiled and run in different ways.
pub(crate) struct Trial<'a> {
    pub path: String,
    pub input: Vec<u8>,
    pub kind: InputKind,
    pub options: &'a Options,
    pub tools: Tools<'a>,
}

impl Trial<'_> {
    pub fn request<'a>(&'a self, pipeline_options: &'a [(String, String)]) -> CompileRequest<'a> {
        CompileRequest {
            input_name: &self.path,
            opt_level: self.options.opt_level,
            pipeline_options,
            plugins: &self.options.plugins,
            insertions: &self.options.insertions,
            preview: true,
            libraries: &self.options.libraries,
            ..CompileRequest::new(&self.input, self.kind, self.options.target)
        }
    }

    pub fn optional_passes(&self) -> Result<Vec<String>, Failure> {
        let request = self.request(&self.options.pipeline_options);
        (self.tools.optional_passes)(&request)
            .map_err(|e| Failure::Compile { path: self.path.clone(), message: e.to_string() })
    }

    /// Compiles to PTX with the first `limit` optional passes. The error is a message.
    pub fn compile(&self, limit: Option<usize>) -> Result<String, String> {
        let mut pipeline_options = self.options.pipeline_options.clone();
        pipeline_options.extend(limit.map(|limit| ("pass-limit".to_owned(), limit.to_string())));
        let mut said = None;
        let mut report = |d: Diagnostic| {
            if d.severity == tile_diag::Severity::Error {
                said.get_or_insert(d.message);
            }
        };
        let result = self.tools.compiler.compile(&self.request(&pipeline_options), &mut report);
        result.map(|output| output.text).map_err(|e| said.unwrap_or_else(|| e.to_string()))
    }

    /// Runs an image on all schedules.
    pub fn behavior(&self, ptx: &str, launch: &Launch) -> Result<Behavior, Failure> {
        let module =
            Module::parse(ptx).map_err(|e| Failure::Kernel { path: self.path.clone(), message: e.to_string() })?;
        for schedule in &self.options.schedules {
            let run = RunOptions {
                adversarial: *schedule,
                undefined: self.options.undefined,
                strict: self.options.strict,
                max_time: self.options.max_time,
                ..RunOptions::default()
            };
            // A launch that fails counts as wrong.
            let complaint = match execute(&module, launch, &run) {
                Err(e) => Some(e.to_string()),
                Ok(outcome) => check(launch, &outcome).into_iter().next(),
            };
            if let Some(complaint) = complaint {
                let shown = schedule.map_or(String::new(), |seed| format!("adversarial schedule {seed}: "));
                return Ok(Behavior::Wrong(format!("{shown}{complaint}")));
            }
        }
        Ok(Behavior::Right)
    }
}

/// The results of the reference interpreter for a launch of a program, which is given by its path, its bytes and its
/// kind.
pub fn expectations(
    (path, input, kind): (&str, &[u8], InputKind),
    options: &Options,
    launch: &Launch,
    tools: Tools<'_>,
    stderr: &mut dyn Write,
) -> Result<Vec<Expect>, Failure> {
    let mut report = |d: Diagnostic| {
        let _ = writeln!(stderr, "{}", tile_diag::render::plain(&d).trim_end());
    };
    let program = (tools.reader)(input, kind, &mut report)
        .map_err(|e| Failure::Kernel { path: path.to_owned(), message: e.to_string() })?;
    let host = reference::host_functions(&program, &options.host_functions, tools.host_loader);
    let host = host.map_err(Failure::Usage)?;
    let left = reference::execute(&program, launch, options.limits(), &host, &mut |broken| warn(broken, stderr))
        .map_err(|error| Failure::Execute { schedule: "reference".into(), error: Box::new(error) })?;
    if options.tolerance == Some(Nearness::Promised) {
        warn_undetermined(launch, &left, stderr);
    }
    Ok(expect(launch, left, options.tolerance))
}

fn unprintable(error: std::io::Error) -> Failure {
    Failure::Write { path: "standard output".into(), error }
}

/// Prints how many elements are undetermined, because comparing them proves nothing.
fn warn_undetermined(launch: &Launch, left: &ReferenceResults, stderr: &mut dyn Write) {
    if let Some(guess) = &left.guess {
        let _ = writeln!(stderr, "note: {guess} may have other values, and so may the results");
    }
    for (arg, (argument, promised)) in launch.args.iter().zip(&left.promised).enumerate() {
        for (a, scalars) in argument.arrays().iter().zip(promised) {
            let places: BTreeSet<usize> = a.passed_elements().collect();
            let open = places.iter().filter(|&&n| scalars.get(n).is_none_or(|s| s.is_unknown())).count();
            if open > 0 {
                let _ = writeln!(stderr, "note: arg {arg}: {open} of {} elements may be anything", places.len());
            }
        }
    }
}

/// Converts the results of a launch to expectations.
fn expect(launch: &Launch, left: ReferenceResults, tolerance: Option<Nearness>) -> Vec<Expect> {
    let mut all = vec![];
    let arrays = left.outcome.arrays.iter().zip(left.promised);
    for (arg, (argument, (arrays, promised))) in launch.args.iter().zip(arrays).enumerate() {
        if arrays.is_empty() || matches!(argument, Argument::TensorMap { .. }) {
            continue;
        }
        let element = argument.arrays()[0].element;
        let (values, how) = if element.is_integer() {
            (arrays.clone(), Match::Bits)
        } else {
            let values: Vec<Array> = arrays.iter().map(|a| doubles(a, element)).collect();
            let largest =
                values.iter().flat_map(numbers).filter(|x| x.is_finite()).fold(0.0, |m: f64, x| m.max(x.abs()));
            let part = match tolerance {
                Some(Nearness::Part(part)) => part,
                _ => usual_tolerance(element),
            };
            (values, Match::Value(Tolerance { rtol: 0.0, atol: part * largest, bad: 0.0 }))
        };
        let source = match tolerance {
            Some(Nearness::Promised) => Source::Promised(promised),
            _ => Source::Interpreter,
        };
        all.push(Expect { arg, values, how, loose: None, source });
    }
    all
}

/// The relative difference that is tolerated between sums in different orders, with intermediate results rounded to
/// the element type.
fn usual_tolerance(element: Element) -> f64 {
    let bits = match element {
        Element::F64 => 40,
        Element::F32 => 12,
        Element::F16 => 6,
        Element::Bf16 => 5,
        _ => 1,
    };
    f64::exp2(-f64::from(bits))
}

fn doubles(array: &Array, element: Element) -> Array {
    let number = |bytes: &[u8]| match element.decode(bytes) {
        Number::Int(n) => n as f64,
        other => other.to_f64(),
    };
    let data = array.data.chunks(element.size()).flat_map(|bytes| number(bytes).to_le_bytes()).collect();
    Array { descr: Element::F64.descr().into(), data, ..array.clone() }
}

fn numbers(array: &Array) -> impl Iterator<Item = f64> + '_ {
    array.data.chunks(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::Outcome;
    use crate::launch::ArrayArgument;
    use ptx_sim::Report;
    use std::collections::BTreeMap;
    use tile_interp::scalar::{Certainty, Scalar};

    #[test]
    fn results_are_expected_within_a_part_of_the_largest() {
        let array = |values: &[f32]| {
            let mut a = ArrayArgument::unwritten(vec![values.len() as u64], Element::F32).unwrap();
            a.array.data = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            a
        };
        let left = array(&[4.0, -64.0, f32::INFINITY]);
        let launch = Launch { args: vec![Argument::Array(left.clone())], ..Launch::default() };
        let outcome = |a: &ArrayArgument| Outcome {
            arrays: vec![vec![a.array.clone()]],
            variables: BTreeMap::new(),
            report: Report::default(),
        };
        let expected = |tolerance, promised: &[Scalar]| {
            let left =
                ReferenceResults { outcome: outcome(&left), promised: vec![vec![promised.to_vec()]], guess: None };
            Launch { expect: expect(&launch, left, tolerance), ..launch.clone() }
        };
        let exactly = |x: f32, certainty| Scalar { bits: x.to_bits().into(), certainty };
        let promised = [
            exactly(4.0, Certainty::Near(1.0)),
            exactly(-64.0, Certainty::Exact),
            exactly(f32::INFINITY, Certainty::Unknown),
        ];
        let by_promise = expected(Some(Nearness::Promised), &promised);
        for (values, right) in [
            ([4.0, -64.0, f32::INFINITY], true),
            ([4.0f32.next_up(), -64.0, 0.0], true),
            ([4.0f32.next_up().next_up(), -64.0, 0.0], false),
            ([4.0, (-64.0f32).next_up(), 0.0], false),
        ] {
            assert_eq!(check(&by_promise, &outcome(&array(&values))).is_empty(), right, "{values:?}");
        }
        let expected = expected(None, &[]);
        let complaints = |values: &[f32]| check(&expected, &outcome(&array(values)));
        assert_eq!(complaints(&[4.01, -64.0, f32::INFINITY]), Vec::<String>::new());
        assert_eq!(complaints(&[4.02, -64.0, f32::INFINITY]).len(), 1);
        assert_eq!(complaints(&[4.0, -64.0, 1e30]).len(), 1);
    }
}
