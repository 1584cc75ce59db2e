// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir-emit-host-wrapper)' --verify-diagnostics

// The number of warps determines how many threads are launched.
gpu.module @m {
  // expected-error @below {{function has no numWarps; run convert-tileaa-to-tileas first}}
  nv_tileaa.func @k() {
    nv_tileaa.return
  }
}
