// Arithmetic on pointers, forwards and backwards, by any integer type; casts; a round trip through integers.
// grid: 1 1 1
// buffer: i32 10 11 12 13 14 15 16 17
// buffer: i32 0*4 -> 17 16 15 14
// buffer: i32 0 -> 12
// buffer: f32 0.0 -> 0x0000000d
// buffer: i16 0*2 -> 14 0
cuda_tile.module @m {
  entry @pointers(%p0: tile<ptr<i32>>, %p1: tile<ptr<i32>>, %p2: tile<ptr<i32>>, %p3: tile<ptr<f32>>, %p4: tile<ptr<i16>>) {
    %zero = constant <i32: 0> : tile<i32>
    %i = iota : tile<4xi32>
    %minus = constant <i32: -1> : tile<4xi32>
    %back = muli %i, %minus : tile<4xi32>
    %seven = constant <i64: 7> : tile<i64>
    %last = offset %p0, %seven : tile<ptr<i32>>, tile<i64> -> tile<ptr<i32>>
    %last1 = reshape %last : tile<ptr<i32>> -> tile<1xptr<i32>>
    %last4 = broadcast %last1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %at = offset %last4, %back : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %a, %a_k = load_ptr_tko weak %at : tile<4xptr<i32>> -> tile<4xi32>, token
    %a_ot = make_tensor_view %p1, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
    %a_ov = make_partition_view %a_ot : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
    %a_ok = store_view_tko weak %a, %a_ov[%zero] : tile<4xi32>, partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>, tile<i32> -> token
    %n = ptr_to_int %p0 : tile<ptr<i32>> -> tile<i64>
    %eight = constant <i64: 8> : tile<i64>
    %m = addi %n, %eight : tile<i64>
    %q = int_to_ptr %m : tile<i64> -> tile<ptr<i32>>
    %b, %b_k = load_ptr_tko weak %q : tile<ptr<i32>> -> tile<i32>, token
    %b_s = store_ptr_tko weak %p2, %b : tile<ptr<i32>>, tile<i32> -> token
    %three = constant <i8: 3> : tile<i8>
    %f0 = ptr_to_ptr %p0 : tile<ptr<i32>> -> tile<ptr<f32>>
    %f = offset %f0, %three : tile<ptr<f32>>, tile<i8> -> tile<ptr<f32>>
    %c, %c_k = load_ptr_tko weak %f : tile<ptr<f32>> -> tile<f32>, token
    %c_s = store_ptr_tko weak %p3, %c : tile<ptr<f32>>, tile<f32> -> token
    %h0 = ptr_to_ptr %p0 : tile<ptr<i32>> -> tile<ptr<i16>>
    %h1 = reshape %h0 : tile<ptr<i16>> -> tile<1xptr<i16>>
    %h2 = broadcast %h1 : tile<1xptr<i16>> -> tile<2xptr<i16>>
    %j = constant <i16: [8, 9]> : tile<2xi16>
    %h = offset %h2, %j : tile<2xptr<i16>>, tile<2xi16> -> tile<2xptr<i16>>
    %d, %d_k = load_ptr_tko weak %h : tile<2xptr<i16>> -> tile<2xi16>, token
    %d_ot = make_tensor_view %p4, shape = [2], strides = [1] : tensor_view<2xi16, strides=[1]>
    %d_ov = make_partition_view %d_ot : partition_view<tile=(2), tensor_view<2xi16, strides=[1]>>
    %d_ok = store_view_tko weak %d, %d_ov[%zero] : tile<2xi16>, partition_view<tile=(2), tensor_view<2xi16, strides=[1]>>, tile<i32> -> token
    return
  }
}
