// RUN: tileiras-opt %s --split-input-file --verify-diagnostics
#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#rows = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [1, 2]>
#columns = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [0, 0]>
func.func @results(%x: tensor<4x64xf32, #l>) {
  // expected-error @+1 {{expected one result for each operand}}
  %0:2 = nv_tileas.reduce %x dim 1 identities [0.0 : f32] : tensor<4x64xf32, #l> -> tensor<4xf32, #rows>, tensor<4xf32, #rows> {
  ^bb0(%p: f32, %q: f32):
    nv_tileas.yield %p : f32
  }
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#rows = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [1, 2]>
#columns = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [0, 0]>
func.func @identities(%x: tensor<4x64xf32, #l>) {
  // expected-error @+1 {{expected one identity for each operand}}
  %0 = nv_tileas.reduce %x dim 1 identities [] : tensor<4x64xf32, #l> -> tensor<4xf32, #rows> {
  ^bb0(%p: f32, %q: f32):
    nv_tileas.yield %p : f32
  }
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#rows = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [1, 2]>
#columns = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [0, 0]>
func.func @identity_type(%x: tensor<4x64xf32, #l>) {
  // expected-error @+1 {{identity 0 : i32 is not of type 'f32'}}
  %0 = nv_tileas.reduce %x dim 1 identities [0 : i32] : tensor<4x64xf32, #l> -> tensor<4xf32, #rows> {
  ^bb0(%p: f32, %q: f32):
    nv_tileas.yield %p : f32
  }
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#rows = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [1, 2]>
#columns = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [0, 0]>
func.func @dim(%x: tensor<4x64xf32, #l>) {
  // expected-error @+1 {{dim must be less than the rank 2}}
  %0 = nv_tileas.reduce %x dim 2 identities [0.0 : f32] : tensor<4x64xf32, #l> -> tensor<4xf32, #rows> {
  ^bb0(%p: f32, %q: f32):
    nv_tileas.yield %p : f32
  }
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#rows = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [1, 2]>
#columns = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [0, 0]>
func.func @kept(%x: tensor<4x64xf32, #l>) {
  // expected-error @+1 {{kept bits must be bits of a coordinate along dim}}
  %0 = nv_tileas.reduce %x dim 1 kept 64 identities [0.0 : f32] : tensor<4x64xf32, #l> -> tensor<4x2xf32, #l> {
  ^bb0(%p: f32, %q: f32):
    nv_tileas.yield %p : f32
  }
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#rows = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [1, 2]>
#columns = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [0, 0]>
func.func @shape(%x: tensor<4x64xf32, #l>) {
  // expected-error @+1 {{expected a result of shape [4] and element type 'f32'}}
  %0 = nv_tileas.reduce %x dim 1 identities [0.0 : f32] : tensor<4x64xf32, #l> -> tensor<64xf32, #columns> {
  ^bb0(%p: f32, %q: f32):
    nv_tileas.yield %p : f32
  }
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#rows = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [1, 2]>
#columns = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [0, 0]>
func.func @scalar(%x: tensor<4x64xf32, #l>) {
  // expected-error @+1 {{expected a result of shape [4] and element type 'f32', got 'f32'}}
  %0 = nv_tileas.reduce %x dim 1 identities [0.0 : f32] : tensor<4x64xf32, #l> -> f32 {
  ^bb0(%p: f32, %q: f32):
    nv_tileas.yield %p : f32
  }
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#rows = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [1, 2]>
#columns = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [0, 0]>
func.func @layout(%x: tensor<4x64xf32, #l>) {
  // expected-error @+1 {{layout of the result must be the operand's without the bits of dimension 1}}
  %0 = nv_tileas.reduce %x dim 1 identities [0.0 : f32] : tensor<4x64xf32, #l> -> tensor<4xf32, #columns> {
  ^bb0(%p: f32, %q: f32):
    nv_tileas.yield %p : f32
  }
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#less = #nv_tileas.layout<register = [], lane = [2, 4, 8, 16, 32], warp = [0, 0]>
func.func @registers(%x: tensor<4x64xf32, #l>) {
  // expected-error @+1 {{layout of the result must be the operand's without the bits of dimension 0}}
  %0 = nv_tileas.reduce %x dim 0 identities [0.0 : f32] : tensor<4x64xf32, #l> -> tensor<64xf32, #less> {
  ^bb0(%p: f32, %q: f32):
    nv_tileas.yield %p : f32
  }
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#rows = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [1, 2]>
#other = #nv_tileas.layout<register = [1], lane = [4, 2, 8, 16, 32], warp = [64, 128]>
func.func @operands(%x: tensor<4x64xf32, #l>, %y: tensor<4x64xf32, #other>) {
  // expected-error @+1 {{operands must have the same shape and layout}}
  %0:2 = nv_tileas.reduce %x, %y dim 1 identities [0.0 : f32, 0.0 : f32] : tensor<4x64xf32, #l>, tensor<4x64xf32, #other> -> tensor<4xf32, #rows>, tensor<4xf32, #rows> {
  ^bb0(%p: f32, %q: f32, %r: f32, %s: f32):
    nv_tileas.yield %p, %r : f32, f32
  }
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#rows = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [1, 2]>
#columns = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [0, 0]>
func.func @body(%x: tensor<4x64xf32, #l>) {
  // expected-error @+1 {{body must take two scalars and yield one for each operand}}
  %0 = nv_tileas.reduce %x dim 1 identities [0.0 : f32] : tensor<4x64xf32, #l> -> tensor<4xf32, #rows> {
  ^bb0(%p: f32):
    nv_tileas.yield %p : f32
  }
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#rows = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [1, 2]>
#columns = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [0, 0]>
func.func @body_type(%x: tensor<4x64xf32, #l>) {
  // expected-error @+1 {{body must work on scalars of type 'f32' for operand 0}}
  %0 = nv_tileas.reduce %x dim 1 identities [0.0 : f32] : tensor<4x64xf32, #l> -> tensor<4xf32, #rows> {
  ^bb0(%p: f32, %q: i32):
    nv_tileas.yield %p : f32
  }
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#other = #nv_tileas.layout<register = [1], lane = [4, 2, 8, 16, 32], warp = [64, 128]>
func.func @scan_type(%x: tensor<4x64xf32, #l>) {
  // expected-error @+1 {{results must have the types of the operands}}
  %0 = nv_tileas.scan %x dim 1 identities [0.0 : f32] : tensor<4x64xf32, #l> -> tensor<4x64xf32, #other> {
  ^bb0(%p: f32, %q: f32):
    nv_tileas.yield %p : f32
  }
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#rows = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [1, 2]>
#columns = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [0, 0]>
func.func @scan_dim(%x: tensor<4x64xf32, #l>) {
  // expected-error @+1 {{dim must be less than the rank 2}}
  %0 = nv_tileas.scan %x dim -1 identities [0.0 : f32] : tensor<4x64xf32, #l> -> tensor<4x64xf32, #l> {
  ^bb0(%p: f32, %q: f32):
    nv_tileas.yield %p : f32
  }
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#rows = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [1, 2]>
#columns = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [0, 0]>
func.func @pick_at(%x: tensor<4x64xf32, #l>) {
  // expected-error @+1 {{at must be less than the extent 64}}
  %0 = nv_tileas.pick %x dim 1 at 64 : tensor<4x64xf32, #l> -> tensor<4xf32, #rows>
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#rows = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [1, 2]>
#columns = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [0, 0]>
func.func @pick_dim(%x: tensor<4x64xf32, #l>) {
  // expected-error @+1 {{dim must be less than the rank 2}}
  %0 = nv_tileas.pick %x dim 2 at 0 : tensor<4x64xf32, #l> -> tensor<4xf32, #rows>
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#rows = #nv_tileas.layout<register = [], lane = [0, 0, 0, 0, 0], warp = [1, 2]>
#columns = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [0, 0]>
func.func @extents(%x: tensor<4x3xf32, #l>) {
  // expected-error @+1 {{extents must be powers of two}}
  %0 = nv_tileas.pick %x dim 1 at 0 : tensor<4x3xf32, #l> -> tensor<4xf32, #rows>
  return
}

// -----

#segments = #nv_tileas.layout<register = [1, 2], lane = [0, 0, 0, 0, 0], warp = [4, 8]>
func.func @carry_dim(%y: tensor<4x4xf32, #segments>, %t: tensor<4x4xf32, #segments>) {
  // expected-error @+1 {{dim must number segments of the next dimension}}
  %0 = nv_tileas.carry %y totals %t dim 1 : tensor<4x4xf32, #segments> totals tensor<4x4xf32, #segments> -> tensor<4x4xf32, #segments> {
  ^bb0(%p: f32, %q: f32):
    nv_tileas.yield %p : f32
  }
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#segments = #nv_tileas.layout<register = [1, 2], lane = [0, 0, 0, 0, 0], warp = [4, 8]>
func.func @carry_totals(%y: tensor<4x4x16xf32, #l>, %t: tensor<2x8xf32, #segments>) {
  // expected-error @+1 {{totals must lack the dimension after dim and have the element type of the scanned tensors}}
  %0 = nv_tileas.carry %y totals %t dim 1 : tensor<4x4x16xf32, #l> totals tensor<2x8xf32, #segments> -> tensor<4x4x16xf32, #l> {
  ^bb0(%p: f32, %q: f32):
    nv_tileas.yield %p : f32
  }
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#few = #nv_tileas.layout<register = [1], lane = [0, 0, 0, 0, 2], warp = [4, 8]>
func.func @carry_layout(%y: tensor<4x4x16xf32, #l>, %t: tensor<4x4xf32, #few>) {
  // expected-error @+1 {{every thread must hold the totals of all segments of its elements}}
  %0 = nv_tileas.carry %y totals %t dim 1 : tensor<4x4x16xf32, #l> totals tensor<4x4xf32, #few> -> tensor<4x4x16xf32, #l> {
  ^bb0(%p: f32, %q: f32):
    nv_tileas.yield %p : f32
  }
  return
}

// -----

#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = [64, 128]>
#segments = #nv_tileas.layout<register = [1, 2], lane = [0, 0, 0, 0, 0], warp = [4, 8]>
func.func @carry_types(%y: tensor<4x4x16xf32, #l>, %t: tensor<4x4xf32, #segments>) {
  // expected-error @+1 {{results must have the types of the scanned tensors}}
  %0 = nv_tileas.carry %y totals %t dim 1 : tensor<4x4x16xf32, #l> totals tensor<4x4xf32, #segments> -> tensor<4x64xf32, #l> {
  ^bb0(%p: f32, %q: f32):
    nv_tileas.yield %p : f32
  }
  return
}
