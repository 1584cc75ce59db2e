// The numbers of the elements, up to the largest that the type holds as an unsigned one.
// grid: 1 1 1
// buffer: i32 0*8 -> 0 1 2 3 4 5 6 7
// buffer: i8 0*256 -> 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119 120 121 122 123 124 125 126 127 128 129 130 131 132 133 134 135 136 137 138 139 140 141 142 143 144 145 146 147 148 149 150 151 152 153 154 155 156 157 158 159 160 161 162 163 164 165 166 167 168 169 170 171 172 173 174 175 176 177 178 179 180 181 182 183 184 185 186 187 188 189 190 191 192 193 194 195 196 197 198 199 200 201 202 203 204 205 206 207 208 209 210 211 212 213 214 215 216 217 218 219 220 221 222 223 224 225 226 227 228 229 230 231 232 233 234 235 236 237 238 239 240 241 242 243 244 245 246 247 248 249 250 251 252 253 254 255
// buffer: i64 7 -> 0
// buffer: i1 0*2 -> 0 1
// buffer: i16 0*4 -> 0 1 2 3
cuda_tile.module @m {
  entry @iota(%p0: tile<ptr<i32>>, %p1: tile<ptr<i8>>, %p2: tile<ptr<i64>>, %p3: tile<ptr<i1>>, %p4: tile<ptr<i16>>) {
    %zero = constant <i32: 0> : tile<i32>
    %a = iota : tile<8xi32>
    %b = iota : tile<256xi8>
    %c = iota : tile<1xi64>
    %d = iota : tile<2xi1>
    %e = iota : tile<4xi16>
    %a_ot = make_tensor_view %p0, shape = [8], strides = [1] : tensor_view<8xi32, strides=[1]>
    %a_ov = make_partition_view %a_ot : partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>
    %a_ok = store_view_tko weak %a, %a_ov[%zero] : tile<8xi32>, partition_view<tile=(8), tensor_view<8xi32, strides=[1]>>, tile<i32> -> token
    %b_ot = make_tensor_view %p1, shape = [256], strides = [1] : tensor_view<256xi8, strides=[1]>
    %b_ov = make_partition_view %b_ot : partition_view<tile=(256), tensor_view<256xi8, strides=[1]>>
    %b_ok = store_view_tko weak %b, %b_ov[%zero] : tile<256xi8>, partition_view<tile=(256), tensor_view<256xi8, strides=[1]>>, tile<i32> -> token
    %c_ot = make_tensor_view %p2, shape = [1], strides = [1] : tensor_view<1xi64, strides=[1]>
    %c_ov = make_partition_view %c_ot : partition_view<tile=(1), tensor_view<1xi64, strides=[1]>>
    %c_ok = store_view_tko weak %c, %c_ov[%zero] : tile<1xi64>, partition_view<tile=(1), tensor_view<1xi64, strides=[1]>>, tile<i32> -> token
    %d_ot = make_tensor_view %p3, shape = [2], strides = [1] : tensor_view<2xi1, strides=[1]>
    %d_ov = make_partition_view %d_ot : partition_view<tile=(2), tensor_view<2xi1, strides=[1]>>
    %d_ok = store_view_tko weak %d, %d_ov[%zero] : tile<2xi1>, partition_view<tile=(2), tensor_view<2xi1, strides=[1]>>, tile<i32> -> token
    %e_ot = make_tensor_view %p4, shape = [4], strides = [1] : tensor_view<4xi16, strides=[1]>
    %e_ov = make_partition_view %e_ot : partition_view<tile=(4), tensor_view<4xi16, strides=[1]>>
    %e_ok = store_view_tko weak %e, %e_ov[%zero] : tile<4xi16>, partition_view<tile=(4), tensor_view<4xi16, strides=[1]>>, tile<i32> -> token
    return
  }
}
