//! Files that carry programs to a device on another machine and results back.
//!
//! A *piece* is a file of compiled programs. Each entry has a 32-bit length, a JSON header of that length, and then
//! the contents of each buffer and each image. A *results* file is a sequence of zlib blocks, each preceded by its
//! 32-bit length. A block contains a JSON header that ends with a newline, followed by the buffers that changed. Both
//! kinds of files can be appended to, and a truncated file keeps all complete entries. Numbers are little-endian.
//!
//! The expected results are not part of the files. A program is identified by its seed or by the name of a written
//! test and is generated again where results are compared. A digest detects a program that differs.

use crate::case::{Argument, Case, Outcome};
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};

/// A program as it is sent to a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExportedProgram {
    pub name: String,
    pub digest: String,
    pub entry: String,
    pub grid: [u32; 3],
    pub arguments: Vec<Slot>,
    pub images: Vec<Image>,
}

/// An argument of the entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Slot {
    /// The address of a buffer with this number of bytes.
    Buffer(usize),
    /// A value, as its bytes in hexadecimal.
    Value(String),
}

/// A program compiled in one configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Image {
    pub configuration: String,
    /// Extents of a CTA in threads.
    pub threads: [u32; 3],
    /// Whether the program can print.
    pub prints: bool,
    /// Length of the image.
    pub bytes: usize,
}

/// The result of running one image on a device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceResult {
    pub name: String,
    pub configuration: String,
    pub digest: String,
    /// For each buffer, its length in bytes if it changed.
    #[serde(default)]
    pub buffers: Vec<Option<usize>>,
    #[serde(default)]
    pub printed: String,
    /// The reason for which there are no results.
    #[serde(default)]
    pub error: Option<String>,
}

/// Identifies a program: 64 bits of FNV-1a over everything that a device gets except the image.
pub fn digest(case: &Case, text: &str) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for b in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            hash = (hash ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    add(text.as_bytes());
    case.grid.iter().for_each(|n| add(&n.to_le_bytes()));
    for argument in case.arguments() {
        match argument {
            Argument::Buffer(bytes) => add(bytes),
            Argument::Value(bytes) => add(&bytes),
        }
    }
    format!("{hash:016x}")
}

/// Appends a program to a piece.
pub fn write_program(
    out: &mut impl Write,
    name: &str,
    case: &Case,
    text: &str,
    images: &[(Image, Vec<u8>)],
) -> std::io::Result<()> {
    let mut arguments = vec![];
    let mut payload = vec![];
    for argument in case.arguments() {
        arguments.push(match argument {
            Argument::Buffer(bytes) => {
                payload.extend_from_slice(bytes);
                Slot::Buffer(bytes.len())
            }
            Argument::Value(bytes) => Slot::Value(bytes.iter().map(|b| format!("{b:02x}")).collect()),
        });
    }
    images.iter().for_each(|(_, bytes)| payload.extend_from_slice(bytes));
    let program = ExportedProgram {
        name: name.into(),
        digest: digest(case, text),
        entry: case.entry().into(),
        grid: case.grid,
        arguments,
        images: images.iter().map(|(image, _)| image.clone()).collect(),
    };
    let header = serde_json::to_vec(&program)?;
    // A single write, so a process that is killed leaves a complete entry or nothing.
    let mut whole = (header.len() as u32).to_le_bytes().to_vec();
    whole.extend(header);
    whole.extend(payload);
    out.write_all(&whole)
}

/// Appends a result to a results file. `buffers` holds the contents of the buffers that changed.
pub fn write_result(out: &mut impl Write, result: &DeviceResult, buffers: &[&[u8]]) -> std::io::Result<()> {
    let mut encoder = flate2::write::ZlibEncoder::new(vec![], flate2::Compression::default());
    serde_json::to_writer(&mut encoder, result)?;
    encoder.write_all(b"\n")?;
    buffers.iter().try_for_each(|b| encoder.write_all(b))?;
    let block = encoder.finish()?;
    out.write_all(&(block.len() as u32).to_le_bytes())?;
    out.write_all(&block)
}

/// The contents of a results file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// Each result with the bytes of its buffers.
    pub all: Vec<(DeviceResult, Vec<u8>)>,
    /// Whether the file ends in the middle of a result, which is dropped.
    pub cut: bool,
}

/// Reads a results file.
pub fn read_results(file: &[u8]) -> Result<Results, String> {
    let mut all = vec![];
    let mut rest = file;
    while let Some((length, behind)) = rest.split_first_chunk::<4>() {
        let Some((block, behind)) = behind.split_at_checked(u32::from_le_bytes(*length) as usize) else { break };
        let bad = |e: &dyn std::fmt::Display| format!("result {}: {e}", all.len());
        let mut plain = vec![];
        flate2::read::ZlibDecoder::new(block).read_to_end(&mut plain).map_err(|e| bad(&e))?;
        let end = plain.iter().position(|b| *b == b'\n').ok_or_else(|| bad(&"there is no header"))?;
        let payload = plain.split_off(end + 1);
        let result: DeviceResult = serde_json::from_slice(&plain).map_err(|e| bad(&e))?;
        if result.buffers.iter().flatten().sum::<usize>() != payload.len() {
            return Err(bad(&"its buffers do not have the declared lengths"));
        }
        all.push((result, payload));
        rest = behind;
    }
    Ok(Results { all, cut: !rest.is_empty() })
}

impl DeviceResult {
    /// Converts the result to an outcome of `case`. Returns an error if the device reported one or the buffers do not
    /// match.
    pub fn outcome(&self, payload: &[u8], case: &Case) -> Result<Outcome, String> {
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let arguments = case.arguments();
        let before: Vec<&[u8]> = arguments
            .iter()
            .filter_map(|a| match a {
                Argument::Buffer(bytes) => Some(*bytes),
                Argument::Value(_) => None,
            })
            .collect();
        if before.len() != self.buffers.len() {
            return Err(format!("received {} buffers, expected {}", self.buffers.len(), before.len()));
        }
        let mut rest = payload;
        let mut buffers = vec![];
        for (i, (before, changed)) in before.into_iter().zip(&self.buffers).enumerate() {
            let bytes = match changed {
                None => before,
                Some(length) if *length == before.len() => {
                    rest.split_off(..*length).ok_or("the buffers are truncated")?
                }
                Some(length) => {
                    return Err(format!("received {length} bytes of buffer {i}, expected {}", before.len()));
                }
            };
            buffers.push(bytes.to_vec());
        }
        Ok(Outcome { buffers, output: self.printed.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Parameter;
    use tile_interp::types::Number;

    fn case() -> Case {
        Case {
            program: crate::generate::generate(1).unwrap().program,
            grid: [2, 1, 1],
            parameters: vec![
                Parameter::Buffer { number: Number::I8, bytes: vec![1, 2, 3] },
                Parameter::Scalar { number: Number::Tf32, bits: 0x1fc00 },
                Parameter::Buffer { number: Number::I16, bytes: vec![4, 5] },
            ],
        }
    }

    #[test]
    fn programs_have_their_bytes_behind_the_header() {
        let image = Image { configuration: "sm_90 -O3".into(), threads: [128, 1, 1], prints: false, bytes: 4 };
        let mut file = vec![];
        write_program(&mut file, "seed 1", &case(), "text", &[(image.clone(), b"\x7fELF".to_vec())]).unwrap();
        let (length, rest) = file.split_first_chunk::<4>().unwrap();
        let (header, payload) = rest.split_at(u32::from_le_bytes(*length) as usize);
        let program: ExportedProgram = serde_json::from_slice(header).unwrap();
        assert_eq!(program.arguments, [Slot::Buffer(3), Slot::Value("0000803f".into()), Slot::Buffer(2)]);
        assert_eq!((program.grid, program.images, program.digest.len()), ([2, 1, 1], vec![image], 16));
        assert_eq!(payload, b"\x01\x02\x03\x04\x05\x7fELF");
    }

    #[test]
    fn a_digest_depends_on_text_grid_and_arguments() {
        let plain = digest(&case(), "text");
        let mut others = vec![digest(&case(), "test")];
        others.push(digest(&Case { grid: [1, 2, 1], ..case() }, "text"));
        for i in 0..3 {
            let mut other = case();
            match &mut other.parameters[i] {
                Parameter::Buffer { bytes, .. } => bytes[0] ^= 1,
                Parameter::Scalar { bits, .. } => *bits ^= 1,
            }
            others.push(digest(&other, "text"));
        }
        assert!(others.iter().all(|d| *d != plain), "{plain} {others:?}");
        assert_eq!(plain, digest(&case(), "text"));
    }

    #[test]
    fn results_come_back_up_to_where_the_file_ends() {
        let changed = DeviceResult { buffers: vec![None, Some(2)], printed: "a\n".into(), ..DeviceResult::default() };
        let error = DeviceResult { error: Some("run: lost".into()), ..DeviceResult::default() };
        let mut file = vec![];
        write_result(&mut file, &changed, &[&[8, 9]]).unwrap();
        write_result(&mut file, &error, &[]).unwrap();
        let Results { all: found, cut } = read_results(&file).unwrap();
        assert_eq!((found.len(), cut), (2, false));
        let outcome = found[0].0.outcome(&found[0].1, &case()).unwrap();
        assert_eq!(outcome, Outcome { buffers: vec![vec![1, 2, 3], vec![8, 9]], output: "a\n".into() });
        assert_eq!(found[1].0.outcome(&found[1].1, &case()), Err("run: lost".into()));
        for end in 0..file.len() {
            let Results { all: some, cut } = read_results(&file[..end]).unwrap();
            assert!(some.len() < 2 && (cut || end == 0 || some.len() == 1), "{end}");
        }
        file[6] ^= 0x55;
        assert!(read_results(&file).is_err());
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let one = DeviceResult { buffers: vec![None], ..DeviceResult::default() };
        assert_eq!(one.outcome(&[], &case()).unwrap_err(), "received 1 buffers, expected 2");
        let long = DeviceResult { buffers: vec![None, Some(3)], ..DeviceResult::default() };
        assert_eq!(long.outcome(&[0; 3], &case()).unwrap_err(), "received 3 bytes of buffer 1, expected 2");
    }
}
