//! Up to sm_89, ptxas supports more shared memory with an option. For a ptxas without it, the program is compiled
//! with less.

use libtest_mimic::{Failed, Trial};
use tile_driver::toolchain::{self, Surroundings};

use crate::behaviour::script;
use crate::fixture::Bench;

pub fn trials() -> Vec<Trial> {
    let trial = Trial::test("shared memory is extended", || {
        extended();
        Ok::<(), Failed>(())
    });
    vec![trial]
}

fn extended() {
    let bench = Bench::new();
    let found = toolchain::search("ptxas", None, &Surroundings::of_process()).found;
    let old = bench.at("old/bin/ptxas");
    script(
        &old,
        &format!(
            "case \"$*\" in *--enable-extended-smem*) echo \"ptxas fatal   : Unknown option '-enable-extended-smem'\" >&2; \
             exit 255;; esac\nexec {} \"$@\"",
            found[0].display()
        ),
    );
    let old = format!("--ptxas-path={}", old.display());
    let taken = |arguments: &[&str]| {
        let outcome = bench.run(&[&["ring", "-o", "x", "--resource-usage-file=x.json"], arguments].concat());
        assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""), "{arguments:?}");
        let usage: serde_json::Value = serde_json::from_slice(&std::fs::read(bench.at("x.json")).unwrap()).unwrap();
        usage.pointer("/kernels/0/shared_memory").and_then(serde_json::Value::as_u64)
    };
    for target in ["--gpu-name=sm_80", "--gpu-name=sm_86", "--gpu-name=sm_89"] {
        assert_eq!(taken(&[target]), Some(98304));
        assert_eq!(taken(&[target, "--emit=obj"]), Some(98304));
        assert_eq!(taken(&[target, "--lineinfo"]), Some(98304));
        assert_eq!(taken(&[target, "--pipeline-option=extended-smem=false"]), Some(32768));
        assert_eq!(taken(&[target, &old]), Some(32768));
        assert_eq!(taken(&[target, &old, "--lineinfo"]), Some(32768));
        // The PTX may go to an assembler that is not passed the option.
        let ptx = |arguments: &[&str]| {
            String::from_utf8(bench.run(&[&["ring", target, "--emit=ptx"], arguments].concat()).stdout).unwrap()
        };
        assert!(ptx(&[]).contains("s[32768]"));
        assert!(ptx(&["--pipeline-option=extended-smem=true"]).contains("s[98304]"));
    }
    // Other targets need no option.
    assert_eq!(taken(&["--gpu-name=sm_90"]), Some(32768));
}
