//! Which passes preserve `ScheduleAnalysis`, checked when a pipeline is built.
//!
//! `tileas-generate-schedule-constraints` builds the analysis, and `tileas-materialize-schedule` uses it. A pass
//! between them must declare that it preserves the analysis: [`PRESERVE_SCHEDULE`]. MLIR's own passes make no such
//! declaration to the analysis manager, so the list is by name. A pass that is not on it is an error even if it would
//! change nothing, because the schedule must not depend on whether it did.
//!
//! A stock `mlir-opt` that loads the plugin builds its pipelines itself. There the list is applied to the passes that
//! run (`analysis::schedule::declared`).

use crate::analysis::schedule::declared::{self, PRESERVE_SCHEDULE};
pub use declared::{CLEANUPS, GENERATE_CONSTRAINTS, MATERIALIZE_SCHEDULE, message};

/// Returns the text of the error for the first pass of a textual pipeline that invalidates `ScheduleAnalysis` before
/// it is used.
pub fn invalidation(pipeline: &str) -> Option<String> {
    invalidating(passes(pipeline)).map(message)
}

/// Returns the first of these passes that does not preserve `ScheduleAnalysis`.
pub fn undeclared(pipeline: &str) -> Option<&str> {
    passes(pipeline).into_iter().find(|pass| !PRESERVE_SCHEDULE.contains(pass))
}

/// Returns the first pass that stands between generating and using constraints and does not preserve them.
fn invalidating(passes: Vec<&str>) -> Option<&str> {
    let (mut is_built, mut invalidating) = (false, None);
    for pass in passes {
        match pass {
            GENERATE_CONSTRAINTS => (is_built, invalidating) = (true, None),
            MATERIALIZE_SCHEDULE if invalidating.is_some() => return invalidating,
            MATERIALIZE_SCHEDULE => is_built = false,
            _ if is_built && !PRESERVE_SCHEDULE.contains(&pass) => invalidating = invalidating.or(Some(pass)),
            _ => {}
        }
    }
    None
}

/// Returns the passes of a textual pipeline in order, including nested ones, without their options and anchors.
fn passes(pipeline: &str) -> Vec<&str> {
    let (mut names, mut start, mut depth) = (vec![], 0, 0);
    for (at, letter) in pipeline.char_indices().chain([(pipeline.len(), ',')]) {
        let ends = match letter {
            '{' => {
                depth += 1;
                depth == 1
            }
            '}' => {
                depth -= 1;
                start = at + 1;
                false
            }
            ',' | ')' | '(' => depth == 0,
            _ => false,
        };
        if ends {
            names.extend(Some(pipeline[start..at].trim()).filter(|name| !name.is_empty() && letter != '('));
            start = at + letter.len_utf8();
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_passes_and_options_are_told_apart() {
        let text = "builtin.module(a{x=1,2 y={b,c}}, nv_tileaa.func(cse,d{z=()}),any(e),f)";
        assert_eq!(passes(text), ["a", "cse", "d", "e", "f"]);
        assert_eq!(passes("mine"), ["mine"]);
        assert_eq!(passes(""), [""; 0]);
    }

    #[test]
    fn only_passes_between_constraints_and_their_use_count() {
        let told = |passes: &str| invalidation(&format!("builtin.module({passes})"));
        let (first, last) = (GENERATE_CONSTRAINTS, MATERIALIZE_SCHEDULE);
        for harmless in [
            format!("sccp,{first}{{x=1}},canonicalize{{max-iterations=2}},cse,{last}{{y=1}},sccp"),
            format!("{first},sccp"),
            format!("sccp,{last}"),
            format!("{first},sccp,{first},{last}"),
            format!("{first},{last},sccp,{last}"),
            format!("{first},print-op-stats{{json=true}},{last}"),
        ] {
            assert_eq!(told(&harmless), None, "{harmless}");
        }
        for wrong in [format!("{first},cse,sccp,{last}"), format!("{first},nv_tileaa.func(sccp),symbol-dce,{last}")] {
            assert_eq!(told(&wrong), Some(message("sccp")), "{wrong}");
        }
    }
}
