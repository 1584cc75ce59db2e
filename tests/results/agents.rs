//! Programs with agents, run on the simulator.
//!
//! * Two groups of warps work at the same time, each on its own storage and with its own barriers, and then the block
//!   reads both results.
//! * Four agents hand the stages of a ring from one to the next. The compiler itself never makes such a program: agents
//!   and phases are lists, and nothing in the passes after `tileas-materialize-async` depends on their number.

use simulate::{From, How, Input};
use tile_test_support::{Trial, functions, simulate};

/// Agent 0 (one warp) reverses 128 numbers, and agent 1 (two warps) reverses other numbers, `rounds` times. The
/// reversal is a layout conversion through shared memory, so a barrier that counts threads outside the agent causes a
/// hang or a race.
fn program(rounds: usize) -> String {
    let turn = |name: &str, from: &str, to: &str, memory: &str, warps: usize| {
        let vector = if warps == 1 { 4 } else { 2 };
        format!(
            "      nv_tileas.barrier\n      \
             nv_tileas.local_store {name}, {memory} vector {vector} : tensor<128xi32, {from}>, !m\n      \
             nv_tileas.barrier\n      \
             {name}t = nv_tileas.local_load {memory} vector 1 : !m -> tensor<128xi32, {to}>\n      \
             nv_tileas.barrier\n      \
             nv_tileas.local_store {name}t, {memory} vector 1 : tensor<128xi32, {to}>, !m\n      \
             nv_tileas.barrier\n      \
             {name}s = nv_tileas.local_load {memory} vector {vector} : !m -> tensor<128xi32, {from}>\n"
        )
    };
    let mut second = String::new();
    for i in 0..rounds {
        let name = format!("%y{}", "s".repeat(i));
        second += &turn(&name, "#two", "#turned", "%b", 2);
    }
    let last = format!("%y{}", "s".repeat(rounds));
    format!(
        r#"#one = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#one_turned = #nv_tileas.layout<register = [32, 64], lane = [1, 2, 4, 8, 16], warp = []>
#two = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64]>
#turned = #nv_tileas.layout<register = [64], lane = [1, 2, 4, 8, 16], warp = [32]>
#all = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
!m = !nv_tileas.memdesc<128xi32, #s>
gpu.module @m {{
  nv_tileaa.func @k(%p: !nv_tileaa.ptr<i32>, %q: !nv_tileaa.ptr<i32>) attributes {{numWarps = 4 : i64}} {{
    %a = nv_tileas.alloc_tensor : !m
    %b = nv_tileas.alloc_tensor : !m
    nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 1>, <"producer", warps = 2>] {{
      %x = nv_tileas.make_range : tensor<128xi32, #one>
{first}    }}, {{
      %r = nv_tileas.make_range : tensor<128xi32, #two>
      %c = arith.constant dense<1000> : tensor<128xi32, #two>
      %y = arith.addi %r, %c : tensor<128xi32, #two>
{second}      nv_tileas.barrier
      nv_tileas.local_store {last}, %b vector 2 : tensor<128xi32, #two>, !m
    }}
    nv_tileas.barrier
    %u = nv_tileas.local_load %a vector 1 : !m -> tensor<128xi32, #all>
    %v = nv_tileas.local_load %b vector 1 : !m -> tensor<128xi32, #all>
    %i = nv_tileas.make_range : tensor<128xi32, #all>
    %ps = nv_tileas.splat %p : !nv_tileaa.ptr<i32> -> tensor<128x!nv_tileaa.ptr<i32>, #all>
    %pi = nv_tileaa.addptr %ps, %i : tensor<128x!nv_tileaa.ptr<i32>, #all>, tensor<128xi32, #all>
    %t0 = nv_tileas.store <weak> %pi, %u vector 1 : tensor<128x!nv_tileaa.ptr<i32>, #all>, tensor<128xi32, #all>
    %qs = nv_tileas.splat %q : !nv_tileaa.ptr<i32> -> tensor<128x!nv_tileaa.ptr<i32>, #all>
    %qi = nv_tileaa.addptr %qs, %i : tensor<128x!nv_tileaa.ptr<i32>, #all>, tensor<128xi32, #all>
    %t1 = nv_tileas.store <weak> %qi, %v vector 1 : tensor<128x!nv_tileaa.ptr<i32>, #all>, tensor<128xi32, #all>
    nv_tileaa.return
  }}
}}
"#,
        first = turn("%x", "#one", "#one_turned", "%a", 1),
    )
}

fn ints(bytes: &[u8]) -> Vec<i32> {
    bytes.chunks_exact(4).map(|b| i32::from_le_bytes(b.try_into().expect("four bytes"))).collect()
}

fn agents_run_side_by_side() {
    for target in ["sm_80", "sm_90", "sm_100"] {
        for rounds in [1, 3] {
            let ptx = simulate::ptx(&program(rounds), How { from: From::Layouts, target, level: 3 })
                .unwrap_or_else(|e| panic!("{target}: {e}"));
            for seed in [None, Some(1), Some(2), Some(3), Some(4)] {
                let inputs = [Input::Buffer(vec![0; 512]), Input::Buffer(vec![0; 512])];
                let (out, _) = simulate::run(&ptx, "k", 1, &inputs, seed)
                    .unwrap_or_else(|e| panic!("{target}, seed {seed:?}: {e}\n{ptx}"));
                assert_eq!(ints(&out[0]), (0..128).collect::<Vec<_>>(), "{target}, seed {seed:?}");
                assert_eq!(ints(&out[1]), (1000..1128).collect::<Vec<_>>(), "{target}, seed {seed:?}");
            }
        }
    }
}

/// A block has 15 barriers for its agents.
fn too_many_agents_are_an_error() {
    let agents = ["{\n      nv_tileas.barrier\n    }"; 16].join(", ");
    let program = format!(
        "gpu.module @m {{\n  nv_tileaa.func @k() attributes {{numWarps = 16 : i64}} {{\n    \
         nv_tileas.async.pipeline.agent_switch agents [{}] {agents}\n    nv_tileaa.return\n  }}\n}}\n",
        (0..16).map(|i| format!("<\"agent{i}\", warps = 1>")).collect::<Vec<_>>().join(", ")
    );
    let error = simulate::ptx(&program, How { from: From::Layouts, target: "sm_90", level: 3 });
    let error = error.expect_err("sixteen agents have too few barriers");
    assert!(error.contains("agents and ping-pong need more than the 15 named barriers of a block"), "{error}");
}

/// Numbers pass through a ring of two stages: the producer stores `128 k + i`, the converter adds 1000, the checker
/// doubles, and the consumers write the results. The converter and the checker share a warpgroup. `arrivals` is the
/// number of warps that the ring expects of the checker, which has two.
fn handed_on(arrivals: u32) -> String {
    let change = |name: &str, wait: &str, compute: &str, commit: &str| {
        format!(
            r#"      nv_tileas.async.pipeline.produce_one warps 2 fast 0 of {name} {{
        %w = nv_tileas.async.pipeline.consumer_wait %pipe[%it]{wait} : !nv_tileas.pipeline<2>
        %s = nv_tileas.async.pipeline.stage %it
        %m = nv_tileas.memdesc_slot %ring[%s] : !ring -> !stage
        %x = nv_tileas.local_load %m vector 2 : !stage -> tensor<128xi32, #two>
        {compute}
        nv_tileas.local_store %y, %m vector 2 : tensor<128xi32, #two>, !stage
        nv_tileas.async.pipeline.producer_commit %pipe[%it] at {commit} : !nv_tileas.pipeline<2>
        nv_tileas.yield
      }}
"#
        )
    };
    let converter = change(
        "converter",
        "",
        "%c = arith.constant dense<1000> : tensor<128xi32, #two>\n        %y = arith.addi %x, %c : tensor<128xi32, #two>",
        "converted",
    );
    let checker = change("checker", " at converted", "%y = arith.addi %x, %x : tensor<128xi32, #two>", "checked");
    format!(
        r#"#two = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64]>
#four = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64]>
#b = #nv_tileas.shared_layout<offset = [1, 2, 4]>
!ring = !nv_tileas.memdesc<128xi32, #s, stages = 2>
!stage = !nv_tileas.memdesc<128xi32, #s>
!it = !nv_tileas.pipeline_iterator
gpu.module @m {{
  nv_tileaa.func @k(%p: !nv_tileaa.ptr<i32>, %n: i32) attributes {{numWarps = 4 : i64, nv_tileas.dot_plan =
      #nv_tileas.dot_plan<groups = [1, 1], columns = 64, stages = 2, scratch = 1024, launch_registers = 128,
      agents = [<"consumers", warps = 4, registers = 168>, <"producer", warps = 4, registers = 104>,
                <"converter", warps = 2, registers = 104>, <"checker", warps = 2, registers = 104>]>}} {{
    %ring = nv_tileas.alloc_tensor : !ring
    %bars = nv_tileas.alloc_tensor : !nv_tileas.memdesc<8xi64, #b>
    %pipe = nv_tileas.async.pipeline.create_pipeline %bars phases [empty = 4, converted = 2, full = 4, checked = {arrivals}]
      : !nv_tileas.memdesc<8xi64, #b> -> !nv_tileas.pipeline<2>
    %first = nv_tileas.async.pipeline.create_iterator %pipe : !nv_tileas.pipeline<2>
    nv_tileas.barrier
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c128 = arith.constant 128 : i32
    %last = scf.for %k = %c0 to %n step %c1 iter_args(%it = %first) -> (!it) : i32 {{
      %start = arith.muli %k, %c128 : i32
      nv_tileas.async.pipeline.produce_one warps 4 fast 0 {{
        %a = nv_tileas.async.pipeline.producer_acquire %pipe[%it] : !nv_tileas.pipeline<2>
        %s = nv_tileas.async.pipeline.stage %it
        %m = nv_tileas.memdesc_slot %ring[%s] : !ring -> !stage
        %r = nv_tileas.make_range : tensor<128xi32, #four>
        %b = nv_tileas.splat %start : i32 -> tensor<128xi32, #four>
        %x = arith.addi %r, %b : tensor<128xi32, #four>
        nv_tileas.local_store %x, %m vector 1 : tensor<128xi32, #four>, !stage
        nv_tileas.async.pipeline.producer_commit %pipe[%it] : !nv_tileas.pipeline<2>
        nv_tileas.yield
      }}
{converter}{checker}      %w = nv_tileas.async.pipeline.consumer_wait %pipe[%it] at checked : !nv_tileas.pipeline<2>
      %s = nv_tileas.async.pipeline.stage %it
      %m = nv_tileas.memdesc_slot %ring[%s] : !ring -> !stage
      %x = nv_tileas.local_load %m vector 1 : !stage -> tensor<128xi32, #four>
      nv_tileas.async.pipeline.consumer_release %pipe[%it] : !nv_tileas.pipeline<2>
      %r = nv_tileas.make_range : tensor<128xi32, #four>
      %b = nv_tileas.splat %start : i32 -> tensor<128xi32, #four>
      %i = arith.addi %r, %b : tensor<128xi32, #four>
      %ps = nv_tileas.splat %p : !nv_tileaa.ptr<i32> -> tensor<128x!nv_tileaa.ptr<i32>, #four>
      %q = nv_tileaa.addptr %ps, %i : tensor<128x!nv_tileaa.ptr<i32>, #four>, tensor<128xi32, #four>
      %t = nv_tileas.store <weak> %q, %x vector 1 : tensor<128x!nv_tileaa.ptr<i32>, #four>, tensor<128xi32, #four>
      %next = nv_tileas.async.pipeline.inc_iter %it of %pipe : !nv_tileas.pipeline<2>
      scf.yield %next : !it
    }}
    nv_tileaa.return
  }}
}}
"#
    )
}

fn a_fourth_agent_and_a_fourth_phase() {
    const ROUNDS: usize = 5;
    let ptx = simulate::ptx(&handed_on(2), How { from: From::Rings, target: "sm_90", level: 3 });
    let ptx = ptx.unwrap_or_else(|e| panic!("{e}"));
    // Once for each warpgroup, also for the one that two agents share.
    assert_eq!(ptx.matches("setmaxnreg").count(), 3, "{ptx}");
    for seed in [None, Some(1), Some(2), Some(3), Some(4)] {
        let inputs = [Input::Buffer(vec![0; 512 * ROUNDS]), Input::I32(ROUNDS as i32)];
        let (out, _) =
            simulate::run(&ptx, "k", 1, &inputs, seed).unwrap_or_else(|e| panic!("seed {seed:?}: {e}\n{ptx}"));
        let expected: Vec<i32> = (0..128 * ROUNDS as i32).map(|i| (i + 1000) * 2).collect();
        assert_eq!(ints(&out[0]), expected, "seed {seed:?}");
    }
}

/// If the ring expects another number of arrivals, the protocol checker rejects the program.
fn a_missing_arrival_is_rejected() {
    for (arrivals, reason) in [(3, "deadlock"), (1, "2 arrivals at checked0[0]")] {
        let error = simulate::ptx(&handed_on(arrivals), How { from: From::Rings, target: "sm_90", level: 3 });
        let error = error.expect_err("the protocol is broken");
        assert!(error.contains(reason), "{arrivals}: {error}");
    }
}

pub fn trials() -> Vec<Trial> {
    functions![
        agents_run_side_by_side,
        too_many_agents_are_an_error,
        a_fourth_agent_and_a_fourth_phase,
        a_missing_arrival_is_rejected
    ]
}
