//! Maintenance commands of the repository. `cargo xtask` lists them.

#![deny(unsafe_code)]

mod bless;
mod cargo;
mod corpus;
#[allow(dead_code, reason = "the build script uses the rest")]
#[path = "../../build/dialects.rs"]
mod dialects;
mod docs;
mod fill_store;
mod fuzz_kernels;
mod links;
mod mutate;
mod predict;
mod ptx_cases;
#[allow(dead_code, reason = "the build script uses the rest")]
#[path = "../../build/records.rs"]
mod records;
mod reference;
mod schedules;
#[allow(dead_code, reason = "the build script uses the rest")]
#[path = "../../build/tablegen.rs"]
mod tablegen;
mod test_changed;
mod tidy;
mod words;

use dialects::Dialect;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <command>

  tidy [--wrap]   check rules that the compiler does not check (sizes, markers, comments, imports), or wrap wide
                  comments and prose
  docs [--check]  write the generated pages under docs/reference, or check that they are up to date and that no page
                  has a broken link
  docs --copy DIR copy all pages and the files they link to into a source folder for mdBook
  bless [KIND]    renew values that tests compare with, and print the changes; --help lists the kinds
  test-changed [--since REV] [...]
                  run the tests that the changes since a revision can affect; --help explains how they are selected
  fill-store      compile the corpus for a run of all tests, which share the results
  corpus [...]    compile and run the corpus and print a table; --help lists its options
  fuzz-kernels [...]
                  compare compiled kernels with the reference interpreter on random programs; --help lists its options
  mutate [...]    mutate the PTX of the corpus and count the mutants that the simulator kills; --help lists its options
  predict [...]   predict the times of measured kernels and compare them; --help lists its options
  schedules [...] compare the schedules of the corpus' loops with the shortest possible ones; --help lists its options
  ptx-cases [...] write the simulator's test kernels with inputs and expected results; --help explains the format
";

fn main() -> anyhow::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let problems = match words.as_slice() {
        ["tidy"] => tidy::check(&root)?,
        ["tidy", "--wrap"] => {
            tidy::wrap(&root)?;
            return Ok(ExitCode::SUCCESS);
        }
        ["docs"] => docs::write(&root)?,
        ["docs", "--check"] => docs::check(&root)?,
        ["docs", "--copy", to] => {
            links::copy(&root, Path::new(to))?;
            return Ok(ExitCode::SUCCESS);
        }
        ["test-changed", "--help" | "-h"] => {
            print!("{}", test_changed::USAGE);
            return Ok(ExitCode::SUCCESS);
        }
        ["test-changed", rest @ ..] => test_changed::run(&root, rest)?,
        ["bless", "--help" | "-h"] => {
            print!("{}", bless::usage());
            return Ok(ExitCode::SUCCESS);
        }
        ["bless", rest @ ..] => bless::run(&root, rest)?,
        ["corpus", "--help" | "-h"] => {
            print!("{}", corpus::USAGE);
            return Ok(ExitCode::SUCCESS);
        }
        ["mutate", "--help" | "-h"] => {
            print!("{}", mutate::USAGE);
            return Ok(ExitCode::SUCCESS);
        }
        ["mutate", rest @ ..] => mutate::run(&root, rest)?,
        ["ptx-cases", "--help" | "-h"] => {
            print!("{}", ptx_cases::USAGE);
            return Ok(ExitCode::SUCCESS);
        }
        ["fill-store"] => fill_store::run(&root)?,
        ["fuzz-kernels", rest @ ..] => fuzz_kernels::run(&root, rest)?,
        ["predict", "--help" | "-h"] => {
            print!("{}", predict::USAGE);
            return Ok(ExitCode::SUCCESS);
        }
        ["predict", rest @ ..] => predict::run(&root, rest)?,
        ["schedules", "--help" | "-h"] => {
            print!("{}", schedules::USAGE);
            return Ok(ExitCode::SUCCESS);
        }
        ["schedules", rest @ ..] => schedules::run(&root, rest)?,
        ["ptx-cases", rest @ ..] => ptx_cases::run(&root, rest)?,
        ["corpus", rest @ ..] => corpus::run(&root, rest)?,
        [] | ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            return Ok(ExitCode::SUCCESS);
        }
        _ => {
            eprint!("{USAGE}");
            return Ok(ExitCode::from(2));
        }
    };
    for problem in &problems {
        eprintln!("{problem}");
    }
    match problems.len() {
        0 => Ok(ExitCode::SUCCESS),
        n => {
            eprintln!("{n} problem{}", if n == 1 { "" } else { "s" });
            Ok(ExitCode::FAILURE)
        }
    }
}
