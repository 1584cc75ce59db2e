//! Prints a decoded module in the format of the independent decoder `tests/tools/decode.py -v`, so the two can be
//! compared line by line.

use std::fmt::Write;
use tile_bytecode::schema::{AttrKind, EnumSpec, PADDING, POINTER_KIND, V13_5};
use tile_bytecode::*;

pub fn dump(m: &Module) -> String {
    let mut d = Dumper { m, out: String::new(), numbers: Vec::new(), types: Vec::new(), next: 0 };
    if let Some(p) = m.producer {
        writeln!(d.out, "producer {}", quote(&m.text(p))).unwrap();
    }
    for g in &m.globals {
        let (private, constant) = (if g.private { "private " } else { "" }, if g.constant { "constant " } else { "" });
        let (name, value, ty) = (m.text(g.name), d.dense(g.value), d.ty(g.ty));
        writeln!(d.out, "global {private}{constant}@{name} align={} {value} : {ty}", g.alignment).unwrap();
    }
    let mut slot = 0;
    for f in &m.functions {
        d.function(f, &mut slot);
    }
    d.out
}

/// The dump with the contents of constants instead of their indices, because pools may be ordered differently.
pub fn dump_without_constants(m: &Module) -> String {
    let mut text = String::new();
    for part in dump(m).split("const#") {
        let digits = if text.is_empty() { 0 } else { part.bytes().take_while(u8::is_ascii_digit).count() };
        text.push_str(&part[digits..]);
    }
    text
}

struct Dumper<'m> {
    m: &'m Module,
    out: String,
    /// Wire number of each value, in the version of the file.
    numbers: Vec<usize>,
    types: Vec<String>,
    next: usize,
}

fn quote(s: &str) -> String {
    let q = if s.contains('\'') && !s.contains('"') { '"' } else { '\'' };
    let mut out = String::from(q);
    for c in s.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            c if c == q => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out.push(q);
    out
}

fn list(items: impl IntoIterator<Item = impl ToString>) -> String {
    items.into_iter().map(|i| i.to_string()).collect::<Vec<_>>().join(", ")
}

impl Dumper<'_> {
    fn ty(&self, id: TypeId) -> String {
        let dims = |shape: &[i64], element: TypeId| {
            let mut parts: Vec<String> = shape.iter().map(|&d| dim(d)).collect();
            parts.push(self.ty(element));
            parts.join("x")
        };
        fn dim(d: i64) -> String {
            if d == DYNAMIC { "?".into() } else { d.to_string() }
        }
        let tile = |t: &[i32]| t.iter().map(|d| d.to_string()).collect::<Vec<_>>().join("x");
        let padding =
            |p: Option<u32>| p.map_or(String::new(), |p| format!("padding_value = {}, ", PADDING.keywords[p as usize]));
        let map = |m: &[i32]| {
            if m.iter().enumerate().all(|(i, &d)| i as i32 == d) {
                String::new()
            } else {
                format!(", dim_map=[{}]", list(m))
            }
        };
        match self.m.ty(id) {
            Type::Scalar(s) => s.name().to_owned(),
            Type::Token => "token".to_owned(),
            Type::Pointer { pointee, attr } => {
                let kind = attr.map_or(String::new(), |k| format!(", <{}>", POINTER_KIND.keywords[k as usize]));
                format!("ptr<{}{kind}>", self.ty(*pointee))
            }
            Type::Tile { element, shape } => format!("tile<{}>", dims(shape, *element)),
            Type::TensorView { element, shape, strides, attr } => {
                let strides: Vec<String> = strides.iter().map(|&s| dim(s)).collect();
                let tail = if shape.is_empty() { String::new() } else { format!(", strides=[{}]", strides.join(",")) };
                let kind = attr
                    .map_or(String::new(), |k| format!(", #cuda_tile.ptr_attr<{}>", POINTER_KIND.keywords[k as usize]));
                format!("tensor_view<{}{tail}{kind}>", dims(shape, *element))
            }
            Type::PartitionView(v) => {
                format!(
                    "partition_view<tile=({}), {}{}{}>",
                    tile(&v.tile),
                    padding(v.padding),
                    self.ty(v.view),
                    map(&v.dim_map)
                )
            }
            Type::GatherScatterView(v) => {
                let (t, p) = (tile(&v.tile), padding(v.padding));
                format!("gather_scatter_view<tile=({t}), {p}{}, sparse_dim={}>", self.ty(v.view), v.sparse_dim)
            }
            Type::StridedView(v) => {
                let (t, s, p) = (tile(&v.tile), list(&v.traversal_strides), padding(v.padding));
                format!("strided_view<tile=({t}), traversal_strides=[{s}], {p}{}{}>", self.ty(v.view), map(&v.dim_map))
            }
            Type::Function { inputs, results } => {
                let tuple = |ts: &[TypeId]| list(ts.iter().map(|t| quote(&self.ty(*t))));
                format!("([{}], [{}])", tuple(inputs), tuple(results))
            }
            preview => format!("{preview:?}"),
        }
    }

    fn dense(&self, c: ConstantId) -> String {
        let raw = self.m.constants.get(c.index()).unwrap();
        let hex = |b: &[u8]| b.iter().map(|b| format!("{b:02x}")).collect::<String>();
        let text = if raw.len() <= 32 { hex(raw) } else { format!("{}... {} bytes", hex(&raw[..32]), raw.len()) };
        format!("const#{}<{text}>", c.0)
    }

    fn attr(&self, a: &Attr) -> String {
        let m = self.m;
        let dictionary = |d: &[(StringId, Attr)]| {
            format!("{{{}}}", list(d.iter().map(|(k, v)| format!("{} = {}", m.text(*k), self.attr(v)))))
        };
        match a {
            Attr::Integer { ty, value } => format!("{value} : {}", self.ty(*ty)),
            Attr::Float { ty, bits } => format!("{bits:#x} : {}", self.ty(*ty)),
            Attr::Bool(b) => format!("bool {}", u8::from(*b)),
            Attr::Type(t) => format!("type {}", self.ty(*t)),
            Attr::String(s) => quote(&m.text(*s)),
            Attr::Array(v) => format!("[{}]", list(v.iter().map(|a| self.attr(a)))),
            Attr::Dense(d) => self.dense(d.constant),
            Attr::DivBy(d) => {
                let part = |k: &str, v: Option<i64>| v.map_or(String::new(), |v| format!(", {k} {v}"));
                format!("div_by<{}{}{}>", d.divisor, part("every", d.every), part("along", d.along))
            }
            Attr::SameElements(v) => format!("same_elements<[{}]>", list(v.iter())),
            Attr::Dictionary(d) => dictionary(d),
            Attr::Hints(d) => format!("hints<{}>", dictionary(d)),
            Attr::Bounded(b) => {
                let bound = |v: Option<i64>| v.map_or("?".to_owned(), |v| v.to_string());
                format!("bounded<{}, {}>", bound(b.lower), bound(b.upper))
            }
            Attr::I32s(v) => format!("[{}]", list(v.iter())),
            Attr::Preview(p) => format!("{p:?}"),
            Attr::I64s(_) | Attr::DenseStrings(_) => unreachable!("not in the public container"),
        }
    }

    fn debug(&self, id: Option<DebugId>) -> String {
        let m = self.m;
        let Some(id) = id else { return "unknown".to_owned() };
        match &m.debug[id.index()] {
            DebugAttr::Unknown => "unknown".to_owned(),
            DebugAttr::CompileUnit { file, .. } => format!("di_compile_unit<file={}>", self.debug(*file)),
            DebugAttr::File { name, directory } => {
                format!("di_file<{} in {}>", quote(&m.text(*name)), quote(&m.text(*directory)))
            }
            DebugAttr::LexicalBlock { scope, file, line, column } => {
                format!(
                    "di_lexical_block<scope={} file={} line={line} col={column}>",
                    self.debug(*scope),
                    self.debug(*file)
                )
            }
            DebugAttr::Loc { scope, file, line, column } => {
                format!("di_loc<{}:{line}:{column} in {}>", m.text(*file), self.debug(*scope))
            }
            DebugAttr::Subprogram(s) => format!(
                "di_subprogram<file={} line={} name={} linkage={} cu={} scopeLine={}{}>",
                self.debug(s.file),
                s.line,
                m.text(s.name),
                m.text(s.linkage),
                self.debug(s.unit),
                s.scope_line,
                if m.version.at_least(V13_5) { format!(" flags={}", s.flags) } else { String::new() }
            ),
            DebugAttr::CallSite { callee, caller } => {
                format!("callsite({} at {})", self.debug(*callee), self.debug(*caller))
            }
            DebugAttr::SpecCompileUnit { .. }
            | DebugAttr::SpecLoc { .. }
            | DebugAttr::SpecSubprogram(_)
            | DebugAttr::SpecCallSite { .. } => unreachable!("not in the public container"),
        }
    }

    fn function(&mut self, f: &Function, slot: &mut usize) {
        let Type::Function { inputs, results } = self.m.ty(f.signature) else { panic!("signature is a function type") };
        *slot += usize::from(f.location.is_some());
        let flags = 2 | u8::from(f.private) | u8::from(f.hints.is_some()) << 2;
        let types = |ts: &[TypeId]| list(ts.iter().map(|t| self.ty(*t)));
        writeln!(
            self.out,
            "entry @{}({}) -> ({}) flags={flags} loc={} hints={}{} {{",
            self.m.text(f.name),
            types(inputs),
            types(results),
            if f.location.is_some() { *slot } else { 0 },
            f.hints.map_or("None".to_owned(), |h| self.attr(self.m.attr(h))),
            f.arg_attrs.map_or(String::new(), |a| format!(" args={}", self.attr(self.m.attr(a)))),
        )
        .unwrap();
        self.numbers = vec![usize::MAX; f.body.value_count()];
        self.types = vec![String::new(); f.body.value_count()];
        self.next = 0;
        for (v, t) in f.body.arguments().zip(inputs) {
            self.number(v, *t);
        }
        for op in f.body.top_level() {
            self.op(op, "  ");
        }
        writeln!(self.out, "}}  // {} values", self.next).unwrap();
    }

    fn number(&mut self, v: ValueId, t: TypeId) {
        self.numbers[v.index()] = self.next;
        self.types[v.index()] = self.ty(t);
        self.next += 1;
    }

    fn op(&mut self, op: OpRef, indent: &str) {
        let version = self.m.version;
        let serialised = if op.spec.variadic_results {
            op.result_count()
        } else {
            op.spec.results.iter().filter(|r| version.at_least(r.since)).count()
        };
        let base = self.next;
        let head = self.out.len();
        for region in op.regions() {
            if let Some(b) = op.block(region) {
                let args: Vec<String> =
                    (base..).zip(b.arg_types(op.body)).map(|(i, t)| format!("%{i}: {}", self.ty(t))).collect();
                writeln!(self.out, "{indent}^({})", args.join(", ")).unwrap();
                for (v, t) in b.args().zip(b.arg_types(op.body)) {
                    self.number(v, t);
                }
                for inner in b.ops(op.body) {
                    self.op(inner, &format!("{indent}  "));
                }
                self.next = base;
            }
            writeln!(self.out, "{indent}--").unwrap();
        }

        let keyword = |e: &EnumSpec, v: u32| e.keywords[v as usize].to_owned();
        let mut attrs = Vec::new();
        for (i, field) in op.spec.attrs.iter().enumerate() {
            if !version.at_least(field.since) {
                continue;
            }
            let Some(value) = op.attr(i) else { continue };
            let text = match (field.kind, value) {
                (_, AttrValue::Unit) => {
                    attrs.push(field.name.to_owned());
                    continue;
                }
                (AttrKind::Enum(e), AttrValue::Enum(v)) => keyword(e, v),
                (_, AttrValue::Int(v)) => v.to_string(),
                (_, AttrValue::Bool(b)) => u8::from(b).to_string(),
                (_, AttrValue::Bools(b)) => format!("[{}]", list(b.iter().map(u8::from))),
                (_, AttrValue::Str(s) | AttrValue::Sym(s)) => quote(&self.m.text(s)),
                (_, AttrValue::Type(t)) => self.ty(t),
                (_, AttrValue::Dense(c)) => self.dense(c),
                (AttrKind::Hints, AttrValue::Attr(a)) => {
                    let text = self.attr(self.m.attr(a));
                    text["hints<".len()..text.len() - 1].to_owned()
                }
                (_, AttrValue::Attr(a)) => self.attr(self.m.attr(a)),
                other => panic!("{other:?}"),
            };
            attrs.push(format!("{}={text}", field.name));
        }
        let operands: Vec<ValueId> = op.operands().collect();
        let results = list((base..base + serialised).map(|n| format!("%{n}")));
        let location = self.debug(op.location());
        let line = format!(
            "{indent}{results}{}{} {}{}{} : ({}) -> ({}){}\n",
            if serialised > 0 { " = " } else { "" },
            op.spec.name,
            attrs.join(" "),
            if attrs.is_empty() || operands.is_empty() { "" } else { " " },
            list(operands.iter().map(|v| format!("%{}", self.numbers[v.index()]))),
            list(operands.iter().map(|v| &self.types[v.index()])),
            list(op.result_types().take(serialised).map(|t| self.ty(t))),
            if location == "unknown" { String::new() } else { format!("   // {location}") },
        );
        self.out.insert_str(head, &line);
        for (v, t) in op.results().zip(op.result_types()).take(serialised) {
            self.number(v, t);
        }
    }
}
