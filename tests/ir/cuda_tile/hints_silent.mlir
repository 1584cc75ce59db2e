// -Werr-hints has no effect on its own.
//
// RUN: tileiras-opt %s -Werr-hints | FileCheck %s

// CHECK: entry @unknown_key() optimization_hints=<sm_77 = {occupancy = 99}> {
cuda_tile.module @m {
  entry @unknown_key() optimization_hints=<sm_77 = {occupancy = 99}> {
  }
}
