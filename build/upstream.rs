//! Rust enums for the ops of upstream dialects that passes inspect, to avoid comparing op names as strings.
//!
//! Only the identities and the comparison predicates are generated. Operands and attributes of these ops are accessed
//! by index and name.

use crate::{
    records::Records,
    tablegen::{Paths, write_if_changed},
    wrappers::snake,
};
use std::{fmt::Write, fs, path::Path};

/// The Rust enum, the prefix of the records (the dialect is `<prefix>_Dialect`, ops are `<prefix>_*`), the file with
/// the ops, and the C++ header.
const DIALECTS: &[(&str, &str, &str, &str)] = &[
    ("Arith", "Arith", "mlir/Dialect/Arith/IR/ArithOps.td", "mlir/Dialect/Arith/IR/Arith.h"),
    ("Math", "Math", "mlir/Dialect/Math/IR/MathOps.td", "mlir/Dialect/Math/IR/Math.h"),
    ("Scf", "SCF", "mlir/Dialect/SCF/IR/SCFOps.td", "mlir/Dialect/SCF/IR/SCF.h"),
    ("Ub", "UB", "mlir/Dialect/UB/IR/UBOps.td", "mlir/Dialect/UB/IR/UBOps.h"),
];

/// The Rust enum, the record and the description of each kind of comparison predicate of `arith`. The LLVM dialect has
/// the same predicates with the same numbers.
const PREDICATES: &[(&str, &str, &str)] = &[
    ("IntPredicate", "Arith_CmpIPredicateAttr", "The predicates of `arith.cmpi` and `llvm.icmp`."),
    ("FloatPredicate", "Arith_CmpFPredicateAttr", "The predicates of `arith.cmpf` and `llvm.fcmp`."),
];

/// Generates the C accessors of type identities. Returns the path by which their header is included.
pub fn generate(paths: &Paths, out: &Path) -> String {
    let dir = paths.gen_dir.join("upstream");
    fs::create_dir_all(&dir).unwrap();
    let mut header = String::from("#include \"mlir-c/IR.h\"\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
    let mut source = String::new();
    for (.., include) in DIALECTS {
        writeln!(source, "#include \"{include}\"").unwrap();
    }
    source.push_str("#include \"upstream/Upstream.h.inc\"\n#include \"mlir/CAPI/Support.h\"\nusing namespace mlir;\n");
    let mut rust = String::new();
    for (name, prefix, file, _) in DIALECTS {
        let records = Records::load(paths, &paths.llvm.join("include").join(file).display().to_string());
        let namespace = records.text(&format!("{prefix}_Dialect"), "cppNamespace").to_string();
        let mut ops = records.ops(prefix);
        ops.sort_unstable();
        let dialect = snake(name);
        let (mut variants, mut ids) = (String::new(), String::new());
        for (i, op) in ops.iter().enumerate() {
            let class = op.rsplit('_').next().unwrap();
            let variant = class.strip_suffix("Op").unwrap_or(class);
            let id = format!("tileir_{dialect}_id_{class}");
            writeln!(header, "MLIR_CAPI_EXPORTED MlirTypeID {id}(void);").unwrap();
            writeln!(source, "MlirTypeID {id}(void) {{ return wrap(TypeID::get<{namespace}::{class}>()); }}").unwrap();
            write!(variants, "/// `{dialect}.{}`\n{variant}, ", records.text(op, "opName")).unwrap();
            write!(ids, "(unsafe {{ ffi::{id}() }}.ptr as usize, Self::{variant}), ").unwrap();
            assert!(i < usize::from(u16::MAX));
        }
        writeln!(
            rust,
            "/// The ops of `{dialect}`.\n#[derive(Clone, Copy, Debug, PartialEq, Eq)]\npub enum {name} {{ {variants} }}\n\
             impl {name} {{\n  /// `None` for an op of another dialect.\n  pub fn of(op: OpRef<'_>) -> Option<Self> {{\n    \
             static INDEX: OnceLock<FxHashMap<usize, {name}>> = OnceLock::new();\n    \
             INDEX.get_or_init(|| [{ids}].into_iter().collect()).get(&op_type_id(op)).copied()\n  }}\n}}"
        )
        .unwrap();
        if *name == "Arith" {
            PREDICATES.iter().for_each(|p| predicates(&mut rust, &records, p));
        }
    }
    header.push_str("#ifdef __cplusplus\n}\n#endif\n");
    write_if_changed(&dir.join("Upstream.h.inc"), &header);
    write_if_changed(&dir.join("Upstream.cpp"), &source);
    write_if_changed(&out.join("upstream.rs"), &rust);
    "upstream/Upstream.h.inc".to_string()
}

fn predicates(rust: &mut String, records: &Records, (name, record, description): &(&str, &str, &str)) {
    let (mut variants, mut numbers) = (String::new(), String::new());
    for case in records.get(record)["enumerants"].as_array().unwrap() {
        let case = records.get(case["def"].as_str().unwrap());
        let (symbol, value) = (case["symbol"].as_str().unwrap(), case["value"].as_i64().unwrap());
        // `eq`, `OEQ`, `AlwaysFalse`.
        let (first, rest) = symbol.split_at(1);
        let is_capital = rest.chars().all(char::is_uppercase);
        let variant = first.to_uppercase() + &if is_capital { rest.to_lowercase() } else { rest.to_string() };
        write!(variants, "/// `{}`\n{variant} = {value}, ", case["str"].as_str().unwrap()).unwrap();
        write!(numbers, "{value} => Some(Self::{variant}), ").unwrap();
    }
    writeln!(
        rust,
        "/// {description}\n#[derive(Clone, Copy, Debug, PartialEq, Eq)]\npub enum {name} {{ {variants} }}\n\
         impl {name} {{\n  /// The predicate with a number, or `None` if no predicate has it.\n  \
         pub fn from_i64(v: i64) -> Option<Self> {{ match v {{ {numbers} _ => None }} }}\n}}"
    )
    .unwrap();
}
