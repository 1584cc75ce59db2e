//! Preview features: files of tile libraries, their records byte by byte, and the messages about wrong ones.

use crate::dump::dump;
use std::path::PathBuf;
use tile_bytecode::*;

fn options() -> ReadOptions {
    ReadOptions { strict: true, preview: true, ..ReadOptions::default() }
}

fn golden() -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tests/bytecode/tilelib");
    let files = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let mut files: Vec<_> = files
        .filter(|p| p.extension().is_some_and(|e| e == "tilebc"))
        .map(|p| (p.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&p).unwrap()))
        .collect();
    files.sort();
    assert_eq!(files.len(), 45);
    files
}

fn file(name: &str) -> Vec<u8> {
    golden().into_iter().find(|(n, _)| n == name).unwrap().1
}

fn error(data: &[u8]) -> String {
    read(data, &options()).unwrap_err().to_string()
}

/// The file with the first occurrence of some bytes replaced by as many others.
fn patched(name: &str, old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut data = file(name);
    let at = data.windows(old.len()).position(|w| w == old).unwrap_or_else(|| panic!("{name} lacks {old:x?}"));
    data.splice(at..at + old.len(), new.iter().copied());
    data
}

#[test]
fn golden_files_keep_their_bytes() {
    for (name, data) in golden() {
        let module = read(&data, &options()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(module.library_function(0).is_some(), !name.starts_with("call"), "{name}");
        let written = write(&module, Profile::Public, module.version).unwrap();
        // The front end that wrote the kernels lays out its files differently.
        if !name.starts_with("call") {
            assert_eq!(written, data, "{name}");
        }
        let again = read(&written, &options()).unwrap();
        assert_eq!(write(&again, Profile::Public, again.version).unwrap(), written, "{name}");
        assert_eq!(dump(&again), dump(&module), "{name}");
        assert_eq!(again.library, module.library, "{name}");
    }
}

#[test]
fn records_of_a_catalogue() {
    let module = read(&file("impl_symbolic.tilebc"), &options()).unwrap();
    let function = &module.functions[0];
    let Some(LibraryFunction::Implementation(i)) = module.library_function(0) else { panic!() };
    assert!(function.private);
    assert_eq!((module.string(i.symbol), module.string(i.implements)), (&b"sym"[..], &b"f"[..]));
    let [Attr::Preview(parameter)] = i.parameters.as_deref().unwrap() else { panic!() };
    let Preview::Parameter { name, kind } = &**parameter else { panic!() };
    assert_eq!((module.string(*name), module.ty(*kind)), (&b"N"[..], &Type::Index));
    assert_eq!(i.arguments.as_deref(), Some(&[Attr::Preview(Box::new(Preview::Variable(*name)))][..]));
    assert_eq!((i.synchronization, i.score, i.scratch.as_ref()), (Some(0), None, None));
    let Type::Function { inputs, results } = module.ty(i.signature) else { panic!() };
    let Type::Fragment(fragment) = module.ty(inputs[0]) else { panic!() };
    assert!(results.is_empty());
    assert_eq!(fragment.shape, [Preview::Variable(*name)].into());
    assert_eq!((&*fragment.sizes, fragment.space), (&[DYNAMIC][..], 0));
    assert_eq!(fragment.map.shapes, [Preview::Int(1), Preview::Int(128), Preview::Variable(*name)].into());

    let module = read(&file("impl_scratch.tilebc"), &options()).unwrap();
    let Some(LibraryFunction::Implementation(i)) = module.library_function(0) else { panic!() };
    assert_eq!(i.scratch, Some(Scratch { size: Preview::Int(1024), alignment: Preview::Int(16) }));

    let module = read(&file("iface_symbolic.tilebc"), &options()).unwrap();
    let Some(LibraryFunction::Extern(constants)) = module.library_function(0) else { panic!() };
    assert_eq!(constants.len(), 1);
}

#[test]
fn the_header_announces_previews() {
    let with_tag = |name: &str, minor: u8, tag: u8| {
        let mut data = file(name);
        (data[9], data[10]) = (minor, tag);
        data
    };
    let refused = read(&file("call_local1.tilebc"), &ReadOptions::default()).unwrap_err().to_string();
    assert_eq!(refused, "error at offset 12: public-preview bytecode requires at least one enabled preview feature");
    let content = "malformed bytecode: encountered public-preview";
    let missing = "but the header does not advertise preview content";
    for (name, what) in [
        ("call_local1.tilebc", "opcode 16386"),
        ("iface_local1.tilebc", "attribute tag 223"),
        ("impl_local1.tilebc", "type tag 210"),
    ] {
        let text = error(&with_tag(name, 5, 0));
        // A function without a body is refused before its attributes.
        let expected = format!("{content} {what} {missing}");
        let is_refused = text.contains(&expected) || (what.contains("223") && text.contains("non-entry function 'f'"));
        assert!(is_refused, "{name}: {text}");
    }
    assert!(error(&with_tag("call_local1.tilebc", 5, 3)).contains("header has unrecognized version tag bits (0x2);"));
    let old = error(&with_tag("call_local1.tilebc", 4, 1));
    let text = "error at offset 12: public-preview bytecode at version 13.4.1 is not readable; preview content is only \
                valid at the current version 13.5";
    assert_eq!(old, text);
}

#[test]
fn previews_need_their_version_and_container() {
    for (name, data) in golden() {
        let module = read(&data, &options()).unwrap();
        let old = write(&module, Profile::Public, Version::new(13, 4)).map_err(|e| e.to_string());
        // Interfaces have argument attributes, which are new as well.
        let says = |e: String| e.contains("13.5") || e.contains("is not available");
        assert!(old.clone().is_err_and(says), "{name}: {old:?}");
        let spec = write(&module, Profile::Specification, Version::new(13, 1)).map_err(|e| e.to_string());
        assert!(spec.clone().is_err_and(says), "{name}: {spec:?}");
        // The bit is set even if the caller does not ask for it.
        let new = write(&module, Profile::Public, Version::new(13, 5)).unwrap();
        assert_eq!(new[10], 1, "{name}");
    }
}

#[test]
fn messages_about_wrong_records() {
    let access = [0xDF, 0x01, 0x02];
    let head = [0x00, 0x02, 0x05, 0x00, 0x8C, 0x02];
    let flags = |flags: u8| patched("impl_local1.tilebc", &head, &[0x00, 0x02, flags, 0x00, 0x8C, 0x02]);
    let tail =
        |tail: [u8; 4]| patched("impl_local1.tilebc", &[0x00, 0x00, 0x01, 0x00, 0x00], &[&[0], &tail[..]].concat());
    let cases: &[(Vec<u8>, &str)] = &[
        (patched("iface_local1.tilebc", &access, &[0xDF, 0x01, 0x03]), "invalid enum value for value: 3"),
        (patched("iface_local1.tilebc", &access, &[0xE1, 0x01, 0x00]), "unsupported AttributeTag 225"),
        (patched("iface_local1.tilebc", &access, &[0xE5, 0x01, 0x00]), "unsupported AttributeTag 229"),
        (patched("iface_local1.tilebc", &access, &[0xD0, 0x01, 0x00]), "unsupported AttributeTag 208"),
        (patched("iface_local1.tilebc", &[0x00, 0x06, 0x00], &[0x00, 0x05, 0x00]), "const params payload is not an"),
        (patched("iface_local1.tilebc", &[0x00, 0x06, 0x00], &[0x01, 0x06, 0x00]), "must be extern when serialized"),
        (flags(6), "function entry cannot be both kernel and extern impl"),
        (flags(9), "function entry has testing form in non-test build"),
        (flags(13), "function entry has reserved form value"),
        (flags(0x25), "function entry has unrecognized flag bits (0x20);"),
        (tail([0, 2, 0, 0]), "cuda_tile.preview$extern_impl op expected 1 regions, got 2"),
        (tail([0, 1, 1, 0]), "extern implementation entry has 1 blocks"),
        (tail([0, 1, 0, 1]), "extern implementation entry has non-zero body length (1)"),
        (tail([4, 1, 0, 0]), "invalid integer value for enum type: 4"),
        (patched("impl_local1.tilebc", &[0x07, 0xD2, 0x01], &[0x07, 0xD8, 0x01]), "unknown type tag: 216"),
        (patched("impl_local1.tilebc", &[0xD8, 0x01, 0x01], &[0xD1, 0x01, 0x01]), "must be a SymbolicTupleAttr"),
        (patched("impl_local1.tilebc", &[0x01, 0xD1, 0x01, 0x02], &[0x01, 0xDF, 0x01, 0x02]), "parameter 'elements'"),
        (patched("impl_local1.tilebc", &[0x01, 0xD1, 0x01, 0x02], &[0x01, 0x80, 0x03, 0x02]), "AttributeTag 384"),
        (patched("impl_local1.tilebc", &[0x00, 0xD9, 0x01], &[0x02, 0xD9, 0x01]), "MemorySpace enum value 2"),
        (patched("call_local1.tilebc", &[0x82, 0x80, 0x01], &[0x80, 0x80, 0x01]), "unimplemented opcode: 16384"),
    ];
    for (i, (data, message)) in cases.iter().enumerate() {
        let text = error(data);
        assert!(text.contains(message), "case {i}: {text}");
    }
}

/// Nested expressions and all kinds of attributes, in a declaration of our own.
#[test]
fn every_attribute_survives() {
    let mut pools = Pools::default();
    let access = pools.string(b"cuda_tile.preview$access");
    let (x, n, builtin) = (pools.string(b"cuda_tile.x"), pools.string(b"N"), pools.string(b"context.num_threads"));
    let f32 = pools.ty(Type::Scalar(Scalar::F32));
    let index = pools.ty(Type::Index);
    let kinds = [Type::Datatype, Type::Shape, Type::Text, Type::None].map(|t| pools.ty(t));
    let symbol = pools.ty(Type::Symbolic(Preview::Variable(n)));
    let tile = pools.ty(Type::Tile { element: f32, shape: [4].into() });
    let signature = pools.ty(Type::Function { inputs: [tile].into(), results: [].into() });
    let mut nested = Preview::Variable(n);
    for kind in [Binary::Mul, Binary::Div, Binary::Add, Binary::Sub, Binary::FloorDiv, Binary::CeilDiv] {
        nested = Preview::Binary(kind, Box::new([nested, Preview::Int(-3)]));
    }
    let parts = vec![
        Preview::Negation(Box::new(nested)),
        Preview::Type(symbol),
        Preview::Text(n),
        Preview::Builtin { name: builtin, ty: index },
        Preview::Tuple([].into()),
        Preview::Int(i64::MIN),
    ];
    let tuple = Preview::Tuple(parts.into());
    let modes: Box<[Preview]> = [Preview::Int(4), Preview::Tuple([Preview::Variable(n)].into())].into();
    let layout = Preview::Layout(Box::new(LayoutMap { shapes: modes.clone(), strides: modes }));
    let scratch = Preview::Scratch(Box::new(Scratch { size: Preview::Int(0), alignment: Preview::Variable(n) }));
    let list = [tuple, layout, scratch, Preview::Space(1), Preview::Synchronization(3)];
    let array = Attr::Array(list.into_iter().map(|p| Attr::Preview(Box::new(p))).collect());
    let entries = [(access, Attr::Preview(Box::new(Preview::Access(0)))), (x, array)];
    let arg_attrs = pools.attrs.intern(Attr::Array([Attr::Dictionary(entries.into())].into()));
    let constants = kinds.map(|kind| Attr::Preview(Box::new(Preview::Parameter { name: n, kind })));
    let mut module = Module::new(Version::new(13, 5));
    module.functions.push(Function {
        name: n,
        signature,
        private: true,
        hints: None,
        arg_attrs: Some(arg_attrs),
        location: None,
        body: Body::default(),
        offset: 0,
    });
    module.library.push((0, LibraryFunction::Extern(constants.into())));
    pools.finish(&mut module);
    let data = write(&module, Profile::Public, module.version).unwrap();
    let again = read(&data, &options()).unwrap();
    assert_eq!(again.library, module.library);
    assert_eq!(again.attr(again.functions[0].arg_attrs.unwrap()), module.attr(arg_attrs));
    assert_eq!(write(&again, Profile::Public, again.version).unwrap(), data);
    // Expressions may not nest without bound.
    let mut deep = Preview::Int(0);
    for _ in 0..40 {
        deep = Preview::Negation(Box::new(deep));
    }
    let constants = [Attr::Preview(Box::new(deep))].into();
    module.library[0].1 = LibraryFunction::Extern(constants);
    let data = write(&module, Profile::Public, module.version).unwrap();
    assert!(error(&data).contains("attributes are nested too deeply"));
}
