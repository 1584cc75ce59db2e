//! Generates Rust source from TableGen records: views of a dialect's ops, types, attributes and enums, and pass
//! descriptors.

use crate::{
    Dialect,
    records::{Arity, Field, FieldKind, Records},
    wrappers::snake,
};
use std::fmt::Write;

/// A Rust identifier for a field.
fn id(name: &str) -> String {
    let s = snake(name).trim_end_matches('_').to_string();
    match s.as_str() {
        "type" | "for" | "yield" | "loop" | "mod" | "ref" | "in" | "if" | "else" | "return" | "break" | "continue"
        | "box" | "match" | "move" | "static" | "const" => format!("r#{s}"),
        "self" | "super" => format!("{s}_"),
        _ => s,
    }
}

fn short(cpp: &str) -> &str {
    cpp.rsplit("::").next().unwrap()
}

pub fn dialect(dialect: &Dialect, records: &Records) -> String {
    let mut o = String::new();
    for e in records.enums(dialect.prefix) {
        enumeration(&mut o, dialect, records, e);
    }
    for (list, handle) in [("TypeDef", "Type"), ("AttrDef", "Attribute")] {
        for record in records.defs(list, dialect.prefix) {
            definition(&mut o, dialect, records, record, handle);
        }
    }
    let mut classes = vec![];
    for record in records.ops(dialect.prefix) {
        classes.push(record.strip_prefix(&format!("{}_", dialect.prefix)).unwrap().to_string());
        operation(&mut o, dialect, records, record);
    }
    let list = |f: &dyn Fn(&String) -> String| classes.iter().map(f).collect::<String>();
    if records.ops(dialect.prefix).iter().all(|op| !records.get(op)["behaviour"].is_null()) {
        behaviours(&mut o, dialect, records);
    }
    writeln!(
        o,
        "/// Every op of the dialect, for exhaustive matches.\n#[derive(Clone, Copy)]\npub enum AnyOp<'c> {{ {} }}\n\
         impl<'c> AnyOp<'c> {{\n  /// The typed view of an op of this dialect; `None` for other ops.\n  \
         pub fn cast(op: OpRef<'c>) -> Option<Self> {{\n    \
         static INDEX: OnceLock<FxHashMap<usize, u16>> = OnceLock::new();\n    \
         let index = INDEX.get_or_init(|| [{}].into_iter().enumerate().map(|(i, id)| (id, i as u16)).collect());\n    \
         Some(match index.get(&op_type_id(op))? {{ {} _ => return None }})\n  }} }}",
        list(&|c| format!("{c}({c}<'c>), ")),
        list(&|c| format!("{c}::type_id(), ")),
        classes.iter().enumerate().map(|(i, c)| format!("{i} => Self::{c}({c}(op)), ")).collect::<String>(),
    )
    .unwrap();
    o
}

/// Generates the answers of each op to `TileOpInterface` and `SyncOpInterface`.
fn behaviours(o: &mut String, dialect: &Dialect, records: &Records) {
    let mut arms = String::new();
    for op in records.ops(dialect.prefix) {
        records.assert_effects(op);
        let class = op.strip_prefix(&format!("{}_", dialect.prefix)).unwrap();
        let behaviour = records.get(op)["behaviour"]["def"].as_str().expect("a behaviour has a name");
        let case = |field: &str| records.text(records.get(behaviour)[field]["def"].as_str().unwrap(), "symbol");
        let sync = records.get(op)["syncKind"].as_str().unwrap_or("None");
        let scope = records.get(op)["syncScope"].as_str().unwrap_or("Thread");
        writeln!(
            arms,
            "Self::{class}(_) => Behaviour {{ layout: LayoutRelation::{}, cost: Cost::{}, movement: Movement::{}, \
             sync: SyncKind::{sync}, scope: SyncScope::{scope} }},",
            case("layout"),
            case("cost"),
            case("movement"),
        )
        .unwrap();
    }
    writeln!(
        o,
        "impl AnyOp<'_> {{\n  /// The properties of the op that passes may rely on.\n  pub fn behaviour(self) -> Behaviour {{ match self {{ {arms} }} }}\n}}"
    )
    .unwrap();
}

fn enumeration(o: &mut String, dialect: &Dialect, records: &Records, record: &str) {
    let name = short(&records.cpp_class(record)).to_string();
    let cases: Vec<(String, i64, String)> = records.get(record)["enumerants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| records.get(c["def"].as_str().unwrap()))
        .map(|c| {
            (
                c["symbol"].as_str().unwrap().to_string(),
                c["value"].as_i64().unwrap(),
                c["str"].as_str().unwrap().to_string(),
            )
        })
        .collect();
    let each = |f: &dyn Fn(&(String, i64, String)) -> String| cases.iter().map(f).collect::<String>();
    // Keywords may be in capitals in TableGen (`NEAREST_EVEN`).
    let variant = |s: &str| -> String {
        if s.chars().all(|c| c.is_uppercase() || c == '_' || c.is_ascii_digit()) && s.len() > 1 {
            s.split('_').map(|p| p[..1].to_string() + &p[1..].to_lowercase()).collect()
        } else {
            s.split('_').map(|p| p[..1].to_uppercase() + &p[1..]).collect()
        }
    };
    writeln!(
        o,
        "/// {}\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]\npub enum {name} {{ {} }}\n\
         impl {name} {{\n  /// The keyword in the assembly.\n  pub fn keyword(self) -> &'static str {{ match self {{ {} }} }}\n  \
         pub fn from_i64(v: i64) -> Option<Self> {{ match v {{ {} _ => None }} }}\n}}",
        records.text(record, "summary"),
        each(&|(s, v, _)| format!("{} = {v}, ", variant(s))),
        each(&|(s, _, k)| format!("Self::{} => {k:?}, ", variant(s))),
        each(&|(s, v, _)| format!("{v} => Some(Self::{}), ", variant(s))),
    )
    .unwrap();
    // The attribute that stores the enum, if there is one.
    let attr = records
        .defs("AttrDef", dialect.prefix)
        .into_iter()
        .find(|a| records.is(a, "EnumAttr") && records.get(a)["enum"]["def"] == record);
    if let Some(attr) = attr {
        let class = short(&records.cpp_class(attr)).to_string();
        let d = dialect.name;
        writeln!(
            o,
            "impl {name} {{\n  pub fn to_attr<'c>(self, context: &'c Context) -> Attribute<'c> {{ {class}::get(Location::unknown(context), self).expect(\"enum attributes always build\").into() }}\n  \
             pub fn from_attr(a: Attribute<'_>) -> Option<Self> {{ unsafe {{ ffi::tileir_{d}_isa_{class}(a.to_raw()).then(|| Self::from_i64(ffi::tileir_{d}_{class}_value(a.to_raw())))? }} }} }}",
        )
        .unwrap();
    } else {
        writeln!(
            o,
            "impl {name} {{\n  pub fn to_attr<'c>(self, context: &'c Context) -> Attribute<'c> {{ i32_attr(context, self as i32) }}\n  \
             pub fn from_attr(a: Attribute<'_>) -> Option<Self> {{ Self::from_i64(int_attr(a)) }} }}",
        )
        .unwrap();
    }
}

fn rust_parameter(kind: &FieldKind) -> Option<String> {
    Some(match kind {
        FieldKind::Int(_) => "i64".into(),
        FieldKind::Bool => "bool".into(),
        FieldKind::Enum(e) => short(e).into(),
        FieldKind::String => "&str".into(),
        FieldKind::Ints(w) => format!("&[i{w}]"),
        FieldKind::Type => "Type<'c>".into(),
        FieldKind::Attribute => "Attribute<'c>".into(),
        FieldKind::Optional(k) if matches!(**k, FieldKind::Int(_) | FieldKind::Bool | FieldKind::Enum(_)) => {
            format!("Option<{}>", rust_parameter(k)?)
        }
        _ => return None,
    })
}

fn definition(o: &mut String, dialect: &Dialect, records: &Records, record: &str, handle: &str) {
    let d = dialect.name;
    let class = short(&records.cpp_class(record)).to_string();
    let summary = records.text(record, "summary");
    let mnemonic = records.text(record, "mnemonic");
    let sigil = if handle == "Type" { '!' } else { '#' };
    writeln!(
        o,
        "/// `{sigil}{d}.{mnemonic}`: {summary}\n#[derive(Clone, Copy, PartialEq, Eq, Debug)]\npub struct {class}<'c>({handle}<'c>);\n\
         impl<'c> From<{class}<'c>> for {handle}<'c> {{ fn from(x: {class}<'c>) -> Self {{ x.0 }} }}\n\
         impl<'c> {class}<'c> {{\n  pub fn cast(x: {handle}<'c>) -> Option<Self> {{ unsafe {{ ffi::tileir_{d}_isa_{class}(x.to_raw()) }}.then_some(Self(x)) }}",
    )
    .unwrap();
    let fields = records.parameters(record);
    for Field { name, kind, .. } in &fields {
        let (f, n) = (format!("ffi::tileir_{d}_{class}_{}", snake(name)), id(name));
        let raw = "self.0.to_raw()";
        let line = match kind {
            FieldKind::Int(_) => format!("pub fn {n}(self) -> i64 {{ unsafe {{ {f}({raw}) }} }}"),
            FieldKind::Bool => format!("pub fn {n}(self) -> bool {{ unsafe {{ {f}({raw}) != 0 }} }}"),
            FieldKind::Enum(e) => {
                let e = short(e);
                format!(
                    "pub fn {n}(self) -> {e} {{ {e}::from_i64(unsafe {{ {f}({raw}) }}).expect(\"verified enum\") }}"
                )
            }
            FieldKind::Type => format!("pub fn {n}(self) -> Type<'c> {{ unsafe {{ Type::from_raw({f}({raw})) }} }}"),
            FieldKind::Attribute => format!(
                "pub fn {n}(self) -> Option<Attribute<'c>> {{ unsafe {{ Attribute::from_option_raw({f}({raw})) }} }}"
            ),
            FieldKind::String => format!("pub fn {n}(self) -> &'c str {{ unsafe {{ raw_to_str({f}({raw})) }} }}"),
            FieldKind::Ints(w) => format!(
                "pub fn {n}(self) -> &'c [i{w}] {{ let mut p = std::ptr::null(); unsafe {{ let n = {f}({raw}, &mut p); \
                 raw_slice(p, n) }} }}"
            ),
            FieldKind::Optional(inner) => {
                let Some(t) = rust_parameter(kind) else { continue };
                let convert = match &**inner {
                    FieldKind::Enum(e) => format!("{}::from_i64(v).expect(\"verified enum\")", short(e)),
                    FieldKind::Bool => "v != 0".into(),
                    _ => "v".into(),
                };
                format!(
                    "pub fn {n}(self) -> {t} {{ let mut v = 0; unsafe {{ {f}({raw}, &mut v) }}.then(|| {convert}) }}"
                )
            }
            _ => continue,
        };
        writeln!(o, "  {line}").unwrap();
    }
    if fields.iter().all(|f| rust_parameter(&f.kind).is_some()) {
        let params: String =
            fields.iter().map(|f| format!(", {}: {}", id(&f.name), rust_parameter(&f.kind).unwrap())).collect();
        let args: String = fields
            .iter()
            .map(|f| {
                let n = id(&f.name);
                match &f.kind {
                    FieldKind::Int(_) => format!(", {n}"),
                    FieldKind::Bool | FieldKind::Enum(_) => format!(", {n} as i64"),
                    FieldKind::Type | FieldKind::Attribute => format!(", {n}.to_raw()"),
                    FieldKind::String => format!(", raw_str({n})"),
                    FieldKind::Ints(_) => format!(", {n}.len() as isize, {n}.as_ptr()"),
                    FieldKind::Optional(k) if matches!(**k, FieldKind::Int(_)) => {
                        format!(", {n}.is_some(), {n}.unwrap_or_default()")
                    }
                    _ => format!(", {n}.is_some(), {n}.map_or(0, |v| v as i64)"),
                }
            })
            .collect();
        writeln!(
            o,
            "  /// `None`, with a diagnostic at `location`, if the parameters do not verify.\n  #[allow(clippy::too_many_arguments)]\n  \
             pub fn get(location: Location<'c>{params}) -> Option<Self> {{ unsafe {{ {handle}::from_option_raw(ffi::tileir_{d}_get_{class}(location.to_raw(){args})).map(Self) }} }}"
        )
        .unwrap();
    }
    o.push_str("}\n");
}

fn operation(o: &mut String, dialect: &Dialect, records: &Records, op: &str) {
    let class = op.strip_prefix(&format!("{}_", dialect.prefix)).unwrap();
    let full = format!("{}.{}", dialect.name, records.text(op, "opName"));
    let args = records.dag(op, "arguments");
    let operands: Vec<(String, Arity)> = args
        .iter()
        .filter(|(d, _)| records.is(d, "TypeConstraint"))
        .map(|(d, n)| (n.clone(), records.arity(d)))
        .collect();
    let attributes: Vec<Field> =
        args.iter().filter(|(d, _)| records.is(d, "Attr")).map(|(d, n)| records.attribute(d, n)).collect();
    let results: Vec<(String, Arity)> =
        records.dag(op, "results").into_iter().map(|(d, n)| (n, records.arity(&d))).collect();
    let regions: Vec<String> = records.dag(op, "regions").into_iter().map(|(_, n)| n).collect();
    let segments = records.has_trait(op, "AttrSizedOperandSegments");
    // MLIR infers the type from the first operand, so the operand must exist.
    let infer = records.has_trait(op, "InferTypeOpInterface")
        || (records.has_trait(op, "SameOperandsAndResultType") && operands.first().is_some_and(|o| o.1 == Arity::One));

    writeln!(
        o,
        "/// `{full}`: {}\n#[derive(Clone, Copy, PartialEq, Eq)]\npub struct {class}<'c>(pub OpRef<'c>);\n\
         impl<'c> OpView<'c> for {class}<'c> {{\n  const NAME: &'static str = {full:?};\n  fn op(self) -> OpRef<'c> {{ self.0 }}\n  \
         fn wrap(op: OpRef<'c>) -> Self {{ Self(op) }}\n  fn type_id() -> usize {{ unsafe {{ ffi::tileir_{}_id_{class}() }}.ptr as usize }}\n}}\n\
         impl<'c> {class}<'c> {{",
        records.text(op, "summary"),
        dialect.name,
    )
    .unwrap();
    operand_accessors(o, &operands, segments);
    for (i, (name, arity)) in results.iter().enumerate() {
        let n = id(name);
        let variadic = results.iter().position(|(_, a)| *a != Arity::One);
        let line = match arity {
            // Results after a variadic one are indexed from the end.
            Arity::One if variadic.is_some_and(|v| v < i) => format!(
                "pub fn {n}(self) -> Val<'c> {{ result(self.0, result_count(self.0) - {}) }}",
                results.len() - i
            ),
            Arity::One => format!("pub fn {n}(self) -> Val<'c> {{ result(self.0, {i}) }}"),
            _ => format!(
                "pub fn {n}(self) -> impl ExactSizeIterator<Item = Val<'c>> + Clone {{ ({i}..result_count(self.0) - {}).map(move |i| result(self.0, i)) }}",
                results.len() - i - 1
            ),
        };
        // An operand or attribute may already have an accessor of that name.
        let clash = operands.iter().any(|(o, _)| id(o) == n) || attributes.iter().any(|a| id(&a.name) == n);
        if clash {
            writeln!(o, "  {}", line.replacen(&format!("fn {n}("), &format!("fn {n}_result("), 1)).unwrap();
        } else {
            writeln!(o, "  {line}").unwrap();
        }
    }
    for (i, name) in regions.iter().enumerate() {
        writeln!(o, "  pub fn {}(self) -> Rgn<'c> {{ region(self.0, {i}) }}", id(name)).unwrap();
    }
    for attribute in &attributes {
        attribute_accessor(o, attribute);
    }
    builder(o, &operands, &attributes, &results, &regions, segments, infer);
    o.push_str("}\n");
}

fn operand_accessors(o: &mut String, operands: &[(String, Arity)], segments: bool) {
    let fixed = operands.iter().filter(|(_, a)| *a == Arity::One).count();
    for (i, (name, arity)) in operands.iter().enumerate() {
        let n = id(name);
        let range = if segments {
            format!("segment(self.0, {i})")
        } else if fixed == operands.len() {
            format!("({i}, 1)")
        } else if *arity != Arity::One {
            format!("({i}, operand_count(self.0) - {fixed})")
        } else if operands[..i].iter().any(|(_, a)| *a != Arity::One) {
            format!("(operand_count(self.0) - {}, 1)", operands.len() - i)
        } else {
            format!("({i}, 1)")
        };
        let line = match arity {
            Arity::One => format!("pub fn {n}(self) -> Val<'c> {{ operand(self.0, {range}.0) }}"),
            Arity::Optional => format!(
                "pub fn {n}(self) -> Option<Val<'c>> {{ let (s, n) = {range}; (n > 0).then(|| operand(self.0, s)) }}"
            ),
            Arity::Variadic => format!(
                "pub fn {n}(self) -> impl ExactSizeIterator<Item = Val<'c>> + Clone {{ let (s, n) = {range}; (s..s + n).map(move |i| operand(self.0, i)) }}"
            ),
        };
        writeln!(o, "  {line}").unwrap();
    }
}

fn attribute_accessor(o: &mut String, Field { name, kind, optional, default, .. }: &Field) {
    let f = id(name);
    let (ty, convert) = match kind {
        FieldKind::Int(_) => ("i64".to_string(), "int_attr(a)".to_string()),
        FieldKind::Float => ("f64".into(), "float_attr(a)".into()),
        FieldKind::Bool => ("bool".into(), "bool_attr(a)".into()),
        FieldKind::String => ("&'c str".into(), "string_attr(a)".into()),
        FieldKind::Ints(32) => ("Vec<i32>".into(), "i32s_attr(a)".into()),
        FieldKind::Ints(64) => ("Vec<i64>".into(), "i64s_attr(a)".into()),
        FieldKind::Strings => ("Vec<&'c str>".into(), "strings_attr(a)".into()),
        FieldKind::Enum(e) => {
            let e = short(e);
            (e.into(), format!("{e}::from_attr(a).or_else(|| {e}::from_i64(int_attr(a))).expect(\"verified enum\")"))
        }
        _ => ("Attribute<'c>".into(), "a".into()),
    };
    let line = match kind {
        FieldKind::Unit => format!("pub fn {f}(self) -> bool {{ attr(self.0, {name:?}).is_some() }}"),
        // Only enum defaults are applied here; callers handle other defaults.
        FieldKind::Enum(_) if default.is_some() => {
            let case = default.as_ref().unwrap().rsplit("::").next().unwrap();
            let case: String = case.split('_').map(pascal).collect();
            format!("pub fn {f}(self) -> {ty} {{ attr(self.0, {name:?}).map_or({ty}::{case}, |a| {convert}) }}")
        }
        _ if *optional || default.is_some() => {
            format!("pub fn {f}(self) -> Option<{ty}> {{ attr(self.0, {name:?}).map(|a| {convert}) }}")
        }
        _ => format!("pub fn {f}(self) -> {ty} {{ let a = attr(self.0, {name:?}).expect({name:?}); {convert} }}"),
    };
    writeln!(o, "  {line}").unwrap();
}

fn pascal(part: &str) -> String {
    if part.len() > 1 && part.chars().all(|c| c.is_uppercase() || c.is_ascii_digit()) {
        part[..1].to_string() + &part[1..].to_lowercase()
    } else {
        part[..1].to_uppercase() + &part[1..]
    }
}

/// Generates one builder with all fields in TableGen's order: result types (unless inferred), operands, attributes,
/// regions.
fn builder(
    o: &mut String,
    operands: &[(String, Arity)],
    attributes: &[Field],
    results: &[(String, Arity)],
    regions: &[String],
    segments: bool,
    infer: bool,
) {
    let mut params = vec!["b: &Builder<'c>".to_string()];
    let mut body = String::new();
    if !infer {
        for (name, arity) in results {
            let n = format!("{}_type", id(name).trim_start_matches("r#"));
            match arity {
                Arity::One => {
                    params.push(format!("{n}: Type<'c>"));
                    writeln!(body, "    s.results(&[{n}]);").unwrap();
                }
                _ => {
                    params.push(format!("{n}s: &[Type<'c>]"));
                    writeln!(body, "    s.results({n}s);").unwrap();
                }
            }
        }
    }
    let mut sizes = vec![];
    for (name, arity) in operands {
        let n = id(name);
        match arity {
            Arity::One => {
                params.push(format!("{n}: Val<'c>"));
                writeln!(body, "    s.operands(&[{n}]);").unwrap();
                sizes.push("1".to_string());
            }
            Arity::Optional => {
                params.push(format!("{n}: Option<Val<'c>>"));
                writeln!(body, "    s.operands({n}.as_slice());").unwrap();
                sizes.push(format!("{n}.is_some() as i32"));
            }
            Arity::Variadic => {
                params.push(format!("{n}: &[Val<'c>]"));
                writeln!(body, "    s.operands({n});").unwrap();
                sizes.push(format!("{n}.len() as i32"));
            }
        }
    }
    if segments {
        writeln!(body, "    s.segments(&[{}]);", sizes.join(", ")).unwrap();
    }
    for Field { name, kind, optional, default, .. } in attributes {
        let f = id(name);
        let (ty, convert) = match kind {
            FieldKind::Enum(e) => (short(e).to_string(), "v.to_attr(b.context())"),
            _ => ("Attribute<'c>".to_string(), "v"),
        };
        if *kind == FieldKind::Unit {
            params.push(format!("{f}: bool"));
            writeln!(body, "    if {f} {{ s.attr({name:?}, b.unit()) }}").unwrap();
        } else if *optional || default.is_some() {
            params.push(format!("{f}: Option<{ty}>"));
            writeln!(body, "    if let Some(v) = {f} {{ s.attr({name:?}, {convert}) }}").unwrap();
        } else {
            params.push(format!("{f}: {ty}"));
            writeln!(body, "    {{ let v = {f}; s.attr({name:?}, {convert}) }}").unwrap();
        }
    }
    for name in regions {
        params.push(format!("{}: Region<'c>", id(name)));
        writeln!(body, "    s.region({});", id(name)).unwrap();
    }
    let infer = if infer { "    s.infer();\n" } else { "" };
    writeln!(
        o,
        "  #[allow(clippy::too_many_arguments)]\n  pub fn build({}) -> Result<Self, BuildError> {{\n    let mut s = b.state(Self::NAME);\n{body}{infer}    Ok(Self(b.insert(s)?))\n  }}",
        params.join(", ")
    )
    .unwrap();
}

/// Generates a module per pass: argument, summary, anchor, options, statistics.
pub fn passes(records: &Records) -> String {
    let mut o = String::new();
    for pass in records.of("PassBase") {
        let r = records.get(pass);
        let list = |field: &str| -> Vec<&serde_json::Value> {
            r[field].as_array().unwrap().iter().map(|x| records.get(x["def"].as_str().unwrap())).collect()
        };
        let (options, statistics) = (list("options"), list("statistics"));
        let dialects: Vec<&str> =
            r["dependentDialects"].as_array().unwrap().iter().map(|d| d.as_str().unwrap()).collect();
        let base = r["baseClass"].as_str().unwrap();
        let anchor = base.split('"').nth(1).unwrap_or(match base {
            b if b.contains("ModuleOp") && b.contains("gpu") => "gpu.module",
            b if b.contains("GPUModuleOp") => "gpu.module",
            b if b.contains("cuda_tile::ModuleOp") => "cuda_tile.module",
            b if b.contains("ModuleOp") => "builtin.module",
            b if b.contains("nv_tileaa::FuncOp") => "nv_tileaa.func",
            _ => "",
        });
        let kind = |x: &serde_json::Value| {
            let many = x["!superclasses"].as_array().unwrap().iter().any(|s| s == "ListOption");
            match (x["type"].as_str().unwrap(), many) {
                ("bool", false) => (0, "bool", "opt_bool"),
                ("std::string" | "::std::string", false) => (2, "&'a str", "opt_str"),
                (_, false) => (1, "i64", "opt_int"),
                (_, true) => (3, "&'a [i64]", "opt_int_list"),
            }
        };
        let text = |v: &serde_json::Value| format!("{:?}", v.as_str().unwrap_or(""));
        let module = r["argument"].as_str().unwrap().replace('-', "_");
        writeln!(
            o,
            "pub mod {} {{ use super::*;\n  pub const ARGUMENT: &CStr = c{};\n  pub const NAME: &CStr = c{:?};\n  \
             pub const DESCRIPTION: &CStr = c{};\n  pub const ANCHOR: &CStr = c{anchor:?};\n  pub const DIALECTS: &[&str] = &{dialects:?};\n  \
             pub const OPTIONS: &[MlirxOptionDesc] = &[{}];\n  pub const STATISTICS: &[MlirxStatisticDesc] = &[{}];",
            module,
            text(&r["argument"]),
            pass,
            text(&r["summary"]),
            options
                .iter()
                .map(|x| format!(
                    "MlirxOptionDesc {{ name: c{}.as_ptr(), description: c{}.as_ptr(), defaultValue: c{:?}.as_ptr(), kind: {} }}, ",
                    text(&x["argument"]),
                    text(&x["description"]),
                    x["defaultValue"].as_str().unwrap_or("").trim_matches('"'),
                    kind(x).0
                ))
                .collect::<String>(),
            statistics
                .iter()
                .map(|x| format!(
                    "MlirxStatisticDesc {{ name: c{}.as_ptr(), description: c{}.as_ptr() }}, ",
                    text(&x["name"]),
                    text(&x["description"])
                ))
                .collect::<String>(),
        )
        .unwrap();
        if !options.is_empty() {
            writeln!(
                o,
                "  #[derive(Clone, Copy)]\n  pub struct Options<'a>(pub &'a PassContext);\n  impl<'a> Options<'a> {{ {} }}",
                options
                    .iter()
                    .enumerate()
                    .map(|(i, x)| {
                        let (_, ty, f) = kind(x);
                        format!(
                            "/// {}\n pub fn {}(self) -> {ty} {{ self.0.{f}({i}) }}\n",
                            x["description"].as_str().unwrap(),
                            snake(x["cppName"].as_str().unwrap())
                        )
                    })
                    .collect::<String>()
            )
            .unwrap();
        }
        if !statistics.is_empty() {
            writeln!(
                o,
                "  pub mod stat {{ {} }}",
                statistics
                    .iter()
                    .enumerate()
                    .map(|(i, x)| format!(
                        "pub const {}: isize = {i}; ",
                        snake(x["cppName"].as_str().unwrap()).to_uppercase()
                    ))
                    .collect::<String>()
            )
            .unwrap();
        }
        o.push_str("}\n");
    }
    o
}
