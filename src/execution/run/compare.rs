//! Compares results with expectations.

use crate::element::{Element, Number};
use crate::launch::{Match, Tolerance};
use crate::npy::Array;
use std::collections::BTreeSet;
use tile_interp::scalar::Scalar;

/// Returns a complaint if `got`, whose elements are of type `element`, does not match `want`.
///
/// As values, integers are compared exactly in 128 bits and floats in double precision. Equal infinities are equal,
/// and so are any two NaNs.
pub fn compare(name: &str, got: &Array, element: Element, want: &Array, how: Match) -> Option<String> {
    compare_by(name, got, element, want, Rules { how, loose: None, places: None, promised: None })
}

/// The rules of a comparison.
pub struct Rules<'a> {
    pub how: Match,
    /// The rows that the tolerance applies to: see [`crate::launch::Expect::loose`].
    pub loose: Option<&'a [u64]>,
    /// The indices in memory of the elements to compare; `None` for all.
    pub places: Option<BTreeSet<usize>>,
    /// The values that the language permits for each element, which replace the tolerance.
    pub promised: Option<&'a [Scalar]>,
}

/// As [`compare`], with additional rules.
pub fn compare_by(name: &str, got: &Array, element: Element, want: &Array, rules: Rules<'_>) -> Option<String> {
    let Rules { how, loose, places, promised } = rules;
    if got.shape != want.shape {
        return Some(format!("{name}: shape {:?}, expected {:?}", got.shape, want.shape));
    }
    let size = element.size();
    if !matches!(how, Match::Value(_)) && want.item_size() != size {
        let found = want.item_size();
        return Some(format!("{name}: elements of {size} bytes, expected elements of {found} bytes"));
    }
    if how == Match::Sorted {
        return compare_sorted(name, got, element, want);
    }
    let want_element = if matches!(how, Match::Value(_)) { want.element() } else { element };
    let strides = want.strides();
    let of = |n: usize| {
        // The two files may store their elements in different orders.
        let place = if got.fortran == want.fortran {
            n
        } else {
            got.index_of(n).iter().zip(&strides).map(|(i, s)| (i * s) as usize).sum()
        };
        let width = want.item_size();
        (&got.data[n * size..][..size], &want.data[place * width..][..width])
    };
    let is_loose = |n: usize| loose.is_none_or(|rows| got.index_of(n).first().is_some_and(|row| rows.contains(row)));
    let number = tile_interp::types::Element::Number(element.number());
    let right = |n: usize, have: &[u8], wanted: &[u8]| match how {
        _ if promised.is_some() => promised.and_then(|p| p.get(n)).is_some_and(|p| p.admits(bits(have), number)),
        Match::Value(_) if !is_loose(n) => exact(element.decode(have), want_element.decode(wanted)),
        Match::Value(t) => close(element.decode(have), want_element.decode(wanted), t),
        Match::BitsOrNan if element.decode(have).to_f64().is_nan() => want_element.decode(wanted).to_f64().is_nan(),
        _ => have == wanted,
    };
    let (mut count, mut wrong, mut first) = (0usize, 0usize, None);
    let all = got.data.len() / size;
    for n in (0..all).filter(|n| places.as_ref().is_none_or(|places| places.contains(n))) {
        let (have, wanted) = of(n);
        count += 1;
        if !right(n, have, wanted) {
            wrong += 1;
            first.get_or_insert((n, have, wanted));
        }
    }
    let (n, have, wanted) = first?;
    if promised.is_none() && matches!(how, Match::Value(t) if wrong as f64 / count as f64 <= t.bad) {
        return None;
    }
    let index = got.index_of(n).iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let (mut have_text, mut want_text) = (element.decode(have).to_string(), want_element.decode(wanted).to_string());
    if !matches!(how, Match::Value(_)) {
        have_text += &format!(" ({})", hex(have));
        want_text += &format!(" ({})", hex(wanted));
    }
    Some(format!("{name}: {wrong} of {count} wrong, first at ({index}): {have_text}, expected {want_text}"))
}

fn bits(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, b| word << 8 | u64::from(*b))
}

/// Formats little-endian bytes as a number.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().rev().fold("0x".to_string(), |text, b| text + &format!("{b:02x}"))
}

fn compare_sorted(name: &str, got: &Array, element: Element, want: &Array) -> Option<String> {
    let sorted = |data: &[u8]| {
        let mut items: Vec<&[u8]> = data.chunks(element.size()).collect();
        items.sort_by(|a, b| element.decode(a).to_f64().total_cmp(&element.decode(b).to_f64()).then(a.cmp(b)));
        items.into_iter().map(<[u8]>::to_vec).collect::<Vec<_>>()
    };
    let (have, wanted) = (sorted(&got.data), sorted(&want.data));
    let (n, (h, w)) = have.iter().zip(&wanted).enumerate().find(|(_, (h, w))| h != w)?;
    let count = have.iter().zip(&wanted).filter(|(h, w)| h != w).count();
    let (h, w) = (element.decode(h), element.decode(w));
    Some(format!("{name}: {count} of {} wrong after sorting, first at ({n}): {h}, expected {w}", have.len()))
}

/// Whether numbers are equal. Zeros with different signs are not.
fn exact(have: Number, want: Number) -> bool {
    match (have, want) {
        (Number::Int(a), Number::Int(b)) => a == b,
        (a, b) => {
            let (a, b) = (a.to_f64(), b.to_f64());
            a.is_nan() && b.is_nan() || a == b && a.is_sign_negative() == b.is_sign_negative()
        }
    }
}

fn close(have: Number, want: Number, t: Tolerance) -> bool {
    let limit = t.atol + t.rtol * want.to_f64().abs();
    match (have, want) {
        (Number::Int(a), Number::Int(b)) => (a - b).unsigned_abs() as f64 <= limit,
        (a, b) => {
            let (a, b) = (a.to_f64(), b.to_f64());
            // An infinite `want` makes the limit infinite, which would permit any number.
            a == b || (a.is_nan() && b.is_nan()) || (limit.is_finite() && (a - b).abs() <= limit)
        }
    }
}

/// Returns a complaint unless `printed` consists of the `expected` lines, in any order.
pub fn compare_lines(printed: &str, expected: &[String]) -> Option<String> {
    let mut have: Vec<&str> = printed.lines().collect();
    let mut want: Vec<&str> = expected.iter().map(String::as_str).collect();
    have.sort_unstable();
    want.sort_unstable();
    if have == want {
        return None;
    }
    let lacking = |a: &[&str], b: &[&str]| a.iter().find(|l| !b.contains(l)).map(|l| l.to_string());
    Some(match (lacking(&want, &have), lacking(&have, &want)) {
        (Some(line), _) => format!("output: the line '{line}' is missing"),
        (None, Some(line)) => format!("output: the line '{line}' was not expected"),
        (None, None) => format!("output: {} lines, expected {}", have.len(), want.len()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(values: &[f32]) -> Array {
        let data = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        Array { descr: "f4".into(), shape: vec![values.len() as u64], fortran: false, data }
    }

    fn doubles(values: &[f64]) -> Array {
        let data = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        Array { descr: "f8".into(), shape: vec![values.len() as u64], fortran: false, data }
    }

    #[test]
    fn floats_within_tolerance() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        let t = |rtol, atol, bad| Tolerance { rtol, atol, bad };
        type Row<'a> = (&'a [f32], &'a [f64], Tolerance, bool);
        let table: &[Row<'_>] = &[
            (&[1.0, 2.0], &[1.0, 2.0], t(0.0, 0.0, 0.0), true),
            (&[1.0, 2.5], &[1.0, 2.0], t(0.0, 0.0, 0.0), false),
            (&[1.0, 2.5], &[1.0, 2.0], t(0.25, 0.0, 0.0), true),
            (&[1.0, 2.5], &[1.0, 2.0], t(0.0, 0.5, 0.0), true),
            (&[1.0, 2.5], &[1.0, 2.0], t(0.0, 0.0, 0.5), true),
            (&[0.0, 2.5], &[1.0, 2.0], t(0.0, 0.0, 0.5), false),
            (&[f32::NAN], &[nan], t(0.0, 0.0, 0.0), true),
            (&[f32::NAN], &[1.0], t(9.0, 9.0, 0.0), false),
            (&[1.0], &[nan], t(9.0, 9.0, 0.0), false),
            (&[f32::INFINITY], &[inf], t(0.0, 0.0, 0.0), true),
            (&[f32::NEG_INFINITY], &[inf], t(1.0, 1.0, 0.0), false),
            (&[1.0], &[inf], t(1.0, 1.0, 0.0), false),
            (&[-0.0], &[0.0], t(0.0, 0.0, 0.0), true),
        ];
        for (have, want, tolerance, good) in table {
            let complaint = compare("a", &floats(have), Element::F32, &doubles(want), Match::Value(*tolerance));
            assert_eq!(complaint.is_none(), *good, "{have:?} {want:?} {tolerance:?}: {complaint:?}");
        }
    }

    #[test]
    fn rows_that_are_not_loose_are_exact() {
        let how = Match::Value(Tolerance { rtol: 0.5, atol: 0.5, bad: 0.0 });
        let rows = |got: &Array, want: &Array, loose: &[u64]| {
            compare_by("a", got, Element::F32, want, Rules { how, loose: Some(loose), places: None, promised: None })
        };
        /// Values, expected values, the rows with a tolerance, and whether they match.
        type Row<'a> = (&'a [f32], &'a [f64], &'a [u64], bool);
        let table: &[Row<'_>] = &[
            (&[1.0, 2.5], &[1.0, 2.0], &[1], true),
            (&[1.0, 2.5], &[1.0, 2.0], &[0], false),
            (&[1.25, 2.5], &[1.0, 2.0], &[], false),
            (&[f32::NAN, f32::INFINITY, 0.0], &[f64::NAN, f64::INFINITY, 0.0], &[], true),
            (&[-0.0], &[0.0], &[], false),
            (&[-0.0], &[0.0], &[0], true),
        ];
        for (have, want, loose, good) in table {
            let complaint = rows(&floats(have), &doubles(want), loose);
            assert_eq!(complaint.is_none(), *good, "{have:?} {want:?} {loose:?}: {complaint:?}");
        }
        // A row consists of the elements with the same index in the first dimension, in any memory order.
        let (mut got, mut want) = (floats(&[1.0, 3.0, 2.5, 4.0]), doubles(&[1.0, 2.0, 3.0, 4.0]));
        (got.shape, got.fortran, want.shape) = (vec![2, 2], true, vec![2, 2]);
        assert_eq!(rows(&got, &want, &[0]), None);
        let text = rows(&got, &want, &[1]).unwrap();
        assert_eq!(text, "a: 1 of 4 wrong, first at (0, 1): 2.5, expected 2.0");
    }

    #[test]
    fn the_first_wrong_element_is_named() {
        let mut got = floats(&[1.0, 2.0, 3.0, 4.0]);
        let mut want = doubles(&[1.0, 2.0, 3.5, 4.5]);
        got.shape = vec![2, 2];
        want.shape = vec![2, 2];
        let text = compare("arg 2", &got, Element::F32, &want, Match::Value(Tolerance::default())).unwrap();
        assert_eq!(text, "arg 2: 2 of 4 wrong, first at (1, 0): 3.0, expected 3.5");
        want.shape = vec![4];
        let text = compare("arg 2", &got, Element::F32, &want, Match::Value(Tolerance::default())).unwrap();
        assert_eq!(text, "arg 2: shape [2, 2], expected [4]");
    }

    #[test]
    fn orders_may_differ() {
        let mut got = floats(&[1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
        let mut want = doubles(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        (got.shape, got.fortran, want.shape) = (vec![3, 2], true, vec![3, 2]);
        assert_eq!(compare("a", &got, Element::F32, &want, Match::Value(Tolerance::default())), None);
    }

    #[test]
    fn lines_in_any_order() {
        let want = ["b".to_string(), "a".to_string()];
        assert_eq!(compare_lines("a\nb\n", &want), None);
        assert_eq!(compare_lines("a\n", &want).unwrap(), "output: the line 'b' is missing");
        assert_eq!(compare_lines("a\nb\nc", &want).unwrap(), "output: the line 'c' was not expected");
        assert_eq!(compare_lines("a\nb\nb", &want).unwrap(), "output: 3 lines, expected 2");
    }

    /// NumPy stores bf16 as integers. Behind a tensor map they are compared as the floats that the map says.
    #[test]
    fn arrays_behind_tensor_maps_have_the_type_of_the_map() {
        let dir = tempfile::tempdir().unwrap();
        let words =
            |values: &[f32]| values.iter().flat_map(|v| half::bf16::from_f32(*v).to_bits().to_le_bytes()).collect();
        let values: Vec<f32> = (0..32).map(|i| 1.5 - i as f32).collect();
        let array = |data: Vec<u8>| Array { descr: "<u2".into(), shape: vec![32], fortran: false, data };
        array(words(&values)).write(&dir.path().join("b.npy")).unwrap();
        let wide = Array {
            descr: "<f8".into(),
            shape: vec![32],
            fortran: false,
            data: values.iter().flat_map(|v| f64::from(*v).to_le_bytes()).collect(),
        };
        wide.write(&dir.path().join("w.npy")).unwrap();
        let launch = |element: &str| {
            format!(
                r#"{{"kernel": "k.ptx", "args": [{{"tensor_map": "b.npy", "element": "{element}", "dims": [32], "strides": [], "box": [32]}}],
                    "expect": [{{"arg": 0, "value": "w.npy"}}]}}"#
            )
        };
        for (element, type_of) in [("bf16", Element::Bf16), ("u16", Element::U16), ("f32", Element::U16)] {
            let launch = crate::launch::Launch::parse(launch(element).as_bytes(), dir.path()).unwrap();
            assert_eq!(launch.args[0].arrays()[0].element, type_of, "{element}");
        }
    }
}
