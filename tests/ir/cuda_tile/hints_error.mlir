// With -Werr-hints, a warning about a hint is followed by an error.
//
// RUN: tileiras-opt %s -Wunsupported-hints -Werr-hints --split-input-file --verify-diagnostics

cuda_tile.module @m {
  // expected-warning @below {{unknown hint key sm_77}}
  // expected-error @below {{Optimization hints verification failed}}
  entry @unknown_key() optimization_hints=<sm_77 = {occupancy = 1}> {
  }
}

// -----

cuda_tile.module @m {
  entry @access(%p: tile<ptr<f32>>) {
    // expected-warning @below {{integer value in the range [1, 10] is expected for default.latency}}
    // expected-error @below {{'cuda_tile.load_ptr_tko' op Optimization hints verification failed}}
    %0, %t0 = load_ptr_tko weak %p optimization_hints = <default = {latency = 0}> : tile<ptr<f32>> -> tile<f32>, token
  }
}
