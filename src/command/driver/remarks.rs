//! Selects and prints optimization remarks.

use std::path::PathBuf;

use tile_diag::{Diagnostic, Location, Severity};
use tile_interface::{Advice, Choice, Remark, RemarkSort, RemarkSubject};

use crate::resources::KernelResources;

/// The subjects to show remarks on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RemarkFilter {
    #[default]
    None,
    All,
    Memory,
    TensorCore,
    Verbose,
}

impl RemarkFilter {
    pub fn from_name(name: &str) -> RemarkFilter {
        match name {
            "all" => RemarkFilter::All,
            "memory" => RemarkFilter::Memory,
            "tensorcore" => RemarkFilter::TensorCore,
            "verbose" => RemarkFilter::Verbose,
            _ => RemarkFilter::None,
        }
    }

    fn accepts(self, subject: RemarkSubject) -> bool {
        match self {
            RemarkFilter::None => false,
            RemarkFilter::All => subject != RemarkSubject::Detail,
            RemarkFilter::Verbose => true,
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

    /// Whether remarks are requested.
    pub fn any(&self) -> bool {
        let filters = [self.all, self.passed, self.missed, self.failed, self.analysis];
        filters.iter().any(|f| *f != RemarkFilter::None)
    }

    /// The requested remarks, in order.
    pub fn select<'r>(&self, remarks: &'r [Remark]) -> Vec<&'r Remark> {
        remarks.iter().filter(|r| self.accepts(r)).collect()
    }

    /// The remark file, for the YAML format. Written even if no remark is made, because the caller reads it, but not if
    /// no remarks are requested.
    pub fn output_file(&self) -> Option<PathBuf> {
        let wanted = self.format == RemarkFormat::Yaml && self.any();
        wanted.then(|| self.file.clone().unwrap_or_else(|| PathBuf::from("tileir_remarks.yaml")))
    }
}

/// The remarks other than details.
pub fn notable(remarks: &[Remark]) -> impl Iterator<Item = &Remark> {
    remarks.iter().filter(|r| r.subject != RemarkSubject::Detail)
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
            others: vec![],
            loops: 0,
            message: format!(
                "{registers} registers for each of {threads} threads are not enough: ptxas spilled with {spill_stores} bytes of stores to \
                 local memory and {spill_loads} bytes of loads"
            ),
            advice: Some(Advice::SoonerUse),
            choice: None,
        }
    };
    spilled.map(remark).collect()
}

/// Converts remarks to diagnostics. They name their kernel if there are several. Those on problems name the section of
/// the documentation.
pub fn diagnostics(remarks: &[&Remark]) -> Vec<Diagnostic> {
    let mut kernels = remarks.iter().map(|r| &r.function).filter(|name| !name.is_empty());
    let several = kernels.next().is_some_and(|first| kernels.any(|name| name != first));
    let of = |r: &&Remark| {
        let kernel = if several && !r.function.is_empty() { format!(" in {}", r.function) } else { String::new() };
        let section = if r.is_problem() { format!(" [{}]", r.section()) } else { String::new() };
        let mut d = Diagnostic::new(Severity::Remark, format!("{}{kernel}: {}{section}", r.name, r.text()));
        d.location = r.location.clone();
        r.others.iter().fold(d, |d, place| d.note_at("the same here", place.clone()))
    };
    remarks.iter().map(of).collect()
}

/// A stream of YAML documents, one per remark, with the tags and keys of LLVM's remark files. Arguments after the text
/// are the facts of a choice, and further locations. Without remarks the text is empty, which is a valid stream.
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
        out.push_str(&format!("Args:\n  - String:          {}\n", quoted(&remark.text())));
        for (key, value) in remark.choice.iter().flat_map(Choice::facts) {
            let key = format!("{key}:");
            out.push_str(&format!("  - {key:<16} {}\n", quoted(&value)));
        }
        for l in &remark.others {
            let place = format!("{}:{}:{}", l.file, l.line, l.column);
            out.push_str(&format!("  - {:<16} {}\n", "Also:", quoted(&place)));
        }
        out.push_str("...\n");
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
    use tile_interface::{Copying, Transfer};

    fn remark(sort: RemarkSort, subject: RemarkSubject) -> Remark {
        Remark {
            sort,
            subject,
            pass: "tileas-materialize-schedule".into(),
            name: "Pipelined".into(),
            function: "matmul".into(),
            location: Some(Location::new("a \"b\".py", 3, 4)),
            others: vec![],
            loops: 0,
            message: "3 stages: II = 128".into(),
            advice: None,
            choice: None,
        }
    }

    #[test]
    fn filters() {
        let all = [
            remark(RemarkSort::Passed, RemarkSubject::Memory),
            remark(RemarkSort::Missed, RemarkSubject::TensorCore),
            remark(RemarkSort::Analysis, RemarkSubject::Other),
            remark(RemarkSort::Analysis, RemarkSubject::Detail),
        ];
        let count = |o: RemarkOptions| o.select(&all).len();
        assert_eq!(count(RemarkOptions::default()), 0);
        assert_eq!(count(RemarkOptions { all: RemarkFilter::All, ..Default::default() }), 3);
        assert_eq!(count(RemarkOptions { all: RemarkFilter::Verbose, ..Default::default() }), 4);
        assert_eq!(count(RemarkOptions { all: RemarkFilter::TensorCore, ..Default::default() }), 1);
        assert_eq!(
            count(RemarkOptions { passed: RemarkFilter::All, missed: RemarkFilter::Memory, ..Default::default() }),
            1
        );
    }

    fn told(remarks: &[Remark]) -> String {
        let all: Vec<&Remark> = remarks.iter().collect();
        diagnostics(&all).iter().map(tile_diag::render::plain).collect()
    }

    #[test]
    fn remarks_only_for_kernels_that_spill() {
        let kernel = |name: &str, spill_loads| KernelResources {
            name: name.into(),
            registers: 255,
            spill_loads,
            launch: Launch { block: [64, 2, 1], ..Launch::default() },
            ..KernelResources::default()
        };
        let kernels = [kernel("a", 0), kernel("b", 12), kernel("c", 8)];
        let locations = [("a".into(), Location::new("k.py", 1, 1)), ("b".into(), Location::new("k.py", 7, 2))];
        insta::assert_snapshot!(told(&of_spills(&kernels, &locations)), @r#"
        k.py:7:2: remark: Spilled in b: 255 registers for each of 128 threads are not enough: ptxas spilled with 0 bytes of stores to local memory and 12 bytes of loads; use smaller tiles, or use values sooner after they are computed [docs/remarks.md#spilled]
        remark: Spilled in c: 255 registers for each of 128 threads are not enough: ptxas spilled with 0 bytes of stores to local memory and 8 bytes of loads; use smaller tiles, or use values sooner after they are computed [docs/remarks.md#spilled]
        "#);
    }

    #[test]
    fn kernels_are_named_if_there_are_several() {
        let plain = remark(RemarkSort::Analysis, RemarkSubject::Other);
        // A remark on the whole module has no kernel.
        let module = Remark { function: String::new(), message: "module".into(), ..plain.clone() };
        assert!(!told(&[plain.clone(), module.clone()]).contains(" in "));
        let other = Remark { function: "sum".into(), ..plain.clone() };
        let told = told(&[plain, module, other]);
        assert!(told.contains(": Pipelined in matmul: ") && told.contains(": Pipelined in sum: "), "{told}");
        assert!(told.contains(": Pipelined: module"), "{told}");
    }

    #[test]
    fn a_cause_has_all_its_places() {
        let missed = Remark {
            name: "NarrowAccess".into(),
            others: vec![Location::new("k.py", 8, 2), Location::new("k.py", 9, 0)],
            advice: Some(Advice::AlignBase),
            ..remark(RemarkSort::Missed, RemarkSubject::Memory)
        };
        insta::assert_snapshot!(told(&[missed]), @r#"
        a "b".py:3:4: remark: NarrowAccess: 3 stages: II = 128; pass arrays at multiples of 16 bytes (export_kernel: base_addr_divisible_by=16) [docs/remarks.md#narrowaccess]
        k.py:8:2: note: the same here
        k.py:9: note: the same here
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

    #[test]
    fn choices_are_facts_for_programs() {
        let transfer = Transfer {
            is_store: false,
            tile: "64x32xf16".into(),
            by: vec![Copying::Tma],
            stages: Some(4),
            against_tma: vec![],
        };
        let load = Remark {
            choice: Some(Choice::Transfer(transfer)),
            others: vec![Location::new("k.py", 8, 2)],
            ..remark(RemarkSort::Analysis, RemarkSubject::Memory)
        };
        let text = yaml(&[&load]);
        let arguments = text.split_once("Args:\n").map(|(_, rest)| rest).unwrap_or_default();
        insta::assert_snapshot!(arguments, @r#"
          - String:          "3 stages: II = 128"
          - Tile:            "64x32xf16"
          - By:              "TMA"
          - Stages:          "4"
          - Also:            "k.py:8:2"
        ...
        "#);
    }
}
