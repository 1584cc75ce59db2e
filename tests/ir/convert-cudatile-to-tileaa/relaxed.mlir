// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-cudatile-to-tileaa)' | FileCheck %s --check-prefix=EXACT
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-cudatile-to-tileaa{ftz=true})' | FileCheck %s --check-prefix=FTZ
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-cudatile-to-tileaa{approx=true})' | FileCheck %s --check-prefix=APPROX
// RUN: tileiras-opt %s --pass-pipeline='builtin.module(tileir{opt-level=1 approx=true ftz=true})' | FileCheck %s --check-prefix=BOTH

// Relaxations apply to f32 and to operations that have a relaxed form, and never override an operation's own flags.
cuda_tile.module @m {
  entry @k(%x: tile<f32>, %h: tile<f64>) {
    // EXACT: arith.addf %arg0, %arg0 : f32
    // FTZ: nv_tileaa.fp <add> %arg0, %arg0 ftz : f32
    // APPROX: arith.addf %arg0, %arg0 : f32
    %a = addf %x, %x : tile<f32>
    // EXACT: nv_tileaa.fp <mul> {{.*}} rounding <zero> : f32
    // FTZ: nv_tileaa.fp <mul> {{.*}} rounding <zero> ftz : f32
    // APPROX: nv_tileaa.fp <mul> {{.*}} rounding <zero> : f32
    %b = mulf %a, %x rounding<zero> : tile<f32>
    // EXACT: arith.divf
    // FTZ: nv_tileaa.fp <div> {{.*}} ftz : f32
    // APPROX: nv_tileaa.fp <div> {{.*}} rounding <approx> : f32
    // BOTH: nv_tileaa.fp <div> {{.*}} rounding <approx> ftz : f32
    %c = divf %b, %x : tile<f32>
    // EXACT: math.exp
    // FTZ: math.exp
    // APPROX: nv_tileaa.fp <exp> {{.*}} rounding <approx> : f32
    %d = exp %c : tile<f32>
    // EXACT: nv_tileaa.fp <max>
    // FTZ: nv_tileaa.fp <max> {{.*}} ftz : f32
    // APPROX: nv_tileaa.fp <max> {{[^f]*}} : f32
    %e = maxf %d, %x : tile<f32>
    // EXACT: arith.divf %arg1, %arg1 : f64
    // FTZ: arith.divf %arg1, %arg1 : f64
    // APPROX: arith.divf %arg1, %arg1 : f64
    // BOTH: arith.divf %arg1, %arg1 : f64
    %f = divf %h, %h : tile<f64>
    print_tko "%f %f", %e, %f : tile<f32>, tile<f64> -> token
    return
  }
}
