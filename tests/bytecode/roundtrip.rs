//! Worked examples from the format's documents, and properties that a round trip must preserve.

use crate::bytes::*;
use tile_bytecode::*;

fn options() -> ReadOptions {
    ReadOptions { strict: true, ..ReadOptions::default() }
}

/// Reads and writes in the same container and version.
fn again(data: &[u8]) -> Vec<u8> {
    let (m, profile) = read_with_profile(data, &options()).unwrap_or_else(|e| panic!("{e}"));
    write(&m, profile, m.version).unwrap()
}

fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace()
        .flat_map(|w| match w.split_once('*') {
            Some((byte, n)) => vec![u8::from_str_radix(byte, 16).unwrap(); n.parse().unwrap()],
            None => vec![u8::from_str_radix(w, 16).unwrap()],
        })
        .collect()
}

#[test]
fn empty_module() {
    for minor in 1..=5 {
        let mut data = public_header(minor);
        data.extend(hex("82 08 08 CB 00 CB*7 85 04 04 CB 00 CB CB CB 81 04 04 CB 00 CB CB CB 00"));
        let m = read(&data, &options()).unwrap();
        assert!(m.functions.is_empty());
        assert_eq!(again(&data), data);
        assert_eq!(write(&Module::new(m.version), Profile::Public, m.version).unwrap(), data, "13.{minor}");
    }
}

/// The 130-byte example: a constant, a token, a store through a pointer.
#[test]
fn store_example() {
    let data = hex("7F 54 69 6C 65 49 52 00 0D 01 00 00
         82 18 08 CB  01 00 03 02 00 0F  10 04 00  44 05  65 05 08 00 00 01 02  5C 00 00  CB CB CB
         84 15 08 CB*5  01 CB*7 00*8 04 07 00 00 00
         85 2A 04  06 CB*3  00*4 01 00 00 00 03 00 00 00 06 00 00 00 0A 00 00 00 0D 00 00 00
                   03  0C 00  0D 01 00  10 01 02 00  0D 00 00  11
         81 09 04 CB*3  01 CB*3 00*4 6B  00");
    // The document omits one run of padding; the total matches its figure.
    let data = {
        let mut fixed = data.clone();
        let types = fixed.windows(3).position(|w| w == [0x85, 0x2A, 0x04]).unwrap() + 3;
        let pad = types.next_multiple_of(4) - types;
        fixed.splice(types..types, vec![0xCB; pad]);
        let strings = fixed.windows(3).position(|w| w == [0x81, 0x09, 0x04]).unwrap() + 3;
        fixed.splice(strings..strings + 3, vec![0xCB; strings.next_multiple_of(4) - strings]);
        fixed
    };
    assert_eq!(data.len(), 130);
    let m = read(&data, &options()).unwrap();
    let ops: Vec<&str> = m.functions[0].body.all_ops().map(|o| o.spec.name).collect();
    assert_eq!(ops, ["constant", "make_token", "store_ptr_tko", "return"]);
    let store = m.functions[0].body.all_ops().nth(2).unwrap();
    assert_eq!((0..4).map(|g| store.group_len(g)).collect::<Vec<_>>(), [1, 1, 0, 1]);
    assert_eq!(store.attr(0), Some(AttrValue::Enum(0)));
    assert_eq!(store.attr(1), None);
    assert_eq!(again(&data), data);
    // The 13.3 file differs only in the version.
    let mut newer = data.clone();
    newer[9] = 3;
    assert_eq!(write(&m, Profile::Public, schema::V13_3).unwrap(), newer);
}

/// `%c = addi %a, %b : tile<8xi32>` in the specification container takes seven bytes.
#[test]
fn specification_record() {
    let record = hex("03 7F 03 02 04 05 00");
    let iota: &[u8] = &[0x3A, 0x7F, ty::TILE8, 0, 0];
    let data = Pieces::spec_body(&[iota, iota, iota, iota, iota, &record], &[]).spec();
    let m = read(&data, &options()).unwrap();
    let add = m.functions[0].body.all_ops().nth(5).unwrap();
    assert_eq!((add.spec.name, add.location()), ("addi", None));
    assert_eq!(add.operands().collect::<Vec<_>>(), [ValueId(4), ValueId(5)]);
    assert_eq!(add.result_types().collect::<Vec<_>>(), [TypeId(3)]);
    assert_eq!(add.attr(0), Some(AttrValue::Enum(0)), "overflow has its default");
    let out = again(&data);
    assert!(out.windows(7).any(|w| w == record), "the record is written as it was");
    assert_eq!(again(&out), out);
}

/// Location 0 is one byte `00`, location 1 is `01`.
#[test]
fn specification_locations() {
    // 0 is the file, 1 the unit, 2 the subprogram, 3 and 4 are locations in it.
    let debug = debug_section(
        &[&[3]],
        &[&[2, 1, 2], &[1, 0, 1, 0], &[5, 1, 0, 0, 0, 1, 0, 0], &[4, 2, 0, 7, 9], &[4, 2, 0, 8, 9]],
    );
    let iota = |l: u8| vec![0x3A, l, ty::TILE8, 0, 0];
    let mut p = Pieces::spec_new();
    p.debug = Some(debug);
    p.functions = vec![function(0, ty::FUNC, 2, 1, &[], &spec_block(&[&iota(3), &iota(4), &iota(0x7F), SPEC_RETURN]))];
    let m = read(&p.spec(), &options()).unwrap();
    let f = &m.functions[0];
    assert_eq!(f.location, Some(Some(DebugId(3))));
    let locations: Vec<_> = f.body.all_ops().map(|o| o.location()).collect();
    assert_eq!(locations, [Some(DebugId(3)), Some(DebugId(4)), None, None]);
    // The public container counts from 1 and stores locations by position.
    let public = write(&m, Profile::Public, schema::V13_1).unwrap();
    let m2 = read(&public, &options()).unwrap();
    assert_eq!(m2.debug.len(), m.debug.len());
    assert!(matches!(m2.debug[4], DebugAttr::Loc { line: 8, column: 9, .. }));
    assert_eq!(m2.functions[0].body.all_ops().map(|o| o.location()).collect::<Vec<_>>(), locations);
    assert_eq!(again(&public), public);
}

pub fn debug_section(runs: &[&[u64]], attrs: &[&[u8]]) -> Vec<u8> {
    use varint::Encode;
    let mut out = vec![runs.len() as u8];
    out.put_padding(4, 0xCB);
    let mut offset = 0u32;
    for r in runs {
        out.extend(offset.to_le_bytes());
        offset += r.len() as u32;
    }
    out.put_varint(offset.into());
    out.put_padding(8, 0xCB);
    runs.concat().iter().for_each(|i| out.extend(i.to_le_bytes()));
    let records: Vec<Vec<u8>> = attrs.iter().map(|a| a.to_vec()).collect();
    out.put_varint(records.len() as u64);
    out.put_padding(4, 0xCB);
    let mut offset = 0u32;
    for r in &records {
        out.extend(offset.to_le_bytes());
        offset += r.len() as u32;
    }
    out.extend(records.concat());
    out
}

/// The document's example of a valid table: a file, and a block with that file as its scope and file.
#[test]
fn specification_debug_example() {
    let mut p = Pieces::spec_new();
    p.debug = Some(debug_section(&[], &[&[2, 1, 2], &[3, 0, 0, 42, 0]]));
    let m = read(&p.spec(), &options()).unwrap();
    let file = Some(DebugId(0));
    assert_eq!(m.debug[1], DebugAttr::LexicalBlock { scope: file, file, line: 42, column: 0 });
}

/// Partition views are encoded differently in 13.1 and 13.3.
#[test]
fn partition_view_layouts() {
    let old = hex("0F 01 10 00 00 00 09 01 00 00 00 00 00");
    let new = hex("0F 00 01 10 00 00 00 09 01 00 00 00 00");
    let file = |minor: u8, ty: &[u8]| Pieces::new().with(|p| p.types.push(ty.to_vec())).public(minor);
    let m = read(&file(1, &old), &options()).unwrap();
    let n = read(&file(3, &new), &options()).unwrap();
    assert_eq!(m.types.last().map(|t| &t.ty), n.types.last().map(|t| &t.ty));
    assert_eq!(again(&file(1, &old)), again(&file(1, &old)));
    for (v, bytes) in [(schema::V13_1, &old), (schema::V13_2, &old), (schema::V13_3, &new)] {
        let out = write(&m, Profile::Public, v).unwrap();
        assert!(out.windows(bytes.len()).any(|w| w == &bytes[..]), "{v}");
    }
}

#[test]
fn older_files_fill_in_defaults() {
    // negi without overflow, print without token, for without flags, tanh and exp without rounding.
    let body = [
        &[0x50, ty::TILE, 0][..],
        &[0x55, 0, 1, 1, 0],
        &[0x29, 0, 3, 0, 0, 0, 1, 1, 1, ty::TILE, 1, 0x11, 0, 0],
        &[0x6A, ty::TILE, 0],
        &[0x17, ty::TILE, 0],
    ]
    .concat();
    let data = Pieces::body(&body).public(1);
    let m = read(&data, &options()).unwrap();
    let b = &m.functions[0].body;
    let ops: Vec<_> = b.all_ops().map(|o| (o.spec.name, o.attr(0))).collect();
    assert_eq!(ops[0], ("negi", Some(AttrValue::Enum(0))));
    assert_eq!(ops[2], ("for", None));
    assert_eq!(ops[3], ("continue", None));
    assert_eq!(ops[4], ("tanh", Some(AttrValue::Enum(5))));
    assert_eq!(ops[5], ("exp", Some(AttrValue::Enum(5))));
    let print = b.all_ops().nth(1).unwrap();
    assert_eq!(print.result_types().collect::<Vec<_>>(), [TypeId(ty::TOKEN.into())]);
    // Newer files contain all fields, and files written for older versions omit them again.
    let again = |m: &Module, v| read(&write(m, Profile::Public, v).unwrap(), &options()).unwrap();
    let newest = again(&m, schema::V13_3);
    assert_eq!(
        write(&newest, Profile::Public, schema::V13_1).unwrap(),
        write(&m, Profile::Public, schema::V13_1).unwrap()
    );
    for v in [schema::V13_1, schema::V13_2, schema::V13_3] {
        assert_eq!(again(&newest, v).functions[0].body.len(), b.len());
    }
}

#[test]
fn implied_token_type_is_not_written_unless_needed() {
    let mut p = Pieces::body(&[0x55, 0, 1, 1, 0]);
    p.types[ty::TOKEN as usize] = vec![8];
    let data = p.public(1);
    let m = read(&data, &options()).unwrap();
    assert_eq!((m.types.len(), m.declared_types), (11, 10));
    assert_eq!(write(&m, Profile::Public, schema::V13_1).unwrap().len(), again(&data).len());
    assert_eq!(read(&again(&data), &options()).unwrap().declared_types, 10);
    let newer = write(&m, Profile::Public, schema::V13_2).unwrap();
    assert_eq!(read(&newer, &options()).unwrap().declared_types, 11);
}

/// Converting to the specification container and back preserves all operations and values.
#[test]
fn corpus_through_the_specification_container() {
    let mut converted = 0;
    for (name, data) in crate::corpus::supported() {
        let m = read(&data, &options()).unwrap();
        if m.version != schema::V13_1 {
            continue;
        }
        let spec = write(&m, Profile::Specification, m.version).unwrap_or_else(|e| panic!("{name}: {e}"));
        let (n, profile) = read_with_profile(&spec, &options()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(profile, Profile::Specification);
        assert_eq!(write(&n, profile, n.version).unwrap(), spec, "{name}: the second writing differs");
        let back = read(&write(&n, Profile::Public, n.version).unwrap(), &options()).unwrap();
        assert_eq!(crate::dump::dump_without_constants(&back), crate::dump::dump_without_constants(&m), "{name}");
        converted += 1;
    }
    assert!(converted > 80, "{converted}");
}

/// Writes every corpus file in every version that can express it. Writing it again changes nothing.
#[test]
fn corpus_in_other_versions() {
    let (mut written, mut refused) = (0, 0);
    for (name, data) in crate::corpus::supported() {
        let m = read(&data, &options()).unwrap();
        for v in [schema::V13_1, schema::V13_2, schema::V13_3] {
            match write(&m, Profile::Public, v) {
                Ok(bytes) => {
                    assert_eq!(again(&bytes), bytes, "{name} {v}");
                    written += 1;
                }
                Err(e) => {
                    assert!(!v.at_least(m.version), "{name} {v}: {e}");
                    refused += 1;
                }
            }
        }
    }
    assert!(written > 300 && refused > 5, "{written} {refused}");
}

/// An inlined function, in both encodings of the specification container.
fn documented_debug() -> Vec<u8> {
    let attrs: &[&[u8]] = &[
        &[2, 1, 2],                    // 0: the file a in b
        &[1, 0, 1, 5],                 // 1: unit of 0, producer a, flags 5
        &[5, 1, 0, 0, 0, 7, 0, 0],     // 2: subprogram k of unit 1 in file 0, line 7
        &[5, 1, 1, 1, 2, 70, 1, 2, 3], // 3: subprogram a of unit 1 in subprogram 2, line 70, with all flags
        &[4, 2, 0, 8, 4],              // 4: a:8:4 in 2
        &[4, 3, 0, 71, 4, 4],          // 5: a:71:4 in 3, inlined at 4
        &[6, 3, 2, 9, 6],              // 6: 3 called in 2 at 9:6
    ];
    Pieces::spec_new().with(|p| p.debug = Some(debug_section(&[&[4]], attrs))).spec()
}

#[test]
fn records_of_the_specification_container_have_the_documented_layout() {
    let bytes = documented_debug();
    let module = read(&bytes, &ReadOptions::default()).unwrap();
    let DebugAttr::SpecCompileUnit { flags, producer, .. } = module.debug[1] else { panic!("{:?}", module.debug[1]) };
    assert_eq!((flags, module.text(producer)), (5, "a".to_owned()));
    let DebugAttr::SpecSubprogram(s) = &module.debug[3] else { panic!("{:?}", module.debug[3]) };
    assert_eq!((s.line, s.flags, s.purpose, s.sp_flags), (70, 1, 2, Some(3)));
    assert!(matches!(module.debug[5], DebugAttr::SpecLoc { line: 71, inlined_at: Some(DebugId(4)), .. }));
    assert!(matches!(module.debug[6], DebugAttr::SpecCallSite { line: 9, column: 6, .. }));
    let again = write(&module, Profile::Specification, module.version).unwrap();
    let debug = |bytes: &[u8]| read(bytes, &ReadOptions::default()).unwrap().debug;
    assert_eq!(debug(&again), module.debug);
    // The records that the translation to MLIR takes keep the producer and the flags.
    let translated = forms::for_container(&module, Profile::Public);
    let DebugAttr::CompileUnit { producer: Some(producer), flags: 5, .. } = translated.debug[1] else {
        panic!("{:?}", translated.debug[1])
    };
    assert_eq!(translated.text(producer), "a");
    let DebugAttr::Subprogram(s) = &translated.debug[3] else { panic!("{:?}", translated.debug[3]) };
    assert_eq!((s.flags, s.purpose, s.sp_flags), (1, 2, Some(3)));

    // In the public container, the inlined function is a call site with a location for each end.
    let public = write(&module, Profile::Public, module.version).unwrap();
    let public = read(&public, &ReadOptions::default()).unwrap();
    let place = |id: DebugId| match &public.debug[id.index()] {
        DebugAttr::Loc { file, line, column, .. } => (public.text(*file), *line, *column),
        other => panic!("{other:?}"),
    };
    let ends = |i: usize| match public.debug[i] {
        DebugAttr::CallSite { callee: Some(callee), caller: Some(caller) } => (place(callee), place(caller)),
        ref other => panic!("{other:?}"),
    };
    let at = |line, column| ("b/a".to_owned(), line, column);
    assert_eq!(ends(5), (at(71, 4), at(8, 4)));
    assert_eq!(ends(6), (at(70, 0), at(9, 6)));
    // And back: locations refer to files, and no file is added.
    let spec = write(&public, Profile::Specification, public.version).unwrap();
    let spec = read(&spec, &ReadOptions::default()).unwrap();
    assert_eq!(spec.debug.iter().filter(|a| matches!(a, DebugAttr::File { .. })).count(), 1);
    assert!(matches!(spec.debug[6], DebugAttr::SpecCallSite { line: 9, column: 6, .. }));
}

#[test]
fn types_of_the_specification_container_have_the_documented_layout() {
    // A tile of 100 elements, and a view of it: sizes are signed LEB128, and the view's type comes first.
    let bytes = Pieces::spec_new().with(|p| {
        p.types.push([&[13, ty::I32][..], &i64s(&[100])].concat());
        p.types.push([&[14, ty::F32][..], &i64s(&[64, 200]), &i64s(&[DYNAMIC, 1])].concat());
    });
    let module = read(&bytes.spec(), &ReadOptions::default()).unwrap();
    let mut module = module;
    let view = TypeId(module.types.len() as u32 - 1);
    let partition = PartitionView { tile: [4, 128].into(), view, dim_map: [1, 0].into(), padding: Some(1) };
    module.types.push(TypeEntry { ty: Type::PartitionView(Box::new(partition)), offset: 0 });
    module.declared_types = module.types.len();
    let written = write(&module, Profile::Specification, module.version).unwrap();
    let holds = |part: &[u8]| written.windows(part.len()).any(|w| w == part);
    assert!(holds(&[13, ty::I32, 1, 0xE4, 0x00]));
    assert!(holds(&[15, view.0 as u8, 2, 4, 0x80, 0x01, 2, 1, 0, 2]));
    let again = read(&written, &ReadOptions::default()).unwrap();
    let types = |m: &Module| m.types.iter().map(|t| t.ty.clone()).collect::<Vec<_>>();
    assert_eq!(types(&again), types(&module));
}

/// Bit patterns of the f64 identities of reductions and scans, in order.
fn identities(m: &Module) -> Vec<u64> {
    let mut found = vec![];
    for op in m.functions.iter().flat_map(|f| f.body.all_ops()) {
        let Some(index) = op.spec.attrs.iter().position(|a| a.name == "identities") else { continue };
        let Some(AttrValue::Attr(id)) = op.attr(index) else { panic!("{}", op.spec.name) };
        let Attr::Array(elements) = m.attr(id) else { panic!("{:?}", m.attr(id)) };
        found.extend(elements.iter().filter_map(|element| match element {
            Attr::Float { bits, .. } => Some(*bits),
            _ => None,
        }));
    }
    found
}

/// A maximum, an argmax, reductions from -1 and -0, a scan and a sum, as written by cuTile Python: identities with
/// the sign bit set take 65 bits there. This crate writes the 64-bit form, because NVIDIA's compiler loses the sign of
/// the 65-bit form.
#[test]
fn identities_of_65_bits() {
    let data = include_bytes!("f64_identities.tileirbc");
    let m = read(data, &ReadOptions::default()).unwrap();
    let infinity = f64::NEG_INFINITY;
    assert_eq!(identities(&m), [infinity, infinity, -1.0, -0.0, infinity, 0.0].map(f64::to_bits));
    let error = read(data, &options()).unwrap_err().to_string();
    assert!(error.ends_with("non-canonical VarInt"), "{error}");
    let written = write(&m, Profile::Public, m.version).unwrap();
    assert_eq!(identities(&read(&written, &options()).unwrap()), identities(&m));
    let (wide, narrow) = (hex("80*7 F0 FF 03"), hex("FF*7 0F"));
    let count = |data: &[u8], form: &[u8]| data.windows(form.len()).filter(|w| *w == form).count();
    assert_eq!((count(data, &wide), count(data, &narrow)), (3, 0));
    assert_eq!((count(&written, &wide), count(&written, &narrow)), (0, 3));
    assert_eq!(again(&written), written);
}
