// RUN: tileiras-opt %s | tileiras-opt | FileCheck %s
// RUN: tileiras-opt %s --mlir-print-op-generic | tileiras-opt | FileCheck %s
// Ops that move elements: round trip through the parser and the printer.
#l = #nv_tileas.layout<register = [1], lane = [2, 4, 8, 16, 32], warp = []>
#b = #nv_tileas.layout<register = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = []>
#n = #nv_tileas.layout<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>
#c = #nv_tileas.layout<register = [1, 64], lane = [2, 4, 8, 16, 32], warp = []>
#s = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32]>
#half = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16]>
#w = #nv_tileas.layout<register = [], lane = [1, 2, 4, 8, 16], warp = []>
// CHECK-LABEL: func.func @moves
func.func @moves(%x: tensor<64xi16, #l>, %i: i32, %m: !nv_tileas.memdesc<64xi16, #s>, %p: !nv_tileas.memdesc<32xi16, #half>) {
  // CHECK: nv_tileas.cat %{{.*}}, %{{.*}}, 0 : tensor<64xi16, [[L:.*]]> -> tensor<128xi16, {{.*}}>
  %0 = nv_tileas.cat %x, %x, 0 : tensor<64xi16, #l> -> tensor<128xi16, #c>
  // CHECK: nv_tileas.extract_slice %{{.*}}[%arg1] : tensor<64xi16, {{.*}}> -> tensor<32xi16, {{.*}}>
  %1 = nv_tileas.extract_slice %x[%i] : tensor<64xi16, #l> -> tensor<32xi16, #w>
  // CHECK: nv_tileas.pack %{{.*}} : tensor<64xi16, {{.*}}> -> tensor<128xi8, {{.*}}>
  %2 = nv_tileas.pack %x : tensor<64xi16, #l> -> tensor<128xi8, #n>
  // CHECK: nv_tileas.unpack %{{.*}} : tensor<128xi8, {{.*}}> -> tensor<256xi4, {{.*}}>
  %3 = nv_tileas.unpack %2 : tensor<128xi8, #n> -> tensor<256xi4, #b>
  // CHECK: nv_tileas.shuffle %arg0 : tensor<64xi16, {{.*}}> -> tensor<64xi16, {{.*}}>
  %4 = nv_tileas.shuffle %x : tensor<64xi16, #l> -> tensor<64xi16, #l>
  // CHECK: nv_tileas.shuffle %arg0[%arg1] : tensor<64xi16, {{.*}}> -> tensor<32xi16, {{.*}}>
  %5 = nv_tileas.shuffle %x[%i] : tensor<64xi16, #l> -> tensor<32xi16, #w>
  // CHECK: nv_tileas.local_load_slice %arg2[%arg1] vector 1 : {{.*}} -> tensor<32xi16, {{.*}}>
  %6 = nv_tileas.local_load_slice %m[%i] vector 1 : !nv_tileas.memdesc<64xi16, #s> -> tensor<32xi16, #w>
  // CHECK: nv_tileas.exchange %arg0, %arg3 : tensor<64xi16, {{.*}}>, {{.*}} -> tensor<64xi16, {{.*}}>
  %7 = nv_tileas.exchange %x, %p : tensor<64xi16, #l>, !nv_tileas.memdesc<32xi16, #half> -> tensor<64xi16, #l>
  // CHECK: nv_tileas.insert_slice %{{.*}} into %arg0[%arg1] : tensor<32xi16, {{.*}}> into tensor<64xi16, {{.*}}>
  %8 = nv_tileas.insert_slice %1 into %x[%i] : tensor<32xi16, #w> into tensor<64xi16, #l>
  return
}
