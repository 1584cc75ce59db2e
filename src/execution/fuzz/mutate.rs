//! Mutations of a program's text that preserve most of the grammar. Random changes to bytes seldom get past the
//! parser.

use tile_fuzz::rng::Rng;

/// Numbers that are boundary cases of shapes, masks and sizes.
const NUMBERS: [&str; 16] = [
    "0",
    "1",
    "2",
    "3",
    "4",
    "7",
    "8",
    "16",
    "32",
    "64",
    "128",
    "1024",
    "65536",
    "2147483647",
    "4294967296",
    "9223372036854775807",
];

/// Groups of words that can replace each other.
const KINDS: [&[&str]; 6] = [
    &["i1", "i4", "i8", "i16", "i32", "i64"],
    &["f4E2M1FN", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "fnv8E5M3FNU", "f16", "bf16", "tf32", "f32", "f64", "i32"],
    &["signed", "unsigned"],
    &["weak", "relaxed", "acquire", "release", "acq_rel"],
    &["tl_blk", "device", "sys"],
    &["nearest_even", "zero", "positive_inf", "negative_inf", "approx", "full", "nearest_int_to_zero", "flush_to_zero"],
];

/// Applies one to three changes, which depend only on the seed. The text grows little.
pub fn program(text: &str, seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let mut text = text.to_owned();
    for _ in 0..1 + [0, 0, 1, 2][rng.below(4)] {
        text = match rng.below(4) {
            0 => lines(&text, &mut rng),
            _ => words(&text, &mut rng),
        };
    }
    text
}

/// Drops, repeats or swaps lines.
fn lines(text: &str, rng: &mut Rng) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return String::new();
    }
    let (a, b) = (rng.below(lines.len()), rng.below(lines.len()));
    match rng.below(3) {
        0 => drop(lines.remove(a)),
        1 => lines.insert(b, lines[a]),
        _ => lines.swap(a, b),
    }
    lines.join("\n")
}

/// Replaces one word, or all occurrences of it.
fn words(text: &str, rng: &mut Rng) -> String {
    let mut words = split(text);
    let places: Vec<usize> = (0..words.len()).filter(|&i| is_word(words[i])).collect();
    if places.is_empty() {
        return text.to_owned();
    }
    let chosen = words[rng.pick(&places)];
    let at = places.iter().copied().filter(|&i| words[i] == chosen);
    let at: Vec<usize> = if rng.coin() { at.collect() } else { vec![rng.pick(&at.collect::<Vec<_>>())] };
    let first = |w: &str| w.chars().next().map(|c| (c.is_ascii_digit(), "%@#!".contains(c)));
    let alike: Vec<&str> = places.iter().map(|&i| words[i]).filter(|w| first(w) == first(chosen)).collect();
    let number = |rng: &mut Rng| rng.pick(&NUMBERS).to_owned();
    let new = match KINDS.iter().find(|kind| kind.contains(&chosen)) {
        Some(kind) if rng.below(4) > 0 => rng.pick(kind).to_owned(),
        _ if chosen.starts_with(|c: char| c.is_ascii_digit()) && rng.coin() => match chosen.split_once('x') {
            // A shape, with or without an element type.
            Some(_) => {
                let mut parts: Vec<&str> = chosen.split('x').collect();
                let number = number(rng);
                let part = rng.below(parts.len());
                match rng.below(4) {
                    0 => drop(parts.remove(part)),
                    1 => parts.insert(part, &number),
                    _ => parts[part] = &number,
                }
                parts.join("x")
            }
            None => number(rng),
        },
        _ if rng.one_in(8) => String::new(),
        _ => rng.pick(&alike).to_owned(),
    };
    at.into_iter().for_each(|i| words[i] = &new);
    words.concat()
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.%@#!$".contains(c)
}

fn is_word(piece: &str) -> bool {
    piece.starts_with(is_part)
}

/// Splits the text into words and the text between them. A type such as `4xf32` is split into the shape and the
/// element.
fn split(text: &str) -> Vec<&str> {
    let mut pieces = vec![];
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let end = rest.find(|d: char| is_part(d) != is_part(c)).unwrap_or(rest.len());
        let (piece, behind) = rest.split_at(end);
        let element = piece.rfind('x').filter(|_| c.is_ascii_digit()).map_or(0, |x| x + 1);
        let is_typed = piece[element..].starts_with(|d: char| d.is_ascii_alphabetic());
        match element {
            0 => pieces.push(piece),
            _ if is_typed => pieces.extend([&piece[..element - 1], "x", &piece[element..]]),
            _ => pieces.push(piece),
        }
        rest = behind;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_words_shapes_and_elements() {
        assert_eq!(
            split("%0 = addf %a: tile<4x8xf32>"),
            ["%0", " = ", "addf", " ", "%a", ": ", "tile", "<", "4x8", "x", "f32", ">"]
        );
        assert_eq!(split("tile<16xi1>[1, 0x7f]").concat(), "tile<16xi1>[1, 0x7f]");
    }

    #[test]
    fn changes_are_small_and_repeatable() {
        let text = "module {\n  %0 = addf %a, %b : tile<4x8xf32>\n  %1 = mulf %0, %a : tile<4x8xf32>\n}\n";
        let all: Vec<String> = (0..1000).map(|seed| program(text, seed)).collect();
        assert!(all.iter().zip(0..).all(|(made, seed)| *made == program(text, seed)));
        assert!(all.iter().all(|made| made.len() < 4 * text.len()));
        // Types are changed everywhere or in a single position.
        assert!(all.iter().any(|made| made.matches("4x8xf16").count() == 2));
        assert!(all.iter().any(|made| made.matches("4x8xf32").count() == 1));
        assert!(all.iter().any(|made| made.matches("4x1024xf32").count() == 2));
        for empty in ["", "\n", "  "] {
            program(empty, 7);
        }
    }
}
