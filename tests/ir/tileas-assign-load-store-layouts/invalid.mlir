// RUN: tileiras-opt %s --verify-diagnostics --pass-pipeline='builtin.module(tileas-assign-load-store-layouts)'

// expected-error @+1 {{function has no numWarps; run convert-tileaa-to-tileas first}}
nv_tileaa.func @no_warps() {
  nv_tileaa.return
}
