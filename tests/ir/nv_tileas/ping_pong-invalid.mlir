// RUN: tileiras-opt %s --split-input-file --verify-diagnostics
// expected-error @+1 {{a ping-pong has 2 to 8 warpgroups, got 1}}
func.func private @alone(!nv_tileas.ping_pong<1>)

// -----

nv_tileaa.func @groups() attributes {numWarps = 8 : i64} {
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 4>, <"producer", warps = 4>] {
    // expected-error @+1 {{is for 2 warpgroups, but the agent has 4 warps}}
    %t = nv_tileas.async.pipeline.create_ping_pong : <2>
    nv_tileas.async.pipeline.end_ping_pong %t : <2>
  }, {
    nv_tileas.barrier
  }
  nv_tileaa.return
}

// -----

nv_tileaa.func @first() attributes {numWarps = 10 : i64} {
  nv_tileas.async.pipeline.agent_switch agents [<"consumers", warps = 2>, <"producer", warps = 8>] {
    nv_tileas.barrier
  }, {
    // expected-error @+1 {{needs an agent that starts at a warpgroup boundary}}
    %t = nv_tileas.async.pipeline.create_ping_pong : <2>
    nv_tileas.async.pipeline.end_ping_pong %t : <2>
  }
  nv_tileaa.return
}

// -----

nv_tileaa.func @endless() attributes {numWarps = 8 : i64} {
  // expected-error @+1 {{needs exactly one 'end_ping_pong', in the same block}}
  %t = nv_tileas.async.pipeline.create_ping_pong : <2>
  nv_tileas.async.pipeline.ping_pong_wait %t : <2>
  nv_tileas.async.pipeline.ping_pong_arrive %t : <2>
  nv_tileaa.return
}

// -----

nv_tileaa.func @late() attributes {numWarps = 8 : i64} {
  %t = nv_tileas.async.pipeline.create_ping_pong : <2>
  nv_tileas.async.pipeline.end_ping_pong %t : <2>
  // expected-error @+1 {{follows the end of its ping-pong}}
  nv_tileas.async.pipeline.ping_pong_wait %t : <2>
  nv_tileaa.return
}

// -----

nv_tileaa.func @one_thread() attributes {numWarps = 8 : i64} {
  %t = nv_tileas.async.pipeline.create_ping_pong : <2>
  nv_tileas.async.elect {
    // expected-error @+1 {{applies to whole warpgroups and cannot be inside 'nv_tileas.async.elect'}}
    nv_tileas.async.pipeline.ping_pong_wait %t : <2>
  }
  nv_tileas.async.pipeline.end_ping_pong %t : <2>
  nv_tileaa.return
}

// -----

nv_tileaa.func @another() attributes {numWarps = 8 : i64} {
  %t = nv_tileas.async.pipeline.create_ping_pong : <2>
  nv_tileas.async.pipeline.agent_switch agents [<"only", warps = 8>] {
    // expected-error @+1 {{refers to the ping-pong of another agent}}
    nv_tileas.async.pipeline.ping_pong_wait %t : <2>
  }
  nv_tileas.async.pipeline.end_ping_pong %t : <2>
  nv_tileaa.return
}
