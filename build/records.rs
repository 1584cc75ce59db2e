//! Queries on TableGen records in JSON form.

use crate::tablegen::{Paths, dump_json};
use serde_json::Value;

pub struct Records {
    json: Value,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Arity {
    One,
    Optional,
    Variadic,
}

/// The Rust representation of a C++ parameter or attribute.
#[derive(Clone, PartialEq)]
pub enum FieldKind {
    Unit,
    Int(u32),
    Bool,
    Float,
    /// The C++ class of an enum that has its own attribute: `::ns::Name`.
    Enum(String),
    String,
    Ints(u32),
    Strings,
    Type,
    Attribute,
    Optional(Box<FieldKind>),
    /// Any other attribute.
    Other,
}

pub struct Field {
    pub name: String,
    /// The C++ class of a parameter; empty for attributes of ops.
    pub cpp: String,
    pub kind: FieldKind,
    pub optional: bool,
    pub default: Option<String>,
}

impl Records {
    pub fn load(paths: &Paths, file: &str) -> Self {
        Records { json: serde_json::from_slice(&dump_json(paths, file)).expect("llvm-tblgen prints JSON") }
    }
    pub fn get(&self, record: &str) -> &Value {
        &self.json[record]
    }
    pub fn text(&self, record: &str, field: &str) -> &str {
        self.json[record][field].as_str().unwrap_or("")
    }
    /// Records of `class`, ordered by definition name.
    pub fn of(&self, class: &str) -> Vec<&str> {
        self.json["!instanceof"][class].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }
    pub fn is(&self, record: &str, class: &str) -> bool {
        self.json[record]["!superclasses"].as_array().is_some_and(|a| a.iter().any(|s| s == class))
    }
    /// `(definition, name)` of each argument of a dag. A plain string is its own definition.
    pub fn dag(&self, record: &str, field: &str) -> Vec<(String, String)> {
        let args = self.json[record][field]["args"].as_array().into_iter().flatten();
        args.map(|a| {
            let mut def = a[0]["def"].as_str().or(a[0].as_str()).unwrap_or_default().to_string();
            if self.is(&def, "OpVariable") {
                def = self.json[&def]["constraint"]["def"].as_str().unwrap().to_string();
            }
            (def, a[1].as_str().unwrap_or("_").to_string())
        })
        .collect()
    }
    pub fn arity(&self, def: &str) -> Arity {
        match () {
            _ if self.is(def, "Optional") => Arity::Optional,
            _ if self.is(def, "Variadic") => Arity::Variadic,
            _ => Arity::One,
        }
    }
    pub fn has_trait(&self, op: &str, name: &str) -> bool {
        self.in_traits(&self.json[op]["traits"], name)
    }
    fn in_traits(&self, list: &Value, name: &str) -> bool {
        list.as_array().into_iter().flatten().any(|t| {
            let def = t["def"].as_str().unwrap_or("");
            def == name
                || self.json[def]["trait"] == name
                || self.in_traits(&self.json[def]["traits"], name)
                || self.in_traits(&self.json[def]["baseInterfaces"], name)
        })
    }

    /// Panics unless an op declares its memory effects: none, its regions' effects, or named resources.
    pub fn assert_effects(&self, op: &str) {
        // Functions, data and calls, which may have any effect.
        const ANY: &[&str] = &["CallOp", "CreateQueueOp", "FuncOp", "GlobalOp", "LaunchFuncOp"];
        let traits = self.json[op]["traits"].as_array().into_iter().flatten();
        let arguments = self.json[op]["arguments"]["args"].as_array().into_iter().flatten();
        let listed = traits.flat_map(|t| self.effects(&t["def"], "effects"));
        let effects: Vec<&str> =
            listed.chain(arguments.flat_map(|a| self.effects(&a[0]["def"], "decorators"))).collect();
        // Effects that depend on operand types are declared in C++.
        let told =
            self.json[op]["traits"].as_array().into_iter().flatten().filter_map(|t| t["def"].as_str()).any(|t| {
                self.is(t, "DeclareInterfaceMethods") && self.json[t]["cppInterfaceName"] == "MemoryEffectOpInterface"
            });
        let answers = told
            || self.has_trait(op, "NoMemoryEffect")
            || self.has_trait(op, "RecursiveMemoryEffects")
            || !effects.is_empty()
            || ANY.iter().any(|name| op.ends_with(&format!("_{name}")));
        assert!(answers, "{op}: declare its memory effects (NvTileAAInterfaces.td), or that it is Pure");
        let named = effects.iter().all(|e| !self.text(e, "resource").ends_with("DefaultResource"));
        assert!(named, "{op}: name the resource of its memory effects (NvTileAAInterfaces.td)");
    }
    fn effects<'r>(&'r self, def: &Value, field: &str) -> Vec<&'r str> {
        let Some(record) = def.as_str() else { return vec![] };
        let list = self.json[record][field].as_array().into_iter().flatten();
        list.filter_map(|e| e["def"].as_str()).filter(|e| self.is(e, "SideEffect")).collect()
    }

    /// The ops of a dialect, by class name without the dialect's prefix.
    pub fn ops(&self, prefix: &str) -> Vec<&str> {
        let dialect = format!("{prefix}_Dialect");
        self.of("Op").into_iter().filter(|op| self.json[op]["opDialect"]["def"] == dialect.as_str()).collect()
    }
    /// The types (`TypeDef`) or attributes (`AttrDef`) of a dialect.
    pub fn defs(&self, class: &str, prefix: &str) -> Vec<&str> {
        let dialect = format!("{prefix}_Dialect");
        self.of(class).into_iter().filter(|d| self.json[d]["dialect"]["def"] == dialect.as_str()).collect()
    }
    /// The qualified C++ class of a type, attribute or enum: `::ns::Name`.
    pub fn cpp_class(&self, record: &str) -> String {
        let r = &self.json[record];
        let namespace = r["cppNamespace"]
            .as_str()
            .filter(|n| !n.is_empty())
            .or_else(|| r["dialect"]["def"].as_str().and_then(|d| self.json[d]["cppNamespace"].as_str()));
        let name = r["cppClassName"].as_str().or(r["className"].as_str()).unwrap_or_default();
        format!("{}::{name}", namespace.unwrap_or_default())
    }
    /// The enums of a dialect that have their own attribute.
    pub fn enums(&self, prefix: &str) -> Vec<&str> {
        let mut list: Vec<&str> = self.of("EnumInfo");
        if list.is_empty() {
            list = self.of("EnumAttrInfo");
        }
        list.into_iter().filter(|e| e.starts_with(&format!("{prefix}_"))).collect()
    }
    fn is_enum_class(&self, cpp: &str) -> bool {
        let list = if self.of("EnumInfo").is_empty() { self.of("EnumAttrInfo") } else { self.of("EnumInfo") };
        list.into_iter().any(|e| self.cpp_class(e) == cpp || self.text(e, "className") == cpp)
    }

    /// The parameters of a type or attribute definition.
    pub fn parameters(&self, record: &str) -> Vec<Field> {
        self.dag(record, "parameters")
            .into_iter()
            .map(|(def, name)| {
                let cpp = match self.json[&def]["cppType"].as_str() {
                    Some(t) => t.to_string(),
                    None => def,
                };
                let kind = self.cpp_kind(&cpp);
                Field { name, cpp, kind, optional: false, default: None }
            })
            .collect()
    }
    fn cpp_kind(&self, cpp: &str) -> FieldKind {
        let t = cpp.trim();
        let bare = t.trim_start_matches("::");
        if let Some(inner) = bare.strip_prefix("std::optional<").and_then(|s| s.strip_suffix('>')) {
            return FieldKind::Optional(Box::new(self.cpp_kind(inner)));
        }
        match bare {
            "int64_t" | "uint64_t" => FieldKind::Int(64),
            "int32_t" | "uint32_t" | "unsigned" | "int" => FieldKind::Int(32),
            "bool" => FieldKind::Bool,
            "llvm::StringRef" | "StringRef" => FieldKind::String,
            "llvm::ArrayRef<int64_t>" | "ArrayRef<int64_t>" => FieldKind::Ints(64),
            "llvm::ArrayRef<int32_t>" | "ArrayRef<int32_t>" => FieldKind::Ints(32),
            _ if self.is_enum_class(t) => FieldKind::Enum(t.to_string()),
            _ if bare.ends_with("Type") => FieldKind::Type,
            _ if bare.ends_with("Attr") || bare.ends_with("Attribute") || bare.ends_with("Loc") => FieldKind::Attribute,
            _ if bare.ends_with("AttrInterface") => FieldKind::Attribute,
            _ => FieldKind::Other,
        }
    }

    /// An attribute argument of an op.
    pub fn attribute(&self, def: &str, name: &str) -> Field {
        let r = &self.json[def];
        let optional = r["isOptional"] == 1;
        let default = r["defaultValue"].as_str().filter(|s| !s.is_empty()).map(str::to_string);
        Field { name: name.to_string(), cpp: String::new(), kind: self.attribute_kind(def), optional, default }
    }
    fn attribute_kind(&self, def: &str) -> FieldKind {
        let r = &self.json[def];
        let storage = r["storageType"].as_str().unwrap_or("");
        let returns = r["returnType"].as_str().unwrap_or("");
        if storage.contains("UnitAttr") {
            return FieldKind::Unit;
        }
        if self.is(def, "EnumAttr") {
            return FieldKind::Enum(self.cpp_class(r["enum"]["def"].as_str().unwrap()));
        }
        // An enum that is the constraint itself is stored in a plain integer attribute.
        if self.is(def, "EnumInfo") {
            return FieldKind::Enum(self.cpp_class(def));
        }
        if let Some(base) = r["baseAttr"]["def"].as_str().filter(|b| *b != def) {
            return self.attribute_kind(base);
        }
        if let Some(base) = r["baseAttr"]["def"].as_str()
            && self.is(base, "EnumAttr")
        {
            return FieldKind::Enum(self.cpp_class(self.json[base]["enum"]["def"].as_str().unwrap()));
        }
        match () {
            _ if storage.contains("BoolAttr") => FieldKind::Bool,
            _ if storage.contains("IntegerAttr") && (returns.contains("int") || returns.contains("APInt")) => {
                FieldKind::Int(64)
            }
            _ if storage.contains("FloatAttr") => FieldKind::Float,
            _ if storage.contains("StringAttr") => FieldKind::String,
            _ if storage.contains("DenseI32ArrayAttr") => FieldKind::Ints(32),
            _ if storage.contains("DenseI64ArrayAttr") => FieldKind::Ints(64),
            _ if def == "StrArrayAttr" => FieldKind::Strings,
            _ => FieldKind::Other,
        }
    }
}
