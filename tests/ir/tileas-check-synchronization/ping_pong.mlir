// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileas-check-synchronization)' --split-input-file --verify-diagnostics
// Ping-ponged warpgroups, and the reports if they would wait forever.

nv_tileaa.func @kept(%n: i32) attributes {numWarps = 8 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %t = nv_tileas.async.pipeline.create_ping_pong : <2>
  scf.for %i = %c0 to %n step %c1 : i32 {
    nv_tileas.async.pipeline.ping_pong_wait %t : <2>
    nv_tileas.async.pipeline.ping_pong_arrive %t : <2>
    nv_tileas.barrier
  }
  nv_tileas.async.pipeline.end_ping_pong %t : <2>
  nv_tileaa.return
}

// -----

nv_tileaa.func @not_given(%n: i32) attributes {numWarps = 8 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %t = nv_tileas.async.pipeline.create_ping_pong : <2>
  // expected-error @+1 {{a ping-pong wait in this block has no arrive, or an arrive has no wait}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    nv_tileas.async.pipeline.ping_pong_wait %t : <2>
  }
  nv_tileas.async.pipeline.end_ping_pong %t : <2>
  nv_tileaa.return
}

// -----

nv_tileaa.func @meet() attributes {numWarps = 8 : i64} {
  %t = nv_tileas.async.pipeline.create_ping_pong : <2>
  nv_tileas.async.pipeline.ping_pong_wait %t : <2>
  // expected-error @+1 {{all threads of the agent synchronize here while a warpgroup holds its ping-pong turn}}
  nv_tileas.barrier
  nv_tileas.async.pipeline.ping_pong_arrive %t : <2>
  nv_tileas.async.pipeline.end_ping_pong %t : <2>
  nv_tileaa.return
}

// -----

// There are two waits but one arrival.
nv_tileaa.func @twice() attributes {numWarps = 8 : i64} {
  // expected-error @+1 {{deadlock}}
  %t = nv_tileas.async.pipeline.create_ping_pong : <2>
  nv_tileas.async.pipeline.ping_pong_wait %t : <2>
  nv_tileas.async.pipeline.ping_pong_wait %t : <2>
  nv_tileas.async.pipeline.ping_pong_arrive %t : <2>
  nv_tileas.async.pipeline.end_ping_pong %t : <2>
  nv_tileaa.return
}

// -----

// There are two arrivals for one wait, so a warpgroup that comes early could pass.
nv_tileaa.func @too_many() attributes {numWarps = 8 : i64} {
  // expected-error @+1 {{ping_pong0}}
  %t = nv_tileas.async.pipeline.create_ping_pong : <2>
  nv_tileas.async.pipeline.ping_pong_wait %t : <2>
  nv_tileas.async.pipeline.ping_pong_arrive %t : <2>
  nv_tileas.async.pipeline.ping_pong_arrive %t : <2>
  nv_tileas.async.pipeline.end_ping_pong %t : <2>
  nv_tileaa.return
}
