//! Every diagnostic is reported for some file.
//!
//! [`cases`] contains files with the exact report for each. `diagnostics.tsv` lists the texts that the format's
//! documents quote, each with the case that reports it or the reason why no file can.

use crate::bytes::*;
use crate::roundtrip::debug_section;
use std::collections::BTreeSet;
use tile_bytecode::varint::Encode;
use tile_bytecode::*;

struct Case {
    name: &'static str,
    data: Vec<u8>,
    strict: bool,
    /// The text without its offset.
    text: &'static str,
    class: Class,
}

const STRUCTURAL: Class = Class::Structural;
const STRING: Class = Class::Section(SectionId::String);
const FUNC: Class = Class::Section(SectionId::Func);
const TYPE: Class = Class::Section(SectionId::Type);
const CONSTANT: Class = Class::Section(SectionId::Constant);
const DEBUG: Class = Class::Section(SectionId::Debug);
const GLOBAL: Class = Class::Section(SectionId::Global);

/// An `assume` on the argument, at the end of the body, with these bytes as its predicate.
fn assume(attr: &[u8]) -> Vec<u8> {
    Pieces::raw_body(&[&[0x06, ty::TILE][..], attr].concat()).public(1)
}

/// The standard parts with a type appended to the table.
fn with_type(minor: u8, record: &[u8]) -> Vec<u8> {
    Pieces::new().with(|p| p.types.push(record.to_vec())).public(minor)
}

/// A specification file with one constant.
fn spec_constant(record: &[u8]) -> Vec<u8> {
    Pieces::spec_body(&[], &[record]).spec()
}

fn with_debug(attrs: &[&[u8]]) -> Vec<u8> {
    Pieces::new().with(|p| p.debug = Some(debug_section(&[], attrs))).public(1)
}

fn spec_debug(attrs: &[&[u8]]) -> Vec<u8> {
    Pieces::spec_new().with(|p| p.debug = Some(debug_section(&[], attrs))).spec()
}

fn section(id: u8, align: usize, payload: &[u8]) -> (u8, usize, Vec<u8>) {
    (id, align, payload.to_vec())
}

fn cut(mut data: Vec<u8>, length: usize) -> Vec<u8> {
    data.truncate(length);
    data
}

/// Replaces the payload of a section of the standard parts.
fn replace(id: u8, payload: &[u8]) -> Vec<u8> {
    let p = Pieces::new().with(|p| {
        p.constants = vec![vec![1, 0]];
        p.globals = Some(vec![0]);
        p.debug = Some(debug_section(&[], &[]));
    });
    let mut sections = p.sections(0xCB);
    sections.iter_mut().find(|s| s.0 == id).unwrap().2 = payload.to_vec();
    public_file(1, &sections)
}

/// The specification's magic and version, followed by these bytes.
fn spec_tail(tail: &[u8]) -> Vec<u8> {
    [SPEC_MAGIC, &[13, 1, 0], tail].concat()
}

fn descriptors(change: impl FnOnce(&mut Vec<Descriptor>)) -> Vec<u8> {
    spec_file_with(&Pieces::spec_new().sections(0xCF), change)
}

fn nested_arrays(levels: usize) -> Vec<u8> {
    let mut attr = [6, 1].repeat(levels);
    attr.extend([3, 1]);
    attr
}

fn nested_ifs(levels: usize) -> Vec<u8> {
    let mut body = Vec::new();
    for _ in 0..levels {
        body.extend([0x32, 0, 0, 2, 1, 0, 2]);
    }
    // Innermost first: an operation, its terminator, and the empty `else` of the enclosing `if`.
    for _ in 0..levels {
        body.extend([0x44, ty::TOKEN, 0x6D, 0, 0, 0]);
    }
    body
}

#[rustfmt::skip]
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut case = |name, class, data: Vec<u8>, text| cases.push(Case { name, data, strict: false, text, class });

    // Envelope, both containers.
    case("magic-short", STRUCTURAL, b"\x7FTil".to_vec(), "failed to read magic");
    case("magic-public", STRUCTURAL, [&b"\x7FTileIS\0"[..], &[13, 1, 0, 0]].concat(),
        "invalid magic number at position 6, got 7F 54 69 6C 65 49 53 00 expected 7F 54 69 6C 65 49 52 00");
    case("magic-specification", STRUCTURAL, b"\x06\x03\x80Tile\x0A".to_vec(),
        "invalid magic number at position 7, got 06 03 80 54 69 6C 65 0A expected 06 03 80 54 69 6C 65 00");
    case("major", STRUCTURAL, SPEC_MAGIC.to_vec(), "failed to read major");
    case("minor", STRUCTURAL, [SPEC_MAGIC, &[13]].concat(), "failed to read minor");
    case("version-patch", STRUCTURAL, [SPEC_MAGIC, &[13, 2, 5]].concat(),
        "unsupported Tile version 13.2.5, this reader supports versions [13.1, 13.1]");
    case("version-no-patch", STRUCTURAL, [SPEC_MAGIC, &[13, 2]].concat(),
        "unsupported Tile version 13.2, this reader supports versions [13.1, 13.1]");
    case("version-12", STRUCTURAL, [SPEC_MAGIC, &[12, 1, 0]].concat(),
        "unsupported Tile version 12.1.0, this reader supports versions [13.1, 13.1]");
    case("version-14", STRUCTURAL, [SPEC_MAGIC, &[14, 1, 0]].concat(),
        "unsupported Tile version 14.1.0, this reader supports versions [13.1, 13.1]");
    case("version-minor-0", STRUCTURAL, [SPEC_MAGIC, &[13, 0, 0]].concat(),
        "unsupported Tile version 13.0.0, this reader supports versions [13.1, 13.1]");
    case("version-public", STRUCTURAL, public_header(6), "unsupported Tile version 13.6.0, this reader supports versions [13.1 - 13.5]");
    case("version-only", STRUCTURAL, [SPEC_MAGIC, &[13, 1]].concat(), "failed to read number of dialects");
    case("unregistered-dialect", STRUCTURAL, spec_tail(&[1, 3, b'f', b'o', b'o', 1]), "unregistered dialect: foo");
    case("non-canonical", STRUCTURAL, [SPEC_MAGIC, &[0x8D, 0, 1, 0]].concat(), "non-canonical VarInt");
    case("varint-11-bytes", STRUCTURAL, [SPEC_MAGIC, &[0xFF; 11]].concat(), "VarInt does not fit in 64 bits");
    case("dialect-count", STRUCTURAL, spec_tail(&[0xFF, 0xFF, 3]),
        "failed to read number of dialects: 65535 records cannot fit in the remaining 0 bytes");
    case("section-count", STRUCTURAL, [spec_header(), vec![0x7F]].concat(),
        "failed to read number of sections: 127 records cannot fit in the remaining 0 bytes");
    case("end-aligned-spec", STRUCTURAL, descriptors(|d| d.last_mut().unwrap().alignment = 4), "end section should not have alignment flag set");
    case("end-not-last-spec", STRUCTURAL, descriptors(|d| d.rotate_right(1)), "end section is not the last section");
    case("end-missing-spec", STRUCTURAL, descriptors(|d| d.last_mut().unwrap().kind = 6), "end section is missing");
    case("no-descriptors", STRUCTURAL, [spec_header(), vec![0]].concat(), "end section is missing");
    case("end-payload", STRUCTURAL, descriptors(|d| { let e = d.last_mut().unwrap(); e.offset -= 1; }), "end section overlaps string section");
    case("unknown-section-spec", STRUCTURAL, descriptors(|d| d[0].kind = 7), "unknown section ID: 7");
    case("overlap", STRUCTURAL, descriptors(|d| d[1].offset = d[0].offset), "type section overlaps function section");
    case("out-of-bounds", STRUCTURAL, descriptors(|d| { d[0].offset = 1 << 40; d[0].length = 7; }),
        "function section at [1099511627776, 1099511627783) is outside the 232 bytes of the file");
    case("offset-overflow", STRUCTURAL, descriptors(|d| { d[0].offset = u64::MAX - 7; d[0].length = u64::MAX; }),
        "function section at [18446744073709551608, 36893488147419103223) is outside the 232 bytes of the file");
    case("in-header", STRUCTURAL, descriptors(|d| { d[0].offset = 0; }),
        "function section at [0, 14) is outside the 232 bytes of the file");
    case("duplicate-spec", STRUCTURAL, descriptors(|d| d[1].kind = d[0].kind), "duplicate function section");
    case("misaligned-spec", STRUCTURAL, descriptors(|d| d[0].alignment = 3), "invalid alignment value: 3");

    case("end-aligned", STRUCTURAL, [public_header(1), vec![0x80]].concat(), "end section should not have alignment flag set");
    case("end-not-last", STRUCTURAL, [public_header(1), vec![0, 0]].concat(), "end section is not the last section");
    case("end-missing", STRUCTURAL, public_header(1), "end section is missing");
    case("unknown-section", STRUCTURAL, [public_header(1), vec![0x7F]].concat(), "unknown section ID: 127");
    case("section-too-long", STRUCTURAL, [public_header(1), vec![6, 100, 0]].concat(), "section length 100 exceeds remaining data size 1");
    case("bad-alignment", STRUCTURAL, [public_header(1), vec![0x81, 0, 3]].concat(), "invalid alignment value: 3");
    case("misaligned", STRUCTURAL, [public_header(1), vec![0x82, 0, 4, 0xCB]].concat(), "function section must be aligned to 8 bytes");
    case("not-aligned", STRUCTURAL, [public_header(1), vec![1, 0]].concat(), "string section must be aligned to 4 bytes");
    case("section-padding", STRUCTURAL, [public_header(1), vec![0x82, 0, 8]].concat(), "failed to read section padding");
    case("huge-alignment", STRUCTURAL,
        [public_header(1), vec![0x82, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1]].concat(),
        "failed to read section padding");
    case("duplicate", STRUCTURAL, public_file(1, &[section(6, 1, &[0]), section(6, 1, &[0])]), "duplicate global section");
    case("no-strings", Class::MissingSection(SectionId::String), public_file(1, &[section(2, 8, &[0])]), "missing mandatory string section");
    case("no-functions", Class::MissingSection(SectionId::Func), public_file(1, &[section(1, 4, &[0])]), "missing mandatory function section");

    // Tables.
    case("string-count", STRING, replace(1, &[5, 0, 0, 0]),
        "failed to read number of strings: 5 records cannot fit in the remaining 3 bytes");
    case("string-order", STRING, replace(1, &table_with_offsets(4, &[0, 3, 1], b"abc")),
        "invalid string start indices: end (1) is less than start (3) for string 1");
    case("string-bounds", STRING, replace(1, &table_with_offsets(4, &[0, 4], b"abc")),
        "invalid string start index 4 for string 1: the first must be 0 and all must be within the 3 bytes of data");
    case("string-trailing", STRING, replace(1, &[0, 0, 0, 0, 0]), "1 bytes left over in string");
    case("constant-order", CONSTANT, replace(4, &table_with_offsets(8, &[0, 2, 1], &[1, 0, 0])),
        "invalid constant start indices: end (1) is less than start (2) for constant 1");
    case("constant-size", CONSTANT, replace(4, &table_with_offsets(8, &[0], &[9, 0])), "failed to read values data");
    case("constant-trailing", CONSTANT, replace(4, &table_with_offsets(8, &[0], &[1, 0, 0])), "1 bytes left over in constant");

    // Types.
    case("type-tag", TYPE, with_type(1, &[99]), "unknown type tag: 99");
    case("type-version-f8", TYPE, with_type(1, &[18]), "type 'Float8E8M0FNU' requires bytecode version 13.2+, file version is 13.1");
    case("type-version-f4", TYPE, with_type(1, &[19]), "type 'Float4E2M1FN' requires bytecode version 13.3+, file version is 13.1");
    case("type-version-i4", TYPE, with_type(2, &[22]), "type 'Int4' requires bytecode version 13.3+, file version is 13.2");
    case("type-version-gather", TYPE, with_type(2, &[20]), "type 'GatherScatterView' requires bytecode version 13.3+, file version is 13.2");
    case("type-version-strided", TYPE, with_type(2, &[21]), "type 'StridedView' requires bytecode version 13.3+, file version is 13.2");
    case("pointee", TYPE, with_type(1, &[12, 77]), "failed to get pointeeType type");
    case("element", TYPE, with_type(1, &[13, 77, 0]), "failed to get elementType type");
    case("shape", TYPE, with_type(1, &[13, 0]), "failed to read shape");
    case("shape-count", TYPE, with_type(1, &[13, 0, 9]), "failed to read shape: 9 records cannot fit in the remaining 0 bytes");
    case("strides", TYPE, with_type(1, &[14, 0, 0]), "failed to read strides");
    case("tile-shape", TYPE, with_type(1, &[15]), "failed to read tile_shape data");
    case("tensor-view", TYPE, with_type(1, &[15, 0, 77]), "failed to get tensor_view type");
    case("not-a-tensor-view", TYPE, with_type(1, &[15, 0, 0, 0, 0]), "failed to get tensor_view type");
    case("dim-map", TYPE, with_type(1, &[15, 0, ty::VIEW]), "failed to read dim_map data");
    case("padding", TYPE, with_type(1, &[15, 0, ty::VIEW, 0, 1]), "failed to read padding_value");
    case("padding-enum", TYPE, with_type(1, &[15, 0, ty::VIEW, 0, 1, 9]), "invalid integer value for enum type: 9");
    case("type-flags", TYPE, with_type(3, &[15, 2, 0, ty::VIEW, 0]), "unknown flags 0x2 for type 'PartitionView'");
    case("traversal", TYPE, with_type(3, &[21, 0, 0]), "failed to read traversal_strides data");
    case("sparse-dim", TYPE, with_type(3, &[20, 0, 0, ty::VIEW]), "failed to read sparse_dim");
    case("parameter", TYPE, with_type(1, &[16, 1, 77, 0]), "failed to get parameter type");
    case("function-result", TYPE, with_type(1, &[16, 0, 1, 77]), "failed to get result type");
    case("recursive-type", TYPE, with_type(1, &[12, ty::COUNT]), "recursive type reference at index 10");
    case("type-trailing", TYPE, with_type(1, &[3, 0]), "1 bytes left over in type");
    case("deep-type", TYPE, Pieces::new().with(|p| {
        for i in 0..20u8 { p.types.push(vec![12, if i == 0 { 0 } else { ty::COUNT + i - 1 }]); }
    }).public(1), "type 25 is nested too deeply");

    // Globals.
    let global = |bytes: &[u8]| Pieces::new().with(|p| {
        p.globals = Some(bytes.to_vec());
        p.constants = vec![vec![4, 1, 0, 0, 0]];
    }).public(1);
    case("global-name", GLOBAL, global(&[1, 99, 3, 0, 0]), "string index 99 out of bounds");
    case("global-type", GLOBAL, global(&[1, 1, 99, 0, 0]), "failed to get type of global");
    case("global-constant", GLOBAL, global(&[1, 1, 3, 5, 0]), "constant index 5 out of bounds (size=1)");
    case("global-scalar-type", GLOBAL, global(&[1, 1, 0, 0, 0]), "failed to read valid MLIR Type for self-contained DenseElementsAttr");
    case("global-trailing", GLOBAL, global(&[0, 0]), "1 bytes left over in global");
    case("global-value-spec", GLOBAL, Pieces::spec_body(&[], &[&[1, 0]]).with(|p| p.globals = Some(vec![1, 1, 3, 0, 0])).spec(),
        "value of global 'a' is not a dense integer or floating-point elements attribute of its type");

    // Functions.
    let func = |record: Vec<u8>| Pieces::new().with(|p| p.functions = vec![record]).public(1);
    case("function-name", FUNC, func(function(99, 2, 2, 0, &[], RETURN)), "string index 99 out of bounds");
    case("signature-index", FUNC, func(function(0, 99, 2, 0, &[], RETURN)), "function signature index 99 out of bounds for function 'k'");
    case("signature-kind", FUNC, func(function(0, 0, 2, 0, &[], RETURN)), "signature of function 'k' is not a function type");
    let non_entry = "un-expected non-entry function 'k': no operation can call it";
    case("non-entry", FUNC, func(function(0, 2, 0, 0, &[], RETURN)), non_entry);
    case("non-entry-private", FUNC, func(function(0, 2, 1, 0, &[], RETURN)), non_entry);
    case("non-entry-spec", FUNC, Pieces::new().with(|p| p.functions = vec![function(0, 2, 0, 0, &[], RETURN)]).spec(), non_entry);
    case("function-flags", FUNC, func(function(0, 2, 10, 0, &[], RETURN)), "unknown function flags 0xa");
    case("function-location", FUNC, func(function(0, 2, 2, 3, &[], RETURN)), "failed to read function location for 'k'");
    case("hints-kind", FUNC, func(function(0, 2, 6, 0, &[3, 1], RETURN)), "optimization hints of a function must be an OptimizationHintsAttr");
    case("body-length", FUNC, func(vec![0, 2, 2, 0, 99]), "failed to read function body");
    case("function-trailing", FUNC, func([entry(RETURN), vec![0; 40]].concat()), "40 bytes left over in function");
    case("location-run-short", FUNC, Pieces::new().with(|p| {
        p.debug = Some(debug_section(&[&[0]], &[]));
        p.functions = vec![function(0, 2, 2, 1, &[], RETURN)];
    }).public(1), "failed to read operation location.");
    case("location-run-long", FUNC, Pieces::new().with(|p| {
        p.debug = Some(debug_section(&[&[0, 0, 0]], &[]));
        p.functions = vec![function(0, 2, 2, 1, &[], RETURN)];
    }).public(1), "the locations of function 'k' have 1 extra entries");

    // Operations.
    case("opcode", FUNC, Pieces::raw_body(&[0xDC]).public(1), "failed to read operation opcode.");
    case("opcode-hole", FUNC, Pieces::body(&[25]).public(1), "unknown or unimplemented opcode: 25");
    case("opcode-hole-2", FUNC, Pieces::body(&[52]).public(1), "unknown or unimplemented opcode: 52");
    case("opcode-atan2-spec", FUNC, Pieces::spec_body(&[&[0x6E, 0x7F, 1, 2, 0, 0, 0]], &[]).spec(), "unknown or unimplemented opcode: 110");
    case("opcode-version", FUNC, Pieces::body(&[0x6E]).public(1), "unsupported opcode 110 for bytecode version 13.1");
    case("opcode-entry", FUNC, Pieces::body(&[0x16]).public(1), "operation 'cuda_tile.entry' cannot appear in a function body");
    case("location-spec", FUNC, Pieces::spec_body(&[&[0x44, 5, 5, 0, 0]], &[]).spec(), "failed to read operation location.");
    case("location-cut-spec", FUNC, Pieces::new().with(|p| p.functions = vec![entry(&[1, 1, 1, 1, 0x44, 0x80])]).spec(), "failed to read operation location.");
    case("result-type", FUNC, Pieces::body(&[0x44, 99]).public(1), "failed to get result type 0 for MakeTokenOp");
    case("result-type-second", FUNC, Pieces::body(&[0x30, 1, 99]).public(1), "failed to get result type 1 for GetTileBlockIdOp");
    case("operand", FUNC, Pieces::body(&[0x00, 1, 9]).public(1), "operand index 9 out of bounds (size=1) for operand 0");
    case("segment-operand", FUNC, Pieces::body(&[0x43, 1, ty::VIEW, 0, 1, 9, 0]).public(1),
        "operand index 9 out of bounds (size=1) for dynamicShape segment, element 0");
    case("operand-scope", FUNC, Pieces::body(&[0x32, 0, 0, 2, 1, 0, 2, 0x44, 5, 0x6D, 0, 0, 0, 0x00, 1, 1]).public(1),
        "operand index 1 out of bounds (size=1) for operand 0");
    case("operand-count", FUNC, Pieces::body(&[0x29, 0, 2, 0, 0]).public(1), "expected at least 3 operands for ForOp, got 2");
    case("operand-count-spec", FUNC, Pieces::spec_body(&[&[0x00, 0x7F, 1, 2, 0, 0, 0]], &[]).spec(), "expected 1 operands for AbsFOp, got 2");
    case("result-count", FUNC, Pieces::body(&[0x3E, 1, 1]).public(1), "expected 2 results for LoadViewTkoOp, got 1");
    case("op-flags", FUNC, Pieces::body(&[0x02, 1, 2, 0, 0, 0]).public(1), "unknown flags 0x2 for AddFOp");
    case("enum", FUNC, Pieces::body(&[0x03, 1, 4, 0, 0]).public(1), "invalid integer value for enum type: 4");
    case("bool", FUNC, Pieces::body(&[0x5E, 1, 1, 0, 2]).public(1), "invalid value for BoolAttr: 2");
    case("symbol", FUNC, Pieces::body(&[0x2C, 1, 3]).public(1), "invalid empty symbol reference");
    case("region-count", FUNC, Pieces::body(&[0x32, 0, 0, 1]).public(1), "expected 2 regions for IfOp, got 1");
    case("region-blocks", FUNC, Pieces::body(&[0x32, 0, 0, 2, 2]).public(1), "'cuda_tile.if' op expects region #0 to have 0 or 1 blocks");
    case("terminator", FUNC, Pieces::raw_body(&[0x44, 5]).public(1), "block does not end in a terminator");
    case("region-terminator", FUNC, Pieces::body(&[0x32, 0, 0, 2, 1, 0, 1, 0x44, 5]).public(1), "block does not end in a terminator");
    case("region-depth", FUNC, Pieces::body(&nested_ifs(300)).public(1), "regions are nested too deeply");
    case("body-blocks", FUNC, Pieces::new().with(|p| p.functions = vec![entry(&[2])]).spec(), "a function body must be one block, got 2");
    case("body-arguments", FUNC, Pieces::new().with(|p| p.functions = vec![entry(&[1, 0, 1, 0x5C, 0x7F, 0, 0])]).spec(),
        "block arguments do not match the signature of function 'k'");
    case("constant-index", FUNC, Pieces::body(&[0x10, ty::TILE8, 7]).public(1), "constant index 7 out of bounds (size=0)");
    case("constant-bytes", FUNC, Pieces::body(&[0x10, ty::TILE8, 0]).with(|p| p.constants = vec![vec![3, 0, 0, 0]]).public(1),
        "dense attribute payload of 3 bytes does not match 8 elements of type i32");
    case("constant-i1", FUNC,
        Pieces::body(&[0x10, ty::TILE_I1X16, 0]).with(|p| p.constants = vec![[&[16][..], &[0; 16]].concat()]).public(1),
        "i1 dense attribute payload size 16 is not a recognized encoding");
    case("dictionary-ref", FUNC, Pieces::spec_body(&[&[0x44, 0x7F, 5, 0, 1]], &[&[1, 0]]).spec(),
        "attribute dictionary reference 1 of operation is not a dictionary");
    case("unknown-attribute", FUNC, Pieces::spec_body(&[&[0x44, 0x7F, 5, 0, 1]], &[&[17, 1, 1, 15, 1]]).spec(),
        "unknown attribute 'a' for MakeTokenOp");
    case("missing-attribute", FUNC, Pieces::spec_body(&[&[0x02, 0x7F, 1, 2, 0, 0, 0]], &[]).spec(),
        "missing attribute 'rounding_mode' for AddFOp");
    case("attribute-kind", FUNC, Pieces::spec_body(&[&[0x03, 0x7F, 1, 2, 0, 0, 1]], &[&[17, 1, 4, 15, 1]])
        .with(|p| p.strings.push(b"overflow".to_vec())).spec(), "attribute 'overflow' of AddIOp has the wrong kind");
    case("segment-sizes", FUNC, Pieces::spec_body(&[&[0x65, 0x7F, 5, 3, 0, 0, 0, 1]], &[&[17, 1, 4, 14, 0, 0]])
        .with(|p| p.strings.push(b"memory_ordering_semantics".to_vec())).spec(), "invalid 'operandSegmentSizes' for StorePtrTkoOp");

    // Attributes, by tag of the specification's table.
    case("attr-tag-cut", CONSTANT, spec_constant(&[]), "failed to read AttributeTag for self-contained attribute.");
    case("attr-tag-0", CONSTANT, spec_constant(&[0]), "unsupported AttributeTag 0 for self-contained attribute");
    case("attr-tag-18", CONSTANT, spec_constant(&[18]), "unsupported AttributeTag 18 for self-contained attribute");
    case("attr-string-index", CONSTANT, spec_constant(&[1, 99]), "string index 99 out of bounds");
    case("attr-string", CONSTANT, spec_constant(&[1]), "failed to read StringAttr.");
    case("attr-float-type", CONSTANT, spec_constant(&[2, ty::I32, 0]), "failed to read valid FloatType for FloatAttr");
    case("attr-float-value", CONSTANT, spec_constant(&[2, ty::F32]), "failed to read value for FloatAttr");
    case("attr-float-cast", CONSTANT, spec_constant(&[2, ty::F32, 0x80, 0x80, 0x80, 0x80, 0x20]), "failed to cast parsed attribute to FloatAttr");
    case("attr-type", CONSTANT, spec_constant(&[3, 99]), "failed to get referenced type for TypeAttr");
    case("attr-dense-type", CONSTANT, spec_constant(&[4, 99]), "failed to read valid MLIR Type for self-contained DenseElementsAttr");
    case("attr-dense-element", CONSTANT, spec_constant(&[4, ty::PTR]), "failed to read valid MLIR Type for self-contained DenseElementsAttr");
    case("attr-dense-shape", CONSTANT, spec_constant(&[4, 0]), "failed to read shape for DenseElementsAttr");
    case("attr-dense-values", CONSTANT, spec_constant(&[&[4, 0][..], &i64s(&[1 << 20])].concat()), "failed to read values data");
    // Three i1 elements, and a fourth bit.
    case("attr-dense-value", CONSTANT, spec_constant(&[&[4, 6][..], &i64s(&[3]), &[0x0D]].concat()), "array contains unsupported value 13");
    case("attr-dense-strings", CONSTANT, spec_constant(&[5, 0]), "failed to read number of string attrs in DenseElementsAttr");
    case("attr-dense-string", CONSTANT, spec_constant(&[5, 0, 1, 0x80]), "failed to read string in DenseElementsAttr");
    case("attr-divisor", CONSTANT, spec_constant(&[6]), "failed to read divisor for DivByAttr");
    case("attr-div-flags", CONSTANT, spec_constant(&[6, 16]), "failed to read flags byte for DivByAttr");
    case("attr-div-every", CONSTANT, spec_constant(&[6, 16, 1]), "failed to read value for 'every' in DivByAttr");
    case("attr-div-along", CONSTANT, spec_constant(&[6, 16, 3, 2]), "failed to read value for 'along' in DivByAttr");
    case("attr-div-unknown", CONSTANT, spec_constant(&[6, 16, 4]), "unknown flags 0x4 for DivByAttr");
    case("attr-i64s", CONSTANT, spec_constant(&[7]), "failed to read DenseI64ArrayAttr values.");
    case("attr-var-i64s", CONSTANT, spec_constant(&[8, 1, 0x80]), "failed to read DenseI64ArrayAttr values.");
    case("attr-i64s-value", CONSTANT, spec_constant(&[&[7][..], &i64s(&[i64::MIN])].concat()), "array contains unsupported value -9223372036854775808");
    case("attr-same", CONSTANT, spec_constant(&[9]), "failed to read DenseI64ArrayAttr for SameElementsAttr");
    case("attr-bounded-flags", CONSTANT, spec_constant(&[10]), "failed to read flags byte for BoundedAttr");
    case("attr-bounded-lower", CONSTANT, spec_constant(&[10, 1]), "failed to read lower bound for BoundedAttr");
    case("attr-bounded-upper", CONSTANT, spec_constant(&[11, 2]), "failed to read upper bound for BoundedAttr");
    case("attr-bounded-both", CONSTANT, spec_constant(&[12, 3, 1]), "failed to read upper bound for BoundedAttr");
    case("attr-bounded-kind", CONSTANT, spec_constant(&[10, 2, 1]), "unknown flags 0x2 for BoundedAttr");
    case("attr-predicate", CONSTANT, spec_constant(&[13]), "failed to read predicate for AssumePredicateAttr");
    case("attr-no-predicate", CONSTANT, spec_constant(&[13, 15, 1]), "attribute of AssumePredicateAttr is not a predicate");
    case("attr-integer-type", CONSTANT, spec_constant(&[14, ty::F32, 0]), "failed to read valid IntegerType for IntegerAttr");
    case("attr-integer-value", CONSTANT, spec_constant(&[14, ty::I32]), "failed to read value for IntegerAttr");
    case("attr-integer-wide", CONSTANT, spec_constant(&[14, ty::I1, 2]), "failed to read value for IntegerAttr");
    case("attr-bool", CONSTANT, spec_constant(&[15, 7]), "invalid value for BoolAttr: 7");
    case("attr-key-empty", CONSTANT, spec_constant(&[17, 1, 3, 15, 1]), "invalid empty attribute name for DictionaryAttr element 0");
    case("attr-key-twice", CONSTANT, spec_constant(&[17, 2, 1, 15, 1, 1, 15, 1]), "duplicate attribute name 'a' for DictionaryAttr element 1");
    case("attr-trailing", CONSTANT, spec_constant(&[15, 1, 0]), "1 bytes left over in constant");

    // The same kinds with their public tags.
    case("public-tag-13", FUNC, assume(&[13]), "unsupported AttributeTag 13 for self-contained attribute");
    case("public-divisor", FUNC, assume(&[8]), "failed to read divisor for DivByAttr");
    case("public-bounded", FUNC, assume(&[12]), "failed to read flags byte for BoundedAttr");
    case("public-same", FUNC, assume(&[&[9][..], &i64s(&[i64::MAX])].concat()), "array contains unsupported value 9223372036854775807");
    case("public-key", FUNC, assume(&[10, 1, 3, 3, 1]), "invalid empty attribute name for DictionaryAttr element 0");
    case("public-depth", FUNC, assume(&nested_arrays(40)), "attributes are nested too deeply");
    case("permutation", FUNC, Pieces::body(&[&[0x53, 1][..], &i32s(&[i32::MIN])].concat()).public(1), "array contains unsupported value -2147483648");

    // Debug information.
    case("debug-kind", DEBUG, with_debug(&[&[]]), "failed to read kind tag");
    case("debug-tag-0-spec", DEBUG, Pieces::spec_new().with(|p| p.debug = Some(debug_section(&[], &[&[0]]))).spec(), "unknown debug attribute tag");
    case("debug-tag-7", DEBUG, with_debug(&[&[7]]), "unsupported DebugTag 7");
    case("debug-string", DEBUG, with_debug(&[&[2, 99, 0]]), "string index 99 out of bounds");
    case("debug-unit-file", DEBUG, with_debug(&[&[1]]), "failed to read file attribute when parsing DICompileUnitAttr");
    case("debug-file-name", DEBUG, with_debug(&[&[2]]), "failed to read file name attribute when parsing DIFileAttr");
    case("debug-file-directory", DEBUG, with_debug(&[&[2, 0]]), "failed to read directory attribute when parsing DIFileAttr");
    case("debug-block-scope", DEBUG, with_debug(&[&[3]]), "failed to read scope attribute when parsing DILexicalBlockAttr");
    case("debug-block-file", DEBUG, with_debug(&[&[3, 1]]), "failed to read file attribute when parsing DILexicalBlockAttr");
    case("debug-block-line", DEBUG, with_debug(&[&[3, 1, 1]]), "failed to read line number when parsing DILexicalBlockAttr");
    case("debug-block-column", DEBUG, with_debug(&[&[3, 1, 1, 5]]), "failed to read column number when parsing DILexicalBlockAttr");
    case("debug-loc-scope", DEBUG, with_debug(&[&[4, 9]]), "failed to read scope attribute when parsing DILocAttr");
    case("debug-loc-kind", DEBUG, with_debug(&[&[4, 2, 0, 1, 1], &[2, 0, 0]]), "failed to read scope attribute when parsing DILocAttr");
    case("debug-loc-file", DEBUG, with_debug(&[&[4, 1]]), "failed to read file name attribute when parsing FileLineColLoc");
    case("debug-loc-line", DEBUG, with_debug(&[&[4, 1, 0]]), "failed to read line number when parsing FileLineColLoc");
    case("debug-loc-column", DEBUG, with_debug(&[&[4, 1, 0, 5]]), "failed to read column number when parsing FileLineColLoc");
    case("debug-sub-file", DEBUG, with_debug(&[&[5, 9]]), "failed to read file attribute when parsing DISubprogramAttr");
    case("debug-sub-unit", DEBUG, with_debug(&[&[5, 1, 1, 0, 0, 9]]), "failed to read compile unit attribute when parsing DISubprogramAttr");
    case("debug-callee", DEBUG, with_debug(&[&[6, 9]]), "failed to read callee attribute when parsing CallSiteLoc");
    case("debug-caller", DEBUG, with_debug(&[&[6, 0]]), "failed to read caller attribute when parsing CallSiteLoc");
    // The records that are specific to the specification container: a file, a unit in it, a subprogram.
    let (file, unit, function): (&[u8], &[u8], &[u8]) = (&[2, 1, 2], &[1, 0, 1, 0], &[5, 1, 0, 0, 0, 7, 0, 0]);
    let records = [
        ("spec-unit-file", &[1][..], "failed to read file attribute when parsing DICompileUnitAttr"),
        ("spec-unit-producer", &[1, 0], "failed to read producer for DICompileUnitAttr"),
        ("spec-unit-flags", &[1, 0, 1], "failed to read flags for DICompileUnitAttr"),
        ("spec-loc-file", &[4, 2], "failed to read file name attribute when parsing FileLineColLoc"),
        ("spec-loc-file-kind", &[4, 2, 1, 5, 6], "failed to read file name attribute when parsing FileLineColLoc"),
        ("spec-loc-inlined", &[4, 2, 0, 5, 6, 9], "failed to read inlined-at attribute when parsing DILocAttr"),
        ("spec-sub-unit", &[5, 9], "failed to read compile unit attribute when parsing DISubprogramAttr"),
        ("spec-sub-scope", &[5, 1, 0, 0, 9], "failed to read scope attribute when parsing DISubprogramAttr"),
        ("spec-sub-flags", &[5, 1, 0, 0, 0, 7], "failed to read flags when parsing DISubprogramAttr"),
        ("spec-sub-purpose", &[5, 1, 0, 0, 0, 7, 0], "failed to read purpose when parsing DISubprogramAttr"),
        ("spec-call-callee", &[6, 0, 2, 1, 1], "failed to read callee attribute when parsing CallSiteLoc"),
        ("spec-call-line", &[6, 2, 2], "failed to read line number when parsing CallSiteLoc"),
        ("spec-call-column", &[6, 2, 2, 1], "failed to read column number when parsing CallSiteLoc"),
    ];
    for (name, record, text) in records {
        case(name, DEBUG, spec_debug(&[file, unit, function, record]), text);
    }
    case("debug-cycle", DEBUG,
        Pieces::spec_new().with(|p| p.debug = Some(debug_section(&[], &[&[3, 0, 1, 42, 0], &[2, 1, 2]]))).spec(),
        "cyclic debug attribute reference at index 0");
    case("debug-cycle-two", DEBUG, with_debug(&[&[6, 2, 0], &[6, 1, 0]]), "cyclic debug attribute reference at index 0");
    case("debug-run", DEBUG, Pieces::new().with(|p| p.debug = Some(debug_section(&[&[], &[0]], &[]))).public(1),
        "invalid location run [0, 0) of function 0 in debug section with 1 indices");
    let mut chain: Vec<Vec<u8>> = vec![vec![6, 0, 0]];
    for i in 1..1100u64 { let mut r = vec![6]; r.put_varint(i); r.push(0); chain.push(r); }
    let chain: Vec<&[u8]> = chain.iter().map(|r| &r[..]).collect();
    case("debug-depth", DEBUG, with_debug(&chain), "debug attributes are nested too deeply");

    // The public container accepts overlong integers unless the reader is strict.
    let overlong = Pieces::body(&[0x44, 0x85, 0]).public(1);
    assert!(read(&overlong, &ReadOptions::default()).is_ok());
    cases.push(Case { name: "non-canonical-strict", data: overlong, strict: true, text: "non-canonical VarInt", class: FUNC });
    cases
}

#[test]
fn every_case_gets_its_report() {
    let mut names = BTreeSet::new();
    let mut wrong = Vec::new();
    for c in cases() {
        assert!(names.insert(c.name), "{} twice", c.name);
        match read(&c.data, &ReadOptions { strict: c.strict, ..ReadOptions::default() }) {
            Ok(_) => wrong.push(format!("{}: reads", c.name)),
            Err(e) => {
                let text = format!("error at offset {}: {}", e.offset(), c.text);
                if e.to_string() != text || e.class() != c.class || e.offset() > c.data.len() {
                    wrong.push(format!("{}: {e} ({:?})\n    wanted {} ({:?})", c.name, e.class(), c.text, c.class));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Checks the rows of `diagnostics.tsv`: a text, then the case that reports it. For `translate`, a test in
/// `translate.rs` does, because the text is reported when MLIR's operations are built.
#[test]
fn quoted_texts_are_reached() {
    let cases = cases();
    for row in include_str!("diagnostics.tsv").lines().filter(|l| !l.starts_with('#')) {
        let columns: Vec<&str> = row.split('\t').collect();
        let [text, case] = columns[..] else { panic!("{row}") };
        if case == "translate" {
            let fragment = text.split('…').next().unwrap_or(text);
            assert!(
                include_str!("../tools/translate.rs").contains(fragment),
                "no test of translate.rs has {fragment:?}"
            );
            continue;
        }
        let case = cases.iter().find(|c| c.name == case).unwrap_or_else(|| panic!("no case {case}"));
        let error = read(&case.data, &ReadOptions { strict: case.strict, ..ReadOptions::default() }).unwrap_err();
        let got = format!("{error}\n{}", error.context().unwrap_or_default());
        // A quoted text may be a fragment between values.
        let mut rest = got.as_str();
        for fragment in text.split('…') {
            let at = rest.find(fragment).unwrap_or_else(|| panic!("{}: {got:?} lacks {fragment:?}", case.name));
            rest = &rest[at + fragment.len()..];
        }
    }
}

#[test]
fn offsets_and_second_lines() {
    // Properties of the vendor's command: errors in the version are reported at offset 12, trailing bytes at their
    // start.
    let e = read(&public_header(6), &ReadOptions::default()).unwrap_err();
    assert_eq!((e.offset(), e.context().as_deref()), (12, Some("error at offset 12: failed to parse bytecode header")));
    let mut data = Pieces::new().public(1);
    let end = data.len();
    data.push(0);
    let e = read(&data, &ReadOptions::default()).unwrap_err();
    assert_eq!(
        (e.to_string(), e.context()),
        (format!("error at offset {end}: end section is not the last section"), None)
    );
    let e = read(&Pieces::body(&[25]).public(1), &ReadOptions::default()).unwrap_err();
    assert!(e.context().unwrap().ends_with(": failed to parse function section"));
}

#[test]
fn upstream_mlir_bytecode_is_recognised() {
    assert!(is_mlir_bytecode(b"ML\xEFR\x0D"));
    assert!(!is_mlir_bytecode(b"MLIR"));
    assert!(!is_bytecode(b"ML\xEFR\x0D"));
    assert!(is_bytecode(&Pieces::new().public(1)) && is_bytecode(&Pieces::spec_new().spec()));
}

#[test]
fn truncated_prefixes_of_the_pieces_never_read() {
    for data in [Pieces::new().public(1), Pieces::spec_new().spec()] {
        assert!(read(&data, &ReadOptions::default()).is_ok());
        for n in 0..data.len() {
            let e = read(&cut(data.clone(), n), &ReadOptions::default()).expect_err("a prefix");
            assert!(e.offset() <= n, "{e}");
        }
    }
}
