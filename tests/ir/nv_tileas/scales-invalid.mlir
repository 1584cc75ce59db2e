// RUN: tileiras-opt %s --split-input-file --verify-diagnostics
#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#b = #nv_tileas.shared_layout<offset = [64, 128, 256, 512, 1024, 2048, 4096, 1025, 2050, 4100, 8, 16, 32]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 128, 256, 4, 8, 16, 32, 64]>
#t = #nv_tileas.shared_layout<offset = [128, 256, 32, 64, 1, 2, 4, 8, 16]>
#rows = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256]>
!a = !nv_tileas.memdesc<128x128xf8E4M3FN, #a, align = 1024>
!b = !nv_tileas.memdesc<128x64xf8E4M3FN, #b, align = 1024>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!from = !nv_tileas.memdesc<128x4xf8E8M0FNU, #s>
!s = !nv_tileas.memdesc<128x4xf8E8M0FNU, #s, space = scales>
!rows = !nv_tileas.memdesc<128x4xf8E8M0FNU, #rows, space = scales>
!t = !nv_tileas.memdesc<4x128xf8E8M0FNU, #t, space = scales>

nv_tileaa.func @f(%a: !a, %b: !b, %m: !m, %from: !from, %s: !s, %rows: !rows, %t: !t) attributes {numWarps = 4 : i64} {
  // expected-error @below {{must be inside 'nv_tileas.async.elect'}}
  nv_tileas.tmem_copy %from, %s : !from, !s
  nv_tileaa.return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#b = #nv_tileas.shared_layout<offset = [64, 128, 256, 512, 1024, 2048, 4096, 1025, 2050, 4100, 8, 16, 32]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 128, 256, 4, 8, 16, 32, 64]>
#t = #nv_tileas.shared_layout<offset = [128, 256, 32, 64, 1, 2, 4, 8, 16]>
#rows = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256]>
!a = !nv_tileas.memdesc<128x128xf8E4M3FN, #a, align = 1024>
!b = !nv_tileas.memdesc<128x64xf8E4M3FN, #b, align = 1024>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!from = !nv_tileas.memdesc<128x4xf8E8M0FNU, #s>
!s = !nv_tileas.memdesc<128x4xf8E8M0FNU, #s, space = scales>
!rows = !nv_tileas.memdesc<128x4xf8E8M0FNU, #rows, space = scales>
!t = !nv_tileas.memdesc<4x128xf8E8M0FNU, #t, space = scales>

nv_tileaa.func @f(%a: !a, %b: !b, %m: !m, %from: !from, %s: !s, %rows: !rows, %t: !t) attributes {numWarps = 4 : i64} {
  nv_tileas.async.elect of matrix {
    // expected-error @below {{copies scale factors from shared to tensor memory}}
    nv_tileas.tmem_copy %s, %s : !s, !s
  }
  nv_tileaa.return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#b = #nv_tileas.shared_layout<offset = [64, 128, 256, 512, 1024, 2048, 4096, 1025, 2050, 4100, 8, 16, 32]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 128, 256, 4, 8, 16, 32, 64]>
#t = #nv_tileas.shared_layout<offset = [128, 256, 32, 64, 1, 2, 4, 8, 16]>
#rows = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256]>
!a = !nv_tileas.memdesc<128x128xf8E4M3FN, #a, align = 1024>
!b = !nv_tileas.memdesc<128x64xf8E4M3FN, #b, align = 1024>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!from = !nv_tileas.memdesc<128x4xf8E8M0FNU, #s>
!s = !nv_tileas.memdesc<128x4xf8E8M0FNU, #s, space = scales>
!rows = !nv_tileas.memdesc<128x4xf8E8M0FNU, #rows, space = scales>
!t = !nv_tileas.memdesc<4x128xf8E8M0FNU, #t, space = scales>

nv_tileaa.func @f(%a: !a, %b: !b, %m: !m, %from: !from, %s: !s, %rows: !rows, %t: !t) attributes {numWarps = 4 : i64} {
  nv_tileas.async.elect of matrix {
    // expected-error @below {{source and destination must have the same shape and element type}}
    nv_tileas.tmem_copy %from, %t : !from, !t
  }
  nv_tileaa.return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#b = #nv_tileas.shared_layout<offset = [64, 128, 256, 512, 1024, 2048, 4096, 1025, 2050, 4100, 8, 16, 32]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 128, 256, 4, 8, 16, 32, 64]>
#t = #nv_tileas.shared_layout<offset = [128, 256, 32, 64, 1, 2, 4, 8, 16]>
#rows = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256]>
!a = !nv_tileas.memdesc<128x128xf8E4M3FN, #a, align = 1024>
!b = !nv_tileas.memdesc<128x64xf8E4M3FN, #b, align = 1024>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!from = !nv_tileas.memdesc<128x4xf8E8M0FNU, #s>
!s = !nv_tileas.memdesc<128x4xf8E8M0FNU, #s, space = scales>
!rows = !nv_tileas.memdesc<128x4xf8E8M0FNU, #rows, space = scales>
!t = !nv_tileas.memdesc<4x128xf8E8M0FNU, #t, space = scales>

nv_tileaa.func @f(%a: !a, %b: !b, %m: !m, %from: !from, %s: !s, %rows: !rows, %t: !t) attributes {numWarps = 4 : i64} {
  nv_tileas.async.elect of matrix {
    // expected-error @below {{scale factors are a single stage of rank two in 'space = scales'}}
    nv_tileas.async.dot %a, %b, %m scales %from, %t per 32 by <tensor, [128, 64, 32]> : !a, !b, !m scaled by !from, !t
  }
  nv_tileaa.return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#b = #nv_tileas.shared_layout<offset = [64, 128, 256, 512, 1024, 2048, 4096, 1025, 2050, 4100, 8, 16, 32]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 128, 256, 4, 8, 16, 32, 64]>
#t = #nv_tileas.shared_layout<offset = [128, 256, 32, 64, 1, 2, 4, 8, 16]>
#rows = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256]>
!a = !nv_tileas.memdesc<128x128xf8E4M3FN, #a, align = 1024>
!b = !nv_tileas.memdesc<128x64xf8E4M3FN, #b, align = 1024>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!from = !nv_tileas.memdesc<128x4xf8E8M0FNU, #s>
!s = !nv_tileas.memdesc<128x4xf8E8M0FNU, #s, space = scales>
!rows = !nv_tileas.memdesc<128x4xf8E8M0FNU, #rows, space = scales>
!t = !nv_tileas.memdesc<4x128xf8E8M0FNU, #t, space = scales>

nv_tileaa.func @f(%a: !a, %b: !b, %m: !m, %from: !from, %s: !s, %rows: !rows, %t: !t) attributes {numWarps = 4 : i64} {
  nv_tileas.async.elect of matrix {
    // expected-error @below {{no instruction}}
    nv_tileas.async.dot %a, %b, %m scales %s, %t per 16 by <tensor, [128, 64, 32]> : !a, !b, !m scaled by !s, !t
  }
  nv_tileaa.return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#b = #nv_tileas.shared_layout<offset = [64, 128, 256, 512, 1024, 2048, 4096, 1025, 2050, 4100, 8, 16, 32]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 128, 256, 4, 8, 16, 32, 64]>
#t = #nv_tileas.shared_layout<offset = [128, 256, 32, 64, 1, 2, 4, 8, 16]>
#rows = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256]>
!a = !nv_tileas.memdesc<128x128xf8E4M3FN, #a, align = 1024>
!b = !nv_tileas.memdesc<128x64xf8E4M3FN, #b, align = 1024>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!from = !nv_tileas.memdesc<128x4xf8E8M0FNU, #s>
!s = !nv_tileas.memdesc<128x4xf8E8M0FNU, #s, space = scales>
!rows = !nv_tileas.memdesc<128x4xf8E8M0FNU, #rows, space = scales>
!t = !nv_tileas.memdesc<4x128xf8E8M0FNU, #t, space = scales>

nv_tileaa.func @f(%a: !a, %b: !b, %m: !m, %from: !from, %s: !s, %rows: !rows, %t: !t) attributes {numWarps = 4 : i64} {
  nv_tileas.async.elect of matrix {
    // expected-error @below {{the scale factors of lhs are not laid out in blocks}}
    nv_tileas.async.dot %a, %b, %m scales %rows, %t per 32 by <tensor, [128, 64, 32]> : !a, !b, !m scaled by !rows, !t
  }
  nv_tileaa.return
}

// -----

#a = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192]>
#b = #nv_tileas.shared_layout<offset = [64, 128, 256, 512, 1024, 2048, 4096, 1025, 2050, 4100, 8, 16, 32]>
#m = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]>
#s = #nv_tileas.shared_layout<offset = [1, 2, 128, 256, 4, 8, 16, 32, 64]>
#t = #nv_tileas.shared_layout<offset = [128, 256, 32, 64, 1, 2, 4, 8, 16]>
#rows = #nv_tileas.shared_layout<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256]>
!a = !nv_tileas.memdesc<128x128xf8E4M3FN, #a, align = 1024>
!b = !nv_tileas.memdesc<128x64xf8E4M3FN, #b, align = 1024>
!m = !nv_tileas.memdesc<128x64xf32, #m, space = tensor>
!from = !nv_tileas.memdesc<128x4xf8E8M0FNU, #s>
!s = !nv_tileas.memdesc<128x4xf8E8M0FNU, #s, space = scales>
!rows = !nv_tileas.memdesc<128x4xf8E8M0FNU, #rows, space = scales>
!t = !nv_tileas.memdesc<4x128xf8E8M0FNU, #t, space = scales>

nv_tileaa.func @f(%a: !a, %b: !b, %m: !m, %from: !from, %s: !s, %rows: !rows, %t: !t) attributes {numWarps = 4 : i64} {
  nv_tileas.async.elect of matrix {
    // expected-error @below {{lhs needs 128 by 4 scale factors}}
    nv_tileas.async.dot %a, %b, %m scales %t, %t per 32 by <tensor, [128, 64, 32]> : !a, !b, !m scaled by !t, !t
  }
  nv_tileaa.return
}

// -----

// expected-error @below {{only elements of 4 bits in shared memory are packed}}
nv_tileaa.func @f(%x: !nv_tileas.memdesc<4xi8, #nv_tileas.shared_layout<offset = [1, 2]>, packed>)

// -----

#l = #nv_tileas.layout<register = [1, 2], lane = [0, 0, 0, 0, 0], warp = [0, 0]>
!p = !nv_tileas.memdesc<4xf4E2M1FN, #nv_tileas.shared_layout<offset = [1, 2]>, packed>
nv_tileaa.func @f(%p: !p, %x: tensor<4xf4E2M1FN, #l>) attributes {numWarps = 4 : i64} {
  // expected-error @below {{threads do not store to packed storage}}
  nv_tileas.local_store %x, %p vector 1 : tensor<4xf4E2M1FN, #l>, !p
  nv_tileaa.return
}
