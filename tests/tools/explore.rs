//! `tileiras explore`: the data of its pages, and that a browser shows them.
//!
//! The browser is Chromium on `PATH`. Without one the pages are written but not opened. Continuous integration
//! provides one and sets `TILEIRAS_BROWSER=required`, so that the tests cannot be skipped there.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};
use tile_explore::{Exploration, Listing};
use tile_layout::{Layout, SharedLayout, Slot};
use tile_test_support::{Trial, functions};

/// Different kinds: memory-bound, dots by warps and by warpgroups, attention, scans, atomics.
const PROGRAMS: &[(&str, &str)] = &[
    ("vadd_f32", "sm_80"),
    ("saxpy_grid_stride", "sm_90"),
    ("softmax_f32", "sm_90"),
    ("matmul_f16", "sm_80"),
    ("matmul_bf16", "sm_90"),
    ("matmul_w8_fp8", "sm_100"),
    ("fmha_f16_causal", "sm_90"),
    ("layernorm", "sm_90"),
    ("cumsum_rows", "sm_90"),
    ("histogram", "sm_120"),
];

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/corpus/{name}.13.1.tileirbc"))
}

fn explore(input: &Path, target: &str, output: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tileiras"));
    command.arg("explore").arg(input).args(["--gpu-name", target]).args(more).arg("-o").arg(output).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the data of a page.
fn data(input: &Path, target: &str, more: &[&str]) -> Exploration {
    let name = format!("explore-{}-{target}.json", input.file_name().unwrap().to_string_lossy());
    let output = explore(input, target, &scratch(&name), more);
    assert!(output.status.success() && output.stdout.is_empty(), "{}", stderr(&output));
    Exploration::from_json(&fs::read(scratch(&name)).unwrap()).unwrap()
}

/// Returns the source lines that a listing comes from.
fn sources(listing: &Listing) -> BTreeSet<u32> {
    assert_eq!(listing.lines.len(), listing.text.lines().count());
    listing.lines.iter().copied().filter(|l| *l > 0).collect()
}

fn every_level_is_there_and_leads_to_the_source() {
    let e = data(&corpus("matmul_f16"), "sm_90", &[]);
    let levels: Vec<&str> = e.outputs.iter().map(|o| o.level.as_str()).collect();
    assert_eq!(levels, ["llvm-ir", "ptx", "sass"]);
    let mma = e.source.lines().position(|l| l.contains("mmaf ")).expect("a product") as u32 + 1;
    let store = e.source.lines().position(|l| l.contains("store_view_tko")).expect("a store") as u32 + 1;
    let all = e.steps.iter().filter_map(|s| s.program.as_ref()).chain(e.outputs.iter().map(|o| &o.program));
    for listing in all {
        let found = sources(listing);
        assert!(found.contains(&mma) && found.contains(&store), "{}", listing.text);
    }
    // The instruction of the dot refers to the correct line.
    let of = |level: &str, word: &str| {
        let program = &e.outputs.iter().find(|o| o.level == level).unwrap().program;
        let lines = program.text.lines().zip(&program.lines).filter(|(text, _)| text.contains(word));
        lines.map(|(_, line)| *line).collect::<BTreeSet<u32>>()
    };
    assert_eq!(of("ptx", "wgmma.mma_async"), [mma].into());
    // ptxas gives some instructions that it moves the location of the loop.
    assert!(of("sass", "HGMMA").contains(&mma));
    let passes: Vec<&str> = e.steps.iter().filter(|s| s.program.is_some()).map(|s| s.pass.as_str()).collect();
    for pass in ["", "convert-cudatile-to-tileaa", "tileas-materialize-async", "convert-tileas-to-llvm"] {
        assert!(passes.contains(&pass), "{passes:?}");
    }
    assert!(
        e.kernels.iter().any(|k| k.name == "matmul_f16" && k.registers > 0 && k.threads[0] >= 256),
        "{:?}",
        e.kernels
    );
    assert!(!e.remarks.is_empty() && e.remarks.iter().all(|r| r.line > 0), "{:?}", e.remarks);
    let product = e.remarks.iter().find(|r| r.name == "Product").expect("the choice of the product");
    assert_eq!(product.line, mma);
    assert!(product.facts.contains(&("Unit".to_owned(), "wgmma".to_owned())), "{product:?}");
}

/// The bytecode of the corpus names the Python line of each operation.
fn bytecode_names_its_own_source() {
    let e = data(&corpus("vadd_f32"), "sm_90", &["--emit=ptx"]);
    assert_eq!(e.origins.len(), e.source.lines().count());
    let named = e.source.lines().zip(&e.origins).filter(|(text, _)| text.contains("addf"));
    let named: Vec<_> = named.map(|(_, origin)| origin.clone().unwrap_or_default()).collect();
    assert!(!named.is_empty() && named.iter().all(|o| o.starts_with("kernels.py:")), "{named:?}");
    assert_eq!(e.outputs.last().unwrap().level, "ptx");
}

/// A source name may contain characters that a PTX string cannot.
fn a_source_with_a_quote_in_its_name() {
    let input = scratch("explore\"d.mlir");
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/relu_f32.mlir"), &input).unwrap();
    let e = data(&input, "sm_90", &[]);
    let store = e.source.lines().position(|l| l.contains("store_view_tko")).expect("a store") as u32 + 1;
    assert_eq!(e.outputs.len(), 3);
    for output in &e.outputs {
        assert!(sources(&output.program).contains(&store), "{}", output.program.text);
    }
}

/// Text is its own source, including comments; levels below the public language are explored from their level on.
fn text_is_its_own_source() {
    let relu = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/relu_f32.mlir");
    let e = data(&relu, "sm_90", &["--emit=ptx"]);
    assert_eq!(e.source, fs::read_to_string(&relu).unwrap());
    assert!(e.origins.is_empty() && e.arguments == ["--gpu-name", "sm_90", "--emit=ptx"], "{:?}", e.arguments);
    let lowered = scratch("explore-tileas.mlir");
    let mut compile = Command::new(env!("CARGO_BIN_EXE_tileiras"));
    compile.arg(&relu).args(["--gpu-name=sm_90", "--emit=tileas", "-o"]).arg(&lowered);
    assert!(compile.status().unwrap().success());
    let e = data(&lowered, "sm_90", &["--emit=ptx"]);
    assert_eq!((e.steps[0].pass.as_str(), e.steps[0].level.as_str()), ("", "tileas"));
    assert!(e.steps.iter().all(|s| s.level == "tileas" || s.level == "llvm"));
}

fn schedules_are_shown_where_there_are_some() {
    let e = data(&corpus("matmul_f16"), "sm_80", &["--emit=ptx", "--pipeline-option=v2-opt-level=2"]);
    assert!(e.schedules.is_some_and(|s| s.contains("matmul_f16, loop 0")));
}

fn what_cannot_be_explored_says_why() {
    let page = scratch("explore-wrong.html");
    let fails = |input: &Path, status: i32, words: &str| {
        let output = explore(input, "sm_90", &page, &[]);
        assert_eq!(output.status.code(), Some(status), "{}", stderr(&output));
        assert!(stderr(&output).contains(words) && !page.exists(), "{}", stderr(&output));
    };
    fails(&scratch("no-such-file.mlir"), 1, "unable to read input file");
    let wrong = scratch("explore-wrong.mlir");
    fs::write(&wrong, "cuda_tile.module {").unwrap();
    fails(&wrong, 3, "error");
    let llvm = scratch("explore-wrong.ll");
    fs::write(&llvm, "target triple = \"nvptx64-nvidia-cuda\"\n").unwrap();
    fails(&llvm, 2, "is LLVM IR");
    let output = explore(&corpus("vadd_f32"), "sm_90", &scratch("no-such-directory/p.html"), &[]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

/// Returns Chromium, if it is installed.
fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = std::env::split_paths(&path).flat_map(|d| names.map(|n| d.join(n))).find(|p| p.is_file());
    let required = std::env::var_os("TILEIRAS_BROWSER").is_some_and(|v| v == "required");
    assert!(found.is_some() || !required, "there is no Chromium on PATH");
    if found.is_none() {
        eprintln!("no Chromium on PATH: pages are not opened");
    }
    found
}

/// Returns a page after its script has run, and the script's console output.
fn opened(browser: &Path, page: &Path, view: &str) -> (String, Vec<String>) {
    let profile = tempfile(page);
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
    command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    command.arg(format!("--user-data-dir={}", profile.display()));
    command.args(["--enable-logging=stderr", "--virtual-time-budget=20000", "--dump-dom"]);
    command.arg(format!("file://{}#{view}", page.display())).stdin(Stdio::null());
    let output = command.output().unwrap();
    let _ = fs::remove_dir_all(profile);
    let console = stderr(&output).lines().filter(|l| l.contains(":CONSOLE")).map(str::to_owned).collect();
    (String::from_utf8_lossy(&output.stdout).into_owned(), console)
}

fn tempfile(page: &Path) -> PathBuf {
    let path = page.with_extension("profile");
    let _ = fs::remove_dir_all(&path);
    path
}

fn browsers_show_the_pages() {
    for (name, target) in PROGRAMS {
        let page = scratch(&format!("explore-{name}-{target}.html"));
        let output = explore(&corpus(name), target, &page, &[]);
        assert!(output.status.success() && output.stderr.is_empty(), "{name}: {}", stderr(&output));
        let Some(browser) = browser() else { continue };
        let (dom, console) = opened(&browser, &page, "");
        assert_eq!(console, Vec::<String>::new(), "{name}");
        // The source, the decisions, and PTX.
        assert_eq!(dom.matches("class=\"pane\"").count(), 3, "{name}");
        let count = |part: &str| dom.matches(part).count();
        assert!(count("class=\"l \"") > 60 && count("class=\"pass\"") > 3 && count("<canvas") == 0, "{name}");
        for part in ["convert-tileas-to-llvm", "registers", ".visible .entry", "class=\"layout\""] {
            assert!(dom.contains(part), "{name}: {part}");
        }
    }
}

/// An address encodes a view: a pass, the program after it, a pinned line.
fn addresses_lead_to_views() {
    let Some(browser) = browser() else { return };
    let page = scratch("explore-views.html");
    let output = explore(&corpus("matmul_f16"), "sm_90", &page, &["--emit=ptx"]);
    assert!(output.status.success(), "{}", stderr(&output));
    // The first pass replaces the public language.
    let (dom, console) = opened(&browser, &page, "panes=s0,p0,l9999,x1&line=12");
    assert_eq!((dom.matches("class=\"pane\"").count(), console), (2, vec![]));
    assert!(dom.matches("class=\"l added\"").count() > 10 && dom.matches("class=\"l removed\"").count() > 10);
    assert!(dom.contains("pinned"));
}

/// Pictures of layouts agree with the compiler's layout algebra.
fn pictures_of_layouts_are_right() {
    let Some(browser) = browser() else { return };
    let e = data(&corpus("fmha_f16_causal"), "sm_90", &["--emit=ptx"]);
    let program = e.steps.iter().rfind(|s| s.level == "tileas" && s.program.is_some()).unwrap();
    let text = &program.program.as_ref().unwrap().text;
    let (mut registers, mut shared) = (BTreeSet::new(), BTreeSet::new());
    for (at, _) in text.match_indices(", #nv_tileas.") {
        let start = text[..at].rfind('<').unwrap() + 1;
        let end = at + text[at..].find('>').unwrap() + 1;
        let kind = if text[at..end].contains("shared_layout") { &mut shared } else { &mut registers };
        // Types of pointers contain such brackets too.
        if text[start..at].contains('x') && !text[start..at].contains('*') {
            kind.insert(&text[start..end]);
        }
    }
    let page = scratch("explore-layouts.html");
    assert!(explore(&corpus("fmha_f16_causal"), "sm_90", &page, &["--emit=ptx"]).status.success());
    let largest = |all: &BTreeSet<&str>| all.iter().max_by_key(|t| t.len()).copied().unwrap().to_owned();
    for layout in [largest(&registers), largest(&shared)] {
        let shape: Vec<u64> = layout.split('x').map_while(|d| d.parse().ok()).collect();
        let picked: Vec<u64> = shape.iter().map(|extent| extent * 5 / 7).collect();
        let index = picked.iter().zip(&shape).fold(0, |sum, (c, extent)| sum * extent + c);
        let bases = |name: &str| -> Vec<u64> {
            let list =
                layout.split_once(&format!("{name} = [")).map_or("", |(_, rest)| rest.split(']').next().unwrap());
            list.split(", ").filter(|n| !n.is_empty()).map(|n| n.parse().unwrap()).collect()
        };
        let view = layout.replace('%', "%25").replace(' ', "%20").replace('#', "%23").replace('=', "%3D");
        let at: Vec<String> = picked.iter().map(u64::to_string).collect();
        let (dom, console) = opened(&browser, &page, &format!("layout={view}&at={}", at.join(",")));
        assert_eq!(console, Vec::<String>::new());
        let said = dom.split_once("id=\"held\">").expect("a picture").1.split('<').next().unwrap();
        let place = if layout.contains("shared_layout") {
            let offset = SharedLayout::new(bases("offset"), bases("offset").len() as u32).unwrap().offset(index);
            format!("offset {offset}, byte {}, bank {}", offset * 2, offset / 2 % 32)
        } else {
            let layout = Layout::new(bases("register"), bases("lane"), bases("warp"), vec![]).unwrap();
            let places = layout
                .all_threads()
                .flat_map(|thread| (0..layout.registers()).map(move |register| Slot { register, thread }));
            let first = places.into_iter().find(|p| layout.element(*p) == index).unwrap();
            let (thread, register) = (first.thread, first.register);
            format!("warp {}, lane {}, register {register}", thread.warp, thread.lane)
        };
        assert!(
            said.starts_with(&format!("element ({}): {place}", at.join(", "))),
            "{layout}: {said}, expected {place}"
        );
    }
}

pub fn trials() -> Vec<Trial> {
    functions![
        every_level_is_there_and_leads_to_the_source,
        bytecode_names_its_own_source,
        a_source_with_a_quote_in_its_name,
        text_is_its_own_source,
        schedules_are_shown_where_there_are_some,
        what_cannot_be_explored_says_why,
        browsers_show_the_pages,
        addresses_lead_to_views,
        pictures_of_layouts_are_right
    ]
}
