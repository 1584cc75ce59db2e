// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-tileas-to-nvgpu)' --verify-diagnostics

gpu.module @m {
  llvm.func @k() {
    %g = nv_tileas.async.commit
    nv_tileas.barrier
    // expected-error @below {{a group of copies can only be waited for}}
    %h = nv_tileas.async.commit of %g
    llvm.return
  }
}
