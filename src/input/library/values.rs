//! Values of expressions, and layouts whose numbers are known.

use tile_bytecode::{Binary, LayoutMap, Module, Preview, Type, TypeId};

/// A constant of a call, or the value of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Int(i64),
    Text(String),
    /// An element type: `f32`, `ptr<f32>`.
    Type(String),
    Tuple(Vec<Value>),
}

impl Value {
    /// The value as part of the name of a function; `None` if the name cannot express it.
    pub fn mangled(&self) -> Option<String> {
        let is_name = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$');
        match self {
            Value::Int(v) => (*v >= 0).then(|| v.to_string()),
            Value::Text(text) | Value::Type(text) => is_name(text).then(|| text.clone()),
            Value::Tuple(elements) => elements.iter().map(Value::mangled).collect(),
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Int(v) => write!(f, "{v}"),
            Value::Text(text) => write!(f, "{text:?}"),
            Value::Type(name) => f.write_str(name),
            Value::Tuple(elements) => {
                let elements: Vec<String> = elements.iter().map(Value::to_string).collect();
                write!(f, "({})", elements.join(", "))
            }
        }
    }
}

/// Names with values, in order of binding.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    pub values: Vec<(String, Value)>,
    /// The number of threads of a CTA.
    pub threads: i64,
}

impl Environment {
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|(n, _)| n == name).map(|(_, v)| v)
    }

    /// The value of an expression; the error names what it lacks.
    pub fn evaluate(&self, module: &Module, e: &Preview) -> Result<Value, String> {
        Ok(match e {
            Preview::Int(v) => Value::Int(*v),
            Preview::Variable(s) => {
                let name = module.text(*s);
                self.get(&name).cloned().ok_or_else(|| format!("the constant '{name}' has no value"))?
            }
            Preview::Binary(kind, operands) => {
                let [a, b] = [self.integer(module, &operands[0])?, self.integer(module, &operands[1])?];
                Value::Int(arithmetic(*kind, a, b).ok_or("an expression has no value in 64 bits")?)
            }
            Preview::Negation(operand) => {
                let v = self.integer(module, operand)?;
                Value::Int(v.checked_neg().ok_or("an expression has no value in 64 bits")?)
            }
            Preview::Tuple(elements) => {
                Value::Tuple(elements.iter().map(|e| self.evaluate(module, e)).collect::<Result<_, _>>()?)
            }
            Preview::Type(t) => Value::Type(self.element(module, *t)?),
            Preview::Text(s) => Value::Text(module.text(*s)),
            Preview::Builtin { name, .. } => match module.text(*name).as_str() {
                "context.num_threads" => Value::Int(self.threads),
                "context.num_warps" => Value::Int(self.threads / 32),
                "context.warp_size" => Value::Int(32),
                other => return Err(format!("the builtin '{other}' is unknown")),
            },
            _ => return Err("unknown expression".into()),
        })
    }

    pub fn integer(&self, module: &Module, e: &Preview) -> Result<i64, String> {
        match self.evaluate(module, e)? {
            Value::Int(v) => Ok(v),
            other => Err(format!("{other} is not an integer")),
        }
    }

    /// The name of an element type: a number, a pointer, or a constant that is one.
    pub fn element(&self, module: &Module, t: TypeId) -> Result<String, String> {
        match module.ty(t) {
            Type::Scalar(s) => Ok(s.name().to_owned()),
            Type::Pointer { pointee, attr: None } => Ok(format!("ptr<{}>", self.element(module, *pointee)?)),
            Type::Symbolic(variable) => match self.evaluate(module, variable)? {
                Value::Type(name) => Ok(name),
                other => Err(format!("{other} is not an element type")),
            },
            _ => Err("a type is neither a number nor a pointer".into()),
        }
    }

    /// The layout with numbers in place of expressions.
    pub fn modes(&self, module: &Module, layout: &LayoutMap) -> Result<Modes, String> {
        if layout.shapes.len() != layout.strides.len() {
            return Err("a layout has more modes than strides".into());
        }
        let modes = layout.shapes.iter().zip(&layout.strides).map(|(e, s)| self.mode(module, e, s));
        Ok(Modes(modes.collect::<Result<_, _>>()?))
    }

    fn mode(&self, module: &Module, extent: &Preview, stride: &Preview) -> Result<Mode, String> {
        match (self.evaluate(module, extent)?, self.evaluate(module, stride)?) {
            (Value::Int(extent), Value::Int(stride)) if extent > 0 && stride >= 0 => Ok(Mode::Leaf { extent, stride }),
            (Value::Int(_), Value::Int(_)) => Err("an extent is not positive or a stride negative".into()),
            (Value::Tuple(e), Value::Tuple(s)) if e.len() == s.len() => {
                let leaf = |(e, s): (&Value, &Value)| nested(e, s);
                e.iter().zip(&s).map(leaf).collect::<Option<_>>().map(Mode::Tuple).ok_or_else(|| STRUCTURE.into())
            }
            _ => Err(STRUCTURE.into()),
        }
    }
}

const STRUCTURE: &str = "the strides of a layout do not fit its extents";

fn nested(extent: &Value, stride: &Value) -> Option<Mode> {
    match (extent, stride) {
        (Value::Int(extent), Value::Int(stride)) if *extent > 0 && *stride >= 0 => {
            Some(Mode::Leaf { extent: *extent, stride: *stride })
        }
        (Value::Tuple(e), Value::Tuple(s)) if e.len() == s.len() => {
            e.iter().zip(s).map(|(e, s)| nested(e, s)).collect::<Option<_>>().map(Mode::Tuple)
        }
        _ => None,
    }
}

fn arithmetic(kind: Binary, a: i64, b: i64) -> Option<i64> {
    match kind {
        Binary::Mul => a.checked_mul(b),
        Binary::Add => a.checked_add(b),
        Binary::Sub => a.checked_sub(b),
        // Rounded down; the remainder of Euclid's division is not negative.
        Binary::Div | Binary::FloorDiv if b > 0 => a.checked_div_euclid(b),
        Binary::Div | Binary::FloorDiv => {
            a.checked_neg()?.checked_div_euclid(b.checked_neg()?.max(1)).filter(|_| b < 0)
        }
        Binary::CeilDiv if b > 0 => a.checked_neg()?.checked_div_euclid(b)?.checked_neg(),
        Binary::CeilDiv => None,
    }
}

/// The modes of a layout whose numbers are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modes(pub Vec<Mode>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    Leaf { extent: i64, stride: i64 },
    Tuple(Vec<Mode>),
}

impl Mode {
    /// Extents and strides of the innermost modes; the first counts fastest.
    pub fn leaves(&self) -> Vec<(i64, i64)> {
        match self {
            Mode::Leaf { extent, stride } => vec![(*extent, *stride)],
            Mode::Tuple(modes) => modes.iter().flat_map(Mode::leaves).collect(),
        }
    }

    /// The number of coordinates; `None` if it does not fit in 64 bits.
    pub fn size(&self) -> Option<i64> {
        self.leaves().iter().try_fold(1i64, |n, (extent, _)| n.checked_mul(*extent))
    }
}

impl Modes {
    pub fn leaves(&self) -> Vec<(i64, i64)> {
        self.0.iter().flat_map(Mode::leaves).collect()
    }

    /// Whether the layout reaches 0, 1, ... `count` - 1, each once, apart from modes of stride zero. Sorted by stride,
    /// each mode of such a layout begins where the previous ones end.
    pub fn covers(&self, count: i64) -> bool {
        let mut leaves: Vec<_> =
            self.leaves().into_iter().filter(|(extent, stride)| *extent > 1 && *stride > 0).collect();
        leaves.sort_by_key(|(_, stride)| *stride);
        let mut next = 1i64;
        for (extent, stride) in leaves {
            match next.checked_mul(extent) {
                Some(end) if stride == next => next = end,
                _ => return false,
            }
        }
        next == count
    }
}

impl std::fmt::Display for Modes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        fn part(mode: &Mode, pick: &dyn Fn(i64, i64) -> i64) -> String {
            match mode {
                Mode::Leaf { extent, stride } => pick(*extent, *stride).to_string(),
                Mode::Tuple(modes) => {
                    let parts: Vec<String> = modes.iter().map(|m| part(m, pick)).collect();
                    format!("({}{})", parts.join(", "), if parts.len() == 1 { "," } else { "" })
                }
            }
        }
        let list = |pick: &dyn Fn(i64, i64) -> i64| self.0.iter().map(|m| part(m, pick)).collect::<Vec<_>>().join(", ");
        write!(f, "<({}):({})>", list(&|extent, _| extent), list(&|_, stride| stride))
    }
}
