//! Hand-written files whose parts can each be replaced by an invalid one.

use tile_bytecode::varint::Encode;

/// The parts of a small valid module with one entry `@k(tile<i32>)`.
#[derive(Clone)]
pub struct Pieces {
    pub strings: Vec<Vec<u8>>,
    pub types: Vec<Vec<u8>>,
    pub constants: Vec<Vec<u8>>,
    pub globals: Option<Vec<u8>>,
    pub debug: Option<Vec<u8>>,
    pub producer: Option<Vec<u8>>,
    /// Records of the Function section, without their count.
    pub functions: Vec<Vec<u8>>,
}

/// Indices of the types of [`Pieces::new`].
pub mod ty {
    pub const I32: u8 = 0;
    pub const TILE: u8 = 1;
    pub const FUNC: u8 = 2;
    pub const TILE8: u8 = 3;
    pub const F32: u8 = 4;
    pub const TOKEN: u8 = 5;
    pub const I1: u8 = 6;
    pub const PTR: u8 = 7;
    pub const TILE_I1X16: u8 = 8;
    pub const VIEW: u8 = 9;
    pub const COUNT: u8 = 10;
}

pub fn i64s(v: &[i64]) -> Vec<u8> {
    let mut out = Vec::new();
    out.put_i64s(v);
    out
}

pub fn i32s(v: &[i32]) -> Vec<u8> {
    let mut out = Vec::new();
    out.put_i32s(v);
    out
}

/// A function record.
pub fn function(name: u8, signature: u8, flags: u8, location: u8, hints: &[u8], body: &[u8]) -> Vec<u8> {
    let mut out = vec![name, signature, flags, location];
    out.extend(hints);
    out.put_varint(body.len() as u64);
    out.extend(body);
    out
}

/// An entry `@k` with the given body.
pub fn entry(body: &[u8]) -> Vec<u8> {
    function(0, ty::FUNC, 2, 0, &[], body)
}

/// A specification body: one block with the argument and the given operations.
pub fn spec_block(ops: &[&[u8]]) -> Vec<u8> {
    let mut out = vec![1, 1, ty::TILE, ops.len() as u8];
    out.extend(ops.concat());
    out
}

pub const RETURN: &[u8] = &[0x5C, 0, 0];
pub const SPEC_RETURN: &[u8] = &[0x5C, 0x7F, 0, 0];

impl Pieces {
    pub fn new() -> Self {
        Pieces {
            strings: ["k", "a", "b", ""].iter().map(|s| s.as_bytes().to_vec()).collect(),
            types: vec![
                vec![3],
                vec![13, ty::I32, 0],
                vec![16, 1, ty::TILE, 0],
                [&[13, ty::I32][..], &i64s(&[8])].concat(),
                vec![7],
                vec![17],
                vec![0],
                vec![12, ty::I32],
                [&[13, ty::I1][..], &i64s(&[16])].concat(),
                [&[14, ty::F32][..], &i64s(&[64]), &i64s(&[1])].concat(),
            ],
            constants: Vec::new(),
            globals: None,
            debug: None,
            producer: None,
            functions: vec![entry(RETURN)],
        }
    }

    /// The parts with a specification body in the only function.
    pub fn spec_new() -> Self {
        Pieces { functions: vec![entry(&spec_block(&[SPEC_RETURN]))], ..Self::new() }
    }

    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// A public module whose entry has `body` before its `return`.
    pub fn body(body: &[u8]) -> Self {
        Self::new().with(|p| p.functions = vec![entry(&[body, RETURN].concat())])
    }

    /// A public module whose entry has exactly `body`.
    pub fn raw_body(body: &[u8]) -> Self {
        Self::new().with(|p| p.functions = vec![entry(body)])
    }

    /// A specification module with these operations before `return`, and these constants.
    pub fn spec_body(ops: &[&[u8]], constants: &[&[u8]]) -> Self {
        let ops: Vec<&[u8]> = ops.iter().copied().chain([SPEC_RETURN]).collect();
        Self::new().with(|p| {
            p.functions = vec![entry(&spec_block(&ops))];
            p.constants = constants.iter().map(|c| c.to_vec()).collect();
        })
    }

    /// Sections in the reference order: identifier, alignment, payload.
    pub fn sections(&self, padding: u8) -> Vec<(u8, usize, Vec<u8>)> {
        let mut functions = vec![self.functions.len() as u8];
        functions.extend(self.functions.concat());
        let mut sections = Vec::new();
        sections.extend(self.globals.clone().map(|g| (6, 1, g)));
        sections.push((2, 8, functions));
        if !self.constants.is_empty() {
            sections.push((4, 8, table(8, padding, &self.constants)));
        }
        sections.extend(self.debug.clone().map(|d| (3, 8, d)));
        // The padding byte identifies the container.
        let types: Vec<Vec<u8>> = match padding {
            0xCF => self.types.iter().map(|t| spec_type(t)).collect(),
            _ => self.types.clone(),
        };
        sections.push((5, 4, table(4, padding, &types)));
        sections.extend(self.producer.clone().map(|p| (7, 1, p)));
        sections.push((1, 4, table(4, padding, &self.strings)));
        sections
    }

    pub fn public(&self, minor: u8) -> Vec<u8> {
        public_file(minor, &self.sections(0xCB))
    }

    pub fn spec(&self) -> Vec<u8> {
        spec_file(&self.sections(0xCF))
    }
}

/// Converts a record of the Type section to the specification container, where sizes and strides are signed LEB128.
fn spec_type(record: &[u8]) -> Vec<u8> {
    let lists = match record[0] {
        13 => 1,
        14 => 2,
        _ => return record.to_vec(),
    };
    let (mut out, mut rest) = (record[..2].to_vec(), &record[2..]);
    for _ in 0..lists {
        // The counts here fit in a byte.
        let (words, after) = rest[1..].split_at(8 * usize::from(rest[0]));
        out.push(rest[0]);
        words.chunks_exact(8).for_each(|w| out.put_sleb(i64::from_le_bytes(w.try_into().expect("chunks of eight"))));
        rest = after;
    }
    out.extend(rest);
    out
}

pub fn table(width: usize, padding: u8, records: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    out.put_varint(records.len() as u64);
    out.put_padding(width, padding);
    let mut offset = 0u64;
    for r in records {
        out.extend(&offset.to_le_bytes()[..width]);
        offset += r.len() as u64;
    }
    out.extend(records.concat());
    out
}

/// A table with the given offsets.
pub fn table_with_offsets(width: usize, offsets: &[u64], data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    out.put_varint(offsets.len() as u64);
    out.put_padding(width, 0xCB);
    offsets.iter().for_each(|o| out.extend(&o.to_le_bytes()[..width]));
    out.extend(data);
    out
}

pub fn public_header(minor: u8) -> Vec<u8> {
    [&b"\x7FTileIR\0"[..], &[13, minor, 0, 0]].concat()
}

/// A public file. Alignment 1 omits the alignment from the section's header.
pub fn public_file(minor: u8, sections: &[(u8, usize, Vec<u8>)]) -> Vec<u8> {
    let mut out = public_header(minor);
    for (id, align, payload) in sections {
        out.push(id | if *align > 1 { 0x80 } else { 0 });
        out.put_varint(payload.len() as u64);
        if *align > 1 {
            out.put_varint(*align as u64);
            out.put_padding(*align, 0xCB);
        }
        out.extend(payload);
    }
    out.push(0);
    out
}

pub const SPEC_MAGIC: &[u8] = b"\x06\x03\x80Tile\0";

/// Magic, version 13.1.0 and the dialect list.
pub fn spec_header() -> Vec<u8> {
    [SPEC_MAGIC, &[13, 1, 0, 1, 9], b"cuda_tile", &[0]].concat()
}

pub struct Descriptor {
    pub kind: u8,
    pub offset: u64,
    pub length: u64,
    pub alignment: u32,
}

impl Descriptor {
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = vec![self.kind, 0, 0, 0];
        out.extend(self.offset.to_le_bytes());
        out.extend(self.length.to_le_bytes());
        out.extend(self.alignment.to_le_bytes());
        out
    }
}

pub fn spec_file(sections: &[(u8, usize, Vec<u8>)]) -> Vec<u8> {
    spec_file_with(sections, |_| {})
}

/// A specification file. `change` modifies the descriptors before they are written.
pub fn spec_file_with(sections: &[(u8, usize, Vec<u8>)], change: impl FnOnce(&mut Vec<Descriptor>)) -> Vec<u8> {
    let mut out = spec_header();
    out.put_varint(sections.len() as u64 + 1);
    let mut at = out.len() + 24 * (sections.len() + 1);
    let mut bodies = Vec::new();
    let mut descriptors = Vec::new();
    for (kind, align, payload) in sections {
        let start = at.next_multiple_of(*align);
        bodies.resize(bodies.len() + start - at, 0xCF);
        bodies.extend(payload);
        descriptors.push(Descriptor {
            kind: *kind,
            offset: start as u64,
            length: payload.len() as u64,
            alignment: *align as u32,
        });
        at = start + payload.len();
    }
    bodies.push(0);
    descriptors.push(Descriptor { kind: 0, offset: at as u64, length: 1, alignment: 0 });
    change(&mut descriptors);
    descriptors.iter().for_each(|d| out.extend(d.bytes()));
    out.extend(bodies);
    out
}
