//! The subset of C's `printf` that `print_tko` needs.
//!
//! An expression is `%`, flags, width, precision, a length (ignored) and a conversion. Where the language leaves the
//! format open, this follows the compiler: a tile prints as nested lists with the same expression for each element,
//! and an i1 prints as 0 or 1.
//!
//! ```text
//! %d of 5                     ->  5
//! %.1f of [[1, 2], [3, 4]]    ->  [[1.0, 2.0], [3.0, 4.0]]
//! ```

use crate::format::decode;
use crate::int;
use crate::program::Signedness;
use crate::scalar::Scalar;
use crate::types::{Element, Number, TileType};
use std::rc::Rc;

/// Returns the text, or the reason for which it cannot be formatted.
pub fn format(format: &str, arguments: &[(TileType, Rc<Vec<Scalar>>)]) -> Result<String, String> {
    let mut out = String::new();
    let mut arguments = arguments.iter();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        out += &rest[..at];
        let (expression, after) = parse(&rest[at + 1..])?;
        rest = after;
        if expression.conversion == '%' {
            out.push('%');
            continue;
        }
        let (ty, elements) = arguments.next().ok_or("more expressions than operands")?;
        let texts = elements.iter().map(|e| expression.print(ty.element, *e)).collect::<Result<Vec<_>, _>>()?;
        out += &nested(&texts, &ty.shape);
    }
    if arguments.next().is_some() {
        return Err("more operands than format expressions".into());
    }
    Ok(out + rest)
}

/// Elements in brackets, one level for each dimension.
fn nested(texts: &[String], shape: &[usize]) -> String {
    let Some((_, inner)) = shape.split_first() else { return texts.concat() };
    let parts: Vec<String> = texts.chunks(inner.iter().product()).map(|t| nested(t, inner)).collect();
    format!("[{}]", parts.join(", "))
}

#[derive(Default)]
struct Expression {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
    conversion: char,
}

/// Parses the expression after a `%`. Returns it and the rest of the text.
fn parse(text: &str) -> Result<(Expression, &str), String> {
    let mut e = Expression::default();
    let mut rest = text;
    loop {
        match rest.chars().next() {
            Some('-') => e.left = true,
            Some('+') => e.plus = true,
            Some(' ') => e.space = true,
            Some('#') => e.alternate = true,
            Some('0') => e.zeros = true,
            _ => break,
        }
        rest = &rest[1..];
    }
    let number = |text: &mut &str| {
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let n = text[..digits].parse::<usize>().unwrap_or(0).min(1000);
        *text = &text[digits..];
        n
    };
    e.width = number(&mut rest);
    if let Some(after) = rest.strip_prefix('.') {
        rest = after;
        e.precision = Some(number(&mut rest));
    }
    rest = rest.trim_start_matches(['h', 'l', 'j', 'z', 't', 'L', 'q']);
    let c = rest.chars().next().ok_or("an expression is not complete")?;
    e.conversion = c;
    Ok((e, &rest[c.len_utf8()..]))
}

impl Expression {
    fn print(&self, element: Element, x: Scalar) -> Result<String, String> {
        let wrong = || format!("'%{}' cannot print elements of type {element}", self.conversion);
        let (sign, digits) = match (self.conversion, element) {
            ('d' | 'i', Element::Number(n)) if n.is_integer() => {
                let sign = if n == Number::I1 { Signedness::Unsigned } else { Signedness::Signed };
                let v = int::value(x.bits, n, sign);
                (self.sign(v < 0), self.at_least(v.unsigned_abs().to_string()))
            }
            ('u', Element::Number(n)) if n.is_integer() => (String::new(), self.at_least(x.bits.to_string())),
            ('o', Element::Number(n)) if n.is_integer() => (String::new(), self.at_least(format!("{:o}", x.bits))),
            ('x', Element::Number(n)) if n.is_integer() => {
                let prefix = if self.alternate && x.bits != 0 { "0x" } else { "" };
                (prefix.into(), self.at_least(format!("{:x}", x.bits)))
            }
            ('X', Element::Number(n)) if n.is_integer() => {
                let prefix = if self.alternate && x.bits != 0 { "0X" } else { "" };
                (prefix.into(), self.at_least(format!("{:X}", x.bits)))
            }
            ('c', Element::Number(n)) if n.is_integer() => (String::new(), char::from(x.bits as u8).to_string()),
            ('p', Element::Pointer(_)) => ("0x".into(), format!("{:x}", x.bits)),
            ('f' | 'F' | 'e' | 'E' | 'g' | 'G', Element::Number(n)) if n.is_float() => {
                let v = decode(x.bits, n).to_f64();
                let text = self.float(v.abs());
                let upper = self.conversion.is_ascii_uppercase();
                let negative = v.is_sign_negative() && !v.is_nan();
                (self.sign(negative), if upper { text.to_uppercase() } else { text })
            }
            _ => return Err(wrong()),
        };
        let missing = self.width.saturating_sub(sign.len() + digits.chars().count());
        let finite = digits.starts_with(|c: char| c.is_ascii_hexdigit()) && !digits.eq_ignore_ascii_case("inf");
        Ok(if self.left {
            format!("{sign}{digits}{}", " ".repeat(missing))
        } else if self.zeros && finite && (self.precision.is_none() || element.number().is_some_and(|n| n.is_float())) {
            format!("{sign}{}{digits}", "0".repeat(missing))
        } else {
            format!("{}{sign}{digits}", " ".repeat(missing))
        })
    }

    fn sign(&self, negative: bool) -> String {
        match (negative, self.plus, self.space) {
            (true, ..) => "-".into(),
            (_, true, _) => "+".into(),
            (_, _, true) => " ".into(),
            _ => String::new(),
        }
    }

    /// The digits of an integer, padded to the precision.
    fn at_least(&self, digits: String) -> String {
        let precision = self.precision.unwrap_or(1);
        if precision == 0 && digits == "0" {
            return String::new();
        }
        format!("{}{digits}", "0".repeat(precision.saturating_sub(digits.len())))
    }

    /// Formats a magnitude.
    fn float(&self, v: f64) -> String {
        if v.is_nan() {
            return "nan".into();
        }
        if v.is_infinite() {
            return "inf".into();
        }
        let precision = self.precision.unwrap_or(6);
        match self.conversion.to_ascii_lowercase() {
            'f' => format!("{v:.precision$}"),
            'e' => scientific(v, precision),
            _ => {
                let precision = precision.max(1);
                // The exponent after rounding selects the form.
                let text = scientific(v, precision - 1);
                let exponent: i32 = text.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
                if exponent < -4 || exponent >= precision as i32 {
                    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, ""));
                    format!("{}e{exponent}", trimmed(mantissa, self.alternate))
                } else {
                    let digits = (precision as i32 - 1 - exponent) as usize;
                    trimmed(&format!("{v:.digits$}"), self.alternate)
                }
            }
        }
    }
}

/// As in C: a sign and at least two digits in the exponent.
fn scientific(v: f64, precision: usize) -> String {
    let text = format!("{v:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

/// Removes trailing zeros, unless `keep` is set.
fn trimmed(text: &str, keep: bool) -> String {
    if keep || !text.contains('.') {
        return text.into();
    }
    text.trim_end_matches('0').trim_end_matches('.').into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(n: Number, bits: u64) -> (TileType, Rc<Vec<Scalar>>) {
        (TileType::scalar(n), Rc::new(vec![Scalar::exact(bits)]))
    }

    /// The expected texts are the C library's output.
    #[test]
    fn expressions() {
        let f = |x: f64| scalar(Number::F64, x.to_bits());
        let i = |x: i32| scalar(Number::I32, u64::from(x as u32));
        type Row = (&'static str, (TileType, Rc<Vec<Scalar>>), &'static str);
        let table: &[Row] = &[
            ("a %d b", i(-7), "a -7 b"),
            ("%5d|", i(42), "   42|"),
            ("%-5d|", i(42), "42   |"),
            ("%05d", i(-42), "-0042"),
            ("%+d", i(42), "+42"),
            ("%.4d", i(42), "0042"),
            ("%u", i(-1), "4294967295"),
            ("%#x", i(255), "0xff"),
            ("%X", i(255), "FF"),
            ("%o", i(8), "10"),
            ("%lld", scalar(Number::I64, u64::MAX), "-1"),
            ("%d", scalar(Number::I1, 1), "1"),
            ("%c", i(65), "A"),
            ("%f", f(0.5), "0.500000"),
            ("%.2f", f(-1.005), "-1.00"),
            ("%8.3f|", f(2.71428), "   2.714|"),
            ("%e", f(12345.678), "1.234568e+04"),
            ("%E", f(1e-10), "1.000000E-10"),
            ("%g", f(0.0001), "0.0001"),
            ("%g", f(0.00001), "1e-05"),
            ("%g", f(1234567.0), "1.23457e+06"),
            ("%g", f(100000.0), "100000"),
            ("%g", f(0.0), "0"),
            ("%G", f(f64::INFINITY), "INF"),
            ("%f", f(f64::NEG_INFINITY), "-inf"),
            ("%06f", f(f64::NAN), "   nan"),
            ("%f", scalar(Number::F16, 0x3c00), "1.000000"),
        ];
        for (text, argument, want) in table {
            assert_eq!(format(text, std::slice::from_ref(argument)).as_deref(), Ok(*want), "{text}");
        }
        assert_eq!(format("100%%", &[]).as_deref(), Ok("100%"));
        assert!(format("%d", &[]).is_err());
        assert!(format("x", &[i(1)]).is_err());
        assert!(format("%d", &[f(1.0)]).is_err());
        let tile = (TileType::of(&[3], Number::I8), Rc::new([1, 2, 255].map(Scalar::exact).to_vec()));
        assert_eq!(format("%d", &[tile]).as_deref(), Ok("[1, 2, -1]"));
        let tile = (TileType::of(&[2, 2], Number::I8), Rc::new([1, 2, 3, 4].map(Scalar::exact).to_vec()));
        assert_eq!(format("%2d", &[tile]).as_deref(), Ok("[[ 1,  2], [ 3,  4]]"));
    }
}
