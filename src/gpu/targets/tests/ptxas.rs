//! Checks the tables against ptxas.
//!
//! Assembles each row on each target, with the version that it names and with the previous one, and with and without
//! its feature. ptxas comes from `scripts/setup.sh`, or from the toolkit in `CUDA_HOME` or PATH.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use tile_targets::{
    Directive, EntryDirectives, Feature, PtxVersion, Requirement, TARGETS, Target, finalise, requirements,
};

fn ptxas() -> PathBuf {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../.tools/cuda/bin/ptxas");
    let toolkit = std::env::var_os("CUDA_HOME").map(|home| Path::new(&home).join("bin/ptxas"));
    toolkit.into_iter().chain([checkout]).find(|p| p.is_file()).unwrap_or_else(|| PathBuf::from("ptxas"))
}

/// Assembles the text. Returns the messages if ptxas rejects it.
fn assemble(ptx: &str, target: &str) -> Result<(), String> {
    assemble_with(ptx, target, &[])
}

fn assemble_with(ptx: &str, target: &str, options: &[&str]) -> Result<(), String> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("tables-{}-{}.ptx", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, ptx).unwrap();
    let output = Command::new(ptxas())
        .args(["-arch", target, "--opt-level", "0", "-o", "/dev/null"])
        .args(options)
        .arg(&file)
        .output()
        .unwrap_or_else(|e| panic!("ptxas cannot be started ({e}): run scripts/setup.sh"));
    std::fs::remove_file(&file).unwrap();
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

fn kernel(version: PtxVersion, target: &str, directives: &str, body: &str) -> String {
    let wide = if body.split(|c: char| !c.is_alphanumeric()).any(|word| word == "q") { ".reg .b128 q;" } else { "" };
    format!(
        ".version {version}\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 a)\n{directives}\n{{\n\
         .reg .pred p; .reg .b16 h<8>; .reg .b32 r<16>; .reg .b64 d<8>; .reg .f32 f<8>; .reg .f64 g<4>; {wide}\n{body}\nret;\n}}\n"
    )
}

fn before(version: PtxVersion) -> Option<PtxVersion> {
    PtxVersion::KNOWN.iter().copied().rfind(|v| *v < version)
}

/// Runs `check` on every item with two threads and returns the failures.
fn in_parallel<T: Sync>(items: &[T], check: impl Fn(&T) -> Vec<String> + Sync) -> Vec<String> {
    let (left, right) = items.split_at(items.len() / 2);
    let run = |part: &[T]| part.iter().flat_map(&check).collect::<Vec<_>>();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| run(left));
        let mut failures = run(right);
        failures.extend(other.join().unwrap());
        failures
    })
}

#[test]
fn the_version_floor_of_each_target_is_exact() {
    let failures = in_parallel(TARGETS, |t| {
        let mut failures = Vec::new();
        if let Err(e) = assemble(&kernel(t.ptx_floor, t.ptx_target, "", ""), t.ptx_target) {
            failures.push(format!("{} rejects {}: {e}", t.name, t.ptx_floor));
        }
        if before(t.ptx_floor).is_some_and(|v| assemble(&kernel(v, t.ptx_target, "", ""), t.ptx_target).is_ok()) {
            failures.push(format!("{} accepts less than {}", t.name, t.ptx_floor));
        }
        failures
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn each_instruction_needs_exactly_what_its_row_says() {
    let check = |row: &Requirement| {
        let mut failures = Vec::new();
        let mut previous_refused = None;
        for t in TARGETS {
            let version = row.version.max(t.ptx_floor);
            let verdict = assemble(&kernel(version, t.ptx_target, "", row.sample), t.ptx_target);
            match (row.feature.is_none_or(|f| t.has(f)), verdict) {
                (true, Err(e)) => {
                    failures.push(format!("{} {:?} on {} at {version}: {e}", row.head, row.pieces, t.name))
                }
                (false, Ok(())) => failures.push(format!("{} {:?} assembles on {}", row.head, row.pieces, t.name)),
                (true, Ok(())) => {
                    let Some(older) = before(row.version).filter(|v| *v >= t.ptx_floor) else { continue };
                    let refused = assemble(&kernel(older, t.ptx_target, "", row.sample), t.ptx_target).is_err();
                    previous_refused = Some(refused || previous_refused == Some(true));
                }
                (false, Err(_)) => {}
            }
        }
        if previous_refused == Some(false) {
            failures.push(format!("{} {:?} assembles before {} on every target", row.head, row.pieces, row.version));
        }
        failures
    };
    let failures = in_parallel(requirements(), check);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Features that no mnemonic reveals: three-input forms look like two-input ones.
#[test]
fn features_without_a_row() {
    let samples = [(Feature::MinMax3, PtxVersion { major: 8, minor: 8 }, "max.f32 f0,f1,f2,f3;")];
    for feature in Feature::ALL {
        let covered = requirements().iter().any(|r| r.feature == Some(*feature));
        assert_eq!(covered, !samples.iter().any(|s| s.0 == *feature), "{feature}");
    }
    for (feature, version, sample) in samples {
        for t in TARGETS {
            let verdict = assemble(&kernel(version.max(t.ptx_floor), t.ptx_target, "", sample), t.ptx_target);
            assert_eq!(verdict.is_ok(), t.has(feature), "{feature} on {}: {verdict:?}", t.name);
        }
    }
}

#[test]
fn finalised_directives_assemble() {
    use Directive::*;
    let everywhere: &[&[Directive]] = &[
        &[RequiredThreads([128, 1, 1])],
        &[MaxThreads([256, 1, 1]), MinBlocksPerSm(2)],
        &[RequiredThreads([128, 1, 1]), MaxRegisters(64)],
    ];
    let clusters: &[&[Directive]] = &[
        &[RequiredBlocksPerCluster([2, 1, 1]), ExplicitCluster],
        &[MaxClusterRank(8)],
        &[RequiredThreads([128, 1, 1]), RequiredBlocksPerCluster([1, 1, 1]), BlocksAreClusters],
    ];
    let failures = in_parallel(TARGETS, |t: &Target| {
        let sets = everywhere.iter().chain(if t.has(Feature::Cluster) { clusters } else { &[] });
        sets.filter_map(|directives| {
            let input = kernel(t.llvm_ptx, t.llvm_cpu, "", "");
            let out = finalise(&input, t, &[EntryDirectives { entry: "k", directives }]).unwrap();
            assemble(&out.text, t.ptx_target).err().map(|e| format!("{}: {directives:?}: {e}", t.name))
        })
        .collect()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn too_much_static_shared_memory_starts_where_the_table_says() {
    let failures = in_parallel(TARGETS, |t| {
        let body = |bytes: u32| format!(".shared .align 16 .b8 s[{bytes}]; mov.u32 r0, 1; st.shared.u32 [s], r0;");
        let mut failures = Vec::new();
        let more = t.limits.has_extended_shared().then_some((true, &["--enable-extended-smem=true"][..]));
        for (extended, options) in [(false, &[][..])].into_iter().chain(more) {
            let limit = t.limits.static_shared(extended);
            let with =
                |bytes| assemble_with(&kernel(t.ptx_floor, t.ptx_target, "", &body(bytes)), t.ptx_target, options);
            if let Err(e) = with(limit) {
                failures.push(format!("{} {options:?}: {e}", t.name));
            }
            match with(limit + 1) {
                Err(e) if e.contains("uses too much shared data") => {}
                other => failures.push(format!("{} {options:?} with one byte more: {other:?}", t.name)),
            }
        }
        failures
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
