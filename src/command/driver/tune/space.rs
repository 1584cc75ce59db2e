//! The search space: parameters with their values, conditions, and templates that contain `${...}`.

use std::collections::BTreeSet;

use super::expression::{Expression, Value, is_name_part, is_name_start};

/// The maximum number of points of a search. A larger number is taken for a mistake.
pub const MOST_POINTS: usize = 100_000;

/// A parameter with all of its values, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub values: Vec<String>,
}

impl Parameter {
    /// Parses `NAME=VALUE,...`. A value may be a range of integers, `FROM:TO:STEP` or `FROM:TO:*FACTOR`.
    ///
    /// # Errors
    /// The first error in the text.
    pub fn parse(text: &str) -> Result<Parameter, String> {
        let (name, list) = text.split_once('=').ok_or_else(|| format!("'{text}' is not NAME=VALUE,..."))?;
        if !name.starts_with(is_name_start) || !name.chars().all(is_name_part) {
            return Err(format!("'{name}' is not a name: use letters, digits and '_'"));
        }
        let mut values: Vec<String> = vec![];
        for item in list.split(',').map(str::trim) {
            match item.split(':').collect::<Vec<_>>()[..] {
                [""] => return Err(format!("{name} has an empty value")),
                [word] => values.push(word.to_owned()),
                [from, to, step] => values.extend(range(from, to, step).ok_or_else(|| {
                    format!("{name}: '{item}' is not a range FROM:TO:STEP or FROM:TO:*FACTOR of increasing integers")
                })?),
                _ => return Err(format!("{name}: '{item}' is neither a value nor a range FROM:TO:STEP")),
            }
            if values.len() > MOST_POINTS {
                return Err(format!("{name} has more than {MOST_POINTS} values"));
            }
        }
        match values.iter().enumerate().find(|(i, v)| values[..*i].contains(v)) {
            Some((_, twice)) => Err(format!("{name} has the value {twice} twice")),
            None => Ok(Parameter { name: name.to_owned(), values }),
        }
    }
}

/// The integers of a range, which includes both ends.
fn range(from: &str, to: &str, step: &str) -> Option<Vec<String>> {
    let (from, to): (i64, i64) = (from.parse().ok()?, to.parse().ok()?);
    let (add, times) = match step.strip_prefix('*') {
        Some(factor) => (0, factor.parse::<i64>().ok().filter(|f| *f > 1 && from > 0)?),
        None => (step.parse::<i64>().ok().filter(|s| *s > 0)?, 1),
    };
    let next = |n: &i64| n.checked_mul(times)?.checked_add(add);
    let numbers = std::iter::successors(Some(from), next).take_while(|n| *n <= to);
    let list: Vec<String> = numbers.take(MOST_POINTS + 1).map(|n| n.to_string()).collect();
    (!list.is_empty()).then_some(list)
}

/// One variant: a value for each parameter, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point(pub Vec<(String, String)>);

impl Point {
    /// The value of a parameter, as written.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    fn value(&self, name: &str) -> Option<Value> {
        self.text(name).map(Value::of)
    }

    /// `TM=64 TN=128`.
    pub fn shown(&self) -> String {
        self.0.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    }
}

/// All combinations that satisfy the conditions. The last parameter changes fastest.
///
/// # Errors
/// A condition without a value, or too many combinations.
pub fn points(parameters: &[Parameter], conditions: &[Expression]) -> Result<Vec<Point>, String> {
    let all = parameters.iter().try_fold(1usize, |n, p| n.checked_mul(p.values.len()));
    let all = all.filter(|n| *n <= MOST_POINTS).ok_or(format!("there are more than {MOST_POINTS} combinations"))?;
    let mut out = vec![];
    for mut n in 0..all {
        let mut point: Vec<(String, String)> = vec![];
        for Parameter { name, values } in parameters.iter().rev() {
            point.push((name.clone(), values[n % values.len()].clone()));
            n /= values.len();
        }
        point.reverse();
        let point = Point(point);
        let mut wanted = true;
        for condition in conditions {
            match condition.value(&|name| point.value(name)) {
                Ok(Value::Number(number)) => wanted &= number != 0.0,
                Ok(Value::Word(word)) => return Err(format!("a condition evaluates to the word '{word}'")),
                Err(why) => return Err(format!("cannot evaluate a condition for {}: {why}", point.shown())),
            }
        }
        if wanted {
            out.push(point);
        }
    }
    Ok(out)
}

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Text(String),
    Hole(Expression),
}

/// A text with placeholders: `${NAME}` is the value of a parameter as written, `${EXPRESSION}` an integer.
#[derive(Debug, Clone, PartialEq)]
pub struct Template(Vec<Piece>);

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// The first invalid expression, with its line.
    pub fn parse(text: &str) -> Result<Template, String> {
        let mut pieces = vec![];
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("${") {
            let line = text[..text.len() - behind.len()].lines().count().max(1);
            let at = |why: String| format!("line {line}: {why}");
            let (inner, after) = behind.split_once('}').ok_or_else(|| at("'${' without '}'".to_owned()))?;
            let hole = Expression::parse(inner).map_err(|why| at(format!("'${{{inner}}}': {why}")))?;
            pieces.push(Piece::Text(before.to_owned()));
            pieces.push(Piece::Hole(hole));
            rest = after;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        Ok(Template(pieces))
    }

    /// The parameters in its placeholders.
    pub fn names(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        for piece in &self.0 {
            if let Piece::Hole(hole) = piece {
                hole.names(&mut |name| _ = names.insert(name));
            }
        }
        names
    }

    /// Fills in the values of a point.
    ///
    /// # Errors
    /// A placeholder that cannot be evaluated or is not an integer.
    pub fn fill(&self, point: &Point) -> Result<String, String> {
        let mut out = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => out += text,
                Piece::Hole(Expression::Name(name)) => {
                    out += point.text(name).ok_or_else(|| format!("unknown parameter {name}"))?;
                }
                Piece::Hole(hole) => match hole.value(&|name| point.value(name))? {
                    Value::Word(word) => out += &word,
                    // Doubles represent all integers up to this bound.
                    Value::Number(n) if n.fract() == 0.0 && n.abs() <= 9_007_199_254_740_992.0 => {
                        out += &format!("{n:.0}");
                    }
                    Value::Number(n) => return Err(format!("an expression evaluates to {n}, which is not an integer")),
                },
            }
        }
        Ok(out)
    }
}

/// Whether a text contains a name as a separate word.
pub fn mentions(text: &str, name: &str) -> bool {
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(is_name_part) && !text[at + name.len()..].starts_with(is_name_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(text: &str) -> Point {
        Point(text.split(' ').filter_map(|p| p.split_once('=')).map(|(n, v)| (n.into(), v.into())).collect())
    }

    #[test]
    fn parameters() {
        let values = |text: &str| Parameter::parse(text).map(|p| p.values.join(" "));
        assert_eq!(values("TM=64,128"), Ok("64 128".into()));
        assert_eq!(values("TM=64:256:64"), Ok("64 128 192 256".into()));
        assert_eq!(values("TM=1:10:4"), Ok("1 5 9".into()));
        assert_eq!(values("TM=16, 32:128:*2"), Ok("16 32 64 128".into()));
        assert_eq!(values("MODE=auto,unspecialize"), Ok("auto unspecialize".into()));
        assert_eq!(values("N=9223372036854775806:9223372036854775807:1").map(|v| v.len()), Ok(39));
        for (text, expected) in [
            ("TM", "'TM' is not NAME=VALUE,..."),
            ("2M=1", "'2M' is not a name: use letters, digits and '_'"),
            ("=1", "'' is not a name: use letters, digits and '_'"),
            ("T=", "T has an empty value"),
            ("T=1,,2", "T has an empty value"),
            ("T=1,1", "T has the value 1 twice"),
            ("T=1:2", "T: '1:2' is neither a value nor a range FROM:TO:STEP"),
            ("T=1:2:3:4", "T: '1:2:3:4' is neither a value nor a range FROM:TO:STEP"),
            ("T=0:1000000:1", "T has more than 100000 values"),
        ] {
            assert_eq!(values(text), Err(expected.into()), "{text}");
        }
        for range in ["1:8:0", "1:8:-1", "8:1:1", "a:8:1", "0:8:*2", "1:8:*1"] {
            assert!(values(&format!("T={range}")).unwrap_err().contains("is not a range"), "{range}");
        }
    }

    #[test]
    fn combinations() {
        let parameters = ["A=1,2", "B=x,y"].map(|p| Parameter::parse(p).unwrap());
        let of = |conditions: &[&str]| {
            let conditions: Vec<_> = conditions.iter().map(|c| Expression::parse(c).unwrap()).collect();
            points(&parameters, &conditions).map(|all| all.iter().map(Point::shown).collect::<Vec<_>>().join("; "))
        };
        assert_eq!(of(&[]), Ok("A=1 B=x; A=1 B=y; A=2 B=x; A=2 B=y".into()));
        assert_eq!(of(&["A < 2 || B == 'y'", "A > 1"]), Ok("A=2 B=y".into()));
        assert_eq!(of(&["C"]), Err("cannot evaluate a condition for A=1 B=x: unknown parameter C".into()));
        assert_eq!(of(&["B"]), Err("a condition evaluates to the word 'x'".into()));
        let many: Vec<_> = (0..3).map(|i| Parameter::parse(&format!("P{i}=1:100:1")).unwrap()).collect();
        assert_eq!(points(&many, &[]), Err("there are more than 100000 combinations".into()));
        assert_eq!(points(&[], &[]), Ok(vec![Point(vec![])]));
    }

    #[test]
    fn templates() {
        let fill = |text: &str| Template::parse(text)?.fill(&point("TM=064 MODE=on"));
        assert_eq!(fill("tile<${TM}x${ TM*2 }xf32> // $x {}"), Ok("tile<064x128xf32> // $x {}".into()));
        assert_eq!(fill("${ceil(8192/TM)},${MODE}"), Ok("128,on".into()));
        assert_eq!(
            fill("${TM/3}"),
            Err("an expression evaluates to 21.333333333333332, which is not an integer".into())
        );
        assert_eq!(fill("a\nb ${TM"), Err("line 2: '${' without '}'".into()));
        assert_eq!(fill("a\nb\n${TM+}"), Err("line 3: '${TM+}': unexpected end of the expression".into()));
        assert_eq!(fill("${TN}"), Err("unknown parameter TN".into()));
        let names = Template::parse("${A} ${max(B, 2*C)} ${A}").unwrap();
        assert_eq!(names.names().into_iter().collect::<String>(), "ABC");
    }

    #[test]
    fn names_are_words() {
        assert!(mentions("run $TM", "TM") && mentions("TM", "TM") && mentions("a ${TM}b", "TM"));
        assert!(!mentions("TMA ATM T_TM", "TM"));
    }
}
