// The structure of optimization hints, which is always checked.
//
// RUN: tileiras-opt %s --cuda-tile-testing-ops --allow-unregistered-dialect \
// RUN:   --split-input-file --verify-diagnostics

cuda_tile.module @m {
  // expected-error @below {{custom op 'cuda_tile.entry' expected dictionary attribute for optimization_hints entry `sm_100` got value=2 : i64}}
  entry @kernel() optimization_hints=<sm_100 = 2> {
  }
}

// -----

cuda_tile.module @m {
  // expected-error @below {{expected valid keyword or string}}
  entry @kernel() optimization_hints=<5 = {}> {
  }
}

// -----

cuda_tile.module @m {
  // expected-error @below {{duplicate key `sm_100` in optimization_hints}}
  entry @kernel() optimization_hints=<sm_100 = {}, sm_100 = {}> {
  }
}
