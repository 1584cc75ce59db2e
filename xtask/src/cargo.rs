//! Runs cargo from a command that cargo runs.

use std::path::Path;
use std::process::Command;

/// Returns a cargo command for the workspace. `cargo run` describes the package of xtask in the environment. Build
/// scripts that depend on those variables would run again with them, and once more in the next build without them.
pub fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(describes_a_package) {
            command.env_remove(name);
        }
    }
    command.current_dir(root);
    command
}

fn describes_a_package(name: &str) -> bool {
    name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_of_xtask_is_removed() {
        let command = cargo(Path::new("/"));
        let removed: Vec<_> = command.get_envs().filter(|(_, value)| value.is_none()).map(|(name, _)| name).collect();
        for name in ["CARGO_PKG_NAME", "CARGO_PKG_VERSION", "CARGO_MANIFEST_DIR"] {
            assert!(removed.iter().any(|n| *n == name), "{name}: {removed:?}");
        }
    }
}
