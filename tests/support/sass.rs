//! Kernels of the corpus as machine code.

use crate::{cubin, kernels::compile, store};
use std::{env, fs, process::Command, slice};
use tile_driver::{
    ptxas,
    toolchain::{self, Surroundings},
};
use tile_interface::{DebugInfo, Emit};
use tile_targets::Target;

/// The file of a program.
pub fn bytes(name: &str) -> Result<Vec<u8>, String> {
    file(&format!("tests/corpus/{name}.tileirbc"))
}

/// A file of the source tree.
fn file(path: &str) -> Result<Vec<u8>, String> {
    // The root of the build, unless an archive of the tests runs elsewhere.
    let root = crate::root();
    let path = root.join(path);
    fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))
}

/// The cubin at -O3. A warning of ptxas is an error.
pub fn assemble(name: &str, target: &str) -> Result<ptxas::Cubin, String> {
    assemble_file(&format!("tests/corpus/{name}.tileirbc"), target)
}

/// As [`assemble`], for a file of the source tree, bytecode or text.
pub fn assemble_file(path: &str, target: &str) -> Result<ptxas::Cubin, String> {
    let target = Target::by_name(target).ok_or("unknown target")?;
    let ptx = compile(&file(path)?, target, 3, Emit::Ptx)?.text;
    cubin::assemble(&ptx, target, 3, DebugInfo::None)
}

/// An instruction, with the label before it or its branch target.
pub struct Instruction {
    pub opcode: String,
    /// Predicate, such as `@!P0`.
    pub guard: Option<String>,
    pub label: Option<String>,
    pub target: Option<String>,
}

/// The text that a program of the toolkit prints for a cubin with one option. nvdisasm takes a third of a second for
/// the smallest cubin, so the text is stored. `name` is for a temporary file.
pub fn listing(tool: &str, option: &str, image: &[u8], name: &str) -> Result<String, String> {
    let tools = toolchain::search(tool, None, &Surroundings::of_process()).found;
    let program = tools.first().ok_or_else(|| format!("no {tool}: run scripts/setup.sh"))?;
    let run = || {
        let file = env::temp_dir().join(format!("{name}-{}.cubin", std::process::id()));
        fs::write(&file, image).map_err(|e| e.to_string())?;
        let output = Command::new(program).arg(option).arg(&file).output();
        fs::remove_file(&file).map_err(|e| e.to_string())?;
        let output = output.map_err(|e| e.to_string())?;
        if !output.status.success() {
            return Err(format!("{tool}: {}", String::from_utf8_lossy(&output.stderr)));
        }
        Ok(output.stdout)
    };
    let text = store::output(&[tool.as_bytes(), option.as_bytes(), image], slice::from_ref(program), run)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Disassembles all code of a cubin. `name` is for a temporary file.
pub fn disassemble(cubin: &ptxas::Cubin, name: &str) -> Result<Vec<Instruction>, String> {
    let text = listing("nvdisasm", "-c", &cubin.image, name)?;
    let (mut code, mut label) = (vec![], None);
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_suffix(':').filter(|l| l.starts_with(".L")) {
            label = Some(name.to_string());
            continue;
        }
        let Some((_, rest)) = line.strip_prefix("/*").and_then(|l| l.split_once("*/")) else { continue };
        // Skip padding that is never executed.
        if rest.trim_start().starts_with("@!PT ") {
            continue;
        }
        let mut words = rest.split_whitespace().filter(|w| !w.starts_with('@'));
        let Some(opcode) = words.next() else { continue };
        let target = rest.split_once("`(").and_then(|(_, r)| r.split_once(')')).map(|(t, _)| t.to_string());
        let guard = rest.split_whitespace().next().filter(|w| w.starts_with('@')).map(String::from);
        let opcode = opcode.trim_end_matches(';').to_string();
        code.push(Instruction { opcode, guard, label: label.take(), target });
    }
    if code.is_empty() { Err("nvdisasm lists no instructions".into()) } else { Ok(code) }
}

/// The shortest loop with an instruction whose name contains `of`.
pub fn innermost<'c>(code: &'c [Instruction], of: &str) -> Option<&'c [Instruction]> {
    let start = |label: &str| code.iter().position(|i| i.label.as_deref() == Some(label));
    let loops = code.iter().enumerate().filter_map(|(end, i)| {
        let from = i.opcode.starts_with("BRA").then(|| start(i.target.as_deref()?)).flatten()?;
        (from <= end).then(|| &code[from..=end])
    });
    loops.filter(|l| l.iter().any(|i| i.opcode.contains(of))).min_by_key(|l| l.len())
}
