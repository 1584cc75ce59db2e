//! Prints programs as text of the dialect, for MLIR to parse.

use crate::program::{
    AccessOrder, Block, Entry, FloatMode, Op, OpKind, Overflow, Program, Promise, Rounding, Update, Value,
};
use crate::types::{Element, Number, TileType, Tiling, Type};
use std::fmt::Write;

/// Prints the whole program as a module.
pub fn print(program: &Program) -> String {
    let mut out = format!("cuda_tile.module @{} {{\n", program.name);
    for g in &program.globals {
        let private = if g.private { " private" } else { "" };
        let constant = if g.constant { " constant" } else { "" };
        let alignment = if g.alignment == 0 { String::new() } else { format!(" alignment = {}", g.alignment) };
        let t = TileType::of(&[g.values.len()], g.element);
        let value = literal(&g.values, &t);
        out += &format!("  global{private}{constant} @{}{alignment} {value} : {t}\n", g.name);
    }
    for e in &program.entries {
        let mut printer = Printer { entry: e, out: String::new(), depth: 2 };
        let parameters = printer.arguments(&e.body);
        printer.block(&e.body);
        out += &format!("  entry @{}({parameters}) {{\n{}  }}\n", e.name, printer.out);
    }
    out + "}\n"
}

/// `<f32: 0x3F800000>`: the bits of a float, a signed integer, or a list of them.
fn literal(bits: &[u64], t: &TileType) -> String {
    let Element::Number(n) = t.element else { return "<>".into() };
    if let [one] = bits {
        return format!("<{n}: {}>", number(*one, n));
    }
    fn list(bits: &[u64], shape: &[usize], n: Number) -> String {
        let Some((_, inner)) = shape.split_first() else { return number(bits[0], n) };
        let parts: Vec<String> = bits.chunks(inner.iter().product()).map(|b| list(b, inner, n)).collect();
        format!("[{}]", parts.join(", "))
    }
    format!("<{n}: {}>", list(bits, &t.shape, n))
}

fn number(bits: u64, n: Number) -> String {
    match n {
        Number::I1 => if bits != 0 { "true" } else { "false" }.into(),
        _ if n.is_integer() => crate::int::value(bits, n, crate::program::Signedness::Signed).to_string(),
        _ => format!("0x{bits:0width$X}", width = n.width().div_ceil(4) as usize),
    }
}

/// An attribute with its type, as in a list of identities.
fn typed(bits: u64, n: Number) -> String {
    if n == Number::I1 { number(bits, n) } else { format!("{} : {n}", number(bits, n)) }
}

fn join<T>(items: &[T], f: impl Fn(&T) -> String) -> String {
    items.iter().map(f).collect::<Vec<_>>().join(", ")
}

fn name(v: &Value) -> String {
    format!("%v{}", v.0)
}

fn rounding(r: Rounding, default: Rounding) -> String {
    if r == default { String::new() } else { format!(" rounding<{}>", r.keyword()) }
}

fn flag(there: bool, keyword: &str) -> String {
    if there { format!(" {keyword}") } else { String::new() }
}

fn mode(m: FloatMode) -> String {
    rounding(m.rounding, Rounding::NearestEven) + &flag(m.flush, "flush_to_zero")
}

fn overflow(o: Overflow) -> String {
    o.keyword().map_or(String::new(), |k| format!(" overflow<{k}>"))
}

fn access(a: AccessOrder) -> String {
    format!("{}{}", a.order.keyword(), a.scope.map_or(String::new(), |s| format!(" {}", s.keyword())))
}

pub(crate) fn promise(p: &Promise) -> String {
    let bound = |b: &Option<i64>| b.map_or("?".to_string(), |b| b.to_string());
    match p {
        Promise::DivBy { divisor, groups: None } => format!("div_by<{divisor}>"),
        Promise::DivBy { divisor, groups: Some((every, along)) } => {
            format!("div_by<{divisor}, every {every} along {along}>")
        }
        Promise::SameElements(values) => format!("same_elements<[{}]>", join(values, i64::to_string)),
        Promise::Bounded { low, high } => format!("bounded<{}, {}>", bound(low), bound(high)),
    }
}

/// Escapes quotation marks, backslashes and unprintable characters, as in C and MLIR.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for b in text.bytes() {
        match b {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(b.into());
            }
            b' '..=b'~' => out.push(b.into()),
            _ => out += &format!("\\{b:02X}"),
        }
    }
    out + "\""
}

struct Printer<'e> {
    entry: &'e Entry,
    out: String,
    depth: usize,
}

impl Printer<'_> {
    fn ty(&self, v: Value) -> &Type {
        self.entry.ty(v)
    }

    fn types(&self, values: &[Value]) -> String {
        join(values, |v| self.ty(*v).to_string())
    }

    fn arguments(&self, block: &Block) -> String {
        join(&block.arguments, |v| format!("{}: {}", name(v), self.ty(*v)))
    }

    fn block(&mut self, block: &Block) {
        for op in &block.ops {
            self.op(op);
        }
    }

    /// A region in braces, up to the end of the line.
    fn region(&mut self, block: &Block) {
        self.out += "{\n";
        self.depth += 1;
        self.block(block);
        self.depth -= 1;
        self.out += &"  ".repeat(self.depth);
        self.out.push('}');
    }

    fn op(&mut self, op: &Op) {
        self.out += &"  ".repeat(self.depth);
        if !op.results.is_empty() {
            self.out += &join(&op.results, name);
            self.out += " = ";
        }
        self.body(op);
        self.out.push('\n');
    }

    fn body(&mut self, op: &Op) {
        let v = &op.operands;
        let all = join(v, name);
        let mnemonic = op.kind.mnemonic();
        let first = v.first().map_or(String::new(), |v| self.ty(*v).to_string());
        let results = self.types(&op.results);
        let result = op.results.first().map_or(String::new(), |v| self.ty(*v).to_string());
        // Optional operands of accesses: the token is printed separately, after `sign`.
        let token = |there: bool, sign: &str| match v.last() {
            Some(t) if there => format!(" token{sign}{}", name(t)),
            _ => String::new(),
        };
        let without_token = |there: bool| &v[..v.len() - usize::from(there)];
        let text = match &op.kind {
            // `op %a, %b : T`
            OpKind::AbsF
            | OpKind::NegF
            | OpKind::Ceil
            | OpKind::Floor
            | OpKind::Log
            | OpKind::Log2
            | OpKind::Sin
            | OpKind::Cos
            | OpKind::Tan
            | OpKind::Sinh
            | OpKind::Cosh
            | OpKind::Pow
            | OpKind::Atan2
            | OpKind::RemF
            | OpKind::AbsI
            | OpKind::MulhiI
            | OpKind::AndI
            | OpKind::OrI
            | OpKind::XorI
            | OpKind::JoinTokens => format!("{mnemonic} {all} : {first}"),
            OpKind::AddF(m)
            | OpKind::SubF(m)
            | OpKind::MulF(m)
            | OpKind::DivF(m)
            | OpKind::Fma(m)
            | OpKind::Sqrt(m) => {
                format!("{mnemonic} {all}{} : {first}", mode(*m))
            }
            OpKind::Rsqrt { flush } | OpKind::Exp2 { flush } => {
                format!("{mnemonic} {all}{} : {first}", flag(*flush, "flush_to_zero"))
            }
            OpKind::Exp { rounding: r } | OpKind::Tanh { rounding: r } => {
                format!("{mnemonic} {all}{} : {first}", rounding(*r, Rounding::Full))
            }
            OpKind::MaxF { propagate_nan, flush } | OpKind::MinF { propagate_nan, flush } => {
                let flags = flag(*flush, "flush_to_zero") + &flag(*propagate_nan, "propagate_nan");
                format!("{mnemonic} {all}{flags} : {first}")
            }
            OpKind::NegI(o) | OpKind::AddI(o) | OpKind::SubI(o) | OpKind::MulI(o) | OpKind::ShlI(o) => {
                format!("{mnemonic} {all}{} : {first}", overflow(*o))
            }
            OpKind::ShrI(s) | OpKind::RemI(s) | OpKind::MaxI(s) | OpKind::MinI(s) => {
                format!("{mnemonic} {all} {} : {first}", s.keyword())
            }
            OpKind::DivI { signedness, rounding: r } => {
                format!("{mnemonic} {all} {}{} : {first}", signedness.keyword(), rounding(*r, Rounding::Zero))
            }
            OpKind::CmpF { predicate, ordered } => {
                let ordering = if *ordered { "ordered" } else { "unordered" };
                format!("{mnemonic} {} {ordering} {all} : {first} -> {result}", predicate.keyword())
            }
            OpKind::CmpI { predicate, signedness } => {
                format!("{mnemonic} {} {all}, {} : {first} -> {result}", predicate.keyword(), signedness.keyword())
            }
            // `op %a : T -> T2`
            OpKind::Bitcast
            | OpKind::PtrToInt
            | OpKind::IntToPtr
            | OpKind::PtrToPtr
            | OpKind::Pack
            | OpKind::Unpack
            | OpKind::Broadcast
            | OpKind::Reshape
            | OpKind::GetTensorShape
            | OpKind::GetIndexSpaceShape => format!("{mnemonic} {all} : {first} -> {result}"),
            OpKind::FToI { signedness, saturating } => {
                let saturating = flag(*saturating, "saturating");
                format!("{mnemonic} {all} {}{saturating} : {first} -> {result}", signedness.keyword())
            }
            OpKind::ExtI(s) | OpKind::IToF(s) => {
                format!("{mnemonic} {all} {} : {first} -> {result}", s.keyword())
            }
            OpKind::TruncI(o) => format!("{mnemonic} {all}{} : {first} -> {result}", overflow(*o)),
            OpKind::FToF { rounding: r } => {
                format!("{mnemonic} {all}{} : {first} -> {result}", rounding(*r, Rounding::NearestEven))
            }
            OpKind::Constant(bits) => match self.ty(op.results[0]) {
                Type::Tile(t) => format!("{mnemonic} {} : {result}", literal(bits, t)),
                _ => mnemonic.to_string(),
            },
            OpKind::Iota | OpKind::MakeToken | OpKind::GetTileBlockId | OpKind::GetNumTileBlocks => {
                format!("{mnemonic} : {result}")
            }
            OpKind::Permute(p) => format!("{mnemonic} {all} [{}] : {first} -> {result}", join(p, usize::to_string)),
            OpKind::Cat { dim } => format!("{mnemonic} {all} dim = {dim} : {} -> {result}", self.types(v)),
            OpKind::Extract => format!("{mnemonic} {}[{}] : {first} -> {result}", name(&v[0]), join(&v[1..], name)),
            OpKind::Insert => {
                let (tiles, indices) = (&v[..2], &v[2..]);
                format!("{mnemonic} {}[{}] : {}", join(tiles, name), join(indices, name), self.types(tiles))
            }
            OpKind::PowI { .. } => format!("{mnemonic} {all} : {}", self.types(v)),
            OpKind::ForeignCall { callee, constants } => {
                let constants = join(constants, ToString::to_string);
                let constants = if constants.is_empty() { constants } else { format!("<[{constants}]>") };
                let full = |values: &[Value]| format!("({})", join(values, |v| format!("!cuda_tile.{}", self.ty(*v))));
                format!("{mnemonic} @{callee}{constants}({all}) : {} -> {}", full(v), full(&op.results))
            }
            OpKind::LaunchDependents | OpKind::WaitForGrids => {
                format!("{mnemonic}{} -> {result}", token(!v.is_empty(), " = "))
            }
            OpKind::FenceAlias => format!("{mnemonic} {all}"),
            OpKind::Select => format!("{mnemonic} {all} : {first}, {result}"),
            OpKind::Offset => format!("{mnemonic} {all} : {} -> {result}", self.types(v)),
            OpKind::LoadPtr { access: a, token: t, .. } => {
                let v = without_token(*t);
                format!(
                    "{mnemonic} {} {}{} : {} -> {results}",
                    access(*a),
                    join(v, name),
                    token(*t, "="),
                    self.types(v)
                )
            }
            OpKind::StorePtr { access: a, token: t, .. } => {
                let v = without_token(*t);
                format!(
                    "{mnemonic} {} {}{} : {} -> {results}",
                    access(*a),
                    join(v, name),
                    token(*t, "="),
                    self.types(v)
                )
            }
            OpKind::AtomicCas { access: a, token: t, .. } => {
                let v = without_token(*t);
                // The type of the comparison operand is that of the stored value, so it is printed once.
                let types: Vec<Value> = v.iter().enumerate().filter(|(i, _)| *i != 1).map(|(_, v)| *v).collect();
                format!(
                    "{mnemonic} {} {}{} : {} -> {results}",
                    access(*a),
                    join(v, name),
                    token(*t, "="),
                    self.types(&types)
                )
            }
            OpKind::AtomicRmw { access: a, update, token: t, .. } => {
                let v = without_token(*t);
                format!(
                    "{mnemonic} {} {}, {}, {}{} : {} -> {results}",
                    access(*a),
                    name(&v[0]),
                    update.keyword(),
                    join(&v[1..], name),
                    token(*t, "="),
                    self.types(v)
                )
            }
            OpKind::Alloca { count, alignment, global } => {
                let global = flag(*global, "global");
                format!("{mnemonic} num_elem = {count}, alignment = {alignment}{global} : {result}")
            }
            OpKind::GetGlobal(g) => format!("{mnemonic} @{g} : {result}"),
            OpKind::MakeTensorView => self.tensor_view(op),
            OpKind::MakeView => {
                let what = match self.ty(op.results[0]) {
                    Type::View(view) => match view.tiling {
                        Tiling::Partition { .. } => "partition",
                        Tiling::Strided { .. } => "strided",
                        Tiling::GatherScatter { .. } => "gather_scatter",
                    },
                    _ => "partition",
                };
                format!("make_{what}_view {all} : {result}")
            }
            OpKind::LoadView { access: a, token: t, inbounds } => {
                let v = without_token(*t);
                format!(
                    "{mnemonic} {} {}[{}]{}{} : {} -> {results}",
                    access(*a),
                    name(&v[0]),
                    join(&v[1..], name),
                    token(*t, " = "),
                    promises(inbounds),
                    self.types(v)
                )
            }
            OpKind::StoreView { access: a, token: t, inbounds } => {
                let v = without_token(*t);
                format!(
                    "{mnemonic} {} {}, {}[{}]{}{} : {} -> {results}",
                    access(*a),
                    name(&v[0]),
                    name(&v[1]),
                    join(&v[2..], name),
                    token(*t, " = "),
                    promises(inbounds),
                    self.types(v)
                )
            }
            OpKind::AtomicRedView { access: a, update, token: t, inbounds } => {
                let v = without_token(*t);
                let (value, indices) = (v[v.len() - 1], &v[1..v.len() - 1]);
                let types: Vec<Value> = [value, v[0]].into_iter().chain(indices.iter().copied()).collect();
                format!(
                    "{mnemonic} {} {}[{}], {}, {}{}{} : {} -> {results}",
                    access(*a),
                    name(&v[0]),
                    join(indices, name),
                    update.keyword(),
                    name(&value),
                    token(*t, " = "),
                    promises(inbounds),
                    self.types(&types)
                )
            }
            OpKind::MultimemLoadReduce { access: a, update, token: t, inbounds } => {
                let v = without_token(*t);
                format!(
                    "{mnemonic} {} {}[{}]{}{}{} : {} -> {results}",
                    access(*a),
                    name(&v[0]),
                    join(&v[1..], name),
                    token(*t, " = "),
                    promises(inbounds),
                    combined_by(*update),
                    self.types(v)
                )
            }
            OpKind::MultimemReduce { access: a, token: t, inbounds, .. }
            | OpKind::MultimemStore { access: a, token: t, inbounds } => {
                let v = without_token(*t);
                let kind = match &op.kind {
                    OpKind::MultimemReduce { update, .. } => combined_by(*update),
                    _ => String::new(),
                };
                format!(
                    "{mnemonic} {} {}, {}[{}]{}{}{kind} : {} -> {results}",
                    access(*a),
                    name(&v[0]),
                    name(&v[1]),
                    join(&v[2..], name),
                    token(*t, " = "),
                    promises(inbounds),
                    self.types(v)
                )
            }
            OpKind::MmaF { fast_acc } => format!("{mnemonic} {all}{} : {}", flag(*fast_acc, "fast_acc"), self.types(v)),
            OpKind::MmaI { lhs, rhs } => {
                format!("{mnemonic} {all} {} {} : {}", lhs.keyword(), rhs.keyword(), self.types(v))
            }
            OpKind::MmaFScaled => format!("{mnemonic} {all} : {}", self.types(v)),
            OpKind::Reduce { dim, identities } => return self.aggregate(op, &format!("dim={dim}"), identities),
            OpKind::Scan { dim, reverse, identities } => {
                return self.aggregate(op, &format!("dim={dim} reverse={reverse}"), identities);
            }
            OpKind::If => return self.branch(op),
            OpKind::For { unsigned } => return self.count(op, *unsigned),
            OpKind::Loop => return self.repeat(op),
            OpKind::Break | OpKind::Continue | OpKind::Yield | OpKind::Return => match v[..] {
                [] => mnemonic.to_string(),
                _ => format!("{mnemonic} {all} : {}", self.types(v)),
            },
            OpKind::Assert(message) => format!("{mnemonic} {all}, {} : {first}", quoted(message)),
            OpKind::Assume(p) => format!("{mnemonic} {}, {all} : {first}", promise(p)),
            OpKind::Print { format, token: t } => {
                let v = without_token(*t);
                let (list, types) = match v {
                    [] => (String::new(), String::new()),
                    _ => (format!(", {}", join(v, name)), format!(" : {}", self.types(v))),
                };
                format!("{mnemonic} {}{list}{}{types} -> token", quoted(format), token(*t, "="))
            }
        };
        self.out += &text;
    }

    fn tensor_view(&self, op: &Op) -> String {
        let Type::Tensor(t) = self.ty(op.results[0]) else { return "make_tensor_view".into() };
        let mut dynamic = op.operands[1..].iter();
        let mut list = |sizes: &[Option<u64>]| {
            let parts: Vec<String> = sizes
                .iter()
                .map(|d| d.map_or_else(|| dynamic.next().map_or("?".into(), name), |d| d.to_string()))
                .collect();
            parts.join(", ")
        };
        let (shape, strides) = (list(&t.shape), list(&t.strides));
        let index = op.operands.get(1).map_or(String::new(), |v| format!("{} -> ", self.ty(*v)));
        format!("make_tensor_view {}, shape = [{shape}], strides = [{strides}] : {index}{t}", name(&op.operands[0]))
    }

    fn aggregate(&mut self, op: &Op, parameters: &str, identities: &[u64]) {
        let number = |v: &Value| self.ty(*v).tile().and_then(|t| t.element.number());
        let list: Vec<String> = op
            .operands
            .iter()
            .zip(identities)
            .map(|(v, bits)| number(v).map_or(String::new(), |n| typed(*bits, n)))
            .collect();
        let (operands, types) = (join(&op.operands, name), self.types(&op.operands));
        let results = self.types(&op.results);
        let arguments = op.regions.first().map_or(String::new(), |b| self.arguments(b));
        let identities = list.join(", ");
        let mnemonic = op.kind.mnemonic();
        let head = format!("{mnemonic} {operands} {parameters} identities=[{identities}] : {types} -> {results}");
        // The arguments are on a separate line.
        let _ = write!(self.out, "{head}\n{}({arguments}) ", "  ".repeat(self.depth));
        if let Some(body) = op.regions.first() {
            self.region(body);
        }
    }

    fn branch(&mut self, op: &Op) {
        let results = if op.results.is_empty() { String::new() } else { format!("-> ({}) ", self.types(&op.results)) };
        let _ = write!(self.out, "if {} {results}", name(&op.operands[0]));
        for (i, region) in op.regions.iter().enumerate() {
            if i == 1 && region.ops.is_empty() {
                break;
            }
            if i == 1 {
                self.out += " else ";
            }
            self.region(region);
        }
    }

    /// `%x = %init` for each loop-carried value.
    fn carried(&self, arguments: &[Value], inits: &[Value]) -> String {
        let pairs: Vec<String> =
            arguments.iter().zip(inits).map(|(a, i)| format!("{} = {}", name(a), name(i))).collect();
        pairs.join(", ")
    }

    fn count(&mut self, op: &Op, unsigned: bool) {
        let Some(body) = op.regions.first() else { return };
        let (v, a) = (&op.operands, &body.arguments);
        let unsigned = if unsigned { "unsigned " } else { "" };
        let (iv, ty) = (name(&a[0]), self.ty(a[0]));
        let range = format!("{} to {}, step {}", name(&v[0]), name(&v[1]), name(&v[2]));
        let mut text = format!("for {unsigned}{iv} in ({range}) : {ty} ");
        if v.len() > 3 {
            text += &format!("iter_values({}) -> ({}) ", self.carried(&a[1..], &v[3..]), self.types(&op.results));
        }
        self.out += &text;
        self.region(body);
    }

    fn repeat(&mut self, op: &Op) {
        let Some(body) = op.regions.first() else { return };
        let mut text = String::from("loop ");
        let results = self.types(&op.results);
        if !op.operands.is_empty() {
            let carried = self.carried(&body.arguments, &op.operands);
            text += &format!("iter_values({carried}) : {} ", self.types(&op.operands));
            if !op.results.is_empty() {
                text += &format!("-> {results} ");
            }
        } else if !op.results.is_empty() {
            text += &format!(": {results} ");
        }
        self.out += &text;
        self.region(body);
    }
}

/// How an access to multicast memory combines values; addition is the default and is not printed.
fn combined_by(update: Update) -> String {
    match update {
        Update::Add | Update::AddF => String::new(),
        other => format!(" attributes {{reduction = #cuda_tile.multimem_reduction_kind<{}>}}", other.keyword()),
    }
}

/// The `inbounds` attribute, if any dimension is promised to be in bounds.
fn promises(inbounds: &[bool]) -> String {
    if inbounds.contains(&true) { format!(" inbounds = [{}]", join(inbounds, bool::to_string)) } else { String::new() }
}
