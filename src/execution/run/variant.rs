//! Derives further launches of a program from one with known results.
//!
//! A launch of the corpus shows the typical use of a program. Some properties of compiled code only matter for other
//! inputs: rows of an array that overlap, which makes the order of stores visible; an array that ends inside a tile;
//! or uninitialized memory between the rows. The expected results come from the reference interpreter.

use crate::launch::{Argument, ArrayArgument, Expect, Launch, Match};
use crate::npy::Array;

/// For each kind of change, descriptions of the changes and the launches, which do not have expectations yet. A
/// program may not support every launch, so there are several of each kind; for example, rows may have to start at
/// multiples of 16 bytes.
pub fn candidates(launch: &Launch) -> [Vec<(String, Launch)>; 3] {
    let (mut rows, mut extents, mut gaps) = (vec![], vec![], vec![]);
    for step in [1, 8, 16] {
        let overlapping = |a: &ArrayArgument| {
            let rank = a.array.shape.len();
            let strides: Vec<u64> = (0..rank).map(|i| if i + 1 < rank { step } else { 1 }).collect();
            let fits = rank > 1 && strides != a.array.strides();
            let overlapping = ArrayArgument { strides: Some(strides), ..a.clone() };
            (fits && overlapping.reaches_only_its_own()).then_some(overlapping)
        };
        // Several blocks would write to the same addresses in any order.
        let one_block = Launch { grid: [1; 3], ..launch.clone() };
        rows.extend(changed(&one_block, overlapping).map(|l| (format!("rows {step} apart"), l)));
    }
    for less in [1, 8, 16] {
        let shorter = |a: &ArrayArgument| {
            let shape = reduced(a, less);
            (shape != a.array.shape).then(|| ArrayArgument { array: part(&a.array, shape), ..a.clone() })
        };
        extents.extend(changed(launch, shorter).map(|l| (format!("{less} shorter"), l)));
        let apart = |a: &ArrayArgument| {
            let extents = reduced(a, less);
            let rank = extents.len();
            (rank > 1 && extents[rank - 1] < a.array.shape[rank - 1]).then(|| with_gaps(a, extents))
        };
        gaps.extend(changed(launch, apart).map(|l| (format!("gaps of {less}"), l)));
    }
    [rows, extents, gaps]
}

/// The launch with other numbers, selected by `n`. Each float keeps its sign, so the program still accepts it, and
/// gets another fraction. Its exponent is reduced by 0 to 7, equally in the whole launch. With numbers that are small
/// or close to each other, the last bits of other terms become visible.
pub fn other_numbers(launch: &Launch, n: u64) -> Launch {
    let mut draw = Draw { random: n + 1, smaller: n % 8 };
    let mut numbers = launch.clone();
    for argument in &mut numbers.args {
        match argument {
            Argument::Scalar { .. } | Argument::Bytes(_) => {}
            Argument::Array(a) | Argument::Buffer(a) | Argument::TensorMap { of: a, .. } => draw.again(a),
            Argument::List(l) | Argument::Multicast(l) => l.iter_mut().for_each(|a| draw.again(a)),
        }
    }
    Launch { expect: vec![], stdout: None, ..numbers }
}

/// The launch with arrays that end elsewhere, if there are any: for `n` from 0 to 15, at every fourth element of a
/// tile of 64 elements.
pub fn other_ends(launch: &Launch, n: u64) -> Option<Launch> {
    let (less, more) = (31, 4 * n);
    changed(launch, |a| {
        let plain = a.extents.is_none() && a.strides.is_none() && !a.unwritten;
        let extent = |&extent: &u64| if extent > less { extent + more - less } else { extent };
        let extents: Vec<u64> = a.array.shape.iter().map(extent).collect();
        (plain && extents != a.array.shape).then(|| resized(a, extents))
    })
}

/// The array with these extents, in rows that start at multiples of 16 elements. New elements repeat existing ones.
fn resized(a: &ArrayArgument, extents: Vec<u64>) -> ArrayArgument {
    let mut shape = extents.clone();
    if let Some(row) = shape.last_mut() {
        *row = row.next_multiple_of(16);
    }
    let (size, strides) = (a.array.item_size(), a.array.strides());
    let mut array = Array { shape, data: vec![], ..a.array.clone() };
    let count: u64 = array.shape.iter().product();
    for n in 0..count as usize {
        let index = array.index_of(n);
        let places = index.iter().zip(&a.array.shape).zip(&strides);
        let at: u64 = places.map(|((i, extent), stride)| i % extent * stride).sum();
        array.data.extend_from_slice(&a.array.data[at as usize * size..][..size]);
    }
    with_gaps(&ArrayArgument { array, ..a.clone() }, extents)
}

struct Draw {
    random: u64,
    /// The reduction of exponents.
    smaller: u64,
}

impl Draw {
    /// Replaces the floats of an array.
    fn again(&mut self, a: &mut ArrayArgument) {
        let (element, size) = (a.element, a.element.size());
        let fraction = element.fraction();
        if fraction == 0 || a.unwritten {
            return;
        }
        let exponents = ((1 << (8 * size - 1)) - 1) & !fraction;
        let one = self.smaller * (fraction + 1);
        for bytes in a.array.data.chunks_exact_mut(size) {
            let old = bytes.iter().rev().fold(0, |bits, b| bits << 8 | u64::from(*b));
            // The constants of Knuth's MMIX. The low bits are the least random ones.
            self.random = self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let drawn = old & !fraction | self.random >> 11 & fraction;
            // Zeros, infinities and NaNs are kept.
            let exponent = old & exponents;
            let ordinary = exponent != 0 && exponent != exponents;
            let new = if exponent > one { drawn - one } else { drawn };
            if ordinary {
                bytes.copy_from_slice(&new.to_le_bytes()[..size]);
            }
        }
    }
}

/// The extents of an array, reduced by `less` where they are larger than that.
fn reduced(a: &ArrayArgument, less: u64) -> Vec<u64> {
    a.array.shape.iter().map(|&n| if n > less { n - less } else { n }).collect()
}

/// The first elements along each dimension, at their original positions. The elements between them are zero here and
/// are not passed to the device.
fn with_gaps(a: &ArrayArgument, extents: Vec<u64>) -> ArrayArgument {
    let mut part = ArrayArgument { extents: Some(extents), ..a.clone() };
    let size = a.array.item_size();
    let mut data = vec![0; a.array.data.len()];
    for at in part.passed_elements().map(|n| n * size) {
        data[at..][..size].copy_from_slice(&a.array.data[at..][..size]);
    }
    part.array.data = data;
    part
}

/// The launch with changed arrays of the tile convention; `None` if no array changes.
fn changed(launch: &Launch, change: impl Fn(&ArrayArgument) -> Option<ArrayArgument>) -> Option<Launch> {
    let mut any = false;
    let args = launch.args.iter().map(|argument| match argument {
        Argument::Array(a) => {
            let new = change(a);
            any |= new.is_some();
            Argument::Array(new.unwrap_or_else(|| a.clone()))
        }
        other => other.clone(),
    });
    let args = args.collect();
    any.then(|| Launch { args, expect: vec![], stdout: None, ..launch.clone() })
}

/// The first elements of an array along each dimension.
fn part(array: &Array, shape: Vec<u64>) -> Array {
    let (size, strides) = (array.item_size(), array.strides());
    let mut out = Array { shape, data: vec![], ..array.clone() };
    let count: u64 = out.shape.iter().product();
    for n in 0..count as usize {
        let at: u64 = out.index_of(n).iter().zip(&strides).map(|(i, s)| i * s).sum();
        out.data.extend_from_slice(&array.data[at as usize * size..][..size]);
    }
    out
}

/// The expectations of a variant, from the reference interpreter's results, with the strictness of the original
/// launch.
pub fn expect(launch: &Launch, reference: &[Vec<Array>]) -> Vec<Expect> {
    let mut out = vec![];
    for e in &launch.expect {
        let (Some(argument), Some(results)) = (launch.args.get(e.arg), reference.get(e.arg)) else { continue };
        let value = |(a, result): (&ArrayArgument, &Array)| match e.how {
            Match::Value(_) => numbers(a, result),
            _ => result.clone(),
        };
        let values = argument.arrays().iter().zip(results).map(value).collect();
        out.push(Expect { values, ..e.clone() });
    }
    out
}

/// The elements as values: integers unchanged, all others in double precision.
fn numbers(argument: &ArrayArgument, result: &Array) -> Array {
    let element = argument.element;
    if element.is_integer() {
        return Array { descr: element.descr().into(), ..result.clone() };
    }
    let numbers = result.data.chunks(element.size()).map(|bytes| element.decode(bytes).to_f64());
    Array { descr: "f8".into(), data: numbers.flat_map(f64::to_le_bytes).collect(), ..result.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Element;

    fn array(shape: &[u64]) -> Argument {
        let count: u64 = shape.iter().product();
        let data = (0..count as u32).flat_map(u32::to_le_bytes).collect();
        let array = Array { descr: "u4".into(), shape: shape.to_vec(), fortran: false, data };
        let (name, element) = ("a.npy".into(), Element::U32);
        Argument::Array(ArrayArgument {
            name,
            array,
            element,
            wide_index: false,
            strides: None,
            extents: None,
            unwritten: false,
        })
    }

    fn shown(launch: &Launch) -> (Vec<u64>, Option<Vec<u64>>) {
        let a = &launch.args[0].arrays()[0];
        (a.array.shape.clone(), a.strides.clone())
    }

    #[test]
    fn drawn_numbers_are_of_the_same_kind() {
        let values = [1.5f32, -3.0e-20, 0.0, -0.0, f32::INFINITY, f32::NAN, 7.0e30, 1.0e-40];
        let mut floats = array(&[8, 4]);
        let Argument::Array(a) = &mut floats else { unreachable!() };
        a.element = Element::F32;
        a.array.data = (0..32).flat_map(|n: usize| values[n % 8].to_le_bytes()).collect();
        let integers = array(&[2, 3]);
        let launch = Launch { args: vec![floats, integers.clone()], ..Launch::default() };
        let floats = |l: &Launch| -> Vec<f32> {
            let data = &l.args[0].arrays()[0].array.data;
            data.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
        };
        for n in 0..16 {
            let drawn = other_numbers(&launch, n);
            assert_eq!(drawn.args[1], integers);
            let (old, new) = (floats(&launch), floats(&drawn));
            for (old, new) in old.iter().zip(&new) {
                let exponent = |v: &f32| v.to_bits() >> 23;
                // Zeros, subnormals, infinities and NaNs are kept.
                if old.is_normal() {
                    assert_eq!(exponent(old) - n as u32 % 8, exponent(new), "{old} {new}");
                } else {
                    assert_eq!(old.to_bits(), new.to_bits(), "{old} {new}");
                }
            }
            assert_eq!(old.iter().zip(&new).filter(|(a, b)| a.to_bits() != b.to_bits()).count(), 12);
        }
        assert_ne!(floats(&other_numbers(&launch, 0)), floats(&other_numbers(&launch, 8)));
    }

    #[test]
    fn arrays_end_elsewhere() {
        let launch = Launch { args: vec![array(&[2, 40])], ..Launch::default() };
        let ends = |n: u64| {
            let a = other_ends(&launch, n).unwrap().args[0].arrays()[0].clone();
            (a.passed_extents(), a.array.shape.clone(), a.array.data[4..8].to_vec())
        };
        assert_eq!(ends(0), (vec![2, 9], vec![2, 16], vec![1, 0, 0, 0]));
        assert_eq!(ends(1), (vec![2, 13], vec![2, 16], vec![1, 0, 0, 0]));
        assert_eq!(ends(15), (vec![2, 69], vec![2, 80], vec![1, 0, 0, 0]));
        let longest = other_ends(&launch, 15).unwrap();
        let longest = &longest.args[0].arrays()[0].array.data;
        // Element 39 of a row is followed by element 0 again; the memory after the part is uninitialized.
        let word = |n: usize| u32::from_le_bytes(longest[4 * n..][..4].try_into().unwrap());
        assert_eq!((word(39), word(40), word(41), word(68), word(69), word(80)), (39, 0, 1, 28, 0, 40));
        let short = Launch { args: vec![array(&[2, 31])], ..Launch::default() };
        assert!((0..16).all(|n| other_ends(&short, n).is_none()));
    }

    #[test]
    fn rows_overlap_and_arrays_are_shorter() {
        let launch = Launch { grid: [7, 1, 1], args: vec![array(&[3, 9])], ..Launch::default() };
        let all = candidates(&launch).concat();
        let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        // Rows 16 apart would need more than 27 elements.
        let expected = ["rows 1 apart", "rows 8 apart", "1 shorter", "8 shorter", "gaps of 1", "gaps of 8"];
        assert_eq!(names, expected);
        assert_eq!(shown(&all[0].1), (vec![3, 9], Some(vec![1, 1])));
        assert_eq!((all[0].1.grid, all[2].1.grid), ([1; 3], [7, 1, 1]));
        assert_eq!(shown(&all[2].1), (vec![2, 8], None));
        let kept = &all[2].1.args[0].arrays()[0].array.data;
        let kept: Vec<u32> = kept.chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect();
        assert_eq!(kept, [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16]);
        let gaps = &all[5].1.args[0].arrays()[0];
        assert_eq!(
            (&gaps.array.shape, gaps.passed_extents(), gaps.passed_strides()),
            (&vec![3, 9], vec![3, 1], vec![9, 1])
        );
        let left: Vec<usize> = (0..27).filter(|n| gaps.array.data[n * 4..][..4] != [0; 4]).collect();
        // The first element is zero in any case.
        assert_eq!(left, [9, 18]);
        assert!(candidates(&Launch { args: vec![array(&[1])], ..Launch::default() }).concat().is_empty());
    }
}
