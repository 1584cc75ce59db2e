//! A module with every operation, attribute kind, element type and debug attribute, in each version.
//!
//! The files are checked in, and an independent decoder has read them (`tests/tools/corpus_digests.py` writes the
//! digests). `TILEIR_BLESS=1` replaces them by the current output.

use crate::dump::dump;
use std::path::PathBuf;
use tile_bytecode::schema::{Arity, AttrKind, OPS, OpSpec};
use tile_bytecode::*;

struct Builder {
    pools: Pools,
    body: BodyBuilder,
    version: Version,
    tile: TypeId,
    i32: TypeId,
    f32: TypeId,
    token: TypeId,
    next_location: usize,
    locations: Vec<Option<DebugId>>,
    /// One attribute of every kind that can be tagged.
    tagged: Vec<Attr>,
    next_tagged: usize,
}

/// How many optional parts of an operation are present.
#[derive(Clone, Copy, PartialEq)]
enum Fill {
    Least,
    Most,
}

fn scalars(version: Version) -> Vec<Scalar> {
    use Scalar::*;
    let mut all = vec![I1, I8, I16, I32, I64, F16, BF16, F32, TF32, F64, F8E4M3FN, F8E5M2];
    if version.at_least(schema::V13_2) {
        all.push(F8E8M0FNU);
    }
    if version.at_least(schema::V13_3) {
        all.extend([F4E2M1FN, I4]);
    }
    if version.at_least(schema::V13_4) {
        all.push(FNV8E5M3FNU);
    }
    all
}

impl Builder {
    fn new(version: Version) -> Self {
        let mut pools = Pools::default();
        let i32 = pools.ty(Type::Scalar(Scalar::I32));
        let f32 = pools.ty(Type::Scalar(Scalar::F32));
        let tile = pools.ty(Type::Tile { element: i32, shape: Box::new([]) });
        let token = pools.ty(Type::Token);
        for s in scalars(version) {
            pools.ty(Type::Scalar(s));
        }
        let pointer = pools.ty(Type::Pointer { pointee: f32, attr: None });
        pools.ty(Type::Tile { element: pointer, shape: [4, 8].into() });
        let view = pools.ty(Type::TensorView {
            element: f32,
            shape: [DYNAMIC, 64].into(),
            strides: [DYNAMIC, 1].into(),
            attr: None,
        });
        for (padding, dim_map) in [(None, [0, 1]), (Some(2), [1, 0])] {
            pools.ty(Type::PartitionView(Box::new(PartitionView {
                tile: [4, 8].into(),
                view,
                dim_map: dim_map.into(),
                padding,
            })));
            if version.at_least(schema::V13_3) {
                let tile: Box<[i32]> = [4, 8].into();
                let traversal_strides = [3, 5].into();
                pools.ty(Type::StridedView(Box::new(StridedView {
                    tile: tile.clone(),
                    traversal_strides,
                    view,
                    dim_map: dim_map.into(),
                    padding,
                })));
                pools.ty(Type::GatherScatterView(Box::new(GatherScatterView { tile, view, sparse_dim: 1, padding })));
            }
        }

        let (name, dir) = (pools.string(b"file.py"), pools.string(b"/source"));
        let file = Some(pools.debug(DebugAttr::File { name, directory: dir }));
        let unit = Some(pools.debug(DebugAttr::CompileUnit { file, producer: None, flags: 0 }));
        let (kernel, linkage) = (pools.string(b"kernel"), pools.string(b"every_operation"));
        let subprogram = Subprogram {
            file,
            line: 3,
            name: kernel,
            linkage,
            unit,
            scope_line: 4,
            flags: 0,
            purpose: 0,
            sp_flags: None,
        };
        let scope = Some(pools.debug(DebugAttr::Subprogram(Box::new(subprogram))));
        let block = Some(pools.debug(DebugAttr::LexicalBlock { scope, file, line: 300, column: 7 }));
        let outer = pools.debug(DebugAttr::Loc { scope, file: name, line: 5, column: 1 });
        let inner = pools.debug(DebugAttr::Loc { scope: block, file: name, line: 70_000, column: 2 });
        let call = pools.debug(DebugAttr::CallSite { callee: Some(inner), caller: Some(outer) });
        let locations = vec![Some(outer), Some(inner), Some(call), None];

        let mut tagged = vec![
            Attr::Bool(true),
            Attr::Bool(false),
            Attr::Type(token),
            Attr::String(kernel),
            Attr::DivBy(Box::new(DivBy { divisor: 16, every: None, along: None })),
            Attr::DivBy(Box::new(DivBy { divisor: 1 << 62, every: Some(2), along: Some(0) })),
            Attr::SameElements([2, 4].into()),
        ];
        for (lower, upper) in [(None, None), (Some(-3), None), (None, Some(i64::MAX)), (Some(i64::MIN), Some(0))] {
            tagged.push(Attr::Bounded(Box::new(Bounded { lower, upper })));
        }
        for s in scalars(version) {
            let ty = pools.ty(Type::Scalar(s));
            let most = if s.bits() == 64 { u64::MAX } else { (1 << s.bits()) - 1 };
            for bits in [0, 1, most] {
                tagged.push(if s.is_integer() { Attr::Integer { ty, value: bits } } else { Attr::Float { ty, bits } });
            }
        }
        let target = pools.string(b"sm_100");
        let hint = pools.string(b"latency");
        let inner = Attr::Dictionary([(hint, Attr::Integer { ty: i32, value: 3 })].into());
        tagged.push(Attr::Array([inner.clone(), Attr::Array(Box::new([])), Attr::Bool(true)].into()));
        tagged.push(Attr::Hints([(target, inner)].into()));
        Builder {
            pools,
            body: BodyBuilder::new(4),
            version,
            tile,
            i32,
            f32,
            token,
            next_location: 0,
            locations,
            tagged,
            next_tagged: 0,
        }
    }

    fn location(&mut self) -> Option<DebugId> {
        self.next_location += 1;
        self.locations[self.next_location % self.locations.len()]
    }

    fn tagged(&mut self) -> Attr {
        self.next_tagged += 1;
        self.tagged[self.next_tagged % self.tagged.len()].clone()
    }

    fn value(&mut self, kind: AttrKind, fill: Fill) -> AttrValue {
        let most = fill == Fill::Most;
        let hints = |b: &mut Self| {
            let (target, name) = (b.pools.string(b"sm_90"), b.pools.string(b"allow_tma"));
            let inner = Attr::Dictionary([(name, Attr::Bool(true))].into());
            Attr::Hints(if most { [(target, inner)].into() } else { Box::new([]) })
        };
        let attr = match kind {
            AttrKind::Enum(e) => {
                let last = (0..e.keywords.len() as u32).rfind(|v| self.version.at_least(e.since(*v)));
                return AttrValue::Enum(if most { last.unwrap() } else { 0 });
            }
            AttrKind::I32 => return AttrValue::Int(if most { i32::MAX as u64 } else { 0 }),
            AttrKind::I64 => return AttrValue::Int(if most { i64::MAX as u64 } else { 0 }),
            AttrKind::Bool => return AttrValue::Bool(most),
            AttrKind::Unit => return AttrValue::Unit,
            AttrKind::Str => return AttrValue::Str(self.pools.string(if most { "a %d\n".as_bytes() } else { b"" })),
            AttrKind::Sym => return AttrValue::Sym(self.pools.string(b"global")),
            AttrKind::Type => return AttrValue::Type(self.f32),
            AttrKind::Dense => return AttrValue::Dense(self.pools.constant(&[7, 0, 0, 0])),
            AttrKind::Bools => {
                let values: &[bool] = if most { &[true, false, true] } else { &[] };
                return AttrValue::Bools(BoolList::new(values).unwrap());
            }
            AttrKind::I32s => Attr::I32s(if most { [1, 0, -2].into() } else { Box::new([]) }),
            AttrKind::Array if most => Attr::Array((0..self.tagged.len()).map(|_| self.tagged()).collect()),
            AttrKind::Array => Attr::Array(Box::new([])),
            AttrKind::Hints => hints(self),
            AttrKind::Tagged => self.tagged(),
        };
        AttrValue::Attr(self.pools.attrs.intern(attr))
    }

    fn op(&mut self, spec: &'static OpSpec, fill: Fill) {
        let most = fill == Fill::Most;
        let exists = |since: Version| self.version.at_least(since);
        let mut attrs = Vec::new();
        let present: Vec<bool> = spec.attrs.iter().map(|a| exists(a.since) && (!a.optional || most)).collect();
        let groups: Vec<usize> = spec
            .operands
            .iter()
            .map(|o| match o.arity {
                Arity::One => 1,
                Arity::Optional => usize::from(most && exists(o.since)),
                Arity::Variadic => 3 * usize::from(most),
            })
            .collect();
        for (a, present) in spec.attrs.iter().zip(present) {
            attrs.push(present.then(|| self.value(a.kind, fill)));
        }
        let values = [ValueId(0), ValueId(2), ValueId(3)];
        let operands: Vec<&[ValueId]> = groups.iter().map(|&n| &values[..n]).collect();
        let results = if spec.variadic_results { 2 * usize::from(most) } else { spec.results.len() };
        let result_types: Vec<TypeId> = (0..results)
            .map(|i| {
                if spec.results[i.min(spec.results.len() - 1)].name.contains("token") { self.token } else { self.tile }
            })
            .collect();
        let location = self.location();
        let id = self
            .body
            .begin(&OpInit { spec, result_types: &result_types, attrs: &attrs, operands: &operands, location })
            .unwrap();
        for region in 0..spec.regions {
            if region == 1 && !most {
                continue;
            }
            let args = [self.tile, self.f32];
            let (block, values) = self.body.begin_block(id, region, if most { &args } else { &[] });
            if most {
                self.simple("make_token", &[]);
                // An operation with a region inside a region, and a use of its own block's argument.
                let inner = schema::by_name("if").unwrap();
                let operands: &[&[ValueId]] = &[&values[..1]];
                let location = self.location();
                let id = self
                    .body
                    .begin(&OpInit { spec: inner, result_types: &[self.tile], attrs: &[], operands, location })
                    .unwrap();
                for region in 0..2 {
                    let (block, _) = self.body.begin_block(id, region, &[]);
                    self.simple("yield", &values[..1]);
                    self.body.end_block(block);
                }
                let results = self.body.end(id);
                self.simple("yield", &results);
            } else {
                self.simple("yield", &[]);
            }
            self.body.end_block(block);
        }
        self.body.end(id);
    }

    fn simple(&mut self, name: &str, operands: &[ValueId]) {
        let spec = schema::by_name(name).unwrap();
        let result_types = vec![self.token; spec.results.len()];
        let location = self.location();
        let groups: &[&[ValueId]] = if spec.operands.is_empty() { &[] } else { &[operands] };
        let id = self
            .body
            .begin(&OpInit { spec, result_types: &result_types, attrs: &[], operands: groups, location })
            .unwrap();
        self.body.end(id);
    }

    /// Constants of every element type: splat and full.
    fn constants(&mut self) {
        let spec = schema::by_name("constant").unwrap();
        for s in scalars(self.version) {
            let element = self.pools.ty(Type::Scalar(s));
            let tile = self.pools.ty(Type::Tile { element, shape: [16].into() });
            let full: Vec<u8> = (0..s.constant_bytes(16)).map(|i| (i * 37 + 11) as u8).collect();
            for raw in [&full[..s.splat_bytes() as usize], &full] {
                let value = if s == Scalar::I1 && raw.len() == 1 { &[0xFF] } else { raw };
                let attrs = [Some(AttrValue::Dense(self.pools.constant(value)))];
                let id = self
                    .body
                    .begin(&OpInit { spec, result_types: &[tile], attrs: &attrs, operands: &[], location: None })
                    .unwrap();
                self.body.end(id);
            }
        }
    }

    fn finish(mut self) -> Module {
        let version = self.version;
        let mut m = Module::new(version);
        self.simple("return", &[]);
        let name = self.pools.string(b"every_operation");
        let inputs = [self.tile; 4].into();
        let signature = self.pools.ty(Type::Function { inputs, results: Box::new([]) });
        let newer = version.at_least(schema::V13_3);
        let shaped = self.pools.ty(Type::Tile { element: self.i32, shape: [2].into() });
        for (name, raw, private) in [("global", &[1, 0, 0, 0, 2, 0, 0, 0][..], false), ("splat", &[9, 0, 0, 0], newer)]
        {
            let (name, value) = (self.pools.string(name.as_bytes()), self.pools.constant(raw));
            m.globals.push(Global { name, ty: shaped, value, alignment: 128, private, constant: private, offset: 0 });
        }
        if newer {
            m.producer = Some(self.pools.string(b"synthetic"));
        }
        let hints = self.value(AttrKind::Hints, Fill::Most);
        let AttrValue::Attr(hints) = hints else { panic!("hints are pooled") };
        let body = self.body.finish(true);
        let location = Some(self.locations[0]);
        m.functions.push(Function {
            name,
            signature,
            private: false,
            hints: Some(hints),
            arg_attrs: None,
            location,
            body,
            offset: 0,
        });
        let empty = self.pools.string(b"empty");
        let mut b = BodyBuilder::new(4);
        let spec = schema::by_name("return").unwrap();
        let id = b.begin(&OpInit { spec, result_types: &[], attrs: &[], operands: &[&[]], location: None }).unwrap();
        b.end(id);
        m.functions.push(Function {
            name: empty,
            signature,
            private: false,
            hints: None,
            arg_attrs: None,
            location: None,
            body: b.finish(false),
            offset: 0,
        });
        self.pools.finish(&mut m);
        m
    }
}

/// Every operation of the version, with the fewest and with the most optional parts.
pub fn every_operation(version: Version) -> Module {
    let mut b = Builder::new(version);
    for spec in OPS.iter().filter(|s| version.at_least(s.since)) {
        if !matches!(spec.name, "entry" | "global" | "module") && !spec.is_preview() {
            b.op(spec, Fill::Least);
            b.op(spec, Fill::Most);
        }
    }
    let assume = schema::by_name("assume").unwrap();
    (0..b.tagged.len()).for_each(|_| b.op(assume, Fill::Most));
    b.constants();
    b.finish()
}

#[test]
fn every_operation_in_every_version() {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../tests/bytecode/synthetic");
    let digests = std::fs::read_to_string(dir.join("decode.tsv")).unwrap_or_default();
    for version in [schema::V13_1, schema::V13_2, schema::V13_3, schema::V13_4, schema::V13_5] {
        let name = format!("every_operation.{version}.tileirbc");
        let built = every_operation(version);
        let bytes = write(&built, Profile::Public, version).unwrap_or_else(|e| panic!("{version}: {e}"));
        if std::env::var("TILEIR_BLESS").is_ok() {
            std::fs::write(dir.join(&name), &bytes).unwrap();
            continue;
        }
        assert!(bytes == std::fs::read(dir.join(&name)).unwrap(), "{name} is written differently now");
        let m = read(&bytes, &ReadOptions { strict: true, ..ReadOptions::default() })
            .unwrap_or_else(|e| panic!("{version}: {e}"));
        assert_eq!(write(&m, Profile::Public, version).unwrap(), bytes, "{version}");
        let text = dump(&m);
        assert_eq!(text, dump(&built), "{version}");
        let row = digests.lines().find(|l| l.starts_with(&name)).expect("the file has a digest");
        assert_eq!(row, format!("{name}\t{}\t{:016x}", text.lines().count(), crate::corpus::fnv1a(&text)), "{version}");
    }
}

#[test]
fn every_operation_in_the_specification_container() {
    let built = every_operation(schema::V13_1);
    let bytes = write(&built, Profile::Specification, schema::V13_1).unwrap();
    let m = read(&bytes, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(write(&m, Profile::Specification, schema::V13_1).unwrap(), bytes);
    let public = |m: &Module| {
        crate::dump::dump_without_constants(
            &read(&write(m, Profile::Public, schema::V13_1).unwrap(), &ReadOptions::default()).unwrap(),
        )
    };
    // The specification container has a single kind of dictionary, and a single line for a subprogram.
    let normal =
        |m: &Module| public(m).replace("hints<{", "{").replace("}>", "}").replace("scopeLine=4", "scopeLine=3");
    for (a, b) in normal(&m).lines().zip(normal(&built).lines()) {
        assert_eq!(a, b);
    }
    assert_eq!(normal(&m).lines().count(), normal(&built).lines().count());
}
