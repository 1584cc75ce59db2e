//! Functions that the driver provides: `vprintf`, `__assertfail`, `malloc`, `free`.

use super::access::MemoryAccess;
use crate::exec::state::error::SimErrorKind;
use crate::exec::state::lanes::{Lanes64, lanes};
use crate::exec::state::location::Location;
use crate::exec::state::machine::{Fail, Machine};
use crate::exec::state::program::DArg;
use crate::exec::state::warp::Warp;
use crate::ir::Space;

/// Output beyond this size, in bytes, is reported as an error.
const MAX_OUTPUT: usize = 64 << 20;

/// Calls a function without a body, by name.
pub(crate) fn call(
    m: &mut Machine<'_>,
    w: &mut Warp,
    frame: u32,
    name: &str,
    results: &[DArg],
    arguments: &[DArg],
    mask: u32,
) -> Result<(), Fail> {
    let values: Vec<Lanes64> = arguments.iter().map(|a| read_argument(w, frame, a)).collect();
    let value = |i: usize, lane: usize| values.get(i).map_or(0, |v| v[lane]);
    let mut out = [0u64; 32];
    match name {
        "vprintf" => {
            for lane in lanes(mask) {
                let text = format_printf(m, w, lane, value(0, lane), value(1, lane))?;
                out[lane] = text.1;
                m.output.push_str(&text.0);
                if m.output.len() > MAX_OUTPUT {
                    return Err(Fail::at(SimErrorKind::Call("more than 64 MiB of printed text".into()), lane));
                }
            }
            m.mark_progress();
        }
        "__assertfail" => {
            let lane = mask.trailing_zeros() as usize;
            let kind = SimErrorKind::Assert {
                message: c_string(m, w, lane, value(0, lane))?,
                file: c_string(m, w, lane, value(1, lane))?,
                line: value(2, lane) as u32,
                function: c_string(m, w, lane, value(3, lane))?,
            };
            return Err(Fail::at(kind, lane));
        }
        "malloc" => {
            for lane in lanes(mask) {
                let bytes = value(0, lane);
                let used: u64 = m.heap.iter().filter_map(|a| m.mem.allocation(*a)).map(|a| a.bytes.len() as u64).sum();
                out[lane] = if bytes == 0 || used.saturating_add(bytes) > m.config.heap_bytes {
                    0
                } else {
                    let address = m.mem.allocate(bytes, 16);
                    m.heap.push(address);
                    address
                };
            }
        }
        "free" => {
            for lane in lanes(mask) {
                let address = value(0, lane);
                if address == 0 {
                    continue;
                }
                match m.heap.iter().position(|a| *a == address) {
                    Some(i) => {
                        m.heap.swap_remove(i);
                        m.mem.remove(address);
                    }
                    None => {
                        let what = format!("free of {address:#x}, which malloc did not return");
                        return Err(Fail::at(SimErrorKind::Call(what), lane));
                    }
                }
            }
        }
        _ => return Err(SimErrorKind::Call(format!("function '{name}' has no body in this module")).into()),
    }
    if let Some(dst) = results.first() {
        match dst {
            DArg::Local(offset) => {
                let at = w.frames[frame as usize].local.wrapping_add(*offset) as usize;
                let n = if name == "malloc" { 8 } else { 4 };
                for lane in lanes(mask) {
                    // The variable was allocated with the frame, so the write cannot fail.
                    let _ = w.local[lane].write(at, &out[lane].to_le_bytes()[..n]);
                }
            }
            reg => w.set64(frame, reg, &out, mask),
        }
    }
    Ok(())
}

fn read_argument(w: &Warp, frame: u32, arg: &DArg) -> Lanes64 {
    match arg {
        DArg::Local(offset) => {
            let at = w.frames[frame as usize].local.wrapping_add(*offset) as usize;
            std::array::from_fn(|lane| {
                let mut raw = [0u8; 8];
                // A 32-bit argument at the end of the frame is followed by fewer than four bytes.
                if w.local[lane].read(at, &mut raw, false).is_err() {
                    let mut half = [0u8; 4];
                    let _ = w.local[lane].read(at, &mut half, false);
                    raw[..4].copy_from_slice(&half);
                }
                u64::from_le_bytes(raw)
            })
        }
        other => w.src64(frame, other),
    }
}

fn resolve(m: &Machine<'_>, w: &Warp, lane: usize, address: u64) -> Result<Location, Fail> {
    m.resolve(w.cta, Space::Generic, address).map_err(|e| Fail::at(e, lane))
}

fn read(m: &Machine<'_>, w: &Warp, lane: usize, address: u64, out: &mut [u8]) -> Result<(), Fail> {
    let location = resolve(m, w, lane, address)?;
    let bytes = out.len() as u32;
    m.read_location(w, lane, location, out).map_err(|f| Fail::at(m.fault(f, "load", location, bytes), lane))
}

/// Reads a zero-terminated string of at most 64 KiB.
fn c_bytes(m: &Machine<'_>, w: &Warp, lane: usize, mut address: u64) -> Result<Vec<u8>, Fail> {
    let mut out = Vec::new();
    while out.len() < 1 << 16 {
        let mut byte = [0u8];
        read(m, w, lane, address, &mut byte)?;
        if byte[0] == 0 {
            break;
        }
        out.push(byte[0]);
        address += 1;
    }
    Ok(out)
}

fn c_string(m: &Machine<'_>, w: &Warp, lane: usize, address: u64) -> Result<String, Fail> {
    Ok(String::from_utf8_lossy(&c_bytes(m, w, lane, address)?).into_owned())
}

/// One conversion specification.
#[derive(Default)]
struct Conversion {
    minus: bool,
    plus: bool,
    space: bool,
    hash: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// Width of an integer argument in bytes.
    bytes: usize,
}

/// Formats like C's `printf`. Arguments are packed with their natural alignment: 4 bytes for int, 8 for double, long
/// long and pointers. Returns the text and the number of arguments.
fn format_printf(m: &Machine<'_>, w: &Warp, lane: usize, format: u64, args: u64) -> Result<(String, u64), Fail> {
    let format = c_bytes(m, w, lane, format)?;
    let mut out = Vec::new();
    let mut offset = 0u64;
    let mut count = 0u64;
    let take = |offset: &mut u64, bytes: u64| -> Result<u64, Fail> {
        *offset = offset.div_ceil(bytes) * bytes;
        let mut raw = [0u8; 8];
        read(m, w, lane, args.wrapping_add(*offset), &mut raw[..bytes as usize])?;
        *offset += bytes;
        Ok(u64::from_le_bytes(raw))
    };
    let mut i = 0;
    while i < format.len() {
        if format[i] != b'%' {
            out.push(format[i]);
            i += 1;
            continue;
        }
        let start = i;
        i += 1;
        let mut spec = Conversion { bytes: 4, ..Conversion::default() };
        while let Some(c) = format.get(i) {
            match c {
                b'-' => spec.minus = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.hash = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            i += 1;
        }
        let number = |i: &mut usize, offset: &mut u64, count: &mut u64| -> Result<Option<i64>, Fail> {
            if format.get(*i) == Some(&b'*') {
                *i += 1;
                *count += 1;
                return Ok(Some(i64::from(take(offset, 4)? as i32)));
            }
            let mut value = None;
            while let Some(d) = format.get(*i).filter(|d| d.is_ascii_digit()) {
                value = Some(value.unwrap_or(0i64).saturating_mul(10).saturating_add(i64::from(d - b'0')).min(4096));
                *i += 1;
            }
            Ok(value)
        };
        if let Some(width) = number(&mut i, &mut offset, &mut count)? {
            spec.minus |= width < 0;
            spec.width = width.unsigned_abs().min(4096) as usize;
        }
        if format.get(i) == Some(&b'.') {
            i += 1;
            spec.precision = Some(number(&mut i, &mut offset, &mut count)?.unwrap_or(0).clamp(0, 4096) as usize);
        }
        let mut short = 32;
        while let Some(c) = format.get(i) {
            match c {
                b'l' | b'j' | b'z' | b't' | b'q' => spec.bytes = 8,
                b'h' => short /= 2,
                b'L' => {}
                _ => break,
            }
            i += 1;
        }
        let Some(conversion) = format.get(i).copied() else {
            out.extend_from_slice(&format[start..]);
            break;
        };
        i += 1;
        let text = match conversion {
            b'%' => {
                out.push(b'%');
                continue;
            }
            b'd' | b'i' => {
                let raw = take(&mut offset, spec.bytes as u64)?;
                let v = match (spec.bytes, short) {
                    (8, _) => raw as i64,
                    (_, 16) => i64::from(raw as i16),
                    (_, 8) => i64::from(raw as i8),
                    _ => i64::from(raw as i32),
                };
                integer(&spec, v < 0, v.unsigned_abs().to_string(), "")
            }
            b'u' | b'x' | b'X' | b'o' => {
                let raw = take(&mut offset, spec.bytes as u64)?;
                let v = if spec.bytes == 8 { raw } else { raw & (u64::MAX >> (64 - short)) };
                let (digits, prefix) = match conversion {
                    b'u' => (v.to_string(), ""),
                    b'x' => (format!("{v:x}"), if spec.hash && v != 0 { "0x" } else { "" }),
                    b'X' => (format!("{v:X}"), if spec.hash && v != 0 { "0X" } else { "" }),
                    _ => (format!("{v:o}"), if spec.hash { "0" } else { "" }),
                };
                integer(&Conversion { plus: false, space: false, ..spec }, false, digits, prefix)
            }
            b'c' => {
                let v = take(&mut offset, 4)? as u8;
                pad(&spec, vec![v])
            }
            b'p' => {
                let v = take(&mut offset, 8)?;
                pad(&spec, format!("0x{v:x}").into_bytes())
            }
            b's' => {
                let at = take(&mut offset, 8)?;
                let mut s = c_bytes(m, w, lane, at)?;
                s.truncate(spec.precision.unwrap_or(usize::MAX));
                pad(&spec, s)
            }
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                let v = f64::from_bits(take(&mut offset, 8)?);
                float(&spec, conversion, v)
            }
            _ => {
                out.extend_from_slice(&format[start..i]);
                continue;
            }
        };
        count += 1;
        out.extend_from_slice(&text);
    }
    Ok((String::from_utf8_lossy(&out).into_owned(), count))
}

fn pad(spec: &Conversion, mut text: Vec<u8>) -> Vec<u8> {
    let missing = spec.width.saturating_sub(text.len());
    if spec.minus {
        text.extend(std::iter::repeat_n(b' ', missing));
        return text;
    }
    let mut out = vec![b' '; missing];
    out.append(&mut text);
    out
}

/// Pads a sign or prefix followed by digits to the field's width, with zeros between them if `zero` is set.
fn signed_field(spec: &Conversion, sign: &str, body: String, zero: bool) -> Vec<u8> {
    if zero && !spec.minus {
        let missing = spec.width.saturating_sub(sign.len() + body.len());
        return format!("{sign}{}{body}", "0".repeat(missing)).into_bytes();
    }
    pad(spec, format!("{sign}{body}").into_bytes())
}

fn sign_of(spec: &Conversion, negative: bool) -> &'static str {
    if negative {
        "-"
    } else if spec.plus {
        "+"
    } else if spec.space {
        " "
    } else {
        ""
    }
}

fn integer(spec: &Conversion, negative: bool, mut digits: String, prefix: &str) -> Vec<u8> {
    if let Some(p) = spec.precision {
        if p == 0 && digits == "0" {
            digits.clear();
        }
        digits = format!("{}{digits}", "0".repeat(p.saturating_sub(digits.len())));
    }
    let sign = format!("{}{prefix}", sign_of(spec, negative));
    signed_field(spec, &sign, digits, spec.zero && spec.precision.is_none())
}

fn float(spec: &Conversion, conversion: u8, v: f64) -> Vec<u8> {
    let upper = conversion.is_ascii_uppercase();
    let sign = sign_of(spec, v.is_sign_negative());
    let a = v.abs();
    if !v.is_finite() {
        let text = if v.is_nan() { "nan" } else { "inf" };
        let text = if upper { text.to_uppercase() } else { text.to_string() };
        return signed_field(spec, sign, text, false);
    }
    let precision = spec.precision.unwrap_or(6);
    let body = match conversion.to_ascii_lowercase() {
        b'f' => format!("{a:.precision$}"),
        b'e' => exponent(a, precision),
        b'a' => hexadecimal(a, spec.precision),
        _ => general(a, precision.max(1), spec.hash),
    };
    let body = if upper { body.to_uppercase() } else { body };
    signed_field(spec, sign, body, spec.zero)
}

/// `d.ddde±dd`.
fn exponent(a: f64, precision: usize) -> String {
    let text = format!("{a:.precision$e}");
    let (mantissa, exp) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = match exp.strip_prefix('-') {
        Some(d) => ('-', d),
        None => ('+', exp),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// `%g`: the shorter of the two notations, without trailing zeros.
fn general(a: f64, precision: usize, keep_zeros: bool) -> String {
    let scientific = exponent(a, precision - 1);
    let exp: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let text = if exp < -4 || exp >= precision as i32 {
        scientific
    } else {
        format!("{a:.*}", (precision as i32 - 1 - exp).max(0) as usize)
    };
    if keep_zeros {
        return text;
    }
    let (mantissa, tail) = match text.split_once('e') {
        Some((m, e)) => (m.to_string(), format!("e{e}")),
        None => (text, String::new()),
    };
    let mantissa = if mantissa.contains('.') {
        mantissa.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        mantissa
    };
    mantissa + &tail
}

/// `0xh.hhhp±d`.
fn hexadecimal(a: f64, precision: Option<usize>) -> String {
    let bits = a.to_bits();
    let biased = (bits >> 52 & 0x7ff) as i64;
    let mut fraction = bits & ((1 << 52) - 1);
    let mut lead = u64::from(biased != 0);
    let exp = if a == 0.0 { 0 } else { biased.max(1) - 1023 };
    let mut digits = 13usize;
    if let Some(p) = precision.filter(|p| *p < 13) {
        // Rounds to nearest even at the last hexadecimal digit kept.
        let drop = 4 * (13 - p);
        let whole = lead << 52 | fraction;
        let half = 1u64 << (drop - 1);
        let rest = whole & ((1 << drop) - 1);
        let mut kept = whole >> drop;
        if rest > half || rest == half && kept & 1 == 1 {
            kept += 1;
        }
        let whole = kept << drop;
        lead = whole >> 52;
        fraction = whole & ((1 << 52) - 1);
        digits = p;
    }
    let mut text = format!("{fraction:013x}");
    text.truncate(digits);
    match precision {
        None => text = text.trim_end_matches('0').to_string(),
        Some(p) => text.push_str(&"0".repeat(p.saturating_sub(13))),
    }
    let point = if text.is_empty() { "" } else { "." };
    format!("0x{lead}{point}{text}p{exp:+}")
}
