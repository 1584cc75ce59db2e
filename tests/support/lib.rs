//! Test support: the harness of the six test binaries, and functions from a program to PTX, machine code and results.
//!
//! A binary is a list of suites, one for each of its files. A suite lists its tests itself, because most lists come
//! from folders and tables. Tests that are plain functions are listed with [`functions!`].

pub mod cubin;
pub mod device;
pub mod exact;
pub mod golden;
pub mod grid_product;
pub mod kernels;
pub mod lit;
pub mod lsp;
pub mod product_kind;
pub mod sass;
pub mod scaled_kind;
pub mod simulate;
pub mod stock;
pub mod store;

use libtest_mimic::Arguments;
pub use libtest_mimic::{Failed, Trial};
use std::{
    env,
    fmt::Display,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::OnceLock,
};

/// The tests of one file. All names start with the suite's name, followed by `::` or `/`.
pub struct Suite {
    pub name: &'static str,
    pub trials: fn() -> Vec<Trial>,
}

/// Lists suites by the names of their modules, each of which has a function `trials`.
#[macro_export]
macro_rules! suites {
    ($($name:ident),* $(,)?) => {
        [$($crate::Suite { name: stringify!($name), trials: $name::trials }),*]
    };
}

/// Runs the tests that the command line selects.
///
/// nextest starts a process for each test. If a test is selected by its exact name, only its suite is listed.
pub fn run(suites: &[Suite]) -> ExitCode {
    let arguments = Arguments::from_args();
    let asked = arguments.filter.as_deref().filter(|_| arguments.exact);
    let trials = suites.iter().filter(|s| asked.is_none_or(|name| s.has(name))).flat_map(Suite::list).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

impl Suite {
    fn has(&self, test: &str) -> bool {
        test.strip_prefix(self.name).is_some_and(|rest| rest.starts_with("::") || rest.starts_with('/'))
    }

    fn list(&self) -> Vec<Trial> {
        let trials = (self.trials)();
        for trial in &trials {
            assert!(self.has(trial.name()), "test '{}' does not begin with its suite, {}", trial.name(), self.name);
        }
        trials
    }
}

/// The tests of a list that may fail to be created. A failure becomes a failing test, because runners that list tests
/// first would not see it otherwise.
pub fn listed<E: Display>(suite: &str, trials: Result<Vec<Trial>, E>) -> Vec<Trial> {
    trials.unwrap_or_else(|e| {
        let message = e.to_string();
        vec![Trial::test(format!("{suite}/setup"), move || Err(message.into()))]
    })
}

/// The tests of a module that are functions without arguments. They return nothing or a `Result`.
#[macro_export]
macro_rules! functions {
    ($($name:ident),* $(,)?) => {
        vec![$($crate::function(module_path!(), stringify!($name), $name)),*]
    };
}

/// A test named after a function. `module` is its path in the binary; the binary's name is dropped.
pub fn function<R: Outcome>(module: &str, name: &str, run: impl FnOnce() -> R + Send + 'static) -> Trial {
    let suite = module.split_once("::").map_or(module, |(_, suite)| suite);
    Trial::test(format!("{suite}::{name}"), move || run().outcome())
}

/// The result type of a test function.
pub trait Outcome {
    fn outcome(self) -> Result<(), Failed>;
}

impl Outcome for () {
    fn outcome(self) -> Result<(), Failed> {
        Ok(())
    }
}

impl<E: Display> Outcome for Result<(), E> {
    fn outcome(self) -> Result<(), Failed> {
        self.map_err(Failed::from)
    }
}

/// The root of the checkout in which the tests were built, or the current one if an archive of the tests runs
/// elsewhere.
pub fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let built = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let root = env::var_os("CARGO_MANIFEST_DIR").map_or_else(built, PathBuf::from);
        root.ancestors().find(|a| a.join("tests/corpus").is_dir()).map_or(root.clone(), Path::to_path_buf)
    })
}

/// Whether the full tests are enabled: `TILEIRAS_TEST_FULL` is set to anything but `0`.
pub fn full() -> bool {
    env::var_os("TILEIRAS_TEST_FULL").is_some_and(|v| v != "0")
}
