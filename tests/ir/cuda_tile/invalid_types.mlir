// Invalid types, in the order of the rules in Types.cpp.
//
// RUN: tileiras-opt %s --cuda-tile-testing-ops --allow-unregistered-dialect \
// RUN:   --split-input-file --verify-diagnostics

// expected-error @below {{expected '<'}}
"test.use"() : () -> !cuda_tile.tile f32

// -----

// expected-error @below {{expected static shape}}
"test.use"() : () -> !cuda_tile.tile<?x4xf32>

// -----

// expected-error @below {{failed to verify 'elementType': f16 or bf16 or f32 or tf32 or f64 or f8E4M3FN or f8E5M2 or f8E8M0FNU or f4E2M1FN or fnv8E5M3FNU or i1 or i8 or i16 or i32 or i64 or Pointer type}}
"test.use"() : () -> !cuda_tile.tile<4xtensor<4xf32>>

// -----

// expected-error @below {{failed to verify 'pointeeType': f16 or bf16 or f32 or tf32 or f64 or f8E4M3FN or f8E5M2 or f8E8M0FNU or f4E2M1FN or fnv8E5M3FNU or i1 or i8 or i16 or i32 or i64}}
"test.use"() : () -> !cuda_tile.ptr<ptr<f32>>

// -----

// expected-error @below {{failed to verify 'pointeeType': f16 or bf16 or f32 or tf32 or f64 or f8E4M3FN or f8E5M2 or f8E8M0FNU or f4E2M1FN or fnv8E5M3FNU or i1 or i8 or i16 or i32 or i64}}
"test.use"() : () -> !cuda_tile.ptr<i4>

// -----

// expected-error @below {{all dimensions must be positive constants, got 1, 0, 2}}
"test.use"() : () -> !cuda_tile.tile<1x0x2xf32>

// -----

// expected-error @below {{all dimensions must be positive constants, got 0, 2, 2}}
"test.use"() : () -> !cuda_tile.tile<0x2x2xf32>

// -----

// expected-error @below {{all dimensions must be powers of two, got 3, 5, 9}}
"test.use"() : () -> !cuda_tile.tile<3x5x9xf32>

// -----

// expected-error @below {{all dimensions must be powers of two, got 5, 5}}
"test.use"() : () -> !cuda_tile.tile<5x5xf32>

// -----

// expected-error @below {{tile would exceed the maximum of 16777216 elements}}
"test.use"() : () -> !cuda_tile.tile<4096x8192xf32>

// -----

// expected-error @below {{F4E2M1FN tiles must have an even number of elements}}
"test.use"() : () -> !cuda_tile.tile<f4E2M1FN>

// -----

// expected-error @below {{F4E2M1FN tiles must have an even number of elements}}
"test.use"() : () -> !cuda_tile.tile<1xf4E2M1FN>

// -----

// expected-error @below {{expected strictly positive integer, got -5}}
"test.use"() : () -> !cuda_tile.tensor_view<4xf32, strides=[-5]>

// -----

// expected-error @below {{expected strictly positive integer, got 0}}
"test.use"() : () -> !cuda_tile.tensor_view<4xf32, strides=[0]>

// -----

// expected-error @below {{expected strictly positive integer, got -9223372036854775808}}
"test.use"() : () -> !cuda_tile.tensor_view<4xf32, strides=[-9223372036854775808]>

// -----

// expected-error @below {{expected either 64-bit integer or question mark}}
"test.use"() : () -> !cuda_tile.tensor_view<4xf32, strides=[foo]>

// -----

// expected-error @below {{strides must not be provided for 0-d tiles}}
"test.use"() : () -> !cuda_tile.tensor_view<f32, strides=[]>

// -----

// expected-error @below {{expected 'strides'}}
"test.use"() : () -> !cuda_tile.tensor_view<4xf32, foo=[1]>

// -----

// expected-error @below {{expected token after element type in 0-d tensor_view}}
"test.use"() : () -> !cuda_tile.tensor_view<f32 foo>

// -----

// expected-error @below {{expected shape and stride to be of same rank but got shape of rank 1 and stride of rank 2}}
"test.use"() : () -> !cuda_tile.tensor_view<4xf32, strides=[1, 1]>

// -----

// expected-error @below {{dimensions must have strictly positive constant sizes but got [0]}}
"test.use"() : () -> !cuda_tile.tensor_view<0xf32, strides=[1]>

// -----

// expected-error @below {{failed to verify 'elementType': f16 or bf16 or f32 or tf32 or f64 or f8E4M3FN or f8E5M2 or f8E8M0FNU or f4E2M1FN or fnv8E5M3FNU or i1 or i8 or i16 or i32 or i64}}
"test.use"() : () -> !cuda_tile.tensor_view<4xptr<f32>, strides=[1]>

// -----

// expected-error @below {{expected tensor_view rank and tile rank to match, got tensor_view of rank 2 and tiles of rank 1}}
"test.use"() : () -> !cuda_tile.partition_view<tile=(4), tensor_view<64x64xf32, strides=[64,1]>, dim_map=[0, 1]>

// -----

// expected-error @below {{expected tensor_view rank and tile rank to match, got tensor_view of rank 3 and tiles of rank 2}}
"test.use"() : () -> !cuda_tile.partition_view<tile=(4x4), tensor_view<8x8x8xf32, strides=[64,8,1]>>

// -----

// expected-error @below {{expected dim_map to map exactly all 2 dimensions of the tile, got 1 mappings}}
"test.use"() : () -> !cuda_tile.partition_view<tile=(4x4), tensor_view<64x64xf32, strides=[64,1]>, dim_map=[0]>

// -----

// expected-error @below {{target dimension 0 mapped at least twice (for tile dimensions 0 and 1)}}
"test.use"() : () -> !cuda_tile.partition_view<tile=(4x4), tensor_view<64x64xf32, strides=[64,1]>, dim_map=[0, 0]>

// -----

// expected-error @below {{target dimension is outside of tensor view dimensions, expected strictly less than 2, got 2}}
"test.use"() : () -> !cuda_tile.partition_view<tile=(4x4), tensor_view<64x64xf32, strides=[64,1]>, dim_map=[0, 2]>

// -----

// expected-error @below {{target dimension must not be negative, got -1}}
"test.use"() : () -> !cuda_tile.partition_view<tile=(4x4), tensor_view<64x64xf32, strides=[64,1]>, dim_map=[0, -1]>

// -----

// expected-error @below {{tile shape dimensions must have power of two length but got [5, 1024]}}
"test.use"() : () -> !cuda_tile.partition_view<tile=(5x1024), tensor_view<64x64xf32, strides=[64,1]>>

// -----

// expected-error @below {{tile dimension 0 exceeds i32 limitations (got 1099511627776, expected strictly positive and less than or equal to 2147483647)}}
"test.use"() : () -> !cuda_tile.partition_view<tile=(1099511627776x4), tensor_view<64x64xf32, strides=[64,1]>>

// -----

// expected-error @below {{0-dimension tile shape is not supported}}
"test.use"() : () -> !cuda_tile.partition_view<tile=(), tensor_view<f32>>

// -----

// expected-error @below {{tile would exceed the maximum of 16777216 elements}}
"test.use"() : () -> !cuda_tile.partition_view<tile=(8192x8192), tensor_view<64x64xf32, strides=[64,1]>>

// -----

// expected-error @below {{padding value 'nan' is only supported for floating-point element types, but got 'i32'}}
"test.use"() : () -> !cuda_tile.partition_view<tile=(4x4), padding_value = nan, tensor_view<64x64xi32, strides=[64,1]>>

// -----

// expected-error @below {{expected padding value to be one of: 'zero', 'neg_zero', 'nan', 'pos_inf', 'neg_inf', got: 'foo'}}
"test.use"() : () -> !cuda_tile.partition_view<tile=(4x4), padding_value = foo, tensor_view<64x64xf32, strides=[64,1]>>

// -----

// expected-error @below {{expected 'tensor_view' type, but got '!cuda_tile.partition_view<tile=(4x4), tensor_view<16x16xf32, strides=[16,1]>>'}}
"test.use"() : () -> !cuda_tile.partition_view<tile=(4x4), partition_view<tile=(4x4), tensor_view<16x16xf32, strides=[16,1]>>>

// -----

// expected-error @below {{expected tensor_view rank and tile rank to match, got tensor_view of rank 3 and tiles of rank 2}}
"test.use"() : () -> !cuda_tile.strided_view<tile=(4x4), traversal_strides=[1,1], tensor_view<8x8x8xf32, strides=[64,8,1]>>

// -----

// expected-error @below {{expected dim_map to map exactly all 2 dimensions of the tile, got 1 mappings}}
"test.use"() : () -> !cuda_tile.strided_view<tile=(4x4), traversal_strides=[1,1], tensor_view<64x64xf32, strides=[64,1]>, dim_map=[0]>

// -----

// expected-error @below {{target dimension 0 mapped at least twice (for tile dimensions 0 and 1)}}
"test.use"() : () -> !cuda_tile.strided_view<tile=(4x4), traversal_strides=[1,1], tensor_view<64x64xf32, strides=[64,1]>, dim_map=[0, 0]>

// -----

// expected-error @below {{target dimension is outside of tensor view dimensions, expected strictly less than 2, got 2}}
"test.use"() : () -> !cuda_tile.strided_view<tile=(4x4), traversal_strides=[1,1], tensor_view<64x64xf32, strides=[64,1]>, dim_map=[0, 2]>

// -----

// expected-error @below {{target dimension must not be negative, got -1}}
"test.use"() : () -> !cuda_tile.strided_view<tile=(4x4), traversal_strides=[1,1], tensor_view<64x64xf32, strides=[64,1]>, dim_map=[0, -1]>

// -----

// expected-error @below {{tile shape dimensions must have power of two length but got [5, 1024]}}
"test.use"() : () -> !cuda_tile.strided_view<tile=(5x1024), traversal_strides=[1,1], tensor_view<64x64xf32, strides=[64,1]>>

// -----

// expected-error @below {{tile dimension 0 exceeds i32 limitations (got 1099511627776, expected strictly positive and less than or equal to 2147483647)}}
"test.use"() : () -> !cuda_tile.strided_view<tile=(1099511627776x4), traversal_strides=[1,1], tensor_view<64x64xf32, strides=[64,1]>>

// -----

// expected-error @below {{0-dimension tile shape is not supported}}
"test.use"() : () -> !cuda_tile.strided_view<tile=(), traversal_strides=[1,1], tensor_view<f32>>

// -----

// expected-error @below {{tile would exceed the maximum of 16777216 elements}}
"test.use"() : () -> !cuda_tile.strided_view<tile=(8192x8192), traversal_strides=[1,1], tensor_view<64x64xf32, strides=[64,1]>>

// -----

// expected-error @below {{padding value 'nan' is only supported for floating-point element types, but got 'i32'}}
"test.use"() : () -> !cuda_tile.strided_view<tile=(4x4), traversal_strides=[1,1], padding_value = nan, tensor_view<64x64xi32, strides=[64,1]>>

// -----

// expected-error @below {{expected padding value to be one of: 'zero', 'neg_zero', 'nan', 'pos_inf', 'neg_inf', got: 'foo'}}
"test.use"() : () -> !cuda_tile.strided_view<tile=(4x4), traversal_strides=[1,1], padding_value = foo, tensor_view<64x64xf32, strides=[64,1]>>

// -----

// expected-error @below {{expected 'tensor_view' type, but got '!cuda_tile.partition_view<tile=(4x4), tensor_view<16x16xf32, strides=[16,1]>>'}}
"test.use"() : () -> !cuda_tile.strided_view<tile=(4x4), traversal_strides=[1,1], partition_view<tile=(4x4), tensor_view<16x16xf32, strides=[16,1]>>>

// -----

// expected-error @below {{expected 2 traversal strides, got 1}}
"test.use"() : () -> !cuda_tile.strided_view<tile=(4x4), traversal_strides=[1], tensor_view<64x64xf32, strides=[64,1]>>

// -----

// expected-error @below {{traversal strides must be strictly positive but got [1, 0]}}
"test.use"() : () -> !cuda_tile.strided_view<tile=(4x4), traversal_strides=[1, 0], tensor_view<64x64xf32, strides=[64,1]>>

// -----

// expected-error @below {{traversal strides must be strictly positive but got [1, -1]}}
"test.use"() : () -> !cuda_tile.strided_view<tile=(4x4), traversal_strides=[1, -1], tensor_view<64x64xf32, strides=[64,1]>>

// -----

// expected-error @below {{sparse_dim is outside of tensor view dimensions, expected strictly less than 2, got 2}}
"test.use"() : () -> !cuda_tile.gather_scatter_view<tile=(4x4), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=2>

// -----

// expected-error @below {{expected ','}}
"test.use"() : () -> !cuda_tile.gather_scatter_view<tile=(4x4), tensor_view<64x64xf32, strides=[64,1]>>

// -----

// expected-error @below {{tile shape dimensions must have power of two length but got [3, 4]}}
"test.use"() : () -> !cuda_tile.gather_scatter_view<tile=(3x4), tensor_view<64x64xf32, strides=[64,1]>, sparse_dim=0>
