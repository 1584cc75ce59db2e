//! One call per row: arguments, exit status, standard error, files. The rows are the behavior of the tool that this
//! command replaces, except where this project differs on purpose.

use libtest_mimic::{Failed, Trial};

use crate::fixture::{Bench, sm_of};

/// The files that a row expects.
enum Then {
    /// No new file.
    Nothing,
    /// An image for this architecture under this name, and no other new file.
    Image(&'static str, u32),
}
use Then::*;

type Row = (&'static str, &'static [&'static str], i32, &'static str, Then);

const UNKNOWN_GPU: &str = "tileiras: for the --gpu-name option: Cannot find option named ";

#[rustfmt::skip]
const ROWS: &[Row] = &[
    // Inputs.
    ("missing file", &["nope.tileirbc", "--gpu-name=sm_100"], 1, "error: unable to read input file 'nope.tileirbc': No such file or directory\n", Nothing),
    ("directory as input", &[".", "--gpu-name=sm_100"], 1, "error: unable to read input file '.': Is a directory\n", Nothing),
    ("empty file", &["empty", "--gpu-name=sm_100"], 3, "error: input does not correspond to Tile IR bytecode\n", Nothing),
    ("3-byte file", &["three", "--gpu-name=sm_100"], 3, "error: input does not correspond to Tile IR bytecode\n", Nothing),
    ("garbage", &["garbage", "--gpu-name=sm_100"], 3, "error: input does not correspond to Tile IR bytecode\n", Nothing),
    ("magic only", &["magic", "--gpu-name=sm_100"], 3, "error: input does not correspond to Tile IR bytecode\n", Nothing),
    ("no module in text", &["text.txt", "--gpu-name=sm_100"], 3, "error: input does not correspond to Tile IR bytecode\n", Nothing),
    ("upstream MLIR bytecode", &["mlir.bc", "--gpu-name=sm_100"], 3, "error: input does not correspond to Tile IR bytecode (it looks like MLIR bytecode instead)\n", Nothing),
    ("text mlir", &["ok.mlir", "--gpu-name=sm_100"], 0, "", Image("elf.o", 100)),
    ("spec container", &["spec", "--gpu-name=sm_100"], 0, "", Image("elf.o", 100)),
    ("empty stdin -", &["-", "--gpu-name=sm_100", "-o", "x.cubin"], 3, "error: input does not correspond to Tile IR bytecode\n", Nothing),
    ("two inputs", &["ok", "remarks", "--gpu-name=sm_100"], 1, "tileiras: Too many positional arguments specified!\nCan specify at most 1 positional arguments: See: ARGV0 --help\n", Nothing),
    ("invalid module", &["invalid", "--gpu-name=sm_100"], 3, "loc(\"kernel \u{e9}.py\":12:5): error: 'cuda_tile.addf' op requires the same type for all operands\nerror: input does not correspond to Tile IR bytecode\n", Nothing),
    ("invalid text module", &["invalid.mlir", "--gpu-name=sm_100"], 3, "loc(\"kernel \u{e9}.py\":12:5): error: 'cuda_tile.addf' op requires the same type for all operands\n", Nothing),
    ("failing module", &["failing", "--gpu-name=sm_100"], 5, "loc(\"k.py\":3:4): error: tile is too large\nerror: failed to compile Tile IR program\n", Nothing),

    // Targets.
    ("no gpu-name", &["ok"], 0, "", Image("elf.o", 100)),
    ("gpu sm_75", &["ok", "--gpu-name=sm_75"], 1, "'sm_75'!", Nothing),
    ("gpu sm_90a", &["ok", "--gpu-name=sm_90a"], 1, "'sm_90a'!", Nothing),
    ("gpu sm_100a", &["ok", "--gpu-name=sm_100a"], 1, "'sm_100a'!", Nothing),
    ("gpu compute_100", &["ok", "--gpu-name=compute_100"], 1, "'compute_100'!", Nothing),
    ("gpu empty", &["ok", "--gpu-name="], 1, "''!", Nothing),
    ("gpu SM_100", &["ok", "--gpu-name=SM_100"], 1, "'SM_100'!", Nothing),
    ("gpu with a space", &["ok", "--gpu-name", "sm_100"], 0, "", Image("elf.o", 100)),
    ("gpu with one dash", &["ok", "-gpu-name=sm_90"], 0, "", Image("elf.o", 90)),
    ("arch", &["ok", "--arch=sm_89"], 0, "", Image("elf.o", 89)),
    ("arch with one dash and a space", &["ok", "-arch", "sm_88"], 0, "", Image("elf.o", 88)),
    ("gpu twice", &["ok", "--gpu-name=sm_100", "--gpu-name=sm_120"], 0, "", Image("elf.o", 120)),
    ("sm_80", &["ok", "--gpu-name=sm_80"], 0, "", Image("elf.o", 80)),
    ("sm_86", &["ok", "--gpu-name=sm_86"], 0, "", Image("elf.o", 86)),
    ("sm_87", &["ok", "--gpu-name=sm_87"], 0, "", Image("elf.o", 87)),
    ("sm_103", &["ok", "--gpu-name=sm_103"], 0, "", Image("elf.o", 103)),
    ("sm_107", &["ok", "--gpu-name=sm_107"], 0, "", Image("elf.o", 107)),
    ("sm_110", &["ok", "--gpu-name=sm_110"], 0, "", Image("elf.o", 110)),
    ("sm_121", &["ok", "--gpu-name=sm_121"], 0, "", Image("elf.o", 121)),

    // Levels and debug information.
    ("-O0", &["ok", "--gpu-name=sm_100", "-O0"], 0, "", Image("elf.o", 100)),
    ("-O1", &["ok", "--gpu-name=sm_100", "-O1"], 0, "", Image("elf.o", 100)),
    ("-O2", &["ok", "--gpu-name=sm_100", "-O2"], 0, "", Image("elf.o", 100)),
    ("-O3", &["ok", "--gpu-name=sm_100", "-O3"], 0, "", Image("elf.o", 100)),
    ("-O4", &["ok", "--gpu-name=sm_100", "-O4"], 2, "error: invalid optimization level\nnote: the level is 0, 1, 2 or 3, not 4\n", Nothing),
    ("-O", &["ok", "--gpu-name=sm_100", "-O"], 1, "tileiras: for the -O option: requires a value!\n", Nothing),
    ("-O 2", &["ok", "--gpu-name=sm_100", "-O", "2"], 1, "tileiras: for the -O option: requires a value!\ntileiras: Too many positional arguments specified!\nCan specify at most 1 positional arguments: See: ARGV0 --help\n", Nothing),
    ("-O=2", &["ok", "--gpu-name=sm_100", "-O=2"], 1, "tileiras: for the --opt-level option: '=2' value invalid for integer argument!\n", Nothing),
    ("--opt-level=-1", &["ok", "--gpu-name=sm_100", "--opt-level=-1"], 2, "error: invalid optimization level\nnote: the level is 0, 1, 2 or 3, not -1\n", Nothing),
    ("-Ofast", &["ok", "--gpu-name=sm_100", "-Ofast"], 1, "tileiras: for the --opt-level option: 'fast' value invalid for integer argument!\n", Nothing),
    ("-O2 -O3", &["ok", "--gpu-name=sm_100", "-O2", "-O3"], 0, "", Image("elf.o", 100)),
    ("-O3 -g", &["ok", "--gpu-name=sm_100", "-O3", "-g"], 2, "error: optimized debugging is not supported, change optimization level to 0 or disable full debug info\n", Nothing),
    ("-g", &["ok", "--gpu-name=sm_100", "-g"], 2, "error: optimized debugging is not supported, change optimization level to 0 or disable full debug info\n", Nothing),
    ("-g -O0", &["ok", "--gpu-name=sm_100", "-O0", "-g"], 0, "ptxas warning :  .debug_abbrev section not found\nptxas warning :  .debug_info section not found\n", Image("elf.o", 100)),
    ("--device-debug -O0", &["ok", "--gpu-name=sm_100", "-O0", "--device-debug"], 0, "ptxas warning :  .debug_abbrev section not found\nptxas warning :  .debug_info section not found\n", Image("elf.o", 100)),
    ("--lineinfo", &["ok", "--gpu-name=sm_100", "--lineinfo"], 0, "", Image("elf.o", 100)),
    ("--sanitize=memcheck", &["ok", "--gpu-name=sm_100", "--sanitize=memcheck"], 0, "", Image("elf.o", 100)),
    ("--sanitize=memcheck -O0 -g", &["ok", "--gpu-name=sm_90", "--sanitize=memcheck", "-O0", "-g"], 0, "ptxas warning :  .debug_abbrev section not found\nptxas warning :  .debug_info section not found\n", Image("elf.o", 90)),
    ("--sanitize=racecheck", &["ok", "--gpu-name=sm_100", "--sanitize=racecheck"], 1, "tileiras: for the --sanitize option: Cannot find option named 'racecheck'!\n", Nothing),
    ("--sanitize", &["ok", "--gpu-name=sm_100", "--sanitize"], 1, "tileiras: for the --sanitize option: requires a value!\n", Nothing),
    ("garbage before a bad level", &["garbage", "-O4"], 3, "error: input does not correspond to Tile IR bytecode\n", Nothing),

    // Hosts.
    ("--host-arch=aarch64", &["ok", "--gpu-name=sm_100", "--host-arch=aarch64"], 0, "", Image("elf.o", 100)),
    ("--host-arch=arm64ec", &["ok", "--gpu-name=sm_100", "--host-arch=arm64ec"], 0, "", Image("elf.o", 100)),
    ("--host-arch=arm64ec --host-os=linux", &["ok", "--gpu-name=sm_100", "--host-arch=arm64ec", "--host-os=linux"], 2, "error: unsupported host architecture\nnote: arm64ec requires --host-os=windows\n", Nothing),
    ("--host-arch=arm64ec --host-os=windows", &["ok", "--gpu-name=sm_100", "--host-arch=arm64ec", "--host-os=windows"], 0, "", Image("elf.o", 100)),
    ("--host-arch=riscv", &["ok", "--gpu-name=sm_100", "--host-arch=riscv"], 1, "tileiras: for the --host-arch option: Cannot find option named 'riscv'!\n", Nothing),
    ("--host-os=windows", &["ok", "--gpu-name=sm_100", "--host-os=windows"], 0, "", Image("elf.o", 100)),
    ("--host-os=darwin", &["ok", "--gpu-name=sm_100", "--host-os=darwin"], 1, "tileiras: for the --host-os option: Cannot find option named 'darwin'!\n", Nothing),

    // Outputs.
    ("-o missing value", &["ok", "--gpu-name=sm_100", "-o"], 1, "tileiras: for the -o option: requires a value!\n", Nothing),
    ("-o in a missing directory", &["ok", "--gpu-name=sm_100", "-o", "nodir/x.cubin"], 2, "error: cannot open output file 'nodir/x.cubin': No such file or directory\n", Nothing),
    ("-o a directory", &["ok", "--gpu-name=sm_100", "-o", "."], 2, "error: cannot open output file '.': Is a directory\n", Nothing),
    ("-o /dev/full", &["ok", "--gpu-name=sm_100", "-o", "/dev/full"], 1, "error: IO failure on output stream: No space left on device\n", Nothing),
    ("-o empty", &["ok", "--gpu-name=sm_100", "-o", ""], 2, "error: cannot open output file '': No such file or directory\n", Nothing),
    ("-o a -o b", &["ok", "--gpu-name=sm_100", "-o", "a.cubin", "-o", "b.cubin"], 0, "", Image("b.cubin", 100)),
    ("-ox.cubin", &["ok", "--gpu-name=sm_100", "-ox.cubin"], 1, "tileiras: for the -o option: may not occur within a group!\ntileiras: Unknown command line argument '-ox.cubin'.  Try: 'ARGV0 --help'\ntileiras: Did you mean '-o'?\n", Nothing),
    ("--output-file", &["ok", "--gpu-name=sm_100", "--output-file", "x.cubin"], 0, "", Image("x.cubin", 100)),
    ("any extension", &["ok", "--gpu-name=sm_100", "-o", "x.anything"], 0, "", Image("x.anything", 100)),

    // Grammar.
    ("unknown option", &["ok", "--gpu-name=sm_100", "--frobnicate"], 1, "tileiras: Unknown command line argument '--frobnicate'.  Try: 'ARGV0 --help'\ntileiras: Did you mean '--gpu-name'?\n", Nothing),
    ("unknown short", &["ok", "--gpu-name=sm_100", "-x"], 1, "tileiras: Unknown command line argument '-x'.  Try: 'ARGV0 --help'\ntileiras: Did you mean '-g'?\n", Nothing),
    ("near-miss option", &["ok", "--gpu-nam=sm_100"], 1, "tileiras: Unknown command line argument '--gpu-nam=sm_100'.  Try: 'ARGV0 --help'\ntileiras: Did you mean '--gpu-name=sm_100'?\n", Nothing),
    ("options after --", &["--gpu-name=sm_100", "--", "ok"], 0, "", Image("elf.o", 100)),
    ("--print-options", &["ok", "--gpu-name=sm_100", "--print-options"], 0, "", Image("elf.o", 100)),
    ("--print-all-options", &["ok", "--gpu-name=sm_100", "--print-all-options"], 0, "", Image("elf.o", 100)),
    ("response file", &["@resp"], 0, "", Image("resp.cubin", 100)),
    ("missing response file", &["@noresp"], 1, "error: unable to read input file '@noresp': No such file or directory\n", Nothing),
    ("response file that names itself", &["@loop"], 1, "tileiras: recursive expansion of: '@loop'\n", Nothing),
    ("remarks", &["ok", "--gpu-name=sm_100", "--remarks=all"], 0, "", Image("elf.o", 100)),
    ("remarks bad", &["ok", "--gpu-name=sm_100", "--remarks=foo"], 1, "tileiras: for the --remarks option: Cannot find option named 'foo'!\n", Nothing),

    // Options specific to this project.
    ("unknown stage", &["ok", "--emit=sass"], 1, "tileiras: for the --emit option: Cannot find option named 'sass'!\n", Nothing),
    ("pipeline option", &["options", "--pipeline-option=known=1=2"], 0, "", Image("elf.o", 100)),
    ("pipeline option that is unknown", &["options", "--pipeline-option", "other=1"], 2, "error: there is no pipeline option 'other'\n", Nothing),
    ("pipeline option without a value", &["options", "--pipeline-option", "known"], 2, "error: the pipeline option 'known' is not of the form key=value\n", Nothing),
    ("libNVVM that is not there", &["ok", "--backend=libnvvm", "--libnvvm-path=nowhere.so"], 4, "error: libNVVM, NVIDIA's code generator, was not found\nnote: looked for 'nowhere.so' (--libnvvm-path)\nnote: install ", Nothing),
    ("libdevice that is not there", &["ok", "--libdevice=nowhere.bc"], 4, "error: libdevice, NVIDIA's library of math functions, was not found\nnote: looked for 'nowhere.bc' (--libdevice)\nnote: install ", Nothing),
    ("unknown back end", &["ok", "--backend=gcc"], 1, "tileiras: for the --backend option: Cannot find option named 'gcc'!\n", Nothing),
    ("explain an unknown code", &["--explain", "E1"], 1, "error: unknown error code 'E1'\nnote: the codes are ", Nothing),
];

pub fn trials() -> Vec<Trial> {
    ROWS.iter().map(|row| Trial::test(format!("probe {}", row.0), || check(row))).collect()
}

fn check((_, arguments, status, stderr, then): &Row) -> Result<(), Failed> {
    let bench = Bench::new();
    bench.put("empty", b"");
    bench.put("three", b"\x7fTi");
    bench.put("garbage", &[0xa5; 1024]);
    bench.put("magic", crate::fixture::MAGIC);
    bench.put("spec", b"\x06\x03\x80Tile\0ok");
    bench.put("text.txt", b"modules of text");
    bench.put("mlir.bc", b"ML\xefR\x01MLIR\0");
    bench.put("resp", b"ok --gpu-name=sm_100\n-o 'resp.cubin'");
    bench.put("loop", b"@loop");
    let before = bench.new_files();
    let outcome = bench.run(arguments);
    let files: Vec<String> = bench.new_files().into_iter().filter(|f| !before.contains(f)).collect();

    let expected = if stderr.ends_with("'!") { format!("{UNKNOWN_GPU}{stderr}\n") } else { (*stderr).to_owned() };
    let matches = if expected.ends_with('\n') || expected.is_empty() {
        outcome.stderr == expected
    } else {
        outcome.stderr.starts_with(&expected)
    };
    if outcome.status != Some(*status) || !matches {
        return Err(format!("expected {status} and {expected:?}, got {outcome:#?}").into());
    }
    if !outcome.stdout.is_empty() {
        return Err(format!("standard output is not empty: {outcome:#?}").into());
    }
    match then {
        Nothing if files.is_empty() => Ok(()),
        Image(name, sm) if files == [*name] => {
            let found = sm_of(&bench.get(name));
            if found == *sm { Ok(()) } else { Err(format!("the image is for sm_{found}").into()) }
        }
        _ => Err(format!("unexpected files: {files:?}").into()),
    }
}
