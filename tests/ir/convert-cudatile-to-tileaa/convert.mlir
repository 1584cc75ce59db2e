// RUN: tileiras-opt %s --pass-pipeline='builtin.module(convert-cudatile-to-tileaa)' | tileiras-opt | FileCheck %s

// CHECK-LABEL: nv_tileaa.func @integers(
cuda_tile.module @m {
  entry @integers(%a: tile<i16>) {
    // CHECK: arith.extsi %arg0 : i16 to i32
    %0 = exti %a signed : tile<i16> -> tile<i32>
    // CHECK: arith.extui %arg0 : i16 to i64
    %1 = exti %a unsigned : tile<i16> -> tile<i64>
    // CHECK: arith.trunci %arg0 : i16 to i8
    %2 = trunci %a : tile<i16> -> tile<i8>
    // CHECK: arith.trunci %arg0 overflow<nuw> : i16 to i8
    %3 = trunci %a overflow<no_unsigned_wrap> : tile<i16> -> tile<i8>
    return
  }
}

// CHECK-LABEL: nv_tileaa.func @floats(
cuda_tile.module @m1 {
  entry @floats(%h: tile<f16>, %b: tile<bf16>, %f: tile<f32>, %d: tile<f64>) {
    // CHECK: arith.extf %arg0 : f16 to f32
    %0 = ftof %h : tile<f16> -> tile<f32>
    // CHECK: arith.truncf %arg3 : f64 to f16
    %1 = ftof %d : tile<f64> -> tile<f16>
    // CHECK: %[[W:.*]] = arith.extf %arg0 : f16 to f32
    // CHECK: arith.truncf %[[W]] : f32 to bf16
    %2 = ftof %h : tile<f16> -> tile<bf16>
    // CHECK: nv_tileaa.fp_cast %arg2 : f32 -> f8E4M3FN
    %3 = ftof %f : tile<f32> -> tile<f8E4M3FN>
    // CHECK: nv_tileaa.fp_cast %arg2 rounding <zero> : f32 -> f8E8M0FNU
    %4 = ftof %f rounding<zero> : tile<f32> -> tile<f8E8M0FNU>
    // CHECK: nv_tileaa.fp_cast %{{.*}} : f8E4M3FN -> f16
    %5 = ftof %3 : tile<f8E4M3FN> -> tile<f16>
    // CHECK: nv_tileaa.fp_cast %arg1 : bf16 -> tf32
    %6 = ftof %b : tile<bf16> -> tile<tf32>
    return
  }
}

// CHECK-LABEL: nv_tileaa.func @float_to_int(
cuda_tile.module @m2 {
  entry @float_to_int(%f: tile<f32>, %n: tile<f8E5M2>) {
    // CHECK: arith.fptosi %arg0 : f32 to i8
    %0 = ftoi %f signed : tile<f32> -> tile<i8>
    // CHECK: arith.fptoui %arg0 : f32 to i64
    %1 = ftoi %f unsigned : tile<f32> -> tile<i64>
    // CHECK: %[[W:.*]] = nv_tileaa.fp_cast %arg1 : f8E5M2 -> f32
    // CHECK: arith.fptosi %[[W]] : f32 to i32
    %2 = ftoi %n signed : tile<f8E5M2> -> tile<i32>
    // The conversion to i1 gives whether the number differs from zero.
    // CHECK: %[[Z:.*]] = arith.constant 0.000000e+00 : f32
    // CHECK: arith.cmpf une, %arg0, %[[Z]] : f32
    %3 = ftoi %f unsigned : tile<f32> -> tile<i1>
    return
  }
}

// CHECK-LABEL: nv_tileaa.func @int_to_float(
cuda_tile.module @m3 {
  entry @int_to_float(%b: tile<i1>, %i: tile<i32>, %l: tile<i64>) {
    // CHECK: arith.sitofp %arg1 : i32 to f16
    %0 = itof %i signed : tile<i32> -> tile<f16>
    // CHECK: arith.uitofp %arg2 : i64 to f64
    %1 = itof %l unsigned : tile<i64> -> tile<f64>
    // CHECK: %[[E:.*]] = arith.extsi %arg0 : i1 to i32
    // CHECK: arith.sitofp %[[E]] : i32 to f32
    %2 = itof %b signed : tile<i1> -> tile<f32>
    // f64 represents every i32.
    // CHECK: %[[W:.*]] = arith.sitofp %arg1 : i32 to f64
    // CHECK: nv_tileaa.fp_cast %[[W]] : f64 -> f8E5M2
    %3 = itof %i signed : tile<i32> -> tile<f8E5M2>
    // Saturation keeps numbers that overflow out of the range of every f8.
    // CHECK: arith.constant 1048576 : i64
    // CHECK: %[[MIN:.*]] = arith.minsi %arg2
    // CHECK: %[[MAX:.*]] = arith.maxsi %[[MIN]]
    // CHECK: %[[W:.*]] = arith.sitofp %[[MAX]] : i64 to f32
    // CHECK: nv_tileaa.fp_cast %[[W]] : f32 -> f8E4M3FN
    %4 = itof %l signed : tile<i64> -> tile<f8E4M3FN>
    // Rounding to odd.
    // CHECK: arith.andi
    // CHECK: %[[ODD:.*]] = arith.select
    // CHECK: %[[BIG:.*]] = arith.cmpi ugt, %arg2
    // CHECK: %[[V:.*]] = arith.select %[[BIG]], %[[ODD]], %arg2
    // CHECK: %[[W:.*]] = arith.uitofp %[[V]] : i64 to f64
    // CHECK: nv_tileaa.fp_cast %[[W]] : f64 -> tf32
    %5 = itof %l unsigned : tile<i64> -> tile<tf32>
    return
  }
}

// CHECK-LABEL: nv_tileaa.func @bits(
cuda_tile.module @m4 {
  entry @bits(%f: tile<f32>, %p: tile<ptr<f32>>) {
    // CHECK: arith.bitcast %arg0 : f32 to i32
    %0 = bitcast %f : tile<f32> -> tile<i32>
    // CHECK: %[[I:.*]] = nv_tileaa.ptr_to_int %arg1 : !nv_tileaa.ptr<f32> -> i64
    %1 = ptr_to_int %p : tile<ptr<f32>> -> tile<i64>
    // CHECK: nv_tileaa.int_to_ptr %[[I]] : i64 -> !nv_tileaa.ptr<i8>
    %2 = int_to_ptr %1 : tile<i64> -> tile<ptr<i8>>
    // CHECK: nv_tileaa.ptr_to_ptr %arg1 : !nv_tileaa.ptr<f32> -> !nv_tileaa.ptr<i32>
    %3 = ptr_to_ptr %p : tile<ptr<f32>> -> tile<ptr<i32>>
    // CHECK: %[[C:.*]] = arith.constant dense<1.000000e+00> : tensor<8xf32>
    %c = constant <f32: 1.0> : tile<8xf32>
    // CHECK: %[[P:.*]] = nv_tileaa.pack %[[C]] : tensor<8xf32> -> tensor<32xi8>
    %4 = pack %c : tile<8xf32> -> tile<32xi8>
    // CHECK: nv_tileaa.unpack %[[P]] : tensor<32xi8> -> tensor<16xf16>
    %5 = unpack %4 : tile<32xi8> -> tile<16xf16>
    return
  }
}
