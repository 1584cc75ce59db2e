nv_tileaa.func @write_then_read(%p: !nv_tileaa.ptr<i32>, %v: i32) {
  %t = nv_tileaa.create_mem_token
  %t1 = nv_tileas.store <weak> %p, %v token %t vector 1 : !nv_tileaa.ptr<i32>, i32
  %x, %t2 = nv_tileas.load <weak> %p token %t1 vector 1 : !nv_tileaa.ptr<i32> -> i32
  nv_tileaa.return
}
nv_tileaa.func @read_then_write(%p: !nv_tileaa.ptr<i32>, %v: i32) {
  %x, %t1 = nv_tileas.load <weak> %p vector 1 : !nv_tileaa.ptr<i32> -> i32
  %t2 = nv_tileas.store <weak> %p, %v token %t1 vector 1 : !nv_tileaa.ptr<i32>, i32
  nv_tileaa.return
}
nv_tileaa.func @read_then_read(%p: !nv_tileaa.ptr<i32>) {
  %x, %t1 = nv_tileas.load <weak> %p vector 1 : !nv_tileaa.ptr<i32> -> i32
  %y, %t2 = nv_tileas.load <weak> %p token %t1 vector 1 : !nv_tileaa.ptr<i32> -> i32
  nv_tileaa.return
}
nv_tileaa.func @unordered(%p: !nv_tileaa.ptr<i32>, %v: i32) {
  %t = nv_tileaa.create_mem_token
  %t1 = nv_tileas.store <weak> %p, %v token %t vector 1 : !nv_tileaa.ptr<i32>, i32
  %x, %t2 = nv_tileas.load <weak> %p token %t vector 1 : !nv_tileaa.ptr<i32> -> i32
  nv_tileaa.return
}
nv_tileaa.func @settled(%p: !nv_tileaa.ptr<i32>, %v: i32) {
  %t1 = nv_tileas.store <weak> %p, %v vector 1 : !nv_tileaa.ptr<i32>, i32
  %x, %t2 = nv_tileas.load <weak> %p token %t1 vector 1 : !nv_tileaa.ptr<i32> -> i32
  %y, %t3 = nv_tileas.load <weak> %p token %t2 vector 1 : !nv_tileaa.ptr<i32> -> i32
  nv_tileaa.return
}
nv_tileaa.func @joined(%p: !nv_tileaa.ptr<i32>, %v: i32) {
  %t1 = nv_tileas.store <weak> %p, %v vector 1 : !nv_tileaa.ptr<i32>, i32
  %x, %t2 = nv_tileas.load <weak> %p vector 1 : !nv_tileaa.ptr<i32> -> i32
  %t3 = nv_tileaa.join_mem_token %t1, %t2
  %y, %t4 = nv_tileas.load <weak> %p token %t3 vector 1 : !nv_tileaa.ptr<i32> -> i32
  nv_tileaa.return
}
nv_tileaa.func @around_a_loop(%p: !nv_tileaa.ptr<i32>, %n: i32) {
  %t = nv_tileaa.create_mem_token
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %t) -> (!nv_tileaa.mem_token) : i32 {
    %x, %t1 = nv_tileas.load <weak> %p token %a vector 1 : !nv_tileaa.ptr<i32> -> i32
    %t2 = nv_tileas.store <weak> %p, %x token %a vector 1 : !nv_tileaa.ptr<i32>, i32
    scf.yield %t2 : !nv_tileaa.mem_token
  }
  nv_tileaa.return
}
nv_tileaa.func @out_of_an_if(%p: !nv_tileaa.ptr<i32>, %c: i1, %v: i32) {
  %t = nv_tileaa.create_mem_token
  %r = scf.if %c -> (!nv_tileaa.mem_token) {
    %t1 = nv_tileas.store <weak> %p, %v token %t vector 1 : !nv_tileaa.ptr<i32>, i32
    scf.yield %t1 : !nv_tileaa.mem_token
  } else {
    scf.yield %t : !nv_tileaa.mem_token
  }
  %x, %t2 = nv_tileas.load <weak> %p token %r vector 1 : !nv_tileaa.ptr<i32> -> i32
  nv_tileaa.return
}
