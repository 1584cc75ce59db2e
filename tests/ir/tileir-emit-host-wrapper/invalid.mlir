// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir-emit-host-wrapper)' --verify-diagnostics

// How many threads to launch follows from the number of warps.
gpu.module @m {
  // expected-error @below {{function has no numWarps; run convert-tileaa-to-tileas first}}
  nv_tileaa.func @k() {
    nv_tileaa.return
  }
}
