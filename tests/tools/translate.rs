//! Bytecode to MLIR and back.

// Some of the helpers are only used by the wire tests.
#[allow(dead_code)]
#[path = "../bytecode/bytes.rs"]
mod bytes;
#[allow(dead_code)]
#[path = "../bytecode/dump.rs"]
mod dump;

use bytes::{Pieces, entry, i64s, ty};
use dump::dump_without_constants;
use melior::{
    Context,
    ir::{
        Module,
        operation::{OperationLike, OperationPrintingFlags},
    },
};
use std::path::PathBuf;
use tile_interface::{CompileRequest, Compiler, DebugInfo, Emit, InputKind};
use tile_test_support::{Trial, functions};
use tileiras::{
    compile::InProcess,
    dialect,
    tools::listing,
    translate::{ExportError, ImportError, Profile, Version, WriteError, export, export_wire, import, import_wire},
};

fn corpus() -> Vec<(String, Vec<u8>)> {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut files: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "tileirbc") && !p.to_string_lossy().contains(".13.4."))
        .map(|p| (p.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&p).unwrap()))
        .collect();
    files.sort();
    assert!(files.len() > 100);
    files
}

/// Returns the module as generic text with locations, without elision.
fn text(m: &Module) -> String {
    generic(m, true)
}

fn generic(m: &Module, locations: bool) -> String {
    let flags = OperationPrintingFlags::new().print_generic_operation_form().enable_debug_info(locations, false);
    m.as_operation().to_string_with_flags(flags).unwrap()
}

/// Returns a dump with booleans as integers of type i1, the spelling of the reference writer.
fn normal(m: &tile_bytecode::Module) -> String {
    dump_without_constants(m).replace("bool 0", "0 : i1").replace("bool 1", "1 : i1")
}

fn corpus_round_trip() {
    let context = dialect::context();
    for (name, data) in corpus() {
        let wire = tile_bytecode::read(&data, &Default::default()).unwrap();
        let module = import(&context, &data).unwrap_or_else(|e| panic!("{name}: {}", e.lines().join("\n")));
        let again = export_wire(&module, wire.version).unwrap_or_else(|e| panic!("{name}: {e}"));
        let bytes =
            tile_bytecode::write(&again, Profile::Public, wire.version).unwrap_or_else(|e| panic!("{name}: {e}"));
        let read = tile_bytecode::read(&bytes, &Default::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(normal(&read), normal(&wire), "{name}");
        // Parsing it as text, or as the disassembler's text inside a module, gives the same program.
        let debug = OperationPrintingFlags::new().enable_debug_info(true, false);
        for printed in [module.as_operation().to_string_with_flags(debug).unwrap(), in_module(&listing(&module, true))]
        {
            let parsed = parse(&context, &printed);
            // Without locations, because an implicit terminator gets the location of the enclosing operation.
            assert_eq!(generic(&parsed, false), generic(&module, false), "{name} as text");
        }
        let second = import_wire(&context, &read).unwrap();
        assert_eq!(text(&second), text(&module), "{name}");
        assert_eq!(
            export(&second, wire.version, Profile::Public).unwrap(),
            bytes,
            "{name}: the second writing differs"
        );
    }
}

/// Returns a listing as a file: the operations in a module, the location attributes outside.
fn in_module(listing: &str) -> String {
    let (attributes, ops): (Vec<&str>, Vec<&str>) = listing.lines().partition(|l| l.starts_with('#'));
    format!("cuda_tile.module @kernels {{\n{}\n}}\n{}", ops.join("\n"), attributes.join("\n"))
}

fn specification_container() {
    let context = dialect::context();
    let mut converted = 0;
    for (name, data) in corpus().into_iter().filter(|(n, _)| n.contains(".13.1.")) {
        let module = import(&context, &data).unwrap();
        let spec =
            export(&module, Version::new(13, 1), Profile::Specification).unwrap_or_else(|e| panic!("{name}: {e}"));
        let again = import(&context, &spec).unwrap_or_else(|e| panic!("{name}: {}", e.lines().join("\n")));
        assert_eq!(text(&again), text(&module), "{name}");
        converted += 1;
    }
    assert!(converted > 80);
}

/// A kernel with debug information of a front end, and a print.
const DESCRIBED: &str = r##"
#file = #cuda_tile.di_file<"k.py" in "/src">
#unit = #cuda_tile.di_compile_unit<file = #file, producer = "front 1.0", flags = 5>
#scope = #cuda_tile.di_subprogram<file = #file, line = 3, name = "k", linkageName = "k", compileUnit = #unit, scopeLine = 3, flags = 256, purpose = 2, spFlags = 4>
cuda_tile.module @kernels {
  entry @k(%x: tile<i32>) {
    %t = print_tko "value %d\0A", %x : tile<i32> -> token loc(#cuda_tile.di_loc<loc("/src/k.py":4:2) in #scope>)
    return loc(#cuda_tile.di_loc<loc("/src/k.py":5:2) in #scope>)
  } loc(#cuda_tile.di_loc<loc("/src/k.py":3:1) in #scope>)
}
"##;

fn specification_bytes(program: &str) -> Vec<u8> {
    let context = dialect::context();
    let module = Module::parse(&context, program).expect("a valid program");
    export(&module, Version::new(13, 1), Profile::Specification).unwrap()
}

/// Compiles bytecode for sm_90.
fn compiled(data: &[u8], kind: InputKind, emit: Emit, (level, debug): (u8, DebugInfo)) -> String {
    let target = tile_targets::Target::by_name("sm_90").unwrap();
    let request = CompileRequest { emit, debug, opt_level: level, ..CompileRequest::new(data, kind, target) };
    InProcess.compile(&request, &mut |d| panic!("{}", d.message)).unwrap().text
}

/// The bytes of data in PTX.
fn data_bytes(ptx: &str) -> Vec<u8> {
    let values = |line: &str| -> Vec<u8> {
        let list = line.trim().strip_prefix(".b8 ").unwrap_or_default();
        list.split("//").next().unwrap_or_default().split(',').filter_map(|n| n.trim().parse().ok()).collect()
    };
    ptx.lines().flat_map(values).collect()
}

/// The producer, the flags and the purpose of the specification's records reach DWARF.
fn debug_records_reach_dwarf() {
    let spec = specification_bytes(DESCRIBED);
    let context = dialect::context();
    let again = text(&import(&context, &spec).unwrap());
    for part in ["producer = \"front 1.0\", flags = 5", "flags = 256, purpose = 2, spFlags = 4"] {
        assert!(again.contains(part), "no {part}: {again}");
    }
    let of = |emit| compiled(&spec, InputKind::SpecBytecode, emit, (0, DebugInfo::Full));
    let llvm = of(Emit::Llvm);
    for part in ["producer: \"front 1.0 (flags 0x5)\"", "spFlags: DISPFlagLocalToUnit | DISPFlagDefinition"] {
        assert!(llvm.contains(part), "no {part}: {llvm}");
    }
    let bytes = data_bytes(&of(Emit::Ptx));
    for part in ["front 1.0 (flags 0x5)\x00", "flags\x00256\x00", "purpose\x002\x00"] {
        assert!(bytes.windows(part.len()).any(|w| w == part.as_bytes()), "no {part:?} in DWARF");
    }
}

/// Tag 85 is `print` in the specification's container, in text and in messages.
fn print_has_its_name_of_the_specification() {
    let spec = specification_bytes(DESCRIBED);
    let context = dialect::context();
    let plain = |m: &Module| m.as_operation().to_string();
    let shown = plain(&import(&context, &spec).unwrap());
    assert!(shown.contains("= print \"value") && !shown.contains("print_tko"), "{shown}");
    assert!(Module::parse(&context, &shown).is_some(), "{shown}");
    let module = Module::parse(&context, DESCRIBED).unwrap();
    let public = export(&module, Version::new(13, 1), Profile::Public).unwrap();
    assert!(plain(&import(&context, &public).unwrap()).contains("= print_tko \"value"));

    let at = spec.windows(8).position(|w| w == b"value %d").unwrap();
    let mut wrong = spec;
    wrong[at + 7] = b'%';
    let said = import(&context, &wrong).unwrap_err().lines().join("\n");
    assert!(said.contains("'cuda_tile.print' op incorrect number of operands"), "{said}");
    assert!(said.contains("failed to create operation 'cuda_tile.print' due to verification error."), "{said}");
    assert!(!said.contains("print_tko"), "{said}");
}

/// Messages of assertions name lines, so a program has the same PTX through both containers only with its locations.
fn both_containers_have_the_same_ptx() {
    let context = dialect::context();
    let (name, public) = corpus().into_iter().find(|(n, _)| n == "print_assert.13.1.tileirbc").unwrap();
    let module = import(&context, &public).unwrap();
    let spec = export(&module, Version::new(13, 1), Profile::Specification).unwrap();
    let how = (3, DebugInfo::None);
    let ptx = |data: &[u8], kind| compiled(data, kind, Emit::Ptx, how);
    let expected = ptx(&public, InputKind::PublicBytecode);
    assert_eq!(ptx(&spec, InputKind::SpecBytecode), expected, "{name}");
    let bare = Module::parse(&context, &module.as_operation().to_string()).unwrap();
    let bare = export(&bare, Version::new(13, 1), Profile::Specification).unwrap();
    assert_ne!(ptx(&bare, InputKind::SpecBytecode), expected, "locations were not printed");
}

fn empty_module() {
    let context = dialect::context();
    let data =
        tile_bytecode::write(&tile_bytecode::Module::new(Version::new(13, 1)), Profile::Public, Version::new(13, 1))
            .unwrap();
    let module = import(&context, &data).unwrap();
    assert!(module.as_operation().to_string().contains("@kernels"));
    assert_eq!(export(&module, Version::new(13, 1), Profile::Public).unwrap(), data);
}

fn lines(data: &[u8]) -> Vec<String> {
    import(&dialect::context(), data).expect_err("the file is not a valid program").lines()
}

/// The cause is reported first, then its consequence.
fn reports() {
    // divi unsigned rounding<negative_inf>: the verifier's message, then the operation that could not be created.
    let data = Pieces::body(&[0x15, ty::TILE, 0, 2, 0, 0]).public(1);
    assert_eq!(
        lines(&data),
        [
            "'cuda_tile.divi' op rounding mode 'negative_inf' is not allowed with 'unsigned' flag".to_owned(),
            "error at offset 22: failed to create operation 'cuda_tile.divi' due to verification error.".to_owned(),
        ]
    );
    // A wire error names its section.
    let lines_of = lines(&Pieces::body(&[25]).public(1));
    assert_eq!(lines_of[0], "error at offset 22: unknown or unimplemented opcode: 25");
    assert!(lines_of[1].ends_with("failed to parse function section"), "{lines_of:?}");
    // A type that the dialect rejects, at its record.
    let data = Pieces::new().with(|p| p.types.push([&[13, ty::I32][..], &i64s(&[3, 5])].concat())).public(1);
    let e = import(&dialect::context(), &data).unwrap_err();
    assert!(matches!(&e, ImportError::Refused { message, .. } if message.contains("power")), "{e:?}");
    assert!(e.to_string().starts_with("error at offset "), "{e}");
}

/// Two entries with the same name: the module does not verify, though each operation does.
fn module_verification() {
    let data = Pieces::new().with(|p| p.functions = vec![entry(bytes::RETURN), entry(bytes::RETURN)]).public(1);
    let report = lines(&data);
    assert!(report[0].contains("redefinition of symbol named 'k'"), "{report:?}");
    assert_eq!(report.last().unwrap(), "verification failed for deserialized cuda_tile::ModuleOp");
}

fn parse<'c>(context: &'c Context, source: &str) -> Module<'c> {
    Module::parse(context, source).unwrap_or_else(|| panic!("does not parse: {source}"))
}

fn refused(body: &str, version: (u8, u8)) -> ExportError {
    let context = dialect::context();
    let module = parse(&context, &format!("cuda_tile.module @m {{\n{body}\n}}"));
    export(&module, Version::new(version.0, version.1), Profile::Public).expect_err(body)
}

/// Messages of the writer, by program and version.
fn writer_checks() {
    let in_entry = |ops: &str| format!("entry @k() {{ {ops} return }}");
    let i32_constant = "%c = constant <i32: 1> : tile<i32>";
    for (body, version, wanted) in [
        (
            in_entry(&format!("{i32_constant} %n = negi %c overflow<no_signed_wrap> : tile<i32>")),
            (13, 1),
            "attribute 'overflow' requires bytecode version 13.2+, but targeting 13.1",
        ),
        (
            "global constant @g <i32: [1, 2]> : tile<2xi32>".to_owned(),
            (13, 1),
            "constant global `g` cannot be encoded in bytecode version 13.1 (the `constant` attribute requires bytecode 13.3+)",
        ),
        (
            "global private @dce_private_used <i32: [1, 2]> : tile<2xi32>".to_owned(),
            (13, 2),
            "global `dce_private_used` uses non-public symbol visibility, which cannot be encoded in bytecode version 13.2 (requires bytecode 13.3+)",
        ),
        (
            in_entry("%a = constant <f32: 1.0> : tile<f32> %b = atan2 %a, %a : tile<f32>"),
            (13, 1),
            "operation 'cuda_tile.atan2' is not available in bytecode version 13.1",
        ),
        (
            "entry @k(%p: tile<ptr<f8E8M0FNU>>) { return }".to_owned(),
            (13, 1),
            "type 'Float8E8M0FNU' requires bytecode version 13.2+, targeting 13.1",
        ),
        ("entry @k(%p: tensor<4xf32>) { return }".to_owned(), (13, 3), "unsupported type in bytecode writer"),
        (
            in_entry("%t = make_token : token loc(fused[\"a\", \"b\"])"),
            (13, 1),
            "unsupported location, got FusedLoc, expected DILocAttr or CallSiteLoc",
        ),
        (
            in_entry("%t = make_token : token loc(\"name\")"),
            (13, 1),
            "unsupported location, got NameLoc, expected DILocAttr or CallSiteLoc",
        ),
    ] {
        assert_eq!(refused(&body, version).to_string(), wanted, "{body}");
    }
    let e = refused(&in_entry("%t = make_token : token %u = print_tko \"x\" token=%t -> token"), (13, 1));
    assert!(matches!(e, ExportError::Write(WriteError::OptionalOperand { name: "token", .. })), "{e}");
    let e = refused(
        &in_entry("%u = print_tko \"x\" -> token %v = print_tko \"y\" -> token %j = join_tokens %u, %v : token"),
        (13, 1),
    );
    assert_eq!(
        e.to_string(),
        "result 'result_token' requires bytecode version 13.2 but is being used and targeting 13.1"
    );
}

/// Constants of every element type are preserved bit by bit.
fn constants_of_every_type() {
    let context = dialect::context();
    let mut ops = String::new();
    for (i, (element, values)) in [
        ("i1", "true, false, true, true, false, false, true, false, true, true, true, true, false, false, false, true"),
        ("i8", "-128, 127, 255, 0"),
        ("i16", "-32768, 32767, 65535, 1"),
        ("i32", "-2147483648, 4294967295, 0, 7"),
        ("i64", "-9223372036854775808, 9223372036854775807, 0, -1"),
        ("f16", "1.0, -2.5, 0x7E00, 0x0001"),
        ("bf16", "1.0, -2.5, 0x7FC1, 0x0001"),
        ("f32", "1.0, -0.0, 0x7FC00001, 0x00000001"),
        ("f64", "1.0, -0.0, 0x7FF8000000000001, 0x0000000000000001"),
        ("tf32", "1.0, -2.5, 0.0, 3.0"),
        ("f8E4M3FN", "1.0, -2.5, 0.0, 0x7F"),
        ("f8E5M2", "1.0, -2.5, 0.0, 0x7F"),
        ("f8E8M0FNU", "1.0, 2.0, 4.0, 0.5"),
        ("f4E2M1FN", "1.0, -2.0, 0.5, 6.0"),
    ]
    .into_iter()
    .enumerate()
    {
        let n = values.split(',').count();
        let first = values.split(',').next().unwrap();
        ops += &format!("%v{i} = constant <{element}: [{values}]> : tile<{n}x{element}>\n");
        ops += &format!("%s{i} = constant <{element}: {first}> : tile<{n}x{element}>\n");
    }
    let module = parse(&context, &format!("cuda_tile.module @kernels {{ entry @k() {{ {ops} return }} }}"));
    let data = export(&module, Version::new(13, 3), Profile::Public).unwrap();
    let again = import(&context, &data).unwrap_or_else(|e| panic!("{}", e.lines().join("\n")));
    let constants = |m: &Module| -> Vec<String> {
        m.as_operation().to_string().lines().filter(|l| l.contains("constant <")).map(|l| l.trim().to_owned()).collect()
    };
    assert_eq!(constants(&again).len(), 28);
    assert_eq!(constants(&again), constants(&module));
    assert_eq!(export(&again, Version::new(13, 3), Profile::Public).unwrap(), data);
}

/// Flipped bytes reach MLIR's constructors and verifiers, which must handle any input. `TILEIR_FULL=1` flips every
/// byte of every file.
fn damaged_programs_are_refused_or_compile() {
    let full = std::env::var("TILEIR_FULL").is_ok_and(|v| v == "1");
    let context = dialect::context();
    let (mut refused, mut accepted) = (0u32, 0u32);
    for (name, data) in corpus() {
        let step = if full { 1 } else { 1 + data.len() / 25 };
        for at in (0..data.len()).step_by(step) {
            for flip in [0x01, 0x80, 0xFF] {
                let mut damaged = data.clone();
                damaged[at] ^= flip;
                match import(&context, &damaged) {
                    Err(e) => {
                        refused += 1;
                        assert!(e.lines().iter().all(|l| !l.is_empty()), "{name} at {at}: {e:?}");
                    }
                    Ok(module) => {
                        accepted += 1;
                        let version = Version::new(damaged[8], damaged[9]);
                        export(&module, version, Profile::Public)
                            .unwrap_or_else(|e| panic!("{name} at {at} ^ {flip:#x}: {e}"));
                    }
                }
            }
        }
    }
    println!("refused {refused}, accepted {accepted}");
    assert!(refused > accepted && accepted > 0);
}

/// A file of the specification container names its dialects; only dialects that the context knows are accepted.
fn dialects_of_a_file() {
    let context = dialect::context();
    let vadd = corpus().into_iter().find(|(n, _)| n.contains("vadd_f32.13.1")).unwrap().1;
    let module = import(&context, &vadd).unwrap();
    let spec = export(&module, Version::new(13, 1), Profile::Specification).unwrap();
    // One dialect, its name, the number of its operations: 01 09 "cuda_tile" n.
    let at = spec.windows(9).position(|w| w == b"cuda_tile").unwrap();
    let renamed = |name: &[u8; 9]| {
        let mut bytes = spec.clone();
        bytes[at..at + 9].copy_from_slice(name);
        bytes
    };
    assert!(import(&context, &renamed(b"nv_tileaa")).is_ok());
    let error = import(&context, &renamed(b"nv_tilexx")).unwrap_err();
    assert!(error.to_string().contains("unregistered dialect: nv_tilexx"), "{error}");
    for name in ["builtin", "arith", "cuda_tile"] {
        assert!(tileiras::translate::dialects(&context).iter().any(|d| d == name), "{name}");
    }
}

pub fn trials() -> Vec<Trial> {
    functions![
        corpus_round_trip,
        specification_container,
        debug_records_reach_dwarf,
        print_has_its_name_of_the_specification,
        both_containers_have_the_same_ptx,
        empty_module,
        reports,
        module_verification,
        writer_checks,
        constants_of_every_type,
        damaged_programs_are_refused_or_compile,
        dialects_of_a_file
    ]
}
