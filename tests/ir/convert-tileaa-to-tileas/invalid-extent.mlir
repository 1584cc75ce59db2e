// RUN: tileiras-opt %s --verify-diagnostics --pass-pipeline='builtin.module(convert-tileaa-to-tileas)'

nv_tileaa.func @three() {
  // expected-error @+1 {{tensor<3xi32> is not a tile: dimension 0 has extent 3, which is not a positive power of two}}
  %r = nv_tileaa.make_range : tensor<3xi32>
  nv_tileaa.return
}
