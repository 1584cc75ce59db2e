//! Attention with large tiles on GPUs with 99 KB of shared memory, whose stages may be parts of these tiles: the number
//! of stages, and the results, which are exact.

use crate::product_chains::{CHAIN, Chain, Query};
use tile_interface::{DebugInfo, Emit};
use tile_interp::types::Number;
use tile_targets::Target;
use tile_test_support::{Trial, cubin, exact, functions, kernels, sass};

const LARGE: Chain = Chain { m: 128, n: 128, d: 128, w: 128, trips: 2, ..CHAIN };

fn check(target: &str, chain: Chain, body: &str, wait: &str) {
    let run = ([2, 1, 1], chain.parameters());
    exact::check_with(target, &chain.program(body), run, &[("extended-smem", "true")], &[wait]);
}

/// Of a ring of six halves, which all loads share, five are in flight.
fn copied_by_the_warps_that_multiply() {
    const WAIT: &str = "cp.async.wait_group \t4;";
    let usual = |target: &str, chain: Chain| check(target, chain, &chain.usual("%x"), WAIT);
    for trips in [0, 1, 3] {
        usual("sm_89", Chain { trips, ..LARGE });
    }
    usual("sm_86", Chain { element: Number::Bf16, keys_as_columns: true, query: Query::Computed, ..LARGE });
}

/// Each of two loops has its own ring.
fn two_loops() {
    let carried = ["%f#0", "%f#1", "%f#2"];
    let body = LARGE.queries("%x")
        + &LARGE.looped("f", "%zero to %n, step %one", ["%top0", "%weight0", "%total0"], &LARGE.step("f", "%j"))
        + &LARGE.looped("g", "%zero to %two, step %one", carried, &LARGE.step("g", "%j"))
        + &LARGE.store("%g#1", "%g#2", "%x");
    check("sm_89", LARGE, &body, "cp.async.wait_group \t4;");
}

/// Queries that the registers cannot hold are resident in shared memory, next to a ring of quarters.
fn resident_queries() {
    let chain = Chain { m: 128, n: 64, d: 256, w: 256, trips: 2, ..CHAIN };
    check("sm_89", chain, &chain.usual("%x"), "cp.async.wait_group \t2;");
}

/// A producer fills a ring of five halves. Keys that are loaded as columns share it with the values.
fn loaded_by_a_producer() {
    let target = Target::by_name("sm_120").expect("a target");
    let program = sass::bytes("fmha_bf16_d128_causal.13.1").expect("a program of the corpus");
    let text = kernels::compile(&program, target, 3, Emit::TileAs).expect("it compiles").text;
    let rings = text.matches("async.pipeline.create_pipeline").count();
    assert!(rings == 1 && text.contains("1x64x128xbf16, #smem, stages = 5"), "no ring of five halves\n{text}");
    let ptx = kernels::compile(&program, target, 3, Emit::Ptx).expect("it compiles").text;
    let resources = cubin::assemble(&ptx, target, 3, DebugInfo::None).expect("ptxas takes it").resources;
    assert!(resources.iter().all(|k| k.spill_stores + k.spill_loads == 0), "it spills");
}

pub fn trials() -> Vec<Trial> {
    functions![copied_by_the_warps_that_multiply, two_loops, resident_queries, loaded_by_a_producer]
}
