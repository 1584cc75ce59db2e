//! Records of versions 13.4 and 13.5, byte by byte, in both directions.

use crate::bytes::{Pieces, function, i32s, i64s};
use crate::roundtrip::debug_section;
use tile_bytecode::*;

/// The signature of `@k`, with an argument for each operand that a record below refers to.
const SIGNATURE: u8 = 11;
const RETURN: &str = "5c 00 00";

fn bytes(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|b| u8::from_str_radix(b, 16).unwrap()).collect()
}

/// The types of the records. Since 13.4, pointers and tensor views begin with flags.
fn types(minor: u8) -> Vec<Vec<u8>> {
    let flags: &[u8] = if minor >= 4 { &[0] } else { &[] };
    let padding: (&[u8], &[u8]) = if minor >= 3 { (&[0], &[]) } else { (&[], &[0]) };
    vec![
        vec![3],
        vec![7],
        [&[12][..], flags, &[1]].concat(),
        vec![13, 2, 0],
        vec![13, 0, 0],
        [&[13, 1][..], &i64s(&[2, 2])].concat(),
        [&[14][..], flags, &[1], &i64s(&[64, 64]), &i64s(&[64, 1])].concat(),
        vec![17],
        [&[13, 1][..], &i64s(&[4, 8])].concat(),
        [&[15][..], padding.0, &i32s(&[4, 8]), &[6], &i32s(&[0, 1]), padding.1].concat(),
        [&[13, 0][..], &i64s(&[4, 8])].concat(),
        vec![16, 9, 3, 4, 7, 4, 8, 5, 10, 6, 9, 0],
    ]
}

fn pieces(minor: u8, body: &[u8]) -> Pieces {
    // Since 13.5, hints and attributes of the arguments are always present.
    let attributes: &[u8] = if minor >= 5 { &[0x0B, 0, 0x06, 0] } else { &[] };
    let functions = vec![function(0, SIGNATURE, 2, 0, attributes, body)];
    Pieces { types: types(minor), functions, ..Pieces::new() }
}

fn file(minor: u8, record: &str) -> Vec<u8> {
    pieces(minor, &bytes(&format!("{record} {RETURN}"))).public(minor)
}

fn options() -> ReadOptions {
    ReadOptions { strict: true, ..ReadOptions::default() }
}

fn written(m: &Module, minor: u8) -> Result<Vec<u8>, String> {
    // Functions in these files end without padding, even if their length depends on the version.
    let mut m = m.clone();
    m.layout.pad_functions = false;
    write(&m, Profile::Public, Version::new(13, minor)).map_err(|e| e.to_string())
}

/// Whether the file contains exactly this record.
fn body_of(file: &[u8], minor: u8, record: &str) -> bool {
    file == self::file(minor, record)
}

/// Mnemonic, the version that introduced the record, and the record.
const RECORDS: &[(&str, u8, &str)] = &[
    ("insert", 4, "76 01 08 04 05 04 03 03"),
    ("gdc_launch_dependents_tko", 4, "77 07 00"),
    ("gdc_wait_tko", 4, "78 07 01 02"),
    ("fpowi", 4, "79 08 04 06"),
    ("memory_fence_alias_tko", 4, "7a 07 02"),
    ("multimem_load_reduce_view_tko", 5, "7b 02 08 07 03 01 02 00 02 01 00 08 02 03 03 02"),
    ("multimem_reduce_view_tko", 5, "7c 01 07 01 01 02 00 02 01 00 08 04 02 03 03 02"),
    ("multimem_store_view_tko", 5, "7d 01 07 03 01 02 02 01 00 08 04 02 03 03 02"),
];

#[test]
fn new_operations() {
    for &(name, since, record) in RECORDS {
        for minor in since..=5 {
            let data = file(minor, record);
            let m = read(&data, &options()).unwrap_or_else(|e| panic!("{name} in 13.{minor}: {e}"));
            assert_eq!(m.functions[0].body.top_level().next().unwrap().spec.name, name);
            assert_eq!(written(&m, minor).unwrap(), data, "{name} in 13.{minor}");
            let refusal = written(&m, since - 1).unwrap_err();
            let version = since - 1;
            assert_eq!(
                refusal,
                format!("operation 'cuda_tile.{name}' is not available in bytecode version 13.{version}")
            );
        }
        let opcode = bytes(record)[0];
        let error = read(&file(since - 1, record), &options()).unwrap_err().to_string();
        let version = since - 1;
        assert!(error.contains(&format!("unsupported opcode {opcode} for bytecode version 13.{version}")), "{error}");
    }
}

/// Values that a version added to an enumeration.
#[test]
fn new_values() {
    const NEAREST_AWAY: &str = "2a 08 07 04";
    let m = read(&file(4, NEAREST_AWAY), &options()).unwrap();
    assert!(body_of(&written(&m, 4).unwrap(), 4, NEAREST_AWAY));
    let refusal =
        "value 'nearest_away' of attribute 'rounding_mode' requires bytecode version 13.4+, but targeting 13.3";
    assert_eq!(written(&m, 3).unwrap_err(), refusal);
    let error = read(&file(3, NEAREST_AWAY), &options()).unwrap_err().to_string();
    assert!(error.contains("enum value 7 is not available in bytecode version 13.3"), "{error}");
}

/// A file without the list of promises does not limit the number of indices. The list has room for more promises than
/// a view has dimensions.
#[test]
fn more_indices_than_promises() {
    let access = |n: usize| format!("3e 02 08 07 04 00 08 {n:02x} {} 02", "03 ".repeat(n));
    let m = read(&file(3, &access(BoolList::MAX)), &options()).unwrap();
    read(&written(&m, 4).unwrap(), &options()).unwrap();
    let m = read(&file(3, &access(BoolList::MAX + 1)), &options()).unwrap();
    written(&m, 3).unwrap();
    assert_eq!(written(&m, 4).unwrap_err(), "malformed 'inbounds'");
}

/// The version that changed a record; the record before the change; the record after it without the new field; the
/// record with the field; and the error when the latter is written for the previous version.
const CHANGES: &[(u8, &str, &str, &str, &str)] = &[
    (
        4,
        "3e 02 08 07 04 00 08 02 03 03 02",
        "3e 02 08 07 04 00 02 00 00 08 02 03 03 02",
        "3e 02 08 07 04 00 02 01 00 08 02 03 03 02",
        "attribute 'inbounds' requires bytecode version 13.4+, but targeting 13.3",
    ),
    (
        4,
        "66 01 07 00 00 04 08 02 03 03",
        "66 01 07 00 00 02 00 00 04 08 02 03 03",
        "66 01 07 00 00 02 01 00 04 08 02 03 03",
        "attribute 'inbounds' requires bytecode version 13.4+, but targeting 13.3",
    ),
    (
        4,
        "2b 0a 01 06 04",
        "2b 0a 00 01 06 04",
        "2b 0a 01 01 06 04",
        "optional attribute 'saturating' is provided but requires bytecode version 13.4, targeting 13.3",
    ),
    (
        5,
        "75 01 07 00 01 01 04 08 02 03 03 04",
        "75 01 07 00 01 01 04 02 00 00 08 02 03 03 04",
        "75 01 07 00 01 01 04 02 00 01 08 02 03 03 04",
        "attribute 'inbounds' requires bytecode version 13.5+, but targeting 13.4",
    ),
];

#[test]
fn changed_operations() {
    for &(since, old, new, with, refusal) in CHANGES {
        let before = read(&file(since - 1, old), &options()).unwrap();
        assert!(body_of(&written(&before, since - 1).unwrap(), since - 1, old), "{old}");
        assert!(body_of(&written(&before, since).unwrap(), since, new), "{old}");
        let after = read(&file(since, new), &options()).unwrap();
        assert!(body_of(&written(&after, since).unwrap(), since, new), "{new}");
        assert!(body_of(&written(&after, since - 1).unwrap(), since - 1, old), "{new}");
        let promised = read(&file(since, with), &options()).unwrap();
        assert!(body_of(&written(&promised, since).unwrap(), since, with), "{with}");
        assert_eq!(written(&promised, since - 1).unwrap_err(), refusal);
    }
}

#[test]
fn attributes_of_pointers() {
    let file = |minor: u8, record: &[u8]| {
        let mut p = pieces(minor, &bytes(RETURN));
        p.types.push(record.to_vec());
        p.public(minor)
    };
    let view = |attr: u8| [&[14, 1, 1][..], &i64s(&[64]), &i64s(&[1]), &[attr]].concat();
    for (attr, since, keyword) in [(0, 4, "none"), (1, 5, "unicast"), (2, 5, "multicast")] {
        for record in [vec![12, 1, 1, attr], view(attr)] {
            let data = file(since, &record);
            let m = read(&data, &options()).unwrap();
            let (Type::Pointer { attr: Some(kind), .. } | Type::TensorView { attr: Some(kind), .. }) =
                &m.types.last().unwrap().ty
            else {
                panic!("{:?}", m.types.last())
            };
            assert_eq!(schema::POINTER_KIND.keywords[*kind as usize], keyword);
            assert_eq!(written(&m, since).unwrap(), data);
            let older = since - 1;
            let refusal = format!(
                "attribute 'ptr_attr<{keyword}>' requires bytecode version 13.{since}+, but targeting 13.{older}"
            );
            assert_eq!(written(&m, older).unwrap_err(), refusal);
        }
    }
    for (minor, record, message) in [
        (4, vec![12, 1, 1, 2], "invalid integer value for enum type: 2"),
        (4, view(1), "invalid integer value for enum type: 1"),
        (5, vec![12, 1, 1, 3], "invalid integer value for enum type: 3"),
        (5, vec![12, 2, 1, 0], "unknown flags 0x2 for type 'Pointer'"),
        (4, vec![12, 1, 1], "failed to read ptr_attr"),
    ] {
        let error = read(&file(minor, &record), &options()).unwrap_err().to_string();
        assert!(error.contains(message), "{record:?}: {error}");
    }
}

#[test]
fn functions_have_hints_and_attributes_of_arguments() {
    // Hints: `a = true`; attributes of one argument: `b = "a"`.
    let hints = [0x0B, 1, 1, 0x03, 1];
    let attributes = [0x06, 1, 0x0A, 1, 2, 0x05, 1];
    let of = |minor: u8, flags: u8, behind: &[u8]| {
        let functions = vec![function(0, SIGNATURE, flags, 0, behind, &bytes(RETURN))];
        Pieces { functions, ..pieces(minor, &[]) }.public(minor)
    };
    let data = of(5, 2, &[&hints[..], &attributes].concat());
    let m = read(&data, &options()).unwrap();
    assert!(matches!(m.attr(m.functions[0].hints.unwrap()), Attr::Hints(d) if d.len() == 1));
    assert!(matches!(m.attr(m.functions[0].arg_attrs.unwrap()), Attr::Array(a) if a.len() == 1));
    assert_eq!(written(&m, 5).unwrap(), data);
    let refusal = "optional attribute 'arg_attrs' is provided but requires bytecode version 13.5, targeting 13.4";
    assert_eq!(written(&m, 4).unwrap_err(), refusal);

    // Before 13.5, a flag says whether hints are present.
    let m = read(&of(5, 2, &[&hints[..], &[0x06, 0]].concat()), &options()).unwrap();
    assert_eq!(written(&m, 4).unwrap(), of(4, 6, &hints));
    let m = read(&of(5, 2, &[0x0B, 0, 0x06, 0]), &options()).unwrap();
    assert_eq!((m.functions[0].hints, m.functions[0].arg_attrs), (None, None));
    assert_eq!(written(&m, 4).unwrap(), of(4, 2, &[]));

    for (data, message) in [
        (of(5, 6, &[&hints[..], &attributes].concat()), "function entry cannot be both kernel and extern impl"),
        (of(5, 2, &[0x06, 0, 0x06, 0]), "optimization hints of a function must be an OptimizationHintsAttr"),
        (of(5, 2, &[0x0B, 0, 0x0B, 0]), "attributes of the arguments of a function must be an array of dictionaries"),
        (of(5, 2, &[0x0B, 0, 0x06, 1, 0x03, 1]), "attributes of the arguments of a function must be an array"),
    ] {
        let error = read(&data, &options()).unwrap_err().to_string();
        assert!(error.contains(message), "{message}: {error}");
    }
}

#[test]
fn subprograms_have_flags() {
    let of = |minor: u8, flags: &[u8]| {
        let subprogram = [&[5, 1, 7, 1, 2, 2, 8][..], flags].concat();
        let debug = debug_section(&[], &[&[2, 1, 2], &[1, 1], &subprogram]);
        Pieces { debug: Some(debug), ..pieces(minor, &bytes(RETURN)) }.public(minor)
    };
    let data = of(5, &[3]);
    let m = read(&data, &options()).unwrap();
    assert!(matches!(&m.debug[2], DebugAttr::Subprogram(s) if (s.flags, s.scope_line) == (3, 8)));
    assert_eq!(written(&m, 5).unwrap(), data);
    assert_eq!(written(&m, 4).unwrap(), of(4, &[]));
    assert_eq!(written(&read(&of(4, &[]), &options()).unwrap(), 5).unwrap(), of(5, &[0]));
    let error = read(&of(5, &[]), &options()).unwrap_err().to_string();
    assert!(error.contains("failed to read flags when parsing DISubprogramAttr"), "{error}");
}

#[test]
fn the_type_that_no_builtin_of_mlir_is() {
    let of = |minor: u8| {
        let mut p = pieces(minor, &bytes(RETURN));
        p.types.push(bytes("82 01"));
        p.public(minor)
    };
    for minor in [4, 5] {
        let data = of(minor);
        let m = read(&data, &options()).unwrap();
        assert_eq!(m.types.last().map(|t| &t.ty), Some(&Type::Scalar(Scalar::FNV8E5M3FNU)));
        assert_eq!(written(&m, minor).unwrap(), data);
        let error = written(&m, 3).unwrap_err().to_string();
        assert!(error.contains("type 'FloatNV8E5M3FNU' requires bytecode version 13.4"), "{error}");
    }
    let error = read(&of(3), &options()).unwrap_err().to_string();
    let message = "type 'FloatNV8E5M3FNU' requires bytecode version 13.4+, file version is 13.3";
    assert!(error.contains(message), "{error}");
}

#[test]
fn previews() {
    let tagged = |minor: u8, tag: u8, record: &str| {
        let mut data = file(minor, record);
        data[10] = tag;
        data
    };
    let error = |data: &[u8], preview: bool| {
        read(data, &ReadOptions { preview, ..options() }).map(|_| ()).unwrap_err().to_string()
    };
    let plain = RECORDS[0].2;
    assert!(error(&tagged(5, 1, plain), false).contains("public-preview bytecode requires at least one enabled"));
    assert!(error(&tagged(5, 3, plain), true).contains("header has unrecognized version tag bits (0x2);"));
    let refused = read(&tagged(5, 3, plain), &options()).unwrap_err();
    assert_eq!(refused.context().as_deref(), Some("error at offset 12: failed to parse bytecode header"));
    let data = tagged(5, 1, plain);
    let m = read(&data, &ReadOptions { preview: true, ..options() }).unwrap();
    assert_eq!(write(&m, Profile::Public, m.version).unwrap(), data);
    // Before 13.5, the tag has no meaning.
    assert!(read(&tagged(4, 3, plain), &options()).is_ok());
    // A call of `@k` without constants, operands and results.
    let call = "82 80 01 00 00 00 00 00";
    let data = tagged(5, 1, call);
    let m = read(&data, &ReadOptions { preview: true, ..options() }).unwrap();
    assert_eq!(written(&Module { version: m.version, ..m }, 5).unwrap(), data);
    assert!(error(&file(4, call), true).contains("unsupported opcode 16386 for bytecode version 13.4"));
    assert!(error(&file(5, call), true).contains("encountered public-preview opcode 16386 but the header does not"));
}
