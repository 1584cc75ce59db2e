//! Runs `mlir-tblgen` and `llvm-tblgen`.

use crate::Dialect;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

pub struct Paths {
    /// `dialects-td/` of the checkout.
    pub td: PathBuf,
    /// The directory of generated C++, with a subdirectory for each dialect.
    pub gen_dir: PathBuf,
    /// The prefix of the LLVM installation.
    pub llvm: PathBuf,
}

/// `(generator, output, file)`. The file is `Ops`, except for enums, which TableGen does not filter by dialect.
fn generators(dialect: &Dialect) -> Vec<(String, &'static str, &'static str)> {
    let name = dialect.name;
    let mut list = vec![];
    for (kind, suffix) in [("decls", ".h.inc"), ("defs", ".cpp.inc")] {
        let ops = "Ops";
        let pick = |h, c| if suffix == ".h.inc" { h } else { c };
        list.push((format!("-gen-dialect-{kind} -dialect={name}"), pick("Dialect.h.inc", "Dialect.cpp.inc"), ops));
        list.push((format!("-gen-enum-{kind}"), pick("Enums.h.inc", "Enums.cpp.inc"), dialect.enums));
        list.push((format!("-gen-attrdef-{kind} -attrdefs-dialect={name}"), pick("Attrs.h.inc", "Attrs.cpp.inc"), ops));
        list.push((format!("-gen-typedef-{kind} -typedefs-dialect={name}"), pick("Types.h.inc", "Types.cpp.inc"), ops));
        list.push((
            format!("-gen-attr-interface-{kind}"),
            pick("AttrInterfaces.h.inc", "AttrInterfaces.cpp.inc"),
            dialect.enums,
        ));
        list.push((
            format!("-gen-type-interface-{kind}"),
            pick("TypeInterfaces.h.inc", "TypeInterfaces.cpp.inc"),
            dialect.enums,
        ));
        list.push((
            format!("-gen-op-interface-{kind}"),
            pick("OpInterfaces.h.inc", "OpInterfaces.cpp.inc"),
            dialect.interfaces,
        ));
        list.push((format!("-gen-op-{kind}"), pick("Ops.h.inc", "Ops.cpp.inc"), ops));
    }
    list
}

/// Generates the C++ of a dialect.
///
/// The identities of its classes are based on their names instead of addresses, so that they agree in all libraries
/// of a process that contain the dialect: a pass in a plugin recognizes the ops of the tool that loads it.
pub fn generate(paths: &Paths, dialect: &Dialect) {
    let dir = paths.gen_dir.join(dialect.name);
    fs::create_dir_all(&dir).unwrap();
    for (flags, output, file) in generators(dialect) {
        let mut command = Command::new(paths.llvm.join("bin/mlir-tblgen"));
        command.args(flags.split(' ')).args(includes(paths));
        command.arg(paths.td.join(format!("{}/{}{file}.td", dialect.name, dialect.prefix)));
        let text = String::from_utf8(run(command)).expect("TableGen writes UTF-8");
        let text = text.replace("_EXPLICIT_TYPE_ID(", "_EXPLICIT_FALLBACK_TYPE_ID(");
        write_if_changed(&dir.join(format!("{}{output}", dialect.prefix)), &text);
    }
}

/// Dumps every record of `file` as JSON text.
pub fn dump_json(paths: &Paths, file: &str) -> Vec<u8> {
    let mut command = Command::new(paths.llvm.join("bin/llvm-tblgen"));
    let file = paths.td.join(file);
    // Upstream files include others in their directory by bare name.
    let folder = file.parent().expect("a file is in a folder");
    command.arg("-dump-json").args(includes(paths)).arg(format!("-I{}", folder.display())).arg(&file);
    run(command)
}

fn includes(paths: &Paths) -> Vec<String> {
    let flag = |p: &Path| format!("-I{}", p.display());
    vec![flag(&paths.td), flag(&paths.llvm.join("include"))]
}

/// The output of a tool.
fn run(mut command: Command) -> Vec<u8> {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Keeps the timestamp of a file whose contents do not change.
pub fn write_if_changed(path: &Path, text: &str) {
    if fs::read_to_string(path).ok().as_deref() != Some(text) {
        fs::write(path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
}
