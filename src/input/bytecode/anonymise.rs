//! Removes the names that the author gave to the parts of a program.

use crate::module::{Blobs, DebugAttr, Module};

/// Returns `module` without its producer, with every name of a function, global, file or directory replaced by `s`
/// and the number of the name. Equal names stay equal, so references remain valid. Strings that the program prints
/// and its constants are kept.
pub fn anonymise(module: &Module) -> Module {
    let mut named = vec![false; module.strings.len()];
    let mut name = |id: crate::StringId| {
        if let Some(slot) = named.get_mut(id.index()) {
            *slot = true;
        }
    };
    module.functions.iter().for_each(|f| name(f.name));
    module.globals.iter().for_each(|g| name(g.name));
    module.producer.into_iter().for_each(&mut name);
    for attribute in &module.debug {
        match attribute {
            DebugAttr::File { name: file, directory } => {
                name(*file);
                name(*directory);
            }
            DebugAttr::Loc { file, .. } => name(*file),
            DebugAttr::Subprogram(s) => {
                name(s.name);
                name(s.linkage);
            }
            DebugAttr::SpecSubprogram(s) => {
                name(s.name);
                name(s.linkage);
            }
            DebugAttr::SpecCompileUnit { producer, .. } | DebugAttr::CompileUnit { producer: Some(producer), .. } => {
                name(*producer)
            }
            DebugAttr::Unknown
            | DebugAttr::SpecLoc { .. }
            | DebugAttr::SpecCallSite { .. }
            | DebugAttr::CompileUnit { .. }
            | DebugAttr::LexicalBlock { .. }
            | DebugAttr::CallSite { .. } => {}
        }
    }
    let mut strings = Blobs::default();
    for (i, old) in module.strings.iter().enumerate() {
        if named[i] {
            strings.push(format!("s{i}").as_bytes())
        } else {
            strings.push(old)
        };
    }
    Module { strings, producer: None, ..module.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ReadOptions, read_with_profile, write};
    use std::path::Path;

    fn holds(bytes: &[u8], text: &str) -> bool {
        bytes.windows(text.len()).any(|w| w == text.as_bytes())
    }

    #[test]
    fn no_name_is_left_and_the_program_is_the_same() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/corpus");
        let mut with_names = 0;
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "tileirbc") {
                continue;
            }
            let bytes = std::fs::read(path).unwrap();
            let (module, profile) = read_with_profile(&bytes, &ReadOptions::default()).unwrap();
            let out = write(&anonymise(&module), profile, module.version).unwrap();
            let (again, _) = read_with_profile(&out, &ReadOptions { strict: true, ..ReadOptions::default() }).unwrap();
            assert_eq!(again.functions.len(), module.functions.len());
            for (old, new) in module.functions.iter().zip(&again.functions) {
                let names = |f: &crate::Function| f.body.all_ops().map(|o| o.spec.name).collect::<Vec<_>>();
                assert_eq!(names(old), names(new));
                let name = std::str::from_utf8(module.strings.get(old.name.index()).unwrap()).unwrap();
                assert!(holds(&bytes, name) && !holds(&out, name), "{name}");
            }
            if holds(&bytes, ".py") {
                with_names += 1;
                assert!(!holds(&out, ".py"));
            }
        }
        assert!(with_names >= 10, "only {with_names} files have locations");
    }
}
