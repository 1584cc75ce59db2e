//! No pass loses the source location of an operation, on any program of the corpus.
//!
//! By default one program in four, for sm_90; `TILEIRAS_TEST_FULL=1` takes all of them, for four targets.

use std::{
    fs,
    path::{Path, PathBuf},
};
use tile_interface::{DebugInfo, InputKind};
use tile_launch::corpus::{self, Lists, Program};
use tile_targets::Target;
use tile_test_support::{Failed, Trial, listed};
use tileiras::{
    locations::{self, Lost},
    pipeline,
};

pub fn trials() -> Vec<Trial> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut trials = vec![Trial::test("locations/a pass that loses them is found", planted)];
    trials.extend(listed("locations", cases(&root)));
    trials
}

fn cases(root: &Path) -> Result<Vec<Trial>, corpus::Error> {
    let full = tile_test_support::full();
    let lists = Lists::read(root)?;
    let targets: &[&'static str] = if full { &["sm_80", "sm_90", "sm_100", "sm_120"] } else { &["sm_90"] };
    let mut trials = vec![];
    for (i, program) in corpus::programs(root)?.into_iter().filter(Program::is_readable).enumerate() {
        if !full && i % 4 != 0 {
            continue;
        }
        for target in targets.iter().copied().filter(|t| lists.pending_on(&program.name, t).is_none()) {
            let program = program.clone();
            trials.push(Trial::test(format!("locations/{}/{target}", program.name), move || check(&program, target)));
        }
    }
    Ok(trials)
}

fn options(target: &str, opt_level: u8) -> Result<pipeline::Options, Failed> {
    let target = Target::by_name(target).ok_or("an unknown target")?;
    let strategy = pipeline::Strategy::strongest(target);
    Ok(pipeline::Options { opt_level, target, debug: DebugInfo::Lines, strategy, ..pipeline::Options::default() })
}

fn check(program: &Program, target: &str) -> Result<(), Failed> {
    let input = fs::read(&program.file)?;
    let mut wrong = String::new();
    for opt_level in 0..=3 {
        let found = locations::lint(&input, InputKind::PublicBytecode, &options(target, opt_level)?)?;
        assert!(found.examined > 0);
        for Lost { pass, count, operations } in found.lost {
            wrong += &format!("-O{opt_level}: {count} more without a location after {pass}: {operations:?}\n");
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.into()) }
}

/// Only locations that a pass removes count as lost; ops without a location in the input do not.
fn planted() -> Result<(), Failed> {
    let text = |place: &str| {
        format!(
            r#"
      cuda_tile.module @m {{
        entry @k(%p: tile<ptr<i32>>) {{
          %0 = make_token : token loc("k.py":3:4)
          %1:3 = get_tile_block_id : tile<i32> loc({place})
          %2 = store_ptr_tko weak %p, %1#0 token = %0 : tile<ptr<i32>>, tile<i32> -> token loc({place})
          return loc("k.py":5:4)
        }} loc("k.py":2:1)
      }}
    "#
        )
    };
    let lint =
        |place| locations::lint(text(place).as_bytes(), InputKind::Text, &options("sm_90", 0)?).map_err(Failed::from);
    let placed = lint(r#""k.py":4:4"#)?;
    assert_eq!((placed.unplaced, &placed.lost[..]), (0, &[][..]));
    // An op without a location gets its kernel's.
    let unplaced = lint("unknown")?;
    assert_eq!((unplaced.unplaced, &unplaced.lost[..]), (2, &[][..]));
    let passes = ["convert-cudatile-to-tileaa", "strip-debuginfo", "canonicalize"].map(String::from);
    let stripped = locations::lint_passes(text(r#""k.py":4:4"#).as_bytes(), InputKind::Text, &passes)?;
    let found: Vec<&str> = stripped.lost.iter().map(|l| l.pass.as_str()).collect();
    assert_eq!(found, ["strip-debuginfo"], "{:?}", stripped.lost);
    assert!(stripped.lost[0].operations.contains_key("nv_tileaa.store"), "{:?}", stripped.lost);
    Ok(())
}
