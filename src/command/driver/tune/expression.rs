//! Expressions over the parameters of a search: `ceil(8192 / TM) * 2`, `TM * TN <= 32768 && MODE == 'plain'`.
//!
//! Numbers are doubles, so that `/` is the division of arithmetic and `ceil(8192 / 96)` is 86: in the integers of most
//! languages it would be 85. Where a whole number is wanted, one that is none is an error, not rounded.
//!
//! | binds | operators |
//! |---|---|
//! | strongest | `-x` `!x` |
//! | | `*` `/` `%` |
//! | | `+` `-` |
//! | | `==` `!=` `<` `<=` `>` `>=` |
//! | | `&&` |
//! | weakest | `||` |
//!
//! Functions: `ceil`, `floor`, `log2` of one number, `min` and `max` of one or more. What is true is 1, and zero is
//! false. A word in single quotes is a word, which can be compared with `==` and `!=` only.

use std::fmt;

/// How deep parentheses and signs may be nested: more is no formula of a person.
const DEEPEST: u32 = 64;

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Number(f64),
    Word(String),
}

impl Value {
    /// A number where the text is one, a word otherwise.
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

/// An expression that was read.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    Constant(Value),
    Name(String),
    Negated(Box<Expression>),
    Not(Box<Expression>),
    Binary(&'static str, Box<Expression>, Box<Expression>),
    Call(&'static str, Vec<Expression>),
}

/// Operators by what binds them, weakest first. Longer ones come before those that they begin with.
const LEVELS: [&[&str]; 5] = [&["||"], &["&&"], &["==", "!=", "<=", ">=", "<", ">"], &["+", "-"], &["*", "/", "%"]];

/// Functions with the number of their arguments; none where it is one or more.
const FUNCTIONS: [(&str, Option<usize>); 5] =
    [("ceil", Some(1)), ("floor", Some(1)), ("log2", Some(1)), ("min", None), ("max", None)];

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// What is wrong, as a half sentence.
    pub fn parse(text: &str) -> Result<Expression, String> {
        let mut reader = Reader { rest: text, depth: 0 };
        let expression = reader.binary(0)?;
        match reader.peek() {
            None => Ok(expression),
            Some(_) => Err(format!("'{}' is one too many", reader.rest.trim())),
        }
    }

    /// Gives `f` each name in it.
    pub fn names<'a>(&'a self, f: &mut dyn FnMut(&'a str)) {
        match self {
            Expression::Constant(_) => {}
            Expression::Name(name) => f(name),
            Expression::Negated(x) | Expression::Not(x) => x.names(f),
            Expression::Binary(_, x, y) => [x, y].into_iter().for_each(|e| e.names(f)),
            Expression::Call(_, list) => list.iter().for_each(|e| e.names(f)),
        }
    }

    /// Its value, with those of the names in it.
    ///
    /// # Errors
    /// A name without a value, a word where a number is wanted, a result that is not finite.
    pub fn value(&self, of: &dyn Fn(&str) -> Option<Value>) -> Result<Value, String> {
        let number = |e: &Expression| match e.value(of)? {
            Value::Number(number) => Ok(number),
            Value::Word(word) => Err(format!("'{word}' is no number")),
        };
        let result = match self {
            Expression::Constant(value) => return Ok(value.clone()),
            Expression::Name(name) => return of(name).ok_or_else(|| format!("there is no parameter {name}")),
            Expression::Negated(x) => -number(x)?,
            Expression::Not(x) => f64::from(number(x)? == 0.0),
            Expression::Binary("==", x, y) => f64::from(x.value(of)? == y.value(of)?),
            Expression::Binary("!=", x, y) => f64::from(x.value(of)? != y.value(of)?),
            // What stands behind may have no value, where the question is decided already.
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

    /// Takes a text if it comes next.
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

    /// Operators of this level and of those that bind more strongly.
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
                let number = word.parse::<f64>().map_err(|_| format!("'{word}' is no number"))?;
                Ok(Expression::Constant(Value::Number(number)))
            }
            Some(c) if is_name_start(c) => {
                let name = self.word(is_name_part);
                if !self.take("(") {
                    return Ok(Expression::Name(name.to_owned()));
                }
                self.call(name)
            }
            Some(c) => Err(format!("'{c}' cannot stand there")),
            None => Err("it ends too early".to_owned()),
        }
    }

    /// What is behind the parenthesis of a call.
    fn call(&mut self, name: &str) -> Result<Expression, String> {
        let Some((function, count)) = FUNCTIONS.iter().find(|(function, _)| *function == name) else {
            let known: Vec<&str> = FUNCTIONS.iter().map(|(name, _)| *name).collect();
            return Err(format!("there is no function '{name}'; there are {}", known.join(", ")));
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

/// Whether a name may begin with this.
pub fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

/// Whether a name may go on with this.
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
            // Decided by the left side.
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
            ("", "it ends too early"),
            ("1 +", "it ends too early"),
            ("1 2", "'2' is one too many"),
            ("(1", "a ')' is missing"),
            ("ceil(1", "a ')' is missing"),
            ("'x", "a quote is not closed"),
            ("1x", "'1x' is no number"),
            ("$", "'$' cannot stand there"),
            ("round(1)", "there is no function 'round'; there are ceil, floor, log2, min, max"),
            ("ceil(1, 2)", "'ceil' takes 1 number"),
            ("TN", "there is no parameter TN"),
            ("MODE + 1", "'plain' is no number"),
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
