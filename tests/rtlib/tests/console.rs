//! The prints of the library on the host, where a test receives the format and the buffer of each.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};

use tile_rtlib_tests::runtime::{print_element, print_failures, set_print};

thread_local! {
    static PRINTED: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Prints as the driver does, for the conversions of these tests.
extern "C" fn print(format: *const c_char, arguments: *const c_void) {
    // SAFETY: the library passes a string of this file.
    let format = unsafe { CStr::from_ptr(format) }.to_str().expect("ASCII");
    let (mut rest, mut at, mut out) = (format, 0, String::new());
    while let Some((text, after)) = rest.split_once('%') {
        out += text;
        let mut word = |bytes: usize| {
            let place = at / bytes * bytes + if at % bytes == 0 { 0 } else { bytes };
            at = place + bytes;
            // SAFETY: the buffers of these tests have room for the arguments of their formats.
            unsafe { arguments.cast::<u8>().add(place) }
        };
        if let Some(after) = after.strip_prefix("lld") {
            // SAFETY: as above; the place is a multiple of the size.
            out += &unsafe { *word(8).cast::<i64>() }.to_string();
            rest = after;
        } else if let Some(after) = after.strip_prefix('s') {
            // SAFETY: as above; the argument is a string of the test.
            let text = unsafe { CStr::from_ptr(*word(8).cast::<*const c_char>()) };
            out += text.to_str().expect("ASCII");
            rest = after;
        } else {
            // SAFETY: as above.
            let v = unsafe { *word(4).cast::<u32>() };
            out += &if after.starts_with('d') { (v as i32).to_string() } else { v.to_string() };
            rest = &after[1..];
        }
    }
    PRINTED.with_borrow_mut(|all| *all += &(out + rest));
}

fn printed(run: impl FnOnce(u64)) -> String {
    set_print(print);
    let buffer = [0u64; 32];
    run(buffer.as_ptr() as u64);
    PRINTED.take()
}

fn address<T>(of: &[T]) -> u64 {
    of.as_ptr() as u64
}

/// The elements of a tile of 2 x 3 x 2, with the brackets around them.
#[test]
fn elements_are_printed_with_brackets() {
    let stride = 8;
    let texts = b", \0.....], [\0...]], [[\0.[[[\0....";
    let closed = [2u32, 6];
    let all = |format: &CStr, value: fn(u32) -> u64| {
        printed(|buffer| {
            for i in 0..12 {
                print_element(
                    address(format.to_bytes_with_nul()),
                    buffer,
                    address(texts),
                    stride,
                    address(&closed),
                    3,
                    i,
                    value(i),
                );
            }
        })
    };
    let expected = "[[[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9], [10, 11";
    assert_eq!(all(c"%s%d", u64::from), expected);
    assert_eq!(all(c"%s%lld", |i| u64::from(i) << 40 >> 40), expected);
    // A narrow argument is in the low bytes.
    assert_eq!(all(c"%s%d", |i| u64::from(i) | 7 << 32), expected);
}

#[test]
fn a_row_has_one_pair_of_brackets() {
    let texts = b", \0[\0\0";
    let out = printed(|buffer| {
        for i in 0..4 {
            let format = c"%s%d".to_bytes_with_nul();
            print_element(address(format), buffer, address(texts), 3, address::<u32>(&[]), 1, i, u64::from(i * i));
        }
    });
    assert_eq!(out, "[0, 1, 4, 9");
}

/// Bits 0, 3 and 31 of a word of registers from 32 on, in a tile of 8 x 4 x 64.
#[test]
fn failures_are_printed_with_coordinates() {
    let bases = [1u32, 64, 128, 256, 512, 1024];
    let fields = [8u32, 3, 6, 2, 0, 6];
    let format = c"at [%u, %u, %u]\n".to_bytes_with_nul();
    let thread = 0b10110;
    let word = 1 | 1 << 3 | 1 << 31;
    let out = printed(|buffer| {
        print_failures(address(format), buffer, word, 32, thread, address(&bases), address(&fields), 3);
    });
    let expected: String = [0u32, 3, 31]
        .into_iter()
        .map(|bit| {
            let register = 32 + bit;
            let element = (0..6).filter(|i| register >> i & 1 == 1).fold(thread, |e, i| e ^ bases[i]);
            format!("at [{}, {}, {}]\n", element >> 8 & 7, element >> 6 & 3, element & 63)
        })
        .collect();
    assert_eq!(out, expected);
    assert_eq!(printed(|buffer| print_failures(address(format), buffer, 0, 0, 0, 0, 0, 3)), "");
}
