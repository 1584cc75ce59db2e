//! Assembles every row on each target that has it, with the PTX version from the table of requirements, and checks
//! that no other target accepts it.
//!
//! The shape of `tcgen05.mma` is in a descriptor that ptxas does not see, so only its kind is tested.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use tile_layout::Operand;
use tile_mma::{Element, Instruction, ROWS, Row, Storage, Unit};
use tile_targets::{PtxVersion, TARGETS, Target};

fn ptxas() -> PathBuf {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../.tools/cuda/bin/ptxas");
    let toolkit = std::env::var_os("CUDA_HOME").map(|home| Path::new(&home).join("bin/ptxas"));
    toolkit.into_iter().chain([checkout]).find(|p| p.is_file()).unwrap_or_else(|| PathBuf::from("ptxas"))
}

fn assemble(ptx: &str, target: &Target) -> Result<(), String> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("rows-{}-{}.ptx", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, ptx).unwrap();
    let output = Command::new(ptxas())
        .args(["-arch", target.ptx_target, "--opt-level", "0", "-o", "/dev/null"])
        .arg(&file)
        .output()
        .unwrap_or_else(|e| panic!("ptxas cannot be started ({e}): run scripts/setup.sh"));
    std::fs::remove_file(&file).unwrap();
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

/// The registers of a thread for a fragment of `elements` elements of `bits` bits over `lanes` threads.
fn registers(elements: u32, bits: u32, lanes: u32) -> usize {
    (elements * bits / lanes).div_ceil(bits.max(32)) as usize
}

fn list(class: char, from: usize, count: usize) -> String {
    let names: Vec<String> = (from..from + count).map(|i| format!("{class}{i}")).collect();
    format!("{{{}}}", names.join(","))
}

/// The instruction with operands, once for each storage of A.
fn statements(i: &Instruction) -> Vec<String> {
    let Row { unit, m, k, container, .. } = *i.row;
    let lanes = if unit == Unit::Warpgroup { 128 } else { 32 };
    let class = match i.accumulator {
        Element::F32 => 'f',
        Element::F64 => 'g',
        _ => 'r',
    };
    let operand = if i.a == Element::F64 { 'g' } else { 'a' };
    let acc = list(class, 0, registers(m * i.n, i.accumulator.bits(), lanes));
    let a = list(operand, 0, registers(m * k, container, lanes));
    let name = i.ptx();
    match unit {
        Unit::Sync | Unit::BlockScale => {
            let b = list(operand, 0, registers(i.n * k, container, lanes));
            let scales = if i.scale.is_some() { ",r0,{0,0},r1,{0,0}" } else { "" };
            vec![format!("{name} {acc},{a},{b},{acc}{scales};")]
        }
        Unit::Warpgroup => {
            let signs = if i.accumulator == Element::S32 { "" } else { ",1,1" };
            let majors = if container == 16 { (",0,0", ",0") } else { ("", "") };
            vec![
                format!("{name} {acc},d0,d1,p{signs}{};", majors.0),
                format!("{name} {acc},{a},d1,p{signs}{};", majors.1),
            ]
        }
        Unit::Tensor | Unit::TensorPair => {
            let scales = if i.scale.is_some() { ",[r2],[r3]" } else { "" };
            ["d0", "[r4]"].iter().map(|a| format!("{name} [r0],{a},d1,r1{scales},p;")).collect()
        }
    }
}

/// A module with one kernel per statement, so that statements do not share registers or tensor memory.
fn module(version: PtxVersion, target: &Target, statements: &[String]) -> String {
    let mut text = format!(".version {version}\n.target {}\n.address_size 64\n", target.ptx_target);
    for (i, statement) in statements.iter().enumerate() {
        text.push_str(&format!(
            ".visible .entry k{i}()\n{{\n.reg .pred p; .reg .b32 r<128>; .reg .b32 a<8>; .reg .b64 d<2>; \
             .reg .f32 f<128>; .reg .f64 g<8>;\n{statement}\nret;\n}}\n"
        ));
    }
    text
}

/// The instructions of a row that differ in PTX: all of the narrowest, and the widest for each pair of formats.
fn samples(row: &'static Row) -> Vec<Instruction> {
    let in_name = !matches!(row.unit, Unit::Tensor | Unit::TensorPair);
    let (first, last) = (row.n.iter().next(), row.n.iter().last());
    let mut all: Vec<Instruction> =
        row.instructions().filter(|i| Some(i.n) == first || in_name && Some(i.n) == last).collect();
    all.dedup_by_key(|i| i.ptx());
    all
}

#[test]
fn every_row_assembles_where_the_table_says() {
    let check = |target: &Target| -> Vec<String> {
        let mut by_version: BTreeMap<PtxVersion, Vec<String>> = BTreeMap::new();
        let mut failures = vec![];
        for row in ROWS {
            let samples = samples(row);
            if row.is_on(target) {
                for i in samples {
                    by_version.entry(i.version().max(target.ptx_floor)).or_default().extend(statements(&i));
                }
                continue;
            }
            // A target without the feature rejects every form alike. The last form has the narrowest elements: with
            // 8-bit floats, `kind::f8f6f4` is another name for the form without a kind.
            let last = samples.last().unwrap();
            let statements = &statements(last)[..1];
            if assemble(&module(last.version().max(target.ptx_floor), target, statements), target).is_ok() {
                failures.push(format!("{} assembles {statements:?}", target.name));
            }
        }
        for (version, statements) in by_version {
            if let Err(e) = assemble(&module(version, target, &statements), target) {
                // The messages name the rejected lines.
                let fails = |s: &&String| assemble(&module(version, target, &[s.to_string()]), target).is_err();
                let failing: Vec<_> = statements.iter().filter(fails).cloned().collect();
                failures.push(format!("{} at {version}: {e}\n{}", target.name, failing.join("\n")));
            }
        }
        failures
    };
    let (left, right) = TARGETS.split_at(TARGETS.len() / 2);
    let failures: Vec<String> = std::thread::scope(|scope| {
        let other = scope.spawn(|| left.iter().flat_map(check).collect::<Vec<_>>());
        let mut failures: Vec<String> = right.iter().flat_map(check).collect();
        failures.extend(other.join().unwrap());
        failures
    });
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

/// ptxas rejects column counts that a row lacks, if they are part of the name.
#[test]
fn other_columns_do_not_assemble() {
    let target = Target::by_name("sm_90").unwrap();
    let mut refused = 0;
    for row in ROWS.iter().filter(|r| r.unit == Unit::Warpgroup) {
        assert!(row.storage(Operand::Accumulator).contains(&Storage::Register));
        let some = row.instructions().next().unwrap();
        for n in (8..=264).step_by(8).filter(|&n| !row.n.has(n)) {
            let statements = &statements(&Instruction { n, ..some })[..1];
            assert!(assemble(&module(some.version(), target, statements), target).is_err(), "{statements:?}");
            refused += 1;
        }
    }
    // 264 for every row, and odd multiples of eight from 40 on for the two rows of integers.
    assert_eq!(refused, 6 + 2 * 14);
}
