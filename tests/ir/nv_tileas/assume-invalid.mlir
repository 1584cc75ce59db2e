// RUN: tileiras-opt %s --split-input-file --verify-diagnostics

nv_tileaa.func @k(%m: i32) {
  // expected-error @below {{promises nothing}}
  %0 = nv_tileas.assume [], %m : i32
  nv_tileaa.return
}

// -----

nv_tileaa.func @k(%m: i32, %n: i32) {
  // expected-error @below {{has 2 operands and 1 results}}
  %0 = "nv_tileas.assume"(%m, %n) {predicates = [#cuda_tile.div_by<16>]} : (i32, i32) -> i32
  nv_tileaa.return
}

// -----

nv_tileaa.func @k(%m: i32, %n: i64) {
  // expected-error @below {{values have different types}}
  %0:2 = "nv_tileas.assume"(%m, %n) {predicates = [#cuda_tile.div_by<16>]} : (i32, i64) -> (i32, i64)
  nv_tileaa.return
}
