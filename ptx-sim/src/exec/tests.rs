//! Checks that the execution modules import each other in layers and without a cycle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

type Graph = BTreeMap<String, BTreeSet<String>>;

/// Collects the modules below a folder, as `state::warp`, with their text.
fn sources(dir: &Path, prefix: &str, out: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            sources(&path, &format!("{prefix}{stem}::"), out);
        } else if stem != "mod" && stem != "tests" {
            out.insert(format!("{prefix}{stem}"), std::fs::read_to_string(&path).unwrap());
        }
    }
}

/// The modules that a module's paths name, in `use` items or elsewhere.
fn imports(module: &str, text: &str, all: &BTreeSet<String>) -> BTreeSet<String> {
    let mut code = String::new();
    for line in text.lines() {
        code.push_str(line.split("//").next().unwrap_or(""));
        code.push('\n');
    }
    let parent = module.rsplit_once("::").map_or(String::new(), |(parent, _)| format!("{parent}::"));
    let mut found = BTreeSet::new();
    for (prefix, base) in [("crate::exec::", String::new()), ("super::", parent)] {
        for (at, _) in code.match_indices(prefix) {
            let rest = &code[at + prefix.len()..];
            let path: String = rest.chars().take_while(|c| c.is_alphanumeric() || "_:".contains(*c)).collect();
            // A list such as `units::{alu_int, builtins}` names modules; a list after a module names items.
            let tails: Vec<&str> = match rest[path.len()..].strip_prefix('{') {
                Some(list) => list.split('}').next().unwrap_or("").split(',').map(str::trim).collect(),
                None => vec![""],
            };
            for tail in tails {
                let full = format!("{base}{path}{tail}");
                found.extend(all.iter().filter(|m| full == **m || full.starts_with(&format!("{m}::"))).cloned());
            }
        }
    }
    found.remove(module);
    found
}

fn graph() -> Graph {
    let mut texts = BTreeMap::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/exec"), "", &mut texts);
    let all = texts.keys().cloned().collect();
    texts.iter().map(|(module, text)| (module.clone(), imports(module, text, &all))).collect()
}

/// Returns a cycle of the graph, if there is one.
fn cycle(graph: &Graph) -> Option<Vec<String>> {
    fn visit(at: &str, graph: &Graph, path: &mut Vec<String>, done: &mut BTreeSet<String>) -> Option<Vec<String>> {
        if let Some(start) = path.iter().position(|m| m == at) {
            return Some(path[start..].to_vec());
        }
        if done.contains(at) {
            return None;
        }
        path.push(at.to_string());
        for next in &graph[at] {
            if let Some(found) = visit(next, graph, path, done) {
                return Some(found);
            }
        }
        path.pop();
        done.insert(at.to_string());
        None
    }
    let mut done = BTreeSet::new();
    graph.keys().find_map(|module| visit(module, graph, &mut Vec::new(), &mut done))
}

#[test]
fn no_module_imports_itself_through_others() {
    let graph = graph();
    assert!(graph["step"].contains("units::builtins"), "the list of an import is read: {:?}", graph["step"]);
    assert!(graph["units::ldst"].contains("units::access"), "a sibling is seen: {:?}", graph["units::ldst"]);
    assert_eq!(cycle(&graph), None);
}

#[test]
fn layers_import_downwards() {
    for (module, imports) in graph() {
        let layer = |m: &str| if m.starts_with("state::") { 0 } else { 1 + usize::from(!m.starts_with("units::")) };
        // The modules that build the executable form belong to no layer.
        let beside = ["decode", "flow_order"].contains(&module.as_str());
        for import in imports {
            assert!(beside || layer(&import) <= layer(&module), "{module} imports {import}");
        }
    }
}

/// An inherent method that others call without importing its unit would be a dependency that no import shows.
#[test]
fn only_state_has_public_inherent_methods_of_the_machine() {
    let mut texts = BTreeMap::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/exec"), "", &mut texts);
    for (module, text) in texts.iter().filter(|(m, _)| *m != "state::machine") {
        for block in text.split("\nimpl Machine<").skip(1) {
            let body = block.split("\n}\n").next().unwrap_or("");
            assert!(!body.contains("\n    pub"), "{module}: a public method belongs into the unit's trait");
        }
    }
}

#[test]
fn a_cycle_is_found() {
    let edges = [("a", vec!["b"]), ("b", vec!["c"]), ("c", vec!["b"])];
    let graph: Graph =
        edges.map(|(m, to)| (m.to_string(), to.into_iter().map(str::to_string).collect())).into_iter().collect();
    assert_eq!(cycle(&graph), Some(vec!["b".to_string(), "c".to_string()]));
}
