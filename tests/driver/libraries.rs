//! Options of tile libraries: `--preview`, `-l` and `--preview-create-tile-lib`.

use crate::fixture::Bench;
use libtest_mimic::Trial;
use std::path::Path;

pub fn trials() -> Vec<Trial> {
    let tests: [(&str, fn()); 3] = [
        ("preview features", preview_features),
        ("libraries are read", libraries_are_read),
        ("a library is made", a_library_is_made),
    ];
    let trial = |(name, test): (&str, fn())| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    tests.into_iter().map(trial).collect()
}

fn golden(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/bytecode/tilelib").join(name)).unwrap()
}

fn preview_features() {
    let bench = Bench::new();
    for arguments in [&["--preview=simt"][..], &["--preview", "simt"], &["--preview=simt,simt", "--preview=simt"]] {
        let outcome = bench.run(&[&["ok", "--gpu-name=sm_90", "-o", "out"], arguments].concat());
        assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    }
    for (value, name) in [("foo", "foo"), ("", ""), ("SIMT", "SIMT"), ("all", "all"), ("simt,", ""), (",simt", "")] {
        let outcome = bench.run(&["ok", "--gpu-name=sm_90", "-o", "other", &format!("--preview={value}")]);
        let message =
            format!(": for the --preview option: unknown preview feature '{name}'; supported features: simt\n");
        assert_eq!(outcome.status, Some(1), "{value}");
        assert!(outcome.stderr.ends_with(&message), "{}", outcome.stderr);
    }
}

fn libraries_are_read() {
    let bench = Bench::new();
    bench.put("m.tilelib", b"anything; the compiler looks into it");
    std::fs::create_dir(bench.at("directory")).unwrap();
    let simt = "--preview=simt";
    let ok = |options: &[&str]| bench.run(&[&["ok", "--gpu-name=sm_90", "-o", "out"], options].concat());
    for options in [&[simt, "-l", "m.tilelib"][..], &[simt, "-l=m.tilelib", "--l", "m.tilelib"]] {
        let outcome = ok(options);
        assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""), "{options:?}");
    }
    for (options, status, message) in [
        (&["-l", "m.tilelib"][..], 5, "error: libraries require the 'simt' preview feature\n"),
        (&[simt, "-l", "none"], 5, "error: failed to open tile library: No such file or directory\n"),
        (&[simt, "-l", "directory"], 5, "error: failed to open tile library: Is a directory\n"),
        (&[simt, "-lm.tilelib"], 1, "for the -l option: may not occur within a group!\n"),
    ] {
        let outcome = ok(options);
        assert_eq!(outcome.status, Some(status), "{options:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{options:?}: {}", outcome.stderr);
    }
}

fn a_library_is_made() {
    let bench = Bench::new();
    for name in ["iface_local1.tilebc", "impl_local1.tilebc", "c1.ptx"] {
        bench.put(name, &golden(name));
    }
    let interface = "--preview-interface=iface_local1.tilebc";
    let catalogue = "--preview-implementation=impl_local1.tilebc";
    let code = "--preview-implementation=c1.ptx";
    let create = |options: &[&str]| bench.run(&[&["--preview-create-tile-lib"], options].concat());
    // The default output, and one with a name; an input is ignored.
    for (more, file) in [(&[][..], "elf.o"), (&["-o", "x.tilelib", "ignored"], "x.tilelib")] {
        let outcome = create(&[&[interface, catalogue, code], more].concat());
        assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
        assert_eq!(bench.get(file), golden("nvidia.tilelib"), "{file}");
    }
    for (options, message) in [
        (&[][..], "unable to read interface file '': No such file or directory"),
        (&["--preview-interface=c1.ptx"], "must provide tile IR bytecode for tile lib interface file"),
        (&["--preview-interface=impl_local1.tilebc"], "found 'cuda_tile.preview$extern_impl'"),
        (&[interface], "interface-only tile libraries are not allowed"),
        (&[interface, catalogue], "tile library declares implementations that nothing defines"),
        (&[interface, code], "must provide either an implementation-provider shared library"),
        (&[interface, code, code], "implementation files must be one of two options"),
        (&[interface, "--preview-implementation=x"], "unable to read implementation file 'x': No such file"),
        (&[interface, catalogue, code, "-o", "no/x"], "cannot open output file 'no/x'"),
    ] {
        let outcome = create(options);
        assert_eq!(outcome.status, Some(2), "{options:?}: {}", outcome.stderr);
        assert!(outcome.stderr.starts_with("error: ") && outcome.stderr.contains(message), "{}", outcome.stderr);
    }
    // Without the flag the other options have no effect.
    let outcome = bench.run(&["ok", "--gpu-name=sm_90", "-o", "out", interface]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (Some(0), ""));
}
