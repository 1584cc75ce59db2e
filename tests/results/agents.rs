//! Programs with agents, run on the simulator: two groups of warps work at the same time, each on its own storage and
//! with its own barriers, and then the block reads both results.

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
    nv_tileas.async.pipeline.agent_switch warps [1, 2] {{
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
         nv_tileas.async.pipeline.agent_switch warps [{}] {agents}\n    nv_tileaa.return\n  }}\n}}\n",
        ["1"; 16].join(", ")
    );
    let error = simulate::ptx(&program, How { from: From::Layouts, target: "sm_90", level: 3 });
    let error = error.expect_err("sixteen agents have too few barriers");
    assert!(error.contains("agents and ping-pong need more than the 15 named barriers of a block"), "{error}");
}

pub fn trials() -> Vec<Trial> {
    functions![agents_run_side_by_side, too_many_agents_are_an_error]
}
