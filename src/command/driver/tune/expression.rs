//! Expressions over the parameters of a search: `ceil(8192 / TM) * 2`, `TM * TN <= 32768 && MODE == 'plain'`.
//!
//! Numbers are doubles, so `/` is real division and `ceil(8192 / 96)` is 86; with integer division it would be 85. A
//! non-integer where an integer is required is an error, not rounded.
//!
//! | precedence | operators |
//! |---|---|
//! | highest | `-x` `!x` |
//! | | `*` `/` `%` |
//! | | `+` `-` |
//! | | `==` `!=` `<` `<=` `>` `>=` |
//! | | `&&` |
//! | lowest | `||` |
//!
//! Functions: `ceil`, `floor` and `log2` of one number, `min` and `max` of one or more. True is 1 and false is 0.
//! Single quotes enclose a word, which can only be compared with `==` and `!=`.

use std::fmt;

/// The maximum nesting depth of parentheses and signs.
const DEEPEST: u32 = 64;

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Number(f64),
    Word(String),
}

impl Value {
    /// A number if the text is one, otherwise a word.
    pub fn of(text: &str) -> Value {
        let numeric = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.'));
        match text.parse::<f64>() {
            Ok(number) if numeric && number.is_finite() => Value::Number(number),
            _ => Value::Word(text.to_owned()),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => write!(f, "{number}"),
            Value::Word(word) => write!(f, "'{word}'"),
        }
    }
}

/// A parsed expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    Constant(Value),
    Name(String),
    Negated(Box<Expression>),
    Not(Box<Expression>),
    Binary(&'static str, Box<Expression>, Box<Expression>),
    Call(&'static str, Vec<Expression>),
}

/// Binary operators by precedence, lowest first. An operator precedes its prefixes.
const LEVELS: [&[&str]; 5] = [&["||"], &["&&"], &["==", "!=", "<=", ">=", "<", ">"], &["+", "-"], &["*", "/", "%"]];

/// Functions and the number of their arguments. `None` means one or more.
const FUNCTIONS: [(&str, Option<usize>); 5] =
    [("ceil", Some(1)), ("floor", Some(1)), ("log2", Some(1)), ("min", None), ("max", None)];

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// The first error.
    pub fn parse(text: &str) -> Result<Expression, String> {
        let mut reader = Reader { rest: text, depth: 0 };
        let expression = reader.binary(0)?;
        match reader.peek() {
            None => Ok(expression),
            Some(_) => Err(format!("unexpected '{}'", reader.rest.trim())),
        }
    }

    /// Calls `f` with each name in the expression.
    pub fn names<'a>(&'a self, f: &mut dyn FnMut(&'a str)) {
        match self {
            Expression::Constant(_) => {}
            Expression::Name(name) => f(name),
            Expression::Negated(x) | Expression::Not(x) => x.names(f),
            Expression::Binary(_, x, y) => [x, y].into_iter().for_each(|e| e.names(f)),
            Expression::Call(_, list) => list.iter().for_each(|e| e.names(f)),
        }
    }

    /// Evaluates the expression. `of` returns the values of names.
    ///
    /// # Errors
    /// A name without a value, a word instead of a number, or a result that is not finite.
    pub fn value(&self, of: &dyn Fn(&str) -> Option<Value>) -> Result<Value, String> {
        let number = |e: &Expression| match e.value(of)? {
            Value::Number(number) => Ok(number),
            Value::Word(word) => Err(format!("'{word}' is not a number")),
        };
        let result = match self {
            Expression::Constant(value) => return Ok(value.clone()),
            Expression::Name(name) => return of(name).ok_or_else(|| format!("unknown parameter {name}")),
            Expression::Negated(x) => -number(x)?,
            Expression::Not(x) => f64::from(number(x)? == 0.0),
            Expression::Binary("==", x, y) => f64::from(x.value(of)? == y.value(of)?),
            Expression::Binary("!=", x, y) => f64::from(x.value(of)? != y.value(of)?),
            // The right operand is not evaluated if the left one decides the result.
            Expression::Binary("&&", x, y) => f64::from(number(x)? != 0.0 && number(y)? != 0.0),
            Expression::Binary("||", x, y) => f64::from(number(x)? != 0.0 || number(y)? != 0.0),
            Expression::Binary(operator, x, y) => {
                let (x, y) = (number(x)?, number(y)?);
                match *operator {
                    "<=" => f64::from(x <= y),
                    ">=" => f64::from(x >= y),
                    "<" => f64::from(x < y),
                    ">" => f64::from(x > y),
                    "+" => x + y,
                    "-" => x - y,
                    "*" => x * y,
                    "/" => x / y,
                    _ => x % y,
                }
            }
            Expression::Call(function, list) => {
                let list = list.iter().map(number).collect::<Result<Vec<f64>, _>>()?;
                let first = list.first().copied().unwrap_or_default();
                match *function {
                    "ceil" => first.ceil(),
                    "floor" => first.floor(),
                    "log2" => first.log2(),
                    "min" => list.into_iter().fold(first, f64::min),
                    _ => list.into_iter().fold(first, f64::max),
                }
            }
        };
        if result.is_finite() { Ok(Value::Number(result)) } else { Err(format!("the result is {result}")) }
    }
}

struct Reader<'a> {
    rest: &'a str,
    depth: u32,
}

impl<'a> Reader<'a> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    /// Consumes a text if it comes next.
    fn take(&mut self, text: &str) -> bool {
        self.peek();
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn word(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// Parses operators of this level and of higher precedence.
    fn binary(&mut self, level: usize) -> Result<Expression, String> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = operators.iter().find(|o| self.take(o)) {
            left = Expression::Binary(operator, Box::new(left), Box::new(self.binary(level + 1)?));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expression, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("it is nested too deeply".to_owned());
        }
        let expression = if self.take("-") {
            Expression::Negated(Box::new(self.unary()?))
        } else if self.take("!") {
            Expression::Not(Box::new(self.unary()?))
        } else {
            self.atom()?
        };
        self.depth -= 1;
        Ok(expression)
    }

    fn atom(&mut self) -> Result<Expression, String> {
        match self.peek() {
            Some('(') => {
                self.take("(");
                let inner = self.binary(0)?;
                if self.take(")") { Ok(inner) } else { Err("a ')' is missing".to_owned()) }
            }
            Some('\'') => {
                self.take("'");
                let (word, rest) = self.rest.split_once('\'').ok_or("a quote is not closed")?;
                self.rest = rest;
                Ok(Expression::Constant(Value::Word(word.to_owned())))
            }
            Some(c) if c.is_ascii_digit() || c == '.' => {
                let word = self.word(|c| c.is_ascii_alphanumeric() || c == '.');
                let number = word.parse::<f64>().map_err(|_| format!("'{word}' is not a number"))?;
                Ok(Expression::Constant(Value::Number(number)))
            }
            Some(c) if is_name_start(c) => {
                let name = self.word(is_name_part);
                if !self.take("(") {
                    return Ok(Expression::Name(name.to_owned()));
                }
                self.call(name)
            }
            Some(c) => Err(format!("unexpected '{c}'")),
            None => Err("unexpected end of the expression".to_owned()),
        }
    }

    /// Parses the rest of a call after the opening parenthesis.
    fn call(&mut self, name: &str) -> Result<Expression, String> {
        let Some((function, count)) = FUNCTIONS.iter().find(|(function, _)| *function == name) else {
            let known: Vec<&str> = FUNCTIONS.iter().map(|(name, _)| *name).collect();
            return Err(format!("unknown function '{name}'; the functions are {}", known.join(", ")));
        };
        let mut list = vec![self.binary(0)?];
        while self.take(",") {
            list.push(self.binary(0)?);
        }
        if !self.take(")") {
            return Err("a ')' is missing".to_owned());
        }
        match count {
            Some(count) if *count != list.len() => Err(format!("'{name}' takes {count} number")),
            _ => Ok(Expression::Call(function, list)),
        }
    }
}

/// Whether a name may start with this character.
pub fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

/// Whether a name may contain this character after the first.
pub fn is_name_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<Value, String> {
        let of = |name: &str| match name {
            "TM" => Some(Value::of("96")),
            "MODE" => Some(Value::of("plain")),
            _ => None,
        };
        Expression::parse(text)?.value(&of)
    }

    #[test]
    fn values() {
        for (text, expected) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("8 - 4 - 2", 2.0),
            ("64 / 4 / 2", 8.0),
            ("ceil(8192 / TM) * 2", 172.0),
            ("floor(8192/TM)", 85.0),
            ("-TM + 100", 4.0),
            ("--1", 1.0),
            ("7 % 4", 3.0),
            ("min(TM, 64, 65)", 64.0),
            ("max(TM)", 96.0),
            ("log2(256)", 8.0),
            ("0.5*4", 2.0),
            ("TM <= 96 && TM>=96", 1.0),
            ("TM < 96 || TM > 96", 0.0),
            ("!(TM == 96)", 0.0),
            ("!TM == 0", 1.0),
            ("MODE == 'plain'", 1.0),
            ("MODE != 'plain'", 0.0),
            ("1 + 1 == 2", 1.0),
            // The left operand decides the result.
            ("TM == 0 && 1 / 0 > 2", 0.0),
        ] {
            assert_eq!(value(text), Ok(Value::Number(expected)), "{text}");
        }
        assert_eq!(value("MODE"), Ok(Value::Word("plain".into())));
    }

    #[test]
    fn wrong_ones_say_what_is_wrong() {
        let deep = format!("{}1", "(".repeat(1000));
        for (text, expected) in [
            ("", "unexpected end of the expression"),
            ("1 +", "unexpected end of the expression"),
            ("1 2", "unexpected '2'"),
            ("(1", "a ')' is missing"),
            ("ceil(1", "a ')' is missing"),
            ("'x", "a quote is not closed"),
            ("1x", "'1x' is not a number"),
            ("$", "unexpected '$'"),
            ("round(1)", "unknown function 'round'; the functions are ceil, floor, log2, min, max"),
            ("ceil(1, 2)", "'ceil' takes 1 number"),
            ("TN", "unknown parameter TN"),
            ("MODE + 1", "'plain' is not a number"),
            ("1 / 0", "the result is inf"),
            (deep.as_str(), "it is nested too deeply"),
        ] {
            assert_eq!(value(text), Err(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_a_number() {
        assert_eq!(Value::of("64"), Value::Number(64.0));
        assert_eq!(Value::of("-1.5"), Value::Number(-1.5));
        for word in ["true", "inf", "nan", "1x", "-", ""] {
            assert_eq!(Value::of(word), Value::Word(word.to_owned()));
        }
    }
}
