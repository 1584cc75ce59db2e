//! `tileiras completions SHELL`: completion scripts, generated from the tables of options and subcommands.

use crate::cl::{Spec, ValueKind, dashed};
use crate::help::Page;

/// A shell with completion support.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Shell {
    pub fn by_name(name: &str) -> Option<Self> {
        match name {
            "bash" => Some(Self::Bash),
            "zsh" => Some(Self::Zsh),
            "fish" => Some(Self::Fish),
            _ => None,
        }
    }
}

/// The values that an option accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Values {
    /// The option takes no value.
    None,
    OneOf(Vec<&'static str>),
    Files,
    Directories,
    /// A number or a free name: there is nothing to offer.
    Other,
}

/// An option as typed.
struct Choice {
    /// With its dashes.
    name: String,
    values: Values,
    help: &'static str,
}

fn choices(page: &Page) -> Vec<Choice> {
    let shown = page.specs.iter().filter(|s| !s.hidden);
    let mut all: Vec<Choice> = shown
        .map(|spec| {
            let target = spec.alias_for.and_then(|name| page.specs.iter().find(|s| s.name == name)).unwrap_or(spec);
            Choice { name: dashed(spec.name), values: values(target), help: target.help }
        })
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn values(spec: &Spec) -> Values {
    match (spec.value, spec.placeholder) {
        (ValueKind::Flag | ValueKind::Action, _) => Values::None,
        (ValueKind::Choice(names), _) => Values::OneOf(names.iter().map(|(name, _)| *name).collect()),
        (_, "filename") => Values::Files,
        (_, "directory") => Values::Directories,
        _ => Values::Other,
    }
}

/// The completion script for a shell. `program` must be a single word.
pub fn script(page: &Page, program: &str, shell: Shell) -> String {
    let choices = choices(page);
    match shell {
        Shell::Bash => bash(page, &choices, program),
        Shell::Zsh => zsh(page, &choices, program),
        Shell::Fish => fish(page, &choices, program),
    }
}

fn bash(page: &Page, choices: &[Choice], program: &str) -> String {
    let mut cases = String::new();
    for Choice { name, values, .. } in choices {
        let offer = match values {
            Values::None => continue,
            Values::OneOf(names) => format!("-W \"{}\"", names.join(" ")),
            Values::Files => "-f".to_owned(),
            Values::Directories => "-d".to_owned(),
            Values::Other => "-W \"\"".to_owned(),
        };
        cases += &format!("    {name}) offer=({offer}) ;;\n");
    }
    // An option that needs a value is offered with an equals sign and no blank after it.
    let word = |c: &Choice| match (&c.values, c.name.starts_with("--")) {
        (Values::None, _) | (_, false) => c.name.clone(),
        (_, true) => format!("{}=", c.name),
    };
    let options: Vec<String> = choices.iter().map(word).collect();
    let subcommands: Vec<&str> = page.subcommands.iter().map(|s| s.name()).collect();
    format!(
        r#"# Completions of {program} for bash.
_{program}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} option= offer=()
  # bash takes an equals sign for a word.
  if [[ $current == = ]]; then option=$before current=
  elif [[ $before == = ]]; then option=${{COMP_WORDS[COMP_CWORD-2]}}
  elif [[ $before == -* ]]; then option=$before
  fi
  case $option in
{cases}  esac
  if [[ ${{#offer[@]}} -eq 0 && $current == -* ]]; then
    offer=(-W "{options}")
  elif [[ ${{#offer[@]}} -eq 0 ]]; then
    offer=(-f)
    [[ $COMP_CWORD -gt 1 ]] || offer+=(-W "{subcommands}")
  fi
  mapfile -t COMPREPLY < <(compgen "${{offer[@]}}" -- "$current")
  if [[ ${{#COMPREPLY[@]}} -eq 1 && ${{COMPREPLY[0]}} == *= ]]; then compopt -o nospace 2>/dev/null || true; fi
}}
complete -o filenames -F _{program} {program}
"#,
        options = options.join(" "),
        subcommands = subcommands.join(" "),
    )
}

fn zsh(page: &Page, choices: &[Choice], program: &str) -> String {
    let quoted = |text: &str| text.replace('\'', "'\\''").replace('[', "\\[").replace(']', "\\]").replace(':', "\\:");
    let mut lines = String::new();
    for Choice { name, values, help } in choices {
        let (mark, action) = match values {
            Values::None => ("", String::new()),
            Values::OneOf(names) => ("=", format!(":value:({})", names.join(" "))),
            Values::Files => ("=", ":file:_files".to_owned()),
            Values::Directories => ("=", ":directory:_files -/".to_owned()),
            Values::Other => ("=", ":value: ".to_owned()),
        };
        // The value of a one-letter option is glued to it or follows a blank.
        let mark = if name.starts_with("--") { mark } else { &mark.replace('=', "+") };
        lines += &format!("    '*{name}{mark}[{}]{action}' \\\n", quoted(help));
    }
    let mut words = String::new();
    for s in page.subcommands {
        words += &format!("    '{}:{}'\n", s.name(), quoted(s.summary).replace("\\[", "[").replace("\\]", "]"));
    }
    format!(
        r#"#compdef {program}
# Completions of {program} for zsh.
_{program}_first() {{
  local words=(
{words}  )
  _describe subcommand words
  _files
}}
_{program}() {{
  _arguments \
{lines}    '1: :_{program}_first' \
    '*:file:_files'
}}
_{program} "$@"
"#
    )
}

fn fish(page: &Page, choices: &[Choice], program: &str) -> String {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('\'', "\\'");
    let mut script = format!("# Completions of {program} for fish.\n");
    for s in page.subcommands {
        let (name, summary) = (s.name(), quoted(s.summary));
        script += &format!("complete -c {program} -n __fish_is_first_token -a {name} -d '{summary}'\n");
    }
    for Choice { name, values, help } in choices {
        let option = match name.strip_prefix("--") {
            Some(long) => format!("-l {long}"),
            None => format!("-s {}", name.trim_start_matches('-')),
        };
        let values = match values {
            Values::None => String::new(),
            Values::OneOf(names) => format!(" -xa '{}'", names.join(" ")),
            Values::Files => " -rF".to_owned(),
            Values::Directories => " -xa '(__fish_complete_directories)'".to_owned(),
            Values::Other => " -x".to_owned(),
        };
        script += &format!("complete -c {program} {option}{values} -d '{}'\n", quoted(help));
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::help::COMPILER;
    use std::process::Command;

    /// The words that bash offers for a command line whose last word is incomplete.
    fn offered(words: &[&str], directory: &std::path::Path) -> Vec<String> {
        let script = script(&COMPILER, "tileiras", Shell::Bash);
        let list: Vec<String> = words.iter().map(|w| format!("'{w}'")).collect();
        let call = format!(
            "{script}\nCOMP_WORDS=({}); COMP_CWORD={}; _tileiras; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            list.join(" "),
            words.len() - 1
        );
        let output = Command::new("bash").args(["-euc", &call]).current_dir(directory).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut found: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
        found.sort();
        found
    }

    #[test]
    fn bash_offers_what_fits() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("kernel.mlir"), "").unwrap();
        std::fs::create_dir(directory.path().join("keep")).unwrap();
        let of = |words: &[&str]| offered(words, directory.path());
        assert_eq!(of(&["tileiras", "--gpu-name", "=", "sm_9"]), ["sm_90"]);
        assert_eq!(of(&["tileiras", "--gpu-name", "sm_12"]), ["sm_120", "sm_121"]);
        assert_eq!(of(&["tileiras", "--emit", "="]).len(), 7);
        assert_eq!(of(&["tileiras", "--gp"]), ["--gpu-name="]);
        assert_eq!(of(&["tileiras", "--linei"]), ["--lineinfo"]);
        // A flag takes no value, so the next word is the input.
        assert_eq!(of(&["tileiras", "--lineinfo", "ke"]), ["keep", "kernel.mlir"]);
        assert_eq!(of(&["tileiras", "--cache-dir", "=", "ke"]), ["keep"]);
        assert_eq!(of(&["tileiras", "-o", "ker"]), ["kernel.mlir"]);
        assert_eq!(of(&["tileiras", "--opt-level", "=", ""]), [""]);
        assert_eq!(of(&["tileiras", "expl"]), ["explain", "explain-schedule", "explore"]);
        assert_eq!(of(&["tileiras", "k.mlir", "expl"]), [""]);
    }

    /// Every shell offers every option that the help shows.
    #[test]
    fn nothing_is_left_out() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = script(&COMPILER, "tileiras", shell);
            for spec in COMPILER.specs.iter().filter(|s| !s.hidden) {
                let name = dashed(spec.name);
                let name = match (shell, name.strip_prefix("--")) {
                    (Shell::Fish, Some(long)) => format!(" -l {long}"),
                    (Shell::Fish, None) => format!(" -s {}", &name[1..]),
                    _ => name,
                };
                assert!(script.contains(&name), "{shell:?}: {name}");
            }
            assert!(COMPILER.subcommands.iter().all(|s| script.contains(s.name())), "{shell:?}");
            assert!(!script.contains("explore-data"), "{shell:?}: hidden options");
        }
    }

    /// The installed shells parse their scripts without complaint.
    #[test]
    fn shells_read_their_scripts() {
        let directory = tempfile::tempdir().unwrap();
        for (shell, program) in [(Shell::Bash, "bash"), (Shell::Zsh, "zsh"), (Shell::Fish, "fish")] {
            let file = directory.path().join(program);
            std::fs::write(&file, script(&COMPILER, "tileiras", shell)).unwrap();
            match Command::new(program).arg("-n").arg(&file).output() {
                Ok(o) => assert!(o.status.success() && o.stderr.is_empty(), "{}", String::from_utf8_lossy(&o.stderr)),
                Err(_) => eprintln!("no {program}: its script is not read"),
            }
        }
    }
}
