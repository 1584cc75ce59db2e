//! Searches for NVIDIA's tools.
//!
//! The search order; the first match is used:
//! 1. `--ptxas-path`: only that file;
//! 2. `CUDA_ROOT`, `CUDA_HOME`, `CUDA_PATH`: the subdirectory `bin/`. A variable without the tool causes only a
//!    warning, because clients set these variables for other purposes;
//! 3. the directory of the compiler, with links resolved;
//! 4. `.tools/cuda/bin/` in any directory above it: a development checkout after `scripts/setup.sh`. Above a program
//!    in `/tmp` any user could have created such a directory. It is skipped with a warning unless it belongs to a
//!    user who could also have replaced the program;
//! 5. `PATH`.

use crate::child;
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The parts of the process's environment that the search depends on.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Name and value of each CUDA variable that is set and not empty, in order of precedence.
    pub cuda_variables: Vec<(&'static str, OsString)>,
    pub path: Option<OsString>,
    /// The path of the running program, with links resolved.
    pub program: Option<PathBuf>,
}

impl Surroundings {
    /// Reads the environment of this process.
    pub fn of_process() -> Surroundings {
        let variable = |name| std::env::var_os(name).filter(|v| !v.is_empty());
        Surroundings {
            cuda_variables: ["CUDA_ROOT", "CUDA_HOME", "CUDA_PATH"]
                .into_iter()
                .filter_map(|name| Some((name, variable(name)?)))
                .collect(),
            path: variable("PATH"),
            program: std::env::current_exe().ok(),
        }
    }
}

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Search {
    /// Every match once, best first.
    pub found: Vec<PathBuf>,
    /// Every path searched, in order, with the reason for searching it.
    pub tried: Vec<(PathBuf, String)>,
    /// Warnings about CUDA variables without the tool, and about skipped directories.
    pub warnings: Vec<String>,
}

/// Searches for `tool`.
pub fn search(tool: &str, explicit: Option<&Path>, surroundings: &Surroundings) -> Search {
    let mut search = Search::default();
    if let Some(path) = explicit {
        search.look(path.to_owned(), "--ptxas-path");
        return search;
    }
    for (variable, value) in &surroundings.cuda_variables {
        let file = Path::new(value).join("bin").join(tool);
        if !search.look(file, variable) {
            search
                .warnings
                .push(format!("{variable} is '{}', which does not contain bin/{tool}", value.to_string_lossy()));
        }
    }
    if let Some(directory) = surroundings.program.as_deref().and_then(Path::parent) {
        search.look(directory.join(tool), "next to the compiler");
        if let Some(tools) = search.checkout(directory, "cuda/bin", surroundings) {
            search.look(tools.join(tool), "development checkout");
        }
    }
    for directory in std::env::split_paths(surroundings.path.as_deref().unwrap_or(OsStr::new(""))) {
        // An empty element means the current directory, from which no tool should be taken.
        if !directory.as_os_str().is_empty() {
            search.look(directory.join(tool), "PATH");
        }
    }
    search
}

/// Paths of libNVVM relative to the root of a toolkit or of NVIDIA's Python packages.
const LIBNVVM: &[&str] = &["nvvm/lib64/libnvvm.so", "nvvm/lib64/libnvvm.so.4", "lib/libnvvm.so.4"];
/// Paths of libdevice. The second one is for a development checkout.
const LIBDEVICE: &[&str] = &["nvvm/libdevice/libdevice.10.bc", "libdevice/libdevice.10.bc"];

/// Searches for libNVVM with [`below_roots`].
pub fn search_libnvvm(explicit: Option<&Path>, surroundings: &Surroundings) -> Search {
    below_roots(LIBNVVM, explicit.map(|file| (file, "--libnvvm-path")), surroundings)
}

/// Searches for libdevice with [`below_roots`].
pub fn search_libdevice(explicit: Option<&Path>, surroundings: &Surroundings) -> Search {
    below_roots(LIBDEVICE, explicit.map(|file| (file, "--libdevice")), surroundings)
}

/// Searches for a toolkit file that is not a program: only the named file, if one is named; otherwise below the CUDA
/// variables, the parent of the compiler's directory, a development checkout, and toolkits whose ptxas is on `PATH`.
fn below_roots(places: &[&str], explicit: Option<(&Path, &str)>, surroundings: &Surroundings) -> Search {
    let mut search = Search::default();
    if let Some((path, why)) = explicit {
        search.consider(path.to_owned(), why, Path::is_file);
        return search;
    }
    let below = |search: &mut Search, root: &Path, why: &str| {
        for file in places {
            search.consider(root.join(file), why, Path::is_file);
        }
    };
    for (variable, value) in &surroundings.cuda_variables {
        below(&mut search, Path::new(value), variable);
    }
    if let Some(directory) = surroundings.program.as_deref().and_then(Path::parent) {
        if let Some(root) = directory.parent() {
            below(&mut search, root, "next to the compiler");
        }
        if let Some(tools) = search.checkout(directory, "nvvm", surroundings) {
            below(&mut search, &tools, "development checkout");
        }
    }
    for directory in std::env::split_paths(surroundings.path.as_deref().unwrap_or(OsStr::new(""))) {
        if let Some(root) = directory.parent().filter(|_| is_executable(&directory.join("ptxas"))) {
            below(&mut search, root, "PATH");
        }
    }
    search
}

impl Search {
    fn look(&mut self, file: PathBuf, why: &str) -> bool {
        self.consider(file, why, is_executable)
    }

    /// Finds a directory below `.tools` in the checkout that contains the program.
    fn checkout(&mut self, directory: &Path, folder: &str, surroundings: &Surroundings) -> Option<PathBuf> {
        let owner =
            surroundings.program.as_deref().and_then(|program| std::fs::metadata(program).ok()).map(|m| m.uid());
        // The owner of the program could have put anything into it.
        let trusted = |m: &Metadata| [Some(child::user()), Some(0), owner].contains(&Some(m.uid()));
        let closed = |m: &Metadata| m.mode() & 0o002 == 0;
        for above in directory.ancestors() {
            let tools = above.join(".tools");
            let found = tools.join(folder);
            if !found.is_dir() {
                continue;
            }
            // A link belongs to its creator, whatever its target. Its mode means nothing.
            let link = tools.symlink_metadata().is_ok_and(|m| trusted(&m));
            if link && tools.metadata().is_ok_and(|m| trusted(&m) && closed(&m)) {
                return Some(found);
            }
            let why = "belongs to another user or is writable by everyone";
            self.warnings.push(format!("{} {why}, so it is not used", tools.display()));
        }
        None
    }

    fn consider(&mut self, file: PathBuf, why: &str, usable: impl Fn(&Path) -> bool) -> bool {
        let there = usable(&file);
        if there && !self.found.contains(&file) {
            self.found.push(file.clone());
        }
        self.tried.push((file, why.to_owned()));
        there
    }
}

fn is_executable(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// Extracts the release from a tool's `--version` text, for example `13.4.92` from `..., release 13.4, V13.4.92`.
pub fn release_in(text: &str) -> Option<String> {
    text.split(|c: char| c.is_whitespace() || c == ',').find_map(|word| {
        let digits = word.strip_prefix('V')?;
        let numbers = digits.split('.').collect::<Vec<_>>();
        let valid = numbers.len() == 3 && numbers.iter().all(|n| n.parse::<u32>().is_ok());
        valid.then(|| digits.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn tool(path: &Path, mode: u32) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Tools in parent directories that other users can write to are ignored.
    #[test]
    fn checkouts_of_others_are_passed_over() {
        let root = tempfile::tempdir().unwrap();
        let at = |p: &str| root.path().join(p);
        let surroundings = Surroundings { program: Some(at("a/b/bin/tileiras")), ..Surroundings::default() };
        tool(&at("a/.tools/cuda/bin/ptxas"), 0o755);
        tool(&at("a/b/.tools/cuda/bin/ptxas"), 0o755);
        let found = |mode: u32| {
            fs::set_permissions(at("a/b/.tools"), fs::Permissions::from_mode(mode)).unwrap();
            let search = search("ptxas", None, &surroundings);
            assert_eq!(search.found.len(), 1);
            (search.found[0].strip_prefix(root.path()).unwrap().to_owned(), search.warnings.len())
        };
        let (own, above) = ("a/b/.tools/cuda/bin/ptxas".into(), "a/.tools/cuda/bin/ptxas".into());
        assert_eq!(found(0o755), (own, 0));
        assert_eq!(found(0o777), (above, 1));
        // Only the superuser can change the owner of a directory.
        if child::user() == 0 {
            let (own, above) = ("a/b/.tools/cuda/bin/ptxas".into(), "a/.tools/cuda/bin/ptxas".into());
            std::os::unix::fs::chown(at("a/b/.tools"), Some(4711), None).unwrap();
            assert_eq!(found(0o755), (above, 1));
            // The program's owner is trusted, because the checkout belongs to the same user.
            tool(&at("a/b/bin/tileiras"), 0o755);
            std::os::unix::fs::chown(at("a/b/bin/tileiras"), Some(4711), None).unwrap();
            assert_eq!(found(0o755), (own, 0));
        }
    }

    #[test]
    fn libnvvm_is_looked_for_below_roots() {
        let root = tempfile::tempdir().unwrap();
        let at = |p: &str| root.path().join(p);
        for place in [
            "home/nvvm/lib64/libnvvm.so",
            "inst/lib/libnvvm.so.4",
            ".tools/nvvm/lib/libnvvm.so.4",
            "kit/lib/libnvvm.so.4",
        ] {
            // A library need not be executable.
            tool(&at(place), 0o644);
        }
        tool(&at("kit/bin/ptxas"), 0o755);
        let surroundings = Surroundings {
            cuda_variables: vec![("CUDA_HOME", at("home").into())],
            path: Some(std::env::join_paths([at("other/bin"), at("kit/bin")]).unwrap()),
            program: Some(at("inst/bin/tileiras")),
        };
        let result = search_libnvvm(None, &surroundings);
        let expected = [
            "home/nvvm/lib64/libnvvm.so",
            "inst/lib/libnvvm.so.4",
            ".tools/nvvm/lib/libnvvm.so.4",
            "kit/lib/libnvvm.so.4",
        ];
        assert_eq!(result.found, expected.map(at));
        let named = search_libnvvm(Some(&at("nowhere")), &surroundings);
        assert_eq!((named.found.len(), named.tried.len()), (0, 1));
    }

    #[test]
    fn libdevice_is_looked_for_below_roots() {
        let root = tempfile::tempdir().unwrap();
        let at = |p: &str| root.path().join(p);
        let places = ["home/nvvm/libdevice/libdevice.10.bc", ".tools/nvvm/libdevice/libdevice.10.bc"];
        places.iter().for_each(|place| tool(&at(place), 0o644));
        let surroundings = Surroundings {
            cuda_variables: vec![("CUDA_HOME", at("home").into())],
            path: None,
            program: Some(at("target/debug/tileiras")),
        };
        assert_eq!(search_libdevice(None, &surroundings).found, places.map(at));
        let named = search_libdevice(Some(&at("nowhere")), &surroundings);
        assert_eq!(named.tried, [(at("nowhere"), "--libdevice".to_owned())]);
    }

    #[test]
    fn the_order_of_places() {
        let root = tempfile::tempdir().unwrap();
        let at = |p: &str| root.path().join(p);
        for place in ["home/bin/t", "checkout/target/debug/t", "checkout/.tools/cuda/bin/t", "path/t"] {
            tool(&at(place), 0o755);
        }
        tool(&at("notexec/t"), 0o644);
        let surroundings = Surroundings {
            cuda_variables: vec![("CUDA_ROOT", at("missing").into()), ("CUDA_HOME", at("home").into())],
            path: Some(std::env::join_paths([at("notexec"), PathBuf::new(), at("path"), at("home/bin")]).unwrap()),
            program: Some(at("checkout/target/debug/tileiras")),
        };
        let result = search("t", None, &surroundings);
        let expected = ["home/bin/t", "checkout/target/debug/t", "checkout/.tools/cuda/bin/t", "path/t"].map(at);
        assert_eq!(result.found, expected);
        assert_eq!(
            result.warnings,
            [format!("CUDA_ROOT is '{}', which does not contain bin/t", at("missing").display())]
        );
        assert_eq!(result.tried.len(), 7);

        let explicit = search("t", Some(&at("nowhere")), &surroundings);
        assert_eq!((explicit.found.len(), explicit.tried.len()), (0, 1));
        assert_eq!(search("t", None, &Surroundings::default()), Search::default());
    }

    #[test]
    fn releases() {
        assert_eq!(release_in("Cuda compilation tools, release 13.4, V13.4.92\nBuild x").as_deref(), Some("13.4.92"));
        for bad in ["", "V1.2", "Vx.y.z", "1.2.3", "V1.2.3.4"] {
            assert_eq!(release_in(bad), None, "{bad}");
        }
    }
}
