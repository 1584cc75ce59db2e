// Every mode: the old value comes back, memory has the new one. Masked lanes do nothing.
// grid: 1 1 1
// buffer: i32 0xf0 0xf0 0xf0 5 -3 -3 -3 -3 7 1 -> 0x30 0xfc 0xcc 8 4 -3 -3 4 9 1
// buffer: i32 0*10 -> 0xf0 0xf0 0xf0 5 -3 -3 -3 -3 7 ?
// buffer: i64 5 -> 0x100000004
// buffer: i64 0 -> 5
// buffer: f32 1.5 -> 4.0
// buffer: f32 0.0 -> 1.5
// buffer: f64 1.5 -> 4.0
// buffer: f64 0.0 -> 1.5
// buffer: f16 1.5 7.0 -> 4.0 7.0
// buffer: bf16 7.0 1.5 -> 7.0 4.0
// buffer: f32 -0.0 -> nan
// buffer: i32 0 -> 64
cuda_tile.module @m {
  entry @atomic_rmw(%p0: tile<ptr<i32>>, %p1: tile<ptr<i32>>, %p2: tile<ptr<i64>>, %p3: tile<ptr<i64>>, %p4: tile<ptr<f32>>, %p5: tile<ptr<f32>>, %p6: tile<ptr<f64>>, %p7: tile<ptr<f64>>, %p8: tile<ptr<f16>>, %p9: tile<ptr<bf16>>, %p10: tile<ptr<f32>>, %p11: tile<ptr<i32>>) {
    %o0 = constant <i32: 0> : tile<i32>
    %q0 = offset %p0, %o0 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %u0 = offset %p1, %o0 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %o1 = constant <i32: 1> : tile<i32>
    %q1 = offset %p0, %o1 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %u1 = offset %p1, %o1 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %o2 = constant <i32: 2> : tile<i32>
    %q2 = offset %p0, %o2 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %u2 = offset %p1, %o2 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %o3 = constant <i32: 3> : tile<i32>
    %q3 = offset %p0, %o3 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %u3 = offset %p1, %o3 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %o4 = constant <i32: 4> : tile<i32>
    %q4 = offset %p0, %o4 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %u4 = offset %p1, %o4 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %o5 = constant <i32: 5> : tile<i32>
    %q5 = offset %p0, %o5 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %u5 = offset %p1, %o5 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %o6 = constant <i32: 6> : tile<i32>
    %q6 = offset %p0, %o6 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %u6 = offset %p1, %o6 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %o7 = constant <i32: 7> : tile<i32>
    %q7 = offset %p0, %o7 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %u7 = offset %p1, %o7 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %o8 = constant <i32: 8> : tile<i32>
    %q8 = offset %p0, %o8 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %u8 = offset %p1, %o8 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %o9 = constant <i32: 9> : tile<i32>
    %q9 = offset %p0, %o9 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %u9 = offset %p1, %o9 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %x0 = constant <i32: 0x3c> : tile<i32>
    %r0, %k0 = atomic_rmw_tko relaxed device %q0, and, %x0 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %s0 = store_ptr_tko weak %u0, %r0 : tile<ptr<i32>>, tile<i32> -> token
    %x1 = constant <i32: 0x3c> : tile<i32>
    %r1, %k1 = atomic_rmw_tko acquire device %q1, or, %x1 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %s1 = store_ptr_tko weak %u1, %r1 : tile<ptr<i32>>, tile<i32> -> token
    %x2 = constant <i32: 0x3c> : tile<i32>
    %r2, %k2 = atomic_rmw_tko release device %q2, xor, %x2 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %s2 = store_ptr_tko weak %u2, %r2 : tile<ptr<i32>>, tile<i32> -> token
    %x3 = constant <i32: 3> : tile<i32>
    %r3, %k3 = atomic_rmw_tko acq_rel device %q3, add, %x3 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %s3 = store_ptr_tko weak %u3, %r3 : tile<ptr<i32>>, tile<i32> -> token
    %x4 = constant <i32: 4> : tile<i32>
    %r4, %k4 = atomic_rmw_tko relaxed device %q4, max, %x4 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %s4 = store_ptr_tko weak %u4, %r4 : tile<ptr<i32>>, tile<i32> -> token
    %x5 = constant <i32: 4> : tile<i32>
    %r5, %k5 = atomic_rmw_tko relaxed device %q5, min, %x5 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %s5 = store_ptr_tko weak %u5, %r5 : tile<ptr<i32>>, tile<i32> -> token
    %x6 = constant <i32: 4> : tile<i32>
    %r6, %k6 = atomic_rmw_tko relaxed device %q6, umax, %x6 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %s6 = store_ptr_tko weak %u6, %r6 : tile<ptr<i32>>, tile<i32> -> token
    %x7 = constant <i32: 4> : tile<i32>
    %r7, %k7 = atomic_rmw_tko relaxed device %q7, umin, %x7 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %s7 = store_ptr_tko weak %u7, %r7 : tile<ptr<i32>>, tile<i32> -> token
    %x8 = constant <i32: 9> : tile<i32>
    %r8, %k8 = atomic_rmw_tko acq_rel device %q8, xchg, %x8 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %s8 = store_ptr_tko weak %u8, %r8 : tile<ptr<i32>>, tile<i32> -> token
    %x9 = constant <i32: 100> : tile<i32>
    %no = constant <i1: false> : tile<i1>
    %r9, %k9 = atomic_rmw_tko relaxed device %q9, add, %x9, %no : tile<ptr<i32>>, tile<i32>, tile<i1> -> tile<i32>, token
    %s9 = store_ptr_tko weak %u9, %r9 : tile<ptr<i32>>, tile<i32> -> token
    %big = constant <i64: 4294967295> : tile<i64>
    %r10, %k10 = atomic_rmw_tko relaxed sys %p2, add, %big : tile<ptr<i64>>, tile<i64> -> tile<i64>, token
    %s10 = store_ptr_tko weak %p3, %r10 : tile<ptr<i64>>, tile<i64> -> token
    %f = constant <f32: 2.5> : tile<f32>
    %r11, %k11 = atomic_rmw_tko relaxed device %p4, addf, %f : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    %s11 = store_ptr_tko weak %p5, %r11 : tile<ptr<f32>>, tile<f32> -> token
    %d = constant <f64: 2.5> : tile<f64>
    %r12, %k12 = atomic_rmw_tko relaxed device %p6, addf, %d : tile<ptr<f64>>, tile<f64> -> tile<f64>, token
    %s12 = store_ptr_tko weak %p7, %r12 : tile<ptr<f64>>, tile<f64> -> token
    %h = constant <f16: 2.5> : tile<f16>
    %r13, %k13 = atomic_rmw_tko relaxed tl_blk %p8, addf, %h : tile<ptr<f16>>, tile<f16> -> tile<f16>, token
    %b = constant <bf16: 2.5> : tile<bf16>
    %b_q = offset %p9, %o1 : tile<ptr<bf16>>, tile<i32> -> tile<ptr<bf16>>
    %r14, %k14 = atomic_rmw_tko relaxed device %b_q, addf, %b : tile<ptr<bf16>>, tile<bf16> -> tile<bf16>, token
    %nan = constant <f32: 0x7FC00000> : tile<f32>
    %r15, %k15 = atomic_rmw_tko relaxed device %p10, xchg, %nan : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
    %c1 = reshape %p11 : tile<ptr<i32>> -> tile<1xptr<i32>>
    %c = broadcast %c1 : tile<1xptr<i32>> -> tile<64xptr<i32>>
    %ones = constant <i32: 1> : tile<64xi32>
    %r16, %k16 = atomic_rmw_tko relaxed device %c, add, %ones : tile<64xptr<i32>>, tile<64xi32> -> tile<64xi32>, token
    return
  }
}
