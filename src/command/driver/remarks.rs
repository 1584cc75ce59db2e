//! Selects and prints optimization remarks.

use std::path::PathBuf;

use tile_diag::{Diagnostic, Location, Severity};
use tile_interface::{Remark, RemarkSort, RemarkSubject};

use crate::resources::KernelResources;

/// The subjects to show remarks on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RemarkFilter {
    #[default]
    None,
    All,
    Memory,
    TensorCore,
}

impl RemarkFilter {
    pub fn from_name(name: &str) -> RemarkFilter {
        match name {
            "all" => RemarkFilter::All,
            "memory" => RemarkFilter::Memory,
            "tensorcore" => RemarkFilter::TensorCore,
            _ => RemarkFilter::None,
        }
    }

    fn accepts(self, subject: RemarkSubject) -> bool {
        match self {
            RemarkFilter::None => false,
            RemarkFilter::All => true,
            RemarkFilter::Memory => subject == RemarkSubject::Memory,
            RemarkFilter::TensorCore => subject == RemarkSubject::TensorCore,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RemarkFormat {
    #[default]
    CommandLine,
    Yaml,
}

/// The remark options of a command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemarkOptions {
    /// Applies to every type of remark.
    pub all: RemarkFilter,
    pub passed: RemarkFilter,
    pub missed: RemarkFilter,
    pub failed: RemarkFilter,
    pub analysis: RemarkFilter,
    pub format: RemarkFormat,
    pub file: Option<PathBuf>,
}

impl RemarkOptions {
    fn accepts(&self, remark: &Remark) -> bool {
        let own = match remark.sort {
            RemarkSort::Passed => self.passed,
            RemarkSort::Missed => self.missed,
            RemarkSort::Failed => self.failed,
            RemarkSort::Analysis => self.analysis,
        };
        own.accepts(remark.subject) || self.all.accepts(remark.subject)
    }

    /// Whether remarks or a remark file are requested.
    pub fn any(&self) -> bool {
        let filters = [self.all, self.passed, self.missed, self.failed, self.analysis];
        self.format == RemarkFormat::Yaml || filters.iter().any(|f| *f != RemarkFilter::None)
    }

    /// The requested remarks, in order.
    pub fn select<'r>(&self, remarks: &'r [Remark]) -> Vec<&'r Remark> {
        remarks.iter().filter(|r| self.accepts(r)).collect()
    }

    /// The remark file, for the YAML format. Written even if there are no remarks, because the caller reads it.
    pub fn output_file(&self) -> Option<PathBuf> {
        let wanted = self.format == RemarkFormat::Yaml;
        wanted.then(|| self.file.clone().unwrap_or_else(|| PathBuf::from("tileir_remarks.yaml")))
    }
}

/// A missed-optimization remark for each kernel in which ptxas spilled registers. `locations` holds the locations of
/// kernels.
pub fn of_spills(kernels: &[KernelResources], locations: &[(String, Location)]) -> Vec<Remark> {
    let spilled = kernels.iter().filter(|k| k.spill_stores + k.spill_loads > 0);
    let remark = |k: &KernelResources| {
        let KernelResources { registers, spill_stores, spill_loads, .. } = k;
        let threads: u64 = k.launch.block.iter().map(|&n| u64::from(n)).product();
        Remark {
            sort: RemarkSort::Missed,
            subject: RemarkSubject::Memory,
            pass: "ptxas".into(),
            name: "Spilled".into(),
            function: k.name.clone(),
            location: locations.iter().find(|(name, _)| *name == k.name).map(|(_, location)| location.clone()),
            message: format!(
                "{registers} registers for each of {threads} threads are not enough: ptxas spilled with {spill_stores} bytes of stores to \
                 local memory and {spill_loads} bytes of loads; use smaller tiles, or use values sooner after they are computed"
            ),
        }
    };
    spilled.map(remark).collect()
}

/// Converts a remark to a diagnostic.
pub fn diagnostic(remark: &Remark) -> Diagnostic {
    let mut d = Diagnostic::new(Severity::Remark, format!("{}: {}", remark.pass, remark.message));
    d.location = remark.location.clone();
    d
}

/// A stream of YAML documents, one per remark, with the tags and keys of LLVM's remark files. Without remarks the
/// text is empty, which is a valid stream.
pub fn yaml(remarks: &[&Remark]) -> String {
    let mut out = String::new();
    for remark in remarks {
        let tag = match remark.sort {
            RemarkSort::Passed => "Passed",
            RemarkSort::Missed => "Missed",
            RemarkSort::Failed => "Failure",
            RemarkSort::Analysis => "Analysis",
        };
        out.push_str(&format!("--- !{tag}\n"));
        out.push_str(&format!("Pass:            {}\n", quoted(&remark.pass)));
        out.push_str(&format!("Name:            {}\n", quoted(&remark.name)));
        if let Some(l) = &remark.location {
            let file = quoted(&l.file);
            out.push_str(&format!("DebugLoc:        {{ File: {file}, Line: {}, Column: {} }}\n", l.line, l.column));
        }
        out.push_str(&format!("Function:        {}\n", quoted(&remark.function)));
        out.push_str(&format!("Args:\n  - String:          {}\n...\n", quoted(&remark.message)));
    }
    out
}

/// A double-quoted YAML string. Every JSON string is one.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::Launch;

    fn remark(sort: RemarkSort, subject: RemarkSubject) -> Remark {
        Remark {
            sort,
            subject,
            pass: "tileas-materialize-schedule".into(),
            name: "Pipelined".into(),
            function: "matmul".into(),
            location: Some(Location::new("a \"b\".py", 3, 4)),
            message: "3 stages: II = 128".into(),
        }
    }

    #[test]
    fn filters() {
        let all = [
            remark(RemarkSort::Passed, RemarkSubject::Memory),
            remark(RemarkSort::Missed, RemarkSubject::TensorCore),
            remark(RemarkSort::Analysis, RemarkSubject::Other),
        ];
        let count = |o: RemarkOptions| o.select(&all).len();
        assert_eq!(count(RemarkOptions::default()), 0);
        assert_eq!(count(RemarkOptions { all: RemarkFilter::All, ..Default::default() }), 3);
        assert_eq!(count(RemarkOptions { all: RemarkFilter::TensorCore, ..Default::default() }), 1);
        assert_eq!(
            count(RemarkOptions { passed: RemarkFilter::All, missed: RemarkFilter::Memory, ..Default::default() }),
            1
        );
    }

    #[test]
    fn only_kernels_that_spill() {
        let kernel = |name: &str, spill_loads| KernelResources {
            name: name.into(),
            registers: 255,
            spill_loads,
            launch: Launch { block: [64, 2, 1], ..Launch::default() },
            ..KernelResources::default()
        };
        let kernels = [kernel("a", 0), kernel("b", 12), kernel("c", 8)];
        let locations = [("a".into(), Location::new("k.py", 1, 1)), ("b".into(), Location::new("k.py", 7, 2))];
        let remarks = of_spills(&kernels, &locations);
        let told: Vec<String> = remarks.iter().map(|r| tile_diag::render::plain(&diagnostic(r))).collect();
        insta::assert_snapshot!(told.concat(), @r#"
        loc("k.py":7:2): remark: ptxas: 255 registers for each of 128 threads are not enough: ptxas spilled with 0 bytes of stores to local memory and 12 bytes of loads; use smaller tiles, or use values sooner after they are computed
        remark: ptxas: 255 registers for each of 128 threads are not enough: ptxas spilled with 0 bytes of stores to local memory and 8 bytes of loads; use smaller tiles, or use values sooner after they are computed
        "#);
    }

    #[test]
    fn yaml_documents() {
        assert_eq!(yaml(&[]), "");
        insta::assert_snapshot!(yaml(&[&remark(RemarkSort::Passed, RemarkSubject::Memory)]), @r#"
        --- !Passed
        Pass:            "tileas-materialize-schedule"
        Name:            "Pipelined"
        DebugLoc:        { File: "a \"b\".py", Line: 3, Column: 4 }
        Function:        "matmul"
        Args:
          - String:          "3 stages: II = 128"
        ...
        "#);
    }
}
