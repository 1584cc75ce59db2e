//! Tests of the pipeline options and the order of passes.

use super::*;

use crate::{dialect, passes};
use melior::{pass::PassManager, utility::parse_pass_pipeline};
use tile_interface::pipeline::Values;

fn with(settings: &[(&str, &str)]) -> Options {
    let mut options = Options::default();
    for (name, value) in settings {
        options.set(name, value).unwrap_or_else(|e| panic!("{name}={value}: {e}"));
    }
    options
}

/// A pass limit keeps the first optional passes and all required ones.
#[test]
fn a_limit_leaves_out_optional_passes() {
    let all = Options { strategy: Strategy::WarpSpecialize, opt_level: 3, ..Options::default() };
    let all = Options { insertions: vec!["end:tileas:symbol-dce".parse().unwrap()], ..all };
    let names = |o: &Options, optional| -> Vec<String> {
        o.steps().iter().filter(|s| s.optional == optional).map(|s| s.pass.clone()).collect()
    };
    let (optional, needed) = (names(&all, true), names(&all, false));
    assert!(optional.iter().any(|p| p == "symbol-dce") && optional.len() > 10, "{optional:?}");
    for limit in 0..=optional.len() + 1 {
        let limited = Options { pass_limit: Some(limit), ..all.clone() };
        assert_eq!(names(&limited, true), optional[..limit.min(optional.len())]);
        assert_eq!(names(&limited, false), needed);
    }
}

#[test]
fn options_are_set() {
    let o = with(&[("opt-level", "1"), ("num-warps", "8"), ("compute-capability", "sm_90")]);
    assert_eq!((o.opt_level, o.num_warps, o.target.name), (1, Some(8), "sm_90"));
    // The available values can be set by name.
    with(&[("v2-opt-level", "0"), ("pipeline-strategy", "none"), ("num-ctas", "0")]);
    assert_eq!(with(&[("num-ctas", "4")]).num_ctas, 4);
    with(&[("pipeline-strategy", "warp-specialize")]);
    with(&[("pipeline-strategy", "unspecialize"), ("unspecialized-pipeline-num-stages", "3")]);
}

#[test]
fn an_unknown_option_is_told_the_known_ones() {
    let error = Options::default().set("warps", "4").unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("unknown pipeline option 'warps'; the options are "), "{text}");
    for name in PipelineOption::ALL.iter().map(|o| o.name()) {
        assert!(text.contains(name), "{text} lacks {name}");
        // Every name that is told is known, and no option takes every value.
        let error = Options::default().set(name, "non sense").unwrap_err();
        let OptionError::Value { name: n, .. } = error else { panic!("{name}: {error}") };
        assert_eq!(n, name);
    }
}

/// The pipeline takes each value that the table lists.
#[test]
fn listed_values_are_taken() {
    for option in PipelineOption::ALL {
        let listed = match option.values() {
            Values::OneOf(names) => names.iter().map(|n| n.to_string()).collect(),
            Values::Number(first, last) => vec![first.to_string(), last.to_string()],
            Values::PowerOfTwo(most) => vec!["1".to_owned(), most.to_string()],
            Values::Bool => vec!["false".to_owned()],
            Values::File => vec!["a.txt".to_owned()],
            Values::Other(_) => continue,
        };
        for value in listed {
            assert_eq!(Options::default().set(option.name(), &value), Ok(()), "{}={value}", option.name());
        }
    }
}

#[test]
fn bad_values_leave_the_options_alone() {
    let cases = [
        ("opt-level", "4"),
        ("opt-level", "-1"),
        ("opt-level", ""),
        ("v2-opt-level", "4"),
        ("pipeline-strategy", "fast"),
        ("unspecialized-pipeline-num-stages", "0"),
        ("unspecialized-pipeline-num-stages", "many"),
        ("pass-limit", "-1"),
        ("disable-pass", ""),
        ("disable-pass", "convert-to-llvm"),
        ("disable-pass", "cse,no-such-pass"),
        ("num-warps", "0"),
        ("num-warps", "3"),
        ("num-warps", "64"),
        ("num-warps", "4 "),
        ("num-ctas", "3"),
        ("num-ctas", "32"),
        ("compute-capability", "sm_75"),
        ("rrt-size-threshold", "-1"),
        ("max-constraint-iterations", "few"),
        ("index-bitwidth", "16"),
        ("approx", "yes"),
        ("ftz", ""),
        ("emit-line-info", "ptx"),
        ("snapshot-lines", "ptx"),
        ("dynamic-persistent", "maybe"),
        ("host-triple", "x86 64"),
        ("dump-host", "a{b"),
        ("snapshot-file", "a b"),
    ];
    for (name, value) in cases {
        let mut options = Options::default();
        let before = options.dump();
        let error = options.set(name, value).expect_err(value);
        assert!(matches!(error, OptionError::Value { .. }), "{name}={value}: {error}");
        assert!(error.to_string().contains(&format!("'{value}'")), "{error}");
        assert_eq!(options.dump(), before, "{name}={value}");
    }
}

#[test]
fn each_target_names_its_strategies() {
    for target in tile_targets::TARGETS {
        let parse = |strategy: &str| {
            Options::parse(&format!("compute-capability={} pipeline-strategy={strategy}", target.name))
        };
        let strongest = Strategy::strongest(target);
        assert_eq!(strongest == Strategy::WarpSpecialize, target.sm >= 90, "{}", target.name);
        for strategy in ["none", "unspecialize"] {
            assert!(parse(strategy).is_ok(), "{}: {strategy}", target.name);
        }
        // The order of the options does not matter.
        let reverse = Options::parse(&format!("pipeline-strategy=warp-specialize compute-capability={}", target.name));
        let refused = parse("warp-specialize").err().map(|e| e.to_string());
        assert_eq!(reverse.err().map(|e| e.to_string()), refused);
        let text = format!(
            "option 'pipeline-strategy': {} has no agents for 'warp-specialize'; its strategies are none and unspecialize",
            target.name
        );
        assert_eq!(refused, (strongest != Strategy::WarpSpecialize).then_some(text));
    }
}

/// A trace is written at every level that schedules, and is an error at the others.
#[test]
fn a_trace_needs_a_schedule() {
    let check = |text: &str| Options::parse(&format!("{text} schedule-trace-file=t.json")).err().map(|e| e.to_string());
    for level in 1..=3 {
        for strategy in ["unspecialize", "warp-specialize"] {
            for opt_level in 2..=3 {
                let text = format!("opt-level={opt_level} v2-opt-level={level} pipeline-strategy={strategy}");
                assert_eq!(check(&text), None, "{text}");
                let traced = Options::parse(&format!("{text} schedule-trace-file=t.json")).unwrap().tier();
                assert!(traced.contains("schedule-trace-file=t.json"), "{traced}");
            }
        }
    }
    let text = "option 'schedule-trace-file': nothing is scheduled at opt-level 2 and v2-opt-level 0 with \
                pipeline-strategy 'unspecialize'";
    assert_eq!(check("v2-opt-level=0 pipeline-strategy=unspecialize").as_deref(), Some(text));
    for text in ["opt-level=1 v2-opt-level=2 pipeline-strategy=unspecialize", "v2-opt-level=2"] {
        assert!(check(text).is_some_and(|e| e.contains("nothing is scheduled at opt-level")), "{text}");
    }
}

#[test]
fn default_values_can_be_given() {
    with(&[
        ("rrt-size-threshold", "4096"),
        ("max-constraint-iterations", "10"),
        ("dynamic-persistent", "false"),
        ("schedule-trace-file", ""),
    ]);
}

#[test]
fn disabled_passes_are_left_out_wherever_they_stand() {
    let names = |options: &Options| options.steps().iter().map(|s| s.name().to_owned()).collect::<Vec<_>>();
    let all = names(&with(&[("opt-level", "3"), ("pipeline-strategy", "warp-specialize")]));
    let mut options = with(&[("opt-level", "3"), ("pipeline-strategy", "warp-specialize")]);
    options.set("disable-pass", "cse,tileas-ping-pong").unwrap();
    let rest = names(&options);
    let expected: Vec<&String> = all.iter().filter(|n| *n != "cse" && *n != "tileas-ping-pong").collect();
    assert_eq!(rest.iter().collect::<Vec<_>>(), expected);
    assert!(rest.len() + 3 < all.len(), "cse stands in more than one place");
    // Passes inserted by the user are kept.
    let position = Position::After("canonicalize".to_owned());
    options.insertions.push(Insertion { position, pipeline: "cse".to_owned() });
    assert!(names(&options).iter().any(|n| n == "cse"));
}

#[test]
fn each_option_reaches_the_pass_that_reads_it() {
    let cases = [
        ("approx", "true", "convert-cudatile-to-tileaa{approx=true}"),
        ("ftz", "true", "convert-cudatile-to-tileaa{ftz=true}"),
        ("num-warps", "8", "convert-tileaa-to-tileas{num-warps=8 compute-capability=sm_100}"),
        ("num-ctas", "2", "tileaa-split-over-cluster{num-ctas=2 compute-capability=sm_100}"),
        ("index-bitwidth", "32", "convert-tileas-to-llvm{compute-capability=sm_100 index-bitwidth=32}"),
        ("emit-line-info", "tileas", "tileir-print-snapshot{name=tileas}"),
        ("snapshot-lines", "tileas", "snapshot-op-locations{filename=tileir-snapshot.tileas.mlir}"),
        ("snapshot-lines", "tileaa", "tileir-insert-debug-scope{emission-kind=DebugDirectivesOnly}"),
        ("host-triple", "aarch64-linux-gnu", "tileir-emit-host-wrapper{host-triple=aarch64-linux-gnu}"),
        ("dump-host", "/tmp/h.ll", "tileir-emit-host-wrapper{dump-host=/tmp/h.ll}"),
    ];
    for (name, value, pass) in cases {
        let passes: Vec<String> = with(&[(name, value)]).steps().into_iter().map(|s| s.pass).collect();
        assert!(passes.iter().any(|p| p == pass), "{name}={value}: {passes:?}");
        let without: Vec<String> = Options::default().steps().into_iter().map(|s| s.pass).collect();
        assert!(!without.iter().any(|p| p == pass), "{name}={value} changes nothing");
    }
}

#[test]
fn passes_are_inserted_at_their_places() {
    let insertions = ["after:cse:a", "before:cse:b{x=1},c", "after:cse:d", "end:tileas:e", "end:llvm:f"];
    let insertions: Vec<Insertion> = insertions.map(|text| text.parse().unwrap()).into();
    for opt_level in 0..=3 {
        let options = Options { opt_level, ..Options::default() };
        let with = Options { insertions: insertions.clone(), ..options.clone() };
        let mut expected = vec![];
        let steps = options.steps();
        for (i, step) in steps.iter().enumerate() {
            let is_last = steps.get(i + 1).is_none_or(|next| next.stage != step.stage);
            let mut add = |pass: &str| expected.push((pass.to_owned(), step.stage, step.tier));
            let is_cse = step.pass == "cse";
            is_cse.then(|| add("b{x=1},c"));
            add(&step.pass);
            is_cse.then(|| ["a", "d"].map(&mut add));
            (is_last && step.stage == Stage::TileAs).then(|| add("e"));
            (is_last && step.stage == Stage::Llvm).then(|| add("f"));
        }
        let made: Vec<_> = with.steps().into_iter().map(|s| (s.pass, s.stage, s.tier)).collect();
        assert_eq!(made, expected, "-O{opt_level}");
        let stages = if opt_level == 0 { Err(()) } else { Ok(Stage::TileAa) };
        let found = with.stages_of(&insertions[0]).map(|found| found[0]).map_err(drop);
        assert_eq!(found, stages, "-O{opt_level}");
    }
    let error = Options::default().stages_of(&"before:a:b".parse().unwrap()).unwrap_err().to_string();
    assert!(error.starts_with("the pipeline has no pass 'a'; with these options its passes are "), "{error}");
    assert!(error.contains(", convert-tileas-to-llvm, ") && error.matches(" cse").count() == 1, "{error}");
}

#[test]
fn passes_between_constraints_and_schedule_preserve_them() {
    let options = with(&[("v2-opt-level", "1"), ("pipeline-strategy", "unspecialize")]);
    let names: Vec<String> = options.steps().iter().map(|s| s.name().to_owned()).collect();
    let first = names.iter().position(|n| n == GENERATE_CONSTRAINTS).unwrap();
    assert_eq!(
        names[first + 1..first + 5],
        ["canonicalize", "cse", MATERIALIZE_SCHEDULE, "tileas-unspecialized-pipeline"]
    );
    // Scheduling runs before agents are materialized. With a single agent, the scheduler does not assign agents.
    for (level, single) in [("1", true), ("2", false), ("3", false)] {
        let options = with(&[("v2-opt-level", level), ("pipeline-strategy", "warp-specialize")]);
        let steps = options.steps();
        let place = |name: &str| steps.iter().position(|s| s.name() == name).unwrap();
        assert_eq!(place(GENERATE_CONSTRAINTS) + 1, place(MATERIALIZE_SCHEDULE));
        assert_eq!(place(MATERIALIZE_SCHEDULE) + 1, place("tileas-pipeline-dots"));
        assert_eq!(steps[place(MATERIALIZE_SCHEDULE)].pass.contains("use-single-agent=true"), single);
    }
    let refused = |place: &str| options.stages_of(&place.parse().unwrap()).err().map(|e| e.to_string());
    let text = "cleanup pass invalidated ScheduleAnalysis; rerun constraint generation or remove the pass 'mine'";
    for place in [
        "after:tileas-generate-schedule-constraints:cse,mine{x=1}",
        "after:tileas-generate-schedule-constraints:nv_tileaa.func(mine)",
        "before:tileas-materialize-schedule:mine",
    ] {
        assert_eq!(refused(place).as_deref(), Some(text), "{place}");
    }
    for place in [
        "before:tileas-generate-schedule-constraints:mine",
        "after:tileas-materialize-schedule:mine",
        "after:tileas-generate-schedule-constraints:canonicalize{max-iterations=3}",
        "after:tileas-generate-schedule-constraints:nv_tileaa.func(canonicalize{max-iterations=3 max-num-rewrites=2})",
    ] {
        assert_eq!(refused(place), None, "{place}");
    }
    // Loops are reshaped before scheduling, and only if the scheduler uses resource tables.
    // A cleanup before constraints removes loops, which cleanups after them must keep.
    let before = ["tileas-prepare-for-scheduling", "tileas-recompute-for-scheduling", "canonicalize"];
    assert_eq!(names[first - 3..first], before);
    let light = with(&[("v2-opt-level", "1"), ("pipeline-strategy", "unspecialize"), ("rrt-size-threshold", "0")]);
    assert!(light.steps().iter().all(|s| !s.name().ends_with("-for-scheduling")));
    // From level 2 on, schedules of loops without agents must be faster than no schedule.
    let two = with(&[("v2-opt-level", "2"), ("pipeline-strategy", "unspecialize")]).steps();
    let two: Vec<&str> = two.iter().map(|s| s.pass.as_str()).filter(|p| p.contains("schedul")).collect();
    assert!(
        two.len() == 2 && two[1].contains("rrt-size-threshold=4096") && two[1].contains("simple-stages=4"),
        "{two:?}"
    );
    // Without a schedule, insertions are not restricted.
    assert!(Options::default().stages_of(&"after:cse:mine".parse().unwrap()).is_ok());
}

#[test]
fn stages_and_order_do_not_depend_on_the_level() {
    for level in 0..=3 {
        let steps = Options { opt_level: level, ..Options::default() }.steps();
        assert!(steps.is_sorted_by_key(|s| s.stage), "-O{level}");
        // The tier is a prefix of the pipeline, so running the tier and then the rest preserves the order.
        assert!(steps.is_sorted_by_key(|s| s.tier > level), "-O{level}");
    }
}

#[test]
fn the_dump_is_a_pipeline_of_the_same_passes() {
    passes::register_all();
    let context = dialect::context();
    let text = |pipeline: &str| {
        let manager = PassManager::new(&context);
        parse_pass_pipeline(manager.as_operation_pass_manager(), pipeline)
            .unwrap_or_else(|e| panic!("{pipeline}: {e}"));
        manager.as_operation_pass_manager().to_string()
    };
    for opt_level in 0..=3 {
        let debug = [DebugInfo::None, DebugInfo::Lines, DebugInfo::Full];
        for (debug, snapshot_lines) in debug.into_iter().flat_map(|d| Snapshot::ALL.map(|s| (d, s))) {
            let options = Options {
                opt_level,
                debug,
                snapshot_lines,
                printed_snapshot: if debug == DebugInfo::Lines { snapshot_lines } else { Snapshot::None },
                strategy: Strategy::Unspecialize,
                num_warps: Some(8),
                ..Options::default()
            };
            let dump = options.dump();
            let pipelines: Vec<&str> = dump.lines().filter(|l| !l.starts_with("//")).collect();
            let steps = options.steps();
            assert_eq!(pipelines.len(), 2, "{dump}");
            let (tier, finish): (Vec<&PipelineStep>, Vec<&PipelineStep>) =
                steps.iter().partition(|s| s.tier <= opt_level);
            for (pipeline, steps) in pipelines.into_iter().zip([tier, finish]) {
                let printed = text(pipeline);
                assert_eq!(text(&printed), printed);
                // Printing adds options with their default values; names and order must match the steps.
                let mut rest = printed.as_str();
                for step in steps {
                    let name = step.name();
                    let at = rest.find(name).unwrap_or_else(|| panic!("{name} is missing or late in {printed}"));
                    rest = &rest[at + name.len()..];
                }
            }
        }
    }
}
