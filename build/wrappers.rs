//! Generates C accessors for the ops, types and attributes of a dialect from its records.
//!
//! `tileir_<dialect>_id_<Op>` is the type identity of an op. For a type or attribute `X` there are
//! `tileir_<dialect>_isa_X`, `tileir_<dialect>_get_X` (verifying; null with a diagnostic at the location, or if a
//! component has the wrong class) and `tileir_<dialect>_X_<parameter>`.

use crate::{
    Dialect,
    records::{Field, FieldKind, Records},
    tablegen::{Paths, write_if_changed},
};
use std::fmt::Write;

pub fn write_c(paths: &Paths, dialect: &Dialect, records: &Records) {
    let (name, prefix) = (dialect.name, dialect.prefix);
    let mut header = String::from("#include \"mlir-c/IR.h\"\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
    let mut source = format!(
        "#include \"{name}/{prefix}.h\"\n#include \"{name}/Wrappers.h.inc\"\n#include \"mlir/CAPI/IR.h\"\n#include \"mlir/CAPI/Support.h\"\n\
         using namespace mlir;\n"
    );
    let mut emit = |declaration: String, body: String| {
        writeln!(header, "MLIR_CAPI_EXPORTED {declaration};").unwrap();
        writeln!(source, "{declaration} {{ {body} }}").unwrap();
    };
    for op in records.ops(prefix) {
        let class = op.strip_prefix(&format!("{prefix}_")).unwrap();
        let cpp = format!(
            "{}::{class}",
            records.get(records.get(op)["opDialect"]["def"].as_str().unwrap())["cppNamespace"].as_str().unwrap()
        );
        emit(format!("MlirTypeID tileir_{name}_id_{class}(void)"), format!("return wrap(TypeID::get<{cpp}>());"));
    }
    for (list, handle) in [("TypeDef", "MlirType"), ("AttrDef", "MlirAttribute")] {
        for record in records.defs(list, prefix) {
            definition(records, name, record, handle, &mut emit);
        }
    }
    header.push_str("#ifdef __cplusplus\n}\n#endif\n");
    let dir = paths.gen_dir.join(name);
    write_if_changed(&dir.join("Wrappers.h.inc"), &header);
    write_if_changed(&dir.join("Wrappers.cpp"), &source);
}

fn definition(records: &Records, dialect: &str, record: &str, handle: &str, emit: &mut impl FnMut(String, String)) {
    let cpp = records.cpp_class(record);
    let class = cpp.rsplit("::").next().unwrap().to_string();
    let symbol = format!("tileir_{dialect}_{class}");
    emit(
        format!("bool tileir_{dialect}_isa_{class}({handle} self)"),
        format!("return llvm::isa_and_nonnull<{cpp}>(unwrap(self));"),
    );
    let fields = records.parameters(record);
    for field in &fields {
        let get = format!("llvm::cast<{cpp}>(unwrap(self)).get{}()", camel(&field.name));
        let f = format!("{symbol}_{}", snake(&field.name));
        match &field.kind {
            FieldKind::Int(_) | FieldKind::Bool | FieldKind::Enum(_) => {
                emit(format!("int64_t {f}({handle} self)"), format!("return static_cast<int64_t>({get});"))
            }
            FieldKind::Type => emit(format!("MlirType {f}({handle} self)"), format!("return wrap(Type({get}));")),
            FieldKind::Attribute => {
                emit(format!("MlirAttribute {f}({handle} self)"), format!("return wrap(Attribute({get}));"))
            }
            FieldKind::String => {
                emit(format!("MlirStringRef {f}({handle} self)"), format!("return wrap(StringRef({get}));"))
            }
            FieldKind::Ints(w) => emit(
                format!("intptr_t {f}({handle} self, const int{w}_t **data)"),
                format!("auto a = {get}; *data = a.data(); return a.size();"),
            ),
            FieldKind::Optional(inner)
                if matches!(**inner, FieldKind::Int(_) | FieldKind::Bool | FieldKind::Enum(_)) =>
            {
                emit(
                    format!("bool {f}({handle} self, int64_t *value)"),
                    format!("auto v = {get}; if (v) *value = static_cast<int64_t>(*v); return v.has_value();"),
                )
            }
            _ => {}
        }
    }
    if let Some((parameters, checks, arguments)) = constructor(&fields) {
        let make = if records.get(record)["genVerifyDecl"] == 1 {
            format!(
                "{cpp}::getChecked([&] {{ return emitError(unwrap(location)); }}, unwrap(location)->getContext(){arguments})"
            )
        } else {
            format!("{cpp}::get(unwrap(location)->getContext(){arguments})")
        };
        let result = if handle == "MlirType" { "Type" } else { "Attribute" };
        emit(
            format!("{handle} tileir_{dialect}_get_{class}(MlirLocation location{parameters})"),
            format!("{checks} return wrap({result}({make}));"),
        );
    }
}

/// The parameter list, class checks and arguments of the constructor. `None` if a parameter has no C representation.
fn constructor(fields: &[Field]) -> Option<(String, String, String)> {
    let (mut parameters, mut checks, mut arguments) = (String::new(), String::new(), String::new());
    for field in fields {
        let n = format!("p_{}", snake(&field.name));
        match &field.kind {
            FieldKind::Int(_) | FieldKind::Bool | FieldKind::Enum(_) => {
                parameters += &format!(", int64_t {n}");
                arguments += &format!(", static_cast<{}>({n})", field.cpp);
            }
            FieldKind::Type | FieldKind::Attribute => {
                let handle = if field.kind == FieldKind::Type { "MlirType" } else { "MlirAttribute" };
                parameters += &format!(", {handle} {n}");
                let plain = matches!(field.cpp.trim_start_matches("::"), "mlir::Type" | "mlir::Attribute");
                if plain {
                    arguments += &format!(", unwrap({n})");
                } else {
                    checks += &format!("if ({n}.ptr && !llvm::isa<{0}>(unwrap({n}))) return {{nullptr}}; ", field.cpp);
                    arguments += &format!(", llvm::cast_if_present<{}>(unwrap({n}))", field.cpp);
                }
            }
            FieldKind::String => {
                parameters += &format!(", MlirStringRef {n}");
                arguments += &format!(", unwrap({n})");
            }
            FieldKind::Ints(w) => {
                parameters += &format!(", intptr_t {n}_count, const int{w}_t *{n}");
                arguments += &format!(", llvm::ArrayRef<int{w}_t>({n}, {n}_count)");
            }
            FieldKind::Optional(inner)
                if matches!(**inner, FieldKind::Int(_) | FieldKind::Bool | FieldKind::Enum(_)) =>
            {
                parameters += &format!(", bool {n}_set, int64_t {n}");
                let inner =
                    field.cpp.trim_start_matches("::").trim_start_matches("std::optional<").trim_end_matches('>');
                arguments += &format!(
                    ", {n}_set ? std::optional<{inner}>(static_cast<{inner}>({n})) : std::optional<{inner}>()"
                );
            }
            _ => return None,
        }
    }
    Some((parameters, checks, arguments))
}

/// Converts `dim_map` or `dimMap` to `DimMap`, as ODS spells it in accessors.
fn camel(name: &str) -> String {
    let mut out = String::new();
    let mut upper = true;
    for c in name.chars() {
        match c {
            '_' => upper = true,
            c if upper => {
                out.extend(c.to_uppercase());
                upper = false;
            }
            c => out.push(c),
        }
    }
    out
}

pub fn snake(name: &str) -> String {
    let mut out = String::new();
    for (i, c) in name.chars().enumerate() {
        if c.is_uppercase() {
            if i > 0 && !out.ends_with('_') {
                out.push('_');
            }
            out.extend(c.to_lowercase());
        } else {
            out.push(c);
        }
    }
    out
}
