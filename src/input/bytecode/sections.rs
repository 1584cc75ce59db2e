//! Offset tables, and the two sections that consist of one table: strings and public constants.
//!
//! ```text
//! VarInt n | padding to the width | n offsets (u32 or u64, little endian, into the data) | data
//! ```
//!
//! Record `i` extends from its offset to that of the next record, the last one to the end of the payload. An empty
//! table is just the padded count.

use crate::error::{ErrorKind, Field, ReadError, ReadResult, SectionId};
use crate::module::Blobs;
use crate::varint::{Cursor, Encode};

/// An offset table with checked offsets: they start at 0, ascend and stay within the data.
pub(crate) struct Table<'a> {
    offsets: &'a [u8],
    width: usize,
    data: Cursor<'a>,
}

/// Names of a table's fields, for diagnostics.
pub(crate) struct TableFields {
    pub section: SectionId,
    pub width: usize,
    pub count: Field,
    pub offsets: Field,
}

pub(crate) const STRINGS: TableFields =
    TableFields { section: SectionId::String, width: 4, count: Field::StringCount, offsets: Field::StringOffsets };
pub(crate) const TYPES: TableFields =
    TableFields { section: SectionId::Type, width: 4, count: Field::TypeCount, offsets: Field::TypeOffsets };
pub(crate) const CONSTANTS: TableFields = TableFields {
    section: SectionId::Constant,
    width: 8,
    count: Field::ConstantCount,
    offsets: Field::ConstantOffsets,
};
pub(crate) const DEBUG_ATTRS: TableFields = TableFields {
    section: SectionId::Debug,
    width: 4,
    count: Field::DebugAttributeCount,
    offsets: Field::DebugAttributeOffsets,
};

impl<'a> Table<'a> {
    /// Reads the table that fills the rest of `cur`. `base` is the start of the payload, to which padding is
    /// relative.
    pub fn read(cur: &mut Cursor<'a>, base: usize, fields: &TableFields) -> ReadResult<Table<'a>> {
        let n = cur.count(fields.width, fields.count)?;
        if n == 0 {
            if !cur.is_empty() {
                cur.align(fields.width, base, fields.offsets)?;
            }
            expect_end(cur, fields.section.name())?;
            return Ok(Table { offsets: &[], width: fields.width, data: *cur });
        }
        cur.align(fields.width, base, fields.offsets)?;
        let at = cur.pos();
        let offsets = cur.bytes(n * fields.width, fields.offsets)?;
        let table = Table { offsets, width: fields.width, data: cur.split(cur.left(), fields.offsets)? };
        let size = table.data.left();
        let mut previous = 0;
        for i in 0..n {
            let start = table.start(i);
            let fail = |kind| Err(ReadError::new(at + i * fields.width, kind));
            if (i == 0 && start != 0) || start > size as u64 {
                return fail(ErrorKind::TableBounds { section: fields.section, start, size, index: i });
            }
            if start < previous {
                return fail(ErrorKind::TableOrder {
                    section: fields.section,
                    start: previous,
                    end: start,
                    index: i - 1,
                });
            }
            previous = start;
        }
        Ok(table)
    }

    pub fn len(&self) -> usize {
        self.offsets.len() / self.width
    }

    /// Number of bytes of all records together.
    pub fn data_len(&self) -> usize {
        self.data.left()
    }

    fn start(&self, i: usize) -> u64 {
        let raw = &self.offsets[i * self.width..][..self.width];
        raw.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b))
    }

    /// The window of record `i`.
    pub fn record(&self, i: usize) -> Cursor<'a> {
        let base = self.data.pos();
        let end = if i + 1 < self.len() { base + self.start(i + 1) as usize } else { self.data.end() };
        self.data.window(base + self.start(i) as usize, end)
    }
}

/// Fails unless all of the window was consumed.
pub(crate) fn expect_end(cur: &Cursor, what: &'static str) -> ReadResult<()> {
    if cur.is_empty() { Ok(()) } else { cur.fail(ErrorKind::TrailingBytes { what, count: cur.left() }) }
}

pub(crate) fn read_strings(cur: &mut Cursor) -> ReadResult<Blobs> {
    let table = Table::read(cur, cur.pos(), &STRINGS)?;
    let mut blobs = Blobs::with_capacity(table.len(), table.data_len());
    for i in 0..table.len() {
        let mut record = table.record(i);
        blobs.push(record.bytes(record.left(), Field::StringBytes)?);
    }
    Ok(blobs)
}

/// Reads the constants of the public container: each blob is preceded by its length as a VarInt.
pub(crate) fn read_constants(cur: &mut Cursor) -> ReadResult<Blobs> {
    let table = Table::read(cur, cur.pos(), &CONSTANTS)?;
    let mut blobs = Blobs::with_capacity(table.len(), table.data_len().saturating_sub(table.len()));
    for i in 0..table.len() {
        let mut record = table.record(i);
        let at = record.pos();
        let size = record.varint(Field::ConstantSize)?;
        if size > record.left() as u64 {
            return Err(ReadError::new(at, Field::ConstantBytes.into()));
        }
        blobs.push(record.bytes(size as usize, Field::ConstantBytes)?);
        expect_end(&record, "constant")?;
    }
    Ok(blobs)
}

/// Encodes a table; `out` must be empty or aligned to the width.
pub(crate) fn put_table(out: &mut Vec<u8>, width: usize, padding: u8, records: &Blobs) {
    out.put_varint(records.len() as u64);
    out.put_padding(width, padding);
    let mut offset = 0u64;
    for record in records.iter() {
        out.extend(&offset.to_le_bytes()[..width]);
        offset += record.len() as u64;
    }
    for record in records.iter() {
        out.extend_from_slice(record);
    }
}
