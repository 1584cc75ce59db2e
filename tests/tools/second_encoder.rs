//! Whole programs through another implementation of the format: the crate `cutile-ir`, with which NVIDIA's front end
//! for Rust writes bytecode.
//!
//! Programs of the corpus, of the syntax tests, and random ones are rebuilt with the crate's types and operations and
//! written by it in every version that it supports. Its bytecode has the same meaning here as ours and is rewritten
//! to identical bytes; its decoder accepts our bytecode.

use cutile_ir::builder::{OpBuilder, append_op, build_block};
use cutile_ir::bytecode::{BytecodeVersion, Opcode, write_bytecode_version};
use cutile_ir::ir::{self as other, Attribute, BlockId, DenseElements, Location, RegionId, TileElementType, Value};
use melior::{Context, ir::Module};
use std::{collections::BTreeSet, fs, path::Path};
use tile_bytecode::{
    Attr, AttrValue, Body, Function, OpRef, Profile, ReadOptions, Region, Scalar, Type, TypeId, ValueId, Version, read,
    schema, write,
};
use tile_test_support::{Trial, full, functions};
use tileiras::{
    dialect,
    translate::{export_wire, import, import_wire},
};

const VERSIONS: [(BytecodeVersion, u8); 4] = [
    (BytecodeVersion::V13_2, 2),
    (BytecodeVersion::V13_3, 3),
    (BytecodeVersion::V13_4, 4),
    (BytecodeVersion::V13_5, 5),
];

/// All its operations, except previews.
const OPCODES: &[Opcode] = {
    use Opcode::*;
    &[
        AbsF,
        AbsI,
        AddF,
        AddI,
        AndI,
        Assert,
        Assume,
        AtomicCAS,
        AtomicRMW,
        Bitcast,
        Break,
        Broadcast,
        Cat,
        Ceil,
        CmpF,
        CmpI,
        Constant,
        Continue,
        Cos,
        CosH,
        DivF,
        DivI,
        Entry,
        Exp,
        Exp2,
        ExtI,
        Extract,
        Floor,
        Fma,
        For,
        FToF,
        FToI,
        GetGlobal,
        GetIndexSpaceShape,
        GetNumTileBlocks,
        GetTensorShape,
        GetTileBlockId,
        Global,
        If,
        IntToPtr,
        Iota,
        IToF,
        JoinTokens,
        LoadPtrTko,
        LoadViewTko,
        Log,
        Log2,
        Loop,
        MakePartitionView,
        MakeTensorView,
        MakeToken,
        MaxF,
        MaxI,
        MinF,
        MinI,
        MmaF,
        MmaI,
        Module,
        MulF,
        MulhiI,
        MulI,
        NegF,
        NegI,
        Offset,
        OrI,
        Permute,
        Pow,
        Print,
        PtrToInt,
        PtrToPtr,
        Reduce,
        RemF,
        RemI,
        Reshape,
        Return,
        Rsqrt,
        Scan,
        Select,
        ShLI,
        ShRI,
        Sin,
        SinH,
        Sqrt,
        StorePtrTko,
        StoreViewTko,
        SubF,
        SubI,
        Tan,
        TanH,
        TruncI,
        XOrI,
        Yield,
        Atan2,
        Pack,
        Unpack,
        Alloca,
        MmaFScaled,
        MakeGatherScatterView,
        MakeStridedView,
        AtomicRedViewTko,
        Insert,
        GdcLaunchDependentsTko,
        GdcWaitTko,
        FPowI,
        MemoryFenceAliasTko,
        MultimemLoadReduceViewTko,
        MultimemReduceViewTko,
        MultimemStoreViewTko,
    ]
};

fn scalar(s: Scalar) -> other::ScalarType {
    use other::ScalarType as To;
    match s {
        Scalar::I1 => To::I1,
        Scalar::I4 => To::I4,
        Scalar::I8 => To::I8,
        Scalar::I16 => To::I16,
        Scalar::I32 => To::I32,
        Scalar::I64 => To::I64,
        Scalar::F16 => To::F16,
        Scalar::BF16 => To::BF16,
        Scalar::F32 => To::F32,
        Scalar::TF32 => To::TF32,
        Scalar::F64 => To::F64,
        Scalar::F8E4M3FN => To::F8E4M3FN,
        Scalar::F8E5M2 => To::F8E5M2,
        Scalar::F8E8M0FNU => To::F8E8M0FNU,
        Scalar::F4E2M1FN => To::F4E2M1FN,
        Scalar::FNV8E5M3FNU => To::F8E5M3FNU,
    }
}

/// Returns the crate's name for an attribute of an operation, if it differs.
fn attribute_name(ours: &str) -> &str {
    match ours {
        "unsignedCmp" => "unsigned_cmp",
        _ => ours,
    }
}

/// Rebuilds a module read here with the crate.
struct Build<'a> {
    from: &'a tile_bytecode::Module,
    to: other::Module,
    /// The values of the current function.
    values: Vec<Option<Value>>,
}

impl Build<'_> {
    fn element(&self, id: TypeId) -> other::ScalarType {
        match self.from.ty(id) {
            Type::Scalar(s) => scalar(*s),
            other => panic!("{other:?} is no element"),
        }
    }

    fn pointer_kind(ty: other::Type, attr: Option<u32>) -> other::Type {
        use other::PointerAttribute::{Multicast, None, Unicast};
        match attr {
            Some(kind) => ty.with_pointer_attribute([None, Unicast, Multicast][kind as usize]),
            Option::None => ty,
        }
    }

    /// Returns a view's tensor, and the kind of its pointer.
    fn tensor(&self, id: TypeId) -> (other::TensorViewType, Option<u32>) {
        let Type::TensorView { element, shape, strides, attr } = self.from.ty(id) else { panic!("no tensor view") };
        let ty = other::TensorViewType {
            element_type: self.element(*element),
            shape: shape.to_vec(),
            strides: strides.to_vec(),
        };
        (ty, *attr)
    }

    fn ty(&self, id: TypeId) -> other::Type {
        use other::PaddingValue::{Nan, NegInf, NegZero, PosInf, Zero};
        let padding = |p: Option<u32>| p.map(|p| [Zero, NegZero, Nan, PosInf, NegInf][p as usize]);
        match self.from.ty(id) {
            Type::Scalar(s) => other::Type::Scalar(scalar(*s)),
            Type::Token => other::Type::Token,
            Type::Symbolic(_) | Type::Fragment(_) => panic!("no program of this test has previews"),
            Type::Datatype | Type::Shape | Type::Text | Type::Index | Type::None => panic!("nor their kinds"),
            Type::Pointer { pointee, attr } => {
                let pointer = other::PointerType { pointee: self.element(*pointee) };
                Self::pointer_kind(other::Type::Pointer(pointer), *attr)
            }
            Type::Tile { element, shape } => {
                let (element_type, attr) = match self.from.ty(*element) {
                    Type::Pointer { pointee, attr } => {
                        let pointer = other::PointerType { pointee: self.element(*pointee) };
                        (TileElementType::Pointer(Box::new(pointer)), *attr)
                    }
                    _ => (TileElementType::Scalar(self.element(*element)), None),
                };
                let tile = other::TileType { shape: shape.to_vec(), element_type };
                Self::pointer_kind(other::Type::Tile(tile), attr)
            }
            Type::TensorView { .. } => {
                let (view, attr) = self.tensor(id);
                Self::pointer_kind(other::Type::TensorView(view), attr)
            }
            Type::PartitionView(v) => {
                let (tensor_view, attr) = self.tensor(v.view);
                let view = other::PartitionViewType {
                    tile_shape: v.tile.to_vec(),
                    tensor_view,
                    dim_map: v.dim_map.to_vec(),
                    padding_value: padding(v.padding),
                };
                Self::pointer_kind(other::Type::PartitionView(view), attr)
            }
            Type::GatherScatterView(v) => {
                let (tensor_view, attr) = self.tensor(v.view);
                let view = other::GatherScatterViewType {
                    tile_shape: v.tile.to_vec(),
                    tensor_view,
                    sparse_dim: v.sparse_dim as i32,
                    padding_value: padding(v.padding),
                };
                Self::pointer_kind(other::Type::GatherScatterView(view), attr)
            }
            Type::StridedView(v) => {
                let (tensor_view, attr) = self.tensor(v.view);
                let view = other::StridedViewType {
                    tile_shape: v.tile.to_vec(),
                    traversal_strides: v.traversal_strides.to_vec(),
                    tensor_view,
                    dim_map: v.dim_map.to_vec(),
                    padding_value: padding(v.padding),
                };
                Self::pointer_kind(other::Type::StridedView(view), attr)
            }
            Type::Function { inputs, results } => other::Type::Func(other::FuncType {
                inputs: inputs.iter().map(|&t| self.ty(t)).collect(),
                results: results.iter().map(|&t| self.ty(t)).collect(),
            }),
        }
    }

    /// Returns a float from its bits. The crate represents all floats as f64.
    fn float(&self, ty: TypeId, bits: u64) -> f64 {
        match self.from.ty(ty) {
            Type::Scalar(Scalar::F64) => f64::from_bits(bits),
            Type::Scalar(Scalar::F32) => f32::from_bits(bits as u32).into(),
            Type::Scalar(Scalar::F16) => half::f16::from_bits(bits as u16).into(),
            Type::Scalar(Scalar::BF16) => half::bf16::from_bits(bits as u16).into(),
            other => panic!("no attribute is a float of {other:?}"),
        }
    }

    fn attribute(&self, attr: &Attr) -> Attribute {
        let entries = |entries: &[(tile_bytecode::StringId, Attr)]| {
            entries.iter().map(|(name, value)| (self.from.text(*name), self.attribute(value))).collect::<Vec<_>>()
        };
        match attr {
            Attr::Integer { ty, value } => Attribute::Integer(*value as i64, self.ty(*ty)),
            Attr::Float { ty, bits } => Attribute::Float(self.float(*ty, *bits), self.ty(*ty)),
            Attr::Bool(b) => Attribute::Bool(*b),
            Attr::Type(ty) => Attribute::Type(self.ty(*ty)),
            Attr::String(s) => Attribute::String(self.from.text(*s)),
            Attr::Array(items) => Attribute::Array(items.iter().map(|a| self.attribute(a)).collect()),
            Attr::DivBy(d) => Attribute::DivBy(other::DivBy { divisor: d.divisor, every: d.every, along: d.along }),
            Attr::SameElements(values) => Attribute::SameElements(other::SameElements { values: values.to_vec() }),
            Attr::Dictionary(d) => Attribute::Dictionary(entries(d)),
            Attr::Hints(h) => {
                let target = |(name, value): &(tile_bytecode::StringId, Attr)| {
                    let Attr::Dictionary(d) = value else { panic!("hints of a target are a dictionary") };
                    (self.from.text(*name), entries(d))
                };
                Attribute::OptimizationHints(other::OptimizationHints { entries: h.iter().map(target).collect() })
            }
            Attr::Bounded(b) => Attribute::Bounded(other::Bounded { lb: b.lower, ub: b.upper }),
            Attr::I32s(values) => Attribute::DenseI32Array(values.to_vec()),
            other => panic!("{other:?} is not of this container"),
        }
    }

    fn elements(&self, ty: TypeId, constant: tile_bytecode::ConstantId) -> DenseElements {
        let data = self.from.constants.get(constant.index()).unwrap().to_vec();
        DenseElements { element_type: self.ty(ty), shape: vec![], data }
    }

    fn value(&self, op: OpRef, value: AttrValue) -> Attribute {
        match value {
            AttrValue::Enum(n) => Attribute::i32(n.into()),
            AttrValue::Int(n) => Attribute::i32(n as i64),
            AttrValue::Bool(b) => Attribute::Bool(b),
            AttrValue::Unit => Attribute::Bool(true),
            AttrValue::Str(s) | AttrValue::Sym(s) => Attribute::String(self.from.text(s)),
            AttrValue::Type(ty) => Attribute::Type(self.ty(ty)),
            AttrValue::Dense(c) => Attribute::DenseElements(self.elements(op.result_types().next().unwrap(), c)),
            AttrValue::Bools(b) => Attribute::dense_bool_array(b.iter()),
            AttrValue::Attr(id) => self.attribute(self.from.attr(id)),
        }
    }

    fn region(&mut self, body: &Body, op: OpRef, region: Region) -> RegionId {
        let Some(block) = op.block(region) else { return self.to.alloc_region(other::Region { blocks: vec![] }) };
        let types: Vec<_> = block.arg_types(body).map(|t| self.ty(t)).collect();
        let id = self.block(body, &types, block.args(), block.ops(body));
        self.to.alloc_region(other::Region { blocks: vec![id] })
    }

    fn block<'b>(
        &mut self,
        body: &Body,
        types: &[other::Type],
        args: impl Iterator<Item = ValueId>,
        ops: impl Iterator<Item = OpRef<'b>>,
    ) -> BlockId {
        let (block, values) = build_block(&mut self.to, types);
        for (ours, theirs) in args.zip(values) {
            self.values[ours.index()] = Some(theirs);
        }
        for op in ops {
            self.op(body, block, op);
        }
        block
    }

    fn op(&mut self, body: &Body, block: BlockId, op: OpRef) {
        let opcode = *OPCODES.iter().find(|c| c.as_u16() == u16::from(op.spec.opcode)).unwrap();
        // The crate keeps the old name of one operation.
        assert!(
            opcode.name() == op.spec.name || (opcode.name(), op.spec.name) == ("pow", "fpowf"),
            "{}",
            opcode.name()
        );
        let regions: Vec<RegionId> = op.regions().map(|r| self.region(body, op, r)).collect();
        let mut build = OpBuilder::new(opcode, Location::Unknown)
            .operands(op.operands().map(|v| self.values[v.index()].unwrap()))
            .results(op.result_types().map(|t| self.ty(t)))
            .regions(regions);
        for (i, field) in op.spec.attrs.iter().enumerate() {
            if let Some(value) = op.attr(i) {
                build = build.attr(attribute_name(field.name), self.value(op, value));
            }
        }
        if op.spec.segmented {
            let sizes = (0..op.spec.operands.len()).map(|g| Attribute::i32(op.group_len(g) as i64));
            build = build.attr("operandSegmentSizes", Attribute::Array(sizes.collect()));
        }
        let (id, results) = build.build(&mut self.to);
        for (ours, theirs) in op.results().zip(results) {
            self.values[ours.index()] = Some(theirs);
        }
        append_op(&mut self.to, block, id);
    }

    fn function(&mut self, f: &Function) {
        let Type::Function { inputs, .. } = self.from.ty(f.signature) else { panic!("no signature") };
        let types: Vec<_> = inputs.iter().map(|&t| self.ty(t)).collect();
        self.values = vec![None; f.body.value_count()];
        let block = self.block(&f.body, &types, f.body.arguments(), f.body.top_level());
        let region = self.to.alloc_region(other::Region { blocks: vec![block] });
        let mut entry = OpBuilder::new(Opcode::Entry, Location::Unknown)
            .attr("sym_name", Attribute::String(self.from.text(f.name)))
            .attr("function_type", Attribute::Type(self.ty(f.signature)))
            .region(region);
        for (name, attr) in [("optimization_hints", f.hints), ("arg_attrs", f.arg_attrs)] {
            if let Some(attr) = attr {
                entry = entry.attr(name, self.attribute(self.from.attr(attr)));
            }
        }
        let (entry, _) = entry.build(&mut self.to);
        self.to.functions.push(entry);
    }
}

fn build(from: &tile_bytecode::Module) -> other::Module {
    let mut build = Build { from, to: other::Module::new("kernels"), values: vec![] };
    build.to.producer = from.producer.map(|p| from.text(p));
    for g in &from.globals {
        use other::SymbolVisibility::{Private, Public};
        build.to.globals.push(other::Global {
            sym_name: from.text(g.name),
            value: build.elements(g.ty, g.value),
            alignment: g.alignment,
            constant: g.constant,
            symbol_visibility: if g.private { Private } else { Public },
        });
    }
    for f in &from.functions {
        build.function(f);
    }
    build.to
}

/// Returns the contents of a module as text without locations.
fn text(context: &Context, module: &tile_bytecode::Module) -> String {
    import_wire(context, module).unwrap_or_else(|e| panic!("{e}")).as_operation().to_string()
}

/// Compares both in every version that can express the program. Returns the number of versions.
fn compare(context: &Context, name: &str, module: &Module) -> usize {
    let mut count = 0;
    for (version, minor) in VERSIONS {
        let ours = Version::new(13, minor);
        let Ok(mut wire) = export_wire(module, ours) else { continue };
        wire.functions = wire.functions.into_iter().map(Function::without_locations).collect();
        let Ok(bytes) = write(&wire, Profile::Public, ours) else { continue };
        let wire = read(&bytes, &ReadOptions::default()).unwrap();
        cutile_ir::decode_bytecode(&bytes).unwrap_or_else(|e| panic!("{name} in 13.{minor}: {e}"));
        let theirs = match write_bytecode_version(&build(&wire), version) {
            Ok(bytes) => bytes,
            // The crate assigns a version to hints, which are ignored if unknown.
            Err(e) if ["optimization hint", "min_ctas_per_sm"].iter().any(|w| e.to_string().contains(w)) => continue,
            Err(e) => panic!("{name} in 13.{minor}: {e}\n{}", text(context, &wire)),
        };
        let again = read(&theirs, &ReadOptions { strict: true, ..ReadOptions::default() })
            .unwrap_or_else(|e| panic!("{name} in 13.{minor}: {e}"));
        same_lines(&format!("{name} in 13.{minor}"), &text(context, &wire), &text(context, &again));
        assert!(write(&again, Profile::Public, ours).unwrap() == theirs, "{name} in 13.{minor} is written otherwise");
        count += 1;
    }
    count
}

/// Fails with the first line that differs.
fn same_lines(name: &str, ours: &str, theirs: &str) {
    if let Some((a, b)) = ours.lines().zip(theirs.lines()).find(|(a, b)| a != b) {
        panic!("{name}:\n{a}\n{b}");
    }
    assert_eq!(ours.lines().count(), theirs.lines().count(), "{name}");
}

/// Returns the operations of a program.
fn operations(module: &Module) -> BTreeSet<String> {
    let wire = export_wire(module, Version::new(13, 5)).unwrap();
    wire.functions.iter().flat_map(|f| f.body.all_ops().map(|op| op.spec.name.to_owned())).collect()
}

fn files(folder: &str, extension: &str) -> Vec<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|p| p.extension().is_some_and(|x| x == extension));
    files.sort();
    files
}

fn programs_of_the_corpus_and_of_the_syntax() {
    let context = dialect::context();
    let (mut compared, mut seen) = (0, BTreeSet::new());
    for path in files("tests/corpus", "tileirbc") {
        let module = import(&context, &fs::read(&path).unwrap()).unwrap();
        compared += compare(&context, &path.file_name().unwrap().to_string_lossy(), &module);
        seen.append(&mut operations(&module));
    }
    for path in files("tests/ir/cuda_tile", "mlir") {
        // Pieces with errors or with test functions are not programs.
        let text = fs::read_to_string(&path).unwrap();
        // The preview is read on request only; `tile_libraries` compares it with NVIDIA's bytes.
        for (i, piece) in text.split("// -----").enumerate().filter(|(_, piece)| !piece.contains("preview$")) {
            if let Some(module) = Module::parse(&context, piece).filter(|m| export_wire(m, Version::new(13, 5)).is_ok())
            {
                compared += compare(&context, &format!("{} {i}", path.file_name().unwrap().to_string_lossy()), &module);
                seen.append(&mut operations(&module));
            }
        }
    }
    assert!(compared > 500, "{compared}");
    let missing: Vec<_> = schema::OPS.iter().filter(|op| !seen.contains(op.name)).map(|op| op.name).collect();
    assert_eq!(missing, ["entry", "global", "module", "preview$call"], "of {} operations", seen.len());
}

fn random_programs() {
    let context = dialect::context();
    let programs = if full() { 3000 } else { 150 };
    let compared: usize = (0..)
        .map(|n| 0x5ec0_0000 + n)
        .filter_map(|seed| Some((seed, tile_fuzz::generate::generate(seed)?)))
        .take(programs)
        .map(|(seed, case)| {
            let module = Module::parse(&context, &tile_interp::text::print(&case.program)).unwrap();
            compare(&context, &format!("program {seed:#x}"), &module)
        })
        .sum();
    // Version 13.4 and later can express each of them, since most of the operations are old.
    assert!(compared >= 2 * programs, "{compared}");
}

pub fn trials() -> Vec<Trial> {
    functions![programs_of_the_corpus_and_of_the_syntax, random_programs]
}
