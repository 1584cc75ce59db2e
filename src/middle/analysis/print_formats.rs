//! The formats of prints: their pieces, and the brackets around the elements of tiles.

/// A piece of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Literal text, with `%%` for a percent sign.
    Text(String),
    Expression(Expression),
}

/// A conversion specification without a length modifier, which follows from the argument's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// `%`, flags, width and precision.
    pub head: String,
    pub conversion: char,
}

/// Parses a format. A conversion specification runs from `%` to the next conversion character.
pub fn parse_format(format: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = vec![];
    let mut text = String::new();
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '%' {
            text.push(c);
            continue;
        }
        if rest.next_if_eq(&'%').is_some() {
            text.push_str("%%");
            continue;
        }
        let mut head = String::from("%");
        let mut take = |allowed: &str, head: &mut String| {
            while let Some(c) = rest.next_if(|c| allowed.contains(*c)) {
                head.push(c);
            }
        };
        take("-+ #0", &mut head);
        take("0123456789", &mut head);
        let before = head.len();
        take(".", &mut head);
        if head.len() > before {
            take("0123456789", &mut head);
        }
        let mut length = String::new();
        take("hljztqL", &mut length);
        match rest.next() {
            Some(conversion) if "diuoxXeEfFgGaAcsp".contains(conversion) => {
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                pieces.push(Piece::Expression(Expression { head, conversion }));
            }
            Some(other) => return Err(format!("'{head}{length}{other}' is not a supported conversion")),
            None => return Err(format!("'{head}{length}' is an incomplete conversion")),
        }
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

/// Returns the text before element `index` of a tensor.
pub fn separator(shape: &[i64], index: u64) -> String {
    if index == 0 {
        return "[".repeat(shape.len());
    }
    between(closed(shape).iter().filter(|inner| index.is_multiple_of(**inner)).count())
}

/// Returns the text between two elements where pairs of brackets close and open.
pub fn between(levels: usize) -> String {
    format!("{}, {}", "]".repeat(levels), "[".repeat(levels))
}

/// Returns the number of elements in each pair of brackets except the outermost, from the inside out.
pub fn closed(shape: &[i64]) -> Vec<u64> {
    let volumes = shape.iter().rev().scan(1, |n, e| {
        *n *= *e as u64;
        Some(*n)
    });
    volumes.take(shape.len() - 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(t: &str) -> Piece {
        Piece::Text(t.into())
    }
    fn expression(head: &str, conversion: char) -> Piece {
        Piece::Expression(Expression { head: head.into(), conversion })
    }

    #[test]
    fn formats_are_taken_apart() {
        let cases: &[(&str, &[Piece])] = &[
            ("", &[]),
            ("plain 100%%\n", &[text("plain 100%%\n")]),
            ("%d", &[expression("%", 'd')]),
            ("a %-+ #05.3lld b", &[text("a "), expression("%-+ #05.3", 'd'), text(" b")]),
            ("%5u%.2f", &[expression("%5", 'u'), expression("%.2", 'f')]),
            ("%hhx%zu%Lf", &[expression("%", 'x'), expression("%", 'u'), expression("%", 'f')]),
            ("%.s", &[expression("%.", 's')]),
        ];
        for (format, pieces) in cases {
            assert_eq!(parse_format(format).as_deref(), Ok(*pieces), "{format}");
        }
        for (format, error) in [
            ("%n", "'%n' is not a supported conversion"),
            ("%*d", "'%*' is not a supported conversion"),
            ("%5S", "'%5S' is not a supported conversion"),
            ("%l", "'%l' is an incomplete conversion"),
        ] {
            assert_eq!(parse_format(format), Err(error.to_string()), "{format}");
        }
    }

    #[test]
    fn brackets_nest() {
        let print = |shape: &[i64]| {
            let elements: i64 = shape.iter().product();
            let body: String = (0..elements as u64).map(|i| separator(shape, i) + &i.to_string()).collect();
            body + &"]".repeat(shape.len())
        };
        assert_eq!(print(&[1]), "[0]");
        assert_eq!(print(&[4]), "[0, 1, 2, 3]");
        assert_eq!(print(&[2, 2]), "[[0, 1], [2, 3]]");
        assert_eq!(print(&[2, 1, 2]), "[[[0, 1]], [[2, 3]]]");
        assert_eq!(print(&[1, 2, 1]), "[[[0], [1]]]");
    }
}
