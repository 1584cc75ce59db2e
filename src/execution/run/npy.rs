//! Reads and writes NumPy's `.npy` files, for the element types that kernels take.
//!
//! A file consists of the magic `\x93NUMPY`, a version of two bytes, the length of the header (two bytes in version
//! 1, four in 2 and 3), the header, which is a Python dictionary literal, and the elements. For 3 x 2 floats in C
//! order:
//!
//! ```text
//! {'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }
//! ```
//!
//! `descr` is byte order, kind and size. NumPy lacks bf16 and 8-bit floats: their bits are stored as `u2` and `u1`,
//! or as `V2` and `V1` by packages that define them.

use crate::element::Element;
use std::path::Path;

/// The array in a file. `data` holds the elements in the order of `strides`, little-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Kind and size, as in `f4`.
    pub descr: String,
    pub shape: Vec<u64>,
    /// The first index varies fastest.
    pub fortran: bool,
    pub data: Vec<u8>,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("not a .npy file")]
    Magic,
    #[error("unknown format version {0}.{1}")]
    Version(u8, u8),
    #[error("the file ends within its header")]
    Truncated,
    #[error("the header is malformed: {0}")]
    Header(&'static str),
    #[error("element type '{0}' is not supported (little-endian integers and floats of 1 to 8 bytes are)")]
    Descr(String),
    #[error("shape {0:?} is too large")]
    TooLarge(Vec<u64>),
    #[error("{found} bytes of elements where shape {shape:?} of '{descr}' needs {expected}")]
    Length { found: usize, expected: usize, shape: Vec<u64>, descr: String },
}

impl Array {
    /// Size of an element in bytes.
    pub fn item_size(&self) -> usize {
        size_of_descr(&self.descr).unwrap_or(1)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.data.len() / self.item_size()
    }

    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Distance between neighbors along each dimension, in elements.
    pub fn strides(&self) -> Vec<u64> {
        let mut strides = vec![0; self.shape.len()];
        let mut step = 1u64;
        let mut set = |i: usize| {
            strides[i] = step;
            step = step.saturating_mul(self.shape[i]);
        };
        let n = self.shape.len();
        if self.fortran {
            (0..n).for_each(&mut set)
        } else {
            (0..n).rev().for_each(&mut set)
        }
        strides
    }

    /// The element type of `descr`. Opaque bits count as unsigned integers.
    pub fn element(&self) -> Element {
        use Element::*;
        match self.descr.as_str() {
            "i1" => I8,
            "i2" => I16,
            "i4" => I32,
            "i8" => I64,
            "u2" | "V2" => U16,
            "u4" => U32,
            "u8" => U64,
            "f2" => F16,
            "f4" => F32,
            "f8" => F64,
            _ => U8,
        }
    }

    /// The index of the `n`th element in memory.
    pub fn index_of(&self, mut n: usize) -> Vec<u64> {
        let mut index = vec![0; self.shape.len()];
        let mut set = |i: usize| {
            let extent = (self.shape[i] as usize).max(1);
            index[i] = (n % extent) as u64;
            n /= extent;
        };
        let rank = self.shape.len();
        if self.fortran {
            (0..rank).for_each(&mut set)
        } else {
            (0..rank).rev().for_each(&mut set)
        }
        index
    }

    pub fn read(path: &Path) -> Result<Array, Error> {
        Array::parse(&std::fs::read(path)?)
    }

    pub fn parse(bytes: &[u8]) -> Result<Array, Error> {
        let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or(Error::Magic)?;
        let (version, rest) = rest.split_at_checked(2).ok_or(Error::Truncated)?;
        let width = match version {
            [1, 0] => 2,
            [2 | 3, 0] => 4,
            other => return Err(Error::Version(other[0], other[1])),
        };
        let (length, rest) = rest.split_at_checked(width).ok_or(Error::Truncated)?;
        let mut word = [0; 4];
        word[..width].copy_from_slice(length);
        let (header, data) = rest.split_at_checked(u32::from_le_bytes(word) as usize).ok_or(Error::Truncated)?;
        let header = std::str::from_utf8(header).map_err(|_| Error::Header("it is not text"))?;
        let (descr, fortran, shape) = parse_header(header)?;
        let size = size_of_descr(&descr).ok_or_else(|| Error::Descr(descr.clone()))?;
        let count = shape.iter().try_fold(size as u64, |n, d| n.checked_mul(*d)).filter(|n| *n < 1 << 40);
        let expected = count.ok_or_else(|| Error::TooLarge(shape.clone()))? as usize;
        if data.len() != expected {
            return Err(Error::Length { found: data.len(), expected, shape, descr });
        }
        Ok(Array { descr, shape, fortran, data: data.to_vec() })
    }

    /// The bytes of a file with this array.
    pub fn to_bytes(&self) -> Vec<u8> {
        let order = if self.item_size() == 1 { '|' } else { '<' };
        let mut shape: String = self.shape.iter().map(|d| format!("{d}, ")).collect();
        shape.truncate(shape.trim_end_matches(if self.shape.len() == 1 { " " } else { ", " }).len());
        let mut header = format!(
            "{{'descr': '{order}{}', 'fortran_order': {}, 'shape': ({shape}), }}",
            self.descr,
            if self.fortran { "True" } else { "False" }
        );
        // The elements start at a multiple of 64 bytes; the header ends with a newline.
        let used = 10 + header.len() + 1;
        header.push_str(&" ".repeat(used.next_multiple_of(64) - used));
        header.push('\n');
        let mut out = b"\x93NUMPY\x01\x00".to_vec();
        out.extend((header.len() as u16).to_le_bytes());
        out.extend(header.as_bytes());
        out.extend(&self.data);
        out
    }

    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        std::fs::write(path, self.to_bytes())
    }
}

/// Size in bytes; `None` for types that kernels do not use.
fn size_of_descr(descr: &str) -> Option<usize> {
    let size = match descr {
        "b1" | "i1" | "u1" | "V1" => 1,
        "i2" | "u2" | "f2" | "V2" => 2,
        "i4" | "u4" | "f4" => 4,
        "i8" | "u8" | "f8" => 8,
        _ => return None,
    };
    Some(size)
}

/// Parses element type, order and shape from the dictionary, whose three keys may be in any order.
fn parse_header(text: &str) -> Result<(String, bool, Vec<u64>), Error> {
    let bad = Error::Header;
    let mut rest = text.trim().strip_prefix('{').ok_or(bad("no '{'"))?;
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    loop {
        rest = rest.trim_start_matches([' ', ',', '\n']);
        if let Some(end) = rest.strip_prefix('}') {
            if !end.trim().is_empty() {
                return Err(bad("text after '}'"));
            }
            break;
        }
        let (key, after) = quoted(rest).ok_or(bad("a key is not a string"))?;
        rest = after.trim_start().strip_prefix(':').ok_or(bad("no ':' after a key"))?.trim_start();
        match key {
            "descr" => {
                if rest.starts_with('[') {
                    return Err(Error::Descr("a structure".into()));
                }
                let (value, after) = quoted(rest).ok_or(bad("'descr' is not a string"))?;
                let big = value.starts_with('>');
                let name = value.trim_start_matches(['<', '|', '=']);
                if big || size_of_descr(name).is_none() {
                    return Err(Error::Descr(value.into()));
                }
                descr = Some(name.to_string());
                rest = after;
            }
            "fortran_order" => {
                let (value, after) = match rest.strip_prefix("True") {
                    Some(after) => (true, after),
                    None => (false, rest.strip_prefix("False").ok_or(bad("'fortran_order' is not a truth value"))?),
                };
                fortran = Some(value);
                rest = after;
            }
            "shape" => {
                let open = rest.strip_prefix('(').ok_or(bad("'shape' is not a tuple"))?;
                let (inner, after) = open.split_once(')').ok_or(bad("'shape' has no end"))?;
                let items = inner.split(',').map(str::trim).filter(|s| !s.is_empty());
                let dims: Result<Vec<u64>, _> = items.map(|s| s.trim_end_matches('L').parse()).collect();
                shape = Some(dims.map_err(|_| bad("'shape' has something else than numbers"))?);
                rest = after;
            }
            _ => return Err(bad("an unknown key")),
        }
    }
    match (descr, fortran, shape) {
        (Some(d), Some(f), Some(s)) => Ok((d, f, s)),
        _ => Err(bad("'descr', 'fortran_order' or 'shape' is missing")),
    }
}

fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split_once(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut out = b"\x93NUMPY\x01\x00".to_vec();
        out.extend((header.len() as u16).to_le_bytes());
        out.extend(header.as_bytes());
        out.extend(data);
        out
    }

    #[test]
    fn round_trips() {
        for (shape, fortran, header) in [
            (vec![], false, "'shape': (), "),
            (vec![6], false, "'shape': (6,), "),
            (vec![3, 2], false, "'shape': (3, 2), "),
            (vec![3, 2], true, "'fortran_order': True"),
            (vec![0, 7], false, "'shape': (0, 7), "),
        ] {
            let count: u64 = shape.iter().product();
            let data = (0..count * 4).map(|b| b as u8).collect();
            let array = Array { descr: "f4".into(), shape, fortran, data };
            let bytes = array.to_bytes();
            assert!(String::from_utf8_lossy(&bytes).contains(header));
            assert_eq!((bytes.len() - array.data.len()) % 64, 0);
            assert_eq!(Array::parse(&bytes).unwrap(), array);
        }
    }

    #[test]
    fn strides_and_indices_follow_the_order() {
        let mut a = Array { descr: "u1".into(), shape: vec![2, 3, 5], fortran: false, data: vec![0; 30] };
        assert_eq!(a.strides(), [15, 5, 1]);
        assert_eq!(a.index_of(17), [1, 0, 2]);
        a.fortran = true;
        assert_eq!(a.strides(), [1, 2, 6]);
        assert_eq!(a.index_of(17), [1, 2, 2]);
    }

    #[test]
    fn bad_files_are_errors() {
        let good = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n";
        assert!(Array::parse(&file(good, &[0; 4])).is_ok());
        let table: &[(Vec<u8>, &str)] = &[
            (vec![], "not a .npy"),
            (b"\x93NUMPY".to_vec(), "ends within"),
            (b"\x93NUMPY\x09\x00".to_vec(), "version 9.0"),
            (b"\x93NUMPY\x01\x00\xff\xff{".to_vec(), "ends within"),
            (file(good, &[0; 3]), "3 bytes of elements"),
            (file("", &[]), "no '{'"),
            (file("{'descr': '<f4'}", &[]), "missing"),
            (file("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", &[0; 4]), "'>f4' is not supported"),
            (file("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", &[0; 8]), "'<c8' is not supported"),
            (file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", &[0; 4]), "structure"),
            (file("{'descr': '<f4', 'fortran_order': 3, 'shape': (1,)}", &[0; 4]), "truth value"),
            (file("{'descr': '<f4', 'fortran_order': False, 'shape': (x,)}", &[0; 4]), "numbers"),
            (file("{'descr': '<f4', 'fortran_order': False, 'shape': (1", &[0; 4]), "no end"),
            (file("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", &[0; 4]), "numbers"),
            (file("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999)}", &[]), "too large"),
            (file("{'descr'", &[]), "no ':'"),
            (file("{'what': 1}", &[]), "unknown key"),
            (file("{\u{e9}", &[]), "not a string"),
            (file("{'descr': '<f4'} x", &[]), "text after"),
        ];
        for (bytes, message) in table {
            let error = Array::parse(bytes).unwrap_err().to_string();
            assert!(error.contains(message), "{error} lacks {message}");
        }
    }
}
