// A scale below zero.
// grid: 1 1 1
// buffer: e4m3 -1.0
// error: 'mmaf_scaled' in tile block (0, 0, 0): undefined behavior: a scale is negative
cuda_tile.module @m {
  entry @undefined_negative_scale(%p0: tile<ptr<f8E4M3FN>>) {
    %q = reshape %p0 : tile<ptr<f8E4M3FN>> -> tile<1x1xptr<f8E4M3FN>>
    %r = broadcast %q : tile<1x1xptr<f8E4M3FN>> -> tile<2x2xptr<f8E4M3FN>>
    %s, %k = load_ptr_tko weak %r : tile<2x2xptr<f8E4M3FN>> -> tile<2x2xf8E4M3FN>, token
    %a0 = constant <f32: 1.0> : tile<2x32xf32>
    %a = ftof %a0 : tile<2x32xf32> -> tile<2x32xf4E2M1FN>
    %b0 = constant <f32: 1.0> : tile<32x2xf32>
    %b = ftof %b0 : tile<32x2xf32> -> tile<32x2xf4E2M1FN>
    %c = constant <f32: 0.0> : tile<2x2xf32>
    %d = mmaf_scaled %a, %b, %c, %s, %s : tile<2x32xf4E2M1FN>, tile<32x2xf4E2M1FN>, tile<2x2xf32>, tile<2x2xf8E4M3FN>, tile<2x2xf8E4M3FN>
    return
  }
}
