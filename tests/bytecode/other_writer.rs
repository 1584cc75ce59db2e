//! Interoperability with another implementation of the format: the crate `cutile-ir`, with which NVIDIA's front end
//! for Rust writes bytecode. Its output is read and written again, and it reads the tables of files that are written
//! here.

use cutile_ir::builder::{OpBuilder, append_op, build_single_block_region};
use cutile_ir::bytecode::{BytecodeVersion, Opcode, write_bytecode_version};
use cutile_ir::ir::{
    Attribute, FuncType, Location, Module, PartitionViewType, PointerAttribute, ScalarType, TensorViewType,
    TileElementType, TileType, Type,
};
use tile_bytecode::{Profile, ReadOptions, Version, read, write};

const VERSIONS: [(BytecodeVersion, u8); 4] = [
    (BytecodeVersion::V13_2, 2),
    (BytecodeVersion::V13_3, 3),
    (BytecodeVersion::V13_4, 4),
    (BytecodeVersion::V13_5, 5),
];

fn tile(shape: &[i64], element: ScalarType) -> Type {
    Type::Tile(TileType { shape: shape.to_vec(), element_type: TileElementType::Scalar(element) })
}

/// An entry with one op whose operands are the entry's arguments.
fn one_op(opcode: Opcode, arguments: &[Type], results: &[Type], attributes: &[(&str, Attribute)]) -> Module {
    let mut module = Module::new("m");
    let (region, block, values) = build_single_block_region(&mut module, arguments);
    let mut op = OpBuilder::new(opcode, Location::Unknown).operands(values.iter().copied());
    for (name, value) in attributes {
        op = op.attr(*name, value.clone());
    }
    let op = results.iter().fold(op, |op, t| op.result(t.clone()));
    let (op, _) = op.build(&mut module);
    append_op(&mut module, block, op);
    let (end, _) = OpBuilder::new(Opcode::Return, Location::Unknown).build(&mut module);
    append_op(&mut module, block, end);
    let signature = FuncType { inputs: arguments.to_vec(), results: vec![] };
    let line = Location::FileLineCol { filename: "k.rs".into(), line: 7, column: 3 };
    let (entry, _) = OpBuilder::new(Opcode::Entry, line)
        .attr("sym_name", Attribute::String("k".into()))
        .attr("function_type", Attribute::Type(Type::Func(signature)))
        .region(region)
        .build(&mut module);
    module.functions.push(entry);
    module
}

fn multicast(opcode: Opcode, with_token: bool) -> Module {
    let view = PartitionViewType {
        tile_shape: vec![4],
        dim_map: vec![0],
        padding_value: None,
        tensor_view: TensorViewType { shape: vec![8], strides: vec![1], element_type: ScalarType::I32 },
    };
    let load = opcode == Opcode::MultimemLoadReduceViewTko;
    let value = tile(&[4], ScalarType::I32);
    let mut arguments = vec![Type::PartitionView(view).with_pointer_attribute(PointerAttribute::Multicast)];
    let mut segments = vec![1];
    if !load {
        arguments.push(value.clone());
        segments.push(1);
    }
    arguments.push(tile(&[], ScalarType::I32));
    arguments.extend(with_token.then_some(Type::Token));
    segments.extend([1, i64::from(with_token)]);
    let mut attributes = vec![
        ("memory_ordering_semantics", Attribute::i32(1)),
        ("memory_scope", Attribute::i32(2)),
        ("inbounds", Attribute::Array(vec![Attribute::Bool(true)])),
        ("operandSegmentSizes", Attribute::Array(segments.into_iter().map(Attribute::i32).collect())),
    ];
    if opcode != Opcode::MultimemStoreViewTko {
        attributes.push(("reduction", Attribute::i32(6)));
    }
    let results = if load { vec![value, Type::Token] } else { vec![Type::Token] };
    one_op(opcode, &arguments, &results, &attributes)
}

/// Each op with the minor number of the version that introduced it, and a module.
fn modules() -> Vec<(&'static str, u8, Module)> {
    let (small, big) = (tile(&[4], ScalarType::F32), tile(&[8], ScalarType::F32));
    let (integers, index) = (tile(&[4], ScalarType::I32), tile(&[], ScalarType::I32));
    let one = |opcode, arguments: &[Type], result: &Type| one_op(opcode, arguments, std::slice::from_ref(result), &[]);
    let away = [("rounding_mode", Attribute::i32(7))];
    let half = tile(&[4], ScalarType::F16);
    let mut modules = vec![
        ("atan2", 2, one(Opcode::Atan2, &[small.clone(), small.clone()], &small)),
        ("insert", 4, one(Opcode::Insert, &[small.clone(), big.clone(), index], &big)),
        ("fpowi", 4, one(Opcode::FPowI, &[small.clone(), integers], &small)),
        ("gdc_launch_dependents_tko", 4, one(Opcode::GdcLaunchDependentsTko, &[Type::Token], &Type::Token)),
        ("gdc_wait_tko", 4, one(Opcode::GdcWaitTko, &[Type::Token], &Type::Token)),
        ("memory_fence_alias_tko", 4, one(Opcode::MemoryFenceAliasTko, &[Type::Token], &Type::Token)),
        ("ftof", 4, one_op(Opcode::FToF, &[half], std::slice::from_ref(&small), &away)),
    ];
    for (name, opcode) in [
        ("multimem_load_reduce_view_tko", Opcode::MultimemLoadReduceViewTko),
        ("multimem_reduce_view_tko", Opcode::MultimemReduceViewTko),
        ("multimem_store_view_tko", Opcode::MultimemStoreViewTko),
    ] {
        modules.extend([false, true].map(|token| (name, 5, multicast(opcode, token))));
    }
    modules
}

#[test]
fn what_it_writes_is_read_and_written_again() {
    for (name, since, module) in modules() {
        for (version, minor) in VERSIONS {
            let bytes = match write_bytecode_version(&module, version) {
                Ok(bytes) => bytes,
                Err(e) => {
                    assert!(minor < since, "{name} in 13.{minor}: {e}");
                    continue;
                }
            };
            assert!(minor >= since, "{name} in 13.{minor}");
            let ours = read(&bytes, &ReadOptions { strict: true, ..ReadOptions::default() })
                .unwrap_or_else(|e| panic!("{name} in 13.{minor}: {e}"));
            assert_eq!(ours.version, Version::new(13, minor));
            assert_eq!(ours.functions[0].body.top_level().next().unwrap().spec.name, name);
            let again = write(&ours, Profile::Public, ours.version).unwrap();
            assert!(again == bytes, "{name} in 13.{minor}: {again:02x?}\n{bytes:02x?}");
            assert!(cutile_ir::decode_bytecode(&again).unwrap().contains(&format!("v13.{minor}")));
        }
    }
}
