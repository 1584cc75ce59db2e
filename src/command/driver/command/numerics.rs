//! `tileiras numerics`: the order in which a program combines floats, and whether two compilations give the same bits.
//!
//! The compiler reports the order of each reduction and scan, and the unit of each product, as remarks. The PTX shows
//! the instructions whose bits it does not define. Both come with the data of `tileiras explore`.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;

use serde::Serialize;
use tile_explore::{Exploration, Remark};

use super::{Result, Session, diff};
use crate::Identity;

const JSON: &str = "--json";

/// What decides the bits of one program in one configuration.
#[derive(Debug, Default, PartialEq, Serialize)]
struct Report {
    input: String,
    target: String,
    /// Reductions, scans and products, in the order of the source.
    ops: Vec<Op>,
    /// Instructions whose bits PTX does not define: they are the same on one GPU only.
    approximate: BTreeSet<String>,
    /// Functions that a library defines.
    library: BTreeSet<String>,
    /// Updates of floats in the order in which threads arrive.
    atomics: BTreeSet<String>,
    /// The ops whose results depend on the order of events at run time.
    timing: Vec<Note>,
    /// The ops of a portable kernel whose results may differ between GPUs all the same.
    not_portable: Vec<Note>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Op {
    kernel: String,
    /// The source line, or 0.
    line: u32,
    kind: Kind,
    /// The shape and types.
    what: String,
    /// The order as a formula. Equal formulas give equal bits, except within the instructions of a matrix unit.
    order: String,
    /// Where the parts of the order are computed.
    places: String,
    /// Whether the program alone determines the order.
    pinned: bool,
    /// The matrix unit that adds products in an order of its own.
    unit: Option<String>,
    error: Option<Bound>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Reduce,
    Scan,
    Product,
}

/// A bound of the rounding error, in units in the last place of the sum of magnitudes (of the result, for products of
/// all elements).
#[derive(Debug, PartialEq, Serialize)]
struct Bound {
    /// The most roundings between an element and the result.
    roundings: u64,
    worst_ulps: f64,
    /// The expectation if the roundings are independent.
    random_walk_ulps: f64,
}

impl Bound {
    fn new(roundings: u64) -> Self {
        let count = roundings as f64;
        Bound { roundings, worst_ulps: count / 2.0, random_walk_ulps: count.sqrt() / 2.0 }
    }
}

/// An op whose result the program alone does not determine, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Note {
    kernel: String,
    line: u32,
    why: String,
}

/// A reason why two compilations may give different bits.
#[derive(Debug, PartialEq, Serialize)]
struct Difference {
    /// The source line, or 0.
    line: u32,
    left: String,
    right: String,
    cause: String,
}

#[derive(Serialize)]
struct Comparison<'a> {
    identical_by_construction: bool,
    differences: &'a [Difference],
    left: &'a Report,
    right: &'a Report,
}

impl Op {
    fn new(remark: &Remark) -> Option<Self> {
        let fact = |name: &str| remark.facts.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
        let op = |kind, what, order: String| Op {
            kernel: remark.function.clone(),
            line: remark.line,
            kind,
            what,
            order,
            places: String::new(),
            pinned: false,
            unit: None,
            error: None,
        };
        match remark.name.as_str() {
            "Order" => {
                let kind = if fact("Op") == Some("scan") { Kind::Scan } else { Kind::Reduce };
                let body = fact("Body").map(|body| format!(" by {body}")).unwrap_or_default();
                let what = format!("{} {}{body}", fact("Extent")?, fact("Elements")?);
                let error = fact("Roundings").and_then(|n| n.parse().ok()).map(Bound::new);
                let places = fact("Places").unwrap_or_default().to_owned();
                let pinned = fact("Pinned") == Some("true");
                Some(Op { places, pinned, error, ..op(kind, what, fact("Order")?.to_owned()) })
            }
            "Product" => {
                let what =
                    format!("{} of {} and {}, summed in {}", fact("Tile")?, fact("Lhs")?, fact("Rhs")?, fact("Sum")?);
                let depth: u64 = fact("Tile")?.rsplit('x').next()?.parse().ok()?;
                let unit = fact("Unit")?;
                let Some(instruction) = fact("Instruction") else {
                    let order = format!("chain of {depth} fused multiply-adds");
                    return Some(Op { error: Some(Bound::new(depth)), ..op(Kind::Product, what, order) });
                };
                let step: u64 = instruction.rsplit('k').next()?.parse().ok()?;
                let order = format!("chain of {} steps of K {step} in {unit}", depth.div_ceil(step.max(1)));
                Some(Op { unit: Some(format!("{unit} {instruction}")), ..op(Kind::Product, what, order) })
            }
            _ => None,
        }
    }
}

impl Note {
    /// The notes of the remarks with a name, each once.
    fn all(remarks: &[Remark], name: &str) -> Vec<Note> {
        let note = |r: &Remark| Note { kernel: r.function.clone(), line: r.line, why: r.message.clone() };
        let notes: BTreeSet<Note> = remarks.iter().filter(|r| r.name == name).map(note).collect();
        notes.into_iter().collect()
    }
}

impl Report {
    fn new(exploration: &Exploration) -> Self {
        let ptx = || exploration.outputs.iter().filter(|o| o.level == "ptx").flat_map(|o| o.program.text.lines());
        let names: BTreeSet<&str> = ptx().filter_map(opcode).collect();
        let these = |wanted: fn(&str) -> bool| names.iter().filter(|n| wanted(n)).map(|n| (*n).to_owned()).collect();
        let mut report = Report {
            input: exploration.input.clone(),
            target: exploration.target.clone(),
            ops: exploration.remarks.iter().filter_map(Op::new).collect(),
            approximate: these(is_approximate),
            library: ptx().filter_map(external).map(str::to_owned).collect(),
            atomics: these(adds_floats_atomically),
            timing: Note::all(&exploration.remarks, "DependsOnTiming"),
            not_portable: Note::all(&exploration.remarks, "NotPortable"),
        };
        for op in report.ops.iter_mut().filter(|op| op.kind == Kind::Product) {
            let here = |r: &&Remark| r.line == op.line && r.function == op.kernel;
            if exploration.remarks.iter().filter(here).any(|r| r.name == "ScalesInRegisters") {
                op.error = None;
                op.order = format!("fused multiply-adds over blocks of scales; the blocks are parts of a {}", op.order);
            }
        }
        if exploration.remarks.iter().any(|r| r.name == "AtomicLoop") {
            report.atomics.insert("atom.cas in a loop".to_owned());
        }
        report
    }

    fn text(&self) -> String {
        let mut text = format!("{} for {}\n", self.input, self.target);
        if self.ops.is_empty() {
            text += "no reduction, scan or product whose bits depend on an order\n";
        }
        for op in &self.ops {
            let kind = match op.kind {
                Kind::Reduce => "reduce",
                Kind::Scan => "scan",
                Kind::Product => "product",
            };
            let pinned = match (&op.unit, op.pinned) {
                (Some(_), _) => "the order within a step is the hardware's",
                (None, true) => "pinned",
                (None, false) => "not pinned",
            };
            let _ = writeln!(text, "{}:{}: {kind} of {}", op.kernel, op.line, op.what);
            let _ = writeln!(text, "  order: {}, {pinned}", op.order);
            if !op.places.is_empty() {
                let _ = writeln!(text, "  in: {}", op.places);
            }
            if let Some(bound) = &op.error {
                let (worst, walk) = (bound.worst_ulps, bound.random_walk_ulps);
                let _ = writeln!(text, "  error: at most {worst} ulp, {walk:.1} ulp if roundings are independent");
            }
        }
        for Note { kernel, line, why } in self.timing.iter().chain(&self.not_portable) {
            let _ = writeln!(text, "{kernel}:{line}: {why}");
        }
        for (names, meaning) in [
            (&self.approximate, "bits are those of this GPU"),
            (&self.library, "a library defines the bits"),
            (&self.atomics, "the order of updates is that of arrival, so the bits differ from run to run"),
        ] {
            for name in names {
                let _ = writeln!(text, "{name}: {meaning}");
            }
        }
        text
    }
}

/// The name of the instruction in a line of PTX.
fn opcode(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let first = words.next()?;
    let name = if first.starts_with('@') { words.next()? } else { first };
    name.contains('.').then(|| name.trim_end_matches(';'))
}

/// The name of the function that a line of PTX declares as external. The driver's functions compute nothing.
fn external(line: &str) -> Option<&str> {
    let declared = line.trim_start().strip_prefix(".extern .func")?.trim_start();
    // The parameter that returns the result precedes the name.
    let name = if declared.starts_with('(') { declared.split_once(')')?.1.trim_start() } else { declared };
    let name = name.split(|c: char| c == '(' || c == ';' || c.is_whitespace()).next()?;
    (!matches!(name, "vprintf" | "__assertfail" | "")).then_some(name)
}

fn is_approximate(name: &str) -> bool {
    name.contains(".approx") || name.starts_with("div.full")
}

fn adds_floats_atomically(name: &str) -> bool {
    let updates = ["atom.", "red.", "multimem.", "cp.reduce.async.bulk"].iter().any(|start| name.starts_with(start));
    let float = |part: &str| matches!(part.trim_end_matches("x2"), "f16" | "bf16" | "f32" | "f64");
    updates && name.contains(".add") && name.split('.').any(float)
}

/// The text of a program without comments and optimization hints, which do not change the arithmetic.
fn arithmetic(source: &str) -> Vec<String> {
    let plain = |line: &str| {
        let mut line = line.split("//").next().unwrap_or_default().trim().to_owned();
        while let Some(start) = line.find("optimization_hints") {
            let end = line[start..].find(">>").or_else(|| line[start..].find('>')).map_or(line.len(), |at| start + at);
            let end = line[end..].find(|c| c != '>').map_or(line.len(), |at| end + at);
            line.replace_range(start..end, "");
        }
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    source.lines().map(plain).filter(|line| !line.is_empty()).collect()
}

/// Compares two compilations. Returns no difference if they give the same bits by construction.
fn compare(sources: [&str; 2], [a, b]: [&Report; 2]) -> Vec<Difference> {
    let mut found = vec![];
    let mut add = |line, left: &str, right: &str, cause: &str| {
        found.push(Difference { line, left: left.to_owned(), right: right.to_owned(), cause: cause.to_owned() });
    };
    let [left, right] = sources.map(arithmetic);
    if let Some(at) = (0..left.len().max(right.len())).find(|&i| left.get(i) != right.get(i)) {
        let line = |side: &[String]| side.get(at).cloned().unwrap_or_default();
        add(0, &line(&left), &line(&right), "the programs differ");
        return found;
    }
    if a.ops.len() != b.ops.len() {
        let count = |r: &Report| format!("{} ops", r.ops.len());
        add(0, &count(a), &count(b), "one compilation has other reductions, scans or products");
        return found;
    }
    for (x, y) in a.ops.iter().zip(&b.ops) {
        match (&x.unit, &y.unit) {
            (Some(p), Some(q)) if p == q && a.target == b.target => {}
            (Some(p), Some(q)) if p == q => {
                let cause = format!("{p} adds the products of a step in an order of each GPU's own");
                add(x.line, &a.target, &b.target, &cause);
            }
            (None, None) if x.order == y.order => {}
            (None, None) if x.pinned != y.pinned => add(x.line, &x.order, &y.order, "only one of them is pinned"),
            (None, None) => add(x.line, &x.order, &y.order, "the order follows the layout; --numerics=pinned fixes it"),
            (p, q) => {
                let name = |unit: &Option<String>| unit.clone().unwrap_or_else(|| "scalar units".to_owned());
                add(x.line, &name(p), &name(q), "the products are computed by other instructions");
            }
        }
    }
    let list = |names: &BTreeSet<String>| names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    if a.approximate != b.approximate {
        add(0, &list(&a.approximate), &list(&b.approximate), "other approximate instructions");
    } else if a.target != b.target && !a.approximate.is_empty() {
        let cause = format!("PTX does not define the bits of {}", list(&a.approximate));
        let cause = cause + "; --numerics=portable replaces such instructions";
        add(0, &a.target, &b.target, &cause);
    }
    if a.library != b.library || a.target != b.target && !a.library.is_empty() {
        add(0, &list(&a.library), &list(&b.library), "a library defines the bits of functions on each GPU");
    }
    if !a.atomics.is_empty() || !b.atomics.is_empty() {
        add(0, &list(&a.atomics), &list(&b.atomics), "floats are added in the order of arrival");
    }
    found
}

fn verdict(differences: &[Difference]) -> String {
    if differences.is_empty() {
        return "bit-identical by construction\n".to_owned();
    }
    let mut text = String::new();
    for (i, Difference { line, left, right, cause }) in differences.iter().enumerate() {
        let place = if *line == 0 { String::new() } else { format!("line {line}: ") };
        let start = if i == 0 { "may differ: " } else { "also: " };
        let _ = writeln!(text, "{start}{place}{cause}\n  left:  {left}\n  right: {right}");
    }
    text
}

impl Session<'_> {
    /// Compiles one program or two, and reports or compares what decides the bits.
    pub(super) fn numerics(&mut self, arguments: &[OsString], identity: &Identity) -> Result<()> {
        let json = arguments.iter().any(|a| a == JSON);
        let arguments: Vec<OsString> = arguments.iter().filter(|a| *a != JSON).cloned().collect();
        let call = diff::Call::new(&arguments)
            .and_then(|call| if call.shows_more() { Err("there is no -o and no --at".to_owned()) } else { Ok(call) })
            .map_err(|e| self.command_line_error(&format!("tileiras: numerics: {e}")))?;
        let scratch = self.private_scratch()?;
        let text = self.report_numerics(&call, &scratch, identity, json);
        // Leftovers are in a directory for temporary files.
        let _ = std::fs::remove_dir_all(&scratch);
        self.write_stdout(&text?)
    }

    fn report_numerics(
        &mut self,
        call: &diff::Call,
        scratch: &Path,
        identity: &Identity,
        json: bool,
    ) -> Result<String> {
        if !call.has_two_sides() {
            let report = Report::new(&self.side(call, 0, scratch, identity)?);
            return Ok(if json { to_json(&report) } else { report.text() });
        }
        let [a, b] = [self.side(call, 0, scratch, identity)?, self.side(call, 1, scratch, identity)?];
        let [left, right] = [Report::new(&a), Report::new(&b)];
        let differences = compare([&a.source, &b.source], [&left, &right]);
        Ok(if json {
            let identical_by_construction = differences.is_empty();
            to_json(&Comparison { identical_by_construction, differences: &differences, left: &left, right: &right })
        } else {
            verdict(&differences)
        })
    }
}

fn to_json(value: &impl Serialize) -> String {
    // Strings, numbers and lists have a JSON form.
    serde_json::to_string_pretty(value).map(|text| text + "\n").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remark(name: &str, facts: &[(&str, &str)]) -> Remark {
        let facts = facts.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        Remark { name: name.into(), function: "k".into(), line: 7, facts, ..Remark::default() }
    }

    fn sum(order: &str, pinned: &str) -> Remark {
        let facts = [("Op", "reduce"), ("Extent", "8"), ("Elements", "f32"), ("Body", "addf"), ("Order", order)];
        remark("Order", &[&facts[..], &[("Places", "registers"), ("Pinned", pinned), ("Roundings", "3")]].concat())
    }

    fn product(unit: &str, instruction: Option<&str>) -> Remark {
        let mut facts = vec![("Tile", "64x64x128"), ("Lhs", "f16"), ("Rhs", "f16"), ("Sum", "f32"), ("Unit", unit)];
        facts.extend(instruction.map(|i| ("Instruction", i)));
        remark("Product", &facts)
    }

    fn report(target: &str, remarks: Vec<Remark>, ptx: &str) -> Report {
        let program = tile_explore::Listing { text: ptx.to_owned(), lines: vec![] };
        let outputs = vec![tile_explore::Output { level: "ptx".into(), program }];
        Report::new(&Exploration { target: target.into(), remarks, outputs, ..Exploration::default() })
    }

    fn causes(a: &Report, b: &Report) -> Vec<String> {
        compare(["x", "x"], [a, b]).into_iter().map(|d| d.cause).collect()
    }

    #[test]
    fn ops_have_formulas_and_bounds() {
        let all = report("sm_90", vec![sum("tree(bits 2 1 0)", "true"), product("wgmma", Some("m64n64k16"))], "");
        assert_eq!(
            all.ops[0].error,
            Some(Bound { roundings: 3, worst_ulps: 1.5, random_walk_ulps: 3f64.sqrt() / 2.0 })
        );
        assert_eq!(all.ops[1].order, "chain of 8 steps of K 16 in wgmma");
        let text = all.text();
        assert!(text.contains("k:7: reduce of 8 f32 by addf\n  order: tree(bits 2 1 0), pinned\n"), "{text}");
        assert!(text.contains("the order within a step is the hardware's"), "{text}");
        let scales = remark("ScalesInRegisters", &[]);
        let scaled = report("sm_90", vec![product("mma.sync", Some("m16n8k16")), scales], "");
        let order =
            "fused multiply-adds over blocks of scales; the blocks are parts of a chain of 8 steps of K 16 in mma.sync";
        assert_eq!(scaled.ops[0].order, order);
        let scalar = report("sm_90", vec![product("FMA", None)], "");
        assert_eq!(scalar.ops[0].order, "chain of 128 fused multiply-adds");
    }

    #[test]
    fn instructions_without_defined_bits_are_found() {
        let ptx = "ex2.approx.ftz.f32 %r1, %r2;\n@%p1 red.global.add.f32 [%rd1], %r1;\nred.global.add.u32 [%rd1], 1;\n\
                   add.rn.f32 %r1, %r2, %r3;\ndiv.full.f32 %r1, %r2, %r3;\natom.global.add.noftz.bf16x2 %r1, [%rd1], %r2;";
        let all = report("sm_90", vec![], ptx);
        assert!(all.approximate.iter().eq(["div.full.f32", "ex2.approx.ftz.f32"]));
        assert!(all.atomics.iter().eq(["atom.global.add.noftz.bf16x2", "red.global.add.f32"]));
    }

    #[test]
    fn ops_that_depend_on_timing_are_listed_once() {
        let timing = Remark { message: "the old value depends".into(), ..remark("DependsOnTiming", &[]) };
        let report = report("sm_90", vec![timing.clone(), timing, remark("Loop", &[])], "");
        assert_eq!((report.timing.len(), report.not_portable.len()), (1, 0));
        assert!(report.text().ends_with("k:7: the old value depends\n"), "{}", report.text());
    }

    #[test]
    fn functions_of_libraries_are_found() {
        let ptx = ".extern .func  (.param .b32 func_retval0) vprintf\n.extern .func twice\n\
                   .extern .func  (.param .b32 func_retval0) halve(.param .b32 x);\n.func own()\n.extern .func other()";
        let names: Vec<&str> = ptx.lines().filter_map(external).collect();
        assert_eq!(names, ["twice", "halve", "other"]);
        let [a, b] = ["sm_90", "sm_120"].map(|target| report(target, vec![], ".extern .func twice"));
        assert!(causes(&a, &a).is_empty());
        assert_eq!(causes(&a, &b), ["a library defines the bits of functions on each GPU"]);
    }

    #[test]
    fn differences_have_causes() {
        let pinned = || vec![sum("tree(bits 2 1 0)", "true")];
        let [a, b] = ["sm_90", "sm_120"].map(|target| report(target, pinned(), ""));
        assert!(causes(&a, &b).is_empty());
        assert_eq!(verdict(&[]), "bit-identical by construction\n");
        let free = report("sm_90", vec![sum("tree(bits 0 1 2)", "false")], "");
        assert_eq!(causes(&a, &free), ["only one of them is pinned"]);
        let other = report("sm_90", vec![sum("tree(bits 0 2 1)", "false")], "");
        assert_eq!(causes(&other, &free), ["the order follows the layout; --numerics=pinned fixes it"]);
        let [a, b] = ["sm_90", "sm_120"].map(|t| report(t, vec![product("mma.sync", Some("m16n8k16"))], ""));
        assert!(causes(&a, &a).is_empty() && causes(&a, &b)[0].contains("each GPU's own"));
        let [a, b] = ["sm_90", "sm_120"].map(|t| report(t, vec![], "ex2.approx.f32 %r1, %r2;"));
        assert!(causes(&a, &a).is_empty() && causes(&a, &b)[0].contains("ex2.approx.f32; --numerics=portable"));
        let atomic = report("sm_90", vec![], "red.global.add.f32 [%rd1], %r1;");
        assert_eq!(causes(&atomic, &atomic), ["floats are added in the order of arrival"]);
        let found = compare(["a\nb", "a\nc"], [&a, &a]);
        assert_eq!((found[0].left.as_str(), found[0].right.as_str()), ("b", "c"));
    }

    #[test]
    fn hints_and_comments_are_no_arithmetic() {
        let of = |text: &str| arithmetic(text);
        assert_eq!(of("entry @k() optimization_hints=<sm_90 = {occupancy = 2}> {\n  // note\n"), of("entry @k()  {\n"));
        assert_ne!(of("addf %a, %b"), of("addf %b, %a"));
    }
}
