//! The choice of an implementation for a call.
//!
//! First the call is checked against the declaration: its constants, operands and results. Then every implementation
//! of the function is examined. An implementation fits if its constants unify with the call's, it supports the
//! architecture, and its fragments have the access, the element types and the elements of the operands. The one with
//! the highest score is chosen, of several the first.

use crate::file::Library;
use crate::values::{Environment, Mode, Modes, Value};
use tile_bytecode::{Attr, Function, Implementation, LibraryFunction, Module, Preview, Type};

/// A call, without its tokens.
#[derive(Clone, Debug)]
pub struct Call {
    pub callee: String,
    /// An error says why a constant has no value.
    pub constants: Vec<Result<Value, String>>,
    pub operands: Vec<Tile>,
    pub results: Vec<Tile>,
}

/// The type of an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    pub shape: Vec<i64>,
    /// As in [`Value::Type`].
    pub element: String,
}

/// The launch of the kernel with the call.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// `sm_90a`.
    pub target: &'a str,
    pub threads: i64,
}

/// A chosen implementation, without symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Index of the library.
    pub library: usize,
    pub symbol: String,
    pub fragments: Vec<Fragment>,
    /// For each fragment: 0 in, 1 out, 2 inout.
    pub access: Vec<u32>,
    /// Bytes and alignment of shared memory that the function needs.
    pub scratch: Option<(i64, i64)>,
    /// 0 none, 1 warp, 2 warpgroup, 3 CTA.
    pub synchronization: u32,
}

/// A fragment, without symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    pub shape: Vec<i64>,
    pub element: String,
    pub shared: bool,
    pub layout: Modes,
    /// Invocation, participant and footprint.
    pub map: Modes,
    pub alignment: i64,
}

impl std::fmt::Display for Fragment {
    /// The type without the dialect's prefix.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shape: String = self.shape.iter().map(|d| format!("{d}x")).collect();
        let space = if self.shared { "smem" } else { "local" };
        let Fragment { element, layout, map, .. } = self;
        write!(f, "preview$fragment<{shape}{element}, {space}, mem_layout = {layout}, fragmap = {map}")?;
        if self.alignment != 1 {
            write!(f, ", alignment = {}", self.alignment)?;
        }
        f.write_str(">")
    }
}

/// The reason for which a call does not fit the declaration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    #[error("constant argument count ({given}) must match extern function constant parameter count ({declared})")]
    ConstantCount { given: usize, declared: usize },
    #[error("constant argument #{index} for constant parameter '{name}' must be a valid {kind} expression: {reason}")]
    Constant { index: usize, name: String, kind: &'static str, reason: String },
    #[error("operand count ({given}) must match extern preview$func parameter count ({declared})")]
    OperandCount { given: usize, declared: usize },
    #[error("operand type mismatch at index {0}")]
    Operand(usize),
    #[error("result count ({given}) must match extern preview$func result count ({declared})")]
    ResultCount { given: usize, declared: usize },
    #[error("result type mismatch at index {0}")]
    Result(usize),
}

/// The implementations that do not fit a call, each with what it lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoImplementation {
    /// The libraries that declare the function.
    pub library: Option<String>,
    pub candidates: Vec<(String, String)>,
}

/// The result of [`resolve`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    Chosen(Chosen),
    Mismatch(Mismatch),
    None(NoImplementation),
}

/// The value of a constant of a call. The error says why it has none.
pub fn constant(module: &Module, e: &Preview) -> Result<Value, String> {
    match e {
        // The number of threads is not a constant of the call.
        Preview::Builtin { .. } | Preview::Variable(_) => Err("unknown expression in integer context".into()),
        e => Environment::default().evaluate(module, e),
    }
}

/// The name of an element type, as in [`Value::Type`].
pub fn element(module: &Module, t: tile_bytecode::TypeId) -> Option<String> {
    Environment::default().element(module, t).ok()
}

/// Names that two libraries declare, or one twice.
pub fn redefinition(libraries: &[Library]) -> Option<String> {
    let mut seen = vec![];
    for library in libraries {
        for f in &library.interface.functions {
            let name = library.interface.text(f.name);
            if seen.contains(&name) {
                return Some(name);
            }
            seen.push(name);
        }
    }
    None
}

/// Chooses the implementation of a call.
pub fn resolve(libraries: &[Library], call: &Call, context: Context) -> Resolution {
    let declarations = libraries.iter().enumerate().filter_map(|(i, library)| {
        let functions = &library.interface.functions;
        let found = functions.iter().position(|f| library.interface.text(f.name) == call.callee)?;
        match library.interface.library_function(found) {
            Some(LibraryFunction::Extern(constants)) => Some((i, &functions[found], constants)),
            _ => None,
        }
    });
    let Some((index, function, constants)) = declarations.into_iter().next() else {
        return Resolution::None(NoImplementation { library: None, candidates: vec![] });
    };
    let library = &libraries[index];
    let access = match check(&library.interface, function, constants, call) {
        Ok(access) => access,
        Err(mismatch) => return Resolution::Mismatch(mismatch),
    };
    let mut best: Option<(Option<i64>, Chosen)> = None;
    let mut candidates = vec![];
    for i in 0..library.catalogue.functions.len() {
        let Some(LibraryFunction::Implementation(i)) = library.catalogue.library_function(i) else { continue };
        if library.catalogue.text(i.implements) != call.callee {
            continue;
        }
        let symbol = library.catalogue.text(i.symbol);
        match fit(&library.catalogue, i, call, &access, context) {
            Ok(chosen) => {
                let score = i.score.map(|s| s as i64);
                if best.as_ref().is_none_or(|(least, _)| score > *least) {
                    best = Some((score, Chosen { library: index, ..chosen }));
                }
            }
            Err(reason) => candidates.push((symbol, reason)),
        }
    }
    match best {
        Some((_, chosen)) => Resolution::Chosen(chosen),
        None => Resolution::None(NoImplementation { library: Some(library.name.clone()), candidates }),
    }
}

fn parameter(attr: &Attr) -> Option<(tile_bytecode::StringId, tile_bytecode::TypeId)> {
    match attr {
        Attr::Preview(p) => match &**p {
            Preview::Parameter { name, kind } => Some((*name, *kind)),
            _ => None,
        },
        _ => None,
    }
}

/// Accesses of the parameters, from the attributes of the arguments.
fn accesses(module: &Module, list: &[Attr]) -> Option<Vec<u32>> {
    let of = |attr: &Attr| {
        let Attr::Dictionary(entries) = attr else { return None };
        let entry = entries.iter().find(|(key, _)| module.string(*key) == b"cuda_tile.preview$access")?;
        match &entry.1 {
            Attr::Preview(p) => match **p {
                Preview::Access(access) => Some(access),
                _ => None,
            },
            _ => None,
        }
    };
    list.iter().map(of).collect()
}

/// Checks a call against a declaration. Returns the accesses of the parameters.
fn check(module: &Module, function: &Function, constants: &[Attr], call: &Call) -> Result<Vec<u32>, Mismatch> {
    if call.constants.len() != constants.len() {
        return Err(Mismatch::ConstantCount { given: call.constants.len(), declared: constants.len() });
    }
    let mut environment = Environment::default();
    for (index, (given, declared)) in call.constants.iter().zip(constants).enumerate() {
        let Some((name, kind)) = parameter(declared) else { continue };
        let name = module.text(name);
        let wanted = match module.ty(kind) {
            Type::Datatype => "type",
            Type::Shape => "shape",
            Type::Text => "string",
            _ => "integer",
        };
        let wrong =
            |reason: &str| Mismatch::Constant { index, name: name.clone(), kind: wanted, reason: reason.into() };
        let value = given.as_ref().map_err(|reason| wrong(reason))?;
        let fits = match (wanted, value) {
            ("integer", Value::Int(_)) | ("type", Value::Type(_)) | ("string", Value::Text(_)) => true,
            ("shape", Value::Tuple(list)) => list.iter().all(|v| matches!(v, Value::Int(_))),
            _ => false,
        };
        if !fits {
            return Err(wrong(&format!("unknown expression in {wanted} context")));
        }
        environment.values.push((name, value.clone()));
    }
    let Type::Function { inputs, results } = module.ty(function.signature) else {
        return Err(Mismatch::OperandCount { given: call.operands.len(), declared: 0 });
    };
    let same = |given: &[Tile], declared: &[tile_bytecode::TypeId]| {
        given.iter().zip(declared).position(|(tile, t)| match module.ty(*t) {
            Type::Tile { element, shape } => {
                tile.shape != **shape || environment.element(module, *element).as_ref() != Ok(&tile.element)
            }
            _ => true,
        })
    };
    if call.operands.len() != inputs.len() {
        return Err(Mismatch::OperandCount { given: call.operands.len(), declared: inputs.len() });
    }
    if let Some(index) = same(&call.operands, inputs) {
        return Err(Mismatch::Operand(index));
    }
    let list = function.arg_attrs.map(|a| module.attr(a));
    let access = match list {
        Some(Attr::Array(list)) => accesses(module, list).unwrap_or_default(),
        _ => vec![],
    };
    let bound = access.iter().filter(|a| **a != 0).count();
    if call.results.len() != bound {
        return Err(Mismatch::ResultCount { given: call.results.len(), declared: bound });
    }
    match same(&call.results, results) {
        Some(index) => Err(Mismatch::Result(index)),
        None => Ok(access),
    }
}

/// Instantiates an implementation for a call; the error says what it lacks.
fn fit(module: &Module, i: &Implementation, call: &Call, access: &[u32], context: Context) -> Result<Chosen, String> {
    if let Some(list) = &i.architectures {
        supports(module, list, context.target)?;
    }
    let environment = unify(module, i, call, context)?;
    let symbol = symbol(module, i, &environment)?;
    let own = i.arg_attrs.as_deref().and_then(|list| accesses(module, list)).unwrap_or_default();
    if own.len() != access.len() {
        return Err(format!("it has {} fragments, but the function has {} parameters", own.len(), access.len()));
    }
    const NAMES: [&str; 3] = ["in", "out", "inout"];
    if let Some(k) = (0..own.len()).find(|k| own[*k] != access[*k]) {
        let name = |a: u32| NAMES.get(a as usize).copied().unwrap_or("unknown");
        return Err(format!("parameter {k} is '{}', but fragment {k} is '{}'", name(access[k]), name(own[k])));
    }
    let Type::Function { inputs, .. } = module.ty(i.signature) else { return Err("it has no signature".into()) };
    if inputs.len() != call.operands.len() {
        return Err(format!("it has {} fragments, but the call has {} operands", inputs.len(), call.operands.len()));
    }
    let mut fragments = vec![];
    for (k, (t, tile)) in inputs.iter().zip(&call.operands).enumerate() {
        let Type::Fragment(fragment) = module.ty(*t) else { return Err(format!("argument {k} is not a fragment")) };
        let instance = instantiate(module, fragment, &environment).map_err(|e| format!("fragment {k}: {e}"))?;
        covers(&instance, tile).map_err(|e| format!("fragment {k}: {e}"))?;
        fragments.push(instance);
    }
    let synchronization = i.synchronization.unwrap_or(0);
    threads(&fragments, synchronization, context.threads)?;
    let scratch = match &i.scratch {
        Some(request) => {
            let size = environment.integer(module, &request.size).map_err(|e| format!("scratch memory: {e}"))?;
            let alignment =
                environment.integer(module, &request.alignment).map_err(|e| format!("scratch memory: {e}"))?;
            if size < 0 || alignment <= 0 || !(alignment as u64).is_power_of_two() {
                return Err(format!("scratch memory of {size} bytes at multiples of {alignment} is impossible"));
            }
            Some((size, alignment))
        }
        None => None,
    };
    Ok(Chosen { library: 0, symbol, fragments, access: access.to_vec(), scratch, synchronization })
}

/// Whether a list of architectures has the target: `sm_90` and `sm_90a` both name sm_90.
fn supports(module: &Module, list: &[Attr], target: &str) -> Result<(), String> {
    let plain = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_lowercase()).to_owned();
    let names: Vec<String> =
        list.iter().filter_map(|a| if let Attr::String(s) = a { Some(module.text(*s)) } else { None }).collect();
    if names.iter().any(|name| plain(name) == plain(target)) {
        return Ok(());
    }
    Err(format!("it supports the architectures [{}], but not {target}", names.join(", ")))
}

/// Binds the constants of an implementation to the call's.
fn unify(module: &Module, i: &Implementation, call: &Call, context: Context) -> Result<Environment, String> {
    let mut environment = Environment { values: vec![], threads: context.threads };
    let arguments = i.arguments.as_deref().unwrap_or_default();
    if arguments.len() != call.constants.len() {
        return Err(format!(
            "it has {} constant arguments, but the call has {}",
            arguments.len(),
            call.constants.len()
        ));
    }
    let parameters = i.parameters.as_deref().unwrap_or_default();
    let names: Vec<String> = parameters.iter().filter_map(parameter).map(|(name, _)| module.text(name)).collect();
    if names.len() < arguments.len() {
        return Err("it needs a constant parameter, perhaps '?', for each constant argument".into());
    }
    let mut later = vec![];
    for (argument, given) in arguments.iter().zip(&call.constants) {
        let (Attr::Preview(e), Ok(given)) = (argument, given) else {
            return Err("a constant is not an expression".into());
        };
        match &**e {
            Preview::Variable(s) if environment.get(&module.text(*s)).is_none() => {
                let name = module.text(*s);
                if !names.contains(&name) {
                    return Err(format!("'{name}' is not a constant parameter"));
                }
                environment.values.push((name, given.clone()));
            }
            e => later.push((e, given)),
        }
    }
    // Other expressions only compare.
    for (e, given) in later {
        let own = environment.evaluate(module, e)?;
        if own != *given {
            return Err(format!("it implements the constant {own}, but the call has {given}"));
        }
    }
    Ok(environment)
}

/// The name of the function: with the value of each constant parameter, in byte order of their names.
fn symbol(module: &Module, i: &Implementation, environment: &Environment) -> Result<String, String> {
    let mut symbol = module.text(i.symbol);
    let parameters = i.parameters.as_deref().unwrap_or_default();
    let mut names: Vec<String> = parameters.iter().filter_map(parameter).map(|(name, _)| module.text(name)).collect();
    names.retain(|name| name != "?");
    names.sort();
    for name in names {
        let value = environment.get(&name).ok_or_else(|| format!("the constant '{name}' has no value"))?;
        let text = value.mangled().ok_or_else(|| format!("no symbol can have '{name}' = {value} in its name"))?;
        symbol += &format!("__{name}{text}");
    }
    Ok(symbol)
}

fn instantiate(
    module: &Module,
    fragment: &tile_bytecode::Fragment,
    environment: &Environment,
) -> Result<Fragment, String> {
    let shape = fragment.shape.iter().map(|e| environment.integer(module, e)).collect::<Result<Vec<_>, _>>()?;
    Ok(Fragment {
        shape,
        element: environment.element(module, fragment.element)?,
        shared: fragment.space == 1,
        layout: environment.modes(module, &fragment.layout)?,
        map: environment.modes(module, &fragment.map)?,
        alignment: environment.integer(module, &fragment.alignment)?,
    })
}

/// Checks that a fragment's map reaches each element of a tile once.
fn covers(fragment: &Fragment, tile: &Tile) -> Result<(), String> {
    if fragment.element != tile.element {
        return Err(format!("its elements are {}, but the operand's are {}", fragment.element, tile.element));
    }
    let product = |sizes: &[i64]| sizes.iter().try_fold(1i64, |n, d| n.checked_mul(*d));
    let Some(elements) = product(&tile.shape) else { return Err("the tile is too large".into()) };
    let [_, participant, footprint] = &fragment.map.0[..] else {
        return Err(format!("its map has {} modes instead of 3", fragment.map.0.len()));
    };
    let own = product(&fragment.shape);
    if own.is_none() || footprint.size() != own || own < Some(1) {
        return Err("its map has another number of elements than the fragment".into());
    }
    if !own.is_some_and(|count| fragment.layout.covers(count)) || fragment.alignment <= 0 {
        return Err("its memory layout has gaps".into());
    }
    if !fragment.map.covers(elements) {
        let shape: Vec<String> = tile.shape.iter().map(i64::to_string).collect();
        return Err(format!(
            "its map {} does not reach each of the {elements} elements of a tile of {} once",
            fragment.map,
            if shape.is_empty() { "rank 0".into() } else { shape.join("x") }
        ));
    }
    if fragment.shared && participant.leaves().iter().any(|(extent, stride)| *extent > 1 && *stride != 0) {
        return Err("it is in shared memory, but its map depends on the participant".into());
    }
    Ok(())
}

/// Checks the participants against the threads of a CTA.
fn threads(fragments: &[Fragment], synchronization: u32, threads: i64) -> Result<(), String> {
    let sizes = |f: &Fragment| f.map.0.iter().take(2).map(Mode::size).collect::<Option<Vec<i64>>>();
    let Some(first) = fragments.first().and_then(sizes) else { return Err("it has no fragments".into()) };
    if fragments.iter().any(|f| sizes(f).as_ref() != Some(&first)) {
        return Err("its fragments have different invocations or participants".into());
    }
    let (invocations, participants) = (first[0], first[1]);
    if participants > threads {
        return Err(format!("it needs {participants} threads, but a CTA has {threads}"));
    }
    if synchronization == 3 && (participants != threads || invocations != 1) {
        return Err(format!(
            "it synchronizes the CTA, so its {participants} participants must be the {threads} threads, in one invocation"
        ));
    }
    let group = [1, 32, 128, 1][synchronization.min(3) as usize];
    if participants % group != 0 {
        return Err(format!("it synchronizes groups of {group} threads, but has {participants} participants"));
    }
    Ok(())
}
