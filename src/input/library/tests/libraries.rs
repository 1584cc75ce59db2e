//! Files of libraries, and the choice of implementations, with the golden files.

use std::path::PathBuf;
use tile_bytecode::*;
use tile_library::{
    Call, Context, CreateError, Library, LibraryError, Mismatch, Resolution, Tile, Value, create, file, redefinition,
    resolve,
};

fn golden(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tests/bytecode/tilelib");
    std::fs::read(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

const CONTEXT: Context = Context { target: "sm_90a", threads: 128 };

fn library(case: &str) -> Library {
    let [interface, catalogue] = ["iface", "impl"].map(|part| golden(&format!("{part}_{case}.tilebc")));
    Library::read(case, &file::write(&interface, [&catalogue, b"code"])).unwrap()
}

fn f32s(shape: &[i64]) -> Tile {
    Tile { shape: shape.to_vec(), element: "f32".into() }
}

/// A call of `@f` with an `inout` tile.
fn call(shape: &[i64], constants: &[Value]) -> Call {
    let constants = constants.iter().cloned().map(Ok).collect();
    Call { callee: "f".into(), constants, operands: vec![f32s(shape)], results: vec![f32s(shape)] }
}

fn chosen(library: &Library, call: &Call) -> tile_library::Chosen {
    match resolve(std::slice::from_ref(library), call, CONTEXT) {
        Resolution::Chosen(chosen) => chosen,
        other => panic!("{other:?}"),
    }
}

/// What the only candidate lacks.
fn lacks(library: &Library, call: &Call, context: Context) -> String {
    match resolve(std::slice::from_ref(library), call, context) {
        Resolution::None(none) => {
            assert_eq!(none.candidates.len(), 1, "{none:?}");
            none.candidates[0].1.clone()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn files_equal_those_of_the_command_that_exists() {
    let (interface, catalogue, code) = (golden("iface_local1.tilebc"), golden("impl_local1.tilebc"), golden("c1.ptx"));
    let expected = golden("nvidia.tilelib");
    assert_eq!(create(&interface, &[catalogue.clone(), code.clone()]).unwrap(), expected);
    for (parts, text) in [([&catalogue, &code], "catalogue first"), ([&code, &catalogue], "code first")] {
        let library = Library::read("x", &file::write(&interface, [parts[0], parts[1]])).unwrap();
        assert_eq!(library.code, code, "{text}");
        assert_eq!(library.catalogue.library.len(), 1);
    }
}

#[test]
fn wrong_files_are_rejected() {
    let read = |data: &[u8]| Library::read("x", data).map(|_| ()).unwrap_err();
    let good = golden("nvidia.tilelib");
    for data in [&b""[..], b"\x7fELF", b"#!/bin/sh\n", &good[..64], &good[..good.len() - 1]] {
        assert_eq!(read(data), LibraryError::NotAnObject, "{} bytes", data.len());
    }
    let (interface, catalogue) = (golden("iface_local1.tilebc"), golden("impl_local1.tilebc"));
    let counts = |catalogues, codes| LibraryError::Parts { catalogues, codes };
    assert_eq!(read(&file::write(&interface, [b"a", b"b"])), counts(0, 2));
    assert_eq!(read(&file::write(&interface, [&catalogue, &catalogue])), counts(2, 0));
    let swapped = read(&file::write(&catalogue, [&catalogue, b"code"]));
    assert_eq!(swapped, LibraryError::NotADeclaration("sym".into()));
    assert_eq!(read(&file::write(&interface, [&interface, b"code"])), LibraryError::NotAnImplementation("f".into()));
    assert!(matches!(
        read(&file::write(b"?", [&catalogue, b"code"])),
        LibraryError::Bytecode { part: "interface", .. }
    ));
    // Without the parts, or with other names of sections.
    let renamed = |from: &[u8], to: &[u8]| {
        let mut data = good.clone();
        let at = data.windows(from.len()).position(|w| w == from).unwrap();
        data[at..at + to.len()].copy_from_slice(to);
        data
    };
    assert_eq!(read(&renamed(b".nvtlifc", b".nvtlifx")), LibraryError::NoInterface);
    let mut without = renamed(b".nvtl.1", b".xvtl.1");
    let at = without.windows(7).position(|w| w == b".nvtl.0").unwrap();
    without[at + 1] = b'x';
    assert_eq!(read(&without), LibraryError::Provider);
    // No damage of a byte makes the reader panic.
    for at in 0..good.len() {
        let mut data = good.clone();
        data[at] ^= 0xFF;
        let _ = Library::read("x", &data);
    }
}

#[test]
fn messages_of_making_a_library() {
    let (interface, catalogue) = (golden("iface_local1.tilebc"), golden("impl_local1.tilebc"));
    let code = b"code".to_vec();
    let shared_library = [b"\x7fELF".to_vec(), vec![0; 12], vec![3, 0]].concat();
    let error = |interface: &[u8], files: &[&Vec<u8>]| {
        create(interface, &files.iter().map(|f| (*f).clone()).collect::<Vec<_>>()).unwrap_err()
    };
    assert_eq!(error(b"x", &[]), CreateError::InterfaceIsNotBytecode);
    assert_eq!(error(&catalogue, &[]), CreateError::NotADeclaration("cuda_tile.preview$extern_impl"));
    assert_eq!(error(&golden("call_local1.tilebc"), &[]), CreateError::NotADeclaration("cuda_tile.entry"));
    assert_eq!(error(&interface, &[]), CreateError::InterfaceOnly);
    assert_eq!(error(&interface, &[&catalogue]), CreateError::NoCode);
    assert_eq!(error(&interface, &[&code]), CreateError::NoCatalogue);
    assert_eq!(error(&interface, &[&code, &code]), CreateError::Options);
    assert_eq!(error(&interface, &[&catalogue, &catalogue]), CreateError::Options);
    assert_eq!(error(&interface, &[&catalogue, &code, &code]), CreateError::Options);
    assert_eq!(error(&interface, &[&catalogue, &shared_library]), CreateError::Provider);
    assert!(matches!(error(&interface, &[&interface, &code]), CreateError::Library(_)));
}

#[test]
fn a_symbolic_implementation_serves_every_size() {
    let library = library("symbolic");
    let four = chosen(&library, &call(&[512], &[Value::Int(4)]));
    assert_eq!(four.symbol, "sym__N4");
    let text = "preview$fragment<4xf32, local, mem_layout = <(4):(1)>, fragmap = <(1, 128, 4):(0, 4, 1)>>";
    assert_eq!(four.fragments[0].to_string(), text);
    assert_eq!((four.access, four.scratch, four.synchronization), (vec![2], None, 0));
    // The map of two elements does not cover the tile of the declaration.
    let two = lacks(&library, &call(&[512], &[Value::Int(2)]), CONTEXT);
    assert!(two.contains("<(1, 128, 2):(0, 2, 1)> does not reach each of the 512 elements"), "{two}");
    let negative = lacks(&library, &call(&[512], &[Value::Int(-4)]), CONTEXT);
    assert_eq!(negative, "no symbol can have 'N' = -4 in its name");
}

#[test]
fn implementations_of_all_cases() {
    let shapes: [(&str, &[i64]); 13] = [
        ("local1", &[128]),
        ("local32", &[32]),
        ("local4", &[128]),
        ("local4s", &[128]),
        ("colmajor", &[8, 16]),
        ("nested", &[8, 16]),
        ("frag2d", &[128]),
        ("frag2dc", &[128]),
        ("invoc4", &[128]),
        ("invoc8", &[256]),
        ("shared", &[8, 16]),
        ("sharedrm", &[8, 16]),
        ("scratch", &[128]),
    ];
    for (case, shape) in shapes {
        let chosen = chosen(&library(case), &call(shape, &[]));
        assert_eq!(chosen.symbol, "sym", "{case}");
        assert_eq!(chosen.scratch, (case == "scratch").then_some((1024, 16)), "{case}");
        assert_eq!(chosen.fragments[0].shared, case.starts_with("shared"), "{case}");
    }
    let less = lacks(&library("cover_less"), &call(&[64], &[]), CONTEXT);
    assert!(less.contains("does not reach each of the 64 elements of a tile of 64 once"), "{less}");
}

#[test]
fn calls_are_checked_against_the_declaration() {
    let mismatch = |library: &Library, call: &Call| match resolve(std::slice::from_ref(library), call, CONTEXT) {
        Resolution::Mismatch(m) => m,
        other => panic!("{other:?}"),
    };
    let (plain, symbolic) = (library("local1"), library("symbolic"));
    assert_eq!(mismatch(&symbolic, &call(&[512], &[])), Mismatch::ConstantCount { given: 0, declared: 1 });
    let text = mismatch(&symbolic, &call(&[512], &[Value::Text("x".into())])).to_string();
    let expected = "constant argument #0 for constant parameter 'N' must be a valid integer expression: unknown \
                    expression in integer context";
    assert_eq!(text, expected);
    assert_eq!(mismatch(&plain, &call(&[64], &[])), Mismatch::Operand(0));
    let mut ints = call(&[128], &[]);
    ints.operands[0].element = "i32".into();
    assert_eq!(mismatch(&plain, &ints).to_string(), "operand type mismatch at index 0");
    let mut none = call(&[128], &[]);
    none.results.clear();
    assert_eq!(mismatch(&plain, &none).to_string(), "result count (0) must match extern preview$func result count (1)");
    let mut more = call(&[128], &[]);
    more.operands.push(f32s(&[]));
    assert_eq!(mismatch(&plain, &more), Mismatch::OperandCount { given: 2, declared: 1 });
    let mut other = call(&[128], &[]);
    other.results[0] = f32s(&[64]);
    assert_eq!(mismatch(&plain, &other), Mismatch::Result(0));
    let unknown = Call { callee: "nope".into(), ..call(&[128], &[]) };
    let Resolution::None(none) = resolve(std::slice::from_ref(&plain), &unknown, CONTEXT) else { panic!() };
    assert_eq!((none.library, none.candidates.len()), (None, 0));
    assert_eq!(redefinition(&[plain.clone(), symbolic.clone()]), Some("f".into()));
    assert_eq!(redefinition(&[plain]), None);
}

/// The catalogue of a case with each implementation changed.
fn changed(case: &str, copies: usize, change: impl Fn(usize, &mut Module, &mut Implementation)) -> Library {
    let mut library = library(case);
    let (function, record) = (library.catalogue.functions[0].clone(), library.catalogue.library[0].1.clone());
    library.catalogue.functions.clear();
    library.catalogue.library.clear();
    for k in 0..copies {
        let LibraryFunction::Implementation(mut i) = record.clone() else { panic!() };
        let name = format!("sym{k}");
        i.symbol = StringId(library.catalogue.strings.push(name.as_bytes()));
        change(k, &mut library.catalogue, &mut i);
        library.catalogue.functions.push(function.clone());
        library.catalogue.library.push((k as u32, LibraryFunction::Implementation(i)));
    }
    library
}

#[test]
fn the_highest_score_wins_and_then_the_first() {
    let of = |scores: &[Option<u64>]| {
        let library = changed("local1", scores.len(), |k, _, i| i.score = scores[k]);
        chosen(&library, &call(&[128], &[])).symbol
    };
    assert_eq!(of(&[None, Some(1), Some(2), Some(2)]), "sym2");
    assert_eq!(of(&[None, None]), "sym0");
    // A score is signed, and even a negative one is higher than none.
    assert_eq!(of(&[None, Some(-1i64 as u64)]), "sym1");
}

#[test]
fn architectures_threads_and_synchronization() {
    let with = |names: &'static [&'static str]| {
        changed("local1", 1, |_, module, i| {
            let names = names.iter().map(|n| Attr::String(StringId(module.strings.push(n.as_bytes()))));
            i.architectures = Some(names.collect());
        })
    };
    let f = call(&[128], &[]);
    for names in [&["sm_90"][..], &["sm_90a"], &["sm_80", "sm_90"]] {
        assert_eq!(chosen(&with(names), &f).symbol, "sym0", "{names:?}");
    }
    for names in [&[][..], &["90"], &["sm_80"]] {
        let reason = lacks(&with(names), &f, CONTEXT);
        assert_eq!(reason, format!("it supports the architectures [{}], but not sm_90a", names.join(", ")));
    }
    let few = lacks(&library("local1"), &f, Context { threads: 64, ..CONTEXT });
    assert_eq!(few, "it needs 128 threads, but a CTA has 64");
    let more = lacks(&library("scratch"), &f, Context { threads: 256, ..CONTEXT });
    assert!(more.starts_with("it synchronizes the CTA, so its 128 participants must be the 256 threads"), "{more}");
    let access = changed("local1", 1, |_, module, i| {
        let key = StringId(module.strings.push(b"cuda_tile.preview$access"));
        let read = Attr::Dictionary([(key, Attr::Preview(Box::new(Preview::Access(0))))].into());
        i.arg_attrs = Some([read].into());
    });
    assert_eq!(lacks(&access, &f, CONTEXT), "parameter 0 is 'inout', but fragment 0 is 'in'");
}

#[test]
fn constants_unify() {
    let parameters = |module: &mut Module, names: &[&str]| -> Option<Box<[Attr]>> {
        let kind = TypeId(module.types.len() as u32);
        module.types.push(TypeEntry { ty: Type::Index, offset: 0 });
        let of = |name: &&str| {
            let name = StringId(module.strings.push(name.as_bytes()));
            Attr::Preview(Box::new(Preview::Parameter { name, kind }))
        };
        Some(names.iter().map(of).collect())
    };
    let attr = |p: Preview| Attr::Preview(Box::new(p));
    // `@f<[N]>` of a declaration with one constant.
    let with = |names: &'static [&'static str], argument: &dyn Fn(&mut Module) -> Preview| {
        let mut library = changed("local1", 1, |_, module, i| {
            i.parameters = parameters(module, names);
            i.arguments = Some([attr(argument(module))].into());
        });
        let declared = parameters(&mut library.interface, &["N"]).unwrap();
        library.interface.library[0].1 = LibraryFunction::Extern(declared);
        library
    };
    let name = |module: &mut Module| StringId(module.strings.push(b"N"));
    let two = call(&[128], &[Value::Int(2)]);
    assert_eq!(chosen(&with(&["N"], &|m| Preview::Variable(name(m))), &two).symbol, "sym0__N2");
    // The wildcard adds nothing to the name.
    assert_eq!(chosen(&with(&["?"], &|_| Preview::Int(2)), &two).symbol, "sym0");
    let sum = |_: &mut Module| Preview::Binary(Binary::Add, Box::new([Preview::Int(1), Preview::Int(1)]));
    assert_eq!(chosen(&with(&["?"], &sum), &two).symbol, "sym0");
    let lacking = |library: &Library| lacks(library, &two, CONTEXT);
    assert_eq!(lacking(&with(&["?"], &|_| Preview::Int(3))), "it implements the constant 3, but the call has 2");
    assert!(lacking(&with(&[], &|_| Preview::Int(2))).contains("needs a constant parameter, perhaps '?'"));
    assert_eq!(lacking(&with(&["M"], &|m| Preview::Variable(name(m)))), "'N' is not a constant parameter");
    // Two variables, named in byte order whatever the order of parameters.
    assert_eq!(Value::Tuple(vec![Value::Int(8), Value::Int(16)]).mangled(), Some("816".into()));
    assert_eq!(Value::Text("a b".into()).mangled(), None);
    assert_eq!(Value::Type("f8E4M3FN".into()).mangled(), Some("f8E4M3FN".into()));
}
