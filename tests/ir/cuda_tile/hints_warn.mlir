// Unknown hints are reported only on request, as warnings.
//
// RUN: tileiras-opt %s -Wunsupported-hints --split-input-file --verify-diagnostics
// RUN: tileiras-opt %s --split-input-file -o /dev/null

cuda_tile.module @m {
  // expected-warning @below {{unknown hint key sm_77}}
  entry @unknown_key() optimization_hints=<sm_77 = {occupancy = 1}> {
  }
}

// -----

cuda_tile.module @m {
  // expected-warning @below {{latency is not known hint for current Operation}}
  entry @wrong_place() optimization_hints=<sm_90 = {latency = 1}> {
  }
}

// -----

cuda_tile.module @m {
  // expected-warning @below {{integer value expected for sm_90.occupancy}}
  entry @not_an_integer() optimization_hints=<sm_90 = {occupancy = true}> {
  }
}

// -----

cuda_tile.module @m {
  // expected-warning @below {{integer value in the range [1, 32] is expected for sm_90.occupancy}}
  entry @out_of_range() optimization_hints=<sm_90 = {occupancy = 33}> {
  }
}

// -----

cuda_tile.module @m {
  // expected-warning @below {{expected 1 for sm_80.num_cta_in_cga}}
  entry @no_clusters() optimization_hints=<sm_80 = {num_cta_in_cga = 2}> {
  }
}

// -----

cuda_tile.module @m {
  // expected-warning @below {{expected power-of-two ≤ 16 for sm_100.num_cta_in_cga}}
  entry @cluster() optimization_hints=<sm_100 = {num_cta_in_cga = 3}> {
  }
}

// -----

cuda_tile.module @m {
  // expected-warning @below {{expected power-of-two ≤ 32 for default.num_worker_warps_per_cta}}
  entry @warps() optimization_hints=<default = {num_worker_warps_per_cta = 64}> {
  }
}

// -----

cuda_tile.module @m {
  entry @access(%p: tile<ptr<f32>>) {
    // expected-warning @below {{integer value in the range [1, 10] is expected for sm_90.latency}}
    %0, %t0 = load_ptr_tko weak %p optimization_hints = <sm_90 = {latency = 11}> : tile<ptr<f32>> -> tile<f32>, token
    // expected-warning @below {{allow_tma is not known hint for current Operation}}
    %t1 = store_ptr_tko weak %p, %0 optimization_hints = <sm_90 = {allow_tma = true}> : tile<ptr<f32>>, tile<f32> -> token
    %i = constant <i32: 0> : tile<i32>
    %tv = make_tensor_view %p, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
    %v = make_partition_view %tv : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>
    // expected-warning @below {{boolean value expected for sm_100.allow_tma}}
    %1, %t2 = load_view_tko weak %v[%i] optimization_hints = <sm_100 = {allow_tma = 1}> : partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token
  }
}

// -----

// Valid hints cause no message.
cuda_tile.module @m {
  entry @legal() optimization_hints=<sm_100 = {num_cta_in_cga = 16, num_worker_warps_per_cta = 32, occupancy = 32}, sm_89 = {num_cta_in_cga = 1}, default = {}> {
  }
}

// -----

cuda_tile.module @m {
  // expected-warning @below {{integer value in the range [0, 32] is expected for sm_90.min_ctas_per_sm}}
  entry @blocks() optimization_hints=<sm_90 = {min_ctas_per_sm = 33}, sm_107 = {min_ctas_per_sm = 0}> {
  }
}

// -----

cuda_tile.module @m {
  // expected-warning @below {{string value expected for default.discardable_perf_hints}}
  entry @text() optimization_hints=<default = {discardable_perf_hints = 1}, sm_90 = {discardable_perf_hints = "a=1"}> {
  }
}
