//! Checks the arguments of a launch against the types of the entry's parameters.
//!
//! PTX and the simulator only know sizes: an array of f64 for a pointer to f32 would run to wrong numbers. The types
//! are in the program. NumPy lacks some of them, so unsigned integers of the same size stand for these.

use crate::execute::Error;
use crate::launch::{Argument, ArrayArgument, Launch};
use tile_interp::program::{Entry, Program};
use tile_interp::types::{Element, Number};

/// Checks the arguments against the entry of a program, if their number fits.
///
/// # Errors
/// The first argument with another type than its parameter, both named.
pub fn check(program: &Program, launch: &Launch) -> Result<(), Error> {
    let entry = match &launch.entry {
        Some(name) => program.entries.iter().find(|e| e.name == *name),
        None if program.entries.len() == 1 => program.entries.first(),
        None => None,
    };
    let Some(entry) = entry else { return Ok(()) };
    let given: Vec<Parameter> =
        launch.args.iter().enumerate().flat_map(|(i, argument)| parameters(i, argument)).collect();
    let taken = types(entry);
    // A wrong number has an error of its own.
    if given.len() != taken.len() {
        return Ok(());
    }
    let wrong = given.iter().zip(&taken).find(|(given, taken)| taken.is_some_and(|taken| !given.fits(taken)));
    match wrong {
        Some((given, Some(taken))) => Err(Error::ArgumentType {
            argument: format!("{}{}", given.what, given.argument),
            given: given.kind.to_string(),
            taken: taken.to_string(),
            advice: given.advice(*taken),
        }),
        _ => Ok(()),
    }
}

/// The types of an entry's parameters; `None` for one that is not a scalar tile.
fn types(entry: &Entry) -> Vec<Option<Element>> {
    let scalar = |v| entry.ty(v).tile().filter(|t| t.shape.is_empty()).map(|t| t.element);
    entry.body.arguments.iter().map(|v| scalar(*v)).collect()
}

/// A parameter that an argument passes.
struct Parameter {
    /// The argument in a message.
    argument: String,
    /// The part of the argument, such as its extents.
    what: String,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Number(crate::element::Element),
    Pointer(crate::element::Element),
    /// A structure that the check does not look into.
    Any,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Kind::Number(e) | Kind::Pointer(e) => f.write_str(e.name()),
            Kind::Any => Ok(()),
        }
    }
}

impl Parameter {
    fn fits(&self, taken: Element) -> bool {
        match (self.kind, taken) {
            (Kind::Any, _) => true,
            (Kind::Number(given), Element::Number(taken)) | (Kind::Pointer(given), Element::Pointer(taken)) => {
                holds(given, taken)
            }
            // An address as a number.
            (Kind::Number(given), Element::Pointer(_)) => given.is_integer() && given.size() == 8,
            (Kind::Pointer(_), Element::Number(_)) => false,
        }
    }

    /// How to pass the type that the program takes.
    fn advice(&self, taken: Element) -> String {
        let number = match taken {
            Element::Number(n) | Element::Pointer(n) => n,
        };
        let named = crate::element::Element::ALL.iter().find(|(e, _)| e.number() == number).map(|(_, name)| *name);
        match (self.kind, taken, named) {
            (Kind::Number(_), Element::Number(_), Some(name)) if self.what.is_empty() => {
                format!("; write {name}:VALUE")
            }
            (Kind::Number(_), Element::Number(Number::I64), _) => "; write FILE.npy:i64".to_owned(),
            (Kind::Pointer(_), Element::Pointer(_), Some(name)) => format!("; convert the array to {name}"),
            _ => String::new(),
        }
    }
}

/// Whether memory of one type may be read as the other.
fn holds(given: crate::element::Element, taken: Number) -> bool {
    use crate::element::Element::{F32, U8, U16};
    let bits = 8 * given.size() as u32;
    match taken {
        _ if given.number() == taken => true,
        Number::I1 => given.is_integer() && bits == 8,
        Number::I4 | Number::E2m1 => matches!(given, U8) || given.is_integer() && bits == 8,
        Number::Tf32 => given == F32,
        // NumPy has no such types; files hold their bits.
        Number::Bf16 => given == U16,
        Number::E4m3 | Number::E5m2 | Number::E5m3 | Number::E8m0 => given == U8,
        _ => false,
    }
}

/// The parameters that an argument passes, as [`crate::execute`] passes them.
fn parameters(number: usize, argument: &Argument) -> Vec<Parameter> {
    let named = |name: &str| format!("argument {number} ({name})");
    let pointer =
        |a: &ArrayArgument| Parameter { argument: named(&a.name), what: String::new(), kind: Kind::Pointer(a.element) };
    let array = |a: &ArrayArgument| {
        use crate::element::Element::{I32, I64};
        let index = if a.wide_index { I64 } else { I32 };
        let size = |what: String| Parameter { argument: named(&a.name), what, kind: Kind::Number(index) };
        let rank = a.array.shape.len();
        let extents = (0..rank).map(|d| size(format!("extent {d} of ")));
        let strides = (0..rank).map(|d| size(format!("stride {d} of ")));
        std::iter::once(pointer(a)).chain(extents).chain(strides).collect()
    };
    let any = |name: &str| Parameter { argument: named(name), what: String::new(), kind: Kind::Any };
    match argument {
        Argument::Scalar { element, .. } => {
            vec![Parameter { argument: named("a scalar"), what: String::new(), kind: Kind::Number(*element) }]
        }
        Argument::Array(a) => array(a),
        Argument::Multicast(members) => members.first().map(array).unwrap_or_default(),
        Argument::Buffer(a) => vec![pointer(a)],
        Argument::List(_) => vec![any("a list"), any("a list")],
        Argument::Bytes(_) => vec![any("bytes")],
        Argument::TensorMap { of, .. } => vec![any(&of.name)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cl;
    use tile_interp::program::Block;
    use tile_interp::types::{TileType, Type};

    /// The message about the arguments, as words of the command line, for an entry with these parameters.
    fn told(parameters: &[Element], arguments: &[&str]) -> Option<String> {
        let mut entry = Entry { name: "k".into(), ..Entry::default() };
        let types = parameters.iter().map(|e| Type::Tile(TileType::new(&[], *e)));
        let values = types.map(|t| entry.value(t)).collect();
        entry.body = Block { arguments: values, ..Block::default() };
        let program = Program { name: "m".into(), globals: vec![], entries: vec![entry] };
        let args = arguments.iter().map(|a| cl::argument(a).unwrap()).collect();
        check(&program, &Launch { args, ..Launch::default() }).err().map(|e| e.to_string())
    }

    const F32: Element = Element::Pointer(Number::F32);
    const I32: Element = Element::Number(Number::I32);

    #[test]
    fn arrays_have_the_type_of_the_program() {
        assert_eq!(told(&[F32, I32, I32], &["zeros:f32:8"]), None);
        let message = "argument 0 (zeros.npy) is f64, but the parameter is ptr<f32>; convert the array to f32";
        assert_eq!(told(&[F32, I32, I32], &["zeros:f64:8"]).as_deref(), Some(message));
        assert_eq!(told(&[F32], &["zeros:f64:8:ptr"]).as_deref(), Some(message));
        let integers = told(&[F32, I32, I32], &["zeros:i32:8"]);
        assert!(integers.is_some_and(|m| m.contains("is i32, but the parameter is ptr<f32>")));
        // Integers are signless, and bits stand for types that NumPy lacks.
        assert_eq!(told(&[Element::Pointer(Number::I32)], &["zeros:u32:8:ptr"]), None);
        assert_eq!(told(&[Element::Pointer(Number::Bf16)], &["zeros:u16:8:ptr"]), None);
        assert!(told(&[Element::Pointer(Number::Bf16)], &["zeros:f16:8:ptr"]).is_some());
        assert_eq!(told(&[Element::Pointer(Number::I1)], &["zeros:u8:8:ptr"]), None);
    }

    #[test]
    fn scalars_and_extents_have_the_type_of_the_program() {
        let i64 = Element::Number(Number::I64);
        let message = "argument 1 (a scalar) is i32, but the parameter is i64; write i64:VALUE";
        assert_eq!(told(&[I32, i64], &["i32:1", "i32:2"]).as_deref(), Some(message));
        let message = "extent 0 of argument 0 (zeros.npy) is i32, but the parameter is i64; write FILE.npy:i64";
        assert_eq!(told(&[F32, i64, i64], &["zeros:f32:8"]).as_deref(), Some(message));
        assert_eq!(told(&[F32, i64, i64], &["zeros:f32:8:i64"]), None);
        // An array where the program takes a number.
        let swapped = told(&[I32, F32], &["zeros:f32:8:ptr", "i32:1"]);
        assert!(swapped.is_some_and(|m| m.starts_with("argument 0 (zeros.npy) is f32, but the parameter is i32")));
        // Another number of parameters is another error.
        assert_eq!(told(&[I32, I32], &["f32:1"]), None);
    }
}
